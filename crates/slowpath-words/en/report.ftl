
## explain

explain-more = { "  " }and { $more } more
explain-packets-taken = { $name }: { $format } ({ $link_types }), { $packets ->
    [one] { $packets } packet
   *[other] { $packets } packets
}, { $capture }, { $duration_s }; taken { $tap }.
explain-acknowledged-bytes-missing = { $capture_loss_fraction } of the acknowledged bytes are missing.
explain-transfers-all = { $said } transfers, { $delivered } in all: { $limits }.
explain-time-confidence = { $limit }, { $share } of the time, confidence { $confidence }
explain-in = { $bytes_delivered } in { $data_s } of data, { $goodput_bit_per_s }
explain-in-open = ; the connection was there for { $duration_s }
explain-then = , then { $l }
explain-gives = { $change } gives { $outcome }{ $then }
explain-time-confidence-2 = { $limit } ({ $value }), { $share } of the time, confidence { $confidence }
explain-undecided = { $limit } ({ $value })
explain-gives-2 = { $change } gives { $outcome }{ $then }{ $because }
explain-packets = { $text } (packets { $packets })
explain-one-capture-cannot-show-them = { $untold }: one capture cannot show them
explain-to = { $from_s } to { $to_s }: { $limit }
explain-more-intervals = and { $intervals ->
    [one] { $intervals } more interval
   *[other] { $intervals } more intervals
}
explain-no-tcp-connection-with-data = No TCP connection with data is in this capture.
explain-other-connections = Other connections
explain-capture = Capture
explain-v-gives-evidence-what-rejected = -v gives the evidence, what was rejected and why, and all figures.
explain-one-connection = 1 connection
explain-connections = { $count } connections
explain-seen = seen { $tap }
explain-for-bytes = for { $bytes }
explain-limit = { "  " }limit{ "      " }
explain-transfer = { "  " }transfer{ "   " }
explain-learn = { "  " }to learn{ "   " }
explain-capacity-exceeded = --capacity { $rate } was left out for { $faster } of { $all ->
    [one] { $all } connection
   *[other] { $all } connections
} (number { $first }): they carried more than such a line can; the rate counts Ethernet frames
explain-would-help = { "  " }would help{ " " }
explain-vain = { "  " }in vain{ "    " }
explain-figures = { "  " }figures{ "    " }
explain-ledger = { "  " }ledger{ "     " }
explain-learn-more = { "  " }to learn more:{ " " }
explain-against = { "  " }against{ "    " }
explain-because = { "  " }because{ "    " }
explain-not = { "  " }not{ "        " }
explain-untold = { "  " }untold{ "     " }
explain-when = { "  " }when{ "       " }

## ledger

ledger-costs-instead = ledger: { $cause } costs { $costs } instead of { $instead } for as many bytes
ledger-holds-instead = ledger: { $cause } holds for { $holds } instead of { $instead } for as many bytes
ledger-link-instead = ledger: the link itself takes { $takes } instead of { $instead } for as many bytes
ledger-start-instead = ledger: handshake and slow start take { $takes } instead of { $instead } for as many bytes
ledger-payload = { $rate } of payload, { $how }
ledger-link-itself = = { $floor } the link itself ({ $capacity })
ledger-held = { $mark } { $lost } { $cause }, of { $time } that it held: { $states }
ledger-without = without { $cause }: { $duration } (90 %: { $low } to { $high })
ledger-link-itself-2 = = { $floor } the link itself
ledger-link-and-start = = { $floor } the link itself and the start ({ $capacity })
ledger-link-and-start-2 = = { $floor } the link and the start
ledger-at = ; at { $at }
ledger-events-costliest = ; { $events } events, the costliest at { $at }
ledger-as-told = as told
ledger-as-measured = as measured
ledger-more = or more

## terminal

terminal-what-would-tell = What would tell: { $next }.
terminal-what-would-tell-2 = { $variant }: what would tell: { $next }.
terminal-run = run { $repeat }: { $error }
terminal-prediction = Prediction { $outcome } ({ $variant }):{ " " }
terminal-report = { "\u000A" }Report: { $report }
terminal-notes-with-v-report = Notes, with -v and in the report: { $told }.
terminal-predictions-tested-v-says-which = { $proofs ->
    [one] { $proofs } prediction
   *[other] { $proofs } predictions
} tested: { $told } (-v says which).
terminal-simulated-time-lab-follows = { $experiment } in simulated time; the lab follows:
terminal-runs = { $parts } of { $all ->
    [one] { $all } run
   *[other] { $all } runs
}
terminal-run-2 = run { $number }: { $text }
terminal-runs-such-as-run = { $some } of { $all } runs, such as run { $number }: { $text }
terminal-transfer-never-finished = the transfer never finished.
terminal-no-valid-run = no valid run.
terminal-what-limited-cannot-told-here = what limited it cannot be told here.
terminal-not-measured = not measured
terminal-v-gives-all-reasons = { " " }(-v gives all reasons)
terminal-f-model-parameter-fitted-figure = f = a model parameter was fitted to this figure, it proves nothing
terminal-f-as-many-parameters-fitted = f! = as many parameters were fitted as there are figures: curve fitting, explains nothing
terminal-p-predicted-by-model-fitted = p = predicted by a model fitted elsewhere
terminal-simulated-time = ~ = simulated time
terminal-shortened-transfer = { "*" } = shortened transfer
terminal-and = { " " }and{ " " }

## table

table-lab = lab { $lab }
table-published = published { $heading }
table-ci = { $is_simulated }, 95 % CI
table-more-v-send-less-than = { $folded } more (-v): send less than the path carries, or have no published figure: { $names }
table-published-2 = published { $published }
table-ratio = ratio { $ratio }
table-lost = { $measured } lost
table-sent = { $measured } sent
table-to = { $mean } ({ $low } to { $high })
table-runs = { $mean } (runs { $low } to { $high })
table-limited-by = limited by

## beside

beside-to = { $ratio } ({ $low } to { $high })
beside-one-run-side = { $ratio } (one run a side)
beside-limited-by-lab-simulated-time = limited by { $lab_limit } in the lab, { $simulated_limit } in simulated time
beside-lost = { $value } lost
beside-sim-lab-ci = sim/lab, 95 % CI

## diagnosis

diagnosis-limited-by = { $rate }, limited by { $limit }
diagnosis-limited-by-shown = { $rate }, limited by { $shown } as the changes show (its captures: { $limit })
diagnosis-change-left-limit = { " " }(the change did not take that limit away)
diagnosis-by-what-one-shows = ; predicted by what { $variant } shows of the path
diagnosis-by-what-several-show = ; predicted by what { $number } other variants show of the path
diagnosis-report = Report: { $report }
diagnosis-least = at least { $low }
diagnosis-to = { $low } to { $high }
diagnosis-still = still { $found }
diagnosis-then = then { $found }
diagnosis-predicted-measured = { $change }: predicted { $predicted }, measured { $measured }; { $then }{ $why }
diagnosis-changes-tested-predictions-held-refuted = { $proofs ->
    [one] { $proofs } change
   *[other] { $proofs } changes
} tested: { $held ->
    [one] { $held } prediction
   *[other] { $held } predictions
} held, { $refuted } refuted, { $open } not decided.
diagnosis-not-told = not told
diagnosis-no-valid-run = no valid run
diagnosis-cost-more-than-captures-showed = { " " }(it cost more than the captures showed)
diagnosis-limit-did-not-show-before = { " " }(a limit that did not show before)
diagnosis-behind-link-another-one-hardly = { " " }(behind the link is another one, hardly faster)
diagnosis-no-link-full = { " " }(it is no link that is full)
diagnosis-cost-less-than-captures-showed = { " " }(it cost less than the captures showed)
diagnosis-chance-may-have-done-repeats = { " " }(chance may have done that; --repeats tells)
diagnosis-prediction-too-wide-refuted = { " " }(the prediction was too wide to be refuted)
diagnosis-another-limit-than-predicted = { " " }(another limit than predicted)
diagnosis-no-run-came-its-end = No run came to its end, so nothing can be predicted from it.
diagnosis-everything-sent-arrived-there-nothing = Everything that was sent arrived: there is nothing to change on the path.
diagnosis-transfer-too-short-change-path = The transfer is too short for a change of the path to show.
diagnosis-what-limits-cannot-told-so = What limits it cannot be told, so no change can be predicted.
diagnosis-no-change-can-made-here = No change that can be made here tests this limit.
diagnosis-no-transfer-so-nothing-test = No transfer, so nothing to test.

## label

label-valid = { $invalid } of { $all } valid
label-not-run = not run
label-simulated-time = { " " }(simulated time)

## unit


## compare-captures

compare-captures-second-transfer-times-against = The second transfer is { $factor } times { $word }: { $goodput } against { $goodput2 }
compare-captures-both-transfers-about-equally-fast = Both transfers are about equally fast: { $goodput } and { $goodput2 }
compare-captures-both-limited-by = both are limited by { $limits }
compare-captures-limited-by-first-by = it is limited by { $limits }, the first by { $limits2 }
compare-captures-receiver-offers-no-window-scaling = the receiver offers no window scaling now (it was { $shift }): its window cannot exceed 65,535 bytes, { $max } at most with this round trip
compare-captures-receivers-largest-window-instead-most = the receiver's largest window is { $b } instead of { $a }: { $most } at most
compare-captures-path-itself-longer-instead-whatever = the path itself is longer, { $rtt_min_s } instead of { $rtt_min_s2 }: whatever is limited by a window or by loss is slower in this proportion or more
compare-captures-packets-wait-queue-instead = packets wait { $queue } in a queue instead of { $max }
compare-captures-more-lost = more segments are lost, { $share } instead of { $max }
compare-captures-less-lost = fewer segments are lost, { $now } instead of { $was }
compare-captures-segments-lost-instead-about-cubic = { $share } of the segments are lost instead of { $max }: about { $max2 } for CUBIC
compare-captures-not-agreed-on-any-more = { $name } is not agreed on any more
compare-captures-segments-carry-instead = segments carry { $sizes } instead of { $sizes2 }
compare-captures-data-carries-dscp-instead-some = the data carries DSCP { $marks } instead of { $marks2 }: some networks treat it differently; a transfer with the other mark would tell
compare-captures-because = { "  " }because{ " " }
compare-captures-although = { "  " }although{ " " }
compare-captures-nothing-explains = ; nothing that differs explains it
compare-captures-window-scaling-now = the receiver offers window scaling now ({ $shift }); without it the first's window cannot exceed 65,535 bytes, { $max } at most with its round trip
compare-captures-larger-window = the receiver's largest window is { $now } instead of { $was }, which allows { $most } at most
compare-captures-shorter-path = the path itself is shorter, { $now } instead of { $was }: whatever is limited by a window or by loss is faster in this proportion or more
compare-captures-shorter-queue = packets wait only { $now } in a queue instead of { $was }
compare-captures-larger-segments = segments carry more, { $now } instead of { $was }
compare-captures-faster-link = the link itself is faster, { $now } of payload instead of { $was }
compare-captures-slower-link = the link itself is slower, { $now } of payload instead of { $was }
compare-captures-fewer-lost = { $now } of the segments are lost instead of { $was }, which allows CUBIC about { $most }
compare-captures-agreed-now = { $name } is agreed on now
compare-captures-nothing-else-matters-differs = ; nothing else that matters differs
compare-captures-round-trip-median = round trip, median
compare-captures-round-trip-least = round trip, least
compare-captures-lost-on-way = lost on the way
compare-captures-largest-window = largest window
compare-captures-round-trip = round trip
compare-captures-sent-again = sent again
compare-captures-these-vain = of these in vain
compare-captures-out-order = out of order
compare-captures-window-closed = window closed for

## compare-mod

compare-mod-against = { $mean } against { $mean2 }
compare-mod-times-as-fast-as = { $b } is { $ratio } times as fast as { $a }: { $means } ({ $c }).
compare-mod-goodput = { $b } is at { $ratio } % of the goodput of { $a }: { $means } ({ $c }).
compare-mod-faster = { $b } is { $abs } % faster than { $a }: { $means } ({ $c }).
compare-mod-slower = { $b } is { $abs } % slower than { $a }: { $means } ({ $c }).
compare-mod-no-difference-shown-between-difference = No difference shown between { $b } and { $a }: { $means }; the difference of the means lies between { $unit } and { $unit2 } ({ $c }).
compare-mod-against-one-run-each-side = { $b } against { $a }: { $means }; one run each side cannot show whether that is chance; --repeats 5 can.
compare-mod-no-test = no test

## facts

facts-least-median = { $min } least, { $median } median, { $p95 } in 95 %
facts-handshake-later-ones-cannot-seen = { $handshake } at the handshake; later ones cannot be seen here
facts-inferred = { $s }, inferred
facts-sender-data = at the sender of the data
facts-receiver-data = at the receiver of the data
facts-between-sender-receiver = between sender and receiver
facts-cannot-told-where = at a place that cannot be told
facts-segment-size = segment size
facts-window-scale = window scale
facts-classic-rfc = classic (RFC 3168)
facts-accurate-rfc = accurate (RFC 9768)
facts-round-trip = round trip
facts-sent-again = sent again
facts-these-vain = of these in vain
facts-out-order = out of order
facts-window-closed = window closed for
facts-cannot-seen-here = cannot be seen here
facts-handshake-not-capture = handshake not in the capture
facts-not-seen = not seen
facts-least = at least{ " " }
facts-about = about{ " " }
facts-queueing-delay = queueing delay
facts-flight = in flight
facts-reader-takes = reader takes
facts-time = at a time
facts-sender-gives = sender gives

## label

label-derived = Derived: { $formula }.
label-fitted = Fitted to it: { $fitted }.
label-curve-fitting-explains-nothing-parameter = Curve fitting, explains nothing: { $parameters } parameter{ $plural } for { $figures } figure{ $plural2 }.
label-missed = Missed: { $reason }

## explain

explain-about = about { $rate }
explain-about-between = about { $rate } ({ $least } to { $most })
explain-most = at most { $most }
explain-gain-cannot-told = a gain that cannot be told

## gain

gain-against = { $mean } against { $mean2 }
gain-the = the { $noun }
gain-outage = an outage
gain-short-queue = a queue too short for the path
gain-least = at least { $low }
gain-to = { $low } to { $high }

## range


## flows

flows-instead = { $goodput_byte_per_s } instead of { $goodput_byte_per_s2 }

## results-compared

results-compared-loses-instead = { $flow } loses { $flow2 } instead of { $flow3 }
results-compared-against-all-together-get-instead = { $b } against { $a }: { $parts }; all together get { $mean } instead of { $mean2 }.

## results-figure

results-figure-declared-as-missed-holds-again = { $name } is declared as missed and holds again; remove the declaration ({ $reason })
results-figure-published-figure-accepted = { $name } is { $ratio } of the published figure, accepted are { $percent } %
results-figure-not-measured = { $name } was not measured

## compare-folders

compare-folders-only = { $v } (only in folder { $letter })
compare-folders-b-comparison-may-mean-little = A is of { $experiments }, B of { $experiments2 }: the comparison may mean little.
compare-folders-limited-by-b = { $longest } { $right } { $right2 }  { $right3 }  limited by (A, B)
compare-folders-in-a = { $a } in folder A
compare-folders-b = { $b } in folder B
compare-folders-same = { $name } comes to { $rate } in both.
compare-folders-once = { $name } comes to { $now } in folder B against { $before } in folder A.
compare-folders-chance = A single run on one side cannot show whether a difference is chance; runs with --repeats 5 can.
compare-folders-no-valid-run-on-one = { $a }: no valid run on one side, nothing can be said.
compare-folders-limit-changed-from = The limit changed from { $x } to { $y }.
terminal-figure = { $whose }{ $name }: { $found }, { $origin } { $wanted }
ledger-others = { $mark } { $sum } others
ledger-time-went = { "  " }time went{ "  " }
terminal-outcome = { $number } { $outcome }

## reproduce

reproduce-answer = Reproduced in { $reproduced } for the { $captured } captured ({ $off }); limited by the same: { $same } of { $runs ->
    [one] { $runs } run
   *[other] { $runs } runs
}.
reproduce-nothing = Not reproduced: no run can be believed.
reproduce-unexplained = No model that was tried explains this transfer well: what is reproduced is another one.
reproduce-beginning = Only the beginning, { $share } of the payload, was fitted and is compared.
reproduce-unjudged = Left out: { $why }.
reproduce-disturbed = The machine disturbed { $count } of { $runs ->
    [one] { $runs } run
   *[other] { $runs } runs
}: { $why }
reproduce-apart = Curves on the same axes are apart by { $sequence } of the duration (time and sequence), { $rate } of the mean rate and { $trip } of the round trip, as root mean squares of the run furthest off.
reproduce-duration = duration
reproduce-goodput = goodput
reproduce-trip = round trip, median
reproduce-resent = segments sent again
reproduce-episodes = loss episodes
reproduce-limit = limited by
reproduce-captured = captured
reproduce-reproduced = reproduced

## Many captures in one table.

many-all = { $captures } capture{ $plural_captures }, { $transfers } transfer{ $plural_transfers }, { $delivered } in all: { $limits }.
many-none = { $captures } capture{ $plural_captures }, and no transfer in them.
many-folder = All in { $folder }
many-heading = Transfers, worst first: by the time lost against what the line would have given
many-at-most = "< 1 s": at most that, because the line's own rate was not seen.
many-lost = lost
many-duration = of
many-bytes = payload
many-goodput = goodput
many-limit = limit
many-narrow = { $limit }: { $lost } lost of { $duration }, { $delivered } at { $goodput }
many-more = and { $more } more that lost less (-v lists them)
many-captures = Captures
many-unread = { $file }: not read: { $error }
many-note = { $file }: { $note }
many-empty = { $file }: no TCP connection with data
many-joined = { $count } files of one recording, read as one: { $first } to { $last }
many-more-captures = and { $more } more (-v lists all)

## A capture that is still being written.

follow-line = { $duration }, { $packets ->
    [one] { $packets } packet
   *[other] { $packets } packets
}, { $rate }: { $limit } { $flow }

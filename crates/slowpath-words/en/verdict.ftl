### What is said of a transfer.


## What may be said of any limit.

not_seen = the capture does not hold what is needed
not_short = too little was transferred to rule this out
not_in-a-part = a part of a transfer does not show it
not_plainer = would fit too, but { $chosen } shows more plainly
not_needs-comparison = needs a transfer with another mark to compare with
not_in-packets = packets alone do not show it
not_without-loss = nothing was lost
not_window-scale = the window's scale is not known: the handshake was not recorded

## What the ledger alone says of a limit.

ledger_handshake = Opening the connection took { $time }: a first packet that is lost is sent again only after a second.
ledger_short-queue = A queue too short for this path overflowed ({ $events ->
    [one] { $events } time
   *[other] { $events } times
}): making good what it dropped took { $time }.
ledger_stood-still = Nothing got through the path for a while ({ $times ->
    [one] { $times } time
   *[other] { $times } times
}): that and the way back took { $time }.
ledger_time = For { $time } the { $cause } held the transfer.
ledger_but = Moment by moment, { $cause } holds longest ({ $time }); this capture cannot say better which of the two counts.
ledger_but_marks = The link is full for { $time } of it: the marks are how its queue says so.
ledger_but_bursts = For { $time } of it the link was full: a faster one would take that time from the program's bursts and give it to its pauses.
ledger_but_window = For { $time } of it a queue stood as well, which the ledger counts as a full link: what the path carries was not seen.

## receiver-window

receiver-window = The receiver's window of { $window } is full { $held } of the time: with a round trip of { $rtt } it allows { $allows }, whatever the path could carry.
receiver-window_inferred = The window scale is inferred.
receiver-window_not_room = the window was full only { $held } of the time
receiver-window_not_shrinks = the window shrank from { $from } to { $to }
receiver-window_not_queue = the window is full because a queue is: more window means more queue
receiver-window_seen_full = window full { $held } of the time
receiver-window_seen_size = window while full { $window }
receiver-window_seen_eaten = right edge lags acknowledgements by { $share }
receiver-window_seen_bbr = if the sender uses BBR, `ss -i` shows rwnd_limited for only { $share } of the time: BBR's pacing is asked before the window

## receiver-application

receiver-application = The receiving program takes only { $rate }: the window shrinks from { $from } to { $to } and is closed { $closed } of the time. A larger window or another path would not help.
receiver-application_steps = The receiving program takes only { $rate }, in steps of { $step } every { $period }: the window shrinks from { $from } to { $to } and is closed { $closed } of the time. A larger window or another path would not help.
receiver-application_stopped = The receiving program stopped reading once, for { $length } from { $at } on: the window closed, and nothing could be sent. Else it took what arrived.
receiver-application_not_closed = the window was closed { $closed } and full { $held } of the time
receiver-application_not_constant = while full, the window stayed at { $ratio } of its largest
receiver-application_seen_closed = window closed { $closed } in { $closures ->
    [one] { $closures } closure
   *[other] { $closures } closures
}
receiver-application_seen_ratio = while it held the sender, the window was { $ratio } of its largest
receiver-application_seen_edge = its right edge moved on at { $rate }

## sender-application

sender-application = The sending program pauses: { $idle } of the time nothing is in flight although the window is open ({ $pauses ->
    [one] { $pauses } pause of { $longest }
   *[other] { $pauses } pauses, the longest { $longest }
}).
sender-application_rhythm = The sending program provides { $rate } and no more: data leaves at its own rhythm, not when acknowledgements arrive ({ $clocked } of bursts), in pieces smaller than a segment, with the window open.
sender-application_even = The sender paces itself at { $rate }: data leaves at that one pace { $even } of the time, with no queue on the path and room in the window. Its program gives no more, or its socket may send no faster (SO_MAX_PACING_RATE).
sender-application_seen_even = one pace for { $even } of the time
sender-application_not_even = data leaves at one pace only { $even } of the time
sender-application_pace = The sending program gives { $rate } and no more: the window has room, and no queue builds.
sender-application_schedule = The sending program sends { $bytes } every { $period } ({ $rate }) and no more, and the path carried that. A faster path would only make its pauses longer.
sender-application_not_idle = nothing was in flight only { $idle } of the time
sender-application_not_rhythm = { $clocked } of bursts follow an acknowledgement at once, { $short } of packets are smaller than a segment
sender-application_seen_idle = nothing in flight for { $idle }
clocking_seen_bursts = { $clocked } of bursts follow an acknowledgement
clocking_seen_pauses = { $clocked } of { $pauses ->
    [one] { $pauses } pause ends
   *[other] { $pauses } pauses end
} with an acknowledgement, { $chance } by chance

## A flight that stays at one amount: send-buffer, protocol-window, sender-application

constant_not_losses = { $episodes ->
    [one] { $episodes } episode
   *[other] { $episodes } episodes
} of losses changed the flight
constant_not_room = the flight of { $flight } comes near the window of { $window }
constant_not_bulk = { $flight } in { $rounds ->
    [one] { $rounds } round trip is
   *[other] { $rounds } round trips are
} too little
constant_not_timed = the capture's clock is too coarse for what releases data
constant_not_stays = the flight was constant only in { $share } of the round trips
constant_seen_plateau = flight constant at { $flight }
constant_seen_share = in { $share } of round trips

## send-buffer

send-buffer = The sender's buffer (or another fixed amount of its program) holds the transfer: the flight stays at { $flight } for { $run } of { $rounds } round trips, below the window of { $window }, without loss or queue, and each acknowledgement releases the next data at once.
send-buffer_ceiling = A fixed amount at the sender (its buffer, most likely) holds the transfer: the flight comes to { $flight } in { $share } of { $rounds } round trips and never exceeds { $most }, below the window of { $window }, without loss or queue.
send-buffer_not_ssh = on a port of SSH a fixed amount is the protocol's
send-buffer_not_clocked = only { $clocked } of bursts follow an acknowledgement at once, { $chance } would by chance

## protocol-window

protocol-window_channel = A fixed amount of the protocol (SSH channel window or the sender's buffer) holds the transfer: the flight stays at { $flight } for { $run } of { $rounds } round trips, below the window of { $window }, without loss or queue, and each acknowledgement releases the next data at once.
protocol-window = The protocol allows { $flight } until it is answered: { $share } of the bursts begin with the first acknowledgement of { $answers ->
    [one] the { $answers } message
   *[other] one of { $answers } messages
} of the receiving program, without loss or queue, and with the TCP window open.
protocol-window_not_answers = { $share } of bursts begin with { $answers ->
    [one] the { $answers } message
   *[other] one of { $answers } messages
} of the other program
protocol-window_not_silent = the receiving program sends nothing that data could wait for
protocol-window_not_ssh = a constant flight has another cause here

## bottleneck-bandwidth

bottleneck-bandwidth = The transfer fills a link or shaper of { $rate }: delay grows with the backlog, up to { $queued } ({ $size }) above the empty path's { $base }.
bottleneck-bandwidth_despite-losses = The transfer runs at { $rate }, hardly less at any time, in spite of { $episodes ->
    [one] { $episodes } episode
   *[other] { $episodes } episodes
} of losses: they do not slow this sender, so the rate is the path's.
bottleneck-bandwidth_varying = The transfer fills a link whose rate varies, between { $low } and { $high }: the lower the rate, the longer the delay of its queue, up to { $queued } above the empty path's { $base }.
link_own-queue = about { $flight } of this flow were under way at each of { $losses } losses, though round trips took { $least } to { $most }: the queue is its own, and the link's rate varies
link_slower-later = round trips took up to { $longest }, and { $full } where a queue overflowed: the link was slower then
link_follows-rate = the delay of the queue is the longer, the lower the transfer's rate: the link's own rate varies
link_ignores-rate = the delay at losses does not follow the transfer's rate
bottleneck-bandwidth_not_alone = { $flows } flows between these hosts were active at the same time
bottleneck-bandwidth_not_slowed = the rate falls to { $rate } after losses
link_not_used = the link of { $rate } is used only { $used }
link_not_constant = a flight that stays at { $flight } is no full link's
link_not_delay = the backlog explains { $explained } of the delay
link_not_base = the median round trip of { $rtt } is near the empty path's { $base }

## shared-bottleneck

full-link_acks = The queue stands on the way of the acknowledgements, not of the data: they wait there for up to { $waits }, and a faster link for the data gives nothing.
full-link_acks_next = look at the link from the receiver back to the sender: what else is sent there, and how fast it is.
shared-bottleneck_or-slower = Nobody else is in this capture: a link that was slower for a while looks the same.
shared-bottleneck = The transfer fills a link or shaper of { $rate }, which { $flows } flows between the same hosts share: delay grows with the backlog, up to { $queued } ({ $size }) above the empty path's { $base }.
shared-bottleneck_full-queue = The transfer shares a full link with other traffic: losses come when the delay is at its highest (right before the median loss it was as long as { $rank } of all delays, or longer), and its own load explains only { $own } of a delay of up to { $queued } above the empty path's { $base }.
shared-bottleneck_standing = The transfer shares a full link with other traffic: the queue never empties (round trip at least { $least } against { $base } of the empty path), and its own load explains only { $own } of a delay of up to { $queued } above the empty path's { $base }.
shared-bottleneck_not_alone = only one TCP connection between these hosts was recorded
shared-bottleneck_not_delay = the round trip of { $rtt } is near the empty path's { $base }
shared-bottleneck_not_others = the transfer's own load explains { $delay } of the delay and { $busy } of the link's time
shared-bottleneck_not_queue = losses do not come with the delay at its highest, and the queue empties

## Queues and buckets: policed, bottlenecks, random-loss

queue_seen_fit = virtual queue of { $size } at { $rate }: error { $error } over { $losses ->
    [one] { $losses } loss
   *[other] { $losses } losses
}
queue_seen_step = delay at full backlog: { $step } of what a queue would add
queue_seen_explained = a queue of { $rate } explains { $explained } of the delay
loss_seen = { $lost ->
    [one] { $lost } segment
   *[other] { $lost } segments
} lost in { $episodes ->
    [one] { $episodes } episode
   *[other] { $episodes } episodes
} ({ $fraction })
outage_held = nothing got through for { $length } from { $at } on; what was under way arrived afterwards
outage_lost = nothing got through for { $length } from { $at } on; what was under way was lost
rtt_seen = round trip { $least } at best, { $median } in the median, { $high } at the 95th percentile
policing_seen_found = the published detector (SIGCOMM 2016) finds a policer of { $rate }, { $burst } before the first loss
policing_seen_few = the published detector (SIGCOMM 2016) finds no policer: too few losses
policing_seen_late = the published detector (SIGCOMM 2016) finds no policer: the first loss comes after more than 2 MB
policing_seen_fill = the published detector (SIGCOMM 2016) finds no policer: less passed before the first loss than the rate lets through
policing_seen_tokens = the published detector (SIGCOMM 2016) finds no policer: a bucket at the mean rate is no emptier at losses
policing_seen_levels = the published detector (SIGCOMM 2016) finds no policer: the level of a bucket at the mean rate differs from loss to loss
policing_seen_passes = the published detector (SIGCOMM 2016) finds no policer: packets pass with a bucket at the mean rate empty
policing_seen_delay = the published detector (SIGCOMM 2016) finds no policer: the round trip is long before losses

## policed

policed = A policer at { $rate } with a bucket of { $bucket } drops what exceeds it: { $empty } of { $losses } losses come when the bucket is empty, and the delay does not grow with the load (no queue).
policed_at-least = A policer that lets through { $mean } or more, by its losses about { $rate } with a bucket of { $bucket }, drops what exceeds it: { $empty } of { $losses } losses come when the bucket is empty, and the delay does not grow with the load (no queue).
policed_shared = { $flows } flows between the same hosts share it.
policed_not_few = { $losses ->
    [one] { $losses } loss is
   *[other] { $losses } losses are
} too few for a pattern
policed_not_unexplained = no rate and bucket explain the losses (error { $error }, spread { $spread })
policed_not_small = a bucket of { $bucket } with { $samples } delays beside it is too little to tell
policed_not_spaced = data arrive no faster than { $rate }, as behind a link
policed_not_delay = the delay grows by { $step } of what a queue of that size would add
policed_not_full = { $share } of the losses come with the delay at its longest, of which a bucket knows nothing

## random-loss

random-loss = Losses that the load does not explain hold the congestion window down: { $lost } of { $segments } segments lost in { $episodes ->
    [one] { $episodes } episode
   *[other] { $episodes } episodes
}, mostly without a queue before them, window and program not in the way.
random-loss_not_backlog = losses come at one backlog ({ $size })
random-loss_not_bursts = { $lost ->
    [one] { $lost } segment was
   *[other] { $lost } segments were
} lost in only { $episodes ->
    [one] { $episodes } burst
   *[other] { $episodes } bursts
}
random-loss_not_unslowed = { $lost ->
    [one] { $lost } lost segment does
   *[other] { $lost } lost segments do
} not slow the sender
random-loss_not_idle = { $episodes ->
    [one] { $episodes } episode
   *[other] { $episodes } episodes
} of losses, and nothing in flight { $idle } of the time
random-loss_not_few = { $lost ->
    [one] { $lost } lost segment
   *[other] { $lost } lost segments
} would allow { $rate }
random-loss_not_round-trips = { $episodes ->
    [one] { $episodes } episode
   *[other] { $episodes } episodes
} of losses with { $samples ->
    [one] { $samples } round trip
   *[other] { $samples } round trips
} beside them are too few

## ecn-congestion

ecn-congestion = Congestion marks hold the sender back: marks were reported in { $marked } of { $rounds } round trips, losses came in { $episodes }.
ecn-congestion_not_marks = marks were reported in { $marked ->
    [one] { $marked } round trip
   *[other] { $marked } round trips
}
ecn-congestion_not_losses = losses came in { $episodes ->
    [one] { $episodes } episode
   *[other] { $episodes } episodes
}, marks in { $marked ->
    [one] { $marked } round trip
   *[other] { $marked } round trips
}
ecn-congestion_seen_rounds = marks reported in { $marked ->
    [one] { $marked } round trip
   *[other] { $marked } round trips
}
ecn-congestion_seen_marks = { $marks ->
    [one] { $marks } mark
   *[other] { $marks } marks
} reported
ecn-congestion_seen_acks = { $acks ->
    [one] { $acks } acknowledgement reports
   *[other] { $acks } acknowledgements report
} congestion, each mark again and again until the sender has heard of it

## mtu-black-hole

mtu-black-hole = Full-size segments ({ $segment } bytes of payload) were sent { $times ->
    [one] { $times } time
   *[other] { $times } times
} and never acknowledged, while segments up to { $passed } bytes got through: a smaller MTU on the path, and nobody heeds or sends the message about it.
mtu-black-hole_alone = Full-size segments ({ $segment } bytes of payload) were sent { $times ->
    [one] { $times } time
   *[other] { $times } times
} and never acknowledged, and nothing smaller was sent: a smaller MTU on the path of which nobody tells, or a path on which nothing gets through any more. Pings of both sizes tell which.
mtu-black-hole_not_pass = segments of { $passed } bytes were acknowledged

## reordering

reordering = Packets overtake each other: { $late ->
    [one] { $late } segment
   *[other] { $late } segments
} came late, the sender took that for loss and sent { $again } again, of which only { $lost } had been lost.
reordering_not_late = { $late } of { $segments ->
    [one] { $segments } segment
   *[other] { $segments } segments
} came late
reordering_not_misled = { $late ->
    [one] { $late } segment
   *[other] { $late } segments
} came late, and the sender was misled only { $times ->
    [one] { $times } time
   *[other] { $times } times
}
reordering_not_held = the window or the program held the sender while { $late ->
    [one] { $late } segment
   *[other] { $late } segments
} came late
reordering_not_full = { $late ->
    [one] { $late } segment
   *[other] { $late } segments
} came late, but the link stayed full
reordering_seen_late = { $late ->
    [one] { $late } segment
   *[other] { $late } segments
} came late
reordering_seen_needless = { $again ->
    [one] { $again } retransmission was
   *[other] { $again } retransmissions were
} not needed

## slow-start

slow-start = The transfer ended after { $rounds ->
    [one] { $rounds } round trip
   *[other] { $rounds } round trips
} of { $rtt }, while the congestion window was still growing: the path was never used.
slow-start_grew = The congestion window was still growing when the transfer ended: what was in flight rose from { $from } to { $to } in { $rounds ->
    [one] { $rounds } round trip
   *[other] { $rounds } round trips
} of { $rtt }, without a loss or a queue. The path was never full.
slow-start_early = Slow start ended at { $segments ->
    [one] { $segments } segment
   *[other] { $segments } segments
} in flight, before the path was full and without a loss; from there the window grew slowly.
slow-start_not_short = the transfer took { $rounds ->
    [one] { $rounds } round trip
   *[other] { $rounds } round trips
}
slow-start_not_quiet = losses in { $episodes ->
    [one] { $episodes } episode
   *[other] { $episodes } episodes
} and a round trip of { $rtt } show a path in use

## capture-loss

capture-loss = The capture missed { $missed } of the data against { $lost } lost on the way; whether and how losses limited the transfer cannot be told.
capture-loss_not = the capture missed { $missed } of the data
capture-loss_doubt = This is uncertain: the capture missed { $missed } of what passed.
capture-loss_next = capture again with a larger buffer, or only the headers

## unknown

unknown_untimed = Cannot be told from here: the packets have no time stamps.
unknown_one-way = Cannot be told from here: only one direction of the connection was recorded.
unknown_acknowledgements = Cannot be told from here: only acknowledgements were recorded.
unknown_missed = Cannot be told from here: the capture missed nearly all data.
unknown_not_usable = the capture holds what is needed
unknown_short = Too little was transferred ({ $size }) to tell a limit.
unknown_short-afar = Too little was transferred ({ $size }) to tell a limit, as far as this place shows: what was lost before it does not come by.
unknown_not_short = { $size } are enough
unknown_queue-or-bucket = Losses come at a backlog of { $size } over { $rate }, so a queue or a policer drops, but the delays do not tell which.
unknown_not_backlog = losses come at no one backlog
unknown_few-bursts = { $lost ->
    [one] { $lost } segment was
   *[other] { $lost } segments were
} lost in only { $episodes ->
    [one] { $episodes } burst
   *[other] { $episodes } bursts
}: an overflowing queue, a policer or an outage, which so few bursts do not tell apart.
unknown_not_bursts = { $episodes ->
    [one] { $episodes } episode of losses has
   *[other] { $episodes } episodes of losses have
} a pattern
unknown_crowded-afar = { $lost } of the segments were lost and the delay varies by { $spread }, of which the transfer's own load explains next to nothing: a queue that others fill, or a path that loses and delays by itself; from here these look alike.
unknown_not_wavers = the delay does not waver
unknown_held-by-sender = Something at the sender holds the transfer: the flight stays at { $flight } for { $run } of { $rounds } round trips, below the window of { $window }; from here a full send buffer and a program that provides data at a constant rate look alike.
unknown = Cannot be told from here: the window has room, { $lost ->
    [one] { $lost } segment was
   *[other] { $lost } segments were
} lost in { $episodes ->
    [one] { $episodes } episode
   *[other] { $episodes } episodes
}, the round trip is { $rtt } (empty path { $base }), and the flight is not constant.
next_time-stamps = take a capture with time stamps
next_both-directions = take both directions at one point
next_longer = capture a longer transfer
next_longer-or-sender = capture at the sender, or a longer transfer if this one came to its end
next_other-rate = capture at the sender, or send at a rate a little above and below this one
next_longer-at-sender = capture a longer transfer, best at the sender
next_empty-path = capture at the sender, beginning before the transfer: what it sees of the empty path tells
next_sample-buffer = capture at the sender, or sample its socket (ss -ti: rwnd_limited, sndbuf_limited)
next_sample = sample the sender's socket during the transfer (ss -ti: rwnd_limited, sndbuf_limited, cwnd), or capture at both ends
next_sender = capture at the sender, best at both ends

## What the path's own counters say: datagrams and frames.

counted_lost = { $lost } of what was sent is lost, { $share } of the dropped packets at { $element }: { $cause }.
counted_lost-at-one = { $lost } of what was sent is lost, all of the dropped packets at { $element }: { $cause }.
counted_flow = Of { $flow } { $lost } is lost.
counted_flow-at = Of { $flow } { $lost } is lost ({ $places }).
counted_place = { $share } at { $element }
counted_all-arrived = The sender's own rate is the limit: everything that was sent arrived, { $rate }. What the path could carry beyond that is not tested.
counted_most-arrived = The sender's own rate is the limit: all but { $lost } of what was sent arrived, { $rate }. What the path could carry beyond that is not tested.
counted_seen = { $element } dropped { $packets ->
    [one] { $packets } packet
   *[other] { $packets } packets
}: { $cause }
counted_not = { $share } of the dropped packets, at { $element }
dropped_queue-full = its queue was full
dropped_threshold = the queue's room for this drop precedence was used up
dropped_aqm = its queue management dropped them
dropped_policed = they exceeded the policer's rate and bucket
dropped_loss = random loss
dropped_receive-overload = the device had no room on its receive side
dropped_treatment = their mark is dropped
dropped_too-big = they were too large
dropped_ttl-expired = their TTL ran out
dropped_other = { $cause }
dropped_incomplete = another fragment of the same packet was lost

## Several connections of one job.

job = The job as a whole: { $limit }, which held { $held } of the time of its { $connections } connections. { $what }
job_overflows = The queue before the link is too short for the job: its connections' bursts overflow it, and making good what is lost took { $held } of the time of its { $connections } connections. { $what }
job_fills = The job fills the link: its { $connections } connections took little longer than the link itself needs, which is { $floor } of the time. { $what }
job_waits = What each request needs beside its data is the limit: { $held } of the time of the job's { $connections } connections passes in handshakes and in waiting for answers. { $what }
job_untold = What { $held } of the time of the job's { $connections } connections went to cannot be told. { $what }
job_seen = { $time } of the job in { $cause } ({ $state })
job_not = it held only { $held } of the connections' time

## Runs compared, and what a run's health says.

dscp-treatment = The network treats the mark of these packets differently: with nothing else changed, { $fast } is { $gain } times as fast.
dscp-treatment_but = The network treats the mark of these packets differently: with nothing else changed but { $beside }, { $fast } is { $gain } times as fast.
dscp-treatment_dropped = The network treats the mark of these packets differently: with nothing else changed, { $fast } comes to its end, and here nothing moves.
dscp-treatment_dropped-but = The network treats the mark of these packets differently: with nothing else changed but { $beside }, { $fast } comes to its end, and here nothing moves.
dscp-treatment_next = take the mark off where the data come from (OpenSSH: IPQoS none), or have a router rewrite it; --prove tries both where the experiment asks for it
dscp-treatment_seen_gain = { $fast } differs from this in { $differs }, and its slowest run was { $gain } times as fast as the fastest one here
dscp-treatment_seen_gain-slowed = { $fast } differs from this in { $differs }, and its slowest run, although the machine slowed it down, was { $gain } times as fast as the fastest one here
dscp-treatment_seen_nothing = { $fast } differs from this in { $differs }, and all its runs came to their end, while nothing arrived here
dscp-treatment_seen_load = no processor is the cause: the busiest program, { $program }, used { $share } of one
dscp-treatment_seen_capture = a capture alone says of it: { $sentence }
dscp-treatment_captures = The network treats the marks differently: with DSCP { $slow } ({ $slow_name }) the transfer reaches { $slow_rate }, with { $fast } ({ $fast_name }) { $fast_rate }, { $share } of it; hosts, path length and segment size are the same. { $how }
dscp-treatment_seen_goodput = DSCP { $mark }: { $rate }, limited by { $limit }, { $lost } lost, round trip { $rtt }
device-limit = A device on the path forwards { $packets } packets per second of this transfer and no more: with segments of { $small } the transfer reaches { $small_rate }, with { $large } { $large_rate }, the same number of packets each.
device-limit_seen = segments of { $segment }: { $packets } packets per second, { $rate }
host-cpu = { $health }.
host-cpu_next = run it on a machine with more processors, or in simulated time
compared_not = { $limit } is how it is slower, the difference between the transfers is why
mark_best-effort = best effort
mark_known = { $name }
mark_unnamed = no name

## The ledger in a sentence

ledger_sentence = Of { $duration }, { $parts }.
ledger_sentence-at-least = Of { $duration }, { $parts }; what the path carries was never seen, only that it is at least { $rate } of payload.
ledger_part = { $time } { $words }
ledger_link-itself = are the link itself
ledger_start = the handshake and slow start that every transfer needs
ledger_measurement = the machine of the measurement held packets up
ledger_early-exit = the window grew after slow start had ended at { $segments ->
    [one] { $segments } segment
   *[other] { $segments } segments
}
ledger_slow-start = slow start took longer than needed
ledger_random-loss-once = made good 1 random loss
ledger_random-loss = made good { $events } random losses
ledger_overflow-once = made good 1 overflow of a short queue
ledger_overflow = made good { $events } overflows of a short queue
ledger_link-full = the link was full
ledger_outage-once = nothing got through the path, once
ledger_outage = nothing got through the path, { $events } times
ledger_shared-overflow-once = made good 1 overflow of a queue that others share
ledger_shared-overflow = made good { $events } overflows of a queue that others share
ledger_others = others had the link
ledger_others-unseen = others had the link, or it was slower then
ledger_policed = a policer dropped what exceeded its rate
ledger_receiver-window = the receiver's window was full
ledger_reader-stopped = the receiving program stopped reading once
ledger_reader = the receiving program did not read
ledger_writer = the sending program gave no data
ledger_send-buffer = the sender's buffer was full
ledger_protocol = the protocol waited for answers
ledger_mark-once = the window grew after 1 congestion mark
ledger_marks = the window grew after { $events } congestion marks
ledger_reordering = packets that overtook each other were taken for losses
ledger_black-hole = large packets vanished
ledger_dscp = the marking of the packets cost
ledger_device = a device on the path was busy
ledger_host-cpu = a host's processor was busy
ledger_capture-loss = are not in the capture
ledger_unknown = cannot be told
ledger_other = went to: { $cause }

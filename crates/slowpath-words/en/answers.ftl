### Answers of an experiment.


## Two variants against each other.

answer_faster = { $b } is { $times } times as fast as { $a } ({ $rates }): { $limits }.
answer_slower = { $b } is { $less } slower than { $a } ({ $rates }): { $limits }.
answer_a-little-faster = { $b } is { $more } faster than { $a } ({ $rates }): { $limits }.
answer_same = No difference shown between { $b } and { $a } ({ $rates }): { $limits }.
answer_starves = { $a } never comes to its end and { $b } does: { $limits }.
answer_limit-both = { $limit } holds both
answer_limit-changes = { $before } held it, then { $after } does
answer_limit-untold = what limits one of them cannot be told from these runs
answer_proof-held = Tested on it: with { $change }, { $predicted } were predicted and { $measured } measured.
answer_proof-refuted = Tested on it and refuted: with { $change }, { $predicted } were predicted, but { $measured } measured.
answer_proof-open = Tested on it, not decided: with { $change }, { $predicted } were predicted and { $measured } measured.

## Where the time of several runs went.

answer_time = { $variant }, mean of { $runs ->
    [one] { $runs } run
   *[other] { $runs } runs
}: of { $duration }, { $parts }.
answer_time-once = { $variant }: of { $duration }, { $parts }.
answer_part-link = { $time } are the link itself
answer_part-start = { $time } the handshake and slow start that every transfer needs{ $runs }
answer_part = { $time } { $cause }{ $runs }
answer_in-some = { " " }(in { $some } of { $all } runs)
answer_in-all = { "" }

## Flows of two variants.

answer_flows = { $b } against { $a }: { $flows }.
answer_flow = { $name } loses { $after } instead of { $before } and gets { $rates }

## Layers, each on top of the other.

answer_layers = { $first } carries { $rate }; { $layers }. { $end }
answer_layer-less = { $name } { $less } less
answer_layer-same = { $name } no less
answer_layer-costliest = { $name } costs most, { $less }: { $limit }.
answer_layer-none = No layer costs more than { $most }.

## What a way to measure measures.

answer_modes = Share of the best rate on each network: { $groups }.
answer_modes-path = the path is measured by { $modes }
answer_modes-window = the receiver's window by { $modes }
answer_modes-own = what they send themselves by { $modes }
answer_modes-drops = what a policer or a device lets through by { $modes }
answer_modes-other = other limits by { $modes }
answer_mode = { $name } ({ $lowest } to { $highest })
answer_mode-once = { $name } ({ $share })
answer_mode-some = { $name } (on { $some } of { $all }, { $lowest } to { $highest })
answer_mode-some-once = { $name } (on { $some } of { $all }, { $share })

## The sender's own figure.

answer_sender-agrees = The sender's own figure is within { $most } of the receiver's in { $near } of { $all } rows.
answer_sender-more = In { $rows } it counts what still waits in its send buffer at the end, most in { $variant }: { $sender } where { $receiver } arrive, { $waiting }.
answer_sender-less = In { $rows } it counts less than arrives, least in { $variant }: { $sender } where { $receiver } arrive.

## Datagrams.

answer_none-lost = Nothing is lost in { $rows } of { $all } rows.
answer_lost = Lost are { $rows }.
answer_lost-row = { $share } in { $variant }
answer_lost-row-at = { $share } in { $variant } ({ $most } of that at { $element }, { $cause })
answer_jitter = Jitter is within a factor of two of the published in { $near } of { $all } rows; farthest off is { $variant }, { $measured } beside { $published }.

## A setting over a range.

answer_range-from = { $b } is faster than { $a } by a tenth and more from a { $called } of { $from } on, { $times } times at { $most }.
answer_range-never = { $b } is nowhere faster than { $a } by a tenth, at a { $called } of { $first } to { $last }.
answer_range-always = { $b } is faster than { $a } by a tenth and more at every { $called } of { $first } to { $last }.
answer_range-set = Ranges are computed with { $set } in place of the variants' own.
answer_range-steps = { $of } by { $called }: { $groups }.
answer_range-counted = { $count } values { $rate }
answer_range-group = { $values } { $rate }

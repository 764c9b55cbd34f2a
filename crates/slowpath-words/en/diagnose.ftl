### Changes and what they would gain.


## What a change makes of the transfer, as a noun.

change_window = a receiver's window of { $window } bytes
change_send-buffer = a send buffer of { $buffer } bytes
change_reader = a receiving program that never waits
change_writer = a sending program that never waits
change_no-loss = a path without loss of its own
change_no-policer = a path without the policer
change_no-device-limit = devices on the path without their limit
change_streams = { $count } connections at once
change_control = { $control } as the sender's congestion control
change_rate = a bottleneck of { $percent } % of its rate
change_queue = a queue of { $queue } bytes or more before the bottleneck
change_no-mark = no mark from OpenSSH (IPQoS none)
change_remark = every mark taken off by the first router
change_other = { $words }

## Why a rate is predicted.

because_window = { $window } bytes of window once every { $rtt }
because_flight = { $flight } bytes in flight once every { $rtt }
because_reader = the receiving program takes { $rate }
because_reader-whatever = the receiving program takes { $rate } whatever the window is
because_reader-waits = the receiving program takes { $rate } whatever the window is; it waits for data at most { $wait } in each { $step } bytes, and only this wait can be saved
because_source = the sending program gives { $rate }
because_fills = it fills the bottleneck, { $rate } of payload
because_carries = the bottleneck carries { $rate } of payload
because_policer = the policer lets { $rate } of payload through
because_loss = one segment in { $segments } is lost at { $rtt }
because_untreated = transfers whose marks are not treated reach { $rate } over this path
because_unbounded = nothing that was seen bounds the transfer after the change
because_start = { $because }, but { $size } bytes are sent before that is reached
because_same = nothing changes for what limits it now: { $because }
because_beyond = { $because }; what the path itself carries was not seen and may hold it earlier
because_given-back = what it takes away costs { $share } of the time
because_waits-shared = requests and the start of each connection take { $share } of the time, and more connections share it
because_link-shrinks = the link takes { $share } of the time, and what it takes shrinks
because_overflows = what a queue too short for this path dropped took { $share } of the time to make good; what the link carries was not seen
because_drops-bursts = a queue too short for this path drops what exceeds it, which leaves { $rate } of payload
because_offered = no more than { $rate } is sent
because_arrives = what drops all but { $rate } stays in place
because_until-channel = { $because }; then the window of SSH's channel holds it at { $rate }
because_until-window = { $because }; then the receiver's window holds it at { $rate }
because_queue = { $because }; a larger buffer only lengthens the full queue

## investigation

investigation-cannot-tried-here = { $change } cannot be tried here.
investigation-there-no-change-would-test = There is no change that would test the limit { $limit }.
investigation-network-treats-packets-mark-how = The network treats the packets' mark, and { $limit } is how: { $words } ends that.
investigation-limit-removes = The limit is { $limit }: { $words } removes it.
investigation-limit-leaves-place = The limit is { $limit }: { $words } leaves it in place.
investigation-to = { $low } to { $high }
investigation-least = at least { $low }
investigation-no-gain-then = With { $change }: no real gain predicted ({ $most } %, { $range }), then limited by { $next }, because { $because }.
investigation-no-gain = With { $change }: no real gain predicted ({ $most } %, { $range }), because { $because }.
investigation-predicted-then = With { $change }: { $range } predicted, then limited by { $next }, because { $because }.
investigation-predicted = With { $change }: { $range } predicted, because { $because }.
investigation-no-valid-run-came = No valid run came.
investigation-got-no-difference = { $rate }, no difference shown
investigation-got-times = { $rate }, { $ratio } times as fast
investigation-got-percent = { $rate }, { $percent } %
investigation-mb-s = { $value } MB/s
investigation-kb-s = { $value } kB/s
investigation-no-valid-run-base-with = No valid run of the base with a readable capture; nothing can be tested.
investigation-rests-on = The prediction rests on what transfers of { $names } show of the path.
investigation-gave = It gave { $got }.
investigation-against-gave = Against this it gave { $got }.
investigation-range-too-wide-decide-anything = That range is too wide to decide anything: it gave { $got }.
investigation-then-another-limit-held-than = Then another limit held it than predicted: it gave { $got }.
investigation-more-runs-needed-gave = More runs are needed: it gave { $got }.

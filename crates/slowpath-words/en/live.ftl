
## why-words

why-words-receivers-window-limits-transfer-each = The receiver's window limits this transfer: { $window_bytes } each round trip of { $rtt } ({ $share } of the time).
why-words-program-here-does-not-read = The program here does not read what arrives: on average { $unread_bytes } wait for it ({ $share } of the time).
why-words-receiving-program-slow-takes-its = The receiving program is slow: it takes { $rate }, and its window closes meanwhile ({ $share } of the time).
why-words-pacing-bound-holds = The socket may send no faster: its program bounds its pace (SO_MAX_PACING_RATE), and { $rate } go out ({ $share } of the time).
why-words-sending-program-slow-provides-connection = The sending program is slow: it provides { $rate }, and the connection waits for it ({ $share } of the time).
why-words-processor-here-limit-program-computes = A processor here is the limit: the program computes, or waits to, and provides { $rate } ({ $share } of the time).
why-words-send-buffer-limits-transfer-flight = The send buffer limits this transfer: { $flight_bytes } in flight each round trip of { $rtt } ({ $share } of the time).
why-words-programs-wait-each-other-flight = The programs wait for each other: { $flight_bytes } in flight each round trip of { $rtt }, then a pause until the other end answers ({ $share } of the time).
why-words-path-full-get-through-packets = The path is full and holds it for { $share } of the time: { $rate } get through, and packets queue for { $max }.
why-words-path-full-shared-with-others = The path is full and shared with others: { $rate } are left for this transfer.
why-words-something-on-path-drops-what = Something on the path drops what exceeds about { $rate_at_loss } without queueing it ({ $share } of the time).
why-words-losses-transfer-does-not-cause = Losses that this transfer does not cause keep it slow: { $max } of the segments were sent again, at any rate ({ $share } of the time).
why-words-earlier-marks-congestion = Marks of congestion that came before keep this transfer slow: { $marked ->
    [one] { $marked } segment was
   *[other] { $marked } segments were
} marked, and the congestion window still grows after them ({ $share } of the time).
why-words-marks-congestion-keep-transfer-slow = Marks of congestion keep this transfer slow: { $marked ->
    [one] { $marked } segment was
   *[other] { $marked } segments were
} marked ({ $share } of the time).
why-words-packets-overtake-each-other-sender = Packets overtake each other and the sender takes that for loss: { $spurious } of { $segments } retransmissions were not needed.
why-words-transfer-still-starting-its-congestion = The transfer is still starting: its congestion window grows ({ $share } of the time).
why-words-nothing-acknowledged-large-packets-seem = Nothing is acknowledged for { $longest_stall_s }: large packets seem to vanish on the path.
why-words-cannot-told-from-end-data = Cannot be told from this end: data arrive at { $rate }, and what paces them is at the other end or on the path.
why-words-losses-seen-at-receiver = Losses that this transfer does not cause keep it slow: { $lost } of the segments and more were lost before they came here, { $gaps } times, at any rate ({ $share } of the time).
why-words-segments-lost-before-here = Segments are lost before they come here: { $gaps } times something was missing, for { $share } of the time; data arrive at { $rate }. Whether chance takes them, a policer or a short queue cannot be told from this end.
why-words-segments-overtaken-before-here = Segments overtake each other before they come here: { $gaps } times something was missing, for { $share } of the time, and was there sooner than it could be sent again; data arrive at { $rate }. Whether that slows the sender down cannot be told from this end.
why-words-segments-missing-before-here = Segments are lost or overtaken before they come here: { $gaps } times something was missing, for { $share } of the time; data arrive at { $rate }. Which of the two it is cannot be told from this end.
why-words-gaps-in-what-arrived = { $all ->
    [one] { $all } gap
   *[other] { $all } gaps
} in what arrived, open for { $share } of the time; { $long } of them for a round trip or longer, as it takes to send segments again
why-words-cannot-told-from-samples-get = Cannot be told from samples: { $rate } get through, and nothing that they show explains why not more.
why-words-time = { $what } for { $share } of the time
why-words-window-went-through-each-round = { $fill } of a window of { $window } went through each round trip
why-words-segments-sent-again-repairs-them = { $segments } of { $segments2 } segments were sent again ({ $fraction }), in { $episodes ->
    [one] { $episodes } repair
   *[other] { $episodes } repairs
}, { $episodes2 } of them with packets queued before
why-words-before-losses-got-through-give = before the losses { $rate } got through, give or take { $spread }
why-words-round-trip-on-average-least = round trip { $mean_rtt_s } on average, { $least_rtt_s } at least{ $care }
why-words-mib = { $bytes } MiB
why-words-kib = { $bytes } KiB
why-words-bytes = { $bytes } bytes
why-words-nothing-read-here = Nothing moves: the program here has read nothing for { $seconds }.
why-words-window-closed = Nothing moves: the other end keeps its window closed for { $seconds }; its program does not read.
why-words-nothing-comes-back = Nothing moves: for { $seconds } nothing that was sent has been acknowledged ({ $unanswered ->
    [one] { $unanswered } retransmission
   *[other] { $unanswered } retransmissions
} in a row unanswered). The path is interrupted, or the other end is gone.
why-words-see-whether-other-end-answers = See whether the other end still answers: `slowpath measure ping`, `slowpath measure mtu`.
why-words-too-little-transferred-while-i = Too little was transferred while I looked to say what limits it.
why-words-watch-longer-transfer-longer = Watch a longer transfer, or for longer: --for 30.
why-words-run-slowpath-why-sending-end = Run `slowpath why` at the sending end, or capture packets there (tcpdump -s 128 -w FILE) and run `slowpath explain FILE`.
why-words-watch-longer-capture-packets-here = Watch for longer (--for 60), or capture packets here (tcpdump -s 128 -w FILE) and run `slowpath explain FILE`.
why-words-nothing-arrived = nothing arrived
why-words-nothing-under-way = nothing was under way
why-words-socket-at-its-pacing-bound = the socket's pace was at the bound that its program set
why-words-everything-sent-program-had-no = everything was sent and the program had no more
why-words-send-buffer-full-all-sent = the send buffer was full and all of it was sent
why-words-window-offered-sender-used-up = the window offered to the sender was used up
why-words-receivers-window-full = the receiver's window was full
why-words-most-buffer-taken-by-bytes = most of the buffer was taken by bytes that the program had not read
why-words-receivers-window-full-closed-far = the receiver's window was full or closed, and far below its greatest size
why-words-receivers-window-full-round-trip = the receiver's window was full, and the round trip longer than that of the empty path
why-words-congestion-window-grew-from-its = the congestion window grew from its start
why-words-packets-queued-on-path = packets queued on the path
why-words-round-trip-longer-queue-or-jitter = the round trip was longer than the least known, by a queue or by jitter of the path
why-words-data-arrived-evenly-with-no = data arrived evenly, with no queue and no loss to be seen
why-words-congestion-window-full-on-path = the congestion window was full on a path without a queue
why-words-marks-congestion-came = marks of congestion came in
why-words-stretches-with-gaps = something was missing at some moment of stretches that make up { $share } of the time
why-words-losses-being-repaired = losses were being repaired
why-words-timeout-being-repaired = a timeout was being repaired
why-words-program-here-not-reading = the program here does not read
why-words-receiving = receiving
why-words-starting = starting
why-words-too-short = { $seconds } is too short to say what limits it.
why-words-watch-longer-command = Transfer more: a second or longer.
why-words-transfer-over-udp = Hardly anything goes over TCP: this transfer speaks UDP, of which the kernel keeps no record.
why-words-measure-udp = Measure the path with UDP itself (`slowpath measure iperf3://HOST -u`), or capture the packets (tcpdump -s 128 -w FILE) and run `slowpath explain FILE`.
why-words-ssh-window-opens-as-far-program-reads = ssh's window at the far end opens only as its program there reads: that program is slow, or the channel's window is small ({ $share } of the time).
why-words-far-program-or-protocols-window = The program here waits for the one at the far end: that one is slow, or the window of their protocol is small ({ $share } of the time).
why-words-nothing-send = nothing to send
why-words-at-pacing-bound = held by its pacing bound
why-words-waiting-program = waiting for the program
why-words-send-buffer-full = send buffer full
why-words-receivers-window-full-2 = receiver's window full
why-words-receiver-does-not-read = receiver does not read
why-words-receivers-window-full-path-slow = receiver's window full, path slow
why-words-path-full = path full
why-words-path-full-or-uneven = path full or uneven
why-words-window-growing = window growing
why-words-marked-as-congested = marked as congested
why-words-repairing-losses = repairing losses
why-words-repairing-timeout = repairing a timeout
why-words-newest-s = { " " }of the newest 300 s

## why-answer

why-answer-ended-once-before-had-connection = { $first } ended at once ({ $status }), before it had a connection.
why-answer-process-its-children-moved-no = Process { $pid } and its children moved no data over TCP meanwhile.
why-answer-request-connect-not-answered = { $remote } has not answered the request to connect for { $seconds }.
why-answer-no-tcp-connection-with-port = No TCP connection with port { $port } moved data meanwhile.
why-answer-no-tcp-connection-moved-data = No TCP connection to { $text } moved data meanwhile.
why-answer-speaks-udp-with-kernel-keeps = It speaks UDP with { $peers }{ $quic }: the kernel keeps no record of such a transfer, so only packets could tell (tcpdump, then `slowpath explain`).
why-answer-has-udp-sockets-without-peer = It has UDP sockets that are bound to no peer, and no TCP connection moved data: it may speak QUIC or another protocol over UDP, of which the kernel keeps no record, so only packets could tell (tcpdump, then `slowpath explain`).
why-answer-datagrams-of-host = All programs of this host together sent { $sent } datagrams of UDP meanwhile and received { $received }.
why-answer-many-brief-connections = The time went into { $connections } brief connections, which moved { $bytes } in { $seconds }: each begins anew, with a handshake and a small window, two round trips of { $rtt } or more before much moves. Use one again for all of it, or open several at once.
why-answer-small-connections-ended = { $small ->
    [one] { $small } connection that ended with { $bytes } bytes in all is
   *[other] { $small } connections that ended with { $bytes } bytes in all are
} left out; larger ones were kept.
why-answer-connections-with-bytes-began-ended = { $missed ->
    [one] { $missed } connection
   *[other] { $missed } connections
} with { $missed2 } bytes began and ended between two looks.
why-answer-more-connections-not-followed-busiest = { $not_followed ->
    [one] { $not_followed } more connection is
   *[other] { $not_followed } more connections are
} not followed; the busiest were chosen.
why-answer-part-programs-time-not-told = A part of the programs' time is not told: they slept in something that does not show, or had ended by the time of the look.
why-answer-part-programs-time-not-visible = A part of the programs' time is not visible to this user: they are somebody else's, or do not say what they wait in.
why-answer-program-ended-without-moving-data = The program ended without moving data over a TCP connection that I could see.
why-answer-program-had-no-tcp-connection = The program had no TCP connection with data.
why-answer-program = the program
why-answer-probably-quic-http = , probably QUIC (HTTP/3)

## why-judge

why-judge-time-2 = { $time } of the time
why-judge-receivers-window-always-had-room = the receiver's window always had room
why-judge-nothing-sent-again-while-i = nothing was sent again while I looked
why-judge-losses-follow-load-too-few = the losses follow the load, or are too few to tell
why-judge-no-marks-congestion = no marks of congestion
why-judge-pauses-do-not-end-with = the pauses do not end with a word from the other end
why-judge-samples-socket-do-not-show = samples of a socket do not show it
why-judge-needs-second-transfer-with-other = needs a second transfer with other marks (--again ipqos=none for ssh's programs, --again mark=cs0 for others)

## why-job

why-job-reading-source = reading the source
why-job-computing = computing
why-job-pausing = pausing
why-job-waiting-processor = waiting for a processor
why-job-held-back-by-processor-quota = held back by a processor quota
why-job-writing-here = writing here
why-job-waiting-answer = waiting for an answer
why-job-receiver = the receiver
why-job-network = the network
why-job-not-visible = not visible

## told-iperf3

told-iperf3-breaks-off-line-as-while = it breaks off in line { $line }, as while it is still being written
told-iperf3-line-column-no-json = line { $line }, column { $column } is no JSON
told-iperf3-processor-busy-test-may-limit = A processor of { $whose } was busy for { $share } % of the test: it may be the limit, and nothing is said about the path.
told-iperf3-test-itself-limit-asked-b = The test itself was the limit: { $asked } were asked for (-b), and { $got } arrived.
told-iperf3-round-trips-congestion-window-on = round trips of { $least_rtt } to { $most_rtt }, a congestion window of { $cwnd } on average
told-iperf3-receivers-window-limits-each-round = The receiver's window limits it: { $window } each round trip of { $rtt } is { $rtt2 }.
told-iperf3-senders-socket-buffer-limits-on = The sender's socket buffer limits it: { $flight } on the way of { $buffer } that it holds, each round trip of { $rtt }.
told-iperf3-path-full-arrive-whatever-sent = The path is full: { $got } arrive whatever is sent, and round trips grow from { $least_rtt } to { $most_rtt }.
told-iperf3-losses-hold-back-segments-sent = Losses hold it back: { $share } of the segments were sent again, and round trips show no queue. Whether the path loses them, a policer or a short queue that overflows, iperf3's figures cannot tell.
told-iperf3-jitter = ; jitter { $jitter }
told-iperf3-sent-arrived-datagrams-lost = Of { $given } that were sent { $got } arrived: { $lost } % of the datagrams were lost{ $jitter }.
told-iperf3-test-itself-limit-arrived-asked = The test itself was the limit: { $got } arrived of { $given } that were asked for, nothing to speak of was lost{ $jitter }.
told-iperf3-sender-sent-segments-again = { " " }The sender sent { $count ->
    [one] { $count } segment
   *[other] { $count } segments
} again.
told-iperf3-what-limited-cannot-told = What limited { $received } cannot be told: { $why }.
told-iperf3-arrived-sender-says-same = { $got } arrived, and the sender says the same
told-iperf3-arrived-senders-own-figure-higher = { $got } arrived; the sender's own figure, { $sent }, is { $more } higher, because it counts what its socket took
told-iperf3-has-no-start-end = it has no "start" and "end"
told-iperf3-its-end-holds-no-rates = its "end" holds no rates
told-iperf3-host = this host
told-iperf3-other-end = the other end
told-iperf3-let-several-iperf-run-once = Let several iperf3 run at once there, or take a faster host, and look again.
told-iperf3-leave-b-out-see-what = Leave -b out to see what the path carries.
told-iperf3-result-holds-no-round-trips = the result holds no round trips
told-iperf3-give-receiving-end-larger-buffer = Give the receiving end a larger buffer (iperf3 -w, net.ipv4.tcp_rmem), or open more connections (-P 4).
told-iperf3-leave-w-out-make-larger = Leave -w out or make it larger.
told-iperf3-whether-link-others-on-slowpath = Whether the link or others on it: `slowpath diagnose iperf3://HOST` tries more connections.
told-iperf3-slowpath-diagnose-iperf-host-tells = `slowpath diagnose iperf3://HOST` tells them apart by trying, a capture of the test by `slowpath explain`.
told-iperf3-no-window-buffer-queue-loss = no window, buffer, queue or loss stands out in its figures
told-iperf3-iperf-does-not-say-where = iperf3 does not say where: in the sender's own queue, on the path, or in the receiver's socket
told-iperf3-slowpath-measure-iperf-host-u = `slowpath measure iperf3://HOST -u` counts the three apart; ask for less (-b) until nothing is lost.
told-iperf3-ask-more-b-see-what = Ask for more (-b) to see what the path carries.
told-iperf3-result-does-not-say-how = the result does not say how many datagrams were lost
told-iperf3-other-end-sent-its-windows = the other end sent, and its windows and round trips are not in this result
told-iperf3-slowpath-diagnose-iperf-host-watches = `slowpath diagnose iperf3://HOST` watches such tests and tries what would help; `slowpath why --port 5201` watches this one while it runs.

## why-text

why-text-other-connections-left-out-format = { "\u000A" }Other connections left out: { $connections }; --format json has them.
why-text-s-no-connection-yet = { $at_s } s  no connection yet
why-text-connections = { "  " }{ $connections ->
    [one] { $connections } connection
   *[other] { $connections } connections
}
why-text-s-round-trip = { $at_s } s  { $rate }  round trip { $rtt }  { $receiving }{ $more }
why-text-by-packets-samples-say = Judged by packets. The samples alone say: { $sentence }
why-text-packets-captured = { $packets ->
    [one] { $packets } packet was
   *[other] { $packets } packets were
} captured.
why-text-packets-lost = There was no room for { $lost } more, which is no loss of the path.
why-text-packets-file = They are in { $file }: slowpath explain shows more.
why-text-no-tcp-connection-moves-data = No TCP connection moves data now. Start one: slowpath why -- COMMAND
why-text-stands-still = stands still
why-text-why-first-slow-slowpath-why = Why is the first slow: slowpath why --pid { $pid }
why-text-why-first-slow-slowpath-why-2 = Why is the first slow: slowpath why --to { $remote }
why-text-in = { $program }{ $connection } { $arrow } { $remote } in { $facts }, { $goodput_bit_per_s }, { $congestion_control }
why-text-at-least = at least { $bytes }
why-text-busiest-thread-one-processor = The busiest thread is { $program }: { $share } of one processor.
why-text-busiest-tcp-transfers-machine-now = The busiest TCP transfers of this machine now:
why-text-where-time-job-went = Where the time of the job went:

## told-ndt7

told-ndt7-no-measurements = it holds no measurements of a test
told-ndt7-line-no-json = line { $line } is no JSON: { $error }
told-ndt7-failed = the test failed: { $failure }
told-ndt7-open = What limited it cannot be told: { $received } arrived; { $why }.
told-ndt7-too-short = the test is too short to tell its start from the rest
told-ndt7-too-few-looks = the result holds too few looks of the server's kernel
told-ndt7-client-sent = the client sent, and the result holds the receiver's account alone
told-ndt7-contradicts = the kernel's account of its time contradicts itself
told-ndt7-no-round-trips = the result holds no round trips
told-ndt7-mixed = nothing held it for most of the time
told-ndt7-window-and-queue = the receiver's window was full, and so was a queue on the path
told-ndt7-window-or-reader = the receiver's window was full, because it is small or because its program reads slowly
told-ndt7-drops-above = { $share } were sent again under BBR, as where a policer or a short queue drops what is above a rate
told-ndt7-bbr-uneven = the rate did not stay near the bandwidth that BBR saw
told-ndt7-losses = { $share } were sent again without a queue, by chance or by a policer
told-ndt7-grows = the congestion window held it, without a queue and without losses
told-ndt7-take-packets = A capture at the sender tells more: `slowpath explain CAPTURE`; or watch a transfer of your own with `slowpath why`.
told-ndt7-server-idle = The server limited it: for { $share } of the time it had nothing to send.
told-ndt7-send-buffer = The server's send buffer limited it, for { $share } of the time.
told-ndt7-other-server = Try another server; this test says nothing of the path.
told-ndt7-window = The receiver's window limited it: { $window } each round trip of { $rtt }, for { $share } of the time.
told-ndt7-larger-window = Give the client's host a larger receive buffer (net.ipv4.tcp_rmem on Linux).
told-ndt7-bbr-full = The path is full: BBR saw { $bandwidth } of room and { $rate } arrived.
told-ndt7-full = The path is full: { $rate } arrived evenly, and round trips grew from { $least } to { $rtt }.
told-ndt7-link-or-others = Whether it is the link, a shaper or others on it, `slowpath diagnose` tells against a server of yours.
told-ndt7-both-rates = { $server } by the server's kernel, { $client } by the client's program
told-ndt7-account = the server's kernel was busy { $busy } of the time, held by the receiver's window { $window }, by its own send buffer { $buffer }
told-ndt7-trips = round trips of { $least } at least and { $rtt } at the end
told-ndt7-again = { $share } of the bytes were sent again

## told-text

told-text-stream-sent-by = { $tool }, { $streams } stream{ $plural } of { $to_uppercase } for { $told }, sent by { $sent_here }
told-text-side = this side
told-text-other-side = the other side

## single-ended-text

single-ended-text-test-data-server = test { $test }: data { $way } the server, { $what }
single-ended-text-s-test-one-connection-with = { $to } { $server }, { $test_s } s a test, one connection with { $congestion_control }:
single-ended-text-it = { $back } it:
single-ended-text-moved = { $cost } moved in { $cost2 }, { $tests } tests.
single-ended-text-what-tried-agrees = What was tried agrees: { $tried }.
single-ended-text-against-speaks-what-tried-take = Against this speaks what was tried: { $tried }. Take packets of such a test and explain them.
single-ended-text-nothing-tried-tells-from-another = Nothing that was tried tells { $words } from another cause.
single-ended-text-network-treats-marks-differently = { " " }The network treats marks differently: { $marks }.
single-ended-text-fastest = { " " }Fastest: { $change }, { $mean }.
single-ended-text-round-trip = round trip { $least_rtt_s } to { $mean_rtt_s }, { $limit }
single-ended-text-sent-again = , { $share } sent again
single-ended-text-perhaps-times-as-fast = perhaps { $ratio } times as fast ({ $low } to { $high })
single-ended-text-not-settled = What limits it is not settled: what was tried speaks against what one connection shows.
path-processor-sends = A processor here is the limit: the test's own program always has more to send, and comes to { $rate }.
path-processor-reads = A processor here is the limit: the test's own program reads as fast as it can, and comes to { $rate }.
path-no-network = { $address } is this machine itself: no network lies between, and what moves the bytes are its processors.
single-ended-text-times-as-fast-once = { $ratio } times as fast, once
single-ended-text-no-difference-shown-times = no difference shown ({ $low } to { $high } times)
single-ended-text-times-as-fast = { $ratio } times as fast ({ $low } to { $high })
single-ended-text-times-as-fast-2 = { $ratio } times as fast
single-ended-text-to = To
single-ended-text-from = From
single-ended-text-nothing-tried-end-made-faster = { " " }Nothing that was tried at this end made it faster.
single-ended-text-faster-open = { " " }Whether anything that was tried here makes it faster could not be told in the time: { $change } comes to { $ratio } times the rate on average, too unevenly to be sure. More time (--most) may tell.
single-ended-text-not-told = { $ratio } times on average, not sure ({ $low } to { $high })
single-ended-text-not-told-uneven = { $ratio } times on average, too uneven to tell
single-ended-text-as-fast-as-before = as fast as before
single-ended-text-no-difference-shown = no difference shown
layer-tcp = raw TCP
layer-pipe = ssh pipe
layer-sftp = sftp
layer-scp = scp
layer-tunnel = ssh tunnel
layer-ftp = FTP
layer-s3 = S3
layer-requests-in-flight = its requests in flight
layer-channel-window = the window of ssh's channel
layer-waits-for-answers = it waits for answers between its parts
layer-server-reads-slowly = the program at the server reads slowly
layer-processor-here = a processor of this host
layer-reason-not-seen = what does, cannot be told from here
layer-its-limit = limited by { $limit }
path-change-connections = { $count } connections
path-change-congestion-control = congestion control { $name }
path-change-buffers = socket buffers of { $size }
path-change-paced = paced to { $rate }
path-change-marked = marked { $mark }
path-nothing-left = There was no time or no permission left to try anything else.
path-no-time-for = No time for: { $what }. Give more with --most.
path-not-tried = Not tried, { $what }: { $error }
path-from-server = data from the server
path-server-reads = The program at the server reads slowly: { $rate } arrive, and ssh holds the rest back with { $flight } in flight, far below its own window.
path-left = { $what } may be left on the server: removing it failed: { $error }
path-losses-of-a-rate = Losses hold this path at { $rate }, and { $more } at once carry no more: they belong to a rate. A policer drops what is above it, or a link with hardly any queue.
path-losses-shared = what chance takes from each connection alone, { $more } at once would share; they carry no more
path-losses-carried = { $more } at once carried { $ratio } times as much, and built no queue
path-losses-by-chance = Losses hold one connection at { $rate }, and { $more } at once carry { $ratio } times as much: they belong to no rate, the path loses packets by itself.
path-losses-not-of-a-rate = what a policer drops { $more } at once would share; they carry more
path-more-carried = { $more } at once carried { $ratio } times as much
path-losses-above-a-rate = Losses hold this path at { $rate }, and { $more } loses more the more it sends: what is above a rate is dropped, by a policer, or a link with hardly any queue.
path-losses-same-share = of { $more } chance would lose the same share
path-more-lost = { $more } sent { $share } of its segments again, where it was { $lost }
path-to-server = data to the server
single-ended-text-one-thing-changed = { $layer } with one thing changed:
single-ended-text-saved = { " " }{ $tests } further tests (about { $bytes }) would have told no more.
single-ended-text-range = { " " }({ $low } to { $high })
single-ended-text-loses = { $layer } loses { $share }{ $range } of what { $below } carries: { $culprit }.
single-ended-text-none-loses = No layer costs more than { $at_most }.
single-ended-text-unclear = Whether a layer costs anything cannot be told: the rates were too uneven or too few.
single-ended-text-against-layer = { $share } of { $below }; { $limit }
single-ended-text-idle-and-loaded = Round trip { $idle } idle, { $loaded } loaded: { $words }.
single-ended-text-bloated = bufferbloat, the queue makes everybody beside this transfer wait
single-ended-text-some-queue = a queue that few would notice
single-ended-text-no-queue = no queue
single-ended-text-mtu = Path MTU { $mtu } bytes.
single-ended-text-mtu-or-more = Path MTU { $mtu } bytes or more.
single-ended-text-mtu-of-tcp = Path MTU { $mtu } bytes, as TCP has it; probes were not answered.
single-ended-text-mtu-black-hole = Path MTU { $mtu } bytes, and larger packets vanish without a word: a black hole.
why-text-from = from
why-text-to = to

## why-trial

why-trial-living = Tried on the living connection:
why-trial-again = Tried by running it again:
why-trial-blocks = { $without } without, { $with } with it; { $blocks } blocks of { $length } s, of which the first { $settle } s do not count.
why-trial-runs = { $without } without, { $with } with it; { $runs } runs in turns, { $length } s each on average.
why-trial-nothing = Nothing was tried: { $why }.
why-trial-not-tried = { $change }: not tried: { $why }.
why-trial-faster = faster { $times } times ({ $low } to { $high })
why-trial-slower = slower, { $times } times the rate ({ $low } to { $high })
why-trial-same = no difference shown (the rate is { $low } to { $high } times what it was)
why-trial-one-run = cannot tell from 1 run, it takes { $least }: { $why }
why-trial-few-runs = cannot tell from { $count } runs, it takes { $least }: { $why }
why-trial-one-block = cannot tell: { $why } after 1 block; it takes { $least } of { $length } s each
why-trial-few-blocks = cannot tell: { $why } after { $count } blocks; it takes { $least } of { $length } s each
why-trial-transfer-ended = the transfer ended
why-trial-watch-ended = the watch ended
why-trial-ended = it ended
why-trial-interrupted = it was interrupted
why-trial-before-suggested = trying what the limit suggests on the program's own connections, in turns; each is given back what it had
why-trial-before = trying { $changes } on the program's own connections, in turns; each is given back what it had
why-trial-needs = it takes about { $seconds } s of the transfer, and more where round trips are long or packets are lost
why-trial-kept-bbr = not given back: the kernel goes on pacing this connection, and its congestion window begins where the change left it
why-trial-kept-control = not given back: the congestion window begins where the change left it
why-trial-kept-pacing = not given back: the kernel goes on pacing this connection, without the bound
why-trial-kept-buffer = not given back whole: after it the same buffer allows a larger window, and before Linux 5.14 it does not grow by itself again; so it is made once, last, and compared with what was before
why-trial-kept-clamp = a window that is offered is never taken back, so a smaller one takes hold as data come in
why-trial-not-allowed = this user may not choose { $name }, to set it or to give it back; the administrator may add it to net.ipv4.tcp_allowed_congestion_control
why-trial-no-control = this kernel has no congestion control { $name }; net.ipv4.tcp_available_congestion_control lists those it has
why-trial-refused-name = the kernel refuses { $name }: { $error }
why-trial-refused = the kernel refuses it: { $error }
why-trial-given-less = the kernel gave { $given } B of it: { $bound } bounds it
why-trial-window-scale = the window scale agreed when the connection began allows a window of { $largest } B at most; a new connection with this buffer agrees a larger one (--again '{ $change }' shows what that gives)
why-trial-no-guardian = the process that would restore it after a kill is gone
why-trial-of-sender = it is the sender's to choose, and the data come in here
why-trial-of-receiver = it is the receiver's to choose, and the data go out here
why-trial-nothing-lifts = no option of this end's socket that this user may set could lift what limits it ({ $limit })
why-trial-too-early = { $why } before it had moved data for { $seconds } s
why-trial-guardian-fails = the process that would restore it after a kill does not start: { $error }
why-trial-given-back-later = { $change } could not be given back to the connection by this process; its guardian does it at the end

## why-again

why-again-before = first { $runs } shortened runs, { $seconds } s of data or { $bytes } each at most, in turns as it is and with { $changes }; then the command itself, to its end
why-again-writes = each run writes what the command writes, and a shortened one leaves it cut off; the last run is whole
why-again-run-plain = run { $run } of { $runs }, as it is: { $rate }
why-again-run-changed = run { $run } of { $runs }, with { $change }: { $rate }
why-again-moved-said = a run moved { $moved } only ("{ $said }")
why-again-moved = the command moved { $moved } only
why-again-moved-less = a run moved { $moved } only, perhaps because the command does not transfer again what is there already
why-again-no-connection = the program opened no TCP connection of its own
why-again-set-otherwise = the program, or the kernel, sets it otherwise once the connection is there
why-again-no-reach = this user may not reach the program's sockets: { $error }
why-again-watched-already = its sockets are watched by another program already
why-again-no-gate = this kernel does not let a program's sockets be changed before they connect (seccomp_unotify, Linux 5.5): { $error }
why-again-no-ssh = slowpath does not know how { $program } runs ssh; give the whole command with the option: command='...'
why-again-no-words = "{ $text }" is no list of words: a quote is open, or there is nothing in it

### Labels and single words.

## Limits as nouns

noun-receiver-window = receiver's window
noun-receiver-application = receiving application
noun-sender-application = sending application
noun-send-buffer = send buffer
noun-protocol-window = application protocol's window
noun-bottleneck-bandwidth = bottleneck bandwidth
noun-shared-bottleneck = shared bottleneck
noun-policed = policer
noun-random-loss = random loss
noun-ecn-congestion = congestion marks (ECN)
noun-dscp-treatment = DSCP treatment
noun-device-limit = device on the path
noun-host-cpu = processor of a host
noun-mtu-black-hole = MTU black hole
noun-slow-start = slow start
noun-capture-loss = capture incomplete
noun-unknown = cannot be told

## Heads of tables

head-variant = variant
head-ratio = ratio
head-health = health
head-simulated = simulated
head-measured = measured
head-published = published
head-lab = lab
head-flow = flow
head-sent = sent
head-received = received
head-lost = lost
head-delivered = delivered

## Facts and figures

figure-client = client
figure-server = server
figure-goodput = goodput
figure-limit = limit
figure-lost = lost
figure-timestamps = timestamps
figure-rate = rate
figure-bucket = bucket
figure-queue = queue
figure-window = window
figure-marked = marked
figure-SACK = SACK
figure-ECN = ECN
figure-DSCP = DSCP

## States and flags of a ledger's entries (`figure-window` is above)

figure-handshake = handshake
figure-start = start
figure-growth = growth
figure-repair = repair
figure-timeout = timeout
figure-link = link
figure-answer = answer
figure-idle = idle
figure-pace = pace
figure-buffer = buffer
figure-measurement = measurement
figure-unknown = unknown
figure-shared-with-other-flows = shared-with-other-flows
figure-bufferbloat = bufferbloat
figure-mixed = mixed
figure-early-exit = early-exit
figure-short-queue = short-queue
figure-variable-rate = variable-rate
figure-own-rate = own-rate
figure-outage = outage

## Values

value-yes = yes
value-no = no
figure-none = none

## Outcomes and states

outcome-held = held
outcome-refuted = refuted
outcome-undecided = undecided
state-valid = valid
state-degraded = degraded
state-invalid = invalid
note-assumed = Assumed
note-excluded = Excluded
note-remarks = Remarks

## Words of comparisons

word-slower = slower
word-faster = faster

## Configurations

line-unrecognised = unrecognised
line-ignored = ignored
line-not-modelled = not modelled
line-doubtful = doubtful
line-modelled = modelled
config-count = { $number } { $state }
config-comma = ,{ " " }
config-summary = { $lines } lines read as { $system }: { $states }
place-add = add

## Tables of ranges, Wireshark, two captures

head-goodput = goodput
head-interval = 95 % CI
head-limit = limit
head-runs = runs
sweep-runs = runs { $range }
wireshark-segments = segments
wireshark-says = Wireshark says
wireshark-slowpath = slowpath says
wireshark-frames = { $why } (frames { $frames }{ $more })
pair-confidence = { $limit } (confidence { $percent } %)
pair-between = Between the two captures
sweep-tables = Tables in { $folder }: sweep.csv, sweep.json, runs.parquet, ledgers.parquet and more
sweep-shard = This part lies in { $folder }; when all parts are computed: slowpath merge { $folder } ...

## Progress

run-line = { $bytes } bytes in { $seconds } s  { $name }{ $state }{ $failed }
run-line-packets = { $received } of { $sent } packets
run-again = { $line }; done again, alone, at the end
run-failed = { $name }: failed: { $error }
run-progress = { $finished } of { $total } runs, { $left }
run-left = about { $seconds } s left for those running
run-starting = starting
progress-reading = { "{decimal_bytes}" } of { "{decimal_total_bytes}" } read, { "{eta}" } left
progress-runs = { "{pos}" } of { "{len}" } runs, { "{eta}" } left

## Where a figure comes from, what there is not, comments of commands

origin-published = published
origin-derived = derived
kind-command = command
kind-tool = tool
line-comment-receiver = # on the receiver
line-comment-sender = # on the sender
line-comment-receive-buffer = # only for programs that set SO_RCVBUF themselves
line-comment-send-buffer = # only for programs that set SO_SNDBUF themselves
line-comment-client = # on a client that sends
line-comment-server = # on a server that sends; then reload it
line-comment-router = # on a router that runs Linux
line-number = line { $count }

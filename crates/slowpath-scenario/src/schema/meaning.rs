//! What each key means.

/// What the key at a place means, or nothing where it is not known; a place that says too much (`element.rate.name`,
/// `job.s3-put.size`) also finds what is said of all elements and jobs (`element.name`, `job.size`).
pub(super) fn meaning(place: &str) -> &'static str {
    let said = |place: &str| {
        (MEANINGS.iter())
            .find(|(known, _)| *known == place)
            .map(|(_, said)| *said)
    };
    let mut parts = place.splitn(3, '.');
    let general = match (parts.next(), parts.next(), parts.next()) {
        (Some(section @ ("element" | "job")), Some(_), Some(rest)) => Some(format!("{section}.{rest}")),
        _ => None,
    };
    said(place)
        .or_else(|| general.and_then(|general| said(&general)))
        .unwrap_or_default()
}

/// Place and meaning. Units, choices and limits are the reader's and are not repeated here.
pub(super) const MEANINGS: &[(&str, &str)] = &[
    ("title", "What the experiment shows, in a line."),
    (
        "reference",
        "The published figures it is held against, a file of its own.",
    ),
    (
        "variants",
        "What is compared: each lays its keys over the common part, tables key by key, everything else whole. Without it there is one, called `default`.",
    ),
    ("variants[].name", "The variant's name in tables and file names."),
    ("note", "A remark on a variant."),
    (
        "captures",
        "Which captures are kept: none, those taken at the hosts (default), or those of every tap as well.",
    ),
    (
        "network",
        "The path between the near end, where clients are, and the far end, where servers are.",
    ),
    (
        "network.up",
        "Elements from client to server, in the order in which a packet meets them.",
    ),
    (
        "network.down",
        "Elements from server to client, in the order in which a packet meets them.",
    ),
    (
        "network.both",
        "The same elements each way, instead of `up` and `down`.",
    ),
    (
        "hosts",
        "Hosts by name. One that is not mentioned is a Linux with its defaults.",
    ),
    ("workload", "The job that is measured."),
    ("background", "Jobs that run beside it."),
    (
        "figures",
        "What somebody published of a variant, to compare with.",
    ),
    (
        "figures[].id",
        "Which figure: `goodput`, `duration`, `loss`, and others that reports name.",
    ),
    (
        "figures[].value",
        "The figure as its source prints it, with unit: `\"151542 B/s\"`.",
    ),
    (
        "figures[].tolerance",
        "How far the result may be off before `--check` fails.",
    ),
    (
        "figures[].standing",
        "`fitted` where a parameter was chosen by this figure, so that it proves nothing; else `predicted`.",
    ),
    (
        "figures[].formula",
        "The source does not print the figure: how it follows from what it prints.",
    ),
    (
        "figures[].missed",
        "Why the model misses the figure; `--check` then fails when it meets it.",
    ),
    // Elements.
    ("element.name", "A name for results and for `--set`."),
    (
        "element.only",
        "The element sees these packets; others pass by it.",
    ),
    (
        "element.only.dscp",
        "Packets with this code point: a name (`cs1`, `ef`, `af21`) or a number in quotes.",
    ),
    ("element.only.protocol", "Packets of this protocol."),
    ("element.only.port", "Packets from or to this port."),
    (
        "element.layer",
        "Which bytes the rate counts: `L1` on the wire, `L2+FCS`, `L2` frame (default), `L3` IP packet.",
    ),
    ("element.burst", "Size of the bucket; it must hold a full frame."),
    (
        "element.queue",
        "How much waits before packets are dropped; 1000 packets if not given.",
    ),
    ("element.rate", "A link with a queue."),
    ("element.rate.rate", "Its rate, or how the rate varies."),
    (
        "element.rate.rate.trace",
        "A recorded link in mahimahi's format, beside the experiment file.",
    ),
    ("element.rate.rate.steps", "A schedule."),
    (
        "element.rate.rate.steps[].from",
        "From when on, since the start of the run.",
    ),
    (
        "element.rate.rate.steps[].rate",
        "The rate from then on; zero is an outage.",
    ),
    (
        "element.rate.rate.markov",
        "Levels between which the link jumps by chance; the run's seed decides.",
    ),
    ("element.rate.rate.markov[].rate", "The rate of this level."),
    ("element.rate.rate.markov[].stay", "The mean time at this level."),
    (
        "element.rate.rate.slot",
        "How often the link may jump; 1 ms if not given.",
    ),
    (
        "element.rate.discipline",
        "What the queue does; `fifo` if not given.",
    ),
    (
        "element.rate.ecn",
        "Marks packets that announce ECN instead of dropping them.",
    ),
    ("element.delay", "Propagation delay."),
    (
        "element.delay.delay",
        "How long a packet takes, one way; or how that changes.",
    ),
    ("element.delay.delay.steps", "A schedule."),
    (
        "element.delay.delay.steps[].from",
        "From when on, since the start of the run.",
    ),
    ("element.delay.delay.steps[].delay", "The delay from then on."),
    (
        "element.delay.jitter",
        "How the delay varies: evenly to either side by this much, or otherwise.",
    ),
    (
        "element.delay.jitter.normal",
        "Normally distributed, with this standard deviation.",
    ),
    (
        "element.delay.jitter.quantiles",
        "Extra delay, evenly spaced in probability.",
    ),
    (
        "element.delay.reorder",
        "Packets may overtake each other; they keep their order if not given.",
    ),
    ("element.loss", "Loses packets."),
    ("element.loss.loss", "The share lost at random, or which packets."),
    (
        "element.loss.loss.every",
        "Each packet whose number divides by this.",
    ),
    ("element.loss.loss.packets", "Packets with these numbers, from 1."),
    (
        "element.loss.loss.to_bad",
        "Gilbert-Elliott: how likely a packet begins a bad spell.",
    ),
    ("element.loss.loss.to_good", "How likely a packet ends it."),
    (
        "element.loss.loss.in_good",
        "The share lost outside of bad spells; none if not given.",
    ),
    (
        "element.loss.loss.in_bad",
        "The share lost in bad spells; all if not given.",
    ),
    ("element.duplicate", "Duplicates packets."),
    ("element.duplicate.duplicate", "The share that arrives twice."),
    (
        "element.reorder",
        "Holds packets back, so that later ones overtake them.",
    ),
    ("element.reorder.reorder", "The share held back."),
    ("element.reorder.by", "For how long."),
    ("element.police", "Drops what exceeds a rate and a bucket."),
    ("element.police.police", "The committed rate."),
    (
        "element.police.excess_burst",
        "A second bucket at the same rate (RFC 2697).",
    ),
    ("element.police.peak", "A second rate (RFC 2698)."),
    ("element.police.peak_burst", "The bucket of that rate."),
    (
        "element.police.exceed",
        "What becomes of yellow packets: `drop`, `pass` (default with a second bucket), or the code point they get.",
    ),
    (
        "element.police.violate",
        "What becomes of red packets; dropped if not given.",
    ),
    ("element.treat", "Treats code points apart."),
    (
        "element.treat.treat",
        "Each treatment; the first that names a packet's code point decides.",
    ),
    ("element.treat.treat[].codes", "The code points meant."),
    ("element.treat.treat[].drop", "The share of them that is dropped."),
    (
        "element.treat.treat[].police",
        "The committed rate of a policer for them.",
    ),
    ("element.treat.treat[].burst", "Size of its bucket."),
    ("element.treat.treat[].layer", "Which bytes the rate counts."),
    (
        "element.treat.treat[].excess_burst",
        "A second bucket at the same rate (RFC 2697).",
    ),
    ("element.treat.treat[].peak", "A second rate (RFC 2698)."),
    ("element.treat.treat[].peak_burst", "The bucket of that rate."),
    ("element.treat.treat[].exceed", "What becomes of yellow packets."),
    ("element.treat.treat[].violate", "What becomes of red packets."),
    ("element.shape", "Holds back what exceeds a rate and a bucket."),
    ("element.shape.shape", "The rate."),
    ("element.mark", "Writes a code point."),
    ("element.mark.mark", "A name (`cs1`) or a number in quotes."),
    ("element.mtu", "Refuses larger packets, and says so."),
    ("element.mtu.mtu", "The largest IP packet that passes."),
    ("element.mtu.black_hole", "Does not say so."),
    ("element.mtu.address", "Who says so."),
    (
        "element.mtu.announced",
        "The size it says, where that is not its own.",
    ),
    ("element.router", "A hop that traces see."),
    ("element.router.router", "Its address."),
    (
        "element.router.answer_gap",
        "The least time between two of its messages.",
    ),
    ("element.device", "A router with its own configuration file."),
    ("element.device.device", "The file, beside the experiment file."),
    (
        "element.device.system",
        "Whose configuration it is: `rtx830` and its family, `cisco-ios`, `cisco-iosxe`.",
    ),
    (
        "element.device.port",
        "The port that packets leave by, as the configuration calls it.",
    ),
    ("element.device.line", "The rate of that port."),
    (
        "element.device.far",
        "Whether a device at the other end takes its tunnel away; it does if not given.",
    ),
    ("element.per_packet", "A device that takes time for each packet."),
    ("element.per_packet.per_packet", "How long for each."),
    (
        "element.per_packet.per_kilobyte",
        "And how long for each 1000 bytes of its frame.",
    ),
    (
        "element.per_packet.ring",
        "Packets that may wait, for each host; 256 if not given.",
    ),
    (
        "element.clamp_mss",
        "Lowers the segment size in passing handshakes.",
    ),
    ("element.clamp_mss.clamp_mss", "To this, in bytes."),
    (
        "element.remove_window_scale",
        "Takes window scaling out of passing handshakes.",
    ),
    ("element.remove_window_scale.remove_window_scale", "Must be true."),
    (
        "element.tunnel_end",
        "Takes packets out of the tunnel of a device with `far = false`.",
    ),
    ("element.tunnel_end.tunnel_end", "Must be true."),
    ("element.tap", "Records what passes."),
    ("element.tap.tap", "The name of the capture."),
    // Hosts.
    (
        "host.system",
        "What kind of host it is; `linux` if not given. It decides every default.",
    ),
    (
        "host.stack",
        "The kernel's TCP or the model's; each system has its own default, and in simulated time every host is a model.",
    ),
    (
        "host.address",
        "An IPv4 or IPv6 address; all hosts of a variant speak one version.",
    ),
    (
        "host.config",
        "A file in the system's own language: IOS lines, sysctl lines.",
    ),
    (
        "host.congestion_control",
        "Of what the host sends. Kernels have the first names; the last are the model's alone.",
    ),
    (
        "host.window",
        "A receive buffer fixed by the program; Linux advertises a quarter more.",
    ),
    ("host.send_buffer", "A send buffer fixed by the program."),
    ("host.window_scaling", "Offers window scaling (RFC 7323)."),
    ("host.sack", "Offers selective acknowledgements (RFC 2018)."),
    ("host.timestamps", "Offers timestamps (RFC 7323)."),
    ("host.ecn", "Asks for ECN, answers to it, or neither."),
    ("host.mss", "The segment size that it offers, in bytes."),
    (
        "host.initial_window",
        "The congestion window at the start, in segments.",
    ),
    (
        "host.slow_start_threshold",
        "Where slow start ends at first, in segments.",
    ),
    (
        "host.rmem",
        "`tcp_rmem`: minimum, default and maximum of the receive buffer.",
    ),
    (
        "host.wmem",
        "`tcp_wmem`: minimum, default and maximum of the send buffer.",
    ),
    (
        "host.rmem_max",
        "The most that a program may ask for as its receive buffer.",
    ),
    (
        "host.wmem_max",
        "The most that a program may ask for as its send buffer.",
    ),
    ("host.pacing", "Never sends faster than this, each connection."),
    ("host.dscp", "The code point that it writes."),
    (
        "host.qdisc",
        "The queue discipline of its interface, as `tc` names it; the lab alone has it.",
    ),
    (
        "host.storage",
        "What takes the data that arrive is slow; a host that sends alone has no use for it.",
    ),
    ("host.storage.rate", "How fast it takes data, pauses included."),
    (
        "host.storage.unit",
        "How much it takes at once; 4096 bytes if not given.",
    ),
    (
        "host.storage.chunk",
        "How much the program reads in one call; 4096 bytes if not given.",
    ),
    (
        "host.storage.pause",
        "How long it takes nothing after each unit; none if not given.",
    ),
    // Jobs.
    ("job.kind", "What kind of job it is."),
    (
        "job.name",
        "The job's name in the results; `main`, or `background1` and so on.",
    ),
    ("job.client", "The host that asks; `client` if not given."),
    ("job.server", "The host that answers; `server` if not given."),
    ("job.start", "When it starts, from the start of the run."),
    ("job.repeats", "How often each variant is run; once if not given."),
    ("job.quick_size", "The size that `--quick` uses."),
    ("job.deadline", "When a run is given up."),
    ("job.size", "How much is transferred."),
    ("job.direction", "Which way the data goes."),
    ("job.protocol", "Over what it goes."),
    ("job.duration", "For how long; ten seconds if not given."),
    ("job.rate", "How fast it sends."),
    ("job.length", "Bytes of each write, or of each datagram."),
    ("job.dscp", "The code point of its packets."),
    (
        "job.burst_interval",
        "Datagrams are sent in bursts, so far apart; evenly if not given.",
    ),
    (
        "job.server_program",
        "Who answers: the built-in model, or a program that must be installed.",
    ),
    (
        "job.client_program",
        "Who asks: the built-in model, or a program that must be installed.",
    ),
    ("job.ftp-get", "A file from an FTP server, or to it."),
    ("job.data", "How the data connection is made."),
    ("job.iperf3", "A test of iperf3."),
    (
        "job.iperf3.rate",
        "`-b`: the most it sends; TCP as fast as it can if not given, UDP 1.05 Mbit/s.",
    ),
    ("job.streams", "`-P`: connections at once; one if not given."),
    ("job.window", "`-w`: both buffers of both ends."),
    ("job.omit", "`-O`: so much of the beginning does not count."),
    ("job.mss", "`-M`: the segment size, in bytes."),
    ("job.congestion_control", "`-C`: the sender's."),
    (
        "job.iperf3.size",
        "`-n`: how much is transferred, instead of a duration.",
    ),
    ("job.scp", "A file by programs of the SSH family."),
    ("job.client_options", "Lines of `ssh_config`."),
    ("job.server_options", "Lines of `sshd_config`."),
    ("job.s3-put", "Requests to an object store."),
    ("job.s3-put.size", "Size of each object."),
    ("job.part_size", "Objects go in parts of this size."),
    ("job.requests", "How many objects; one if not given."),
    ("job.concurrency", "Connections at once; one if not given."),
    ("job.tls", "Over TLS."),
    (
        "job.reuse",
        "Connections serve request after request; they do if not given.",
    ),
    (
        "job.fixed_shares",
        "Each connection gets the same number of requests; if not given, whichever is free takes the next.",
    ),
    ("job.service_time", "How long the store takes for a request."),
    ("job.udp", "Datagrams at a rate."),
    ("job.ping", "Echo requests."),
    ("job.count", "How many; ten if not given."),
    ("job.interval", "How far apart; a second if not given."),
    ("job.dont_fragment", "Routers may not fragment them."),
    (
        "job.frames",
        "A traffic generator's port: frames of one size at a share of the line.",
    ),
    ("job.frame", "Bytes of a frame with FCS."),
    (
        "job.frame_sizes",
        "Sizes for which the highest load that goes through is searched (RFC 2544).",
    ),
    (
        "job.allowed_loss",
        "The shares that may be lost in that search; none if not given.",
    ),
    ("job.line", "The rate of the port."),
    ("job.load", "The share of the line that is offered."),
    ("job.loads", "The whole run again at each of these loads."),
    ("job.command", "Any two programs."),
    ("job.near", "The program at the near end and its arguments."),
    ("job.far", "The one at the far end, if any."),
];

//! The transfers of the table of verdicts: what limits each is known because everything else was left wide.

use std::fmt::Write as _;

use slowpath_verdict::Limit;

/// One transfer from client to server.
pub(crate) struct Transfer {
    /// Cause, number and what is special, such as `policed-3-bbr`.
    pub(crate) name: String,
    /// What limits it, by construction: in the first half, where it changes midway.
    pub(crate) cause: Limit,
    /// The experiment file.
    pub(crate) document: String,
}

/// Every transfer of the table.
pub(crate) fn transfers() -> Vec<Transfer> {
    let mut list = List::default();
    hosts(&mut list);
    links(&mut list);
    policers(&mut list);
    losses(&mut list);
    marks(&mut list);
    disorder(&mut list);
    shared(&mut list);
    two_causes(&mut list);
    changes(&mut list);
    varying(&mut list);
    list.0
}

/// The algorithms that the model has, except the RFCs' own variants.
const ALGORITHMS: [&str; 4] = ["reno", "bic", "cubic", "bbr"];
/// Those that heed losses.
const HEEDING: [&str; 3] = ["reno", "bic", "cubic"];

/// Limits of the two hosts and their programs.
fn hosts(list: &mut List) {
    for (control, rtt, window) in [
        ("cubic", 40, 30),
        ("reno", 100, 60),
        ("bbr", 60, 100),
        ("bic", 20, 64),
    ] {
        let path = Path::wide(control, rtt).server(&exact_window(window));
        list.add(Limit::ReceiverWindow, control, &path);
    }
    for (control, kbit, unit, pause) in [
        ("cubic", 2_000, 64, 100),
        ("bbr", 4_000, 16, 10),
        ("reno", 1_000, 4, 20),
    ] {
        let storage = format!(
            "storage = {{ rate = \"{kbit} kbit/s\", unit = \"{unit} KiB\", pause = \"{pause} ms\" }}\n"
        );
        list.add(
            Limit::ReceiverApplication,
            control,
            &Path::wide(control, 40).server(&storage),
        );
    }
    for (control, mbit) in [("cubic", 2), ("bbr", 1), ("reno", 4)] {
        let job = format!("duration = \"8 s\"\nrate = \"{mbit} Mbit/s\"\n");
        list.add(
            Limit::SenderApplication,
            control,
            &Path::wide(control, 40).job(&job),
        );
    }
    for (control, rtt, buffer) in [
        ("cubic", 40, 32),
        ("reno", 100, 64),
        ("bbr", 60, 128),
        ("bic", 20, 48),
    ] {
        let path = Path::wide(control, rtt).client(&format!("send_buffer = \"{buffer} KiB\"\n"));
        list.add(Limit::SendBuffer, control, &path);
    }
    for (control, rtt, part) in [("cubic", 40, 64), ("bbr", 60, 128), ("reno", 100, 48)] {
        let store = format!(
            "kind = \"s3-put\"\nsize = \"{part} KiB\"\nrequests = 100\nconcurrency = 1\nreuse = true\n"
        );
        list.add(
            Limit::ProtocolWindow,
            control,
            &Path::wide(control, rtt).workload(&store),
        );
    }
    for (control, kilobytes) in [("cubic", 60), ("reno", 200), ("bbr", 400)] {
        let job = format!("size = \"{kilobytes} kB\"\n");
        list.add(Limit::SlowStart, control, &Path::wide(control, 100).job(&job));
    }
}

/// Links and shapers, with queues from a fifth of the path to many times it.
fn links(list: &mut List) {
    for control in ALGORITHMS {
        for (kbit, rtt, queue) in [(10_000, 60, 15_000), (10_000, 60, 75_000), (6_000, 40, 300_000)] {
            list.add(
                Limit::BottleneckBandwidth,
                control,
                &Path::new(control, rtt, &link(kbit, queue)),
            );
        }
    }
    for control in ["cubic", "bbr"] {
        let shaper =
            "{ rate = \"95 Mbit/s\" }, { shape = \"8 Mbit/s\", burst = \"100 kB\", queue = \"150 kB\" }";
        list.add(
            Limit::BottleneckBandwidth,
            control,
            &Path::new(control, 50, shaper),
        );
    }
}

fn policers(list: &mut List) {
    for control in ALGORITHMS {
        for (kbit, rtt, bucket) in [(4_000, 30, 30), (8_000, 60, 120)] {
            list.add(
                Limit::Policed,
                control,
                &Path::new(control, rtt, &policer(kbit, bucket)),
            );
        }
    }
}

fn losses(list: &mut List) {
    for control in HEEDING {
        for (rtt, chance) in [(40, "0.5 %"), (100, "0.2 %"), (20, "2 %")] {
            let elements = format!("{{ loss = \"{chance}\" }}, {}", link(90_000, 450_000));
            list.add(Limit::RandomLoss, control, &Path::new(control, rtt, &elements));
        }
    }
    for control in ["reno", "cubic"] {
        let elements = format!(
            "{{ loss = {{ to_bad = \"0.3 %\", to_good = \"40 %\", in_bad = \"100 %\" }} }}, {}",
            link(90_000, 675_000)
        );
        list.add(Limit::RandomLoss, control, &Path::new(control, 60, &elements));
    }
    for control in ["cubic", "bbr"] {
        let elements = format!(
            "{{ mtu = \"1400 B\", black_hole = true }}, {}",
            link(50_000, 250_000)
        );
        list.add(Limit::MtuBlackHole, control, &Path::new(control, 40, &elements));
    }
}

fn marks(list: &mut List) {
    for (control, kbit, rtt) in [("reno", 10_000, 40), ("cubic", 20_000, 60), ("bic", 5_000, 30)] {
        let codel = format!(
            "{{ rate = \"{kbit} kbit/s\", queue = \"1000 packets\", discipline = \"codel\", ecn = true }}"
        );
        let path = Path::new(control, rtt, &codel)
            .client("ecn = \"on\"\n")
            .server("ecn = \"on\"\n");
        list.add(Limit::EcnCongestion, control, &path);
    }
}

fn disorder(list: &mut List) {
    for (control, rtt, jitter) in [("reno", 40, 8), ("cubic", 80, 18), ("bic", 60, 12)] {
        // Selective acknowledgements and timestamps tell late from lost.
        let plain = "sack = false\ntimestamps = false\n";
        let mut path = Path::new(control, rtt, &link(90_000, 2_000_000))
            .client(plain)
            .server(plain);
        path.jitter_ms = jitter;
        list.add(Limit::Reordering, control, &path);
    }
}

/// Paths with more than one flow.
fn shared(list: &mut List) {
    for (control, kbit, rtt, streams) in [
        ("cubic", 10_000, 40, 3),
        ("bbr", 20_000, 60, 2),
        ("reno", 10_000, 40, 2),
    ] {
        let path = Path::new(control, rtt, &link(kbit, 120_000))
            .job(&format!("duration = \"8 s\"\nstreams = {streams}\n"));
        list.add(Limit::SharedBottleneck, control, &path);
    }
    for control in ALGORITHMS {
        let path = Path::new(control, 40, &link(10_000, 100_000)).beside(&format!(
            "kind = \"iperf3\"\nduration = \"12 s\"\nstreams = 2\nclient = \"other\"\nserver = \"sink\"\n\
             [hosts.other]\ncongestion_control = \"{control}\"\n[hosts.sink]\n"
        ));
        list.add(Limit::SharedBottleneck, control, &path);
    }
    for control in ["cubic", "bbr"] {
        let path = Path::new(control, 60, &link(10_000, 120_000)).beside(
            "kind = \"udp\"\nrate = \"6 Mbit/s\"\nlength = \"1200 B\"\nduration = \"12 s\"\nclient = \"other\"\nserver = \"sink\"\n\
             [hosts.other]\n[hosts.sink]\n",
        );
        list.add(Limit::SharedBottleneck, control, &path);
    }
}

/// Two causes at once; the one that holds the transfer more is the name.
fn two_causes(list: &mut List) {
    let lossy_policer = format!("{{ loss = \"0.1 %\" }}, {}", policer(6_000, 60));
    let lossy_link = format!("{{ loss = \"0.3 %\" }}, {}", link(10_000, 60_000));
    for control in ["cubic", "bbr"] {
        list.add(Limit::Policed, control, &Path::new(control, 40, &lossy_policer));
        // BBR does not heed losses: the link is what remains.
        let limit = if control == "bbr" {
            Limit::BottleneckBandwidth
        } else {
            Limit::RandomLoss
        };
        list.add(limit, control, &Path::new(control, 80, &lossy_link));
    }
    // A window that holds nearly what the link and its queue do.
    let path = Path::new("cubic", 40, &link(10_000, 100_000)).server(&exact_window(100));
    list.add(Limit::BottleneckBandwidth, "cubic", &path);
    // A buffer and a window of one size.
    let path = Path::wide("cubic", 60)
        .client("send_buffer = \"64 KiB\"\n")
        .server(&exact_window(90));
    list.add(Limit::SendBuffer, "cubic", &path);
    // A small window on a path that loses.
    let lossy = format!("{{ loss = \"0.2 %\" }}, {}", link(90_000, 450_000));
    let path = Path::new("cubic", 20, &lossy).server(&exact_window(20));
    list.add(Limit::ReceiverWindow, "cubic", &path);
}

/// A cause that gives way to another after half of the transfer.
fn changes(list: &mut List) {
    for control in ["cubic", "bbr"] {
        // Others come and fill the link.
        let path = Path::new(control, 40, &link(10_000, 60_000)).beside(
            "kind = \"udp\"\nrate = \"9 Mbit/s\"\nlength = \"1200 B\"\nduration = \"8 s\"\nstart = \"4 s\"\nclient = \"other\"\nserver = \"sink\"\n\
             [hosts.other]\n[hosts.sink]\n",
        );
        list.add(Limit::BottleneckBandwidth, control, &path);
        // A burst of losses, and then none.
        let packets: Vec<String> = (0..40).map(|index| (400 + index * 60).to_string()).collect();
        let elements = format!(
            "{{ loss = {{ packets = [{}] }} }}, {}",
            packets.join(", "),
            link(20_000, 200_000)
        );
        let limit = if control == "bbr" {
            Limit::BottleneckBandwidth
        } else {
            Limit::RandomLoss
        };
        list.add(limit, control, &Path::new(control, 40, &elements));
    }
}

/// Links whose rate jumps between two levels.
fn varying(list: &mut List) {
    for (control, kbit, low, rtt) in [("cubic", 20_000, 5_000, 40), ("reno", 10_000, 3_000, 30)] {
        let queue = kbit * rtt / 8 * 3 / 2;
        let link = format!(
            "{{ rate = {{ markov = [{{ rate = \"{kbit} kbit/s\", stay = \"900 ms\" }}, {{ rate = \"{low} kbit/s\", stay = \"700 ms\" }}] }}, queue = \"{queue} B\" }}"
        );
        let path = Path::new(control, rtt, &link).job("duration = \"15 s\"\n");
        list.add(Limit::BottleneckBandwidth, control, &path);
    }
}

#[derive(Default)]
struct List(Vec<Transfer>);

impl List {
    fn add(&mut self, cause: Limit, control: &str, path: &Path) {
        let number = 1 + self.0.iter().filter(|transfer| transfer.cause == cause).count();
        self.0.push(Transfer {
            name: format!("{cause}-{number}-{control}"),
            cause,
            document: path.document(),
        });
    }
}

/// A path and what runs over it.
struct Path {
    control: String,
    rtt_ms: u32,
    /// The constraint in the direction of the data.
    elements: String,
    /// Jitter in milliseconds; packets overtake each other.
    jitter_ms: u32,
    workload: String,
    client: String,
    server: String,
    beside: String,
}

impl Path {
    fn new(control: &str, rtt_ms: u32, elements: &str) -> Self {
        Self {
            control: control.to_owned(),
            rtt_ms,
            elements: elements.to_owned(),
            jitter_ms: 0,
            workload: "kind = \"iperf3\"\nduration = \"8 s\"\n".to_owned(),
            client: String::new(),
            server: String::new(),
            beside: String::new(),
        }
    }

    /// A path that limits nothing else.
    fn wide(control: &str, rtt_ms: u32) -> Self {
        Self::new(control, rtt_ms, &link(50_000, 6_250 * u64::from(rtt_ms)))
    }

    fn job(self, settings: &str) -> Self {
        self.workload(&format!("kind = \"iperf3\"\n{settings}"))
    }

    fn workload(mut self, text: &str) -> Self {
        text.clone_into(&mut self.workload);
        self
    }

    fn client(mut self, settings: &str) -> Self {
        self.client.push_str(settings);
        self
    }

    fn server(mut self, settings: &str) -> Self {
        self.server.push_str(settings);
        self
    }

    /// A job beside the measured one, with its hosts.
    fn beside(mut self, job: &str) -> Self {
        job.clone_into(&mut self.beside);
        self
    }

    fn document(&self) -> String {
        let quarter = f64::from(self.rtt_ms) / 4.0;
        let jitter = if self.jitter_ms > 0 {
            format!(", jitter = \"{} ms\", reorder = true", self.jitter_ms)
        } else {
            String::new()
        };
        let mut text = format!(
            "title = \"A transfer with a known limit\"\ncaptures = \"hosts\"\n\n[network]\n\
             up = [{{ delay = \"{quarter} ms\" }}, {{ tap = \"middle\" }}, {}, {{ delay = \"{quarter} ms\"{jitter} }}]\n\
             down = [{{ delay = \"{quarter} ms\" }}, {{ tap = \"middle\" }}, {{ delay = \"{quarter} ms\" }}]\n\n\
             [workload]\n{}",
            self.elements, self.workload
        );
        for (host, settings) in [("client", &self.client), ("server", &self.server)] {
            let _ = write!(
                text,
                "\n[hosts.{host}]\nsystem = \"linux\"\ncongestion_control = \"{}\"\n{settings}",
                self.control
            );
        }
        if !self.beside.is_empty() {
            let _ = write!(text, "\n[[background]]\n{}", self.beside);
        }
        text
    }
}

fn link(kbit: u32, queue: u64) -> String {
    format!("{{ rate = \"{kbit} kbit/s\", queue = \"{queue} B\" }}")
}

/// A policer behind a fast link; the bucket in kB.
fn policer(kbit: u32, bucket: u32) -> String {
    format!("{{ rate = \"95 Mbit/s\" }}, {{ police = \"{kbit} kbit/s\", burst = \"{bucket} kB\" }}")
}

/// A receiver whose window is as large as is written: of a kernel it would be a quarter larger.
fn exact_window(kib: u32) -> String {
    format!("window = \"{kib} KiB\"\nstack = \"model\"\n")
}

//! Transfers drawn by a digest of their number: a path, what runs over it, and one to three things that hold it.

use std::fmt::Write as _;

use slowpath_verdict::Limit;

/// One drawn transfer, from `client` to `server`.
pub(crate) struct Drawn {
    /// Its number and what was drawn, for people.
    pub(crate) name: String,
    /// The experiment file.
    pub(crate) document: String,
    /// What the truth needs to know of it.
    pub(crate) path: Path,
    /// What of the document makes a cause: without these words it is not there.
    causes: Vec<(Limit, String)>,
}

impl Drawn {
    /// The same transfer without a cause; `None` if it was not drawn.
    pub(crate) fn without(&self, cause: Limit) -> Option<Self> {
        let (_, words) = self.causes.iter().find(|(of, _)| *of == cause)?;
        Some(Self {
            name: format!("{} without {cause}", self.name),
            document: self.document.replace(words, ""),
            path: Path {
                buffer: self.path.buffer.filter(|_| cause != Limit::SendBuffer),
                slow_reader: self.path.slow_reader && cause != Limit::ReceiverApplication,
                others: self.path.others && cause != Limit::SharedBottleneck,
                ..self.path.clone()
            },
            causes: Vec::new(),
        })
    }
}

/// What was drawn of the path and its hosts.
#[derive(Clone, Default)]
pub(crate) struct Path {
    /// Rate of the link, kbit/s.
    pub(crate) kbit: u64,
    /// Least round trip, milliseconds.
    pub(crate) rtt_ms: u64,
    /// Fixed send buffer.
    pub(crate) buffer: Option<u64>,
    /// The receiving program is slow.
    pub(crate) slow_reader: bool,
    /// The program asks and waits for answers.
    pub(crate) asks: bool,
    /// Others use the link.
    pub(crate) others: bool,
    /// Packets overtake each other.
    pub(crate) disorder: bool,
    /// Congestion marks.
    pub(crate) marks: bool,
    /// The control is BBR, which makes its window smaller without an event.
    pub(crate) bbr: bool,
}

/// Random numbers from a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.roll() % most
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// Between `low` and `high`, evenly on a scale of ratios.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        let share = self.below(1_000_001) as f64 / 1e6;
        ((low as f64).ln() + share * ((high as f64) / low as f64).ln())
            .exp()
            .round() as u64
    }
}

/// The transfer with this number, always the same.
pub(crate) fn draw(number: u64) -> Drawn {
    let mut dice = Dice(0x006c_6564_6765_7220_u64 ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    let control = dice.of(&["reno", "cubic", "cubic", "bic", "bbr"]);
    let mut path = Path {
        kbit: dice.between(2_000, 100_000),
        rtt_ms: dice.between(8, 200),
        bbr: control == "bbr",
        ..Path::default()
    };
    let holds = (path.kbit * path.rtt_ms / 8).max(6_000);
    let queue = (holds * dice.between(10, 300) / 100).max(9_000);
    let mut link = format!("{{ rate = \"{} kbit/s\", queue = \"{queue} B\" }}", path.kbit);
    let (mut before, mut after) = (String::new(), String::new());
    let (mut client, mut server, mut beside) = (String::new(), String::new(), String::new());
    let mut jitter = String::new();
    let seconds = 5 + dice.below(8);
    let mut workload = format!("kind = \"iperf3\"\nduration = \"{seconds} s\"\n");
    let mut said = Vec::new();
    for _ in 0..=dice.below(3) {
        let which = dice.below(13);
        match which {
            0 | 1 if before.is_empty() => {
                // So many losses that the window gets to a fifth of the path and more.
                let window = holds as f64 / 1_448.0;
                let aim = window * (0.15 + 0.01 * dice.below(80) as f64);
                let chance = (1.5 / (aim * aim)).clamp(2e-5, 0.03);
                let _ = write!(before, "{{ loss = \"{:.4} %\" }}, ", chance * 100.0);
                said.push("loss");
            }
            2 if before.is_empty() => {
                let first = 200 + dice.below(2_000);
                let packets: Vec<String> = (0..=dice.below(20))
                    .map(|index| (first + index * 97).to_string())
                    .collect();
                let _ = write!(before, "{{ loss = {{ packets = [{}] }} }}, ", packets.join(", "));
                said.push("losses");
            }
            3 if !server.contains("window") => {
                let window = (holds * (15 + dice.below(130)) / 100).max(6_000) / 1_024 + 1;
                let _ = writeln!(server, "window = \"{window} KiB\"");
                said.push("window");
            }
            4 if !server.contains("storage") => {
                let rate = path.kbit * (20 + dice.below(60)) / 100;
                let unit = dice.of(&[16, 64, 256]);
                let pause = (unit * 2_048 / rate).max(1);
                let _ = writeln!(
                    server,
                    "storage = {{ rate = \"{} kbit/s\", unit = \"{unit} KiB\", pause = \"{pause} ms\" }}",
                    rate * 2
                );
                path.slow_reader = true;
                said.push("reader");
            }
            5 if !path.asks => {
                let rate = path.kbit * (15 + dice.below(75)) / 100;
                workload =
                    format!("kind = \"iperf3\"\nduration = \"{seconds} s\"\nrate = \"{rate} kbit/s\"\n");
                said.push("pace");
            }
            6 if path.buffer.is_none() => {
                let buffer = (holds * (15 + dice.below(100)) / 100).max(8_000) / 1_024 + 1;
                let _ = writeln!(client, "send_buffer = \"{buffer} KiB\"");
                path.buffer = Some(buffer * 1_024);
                said.push("buffer");
            }
            7 if after.is_empty() && control != "bbr" => {
                let rate = path.kbit * (30 + dice.below(60)) / 100;
                let bucket = (rate * path.rtt_ms / 8 * (20 + dice.below(100)) / 100).max(12_000);
                let _ = write!(
                    after,
                    ", {{ police = \"{rate} kbit/s\", burst = \"{bucket} B\" }}"
                );
                said.push("policer");
            }
            8 if beside.is_empty() => {
                let rate = path.kbit * (20 + dice.below(60)) / 100;
                let start = dice.below(seconds.saturating_sub(2).max(1));
                beside = format!(
                    "kind = \"udp\"\nrate = \"{rate} kbit/s\"\nlength = \"1200 B\"\nduration = \"15 s\"\nstart = \"{start} s\"\nclient = \"other\"\nserver = \"sink\"\n[hosts.other]\n[hosts.sink]\n"
                );
                path.others = true;
                said.push("datagrams");
            }
            9 if beside.is_empty() => {
                let start = dice.below(seconds.saturating_sub(2).max(1));
                let streams = 1 + dice.below(3);
                beside = format!(
                    "kind = \"iperf3\"\nduration = \"15 s\"\nstart = \"{start} s\"\nstreams = {streams}\nclient = \"other\"\nserver = \"sink\"\n[hosts.other]\ncongestion_control = \"cubic\"\n[hosts.sink]\n"
                );
                path.others = true;
                said.push("others");
            }
            10 if !path.asks && said.is_empty() => {
                let part = (holds * (30 + dice.below(400)) / 100).max(16_000) / 1_024 + 1;
                let requests = (path.kbit * seconds / 8 / part).clamp(10, 200);
                workload = format!(
                    "kind = \"s3-put\"\nsize = \"{part} KiB\"\nrequests = {requests}\nconcurrency = 1\nreuse = true\n"
                );
                path.asks = true;
                said.push("answers");
            }
            11 if !path.marks && dice.below(2) == 0 => {
                link = format!(
                    "{{ rate = \"{} kbit/s\", queue = \"1000 packets\", discipline = \"codel\", ecn = true }}",
                    path.kbit
                );
                client.push_str("ecn = \"on\"\n");
                server.push_str("ecn = \"on\"\n");
                path.marks = true;
                said.push("marks");
            }
            12 if jitter.is_empty() && path.rtt_ms >= 20 && dice.below(2) == 0 => {
                let _ = write!(jitter, ", jitter = \"{} ms\", reorder = true", path.rtt_ms / 6);
                path.disorder = true;
                said.push("disorder");
            }
            _ => {}
        }
    }
    if said.is_empty() {
        said.push("link");
    }
    let quarter = path.rtt_ms as f64 / 4.0;
    let mut document = format!(
        "title = \"A drawn transfer\"\ncaptures = \"hosts\"\n\n[network]\n\
         up = [{{ delay = \"{quarter} ms\" }}, {before}{link}{after}, {{ delay = \"{quarter} ms\"{jitter} }}]\n\
         down = [{{ delay = \"{quarter} ms\" }}, {{ delay = \"{quarter} ms\" }}]\n\n[workload]\n{workload}"
    );
    for (host, settings) in [("client", &client), ("server", &server)] {
        let _ = write!(
            document,
            "\n[hosts.{host}]\nsystem = \"linux\"\ncongestion_control = \"{control}\"\n{settings}"
        );
    }
    if !beside.is_empty() {
        let _ = write!(document, "\n[[background]]\n{beside}");
    }
    let mut causes = vec![
        (Limit::RandomLoss, before),
        (Limit::Policed, after),
        (Limit::SharedBottleneck, format!("\n[[background]]\n{beside}")),
    ];
    for (cause, key, text) in [
        (Limit::ReceiverWindow, "window = ", &server),
        (Limit::ReceiverApplication, "storage = ", &server),
        (Limit::SendBuffer, "send_buffer = ", &client),
        (Limit::SenderApplication, "rate = ", &workload),
    ] {
        let line = text.lines().find(|line| line.starts_with(key));
        causes.extend(line.map(|line| (cause, format!("{line}\n"))));
    }
    causes.retain(|(_, words)| document.contains(words.as_str()) && !words.is_empty());
    Drawn {
        causes,
        name: format!(
            "{number} {control} {} kbit/s {} ms: {}",
            path.kbit,
            path.rtt_ms,
            said.join("+")
        ),
        document,
        path,
    }
}

//! Transfers drawn by a digest of their number: a path, what runs over it, and one to three things that hold it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use slowpath_verdict::Limit;

/// One drawn transfer, from `client` to `server`.
#[derive(Clone)]
pub(crate) struct Drawn {
    /// Its number and what was drawn, for people.
    pub(crate) name: String,
    /// The experiment file.
    pub(crate) document: String,
    /// What the truth needs to know of it.
    pub(crate) path: Path,
    /// What of the document makes a cause: without these words it is not there.
    causes: Vec<(Limit, String)>,
    /// What was drawn besides the path, in the words of the name.
    pub(crate) things: Vec<&'static str>,
    /// The link as the document has it.
    link: String,
    /// The recording that the link's rate follows, and from when on, milliseconds.
    pub(crate) recorded: Option<(&'static str, u32)>,
}

impl Drawn {
    /// What makes it slow and can be taken away.
    pub(crate) fn removable(&self) -> impl Iterator<Item = Limit> + '_ {
        self.causes.iter().map(|(cause, _)| *cause)
    }

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
            causes: self
                .causes
                .iter()
                .filter(|(of, _)| *of != cause)
                .cloned()
                .collect(),
            things: (self.things.iter().copied())
                .filter(|thing| cause_of(thing) != Some(cause))
                .collect(),
            link: self.link.clone(),
            recorded: self.recorded,
        })
    }

    /// The same over a link of twice the rate.
    pub(crate) fn faster(&self) -> Self {
        let [one, two] = [1, 2].map(|times| format!("{} kbit/s", times * self.path.kbit));
        let link = self.link.replacen(&one, &two, 1);
        Self {
            name: format!("{} on twice the link", self.name),
            document: self.document.replacen(&self.link, &link, 1),
            path: Path {
                kbit: 2 * self.path.kbit,
                ..self.path.clone()
            },
            link,
            ..self.clone()
        }
    }

    /// The same with another thing that a capture need not show: `loss`, `losses`, `policer`, `buffer`, `pace`, or another
    /// `queue`; `None` where it has no place.
    pub(crate) fn with(mut self, thing: &'static str, dice: &mut Dice) -> Option<Self> {
        let (place, words, cause) = match thing {
            "queue" if self.path.marks => return Some(self),
            "queue" => {
                let link = self.path.link(dice);
                self.document = self.document.replacen(&self.link, &link, 1);
                self.link = link;
                return Some(self);
            }
            "loss" => (
                self.document.find(&self.link)?,
                self.path.loss(dice),
                Limit::RandomLoss,
            ),
            "losses" => (self.document.find(&self.link)?, losses(dice), Limit::RandomLoss),
            "policer" => {
                let link = self.document.find(&self.link)?;
                (link + self.link.len(), self.path.policer(dice), Limit::Policed)
            }
            "buffer" => {
                let buffer = self.path.send_buffer(dice);
                self.path.buffer = Some(buffer * 1_024);
                let words = format!("send_buffer = \"{buffer} KiB\"\n");
                (
                    self.behind("[hosts.client]", "congestion_control")?,
                    words,
                    Limit::SendBuffer,
                )
            }
            "pace" => (
                self.behind("[workload]", "duration")?,
                self.path.pace(dice),
                Limit::SenderApplication,
            ),
            _ => return None,
        };
        self.document.insert_str(place, &words);
        self.causes.push((cause, words));
        Some(self)
    }

    /// Where the line behind a section's key begins.
    fn behind(&self, section: &str, key: &str) -> Option<usize> {
        let from = self.document.find(section)?;
        let from = from + self.document[from..].find(key)?;
        Some(from + self.document[from..].find('\n')? + 1)
    }
}

/// The cause that a thing makes and that can be taken away.
fn cause_of(thing: &str) -> Option<Limit> {
    Some(match thing {
        "loss" | "losses" => Limit::RandomLoss,
        "policer" => Limit::Policed,
        "datagrams" | "others" => Limit::SharedBottleneck,
        "window" => Limit::ReceiverWindow,
        "reader" => Limit::ReceiverApplication,
        "buffer" => Limit::SendBuffer,
        "pace" => Limit::SenderApplication,
        _ => return None,
    })
}

/// What one to three throws draw of the things that a path and its program allow.
pub(crate) fn things(path: &Path, dice: &mut Dice) -> BTreeSet<&'static str> {
    let mut out = BTreeSet::new();
    let (mut asks, mut lossy) = (false, false);
    for _ in 0..=dice.below(3) {
        let thing = match dice.below(13) {
            0 | 1 if !lossy => "loss",
            2 if !lossy => "losses",
            3 => "window",
            4 => "reader",
            5 if !asks => "pace",
            6 => "buffer",
            7 if !path.bbr => "policer",
            8 if !out.contains("others") => "datagrams",
            9 if !out.contains("datagrams") => "others",
            10 if out.is_empty() => "answers",
            11 if dice.below(2) == 0 => "marks",
            12 if path.rtt_ms >= 20 && dice.below(2) == 0 => "disorder",
            _ => continue,
        };
        asks |= thing == "answers";
        lossy |= thing.starts_with("loss");
        out.insert(thing);
    }
    out
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

/// What is drawn of each thing.
impl Path {
    /// Bytes that the path holds without a queue.
    fn holds(&self) -> u64 {
        (self.kbit * self.rtt_ms / 8).max(6_000)
    }

    /// The link with its queue.
    fn link(&self, dice: &mut Dice) -> String {
        let queue = (self.holds() * dice.between(10, 300) / 100).max(9_000);
        format!("{{ rate = \"{} kbit/s\", queue = \"{queue} B\" }}", self.kbit)
    }

    /// So many losses that the window gets to a fifth of the path and more.
    fn loss(&self, dice: &mut Dice) -> String {
        let aim = self.holds() as f64 / 1_448.0 * (0.15 + 0.01 * dice.below(80) as f64);
        let chance = (1.5 / (aim * aim)).clamp(2e-5, 0.03);
        format!("{{ loss = \"{:.4} %\" }}, ", chance * 100.0)
    }

    fn pace(&self, dice: &mut Dice) -> String {
        format!("rate = \"{} kbit/s\"\n", self.kbit * (15 + dice.below(75)) / 100)
    }

    /// KiB.
    fn send_buffer(&self, dice: &mut Dice) -> u64 {
        (self.holds() * (15 + dice.below(100)) / 100).max(8_000) / 1_024 + 1
    }

    fn policer(&self, dice: &mut Dice) -> String {
        let rate = self.kbit * (30 + dice.below(60)) / 100;
        let bucket = (rate * self.rtt_ms / 8 * (20 + dice.below(100)) / 100).max(12_000);
        format!(", {{ police = \"{rate} kbit/s\", burst = \"{bucket} B\" }}")
    }
}

/// Single packets by their number.
fn losses(dice: &mut Dice) -> String {
    let first = 200 + dice.below(2_000);
    let packets: Vec<String> = (0..=dice.below(20))
        .map(|index| (first + index * 97).to_string())
        .collect();
    format!("{{ loss = {{ packets = [{}] }} }}, ", packets.join(", "))
}

/// Random numbers from a seed (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
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

/// Which transfers are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One to three things at once.
    Mixed,
    /// A program that sends at a pace of its own.
    Paced,
    /// A link whose rate varies.
    Varying,
    /// A link whose rate is a recorded one.
    Recorded,
    /// A path that loses in bursts, by chance.
    Bursty,
}

/// The transfer of a kind with this number, always the same.
pub(crate) fn draw_of(kind: Kind, number: u64) -> Drawn {
    match kind {
        Kind::Mixed => draw(number),
        Kind::Paced => paced(number),
        Kind::Varying => varying(number),
        Kind::Recorded => recorded(number),
        Kind::Bursty => bursty(number),
    }
}

/// Losses in bursts by chance (Gilbert-Elliott), none of them a queue's or a bucket's.
fn bursty(number: u64) -> Drawn {
    let mut dice = Dice(0x6275_7273_7479_0000_u64 ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    let control = dice.of(&["reno", "cubic", "cubic", "bic", "bbr"]);
    let (kbit, rtt_ms) = (dice.between(5_000, 100_000), dice.between(8, 200));
    let queue = (kbit * rtt_ms / 8 * dice.between(50, 300) / 100).max(20_000);
    // A bad spell once in 50 to 3,000 packets, of 1 to 30 packets, of which a fifth to all are lost.
    let percent = |share: f64| format!("{:.3} %", share * 100.0);
    let to_bad = percent(1.0 / dice.between(50, 3_000) as f64);
    let to_good = percent(10.0 / dice.between(10, 300) as f64);
    let in_bad = dice.of(&["20 %", "30 %", "50 %", "80 %", "100 %"]);
    let link = format!(
        "{{ loss = {{ to_bad = \"{to_bad}\", to_good = \"{to_good}\", in_bad = \"{in_bad}\" }} }}, {{ rate = \"{kbit} kbit/s\", queue = \"{queue} B\" }}"
    );
    let said = format!("bad after {to_bad}, good after {to_good}, {in_bad} lost in between");
    plain(
        number,
        control,
        (kbit, rtt_ms),
        &link,
        "kind = \"iperf3\"\nduration = \"15 s\"\n",
        &said,
    )
}

/// A program's pace on a path that could carry more, with or without a few losses.
fn paced(number: u64) -> Drawn {
    let mut dice = Dice(0x0070_6163_6564_0000_u64 ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    let control = dice.of(&["reno", "cubic", "cubic", "bic", "bbr"]);
    let (kbit, rtt_ms) = (dice.between(2_000, 100_000), dice.between(8, 200));
    let holds = (kbit * rtt_ms / 8).max(6_000);
    let queue = (holds * dice.between(30, 300) / 100).max(20_000);
    let rate = kbit * (10 + dice.below(70)) / 100;
    let length = dice.of(&["2 KiB", "8 KiB", "16 KiB", "64 KiB", "128 KiB"]);
    let loss = dice.of(&["", "", "{ loss = \"0.02 %\" }, "]);
    let link = format!("{loss}{{ rate = \"{kbit} kbit/s\", queue = \"{queue} B\" }}");
    let workload =
        format!("kind = \"iperf3\"\nduration = \"10 s\"\nrate = \"{rate} kbit/s\"\nlength = \"{length}\"\n");
    let said = format!("pace of {rate} kbit/s, {length} at a time");
    plain(number, control, (kbit, rtt_ms), &link, &workload, &said)
}

/// A transfer that does nothing but fill a link whose rate varies.
fn varying(number: u64) -> Drawn {
    let mut dice = Dice(0x7661_7279_696e_6700_u64 ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    let control = dice.of(&["reno", "cubic", "cubic", "bic", "bbr"]);
    let (kbit, rtt_ms) = (dice.between(3_000, 60_000), dice.between(15, 120));
    let queue = (kbit * rtt_ms / 8 * dice.between(60, 400) / 100).max(30_000);
    let (rate, said) = if number % 4 < 2 {
        let low = kbit * dice.between(15, 60) / 100;
        let stay = [dice.between(200, 3_000), dice.between(200, 3_000)];
        let rate = format!(
            "{{ markov = [{{ rate = \"{kbit} kbit/s\", stay = \"{} ms\" }}, {{ rate = \"{low} kbit/s\", stay = \"{} ms\" }}] }}",
            stay[0], stay[1]
        );
        (rate, format!("levels of {kbit} and {low} kbit/s"))
    } else {
        let steps: Vec<String> = (0..=dice.below(6))
            .map(|step| {
                let rate = kbit * dice.between(20, 100) / 100;
                let from = if step == 0 {
                    0
                } else {
                    step * 1_700 + dice.below(900)
                };
                format!("{{ from = \"{from} ms\", rate = \"{rate} kbit/s\" }}")
            })
            .chain([format!(
                "{{ from = \"{} ms\", rate = \"{} kbit/s\" }}",
                11_000,
                kbit / 4
            )])
            .collect();
        (
            format!("{{ steps = [{}] }}", steps.join(", ")),
            format!("{} steps", steps.len()),
        )
    };
    let link = format!("{{ rate = {rate}, queue = \"{queue} B\" }}");
    let workload = "kind = \"iperf3\"\nduration = \"15 s\"\n";
    plain(number, control, (kbit, rtt_ms), &link, workload, &said)
}

/// A transfer that does nothing but fill a link whose rate was recorded, from anywhere in the recording on.
fn recorded(number: u64) -> Drawn {
    let mut dice = Dice(0x7265_636f_7264_0000_u64 ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    let control = dice.of(&["reno", "cubic", "cubic", "bic", "bbr"]);
    let (name, mean, length) = RECORDINGS[(number % RECORDINGS.len() as u64) as usize];
    let (rtt_ms, queue) = (dice.between(15, 120), dice.between(60_000, 400_000));
    let from = dice.below(length.into()) as u32;
    let link = format!("{{ rate = {{ trace = \"{name}\" }}, queue = \"{queue} B\" }}");
    let workload = "kind = \"iperf3\"\nduration = \"12 s\"\n";
    let said = format!("{name} from {from} ms on, queue {queue} B");
    Drawn {
        recorded: Some((name, from)),
        ..plain(number, control, (mean, rtt_ms), &link, workload, &said)
    }
}

/// A transfer with nothing but a path and a job.
fn plain(
    number: u64,
    control: &str,
    (kbit, rtt_ms): (u64, u64),
    link: &str,
    workload: &str,
    said: &str,
) -> Drawn {
    let quarter = rtt_ms as f64 / 4.0;
    let mut document = format!(
        "title = \"A drawn transfer\"\ncaptures = \"hosts\"\n\n[network]\n\
         up = [{{ delay = \"{quarter} ms\" }}, {link}, {{ delay = \"{quarter} ms\" }}]\n\
         down = [{{ delay = \"{quarter} ms\" }}, {{ delay = \"{quarter} ms\" }}]\n\n[workload]\n{workload}"
    );
    for host in ["client", "server"] {
        let _ = write!(
            document,
            "\n[hosts.{host}]\nsystem = \"linux\"\ncongestion_control = \"{control}\"\n"
        );
    }
    Drawn {
        name: format!("{number} {control} {kbit} kbit/s {rtt_ms} ms: {said}"),
        document,
        path: Path {
            kbit,
            rtt_ms,
            bbr: control == "bbr",
            ..Path::default()
        },
        causes: Vec::new(),
        things: Vec::new(),
        link: link.to_owned(),
        recorded: None,
    }
}

/// Recordings of cellular links (mahimahi's `traces/`): kbit/s in the mean, and milliseconds.
const RECORDINGS: [(&str, u64, u32); 6] = [
    ("ATT-LTE-driving-2016.down", 4_560, 120_002),
    ("ATT-LTE-driving-2016.up", 1_910, 120_002),
    ("TMobile-UMTS-driving.down", 2_019, 928_424),
    ("Verizon-EVDO-driving.down", 520, 1_062_016),
    ("Verizon-LTE-short.down", 5_027, 140_000),
    ("Verizon-LTE-short.up", 5_945, 140_000),
];

/// The transfer with this number, always the same.
fn draw(number: u64) -> Drawn {
    let mut dice = Dice(0x006c_6564_6765_7220_u64 ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    let control = dice.of(&["reno", "cubic", "cubic", "bic", "bbr"]);
    let mut path = Path {
        kbit: dice.between(2_000, 100_000),
        rtt_ms: dice.between(8, 200),
        bbr: control == "bbr",
        ..Path::default()
    };
    let holds = path.holds();
    let mut link = path.link(&mut dice);
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
                before = path.loss(&mut dice);
                said.push("loss");
            }
            2 if before.is_empty() => {
                before = losses(&mut dice);
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
                workload = format!(
                    "kind = \"iperf3\"\nduration = \"{seconds} s\"\n{}",
                    path.pace(&mut dice)
                );
                said.push("pace");
            }
            6 if path.buffer.is_none() => {
                let buffer = path.send_buffer(&mut dice);
                let _ = writeln!(client, "send_buffer = \"{buffer} KiB\"");
                path.buffer = Some(buffer * 1_024);
                said.push("buffer");
            }
            7 if after.is_empty() && control != "bbr" => {
                after = path.policer(&mut dice);
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
        things: said,
        link,
        recorded: None,
    }
}

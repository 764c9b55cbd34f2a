//! A path and its two ends as a search changes them, and the experiment file that says the same.

use std::fmt::Write as _;

use serde::Serialize;

/// A path, its ends and the job, in as many numbers as a capture can tell. Rates count Ethernet frames with FCS, in bit/s.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Model {
    /// What shape it has.
    pub shape: Shape,
    /// Rate of the slowest link on the way of the data.
    pub rate: f64,
    /// Its queue, bytes of IP packets.
    pub queue: f64,
    /// Round trip without queues, seconds.
    pub round_trip: f64,
    /// What the path loses beside full queues.
    pub loss: Loss,
    /// The policer in front of the link.
    pub policer: Option<Policer>,
    /// The receiver's window.
    pub window: Window,
    /// How fast the receiving program takes data.
    pub reader: Option<Reader>,
    /// The sender's buffer, bytes; `None` grows as Linux's does.
    pub send_buffer: Option<f64>,
    /// How fast the sending program or host gives data, payload bit/s.
    pub writer: Option<Writer>,
    /// Initial congestion window, segments.
    pub initial_window: u32,
    /// The congestion control's name.
    pub congestion: &'static str,
    /// What is known without a search.
    pub given: Given,
}

/// What a model is made of; two of one shape differ in numbers alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A link with a queue; every loss is an overflow.
    Link,
    /// A link, and losses that have nothing to do with its queue.
    LinkAndLoss,
    /// A policer in front of a link.
    Policer,
    /// A link, and a window, buffer or program at one end that the capture shows to matter.
    End,
}

impl Shape {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Link => "a link whose queue overflows",
            Self::LinkAndLoss => "a link and random loss",
            Self::Policer => "a policer before a link",
            Self::End => "a link and a limit at one of the ends",
        }
    }
}

/// What a model is made of, with what holds the sender at one of the ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Its shape.
    pub shape: Shape,
    /// The number that sets the pace of a program or of a buffer.
    pub end: Option<Parameter>,
}

impl Kind {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self.end {
            Some(end) => end.words(),
            None => self.shape.words(),
        }
    }
}

/// What a path loses beside full queues.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Nothing.
    None,
    /// Each packet with this chance.
    Chance(f64),
    /// The sender's packets with these numbers, from 1: those that the capture shows to be lost.
    Packets(Vec<u64>),
}

/// A token bucket.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Policer {
    /// Its rate.
    pub rate: f64,
    /// Its bucket, bytes.
    pub bucket: f64,
}

/// A receiver's window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// Grows with the transfer as Linux's does, to Linux's own end.
    Grows,
    /// Grows as Linux's does to so many bytes.
    GrowsTo(f64),
    /// Always so many bytes.
    Fixed(f64),
}

/// A program that reads slowly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reader {
    /// Payload bit/s.
    pub rate: f64,
    /// Bytes that it takes at a time.
    pub unit: f64,
}

/// A program that writes slowly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Writer {
    /// Payload bit/s.
    pub rate: f64,
    /// Whether it writes 128 KiB at a time, as iperf3 does; else evenly.
    pub in_blocks: bool,
}

/// What is known without a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Given {
    /// Payload of the transfer.
    pub bytes: u64,
    /// Largest segment that the ends agreed on, without options.
    pub mss: u16,
    /// Whether they use selective acknowledgements, timestamps, and marks.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Explicit congestion notification.
    pub ecn: bool,
    /// When a run is given up, seconds.
    pub deadline: f64,
    /// The transfer is made of so many parts with pauses of the sending program between them.
    pub parts: Option<Parts>,
}

/// A transfer in parts of equal size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Parts {
    /// How many.
    pub count: u32,
    /// Between the last acknowledgement of one and the first data of the next, seconds.
    pub pause: f64,
}

/// A number that a search changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parameter {
    /// Rate of the link, bit/s.
    Rate,
    /// Its queue, bytes.
    Queue,
    /// Round trip without queues, seconds.
    RoundTrip,
    /// Chance of loss.
    Loss,
    /// Rate of the policer, bit/s.
    PolicerRate,
    /// Its bucket, bytes.
    Bucket,
    /// The receiver's window, bytes.
    Window,
    /// The reading program's rate, payload bit/s.
    ReaderRate,
    /// Bytes that it takes at a time.
    ReaderUnit,
    /// The sender's buffer, bytes.
    SendBuffer,
    /// The writing program's rate, payload bit/s.
    WriterRate,
    /// Initial congestion window, segments.
    InitialWindow,
    /// Pause between parts, seconds.
    Pause,
}

impl Parameter {
    const ALL: [Self; 13] = [
        Self::Rate,
        Self::Queue,
        Self::RoundTrip,
        Self::Loss,
        Self::PolicerRate,
        Self::Bucket,
        Self::Window,
        Self::ReaderRate,
        Self::ReaderUnit,
        Self::SendBuffer,
        Self::WriterRate,
        Self::InitialWindow,
        Self::Pause,
    ];

    /// In words, as a noun.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Rate => "rate of the slowest link",
            Self::Queue => "queue of that link",
            Self::RoundTrip => "round trip without queues",
            Self::Loss => "random loss",
            Self::PolicerRate => "rate of the policer",
            Self::Bucket => "bucket of the policer",
            Self::Window => "receiver's window",
            Self::ReaderRate => "rate of the reading program",
            Self::ReaderUnit => "bytes that it takes at a time",
            Self::SendBuffer => "send buffer",
            Self::WriterRate => "rate of the writing program",
            Self::InitialWindow => "initial congestion window",
            Self::Pause => "pause between parts",
        }
    }

    /// Its unit, as in JSON.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Rate | Self::PolicerRate | Self::ReaderRate | Self::WriterRate => "bit/s",
            Self::Queue | Self::Bucket | Self::Window | Self::ReaderUnit | Self::SendBuffer => "B",
            Self::RoundTrip | Self::Pause => "s",
            Self::InitialWindow => "segments",
            Self::Loss => "",
        }
    }

    /// Its place in a model; `None` where the model does not have it.
    fn place(self, model: &mut Model) -> Option<&mut f64> {
        Some(match self {
            Self::Rate => &mut model.rate,
            Self::Queue => &mut model.queue,
            Self::RoundTrip => &mut model.round_trip,
            Self::Loss => match &mut model.loss {
                Loss::Chance(chance) => chance,
                _ => return None,
            },
            Self::PolicerRate => &mut model.policer.as_mut()?.rate,
            Self::Bucket => &mut model.policer.as_mut()?.bucket,
            Self::Window => match &mut model.window {
                Window::Grows => return None,
                Window::GrowsTo(bytes) | Window::Fixed(bytes) => bytes,
            },
            Self::ReaderRate => &mut model.reader.as_mut()?.rate,
            Self::ReaderUnit => &mut model.reader.as_mut()?.unit,
            Self::SendBuffer => model.send_buffer.as_mut()?,
            Self::WriterRate => &mut model.writer.as_mut()?.rate,
            Self::InitialWindow => return None,
            Self::Pause => &mut model.given.parts.as_mut()?.pause,
        })
    }

    /// What a model has for it.
    pub fn of(self, model: &Model) -> Option<f64> {
        if self == Self::InitialWindow {
            return Some(f64::from(model.initial_window));
        }
        self.place(&mut model.clone()).map(|place| *place)
    }

    /// The model with another value, within what an experiment file can say; `None` where it does not have the parameter
    /// or nothing would change.
    pub fn with(self, model: &Model, value: f64) -> Option<Model> {
        let mut other = model.clone();
        if self == Self::InitialWindow {
            other.initial_window = value.round().clamp(1.0, 1_000.0) as u32;
        } else {
            let (low, high) = self.bounds();
            *self.place(&mut other)? = value.clamp(low, high);
        }
        (other != *model).then_some(other)
    }

    /// The model with its value times `factor`.
    pub fn scaled(self, model: &Model, factor: f64) -> Option<Model> {
        let value = self.of(model)?;
        let mut wanted = value * factor;
        if self == Self::InitialWindow && wanted.round() as i64 == value as i64 {
            wanted = if factor > 1.0 { value + 1.0 } else { value - 1.0 };
        }
        self.with(model, wanted)
    }

    /// All that a model has.
    pub fn all(model: &Model) -> Vec<Self> {
        let has = |parameter: &Self| parameter.of(model).is_some();
        Self::ALL.into_iter().filter(has).collect()
    }

    const fn bounds(self) -> (f64, f64) {
        match self {
            Self::Rate | Self::PolicerRate | Self::ReaderRate | Self::WriterRate => (8e3, FASTEST),
            Self::Queue => (1_514.0, 1e9),
            Self::Bucket => (1_600.0, 1e9),
            Self::Window | Self::SendBuffer => (1_500.0, 1e9),
            Self::ReaderUnit => (512.0, 1e8),
            Self::RoundTrip => (1e-5, 10.0),
            Self::Pause => (0.0, 3_600.0),
            Self::Loss => (1e-7, 0.5),
            Self::InitialWindow => (1.0, 1_000.0),
        }
    }
}

/// Congestion controls that are tried: those of Linux that the simulator models.
pub const CONTROLS: [&str; 4] = ["cubic", "reno", "bbr", "bic"];
/// Fastest link that is tried, bit/s.
pub const FASTEST: f64 = 10e9;

impl Model {
    /// The variants of its experiment file: what happened, packet by packet, and where packets are lost by chance, the same
    /// by chance.
    pub const AS_CAPTURED: &str = "as-captured";
    /// The variant whose losses are random.
    pub const BY_CHANCE: &str = "by-chance";

    /// What it is made of.
    pub fn kind(&self) -> Kind {
        let ends = [
            Parameter::ReaderRate,
            Parameter::SendBuffer,
            Parameter::WriterRate,
        ];
        Kind {
            shape: self.shape,
            end: ends.into_iter().find(|end| end.of(self).is_some()),
        }
    }

    /// The same with random losses in place of listed ones.
    #[must_use]
    pub fn by_chance(&self) -> Self {
        let mut other = self.clone();
        if let Loss::Packets(packets) = &self.loss {
            let sent = (self.given.bytes / u64::from(self.given.mss.max(1))).max(1) as f64;
            other.loss = Loss::Chance((events(packets) as f64 / sent).clamp(1e-7, 0.5));
        }
        other
    }

    /// The experiment file without comments, with this model as its only variant.
    pub fn document(&self) -> String {
        self.written("a fitted path", &[], &[])
    }

    /// The experiment file for people: `title`, lines of comment at its top, and comments by parameter. A path that loses nothing
    /// has a loss of zero in it, to be changed; it does nothing.
    pub fn for_people(&self, title: &str, top: &[String], notes: &[(Parameter, String)]) -> String {
        self.with_place_for_loss().written(title, top, notes)
    }

    /// The same with a loss of zero where nothing is lost, so that a change finds a loss to change.
    #[must_use]
    pub fn with_place_for_loss(&self) -> Self {
        let mut other = self.clone();
        if other.loss == Loss::None {
            other.loss = Loss::Chance(0.0);
        }
        other
    }

    fn written(&self, title: &str, top: &[String], notes: &[(Parameter, String)]) -> String {
        let mut text = String::new();
        for line in top {
            let _ = writeln!(text, "# {line}");
        }
        let _ = writeln!(text, "title = {title:?}\n");
        let note = |parameter: Parameter| -> String {
            let mut found = notes.iter().filter(|(of, _)| *of == parameter);
            found
                .next()
                .map_or_else(String::new, |(_, note)| format!("  # {note}"))
        };
        let _ = writeln!(
            text,
            "# The sender is the client here, whoever opened the connection."
        );
        let _ = writeln!(text, "[network]");
        let _ = writeln!(text, "up = [");
        for (element, parameters) in self.elements(&self.loss) {
            let said: Vec<String> = parameters
                .iter()
                .map(|of| note(*of))
                .filter(|note| !note.is_empty())
                .collect();
            let _ = writeln!(text, "    {element},{}", said.join(";").replace(";  #", ";"));
        }
        let _ = writeln!(text, "]");
        let _ = writeln!(text, "down = [{{ delay = \"{} ns\" }}]\n", self.delay_ns());
        let _ = writeln!(text, "[workload]");
        let mut size = self.given.bytes;
        if let Some(parts) = self.given.parts {
            size = (size / u64::from(parts.count)).saturating_sub(HEAD).max(1);
            let _ = writeln!(text, "kind = \"s3-put\"\nrequests = {}", parts.count);
            let (pause, note) = (nanos(parts.pause), note(Parameter::Pause));
            let _ = writeln!(text, "service_time = \"{pause} ns\"{note}");
        } else {
            let _ = writeln!(text, "kind = \"iperf3\"");
            if let Some(writer) = self.writer.filter(|writer| writer.in_blocks) {
                let (rate, note) = (whole(writer.rate), note(Parameter::WriterRate));
                let _ = writeln!(text, "rate = \"{rate} bit/s\"{note}");
            }
        }
        let _ = writeln!(text, "client = \"sender\"\nserver = \"receiver\"");
        let _ = writeln!(text, "size = \"{size} B\"");
        let _ = writeln!(text, "deadline = \"{} ns\"\n", nanos(self.given.deadline));
        self.write_hosts(&mut text, &note);
        if let Loss::Packets(_) = self.loss {
            let _ = writeln!(
                text,
                "\n[[variants]]\nname = \"{}\"\nnote = \"the packets that the capture shows to be lost\"",
                Self::AS_CAPTURED
            );
            let _ = writeln!(
                text,
                "\n[[variants]]\nname = \"{}\"\nnote = \"as many losses, by chance\"",
                Self::BY_CHANCE
            );
            let elements: Vec<String> = self.by_chance().elements_alone();
            let _ = writeln!(text, "network.up = [{}]", elements.join(", "));
        }
        text
    }

    fn write_hosts(&self, text: &mut String, note: &dyn Fn(Parameter) -> String) {
        let given = &self.given;
        let offers = format!(
            "mss = {}\nsack = {}\ntimestamps = {}\necn = \"{}\"",
            given.mss,
            given.sack,
            given.timestamps,
            if given.ecn { "on" } else { "off" }
        );
        let _ = writeln!(text, "[hosts.sender]\nsystem = \"linux\"\n{offers}");
        let _ = writeln!(text, "congestion_control = \"{}\"", self.congestion);
        let _ = writeln!(
            text,
            "initial_window = {}{}",
            self.initial_window,
            note(Parameter::InitialWindow)
        );
        if let Some(buffer) = self.send_buffer {
            let _ = writeln!(
                text,
                "send_buffer = \"{} B\"{}",
                whole(buffer),
                note(Parameter::SendBuffer)
            );
        }
        if let Some(writer) = self.writer.filter(|writer| !writer.in_blocks) {
            // The pace counts frames; what the program gives is payload.
            let _ = writeln!(
                text,
                "pacing = \"{} bit/s\"{}",
                whole(writer.rate),
                note(Parameter::WriterRate)
            );
        }
        let _ = writeln!(text, "\n[hosts.receiver]\nsystem = \"linux\"\n{offers}");
        match self.window {
            Window::Grows => {}
            Window::GrowsTo(bytes) => {
                // Full segments fill 160 of 256 bytes of a receive buffer (`slowpath_endpoint::tcp::LINUX_SHARE`).
                let most = whole(bytes * 256.0 / 160.0).max(131_072);
                let _ = writeln!(
                    text,
                    "rmem = [\"4096 B\", \"131072 B\", \"{most} B\"]{}",
                    note(Parameter::Window)
                );
            }
            Window::Fixed(bytes) => {
                // Of what a program asks for a Linux host advertises a quarter more: twice the size, of which 160 of 256 bytes
                // are window.
                let asked = asks_for(bytes);
                let _ = writeln!(text, "window = \"{asked} B\"{}", note(Parameter::Window));
                if bytes > 65_535.0 {
                    let _ = writeln!(text, "window_scaling = true");
                }
            }
        }
        if let Some(reader) = self.reader {
            let unit = whole(reader.unit);
            let _ = writeln!(
                text,
                "storage = {{ rate = \"{} bit/s\", unit = \"{unit} B\", chunk = \"{unit} B\" }}{}",
                whole(reader.rate),
                note(Parameter::ReaderRate)
            );
        }
    }

    fn elements_alone(&self) -> Vec<String> {
        let elements = self.elements(&self.loss).into_iter();
        elements.map(|(element, _)| element).collect()
    }

    /// The elements on the way of the data, each with the parameters it holds.
    fn elements(&self, loss: &Loss) -> Vec<(String, Vec<Parameter>)> {
        let mut out = Vec::new();
        match loss {
            Loss::None => {}
            Loss::Chance(chance) => out.push((
                format!("{{ name = \"loss\", loss = \"{:.3} ppm\" }}", chance * 1e6),
                vec![Parameter::Loss],
            )),
            Loss::Packets(packets) => {
                let numbers: Vec<String> = packets.iter().map(u64::to_string).collect();
                out.push((
                    format!(
                        "{{ name = \"loss\", loss = {{ packets = [{}] }} }}",
                        numbers.join(", ")
                    ),
                    vec![Parameter::Loss],
                ));
            }
        }
        if let Some(policer) = self.policer {
            out.push((
                format!(
                    "{{ name = \"policer\", police = \"{} bit/s\", burst = \"{} B\", layer = \"L2+FCS\" }}",
                    whole(policer.rate),
                    whole(policer.bucket).max(1_600)
                ),
                vec![Parameter::PolicerRate, Parameter::Bucket],
            ));
        }
        out.push((
            format!(
                "{{ name = \"link\", rate = \"{} bit/s\", queue = \"{} B\", layer = \"L2+FCS\" }}",
                whole(self.rate),
                whole(self.queue).max(1_514)
            ),
            vec![Parameter::Rate, Parameter::Queue],
        ));
        out.push((
            format!("{{ delay = \"{} ns\" }}", self.delay_ns()),
            vec![Parameter::RoundTrip],
        ));
        out
    }

    /// Delay each way: half the round trip, without the time that one full frame takes on the link.
    pub fn delay_ns(&self) -> u64 {
        let frame = (f64::from(self.given.mss) + 58.0) * 8.0 / self.rate.max(1.0);
        nanos((self.round_trip - frame).max(0.0) / 2.0)
    }
}

/// Losses that chance made one by one: a long run of packets that were lost together is one of them.
pub fn events(packets: &[u64]) -> u64 {
    let mut count = 0;
    for run in packets.chunk_by(|a, b| a + 1 == *b) {
        count += if run.len() < RUN { run.len() as u64 } else { 1 };
    }
    count
}

fn nanos(seconds: f64) -> u64 {
    whole(seconds * 1e9)
}

fn whole(value: f64) -> u64 {
    if value.is_finite() {
        value.max(0.0).round() as u64
    } else {
        u64::MAX >> 2
    }
}

/// What a program asks for whose Linux host then advertises so many bytes: the scale is that of half of the buffer, and a window below a
/// power of two may be more than it can say (`tcp_select_initial_window`).
fn asks_for(window: f64) -> u64 {
    let asked = whole(window * 128.0 / 160.0);
    let power = asked.max(1).ilog2();
    let most = 65_535_u64 << power.saturating_sub(15);
    if most as f64 >= window || power >= 30 {
        asked
    } else {
        1 << (power + 1)
    }
}

/// Packets in a row that chance does not take one by one.
const RUN: usize = 8;
/// Bytes of a request beside its object, as the model of a store has them.
const HEAD: u64 = 600;

#[cfg(test)]
pub(crate) mod tests {
    use slowpath_scenario::Experiment;

    use super::*;

    #[test]
    fn a_window_whose_scale_cannot_say_it_is_that_of_the_next_power_of_two() {
        // 128 KiB advertise 163,840 bytes; of a few bytes less only 131,070 can be said.
        assert_eq!(asks_for(163_840.0), 131_072);
        assert_eq!(asks_for(163_624.0), 131_072);
        assert_eq!(asks_for(81_812.0), 65_536);
        assert_eq!(asks_for(200_000.0), 160_000);
        assert_eq!(asks_for(60_000.0), 48_000);
    }

    pub(crate) fn plain() -> Model {
        Model {
            shape: Shape::Link,
            rate: 20e6,
            queue: 60e3,
            round_trip: 0.04,
            loss: Loss::None,
            policer: None,
            window: Window::Grows,
            reader: None,
            send_buffer: None,
            writer: None,
            initial_window: 10,
            congestion: "cubic",
            given: Given {
                bytes: 1_000_000,
                mss: 1_460,
                sack: true,
                timestamps: true,
                ecn: false,
                deadline: 10.0,
                parts: None,
            },
        }
    }

    /// Models that together have every part.
    fn all() -> Vec<Model> {
        let base = plain();
        let parts = Some(Parts {
            count: 4,
            pause: 0.25,
        });
        vec![
            Model {
                loss: Loss::Packets(vec![17, 90]),
                policer: Some(Policer {
                    rate: 5e6,
                    bucket: 30e3,
                }),
                window: Window::Fixed(200_000.0),
                ..base.clone()
            },
            Model {
                loss: Loss::Chance(0.001_234),
                window: Window::GrowsTo(400_000.0),
                reader: Some(Reader {
                    rate: 3e6,
                    unit: 8_192.0,
                }),
                send_buffer: Some(100_000.0),
                writer: Some(Writer {
                    rate: 4e6,
                    in_blocks: true,
                }),
                ..base.clone()
            },
            Model {
                writer: Some(Writer {
                    rate: 4e6,
                    in_blocks: false,
                }),
                given: Given {
                    parts,
                    ..base.given.clone()
                },
                ..base.clone()
            },
            base,
        ]
    }

    #[test]
    fn every_model_is_an_experiment() {
        for model in all() {
            let notes: Vec<_> = Parameter::all(&model)
                .into_iter()
                .map(|parameter| (parameter, "a note".to_owned()))
                .collect();
            for text in [
                model.document(),
                model.for_people("x", &["a line".to_owned()], &notes),
            ] {
                let experiment =
                    Experiment::read("model", &text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
                let variants = if matches!(model.loss, Loss::Packets(_)) {
                    2
                } else {
                    1
                };
                assert_eq!(experiment.variants.len(), variants, "{text}");
            }
            assert_eq!(
                model.written("x", &[], &notes).matches("a note").count(),
                notes.len() - usize::from(model.reader.is_some()),
                "every number has its note; the reader's two share one"
            );
        }
    }

    #[test]
    fn parameters_are_read_and_changed() {
        for model in all() {
            for parameter in Parameter::all(&model) {
                let before = parameter.of(&model).unwrap();
                let changed = parameter.scaled(&model, 1.5).unwrap();
                let after = parameter.of(&changed).unwrap();
                assert!(
                    (after / before - 1.5).abs() < 1e-6,
                    "{parameter:?}: {before} {after}"
                );
                assert_eq!(parameter.with(&changed, before), Some(model.clone()));
            }
        }
        assert_eq!(Parameter::Window.of(&plain()), None);
        assert_eq!(Parameter::Bucket.scaled(&plain(), 2.0), None);
    }

    #[test]
    fn values_stay_within_what_a_file_can_say() {
        let model = Parameter::Rate.with(&plain(), 1e15).unwrap();
        assert!(model.rate <= FASTEST);
        let model = Parameter::Queue.with(&plain(), 0.0).unwrap();
        assert!(model.queue >= 1_514.0);
        assert!(Experiment::read("model", &model.document(), &[]).is_ok());
    }

    #[test]
    fn as_many_losses_come_by_chance() {
        let model = Model {
            // Six by themselves, and a run of twenty that is one.
            loss: Loss::Packets((1..=6).map(|n| n * 10).chain(300..320).collect()),
            ..plain()
        };
        let Loss::Chance(chance) = model.by_chance().loss else {
            panic!("{:?}", model.by_chance().loss);
        };
        // A million bytes are 684 packets and a part.
        assert!((chance - 7.0 / 684.0).abs() < 1e-6, "{chance}");
    }
}

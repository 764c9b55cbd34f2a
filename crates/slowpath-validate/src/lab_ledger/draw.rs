//! Transfers drawn by a digest of their number, always the same: a path, a congestion control, and what holds the sender.
//!
//! Every octave of a range is as likely as any other. Queues hold 8 ms and more, since shorter ones overflow by the
//! machine's own lateness (`docs/validation/wire.md`).

#![allow(clippy::cast_sign_loss)] // no number drawn is negative

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use slowpath_path::{Dice, Trace, TraceError};
use slowpath_scenario::{Clock, Experiment, Fragments, Plan, PlanOptions};
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::drain::Drain;

use crate::bulk::{Traffic, Transfer, Writes};
use crate::cells::{CellError, Congestion};
use crate::octaves;

/// Seed of all numbers, and of the dice of the paths.
pub const SEED: u64 = 4_001;

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// Whatever may hold a sender: windows, readers, buffers, programs, losses, the link.
    Chronographs,
    /// Programs that write at a pace of their own.
    Paced,
    /// Links whose rate varies.
    Varying,
    /// Links whose rate is a recorded one, from anywhere in the recording on.
    Recorded,
}

impl Set {
    /// All, in the order of the document.
    pub const ALL: [Self; 4] = [Self::Chronographs, Self::Paced, Self::Varying, Self::Recorded];

    /// The name in arguments and folders.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chronographs => "chronographs",
            Self::Paced => "paced",
            Self::Varying => "varying",
            Self::Recorded => "recorded",
        }
    }

    /// How many transfers.
    pub const fn count(self) -> u64 {
        match self {
            Self::Chronographs => 200,
            Self::Paced | Self::Varying | Self::Recorded => 40,
        }
    }
}

/// One drawn transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Its number in the set.
    pub number: u64,
    /// The set.
    pub set: Set,
    /// The sender's congestion control.
    pub control: Congestion,
    /// Rate of the link in kbit/s, the highest of one that varies; 0 for a recorded one.
    pub kbit: u64,
    /// Least round trip, milliseconds.
    pub rtt_ms: u64,
    /// What may hold the sender, in words.
    pub said: String,
    /// What the programs do.
    pub transfer: Transfer,
    elements: String,
    hosts: String,
    trace: Option<&'static str>,
    /// From when on the recorded rate is taken, milliseconds.
    trace_from: u32,
}

/// Why a drawn transfer cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A mistake in this program.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// A recorded rate cannot be read.
    #[error("reading the recorded rate {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A recorded rate is none.
    #[error("the recorded rate {path}: {source}")]
    Trace {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        source: TraceError,
    },
}

impl Drawn {
    /// The name in files and tables.
    pub fn name(&self) -> String {
        format!("{}-{:03}", self.set.name(), self.number)
    }

    /// The file of the recorded rate, if it has one.
    pub const fn trace(&self) -> Option<&'static str> {
        self.trace
    }

    /// The path and what holds the sender, in a line.
    pub fn describe(&self) -> String {
        let link = match self.trace {
            Some(file) => file.to_owned(),
            None => format!("{:.1} Mbit/s", self.kbit as f64 / 1e3),
        };
        format!(
            "{link}, {} ms, {}: {}",
            self.rtt_ms,
            self.control.name(),
            self.said
        )
    }

    /// Bytes per second at which the program gives data, where it has a pace of its own.
    pub fn pace(&self) -> Option<f64> {
        match self.transfer.writes {
            Writes::Bursts { bytes, every } => Some(bytes as f64 / every.seconds()),
            Writes::Greedy | Writes::Window { .. } => None,
        }
    }

    /// The experiment file.
    pub fn document(&self) -> String {
        let quarter = self.rtt_ms as f64 / 4.0;
        let [program, words] = Traffic::Transfer(self.transfer.clone()).words();
        let mut text = format!(
            "title = \"A drawn transfer\"\ncaptures = \"hosts\"\n\n[network]\n\
             up = [{{ delay = \"{quarter} ms\" }}, {elements}, {{ delay = \"{quarter} ms\" }}]\n\
             down = [{{ delay = \"{quarter} ms\" }}, {{ delay = \"{quarter} ms\" }}]\n\n\
             [workload]\nkind = \"command\"\nnear = [\"{program}\", '{words}']\ndeadline = \"60 s\"\n",
            elements = self.elements,
        );
        for host in ["client", "server"] {
            let _ = write!(
                text,
                "\n[hosts.{host}]\nsystem = \"linux\"\ncongestion_control = \"{}\"\n{}",
                self.control.name(),
                self.hosts
            );
        }
        let _ = write!(text, "\n[[variants]]\nname = \"{}\"\n", self.name());
        text
    }

    /// The link's rate is a recorded one, before a queue of so many bytes.
    fn record(&mut self, file: &'static str, queue: u64) {
        self.trace = Some(file);
        self.elements = format!("{{ rate = {{ trace = \"{file}\" }}, queue = \"{queue} B\" }}");
    }

    /// The plan of its run; recorded rates lie in `traces`.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan(&self, traces: Option<&Path>) -> Result<Plan, PlanError> {
        let name = self.name();
        let experiment = Experiment::read(&name, &self.document(), &[])
            .map_err(|mistakes| CellError::Document(Box::new(mistakes)))?;
        let mut fragments = Fragments::new();
        if let (Some(file), Some(folder)) = (self.trace, traces) {
            fragments.insert_trace(file.to_owned(), recording(folder, file, self.trace_from)?);
        }
        let options = PlanOptions::first(&name, SEED + self.number, Clock::Lab);
        Ok(experiment.plan(&options, &fragments).map_err(CellError::Plan)?)
    }
}

/// The recording of a rate in a folder, from so many milliseconds on.
///
/// # Errors
/// [`PlanError::Read`] and [`PlanError::Trace`].
pub fn recording(folder: &Path, file: &str, from: u32) -> Result<Trace, PlanError> {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).map_err(|source| PlanError::Read {
        path: path.clone(),
        source,
    })?;
    let trace = Trace::parse(&text).map_err(|source| PlanError::Trace { path, source })?;
    Ok(trace.starting_at(from))
}

/// The transfer with this number.
pub fn draw(set: Set, number: u64) -> Drawn {
    let mut draw = Draw(Dice::new(SEED, &format!("{} {number}", set.name())));
    match set {
        Set::Chronographs => mixed(number, &mut draw),
        Set::Paced => paced(number, &mut draw),
        Set::Varying => varying(number, &mut draw),
        Set::Recorded => recorded(number, &mut draw),
    }
}

/// Draws numbers.
struct Draw(Dice);

impl Draw {
    /// From `low` to `high`, each octave as likely as any other.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        octaves::draw(&mut self.0, low, high)
    }

    /// The same, as a whole number.
    fn whole(&mut self, low: u64, high: u64) -> u64 {
        self.log(low as f64, high as f64).round() as u64
    }

    /// One of a list.
    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.0.below(list.len() as u64) as usize]
    }

    /// True once in so many times.
    fn once_in(&mut self, count: u64) -> bool {
        self.0.below(count) == 0
    }

    /// A control, CUBIC as often as the others together.
    fn control(&mut self) -> Congestion {
        self.of(&[
            Congestion::Cubic,
            Congestion::Cubic,
            Congestion::Reno,
            Congestion::Bbr,
        ])
    }
}

/// A greedy transfer over a link, which nothing else holds.
fn plain(set: Set, number: u64, control: Congestion, (kbit, rtt_ms): (u64, u64), millis: u64) -> Drawn {
    Drawn {
        number,
        set,
        control,
        kbit,
        rtt_ms,
        said: String::new(),
        transfer: Transfer {
            flows: 1,
            duration: Duration::from_millis(millis),
            bytes: None,
            writes: Writes::Greedy,
            send_buffer: None,
            receive_buffer: None,
            drain: None,
            greeting: false,
            no_delay: false,
            blocks: true,
            linger: Some(LINGER),
            look_every: Some(LOOK_EVERY),
        },
        elements: String::new(),
        hosts: RANGES.to_owned(),
        trace: None,
        trace_from: 0,
    }
}

/// What the path holds, bytes.
const fn product(kbit: u64, rtt_ms: u64) -> u64 {
    kbit * rtt_ms / 8
}

fn link(kbit: u64, queue: u64) -> String {
    format!("{{ rate = \"{kbit} kbit/s\", queue = \"{queue} B\" }}")
}

/// Up to three things at once that may hold a sender.
fn mixed(number: u64, draw: &mut Draw) -> Drawn {
    let (control, path) = (draw.control(), (draw.whole(2_000, 200_000), draw.whole(2, 150)));
    let (kbit, rtt_ms) = path;
    let millis = draw.whole(2_000, 4_000);
    let mut out = plain(Set::Chronographs, number, control, path, millis);
    let holds = product(kbit, rtt_ms).max(6_000);
    let queue = ((holds as f64 * draw.log(0.25, 3.0)) as u64)
        .max(product(kbit, 8))
        .max(20_000);
    out.elements = link(kbit, queue);
    let mut said = vec![format!("queue {} kB", queue / 1_000)];
    // The first three are exclusive: one holds the data, or none does.
    match draw.0.below(10) {
        0..=2 => {
            let bytes = (holds as f64 * draw.log(0.1, 2.5)).max(6_000.0) as u64;
            out.transfer.receive_buffer = Some(ByteCount::new(bytes));
            said.push(format!("receive buffer {} kB", bytes / 1_000));
        }
        3 | 4 => {
            let rate = (kbit as f64 * draw.log(0.1, 1.0)).max(500.0) as u64;
            let unit = 1 << (12 + draw.0.below(7));
            out.transfer.drain = Some(Drain {
                unit: ByteCount::new(unit),
                rate: BitRate::new(rate * 1_000),
                read_ahead: draw.of(&[0, 0, 1]),
            });
            said.push(format!("reader {rate} kbit/s, {} KiB at a time", unit / 1_024));
            if draw.once_in(2) {
                let bytes = (holds as f64 * draw.log(0.3, 2.5)).max(8_000.0) as u64;
                out.transfer.receive_buffer = Some(ByteCount::new(bytes));
                said.push(format!("receive buffer {} kB", bytes / 1_000));
            }
        }
        5..=7 => {
            let bytes = (holds as f64 * draw.log(0.05, 1.0)).max(6_000.0) as u64;
            out.transfer.send_buffer = Some(ByteCount::new(bytes));
            said.push(format!("send buffer {} kB", bytes / 1_000));
        }
        _ => {}
    }
    out.transfer.no_delay = draw.once_in(2);
    if out.transfer.no_delay {
        said.push("no delay".to_owned());
    }
    if draw.once_in(5) {
        let share = draw.log(0.05, 0.95);
        let every = draw.whole(2, 400);
        let bytes = ((product(kbit, every) as f64 * share) as u64).max(200);
        out.transfer.writes = Writes::Bursts {
            bytes,
            every: Duration::from_millis(every),
        };
        said.push(format!("{bytes} B every {every} ms"));
    }
    if draw.once_in(4) {
        // So many losses that the window gets to a fifth of the path and more.
        let window = holds as f64 / 1_448.0 * draw.log(0.2, 1.5);
        let percent = (150.0 / (window * window)).clamp(0.003, 3.0);
        out.elements = format!("{{ loss = \"{percent:.3} %\" }}, {}", out.elements);
        said.push(format!("loss {percent:.3} %"));
    }
    out.said = said.join(", ");
    out
}

/// A program's pace on a path that could carry more, with or without losses.
fn paced(number: u64, draw: &mut Draw) -> Drawn {
    let (control, path) = (draw.control(), (draw.whole(2_000, 100_000), draw.whole(4, 120)));
    let (kbit, rtt_ms) = path;
    let share = draw.log(0.05, 0.9);
    let every = draw.whole(2, 1_200);
    // Payload of a link's frames.
    let bytes = ((product(kbit, every) as f64 * share * 0.95) as u64).max(200);
    let mut out = plain(Set::Paced, number, control, path, (8 * every).max(6_000));
    let queue = ((product(kbit, rtt_ms) as f64 * draw.log(0.5, 3.0)) as u64)
        .max(product(kbit, 8))
        .max(30_000);
    out.elements = link(kbit, queue);
    out.transfer.writes = Writes::Bursts {
        bytes,
        every: Duration::from_millis(every),
    };
    out.transfer.no_delay = draw.once_in(2);
    out.said = format!(
        "{bytes} B every {every} ms ({:.0} % of the link), queue {} kB",
        share * 100.0,
        queue / 1_000
    );
    if draw.once_in(3) {
        let percent = draw.log(0.01, 0.5);
        out.elements = format!("{{ loss = \"{percent:.3} %\" }}, {}", out.elements);
        let _ = write!(out.said, ", loss {percent:.3} %");
    }
    out
}

/// A transfer that does nothing but fill a link whose rate varies: recorded ones first.
fn varying(number: u64, draw: &mut Draw) -> Drawn {
    let (control, path) = (draw.control(), (draw.whole(3_000, 60_000), draw.whole(15, 120)));
    let (kbit, rtt_ms) = path;
    let mut out = plain(Set::Varying, number, control, path, 12_000);
    if number < RECORDED {
        let file = TRACES[number as usize % TRACES.len()];
        let queue = draw.whole(60_000, 400_000);
        out.kbit = 0;
        out.record(file, queue);
        out.said = format!("recorded, queue {} kB", queue / 1_000);
        return out;
    }
    let low = (kbit as f64 * draw.log(0.15, 0.6)) as u64;
    let stay = [draw.whole(200, 2_000), draw.whole(200, 2_000)];
    let queue = ((product(kbit, rtt_ms) as f64 * draw.log(0.6, 4.0)) as u64).max(30_000);
    out.elements = format!(
        "{{ rate = {{ markov = [{{ rate = \"{kbit} kbit/s\", stay = \"{} ms\" }}, {{ rate = \"{low} kbit/s\", stay = \"{} ms\" }}] }}, queue = \"{queue} B\" }}",
        stay[0], stay[1]
    );
    out.said = format!(
        "or {:.1} Mbit/s, for {} and {} ms in the mean, queue {} kB",
        low as f64 / 1e3,
        stay[0],
        stay[1],
        queue / 1_000
    );
    out
}

/// A transfer that does nothing but fill a link whose rate was recorded.
fn recorded(number: u64, draw: &mut Draw) -> Drawn {
    let (control, rtt_ms) = (draw.control(), draw.whole(15, 120));
    let mut out = plain(Set::Recorded, number, control, (0, rtt_ms), 12_000);
    let file = TRACES[number as usize % TRACES.len()];
    let queue = draw.whole(60_000, 400_000);
    // Of the recordings the shortest lasts two minutes.
    out.trace_from = 1_000 * draw.0.below(110) as u32;
    out.record(file, queue);
    out.said = format!(
        "recorded, from {} s on, queue {} kB",
        out.trace_from / 1_000,
        queue / 1_000
    );
    out
}

/// How long a sender waits for its last acknowledgement.
const LINGER: Duration = Duration::from_secs(5);

/// How often the sending socket is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Sizes of buffers that nobody set: Linux's own.
const RANGES: &str =
    "rmem = [\"4096 B\", \"131072 B\", \"6291456 B\"]\nwmem = [\"4096 B\", \"16384 B\", \"4194304 B\"]\n";

/// Links with a recorded rate.
const RECORDED: u64 = 12;

/// Recordings of cellular links by Winstein, Sivaraman and Balakrishnan (NSDI 2013), as mahimahi has them in `traces/`.
const TRACES: [&str; 6] = [
    "ATT-LTE-driving-2016.down",
    "ATT-LTE-driving-2016.up",
    "TMobile-UMTS-driving.down",
    "Verizon-EVDO-driving.down",
    "Verizon-LTE-short.down",
    "Verizon-LTE-short.up",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_transfer_can_be_planned() {
        let mut names = BTreeSet::new();
        for set in Set::ALL {
            for number in 0..set.count() {
                let drawn = draw(set, number);
                assert!(names.insert(drawn.name()));
                if drawn.trace().is_none() {
                    drawn
                        .plan(None)
                        .unwrap_or_else(|error| panic!("{}: {error}\n{}", drawn.name(), drawn.document()));
                }
            }
        }
    }

    /// What a set holds must never change once it was run.
    #[test]
    fn sets_stay_as_they_are() {
        let digest = |set: Set| {
            let whole: String = (0..set.count())
                .map(|number| draw(set, number))
                .map(|drawn| match set {
                    // From when on a recording is taken does not stand in the document.
                    Set::Recorded => drawn.document() + &drawn.describe(),
                    _ => drawn.document(),
                })
                .collect();
            whole.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
        };
        assert_eq!(
            Set::ALL.map(digest),
            [
                9_127_070_839_744_382_691,
                5_476_632_676_282_663_341,
                14_189_990_459_691_486_250,
                5_318_258_940_129_634_027
            ]
        );
    }

    #[test]
    fn chronographs_meet_every_limit_that_they_count() {
        let all: Vec<Drawn> = (0..Set::Chronographs.count())
            .map(|number| draw(Set::Chronographs, number))
            .collect();
        let count = |has: &dyn Fn(&Transfer) -> bool| all.iter().filter(|one| has(&one.transfer)).count();
        assert!(count(&|transfer| transfer.receive_buffer.is_some()) >= 40);
        assert!(count(&|transfer| transfer.drain.is_some()) >= 25);
        assert!(count(&|transfer| transfer.send_buffer.is_some()) >= 40);
        assert!(count(&|transfer| transfer.writes != Writes::Greedy) >= 25);
    }
}

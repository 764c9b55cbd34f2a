//! Captures that are still being written: a file that grows, or a pipe from the capturing program.
//!
//! * [`follow`]: reads on as there is more, and says meanwhile how it goes. Start here.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use std::thread;
use std::time::{Duration, Instant};

use slowpath_capture::{Damage, OpenError, PacketReader};
use slowpath_facts::Analyzer;
use slowpath_record::packets::Record;
use slowpath_report::quantity::{bit_rate, grouped, seconds};
use slowpath_report::text::fit;
use slowpath_verdict::{Analysis, Limit};
use slowpath_words::say;

use crate::import::{ImportError, ReadCapture};
use crate::piped::Piped;

/// How a capture that is still being written stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Now {
    /// Packets so far.
    pub packets: u64,
    /// From the first to the latest packet.
    pub duration_s: f64,
    /// Payload of the last second.
    pub rate_bit_per_s: f64,
    /// The connection that moved most since the last look, and what holds it.
    pub busiest: Option<(String, Limit)>,
    /// How long there has been nothing new.
    pub silent: Duration,
}

impl Now {
    /// It in a line of at most so many columns.
    pub fn line(&self, columns: usize) -> String {
        let (limit, flow) = match &self.busiest {
            Some((flow, limit)) => (limit.name(), flow.as_str()),
            None => ("-", ""),
        };
        let text = say!(
            "follow-line",
            duration = seconds(self.duration_s),
            packets = grouped(self.packets as f64, 0),
            rate = bit_rate(self.rate_bit_per_s),
            limit = limit,
            flow = flow
        );
        // The last column stays free: some terminals begin a new line behind it.
        fit(text.trim_end(), columns.saturating_sub(1))
    }
}

/// Follows a capture that is still being written, `-` is standard input, until `stop` is raised, a pipe ends or a file has
/// not grown for `patience`. `tell` hears a few times a second how it stands. A packet that is not whole at the end is none.
/// `graphs` as for [`crate::explain::read`].
///
/// # Errors
/// [`ImportError`] if it is no capture, or cannot be followed.
pub fn follow(
    path: &Path,
    patience: Option<Duration>,
    graphs: bool,
    stop: &Arc<AtomicBool>,
    tell: &mut dyn FnMut(&Now),
) -> Result<ReadCapture, ImportError> {
    let mut source = Source::open(path, stop)?;
    let begun = Instant::now();
    let given_up = |since: Instant| {
        stop.load(Ordering::Relaxed) || patience.is_some_and(|patience| since.elapsed() >= patience)
    };
    let mut reader = loop {
        match source.reader() {
            Ok(reader) => break reader,
            // Its header is not written yet.
            Err(OpenError::Empty | OpenError::Short { .. } | OpenError::Section(Damage::Cut { .. }))
                if source.may_grow() && !given_up(begun) =>
            {
                tell(&Now {
                    silent: begun.elapsed(),
                    ..Now::default()
                });
                thread::sleep(STEP);
            }
            Err(OpenError::Io(source)) => {
                return Err(ImportError::File {
                    path: path.to_owned(),
                    source,
                });
            }
            Err(source) => {
                return Err(ImportError::Open {
                    path: path.to_owned(),
                    source,
                });
            }
        }
    };
    if reader.reader().compression().is_some() {
        return Err(ImportError::Follow {
            path: path.to_owned(),
            found: "it is compressed, and such a file ends where it ends; leave --follow out".to_owned(),
        });
    }
    let mut analyzer = Analyzer::new();
    if !graphs {
        analyzer.leave_out_graphs();
    }
    let mut look = Look::new();
    let mut grew = Instant::now();
    loop {
        let mut some = false;
        for _ in 0..AT_ONCE {
            let Some(record) = reader.next_record().map_err(|source| ImportError::Read {
                path: path.to_owned(),
                source,
            })?
            else {
                break;
            };
            some = true;
            analyzer.push(&record, reader.conversations());
            look.count(&record);
        }
        if some {
            grew = Instant::now();
        }
        look.tell(&analyzer, &reader, grew, tell);
        let broken =
            matches!(reader.reader().damage(), Some(damage) if !matches!(damage, Damage::Cut { .. }));
        if !some && (broken || !source.may_grow() || given_up(grew)) {
            break;
        }
        if !some {
            source.wait(STEP);
        } else if stop.load(Ordering::Relaxed) && source.is_file() {
            // What is written faster than it can be read is not waited for.
            break;
        }
    }
    Ok(ReadCapture::followed(path, analyzer, reader))
}

/// Where a growing capture comes from.
enum Source {
    File(File, std::path::PathBuf),
    Pipe(Piped),
}

impl Source {
    fn open(path: &Path, stop: &Arc<AtomicBool>) -> Result<Self, ImportError> {
        if path == Path::new("-") {
            return Ok(Self::Pipe(Piped::standard_input(stop, true)));
        }
        let refused = |source| ImportError::File {
            path: path.to_owned(),
            source,
        };
        if path.is_dir() {
            return Err(refused(io::ErrorKind::IsADirectory.into()));
        }
        let file = File::open(path).map_err(refused)?;
        Ok(Self::File(file, path.to_owned()))
    }

    fn reader(&mut self) -> Result<PacketReader, OpenError> {
        match self {
            Self::File(_, path) => PacketReader::new(File::open(path)?),
            Self::Pipe(piped) => PacketReader::new(piped.clone()),
        }
    }

    const fn is_file(&self) -> bool {
        matches!(self, Self::File(..))
    }

    /// Whether more may come: not from a pipe that ended, nor for a file that was replaced or cut.
    fn may_grow(&self) -> bool {
        match self {
            Self::File(file, path) => match (file.metadata(), fs::metadata(path)) {
                (Ok(own), Ok(named)) => own.len() <= named.len(),
                _ => false,
            },
            Self::Pipe(piped) => !piped.has_ended(),
        }
    }

    fn wait(&self, step: Duration) {
        // A pipe waits where it is read.
        if self.is_file() {
            thread::sleep(step);
        }
    }
}

/// Counts what passes, and looks now and then what holds it.
struct Look {
    /// Payload in tenths of a second, by the time of the packets; the last is the present one.
    tenths: VecDeque<u64>,
    present: i64,
    first_at: Option<i64>,
    last_at: i64,
    now: Now,
    told: Instant,
    looked: Instant,
    /// How long the next look is to wait.
    rest: Duration,
    delivered: HashMap<u32, u64>,
}

impl Look {
    fn new() -> Self {
        let begin = Instant::now();
        Self {
            tenths: VecDeque::new(),
            present: 0,
            first_at: None,
            last_at: 0,
            now: Now::default(),
            told: begin,
            looked: begin,
            rest: LOOK,
            delivered: HashMap::new(),
        }
    }

    fn count(&mut self, record: &Record) {
        let Record::Tcp(packet) = record else { return };
        let tenth = packet.at.div_euclid(100_000_000);
        let ahead = tenth.saturating_sub(self.present);
        if self.tenths.is_empty() || !(-10..=10).contains(&ahead) {
            self.tenths = VecDeque::from([0; 11]);
            self.present = tenth;
        } else if ahead > 0 {
            for _ in 0..ahead {
                self.tenths.pop_front();
                self.tenths.push_back(0);
            }
            self.present = tenth;
        }
        if let Some(last) = self.tenths.back_mut() {
            *last += u64::from(packet.payload_len);
        }
        self.first_at.get_or_insert(packet.at);
        self.last_at = packet.at;
    }

    fn tell(
        &mut self,
        analyzer: &Analyzer,
        reader: &PacketReader,
        grew: Instant,
        tell: &mut dyn FnMut(&Now),
    ) {
        if self.told.elapsed() < TELL {
            return;
        }
        self.told = Instant::now();
        let silent = grew.elapsed();
        if self.looked.elapsed() >= self.rest {
            let begin = Instant::now();
            self.look(analyzer, reader);
            self.looked = Instant::now();
            // Looking is a tenth of the work at most.
            self.rest = LOOK.max(begin.elapsed() * 9);
        }
        // The last tenth is not full yet.
        let whole: u64 = self.tenths.iter().take(10).sum();
        self.now.rate_bit_per_s = if silent >= SILENT { 0.0 } else { whole as f64 * 8.0 };
        self.now.packets = reader.reader().packets();
        let first = self.first_at.unwrap_or(self.last_at);
        self.now.duration_s = self.last_at.saturating_sub(first) as f64 / 1e9;
        self.now.silent = silent;
        tell(&self.now);
    }

    fn look(&mut self, analyzer: &Analyzer, reader: &PacketReader) {
        let analysis = Analysis::of(analyzer.look(reader.conversations(), &reader.summary()));
        let more = |c: &slowpath_verdict::Connection| {
            c.bytes_delivered
                .saturating_sub(self.delivered.get(&c.id).copied().unwrap_or(0))
        };
        let busiest = analysis.connections.iter().max_by_key(|c| more(c));
        self.now.busiest = busiest.filter(|c| c.bytes_delivered > 0).map(|c| {
            let limit = c
                .intervals
                .last()
                .map_or(c.verdict.limit, |interval| interval.limit);
            (format!("{} - {}", c.client, c.server), limit)
        });
        let delivered = analysis.connections.iter().map(|c| (c.id, c.bytes_delivered));
        self.delivered = delivered.collect();
    }
}

/// From one look for more to the next.
const STEP: Duration = Duration::from_millis(100);
/// From one line to the next.
const TELL: Duration = Duration::from_millis(250);
/// From one look at what holds a transfer to the next, at least.
const LOOK: Duration = Duration::from_secs(1);
/// Without packets for so long, nothing moves.
const SILENT: Duration = Duration::from_secs(1);
/// Packets between two looks at the clock.
const AT_ONCE: usize = 4096;

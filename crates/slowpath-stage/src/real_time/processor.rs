//! Processor time of the programs of a job: whether a transfer was as fast as its programs could be.
//!
//! The programs watched (OpenSSH, iperf3 up to 3.15) do their work in one thread, so that a process that takes a
//! whole processor is the limit of its transfer.

use std::collections::BTreeMap;
use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;

use slowpath_record::{Code, HealthState, ProgramLoad, Reason, Series};
use slowpath_units::{Duration, Time};
use slowpath_workload::Context;

use super::stage::Done;

/// Watches processes and their descendants until it is finished.
pub(super) struct Watch {
    stop: Sender<()>,
    thread: JoinHandle<Vec<Process>>,
}

/// One process: where it ran, its name, and its processor time so far.
#[derive(Debug, Clone)]
pub(super) struct Process {
    name: String,
    samples: Vec<(Time, Duration)>,
}

impl Watch {
    /// Starts to watch the processes `roots`, each with the name of its host.
    pub(super) fn start(roots: Vec<(String, u32)>, context: &Context) -> Self {
        let (stop, stopped) = mpsc::channel();
        let context = context.clone();
        let thread = std::thread::spawn(move || {
            let mut processes = BTreeMap::new();
            loop {
                for (host, root) in &roots {
                    look(host, *root, context.now(), &mut processes);
                }
                match stopped.recv_timeout(INTERVAL) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            processes.into_values().collect()
        });
        Self { stop, thread }
    }

    /// What was seen.
    pub(super) fn finish(self) -> Vec<Process> {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}

fn look(host: &str, id: u32, at: Time, processes: &mut BTreeMap<u32, Process>) {
    let Some((name, used)) = stat(id) else {
        return;
    };
    let process = processes.entry(id).or_insert_with(|| Process {
        name: String::new(),
        samples: Vec::new(),
    });
    // A shell becomes the program that it executes.
    process.name = format!("{host}/{name}");
    process.samples.push((at, used));
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    for child in children.split_whitespace().filter_map(|word| word.parse().ok()) {
        look(host, child, at, processes);
    }
}

/// Name and processor time of a process, without its children's.
fn stat(id: u32) -> Option<(String, Duration)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (head, rest) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    // utime and stime are fields 14 and 15 (proc(5)), in the kernel's USER_HZ of 100 a second.
    let mut fields = rest.split_whitespace().skip(11);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some((name.to_owned(), Duration::from_millis(ticks * 10)))
}

impl Process {
    /// Share of a processor used between two times.
    fn share(&self, from: Time, to: Time) -> f64 {
        let used = |at: Time| {
            let later = self.samples.iter().find(|sample| sample.0 >= at);
            later
                .or(self.samples.last())
                .map_or(Duration::ZERO, |sample| sample.1)
        };
        let span = to.since(from).seconds();
        if span <= 0.0 {
            return 0.0;
        }
        used(to).saturating_sub(used(from)).seconds() / span
    }

    /// Share of a processor from sample to sample.
    fn series(&self) -> Series {
        let points = self
            .samples
            .windows(2)
            .filter_map(|pair| {
                let span = pair[1].0.since(pair[0].0).seconds();
                (span > 0.0).then(|| {
                    let used = pair[1].1.saturating_sub(pair[0].1).seconds();
                    (pair[1].0, used / span)
                })
            })
            .collect();
        Series {
            name: format!("{}/processor", self.name),
            unit: "share of a processor".to_owned(),
            points,
        }
    }
}

/// Keeps the load of processes during a transfer, and degrades the run if one was the limit.
pub(super) fn judge(processes: &[Process], from: Time, to: Time, done: &mut Done) {
    let mut shares: Vec<(f64, &Process)> = processes
        .iter()
        .map(|process| (process.share(from, to), process))
        .collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    done.series.extend(
        shares
            .iter()
            .filter(|(share, _)| *share >= LEAST_SHOWN)
            .map(|(_, process)| process.series()),
    );
    done.loads
        .extend(shares.iter().map(|(share, process)| ProgramLoad {
            program: process.name.clone(),
            share: *share,
        }));
    if let Some((share, process)) = shares.first() {
        busy(&process.name, *share, done);
    }
}

/// Degrades the run if `name` was busy for more than nine tenths of the time.
pub(super) fn busy(name: &str, share: f64, done: &mut Done) {
    if share > MOST_BUSY {
        done.reasons.push(Reason {
            code: Code::ProcessorBound,
            state: HealthState::Degraded,
            text: format!(
                "{name} was busy for {:.0} % of the time: the machine, and not the path, may have set the rate",
                share * 100.0
            ),
        });
    }
}

/// Busy for longer than this is too busy to say anything about a path.
const MOST_BUSY: f64 = 0.9;

/// Processes below this share are not worth a line.
const LEAST_SHOWN: f64 = 0.01;

const INTERVAL: std::time::Duration = std::time::Duration::from_millis(200);

//! Lab runs, each in a worker process of its own.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration as StdDuration;

use slowpath_record::{HealthState, RunRecord};

use super::error::{Failed, RunError};
use super::event::Event;
use super::options::RunOptions;
use super::planned::Planned;
use crate::folder::Folder;
use crate::schedule::{self, Job, Room};
use crate::spare::{self, Spare};
use crate::worker::{Assignment, Message};
use crate::{effect, network};

/// Does `runs`, as many side by side as have room, and gives those that failed, with the reason.
///
/// # Errors
/// [`RunError::Interrupted`] when `cancel` was set, [`RunError::Folder`] when a record cannot be read,
/// [`RunError::Worker`] when no worker can be started.
pub(super) fn work(
    experiment: &str,
    runs: VecDeque<Planned>,
    options: &RunOptions,
    folder: &Folder,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<Failed>, RunError> {
    let mut pool = Pool {
        experiment,
        options,
        folder,
        running: Vec::new(),
        again: VecDeque::new(),
        failed: Vec::new(),
    };
    pool.drain(runs, cancel, observe)?;
    Ok(pool.failed)
}

/// Worker processes at work.
struct Pool<'a> {
    experiment: &'a str,
    options: &'a RunOptions,
    folder: &'a Folder,
    running: Vec<Running>,
    /// Runs to be done a second time, when all others have ended.
    again: VecDeque<Planned>,
    failed: Vec<Failed>,
}

struct Running {
    run: Planned,
    child: Child,
    /// Where its assignment lies.
    assignment: PathBuf,
    errors: mpsc::Receiver<String>,
    failure: Option<String>,
}

impl Pool<'_> {
    /// Runs everything that waits, as much side by side as has room.
    fn drain(
        &mut self,
        mut waiting: VecDeque<Planned>,
        cancel: &AtomicBool,
        observe: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        let (sender, messages) = mpsc::channel::<(String, Message)>();
        if self.options.places > 1 && waiting.len() > 1 {
            for run in &mut waiting {
                run.job.need = need(self.experiment, run);
            }
        }
        let mut spare = Spare::new();
        loop {
            if waiting.is_empty() && self.running.is_empty() {
                std::mem::swap(&mut waiting, &mut self.again);
                if waiting.is_empty() {
                    break;
                }
            }
            if cancel.load(Ordering::Relaxed) {
                self.stop();
                return Err(RunError::Interrupted {
                    folder: self.folder.root().to_owned(),
                });
            }
            let now: Vec<Job> = self
                .running
                .iter()
                .map(|running| running.run.job.clone())
                .collect();
            // The longest wait first would be best; the order of the interleaving is what fairness asks for.
            let room = Room {
                spare: spare.look(),
                ..Room::of(self.options.places, spare::processors())
            };
            if let Some(next) = waiting
                .iter()
                .position(|run| schedule::may_start(&run.job, &now, &room))
            {
                let run = waiting.remove(next).expect("the position was just found");
                observe(Event::Started { name: &run.name });
                self.start(run, &sender)?;
                continue;
            }
            if let Ok((name, message)) = messages.recv_timeout(StdDuration::from_millis(100)) {
                match message {
                    Message::Progress { bytes, of } => observe(Event::Progress {
                        name: &name,
                        bytes,
                        of,
                    }),
                    Message::Failed { error } => {
                        if let Some(running) =
                            self.running.iter_mut().find(|running| running.run.name == name)
                        {
                            running.failure = Some(error);
                        }
                    }
                }
            }
            self.reap(observe)?;
        }
        Ok(())
    }

    fn start(&mut self, run: Planned, sender: &mpsc::Sender<(String, Message)>) -> Result<(), RunError> {
        let assignment = Assignment {
            experiment: self.experiment.to_owned(),
            name: run.name.clone(),
            plan: run.plan.clone(),
            twin: run.twin.clone(),
            kind: run.kind,
            folder: self.folder.root().to_owned(),
            capture: self.options.capture,
        };
        let text = serde_json::to_vec(&assignment).expect("an assignment can always be written as JSON");
        let file = self
            .folder
            .write(&format!("runs/{}.assignment", run.name), &text)?;
        let (program, arguments) = &self.options.worker;
        let mut child = Command::new(program)
            .args(arguments)
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C on a terminal goes to this process alone, which then ends the workers.
            .process_group(0)
            .spawn()
            .map_err(|source| RunError::Worker {
                program: program.clone(),
                source,
            })?;
        let (name, sender) = (run.name.clone(), sender.clone());
        let output = child.stdout.take().expect("the worker's output is piped");
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Ok(message) = serde_json::from_str(&line)
                    && sender.send((name.clone(), message)).is_err()
                {
                    break;
                }
            }
        });
        let (said, errors) = mpsc::channel();
        let output = child.stderr.take().expect("the worker's errors are piped");
        std::thread::spawn(move || {
            let mut text = String::new();
            let _ = output.take(MOST_ERROR_TEXT).read_to_string(&mut text);
            let _ = said.send(text);
        });
        self.running.push(Running {
            run,
            child,
            assignment: file,
            errors,
            failure: None,
        });
        Ok(())
    }

    /// Takes away the workers that have ended.
    fn reap(&mut self, observe: &mut dyn FnMut(Event<'_>)) -> Result<(), RunError> {
        let mut index = 0;
        while index < self.running.len() {
            let status = match self.running[index].child.try_wait() {
                Ok(None) => {
                    index += 1;
                    continue;
                }
                Ok(Some(status)) => status.to_string(),
                Err(error) => error.to_string(),
            };
            let mut ended = self.running.swap_remove(index);
            let _ = std::fs::remove_file(&ended.assignment);
            let name = &ended.run.name;
            match self.folder.record(name)? {
                Some(record)
                    if record.plan_digest == ended.run.plan.digest()
                        && !ended.run.job.alone
                        && is_lost_to_the_machine(&record) =>
                {
                    observe(Event::Again {
                        name,
                        record: &record,
                    });
                    ended.run.job.alone = true;
                    self.again.push_back(ended.run);
                }
                Some(record) if record.plan_digest == ended.run.plan.digest() => {
                    observe(Event::Finished {
                        name,
                        record: &record,
                    });
                }
                _ => {
                    let said = ended
                        .errors
                        .recv_timeout(StdDuration::from_secs(1))
                        .unwrap_or_default();
                    let crashed = ended.failure.is_none();
                    let error = ended
                        .failure
                        .unwrap_or_else(|| format!("the worker ended with {status}: {}", said.trim()));
                    observe(Event::Failed { name, error: &error });
                    self.failed.push(Failed {
                        name: name.clone(),
                        error,
                        crashed,
                    });
                }
            }
        }
        Ok(())
    }

    /// Ends all workers at once; their namespaces and programs go with them.
    fn stop(&mut self) {
        for running in &mut self.running {
            let _ = running.child.kill();
        }
        for mut running in self.running.drain(..) {
            let _ = running.child.wait();
            let _ = std::fs::remove_file(&running.assignment);
        }
    }
}

/// Whether what this machine had to do beside makes the run invalid, so that a second try may be worth something.
fn is_lost_to_the_machine(record: &RunRecord) -> bool {
    let invalid = record
        .health
        .reasons
        .iter()
        .filter(|reason| reason.state == HealthState::Invalid);
    let mut codes = invalid.map(|reason| &reason.code).peekable();
    codes.peek().is_some() && codes.all(effect::is_of_the_machine)
}

/// Thousandths of a processor that a run keeps busy: by the packets of its twin in simulated time, or as if it filled its
/// fastest link.
fn need(experiment: &str, run: &Planned) -> u64 {
    let Some(rate) = run.job.rate.filter(|rate| *rate < schedule::ALONE_FROM) else {
        return 0;
    };
    let simulated = run.twin.as_ref().and_then(|twin| {
        let record = crate::simulated::bare(experiment, twin).ok()?;
        let end = record.transfers.iter().map(|transfer| transfer.end).max()?;
        let cards = record
            .elements
            .iter()
            .filter(|element| network::is_card(&element.element));
        let packets: u64 = cards.map(|card| card.entered.packets).sum();
        let seconds = end.since(slowpath_units::Time::ZERO).seconds();
        (seconds > 0.0).then(|| packets as f64 / seconds)
    });
    schedule::need(simulated.unwrap_or(rate as f64 / 8.0 / FULL_PACKET * 1.5))
}

/// Bytes of a full Ethernet packet.
const FULL_PACKET: f64 = 1514.0;

/// Most bytes kept of what a failing worker said.
const MOST_ERROR_TEXT: u64 = 16_384;

//! Runs an experiment: every variant and repeat, interleaved, side by side where the paths are slow, resumable.
//!
//! Lab runs take place in worker processes of their own, so that a crash costs one run, namespaces are
//! entered before any thread exists, and several paths can run side by side. Simulated runs are computed
//! here, on all processors. Every finished run is written at once.

mod cores;

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration as StdDuration;

use slowpath_path::{ElementKind, Rate};
use slowpath_record::{Code, HealthState, RunRecord};
use slowpath_scenario::{Clock, Plan, PlanOptions};
use slowpath_sim::frames;

use crate::folder::{Folder, FolderError};
use crate::identity;
use crate::load::Loaded;
use crate::schedule::{self, Job, Room};
use crate::spare::{self, Spare};
use crate::worker::{Assignment, Message};
use crate::{effect, network};

/// What to run, and where to leave the results.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Which clocks, in the order of the report; empty means for each variant the one that suits it.
    pub clocks: Vec<Clock>,
    /// Only these variants; empty means all.
    pub variants: Vec<String>,
    /// Repeats of every variant, instead of the experiment's own number.
    pub repeats: Option<u32>,
    /// The experiment's seed.
    pub seed: u64,
    /// Smaller transfers for slow variants.
    pub quick: bool,
    /// Whether packets are captured.
    pub capture: bool,
    /// Results folder.
    pub out: PathBuf,
    /// How many slow paths may run side by side.
    pub places: usize,
    /// The program that runs one [`Assignment`]: its path and the arguments before the assignment's file.
    pub worker: (PathBuf, Vec<String>),
}

/// What happens while an experiment runs, for a progress display.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// The plan is made: this many runs, of which so many were finished before.
    Planned {
        /// All runs.
        total: usize,
        /// Found in the results folder, with the same plan.
        resumed: usize,
    },
    /// A run started.
    Started {
        /// Its name.
        name: &'a str,
    },
    /// A run got on.
    Progress {
        /// Its name.
        name: &'a str,
        /// Bytes so far.
        bytes: u64,
        /// Bytes in all.
        of: u64,
    },
    /// A run is finished and written.
    Finished {
        /// Its name.
        name: &'a str,
        /// What it left.
        record: &'a RunRecord,
    },
    /// The machine disturbed a run so much that its figures say nothing; it is done again, alone.
    Again {
        /// Its name.
        name: &'a str,
        /// What it left.
        record: &'a RunRecord,
    },
    /// A run failed; the others go on.
    Failed {
        /// Its name.
        name: &'a str,
        /// Why.
        error: &'a str,
    },
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A variant cannot be planned.
    #[error(transparent)]
    Plan(#[from] slowpath_scenario::plan::PlanError),
    /// The results folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The results folder holds finished runs of something else.
    #[error(
        "{} holds finished runs that would be joined with other ones: {}; give another results folder with --out (nothing in this one was changed)",
        .folder.display(), .differences.join("; ")
    )]
    Mixed {
        /// The results folder.
        folder: PathBuf,
        /// What differs, one sentence each.
        differences: Vec<String>,
    },
    /// A worker process could not be started.
    #[error("starting {program} failed: {source}")]
    Worker {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The run was interrupted; what had finished is kept.
    #[error("interrupted; finished runs are in {folder}, the same command goes on with the rest")]
    Interrupted {
        /// The results folder.
        folder: PathBuf,
    },
    /// Runs failed; the others are kept.
    #[error("{}", failures(.failed))]
    Failed {
        /// Which, and why.
        failed: Vec<Failed>,
    },
}

/// A run that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Its name.
    pub name: String,
    /// Why.
    pub error: String,
    /// Whether its process broke off without a word, which only a mistake in slowpath itself or a kill explains.
    pub crashed: bool,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "run {} failed: {}", self.name, self.error)
    }
}

/// One planned run.
#[derive(Debug, Clone)]
pub struct Planned {
    /// File name of its record: `VARIANT.REPEAT.CLOCK`.
    pub name: String,
    /// The plan.
    pub plan: Plan,
    /// The same run in simulated time, where a lab run has such a twin.
    pub twin: Option<Plan>,
    job: Job,
}

impl Planned {
    /// A run of `plan` whose record is called `name`.
    pub fn new(name: String, plan: Plan) -> Self {
        let job = Job {
            variant: 0,
            repeat: plan.repeat,
            rate: fastest_link(&plan),
            places: 1,
            need: 0,
            alone: false,
        };
        Self {
            name,
            plan,
            twin: None,
            job,
        }
    }

    /// The same run, with the plan by which the machine's part in its result is told.
    #[must_use]
    pub fn with_twin(mut self, twin: Option<Plan>) -> Self {
        self.twin = twin;
        self
    }

    /// The same run, which takes so many of the [places](RunOptions::places) for paths side by side.
    #[must_use]
    pub const fn taking(mut self, places: usize) -> Self {
        self.job.places = places;
        self
    }
}

/// Plans every run of an experiment, in the order in which they are to be done.
///
/// # Errors
/// [`RunError::Plan`].
pub fn plan(loaded: &Loaded, options: &RunOptions) -> Result<Vec<Planned>, RunError> {
    let chosen: Vec<&str> = if options.variants.is_empty() {
        loaded
            .experiment
            .variants
            .iter()
            .map(|variant| variant.name.as_str())
            .collect()
    } else {
        options.variants.iter().map(String::as_str).collect()
    };
    let repeats: Vec<u32> = chosen
        .iter()
        .map(|name| {
            let own = loaded
                .experiment
                .variant(name)
                .map_or(1, |variant| variant.repeats.runs);
            options.repeats.unwrap_or(if options.quick {
                own.min(QUICK_REPEATS)
            } else {
                own
            })
        })
        .collect();
    let mut planned = Vec::new();
    let clocks: Vec<Option<Clock>> = match options.clocks.as_slice() {
        [] => vec![None],
        clocks => clocks.iter().copied().map(Some).collect(),
    };
    for clock in clocks {
        for (variant, repeat) in schedule::interleave(&repeats, options.seed) {
            let clock = clock.unwrap_or_else(|| frames::suitable_clock(&loaded.experiment, chosen[variant]));
            let of = |clock| {
                let wanted = PlanOptions {
                    variant: chosen[variant].to_owned(),
                    repeat,
                    seed: options.seed,
                    clock,
                    quick: options.quick,
                    size: None,
                };
                loaded.experiment.plan(&wanted, &loaded.fragments)
            };
            let plan = of(clock)?;
            // Where there is no model of it, the table of thresholds judges.
            let twin = (clock == Clock::Lab).then(|| of(Clock::Simulated).ok()).flatten();
            planned.push(Planned {
                name: run_name(&plan),
                job: Job {
                    variant,
                    repeat,
                    rate: fastest_link(&plan),
                    places: 1,
                    need: 0,
                    alone: false,
                },
                plan,
                twin,
            });
        }
    }
    Ok(planned)
}

/// The file name of a run's record.
pub fn run_name(plan: &Plan) -> String {
    let clock = match plan.clock {
        Clock::Simulated => "simulated",
        Clock::Lab => "lab",
    };
    format!("{}.{}.{clock}", plan.variant, plan.repeat)
}

/// Runs everything that is planned and not yet finished.
///
/// # Errors
/// [`RunError`]; what had finished before an error stays in the folder.
pub fn run(
    loaded: &Loaded,
    options: &RunOptions,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Folder, RunError> {
    let planned = plan(loaded, options)?;
    let settings = Settings::of(loaded, options);
    let differences = identity::differences(loaded, &settings, &Folder::open(&options.out))?;
    if !differences.is_empty() {
        return Err(RunError::Mixed {
            folder: options.out.clone(),
            differences,
        });
    }
    let folder = Folder::create(&options.out)?;
    keep_sources(loaded, &settings, &folder)?;
    execute(&loaded.name, planned, options, &folder, cancel, observe)?;
    Ok(folder)
}

/// Keeps with the results what they were made from, so that a report can be made again without the originals.
fn keep_sources(loaded: &Loaded, settings: &Settings, folder: &Folder) -> Result<(), FolderError> {
    folder.write("experiment.toml", loaded.text.as_bytes())?;
    for (name, text) in &loaded.files {
        // A configuration from elsewhere keeps its last name only; the plan inside each record is complete anyway.
        let plain = name.rsplit('/').next().unwrap_or(name);
        folder.write(plain, text.as_bytes())?;
    }
    let text = serde_json::to_vec_pretty(settings).expect("settings can always be written as JSON");
    folder.write(SETTINGS, &text).map(drop)
}

/// Settings of a run that a report needs, kept in the results folder.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Name of the experiment.
    pub experiment: String,
    /// The experiment's seed.
    pub seed: u64,
    /// Whether transfers were shortened.
    pub quick: bool,
    /// Dotted keys with values that were laid over the experiment file.
    #[serde(default)]
    pub set: Vec<(String, String)>,
}

impl Settings {
    /// The settings of a run of `loaded`.
    pub fn of(loaded: &Loaded, options: &RunOptions) -> Self {
        Self {
            experiment: loaded.name.clone(),
            seed: options.seed,
            quick: options.quick,
            set: loaded.set.clone(),
        }
    }
}

/// The file of [`Settings`].
pub const SETTINGS: &str = "settings.json";

/// Runs `planned` into `folder`, as [`run`] does.
///
/// # Errors
/// [`RunError`].
pub fn execute(
    experiment: &str,
    planned: Vec<Planned>,
    options: &RunOptions,
    folder: &Folder,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), RunError> {
    let total = planned.len();
    let mut waiting = VecDeque::new();
    for run in planned {
        let before = folder.record(&run.name).ok().flatten();
        if before.is_none_or(|record| record.plan_digest != run.plan.digest() || !has_ended(&record)) {
            waiting.push_back(run);
        }
    }
    observe(Event::Planned {
        total,
        resumed: total - waiting.len(),
    });

    let (simulated, lab): (VecDeque<_>, VecDeque<_>) = waiting
        .into_iter()
        .partition(|run| run.plan.clock == Clock::Simulated);
    let mut failed = cores::simulate(experiment, simulated, options, folder, cancel, observe)?;
    Pool {
        experiment,
        options,
        folder,
        running: Vec::new(),
        again: VecDeque::new(),
        failed: &mut failed,
    }
    .drain(lab, cancel, observe)?;
    if failed.is_empty() {
        Ok(())
    } else {
        Err(RunError::Failed { failed })
    }
}

/// Worker processes at work.
struct Pool<'a> {
    experiment: &'a str,
    options: &'a RunOptions,
    folder: &'a Folder,
    running: Vec<Running>,
    /// Runs to be done a second time, when all others have ended.
    again: VecDeque<Planned>,
    failed: &'a mut Vec<Failed>,
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
    fn drain(
        mut self,
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

/// Whether a run came to a usable end, so that it need not be done again.
fn has_ended(record: &RunRecord) -> bool {
    let starved = (record.health.reasons.iter()).any(|reason| reason.code == Code::Unfinished);
    record.health.state != HealthState::Invalid
        && (starved || record.transfers.iter().all(|transfer| transfer.complete))
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

/// Bits per second of the fastest link in a plan; `None` if there is no link at all.
fn fastest_link(plan: &Plan) -> Option<u64> {
    let mut fastest = None;
    for element in &plan.network.elements {
        if let ElementKind::Link(link) = &element.does {
            let rate = match &link.rate {
                Rate::Fixed(rate) | Rate::Bucket { rate, .. } => Some(rate.bits_per_s()),
                Rate::Steps(steps) => steps.iter().map(|step| step.rate.bits_per_s()).max(),
                // A trace's rate is not stated; it gets the machine for itself.
                Rate::Markov(markov) => (markov.levels.iter()).map(|level| level.rate.bits_per_s()).max(),
                Rate::Trace(_) => None,
            };
            fastest = fastest.max(Some(rate.unwrap_or(u64::MAX)));
        }
    }
    fastest
}

fn failures(failed: &[Failed]) -> String {
    let lines: Vec<String> = failed.iter().map(Failed::to_string).collect();
    lines.join("\n")
}

/// Repeats of a quick run, at most.
const QUICK_REPEATS: u32 = 1;

/// Most bytes kept of what a failing worker said.
const MOST_ERROR_TEXT: u64 = 16_384;

//! Noise: the twin's cells in the lab of a machine that is disturbed on purpose, and what the run's health says of it.
//!
//! Every chosen cell runs under four kinds of disturbance. The truth is the run's goodput against that of its twin in
//! simulated time, which no machine disturbs; the health's interval should contain it.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration as StdDuration, Instant};

use slowpath_diagnose::stats::Summary;
use slowpath_record::{Effect, FigureKind, HealthState, RunRecord};
use slowpath_scenario::{Captures, Clock, Plan};
use slowpath_sys::process;
use slowpath_units::ByteCount;

use crate::cells::{self, Cell};
use slowpath::effect;
use slowpath::folder::{Folder, FolderError};
use slowpath::processors;
use slowpath::run::{self, Event, Planned, RunError, RunOptions, run_name};

/// What disturbs the lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing on purpose: the machine as it is.
    AsIs,
    /// One program that uses all of a processor.
    OneBusy,
    /// Two such programs.
    TwoBusy,
    /// The process of the wire is stopped for 50 to 500 ms at random moments.
    Stopped,
}

impl Kind {
    /// All, in the order of tables.
    pub const ALL: [Self; 4] = [Self::AsIs, Self::OneBusy, Self::TwoBusy, Self::Stopped];

    /// Name of its folder.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as-is",
            Self::OneBusy => "one-busy",
            Self::TwoBusy => "two-busy",
            Self::Stopped => "stopped",
        }
    }

    /// Its name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::AsIs => "the machine as it is",
            Self::OneBusy => "one processor kept busy",
            Self::TwoBusy => "two processors kept busy",
            Self::Stopped => "the wire's process stopped for 50 to 500 ms",
        }
    }

    /// First argument of the program that carries out a run.
    pub(crate) const fn worker(self) -> &'static str {
        match self {
            Self::Stopped => "stopped-worker",
            Self::AsIs | Self::OneBusy | Self::TwoBusy => "worker",
        }
    }

    /// Programs that keep a processor busy each.
    pub(crate) const fn hogs(self) -> usize {
        match self {
            Self::OneBusy => 1,
            Self::TwoBusy => 2,
            Self::AsIs | Self::Stopped => 0,
        }
    }
}

/// What to do and where.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the records go, a folder for each kind; a second call goes on with what is missing.
    pub out: PathBuf,
    /// Only cells whose name contains one of these; empty means all.
    pub only: Vec<String>,
    /// The kinds to run.
    pub kinds: Vec<Kind>,
    /// Most cells of each kind.
    pub most: usize,
    /// Decides the dice of the paths and when the wire's process is stopped.
    pub seed: u64,
    /// No run begins after this time; a later call goes on.
    pub until: Option<Instant>,
    /// The program that calls [`hog`], [`worker`] and the ordinary worker for these first arguments: `hog`,
    /// `stopped-worker`, `worker`.
    pub program: PathBuf,
}

/// Runs what is missing of the kinds that are wanted, each run once and alone.
///
/// The records hold what the machine did, and are not judged: [`score`] does that, as often as wanted.
///
/// # Errors
/// [`RunError`].
pub fn make(
    settings: &Settings,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), RunError> {
    for &kind in &settings.kinds {
        let out = settings.out.join(kind.name());
        let folder = Folder::create(&out)?;
        let options = RunOptions {
            clocks: vec![Clock::Lab],
            variants: Vec::new(),
            repeats: None,
            decide: false,
            seed: settings.seed,
            quick: false,
            capture: true,
            out,
            places: 1,
            worker: (settings.program.clone(), vec![kind.worker().to_owned()]),
        };
        let _hogs = Hogs::start(&settings.program, kind.hogs())?;
        for cell in chosen(settings) {
            let plan = plan(&cell, Clock::Lab, settings.seed);
            let run = Planned::new(run_name(&plan), plan).once();
            if folder.record(&run.name)?.is_some() {
                continue;
            }
            if settings.until.is_some_and(|until| Instant::now() > until) {
                return Ok(());
            }
            run::execute("noise", vec![run], &options, &folder, cancel, observe)?;
        }
    }
    Ok(())
}

/// Slow cells, spread over the matrix.
fn chosen(settings: &Settings) -> Vec<Cell> {
    let slow: Vec<Cell> = cells::all()
        .into_iter()
        .filter(|cell| cell.is_slow() && crate::is_wanted(&cell.name(), &settings.only))
        .collect();
    // A step that shares no divisor with the matrix' sides meets every row and column.
    let step = 7;
    let count = slow.len();
    let mut order: Vec<usize> = (0..count).map(|number| number * step % count.max(1)).collect();
    order.dedup();
    order
        .into_iter()
        .take(settings.most)
        .map(|number| slow[number])
        .collect()
}

/// The run of one cell, shorter than the twin's.
fn plan(cell: &Cell, clock: Clock, seed: u64) -> Plan {
    let mut plan = cell
        .short_plan(clock, seed, ByteCount::new(cell.bytes() / SHORTER))
        .expect("a cell of the list can be planned");
    plan.captures = Captures::None;
    plan
}

/// Programs that keep processors busy, ended with this value.
pub(crate) struct Hogs(Vec<Child>);

impl Hogs {
    pub(crate) fn start(program: &Path, count: usize) -> Result<Self, RunError> {
        let mut hogs = Self(Vec::new());
        for _ in 0..count {
            let child = Command::new(program)
                .arg("hog")
                .stdin(Stdio::null())
                .spawn()
                .map_err(|source| RunError::Worker {
                    program: program.to_owned(),
                    source,
                })?;
            hogs.0.push(child);
        }
        Ok(hogs)
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            let _ = hog.kill();
            let _ = hog.wait();
        }
    }
}

/// Uses all of a processor until the process that started this one ends.
///
/// # Errors
/// When the kernel cannot be asked to end it.
pub fn hog() -> io::Result<()> {
    process::set_parent_death_signal(SIGKILL)?;
    let mut state = 1_u64;
    loop {
        state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// Stops and continues the process that started this one, at moments that `seed` decides, until that one ends.
///
/// # Errors
/// When a signal cannot be sent.
pub fn stopper(parent: u32, seed: u64) -> io::Result<()> {
    process::set_parent_death_signal(SIGKILL)?;
    let mut state = seed;
    let mut draw = |from: u64, to: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        StdDuration::from_millis(from + (state >> 33) % (to - from))
    };
    loop {
        std::thread::sleep(draw(700, 3500));
        process::signal(parent, SIGSTOP)?;
        let until = Instant::now() + draw(50, 500);
        while let Some(left) = until
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
        {
            std::thread::sleep(left);
        }
        process::signal(parent, SIGCONT)?;
    }
}

/// Starts a [`stopper`] of this very process with the program that runs it, before an ordinary worker's work.
///
/// # Errors
/// When it cannot be started.
pub fn start_stopper(job: &Path) -> io::Result<Child> {
    // Every run has moments of its own, and the same run always the same.
    let seed = job
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(1_u64, |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(u64::from(*byte))
        });
    Command::new(std::env::current_exe()?)
        .arg("stopper")
        .arg(std::process::id().to_string())
        .arg(seed.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
}

/// What one run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// What disturbed it.
    pub kind: Kind,
    /// Name of the cell.
    pub cell: String,
    /// Its health.
    pub state: HealthState,
    /// What the size of the disturbances alone says.
    pub by_size: HealthState,
    /// Goodput against the mean of undisturbed runs with other dice, less one; absent where the transfer failed.
    pub truth: Option<f64>,
    /// By how much one undisturbed run differs from their mean: the standard deviation, as a share.
    pub chance: Option<f64>,
    /// What the replay says of the goodput.
    pub effect: Option<Effect>,
    /// Longest span and all spans together, in seconds.
    pub held_s: (f64, f64),
    /// Share of the processors that other guests took.
    pub steal: f64,
    /// Codes of its reasons.
    pub reasons: Vec<String>,
}

impl Scored {
    /// Whether the replay's interval contains the truth; unknown where one of them is.
    pub fn is_hit(&self) -> Option<bool> {
        let (truth, effect) = (self.truth?, self.effect.as_ref()?);
        Some(effect.low <= truth && truth <= effect.high)
    }
}

/// Judges and scores every run of the seed in the folders.
///
/// # Errors
/// [`FolderError`] if a record cannot be read.
pub fn score(settings: &Settings) -> Result<Vec<Scored>, FolderError> {
    let cells = cells::all();
    let mut all = Vec::new();
    for kind in Kind::ALL {
        let out = settings.out.join(kind.name());
        if !out.is_dir() {
            continue;
        }
        for (_, record) in Folder::open(&out).records()? {
            let cell = cells.iter().find(|cell| cell.name() == record.variant);
            let Some(cell) = cell.filter(|cell| crate::is_wanted(&cell.name(), &settings.only)) else {
                continue;
            };
            if record.plan_digest == plan(cell, Clock::Lab, settings.seed).digest() {
                all.push((kind, plan(cell, Clock::Simulated, settings.seed), record));
            }
        }
    }
    Ok(processors::each(all.len(), &|index| {
        let (kind, twin, record) = &all[index];
        scored(*kind, twin, record.clone())
    }))
}

fn scored(kind: Kind, twin: &Plan, mut record: RunRecord) -> Scored {
    effect::judge(&mut record, twin);
    let health = &record.health;
    let effect = health
        .effects
        .iter()
        .find(|effect| effect.figure == FigureKind::Goodput)
        .cloned();
    let own = record.transfers.first().filter(|transfer| transfer.complete);
    let quiet = effect::undisturbed(&record.experiment, twin, QUIET_RUNS);
    let quiet = quiet.and_then(|goodputs| Summary::of(&goodputs));
    let truth = own
        .zip(quiet.as_ref())
        .map(|(transfer, quiet)| transfer.goodput_byte_per_s() / quiet.mean - 1.0);
    let spans = record
        .disturbances
        .iter()
        .flat_map(|all| &all.wires)
        .flat_map(|wire| &wire.spans);
    let lengths: Vec<f64> = spans.map(|span| span.length.seconds()).collect();
    let states = health
        .by_size
        .iter()
        .chain(&health.reasons)
        .filter(|reason| reason.code != slowpath_record::Code::MachineEffect);
    Scored {
        kind,
        cell: record.variant.clone(),
        state: health.state,
        by_size: states.map(|reason| reason.state).max().unwrap_or_default(),
        truth,
        chance: quiet.and_then(|quiet| Some(quiet.deviation? / quiet.mean)),
        effect,
        held_s: (lengths.iter().copied().fold(0.0, f64::max), lengths.iter().sum()),
        steal: health.steal_fraction,
        reasons: health
            .reasons
            .iter()
            .map(|reason| reason.code.to_string())
            .collect(),
    }
}

/// The page of the validation.
pub fn page(scored: &[Scored]) -> String {
    let mut text = String::from(INTRODUCTION);
    let _ = writeln!(
        text,
        "| disturbance | runs | truth in the interval | valid, off by more than 5 % | valid | degraded | invalid | the same by size alone | worst truth | longest span | taken by other guests, mean and most |\n|---|---|---|---|---|---|---|---|---|---|---|"
    );
    let groups = Kind::ALL
        .into_iter()
        .map(|kind| (kind.title(), Some(kind)))
        .chain([("all", None)]);
    for (title, kind) in groups {
        let own: Vec<&Scored> = scored
            .iter()
            .filter(|one| kind.is_none_or(|kind| one.kind == kind))
            .collect();
        if own.is_empty() {
            continue;
        }
        let told = own.iter().filter_map(|one| one.is_hit()).count();
        let hits = own.iter().filter(|one| one.is_hit() == Some(true)).count();
        let lies = own
            .iter()
            .filter(|one| {
                one.state == HealthState::Valid && one.truth.is_some_and(|truth| truth.abs() > 0.05)
            })
            .count();
        let count = |state| own.iter().filter(|one| one.state == state).count();
        let size = |state| own.iter().filter(|one| one.by_size == state).count();
        let worst = own
            .iter()
            .filter_map(|one| one.truth)
            .max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let longest = own.iter().map(|one| one.held_s.0).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "| {title} | {} | {hits} of {told} ({:.0} %) | {lies} | {} | {} | {} | {} / {} / {} | {} | {:.0} ms | {:.1} % / {:.1} % |",
            own.len(),
            100.0 * hits as f64 / told.max(1) as f64,
            count(HealthState::Valid),
            count(HealthState::Degraded),
            count(HealthState::Invalid),
            size(HealthState::Valid),
            size(HealthState::Degraded),
            size(HealthState::Invalid),
            worst.map_or("-".to_owned(), |worst| format!("{:+.1} %", worst * 100.0)),
            longest * 1e3,
            own.iter().map(|one| one.steal).sum::<f64>() * 100.0 / own.len() as f64,
            own.iter().map(|one| one.steal).fold(0.0, f64::max) * 100.0,
        );
    }
    let _ = writeln!(
        text,
        "\n## Every run\n\nTruth and effect are changes of the goodput in per cent; `held` is the longest span and all spans together, in ms.\n\n\
         | disturbance | cell | truth | chance | effect | give or take | interval | state | by size | held | steal | reasons |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|"
    );
    for one in scored {
        let percent = |share: f64| format!("{:+.2}", share * 100.0);
        let told = one.effect.as_ref().map_or_else(
            || "- | - | -".to_owned(),
            |effect| {
                format!(
                    "{} | {:.2} | {} to {}{}",
                    percent(effect.change),
                    effect.uncertainty * 100.0,
                    percent(effect.low),
                    percent(effect.high),
                    if one.is_hit() == Some(false) { " !" } else { "" }
                )
            },
        );
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {told} | {} | {} | {:.0} / {:.0} | {:.0} % | {} |",
            one.kind.name(),
            one.cell,
            one.truth.map_or("-".to_owned(), percent),
            one.chance
                .map_or("-".to_owned(), |chance| format!("{:.2}", chance * 100.0)),
            one.state.name(),
            one.by_size.name(),
            one.held_s.0 * 1e3,
            one.held_s.1 * 1e3,
            one.steal * 100.0,
            one.reasons.join(", ")
        );
    }
    text
}

const INTRODUCTION: &str = "# A disturbed machine\n\n\
Cells of the twin, transfers a third as long, in the lab of a machine that is disturbed in four ways; written by\n\
`cargo run --release -p slowpath-validate --example standing -- noise`. The truth is the lab's goodput against the mean of 32\n\
undisturbed runs in simulated time, with other dice of the path, less one: so it contains what the two clocks differ by on a quiet\n\
machine, and the chance of one throw of the dice, whose standard deviation stands beside it. The effect is what the run's own health\n\
says of its goodput, by replaying the recorded spans; the interval is that of one run (95 %).\n\n";

/// Undisturbed runs that the truth is the mean of.
const QUIET_RUNS: u32 = 32;
/// By how much the transfers are shorter than the twin's.
const SHORTER: u64 = 3;
const SIGKILL: i32 = 9;
const SIGCONT: i32 = 18;
const SIGSTOP: i32 = 19;

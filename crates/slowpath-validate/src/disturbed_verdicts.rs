//! Whether lab runs on a disturbed machine get the verdicts of the simulated runs.
//!
//! Full experiments are run as `slowpath run` does it, runs side by side and what is invalid again alone, while something
//! disturbs the machine. A verdict is wrong if it names another limit than the simulated run of the same variant and
//! repeat; that a run cannot tell is no mistake.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use slowpath::folder::{Folder, FolderError};
use slowpath::load::Loaded;
use slowpath::outcome;
use slowpath::run::{self, Event, RunError, RunOptions};
use slowpath_record::HealthState;
use slowpath_scenario::Clock;
use slowpath_verdict::Limit;

use crate::noise::{Hogs, Kind, Settings};

/// One lab run beside its simulated one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What disturbed it.
    pub kind: Kind,
    /// Its variant and repeat.
    pub run: String,
    /// Its health.
    pub state: HealthState,
    /// Its verdict; `None` without one: an invalid run, or one of which nothing is captured.
    pub lab: Option<Limit>,
    /// The simulated run's verdict.
    pub simulated: Option<Limit>,
}

impl Judged {
    /// Whether it names another limit than the simulated run.
    pub fn is_wrong(&self) -> bool {
        self.tells() && self.lab != self.simulated
    }

    /// Whether it names a limit.
    pub fn tells(&self) -> bool {
        self.lab.is_some_and(|limit| limit != Limit::Unknown)
    }
}

/// Runs what is missing of `repeats` runs of each variant of `experiment`, quick, for each kind of disturbance.
///
/// # Errors
/// [`RunError`].
pub fn make(
    experiment: &Loaded,
    repeats: u32,
    settings: &Settings,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), RunError> {
    for &kind in &settings.kinds {
        let out = folder(&settings.out, kind);
        let options = RunOptions {
            clocks: vec![Clock::Simulated, Clock::Lab],
            variants: Vec::new(),
            repeats: Some(repeats),
            decide: false,
            seed: settings.seed,
            quick: true,
            capture: true,
            out: out.clone(),
            places: PLACES,
            worker: (settings.program.clone(), vec![kind.worker().to_owned()]),
        };
        let folder = Folder::create(&out)?;
        let _hogs = Hogs::start(&settings.program, kind.hogs())?;
        for repeat in 0..repeats {
            let mut missing = run::plan(experiment, &options)?;
            missing
                .retain(|run| run.plan.repeat == repeat && folder.record(&run.name).ok().flatten().is_none());
            if missing.is_empty() {
                continue;
            }
            if settings.until.is_some_and(|until| Instant::now() > until) {
                return Ok(());
            }
            run::execute(&experiment.name, missing, &options, &folder, cancel, observe)?;
        }
    }
    Ok(())
}

/// Judges every lab run of the folders.
///
/// # Errors
/// [`FolderError`] if a record cannot be read.
pub fn score(settings: &Settings) -> Result<Vec<Judged>, FolderError> {
    let mut all = Vec::new();
    for kind in Kind::ALL {
        let out = folder(&settings.out, kind);
        if !out.is_dir() {
            continue;
        }
        let runs = outcome::analyze(&Folder::open(&out))?;
        let mut simulated = BTreeMap::new();
        let mut lab = Vec::new();
        for run in runs {
            let limit = (run.analysis.as_ref())
                .and_then(|analysis| analysis.main_connection())
                .map(|main| main.verdict.limit);
            let name = format!("{}, {}", run.record.variant, run.record.repeat);
            if run.name.ends_with(".simulated") {
                simulated.insert(name, limit);
            } else {
                lab.push((name, run.record.health.state, limit));
            }
        }
        all.extend(lab.into_iter().map(|(run, state, limit)| Judged {
            kind,
            state,
            lab: limit,
            simulated: simulated.get(&run).copied().flatten(),
            run,
        }));
    }
    Ok(all)
}

/// The part of the page; nothing if there is no run.
pub fn page(judged: &[Judged]) -> String {
    let mut text = String::new();
    if judged.is_empty() {
        return text;
    }
    text.push_str(INTRODUCTION);
    for kind in Kind::ALL {
        let own: Vec<&Judged> = judged.iter().filter(|one| one.kind == kind).collect();
        if own.is_empty() {
            continue;
        }
        let state = |state| own.iter().filter(|one| one.state == state).count();
        let told = own.iter().filter(|one| one.tells()).count();
        let wrong = own.iter().filter(|one| one.is_wrong()).count();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {wrong} | {} |",
            kind.title(),
            own.len(),
            state(HealthState::Valid),
            state(HealthState::Degraded),
            state(HealthState::Invalid),
            told - wrong,
            own.len() - told,
        );
    }
    let name = |limit: Option<Limit>| limit.map_or("-", Limit::name);
    let _ = writeln!(
        text,
        "\n| disturbance | run | state | lab | simulated |\n|---|---|---|---|---|"
    );
    for one in judged.iter().filter(|one| one.is_wrong() || !one.tells()) {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {}{} | {} |",
            one.kind.name(),
            one.run,
            one.state.name(),
            name(one.lab),
            if one.is_wrong() { " !" } else { "" },
            name(one.simulated),
        );
    }
    text
}

fn folder(out: &Path, kind: Kind) -> std::path::PathBuf {
    out.join("verdicts").join(kind.name())
}

const INTRODUCTION: &str = "\n## Verdicts\n\n\
The seven variants of `cisco-ftp`, `--quick`, as `slowpath run` does them, on a disturbed machine. A verdict is wrong if it names\n\
another limit than the simulated run of the same variant and repeat. Below the table: runs that are wrong (!) or do not tell.\n\n\
| disturbance | runs | valid | degraded | invalid | right | wrong | does not tell |\n|---|---|---|---|---|---|---|---|\n";

/// Runs side by side, where there is room.
const PLACES: usize = 4;

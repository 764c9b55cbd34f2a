//! The proof loop: predict what one change makes of a variant, make the change, run it, compare.

use std::sync::atomic::AtomicBool;

use slowpath_diagnose::investigation::{Conclusion, Experiment as Wanted, Settings as Proving, Step};
use slowpath_diagnose::{Investigation, PathEvidence, Situation};
use slowpath_record::{Origin, RunKind};
use slowpath_report::results::Proof;
use slowpath_scenario::{Clock, Intervention, PlanOptions};

use crate::analyzed::Analyzed;
use crate::folder::Folder;
use crate::load::Loaded;
use crate::outcome;
use crate::run::{self, Event, Planned, RunError, RunOptions};

/// The file in which proofs are kept beside the records.
pub const PROOFS: &str = "proofs.json";

/// Tests the changes that the experiment's dossier wishes for, and keeps what came of them in the folder.
///
/// The variants' own runs serve as base, those in the lab where there are any, so the experiment must have been run
/// before. Changed runs of all
/// variants go side by side like any others.
///
/// # Errors
/// [`RunError`]; what had finished before an error stays in the folder.
pub fn prove(
    loaded: &Loaded,
    options: &RunOptions,
    folder: &Folder,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<Proof>, RunError> {
    let base = outcome::analyze(folder)?;
    let mut cases: Vec<Case> = Vec::new();
    for wish in &loaded.dossier.proofs {
        // A proof in real time says more than one in the model.
        let own = [Clock::Lab, Clock::Simulated].into_iter().find_map(|clock| {
            let own: Vec<&Analyzed> = base
                .iter()
                .filter(|run| run.record.variant == wish.variant && is_base(run, clock))
                .collect();
            (!own.is_empty()).then_some((clock, own))
        });
        let Some((clock, own)) = own else {
            continue;
        };
        let evidence = evidence(&base, clock);
        let settings = Proving {
            repeats: u32::try_from(own.len()).unwrap_or(u32::MAX).min(MOST_REPEATS),
            changes: vec![wish.change.clone()],
            ..Proving::default()
        };
        let mut investigation = Investigation::new(&wish.variant, evidence, settings);
        for run in own {
            let connection = run
                .analysis
                .as_ref()
                .and_then(slowpath_verdict::Analysis::main_connection);
            investigation.observe_base(&run.record, connection);
        }
        cases.push(Case {
            clock,
            investigation,
            conclusion: None,
            rounds: 0,
        });
    }
    while cases.iter().any(|case| case.conclusion.is_none()) {
        let mut round: Vec<(usize, Planned)> = Vec::new();
        for (index, case) in cases
            .iter_mut()
            .enumerate()
            .filter(|(_, case)| case.conclusion.is_none())
        {
            match case.investigation.next_step() {
                Step::Done(conclusion) => case.conclusion = Some(*conclusion),
                Step::Run(wanted) if case.rounds < MOST_ROUNDS => {
                    case.rounds += 1;
                    match planned(loaded, options, case.clock, &wanted)? {
                        Some(planned) => round.push((index, planned)),
                        None => case.conclusion = Some(unchanged(&wanted.base)),
                    }
                }
                Step::Run(wanted) => case.conclusion = Some(unchanged(&wanted.base)),
            }
        }
        let runs: Vec<Planned> = round.iter().map(|(_, planned)| planned.clone()).collect();
        if runs.is_empty() {
            continue;
        }
        run::execute(&loaded.name, runs, options, folder, cancel, observe)?;
        for (index, planned) in round {
            let Some(record) = folder.record(&planned.name)? else {
                continue;
            };
            let run = outcome::analyze_run(folder, planned.name, record);
            let connection = run
                .analysis
                .as_ref()
                .and_then(slowpath_verdict::Analysis::main_connection);
            cases[index].investigation.observe(&run.record, connection);
        }
    }
    let proofs: Vec<Proof> = cases
        .iter()
        .filter_map(|case| case.conclusion.as_ref())
        .flat_map(Proof::of)
        .collect();
    let text = serde_json::to_vec_pretty(&proofs).expect("proofs can always be written as JSON");
    folder.write(PROOFS, &text)?;
    Ok(proofs)
}

/// The proofs kept in a folder; none if there are none.
pub fn kept(folder: &Folder) -> Vec<Proof> {
    let text = std::fs::read(folder.root().join(PROOFS)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

struct Case {
    clock: Clock,
    investigation: Investigation,
    conclusion: Option<Conclusion>,
    rounds: u32,
}

/// Whether this is a run of the experiment itself, on that clock.
fn is_base(run: &Analyzed, clock: Clock) -> bool {
    run.record.kind == RunKind::Plain && run.record.origin == clock.into()
}

/// What all transfers over the experiment's path have shown of it on one clock.
fn evidence(runs: &[Analyzed], clock: Clock) -> PathEvidence {
    let situations: Vec<Situation> = runs
        .iter()
        .filter(|run| is_base(run, clock))
        .filter_map(|run| run.analysis.as_ref()?.main_connection().map(Situation::of))
        .collect();
    PathEvidence::of(situations.iter())
}

/// The run that an investigation asks for; `None` if the change cannot be made here.
fn planned(
    loaded: &Loaded,
    options: &RunOptions,
    clock: Clock,
    wanted: &Wanted,
) -> Result<Option<Planned>, RunError> {
    let (variant, repeat) = (wanted.base.as_str(), wanted.repeat);
    let origin = Origin::from(clock);
    let plan = loaded.experiment.plan(
        &PlanOptions {
            variant: variant.to_owned(),
            repeat,
            seed: options.seed,
            clock,
            quick: options.quick,
            size: None,
        },
        &loaded.fragments,
    )?;
    let Some(change) = &wanted.change else {
        return Ok(Some(
            Planned::new(format!("{PREFIX}{variant}.base.{repeat}.{origin}"), plan).as_proof(),
        ));
    };
    let Ok(changed) = change.apply(&plan) else {
        return Ok(None);
    };
    Ok(Some(
        Planned::new(
            format!("{PREFIX}{variant}.{}.{repeat}.{origin}", word(change)),
            changed,
        )
        .as_proof(),
    ))
}

/// A change in one word, for file names.
fn word(change: &Intervention) -> &'static str {
    match change {
        Intervention::SetWindow { .. } => "window",
        Intervention::SetSendBuffer { .. } => "send-buffer",
        Intervention::SetReader { .. } => "reader",
        Intervention::SetWriter { .. } => "writer",
        Intervention::SetLoss { .. } => "no-loss",
        Intervention::RemovePolicer { .. } => "no-policer",
        Intervention::SetStreams { .. } => "streams",
        Intervention::SetCongestionControl { .. } => "congestion-control",
        Intervention::SetRate { .. } | Intervention::ScaleRate { .. } => "rate",
        Intervention::SetIpQos { .. } => "ssh-without-mark",
        Intervention::Remark { .. } => "marks-rewritten",
        Intervention::SetSack { .. } => "sack",
        Intervention::SetEcn { .. } => "ecn",
        Intervention::SetInitialWindow { .. } => "initial-window",
        Intervention::SetPacing { .. } => "pacing",
        Intervention::SetDscp { .. } => "dscp",
        Intervention::SetMss { .. } => "mss",
        Intervention::SetPartSize { .. } => "part-size",
        Intervention::ResizeQueue { .. } => "queue",
        Intervention::LiftDeviceLimit { .. } => "device",
        Intervention::SetDelay { .. } => "delay",
    }
}

fn unchanged(variant: &str) -> Conclusion {
    Conclusion {
        variant: variant.to_owned(),
        situation: None,
        base: None,
        tests: Vec::new(),
        notes: vec!["The change cannot be made here.".to_owned()],
    }
}

/// Files of proofs begin with this.
const PREFIX: &str = "proof-";

/// Changed runs of one variant, at most.
const MOST_REPEATS: u32 = 3;

/// Runs of one investigation, at most, invalid ones included.
const MOST_ROUNDS: u32 = 8;

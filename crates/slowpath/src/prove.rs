//! The proof loop: predict what one change makes of a variant, make the change, run it, compare.

mod evidence;

use std::sync::atomic::AtomicBool;

use slowpath_diagnose::investigation::{Conclusion, Experiment as Wanted, Settings as Proving, Step};
use slowpath_diagnose::{Investigation, Situation};
use slowpath_record::Origin;
use slowpath_report::explain::ConfigurationText;
use slowpath_report::results::Proof;
use slowpath_scenario::{Clock, Intervention, Plan, PlanOptions, System, Variant, Who};
use slowpath_vendor::Language;

use crate::folder::Folder;
use crate::load::Loaded;
use crate::outcome;
use crate::run::{self, Event, Planned, RunError, RunOptions};
use evidence::{Seen, after, capacities, evidence, is_base, lasts_s, same_network, situation};

/// The file in which proofs are kept beside the records.
pub const PROOFS: &str = "proofs.json";

/// Tests for each variant that was asked for the change that its verdict suggests and those that the experiment's dossier
/// wishes for, and keeps what came of them in the folder.
///
/// The variants' own runs serve as base, those in the lab where there are any, so the experiment must have been run
/// before. Changed runs of all variants go side by side like any others. Of several changes the dossier's go first.
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
    let mut base: Vec<Seen> = outcome::analyze(folder)?
        .into_iter()
        .map(|run| Seen {
            situation: situation(&run, None),
            run,
        })
        .collect();
    let clocks = [Clock::Lab, Clock::Simulated].map(|clock| (clock, first_plans(loaded, options, clock)));
    let capacities = clocks
        .each_ref()
        .map(|(clock, plans)| capacities(&base, *clock, plans));
    let capacity = |variant: &str, clock: Clock| {
        let own = clocks.iter().position(|(other, _)| *other == clock)?;
        capacities[own].get(variant).copied()
    };
    for seen in &mut base {
        let record = &seen.run.record;
        let clock = [Clock::Lab, Clock::Simulated]
            .into_iter()
            .find(|clock| record.origin == (*clock).into());
        if let Some(lent) = clock.and_then(|clock| capacity(&record.variant, clock)) {
            seen.lend(lent);
        }
    }
    let mut cases: Vec<Case> = Vec::new();
    for variant in loaded
        .experiment
        .variants
        .iter()
        .filter(|variant| is_chosen(variant, options))
    {
        // A proof in real time says more than one in the model.
        let own = clocks.iter().find_map(|(clock, plans)| {
            let own: Vec<&Seen> = base
                .iter()
                .filter(|seen| seen.run.record.variant == variant.name && is_base(&seen.run, *clock))
                .collect();
            (!own.is_empty()).then_some((*clock, plans, own))
        });
        let Some((clock, plans, own)) = own else {
            continue;
        };
        let alike = same_network(plans, &variant.name);
        let (evidence, others) = evidence(&base, clock, &alike);
        let wishes = loaded
            .dossier
            .proofs
            .iter()
            .filter(|wish| wish.variant == variant.name);
        let settings = Proving {
            repeats: u32::try_from(own.len())
                .unwrap_or(u32::MAX)
                .min(most_repeats(clock)),
            changes: wishes.map(|wish| wish.change.clone()).collect(),
            after: after(&base, clock, plans, &variant.name),
            others,
            ..Proving::default()
        };
        let mut investigation = Investigation::new(&variant.name, evidence, settings);
        let lasts_s = plans
            .iter()
            .find(|plan| plan.variant == variant.name)
            .and_then(lasts_s);
        for seen in own {
            let situation = seen.situation.clone();
            investigation.observe_base(&seen.run.record, situation.map(|s| Situation { lasts_s, ..s }));
        }
        cases.push(Case {
            clock,
            investigation,
            conclusion: None,
            lines: Vec::new(),
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
                Step::Run(wanted) => match planned(loaded, options, case.clock, &wanted)? {
                    Some(planned) => {
                        if let Some(change) = &wanted.change {
                            let lines = configuration(change, &planned.plan);
                            case.lines.extend(lines.map(|lines| (change.clone(), lines)));
                        }
                        round.push((index, planned));
                    }
                    // The next round asks for the next change.
                    None => case.investigation.cannot_change(),
                },
            }
        }
        let runs: Vec<Planned> = round.iter().map(|(_, planned)| planned.clone()).collect();
        if runs.is_empty() {
            continue;
        }
        run::execute(&loaded.name, runs, options, folder, cancel, observe)?;
        for (index, planned) in round {
            let Some(record) = folder.record(&planned.name)? else {
                cases[index].investigation.cannot_change();
                continue;
            };
            let run = outcome::analyze_run(folder, planned.name, record);
            let lent = capacity(&run.record.variant, cases[index].clock);
            let situation = situation(&run, lent);
            cases[index].investigation.observe(&run.record, situation);
        }
    }
    let mut proofs = kept(folder);
    // What was proven of other variants stays.
    let tested = |name: &str| {
        loaded
            .experiment
            .variant(name)
            .is_some_and(|variant| is_chosen(variant, options))
    };
    proofs.retain(|proof| !tested(&proof.variant));
    for case in &cases {
        let mut own = case.conclusion.as_ref().map_or_else(Vec::new, Proof::of);
        for proof in &mut own {
            let lines = case
                .lines
                .iter()
                .find(|(change, _)| Some(change) == proof.intervention.as_ref());
            proof.configuration = lines.map(|(_, lines)| lines.clone());
        }
        proofs.extend(own);
    }
    let place = |proof: &Proof| {
        loaded
            .experiment
            .variants
            .iter()
            .position(|variant| variant.name == proof.variant)
    };
    proofs.sort_by_key(place);
    let text = serde_json::to_vec_pretty(&proofs).expect("proofs can always be written as JSON");
    folder.write(PROOFS, &text)?;
    Ok(proofs)
}

/// The proofs kept in a folder; none if there are none.
pub fn kept(folder: &Folder) -> Vec<Proof> {
    let text = std::fs::read(folder.root().join(PROOFS)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// A change in the language of the host on which `plan` makes it; of a router, where it is one of marks.
fn configuration(change: &Intervention, plan: &Plan) -> Option<ConfigurationText> {
    let host = match change {
        Intervention::SetWindow { .. } | Intervention::SetReader { .. } => plan.name_of(&Who::Receiver),
        _ => plan.name_of(&Who::Sender),
    };
    let system = plan.hosts.iter().find(|own| own.name == host)?.system;
    let language = match (change, system) {
        (Intervention::SetIpQos { .. }, _) => Language::Ssh,
        (Intervention::Remark { .. }, _) => Language::Rtx,
        (_, System::Linux) => Language::Sysctl,
        (_, System::CiscoIosXe | System::CiscoIos) => Language::Ios,
        (_, System::WindowsIperf3) => return None,
    };
    let lines = slowpath_vendor::remedy(language, change, slowpath_vendor::remedy::Place::default())?;
    Some(ConfigurationText {
        system: language.name().to_owned(),
        text: lines.text(),
    })
}

/// Whether a variant was asked for: every one, if none was named.
fn is_chosen(variant: &Variant, options: &RunOptions) -> bool {
    options.variants.is_empty() || options.variants.contains(&variant.name)
}

struct Case {
    clock: Clock,
    investigation: Investigation,
    conclusion: Option<Conclusion>,
    /// The changes that were made, each in the language of the host that it was made on.
    lines: Vec<(Intervention, ConfigurationText)>,
}

/// The first run of each variant that can be planned on a clock.
fn first_plans(loaded: &Loaded, options: &RunOptions, clock: Clock) -> Vec<Plan> {
    let plan = |variant: &Variant| {
        let wanted = PlanOptions {
            quick: options.quick,
            ..PlanOptions::first(&variant.name, options.seed, clock)
        };
        loaded.experiment.plan(&wanted, &loaded.fragments).ok()
    };
    loaded.experiment.variants.iter().filter_map(plan).collect()
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

/// A change in a few letters, for file names: what is changed, and to what.
fn word(change: &Intervention) -> String {
    let on_off = |on: &bool| if *on { "on" } else { "off" }.to_owned();
    let (what, value) = match change {
        Intervention::SetWindow { window, .. } => ("window", window.bytes().to_string()),
        Intervention::SetSendBuffer { buffer, .. } => ("send-buffer", buffer.bytes().to_string()),
        Intervention::SetReader { rate, .. } => ("reader", rate.map_or("free".to_owned(), |r| r.to_string())),
        Intervention::SetWriter { rate, .. } => ("writer", rate.map_or("free".to_owned(), |r| r.to_string())),
        Intervention::SetLoss { chance, .. } => ("loss", chance.to_string()),
        Intervention::RemovePolicer { .. } => ("policer", "none".to_owned()),
        Intervention::SetStreams { count } => ("streams", count.to_string()),
        Intervention::SetCongestionControl { name, .. } => ("control", name.clone()),
        Intervention::SetRate { rate, .. } => ("rate", rate.to_string()),
        Intervention::ScaleRate { percent, .. } => ("bottleneck", format!("{percent} percent")),
        Intervention::SetIpQos { bulk, .. } => {
            ("ipqos", bulk.map_or("none".to_owned(), |mark| mark.to_string()))
        }
        Intervention::Remark { dscp, .. } => ("remarked", dscp.to_string()),
        Intervention::SetSack { on, .. } => ("sack", on_off(on)),
        Intervention::SetEcn { on, .. } => ("ecn", on_off(on)),
        Intervention::SetInitialWindow { segments, .. } => ("initial-window", segments.to_string()),
        Intervention::SetPacing { rate, .. } => ("pacing", rate.to_string()),
        Intervention::SetDscp { dscp, .. } => ("dscp", dscp.to_string()),
        Intervention::SetMss { mss, .. } => ("mss", mss.to_string()),
        Intervention::SetPartSize { size } => ("part-size", size.to_string()),
        Intervention::ResizeQueue { queue, .. } => ("queue", queue.to_string()),
        Intervention::LiftDeviceLimit { .. } => ("device", "free".to_owned()),
        Intervention::SetDelay { delay, .. } => ("delay", delay.to_string()),
    };
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    format!("{what}-{}", value.chars().map(plain).collect::<String>())
}

/// Files of proofs begin with this.
const PREFIX: &str = "proof-";

/// Changed runs of one variant, at most: real time is dear.
const fn most_repeats(clock: Clock) -> u32 {
    match clock {
        Clock::Simulated => 10,
        Clock::Lab => 3,
    }
}

//! The proof loop: predict what one change makes of a variant, make the change, run it, compare.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use slowpath_diagnose::investigation::{Conclusion, Experiment as Wanted, Settings as Proving, Step};
use slowpath_diagnose::{Investigation, PathEvidence, Situation, change};
use slowpath_record::{FlowResult, Origin, RunKind};
use slowpath_report::explain::ConfigurationText;
use slowpath_report::results::Proof;
use slowpath_scenario::workload::Workload;
use slowpath_scenario::{Clock, Intervention, Plan, PlanOptions, System, Variant, Who};
use slowpath_vendor::Language;

use crate::analyzed::Analyzed;
use crate::counted;
use crate::folder::Folder;
use crate::load::Loaded;
use crate::outcome;
use crate::run::{self, Event, Planned, RunError, RunOptions};

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
        let lent = clock.and_then(|clock| capacity(&record.variant, clock));
        if lent.is_some() {
            seen.situation = situation(&seen.run, lent);
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
        let evidence = evidence(&base, clock, &same_network(plans, &variant.name));
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

/// How long the measured job lasts, whatever it moves, seconds.
fn lasts_s(plan: &Plan) -> Option<f64> {
    match &plan.main_job().workload {
        Workload::Iperf3(test) if test.size.is_none() => test.duration.map(slowpath_units::Duration::seconds),
        _ => None,
    }
}

/// What a run has shown of its transfer, by its captures or by the path's own counters; `capacity` as others over the same
/// links have shown it, byte/s.
fn situation(run: &Analyzed, capacity: Option<f64>) -> Option<Situation> {
    if let Some(analysis) = &run.analysis {
        let transfers = &run.record.transfers;
        let begin = transfers.iter().map(|transfer| transfer.start).min();
        let end = transfers.iter().map(|transfer| transfer.end).max();
        let job_s = begin
            .zip(end)
            .map_or(0.0, |(begin, end)| end.since(begin).seconds());
        let situation = Situation::of_job(&analysis.connections, job_s)?;
        return Some(match &analysis.job {
            Some(job) => situation.judged(job.verdict.limit, &job.ledger, capacity),
            None => situation,
        });
    }
    let verdict = counted::of(&run.record)?;
    let sum = |value: fn(&FlowResult) -> f64| run.record.flows.iter().map(value).sum::<f64>();
    let (sent, received) = (
        sum(|flow| flow.sent_packets as f64),
        sum(|flow| flow.received_packets as f64),
    );
    let arrived = if sent > 0.0 { received / sent } else { 1.0 };
    let elsewhere = (1.0 - arrived) * (1.0 - verdict.share);
    Some(Situation::of_flows(
        verdict.limit,
        arrived,
        elsewhere,
        sum(|flow| flow.goodput_byte_per_s),
    ))
}

/// Whether a variant was asked for: every one, if none was named.
fn is_chosen(variant: &Variant, options: &RunOptions) -> bool {
    options.variants.is_empty() || options.variants.contains(&variant.name)
}

/// A run with what it has shown of its transfer, read once.
struct Seen {
    run: Analyzed,
    situation: Option<Situation>,
}

struct Case {
    clock: Clock,
    investigation: Investigation,
    conclusion: Option<Conclusion>,
    /// The changes that were made, each in the language of the host that it was made on.
    lines: Vec<(Intervention, ConfigurationText)>,
}

/// Whether this is a run of the experiment itself, on that clock.
fn is_base(run: &Analyzed, clock: Clock) -> bool {
    run.record.kind == RunKind::Plain && run.record.origin == clock.into()
}

/// What all transfers over the same network have shown of it on one clock; `variants` are those of them.
///
/// A policer is no part of it: it may hold one mark and not another.
fn evidence(base: &[Seen], clock: Clock, variants: &[String]) -> PathEvidence {
    let own = base
        .iter()
        .filter(|seen| is_base(&seen.run, clock) && variants.contains(&seen.run.record.variant));
    PathEvidence {
        policer: None,
        ..PathEvidence::of(own.filter_map(|seen| seen.situation.as_ref()))
    }
}

/// What the links of each variant carry, byte/s, as transfers over the same links show that filled them; of variants for which
/// any does.
fn capacities(base: &[Seen], clock: Clock, plans: &[Plan]) -> BTreeMap<String, f64> {
    let told = base.iter().filter_map(|seen| {
        let situation = seen.situation.as_ref().filter(|s| s.fills_the_link())?;
        let ledger = seen.run.analysis.as_ref()?.ledger()?;
        let floor_s = ledger.floor_s.filter(|floor_s| *floor_s > 0.0)?;
        is_base(&seen.run, clock).then(|| (seen.run.record.variant.as_str(), situation.bytes / floor_s))
    });
    let known: Vec<(&str, f64)> = told.collect();
    plans
        .iter()
        .filter_map(|plan| {
            let alike = |name: &str| {
                let other = plans.iter().find(|other| other.variant == name);
                other.is_some_and(|other| other.has_links_of(plan))
            };
            let rates = known
                .iter()
                .filter(|(name, _)| alike(name))
                .map(|(_, rate)| *rate);
            Some((plan.variant.clone(), rates.reduce(f64::max)?))
        })
        .collect()
}

/// What others have made of the same links, for changes that leave nothing but these.
fn after(base: &[Seen], clock: Clock, plans: &[Plan], name: &str) -> Vec<(Intervention, PathEvidence)> {
    let Some(own) = plans.iter().find(|plan| plan.variant == name) else {
        return Vec::new();
    };
    let others: Vec<&str> = plans
        .iter()
        .filter(|other| other.variant != name && other.has_links_and_delays_of(own))
        .map(|other| other.variant.as_str())
        .collect();
    let filled = base
        .iter()
        .filter(|seen| is_base(&seen.run, clock) && others.contains(&seen.run.record.variant.as_str()))
        .filter_map(|seen| seen.situation.as_ref())
        .filter(|situation| situation.fills_the_link());
    let evidence = PathEvidence::of(filled);
    if evidence.bottleneck.is_none() {
        return Vec::new();
    }
    [change::no_loss(), change::no_policer()]
        .into_iter()
        .filter(|change| change.apply(own).is_ok())
        .map(|change| (change, evidence))
        .collect()
}

/// The variants whose network is that of the variant `name`, or another in nothing but marks, between hosts of the same systems
/// (what a host cannot take looks like a link); itself among them. Whether they are equal is all that is asked of them.
fn same_network(plans: &[Plan], name: &str) -> Vec<String> {
    let Some(own) = plans.iter().find(|plan| plan.variant == name) else {
        return Vec::new();
    };
    plans
        .iter()
        .filter(|other| is_alike(other, own))
        .map(|plan| plan.variant.clone())
        .collect()
}

/// Whether two networks are equal, or differ in nothing but marks, between hosts of the same systems.
fn is_alike(one: &Plan, other: &Plan) -> bool {
    let systems = |plan: &Plan| plan.hosts.iter().map(|host| host.system).collect::<Vec<_>>();
    let same = one.network == other.network && systems(one) == systems(other);
    same || other.marks_apart(one).is_some()
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

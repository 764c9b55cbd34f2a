//! What runs have shown of their transfers and of the links below them, as evidence for what a change would give.

use std::collections::BTreeMap;

use slowpath_diagnose::{PathEvidence, Situation, change};
use slowpath_record::{FlowResult, RunKind};
use slowpath_scenario::workload::Workload;
use slowpath_scenario::{Clock, Intervention, Plan};

use crate::analyzed::Analyzed;
use crate::counted;

/// A run with what it has shown of its transfer, read once.
pub(super) struct Seen {
    pub(super) run: Analyzed,
    pub(super) situation: Option<Situation>,
}

impl Seen {
    /// Takes what the links carry, byte/s, from others that went over the same ones, for a job that does not show it itself.
    pub(super) fn lend(&mut self, capacity: f64) {
        let job = self
            .run
            .analysis
            .as_ref()
            .and_then(|analysis| analysis.job.as_ref());
        if let Some(job) = job
            && let Some(situation) = self.situation.take()
        {
            self.situation = Some(situation.judged(job.verdict.limit, &job.ledger, Some(capacity)));
        }
    }
}

/// What a run has shown of its transfer, by its captures or by the path's own counters; `capacity` as others over the same
/// links have shown it, byte/s.
pub(super) fn situation(run: &Analyzed, capacity: Option<f64>) -> Option<Situation> {
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

/// How long the measured job lasts, whatever it moves, seconds.
pub(super) fn lasts_s(plan: &Plan) -> Option<f64> {
    match &plan.main_job().workload {
        Workload::Iperf3(test) if test.size.is_none() => test.duration.map(slowpath_units::Duration::seconds),
        _ => None,
    }
}

/// Whether this is a run of the experiment itself, on that clock.
pub(super) fn is_base(run: &Analyzed, clock: Clock) -> bool {
    run.record.kind == RunKind::Plain && run.record.origin == clock.into()
}

/// What all transfers over the same network have shown of it on one clock, and those transfers with the names of their
/// variants; `variants` are those of them.
///
/// A policer is no part of it: it may hold one mark and not another.
pub(super) fn evidence(
    base: &[Seen],
    clock: Clock,
    variants: &[String],
) -> (PathEvidence, Vec<(String, Situation)>) {
    let shown: Vec<(String, Situation)> = base
        .iter()
        .filter(|seen| is_base(&seen.run, clock) && variants.contains(&seen.run.record.variant))
        .filter_map(|seen| Some((seen.run.record.variant.clone(), seen.situation.clone()?)))
        .collect();
    let evidence = PathEvidence {
        policer: None,
        ..PathEvidence::of(shown.iter().map(|(_, situation)| situation))
    };
    (evidence, shown)
}

/// What the links of each variant carry, byte/s, as transfers over the same links show that filled them; of variants for which
/// any does.
pub(super) fn capacities(base: &[Seen], clock: Clock, plans: &[Plan]) -> BTreeMap<String, f64> {
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
pub(super) fn after(
    base: &[Seen],
    clock: Clock,
    plans: &[Plan],
    name: &str,
) -> Vec<(Intervention, PathEvidence)> {
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
pub(super) fn same_network(plans: &[Plan], name: &str) -> Vec<String> {
    let Some(own) = plans.iter().find(|plan| plan.variant == name) else {
        return Vec::new();
    };
    plans
        .iter()
        .filter(|other| other.has_network_of(own) || own.marks_apart(other).is_some())
        .map(|plan| plan.variant.clone())
        .collect()
}

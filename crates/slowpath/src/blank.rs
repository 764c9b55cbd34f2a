//! The record of a run before anything was measured.

use slowpath_record::{Health, Origin, RunRecord};
use slowpath_scenario::Plan;

/// A record that says which run of which plan it is, and nothing else yet.
pub(crate) fn record(origin: Origin, experiment: &str, plan: &Plan, health: Health) -> RunRecord {
    RunRecord {
        schema: slowpath_record::run::SCHEMA.to_owned(),
        origin,
        experiment: experiment.to_owned(),
        variant: plan.variant.clone(),
        repeat: plan.repeat,
        seed: plan.seed,
        plan_digest: plan.digest(),
        environment: None,
        health,
        captures: Vec::new(),
        series: Vec::new(),
        curves: Vec::new(),
        transfers: Vec::new(),
        flows: Vec::new(),
        elements: Vec::new(),
        marks: Vec::new(),
        loads: Vec::new(),
        notes: Vec::new(),
    }
}

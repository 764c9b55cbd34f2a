//! From the runs of units to points.

use slowpath_diagnose::stats::Summary;

use super::design::Units;
use super::found::{Point, Run, SCHEMA, Swept};
use super::kept::Kept;

/// The runs of all units as points.
pub(super) fn swept(units: &Units, runs: &[Vec<Kept>]) -> Swept {
    let points = (runs.iter().enumerate())
        .map(|(unit, kept)| {
            let runs: Vec<Run> = kept.iter().map(|kept| kept.run.clone()).collect();
            let complete = runs.iter().filter(|run| run.complete);
            let rates: Vec<f64> = complete.map(|run| run.goodput_byte_per_s).collect();
            Point {
                values: units.values(unit),
                variant: units.variant(unit).to_owned(),
                goodput_byte_per_s: Summary::of_rates(&rates),
                limit: most(&runs),
                runs,
            }
        })
        .collect();
    Swept {
        schema: SCHEMA.to_owned(),
        model: units.design.model,
        experiment: units.design.experiment.clone(),
        seed: units.design.seed,
        keys: units.keys.clone(),
        rate_unit: units.rate_unit,
        points,
    }
}

/// The limit of most runs; of several as frequent ones the first.
fn most(runs: &[Run]) -> Option<String> {
    let count = |limit: &str| {
        runs.iter()
            .filter(|run| run.limit.as_deref() == Some(limit))
            .count()
    };
    let mut best: Option<(&str, usize)> = None;
    for limit in runs.iter().filter_map(|run| run.limit.as_deref()) {
        let found = count(limit);
        if best.is_none_or(|(_, most)| found > most) {
            best = Some((limit, found));
        }
    }
    best.map(|(limit, _)| limit.to_owned())
}

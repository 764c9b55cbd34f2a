//! How often simulated runs are repeated: until the comparisons that the experiment wishes for are decided, with a cap.
//!
//! A simulated run costs about what it moves, so that is what the cap counts: the number of repeats is then the same on any
//! machine.

use slowpath_diagnose::stats::{Comparison, Outcome};
use slowpath_record::{HealthState, Origin, RunKind, RunRecord};
use slowpath_report::results::RunResult;
use slowpath_scenario::{Clock, PlanOptions};

use crate::folder::{Folder, FolderError};
use crate::load::Loaded;
use crate::outcome;

/// The simulated runs of one variant so far.
struct Side {
    rates: Vec<f64>,
    /// Number of the next repeat.
    next: u32,
    /// What one run moves, bytes.
    bytes: u64,
    /// Several flows of packets, which are counted: their shares of losses are what is compared.
    counted: bool,
}

impl Side {
    fn of(loaded: &Loaded, records: &[(String, RunRecord)], variant: &str, seed: u64) -> Option<Self> {
        let own: Vec<&RunRecord> = records
            .iter()
            .map(|(_, record)| record)
            .filter(|record| record.kind == RunKind::Plain && record.origin == Origin::Simulated)
            .filter(|record| record.variant == variant)
            .collect();
        let options = PlanOptions::first(variant, seed, Clock::Simulated);
        let plan = loaded.experiment.plan(&options, &loaded.fragments).ok();
        let results: Vec<RunResult> = own
            .iter()
            .map(|record| RunResult::of(&outcome::measured(record, plan.as_ref()), None))
            .collect();
        Some(Self {
            rates: results
                .iter()
                .filter(|run| run.complete && run.health.state != HealthState::Invalid)
                .map(|run| run.goodput_byte_per_s)
                .collect(),
            next: own.iter().map(|record| record.repeat + 1).max()?,
            bytes: results.iter().map(|run| run.bytes).max()?,
            counted: own
                .iter()
                .all(|record| record.transfers.is_empty() && record.flows.len() > 1),
        })
    }

    /// Whether another run is within the cap.
    fn may_go_on(&self) -> bool {
        // A run that never came to its end will not do so the next time.
        self.rates.len() as u64 == u64::from(self.next)
            && self.next < MOST
            && (self.next < LEAST || self.bytes.saturating_mul(u64::from(self.next)) < ENOUGH)
    }
}

/// The variants of which one more simulated run is wanted, each with the number of its repeat: those of comparisons that
/// the runs so far do not decide.
///
/// # Errors
/// [`FolderError`] if a record cannot be read.
pub(crate) fn wanted(
    loaded: &Loaded,
    chosen: &[String],
    seed: u64,
    folder: &Folder,
) -> Result<Vec<(String, u32)>, FolderError> {
    let records = match folder.records() {
        Ok(records) => records,
        Err(FolderError::Empty { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    let mut out: Vec<(String, u32)> = Vec::new();
    for wish in &loaded.dossier.comparisons {
        if !is_chosen(&wish.a) || !is_chosen(&wish.b) {
            continue;
        }
        let side = |name: &str| Side::of(loaded, &records, name, seed);
        let (Some(a), Some(b)) = (side(&wish.a), side(&wish.b)) else {
            continue;
        };
        if a.counted && b.counted {
            continue;
        }
        let decided = Comparison::of_rates(&a.rates, &b.rates)
            .is_none_or(|found| matches!(found.outcome, Outcome::Higher | Outcome::Lower));
        if decided {
            continue;
        }
        for (name, side) in [(&wish.a, &a), (&wish.b, &b)] {
            let new = (name.clone(), side.next);
            if side.may_go_on() && !out.contains(&new) {
                out.push(new);
            }
        }
    }
    Ok(out)
}

/// Runs of one variant for a comparison, at least: below that none can be decided.
const LEAST: u32 = 2;
/// Runs of one variant, at most.
const MOST: u32 = 10;
/// Bytes that all runs of one variant may move before another one is too much: a minute or so.
const ENOUGH: u64 = 8_000_000_000;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::run::{self, RunOptions};

    const EXPERIMENT: &str = r#"
        title = "t"
        [network]
        up = [{ rate = "10 Mbit/s" }, { delay = "10 ms" }, { loss = "0.5 %" }]
        down = [{ rate = "10 Mbit/s" }, { delay = "10 ms" }]
        [workload]
        kind = "iperf3"
        size = "300 KiB"
        [[variants]]
        name = "near"
        [[variants]]
        name = "far"
        network.up = [{ rate = "10 Mbit/s" }, { delay = "100 ms" }, { loss = "0.5 %" }]
        [[variants]]
        name = "same"
    "#;
    const DOSSIER: &str =
        "[[comparisons]]\na = \"near\"\nb = \"far\"\n[[comparisons]]\na = \"near\"\nb = \"same\"\n";

    /// Records of each variant after a run with so many repeats asked for.
    fn runs(name: &str, variants: &[&str], repeats: Option<u32>) -> Vec<usize> {
        let place = std::env::temp_dir().join(format!("slowpath-repeat-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("experiment.toml"), EXPERIMENT).unwrap();
        std::fs::write(place.join("dossier.toml"), DOSSIER).unwrap();
        let loaded =
            Loaded::open(&place.display().to_string(), &[]).unwrap_or_else(|error| panic!("{error}"));
        let options = RunOptions {
            clocks: vec![Clock::Simulated],
            variants: variants.iter().map(|name| (*name).to_owned()).collect(),
            repeats,
            decide: true,
            seed: 1,
            quick: false,
            capture: false,
            out: place.join("out"),
            places: 1,
            worker: (PathBuf::new(), Vec::new()),
        };
        let ran = run::run(&loaded, &options, &AtomicBool::new(false), &mut |_| {});
        let folder = ran.unwrap_or_else(|error| panic!("{error}"));
        let records = folder.records().unwrap();
        let open = wanted(&loaded, &options.variants, 1, &folder).unwrap();
        std::fs::remove_dir_all(&place).unwrap();
        assert!(repeats.is_some() || open.is_empty(), "{open:?}");
        ["near", "far", "same"]
            .iter()
            .map(|name| {
                records
                    .iter()
                    .filter(|(_, record)| record.variant == **name)
                    .count()
            })
            .collect()
    }

    #[test]
    fn runs_are_repeated_until_a_comparison_is_decided() {
        // Ten times the round trip shows soon; a variant that nothing is compared with is run once.
        let counts = runs("decided", &["near", "far"], None);
        assert!(counts[0] >= 2 && counts[0] < MOST as usize, "{counts:?}");
        assert_eq!((counts[0], counts[2]), (counts[1], 0), "{counts:?}");
        // What was asked for is kept to.
        assert_eq!(runs("given", &["near", "far"], Some(1)), [1, 1, 0]);
        // What is equal is never decided: the cap ends it.
        let counts = runs("equal", &["near", "same"], None);
        assert_eq!(
            (counts[0], counts[2]),
            (MOST as usize, MOST as usize),
            "{counts:?}"
        );
    }
}

//! The record of a plan's run before anything was measured.

use slowpath_record::{Health, Origin, RunRecord};

use super::Plan;

impl Plan {
    /// A record that says which run of this plan it is, and nothing else yet.
    pub fn record(&self, origin: Origin, experiment: &str, health: Health) -> RunRecord {
        RunRecord {
            variant: self.variant.clone(),
            repeat: self.repeat,
            seed: self.seed,
            plan_digest: self.digest(),
            health,
            ..RunRecord::new(origin, experiment)
        }
    }
}

//! The record of a plan's run before anything was measured.

use std::borrow::Cow;

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
    /// The record with the transfers of the measured job alone; what other jobs moved beside it is not its goodput.
    pub fn measured<'a>(&self, record: &'a RunRecord) -> Cow<'a, RunRecord> {
        let other = |name: &str| self.jobs.iter().skip(1).any(|job| job.moved(name));
        if !record.transfers.iter().any(|transfer| other(&transfer.name)) {
            return Cow::Borrowed(record);
        }
        let mut own = record.clone();
        own.transfers.retain(|transfer| !other(&transfer.name));
        Cow::Owned(own)
    }
}

//! What happens meanwhile.

use slowpath_record::RunRecord;

/// What happens while an experiment runs, for a progress display.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// The plan is made: this many runs, of which so many were finished before.
    Planned {
        /// All runs.
        total: usize,
        /// Found in the results folder, with the same plan.
        resumed: usize,
    },
    /// A run started.
    Started {
        /// Its name.
        name: &'a str,
    },
    /// A run got on.
    Progress {
        /// Its name.
        name: &'a str,
        /// Bytes so far.
        bytes: u64,
        /// Bytes in all.
        of: u64,
    },
    /// A run is finished and written.
    Finished {
        /// Its name.
        name: &'a str,
        /// What it left.
        record: &'a RunRecord,
    },
    /// The machine disturbed a run so much that its figures say nothing; it is done again, alone.
    Again {
        /// Its name.
        name: &'a str,
        /// What it left.
        record: &'a RunRecord,
    },
    /// A run failed; the others go on.
    Failed {
        /// Its name.
        name: &'a str,
        /// Why.
        error: &'a str,
    },
}

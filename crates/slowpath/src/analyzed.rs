//! A run with what its packets say.

use slowpath_record::RunRecord;
use slowpath_verdict::{Analysis, Judged};

/// A run with what its packets say, however it came about.
#[derive(Debug, Clone)]
pub struct Analyzed {
    /// File name of the record, without ending.
    pub name: String,
    /// The record.
    pub record: RunRecord,
    /// The analysis of the capture beside the data's sender; `None` without captures or for an invalid run.
    pub analysis: Option<Analysis>,
    /// What a run that left no packets was judged to be limited by; `None` where there is an analysis.
    pub judged: Option<Judged>,
    /// Why there is no analysis although there is a capture.
    pub problem: Option<String>,
}

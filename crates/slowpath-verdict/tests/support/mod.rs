//! Reading and judging captures for the tests of this crate.
#![allow(dead_code, unused_imports)] // not every test file uses everything
#![allow(clippy::cast_sign_loss)] // figures of a model
#![allow(clippy::disallowed_methods)] // captures are read from files

#[path = "../../../slowpath-facts/tests/support/mod.rs"]
mod captures;
pub(crate) mod wire;

use std::path::Path;

use slowpath_record::packets::{CaptureSummary, Conversations, Record};
use slowpath_verdict::Analysis;

pub(crate) use captures::{corpus, lab_files, read};

/// Analyses a capture file.
pub(crate) fn analyze(path: &Path) -> Option<Analysis> {
    captures::observe(path).map(Analysis::of)
}

/// Analyses records.
pub(crate) fn analyze_records(
    records: &[Record],
    conversations: &Conversations,
    summary: &CaptureSummary,
) -> Analysis {
    Analysis::of(captures::observe_records(records, conversations, summary))
}

//! What slowpath knows about itself: runs that are repeated as a whole whenever the model or the analyser changes.
//!
//! `cargo run --release -p slowpath-validate --example standing` is the front end, which writes `docs/validation/`.
//!
//! * [`twin`]: the same path in both clocks; [`cells`]: which paths; [`explained`]: why some differ.
//! * [`captures`]: verdicts on labelled captures. [`causes`]: transfers with a known limit; [`bulk`]: their traffic;
//!   [`taps`]: their captures; [`label`]: what they are labelled with.
//! * [`lab_ledger`]: the ledger of captures against what the sending kernel counted.
//! * [`noise`]: the lab on a machine that is disturbed on purpose; [`disturbed_verdicts`]: what its runs are said to be limited by.
//! * [`what_if`]: fitted paths, and what they predict.
//! * [`worker`]: one of these transfers in a process of its own.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod bulk;
pub mod captures;
pub mod causes;
pub mod cells;
pub mod disturbed_verdicts;
pub mod explained;
pub mod lab_ledger;
pub mod label;
pub mod noise;
mod octaves;
pub mod taps;
pub mod twin;
pub mod what_if;
pub mod worker;

/// Whether a run of that name is among those asked for: all are, or those whose name contains one of the parts.
fn is_wanted(name: &str, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|part| name.contains(part.as_str()))
}

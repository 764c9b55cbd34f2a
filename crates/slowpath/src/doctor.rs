//! What this machine permits.

#[cfg_attr(not(target_os = "linux"), path = "doctor/no_lab.rs")]
mod lab;

pub use lab::{examine, examine_lab};
pub use slowpath_record::finding::{Finding, Standing, is_able};

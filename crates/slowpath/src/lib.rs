//! slowpath as a library: runs experiments, imports captures, explains, proves, makes reports.
//!
//! The binary and every other front end are thin layers over this crate; it prints nothing.
//!
//! * [`catalog`]: the built-in experiments; [`listing`]: experiments as a list.
//! * [`load`]: from a name or a path to a checked experiment.
//! * [`run`](mod@run): every variant and repeat of an experiment. Start here.
//! * [`prove`]: predict, change, run again, compare.
//! * [`worker`], [`real_time`], [`simulated`], [`network`], [`captures`], [`folder`]: one run, on either clock
//!   (crate `slowpath-stage`). [`measure`], [`single_ended`], [`told`], [`why`]: live paths (crate `slowpath-live`).
//! * [`settings`]: how a results folder was run; [`identity`]: whether it holds the experiment that is about to run.
//! * [`schedule`]: which runs, in which order, side by side or alone.
//! * [`outcome`]: from records to the document behind the report; [`probes`]: figures measured on a transfer.
//! * [`attended`]: what an unattended watch keeps; [`beside`]: the packets beside a watch, judged.
//! * [`import`]: existing captures, from a file to a record with its analysis; [`analyzed`]: any run with what its
//!   packets say; [`keep`]: folders of runs that no experiment planned.
//! * [`many`]: many captures in one table; files that are one recording.
//! * [`anonymize`]: answers, records and captures that may leave the house.
//! * [`follow`]: captures that are still being written.
//! * [`fates`]: what became of packets inside the network of a run of ours; [`reading`]: how far a file is read.
//! * [`report`]: results and report of a folder, made from its records.
//! * [`interrupt`]: Ctrl-C as a flag.
//! * [`shell`]: any program over an emulated path; [`explain`]: what a capture says, with what would help.
//! * [`fit`]: the path behind a capture, and what a change would give on it.
//! * [`sliders`]: what a page offers beside a fitted transfer.
//! * [`reproduce`]: the transfer of a capture once more, on the path that was fitted to it.
//! * [`devices`]: what configurations mean.
//! * [`doctor`]: what this machine permits; [`system`]: what needs Linux.
//! * [`sweep`]: ranges of settings in simulated time; [`processors`]: work on all of them.
//! * [`dossier`]: what a reader needs beside the figures.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

/// Version of the model: it goes up whenever equal plans and seeds give other simulated results. `tests/model.rs` says when.
pub const MODEL: u32 = 3;

pub mod analyzed;
pub mod anonymize;
#[cfg(target_os = "linux")]
pub mod attended;
#[cfg(target_os = "linux")]
pub mod beside;
pub mod catalog;
mod counted;
mod counts;
pub mod devices;
mod disturbed;
pub mod doctor;
pub mod dossier;
mod echoed;
pub mod explain;
pub mod fates;
pub mod fit;
pub mod follow;
pub mod identity;
pub mod import;
pub mod interrupt;
pub mod keep;
pub mod listing;
pub mod load;
pub mod many;
pub mod outcome;
mod piped;
pub mod probes;
pub mod processors;
pub mod prove;
pub mod ranges;
pub mod reading;
mod repeat;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod schedule;
pub mod settings;
#[cfg(target_os = "linux")]
pub mod shell;
pub mod sliders;
mod slow_end;
#[cfg(target_os = "linux")]
mod spare;
pub mod sweep;
pub mod system;
mod treatment;

#[cfg(target_os = "linux")]
pub use slowpath_lab::LabReport;
#[cfg(target_os = "linux")]
pub use slowpath_live::{measure, single_ended, why};
pub use slowpath_packet::mark::{Dscp, InvalidDscp};
pub use slowpath_record::{HealthState, RunRecord};
pub use slowpath_report::quantity;
pub use slowpath_report::results::ProofOutcome;
pub use slowpath_report::text::{Hidden, Tone, Warning, columns, kept as wrap_as_it_is, right, wrap};
pub use slowpath_report::{Results, Style, json, told};
pub use slowpath_scenario::diagnostic::suggestion;
pub use slowpath_scenario::schema;
pub use slowpath_scenario::{Clock, Diagnostics, Variant};
pub use slowpath_stage::{captures, effect, folder, input, network, simulated};
#[cfg(target_os = "linux")]
pub use slowpath_stage::{real_time, worker};
pub use slowpath_units::{BitRate, ByteCount, Duration, ParseError, Ratio};
pub use slowpath_words as words;
#[cfg(target_os = "linux")]
pub use slowpath_workload::{Cancel, SocketOptions};

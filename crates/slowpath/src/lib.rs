//! slowpath as a library: runs experiments, joins lab and workloads, imports captures, makes reports.
//!
//! The binary and every other front end are thin layers over this crate; it prints nothing.
//!
//! * [`folder`]: the results folder, written after every run.
//! * [`schedule`]: which runs, in which order, side by side or alone.

#![forbid(unsafe_code)]

pub mod folder;
pub mod schedule;

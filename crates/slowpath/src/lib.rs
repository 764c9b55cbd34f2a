//! slowpath as a library: runs experiments, joins lab and workloads, imports captures, makes reports.
//!
//! The binary and every other front end are thin layers over this crate; it prints nothing.
//!
//! * [`catalog`]: the built-in experiments.
//! * [`load`]: from a name or a path to a checked experiment.
//! * [`run`](mod@run): every variant and repeat of an experiment. Start here.
//! * [`worker`]: one lab run in a process of its own.
//! * [`schedule`]: which runs, in which order, side by side or alone.
//! * [`folder`]: the results folder, written after every run.
//! * [`import`]: existing captures, from a file to an analysis.
//! * [`dossier`]: what a reader needs beside the figures.

#![forbid(unsafe_code)]

pub mod catalog;
pub mod devices;
pub mod dossier;
pub mod folder;
pub mod import;
pub mod load;
pub mod run;
pub mod schedule;
pub mod simulated;
pub mod worker;

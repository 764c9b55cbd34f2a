//! The experiment a user writes, its checked form, and the interventions on it.
//!
//! This crate opens no files, reads no clock and no environment, starts no threads and has no `unsafe`:
//! texts come in as strings, and device configurations as settings that somebody else has read.
//!
//! The most important type is [`Plan`]: pure data, integers only, every name resolved and every seed
//! fixed. It is made in two stages: [`Experiment::read`] checks what the user wrote and reports every
//! mistake with its place and the correction; [`Experiment::plan`] resolves one run of one variant.
//!
//! * [`experiment`]: the checked form of an experiment file. Start here.
//! * [`plan`]: one run, ready for a backend.
//! * [`network`]: paths, as files and as one line.
//! * [`host`]: hosts, their systems and everything that can be set on them.
//! * [`workload`]: the jobs.
//! * [`device`]: devices on the path, read from their own configuration by the caller.
//! * [`intervention`]: changes to a run, for hypothesis tests and remedies.
//! * [`sweep`]: ranges of a setting, from the command line.
//! * [`figure`]: published figures to compare with.
//! * [`schema`]: which keys a document may have, for editors and for the reference.
//! * [`diagnostic`], [`span`], [`tree`]: messages, places, and the text as a tree.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod asked;
mod assumption;
pub mod device;
pub mod diagnostic;
pub mod experiment;
mod fields;
pub mod figure;
pub mod host;
pub mod intervention;
pub mod network;
pub mod plan;
pub mod schema;
pub mod span;
pub mod sweep;
pub mod tree;
pub mod workload;

pub use assumption::Assumption;
pub use device::{DeviceElements, DevicePart, DeviceUse, Fragments};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use experiment::{Captures, Experiment, Variant};
pub use host::{HostSettings, KernelStack, Standing, System};
pub use intervention::{ApplyError, Backend, Intervention, Place, Who};
pub use network::parse_path;
pub use plan::{Clock, HostPlan, Plan, PlanOptions, Stack};
pub use sweep::Sweep;
pub use workload::Workload;

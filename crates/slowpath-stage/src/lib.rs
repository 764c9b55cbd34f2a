//! Carries one planned run out, on either clock, to its record and its captures.
//!
//! This is where lab and workloads meet: neither knows the other. What runs, in which order and what its records come
//! to, is the façade's; here is one run.
//!
//! * [`real_time`]: a plan in the lab. [`simulated`]: the same in simulated time. Start with these.
//! * [`worker`]: one lab run in a process of its own. [`effect`]: what the machine did to a lab run's figures, by
//!   replaying its disturbances.
//! * [`network`]: what backends add to a path; [`captures`]: files of a run; `marks`: marks counted on the way.
//! * [`folder`]: the results folder, written after every run. [`input`]: what is wrong with a file that the user named.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(target_os = "linux")]
mod assignment;
pub mod captures;
pub mod effect;
pub mod folder;
pub mod input;
mod marks;
pub mod network;
#[cfg(target_os = "linux")]
pub mod real_time;
pub mod simulated;
#[cfg(target_os = "linux")]
pub mod worker;

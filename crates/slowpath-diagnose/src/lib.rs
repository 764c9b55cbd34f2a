//! From what was measured to what a change would gain, and the loop that proves it.
//!
//! This crate performs nothing: no clock, sockets, files, threads or environment. It says which run it
//! wants next and is told what came of it, so the whole loop is testable with canned records. It reads
//! captures' facts and never the network part of a scenario.
//!
//! * [`investigation`]: [`Investigation`], the loop: hypothesis, change, prediction, re-run, outcome. Start here.
//! * [`gain`]: what a change would gain and which limit takes over next.
//! * [`situation`]: what is known about a transfer and its path.
//! * [`change`]: the interventions that a capture can suggest, in terms of roles.
//! * [`catalogue`]: every sentence about a change and its gain.
//! * [`response`]: the closed forms behind predictions.
//! * [`stats`]: means with confidence intervals, comparison of two groups of runs; [`alternation`]: of blocks in turns on one transfer.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod alternation;
pub mod catalogue;
pub mod change;
pub mod gain;
pub mod investigation;
pub mod response;
pub mod situation;
pub mod stats;

pub use gain::Prediction;
pub use investigation::{Investigation, Step};
pub use situation::{OPENSSH_WINDOW, PathEvidence, Situation};

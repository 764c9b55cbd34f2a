//! From what was measured to what a change would gain, and the loop that proves it.
//!
//! This crate performs nothing: no clock, sockets, files, threads or environment. It says which run it
//! wants next and is told what came of it, so the whole loop is testable with canned records.
//!
//! * [`stats`]: means with confidence intervals, comparison of two groups of runs. Start here.

#![forbid(unsafe_code)]

pub mod stats;

//! Device configurations read into settings with provenance, and interventions written as device commands.
//!
//! This crate opens no files, asks no device, reads no clock and has no `unsafe`: texts come in as bytes.
//! No line is ever lost and none is fatal: each ends in one of five states, counted in
//! [`Reading::counts`].
//!
//! The most important type is [`Reading`]: every line with its state and its meaning for throughput, the
//! [`Finding`]s that a reader of the configuration should know, and the settings it amounts to.
//!
//! * [`reading`]: readings, line states, counts; [`read`]. Start here.
//! * [`finding`]: the traps, each with a next step.
//! * [`text`]: bytes to text (UTF-8, Shift JIS), words, numbers.
//! * [`cisco`]: IOS and IOS-XE.
//! * [`rtx`]: Yamaha RTX.
//! * [`ssh`]: OpenSSH client and server.
//! * [`sysctl`], [`tc`]: Linux.
//! * [`device`]: what a configured router does on a path, as elements of the network model.
//! * [`remedy`]: interventions, and ways out of traps, in the device's own language.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(
    clippy::match_same_arms,
    clippy::single_match_else,
    reason = "tables of commands keep the manual's order: one arm per command, even where two mean the same"
)]

pub mod cisco;
pub mod device;
pub mod finding;
mod notes;
pub mod reading;
pub mod remedy;
pub mod rtx;
pub mod ssh;
pub mod sysctl;
pub mod tc;
pub mod text;

pub use finding::{Finding, Trap};
pub use reading::{Counts, Language, Line, LineState, Reading, guess, read, read_for};
pub use remedy::{Remedy, remedies, remedies_of, remedy, remedy_of};

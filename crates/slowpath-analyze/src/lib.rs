//! Packets of TCP transfers in, facts out, and from facts alone what limited each transfer.
//!
//! This crate opens no files, reads no clock, draws no random numbers and cannot see the scenario of a run: file
//! names and labels never reach it. It names no change to make; that is for a crate that can test one.
//!
//! The most important types are [`Analyzer`], which takes packets, and [`Analysis`], what they say, in the form in
//! which it is written as JSON.
//!
//! * [`analyzer`]: [`Analyzer`]. Start here.
//! * [`analysis`]: [`Analysis`] and its parts.
//! * [`limit`]: the vocabulary of limits, flags and reasons.
//! * [`verdict`]: what limited a connection, with evidence and rejected alternatives.
//! * [`ledger`]: where the time went.
//! * [`taps`]: two captures of one connection; [`compare`](mod@compare): what transfers that differ prove together.
//! * [`facts`]: what a connection did, without judgement.
//! * [`wireshark`]: what Wireshark says of the same segments, and why not.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::cast_sign_loss)] // statistics that cannot be negative, or that were clamped before

pub mod analysis;
pub mod analyzer;
pub mod compare;
pub mod facts;
mod judge;
pub mod ledger;
pub mod limit;
pub mod taps;
mod track;
pub mod verdict;
pub mod wireshark;

pub use analysis::{Analysis, Connection, Quality, Side, Tap};
pub use analyzer::Analyzer;
pub use ledger::Ledger;
pub use limit::{Flag, Limit, Reason};
pub use verdict::{Evidence, Interval, Parameters, Rejected, Verdict};

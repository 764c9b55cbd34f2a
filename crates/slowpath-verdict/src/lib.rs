//! Facts of TCP transfers in, verdicts out: what limited each, and why that and nothing else.
//!
//! This crate sees no packet, opens no files, reads no clock, draws no random numbers and cannot see the scenario of a
//! run. It names no change to make; that is for a crate that can test one.
//!
//! The most important type is [`Verdict`]; [`Analysis::of`] judges everything in a capture.
//!
//! * [`analysis`]: [`Analysis`], facts and verdicts of a capture as they are written as JSON. Start here.
//! * [`limit`]: the vocabulary of limits, flags and reasons.
//! * [`verdict`]: what limited a connection, with evidence and rejected alternatives.
//! * [`ledger`]: where the time went; [`span`]: what a limit's rule says of a part of it.
//! * [`job`]: what limited several connections of one job.
//! * [`catalogue`]: every sentence, made with [`message`] from a key and typed arguments.
//! * [`cuts`]: the numbers that decide.
//! * [`judged`]: a verdict that was made elsewhere, as it is kept.
//! * [`counted`]: what the path's own counters say of datagrams and frames.
//! * [`compare`](mod@compare): what transfers that differ prove together; [`treatment`]: what runs that differ in marks do.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::cast_sign_loss)] // statistics that cannot be negative, or that were clamped before

pub mod analysis;
mod booked;
mod case;
pub mod catalogue;
pub mod compare;
pub mod counted;
mod cut;
pub mod cuts;
mod finding;
mod hints;
mod intervals;
pub mod job;
mod judge;
pub mod judged;
pub mod ledger;
pub mod limit;
mod limits;
mod look;
pub mod message;
mod schedule;
pub mod span;
pub mod treatment;
pub mod verdict;

pub use analysis::{Analysis, Connection};
pub use judged::Judged;
pub use ledger::Ledger;
pub use limit::{Flag, Limit, Reason};
pub use verdict::{Evidence, Interval, Parameters, Rejected, Verdict};

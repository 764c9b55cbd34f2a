//! From the facts of one transfer to the path that explains them, by simulation, and from that path to what a change would
//! give.
//!
//! This crate opens no files, reads no clock, starts no threads and draws no random numbers of its own. It sees facts, the
//! scenario and the simulator, and never the label or the truth of a run. Equal facts give equal answers.
//!
//! The most important type is [`Fit`]; [`fit::fit`] finds it, [`what_if::what_if`] asks it.
//!
//! * [`fit`](mod@fit): the search as a whole, intervals, and what cannot be told. Start here.
//! * [`what_if`](mod@what_if): changes, by every model that fits.
//! * [`model`]: a path as numbers, and as an experiment file.
//! * [`start`]: from facts and verdict to the models at which the search starts.
//! * [`measured`]: what a capture measures of its path by itself.
//! * [`booked`]: a start with everything at once that the ledger books.
//! * [`search`]: steps from model to model.
//! * [`posterior`]: models that explain the transfer about as well.
//! * [`controls`]: what answers to losses say of the congestion control.
//! * [`trial`]: one simulation of a model.
//! * [`seen`], [`compare`]: what a capture and a simulation show, and how far they are apart.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::cast_sign_loss)] // values that cannot be negative, or that were clamped before

pub mod booked;
pub mod compare;
pub mod controls;
pub mod fit;
pub mod measured;
pub mod model;
pub mod posterior;
pub mod search;
pub mod seen;
pub mod start;
pub mod trial;
pub mod what_if;

pub use fit::{Effort, Fit};
pub use start::Refused;
pub use trial::{Outcome, Simulator, Trial};
pub use what_if::{Answer, Untold};

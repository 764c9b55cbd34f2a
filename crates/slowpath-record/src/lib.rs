//! What any run leaves behind, as types only.
//!
//! Simulated, lab, live and imported runs all end in a [`RunRecord`], and nothing behind it can tell
//! which it was except by its explicit [`Origin`]. This crate does no I/O and decides nothing.
//!
//! * [`run`]: [`RunRecord`], its origin, environment, captures and workload results. Start here.
//! * [`health`]: whether the run may be believed, and why not; [`code`]: the reasons' codes.
//! * [`disturbance`]: when the machine held packets up at the edges of an emulated network.
//! * [`series`]: time series sampled during a run; [`curve`]: one quantity against another.
//! * [`echo`]: what a series of echo requests came to.
//! * [`finding`]: what the machine permits.
//! * [`packets`]: decoded packets as an analysis wants them, whoever produced them.
//! * [`marks`]: marks that packets carried, and how busy programs were.
//! * [`counters`]: what happened to packets inside the network, per element and cause.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod code;
pub mod counters;
pub mod curve;
pub mod disturbance;
pub mod echo;
pub mod finding;
pub mod health;
pub mod marks;
pub mod packets;
pub mod run;
pub mod series;
pub mod text_number;

pub use code::Code;
pub use counters::{ElementCounters, Traffic};
pub use curve::Curve;
pub use disturbance::{Disturbances, HeldSpan, WireDisturbances};
pub use health::{Effect, FigureKind, Health, HealthState, Reason};
pub use marks::{MarkCount, MarkPlace, ProgramLoad};
pub use run::{
    CaptureRef, Environment, FlowResult, LostPackets, Origin, RunKind, RunRecord, SenderCount,
    TransferResult, WATCHED,
};
pub use series::Series;

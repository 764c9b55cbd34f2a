//! What a connection did, without judgement: nothing here depends on a threshold of a verdict.
//!
//! * [`flow`]: [`FlowFacts`], everything a verdict is made from. Start here.
//! * [`queue`]: the virtual-queue fit.
//! * [`timeline`]: the flow over time, in steps of the least round trip.
//! * [`counters`]: counters by the names tcptrace uses.
//! * [`graphs`]: data of the five graphs people know from Wireshark.
//! * [`Distribution`] holds quantiles.

pub mod counters;
pub mod distribution;
pub mod flow;
pub mod graphs;
mod measure;
mod pauses;
pub mod queue;
mod tap;
pub mod timeline;
mod walk;

pub use counters::Counters;
pub use distribution::Distribution;
pub use flow::{FlowFacts, Round};
pub use graphs::{Graphs, IoPoint, Point, SackPoint, SegmentPoint};
pub(crate) use measure::{Early, Measured, measure, measure_early, split_of, window_shift};
pub use queue::QueueFit;
pub use timeline::{Event, Happening, Step, Timeline};

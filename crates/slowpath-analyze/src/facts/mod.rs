//! What a connection did, without judgement: nothing here depends on a threshold of a verdict.
//!
//! * [`counters`]: counters by the names tcptrace uses.
//! * [`graphs`]: data of the five graphs people know from Wireshark.

pub mod counters;
pub mod graphs;

pub use counters::Counters;
pub use graphs::{Graphs, IoPoint, Point, SegmentPoint};

//! Following connections packet by packet, in one pass and with bounded memory for each.

mod clock;
mod conn;
mod copies;
mod counters;
mod early;
mod gaps;
mod half;
pub(crate) mod log;
mod marking;
mod outstanding;
mod own_clock;
mod ranges;

pub(crate) use clock::Clock;
pub(crate) use conn::Conn;
pub use counters::Counters;
pub(crate) use half::{Half, SynSeen};

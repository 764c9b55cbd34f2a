//! What a connection did, without judgement: nothing here depends on a threshold of a verdict.
//!
//! * [`flow`]: [`FlowFacts`], everything a verdict is made from. Start here.
//! * [`queue`]: the virtual-queue fit.
//! * [`timeline`]: the flow over time, in steps of the least round trip.
//! * [`policing`]: what the published detector of policers says.
//! * [`Chronographs`]: what the sender's kernel would count, were its congestion control BBR.
//! * [`Distribution`] holds quantiles.

mod bbr;
mod chronographs;
pub mod distribution;
pub mod flow;
mod measure;
mod one_way;
mod outages;
mod pauses;
pub mod policing;
pub mod queue;
mod tap;
pub mod timeline;
mod walk;

pub use chronographs::Chronographs;
pub use distribution::Distribution;
pub use flow::{Clocking, EcnFacts, FlightFacts, FlowFacts, LossFacts, Round, TimeUse, WindowFacts};
pub(crate) use measure::{Measured, Queues, measure, split_of, window_shift};
pub use outages::Outage;
pub use policing::Policing;
pub use queue::{DelayFit, QueueFit};
pub use timeline::{Event, Happening, Step, Timeline};

//! One kind of element per file, each in the same order: settings, state, tests.

pub mod delay;
pub mod duplicate;
pub mod link;
pub mod loss;
pub mod tap;

pub use delay::{Delay, Jitter, JitterShape, Span, SpanStep};
pub use duplicate::Duplicate;
pub use link::{Fifo, Limit, Link, Queue};
pub use loss::{DropUnit, Loss, LossModel};
pub use tap::Tap;

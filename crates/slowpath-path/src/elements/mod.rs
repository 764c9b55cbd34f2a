//! One kind of element per file, each in the same order: settings, state, tests.

pub mod adjust;
pub mod classify;
pub mod delay;
pub mod device;
pub mod duplicate;
pub mod link;
pub mod loss;
pub mod mtu;
pub mod police;
pub mod remark;
pub mod router;
pub mod tap;
pub mod treat;
pub mod tunnel;

pub use adjust::{Adjust, Framing};
pub use classify::{Addresses, Classify, Match, Rule};
pub use delay::{Delay, Jitter, JitterShape, Span, SpanStep};
pub use device::{Cost, Device};
pub use duplicate::Duplicate;
pub use link::{Class, Classes, Codel, Fifo, FqCodel, Level, Limit, Link, Markov, Pie, Queue, Red, Surplus};
pub use loss::{DropUnit, Loss, LossModel};
pub use mtu::Mtu;
pub use police::{Action, Meter, Police};
pub use remark::{Remark, RemarkRule, SetMark};
pub use router::Router;
pub use tap::Tap;
pub use treat::{CodeAction, Treat, Treatment};
pub use tunnel::{Decapsulate, Encapsulate, OuterDf, OuterDscp};

//! A link as plain data: rate, layer, queue.

use serde::{Deserialize, Serialize};
use slowpath_units::{BitRate, Layer};

use super::classes::Classes;
use super::codel::Codel;
use super::fifo::Fifo;
use super::fq_codel::FqCodel;
use super::limit::Limit;
use super::pie::Pie;
use super::red::Red;
use super::server::Rate;
use crate::setting::SettingError;

/// Sends packets one at a time at a rate, holding the others in a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How fast.
    pub rate: Rate,
    /// Which bytes of a packet the rate and byte limits count.
    pub layer: Layer,
    /// What waits, in which order, and how much of it.
    pub queue: Queue,
}

/// The queue in front of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case")]
pub enum Queue {
    /// First in, first out; the newest is dropped when full.
    Fifo(Fifo),
    /// A queue for each class: strict priority, ceilings, guarantees, borrowing.
    Classes(Classes),
    /// Random early detection.
    Red(Red),
    /// Controlled delay.
    Codel(Codel),
    /// Fair queueing with controlled delay.
    FqCodel(FqCodel),
    /// Proportional integral controller enhanced.
    Pie(Pie),
}

impl Link {
    /// A link of constant `rate` at `layer` with a first-in-first-out queue.
    pub const fn fifo(rate: BitRate, layer: Layer, limit: Limit) -> Self {
        Self {
            rate: Rate::Fixed(rate),
            layer,
            queue: Queue::Fifo(Fifo::new(limit)),
        }
    }

    pub(crate) fn check(&self) -> Result<(), SettingError> {
        self.rate.check()?;
        match &self.queue {
            Queue::Fifo(_) => Ok(()),
            Queue::Classes(classes) => classes.check(),
            Queue::Red(red) => red.check(),
            Queue::Codel(codel) => codel.check(),
            Queue::FqCodel(fair) => fair.check(),
            Queue::Pie(pie) => pie.check(),
        }
    }
}

//! A link: a queue served at a rate. Every bottleneck, network card and shaper's output is one.

mod classes;
mod codel;
mod fifo;
mod fq_codel;
mod markov;
mod pie;
mod red;
mod served;
mod server;
pub mod trace;

use serde::{Deserialize, Serialize};
use slowpath_record::Traffic;
use slowpath_units::{BitRate, Duration, Layer, Time};

pub use classes::{Class, Classes, Surplus};
pub use codel::Codel;
pub use fifo::Fifo;
pub use fq_codel::FqCodel;
pub use markov::{Level, Markov};
pub use pie::Pie;
pub use red::Red;
pub use server::{Rate, RateStep};

use crate::context::{Context, Released, Step};
use crate::dice::Dice;
use crate::packet::Packet;
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

/// How much may wait. What is being sent does not count as waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes, counted at the link's layer.
    Bytes(u64),
    /// A packet may wait at most this long before its first bit is sent.
    Time(Duration),
    /// As much as comes.
    None,
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

/// The working link.
#[derive(Debug)]
pub(crate) enum State {
    Fifo(fifo::State),
    Served(Box<served::State>),
}

impl State {
    pub(crate) fn new(config: &Link, dice: Dice) -> Self {
        let rate_dice = dice.beside("rate");
        match (&config.queue, served::State::new(config, dice)) {
            (_, Some(state)) => Self::Served(Box::new(state)),
            (Queue::Fifo(fifo), None) => Self::Fifo(fifo::State::new(config, fifo, &rate_dice)),
            (_, None) => unreachable!("every other discipline has a served state"),
        }
    }

    #[inline]
    pub(crate) fn accept(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        match self {
            Self::Fifo(state) => state.accept(at, packet),
            Self::Served(state) => state.accept(at, packet, context),
        }
    }

    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        match self {
            Self::Fifo(state) => state.next_event(),
            Self::Served(state) => state.next_event(),
        }
    }

    #[inline]
    pub(crate) fn release(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Released {
        match self {
            Self::Fifo(state) => {
                state.release(packet);
                Released::To(0)
            }
            Self::Served(state) => state.release(at, packet, context),
        }
    }

    /// Whether an arrival finds a different state before and after a release that is due.
    pub(crate) fn reacts(&self) -> bool {
        matches!(self, Self::Served(_))
    }

    pub(crate) fn inside(&self) -> Traffic {
        match self {
            Self::Fifo(state) => state.inside(),
            Self::Served(state) => state.inside(),
        }
    }
}

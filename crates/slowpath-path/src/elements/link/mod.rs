//! A link: a queue served at a rate. Every bottleneck, network card and shaper's output is one.

mod classes;
mod codel;
mod fifo;
mod fq_codel;
mod limit;
mod markov;
mod pie;
mod red;
mod served;
mod server;
mod settings;
pub mod trace;
mod waiting;

use slowpath_record::Traffic;
use slowpath_units::Time;

pub use classes::{Class, Classes, Surplus};
pub use codel::Codel;
pub use fifo::Fifo;
pub use fq_codel::FqCodel;
pub use limit::Limit;
pub use markov::{Level, Markov};
pub use pie::Pie;
pub use red::Red;
pub use server::{Rate, RateStep};
pub use settings::{Link, Queue};

use crate::context::{Context, Released, Step};
use crate::dice::Dice;
use crate::packet::Packet;

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
            (Queue::Fifo(fifo), None) => {
                Self::Fifo(fifo::State::new(&config.rate, config.layer, fifo, &rate_dice))
            }
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

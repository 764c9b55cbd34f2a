//! A tap: counts what passes and, if asked to, reports each packet.

use serde::{Deserialize, Serialize};
use slowpath_units::Time;

use crate::context::{Context, Step};
use crate::outcome::Outcome;
use crate::packet::Packet;

/// A place where packets are seen without being touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tap {
    /// Whether each packet is reported as [`Outcome::Seen`]; a tap that does not record only counts.
    #[serde(default)]
    pub record: bool,
}

#[derive(Debug)]
pub(crate) struct State {
    record: bool,
}

impl State {
    pub(crate) fn new(config: Tap) -> Self {
        Self {
            record: config.record,
        }
    }

    #[inline]
    pub(crate) fn accept(&mut self, at: Time, packet: &Packet, context: &mut Context<'_>) -> Step {
        if self.record {
            context.shared.tell(Outcome::Seen {
                tap: context.element,
                at,
                packet: packet.shown(),
            });
        }
        Step::Pass(0)
    }
}

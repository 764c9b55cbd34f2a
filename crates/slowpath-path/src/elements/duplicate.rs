//! Duplication: a share of the packets passes twice.

use serde::{Deserialize, Serialize};
use slowpath_units::{Ratio, Time};

use crate::context::{Context, Step};
use crate::dice::{Chance, Dice};
use crate::outcome::Outcome;
use crate::packet::Packet;

/// Duplicates each packet with a fixed chance; the copy follows at once behind the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duplicate {
    /// The share of packets that is duplicated.
    pub chance: Ratio,
}

#[derive(Debug)]
pub(crate) struct State {
    chance: Chance,
    dice: Dice,
}

impl State {
    pub(crate) fn new(config: Duplicate, dice: Dice) -> Self {
        Self {
            chance: config.chance.into(),
            dice,
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, at: Time, packet: &Packet, context: &mut Context<'_>) -> Step {
        if self.dice.hits(self.chance) {
            let mut copy = *packet;
            copy.id = context.new_id();
            context.shared.carried.retain(copy.inner);
            let copied = Outcome::Copied {
                element: context.element,
                at,
                packet: copy.shown(),
                of: packet.id,
            };
            context.shared.tell(copied);
            context.create(0, copy);
        }
        Step::Pass(0)
    }
}

//! What a network does to some code points and not to others.

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::{Ratio, Time};

use super::police::{self, Police};
use crate::context::{Context, Step};
use crate::dice::{Chance, Dice};
use crate::outcome::DropCause;
use crate::packet::Packet;
use crate::setting::SettingError;

/// Treats packets by their code point; codes that are not listed pass.
///
/// Reports of real lines contradict one another (the same code is dropped on one, limited on another and fine on a
/// third), so this element has no defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Treat {
    /// The treatments; the first that lists the code decides.
    pub treatments: Vec<Treatment>,
}

/// What becomes of some code points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Treatment {
    /// The code points.
    pub codes: Vec<Dscp>,
    /// What becomes of them.
    pub action: CodeAction,
}

/// A treatment of a code point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodeAction {
    /// This share is dropped.
    Drop(Ratio),
    /// All packets with the listed codes together are held to a rate.
    Police(Police),
}

impl Treat {
    pub(crate) fn check(&self) -> Result<(), SettingError> {
        for treatment in &self.treatments {
            if treatment.codes.is_empty() {
                return Err(SettingError::Empty { setting: "codes" });
            }
            if let CodeAction::Police(police) = &treatment.action {
                police.check()?;
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct State {
    /// By code point: which of `actions`, plus one.
    table: [u8; 64],
    actions: Vec<Doing>,
    dice: Dice,
}

#[derive(Debug)]
enum Doing {
    Drop(Chance),
    Police(Box<police::State>),
}

impl State {
    pub(crate) fn new(config: &Treat, dice: Dice) -> Self {
        let mut table = [0; 64];
        for (index, treatment) in config.treatments.iter().enumerate() {
            for code in &treatment.codes {
                let place = &mut table[usize::from(code.value())];
                if *place == 0 {
                    *place = index as u8 + 1;
                }
            }
        }
        let doing = |treatment: &Treatment| match &treatment.action {
            CodeAction::Drop(share) => Doing::Drop((*share).into()),
            CodeAction::Police(police) => Doing::Police(Box::new(police::State::new(police))),
        };
        Self {
            table,
            actions: config.treatments.iter().map(doing).collect(),
            dice,
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        let index = usize::from(self.table[usize::from(packet.dscp.value())]);
        let Some(action) = index.checked_sub(1).and_then(|index| self.actions.get_mut(index)) else {
            return Step::Pass(0);
        };
        match action {
            Doing::Drop(share) if self.dice.hits(*share) => Step::Drop(DropCause::Treatment),
            Doing::Drop(_) => Step::Pass(0),
            Doing::Police(state) => state.accept(at, packet, context),
        }
    }
}

//! Loss that does not depend on load: Bernoulli, Gilbert-Elliott, every n-th, or a given list.

use serde::{Deserialize, Serialize};
use slowpath_units::Ratio;

use crate::context::Step;
use crate::dice::{Chance, Dice};
use crate::outcome::DropCause;
use crate::packet::Packet;
use crate::setting::SettingError;

/// Loses packets by a rule that knows nothing of queues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// The rule.
    pub model: LossModel,
    /// What one decision is about.
    #[serde(default)]
    pub unit: DropUnit,
}

/// The rule by which packets are lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossModel {
    /// Each with the same chance, independently.
    Random {
        /// The chance.
        chance: Ratio,
    },
    /// Two states, each with its own chance of loss (Gilbert 1960, Elliott 1963): the state decides about the
    /// packet, then may change before the next one. It starts good.
    GilbertElliott {
        /// Chance to turn bad after a packet in the good state.
        to_bad: Ratio,
        /// Chance to turn good after a packet in the bad state.
        to_good: Ratio,
        /// Chance of loss in the good state, 0 in Gilbert's own model.
        loss_good: Ratio,
        /// Chance of loss in the bad state.
        loss_bad: Ratio,
    },
    /// Packets `n`, `2n`, `3n` and so on, counted from 1.
    Every {
        /// The distance from loss to loss.
        n: u64,
    },
    /// Exactly these packets, counted from 1 in the order of arrival.
    List {
        /// Their numbers, rising.
        packets: Vec<u64>,
    },
}

/// What one drop decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropUnit {
    /// Each packet of the wire.
    #[default]
    Packet,
    /// A whole train (kernel super-packet), as Linux's netem does: its first packet decides for all.
    Train,
}

impl Loss {
    /// Random loss of single packets.
    pub const fn random(chance: Ratio) -> Self {
        Self {
            model: LossModel::Random { chance },
            unit: DropUnit::Packet,
        }
    }

    pub(crate) fn check(&self) -> Result<(), SettingError> {
        match &self.model {
            LossModel::Every { n: 0 } => Err(SettingError::Zero { setting: "n" }),
            LossModel::List { packets } => {
                let falling = packets.windows(2).position(|pair| pair[0] >= pair[1]);
                match falling {
                    _ if packets.first() == Some(&0) => Err(SettingError::Zero { setting: "packets" }),
                    Some(at) => Err(SettingError::NotRising {
                        setting: "packets",
                        entry: at + 2,
                    }),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct State {
    rule: Rule,
    dice: Dice,
    verdicts: TrainVerdict,
    trains: bool,
}

#[derive(Debug)]
enum Rule {
    Random(Chance),
    GilbertElliott {
        turn: [Chance; 2],
        loss: [Chance; 2],
        bad: bool,
    },
    Every {
        n: u64,
        seen: u64,
    },
    List {
        packets: Vec<u64>,
        next: usize,
        seen: u64,
    },
}

impl State {
    pub(crate) fn new(config: &Loss, dice: Dice) -> Self {
        let rule = match &config.model {
            LossModel::Random { chance } => Rule::Random((*chance).into()),
            LossModel::GilbertElliott {
                to_bad,
                to_good,
                loss_good,
                loss_bad,
            } => Rule::GilbertElliott {
                turn: [(*to_bad).into(), (*to_good).into()],
                loss: [(*loss_good).into(), (*loss_bad).into()],
                bad: false,
            },
            LossModel::Every { n } => Rule::Every { n: *n, seen: 0 },
            LossModel::List { packets } => Rule::List {
                packets: packets.clone(),
                next: 0,
                seen: 0,
            },
        };
        Self {
            rule,
            dice,
            verdicts: TrainVerdict::default(),
            trains: config.unit == DropUnit::Train,
        }
    }

    #[inline]
    pub(crate) fn accept(&mut self, packet: &Packet) -> Step {
        let lost = if let Some(lost) = self.verdicts.known(self.trains, packet) {
            lost
        } else {
            let lost = self.rule.decide(&mut self.dice);
            self.verdicts.remember(packet, lost);
            lost
        };
        if lost {
            Step::Drop(DropCause::Loss)
        } else {
            Step::Pass(0)
        }
    }
}

impl Rule {
    fn decide(&mut self, dice: &mut Dice) -> bool {
        match self {
            Self::Random(chance) => dice.hits(*chance),
            Self::GilbertElliott { turn, loss, bad } => {
                let lost = dice.hits(loss[usize::from(*bad)]);
                *bad ^= dice.hits(turn[usize::from(*bad)]);
                lost
            }
            Self::Every { n, seen } => {
                *seen += 1;
                *seen % *n == 0
            }
            Self::List { packets, next, seen } => {
                *seen += 1;
                let listed = packets.get(*next) == Some(seen);
                *next += usize::from(listed);
                listed
            }
        }
    }
}

/// The verdict on the train of the last packet.
#[derive(Debug, Default)]
pub(crate) struct TrainVerdict {
    train: u32,
    lost: bool,
}

impl TrainVerdict {
    /// The verdict that binds `packet`, if decisions are about trains and its train was decided on.
    #[inline]
    pub(crate) fn known(&self, trains: bool, packet: &Packet) -> Option<bool> {
        (trains && packet.train != 0 && packet.train == self.train).then_some(self.lost)
    }

    #[inline]
    pub(crate) fn remember(&mut self, packet: &Packet, lost: bool) {
        self.train = packet.train;
        self.lost = lost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Cargo, FlowId};

    fn losses(config: &Loss, packets: u64, train: impl Fn(u64) -> u32) -> Vec<u64> {
        let mut state = State::new(config, Dice::new(1, "loss"));
        (1..=packets)
            .filter(|number| {
                let packet = Packet {
                    train: train(*number),
                    ..Packet::new(Cargo::new(0), FlowId(0), 1500)
                };
                state.accept(&packet) == Step::Drop(DropCause::Loss)
            })
            .collect()
    }

    #[test]
    fn every_and_list_are_exact() {
        let every = Loss {
            model: LossModel::Every { n: 3 },
            unit: DropUnit::Packet,
        };
        assert_eq!(losses(&every, 10, |_| 0), [3, 6, 9]);
        let list = Loss {
            model: LossModel::List {
                packets: vec![1, 4, 5],
            },
            unit: DropUnit::Packet,
        };
        assert_eq!(losses(&list, 10, |_| 0), [1, 4, 5]);
    }

    #[test]
    fn a_train_is_lost_as_a_whole() {
        let every = Loss {
            model: LossModel::Every { n: 2 },
            unit: DropUnit::Train,
        };
        // Trains of three packets: the second train is lost, then the fourth.
        assert_eq!(
            losses(&every, 12, |number| 1 + (number as u32 - 1) / 3),
            [4, 5, 6, 10, 11, 12]
        );
        // Packets without a train are decided one by one.
        assert_eq!(losses(&every, 4, |_| 0), [2, 4]);
    }

    #[test]
    fn gilbert_elliott_loses_in_bursts_with_the_right_mean() {
        let ratio = |text: &str| text.parse::<Ratio>().unwrap();
        let model = LossModel::GilbertElliott {
            to_bad: ratio("1 %"),
            to_good: ratio("25 %"),
            loss_good: Ratio::ZERO,
            loss_bad: Ratio::ONE,
        };
        let lost = losses(
            &Loss {
                model,
                unit: DropUnit::Packet,
            },
            200_000,
            |_| 0,
        );
        // Stationary share of the bad state: 0.01 / 0.26 = 3.846 %; bursts last 4 packets on average.
        assert!((7_200..8_200).contains(&lost.len()), "{}", lost.len());
        let bursts = 1 + lost.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        let mean = lost.len() as f64 / bursts as f64;
        assert!((3.7..4.3).contains(&mean), "{mean}");
    }

    #[test]
    fn refuses_what_can_never_happen() {
        let bad = |model| {
            Loss {
                model,
                unit: DropUnit::Packet,
            }
            .check()
            .is_err()
        };
        assert!(bad(LossModel::Every { n: 0 }));
        assert!(bad(LossModel::List { packets: vec![0] }));
        assert!(bad(LossModel::List { packets: vec![2, 2] }));
        assert!(!bad(LossModel::List { packets: vec![] }));
    }
}

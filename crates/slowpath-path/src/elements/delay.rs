//! Propagation delay, fixed or changing with time, with or without jitter and reordering.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};
use slowpath_record::Traffic;
use slowpath_units::{Duration, Ratio, Time};

use crate::context::{Released, Step};
use crate::dice::{Chance, Dice};
use crate::packet::Packet;
use crate::ring::Ring;
use crate::setting::{SettingError, rising};

/// Holds each packet for a time that does not depend on load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// How long.
    pub delay: Span,
    /// Random deviation from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
}

/// A time span, fixed or by schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Span {
    /// Always the same.
    Fixed(Duration),
    /// From each step's time on, that step's delay; a packet takes the delay in force when it enters.
    Steps(Vec<SpanStep>),
}

/// One step of a delay schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpanStep {
    /// From when on, since the start of the run.
    pub from: Duration,
    /// The delay.
    pub delay: Duration,
}

/// Random deviation of a delay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// How the deviation is distributed.
    pub shape: JitterShape,
    /// Whether a packet may overtake another; if not, it leaves no earlier than the one before it.
    #[serde(default)]
    pub reorder: bool,
}

/// A bounded distribution, drawn with integers only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case", deny_unknown_fields)]
pub enum JitterShape {
    /// Evenly between `delay - spread` and `delay + spread`.
    Uniform {
        /// Half the width.
        spread: Duration,
    },
    /// Bell-shaped: the sum of twelve even draws, which has this standard deviation and never exceeds six of them.
    Normal {
        /// The standard deviation.
        deviation: Duration,
    },
    /// A share of the packets is held back for a fixed time, the others not at all.
    Share {
        /// The share.
        share: Ratio,
        /// The time.
        extra: Duration,
    },
    /// Extra delay by quantiles: the first entry is the least, the last the most, evenly spaced in probability
    /// and joined by straight lines. A measured distribution goes here.
    Quantiles {
        /// The quantiles, rising; at least two.
        extra: Vec<Duration>,
    },
}

impl Delay {
    /// A constant delay.
    pub const fn fixed(delay: Duration) -> Self {
        Self {
            delay: Span::Fixed(delay),
            jitter: None,
        }
    }

    /// How long it holds each packet at least.
    pub(crate) fn least(&self) -> Duration {
        let below = match self.jitter.as_ref().map(|jitter| &jitter.shape) {
            None | Some(JitterShape::Quantiles { .. } | JitterShape::Share { .. }) => Duration::ZERO,
            Some(JitterShape::Uniform { spread }) => *spread,
            Some(JitterShape::Normal { deviation }) => *deviation * 6,
        };
        self.delay.least().saturating_sub(below)
    }

    pub(crate) fn check(&self) -> Result<(), SettingError> {
        if let Span::Steps(steps) = &self.delay {
            rising("delay", steps.iter().map(|step| step.from))?;
        }
        let least = self.delay.least();
        let spread = match self.jitter.as_ref().map(|jitter| &jitter.shape) {
            None | Some(JitterShape::Share { .. }) => Duration::ZERO,
            Some(JitterShape::Uniform { spread }) => *spread,
            Some(JitterShape::Normal { deviation }) => *deviation * 6,
            Some(JitterShape::Quantiles { extra }) => {
                if extra.len() < 2 {
                    return Err(SettingError::Empty { setting: "extra" });
                }
                if let Some(at) = extra.windows(2).position(|pair| pair[0] > pair[1]) {
                    return Err(SettingError::NotRising {
                        setting: "extra",
                        entry: at + 2,
                    });
                }
                Duration::ZERO
            }
        };
        if spread > least {
            return Err(SettingError::Contradiction {
                setting: "jitter",
                found: format!("reaches {spread} below the delay"),
                limit: format!("the delay is only {least}: delays below zero do not exist"),
            });
        }
        Ok(())
    }
}

impl Span {
    fn least(&self) -> Duration {
        match self {
            Self::Fixed(delay) => *delay,
            Self::Steps(steps) => steps.iter().map(|step| step.delay).min().unwrap_or_default(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct State {
    span: Schedule,
    jitter: Option<(JitterShape, Dice)>,
    latest: Time,
    held: Held,
}

#[derive(Debug)]
enum Schedule {
    Fixed(Duration),
    Steps { steps: Vec<SpanStep>, current: usize },
}

#[derive(Debug)]
enum Held {
    InOrder(Ring<(Time, Packet)>),
    ByTime {
        heap: BinaryHeap<Reverse<Entry>>,
        next: u64,
    },
}

#[derive(Debug)]
struct Entry {
    at: Time,
    number: u64,
    packet: Packet,
}

impl State {
    pub(crate) fn new(config: &Delay, dice: Dice) -> Self {
        let reorder = config.jitter.as_ref().is_some_and(|jitter| jitter.reorder);
        let span = match &config.delay {
            Span::Fixed(delay) => Schedule::Fixed(*delay),
            Span::Steps(steps) => Schedule::Steps {
                steps: steps.clone(),
                current: 0,
            },
        };
        let held = if reorder {
            Held::ByTime {
                heap: BinaryHeap::new(),
                next: 0,
            }
        } else {
            Held::InOrder(Ring::new())
        };
        let jitter = config.jitter.as_ref().map(|jitter| (jitter.shape.clone(), dice));
        Self {
            span,
            jitter,
            latest: Time::ZERO,
            held,
        }
    }

    #[inline]
    pub(crate) fn accept(&mut self, at: Time, packet: &Packet) -> Step {
        let base = match &mut self.span {
            Schedule::Fixed(delay) => *delay,
            Schedule::Steps { steps, current } => {
                let now = at.since(Time::ZERO);
                while steps.get(*current + 1).is_some_and(|step| step.from <= now) {
                    *current += 1;
                }
                steps[*current].delay
            }
        };
        let delay = match &mut self.jitter {
            None => base,
            Some((shape, dice)) => shape.apply(base, dice),
        };
        match &mut self.held {
            Held::InOrder(queue) => {
                self.latest = self.latest.max(at + delay);
                let last = queue.place(|| (Time::ZERO, *packet));
                last.0 = self.latest;
                last.1 = *packet;
                Step::Hold(queue.front().map_or(Time::MAX, |(first, _)| *first))
            }
            Held::ByTime { heap, next } => {
                let (at, number) = (at + delay, *next);
                heap.push(Reverse(Entry {
                    at,
                    number,
                    packet: *packet,
                }));
                *next += 1;
                Step::Hold(heap.peek().map_or(Time::MAX, |first| first.0.at))
            }
        }
    }

    pub(crate) fn next_event(&self) -> Time {
        match &self.held {
            Held::InOrder(queue) => queue.front().map_or(Time::MAX, |(at, _)| *at),
            Held::ByTime { heap, .. } => heap.peek().map_or(Time::MAX, |entry| entry.0.at),
        }
    }

    #[inline]
    pub(crate) fn release(&mut self, packet: &mut Packet) -> Released {
        match &mut self.held {
            Held::InOrder(queue) => {
                let Some((_, first)) = queue.front() else {
                    return Released::Nothing;
                };
                *packet = *first;
                queue.pop();
            }
            Held::ByTime { heap, .. } => {
                let Some(Reverse(first)) = heap.pop() else {
                    return Released::Nothing;
                };
                *packet = first.packet;
            }
        }
        Released::To(0)
    }

    pub(crate) fn inside(&self) -> Traffic {
        let mut inside = Traffic::default();
        match &self.held {
            Held::InOrder(queue) => queue.iter().for_each(|(_, packet)| inside.count(packet.ip_len)),
            Held::ByTime { heap, .. } => heap.iter().for_each(|entry| inside.count(entry.0.packet.ip_len)),
        }
        inside
    }
}

impl JitterShape {
    fn apply(&self, base: Duration, dice: &mut Dice) -> Duration {
        match self {
            Self::Uniform { spread } => {
                let draw = Duration::from_nanos(dice.below(2 * spread.nanos() + 1));
                (base + draw).saturating_sub(*spread)
            }
            Self::Normal { deviation } => {
                // Each of twelve even draws on [0, d] has variance d^2 / 12; their sum has mean 6 d.
                let wide = deviation.nanos() + 1;
                let draw: u64 = (0..12).map(|_| dice.below(wide)).sum();
                (base + Duration::from_nanos(draw)).saturating_sub(*deviation * 6)
            }
            Self::Share { share, extra } => {
                if dice.hits(Chance::from(*share)) {
                    base + *extra
                } else {
                    base
                }
            }
            Self::Quantiles { extra } => {
                let steps = extra.len() as u64 - 1;
                let place = u128::from(dice.roll()) * u128::from(steps);
                let (low, part) = ((place >> 64) as usize, place as u64);
                let (from, to) = (extra[low].nanos(), extra[low + 1].nanos());
                let along = ((u128::from(to - from) * u128::from(part)) >> 64) as u64;
                base + Duration::from_nanos(from + along)
            }
        }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Cargo, FlowId};

    const MS: u64 = 1_000_000;

    fn run(config: &Delay, gap: Duration, packets: u64) -> Vec<(Time, u64)> {
        config.check().unwrap();
        let mut state = State::new(config, Dice::new(3, "delay"));
        for number in 0..packets {
            let packet = Packet::new(Cargo::new(number), FlowId(0), 1500);
            assert!(matches!(
                state.accept(Time::ZERO + gap * number, &packet),
                Step::Hold(_)
            ));
        }
        let mut left = Vec::new();
        while state.next_event() != Time::MAX {
            let at = state.next_event();
            let mut packet = Packet::new(Cargo::new(0), FlowId(0), 0);
            assert_eq!(state.release(&mut packet), Released::To(0));
            left.push((at, packet.cargo.handle));
        }
        left
    }

    fn jittered(shape: JitterShape, reorder: bool) -> Delay {
        Delay {
            delay: Span::Fixed(Duration::from_millis(20)),
            jitter: Some(Jitter { shape, reorder }),
        }
    }

    #[test]
    fn a_fixed_delay_is_exact() {
        let left = run(
            &Delay::fixed(Duration::from_millis(20)),
            Duration::from_nanos(7),
            3,
        );
        let times: Vec<u64> = left.iter().map(|(at, _)| at.nanos()).collect();
        assert_eq!(times, [20 * MS, 20 * MS + 7, 20 * MS + 14]);
    }

    #[test]
    fn steps_apply_from_their_time_on_without_reordering() {
        let step = |from, delay| SpanStep {
            from: Duration::from_millis(from),
            delay: Duration::from_millis(delay),
        };
        let config = Delay {
            delay: Span::Steps(vec![step(0, 10), step(2, 5), step(4, 30)]),
            jitter: None,
        };
        let left = run(&config, Duration::from_millis(1), 6);
        let times: Vec<u64> = left.iter().map(|(at, _)| at.nanos() / MS).collect();
        // The packets at 2 and 3 ms could overtake the one of 1 ms; they queue behind it.
        assert_eq!(times, [10, 11, 11, 11, 34, 35]);
    }

    #[test]
    fn jitter_stays_in_bounds_and_overtakes_only_when_allowed() {
        let ms = Duration::from_millis;
        let shapes = [
            JitterShape::Uniform { spread: ms(5) },
            JitterShape::Normal { deviation: ms(3) },
            JitterShape::Quantiles {
                extra: vec![ms(0), ms(1), ms(9)],
            },
            JitterShape::Share {
                share: Ratio::from_ppb(250_000_000).unwrap(),
                extra: ms(8),
            },
        ];
        for shape in shapes {
            for reorder in [false, true] {
                let gap = Duration::from_micros(100);
                let left = run(&jittered(shape.clone(), reorder), gap, 2000);
                let overtaken = left.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
                assert_eq!(overtaken > 0, reorder, "{shape:?}: {overtaken}");
                assert!(left.windows(2).all(|pair| pair[0].0 <= pair[1].0));
                if reorder {
                    let delays = left
                        .iter()
                        .map(|(at, number)| at.since(Time::ZERO + gap * *number).nanos());
                    let (least, most) = match &shape {
                        JitterShape::Uniform { .. } => (15 * MS, 25 * MS),
                        JitterShape::Normal { .. } => (2 * MS, 38 * MS),
                        JitterShape::Quantiles { .. } => (20 * MS, 29 * MS),
                        JitterShape::Share { .. } => (20 * MS, 28 * MS),
                    };
                    let mean = delays.clone().sum::<u64>() / 2000;
                    assert!(
                        delays.clone().all(|delay| (least..=most).contains(&delay)),
                        "{shape:?}"
                    );
                    let expected = match shape {
                        JitterShape::Quantiles { .. } => 22_750,
                        JitterShape::Share { .. } => 22_000,
                        _ => 20_000,
                    };
                    assert!(mean.abs_diff(expected * 1000) < 300_000, "{shape:?}: mean {mean}");
                }
            }
        }
    }

    #[test]
    fn refuses_delays_below_zero() {
        let shape = JitterShape::Uniform {
            spread: Duration::from_millis(21),
        };
        let message = jittered(shape, true).check().unwrap_err().to_string();
        assert!(message.contains("21 ms below the delay"), "{message}");
        let falling = JitterShape::Quantiles {
            extra: vec![Duration::from_millis(2), Duration::from_millis(1)],
        };
        assert!(jittered(falling, true).check().is_err());
    }
}

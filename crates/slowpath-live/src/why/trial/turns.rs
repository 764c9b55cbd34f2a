//! When what is on: blocks off, on, off, on ... of which the first part is not counted.
//!
//! Pure: time and bytes are passed in.

use serde::Serialize;
use slowpath_diagnose::alternation::Effect;

/// How long the blocks are, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Begin of each block in which the change takes hold, nanoseconds; not counted.
    pub settle: u64,
    /// The rest of it, which counts, nanoseconds.
    pub measure: u64,
    /// Number of blocks; in turns odd: the first and the last are off.
    pub blocks: usize,
    /// So many where the effect is not told to a tenth before.
    pub most: usize,
    /// Whether the change is turned on once, for the second half of the blocks, because it is not given back whole.
    pub once: bool,
}

impl Plan {
    /// Blocks for a connection with this round trip, and seconds between its losses where it has some.
    ///
    /// A congestion control finds its window in a dozen round trips where it searches, and in a few losses where losses tell it.
    pub fn new(rtt_s: f64, between_losses_s: Option<f64>) -> Self {
        let losses = between_losses_s.unwrap_or(0.0) * LOSSES;
        let settle = (rtt_s * ROUND_TRIPS).max(losses).clamp(LEAST_S, MOST_S);
        Self {
            settle: (settle * 1e9) as u64,
            measure: ((settle * MEASURED).max(LEAST_MEASURED_S) * 1e9) as u64,
            blocks: BLOCKS,
            most: BLOCKS_MOST,
            once: false,
        }
    }

    /// No more blocks than are made of each change, since others wait.
    #[must_use]
    pub const fn short(self) -> Self {
        Self {
            most: self.blocks,
            ..self
        }
    }

    /// The same blocks before and after the change is made once.
    #[must_use]
    pub const fn once(self) -> Self {
        Self {
            blocks: BLOCKS_ONCE,
            most: BLOCKS_ONCE,
            once: true,
            ..self
        }
    }

    const fn is_on(&self, block: usize) -> bool {
        if self.once {
            block >= self.blocks / 2
        } else {
            block % 2 == 1
        }
    }

    /// Seconds that the trial of a change takes at least, on the shortest path.
    pub fn least_s(once: bool) -> f64 {
        let plan = Self::new(0.0, None);
        let plan = if once { plan.once() } else { plan };
        plan.blocks as f64 * plan.block_s()
    }

    /// Seconds of one block.
    pub const fn block_s(&self) -> f64 {
        (self.settle + self.measure) as f64 / 1e9
    }
}

/// The part of a block that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Block {
    /// Whether the change was on.
    pub on: bool,
    /// Nanoseconds since the watch began.
    pub from: u64,
    /// Likewise.
    pub to: u64,
    /// Payload bytes that reached their receiver in it.
    pub bytes: u64,
}

impl Block {
    /// Bytes per second; one in which nothing arrived counts as one segment, since its logarithm is needed.
    pub fn rate(&self) -> f64 {
        self.bytes.max(1_448) as f64 / ((self.to - self.from).max(1) as f64 / 1e9)
    }
}

/// What is to be done at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Stay,
    /// The change on.
    On,
    /// The change off.
    Off,
    /// All blocks are there; the change is off.
    Done,
}

/// Whether a queue gets shorter.
#[derive(Debug, Clone, Copy)]
struct Queue {
    each: u64,
    /// What it was at the begin: what is done now shows behind it only.
    first: u64,
    before: Option<(u64, u64)>,
    is_draining: bool,
}

impl Queue {
    fn new(settle: u64, first: u64) -> Self {
        Self {
            each: (settle / LOOKS_AGAIN).max(LEAST_LOOK),
            first,
            before: None,
            is_draining: false,
        }
    }

    /// Takes its length at a look, nanoseconds; `age` is the time since the begin.
    fn is_draining(&mut self, at: u64, age: u64, queued: u64) -> bool {
        match self.before {
            // A long queue takes long to get shorter by as much as round trips vary.
            Some((since, before)) if at < since + self.each.max(before) => {}
            Some((_, before)) => {
                self.is_draining = queued + NOISE.max(before / VARIES) < before;
                self.before = Some((at, queued));
            }
            // Before it is known, one that is there may be.
            None => {
                self.is_draining = queued > NOISE;
                self.before = (age >= self.first).then_some((at, queued));
            }
        }
        self.is_draining
    }
}

/// Follows the blocks of one change.
#[derive(Debug, Clone)]
pub struct Turns {
    plan: Plan,
    begin: u64,
    queue: Queue,
    counted: Option<(u64, u64)>,
    on: bool,
    blocks: Vec<Block>,
}

impl Turns {
    /// Begins with a block without the change, at `at` nanoseconds.
    pub fn new(plan: Plan, at: u64) -> Self {
        Self {
            plan,
            begin: at,
            queue: Queue::new(plan.settle, 0),
            counted: None,
            on: false,
            blocks: Vec::new(),
        }
    }

    /// Takes a look: `bytes` is what has reached its receiver so far, `queued` how long packets wait on the path now, nanoseconds.
    ///
    /// A queue that a block leaves behind is still being delivered in the next one: while it drains, nothing counts.
    pub fn step(&mut self, at: u64, bytes: u64, queued: u64) -> Step {
        if self.counted.is_none() {
            let age = at.saturating_sub(self.begin);
            let is_draining = self.queue.is_draining(at, age, queued);
            if age >= self.plan.settle + self.queue.first && !is_draining || age >= DRAINS_MOST {
                self.counted = Some((at, bytes));
            }
        }
        let Some((from, before)) = self.counted else {
            return Step::Stay;
        };
        if at < from + self.plan.measure {
            return Step::Stay;
        }
        self.blocks.push(Block {
            on: self.on,
            from,
            to: at,
            bytes: bytes.saturating_sub(before),
        });
        if self.is_enough() {
            return Step::Done;
        }
        let on = self.plan.is_on(self.blocks.len());
        if on == self.on {
            // Nothing changes, so nothing has to take hold.
            (self.begin, self.counted) = (at, Some((at, bytes)));
            return Step::Stay;
        }
        (self.begin, self.counted, self.on) = (at, None, on);
        self.queue = Queue::new(self.plan.settle, queued);
        if self.on { Step::On } else { Step::Off }
    }

    /// Whether all blocks are there. How wide the interval is ends it, never what it says: a trial of nothing that went on until
    /// something was shown would always show it.
    fn is_enough(&self) -> bool {
        let is_narrow = || {
            self.as_they_spread()
                .is_none_or(|effect| effect.high95 <= NARROW * effect.ratio)
        };
        self.blocks.len() >= self.plan.most || (self.blocks.len() >= self.plan.blocks && is_narrow())
    }

    /// The blocks so far.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// What they show; `None` while there are too few.
    ///
    /// What arrived is known at looks alone. A program that gives data about as often as there are looks may have one more in every
    /// block of one kind, which no spread of the blocks shows: the interval is wider by a look's share of a block.
    pub fn effect(&self) -> Option<Effect> {
        let effect = self.as_they_spread()?;
        let look = 1.0 + LOOK as f64 / self.plan.measure.max(1) as f64;
        Some(Effect {
            low95: effect.low95 / look,
            high95: effect.high95 * look,
            ..effect
        })
    }

    /// The same by the spread of the blocks alone.
    fn as_they_spread(&self) -> Option<Effect> {
        let rates: Vec<(bool, f64)> = self.blocks.iter().map(|block| (block.on, block.rate())).collect();
        if self.plan.once {
            Effect::before_and_after(&rates)
        } else {
            Effect::of_blocks(&rates)
        }
    }
}

/// A queue is looked at again after this part of the begin of a block that does not count, after as long as it takes to pass, and
/// after so many nanoseconds at least.
const LOOKS_AGAIN: u64 = 4;
const LEAST_LOOK: u64 = 100_000_000;
/// It drains while it gets shorter by more than this, nanoseconds, and by more than this part of it: round trips vary.
const NOISE: u64 = 2_000_000;
const VARIES: u64 = 20;
/// Round trips in which a change takes hold.
const ROUND_TRIPS: f64 = 16.0;
/// Losses after which a window that they make is what they make it: each takes three tenths of what is too much.
const LOSSES: f64 = 6.0;
/// The part that counts, against the begin that does not.
const MEASURED: f64 = 0.75;
/// Shortest and longest begin of a block that is not counted, seconds.
const LEAST_S: f64 = 0.4;
const MOST_S: f64 = 8.0;
/// So long a queue may take to drain, nanoseconds: 1.5 s of it behind a pace of nineteen twentieths of the link.
const DRAINS_MOST: u64 = 30_000_000_000;
/// Between two looks at a busy connection, nanoseconds.
pub const LOOK: u64 = 10_000_000;
/// Shortest part that counts, seconds: looks are 10 ms apart, and BBR's least-delay probe takes 0.2 s.
const LEAST_MEASURED_S: f64 = 0.6;
/// Blocks of each change: seven without, six with it.
const BLOCKS: usize = 13;
/// Blocks where the effect is not told before, and how far the end of its interval may be from it then.
const BLOCKS_MOST: usize = 61;
const NARROW: f64 = 1.1;
/// Blocks of one that is made once: half of them before it.
const BLOCKS_ONCE: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every 10 ms at a transfer of so many bytes a look, off and on.
    fn run(plan: Plan, off: u64, on: u64, looks: u64) -> (Turns, Vec<(u64, Step)>) {
        let mut turns = Turns::new(plan, 0);
        let (mut bytes, mut is_on, mut steps) = (0, false, Vec::new());
        for look in 1..=looks {
            bytes += if is_on { on } else { off };
            let step = turns.step(look * 10_000_000, bytes, 0);
            match step {
                Step::Stay => continue,
                Step::On => is_on = true,
                Step::Off => is_on = false,
                Step::Done => {
                    steps.push((look, step));
                    break;
                }
            }
            steps.push((look, step));
        }
        (turns, steps)
    }

    #[test]
    fn blocks_take_turns_and_their_begin_is_not_counted() {
        let plan = Plan {
            settle: 100_000_000,
            measure: 200_000_000,
            blocks: 5,
            most: 5,
            once: false,
        };
        let (turns, steps) = run(plan, 1_000, 3_000, 1_000);
        let (on, off, done) = (Step::On, Step::Off, Step::Done);
        assert_eq!(steps, [(30, on), (60, off), (90, on), (120, off), (150, done)]);
        assert!(
            turns
                .blocks()
                .iter()
                .all(|block| block.bytes == if block.on { 60_000 } else { 20_000 })
        );
        let effect = turns.as_they_spread().unwrap();
        assert!((effect.ratio - 3.0).abs() < 1e-9 && effect.low95 > 2.9);
    }

    #[test]
    fn one_look_more_in_every_block_of_a_kind_shows_nothing() {
        let plan = Plan::new(0.0, None);
        let blocks = |more: u64| {
            let mut turns = Turns::new(plan, 0);
            let block = |place: u64| Block {
                on: place % 2 == 1,
                from: place * 1_000_000_000,
                to: place * 1_000_000_000 + plan.measure,
                bytes: 65_536 * if place % 2 == 1 { 60 + more } else { 60 },
            };
            turns.blocks = (0..13).map(block).collect();
            turns.effect().unwrap()
        };
        let one = blocks(1);
        assert!(one.low95 < 1.0 && one.high95 > 1.0, "{one:?}");
        assert!(blocks(2).low95 > 1.0);
    }

    #[test]
    fn what_is_not_given_back_is_made_once() {
        let plan = Plan {
            settle: 100_000_000,
            measure: 200_000_000,
            blocks: 6,
            most: 6,
            once: true,
        };
        let (turns, steps) = run(plan, 1_000, 3_000, 1_000);
        assert_eq!(steps, [(70, Step::On), (140, Step::Done)]);
        let on: Vec<bool> = turns.blocks().iter().map(|block| block.on).collect();
        assert_eq!(on, [false, false, false, true, true, true]);
        assert!((turns.effect().unwrap().ratio - 3.0).abs() < 1e-9);
    }

    #[test]
    fn what_a_queue_still_delivers_does_not_count() {
        let plan = Plan {
            settle: 100_000_000,
            measure: 200_000_000,
            blocks: 5,
            most: 5,
            once: false,
        };
        let mut turns = Turns::new(plan, 0);
        let step =
            |turns: &mut Turns, at: u64, queued: u64| turns.step(at * 1_000_000, at, queued * 1_000_000);
        // It gets shorter by 30 ms in 100 ms, until 400 ms.
        let left = |at: u64| 120_u64.saturating_sub(at * 3 / 10);
        let steps: Vec<(u64, Step)> = (1..=130)
            .map(|look| look * 10)
            .map(|at| (at, step(&mut turns, at, left(at))))
            .filter(|(_, step)| *step != Step::Stay)
            .collect();
        // Then it is empty, which the next look back shows.
        assert_eq!(steps, [(730, Step::On), (1_030, Step::Off)]);
        let counted: Vec<(u64, u64)> = turns
            .blocks()
            .iter()
            .map(|block| (block.from, block.to))
            .collect();
        assert_eq!(
            counted,
            [(530_000_000, 730_000_000), (830_000_000, 1_030_000_000)]
        );
    }

    /// A queue of 1.5 s behind a pace of nine tenths of the link gets shorter by a fifteenth in a second.
    #[test]
    fn a_long_queue_that_drains_slowly_does_not_count() {
        let plan = Plan {
            settle: 400_000_000,
            measure: 600_000_000,
            blocks: 5,
            most: 5,
            once: false,
        };
        let mut turns = Turns::new(plan, 0);
        let (mut begun, mut queued) = (0, 1_500_u64);
        let mut steps = Vec::new();
        for at in (10..60_000).step_by(10) {
            // Without the change it grows, with the change it shrinks by 1 ms in 10.
            queued = if turns.on {
                queued.saturating_sub(1)
            } else {
                (queued + 2).min(1_500)
            };
            let step = turns.step(at * 1_000_000, at, queued * 1_000_000);
            match step {
                Step::Stay => {}
                Step::Done => break,
                Step::On | Step::Off => {
                    steps.push((step, at - begun, queued));
                    begun = at;
                }
            }
        }
        let with: Vec<&(Step, u64, u64)> = steps.iter().filter(|(step, ..)| *step == Step::Off).collect();
        assert!(with.len() == 2, "{steps:?}");
        assert!(with.iter().all(|(_, _, left)| *left == 0), "{steps:?}");
    }

    #[test]
    fn blocks_go_on_until_the_effect_is_told_to_a_tenth() {
        let plan = Plan {
            settle: 100_000_000,
            measure: 200_000_000,
            blocks: 5,
            most: 21,
            once: false,
        };
        // Twice as fast when on; every block gives or takes as much as `noise` says.
        let blocks = |noise: f64| {
            let mut turns = Turns::new(plan, 0);
            let mut bytes = 0.0;
            let mut is_on = false;
            for look in 1.. {
                let sign = if (turns.blocks().len() / 2).is_multiple_of(2) {
                    1.0
                } else {
                    -1.0
                };
                bytes += 1e5 * if is_on { 2.0 } else { 1.0 } * (noise * sign).exp();
                match turns.step(look * 10_000_000, bytes as u64, 0) {
                    Step::Stay => {}
                    Step::On => is_on = true,
                    Step::Off => is_on = false,
                    Step::Done => break,
                }
            }
            turns
        };
        assert_eq!(blocks(0.0).blocks().len(), 5);
        let some = blocks(0.08);
        assert!((6..21).contains(&some.blocks().len()), "{}", some.blocks().len());
        let effect = some.as_they_spread().unwrap();
        assert!(
            effect.high95 <= 1.1 * effect.ratio && effect.low95 < 2.0 && effect.high95 > 2.0,
            "{effect:?}"
        );
        assert_eq!(blocks(1.0).blocks().len(), 21);
        let waits = Plan::new(0.02, None).short();
        assert_eq!((waits.blocks, waits.most), (13, 13));
    }

    #[test]
    fn a_transfer_that_ends_early_leaves_its_whole_blocks() {
        let plan = Plan {
            settle: 100_000_000,
            measure: 200_000_000,
            blocks: 5,
            most: 5,
            once: false,
        };
        let (turns, _) = run(plan, 1_000, 3_000, 100);
        assert_eq!(turns.blocks().len(), 3);
        assert_eq!(turns.effect(), None);
    }

    #[test]
    fn blocks_are_as_long_as_the_path_needs() {
        let near = Plan::new(0.001, None);
        assert_eq!((near.settle, near.measure), (400_000_000, 600_000_000));
        let far = Plan::new(0.2, None);
        assert_eq!((far.settle, far.measure), (3_200_000_000, 2_400_000_000));
        assert_eq!(Plan::new(0.02, Some(0.5)).settle, 3_000_000_000);
        assert_eq!(Plan::new(10.0, None).settle, 8_000_000_000);
        assert!(near.blocks % 2 == 1);
    }
}

//! The capture's clock: its real resolution, and jumps of it.

/// A step back by at least this much is a clock that was set, not a capture with several queues.
const STEP_NS: i64 = 50_000_000;

/// Times beyond 73 years from 1970 are nonsense; within, no difference overflows.
const LIMIT: i64 = 1 << 61;

/// Watches capture times and takes steps of the clock out of them.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    first: Option<i64>,
    last_raw: i64,
    last: i64,
    offset: i64,
    unit: u64,
    /// Packets looked at for the resolution.
    samples: u32,
    equal: u64,
    /// Steps back of the clock: frame number and nanoseconds.
    pub(crate) steps: Vec<(u64, i64)>,
    /// Jumps forward that the hosts' own clocks do not show: frame number and nanoseconds.
    pub(crate) leaps: Vec<(u64, i64)>,
    /// Small steps back, as captures with several queues have.
    pub(crate) disorder: u64,
    /// Packets without a time stamp.
    pub(crate) untimed: u64,
}

impl Clock {
    /// The corrected, never decreasing time of the packet with this frame number.
    pub(crate) fn correct(&mut self, raw: i64, number: u64) -> i64 {
        let raw = raw.clamp(-LIMIT, LIMIT);
        let Some(first) = self.first else {
            self.first = Some(raw);
            self.last_raw = raw;
            self.last = raw;
            return raw;
        };
        let step = raw.saturating_sub(self.last_raw);
        if step == 0 {
            self.equal += 1;
        }
        if self.samples < 20_000 {
            self.samples += 1;
            self.unit = greatest_common_divisor(self.unit, raw.abs_diff(first));
        }
        if step <= -STEP_NS {
            if self.steps.len() < 64 {
                self.steps.push((number, -step));
            }
            self.offset = self.offset.saturating_sub(step);
        } else if step < 0 {
            self.disorder += 1;
        }
        self.last_raw = raw;
        self.last = self.last.max(raw.saturating_add(self.offset).min(2 * LIMIT));
        self.last
    }

    /// Whether the time since the last packet is long enough to be a jump.
    pub(crate) fn pauses(&self, raw: i64) -> bool {
        self.first.is_some() && raw.clamp(-LIMIT, LIMIT).saturating_sub(self.last_raw) > 500_000_000
    }

    /// The corrected time of a packet that comes next.
    pub(crate) fn corrected(&self, raw: i64) -> i64 {
        raw.clamp(-LIMIT, LIMIT)
            .saturating_add(self.offset)
            .min(2 * LIMIT)
    }

    /// Takes a jump forward out of all times from the packet with this frame number on.
    pub(crate) fn leap(&mut self, number: u64, nanoseconds: i64) {
        if self.leaps.len() < 64 {
            self.leaps.push((number, nanoseconds));
        }
        self.offset = self.offset.saturating_sub(nanoseconds);
    }

    /// Time of the first packet and the last corrected time.
    pub(crate) fn span(&self) -> Option<(i64, i64)> {
        self.first.map(|first| (first, self.last))
    }

    /// The unit in which time stamps advance, nanoseconds; 0 if unknown.
    pub(crate) const fn resolution_ns(&self) -> u64 {
        self.unit
    }

    /// Share of packets with the time of the one before.
    pub(crate) fn equal_share(&self, packets: u64) -> f64 {
        if packets == 0 {
            0.0
        } else {
            self.equal as f64 / packets as f64
        }
    }
}

const fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

//! Delivery opportunities as mahimahi records them.
//!
//! | | mahimahi | here | why |
//! |---|---|---|---|
//! | bytes of one opportunity | 1504, counting 4 bytes of its own TUN header | 1500 at the link's layer (a setting) | same number of IP bytes |
//! | after the last line | starts again, the last line's time being the period | the same | |
//! | a packet larger than what is left | takes the rest and continues in the next opportunity | the same | |
//! | an opportunity nobody uses | lost | the same | |
//! | clock | milliseconds, as the process wakes up | milliseconds exactly | model time |

use serde::{Deserialize, Serialize};
use slowpath_units::{BitRate, Time};

use crate::setting::SettingError;

/// A trace: at each listed millisecond one opportunity to send [`bytes`](Self::bytes).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Milliseconds from the start, never falling; the last is also the period after which the list repeats.
    pub millis: Vec<u32>,
    /// Bytes of one opportunity.
    #[serde(default = "opportunity_bytes")]
    pub bytes: u32,
}

impl Trace {
    /// Reads mahimahi's text format: one number of milliseconds a line.
    ///
    /// # Errors
    /// The first line that is no number or goes back in time.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut millis: Vec<u32> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            let time = line.parse().map_err(|_| TraceError::NotANumber {
                line: index + 1,
                found: line.chars().take(40).collect(),
            })?;
            if millis.last().is_some_and(|last| time < *last) {
                return Err(TraceError::Falling {
                    line: index + 1,
                    found: time,
                });
            }
            millis.push(time);
        }
        if millis.last().is_none_or(|last| *last == 0) {
            return Err(TraceError::NoPeriod);
        }
        Ok(Self {
            millis,
            bytes: opportunity_bytes(),
        })
    }

    /// The same list from another time on, milliseconds, and after its end from its beginning. What was the last opportunity before
    /// that time is now the last of all, and comes at the end of the period.
    #[must_use]
    pub fn starting_at(mut self, from: u32) -> Self {
        let period = self.millis.last().copied().unwrap_or(0);
        let from = from % period.max(1);
        let first = self.millis.partition_point(|at| *at < from);
        self.millis.rotate_left(first);
        for at in &mut self.millis {
            *at = if *at < from {
                *at + (period - from)
            } else {
                *at - from
            };
        }
        // The last opportunity ends the period.
        if let Some(last) = self.millis.last_mut() {
            *last = period;
        }
        self
    }

    /// The rate of its opportunities, all used, over one period.
    pub fn mean(&self) -> BitRate {
        let bits = self.millis.len() as u128 * u128::from(self.bytes) * 8_000;
        let period = self.millis.last().copied().unwrap_or(0).max(1);
        BitRate::new(u64::try_from(bits / u128::from(period)).unwrap_or(u64::MAX))
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        if self.bytes == 0 {
            return Err(SettingError::Zero {
                setting: "bytes of an opportunity",
            });
        }
        if let Some(at) = self.millis.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(SettingError::NotRising {
                setting: "trace",
                entry: at + 2,
            });
        }
        match self.millis.last() {
            None => Err(SettingError::Empty { setting: "trace" }),
            Some(0) => Err(SettingError::Zero {
                setting: "the trace's last time, which is its period,",
            }),
            Some(_) => Ok(()),
        }
    }
}

/// Why a trace cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line is no whole number.
    #[error("reading a trace: line {line}: \"{found}\" is no whole number of milliseconds")]
    NotANumber {
        /// The line, from 1.
        line: usize,
        /// Its beginning.
        found: String,
    },
    /// A time is earlier than the one before.
    #[error("reading a trace: line {line}: {found} ms is earlier than the line before; sort the file")]
    Falling {
        /// The line, from 1.
        line: usize,
        /// The time.
        found: u32,
    },
    /// The list is empty or all zero, so it has no period.
    #[error(
        "reading a trace: no time above 0 in it; the last line must be the trace's length in milliseconds"
    )]
    NoPeriod,
}

/// A trace being used up.
#[derive(Debug)]
pub(super) struct Opportunities {
    millis: Vec<u32>,
    bytes: u32,
    cycle: u64,
    index: usize,
    used: u32,
}

impl Opportunities {
    pub(super) fn new(trace: &Trace) -> Self {
        Self {
            millis: trace.millis.clone(),
            bytes: trace.bytes,
            cycle: 0,
            index: 0,
            used: 0,
        }
    }

    /// Uses opportunities from `at` on for `bytes`; returns the time of the one that carries the last byte.
    pub(super) fn send(&mut self, at: Time, mut bytes: u32) -> Time {
        if self.time() < at {
            self.skip_to(at);
        }
        loop {
            let left = self.bytes - self.used;
            if bytes <= left {
                self.used += bytes;
                return self.time();
            }
            bytes -= left;
            self.next();
        }
    }

    fn time(&self) -> Time {
        let period = u64::from(self.millis[self.millis.len() - 1]);
        Time::from_nanos((self.cycle * period + u64::from(self.millis[self.index])) * 1_000_000)
    }

    fn next(&mut self) {
        self.used = 0;
        self.index += 1;
        if self.index == self.millis.len() {
            self.index = 0;
            self.cycle += 1;
        }
    }

    /// Goes on to the first opportunity not before `at`.
    fn skip_to(&mut self, at: Time) {
        let period = u64::from(self.millis[self.millis.len() - 1]);
        let millis = at.nanos().div_ceil(1_000_000);
        // The period's end belongs to the cycle that ends there.
        let cycle = millis.saturating_sub(1) / period;
        let within = millis - cycle * period;
        let index = self.millis.partition_point(|time| u64::from(*time) < within);
        if (cycle, index) != (self.cycle, self.index) {
            (self.cycle, self.index, self.used) = (cycle, index, 0);
        }
    }
}

const fn opportunity_bytes() -> u32 {
    1500
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_at_the_listed_times_only_and_repeats() {
        let mut trace = Opportunities::new(&Trace::parse("2\n2\n5\n").unwrap());
        let ms = |n: u64| Time::from_nanos(n * 1_000_000);
        assert_eq!(trace.send(ms(0), 1500), ms(2));
        assert_eq!(trace.send(ms(0), 1500), ms(2));
        assert_eq!(trace.send(ms(0), 1000), ms(5));
        // 500 bytes left at 5 ms, the rest at 5 + 2 ms.
        assert_eq!(trace.send(ms(0), 1500), ms(7));
        // What nobody used at 7 ms is lost.
        assert_eq!(trace.send(ms(8), 40), ms(10));
        assert_eq!(trace.send(ms(10), 1460), ms(10));
        assert_eq!(trace.send(ms(5003), 1500), ms(5005));
        assert_eq!(trace.send(ms(5005), 1), ms(5007));
    }

    #[test]
    fn a_list_that_starts_later_goes_on_from_its_beginning() {
        let from = |at| Trace::parse("2\n2\n5\n9\n").unwrap().starting_at(at).millis;
        assert_eq!(from(0), [2, 2, 5, 9]);
        assert_eq!(from(9), from(0));
        // 5 and 9 come first; the last one stands for the period.
        assert_eq!(from(3), [2, 6, 8, 9]);
        assert_eq!(from(14), [0, 4, 6, 9]);
    }

    #[test]
    fn refuses_what_is_no_trace() {
        assert_eq!(Trace::parse(""), Err(TraceError::NoPeriod));
        assert_eq!(Trace::parse("0\n0\n"), Err(TraceError::NoPeriod));
        assert!(matches!(
            Trace::parse("1\nx\n"),
            Err(TraceError::NotANumber { line: 2, .. })
        ));
        assert!(matches!(
            Trace::parse("5\n4\n"),
            Err(TraceError::Falling { line: 2, found: 4 })
        ));
        assert_eq!(Trace::parse("1\n\n3\n").unwrap().millis, [1, 3]);
    }
}

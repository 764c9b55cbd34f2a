//! Processors that nobody uses.

use std::fs;
use std::time::{Duration, Instant};

/// Watches how much of the processors stands idle.
#[derive(Debug)]
pub(crate) struct Spare {
    at: Instant,
    before: Option<Ticks>,
    found: Option<u64>,
}

/// Idle and all ticks of all processors, what other guests took included (`/proc/stat`, proc(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    all: u64,
}

impl Spare {
    pub(crate) fn new() -> Self {
        Self {
            at: Instant::now(),
            before: read(),
            found: None,
        }
    }

    /// Thousandths of a processor that stood idle lately; `None` before that is known.
    pub(crate) fn look(&mut self) -> Option<u64> {
        if self.at.elapsed() >= INTERVAL {
            let now = read();
            if let (Some(before), Some(now)) = (self.before, now) {
                self.found = idle(before, now, processors());
            }
            (self.before, self.at) = (now, Instant::now());
        }
        self.found
    }
}

/// Processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn read() -> Option<Ticks> {
    ticks(&fs::read_to_string("/proc/stat").ok()?)
}

fn ticks(text: &str) -> Option<Ticks> {
    let fields = text.lines().next()?.split_whitespace().skip(1);
    // Guest time is part of user time.
    let fields: Vec<u64> = fields.take(8).map_while(|field| field.parse().ok()).collect();
    Some(Ticks {
        idle: fields.get(3)? + fields.get(4)?,
        all: fields.iter().sum(),
    })
}

fn idle(before: Ticks, now: Ticks, processors: usize) -> Option<u64> {
    let all = now.all.checked_sub(before.all).filter(|all| *all > 0)?;
    Some(now.idle.saturating_sub(before.idle) * processors as u64 * 1000 / all)
}

/// A run that has just started shows by then.
const INTERVAL: Duration = Duration::from_millis(1500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_idle_is_spare() {
        let before = ticks("cpu  100 0 50 800 10 5 5 30 0 0\ncpu0 1 1 1 1\n").unwrap();
        assert_eq!(before, Ticks { idle: 810, all: 1000 });
        let now = Ticks { idle: 860, all: 1200 };
        assert_eq!(idle(before, now, 2), Some(500));
        assert_eq!(idle(now, now, 2), None);
        assert_eq!(ticks("nothing\n"), None);
    }
}

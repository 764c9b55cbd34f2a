//! What the machine did during a run: processor time, steal, clock jumps.

use std::fs;

use slowpath_sys::clock;

/// Counters of the machine at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Snapshot {
    monotonic: u64,
    boot: u64,
    real: u64,
    process_cpu: u64,
    ticks: Ticks,
}

/// The first line of `/proc/stat`, in ticks of all processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Ticks {
    /// User, nice and system time: programs and the kernel on their behalf.
    programs: u64,
    interrupts: u64,
    idle: u64,
    steal: u64,
}

/// What changed between two snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Change {
    /// Share of processor time in use by anything.
    pub(crate) busy: f64,
    /// Share of processor time that other guests took.
    pub(crate) steal: f64,
    /// Nanoseconds by which the time of day moved against the clock.
    pub(crate) clock_jump: u64,
    /// Nanoseconds for which the machine was suspended.
    pub(crate) suspended: u64,
}

impl Snapshot {
    pub(crate) fn take() -> Self {
        Self {
            monotonic: clock::monotonic(),
            boot: clock::boot_time(),
            real: clock::real_time(),
            process_cpu: clock::process_cpu(),
            ticks: fs::read_to_string("/proc/stat")
                .map(|text| ticks(&text))
                .unwrap_or_default(),
        }
    }

    /// What happened since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Change {
        let elapsed = self.monotonic - earlier.monotonic;
        let part = |now: u64, then: u64| now.saturating_sub(then);
        let programs = part(self.ticks.programs, earlier.ticks.programs);
        let interrupts = part(self.ticks.interrupts, earlier.ticks.interrupts);
        let steal = part(self.ticks.steal, earlier.ticks.steal);
        let all = programs + interrupts + steal + part(self.ticks.idle, earlier.ticks.idle);
        let share = |ticks: u64| if all == 0 { 0.0 } else { ticks as f64 / all as f64 };
        let real = part(self.real, earlier.real);
        Change {
            busy: share(programs + interrupts),
            steal: share(steal),
            clock_jump: real.abs_diff(elapsed),
            suspended: part(self.boot - self.monotonic, earlier.boot - earlier.monotonic),
        }
    }
}

fn ticks(text: &str) -> Ticks {
    let fields: Vec<u64> = text
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    let field = |index: usize| fields.get(index).copied().unwrap_or(0);
    Ticks {
        programs: field(0) + field(1) + field(2),
        idle: field(3) + field(4),
        interrupts: field(5) + field(6),
        steal: field(7),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_from_the_first_line() {
        let first = ticks("cpu  100 0 50 800 10 5 5 30 0 0\ncpu0 1 1 1 1\n");
        assert_eq!(
            first,
            Ticks {
                programs: 150,
                interrupts: 10,
                idle: 810,
                steal: 30
            }
        );
        let then = Snapshot {
            monotonic: 1000,
            real: 5000,
            boot: 1000,
            ..Snapshot::default()
        };
        let now = Snapshot {
            monotonic: 2000,
            real: 9000,
            boot: 2500,
            ticks: first,
            ..Snapshot::default()
        };
        let change = now.since(&then);
        assert!((change.busy - 0.16).abs() < 1e-9 && (change.steal - 0.03).abs() < 1e-9);
        assert_eq!((change.clock_jump, change.suspended), (3000, 500));
    }
}

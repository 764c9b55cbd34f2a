//! What the machine did during a run: processor time, steal, other programs, clock jumps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use slowpath_sys::clock;

/// Counters of the machine at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Snapshot {
    monotonic: u64,
    boot: u64,
    real: u64,
    ticks: Ticks,
    /// Processor ticks of every process that is not ours, with those of its ended children.
    others: BTreeMap<u32, u64>,
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
    /// Processors that programs outside the lab used, on average.
    pub(crate) others: f64,
    /// Processors that there are.
    pub(crate) processors: f64,
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
            others: processes(),
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
        // As a sum, because a child's ticks move to its parent when it ends.
        let all_others = |snapshot: &Self| snapshot.others.values().sum::<u64>();
        let foreign = part(all_others(self), all_others(earlier));
        let processors = std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64);
        Change {
            busy: share(programs + interrupts),
            steal: share(steal),
            others: share(foreign) * processors,
            processors,
            clock_jump: real.abs_diff(elapsed),
            suspended: part(self.boot - self.monotonic, earlier.boot - earlier.monotonic),
        }
    }
}

/// Processor ticks of all processes but ours (`/proc/PID/stat`, `proc(5)`): this one, those of the same program that
/// started it, and all their descendants. Runs side by side are nobody else's load.
fn processes() -> BTreeMap<u32, u64> {
    let mut parents = BTreeMap::new();
    let mut used = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let text = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some((parent, ticks)) = process(&text) {
            parents.insert(pid, parent);
            used.insert(pid, ticks);
        }
    }
    let mut ours = BTreeSet::from([first_of_ours(&parents)]);
    // Numbers wrap, so a child may have a smaller one than its parent: repeat until nothing is added.
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(pid, parent)| ours.contains(parent) && !ours.contains(pid))
            .map(|(pid, _)| *pid)
            .collect();
        if more.is_empty() {
            break;
        }
        ours.extend(more);
    }
    used.retain(|pid, _| !ours.contains(pid));
    used
}

/// The first process of this program among those that this one descends from.
fn first_of_ours(parents: &BTreeMap<u32, u32>) -> u32 {
    let program = |pid: u32| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let own = program(std::process::id());
    let mut first = std::process::id();
    while let Some(&parent) = parents.get(&first)
        && own.is_some()
        && program(parent) == own
    {
        first = parent;
    }
    first
}

/// Parent and processor ticks (own and of ended children) in one line of `/proc/PID/stat`.
fn process(text: &str) -> Option<(u32, u64)> {
    // The name stands in parentheses and may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
    Some((u32::try_from(number(1)?).ok()?, ticks))
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

    #[test]
    fn other_programs_are_counted_and_ours_are_not() {
        let line = "77 (a) b) R 5 1 1 0 -1 0 0 0 0 0 3 4 10 20 20 0 1 0";
        assert_eq!(process(line), Some((5, 37)));
        let all = processes();
        assert!(!all.contains_key(&std::process::id()));
        let then = Snapshot {
            others: BTreeMap::from([(5, 100)]),
            ..Snapshot::default()
        };
        let now = Snapshot {
            monotonic: 1,
            real: 1,
            boot: 1,
            ticks: Ticks {
                programs: 200,
                interrupts: 0,
                idle: 200,
                steal: 0,
            },
            others: BTreeMap::from([(5, 150), (9, 50)]),
        };
        let change = now.since(&then);
        assert!((change.others - change.processors / 4.0).abs() < 1e-9);
        // A child that had run for long ends and is waited for: nothing has been used.
        let child = Snapshot {
            others: BTreeMap::from([(5, 150), (9, 50)]),
            ..Snapshot::default()
        };
        let waited = Snapshot {
            others: BTreeMap::from([(5, 200)]),
            ..now
        };
        assert!(waited.since(&child).others.abs() < 1e-9);
    }
}

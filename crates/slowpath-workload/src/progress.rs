//! Bytes per interval, as the application saw them.

use slowpath_record::Series;
use slowpath_units::{Duration, Time};

/// Counts the bytes of a transfer into intervals of equal length from its start.
#[derive(Debug, Clone)]
pub struct Progress {
    start: Time,
    interval: Duration,
    buckets: Vec<u64>,
    last: Time,
    total: u64,
}

impl Progress {
    /// Counts from `start` in intervals of `interval` (at least a millisecond).
    pub fn new(start: Time, interval: Duration) -> Self {
        Self {
            start,
            interval: interval.max(Duration::from_millis(1)),
            buckets: Vec::new(),
            last: start,
            total: 0,
        }
    }

    /// Counts from `start`, per second.
    pub fn per_second(start: Time) -> Self {
        Self::new(start, Duration::from_secs(1))
    }

    /// Adds `bytes` that moved just before `now`.
    pub fn add(&mut self, bytes: u64, now: Time) {
        let index = (now.since(self.start).nanos() / self.interval.nanos()) as usize;
        if index >= MAX_BUCKETS {
            self.total += bytes;
            return;
        }
        if self.buckets.len() <= index {
            self.buckets.resize(index + 1, 0);
        }
        self.buckets[index] += bytes;
        self.last = self.last.max(now);
        self.total += bytes;
    }

    /// All bytes so far.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Bytes of each interval, oldest first; the last interval may be incomplete.
    pub fn buckets(&self) -> &[u64] {
        &self.buckets
    }

    /// Rate per interval in byte/s, stamped with the interval's end (the last one with the last byte's time).
    pub fn series(&self, name: &str) -> Series {
        let points = self.buckets.iter().enumerate().map(|(index, bytes)| {
            let begin = self.start + self.interval * index as u64;
            let end = (begin + self.interval).min(self.last.max(begin + Duration::from_millis(1)));
            (end, *bytes as f64 / end.since(begin).seconds())
        });
        Series {
            name: name.to_owned(),
            unit: "byte/s".to_owned(),
            points: points.collect(),
        }
    }
}

/// A bound for clocks gone wild: three years of seconds.
const MAX_BUCKETS: usize = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_interval_counts_its_own_length() {
        let start = Time::ZERO + Duration::from_millis(500);
        let mut progress = Progress::per_second(start);
        progress.add(1000, start + Duration::from_millis(10));
        progress.add(1000, start + Duration::from_millis(990));
        progress.add(500, start + Duration::from_millis(1500));
        let series = progress.series("goodput");
        assert_eq!(
            series.points,
            vec![
                (start + Duration::from_secs(1), 2000.0),
                (start + Duration::from_millis(1500), 1000.0)
            ]
        );
        assert_eq!(progress.total(), 2500);
    }
}

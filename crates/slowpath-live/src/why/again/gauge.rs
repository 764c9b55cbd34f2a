//! What of a run counts, and when it is enough.

/// How much of a run is enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Most {
    /// Payload bytes since data are under way.
    pub bytes: u64,
    /// Seconds since then.
    pub seconds: f64,
}

/// Follows the bytes of one run.
#[derive(Debug, Clone)]
pub struct Gauge {
    most: Most,
    begun: Option<(u64, u64)>,
    settled: Option<(u64, u64)>,
    newest: (u64, u64),
    ended: bool,
}

impl Gauge {
    /// Before the first look.
    pub const fn new(most: Most) -> Self {
        Self {
            most,
            begun: None,
            settled: None,
            newest: (0, 0),
            ended: false,
        }
    }

    /// Takes a look at the bytes moved so far, at `at` nanoseconds since the run began; gives whether it is enough.
    ///
    /// Data are under way from 32 KiB on: what comes before is the programs' login. A run in which none are for a minute is enough
    /// as well.
    pub fn look(&mut self, at: u64, bytes: u64) -> bool {
        if self.ended {
            return true;
        }
        if bytes > self.newest.1 {
            self.newest = (at, bytes);
        }
        match self.begun {
            None if bytes >= LOGIN => self.begun = Some((at, bytes)),
            None => self.ended = at >= PATIENCE,
            Some((from, before)) => {
                let time = (at - from) as f64 / 1e9 / self.most.seconds;
                let done = time.max(bytes.saturating_sub(before) as f64 / self.most.bytes as f64);
                if done >= START && self.settled.is_none() {
                    self.settled = Some((at, bytes));
                }
                self.ended = done >= 1.0;
                if self.ended {
                    // What stood still at the end counts, unless the program had ended.
                    self.newest.0 = at;
                }
            }
        }
        self.ended
    }

    /// Where what counts begins. A run that is ended is the begin of a longer one, of which the start is a smaller part: it counts
    /// from a third on. One that ends by itself counts whole.
    fn counted(&self) -> Option<(u64, u64)> {
        self.settled.filter(|_| self.ended).or(self.begun)
    }

    /// Payload bytes per second of what counts; `None` where hardly any were under way.
    pub fn rate(&self) -> Option<f64> {
        let (from, before) = self.counted()?;
        let (seconds, bytes) = ((self.newest.0 - from) as f64 / 1e9, self.newest.1 - before);
        (bytes >= LEAST && seconds > 0.0).then(|| bytes as f64 / seconds)
    }

    /// Seconds since the run began between which it counts.
    pub fn span(&self) -> (f64, f64) {
        let from = self.counted().map_or(self.newest.0, |(at, _)| at);
        (from as f64 / 1e9, self.newest.0 as f64 / 1e9)
    }

    /// Bytes moved in all.
    pub const fn bytes(&self) -> u64 {
        self.newest.1
    }
}

/// Payload of a login and of requests.
const LOGIN: u64 = 32 << 10;
/// Payload below which there is no rate.
const LEAST: u64 = 32 << 10;
/// This part of a run that is ended is its start.
const START: f64 = 1.0 / 3.0;
/// How long data may take to be under way, nanoseconds.
const PATIENCE: u64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Most = Most {
        bytes: 1_000_000,
        seconds: 4.0,
    };
    const S: u64 = 1_000_000_000;

    #[test]
    fn a_login_does_not_count_and_time_is_enough() {
        let mut gauge = Gauge::new(MOST);
        assert!(!gauge.look(S, 5_000) && !gauge.look(3 * S, 100_000));
        assert!(!gauge.look(5 * S, 300_000) && gauge.rate() == Some(100_000.0));
        // It stands still: that is part of its rate.
        assert!(gauge.look(7 * S, 400_000));
        // The start of a run that is ended does not count: it lasted until 5 s.
        assert_eq!((gauge.rate(), gauge.span()), (Some(50_000.0), (5.0, 7.0)));
        assert!(gauge.look(9 * S, 900_000) && gauge.bytes() == 400_000);
    }

    #[test]
    fn so_many_bytes_are_enough() {
        let mut gauge = Gauge::new(MOST);
        assert!(!gauge.look(S, 40_000) && !gauge.look(2 * S, 440_000) && gauge.look(3 * S, 1_040_000));
        assert_eq!(gauge.rate(), Some(600_000.0));
    }

    #[test]
    fn a_run_that_moves_nothing_has_no_rate_and_an_end() {
        let mut gauge = Gauge::new(MOST);
        assert!(!gauge.look(59 * S, 10_000) && gauge.look(60 * S, 10_000));
        assert_eq!(gauge.rate(), None);
    }
}

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
    newest: (u64, u64),
    ended: bool,
}

impl Gauge {
    /// Before the first look.
    pub const fn new(most: Most) -> Self {
        Self {
            most,
            begun: None,
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
                self.ended = (at - from) as f64 / 1e9 >= self.most.seconds
                    || bytes.saturating_sub(before) >= self.most.bytes;
                if self.ended {
                    // What stood still at the end counts, unless the program had ended.
                    self.newest.0 = at;
                }
            }
        }
        self.ended
    }

    /// Payload bytes per second while data were under way; `None` where hardly any were.
    pub fn rate(&self) -> Option<f64> {
        let (from, before) = self.begun?;
        let (seconds, bytes) = ((self.newest.0 - from) as f64 / 1e9, self.newest.1 - before);
        (bytes >= LEAST && seconds > 0.0).then(|| bytes as f64 / seconds)
    }

    /// Seconds since the run began between which they were.
    pub fn span(&self) -> (f64, f64) {
        let from = self.begun.map_or(self.newest.0, |(at, _)| at);
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
        assert!(gauge.look(7 * S, 300_000));
        assert_eq!((gauge.rate(), gauge.span()), (Some(50_000.0), (3.0, 7.0)));
        assert!(gauge.look(9 * S, 900_000) && gauge.bytes() == 300_000);
    }

    #[test]
    fn so_many_bytes_are_enough() {
        let mut gauge = Gauge::new(MOST);
        assert!(!gauge.look(S, 40_000) && gauge.look(2 * S, 1_040_000));
        assert_eq!(gauge.rate(), Some(1e6));
    }

    #[test]
    fn a_run_that_moves_nothing_has_no_rate_and_an_end() {
        let mut gauge = Gauge::new(MOST);
        assert!(!gauge.look(59 * S, 10_000) && gauge.look(60 * S, 10_000));
        assert_eq!(gauge.rate(), None);
    }
}

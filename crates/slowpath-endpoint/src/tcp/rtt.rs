//! Round-trip estimate and retransmission timeout.
//!
//! | | RFC 6298 | here | why |
//! |---|---|---|---|
//! | floor | RTO >= 1 s | variance term >= `min_rto` | Linux (`tcp_rtt_estimator`); with 200 ms as there |
//! | variance | smoothed by 1/4 | falls slowly, once per round trip, when samples get calmer | Linux |
//! | granularity | clock tick | nanoseconds | no tick here |

use slowpath_units::{Duration, Time};

use crate::filter::Best;

/// Round-trip estimator of one connection (`net/ipv4/tcp_input.c`, `tcp_rtt_estimator`).
#[derive(Debug, Clone)]
pub(crate) struct Rtt {
    /// Eight times the smoothed round trip in nanoseconds; 0 before the first sample.
    srtt8: u64,
    /// Four times the mean deviation in nanoseconds.
    mdev4: u64,
    mdev_max4: u64,
    var4: u64,
    /// The variance is looked at again when data beyond this is acknowledged.
    round_end: u64,
    min: Option<Best>,
    backoff: u32,
    min_rto: Duration,
    max_rto: Duration,
    initial_rto: Duration,
}

impl Rtt {
    pub(crate) const fn new(min_rto: Duration, max_rto: Duration, initial_rto: Duration) -> Self {
        Self {
            srtt8: 0,
            mdev4: 0,
            mdev_max4: 0,
            var4: 0,
            round_end: 0,
            min: None,
            backoff: 0,
            min_rto,
            max_rto,
            initial_rto,
        }
    }

    /// Takes a sample; `una` and `nxt` are the sender's sequence offsets.
    pub(crate) fn sample(&mut self, now: Time, rtt: Duration, una: u64, nxt: u64) {
        let nanos = rtt.nanos().max(1);
        match &mut self.min {
            Some(best) => {
                best.update_min(now.nanos(), MIN_WINDOW.nanos(), nanos);
            }
            None => self.min = Some(Best::new(now.nanos(), nanos)),
        }
        let floor = self.min_rto.nanos();
        if self.srtt8 == 0 {
            self.srtt8 = nanos << 3;
            self.mdev4 = nanos << 1;
            self.var4 = self.mdev4.max(floor);
            self.mdev_max4 = self.var4;
            self.round_end = nxt;
            return;
        }
        let srtt = self.srtt8 >> 3;
        self.srtt8 = (self.srtt8 + nanos - srtt).max(1);
        let mdev = self.mdev4 >> 2;
        if nanos < srtt {
            let error = srtt - nanos;
            // A shorter round trip says little about the variance: take it in slowly.
            if error > mdev {
                self.mdev4 += (error - mdev) >> 3;
            } else {
                self.mdev4 -= mdev - error;
            }
        } else {
            self.mdev4 = self.mdev4 + (nanos - srtt) - mdev;
        }
        if self.mdev4 > self.mdev_max4 {
            self.mdev_max4 = self.mdev4;
            self.var4 = self.var4.max(self.mdev_max4);
        }
        if una > self.round_end {
            if self.mdev_max4 < self.var4 {
                self.var4 -= (self.var4 - self.mdev_max4) >> 2;
            }
            self.round_end = nxt;
            self.mdev_max4 = floor;
        }
    }

    /// The smoothed round trip, if there was a sample.
    pub(crate) const fn smoothed(&self) -> Option<Duration> {
        if self.srtt8 == 0 {
            None
        } else {
            Some(Duration::from_nanos(self.srtt8 >> 3))
        }
    }

    /// The smallest round trip of the last 300 s, if there was a sample (`tcp_min_rtt_wlen`).
    pub(crate) fn minimum(&self) -> Option<Duration> {
        self.min.map(|best| Duration::from_nanos(best.value()))
    }

    /// The retransmission timeout, backed off after timeouts (RFC 6298, sections 2 and 5.5).
    pub(crate) fn timeout(&self) -> Duration {
        self.base_timeout()
            .saturating_doublings(self.backoff)
            .min(self.max_rto)
    }

    /// The retransmission timeout without back-off.
    pub(crate) fn base_timeout(&self) -> Duration {
        if self.srtt8 == 0 {
            return self.initial_rto;
        }
        Duration::from_nanos((self.srtt8 >> 3) + self.var4).min(self.max_rto)
    }

    /// A timeout passed without an acknowledgement.
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(30);
    }

    /// New data was acknowledged.
    pub(crate) fn reset_back_off(&mut self) {
        self.backoff = 0;
    }
}

trait Doublings {
    fn saturating_doublings(self, times: u32) -> Self;
}

impl Doublings for Duration {
    fn saturating_doublings(self, times: u32) -> Self {
        Self::from_nanos(self.nanos().saturating_mul(1 << times.min(40)))
    }
}

const MIN_WINDOW: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    fn linux() -> Rtt {
        Rtt::new(
            Duration::from_millis(200),
            Duration::from_secs(120),
            Duration::from_secs(1),
        )
    }

    #[test]
    fn a_steady_path_gives_round_trip_plus_200_ms() {
        let mut rtt = linux();
        assert_eq!(rtt.timeout(), Duration::from_secs(1));
        rtt.sample(Time::ZERO, Duration::from_millis(100), 0, 1);
        assert_eq!(rtt.timeout(), Duration::from_millis(300));
        for i in 1..200 {
            rtt.sample(Time::ZERO, Duration::from_millis(100), i * 10, i * 10 + 10);
        }
        assert_eq!(rtt.timeout(), Duration::from_millis(300));
        assert_eq!(rtt.smoothed(), Some(Duration::from_millis(100)));
    }

    #[test]
    fn timeouts_double_up_to_the_maximum() {
        let mut rtt = linux();
        rtt.sample(Time::ZERO, Duration::from_millis(100), 0, 1);
        let mut seen = Vec::new();
        for _ in 0..11 {
            seen.push(rtt.timeout().nanos() / 1_000_000);
            rtt.back_off();
        }
        assert_eq!(
            seen,
            [
                300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400, 76_800, 120_000, 120_000
            ]
        );
        rtt.reset_back_off();
        assert_eq!(rtt.timeout(), Duration::from_millis(300));
    }

    #[test]
    fn a_longer_round_trip_raises_the_variance_at_once() {
        let mut rtt = linux();
        rtt.sample(Time::ZERO, Duration::from_millis(100), 0, 1);
        rtt.sample(Time::ZERO, Duration::from_millis(900), 10, 20);
        // srtt = 100 + 800/8; 4 mdev = 200 + 800 - 50.
        assert_eq!(rtt.timeout(), Duration::from_millis(200 + 950));
    }
}

//! When pacing lets the next train go (`sk_pacing_status`, `tcp_update_skb_after_send` of Linux).

use slowpath_units::{BitRate, Duration, Time};

use super::config::Pacing;

/// The pacing clock of one connection.
///
/// It promises that no train begins before the one before it would have left at the pacing rate. The rate itself is
/// the caller's, as it depends on the window.
#[derive(Debug, Clone)]
pub(crate) struct Pacer {
    setting: Pacing,
    /// Rate behind slow start in per cent of a window for each round trip.
    percent: u32,
    next: Time,
    holding: bool,
}

impl Pacer {
    pub(crate) const fn new(setting: Pacing, percent: u32) -> Self {
        Self {
            setting,
            percent,
            next: Time::ZERO,
            holding: false,
        }
    }

    /// Whether the host wishes this connection to be paced.
    pub(crate) const fn wanted(&self) -> bool {
        !matches!(self.setting, Pacing::Auto)
    }

    /// The rate to pace at: `algorithm`'s own if it has one, else `plain` where pacing is on or capped, and at most the cap.
    pub(crate) fn rate(
        &self,
        algorithm: Option<BitRate>,
        plain: impl FnOnce() -> Option<BitRate>,
    ) -> Option<BitRate> {
        let rate = match self.setting {
            _ if algorithm.is_some() => algorithm,
            Pacing::On | Pacing::Capped(_) => plain(),
            Pacing::Auto => None,
        };
        self.capped(rate)
    }

    /// `rate`, but at most the cap, as trains are made for as well (`sk_pacing_rate` in `tcp_tso_autosize`).
    pub(crate) fn capped(&self, rate: Option<BitRate>) -> Option<BitRate> {
        match self.setting {
            Pacing::Capped(cap) => Some(rate.map_or(cap, |rate| rate.min(cap))),
            Pacing::Auto | Pacing::On => rate,
        }
    }

    /// `bytes` per round trip of `srtt`, times two in early slow start and a little more than one later
    /// (`tcp_update_pacing_rate`).
    pub(crate) fn plain_rate(&self, bytes: u64, srtt: Duration, early: bool) -> BitRate {
        let srtt = srtt.nanos().max(1);
        let percent = if early { 200 } else { u64::from(self.percent) };
        let factor = 8 * percent * 10_000_000;
        // Asked for at each acknowledgement: 128 bits only for windows of a gigabyte.
        let bits = match bytes.checked_mul(factor) {
            Some(product) => product / srtt,
            None => {
                u64::try_from(u128::from(bytes) * u128::from(factor) / u128::from(srtt)).unwrap_or(u64::MAX)
            }
        };
        BitRate::new(bits.max(1))
    }

    /// Whether the next train must wait at `now`; remembered for [`event`](Self::event).
    pub(crate) fn holds(&mut self, paced: bool, now: Time) -> bool {
        self.holding = paced && now < self.next;
        self.holding
    }

    /// When the next train may go, if one is held back.
    pub(crate) fn event(&self) -> Option<Time> {
        self.holding.then_some(self.next)
    }

    /// When the next train may go, held back or not.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// `len` bytes left at `now` and take their span at `rate`.
    pub(crate) fn sent(&mut self, now: Time, len: u32, rate: BitRate) {
        let (span, _) = rate.time_for(u64::from(len), 0);
        // Up to half the span is forgiven for having been late.
        let credit = now.since(self.next).min(span / 2);
        self.next = now.max(self.next) + span.saturating_sub(credit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_waits_for_the_one_before() {
        let mut pacer = Pacer::new(Pacing::Capped(BitRate::new(8_000_000)), 120);
        let rate = pacer.rate(None, || None).unwrap();
        assert_eq!(rate, BitRate::new(8_000_000));
        // A window for each round trip may be less than the cap.
        let window = Some(BitRate::new(3_000_000));
        assert_eq!(pacer.rate(None, || window), window);
        assert_eq!(pacer.capped(Some(BitRate::new(90_000_000))), Some(rate));
        // 1000 bytes take 1 ms; nothing was late, so nothing is forgiven beyond half of it.
        let start = Time::ZERO + Duration::from_millis(10);
        pacer.sent(start, 1000, rate);
        assert_eq!(pacer.next(), start + Duration::from_micros(500));
        assert!(pacer.holds(true, start));
        assert_eq!(pacer.event(), Some(pacer.next()));
        pacer.sent(start, 1000, rate);
        assert_eq!(pacer.next(), start + Duration::from_micros(1500));
        assert!(!pacer.holds(true, pacer.next()));
        assert_eq!(pacer.event(), None);
        assert!(!pacer.holds(false, start));
    }

    #[test]
    fn the_plain_rate_is_a_window_for_each_round_trip() {
        let pacer = Pacer::new(Pacing::On, 120);
        let srtt = Duration::from_millis(100);
        assert_eq!(pacer.plain_rate(12_500, srtt, false), BitRate::new(1_200_000));
        assert_eq!(pacer.plain_rate(12_500, srtt, true), BitRate::new(2_000_000));
        // Beyond 64 bits the same figure comes out.
        assert_eq!(
            pacer.plain_rate(12_500_000_000, srtt, true),
            BitRate::new(2_000_000_000_000)
        );
    }
}

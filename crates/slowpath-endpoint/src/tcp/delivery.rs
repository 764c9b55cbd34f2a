//! How much was delivered, and how fast (`net/ipv4/tcp_rate.c`).

use slowpath_units::{Duration, Time};

use super::scoreboard::{Marks, Segment};
use crate::cc::RateSample;

/// Counts what the receiver is known to hold and measures the rate at which that grows.
///
/// It promises that a sample spans what was delivered between the sending of a segment and its acknowledgement, and
/// says whether the program, not the network, was the limit meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    /// Segments delivered, and when the last of them was acknowledged.
    delivered: u64,
    delivered_at: Time,
    /// When the first segment of the current sample was sent.
    first_sent: Time,
    /// Value of `delivered` up to which the program limits the rate; 0 if it does not.
    limited_until: u64,
    /// Segments ever marked lost.
    lost: u64,
}

impl Delivery {
    pub(crate) const fn new() -> Self {
        Self {
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            limited_until: 0,
            lost: 0,
        }
    }

    /// Segments delivered so far.
    pub(crate) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// When the last delivery was acknowledged.
    pub(crate) const fn delivered_at(&self) -> Time {
        self.delivered_at
    }

    /// Segments ever marked lost.
    pub(crate) const fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether the program limits the rate.
    pub(crate) const fn is_application_limited(&self) -> bool {
        self.limited_until > 0
    }

    /// Nothing was in flight before `now`: time starts anew.
    pub(crate) const fn restart(&mut self, now: Time) {
        self.first_sent = now;
        self.delivered_at = now;
    }

    /// Writes the state at sending into a segment (`tcp_rate_skb_sent`).
    pub(crate) const fn stamp(&self, segment: &mut Segment) {
        segment.delivered = self.delivered as u32;
        segment.delivered_at = self.delivered_at;
        segment.first_sent = self.first_sent;
        segment.set(Marks::APP_LIMITED, self.is_application_limited());
    }

    /// Segments delivered when this one was last sent. While it is in flight fewer than 2^32 others are: no window holds so many.
    pub(crate) fn at_sending(&self, segment: &Segment) -> u64 {
        self.delivered - u64::from((self.delivered as u32).wrapping_sub(segment.delivered))
    }

    pub(crate) const fn add_delivered(&mut self, segments: u32) {
        self.delivered += segments as u64;
    }

    pub(crate) const fn add_lost(&mut self) {
        self.lost += 1;
    }

    /// The next sample begins when this segment was sent; the result is how long sending took until then.
    pub(crate) fn begin_sample(&mut self, segment: &Segment) -> Duration {
        self.first_sent = segment.sent;
        segment.sent.since(segment.first_sent)
    }

    /// Until what is in flight is delivered, samples show the program's rate, not the network's.
    pub(crate) fn limit_by_application(&mut self, in_flight: u32) {
        self.limited_until = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// Completes a sample at an acknowledgement (`tcp_rate_gen`): `newest` is the segment sent last of those it
    /// delivered, with the span that sending took.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        newest: Option<(Segment, Duration)>,
        min_rtt: Option<Duration>,
        sample: &mut RateSample,
    ) {
        if self.limited_until > 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if sample.acked_sacked > 0 {
            self.delivered_at = now;
        }
        let Some((newest, send_interval)) = newest else {
            return;
        };
        let ack_interval = now.since(newest.delivered_at);
        sample.interval = ack_interval.max(send_interval);
        sample.app_limited = newest.is(Marks::APP_LIMITED);
        sample.prior_delivered = self.at_sending(&newest);
        // Shorter than the path: the acknowledgements were compressed, or of another transmission.
        if min_rtt.is_some_and(|min| sample.interval < min) {
            return;
        }
        sample.delivered = Some(self.delivered - sample.prior_delivered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_spans_one_round_trip() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut delivery = Delivery::new();
        delivery.restart(at(0));
        let mut segment = Segment::new(1, 1000, at(0));
        delivery.stamp(&mut segment);
        delivery.add_delivered(3);
        delivery.limit_by_application(4);
        let mut sample = RateSample {
            acked_sacked: 3,
            ..RateSample::default()
        };
        let span = delivery.begin_sample(&segment);
        delivery.sample(
            at(20),
            Some((segment, span)),
            Some(Duration::from_millis(20)),
            &mut sample,
        );
        assert_eq!(
            (sample.delivered, sample.interval),
            (Some(3), Duration::from_millis(20))
        );
        assert!(
            !sample.app_limited,
            "the segment left before the program fell short"
        );
        assert!(delivery.is_application_limited());
        delivery.add_delivered(5);
        let mut short = RateSample::default();
        delivery.sample(
            at(21),
            Some((segment, span)),
            Some(Duration::from_millis(22)),
            &mut short,
        );
        assert_eq!(short.delivered, None, "shorter than the path");
        assert!(!delivery.is_application_limited());
    }
}

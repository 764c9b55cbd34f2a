//! What a series of echo requests came to, the same in both clocks.

use slowpath_units::{Duration, Time};

use crate::run::FlowResult;
use crate::series::Series;

/// The flow and the round trips of `sent` requests in packets of `bytes`, from each reply's arrival and round trip in
/// seconds.
pub fn result(name: &str, sent: u64, bytes: u64, points: Vec<(Time, f64)>) -> (FlowResult, Series) {
    let received = points.len() as u64;
    let flow = FlowResult {
        name: name.to_owned(),
        sent_packets: sent,
        received_packets: received,
        sent_bytes: sent * bytes,
        received_bytes: received * bytes,
        jitter: jitter(&points),
        goodput_byte_per_s: 0.0,
        lost: Vec::new(),
    };
    let series = Series {
        name: format!("{name}/round-trip"),
        unit: "s".to_owned(),
        points,
    };
    (flow, series)
}

/// Mean difference of successive round trips in seconds; two replies are needed.
pub fn jitter(points: &[(Time, f64)]) -> Option<Duration> {
    let steps = points.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs());
    let mean = steps.sum::<f64>() / points.len().checked_sub(1).filter(|count| *count > 0)? as f64;
    std::time::Duration::try_from_secs_f64(mean)
        .ok()
        .map(Duration::from)
}

/// Bytes of ICMP's header for echo requests.
pub const ICMP_HEADER: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_needs_two_replies() {
        for (round_trips, jitter) in [
            (&[][..], None),
            (&[0.1], None),
            (&[0.1, 0.1], Some(Duration::ZERO)),
            (&[0.01, 0.03, 0.02], Some(Duration::from_millis(15))),
        ] {
            let points: Vec<_> = round_trips.iter().map(|rtt| (Time::ZERO, *rtt)).collect();
            let (flow, series) = result("p", 3, 84, points);
            assert_eq!(flow.jitter, jitter, "{round_trips:?}");
            assert_eq!(flow.received_bytes, round_trips.len() as u64 * 84);
            assert_eq!((flow.sent_bytes, series.name.as_str()), (252, "p/round-trip"));
        }
    }
}

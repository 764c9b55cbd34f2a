//! Closed forms: the payload rate that each limit allows. All rates are bytes per second of payload.
//!
//! | limit | rate | source |
//! |---|---|---|
//! | window of any kind | whole segments of the window per round trip | RFC 9293, section 3.8.6 |
//! | link, shaper, policer | rate of frames times payload share of a frame | Ethernet II, RFC 894 |
//! | loss, Reno | `mss / rtt * sqrt(3 / (2 b p))` | Mathis et al., CCR 27(3), 1997; `b` segments per ACK |
//! | loss, CUBIC | `mss / rtt * 1.054 * (rtt / p)^(3/4)` | RFC 9438, section 5.1, with C = 0.4, beta = 0.7 |
//! | a finite transfer | ten segments, doubled each round trip until the rate is reached | RFC 6928, RFC 5681 |
//! | reader | bytes it takes per second while it has data | |

/// Bytes of an Ethernet frame around the IP packet: header 14, FCS 4.
pub const FRAME_OVERHEAD: f64 = 18.0;

/// The rate of a window: what fits into it in whole segments, once per round trip.
///
/// A window below one segment still moves itself once per round trip.
pub fn window(bytes: f64, mss: f64, rtt_s: f64) -> f64 {
    let whole = (bytes / mss).floor() * mss;
    (if whole > 0.0 { whole } else { bytes }) / rtt_s
}

/// The payload rate of a link that carries `bit_per_s` of frames with FCS, for full segments.
///
/// `headers` are the bytes of IP and TCP headers in each packet: 40, or 52 with timestamps.
pub fn link(bit_per_s: f64, mss: f64, headers: f64) -> f64 {
    bit_per_s / 8.0 * mss / (mss + headers + FRAME_OVERHEAD)
}

/// What loss allows a Reno sender in the steady state; `per_ack` is 2 with delayed acknowledgements.
pub fn reno(loss: f64, mss: f64, rtt_s: f64, per_ack: f64) -> f64 {
    mss / rtt_s * (1.5 / (per_ack * loss)).sqrt()
}

/// What loss allows a CUBIC sender in the steady state, never less than Reno on the same path.
pub fn cubic(loss: f64, mss: f64, rtt_s: f64) -> f64 {
    let own = mss / rtt_s * 1.054 * (rtt_s / loss).powf(0.75);
    own.max(reno(loss, mss, rtt_s, 1.0))
}

/// The 95 % interval of a loss share after `lost` of `sent` segments (Wilson score interval).
///
/// No loss in `n` segments still allows a share of about `3.8 / n`.
pub fn loss_interval(lost: f64, sent: f64) -> (f64, f64) {
    if sent <= 0.0 {
        return (0.0, 1.0);
    }
    let z = 1.959_964_f64;
    let share = lost / sent;
    let z2 = z * z / sent;
    let center = (share + z2 / 2.0) / (1.0 + z2);
    let half = z / (1.0 + z2) * (share * (1.0 - share) / sent + z2 / (4.0 * sent)).sqrt();
    (
        if lost > 0.0 { (center - half).max(0.0) } else { 0.0 },
        (center + half).min(1.0),
    )
}

/// The rates of a reader that takes `unit` bytes at a time, when a small window makes it wait.
///
/// Measured is `rate` in such a state: one unit every `unit / rate`. Within that time the reader waited for
/// data at most one round trip, at least not at all. Returned are the rates without any wait: least (no wait
/// now), expected (half a round trip), greatest (a whole one).
pub fn reader_without_waits(rate: f64, unit: f64, rtt_s: f64) -> (f64, f64, f64) {
    let period = unit / rate;
    let without = |wait: f64| {
        if period > wait * 1.001 {
            unit / (period - wait)
        } else {
            f64::INFINITY
        }
    };
    (rate, without(rtt_s / 2.0), without(rtt_s))
}

/// The goodput of a finite transfer that starts with ten segments, doubles them each round trip and then runs at
/// `rate`; and the share of its time that it spends before reaching `rate`.
///
/// The first data comes one round trip after it was asked for. RFC 6928 (ten segments), RFC 5681 (doubling).
pub fn finite(rate: f64, bytes: f64, mss: f64, rtt_s: f64) -> (f64, f64) {
    if bytes <= 0.0 || rate <= 0.0 || rtt_s <= 0.0 {
        return (rate, 0.0);
    }
    let (mut flight, mut sent, mut time) = (10.0 * mss, 0.0, rtt_s);
    // At most 60 doublings: more bytes than any transfer has.
    for _ in 0..60 {
        if flight >= rate * rtt_s || sent + flight >= bytes {
            break;
        }
        sent += flight;
        flight *= 2.0;
        time += rtt_s;
    }
    let steady = (bytes - sent) / rate.min(flight.max(mss) / rtt_s);
    let total = time + steady;
    (bytes / total, time / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(actual: f64, expected: f64, tolerance: f64) {
        assert!(
            (actual / expected - 1.0).abs() <= tolerance,
            "{actual} is not {expected} within {tolerance}"
        );
    }

    #[test]
    fn the_published_router_path() {
        near(window(14_924.0, 1460.0, 0.1), 146_000.0, 1e-9);
        near(window(2_500_000.0, 1460.0, 0.1), 24_995_200.0, 1e-9);
        near(link(50e6, 1460.0, 40.0), 6_011_198.0, 1e-4);
        near(reno(1e-4, 1460.0, 0.1, 1.0), 1_788_128.0, 1e-3);
        near(reno(1e-4, 1460.0, 0.1, 2.0), 1_264_397.0, 1e-3);
        near(cubic(1e-4, 1460.0, 0.1), 2_735_968.0, 2e-3);
    }

    #[test]
    fn cubic_is_never_below_reno() {
        for loss in [1e-5, 1e-4, 1e-3, 1e-2] {
            for rtt in [0.001, 0.01, 0.1] {
                assert!(cubic(loss, 1460.0, rtt) >= reno(loss, 1460.0, rtt, 1.0));
            }
        }
    }

    #[test]
    fn loss_is_known_only_within_an_interval() {
        let (low, high) = loss_interval(4.0, 35_914.0);
        assert!(
            low > 4e-5 && low < 5e-5 && high > 2.5e-4 && high < 3e-4,
            "{low} {high}"
        );
        let (low, high) = loss_interval(0.0, 3000.0);
        assert!(low == 0.0 && high > 1e-3 && high < 1.5e-3, "{high}");
        assert_eq!(loss_interval(0.0, 0.0), (0.0, 1.0));
    }

    #[test]
    fn the_reader_of_64_kib_units() {
        let (least, expected, most) = reader_without_waits(81_984.0, 65_536.0, 0.1);
        near(least, 81_984.0, 1e-9);
        near(expected, 87_454.0, 1e-3);
        near(most, 93_703.0, 1e-3);
    }

    #[test]
    fn a_short_transfer_ends_before_the_path_is_used() {
        let (rate, share) = finite(6.0e6, 1_048_576.0, 1460.0, 0.1);
        assert!(rate < 2.0e6 && share > 0.5, "{rate} {share}");
        let (rate, share) = finite(6.0e6, 1e9, 1460.0, 0.1);
        assert!(rate > 5.9e6 && share < 0.01, "{rate} {share}");
        let (rate, _) = finite(146_000.0, 52_428_800.0, 1460.0, 0.1);
        near(rate, 146_000.0, 1e-3);
    }

    #[test]
    fn a_window_below_a_segment_still_moves() {
        near(window(500.0, 1460.0, 0.1), 5000.0, 1e-9);
    }
}

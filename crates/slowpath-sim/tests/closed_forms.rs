//! Transfers whose rate is known from a formula.

mod support;

use slowpath_endpoint::tcp::{Config, CongestionControl, Pacing, ReceiveWindow};
use slowpath_path::{ElementKind, Limit, LossModel, Police};
use slowpath_units::{ByteCount, Duration, Layer};
use support::{Transfer, close, delay, loss, rate, with};

const MSS: f64 = 1448.0;

fn big_buffers(mut config: Config) -> Config {
    config.receive = ReceiveWindow::Exact {
        buffer: 1 << 30,
        update: 1 << 16,
    };
    // The formulas know segments, not trains of them, and a report for each.
    config.largest_train = 1;
    config.ack.compress = Duration::ZERO;
    config.send_buffer = slowpath_endpoint::tcp::SendBuffer::Fixed { bytes: 1 << 30 };
    config
}

/// A path with a round trip of `rtt` and one loss in `n` data packets, with so much rate that nothing queues.
fn lossy(
    congestion: CongestionControl,
    rtt: Duration,
    n: u64,
    seconds: u64,
    random: bool,
    every: u32,
) -> Transfer {
    let half = rtt / 2;
    let model = if every == 0 {
        // Gaps between half and one and a half of n: with equal ones CUBIC's flat top, which integers make flatter,
        // holds the window at whatever it began with.
        let (mut state, mut at) = (1_u64, 0);
        let packets = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            at += n / 2 + (state >> 33) % n;
            at
        });
        LossModel::List {
            packets: packets.take(5_000).collect(),
        }
    } else if random {
        let chance = slowpath_units::Ratio::from_ppb(u32::try_from(1_000_000_000 / n).unwrap()).unwrap();
        LossModel::Random { chance }
    } else {
        LossModel::Every { n }
    };
    let up = vec![
        rate("up.rate", "100 Gbit/s", Limit::None),
        loss("up.loss", model),
        delay("up.delay", half),
    ];
    let down = vec![delay("down.delay", half)];
    let mut transfer = Transfer::new(big_buffers(with(congestion)), up, down, seconds);
    transfer.receiver = big_buffers(Config::linux());
    transfer.receiver.ack.every = every.max(1);
    transfer.receiver.ack.quick = if every <= 1 { u32::MAX } else { 0 };
    transfer
}

#[test]
fn a_window_limits_to_itself_per_round_trip() {
    for (window, rtt_ms) in [(14_924_u32, 100_u64), (65_535, 100), (65_535, 20), (16_384, 250)] {
        let half = Duration::from_millis(rtt_ms / 2);
        let up = vec![rate("up.rate", "10 Gbit/s", Limit::None), delay("up.delay", half)];
        let mut transfer = Transfer::new(Config::linux(), up, vec![delay("down.delay", half)], 60);
        transfer.receiver = Config::cisco(Some(window), false, false);
        let mss = 1460;
        let got = transfer.run().byte_per_s();
        // One segment is unread when each acknowledgement leaves.
        let expected = f64::from(window - mss) / (rtt_ms as f64 / 1000.0);
        close(&format!("window {window}, {rtt_ms} ms"), got, expected, 0.03);
    }
}

#[test]
fn reno_follows_its_square_root() {
    for (n, seconds) in [(1_000, 300), (10_000, 1_200)] {
        let p = 1.0 / n as f64;
        let rtt = 0.1;
        // Periodic loss, every segment acknowledged: Mathis et al. 1997 with C = sqrt(3/2).
        let outcome = lossy(
            CongestionControl::Reno,
            Duration::from_millis(100),
            n,
            seconds,
            false,
            1,
        )
        .run();
        let mathis = MSS / rtt * (1.5 / p).sqrt();
        close(&format!("reno, one in {n}"), outcome.byte_per_s(), mathis, 0.05);
    }
}

/// Mean window of RFC 9438's algorithm (sections 4.2 to 4.7) in real numbers, from a window of `from` segments on.
///
/// As its section 5 reckons: one packet in `n` is lost, at equal distances; the loss is answered at once; each packet is
/// acknowledged.
fn rfc_9438_mean_window(rtt: f64, n: u32, from: f64) -> f64 {
    const C: f64 = 0.4;
    const BETA: f64 = 0.7;
    let (mut window, mut prior, mut greatest) = (from, f64::INFINITY, from / BETA);
    let (mut time, mut epoch, mut friendly) = (0.0, 0.0, from);
    let mut k = ((greatest - window) / C).cbrt();
    let (mut packets, mut seconds) = (0.0, 0.0);
    for packet in 1..=n * RFC_LOSSES {
        let step = rtt / window;
        time += step;
        if packet > n * RFC_LOSSES / 2 {
            packets += 1.0;
            seconds += step;
        }
        friendly += if friendly < prior {
            3.0 * (1.0 - BETA) / (1.0 + BETA)
        } else {
            1.0
        } / window;
        let cubic = |t: f64| C * (t - epoch - k).powi(3) + greatest;
        if cubic(time) < friendly {
            window = window.max(friendly);
        } else {
            window += (cubic(time + rtt).clamp(window, 1.5 * window) - window) / window;
        }
        if packet % n == 0 {
            prior = window;
            // Fast convergence.
            greatest = if window < greatest {
                window * (1.0 + BETA) / 2.0
            } else {
                window
            };
            window *= BETA;
            (friendly, epoch) = (window, time);
            k = ((greatest - window) / C).cbrt();
        }
    }
    packets / seconds * rtt
}

/// RFC 9438, section 5.1: round-trip time in milliseconds, packets per loss, average window in segments; and how many
/// seconds the simulated transfer takes.
const RFC_9438_ROWS: [(u64, u32, u32, u64); 7] = [
    (100, 100, 12, 200),
    (100, 1_000, 38, 300),
    (100, 10_000, 187, 1_000),
    (100, 100_000, 1_054, 500),
    (10, 100, 12, 50),
    (10, 1_000, 38, 100),
    (10, 10_000, 120, 200),
];

/// Losses of the calculation, of which the second half counts.
const RFC_LOSSES: u32 = 200;

#[test]
fn the_rows_of_rfc_9438_are_its_algorithm_in_real_numbers() {
    for (rtt_ms, n, expected, _) in RFC_9438_ROWS {
        for begin in [0.5, 0.7, 1.0, 1.5, 2.0] {
            let expected = f64::from(expected);
            let window = rfc_9438_mean_window(rtt_ms as f64 / 1e3, n, expected * begin);
            let what = format!("RFC 9438, {rtt_ms} ms, one in {n}, from {begin} of the row's window");
            close(&what, window, expected, 0.1);
        }
    }
}

#[test]
fn cubic_follows_rfc_9438() {
    // The last column says why Linux's CUBIC (and this one) does not lie on the table's row, which the algorithm in real
    // numbers does (test above). Over 20 Mbit/s with 1 % loss the kernel and this model, given the same losses, agreed
    // within 2 to 7 % at 100 ms and 4 to 6 % at 10 ms.
    let exception = |rtt_ms, n| match (rtt_ms, n) {
        // Of 11 %: 5 % in whole segments, 5 % in the round trip of recovery, in which no window grows.
        (100, 100) => Some("windows are whole segments, and a recovery of one round trip in nine"),
        // With equal gaps Linux's whole segments (the quotient window / (target - window) is rounded down) give between
        // -1 and +26 %, whichever window it began with; real numbers give +5 %, with the gaps of this test +13 %.
        (100, 1_000) => Some("the larger window at each instant, not of the two averages; gaps not equal"),
        // The algorithm alone, without recovery: -11 to -25 % as it is, -8 % if it looks every 3 ms.
        (10, 100) => Some("Linux looks at the Reno-friendly window every 31 ms, three round trips here"),
        _ => None,
    };
    for (rtt_ms, n, expected, seconds) in RFC_9438_ROWS {
        let exception = exception(rtt_ms, n);
        let rtt = Duration::from_millis(rtt_ms);
        let mut transfer = lossy(
            CongestionControl::CubicWithoutHystart,
            rtt,
            n.into(),
            seconds,
            false,
            0,
        );
        // The table is about the steady state: begin near it.
        transfer.sender.slow_start_threshold = Some(expected);
        let outcome = transfer.run();
        // The window is what is sent in a round trip, retransmissions included.
        let window = outcome.report.data_packets as f64 / outcome.seconds * (rtt_ms as f64 / 1000.0);
        let off = window / f64::from(expected) - 1.0;
        println!(
            "cubic, {rtt_ms} ms, one in {n}: {window:.1} for {expected}, {:+.1} %",
            off * 100.0
        );
        match exception {
            None => assert!(
                off.abs() <= 0.1,
                "{rtt_ms} ms, one in {n}: {window:.1} for {expected}"
            ),
            Some(why) => assert!(off.abs() > 0.1 && off.abs() < 0.3, "no longer so: {why}"),
        }
    }
}

/// PFTK (RFC 5348, section 3.1) with a timeout of four round trips, for a sender that counts segments, not
/// acknowledgements (RFC 3465; Linux), so that delayed acknowledgements do not slow it.
///
/// The square-root term is that of random losses, not that of periodic ones, 1.2247, which RFC 5348 takes.
fn pftk(p: f64, rtt: f64) -> f64 {
    let rto = 4.0 * rtt;
    let denominator = rtt * p.sqrt() / random_loss_constant()
        + rto * (3.0 * (3.0 * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    MSS / denominator
}

/// Mean window times the square root of the loss rate, for Reno whose packets are each lost by the same chance.
///
/// An acknowledgement raises the window W by 1/W, so the square of W grows by 2 for each packet, and a loss quarters
/// it. With exponential gaps E of mean 1/p, the square just before a loss, in units of 1/p, is Y = 2 (E0 + E1/4 +
/// E2/16 + ...), and as losses come without memory, that is also what any packet meets. A packet takes 1/W of a round
/// trip, so the rate is 1 / E[Y^(-1/2)]. With Y^(-1/2) = 2/sqrt(pi) times the integral of exp(-u^2 Y) over all u > 0,
/// and each E contributing 1 / (1 + 2 u^2 / 4^k), that is a sum.
fn random_loss_constant() -> f64 {
    let step = 1e-3;
    let product = |u: f64| -> f64 {
        (0..20)
            .map(|k| 1.0 / (1.0 + 2.0 * u * u / 4_f64.powi(k)))
            .product()
    };
    let integral: f64 = (0..20_000)
        .map(|i| product((f64::from(i) + 0.5) * step) * step)
        .sum();
    1.0 / (2.0 / std::f64::consts::PI.sqrt() * integral)
}

#[test]
fn random_loss_follows_pftk() {
    for (n, every, seconds, tolerance) in [
        (10_000_u64, 1, 3_000, 0.05),
        (1_000, 1, 1_000, 0.05),
        (1_000, 2, 1_000, 0.05),
        // Windows of a dozen whole segments: half of an odd one is rounded down.
        (100, 1, 400, 0.1),
    ] {
        let rtt = Duration::from_millis(100);
        let mut transfer = lossy(CongestionControl::Reno, rtt, n, seconds, true, every);
        // The formula's receiver acknowledges every `b` segments, also while its window grows.
        transfer.receiver.ack.quick = 0;
        let outcome = transfer.run();
        let sender = outcome.sender();
        // The formula's p counts loss events: losses within one round trip are one.
        let events = sender.sender.recoveries + sender.sender.timeouts - sender.sender.undone;
        let p = events as f64 / outcome.report.data_packets as f64;
        println!(
            "one in {n}: {} timeouts, {} recoveries, p {p:.6}",
            sender.sender.timeouts, sender.sender.recoveries
        );
        close(
            &format!("reno, random, one in {n}, an acknowledgement for {every}"),
            outcome.byte_per_s(),
            pftk(p, 0.1),
            tolerance,
        );
    }
}

#[test]
fn a_policer_lets_through_what_its_bucket_allows() {
    // The window rises by a segment for each round trip. Beyond rate times round trip it drains the bucket, which is
    // full again long before: with x segments beyond, x^2 / 2 are gone from it. It overflows at x = sqrt(2 b), the
    // window falls to half of w + x, and the mean over the saw is below w where the bucket is small.
    for (rtt_ms, bucket) in [
        (50_u64, 32_000_u64),
        (100, 32_000),
        (100, 64_000),
        (200, 32_000),
        (200, 125_000),
    ] {
        let half = Duration::from_millis(rtt_ms / 2);
        let police = Police::new("10 Mbit/s".parse().unwrap(), ByteCount::new(bucket), Layer::Ip);
        let up = vec![
            ("up.police".to_owned(), ElementKind::Police(police)),
            delay("up.delay", half),
        ];
        // Nothing else spreads the window over the round trip.
        let mut sender = big_buffers(with(CongestionControl::Reno));
        sender.pacing = Pacing::On;
        let mut transfer = Transfer::new(sender, up, vec![delay("down.delay", half)], 600);
        transfer.receiver = big_buffers(Config::linux());
        let outcome = transfer.run();
        let full = 10_000_000.0 / 8.0 * MSS / 1500.0;
        let path = 10_000_000.0 / 8.0 * rtt_ms as f64 / 1000.0 / 1500.0;
        let beyond = (2.0 * bucket as f64 / 1500.0).sqrt();
        let peak = path + beyond;
        close(
            &format!("policer, {rtt_ms} ms, bucket of {bucket} bytes"),
            outcome.byte_per_s() / full,
            (0.75 * peak / path).min(1.0),
            0.05,
        );
    }
}

#[test]
fn a_buffer_of_one_bandwidth_delay_product_keeps_reno_busy() {
    let bdp = 50_000_000 / 8 * 40 / 1000;
    for (share, congestion, expected, tolerance) in [
        // Reno without a buffer swings between half the path and all of it.
        (100, CongestionControl::Reno, 1.0, 0.02),
        (2, CongestionControl::Reno, 0.77, 0.05),
        (45, CongestionControl::CubicWithoutHystart, 1.0, 0.03),
    ] {
        let half = Duration::from_millis(20);
        let queue = Limit::Bytes(bdp * share / 100);
        let up = vec![rate("up.rate", "50 Mbit/s", queue), delay("up.delay", half)];
        let mut transfer = Transfer::new(
            big_buffers(with(congestion)),
            up,
            vec![delay("down.delay", half)],
            300,
        );
        // Linux gathers reports for 1 ms, four segments here: what recovery then sends overflows the short queue.
        transfer.receiver.ack.compress = Duration::ZERO;
        let outcome = transfer.run();
        let full = 50_000_000.0 / 8.0 * MSS / 1514.0;
        close(
            &format!("{congestion:?}, {share} % of a BDP"),
            outcome.byte_per_s() / full,
            expected,
            tolerance,
        );
    }
}

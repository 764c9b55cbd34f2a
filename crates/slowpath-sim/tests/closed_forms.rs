//! Transfers whose rate is known from a formula.
//!
//! Formulas are about windows in real numbers, so they are held against the algorithms that have such windows
//! (`reno-rfc5681`, `cubic-rfc9438`), with a tolerance of 5 %. Where Linux's integers give something else, a test of its own
//! says how much; `docs/validation/closed-forms.md` shows that the kernel gives the same.
//!
//! Two terms that textbook formulas leave out are in those below, as they follow from what any sender does:
//!
//! * **Whole segments.** A window of W segments holds the whole part of W in flight. A window that rises by a segment per
//!   round trip passes each fraction evenly: half a segment less, on average.
//! * **Recovery.** For one round trip after a loss is noticed the reduced window sends and does not grow (RFC 6675; RFC 5681,
//!   section 3.2).

mod support;

use slowpath_endpoint::tcp::{Config, CongestionControl, Pacing, ReceiveWindow};
use slowpath_path::{ElementKind, Limit, LossModel, Police};
use slowpath_units::{ByteCount, Duration, Layer, Time};
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

/// What the path of [`lossy`] loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Losses {
    /// One in so many packets, at equal distances.
    Equal(u64),
    /// One in so many on average, with gaps between half and one and a half of that: with equal ones CUBIC's flat top, which
    /// integers make flatter, holds the window at whatever it began with.
    Drawn(u64),
    /// Each packet by the chance of one in so many.
    Random(u64),
}

impl Losses {
    /// The numbers of the lost packets.
    fn list(self) -> impl Iterator<Item = u64> {
        let (mut state, mut at) = (1_u64, 0);
        std::iter::repeat_with(move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            at += match self {
                Self::Equal(n) => n,
                Self::Drawn(n) => n / 2 + (state >> 33) % n,
                Self::Random(_) => unreachable!("decided by the path's own dice"),
            };
            at
        })
    }

    fn model(self) -> LossModel {
        match self {
            Self::Random(n) => LossModel::Random {
                chance: slowpath_units::Ratio::from_ppb(u32::try_from(1_000_000_000 / n).unwrap()).unwrap(),
            },
            listed => LossModel::List {
                packets: listed.list().take(20_000).collect(),
            },
        }
    }
}

/// A path with a round trip of `rtt` and these losses, with so much rate that nothing queues; an acknowledgement for
/// `every` segments.
fn lossy(congestion: CongestionControl, rtt: Duration, losses: Losses, seconds: u64, every: u32) -> Transfer {
    let half = rtt / 2;
    let up = vec![
        rate("up.rate", "100 Gbit/s", Limit::None),
        loss("up.loss", losses.model()),
        delay("up.delay", half),
    ];
    let down = vec![delay("down.delay", half)];
    let mut transfer = Transfer::new(big_buffers(with(congestion)), up, down, seconds);
    transfer.receiver = acknowledging(every);
    transfer
}

/// A receiver that sends an acknowledgement for `every` segments, from the first on.
fn acknowledging(every: u32) -> Config {
    let mut receiver = big_buffers(Config::linux());
    receiver.ack.every = every;
    receiver.ack.quick = 0;
    receiver
}

/// Segments sent per second in the second half of a transfer, retransmissions included.
fn steady(mut transfer: Transfer) -> f64 {
    transfer.sample_every = Some(transfer.span / 2);
    let half = Time::ZERO + transfer.span / 2;
    let outcome = transfer.run();
    let middle = |quantity: &str| {
        let mut all = outcome.report.series.iter();
        let of_sender = |name: &str| name.starts_with("near/") && name.ends_with(&format!("/{quantity}"));
        let series = all
            .find(|series| of_sender(&series.name))
            .expect("the sender is sampled");
        let point = series.points.iter().find(|(at, _)| *at >= half);
        *point.expect("a sample from the middle")
    };
    let (end, (from, acknowledged)) = (outcome.sender(), middle("acknowledged"));
    let new = (end.acknowledged as f64 - acknowledged) / MSS;
    let again = end.sender.retransmissions as f64 - middle("retransmissions").1;
    (new + again) / (outcome.seconds - from.seconds())
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
    for congestion in [CongestionControl::RenoRfc5681, CongestionControl::Reno] {
        for (n, seconds) in [(100, 200), (1_000, 500), (10_000, 3_000)] {
            let packets = n as f64;
            let transfer = lossy(
                congestion,
                Duration::from_millis(100),
                Losses::Equal(n),
                seconds,
                1,
            );
            let window = steady(transfer) * 0.1;
            // Between two losses the window rises from half of its peak P to P by a segment per round trip, and before that it
            // stands at P/2 for one: n = 3/8 P^2 + P/2 packets in P/2 + 1 round trips, each of them with half a segment less.
            let peak = ((0.25 + 1.5 * packets).sqrt() - 0.5) / 0.75;
            let expected = packets / (peak / 2.0 + 1.0) - 0.5;
            close(&format!("{congestion:?}, one in {n}"), window, expected, 0.05);
            // Mathis et al. 1997, periodic loss, every segment acknowledged, without the two terms: 11 % more at 1/100.
            if n > 100 {
                let mathis = (1.5 * packets).sqrt();
                close(
                    &format!("{congestion:?}, one in {n}, Mathis"),
                    window,
                    mathis,
                    0.05,
                );
            }
        }
    }
}

/// What a calculation of [`rfc_9438_mean_window`] takes into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// As RFC 9438, section 5, reckons: the window is what is sent, and grows again at once.
    Ideal,
    /// Whole segments are sent, and recovery takes a round trip.
    Whole,
}

/// Mean window of RFC 9438's algorithm (sections 4.2 to 4.7) in real numbers, over the second half of the losses, from a
/// window of `from` segments on. The loss is answered at once; each packet is acknowledged.
fn rfc_9438_mean_window(rtt: f64, losses: &[u64], from: f64, sender: Sender) -> f64 {
    const C: f64 = 0.4;
    const BETA: f64 = 0.7;
    let (mut window, mut prior, mut greatest) = (from, f64::INFINITY, from / BETA);
    let (mut time, mut epoch, mut friendly) = (0.0, 0.0, from);
    let mut k = ((greatest - window) / C).cbrt();
    let (mut packets, mut seconds) = (0.0, 0.0);
    let (mut packet, mut recovered) = (0, 0.0);
    for (number, lost) in losses.iter().enumerate() {
        while packet < *lost {
            packet += 1;
            let step = rtt
                / match sender {
                    Sender::Ideal => window,
                    Sender::Whole => window.floor(),
                };
            time += step;
            if number >= losses.len() / 2 {
                packets += 1.0;
                seconds += step;
            }
            if time < recovered {
                epoch = time;
                continue;
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
        }
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
        if sender == Sender::Whole {
            recovered = time + rtt;
        }
    }
    packets / seconds * rtt
}

/// RFC 9438, section 5.1: round-trip time in milliseconds, packets per loss, average window in segments; and how many
/// seconds the simulated transfer takes.
const RFC_9438_ROWS: [(u64, u64, u32, u64); 7] = [
    (100, 100, 12, 2_000),
    (100, 1_000, 38, 500),
    (100, 10_000, 187, 4_000),
    (100, 100_000, 1_054, 600),
    (10, 100, 12, 400),
    (10, 1_000, 38, 100),
    (10, 10_000, 120, 200),
];

#[test]
fn the_rows_of_rfc_9438_are_its_algorithm_in_real_numbers() {
    for (rtt_ms, n, expected, _) in RFC_9438_ROWS {
        let losses: Vec<u64> = Losses::Equal(n).list().take(200).collect();
        for begin in [0.5, 0.7, 1.0, 1.5, 2.0] {
            let expected = f64::from(expected);
            let from = expected * begin;
            let window = rfc_9438_mean_window(rtt_ms as f64 / 1e3, &losses, from, Sender::Ideal);
            let what = format!("RFC 9438, {rtt_ms} ms, one in {n}, from {begin} of the row's window");
            close(&what, window, expected, 0.1);
        }
    }
}

/// Mean window of the simulated transfer of a row.
fn cubic_window(congestion: CongestionControl, row: (u64, u64, u32, u64), losses: Losses) -> f64 {
    let (rtt_ms, _, expected, seconds) = row;
    let mut transfer = lossy(congestion, Duration::from_millis(rtt_ms), losses, seconds, 1);
    // The table is about the steady state: begin near it.
    transfer.sender.slow_start_threshold = Some(expected);
    steady(transfer) * rtt_ms as f64 / 1e3
}

/// The same in real numbers, whole segments and recovery included, from the same losses.
fn cubic_in_real_numbers(row: (u64, u64, u32, u64), losses: Losses) -> f64 {
    let (rtt_ms, _, expected, seconds) = row;
    let packets = f64::from(expected) * seconds as f64 * 1e3 / rtt_ms as f64;
    let list: Vec<u64> = losses.list().take_while(|at| (*at as f64) < packets).collect();
    rfc_9438_mean_window(rtt_ms as f64 / 1e3, &list, f64::from(expected), Sender::Whole)
}

#[test]
fn cubic_as_rfc_9438_writes_it_follows_its_table() {
    for row in RFC_9438_ROWS {
        let (rtt_ms, n, expected, _) = row;
        let what = format!("cubic-rfc9438, {rtt_ms} ms, one in {n}");
        for losses in [Losses::Equal(n), Losses::Drawn(n)] {
            let window = cubic_window(CongestionControl::CubicRfc9438, row, losses);
            let real = cubic_in_real_numbers(row, losses);
            close(&format!("{what}, {losses:?}, real numbers"), window, real, 0.05);
            // The table's premise is the same number of packets between any two losses. Where the gaps differ the algorithm
            // itself leaves the table: real numbers are 8 % above it at 100 ms and 1/1,000, and 15 % below it at 1/10,000.
            if losses == Losses::Equal(n) {
                close(&what, window, f64::from(expected), 0.1);
            }
        }
    }
}

#[test]
fn cubic_as_linux_computes_it_is_slow_where_it_looks_every_third_round_trip() {
    // With equal gaps Linux's integers have a steady state for each window that they began with; so with drawn ones, against
    // the RFC's algorithm with the same losses. That the kernel does what this model does is measured, within 4 %:
    // `docs/validation/closed-forms.md`.
    for row in RFC_9438_ROWS {
        let (rtt_ms, n, ..) = row;
        let window = cubic_window(CongestionControl::CubicWithoutHystart, row, Losses::Drawn(n));
        let real = cubic_in_real_numbers(row, Losses::Drawn(n));
        let what = format!("cubic, {rtt_ms} ms, one in {n}, real numbers");
        if rtt_ms == 10 && n <= 1_000 {
            // It looks at the Reno-friendly window every 31 ms while the window has not changed. In real numbers that alone is
            // -11 to -25 % at 1/100, and -8 % every 3 ms.
            let off = window / real - 1.0;
            println!("{what}: {window:.2} for {real:.2}, {:+.1} %", off * 100.0);
            assert!((-0.25..-0.1).contains(&off), "{what}: {off}");
        } else {
            close(&what, window, real, 0.1);
        }
    }
}

/// PFTK (Padhye et al. 1998, equation 31; RFC 5348, section 3.1) in bytes per second, for a sender that counts segments, not
/// acknowledgements (RFC 3465), so that delayed acknowledgements do not slow its growth.
///
/// As in the paper, `p` is the chance of a packet whose predecessor in the round trip was not lost; of independent losses,
/// simply the chance. (RFC 5348 measures it by loss events per packet, which leaves out what is lost in the round trip until
/// a loss is noticed: 17 % at 1/100.) `timeout` is the sender's own. The square-root term is that of random losses, not that
/// of periodic ones, 1.2247, which the paper takes.
fn pftk(p: f64, rtt: f64, timeout: f64) -> f64 {
    let denominator = rtt * p.sqrt() / random_loss_constant()
        + timeout * (3.0 * (3.0 * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
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
    for (n, every, seconds) in [
        (10_000_u64, 1, 6_000),
        (1_000, 1, 3_000),
        (1_000, 2, 3_000),
        (100, 1, 2_000),
        (100, 2, 2_000),
    ] {
        let rtt = Duration::from_millis(100);
        let transfer = lossy(
            CongestionControl::RenoRfc5681,
            rtt,
            Losses::Random(n),
            seconds,
            every,
        );
        let outcome = transfer.run();
        let sender = outcome.sender();
        let p = 1.0 / n as f64;
        close(
            &format!("reno, random, one in {n}, an acknowledgement for {every}"),
            outcome.byte_per_s(),
            pftk(p, 0.1, sender.rto.seconds()),
            0.05,
        );
        // SACK and RACK repair what cost the paper's sender a timeout; in exchange the paper's recovery takes no time. At 1/100
        // each of them is 7 %: hold the window against the algorithm in real numbers as well.
        assert_eq!(sender.sender.timeouts, 0);
        let window = outcome.report.data_packets as f64 / outcome.seconds * 0.1;
        close(
            &format!("reno, random, one in {n}, an acknowledgement for {every}, real numbers"),
            window,
            reno_mean_window(n, every),
            0.05,
        );
    }
}

/// Mean window of Reno in real numbers, whole segments sent, each packet lost by the chance of one in `n`.
///
/// A loss is noticed a round trip later, in which more losses are the same event, and recovery takes one more. An
/// acknowledgement for two segments comes when the second does, so the first of them is away for longer by one packet's
/// distance: half a segment less in a round trip.
fn reno_mean_window(n: u64, every: u32) -> f64 {
    let (mut window, mut time, mut noticed, mut grows) = ((1.5 * n as f64).sqrt(), 0.0, f64::INFINITY, 0.0);
    let packets = 3_000 * n;
    let mut state = 1_u64;
    for _ in 0..packets {
        time += 1.0 / (window.floor() - f64::from(every - 1) / 2.0);
        if time >= grows {
            window += 1.0 / window;
        }
        if time >= noticed {
            window = (window / 2.0).max(2.0);
            (noticed, grows) = (f64::INFINITY, time + 1.0);
        }
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        if (state >> 32).is_multiple_of(n) && noticed.is_infinite() {
            noticed = time + 1.0;
        }
    }
    packets as f64 / time
}

#[test]
fn a_policer_lets_through_what_its_bucket_allows() {
    // Paced at a window per round trip the window is spread over it evenly, as the formula takes it to be. Linux paces at 120 %
    // after slow start: then it leaves in 5/6 of the round trip, and the rest of it, in up to a sixth of a window, drains the
    // bucket too. That is more than 8,000 bytes are: 4 to 14 % less than the formula, for larger buckets up to 3 %.
    let small = [(50_u64, 8_000_u64), (100, 8_000), (200, 8_000)];
    let large = [
        (50, 32_000),
        (100, 32_000),
        (100, 64_000),
        (200, 32_000),
        (200, 125_000),
    ];
    let even = small
        .iter()
        .chain(&large)
        .map(|path| (path, CongestionControl::RenoRfc5681, 100));
    let linux = large.iter().map(|path| (path, CongestionControl::Reno, 120));
    for (&(rtt_ms, bucket), congestion, percent) in even.chain(linux) {
        let half = Duration::from_millis(rtt_ms / 2);
        let police = Police::new("10 Mbit/s".parse().unwrap(), ByteCount::new(bucket), Layer::Ip);
        let up = vec![
            ("up.police".to_owned(), ElementKind::Police(police)),
            delay("up.delay", half),
        ];
        let mut sender = big_buffers(with(congestion));
        sender.pacing = Pacing::On;
        sender.pacing_percent = percent;
        let mut transfer = Transfer::new(sender, up, vec![delay("down.delay", half)], 600);
        transfer.receiver = acknowledging(1);
        let outcome = transfer.run();
        let full = 10_000_000.0 / 8.0 * MSS / 1500.0;
        let path = 10_000_000.0 / 8.0 * rtt_ms as f64 / 1000.0 / 1500.0;
        close(
            &format!("policer, {rtt_ms} ms, bucket of {bucket} bytes, {congestion:?} paced at {percent} %"),
            outcome.byte_per_s() / full,
            policed_share(path, bucket as f64 / 1500.0),
            0.05,
        );
    }
}

/// Share of its rate that a policer lets Reno have, whose bucket holds `bucket` packets and which fills it by `path` packets
/// in a round trip.
///
/// Below `path` the bucket is full. A round trip with a flight of w packets beyond takes w - path out of it, the next one
/// w + 1 - path, and so on: 1 + 2 + ... + x packets in x round trips if `path` is whole. A packet passes while the bucket holds
/// all of it, so the first is lost when bucket - 1 are gone. Until that is noticed, a round trip later, all beyond `path` is
/// lost and the window has risen once more: to the peak P. Then it halves; after a round trip of recovery it rises to P again
/// in P/2 round trips, half a segment less in each flight.
fn policed_share(path: f64, bucket: f64) -> f64 {
    let (mut flight, mut drained) = (path.floor() + 1.0, 0.0);
    while drained + flight - path <= bucket - 1.0 {
        drained += flight - path;
        flight += 1.0;
    }
    let overflow = flight + (bucket - 1.0 - drained) / (flight - path);
    let lost = overflow + 0.5 - path;
    let peak = overflow + 1.0;
    let round_trips = peak / 2.0 + 1.0;
    let sent = 0.375 * peak * peak + peak / 2.0 - round_trips / 2.0;
    ((sent - lost) / (round_trips * path)).min(1.0)
}

#[test]
fn a_buffer_keeps_busy_what_the_window_leaves() {
    let bdp = 50_000_000 / 8 * 40 / 1000;
    for (percent, congestion, decrease) in [
        (2, CongestionControl::RenoRfc5681, 0.5),
        (10, CongestionControl::RenoRfc5681, 0.5),
        (30, CongestionControl::RenoRfc5681, 0.5),
        (100, CongestionControl::RenoRfc5681, 0.5),
        (2, CongestionControl::Reno, 0.5),
        (30, CongestionControl::Reno, 0.5),
        (100, CongestionControl::Reno, 0.5),
        // 3/7 of the path are enough for what falls to 7/10.
        (45, CongestionControl::CubicRfc9438, 0.7),
        (45, CongestionControl::CubicWithoutHystart, 0.7),
    ] {
        let half = Duration::from_millis(20);
        let up = vec![
            rate("up.rate", "50 Mbit/s", Limit::Bytes(bdp * percent / 100)),
            delay("up.delay", half),
        ];
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
            &format!("{congestion:?}, {percent} % of a BDP"),
            outcome.byte_per_s() / full,
            busy_share(percent as f64 / 100.0, decrease),
            0.02,
        );
    }
}

/// How busy a window that rises evenly keeps a path with a queue of `queue` bandwidth-delay products.
///
/// In units of that product, of its round trip while nothing queues, and of the full rate: the window rises to 1 + queue and
/// falls to L = decrease (1 + queue). From L to 1, in a time of 1 - L, the rate is the window. From there on it is full while
/// the queue fills by one packet for each window acknowledged, which at the full rate is a time of queue (1 + queue / 2),
/// taken from the integral of the window over its rise.
fn busy_share(queue: f64, decrease: f64) -> f64 {
    let low = decrease * (1.0 + queue);
    if low >= 1.0 {
        return 1.0;
    }
    let full = queue * (1.0 + queue / 2.0);
    ((1.0 - low * low) / 2.0 + full) / (1.0 - low + full)
}

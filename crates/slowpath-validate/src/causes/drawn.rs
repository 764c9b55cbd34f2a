//! Lists of transfers whose numbers are drawn by one rule.
//!
//! Each number is drawn from the range that [`all`] gives it, every octave as likely as any other, with dice that depend on
//! nothing but the list's number and the kind and number of the case. What the rule demands beside the ranges makes sure
//! that the cause is the cause: a window or buffer holds at most two fifths of what the path could, a program gives at most
//! three tenths of its rate, losses are expected often enough to be seen. The ranges are wider than what the tuned list
//! holds.

#![allow(clippy::cast_sign_loss)] // no number drawn is negative

use slowpath_path::Dice;
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_verdict::Limit;
use slowpath_workload::drain::Drain;

use super::case::{Case, SPAN_MS, add, link, product};
use crate::bulk::{Traffic, Transfer, Writes};
use crate::cells::Congestion;
use crate::octaves;

/// Seed of the numbers of list `number`, and of the dice of its paths.
pub const fn seed(number: u32) -> u64 {
    1_000 + number as u64
}

/// Every case of list `number`, kind by kind.
pub fn all(number: u32) -> Vec<Case> {
    let list_seed = seed(number);
    let all = &Congestion::ALL;
    // Version 1 of BBR does not heed marks, nor losses that are none.
    let heeds: &[Congestion] = &[Congestion::Reno, Congestion::Cubic];
    // The first two lists' hosts tell late from lost and fill their links all the same; those lists stay as they are.
    let reordering: (&'static str, u32, &[Congestion], Rule) = if number <= 2 {
        ("reordering", 3, all, reordering_told)
    } else {
        ("reordering", 4, heeds, reordering)
    };
    let rules: [(&'static str, u32, &[Congestion], Rule); 18] = [
        ("receiver-window", 3, all, receiver_window),
        ("receiver-application", 3, all, receiver_application),
        ("sender-application", 3, all, sender_application),
        ("send-buffer", 3, all, send_buffer),
        ("protocol-window", 3, all, protocol_window),
        ("slow-start", 3, all, slow_start),
        ("bottleneck", 4, all, bottleneck),
        ("bufferbloat", 3, all, bufferbloat),
        ("shaped", 3, all, shaped),
        ("policed", 3, all, policed),
        ("ecn-congestion", 4, heeds, marked),
        ("random-loss", 4, all, random_loss),
        ("loss-bursts", 2, all, loss_bursts),
        reordering,
        ("mtu-black-hole", 2, all, black_hole),
        ("parallel-flows", 2, all, parallel),
        ("cross-tcp", 2, all, cross_tcp),
        ("cross-udp", 2, all, cross_udp),
    ];
    let mut cases = Vec::new();
    for (kind, count, congestions, rule) in rules {
        let draw = |number| rule(kind, &mut Draw(Dice::new(list_seed, &format!("{kind} {number}"))));
        add(&mut cases, congestions, (0..count).map(draw).collect());
    }
    cases
}

/// Makes one case of a kind.
type Rule = fn(&'static str, &mut Draw) -> Case;

/// Draws numbers.
struct Draw(Dice);

impl Draw {
    /// From `low` to `high`, each octave as likely as any other.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        octaves::draw(&mut self.0, low, high)
    }

    /// The same, as a whole number.
    fn whole(&mut self, low: u32, high: u32) -> u32 {
        self.log(f64::from(low), f64::from(high)).round() as u32
    }

    /// The same in percent with two digits behind the point.
    fn percent(&mut self, low: f64, high: f64) -> String {
        format!("{:.2} %", self.log(low, high))
    }

    /// Round-trip time in milliseconds and rate in kbit/s of a path that is to be too wide, and what the end may hold of
    /// it: 5 to 40 % of the bandwidth-delay product, at least `least` bytes.
    fn held(&mut self, least: u64) -> (u32, u32, u64) {
        loop {
            let (rtt, kbit) = (self.whole(15, 160), self.whole(15_000, 90_000));
            let share = self.log(0.05, 0.4);
            let bytes = ((product(kbit, rtt) as f64 * share) as u64).max(least);
            if bytes * 5 <= product(kbit, rtt) * 2 {
                return (rtt, kbit, bytes);
            }
        }
    }
}

fn receiver_window(kind: &'static str, draw: &mut Draw) -> Case {
    let (rtt, kbit, bytes) = draw.held(12_000);
    let mut case = Case::wide(Limit::ReceiverWindow, kind, rtt, kbit);
    case.transfer.receive_buffer = Some(ByteCount::new(bytes));
    case
}

fn receiver_application(kind: &'static str, draw: &mut Draw) -> Case {
    let (rtt, kbit) = (draw.whole(15, 160), draw.whole(15_000, 60_000));
    let rate = (f64::from(kbit) * draw.log(0.05, 0.3)).max(800.0) as u64;
    let mut case = Case::wide(Limit::ReceiverApplication, kind, rtt, kbit);
    case.transfer.drain = Some(Drain {
        unit: ByteCount::new(1 << draw.whole(12, 16)),
        rate: BitRate::new(rate * 1_000),
        read_ahead: 0,
    });
    case
}

fn sender_application(kind: &'static str, draw: &mut Draw) -> Case {
    loop {
        let (rtt, kbit) = (draw.whole(15, 160), draw.whole(15_000, 60_000));
        let every = draw.whole(10, 1_500);
        let bytes = (product(kbit, every) as f64 * draw.log(0.03, 0.3)) as u64;
        // Round trips in which a window that opens from ten segments sends them.
        let rounds = (bytes as f64 / 14_480.0 + 1.0).log2() + 1.0;
        let steady = every < rtt;
        let pauses = rounds * f64::from(rtt) <= 0.5 * f64::from(every);
        if (1_500..=400_000).contains(&bytes) && (steady || pauses) {
            let mut case = Case::wide(Limit::SenderApplication, kind, rtt, kbit);
            case.transfer.writes = Writes::Bursts {
                bytes,
                every: Duration::from_millis(every.into()),
            };
            return case;
        }
    }
}

fn send_buffer(kind: &'static str, draw: &mut Draw) -> Case {
    // The kernel lets one more packet of 64 kB in; below that the buffer hardly matters.
    let (rtt, kbit, bytes) = loop {
        let drawn = draw.held(16_000);
        let (rtt, kbit, bytes) = drawn;
        if (bytes * 2 + 65_536) * 3 <= product(kbit, rtt) * 2 {
            break (rtt, kbit, bytes);
        }
    };
    let mut case = Case::wide(Limit::SendBuffer, kind, rtt, kbit);
    case.transfer.send_buffer = Some(ByteCount::new(bytes));
    // Nagle's algorithm keeps a rest in the write queue, with which the chronograph does not count the buffer.
    case.transfer.no_delay = true;
    case
}

fn protocol_window(kind: &'static str, draw: &mut Draw) -> Case {
    let (rtt, kbit, bytes) = draw.held(16_384);
    let mut case = Case::wide(Limit::ProtocolWindow, kind, rtt, kbit);
    case.transfer.writes = Writes::Window {
        bytes: bytes / 4_096 * 4_096,
    };
    case.transfer.no_delay = true;
    case
}

fn slow_start(kind: &'static str, draw: &mut Draw) -> Case {
    let (rtt, kbit) = (draw.whole(50, 200), draw.whole(60_000, 90_000));
    let most = product(kbit, rtt) as f64 * 0.4;
    let mut case = Case::wide(Limit::SlowStart, kind, rtt, kbit);
    case.transfer.bytes = Some(draw.log(50_000.0, most) as u64);
    case
}

fn bottleneck(kind: &'static str, draw: &mut Draw) -> Case {
    let (kbit, rtt) = (draw.whole(3_000, 40_000), draw.whole(10, 200));
    let queue = (product(kbit, rtt) as f64 * draw.log(0.25, 2.0)) as u64;
    let link = link(kbit, queue.max(20_000));
    Case::new(Limit::BottleneckBandwidth, kind, rtt, kbit, link)
}

fn bufferbloat(kind: &'static str, draw: &mut Draw) -> Case {
    let (kbit, rtt) = (draw.whole(2_000, 12_000), draw.whole(15, 100));
    let queue = product(kbit, draw.whole(200, 800));
    Case::new(Limit::BottleneckBandwidth, kind, rtt, kbit, link(kbit, queue))
}

fn shaped(kind: &'static str, draw: &mut Draw) -> Case {
    let (kbit, rtt) = (draw.whole(3_000, 30_000), draw.whole(15, 120));
    let (burst, queue) = (
        draw.whole(20_000, 300_000),
        product(kbit, draw.whole(80, 300)).max(30_000),
    );
    let shaper = format!(
        "{{ rate = \"95 Mbit/s\" }}, {{ shape = \"{kbit} kbit/s\", burst = \"{burst} B\", queue = \"{queue} B\" }}, "
    );
    Case::new(Limit::BottleneckBandwidth, kind, rtt, kbit, shaper)
}

fn policed(kind: &'static str, draw: &mut Draw) -> Case {
    let (kbit, rtt) = (draw.whole(2_000, 20_000), draw.whole(15, 120));
    let burst = product(kbit, draw.whole(30, 300)).max(12_000);
    let policer =
        format!("{{ rate = \"95 Mbit/s\" }}, {{ police = \"{kbit} kbit/s\", burst = \"{burst} B\" }}, ");
    Case::new(Limit::Policed, kind, rtt, kbit, policer)
}

fn marked(kind: &'static str, draw: &mut Draw) -> Case {
    let (kbit, rtt) = (draw.whole(4_000, 30_000), draw.whole(15, 120));
    let codel = format!(
        "{{ rate = \"{kbit} kbit/s\", queue = \"1000 packets\", discipline = \"codel\", ecn = true }}, "
    );
    let mut case = Case::new(Limit::EcnCongestion, kind, rtt, kbit, codel);
    case.ecn = true;
    case
}

fn random_loss(kind: &'static str, draw: &mut Draw) -> Case {
    loop {
        let (rtt, kbit, loss) = (
            draw.whole(15, 160),
            draw.whole(50_000, 90_000),
            draw.log(0.1, 3.0),
        );
        let (share, seconds) = (loss / 100.0, f64::from(rtt) / 1e3);
        // Segments per second of a Reno sender, and its losses in the whole transfer.
        let rate = 1.22 / (seconds * share.sqrt());
        let losses = rate * share * SPAN_MS as f64 / 1e3;
        if losses >= 6.0 && rate * 1_514.0 * 8.0 <= f64::from(kbit) * 1e3 * 0.5 {
            let mut case = Case::wide(Limit::RandomLoss, kind, rtt, kbit);
            case.elements = format!("{{ loss = \"{loss:.2} %\" }}, {}", case.elements);
            return case;
        }
    }
}

fn loss_bursts(kind: &'static str, draw: &mut Draw) -> Case {
    let (rtt, kbit) = (draw.whole(15, 100), draw.whole(50_000, 90_000));
    let (to_bad, to_good) = (draw.percent(0.15, 0.6), draw.percent(20.0, 70.0));
    let mut case = Case::wide(Limit::RandomLoss, kind, rtt, kbit);
    case.elements = format!(
        "{{ loss = {{ to_bad = \"{to_bad}\", to_good = \"{to_good}\", in_bad = \"100 %\" }} }}, {}",
        case.elements
    );
    case
}

/// Packets overtake each other, and the hosts have nothing that tells late from lost: without selective acknowledgements,
/// their reports of duplicates and timestamps, three packets that came before an earlier one are a loss to the sender,
/// and nothing takes its smaller window back (RFC 5681 section 3.2; RFC 3522; RFC 3708).
fn reordering(kind: &'static str, draw: &mut Draw) -> Case {
    let (rtt, kbit) = (draw.whole(25, 120), draw.whole(40_000, 90_000));
    let mut case = Case::wide(Limit::Reordering, kind, rtt, kbit);
    case.jitter_ms = ((f64::from(rtt) * draw.log(0.04, 0.2)) as u32).max(1);
    case.elements = link(kbit, 4 * product(kbit, rtt));
    case.plain = true;
    case
}

/// The same with what Linux tells late from lost by. It does so well that the link is full.
fn reordering_told(kind: &'static str, draw: &mut Draw) -> Case {
    let (rtt, kbit) = (draw.whole(25, 120), draw.whole(40_000, 90_000));
    let mut case = Case::wide(Limit::Reordering, kind, rtt, kbit);
    // A sender waits up to an eighth of the round trip for what came late (net/ipv4/tcp_recovery.c).
    // Jitter goes to either side, so what is drawn here is half of the spread.
    case.jitter_ms = (f64::from(rtt) * draw.log(0.12, 0.24)) as u32;
    // Bursts of acknowledgements must not overflow it, or losses would be the limit.
    case.elements = link(kbit, 4 * product(kbit, rtt));
    case
}

fn black_hole(kind: &'static str, draw: &mut Draw) -> Case {
    let (rtt, kbit, mtu) = (
        draw.whole(15, 160),
        draw.whole(15_000, 90_000),
        draw.whole(900, 1_480),
    );
    let mut case = Case::wide(Limit::MtuBlackHole, kind, rtt, kbit);
    case.elements = format!("{{ mtu = \"{mtu} B\", black_hole = true }}, {}", case.elements);
    case.transfer.duration = Duration::from_millis(6_000);
    case.transfer.greeting = true;
    case
}

/// A link for several flows: rate, round trip, and a queue of the bandwidth-delay product.
fn shared(kind: &'static str, draw: &mut Draw) -> Case {
    let (kbit, rtt) = (draw.whole(6_000, 30_000), draw.whole(20, 120));
    let queue = product(kbit, rtt).max(60_000);
    Case::new(Limit::SharedBottleneck, kind, rtt, kbit, link(kbit, queue))
}

fn parallel(kind: &'static str, draw: &mut Draw) -> Case {
    let mut case = shared(kind, draw);
    case.transfer.flows = 2 + draw.0.below(3) as u16;
    case
}

fn cross_tcp(kind: &'static str, draw: &mut Draw) -> Case {
    let mut case = shared(kind, draw);
    case.cross = Some(Traffic::Transfer(Transfer {
        flows: 1 + draw.0.below(3) as u16,
        duration: Duration::from_millis(SPAN_MS + 3_000),
        ..case.transfer.clone()
    }));
    case
}

fn cross_udp(kind: &'static str, draw: &mut Draw) -> Case {
    let mut case = shared(kind, draw);
    let share = draw.whole(400, 700);
    case.cross = Some(Traffic::Datagrams {
        rate: BitRate::new(u64::from(case.rate_kbit_per_s) * u64::from(share)),
        on: Duration::from_millis(draw.whole(400, 1_500).into()),
        off: Duration::from_millis(draw.whole(300, 1_000).into()),
    });
    case
}

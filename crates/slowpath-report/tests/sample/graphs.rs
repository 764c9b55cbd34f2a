//! Invented graphs: a window-limited transfer, a slow reader, and a sender cut back by loss.

use slowpath_facts::{Graphs, IoPoint, Point, SegmentPoint};
use slowpath_report::GraphSet;
use slowpath_verdict::{Interval, Limit};

const MSS: u64 = 1460;
const RTT: f64 = 0.1;

/// How the next flight follows from the last one.
pub(crate) struct Shape {
    pub(crate) variant: &'static str,
    pub(crate) bytes: u64,
    pub(crate) window: fn(f64) -> u64,
    pub(crate) losses: &'static [u64],
    pub(crate) intervals: Vec<Interval>,
}

/// Draws a transfer in flights, one each round trip.
pub(crate) fn transfer(shape: &Shape, run: u32) -> GraphSet {
    let mut g = Graphs {
        io_bin_s: 0.1,
        ..Graphs::default()
    };
    let (mut sent, mut now, mut cwnd) = (0_u64, 0.1, 10.0 * MSS as f64);
    let spacing = 1514.0 * 8.0 / 50e6;
    let mut flights = 0_u64;
    while sent < shape.bytes {
        let window = (shape.window)(now);
        let flight = (cwnd as u64).min(window).min(600_000) / MSS * MSS;
        g.window.push(point(now, window as f64));
        g.window_edge.push(point(now, (sent + window) as f64));
        let start = now;
        for i in 0..(flight / MSS).max(1) {
            let at = start + i as f64 * spacing;
            let index = sent / MSS;
            let size = MSS.min(shape.bytes - sent);
            g.segments.push(SegmentPoint {
                at_s: at,
                from: sent,
                to: sent + size,
                retransmission: false,
            });
            g.acks.push(point(at + RTT, (sent + size) as f64));
            g.rtt.push(point(
                at + RTT,
                RTT + 0.0004 * (i % 7) as f64 + i as f64 * spacing * 0.2,
            ));
            if shape.losses.contains(&index) {
                g.segments.push(SegmentPoint {
                    at_s: at + RTT + 0.01,
                    from: sent,
                    to: sent + size,
                    retransmission: true,
                });
                cwnd *= 0.7;
            }
            sent += size;
            if sent >= shape.bytes {
                break;
            }
        }
        g.flight.push(point(start, flight as f64));
        cwnd += if flights < 6 { cwnd } else { 6000.0 };
        flights += 1;
        now = start + RTT.max((flight / MSS) as f64 * spacing);
    }
    g.segments.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    bins(&mut g);
    GraphSet {
        variant: shape.variant.into(),
        run,
        label: format!("run {}, at the server", run + 1),
        graphs: g,
        intervals: shape.intervals.clone(),
        ..GraphSet::default()
    }
}

fn bins(g: &mut Graphs) {
    let end = g.segments.last().map_or(0.0, |s| s.at_s);
    let bin = if end > 100.0 { 1.0 } else { 0.1 };
    g.io_bin_s = bin;
    let count = (end / bin) as usize + 1;
    g.io = (0..count)
        .map(|i| IoPoint {
            at_s: i as f64 * bin,
            ..IoPoint::default()
        })
        .collect();
    for s in &g.segments {
        let b = &mut g.io[((s.at_s / bin) as usize).min(count - 1)];
        b.packets += 1;
        b.bytes += s.to - s.from + 54;
        b.bytes_back += 33;
        b.retransmissions += u64::from(s.retransmission);
    }
    let rate = |b: &IoPoint| b.bytes as f64 / bin * 1460.0 / 1514.0;
    g.throughput = g.io.iter().map(|b| point(b.at_s + bin, rate(b))).collect();
    g.goodput =
        g.io.windows(5)
            .map(|w| point(w[4].at_s + bin, w.iter().map(rate).sum::<f64>() / 5.0))
            .collect();
}

const fn point(at_s: f64, value: f64) -> Point {
    Point { at_s, value }
}

/// The graphs of the sample's variants.
pub(crate) fn all() -> Vec<GraphSet> {
    let span = |from_s, to_s, limit| Interval { from_s, to_s, limit };
    let shapes = [
        Shape {
            variant: "linux",
            bytes: 52_428_800,
            window: |_| 3_000_000,
            losses: &[4000, 12_000, 20_000, 31_000],
            intervals: vec![
                span(0.1, 0.9, Limit::SlowStart),
                span(0.9, 5.0, Limit::BottleneckBandwidth),
                span(5.0, 14.0, Limit::RandomLoss),
            ],
        },
        Shape {
            variant: "iosxe-default",
            bytes: 52_428_800,
            window: |_| 14_924,
            losses: &[9000, 18_000],
            intervals: vec![span(0.1, 360.0, Limit::ReceiverWindow)],
        },
        Shape {
            variant: "ios-default",
            bytes: 4_194_304,
            window: |t| {
                if (t * 10.0) as u64 % 8 == 7 {
                    1460
                } else {
                    12_004 - ((t * 10.0) as u64 % 2) * 1460
                }
            },
            losses: &[],
            intervals: vec![span(0.1, 45.0, Limit::ReceiverApplication)],
        },
        Shape {
            variant: "ios-tuned",
            bytes: 4_194_304,
            window: |t| {
                if t < 5.0 {
                    (2_500_000.0 - t * 497_000.0) as u64
                } else {
                    11_680
                }
            },
            losses: &[],
            intervals: vec![
                span(0.1, 0.6, Limit::SlowStart),
                span(0.6, 5.0, Limit::Unknown),
                span(5.0, 60.0, Limit::ReceiverApplication),
            ],
        },
    ];
    let mut sets: Vec<GraphSet> = shapes.iter().map(|s| transfer(s, 0)).collect();
    sets.push(transfer(&shapes[1], 1));
    sets
}

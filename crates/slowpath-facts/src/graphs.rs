//! Data of the five graphs that people read in Wireshark, thinned to what a page can show.
//!
//! Times are seconds after the start of the capture.

use serde::{Deserialize, Serialize};

use crate::facts::Measured;
use crate::track::Conn;
use crate::track::log::TxFlags;

/// The data of the five graphs, for the main direction of one connection.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Graphs {
    /// Packets and bytes per time bin, both directions.
    pub io: Vec<IoPoint>,
    /// Width of an I/O bin in seconds.
    pub io_bin_s: f64,
    /// Data segments: time and sequence (relative to the first byte).
    pub segments: Vec<SegmentPoint>,
    /// SACK blocks as they were reported: time and sequences (relative to the first byte).
    #[serde(default)]
    pub sacks: Vec<SackPoint>,
    /// The acknowledged sequence over time.
    pub acks: Vec<Point>,
    /// The right edge of the advertised window over time, as a sequence.
    pub window_edge: Vec<Point>,
    /// Payload newly acknowledged, bytes per second, in each I/O bin.
    pub goodput: Vec<Point>,
    /// Payload sent, what was sent again included, bytes per second, in each I/O bin.
    pub throughput: Vec<Point>,
    /// Round-trip times in seconds.
    pub rtt: Vec<Point>,
    /// Advertised window in bytes.
    pub window: Vec<Point>,
    /// Bytes in flight as the sender knew them.
    pub flight: Vec<Point>,
}

/// A value at a time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Point {
    /// Seconds after the start of the capture.
    pub at_s: f64,
    /// The value.
    pub value: f64,
}

/// Packets and bytes in one time bin.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct IoPoint {
    /// Start of the bin, seconds after the start of the capture.
    pub at_s: f64,
    /// Packets of the data sender.
    pub packets: u64,
    /// Frame bytes of the data sender.
    pub bytes: u64,
    /// Packets of the receiver.
    pub packets_back: u64,
    /// Frame bytes of the receiver.
    pub bytes_back: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
}

/// A SACK block in the time/sequence graph.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SackPoint {
    /// Seconds after the start of the capture.
    pub at_s: f64,
    /// First byte held by the receiver, relative to the first byte of the connection.
    pub from: u64,
    /// One past the last byte of the block.
    pub to: u64,
}

/// A data segment in the time/sequence graph.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SegmentPoint {
    /// Seconds after the start of the capture.
    pub at_s: f64,
    /// First byte, relative to the first byte of the connection.
    pub from: u64,
    /// One past the last byte.
    pub to: u64,
    /// Whether its bytes had been sent before.
    pub retransmission: bool,
}

/// The data of the five graphs of one flow.
pub(crate) fn graphs(conn: &Conn, measured: &Measured, origin: i64) -> Graphs {
    let facts = &measured.facts;
    let half = conn.half(facts.from);
    let seconds = |at: i64| (at - origin) as f64 / 1e9;
    let sent = half.tx.entries();
    let acks = half.acks.entries();
    let relative = |seq: u64| seq.saturating_sub(half.first);
    let segments: Vec<SegmentPoint> = sent
        .iter()
        .filter(|tx| tx.seen())
        .map(|tx| SegmentPoint {
            at_s: seconds(tx.at),
            from: relative(tx.seq),
            to: relative(tx.end()),
            retransmission: tx.flags.has(TxFlags::RETRANSMISSION) || tx.flags.has(TxFlags::FILLS),
        })
        .collect();
    let shift = facts.window.shift;
    let scaled = |window: u16, syn: bool| (u64::from(window) << if syn { 0 } else { shift }) as f64;
    let ack_points: Vec<Point> = acks
        .iter()
        .map(|ack| Point {
            at_s: seconds(ack.at),
            value: relative(ack.to) as f64,
        })
        .collect();
    let edges: Vec<Point> = acks
        .iter()
        .map(|ack| Point {
            at_s: seconds(ack.at),
            value: relative(ack.to) as f64 + scaled(ack.window, ack.syn),
        })
        .collect();
    let windows: Vec<Point> = acks
        .iter()
        .map(|ack| Point {
            at_s: seconds(ack.at),
            value: scaled(ack.window, ack.syn),
        })
        .collect();
    let span = facts.active_s.max(1e-6);
    let width = nice(span / BINS);
    let first = sent
        .first()
        .map_or(0.0, |tx| seconds(tx.at))
        .min(acks.first().map_or(f64::MAX, |ack| seconds(ack.at)));
    let base = (first / width).floor() * width;
    let mut io: Vec<IoPoint> = Vec::new();
    let mut bin = |at: f64| -> usize {
        let index = ((at - base) / width).max(0.0) as usize;
        let index = index.min(8 * BINS as usize);
        while io.len() <= index {
            io.push(IoPoint {
                at_s: base + io.len() as f64 * width,
                ..IoPoint::default()
            });
        }
        index
    };
    let placed: Vec<usize> = sent.iter().map(|tx| bin(seconds(tx.at))).collect();
    let returned: Vec<usize> = acks.iter().map(|ack| bin(seconds(ack.at))).collect();
    let mut goodput_bins = vec![0.0; io.len()];
    let mut payload_bins = vec![0.0; io.len()];
    for (tx, index) in sent.iter().zip(placed).filter(|(tx, _)| tx.seen()) {
        let point = &mut io[index];
        point.packets += u64::from(tx.packets);
        point.bytes += u64::from(tx.wire) + 14 * u64::from(tx.packets);
        payload_bins[index] += f64::from(tx.len);
        point.retransmissions += u64::from(tx.flags.has(TxFlags::RETRANSMISSION));
    }
    let mut delivered = 0_u64;
    for (ack, index) in acks.iter().zip(returned) {
        io[index].packets_back += 1;
        io[index].bytes_back += 66;
        let now = relative(ack.to) + u64::from(ack.sacked);
        if now > delivered {
            goodput_bins[index] += (now - delivered) as f64;
            delivered = now;
        }
    }
    let throughput = io
        .iter()
        .zip(&payload_bins)
        .map(|(point, bytes)| Point {
            at_s: point.at_s,
            value: bytes / width,
        })
        .collect();
    let goodput = io
        .iter()
        .zip(&goodput_bins)
        .map(|(point, bytes)| Point {
            at_s: point.at_s,
            value: bytes / width,
        })
        .collect();
    Graphs {
        io,
        io_bin_s: width,
        segments: thin_segments(&segments),
        sacks: half
            .sack_log
            .entries()
            .iter()
            .map(|block| SackPoint {
                at_s: seconds(block.at),
                from: relative(block.from),
                to: relative(block.to),
            })
            .collect(),
        acks: thin(&ack_points),
        window_edge: thin(&edges),
        goodput,
        throughput,
        rtt: thin(
            &measured
                .rtts
                .iter()
                .map(|&(at_s, value)| Point { at_s, value })
                .collect::<Vec<_>>(),
        ),
        window: thin(&windows),
        flight: thin(
            &measured
                .flight
                .iter()
                .map(|&(at_s, bytes)| Point {
                    at_s,
                    value: bytes as f64,
                })
                .collect::<Vec<_>>(),
        ),
    }
}

/// Keeps the smallest and the largest value of each stretch.
fn thin(points: &[Point]) -> Vec<Point> {
    if points.len() <= POINTS {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(POINTS / 2);
    let mut out = Vec::with_capacity(POINTS);
    for part in points.chunks(stretch) {
        let by_value = |a: &&Point, b: &&Point| a.value.total_cmp(&b.value);
        let (Some(low), Some(high)) = (part.iter().min_by(by_value), part.iter().max_by(by_value)) else {
            continue;
        };
        if low.at_s <= high.at_s {
            out.extend([*low, *high]);
        } else {
            out.extend([*high, *low]);
        }
    }
    out
}

/// Joins neighbouring segments; retransmissions stay, up to the number of points.
fn thin_segments(segments: &[SegmentPoint]) -> Vec<SegmentPoint> {
    if segments.len() <= POINTS {
        return segments.to_vec();
    }
    let stretch = segments.len().div_ceil(POINTS / 2);
    let again = segments.iter().filter(|segment| segment.retransmission).count();
    let keep_every = again.div_ceil(POINTS / 2).max(1);
    let mut out = Vec::with_capacity(POINTS);
    let mut seen = 0_usize;
    for part in segments.chunks(stretch) {
        let mut joined: Option<SegmentPoint> = None;
        for segment in part {
            if segment.retransmission {
                seen += 1;
                if seen.is_multiple_of(keep_every) {
                    out.push(*segment);
                }
                continue;
            }
            match &mut joined {
                Some(joined) => joined.to = joined.to.max(segment.to),
                None => joined = Some(*segment),
            }
        }
        out.extend(joined);
    }
    out
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `span`.
fn nice(span: f64) -> f64 {
    let power = 10_f64.powf(span.max(1e-6).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|step| step * power)
        .find(|step| *step >= span * 0.999_999)
        .unwrap_or(span)
}

/// Points per line. Far more than a screen has columns: pages thin by themselves as far as they are zoomed in, and
/// a segment joined with its neighbours would stand above a window's edge that it never crossed.
const POINTS: usize = 200_000;
/// Bins of the I/O graph.
const BINS: f64 = 400.0;

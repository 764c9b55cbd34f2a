//! The graphs of one run, and their compact form inside a page.
//!
//! Every series becomes columns of integers: times in ticks, values in their unit. Each column is delta-coded
//! (zigzag, little-endian base-128), all columns together are deflated and written as base64. A browser unpacks
//! them with its own `DecompressionStream`; nothing is thinned here.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use slowpath_facts::{Graphs, Point};
use slowpath_verdict::{Connection, Interval, Limit};

/// The graphs of one connection of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphSet {
    /// The variant to which they belong; empty for a single capture.
    pub variant: String,
    /// Number of the repeat, from 0.
    pub run: u32,
    /// What distinguishes this set from the variant's others, such as `run 1, at the server`.
    pub label: String,
    /// The data.
    pub graphs: Graphs,
    /// What limited the transfer when.
    pub intervals: Vec<Interval>,
    /// What the two ends agreed on at the handshake and what else is known of the connection: label and value.
    pub facts: Vec<(&'static str, String)>,
}

impl GraphSet {
    /// The graphs of a connection with what is known of it.
    pub fn of(variant: &str, run: u32, label: String, connection: &Connection) -> Self {
        Self {
            variant: variant.to_owned(),
            run,
            label,
            graphs: connection.graphs.clone(),
            intervals: connection.intervals.clone(),
            facts: crate::facts::facts(connection),
        }
    }
}

/// A [`GraphSet`] as the page's script reads it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Packed {
    /// What distinguishes this set from its siblings.
    pub label: String,
    /// Seconds per tick of the time columns.
    pub tick: f64,
    /// Width of an I/O bin in seconds.
    pub bin: f64,
    /// First and last time, seconds.
    pub span: [f64; 2],
    /// Name, number of rows and number of columns of each series, in the order of the data.
    pub streams: Vec<(&'static str, usize, usize)>,
    /// What limited the transfer when: from, to, limit.
    pub limits: Vec<(f64, f64, Limit)>,
    /// The columns: deflated, base64.
    pub data: String,
}

impl Packed {
    /// Packs a set.
    pub fn of(set: &GraphSet) -> Self {
        let g = &set.graphs;
        let span = span(set);
        // Fine enough for the spacing of full segments at the rates that a transfer of this length has.
        let tick = if span[1] - span[0] > 10.0 { 1e-6 } else { 1e-7 };
        let mut columns = Columns {
            tick,
            bytes: Vec::new(),
        };
        let mut streams = Vec::new();
        columns.times(g.io.iter().map(|p| p.at_s));
        columns.values(g.io.iter().map(|p| p.bytes as f64));
        columns.values(g.io.iter().map(|p| p.bytes_back as f64));
        columns.values(g.io.iter().map(|p| p.packets as f64));
        columns.values(g.io.iter().map(|p| p.retransmissions as f64));
        streams.push(("io", g.io.len(), 5));
        for (name, again) in [("segments", false), ("retransmissions", true)] {
            let chosen = || g.segments.iter().filter(move |s| s.retransmission == again);
            columns.times(chosen().map(|s| s.at_s));
            columns.values(chosen().map(|s| s.from as f64));
            columns.values(chosen().map(|s| s.to.saturating_sub(s.from) as f64));
            streams.push((name, chosen().count(), 3));
        }
        for (name, points, scale) in [
            ("acks", &g.acks, 1.0),
            ("edge", &g.window_edge, 1.0),
            ("throughput", &g.throughput, 1.0),
            ("goodput", &g.goodput, 1.0),
            // Round trips in nanoseconds, so that an integer keeps what was measured.
            ("rtt", &g.rtt, 1e9),
            ("window", &g.window, 1.0),
            ("flight", &g.flight, 1.0),
        ] {
            columns.points(points, scale);
            streams.push((name, points.len(), 2));
        }
        if !g.sacks.is_empty() {
            columns.times(g.sacks.iter().map(|s| s.at_s));
            columns.values(g.sacks.iter().map(|s| s.from as f64));
            columns.values(g.sacks.iter().map(|s| s.to.saturating_sub(s.from) as f64));
            streams.push(("sack", g.sacks.len(), 3));
        }
        Self {
            label: set.label.clone(),
            tick,
            bin: g.io_bin_s,
            span,
            streams,
            limits: set
                .intervals
                .iter()
                .map(|i| (i.from_s, i.to_s, i.limit))
                .collect(),
            data: base64(&deflate(&columns.bytes)),
        }
    }
}

/// First and last time of anything in the set.
pub(crate) fn span(set: &GraphSet) -> [f64; 2] {
    let g = &set.graphs;
    let points = [
        &g.acks,
        &g.window_edge,
        &g.throughput,
        &g.goodput,
        &g.rtt,
        &g.window,
        &g.flight,
    ];
    let ends = points
        .into_iter()
        .flat_map(|p| p.first().into_iter().chain(p.last()))
        .map(|p| p.at_s);
    let segments = g
        .segments
        .first()
        .into_iter()
        .chain(g.segments.last())
        .map(|s| s.at_s);
    let io =
        g.io.first()
            .map(|p| p.at_s)
            .into_iter()
            .chain(g.io.last().map(|p| p.at_s + g.io_bin_s));
    let all = ends.chain(segments).chain(io).filter(|t| t.is_finite());
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), t| {
        (l.min(t), h.max(t))
    });
    if low <= high {
        [low, high.max(low + 1e-6)]
    } else {
        [0.0, 1.0]
    }
}

struct Columns {
    tick: f64,
    bytes: Vec<u8>,
}

impl Columns {
    fn points(&mut self, points: &[Point], scale: f64) {
        self.times(points.iter().map(|p| p.at_s));
        self.values(points.iter().map(|p| p.value * scale));
    }

    fn times(&mut self, times: impl Iterator<Item = f64>) {
        let tick = self.tick;
        self.values(times.map(|t| t / tick));
    }

    /// Values outside the 53 bits that a browser holds exactly do not occur; a NaN becomes 0.
    fn values(&mut self, values: impl Iterator<Item = f64>) {
        let mut last = 0_i64;
        for value in values {
            #[expect(clippy::cast_possible_truncation, reason = "saturates, NaN gives 0")]
            let value = value.round() as i64;
            let delta = value.wrapping_sub(last);
            last = value;
            let mut zigzag = (delta.wrapping_shl(1) ^ (delta >> 63)).cast_unsigned();
            while zigzag >= 0x80 {
                self.bytes.push((zigzag & 0x7f) as u8 | 0x80);
                zigzag >>= 7;
            }
            self.bytes.push((zigzag & 0x7f) as u8);
        }
    }
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(8));
    encoder
        .write_all(bytes)
        .expect("a vector takes any number of bytes");
    encoder.finish().expect("a vector takes any number of bytes")
}

/// Standard base64 with padding (RFC 4648, section 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = ALPHABET[(word >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_facts::SegmentPoint;
    use std::io::Read;

    #[test]
    fn base64_of_the_rfc() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    /// Reads columns back as the page's script does.
    fn unpack(bytes: &[u8], rows: &[usize]) -> Vec<Vec<i64>> {
        let mut at = 0;
        rows.iter()
            .map(|&n| {
                let mut value = 0_i64;
                (0..n)
                    .map(|_| {
                        let (mut word, mut shift) = (0_u64, 0);
                        loop {
                            let byte = bytes[at];
                            at += 1;
                            word |= u64::from(byte & 0x7f) << shift;
                            shift += 7;
                            if byte < 0x80 {
                                break;
                            }
                        }
                        let half = (word >> 1).cast_signed();
                        value += if word & 1 == 1 { !half } else { half };
                        value
                    })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn columns_come_back_as_they_were() {
        let mut columns = Columns {
            tick: 1e-6,
            bytes: Vec::new(),
        };
        columns.times([0.0, 0.5, 0.500_001, 345.6].into_iter());
        columns.values([5.0, -3.0, 4_294_967_296.0, f64::NAN].into_iter());
        let mut plain = Vec::new();
        flate2::read::DeflateDecoder::new(&deflate(&columns.bytes)[..])
            .read_to_end(&mut plain)
            .unwrap();
        let back = unpack(&plain, &[4, 4]);
        assert_eq!(back[0], [0, 500_000, 500_001, 345_600_000]);
        assert_eq!(back[1], [5, -3, 4_294_967_296, 0]);
    }

    #[test]
    fn a_transfer_packs_to_a_few_bytes_per_segment() {
        let segments: Vec<SegmentPoint> = (0..35_910_u64)
            .map(|i| SegmentPoint {
                at_s: i as f64 * 0.01,
                from: i * 1460,
                to: (i + 1) * 1460,
                retransmission: i % 9000 == 5,
            })
            .collect();
        let set = GraphSet {
            graphs: Graphs {
                segments,
                ..Graphs::default()
            },
            ..GraphSet::default()
        };
        let packed = Packed::of(&set);
        assert!(packed.data.len() < 35_910 * 2, "{} bytes", packed.data.len());
        assert_eq!(packed.streams[1], ("segments", 35_906, 3));
        assert_eq!(packed.streams[2], ("retransmissions", 4, 3));
    }

    #[test]
    fn an_empty_set_has_a_span() {
        assert!(span(&GraphSet::default())[1] > 0.0);
    }
}

//! What is known about a transfer and its path, as far as a prediction needs it.

use serde::{Deserialize, Serialize};
use slowpath_verdict::{Connection, Limit};

use crate::response;

/// A transfer as measured: the input of every prediction. Comes from a capture, never from a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Situation {
    /// What limited it.
    pub limit: Limit,
    /// Other limits that held for a part of the time, the longest first.
    pub alternatives: Vec<Limit>,
    /// How sure the verdict is, 0 to 1.
    pub confidence: f64,
    /// Payload delivered, byte/s.
    pub goodput: f64,
    /// Payload bytes delivered.
    pub bytes: f64,
    /// Smallest round-trip time in seconds: that of the empty path.
    pub rtt_min_s: f64,
    /// Median round-trip time in seconds: that under this load.
    pub rtt_s: f64,
    /// Payload of a full segment.
    pub mss: f64,
    /// Headers of IP and TCP in each packet.
    pub headers: f64,
    /// The greatest window the receiver advertised.
    pub window: Option<f64>,
    /// The constant flight that a buffer or a protocol allowed.
    pub flight: Option<f64>,
    /// Rate of the link, shaper or policer in payload byte/s, if the transfer reached it.
    pub bottleneck: Option<f64>,
    /// Rate at which the receiving program took the data.
    pub drain: Option<f64>,
    /// Bytes that the receiving program took at a time.
    pub drain_unit: Option<f64>,
    /// Rate at which the sending program gave data.
    pub source: Option<f64>,
    /// Segments sent.
    pub segments: f64,
    /// Segments lost.
    pub lost: f64,
    /// Highest rate of delivery seen for at least a few round trips, byte/s.
    pub peak: Option<f64>,
}

impl Situation {
    /// Reads a connection's facts and verdict.
    pub fn of(connection: &Connection) -> Self {
        let sender = connection.data_from.index();
        let parameters = &connection.verdict.parameters;
        let offered = connection.handshake.mss[connection.data_from.other().index()].map(f64::from);
        let timestamps = connection.handshake.timestamps.iter().all(|t| *t == Some(true));
        let headers = if timestamps { 52.0 } else { 40.0 };
        let mss = offered.unwrap_or(1460.0) - if timestamps { 12.0 } else { 0.0 };
        let counters = &connection.counters;
        let facts = &connection.facts;
        let mss = if facts.segment_size > 0 {
            f64::from(facts.segment_size)
        } else {
            mss
        };
        let segments = (counters[sender].data_bytes as f64 / mss).ceil();
        let mut alternatives: Vec<(Limit, f64)> = Vec::new();
        for interval in &connection.intervals {
            let span = interval.to_s - interval.from_s;
            match alternatives
                .iter_mut()
                .find(|(limit, _)| *limit == interval.limit)
            {
                Some((_, sum)) => *sum += span,
                None => alternatives.push((interval.limit, span)),
            }
        }
        alternatives.sort_by(|a, b| b.1.total_cmp(&a.1));
        let peak = connection
            .graphs
            .goodput
            .iter()
            .map(|p| p.value)
            .fold(0.0, f64::max);
        Self {
            limit: connection.verdict.limit,
            alternatives: alternatives
                .into_iter()
                .map(|(limit, _)| limit)
                .filter(|l| *l != connection.verdict.limit && !l.is_undecided())
                .collect(),
            confidence: connection.verdict.confidence,
            goodput: connection.goodput_bit_per_s / 8.0,
            bytes: connection.bytes_delivered as f64,
            rtt_min_s: connection.rtt_s.min,
            rtt_s: connection.rtt_s.median.max(connection.rtt_s.min),
            mss,
            headers,
            window: window_of(connection),
            flight: parameters.flight_bytes.map(|f| f as f64),
            bottleneck: parameters.rate_bit_per_s.map(|r| response::link(r, mss, headers)),
            drain: parameters.drain_byte_per_s,
            drain_unit: parameters.drain_step_bytes.map(|s| s as f64),
            source: parameters.source_byte_per_s,
            segments,
            lost: connection.lost_segments as f64,
            peak: (peak > 0.0).then_some(peak),
        }
    }
}

/// The window that held the sender; for a slow reader, whose window shrinks, the greatest that it offered.
fn window_of(connection: &Connection) -> Option<f64> {
    let receiver = &connection.counters[connection.data_from.other().index()];
    let greatest = match connection.facts.window.max {
        0 => (receiver.window_samples > 0).then_some(receiver.max_window),
        max => Some(max),
    };
    let held = connection.verdict.parameters.window_bytes;
    let window = if connection.verdict.limit == Limit::ReceiverApplication {
        greatest.or(held)
    } else {
        held.or(greatest)
    };
    window.map(|w| w as f64)
}

/// What several transfers over the same path say about it together.
///
/// One transfer that a small window holds back cannot see the link's rate and sees few losses; others over the
/// same path can.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PathEvidence {
    /// Segments sent by all transfers.
    pub segments: f64,
    /// Segments lost that the transfers' own load does not explain.
    pub lost: f64,
    /// Highest payload rate that any transfer kept up, byte/s.
    pub peak: Option<f64>,
    /// The bottleneck's payload rate, if a transfer filled it, byte/s.
    pub bottleneck: Option<f64>,
    /// The payload rate of a policer that a transfer ran into, byte/s.
    #[serde(default)]
    pub policer: Option<f64>,
    /// Least round-trip time seen, seconds.
    pub rtt_min_s: Option<f64>,
}

impl PathEvidence {
    /// Adds one transfer.
    pub fn add(&mut self, s: &Situation) {
        // Losses of a transfer that fills the bottleneck are its own doing and say nothing about the path.
        let own_doing = matches!(
            s.limit,
            Limit::BottleneckBandwidth | Limit::SharedBottleneck | Limit::Policed
        );
        if !own_doing {
            self.segments += s.segments;
            self.lost += s.lost;
        }
        let peak = s.peak.unwrap_or(s.goodput);
        self.peak = Some(self.peak.map_or(peak, |p| p.max(peak)));
        if let Some(rate) = s.bottleneck {
            let known = if s.limit == Limit::Policed {
                &mut self.policer
            } else {
                &mut self.bottleneck
            };
            *known = Some(known.map_or(rate, |b| b.max(rate)));
        }
        if s.rtt_min_s > 0.0 {
            self.rtt_min_s = Some(self.rtt_min_s.map_or(s.rtt_min_s, |r| r.min(s.rtt_min_s)));
        }
    }

    /// The evidence of all these transfers.
    pub fn of<'a>(situations: impl IntoIterator<Item = &'a Situation>) -> Self {
        let mut evidence = Self::default();
        for situation in situations {
            evidence.add(situation);
        }
        evidence
    }

    /// The share of segments that the path loses by itself: low, expected, high.
    pub fn loss(&self) -> (f64, f64, f64) {
        let (low, high) = response::loss_interval(self.lost, self.segments);
        let expected = if self.segments > 0.0 {
            self.lost / self.segments
        } else {
            0.0
        };
        (low, expected, high)
    }
}

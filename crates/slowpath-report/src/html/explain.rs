//! From [`Explanation`] to what the capture's template shows.

use serde::Serialize;
use slowpath_analyze::analysis::{EcnMode, Handshake};
use slowpath_analyze::{Side, Tap};

use super::shared::{SetView, VerdictPart};
use crate::explain::{ConfigurationText, ExplainedConnection, Explanation, RemedyView};
use crate::graphs::GraphSet;
use crate::quantity::{bit_rate, bytes, grouped, percent, seconds};
use crate::verdict::flag_name;

/// Connections that get graphs and details; the rest of a large capture is counted.
const DETAILED: usize = 12;

#[derive(Debug, Serialize)]
pub(super) struct ExplainView {
    file: String,
    meta: Vec<String>,
    warnings: Vec<String>,
    quality: Vec<(&'static str, String)>,
    connections: Vec<ConnectionView>,
}

pub(super) fn view(explanation: &Explanation) -> ExplainView {
    let capture = &explanation.capture;
    let quality = &capture.quality;
    let count = explanation.connections.len();
    let mut meta = vec![
        format!("{} ({})", capture.format, capture.link_types.join(", ")),
        format!("{} packets", grouped(capture.packets as f64, 0)),
        bytes(capture.bytes as f64),
        seconds(capture.duration_s),
        format!(
            "{count} {}",
            if count == 1 { "connection" } else { "connections" }
        ),
    ];
    if count > DETAILED {
        meta.push(format!("the {DETAILED} largest are shown"));
    }
    ExplainView {
        file: if capture.file.is_empty() {
            "capture".into()
        } else {
            capture.file.clone()
        },
        meta,
        warnings: quality.warnings.clone(),
        quality: vec![
            ("taken", tap_words(quality.tap).into()),
            ("missing from it", percent(quality.capture_loss_fraction)),
            ("recorded twice", grouped(quality.duplicate_packets as f64, 0)),
            ("clock advances in steps of", seconds(quality.clock_resolution_s)),
        ],
        connections: explanation
            .connections
            .iter()
            .take(DETAILED)
            .map(ConnectionView::of)
            .collect(),
    }
}

/// Where a capture was taken, in words.
pub(crate) const fn tap_words(tap: Tap) -> &'static str {
    match tap {
        Tap::Sender => "at the sender of the data",
        Tap::Receiver => "at the receiver of the data",
        Tap::Middle => "between sender and receiver",
        Tap::Unknown => "cannot be told where",
    }
}

#[derive(Debug, Serialize)]
struct ConnectionView {
    id: u32,
    title: String,
    direction: String,
    limit: &'static str,
    flags: Vec<String>,
    sentence: String,
    goodput: String,
    duration: String,
    bytes: String,
    rtt: String,
    set: Option<SetView>,
    verdict: VerdictPart,
    remedies: Vec<RemedyRow>,
    facts: Vec<(&'static str, String)>,
}

impl ConnectionView {
    fn of(explained: &ExplainedConnection) -> Self {
        let c = &explained.connection;
        let (from, to) = match c.data_from {
            Side::Client => (&c.client, &c.server),
            Side::Server => (&c.server, &c.client),
        };
        let drawn = !c.graphs.segments.is_empty() || !c.graphs.io.is_empty();
        let set = drawn.then(|| {
            SetView::of(&GraphSet {
                variant: String::new(),
                run: 0,
                label: format!("seen {}", tap_words(c.tap)),
                graphs: c.graphs.clone(),
                intervals: c.intervals.clone(),
            })
        });
        Self {
            id: c.id,
            title: format!("Connection {}", c.id),
            direction: format!("{from} → {to}"),
            limit: c.verdict.limit.name(),
            flags: c.verdict.flags.iter().map(|f| flag_name(*f)).collect(),
            sentence: c.verdict.sentence.clone(),
            goodput: bit_rate(c.goodput_bit_per_s),
            duration: seconds(c.duration_s),
            bytes: bytes(c.bytes_delivered as f64),
            rtt: seconds(c.rtt_s.median),
            set,
            verdict: VerdictPart::of(&c.verdict),
            remedies: explained.remedies.iter().map(RemedyRow::of).collect(),
            facts: facts(explained),
        }
    }
}

#[derive(Debug, Serialize)]
struct RemedyRow {
    change: String,
    predicted: String,
    next_limit: Option<&'static str>,
    because: String,
    configuration: Vec<ConfigurationText>,
}

impl RemedyRow {
    fn of(remedy: &RemedyView) -> Self {
        Self {
            change: remedy.change.clone(),
            predicted: remedy
                .predicted_goodput_bit_per_s
                .map_or("gain unknown".into(), |r| format!("about {}", bit_rate(r))),
            next_limit: remedy.next_limit.map(slowpath_analyze::Limit::name),
            because: remedy.because.clone(),
            configuration: remedy.configuration.clone(),
        }
    }
}

/// What a connection did, as label and value: for the page and the terminal alike.
pub(crate) fn facts(explained: &ExplainedConnection) -> Vec<(&'static str, String)> {
    let c = &explained.connection;
    let mut facts = vec![
        ("client", c.client.clone()),
        ("server", c.server.clone()),
        (
            "segment size",
            pair(&c.handshake, |h| {
                h.mss.map(|m| m.map_or("–".into(), |m| m.to_string()))
            }),
        ),
        ("window scale", pair(&c.handshake, scale)),
        ("SACK", pair(&c.handshake, |h| h.sack.map(offered))),
        ("timestamps", pair(&c.handshake, |h| h.timestamps.map(offered))),
        (
            "ECN",
            match c.handshake.ecn {
                EcnMode::None => "none".into(),
                EcnMode::Classic => "classic (RFC 3168)".into(),
                EcnMode::Accurate => "accurate (RFC 9768)".into(),
            },
        ),
        (
            "DSCP",
            format!("{} / {}", marks(&c.dscp.client), marks(&c.dscp.server)),
        ),
        (
            "round trip",
            format!(
                "{} least, {} median, {} in 95 %",
                seconds(c.rtt_s.min),
                seconds(c.rtt_s.median),
                seconds(c.rtt_s.p95)
            ),
        ),
        ("lost", segments(c.lost_segments)),
        ("sent again", segments(c.retransmitted_segments)),
        ("of these in vain", segments(c.spurious_retransmissions)),
        ("out of order", segments(c.reordered_segments)),
    ];
    if c.zero_window_s > 0.0 {
        facts.push(("window closed for", seconds(c.zero_window_s)));
    }
    facts
}

fn pair(handshake: &Handshake, of: impl Fn(&Handshake) -> [String; 2]) -> String {
    if !handshake.seen && handshake.inferred_window_scale.iter().all(Option::is_none) {
        return "handshake not in the capture".into();
    }
    let [client, server] = of(handshake);
    format!("{client} / {server}")
}

fn scale(h: &Handshake) -> [String; 2] {
    [0, 1].map(|i| match (h.window_scale[i], h.inferred_window_scale[i]) {
        (Some(s), _) => format!("{s} (× {})", 1_u64 << s.min(14)),
        (None, Some(s)) => format!("{s}, inferred"),
        (None, None) => "none".into(),
    })
}

fn offered(option: Option<bool>) -> String {
    match option {
        Some(true) => "yes".into(),
        Some(false) => "no".into(),
        None => "not seen".into(),
    }
}

fn marks(values: &[u8]) -> String {
    if values.is_empty() {
        return "–".into();
    }
    values.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
}

fn segments(count: u64) -> String {
    format!(
        "{} {}",
        grouped(count as f64, 0),
        if count == 1 { "segment" } else { "segments" }
    )
}

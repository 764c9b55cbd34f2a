//! From [`Explanation`] to what the capture's template shows.

use serde::Serialize;
use slowpath_facts::Side;
use slowpath_facts::wireshark;
use slowpath_verdict::Connection;

use super::shared::{SetView, VerdictPart};
use crate::explain::{ConfigurationText, ExplainedConnection, Explanation, RemedyView};
use crate::explain_text::{Depth, write_explanation};
use crate::facts::{data_s, facts, label, tap_words, value};
use crate::graphs::GraphSet;
use crate::quantity::{bit_rate, bytes, grouped, percent, seconds};
use crate::text::Style;
use crate::verdict::flag_name;
use slowpath_words::{say, word};

/// Connections that get graphs and details; the rest of a large capture is counted.
const DETAILED: usize = 12;
/// Connections that get a line; more would make the page heavy.
const LISTED: usize = 2_000;

#[derive(Debug, Serialize)]
pub(super) struct ExplainView {
    file: String,
    meta: Vec<String>,
    warnings: Vec<String>,
    quality: Vec<(&'static str, String)>,
    connections: Vec<ConnectionView>,
    /// All connections, one line each.
    rows: Vec<Row>,
    /// How many are left out of these.
    more: usize,
    /// The answer as a terminal shows it.
    text: String,
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
        if count == 1 {
            word!("explain-one-connection").to_owned()
        } else {
            say!("explain-connections", count = count)
        },
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
        rows: explanation
            .connections
            .iter()
            .take(LISTED)
            .enumerate()
            .map(|(place, explained)| Row::of(place, &explained.connection))
            .collect(),
        more: count.saturating_sub(LISTED),
        text: text(explanation),
    }
}

/// The answer as a terminal of 80 columns shows it.
fn text(explanation: &Explanation) -> String {
    let mut text = Vec::new();
    write_explanation(explanation, Style::default(), Depth::answers(false), &mut text)
        .expect("writing to memory does not fail");
    String::from_utf8_lossy(&text).into_owned()
}

/// Who sends to whom.
fn direction(c: &Connection) -> String {
    let (from, to) = match c.data_from {
        Side::Client => (&c.client, &c.server),
        Side::Server => (&c.server, &c.client),
    };
    format!("{from} → {to}")
}

/// One connection in one line.
#[derive(Debug, Serialize)]
struct Row {
    id: u32,
    direction: String,
    bytes: String,
    duration: String,
    goodput: String,
    limit: &'static str,
    /// It has a part of its own further down.
    detailed: bool,
}

impl Row {
    fn of(place: usize, c: &Connection) -> Self {
        Self {
            id: c.id,
            direction: direction(c),
            bytes: bytes(c.bytes_delivered as f64),
            duration: seconds(data_s(c.bytes_delivered, c.goodput_bit_per_s, c.duration_s)),
            goodput: bit_rate(c.goodput_bit_per_s),
            limit: c.verdict.limit.name(),
            detailed: place < DETAILED,
        }
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
    /// The bytes moved meanwhile.
    amount: String,
    rtt: String,
    set: Option<SetView>,
    verdict: VerdictPart,
    remedies: Vec<RemedyRow>,
    facts: Vec<(String, String)>,
    wireshark: Vec<WiresharkRow>,
}

impl ConnectionView {
    fn of(explained: &ExplainedConnection) -> Self {
        let c = &explained.connection;
        let drawn = !c.graphs.segments.is_empty() || !c.graphs.io.is_empty();
        let set = drawn.then(|| {
            let label = say!("explain-seen", tap = tap_words(c.tap));
            SetView::of(&GraphSet::of("", 0, label, c))
        });
        Self {
            id: c.id,
            title: format!("Connection {}", c.id),
            direction: direction(c),
            limit: c.verdict.limit.name(),
            flags: c.verdict.flags.iter().map(|f| flag_name(*f)).collect(),
            sentence: if c.headline() == c.verdict.sentence {
                c.verdict.sentence.clone()
            } else {
                format!("{} {}", c.headline(), c.verdict.sentence)
            },
            goodput: bit_rate(c.goodput_bit_per_s),
            duration: seconds(data_s(c.bytes_delivered, c.goodput_bit_per_s, c.duration_s)),
            amount: say!("explain-for-bytes", bytes = bytes(c.bytes_delivered as f64)),
            rtt: seconds(c.rtt_s.median),
            set,
            verdict: VerdictPart::of(&c.verdict),
            remedies: explained.remedies.iter().map(RemedyRow::of).collect(),
            facts: facts(c)
                .into_iter()
                .map(|(name, text)| (label(name), value(&text)))
                .collect(),
            wireshark: c.wireshark.iter().map(WiresharkRow::of).collect(),
        }
    }
}

/// What Wireshark says of late and repeated segments, and what they were.
#[derive(Debug, Serialize)]
struct WiresharkRow {
    segments: String,
    wireshark: &'static str,
    slowpath: &'static str,
    agree: bool,
    why: String,
    frames: String,
}

impl WiresharkRow {
    fn of(row: &wireshark::Row) -> Self {
        let mut frames: Vec<String> = row.frames.iter().map(u64::to_string).collect();
        if row.segments > row.frames.len() as u64 {
            frames.push("…".into());
        }
        Self {
            segments: grouped(row.segments as f64, 0),
            wireshark: row.wireshark.name(),
            slowpath: row.slowpath.name(),
            agree: row.agree,
            why: row.why.clone(),
            frames: frames.join(", "),
        }
    }
}

#[derive(Debug, Serialize)]
struct RemedyRow {
    change: String,
    predicted: String,
    in_vain: bool,
    next_limit: Option<&'static str>,
    because: String,
    configuration: Vec<ConfigurationText>,
}

impl RemedyRow {
    fn of(remedy: &RemedyView) -> Self {
        Self {
            change: remedy.change.clone(),
            predicted: if remedy.in_vain() {
                "gains nothing".into()
            } else {
                remedy.outcome()
            },
            in_vain: remedy.in_vain(),
            next_limit: remedy.next_limit.map(slowpath_verdict::Limit::name),
            because: remedy.because.clone(),
            configuration: remedy.configuration.clone(),
        }
    }
}

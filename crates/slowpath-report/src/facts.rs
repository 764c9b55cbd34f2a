//! Facts and figures as label and value, for the page and the terminal alike.

use slowpath_facts::Tap;
use slowpath_facts::{EcnMode, Handshake, RttSummary};
use slowpath_verdict::{Connection, Parameters};

use crate::quantity::{bit_rate, byte_rate, bytes, grouped, percent, seconds};

/// Where a capture was taken, in words.
pub(crate) const fn tap_words(tap: Tap) -> &'static str {
    match tap {
        Tap::Sender => "at the sender of the data",
        Tap::Receiver => "at the receiver of the data",
        Tap::Middle => "between sender and receiver",
        Tap::Unknown => "cannot be told where",
    }
}

/// What a connection did, as label and value: for the page and the terminal alike.
pub(crate) fn facts(c: &Connection) -> Vec<(&'static str, String)> {
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
        ("round trip", round_trip(&c.rtt_s)),
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

fn round_trip(rtt: &RttSummary) -> String {
    if rtt.p95 > 0.0 {
        return format!(
            "{} least, {} median, {} in 95 %",
            seconds(rtt.min),
            seconds(rtt.median),
            seconds(rtt.p95)
        );
    }
    if rtt.handshake > 0.0 {
        // A receiver without timestamps acknowledges what has just come: that shows no way there and back.
        return format!(
            "{} at the handshake; later ones cannot be seen here",
            seconds(rtt.handshake)
        );
    }
    "cannot be seen here".into()
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

/// The figures of a verdict that apply, with words.
pub(crate) fn parameters(p: &Parameters) -> Vec<(&'static str, String)> {
    let rate = |r: f64| {
        let bound = if p.rate_is_lower_bound == Some(true) {
            "at least "
        } else {
            ""
        };
        format!("{bound}{}", bit_rate(r))
    };
    #[expect(clippy::cast_precision_loss, reason = "byte counts for people")]
    let size = |b: u64| bytes(b as f64);
    [
        ("rate", p.rate_bit_per_s.map(rate)),
        ("bucket", p.bucket_bytes.map(size)),
        ("queue", p.queue_bytes.map(size)),
        ("queueing delay", p.queue_delay_s.map(seconds)),
        ("lost", p.loss_fraction.map(percent)),
        ("window", p.window_bytes.map(size)),
        ("in flight", p.flight_bytes.map(size)),
        ("reader takes", p.drain_byte_per_s.map(byte_rate)),
        ("at a time", p.drain_step_bytes.map(size)),
        ("sender gives", p.source_byte_per_s.map(byte_rate)),
        ("marked", p.marked_fraction.map(percent)),
        ("round trip", p.rtt_s.map(seconds)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

//! Facts and figures as label and value, for the page and the terminal alike.

use slowpath_facts::Tap;
use slowpath_facts::{EcnMode, Handshake, RttSummary};
use slowpath_verdict::{Connection, Parameters};

use crate::quantity::{bit_rate, byte_rate, bytes, grouped, percent, seconds};
use slowpath_words::{english, english_word, lookup, say, told, word};

/// The label of a fact or a figure in the language that is spoken.
pub(crate) fn label(name: &str) -> String {
    let key = format!("figure-{}", name.replace(' ', "-"));
    lookup(&key).map_or_else(|| told(name).into_owned(), str::to_owned)
}

/// The value of a fact in the language that is spoken: one word for each end, or a text.
pub(crate) fn value(text: &str) -> String {
    let one = |text: &str| match text {
        "none" => word!("figure-none").to_owned(),
        "yes" => word!("value-yes").to_owned(),
        "no" => word!("value-no").to_owned(),
        text => told(text).into_owned(),
    };
    text.split(" / ").map(one).collect::<Vec<_>>().join(" / ")
}

/// Where a capture was taken, in words.
pub(crate) fn tap_words(tap: Tap) -> &'static str {
    match tap {
        Tap::Sender => english_word!("facts-sender-data"),
        Tap::Receiver => english_word!("facts-receiver-data"),
        Tap::Middle => english_word!("facts-between-sender-receiver"),
        Tap::Unknown => english_word!("facts-cannot-told-where"),
    }
}

/// The time over which a rate is taken, seconds: from the first data to its last acknowledgement. `duration_s`, that of the
/// connection, where no rate is known.
pub(crate) fn data_s(bytes: u64, goodput_bit_per_s: f64, duration_s: f64) -> f64 {
    if goodput_bit_per_s > 0.0 && goodput_bit_per_s.is_finite() {
        bytes as f64 * 8.0 / goodput_bit_per_s
    } else {
        duration_s
    }
}

/// A transfer in figures that belong together: bytes, the time in which they were moved, their rate; and how long the
/// connection was there, where that is much longer.
pub(crate) fn transfer(c: &Connection) -> String {
    let data_s = data_s(c.bytes_delivered, c.goodput_bit_per_s, c.duration_s);
    let figures = say!(
        "explain-in",
        bytes_delivered = bytes(c.bytes_delivered as f64),
        data_s = seconds(data_s),
        goodput_bit_per_s = bit_rate(c.goodput_bit_per_s)
    );
    if c.duration_s > LONGER * data_s {
        figures + &say!("explain-in-open", duration_s = seconds(c.duration_s))
    } else {
        figures
    }
}

/// What a connection did, as label and value: for the page and the terminal alike.
pub(crate) fn facts(c: &Connection) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("client", c.client.clone()),
        ("server", c.server.clone()),
        (
            english_word!("facts-segment-size"),
            pair(&c.handshake, |h| {
                h.mss.map(|m| m.map_or("–".into(), |m| m.to_string()))
            }),
        ),
        (english_word!("facts-window-scale"), pair(&c.handshake, scale)),
        ("SACK", pair(&c.handshake, |h| h.sack.map(offered))),
        ("timestamps", pair(&c.handshake, |h| h.timestamps.map(offered))),
        (
            "ECN",
            match c.handshake.ecn {
                EcnMode::None => "none".into(),
                EcnMode::Classic => english_word!("facts-classic-rfc").into(),
                EcnMode::Accurate => english_word!("facts-accurate-rfc").into(),
            },
        ),
        (
            "DSCP",
            format!("{} / {}", marks(&c.dscp.client), marks(&c.dscp.server)),
        ),
        (english_word!("facts-round-trip"), round_trip(&c.rtt_s)),
        ("lost", segments(c.lost_segments)),
        (
            english_word!("facts-sent-again"),
            segments(c.retransmitted_segments),
        ),
        (
            english_word!("facts-these-vain"),
            segments(c.spurious_retransmissions),
        ),
        (english_word!("facts-out-order"), segments(c.reordered_segments)),
    ];
    if c.zero_window_s > 0.0 {
        facts.push((english_word!("facts-window-closed"), seconds(c.zero_window_s)));
    }
    facts
}

fn round_trip(rtt: &RttSummary) -> String {
    if rtt.p95 > 0.0 {
        return english!(
            "facts-least-median",
            min = seconds(rtt.min),
            median = seconds(rtt.median),
            p95 = seconds(rtt.p95)
        );
    }
    if rtt.handshake > 0.0 {
        // A receiver without timestamps acknowledges what has just come: that shows no way there and back.
        return english!(
            "facts-handshake-later-ones-cannot-seen",
            handshake = seconds(rtt.handshake)
        );
    }
    english_word!("facts-cannot-seen-here").into()
}

fn pair(handshake: &Handshake, of: impl Fn(&Handshake) -> [String; 2]) -> String {
    if !handshake.seen && handshake.inferred_window_scale.iter().all(Option::is_none) {
        return english_word!("facts-handshake-not-capture").into();
    }
    let [client, server] = of(handshake);
    format!("{client} / {server}")
}

fn scale(h: &Handshake) -> [String; 2] {
    [0, 1].map(|i| match (h.window_scale[i], h.inferred_window_scale[i]) {
        (Some(s), _) => format!("{s} (× {})", 1_u64 << s.min(14)),
        (None, Some(s)) => english!("facts-inferred", s = s),
        (None, None) => "none".into(),
    })
}

fn offered(option: Option<bool>) -> String {
    match option {
        Some(true) => "yes".into(),
        Some(false) => "no".into(),
        None => english_word!("facts-not-seen").into(),
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
        // A bucket was watched for so short that its rate may be lower as well.
        let bound = match p.rate_is_lower_bound {
            Some(true) if p.bucket_bytes.is_some() => english_word!("facts-about"),
            Some(true) => english_word!("facts-least"),
            _ => "",
        };
        format!("{bound}{}", bit_rate(r))
    };
    #[expect(clippy::cast_precision_loss, reason = "byte counts for people")]
    let size = |b: u64| bytes(b as f64);
    [
        ("rate", p.rate_bit_per_s.map(rate)),
        ("bucket", p.bucket_bytes.map(size)),
        ("queue", p.queue_bytes.map(size)),
        (
            english_word!("facts-queueing-delay"),
            p.queue_delay_s.map(seconds),
        ),
        ("lost", p.loss_fraction.map(percent)),
        ("window", p.window_bytes.map(size)),
        (english_word!("facts-flight"), p.flight_bytes.map(size)),
        (
            english_word!("facts-reader-takes"),
            p.drain_byte_per_s.map(byte_rate),
        ),
        (english_word!("facts-time"), p.drain_step_bytes.map(size)),
        (
            english_word!("facts-sender-gives"),
            p.source_byte_per_s.map(byte_rate),
        ),
        ("marked", p.marked_fraction.map(percent)),
        (english_word!("facts-round-trip"), p.rtt_s.map(seconds)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// How many times as long as its data a connection was there, for both to be told.
const LONGER: f64 = 1.1;

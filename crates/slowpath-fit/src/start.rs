//! Where a search starts: what facts and verdict of a transfer say of its path, as models.

use slowpath_facts::{Connection as Facts, Happening, Side, Tap};
use slowpath_verdict::{Connection, Limit};

use crate::booked;
use crate::measured::{frames, round_trip};
use crate::model::{FASTEST, Given, Loss, Model, Parts, Policer, Reader, Shape, Window, Writer};
use crate::seen::Seen;

/// Why no search can start.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The capture shows no acknowledged data.
    #[error("the capture does not show both the data and its acknowledgements")]
    OneWay,
    /// Too little was sent.
    #[error(
        "the transfer has {bytes} bytes in {duration_s:.3} s; a fit needs {LEAST_BYTES} bytes and four round trips"
    )]
    TooShort {
        /// Payload.
        bytes: u64,
        /// Its duration.
        duration_s: f64,
    },
    /// Too much of it is not in the capture.
    #[error("the capture lacks {share:.1} % of the transfer's bytes")]
    Gaps {
        /// Per cent.
        share: f64,
    },
    /// Nothing tells the round trip.
    #[error("the capture does not tell the round-trip time")]
    RoundTrip,
    /// The search was stopped.
    #[error("the search was stopped")]
    Stopped,
    /// No model could be simulated.
    #[error("no model of this transfer could be simulated")]
    Nothing,
}

/// The models from which a search starts, the most likely first.
///
/// # Errors
/// [`Refused`] where the capture shows too little.
pub fn models(connection: &Connection, seen: &Seen) -> Result<Vec<Model>, Refused> {
    let facts = &connection.facts;
    if facts.capture_loss_fraction > MOST_MISSED {
        return Err(Refused::Gaps {
            share: facts.capture_loss_fraction * 100.0,
        });
    }
    let round_trip = round_trip(connection).ok_or(Refused::RoundTrip)?;
    if seen.bytes < LEAST_BYTES || seen.duration_s < 3.0 * round_trip {
        return Err(Refused::TooShort {
            bytes: seen.bytes,
            duration_s: seen.duration_s,
        });
    }
    let given = given(connection, seen, round_trip);
    let frames = frames(facts.segment_size);
    let mean = seen.bytes as f64 * 8.0 / busy(seen, given.parts) * frames;
    let limit = connection.verdict.limit;
    let figures = &connection.verdict.parameters;
    let known = [
        figures.rate_bit_per_s.filter(|_| limit != Limit::Policed),
        connection.ledger.capacity_bit_per_s.map(|rate| rate * frames),
        facts.timeline.train_rate.map(|rate| rate * 8.0 * frames),
    ];
    let floor = mean * 1.02;
    let rate = known.into_iter().flatten().find(|rate| *rate >= mean * 0.9);
    let peak = [
        rate,
        Some(facts.arrival_peak_bit_per_s),
        facts.queue.map(|fit| fit.delay.rate_bit_per_s),
    ];
    let wide = peak
        .into_iter()
        .flatten()
        .fold(floor * 2.0, f64::max)
        .min(FASTEST);
    let longest = (facts.rtt.p95 - round_trip).max(0.0);
    let queue_at = |rate: f64| {
        let seen = figures.queue_bytes.map(|bytes| bytes as f64);
        seen.unwrap_or(rate / 8.0 * longest.max(facts.rtt.max - round_trip).max(0.0))
            .max(10.0 * 1_514.0)
    };
    let base = Model {
        shape: Shape::Link,
        rate: rate.unwrap_or(wide).clamp(floor, FASTEST),
        queue: queue_at(rate.unwrap_or(floor)),
        round_trip,
        loss: Loss::None,
        policer: None,
        window: window(connection),
        reader: None,
        send_buffer: None,
        writer: None,
        initial_window: initial_window(connection),
        congestion: "cubic",
        given,
    };
    let mut all = Vec::new();
    let ended = at_an_end(connection, &base, wide);
    let is_end = !ended.is_empty();
    all.extend(ended);
    let lost = lost_packets(connection, seen, &base.given, true);
    let all_lost = lost.len();
    let link = Model {
        rate: if is_end { wide } else { base.rate },
        ..base.clone()
    };
    let of_the_path = lost_packets(connection, seen, &base.given, false);
    let (policed, bucket) = policer(connection, mean);
    let policed_at = Policer {
        rate: policed,
        bucket,
    };
    all.extend(booked::models(connection, &base, &of_the_path, policed_at));
    if facts.loss.lost_segments >= 3 || limit == Limit::Policed {
        all.push(Model {
            shape: Shape::Policer,
            rate: wide.max(policed * 4.0).min(FASTEST),
            queue: wide / 8.0 * 0.1,
            policer: Some(policed_at),
            ..base.clone()
        });
    }
    for (lost, own) in [(&lost, false), (&of_the_path, true)] {
        // Where no loss looks like an overflow the two are one.
        if lost.is_empty() || (own && lost.len() == all_lost) {
            continue;
        }
        let room = |rate: f64| {
            let filled = rate / 8.0 * round_trip.max(0.02);
            if own {
                link.queue
            } else {
                filled.max(link.queue) * 2.0
            }
        };
        for rate in [wide, link.rate] {
            all.push(Model {
                shape: Shape::LinkAndLoss,
                loss: Loss::Packets(lost.clone()),
                rate,
                queue: room(rate),
                ..link.clone()
            });
        }
    }
    all.push(link);
    // A link that was only just wide enough explains a transfer whose rate nothing else tells.
    if rate.is_none() && !is_end {
        all.push(Model { rate: floor, ..base });
    }
    Ok(all)
}

fn given(connection: &Connection, seen: &Seen, round_trip: f64) -> Given {
    let facts = &connection.facts;
    let both = |offers: [Option<bool>; 2], unknown: bool| offers.iter().all(|offer| offer.unwrap_or(unknown));
    let timestamps = both(
        connection.handshake.timestamps,
        !facts.segment_size.is_multiple_of(1_460),
    );
    let options = if timestamps { 12 } else { 0 };
    let mss = (facts.segment_size + options).clamp(88, 9_000);
    Given {
        bytes: seen.bytes,
        mss: u16::try_from(mss).unwrap_or(1_460),
        sack: both(connection.handshake.sack, true),
        timestamps,
        ecn: facts.ecn.ce_packets > 0 || facts.ecn.reported > 0,
        deadline: seen.duration_s * 3.0 + 20.0 * round_trip + 3.0,
        parts: parts(connection, seen, round_trip),
    }
}

/// Seconds in which the program had something to send.
fn busy(seen: &Seen, parts: Option<Parts>) -> f64 {
    let pauses = parts.map_or(0.0, |parts| {
        parts.pause * f64::from(parts.count.saturating_sub(1))
    });
    (seen.duration_s - pauses).max(seen.duration_s * 0.05).max(1e-6)
}

/// The parts of a transfer between which everything was acknowledged and the sender paused, where these pauses matter.
fn parts(connection: &Connection, seen: &Seen, round_trip: f64) -> Option<Parts> {
    let pauses = pauses(connection, seen, round_trip);
    let all: f64 = pauses.iter().map(|pause| pause.1).sum();
    if pauses.is_empty() || all < seen.duration_s * WORTH_A_PART {
        return None;
    }
    Some(Parts {
        count: u32::try_from(pauses.len()).ok()? + 1,
        pause: all / pauses.len() as f64,
    })
}

/// Payload before the last pause of a transfer in parts, where hardly anything comes behind it.
pub fn before_tail(connection: &Connection, seen: &Seen) -> Option<u64> {
    let pauses = pauses(connection, seen, round_trip(connection)?);
    let (last, _) = pauses.last()?;
    let each = seen.bytes / (pauses.len() as u64 + 1);
    (pauses.len() > 1 && seen.bytes.saturating_sub(*last) < each / TAIL).then_some(*last)
}

/// Pauses of the sender with everything acknowledged: payload sent before, and how long.
fn pauses(connection: &Connection, seen: &Seen, round_trip: f64) -> Vec<(u64, f64)> {
    // A closed window stops the sender as well, without a program that pauses.
    if matches!(
        connection.verdict.limit,
        Limit::ReceiverApplication | Limit::ReceiverWindow
    ) {
        return Vec::new();
    }
    let graphs = &connection.graphs;
    let Some(first) = graphs.segments.first() else {
        return Vec::new();
    };
    let mut acks = graphs.acks.iter().peekable();
    let (mut acknowledged, mut at_ack) = (first.from as f64, first.at_s);
    let mut highest = first.from;
    let mut out = Vec::new();
    for segment in &graphs.segments {
        if segment.at_s - first.at_s > seen.duration_s {
            break;
        }
        while let Some(ack) = acks.next_if(|ack| ack.at_s <= segment.at_s) {
            if ack.value > acknowledged {
                (acknowledged, at_ack) = (ack.value, ack.at_s);
            }
        }
        let pause = segment.at_s - at_ack;
        if segment.from >= highest
            && highest > first.from
            && acknowledged >= highest as f64
            && pause > (round_trip * 0.5).max(LEAST_PAUSE)
        {
            out.push((highest - first.from, pause));
        }
        highest = highest.max(segment.to);
    }
    out
}

fn window(connection: &Connection) -> Window {
    let facts = &connection.facts;
    let window = &facts.window;
    let full = facts.time.window_full_s / facts.time.total_s.max(1e-9);
    let constant = window.median as f64 >= 0.8 * window.max as f64;
    if window.max == 0 {
        return Window::Grows;
    }
    let at_window = matches!(
        connection.verdict.limit,
        Limit::ReceiverWindow | Limit::ReceiverApplication
    );
    if at_window || window.max <= 65_535 || (full > MATTERS && constant) {
        Window::Fixed(window.max as f64)
    } else if full > MATTERS {
        Window::GrowsTo(window.max as f64)
    } else {
        Window::Grows
    }
}

fn initial_window(connection: &Connection) -> u32 {
    let line = &connection.facts.timeline;
    let segment = u64::from(connection.facts.segment_size.max(1));
    let segments = line.initial_window.div_ceil(segment);
    // Beside the receiver the first acknowledgement leaves before the first flight is in.
    let told = connection.facts.tap == Tap::Sender && line.from_the_start;
    if told && (1..=200).contains(&segments) {
        u32::try_from(segments).unwrap_or(10)
    } else {
        10
    }
}

/// Models with what the verdict found at one of the ends.
fn at_an_end(connection: &Connection, base: &Model, wide: f64) -> Vec<Model> {
    let facts = &connection.facts;
    let figures = &connection.verdict.parameters;
    let goodput = connection.goodput_bit_per_s;
    let end = Model {
        shape: Shape::End,
        rate: wide,
        queue: base.queue.max(wide / 8.0 * base.round_trip),
        ..base.clone()
    };
    let flight = figures
        .flight_bytes
        .unwrap_or(facts.flight.plateau.max(facts.flight.median_peak)) as f64;
    let buffered = |times: f64| Model {
        send_buffer: Some((flight * times).max(3_000.0)),
        ..end.clone()
    };
    let read = || {
        let rate = figures.drain_byte_per_s.map_or(goodput, |rate| rate * 8.0);
        let unit = figures.drain_step_bytes.map_or(4_096.0, |bytes| bytes as f64);
        Model {
            reader: Some(Reader { rate, unit }),
            window: Window::Fixed(facts.window.max as f64),
            ..end.clone()
        }
    };
    let mut all = match connection.verdict.limit {
        Limit::ReceiverApplication => vec![read()],
        Limit::SendBuffer => vec![buffered(1.0), buffered(2.0)],
        Limit::SenderApplication if base.given.parts.is_none() => {
            let rate = figures.source_byte_per_s.map_or(goodput, |rate| rate * 8.0);
            let written = |in_blocks: bool| Model {
                writer: Some(Writer {
                    rate: rate * if in_blocks { 1.0 } else { 1.045 },
                    in_blocks,
                }),
                ..end.clone()
            };
            vec![written(false), written(true)]
        }
        Limit::ProtocolWindow if base.given.parts.is_none() => vec![buffered(1.0)],
        Limit::ReceiverWindow | Limit::SlowStart | Limit::SenderApplication | Limit::ProtocolWindow => {
            vec![end.clone()]
        }
        _ if matches!(base.window, Window::Fixed(_)) => vec![end.clone()],
        _ => Vec::new(),
    };
    // A window that shrinks while the transfer runs is one that a program does not empty, whatever else seems to hold the sender.
    let shrinks = (facts.window.median as f64) < SHRINKS * facts.window.max as f64;
    if shrinks && !all.is_empty() && all.iter().all(|one| one.reader.is_none()) {
        all.push(read());
    }
    all
}

fn policer(connection: &Connection, mean: f64) -> (f64, f64) {
    let figures = &connection.verdict.parameters;
    let fitted = connection.facts.queue;
    let policed = connection.verdict.limit == Limit::Policed;
    let rate = figures.rate_bit_per_s.filter(|_| policed);
    let rate = rate
        .or(fitted.map(|fit| fit.rate_bit_per_s))
        .filter(|rate| *rate > 0.0);
    let bucket = figures.bucket_bytes.map(|bytes| bytes as f64).filter(|_| policed);
    let bucket = bucket
        .or(fitted.map(|fit| fit.size_bytes))
        .filter(|bytes| *bytes > 1_600.0);
    (
        rate.unwrap_or(mean),
        bucket.unwrap_or(mean / 8.0 * 0.1).max(3_000.0),
    )
}

/// The numbers of the sender's packets that the capture shows to be lost on the way, the handshake's two included; with those
/// that a full queue seems to have dropped, or without.
fn lost_packets(connection: &Connection, seen: &Seen, given: &Given, overflows: bool) -> Vec<u64> {
    let facts: &Facts = connection;
    let graphs = &facts.graphs;
    let Some(first) = graphs.segments.first() else {
        return Vec::new();
    };
    let segment = u64::from(given.mss.max(1)).saturating_sub(if given.timestamps { 12 } else { 0 });
    let mut sent = graphs.segments.iter().peekable();
    let mut before = HANDSHAKE;
    let mut out = Vec::new();
    for event in &facts.facts.timeline.events {
        if event.kind != Happening::Loss || event.at_s - first.at_s > seen.duration_s {
            continue;
        }
        while let Some(passed) = sent.next_if(|passed| passed.at_s < event.at_s - 1e-7) {
            before += (passed.to - passed.from).div_ceil(segment.max(1));
        }
        let lost = event.segments.clamp(1, MOST_OF_ONE);
        let overflow = event.segments >= BURST || (event.longer <= RARELY && event.queue_s > LEAST_QUEUE);
        if overflows || !overflow {
            out.extend((1..=lost).map(|number| before + number));
        }
        if facts.facts.tap == Tap::Receiver {
            // What was lost never passed here.
            before += lost;
        }
    }
    out.sort_unstable();
    out.dedup();
    out.truncate(MOST_LISTED);
    out
}

/// Addresses of the sender and of the receiver.
pub fn ends(connection: &Connection) -> (&str, &str) {
    match connection.data_from {
        Side::Client => (&connection.client, &connection.server),
        Side::Server => (&connection.server, &connection.client),
    }
}

/// Fewest bytes of a transfer that is fitted.
pub const LEAST_BYTES: u64 = 50_000;
/// Share of bytes that a capture may lack.
const MOST_MISSED: f64 = 0.02;
/// A last part is none that has less than such a part of the others' payload.
const TAIL: u64 = 10;
/// Shortest pause of a program that makes a part, seconds.
const LEAST_PAUSE: f64 = 0.01;
/// Share of the duration from which pauses matter.
const WORTH_A_PART: f64 = 0.05;
/// A median window of less than such a share of the largest has shrunk.
const SHRINKS: f64 = 0.6;
/// Share of the time from which a full window matters.
const MATTERS: f64 = 0.05;
/// Packets of the sender before its data: SYN and the handshake's last acknowledgement.
const HANDSHAKE: u64 = 2;
/// Segments that are lost together where a queue overflows, and hardly ever by chance.
const BURST: u64 = 8;
/// Share of round trips that are as long as the one before an overflow.
const RARELY: f64 = 0.15;
/// Shortest queue that is one, seconds.
const LEAST_QUEUE: f64 = 0.001;
/// Losses of one event that are listed.
const MOST_OF_ONE: u64 = 200;
/// Losses that are listed.
const MOST_LISTED: usize = 5_000;

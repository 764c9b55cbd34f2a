//! The capture itself, judged before anything else.

use slowpath_record::packets::CaptureSummary;

use crate::capture::Quality;
use crate::ends::Tap;
use crate::facts::{FlowFacts, Measured};
use crate::track::{Clock, Conn};

/// Says how far a capture can be trusted, of whose bytes `datagram_fraction` are UDP.
pub(crate) fn judge(
    flows: &[Measured],
    connections: &[&Conn],
    clock: &Clock,
    packets: u64,
    datagram_fraction: f64,
    summary: &CaptureSummary,
) -> Quality {
    let duplicates: u64 = connections.iter().map(|conn| conn.duplicates).sum();
    let missed: u64 = flows.iter().map(|flow| flow.facts.capture_missed_bytes).sum();
    let acknowledged: u64 = flows.iter().map(|flow| flow.facts.bytes).sum();
    let fraction = if acknowledged > 0 {
        missed as f64 / acknowledged as f64
    } else {
        0.0
    };
    let tap = main_tap(flows);
    let mut warnings = Vec::new();
    if packets == 0 {
        warnings.push("no TCP packet was read".to_owned());
    }
    if let Some(damage) = &summary.damage {
        warnings.push(format!(
            "the file is damaged: {damage}; what came before was used"
        ));
    }
    if fraction > 0.0005 {
        warnings.push(format!(
            "the capture missed {missed} acknowledged bytes ({:.2} %): loss and flight figures are uncertain",
            fraction * 100.0
        ));
    }
    if let Some(drops) = summary.reported_drops.filter(|drops| *drops > 0) {
        warnings.push(format!(
            "the capturing machine says that it dropped {drops} packets"
        ));
    }
    if duplicates > 0 {
        warnings.push(format!(
            "packets that were recorded more than once: {duplicates} (several interfaces, a mirror port, or before and after a router); the copies are ignored"
        ));
    }
    if clock.untimed > 0 {
        warnings.push(format!(
            "{} packets have no time stamp: no rate or round-trip time can be told",
            clock.untimed
        ));
    }
    for (number, step) in clock.steps.iter().take(3) {
        warnings.push(format!(
            "the capture clock was set back by {:.3} s before packet {number}; times after it were moved on",
            *step as f64 / 1e9
        ));
    }
    for (number, leap) in clock.leaps.iter().take(3) {
        warnings.push(format!(
            "the capture clock jumped forward by {:.3} s before packet {number}, which the sender's timestamps do not show; times after it were moved back",
            *leap as f64 / 1e9
        ));
    }
    if clock.disorder > 0 {
        warnings.push(format!(
            "packets that are slightly out of time order: {}",
            clock.disorder
        ));
    }
    let resolution = clock.resolution_ns();
    if resolution >= 1_000_000 {
        warnings.push(format!(
            "the capture clock advances in steps of {} ms; round-trip times are at best that exact",
            resolution as f64 / 1e6
        ));
    }
    if clock.equal_share(packets) > 0.5 && packets > 20 {
        warnings.push("most packets bear the time of the packet before: spacing means nothing".to_owned());
    }
    if let Some(facts) = main_facts(flows) {
        if !facts.acknowledged && facts.bytes == 0 {
            warnings.push("only one direction was recorded: no round-trip time, flight or loss".to_owned());
        }
        if !facts.handshake_seen {
            warnings.push(if facts.window.scale_known == 1 {
                format!(
                    "the handshake was not recorded: window scale inferred as {} (the smallest that fits the flight)",
                    facts.window.shift
                )
            } else {
                "the handshake was not recorded: options and window scale are unknown".to_owned()
            });
        }
        if facts.largest_packet > facts.segment_size.max(1) {
            warnings.push(format!(
                "packets of up to {} payload bytes were recorded: segmentation offload; packet spacing means nothing",
                facts.largest_packet
            ));
        }
        match tap {
            Tap::Receiver => warnings.push(
                "recorded at the receiver: the sender's view is derived from acknowledgements shifted by a round trip"
                    .to_owned(),
            ),
            Tap::Middle => warnings.push(
                "recorded between the hosts: the sender's view is derived from acknowledgements shifted in time"
                    .to_owned(),
            ),
            Tap::Sender | Tap::Unknown => {}
        }
        if facts.loss.local_segments > 0 && tap == Tap::Sender {
            warnings.push(format!(
                "segments that were first seen late although this is the sender: {}; dropped in its own queues, or missed once by the capture",
                facts.loss.local_segments
            ));
        }
    }
    let mut quality = Quality {
        tap,
        capture_loss_fraction: fraction,
        duplicate_packets: duplicates,
        clock_resolution_s: resolution as f64 / 1e9,
        datagram_fraction,
        warnings,
    };
    quality.warnings.extend(quality.of_datagrams());
    quality
}

/// Where the tap of the largest connection is.
fn main_tap(flows: &[Measured]) -> Tap {
    flows.first().map_or(Tap::Unknown, |flow| flow.facts.tap)
}

/// Facts of the largest flow.
fn main_facts(flows: &[Measured]) -> Option<&FlowFacts> {
    flows.first().map(|flow| &flow.facts)
}

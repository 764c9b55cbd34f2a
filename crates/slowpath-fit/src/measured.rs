//! What a capture measures of its path by itself, without a search.

use slowpath_facts::Tap;
use slowpath_verdict::Connection;
use slowpath_verdict::ledger::CapacityIs;

/// The rate of the slowest link where the capture measures it (a link kept full, or trains that it spread), in frames; `None`
/// where it is only bounded.
pub fn measured_rate(connection: &Connection) -> Option<f64> {
    let ledger = &connection.ledger;
    let measured = ledger.capacity_is == CapacityIs::Measured;
    let payload = ledger.capacity_bit_per_s.filter(|_| measured)?;
    Some(payload * frames(connection.facts.segment_size))
}

/// Bytes of frames with FCS for one byte of payload, in segments of so many bytes with timestamps.
pub fn frames(segment: u32) -> f64 {
    let segment = f64::from(segment.max(1));
    (segment + 70.0) / segment
}

/// The round trip without queues, seconds; `None` where nothing tells it.
pub fn round_trip(connection: &Connection) -> Option<f64> {
    let facts = &connection.facts;
    let line = &facts.timeline;
    let told = [
        line.least_data_rtt_s,
        line.least_rtt_s,
        facts.rtt.min,
        facts.handshake_rtt_s,
    ];
    let likely = |value: &f64| value.is_finite() && *value > 1e-5;
    if facts.tap == Tap::Receiver {
        // The receiver sees the round trip from an acknowledgement to what it lets go, or that of the handshake.
        let told = [
            facts.handshake_rtt_s,
            line.least_rtt_s,
            facts.to_sender_s + facts.to_receiver_s,
        ];
        return told.into_iter().find(likely);
    }
    told.into_iter().find(likely)
}

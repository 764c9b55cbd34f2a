//! A datagram's number and time at the start of its payload: seconds, microseconds, number, as iperf3 writes them with
//! 64-bit counters.

use slowpath_units::Time;

/// Writes number and time, as far as there is room.
pub(super) fn write(sequence: u64, sent: Time, payload: &mut [u8]) {
    let mut bytes = [0; STAMP];
    let (seconds, micros) = (sent.nanos() / 1_000_000_000, sent.nanos() % 1_000_000_000 / 1000);
    bytes[..4].copy_from_slice(&u32::try_from(seconds).unwrap_or(u32::MAX).to_be_bytes());
    bytes[4..8].copy_from_slice(&u32::try_from(micros).unwrap_or(0).to_be_bytes());
    bytes[8..].copy_from_slice(&sequence.to_be_bytes());
    let length = payload.len().min(STAMP);
    payload[..length].copy_from_slice(&bytes[..length]);
}

/// Number and time of a datagram; zeros where its payload is too short.
pub(super) fn read(payload: &[u8]) -> (u64, Time) {
    let mut bytes = [0; STAMP];
    let length = payload.len().min(STAMP);
    bytes[..length].copy_from_slice(&payload[..length]);
    let word = |at: usize| {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        u64::from(u32::from_be_bytes(four))
    };
    let sent = Time::from_nanos(word(0) * 1_000_000_000 + word(4) * 1000);
    (word(8) << 32 | word(12), sent)
}

/// Bytes of number and time.
const STAMP: usize = 16;

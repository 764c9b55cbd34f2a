//! What a wire counts about itself.

use hdrhistogram::Histogram;
use slowpath_units::{Duration, Time};

use super::pauses::Pauses;
use crate::scales::Transits;

/// A wire's own account.
pub(crate) struct WireStats {
    /// How late packets were handed over, in nanoseconds.
    pub(crate) lateness: Histogram<u64>,
    /// Upper bounds of the errors of arrival stamps, in nanoseconds.
    pub(crate) ingress_error: Histogram<u64>,
    /// Longest time for which the thread stood still: overslept, or was held up in one turn.
    pub(crate) stall: Duration,
    /// Sum of all such times of [`super::STALL`] and more.
    pub(crate) stalled: Duration,
    /// Each span in which no packet was moved.
    pub(crate) pauses: Pauses,
    /// Packets that queues, policers and devices dropped while a stall's packets, bunched together, passed them.
    pub(crate) stall_drops: u64,
    /// Packets that found a queue full.
    pub(crate) queue_drops: u64,
    /// Time that the thread waited for a processor in waits that no idle machine has, in nanoseconds.
    pub(crate) long_waits: u64,
    /// Processor time used, in nanoseconds.
    pub(crate) cpu: u64,
    pub(crate) trains_read: u64,
    pub(crate) packets_sent: u64,
    pub(crate) packets_delivered: u64,
    pub(crate) packets_dropped: u64,
    pub(crate) writes: u64,
    /// Packets that the host's side did not take.
    pub(crate) refused: u64,
    pub(crate) last_refusal: Option<String>,
    /// Packets that are not the network's business, such as neighbour discovery.
    pub(crate) ignored: u64,
    pub(crate) capture_lost: u64,
    /// Packets inside the network at the end.
    pub(crate) inside: u64,
    /// What the path did to packets, in model time.
    pub(crate) transits: Transits,
    pub(crate) peak_bytes: u64,
    pub(crate) fault: Option<Fault>,
}

/// Why a wire ended before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// More bytes on the way than the memory set aside.
    Memory { at: Time, limit: u64 },
    /// A device failed.
    Device(String),
}

impl Default for WireStats {
    fn default() -> Self {
        let histogram = || Histogram::new_with_bounds(1, 60_000_000_000, 2).expect("the bounds are right");
        Self {
            lateness: histogram(),
            ingress_error: histogram(),
            stall: Duration::ZERO,
            stalled: Duration::ZERO,
            pauses: Pauses::default(),
            stall_drops: 0,
            queue_drops: 0,
            long_waits: 0,
            cpu: 0,
            trains_read: 0,
            packets_sent: 0,
            packets_delivered: 0,
            packets_dropped: 0,
            writes: 0,
            refused: 0,
            last_refusal: None,
            ignored: 0,
            capture_lost: 0,
            inside: 0,
            transits: Transits::default(),
            peak_bytes: 0,
            fault: None,
        }
    }
}

//! Packets at the places where somebody looks: what a driver hands to captures and counters.

use slowpath_units::Time;

use crate::outcome::{DropCause, ElementId, PortId};
use crate::packet::PacketId;

/// Receives packets in order of time; may run on a thread of its own.
pub trait PacketSink: Send {
    /// A packet was seen at a host, at a tap of the network, or met its end.
    fn packet(&mut self, seen: &SeenPacket<'_>);

    /// No more packets will come.
    fn finish(&mut self) {}
}

/// One packet at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenPacket<'a> {
    /// Where and what.
    pub event: Seen,
    /// When, from the start of the run.
    pub at: Time,
    /// The packet's number, the same at every place that it passes.
    pub id: PacketId,
    /// The IP packet with right checksums, up to the snap length.
    pub bytes: &'a [u8],
    /// Bytes of the whole IP packet.
    pub length: u32,
}

/// What happened to a packet where it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Its host sent it into the network at this port.
    Sent(PortId),
    /// It passed a recording tap.
    Passed(ElementId),
    /// It was handed to the host at this port: its end.
    Delivered(PortId),
    /// It was dropped: its end.
    Dropped(ElementId, DropCause),
}

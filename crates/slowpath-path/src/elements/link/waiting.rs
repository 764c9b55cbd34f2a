//! What queues that choose have in common: what waits, what goes next, and marks.

use slowpath_units::Time;

use crate::context::Context;
use crate::outcome::DropCause;
use crate::packet::Packet;

/// What a queue has to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// This packet.
    Packet(Packet),
    /// Nothing before this time.
    NotBefore(Time),
    /// Nothing at all.
    Empty,
}

/// A packet that waits, with what active queue management wants to know of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) packet: Packet,
    pub(super) since: Time,
    pub(super) bytes: u32,
}

/// Marks `packet` if it allows that; returns whether it did.
pub(super) fn mark(at: Time, packet: &mut Packet, context: &mut Context<'_>) -> bool {
    let capable = packet.ecn.is_capable();
    if capable {
        let marked = (packet.dscp, slowpath_packet::Ecn::Ce);
        crate::elements::remark::write(at, packet, marked, context);
    }
    capable
}

/// The cause of drops by active queue management.
pub(super) const AQM: DropCause = DropCause::Aqm;

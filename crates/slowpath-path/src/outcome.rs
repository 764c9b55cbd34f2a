//! What the network tells its driver.

use std::fmt;

use slowpath_packet::{Dscp, Ecn};
use slowpath_units::Time;

use crate::packet::{Arrival, Packet, PacketId};

/// A port, numbered in the order of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// An element, numbered in the order of the specification; parts of a split network keep the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementId(pub u16);

/// One event that the driver must know; they come in order of time.
///
/// Every cargo that a driver hands in comes back as many times as [`Outcome::references`] adds up to:
/// start with one at ingress, add for each outcome, free it at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The packet leaves the network here: its final outcome.
    Delivered {
        /// The port it goes to.
        port: PortId,
        /// When.
        at: Time,
        /// The packet as it arrives, with what the network changed in its header.
        packet: Packet,
    },
    /// The packet is gone: its final outcome.
    Dropped {
        /// Where.
        element: ElementId,
        /// Why.
        cause: DropCause,
        /// When.
        at: Time,
        /// The packet as it was handed in, out of all tunnels, with later changes of its own header.
        packet: Packet,
    },
    /// A duplicate was made; it has its own number and shares the cargo.
    Copied {
        /// Where.
        element: ElementId,
        /// When.
        at: Time,
        /// The copy.
        packet: Packet,
        /// Which packet it copies.
        of: PacketId,
    },
    /// The packet was cut into `parts` fragments, each with its own number, all sharing the cargo.
    Split {
        /// Where.
        element: ElementId,
        /// When.
        at: Time,
        /// The packet that is no more.
        packet: Packet,
        /// How many took its place.
        parts: u16,
    },
    /// All `parts` fragments came together and are one packet again.
    Joined {
        /// Where.
        element: ElementId,
        /// When.
        at: Time,
        /// The packet restored, with the number it had before it was split.
        packet: Packet,
        /// How many it took the place of.
        parts: u16,
    },
    /// A header field was changed. The delivered packet carries the result, so a driver may ignore this.
    Edit {
        /// Where.
        element: ElementId,
        /// When.
        at: Time,
        /// The packet after the change.
        packet: Packet,
        /// What was changed.
        edit: Edit,
    },
    /// A router made an ICMP message, which now travels through the network as `packet`.
    ///
    /// The driver builds its bytes now, quoting `packet.cargo` (the offending packet's cargo, whose own
    /// `Dropped` follows) with the header that it had on `arrival`, and keeps them under `packet.id` until that
    /// number is delivered or dropped. It takes no reference to the cargo.
    Emit {
        /// Where.
        element: ElementId,
        /// When.
        at: Time,
        /// The message; `flags` has [`Flags::EMITTED`](crate::Flags::EMITTED).
        packet: Packet,
        /// What it says.
        notice: Notice,
        /// The header of the offending packet as it came to the router, which is what the message quotes.
        arrival: Arrival,
    },
    /// A recording tap saw the packet pass.
    Seen {
        /// Which tap.
        tap: ElementId,
        /// When.
        at: Time,
        /// The packet as it passed.
        packet: Packet,
    },
}

impl Outcome {
    /// When it happened.
    pub const fn at(&self) -> Time {
        match self {
            Self::Delivered { at, .. }
            | Self::Dropped { at, .. }
            | Self::Copied { at, .. }
            | Self::Split { at, .. }
            | Self::Joined { at, .. }
            | Self::Edit { at, .. }
            | Self::Emit { at, .. }
            | Self::Seen { at, .. } => *at,
        }
    }

    /// The packet it is about.
    pub const fn packet(&self) -> &Packet {
        match self {
            Self::Delivered { packet, .. }
            | Self::Dropped { packet, .. }
            | Self::Copied { packet, .. }
            | Self::Split { packet, .. }
            | Self::Joined { packet, .. }
            | Self::Edit { packet, .. }
            | Self::Emit { packet, .. }
            | Self::Seen { packet, .. } => packet,
        }
    }

    /// By how much this outcome changes the number of packets that hold `packet().cargo`.
    ///
    /// Packets with [`Flags::EMITTED`](crate::Flags::EMITTED) hold no cargo.
    pub const fn references(&self) -> i32 {
        if self.packet().flags.has(crate::packet::Flags::EMITTED) {
            return 0;
        }
        match self {
            Self::Delivered { .. } | Self::Dropped { .. } => -1,
            Self::Copied { .. } => 1,
            Self::Split { parts, .. } => *parts as i32 - 1,
            Self::Joined { parts, .. } => 1 - *parts as i32,
            Self::Edit { .. } | Self::Emit { .. } | Self::Seen { .. } => 0,
        }
    }
}

/// A change to a header field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// The code point is now this.
    Dscp(Dscp),
    /// The ECN field is now this.
    Ecn(Ecn),
    /// The SYN's MSS may be at most this.
    MssLimit(u16),
    /// The SYN's window-scale option is removed.
    StripWindowScale,
}

/// What an ICMP message of a router says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The TTL ran out (ICMP type 11, ICMPv6 type 3).
    TimeExceeded {
        /// The router's address.
        from: std::net::IpAddr,
    },
    /// Too large for the next link and not to be fragmented (ICMP type 3 code 4, ICMPv6 type 2).
    FragmentationNeeded {
        /// The router's address.
        from: std::net::IpAddr,
        /// The next link's MTU as the sender must see it, in bytes.
        mtu: u32,
    },
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DropCause {
    /// The configured random or listed loss.
    Loss,
    /// The queue was full.
    QueueFull,
    /// The class queue's threshold for this drop precedence was reached.
    Threshold,
    /// RED, CoDel, FQ-CoDel or PIE decided so.
    Aqm,
    /// The policer found it out of profile.
    Policed,
    /// The treatment of its code point says drop.
    Treatment,
    /// The device had no room on its receive side.
    ReceiveOverload,
    /// The TTL ran out.
    TtlExpired,
    /// Too large and not to be fragmented, with an ICMP message sent.
    TooBig,
    /// Too large and not to be fragmented, and nobody was told.
    BlackHole,
    /// The tunnel's replay window was past its sequence number.
    Replay,
    /// A fragment of it was lost.
    Incomplete,
}

impl DropCause {
    /// All causes, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::Loss,
        Self::QueueFull,
        Self::Threshold,
        Self::Aqm,
        Self::Policed,
        Self::Treatment,
        Self::ReceiveOverload,
        Self::TtlExpired,
        Self::TooBig,
        Self::BlackHole,
        Self::Replay,
        Self::Incomplete,
    ];

    /// A stable short name, for records and captures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::QueueFull => "queue-full",
            Self::Threshold => "threshold",
            Self::Aqm => "aqm",
            Self::Policed => "policed",
            Self::Treatment => "treatment",
            Self::ReceiveOverload => "receive-overload",
            Self::TtlExpired => "ttl-expired",
            Self::TooBig => "too-big",
            Self::BlackHole => "black-hole",
            Self::Replay => "replay",
            Self::Incomplete => "incomplete",
        }
    }
}

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_numbered_in_order() {
        for (number, cause) in DropCause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, number, "{cause}");
        }
    }

    #[test]
    fn stays_within_two_cache_lines() {
        assert!(size_of::<Outcome>() <= 112, "{}", size_of::<Outcome>());
    }
}

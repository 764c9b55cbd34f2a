//! One packet as the model sees it: lengths, marks and two handles, no bytes.

use slowpath_packet::{Dscp, Ecn};
use slowpath_units::Layer;

/// A packet's number, given by the network at ingress and unique within one run, also across parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PacketId(pub u64);

/// What the driver wants to have back with the packet: a slab slice in the lab, a segment in the simulator. The model only
/// hands it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cargo {
    /// A number of the driver's.
    pub handle: u64,
    /// Sixteen bytes of the driver's, for what then needs no store of its own: a packet's memory is fetched anyway.
    pub notes: [u64; 2],
}

impl Cargo {
    /// A handle without notes.
    pub const fn new(handle: u64) -> Self {
        Self {
            handle,
            notes: [0; 2],
        }
    }
}

/// A flow known to one network; see [`Network::register_flow`](crate::Network::register_flow).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FlowId(pub u32);

/// A packet of 64 bytes, passed by value.
///
/// A driver fills in `cargo`, `flow`, `train`, `ip_len`, `dscp`, `ecn`, `ttl` and `flags`; the rest is the network's.
/// What comes out says all that the driver must change in the bytes: `dscp`, `ecn`, `ttl`, `mss_limit` and
/// [`Flags::STRIP_WINDOW_SCALE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Its number; whatever the driver writes here is replaced at ingress.
    pub id: PacketId,
    /// The driver's own.
    pub cargo: Cargo,
    /// The flow whose addresses and ports classifiers look at.
    pub flow: FlowId,
    /// The train (kernel super-packet) it came in; 0 means none. Consecutive packets of one train share it.
    pub train: u32,
    /// Bytes of the outermost IP packet: inside a tunnel this includes the tunnel's header and trailer.
    pub ip_len: u32,
    /// The packet that this one carries through a tunnel: the network's own, replaced at ingress.
    pub inner: Slot,
    /// MSS clamp for a SYN: the largest value its MSS option may keep; 0 means no clamp.
    pub mss_limit: u16,
    /// Fragment offset in units of 8 bytes (RFC 791).
    pub fragment_offset: u16,
    /// Code point of the outermost IP header.
    pub dscp: Dscp,
    /// ECN field of the outermost IP header.
    pub ecn: Ecn,
    /// Time to live of the outermost IP header.
    pub ttl: u8,
    /// What else is known of it.
    pub flags: Flags,
    /// Bytes at layer 2 beyond plain Ethernet: 4 for a VLAN tag, 8 for PPPoE.
    pub link: u8,
    /// Class chosen by the last classifier; 0 means none.
    pub class: u8,
}

impl Packet {
    /// A packet of `ip_len` bytes with TTL 64, no marks and no flags.
    pub const fn new(cargo: Cargo, flow: FlowId, ip_len: u32) -> Self {
        Self {
            id: PacketId(0),
            cargo,
            flow,
            train: 0,
            ip_len,
            inner: Slot::NONE,
            mss_limit: 0,
            fragment_offset: 0,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
            ttl: 64,
            flags: Flags::NONE,
            link: 0,
            class: 0,
        }
    }

    /// Bytes of this packet as `layer` counts them, with VLAN, PPPoE and tunnel bytes.
    pub const fn bytes(&self, layer: Layer) -> u32 {
        if matches!(layer, Layer::Ip) {
            return self.ip_len;
        }
        let carried = self.ip_len + self.link as u32;
        carried + layer.overhead(carried)
    }

    /// The packet as drivers see it: where the network keeps what is inside is nobody's business.
    pub(crate) const fn shown(&self) -> Self {
        Self {
            inner: Slot::NONE,
            ..*self
        }
    }

    /// Whether it is one fragment of a larger packet, sharing that packet's cargo.
    pub const fn is_fragment(&self) -> bool {
        self.flags.has(Flags::FRAGMENT)
    }
}

/// What the network may have changed in a packet's header by the time it comes somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Bytes of the IP packet: fewer than were sent if it is a fragment.
    pub ip_len: u32,
    /// MSS clamp for a SYN; 0 means none.
    pub mss_limit: u16,
    /// Code point.
    pub dscp: Dscp,
    /// ECN field.
    pub ecn: Ecn,
    /// Time to live, not yet lowered here.
    pub ttl: u8,
    /// What else is known of it.
    pub flags: Flags,
}

impl Arrival {
    /// Of `packet`, as it is now.
    pub const fn of(packet: &Packet) -> Self {
        Self {
            ip_len: packet.ip_len,
            mss_limit: packet.mss_limit,
            dscp: packet.dscp,
            ecn: packet.ecn,
            ttl: packet.ttl,
            flags: packet.flags,
        }
    }

    /// The packet with this header and that cargo. Its offset is 0, since routers answer first fragments only.
    pub const fn packet(&self, cargo: Cargo, flow: FlowId) -> Packet {
        Packet {
            mss_limit: self.mss_limit,
            dscp: self.dscp,
            ecn: self.ecn,
            ttl: self.ttl,
            flags: self.flags,
            ..Packet::new(cargo, flow, self.ip_len)
        }
    }
}

/// Yes-or-no properties of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u8);

impl Flags {
    /// None at all.
    pub const NONE: Self = Self(0);
    /// IPv4 with "don't fragment", or IPv6 (which routers never fragment).
    pub const DONT_FRAGMENT: Self = Self(1);
    /// TCP with SYN set: MSS clamping and window-scale removal look at these only.
    pub const SYN: Self = Self(2);
    /// A fragment that the network made.
    pub const FRAGMENT: Self = Self(4);
    /// A fragment that is not the last.
    pub const MORE_FRAGMENTS: Self = Self(8);
    /// Made by the network (an ICMP message): bytes come from the driver's answer to `Outcome::Emit`.
    pub const EMITTED: Self = Self(16);
    /// The window-scale option is to be removed from this SYN.
    pub const STRIP_WINDOW_SCALE: Self = Self(32);
    /// An IPv6 packet.
    pub const IPV6: Self = Self(64);
    /// An ICMP error: routers answer none of these (RFC 1122, section 3.2.2).
    pub const ICMP_ERROR: Self = Self(128);

    /// Whether all of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These without `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Where the network keeps the packet inside a tunnel packet; nothing to a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub(crate) u32);

impl Slot {
    /// No packet inside.
    pub const NONE: Self = Self(u32::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_small() {
        assert!(size_of::<Packet>() <= 64, "{}", size_of::<Packet>());
    }

    #[test]
    fn counts_bytes_by_layer() {
        let mut packet = Packet::new(Cargo::new(0), FlowId(0), 1056);
        assert_eq!(packet.bytes(Layer::Ip), 1056);
        assert_eq!(packet.bytes(Layer::Wire), 1094);
        packet.link = 8;
        assert_eq!(packet.bytes(Layer::Wire), 1102);
        assert_eq!(packet.bytes(Layer::FrameFcs), 1082);
        packet.ip_len = 28;
        assert_eq!(packet.bytes(Layer::FrameFcs), 64);
    }
}

//! Frames that give no record.

use slowpath_packet::Malformed;

use crate::link::LinkType;

/// Why a frame gave no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undecoded {
    /// The frame was cut, or ended, before an IP header.
    #[error("cut off before the end of its headers")]
    Cut,
    /// It carries something else.
    #[error("not an IP packet (protocol {ether_type:#06x})")]
    NotIp {
        /// The Ethernet type, or what the link layer has in its place.
        ether_type: u16,
    },
    /// The link type is not known.
    #[error("link type {0} is not read")]
    LinkType(LinkType),
    /// The IP header is broken.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// More layers than any network has.
    #[error("more than {MAX_LAYERS} layers of tags and tunnels")]
    TooDeep,
}

/// Most headers below the innermost IP packet's payload.
pub(super) const MAX_LAYERS: usize = 24;

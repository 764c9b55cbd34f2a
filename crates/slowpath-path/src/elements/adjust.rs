//! What middleboxes do to TCP's handshake, and what framing adds to a packet.

use serde::{Deserialize, Serialize};
use slowpath_units::Time;

use crate::context::{Context, Step};
use crate::outcome::Edit;
use crate::packet::{Flags, Packet};

/// Changes options of TCP SYNs that pass; other packets pass untouched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjust {
    /// The largest MSS that a SYN may announce; larger ones are lowered to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<u16>,
    /// Whether the window-scale option is taken out, which limits windows to 65,535 bytes.
    #[serde(default)]
    pub strip_window_scale: bool,
}

impl Adjust {
    #[inline(never)]
    pub(crate) fn accept(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        if packet.flags.has(Flags::SYN) {
            if let Some(mss) = self
                .mss
                .filter(|mss| packet.mss_limit == 0 || *mss < packet.mss_limit)
            {
                packet.mss_limit = mss;
                context.edit(at, packet, Edit::MssLimit(mss));
            }
            if self.strip_window_scale && !packet.flags.has(Flags::STRIP_WINDOW_SCALE) {
                packet.flags = packet.flags.with(Flags::STRIP_WINDOW_SCALE);
                context.edit(at, packet, Edit::StripWindowScale);
            }
        }
        Step::Pass(0)
    }
}

/// Says how many bytes at layer 2, beyond plain Ethernet, packets have from here on: 4 for a VLAN tag, 8 for PPPoE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Framing {
    /// The bytes, until the next such element.
    pub bytes: u8,
}

impl Framing {
    pub(crate) fn accept(self, packet: &mut Packet) -> Step {
        packet.link = self.bytes;
        Step::Pass(0)
    }
}

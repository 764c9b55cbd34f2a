//! A limit on packet size: fragments, says so, or keeps silent.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use slowpath_units::Time;

use super::router::Answers;
use crate::context::{Context, Step};
use crate::outcome::{DropCause, Notice, Outcome};
use crate::packet::{Flags, Packet, Slot};
use crate::setting::SettingError;

/// Lets packets of at most `mtu` IP bytes pass.
///
/// Larger ones are fragmented (RFC 791) where that is allowed. The others are dropped: with a message to the
/// sender (RFC 1191, RFC 4443), or without one, which is a path MTU black hole. Outputs: 0 onward, 1 for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mtu {
    /// The most IP bytes, at least 68.
    pub mtu: u32,
    /// The address that its messages come from; nothing means a black hole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers_as: Option<IpAddr>,
    /// Whether IPv4 packets are fragmented even if they say "don't".
    #[serde(default)]
    pub ignore_df: bool,
    /// The MTU named in messages if it is not `mtu`, for routers that get it wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announced: Option<u32>,
}

impl Mtu {
    pub(crate) fn check(self) -> Result<(), SettingError> {
        if self.mtu < 68 {
            return Err(SettingError::Contradiction {
                setting: "mtu",
                found: format!("is {} bytes", self.mtu),
                limit: "IPv4 needs at least 68 (RFC 791)".to_owned(),
            });
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct State {
    config: Mtu,
    answers: Answers,
}

impl State {
    pub(crate) fn new(config: &Mtu, outputs: usize) -> Self {
        Self {
            config: *config,
            answers: Answers::new(outputs, None),
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        if packet.ip_len <= self.config.mtu {
            return Step::Pass(0);
        }
        let forbidden = packet.flags.has(Flags::DONT_FRAGMENT);
        let v6_of_host = packet.flags.has(Flags::IPV6) && packet.inner == Slot::NONE;
        if forbidden && (v6_of_host || !self.config.ignore_df) {
            return self.refuse(at, packet, context);
        }
        self.split(at, packet, context)
    }

    fn refuse(&mut self, at: Time, packet: &Packet, context: &mut Context<'_>) -> Step {
        let Some(from) = self.config.answers_as else {
            return Step::Drop(DropCause::BlackHole);
        };
        let mtu = self.config.announced.unwrap_or(self.config.mtu);
        self.answers
            .send(at, packet, Notice::FragmentationNeeded { from, mtu }, context);
        Step::Drop(DropCause::TooBig)
    }

    fn split(&self, at: Time, packet: &Packet, context: &mut Context<'_>) -> Step {
        // IPv4's header is repeated; IPv6 has a fragment header of 8 bytes besides (RFC 8200, 4.5).
        let (old, new) = if packet.flags.has(Flags::IPV6) {
            (40, 48)
        } else {
            (20, 20)
        };
        let most = (self.config.mtu - new) / 8 * 8;
        let payload = packet.ip_len - old;
        let parts = payload.div_ceil(most);
        context.counters.absorbed.count(packet.ip_len);
        let whole = *packet;
        let outcome = Outcome::Split {
            element: context.element,
            at,
            packet: whole.shown(),
            parts: parts as u16,
        };
        context.shared.tell(outcome);
        // A tunnel's exit needs the whole again; a host puts its own fragments together.
        let in_tunnel = whole.inner != Slot::NONE;
        let nested = whole.is_fragment() && in_tunnel;
        let slot = if in_tunnel && !nested {
            context.shared.carried.keep(whole, parts, u64::from(parts))
        } else {
            whole.inner
        };
        if nested {
            context.shared.carried.add_parts(slot, parts - 1);
        }
        for part in 0..parts {
            let bytes = most.min(payload - part * most);
            let mut flags = whole.flags.with(Flags::FRAGMENT);
            if part + 1 < parts {
                flags = flags.with(Flags::MORE_FRAGMENTS);
            }
            let fragment = Packet {
                id: context.new_id(),
                ip_len: new + bytes,
                inner: slot,
                fragment_offset: whole.fragment_offset + (part * most / 8) as u16,
                flags,
                ..whole
            };
            context.create(0, fragment);
        }
        Step::Gone
    }
}

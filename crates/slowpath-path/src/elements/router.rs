//! A router as hosts see it: an address and a hop.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use slowpath_packet::{FlowKey, Protocol};
use slowpath_units::{Duration, Time};

use crate::context::{Context, Step};
use crate::outcome::{DropCause, Notice, Outcome};
use crate::packet::{Arrival, Flags, Packet};

/// Takes one from the TTL and answers for packets whose TTL ends here.
///
/// Outputs: 0 onward, 1 where its ICMP messages go (towards the sender); without 1 it never answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Router {
    /// Its address, the source of its messages.
    pub address: IpAddr,
    /// The least time between two messages; nothing means it answers each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_gap: Option<Duration>,
}

#[derive(Debug)]
pub(crate) struct State {
    config: Router,
    answers: Answers,
}

impl State {
    pub(crate) fn new(config: &Router, outputs: usize) -> Self {
        Self {
            config: *config,
            answers: Answers::new(outputs, config.answer_gap),
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        if packet.ttl > 1 {
            packet.ttl -= 1;
            return Step::Pass(0);
        }
        self.answers.send(
            at,
            packet,
            Notice::TimeExceeded {
                from: self.config.address,
            },
            context,
        );
        Step::Drop(DropCause::TtlExpired)
    }
}

/// Sends ICMP messages out of output 1, if that is wired, not more often than allowed.
#[derive(Debug)]
pub(crate) struct Answers {
    wired: bool,
    gap: Duration,
    not_before: Time,
}

impl Answers {
    pub(crate) fn new(outputs: usize, gap: Option<Duration>) -> Self {
        Self {
            wired: outputs > 1,
            gap: gap.unwrap_or_default(),
            not_before: Time::ZERO,
        }
    }

    /// Answers `packet` to its sender, unless it may not be answered: an ICMP error, a later fragment
    /// (RFC 1122, 3.2.2), or a tunnel's own packet, whose sender is no host here.
    pub(crate) fn send(&mut self, at: Time, packet: &Packet, notice: Notice, context: &mut Context<'_>) {
        let silent = packet.flags.has(Flags::ICMP_ERROR)
            || packet.fragment_offset > 0
            || packet.inner != crate::packet::Slot::NONE;
        if !self.wired || silent || at < self.not_before {
            return;
        }
        let Some(key) = context.shared.flows.key(packet.flow) else {
            return;
        };
        let v6 = key.src.is_ipv6();
        let from = match notice {
            Notice::TimeExceeded { from } | Notice::FragmentationNeeded { from, .. } => from,
        };
        let (protocol, header, most) = if v6 {
            (Protocol::ICMPV6, 48, 1280)
        } else {
            (Protocol::ICMP, 28, 576)
        };
        let back = FlowKey {
            src: from,
            dst: key.src,
            src_port: 0,
            dst_port: 0,
            protocol,
        };
        let flow = context.shared.flows.register(&back);
        // As much of the packet as fits into 576 bytes (RFC 1812, 4.3.2.3) or 1280 (RFC 4443, 2.4).
        let ip_len = header + packet.ip_len.min(most - header);
        let mut flags = Flags::EMITTED.with(Flags::ICMP_ERROR);
        if v6 {
            flags = flags.with(Flags::IPV6).with(Flags::DONT_FRAGMENT);
        }
        let mut message = Packet {
            flags,
            ..Packet::new(packet.cargo, flow, ip_len)
        };
        message.id = context.new_id();
        let emit = Outcome::Emit {
            element: context.element,
            at,
            packet: message,
            notice,
            arrival: Arrival::of(packet),
        };
        context.shared.tell(emit);
        context.create(1, message);
        self.not_before = at + self.gap;
    }
}

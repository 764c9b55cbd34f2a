//! Tunnels: exact bytes per packet on the way in, replay check and reassembly on the way out.
//!
//! | | RFC | here | why |
//! |---|---|---|---|
//! | ECN at entry | copy (RFC 6040, normal mode) | the same | |
//! | ECN at exit, CE outside and not-ECT inside | drop (RFC 6040, 4.2) | pass unchanged | cannot arise with the entry above unless something in between marks against the rules |
//! | DSCP at entry | copied or set (RFC 2983, 4301) | a setting | vendors differ |
//! | DSCP at exit | the inner one stays (RFC 4301) | the same | |
//! | sequence numbers | per association (RFC 4303) | per entry element | one association per entry |
//! | reassembly | 15 to 60 s (RFC 791, 1122) | 30 s, as Linux | |

use std::collections::VecDeque;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use slowpath_packet::overhead::Encapsulation;
use slowpath_packet::{Dscp, Ecn, FlowKey};
use slowpath_record::Traffic;
use slowpath_units::{Duration, Time};

use crate::context::{Context, Released, Step};
use crate::flows::Flows;
use crate::outcome::{DropCause, Outcome};
use crate::packet::{Flags, FlowId, Packet, Slot};
use crate::setting::SettingError;

/// The entry of a tunnel: packets become larger and get the tunnel's addresses.
///
/// A class given before stays with the packet, so that a queue behind can treat it by what is inside. What is too
/// large for the tunnel must be dealt with before, by an [`Mtu`](super::Mtu) with the tunnel's MTU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encapsulate {
    /// The way of carrying packets.
    pub way: Encapsulation,
    /// Source address of the outer header.
    pub src: IpAddr,
    /// Destination address of the outer header.
    pub dst: IpAddr,
    /// Code point of the outer header.
    #[serde(default)]
    pub dscp: OuterDscp,
    /// "Don't fragment" of the outer header.
    #[serde(default)]
    pub df: OuterDf,
}

impl Encapsulate {
    /// The flow that its outer headers name; the tunnel's ports, where it has any, are not modelled.
    pub const fn outer_flow(&self) -> FlowKey {
        FlowKey {
            src: self.src,
            dst: self.dst,
            src_port: 0,
            dst_port: 0,
            protocol: self.way.protocol(),
        }
    }
}

/// Which code point an outer header gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OuterDscp {
    /// The inner packet's.
    #[default]
    Copy,
    /// Always this one.
    Set(Dscp),
}

/// Whether an outer header says "don't fragment".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OuterDf {
    /// As the inner packet does.
    #[default]
    Copy,
    /// Always.
    Set,
    /// Never.
    Clear,
}

/// The exit of a tunnel: the packet inside goes on. Packets that are in no tunnel pass untouched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decapsulate {
    /// Packets of the replay window (RFC 4303, 3.4.3); nothing means no check.
    ///
    /// A packet that others of the same tunnel have overtaken by this many is dropped, which turns reordering
    /// inside the tunnel, by class queues for example, into loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_window: Option<u32>,
}

impl Decapsulate {
    pub(crate) fn check(self) -> Result<(), SettingError> {
        match self.replay_window {
            Some(0) => Err(SettingError::Zero {
                setting: "replay_window",
            }),
            _ => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Entry {
    config: Encapsulate,
    flow: FlowId,
    sequence: u64,
}

impl Entry {
    pub(crate) fn new(config: &Encapsulate, flows: &mut Flows) -> Self {
        Self {
            config: config.clone(),
            flow: flows.register(&config.outer_flow()),
            sequence: 0,
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        let Encapsulate {
            way, src, dscp, df, ..
        } = self.config;
        self.sequence += 1;
        let outer_len = way.outer_len(packet.ip_len);
        context.counters.created.bytes += u64::from(outer_len - packet.ip_len);
        let dont_fragment = match df {
            OuterDf::Copy => packet.flags.has(Flags::DONT_FRAGMENT),
            OuterDf::Set => true,
            OuterDf::Clear => false,
        };
        let mut flags = Flags::NONE;
        for (flag, set) in [
            (Flags::DONT_FRAGMENT, dont_fragment || src.is_ipv6()),
            (Flags::IPV6, src.is_ipv6()),
            (Flags::EMITTED, packet.flags.has(Flags::EMITTED)),
        ] {
            if set {
                flags = flags.with(flag);
            }
        }
        *packet = Packet {
            inner: context.shared.carried.keep(*packet, 1, self.sequence),
            flow: self.flow,
            ip_len: outer_len,
            mss_limit: 0,
            fragment_offset: 0,
            dscp: match dscp {
                OuterDscp::Copy => packet.dscp,
                OuterDscp::Set(code) => code,
            },
            ttl: OUTER_TTL,
            flags,
            link: 0,
            ..*packet
        };
        Step::Pass(0)
    }
}

#[derive(Debug)]
pub(crate) struct Exit {
    replay: Option<ReplayWindow>,
    waiting: VecDeque<Waiting>,
}

/// Fragments of one tunnel packet that wait for the others.
#[derive(Debug)]
struct Waiting {
    whole: Slot,
    fragments: Vec<Packet>,
    until: Time,
}

impl Exit {
    pub(crate) fn new(config: Decapsulate) -> Self {
        Self {
            replay: config.replay_window.map(ReplayWindow::new),
            waiting: VecDeque::new(),
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        if packet.inner == Slot::NONE {
            return Step::Pass(0);
        }
        if packet.is_fragment() && !self.reassemble(at, packet, context) {
            return Step::Hold(self.next_event());
        }
        let (_, sequence) = context.shared.carried.peek(packet.inner).expect("checked above");
        if self
            .replay
            .as_mut()
            .is_some_and(|window| !window.accepts(sequence))
        {
            return Step::Drop(DropCause::Replay);
        }
        let outer = *packet;
        *packet = context.shared.carried.open(&outer);
        packet.class = outer.class;
        packet.link = 0;
        if outer.ecn == Ecn::Ce && packet.ecn.is_capable() {
            packet.ecn = Ecn::Ce;
        }
        context.counters.absorbed.bytes += u64::from(outer.ip_len - packet.ip_len);
        Step::Pass(0)
    }

    /// Takes in a fragment; true when it was the last one missing and `packet` is the whole.
    fn reassemble(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> bool {
        let parts = context
            .shared
            .carried
            .peek(packet.inner)
            .map_or(0, |(_, parts)| parts);
        let found = self
            .waiting
            .iter()
            .position(|waiting| waiting.whole == packet.inner);
        let index = found.unwrap_or_else(|| {
            let until = at + REASSEMBLY_TIME;
            self.waiting.push_back(Waiting {
                whole: packet.inner,
                fragments: Vec::new(),
                until,
            });
            self.waiting.len() - 1
        });
        let waiting = &mut self.waiting[index];
        waiting.fragments.push(*packet);
        // A duplicate waits with the others but does not stand in for a missing one.
        let mut offsets: Vec<u16> = waiting
            .fragments
            .iter()
            .map(|part| part.fragment_offset)
            .collect();
        offsets.sort_unstable();
        offsets.dedup();
        if (offsets.len() as u64) < parts {
            return false;
        }
        let Waiting { fragments, .. } = self.waiting.remove(index).expect("found above");
        let (class, ecn) = (packet.class, packet.ecn);
        for fragment in &fragments {
            context.counters.absorbed.count(fragment.ip_len);
            if *fragment != *packet {
                context.shared.carried.release(fragment.inner);
            }
        }
        let (whole, first) = context.shared.carried.join(packet);
        *packet = whole;
        if !first {
            packet.id = context.new_id();
        }
        packet.class = class;
        if fragments.iter().any(|fragment| fragment.ecn == Ecn::Ce) || ecn == Ecn::Ce {
            packet.ecn = Ecn::Ce;
        }
        context.counters.created.count(packet.ip_len);
        let parts = fragments.len() as u16;
        let joined = Outcome::Joined {
            element: context.element,
            at,
            packet: packet.shown(),
            parts,
        };
        context.shared.tell(joined);
        true
    }

    pub(crate) fn next_event(&self) -> Time {
        self.waiting.front().map_or(Time::MAX, |waiting| waiting.until)
    }

    /// Gives up on fragments that have waited too long.
    pub(crate) fn release(&mut self, at: Time, context: &mut Context<'_>) -> Released {
        while self.waiting.front().is_some_and(|waiting| waiting.until <= at) {
            for mut fragment in self.waiting.pop_front().expect("just seen").fragments {
                context.drop(at, &mut fragment, DropCause::Incomplete);
            }
        }
        Released::Nothing
    }

    pub(crate) fn inside(&self) -> Traffic {
        let mut inside = Traffic::default();
        for waiting in &self.waiting {
            waiting
                .fragments
                .iter()
                .for_each(|fragment| inside.count(fragment.ip_len));
        }
        inside
    }
}

/// The sliding window of RFC 4303, appendix A2.
#[derive(Debug)]
struct ReplayWindow {
    size: u64,
    highest: u64,
    /// Which of the last numbers were seen, by number modulo size.
    seen: Vec<bool>,
}

impl ReplayWindow {
    fn new(size: u32) -> Self {
        Self {
            size: u64::from(size),
            highest: 0,
            seen: vec![false; size as usize],
        }
    }

    fn accepts(&mut self, number: u64) -> bool {
        if number + self.size <= self.highest {
            return false;
        }
        if number > self.highest {
            for skipped in (self.highest + 1..=number).rev().take(self.size as usize) {
                self.seen[(skipped % self.size) as usize] = false;
            }
            self.highest = number;
        }
        let place = &mut self.seen[(number % self.size) as usize];
        !std::mem::replace(place, true)
    }
}

/// TTL of an outer header.
const OUTER_TTL: u8 = 64;
/// How long fragments wait for the others (Linux `net.ipv4.ipfrag_time`).
const REASSEMBLY_TIME: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_replay_window_takes_late_packets_once() {
        let mut window = ReplayWindow::new(4);
        let accepted: Vec<bool> = [1, 2, 2, 6, 3, 2, 5, 5, 100, 96, 97, 99, 97]
            .map(|number| window.accepts(number))
            .to_vec();
        let expected = [
            true, true, false, true, true, false, true, false, true, false, true, true, false,
        ]
        .to_vec();
        assert_eq!(accepted, expected);
    }
}

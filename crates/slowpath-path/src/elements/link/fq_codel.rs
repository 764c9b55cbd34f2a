//! Fair queueing with controlled delay (RFC 8290).
//!
//! | | RFC 8290, Linux | here | why |
//! |---|---|---|---|
//! | hash | Jenkins with a random key | FNV-1a of the five values, no key | the same flows collide in every run |
//! | too many packets | drop from the longest queue (Linux: up to 64 at once) | one packet at a time from its head (section 4.1.3) | simpler; no difference in rate |
//! | memory limit | 32 MB | none | packets are the limit |

use std::collections::VecDeque;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use slowpath_packet::FlowKey;

use slowpath_units::Time;

use super::codel::{Codel, Control, Line};
use super::waiting::Next;
use crate::context::Context;
use crate::dice::fnv1a;
use crate::flows::Flows;
use crate::outcome::DropCause;
use crate::packet::{FlowId, Packet};
use crate::setting::SettingError;

/// Settings of FQ-CoDel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FqCodel {
    /// CoDel in each queue; its limit is for all queues together.
    pub codel: Codel,
    /// Number of queues.
    pub flows: u16,
    /// Bytes that a queue may send in its turn.
    pub quantum: u32,
}

impl Default for FqCodel {
    /// 5 ms, 100 ms, 10240 packets, ECN, 1024 queues, 1514 bytes (RFC 8290, section 5.2).
    fn default() -> Self {
        Self {
            codel: Codel {
                limit: 10_240,
                ecn: true,
                ..Codel::default()
            },
            flows: 1024,
            quantum: 1514,
        }
    }
}

impl FqCodel {
    pub(super) fn check(&self) -> Result<(), SettingError> {
        if self.flows == 0 {
            return Err(SettingError::Zero { setting: "flows" });
        }
        if self.quantum == 0 {
            return Err(SettingError::Zero { setting: "quantum" });
        }
        self.codel.check()
    }
}

#[derive(Debug)]
pub(super) struct FairQueue {
    config: FqCodel,
    queues: Vec<FlowQueue>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    packets: u32,
    /// By flow: its queue plus one; 0 means not known yet.
    places: Vec<u16>,
}

#[derive(Debug, Clone)]
struct FlowQueue {
    line: Line,
    control: Control,
    credit: i64,
    listed: bool,
}

impl FairQueue {
    pub(super) fn new(config: &FqCodel) -> Self {
        let queue = FlowQueue {
            line: Line::new(),
            control: Control::default(),
            credit: 0,
            listed: false,
        };
        Self {
            config: *config,
            queues: vec![queue; usize::from(config.flows)],
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            places: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, at: Time, packet: &Packet, bytes: u32, context: &mut Context<'_>) {
        let place = self.place(packet.flow, &context.shared.flows);
        let queue = &mut self.queues[usize::from(place)];
        queue.line.push(at, packet, bytes);
        self.packets += 1;
        if !queue.listed {
            queue.listed = true;
            queue.credit = i64::from(self.config.quantum);
            self.new.push_back(place);
        }
        if self.packets > self.config.codel.limit {
            let longest =
                (0..self.queues.len()).max_by_key(|index| (self.queues[*index].line.bytes, !*index));
            let queue = &mut self.queues[longest.expect("there is at least one queue")];
            let mut first = queue.line.pop().expect("the longest queue is not empty");
            self.packets -= 1;
            context.drop(at, &mut first.packet, DropCause::QueueFull);
        }
    }

    pub(super) fn pop(&mut self, at: Time, context: &mut Context<'_>) -> Next {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let Some(&place) = list.front() else {
                return Next::Empty;
            };
            let queue = &mut self.queues[usize::from(place)];
            if queue.credit <= 0 {
                queue.credit += i64::from(self.config.quantum);
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            let mut dropped = 0;
            let next = queue
                .control
                .pop(at, &mut queue.line, &self.config.codel, context, &mut dropped);
            self.packets -= dropped;
            if let Some(waiting) = next {
                self.packets -= 1;
                queue.credit -= i64::from(waiting.bytes);
                return Next::Packet(waiting.packet);
            }
            list.pop_front();
            // A new queue that ran empty goes round once more, so that it cannot stay new (section 4.2).
            if from_new && !self.old.is_empty() {
                self.old.push_back(place);
            } else {
                queue.listed = false;
            }
        }
    }

    fn place(&mut self, flow: FlowId, flows: &Flows) -> u16 {
        let index = flow.0 as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        if self.places[index] == 0 {
            let hash = flows.key(flow).map_or(0, hash);
            self.places[index] = (hash % u64::from(self.config.flows)) as u16 + 1;
        }
        self.places[index] - 1
    }

    pub(super) fn each(&self, count: &mut impl FnMut(&Packet)) {
        for queue in &self.queues {
            queue
                .line
                .packets
                .iter()
                .for_each(|waiting| count(&waiting.packet));
        }
    }
}

fn hash(key: &FlowKey) -> u64 {
    let octets = |address: IpAddr| match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    };
    let mut bytes = [0; 37];
    bytes[..16].copy_from_slice(&octets(key.src));
    bytes[16..32].copy_from_slice(&octets(key.dst));
    bytes[32..34].copy_from_slice(&key.src_port.to_be_bytes());
    bytes[34..36].copy_from_slice(&key.dst_port.to_be_bytes());
    bytes[36] = key.protocol.0;
    let hash = fnv1a(&bytes);
    // FNV's low bits mix little of the last bytes; fold the high ones in.
    hash ^ hash >> 32
}

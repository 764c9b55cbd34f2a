//! A device's processing budget, shared by all its ports.
//!
//! Forwarding costs time per packet, per byte and per filter examined, and more with QoS on; one processor does it
//! for all inputs. Packets wait in a receive ring per input, which overflows when the budget is used up: such loss
//! knows nothing of classes, so control on the output side cannot work any more.

use serde::{Deserialize, Serialize};
use slowpath_record::Traffic;
use slowpath_units::{Duration, Layer, Time};

use super::classify::{self, Classify};
use crate::context::{Context, Released, Step};
use crate::outcome::DropCause;
use crate::packet::Packet;
use crate::ring::Ring;
use crate::setting::SettingError;

/// One processor that forwards for several inputs; output number n belongs to input number n.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// What a packet costs.
    pub cost: Cost,
    /// Room for packets that wait to be processed, for each input.
    pub rings: Vec<u32>,
    /// Filters that each packet is run through, giving it a class; their `output` settings mean nothing here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classify: Option<Classify>,
}

/// What forwarding one packet costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// For each packet.
    pub per_packet: Duration,
    /// For each byte, in picoseconds.
    #[serde(default)]
    pub per_byte_ps: u64,
    /// Which bytes are counted.
    pub layer: Layer,
    /// For each filter examined.
    #[serde(default)]
    pub per_filter: Duration,
    /// More for each packet while QoS is on.
    #[serde(default)]
    pub qos_per_packet: Duration,
    /// More for each byte while QoS is on, in picoseconds.
    #[serde(default)]
    pub qos_per_byte_ps: u64,
    /// Whether QoS is on.
    #[serde(default)]
    pub qos: bool,
}

impl Cost {
    /// Picoseconds for a packet of `bytes` for which `filters` were examined.
    pub const fn picoseconds(&self, bytes: u32, filters: u16) -> u64 {
        let (packet, byte) = if self.qos {
            (
                self.per_packet.nanos() + self.qos_per_packet.nanos(),
                self.per_byte_ps + self.qos_per_byte_ps,
            )
        } else {
            (self.per_packet.nanos(), self.per_byte_ps)
        };
        (packet + self.per_filter.nanos() * filters as u64) * 1000 + byte * bytes as u64
    }
}

impl Device {
    pub(crate) fn check(&self) -> Result<(), SettingError> {
        if self.rings.is_empty() || self.rings.len() > 64 {
            return Err(SettingError::Contradiction {
                setting: "rings",
                found: format!("has {} entries", self.rings.len()),
                limit: "a device has 1 to 64 inputs".to_owned(),
            });
        }
        if self.rings.contains(&0) {
            return Err(SettingError::Zero { setting: "a ring" });
        }
        self.classify.as_ref().map_or(Ok(()), Classify::check)
    }
}

#[derive(Debug)]
pub(crate) struct State {
    cost: Cost,
    rings: Vec<(Ring<Packet>, u32)>,
    classify: Option<classify::State>,
    /// The packet being processed, by input, and when it is done.
    current: Option<(Time, u8, Packet)>,
    /// Less than a nanosecond of work, in picoseconds, not yet accounted.
    carry: u64,
}

impl State {
    pub(crate) fn new(config: &Device) -> Self {
        Self {
            cost: config.cost,
            rings: config.rings.iter().map(|room| (Ring::new(), *room)).collect(),
            classify: config.classify.as_ref().map(classify::State::new),
            current: None,
            carry: 0,
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, at: Time, input: u8, packet: &Packet, context: &Context<'_>) -> Step {
        let (ring, room) = &mut self.rings[usize::from(input)];
        if ring.len() >= *room as usize {
            return Step::Drop(DropCause::ReceiveOverload);
        }
        ring.push(*packet);
        if self.current.is_none() {
            self.carry = 0;
            self.start(at, input, context);
        }
        Step::Hold(self.next_event())
    }

    pub(crate) fn next_event(&self) -> Time {
        self.current.as_ref().map_or(Time::MAX, |(done, ..)| *done)
    }

    pub(crate) fn release(&mut self, at: Time, packet: &mut Packet, context: &Context<'_>) -> Released {
        let Some((_, input, done)) = self.current.take() else {
            return Released::Nothing;
        };
        *packet = done;
        // The inputs take turns.
        let inputs = self.rings.len() as u8;
        let next = (1..=inputs).map(|step| (input + step) % inputs);
        if let Some(next) = next
            .into_iter()
            .find(|next| !self.rings[usize::from(*next)].0.is_empty())
        {
            self.start(at, next, context);
        }
        Released::To(input)
    }

    fn start(&mut self, at: Time, input: u8, context: &Context<'_>) {
        let ring = &mut self.rings[usize::from(input)].0;
        let mut packet = *ring.front().expect("chosen because it is not empty");
        ring.pop();
        let flows = &context.shared.flows;
        let filters = self
            .classify
            .as_mut()
            .map_or(0, |classify| classify.apply(&mut packet, flows).1);
        let work = self.cost.picoseconds(packet.bytes(self.cost.layer), filters) + self.carry;
        self.carry = work % 1000;
        self.current = Some((at + Duration::from_nanos(work / 1000), input, packet));
    }

    pub(crate) fn inside(&self) -> Traffic {
        let mut inside = Traffic::default();
        for (ring, _) in &self.rings {
            ring.iter().for_each(|packet| inside.count(packet.ip_len));
        }
        self.current
            .iter()
            .for_each(|(.., packet)| inside.count(packet.ip_len));
        inside
    }
}

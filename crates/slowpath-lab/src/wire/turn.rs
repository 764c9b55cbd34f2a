//! One turn of a wire: in, on, out.

use std::io;

use slowpath_endpoint::{Transmit, codec};
use slowpath_path::{Cargo, DropCause, Flags, Outcome, Packet, PortId};
use slowpath_sys::clock;
use slowpath_sys::vnet::VnetHeader;
use slowpath_units::{Duration, Time};

use super::join::Pending;
use super::{Fault, Wire};
use crate::icmp;
use crate::slab::TrainId;
use crate::train::{HEADER_ROOM, Train};
use slowpath_path::Seen;

/// Trains read from one host before others get their turn.
const TRAINS_PER_TURN: usize = 64;
/// Bytes read from one host before what is due leaves: reading these takes about 0.1 ms, by which others are late.
const BYTES_PER_TURN: usize = 512 * 1024;
/// Bytes before the IP header as a TUN device wants them.
const TUN_PREFIX: u16 = 10;
/// The number that stands for a whole train where trains are the unit.
const WHOLE: u16 = u16::MAX;

impl Wire {
    /// Reads, advances and delivers once; false when the wire must end.
    pub(super) fn turn(&mut self) -> io::Result<bool> {
        for index in 0..self.inputs.len() {
            if !self.drain(index)? {
                return Ok(false);
            }
        }
        self.arrived = None;
        let now = self.now();
        if !self.models.is_empty() && !self.run_models(now) {
            return Ok(false);
        }
        self.advance(now);
        for port in 0..self.pending.len() {
            self.flush(port);
        }
        if let Some(tap) = &mut self.tap {
            tap.flush(now, false);
        }
        Ok(true)
    }

    fn advance(&mut self, to: Time) {
        self.network.advance(to);
        while let Some(outcome) = self.network.poll_outcome() {
            self.handle(outcome);
        }
    }

    /// Lets model hosts and the network act upon each other, event by event, up to `now`; false when memory is exhausted.
    fn run_models(&mut self, now: Time) -> bool {
        loop {
            for index in 0..self.models.len() {
                self.models[index].report();
                while let Some(transmit) = self.models[index].host.poll_transmit() {
                    if !self.enter_model(index, &transmit) {
                        return false;
                    }
                }
            }
            let Some(next) = self.next_event().filter(|next| *next <= now) else {
                return true;
            };
            self.advance(next);
            for model in &mut self.models {
                model.host.advance(next);
            }
        }
    }

    /// Turns a model's packet into bytes and hands it to the network at the model's own time.
    fn enter_model(&mut self, index: usize, transmit: &Transmit) -> bool {
        let Ok(room) = self.slab.room() else {
            self.stats.fault = Some(Fault::Memory {
                at: transmit.at,
                limit: self.settings.memory,
            });
            return false;
        };
        let model = &mut self.models[index];
        model.identification = model.identification.wrapping_add(1);
        room[..VnetHeader::LENGTH].fill(0);
        let length = codec::encode(transmit, model.identification, &mut room[VnetHeader::LENGTH..]);
        let train = length.and_then(|length| {
            let ip = &room[VnetHeader::LENGTH..VnetHeader::LENGTH + length];
            Train::parse(ip, VnetHeader::default(), TUN_PREFIX).ok()
        });
        match train {
            Some(train) => {
                let port = self.models[index].port;
                self.enter(port, transmit.at, train.stored(), train);
            }
            None => self.stats.ignored += 1,
        }
        true
    }

    /// Hands a packet to the model host at `port`, if there is one; its bytes are in the scratch buffer.
    fn receive_model(&mut self, port: PortId, at: Time) -> bool {
        let Some(model) = self.models.iter_mut().find(|model| model.port == port) else {
            return false;
        };
        match codec::decode(&self.scratch) {
            Some((header, payload)) => model.host.receive(at, &header, payload),
            None => self.stats.ignored += 1,
        }
        true
    }

    /// Reads what one host has sent; false when memory is exhausted.
    fn drain(&mut self, index: usize) -> io::Result<bool> {
        let port = self.inputs[index].port;
        let from = self.inputs[index].from.clone();
        let (mut trains, mut bytes) = (0, 0);
        while trains < TRAINS_PER_TURN && bytes < BYTES_PER_TURN {
            let Ok(room) = self.slab.room() else {
                let at = self.now();
                self.stats.fault = Some(Fault::Memory {
                    at,
                    limit: self.settings.memory,
                });
                return Ok(false);
            };
            let Some(length) = from.read(room)? else {
                self.inputs[index].empty_at = clock::monotonic();
                return Ok(true);
            };
            trains += 1;
            bytes += length;
            // As early as a reader can: the packet entered the device's queue at some time since that was empty.
            let read_at = clock::monotonic();
            let (stamp, early) = match &mut self.arrived {
                Some(arrived) => arrived.stamp(read_at),
                None => (read_at, 0),
            };
            let error = (stamp - self.inputs[index].empty_at.min(stamp)).max(early);
            self.stats.ingress_error.saturating_record(error);
            let prefix = from.prefix();
            let read = &room[..length];
            let parsed = from.decode(read).and_then(|vnet| {
                let prefix = u16::try_from(prefix).ok()?;
                Train::parse(read.get(usize::from(prefix)..)?, vnet, prefix).ok()
            });
            match parsed {
                Some(train) => self.enter(port, Time::from_nanos(stamp - self.origin), length, train),
                None => self.stats.ignored += 1,
            }
        }
        Ok(true)
    }

    /// Hands a train's wire packets to the model.
    fn enter(&mut self, port: PortId, at: Time, length: usize, mut train: Train) {
        train.entered = (port, at);
        let whole = self.drops_whole_trains();
        let count = if whole { 1 } else { train.count };
        let id = self.slab.keep(length, train, u32::from(count));
        let (train, bytes) = self.slab.get(id);
        let ip = &bytes[usize::from(train.prefix)..];
        self.next_train = self.next_train.checked_add(1).unwrap_or(1);
        self.stats.trains_read += 1;
        self.stats.packets_sent += u64::from(count);
        let mut packet = Packet {
            train: if count > 1 { self.next_train } else { 0 },
            dscp: train.dscp(),
            ecn: train.ecn(),
            ttl: train.hop_limit,
            flags: train.flags(),
            ..Packet::new(Cargo::new(0), self.flows.number(train, ip, &mut self.network), 0)
        };
        for number in 0..count {
            packet.cargo = cargo(id, if whole { WHOLE } else { number });
            packet.ip_len = if whole {
                train.length
            } else {
                train.segment_length(number)
            };
            let packet_id = self.network.ingress(port, at, packet);
            if let Some(tap) = &mut self.tap {
                if whole && train.count > 1 {
                    tap.add(Seen::Sent(port), at, packet_id, ip);
                } else {
                    train.materialise(ip, number, &packet, &mut self.scratch);
                    tap.add(Seen::Sent(port), at, packet_id, &self.scratch);
                }
            }
        }
    }

    fn handle(&mut self, outcome: Outcome) {
        let packet = *outcome.packet();
        let emitted = packet.flags.has(Flags::EMITTED);
        match outcome {
            Outcome::Delivered { port, at, .. } => {
                self.stats.packets_delivered += 1;
                self.note(Seen::Delivered(port), at, &packet);
                self.deliver(port, at, &packet);
            }
            Outcome::Dropped {
                element, cause, at, ..
            } => {
                self.stats.packets_dropped += 1;
                if at <= self.crowded_until && cause != DropCause::Loss {
                    self.stats.stall_drops += 1;
                }
                self.stats.queue_drops += u64::from(cause == DropCause::QueueFull);
                self.note(Seen::Dropped(element, cause), at, &packet);
                if emitted {
                    self.emitted.remove(&packet.id);
                } else {
                    self.slab.refer(train_of(packet.cargo), -1);
                }
            }
            Outcome::Seen { tap, at, .. } => self.note(Seen::Passed(tap), at, &packet),
            Outcome::Emit { notice, arrival, .. } => {
                self.render(&arrival.packet(packet.cargo, packet.flow));
                let message = icmp::message(&notice, &packet, &self.scratch);
                self.emitted.insert(packet.id, message);
            }
            Outcome::Copied { .. } | Outcome::Split { .. } | Outcome::Joined { .. } => {
                self.slab.refer(train_of(packet.cargo), outcome.references());
            }
            Outcome::Edit { .. } => {}
        }
    }

    /// Puts a delivered packet to its neighbours, or writes those first.
    fn deliver(&mut self, port: PortId, at: Time, packet: &Packet) {
        let index = usize::from(port.0);
        if self.models.iter().any(|model| model.port == port) {
            self.deliver_model(port, at, packet);
            return;
        }
        if packet.flags.has(Flags::EMITTED) {
            self.flush(index);
            if let Some(bytes) = self.emitted.remove(&packet.id) {
                self.write_bytes(index, at, 1, &bytes);
            }
            return;
        }
        let (train, number) = (train_of(packet.cargo), segment_of(packet.cargo));
        if index >= self.pending.len() {
            self.slab.refer(train, -1);
            return;
        }
        if packet.flags.has(Flags::FRAGMENT) {
            self.flush(index);
            self.render(packet);
            let bytes = std::mem::take(&mut self.scratch);
            self.write_bytes(index, at, 1, &bytes);
            self.scratch = bytes;
            self.slab.refer(train, -1);
            return;
        }
        let window = self.settings.join_window;
        if self.pending[index].takes(train, number, at, packet, window) {
            self.pending[index].count += 1;
            return;
        }
        self.flush(index);
        self.pending[index] = Pending {
            train,
            first: number,
            count: 1,
            at,
            packet: *packet,
        };
    }

    fn deliver_model(&mut self, port: PortId, at: Time, packet: &Packet) {
        self.stats.writes += 1;
        if packet.flags.has(Flags::EMITTED) {
            if let Some(bytes) = self.emitted.remove(&packet.id) {
                self.scratch.clear();
                self.scratch.extend_from_slice(&bytes);
                self.receive_model(port, at);
            }
            return;
        }
        let (from, entered) = self.slab.get(train_of(packet.cargo)).0.entered;
        self.stats.transits.note(from, port, at.since(entered));
        self.render(packet);
        self.receive_model(port, at);
        self.slab.refer(train_of(packet.cargo), -1);
    }

    /// Writes what is pending for a port.
    pub(super) fn flush(&mut self, port: usize) {
        let pending = std::mem::replace(&mut self.pending[port], Pending::NONE);
        if pending.count == 0 {
            return;
        }
        let (train, bytes) = self.slab.get(pending.train);
        let ip = &bytes[usize::from(train.prefix)..];
        let whole = pending.first == WHOLE;
        let (first, count) = if whole {
            (0, train.count)
        } else {
            (pending.first, pending.count)
        };
        let Some(to) = self.outputs[port].clone() else {
            self.slab.refer(pending.train, -i32::from(pending.count));
            return;
        };
        let (from, entered) = train.entered;
        let span = pending.at.since(entered);
        self.stats.transits.note(from, port_number(port), span);
        let late = self.now().since(pending.at);
        let tun = to.link_header() == 0 && usize::from(train.prefix) == VnetHeader::LENGTH;
        let written = if tun && count == train.count && train.unchanged_by(&pending.packet) {
            to.write_whole(bytes)
        } else {
            let mut headers = [0; HEADER_ROOM];
            let (vnet, used) = train.write_headers(ip, first, count, &pending.packet, &mut headers);
            to.write(vnet, &headers[..used], &ip[train.payload_range(first, count)])
        };
        self.account(late, u64::from(pending.count), written);
        self.slab.refer(pending.train, -i32::from(pending.count));
    }

    /// Writes bytes with finished checksums.
    fn write_bytes(&mut self, port: usize, at: Time, count: u64, bytes: &[u8]) {
        if let Some(Some(to)) = self.outputs.get(port) {
            let late = self.now().since(at);
            let written = to.clone().write(VnetHeader::default(), bytes, &[]);
            self.account(late, count, written);
        }
    }

    fn account(&mut self, late: Duration, packets: u64, written: io::Result<()>) {
        self.stats.lateness.saturating_record_n(late.nanos(), packets);
        self.latest = self.latest.max(late);
        self.stats.writes += 1;
        if let Err(error) = written {
            self.stats.refused += packets;
            self.stats.last_refusal = Some(error.to_string());
        }
    }

    /// Shows a packet to the captures.
    fn note(&mut self, event: Seen, at: Time, packet: &Packet) {
        if self.tap.is_none() {
            return;
        }
        if packet.flags.has(Flags::EMITTED) {
            if let (Some(bytes), Some(tap)) = (self.emitted.get(&packet.id), &mut self.tap) {
                tap.add(event, at, packet.id, bytes);
            }
            return;
        }
        self.render(packet);
        if let Some(tap) = &mut self.tap {
            tap.add(event, at, packet.id, &self.scratch);
        }
    }

    /// Writes a packet's bytes as the network changed them, with finished checksums, to the scratch buffer.
    fn render(&mut self, packet: &Packet) {
        let (id, number) = (train_of(packet.cargo), segment_of(packet.cargo));
        let (train, bytes) = self.slab.get(id);
        let ip = &bytes[usize::from(train.prefix)..];
        if number == WHOLE && train.count > 1 {
            self.scratch.clear();
            self.scratch.extend_from_slice(ip);
            return;
        }
        let number = if number == WHOLE { 0 } else { number };
        train.materialise(ip, number, packet, &mut self.scratch);
        if packet.flags.has(Flags::FRAGMENT) {
            icmp::cut_fragment(&mut self.scratch, packet);
        }
    }
}

fn port_number(index: usize) -> PortId {
    PortId(u16::try_from(index).unwrap_or(u16::MAX))
}

fn cargo(train: TrainId, segment: u16) -> Cargo {
    Cargo::new(u64::from(train.0) << 16 | u64::from(segment))
}

fn train_of(cargo: Cargo) -> TrainId {
    TrainId(u32::try_from(cargo.handle >> 16).expect("made by cargo()"))
}

fn segment_of(cargo: Cargo) -> u16 {
    u16::try_from(cargo.handle & 0xffff).expect("sixteen bits")
}

//! One turn of a wire: in, on, out.

use std::io;

use slowpath_path::{Cargo, Flags, Outcome, Packet, PortId};
use slowpath_sys::clock;
use slowpath_units::Time;

use super::join::Pending;
use super::{Fault, Wire};
use crate::icmp;
use crate::slab::TrainId;
use crate::tap::Seen;
use crate::train::{HEADER_ROOM, Train};

/// Trains read from one host before others get their turn.
const TRAINS_PER_TURN: u32 = 64;
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
        let now = self.now();
        self.network.advance(now);
        while let Some(outcome) = self.network.poll_outcome() {
            self.handle(outcome);
        }
        for port in 0..self.pending.len() {
            self.flush(port);
        }
        if let Some(tap) = &mut self.tap {
            tap.flush(now, false);
        }
        Ok(true)
    }

    /// Reads what one host has sent; false when memory is exhausted.
    fn drain(&mut self, index: usize) -> io::Result<bool> {
        let port = self.inputs[index].port;
        let from = self.inputs[index].from.clone();
        for _ in 0..TRAINS_PER_TURN {
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
            // As early as a reader can: the packet entered the device's queue at some time since that was empty.
            let stamp = clock::monotonic();
            let error = stamp - self.inputs[index].empty_at.min(stamp);
            self.stats.ingress_error.saturating_record(error);
            let prefix = from.prefix();
            let bytes = &room[..length];
            let parsed = from.decode(bytes).and_then(|vnet| {
                let prefix = u16::try_from(prefix).ok()?;
                Train::parse(bytes.get(usize::from(prefix)..)?, vnet, prefix).ok()
            });
            match parsed {
                Some(train) => self.enter(port, Time::from_nanos(stamp - self.origin), length, train),
                None => self.stats.ignored += 1,
            }
        }
        Ok(true)
    }

    /// Hands a train's wire packets to the model.
    fn enter(&mut self, port: PortId, at: Time, length: usize, train: Train) {
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
            ..Packet::new(Cargo(0), self.flows.number(train, ip, &mut self.network), 0)
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
                self.note(Seen::Dropped(element, cause), at, &packet);
                if emitted {
                    self.emitted.remove(&packet.id);
                } else {
                    self.slab.refer(train_of(packet.cargo), -1);
                }
            }
            Outcome::Seen { tap, at, .. } => self.note(Seen::Passed(tap), at, &packet),
            Outcome::Emit { notice, .. } => {
                if self.bytes_of(&packet, Flags::EMITTED) {
                    let message = icmp::message(&notice, &packet, &self.scratch);
                    self.emitted.insert(packet.id, message);
                }
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
            if self.bytes_of(packet, Flags::NONE) {
                let bytes = std::mem::take(&mut self.scratch);
                self.write_bytes(index, at, 1, &bytes);
                self.scratch = bytes;
            }
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
        let tun =
            to.link_header() == 0 && usize::from(train.prefix) == slowpath_sys::vnet::VnetHeader::LENGTH;
        let written = if tun && count == train.count && train.unchanged_by(&pending.packet) {
            to.write_whole(bytes)
        } else {
            let mut headers = [0; HEADER_ROOM];
            let (vnet, used) = train.write_headers(ip, first, count, &pending.packet, &mut headers);
            to.write(vnet, &headers[..used], &ip[train.payload_range(first, count)])
        };
        self.account(pending.at, u64::from(pending.count), written);
        self.slab.refer(pending.train, -i32::from(pending.count));
    }

    /// Writes bytes with finished checksums.
    fn write_bytes(&mut self, port: usize, at: Time, count: u64, bytes: &[u8]) {
        if let Some(Some(to)) = self.outputs.get(port) {
            let written = to
                .clone()
                .write(slowpath_sys::vnet::VnetHeader::default(), bytes, &[]);
            self.account(at, count, written);
        }
    }

    fn account(&mut self, at: Time, packets: u64, written: io::Result<()>) {
        let late = self.now().since(at);
        self.stats.lateness.saturating_record_n(late.nanos(), packets);
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
        } else if self.bytes_of(packet, Flags::NONE)
            && let Some(tap) = &mut self.tap
        {
            tap.add(event, at, packet.id, &self.scratch);
        }
    }

    /// Writes a packet's bytes with finished checksums to the scratch buffer; for an ICMP message (`without`
    /// `EMITTED`) those of the packet that it quotes.
    fn bytes_of(&mut self, packet: &Packet, without: Flags) -> bool {
        let (id, number) = (train_of(packet.cargo), segment_of(packet.cargo));
        let (train, bytes) = self.slab.get(id);
        let ip = &bytes[usize::from(train.prefix)..];
        let mut original = *packet;
        if without.has(Flags::EMITTED) {
            original.dscp = train.dscp();
            original.ecn = train.ecn();
            original.ttl = train.hop_limit;
            original.flags = train.flags();
            original.mss_limit = 0;
        }
        if number == WHOLE {
            self.scratch.clear();
            self.scratch.extend_from_slice(ip);
            return true;
        }
        train.materialise(ip, number, &original, &mut self.scratch);
        if original.flags.has(Flags::FRAGMENT) {
            icmp::cut_fragment(&mut self.scratch, &original);
        }
        true
    }
}

fn cargo(train: TrainId, segment: u16) -> Cargo {
    Cargo(u64::from(train.0) << 16 | u64::from(segment))
}

fn train_of(cargo: Cargo) -> TrainId {
    TrainId(u32::try_from(cargo.0 >> 16).expect("made by cargo()"))
}

fn segment_of(cargo: Cargo) -> u16 {
    u16::try_from(cargo.0 & 0xffff).expect("sixteen bits")
}

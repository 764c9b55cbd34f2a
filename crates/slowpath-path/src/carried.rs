//! Packets inside other packets: what tunnels and fragmentation keep until the way out.

use crate::packet::{Packet, Slot};

/// The packets that others carry, with a count of how many carry each.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    packet: Packet,
    carriers: u32,
    /// Sequence number within its tunnel, or the number of parts it was cut into.
    number: u64,
    /// Whether the pieces came together once; copies of them may do so again.
    joined: bool,
}

impl Carried {
    /// Keeps `packet` for `carriers` others; its own carried packet now belongs to the entry.
    pub(crate) fn keep(&mut self, packet: Packet, carriers: u32, number: u64) -> Slot {
        let entry = Entry {
            packet,
            carriers,
            number,
            joined: false,
        };
        if let Some(free) = self.free.pop() {
            self.entries[free as usize] = entry;
            return Slot(free);
        }
        self.entries.push(entry);
        Slot(u32::try_from(self.entries.len() - 1).expect("fewer than 2^32 packets inside tunnels"))
    }

    /// The packet kept in `slot` and its number.
    pub(crate) fn peek(&self, slot: Slot) -> Option<(&Packet, u64)> {
        if slot == Slot::NONE {
            return None;
        }
        let entry = &self.entries[slot.0 as usize];
        Some((&entry.packet, entry.number))
    }

    /// One more packet carries what is in `slot`.
    pub(crate) fn retain(&mut self, slot: Slot) {
        if slot != Slot::NONE {
            self.entries[slot.0 as usize].carriers += 1;
        }
    }

    /// A fragment in `slot` was cut into `more` further fragments.
    pub(crate) fn add_parts(&mut self, slot: Slot, more: u32) {
        let entry = &mut self.entries[slot.0 as usize];
        entry.carriers += more;
        entry.number += u64::from(more);
    }

    /// One packet fewer carries what is in `slot`.
    pub(crate) fn release(&mut self, mut slot: Slot) {
        while slot != Slot::NONE {
            let entry = &mut self.entries[slot.0 as usize];
            entry.carriers -= 1;
            if entry.carriers > 0 {
                return;
            }
            self.free.push(slot.0);
            slot = entry.packet.inner;
        }
    }

    /// Takes out the packet that `carrier` carries, which goes on under the number of its carrier (a copy of the
    /// carrier is a packet of its own); `carrier` must not be used further.
    pub(crate) fn open(&mut self, carrier: &Packet) -> Packet {
        let mut packet = self.entries[carrier.inner.0 as usize].packet;
        self.retain(packet.inner);
        self.release(carrier.inner);
        packet.id = carrier.id;
        packet
    }

    /// Takes out the packet that was cut into pieces of which `fragment` is one, under the number it had; false if
    /// that has been done before, so that it needs another number.
    pub(crate) fn join(&mut self, fragment: &Packet) -> (Packet, bool) {
        let entry = &mut self.entries[fragment.inner.0 as usize];
        let first = !std::mem::replace(&mut entry.joined, true);
        let number = entry.packet.id;
        (
            Packet {
                id: number,
                ..self.open(fragment)
            },
            first,
        )
    }

    /// The innermost packet, looking through tunnels and fragments.
    pub(crate) fn innermost<'a>(&'a self, packet: &'a Packet) -> &'a Packet {
        let mut innermost = packet;
        while let Some((inner, _)) = self.peek(innermost.inner) {
            innermost = inner;
        }
        innermost
    }

    #[cfg(test)]
    fn live(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Cargo, FlowId};

    #[test]
    fn nested_packets_live_as_long_as_a_carrier_does() {
        let mut carried = Carried::default();
        let inner = Packet::new(Cargo::new(1), FlowId(0), 1000);
        let middle = Packet {
            inner: carried.keep(inner, 1, 7),
            ip_len: 1050,
            ..inner
        };
        let outer = Packet {
            inner: carried.keep(middle, 2, 0),
            ip_len: 1100,
            ..inner
        };
        assert_eq!(carried.innermost(&outer).ip_len, 1000);
        assert_eq!(carried.live(), 2);
        // Two carriers: one opens, one is lost.
        let opened = carried.open(&outer);
        assert_eq!(opened.ip_len, 1050);
        carried.release(outer.inner);
        assert_eq!(carried.live(), 1);
        assert_eq!(carried.peek(opened.inner).unwrap().1, 7);
        assert_eq!(carried.open(&opened).ip_len, 1000);
        assert_eq!(carried.live(), 0);
    }
}

//! Packets that a capture recorded twice.

use std::collections::VecDeque;

use slowpath_record::packets::{TcpFlags, TcpPacket};

/// The last packets of one sender, by which copies of them are known.
#[derive(Debug, Default)]
pub(super) struct Copies {
    recent: VecDeque<Fingerprint>,
}

impl Copies {
    /// Whether `packet` was recorded already; remembers it otherwise. Data `beyond` all that was seen cannot be a copy.
    pub(super) fn is_copy(&mut self, packet: &TcpPacket, beyond: bool) -> bool {
        let print = Fingerprint {
            ip_id: packet.ip_id.filter(|&id| id != 0),
            seq: packet.seq,
            ack: packet.ack,
            len: packet.payload_len,
            flags: packet.flags,
            window: packet.window,
            tsval: packet.timestamps.map_or(0, |times| times.value),
            interface: packet.interface,
            ttl: packet.ttl,
            at: packet.at,
        };
        let copy = !beyond && self.recent.iter().any(|old| print.copies(old));
        if !copy {
            if self.recent.len() >= FINGERPRINTS {
                self.recent.pop_front();
            }
            self.recent.push_back(print);
        }
        copy
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    ip_id: Option<u16>,
    seq: u32,
    ack: u32,
    len: u32,
    flags: TcpFlags,
    window: u16,
    tsval: u32,
    interface: u16,
    ttl: u8,
    at: i64,
}

impl Fingerprint {
    fn copies(&self, old: &Self) -> bool {
        let same = self.ip_id == old.ip_id
            && self.seq == old.seq
            && self.ack == old.ack
            && self.len == old.len
            && self.flags == old.flags
            && self.window == old.window
            && self.tsval == old.tsval;
        if !same {
            return false;
        }
        if self.ip_id.is_some() {
            return true;
        }
        // Without an identification only another tap or hop makes a copy certain.
        let near = self.at - old.at < 1_000_000;
        near && (self.len > 0 || self.interface != old.interface || self.ttl != old.ttl)
    }
}

/// Packets compared with a new one.
const FINGERPRINTS: usize = 8;

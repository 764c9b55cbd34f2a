//! The packets that are on their way: headers and payload behind the network's cargo.
//!
//! Nearly all packets are TCP segments without SACK blocks or options of a SYN, whose bytes nobody looks at. What must be kept of one
//! fits into its cargo, with addresses and ports of its flow kept once: with many packets on their way each is fetched
//! from memory once, in the order in which they were sent, and memory is what a run then waits for.

use std::collections::VecDeque;
use std::hint::cold_path;
use std::net::IpAddr;

use slowpath_endpoint::wire::{Flags, Header, Options, OwnedPayload, TcpHeader, Transmit, Transport};
use slowpath_packet::{FlowKey, Seq32};
use slowpath_path::{Cargo, Flags as PacketFlags, FlowId, Packet};

/// What of a plain TCP segment neither its flow nor the network's packet has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plain {
    flow: FlowId,
    seq: Seq32,
    ack: Seq32,
    /// Value and echo.
    timestamps: Option<(u32, u32)>,
    payload: u16,
    window: u16,
    flags: Flags,
    df: bool,
}

/// Addresses and ports of a flow.
#[derive(Debug, Clone, Copy)]
struct Route {
    src: IpAddr,
    dst: IpAddr,
    src_port: u16,
    dst_port: u16,
}

/// Headers and payload of any other packet, and how many of the network's packets share it.
#[derive(Debug, Clone)]
struct Whole {
    references: i32,
    /// Bytes of fragments that arrived.
    arrived: u32,
    header: Header,
    payload: OwnedPayload,
}

/// A store of packets with places that are used again; grows only when more are on their way than ever before.
#[derive(Debug, Default)]
pub(crate) struct Freight {
    whole: Vec<Whole>,
    free: Vec<u32>,
    /// By flow number.
    routes: Vec<Option<Route>>,
    /// Plain packets of which fragments have arrived, with their bytes; the oldest first.
    partial: VecDeque<(Cargo, u32)>,
}

impl Freight {
    /// Takes a packet of `flow`, with its payload, that `references` packets of the network share.
    #[inline]
    pub(crate) fn load(&mut self, flow: FlowId, transmit: &mut Transmit, references: i32) -> Cargo {
        if references == 1
            && let Some(plain) = Plain::of(flow, &transmit.header, &transmit.payload)
        {
            return plain.cargo();
        }
        self.load_whole(transmit, references)
    }

    #[cold]
    #[inline(never)]
    fn load_whole(&mut self, transmit: &mut Transmit, references: i32) -> Cargo {
        let whole = Whole {
            references,
            arrived: 0,
            header: transmit.header,
            payload: std::mem::replace(&mut transmit.payload, OwnedPayload::Synthetic(0)),
        };
        let number = if let Some(number) = self.free.pop() {
            self.whole[number as usize] = whole;
            number
        } else {
            self.whole.push(whole);
            u32::try_from(self.whole.len() - 1).expect("four billion packets cannot be on their way")
        };
        Cargo::new(u64::from(number))
    }

    /// Remembers the addresses of `flow`; needed before packets of it are loaded.
    pub(crate) fn know(&mut self, flow: FlowId, key: &FlowKey) {
        let place = flow.0 as usize;
        if self.routes.len() <= place {
            self.routes.resize(place + 1, None);
        }
        self.routes[place] = Some(Route {
            src: key.src,
            dst: key.dst,
            src_port: key.src_port,
            dst_port: key.dst_port,
        });
    }

    /// Shows `packet` as it is now: with what the network changed in its header.
    #[inline]
    pub(crate) fn show<R>(&self, packet: &Packet, act: impl FnOnce(&Header, &OwnedPayload) -> R) -> R {
        if let Some(plain) = Plain::from_cargo(packet.cargo) {
            let payload = OwnedPayload::Synthetic(u32::from(plain.payload));
            return act(&plain.header(&self.routes, packet), &payload);
        }
        cold_path();
        let whole = &self.whole[index(packet.cargo)];
        if is_edited(&whole.header, packet) {
            act(&edited(&whole.header, packet), &whole.payload)
        } else {
            act(&whole.header, &whole.payload)
        }
    }

    /// A fragment arrived; true if it is the last one.
    #[cold]
    pub(crate) fn complete(&mut self, packet: &Packet) -> bool {
        let (own, all) = self.show(packet, |header, payload| {
            let own = header.ip_header();
            (own + fragment_header(header), header.ip_len(payload.len()) - own)
        });
        let bytes = packet.ip_len - own;
        if !is_plain(packet.cargo) {
            let whole = &mut self.whole[index(packet.cargo)];
            whole.arrived += bytes;
            return whole.arrived >= all;
        }
        let known = self.partial.iter().position(|(cargo, _)| *cargo == packet.cargo);
        let place = known.unwrap_or_else(|| {
            if self.partial.len() == REASSEMBLED {
                self.partial.pop_front();
            }
            self.partial.push_back((packet.cargo, 0));
            self.partial.len() - 1
        });
        self.partial[place].1 += bytes;
        let complete = self.partial[place].1 >= all;
        if complete {
            self.partial.remove(place);
        }
        complete
    }

    /// Changes the number of packets that share `cargo` and forgets it when there are none.
    #[inline]
    pub(crate) fn account(&mut self, cargo: Cargo, change: i32) {
        if is_plain(cargo) {
            return;
        }
        cold_path();
        let whole = &mut self.whole[index(cargo)];
        whole.references += change;
        debug_assert!(whole.references >= 0, "a packet was delivered twice");
        if whole.references == 0 {
            self.free.push(u32::try_from(cargo.handle).unwrap_or(u32::MAX));
        }
    }
}

impl Plain {
    /// What must be kept of a packet, if that is all.
    #[inline]
    fn of(flow: FlowId, header: &Header, payload: &OwnedPayload) -> Option<Self> {
        let (Transport::Tcp(tcp), OwnedPayload::Synthetic(payload)) = (&header.transport, payload) else {
            return None;
        };
        let options = &tcp.options;
        let plain =
            options.sack.as_slice().is_empty() && !tcp.flags.has(Flags::SYN) && flow.0 < 1 << FLOW_BITS;
        let payload = u16::try_from(*payload).ok()?;
        plain.then_some(Self {
            flow,
            seq: tcp.seq,
            ack: tcp.ack,
            timestamps: options.timestamps,
            payload,
            window: tcp.window,
            flags: tcp.flags,
            df: header.df,
        })
    }

    /// All of it in a packet's cargo.
    #[inline]
    fn cargo(&self) -> Cargo {
        let (value, echo) = self.timestamps.unwrap_or_default();
        let bits = PLAIN
            | u64::from(self.timestamps.is_some()) << TIMESTAMPS
            | u64::from(self.df) << DF
            | u64::from(self.flags.0) << FLAGS
            | u64::from(self.window) << WINDOW
            | u64::from(self.payload) << PAYLOAD
            | u64::from(self.flow.0) << FLOW;
        Cargo {
            handle: u64::from(self.seq.0) << 32 | u64::from(self.ack.0),
            notes: [u64::from(value) << 32 | u64::from(echo), bits],
        }
    }

    /// What [`cargo`](Self::cargo) has put there; nothing for another packet's.
    #[inline]
    const fn from_cargo(cargo: Cargo) -> Option<Self> {
        if !is_plain(cargo) {
            return None;
        }
        let [timestamps, bits] = cargo.notes;
        Some(Self {
            flow: FlowId((bits >> FLOW) as u32),
            seq: Seq32((cargo.handle >> 32) as u32),
            ack: Seq32(cargo.handle as u32),
            timestamps: if bits >> TIMESTAMPS & 1 == 1 {
                Some(((timestamps >> 32) as u32, timestamps as u32))
            } else {
                None
            },
            payload: (bits >> PAYLOAD) as u16,
            window: (bits >> WINDOW) as u16,
            flags: Flags((bits >> FLAGS) as u8),
            df: bits >> DF & 1 == 1,
        })
    }

    #[inline]
    fn header(&self, routes: &[Option<Route>], packet: &Packet) -> Header {
        let route = routes[self.flow.0 as usize].expect("flows are known before their packets");
        Header {
            src: route.src,
            dst: route.dst,
            dscp: packet.dscp,
            ecn: packet.ecn,
            ttl: packet.ttl,
            df: self.df,
            transport: Transport::Tcp(TcpHeader {
                src_port: route.src_port,
                dst_port: route.dst_port,
                seq: self.seq,
                ack: self.ack,
                flags: self.flags,
                window: self.window,
                options: Options {
                    timestamps: self.timestamps,
                    ..Options::default()
                },
            }),
        }
    }
}

/// What each fragment has besides: IPv6's extension header (RFC 8200, section 4.5).
pub(crate) const fn fragment_header(header: &Header) -> u32 {
    if header.src.is_ipv4() { 0 } else { 8 }
}

/// Whether the network changed anything in the header.
fn is_edited(header: &Header, packet: &Packet) -> bool {
    header.ecn != packet.ecn
        || header.dscp != packet.dscp
        || header.ttl != packet.ttl
        || packet.mss_limit > 0
        || packet.flags.has(PacketFlags::STRIP_WINDOW_SCALE)
}

/// The header with what the network changed.
fn edited(header: &Header, packet: &Packet) -> Header {
    let mut header = *header;
    header.dscp = packet.dscp;
    header.ecn = packet.ecn;
    header.ttl = packet.ttl;
    if let Transport::Tcp(tcp) = &mut header.transport {
        if packet.mss_limit > 0 {
            tcp.options.mss = tcp.options.mss.map(|mss| mss.min(packet.mss_limit));
        }
        if packet.flags.has(PacketFlags::STRIP_WINDOW_SCALE) {
            tcp.options.window_scale = None;
        }
    }
    header
}

fn index(cargo: Cargo) -> usize {
    usize::try_from(cargo.handle).unwrap_or(usize::MAX)
}

/// Whether the cargo is all there is to know of its packet.
const fn is_plain(cargo: Cargo) -> bool {
    cargo.notes[1] & PLAIN != 0
}

/// Set in the second word of notes if the cargo is a plain segment; where the other fields begin there.
const PLAIN: u64 = 1;
const TIMESTAMPS: u32 = 1;
const DF: u32 = 2;
const FLAGS: u32 = 3;
const WINDOW: u32 = 11;
const PAYLOAD: u32 = 27;
const FLOW: u32 = 43;
/// Flows with larger numbers have no plain segments.
const FLOW_BITS: u32 = u64::BITS - FLOW;

/// Of how many packets whose fragments have not all arrived a host remembers them, as a kernel's memory for that has a limit.
const REASSEMBLED: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_segment_fits_into_its_cargo() {
        let extremes = [0, 1, 0x8000_0001, u32::MAX];
        for (number, word) in extremes.into_iter().enumerate() {
            for bit in [false, true] {
                let plain = Plain {
                    flow: FlowId(word >> (u32::BITS - FLOW_BITS)),
                    seq: Seq32(word.rotate_left(3)),
                    ack: Seq32(!word),
                    timestamps: bit.then_some((word, word ^ 7)),
                    payload: word as u16,
                    window: !(word as u16),
                    flags: Flags(0x5a_u8.rotate_left(number as u32)),
                    df: bit != (number % 2 == 0),
                };
                assert_eq!(Plain::from_cargo(plain.cargo()), Some(plain));
            }
        }
        assert_eq!(Plain::from_cargo(Cargo::new(u64::MAX)), None);
    }
}

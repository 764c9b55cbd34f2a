//! The packets that are on their way: headers and payload behind the network's cargo handles.
//!
//! Nearly all packets are TCP segments without SACK blocks or options of a SYN, whose bytes nobody looks at. They are kept
//! in forty bytes, with addresses and ports of their flow kept once: with many packets on their way each is fetched from
//! memory once, and memory is what a run then waits for.

use std::hint::cold_path;
use std::net::IpAddr;

use slowpath_endpoint::wire::{Flags, Header, Options, OwnedPayload, TcpHeader, Transmit, Transport};
use slowpath_packet::{FlowKey, Seq32};
use slowpath_path::{Cargo, Flags as PacketFlags, FlowId, Packet};

/// One packet on its way, and how many of the network's packets share it.
#[derive(Debug, Clone)]
struct Place {
    references: i32,
    /// Bytes of fragments that arrived.
    arrived: u32,
    item: Item,
}

#[derive(Debug, Clone)]
enum Item {
    Plain(Plain),
    /// Any other packet: its number in a store of its own.
    Whole(u32),
}

/// What of a plain TCP segment neither its flow nor the network's packet has.
#[derive(Debug, Clone, Copy)]
struct Plain {
    flow: FlowId,
    seq: Seq32,
    ack: Seq32,
    /// Value and echo; meaningless without.
    timestamps: (u32, u32),
    has_timestamps: bool,
    payload: u32,
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

/// Headers and payload of a packet.
#[derive(Debug, Clone)]
struct Contents {
    header: Header,
    payload: OwnedPayload,
}

/// A store of packets with places that are used again; grows only when more are on their way than ever before.
#[derive(Debug, Default)]
pub(crate) struct Freight {
    places: Vec<Place>,
    free: Vec<u32>,
    whole: Vec<Contents>,
    free_whole: Vec<u32>,
    /// By flow number.
    routes: Vec<Option<Route>>,
}

impl Freight {
    /// Stores a packet of `flow` and takes its payload.
    pub(crate) fn load(&mut self, flow: FlowId, transmit: &mut Transmit, references: i32) -> Cargo {
        let item = if let Some(plain) = Plain::of(flow, &transmit.header, &transmit.payload) {
            Item::Plain(plain)
        } else {
            cold_path();
            Item::Whole(self.load_whole(transmit))
        };
        let place = Place {
            references,
            arrived: 0,
            item,
        };
        let number = if let Some(number) = self.free.pop() {
            self.places[number as usize] = place;
            number
        } else {
            cold_path();
            self.places.push(place);
            count(self.places.len() - 1)
        };
        Cargo(u64::from(number))
    }

    fn load_whole(&mut self, transmit: &mut Transmit) -> u32 {
        let contents = Contents {
            header: transmit.header,
            payload: std::mem::replace(&mut transmit.payload, OwnedPayload::Synthetic(0)),
        };
        if let Some(number) = self.free_whole.pop() {
            self.whole[number as usize] = contents;
            return number;
        }
        self.whole.push(contents);
        count(self.whole.len() - 1)
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
    pub(crate) fn show<R>(&self, packet: &Packet, act: impl FnOnce(&Header, &OwnedPayload) -> R) -> R {
        match &self.places[index(packet.cargo)].item {
            Item::Plain(plain) => {
                let payload = OwnedPayload::Synthetic(plain.payload);
                act(&plain.header(&self.routes, packet), &payload)
            }
            Item::Whole(number) => {
                cold_path();
                let contents = &self.whole[*number as usize];
                if is_edited(&contents.header, packet) {
                    act(&edited(&contents.header, packet), &contents.payload)
                } else {
                    act(&contents.header, &contents.payload)
                }
            }
        }
    }

    /// A fragment arrived; true if it is the last one.
    pub(crate) fn complete(&mut self, packet: &Packet) -> bool {
        let (own, whole) = self.show(packet, |header, payload| {
            let own = header.ip_header();
            (own + fragment_header(header), header.ip_len(payload.len()) - own)
        });
        let place = &mut self.places[index(packet.cargo)];
        place.arrived += packet.ip_len - own;
        place.arrived >= whole
    }

    /// Changes the number of packets that share `cargo` and forgets it when there are none.
    pub(crate) fn account(&mut self, cargo: Cargo, change: i32) {
        let place = &mut self.places[index(cargo)];
        place.references += change;
        debug_assert!(place.references >= 0, "a packet was delivered twice");
        if place.references == 0 {
            self.free.push(u32::try_from(cargo.0).unwrap_or(u32::MAX));
            if let Item::Whole(number) = place.item {
                self.free_whole.push(number);
            }
        }
    }
}

impl Plain {
    /// What must be kept of a packet, if that is all.
    fn of(flow: FlowId, header: &Header, payload: &OwnedPayload) -> Option<Self> {
        let (Transport::Tcp(tcp), OwnedPayload::Synthetic(payload)) = (&header.transport, payload) else {
            return None;
        };
        let options = &tcp.options;
        let plain = options.sack.as_slice().is_empty() && !tcp.flags.has(Flags::SYN);
        plain.then(|| Self {
            flow,
            seq: tcp.seq,
            ack: tcp.ack,
            timestamps: options.timestamps.unwrap_or_default(),
            has_timestamps: options.timestamps.is_some(),
            payload: *payload,
            window: tcp.window,
            flags: tcp.flags,
            df: header.df,
        })
    }

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
                    timestamps: self.has_timestamps.then_some(self.timestamps),
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
    usize::try_from(cargo.0).unwrap_or(usize::MAX)
}

fn count(places: usize) -> u32 {
    u32::try_from(places).expect("four billion packets cannot be on their way")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_small() {
        assert!(size_of::<Place>() <= 40, "{}", size_of::<Place>());
    }
}

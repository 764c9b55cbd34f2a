//! The packets that are on their way: headers and payload behind the network's cargo handles.
//!
//! Nearly all packets are TCP segments without SACK blocks or options of a SYN, whose bytes nobody looks at. They are kept
//! in forty bytes, with addresses and ports of their flow kept once: with many packets on their way each is fetched from
//! memory once, and memory is what a run then waits for.

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
///
/// Packets arrive about as they were sent. So places are given out one behind the other, round and round over half as many
/// again as are taken: they are written and read in the order in which they lie, and memory brings in the next one meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Freight {
    places: Vec<Place>,
    /// Places that are taken.
    taken: usize,
    /// The place given out last.
    cursor: usize,
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
            Item::Whole(self.load_whole(transmit))
        };
        let place = Place {
            references,
            arrived: 0,
            item,
        };
        let round = self.taken + self.taken / 2 + FEW;
        self.taken += 1;
        if round > self.places.len() {
            self.places.push(place);
            self.cursor = self.places.len() - 1;
        } else {
            // A third of the round is free, so all of a round is passed for a third of it given out.
            loop {
                self.cursor += 1;
                if self.cursor >= round {
                    self.cursor = 0;
                }
                if self.places[self.cursor].references == 0 {
                    break;
                }
            }
            self.places[self.cursor] = place;
        }
        Cargo(u64::from(count(self.cursor)))
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
            self.taken -= 1;
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

/// Places of the least round.
const FEW: usize = 16;

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

    /// The bytes of payload by which a packet is known again.
    fn payload(freight: &Freight, cargo: Cargo) -> u32 {
        freight.show(&Packet::new(cargo, FlowId(0), 0), |_, payload| payload.len())
    }

    #[test]
    fn packets_keep_their_places_and_places_are_used_again() {
        let mut freight = Freight::default();
        let key = FlowKey::new(
            slowpath_packet::Protocol::TCP,
            "10.0.0.1:1".parse().unwrap(),
            "10.0.0.2:2".parse().unwrap(),
        );
        freight.know(FlowId(0), &key);
        let transmit = |bytes: u32| Transmit {
            at: slowpath_units::Time::ZERO,
            header: Header {
                src: key.src,
                dst: key.dst,
                dscp: slowpath_packet::Dscp::DEFAULT,
                ecn: slowpath_packet::Ecn::NotEct,
                ttl: 64,
                df: true,
                transport: Transport::Tcp(TcpHeader {
                    src_port: 1,
                    dst_port: 2,
                    seq: Seq32(0),
                    ack: Seq32(0),
                    flags: Flags::ACK,
                    window: 0,
                    options: Options::default(),
                }),
            },
            payload: OwnedPayload::Synthetic(bytes),
        };
        let mut on_the_way = std::collections::VecDeque::new();
        let (mut state, mut most) = (1_u32, 0);
        for number in 0..50_000 {
            let cargo = freight.load(FlowId(0), &mut transmit(number), 1);
            on_the_way.push_back((cargo, number));
            most = most.max(on_the_way.len());
            // Some hundred are on their way, then a few; some overtake others, and every thousandth stays for long.
            let room = if number % 10_000 < 5_000 { 400 } else { 20 };
            while on_the_way.len() > room {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let late = on_the_way.front().is_some_and(|(_, number)| number % 1000 == 7);
                let place = usize::from(late || state >> 29 == 0);
                let (cargo, number) = on_the_way.remove(place).unwrap();
                assert_eq!(payload(&freight, cargo), number);
                freight.account(cargo, -1);
            }
        }
        for &(cargo, number) in &on_the_way {
            assert_eq!(payload(&freight, cargo), number);
        }
        assert_eq!(freight.taken, on_the_way.len());
        assert!(
            freight.places.len() <= most * 3 / 2 + FEW,
            "{}",
            freight.places.len()
        );
    }
}

//! The marks that packets really carried, counted at every place where they were seen.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use slowpath_packet::{Dscp, Ecn, FlowKey, Protocol};
use slowpath_path::{PacketSink, Seen, SeenPacket};
use slowpath_record::{MarkCount, MarkPlace, Traffic};

/// Counts marks on the way to another sink, or to none; clones share the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    flows: BTreeMap<FlowKey, u16>,
    last: Option<(FlowKey, u16)>,
    traffic: BTreeMap<Key, Traffic>,
}

/// Place and its number, flow, and the type-of-service byte.
type Key = (Place, u16, u16, u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Sent,
    Passed,
    Received,
    Dropped,
}

impl Counts {
    fn flow(&mut self, key: FlowKey) -> u16 {
        if let Some((last, number)) = self.last
            && last == key
        {
            return number;
        }
        let next = u16::try_from(self.flows.len()).unwrap_or(MOST_FLOWS);
        let number = match self.flows.get(&key) {
            Some(number) => *number,
            None if next >= MOST_FLOWS => MOST_FLOWS,
            None => {
                self.flows.insert(key, next);
                next
            }
        };
        self.last = Some((key, number));
        number
    }
}

/// A sink that counts marks before it hands packets on.
pub(crate) struct Counting<S> {
    pub(crate) marks: Marks,
    pub(crate) next: Option<S>,
}

impl<S: PacketSink> PacketSink for Counting<S> {
    fn packet(&mut self, seen: &SeenPacket<'_>) {
        if let Some((tos, key)) = read(seen.bytes) {
            let (place, number) = match seen.event {
                Seen::Sent(port) => (Place::Sent, port.0),
                Seen::Passed(element) => (Place::Passed, element.0),
                Seen::Delivered(port) => (Place::Received, port.0),
                Seen::Dropped(element, _) => (Place::Dropped, element.0),
            };
            let mut counts = self.marks.0.lock().unwrap_or_else(PoisonError::into_inner);
            let flow = counts.flow(key);
            counts
                .traffic
                .entry((place, number, flow, tos))
                .or_default()
                .count(seen.length);
        }
        if let Some(next) = &mut self.next {
            next.packet(seen);
        }
    }

    fn finish(&mut self) {
        if let Some(next) = &mut self.next {
            next.finish();
        }
    }
}

/// Type of service and flow of an IP packet, the outer one of a tunnel's.
fn read(packet: &[u8]) -> Option<(u8, FlowKey)> {
    let first = *packet.first()?;
    let address = |at: usize| -> Option<[u8; 4]> { packet.get(at..at + 4)?.try_into().ok() };
    let (tos, protocol, src, dst, behind) = match first >> 4 {
        4 => {
            // Only the first fragment has ports.
            let whole = packet.get(6)?.trailing_zeros() >= 5 && *packet.get(7)? == 0;
            let (src, dst) = (Ipv4Addr::from(address(12)?), Ipv4Addr::from(address(16)?));
            let behind = whole.then_some(usize::from(first & 15) * 4);
            (
                packet[1],
                *packet.get(9)?,
                IpAddr::V4(src),
                IpAddr::V4(dst),
                behind,
            )
        }
        6 => {
            let address = |at: usize| -> Option<[u8; 16]> { packet.get(at..at + 16)?.try_into().ok() };
            let (src, dst) = (Ipv6Addr::from(address(8)?), Ipv6Addr::from(address(24)?));
            let tos = ((first & 15) << 4) | (packet[1] >> 4);
            (tos, packet[6], IpAddr::V6(src), IpAddr::V6(dst), Some(40))
        }
        _ => return None,
    };
    let protocol = Protocol(protocol);
    let ports = matches!(protocol, Protocol::TCP | Protocol::UDP)
        .then_some(behind)
        .flatten()
        .and_then(|at| packet.get(at..at + 4));
    let port = |at: usize| ports.map_or(0, |ports| u16::from_be_bytes([ports[at], ports[at + 1]]));
    let key = FlowKey {
        src,
        dst,
        src_port: port(0),
        dst_port: port(2),
        protocol,
    };
    Some((tos, key))
}

impl Marks {
    /// What was counted; `ports` and `elements` are names by number.
    pub(crate) fn counts(&self, ports: &[String], elements: &[String]) -> Vec<MarkCount> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let flows: BTreeMap<u16, String> = counts
            .flows
            .iter()
            .map(|(key, number)| (*number, key.to_string()))
            .collect();
        let name = |names: &[String], number: u16| {
            let known = names.get(usize::from(number));
            known.cloned().unwrap_or_else(|| number.to_string())
        };
        counts
            .traffic
            .iter()
            .map(|((place, number, flow, tos), traffic)| MarkCount {
                at: match place {
                    Place::Sent => MarkPlace::Sent(name(ports, *number)),
                    Place::Received => MarkPlace::Received(name(ports, *number)),
                    Place::Passed => MarkPlace::Passed(name(elements, *number)),
                    Place::Dropped => MarkPlace::Dropped(name(elements, *number)),
                },
                flow: flows.get(flow).cloned().unwrap_or_else(|| "others".to_owned()),
                dscp: Dscp::new(tos >> 2).unwrap_or_default(),
                ecn: Ecn::from_tos(*tos),
                traffic: *traffic,
            })
            .collect()
    }
}

/// Flows that are told apart.
const MOST_FLOWS: u16 = 64;

#[cfg(test)]
mod tests {
    use slowpath_path::{DropCause, ElementId, PacketId, PortId};
    use slowpath_units::Time;

    use super::*;

    struct Nobody;

    impl PacketSink for Nobody {
        fn packet(&mut self, _: &SeenPacket<'_>) {}
    }

    fn ipv4(tos: u8, offset: u8, port: u16) -> Vec<u8> {
        let mut packet = vec![
            0x45, tos, 0, 0, 0, 0, 0, offset, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
        ];
        packet.extend(port.to_be_bytes());
        packet.extend([0, 22]);
        packet
    }

    #[test]
    fn marks_are_counted_by_place_and_flow() {
        let mut ipv6 = vec![0x62, 0x10, 0, 0, 0, 0, 17, 64];
        ipv6.extend([0xfd; 32]);
        let marks = Marks::default();
        let mut sink = Counting {
            marks: marks.clone(),
            next: Some(Nobody),
        };
        let (client, line) = (PortId(0), ElementId(0));
        for (event, bytes, length) in [
            (Seen::Sent(client), ipv4(0x20, 0, 4000), 1500),
            (Seen::Sent(client), ipv4(0x20, 0, 4000), 1500),
            (Seen::Sent(client), ipv4(0x4a, 0, 4000), 60),
            (Seen::Sent(client), ipv4(0x20, 7, 9), 100),
            (Seen::Sent(client), ipv6, 80),
            (Seen::Dropped(line, DropCause::Policed), ipv4(0x20, 0, 4000), 1500),
            (Seen::Sent(client), vec![0x45], 1),
            (Seen::Sent(client), vec![0x15, 3, 3], 3),
        ] {
            sink.packet(&SeenPacket {
                event,
                at: Time::ZERO,
                id: PacketId(1),
                bytes: &bytes,
                length,
            });
        }
        let counts = marks.counts(&["client".to_owned()], &["line".to_owned()]);
        let told: Vec<_> = counts
            .iter()
            .map(|count| {
                let bytes = count.traffic.bytes;
                (
                    &count.at,
                    count.flow.as_str(),
                    count.dscp.value(),
                    count.ecn,
                    bytes,
                )
            })
            .collect();
        let sent = MarkPlace::Sent("client".to_owned());
        let ssh = "tcp 10.0.0.1:4000 > 10.0.0.2:22";
        let addresses = format!("udp [{0}]:0 > [{0}]:0", Ipv6Addr::from([0xfd; 16]));
        assert_eq!(
            told,
            [
                (&sent, ssh, 8, Ecn::NotEct, 3000),
                (&sent, ssh, 18, Ecn::Ect0, 60),
                (&sent, "tcp 10.0.0.1:0 > 10.0.0.2:0", 8, Ecn::NotEct, 100),
                (&sent, addresses.as_str(), 8, Ecn::Ect1, 80),
                (&MarkPlace::Dropped("line".to_owned()), ssh, 8, Ecn::NotEct, 1500),
            ]
        );
    }

    #[test]
    fn a_run_with_very_many_flows_tells_some_apart() {
        let marks = Marks::default();
        let mut sink = Counting {
            marks: marks.clone(),
            next: None::<Nobody>,
        };
        for port in 1..=200 {
            sink.packet(&SeenPacket {
                event: Seen::Sent(PortId(0)),
                at: Time::ZERO,
                id: PacketId(1),
                bytes: &ipv4(0, 0, port),
                length: 100,
            });
        }
        let counts = marks.counts(&["client".to_owned()], &[]);
        assert_eq!(counts.len(), usize::from(MOST_FLOWS) + 1);
        let others = counts.last().unwrap();
        assert_eq!(
            (others.flow.as_str(), others.traffic.packets),
            ("others", 200 - 64)
        );
    }
}

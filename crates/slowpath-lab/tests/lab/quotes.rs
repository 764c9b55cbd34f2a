//! ICMP messages of modelled routers quote a packet as it came to them, not as it was sent.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration as StdDuration;

use slowpath_lab::{DropUnit, Lab, PacketSink, Seen, SeenPacket};
use slowpath_packet::{Ipv4View, checksum};
use slowpath_path::{ElementKind, Remark, Router, Target};
use slowpath_sys::sockopt;
use slowpath_units::Time;

use crate::support::{FAR, NEAR, permitted, two_hosts};

/// The ICMP packets that hosts received.
#[derive(Clone, Default)]
struct Messages(Arc<Mutex<Vec<Vec<u8>>>>);

impl PacketSink for Messages {
    fn packet(&mut self, seen: &SeenPacket<'_>) {
        if matches!(seen.event, Seen::Delivered(_)) && seen.bytes[9] == 1 {
            self.0.lock().unwrap().push(seen.bytes.to_vec());
        }
    }
}

fn router(number: u8) -> ElementKind {
    ElementKind::Router(Router {
        address: [203, 0, 113, number].into(),
        answer_gap: None,
    })
}

#[test]
fn a_quote_has_the_marks_and_the_ttl_of_the_arrival() {
    if !permitted("a_quote_has_the_marks_and_the_ttl_of_the_arrival") {
        return;
    }
    for unit in [DropUnit::Packet, DropUnit::Train] {
        let bleach = ElementKind::Remark(Remark::bleach());
        let mut spec = two_hosts(&[bleach, router(1), router(2)]);
        spec.wire.drop_unit = unit;
        let second = spec.network.element_mut("up.2").unwrap();
        second.outputs.push(Target::to("down.nic"));
        let messages = Messages::default();
        let lab = Lab::build(&spec, Some(Box::new(messages.clone()))).unwrap();
        lab.run_in("near", || {
            let sender = UdpSocket::bind("0.0.0.0:0").unwrap();
            sockopt::set_tos(&sender, 0xb8).unwrap();
            sockopt::set_ttl(&sender, 2).unwrap();
            sender
                .send_to(&[7; 200], SocketAddr::new(IpAddr::from(FAR), 9))
                .unwrap();
            while messages.0.lock().unwrap().is_empty() && lab.now() < Time::from_nanos(5_000_000_000) {
                std::thread::sleep(StdDuration::from_millis(5));
            }
        })
        .unwrap();
        lab.finish();
        let messages = messages.0.lock().unwrap();
        let [message] = messages.as_slice() else {
            panic!("one message: {messages:?}");
        };
        let outer = Ipv4View::parse(message).unwrap();
        assert_eq!(
            (outer.source(), outer.destination()),
            ([203, 0, 113, 2].into(), NEAR.into())
        );
        let quote = &message[28..];
        let inner = Ipv4View::parse(quote).unwrap();
        assert_eq!(
            (quote[1], inner.ttl()),
            (0, 1),
            "sent as 0xb8 and 2, arrived like this"
        );
        assert_eq!(checksum::of(&quote[..20]), 0, "the quoted header is whole");
        assert_eq!(&quote[28..], &[7; 200], "and all that it carried");
    }
}

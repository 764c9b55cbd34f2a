//! Trains through the network: what is decided per packet arrives per packet.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration as StdDuration;

use slowpath_lab::{DropUnit, Lab};
use slowpath_packet::Dscp;
use slowpath_path::{ElementKind, Remark, RemarkRule, SetMark};
use slowpath_sys::{message, sockopt};
use slowpath_units::Duration;

use crate::support::{FAR, delay, loss, permitted, tcp, two_hosts, v6};

/// Sends trains of ten datagrams; what arrives, in order, with their type of service.
fn datagrams(lab: &Lab, far: std::net::IpAddr, trains: u32, tos: i32) -> Vec<(u32, usize, Option<u8>)> {
    let receiver = lab
        .run_in("far", || UdpSocket::bind(SocketAddr::new(far, 0)).unwrap())
        .unwrap();
    let address = receiver.local_addr().unwrap();
    sockopt::set_receive_buffer(&receiver, 1 << 20).unwrap();
    if far.is_ipv6() {
        sockopt::set_receive_traffic_class(&receiver, 1).unwrap();
    } else {
        sockopt::set_receive_tos(&receiver, 1).unwrap();
    }
    receiver
        .set_read_timeout(Some(StdDuration::from_secs(1)))
        .unwrap();
    lab.run_in("near", || {
        let unspecified: std::net::IpAddr = if far.is_ipv6() {
            [0; 16].into()
        } else {
            [0; 4].into()
        };
        let sender = UdpSocket::bind(SocketAddr::new(unspecified, 0)).unwrap();
        if far.is_ipv6() {
            sockopt::set_traffic_class(&sender, tos).unwrap();
        } else {
            sockopt::set_tos(&sender, tos).unwrap();
        }
        sockopt::set_udp_segment(&sender, 1000).unwrap();
        sender.connect(address).unwrap();
        for train in 0..trains {
            let mut data = vec![0; 10_000 - 300];
            for (number, part) in (0..).zip(data.chunks_mut(1000)) {
                part[..4].copy_from_slice(&(train * 10 + number).to_be_bytes());
                part[4..].fill(7);
            }
            sender.send(&data).unwrap();
        }
    })
    .unwrap();
    let mut all = Vec::new();
    let mut buffer = [0; 2000];
    while let Ok(received) = message::receive(&receiver, &mut buffer) {
        assert!(buffer[4..received.len].iter().all(|byte| *byte == 7));
        all.push((
            u32::from_be_bytes(buffer[..4].try_into().unwrap()),
            received.len,
            received.tos,
        ));
    }
    all
}

#[test]
fn datagram_trains_lose_and_keep_single_datagrams() {
    if !permitted("datagram_trains_lose_and_keep_single_datagrams") {
        return;
    }
    for far in [FAR.into(), v6(FAR)] {
        let mut spec = two_hosts(&[delay("1 ms"), loss(200_000_000)]);
        // Everything that survives side by side is joined again.
        spec.wire.join_window = Duration::from_millis(1);
        let lab = Lab::build(&spec, None).unwrap();
        let received = datagrams(&lab, far, 30, 0);
        let totals = lab.finish().totals;
        assert_eq!(totals.sent, 300, "{far}: {totals:?}");
        assert_eq!(received.len() as u64, totals.delivered);
        assert!((20..110).contains(&totals.dropped), "20 % of 300: {totals:?}");
        assert!(totals.trains <= 60, "the kernel hands over trains: {totals:?}");
        assert!(
            totals.writes < totals.delivered,
            "neighbours are joined: {totals:?}"
        );
        assert!(received.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (number, length, _) in received {
            assert_eq!(length, if number % 10 == 9 { 700 } else { 1000 });
        }
    }
}

#[test]
fn whole_trains_are_lost_where_trains_are_the_unit() {
    if !permitted("whole_trains_are_lost_where_trains_are_the_unit") {
        return;
    }
    let mut spec = two_hosts(&[loss(200_000_000)]);
    spec.wire.drop_unit = DropUnit::Train;
    let lab = Lab::build(&spec, None).unwrap();
    let received = datagrams(&lab, FAR.into(), 60, 0);
    let totals = lab.finish().totals;
    assert_eq!(totals.sent, totals.trains);
    assert_eq!(received.len() % 10, 0, "all of a train or nothing");
    assert!(totals.dropped > 0 && !received.is_empty());
    assert_eq!(received.len() as u64, totals.delivered * 10);
}

#[test]
fn marks_change_in_the_bytes() {
    if !permitted("marks_change_in_the_bytes") {
        return;
    }
    for far in [FAR.into(), v6(FAR)] {
        let remark = Remark {
            rules: vec![RemarkRule {
                matches: slowpath_path::Match::default(),
                set: SetMark::Dscp(Dscp::from_tos(0x28)),
            }],
        };
        let spec = two_hosts(&[ElementKind::Remark(remark)]);
        let lab = Lab::build(&spec, None).unwrap();
        // ECT(0) stays, EF becomes AF11.
        let received = datagrams(&lab, far, 3, 0xb8 | 2);
        lab.finish();
        assert_eq!(received.len(), 30, "{far}");
        assert!(
            received.iter().all(|(_, _, tos)| *tos == Some(0x28 | 2)),
            "{received:?}"
        );
    }
}

#[test]
fn tcp_survives_heavy_loss_and_one_packet_per_write() {
    if !permitted("tcp_survives_heavy_loss_and_one_packet_per_write") {
        return;
    }
    for (far, window) in [(FAR.into(), Duration::ZERO), (v6(FAR), Duration::from_millis(1))] {
        let mut spec = two_hosts(&[loss(30_000_000)]);
        spec.wire.join_window = window;
        let lab = Lab::build(&spec, None).unwrap();
        tcp(&lab, far, 3_000_000);
        let totals = lab.finish().totals;
        assert!(totals.dropped > 20, "{totals:?}");
        assert_eq!(totals.sent, totals.delivered + totals.dropped + totals.inside);
    }
}

//! What captures get: every packet at every point, in order, with right checksums and its fate.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration as StdDuration;

use slowpath_lab::{Lab, PacketSink, Seen, SeenPacket};
use slowpath_packet::{IpView, checksum::Sum};
use slowpath_path::{DropCause, ElementKind, Tap};
use slowpath_units::Time;

use crate::support::{FAR, delay, loss, permitted, ping, rate, tcp, two_hosts, v6};

#[derive(Default)]
struct Collected {
    events: Vec<(Seen, Time, u64)>,
    bad_checksums: usize,
    unordered: usize,
}

struct Collect(Arc<Mutex<Collected>>);

impl PacketSink for Collect {
    fn packet(&mut self, seen: &SeenPacket<'_>) {
        let mut all = self.0.lock().unwrap();
        if all.events.last().is_some_and(|(_, at, _)| *at > seen.at) {
            all.unordered += 1;
        }
        if !checksums_are_right(seen.bytes) {
            all.bad_checksums += 1;
        }
        assert_eq!(seen.bytes.len(), seen.length as usize);
        all.events.push((seen.event, seen.at, seen.id.0));
    }
}

fn checksums_are_right(bytes: &[u8]) -> bool {
    let view = IpView::parse(bytes).unwrap();
    let header = view.header_len();
    let v4 = bytes[0] >> 4 == 4;
    let network = !v4 || slowpath_packet::checksum::of(&bytes[..header]) == 0;
    let length = u32::try_from(bytes.len() - header).unwrap();
    let pseudo = if view.protocol() == 1 {
        Sum::new()
    } else {
        view.pseudo_sum(view.protocol(), length)
    };
    network && pseudo.add_bytes(&bytes[header..]).finish() == 0
}

#[test]
fn every_packet_has_its_points_and_one_fate() {
    if !permitted("every_packet_has_its_points_and_one_fate") {
        return;
    }
    for far in [FAR.into(), v6(FAR)] {
        let tap = ElementKind::Tap(Tap { record: true });
        let spec = two_hosts(&[rate("100 Mbit/s", 200), tap, delay("2 ms"), loss(5_000_000)]);
        let collected = Arc::new(Mutex::new(Collected::default()));
        let lab = Lab::build(&spec, Some(Box::new(Collect(collected.clone())))).unwrap();
        tcp(&lab, far, 3_000_000);
        lab.run_in("near", || ping(far, 3, StdDuration::ZERO)).unwrap();
        let names = lab.element_names().to_vec();
        let report = lab.finish();
        let all = collected.lock().unwrap();
        assert_eq!(report.totals.capture_lost, 0);
        assert_eq!((all.bad_checksums, all.unordered), (0, 0));
        let mut points: BTreeMap<u64, Vec<Seen>> = BTreeMap::new();
        for (event, _, id) in &all.events {
            points.entry(*id).or_default().push(*event);
        }
        assert_eq!(points.len() as u64, report.totals.sent);
        let (mut delivered, mut dropped) = (0, 0);
        for (id, seen) in &points {
            assert!(matches!(seen[0], Seen::Sent(_)), "{id}: {seen:?}");
            match seen.as_slice() {
                [_, Seen::Passed(tap), Seen::Delivered(_)] => {
                    assert!(names[usize::from(tap.0)].ends_with(".1"));
                    delivered += 1;
                }
                [_, Seen::Passed(_), Seen::Dropped(element, DropCause::Loss)] => {
                    assert!(names[usize::from(element.0)].ends_with(".3"));
                    dropped += 1;
                }
                [_, Seen::Dropped(_, DropCause::QueueFull)] => dropped += 1,
                // On the way when the lab ended.
                [_] | [_, Seen::Passed(_)] => {}
                other => panic!("{id}: {other:?}"),
            }
        }
        assert_eq!(
            (delivered, dropped),
            (report.totals.delivered, report.totals.dropped)
        );
        assert!(dropped > 0);
    }
}

//! Rates and delays that change with time, in model time: how late the wire was does not matter to these.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration as StdDuration;

use slowpath_lab::{Lab, PacketSink, Seen, SeenPacket};
use slowpath_path::{Delay, ElementKind, Limit, Link, Rate, RateStep, Span, SpanStep, Trace};
use slowpath_units::{Duration, Layer, Time};

use crate::support::{FAR, permitted, two_hosts};

/// When each packet was sent into the network, and when it was delivered.
#[derive(Clone, Default)]
struct Times(Arc<Mutex<(Vec<Time>, Vec<Time>)>>);

impl PacketSink for Times {
    fn packet(&mut self, seen: &SeenPacket<'_>) {
        let mut times = self.0.lock().unwrap();
        match seen.event {
            Seen::Sent(_) => times.0.push(seen.at),
            Seen::Delivered(_) => times.1.push(seen.at),
            _ => {}
        }
    }
}

/// Sends `count` datagrams of `ip_len` bytes at each of the times; when each was sent and delivered.
fn bursts(element: ElementKind, ip_len: usize, count: usize, at: &[u64]) -> (Vec<Time>, Vec<Time>) {
    let mut spec = two_hosts(&[element]);
    // Only the way there is under test.
    spec.network
        .element_mut("down.0")
        .unwrap()
        .does
        .clone_from(&ElementKind::Delay(Delay::fixed(Duration::ZERO)));
    let times = Times::default();
    let lab = Lab::build(&spec, Some(Box::new(times.clone()))).unwrap();
    lab.run_in("far", || {
        UdpSocket::bind(SocketAddr::new(IpAddr::from(FAR), 9)).unwrap()
    })
    .map(|receiver| {
        lab.run_in("near", || {
            let sender = UdpSocket::bind("0.0.0.0:0").unwrap();
            sender.connect(SocketAddr::new(IpAddr::from(FAR), 9)).unwrap();
            for millis in at {
                while lab.now() < Time::ZERO + Duration::from_millis(*millis) {
                    std::thread::sleep(StdDuration::from_millis(1));
                }
                for _ in 0..count {
                    sender.send(&vec![0; ip_len - 28]).unwrap();
                }
            }
            while times.0.lock().unwrap().1.len() < count * at.len()
                && lab.now() < Time::from_nanos(8_000_000_000)
            {
                std::thread::sleep(StdDuration::from_millis(5));
            }
        })
        .unwrap();
        drop(receiver);
    })
    .unwrap();
    let totals = lab.finish().totals;
    assert_eq!((totals.dropped, totals.lost_outside), (0, 0), "{totals:?}");
    let times = times.0.lock().unwrap();
    assert_eq!(
        (times.0.len(), times.1.len()),
        (count * at.len(), count * at.len())
    );
    times.clone()
}

#[test]
fn a_rate_changes_at_its_time() {
    if !permitted("a_rate_changes_at_its_time") {
        return;
    }
    let step = |from, rate: &str| RateStep {
        from: Duration::from_millis(from),
        rate: rate.parse().unwrap(),
    };
    let mut link = Link::fifo("20 Mbit/s".parse().unwrap(), Layer::Ip, Limit::Packets(1000));
    link.rate = Rate::Steps(vec![step(0, "20 Mbit/s"), step(1500, "5 Mbit/s")]);
    let (_, delivered) = bursts(ElementKind::Link(link), 1000, 100, &[0, 1600]);
    // 1000 bytes take 0.4 ms at 20 Mbit/s and 1.6 ms at 5; those of one burst wait for one another.
    for (burst, nanos) in delivered.chunks(100).zip([400_000, 1_600_000]) {
        let waited = burst
            .windows(2)
            .filter(|pair| pair[1].since(pair[0]).nanos() == nanos)
            .count();
        assert!(waited >= 60, "{waited} of 99 gaps are {nanos} ns: {burst:?}");
    }
}

#[test]
fn a_delay_changes_at_its_time() {
    if !permitted("a_delay_changes_at_its_time") {
        return;
    }
    let step = |from, delay| SpanStep {
        from: Duration::from_millis(from),
        delay: Duration::from_millis(delay),
    };
    let delay = Delay {
        delay: Span::Steps(vec![step(0, 10), step(1500, 40)]),
        jitter: None,
    };
    let (sent, delivered) = bursts(ElementKind::Delay(delay), 100, 5, &[0, 1600]);
    let added: Vec<u64> = sent
        .iter()
        .zip(&delivered)
        .map(|(sent, delivered)| delivered.since(*sent).nanos() / 1_000_000)
        .collect();
    assert_eq!(added, [10, 10, 10, 10, 10, 40, 40, 40, 40, 40]);
}

#[test]
fn packets_leave_when_a_recorded_trace_says() {
    if !permitted("packets_leave_when_a_recorded_trace_says") {
        return;
    }
    let mut link = Link::fifo("1 Mbit/s".parse().unwrap(), Layer::Ip, Limit::Packets(1000));
    link.rate = Rate::Trace(Trace::parse("3\n7\n10\n").unwrap());
    let (sent, delivered) = bursts(ElementKind::Link(link), 1500, 30, &[0]);
    let places: Vec<u64> = delivered.iter().map(|at| at.nanos() % 10_000_000).collect();
    assert!(
        places
            .iter()
            .all(|place| [0, 3_000_000, 7_000_000].contains(place)),
        "{places:?}"
    );
    // The program may need its time to send them, on a busy machine.
    let (span, sending) = (delivered[29].since(delivered[0]), sent[29].since(sent[0]));
    assert!(
        span >= Duration::from_millis(93) && span < Duration::from_millis(120) + sending,
        "30 packets, three in 10 ms: {span}, sent in {sending}"
    );
}

//! Figures that the lab promises on an idle machine. Where the run itself says that the machine was not idle, the
//! figure is not judged, and the test says so.

use std::time::Duration as StdDuration;

use slowpath_lab::{Lab, LabReport};
use slowpath_record::HealthState;

use crate::support::{FAR, delay, loss, mean_us, permitted, ping, rate, tcp, two_hosts};

/// Whether figures of this run may be judged: the wire was on time, whatever else the machine did.
fn trustworthy(test: &str, report: &LabReport) -> bool {
    const TIMING: [&str; 4] = [
        "release-late",
        "wire-stalled",
        "wire-starved",
        "arrival-uncertain",
    ];
    let mut reasons = report
        .health
        .reasons
        .iter()
        .filter(|reason| TIMING.contains(&reason.code.name()));
    let Some(reason) = reasons.next() else { return true };
    eprintln!("skipped: {test}: the machine was not idle: {}", reason.text);
    false
}

#[test]
fn twenty_milliseconds_add_twenty_milliseconds() {
    const TEST: &str = "twenty_milliseconds_add_twenty_milliseconds";
    if !permitted(TEST) {
        return;
    }
    let mut means = Vec::new();
    for one_way in ["0 ms", "10 ms"] {
        let lab = Lab::build(&two_hosts(&[delay(one_way)]), None).unwrap();
        let times = lab
            .run_in("near", || ping(FAR.into(), 100, StdDuration::from_millis(3)))
            .unwrap();
        assert_eq!(times.len(), 100);
        let report = lab.finish();
        let late = report.health.release_lateness.unwrap_or_default();
        eprintln!(
            "one way {one_way}: {:.1} us, late {} half of the time, {} 99 %",
            mean_us(&times),
            late.p50,
            late.p99
        );
        // Programs that wake late make a ping late too, however exact the wire.
        if !trustworthy(TEST, &report) || report.health.state != HealthState::Valid {
            eprintln!(
                "skipped: {TEST}: the machine was not idle: {:?}",
                report.health.reasons
            );
            return;
        }
        means.push(mean_us(&times));
    }
    // A path without delay meets the machine's own wake-ups at three hand-overs, one with delay at fewer, because
    // its wire is awake when a packet is due. Where these are slow the difference measures them and not the path.
    if means[0] > 120.0 {
        eprintln!(
            "skipped: {TEST}: a path without delay takes {:.0} us here, so programs wake too late to judge 100 us; \
             the path added {:.0} us",
            means[0],
            means[1] - means[0]
        );
        return;
    }
    let added = means[1] - means[0];
    assert!(
        (19_900.0..20_100.0).contains(&added),
        "a 20 ms path added {added} us: {means:?}"
    );
}

#[test]
fn fifty_megabits_are_fifty_megabits() {
    const TEST: &str = "fifty_megabits_are_fifty_megabits";
    if !permitted(TEST) {
        return;
    }
    let lab = Lab::build(&two_hosts(&[rate("50 Mbit/s", 300), delay("1 ms")]), None).unwrap();
    let bytes = 12_000_000;
    let seconds = tcp(&lab, FAR.into(), bytes);
    let report = lab.finish();
    if !trustworthy(TEST, &report) {
        return;
    }
    // Per packet 1448 bytes of data, 1514 at layer 2: timestamps take 12 bytes. Retransmissions are few but count.
    let link = report
        .elements
        .iter()
        .find(|element| element.element == "up.0")
        .unwrap();
    let frame_bytes = link.delivered.bytes + 14 * link.delivered.packets;
    let measured = frame_bytes as f64 * 8.0 / seconds;
    assert!(
        (measured / 50e6 - 1.0).abs() < 0.002,
        "{measured} bit/s in {seconds} s"
    );
}

#[test]
fn equal_seeds_lose_equal_packets() {
    const TEST: &str = "equal_seeds_lose_equal_packets";
    if !permitted(TEST) {
        return;
    }
    // The same sequence of datagrams each time: the n-th packet meets the n-th throw of the dice.
    let lost = |seed: u64| {
        let mut spec = two_hosts(&[loss(100_000_000)]);
        spec.seed = seed;
        let lab = Lab::build(&spec, None).unwrap();
        let received = lab
            .run_in("far", || {
                std::net::UdpSocket::bind((std::net::IpAddr::from(FAR), 0)).unwrap()
            })
            .unwrap();
        let address = received.local_addr().unwrap();
        received
            .set_read_timeout(Some(StdDuration::from_secs(1)))
            .unwrap();
        lab.run_in("near", || {
            let sender = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
            for number in 0..200_u32 {
                sender.send_to(&number.to_be_bytes(), address).unwrap();
            }
        })
        .unwrap();
        let mut numbers = Vec::new();
        let mut buffer = [0; 4];
        while received.recv(&mut buffer).is_ok() {
            numbers.push(u32::from_be_bytes(buffer));
        }
        let report = lab.finish();
        assert_eq!(report.totals.sent, 200);
        numbers
    };
    let first = lost(3);
    assert!((140..200).contains(&first.len()), "{}", first.len());
    assert_eq!(first, lost(3));
    assert_ne!(first, lost(4));
}

//! Delay, rate, loss; IPv4 and IPv6; both attachments.

use std::time::Duration as StdDuration;

use slowpath_lab::{Attach, Lab};
use slowpath_units::Duration;

use crate::support::{EARLY, FAR, delay, loss, permitted, ping, rate, tcp, two_hosts, v6};

#[test]
fn ping_takes_as_long_as_the_path() {
    if !permitted("ping_takes_as_long_as_the_path") {
        return;
    }
    for attachment in [Attach::Tun, Attach::Veth] {
        let mut spec = two_hosts(&[delay("10 ms")]);
        spec.wire.attachment = attachment;
        let lab = match Lab::build(&spec, None) {
            Ok(lab) => lab,
            Err(error) => {
                eprintln!("skipped: ping_takes_as_long_as_the_path with {attachment:?}: {error}");
                continue;
            }
        };
        let mut pings = 0;
        for far in [FAR.into(), v6(FAR)] {
            // The least of them, and again while other programs leave the wire no processor: their doing, not its own.
            for round in 1.. {
                let times = lab
                    .run_in("near", || ping(far, 20, StdDuration::from_millis(5)))
                    .unwrap();
                assert_eq!(times.len(), 20, "{far} with {attachment:?}");
                pings += 20;
                let least = *times.iter().min().unwrap();
                let path = Duration::from_millis(20);
                assert!(least + EARLY >= path, "{least} to {far} with {attachment:?}");
                if least < path + Duration::from_millis(5) {
                    break;
                }
                assert!(round < 10, "{least} to {far} with {attachment:?}");
            }
        }
        let report = lab.finish();
        assert_eq!(report.totals.sent, 2 * pings, "{attachment:?}");
        assert_eq!(report.totals.delivered, 2 * pings);
        assert_eq!(report.totals.lost_outside, 0);
    }
}

#[test]
fn tcp_arrives_whole_through_rate_delay_and_loss() {
    if !permitted("tcp_arrives_whole_through_rate_delay_and_loss") {
        return;
    }
    for attachment in [Attach::Tun, Attach::Veth] {
        for far in [FAR.into(), v6(FAR)] {
            let mut spec = two_hosts(&[rate("200 Mbit/s", 1000), delay("2 ms"), loss(1_000_000)]);
            spec.wire.attachment = attachment;
            let lab = match Lab::build(&spec, None) {
                Ok(lab) => lab,
                Err(error) => {
                    eprintln!("skipped: tcp_arrives_whole with {attachment:?}: {error}");
                    continue;
                }
            };
            let seconds = tcp(&lab, far, 10_000_000);
            let report = lab.finish();
            assert!(
                seconds > 10_000_000.0 * 8.0 / 200e6,
                "faster than the link: {seconds}"
            );
            let dropped: u64 = report
                .elements
                .iter()
                .flat_map(|element| &element.dropped)
                .map(|(_, traffic)| traffic.packets)
                .sum();
            assert_eq!(dropped, report.totals.dropped);
            assert!(dropped > 0);
            let totals = report.totals;
            assert_eq!(totals.sent, totals.delivered + totals.dropped + totals.inside);
            assert_eq!(report.health.unexplained_drops, 0, "{:?}", report.health.reasons);
        }
    }
}

//! What the real iperf3 client said, as results of a run.

use slowpath_record::TransferResult;
use slowpath_scenario::workload::{Iperf3Direction, Iperf3Protocol, Iperf3Test};
use slowpath_units::Time;
use slowpath_workload::external::iperf3::{Output, Way};

use super::super::stage::Done;

/// Adds the results of a client that was spawned at `start`, under the job's name, and returns the end of the test.
pub(super) fn take(name: &str, start: Time, test: &Iperf3Test, stdout: &str, done: &mut Done) -> Time {
    let output = Output::parse(stdout);
    let whole = output.transfer(Way::First, name, start);
    let ended = whole.end;
    let mut ways = vec![(Way::First, name.to_owned())];
    if test.direction == Iperf3Direction::Bidirectional {
        ways.push((Way::Back, format!("{name} reverse")));
    }
    if whole.error.is_some() {
        // A test that failed is a transfer that did not come to its end. Bytes of UDP would be the sender's.
        let bytes = match test.protocol {
            Iperf3Protocol::Tcp => whole.bytes,
            Iperf3Protocol::Udp => 0,
        };
        done.transfers.push(TransferResult { bytes, ..whole });
        return ended;
    }
    for (way, name) in ways {
        let transfer = output.transfer(way, &name, start);
        match test.protocol {
            Iperf3Protocol::Tcp => done.transfers.push(transfer),
            Iperf3Protocol::Udp => match output.flow(way, &name) {
                Some(flow) => done.flows.push(flow),
                None => done.transfers.push(TransferResult {
                    bytes: 0,
                    complete: false,
                    error: Some("iperf3 wrote no result of this way".to_owned()),
                    ..transfer
                }),
            },
        }
    }
    ended
}

#[cfg(test)]
mod tests {
    use slowpath_record::FlowResult;
    use slowpath_scenario::workload::Program;
    use slowpath_units::Duration;

    use super::*;

    fn taken(protocol: Iperf3Protocol, direction: Iperf3Direction, text: &str) -> (Done, Time) {
        let test = Iperf3Test {
            duration: Some(Duration::from_secs(2)),
            client: Program::Named("iperf3".to_owned()),
            ..Iperf3Test::new(protocol, direction)
        };
        let mut done = Done::default();
        let end = take("job", Time::ZERO, &test, text, &mut done);
        (done, end)
    }

    /// `end` for UDP without sums of the receivers.
    const UDP: &str = r#"{"end": {
        "sum": {"start": 0, "end": 2, "seconds": 2, "bytes": 1448000, "bits_per_second": 5792000,
            "jitter_ms": 0.25, "lost_packets": 100, "packets": 1000, "lost_percent": 10, "sender": true},
        "sum_bidir_reverse": {"start": 0, "end": 2, "seconds": 2, "bytes": 724000, "bits_per_second": 2896000,
            "jitter_ms": 0.5, "lost_packets": 0, "packets": 500, "lost_percent": 0, "sender": false}
    }}"#;

    #[test]
    fn datagrams_that_arrived_are_counted_and_not_those_sent() {
        let (done, end) = taken(Iperf3Protocol::Udp, Iperf3Direction::Bidirectional, UDP);
        assert_eq!(end, Time::ZERO + Duration::from_secs(2));
        assert!(done.transfers.is_empty(), "{:?}", done.transfers);
        let [forward, reverse] = done.flows.as_slice() else {
            panic!("{:?}", done.flows);
        };
        assert_eq!(
            *forward,
            FlowResult {
                name: "job".to_owned(),
                sent_packets: 1_000,
                received_packets: 900,
                sent_bytes: 1_448_000 + 28_000,
                received_bytes: 900 * (1_448 + 28),
                jitter: Some(Duration::from_micros(250)),
                goodput_byte_per_s: 900.0 * 1_448.0 / 2.0,
                lost: Vec::new(),
            }
        );
        assert_eq!(
            (
                reverse.name.as_str(),
                reverse.sent_packets,
                reverse.received_packets
            ),
            ("job reverse", 500, 500)
        );
        let (done, _) = taken(Iperf3Protocol::Udp, Iperf3Direction::Forward, UDP);
        assert_eq!(done.flows.len(), 1);
    }

    #[test]
    fn the_receivers_own_count_goes_before() {
        // iperf3 3.12, `-u -b 0 -w 4K -l 1000 -t 1`: 47 more were lost behind the last that arrived.
        let text = r#"{"end": {
            "sum": {"start": 0, "end": 1.000528, "seconds": 1.000528, "bytes": 414730000,
                "bits_per_second": 3317143399.886024, "jitter_ms": 0.002428571699546597, "lost_packets": 263103,
                "packets": 414730, "lost_percent": 63.4395872013117, "sender": true},
            "sum_sent": {"start": 0, "end": 1.00021, "seconds": 1.00021, "bytes": 414730000,
                "bits_per_second": 3317143399.886024, "jitter_ms": 0, "lost_packets": 0, "packets": 414730,
                "lost_percent": 0, "sender": true},
            "sum_received": {"start": 0, "end": 1.000528, "seconds": 1.000528, "bytes": 151580000,
                "bits_per_second": 1212000063.9662256, "jitter_ms": 0.002428571699546597, "lost_packets": 263103,
                "packets": 414683, "lost_percent": 63.4395872013117, "sender": false}
        }}"#;
        let (done, _) = taken(Iperf3Protocol::Udp, Iperf3Direction::Forward, text);
        let flow = &done.flows[0];
        assert_eq!(
            (flow.sent_packets, flow.received_packets),
            (414_730, 414_683 - 263_103)
        );
        assert_eq!(flow.sent_bytes, 414_730 * 1_028);
        assert_eq!(flow.received_bytes, 151_580 * 1_028);
        assert_eq!(flow.jitter, Some(Duration::from_nanos(2_429)));
        assert!((flow.goodput_byte_per_s - 151_580_000.0 / 1.000_528).abs() < 1.0);
    }

    #[test]
    fn both_ways_of_a_tcp_test_count() {
        let text = r#"{"end": {
            "sum_sent": {"seconds": 2, "bytes": 9000, "retransmits": 3},
            "sum_received": {"seconds": 2, "bytes": 8000},
            "sum_sent_bidir_reverse": {"seconds": 2, "bytes": 7000, "retransmits": 1},
            "sum_received_bidir_reverse": {"seconds": 2.5, "bytes": 6000}
        }}"#;
        let (done, _) = taken(Iperf3Protocol::Tcp, Iperf3Direction::Bidirectional, text);
        let told: Vec<_> = done
            .transfers
            .iter()
            .map(|one| {
                (
                    one.name.as_str(),
                    one.bytes,
                    one.retransmitted_segments,
                    one.complete,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("job", 8_000, Some(3), true),
                ("job reverse", 6_000, Some(1), true)
            ]
        );
    }

    #[test]
    fn what_iperf3_does_not_say_is_no_result() {
        for (protocol, text) in [
            (
                Iperf3Protocol::Tcp,
                r#"{"end": {}, "error": "unable to connect"}"#,
            ),
            (
                Iperf3Protocol::Udp,
                r#"{"end": {"sum": {"seconds": 1, "bytes": 9000, "packets": 9}}, "error": "interrupted"}"#,
            ),
            (Iperf3Protocol::Udp, r#"{"end": {"sum_received": 1}}"#),
            (Iperf3Protocol::Udp, "no JSON"),
        ] {
            let (done, _) = taken(protocol, Iperf3Direction::Forward, text);
            assert!(done.flows.is_empty(), "{text}");
            let [transfer] = done.transfers.as_slice() else {
                panic!("{text}: {:?}", done.transfers);
            };
            assert!(!transfer.complete && transfer.error.is_some(), "{text}");
            assert_eq!(transfer.bytes, 0, "{text}");
        }
    }
}

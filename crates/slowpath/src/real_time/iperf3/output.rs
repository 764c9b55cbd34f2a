//! What the JSON of the real iperf3 client says, as results of a run.
//!
//! The receiver's sums count. For UDP old versions write one sum for each way, whose bytes are the sender's;
//! what arrived are then its packets without the lost ones.

use serde_json::Value;
use slowpath_record::{FlowResult, TransferResult};
use slowpath_scenario::workload::{Iperf3Direction, Iperf3Protocol, Iperf3Test};
use slowpath_units::{Duration, Time};
use slowpath_workload::external::iperf3 as real;

use super::super::stage::Done;

/// Adds the results of a client that was spawned at `start`, under the job's name, and returns the end of the test.
pub(super) fn take(name: &str, start: Time, test: &Iperf3Test, stdout: &str, done: &mut Done) -> Time {
    let mut whole = real::result(start, stdout);
    name.clone_into(&mut whole.name);
    let ended = whole.end;
    let said: Value = serde_json::from_str(stdout).unwrap_or(Value::Null);
    let end = &said["end"];
    let mut ways = vec![(name.to_owned(), "")];
    if test.direction == Iperf3Direction::Bidirectional {
        ways.push((format!("{name} reverse"), "_bidir_reverse"));
    }
    if test.protocol == Iperf3Protocol::Tcp {
        let way_back = ways.get(1).filter(|_| whole.error.is_none());
        let reverse = way_back.map(|(name, suffix)| transfer(end, suffix, name, start));
        done.transfers.push(whole);
        done.transfers.extend(reverse);
        return ended;
    }
    // A test that failed is a transfer that did not come to its end; its bytes would be the sender's.
    whole.bytes = 0;
    if whole.error.is_some() {
        done.transfers.push(whole);
        return ended;
    }
    for (name, suffix) in ways {
        if let Some(flow) = flow(end, suffix, &name) {
            done.flows.push(flow);
        } else {
            done.transfers.push(unsaid(&name, start));
        }
    }
    ended
}

/// The sum called `kind` of the way with this suffix.
fn sum<'v>(end: &'v Value, kind: &str, suffix: &str) -> Option<&'v Value> {
    let sum = &end[format!("{kind}{suffix}").as_str()];
    sum.is_object().then_some(sum)
}

/// A count; below zero, as lost datagrams are after duplicates, is none.
fn count(sum: &Value, key: &str) -> u64 {
    let signed = sum[key].as_i64().unwrap_or(0);
    u64::try_from(signed).unwrap_or(0)
}

fn span(sum: &Value) -> Duration {
    let seconds = sum["seconds"].as_f64().unwrap_or(0.0);
    std::time::Duration::try_from_secs_f64(seconds)
        .unwrap_or_default()
        .into()
}

fn transfer(end: &Value, suffix: &str, name: &str, start: Time) -> TransferResult {
    let Some(received) = sum(end, "sum_received", suffix) else {
        return unsaid(name, start);
    };
    let sent = sum(end, "sum_sent", suffix);
    TransferResult {
        name: name.to_owned(),
        bytes: count(received, "bytes"),
        start,
        end: start + span(received),
        complete: true,
        error: None,
        retransmitted_segments: sent.and_then(|sum| sum["retransmits"].as_u64()),
    }
}

fn unsaid(name: &str, start: Time) -> TransferResult {
    TransferResult {
        name: name.to_owned(),
        bytes: 0,
        start,
        end: start,
        complete: false,
        error: Some("iperf3 wrote no result of this way".to_owned()),
        retransmitted_segments: None,
    }
}

/// All datagrams of one way.
fn flow(end: &Value, suffix: &str, name: &str) -> Option<FlowResult> {
    let both = sum(end, "sum", suffix);
    let receiver = sum(end, "sum_received", suffix);
    let sent = sum(end, "sum_sent", suffix).or(both)?;
    let received = receiver.or(both)?;
    let counted = count(received, "packets");
    let arrived = counted.saturating_sub(count(received, "lost_packets"));
    let payload = if receiver.is_some() {
        count(received, "bytes")
    } else {
        // Datagrams of one test have one length.
        let bytes = u128::from(count(received, "bytes")) * u128::from(arrived) / u128::from(counted.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    };
    let jitter = received["jitter_ms"].as_f64();
    let jitter = jitter.and_then(|ms| std::time::Duration::try_from_secs_f64(ms / 1e3).ok());
    let sent_packets = count(sent, "packets");
    Some(FlowResult {
        name: name.to_owned(),
        sent_packets,
        received_packets: arrived,
        sent_bytes: count(sent, "bytes") + sent_packets * HEADERS,
        received_bytes: payload + arrived * HEADERS,
        jitter: jitter.map(Duration::from),
        goodput_byte_per_s: payload as f64 / span(received).seconds().max(1e-9),
    })
}

/// Headers of IPv4 and UDP in bytes.
const HEADERS: u64 = 28;

#[cfg(test)]
mod tests {
    use slowpath_scenario::workload::Program;

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

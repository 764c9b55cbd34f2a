//! The account that each side sends to the other at the end.

use serde_json::{Value, json};
use slowpath_units::Duration;

use super::number::{integer, number};
use super::report::{RemoteStream, StreamReport, UdpCounts};
use super::wire::IperfError;

/// What one side tells besides its streams.
#[derive(Debug, Clone, Default)]
pub(super) struct Account {
    /// Percent of one processor.
    pub(super) cpu: f64,
    pub(super) congestion: Option<String>,
    pub(super) output: Option<String>,
}

/// Writes this side's account.
pub(super) fn to_json(streams: &[StreamReport], account: &Account) -> Value {
    let sends = streams.iter().any(|stream| stream.sends);
    let mut value = json!({
        "cpu_util_total": account.cpu,
        "cpu_util_user": account.cpu,
        "cpu_util_system": 0.0,
        "sender_has_retransmits": if sends && streams.iter().all(|stream| stream.tcp.is_some()) { 1 } else { -1 },
        "streams": streams.iter().map(stream_json).collect::<Vec<_>>(),
    });
    if let Some(congestion) = &account.congestion {
        value["congestion_used"] = json!(congestion);
    }
    if let Some(output) = &account.output {
        value["server_output_text"] = json!(output);
    }
    value
}

fn stream_json(stream: &StreamReport) -> Value {
    let udp = stream.udp.clone().unwrap_or_default();
    let omitted = stream.udp_omitted.clone().unwrap_or_default();
    let retransmits = match (&stream.tcp, stream.sends) {
        (Some(tcp), true) => i64::try_from(tcp.retransmits).unwrap_or(i64::MAX),
        _ => -1,
    };
    let mut value = json!({
        "id": stream.id,
        "bytes": stream.bytes,
        "retransmits": retransmits,
        "jitter": udp.jitter.seconds(),
        "errors": udp.lost + omitted.lost,
        "omitted_errors": omitted.lost,
        "packets": udp.packets + omitted.packets,
        "omitted_packets": omitted.packets,
        "start_time": 0,
        "end_time": stream.duration.seconds(),
    });
    if stream.udp.is_some() {
        value["slowpath"] = json!({
            "packets": udp.packets, "arrived": udp.arrived, "lost": udp.lost, "reordered": udp.reordered,
            "duplicates": udp.duplicates, "socket_drops": udp.socket_drops, "send_errors": udp.send_errors,
            "behind_nanos": udp.behind.nanos(),
            "jitter_nanos": udp.jitter.nanos(), "bursts": udp.bursts,
        });
    }
    value
}

/// Reads the other side's account into the streams of this side.
pub(super) fn read(value: &Value, streams: &mut [StreamReport]) -> Result<Account, IperfError> {
    let missing = |what: &'static str| IperfError::Protocol {
        expected: what,
        got: "results without it".to_owned(),
    };
    let cpu = value
        .get("cpu_util_total")
        .and_then(number)
        .ok_or_else(|| missing("cpu_util_total"))?;
    let told = value
        .get("streams")
        .and_then(Value::as_array)
        .ok_or_else(|| missing("streams"))?;
    for entry in told {
        let id = entry
            .get("id")
            .and_then(integer)
            .ok_or_else(|| missing("the id of a stream"))?;
        let stream = streams.iter_mut().find(|stream| i64::from(stream.id) == id);
        let stream = stream.ok_or_else(|| IperfError::Protocol {
            expected: "results of the streams of this test",
            got: format!("a stream with id {id}"),
        })?;
        let account = remote(entry, stream);
        stream.remote = Some(account);
    }
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let output = value
        .get("server_output_json")
        .map(Value::to_string)
        .or_else(|| text("server_output_text"));
    Ok(Account {
        cpu,
        congestion: text("congestion_used"),
        output,
    })
}

fn remote(entry: &Value, stream: &StreamReport) -> RemoteStream {
    let signed = |name: &str| entry.get(name).and_then(integer).unwrap_or(0);
    let count = |name: &str| u64::try_from(signed(name)).unwrap_or(0);
    let seconds = |name: &str| entry.get(name).and_then(number).and_then(seconds);
    // From 3.14 the other side says what it omitted; before, only this side's own count can be used.
    let omitted_packets = match entry.get("omitted_packets") {
        Some(value) => integer(value)
            .and_then(|value| u64::try_from(value).ok())
            .unwrap_or(0),
        None => stream.udp_omitted.as_ref().map_or(0, |udp| udp.packets),
    };
    RemoteStream {
        bytes: count("bytes"),
        retransmits: u64::try_from(signed("retransmits"))
            .ok()
            .filter(|_| !stream.sends),
        packets: count("packets").saturating_sub(omitted_packets),
        lost: count("errors").saturating_sub(count("omitted_errors")),
        jitter: seconds("jitter").unwrap_or_default(),
        duration: seconds("end_time")
            .zip(seconds("start_time"))
            .map(|(end, start)| end.saturating_sub(start)),
        udp: entry.get("slowpath").map(|own| {
            let count = |name: &str| {
                own.get(name)
                    .and_then(integer)
                    .and_then(|n| u64::try_from(n).ok())
                    .unwrap_or(0)
            };
            UdpCounts {
                packets: count("packets"),
                arrived: count("arrived"),
                lost: count("lost"),
                reordered: count("reordered"),
                duplicates: count("duplicates"),
                socket_drops: count("socket_drops"),
                send_errors: count("send_errors"),
                behind: Duration::from_nanos(count("behind_nanos")),
                jitter: Duration::from_nanos(count("jitter_nanos")),
                bursts: own
                    .get("bursts")
                    .and_then(|value| serde_json::from_value(value.clone()).ok())
                    .unwrap_or_default(),
            }
        }),
    }
}

/// Seconds as a span; nothing for what no clock can show.
fn seconds(seconds: f64) -> Option<Duration> {
    std::time::Duration::try_from_secs_f64(seconds)
        .ok()
        .map(Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(sends: bool) -> StreamReport {
        StreamReport {
            bytes: 14_000,
            duration: Duration::from_secs(1),
            udp: Some(UdpCounts {
                packets: 10,
                arrived: 8,
                lost: 2,
                ..UdpCounts::default()
            }),
            udp_omitted: Some(UdpCounts {
                packets: 5,
                lost: 1,
                ..UdpCounts::default()
            }),
            ..StreamReport::empty(1, sends)
        }
    }

    #[test]
    fn both_sides_understand_each_other() {
        let account = Account {
            cpu: 12.5,
            congestion: Some("cubic".to_owned()),
            output: Some("text".to_owned()),
        };
        let told = to_json(&[stream(false)], &account);
        let mut own = [stream(true)];
        let read = read(&told, &mut own).unwrap();
        assert_eq!(
            (read.congestion.as_deref(), read.output.as_deref()),
            (Some("cubic"), Some("text"))
        );
        let remote = own[0].remote.clone().unwrap();
        assert_eq!((remote.packets, remote.lost, remote.bytes), (10, 2, 14_000));
        assert_eq!(remote.udp.unwrap().arrived, 8);
    }

    #[test]
    fn a_server_of_3_12_omits_nothing() {
        // Its packets include the omitted ones, and -1 is written as 2^64 - 1.
        let text = r#"{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":18446744073709551615,
            "streams":[{"id":1,"bytes":14000,"retransmits":18446744073709551615,"jitter":1e-5,"errors":2,"packets":15,
            "start_time":0,"end_time":1.0}]}"#;
        let mut own = [stream(true)];
        read(&serde_json::from_str(text).unwrap(), &mut own).unwrap();
        let remote = own[0].remote.clone().unwrap();
        assert_eq!((remote.packets, remote.lost, remote.retransmits), (10, 2, None));
        assert_eq!(remote.jitter, Duration::from_micros(10));
    }

    #[test]
    fn mutated_results_do_no_harm() {
        let good = to_json(&[stream(false)], &Account::default()).to_string();
        for at in 0..good.len() {
            for byte in [b'0', b'9', b'-', b'"', b'{', b']', b'e', b' '] {
                let mut bytes = good.clone().into_bytes();
                bytes[at] = byte;
                if let Ok(value) = serde_json::from_slice::<Value>(&bytes) {
                    let _ = read(&value, &mut [stream(true)]);
                }
            }
        }
        for text in ["{}", "[]", "null", r#"{"cpu_util_total":1,"streams":[{"id":2}]}"#] {
            assert!(
                read(&serde_json::from_str(text).unwrap(), &mut [stream(true)]).is_err(),
                "{text}"
            );
        }
    }
}

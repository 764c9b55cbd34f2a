//! What the JSON of the real iperf3 client says, parsed once.
//!
//! The receiver's sums count. For UDP old versions write one sum for each way, whose bytes are the sender's;
//! what arrived are then its packets without the lost ones.

use std::net::IpAddr;

use serde_json::Value;
use slowpath_record::{FlowResult, SenderCount, TransferResult};
use slowpath_units::{Duration, Time};

/// The output of one client.
///
/// iperf3 ends with status 0 after some errors, so the output decides whether there is a result.
#[derive(Debug, Clone)]
pub struct Output {
    said: Value,
}

/// Which of the ways of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The only one, or of a bidirectional test that from the client to the server.
    First,
    /// Of a bidirectional test that from the server to the client.
    Back,
}

impl Way {
    const fn suffix(self) -> &'static str {
        match self {
            Self::First => "",
            Self::Back => "_bidir_reverse",
        }
    }
}

impl Output {
    /// Reads what the client wrote; what is no JSON is an output without results.
    pub fn parse(stdout: &str) -> Self {
        Self {
            said: serde_json::from_str(stdout).unwrap_or(Value::Null),
        }
    }

    /// What iperf3 itself calls an error.
    pub fn error(&self) -> Option<&str> {
        self.said["error"].as_str()
    }

    /// The payload that one way's receivers got, for a test that was started at `start`.
    ///
    /// Without a sum of this way, or after an error, the transfer is not complete.
    pub fn transfer(&self, way: Way, name: &str, start: Time) -> TransferResult {
        // Versions before 3.12 write only "sum" for UDP.
        let sum = self.sum("sum_received", way).or_else(|| self.sum("sum", way));
        let error = match (self.error(), sum) {
            (Some(error), _) => Some(error.to_owned()),
            (None, None) => Some("iperf3 wrote no result of this way".to_owned()),
            (None, Some(_)) => None,
        };
        TransferResult {
            name: name.to_owned(),
            bytes: sum.map_or(0, |sum| count(sum, "bytes")),
            start,
            end: start + sum.map_or(Duration::ZERO, span),
            complete: error.is_none(),
            error,
            retransmitted_segments: self
                .sum("sum_sent", way)
                .and_then(|sum| sum["retransmits"].as_u64()),
            sender: self.sum("sum_sent", way).map(|sum| SenderCount {
                bytes: count(sum, "bytes"),
                over: span(sum),
            }),
        }
    }

    /// All datagrams of one way, or nothing when iperf3 wrote no sums of it.
    pub fn flow(&self, way: Way, name: &str) -> Option<FlowResult> {
        let both = self.sum("sum", way);
        let receiver = self.sum("sum_received", way);
        let sent = self.sum("sum_sent", way).or(both)?;
        let received = receiver.or(both)?;
        let counted = count(received, "packets");
        let arrived = counted.saturating_sub(count(received, "lost_packets"));
        let payload = if receiver.is_some() {
            count(received, "bytes")
        } else {
            // Datagrams of one test have one length.
            let bytes =
                u128::from(count(received, "bytes")) * u128::from(arrived) / u128::from(counted.max(1));
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        let jitter = received["jitter_ms"].as_f64();
        let jitter = jitter.and_then(|ms| std::time::Duration::try_from_secs_f64(ms / 1e3).ok());
        let sent_packets = count(sent, "packets");
        let with_headers =
            |payload: u64, packets: u64| payload.saturating_add(packets.saturating_mul(self.headers()));
        Some(FlowResult {
            name: name.to_owned(),
            sent_packets,
            received_packets: arrived,
            sent_bytes: with_headers(count(sent, "bytes"), sent_packets),
            received_bytes: with_headers(payload, arrived),
            jitter: jitter.map(Duration::from),
            goodput_byte_per_s: payload as f64 / span(received).seconds().max(1e-9),
            lost: Vec::new(),
        })
    }

    /// Headers of IP and UDP in bytes, by the peer of the first connection.
    fn headers(&self) -> u64 {
        let peer = self.said["start"]["connected"][0]["remote_host"].as_str();
        let address = peer.and_then(|peer| peer.parse::<IpAddr>().ok());
        match address.map(|address| address.to_canonical()) {
            Some(IpAddr::V6(_)) => 48,
            _ => 28,
        }
    }

    /// The sum called `kind` of one way.
    fn sum(&self, kind: &str, way: Way) -> Option<&Value> {
        let sum = &self.said["end"][format!("{kind}{}", way.suffix()).as_str()];
        sum.is_object().then_some(sum)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_errors() {
        let text = r#"{"end":{"sum_sent":{"retransmits":3},"sum_received":{"bytes":1000,"seconds":2.5}}}"#;
        let good = Output::parse(text).transfer(Way::First, "job", Time::ZERO);
        assert_eq!(
            (good.bytes, good.complete, good.retransmitted_segments),
            (1000, true, Some(3))
        );
        assert_eq!(good.duration(), Duration::from_millis(2500));
        let bad = Output::parse(r#"{"start":{},"end":{},"error":"unable to connect"}"#);
        assert_eq!(bad.error(), Some("unable to connect"));
        let bad = bad.transfer(Way::First, "job", Time::ZERO);
        assert_eq!(
            (bad.error.as_deref(), bad.complete),
            (Some("unable to connect"), false)
        );
        assert!(!Output::parse("").transfer(Way::First, "job", Time::ZERO).complete);
        assert!(
            !Output::parse(text)
                .transfer(Way::Back, "job", Time::ZERO)
                .complete
        );
    }

    #[test]
    fn hostile_numbers_do_no_harm() {
        let sum = |key: &str, value: &str| {
            let mut entries = [
                ("seconds", "1.5"),
                ("bytes", "9000"),
                ("packets", "9"),
                ("lost_packets", "1"),
            ];
            if let Some(entry) = entries.iter_mut().find(|(name, _)| *name == key) {
                entry.1 = value;
            }
            let entries: Vec<String> = entries
                .iter()
                .map(|(name, value)| format!("\"{name}\":{value}"))
                .collect();
            format!("{{{}}}", entries.join(","))
        };
        for key in ["seconds", "bytes", "packets", "lost_packets"] {
            for value in [
                "-1",
                "0",
                "1e400",
                "1e300",
                "9223372036854775807",
                "18446744073709551615",
                "\"9\"",
                "[]",
            ] {
                let text = format!(r#"{{"end":{{"sum":{0},"sum_received":{0}}}}}"#, sum(key, value));
                let output = Output::parse(&text);
                let flow = output.flow(Way::First, "job");
                assert!(
                    flow.is_none_or(|flow| flow.goodput_byte_per_s.is_finite()),
                    "{text}"
                );
                output.transfer(Way::First, "job", Time::ZERO);
            }
        }
    }
}

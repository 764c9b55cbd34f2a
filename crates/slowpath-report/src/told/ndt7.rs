//! ndt7: what the server's kernel told of the connection (`TCPInfo`, `BBRInfo`), as `ndt7-client -format json` prints it line by
//! line, or as the server archives it.
//!
//! Early versions of NDT named a limit for every test and were often wrong. Here a limit is named where the kernel's account leaves
//! nothing else, and it is said to be open otherwise. In a download the server sends, and its account is the sender's; in an upload
//! it is the receiver's, which does not tell what held the sender.
//!
//! Sources: `spec/ndt7-protocol.md` and `spec/data-format.md` of m-lab/ndt-server, `cmd/ndt7-client` of m-lab/ndt7-client-go,
//! `tcp_get_info` in Linux's `net/ipv4/tcp.c`. Times are microseconds since the test began, rates bytes a second.

use serde_json::Value;
use slowpath_diagnose::stats::Summary;
use slowpath_verdict::Limit;
use slowpath_words::{english, english_word};

use super::{SCHEMA, Told, ToldError};
use crate::quantity;

/// Whether a text is a result of ndt7, whole or damaged behind its begin.
pub fn is_ndt7(text: &str) -> bool {
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        return is_archive(&document) || is_event(&document);
    }
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    serde_json::from_str(first).is_ok_and(|line| is_event(&line))
}

fn is_archive(document: &Value) -> bool {
    ["Download", "Upload"]
        .iter()
        .any(|test| document[test]["ServerMeasurements"].is_array())
        || (document.get("GitShortCommit").is_some() && document.get("ClientIP").is_some())
}

fn is_event(line: &Value) -> bool {
    let key = line["Key"].as_str();
    key.is_some_and(|key| EVENTS.contains(&key)) && line.get("Value").is_some()
}

/// Reads what the client printed or what the server archived: the download first, and an upload beside it.
///
/// # Errors
/// [`ToldError`].
pub fn read(text: &str) -> Result<Told, ToldError> {
    let tests = match serde_json::from_str::<Value>(text) {
        Ok(document) if is_archive(&document) => archived(&document),
        _ => printed(text)?,
    };
    let mut told = tests.iter().filter_map(Test::told);
    let mut first = told
        .next()
        .ok_or_else(|| ToldError::Ndt7(english_word!("told-ndt7-no-measurements").to_owned()))?;
    first.also = told.collect();
    Ok(first)
}

/// One direction of a test.
#[derive(Debug, Default)]
struct Test {
    download: bool,
    tool: String,
    /// Whether the server itself wrote the result.
    archived: bool,
    server: Vec<Value>,
    client: Vec<Value>,
    /// What the client said of a test that failed.
    failure: Option<String>,
}

fn archived(document: &Value) -> Vec<Test> {
    let version = document["Version"].as_str().unwrap_or_default();
    let list = |test: &Value, name: &str| test[name].as_array().cloned().unwrap_or_default();
    [("Download", true), ("Upload", false)]
        .into_iter()
        .filter(|(name, _)| document[*name].is_object())
        .map(|(name, download)| Test {
            download,
            tool: format!("ndt-server {version}").trim_end().to_owned(),
            archived: true,
            server: list(&document[name], "ServerMeasurements"),
            client: list(&document[name], "ClientMeasurements"),
            failure: None,
        })
        .collect()
}

/// The client's events, one a line; a last line that breaks off is left out.
fn printed(text: &str) -> Result<Vec<Test>, ToldError> {
    let mut tests: [Test; 2] = [true, false].map(|download| Test {
        download,
        tool: "ndt7-client".to_owned(),
        ..Test::default()
    });
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    for (index, line) in lines.iter().enumerate() {
        let event: Value = match serde_json::from_str(line) {
            Ok(event) => event,
            Err(_) if index + 1 == lines.len() && index > 0 => break,
            Err(error) => {
                return Err(ToldError::Ndt7(english!(
                    "told-ndt7-line-no-json",
                    line = index + 1,
                    error = error
                )));
            }
        };
        let value = &event["Value"];
        let test = match value["Test"].as_str() {
            Some("download") => &mut tests[0],
            Some("upload") => &mut tests[1],
            _ => continue,
        };
        match (event["Key"].as_str(), value["Origin"].as_str()) {
            (Some("measurement"), Some("server")) => test.server.push(value.clone()),
            (Some("measurement"), Some("client")) => test.client.push(value.clone()),
            (Some("error"), _) => test.failure = value["Failure"].as_str().map(str::to_owned),
            _ => {}
        }
    }
    let moved = |test: &Test| !test.server.is_empty() || !test.client.is_empty();
    if !tests.iter().any(moved)
        && let Some(failure) = tests.iter().find_map(|test| test.failure.clone())
    {
        return Err(ToldError::Ndt7(english!("told-ndt7-failed", failure = failure)));
    }
    Ok(tests.into_iter().filter(moved).collect())
}

/// One look of the server's kernel.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// Seconds since the begin.
    at: f64,
    acked: f64,
    received: f64,
    rtt_s: f64,
    least_rtt_s: f64,
    busy_s: f64,
    window_s: f64,
    buffer_s: f64,
    sent: f64,
    again: f64,
    /// Bytes on their way.
    flight: f64,
    /// BBR's bandwidth, byte/s.
    bbr: Option<f64>,
}

fn look(measurement: &Value) -> Option<Look> {
    let info = &measurement["TCPInfo"];
    let micro = |name: &str| number(&info[name]).map(|value| value / 1e6);
    Some(Look {
        at: micro("ElapsedTime")?,
        acked: number(&info["BytesAcked"]).unwrap_or(0.0),
        received: number(&info["BytesReceived"]).unwrap_or(0.0),
        rtt_s: micro("RTT").unwrap_or(0.0),
        least_rtt_s: micro("MinRTT").unwrap_or(0.0),
        busy_s: micro("BusyTime")?,
        window_s: micro("RWndLimited")?,
        buffer_s: micro("SndBufLimited")?,
        sent: number(&info["BytesSent"]).unwrap_or(0.0),
        again: number(&info["BytesRetrans"]).unwrap_or(0.0),
        flight: number(&info["Unacked"]).unwrap_or(0.0) * number(&info["SndMSS"]).unwrap_or(0.0),
        bbr: number(&measurement["BBRInfo"]["BW"]).filter(|rate| *rate > 0.0),
    })
}

struct Finding {
    limit: Limit,
    sentence: String,
    next: &'static str,
}

impl Test {
    fn told(&self) -> Option<Told> {
        let mut looks: Vec<Look> = self.server.iter().filter_map(look).collect();
        looks.sort_by(|a, b| a.at.total_cmp(&b.at));
        let client = self.client.iter().filter_map(|one| {
            let app = &one["AppInfo"];
            let at = number(&app["ElapsedTime"])? / 1e6;
            (at > 0.0).then_some((at, number(&app["NumBytes"])?))
        });
        let client = client.fold(
            (0.0, 0.0),
            |most: (f64, f64), one| if one.0 > most.0 { one } else { most },
        );
        let last = looks.last().copied();
        let seconds = last.map_or(client.0, |last| last.at);
        if seconds <= 0.0 {
            return None;
        }
        let by_server =
            last.map(|last| (if self.download { last.acked } else { last.received }) * 8.0 / last.at);
        let by_client = (client.0 > 0.0).then(|| client.1 * 8.0 / client.0);
        // What arrived is told by who received.
        let (received, sent) = if self.download {
            (by_client.or(by_server), by_server.or(by_client))
        } else {
            (by_server.or(by_client), by_client.or(by_server))
        };
        let (received, sent) = (received.unwrap_or(0.0), sent.unwrap_or(0.0));
        let finding = match (self.download, seconds < LEAST_S) {
            (_, true) => open(received, english_word!("told-ndt7-too-short")),
            (true, false) => download(&looks, received),
            (false, false) => open(received, english_word!("told-ndt7-client-sent")),
        };
        Some(Told {
            schema: SCHEMA,
            tool: self.tool.clone(),
            transport: "tcp",
            sent_here: self.download == self.archived,
            streams: 1,
            seconds,
            received_bit_per_s: received,
            sent_bit_per_s: sent,
            limit: finding.limit,
            sentence: finding.sentence,
            evidence: evidence(&looks, self.download, by_server, by_client),
            next_step: Some(finding.next.to_owned()),
            also: Vec::new(),
        })
    }
}

fn open(received: f64, why: &str) -> Finding {
    Finding {
        limit: Limit::Unknown,
        sentence: english!(
            "told-ndt7-open",
            received = quantity::bit_rate(received),
            why = why
        ),
        next: english_word!("told-ndt7-take-packets"),
    }
}

/// What held a download, of which the server's kernel saw everything but the client.
fn download(looks: &[Look], received: f64) -> Finding {
    let steady = &looks[looks.len() / 4..];
    let ends = steady.first().zip(steady.last());
    let Some((first, last)) =
        ends.filter(|(first, last)| steady.len() >= LEAST_LOOKS && last.at - first.at >= LEAST_S / 2.0)
    else {
        return open(received, english_word!("told-ndt7-too-few-looks"));
    };
    let elapsed = last.at - first.at;
    let busy = last.busy_s - first.busy_s;
    let (window, buffer) = (last.window_s - first.window_s, last.buffer_s - first.buffer_s);
    // The kernel counts both inside the busy time, all in jiffies.
    let is_sound = busy > 0.0
        && busy <= elapsed * (1.0 + SLACK) + SLACK_S
        && window >= 0.0
        && buffer >= 0.0
        && window + buffer <= busy * (1.0 + SLACK) + SLACK_S;
    let (idle, path) = (1.0 - busy / elapsed, (busy - window - buffer).max(0.0) / elapsed);
    let (window, buffer) = (window / elapsed, buffer / elapsed);
    if !is_sound && busy != 0.0 {
        return open(received, english_word!("told-ndt7-contradicts"));
    }
    let rtts: Vec<f64> = steady
        .iter()
        .map(|look| look.rtt_s)
        .filter(|rtt| *rtt > 0.0)
        .collect();
    let least = looks
        .iter()
        .map(|look| look.least_rtt_s)
        .filter(|rtt| *rtt > 0.0)
        .fold(f64::INFINITY, f64::min);
    let rtt = rtts.iter().sum::<f64>() / rtts.len().max(1) as f64;
    if rtts.is_empty() || !least.is_finite() {
        return open(received, english_word!("told-ndt7-no-round-trips"));
    }
    let queues = rtt > least * QUEUES || rtt - least > QUEUE_S;
    let rate = (last.acked - first.acked) * 8.0 / elapsed;
    if idle >= HELD {
        return Finding {
            limit: Limit::SenderApplication,
            sentence: english!("told-ndt7-server-idle", share = quantity::percent(idle)),
            next: english_word!("told-ndt7-other-server"),
        };
    }
    if window >= HELD {
        return by_window(steady, rtt, rate, window, queues, received);
    }
    if buffer >= HELD {
        return Finding {
            limit: Limit::SendBuffer,
            sentence: english!("told-ndt7-send-buffer", share = quantity::percent(buffer)),
            next: english_word!("told-ndt7-other-server"),
        };
    }
    if path < HELD {
        return open(received, english_word!("told-ndt7-mixed"));
    }
    let again = last.again - first.again;
    let again = again / (last.sent - first.sent).max(1.0);
    by_path(steady, (least, rtt), rate, again, received, queues)
}

/// The receiver's window was full most of the time: a small one, or one that nobody empties.
fn by_window(steady: &[Look], rtt: f64, rate: f64, share: f64, queues: bool, received: f64) -> Finding {
    let flights: Vec<f64> = steady
        .iter()
        .map(|look| look.flight)
        .filter(|bytes| *bytes > 0.0)
        .collect();
    let flight = Summary::of(&flights).filter(|flight| flight.n >= LEAST_LOOKS);
    let constant = flight
        .filter(|flight| flight.deviation.unwrap_or(f64::INFINITY) < EVEN * flight.mean)
        .map(|flight| flight.mean);
    // A window is small where all of it goes through in each round trip; with a reader that is slow it waits.
    let through = constant.filter(|bytes| (THROUGH..1.0 / THROUGH).contains(&(rate / 8.0 * rtt / bytes)));
    match through {
        Some(_) if queues => open(received, english_word!("told-ndt7-window-and-queue")),
        Some(bytes) => Finding {
            limit: Limit::ReceiverWindow,
            sentence: english!(
                "told-ndt7-window",
                window = quantity::bytes(bytes),
                rtt = quantity::seconds(rtt),
                share = quantity::percent(share)
            ),
            next: english_word!("told-ndt7-larger-window"),
        },
        None => open(received, english_word!("told-ndt7-window-or-reader")),
    }
}

/// The congestion window was full most of the time: a link that is full, or losses.
fn by_path(
    steady: &[Look],
    (least, rtt): (f64, f64),
    rate: f64,
    again: f64,
    received: f64,
    queues: bool,
) -> Finding {
    let full = |sentence: String| Finding {
        limit: Limit::BottleneckBandwidth,
        sentence,
        next: english_word!("told-ndt7-link-or-others"),
    };
    let rates: Vec<f64> = steady
        .windows(2)
        .filter(|pair| pair[1].at > pair[0].at)
        .map(|pair| (pair[1].acked - pair[0].acked) / (pair[1].at - pair[0].at))
        .collect();
    let even = Summary::of(&rates).is_some_and(|rates| rates.deviation.unwrap_or(0.0) < UNEVEN * rates.mean);
    let bandwidth: Vec<f64> = steady.iter().filter_map(|look| look.bbr).collect();
    if !bandwidth.is_empty() {
        let bandwidth = bandwidth.iter().sum::<f64>() / bandwidth.len() as f64 * 8.0;
        if again >= POLICED_LOSS {
            return open(
                received,
                &english!("told-ndt7-drops-above", share = quantity::percent(again)),
            );
        }
        if (BBR_RATE..1.0 / BBR_RATE).contains(&(rate / bandwidth)) && even {
            return full(english!(
                "told-ndt7-bbr-full",
                bandwidth = quantity::bit_rate(bandwidth),
                rate = quantity::bit_rate(rate)
            ));
        }
        return open(received, english_word!("told-ndt7-bbr-uneven"));
    }
    if queues && even {
        return full(english!(
            "told-ndt7-full",
            rate = quantity::bit_rate(rate),
            least = quantity::seconds(least),
            rtt = quantity::seconds(rtt)
        ));
    }
    if again >= LEAST_LOSS {
        return open(
            received,
            &english!("told-ndt7-losses", share = quantity::percent(again)),
        );
    }
    open(received, english_word!("told-ndt7-grows"))
}

/// The figures of the server's kernel, and both ends' rates.
fn evidence(looks: &[Look], download: bool, server: Option<f64>, client: Option<f64>) -> Vec<String> {
    let mut list = Vec::new();
    if let (Some(server), Some(client)) = (server, client) {
        list.push(english!(
            "told-ndt7-both-rates",
            server = quantity::bit_rate(server),
            client = quantity::bit_rate(client)
        ));
    }
    let Some(last) = looks.last().filter(|_| download) else {
        return list;
    };
    if last.at > 0.0 {
        list.push(english!(
            "told-ndt7-account",
            busy = quantity::percent(last.busy_s / last.at),
            window = quantity::percent(last.window_s / last.at),
            buffer = quantity::percent(last.buffer_s / last.at)
        ));
    }
    if last.least_rtt_s > 0.0 && last.rtt_s > 0.0 {
        list.push(english!(
            "told-ndt7-trips",
            least = quantity::seconds(last.least_rtt_s),
            rtt = quantity::seconds(last.rtt_s)
        ));
    }
    if last.sent > 0.0 {
        list.push(english!(
            "told-ndt7-again",
            share = quantity::percent(last.again / last.sent)
        ));
    }
    list
}

fn number(value: &Value) -> Option<f64> {
    value
        .as_f64()
        .filter(|number| number.is_finite() && *number >= 0.0)
}

/// Keys of the events that the client prints.
const EVENTS: [&str; 5] = ["starting", "connected", "measurement", "complete", "error"];
/// Tests that last less say little: their start is most of them.
const LEAST_S: f64 = 3.0;
/// Looks below which a course cannot be seen.
const LEAST_LOOKS: usize = 5;
/// Part of the time from which on one thing held it.
const HELD: f64 = 0.7;
/// What sums may miss by, for looks are not taken at one instant: a part, and seconds.
const SLACK: f64 = 0.05;
const SLACK_S: f64 = 0.1;
/// Round trips that grow by this factor show a queue, or a reader that is late,
const QUEUES: f64 = 1.25;
/// and so do those that grow by so much, seconds.
const QUEUE_S: f64 = 0.02;
/// Spread of the bytes on their way under a window that does not change.
const EVEN: f64 = 0.1;
/// Spread of the rate over a full link, quarter second by quarter second.
const UNEVEN: f64 = 0.25;
/// How nearly the whole window must go through in a round trip.
const THROUGH: f64 = 0.8;
/// How near the rate must come to the bandwidth that BBR holds the path to have.
const BBR_RATE: f64 = 0.8;
/// Share sent again under BBR that a full link with a queue does not need.
const POLICED_LOSS: f64 = 0.03;
/// Share sent again from which on losses are worth speaking of.
const LEAST_LOSS: f64 = 0.0002;

//! `iperf3 -J`: rates of each interval, and of a TCP sender its windows, round trips and retransmissions.

use serde_json::Value;
use slowpath_diagnose::stats::Summary;
use slowpath_verdict::Limit;
use slowpath_words::{english, english_word};

use super::{SCHEMA, Told, ToldError};
use crate::quantity;

/// Reads the result of an iperf3 client or server.
///
/// # Errors
/// [`ToldError`].
pub fn read(text: &str) -> Result<Told, ToldError> {
    let document: Value = serde_json::from_str(text).map_err(|error| {
        let line = error.line();
        ToldError::Json(if error.is_eof() {
            english!("told-iperf3-breaks-off-line-as-while", line = line)
        } else {
            english!(
                "told-iperf3-line-column-no-json",
                line = line,
                column = error.column()
            )
        })
    })?;
    let (Some(start), Some(end)) = (document.get("start"), document.get("end")) else {
        if let Some(error) = document.get("error").and_then(Value::as_str) {
            return Err(ToldError::Failed(error.to_owned()));
        }
        return Err(ToldError::Other(english_word!("told-iperf3-has-no-start-end")));
    };
    let test = &start["test_start"];
    let is_udp = test["protocol"].as_str() == Some("UDP");
    let received = rate(&end["sum_received"]).or_else(|| rate(&end["sum"]));
    let sent = rate(&end["sum_sent"]).or_else(|| rate(&end["sum"]));
    let (Some(received), Some(sent)) = (received, sent) else {
        if let Some(error) = document.get("error").and_then(Value::as_str) {
            return Err(ToldError::Failed(error.to_owned()));
        }
        return Err(ToldError::Other(english_word!(
            "told-iperf3-its-end-holds-no-rates"
        )));
    };
    let looks = looks(&document);
    let streams = test["num_streams"]
        .as_u64()
        .and_then(|count| usize::try_from(count).ok());
    let seen = Seen {
        received,
        sent,
        streams: streams.unwrap_or(1).max(1),
        seconds: number(&end["sum_sent"]["seconds"])
            .or_else(|| number(&end["sum"]["seconds"]))
            .unwrap_or(0.0),
        sent_here: looks.iter().any(|look| look.sends) || test["reverse"].as_u64() == Some(0),
        target: number(&test["target_bitrate"])
            .or_else(|| number(&start["target_bitrate"]))
            .filter(|rate| *rate > 0.0),
        retransmits: number(&end["sum_sent"]["retransmits"]),
        mss: number(&start["tcp_mss_default"])
            .or_else(|| number(&start["tcp_mss"]))
            .unwrap_or(1448.0),
        // Linux doubles what is asked for and keeps half of it for its own use.
        send_buffer: number(&start["sndbuf_actual"]).filter(|bytes| *bytes > 0.0 && asked_for_buffer(start)),
        processors: [
            number(&end["cpu_utilization_percent"]["host_total"]).unwrap_or(0.0),
            number(&end["cpu_utilization_percent"]["remote_total"]).unwrap_or(0.0),
        ],
        looks,
        rates: rates(&document),
    };
    let lost = &end["sum"];
    let finding = if is_udp {
        udp(&seen, number(&lost["lost_percent"]), number(&lost["jitter_ms"]))
    } else {
        tcp(&seen)
    };
    let mut evidence = finding.evidence;
    if !is_udp {
        evidence.insert(0, counted(&seen));
    }
    Ok(Told {
        schema: SCHEMA,
        tool: start["version"].as_str().unwrap_or("iperf3").to_owned(),
        transport: if is_udp { "udp" } else { "tcp" },
        sent_here: seen.sent_here,
        streams: seen.streams,
        seconds: seen.seconds,
        received_bit_per_s: seen.received,
        sent_bit_per_s: seen.sent,
        limit: finding.limit,
        sentence: finding.sentence,
        evidence,
        next_step: finding.next_step,
        also: Vec::new(),
    })
}

/// The figures of a result, in bit/s, bytes and seconds.
struct Seen {
    received: f64,
    sent: f64,
    streams: usize,
    seconds: f64,
    sent_here: bool,
    target: Option<f64>,
    retransmits: Option<f64>,
    mss: f64,
    send_buffer: Option<f64>,
    /// Of one processor, here and at the other end, per cent.
    processors: [f64; 2],
    looks: Vec<Look>,
    /// Of each interval, all streams together, bit/s.
    rates: Vec<f64>,
}

/// One interval of one stream at its sender.
#[derive(Debug, Clone, Copy, Default)]
struct Look {
    sends: bool,
    rtt_s: f64,
    cwnd: f64,
    window: Option<f64>,
}

struct Finding {
    limit: Limit,
    sentence: String,
    evidence: Vec<String>,
    next_step: Option<String>,
}

impl Finding {
    fn new(limit: Limit, sentence: String) -> Self {
        Self {
            limit,
            sentence,
            evidence: Vec::new(),
            next_step: None,
        }
    }

    fn because(mut self, evidence: String) -> Self {
        self.evidence.push(evidence);
        self
    }

    fn also(mut self, more: &str) -> Self {
        self.sentence.push_str(more);
        self
    }

    fn next(mut self, step: &str) -> Self {
        self.next_step = Some(step.to_owned());
        self
    }
}

fn tcp(seen: &Seen) -> Finding {
    let got = quantity::bit_rate(seen.received);
    for (share, whose) in seen.processors.iter().zip([
        english_word!("told-iperf3-host"),
        english_word!("told-iperf3-other-end"),
    ]) {
        if *share >= BUSY {
            return Finding::new(
                Limit::HostCpu,
                english!(
                    "told-iperf3-processor-busy-test-may-limit",
                    whose = whose,
                    share = format_args!("{:.0}", share)
                ),
            )
            .next(english_word!("told-iperf3-let-several-iperf-run-once"));
        }
    }
    if let Some(target) = seen.target {
        let asked = target * seen.streams as f64;
        if seen.received >= asked * AS_ASKED {
            return Finding::new(
                Limit::SenderApplication,
                english!(
                    "told-iperf3-test-itself-limit-asked-b",
                    asked = quantity::bit_rate(asked),
                    got = got
                ),
            )
            .next(english_word!("told-iperf3-leave-b-out-see-what"));
        }
    }
    if !seen.sent_here {
        return unseen(seen);
    }
    let steady = steady(&seen.looks);
    let rtts: Vec<f64> = steady
        .iter()
        .map(|look| look.rtt_s)
        .filter(|rtt| *rtt > 0.0)
        .collect();
    if rtts.is_empty() {
        return open(seen, english_word!("told-iperf3-result-holds-no-round-trips"));
    }
    let least_rtt = seen
        .looks
        .iter()
        .map(|look| look.rtt_s)
        .filter(|rtt| *rtt > 0.0)
        .fold(f64::INFINITY, f64::min);
    let most_rtt = rtts.iter().copied().fold(0.0, f64::max);
    let mean = |value: fn(&Look) -> f64| steady.iter().map(value).sum::<f64>() / steady.len() as f64;
    let (rtt, cwnd) = (mean(|look| look.rtt_s), mean(|look| look.cwnd));
    // What one stream had on its way, by what arrived: the sender's own figure counts what its socket took.
    let rate = seen.received / seen.streams as f64;
    let flight = rate / 8.0 * rtt;
    let trips = english!(
        "told-iperf3-round-trips-congestion-window-on",
        least_rtt = quantity::seconds(least_rtt),
        most_rtt = quantity::seconds(most_rtt),
        cwnd = quantity::bytes(cwnd)
    );
    let windows: Vec<f64> = steady
        .iter()
        .filter_map(|look| look.window)
        .filter(|window| *window > 0.0)
        .collect();
    let window = (!windows.is_empty()).then(|| windows.iter().sum::<f64>() / windows.len() as f64);
    if let Some(window) = window.filter(|window| *window < cwnd && flight >= FILLED * window) {
        return Finding::new(
            Limit::ReceiverWindow,
            english!(
                "told-iperf3-receivers-window-limits-each-round",
                window = quantity::bytes(window),
                rtt = quantity::seconds(rtt),
                rtt2 = quantity::bit_rate(window * 8.0 / rtt)
            ),
        )
        .because(trips)
        .next(english_word!("told-iperf3-give-receiving-end-larger-buffer"));
    }
    if let Some(buffer) = seen
        .send_buffer
        .filter(|buffer| flight <= *buffer && flight >= HALF_FILLED * buffer && buffer / 2.0 < cwnd)
    {
        return Finding::new(
            Limit::SendBuffer,
            english!(
                "told-iperf3-senders-socket-buffer-limits-on",
                flight = quantity::bytes(flight),
                buffer = quantity::bytes(buffer),
                rtt = quantity::seconds(rtt)
            ),
        )
        .because(trips)
        .next(english_word!("told-iperf3-leave-w-out-make-larger"));
    }
    let again = seen
        .retransmits
        .map(|count| count * seen.mss / (seen.sent / 8.0 * seen.seconds).max(1.0));
    let grows = most_rtt > least_rtt * QUEUES || most_rtt - least_rtt > QUEUE_S;
    if grows && is_even(&seen.rates[seen.rates.len() / 4..]) {
        return Finding::new(
            Limit::BottleneckBandwidth,
            english!(
                "told-iperf3-path-full-arrive-whatever-sent",
                got = got,
                least_rtt = quantity::seconds(least_rtt),
                most_rtt = quantity::seconds(most_rtt)
            ),
        )
        .because(trips)
        .next(english_word!("told-iperf3-whether-link-others-on-slowpath"));
    }
    if let Some(share) = again.filter(|share| *share >= LEAST_LOSS) {
        return Finding::new(
            Limit::Unknown,
            english!(
                "told-iperf3-losses-hold-back-segments-sent",
                share = quantity::percent(share)
            ),
        )
        .because(trips)
        .next(english_word!("told-iperf3-slowpath-diagnose-iperf-host-tells"));
    }
    open(seen, english_word!("told-iperf3-no-window-buffer-queue-loss")).because(trips)
}

fn udp(seen: &Seen, lost: Option<f64>, jitter_ms: Option<f64>) -> Finding {
    let (got, given) = (quantity::bit_rate(seen.received), quantity::bit_rate(seen.sent));
    let jitter = jitter_ms.map_or(String::new(), |jitter| {
        english!("told-iperf3-jitter", jitter = quantity::seconds(jitter / 1e3))
    });
    match lost {
        Some(lost) if lost >= SOME_LOST => Finding::new(
            Limit::Unknown,
            english!(
                "told-iperf3-sent-arrived-datagrams-lost",
                given = given,
                got = got,
                lost = format_args!("{:.2}", lost),
                jitter = jitter
            ),
        )
        .because(english_word!("told-iperf3-iperf-does-not-say-where").to_owned())
        .next(english_word!("told-iperf3-slowpath-measure-iperf-host-u")),
        Some(_) => Finding::new(
            Limit::SenderApplication,
            english!(
                "told-iperf3-test-itself-limit-arrived-asked",
                got = got,
                given = given,
                jitter = jitter
            ),
        )
        .next(english_word!("told-iperf3-ask-more-b-see-what")),
        None => open(seen, english_word!("told-iperf3-result-does-not-say-how")),
    }
}

fn unseen(seen: &Seen) -> Finding {
    let again = seen.retransmits.map_or(String::new(), |count| {
        english!(
            "told-iperf3-sender-sent-segments-again",
            count = format_args!("{:.0}", count)
        )
    });
    open(seen, english_word!("told-iperf3-other-end-sent-its-windows")).also(&again)
}

fn open(seen: &Seen, why: &str) -> Finding {
    Finding::new(
        Limit::Unknown,
        english!(
            "told-iperf3-what-limited-cannot-told",
            received = quantity::bit_rate(seen.received),
            why = why
        ),
    )
    .next(english_word!("told-iperf3-slowpath-diagnose-iperf-host-watches"))
}

/// What arrived against what the sender says.
fn counted(seen: &Seen) -> String {
    let got = quantity::bit_rate(seen.received);
    let more = seen.sent / seen.received.max(1.0) - 1.0;
    if more < 0.01 {
        return english!("told-iperf3-arrived-sender-says-same", got = got);
    }
    english!(
        "told-iperf3-arrived-senders-own-figure-higher",
        got = got,
        sent = quantity::bit_rate(seen.sent),
        more = quantity::percent(more)
    )
}

/// Whether rates differ by little.
fn is_even(rates: &[f64]) -> bool {
    Summary::of(rates).is_some_and(|rates| rates.deviation.unwrap_or(0.0) < EVEN * rates.mean)
}

/// The looks after the start: the first quarter of the intervals shows how the windows grew.
fn steady(looks: &[Look]) -> Vec<Look> {
    let sending: Vec<Look> = looks.iter().copied().filter(|look| look.sends).collect();
    sending[sending.len() / 4..].to_vec()
}

/// Every interval of every stream, in time.
fn looks(document: &Value) -> Vec<Look> {
    intervals(document)
        .iter()
        .flat_map(|interval| interval["streams"].as_array().map_or(&[][..], Vec::as_slice))
        .filter(|stream| stream["omitted"].as_bool() != Some(true))
        .map(|stream| Look {
            sends: stream["sender"]
                .as_bool()
                .unwrap_or_else(|| stream.get("snd_cwnd").is_some()),
            rtt_s: number(&stream["rtt"]).unwrap_or(0.0) / 1e6,
            cwnd: number(&stream["snd_cwnd"]).unwrap_or(0.0),
            window: number(&stream["snd_wnd"]),
        })
        .collect()
}

fn intervals(document: &Value) -> &[Value] {
    document["intervals"].as_array().map_or(&[], Vec::as_slice)
}

/// The rate of every interval that counts, all streams together.
fn rates(document: &Value) -> Vec<f64> {
    intervals(document)
        .iter()
        .map(|interval| &interval["sum"])
        .filter(|sum| sum["omitted"].as_bool() != Some(true))
        .filter_map(rate)
        .collect()
}

/// Whether the test set the buffers; else they grow, and what they were at the beginning says nothing.
fn asked_for_buffer(start: &Value) -> bool {
    number(&start["sock_bufsize"]).is_some_and(|bytes| bytes > 0.0)
}

fn rate(sum: &Value) -> Option<f64> {
    number(&sum["bits_per_second"])
}

fn number(value: &Value) -> Option<f64> {
    value
        .as_f64()
        .filter(|number| number.is_finite() && *number >= 0.0)
}

/// From this share of a processor on, per cent, the host and not the path may be the limit.
const BUSY: f64 = 90.0;
/// Share of the rate asked for from which on that is what limits.
const AS_ASKED: f64 = 0.97;
/// Share of a window that must have been on its way, for the window to be what limits.
const FILLED: f64 = 0.8;
/// The same of a send buffer, of which the kernel uses up to a half for itself.
const HALF_FILLED: f64 = 0.4;
/// Round trips that grow by this factor show a queue,
const QUEUES: f64 = 1.5;
/// and so do those that grow by so much, seconds.
const QUEUE_S: f64 = 0.02;
/// Spread of the intervals' rates up to which a link is taken to be full.
const EVEN: f64 = 0.15;
/// Share of the segments that must be sent again for losses to be what holds a transfer back.
const LEAST_LOSS: f64 = 0.0002;
/// Datagrams lost, per cent, that are worth speaking of.
const SOME_LOST: f64 = 0.1;

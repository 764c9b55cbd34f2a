//! The sheet of RFC 6349, "Framework for TCP Throughput Testing", against an iperf3 server.
//!
//! The order is the RFC's (section 2.2): path MTU, baseline round trip and bottleneck bandwidth, then TCP with several windows.
//! For each: the TCP transfer time ratio (section 4.1), TCP efficiency (4.2) and buffer delay (4.3).

use std::io::{self, Write};
use std::net::SocketAddr;

use serde::Serialize;
use serde_json::{Value, json};
use slowpath_record::{Origin, RunRecord, TransferResult};
use slowpath_units::{BitRate, ByteCount, Duration, Time};
use slowpath_workload::iperf3::{self, ClientConfig, Direction, Params, Report, StreamReport};
use slowpath_workload::probe::{self, MtuConfig, PingConfig};
use slowpath_workload::{ConnectionLog, Context};

use super::address::Address;
use super::answer::{Answer, MeasureError};
use super::iperf3::{FORM, PORT};
use super::text;

/// What to fill the sheet with.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `iperf3://HOST[:PORT]`.
    pub target: String,
    /// Whether the server sends.
    pub reverse: bool,
    /// How long each test takes.
    pub each: Duration,
    /// Windows to test; parts and multiples of the bandwidth-delay product if empty.
    pub windows: Vec<ByteCount>,
    /// The bottleneck's bandwidth for IP packets, where it is known; as far as four connections show it otherwise.
    pub bottleneck: Option<BitRate>,
}

impl Spec {
    /// How long the sheet takes, about.
    pub(super) fn expected(&self) -> Duration {
        let tests = 2 + if self.windows.is_empty() {
            TIMES.len()
        } else {
            self.windows.len()
        };
        let tests = u32::try_from(tests).unwrap_or(u32::MAX);
        (self.each + Duration::from_secs(1)) * u64::from(tests) + Duration::from_secs(6)
    }
}

/// The sheet.
struct Sheet {
    target: SocketAddr,
    reverse: bool,
    each: Duration,
    path_mtu: Option<u32>,
    /// Shortest round trip without load, seconds, and how it was measured.
    baseline: Option<(f64, &'static str)>,
    /// Payload that the path carries at most, bit/s, and whether it was told by whoever knows the line.
    achievable: (f64, bool),
    rows: Vec<Row>,
    notes: Vec<String>,
}

/// One window.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Row {
    /// Bytes asked for at both ends; absent where the kernels chose.
    window_bytes: Option<u64>,
    /// Connections at once.
    connections: u32,
    /// Payload that arrived.
    bytes: u64,
    /// Payload that arrived, bit/s.
    bit_per_s: f64,
    /// What this window lets through in a round trip, or the path; absent without a round trip.
    ideal_bit_per_s: Option<f64>,
    /// How long the bytes took.
    actual_s: f64,
    /// How long they would have at the ideal rate.
    ideal_s: Option<f64>,
    /// TCP transfer time ratio: actual by ideal.
    transfer_time_ratio: Option<f64>,
    /// TCP efficiency: the share of the bytes sent that was not sent again, per cent; absent where the sender does not tell.
    efficiency_percent: Option<f64>,
    /// Mean round trip while data moved, seconds; absent where this end does not send.
    loaded_rtt_s: Option<f64>,
    /// Buffer delay: by how much that exceeds the baseline, per cent of it.
    buffer_delay_percent: Option<f64>,
}

/// Makes the tests.
pub(super) fn run(spec: &Spec, context: &Context) -> Result<impl Answer + use<>, MeasureError> {
    let target = Address::parse(&spec.target, FORM)?.resolve(PORT)?;
    let failed = |error| MeasureError::tool("iperf3", &target, error);
    let mut notes = Vec::new();
    let path_mtu = path_mtu(target, context);
    if path_mtu.is_none() {
        notes.push("The path MTU cannot be measured: echo requests are not answered.".to_owned());
    }
    let pinged = pinged(target, context);
    let test = |window: Option<ByteCount>, parallel: u32| {
        let params = Params {
            direction: if spec.reverse {
                Direction::Reverse
            } else {
                Direction::Forward
            },
            duration: spec.each,
            window,
            parallel,
            ..Params::default()
        };
        let config = ClientConfig {
            params,
            ..ClientConfig::tcp(target, spec.each)
        };
        iperf3::run(&config, context)
    };
    let many = test(None, CONNECTIONS).map_err(failed)?;
    let alone = test(None, 1).map_err(failed)?;
    let shortest = [&many, &alone].into_iter().filter_map(shortest_round_trip);
    let baseline = pinged
        .map(|seconds| (seconds, "echo requests before the tests"))
        .or_else(|| {
            let least = shortest.fold(f64::INFINITY, f64::min);
            least
                .is_finite()
                .then_some((least, "the shortest that TCP saw during the tests"))
        });
    if pinged.is_none() {
        notes.push(
            "Echo requests are not answered: the baseline is the shortest round trip that TCP saw, which may be that of a queue."
                .to_owned(),
        );
    }
    let most = [&many, &alone]
        .map(|report| report.delivered_bit_per_s(!spec.reverse))
        .into_iter()
        .fold(0.0, f64::max);
    let achievable = match spec.bottleneck {
        Some(rate) => (payload_of(rate, path_mtu, target.is_ipv6()), true),
        None => (most, false),
    };
    if !achievable.1 {
        notes.push(format!(
            "The bottleneck bandwidth is what {CONNECTIONS} connections or one carried, a lower bound; --bottleneck RATE tells it where it \
             is known."
        ));
    }
    if spec.reverse {
        notes.push(
            "The server sends: the round trip under load, and with it the buffer delay, is not to be seen from this end."
                .to_owned(),
        );
    }
    let product = baseline.map(|(rtt, _)| achievable.0 / 8.0 * rtt);
    let windows: Vec<ByteCount> = match (spec.windows.is_empty(), product) {
        (false, _) => spec.windows.clone(),
        (true, Some(product)) => TIMES
            .iter()
            .map(|times| ByteCount::new((product * times).max(LEAST_WINDOW) as u64))
            .collect(),
        (true, None) => Vec::new(),
    };
    let mut sheet = Sheet {
        target,
        reverse: spec.reverse,
        each: spec.each,
        path_mtu,
        baseline,
        achievable,
        rows: Vec::new(),
        notes,
    };
    for window in windows {
        let report = test(Some(window), 1).map_err(failed)?;
        sheet.add(Some(window), 1, &report);
    }
    sheet.add(None, 1, &alone);
    sheet.add(None, CONNECTIONS, &many);
    Ok(sheet)
}

fn path_mtu(target: SocketAddr, context: &Context) -> Option<u32> {
    let config = MtuConfig {
        wait: Duration::from_millis(500),
        tries: 2,
        ..MtuConfig::new(target.ip())
    };
    let context = context.clone().within(Duration::from_secs(5));
    probe::path_mtu(&config, &context).ok()?.path_mtu
}

/// The shortest of ten round trips without load.
fn pinged(target: SocketAddr, context: &Context) -> Option<f64> {
    let config = PingConfig {
        wait: Duration::from_secs(1),
        ..PingConfig::new(target.ip())
    };
    let report = probe::ping(&config, &context.clone().within(Duration::from_secs(4))).ok()?;
    let all = report.replies.iter().map(|reply| reply.rtt.seconds());
    let least = all.fold(f64::INFINITY, f64::min);
    least.is_finite().then_some(least)
}

fn shortest_round_trip(report: &Report) -> Option<f64> {
    let logs = report.connections.iter().filter_map(ConnectionLog::last);
    let known = logs
        .map(|last| last.min_rtt)
        .filter(|rtt| *rtt > 0 && *rtt < u32::MAX);
    known.min().map(|microseconds| f64::from(microseconds) / 1e6)
}

/// The mean round trip of the connections that sent, after a fifth of the test, weighted by time.
fn loaded_round_trip(report: &Report) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for log in &report.connections {
        // The control connection carries next to nothing.
        if log.last().is_none_or(|last| last.bytes_acked < LEAST_DATA) {
            continue;
        }
        for sample in log.samples.iter().skip(log.samples.len() / 5) {
            if sample.rtt > 0 {
                sum += f64::from(sample.rtt) / 1e6;
                count += 1;
            }
        }
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// What a line for IP packets carries of payload, with the headers of TCP and its time stamps.
fn payload_of(rate: BitRate, mtu: Option<u32>, v6: bool) -> f64 {
    let mtu = f64::from(mtu.unwrap_or(1500));
    let headers = if v6 { 72.0 } else { 52.0 };
    rate.bits_per_s() as f64 * (mtu - headers) / mtu
}

impl Sheet {
    fn add(&mut self, window: Option<ByteCount>, connections: u32, report: &Report) {
        let forward = !self.reverse;
        let rate = report.delivered_bit_per_s(forward);
        let bytes = report.delivered(forward);
        let loaded = (!self.reverse).then(|| loaded_round_trip(report)).flatten();
        self.rows.push(row(
            &Measured {
                window: window.map(ByteCount::bytes),
                connections,
                bytes,
                bit_per_s: rate,
                sent_again: sent_again(report),
                loaded_rtt_s: loaded,
            },
            self.baseline.map(|(rtt, _)| rtt),
            self.achievable.0,
        ));
    }

    fn product(&self) -> Option<f64> {
        self.baseline.map(|(rtt, _)| self.achievable.0 / 8.0 * rtt)
    }

    /// The first line: what TCP makes of the path with the window that it needs, or the first that was asked for.
    fn headline(&self) -> String {
        let alone = self
            .rows
            .iter()
            .find(|row| row.window_bytes.is_none() && row.connections == 1);
        let Some(alone) = alone else {
            return "nothing was measured".to_owned();
        };
        let share = alone.bit_per_s / self.achievable.0.max(1.0);
        format!(
            "{} with one connection as it is, {} of what {}",
            text::rate(alone.bit_per_s),
            text::share(share),
            if self.achievable.1 {
                "the line carries"
            } else {
                "was reached at most"
            }
        )
    }
}

/// What one test gave.
struct Measured {
    window: Option<u64>,
    connections: u32,
    bytes: u64,
    bit_per_s: f64,
    /// Share of the bytes sent that was sent again.
    sent_again: Option<f64>,
    loaded_rtt_s: Option<f64>,
}

fn row(measured: &Measured, baseline_s: Option<f64>, achievable: f64) -> Row {
    let bits = measured.bytes as f64 * 8.0;
    let actual_s = if measured.bit_per_s > 0.0 {
        bits / measured.bit_per_s
    } else {
        0.0
    };
    let ideal = match (measured.window, baseline_s) {
        (Some(window), Some(rtt)) if rtt > 0.0 => {
            Some((window as f64 * 8.0 / rtt * f64::from(measured.connections)).min(achievable))
        }
        (Some(_), _) => None,
        (None, _) => Some(achievable),
    };
    let ideal_s = ideal.filter(|ideal| *ideal > 0.0).map(|ideal| bits / ideal);
    Row {
        window_bytes: measured.window,
        connections: measured.connections,
        bytes: measured.bytes,
        bit_per_s: measured.bit_per_s,
        ideal_bit_per_s: ideal,
        actual_s,
        ideal_s,
        transfer_time_ratio: ideal_s.filter(|ideal| *ideal > 0.0).map(|ideal| actual_s / ideal),
        efficiency_percent: measured.sent_again.map(|share| (1.0 - share) * 100.0),
        loaded_rtt_s: measured.loaded_rtt_s,
        buffer_delay_percent: measured
            .loaded_rtt_s
            .zip(baseline_s)
            .map(|(loaded, base)| (loaded - base) / base * 100.0),
    }
}

/// The share of the bytes that was sent again, as the sending kernel tells it.
fn sent_again(report: &Report) -> Option<f64> {
    let logs = report.connections.iter().filter_map(ConnectionLog::last);
    let (sent, again) = logs.fold((0, 0), |(sent, again), last| {
        (sent + last.bytes_sent, again + last.bytes_retransmitted)
    });
    let sends = report.streams.iter().any(|stream| stream.sends);
    if sends && sent > LEAST_DATA {
        return Some(again as f64 / sent as f64);
    }
    // The server tells how many segments, not how many bytes.
    let segments: u64 = report
        .streams
        .iter()
        .map(StreamReport::retransmits)
        .sum::<Option<u64>>()?;
    let mss = report
        .connections
        .iter()
        .filter_map(ConnectionLog::last)
        .map(|last| last.mss)
        .max()?;
    let again = segments as f64 * f64::from(mss);
    let arrived = report.delivered(sends) as f64;
    (arrived > 0.0).then(|| again / (arrived + again))
}

impl Answer for Sheet {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.headline())?;
        let way = if self.reverse { "from" } else { "to" };
        let about = format!(
            "RFC 6349, data {way} {}, {} a test",
            self.target,
            text::span(self.each)
        );
        text::paragraph(out, "  ", &about)?;
        let cell = |value: Option<String>| value.unwrap_or_else(|| "cannot be measured".to_owned());
        let mtu = self
            .path_mtu
            .map(|mtu| format!("{} B", text::count(u64::from(mtu))));
        let baseline = self
            .baseline
            .map(|(rtt, how)| format!("{} ({how})", slowpath_report::quantity::seconds(rtt)));
        let bound = if self.achievable.1 { "" } else { "at least " };
        let facts = [
            ("path MTU", cell(mtu)),
            ("baseline round trip", cell(baseline)),
            (
                "achievable TCP throughput",
                format!("{bound}{} of payload", text::rate(self.achievable.0)),
            ),
            (
                "bandwidth-delay product",
                cell(
                    self.product()
                        .map(|bytes| format!("{bound}{}", text::amount(bytes as u64))),
                ),
            ),
        ];
        for (name, value) in facts {
            text::paragraph(out, &format!("  {name:<26} "), &value)?;
        }
        let mut rows = vec![
            [
                "window", "conn", "rate", "time", "ideal", "ratio", "eff.", "buffer",
            ]
            .map(str::to_owned)
            .to_vec(),
        ];
        let seconds = slowpath_report::quantity::seconds;
        let dash = || "–".to_owned();
        for row in &self.rows {
            rows.push(vec![
                row.window_bytes.map_or("own".to_owned(), text::amount),
                row.connections.to_string(),
                text::rate(row.bit_per_s),
                seconds(row.actual_s),
                row.ideal_s.map_or_else(dash, seconds),
                row.transfer_time_ratio
                    .map_or_else(dash, |ratio| format!("{ratio:.2}")),
                row.efficiency_percent
                    .map_or_else(dash, |percent| format!("{percent:.2}%")),
                row.buffer_delay_percent
                    .map_or_else(dash, |percent| format!("{percent:.0}%")),
            ]);
        }
        text::table(out, &rows)?;
        text::paragraph(
            out,
            "  ",
            "ratio: transfer time by the ideal one, 1 is best. eff.: share of the bytes sent that was not sent again. \
             buffer: delay that the transfer adds, by the baseline.",
        )?;
        for note in &self.notes {
            text::note(out, note)?;
        }
        Ok(())
    }

    fn record(&self) -> RunRecord {
        let transfers = self.rows.iter().map(|row| TransferResult {
            name: row.window_bytes.map_or_else(
                || format!("{} connections as it is", row.connections),
                |bytes| format!("window of {bytes} bytes"),
            ),
            bytes: row.bytes,
            start: Time::ZERO,
            end: Time::ZERO + Duration::from_nanos((row.actual_s * 1e9) as u64),
            complete: true,
            error: None,
            retransmitted_segments: None,
            sender: None,
        });
        RunRecord {
            transfers: transfers.collect(),
            notes: self.notes.clone(),
            ..RunRecord::new(Origin::Live, "rfc6349")
        }
    }

    fn json(&self) -> Value {
        json!({
            "tool": "rfc6349",
            "target": self.target,
            "reverse": self.reverse,
            "test_s": self.each.seconds(),
            "path_mtu_bytes": self.path_mtu,
            "baseline_rtt_s": self.baseline.map(|(rtt, _)| rtt),
            "baseline_by": self.baseline.map(|(_, how)| how),
            "achievable_bit_per_s": self.achievable.0,
            "achievable_is": if self.achievable.1 { "told" } else { "at-least" },
            "bandwidth_delay_product_bytes": self.product(),
            "rows": self.rows,
            "notes": self.notes,
        })
    }
}

/// Connections of the test that looks for the bottleneck's bandwidth.
const CONNECTIONS: u32 = 4;
/// Windows tested, as parts and multiples of the bandwidth-delay product.
const TIMES: [f64; 4] = [0.25, 0.5, 1.0, 2.0];
/// Smallest window, bytes: about two segments.
const LEAST_WINDOW: f64 = 4_096.0;
/// Connections that carry less are not the data's, bytes.
const LEAST_DATA: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// The RFC's own example (section 4.1): 100 Mbit/s with 9.5 % of headers is 94.9 Mbit/s at most; 100 MB at that rate take
    /// 8.4 s, and took 15.
    #[test]
    fn ratio_efficiency_and_delay_are_the_rfcs() {
        let measured = Measured {
            window: None,
            connections: 1,
            bytes: 100_000_000,
            bit_per_s: 100e6 * 8.0 / 15.0,
            sent_again: Some(0.02),
            loaded_rtt_s: Some(0.037),
        };
        let row = row(&measured, Some(0.025), 94.9e6);
        assert!((row.ideal_s.unwrap() - 8.43).abs() < 0.01, "{row:?}");
        assert!((row.transfer_time_ratio.unwrap() - 1.78).abs() < 0.01);
        assert!((row.efficiency_percent.unwrap() - 98.0).abs() < 1e-9);
        // Section 4.3: 37 ms on average over a baseline of 25 ms are 48 %.
        assert!((row.buffer_delay_percent.unwrap() - 48.0).abs() < 1e-9);
    }

    #[test]
    fn a_window_bounds_the_ideal_and_what_is_not_known_stays_open() {
        let measured = Measured {
            window: Some(64_000),
            connections: 1,
            bytes: 12_800_000,
            bit_per_s: 10e6,
            sent_again: None,
            loaded_rtt_s: None,
        };
        // 64 kB every 50 ms.
        assert_eq!(row(&measured, Some(0.05), 100e6).ideal_bit_per_s, Some(10.24e6));
        assert_eq!(row(&measured, Some(0.05), 5e6).ideal_bit_per_s, Some(5e6));
        let open = row(&measured, None, 100e6);
        assert_eq!(
            (
                open.ideal_bit_per_s,
                open.transfer_time_ratio,
                open.efficiency_percent,
                open.buffer_delay_percent
            ),
            (None, None, None, None)
        );
        assert!((payload_of(BitRate::new(100_000_000), None, false) - 96.53e6).abs() < 0.01e6);
    }
}

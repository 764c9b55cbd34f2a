//! Rate over TCP or UDP against an iperf3 server, the real one or slowpath's.

use std::io::{self, Write};

use serde_json::{Value, json};
use slowpath_record::{Origin, RunRecord};
use slowpath_units::{BitRate, Duration};
use slowpath_workload::Context;
use slowpath_workload::iperf3::{self, ClientConfig, StreamReport, UdpCounts};

pub use slowpath_scenario::workload::IPERF3_UDP_RATE;
pub use slowpath_workload::iperf3::{Direction, Pacing, Params, Report, Transport};

use super::address::Address;
use super::answer::{Answer, MeasureError};
use super::text;

/// Which test to run.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `iperf3://HOST[:PORT]`, port 5201 if absent.
    pub target: String,
    /// What to ask the server for.
    pub params: Params,
    /// How this side spaces paced UDP datagrams.
    pub pacing: Pacing,
    /// Length of the intervals in the report.
    pub interval: Duration,
}

/// A rate with the number of blocks that leave together, as iperf3's `-b RATE/BURST` gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BurstRate {
    /// Rate of each stream; as fast as possible if absent.
    pub rate: Option<BitRate>,
    /// Blocks together; 0 leaves it to the pacing.
    pub burst: u32,
}

impl Spec {
    /// Time from the first to the last byte, if the test ends with a time.
    pub(super) fn expected(&self) -> Option<Duration> {
        let limited = self.params.bytes.is_some() || self.params.blocks.is_some();
        (!limited).then(|| self.params.duration + self.params.omit)
    }
}

/// Runs the test.
pub(super) fn run(spec: &Spec, context: &Context) -> Result<Report, MeasureError> {
    let server = Address::parse(&spec.target, FORM)?.resolve(PORT)?;
    let config = ClientConfig {
        params: spec.params.clone(),
        pacing: spec.pacing,
        interval: spec.interval,
        ..ClientConfig::tcp(server, Duration::ZERO)
    };
    iperf3::run(&config, context).map_err(|error| MeasureError::tool("iperf3", &server, error))
}

impl Answer for Report {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        for forward in ways(self) {
            headline(self, *forward, out)?;
        }
        match self.params.transport {
            Transport::Tcp => tcp(self, out)?,
            Transport::Udp => udp(self, out)?,
        }
        notes(self, out)?;
        if let Some(output) = &self.server_output {
            writeln!(out, "the server's own output:\n{}", output.trim_end())?;
        }
        Ok(())
    }

    fn record(&self) -> RunRecord {
        let mut record = RunRecord::new(Origin::Live, "iperf3");
        match self.params.transport {
            Transport::Tcp => record.transfers = self.transfers(),
            Transport::Udp => record.flows = self.flows(),
        }
        record.series = self.series("iperf3");
        record
    }

    fn json(&self) -> Value {
        let mut value = self.to_json();
        // Beside iperf3's own names, everything that they have no place for.
        value["slowpath"] = details(self);
        value
    }

    fn incomplete(&self) -> Option<String> {
        self.cut_short.map(|stop| stop.to_string())
    }
}

/// Ways of the data: `true` is from client to server.
fn ways(report: &Report) -> &'static [bool] {
    match report.params.direction {
        Direction::Forward => &[true],
        Direction::Reverse => &[false],
        Direction::Bidirectional => &[true, false],
    }
}

fn headline(report: &Report, forward: bool, out: &mut dyn Write) -> io::Result<()> {
    let to = if forward { "server" } else { "client" };
    writeln!(
        out,
        "{} delivered to the {to}",
        text::rate(report.delivered_bit_per_s(forward))
    )?;
    let streams: Vec<&StreamReport> = report.one_way(forward).collect();
    let time = streams
        .iter()
        .map(|stream| stream.delivery_time())
        .max()
        .unwrap_or_default();
    let (kind, unit) = match report.params.transport {
        Transport::Tcp => ("TCP", "writes"),
        Transport::Udp => ("UDP", "datagrams"),
    };
    let plural = if streams.len() == 1 { "" } else { "s" };
    writeln!(
        out,
        "  {} in {}: {} stream{plural} of {kind}, {unit} of {} bytes",
        text::amount(report.delivered(forward)),
        text::span(time),
        streams.len(),
        text::count(report.block as u64),
    )
}

fn tcp(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let resent: Option<u64> = report.streams.iter().map(StreamReport::retransmits).sum();
    match resent {
        Some(resent) => writeln!(out, "  {} segments were sent again", text::count(resent))?,
        None => writeln!(out, "  the sender does not tell how many segments it sent again")?,
    }
    if report.streams.iter().any(|stream| stream.sends) {
        if report.busiest_thread() <= BUSY {
            text::where_time_went(out, "sending: ", &report.connections)?;
        }
        text::table(out, &text::connection_rows(&report.connections))?;
    }
    intervals(report, out)
}

/// Rates per interval, all streams of a way together.
fn intervals(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let count = report
        .streams
        .iter()
        .map(|stream| stream.intervals.len())
        .max()
        .unwrap_or(0);
    if count < 2 {
        return Ok(());
    }
    let sends = report.streams.iter().any(|stream| stream.sends);
    let receives = report.streams.iter().any(|stream| !stream.sends);
    let mut header = vec!["interval".to_owned()];
    if sends {
        header.extend(["accepted by socket".to_owned(), "acknowledged".to_owned()]);
    }
    if receives {
        header.push("received".to_owned());
    }
    let mut rows = vec![header];
    for index in 0..count {
        if count > MOST_INTERVALS && (MOST_INTERVALS / 2..count - MOST_INTERVALS / 2).contains(&index) {
            if index == MOST_INTERVALS / 2 {
                rows.push(vec!["...".to_owned()]);
            }
            continue;
        }
        let parts = |sends: bool| {
            report
                .streams
                .iter()
                .filter(move |stream| stream.sends == sends)
                .filter_map(move |stream| stream.intervals.get(index))
        };
        let Some(first) = parts(true).chain(parts(false)).next() else {
            continue;
        };
        let seconds = first.to.saturating_sub(first.from).seconds().max(1e-9);
        let rate = |bytes: u64| text::rate(bytes as f64 * 8.0 / seconds);
        let omitted = if first.omitted { " (omitted)" } else { "" };
        let mut row = vec![format!(
            "{:.1}–{:.1} s{omitted}",
            first.from.seconds(),
            first.to.seconds()
        )];
        if sends {
            row.push(rate(parts(true).map(|part| part.bytes).sum()));
            let acked: Option<u64> = parts(true).map(|part| part.tcp.map(|tcp| tcp.bytes_acked)).sum();
            row.push(acked.map_or("–".to_owned(), rate));
        }
        if receives {
            row.push(rate(parts(false).map(|part| part.bytes).sum()));
        }
        rows.push(row);
    }
    text::table(out, &rows)
}

fn udp(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for forward in ways(report) {
        let streams: Vec<&StreamReport> = report.one_way(*forward).collect();
        let received: Vec<UdpCounts> = streams.iter().filter_map(|stream| stream.received()).collect();
        let sum = |value: fn(&UdpCounts) -> u64| -> u64 { received.iter().map(value).sum() };
        let sent = sum(|udp| udp.packets).max(1);
        let lost = sum(|udp| udp.lost);
        // Only slowpath tells what its own socket dropped.
        let is_split = streams
            .iter()
            .all(|stream| !stream.sends || stream.remote.as_ref().is_some_and(|remote| remote.udp.is_some()));
        let where_lost = if is_split {
            format!(
                "{} on the path, {} in the receiver's socket",
                text::count(sum(UdpCounts::path_loss)),
                text::count(sum(|udp| udp.socket_drops))
            )
        } else {
            "on the path or in the receiver's socket, which an iperf3 does not tell".to_owned()
        };
        let sender: Vec<UdpCounts> = streams
            .iter()
            .filter_map(|stream| sender_counts(stream))
            .collect();
        let refused: u64 = sender.iter().map(|udp| udp.send_errors).sum();
        text::paragraph(
            out,
            "  lost: ",
            &format!(
                "{} of {} datagrams ({}): {where_lost}; {} more refused by the sender's own kernel",
                text::count(lost),
                text::count(sent),
                text::share(lost as f64 / sent as f64),
                text::count(refused),
            ),
        )?;
        let jitter = received.iter().map(|udp| udp.jitter).max().unwrap_or_default();
        writeln!(
            out,
            "  {} came after a later one, {} came twice, jitter {}",
            text::count(sum(|udp| udp.reordered)),
            text::count(sum(|udp| udp.duplicates)),
            text::span(jitter)
        )?;
        for udp in &sender {
            if let Some(line) = bursts(udp) {
                text::paragraph(out, "  bursts sent: ", &line)?;
            }
        }
        let behind = sender.iter().map(|udp| udp.behind).max().unwrap_or_default();
        let time = streams.iter().map(|stream| stream.delivery_time()).max();
        if is_less_offered(behind, time.unwrap_or_default()) {
            text::note(
                out,
                &format!(
                    "the sender fell behind its schedule by at least {} and did not make up for it, so less was offered \
                     than asked for: that host was busy",
                    text::span(behind)
                ),
            )?;
        }
    }
    Ok(())
}

/// Whether what a sender fell behind by is so much of the test that its rate is lower than asked for.
fn is_less_offered(behind: Duration, test: Duration) -> bool {
    behind > Duration::ZERO && behind.seconds() >= BEHIND * test.seconds()
}

/// The sender's own account, where it is known.
fn sender_counts(stream: &StreamReport) -> Option<UdpCounts> {
    if stream.sends {
        stream.udp.clone()
    } else {
        stream.remote.as_ref()?.udp.clone()
    }
}

/// The histogram of bursts in one line; nothing for an unpaced stream.
fn bursts(udp: &UdpCounts) -> Option<String> {
    let classes: Vec<String> = udp
        .bursts
        .counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(class, count)| {
            let (from, to) = (1_u64 << class, (1_u64 << (class + 1)) - 1);
            let size = if from == to {
                "1".to_owned()
            } else {
                format!("{from}–{to}")
            };
            format!("{} × {size}", text::count(*count))
        })
        .collect();
    (!classes.is_empty()).then(|| {
        format!(
            "{} datagrams back to back; longest {}",
            classes.join(", "),
            text::count(udp.bursts.longest)
        )
    })
}

fn notes(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    if let Some(stop) = report.cut_short {
        text::note(
            out,
            &format!("the test ended before its time, with the figures so far: {stop}"),
        )?;
    }
    if let Some(effect) = report.sender_effect() {
        text::note(out, &effect)?;
    }
    if let Some((accepted, acked)) = first_interval(report)
        && accepted.saturating_sub(acked) * 50 > acked
    {
        text::note(
            out,
            &format!(
                "in the first interval the sender's socket accepted {} more than were acknowledged: it filled its send \
                 buffer, so a sender's own figure for that interval is too high",
                text::amount(accepted - acked)
            ),
        )?;
    }
    let shortfalls = report.streams.iter().filter_map(|stream| stream.facts.as_ref());
    let mut said: Vec<&String> = shortfalls.flat_map(|facts| &facts.shortfalls).collect();
    said.dedup();
    for shortfall in said {
        text::note(out, shortfall)?;
    }
    if report.busiest_thread() > BUSY {
        text::note(
            out,
            &format!(
                "a thread of this host was busy for {} of the test: the host may be the limit, so nothing is said \
                 about the path",
                text::share(report.busiest_thread())
            ),
        )?;
    }
    if let Some(remote) = report.remote_cpu.filter(|cpu| *cpu > BUSY * 100.0) {
        text::note(
            out,
            &format!(
                "the other side used {} of one processor: it may be the limit",
                text::share(remote / 100.0)
            ),
        )?;
    }
    Ok(())
}

/// Bytes that this side's sockets accepted in the first interval, and bytes acknowledged in it.
fn first_interval(report: &Report) -> Option<(u64, u64)> {
    let first = || {
        let senders = report.streams.iter().filter(|stream| stream.sends);
        senders.filter_map(|stream| stream.intervals.first())
    };
    let acked: Option<u64> = first().map(|part| part.tcp.map(|tcp| tcp.bytes_acked)).sum();
    Some((first().map(|part| part.bytes).sum(), acked?))
}

fn details(report: &Report) -> Value {
    let streams: Vec<Value> = report
        .streams
        .iter()
        .map(|stream| {
            json!({
                "id": stream.id,
                "sends": stream.sends,
                "delivered_bytes": stream.delivered(),
                "accepted_bytes": stream.accepted(),
                "socket": stream.facts,
                "received": stream.received().as_ref().map(udp_json),
                "sent": sender_counts(stream).as_ref().map(udp_json),
            })
        })
        .collect();
    let threads: Vec<Value> = report
        .threads
        .iter()
        .map(|(name, cpu)| json!({"name": name, "cpu_s": cpu.seconds()}))
        .collect();
    json!({
        "delivered_bit_per_s": ways(report).iter().map(|way| report.delivered_bit_per_s(*way)).collect::<Vec<_>>(),
        "streams": streams,
        "threads": threads,
        "busiest_thread": report.busiest_thread(),
        "sender_effect": report.sender_effect(),
        "cut_short": report.cut_short.map(|stop| stop.to_string()),
        "connections": report.connections,
    })
}

fn udp_json(udp: &UdpCounts) -> Value {
    json!({
        "packets": udp.packets,
        "arrived": udp.arrived,
        "lost": udp.lost,
        "lost_on_path": udp.path_loss(),
        "socket_drops": udp.socket_drops,
        "send_errors": udp.send_errors,
        "reordered": udp.reordered,
        "duplicates": udp.duplicates,
        "jitter_s": udp.jitter.seconds(),
        "behind_s": udp.behind.seconds(),
        "bursts": udp.bursts,
    })
}

/// How a server is written.
pub(crate) const FORM: &str = "iperf3://HOST or iperf3://HOST:PORT";
/// iperf3's port.
pub(crate) const PORT: u16 = 5201;
/// A sender that falls behind by this share of a test offers less than it was asked for.
const BEHIND: f64 = 0.01;
/// From this share of a processor on, the host and not the path may be the limit.
const BUSY: f64 = 0.9;
/// More intervals than this are shown with a gap in the middle.
const MOST_INTERVALS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// 5,180 datagrams of 1,448 bytes in two seconds are the 30 Mbit/s that were asked for, whatever one of them came too late.
    #[test]
    fn a_few_microseconds_are_no_lower_rate() {
        let test = Duration::from_secs(2);
        assert!(!is_less_offered(Duration::from_micros(115), test));
        assert!(!is_less_offered(Duration::ZERO, Duration::ZERO));
        assert!(is_less_offered(Duration::from_millis(100), test));
    }
}

//! Round trips and loss.

use std::io::{self, Write};
use std::net::IpAddr;

use serde_json::{Value, json};
use slowpath_packet::mark::Dscp;
use slowpath_record::{Origin, RunRecord, echo};
use slowpath_units::Duration;
use slowpath_workload::Context;
use slowpath_workload::probe::{self, Access, PingConfig, PingReport};

use super::answer::{Answer, MeasureError};
use super::{address, text};

/// Which echo requests to send.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `ping://HOST` or `HOST`.
    pub target: String,
    /// How many.
    pub count: u32,
    /// Time from one to the next.
    pub interval: Duration,
    /// Payload bytes.
    pub size: usize,
    /// Whether routers may not fragment.
    pub dont_fragment: bool,
    /// Mark of the requests.
    pub dscp: Dscp,
}

impl Spec {
    pub(super) fn expected(&self) -> Duration {
        self.interval * u64::from(self.count)
    }
}

struct Outcome {
    report: PingReport,
    size: usize,
}

/// Sends the requests and collects the answers.
pub(super) fn run(spec: &Spec, context: &Context) -> Result<impl Answer + use<>, MeasureError> {
    let target = address::host(&spec.target, "ping://HOST or HOST")?;
    let config = PingConfig {
        count: spec.count,
        interval: spec.interval,
        size: spec.size,
        dont_fragment: spec.dont_fragment,
        dscp: spec.dscp,
        ..PingConfig::new(target)
    };
    let report = probe::ping(&config, context).map_err(|error| MeasureError::tool("ping", &target, error))?;
    Ok(Outcome {
        report,
        size: spec.size,
    })
}

impl Outcome {
    /// Mean difference of successive round trips.
    fn jitter(&self) -> Option<Duration> {
        let replies = self.report.replies.iter();
        let mut points: Vec<_> = replies
            .map(|reply| (reply.sent_at, reply.rtt.seconds()))
            .collect();
        points.sort_by_key(|point| point.0);
        slowpath_record::echo::jitter(&points)
    }
}

impl Answer for Outcome {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let report = &self.report;
        let Some(median) = report.rtt_quantile(0.5) else {
            writeln!(
                out,
                "no answer from {}: {} requests sent",
                report.target, report.sent
            )?;
            return errors(report, out);
        };
        writeln!(
            out,
            "{} round trip, {} lost",
            text::span(median),
            text::share(report.loss_fraction())
        )?;
        writeln!(
            out,
            "  {}: {} sent, {} answered, {} twice; IP packets of {} bytes",
            report.target,
            report.sent,
            report.replies.len(),
            report.duplicates,
            text::count(ip_length(report.target, self.size)),
        )?;
        let quantile = |share| report.rtt_quantile(share).map_or("–".to_owned(), text::span);
        text::table(
            out,
            &[
                ["", "least", "median", "mean", "90 %", "99 %", "most", "jitter"]
                    .map(str::to_owned)
                    .to_vec(),
                vec![
                    "  RTT".to_owned(),
                    quantile(0.0),
                    quantile(0.5),
                    report.mean_rtt().map_or("–".to_owned(), text::span),
                    quantile(0.9),
                    quantile(0.99),
                    quantile(1.0),
                    self.jitter().map_or("–".to_owned(), text::span),
                ],
            ],
        )?;
        let ttls: std::collections::BTreeSet<u8> =
            report.replies.iter().filter_map(|reply| reply.ttl).collect();
        let marks: std::collections::BTreeSet<u8> =
            report.replies.iter().filter_map(|reply| reply.tos).collect();
        let list = |values: &std::collections::BTreeSet<u8>, show: fn(u8) -> String| {
            values
                .iter()
                .map(|value| show(*value))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if !ttls.is_empty() {
            writeln!(
                out,
                "  answers came with TTL {} and DSCP {}",
                list(&ttls, |ttl| ttl.to_string()),
                list(&marks, |tos| Dscp::from_tos(tos).to_string())
            )?;
        }
        errors(report, out)
    }

    fn record(&self) -> RunRecord {
        let replies = self.report.replies.iter();
        let points = replies
            .map(|reply| (reply.sent_at + reply.rtt, reply.rtt.seconds()))
            .collect();
        let bytes = ip_length(self.report.target, self.size);
        let (flow, round_trips) = echo::result("ping", self.report.sent.into(), bytes, points);
        RunRecord {
            flows: vec![flow],
            series: vec![round_trips],
            ..RunRecord::new(Origin::Live, "ping")
        }
    }

    fn json(&self) -> Value {
        let seconds = |span: Option<Duration>| span.map(Duration::seconds);
        let quantile = |share| seconds(self.report.rtt_quantile(share));
        json!({
            "tool": "ping",
            "summary": {
                "sent": self.report.sent,
                "answered": self.report.replies.len(),
                "loss": self.report.loss_fraction(),
                "rtt_min_s": quantile(0.0),
                "rtt_median_s": quantile(0.5),
                "rtt_mean_s": seconds(self.report.mean_rtt()),
                "rtt_90_s": quantile(0.9),
                "rtt_99_s": quantile(0.99),
                "rtt_max_s": quantile(1.0),
                "jitter_s": seconds(self.jitter()),
                "ip_bytes": ip_length(self.report.target, self.size),
            },
            "report": self.report,
        })
    }
}

fn errors(report: &PingReport, out: &mut dyn Write) -> io::Result<()> {
    if report.access == Access::Udp {
        text::note(out, text::BY_UDP)?;
    }
    if report.refused > 0 {
        text::note(
            out,
            &format!(
                "this host's kernel refused {} requests: with DF set they are larger than what it knows of the path; \
                 see the path MTU with the tool mtu",
                report.refused
            ),
        )?;
    }
    for (_, error) in report.errors.iter().take(3) {
        let from = error.from.map_or("this host".to_owned(), |from| from.to_string());
        let mtu = error
            .mtu
            .map_or(String::new(), |mtu| format!(", next MTU {mtu} bytes"));
        text::note(
            out,
            &format!(
                "{from} answered with ICMP type {} code {}{mtu}",
                error.kind, error.code
            ),
        )?;
    }
    Ok(())
}

/// Length of the IP packet around a payload.
fn ip_length(target: IpAddr, payload: usize) -> u64 {
    payload as u64 + if target.is_ipv6() { 48 } else { 28 }
}

//! The routers on the way, and what they saw of the probes.

use std::io::{self, Write};
use std::net::IpAddr;

use serde_json::{Value, json};
use slowpath_packet::mark::Dscp;
use slowpath_record::{Curve, Origin, RunRecord};
use slowpath_units::Duration;
use slowpath_workload::Context;
use slowpath_workload::probe::{self, TraceConfig, TraceReport};

pub use slowpath_workload::probe::Method;

use super::answer::{Answer, MeasureError};
use super::{address, text};

/// How to trace.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `trace://HOST` or `HOST`.
    pub target: String,
    /// What the probes are.
    pub method: Method,
    /// Destination port of UDP and TCP probes; each method's usual one if absent.
    pub port: Option<u16>,
    /// The longest way.
    pub max_hops: u8,
    /// Probes to each hop.
    pub probes: u32,
    /// How long to wait for each answer.
    pub wait: Duration,
    /// Mark of the probes.
    pub dscp: Dscp,
}

struct Outcome {
    target: IpAddr,
    method: Method,
    dscp: Dscp,
    report: TraceReport,
}

/// Traces the way.
pub(super) fn run(spec: &Spec, context: &Context) -> Result<impl Answer + use<>, MeasureError> {
    let target = address::host(&spec.target, "trace://HOST or HOST")?;
    let usual = match spec.method {
        Method::Tcp => 80,
        Method::Icmp | Method::Udp => 33_434,
    };
    let config = TraceConfig {
        target,
        method: spec.method,
        port: spec.port.unwrap_or(usual),
        max_hops: spec.max_hops,
        probes: spec.probes,
        wait: spec.wait,
        dscp: spec.dscp,
    };
    let report =
        probe::trace(&config, context).map_err(|error| MeasureError::tool("trace", &target, error))?;
    Ok(Outcome {
        target,
        method: spec.method,
        dscp: spec.dscp,
        report,
    })
}

impl Answer for Outcome {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let kind = match self.report.method {
            Method::Icmp => "ICMP echo requests",
            Method::Udp => "UDP datagrams",
            Method::Tcp => "TCP SYNs",
        };
        let hops = self.report.hops.len();
        if self.report.reached {
            let plural = if hops == 1 { "" } else { "s" };
            writeln!(out, "{} is {hops} hop{plural} away, by {kind}", self.target)?;
        } else {
            writeln!(
                out,
                "{} did not answer within {hops} hops, by {kind}",
                self.target
            )?;
        }
        let mut rows = vec![
            ["hop", "answers", "least", "most", "mark there", "MTU", "who"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for hop in &self.report.hops {
            let mut who: Vec<String> = hop.replies.iter().map(|reply| reply.from.to_string()).collect();
            who.dedup();
            let rtts = || hop.replies.iter().map(|reply| reply.rtt);
            let dash = || "–".to_owned();
            let quoted = hop
                .replies
                .iter()
                .find_map(|reply| reply.error.and_then(|error| error.quoted));
            rows.push(vec![
                hop.ttl.to_string(),
                hop.replies.len().to_string(),
                rtts().min().map_or_else(dash, text::span),
                rtts().max().map_or_else(dash, text::span),
                quoted.map_or_else(dash, |quoted| {
                    format!("{} ecn {}", Dscp::from_tos(quoted.tos), quoted.tos & 3)
                }),
                hop.replies
                    .iter()
                    .find_map(|reply| reply.error.and_then(|error| error.mtu))
                    .map_or_else(dash, |mtu| mtu.to_string()),
                if who.is_empty() {
                    "no answer".to_owned()
                } else {
                    who.join(" ")
                },
            ]);
        }
        text::table(out, &rows)?;
        if self.report.method != self.method {
            text::note(out, text::BY_UDP)?;
        }
        if let Some(place) = self.rewritten_at() {
            text::note(
                out,
                &format!(
                    "the mark {} was sent, hop {} saw {}: it was changed before that hop",
                    self.dscp, place.0, place.1
                ),
            )?;
        }
        if !self.report.quotes {
            text::note(
                out,
                "what routers quote of the probes needs a raw socket (root or CAP_NET_RAW): marks are not shown",
            )?;
        }
        Ok(())
    }

    fn record(&self) -> RunRecord {
        // A hop's distance stands where a curve has its setting.
        let hops = self.report.hops.iter().flat_map(|hop| {
            let replies = hop.replies.iter();
            replies.map(move |reply| (f64::from(hop.ttl), reply.rtt.seconds()))
        });
        RunRecord {
            curves: vec![Curve {
                name: "round trip by hop".to_owned(),
                x: "hop".to_owned(),
                x_unit: String::new(),
                y: "round trip".to_owned(),
                y_unit: "s".to_owned(),
                points: hops.collect(),
            }],
            ..RunRecord::new(Origin::Live, "trace")
        }
    }

    fn json(&self) -> Value {
        json!({
            "tool": "trace",
            "target": self.target,
            "method": self.method,
            "dscp": self.dscp,
            "mark_changed_before_hop": self.rewritten_at().map(|(hop, _)| hop),
            "report": self.report,
        })
    }

    fn incomplete(&self) -> Option<String> {
        (!self.report.reached).then(|| format!("{} did not answer", self.target))
    }
}

impl Outcome {
    /// The first hop that saw another mark than was sent, and that mark.
    fn rewritten_at(&self) -> Option<(u8, Dscp)> {
        self.report.hops.iter().find_map(|hop| {
            let quoted = hop
                .replies
                .iter()
                .find_map(|reply| reply.error.and_then(|error| error.quoted))?;
            let seen = Dscp::from_tos(quoted.tos);
            (seen != self.dscp).then_some((hop.ttl, seen))
        })
    }
}

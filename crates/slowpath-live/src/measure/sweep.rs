//! How each DSCP fares, against the reflector of `slowpath serve`.

use std::io::{self, Write};
use std::net::SocketAddr;

use serde_json::{Value, json};
use slowpath_packet::mark::Dscp;
use slowpath_record::{FlowResult, Origin, RunRecord};
use slowpath_units::{BitRate, Duration};
use slowpath_workload::stream::StreamError;
use slowpath_workload::sweep::tcp::{self, TcpConfig, TcpMarkResult};
use slowpath_workload::sweep::{self, MarkResult, SweepConfig};
use slowpath_workload::{Cancel, Context};

use super::address::Address;
use super::answer::{Answer, MeasureError};
use super::serve::REFLECTOR_PORT;
use super::text;

/// Which marks to try, and how.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `sweep://HOST[:PORT]`, the reflector of `slowpath serve`.
    pub target: String,
    /// Code points; all 64 if empty.
    pub marks: Vec<Dscp>,
    /// UDP probes with each mark.
    pub probes: u32,
    /// UDP payload bytes of a probe.
    pub size: usize,
    /// Rate of all probes together, counted in IP packets.
    pub rate: BitRate,
    /// How long a TCP connection with each mark sends; none are made if zero.
    pub tcp: Duration,
    /// Do everything a second time while an unmarked TCP connection loads the way.
    pub load: bool,
}

impl Spec {
    fn marks(&self) -> Vec<Dscp> {
        if self.marks.is_empty() {
            (0..64).filter_map(Dscp::new).collect()
        } else {
            self.marks.clone()
        }
    }

    pub(super) fn expected(&self) -> Duration {
        let marks = self.marks().len() as u64;
        let probe = self.rate.time_for(self.size as u64 + 28, 0).0;
        let once = Duration::from_nanos(
            (probe.nanos() * u64::from(self.probes)).saturating_mul(marks) + self.tcp.nanos() * marks,
        );
        if self.load { once + once } else { once }
    }
}

/// One round of all marks.
struct Round {
    probes: Vec<MarkResult>,
    tcp: Vec<TcpMarkResult>,
}

struct Outcome {
    to: SocketAddr,
    idle: Round,
    /// The same under load, and the load's own bytes per second.
    loaded: Option<(Round, f64)>,
}

/// Tries every mark.
pub(super) fn run(spec: &Spec, context: &Context) -> Result<impl Answer + use<>, MeasureError> {
    let to = Address::parse(&spec.target, FORM)?.resolve(REFLECTOR_PORT)?;
    let failed = |error: StreamError| MeasureError::tool("sweep", &to, error);
    let round = || round(spec, to, context).map_err(failed);
    let idle = round()?;
    if idle.probes.iter().all(|row| row.answers == 0) && idle.tcp.iter().all(|row| row.error.is_some()) {
        let why = idle
            .tcp
            .iter()
            .find_map(|row| row.error.clone())
            .unwrap_or_else(|| "no probe was answered".to_owned());
        return Err(MeasureError::tool(
            "sweep",
            &to,
            format!(
                "nothing answers there ({why}); start `slowpath serve` on that host, and let UDP and TCP to it pass"
            ),
        ));
    }
    let loaded = if spec.load {
        let stop = Cancel::new();
        let (round, load) = std::thread::scope(|scope| {
            let load = scope.spawn(|| tcp::load(to, &stop, context));
            // The load needs a moment to fill the way.
            let round = match context.sleep(LOAD_RAMP) {
                Ok(()) => round(),
                Err(stop) => Err(MeasureError::tool("sweep", &to, stop)),
            };
            stop.cancel();
            (round, load.join())
        });
        let (_, rate) = match load {
            Ok(load) => load.map_err(failed)?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Some((round?, rate))
    } else {
        None
    };
    Ok(Outcome { to, idle, loaded })
}

fn round(spec: &Spec, to: SocketAddr, context: &Context) -> Result<Round, StreamError> {
    let probes = SweepConfig {
        marks: spec.marks(),
        probes: spec.probes,
        size: spec.size,
        rate: spec.rate,
        ..SweepConfig::new(to)
    };
    let connections = TcpConfig {
        marks: spec.marks(),
        span: spec.tcp,
        ..TcpConfig::new(to)
    };
    Ok(Round {
        probes: sweep::sweep(&probes, context)?,
        tcp: if spec.tcp > Duration::ZERO {
            tcp::tcp_sweep(&connections, context)?
        } else {
            Vec::new()
        },
    })
}

impl Answer for Outcome {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = &self.idle.probes;
        let kept = rows.iter().filter(|row| row.survives()).count();
        writeln!(
            out,
            "{kept} of {} marks arrive at {} as they were sent",
            rows.len(),
            self.to
        )?;
        for sentence in self.findings() {
            text::paragraph(out, "  ", &sentence)?;
        }
        let has_tcp = !self.idle.tcp.is_empty();
        let mut header = vec!["sent", "there", "back", "lost", "delay"];
        if has_tcp {
            header.extend(["SYN", "Mbit/s"]);
        }
        if self.loaded.is_some() {
            header.extend(["| lost", "delay"]);
            if has_tcp {
                header.push("Mbit/s");
            }
        }
        let mut table = vec![header.into_iter().map(str::to_owned).collect::<Vec<_>>()];
        for (index, row) in rows.iter().enumerate() {
            let mut cells = vec![
                row.sent.to_string(),
                marks(&row.seen_there),
                marks(&row.seen_back),
                text::share(unanswered(row)),
                delay(row),
            ];
            if let Some(tcp) = self.idle.tcp.get(index) {
                cells.extend([syn(tcp), tcp_rate(tcp)]);
            }
            if let Some((loaded, _)) = &self.loaded {
                if let Some(row) = loaded.probes.get(index) {
                    cells.extend([format!("| {}", text::share(unanswered(row))), delay(row)]);
                }
                cells.extend(loaded.tcp.get(index).map(tcp_rate));
            }
            table.push(cells);
        }
        text::table(out, &table)?;
        if let Some((_, rate)) = &self.loaded {
            writeln!(
                out,
                "right of the bar: beside an unmarked TCP connection of {}",
                text::rate(rate * 8.0)
            )?;
        }
        Ok(())
    }

    fn record(&self) -> RunRecord {
        let idle = self.idle.probes.iter().map(|mark| (mark, "idle"));
        let loaded = self.loaded.iter().flat_map(|(round, _)| &round.probes);
        let flows = idle
            .chain(loaded.map(|mark| (mark, "loaded")))
            .map(|(mark, when)| FlowResult {
                name: format!("{} {when}", mark.sent),
                sent_packets: mark.probes.into(),
                received_packets: mark.arrived.into(),
                ..FlowResult::default()
            });
        RunRecord {
            flows: flows.collect(),
            ..RunRecord::new(Origin::Live, "sweep")
        }
    }

    fn json(&self) -> Value {
        let round = |round: &Round| json!({"probes": round.probes, "tcp": round.tcp});
        json!({
            "tool": "sweep",
            "reflector": self.to,
            "idle": round(&self.idle),
            "loaded": self.loaded.as_ref().map(|(loaded, rate)| {
                let mut value = round(loaded);
                value["load_byte_per_s"] = json!(rate);
                value
            }),
        })
    }
}

impl Outcome {
    /// What differs between marks, in sentences.
    fn findings(&self) -> Vec<String> {
        let mut found = Vec::new();
        let list = |marks: Vec<String>| marks.join(" ");
        let changed: Vec<String> = self
            .idle
            .probes
            .iter()
            .filter(|row| !row.survives() && row.answers > 0)
            .map(|row| row.sent.to_string())
            .collect();
        if !changed.is_empty() {
            found.push(format!("rewritten on the way there: {}", list(changed)));
        }
        let silent: Vec<String> = self
            .idle
            .probes
            .iter()
            .filter(|row| row.answers == 0)
            .map(|row| row.sent.to_string())
            .collect();
        if !silent.is_empty() {
            found.push(format!("without any answer: {}", list(silent)));
        }
        let (broken, unconnected): (Vec<_>, Vec<_>) = self
            .idle
            .tcp
            .iter()
            .filter(|row| row.error.is_some())
            .partition(|row| row.connect.is_some());
        let names = |rows: &[&TcpMarkResult]| list(rows.iter().map(|row| row.sent.to_string()).collect());
        if !unconnected.is_empty() {
            found.push(format!("without TCP connection: {}", names(&unconnected)));
        }
        if let Some(error) = broken.first().and_then(|row| row.error.as_ref()) {
            found.push(format!(
                "TCP connections that came up and then failed: {}; the first: {error}",
                names(&broken)
            ));
        }
        let mut rates: Vec<f64> = self
            .idle
            .tcp
            .iter()
            .filter(|row| row.error.is_none())
            .map(|row| row.byte_per_s)
            .collect();
        rates.sort_by(f64::total_cmp);
        let median = rates.get(rates.len() / 2).copied().unwrap_or(0.0);
        let slow: Vec<String> = self
            .idle
            .tcp
            .iter()
            .filter(|row| row.error.is_none() && row.byte_per_s < median / 4.0)
            .map(|row| row.sent.to_string())
            .collect();
        if !slow.is_empty() {
            found.push(format!(
                "less than a quarter of the marks' median TCP rate, in one short connection each: {}",
                list(slow)
            ));
        }
        found
    }
}

/// Marks that arrived, most of them first.
fn marks(seen: &[(u8, u32)]) -> String {
    let mut seen = seen.to_vec();
    seen.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names: Vec<String> = seen
        .iter()
        .take(3)
        .map(|(tos, _)| Dscp::from_tos(*tos).to_string())
        .collect();
    if names.is_empty() {
        "–".to_owned()
    } else {
        names.join("/")
    }
}

/// Share of the probes to which no answer came, lost on either way.
fn unanswered(row: &MarkResult) -> f64 {
    1.0 - f64::from(row.answers.min(row.probes)) / f64::from(row.probes.max(1))
}

fn delay(row: &MarkResult) -> String {
    row.rtt
        .map_or("–".to_owned(), |(_, median, _)| text::span(median))
}

fn syn(row: &TcpMarkResult) -> String {
    match (row.syn_seen, row.connect) {
        (Some(tos), _) => Dscp::from_tos(tos).to_string(),
        (None, Some(_)) => "?".to_owned(),
        (None, None) => "lost".to_owned(),
    }
}

fn tcp_rate(row: &TcpMarkResult) -> String {
    if row.error.is_some() {
        "failed".to_owned()
    } else {
        slowpath_report::quantity::significant(row.byte_per_s * 8.0 / 1e6)
    }
}

const FORM: &str = "sweep://HOST or sweep://HOST:PORT";
const LOAD_RAMP: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_and_broken_connections_are_told_apart() {
        let row = |sent, connect, error: Option<&str>| TcpMarkResult {
            sent,
            syn_seen: None,
            connect,
            bytes: 1000,
            byte_per_s: if error.is_none() { 1000.0 } else { 0.0 },
            last: None,
            error: error.map(str::to_owned),
        };
        let dscp = |value| Dscp::new(value).unwrap();
        let handshake = Some(Duration::from_millis(1));
        let outcome = Outcome {
            to: SocketAddr::from(([192, 0, 2, 1], 5202)),
            idle: Round {
                probes: Vec::new(),
                tcp: vec![
                    row(Dscp::CS1, handshake, None),
                    row(dscp(16), None, Some("connecting: refused")),
                    row(dscp(24), handshake, Some("sending: reset")),
                ],
            },
            loaded: None,
        };
        let found = outcome.findings();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], format!("without TCP connection: {}", dscp(16)));
        assert!(
            found[1].contains(&format!("{}; the first: sending: reset", dscp(24))),
            "{found:?}"
        );
    }
}

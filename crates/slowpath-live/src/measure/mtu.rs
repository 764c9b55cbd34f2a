//! The largest packet that gets through.

use std::io::{self, Write};
use std::net::IpAddr;

use serde_json::{Value, json};
use slowpath_record::{Origin, RunRecord};
use slowpath_workload::Context;
use slowpath_workload::probe::{self, Access, MtuConfig, MtuReport};

use super::answer::{Answer, MeasureError};
use super::{address, text};

/// Which sizes to try.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `mtu://HOST` or `HOST`.
    pub target: String,
    /// Smallest IP packet in bytes.
    pub from: u32,
    /// Largest IP packet in bytes.
    pub to: u32,
}

struct Outcome {
    target: IpAddr,
    to: u32,
    report: MtuReport,
}

/// Searches the path MTU.
pub(super) fn run(spec: &Spec, context: &Context) -> Result<impl Answer + use<>, MeasureError> {
    let target = address::host(&spec.target, "mtu://HOST or HOST")?;
    if spec.from > spec.to || spec.from < 68 || spec.to > 65_535 {
        return Err(MeasureError::Settings(format!(
            "searching the largest packet: sizes from {} to {} bytes make no search; an IP packet has 68 to 65535 bytes, the smaller size first",
            spec.from, spec.to
        )));
    }
    let config = MtuConfig {
        from: spec.from,
        to: spec.to,
        ..MtuConfig::new(target)
    };
    let report =
        probe::path_mtu(&config, context).map_err(|error| MeasureError::tool("mtu", &target, error))?;
    Ok(Outcome {
        target,
        to: spec.to,
        report,
    })
}

impl Answer for Outcome {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(mtu) = self.report.path_mtu else {
            return text::paragraph(
                out,
                "",
                &format!(
                    "no answer from {}, not even to the smallest packet: it does not answer echo requests, or is not \
                     there",
                    self.target
                ),
            );
        };
        let bound = if mtu == self.to { " or more" } else { "" };
        writeln!(
            out,
            "{} bytes{bound} is the path MTU to {}",
            text::count(u64::from(mtu)),
            self.target
        )?;
        let headers = if self.target.is_ipv6() { 60 } else { 40 };
        writeln!(
            out,
            "  TCP segments carry {} bytes, {} with time stamps; {} probes",
            mtu.saturating_sub(headers),
            mtu.saturating_sub(headers + 12),
            self.report.probes
        )?;
        for (from, mtu) in &self.report.announced {
            let from = from.map_or("this host".to_owned(), |from| from.to_string());
            writeln!(out, "  {from} announced {mtu} bytes")?;
        }
        if self.report.access == Access::Udp {
            text::note(out, text::BY_UDP)?;
        }
        if !bound.is_empty() {
            text::note(out, "nothing larger was tried; give a larger size with --to")?;
        }
        if self.report.black_hole {
            text::note(
                out,
                "larger packets vanish and no router says so: TCP stalls on full segments through such a path unless \
                 its MSS is lowered on the way or at the hosts",
            )?;
        }
        Ok(())
    }

    fn record(&self) -> RunRecord {
        let found = self.report.path_mtu.map_or_else(
            || format!("{} answers no packet of the sizes tried", self.target),
            |mtu| format!("packets of up to {mtu} bytes reach {}", self.target),
        );
        RunRecord {
            notes: vec![found],
            ..RunRecord::new(Origin::Live, "mtu")
        }
    }

    fn json(&self) -> Value {
        json!({"tool": "mtu", "target": self.target, "report": self.report})
    }

    fn incomplete(&self) -> Option<String> {
        self.report
            .path_mtu
            .is_none()
            .then(|| format!("{} did not answer", self.target))
    }
}

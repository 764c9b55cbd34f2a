//! One labelled transfer: its path, its traffic, and the experiment file that makes it.

use std::fmt::Write as _;

use slowpath_scenario::{Clock, Experiment, Fragments, Plan, PlanOptions};
use slowpath_units::Duration;
use slowpath_verdict::Limit;

use crate::bulk::{Traffic, Transfer, Writes};
use crate::cells::{CellError, Congestion};

/// One transfer whose limit is known because everything else was left wide.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What limits it, by construction.
    pub cause: Limit,
    /// The cause in the words of the table: finer than `cause`, such as `bufferbloat` or `shaped`.
    pub kind: &'static str,
    /// The sender's congestion control.
    pub congestion: Congestion,
    /// Number among the cases of this kind and congestion control.
    pub number: usize,
    /// Round-trip time of the empty path in milliseconds.
    pub rtt_ms: u32,
    /// The path's rate in kbit/s where one link, shaper or policer gives it.
    pub rate_kbit_per_s: u32,
    /// The constraint in the direction of the data, as elements of an experiment file.
    pub(super) elements: String,
    /// Jitter of the path in the direction of the data in milliseconds; packets overtake each other.
    pub(super) jitter_ms: u32,
    /// Whether the hosts use ECN.
    pub(super) ecn: bool,
    /// Whether the hosts do without selective acknowledgements and timestamps.
    pub(super) plain: bool,
    pub(super) transfer: Transfer,
    /// Traffic of other hosts on the same path.
    pub(super) cross: Option<Traffic>,
}

impl Case {
    /// The name in files and tables.
    pub fn name(&self) -> String {
        format!("{}-{}-{}", self.kind, self.congestion.name(), self.number + 1)
    }

    /// Whether other traffic shares the path.
    pub const fn is_shared(&self) -> bool {
        self.cross.is_some() || self.transfer.flows > 1
    }

    /// Whether a capture at `place` sees only what a black hole lets through.
    pub fn is_behind_black_hole(&self, place: &str) -> bool {
        let behind = place == "receiver" || (place == "middle" && !self.tap_is_before());
        self.cause == Limit::MtuBlackHole && behind
    }

    /// A tap sees another story before the constraint than behind it: both are wanted.
    const fn tap_is_before(&self) -> bool {
        self.number.is_multiple_of(2)
    }

    /// The path and the traffic in a line, for the table of misses.
    pub fn describe(&self) -> String {
        format!(
            "{} ms, {}",
            self.rtt_ms,
            self.elements.trim_matches([' ', ',', '{', '}'])
        )
    }

    /// The case as an experiment file.
    pub fn document(&self) -> String {
        let quarter = f64::from(self.rtt_ms) / 4.0;
        let jitter = if self.jitter_ms > 0 {
            format!(", jitter = \"{} ms\", reorder = true", self.jitter_ms)
        } else {
            String::new()
        };
        let tap = "{ tap = \"middle\" }, ";
        let (before, behind) = if self.tap_is_before() {
            (tap, "")
        } else {
            ("", tap)
        };
        let congestion = self.congestion.name();
        let ecn = if self.ecn { "ecn = \"on\"" } else { "" };
        let plain = if self.plain {
            "sack = false\ntimestamps = false\n"
        } else {
            ""
        };
        let words = |traffic: &Traffic| {
            let [program, text] = traffic.words();
            format!("[\"{program}\", '{text}']")
        };
        let mut text = format!(
            r#"title = "A transfer with a known limit"
captures = "hosts"

[network]
up = [{{ delay = "{quarter} ms" }}, {before}{elements}{behind}{{ delay = "{quarter} ms"{jitter} }}]
down = [{{ delay = "{quarter} ms" }}, {{ tap = "middle" }}, {{ delay = "{quarter} ms" }}]

[workload]
kind = "command"
near = {near}
deadline = "40 s"
"#,
            elements = self.elements,
            near = words(&Traffic::Transfer(self.transfer.clone())),
        );
        let mut hosts = vec!["client", "server"];
        if let Some(cross) = &self.cross {
            text.push_str("\n[[background]]\nkind = \"command\"\nclient = \"other\"\nserver = \"sink\"\n");
            let _ = writeln!(text, "near = {}", words(cross));
            hosts.extend(["other", "sink"]);
        }
        for host in hosts {
            let _ = write!(
                text,
                "\n[hosts.{host}]\nsystem = \"linux\"\ncongestion_control = \"{congestion}\"\n{ecn}\n{plain}\
                 rmem = [\"4096 B\", \"131072 B\", \"16777216 B\"]\nwmem = [\"4096 B\", \"16384 B\", \"16777216 B\"]\n"
            );
        }
        let _ = writeln!(text, "\n[[variants]]\nname = \"{}\"", self.name());
        text
    }

    /// The plan of its run.
    ///
    /// # Errors
    /// [`CellError`]; for a case of a list that is a mistake in this program.
    pub fn plan(&self, seed: u64) -> Result<Plan, CellError> {
        let name = self.name();
        let experiment = Experiment::read(&name, &self.document(), &[])
            .map_err(|mistakes| CellError::Document(Box::new(mistakes)))?;
        let options = PlanOptions::first(&name, seed, Clock::Lab);
        Ok(experiment.plan(&options, &Fragments::new())?)
    }

    pub(super) fn new(
        cause: Limit,
        kind: &'static str,
        rtt_ms: u32,
        rate_kbit_per_s: u32,
        elements: String,
    ) -> Self {
        Self {
            cause,
            kind,
            congestion: Congestion::Cubic,
            number: 0,
            rtt_ms,
            rate_kbit_per_s,
            elements,
            jitter_ms: 0,
            ecn: false,
            plain: false,
            transfer: Transfer {
                flows: 1,
                duration: Duration::from_millis(SPAN_MS),
                bytes: None,
                writes: Writes::Greedy,
                send_buffer: None,
                receive_buffer: None,
                drain: None,
                greeting: false,
                no_delay: false,
                blocks: false,
                linger: None,
                look_every: None,
            },
            cross: None,
        }
    }

    /// A case on a link that is wide enough for everything else.
    pub(super) fn wide(cause: Limit, kind: &'static str, rtt_ms: u32, rate_kbit_per_s: u32) -> Self {
        let bytes = product(rate_kbit_per_s, rtt_ms);
        Self::new(
            cause,
            kind,
            rtt_ms,
            rate_kbit_per_s,
            link(rate_kbit_per_s, bytes.max(30_000)),
        )
    }
}

/// Adds each of `variants` with each of `congestions`.
pub(super) fn add(cases: &mut Vec<Case>, congestions: &[Congestion], variants: Vec<Case>) {
    for (number, case) in variants.into_iter().enumerate() {
        for &congestion in congestions {
            cases.push(Case {
                congestion,
                number,
                ..case.clone()
            });
        }
    }
}

pub(super) fn link(kbit: u32, queue: u64) -> String {
    format!("{{ rate = \"{kbit} kbit/s\", queue = \"{queue} B\" }}, ")
}

/// Bandwidth-delay product in bytes.
pub(super) fn product(kbit: u32, rtt_ms: u32) -> u64 {
    u64::from(kbit) * u64::from(rtt_ms) / 8
}

/// How long most transfers last.
pub(super) const SPAN_MS: u64 = 8_000;

//! The labelled transfers: every cause that a capture can tell, with every congestion control it can meet.

use std::fmt::Write as _;

use slowpath_analyze::Limit;
use slowpath_scenario::{Clock, Experiment, Fragments, Plan, PlanOptions};
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::drain::Drain;

use super::bulk::{Traffic, Transfer, Writes};
use super::cells::{CellError, Congestion};

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
    elements: String,
    /// Jitter of the path in the direction of the data in milliseconds; packets overtake each other.
    jitter_ms: u32,
    /// Whether the hosts use ECN.
    ecn: bool,
    transfer: Transfer,
    /// Traffic of other hosts on the same path.
    cross: Option<Traffic>,
}

/// Every case, kind by kind.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    endpoints(&mut cases);
    bottlenecks(&mut cases);
    losses(&mut cases);
    shared(&mut cases);
    cases
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
        // A tap sees another story before the constraint than behind it: both are wanted.
        let tap = "{ tap = \"middle\" }, ";
        let (before, behind) = if self.number.is_multiple_of(2) {
            (tap, "")
        } else {
            ("", tap)
        };
        let congestion = self.congestion.name();
        let ecn = if self.ecn { "ecn = \"on\"" } else { "" };
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
                "\n[hosts.{host}]\nsystem = \"linux\"\ncongestion_control = \"{congestion}\"\n{ecn}\n\
                 rmem = [\"4096 B\", \"131072 B\", \"16777216 B\"]\nwmem = [\"4096 B\", \"16384 B\", \"16777216 B\"]\n"
            );
        }
        let _ = writeln!(text, "\n[[variants]]\nname = \"{}\"", self.name());
        text
    }

    /// The plan of its run.
    ///
    /// # Errors
    /// [`CellError`]; for a case of [`all`] that is a mistake in this program.
    pub fn plan(&self, seed: u64) -> Result<Plan, CellError> {
        let name = self.name();
        let experiment = Experiment::read(&name, &self.document(), &[])
            .map_err(|mistakes| CellError::Document(Box::new(mistakes)))?;
        let options = PlanOptions {
            variant: name,
            repeat: 0,
            seed,
            clock: Clock::Lab,
            quick: false,
            size: None,
        };
        Ok(experiment.plan(&options, &Fragments::new())?)
    }

    fn new(cause: Limit, kind: &'static str, rtt_ms: u32, rate_kbit_per_s: u32, elements: String) -> Self {
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
            },
            cross: None,
        }
    }

    /// A case on a link that is wide enough for everything else.
    fn wide(cause: Limit, kind: &'static str, rtt_ms: u32, rate_kbit_per_s: u32) -> Self {
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
fn add(cases: &mut Vec<Case>, congestions: &[Congestion], variants: Vec<Case>) {
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

/// Limits of the two hosts and their programs.
fn endpoints(cases: &mut Vec<Case>) {
    let all = &Congestion::ALL;
    let windows = [(40, 30_000), (100, 60_000), (60, 100_000)];
    add(
        cases,
        all,
        each(windows, |(rtt, bytes)| {
            let mut case = Case::wide(Limit::ReceiverWindow, "receiver-window", rtt, 50_000);
            case.transfer.receive_buffer = Some(ByteCount::new(bytes));
            case
        }),
    );
    let readers = [(40, 2_000, 65_536), (100, 4_000, 16_384), (20, 1_000, 4_096)];
    add(
        cases,
        all,
        each(readers, |(rtt, kbit, unit)| {
            let mut case = Case::wide(Limit::ReceiverApplication, "receiver-application", rtt, 20_000);
            case.transfer.drain = Some(Drain {
                unit: ByteCount::new(unit),
                rate: BitRate::new(kbit * 1_000),
                read_ahead: 0,
            });
            case
        }),
    );
    let writers = [(40, 65_536, 400), (100, 8_192, 20), (60, 200_000, 1_000)];
    add(
        cases,
        all,
        each(writers, |(rtt, bytes, every)| {
            let mut case = Case::wide(Limit::SenderApplication, "sender-application", rtt, 20_000);
            case.transfer.writes = Writes::Bursts {
                bytes,
                every: Duration::from_millis(every),
            };
            case
        }),
    );
    let buffers = [(40, 16_000), (100, 40_000), (60, 80_000)];
    add(
        cases,
        all,
        each(buffers, |(rtt, bytes)| {
            let mut case = Case::wide(Limit::SendBuffer, "send-buffer", rtt, 50_000);
            case.transfer.send_buffer = Some(ByteCount::new(bytes));
            case
        }),
    );
    let protocols = [(40, 32_768), (100, 65_536), (60, 131_072)];
    add(
        cases,
        all,
        each(protocols, |(rtt, bytes)| {
            let mut case = Case::wide(Limit::ProtocolWindow, "protocol-window", rtt, 50_000);
            case.transfer.writes = Writes::Window { bytes };
            case.transfer.no_delay = true;
            case
        }),
    );
    let sizes = [60_000, 200_000, 500_000];
    add(
        cases,
        all,
        each(sizes, |bytes| {
            let mut case = Case::wide(Limit::SlowStart, "slow-start", 100, 90_000);
            case.transfer.bytes = Some(bytes);
            case
        }),
    );
}

/// Links, shapers and policers.
fn bottlenecks(cases: &mut Vec<Case>) {
    let all = &Congestion::ALL;
    let links = [
        (5_000, 20, 30_000),
        (10_000, 60, 75_000),
        (20_000, 100, 125_000),
        (8_000, 200, 200_000),
    ];
    add(
        cases,
        all,
        each(links, |(kbit, rtt, queue)| {
            Case::new(
                Limit::BottleneckBandwidth,
                "bottleneck",
                rtt,
                kbit,
                link(kbit, queue),
            )
        }),
    );
    let bloated = [(4_000, 30, 300_000), (10_000, 40, 500_000), (6_000, 80, 400_000)];
    add(
        cases,
        all,
        each(bloated, |(kbit, rtt, queue)| {
            Case::new(
                Limit::BottleneckBandwidth,
                "bufferbloat",
                rtt,
                kbit,
                link(kbit, queue),
            )
        }),
    );
    let shapers = [
        (5_000, 40, 50_000, 100_000),
        (10_000, 60, 100_000, 200_000),
        (15_000, 30, 200_000, 150_000),
    ];
    add(
        cases,
        all,
        each(shapers, |(kbit, rtt, burst, queue)| {
            let shaper = format!(
                "{{ rate = \"95 Mbit/s\" }}, {{ shape = \"{kbit} kbit/s\", burst = \"{burst} B\", queue = \"{queue} B\" }}, "
            );
            Case::new(Limit::BottleneckBandwidth, "shaped", rtt, kbit, shaper)
        }),
    );
    let policers = [(4_000, 30, 30_000), (8_000, 60, 120_000), (15_000, 100, 300_000)];
    add(
        cases,
        all,
        each(policers, |(kbit, rtt, burst)| {
            let policer = format!(
                "{{ rate = \"95 Mbit/s\" }}, {{ police = \"{kbit} kbit/s\", burst = \"{burst} B\" }}, "
            );
            Case::new(Limit::Policed, "policed", rtt, kbit, policer)
        }),
    );
    let marked = [(10_000, 40), (20_000, 60), (5_000, 30), (15_000, 100)];
    add(
        cases,
        // Version 1 of BBR does not heed marks.
        &[Congestion::Reno, Congestion::Cubic],
        each(marked, |(kbit, rtt)| {
            let codel = format!(
                "{{ rate = \"{kbit} kbit/s\", queue = \"1000 packets\", discipline = \"codel\", ecn = true }}, "
            );
            let mut case = Case::new(Limit::EcnCongestion, "ecn-congestion", rtt, kbit, codel);
            case.ecn = true;
            case
        }),
    );
}

/// What the path does to packets whatever the load.
fn losses(cases: &mut Vec<Case>) {
    let sensitive = &[Congestion::Reno, Congestion::Cubic];
    let rates = ["0.5 %", "1 %", "2 %", "0.2 %"];
    let rtts = [40, 100, 20, 150];
    let mut lossy = each([0, 1, 2, 3], |index: usize| {
        let mut case = Case::wide(Limit::RandomLoss, "random-loss", rtts[index], 90_000);
        case.elements = format!("{{ loss = \"{}\" }}, {}", rates[index], case.elements);
        case
    });
    let mut bursts = Case::wide(Limit::RandomLoss, "random-loss", 60, 90_000);
    bursts.elements = format!(
        "{{ loss = {{ to_bad = \"0.3 %\", to_good = \"40 %\", in_bad = \"100 %\" }} }}, {}",
        bursts.elements
    );
    lossy.push(bursts);
    add(cases, sensitive, lossy);
    let jitters = [(40, 8), (80, 18), (60, 4)];
    add(
        cases,
        &Congestion::ALL,
        each(jitters, |(rtt, jitter)| {
            let mut case = Case::wide(Limit::Reordering, "reordering", rtt, 90_000);
            case.jitter_ms = jitter;
            // Bursts of acknowledgements must not overflow it, or losses would be the limit.
            case.elements = link(90_000, 4 * product(90_000, rtt));
            case
        }),
    );
    let holes = [(40, 1_400), (80, 1_300)];
    add(
        cases,
        &Congestion::ALL,
        each(holes, |(rtt, mtu)| {
            let mut case = Case::wide(Limit::MtuBlackHole, "mtu-black-hole", rtt, 50_000);
            case.elements = format!("{{ mtu = \"{mtu} B\", black_hole = true }}, {}", case.elements);
            case.transfer.duration = Duration::from_millis(6_000);
            case.transfer.greeting = true;
            case
        }),
    );
}

/// Paths with more than one flow.
fn shared(cases: &mut Vec<Case>) {
    let all = &Congestion::ALL;
    let parallel = [(10_000, 40, 3), (20_000, 60, 2)];
    add(
        cases,
        all,
        each(parallel, |(kbit, rtt, flows)| {
            let queue = product(kbit, rtt).max(60_000);
            let mut case = Case::new(
                Limit::SharedBottleneck,
                "parallel-flows",
                rtt,
                kbit,
                link(kbit, queue),
            );
            case.transfer.flows = flows;
            case
        }),
    );
    let others = [(10_000, 40), (16_000, 80)];
    add(
        cases,
        all,
        each(others, |(kbit, rtt)| {
            let queue = product(kbit, rtt).max(60_000);
            let mut case = Case::new(Limit::SharedBottleneck, "cross-tcp", rtt, kbit, link(kbit, queue));
            case.cross = Some(Traffic::Transfer(Transfer {
                flows: 2,
                duration: Duration::from_millis(SPAN_MS + 3_000),
                ..case.transfer.clone()
            }));
            case
        }),
    );
    let datagrams = [(10_000, 60)];
    add(
        cases,
        all,
        each(datagrams, |(kbit, rtt)| {
            let queue = product(kbit, rtt).max(60_000);
            let mut case = Case::new(Limit::SharedBottleneck, "cross-udp", rtt, kbit, link(kbit, queue));
            case.cross = Some(Traffic::Datagrams {
                rate: BitRate::new(u64::from(kbit) * 600),
                on: Duration::from_millis(700),
                off: Duration::from_millis(500),
            });
            case
        }),
    );
}

fn each<T, const N: usize>(values: [T; N], case: impl FnMut(T) -> Case) -> Vec<Case> {
    values.into_iter().map(case).collect()
}

fn link(kbit: u32, queue: u64) -> String {
    format!("{{ rate = \"{kbit} kbit/s\", queue = \"{queue} B\" }}, ")
}

/// Bandwidth-delay product in bytes.
fn product(kbit: u32, rtt_ms: u32) -> u64 {
    u64::from(kbit) * u64::from(rtt_ms) / 8
}

/// How long most transfers last.
const SPAN_MS: u64 = 8_000;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::taps::PLACES;
    use super::*;

    #[test]
    fn the_list_covers_the_vocabulary() {
        let cases = all();
        assert!(cases.len() * PLACES.len() >= 300, "{}", cases.len());
        let names: BTreeSet<String> = cases.iter().map(Case::name).collect();
        assert_eq!(names.len(), cases.len());
        let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
        for case in &cases {
            *causes.entry(case.cause.name()).or_default() += 1;
        }
        for limit in [
            Limit::ReceiverWindow,
            Limit::ReceiverApplication,
            Limit::SenderApplication,
            Limit::SendBuffer,
            Limit::ProtocolWindow,
            Limit::BottleneckBandwidth,
            Limit::SharedBottleneck,
            Limit::Policed,
            Limit::RandomLoss,
            Limit::EcnCongestion,
            Limit::MtuBlackHole,
            Limit::Reordering,
            Limit::SlowStart,
        ] {
            assert!(
                causes.get(limit.name()).is_some_and(|count| *count >= 6),
                "{limit}: {causes:?}"
            );
        }
        for congestion in Congestion::ALL {
            let own = cases.iter().filter(|case| case.congestion == congestion).count();
            assert!(own * 5 >= cases.len(), "{congestion:?}: {own}");
        }
    }

    #[test]
    fn every_case_can_be_planned() {
        for case in all() {
            let plan = case
                .plan(1)
                .unwrap_or_else(|error| panic!("{}: {error}", case.name()));
            let taps = plan
                .network
                .elements
                .iter()
                .filter(|element| element.name.ends_with(super::super::taps::MIDDLE));
            assert_eq!(taps.count(), 2, "{}", case.name());
        }
    }
}

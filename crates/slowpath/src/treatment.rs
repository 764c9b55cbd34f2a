//! Verdicts that no capture alone can give.
//!
//! That the network treats one mark differently from another: two variants whose plans differ in nothing but marks
//! (OpenSSH's `IPQoS`, a socket's DSCP, a router's rewriting) and in the amount of data, and of which one is much
//! slower in every run, show it. That a program of an end was busy all the time: the run's health says so, and the
//! path then gets no verdict.

use std::cmp::Reverse;

use slowpath_analyze::{Evidence, Limit, Parameters, Rejected, Verdict};
use slowpath_path::ElementKind;
use slowpath_record::Reason;
use slowpath_report::results::{RunResult, Variant};
use slowpath_scenario::{Clock, Plan, Stack, Workload};
use slowpath_units::ByteCount;

/// Gives every variant that another one shows to suffer from its mark the verdict of [`Limit::DscpTreatment`].
///
/// Variants whose runs were limited by a processor get that verdict first.
pub(crate) fn judge(variants: &mut [Variant], plan_of: &dyn Fn(&str, Clock) -> Option<Plan>) {
    for variant in &mut *variants {
        blame_processors(variant);
    }
    let plans: Vec<Option<Plan>> = variants
        .iter()
        .map(|variant| plan_of(&variant.name, clock(variant)?))
        .collect();
    let mut found = Vec::new();
    for (number, slow) in variants.iter().enumerate() {
        let Some(plan) = &plans[number] else { continue };
        let best = variants
            .iter()
            .zip(&plans)
            .filter(|(fast, _)| fast.clock == slow.clock)
            .filter_map(|(fast, other)| Some((fast, other.as_ref()?, gain(slow, fast)?)))
            .filter(|(_, other, _)| only_marks_differ(plan, other))
            .max_by(|a, b| a.2.total_cmp(&b.2));
        if let Some((fast, other, gain)) = best {
            found.push((number, verdict(slow, plan, fast, other, gain)));
        }
    }
    for (number, verdict) in found {
        variants[number].verdict = Some(verdict);
    }
}

/// What the run's health says of a busy processor.
fn processor_bound(run: &RunResult) -> Option<&Reason> {
    run.health
        .reasons
        .iter()
        .find(|reason| reason.code == crate::real_time::PROCESSOR_BOUND)
}

fn blame_processors(variant: &mut Variant) {
    let mut bound = 0;
    let mut last = None;
    for run in &mut variant.runs {
        let Some(reason) = processor_bound(run) else {
            continue;
        };
        let verdict = Verdict {
            limit: Limit::HostCpu,
            flags: Vec::new(),
            share: 1.0,
            confidence: 0.8,
            sentence: format!("{}.", reason.text),
            parameters: Parameters::default(),
            evidence: Vec::new(),
            rejected: Vec::new(),
            next_step: Some("run it on a machine with more processors, or in simulated time".to_owned()),
        };
        bound += 1;
        last = Some(verdict.clone());
        run.verdict = Some(verdict);
    }
    if bound * 2 > variant.runs.len() {
        variant.verdict = last;
    }
}

fn clock(variant: &Variant) -> Option<Clock> {
    match variant.clock.as_str() {
        "lab" => Some(Clock::Lab),
        "simulated" => Some(Clock::Simulated),
        _ => None,
    }
}

/// How many times faster the slowest run of `fast` is than the fastest of `slow`, if that is beyond doubt.
fn gain(slow: &Variant, fast: &Variant) -> Option<f64> {
    let most = slow
        .rates()
        .into_iter()
        .reduce(f64::max)
        .filter(|rate| *rate > 0.0)?;
    let least = fast.rates().into_iter().reduce(f64::min)?;
    // A slow run that the machine may have slowed says nothing; a fast one would only be faster without.
    let doubtful = slow.runs.iter().any(|run| processor_bound(run).is_some());
    let gain = least / most;
    (gain >= LEAST_GAIN && !doubtful).then_some(gain)
}

fn only_marks_differ(one: &Plan, other: &Plan) -> bool {
    marks(one) != marks(other) && unmarked(one) == unmarked(other)
}

/// Everything in a plan that marks packets, in words.
fn marks(plan: &Plan) -> Vec<String> {
    let mut words = Vec::new();
    for job in &plan.jobs {
        match &job.workload {
            Workload::Ssh(ssh) => {
                for (host, options) in [
                    (&job.client, &ssh.client_options),
                    (&job.server, &ssh.server_options),
                ] {
                    let lines = options.iter().filter(|line| is_ip_qos(line));
                    words.extend(lines.map(|line| format!("{line} on {host}")));
                }
            }
            Workload::Iperf3(test) => words.extend(test.dscp.map(|dscp| format!("{dscp} in {}", job.name))),
            Workload::Udp(stream) => words.extend(stream.dscp.map(|dscp| format!("{dscp} in {}", job.name))),
            Workload::Ping(ping) => words.extend(ping.dscp.map(|dscp| format!("{dscp} in {}", job.name))),
            _ => {}
        }
    }
    for host in &plan.hosts {
        if let Stack::Kernel(stack) = &host.stack {
            words.extend(stack.dscp.map(|dscp| format!("{dscp} on {}", host.name)));
        }
    }
    for element in &plan.network.elements {
        if matches!(element.does, ElementKind::Remark(_)) {
            words.push(format!("marks rewritten by {}", element.name));
        }
    }
    words
}

fn is_ip_qos(line: &str) -> bool {
    let word = line.trim_start().get(..5);
    word.is_some_and(|word| word.eq_ignore_ascii_case("ipqos"))
}

/// What is left of a plan without its marks, its amount of data, and what differs from run to run.
fn unmarked(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.variant.clear();
    plan.seed = 0;
    plan.repeat = 0;
    plan.deadline = slowpath_units::Duration::ZERO;
    plan.figures.clear();
    plan.assumptions.clear();
    plan.changes.clear();
    plan.full_size = None;
    for job in &mut plan.jobs {
        job.workload = job.workload.clone().with_size(ByteCount::ZERO);
        match &mut job.workload {
            Workload::Ssh(ssh) => {
                ssh.client_options.retain(|line| !is_ip_qos(line));
                ssh.server_options.retain(|line| !is_ip_qos(line));
                ssh.content_seed = 0;
            }
            Workload::Iperf3(test) => test.dscp = None,
            Workload::Udp(stream) => stream.dscp = None,
            Workload::Ping(ping) => ping.dscp = None,
            _ => {}
        }
    }
    for host in &mut plan.hosts {
        host.origins.clear();
        if let Stack::Kernel(stack) = &mut host.stack {
            stack.dscp = None;
        }
    }
    // Elements are a chain in each direction; one more or less that only rewrites marks changes the wiring alone.
    let elements = &mut plan.network.elements;
    elements.retain(|element| !matches!(element.does, ElementKind::Remark(_)));
    for element in elements.iter_mut() {
        element.outputs.clear();
    }
    elements.sort_by_key(|element| Reverse(element.name.clone()));
    for port in &mut plan.network.ports {
        port.entry = None;
    }
    plan
}

fn verdict(slow: &Variant, plan: &Plan, fast: &Variant, other: &Plan, gain: f64) -> Verdict {
    let (own, others) = (marks(plan), marks(other));
    let here: Vec<&str> = own
        .iter()
        .filter(|word| !others.contains(word))
        .map(String::as_str)
        .collect();
    let there: Vec<&str> = others
        .iter()
        .filter(|word| !own.contains(word))
        .map(String::as_str)
        .collect();
    let said = |words: &[&str]| {
        if words.is_empty() {
            "nothing".to_owned()
        } else {
            words.join(" and ")
        }
    };
    let repeated = slow.rates().len().min(fast.rates().len()) > 1;
    let before = slow.verdict.as_ref();
    let mut evidence = vec![Evidence {
        fact: "comparison.gain".to_owned(),
        text: format!(
            "{} differs from this in marks alone ({} there, {} here), and its slowest run was {gain:.1} times as \
             fast as the fastest one here",
            fast.name,
            said(&there),
            said(&here)
        ),
        value: gain,
        unit: String::new(),
        packets: Vec::new(),
    }];
    if let Some(before) = before {
        evidence.push(Evidence {
            fact: "capture.verdict".to_owned(),
            text: format!("a capture alone says of it: {}", before.sentence),
            value: before.confidence,
            unit: String::new(),
            packets: Vec::new(),
        });
    }
    Verdict {
        limit: Limit::DscpTreatment,
        flags: before.map_or_else(Vec::new, |before| before.flags.clone()),
        share: 1.0,
        confidence: if repeated { 0.95 } else { 0.8 },
        sentence: format!(
            "The network treats the mark of these packets differently: with nothing else changed, {} is {gain:.0} \
             times as fast.",
            fast.name
        ),
        parameters: before.map_or_else(Parameters::default, |before| before.parameters),
        evidence,
        rejected: before.map_or_else(Vec::new, |before| rest(&before.rejected)),
        next_step: None,
    }
}

/// The limits rejected before, without the one that now holds.
fn rest(rejected: &[Rejected]) -> Vec<Rejected> {
    rejected
        .iter()
        .filter(|one| one.limit != Limit::DscpTreatment)
        .cloned()
        .collect()
}

/// Below this, chance and congestion may differ as much.
const LEAST_GAIN: f64 = 1.5;

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_record::{Health, HealthState};
    use slowpath_scenario::{Experiment, Fragments, PlanOptions};

    const TEXT: &str = r#"
        title = "t"
        [network]
        up = [{ name = "carrier", police = "10 Mbit/s", burst = "64 KiB", only = { dscp = "cs1" } }, { rate = "1 Gbit/s" }]
        down = [{ rate = "1 Gbit/s" }]
        [workload]
        kind = "scp"
        size = "9 MiB"
        [[variants]]
        name = "marked"
        workload = { client_options = ["IPQoS af21 cs1", "Ciphers aes128-ctr"] }
        [[variants]]
        name = "unmarked"
        workload = { client_options = ["IPQoS none", "Ciphers aes128-ctr"], size = "90 MiB" }
        [[variants]]
        name = "other-cipher"
        workload = { client_options = ["IPQoS none", "Ciphers aes256-ctr"] }
    "#;

    fn variant(name: &str, rates: &[u64]) -> Variant {
        let run = |bytes: &u64| {
            let record = serde_json::json!({
                "schema": "slowpath/record/1", "origin": "simulated", "experiment": "t", "variant": name,
                "repeat": 0, "seed": 1, "plan_digest": "", "health": { "state": "valid", "reasons": [] },
                "transfers": [{ "name": "x", "bytes": bytes, "start": 0, "end": 1_000_000_000, "complete": true }],
            });
            RunResult::of(&serde_json::from_value(record).unwrap(), None)
        };
        Variant {
            name: name.to_owned(),
            clock: "simulated".to_owned(),
            runs: rates.iter().map(run).collect(),
            ..Variant::default()
        }
    }

    fn judged(mut variants: Vec<Variant>) -> Vec<Option<Limit>> {
        let experiment = Experiment::read("x.toml", TEXT, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        judge(&mut variants, &|name, clock| {
            let options = PlanOptions {
                variant: name.to_owned(),
                repeat: 0,
                seed: 1,
                clock,
                quick: false,
                size: None,
            };
            experiment.plan(&options, &Fragments::new()).ok()
        });
        variants
            .iter()
            .map(|variant| variant.verdict.as_ref().map(|verdict| verdict.limit))
            .collect()
    }

    #[test]
    fn a_mark_is_blamed_only_when_nothing_else_differs() {
        let treated = Some(Limit::DscpTreatment);
        for (fast, rates, expected) in [
            ("unmarked", &[9_000_000, 8_000_000][..], treated),
            ("unmarked", &[9_000_000, 1_400_000], None),
            ("other-cipher", &[9_000_000, 8_000_000], None),
        ] {
            let found = judged(vec![
                variant("marked", &[1_000_000, 1_100_000]),
                variant(fast, rates),
            ]);
            assert_eq!(found, [expected, None], "{fast} {rates:?}");
        }
    }

    #[test]
    fn a_busy_processor_is_blamed_before_the_path() {
        let mut busy = variant("marked", &[1_000_000]);
        let mut health = Health::valid();
        health.add(Reason {
            code: crate::real_time::PROCESSOR_BOUND.to_owned(),
            state: HealthState::Degraded,
            text: "sshd was busy".to_owned(),
        });
        busy.runs[0].health = health;
        let found = judged(vec![busy, variant("unmarked", &[9_000_000])]);
        assert_eq!(found, [Some(Limit::HostCpu), None]);
    }
}

//! Verdicts that no capture alone can give.
//!
//! That the network treats one mark differently from another: two variants whose plans differ in nothing but marks
//! (OpenSSH's `IPQoS`, a socket's DSCP, a router's rewriting) and in the amount of data, and of which one is much
//! slower in every run, show it. That a program of an end was busy all the time: the run's health says so, and the
//! path then gets no verdict.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use slowpath_path::{Classify, ElementKind, Match, NetworkSpec, Remark, SetMark, Target};
use slowpath_record::{HealthState, Reason};
use slowpath_report::results::{RunResult, Variant};
use slowpath_scenario::{Clock, Plan, Stack, Workload};
use slowpath_units::ByteCount;
use slowpath_verdict::{Evidence, Limit, Parameters, Rejected, Verdict};

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
fn busy_processor(run: &RunResult) -> Option<&Reason> {
    run.health
        .reasons
        .iter()
        .find(|reason| reason.code == crate::real_time::PROCESSOR_BOUND)
}

/// The same of a run that may have a verdict: an invalid one has none.
fn processor_bound(run: &RunResult) -> Option<&Reason> {
    busy_processor(run).filter(|_| run.health.state != HealthState::Invalid)
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

/// How many times faster the slowest run of `fast` is than the fastest of `slow`, if that is beyond doubt; without
/// end where no run of `slow` moved anything.
fn gain(slow: &Variant, fast: &Variant) -> Option<f64> {
    let starves = !slow.runs.is_empty() && slow.runs.iter().all(RunResult::never_finished);
    let most = if starves {
        let rates = slow.runs.iter().map(|run| run.goodput_byte_per_s);
        rates.fold(0.0, f64::max)
    } else {
        slow.rates()
            .into_iter()
            .reduce(f64::max)
            .filter(|rate| *rate > 0.0)?
    };
    let least = as_fast_side(fast)
        .map(|run| run.goodput_byte_per_s)
        .reduce(f64::min)?;
    // A slow run that the machine may have slowed says nothing; a fast one would only be faster without.
    let doubtful = slow.runs.iter().any(|run| busy_processor(run).is_some());
    let gain = if most > 0.0 { least / most } else { f64::INFINITY };
    (gain >= LEAST_GAIN && !doubtful).then_some(gain)
}

/// The runs of a variant that may stand as the fast side of a comparison.
fn as_fast_side(fast: &Variant) -> impl Iterator<Item = &RunResult> {
    fast.runs
        .iter()
        .filter(|run| run.complete && at_worst_slowed(run))
}

/// Whether a run is valid, or invalid for nothing but what slows a transfer down: its rate is then the least that
/// the path allows.
fn at_worst_slowed(run: &RunResult) -> bool {
    run.health
        .reasons
        .iter()
        .all(|reason| reason.state != HealthState::Invalid || SLOWING.contains(&reason.code.as_str()))
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
        if let ElementKind::Remark(remark) = &element.does {
            let chosen = plan.network.element(&chooser(&element.name));
            let only = chosen.and_then(|element| match &element.does {
                ElementKind::Classify(only) => Some(only),
                _ => None,
            });
            words.push(rewriting(&element.name, remark, only));
        }
    }
    words
}

/// The classifier that lets only some packets to the element `name`.
fn chooser(name: &str) -> String {
    format!("{name}.only")
}

fn rewriting(name: &str, remark: &Remark, only: Option<&Classify>) -> String {
    let rules: Vec<String> = remark
        .rules
        .iter()
        .map(|rule| format!("{} to {}", packets(&rule.matches), written(rule.set)))
        .collect();
    let among: Vec<String> = only
        .iter()
        .flat_map(|only| &only.rules)
        .map(|rule| packets(&rule.matches))
        .collect();
    let among = if among.is_empty() {
        String::new()
    } else {
        format!(", of {} alone", among.join(" or "))
    };
    format!("marks rewritten by {name} ({}{among})", rules.join(", "))
}

/// Which packets a rule takes.
fn packets(matches: &Match) -> String {
    if *matches == Match::default() {
        return "every packet".to_owned();
    }
    let marked = Match {
        dscp: matches.dscp.clone(),
        ..Match::default()
    };
    if *matches == marked {
        let marks: Vec<String> = marked.dscp.iter().map(ToString::to_string).collect();
        return format!("packets marked {}", marks.join(" or "));
    }
    let text = serde_json::to_string(matches).expect("a rule can always be written as JSON");
    format!("packets of {text}")
}

fn written(set: SetMark) -> String {
    match set {
        SetMark::Keep => "what they were".to_owned(),
        SetMark::Dscp(dscp) => dscp.to_string(),
        SetMark::Ecn(ecn) => format!("ECN {}", ecn as u8),
        SetMark::Tos {
            tos,
            precedence,
            spares_ecn,
        } => {
            let precedence = precedence.map_or(String::new(), |value| format!(" and precedence {value}"));
            let spared = if spares_ecn { " beside ECN" } else { "" };
            format!("type of service {tos}{precedence}{spared}")
        }
    }
}

/// How much the jobs carry, in words.
fn amount(plan: &Plan) -> String {
    let sizes: Vec<String> = plan
        .jobs
        .iter()
        .filter_map(|job| job.workload.size())
        .map(|size| size.to_string())
        .collect();
    sizes.join(" and ")
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
    remove_remarkers(&mut plan.network);
    for element in &mut plan.network.elements {
        // Where a router's own messages join the way back follows from how many elements stand before it.
        if matches!(element.does, ElementKind::Mtu(_) | ElementKind::Router(_)) {
            element.outputs.truncate(1);
        }
    }
    plan.network
        .elements
        .sort_by_key(|element| Reverse(element.name.clone()));
    plan
}

/// Takes out what only rewrites marks, with the classifiers that choose its packets: what led there leads to what
/// stands behind.
fn remove_remarkers(network: &mut NetworkSpec) {
    let mut behind: BTreeMap<String, Target> = BTreeMap::new();
    for element in &network.elements {
        if !matches!(element.does, ElementKind::Remark(_)) {
            continue;
        }
        let chosen = network
            .element(&chooser(&element.name))
            .filter(|chosen| matches!(chosen.does, ElementKind::Classify(_)));
        for element in std::iter::once(element).chain(chosen) {
            // A classifier's last output passes by.
            let next = element.outputs.last().cloned();
            behind.extend(next.map(|next| (element.name.clone(), next)));
        }
    }
    network
        .elements
        .retain(|element| !behind.contains_key(&element.name));
    let outputs = network
        .elements
        .iter_mut()
        .flat_map(|element| &mut element.outputs);
    let entries = network.ports.iter_mut().filter_map(|port| port.entry.as_mut());
    for target in outputs.chain(entries) {
        // Elements stand in no loop, so that this ends; the bound holds for any plan.
        for _ in 0..behind.len() {
            let Some(next) = behind.get(&target.to) else { break };
            *target = next.clone();
        }
    }
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
    let (here, there) = (said(&here), said(&there));
    let (differs, but) = match (amount(plan), amount(other)) {
        (own, others) if own == others => (format!("marks alone ({there} there, {here} here)"), ""),
        (own, others) => (
            format!(
                "marks ({there} there, {here} here) and the amount of data ({others} there, {own} here) alone"
            ),
            " but the amount of data",
        ),
    };
    let repeated = slow.rates().len().min(as_fast_side(fast).count()) > 1;
    let before = slow.verdict.as_ref();
    let mut evidence = vec![Evidence {
        fact: "comparison.gain".to_owned(),
        text: format!(
            "{} differs from this in {differs}, and {}",
            fast.name,
            if gain.is_finite() {
                let slowed = fast.rates().is_empty();
                let though = if slowed {
                    ", although the machine slowed it down,"
                } else {
                    ""
                };
                format!("its slowest run{though} was {gain:.1} times as fast as the fastest one here")
            } else {
                "all its runs came to their end, while nothing arrived here".to_owned()
            }
        ),
        // JSON knows no infinity.
        value: if gain.is_finite() { gain } else { f64::MAX },
        unit: String::new(),
        packets: Vec::new(),
    }];
    let loads = slow.runs.iter().flat_map(|run| &run.loads);
    if let Some(busiest) = loads.max_by(|a, b| a.share.total_cmp(&b.share)) {
        evidence.push(Evidence {
            fact: "programs.load".to_owned(),
            text: format!(
                "no processor is the cause: the busiest program, {}, used {:.0} % of one",
                busiest.program,
                busiest.share * 100.0
            ),
            value: busiest.share,
            unit: "share of a processor".to_owned(),
            packets: Vec::new(),
        });
    }
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
            "The network treats the mark of these packets differently: with nothing else changed{but}, {} {}.",
            fast.name,
            if gain.is_finite() {
                format!("is {gain:.0} times as fast")
            } else {
                "comes to its end, and here nothing moves".to_owned()
            }
        ),
        parameters: before.map_or_else(Parameters::default, |before| before.parameters),
        evidence,
        rejected: before.map_or_else(Vec::new, |before| rest(&before.rejected)),
        next_step: Some(
            "take the mark off where the data come from (OpenSSH: IPQoS none), or have a router rewrite it; --prove tries \
             both where the experiment asks for it"
                .to_owned(),
        ),
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

/// What the lab's wire does when it gets too little of the processor: packets wait, gather, and overflow queues.
const SLOWING: [&str; 6] = [
    "release-late",
    "arrival-uncertain",
    "queue-bunched",
    "path-longer",
    "wire-stalled",
    "wire-starved",
];

/// Below this, chance and congestion may differ as much.
const LEAST_GAIN: f64 = 1.5;

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_record::Health;
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
            let complete = *bytes > 0;
            let record = serde_json::json!({
                "schema": "slowpath/record/1", "origin": "simulated", "experiment": "t", "variant": name,
                "repeat": 0, "seed": 1, "plan_digest": "", "health": { "state": "valid", "reasons": [] },
                "transfers": [{ "name": "x", "bytes": bytes, "start": 0, "end": 1_000_000_000, "complete": complete }],
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

    fn plan(text: &str, name: &str, clock: Clock) -> Option<Plan> {
        let experiment = Experiment::read("x.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        experiment.plan(&first_run(name, clock), &Fragments::new()).ok()
    }

    fn first_run(name: &str, clock: Clock) -> PlanOptions {
        PlanOptions {
            variant: name.to_owned(),
            repeat: 0,
            seed: 1,
            clock,
            quick: false,
            size: None,
        }
    }

    fn judged(mut variants: Vec<Variant>) -> Vec<Option<Limit>> {
        judge(&mut variants, &|name, clock| plan(TEXT, name, clock));
        variants
            .iter()
            .map(|variant| variant.verdict.as_ref().map(|verdict| verdict.limit))
            .collect()
    }

    #[test]
    fn a_difference_in_the_amount_of_data_is_told() {
        let text = TEXT.replace(", size = \"90 MiB\"", "");
        for (text, but, sizes) in [
            (TEXT, " but the amount of data,", Some((90 << 20, 9 << 20))),
            (text.as_str(), ",", None),
        ] {
            let mut variants = [
                variant("marked", &[1_000_000, 1_100_000]),
                variant("unmarked", &[9_000_000, 8_000_000]),
            ];
            judge(&mut variants, &|name, clock| plan(text, name, clock));
            let verdict = variants[0].verdict.as_ref().unwrap();
            let said = format!("with nothing else changed{but} unmarked is 7 times");
            assert!(verdict.sentence.contains(&said), "{}", verdict.sentence);
            let evidence = &verdict.evidence[0].text;
            let told = sizes.map_or("in marks alone (".to_owned(), |(there, here)| {
                let (there, here) = (ByteCount::new(there), ByteCount::new(here));
                format!("the amount of data ({there} there, {here} here) alone,")
            });
            assert!(evidence.contains(&told), "{evidence}");
        }
    }

    #[test]
    fn remarkers_are_marks_and_wiring_is_not() {
        let differs = |one: &str, other: &str| {
            let network = |up: &str| {
                let text = format!(
                    "title = \"t\"\n[network]\nup = [{up}]\ndown = [{{ rate = \"1 Gbit/s\" }}]\n[workload]\n\
                     kind = \"iperf3\"\n[[variants]]\nname = \"v\"\n"
                );
                plan(&text, "v", Clock::Simulated).unwrap()
            };
            only_marks_differ(&network(one), &network(other))
        };
        let plain = "{ name = \"a\", rate = \"9 Mbit/s\" }, { name = \"b\", delay = \"1 ms\" }";
        let swapped = "{ name = \"b\", delay = \"1 ms\" }, { name = \"a\", rate = \"9 Mbit/s\" }";
        let mark = |rest: &str| format!("{{ name = \"m\", {rest} }}, {plain}");
        let [cs1, ef, some] = [
            "mark = \"cs1\"",
            "mark = \"ef\"",
            "mark = \"cs1\", only = { dscp = \"ef\" }",
        ]
        .map(mark);
        for (one, other, expected) in [
            (plain, plain, false),
            (plain, swapped, false),
            (plain, &cs1, true),
            (&cs1, &cs1, false),
            (&cs1, &ef, true),
            (&cs1, &some, true),
            (plain, &some, true),
            (swapped, &cs1, false),
        ] {
            assert_eq!(differs(one, other), expected, "{one}\n{other}");
            assert_eq!(differs(other, one), expected, "{other}\n{one}");
        }
    }

    #[test]
    fn a_line_more_in_a_routers_configuration_is_a_mark() {
        let loaded = crate::load::Loaded::open("scp-dscp", &[]).unwrap();
        for clock in [Clock::Simulated, Clock::Lab] {
            let plan = |name: &str| {
                let options = first_run(name, clock);
                loaded.experiment.plan(&options, &loaded.fragments).unwrap()
            };
            let outer = plan("scp-outer");
            for (without, line) in [
                ("scp-outer", "scp-tos-supersede"),
                ("scp-outer", "scp-dscp-supersede"),
                ("scp-ipv6", "scp-ipv6-dscp-supersede"),
            ] {
                assert_eq!(unmarked(&plan(without)), unmarked(&plan(line)), "{line}");
                assert_ne!(marks(&plan(without)), marks(&plan(line)), "{line}");
            }
            assert!(!only_marks_differ(&outer, &plan("scp-none")));
        }
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
    fn a_transfer_that_starves_is_told_from_an_invalid_run() {
        let mut starving = variant("marked", &[0, 0]);
        let fast = variant("unmarked", &[9_000_000, 8_000_000]);
        let mut variants = [starving.clone(), fast.clone()];
        judge(&mut variants, &|name, clock| plan(TEXT, name, clock));
        let verdict = variants[0].verdict.as_ref().unwrap();
        assert_eq!(verdict.limit, Limit::DscpTreatment);
        assert!(
            verdict.sentence.contains("here nothing moves"),
            "{}",
            verdict.sentence
        );
        assert!(serde_json::to_string(verdict).is_ok());
        starving.runs[1].health.add(Reason {
            code: "late".to_owned(),
            state: HealthState::Invalid,
            text: "the wire was late".to_owned(),
        });
        assert_eq!(judged(vec![starving, fast]), [None, None]);
    }

    #[test]
    fn a_fast_run_that_was_slowed_down_still_shows_the_difference() {
        let late = |code: &str| {
            let mut fast = variant("unmarked", &[9_000_000]);
            fast.runs[0].health.add(Reason {
                code: code.to_owned(),
                state: HealthState::Invalid,
                text: "packets gathered".to_owned(),
            });
            judged(vec![variant("marked", &[1_000_000]), fast])
        };
        assert_eq!(late("queue-bunched"), [Some(Limit::DscpTreatment), None]);
        assert_eq!(late("tun-drops"), [None, None]);
        // The slow side may be slow because of it.
        let mut slow = variant("marked", &[1_000_000]);
        slow.runs[0].health.add(Reason {
            code: "queue-bunched".to_owned(),
            state: HealthState::Invalid,
            text: "packets gathered".to_owned(),
        });
        assert_eq!(
            judged(vec![slow, variant("unmarked", &[9_000_000])]),
            [None, None]
        );
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
        let mut invalid = busy.clone();
        let found = judged(vec![busy, variant("unmarked", &[9_000_000])]);
        assert_eq!(found, [Some(Limit::HostCpu), None]);
        // What speaks against the run speaks against any verdict on it.
        invalid.runs[0].health.add(Reason {
            code: "late".to_owned(),
            state: HealthState::Invalid,
            text: "the wire was late".to_owned(),
        });
        let found = judged(vec![invalid, variant("unmarked", &[9_000_000])]);
        assert_eq!(found, [None, None]);
    }
}

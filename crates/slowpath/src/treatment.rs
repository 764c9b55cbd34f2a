//! Verdicts that no capture alone can give.
//!
//! That the network treats one mark differently from another: two variants whose plans differ in nothing but marks
//! (OpenSSH's `IPQoS`, a socket's DSCP, a router's rewriting) and in the amount of data, and of which one is much
//! slower in every run, show it. That a program of an end was busy all the time: the run's health says so, and the
//! path then gets no verdict.

use slowpath_record::{Code, HealthState, Origin, Reason};
use slowpath_report::results::{RunResult, Variant};
use slowpath_scenario::plan::MarksApart;
use slowpath_scenario::{Clock, Plan};
use slowpath_verdict::Verdict;
use slowpath_verdict::treatment::{ByMarks, by_marks, by_processor};

/// Gives every variant that another one shows to suffer from its mark the verdict `dscp-treatment`.
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
            .filter_map(|(fast, other, gain)| Some((fast, plan.marks_apart(other)?, gain)))
            .max_by(|a, b| a.2.total_cmp(&b.2));
        if let Some((fast, apart, gain)) = best {
            found.push((number, verdict(slow, fast, &apart, gain)));
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
        .find(|reason| reason.code == Code::ProcessorBound)
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
        let verdict = by_processor(&reason.text);
        bound += 1;
        last = Some(verdict.clone());
        run.verdict = Some(verdict);
    }
    if bound * 2 > variant.runs.len() {
        variant.verdict = last;
    }
}

fn clock(variant: &Variant) -> Option<Clock> {
    match variant.clock {
        Origin::Lab => Some(Clock::Lab),
        Origin::Simulated => Some(Clock::Simulated),
        Origin::Live | Origin::Imported => None,
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
        .all(|reason| reason.state != HealthState::Invalid || SLOWING.contains(&reason.code))
}

fn verdict(slow: &Variant, fast: &Variant, apart: &MarksApart, gain: f64) -> Verdict {
    let said = |words: &[String]| {
        if words.is_empty() {
            "nothing".to_owned()
        } else {
            words.join(" and ")
        }
    };
    let (here, there) = (said(&apart.here), said(&apart.there));
    let (differs, beside) = match &apart.amounts {
        None => (format!("marks alone ({there} there, {here} here)"), ""),
        Some([own, others]) => (
            format!(
                "marks ({there} there, {here} here) and the amount of data ({others} there, {own} here) alone"
            ),
            "the amount of data",
        ),
    };
    let loads = slow.runs.iter().flat_map(|run| &run.loads);
    by_marks(&ByMarks {
        fast: &fast.name,
        differs: &differs,
        beside,
        gain,
        slowed: fast.rates().is_empty(),
        repeated: slow.rates().len().min(as_fast_side(fast).count()) > 1,
        busiest: loads
            .max_by(|a, b| a.share.total_cmp(&b.share))
            .map(|load| (load.program.as_str(), load.share)),
        before: slow.verdict.as_ref(),
    })
}

/// What the lab's wire does when it gets too little of the processor: packets wait, gather, and overflow queues; and what
/// takes the processors away.
///
/// A disturbed machine may slow a run down by any factor; of 200 disturbed runs it made none faster by more than a fifth
/// (`docs/validation/noise.md`), which is less than [`LEAST_GAIN`] asks for.
const SLOWING: [Code; 10] = [
    Code::MachineEffect,
    Code::Crowded,
    Code::Steal,
    Code::Busy,
    Code::ReleaseLate,
    Code::ArrivalUncertain,
    Code::QueueBunched,
    Code::PathLonger,
    Code::WireStalled,
    Code::WireStarved,
];

/// Below this, chance and congestion may differ as much.
const LEAST_GAIN: f64 = 1.5;

#[cfg(test)]
mod tests {
    use slowpath_record::Health;
    use slowpath_scenario::{Experiment, Fragments, PlanOptions};
    use slowpath_units::ByteCount;
    use slowpath_verdict::Limit;

    use super::*;

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
            runs: rates.iter().map(run).collect(),
            ..Variant::new(name, Origin::Simulated)
        }
    }

    fn plan(text: &str, name: &str, clock: Clock) -> Option<Plan> {
        let experiment = Experiment::read("x.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        experiment.plan(&first_run(name, clock), &Fragments::new()).ok()
    }

    fn first_run(name: &str, clock: Clock) -> PlanOptions {
        PlanOptions::first(name, 1, clock)
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
            network(one).marks_apart(&network(other)).is_some()
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
                assert!(plan(without).marks_apart(&plan(line)).is_some(), "{line}");
            }
            assert_eq!(outer.marks_apart(&plan("scp-none")), None);
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
            code: Code::Other("late".to_owned()),
            state: HealthState::Invalid,
            text: "the wire was late".to_owned(),
        });
        assert_eq!(judged(vec![starving, fast]), [None, None]);
    }

    #[test]
    fn a_fast_run_that_was_slowed_down_still_shows_the_difference() {
        let late = |code: Code| {
            let mut fast = variant("unmarked", &[9_000_000]);
            fast.runs[0].health.add(Reason {
                code,
                state: HealthState::Invalid,
                text: "packets gathered".to_owned(),
            });
            judged(vec![variant("marked", &[1_000_000]), fast])
        };
        for code in [Code::QueueBunched, Code::MachineEffect, Code::Steal] {
            assert_eq!(late(code), [Some(Limit::DscpTreatment), None]);
        }
        assert_eq!(late(Code::TunDrops), [None, None]);
        // The slow side may be slow because of it.
        let mut slow = variant("marked", &[1_000_000]);
        slow.runs[0].health.add(Reason {
            code: Code::QueueBunched,
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
            code: Code::ProcessorBound,
            state: HealthState::Degraded,
            text: "sshd was busy".to_owned(),
        });
        busy.runs[0].health = health;
        let mut invalid = busy.clone();
        let found = judged(vec![busy, variant("unmarked", &[9_000_000])]);
        assert_eq!(found, [Some(Limit::HostCpu), None]);
        // What speaks against the run speaks against any verdict on it.
        invalid.runs[0].health.add(Reason {
            code: Code::Other("late".to_owned()),
            state: HealthState::Invalid,
            text: "the wire was late".to_owned(),
        });
        let found = judged(vec![invalid, variant("unmarked", &[9_000_000])]);
        assert_eq!(found, [None, None]);
    }
}

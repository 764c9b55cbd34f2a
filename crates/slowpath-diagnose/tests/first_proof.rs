//! The first proofs, with canned records: a window that helps, and one that cannot.

use slowpath_diagnose::change::{self, Control};
use slowpath_diagnose::gain::{Prediction, predict, remedies};
use slowpath_diagnose::investigation::{Conclusion, Investigation, Outcome, Settings, Step};
use slowpath_diagnose::situation::{Cost, Filled, PathEvidence, Situation};
use slowpath_facts::{Counters, FlowFacts, Graphs};
use slowpath_facts::{DscpSeen, Handshake, RttSummary};
use slowpath_facts::{Side, Surroundings, Tap};
use slowpath_record::health::{Health, HealthState, Reason};
use slowpath_record::{Origin, RunRecord, TransferResult};
use slowpath_scenario::Intervention;
use slowpath_units::Time;
use slowpath_verdict::Connection;
use slowpath_verdict::{Limit, Parameters, Verdict};

const BYTES: u64 = 52_428_800;

fn record(goodput: f64) -> RunRecord {
    let nanos = BYTES as f64 / goodput * 1e9;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a canned duration"
    )]
    let end = Time::from_nanos(nanos as u64);
    RunRecord {
        kind: slowpath_record::RunKind::Plain,
        schema: slowpath_record::run::SCHEMA.into(),
        origin: Origin::Lab,
        experiment: "canned".into(),
        variant: "canned".into(),
        repeat: 0,
        seed: 1,
        plan_digest: String::new(),
        environment: None,
        health: Health::valid(),
        disturbances: None,
        captures: Vec::new(),
        series: Vec::new(),
        curves: Vec::new(),
        transfers: vec![TransferResult {
            name: "RETR test".into(),
            bytes: BYTES,
            start: Time::ZERO,
            end,
            complete: true,
            error: None,
            retransmitted_segments: None,
            sender: None,
        }],
        flows: Vec::new(),
        elements: Vec::new(),
        marks: Vec::new(),
        loads: Vec::new(),
        notes: Vec::new(),
    }
}

fn connection(limit: Limit, goodput: f64, lost: u64, parameters: Parameters) -> Connection {
    let sender = Counters {
        data_bytes: BYTES,
        data_packets: BYTES / 1460,
        ..Counters::default()
    };
    let receiver = Counters {
        max_window: 14_924,
        window_samples: 20_000,
        ..Counters::default()
    };
    Connection {
        verdict: Verdict {
            limit,
            flags: Vec::new(),
            share: 0.95,
            confidence: 0.95,
            sentence: String::new(),
            parameters,
            evidence: Vec::new(),
            rejected: Vec::new(),
            next_step: None,
        },
        intervals: Vec::new(),
        ledger: slowpath_verdict::Ledger::default(),
        basis: slowpath_verdict::ledger::Hints::default(),
        seen: slowpath_facts::Connection {
            id: 0,
            client: "10.0.2.2:40001".into(),
            server: "10.0.1.2:20000".into(),
            data_from: Side::Server,
            handshake: Handshake {
                mss: [Some(1460); 2],
                timestamps: [Some(false), Some(true)],
                ..Handshake::default()
            },
            dscp: DscpSeen::default(),
            bytes_delivered: BYTES,
            duration_s: BYTES as f64 / goodput,
            start_s: 0.0,
            goodput_bit_per_s: goodput * 8.0,
            rtt_s: RttSummary {
                min: 0.1,
                median: 0.1003,
                p95: 0.11,
                handshake: 0.1,
            },
            retransmitted_segments: lost,
            lost_segments: lost,
            reordered_segments: 0,
            spurious_retransmissions: 0,
            zero_window_s: 0.0,
            tap: Tap::Sender,
            counters: [receiver, sender],
            facts: FlowFacts::default(),
            parallel_flows: 0,
            shared_queue: None,
            wireshark: Vec::new(),
            surroundings: Surroundings::default(),
            graphs: Graphs::default(),
        },
    }
}

/// Drives an investigation; `base` and `changed` give the runs. Bounded, so that a livelock fails.
fn drive(
    mut investigation: Investigation,
    base: impl Fn(u32) -> (RunRecord, Connection),
    changed: impl Fn(Intervention, u32) -> (RunRecord, Connection),
) -> (Conclusion, u32) {
    for runs in 0..40 {
        match investigation.next_step() {
            Step::Done(conclusion) => return (*conclusion, runs),
            Step::Run(wanted) => {
                assert_eq!(
                    investigation.next_step(),
                    Step::Run(wanted.clone()),
                    "asking twice changes nothing"
                );
                let (record, connection) = match wanted.change {
                    None => base(wanted.repeat),
                    Some(change) => changed(change, wanted.repeat),
                };
                investigation.observe(&record, Some(Situation::of(&connection)));
            }
        }
    }
    panic!("the investigation did not end within 40 runs");
}

fn iosxe(repeat: u32) -> (RunRecord, Connection) {
    let goodput = 146_900.0 + f64::from(repeat) * 100.0;
    let parameters = Parameters {
        window_bytes: Some(14_924),
        ..Parameters::default()
    };
    (
        record(goodput),
        connection(Limit::ReceiverWindow, goodput, 4, parameters),
    )
}

fn ios(goodput: f64) -> (RunRecord, Connection) {
    let parameters = Parameters {
        drain_byte_per_s: Some(goodput),
        drain_step_bytes: Some(65_536),
        ..Parameters::default()
    };
    (
        record(goodput),
        connection(Limit::ReceiverApplication, goodput, 4, parameters),
    )
}

/// What a Linux client over the same path has shown.
fn path() -> PathEvidence {
    PathEvidence {
        segments: 107_700.0,
        lost: 11.0,
        peak: Some(5.6e6),
        bottleneck: Some(6.01e6),
        filled: Filled::default(),
        policer: None,
        rtt_min_s: Some(0.1),
    }
}

#[test]
fn a_window_helps_ios_xe_until_the_next_limit() {
    let investigation = Investigation::new("iosxe-default", path(), Settings::default());
    let (conclusion, runs) = drive(investigation, iosxe, |change, repeat| {
        assert!(
            matches!(&change, Intervention::SetWindow { window, .. } if window.bytes() >= 2_500_000),
            "{change:?}"
        );
        let goodput = 1_500_000.0 + f64::from(repeat) * 100_000.0;
        (
            record(goodput),
            connection(Limit::RandomLoss, goodput, 4, Parameters::default()),
        )
    });
    assert_eq!(runs, 6);
    let test = &conclusion.tests[0];
    assert_eq!(test.prediction.next_limit, Some(Limit::RandomLoss));
    assert!(
        test.prediction
            .possible_limits
            .contains(&Limit::BottleneckBandwidth)
    );
    assert!(
        test.prediction.low > 500_000.0 && test.prediction.high.unwrap() < 6.2e6,
        "{:?}",
        test.prediction
    );
    // What was measured lies in the range, which is too wide for that to decide anything.
    assert!(test.prediction.is_vague());
    assert_eq!(test.outcome, Outcome::Undecided);
    assert!(test.sentence.contains("too wide to decide"), "{}", test.sentence);
    assert!(
        test.sentence.contains("random-loss") && test.sentence.contains("times as fast"),
        "{}",
        test.sentence
    );
}

/// What bounds a prediction is another variant's transfer: it is named, and where the base tells it by itself nobody is.
#[test]
fn a_prediction_names_the_variants_that_it_rests_on() {
    let situation = |limit, goodput| {
        let (_, told) = iosxe(0);
        Situation::of(&connection(limit, goodput, 4, told.verdict.parameters))
    };
    let tuned = Situation {
        bottleneck: Some(1.8e6),
        ..situation(Limit::BottleneckBandwidth, 1.79e6)
    };
    let own = situation(Limit::ReceiverWindow, 149_330.0);
    let others = |with_tuned: bool| -> Vec<String> {
        let mut shown = vec![("iosxe-default".to_owned(), own.clone())];
        if with_tuned {
            shown.push(("iosxe-tuned".to_owned(), tuned.clone()));
        }
        let evidence = PathEvidence::of(shown.iter().map(|(_, situation)| situation));
        let settings = Settings {
            others: shown,
            ..Settings::default()
        };
        let investigation = Investigation::new("iosxe-default", evidence, settings);
        let (conclusion, _) = drive(investigation, iosxe, |_, repeat| iosxe(repeat));
        let test = conclusion.tests.into_iter().next().unwrap();
        assert_eq!(
            test.sentence
                .contains("rests on what transfers of iosxe-tuned show"),
            with_tuned,
            "{}",
            test.sentence
        );
        test.others
    };
    assert_eq!(others(true), ["iosxe-tuned"]);
    assert_eq!(others(false), [""; 0]);
}

#[test]
fn a_window_does_not_help_ios() {
    let investigation = Investigation::new("ios-default", path(), Settings::default());
    let (conclusion, _) = drive(
        investigation,
        |r| ios(81_900.0 + f64::from(r) * 50.0),
        |_, r| ios(86_900.0 + f64::from(r) * 40.0),
    );
    let test = &conclusion.tests[0];
    assert_eq!(test.prediction.next_limit, Some(Limit::ReceiverApplication));
    assert!(test.prediction.is_no_gain(0.1), "{:?}", test.prediction);
    assert!(test.prediction.high.unwrap() < 81_950.0 * 1.2);
    assert_eq!(test.outcome, Outcome::Held);
    assert!(
        test.sentence.contains("no real gain") && test.sentence.contains("+6."),
        "{}",
        test.sentence
    );
    assert!(test.hypothesis.contains("leaves it in place"));
}

#[test]
fn a_wrong_hypothesis_is_refuted() {
    let investigation = Investigation::new("iosxe-default", path(), Settings::default());
    let (conclusion, _) = drive(investigation, iosxe, |_, repeat| iosxe(repeat));
    assert_eq!(conclusion.tests[0].outcome, Outcome::Refuted);
    assert!(conclusion.tests[0].sentence.contains("Against this"));
}

#[test]
fn invalid_runs_are_asked_for_again_and_then_given_up() {
    let invalid = |mut run: (RunRecord, Connection)| {
        run.0.health.add(Reason {
            code: slowpath_record::Code::ClockJump,
            state: HealthState::Invalid,
            text: String::new(),
        });
        run
    };
    let one_bad = |repeat: u32| {
        if repeat == 1 {
            invalid(iosxe(repeat))
        } else {
            iosxe(repeat)
        }
    };
    let investigation = Investigation::new("iosxe-default", path(), Settings::default());
    let (conclusion, runs) = drive(investigation, one_bad, |_, r| ios(1_500_000.0 + f64::from(r)));
    assert_eq!((conclusion.base.unwrap().n, runs), (3, 7));

    let investigation = Investigation::new("iosxe-default", path(), Settings::default());
    let (conclusion, runs) = drive(investigation, |r| invalid(iosxe(r)), |_, r| iosxe(r));
    assert_eq!((runs, conclusion.tests.len(), conclusion.notes.len()), (3, 0, 1));
}

#[test]
fn earlier_runs_of_the_base_need_not_be_made_again() {
    let mut investigation = Investigation::new("iosxe-default", path(), Settings::default());
    for repeat in 0..3 {
        let (record, connection) = iosxe(repeat);
        investigation.observe_base(&record, Some(Situation::of(&connection)));
    }
    let Step::Run(wanted) = investigation.next_step() else {
        panic!("a change is to be tested")
    };
    assert!(wanted.change.is_some());
}

#[test]
fn a_larger_buffer_behind_a_full_queue_gains_nothing_and_says_so() {
    let parameters = Parameters {
        rate_bit_per_s: Some(50e6),
        queue_bytes: Some(1_500_000),
        queue_delay_s: Some(0.24),
        ..Parameters::default()
    };
    let mut full = connection(Limit::BottleneckBandwidth, 5.9e6, 20, parameters);
    full.counters[0].max_window = 3_000_000;
    full.verdict.flags.push(slowpath_verdict::Flag::Bufferbloat);
    let situation = Situation::of(&full);
    let evidence = PathEvidence::of([&situation]);
    let prediction = predict(&situation, &evidence, &change::window(16_000_000));
    assert_eq!(prediction.next_limit, Some(Limit::BottleneckBandwidth));
    assert!(prediction.is_no_gain(0.05), "{prediction:?}");
    assert!(
        prediction.because.contains("nothing changes"),
        "{}",
        prediction.because
    );
    let all = slowpath_diagnose::gain::remedies(&situation, &evidence, &full.verdict.flags);
    let window = all
        .iter()
        .find(|p| matches!(p.change, Intervention::SetWindow { .. }))
        .unwrap();
    assert!(
        window.because.contains("only lengthens the full queue"),
        "{}",
        window.because
    );
    assert!(matches!(all[0].change, Intervention::ScaleRate { percent: 200, .. }) && all[0].factor() > 1.5);
}

#[test]
fn the_investigation_sees_only_roles_and_runs() {
    // The same runs under other names give the same conclusion: nothing is read from labels.
    let conclude = |name: &str| {
        let investigation = Investigation::new(name, path(), Settings::default());
        let (mut conclusion, _) = drive(investigation, iosxe, |_, r| ios(1_600_000.0 + f64::from(r)));
        conclusion.variant.clear();
        conclusion
    };
    assert!(conclude("a") == conclude("policed"));
}

#[test]
fn a_path_that_was_never_filled_bounds_nothing() {
    let (_, connection) = iosxe(0);
    let situation = Situation::of(&connection);
    let evidence = PathEvidence::of([&situation]);
    let prediction = predict(&situation, &evidence, &change::window(2_500_000));
    assert_eq!(prediction.next_limit, None);
    assert!(prediction.possible_limits.contains(&Limit::BottleneckBandwidth));
    assert!(
        prediction.because.contains("was not seen"),
        "{}",
        prediction.because
    );
    assert!(prediction.low <= situation.goodput * 1.01);
}

#[test]
fn a_short_transfer_is_predicted_to_end_in_slow_start() {
    let (_, mut connection) = iosxe(0);
    connection.bytes_delivered = 1 << 20;
    let situation = Situation::of(&connection);
    let prediction = predict(&situation, &path(), &change::window(2_500_000));
    assert_eq!(prediction.next_limit, Some(Limit::SlowStart));
    assert!(
        prediction.expected > 1.0e6 && prediction.expected < 2.0e6,
        "{prediction:?}"
    );
}

#[test]
fn behind_a_policer_a_window_is_in_vain_and_its_removal_bounds_nothing() {
    let parameters = Parameters {
        rate_bit_per_s: Some(4.0e6),
        bucket_bytes: Some(50_000),
        ..Parameters::default()
    };
    let policed = connection(Limit::Policed, 480_000.0, 1800, parameters);
    let situation = Situation::of(&policed);
    let evidence = PathEvidence::of([&situation]);
    assert_eq!(
        (evidence.bottleneck, evidence.lost),
        (None, 0.0),
        "its losses and rate are the policer's own"
    );
    let window = predict(&situation, &evidence, &change::window(2_500_000));
    assert_eq!(window.next_limit, Some(Limit::Policed));
    assert!(
        window.factor() < 1.01 && window.because.contains("nothing changes"),
        "{window:?}"
    );
    let removed = predict(&situation, &evidence, &change::no_policer());
    assert_ne!(
        removed.next_limit,
        Some(Limit::BottleneckBandwidth),
        "{removed:?}"
    );
    // Another transfer over this path meets the same policer.
    let other = Situation::of(&iosxe(0).1);
    let raised = predict(&other, &evidence, &change::window(2_500_000));
    assert_eq!(raised.next_limit, Some(Limit::Policed));
}

#[test]
fn more_connections_share_the_same_loss() {
    let lossy = connection(Limit::RandomLoss, 573_000.0, 180, Parameters::default());
    let mut situation = Situation::of(&lossy);
    situation.window = Some(650_752.0);
    let evidence = PathEvidence::of([&situation]);
    let four = predict(&situation, &evidence, &change::streams(4));
    assert_eq!(four.next_limit, Some(Limit::RandomLoss));
    assert!(four.factor() > 3.0 && four.factor() <= 4.1, "{four:?}");
    assert!(four.because.contains("was not seen"));
}

/// A transfer of which a ledger says what random losses and an early end of slow start cost.
fn with_costs(random_loss: f64, early_exit: f64) -> Situation {
    let cost = |limit, early_exit, share| Cost {
        limit,
        early_exit,
        outage: false,
        share,
    };
    Situation {
        limit: Limit::RandomLoss,
        goodput: 1e6,
        bytes: 10e6,
        rtt_min_s: 0.05,
        rtt_s: 0.05,
        mss: 1448.0,
        headers: 52.0,
        costs: vec![
            cost(Limit::RandomLoss, false, random_loss),
            cost(Limit::SlowStart, true, early_exit),
        ],
        ..Situation::of_flows(Limit::RandomLoss, 1.0, 0.0, 1e6)
    }
}

#[test]
fn what_a_cause_costs_is_what_its_removal_gives_back() {
    let situation = with_costs(0.4, 0.1);
    let evidence = PathEvidence::default();
    let prediction = predict(&situation, &evidence, &change::no_loss());
    assert!((prediction.expected - 1e6 / 0.6).abs() < 1.0, "{prediction:?}");
    assert!(!prediction.is_vague(), "{prediction:?}");
    assert_eq!(prediction.next_limit, Some(Limit::BottleneckBandwidth));
    // A control that random losses do not stop also grows where slow start has ended early.
    let prediction = predict(&situation, &evidence, &change::congestion_control(Control::Bbr));
    assert!((prediction.expected - 1e6 / 0.5).abs() < 1.0, "{prediction:?}");
    // What costs nearly nothing, or nearly all, is left to the ceilings.
    for share in [0.01, 0.95] {
        let prediction = predict(&with_costs(share, 0.0), &evidence, &change::no_loss());
        assert_ne!(prediction.next_limit, Some(Limit::BottleneckBandwidth), "{share}");
    }
}

#[test]
fn datagrams_that_nothing_drops_any_more_all_arrive() {
    let policed = Situation::of_flows(Limit::Policed, 0.25, 0.0, 1e6);
    let evidence = PathEvidence::default();
    let prediction = predict(&policed, &evidence, &change::no_policer());
    assert!((prediction.expected - 4e6).abs() < 1.0, "{prediction:?}");
    assert_eq!(prediction.next_limit, Some(Limit::SenderApplication));
    // Lifting what does not drop them gains nothing.
    let prediction = predict(&policed, &evidence, &change::no_device_limit());
    assert!(prediction.is_no_gain(0.05), "{prediction:?}");
    // What is dropped elsewhere as well leaves open how much gets through.
    let mixed = Situation::of_flows(Limit::Policed, 0.25, 0.2, 1e6);
    assert!(predict(&mixed, &evidence, &change::no_policer()).is_vague());
}

#[test]
fn a_range_that_nothing_could_refute_decides_nothing() {
    let narrow = predict(
        &with_costs(0.4, 0.0),
        &PathEvidence::default(),
        &change::no_loss(),
    );
    assert!(narrow.foresaw(&[Limit::BottleneckBandwidth]) && narrow.foresaw(&[]));
    assert!(!narrow.foresaw(&[Limit::Policed, Limit::Policed, Limit::BottleneckBandwidth]));
    let wide = Prediction {
        low: narrow.expected / 1.3,
        ..narrow
    };
    assert!(wide.is_vague());
}

#[test]
fn a_queue_that_is_too_short_is_to_be_longer() {
    let held = Situation {
        goodput: 0.33e6,
        bytes: 10e6,
        rtt_min_s: 0.1,
        rtt_s: 0.102,
        mss: 1_448.0,
        headers: 52.0,
        peak: Some(0.5e6),
        short_queue: 0.9,
        ..Situation::of_flows(Limit::BottleneckBandwidth, 1.0, 0.0, 0.33e6)
    };
    let evidence = PathEvidence::default();
    // What the link carries was not seen: a gain is there, and cannot be told; of a faster link nothing can.
    let unseen = remedies(&held, &evidence, &[]);
    assert_eq!(unseen[0].change, change::queue(50_000));
    assert!(
        unseen[0].next_limit.is_none() && unseen[0].low >= held.goodput,
        "{unseen:?}"
    );
    assert!(
        unseen
            .iter()
            .all(|remedy| remedy.change != change::bottleneck(200)),
        "{unseen:?}"
    );
    let window = unseen
        .iter()
        .find(|remedy| remedy.change != change::queue(50_000))
        .unwrap();
    assert!(!window.because.contains("it fills the bottleneck"), "{window:?}");
    // Where it was seen, what the overflows cost is given back.
    let seen = Situation {
        costs: vec![Cost {
            limit: Limit::BottleneckBandwidth,
            early_exit: false,
            outage: false,
            share: 0.4,
        }],
        link: Some(0.5),
        ..held.clone()
    };
    let told = remedies(&seen, &evidence, &[]);
    let longer = told
        .iter()
        .find(|remedy| remedy.change == change::queue(66_000))
        .unwrap();
    assert!((longer.expected - held.goodput / 0.6).abs() < 1.0, "{longer:?}");
    // A faster link is no remedy where the window's growth behind the overflows takes that much: with twice the rate, 10 MB behind 30
    // packets of queue took 8.5 instead of 8.7 s.
    let link = change::bottleneck(200);
    assert!(told.iter().all(|remedy| remedy.change != link), "{told:?}");
    let faster = predict(&seen, &evidence, &link);
    assert!(faster.low <= held.goodput && faster.is_vague(), "{faster:?}");
    let cheap = Situation {
        costs: vec![Cost {
            share: 0.1,
            ..seen.costs[0]
        }],
        link: Some(0.9),
        ..seen.clone()
    };
    let told = remedies(&cheap, &evidence, &[]);
    assert!(told.iter().any(|remedy| remedy.change == link), "{told:?}");
    // A queue that costs little is no matter.
    let little = Situation {
        short_queue: 0.1,
        ..seen
    };
    let others = remedies(&little, &evidence, &[]);
    assert!(
        others
            .iter()
            .all(|remedy| !matches!(remedy.change, Intervention::ResizeQueue { .. }))
    );
}

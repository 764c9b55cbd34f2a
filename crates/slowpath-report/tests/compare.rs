//! Two of a kind side by side.

mod sample;

use slowpath_report::compare::{CaptureComparison, FolderComparison};
use slowpath_report::text::{Style, columns};
use slowpath_verdict::Limit;

#[test]
fn a_folder_against_itself_shows_no_difference() {
    let results = sample::results();
    let same = FolderComparison::of(&results, &results);
    assert!(!same.worse() && same.missing.is_empty() && same.variants.len() == 5);
    assert!(
        same.variants[0].sentence.starts_with("No difference shown"),
        "{}",
        same.variants[0].sentence
    );
}

#[test]
fn a_slower_variant_and_another_limit_are_worse() {
    let (a, mut b) = (sample::results(), sample::results());
    for run in &mut b.variants[1].runs {
        run.goodput_byte_per_s *= 0.8;
    }
    b.variants[3].verdict.as_mut().unwrap().limit = Limit::Policed;
    b.variants[4].name = "other".into();
    let comparison = FolderComparison::of(&a, &b);
    assert!(comparison.worse());
    let mut out = Vec::new();
    comparison.write(Style::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    for line in text.lines() {
        assert!(columns(line) <= 80, "{} columns: {line}", columns(line));
    }
    sample::golden("compare.txt", &text);
}

#[test]
fn a_good_and_a_bad_capture_say_what_differs() {
    let mut good = sample::explanation();
    let bad = sample::explanation();
    let c = &mut good.connections[0].connection;
    good.capture.file = "good.pcapng".into();
    c.goodput_bit_per_s = 13_600_000.0;
    c.verdict.limit = Limit::RandomLoss;
    c.verdict.parameters.window_bytes = Some(2_500_000);
    c.handshake.window_scale = [Some(6), Some(7)];
    c.handshake.sack = [Some(true); 2];
    c.dscp.server = vec![0];
    let comparison = CaptureComparison::of(&good, &bad).unwrap();
    assert!(
        comparison.sentence.contains("11.2 times slower"),
        "{}",
        comparison.sentence
    );
    for wanted in [
        "no window scaling",
        "14,924 B instead of 2,500,000 B",
        "SACK is not agreed",
        "DSCP 0, 8 instead of 0",
    ] {
        assert!(
            comparison.findings.iter().any(|f| f.contains(wanted)),
            "{wanted}: {:?}",
            comparison.findings
        );
    }
    let mut out = Vec::new();
    comparison.write(Style::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    for line in text.lines() {
        assert!(columns(line) <= 80, "{} columns: {line}", columns(line));
    }
    sample::golden("captures.txt", &text);
    assert_eq!(
        CaptureComparison::of(
            &good,
            &slowpath_report::Explanation {
                connections: Vec::new(),
                ..bad
            }
        ),
        None
    );
}

#[test]
fn a_window_far_above_the_rate_is_no_finding() {
    let mut good = sample::explanation();
    let mut bad = sample::explanation();
    good.connections[0].connection.verdict.parameters.window_bytes = Some(2_500_000);
    good.connections[0].connection.goodput_bit_per_s = 1_000_000.0;
    let named = |good: &_, bad: &_| {
        let comparison = CaptureComparison::of(good, bad).unwrap();
        comparison.findings.iter().any(|f| f.contains("largest window"))
    };
    // The sample's window allows 146 kB/s.
    bad.connections[0].connection.goodput_bit_per_s = 8.0 * 100_000.0;
    assert!(named(&good, &bad));
    bad.connections[0].connection.goodput_bit_per_s = 8.0 * 10_000.0;
    assert!(!named(&good, &bad));
}

#[test]
fn a_capture_against_itself_has_no_findings() {
    let one = sample::explanation();
    let comparison = CaptureComparison::of(&one, &one).unwrap();
    assert!(
        comparison.findings.is_empty() && comparison.rows.iter().all(|r| !r.differs),
        "{comparison:?}"
    );
    assert!(comparison.sentence.contains("nothing else that matters differs"));
}

#[test]
fn a_faster_transfer_is_not_explained_by_what_would_make_it_slower() {
    let (mut first, mut second) = (sample::explanation(), sample::explanation());
    let set = |one: &mut slowpath_report::Explanation, rate: f64, window: u64, rtt: f64| {
        let c = &mut one.connections[0].connection;
        c.goodput_bit_per_s = rate;
        c.verdict.parameters.window_bytes = Some(window);
        (c.rtt_s.min, c.rtt_s.median) = (rtt, rtt);
    };
    set(&mut first, 4.095e6, 41_992, 0.08032);
    set(&mut second, 10.9e6, 173_360, 0.1203);
    let said = CaptureComparison::of(&first, &second).unwrap();
    assert!(said.sentence.contains("2.7 times faster"), "{}", said.sentence);
    assert!(
        said.findings[0].contains("173,360 B instead of 41,992 B"),
        "{said:?}"
    );
    assert!(!said.findings.iter().any(|f| f.contains("longer")), "{said:?}");
    assert!(
        said.although[0].contains("longer, 120.3 ms instead of 80.32 ms"),
        "{said:?}"
    );
    let back = CaptureComparison::of(&second, &first).unwrap();
    assert!(
        back.findings[0].contains("41,992 B instead of 173,360 B"),
        "{back:?}"
    );
    assert!(
        back.although[0].contains("shorter, 80.32 ms instead of 120.3 ms"),
        "{back:?}"
    );
    // Neither is faster: nothing is a reason.
    second.connections[0].connection.goodput_bit_per_s = 4.095e6;
    let alike = CaptureComparison::of(&first, &second).unwrap();
    assert!(
        alike.findings.is_empty() && alike.although.len() == 2,
        "{alike:?}"
    );
}

#[test]
fn what_fell_is_not_said_to_have_grown() {
    let (mut first, mut second) = (sample::explanation(), sample::explanation());
    let set = |one: &mut slowpath_report::Explanation, rate: f64, median: f64, segment: u16| {
        let c = &mut one.connections[0].connection;
        c.goodput_bit_per_s = rate;
        (c.rtt_s.min, c.rtt_s.median) = (0.05, median);
        c.handshake.mss = [Some(segment); 2];
    };
    set(&mut first, 4e6, 0.4953, 1400);
    set(&mut second, 8e6, 0.0923, 1460);
    let faster = CaptureComparison::of(&first, &second).unwrap().findings;
    let slower = CaptureComparison::of(&second, &first).unwrap().findings;
    for (findings, said) in [
        (
            &faster,
            "packets wait only 42.3 ms in a queue instead of 445.3 ms",
        ),
        (&faster, "segments carry more, 1,460 B instead of 1,400 B"),
        (&slower, "packets wait 445.3 ms in a queue instead of 42.3 ms"),
        (&slower, "segments carry 1,400 B instead of 1,460 B"),
    ] {
        assert!(findings.iter().any(|one| one == said), "{said}: {findings:?}");
    }
}

#[test]
fn a_full_link_is_faster_by_its_rate_and_not_by_its_round_trip() {
    let (mut first, mut second) = (sample::explanation(), sample::explanation());
    let set = |one: &mut slowpath_report::Explanation, rate: f64, rtt: f64, limit: Limit| {
        let c = &mut one.connections[0].connection;
        c.goodput_bit_per_s = rate;
        c.verdict.limit = limit;
        (c.rtt_s.min, c.rtt_s.median) = (rtt, rtt);
        c.ledger.capacity_bit_per_s = Some(rate * 1.02);
        c.ledger.capacity_is = slowpath_verdict::ledger::CapacityIs::Measured;
    };
    let link = Limit::BottleneckBandwidth;
    set(&mut first, 5.6e6, 0.082, link);
    set(&mut second, 7.5e6, 0.041, link);
    let said = CaptureComparison::of(&first, &second).unwrap();
    assert_eq!(
        said.findings[0],
        "the link itself is faster, 7.65 Mbit/s of payload instead of 5.712 Mbit/s"
    );
    assert!(!format!("{said:?}").contains("path itself"), "{said:?}");
    let back = CaptureComparison::of(&second, &first).unwrap();
    assert!(
        back.findings[0].starts_with("the link itself is slower, 5.712 Mbit/s"),
        "{back:?}"
    );
    // A rate that is only a lower bound is not compared, and losses make round trips count.
    first.connections[0].connection.ledger.capacity_is = slowpath_verdict::ledger::CapacityIs::AtLeast;
    first.connections[0].connection.verdict.limit = Limit::RandomLoss;
    let lossy = CaptureComparison::of(&first, &second).unwrap();
    assert!(
        lossy.findings[0].contains("the path itself is shorter"),
        "{lossy:?}"
    );
    assert!(!format!("{lossy:?}").contains("link itself is"), "{lossy:?}");
}

#[test]
fn one_run_each_side_is_said_once_and_equal_rates_are_no_difference() {
    let (mut a, mut b) = (sample::results(), sample::results());
    for results in [&mut a, &mut b] {
        for variant in &mut results.variants {
            variant.runs.truncate(1);
        }
    }
    b.variants[1].runs[0].goodput_byte_per_s /= 2.0;
    let comparison = FolderComparison::of(&a, &b);
    assert!(
        comparison.variants[0].sentence.ends_with(" in both."),
        "{comparison:?}"
    );
    assert!(
        comparison.variants[1].sentence.contains(" in folder B against "),
        "{comparison:?}"
    );
    let mut out = Vec::new();
    comparison.write(Style::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("--repeats 5").count(), 1, "{text}");
}

#[test]
fn what_chance_allows_is_told_of_losses_by_chance_alone() {
    let said = |limit, rate: f64, lost: u64| {
        let (mut first, mut second) = (sample::explanation(), sample::explanation());
        for one in [&mut first, &mut second] {
            for counters in &mut one.connections[0].connection.counters {
                counters.data_bytes = 52_428_800;
            }
        }
        let c = &mut second.connections[0].connection;
        (c.goodput_bit_per_s, c.verdict.limit, c.lost_segments) = (rate, limit, lost);
        let said = CaptureComparison::of(&first, &second).unwrap();
        [said.findings, said.although].concat().join("; ")
    };
    let by_chance = said(Limit::RandomLoss, 0.3e6, 3_600);
    assert!(by_chance.contains("for CUBIC"), "{by_chance}");
    // A policer drops what exceeds its rate, and a sender that is faster than that does not heed losses.
    for (limit, rate) in [(Limit::Policed, 0.3e6), (Limit::RandomLoss, 8e6)] {
        let other = said(limit, rate, 3_600);
        assert!(
            other.contains("segments are lost, ") && !other.contains("CUBIC"),
            "{other}"
        );
    }
}

/// What made a transfer faster is what takes less now, and not what happens to take more.
#[test]
fn a_faster_folder_is_explained_by_what_shrank() {
    use slowpath_verdict::Ledger;
    use slowpath_verdict::ledger::{CapacityIs, Entry, State};
    let held = |results: &mut slowpath_report::results::Results, rate: f64, link: f64, loss: f64| {
        let entry = |cause: Limit, time_s: f64| Entry {
            cause,
            flags: Vec::new(),
            state: State::Growth,
            event_at_s: None,
            events: 1,
            segments: 1,
            time_s,
            lost_s: Some(time_s),
        };
        for run in &mut results.variants[1].runs {
            run.bytes = 1_000_000;
            run.goodput_byte_per_s = rate;
            run.ledger = Some(Ledger {
                duration_s: link + loss,
                floor_s: Some(link),
                capacity_is: CapacityIs::Measured,
                entries: vec![entry(Limit::RandomLoss, loss)],
                ..Ledger::default()
            });
        }
    };
    let (mut slow, mut fast) = (sample::results(), sample::results());
    held(&mut slow, 1e6 / 9.0, 1.0, 8.0);
    held(&mut fast, 1e6 / 7.0, 2.0, 5.0);
    let sentence = |a, b| FolderComparison::of(a, b).variants[1].sentence.clone();
    let faster = sentence(&slow, &fast);
    assert!(faster.contains("andom-loss costs 5 s instead of 8 s"), "{faster}");
    let slower = sentence(&fast, &slow);
    assert!(slower.contains("andom-loss costs 8 s instead of 5 s"), "{slower}");
}

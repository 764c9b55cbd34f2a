//! The terminal's text about a capture, against a golden text.

mod sample;

use slowpath_report::explain_text::{Depth, write_explanation};
use slowpath_report::text::{Style, columns};
use slowpath_verdict::{Limit, Reason, Rejected};

fn text(explanation: &slowpath_report::Explanation, depth: Depth) -> String {
    let mut out = Vec::new();
    write_explanation(explanation, Style::default(), depth, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_answer_comes_first_in_80_columns() {
    let text = text(&sample::explanation(), Depth::default());
    assert!(text.starts_with("The receiver offers 14,924 bytes"), "{text}");
    for line in text.lines() {
        assert!(columns(line) <= 80, "{} columns: {line}", columns(line));
    }
    sample::golden("explain.txt", &text);
}

#[test]
fn less_depth_keeps_answer_and_remedy() {
    let text = text(
        &sample::explanation(),
        Depth {
            connections: 1,
            evidence: false,
            configuration: true,
        },
    );
    assert!(
        text.contains("ip tcp window-size 2500000") && !text.contains("because "),
        "{text}"
    );
}

#[test]
fn many_connections_get_a_line_each() {
    let mut explanation = sample::explanation();
    let one = explanation.connections[0].clone();
    for id in 1..40 {
        let mut next = one.clone();
        next.connection.id = id;
        next.connection.verdict.limit = Limit::SenderApplication;
        explanation.connections.push(next);
    }
    let text = text(&explanation, Depth::default());
    assert_eq!(
        text.matches("sender-application ").count(),
        2 + 20,
        "two in full, twenty in a line"
    );
    assert!(text.contains("and 17 more"));
}

#[test]
fn evidence_adds_to_the_answers_on_several_transfers_and_drops_nothing() {
    let mut explanation = sample::explanation();
    let mut next = explanation.connections[0].clone();
    next.connection.id = 1;
    explanation.connections.push(next);
    let (short, long) = (
        text(&explanation, Depth::answers(false)),
        text(&explanation, Depth::default()),
    );
    let heads = short
        .lines()
        .filter(|line| line.starts_with("2 transfers") || line.starts_with("0: ") || line.starts_with("1: "));
    assert_eq!(heads.clone().count(), 3, "{short}");
    for head in heads {
        assert!(long.lines().any(|line| line == head), "{head}: {long}");
    }
}

#[test]
fn what_cannot_be_told_has_no_confidence_and_rules_nothing_out() {
    let mut explanation = sample::explanation();
    let verdict = &mut explanation.connections[0].connection.verdict;
    verdict.limit = Limit::Unknown;
    let short = |limit| Rejected {
        limit,
        reason: Reason::TooShort,
        text: "too little was transferred".to_owned(),
    };
    verdict.rejected = vec![short(Limit::SlowStart), short(Limit::Policed)];
    let evidence = Depth {
        evidence: true,
        ..Depth::default()
    };
    let text = text(&explanation, evidence);
    assert!(text.contains("limit      unknown (cannot be told)\n"), "{text}");
    assert!(!text.contains("confidence") && !text.contains("  not "), "{text}");
    let together = "untold     slow-start, policed: too little was transferred\n";
    assert!(text.contains(together), "{text}");
}

#[test]
fn quiet_is_the_answer_alone() {
    let mut out = Vec::new();
    let style = Style {
        quiet: true,
        ..Style::default()
    };
    write_explanation(&sample::explanation(), style, Depth::answers(false), &mut out).unwrap();
    let quiet = String::from_utf8(out).unwrap();
    let whole = text(&sample::explanation(), Depth::answers(false));
    assert!(
        whole.starts_with(&quiet) && quiet.contains("  limit  "),
        "{quiet}"
    );
    assert!(!quiet.contains("Capture") && !quiet.contains("-v "), "{quiet}");
}

#[test]
fn a_capture_without_connections_says_so() {
    let mut explanation = sample::explanation();
    explanation.connections.clear();
    assert!(text(&explanation, Depth::default()).starts_with("No TCP connection"));
}

#[test]
fn diagnosis_names_the_change_and_claims_no_more_than_was_seen() {
    let sample = sample::explanation();
    let analysis = slowpath_verdict::Analysis {
        schema: sample.schema.clone(),
        capture: sample.capture.clone(),
        connections: sample.connections.into_iter().map(|c| c.connection).collect(),
        job: None,
    };
    let explained = slowpath_report::Explanation::diagnosed(analysis);
    let remedy = &explained.connections[0].remedies[0];
    assert!(remedy.change.contains("window of 2,500,000 bytes"), "{remedy:?}");
    // A transfer that never filled the path cannot say what the path would carry.
    assert_eq!(
        (remedy.next_limit, remedy.predicted_goodput_bit_per_s),
        (None, None)
    );
    assert!(
        remedy.at_most_bit_per_s.is_some() && remedy.because.contains("was not seen"),
        "{remedy:?}"
    );
}

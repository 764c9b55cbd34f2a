//! The terminal's table and summary, against golden texts.

mod sample;

use slowpath_record::Health;
use slowpath_report::quantity::RateUnit;
use slowpath_report::results::{FlowRow, Twin};
use slowpath_report::terminal::{write_summary, write_table};
use slowpath_report::text::{Style, columns};

fn summary(style: Style) -> String {
    let mut out = Vec::new();
    write_summary(
        &sample::results(),
        style,
        Some("results/cisco-ftp/report.html"),
        &mut out,
    )
    .unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn summary_in_80_columns() {
    let text = summary(Style::default());
    for line in text.lines() {
        assert!(columns(line) <= 80, "{} columns: {line}", columns(line));
    }
    sample::golden("summary.txt", &text);
}

#[test]
fn colour_adds_nothing_but_escapes() {
    let coloured = summary(Style {
        width: 80,
        color: true,
    });
    assert!(
        coloured.contains("\u{1b}[33mdegraded"),
        "a degraded run is to be seen"
    );
    let mut bare = String::new();
    let mut inside = false;
    for c in coloured.chars() {
        if c == '\u{1b}' {
            inside = true;
        } else if !inside {
            bare.push(c);
        } else if c == 'm' {
            inside = false;
        }
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&bare), words(&summary(Style::default())));
}

#[test]
fn a_results_document_without_references_has_a_shorter_table() {
    let mut results = sample::results();
    for v in &mut results.variants {
        v.reference = None;
    }
    let mut out = Vec::new();
    write_table(&results, Style::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains("published") && !text.contains("ratio"), "{text}");
}

#[test]
fn long_names_give_way_and_no_runs_say_so() {
    let mut results = sample::results();
    results.variants[0].name = "a-very-long-name-of-a-variant-that-nobody-can-read".into();
    results.variants[3].runs.clear();
    results.variants[3].summarize();
    let mut out = Vec::new();
    write_table(&results, Style::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().all(|l| columns(l) <= 80), "{text}");
    assert!(text.contains('…') && text.contains("not run"), "{text}");
}

/// Both clocks in bits, with flows of datagrams.
#[test]
fn both_clocks_and_flows_stand_side_by_side() {
    let mut results = sample::results();
    results.rate_unit = RateUnit::Bits;
    results.variants.truncate(2);
    results.comparisons.clear();
    results.proofs.clear();
    for index in 0..2 {
        let mut twin = results.variants[index].clone();
        twin.clock = "simulated".into();
        for run in &mut twin.runs {
            run.goodput_byte_per_s *= 1.02;
            run.health = Health::valid();
        }
        twin.summarize();
        results
            .twins
            .push(Twin::of(&results.variants[index], &twin).unwrap());
        results.variants.push(twin);
    }
    results.twins[1].simulated_limit = None;
    results.variants[1].runs[0].flows = vec![FlowRow {
        name: "udp".into(),
        sent_packets: 90_000,
        received_packets: 57_240,
        loss_fraction: 0.364,
        jitter_s: Some(0.000_5),
        goodput_byte_per_s: 5_724_000.0,
        ..FlowRow::default()
    }];
    assert!((results.twins[0].ratio - 1.02).abs() < 1e-9);
    let mut out = Vec::new();
    write_summary(&results, Style::default(), None, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().all(|l| columns(l) <= 80), "{text}");
    sample::golden("both-clocks.txt", &text);
}

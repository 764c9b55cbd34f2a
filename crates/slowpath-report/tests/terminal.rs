//! The terminal's table and summary, against golden texts.

mod sample;

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

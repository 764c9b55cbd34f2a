//! The pages: self-contained, escaped, complete.

mod sample;

use std::fs;
use std::path::PathBuf;

use slowpath_diagnose::stats::Summary;
use slowpath_facts::wireshark::{Row, Tag, Was};
use slowpath_report::Style;
use slowpath_report::html::{write_explanation, write_report};
use slowpath_report::terminal::write_summary;
use slowpath_verdict::Limit;

fn keep(name: &str, page: &str) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join(name), page).unwrap();
}

fn report() -> String {
    let mut out = Vec::new();
    write_report(&sample::results(), &sample::graphs::all(), None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn explanation() -> String {
    let mut explanation = sample::explanation();
    let set = sample::graphs::all().swap_remove(1);
    explanation.connections[0].connection.graphs = set.graphs;
    explanation.connections[0].connection.intervals = set.intervals;
    explanation.connections[0].connection.wireshark = vec![Row {
        wireshark: Tag::OutOfOrder,
        slowpath: Was::Retransmission,
        agree: false,
        segments: 1007,
        frames: vec![4242, 4243],
        why: Was::Retransmission.why().into(),
    }];
    let mut out = Vec::new();
    write_explanation(&explanation, Some("2026-01-01"), None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Two runs of which one is eight times as fast came to an interval of 15.9 B/s to 5,061 GB/s.
#[test]
fn few_runs_that_differ_much_stand_for_themselves() {
    let mut results = sample::results();
    results.variants.truncate(1);
    results.variants[0].goodput_byte_per_s = Summary::of_rates(&[1_984_000.0, 15_960_000.0]);
    let mut out = Vec::new();
    write_report(&results, &[], None, &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    assert!(page.contains("<span class=\"sub\">range of the runs</span>"));
    assert!(page.contains("Where few runs differ much"));
    assert!(
        !page.contains("95 % confidence interval</span>"),
        "no interval is drawn"
    );
    assert!(!page.contains("GB&#x2f;s") && !page.contains("GB/s"));
    // An interval that tells something is shown as one.
    let sound = report();
    assert!(!sound.contains("range of the runs") && sound.contains("95 % confidence interval</span>"));
    let mut text = Vec::new();
    write_summary(&results, Style::default(), None, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("8.97 (runs 1.98 to 15.96)"), "{text}");
}

#[test]
fn simulated_figures_are_not_called_measured_and_both_have_their_thousands_apart() {
    let mut results = sample::results();
    for variant in &mut results.variants {
        variant.clock = slowpath_record::Origin::Simulated;
        for figure in &mut variant.figures {
            figure.label.printed = Some("14924 B".to_owned());
        }
    }
    let mut out = Vec::new();
    write_report(&results, &[], None, &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    let head = |word: &str| format!("<th class=\"num\">{word}</th>");
    assert!(page.contains(&head("Simulated")) && !page.contains(&head("Measured")));
    assert!(page.contains(">14,924 B") && !page.contains(">14924 B"));
    assert!(report().contains(&head("Measured")));
}

#[test]
fn the_report_shows_everything_once_asked() {
    let page = report();
    keep("report.html", &page);
    for wanted in [
        "Why does the same 50 MiB file",
        "Where the source errs",
        "What this cannot say",
        "Predicted, changed, measured",
        "ip tcp window-size 2500000",
        "captures&#x2f;sample-0-server.pcapng",
        "99 % of the packets left",
        "slowpath run cisco-ftp --seed 1",
        "data-plot=\"sequence\"",
        "data-plot=\"io\"",
        "data-plot=\"throughput\"",
        "data-plot=\"rtt\"",
        "data-plot=\"window\"",
        "fitted",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
    assert_eq!(page.matches("class=\"graphs-data\"").count(), 5);
    assert!(
        page.contains("No capture of this variant could be drawn"),
        "iosxe-tuned has no graphs"
    );
}

#[test]
fn the_page_of_a_capture_gives_the_answer_first() {
    let page = explanation();
    keep("explain.html", &page);
    let answer = page.find("The receiver offers 14,924 bytes each 100 ms").unwrap();
    let evidence = page.find("was filled in 3,451 of 3,459").unwrap();
    assert!(answer < evidence);
    for wanted in [
        "raise the receiver&#x27;s window",
        "about 16 Mbit&#x2f;s",
        "Segments above the MSS",
        "none &#x2f; 7 (× 128)",
        "<code>out_of_order</code>",
        "differs",
        "packets 4242, 4243, …",
    ] {
        assert!(page.contains(wanted), "{wanted} is missing");
    }
}

#[test]
fn nothing_is_fetched_from_elsewhere() {
    for page in [report(), explanation()] {
        // Addresses in text and licences are no requests; elements and style that load something are.
        for forbidden in [
            "src=", "<link", "@import", "url(\"", "url('", "url(h", "url(/", "url(.", "<iframe", "<img",
        ] {
            let found = page
                .match_indices(forbidden)
                .map(|(i, _)| &page[i..(i + 60).min(page.len())])
                .next();
            assert!(found.is_none(), "{found:?}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn text_from_outside_is_escaped() {
    let mut results = sample::results();
    results.variants[0].name = "<script>alert(1)</script>".into();
    results.variants[0].runs[0].captures[0].file = "javascript:alert(1)\"onclick=\"x".into();
    let mut graphs = sample::graphs::all();
    graphs[0].variant = results.variants[0].name.clone();
    graphs[0].label = "</script><script>alert(2)".into();
    let mut out = Vec::new();
    write_report(&results, &graphs, None, &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    assert!(!page.contains("<script>alert"), "a name became an element");
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(
        page.contains("href=\".&#x2f;javascript%3Aalert%281%29%22onclick%3D%22x\""),
        "a file name became an address"
    );
}

#[test]
fn the_drawing_library_is_the_one_whose_hash_is_kept() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/uplot");
    let Ok(checked) = std::process::Command::new("sha256sum")
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(&folder)
        .output()
    else {
        eprintln!("skipped: the_drawing_library_is_the_one_whose_hash_is_kept: no sha256sum here");
        return;
    };
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stdout)
    );
}

#[test]
fn a_document_without_anything_still_makes_a_page() {
    let mut out = Vec::new();
    write_report(&slowpath_report::Results::new("empty", 7), &[], None, &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains("0 variants, 0 runs"));
}

#[test]
fn colours_of_page_and_pictures_are_the_same() {
    let page = explanation();
    for limit in Limit::ALL {
        let wanted = format!("--l-{limit}: {};", slowpath_report::verdict::limit_colour(limit));
        assert!(page.contains(&wanted), "{wanted} is missing from the style");
        assert_eq!(
            page.matches(&format!("--l-{limit}:")).count(),
            3,
            "{limit} lacks a dark colour"
        );
    }
}

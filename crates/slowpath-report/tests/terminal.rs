//! The terminal's table and summary, against golden texts.

mod sample;

use slowpath_record::{Health, HealthState, Origin};
use slowpath_report::Label;
use slowpath_report::quantity::RateUnit;
use slowpath_report::results::{Figure, FlowRow, Reference, Twin, Variant, VariantComparison};
use slowpath_report::terminal::{write_summary, write_table};
use slowpath_report::text::{Hidden, Style, columns};

/// As in a file or a pipe, where nothing limits a row.
const WIDE: Style = Style {
    width: 80,
    rows: usize::MAX,
    color: false,
    verbose: false,
    quiet: false,
    hidden: Hidden::NONE,
};

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
        color: true,
        ..Style::default()
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
fn long_names_stand_whole_and_no_runs_say_so() {
    let mut results = sample::results();
    let alike = [
        "a-very-long-name-of-a-variant-that-begins-like-another-one",
        "and-ends-otherwise",
    ];
    let names = [alike[0].to_owned(), alike.join("-")];
    results.variants[0].name.clone_from(&names[0]);
    results.variants[1].name.clone_from(&names[1]);
    results.variants[3].runs.clear();
    results.variants[3].summarize();
    for rows in [80, 40, usize::MAX] {
        let style = Style {
            rows,
            width: rows.min(80),
            ..Style::default()
        };
        let mut out = Vec::new();
        write_table(&results, style, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let wide = |line: &&str| columns(line) > rows && !names.iter().any(|name| line == name);
        assert_eq!(text.lines().find(wide), None, "{text}");
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
        assert!(text.contains("not run"), "{text}");
        if rows == usize::MAX {
            assert!(
                text.lines()
                    .any(|line| line.starts_with(&names[1]) && line.ends_with("valid")),
                "{text}"
            );
        }
    }
}

/// What the lab cannot carry, simulated time answers, and the row says so.
#[test]
fn a_simulated_row_stands_in_for_an_invalid_one() {
    let mut results = sample::results();
    results.variants.truncate(2);
    results.comparisons.clear();
    results.proofs.clear();
    for index in 0..2 {
        let mut twin = results.variants[index].clone();
        twin.clock = Origin::Simulated;
        twin.runs.iter_mut().for_each(|run| run.health = Health::valid());
        twin.summarize();
        results.variants.push(twin);
    }
    for run in &mut results.variants[1].runs {
        run.health.state = HealthState::Invalid;
    }
    results.variants[1].summarize();
    assert!(!results.is_unanswered());
    let mut out = Vec::new();
    write_table(&results, WIDE, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let rows: Vec<&str> = text.lines().skip(3).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(
        rows[0].starts_with("linux ") && rows[0].contains("degraded"),
        "{text}"
    );
    assert!(
        rows[1].starts_with("iosxe-default ~") && rows[1].ends_with("lab invalid"),
        "{text}"
    );
    assert!(rows[1].contains("149.3"), "{text}");
}

/// A rate that a faster link leaves as it is, and that rises with the devices' own limits lifted, is a device's; and what a
/// prediction has from other variants is said.
#[test]
fn what_the_changes_show_stands_above_what_the_captures_say() {
    use slowpath_diagnose::change;
    let mut results = sample::results();
    let told = |results: &slowpath_report::results::Results| {
        let mut out = Vec::new();
        slowpath_report::terminal::write_diagnosis(results, WIDE, None, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let before = told(&results);
    assert!(
        before.contains("predicted by what iosxe-tuned shows of the path"),
        "{before}"
    );
    let tuned = results
        .variants
        .iter()
        .position(|variant| variant.name == "iosxe-tuned")
        .unwrap();
    let rate = results.variants[tuned].goodput_byte_per_s.as_ref().unwrap().mean;
    let mut link = results.proofs[0].clone();
    link.variant = "iosxe-tuned".into();
    link.before_byte_per_s = rate;
    link.intervention = Some(change::bottleneck(125));
    link.measured_byte_per_s = Some(1.01 * rate);
    let mut device = link.clone();
    device.intervention = Some(change::no_device_limit());
    device.measured_byte_per_s = Some(2.9 * rate);
    results.proofs.extend([link, device]);
    let shown = "limited by device-limit as the changes show (its captures: ";
    assert!(told(&results).contains(shown), "{}", told(&results));
    // A link that a faster one outdoes is one.
    let link = results.proofs.len() - 2;
    results.proofs[link].measured_byte_per_s = Some(1.25 * rate);
    assert!(!told(&results).contains(shown), "{}", told(&results));
    let one = results.of_variants(&["iosxe-tuned".into()]);
    assert_eq!((one.variants.len(), one.proofs.len()), (1, 2));
}

/// One of three runs that counts is another thing than a row that does not.
#[test]
fn a_row_says_how_many_runs_count() {
    let mut results = sample::results();
    let runs = &mut results.variants[0].runs;
    runs[0].health.state = HealthState::Invalid;
    let all = runs.len();
    results.variants[0].summarize();
    let mut out = Vec::new();
    write_table(&results, WIDE, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains(&format!("{} of {all} valid", all - 1)), "{text}");
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
        twin.clock = Origin::Simulated;
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

/// Each source's unit stands beside its figure, and what was measured is in it.
#[test]
fn rows_keep_the_units_of_their_sources() {
    let printed = |text: &str| Label {
        printed: Some(text.to_owned()),
        ..Label::default()
    };
    let mut results = sample::results();
    results.variants.truncate(4);
    let set = |variant: &mut Variant, text: &str, byte_per_s: f64| {
        variant.reference = Some(Reference {
            goodput_byte_per_s: byte_per_s,
            label: printed(text),
            ..Reference::default()
        });
        variant.summarize();
    };
    set(&mut results.variants[0], "2.917 MiB/s", 3_058_700.0);
    set(&mut results.variants[1], "151542 B/s", 151_542.0);
    let [_, _, counted, pinged] = &mut results.variants[..] else {
        panic!("four variants");
    };
    counted.reference = None;
    counted.figures = vec![Figure {
        name: "total: packets received".to_owned(),
        unit: "packet".to_owned(),
        published: Some(57_130.0),
        measured: Some(57_193.0),
        label: printed("57130 packets"),
        ..Figure::default()
    }];
    pinged.reference = None;
    pinged.figures.clear();
    pinged.instead = Some("115.4 ms".to_owned());
    let mut out = Vec::new();
    write_table(&results, WIDE, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let row = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let words: Vec<&str> = line
            .unwrap_or_else(|| panic!("{text}"))
            .split_whitespace()
            .collect();
        words.join(" ")
    };
    assert!(
        row("linux").contains("2.917") && row("linux").contains("MiB/s"),
        "{text}"
    );
    assert!(row("iosxe-default").contains("151,542 149,"), "{text}");
    assert!(row("iosxe-default").contains("B/s"), "{text}");
    assert!(
        row("iosxe-tuned").contains("57,130 57,193 packets 1.001"),
        "{text}"
    );
    assert!(row("ios-default").contains("115.4 ms - no transfer"), "{text}");
}

/// What stands for rows of counted flows is their loss, not their sum.
#[test]
fn pairs_of_counted_flows_are_compared_by_what_they_lose() {
    let mut results = sample::results();
    let [a, b] = &mut results.variants[..2] else {
        panic!("two variants");
    };
    for (variant, lost) in [(&mut *a, [0.2, 0.21]), (&mut *b, [0.4, 0.0])] {
        for run in &mut variant.runs {
            run.flows = ["tcp", "udp"]
                .iter()
                .zip(lost)
                .map(|(name, loss_fraction)| FlowRow {
                    name: (*name).to_owned(),
                    loss_fraction,
                    ..FlowRow::default()
                })
                .collect();
        }
    }
    let said = VariantComparison::losses(a, b, RateUnit::Bits).unwrap().sentence;
    assert!(
        said.contains("tcp loses 40.0 % instead of 20.0 %, udp loses 0 % instead of 21.0 %"),
        "{said}"
    );
    b.runs.iter_mut().for_each(|run| run.flows.clear());
    assert!(VariantComparison::losses(a, b, RateUnit::Bits).is_none());
}

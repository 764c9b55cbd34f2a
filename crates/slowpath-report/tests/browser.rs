//! The pages as a browser shows them: headless Chromium looks at them with `tests/browser/check.py`.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "invented figures"
)]

mod sample;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use slowpath_facts::{Graphs, IoPoint, Point, SegmentPoint};
use slowpath_report::GraphSet;
use slowpath_report::html::{write_explanation, write_report};
use slowpath_verdict::{Interval, Limit};

/// One test a check; `check.py` says what each one is.
macro_rules! checks {
    ($($name:ident: $check:literal;)*) => {
        $(#[test]
        fn $name() {
            look(stringify!($name), $check);
        })*
    };
}

checks! {
    pages_on_a_desktop: "desktop";
    pages_on_a_phone: "phone";
    pages_in_light_and_dark: "dark";
    pages_on_paper: "printed";
    pages_without_a_mouse: "keyboard";
    pages_for_those_who_do_not_see_them: "alternatives";
    buttons_of_the_page: "buttons";
    intervals_of_the_io_graph: "interval";
    search_among_runs: "search";
    a_million_segments: "million";
    three_hundred_runs: "many";
}

/// Has a check look at the pages.
fn look(test: &str, check: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = root.join("target/browser/bin/python3");
    let python = if own.is_file() { own } else { "python3".into() };
    let output = Command::new(python)
        .arg(root.join("tests/browser/check.py"))
        .args([check.as_ref(), pages().as_os_str()])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: {test}: python3 is not installed");
        return;
    };
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    match output.status.code() {
        Some(0) => eprint!("{said}"),
        Some(77) => eprintln!("skipped: {test}: {}", said.trim()),
        _ => panic!("{said}"),
    }
}

/// The folder of the pages, made once.
fn pages() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("browser");
        fs::create_dir_all(&folder).unwrap();
        let graphs = sample::graphs::all();
        let page = |name: &str, write: &dyn Fn(&mut Vec<u8>)| {
            let mut page = Vec::new();
            write(&mut page);
            fs::write(folder.join(name), page).unwrap();
        };
        page("report.html", &|out| {
            write_report(&sample::results(), &graphs, None, out).unwrap();
        });
        let explanation = |set: &GraphSet| {
            let mut explanation = sample::explanation();
            let connection = &mut explanation.connections[0].connection;
            connection.graphs = set.graphs.clone();
            connection.intervals.clone_from(&set.intervals);
            explanation
        };
        page("explain.html", &|out| {
            write_explanation(&explanation(&graphs[1]), None, None, out).unwrap();
        });
        page("million.html", &|out| {
            write_explanation(&explanation(&million()), None, None, out).unwrap();
        });
        page("many.html", &|out| many(&graphs, out));
        folder
    })
}

/// A hundred variants of three runs, two of each with graphs.
fn many(graphs: &[GraphSet], out: &mut Vec<u8>) {
    let mut results = sample::results();
    let model = results.variants[1].clone();
    let mut sets = Vec::new();
    results.variants = (0..100)
        .map(|number| {
            let mut variant = model.clone();
            variant.name = format!("router-{number:03}");
            variant.runs = (0..3)
                .map(|repeat| {
                    let mut run = model.runs[0].clone();
                    run.repeat = repeat;
                    run.duration_s += f64::from(number) + f64::from(repeat) / 10.0;
                    run
                })
                .collect();
            sets.extend((0..2).map(|run| GraphSet {
                variant: variant.name.clone(),
                run,
                label: format!("run {}, at the server", run + 1),
                ..graphs[3].clone()
            }));
            variant
        })
        .collect();
    write_report(&results, &sets, None, out).unwrap();
}

/// A transfer of a million segments with everything that belongs to it: 1.46 GB at 200 Mbit/s, a loss now and then.
fn million() -> GraphSet {
    const COUNT: u64 = 1_000_000;
    const MSS: u64 = 1460;
    let mut g = Graphs {
        io_bin_s: 0.2,
        ..Graphs::default()
    };
    let mut now = 0.05;
    let mut noise = 1_u64;
    let mut seconds = [0_u64; 512];
    for index in 0..COUNT {
        // A linear congruential generator: the same page each time.
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let jitter = (noise >> 40) as f64 / f64::from(1_u32 << 24);
        now += 58e-6 * (0.5 + jitter);
        let wave = (now * 0.7).sin();
        let rtt = 0.020 + 0.008 * (1.0 + wave) + 0.0008 * jitter;
        let point = |value: f64| Point {
            at_s: now + rtt,
            value,
        };
        let segment = |at_s: f64, retransmission: bool| SegmentPoint {
            at_s,
            from: index * MSS,
            to: (index + 1) * MSS,
            retransmission,
        };
        g.segments.push(segment(now, false));
        if index % 2003 == 7 {
            g.segments.push(segment(now + rtt, true));
        }
        let window = 1_500_000.0 + 200_000.0 * wave;
        if index % 2 == 0 {
            g.acks.push(point(((index + 1) * MSS) as f64));
            g.window_edge.push(point(((index + 1) * MSS) as f64 + window));
            g.rtt.push(point(rtt));
            g.window.push(point(window));
            g.flight.push(point(rtt / 58e-6 * MSS as f64));
        }
        seconds[(now / g.io_bin_s) as usize] += 1;
    }
    g.segments.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let bins = (now / g.io_bin_s) as usize + 1;
    g.io = (0..bins)
        .map(|bin| IoPoint {
            at_s: bin as f64 * g.io_bin_s,
            packets: seconds[bin],
            bytes: seconds[bin] * (MSS + 54),
            packets_back: seconds[bin] / 2,
            bytes_back: seconds[bin] / 2 * 66,
            retransmissions: 1,
        })
        .collect();
    let rate = |bin: &IoPoint| Point {
        at_s: bin.at_s,
        value: (bin.packets * MSS) as f64 / g.io_bin_s,
    };
    g.throughput = g.io.iter().map(rate).collect();
    g.goodput.clone_from(&g.throughput);
    let pieces = 200;
    GraphSet {
        label: "a million segments".into(),
        intervals: (0..pieces)
            .map(|piece| Interval {
                from_s: now * f64::from(piece) / f64::from(pieces),
                to_s: now * f64::from(piece + 1) / f64::from(pieces),
                limit: if piece % 3 == 0 {
                    Limit::RandomLoss
                } else {
                    Limit::BottleneckBandwidth
                },
            })
            .collect(),
        graphs: g,
        ..GraphSet::default()
    }
}

//! When the version of the model must go up: when equal plans and seeds give other results than those recorded here.

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use slowpath::MODEL;
use slowpath::sweep::{self, SweepOptions};

/// An experiment with variants and settings, small enough to compute always and wide enough to notice.
const SAMPLES: [(&str, &[&str], &[&str]); 5] = [
    (
        "cisco-ftp",
        &["linux", "iosxe-default"],
        &["loss=0 %,0.3 %", "congestion-control=cubic,bbr"],
    ),
    (
        "cisco-ftp",
        &["linux"],
        &["queue=20 packets,2000 packets", "congestion-control=reno"],
    ),
    (
        "bbr-object-storage",
        &["cubic-1m-16", "bbr-1m-16", "trace"],
        &["delay=20 ms"],
    ),
    (
        "rtx2000-tunnel-qos",
        &["priority-on", "tcp-transfer"],
        &["queue=50 packets"],
    ),
    ("iperf3-modes", &["wired-1g-udp-1m"], &["delay=5 ms"]),
];

#[test]
fn the_version_goes_up_with_the_results() {
    let mut found = format!("model {MODEL}\n");
    for (experiment, variants, sweeps) in SAMPLES {
        let options = SweepOptions {
            experiment: experiment.to_owned(),
            sweeps: sweeps.iter().map(|&text| text.to_owned()).collect(),
            variants: variants.iter().map(|&text| text.to_owned()).collect(),
            repeats: Some(1),
            seed: 1,
            quick: true,
            explained: true,
            ..SweepOptions::default()
        };
        let swept = sweep::run(&options, &AtomicBool::new(false), &|_, _| {})
            .unwrap_or_else(|error| panic!("{experiment}: {error}"));
        for point in &swept.points {
            for run in &point.runs {
                let values = point.values.join(", ");
                let limit = run.limit.as_deref().unwrap_or("-");
                writeln!(
                    found,
                    "{experiment} {} ({values}): {} byte in {} s, {limit}",
                    point.variant, run.bytes, run.duration_s
                )
                .unwrap();
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model.snapshot.txt");
    if std::env::var_os("UPDATE_SNAPSHOT").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    let differing: Vec<_> = found
        .lines()
        .zip(recorded.lines())
        .filter(|(a, b)| a != b)
        .take(5)
        .collect();
    assert!(
        found == recorded,
        "equal plans give other results than version {MODEL} of the model gave: raise slowpath::MODEL, then \
         UPDATE_SNAPSHOT=1 cargo test --workspace --test model. The first differences: {differing:#?}"
    );
}

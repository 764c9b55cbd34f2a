//! The published rates of the field reports, in simulated time; the rows that take seconds are left to `slowpath run`.

use slowpath::load::Loaded;
use slowpath::{Clock, RunRecord, simulated};
use slowpath_scenario::PlanOptions;
use slowpath_scenario::figure::{Figure, FigureValue};

fn compute(experiment: &str, variant: &str) -> (RunRecord, Vec<Figure>) {
    let loaded = Loaded::open(experiment, &[]).unwrap_or_else(|error| panic!("{error}"));
    let options = PlanOptions::first(variant, 1, Clock::Simulated);
    let plan = loaded
        .experiment
        .plan(&options, &loaded.fragments)
        .unwrap_or_else(|error| panic!("{error}"));
    let record = simulated::bare(experiment, &plan).unwrap_or_else(|error| panic!("{error}"));
    (record, plan.figures)
}

/// The published rate and the simulated one, in bits per second, with the tolerance.
fn rates(experiment: &str, variant: &str) -> (f64, f64, f64) {
    let (record, figures) = compute(experiment, variant);
    let rate = |figure: &&Figure| {
        matches!(
            figure.value,
            FigureValue::BitsPerSecond(_) | FigureValue::BytesPerSecond(_)
        )
    };
    let figure = figures.iter().find(rate).expect("a published rate");
    let bits = if matches!(figure.value, FigureValue::BytesPerSecond(_)) {
        8.0
    } else {
        1.0
    };
    let tolerance = figure.tolerance.expect("a tolerance").fraction();
    let byte_per_s = match record.transfers.first() {
        Some(transfer) => transfer.goodput_byte_per_s(),
        None => record.flows[0].goodput_byte_per_s,
    };
    (figure.value.as_f64() * bits, byte_per_s * 8.0, tolerance)
}

#[test]
fn windows_bursts_and_files_reach_the_published_rates() {
    let variants = [
        "wired-1g-udp-10m",
        "wired-1g-udp-50m",
        "mobile-tcp-60k",
        "mobile-tcp-100m",
        "mobile-ftp",
        "mobile-udp-10m",
        "mobile-udp-50m",
        "saopaulo-tcp",
        "saopaulo-tcp-60k",
        "saopaulo-tcp-100m",
        "saopaulo-ftp",
        "saopaulo-udp-10m",
        "saopaulo-udp-50m",
    ];
    for variant in variants {
        let (published, simulated, tolerance) = rates("iperf3-modes", variant);
        let ratio = simulated / published;
        assert!((ratio - 1.0).abs() <= tolerance, "{variant}: {ratio:.3}");
    }
}

/// One delay for all rows of a network: what follows from the row with 60 KiB holds for Sao Paulo and not for the mobile path.
#[test]
fn a_declared_miss_is_one() {
    let (published, simulated, tolerance) = rates("iperf3-modes", "mobile-tcp");
    assert!(
        simulated / published - 1.0 > tolerance,
        "{simulated} for {published}"
    );
}

#[test]
fn jitter_of_bursts_has_the_published_order() {
    for (variant, published_ms) in [
        ("wired-1g-udp-50m", 0.127),
        ("mobile-udp-1m", 7.69),
        ("mobile-udp-10m", 2.358),
        ("mobile-udp-50m", 5.988),
        ("saopaulo-udp-10m", 0.029),
        ("saopaulo-udp-50m", 0.025),
    ] {
        let (record, _) = compute("iperf3-modes", variant);
        let jitter = record.flows[0].jitter.expect("a jitter").seconds() * 1e3;
        assert!(
            (0.1..10.0).contains(&(jitter / published_ms)),
            "{variant}: {jitter} ms"
        );
    }
}

#[test]
fn small_objects_reach_the_published_rates() {
    for variant in ["cubic-1m-16", "bbr-1m-16"] {
        let (published, simulated, tolerance) = rates("bbr-object-storage", variant);
        let ratio = simulated / published;
        assert!((ratio - 1.0).abs() <= tolerance, "{variant}: {ratio:.3}");
    }
}

#[test]
fn both_pings_come_back_and_take_the_round_trip() {
    let (record, _) = compute("bbr-object-storage", "ping");
    for name in ["ping-1426", "ping-65507"] {
        let flow = record.flows.iter().find(|flow| flow.name == name).expect(name);
        assert_eq!(flow.received_packets, 10, "{name}");
        let series = record
            .series
            .iter()
            .find(|series| series.name == format!("{name}/round-trip"))
            .expect(name);
        assert!(
            series.points.iter().all(|(_, s)| (0.115..0.118).contains(s)),
            "{name}: {:?}",
            series.points
        );
    }
}

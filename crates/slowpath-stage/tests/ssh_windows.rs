//! The SSH family's own window over a long path, in simulated time.

use slowpath_scenario::{Clock, Experiment, Fragments, PlanOptions};

/// One copy over 100 ms: goodput in bytes per second.
fn copy(kind: &str, direction: &str) -> f64 {
    let text = format!(
        "title = \"t\"\n[network]\nboth = [{{ rate = \"10 Gbit/s\", queue = \"9000 packets\" }}, {{ delay = \
         \"50 ms\" }}]\n[hosts.client]\nsystem = \"linux\"\nrmem = [\"4 KiB\", \"128 KiB\", \"64 MiB\"]\n\
         [hosts.server]\nsystem = \"linux\"\nrmem = [\"4 KiB\", \"128 KiB\", \"64 MiB\"]\n[workload]\nkind = \
         \"{kind}\"\nsize = \"200 MiB\"\ndirection = \"{direction}\"\n[[variants]]\nname = \"v\"\n"
    );
    let experiment = Experiment::read("x.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = PlanOptions::first("v", 1, Clock::Simulated);
    let plan = experiment.plan(&options, &Fragments::new()).unwrap();
    let record = slowpath_stage::simulated::bare("t", &plan).unwrap();
    let [transfer] = record.transfers.as_slice() else {
        panic!("{:?}", record.transfers);
    };
    assert!(transfer.complete, "{transfer:?}");
    assert_eq!(transfer.bytes, 200 << 20);
    // Ten exchanges of the login come before the data and are not counted.
    assert!(transfer.start.nanos() > 800_000_000, "{transfer:?}");
    transfer.goodput_byte_per_s()
}

#[test]
fn the_channels_window_limits_a_copy_over_a_long_path() {
    for (kind, direction) in [
        ("scp", "upload"),
        ("sftp", "download"),
        ("scp-legacy", "upload"),
        ("ssh-pipe", "upload"),
        ("ssh-tunnel-copy", "upload"),
        ("ssh-tunnel-iperf3", "upload"),
        ("ssh-tunnel-scp", "download"),
    ] {
        let rate = copy(kind, direction);
        let window = f64::from(2 << 20) / 0.1;
        assert!(
            (0.85..1.0).contains(&(rate / window)),
            "{kind} {direction}: {rate}"
        );
    }
}

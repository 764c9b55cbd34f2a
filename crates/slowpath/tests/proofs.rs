//! What can be predicted can be run: the counterfactual of a full link is a faster one, and it is made and measured.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use slowpath::folder::Folder;
use slowpath::load::Loaded;
use slowpath::run::{self, RunOptions};
use slowpath::{Clock, prove};
use slowpath_report::results::ProofOutcome;

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_bottlenecks_own_counterfactual_is_run() {
    let scratch = Scratch(std::env::temp_dir().join(format!("slowpath-proofs-{}", std::process::id())));
    std::fs::create_dir_all(&scratch.0).unwrap();
    let experiment = r#"title = "A full link"
captures = "hosts"
[network]
up = [{ rate = "10 Mbit/s", queue = "100 packets" }, { delay = "10 ms" }]
down = [{ delay = "10 ms" }]
[workload]
kind = "iperf3"
size = "10 MB"
repeats = 2
[hosts.client]
system = "linux"
congestion_control = "cubic"
[hosts.server]
system = "linux"
"#;
    std::fs::write(scratch.0.join("experiment.toml"), experiment).unwrap();
    let dossier = "[[proofs]]\nvariant = \"default\"\nbottleneck = \"200 %\"\n";
    std::fs::write(scratch.0.join("dossier.toml"), dossier).unwrap();
    let file = scratch.0.join("experiment.toml");
    let loaded = Loaded::open(file.to_str().unwrap(), &[]).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions {
        clocks: vec![Clock::Simulated],
        variants: Vec::new(),
        repeats: Some(2),
        decide: false,
        seed: 1,
        quick: false,
        capture: true,
        out: scratch.0.join("out"),
        places: 1,
        worker: (PathBuf::new(), Vec::new()),
    };
    let cancel = AtomicBool::new(false);
    run::run(&loaded, &options, &cancel, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    let folder = Folder::open(&options.out);
    let proofs = prove::prove(&loaded, &options, &folder, &cancel, &mut |_| {})
        .unwrap_or_else(|error| panic!("{error}"));
    // What the dossier wishes for, then what the verdict suggests.
    let [proof, suggested] = proofs.as_slice() else {
        panic!("{proofs:?}")
    };
    assert_eq!(suggested.change, "a bottleneck of 125 % of its rate");
    assert_eq!(suggested.outcome, ProofOutcome::Held, "{}", suggested.sentence);
    assert_eq!(proof.change, "a bottleneck of 200 % of its rate");
    assert_eq!(proof.outcome, ProofOutcome::Held, "{}", proof.sentence);
    let measured = proof.measured_byte_per_s.expect("the changed runs are valid");
    assert!(
        (1.8..2.2).contains(&(measured / proof.before_byte_per_s)),
        "{}",
        proof.sentence
    );
}

//! A file through the modelled RTX2000: kernels in real time against model endpoints in simulated time.

use std::path::PathBuf;

use slowpath::folder::Folder;
use slowpath::load::Loaded;
use slowpath::worker::Assignment;
use slowpath::{real_time, simulated};
use slowpath_lab::Privilege;
use slowpath_record::{HealthState, RunRecord};
use slowpath_scenario::{Clock, PlanOptions};
use slowpath_sys::namespace::{Capability, has_capability};
use slowpath_units::ByteCount;

const NAME: &str = "a_kernel_transfer_through_the_rtx_agrees_with_the_simulated_one";

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn assignment(clock: Clock, folder: PathBuf) -> Assignment {
    let loaded = Loaded::open("rtx2000-tunnel-qos", &[]).unwrap_or_else(|error| panic!("{error}"));
    let options = PlanOptions {
        variant: "tcp-transfer".to_owned(),
        repeat: 0,
        seed: 1,
        clock,
        quick: false,
        size: Some(ByteCount::new(5 << 20)),
    };
    let plan = loaded.experiment.plan(&options, &loaded.fragments);
    Assignment {
        experiment: loaded.name,
        name: "tcp-transfer".to_owned(),
        plan: plan.unwrap_or_else(|error| panic!("{error}")),
        twin: None,
        kind: slowpath_record::RunKind::Plain,
        folder,
        capture: false,
    }
}

fn goodput(record: &RunRecord) -> f64 {
    assert_eq!(record.transfers.len(), 1, "{:?}", record.transfers);
    assert!(record.transfers[0].complete, "{:?}", record.transfers);
    record.transfers[0].goodput_byte_per_s()
}

#[test]
fn a_kernel_transfer_through_the_rtx_agrees_with_the_simulated_one() {
    let place = std::env::temp_dir().join(format!("slowpath-rtx-{}", std::process::id()));
    let scratch = Scratch(place.clone());
    let folder = Folder::create(&place).unwrap();
    let wanted = assignment(Clock::Simulated, place.clone());
    let record = simulated::run("rtx", &wanted.plan, &wanted.name, false, &folder).unwrap();
    let simulated = goodput(&record);
    // 15 Mbit/s of encrypted packets on the wire carry 1228 bytes of payload in 1280 of IP, or 1374 of wire.
    let most = 15e6 / 8.0 * 1228.0 / 1374.0;
    assert!(
        (0.6..=1.0).contains(&(simulated / most)),
        "{simulated} B/s of {most}: the class of 15 Mbit/s limits"
    );
    if !has_capability(Capability::SysAdmin).unwrap_or(false) {
        eprintln!("skipped: {NAME}: needs root, or a user namespace entered before the test threads start");
        return;
    }
    let record = match real_time::run(&assignment(Clock::Lab, place), Privilege::Full, &mut |_| ()) {
        Ok(record) => record,
        Err(error) => panic!("{error}"),
    };
    if record.health.state == HealthState::Invalid {
        eprintln!("skipped: {NAME}: {:?}", record.health.reasons);
        return;
    }
    let ratio = simulated / goodput(&record);
    eprintln!("simulated over lab: {ratio:.3}");
    assert!((0.9..=1.1).contains(&ratio), "simulated over lab is {ratio:.3}");
    drop(scratch);
}

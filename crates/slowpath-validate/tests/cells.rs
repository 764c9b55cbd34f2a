//! A handful of the twin's cells in simulated time.

use std::path::PathBuf;

use slowpath::folder::Folder;
use slowpath::simulated;
use slowpath_record::{HealthState, RunRecord};
use slowpath_scenario::Clock;
use slowpath_validate::cells::{self, Cell, Congestion};

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(cell: &Cell, repeat: u32) -> RunRecord {
    let place = std::env::temp_dir().join(format!(
        "slowpath-cells-{}-{repeat}-{}",
        cell.name(),
        std::process::id()
    ));
    let scratch = Scratch(place);
    let folder = Folder::create(&scratch.0).unwrap();
    let plan = cell
        .plan(Clock::Simulated, repeat, 1)
        .unwrap_or_else(|e| panic!("{e}"));
    simulated::run("twin", &plan, &cell.name(), false, &folder).unwrap()
}

fn cell(rate: u32, rtt: u32, loss: u32, queue: u32, congestion: Congestion) -> Cell {
    Cell {
        rate_mbit_per_s: rate,
        rtt_ms: rtt,
        loss_e4: loss,
        queue_tenths: queue,
        congestion,
    }
}

fn utilisation(cell: &Cell, record: &RunRecord) -> f64 {
    record.transfers[0].goodput_byte_per_s() / cell.ceiling_byte_per_s()
}

#[test]
fn lossless_cells_use_what_the_formula_expects() {
    for cell in [
        cell(10, 20, 0, 10, Congestion::Cubic),
        cell(10, 20, 0, 40, Congestion::Bbr),
        cell(10, 100, 0, 10, Congestion::Reno),
    ] {
        let record = run(&cell, 0);
        assert_eq!(record.health.state, HealthState::Valid, "{}", cell.name());
        let (used, expected) = (utilisation(&cell, &record), cell.expected_utilisation());
        assert!(
            (0.85..1.15).contains(&(used / expected)),
            "{}: {used} of {expected}",
            cell.name()
        );
    }
}

#[test]
fn loss_follows_its_dice_and_the_seed_decides() {
    let cell = cell(10, 100, 100, 10, Congestion::Reno);
    assert!(cells::all().iter().any(|one| one.loss_e4 == cell.loss_e4));
    let lost = |record: &RunRecord| {
        let element = record
            .elements
            .iter()
            .find(|element| element.element == "down.loss");
        let element = element.expect("the path has a loss element");
        let dropped: u64 = element.dropped.iter().map(|(_, traffic)| traffic.packets).sum();
        (element.entered.packets, dropped)
    };
    let (first, again, other) = (run(&cell, 0), run(&cell, 0), run(&cell, 1));
    assert_eq!(first.transfers, again.transfers);
    assert_ne!(first.transfers, other.transfers);
    let (entered, dropped) = lost(&first);
    // One per cent of some thousand packets: three standard deviations.
    let expected = entered as f64 * cell.loss();
    assert!(
        (dropped as f64 - expected).abs() < 3.0 * expected.sqrt(),
        "{dropped} of {entered}"
    );
}

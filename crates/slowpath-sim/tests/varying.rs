//! Transfers over links whose rate varies: recorded, by chance, by schedule.

#![allow(clippy::disallowed_methods, reason = "tests read files")]

mod support;

use slowpath_endpoint::tcp::CongestionControl;
use slowpath_path::{ElementKind, Level, Limit, Link, Markov, Rate, RateStep, Trace};
use slowpath_units::{BitRate, Duration, Layer};
use support::{Chain, Transfer, delay, with};

fn link(rate: Rate, packets: u32) -> Chain {
    let mut link = Link::fifo(BitRate::new(1), Layer::Ip, Limit::Packets(packets));
    link.rate = rate;
    vec![
        ("up.rate".to_owned(), ElementKind::Link(link)),
        delay("up.delay", Duration::from_millis(20)),
    ]
}

fn transfer(rate: Rate, seconds: u64) -> Transfer {
    let down = vec![delay("down.delay", Duration::from_millis(20))];
    Transfer::new(with(CongestionControl::Cubic), link(rate, 400), down, seconds)
}

/// A trace of 6 and 24 Mbit/s in turn, a second each.
fn generated() -> Trace {
    let slow = (1..=500_u32).map(|n| 2 * n);
    let fast = (1001..=2000_u32).flat_map(|ms| [ms, ms]);
    let text: Vec<String> = slow.chain(fast).map(|ms| ms.to_string()).collect();
    Trace::parse(&text.join("\n")).unwrap()
}

/// Nothing beats the trace, and a deep queue keeps it busy while it is slow.
fn uses(trace: Trace, seconds: u64, least: f64) {
    let capacity = trace.mean().bits_per_s() as f64 / 8.0;
    let outcome = transfer(Rate::Trace(trace), seconds).run();
    let share = outcome.byte_per_s() / (capacity * 1448.0 / 1500.0);
    println!("{share:.3} of {capacity:.0} B/s");
    assert!((least..=1.001).contains(&share), "{share}");
}

#[test]
fn a_recorded_rate_bounds_a_transfer() {
    let trace = generated();
    assert_eq!(trace.mean(), BitRate::new(15_000_000));
    uses(trace, 20, 0.85);
}

#[test]
fn recordings_of_cellular_links_can_be_run() {
    let Some(folder) = std::env::var_os("SLOWPATH_TRACES") else {
        println!("skipped: recordings_of_cellular_links_can_be_run: SLOWPATH_TRACES names no folder");
        return;
    };
    let mut found = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|end| end != "down" && end != "up") {
            continue;
        }
        let trace = Trace::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let seconds = u64::from(*trace.millis.last().unwrap()) / 1000;
        println!("{}: {} over {seconds} s", path.display(), trace.mean());
        // Loss after outages costs a share that differs from link to link.
        uses(trace, seconds, 0.3);
        found += 1;
    }
    assert!(found > 0, "no file ending in .down or .up");
}

#[test]
fn a_random_rate_is_the_seed_s() {
    let level = |mbit: u64, ms| Level {
        rate: BitRate::new(mbit * 1_000_000),
        stay: Duration::from_millis(ms),
    };
    let markov = Markov::new(vec![level(24, 1000), level(6, 500)]);
    let run = |seed| {
        let mut transfer = transfer(Rate::Markov(markov.clone()), 30);
        transfer.seed = seed;
        transfer.run().received
    };
    let all: Vec<u64> = (1..=6).map(run).collect();
    assert_eq!(run(1), all[0], "the same seed gives the same bytes");
    assert!(all[1..].iter().all(|bytes| *bytes != all[0]), "{all:?}");
    // The mean is 18 Mbit/s; 30 s of spells of a second and a half are some 20 spells, and 6 runs are 120.
    let mean = all.iter().sum::<u64>() as f64 / 6.0 / 30.0 * 8.0 * 1500.0 / 1448.0;
    assert!((13e6..20e6).contains(&mean), "{mean}");
}

#[test]
fn a_schedule_changes_the_rate_in_mid_transfer() {
    let step = |s, mbit: u64| RateStep {
        from: Duration::from_secs(s),
        rate: BitRate::new(mbit * 1_000_000),
    };
    let both = transfer(Rate::Steps(vec![step(0, 10), step(10, 2)]), 20).run();
    let first = transfer(Rate::Fixed(BitRate::new(10_000_000)), 10).run();
    let second = both.received - first.received;
    let capacity = 2e6 / 8.0 * 10.0 * 1448.0 / 1500.0;
    assert!(
        (0.9 * capacity..=1.05 * capacity).contains(&(second as f64)),
        "{second} of {capacity}"
    );
}

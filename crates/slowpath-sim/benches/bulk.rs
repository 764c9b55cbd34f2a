//! One bulk CUBIC flow through rate, delay, queue and loss: data packets per second of processor time.
//!
//! Processor time, not elapsed time: other work on the machine does not count.

use std::sync::OnceLock;
use std::time::Instant;

use slowpath_endpoint::HostConfig;
use slowpath_endpoint::app::{Behaviour, Bulk, Pace, Sink};
use slowpath_endpoint::tcp::Config;
use slowpath_path::{Delay, DropUnit, ElementKind, Limit, Link, Loss, LossModel, NetworkSpec};
use slowpath_sim::{NoSink, SimHost, SimSpec, Simulation};
use slowpath_units::{Duration, Layer, Time};

fn spec(rate: &str, delay: &str, bytes: u64, streams: u32) -> SimSpec {
    let chain = |name: &str| {
        vec![
            (
                format!("{name}.rate"),
                ElementKind::Link(Link::fifo(
                    rate.parse().unwrap(),
                    Layer::Frame,
                    Limit::Packets(1000),
                )),
            ),
            (
                format!("{name}.delay"),
                ElementKind::Delay(Delay::fixed(delay.parse().unwrap())),
            ),
            (
                format!("{name}.loss"),
                ElementKind::Loss(Loss {
                    model: LossModel::Random {
                        chance: "0.01 %".parse().unwrap(),
                    },
                    unit: DropUnit::default(),
                }),
            ),
        ]
    };
    let host = |name: &str, address: &str, behaviour: Behaviour| SimHost {
        name: name.to_owned(),
        config: HostConfig {
            addresses: vec![address.parse().unwrap()],
            tcp: Config::linux(),
            mtu: 1500,
            input: None,
        },
        programs: vec![(Time::ZERO, behaviour)],
    };
    let bulk = Bulk {
        name: "bulk".to_owned(),
        to: "10.0.0.2:5001".parse().unwrap(),
        bytes: Some(bytes),
        duration: None,
        streams,
        congestion: None,
        dscp: None,
        writer: Pace::Unlimited,
    };
    SimSpec {
        hosts: vec![
            host("near", "10.0.0.1", Behaviour::Bulk(bulk)),
            host(
                "far",
                "10.0.0.2",
                Behaviour::Sink(Sink {
                    port: 5001,
                    reader: Pace::Unlimited,
                }),
            ),
        ],
        network: NetworkSpec::chain("near", "far", chain("up"), chain("down")),
        seed: 1,
        deadline: Duration::from_secs(100_000),
        sample_every: None,
    }
}

#[allow(clippy::disallowed_methods, reason = "a bench measures the machine")]
fn main() {
    let mut first = None;
    for (name, rate, delay, bytes, streams) in [
        ("1 Gbit/s, 10 ms", "1 Gbit/s", "5 ms", 2_000_000_000_u64, 1),
        ("50 Mbit/s, 100 ms", "50 Mbit/s", "50 ms", 1_000_000_000, 1),
        ("1 Gbit/s, 10 ms, 100 flows", "1 Gbit/s", "5 ms", 20_000_000, 100),
        (
            "1 Gbit/s, 10 ms, 10000 flows",
            "1 Gbit/s",
            "5 ms",
            200_000,
            10_000,
        ),
    ] {
        if std::env::args()
            .nth(1)
            .is_some_and(|only| !only.starts_with('-') && !name.contains(&only))
        {
            continue;
        }
        let simulation = Simulation::new(&spec(rate, delay, bytes, streams)).expect("a valid specification");
        let begun = processor_seconds();
        let report = simulation.run(&mut NoSink);
        let seconds = processor_seconds() - begun;
        let rate = report.data_packets as f64 / seconds;
        let base = *first.get_or_insert(rate);
        println!(
            "{name}: {:.2} M data packets/s, {:.2} of the first; {} data packets, {} simulated, complete: {}",
            rate / 1e6,
            rate / base,
            report.data_packets,
            report.end,
            report.complete
        );
    }
}

#[allow(clippy::disallowed_methods, reason = "a bench measures the machine")]
/// Processor time of this process in seconds; elapsed time where the system does not tell.
fn processor_seconds() -> f64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let begun = BEGUN.get_or_init(Instant::now);
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map_or_else(|| begun.elapsed().as_secs_f64(), |nanos| nanos as f64 / 1e9)
}

//! Bulk CUBIC flows through rate, delay, queue and loss: data packets per second of processor time; the FTP field
//! report; and ns-3 on the same path where it is installed.
//!
//! Processor time, not elapsed time: other work on the machine does not count.

#![allow(
    clippy::disallowed_methods,
    reason = "a bench measures the machine, reads its arguments and runs other programs"
)]

mod ftp;
mod ns3;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use slowpath_endpoint::HostConfig;
use slowpath_endpoint::app::{Behaviour, Bulk, Pace, Sink};
use slowpath_endpoint::tcp::Config;
use slowpath_path::{Delay, DropUnit, ElementKind, Limit, Link, Loss, LossModel, NetworkSpec};
use slowpath_sim::{NoSink, SimHost, SimSpec, Simulation};
use slowpath_units::{Duration, Layer, Time};

fn spec(rate: &str, delay: &str, queue: u32, bytes: u64, streams: u32) -> SimSpec {
    let chain = |name: &str| {
        vec![
            (
                format!("{name}.rate"),
                ElementKind::Link(Link::fifo(
                    rate.parse().unwrap(),
                    Layer::Frame,
                    Limit::Packets(queue),
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

fn main() {
    let only = std::env::args().nth(1).filter(|only| !only.starts_with('-'));
    let chosen = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let single = paths(&chosen);
    flows(&chosen);
    if chosen("ftp") {
        ftp();
    }
    if chosen("ns-3") {
        ns3(single);
    }
}

/// One flow over two paths, and many flows that share one too small for them; the result is the first rate.
fn paths(chosen: &dyn Fn(&str) -> bool) -> Option<f64> {
    let mut first = None;
    for (name, rate, delay, bytes, streams) in [
        ("1 Gbit/s, 10 ms", "1 Gbit/s", "5 ms", 2_000_000_000_u64, 1),
        ("50 Mbit/s, 100 ms", "50 Mbit/s", "50 ms", 1_000_000_000, 1),
        ("1 Gbit/s, 10 ms, 100 flows", "1 Gbit/s", "5 ms", 20_000_000, 100),
        (
            "crowded: 1 Gbit/s, 10 ms, 10000 flows",
            "1 Gbit/s",
            "5 ms",
            200_000,
            10_000,
        ),
    ] {
        if chosen(name) {
            measure(name, &spec(rate, delay, 1000, bytes, streams), &mut first);
        }
    }
    first.map(|(data, _)| data)
}

/// The same number of packets in ever more flows, each with the same share of the path: linear means equal rates. Short
/// flows have handshakes, and an acknowledgement for every segment at first; what many at once cost beyond that shows
/// against the same ones one after the other.
fn flows(chosen: &dyn Fn(&str) -> bool) {
    const MANY: u32 = 10_000;
    let own = |flows: u32, bytes: u64| {
        let rate = format!("{} Mbit/s", 20 * flows);
        spec(&rate, "10 ms", 40 * flows, bytes, flows)
    };
    let mut first = None;
    let mut at_once = None;
    for flows in [1_u32, 10, 100, 1_000, MANY] {
        let name = format!("{flows} flows of 20 Mbit/s, 20 ms");
        if chosen(&name) {
            let spec = own(flows, BYTES / u64::from(flows));
            at_once = Some(measure(&name, &spec, &mut first)).filter(|_| flows == MANY);
        }
    }
    if let Some(at_once) = at_once {
        let one = own(1, BYTES / u64::from(MANY));
        let (mut packets, mut seconds) = (0, 0.0);
        for seed in 1..=u64::from(MANY) {
            let simulation =
                Simulation::new(&SimSpec { seed, ..one.clone() }).expect("a valid specification");
            let begun = processor_seconds();
            packets += simulation.run(&mut NoSink).packets_sent;
            seconds += processor_seconds() - begun;
        }
        let in_turn = packets as f64 / seconds;
        println!(
            "{MANY} flows of 20 Mbit/s one after the other: {:.2} M packets/s with acknowledgements; at once {:.2} of that",
            in_turn / 1e6,
            at_once / in_turn
        );
    }
}

/// Bytes of the flows together.
const BYTES: u64 = 2_000_000_000;

/// Packets per second of processor time, with acknowledgements; `first` is the rate of the first one in data packets.
fn measure(name: &str, spec: &SimSpec, first: &mut Option<(f64, f64)>) -> f64 {
    let simulation = Simulation::new(spec).expect("a valid specification");
    let begun = processor_seconds();
    let report = simulation.run(&mut NoSink);
    let seconds = processor_seconds() - begun;
    let rate = report.data_packets as f64 / seconds;
    let all = report.packets_sent as f64 / seconds;
    let base = *first.get_or_insert((rate, all));
    println!(
        "{name}: {:.2} M data packets/s, {:.2} of the first; {:.2} M packets/s with acknowledgements, {:.2} of the first; {} data \
         packets, {} simulated, complete: {}",
        rate / 1e6,
        rate / base.0,
        all / 1e6,
        all / base.1,
        report.data_packets,
        report.end,
        report.complete
    );
    all
}

/// The five variants of the FTP field report, 50 MiB each, twenty seeds each, without captures: on one core, and on all
/// of them, as `run` spreads its repeats.
fn ftp() {
    let runs: Vec<(&ftp::Variant, u64)> = (1..=20)
        .flat_map(|seed| ftp::VARIANTS.iter().map(move |variant| (variant, seed)))
        .collect();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    for workers in [1, cores] {
        let (next, packets) = (AtomicUsize::new(0), AtomicU64::new(0));
        let begun = Instant::now();
        let used: f64 = std::thread::scope(|scope| {
            let work = || {
                let begun = processor_seconds();
                while let Some((variant, seed)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = Simulation::new(&variant.spec(*seed))
                        .expect("a valid specification")
                        .run(&mut NoSink);
                    assert!(report.complete, "{}", variant.name);
                    packets.fetch_add(report.data_packets, Ordering::Relaxed);
                }
                processor_seconds() - begun
            };
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("a run ends"))
                .sum()
        });
        println!(
            "ftp: five variants of 50 MiB, 20 seeds each: {:.2} s on {workers} of {cores} cores, {used:.2} s of processor time, \
             {:.2} M data packets per second of it",
            begun.elapsed().as_secs_f64(),
            packets.load(Ordering::Relaxed) as f64 / used / 1e6
        );
    }
}

/// The same path in the packaged ns-3, where it can be built.
fn ns3(single: Option<f64>) {
    let installed = std::fs::read_dir("/usr/include").is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("ns3"))
    });
    if !installed {
        println!("skipped: ns-3: its headers are not in /usr/include (package libns3-dev)");
        return;
    }
    match ns3::packets_per_second() {
        Ok(rate) => {
            print!("ns-3, 1 Gbit/s, 10 ms: {:.1} k data packets/s", rate / 1e3);
            match single {
                Some(own) => println!("; the first rate above is {:.0} times that", own / rate),
                None => println!(),
            }
        }
        Err(why) => println!("skipped: ns-3: {why}"),
    }
}

/// Processor time of this thread in seconds; elapsed time where the system does not tell.
fn processor_seconds() -> f64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let begun = BEGUN.get_or_init(Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map_or_else(|| begun.elapsed().as_secs_f64(), |nanos| nanos as f64 / 1e9)
}

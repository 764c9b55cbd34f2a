//! Kernel CUBIC at 100 ms and 1 % loss, with wire packets lost and with the kernel's whole trains lost.
//!
//! `cargo bench -p slowpath-lab --bench drop_unit [-- SEEDS SECONDS [PPB]]`. All labs run side by side: their rates are low.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration as StdDuration, Instant};

use slowpath_lab::{DropUnit, HostSpec, KernelSettings, Lab, LabReport, LabSpec, Stack, WireSettings};
use slowpath_path::{Delay, ElementKind, Limit, Link, Loss, NetworkSpec};
use slowpath_units::{BitRate, Duration, Layer, Ratio};

const MSS: f64 = 1448.0;
const RTT: f64 = 0.1;
/// Start-up, which is not counted.
const WARM: StdDuration = StdDuration::from_secs(5);

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut next = |otherwise: u64| {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    };
    let (seeds, seconds, ppb) = (next(12), next(60), next(10_000_000));
    if let Err(error) = slowpath_lab::enter() {
        println!("skipped: {error}");
        return;
    }
    let ratio = Ratio::from_ppb(u32::try_from(ppb).expect("below one")).expect("below one");
    let span = StdDuration::from_secs(seconds);
    let units = [DropUnit::Packet, DropUnit::Train];
    let runs: Vec<(DropUnit, Result<Run, String>)> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..seeds)
            .flat_map(|seed| units.map(|unit| (unit, scope.spawn(move || run(unit, seed + 1, ratio, span)))))
            .collect();
        started
            .into_iter()
            .map(|(unit, thread)| (unit, thread.join().expect("a run does not panic")))
            .collect()
    });
    let loss = ppb as f64 / 1e9;
    // RFC 9438, section 5.1: the Reno-friendly region, with beta = 0.7, and the region of its own.
    let (alpha, beta) = (3.0 * 0.3 / 1.7, 0.7_f64);
    let friendly = (alpha * (1.0 + beta) / (2.0 * (1.0 - beta) * loss)).sqrt();
    let own = 1.054 * (RTT / loss).powf(0.75);
    let closed = friendly.max(own) * MSS * 8.0 / RTT;
    let mathis = MSS * 8.0 / RTT * (1.5 / loss).sqrt();
    println!(
        "closed forms for {:.3} % loss and {} ms: CUBIC (RFC 9438, section 5.1) {:.2} Mbit/s, Reno (Mathis) {:.2} Mbit/s",
        loss * 100.0,
        RTT * 1e3,
        closed / 1e6,
        mathis / 1e6
    );
    for unit in units {
        let mut good = Vec::new();
        for (of, run) in &runs {
            match run {
                Ok(run) if *of == unit => good.push(run),
                Err(error) if *of == unit => println!("failed: {error}"),
                _ => {}
            }
        }
        tell(unit, &good, closed);
    }
}

/// One connection's result.
struct Run {
    /// Bits of data per second after start-up.
    rate: f64,
    /// Bytes offered to the loss element, and lost there.
    bytes: [u64; 2],
    /// Loss decisions that said lost.
    events: u64,
    report: LabReport,
}

fn tell(unit: DropUnit, runs: &[&Run], closed: f64) {
    let name = match unit {
        DropUnit::Packet => "wire packets",
        DropUnit::Train => "whole trains",
    };
    let count = runs.len() as f64;
    let mean = |of: &dyn Fn(&Run) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / count.max(1.0);
    let rate = mean(&|run| run.rate);
    let deviation = (mean(&|run| (run.rate - rate).powi(2)) * count / (count - 1.0).max(1.0)).sqrt();
    let range = |pick: fn(f64, f64) -> f64, start| runs.iter().map(|run| run.rate).fold(start, pick) / 1e6;
    let not_valid = runs
        .iter()
        .filter(|run| run.report.health.state != slowpath_record::HealthState::Valid)
        .count();
    println!(
        "{name} lost: {:.2} Mbit/s +/- {:.2} (standard error of {} runs; {:.2} to {:.2}), {:.2} of the closed form; \
         {:.2} % of the bytes lost in {:.0} losses per run, {:.0} bytes each; {not_valid} runs not valid",
        rate / 1e6,
        deviation / count.sqrt() / 1e6,
        runs.len(),
        range(f64::min, f64::INFINITY),
        range(f64::max, 0.0),
        rate / closed,
        100.0 * mean(&|run| run.bytes[1] as f64) / mean(&|run| run.bytes[0] as f64),
        mean(&|run| run.events as f64),
        mean(&|run| run.bytes[1] as f64) / mean(&|run| run.events as f64),
    );
}

fn run(unit: DropUnit, seed: u64, loss: Ratio, span: StdDuration) -> Result<Run, String> {
    let lab = Lab::build(&spec(unit, seed, loss), None).map_err(|error| error.to_string())?;
    let failed = |error: slowpath_lab::LabError| error.to_string();
    let listener = lab
        .run_in("far", || TcpListener::bind("10.77.0.2:0").expect("a free port"))
        .map_err(failed)?;
    let to = listener.local_addr().map_err(|error| error.to_string())?;
    let receiver = lab.start_in("far", move || receive(&listener)).map_err(failed)?;
    lab.run_in("near", || {
        let mut stream = TcpStream::connect(to).expect("the far host listens");
        let piece = vec![7_u8; 128 * 1024];
        let start = Instant::now();
        while start.elapsed() < span {
            stream.write_all(&piece).expect("the far host reads");
        }
    })
    .map_err(failed)?;
    let rate = receiver.join().expect("the receiver counts");
    let report = lab.finish();
    let element = report
        .elements
        .iter()
        .find(|element| element.element == "up.loss")
        .ok_or("the loss element has no account")?;
    let lost = element.entered.bytes - element.delivered.bytes;
    Ok(Run {
        rate,
        bytes: [element.entered.bytes, lost],
        events: element.entered.packets - element.delivered.packets,
        report,
    })
}

/// Bits of data per second after start-up.
fn receive(listener: &TcpListener) -> f64 {
    let (mut stream, _) = listener.accept().expect("a connection comes");
    let mut buffer = vec![0_u8; 128 * 1024];
    let (mut total, start, mut counted) = (0_u64, Instant::now(), None);
    while let Ok(length) = stream.read(&mut buffer) {
        if length == 0 {
            break;
        }
        if counted.is_some() {
            total += length as u64;
        } else if start.elapsed() > WARM {
            counted = Some(Instant::now());
        }
    }
    counted.map_or(0.0, |from| total as f64 * 8.0 / from.elapsed().as_secs_f64())
}

fn spec(unit: DropUnit, seed: u64, loss: Ratio) -> LabSpec {
    let nic = ElementKind::Link(Link::fifo(
        BitRate::new(10_000_000_000),
        Layer::Wire,
        Limit::Packets(100_000),
    ));
    let half = ElementKind::Delay(Delay::fixed(Duration::from_millis(50)));
    let up = vec![
        ("up.nic".to_owned(), nic.clone()),
        ("up.loss".to_owned(), ElementKind::Loss(Loss::random(loss))),
        ("up.delay".to_owned(), half.clone()),
    ];
    let down = vec![("down.nic".to_owned(), nic), ("down.delay".to_owned(), half)];
    let host = |name: &str, last: u8| HostSpec {
        name: name.to_owned(),
        addresses: vec![[10, 77, 0, last].into()],
        mtu: 1500,
        stack: Stack::Kernel(KernelSettings::default()),
    };
    LabSpec {
        hosts: vec![host("near", 1), host("far", 2)],
        network: NetworkSpec::chain("near", "far", up, down),
        seed,
        wire: WireSettings {
            drop_unit: unit,
            ..WireSettings::default()
        },
    }
}

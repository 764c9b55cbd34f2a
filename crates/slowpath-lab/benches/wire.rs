//! How fast and how exact the wire is, against a bare relay between two TUN devices and other emulators in the same run.
//!
//! `cargo bench -p slowpath-lab --bench wire [-- SECONDS [PART]]`. Only the ratios mean anything on another machine.
//! PART picks cases whose names contain it; the bare relay is always measured.

#[path = "wire/paths.rs"]
mod paths;
#[path = "wire/peers.rs"]
mod peers;
#[path = "wire/relay.rs"]
mod relay;
#[path = "wire/timer.rs"]
mod timer;
#[path = "wire/traffic.rs"]
mod traffic;

use std::thread::JoinHandle;
use std::time::{Duration as StdDuration, Instant};

use slowpath_lab::{Lab, LabReport, LabSpec};

use paths::{bbr, class_queues, delay, filled, link, loss, nic, pairs, spec, whole};

/// Bytes at layer 2 for each byte of TCP payload: 1514 for 1448, since timestamps take 12.
const LAYER_2: f64 = 1514.0 / 1448.0;

fn main() {
    if peers::act() {
        return;
    }
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let seconds: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(3);
    let part = arguments.next().unwrap_or_default();
    let span = StdDuration::from_secs(seconds);
    let wants = |name: &str| part.is_empty() || name.contains(&part);
    let peers = if wants("peers") {
        peers::measure(span)
    } else {
        Vec::new()
    };
    if let Err(error) = slowpath_lab::enter() {
        println!("skipped: {error}");
        return;
    }
    let relay = match relay::Relay::start("cubic") {
        Ok(relay) => relay,
        Err(error) => {
            println!("skipped: the bare relay, and with it every ratio: {error}");
            return;
        }
    };
    let bare = relay.tcp(span);
    let cpu = relay.end();
    let per_bit = cpu[0] / (bare * span.as_secs_f64());
    println!(
        "{:24} TCP {:6.2} Gbit/s   1.00x   {:.2} s of processor time per 10 Gbit",
        "bare relay",
        bare / 1e9,
        per_bit * 1e10
    );
    if wants("BBR") {
        let relay = relay::Relay::start("bbr").expect("the first one started");
        let rate = relay.tcp(span);
        relay.end();
        println!(
            "{:24} TCP {:6.2} Gbit/s {:6.2}x",
            "bare relay, BBR",
            rate / 1e9,
            rate / bare
        );
    }
    let mut whole_path = None;
    let limit = |bits, packets| spec(&[nic(), link(bits, packets), delay(1)]);
    let lossy = [nic(), link(40_000_000_000, 20_000), delay(1), loss(100_000)];
    let cases = [
        ("no element", spec(&[]), 1),
        ("whole path, peers", spec(&whole()), 1),
        ("10 Gbit/s limit", limit(10_000_000_000, 4000), 1),
        (
            "10 Gbit/s limit, filled",
            filled(limit(10_000_000_000, 50_000)),
            1,
        ),
        ("1 Gbit/s limit", limit(1_000_000_000, 1000), 1),
        ("0.01 % loss, BBR", bbr(spec(&lossy)), 1),
        ("class queues, BBR", bbr(spec(&class_queues())), 1),
        ("class queues, 4 x BBR", bbr(spec(&class_queues())), 4),
        ("100 flows", limit(1_000_000_000, 1000), 100),
    ];
    for (name, spec, flows) in &cases {
        if wants(name) {
            let rate = tcp(name, spec, *flows, span, bare);
            if name.starts_with("whole") {
                whole_path = Some(rate);
            }
        }
    }
    for (name, found) in peers {
        match (found, whole_path) {
            (Ok(rate), Some(whole)) => println!(
                "{name:24} TCP {:6.2} Gbit/s; the whole path is {:.1} times as fast",
                rate / 1e9,
                whole / rate
            ),
            (Ok(rate), None) => println!("{name:24} TCP {:6.2} Gbit/s", rate / 1e9),
            (Err(why), _) => println!("missed: {name}: {why}"),
        }
    }
    if wants("several paths") {
        several_paths(span);
    }
    if wants("datagrams") {
        datagrams(span);
    }
    if wants("long fat path") {
        long_fat_path(span);
    }
    if wants("rate error") {
        rate_error(span);
    }
    if wants("ping") {
        pings();
    }
    if wants("lateness") {
        lateness(span);
    }
}

/// How late the wire hands packets over at 1 Gbit/s against how late a bare timer wakes: beside it, where both meet the same
/// pauses of the machine, and on the machine without it. Several in turns; the median of the ratios counts.
fn lateness(span: StdDuration) {
    const GOAL: f64 = 2.0;
    const ROUNDS: usize = 5;
    let p99 = |late: &hdrhistogram::Histogram<u64>| late.value_at_quantile(0.99) as f64 / 1e3;
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let timer = timer::Timer::start();
        std::thread::sleep(span);
        let idle = timer.stop();
        let lab = Lab::build(&spec(&[nic(), link(1_000_000_000, 1000), delay(1)]), None)
            .expect("the relay could be built as well");
        let timer = timer::Timer::start();
        let rate = finish_tcp(start_tcp(&lab, 0, span, None));
        let beside = timer.stop();
        let report = lab.finish();
        let own = report.health.release_lateness.unwrap_or_default();
        let wire = own.p99.nanos() as f64 / 1e3;
        println!(
            "{:24} p99 {wire:.0} us at {:.3} Gbit/s of layer 2, a bare timer beside it {:.0} us: {:.2} of it; the machine without \
             load {:.0} us; p50 {} us, {} us, {} us",
            "lateness",
            rate * LAYER_2 / 1e9,
            p99(&beside),
            wire / p99(&beside),
            p99(&idle),
            own.p50.nanos() / 1000,
            beside.value_at_quantile(0.5) / 1000,
            idle.value_at_quantile(0.5) / 1000,
        );
        ratios.push(wire / p99(&beside));
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ROUNDS / 2];
    println!("{:24} p99 is {median:.2} of a bare timer's beside it", "lateness");
    if median > GOAL {
        println!("MISSED lateness: p99 is {median:.2} of a bare timer's beside it, wanted at most {GOAL}");
    }
}

/// `flows` TCP connections at once; bits per second of all of them.
fn tcp(name: &str, spec: &LabSpec, flows: usize, span: StdDuration, bare: f64) -> f64 {
    let lab = Lab::build(spec, None).expect("the relay could be built as well");
    let start = Instant::now();
    let window = (flows > 1).then_some((start + traffic::WARM, start + span));
    let all: Vec<_> = (0..flows).map(|_| start_tcp(&lab, 0, span, window)).collect();
    let rates: Vec<f64> = all.into_iter().map(finish_tcp).collect();
    let report = lab.finish();
    let rate: f64 = rates.iter().sum();
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let slowest = if flows > 1 {
        format!(" the slowest flow {:.2} Mbit/s;", slowest / 1e6)
    } else {
        String::new()
    };
    println!(
        "{name:24} TCP {:6.2} Gbit/s {:6.2}x   layer 2 {:.3} Gbit/s;{slowest} {:.2} s of processor time per 10 Gbit; {}",
        rate / 1e9,
        rate / bare,
        rate * LAYER_2 / 1e9,
        report.wire_cpu[0].seconds() / (rate * span.as_secs_f64()) * 1e10,
        describe(&report)
    );
    rate
}

/// One connection from the near to the far host of a pair, of which all is counted but its start-up, or what arrives
/// between two times.
fn start_tcp(
    lab: &Lab,
    pair: u8,
    span: StdDuration,
    window: Option<(Instant, Instant)>,
) -> (JoinHandle<()>, JoinHandle<f64>) {
    let (near, far) = (format!("near{pair}"), format!("far{pair}"));
    let listener = lab
        .run_in(&far, || traffic::listen([10, 77, pair, 2]))
        .expect("far is a kernel host");
    let address = listener.local_addr().expect("it listens");
    let receiver = lab
        .start_in(&far, move || match window {
            Some((from, to)) => traffic::receive_between(&listener, from, to),
            None => traffic::receive(&listener),
        })
        .expect("far is a kernel host");
    let sender = lab
        .start_in(&near, move || traffic::send(address, span))
        .expect("near is a kernel host");
    (sender, receiver)
}

fn finish_tcp((sender, receiver): (JoinHandle<()>, JoinHandle<f64>)) -> f64 {
    sender.join().expect("the sender ends");
    receiver.join().expect("the receiver counts")
}

/// Four pairs of hosts in one lab, each with 500 Mbit/s of its own.
fn several_paths(span: StdDuration) {
    let lab = Lab::build(&pairs(4, &[nic(), link(500_000_000, 500), delay(5)]), None)
        .expect("the relay could be built as well");
    let all: Vec<_> = (0..4).map(|pair| start_tcp(&lab, pair, span, None)).collect();
    let rates: Vec<String> = all
        .into_iter()
        .map(|one| format!("{:.1}", finish_tcp(one) * LAYER_2 / 1e6))
        .collect();
    println!(
        "{:24} layer 2 {} of 500 Mbit/s each; {}",
        "several paths",
        rates.join(", "),
        describe(&lab.finish())
    );
}

/// Datagrams from the near to the far host, or back: sent, read by the program, and read per second.
fn start_datagrams(
    lab: &Lab,
    up: bool,
    span: StdDuration,
    rate: f64,
) -> impl FnOnce() -> ((u64, f64), (u64, f64)) {
    let (from, to, last) = if up {
        ("near0", "far0", 2)
    } else {
        ("far0", "near0", 1)
    };
    let socket = lab
        .run_in(to, || traffic::datagram_socket([10, 77, 0, last]))
        .expect("a kernel host");
    let address = socket.local_addr().expect("it is bound");
    let receiver = lab
        .start_in(to, move || traffic::receive_datagrams(&socket, rate > 160_000.0))
        .expect("a kernel host");
    let sender = lab
        .start_in(from, move || traffic::send_datagrams(address, span, rate))
        .expect("a kernel host");
    move || {
        let sent = sender.join().expect("the sender ends");
        (sent, receiver.join().expect("the receiver counts"))
    }
}

/// One packet at a time, no trains: what bounds programs that send datagrams.
fn datagrams(span: StdDuration) {
    let rate = std::env::var("SLOWPATH_BENCH_PPS").ok();
    let rate = rate.and_then(|text| text.parse().ok()).unwrap_or(450_000.0);
    let lab = Lab::build(&spec(&whole()), None).expect("the relay could be built as well");
    let ((sent, seconds), (read, _)) = start_datagrams(&lab, true, span, rate)();
    let report = lab.finish();
    println!(
        "{:24} sent {sent} in {seconds:.2} s, through the model {} ({:.0}/s), read by the program {read}; {}",
        "datagrams of 1400 bytes",
        report.totals.delivered,
        report.totals.delivered as f64 / seconds,
        describe(&report),
    );
}

/// 37.5 MB on the way in each direction.
fn long_fat_path(span: StdDuration) {
    let lab = Lab::build(&spec(&[nic(), link(1_000_000_000, 1000), delay(300)]), None)
        .expect("the relay could be built as well");
    let both = [true, false].map(|up| start_datagrams(&lab, up, span, 85_000.0));
    let read: Vec<String> = both
        .into_iter()
        .map(|one| {
            let ((sent, _), (read, rate)) = one();
            let bits = rate * (traffic::DATAGRAM + 42) as f64 * 8.0;
            format!("{read} of {sent} read, layer 2 {:.3} Gbit/s", bits / 1e9)
        })
        .collect();
    println!(
        "{:24} 1 Gbit/s, 300 ms each way: {}; {}",
        "long fat path",
        read.join(" and "),
        describe(&lab.finish())
    );
}

/// Half more than a path of 50 Mbit/s takes; the rate at which the program reads what is left of it.
fn rate_error(span: StdDuration) {
    let lab = Lab::build(&spec(&[nic(), link(50_000_000, 50), delay(10)]), None)
        .expect("the relay could be built as well");
    let (_, (_, rate)) = start_datagrams(&lab, true, span * 4, 6500.0)();
    let bits = rate * (traffic::DATAGRAM + 42) as f64 * 8.0;
    println!(
        "{:24} {:.4} of 50 Mbit/s at layer 2, {:+.4} % over {} s; {}",
        "rate error",
        bits / 1e6,
        (bits / 50e6 - 1.0) * 100.0,
        (span * 4).as_secs(),
        describe(&lab.finish())
    );
}

/// Round trips on an idle path of 20 ms, less those of a path without delay.
fn pings() {
    let mut means = Vec::new();
    for millis in [0, 10] {
        let lab = Lab::build(&spec(&[nic(), delay(millis)]), None).expect("the relay could be built as well");
        let (mean, largest) = lab
            .run_in("near0", || traffic::ping([10, 77, 0, 2], 200))
            .expect("near is a kernel host");
        println!(
            "{:24} {millis} ms each way: mean {mean:.1} us, largest {largest:.1} us; {}",
            "ping",
            describe(&lab.finish())
        );
        means.push(mean);
    }
    println!(
        "{:24} the path of 20 ms added {:.3} ms",
        "ping",
        (means[1] - means[0]) / 1e3
    );
}

fn describe(report: &LabReport) -> String {
    let late = report.health.release_lateness.unwrap_or_default();
    let cpu: Vec<String> = report
        .wire_cpu
        .iter()
        .map(|cpu| format!("{:.2}", cpu.seconds() / report.duration.seconds()))
        .collect();
    let codes: Vec<&str> = report
        .health
        .reasons
        .iter()
        .map(|reason| reason.code.name())
        .collect();
    format!(
        "late p50 {} p99 {} max {}; {:.1} packets/read, {:.1}/write; cpu {}; dropped {} outside {} sockets {}; peak {:?} MiB; {:?} {codes:?}",
        late.p50,
        late.p99,
        late.max,
        report.totals.sent as f64 / report.totals.trains as f64,
        report.totals.delivered as f64 / report.totals.writes as f64,
        cpu.join("+"),
        report.totals.dropped,
        report.totals.lost_outside,
        report.totals.socket_drops,
        report
            .peak_bytes
            .iter()
            .map(|bytes| bytes >> 20)
            .collect::<Vec<_>>(),
        report.health.state,
    )
}

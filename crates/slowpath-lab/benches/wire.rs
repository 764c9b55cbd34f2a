//! How fast the wire is, against a bare relay between two TUN devices in the same run.
//!
//! `cargo bench -p slowpath-lab --bench wire [-- SECONDS [PART]]`. Only the ratios mean anything on another machine.

#[path = "wire/relay.rs"]
mod relay;
#[path = "wire/traffic.rs"]
mod traffic;

use std::time::Duration as StdDuration;

use slowpath_lab::{DropUnit, HostSpec, KernelSettings, Lab, LabReport, LabSpec, Stack, WireSettings};
use slowpath_path::{Delay, ElementKind, Limit, Link, Loss, NetworkSpec, Tap};
use slowpath_units::{BitRate, Duration, Layer, Ratio};

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let seconds: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(3);
    let part = arguments.next().unwrap_or_default();
    let span = StdDuration::from_secs(seconds);
    if let Err(error) = slowpath_lab::enter() {
        println!("skipped: {error}");
        return;
    }
    let wants = |name: &str| part.is_empty() || name.contains(&part);
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
        "bare relay           TCP {:6.2} Gbit/s   1.00x   {:.2} s of processor time per 10 Gbit",
        bare / 1e9,
        per_bit * 1e10
    );
    if wants("BBR") {
        let relay = relay::Relay::start("bbr").expect("the first one started");
        let rate = relay.tcp(span);
        relay.end();
        println!(
            "bare relay, BBR      TCP {:6.2} Gbit/s {:6.2}x",
            rate / 1e9,
            rate / bare
        );
    }
    for (name, spec) in cases() {
        if wants(name) {
            run(name, &spec, span, bare);
        }
    }
    if wants("datagrams") {
        datagrams(span);
    }
    if wants("long fat path") {
        let long = [
            nic(),
            link(1_000_000_000, 60_000),
            ElementKind::Delay(Delay::fixed(Duration::from_millis(300))),
        ];
        run("long fat path", &spec(&long), span * 5, bare);
    }
    if wants("100 flows") {
        flows(100, span);
    }
    if wants("drop unit") {
        drop_units(span * 7);
    }
    println!("missed: rattan and mahimahi, which this bench does not drive yet");
}

fn run(name: &str, spec: &LabSpec, span: StdDuration, bare: f64) {
    let lab = Lab::build(spec, None).expect("the relay could be built as well");
    let listener = lab.run_in("far", traffic::listen).expect("far is a kernel host");
    let address = listener.local_addr().expect("it listens");
    let receiver = lab
        .start_in("far", move || traffic::receive(&listener))
        .expect("far is a kernel host");
    lab.run_in("near", || traffic::send(address, span))
        .expect("near is a kernel host");
    let rate = receiver.join().expect("the receiver counts");
    let report = lab.finish();
    if let Some(limit) = report.elements.iter().find(|element| element.element == "up.1") {
        let bits = (limit.delivered.bytes + 14 * limit.delivered.packets) as f64 * 8.0;
        println!(
            "{:20} layer 2 {:.3} Gbit/s over the sender's time, start-up and the queue's last packets included",
            "",
            bits / span.as_secs_f64() / 1e9
        );
    }
    let cpu = report.wire_cpu[0].seconds() / (rate * span.as_secs_f64());
    println!(
        "{name:20} TCP {:6.2} Gbit/s {:6.2}x   {:.2} s of processor time per 10 Gbit; {}",
        rate / 1e9,
        rate / bare,
        cpu * 1e10,
        describe(&report)
    );
}

/// Many TCP connections at once through a limit of 1 Gbit/s.
fn flows(count: usize, span: StdDuration) {
    let lab = Lab::build(&spec(&[nic(), link(1_000_000_000, 1000), delay()]), None)
        .expect("the relay could be built");
    let mut receivers = Vec::new();
    let mut senders = Vec::new();
    for _ in 0..count {
        let listener = lab.run_in("far", traffic::listen).expect("far is a kernel host");
        let address = listener.local_addr().expect("it listens");
        receivers.push(
            lab.start_in("far", move || traffic::receive(&listener))
                .expect("far is a kernel host"),
        );
        senders.push(
            lab.start_in("near", move || traffic::send(address, span))
                .expect("near is a kernel host"),
        );
    }
    for sender in senders {
        sender.join().expect("the sender ends");
    }
    let rates: Vec<f64> = receivers
        .into_iter()
        .map(|receiver| receiver.join().expect("the receiver counts"))
        .collect();
    let report = lab.finish();
    let limit = report
        .elements
        .iter()
        .find(|element| element.element == "up.1")
        .expect("it is in the path");
    let bits = (limit.delivered.bytes + 14 * limit.delivered.packets) as f64 * 8.0;
    let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "{count} flows, 1 Gbit/s layer 2 {:.3} Gbit/s in all, the slowest flow {:.2} Mbit/s; {}",
        bits / report.duration.seconds() / 1e9,
        slowest / 1e6,
        describe(&report)
    );
}

fn datagrams(span: StdDuration) {
    let lab = Lab::build(&spec(&wire_path()), None).expect("the relay could be built as well");
    let socket = lab
        .run_in("far", traffic::datagram_socket)
        .expect("far is a kernel host");
    let address = socket.local_addr().expect("it is bound");
    let receiver = lab
        .start_in("far", move || traffic::receive_datagrams(&socket))
        .expect("far is a kernel host");
    let (sent, seconds) = lab
        .run_in("near", || traffic::send_datagrams(address, span))
        .expect("near is a kernel host");
    let received = receiver.join().expect("the receiver counts");
    let report = lab.finish();
    println!(
        "datagrams, 1400 B    sent {sent} in {seconds:.2} s, through the model {} ({:.0}/s), read by the program {received}; {}",
        report.totals.delivered,
        report.totals.delivered as f64 / seconds,
        describe(&report),
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
        .map(|reason| reason.code.as_str())
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

fn nic() -> ElementKind {
    ElementKind::Link(Link::fifo(
        BitRate::new(100_000_000_000),
        Layer::Wire,
        Limit::Packets(100_000),
    ))
}

fn link(bits: u64, packets: u32) -> ElementKind {
    ElementKind::Link(Link::fifo(
        BitRate::new(bits),
        Layer::Frame,
        Limit::Packets(packets),
    ))
}

fn delay() -> ElementKind {
    ElementKind::Delay(Delay::fixed(Duration::from_millis(1)))
}

fn loss(ppb: u32) -> ElementKind {
    ElementKind::Loss(Loss::random(Ratio::from_ppb(ppb).expect("below one")))
}

fn wire_path() -> Vec<ElementKind> {
    vec![
        nic(),
        link(100_000_000_000, 20_000),
        delay(),
        loss(0),
        ElementKind::Tap(Tap { record: false }),
    ]
}

fn cases() -> Vec<(&'static str, LabSpec)> {
    let mut bbr = spec(&[nic(), link(40_000_000_000, 20_000), delay(), loss(100_000)]);
    for host in &mut bbr.hosts {
        if let Stack::Kernel(settings) = &mut host.stack {
            "bbr".clone_into(&mut settings.congestion_control);
        }
    }
    vec![
        ("no element", spec(&[])),
        ("1 ms, whole path", spec(&wire_path())),
        (
            "10 Gbit/s limit",
            spec(&[nic(), link(10_000_000_000, 4000), delay()]),
        ),
        (
            "1 Gbit/s limit",
            spec(&[nic(), link(1_000_000_000, 1000), delay()]),
        ),
        ("0.01 % loss, BBR", bbr),
    ]
}

fn spec(chain: &[ElementKind]) -> LabSpec {
    let side = |side: &str| {
        let named = |(number, does): (usize, &ElementKind)| (format!("{side}.{number}"), does.clone());
        chain.iter().enumerate().map(named).collect()
    };
    let host = |name: &str, last: u8| HostSpec {
        name: name.to_owned(),
        addresses: vec![[10, 77, 0, last].into()],
        mtu: 1500,
        stack: Stack::Kernel(KernelSettings {
            settings: large_windows(),
            ..KernelSettings::default()
        }),
    };
    let mut wire = WireSettings::default();
    if let Ok(text) = std::env::var("SLOWPATH_BENCH_GAP") {
        wire.turn_gap = text.parse().expect("a time such as \"20 us\"");
    }
    LabSpec {
        hosts: vec![host("near", 1), host("far", 2)],
        network: NetworkSpec::chain("near", "far", side("up"), side("down")),
        seed: 1,
        wire,
    }
}

/// The kernel's default windows of 6 MiB allow 12 Gbit/s over 2 ms.
fn large_windows() -> Vec<(String, String)> {
    let sizes = "4096 1048576 67108864".to_owned();
    vec![
        ("net.ipv4.tcp_rmem".to_owned(), sizes.clone()),
        ("net.ipv4.tcp_wmem".to_owned(), sizes),
    ]
}

/// Kernel CUBIC at 100 ms and 1 % loss, with single packets and with whole trains lost: what everybody else's
/// emulator calls 1 % loss.
fn drop_units(span: StdDuration) {
    for (name, unit) in [("packets", DropUnit::Packet), ("trains", DropUnit::Train)] {
        let half = ElementKind::Delay(Delay::fixed(Duration::from_millis(50)));
        let mut spec = spec(&[nic(), half.clone()]);
        let lossy = vec![
            ("up.nic".to_owned(), nic()),
            ("up.loss".to_owned(), loss(10_000_000)),
            ("up.delay".to_owned(), half.clone()),
        ];
        spec.network = NetworkSpec::chain("near", "far", lossy, vec![("down.delay".to_owned(), half)]);
        spec.wire.drop_unit = unit;
        let lab = Lab::build(&spec, None).expect("the relay could be built as well");
        let listener = lab.run_in("far", traffic::listen).expect("far is a kernel host");
        let address = listener.local_addr().expect("it listens");
        let receiver = lab
            .start_in("far", move || traffic::receive(&listener))
            .expect("far is a kernel host");
        lab.run_in("near", || traffic::send(address, span))
            .expect("near is a kernel host");
        let rate = receiver.join().expect("the receiver counts");
        let report = lab.finish();
        // RFC 9438, section 5.1: at 1 % and 100 ms CUBIC is in its Reno-friendly region, 12 segments on average.
        let closed_form = 12.0 * 1448.0 * 8.0 / 0.1;
        println!(
            "1 % of {name:8} lost TCP {:6.2} Mbit/s, {:.2} of RFC 9438's closed form ({:.2} Mbit/s); {}",
            rate / 1e6,
            rate / closed_form,
            closed_form / 1e6,
            describe(&report)
        );
    }
}

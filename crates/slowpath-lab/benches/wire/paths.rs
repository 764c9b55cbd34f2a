//! The paths of the bench.

use slowpath_lab::{HostSpec, KernelSettings, LabSpec, Stack, WireSettings};
use slowpath_packet::Dscp;
use slowpath_path::{
    Classes, Classify, Delay, ElementKind, Limit, Link, Loss, Match, NetworkSpec, PortSpec, Queue, Rate,
    Rule, Tap, Target,
};
use slowpath_units::{BitRate, Duration, Layer, Ratio};

/// Two hosts and `chain` in each direction.
pub(crate) fn spec(chain: &[ElementKind]) -> LabSpec {
    pairs(1, chain)
}

/// As many pairs of hosts with a path of their own each, in one lab: `near0` and `far0`, `near1` and `far1` and so on.
pub(crate) fn pairs(count: u8, chain: &[ElementKind]) -> LabSpec {
    let mut network = NetworkSpec::default();
    let mut hosts = Vec::new();
    for pair in 0..count {
        for (side, last) in [("near", 1), ("far", 2)] {
            let name = format!("{side}{pair}");
            let direction = if side == "near" { "up" } else { "down" };
            let named =
                |(number, does): (usize, &ElementKind)| (format!("{direction}{pair}.{number}"), does.clone());
            let chain = chain.iter().enumerate().map(named).collect();
            let other = if side == "near" { "far" } else { "near" };
            let entry = network.add_chain(chain, &Target::to(format!("{other}{pair}")));
            network.ports.push(PortSpec {
                name: name.clone(),
                entry: Some(entry),
            });
            hosts.push(HostSpec {
                name,
                addresses: vec![[10, 77, pair, last].into()],
                mtu: 1500,
                stack: Stack::Kernel(KernelSettings {
                    settings: windows(16 << 20),
                    ..KernelSettings::default()
                }),
            });
        }
    }
    let mut wire = WireSettings::default();
    if let Ok(text) = std::env::var("SLOWPATH_BENCH_GAP") {
        wire.turn_gap = text.parse().expect("a time such as \"20 us\"");
    }
    LabSpec {
        hosts,
        network,
        seed: 1,
        wire,
    }
}

/// The same with BBR in all hosts.
pub(crate) fn bbr(mut spec: LabSpec) -> LabSpec {
    for host in &mut spec.hosts {
        if let Stack::Kernel(settings) = &mut host.stack {
            "bbr".clone_into(&mut settings.congestion_control);
        }
    }
    spec
}

/// The same with windows that keep a queue filled for tens of milliseconds, and never overflow it: a machine that pauses for up to 16 ms cannot
/// starve the link meanwhile, so that what passes is the wire's rate and not the sender's.
pub(crate) fn filled(mut spec: LabSpec) -> LabSpec {
    for host in &mut spec.hosts {
        if let Stack::Kernel(settings) = &mut host.stack {
            settings.settings = windows(64 << 20);
        }
    }
    spec
}

/// Windows of twice the bandwidth-delay product of 2 ms at 32 Gbit/s: the kernel's 6 MiB allow 12 Gbit/s, and what
/// exceeds the product waits in the device's queue, out of all caches.
fn windows(bytes: u64) -> Vec<(String, String)> {
    ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"]
        .map(|key| (key.to_owned(), format!("4096 1048576 {bytes}")))
        .to_vec()
}

/// The whole model of the stated target: sender's card, queue, delay, loss element, tap.
pub(crate) fn whole() -> Vec<ElementKind> {
    vec![
        nic(),
        link(100_000_000_000, 20_000),
        delay(1),
        loss(0),
        ElementKind::Tap(Tap { record: false }),
    ]
}

/// Voice first, all else behind it, 0.01 % of the packets lost.
pub(crate) fn class_queues() -> Vec<ElementKind> {
    let voice = Rule {
        matches: Match {
            dscp: vec![Dscp::from_tos(0xb8)],
            ..Match::default()
        },
        class: Some(2),
        output: 0,
    };
    let classify = Classify {
        rules: vec![voice],
        default_class: Some(1),
        default_output: 0,
    };
    let queues = Link {
        rate: Rate::Fixed(BitRate::new(40_000_000_000)),
        layer: Layer::Frame,
        queue: Queue::Classes(Classes::priority([1, 2], 1, 20_000)),
    };
    vec![
        nic(),
        ElementKind::Classify(classify),
        ElementKind::Link(queues),
        delay(1),
        loss(100_000),
    ]
}

pub(crate) fn nic() -> ElementKind {
    ElementKind::Link(Link::fifo(
        BitRate::new(100_000_000_000),
        Layer::Wire,
        Limit::Packets(100_000),
    ))
}

/// A limit that counts Ethernet frames without their check sequence.
pub(crate) fn link(bits: u64, packets: u32) -> ElementKind {
    ElementKind::Link(Link::fifo(
        BitRate::new(bits),
        Layer::Frame,
        Limit::Packets(packets),
    ))
}

pub(crate) fn delay(millis: u64) -> ElementKind {
    ElementKind::Delay(Delay::fixed(Duration::from_millis(millis)))
}

pub(crate) fn loss(ppb: u32) -> ElementKind {
    ElementKind::Loss(Loss::random(Ratio::from_ppb(ppb).expect("below one")))
}

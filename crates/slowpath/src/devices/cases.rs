//! The uses of a configuration that are worth trying, as experiments.

use slowpath_packet::Protocol;
use slowpath_packet::mark::Dscp;
use slowpath_path::{Class, Classes, ElementKind, Match, Queue, Rule};
use slowpath_scenario::HostSettings;
use slowpath_scenario::device::{DeviceElements, DeviceUse};
use slowpath_scenario::host::has_model;
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_vendor::cisco;
use slowpath_vendor::finding::FULL_PACKET;
use slowpath_vendor::reading::Config;
use slowpath_vendor::remedy::QueueAt;
use slowpath_vendor::rtx::{self, Scheduler};
use slowpath_vendor::ssh::{self, Mark, Side};
use slowpath_vendor::tc::{self, Qdisc};
use slowpath_vendor::{Reading, device};

use super::queues::OwnQueue;

/// The name of the voice stream beside a transfer.
pub(super) const VOICE: &str = "voice";

/// One use of a configuration.
pub(super) struct Case {
    /// What it is, such as `lan2, class 2`.
    pub(super) what: String,
    /// The elements that the sender's packets meet before the delay, as an experiment file has them.
    up: String,
    /// Those that the packets on the way back meet.
    down: String,
    /// The tables after the network.
    rest: String,
    /// What the configuration sets on a host that names it.
    pub(super) settings: HostSettings,
    /// What it does on the path.
    pub(super) device: Option<DeviceElements>,
    /// The queue in which the transfer waits, where that is one of the configuration's own that drops at its end alone.
    pub(super) queue: Option<OwnQueue>,
}

impl Case {
    /// The experiment over a path of this round trip.
    pub(super) fn experiment(&self, round_trip: Duration) -> String {
        let each_way = round_trip.nanos() / 2_000;
        format!(
            "title = \"what a configuration gives\"\n[network]\nup = [{}{{ delay = \"{each_way} us\" }}]\n\
             down = [{}{{ delay = \"{each_way} us\" }}]\n{}",
            self.up, self.down, self.rest
        )
    }
}

/// The uses of a configuration, and what is simulated and assumed, as sentences. A changed one is tried where `before` was: what
/// polices a mark does not follow it to another.
pub(super) fn of(reading: &Reading, before: &Reading, bytes: &[u8]) -> (Vec<Case>, Vec<String>) {
    let mut assumed = vec![format!(
        "Simulated: one CUBIC transfer of {SECONDS} s between two Linux hosts; beside it, voice of 50 packets a second marked EF."
    )];
    let cases = match &reading.config {
        Config::Rtx(config) => rtx(config, reading, bytes, &mut assumed),
        Config::Ios(config) => ios(config, reading, bytes, &mut assumed),
        Config::Tc(config) => tc(config, &mut assumed),
        Config::Sysctl(config) if !config.values.is_empty() => {
            assumed = vec![format!(
                "Simulated: one transfer of {SECONDS} s over 1 Gbit/s without loss; the other end is a Linux with its defaults."
            )];
            sysctl(reading, &mut assumed)
        }
        Config::Sysctl(_) => Vec::new(),
        Config::Ssh(config) => {
            assumed = vec![
                "Simulated: scp of 32 MiB over 1 Gbit/s. Whether a line treats marks apart cannot be told from here; the \
                 second row is an example of one that does."
                    .to_owned(),
            ];
            let policed = match &before.config {
                Config::Ssh(before) => before,
                _ => config,
            };
            ssh(config, policed)
        }
    };
    (cases, assumed)
}

/// What a configuration costs besides, as sentences.
pub(super) fn costs(reading: &Reading) -> Vec<String> {
    let Config::Rtx(config) = &reading.config else {
        return Vec::new();
    };
    config
        .tunnels
        .iter()
        .filter_map(|(number, tunnel)| {
            let way = tunnel.encapsulation(config)?;
            let inner = tunnel.mtu().min(1_500);
            let outer = way.outer_len(inner);
            Some(format!(
                "Tunnel {number} makes {outer} bytes of each packet of {inner}: {:.1} % of the line are its own. TCP's payload is {} \
                 of them.",
                100.0 * (1.0 - f64::from(inner) / f64::from(outer)),
                inner.saturating_sub(40)
            ))
        })
        .collect()
}

/// A transfer and a voice stream between two hosts.
fn transfer() -> String {
    format!(
        "[workload]\nkind = \"iperf3\"\nname = \"transfer\"\nduration = \"{SECONDS} s\"\n[[background]]\nkind = \"udp\"\n\
         name = \"{VOICE}\"\nrate = \"68800 bit/s\"\nlength = \"172 B\"\ndscp = \"ef\"\nduration = \"{SECONDS} s\"\n{LARGE}"
    )
}

fn rtx(config: &rtx::Config, reading: &Reading, bytes: &[u8], assumed: &mut Vec<String>) -> Vec<Case> {
    let line = config.model.port_rate();
    let shaped = config
        .ports
        .iter()
        .filter(|(_, port)| port.scheduler != Scheduler::Fifo || port.speed.is_some());
    let mut ports: Vec<&String> = shaped.map(|(name, _)| name).collect();
    if ports.is_empty() && !(config.tunnels.is_empty() && config.peers.is_empty()) {
        // A tunnel or PPPoE without classes: by the peer's port, or the one that usually leads out.
        let peer = config.peers.values().find_map(|peer| peer.port.as_ref());
        ports.extend(peer.or_else(|| config.ports.keys().next_back()));
    }
    if ports.is_empty() {
        return Vec::new();
    }
    assumed.push(format!(
        "Taken: ports of {line}, a router of the same settings at the other end, and all of the transfer in the class of its row."
    ));
    ports
        .into_iter()
        .flat_map(|port| on_port(reading, bytes, port, &system(&config.model.name), line))
        .collect()
}

/// The system of a router whose text may not say its model.
fn system(model: &str) -> String {
    if model.is_empty() {
        "rtx".to_owned()
    } else {
        model.to_lowercase()
    }
}

fn ios(config: &cisco::Config, reading: &Reading, bytes: &[u8], assumed: &mut Vec<String>) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut coming_in = Vec::new();
    for (name, interface) in &config.interfaces {
        let line = interface.speed.unwrap_or_else(|| match name.to_lowercase() {
            name if name.starts_with("ten") => BitRate::new(10_000_000_000),
            name if name.starts_with("fast") => FAST,
            _ => GIGABIT,
        });
        if interface.output_policy.is_some() {
            cases.extend(on_port(reading, bytes, name, "cisco-ios", line));
        }
        coming_in.extend(into_port(config, reading, name, line));
    }
    if !coming_in.is_empty() {
        assumed.push(
            "Taken: a row with \"in\" is a transfer that comes in by that port, and meets no policy of the port by which it leaves."
                .to_owned(),
        );
    }
    cases.extend(coming_in);
    if cases.is_empty() {
        assumed.clear();
    } else {
        assumed.push("Taken: all of the transfer in the class of its row.".to_owned());
    }
    if config.window.is_some() || config.selective_ack {
        assumed.push(
            "Simulated: an FTP download of 10 MiB to the router over 1 Gbit/s without loss. How fast a router stores what it gets is taken from those of `slowpath run cisco-ftp`.".to_owned(),
        );
        let either = config.version.is_none_or(|version| version < XE_ALONE);
        let ios = either.then_some(("a file copied to an IOS router", "cisco-ios"));
        let systems = [("a file copied to an IOS-XE router", "cisco-iosxe")];
        let copies = systems.into_iter().chain(ios);
        cases.extend(copies.map(|(what, system)| copied_to_router(what, system, reading)));
    }
    cases
}

/// A file copied to a router of this system.
fn copied_to_router(what: &str, system: &str, reading: &Reading) -> Case {
    Case {
        what: what.to_owned(),
        up: "{ rate = \"1 Gbit/s\" }, ".to_owned(),
        down: "{ rate = \"1 Gbit/s\" }, ".to_owned(),
        rest: format!(
            "[workload]\nkind = \"ftp-get\"\nname = \"transfer\"\nsize = \"10 MiB\"\n[hosts.client]\nsystem = \
             \"{system}\"\nconfig = \"{FILE}\"\n[hosts.server]\n{BUFFERS}"
        ),
        settings: reading.settings.clone(),
        device: None,
        queue: None,
    }
}

/// The first number of the versions that only IOS-XE has.
const XE_ALONE: u32 = 16;

/// A row for each class of a port, or one for the whole port.
fn on_port(reading: &Reading, bytes: &[u8], port: &str, system: &str, line: BitRate) -> Vec<Case> {
    let place = DeviceUse {
        file: reading.name.clone(),
        system: system.to_owned(),
        port: port.to_owned(),
        line,
        far: true,
    };
    let Ok((elements, _)) = device::elements(&place, bytes) else {
        return Vec::new();
    };
    let classes = elements.elements.iter().find_map(|part| match &part.does {
        ElementKind::Link(link) => match &link.queue {
            Queue::Classes(classes) => Some(classes),
            _ => None,
        },
        _ => None,
    });
    let case = |what: String, device: DeviceElements, queue: Option<OwnQueue>| Case {
        what,
        up: format!(
            "{{ device = \"{FILE}\", system = \"{system}\", port = \"{port}\", line = \"{} bit/s\" }}, ",
            line.bits_per_s()
        ),
        down: String::new(),
        rest: transfer(),
        settings: HostSettings::default(),
        device: Some(device),
        queue,
    };
    let Some(classes) = classes else {
        return vec![case(port.to_owned(), elements, None)];
    };
    let names = class_names(reading, port);
    classes
        .classes
        .iter()
        .map(|class| {
            let name = names
                .iter()
                .find(|(number, _)| *number == class.number)
                .map_or_else(|| format!("class {}", class.number), |(_, name)| name.clone());
            let default = if class.number == classes.default && !name.contains("default") {
                " (the default)"
            } else {
                ""
            };
            let own = own_queue(reading, port, classes, class, &name, line);
            case(
                format!("{port}, {name}{default}"),
                all_tcp_in(&elements, class.number, &name),
                own,
            )
        })
        .collect()
}

/// A row for each class of the policy for what comes in by a port.
fn into_port(config: &cisco::Config, reading: &Reading, port: &str, line: BitRate) -> Vec<Case> {
    let place = DeviceUse {
        file: reading.name.clone(),
        system: "cisco-ios".to_owned(),
        port: port.to_owned(),
        line,
        far: true,
    };
    let input = config
        .interfaces
        .get(port)
        .and_then(|interface| interface.input_policy.as_ref());
    let policy = input.and_then(|name| config.policy_maps.get(name));
    let (Some(policy), Some(elements)) = (policy, device::arriving(config, &place)) else {
        return Vec::new();
    };
    device::class_names(config, policy)
        .into_iter()
        .map(|(number, name)| Case {
            what: format!("{port} in, {name}"),
            up: format!(
                "{{ rate = \"{0} bit/s\" }}, {{ device = \"{FILE}\", system = \"cisco-ios\", port = \"{port}\", line = \"{0} bit/s\" }}, ",
                line.bits_per_s()
            ),
            down: String::new(),
            rest: transfer(),
            settings: HostSettings::default(),
            device: Some(all_tcp_in(&elements, number, &name)),
            queue: None,
        })
        .collect()
}

/// The queue of a class of a router.
fn own_queue(
    reading: &Reading,
    port: &str,
    classes: &Classes,
    class: &Class,
    name: &str,
    line: BitRate,
) -> Option<OwnQueue> {
    let at = match &reading.config {
        Config::Rtx(_) => {
            let most = classes.classes.iter().map(|class| class.number).max()?;
            let length = |number: u8| {
                let of = classes.classes.iter().find(|class| class.number == number);
                of.map_or(class.limit, |class| class.limit)
            };
            QueueAt::Class {
                port: port.to_owned(),
                class: u16::from(class.number),
                lengths: (1..=most).map(length).collect(),
            }
        }
        Config::Ios(config) => QueueAt::PolicyClass {
            policy: queueing(config, config.interfaces.get(port)?.output_policy.as_ref()?),
            class: name.to_owned(),
        },
        _ => return None,
    };
    let rate = class.ceiling.or(classes.speed).unwrap_or(line);
    Some(OwnQueue {
        at,
        rate,
        packets: class.limit,
    })
}

/// The policy whose classes wait: the one within `policy`, where that is one class that hands on to it.
fn queueing(config: &cisco::Config, policy: &str) -> String {
    let classes = config
        .policy_maps
        .get(policy)
        .map(|found| found.classes.as_slice());
    let inner = match classes {
        Some([class]) => class.child.as_ref(),
        _ => None,
    };
    inner
        .filter(|inner| config.policy_maps.contains_key(*inner))
        .map_or_else(|| policy.to_owned(), Clone::clone)
}

/// What Cisco's classes are called, by the number that they have in the model.
fn class_names(reading: &Reading, port: &str) -> Vec<(u8, String)> {
    let Config::Ios(config) = &reading.config else {
        return Vec::new();
    };
    let policy = config
        .interfaces
        .get(port)
        .and_then(|interface| config.policy_maps.get(interface.output_policy.as_ref()?));
    policy.map_or_else(Vec::new, |policy| device::class_names(config, policy))
}

/// The device with every TCP packet in one class, whatever its filters say; all else goes where they say.
fn all_tcp_in(elements: &DeviceElements, class: u8, name: &str) -> DeviceElements {
    let tcp = |output: u8, class: Option<u8>| Rule {
        matches: Match {
            protocols: vec![Protocol::TCP],
            ..Match::default()
        },
        class,
        output,
    };
    let mut elements = elements.clone();
    for part in &mut elements.elements {
        if let ElementKind::Classify(classify) = &mut part.does {
            classify.rules.insert(0, tcp(0, Some(class)));
        }
        if let Some(only) = &mut part.only {
            // `police-NAME`, `mark-NAME`: output 1 passes it by.
            let own = part.name.split_once('-').is_some_and(|(_, of)| of == name);
            only.rules.insert(0, tcp(u8::from(!own), None));
        }
    }
    elements
}

fn sysctl(reading: &Reading, assumed: &mut Vec<String>) -> Vec<Case> {
    let case = |what: &str, client: &str, server: &str, settings: &HostSettings| Case {
        what: what.to_owned(),
        up: "{ rate = \"1 Gbit/s\" }, ".to_owned(),
        down: String::new(),
        rest: format!(
            "[workload]\nkind = \"iperf3\"\nname = \"transfer\"\nduration = \"{SECONDS} s\"\n{client}{server}"
        ),
        settings: settings.clone(),
        device: None,
        queue: None,
    };
    let own = |host: &str| format!("[hosts.{host}]\nsystem = \"linux\"\nconfig = \"{FILE}\"\n");
    let settings = &reading.settings;
    let mut cases = Vec::new();
    match settings
        .congestion_control
        .as_deref()
        .filter(|name| !has_model(name))
    {
        None => cases.push(case("this host sends", &own("client"), "", settings)),
        Some(name) => assumed.push(format!(
            "What this host sends is not simulated: the model has no congestion control {name}."
        )),
    }
    // What is received is paced by the other end.
    let receiving = HostSettings {
        congestion_control: None,
        ..settings.clone()
    };
    cases.push(case("this host receives", "", &own("server"), &receiving));
    cases.push(case("(without these settings)", "", "", settings));
    cases
}

/// Copies with the marks of `config`, past what polices those of `policed`.
fn ssh(config: &ssh::Config, policed: &ssh::Config) -> Vec<Case> {
    let now = config.in_force();
    let marks_of = |block: &str| {
        let own = now.iter().find(|(name, _)| *name == block);
        own.map_or_else(|| config.marks(), |(_, marks)| *marks)
    };
    let treated = policed.in_force();
    let mut cases: Vec<Case> = treated
        .first()
        .map(|(block, _)| {
            scp(
                config.side,
                marks_of(block),
                "scp, where marks do not matter".to_owned(),
                "",
            )
        })
        .into_iter()
        .collect();
    for (block, marks) in &treated {
        let treated = match marks.bulk {
            Mark::Tos(tos) if tos >> 2 != 0 => Dscp::from_tos(tos),
            _ => Dscp::CS1,
        };
        let police = format!(
            "{{ police = \"10 Mbit/s\", burst = \"64 KiB\", only = {{ dscp = \"{}\" }} }}, ",
            treated.value()
        );
        let what = if block.is_empty() {
            format!("scp, where {treated} is policed to 10 Mbit/s")
        } else {
            format!("scp, where {treated} is policed to 10 Mbit/s ({block})")
        };
        cases.push(scp(config.side, marks_of(block), what, &police));
    }
    cases
}

/// A copy with these marks by the side whose they are, which sends, through what treats them.
fn scp(side: Side, marks: ssh::IpQos, what: String, treated: &str) -> Case {
    let word = |mark: Mark| match mark {
        Mark::None => "none".to_owned(),
        Mark::Tos(tos) => tos.to_string(),
    };
    let option = format!("IPQoS {} {}", word(marks.interactive), word(marks.bulk));
    let line = "{ rate = \"1 Gbit/s\" }, ";
    let there = format!("{treated}{line}");
    let (direction, options, up, down) = match side {
        Side::Client => ("upload", "client_options", there, line.to_owned()),
        Side::Server => ("download", "server_options", line.to_owned(), there),
    };
    Case {
        what,
        up,
        down,
        rest: format!(
            "[workload]\nkind = \"scp\"\nname = \"transfer\"\nsize = \"32 MiB\"\ndirection = \"{direction}\"\n{options} = \
             [\"{option}\"]\n"
        ),
        settings: HostSettings::default(),
        device: None,
        queue: None,
    }
}

fn tc(config: &tc::Config, assumed: &mut Vec<String>) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut push = |what: String, elements: String, queue: Option<OwnQueue>| {
        cases.push(Case {
            what,
            up: format!("{elements}{{ rate = \"1 Gbit/s\" }}, "),
            down: String::new(),
            rest: transfer(),
            settings: HostSettings::default(),
            device: None,
            queue,
        });
    };
    for root in config.qdiscs.iter().filter(|qdisc| qdisc.parent.is_none()) {
        let device = &root.device;
        match root.kind.as_str() {
            "htb" => {
                for class in config.leaves(root) {
                    let Some(rate) = config.most(class) else {
                        continue;
                    };
                    let below = config.below(root, &class.id);
                    push(
                        format!("{device}, class {}", class.id),
                        within(rate, below),
                        below.and_then(|below| waiting(below, rate)),
                    );
                }
            }
            "tbf" => {
                let Some(rate) = root.rate else { continue };
                let inner = config.inner(root);
                push(
                    device.clone(),
                    token_bucket(root, rate, inner),
                    inner.and_then(|inner| waiting(inner, rate)),
                );
            }
            "cake" if root.rate.is_some() => {
                let rate = root.rate.unwrap_or(GIGABIT);
                push(
                    device.clone(),
                    format!(
                        "{{ {}, discipline = \"fq-codel\", queue = \"10240 packets\" }}, ",
                        rate_of(rate)
                    ),
                    None,
                );
            }
            "pfifo" | "bfifo" | "fq_codel" | "codel" | "pie" => {
                push(
                    format!("{device} (of 1 Gbit/s)"),
                    format!("{{ {}, {} }}, ", rate_of(GIGABIT), queue(Some(root))),
                    waiting(root, GIGABIT),
                );
            }
            _ => {}
        }
    }
    if config
        .qdiscs
        .iter()
        .any(|qdisc| qdisc.kind == "cake" && qdisc.rate.is_some() && config.follows(qdisc))
    {
        assumed.push("Taken: cake as FQ-CoDel behind its rate.".to_owned());
    }
    if config.qdiscs.iter().any(|qdisc| qdisc.kind == "htb") {
        assumed.push("Taken: classes that others leave idle, up to their ceiling; what filters choose is not followed.".to_owned());
    }
    cases
}

fn rate_of(rate: BitRate) -> String {
    format!("rate = \"{} bit/s\"", rate.bits_per_s())
}

/// A class held to a rate, with what stands below it: another shaper there holds it to the lesser of both.
fn within(rate: BitRate, below: Option<&Qdisc>) -> String {
    let class = |queue: &str| format!("{{ {}, {queue} }}, ", rate_of(rate));
    match below.and_then(|below| Some((below, below.rate?))) {
        // Packets wait in the shaper below, none in the class.
        Some((below, inner)) if below.kind == "tbf" && inner < rate => {
            token_bucket(below, inner, None) + &class("queue = \"1000 packets\"")
        }
        // They wait for the class, as many as the shaper below takes.
        Some((below, inner)) if below.kind == "tbf" => {
            let limit = held(below, inner).map_or_else(
                || "queue = \"1000 packets\"".to_owned(),
                |bytes| format!("queue = \"{} B\"", bytes.max(LEAST_BYTES)),
            );
            dropped_as_large(below) + &class(&limit)
        }
        Some((below, inner)) if below.kind == "cake" => {
            format!("{{ {}, {} }}, ", rate_of(inner.min(rate)), queue(Some(below)))
        }
        _ => class(&queue(below)),
    }
}

/// A token bucket filter of this rate, whose packets wait in `inner` where it has one.
fn token_bucket(qdisc: &Qdisc, rate: BitRate, inner: Option<&Qdisc>) -> String {
    let dropped = dropped_as_large(qdisc);
    let burst = qdisc
        .burst
        .map_or(LEAST_BYTES, |burst| burst.bytes().max(LEAST_BYTES));
    let own = match (qdisc.limit_bytes, qdisc.latency) {
        (Some(limit), _) => format!("\"{} B\"", limit.bytes().max(LEAST_BYTES)),
        (None, Some(latency)) => format!("\"{} us\"", latency.nanos() / 1_000),
        (None, None) => "\"1000 packets\"".to_owned(),
    };
    let queue = match inner.map(|inner| queue(Some(inner))) {
        // A shaper of the model drops at its end alone; what manages its queue stands before a line of the rate.
        Some(managed) if managed.contains("discipline") => {
            return format!("{dropped}{{ {}, {managed} }}, ", rate_of(rate));
        }
        Some(plain) => plain,
        None => format!("queue = {own}"),
    };
    format!(
        "{dropped}{{ shape = \"{} bit/s\", burst = \"{burst} B\", {queue} }}, ",
        rate.bits_per_s()
    )
}

/// Bytes that a token bucket filter holds: its limit, or what its latency and bucket come to (`tc-tbf(8)`).
fn held(qdisc: &Qdisc, rate: BitRate) -> Option<u64> {
    let in_latency = |latency: Duration| {
        let bytes = u128::from(rate.bits_per_s()) * u128::from(latency.nanos()) / 8_000_000_000;
        let burst = qdisc.burst.map_or(0, ByteCount::bytes);
        u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(burst)
    };
    let limit = qdisc.limit_bytes.map(ByteCount::bytes);
    limit.or(qdisc.latency.map(in_latency))
}

/// What drops the packets that are larger than a shaper's bucket, which counts their frames; nothing where it holds a full one.
fn dropped_as_large(qdisc: &Qdisc) -> String {
    match qdisc.burst.map(ByteCount::bytes) {
        Some(burst) if burst < FULL_PACKET => {
            let packet = burst.saturating_sub(FRAME_HEAD).max(LEAST_MTU);
            format!("{{ mtu = \"{packet} B\", black_hole = true }}, ")
        }
        _ => String::new(),
    }
}

/// The queue of a discipline that holds packets until it is full.
fn waiting(qdisc: &Qdisc, rate: BitRate) -> Option<OwnQueue> {
    let packets = (qdisc.kind == "pfifo").then_some(qdisc.limit_packets)??;
    Some(OwnQueue {
        at: QueueAt::Discipline {
            device: qdisc.device.clone(),
            parent: qdisc.parent.clone(),
        },
        rate,
        packets,
    })
}

/// The queue of a discipline as an experiment file has it.
fn queue(qdisc: Option<&Qdisc>) -> String {
    let Some(qdisc) = qdisc else {
        return "queue = \"1000 packets\"".to_owned();
    };
    let size = match (qdisc.limit_packets, qdisc.limit_bytes) {
        (Some(packets), _) => format!("{} packets", packets.max(1)),
        (None, Some(bytes)) => format!("{} B", bytes.bytes().max(LEAST_BYTES)),
        (None, None) if matches!(qdisc.kind.as_str(), "fq_codel" | "cake") => "10240 packets".to_owned(),
        (None, None) => "1000 packets".to_owned(),
    };
    let discipline = match qdisc.kind.as_str() {
        "fq_codel" | "cake" => ", discipline = \"fq-codel\"",
        "codel" => ", discipline = \"codel\"",
        "pie" | "fq_pie" => ", discipline = \"pie\"",
        _ => "",
    };
    format!("queue = \"{size}\"{discipline}")
}

/// How long a transfer lasts, in seconds.
const SECONDS: u32 = 10;

/// Bytes of the smallest bucket and queue: a full packet, whatever is counted of it.
const LEAST_BYTES: u64 = 1_600;

/// Bytes of an Ethernet frame before its packet.
const FRAME_HEAD: u64 = 14;

/// The smallest MTU of IPv4 (RFC 791), bytes.
const LEAST_MTU: u64 = 68;

/// The name under which the experiments here know the configuration.
const FILE: &str = "configuration";

const GIGABIT: BitRate = BitRate::new(1_000_000_000);
const FAST: BitRate = BitRate::new(100_000_000);

/// Buffers that do not limit a transfer, so that what is shown is the configuration's doing.
const BUFFERS: &str =
    "rmem = [\"4096 B\", \"131072 B\", \"33554432 B\"]\nwmem = [\"4096 B\", \"16384 B\", \"33554432 B\"]\n";
const LARGE: &str = "[hosts.client]\nrmem = [\"4096 B\", \"131072 B\", \"33554432 B\"]\nwmem = [\"4096 B\", \"16384 B\", \
                     \"33554432 B\"]\n[hosts.server]\nrmem = [\"4096 B\", \"131072 B\", \"33554432 B\"]\nwmem = [\"4096 B\", \
                     \"16384 B\", \"33554432 B\"]\n";

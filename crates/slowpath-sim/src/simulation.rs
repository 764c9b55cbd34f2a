//! The event loop.

use std::collections::BTreeMap;
use std::hint::cold_path;

use slowpath_endpoint::app::Behaviour;
use slowpath_endpoint::wire::{Flags as TcpFlags, Header, OwnedPayload, TooBig, Transmit, Transport};
use slowpath_endpoint::{Host, Payload, Report};
use slowpath_packet::{Ecn, Seq32};
use slowpath_path::{Cargo, ElementId, Flags, FlowId, Network, Notice, Outcome, Packet, PacketId, PortId};
use slowpath_record::Series;
use slowpath_units::Time;

use crate::edges::{EdgeSpec, HostEdges};
use crate::freight::{Freight, fragment_header};
use crate::known::KnownFlows;
use crate::report::SimReport;
use crate::sink::{Point, Sighting, Sink};
use crate::spec::{SimError, SimSpec};

/// One run: hosts, network, and the packets between them.
///
/// [`run`](Self::run) does everything; [`step`](Self::step) does one point in time, for callers that want to
/// look in between.
#[derive(Debug)]
pub struct Simulation {
    network: Network,
    hosts: Vec<Station>,
    /// The host at each port.
    at_port: Vec<Option<u16>>,
    freight: Freight,
    notices: BTreeMap<PacketId, Header>,
    now: Time,
    deadline: Time,
    sampling: Option<Sampling>,
    report: SimReport,
    open: usize,
}

#[derive(Debug)]
struct Station {
    name: String,
    host: Host,
    port: PortId,
    mtu: u32,
    flows: KnownFlows,
    /// What holds its packets up outside the network; nothing in an ordinary run.
    edges: Option<Box<HostEdges>>,
}

#[derive(Debug)]
struct Sampling {
    every: slowpath_units::Duration,
    next: Time,
    /// Series by host and connection.
    series: BTreeMap<(u16, String), [Points; SAMPLED.len()]>,
}

/// Samples of one quantity.
type Points = Vec<(Time, f64)>;

impl Simulation {
    /// Builds the run that `spec` describes.
    ///
    /// # Errors
    /// [`SimError`] if the network contradicts itself or lacks a host's port.
    pub fn new(spec: &SimSpec) -> Result<Self, SimError> {
        let network = Network::build(&spec.network, spec.seed)?;
        let mut at_port = vec![None; spec.network.ports.len()];
        let mut hosts = Vec::with_capacity(spec.hosts.len());
        let mut open = 0;
        for (number, plan) in (0_u16..).zip(&spec.hosts) {
            let port = network
                .port(&plan.name)
                .ok_or_else(|| no_port(spec, &plan.name))?;
            at_port[usize::from(port.0)] = Some(number);
            // Each host has its own stream of numbers, whatever the others do.
            let seed = spec.seed ^ (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut host = Host::new(plan.config.clone(), seed);
            for (at, behaviour) in &plan.programs {
                open += usize::from(ends(behaviour));
                host.start(*at, behaviour.clone());
            }
            hosts.push(Station {
                name: plan.name.clone(),
                host,
                port,
                mtu: plan.config.mtu,
                flows: KnownFlows::default(),
                edges: None,
            });
        }
        let sampling = spec.sample_every.map(|every| Sampling {
            every,
            next: Time::ZERO,
            series: BTreeMap::new(),
        });
        Ok(Self {
            network,
            hosts,
            at_port,
            freight: Freight::default(),
            notices: BTreeMap::new(),
            now: Time::ZERO,
            deadline: Time::ZERO + spec.deadline,
            sampling,
            report: SimReport::default(),
            open,
        })
    }

    /// The same run with packets held up between hosts and network.
    #[must_use]
    pub fn with_edges(mut self, spec: &EdgeSpec) -> Self {
        for (number, station) in (0_u16..).zip(&mut self.hosts) {
            station.edges = Some(Box::new(HostEdges::new(spec, &station.name, number)));
        }
        self
    }

    /// Runs to the end: until every program that ends has ended, nothing can happen any more, the deadline, or until
    /// `sink` wants no more.
    #[must_use]
    pub fn run<S: Sink>(mut self, sink: &mut S) -> SimReport {
        while self.open > 0 && sink.goes_on() && (self.leap(sink) || self.step(sink)) {}
        // What is still on its way when the last program ends may arrive: datagrams are counted where they end.
        self.deadline = self.deadline.min(self.now + LINGER);
        while self.open == 0 && self.network.inside() > 0 && sink.goes_on() && self.step(sink) {}
        self.finish()
    }

    /// Lets everything happen that is due at the next point in time; false if there is none before the deadline.
    pub fn step<S: Sink>(&mut self, sink: &mut S) -> bool {
        let inside = self.network.next_event();
        let Some(at) = self.next_event(inside).filter(|at| *at <= self.deadline) else {
            return false;
        };
        debug_assert!(at >= self.now, "time runs backwards");
        self.now = at;
        self.report.events += 1;
        self.sample();
        self.act(sink);
        true
    }

    /// Goes to the next point in time at which a host acts or a packet arrives at one, but not beyond the first at or after
    /// `until` at which anything happens; false if there is none before the deadline. What only moves packets within the
    /// network before `until` is passed by: what happens is the same as with [`step`](Self::step) by step.
    pub fn stride<S: Sink>(&mut self, until: Time, sink: &mut S) -> bool {
        if S::WATCHES_DROPS || self.sampling.is_some() {
            return self.step(sink);
        }
        let until = until.min(self.deadline);
        if self.leap_before(until, sink) {
            return true;
        }
        if until > self.now {
            self.network.advance(Time::from_nanos(until.nanos() - 1));
        }
        self.step(sink)
    }

    /// From now on the network knows for how long the element has packets in it ([`Network::occupied`]).
    pub fn time_occupied(&mut self, element: ElementId) {
        self.network.time_occupied(element);
    }

    /// Lets everything happen that is due now.
    fn act<S: Sink>(&mut self, sink: &mut S) {
        let at = self.now;
        self.network.advance(at);
        let mut packet = Packet::new(Cargo::new(0), FlowId(0), 0);
        loop {
            while let Some((port, due)) = self.network.poll_delivery(&mut packet) {
                self.arrive(port, due, &packet, sink);
            }
            let Some(outcome) = self.network.poll_outcome() else {
                break;
            };
            cold_path();
            self.take(outcome, sink);
        }
        for number in 0..self.hosts.len() {
            if self.hosts[number].edges.is_some() {
                cold_path();
                self.pass_edges(number, sink);
            }
            let station = &mut self.hosts[number];
            if station.host.next_event().is_some_and(|next| next <= at) {
                station.host.advance(at);
                self.collect(number, sink);
            }
        }
    }

    /// Goes to the next point in time at which a host acts or a packet arrives at one, and passes by what only moves
    /// packets within the network. False where it matters: before a sample, before the deadline, and with a `sink` that
    /// asks for every drop. What happens is the same.
    fn leap<S: Sink>(&mut self, sink: &mut S) -> bool {
        if S::WATCHES_DROPS {
            return false;
        }
        let before = match &self.sampling {
            Some(sampling) => sampling.next.min(self.deadline),
            None => self.deadline,
        };
        self.leap_before(before, sink)
    }

    /// The same, if that point lies before `before`.
    #[inline]
    fn leap_before<S: Sink>(&mut self, before: Time, sink: &mut S) -> bool {
        let seen = self.network.next_sighting();
        let Some(at) = self.next_event(seen).filter(|at| *at < before) else {
            return false;
        };
        debug_assert!(at >= self.now, "time runs backwards");
        self.now = at;
        self.report.events += 1;
        self.act(sink);
        true
    }

    /// Where the run stands.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The host with number `number`, in the order of the specification.
    pub fn host(&self, number: u16) -> Option<&Host> {
        self.hosts.get(usize::from(number)).map(|station| &station.host)
    }

    /// The network.
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Whether every program that ends has ended.
    pub const fn has_ended(&self) -> bool {
        self.open == 0
    }

    /// Ends the run here and reports.
    #[must_use]
    pub fn finish(mut self) -> SimReport {
        self.report.complete = self.open == 0;
        self.report.end = self.now;
        let elements: Vec<_> = self
            .network
            .element_names()
            .map(|(id, name)| (id, name.to_owned()))
            .collect();
        for (id, name) in elements {
            if let Some(counters) = self.network.counters(id) {
                self.report.elements.push(counters.to_record(&name));
            }
        }
        for (number, station) in (0_u16..).zip(&self.hosts) {
            for (app, result) in station.host.summaries() {
                self.report.reports.push((number, Report::Flow { app, result }));
            }
            let connections = station.host.connections();
            self.report
                .connections
                .extend(connections.map(|(conn, ends, info)| (number, conn, ends, info)));
        }
        if let Some(sampling) = self.sampling.take() {
            for ((host, connection), values) in sampling.series {
                let host = &self.hosts[usize::from(host)].name;
                for ((quantity, unit), points) in SAMPLED.iter().zip(values) {
                    let name = format!("{host}/{connection}/{quantity}");
                    self.report.series.push(Series {
                        name,
                        unit: (*unit).to_owned(),
                        points,
                    });
                }
            }
        }
        self.report
    }

    /// The next point in time; `inside` is the network's.
    fn next_event(&self, inside: Option<Time>) -> Option<Time> {
        let mut least = inside.unwrap_or(Time::MAX);
        for station in &self.hosts {
            if let Some(at) = station.host.next_event() {
                least = least.min(at);
            }
            if let Some(at) = station.edges.as_ref().and_then(|edges| edges.next_event()) {
                least = least.min(at);
            }
        }
        (least != Time::MAX).then_some(least)
    }

    /// Lets those packets go on that a host's edges have held up until now.
    #[inline(never)]
    fn pass_edges<S: Sink>(&mut self, number: usize, sink: &mut S) {
        let now = self.now;
        while let Some(edges) = &mut self.hosts[number].edges
            && edges.leaving.front().is_some_and(|(at, ..)| *at <= now)
            && let Some((at, due, port, packet)) = edges.leaving.pop_front()
        {
            self.hand_over(port, due, at, &packet, sink);
            if !packet.flags.has(Flags::EMITTED) {
                self.freight.account(packet.cargo, -1);
            }
        }
        let host_number = u16::try_from(number).unwrap_or(u16::MAX);
        let Self {
            network,
            hosts,
            freight,
            ..
        } = self;
        let station = &mut hosts[number];
        let mut way = Way {
            network,
            freight,
            number: host_number,
            port: station.port,
            mtu: station.mtu,
        };
        while let Some(edges) = &mut station.edges
            && edges.entering.front().is_some_and(|(at, ..)| *at <= now)
            && let Some((at, flow, mut transmit)) = edges.entering.pop_front()
        {
            transmit.at = at;
            way.send(flow, &mut transmit, sink);
        }
    }

    /// A packet comes to the host at `port`.
    #[inline]
    fn arrive<S: Sink>(&mut self, port: PortId, at: Time, packet: &Packet, sink: &mut S) {
        if self.holds_up(port, at, packet) {
            return;
        }
        self.hand_over(port, at, at, packet, sink);
        if !packet.flags.has(Flags::EMITTED) {
            self.freight.account(packet.cargo, -1);
        }
    }

    /// Acts on one outcome of the network that is not a delivery.
    #[inline(never)]
    fn take<S: Sink>(&mut self, outcome: Outcome, sink: &mut S) {
        let packet = *outcome.packet();
        let own = !packet.flags.has(Flags::EMITTED);
        match outcome {
            Outcome::Delivered { port, at, .. } => return self.arrive(port, at, &packet, sink),
            Outcome::Dropped {
                element, cause, at, ..
            } => {
                cold_path();
                self.notices.remove(&packet.id);
                sink.dropped(packet.id, element, cause, at);
            }
            Outcome::Seen { tap, at, .. } if own => self.freight.show(&packet, |header, payload| {
                sink.seen(&Sighting {
                    point: Point::Tap(tap),
                    at,
                    id: packet.id,
                    header,
                    payload,
                });
            }),
            Outcome::Emit { notice, .. } => self.emit(&packet, notice),
            Outcome::Seen { .. }
            | Outcome::Copied { .. }
            | Outcome::Split { .. }
            | Outcome::Joined { .. }
            | Outcome::Edit { .. } => {}
        }
        let change = outcome.references();
        if own && change != 0 {
            self.freight.account(packet.cargo, change);
        }
    }

    /// Whether a delivered packet has to wait before its host gets it.
    #[inline]
    fn holds_up(&mut self, port: PortId, due: Time, packet: &Packet) -> bool {
        let Some(number) = self.at_port.get(usize::from(port.0)).copied().flatten() else {
            return false;
        };
        let Some(edges) = &mut self.hosts[usize::from(number)].edges else {
            return false;
        };
        let at = edges.release.pass(due);
        let waits = at > self.now || !edges.leaving.is_empty();
        if waits {
            edges.leaving.push_back((at, due, port, *packet));
        }
        waits
    }

    /// Gives a packet to the host at `port`, which was due there at `due` and gets it at `at`.
    fn hand_over<S: Sink>(&mut self, port: PortId, due: Time, at: Time, packet: &Packet, sink: &mut S) {
        let Some(number) = self.at_port.get(usize::from(port.0)).copied().flatten() else {
            return;
        };
        let station = &mut self.hosts[usize::from(number)];
        self.report.packets_delivered += 1;
        let point = Point::Received(number);
        if packet.flags.has(Flags::EMITTED) {
            cold_path();
            if let Some(header) = self.notices.remove(&packet.id) {
                let payload = OwnedPayload::Synthetic(0);
                sink.seen(&Sighting {
                    point,
                    at: due,
                    id: packet.id,
                    header: &header,
                    payload: &payload,
                });
                station.host.receive(at, &header, Payload::EMPTY);
            }
        } else {
            if packet.is_fragment() && !self.freight.complete(packet) {
                return;
            }
            self.freight.show(packet, |header, payload| {
                sink.seen(&Sighting {
                    point,
                    at: due,
                    id: packet.id,
                    header,
                    payload,
                });
                station.host.receive(at, header, payload.borrow());
            });
        }
        self.collect(usize::from(number), sink);
    }

    /// A router's message about a packet that is too large; other messages concern no endpoint.
    #[cold]
    #[inline(never)]
    fn emit(&mut self, packet: &Packet, notice: Notice) {
        let Notice::FragmentationNeeded { from, mtu } = notice else {
            return;
        };
        let (flow, seq) = self.freight.show(packet, |about, _| {
            let seq = match &about.transport {
                Transport::Tcp(tcp) => tcp.seq,
                _ => Seq32(0),
            };
            (about.flow(), seq)
        });
        let header = Header {
            src: from,
            dst: flow.src,
            dscp: packet.dscp,
            ecn: Ecn::NotEct,
            ttl: packet.ttl,
            df: false,
            transport: Transport::TooBig(TooBig { mtu, flow, seq }),
        };
        self.notices.insert(packet.id, header);
    }

    /// Hands what a host has sent to the network, and keeps its reports.
    fn collect<S: Sink>(&mut self, number: usize, sink: &mut S) {
        let host_number = u16::try_from(number).unwrap_or(u16::MAX);
        let Self {
            network,
            hosts,
            freight,
            report,
            ..
        } = self;
        let Station {
            host,
            flows,
            port,
            mtu,
            edges,
            ..
        } = &mut hosts[number];
        let mut way = Way {
            network,
            freight,
            number: host_number,
            port: *port,
            mtu: *mtu,
        };
        host.take_transmits(|transmit| {
            let flow = flows.number(&transmit.header, |key| {
                let flow = way.network.register_flow(key);
                way.freight.know(flow, key);
                flow
            });
            report.packets_sent += 1;
            let data = !transmit.payload.is_empty() && matches!(transmit.header.transport, Transport::Tcp(_));
            report.data_packets += u64::from(data);
            if let Some(edges) = edges {
                cold_path();
                let at = edges.entry.pass(transmit.at);
                if at > transmit.at || !edges.entering.is_empty() {
                    edges.entering.push_back((at, flow, transmit.clone()));
                    return;
                }
            }
            way.send(flow, transmit, sink);
        });
        while let Some(report) = self.hosts[number].host.poll_report() {
            cold_path();
            self.open -= usize::from(matches!(report, Report::Ended { .. }));
            self.report.reports.push((host_number, report));
        }
    }

    fn sample(&mut self) {
        let Some(sampling) = &mut self.sampling else {
            return;
        };
        if self.now < sampling.next {
            return;
        }
        sampling.next = self.now + sampling.every;
        for (number, station) in (0_u16..).zip(&self.hosts) {
            for (_, ends, info) in station.host.connections() {
                let name = format!("{} > {}", ends.local, ends.remote);
                let values: [f64; SAMPLED.len()] = [
                    f64::from(info.cwnd),
                    info.ssthresh.map_or(f64::NAN, f64::from),
                    f64::from(info.in_flight),
                    info.srtt.map_or(0.0, slowpath_units::Duration::seconds),
                    info.acknowledged as f64,
                    info.received as f64,
                    info.window as f64,
                    info.unread as f64,
                    info.sender.retransmissions as f64,
                ];
                let series = sampling.series.entry((number, name)).or_default();
                for (points, value) in series.iter_mut().zip(values) {
                    if value.is_finite() {
                        points.push((self.now, value));
                    }
                }
            }
        }
    }
}

/// From one host into the network.
struct Way<'a> {
    network: &'a mut Network,
    freight: &'a mut Freight,
    number: u16,
    port: PortId,
    mtu: u32,
}

impl Way<'_> {
    #[inline]
    fn send<S: Sink>(&mut self, flow: FlowId, transmit: &mut Transmit, sink: &mut S) {
        let (at, ip_len) = (transmit.at, transmit.ip_len());
        let header = &transmit.header;
        let mut packet = Packet::new(Cargo::new(0), flow, ip_len);
        packet.dscp = header.dscp;
        packet.ecn = header.ecn;
        packet.ttl = header.ttl;
        packet.flags = flags(header);
        if ip_len > self.mtu {
            self.send_fragments(packet, transmit, sink);
            return;
        }
        packet.cargo = self.freight.load(flow, transmit, 1);
        packet.id = self.network.ingress(self.port, at, packet);
        self.sent(&packet, at, sink);
    }

    /// The host's own IP layer fragments what is larger than its MTU.
    #[cold]
    fn send_fragments<S: Sink>(&mut self, mut packet: Packet, transmit: &mut Transmit, sink: &mut S) {
        let (at, ip_len) = (transmit.at, packet.ip_len);
        let ip = transmit.header.ip_header() + fragment_header(&transmit.header);
        let step = (self.mtu - ip) / 8 * 8;
        let body = ip_len - transmit.header.ip_header();
        let parts = body.div_ceil(step);
        let flags = packet.flags.with(Flags::FRAGMENT);
        let references = i32::try_from(parts).unwrap_or(i32::MAX);
        packet.cargo = self.freight.load(packet.flow, transmit, references);
        for part in 0..parts {
            let offset = part * step;
            let len = step.min(body - offset);
            packet.ip_len = ip + len;
            packet.fragment_offset = u16::try_from(offset / 8).unwrap_or(u16::MAX);
            packet.flags = flags;
            if offset + len < body {
                packet.flags = flags.with(Flags::MORE_FRAGMENTS);
            }
            packet.id = self.network.ingress(self.port, at, packet);
            if part == 0 {
                self.sent(&packet, at, sink);
            }
        }
    }

    #[inline]
    fn sent<S: Sink>(&self, packet: &Packet, at: Time, sink: &mut S) {
        self.freight.show(packet, |header, payload| {
            sink.seen(&Sighting {
                point: Point::Sent(self.number),
                at,
                id: packet.id,
                header,
                payload,
            });
        });
    }
}

/// Whether a program of this kind ends by itself.
const fn ends(behaviour: &Behaviour) -> bool {
    match behaviour {
        Behaviour::Bulk(_)
        | Behaviour::FtpClient(_)
        | Behaviour::Requests(_)
        | Behaviour::SshClient(_)
        | Behaviour::UdpSource(_)
        | Behaviour::Ping(_) => true,
        Behaviour::Sink(_)
        | Behaviour::FtpServer(_)
        | Behaviour::Responder(_)
        | Behaviour::SshServer(_)
        | Behaviour::UdpSink(_) => false,
    }
}

fn no_port(spec: &SimSpec, host: &str) -> SimError {
    let ports: Vec<_> = spec
        .network
        .ports
        .iter()
        .map(|port| format!("\"{}\"", port.name))
        .collect();
    SimError::NoPort {
        host: host.to_owned(),
        ports: ports.join(", "),
    }
}

fn flags(header: &Header) -> Flags {
    let mut flags = Flags::NONE;
    if header.df {
        flags = flags.with(Flags::DONT_FRAGMENT);
    }
    if header.src.is_ipv6() {
        flags = flags.with(Flags::IPV6).with(Flags::DONT_FRAGMENT);
    }
    match &header.transport {
        Transport::Tcp(tcp) if tcp.flags.has(TcpFlags::SYN) => flags.with(Flags::SYN),
        Transport::TooBig(_) => flags.with(Flags::ICMP_ERROR),
        _ => flags,
    }
}

/// How long packets may still arrive after the last program has ended.
const LINGER: slowpath_units::Duration = slowpath_units::Duration::from_secs(10);

/// What is sampled of each connection: quantity and unit.
const SAMPLED: [(&str, &str); 9] = [
    ("cwnd", "packet"),
    ("ssthresh", "packet"),
    ("in-flight", "packet"),
    ("srtt", "s"),
    ("acknowledged", "byte"),
    ("received", "byte"),
    ("window", "byte"),
    ("unread", "byte"),
    ("retransmissions", "packet"),
];

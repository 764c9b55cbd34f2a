//! The state machine that a driver runs.

use slowpath_packet::FlowKey;
use slowpath_units::Time;

use crate::calendar::Calendar;
use crate::counters::Counters;
use crate::dice::Dice;
use crate::element::{Context, Element, Released, Shared, Step};
use crate::outcome::{ElementId, Outcome, PortId};
use crate::packet::{Cargo, FlowId, Packet, PacketId};
use crate::parts;
use crate::ring::Ring;
use crate::spec::{BuildError, ElementKind, NetworkSpec, Target};

/// The network in the middle, driven from outside: it knows no clock and touches no bytes.
///
/// The kinds of its methods, in the order in which a driver calls them:
///
/// 1. *Set up*: [`build`](Self::build) (or [`build_parts`](Self::build_parts) / [`split`](Self::split) for one
///    network per independent part), [`port`](Self::port), [`register_flow`](Self::register_flow).
/// 2. *Input*: [`ingress`](Self::ingress) for every packet that hosts have sent up to now, with the time at which
///    each was sent. Times of one port must not fall; ports may be drained one after the other.
/// 3. *Time*: [`advance`](Self::advance) to now, after all input up to now was handed in.
/// 4. *Output*: [`poll_outcome`](Self::poll_outcome) until it gives nothing. Outcomes come in order of time.
/// 5. Sleep until [`next_event`](Self::next_event) or the next input, then go on with 2.
/// 6. *Getters* at any time: [`counters`](Self::counters), [`element_names`](Self::element_names), [`now`](Self::now).
///
/// Everything inside happens at model time: advancing late, early or in pieces gives the same outcomes. Handing in
/// and advancing many packets at once is several times cheaper than one by one.
#[derive(Debug)]
pub struct Network {
    spec: NetworkSpec,
    seed: u64,
    now: Time,
    schedule: Schedule,
    ports: Vec<Port>,
    nodes: Vec<Node>,
    shared: Shared,
    first_id: u64,
}

/// In which order ports and elements act.
#[derive(Debug)]
enum Schedule {
    /// Strictly by time, for elements that are fed from several sides.
    ByTime(Calendar),
    /// One element after the other, for chains: since each element is fed by one other, what the elements do does not
    /// depend on the order between them, and only the outcomes must be put in order. This is several times faster.
    ///
    /// An element that reacts to what it holds (a class queue, unlike a delay) does what was due before each arrival.
    /// Outcomes of one instant come in the order of the flow.
    ByElement {
        /// Elements in the order of the flow.
        order: Vec<u16>,
        /// By element, its place in `order`.
        rank: Vec<u16>,
        /// By element, when it acts next.
        next: Vec<Time>,
        /// How many chains there are.
        chains: usize,
    },
}

#[derive(Debug)]
struct Port {
    entry: Option<Wire>,
    delivers: bool,
    pending: Ring<(Time, Packet)>,
    latest: Time,
}

#[derive(Debug)]
struct Node {
    id: ElementId,
    element: Element,
    /// Where output 0 leads: nearly all packets take it.
    first: Wire,
    outputs: Vec<Wire>,
    counters: Counters,
    /// Whether an arrival finds a different state before and after a release that is due.
    reacts: bool,
}

impl Node {
    #[inline]
    fn wire(&self, output: u8) -> Wire {
        if output == 0 {
            self.first
        } else {
            self.outputs[usize::from(output)]
        }
    }
}

/// Where a packet goes next: the index of a node of this network, or a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wire {
    Node {
        index: u16,
        input: u8,
    },
    Port(PortId),
    /// Only in an output that no packet can reach.
    Nowhere,
}

impl Network {
    /// Builds the network of `spec`; `seed` decides all chance in it.
    ///
    /// # Errors
    /// What [`NetworkSpec::check`] finds.
    pub fn build(spec: &NetworkSpec, seed: u64) -> Result<Self, BuildError> {
        spec.check()?;
        let everything: Vec<usize> = (0..spec.elements.len()).collect();
        Ok(Self::build_part(
            spec,
            seed,
            &everything,
            &vec![true; spec.ports.len()],
            0,
        ))
    }

    /// Builds one network for each part of `spec` that shares nothing with the others, such as the two directions
    /// of a chain; they may run on separate threads.
    ///
    /// Each part knows all ports by the same numbers, but [`accepts`](Self::accepts) and
    /// [`delivers_to`](Self::delivers_to) tell which are its own. Elements keep their numbers, packet numbers are
    /// unique across parts, flow numbers belong to a part. All dice fall as in the unsplit network.
    ///
    /// # Errors
    /// What [`NetworkSpec::check`] finds.
    pub fn build_parts(spec: &NetworkSpec, seed: u64) -> Result<Vec<Self>, BuildError> {
        spec.check()?;
        let parts = parts::independent(spec);
        let build = |(number, part): (usize, &parts::Part)| {
            Self::build_part(spec, seed, &part.elements, &part.sources, number as u64)
        };
        Ok(parts.iter().enumerate().map(build).collect())
    }

    /// Splits a network that has seen no packet yet into independent parts; see [`build_parts`](Self::build_parts).
    ///
    /// Flows registered so far are known to every part under the same numbers.
    ///
    /// # Errors
    /// Gives the network back when it has already seen a packet.
    pub fn split(self) -> Result<Vec<Self>, Box<Self>> {
        if self.shared.last_ingress != self.first_id || self.now != Time::ZERO {
            return Err(Box::new(self));
        }
        let mut parts =
            Self::build_parts(&self.spec, self.seed).expect("the specification was checked before");
        for part in &mut parts {
            for key in self.shared.flows.keys() {
                part.register_flow(key);
            }
        }
        Ok(parts)
    }

    fn build_part(spec: &NetworkSpec, seed: u64, elements: &[usize], sources: &[bool], number: u64) -> Self {
        let wire = |target: &Target| {
            if let Some(port) = spec.ports.iter().position(|port| port.name == target.to) {
                return Wire::Port(PortId(port as u16));
            }
            let index = elements
                .iter()
                .position(|index| spec.elements[*index].name == target.to);
            index.map_or(Wire::Nowhere, |index| Wire::Node {
                index: index as u16,
                input: target.input,
            })
        };
        let first_id = number << 48;
        let mut shared = Shared::numbered_from(first_id);
        // Tunnels' own flows get the same numbers in every part.
        for element in &spec.elements {
            if let ElementKind::Encapsulate(tunnel) = &element.does {
                shared.flows.register(&tunnel.outer_flow());
            }
        }
        let nodes: Vec<Node> = elements
            .iter()
            .map(|&index| {
                let element = &spec.elements[index];
                let built = Element::new(
                    &element.does,
                    element.outputs.len(),
                    Dice::new(seed, &element.name),
                    &mut shared.flows,
                );
                Node {
                    id: ElementId(index as u16),
                    reacts: built.reacts(),
                    element: built,
                    first: element.outputs.first().map_or(Wire::Nowhere, wire),
                    outputs: element.outputs.iter().map(wire).collect(),
                    counters: Counters::default(),
                }
            })
            .collect();
        let entries: Vec<Option<Wire>> = (spec.ports.iter().zip(sources))
            .map(|(port, own)| port.entry.as_ref().filter(|_| *own).map(wire))
            .collect();
        let reaches = |port: usize| {
            let port = Wire::Port(PortId(port as u16));
            entries.contains(&Some(port)) || nodes.iter().any(|node| node.outputs.contains(&port))
        };
        let ports = (0..spec.ports.len())
            .map(|port| Port {
                entry: entries[port],
                delivers: reaches(port),
                pending: Ring::new(),
                latest: Time::ZERO,
            })
            .collect::<Vec<_>>();
        Self {
            seed,
            now: Time::ZERO,
            schedule: Schedule::new(&ports, &nodes, spec.elements.len()),
            ports,
            nodes,
            shared,
            first_id,
            spec: spec.clone(),
        }
    }

    /// The number of the port called `name`.
    pub fn port(&self, name: &str) -> Option<PortId> {
        self.spec
            .ports
            .iter()
            .position(|port| port.name == name)
            .map(|port| PortId(port as u16))
    }

    /// Whether packets from `port` enter here (in a part of a split network they may enter another part).
    pub fn accepts(&self, port: PortId) -> bool {
        self.ports
            .get(usize::from(port.0))
            .is_some_and(|port| port.entry.is_some())
    }

    /// Whether packets can leave here to `port`.
    pub fn delivers_to(&self, port: PortId) -> bool {
        self.ports
            .get(usize::from(port.0))
            .is_some_and(|port| port.delivers)
    }

    /// The number of the flow `key`, the same at every call; classifiers and fair queues see its addresses.
    pub fn register_flow(&mut self, key: &FlowKey) -> FlowId {
        self.shared.flows.register(key)
    }

    /// A host sent `packet` into `port` at time `at`; returns the packet's number.
    ///
    /// A time before the port's last packet or before [`now`](Self::now) is moved up to it: what was late stays
    /// in order, and the driver accounts the error.
    ///
    /// # Panics
    /// If no packets enter at `port` (see [`accepts`](Self::accepts)), or its flow was not registered here.
    pub fn ingress(&mut self, port: PortId, at: Time, mut packet: Packet) -> PacketId {
        let index = usize::from(port.0);
        let port = &mut self.ports[index];
        assert!(
            port.entry.is_some(),
            "no packets enter at port {index} of this part of the network"
        );
        debug_assert!(
            self.shared.flows.key(packet.flow).is_some(),
            "{:?} was not registered",
            packet.flow
        );
        let at = at.max(port.latest).max(self.now);
        packet.id = self.shared.ingress_id();
        packet.inner = crate::packet::Slot::NONE;
        packet.link = 0;
        packet.class = 0;
        port.latest = at;
        if let Schedule::ByTime(calendar) = &mut self.schedule
            && port.pending.is_empty()
        {
            calendar.set(index, at);
        }
        port.pending.push((at, packet));
        packet.id
    }

    /// When something will next happen inside; `None` while the network is idle.
    pub fn next_event(&self) -> Option<Time> {
        let at = match &self.schedule {
            Schedule::ByTime(calendar) => calendar.peek(),
            Schedule::ByElement { next, .. } => {
                let arrivals = self
                    .ports
                    .iter()
                    .filter_map(|port| port.pending.front())
                    .map(|(at, _)| *at);
                arrivals.chain(next.iter().copied()).min().unwrap_or(Time::MAX)
            }
        };
        (at != Time::MAX).then_some(at)
    }

    /// Lets everything up to and including `to` happen. Going back in time does nothing.
    pub fn advance(&mut self, to: Time) {
        // The end of time itself is "never".
        let to = to.min(Time::from_nanos(u64::MAX - 1));
        match &mut self.schedule {
            Schedule::ByTime(_) => self.advance_by_time(to),
            Schedule::ByElement { order, .. } => {
                let order = std::mem::take(order);
                self.advance_by_element(&order, to);
                if let Schedule::ByElement { order: place, .. } = &mut self.schedule {
                    *place = order;
                }
            }
        }
        self.now = self.now.max(to);
    }

    /// Gives the next outcome, in order of time.
    pub fn poll_outcome(&mut self) -> Option<Outcome> {
        self.shared.outcomes.pop_front()
    }

    /// The time to which the network was advanced.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The specification that this network was built from (the whole one, also in a part).
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// The elements that live here, in order, with their names.
    pub fn element_names(&self) -> impl Iterator<Item = (ElementId, &str)> {
        self.nodes.iter().map(|node| (node.id, self.name(node.id)))
    }

    /// The name of `element`.
    pub fn name(&self, element: ElementId) -> &str {
        &self.spec.elements[usize::from(element.0)].name
    }

    /// What went through `element` up to now; `None` if it lives in another part.
    pub fn counters(&self, element: ElementId) -> Option<Counters> {
        let node = self.nodes.iter().find(|node| node.id == element)?;
        let mut counters = node.counters;
        counters.inside = node.element.inside();
        Some(counters)
    }

    /// Everything that was handed in and has no final outcome yet, in packets.
    pub fn inside(&self) -> u64 {
        let pending: usize = self.ports.iter().map(|port| port.pending.len()).sum();
        pending as u64
            + self
                .nodes
                .iter()
                .map(|node| node.element.inside().packets)
                .sum::<u64>()
    }

    fn advance_by_time(&mut self, to: Time) {
        loop {
            let Schedule::ByTime(calendar) = &mut self.schedule else {
                return;
            };
            let (at, actor) = calendar.earliest();
            if at > to {
                return;
            }
            if let Some(port) = self.ports.get(actor) {
                let next = port.pending.second().map_or(Time::MAX, |(at, _)| *at);
                calendar.set(actor, next);
                self.arrive(actor);
            } else {
                self.release(at, actor - self.ports.len());
            }
        }
    }

    fn advance_by_element(&mut self, order: &[u16], to: Time) {
        let told = self.shared.outcomes.len();
        for port in 0..self.ports.len() {
            while self.ports[port].pending.front().is_some_and(|(at, _)| *at <= to) {
                self.arrive(port);
            }
        }
        for index in order.iter().copied().map(usize::from) {
            loop {
                let Schedule::ByElement { next, .. } = &self.schedule else {
                    return;
                };
                let at = next[index];
                if at > to {
                    break;
                }
                self.release(at, index);
            }
        }
        self.put_in_order(told);
    }

    /// Puts the outcomes from number `told` on in order of time, and within one instant in the order of the flow.
    ///
    /// Deliveries of a single chain are in order by themselves.
    fn put_in_order(&mut self, told: usize) {
        let Schedule::ByElement { rank, chains, .. } = &self.schedule else {
            return;
        };
        if !std::mem::take(&mut self.shared.mixed) && *chains <= 1 {
            return;
        }
        let place = |outcome: &Outcome| {
            let rank = match outcome {
                Outcome::Delivered { port, .. } => u32::from(u16::MAX) + 1 + u32::from(port.0),
                Outcome::Dropped { element, .. }
                | Outcome::Copied { element, .. }
                | Outcome::Split { element, .. }
                | Outcome::Joined { element, .. }
                | Outcome::Edit { element, .. }
                | Outcome::Emit { element, .. }
                | Outcome::Seen { tap: element, .. } => u32::from(rank[usize::from(element.0)]),
            };
            (outcome.at(), rank)
        };
        let outcomes = &mut self.shared.outcomes;
        if outcomes.len() - told > 1 && !outcomes.iter().skip(told).is_sorted_by_key(place) {
            outcomes.make_contiguous()[told..].sort_by_key(place);
        }
    }

    /// Lets the first packet that waits at a port in.
    #[inline]
    fn arrive(&mut self, port: usize) {
        let port = &mut self.ports[port];
        let (at, mut packet) = *port
            .pending
            .front()
            .expect("a port acts only while packets are pending");
        port.pending.pop();
        let wire = port.entry.expect("checked at ingress");
        self.forward(at, wire, &mut packet);
    }

    /// Lets an element do what it has scheduled for `at`.
    #[inline]
    fn release(&mut self, at: Time, index: usize) {
        let mut packet = NO_PACKET;
        let node = &mut self.nodes[index];
        let mut context = Context {
            element: node.id,
            counters: &mut node.counters,
            shared: &mut self.shared,
        };
        let released = node.element.release(at, &mut packet, &mut context);
        let next = node.element.next_event();
        debug_assert!(
            next >= at,
            "{} wants an event in the past",
            self.spec.elements[usize::from(node.id.0)].name
        );
        self.schedule.set(self.ports.len(), index, next);
        let extra = if self.shared.extra.is_empty() {
            None
        } else {
            Some(self.shared.take_extra())
        };
        if let Released::To(output) = released {
            node.counters.delivered.count(packet.ip_len);
            let wire = node.wire(output);
            self.forward(at, wire, &mut packet);
        }
        if let Some(extra) = extra {
            self.forward_all(at, index, extra);
        }
    }

    /// Carries a packet from element to element until one holds it or it leaves.
    fn forward(&mut self, at: Time, mut wire: Wire, packet: &mut Packet) {
        loop {
            let (index, input) = match wire {
                Wire::Node { index, input } => (usize::from(index), input),
                Wire::Port(port) => {
                    self.shared.unwrap(packet);
                    self.shared.outcomes.push_back(Outcome::Delivered {
                        port,
                        at,
                        packet: *packet,
                    });
                    return;
                }
                Wire::Nowhere => unreachable!("parts hold whatever their packets can reach"),
            };
            let node = &mut self.nodes[index];
            if node.reacts
                && let Schedule::ByElement { next, .. } = &self.schedule
                && next[index] < at
            {
                self.catch_up(at, index);
            }
            let node = &mut self.nodes[index];
            node.counters.entered.count(packet.ip_len);
            let mut context = Context {
                element: node.id,
                counters: &mut node.counters,
                shared: &mut self.shared,
            };
            match node.element.accept(at, input, packet, &mut context) {
                Step::Pass(output) => {
                    node.counters.delivered.count(packet.ip_len);
                    wire = node.wire(output);
                    if self.shared.extra.is_empty() {
                        continue;
                    }
                    // The packet in hand goes first, then what was made of it.
                    let extra = self.shared.take_extra();
                    self.forward(at, wire, packet);
                    self.forward_all(at, index, extra);
                    return;
                }
                Step::Hold(next) => self.schedule.set(self.ports.len(), index, next),
                Step::Drop(cause) => context.drop(at, packet, cause),
                Step::Gone => {}
            }
            if !self.shared.extra.is_empty() {
                let extra = self.shared.take_extra();
                self.forward_all(at, index, extra);
            }
            return;
        }
    }

    /// Lets an element do what was due before `at`.
    #[inline(never)]
    fn catch_up(&mut self, at: Time, index: usize) {
        loop {
            let Schedule::ByElement { next, .. } = &self.schedule else {
                return;
            };
            let due = next[index];
            if due >= at {
                return;
            }
            self.release(due, index);
        }
    }

    /// Sends on what the element `index` made besides the packet in hand.
    #[cold]
    #[inline(never)]
    fn forward_all(&mut self, at: Time, index: usize, mut extra: Vec<(u8, Packet)>) {
        for (output, mut packet) in extra.drain(..) {
            let node = &mut self.nodes[index];
            node.counters.delivered.count(packet.ip_len);
            let wire = node.wire(output);
            self.forward(at, wire, &mut packet);
        }
        self.shared.spare.push(extra);
    }
}

impl Schedule {
    /// By element where all is chains that share no port to deliver to, else by time.
    fn new(ports: &[Port], nodes: &[Node], elements: usize) -> Self {
        let by_time = || Self::ByTime(Calendar::new(ports.len() + nodes.len()));
        let entries = ports.iter().filter_map(|port| port.entry);
        let mut reached: Vec<Wire> = entries
            .clone()
            .chain(nodes.iter().map(|node| node.first))
            .collect();
        reached.sort_unstable();
        let shared = reached.windows(2).any(|pair| pair[0] == pair[1]);
        if shared || nodes.iter().any(|node| node.outputs.len() != 1) {
            return by_time();
        }
        let chains = entries.clone().count();
        let mut order: Vec<u16> = Vec::with_capacity(nodes.len());
        let mut rank = vec![0; elements];
        for mut wire in entries {
            while let Wire::Node { index, .. } = wire {
                let node = &nodes[usize::from(index)];
                rank[usize::from(node.id.0)] = order.len() as u16;
                order.push(index);
                wire = node.first;
            }
        }
        Self::ByElement {
            order,
            rank,
            next: vec![Time::MAX; nodes.len()],
            chains,
        }
    }

    #[inline]
    fn set(&mut self, ports: usize, index: usize, time: Time) {
        match self {
            Self::ByTime(calendar) => calendar.set(ports + index, time),
            Self::ByElement { next, .. } => next[index] = time,
        }
    }
}

/// What a place for a packet holds before one is written to it.
const NO_PACKET: Packet = Packet::new(Cargo(0), FlowId(0), 0);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::link::Rate;
    use crate::elements::{Class, Classes, Delay, Duplicate, Fifo, Limit, Link, Loss, Queue, Tap};
    use crate::spec::ElementKind;
    use slowpath_packet::Protocol;
    use slowpath_units::{BitRate, Duration, Layer, Ratio};

    fn chain() -> NetworkSpec {
        let link = |mbit: u32, queue| Link {
            rate: Rate::Fixed(BitRate::new(u64::from(mbit) * 1_000_000)),
            layer: Layer::Ip,
            queue,
        };
        let ratio = |ppb| Ratio::from_ppb(ppb).unwrap();
        let classes = Classes {
            classes: vec![Class::shaped(1, 8, BitRate::new(6_000_000))],
            ..Classes::priority([1], 1, 1)
        };
        let chain = vec![
            (
                "nic",
                ElementKind::Link(link(100, Queue::Fifo(Fifo::new(Limit::None)))),
            ),
            (
                "copy",
                ElementKind::Duplicate(Duplicate {
                    chance: ratio(100_000_000),
                }),
            ),
            ("classes", ElementKind::Link(link(9, Queue::Classes(classes)))),
            ("loss", ElementKind::Loss(Loss::random(ratio(50_000_000)))),
            (
                "delay",
                ElementKind::Delay(Delay::fixed(Duration::from_micros(1234))),
            ),
            (
                "rate",
                ElementKind::Link(link(4, Queue::Fifo(Fifo::new(Limit::Packets(6))))),
            ),
            ("tap", ElementKind::Tap(Tap { record: true })),
        ];
        let chain = chain
            .into_iter()
            .map(|(name, does)| (name.to_owned(), does))
            .collect();
        NetworkSpec::chain("near", "far", chain, vec![])
    }

    fn outcomes(mut network: Network, step: u64) -> Vec<String> {
        let (src, dst) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
        let flow = network.register_flow(&FlowKey::new(Protocol::UDP, src, dst));
        let mut list = Vec::new();
        for number in 0..5000_u64 {
            let at = Time::from_nanos(number * number % 77 * 1000 + number * 1_500_000);
            network.ingress(
                PortId(0),
                at,
                Packet::new(Cargo(number), flow, 300 + (number % 7 * 150) as u32),
            );
            if number % step == 0 {
                network.advance(at);
            }
        }
        network.advance(Time::from_nanos(60_000_000_000));
        while let Some(outcome) = network.poll_outcome() {
            list.push(format!("{:020} {outcome:?}", outcome.at().nanos()));
        }
        assert!(
            list.iter().map(|text| &text[..20]).is_sorted(),
            "outcomes come in order of time"
        );
        list.sort();
        list
    }

    #[test]
    fn acting_by_element_and_by_time_are_the_same() {
        let build = || Network::build(&chain(), 5).unwrap();
        assert!(matches!(build().schedule, Schedule::ByElement { .. }));
        let by_time = || {
            let mut network = build();
            network.schedule = Schedule::ByTime(Calendar::new(network.ports.len() + network.nodes.len()));
            network
        };
        let expected = outcomes(by_time(), 1);
        assert!(expected.len() > 10_000, "{}", expected.len());
        for step in [1, 10, 999] {
            assert!(
                outcomes(build(), step) == expected,
                "by element, {step} arrivals at a time"
            );
            assert!(
                outcomes(by_time(), step) == expected,
                "by time, {step} arrivals at a time"
            );
        }
    }
}

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
use crate::spec::{BuildError, NetworkSpec, Target};

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
/// Everything inside happens at model time: advancing late, early or in pieces gives the same outcomes.
#[derive(Debug)]
pub struct Network {
    spec: NetworkSpec,
    seed: u64,
    now: Time,
    calendar: Calendar,
    ports: Vec<Port>,
    nodes: Vec<Node>,
    shared: Shared,
    first_id: u64,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        let nodes: Vec<Node> = elements
            .iter()
            .map(|&index| {
                let element = &spec.elements[index];
                Node {
                    id: ElementId(index as u16),
                    element: Element::new(
                        &element.does,
                        element.outputs.len(),
                        Dice::new(seed, &element.name),
                    ),
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
        let first_id = number << 48;
        Self {
            seed,
            now: Time::ZERO,
            calendar: Calendar::new(ports.len() + nodes.len()),
            ports,
            nodes,
            shared: Shared::numbered_from(first_id),
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
        if port.pending.is_empty() {
            self.calendar.set(index, at);
        }
        port.pending.push((at, packet));
        packet.id
    }

    /// When something will next happen inside; `None` while the network is idle.
    pub fn next_event(&self) -> Option<Time> {
        let at = self.calendar.peek();
        (at != Time::MAX).then_some(at)
    }

    /// Lets everything up to and including `to` happen. Going back in time does nothing.
    pub fn advance(&mut self, to: Time) {
        loop {
            let (at, actor) = self.calendar.earliest();
            if at > to || at == Time::MAX {
                break;
            }
            self.act(at, actor);
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

    fn act(&mut self, at: Time, actor: usize) {
        let mut packet = NO_PACKET;
        if let Some(port) = self.ports.get_mut(actor) {
            packet = port
                .pending
                .front()
                .expect("a port acts only while packets are pending")
                .1;
            port.pending.pop();
            let next = port.pending.front().map_or(Time::MAX, |(at, _)| *at);
            self.calendar.set(actor, next);
            let wire = self.ports[actor].entry.expect("checked at ingress");
            self.forward(at, wire, &mut packet);
            return;
        }
        let index = actor - self.ports.len();
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
            self.spec.elements[index].name
        );
        self.calendar.set(actor, next);
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
                Step::Hold(next) => self.calendar.set(self.ports.len() + index, next),
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

/// What a place for a packet holds before one is written to it.
const NO_PACKET: Packet = Packet::new(Cargo(0), FlowId(0), 0);

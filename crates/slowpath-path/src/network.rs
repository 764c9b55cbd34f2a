//! The state machine that a driver runs.

mod build;
mod run;

use std::hint::cold_path;

use slowpath_packet::FlowKey;
use slowpath_units::{Duration, Time};

use crate::calendar::Calendar;
use crate::context::Shared;
use crate::counters::Counters;
use crate::element::Element;
use crate::outcome::{ElementId, Outcome, PortId};
use crate::packet::{FlowId, Packet, PacketId};
use crate::parts;
use crate::ring::Ring;
use crate::spec::{BuildError, NetworkSpec};

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
    /// By port and then by element: how long what acts there takes at least until the driver sees it.
    leads: Vec<Duration>,
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
    /// Whether an arrival finds a different state before and after a release that is due, or is timed.
    reacts: bool,
    /// How long packets were in it, where a driver wants to know.
    occupied: Option<Occupied>,
}

/// How long an element had packets in it.
#[derive(Debug, Clone, Copy, Default)]
struct Occupied {
    /// Up to `until`.
    time: Duration,
    until: Time,
}

impl Occupied {
    /// The same up to `at`, when `left` packets have been in it since it was last changed.
    fn up_to(self, at: Time, left: u64) -> Self {
        let time = if left > 0 {
            self.time + at.since(self.until)
        } else {
            self.time
        };
        Self { time, until: at }
    }
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

    /// Its packets are about to change at `at`.
    #[inline]
    fn time_occupied(&mut self, at: Time) {
        if let Some(occupied) = &mut self.occupied {
            cold_path();
            *occupied = occupied.up_to(at, self.counters.packets_left());
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
    #[expect(
        clippy::inline_always,
        reason = "the driver's packet is then put together where it stays"
    )]
    #[inline(always)]
    pub fn ingress(&mut self, port: PortId, at: Time, packet: Packet) -> PacketId {
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
        port.latest = at;
        if let Schedule::ByTime(calendar) = &mut self.schedule
            && port.pending.is_empty()
        {
            calendar.set(index, at);
        }
        let last = port.pending.place(|| (at, packet));
        last.0 = at;
        last.1 = packet;
        last.1.id = self.shared.ingress_id();
        last.1.inner = crate::packet::Slot::NONE;
        last.1.link = 0;
        last.1.class = 0;
        last.1.id
    }

    /// When something will next happen inside; `None` while the network is idle.
    pub fn next_event(&self) -> Option<Time> {
        let at = match &self.schedule {
            Schedule::ByTime(calendar) => calendar.peek(),
            Schedule::ByElement { next, .. } => {
                let mut least = Time::MAX;
                for port in &self.ports {
                    if let Some((at, _)) = port.pending.front() {
                        least = least.min(*at);
                    }
                }
                (next.iter()).fold(least, |least, at| least.min(*at))
            }
        };
        (at != Time::MAX).then_some(at)
    }

    /// A time before which no packet is delivered and no recording tap sees one; `None` while the network is idle.
    ///
    /// Never before [`next_event`](Self::next_event). A driver that looks at nothing else may sleep until then, or until
    /// it has input: fewer and larger steps are cheaper, and the outcomes are the same.
    pub fn next_sighting(&self) -> Option<Time> {
        let at = match &self.schedule {
            Schedule::ByTime(calendar) => calendar.peek_after(&self.leads),
            Schedule::ByElement { next, .. } => {
                let (ports, elements) = self.leads.split_at(self.ports.len());
                let mut least = Time::MAX;
                for (port, lead) in self.ports.iter().zip(ports) {
                    if let Some((at, _)) = port.pending.front() {
                        least = least.min(*at + *lead);
                    }
                }
                // What never acts stays there: times do not go beyond the end of time.
                (next.iter().zip(elements)).fold(least, |least, (at, lead)| least.min(*at + *lead))
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
        let first = self.shared.outcomes.first().copied()?;
        self.shared.outcomes.forget_first();
        Some(first)
    }

    /// As [`poll_outcome`](Self::poll_outcome), if the next outcome is a delivery; the packet is written to `into`, so that it moves once.
    #[inline]
    pub fn poll_delivery(&mut self, into: &mut Packet) -> Option<(PortId, Time)> {
        let Some(Outcome::Delivered { port, at, packet }) = self.shared.outcomes.first() else {
            return None;
        };
        let delivery = (*port, *at);
        *into = *packet;
        self.shared.outcomes.forget_first();
        Some(delivery)
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
        let node = self.node(element)?;
        let mut counters = node.counters;
        counters.inside = node.element.inside();
        Some(counters)
    }

    /// As [`counters`](Self::counters), with nothing for what is inside, for which a queue has to be walked: for drivers that look
    /// at every step.
    pub fn passed(&self, element: ElementId) -> Option<&Counters> {
        Some(&self.node(element)?.counters)
    }

    /// From now on [`occupied`](Self::occupied) is known of `element`.
    pub fn time_occupied(&mut self, element: ElementId) {
        let until = self.now;
        if let Some(node) = self.nodes.iter_mut().find(|node| node.id == element) {
            node.occupied = Some(Occupied {
                until,
                ..Occupied::default()
            });
            // Arrivals and releases must come in order of time.
            node.reacts = true;
        }
    }

    /// For how long `element` had packets in it up to now; `None` unless [`time_occupied`](Self::time_occupied) was called.
    pub fn occupied(&self, element: ElementId) -> Option<Duration> {
        let node = self.node(element)?;
        let occupied = node.occupied?.up_to(self.now, node.counters.packets_left());
        Some(occupied.time)
    }

    fn node(&self, element: ElementId) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == element)
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
}

#[cfg(test)]
mod tests;

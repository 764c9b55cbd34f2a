//! What happens between input and output: ports and elements act, packets travel.

use slowpath_units::Time;

use super::{Network, Schedule, Wire};
use crate::context::{Context, Released, Step};
use crate::outcome::Outcome;
use crate::packet::{Cargo, FlowId, Packet};

impl Network {
    #[inline(never)]
    pub(super) fn advance_by_time(&mut self, to: Time) {
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

    pub(super) fn advance_by_element(&mut self, order: &[u16], to: Time) {
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
    #[inline]
    pub(super) fn put_in_order(&mut self, told: usize) {
        let one_chain = matches!(&self.schedule, Schedule::ByElement { chains, .. } if *chains <= 1);
        if std::mem::take(&mut self.shared.mixed) || !one_chain {
            self.sort_outcomes(told);
        }
    }

    #[inline(never)]
    fn sort_outcomes(&mut self, told: usize) {
        let Schedule::ByElement { rank, .. } = &self.schedule else {
            return;
        };
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
        let outcomes = self.shared.outcomes.since(told);
        if outcomes.len() > 1 && !outcomes.is_sorted_by_key(place) {
            outcomes.sort_by_key(place);
        }
    }

    /// Lets the first packet that waits at a port in.
    #[inline]
    fn arrive(&mut self, port: usize) {
        let port = &mut self.ports[port];
        let first = port
            .pending
            .front()
            .expect("a port acts only while packets are pending");
        let at = first.0;
        let mut packet = first.1;
        port.pending.pop();
        let wire = port.entry.expect("checked at ingress");
        self.forward(at, wire, &mut packet);
    }

    /// Lets an element do what it has scheduled for `at`.
    #[inline]
    fn release(&mut self, at: Time, index: usize) {
        let mut packet = NO_PACKET;
        let node = &mut self.nodes[index];
        node.time_occupied(at);
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
                    self.shared.outcomes.deliver(port, at, packet);
                    return;
                }
                Wire::Nowhere => unreachable!("parts hold whatever their packets can reach"),
            };
            let node = &mut self.nodes[index];
            if node.reacts {
                if let Schedule::ByElement { next, .. } = &self.schedule
                    && next[index] < at
                {
                    self.catch_up(at, index);
                }
                self.nodes[index].time_occupied(at);
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

/// What a place for a packet holds before one is written to it.
const NO_PACKET: Packet = Packet::new(Cargo::new(0), FlowId(0), 0);

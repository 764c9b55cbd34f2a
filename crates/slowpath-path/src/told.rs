//! Outcomes that the driver has not yet taken.

use slowpath_units::Time;

use crate::outcome::{Outcome, PortId};
use crate::packet::{Cargo, FlowId, Packet};

/// Outcomes in the order in which they were told, written once where they stay until they are taken.
///
/// Drivers take all there are after each step; then the room is used again.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Those up to `taken` and from `end` on mean nothing.
    items: Vec<Outcome>,
    taken: usize,
    end: usize,
}

impl Told {
    pub(crate) fn tell(&mut self, outcome: Outcome) {
        *self.place() = outcome;
    }

    /// Tells of a delivery.
    #[inline]
    pub(crate) fn deliver(&mut self, port: PortId, at: Time, packet: &Packet) {
        *self.place() = Outcome::Delivered {
            port,
            at,
            packet: *packet,
        };
    }

    #[inline]
    fn place(&mut self) -> &mut Outcome {
        if self.end == self.items.len() {
            self.grow();
        }
        let place = &mut self.items[self.end];
        self.end += 1;
        place
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.items.push(Outcome::Delivered {
            port: PortId(0),
            at: Time::ZERO,
            packet: Packet::new(Cargo::new(0), FlowId(0), 0),
        });
    }

    /// How many there are to be taken.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.end - self.taken
    }

    /// Those told after the first `told` of those that are to be taken.
    pub(crate) fn since(&mut self, told: usize) -> &mut [Outcome] {
        &mut self.items[self.taken + told..self.end]
    }

    /// The first one.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Outcome> {
        if self.taken == self.end {
            None
        } else {
            Some(&self.items[self.taken])
        }
    }

    /// Takes the first one away.
    #[inline]
    pub(crate) const fn forget_first(&mut self) {
        debug_assert!(self.taken < self.end);
        self.taken += 1;
        if self.taken == self.end {
            self.taken = 0;
            self.end = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_it_was_told_in_order() {
        let outcome = |number| Outcome::Delivered {
            port: PortId(0),
            at: Time::from_nanos(number),
            packet: Packet::new(Cargo::new(number), FlowId(0), 100),
        };
        let (mut told, mut next, mut taken) = (Told::default(), 0, 0);
        for round in 0..50_u64 {
            for _ in 0..round % 7 {
                told.tell(outcome(next));
                next += 1;
            }
            // Sometimes all, sometimes not.
            for _ in 0..if round % 3 == 0 { 7 } else { 2 } {
                let Some(first) = told.first().copied() else { break };
                assert_eq!(first, outcome(taken));
                told.forget_first();
                taken += 1;
            }
            assert_eq!(told.len() as u64, next - taken);
            assert_eq!(told.since(told.len()), []);
        }
        assert!(taken > 50, "{taken}");
    }
}

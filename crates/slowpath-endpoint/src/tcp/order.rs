//! In which order segments were sent that are neither held by the receiver nor lost, once that is no longer their own order.

use std::collections::VecDeque;

/// Segments threaded by time of sending.
///
/// It is needed only from the first loss or SACK on until everything that was sent by then is acknowledged: otherwise each segment was sent
/// after the one before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    /// One for each segment in flight, in sequence order.
    links: VecDeque<Link>,
    /// Number of the first segment.
    first: u32,
    oldest: Option<u32>,
    newest: Option<u32>,
    /// From this number on segments are all here, in the order of their numbers.
    plain_from: u32,
}

/// The neighbours of a segment; at an end of the order, itself.
#[derive(Debug, Clone, Copy)]
struct Link {
    older: u32,
    newer: u32,
    listed: bool,
}

impl Order {
    /// Becomes that of `len` segments from number `first` on, each sent after the one before it.
    pub(crate) fn begin(&mut self, first: u32, len: u32) {
        self.links.clear();
        self.links.reserve(len as usize + 1);
        (self.first, self.plain_from) = (first, first);
        (self.oldest, self.newest) = (None, None);
        for _ in 0..len {
            self.push();
        }
    }

    /// The next segment was sent.
    pub(crate) fn push(&mut self) {
        let number = self.end();
        self.links.push_back(Link {
            older: number,
            newer: number,
            listed: false,
        });
        self.link(number);
    }

    /// The first segment was acknowledged; true if the order of what is left is that of the numbers.
    pub(crate) fn pop(&mut self) -> bool {
        self.unlink(self.first);
        self.links.pop_front();
        let plain = self.first == self.plain_from;
        self.first = self.first.wrapping_add(1);
        self.plain_from = if plain { self.first } else { self.plain_from };
        self.first == self.plain_from
    }

    /// The segment was sent again, or is in flight after all: from now on it is the newest.
    pub(crate) fn renew(&mut self, number: u32) {
        self.remove(number);
        self.link(number);
    }

    /// The segment is held or lost.
    pub(crate) fn remove(&mut self, number: u32) {
        self.plain_from = self.end();
        self.unlink(number);
    }

    /// The segment that is in flight after all is the newest, unless it was in the order already.
    pub(crate) fn restore(&mut self, number: u32) {
        if !self.link_of(number).listed {
            self.renew(number);
        }
    }

    /// The segment sent longest ago.
    pub(crate) const fn oldest(&self) -> Option<u32> {
        self.oldest
    }

    /// The one sent next after `number`.
    pub(crate) fn after(&self, number: u32) -> Option<u32> {
        let newer = self.links[self.position(number)].newer;
        (newer != number).then_some(newer)
    }

    fn end(&self) -> u32 {
        self.first.wrapping_add(self.links.len() as u32)
    }

    fn position(&self, number: u32) -> usize {
        number.wrapping_sub(self.first) as usize
    }

    fn link_of(&mut self, number: u32) -> &mut Link {
        let position = self.position(number);
        &mut self.links[position]
    }

    fn link(&mut self, number: u32) {
        let newest = self.newest;
        *self.link_of(number) = Link {
            older: newest.unwrap_or(number),
            newer: number,
            listed: true,
        };
        match newest {
            Some(previous) => self.link_of(previous).newer = number,
            None => self.oldest = Some(number),
        }
        self.newest = Some(number);
    }

    fn unlink(&mut self, number: u32) {
        let link = self.link_of(number);
        if !link.listed {
            return;
        }
        link.listed = false;
        let Link { older, newer, .. } = *link;
        let (oldest, newest) = (older == number, newer == number);
        if oldest {
            self.oldest = (!newest).then_some(newer);
        } else {
            self.link_of(older).newer = if newest { older } else { newer };
        }
        if newest {
            self.newest = (!oldest).then_some(older);
        } else {
            self.link_of(newer).older = if oldest { newer } else { older };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(order: &Order) -> Vec<u32> {
        std::iter::successors(order.oldest(), |number| order.after(*number)).collect()
    }

    #[test]
    fn segments_come_in_the_order_in_which_they_were_sent_across_the_end_of_numbers() {
        let first = u32::MAX - 2;
        let mut order = Order::default();
        order.begin(first, 5);
        assert_eq!(listed(&order), [first, first + 1, u32::MAX, 0, 1]);
        order.remove(u32::MAX);
        order.renew(first);
        order.push();
        assert_eq!(listed(&order), [first + 1, 0, 1, first, 2]);
        order.restore(0);
        order.restore(u32::MAX);
        assert_eq!(listed(&order), [first + 1, 0, 1, first, 2, u32::MAX]);
        order.remove(u32::MAX);
        order.remove(first + 1);
        assert_eq!(listed(&order), [0, 1, first, 2]);
        // What is sent from here on is in order when all the others are acknowledged.
        order.push();
        let plain: Vec<bool> = (0..6).map(|_| order.pop()).collect();
        assert_eq!(plain, [false, false, false, false, false, true]);
        assert_eq!(listed(&order), [3]);
    }
}

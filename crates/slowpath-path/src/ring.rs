//! A first-in-first-out ring that copies each item once in and once out.

use std::iter::Chain;
use std::slice::Iter;

/// Like a `VecDeque` of plain items, but `front` and `pop` are apart, so that nothing large travels in an `Option`.
///
/// That matters: such a move writes and reads the item in pieces of different size, which stalls the processor for
/// longer than all the rest of handling a packet takes.
#[derive(Debug, Clone)]
pub(crate) struct Ring<T> {
    items: Vec<T>,
    head: usize,
    len: usize,
}

impl<T: Copy> Ring<T> {
    pub(crate) const fn new() -> Self {
        Self {
            items: Vec::new(),
            head: 0,
            len: 0,
        }
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.len == 0 {
            None
        } else {
            Some(&self.items[self.head])
        }
    }

    /// The item behind the front one.
    #[inline]
    pub(crate) fn second(&self) -> Option<&T> {
        if self.len < 2 {
            None
        } else {
            Some(&self.items[(self.head + 1) & (self.items.len() - 1)])
        }
    }

    /// Forgets the front item.
    #[inline]
    pub(crate) fn pop(&mut self) {
        debug_assert!(self.len > 0);
        self.head = (self.head + 1) & (self.items.len() - 1);
        self.len -= 1;
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        *self.place(|| item) = item;
    }

    /// A new last item to be written where it stays; until then it is `filler` or what was there before.
    ///
    /// An item put together elsewhere and moved here is written and read in pieces of different size, as above.
    #[inline]
    pub(crate) fn place(&mut self, filler: impl FnOnce() -> T) -> &mut T {
        if self.len == self.items.len() {
            self.grow(filler());
        }
        let place = (self.head + self.len) & (self.items.len() - 1);
        self.len += 1;
        &mut self.items[place]
    }

    pub(crate) fn iter(&self) -> Chain<Iter<'_, T>, Iter<'_, T>> {
        let end = self.head + self.len;
        if end <= self.items.len() {
            self.items[self.head..end].iter().chain([].iter())
        } else {
            self.items[self.head..]
                .iter()
                .chain(self.items[..end - self.items.len()].iter())
        }
    }

    /// Doubles the room; `filler` is what empty places hold.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let mut larger = Vec::with_capacity((2 * self.len).max(16));
        larger.extend(self.iter().copied());
        larger.resize(larger.capacity().next_power_of_two(), filler);
        self.items = larger;
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn behaves_as_a_queue() {
        let (mut ring, mut plain, mut state) = (Ring::new(), VecDeque::new(), 1_u32);
        for number in 0..5000_u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Grows to some hundred items, then shrinks to none, several times.
            if (state >> 24) % 100 < if number % 1000 < 600 { 70 } else { 10 } {
                ring.push(number);
                plain.push_back(number);
            } else if ring.front().is_some() {
                ring.pop();
                plain.pop_front();
            }
            assert_eq!((ring.len(), ring.front()), (plain.len(), plain.front()));
            if number % 97 == 0 {
                assert!(ring.iter().eq(plain.iter()));
            }
        }
        assert_eq!(ring.is_empty(), plain.is_empty());
    }
}

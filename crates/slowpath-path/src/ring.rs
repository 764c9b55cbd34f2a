//! A first-in-first-out ring that copies each item once in and once out.

use std::iter::Chain;
use std::slice::Iter;

use prefetch_index::prefetch_index;

/// Like a `VecDeque` of plain items, but `front` and `pop` are apart, so that nothing large travels in an `Option`.
///
/// That matters: such a move writes and reads the item in pieces of different size, which stalls the processor for
/// longer than all the rest of handling a packet takes. Memory matters as well: room grows where it lies and is touched only when
/// an item needs it, because touching memory for the first time costs more than handling the packet in it. A queue that fits into no cache
/// has its next items fetched while the ones before them are handled.
#[derive(Debug, Clone)]
pub(crate) struct Ring<T> {
    /// Those of the places that were ever needed.
    items: Vec<T>,
    /// Places are a power of two; this is one less.
    mask: usize,
    head: usize,
    len: usize,
}

impl<T: Copy> Ring<T> {
    pub(crate) const fn new() -> Self {
        Self {
            items: Vec::new(),
            mask: SMALLEST - 1,
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
            Some(&self.items[(self.head + 1) & self.mask])
        }
    }

    /// Forgets the front item.
    #[inline]
    pub(crate) fn pop(&mut self) {
        debug_assert!(self.len > 0);
        self.head = (self.head + 1) & self.mask;
        self.len -= 1;
        prefetch_index(&self.items, self.head + AHEAD);
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
        let mut place = (self.head + self.len) & self.mask;
        if self.len > self.mask || place >= self.items.len() {
            self.grow(filler());
            place = (self.head + self.len) & self.mask;
        }
        self.len += 1;
        prefetch_index(&self.items, place + AHEAD);
        &mut self.items[place]
    }

    pub(crate) fn iter(&self) -> Chain<Iter<'_, T>, Iter<'_, T>> {
        let (end, places) = (self.head + self.len, self.mask + 1);
        if end <= places {
            self.items[self.head..end].iter().chain([].iter())
        } else {
            self.items[self.head..]
                .iter()
                .chain(self.items[..end - places].iter())
        }
    }

    /// Makes the next place usable, and places twice as many if all are taken; `filler` is what new ones hold.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        if self.len > self.mask {
            // Items at the first places go on behind the last one.
            self.items.extend_from_within(..self.head);
            self.mask = 2 * self.mask + 1;
        }
        let more = (self.items.len() / 16).max(SMALLEST);
        let places = (self.items.len() + more).min(self.mask + 1);
        self.items.resize(places, filler);
    }
}

/// Places of a ring at first, a power of two.
const SMALLEST: usize = 16;

/// How many items ahead memory is fetched: three to thirty-two are within two hundredths of each other.
const AHEAD: usize = 6;

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

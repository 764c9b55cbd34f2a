//! A row of plain items that grows at one end and shrinks at the other.

use prefetch_index::prefetch_index;

/// Like a `VecDeque` of plain items that touches memory only when an item needs it, and begins with room for a first window.
///
/// With thousands of connections that matters: what each of them touches for the first time costs the kernel's help, and what has to be
/// copied to grow no longer lies in a cache.
#[derive(Debug, Clone)]
pub(crate) struct Ring<T> {
    /// Those of the places that were ever needed.
    items: Vec<T>,
    /// Places are a power of two; this is one less.
    mask: usize,
    head: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            mask: 0,
            head: 0,
            len: 0,
        }
    }
}

impl<T: Copy> Ring<T> {
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

    #[inline]
    pub(crate) fn front_mut(&mut self) -> Option<&mut T> {
        if self.len == 0 {
            None
        } else {
            Some(&mut self.items[self.head])
        }
    }

    /// Fetches what is about to be used at either end into the cache.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_index(&self.items, self.head);
        prefetch_index(&self.items, self.head + 2);
        prefetch_index(&self.items, (self.head + self.len) & self.mask);
    }

    /// The item at `position`, counted from the front, if there is one.
    #[inline]
    pub(crate) fn get(&self, position: usize) -> Option<&T> {
        (position < self.len).then(|| &self[position])
    }

    /// Forgets the front item.
    #[inline]
    pub(crate) fn pop(&mut self) {
        debug_assert!(self.len > 0);
        self.head = (self.head + 1) & self.mask;
        self.len -= 1;
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        let place = (self.head + self.len) & self.mask;
        if self.len <= self.mask && place < self.items.len() {
            self.items[place] = item;
            self.len += 1;
        } else {
            self.push_new(item);
        }
    }

    /// How many items at the front `holds` is true of, if it is of none behind the first that it is false of.
    pub(crate) fn partition_point(&self, holds: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = usize::midpoint(low, high);
            if holds(&self[middle]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Puts an item at a place that was never needed before, which is the next one in memory.
    #[cold]
    #[inline(never)]
    fn push_new(&mut self, item: T) {
        if self.items.is_empty() {
            self.mask = SMALLEST - 1;
            self.items.reserve_exact(SMALLEST);
        } else if self.len > self.mask {
            let places = 2 * (self.mask + 1);
            self.items.reserve_exact(places - self.items.len());
            // Items at the first places go on behind the last one.
            self.items.extend_from_within(..self.head);
            self.mask = places - 1;
        }
        self.items.push(item);
        self.len += 1;
    }
}

impl<T: Copy> std::ops::Index<usize> for Ring<T> {
    type Output = T;

    /// The item at `position`, counted from the front, where there must be one.
    #[inline]
    fn index(&self, position: usize) -> &T {
        debug_assert!(position < self.len);
        &self.items[(self.head + position) & self.mask]
    }
}

impl<T: Copy> std::ops::IndexMut<usize> for Ring<T> {
    #[inline]
    fn index_mut(&mut self, position: usize) -> &mut T {
        debug_assert!(position < self.len);
        &mut self.items[(self.head + position) & self.mask]
    }
}

/// Places at first, a power of two: a first window of ten segments.
const SMALLEST: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn behaves_as_a_queue() {
        let (mut ring, mut plain, mut state) = (Ring::default(), VecDeque::new(), 1_u32);
        for number in 0..5000_u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Grows to some hundred items, then shrinks to none, several times.
            if (state >> 24) % 100 < if number % 1000 < 600 { 70 } else { 10 } {
                ring.push(number);
                plain.push_back(number);
            } else if let Some(front) = ring.front_mut() {
                assert_eq!(Some(&*front), plain.front());
                ring.pop();
                plain.pop_front();
            }
            assert_eq!((ring.len(), ring.front()), (plain.len(), plain.front()));
            let middle = plain.len() / 2;
            assert_eq!(ring.get(middle), plain.get(middle));
            assert_eq!(ring.get(plain.len()), None);
            if number % 97 == 0 {
                assert!(
                    (0..ring.len())
                        .map(|position| ring[position])
                        .eq(plain.iter().copied())
                );
                let bound = number.saturating_sub(40);
                let below = plain.partition_point(|item| *item < bound);
                assert_eq!(ring.partition_point(|item| *item < bound), below);
            }
        }
        assert_eq!(ring.is_empty(), plain.is_empty());
    }
}

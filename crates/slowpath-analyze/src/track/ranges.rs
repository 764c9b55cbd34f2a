//! A small ordered set of byte ranges.

/// Disjoint, non-touching ranges `[from, to)` in ascending order.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ranges {
    list: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds a range and calls `fresh` for each part that was not covered before.
    pub(crate) fn insert(&mut self, from: u64, to: u64, mut fresh: impl FnMut(u64, u64)) {
        if from >= to {
            return;
        }
        let first = self.list.partition_point(|&(_, end)| end < from);
        let mut last = first;
        let (mut low, mut high, mut at) = (from, to, from);
        while let Some(&(start, end)) = self.list.get(last) {
            if start > to {
                break;
            }
            if at < start {
                fresh(at, start.min(to));
            }
            at = at.max(end);
            low = low.min(start);
            high = high.max(end);
            last += 1;
        }
        if at < to {
            fresh(at, to);
        }
        if last == first + 1 {
            self.list[first] = (low, high);
        } else {
            self.list.splice(first..last, [(low, high)]);
        }
    }

    /// Removes a range and calls `removed` for each part that was covered.
    pub(crate) fn remove(&mut self, from: u64, to: u64, mut removed: impl FnMut(u64, u64)) {
        let first = self.list.partition_point(|&(_, end)| end <= from);
        let mut index = first;
        while let Some(&(start, end)) = self.list.get(index) {
            if start >= to {
                break;
            }
            removed(start.max(from), end.min(to));
            let (left, right) = ((start, from), (to, end));
            match (left.0 < left.1, right.0 < right.1) {
                (false, false) => {
                    self.list.remove(index);
                    continue;
                }
                (true, false) => self.list[index] = left,
                (false, true) => self.list[index] = right,
                (true, true) => {
                    self.list[index] = left;
                    self.list.insert(index + 1, right);
                    index += 1;
                }
            }
            index += 1;
        }
    }

    /// Forgets everything below `to`.
    pub(crate) fn forget_below(&mut self, to: u64) {
        let done = self.list.partition_point(|&(_, end)| end <= to);
        if done > 0 {
            self.list.drain(..done);
        }
        if let Some(first) = self.list.first_mut() {
            first.0 = first.0.max(to);
        }
    }

    /// Sum of the lengths.
    pub(crate) fn total(&self) -> u64 {
        self.list.iter().map(|(from, to)| to - from).sum()
    }

    /// Number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether no byte is covered.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// End of the highest range.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.list.last().map(|&(_, end)| end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_like_a_set_of_bytes(steps in prop::collection::vec((any::<bool>(), 0_u64..64, 0_u64..16), 0..40)) {
            let mut ranges = Ranges::default();
            let mut model = [false; 96];
            for (insert, from, len) in steps {
                let to = from + len;
                let mut touched = Vec::new();
                if insert {
                    ranges.insert(from, to, |a, b| touched.extend(a..b));
                } else {
                    ranges.remove(from, to, |a, b| touched.extend(a..b));
                }
                let expected: Vec<u64> = (from..to).filter(|&byte| model[byte as usize] != insert).collect();
                prop_assert_eq!(touched, expected);
                (from..to).for_each(|byte| model[byte as usize] = insert);
                prop_assert_eq!(ranges.total(), model.iter().filter(|&&set| set).count() as u64);
                prop_assert!(ranges.list.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }
}

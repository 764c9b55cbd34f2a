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

    /// Number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether no byte is covered.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
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
                if insert {
                    let mut fresh = Vec::new();
                    ranges.insert(from, to, |a, b| fresh.extend(a..b));
                    let expected: Vec<u64> = (from..to).filter(|&byte| !model[byte as usize]).collect();
                    prop_assert_eq!(fresh, expected);
                    (from..to).for_each(|byte| model[byte as usize] = true);
                } else {
                    ranges.forget_below(from);
                    (0..from).for_each(|byte| model[byte as usize] = false);
                }
                let total: u64 = ranges.list.iter().map(|(from, to)| to - from).sum();
                prop_assert_eq!(total, model.iter().filter(|&&set| set).count() as u64);
                prop_assert!(ranges.list.windows(2).all(|pair| pair[0].1 < pair[1].0));
                prop_assert_eq!(ranges.is_empty(), total == 0);
            }
        }
    }
}

//! Which port or element acts next.

use slowpath_units::{Duration, Time};

/// The earliest of a fixed number of times; among equal times the lowest index wins.
///
/// Each time is packed with its index into one number, so that one comparison decides both. Numbers are kept in
/// groups with the least of each group beside them, brought up to date when it is asked for: with the few dozen
/// elements of a real path that is a handful of instructions without branches, which a heap or a tournament is not.
#[derive(Debug, Clone)]
pub(crate) struct Calendar {
    keys: Vec<[u64; GROUP]>,
    least: Vec<u64>,
    /// The groups whose least is out of date, as long as there are not more than two.
    stale: [usize; 2],
    index_bits: u32,
}

impl Calendar {
    pub(crate) fn new(entries: usize) -> Self {
        let groups = entries.div_ceil(GROUP).max(1);
        let index_bits = (groups * GROUP).next_power_of_two().trailing_zeros();
        Self {
            keys: vec![[NEVER; GROUP]; groups],
            least: vec![NEVER; groups],
            stale: [0; 2],
            index_bits,
        }
    }

    /// The next to act and when; `Time::MAX` means nobody.
    #[inline]
    pub(crate) fn earliest(&mut self) -> (Time, usize) {
        self.refresh(0);
        if self.stale[1] != self.stale[0] {
            self.refresh(1);
        }
        let key = self.least.iter().copied().fold(NEVER, u64::min);
        if key == NEVER {
            return (Time::MAX, 0);
        }
        let index = key & ((1 << self.index_bits) - 1);
        (Time::from_nanos(key >> self.index_bits), index as usize)
    }

    /// The same without bringing anything up to date.
    pub(crate) fn peek(&self) -> Time {
        let key = self.keys.iter().map(least).fold(NEVER, u64::min);
        if key == NEVER {
            Time::MAX
        } else {
            Time::from_nanos(key >> self.index_bits)
        }
    }

    /// The earliest of all times, each put off by what `leads` says of its entry.
    pub(crate) fn peek_after(&self, leads: &[Duration]) -> Time {
        let entries = self.keys.as_flattened().iter().zip(leads);
        let times = entries
            .filter(|(key, _)| **key != NEVER)
            .map(|(key, lead)| Time::from_nanos(key >> self.index_bits) + *lead);
        times.min().unwrap_or(Time::MAX)
    }

    /// Sets when `entry` acts next. Times beyond 2^(64 - index bits) nanoseconds (years for a real path) are never.
    #[inline]
    pub(crate) fn set(&mut self, entry: usize, time: Time) {
        let fits = time.nanos() < NEVER >> self.index_bits;
        let key = if fits {
            time.nanos() << self.index_bits | entry as u64
        } else {
            NEVER
        };
        let group = entry / GROUP;
        let place = &mut self.keys[group][entry % GROUP];
        if *place == key {
            return;
        }
        *place = key;
        if group != self.stale[0] && group != self.stale[1] {
            self.refresh(1);
            self.stale[1] = self.stale[0];
            self.stale[0] = group;
        }
    }

    #[inline]
    fn refresh(&mut self, which: usize) {
        let group = self.stale[which];
        self.least[group] = least(&self.keys[group]);
    }
}

/// The least of a group, compared in pairs so that the processor can work on several at once.
#[inline]
fn least(group: &[u64; GROUP]) -> u64 {
    let pair = |at: usize| group[at].min(group[at + 1]);
    pair(0).min(pair(2)).min(pair(4).min(pair(6)))
}

const GROUP: usize = 8;
const NEVER: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_earliest_and_breaks_ties_by_index() {
        for entries in [1, 2, 3, 7, 8, 9, 40] {
            let mut calendar = Calendar::new(entries);
            let mut plain = vec![Time::MAX; entries];
            assert_eq!(calendar.earliest().0, Time::MAX);
            let mut state = 1_u64;
            for _ in 0..500 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let (entry, time) = ((state >> 33) as usize % entries, Time::from_nanos(state >> 60));
                plain[entry] = time;
                calendar.set(entry, time);
                let best = plain
                    .iter()
                    .enumerate()
                    .min_by_key(|(index, time)| (**time, *index))
                    .unwrap();
                assert_eq!(calendar.earliest(), (*best.1, best.0));
            }
        }
    }
}

//! Which port or element acts next: a tournament over their next event times.

use slowpath_units::Time;

/// The earliest of a fixed number of times; among equal times the lowest index wins.
#[derive(Debug, Clone)]
pub(crate) struct Calendar {
    times: Vec<Time>,
    winners: Vec<u32>,
}

impl Calendar {
    pub(crate) fn new(entries: usize) -> Self {
        let leaves = entries.next_power_of_two().max(2);
        let mut calendar = Self {
            times: vec![Time::MAX; leaves],
            winners: vec![0; leaves],
        };
        for node in (1..leaves).rev() {
            calendar.decide(node);
        }
        calendar
    }

    /// The next to act and when; `Time::MAX` means nobody.
    pub(crate) fn earliest(&self) -> (Time, usize) {
        let winner = self.winners[1] as usize;
        (self.times[winner], winner)
    }

    pub(crate) fn set(&mut self, entry: usize, time: Time) {
        if self.times[entry] == time {
            return;
        }
        self.times[entry] = time;
        let mut node = (self.times.len() + entry) / 2;
        while node > 0 {
            self.decide(node);
            node /= 2;
        }
    }

    fn decide(&mut self, node: usize) {
        let leaves = self.times.len();
        let champion = |child: usize| {
            if child < leaves {
                self.winners[child]
            } else {
                (child - leaves) as u32
            }
        };
        let (left, right) = (champion(2 * node), champion(2 * node + 1));
        let right_wins = self.times[right as usize] < self.times[left as usize];
        self.winners[node] = if right_wins { right } else { left };
    }
}

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

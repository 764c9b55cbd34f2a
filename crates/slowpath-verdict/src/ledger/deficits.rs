//! Which event made the congestion window small, and what regrowth has paid back of it.
//!
//! An event opens a deficit: the flight that the path could hold less the flight that is left. Growth pays the newest
//! deficit first. What a small window costs is split by the deficits that are open.
//!
//! An event that leaves a share of the window would have left that share of any larger one: older deficits are smaller by
//! it, and the event owes the rest. So what happened long ago does not owe for ever for what comes again and again.

/// Open deficits, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Deficits {
    open: Vec<(Debtor, f64)>,
}

/// What a deficit came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Debtor {
    /// The beginning of the transfer.
    Start,
    /// Slow start ended without an event.
    EarlyExit,
    /// The event with this number.
    Event(usize),
}

impl Deficits {
    /// The deficit with which a transfer begins.
    pub(super) fn at_the_start(bytes: f64) -> Self {
        Self {
            open: vec![(Debtor::Start, bytes)],
        }
    }

    /// All that is open, bytes.
    pub(super) fn total(&self) -> f64 {
        self.open.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Whether the transfer still is in its first slow start.
    pub(super) fn starting(&self) -> bool {
        self.open.iter().any(|(debtor, _)| *debtor == Debtor::Start)
    }

    /// Opens a deficit of `bytes` on top.
    pub(super) fn open(&mut self, debtor: Debtor, bytes: f64) {
        if bytes <= 0.0 {
            return;
        }
        match self.open.last_mut() {
            Some((last, sum)) if *last == debtor => *sum += bytes,
            _ => self.open.push((debtor, bytes)),
        }
    }

    /// Something leaves this share of the window, so that `bytes` are missing in all: older deficits shrink to that share, and
    /// the debtor owes the rest.
    pub(super) fn cut(&mut self, debtor: Debtor, share: f64, bytes: f64) {
        for (_, owed) in &mut self.open {
            *owed *= share;
        }
        self.open(debtor, bytes - self.total());
    }

    /// What the start still owes, `debtor` owes from now on: it ended slow start.
    pub(super) fn end_start(&mut self, debtor: Debtor) {
        for (who, _) in &mut self.open {
            if *who == Debtor::Start {
                *who = debtor;
            }
        }
    }

    /// Pays back `bytes`, the newest deficit first.
    pub(super) fn pay(&mut self, mut bytes: f64) {
        while bytes > 0.0
            && let Some((_, owed)) = self.open.last_mut()
        {
            if *owed > bytes {
                *owed -= bytes;
                return;
            }
            bytes -= *owed;
            self.open.pop();
        }
    }

    /// Who owes which share of all; nothing if nothing is open. Where all that is open comes to nothing (a path that holds
    /// no more than the initial window), everybody owes the same: the shares are one together, whatever they split.
    pub(super) fn shares(&self) -> impl Iterator<Item = (Debtor, f64)> + '_ {
        let (total, count) = (self.total(), self.open.len() as f64);
        self.open.iter().map(move |(debtor, bytes)| {
            let share = if total > 0.0 { bytes / total } else { 1.0 / count };
            (*debtor, share)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_one_together_even_of_nothing() {
        for bytes in [0.0, 1.0, 1e6] {
            let mut deficits = Deficits::at_the_start(bytes);
            deficits.open(Debtor::Event(1), 3.0 * bytes);
            let sum: f64 = deficits.shares().map(|(_, share)| share).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{bytes}: {sum}");
        }
    }

    #[test]
    fn growth_pays_the_newest_deficit_first() {
        let mut open = Deficits::at_the_start(100.0);
        open.pay(60.0);
        open.open(Debtor::Event(3), 30.0);
        open.pay(10.0);
        let shares: Vec<_> = open.shares().collect();
        assert_eq!(
            shares,
            [(Debtor::Start, 40.0 / 60.0), (Debtor::Event(3), 20.0 / 60.0)]
        );
        open.pay(30.0);
        assert_eq!(open.shares().collect::<Vec<_>>(), [(Debtor::Start, 1.0)]);
        assert!((open.total() - 30.0).abs() < 1e-9);
    }

    #[test]
    fn what_comes_again_and_again_owes_more_and_more_of_what_something_else_began() {
        // Of a path that holds 100, something once leaves 50; then each of many others finds 60 and leaves 30.
        let mut open = Deficits::default();
        open.cut(Debtor::Event(0), 0.5, 50.0);
        for number in 1..=6 {
            open.pay(open.total() - 40.0);
            open.cut(Debtor::Event(number), 0.5, 70.0);
            assert!((open.total() - 70.0).abs() < 1e-9);
            let first = open.shares().next().map_or(0.0, |(_, share)| share * 70.0);
            assert!((first - 40.0 * 0.5_f64.powf(number as f64)).abs() < 1e-9);
        }
    }

    #[test]
    fn what_ends_slow_start_owes_what_the_start_owed() {
        let mut open = Deficits::at_the_start(100.0);
        open.end_start(Debtor::Event(0));
        open.open(Debtor::Event(0), 20.0);
        assert_eq!(open.shares().collect::<Vec<_>>(), [(Debtor::Event(0), 1.0)]);
        open.pay(500.0);
        assert!(open.total().abs() < 1e-9);
        assert_eq!(open.shares().count(), 0);
    }
}

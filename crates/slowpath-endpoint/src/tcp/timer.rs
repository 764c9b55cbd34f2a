//! The sender's one timer (`icsk_retransmit_timer` of Linux), and what its end makes due.

use slowpath_units::{Duration, Time};

/// What the retransmission timer is set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimerKind {
    /// RACK waits for reordering to show itself.
    Reorder,
    /// Tail loss probe.
    TailProbe,
    /// Retransmission timeout.
    Retransmit,
    /// Zero-window probe.
    Persist,
}

/// One timer for four purposes: setting it for one ends the other.
///
/// It promises that a probe that came due is sent once, and that probes of a closed window grow rarer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timer {
    set: Option<(TimerKind, Time)>,
    /// Zero-window probes since the window was last open.
    probes: u32,
    window_probe_due: bool,
    tail_probe_due: bool,
}

impl Timer {
    pub(crate) const fn set(&mut self, kind: TimerKind, at: Time) {
        self.set = Some((kind, at));
    }

    pub(crate) const fn stop(&mut self) {
        self.set = None;
    }

    pub(crate) const fn is_set(&self) -> bool {
        self.set.is_some()
    }

    pub(crate) fn kind(&self) -> Option<TimerKind> {
        self.set.map(|(kind, _)| kind)
    }

    pub(crate) fn is_for(&self, kind: TimerKind) -> bool {
        self.kind() == Some(kind)
    }

    /// When it ends, if it is set.
    pub(crate) fn at(&self) -> Option<Time> {
        self.set.map(|(_, at)| at)
    }

    /// Sets it for the next zero-window probe.
    pub(crate) fn persist(&mut self, now: Time, base: Duration, most: Duration) {
        let delay = base.nanos().saturating_mul(1 << self.probes.min(20));
        let delay = Duration::from_nanos(delay).min(most);
        self.set(TimerKind::Persist, now + delay);
    }

    /// The peer's window is open: what waited for that waits no more.
    pub(crate) fn window_opened(&mut self) {
        self.probes = 0;
        if self.is_for(TimerKind::Persist) {
            self.stop();
        }
    }

    /// What ended at `now`; the timer is stopped then.
    pub(crate) fn take(&mut self, now: Time) -> Option<TimerKind> {
        let (kind, at) = self.set?;
        if at > now {
            return None;
        }
        self.stop();
        match kind {
            TimerKind::TailProbe => self.tail_probe_due = true,
            TimerKind::Persist => {
                self.window_probe_due = true;
                self.probes += 1;
            }
            TimerKind::Reorder | TimerKind::Retransmit => {}
        }
        Some(kind)
    }

    /// Whether a zero-window probe came due; asked once.
    pub(crate) const fn take_window_probe(&mut self) -> bool {
        std::mem::replace(&mut self.window_probe_due, false)
    }

    /// Whether a tail loss probe came due; asked once.
    pub(crate) const fn take_tail_probe(&mut self) -> bool {
        std::mem::replace(&mut self.tail_probe_due, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_of_a_closed_window_grow_rarer_and_are_sent_once() {
        let (base, most) = (Duration::from_millis(200), Duration::from_millis(700));
        let mut timer = Timer::default();
        let mut now = Time::ZERO;
        let mut waits = Vec::new();
        for _ in 0..4 {
            timer.persist(now, base, most);
            assert_eq!(timer.take(now), None);
            let at = timer.at().unwrap();
            waits.push(at.since(now).nanos() / 1_000_000);
            now = at;
            assert_eq!(timer.take(now), Some(TimerKind::Persist));
            assert!(timer.take_window_probe());
            assert!(!timer.take_window_probe());
            assert!(!timer.is_set());
        }
        assert_eq!(waits, [200, 400, 700, 700]);
        timer.window_opened();
        timer.persist(now, base, most);
        assert_eq!(timer.at(), Some(now + base));
    }
}

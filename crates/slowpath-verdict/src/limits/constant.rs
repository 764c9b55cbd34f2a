//! A flight that stays at one amount, below the window and without loss: what several limits of the sender begin with.

use crate::case::{Case, PLATEAU};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{No, require};
use crate::limit::Reason;
use crate::message::{Count, Share, Size};

cuts! {
    /// Pauses that tell what ends them.
    PAUSES: 20.0 between NONE, 78.0;
    /// Share of the pauses that end with an acknowledgement, of those that would not by chance, from which acknowledgements
    /// end them; below half of that they do not.
    pub(super) CLOCKED: 0.5 between 0.225, 0.892;
    /// Round trips from which a flight can be called constant.
    ROUNDS: 12.0 between 6.00, 70.0;
    /// Segments from which a flight is one of bulk data.
    BULK: 3.0 between NONE, 9.49;
    /// Flight over the largest window from which the window is in the way.
    ROOM: 0.9 between 0.714, NONE;
    /// Episodes of losses that a constant flight may have had.
    EPISODES: 1.0 between 0.0, NONE;
    /// Unit of the capture clock, in round trips, from which what releases data cannot be told.
    CLOCK: 0.2 between 0.000_024_2, NONE;
    /// Share of packets smaller than a segment from which they are a program's pieces.
    SHORT: 0.03 between 0.027_7, 0.039_9;
    /// Share of bursts that end with one, likewise.
    SHORT_BURSTS: 0.08 between 0.0, 0.264;
}

/// A flight that may be constant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Constant {
    /// Enough pauses to tell what ends them.
    pub(super) told: bool,
    /// Share of the pauses that end with an acknowledgement, of those that would not by chance.
    pub(super) beyond: f64,
}

impl Constant {
    /// Whether something fixed may hold the flight at all.
    pub(super) fn of(case: &Case) -> Result<Self, No> {
        case.whole()?;
        let facts = case.facts;
        let flight = &facts.flight;
        let few = case.within(EPISODES, facts.loss.episodes);
        require(few, Reason::FlightNotConstant, || Message::LossesChanged {
            episodes: Count(facts.loss.episodes),
        })?;
        let room = facts.window.scale_known == 0 || case.below_times(ROOM, flight.plateau, facts.window.max);
        require(room, Reason::FlightNotConstant, || Message::NearWindow {
            flight: Size(flight.plateau as f64),
            window: Size(facts.window.max as f64),
        })?;
        let bulk = case.reaches_times(BULK, flight.plateau, facts.segment_size);
        let long = case.reaches(ROUNDS, flight.rounds);
        require(bulk && long, Reason::TooShort, || Message::TooLittleFlight {
            flight: Size(flight.plateau as f64),
            rounds: Count(flight.rounds),
        })?;
        let timed = case.below_times(CLOCK, case.around.clock_s, case.rtt);
        require(timed, Reason::CaptureIncomplete, || Message::ClockTooCoarse {})?;
        Ok(Self::pauses(case))
    }

    /// What the pauses of any flight tell.
    fn pauses(case: &Case) -> Self {
        let clocking = &case.facts.clocking;
        Self {
            told: case.reaches(PAUSES, clocking.pauses),
            beyond: (clocking.pause_ack_share - clocking.pause_chance_share)
                / (1.0 - clocking.pause_chance_share).max(1e-9),
        }
    }

    /// Whether acknowledgements end the sender's pauses, or something else does; `None` where that cannot be told.
    pub(crate) fn released(case: &Case) -> Option<bool> {
        let pauses = Self::pauses(case);
        let least = CLOCKED.value;
        if !pauses.told || pauses.beyond < least && pauses.beyond >= least / 2.0 {
            return None;
        }
        Some(pauses.let_go(case))
    }

    /// Whether the flight stays at its most common peak in most round trips.
    pub(super) fn stays(case: &Case) -> Result<(), No> {
        let share = case.facts.flight.plateau_share;
        require(case.reaches(PLATEAU, share), Reason::FlightNotConstant, || {
            Message::FlightChanges { share: Share(share) }
        })
    }

    /// Acknowledgements, not the program, end the sender's pauses.
    pub(super) fn let_go(self, case: &Case) -> bool {
        self.told && case.reaches(CLOCKED, self.beyond)
    }

    /// Something else, and not acknowledgements, ends them.
    pub(super) fn has_own_rhythm(self, case: &Case) -> bool {
        let clocked = case.told(CLOCKED, self.beyond, self.beyond < CLOCKED.value / 2.0);
        self.told && clocked && short(case)
    }

    /// Many segments are short: a program's pieces.
    pub(super) fn ragged(case: &Case) -> bool {
        short(case) || case.exceeds(SHORT_BURSTS, case.facts.clocking.short_burst_share)
    }
}

/// Many packets are smaller than a segment.
pub(super) fn short(case: &Case) -> bool {
    case.exceeds(SHORT, case.facts.clocking.short_share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::sample::quiet;
    use slowpath_facts::Surroundings;

    #[test]
    fn pauses_tell_what_ends_them_where_there_are_enough() {
        let mut facts = quiet();
        let mut of = |pauses, share| {
            facts.clocking.pauses = pauses;
            facts.clocking.pause_ack_share = share;
            facts.clocking.pause_chance_share = 0.2;
            Constant::released(&Case::of(&facts, &Surroundings::default()))
        };
        assert_eq!((of(120, 1.0), of(120, 0.2)), (Some(true), Some(false)));
        assert_eq!((of(120, 0.5), of(5, 1.0)), (None, None));
    }
}

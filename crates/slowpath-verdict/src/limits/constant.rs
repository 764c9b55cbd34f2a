//! A flight that stays at one amount, below the window and without loss: what several limits of the sender begin with.

use crate::case::{Case, PLATEAU};
use crate::finding::{No, require};
use crate::limit::Reason;
use slowpath_facts::words::{bytes, percent};

/// A flight that may be constant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constant {
    /// Enough pauses to tell what ends them.
    pub(super) told: bool,
    /// Share of the pauses that end with an acknowledgement, of those that would not by chance.
    pub(super) beyond: f64,
}

impl Constant {
    /// Whether something fixed may hold the flight at all.
    pub(super) fn of(case: &Case) -> Result<Self, No> {
        let facts = case.facts;
        let (flight, clocking) = (&facts.flight, &facts.clocking);
        require(facts.loss.episodes <= 1, Reason::FlightNotConstant, || {
            format!("{} episodes of losses changed the flight", facts.loss.episodes)
        })?;
        let room = facts.window.scale_known == 0 || flight.plateau * 10 < facts.window.max * 9;
        require(room, Reason::FlightNotConstant, || {
            format!(
                "the flight of {} comes near the window of {}",
                bytes(flight.plateau as f64),
                bytes(facts.window.max as f64)
            )
        })?;
        let bulk = flight.plateau >= 3 * u64::from(facts.segment_size);
        require(bulk && flight.rounds >= ROUNDS, Reason::TooShort, || {
            format!(
                "{} in {} round trips are too little",
                bytes(flight.plateau as f64),
                flight.rounds
            )
        })?;
        let timed = case.around.clock_s < 0.2 * case.rtt;
        require(timed, Reason::CaptureIncomplete, || {
            "the capture's clock is too coarse for what releases data".to_owned()
        })?;
        Ok(Self {
            told: clocking.pauses >= PAUSES,
            beyond: (clocking.pause_ack_share - clocking.pause_chance_share)
                / (1.0 - clocking.pause_chance_share).max(1e-9),
        })
    }

    /// Whether the flight stays at its most common peak in most round trips.
    pub(super) fn stays(case: &Case) -> Result<(), No> {
        let share = case.facts.flight.plateau_share;
        require(share >= PLATEAU, Reason::FlightNotConstant, || {
            format!(
                "the flight was constant only in {} of the round trips",
                percent(share)
            )
        })
    }

    /// Acknowledgements, not the program, end the sender's pauses.
    pub(super) fn let_go(self) -> bool {
        self.told && self.beyond >= CLOCKED
    }

    /// Many segments are short: a program's pieces.
    pub(super) fn ragged(case: &Case) -> bool {
        let clocking = &case.facts.clocking;
        clocking.short_share > 0.03 || clocking.short_burst_share > 0.08
    }

    /// The constant flight in words.
    pub(super) fn words(case: &Case) -> String {
        let (flight, window) = (&case.facts.flight, &case.facts.window);
        format!(
            "the flight stays at {} for {} of {} round trips, below the window of {}",
            bytes(flight.plateau as f64),
            flight.plateau_run,
            flight.rounds,
            bytes(window.max as f64)
        )
    }
}

/// Pauses that tell what ends them.
const PAUSES: u64 = 20;
/// Share of the pauses that end with an acknowledgement, of those that would not by chance, from which acknowledgements
/// end them; below half of that they do not.
pub(super) const CLOCKED: f64 = 0.5;
/// Round trips from which a flight can be called constant.
const ROUNDS: u64 = 12;

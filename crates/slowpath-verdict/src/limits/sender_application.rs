//! The sending program does not provide data: nothing is in flight, or data leaves at the program's own rhythm.

use slowpath_facts::Tap;

use super::constant::{Constant, short};
use super::seen;
use crate::case::{Case, IDLE_SHARE_ALONE};
use crate::catalogue::Message;
use crate::cut::{Cut, cuts};
use crate::finding::{Finding, No, observed, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Count, PayloadRate, Share, Size, Span};
use crate::schedule::Schedule;
use crate::verdict::Evidence;

cuts! {
    /// Share of the time with nothing in flight that makes the program the limit.
    IDLE_SHARE: 0.6 between 0.533, 0.738;
    /// Share of bursts that follow an acknowledgement at once, beyond what chance leaves, below which they are not the
    /// clock.
    UNCLOCKED: 0.5 between 0.252, NONE;
    /// Share of bursts that follow an acknowledgement above what would by chance, below which it is chance.
    BY_CHANCE: 0.12 between NONE, NONE;
    /// Times at which a program went on as it does on a schedule.
    TIMES: 4.0 between NONE, NONE;
    /// The same for one that goes on before all that it sent has arrived, as buffers and windows do.
    TIMES_BUSY: 16.0 between NONE, NONE;
    /// How far these may be off, as a share of the period.
    OFF: 0.03 between NONE, NONE;
    /// Round trips in a period: a window or a buffer lets go as regularly in one or two.
    PERIOD: 3.0 between NONE, NONE;
    /// How many times as much as that the pauses must differ: a program that pauses for as long after each time that it is done is as
    /// regular where the path is.
    PAUSES: 2.0 between NONE, NONE;
    /// Share of the time in which data leaves at one pace from which the sender sets it.
    EVEN_PACE: 0.9 between NONE, NONE;
    /// Share of what was due by the schedule which the transfer carried.
    KEPT: 0.85 between NONE, NONE;
}

/// A program that pauses, where nothing else explains the rest.
pub(crate) const IDLE_ALONE: Look = Look {
    limit: Limit::SenderApplication,
    plainest: true,
    certainty: Certainty::Left,
    at: idle_alone,
    evidence,
    cuts: CUTS,
};

/// A program that pauses for most of the time.
pub(crate) const IDLE: Look = IDLE_ALONE.other(Certainty::Stated, idle);

/// Data leaves at times that the program set beforehand.
pub(crate) const SCHEDULED: Look = IDLE_ALONE.other(Certainty::Stated, scheduled);

/// Data leaves at the program's own rhythm.
pub(crate) const OWN_RHYTHM: Look = IDLE_ALONE.other(Certainty::Left, own_rhythm);

/// Data leaves at one pace, which nothing of the path sets.
pub(crate) const EVEN: Look = IDLE_ALONE.other(Certainty::Left, even);

/// Looks for a program that pauses for most of the time.
fn idle(case: &Case) -> Result<Finding, No> {
    pausing(case, IDLE_SHARE)
}

/// Looks for a program that pauses, where nothing else explains the rest.
fn idle_alone(case: &Case) -> Result<Finding, No> {
    pausing(case, IDLE_SHARE_ALONE)
}

/// Looks for a program that goes on at set times, whatever the path made of the time between.
fn scheduled(case: &Case) -> Result<Finding, No> {
    // From afar it tells what held the sender in between, and not what held it most.
    let schedule = schedule(case).filter(|_| case.facts.tap == Tap::Sender);
    let Some(schedule) = schedule else {
        let idle = Share(case.share(case.facts.time.idle_s));
        return Err(No::new(Reason::SenderNeverIdle, Message::HardlyIdle { idle }));
    };
    let rate = schedule.byte_per_s();
    let mut out = Finding::new(
        Limit::SenderApplication,
        1.0,
        RHYTHM,
        Message::OnSchedule {
            bytes: Size(schedule.bytes as f64),
            period: Span(schedule.period_s),
            rate: PayloadRate(rate),
        },
    );
    out.parameters.source_byte_per_s = Some(rate);
    Ok(out)
}

/// The schedule that a program goes on by, if it has one.
pub(crate) fn schedule(case: &Case) -> Option<Schedule> {
    let line = &case.facts.timeline;
    let segment = u64::from(case.facts.segment_size.max(1));
    let fits = |schedule: &Schedule| {
        let shown = match schedule.pauses {
            Some(pauses) => {
                case.reaches(TIMES, schedule.times as u64)
                    && case.reaches_times(PERIOD, schedule.period_s, line.step_s)
                    && case.reaches_times(PAUSES, pauses, schedule.off)
            }
            // Whole segments are what a buffer lets go as well.
            None => {
                case.reaches(TIMES_BUSY, schedule.times as u64)
                    && !schedule.bytes.is_multiple_of(segment)
                    && !segment.is_multiple_of(schedule.bytes)
            }
        };
        // A program that is asked goes on when it is.
        let asked = case.facts.clocking.answers * 2 >= schedule.times as u64;
        shown && !asked && case.within(OFF, schedule.off) && case.reaches(KEPT, schedule.kept)
    };
    Schedule::candidates(line).find(fits)
}

/// Looks for data that leaves train behind train at one pace, in front of an empty queue: what waits for acknowledgements pauses once in
/// a round trip, and what a link spaces stands in its queue.
fn even(case: &Case) -> Result<Finding, No> {
    let (facts, share) = (case.facts, case.facts.clocking.even_pace_share);
    Constant::of(case)?;
    let quiet = !case.inflated() && facts.loss.episodes == 0 && facts.ecn.rounds_with_marks == 0;
    let paced = case.reaches(EVEN_PACE, share) && quiet;
    require(paced, Reason::SenderNeverIdle, || Message::HardlyEven {
        even: Share(share),
    })?;
    let rate = facts.bytes as f64 / case.total;
    let mut out = Finding::new(
        Limit::SenderApplication,
        share,
        RHYTHM,
        Message::EvenPace {
            rate: PayloadRate(rate),
            even: Share(share),
        },
    );
    out.parameters.source_byte_per_s = Some(rate);
    Ok(out)
}

/// Looks for data that leaves at the program's own rhythm and not when acknowledgements arrive.
fn own_rhythm(case: &Case) -> Result<Finding, No> {
    let (facts, flight, clocking) = (case.facts, &case.facts.flight, &case.facts.clocking);
    let constant = Constant::of(case)?;
    Constant::stays(case)?;
    let by_luck = clocking.chance_share.min(UNCLOCKED.value) / 2.0;
    let unclocked = case.told(
        UNCLOCKED,
        clocking.ack_share - by_luck,
        clocking.ack_share < UNCLOCKED.value + by_luck,
    );
    let at_sender = facts.tap == Tap::Sender;
    let by_chance = || {
        case.told(
            BY_CHANCE,
            clocking.ack_share - clocking.chance_share,
            clocking.ack_share < clocking.chance_share + BY_CHANCE.value,
        )
    };
    require(
        Constant::ragged(case)
            && (constant.has_own_rhythm(case) || (unclocked && (at_sender || (by_chance() && short(case))))),
        Reason::SenderNeverIdle,
        || Message::Clocked {
            clocked: Share(clocking.ack_share),
            short: Share(clocking.short_share),
        },
    )?;
    let rate = facts.bytes as f64 / case.total;
    let mut out = Finding::new(
        Limit::SenderApplication,
        flight.plateau_share,
        RHYTHM,
        Message::OwnRhythm {
            rate: PayloadRate(rate),
            clocked: Share(clocking.ack_share),
        },
    );
    out.parameters.source_byte_per_s = Some(rate);
    Ok(out)
}

fn pausing(case: &Case, least: Cut) -> Result<Finding, No> {
    let time = &case.facts.time;
    let idle = case.share(time.idle_s);
    // What follows the last data is no pause of the program.
    require(
        case.reaches(least, idle) && time.idle_pauses > 0,
        Reason::SenderNeverIdle,
        || Message::HardlyIdle { idle: Share(idle) },
    )?;
    let mut out = Finding::new(
        Limit::SenderApplication,
        idle,
        DOUBTFUL + RISES * idle,
        Message::ProgramPauses {
            idle: Share(idle),
            pauses: Count(time.idle_pauses),
            longest: Span(time.longest_idle_s),
        },
    );
    out.parameters.source_byte_per_s = Some(case.facts.bytes as f64 / case.total);
    Ok(out)
}

/// What shows it.
fn evidence(case: &Case) -> Vec<Evidence> {
    let time = &case.facts.time;
    let idle = Message::NothingInFlight {
        idle: Span(time.idle_s),
    };
    let mut out = vec![observed("time.idle", &idle, time.idle_s, "s", &[])];
    let share = case.facts.clocking.even_pace_share;
    if share >= EVEN_PACE.value {
        let even = Message::LeavesEvenly { even: Share(share) };
        out.push(observed("clocking.even_pace_share", &even, share, "", &[]));
    }
    out.extend(seen::clocking(case));
    out.extend(seen::usual(case));
    out
}

/// Confidence where the program hardly pauses; chosen.
const DOUBTFUL: f64 = 0.6;
/// How much it rises to where it does nothing else.
const RISES: f64 = 0.38;
/// Confidence in a rhythm; chosen.
const RHYTHM: f64 = 0.85;

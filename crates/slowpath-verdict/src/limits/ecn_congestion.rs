//! Congestion marks instead of losses keep the congestion window small.

use slowpath_facts::EcnMode;

use super::seen;
use crate::case::Case;
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, observed, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::Count;
use crate::verdict::Evidence;

cuts! {
    /// Round trips with marks that are no accident.
    ROUNDS: 2.0 between 0.0, 5.00;
    /// Their share of all round trips.
    OFTEN: 0.005 between NONE, 0.036_2;
}

/// Marks come.
pub(crate) const LOOK: Look = Look {
    limit: Limit::EcnCongestion,
    plainest: true,
    certainty: Certainty::Measured,
    at: look,
    evidence,
    cuts: CUTS,
};

/// Looks for marks that come more often than losses.
fn look(case: &Case) -> Result<Finding, No> {
    let (ecn, loss, rounds) = (&case.facts.ecn, &case.facts.loss, case.facts.flight.rounds);
    let marked = ecn.rounds_with_marks;
    let often = case.reaches(ROUNDS, marked) && case.reaches_times(OFTEN, marked, rounds);
    require(often && ecn.reported > 0, Reason::NoMarks, || Message::FewMarks {
        marked: Count(marked),
    })?;
    require(marked >= loss.episodes, Reason::SmallerShare, || {
        Message::MoreLosses {
            episodes: Count(loss.episodes),
            marked: Count(marked),
        }
    })?;
    let segments = case.facts.segments.max(1) as f64;
    let fraction = match ecn.mode {
        EcnMode::Accurate => ecn.reported as f64 / segments,
        _ if ecn.ce_packets > 0 => ecn.ce_packets as f64 / segments,
        // Each mark is repeated until the sender says that it has heard of it: at least one for each time it did.
        _ => ecn.window_reductions.max(1) as f64 / segments,
    };
    let mut out = Finding::new(
        Limit::EcnCongestion,
        1.0 - case.share(case.facts.time.idle_s),
        CONFIDENCE,
        Message::MarksHold {
            marked: Count(marked),
            rounds: Count(rounds),
            episodes: Count(loss.episodes),
        },
    );
    out.parameters.marked_fraction = Some(fraction);
    out.parameters.rtt_s = Some(case.rtt);
    if let Some(fit) = case.queue().filter(|fit| case.fills(fit)) {
        out.parameters.rate_bit_per_s = Some(fit.delay.rate_bit_per_s);
        out.parameters.queue_delay_s = Some(fit.delay.delay_p95_s);
    }
    Ok(out)
}

/// What shows it.
fn evidence(case: &Case) -> Vec<Evidence> {
    let ecn = &case.facts.ecn;
    let rounds = Message::MarksInRounds {
        marked: Count(ecn.rounds_with_marks),
    };
    let reported = Count(ecn.reported);
    let marks = match ecn.mode {
        EcnMode::Accurate => Message::Marks { marks: reported },
        _ => Message::AcksReport { acks: reported },
    };
    let mut out = vec![
        observed(
            "ecn.rounds",
            &rounds,
            ecn.rounds_with_marks as f64,
            "",
            &ecn.frames,
        ),
        observed("ecn.reported", &marks, ecn.reported as f64, "", &[]),
    ];
    out.extend(seen::queue(case));
    out.extend(seen::usual(case));
    out
}

/// Chosen: marks say what they mean.
const CONFIDENCE: f64 = 0.92;

//! Congestion marks instead of losses keep the congestion window small.

use slowpath_facts::EcnMode;

use crate::case::Case;
use crate::evidence::observed;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::verdict::Evidence;

/// Looks for marks that come more often than losses.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    let (ecn, loss) = (&case.facts.ecn, &case.facts.loss);
    let often = ecn.rounds_with_marks >= 2 && ecn.rounds_with_marks * 200 >= case.facts.flight.rounds;
    require(often && ecn.reported > 0, Reason::NoMarks, || {
        format!("marks were reported in {} round trips", ecn.rounds_with_marks)
    })?;
    require(
        ecn.rounds_with_marks >= loss.episodes,
        Reason::SmallerShare,
        || {
            format!(
                "losses came in {} episodes, marks in {} round trips",
                loss.episodes, ecn.rounds_with_marks
            )
        },
    )?;
    let fraction = match ecn.mode {
        EcnMode::Accurate => ecn.reported as f64 / case.facts.segments.max(1) as f64,
        _ if ecn.ce_packets > 0 => ecn.ce_packets as f64 / case.facts.segments.max(1) as f64,
        _ => ecn.rounds_with_marks as f64 / case.facts.flight.rounds.max(1) as f64,
    };
    let mut out = Finding::new(
        Limit::EcnCongestion,
        1.0 - case.share(case.facts.time.idle_s),
        0.92,
        format!(
            "Congestion marks hold the sender back: marks were reported in {} of {} round trips, losses came in {}.",
            ecn.rounds_with_marks, case.facts.flight.rounds, loss.episodes
        ),
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
pub(super) fn evidence(case: &Case) -> Vec<Evidence> {
    let ecn = &case.facts.ecn;
    vec![
        observed(
            "ecn.rounds",
            format!("marks reported in {} round trips", ecn.rounds_with_marks),
            ecn.rounds_with_marks as f64,
            "",
            &ecn.frames,
        ),
        observed(
            "ecn.reported",
            format!("{} marks reported", ecn.reported),
            ecn.reported as f64,
            "",
            &[],
        ),
    ]
}

//! A token bucket drops what exceeds its rate, without queueing.

use std::fmt::Write as _;

use slowpath_facts::QueueFit;
use slowpath_facts::words::{bits, bytes, percent};

use crate::case::{BUCKET, Case, EXPLAINED, FIT_LOSSES, IDLE_SHARE_ALONE, NO_QUEUE};
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};

/// Looks for a policer, of all flows between the hosts or of this one.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    let own = case.facts.queue;
    let shared = (case.around.flows > 1).then_some(case.around.shared).flatten();
    let of_all = shared.filter(|fit| is_bucket(case, fit).is_ok());
    let (fit, together) = match (of_all, own) {
        (Some(fit), _) => (fit, true),
        (None, own) => {
            let fit = own.unwrap_or_default();
            is_bucket(case, &fit)?;
            (fit, false)
        }
    };
    // Far below the rate, the bucket alone drops: its rate could as well be higher.
    let lower_bound = fit.mean_bit_per_s < 0.5 * fit.rate_bit_per_s;
    let mut out = Finding::new(
        Limit::Policed,
        (1.0 - case.share(case.facts.time.idle_s)).max(0.5),
        (1.0 - fit.error) * if fit.episodes >= 3 { 0.97 } else { 0.75 },
        format!(
            "A policer at {}{} with a bucket of {} drops what exceeds it: {} of {} losses come when the bucket is empty, and the delay does not grow with the load (no queue).",
            if lower_bound { "no less than " } else { "" },
            bits(fit.rate_bit_per_s),
            bytes(fit.size_bytes),
            ((1.0 - fit.error) * fit.losses as f64).round(),
            fit.losses
        ),
    );
    if together {
        out.flags.push(Flag::SharedWithOtherFlows);
        let _ = write!(
            out.sentence,
            " {} flows between the same hosts share it.",
            case.around.flows
        );
    }
    if case.share(case.facts.time.idle_s) >= IDLE_SHARE_ALONE {
        out.flags.push(Flag::Mixed);
    }
    out.parameters.rate_bit_per_s = Some(fit.rate_bit_per_s);
    out.parameters.rate_is_lower_bound = Some(lower_bound);
    out.parameters.bucket_bytes = Some(fit.size_bytes.round() as u64);
    out.parameters.loss_fraction = Some(case.facts.loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// Whether a fit is that of a bucket: losses at one backlog, and a delay that does not know of it.
fn is_bucket(case: &Case, fit: &QueueFit) -> Result<(), No> {
    require(
        case.facts.loss.lost_segments > 0 || fit.losses > 0,
        Reason::NoLoss,
        || "nothing was lost".to_owned(),
    )?;
    require(fit.losses >= FIT_LOSSES, Reason::TooFewLosses, || {
        format!("{} losses are too few for a pattern", fit.losses)
    })?;
    require(Case::losses_follow_load(fit), Reason::LossesIgnoreLoad, || {
        format!(
            "no rate and bucket explain the losses (error {:.2}, spread {:.2})",
            fit.error, fit.spread
        )
    })?;
    let drain = fit.size_bytes * 8.0 / fit.rate_bit_per_s.max(1.0);
    require(
        fit.size_bytes >= BUCKET && drain > 2.0 * case.around.clock_s && fit.delay_samples >= 10,
        Reason::TooFewLosses,
        || {
            format!(
                "a bucket of {} with {} delays beside it is too little to tell",
                bytes(fit.size_bytes),
                fit.delay_samples
            )
        },
    )?;
    require(
        fit.delay_step.abs() < NO_QUEUE && fit.delay.delay_p95_s < 0.6 * drain.max(0.01),
        Reason::QueueNotBucket,
        || {
            format!(
                "the delay grows by {} of what a queue of that size would add",
                percent(fit.delay_step)
            )
        },
    )?;
    require(
        !(fit.delay.explained > EXPLAINED && case.fills(fit)),
        Reason::QueueNotBucket,
        || {
            format!(
                "a queue of {} explains {} of the delay",
                bits(fit.delay.rate_bit_per_s),
                percent(fit.delay.explained)
            )
        },
    )
}

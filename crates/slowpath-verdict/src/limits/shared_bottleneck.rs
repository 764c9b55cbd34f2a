//! The flow fills a link or shaper together with others.

use slowpath_facts::Tap;
use slowpath_facts::words::{percent, span};

use super::full_link;
use crate::case::{Case, EXPLAINED, IDLE_SHARE_ALONE, OWN_QUEUE, PLATEAU};
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};

/// Rank of the delay before losses from which a full queue drops.
const FULL_RANK: f64 = 0.8;
/// Share of the time at the link's rate below which others use the link too.
const WHOLE_LINK: f64 = 0.78;

/// Looks for a full link that flows between the same hosts share.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    require(full_link::is_shared(case), Reason::OneFlow, || {
        "only one flow between these hosts was recorded".to_owned()
    })?;
    full_link::look(case)
}

/// Looks for a queue that others fill: the delay is high and does not follow the flow's own load, and losses come when it
/// is highest or it never falls back to the empty path's.
pub(super) fn crowded(case: &Case) -> Result<Finding, No> {
    let (facts, loss) = (case.facts, &case.facts.loss);
    let fit = case.queue().unwrap_or_default();
    let own = facts.queue.unwrap_or_default();
    let margin = (0.05 * case.base_rtt).max(0.002).max(3.0 * case.around.clock_s);
    let delayed =
        facts.rtt.count >= 50 && facts.flight.rounds >= 20 && facts.rtt.p90 - case.base_rtt > 1.5 * margin;
    // A link that these packets keep busy is full of them, whatever the fits say.
    let part_of_it = facts.arrival_busy > 0.0 && facts.arrival_busy < WHOLE_LINK;
    let not_own = [&fit, &own]
        .iter()
        .all(|fit| !case.fills(fit) && fit.delay.explained < OWN_QUEUE);
    let free = case.held() < 0.3 && case.share(facts.time.idle_s) < IDLE_SHARE_ALONE;
    // Losses at one backlog of its own are the flow's own doing.
    let own_losses = Case::losses_follow_load(&fit) && fit.delay_correlation >= EXPLAINED;
    // Where packets overtake each other their spacing tells nothing; a flow at one rate has the link for itself.
    require(delayed, Reason::DelayAtBase, || {
        format!(
            "the round trip of {} is near the empty path's {}",
            span(facts.rtt.p90),
            span(case.base_rtt)
        )
    })?;
    require(
        part_of_it && not_own && free && !own_losses && !case.alone_in_disorder(),
        Reason::DelayFollowsLoad,
        || {
            format!(
                "the transfer's own load explains {} of the delay and {} of the link's time",
                percent(own.delay.explained.max(fit.delay.explained).max(0.0)),
                percent(facts.arrival_busy)
            )
        },
    )?;
    let mostly = facts.rtt.median - case.base_rtt > margin;
    let ranked = loss.ranked_episodes >= if mostly { 1 } else { 3 };
    let at_full_queue = ranked && loss.delay_rank >= FULL_RANK;
    // Before the link a program or pacing may leave pauses; there only a rate that others change tells.
    let afar = matches!(facts.tap, Tap::Receiver | Tap::Middle);
    let part = afar || (!case.steady_behind_queue() && facts.rate.p10 < 0.6 * facts.rate.p90);
    let stands = facts.rtt.p10 - facts.rtt.min > 0.4 * (facts.rtt.p90 - facts.rtt.min)
        && mostly
        && facts.rtt.p10 - case.base_rtt > margin
        && facts.flight.plateau_share < PLATEAU
        && part;
    require(at_full_queue || stands, Reason::DelayIgnoresLoad, || {
        "losses do not come with the delay at its highest, and the queue empties".to_owned()
    })?;
    let queued = (facts.rtt.p95 - case.base_rtt).max(0.0);
    let why = if at_full_queue {
        format!(
            "losses come when the delay is at its highest (before the median one {} of all delays were no longer)",
            percent(loss.delay_rank)
        )
    } else {
        format!(
            "the queue never empties (round trip at least {} against {} of the empty path)",
            span(facts.rtt.p10),
            span(case.base_rtt)
        )
    };
    let mut out = Finding::new(
        Limit::SharedBottleneck,
        1.0 - case.share(facts.time.idle_s),
        0.75,
        format!(
            "The transfer shares a full link with other traffic: {why}, and its own load explains only {} of a delay of up to {} above the empty path's {}.",
            percent(own.delay.explained.max(fit.delay.explained).max(0.0)),
            span(queued),
            span(case.base_rtt)
        ),
    );
    if queued > case.base_rtt.max(0.02) {
        out.flags.push(Flag::Bufferbloat);
    }
    out.parameters.queue_delay_s = Some(queued);
    out.parameters.rtt_s = Some(case.rtt);
    if loss.lost_segments > 0 {
        out.parameters.loss_fraction = Some(loss.fraction);
    }
    Ok(out)
}

//! The flow fills a link or shaper together with others.

use slowpath_facts::Tap;

use super::{full_link, seen, varying};
use crate::case::{Case, EXPLAINED, IDLE_SHARE_ALONE, OWN_QUEUE, PLATEAU, STANDING_ROUNDS, STANDING_SAMPLES};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Share, Span};
use crate::verdict::Evidence;

cuts! {
    /// Rank of the delay before losses from which a full queue drops.
    FULL_RANK: 0.8 between 0.712, 0.834;
    /// Episodes of losses with such a rank where the delay is not high most of the time.
    RANKED: 3.0 between NONE, 18.0;
    /// Share of the time at the link's rate below which others use the link too.
    WHOLE_LINK: 0.78 between 0.777, 0.791;
    /// Share of the time that the window may hold the sender.
    HELD: 0.3 between 0.000_000_008_01, 0.450;
    /// High round trips above the empty path's, in margins, from which they are delayed.
    DELAYED: 1.5 between 1.45, 1.60;
    /// How far the low round trips rise above the least, over how far the high ones do, from which a queue never empties.
    NEVER_EMPTIES: 0.4 between 0.0, 0.969;
    /// Share of the one-way delays' variance that the flow's own load explains from which others' does not matter.
    OWN_LOAD: 0.6 between NONE, NONE;
    /// The lowest rate over the highest below which somebody changes it.
    CHANGED: 0.6 between NONE, NONE;
}

/// Flows of the same hosts fill the link. Its other cut-offs stand with those of a full link.
pub(crate) const LOOK: Look = Look {
    limit: Limit::SharedBottleneck,
    plainest: true,
    certainty: Certainty::Measured,
    at: look,
    evidence,
    cuts: CUTS,
};

/// Others fill the queue.
pub(crate) const CROWDED: Look = LOOK.other(Certainty::Measured, crowded);

/// Looks for a full link that flows between the same hosts share.
fn look(case: &Case) -> Result<Finding, No> {
    require(
        full_link::is_shared(case),
        Reason::OneFlow,
        || Message::OneFlow {},
    )?;
    full_link::look(case)
}

/// Looks for a queue that others fill: the delay is high and does not follow the flow's own load, and losses come when it
/// is highest or it never falls back to the empty path's.
fn crowded(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    let (facts, loss, rtt) = (case.facts, &case.facts.loss, &case.facts.rtt);
    let fit = case.queue().unwrap_or_default();
    let own = facts.queue.unwrap_or_default();
    let margin = (MARGIN * case.base_rtt)
        .max(MARGIN_S)
        .max(MARGIN_CLOCK * case.around.clock_s);
    let delayed = case.reaches(STANDING_SAMPLES, rtt.count)
        && case.reaches(STANDING_ROUNDS, facts.flight.rounds)
        && case.exceeds_times(DELAYED, rtt.p90 - case.base_rtt, margin);
    require(delayed, Reason::DelayAtBase, || Message::HighRttNearBase {
        rtt: Span(rtt.p90),
        base: Span(case.base_rtt),
    })?;
    // A link that these packets keep busy is full of them, whatever the fits say.
    let part_of_it = facts.arrival_busy > 0.0 && case.below(WHOLE_LINK, facts.arrival_busy);
    let not_own = [&fit, &own]
        .iter()
        .all(|fit| !case.fills(fit) && case.below(OWN_QUEUE, fit.delay.explained))
        && case.below(OWN_LOAD, facts.own_load_explains);
    let free = case.below(HELD, case.held()) && case.below(IDLE_SHARE_ALONE, case.share(facts.time.idle_s));
    // Losses at one backlog of its own are the flow's own doing.
    let own_losses = case.losses_follow_load(&fit) && case.reaches(EXPLAINED, fit.delay_correlation);
    let explained = Share(own.delay.explained.max(fit.delay.explained).max(0.0));
    require(varying::rates(case).is_none(), Reason::DelayFollowsLoad, || {
        Message::DelayFollowsRate {}
    })?;
    // Where packets overtake each other their spacing tells nothing; a flow at one rate has the link for itself.
    require(
        part_of_it && not_own && free && !own_losses && !case.disorderly(),
        Reason::DelayFollowsLoad,
        || Message::OwnLoadExplains {
            delay: explained,
            busy: Share(facts.arrival_busy),
        },
    )?;
    let mostly = rtt.median - case.base_rtt > margin;
    let ranked = if mostly {
        loss.ranked_episodes > 0
    } else {
        case.reaches(RANKED, loss.ranked_episodes)
    };
    let at_full_queue = ranked && case.reaches(FULL_RANK, loss.delay_rank);
    // Before the link a program or pacing may leave pauses; there only a rate that others change tells.
    let afar = matches!(facts.tap, Tap::Receiver | Tap::Middle);
    let part =
        || afar || (!case.steady_behind_queue() && case.below_times(CHANGED, facts.rate.p10, facts.rate.p90));
    let stands = || {
        case.exceeds_times(NEVER_EMPTIES, rtt.p10 - rtt.min, rtt.p90 - rtt.min)
            && mostly
            && rtt.p10 - case.base_rtt > margin
            && case.below(PLATEAU, facts.flight.plateau_share)
            && part()
    };
    require(at_full_queue || stands(), Reason::DelayIgnoresLoad, || {
        Message::QueueEmpties {}
    })?;
    let queued = (rtt.p95 - case.base_rtt).max(0.0);
    let sentence = if at_full_queue {
        Message::OthersAtFullQueue {
            rank: Share(loss.delay_rank),
            own: explained,
            queued: Span(queued),
            base: Span(case.base_rtt),
        }
    } else {
        Message::OthersKeepQueue {
            least: Span(rtt.p10),
            own: explained,
            queued: Span(queued),
            base: Span(case.base_rtt),
        }
    };
    let mut out = Finding::new(
        Limit::SharedBottleneck,
        1.0 - case.share(facts.time.idle_s),
        CONFIDENCE,
        sentence,
    );
    if full_link::bloats(case, queued) {
        out.flags.push(Flag::Bufferbloat);
    }
    out.parameters.queue_delay_s = Some(queued);
    out.parameters.rtt_s = Some(case.rtt);
    if loss.lost_segments > 0 {
        out.parameters.loss_fraction = Some(loss.fraction);
    }
    Ok(out)
}

/// What shows it.
fn evidence(case: &Case) -> Vec<Evidence> {
    let mut out = seen::queue(case);
    out.extend(seen::usual(case));
    out
}

/// What a round trip varies by on any path: in round trips of the empty path.
const MARGIN: f64 = 0.05;
/// The same in seconds.
const MARGIN_S: f64 = 0.002;
/// The same in units of the capture clock.
const MARGIN_CLOCK: f64 = 3.0;
/// Confidence where others are not seen themselves; chosen.
const CONFIDENCE: f64 = 0.75;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::sample::{quiet, said, spread};

    #[test]
    fn in_disorder_one_rate_tells_whose_link_it_is() {
        let mut facts = quiet();
        facts.tap = Tap::Receiver;
        facts.bytes = 57_000_000;
        facts.segments = 70_000;
        facts.rtt = spread(5_000, 0.030, 0.056, 0.120);
        facts.loss.reordered = 31_000;
        facts.loss.retransmitted_segments = 20;
        facts.loss.lost_segments = 900;
        facts.loss.episodes = 6;
        facts.loss.delay_rank = 0.94;
        facts.loss.ranked_episodes = 6;
        facts.arrival_peak_bit_per_s = 89e6;
        facts.arrival_busy = 0.64;
        facts.rate = spread(150, 3.1e6, 6.9e6, 7.1e6);
        assert_eq!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
        // With as much delay and in order, the link is shared: the rest of its time others use it.
        facts.loss.reordered = 0;
        facts.rate = spread(150, 3.1e6, 4.5e6, 7.1e6);
        assert_eq!(said(&facts).0, Limit::SharedBottleneck, "{}", said(&facts).1);
    }
}

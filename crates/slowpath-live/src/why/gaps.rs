//! What gaps in what arrives mean, at the receiving end.

use super::facts::Facts;

/// Whether what was missing at the receiver was lost, a segment or so at a time, at rates that no bucket nor queue has, and slowed the
/// sender down each time.
pub(super) fn are_gaps_by_chance(facts: &Facts) -> bool {
    let (all, long, queued) = facts.gaps;
    let mostly_lost = long >= MANY_GAPS && long * 2 > all && queued * 2 <= long;
    let one_at_a_time = facts.lost_here as f64 <= TOGETHER * long as f64;
    let any_rate =
        (facts.rate_spread_at_gap).is_some_and(|spread| spread >= ANY_RATE) && facts.rates_at_most <= BOUNDED;
    let slowed_down = facts.rate_left_by_gap.is_some_and(|left| left <= SLOWED);
    facts.gaps_are_clear && mostly_lost && one_at_a_time && any_rate && slowed_down
}

/// What was missing at the receiver, where that is much and its cause stays open.
pub(super) fn gaps_seen(facts: &Facts) -> Option<GapsSeen> {
    let (all, long, _) = facts.gaps;
    let much = all >= GAPS && facts.missing_s >= MISSING * facts.seconds;
    (facts.receiving && much).then_some(if !facts.gaps_are_clear {
        GapsSeen::Either
    } else if long * 2 > all {
        GapsSeen::Lost
    } else if long * 4 <= all {
        GapsSeen::Overtaken
    } else {
        GapsSeen::Either
    })
}

/// What gaps in what arrives are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GapsSeen {
    /// Segments that were lost: each gap stayed open for a round trip.
    Lost,
    /// Segments that others overtook: gaps closed sooner than anything could be sent again.
    Overtaken,
    /// One or the other.
    Either,
}

/// Fewer gaps in what arrives are no rule.
const GAPS: usize = 3;
/// So many that the rates before them tell chance from a rule.
const MANY_GAPS: usize = 8;
/// Share of the time with something missing that is told.
const MISSING: f64 = 0.03;
/// Segments that chance takes at a time, on average, as far as a receiver can count them.
const TOGETHER: f64 = 2.0;
/// Spread of the rate at gaps that no bucket and no queue has, at a receiver.
const ANY_RATE: f64 = 0.2;
/// Share of the rates at gaps that are the same, and the greatest, from which on something bounds them.
const BOUNDED: f64 = 0.25;
/// A gap that slows the sender down leaves no more of its rate: CUBIC leaves 0.7, Reno 0.5.
const SLOWED: f64 = 0.85;

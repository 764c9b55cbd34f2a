//! A link or shaper that is full, of this flow alone or together with others: what both limits begin with.

use slowpath_facts::QueueFit;

use crate::case::{Case, EXPLAINED, IDLE_SHARE_ALONE, NO_QUEUE, UTILISATION};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};
use crate::message::{Count, Rate, Share, Size, Span};

cuts! {
    /// Delay step from which there is one.
    QUEUE: 0.4 between 0.0, 0.423;
    /// Use of a link from which the overflows of its own short queue make it the limit.
    SHORT_QUEUE: 0.25 between NONE, 0.756;
    /// Use of a link below which losses that come at any backlog, not the link, are the limit.
    LOSSY_LINK: 0.75 between NONE, NONE;
    /// Segments that are no queue.
    HANDFUL: 5.0 between NONE, 38.4;
    /// Share of round trips on the plateau that leaves no doubt that the flight is constant.
    CONSTANT: 0.9 between 0.892, 0.900;
    /// Share of the time during which another flow of the same hosts was active, from which they share the link.
    OVERLAP: 0.3 between NONE, 0.976;
}

/// Whether other flows between the same hosts share whatever this one fills.
pub(super) fn is_shared(case: &Case) -> bool {
    case.around.flows > 1 && case.exceeds(OVERLAP, case.around.overlap)
}

/// Looks for a link that is full.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    let facts = case.facts;
    let fit = case.queue().unwrap_or_default();
    let own = facts.queue.unwrap_or_default();
    let shared = is_shared(case);
    // A shaper lets a bucket pass before it queues: its delay follows the backlog, but not from the first byte on.
    let behind_bucket =
        || case.reaches(NO_QUEUE, fit.delay_step) && case.reaches(EXPLAINED, fit.delay_correlation);
    let by_loss = case.losses_follow_load(&fit) && (case.reaches(QUEUE, fit.delay_step) || behind_bucket());
    let by_delay = case.fills(&fit) || (!shared && case.fills(&own));
    let arrives = case.arrives_at_link_rate();
    let queued = case.steady_behind_queue() || case.standing_queue() || case.alone_in_disorder();
    let by_rate = (arrives || queued) && !case.swings();
    let by_arrival = arrives && by_rate;
    if !(by_loss || by_delay || by_rate) {
        return Err(no_queue(case, &fit));
    }
    let rate = if by_delay && case.fills(&fit) {
        fit.delay.rate_bit_per_s
    } else if by_delay {
        own.delay.rate_bit_per_s
    } else if by_loss {
        fit.rate_bit_per_s
    } else if by_arrival {
        facts.arrival_peak_bit_per_s
    } else {
        case.ethernet_rate()
    };
    // Trains that leave it are no faster than it, and what got through is no more than it carries, whatever a fit of delays says.
    let rate = at_most_trains(case, rate).max(case.ethernet_rate());
    // A link must be used for most of the time to be the limit; one that stands idle after losses which its queue did
    // not make is not.
    let used = fit.mean_bit_per_s / rate.max(1.0);
    let lossy = case.losses_ignore_load(&fit) && !shared;
    // A queue that is too short makes the losses itself after which its link stands idle.
    let least = match (by_loss, lossy) {
        (true, _) => SHORT_QUEUE,
        (false, true) => LOSSY_LINK,
        (false, false) => UTILISATION,
    };
    require(by_rate || case.reaches(least, used), Reason::SmallerShare, || {
        Message::LinkHardlyUsed {
            rate: Rate(rate),
            used: Share(used),
        }
    })?;
    let queued = (facts.rtt.p95 - case.base_rtt).max(0.0);
    let size = if by_loss {
        fit.size_bytes
    } else {
        queued * rate / 8.0
    };
    // Without losses a link lets the flight grow. One that stays constant, with a delay that a handful of segments
    // makes, is held by its program, and the delay is that of its rhythm.
    let constant = facts.loss.episodes == 0 && case.reaches(CONSTANT, facts.flight.plateau_share);
    let handful = || case.below_times(HANDFUL, size, facts.segment_size.max(1));
    require(!(constant && handful()), Reason::FlightConstant, || {
        Message::NoFullLinks {
            flight: Size(facts.flight.plateau as f64),
        }
    })?;
    let (queued_s, size_b, base) = (Span(queued), Size(size), Span(case.base_rtt));
    let (limit, sentence) = if shared {
        let sentence = Message::FillsSharedLink {
            rate: Rate(rate),
            flows: Count(case.around.flows.into()),
            queued: queued_s,
            size: size_b,
            base,
        };
        (Limit::SharedBottleneck, sentence)
    } else {
        let sentence = Message::FillsLink {
            rate: Rate(rate),
            queued: queued_s,
            size: size_b,
            base,
        };
        (Limit::BottleneckBandwidth, sentence)
    };
    let mut out = Finding::new(
        limit,
        1.0 - case.share(facts.time.idle_s),
        if by_delay || by_loss { FITTED } else { LIKELY },
        sentence,
    );
    if bloats(case, queued) {
        out.flags.push(Flag::Bufferbloat);
    }
    if shared {
        out.flags.push(Flag::SharedWithOtherFlows);
    }
    if case.reaches(IDLE_SHARE_ALONE, case.share(facts.time.idle_s)) {
        out.flags.push(Flag::Mixed);
    }
    out.parameters.rate_bit_per_s = Some(rate);
    out.parameters.queue_bytes = Some(size.round() as u64);
    out.parameters.queue_delay_s = Some(queued);
    out.parameters.rtt_s = Some(case.rtt);
    if facts.loss.lost_segments > 0 {
        out.parameters.loss_fraction = Some(facts.loss.fraction);
    }
    Ok(out)
}

/// A rate in bit/s, or that of the trains that leave the link, where they are known to be slower: of other flows between their segments
/// they are slower than the link.
pub(super) fn at_most_trains(case: &Case, rate: f64) -> f64 {
    let trains = (case.facts.timeline.train_rate).filter(|_| !is_shared(case));
    let trains = trains.map(|rate| case.frames(rate * 8.0));
    trains.map_or(rate, |trains| if rate > BEYOND * trains { trains } else { rate })
}

/// How much faster than the trains that leave it a link may seem.
const BEYOND: f64 = 1.1;

/// Whether the queue that stands is on the way of the acknowledgements: what round trips grow by, the receiver's own clock shows to be
/// theirs.
pub(crate) fn is_of_acknowledgements(case: &Case, limit: Limit) -> bool {
    acknowledgements_wait(case, limit, THEIRS)
}

/// Whether one stands there as well, perhaps beside one of data: what a faster link for these alone gives is not known then.
pub(crate) fn is_of_acknowledgements_too(case: &Case, limit: Limit) -> bool {
    acknowledgements_wait(case, limit, TOO)
}

/// Whether acknowledgements wait for at least this share of what round trips grow by.
fn acknowledgements_wait(case: &Case, limit: Limit, share: f64) -> bool {
    let (waits, grows) = (case.facts.acks_wait_s, case.facts.rtt.p95 - case.base_rtt);
    let link = matches!(limit, Limit::BottleneckBandwidth | Limit::SharedBottleneck);
    link && waits >= LONG_WAIT && waits >= share * grows
}

/// What is said of it, and what to look at next.
pub(crate) fn of_acknowledgements(case: &Case) -> (Message, Option<Message>) {
    let waits = Span(case.facts.acks_wait_s);
    (Message::AcksFillLink { waits }, Some(Message::LookAtAcks {}))
}

/// How long acknowledgements wait that stand in a queue, seconds; chosen.
const LONG_WAIT: f64 = 0.01;
/// Share of what round trips grow by that is theirs then, so that data wait for nothing; chosen.
const THEIRS: f64 = 0.9;
/// Share from which they wait as well; chosen.
const TOO: f64 = 0.3;

/// The queue adds more delay than the path has, and more than anybody would call short.
pub(super) fn bloats(case: &Case, queued_s: f64) -> bool {
    queued_s > case.base_rtt.max(BLOAT)
}

/// Nothing of a full link shows.
fn no_queue(case: &Case, fit: &QueueFit) -> No {
    if case.inflated() {
        let explained = Share(fit.delay.explained.max(0.0));
        No::new(Reason::DelayIgnoresLoad, Message::DelayUnexplained { explained })
    } else {
        let message = Message::RttNearBase {
            rtt: Span(case.rtt),
            base: Span(case.base_rtt),
        };
        No::new(Reason::DelayAtBase, message)
    }
}

/// Queueing delay below which nobody calls it bloat, seconds.
const BLOAT: f64 = 0.02;
/// Confidence where losses or delays fit a queue; chosen.
const FITTED: f64 = 0.95;
/// Confidence where rates alone tell; chosen.
const LIKELY: f64 = 0.85;

//! The rules: facts in, verdict out.
//!
//! Each rule looks for one limit and says why it did or did not find it. The order is that of certainty: what the
//! window field says outright comes before what is inferred from losses, and that before what is inferred from their
//! absence. The cut-offs stand in [`cutoff`].

use std::fmt::Write as _;

use super::evidence;
use super::intervals;
use super::words::{bits, bytes, percent, span};
use crate::analysis::Tap;
use crate::facts::{FlowFacts, QueueFit};
use crate::limit::{Flag, Limit, Reason};
use crate::verdict::{Interval, Parameters, Rejected, Verdict};

/// Cut-offs, each between what the two sides of it show in labelled captures; see the crate's `tests/corpus.rs` for
/// how far the margin is and how it was checked.
pub(crate) mod cutoff {
    /// Fewest payload bytes, in segments, for a verdict about a limit.
    pub(crate) const SEGMENTS: u64 = 30;
    /// Share of the time that the window must hold the sender.
    pub(crate) const WINDOW_SHARE: f64 = 0.5;
    /// Share of the time with a closed window that is a limit whatever held the rest.
    pub(crate) const CLOSED_SHARE: f64 = 0.25;
    /// Share of the time with a full window far below its largest that is a limit whatever held the rest.
    pub(crate) const SHRUNK_SHARE: f64 = 0.3;
    /// Mean window while it holds, relative to its largest, below which the reader is slow.
    pub(crate) const WINDOW_RATIO: f64 = 0.8;
    /// Share of the time with nothing in flight that makes the program the limit.
    pub(crate) const IDLE_SHARE: f64 = 0.6;
    /// The same when nothing else explains the rest.
    pub(crate) const IDLE_SHARE_ALONE: f64 = 0.3;
    /// Error of the virtual-queue fit up to which losses follow the flow's own load.
    pub(crate) const FIT_ERROR: f64 = 0.35;
    /// Spread of the backlog at losses up to which there is one size.
    pub(crate) const FIT_SPREAD: f64 = 0.6;
    /// Spread that tells by itself, with [`SHARP_ERROR`].
    pub(crate) const SHARP_SPREAD: f64 = 0.08;
    /// Error up to which a small spread tells by itself.
    pub(crate) const SHARP_ERROR: f64 = 0.6;
    /// Delay step up to which there is no queue.
    pub(crate) const NO_QUEUE: f64 = 0.2;
    /// Delay step from which there is one.
    pub(crate) const QUEUE: f64 = 0.4;
    /// Smallest bucket: one that cannot hold three frames lets no transfer pass.
    pub(crate) const BUCKET: f64 = 4_500.0;
    /// Losses for a fit.
    pub(crate) const FIT_LOSSES: u64 = 10;
    /// Share of the delay's variance that a queue must explain.
    pub(crate) const EXPLAINED: f64 = 0.7;
    /// Rate over the queue's rate from which the flow fills it.
    pub(crate) const UTILISATION: f64 = 0.5;
    /// Share of round trips at the largest flight that makes it a ceiling.
    pub(crate) const CEILING: f64 = 0.4;
    /// Share of the delay's variance up to which the flow's own load does not explain it.
    pub(crate) const OWN_QUEUE: f64 = 0.35;
    /// Rank of the delay before losses from which a full queue drops.
    pub(crate) const FULL_RANK: f64 = 0.8;
    /// Share of the time at the link's rate below which others use the link too.
    pub(crate) const WHOLE_LINK: f64 = 0.78;
    /// Share of bursts that a message of the peer's program releases.
    pub(crate) const ANSWERED: f64 = 0.25;
    /// Share of round trips on the plateau of the flight.
    pub(crate) const PLATEAU: f64 = 0.75;
}

/// What is known beside the flow itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Surroundings {
    /// Flows of some size between the same hosts in the same direction, this one included; 0 if alone.
    pub(crate) flows: u32,
    /// The virtual queue fitted to all of them together.
    pub(crate) shared: Option<QueueFit>,
    /// Share of this flow's time during which another was active.
    pub(crate) overlap: f64,
    /// Most packets have no time stamp.
    pub(crate) untimed: bool,
    /// Unit of the capture clock.
    pub(crate) clock_s: f64,
    /// Packets were recorded with one of the ports of SSH.
    pub(crate) ssh: bool,
}

/// What a rule found.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) limit: Limit,
    pub(crate) share: f64,
    pub(crate) confidence: f64,
    pub(crate) sentence: String,
    pub(crate) parameters: Parameters,
    pub(crate) flags: Vec<Flag>,
    pub(crate) next_step: Option<String>,
}

/// A flow with the figures that several rules use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) facts: &'a FlowFacts,
    pub(crate) around: &'a Surroundings,
    pub(crate) total: f64,
    pub(crate) base_rtt: f64,
    pub(crate) rtt: f64,
}

/// Judges one flow.
pub(crate) fn judge(facts: &FlowFacts, around: &Surroundings) -> (Verdict, Vec<Interval>) {
    let base_rtt = [facts.rtt.min, facts.handshake_rtt_s]
        .into_iter()
        .filter(|rtt| *rtt > 0.0)
        .fold(f64::INFINITY, f64::min);
    let base_rtt = if base_rtt.is_finite() { base_rtt } else { 0.0 };
    let case = Case {
        facts,
        around,
        total: facts.time.total_s.max(1e-9),
        base_rtt,
        rtt: if facts.rtt.count > 0 {
            facts.rtt.median
        } else {
            base_rtt
        },
    };
    let rules: [fn(&Case) -> Option<Finding>; 14] = [
        unusable,
        black_hole,
        too_short,
        receiver,
        idle_program,
        policed,
        marked,
        reordered,
        crowded,
        bottleneck,
        lossy,
        answered,
        constant_flight,
        short_or_growing,
    ];
    let found = rules
        .iter()
        .find_map(|rule| rule(&case))
        .unwrap_or_else(|| undecided(&case));
    let intervals = intervals::intervals(&case, found.limit);
    let rejected = rejected(&case, found.limit);
    let verdict = Verdict {
        limit: found.limit,
        flags: found.flags.clone(),
        share: found.share.clamp(0.0, 1.0),
        confidence: (found.confidence * trust(&case)).clamp(0.0, 1.0),
        sentence: found.sentence.clone(),
        parameters: found.parameters,
        evidence: evidence::evidence(&case, &found),
        rejected,
        next_step: found.next_step,
    };
    (verdict, intervals)
}

impl Case<'_> {
    fn share(&self, seconds: f64) -> f64 {
        seconds / self.total
    }

    /// Share of the time that the window held the sender.
    pub(crate) fn held(&self) -> f64 {
        self.share(self.facts.time.window_full_s + self.facts.time.window_closed_s)
    }

    /// The round trip is much longer than on the empty path.
    pub(crate) fn inflated(&self) -> bool {
        let margin = (2.0 * self.around.clock_s).max(0.002);
        self.facts.rtt.count >= 10 && self.rtt > 1.15 * self.base_rtt + margin
    }

    /// The queue that decides: that of all flows of the host pair if there are several, else the flow's own.
    pub(crate) fn queue(&self) -> Option<QueueFit> {
        if self.around.flows > 1 {
            self.around.shared.or(self.facts.queue)
        } else {
            self.facts.queue
        }
    }

    /// Losses come at one backlog.
    pub(crate) fn losses_follow_load(fit: &QueueFit) -> bool {
        // Many losses at the very same backlog are no accident even where deliveries come close to it, as they do
        // at a receiver, which sees a loss only with the packet behind it.
        let sharp = fit.losses >= 30
            && fit.spread <= cutoff::SHARP_SPREAD
            && fit.error <= cutoff::SHARP_ERROR
            && fit.size_bytes >= 2.0 * cutoff::BUCKET;
        let separated = fit.error <= cutoff::FIT_ERROR && fit.spread <= cutoff::FIT_SPREAD;
        fit.losses >= cutoff::FIT_LOSSES
            && (separated || sharp)
            && (fit.episodes >= 3 || (fit.losses >= 30 && fit.error <= 0.05))
    }

    /// The rate and size of a policer, if the fit shows one.
    pub(crate) fn bucket(&self, fit: &QueueFit) -> bool {
        let drain = fit.size_bytes * 8.0 / fit.rate_bit_per_s.max(1.0);
        let full_queue_would_show = drain > 2.0 * self.around.clock_s;
        Self::losses_follow_load(fit)
            && fit.size_bytes >= cutoff::BUCKET
            && full_queue_would_show
            && fit.delay_samples >= 10
            && fit.delay_step.abs() < cutoff::NO_QUEUE
            && fit.delay.delay_p95_s < 0.6 * drain.max(0.01)
            && !(fit.delay.explained > cutoff::EXPLAINED && self.fills(fit))
    }

    /// The flow runs at the rate of a queue that explains its delays.
    pub(crate) fn fills(&self, fit: &QueueFit) -> bool {
        fit.delay.explained >= cutoff::EXPLAINED
            && fit.delay.delay_p95_s > (0.03 * self.base_rtt).max(0.001).max(2.0 * self.around.clock_s)
            && fit.mean_bit_per_s >= cutoff::UTILISATION * fit.delay.rate_bit_per_s
            && !(self.facts.tap == Tap::Receiver && self.arrives_faster_than(fit.delay.rate_bit_per_s))
    }

    /// The delivery rate stays the same while a queue stands.
    pub(crate) fn steady_behind_queue(&self) -> bool {
        let rate = &self.facts.rate;
        self.inflated() && rate.count >= 10 && rate.p10 >= 0.8 * rate.p90
    }

    /// The queue hardly ever empties: the link behind it is always busy.
    pub(crate) fn standing_queue(&self) -> bool {
        let margin = (2.0 * self.around.clock_s).max(0.001);
        self.facts.rtt.count >= 50
            && self.facts.flight.rounds >= 20
            && self.facts.rtt.p10 > 1.5 * self.base_rtt + margin
    }

    /// Behind the bottleneck: data arrive at one rate nearly all the time, and a queue delays them.
    pub(crate) fn arrives_at_link_rate(&self) -> bool {
        let facts = self.facts;
        let queued =
            facts.rtt.count >= 10 && facts.rtt.p90 > 1.03 * self.base_rtt + 0.001 + 2.0 * self.around.clock_s;
        matches!(facts.tap, Tap::Receiver | Tap::Middle)
            && queued
            && facts.arrival_busy >= 0.6
            && !self.arrives_faster_than(facts.arrival_peak_bit_per_s)
    }

    /// Behind a link of `rate` no packet follows another sooner than the link can send it.
    pub(crate) fn arrives_faster_than(&self, rate: f64) -> bool {
        self.facts.tap == Tap::Receiver && self.facts.arrival_local_bit_per_s > 2.0 * rate
            || self.facts.tap == Tap::Middle && self.facts.arrival_local_bit_per_s > 3.0 * rate
    }

    fn ethernet_rate(&self) -> f64 {
        // Payload to Ethernet frames with FCS.
        let segment = f64::from(self.facts.segment_size.max(1));
        let seconds = (self.total - self.facts.time.idle_s).max(1e-9);
        self.facts.bytes as f64 * 8.0 / seconds * (segment + 70.0) / segment
    }
}

fn finding(limit: Limit, share: f64, confidence: f64, sentence: String) -> Finding {
    Finding {
        limit,
        share,
        confidence,
        sentence,
        parameters: Parameters::default(),
        flags: Vec::new(),
        next_step: None,
    }
}

/// How far the capture can be trusted, 0 to 1.
fn trust(case: &Case) -> f64 {
    let facts = case.facts;
    let loss = (1.0 - 4.0 * facts.capture_loss_fraction).clamp(0.3, 1.0);
    let handshake = if facts.handshake_seen { 1.0 } else { 0.85 };
    let tap = match facts.tap {
        Tap::Sender => 1.0,
        Tap::Receiver | Tap::Middle => 0.95,
        Tap::Unknown => 0.85,
    };
    let clock = if case.around.clock_s > 0.05 * case.rtt.max(1e-6) {
        0.9
    } else {
        1.0
    };
    loss * handshake * tap * clock
}

fn unusable(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let (why, next) = if case.around.untimed {
        ("the packets have no time stamps", "a capture with time stamps")
    } else if !facts.acknowledged {
        (
            "only one direction of the connection was recorded",
            "both directions at one point",
        )
    } else if facts.segments == 0 && facts.bytes > 0 {
        (
            "only acknowledgements were recorded",
            "both directions at one point",
        )
    } else if facts.capture_loss_fraction > 0.9 {
        (
            "the capture missed nearly all data",
            "both directions at one point",
        )
    } else {
        return None;
    };
    let mut out = finding(
        Limit::Unknown,
        1.0,
        0.9,
        format!("Cannot be told from here: {why}."),
    );
    out.next_step = Some(format!("take {next}"));
    Some(out)
}

fn black_hole(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let loss = &facts.loss;
    let segment = u64::from(facts.segment_size);
    let stuck = loss.stuck_bytes > 0
        && u64::from(loss.largest_delivered) + 100 < segment
        && loss.max_retransmissions >= 3;
    let told = !facts.too_big.is_empty() && loss.max_retransmissions >= 3 && stuck;
    if !(stuck || told) {
        return None;
    }
    let mut out = finding(
        Limit::MtuBlackHole,
        1.0,
        0.85,
        format!(
            "Full-size segments ({segment} bytes of payload) were sent {} times and never acknowledged, while segments up to {} bytes got through: a smaller MTU on the path, and nobody heeds or sends the message about it.",
            loss.max_retransmissions + 1,
            loss.largest_delivered
        ),
    );
    out.parameters.loss_fraction = Some(loss.fraction);
    Some(out)
}

fn too_short(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let segment = u64::from(facts.segment_size.max(500));
    if facts.bytes >= cutoff::SEGMENTS * segment {
        return None;
    }
    let mut out = finding(
        Limit::Unknown,
        1.0,
        0.9,
        format!(
            "Too little was transferred ({}) to tell a limit.",
            bytes(facts.bytes as f64)
        ),
    );
    out.next_step = Some("capture a longer transfer".to_owned());
    Some(out)
}

fn receiver(case: &Case) -> Option<Finding> {
    let (facts, time, window) = (case.facts, &case.facts.time, &case.facts.window);
    let held = case.held();
    let closed = case.share(time.window_closed_s);
    let shrinking = held < cutoff::WINDOW_SHARE
        && case.share(time.window_closed_s + time.window_shrunk_s) >= cutoff::SHRUNK_SHARE;
    if window.scale_known == 0 || (held < cutoff::WINDOW_SHARE && closed < cutoff::CLOSED_SHARE && !shrinking)
    {
        return None;
    }
    let shrunk = time.window_closed_s + time.window_shrunk_s;
    let slow_reader = shrinking
        || closed >= cutoff::CLOSED_SHARE
        || window.full_ratio < cutoff::WINDOW_RATIO
        || shrunk > 0.5 * (time.window_closed_s + time.window_full_s);
    if slow_reader {
        let rate = if window.edge_rate > 0.0 {
            window.edge_rate
        } else {
            facts.bytes as f64 / case.total
        };
        let rhythmic = window.period_s > 0.0 && held >= cutoff::WINDOW_SHARE;
        let step = rhythmic.then(|| (rate * window.period_s).round() as u64);
        let steps = step.map_or_else(String::new, |step| {
            format!(
                ", in steps of {} every {}",
                bytes(step as f64),
                span(window.period_s)
            )
        });
        let mut out = finding(
            Limit::ReceiverApplication,
            held.max(closed),
            0.9,
            format!(
                "The receiving program takes only {}/s{steps}: the window shrinks from {} to {} and is closed {} of the time. A larger window or another path would not help.",
                bytes(rate),
                bytes(window.max as f64),
                bytes(window.min as f64),
                percent(closed)
            ),
        );
        out.parameters.drain_byte_per_s = Some(rate);
        out.parameters.drain_step_bytes = step;
        out.parameters.window_bytes = Some(window.full_median);
        out.parameters.rtt_s = Some(case.rtt);
        if held < cutoff::WINDOW_SHARE {
            out.flags.push(Flag::Mixed);
        }
        return Some(out);
    }
    let queue = facts.queue.unwrap_or_default();
    if case.inflated() && case.rtt > 1.5 * case.base_rtt && (case.fills(&queue) || case.steady_behind_queue())
    {
        // The window is full because a queue is: more window means more queue.
        return None;
    }
    let mut out = finding(
        Limit::ReceiverWindow,
        held,
        0.6 + 0.38 * held,
        format!(
            "The receiver's window of {} is full {} of the time: with a round trip of {} it allows {}, whatever the path could carry.",
            bytes(window.full_median as f64),
            percent(held),
            span(case.rtt),
            bits(window.full_median as f64 * 8.0 / case.rtt.max(1e-9))
        ),
    );
    out.parameters.window_bytes = Some(window.full_median);
    out.parameters.rtt_s = Some(case.rtt);
    if window.scale_known == 1 {
        out.confidence *= 0.8;
        out.sentence.push_str(" The window scale is inferred.");
    }
    Some(out)
}

fn idle_program(case: &Case) -> Option<Finding> {
    let time = &case.facts.time;
    let idle = case.share(time.idle_s);
    // What follows the last data is no pause of the program.
    (idle >= cutoff::IDLE_SHARE && time.idle_pauses > 0).then(|| sender_idle(case, idle))
}

fn sender_idle(case: &Case, idle: f64) -> Finding {
    let time = &case.facts.time;
    let rate = case.facts.bytes as f64 / case.total;
    let mut out = finding(
        Limit::SenderApplication,
        idle,
        0.6 + 0.38 * idle,
        format!(
            "The sending program pauses: {} of the time nothing is in flight although the window is open ({} pauses, the longest {}).",
            percent(idle),
            time.idle_pauses,
            span(time.longest_idle_s)
        ),
    );
    out.parameters.source_byte_per_s = Some(rate);
    out
}

fn policed(case: &Case) -> Option<Finding> {
    let own = case.facts.queue;
    let shared = (case.around.flows > 1).then_some(case.around.shared).flatten();
    let (fit, together) = match (shared, own) {
        (Some(fit), _) if case.bucket(&fit) => (fit, true),
        (_, Some(fit)) if case.bucket(&fit) => (fit, false),
        _ => return None,
    };
    // Far below the rate, the bucket alone drops: its rate could as well be higher.
    let lower_bound = fit.mean_bit_per_s < 0.5 * fit.rate_bit_per_s;
    let mut out = finding(
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
    if case.share(case.facts.time.idle_s) >= cutoff::IDLE_SHARE_ALONE {
        out.flags.push(Flag::Mixed);
    }
    out.parameters.rate_bit_per_s = Some(fit.rate_bit_per_s);
    out.parameters.rate_is_lower_bound = Some(lower_bound);
    out.parameters.bucket_bytes = Some(fit.size_bytes.round() as u64);
    out.parameters.loss_fraction = Some(case.facts.loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    Some(out)
}

fn marked(case: &Case) -> Option<Finding> {
    let (ecn, loss) = (&case.facts.ecn, &case.facts.loss);
    let often = ecn.rounds_with_marks >= 2 && ecn.rounds_with_marks * 200 >= case.facts.flight.rounds;
    if !often || ecn.rounds_with_marks < loss.episodes || ecn.reported == 0 {
        return None;
    }
    let fraction = match ecn.mode {
        crate::analysis::EcnMode::Accurate => ecn.reported as f64 / case.facts.segments.max(1) as f64,
        _ if ecn.ce_packets > 0 => ecn.ce_packets as f64 / case.facts.segments.max(1) as f64,
        _ => ecn.rounds_with_marks as f64 / case.facts.flight.rounds.max(1) as f64,
    };
    let mut out = finding(
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
    Some(out)
}

fn reordered(case: &Case) -> Option<Finding> {
    let loss = &case.facts.loss;
    let late = loss.reordered;
    let enough =
        late >= 5 && late * 500 >= case.facts.segments && loss.spurious + late > 2 * loss.lost_segments;
    let harmful = loss.spurious > 0 || loss.retransmitted_segments > 0;
    let held_back = case.held() < 0.3 && case.share(case.facts.time.idle_s) < 0.3;
    if !(enough && harmful && held_back) {
        return None;
    }
    if case.queue().is_some_and(|fit| case.fills(&fit)) {
        return None;
    }
    let mut out = finding(
        Limit::Reordering,
        1.0 - case.share(case.facts.time.idle_s),
        0.88,
        format!(
            "Packets overtake each other: {late} segments came late, the sender took that for loss and sent {} again, of which only {} had been lost.",
            loss.retransmitted_segments, loss.lost_segments
        ),
    );
    out.parameters.loss_fraction = Some(loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    Some(out)
}

fn bottleneck(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let fit = case.queue().unwrap_or_default();
    let own = facts.queue.unwrap_or_default();
    let shared = case.around.flows > 1 && case.around.overlap > 0.3;
    let by_loss = Case::losses_follow_load(&fit) && fit.delay_step >= cutoff::QUEUE;
    let by_delay = case.fills(&fit) || (!shared && case.fills(&own));
    let by_arrival = case.arrives_at_link_rate();
    let by_rate = by_arrival || case.steady_behind_queue() || case.standing_queue();
    if !(by_loss || by_delay || by_rate) {
        return None;
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
    // A link must be used for most of the time to be the limit.
    let used = fit.mean_bit_per_s / rate.max(1.0);
    if !by_rate && used < 0.5 {
        return None;
    }
    let queued = (facts.rtt.p95 - case.base_rtt).max(0.0);
    let size = if by_loss {
        fit.size_bytes
    } else {
        queued * rate / 8.0
    };
    let limit = if shared {
        Limit::SharedBottleneck
    } else {
        Limit::BottleneckBandwidth
    };
    let mut out = finding(
        limit,
        1.0 - case.share(facts.time.idle_s),
        if by_delay || by_loss { 0.95 } else { 0.85 },
        format!(
            "The transfer fills a link or shaper of {}{}: delay grows with the backlog, up to {} ({}) above the empty path's {}.",
            bits(rate),
            if shared {
                format!(", which {} flows between the same hosts share", case.around.flows)
            } else {
                String::new()
            },
            span(queued),
            bytes(size),
            span(case.base_rtt)
        ),
    );
    if queued > case.base_rtt.max(0.02) {
        out.flags.push(Flag::Bufferbloat);
    }
    if shared {
        out.flags.push(Flag::SharedWithOtherFlows);
    }
    if case.share(facts.time.idle_s) >= cutoff::IDLE_SHARE_ALONE {
        out.flags.push(Flag::Mixed);
    }
    out.parameters.rate_bit_per_s = Some(rate);
    out.parameters.queue_bytes = Some(size.round() as u64);
    out.parameters.queue_delay_s = Some(queued);
    out.parameters.rtt_s = Some(case.rtt);
    if facts.loss.lost_segments > 0 {
        out.parameters.loss_fraction = Some(facts.loss.fraction);
    }
    Some(out)
}

/// Others fill the queue: the delay is high and does not follow the flow's own load, and losses come when it is highest
/// or it never falls back to the empty path's.
fn crowded(case: &Case) -> Option<Finding> {
    let (facts, loss) = (case.facts, &case.facts.loss);
    let fit = case.queue().unwrap_or_default();
    let own = facts.queue.unwrap_or_default();
    let margin = (0.05 * case.base_rtt).max(0.002).max(3.0 * case.around.clock_s);
    let delayed =
        facts.rtt.count >= 50 && facts.flight.rounds >= 20 && facts.rtt.p90 - case.base_rtt > 1.5 * margin;
    // A link that these packets keep busy is full of them, whatever the fits say.
    let part_of_it = facts.arrival_busy > 0.0 && facts.arrival_busy < cutoff::WHOLE_LINK;
    let not_own = [&fit, &own]
        .iter()
        .all(|fit| !case.fills(fit) && fit.delay.explained < cutoff::OWN_QUEUE);
    let free = case.held() < 0.3 && case.share(facts.time.idle_s) < cutoff::IDLE_SHARE_ALONE;
    if !(delayed && part_of_it && not_own && free) {
        return None;
    }
    let mostly = facts.rtt.median - case.base_rtt > margin;
    let ranked = loss.ranked_episodes >= if mostly { 1 } else { 3 };
    let at_full_queue = ranked && loss.delay_rank >= cutoff::FULL_RANK;
    // Before the link a program or pacing may leave pauses; there only a rate that others change tells.
    let afar = matches!(facts.tap, Tap::Receiver | Tap::Middle);
    let part = afar || (!case.steady_behind_queue() && facts.rate.p10 < 0.6 * facts.rate.p90);
    let stands = facts.rtt.p10 - facts.rtt.min > 0.4 * (facts.rtt.p90 - facts.rtt.min)
        && mostly
        && facts.rtt.p10 - case.base_rtt > margin
        && facts.flight.plateau_share < cutoff::PLATEAU
        && part;
    if !(at_full_queue || stands) {
        return None;
    }
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
    let mut out = finding(
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
    Some(out)
}

fn lossy(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let loss = &facts.loss;
    let idle = case.share(facts.time.idle_s);
    if idle >= cutoff::IDLE_SHARE_ALONE && loss.episodes < 3 {
        return None;
    }
    if loss.lost_segments == 0 || loss.episodes == 0 {
        return None;
    }
    let blind =
        facts.capture_loss_fraction > 0.005 && facts.loss.fraction < 5.0 * facts.capture_loss_fraction;
    if blind {
        let mut out = finding(
            Limit::CaptureLoss,
            1.0,
            0.8,
            format!(
                "The capture missed {} of the data against {} lost on the way; whether and how losses limited the transfer cannot be told.",
                percent(facts.capture_loss_fraction),
                percent(loss.fraction)
            ),
        );
        out.next_step = Some("capture again with a larger buffer, or only the headers".to_owned());
        return Some(out);
    }
    let fit = case.queue().unwrap_or_default();
    // Losses at one backlog, without the delay that would tell a queue from a bucket.
    if Case::losses_follow_load(&fit) {
        let mut out = finding(
            Limit::Unknown,
            1.0,
            0.5,
            format!(
                "Losses come at a backlog of {} over {}, so a queue or a policer drops, but the delays do not tell which.",
                bytes(fit.size_bytes),
                bits(fit.rate_bit_per_s)
            ),
        );
        out.parameters.rate_bit_per_s = Some(fit.rate_bit_per_s);
        out.parameters.loss_fraction = Some(loss.fraction);
        out.next_step =
            Some("capture at the sender, or send at a rate a little above and below this one".to_owned());
        return Some(out);
    }
    if facts.rtt.count < 10 && loss.episodes < 5 {
        // Without round trips a queue before the losses cannot be excluded.
        return None;
    }
    if loss.episodes < 5 && loss.lost_segments > 3 * loss.episodes {
        let mut out = finding(
            Limit::Unknown,
            1.0,
            0.5,
            format!(
                "{} segments were lost in only {} bursts: an overflowing queue, a policer or an outage, which so few bursts do not tell apart.",
                loss.lost_segments, loss.episodes
            ),
        );
        out.parameters.loss_fraction = Some(loss.fraction);
        out.next_step = Some("capture a longer transfer, best at the sender".to_owned());
        return Some(out);
    }
    // The loss must be able to hold the rate that was seen: compare with what congestion control makes of it.
    let probability = loss.episodes as f64 / facts.segments.max(1) as f64;
    let segment = f64::from(facts.segment_size.max(1));
    let reno = 1.22 * segment / (case.rtt.max(1e-4) * probability.sqrt());
    let cubic = 1.054 * segment * (case.rtt.max(1e-4) / probability).powf(0.75) / case.rtt.max(1e-4);
    let expected = reno.max(cubic);
    let seen = facts.bytes as f64 / (case.total - facts.time.idle_s).max(1e-9);
    if loss.episodes < 3 && !(0.3..3.0).contains(&(seen / expected)) {
        return None;
    }
    let mut out = finding(
        Limit::RandomLoss,
        1.0 - idle,
        (0.55 + 0.05 * loss.episodes.min(7) as f64).min(0.9),
        format!(
            "Losses that the load does not explain hold the congestion window down: {} of {} segments lost in {} episodes, no queue before them, window and program not in the way.",
            loss.lost_segments, facts.segments, loss.episodes
        ),
    );
    out.parameters.loss_fraction = Some(loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    if idle >= cutoff::IDLE_SHARE_ALONE {
        out.flags.push(Flag::Mixed);
    }
    Some(out)
}

/// The peer's program, not its TCP, releases data: a protocol that allows a fixed amount until it is answered.
fn answered(case: &Case) -> Option<Finding> {
    let (facts, clocking) = (case.facts, &case.facts.clocking);
    let idle = case.share(facts.time.idle_s);
    let steady = facts.loss.episodes <= 1 && !case.inflated() && case.held() < cutoff::WINDOW_SHARE;
    let messages = clocking.answers >= 20 && clocking.answer_bytes_share < 0.2;
    if !(steady && messages && clocking.answer_share >= cutoff::ANSWERED && facts.flight.rounds >= 8) {
        return None;
    }
    let mut out = finding(
        Limit::ProtocolWindow,
        1.0 - idle,
        0.6 + 0.35 * clocking.answer_share,
        format!(
            "The protocol allows {} until it is answered: {} of the bursts begin with the first acknowledgement of one of {} messages of the receiving program, without loss or queue, and with the TCP window open.",
            bytes(facts.flight.median_peak as f64),
            percent(clocking.answer_share),
            clocking.answers
        ),
    );
    out.parameters.flight_bytes = Some(facts.flight.median_peak);
    out.parameters.rtt_s = Some(case.rtt);
    Some(out)
}

fn constant_flight(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let (flight, clocking) = (&facts.flight, &facts.clocking);
    let idle = case.share(facts.time.idle_s);
    if idle >= cutoff::IDLE_SHARE_ALONE && facts.time.idle_pauses > 0 {
        return Some(sender_idle(case, idle));
    }
    let few_losses = facts.loss.episodes <= 1;
    let room = facts.window.scale_known == 0 || flight.plateau * 10 < facts.window.max * 9;
    let bulk = flight.plateau >= 3 * u64::from(facts.segment_size);
    let timed = case.around.clock_s < 0.2 * case.rtt;
    if !(bulk && timed && few_losses && room && flight.rounds >= 12) {
        return None;
    }
    if flight.plateau_share < cutoff::PLATEAU {
        return ceiling(case);
    }
    // A send buffer whose size is no multiple of the segment also makes short segments; then only a strict clock tells.
    let strictly = clocking.ack_share >= 0.9 && clocking.chance_share < 0.6;
    let clocked = clocking.ack_share >= 0.7;
    let unclocked = clocking.ack_share < 0.5 + 0.5 * clocking.chance_share.min(0.5);
    let ragged = clocking.short_share > 0.03 || clocking.short_burst_share > 0.08;
    let at_sender = facts.tap == Tap::Sender;
    let constant = format!(
        "the flight stays at {} for {} of {} round trips, below the window of {}",
        bytes(flight.plateau as f64),
        flight.plateau_run,
        flight.rounds,
        bytes(facts.window.max as f64)
    );
    // Seen from afar a program's rhythm may look like a clock by chance.
    let whole = clocking.short_share < 0.01 && clocking.short_burst_share < 0.01;
    let clocked_afar = clocked && whole && clocking.chance_share < 0.5;
    if (at_sender && clocked && !ragged) || strictly || clocked_afar {
        let limit = if case.around.ssh {
            Limit::ProtocolWindow
        } else {
            Limit::SendBuffer
        };
        let name = if case.around.ssh {
            "A fixed amount of the protocol (SSH channel window or the sender's buffer)"
        } else {
            "The sender's buffer (or another fixed amount of its program)"
        };
        let mut out = finding(
            limit,
            flight.plateau_share,
            0.85,
            format!(
                "{name} holds the transfer: {constant}, without loss or queue, and each acknowledgement releases the next data at once."
            ),
        );
        out.parameters.flight_bytes = Some(flight.plateau);
        out.parameters.rtt_s = Some(case.rtt);
        return Some(out);
    }
    let by_chance = clocking.ack_share < clocking.chance_share + 0.12;
    if ragged && unclocked && (at_sender || (by_chance && clocking.short_share > 0.03)) {
        let mut out = finding(
            Limit::SenderApplication,
            flight.plateau_share,
            0.85,
            format!(
                "The sending program provides {}/s and no more: data leaves at its own rhythm, not when acknowledgements arrive ({} of bursts), in pieces smaller than a segment, with the window open.",
                bytes(facts.bytes as f64 / case.total),
                percent(clocking.ack_share)
            ),
        );
        out.parameters.source_byte_per_s = Some(facts.bytes as f64 / case.total);
        return Some(out);
    }
    let mut out = finding(
        Limit::Unknown,
        flight.plateau_share,
        0.6,
        format!(
            "Something at the sender holds the transfer: {constant}; from here a full send buffer and a program that provides data at a constant rate look alike."
        ),
    );
    out.parameters.flight_bytes = Some(flight.plateau);
    out.next_step =
        Some("capture at the sender, or sample its socket (ss -ti: rwnd_limited, sndbuf_limited)".to_owned());
    Some(out)
}

/// The flight comes to one amount again and again and never exceeds it, as with pacing below a full send buffer.
fn ceiling(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let (flight, clocking) = (&facts.flight, &facts.clocking);
    let whole = clocking.short_share < 0.03 && clocking.short_burst_share < 0.05;
    let reached = flight.plateau_share >= cutoff::CEILING && flight.plateau * 100 >= flight.max * 94;
    if !(reached && whole && flight.rounds >= 40 && !case.inflated() && facts.loss.episodes == 0) {
        return None;
    }
    let limit = if case.around.ssh {
        Limit::ProtocolWindow
    } else {
        Limit::SendBuffer
    };
    let mut out = finding(
        limit,
        flight.plateau_share,
        0.7,
        format!(
            "A fixed amount at the sender (its buffer, most likely) holds the transfer: the flight comes to {} in {} of {} round trips and never exceeds {}, below the window of {}, without loss or queue.",
            bytes(flight.plateau as f64),
            percent(flight.plateau_share),
            flight.rounds,
            bytes(flight.max as f64),
            bytes(facts.window.max as f64)
        ),
    );
    out.parameters.flight_bytes = Some(flight.plateau);
    out.parameters.rtt_s = Some(case.rtt);
    Some(out)
}

fn short_or_growing(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let busy = facts.flight.rounds;
    let growing = facts.flight.growing_rounds;
    let quiet = facts.loss.episodes == 0;
    // In four round trips no initial window grows to what a path carries, whether the steps show or not.
    let opening = growing * 3 >= busy || busy <= 4;
    if quiet && busy <= 14 && opening && !case.inflated() {
        let mut out = finding(
            Limit::SlowStart,
            1.0,
            0.75,
            format!(
                "The transfer ended after {busy} round trips of {}, while the congestion window was still growing: the path was never used.",
                span(case.rtt)
            ),
        );
        out.parameters.rtt_s = Some(case.rtt);
        return Some(out);
    }
    None
}

fn undecided(case: &Case) -> Finding {
    let facts = case.facts;
    let next = match facts.tap {
        Tap::Sender => {
            "sample the sender's socket during the transfer (ss -ti: rwnd_limited, sndbuf_limited, cwnd), or capture at both ends"
        }
        Tap::Receiver | Tap::Middle | Tap::Unknown => "capture at the sender, best at both ends",
    };
    let mut out = finding(
        Limit::Unknown,
        1.0,
        0.5,
        format!(
            "Cannot be told from here: the window has room, {} segments were lost in {} episodes, the round trip is {} (empty path {}), and the flight is not constant.",
            facts.loss.lost_segments,
            facts.loss.episodes,
            span(case.rtt),
            span(case.base_rtt)
        ),
    );
    out.next_step = Some(next.to_owned());
    out
}

/// Why each limit other than `chosen` was not.
fn rejected(case: &Case, chosen: Limit) -> Vec<Rejected> {
    Limit::ALL
        .into_iter()
        .filter(|limit| *limit != chosen && !limit.is_undecided())
        .map(|limit| {
            let (reason, text) = against(case, limit, chosen);
            Rejected { limit, reason, text }
        })
        .collect()
}

fn against(case: &Case, limit: Limit, chosen: Limit) -> (Reason, String) {
    let facts = case.facts;
    let fit = case.queue().unwrap_or_default();
    let held = percent(case.held());
    if !facts.acknowledged || case.around.untimed {
        return (
            Reason::CaptureIncomplete,
            "the capture does not hold what is needed".to_owned(),
        );
    }
    match limit {
        Limit::ReceiverWindow if case.held() < cutoff::WINDOW_SHARE => (
            Reason::WindowHadRoom,
            format!("the window was full only {held} of the time"),
        ),
        Limit::ReceiverWindow if chosen == Limit::ReceiverApplication => (
            Reason::WindowShrinks,
            format!(
                "the window shrank from {} to {}",
                bytes(facts.window.max as f64),
                bytes(facts.window.min as f64)
            ),
        ),
        Limit::ReceiverWindow => (
            Reason::DelayFollowsLoad,
            "the window is full because a queue is: more window means more queue".to_owned(),
        ),
        Limit::ReceiverApplication if case.held() >= cutoff::WINDOW_SHARE => (
            Reason::WindowConstant,
            format!(
                "while full, the window stayed at {} of its largest",
                percent(facts.window.full_ratio)
            ),
        ),
        Limit::ReceiverApplication => (
            Reason::WindowNeverClosed,
            format!(
                "the window was closed {} and full {held} of the time",
                span(facts.time.window_closed_s)
            ),
        ),
        Limit::SenderApplication => (
            Reason::SenderNeverIdle,
            format!(
                "nothing was in flight only {} of the time",
                percent(case.share(facts.time.idle_s))
            ),
        ),
        Limit::SendBuffer | Limit::ProtocolWindow => {
            if facts.flight.plateau_share < cutoff::PLATEAU {
                (
                    Reason::FlightNotConstant,
                    format!(
                        "the flight was constant only in {} of the round trips",
                        percent(facts.flight.plateau_share)
                    ),
                )
            } else {
                (
                    Reason::SmallerShare,
                    "a constant flight has another cause here".to_owned(),
                )
            }
        }
        Limit::BottleneckBandwidth | Limit::SharedBottleneck => {
            if limit == Limit::SharedBottleneck && case.around.flows < 2 {
                (
                    Reason::OneFlow,
                    "only one flow between these hosts was recorded".to_owned(),
                )
            } else if !case.inflated() {
                (
                    Reason::DelayAtBase,
                    format!(
                        "the median round trip of {} is near the empty path's {}",
                        span(case.rtt),
                        span(case.base_rtt)
                    ),
                )
            } else {
                (
                    Reason::DelayIgnoresLoad,
                    format!(
                        "the backlog explains {} of the delay",
                        percent(fit.delay.explained.max(0.0))
                    ),
                )
            }
        }
        Limit::Policed => {
            if facts.loss.lost_segments == 0 {
                (Reason::NoLoss, "nothing was lost".to_owned())
            } else if fit.losses < cutoff::FIT_LOSSES {
                (
                    Reason::TooFewLosses,
                    format!("{} losses are too few for a pattern", fit.losses),
                )
            } else if fit.delay_step >= cutoff::NO_QUEUE {
                (
                    Reason::QueueNotBucket,
                    format!(
                        "the delay grows by {} of what a queue of that size would add",
                        percent(fit.delay_step)
                    ),
                )
            } else {
                (
                    Reason::LossesIgnoreLoad,
                    format!(
                        "no rate and bucket explain the losses (error {:.2}, spread {:.2})",
                        fit.error, fit.spread
                    ),
                )
            }
        }
        Limit::RandomLoss => {
            if facts.loss.lost_segments == 0 {
                (Reason::NoLoss, "nothing was lost".to_owned())
            } else if Case::losses_follow_load(&fit) {
                (
                    Reason::LossesFollowLoad,
                    format!("losses come at one backlog ({})", bytes(fit.size_bytes)),
                )
            } else {
                (
                    Reason::SmallerShare,
                    format!("{} lost segments explain less", facts.loss.lost_segments),
                )
            }
        }
        Limit::EcnCongestion => (
            Reason::NoMarks,
            format!(
                "marks were reported in {} round trips",
                facts.ecn.rounds_with_marks
            ),
        ),
        Limit::Reordering => (
            Reason::NoReordering,
            format!("{} segments came late", facts.loss.reordered),
        ),
        Limit::MtuBlackHole => (
            Reason::LargePacketsPass,
            format!(
                "segments of {} bytes were acknowledged",
                facts.loss.largest_delivered
            ),
        ),
        Limit::SlowStart => (
            Reason::LongEnough,
            format!("the transfer took {} round trips", facts.flight.rounds),
        ),
        Limit::DscpTreatment => (
            Reason::NeedsComparison,
            "needs a transfer with another mark to compare with".to_owned(),
        ),
        Limit::DeviceLimit | Limit::HostCpu | Limit::CaptureLoss | Limit::Unknown => {
            (Reason::NotInPackets, "packets alone do not show it".to_owned())
        }
    }
}

//! The rules: facts in, verdict out.
//!
//! Each rule looks for one limit and says why it did or did not find it. The order is that of certainty: what the
//! window field says outright comes before what is inferred from losses, and that before what is inferred from their
//! absence. The cut-offs stand in [`cutoff`].
//!
//! * [`capture`]: what the capture itself says. [`hosts`]: limits of the hosts and their programs. [`queues`]: links,
//!   shapers, policers. [`losses`]: what the path does whatever the load. [`against`]: why each other limit was not.

mod against;
mod capture;
pub(crate) mod cutoff;
pub(crate) mod hints;
mod hosts;
mod losses;
mod queues;
#[cfg(test)]
mod tests;

use slowpath_facts::facts::Policing;
use slowpath_facts::{FlowFacts, QueueFit, Surroundings, Tap};

use super::evidence;
use super::intervals;
use crate::limit::{Flag, Limit};
use crate::verdict::{Interval, Parameters, Verdict};

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
    let case = Case::of(facts, around);
    let rules: [fn(&Case) -> Option<Finding>; 14] = [
        capture::unusable,
        losses::black_hole,
        capture::too_short,
        hosts::receiver,
        hosts::idle_program,
        queues::policed,
        queues::marked,
        losses::reordered,
        queues::crowded,
        queues::bottleneck,
        losses::lossy,
        hosts::answered,
        hosts::constant_flight,
        hosts::short_or_growing,
    ];
    let found = rules
        .iter()
        .find_map(|rule| rule(&case))
        .unwrap_or_else(|| capture::undecided(&case));
    let intervals = intervals::intervals(&case, found.limit);
    let rejected = against::rejected(&case, found.limit);
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

impl<'a> Case<'a> {
    fn of(facts: &'a FlowFacts, around: &'a Surroundings) -> Self {
        let base_rtt = [facts.rtt.min, facts.handshake_rtt_s]
            .into_iter()
            .filter(|rtt| *rtt > 0.0)
            .fold(f64::INFINITY, f64::min);
        let base_rtt = if base_rtt.is_finite() { base_rtt } else { 0.0 };
        // No round trip is shorter than the shortest ways that the handshake and many packets took; away from the sender a
        // sample is put together from two ways, which may belong to different round trips.
        let ways = facts.to_receiver_s + facts.to_sender_s;
        let base_rtt = if facts.handshake_rtt_s >= ways {
            base_rtt.max(ways)
        } else {
            base_rtt
        };
        Self {
            facts,
            around,
            total: facts.time.total_s.max(1e-9),
            base_rtt,
            rtt: if facts.rtt.count > 0 {
                facts.rtt.median
            } else {
                base_rtt
            },
        }
    }
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

    /// What the published policing detector says of the same packets as [`Case::queue`].
    pub(crate) fn second_witness(&self) -> Policing {
        if self.around.flows > 1 && self.around.shared.is_some() {
            self.around.shared_policing
        } else {
            self.around.policing
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
        // One overflow at the end of slow start may make most of the losses and none of the pauses between them.
        let mostly = fit.full_episodes as f64 >= cutoff::FULL_EPISODES * fit.episodes as f64;
        fit.losses >= cutoff::FIT_LOSSES
            && (separated || sharp)
            && mostly
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

    /// Losses come at any backlog: the flow's own load explains none of them.
    pub(crate) fn losses_ignore_load(fit: &QueueFit) -> bool {
        fit.losses >= cutoff::FIT_LOSSES && fit.episodes >= 5 && fit.error > cutoff::ANY_BACKLOG
    }

    /// So many packets overtake each other that their spacing says nothing of a link.
    pub(crate) fn disorderly(&self) -> bool {
        self.facts.loss.reordered as f64 > cutoff::DISORDER * self.facts.segments as f64
    }

    /// The flow runs at its highest rate for at least half of the time, as behind a link of its own.
    pub(crate) fn at_one_rate(&self) -> bool {
        let rate = &self.facts.rate;
        rate.count >= 20 && rate.median >= cutoff::ONE_RATE * rate.p90
    }

    /// In all this disorder, a queue and one rate: the flow has a full link for itself.
    pub(crate) fn alone_in_disorder(&self) -> bool {
        self.disorderly() && self.inflated() && self.at_one_rate()
    }

    /// The rate that congestion control comes to with one loss, real or supposed, in `events` per segments sent; bytes
    /// per second, that of Reno or CUBIC, whichever is higher (RFC 5681; RFC 9438 section 5.1).
    pub(crate) fn rate_with_losses(&self, events: u64) -> f64 {
        let probability = events as f64 / self.facts.segments.max(1) as f64;
        let segment = f64::from(self.facts.segment_size.max(1));
        let rtt = self.rtt.max(1e-4);
        let reno = 1.22 * segment / (rtt * probability.sqrt());
        let cubic = 1.054 * segment * (rtt / probability).powf(0.75) / rtt;
        reno.max(cubic)
    }

    /// Payload acknowledged per second in which something was in flight.
    pub(crate) fn busy_rate(&self) -> f64 {
        self.facts.bytes as f64 / (self.total - self.facts.time.idle_s).max(1e-9)
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
        self.busy_rate() * 8.0 * (segment + 70.0) / segment
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

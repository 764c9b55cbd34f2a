//! One flow as its limits look at it: its facts, and what several of them ask.

use slowpath_facts::facts::Policing;
use slowpath_facts::{FlowFacts, QueueFit, Surroundings, Tap};

/// A flow with the figures that several rules use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) facts: &'a FlowFacts,
    pub(crate) around: &'a Surroundings,
    pub(crate) total: f64,
    pub(crate) base_rtt: f64,
    pub(crate) rtt: f64,
}

impl<'a> Case<'a> {
    pub(crate) fn of(facts: &'a FlowFacts, around: &'a Surroundings) -> Self {
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
    pub(crate) fn share(&self, seconds: f64) -> f64 {
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
            && fit.spread <= SHARP_SPREAD
            && fit.error <= SHARP_ERROR
            && fit.size_bytes >= 2.0 * BUCKET;
        let separated = fit.error <= FIT_ERROR && fit.spread <= FIT_SPREAD;
        // One overflow at the end of slow start may make most of the losses and none of the pauses between them.
        let mostly = fit.full_episodes as f64 >= FULL_EPISODES * fit.episodes as f64;
        fit.losses >= FIT_LOSSES
            && (separated || sharp)
            && mostly
            && (fit.episodes >= 3 || (fit.losses >= 30 && fit.error <= 0.05))
    }

    /// The flow runs at the rate of a queue that explains its delays.
    pub(crate) fn fills(&self, fit: &QueueFit) -> bool {
        fit.delay.explained >= EXPLAINED
            && fit.delay.delay_p95_s > (0.03 * self.base_rtt).max(0.001).max(2.0 * self.around.clock_s)
            && fit.mean_bit_per_s >= UTILISATION * fit.delay.rate_bit_per_s
            && !(self.facts.tap == Tap::Receiver && self.arrives_faster_than(fit.delay.rate_bit_per_s))
    }

    /// The delivery rate stays the same while a queue stands.
    pub(crate) fn steady_behind_queue(&self) -> bool {
        let rate = &self.facts.rate;
        self.inflated() && rate.count >= 10 && rate.p10 >= 0.8 * rate.p90
    }

    /// Losses come at any backlog: the flow's own load explains none of them.
    pub(crate) fn losses_ignore_load(fit: &QueueFit) -> bool {
        fit.losses >= FIT_LOSSES && fit.episodes >= 5 && fit.error > ANY_BACKLOG
    }

    /// So many packets overtake each other that their spacing says nothing of a link.
    pub(crate) fn disorderly(&self) -> bool {
        self.facts.loss.reordered as f64 > DISORDER * self.facts.segments as f64
    }

    /// The flow runs at its highest rate for at least half of the time, as behind a link of its own.
    pub(crate) fn at_one_rate(&self) -> bool {
        let rate = &self.facts.rate;
        rate.count >= 20 && rate.median >= ONE_RATE * rate.p90
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

    pub(crate) fn ethernet_rate(&self) -> f64 {
        // Payload to Ethernet frames with FCS.
        let segment = f64::from(self.facts.segment_size.max(1));
        self.busy_rate() * 8.0 * (segment + 70.0) / segment
    }
}

/// How far the capture can be trusted, 0 to 1.
pub(crate) fn trust(case: &Case) -> f64 {
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

// Cut-offs that several limits share, each between what the two sides of it show in labelled captures; the crate's
// `tests/corpus.rs` shows how far the margin is and how it was checked.

/// Share of the time that the window must hold the sender.
pub(crate) const WINDOW_SHARE: f64 = 0.5;
/// The same when nothing else explains the rest.
pub(crate) const IDLE_SHARE_ALONE: f64 = 0.3;
/// Losses for a fit.
pub(crate) const FIT_LOSSES: u64 = 10;
/// Share of the delay's variance that a queue must explain.
pub(crate) const EXPLAINED: f64 = 0.7;
/// Share of the delay's variance up to which the flow's own load does not explain it.
pub(crate) const OWN_QUEUE: f64 = 0.35;
/// Share of round trips on the plateau of the flight.
pub(crate) const PLATEAU: f64 = 0.75;
/// Delay step up to which there is no queue.
pub(crate) const NO_QUEUE: f64 = 0.2;
/// Smallest bucket: one that cannot hold three frames lets no transfer pass.
pub(crate) const BUCKET: f64 = 4_500.0;
/// Error of the virtual-queue fit up to which losses follow the flow's own load.
const FIT_ERROR: f64 = 0.35;
/// Spread of the backlog at losses up to which there is one size.
const FIT_SPREAD: f64 = 0.6;
/// Spread that tells by itself, with [`SHARP_ERROR`].
const SHARP_SPREAD: f64 = 0.08;
/// Error up to which a small spread tells by itself.
const SHARP_ERROR: f64 = 0.6;
/// Rate over the queue's rate from which the flow fills it.
pub(crate) const UTILISATION: f64 = 0.5;
/// Share of the episodes of losses that must begin at the full backlog where the load explains them.
const FULL_EPISODES: f64 = 0.5;
/// Error of the virtual-queue fit from which losses come at any backlog.
const ANY_BACKLOG: f64 = 0.5;
/// Share of late segments from which the spacing of packets says nothing of a link.
const DISORDER: f64 = 0.05;
/// Half of the round trips come as close to the highest rate behind one link.
const ONE_RATE: f64 = 0.85;

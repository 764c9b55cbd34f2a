//! One flow as its limits look at it: its facts, and what several of them ask.

use slowpath_facts::facts::Policing;
use slowpath_facts::{FlowFacts, QueueFit, Surroundings, Tap};

use crate::catalogue::Message;
use crate::cut::{Compared, Cut, Figure, Watch, cuts};
use crate::finding::No;
use crate::ledger::capacity::swings;
use crate::limit::Reason;

/// A flow with the figures that several rules use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) facts: &'a FlowFacts,
    pub(crate) around: &'a Surroundings,
    pub(crate) total: f64,
    pub(crate) base_rtt: f64,
    pub(crate) rtt: f64,
    /// The facts are those of a part of the transfer.
    part: bool,
    watch: Option<&'a Watch>,
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
            part: false,
            watch: None,
        }
    }

    /// The same, with every comparison written down.
    pub(crate) const fn watched(mut self, watch: &'a Watch) -> Self {
        self.watch = Some(watch);
        self
    }

    /// The same for facts that [`crate::span`] made of a part of the transfer, over the whole of whose path `whole` was.
    pub(crate) const fn part_of(mut self, whole: &Case) -> Self {
        self.part = true;
        self.base_rtt = whole.base_rtt;
        self
    }
}

/// Comparisons.
impl Case<'_> {
    /// The outcome of a comparison, written down where somebody watches.
    pub(crate) fn told(&self, cut: Cut, value: f64, outcome: bool) -> bool {
        if let Some(watch) = self.watch {
            watch.borrow_mut().push(Compared { cut, value });
        }
        outcome
    }

    /// At or above the cut-off.
    pub(crate) fn reaches(&self, cut: Cut, figure: impl Figure) -> bool {
        self.told(cut, figure.number(), figure.number() >= cut.value)
    }

    /// Above the cut-off.
    pub(crate) fn exceeds(&self, cut: Cut, figure: impl Figure) -> bool {
        self.told(cut, figure.number(), figure.number() > cut.value)
    }

    /// Below the cut-off.
    pub(crate) fn below(&self, cut: Cut, figure: impl Figure) -> bool {
        self.told(cut, figure.number(), figure.number() < cut.value)
    }

    /// At or below the cut-off.
    pub(crate) fn within(&self, cut: Cut, figure: impl Figure) -> bool {
        self.told(cut, figure.number(), figure.number() <= cut.value)
    }

    /// At or above so many times `other`.
    pub(crate) fn reaches_times(&self, cut: Cut, figure: impl Figure, other: impl Figure) -> bool {
        let (figure, other) = (figure.number(), other.number());
        self.told(cut, figure / other, figure >= cut.value * other)
    }

    /// Above so many times `other`.
    pub(crate) fn exceeds_times(&self, cut: Cut, figure: impl Figure, other: impl Figure) -> bool {
        let (figure, other) = (figure.number(), other.number());
        self.told(cut, figure / other, figure > cut.value * other)
    }

    /// Below so many times `other`.
    pub(crate) fn below_times(&self, cut: Cut, figure: impl Figure, other: impl Figure) -> bool {
        let (figure, other) = (figure.number(), other.number());
        self.told(cut, figure / other, figure < cut.value * other)
    }

    /// At or below so many times `other`.
    pub(crate) fn within_times(&self, cut: Cut, figure: impl Figure, other: impl Figure) -> bool {
        let (figure, other) = (figure.number(), other.number());
        self.told(cut, figure / other, figure <= cut.value * other)
    }

    /// Refuses a part of a transfer: what the rule needs is known of a whole one only.
    pub(crate) fn whole(&self) -> Result<(), No> {
        if self.part {
            Err(No::new(Reason::CaptureIncomplete, Message::NotInAPart {}))
        } else {
            Ok(())
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
        let margin = (2.0 * self.around.clock_s).max(INFLATED_BY);
        let longer = self.rtt > INFLATED.value * self.base_rtt + margin;
        self.reaches(RTT_SAMPLES, self.facts.rtt.count)
            && self.told(INFLATED, (self.rtt - margin) / self.base_rtt, longer)
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
    pub(crate) fn losses_follow_load(&self, fit: &QueueFit) -> bool {
        // Many losses at the very same backlog are no accident even where deliveries come close to it, as they do
        // at a receiver, which sees a loss only with the packet behind it.
        let sharp = || {
            self.reaches(SHARP_LOSSES, fit.losses)
                && self.within(SHARP_SPREAD, fit.spread)
                && self.within(SHARP_ERROR, fit.error)
                && fit.size_bytes >= 2.0 * BUCKET.value
        };
        let separated = || self.within(FIT_ERROR, fit.error) && self.within(FIT_SPREAD, fit.spread);
        // One overflow at the end of slow start may make most of the losses and none of the pauses between them.
        let mostly = || self.reaches_times(FULL_EPISODES, fit.full_episodes, fit.episodes);
        self.reaches(FIT_LOSSES, fit.losses)
            && (separated() || sharp())
            && mostly()
            && (self.reaches(FIT_EPISODES, fit.episodes)
                || (self.reaches(SHARP_LOSSES, fit.losses) && self.within(ONE_OVERFLOW, fit.error)))
    }

    /// The flow runs at the rate of a queue that explains its delays.
    pub(crate) fn fills(&self, fit: &QueueFit) -> bool {
        let least = (LEAST_QUEUE.value * self.base_rtt)
            .max(LEAST_DELAY)
            .max(2.0 * self.around.clock_s);
        let delayed = fit.delay.delay_p95_s > least;
        self.reaches(EXPLAINED, fit.delay.explained)
            && self.told(LEAST_QUEUE, fit.delay.delay_p95_s / self.base_rtt, delayed)
            && self.reaches_times(UTILISATION, fit.mean_bit_per_s, fit.delay.rate_bit_per_s)
            && !(self.facts.tap == Tap::Receiver && self.arrives_faster_than(fit.delay.rate_bit_per_s))
    }

    /// The delivery rate stays the same while a queue stands.
    pub(crate) fn steady_behind_queue(&self) -> bool {
        let rate = &self.facts.rate;
        self.inflated()
            && self.reaches(RATE_SAMPLES, rate.count)
            && self.reaches_times(STEADY, rate.p10, rate.p90)
    }

    /// Losses come at any backlog: the flow's own load explains none of them.
    pub(crate) fn losses_ignore_load(&self, fit: &QueueFit) -> bool {
        self.reaches(FIT_LOSSES, fit.losses)
            && self.reaches(ANY_BACKLOG_EPISODES, fit.episodes)
            && self.exceeds(ANY_BACKLOG, fit.error)
    }

    /// So many packets overtake each other that their spacing says nothing of a link.
    pub(crate) fn disorderly(&self) -> bool {
        self.exceeds_times(DISORDER, self.facts.loss.reordered, self.facts.segments)
    }

    /// The flow runs at its highest rate for at least half of the time, as behind a link of its own.
    pub(crate) fn at_one_rate(&self) -> bool {
        let rate = &self.facts.rate;
        self.reaches(ONE_RATE_SAMPLES, rate.count) && self.reaches_times(ONE_RATE, rate.median, rate.p90)
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
        let rtt = self.rtt.max(LEAST_RTT);
        let reno = RENO * segment / (rtt * probability.sqrt());
        let cubic = CUBIC * segment * (rtt / probability).powf(CUBIC_POWER) / rtt;
        reno.max(cubic)
    }

    /// Payload acknowledged per second in which something was in flight.
    pub(crate) fn busy_rate(&self) -> f64 {
        self.facts.bytes as f64 / (self.total - self.facts.time.idle_s).max(1e-9)
    }

    /// The queue hardly ever empties: the link behind it is always busy.
    pub(crate) fn standing_queue(&self) -> bool {
        let margin = (2.0 * self.around.clock_s).max(LEAST_DELAY);
        let stands = self.facts.rtt.p10 > STANDS.value * self.base_rtt + margin;
        self.reaches(STANDING_SAMPLES, self.facts.rtt.count)
            && self.reaches(STANDING_ROUNDS, self.facts.flight.rounds)
            && self.told(STANDS, (self.facts.rtt.p10 - margin) / self.base_rtt, stands)
    }

    /// Round trips swing as no queue makes them: their length shows none.
    pub(crate) fn swings(&self) -> bool {
        let facts = self.facts;
        let explained = self
            .queue()
            .is_some_and(|fit| self.reaches(EXPLAINED, fit.delay.explained));
        !explained && swings(&facts.timeline, facts.segment_size, self.busy_rate(), false)
    }

    /// Behind the bottleneck: data arrive at one rate nearly all the time, and a queue delays them.
    pub(crate) fn arrives_at_link_rate(&self) -> bool {
        let facts = self.facts;
        let queued = || {
            let longer =
                facts.rtt.p90 > QUEUED_AT_ALL.value * self.base_rtt + LEAST_DELAY + 2.0 * self.around.clock_s;
            let value = (facts.rtt.p90 - LEAST_DELAY - 2.0 * self.around.clock_s) / self.base_rtt;
            self.reaches(RTT_SAMPLES, facts.rtt.count) && self.told(QUEUED_AT_ALL, value, longer)
        };
        matches!(facts.tap, Tap::Receiver | Tap::Middle)
            && queued()
            && self.reaches(ARRIVAL_BUSY, facts.arrival_busy)
            && !self.arrives_faster_than(facts.arrival_peak_bit_per_s)
    }

    /// Behind a link of `rate` no packet follows another sooner than the link can send it.
    pub(crate) fn arrives_faster_than(&self, rate: f64) -> bool {
        let arrival = self.facts.arrival_local_bit_per_s;
        self.facts.tap == Tap::Receiver && self.exceeds_times(FASTER_AT_RECEIVER, arrival, rate)
            || self.facts.tap == Tap::Middle && self.exceeds_times(FASTER_MIDWAY, arrival, rate)
    }

    pub(crate) fn ethernet_rate(&self) -> f64 {
        self.frames(self.busy_rate() * 8.0)
    }

    /// The rate of Ethernet frames with FCS that carry this rate of payload, in the same unit.
    pub(crate) fn frames(&self, payload: f64) -> f64 {
        let segment = f64::from(self.facts.segment_size.max(1));
        payload * (segment + FRAME_OVERHEAD) / segment
    }
}

/// How far the capture can be trusted, 0 to 1.
pub(crate) fn trust(case: &Case) -> f64 {
    let facts = case.facts;
    let loss = (1.0 - MISSED * facts.capture_loss_fraction).clamp(MISSED_MOST, 1.0);
    let handshake = if facts.handshake_seen { 1.0 } else { NO_HANDSHAKE };
    let tap = match facts.tap {
        Tap::Sender => 1.0,
        Tap::Receiver | Tap::Middle => AWAY,
        Tap::Unknown => NOWHERE,
    };
    let clock = if case.around.clock_s > COARSE * case.rtt.max(1e-6) {
        COARSE_CLOCK
    } else {
        1.0
    };
    loss * handshake * tap * clock
}

/// The capture missed so much that a verdict on it is said with the doubt.
pub(crate) fn is_doubtful(case: &Case) -> bool {
    case.facts.capture_loss_fraction >= DOUBTFUL
}

/// Bytes of a frame that are no payload: Ethernet with FCS, IPv4, TCP with timestamps.
pub(crate) const FRAME_OVERHEAD: f64 = 70.0;

/// Reno's constant for a loss at random with an acknowledgement for each segment: the square root of 3/2.
const RENO: f64 = 1.22;
/// CUBIC's constant with C = 0.4 and beta = 0.7 (RFC 9438, section 5.1).
const CUBIC: f64 = 1.054;
/// The power of the round trip over the loss rate there.
const CUBIC_POWER: f64 = 0.75;
/// No path is shorter for a formula, seconds.
const LEAST_RTT: f64 = 1e-4;
/// Delay that is no queue on any path, seconds.
const LEAST_DELAY: f64 = 0.001;
/// Delay by which a round trip must exceed [`INFLATED`], seconds.
const INFLATED_BY: f64 = 0.002;

// What lowers a verdict's confidence: chosen, not measured.

/// Confidence lost for each share of the data that the capture missed.
const MISSED: f64 = 4.0;
/// Share of the data that the capture missed from which a verdict says so.
const DOUBTFUL: f64 = 0.02;
/// What is left at least.
const MISSED_MOST: f64 = 0.3;
/// Without the handshake.
const NO_HANDSHAKE: f64 = 0.85;
/// Away from the sender.
const AWAY: f64 = 0.95;
/// Where it is not known where the capture was taken.
const NOWHERE: f64 = 0.85;
/// Unit of the capture clock, in round trips, from which it is coarse.
const COARSE: f64 = 0.05;
/// With a coarse clock.
const COARSE_CLOCK: f64 = 0.9;

// Cut-offs that several limits share.
cuts! {
    /// Share of the time that the window must hold the sender.
    pub(crate) WINDOW_SHARE: 0.5 between 0.450, 0.555;
    /// The same when nothing else explains the rest.
    pub(crate) IDLE_SHARE_ALONE: 0.3 between 0.285, 0.312;
    /// Losses for a fit.
    pub(crate) FIT_LOSSES: 10.0 between 9.00, 10.0;
    /// Episodes of losses for a fit; with fewer only [`ONE_OVERFLOW`] tells.
    FIT_EPISODES: 3.0 between 2.00, 3.00;
    /// Share of the delay's variance that a queue must explain.
    pub(crate) EXPLAINED: 0.7 between 0.696, 0.707;
    /// Share of the delay's variance up to which the flow's own load does not explain it.
    pub(crate) OWN_QUEUE: 0.35 between 0.340, 0.390;
    /// Share of round trips on the plateau of the flight.
    pub(crate) PLATEAU: 0.75 between 0.583, 0.943;
    /// Delay step up to which there is no queue.
    pub(crate) NO_QUEUE: 0.2 between 0.011_4, 0.349;
    /// Smallest bucket, bytes: one that cannot hold three frames lets no transfer pass.
    pub(crate) BUCKET: 4_500.0 between 4_412.0, 4_503.1;
    /// Error of the virtual-queue fit up to which losses follow the flow's own load.
    FIT_ERROR: 0.35 between 0.319, 0.381;
    /// Spread of the backlog at losses up to which there is one size.
    FIT_SPREAD: 0.6 between 0.460, 2.03;
    /// Losses from which a small spread tells by itself.
    SHARP_LOSSES: 30.0 between 29.0, 30.0;
    /// Spread that tells by itself, with [`SHARP_ERROR`].
    SHARP_SPREAD: 0.08 between 0.060_7, 0.109;
    /// Error up to which a small spread tells by itself.
    SHARP_ERROR: 0.6 between NONE, 0.625;
    /// Error of the fit up to which the many losses of one overflow tell.
    ONE_OVERFLOW: 0.1 between 0.000_291, 0.219;
    /// Rate over the queue's rate from which the flow fills it.
    pub(crate) UTILISATION: 0.5 between 0.413, 0.697;
    /// Share of the episodes of losses that must begin at the full backlog where the load explains them.
    FULL_EPISODES: 0.5 between 0.429, 0.500;
    /// Error of the virtual-queue fit from which losses come at any backlog.
    ANY_BACKLOG: 0.5 between 0.294, 0.594;
    /// Episodes of losses from which they can be said to come at any backlog.
    ANY_BACKLOG_EPISODES: 5.0 between 4.00, 5.00;
    /// Share of late segments from which the spacing of packets says nothing of a link.
    DISORDER: 0.05 between 0.012_6, 0.305;
    /// Half of the round trips come as close to the highest rate behind one link.
    ONE_RATE: 0.85 between NONE, NONE;
    /// Round trips with a rate from which that can be said.
    ONE_RATE_SAMPLES: 20.0 between NONE, NONE;
    /// Round trips that were measured, from which their median counts.
    pub(crate) RTT_SAMPLES: 10.0 between 5.00, 18.0;
    /// Round trip over that of the empty path from which a queue stands in between.
    INFLATED: 1.15 between 1.10, 1.23;
    /// Queue's delay over the empty path's round trip from which it is one.
    LEAST_QUEUE: 0.03 between 0.010_8, 0.038_8;
    /// The lowest rate over the highest from which a rate is one rate.
    STEADY: 0.8 between 0.733, 0.847;
    /// Round trips with a rate from which that can be said.
    RATE_SAMPLES: 10.0 between NONE, 22.0;
    /// Low round trips over the empty path's from which a queue hardly ever empties.
    STANDS: 1.5 between 1.45, 1.58;
    /// Round trips that were measured, from which their low ones count.
    pub(crate) STANDING_SAMPLES: 50.0 between 37.0, 69.0;
    /// Round trips with data for the same.
    pub(crate) STANDING_ROUNDS: 20.0 between 6.00, 20.0;
    /// High round trips over the empty path's from which anything queues at all.
    QUEUED_AT_ALL: 1.03 between 1.029_5, 1.04;
    /// Share of the time at the link's rate from which data arrive at it nearly always.
    ARRIVAL_BUSY: 0.6 between 0.546, 0.693;
    /// Arrivals over a link's rate from which they did not come through it, beside the receiver.
    FASTER_AT_RECEIVER: 2.0 between 1.56, NONE;
    /// The same in the middle, where packets may be joined again.
    FASTER_MIDWAY: 3.0 between 0.933, NONE;
}

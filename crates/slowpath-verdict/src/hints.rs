//! What the rules say of a transfer as a whole, for the ledger of its parts.

use slowpath_facts::{Event, FlowFacts, Happening, Step, Surroundings, Tap, Timeline};

use crate::case::{Case, EXPLAINED, FRAME_OVERHEAD, IDLE_SHARE_ALONE, RTT_SAMPLES};
use crate::ledger::{Hints, poisson};
use crate::limit::Limit;
use crate::limits::{
    bottleneck_bandwidth, constant::Constant, mtu_black_hole, policed, protocol_window, receiver_application,
    reordering, send_buffer, sender_application, shared_bottleneck, unknown, varying,
};
use crate::look::Look;

/// What the rules say of one flow.
pub(crate) fn hints(facts: &FlowFacts, around: &Surroundings) -> Hints {
    let case = Case::of(facts, around);
    let fit = case.queue();
    let own = facts.queue.unwrap_or_default();
    let first = |looks: &[Look]| looks.iter().find_map(|look| (look.at)(&case).ok());
    let whole = first(&[unknown::UNUSABLE, mtu_black_hole::LOOK]).map(|found| found.limit);
    let constant = first(&[
        protocol_window::LOOK,
        sender_application::IDLE_ALONE,
        protocol_window::CHANNEL,
        send_buffer::LOOK,
        sender_application::OWN_RHYTHM,
        unknown::HELD_BY_SENDER,
    ]);
    let idle = constant.as_ref().is_some_and(|found| {
        found.limit == Limit::SenderApplication
            && found.parameters.flight_bytes.is_none()
            && facts.time.idle_pauses > 0
    });
    let constant = constant.filter(|_| !idle);
    let reader = first(&[receiver_application::LOOK]).is_some();
    // What a program asks for comes at once and is gone before it asks again: that looks like others' traffic.
    let answered = facts.clocking.answers > FEW_ANSWERS
        && facts.clocking.answers * 2 >= facts.time.idle_pauses
        && case.below(protocol_window::ANSWER_BYTES, facts.clocking.answer_bytes_share)
        && asks(&facts.timeline);
    // A short queue is empty again behind each answer, as a bucket is full: what it drops of the burst that follows looks the same.
    let bursts = answered && loses_bursts(&facts.timeline);
    let (mut policer, mut policed, mut policer_of_some) = (None, None, None);
    let crowded = first(&[shared_bottleneck::CROWDED]).is_some();
    let follows_load = fit.is_some_and(|fit| case.losses_follow_load(&fit));
    let mut emptied = false;
    if !bursts {
        policer = first(&[policed::LOOK]).and_then(|found| found.parameters.rate_bit_per_s);
        policed = policer
            .or_else(|| policed_behind(facts, around))
            .or_else(|| policed_among_others(facts, around))
            .map(|rate| payload(facts, rate));
        emptied = policed.is_none()
            && facts.tap == Tap::Sender
            && !(answered || crowded || reordering::overtakes(&case))
            // Of several segments recorded as one packet nobody knows which were lost together.
            && facts.largest_packet <= facts.segment_size
            && others_empty_it(facts, follows_load);
        if emptied {
            // What others leave of the bucket is what the flow got.
            policed = Some(mean_rate(&facts.timeline));
        }
        let some = facts.queue_behind.as_ref().and_then(policed::of_some);
        policer_of_some = some.map(|(rate, bucket)| (payload(facts, rate), bucket));
    }
    let others_seen = around.flows > 1 && around.overlap > IDLE_SHARE_ALONE.value;
    Hints {
        segment: facts.segment_size,
        clock_s: around.clock_s,
        at_sender: facts.tap == Tap::Sender,
        at_receiver: facts.tap == Tap::Receiver,
        window_known: facts.window.scale_known > 0,
        policed,
        bucket: (if policer.is_some() {
            facts.queue
        } else {
            facts.queue_behind.or(facts.queue)
        })
        .map_or(0.0, |fit| fit.size_bytes),
        policer_took_all: if policer.is_some() {
            fit.is_some_and(|fit| fit.error <= ALL)
        } else {
            // What the link's queue dropped may be left out of the fit behind it.
            let behind = facts.queue_behind.filter(|_| policed.is_some());
            behind.is_some_and(|behind| behind.error <= ALL && behind.losses >= own.losses)
        },
        policer_of_some,
        emptied,
        fills: first(&[bottleneck_bandwidth::LOOK, bottleneck_bandwidth::DESPITE_LOSSES]).is_some(),
        varies: !steady(facts)
            && !reordering::overtakes(&case)
            && if policed.is_some() {
                varying::at_losses(&case).is_some()
            } else {
                varying::rates(&case).is_some()
            },
        slow_reader: reader,
        constant_bytes: match &constant {
            Some(found) if found.limit != Limit::SenderApplication => {
                found.parameters.flight_bytes.unwrap_or(0)
            }
            Some(_) => facts.flight.plateau,
            None => 0,
        },
        constant: constant.map(|found| found.limit),
        released: Constant::released(&case),
        follows_acks: facts.clocking.ack_share >= FOLLOWS_ACKS,
        answered,
        answers: facts.clocking.answers,
        disorder: policed.is_none() && first(&[reordering::LOOK]).is_some(),
        overtakes: reordering::overtakes(&case),
        shared: crowded && !answered && crowds(&facts.timeline) || others_seen,
        others_seen,
        delay_rate: (case.reaches(EXPLAINED, own.delay.explained)
            && case.reaches(RTT_SAMPLES, own.delay.samples))
        .then_some(payload(facts, own.delay.rate_bit_per_s)),
        losses_follow_load: follows_load,
        losses_ignore_load: fit.is_some_and(|fit| case.losses_ignore_load(&fit)),
        bursts: false,
        whole,
    }
}

/// Whether a good part of the time with nothing to send ends with what answers the other end: a program that pauses for
/// reasons of its own sends on long after the last word from there.
fn asks(line: &Timeline) -> bool {
    let of = |seconds: fn(&Step) -> f64| line.steps.iter().map(seconds).sum::<f64>();
    of(|step| step.asked_s) >= ASKS * of(|step| step.idle_s)
}

/// Whether most losses hit the bursts behind answers; a bucket is empty later, too.
fn loses_bursts(line: &Timeline) -> bool {
    let losses = || line.events.iter().filter(|event| event.kind == Happening::Loss);
    let behind_answers = losses().filter(|event| {
        let place = line.step_at(event.at_s);
        let steps = line
            .steps
            .get(place.saturating_sub(1)..=place)
            .unwrap_or_default();
        steps.iter().any(|step| step.asked_s > 0.0)
    });
    behind_answers.count() as f64 >= BURSTS * losses().count() as f64
}

/// Whether losses are those of a bucket that others empty, too. A short queue is overrun by what follows an answer, again and again.
fn others_empty_it(facts: &FlowFacts, follows_load: bool) -> bool {
    let (line, segment) = (&facts.timeline, f64::from(facts.segment_size.max(1)));
    let starves = || !follows_load && facts.clocking.answers <= FEW_ANSWERS && starves(line, segment);
    loses_together(line, segment) || starves()
}

/// Whether losses at short delays, with which no queue is full, are more than chance makes of them: from some moment on, or all the
/// time.
fn starves(line: &Timeline, segment: f64) -> bool {
    let losses = line.events.iter().filter(|event| event.kind == Happening::Loss);
    let (mut early, mut all) = (Vec::new(), 0);
    for event in losses {
        // Without any delay known none was long.
        if event.queue_s.is_nan() || event.queue_s <= short(line) {
            early.push((all, event));
        }
        all += 1;
    }
    let calm = Lost::at_short_delays(&line.steps, line, segment);
    is_fair(early.len(), all) && in_bursts(&early, calm.sent, segment)
        || begins_to_lose(line, segment, &early, all)
}

/// Whether again and again far more of the segments of a round trip are lost than the share that is lost all the time would make, and
/// most of all that are: a bucket is empty for a while, and lets through what flows in. Those without a gap count for nothing, as in
/// [`loses_together`].
fn in_bursts(early: &[(usize, &Event)], sent: f64, segment: f64) -> bool {
    let lost = |event: &Event| event.segments as f64;
    let all: f64 = early.iter().map(|(_, event)| lost(event)).sum();
    let share = all / sent.max(all).max(1.0);
    let by_chance = |event: &Event| poisson(share * event.span as f64 / segment, event.segments);
    let (mut times, mut inside) = (0, 0.0);
    for (_, event) in early {
        let apart = event.segments >= SEVERAL && lost(event) * segment < event.span as f64;
        if apart && by_chance(event) * early.len() as f64 <= NEVER {
            times += 1;
            inside += lost(event);
        }
    }
    times >= AGAIN && inside >= HALF * all
}

/// Whether far more of what is sent at short delays is lost from some moment on than before: chance takes the same share of it all
/// the time, but others who begin to send empty a bucket. `early` are the losses with such delays and their places among `all`.
fn begins_to_lose(line: &Timeline, segment: f64, early: &[(usize, &Event)], all: usize) -> bool {
    let mut before = Lost::default();
    let mut since = Lost {
        lost: early.iter().map(|(_, event)| event.segments as f64).sum(),
        ..Lost::at_short_delays(&line.steps, line, segment)
    };
    let mut from = 0;
    for (number, (among_all, event)) in early.iter().enumerate() {
        let place = line.step_at(event.at_s).max(from);
        let passed = Lost::at_short_delays(&line.steps[from..place], line, segment).sent;
        (from, before.sent, since.sent) = (place, before.sent + passed, since.sent - passed);
        let left = early.len() - number;
        if left >= BEGUN && is_fair(left, all - among_all) && since.begins_behind(&before) {
            return true;
        }
        before.lost += event.segments as f64;
        since.lost -= event.segments as f64;
    }
    false
}

/// So many losses at short delays are a fair share of all.
fn is_fair(early: usize, all: usize) -> bool {
    early as f64 >= FAIR * all as f64
}

/// The delay up to which a queue is far from full, seconds.
fn short(line: &Timeline) -> f64 {
    SHORT * line.delays_s.last().copied().unwrap_or(0.0)
}

/// Segments sent over a while, and those of them that were lost.
#[derive(Debug, Clone, Copy, Default)]
struct Lost {
    sent: f64,
    lost: f64,
}

impl Lost {
    /// Of these steps of a timeline those in which no queue stands worth telling.
    fn at_short_delays(steps: &[Step], line: &Timeline, segment: f64) -> Self {
        let longest = line.least_rtt_s + short(line);
        let calm = steps
            .iter()
            .filter(|step| step.rtt_s.is_nan() || step.rtt_s <= longest);
        let (sent, lost) = calm.fold((0, 0), |(sent, lost), step| {
            (sent + step.fresh + step.resent, lost + step.lost)
        });
        Self {
            sent: sent as f64 / segment,
            lost: lost as f64 / segment,
        }
    }

    /// Whether it begins to be lost behind `before`: at least twice the share is, and one share all the time is as good as
    /// impossible.
    fn begins_behind(&self, before: &Self) -> bool {
        let both = Self {
            sent: self.sent.max(self.lost) + before.sent.max(before.lost),
            lost: self.lost + before.lost,
        };
        let ratio = || self.likelihood() + before.likelihood() - both.likelihood();
        let share = self.share();
        self.lost >= LOST && share >= STARVED && share >= TWICE * before.share() && 2.0 * ratio() >= SURELY
    }

    /// The share that was lost.
    fn share(&self) -> f64 {
        self.lost / self.sent.max(self.lost).max(1.0)
    }

    /// How likely so many losses are at the share that makes them most likely, as a logarithm.
    fn likelihood(&self) -> f64 {
        let of = |count: f64, share: f64| if count > 0.0 { count * share.ln() } else { 0.0 };
        let share = self.share();
        of(self.lost, share) + of(self.sent.max(self.lost) - self.lost, 1.0 - share)
    }
}

/// Whether losses at short delays come together by more than chance: no queue was full, but a bucket was empty for a while. Where
/// others empty it, no bucket fits what the flow itself sent. Those without a gap count for nothing: kernels hand down several
/// segments in one packet, which chance takes whole.
fn loses_together(line: &Timeline, segment: f64) -> bool {
    let short = short(line);
    let losses = || line.events.iter().filter(|event| event.kind == Happening::Loss);
    let early: Vec<&Event> = losses().filter(|event| event.queue_s <= short).collect();
    let sent: u64 = line.steps.iter().map(|step| step.fresh + step.resent).sum();
    let segments = sent as f64 / segment * (1.0 - line.delayed(short)).max(RARELY);
    let together = |event: &&&Event| {
        let lost = event.segments as f64 * segment;
        lost < event.span as f64 && lost >= TOGETHER * event.span as f64
    };
    let count = early.iter().filter(together).count();
    let (all, early) = (losses().count() as f64, early.len() as f64);
    let chance = poisson(NEXT * early / segments.max(1.0) * early, count as u64);
    early >= FAIR * all && count as f64 >= OFTEN * early && chance <= NEVER
}

/// Payload bytes per second over the whole of a transfer.
fn mean_rate(line: &Timeline) -> f64 {
    let all: u64 = line.steps.iter().map(|step| step.delivered).sum();
    all as f64 / (line.to_s - line.from_s).max(1e-9)
}

/// Whether trains of segments leave the link at the one rate that explains most of the delays.
fn steady(facts: &FlowFacts) -> bool {
    let delay = facts.queue.unwrap_or_default().delay;
    let by_delay = payload(facts, delay.rate_bit_per_s);
    let trains = facts.timeline.train_rate;
    trains.is_some_and(|trains| (trains / by_delay.max(1.0) - 1.0).abs() <= AGREE) && delay.explained >= MOST
}

/// Whether losses, if there are enough to say so, come with long delays more than with short ones.
fn crowds(line: &Timeline) -> bool {
    let mut ranks: Vec<f64> = (line.events.iter())
        .filter(|event| event.kind == Happening::Loss && event.queue_s.is_finite())
        .map(|event| event.longer)
        .collect();
    ranks.sort_unstable_by(f64::total_cmp);
    ranks.len() < SOME || ranks[ranks.len() / 2] < HALF
}

/// The rate of a policer behind the link, as what left the link shows it, bits of frames per second.
fn policed_behind(facts: &FlowFacts, around: &Surroundings) -> Option<f64> {
    let mut behind = FlowFacts {
        queue: Some(
            facts
                .queue_behind
                .filter(|fit| fit.error <= BEHIND || fit.losses >= MANY && fit.error <= FITS)?,
        ),
        ..facts.clone()
    };
    // What the link's own queue dropped is not in that fit.
    behind.timeline.events.clear();
    let found = (policed::LOOK.at)(&Case::of(&behind, around)).ok()?;
    found.parameters.rate_bit_per_s
}

/// The rate of a policer that drops some of the losses, by the fit that explains more of them, bits of frames per second.
fn policed_among_others(facts: &FlowFacts, around: &Surroundings) -> Option<f64> {
    let own = facts.queue?;
    match facts.queue_behind.filter(|behind| behind.error < own.error) {
        Some(behind) => {
            let mut left = FlowFacts {
                queue: Some(behind),
                ..facts.clone()
            };
            left.timeline.events.clear();
            policed::among_others(&Case::of(&left, around), &behind)
        }
        None => policed::among_others(&Case::of(facts, around), &own),
    }
}

/// Error of a fit up to which it shows a policer behind a link: few losses are left there, and some rate fits a few.
const BEHIND: f64 = 0.2;
/// The same where there are [`MANY`].
const FITS: f64 = 0.35;
/// Error of a fit up to which its bucket was empty at every loss and hardly ever else.
const ALL: f64 = 0.05;
/// Share of the losses that come within a round trip behind an answer, from which they are those of bursts: at programs that asked,
/// 0.00, 0.23 and 0.50 with a policer and 0.49 to 0.99 without one (drawn transfers).
const BURSTS: f64 = 0.6;
/// Share of the longest delay up to which a queue is far from full.
const SHORT: f64 = 0.25;
/// Share of the round trips that is taken to have so short a delay at least.
const RARELY: f64 = 0.01;
/// Share of the segments from the first that was lost to the last from which they were lost together.
const TOGETHER: f64 = 0.3;
/// Segments behind a lost one of which one more, if it is lost, is so close.
const NEXT: f64 = 6.0;
/// Share of the losses that must come at short delays.
const FAIR: f64 = 0.3;
/// Share of these that must be several together.
const OFTEN: f64 = 0.25;
/// Messages of the other end by which nobody says that the program asks.
const FEW_ANSWERS: u64 = 2;
/// Times that something was lost since others began, from which they did.
const BEGUN: usize = 6;
/// Round trips that lose so many by more than chance.
const AGAIN: u32 = 3;
/// Segments lost in one, from which they are several.
const SEVERAL: u64 = 3;
/// Segments lost of which a share is one.
const LOST: f64 = 15.0;
/// Share of the segments that are lost where others leave a flow next to nothing.
const STARVED: f64 = 0.03;
/// How many times the share from before that is at least.
const TWICE: f64 = 2.0;
/// Twice the logarithm of how much more likely two shares make the losses than one: by chance this exceeds 24 once in a million times,
/// and some dozens of moments are tried.
const SURELY: f64 = 24.0;
/// Chance that hardly ever happens, of one transfer in ten thousand.
const NEVER: f64 = 1e-4;
/// Share of the time with nothing to send that must end so.
const ASKS: f64 = 0.3;
/// How well two measures of one rate agree.
const AGREE: f64 = 0.1;
/// Share of the delays' variance that one rate explains, from which that is no accident.
const MOST: f64 = 0.5;
/// Share of a sender's bursts behind an acknowledgement, from which these are its clock: of the lab's kernels with a small send
/// buffer, BBR had 0.10 to 0.48 and Reno and CUBIC 0.85 to 1.00, but for round trips of 3 ms, within a fiftieth of which no
/// program wakes up.
const FOLLOWS_ACKS: f64 = 0.65;
/// Half of the round trips have as long a delay.
const HALF: f64 = 0.5;
/// Losses whose delays can be compared.
const SOME: usize = 10;
/// Losses that no rate fits by chance.
const MANY: u64 = 30;

/// Payload bytes per second of a rate that counts Ethernet frames with FCS, bits per second.
fn payload(facts: &FlowFacts, rate_bit_per_s: f64) -> f64 {
    let segment = f64::from(facts.segment_size.max(1));
    rate_bit_per_s / 8.0 * segment / (segment + FRAME_OVERHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_that_outlast_the_last_word_of_the_other_end_are_the_programs_own() {
        let line = |idle_s, asked_s| Timeline {
            steps: vec![Step {
                idle_s,
                asked_s,
                ..Step::default()
            }],
            ..Timeline::default()
        };
        // Each request leaves as soon as the last one is answered; a source that sleeps sends long after that.
        assert!(asks(&line(2.0, 1.9)) && !asks(&line(2.0, 0.1)));
        assert!(asks(&line(0.0, 0.0)));
    }

    #[test]
    fn losses_together_at_short_delays_are_those_of_a_bucket_that_others_empty() {
        let of = |pairs: usize, queue_s| {
            let step = Step {
                fresh: 100_000,
                ..Step::default()
            };
            let mut line = Timeline {
                step_s: 1.0,
                to_s: 100.0,
                delays_s: vec![0.0, 0.001, 0.001, 0.002, 0.05],
                steps: vec![step; 100],
                ..Timeline::default()
            };
            line.events = (0..20)
                .map(|number| Event {
                    at_s: 5.0 * number as f64,
                    kind: Happening::Loss,
                    segments: 1 + u64::from(number < pairs),
                    span: if number < pairs { 3_000 } else { 1_000 },
                    queue_s,
                    longer: 0.5,
                    backlog: 0.3,
                    timeout: false,
                    local: false,
                })
                .collect();
            loses_together(&line, 1_000.0)
        };
        // Of 10,000 segments 20 are lost: one of the next six with a chance of one in eighty.
        assert!(of(8, 0.001) && !of(2, 0.001));
        // Where the delay was long, a queue was full.
        assert!(!of(8, 0.04));
    }

    /// Twenty segments in each of a hundred round trips, of which so many are lost in each from a step on, one by one.
    fn losing(from: usize, each: u64, queue_s: f64) -> Timeline {
        let mut line = Timeline {
            step_s: 1.0,
            to_s: 100.0,
            delays_s: vec![0.0, 0.001, 0.001, 0.002, 0.05],
            ..Timeline::default()
        };
        for place in 0..100 {
            let lost = if place >= from { each } else { 0 };
            line.steps.push(Step {
                fresh: 20_000,
                lost: 1_000 * lost,
                rtt_s: queue_s,
                ..Step::default()
            });
            line.events.extend((lost > 0).then_some(Event {
                at_s: place as f64 + 0.5,
                kind: Happening::Loss,
                segments: lost,
                span: 20_000,
                queue_s,
                longer: 0.5,
                backlog: 0.3,
                timeout: false,
                local: false,
            }));
        }
        line
    }

    #[test]
    fn losses_that_begin_midway_at_short_delays_are_those_of_a_bucket_that_others_empty() {
        // One of twenty from the middle on, or all the time.
        assert!(starves(&losing(50, 1, 0.001), 1_000.0) && !starves(&losing(0, 1, 0.001), 1_000.0));
        // With a long delay a queue was full; and a few losses are no sign.
        assert!(!starves(&losing(50, 1, 0.04), 1_000.0) && !starves(&losing(90, 1, 0.001), 1_000.0));
    }

    #[test]
    fn many_losses_of_a_round_trip_again_and_again_are_those_of_an_empty_bucket() {
        // Eight of twenty segments are lost in some of a hundred round trips, and one in some others.
        let of = |bursts: usize, single: usize, queue_s| {
            let mut line = losing(100, 0, queue_s);
            for number in 0..bursts + single {
                let mut event = losing(0, if number < bursts { 8 } else { 1 }, queue_s).events[0];
                event.at_s = 3.0 * number as f64;
                line.events.push(event);
            }
            starves(&line, 1_000.0)
        };
        assert!(of(3, 0, 0.001) && of(4, 10, 0.001));
        // Twice may be anything, most losses must be of that kind, and a queue was full where the delay was long.
        assert!(!of(2, 0, 0.001) && !of(3, 30, 0.001) && !of(3, 0, 0.04));
    }

    #[test]
    fn losses_behind_answers_are_those_of_bursts() {
        let line = |late: usize| {
            let mut line = Timeline {
                step_s: 1.0,
                to_s: 100.0,
                steps: vec![Step::default(); 100],
                ..Timeline::default()
            };
            // An answer every ten round trips, and a loss in the round trip after it or later.
            for place in (0..100).step_by(10) {
                line.steps[place].asked_s = 0.5;
                let behind = if place < 10 * late { 5.5 } else { 1.5 };
                line.events.push(Event {
                    at_s: place as f64 + behind,
                    kind: Happening::Loss,
                    segments: 1,
                    span: 1_448,
                    queue_s: 0.0,
                    longer: 1.0,
                    backlog: 1.0,
                    timeout: false,
                    local: false,
                });
            }
            line
        };
        assert!(loses_bursts(&line(0)) && loses_bursts(&line(4)) && !loses_bursts(&line(5)));
    }
}

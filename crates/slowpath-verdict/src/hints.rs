//! What the rules say of a transfer as a whole, for the ledger of its parts.

use slowpath_facts::facts::DelayFit;
use slowpath_facts::{FlowFacts, Happening, Step, Surroundings, Tap, Timeline};

use crate::case::{Case, EXPLAINED, FRAME_OVERHEAD, IDLE_SHARE_ALONE, RTT_SAMPLES};
use crate::ledger::Hints;
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
        sender_application::EVEN,
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
    let answered = facts.clocking.answers > 2
        && facts.clocking.answers * 2 >= facts.time.idle_pauses
        && case.below(protocol_window::ANSWER_BYTES, facts.clocking.answer_bytes_share)
        && asks(&facts.timeline);
    // A short queue is empty again behind each answer, as a bucket is full: what it drops of the burst that follows looks the same.
    let bursts = answered && loses_bursts(&facts.timeline);
    let (mut policer, mut policed, mut policer_of_some) = (None, None, None);
    let crowded = first(&[shared_bottleneck::CROWDED]).is_some();
    if !bursts {
        policer = first(&[policed::LOOK]).and_then(|found| found.parameters.rate_bit_per_s);
        policed = policer
            .or_else(|| policed_behind(facts, around))
            .or_else(|| policed_among_others(facts, around))
            .map(|rate| payload(facts, rate));
        let some = facts.queue_behind.as_ref().and_then(policed::of_some);
        policer_of_some = some.map(|(rate, bucket)| (payload(facts, rate), bucket));
    }
    let by_delay = |fit: &DelayFit| {
        let explains = case.reaches(EXPLAINED, fit.explained) && case.reaches(RTT_SAMPLES, fit.samples);
        explains.then(|| payload(facts, fit.rate_bit_per_s))
    };
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
        policer_took_each: policer.is_some()
            && fit.is_some_and(|fit| fit.error <= EACH && fit.losses >= MANY),
        policer_of_some,
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
        paces_itself: first(&[sender_application::EVEN]).is_some(),
        scheduled: sender_application::schedule(&case).map(|schedule| schedule.byte_per_s()),
        answers: facts.clocking.answers,
        disorder: policed.is_none() && first(&[reordering::LOOK]).is_some(),
        overtakes: reordering::overtakes(&case),
        tells_repeats: facts.loss.told_twice > 0,
        shared: crowded && !answered && crowds(&facts.timeline) || others_seen,
        others_seen,
        link_of_all: around
            .shared
            .filter(|_| others_seen)
            .and_then(|all| by_delay(&all.delay)),
        delay_rate: by_delay(&own.delay),
        losses_follow_load: fit.is_some_and(|fit| case.losses_follow_load(&fit)),
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
/// The same up to which its bucket was empty at each of them.
const EACH: f64 = 0.005;
/// Share of the losses that come within a round trip behind an answer, from which they are those of bursts: at programs that asked,
/// 0.00, 0.23 and 0.50 with a policer and 0.49 to 0.99 without one (drawn transfers).
const BURSTS: f64 = 0.6;
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
    use slowpath_facts::Event;

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

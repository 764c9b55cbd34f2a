//! Ledgers of timelines made by hand: a path of 100 ms that carries 1 MB/s of payload, so that it holds 100 kB.

use super::booking::{given, ideal_start};
use super::{CapacityIs, Entry, Hints, Ledger, Lost, State, book, capacity, events};
use crate::limit::{Flag, Limit};
use crate::limits::sample::loss;
use crate::verdict::Interval;
use slowpath_facts::{Event, Happening, Step, Timeline};

const RTT: f64 = 0.1;
const RATE: f64 = 1e6;

/// A flow whose steps deliver these kilobytes, with as much in flight; a queue of half a round trip where `queued` says so.
fn flow(kilobytes: &[u64], queued: bool) -> Timeline {
    let steps: Vec<Step> = kilobytes
        .iter()
        .map(|kilobytes| Step {
            delivered: kilobytes * 1_000,
            fresh: kilobytes * 1_000,
            flight: kilobytes * 1_000,
            rtt_s: if queued && *kilobytes >= 100 {
                1.5 * RTT
            } else {
                RTT
            },
            rtt_max_s: if queued && *kilobytes >= 100 {
                1.5 * RTT
            } else {
                RTT
            },
            ..Step::default()
        })
        .collect();
    Timeline {
        opened_s: 0.0,
        from_s: RTT,
        to_s: RTT + steps.len() as f64 * RTT,
        sent_to_s: RTT + steps.len() as f64 * RTT,
        step_s: RTT,
        least_rtt_s: RTT,
        least_data_rtt_s: RTT,
        initial_window: 10_000,
        from_the_start: true,
        answers: false,
        steps,
        events: Vec::new(),
        ..Timeline::default()
    }
}

fn hints() -> Hints {
    Hints {
        segment: 1_000,
        at_sender: true,
        window_known: true,
        ..Hints::default()
    }
}

/// Acknowledgements make room in every round trip that nothing is sent into for a while, and few of them let data go at once.
fn leaves_room(line: &mut Timeline) {
    for step in &mut line.steps {
        (step.window, step.acks, step.followed, step.unused) = (400_000, 20, 2, 18);
        step.unused_s = 0.4 * RTT;
    }
}

/// Both columns sum to the duration, whatever else.
fn adds_up(ledger: &Ledger) {
    let time: f64 = ledger.entries.iter().map(|entry| entry.time_s).sum();
    assert!((time - ledger.duration_s).abs() < 1e-6, "{time} {ledger:#?}");
    if let Some(floor) = ledger.floor_s {
        let lost: f64 = ledger.entries.iter().filter_map(|entry| entry.lost_s).sum();
        assert!(
            (lost + floor - ledger.duration_s).abs() < 1e-6,
            "{lost} + {floor} {ledger:#?}"
        );
    }
}

#[test]
fn a_full_link_is_its_own_floor() {
    let mut kilobytes = vec![0, 10, 20, 40, 80];
    kilobytes.extend([100; 95]);
    let ledger = book(&flow(&kilobytes, true), &hints(), None);
    adds_up(&ledger);
    assert_eq!(ledger.capacity_is, CapacityIs::Measured);
    assert!(
        (ledger.capacity_bit_per_s.unwrap() / (8.0 * RATE) - 1.0).abs() < 0.02,
        "{ledger:#?}"
    );
    assert!(ledger.floor_s.unwrap() > 0.99 * ledger.duration_s, "{ledger:#?}");
    assert_eq!(ledger.limit(), Some(Limit::BottleneckBandwidth));
}

#[test]
fn a_window_below_the_path_is_a_ceiling_and_costs_what_the_path_could_have_carried() {
    let mut line = flow(&[40; 100], false);
    for step in &mut line.steps {
        step.full_s = RTT;
    }
    let ledger = book(&line, &hints(), Some(RATE));
    adds_up(&ledger);
    assert_eq!(ledger.limit(), Some(Limit::ReceiverWindow));
    assert!(
        (ledger.lost_to(Limit::ReceiverWindow).unwrap() - 6.0).abs() < 0.3,
        "{ledger:#?}"
    );
    // Without a capacity there is time, and no loss.
    let ledger = book(&line, &hints(), None);
    adds_up(&ledger);
    assert_eq!((ledger.capacity_is, ledger.floor_s), (CapacityIs::AtLeast, None));
    assert_eq!(ledger.limit(), Some(Limit::ReceiverWindow));
}

#[test]
fn a_burst_fills_the_link_for_the_round_trip_that_it_takes() {
    // A program gives once in five round trips what the link carries in one, or a little less.
    let of = |kilobytes: u64| {
        let mut line = flow(&[0; 100], false);
        for place in (5..100).step_by(5) {
            let step = &mut line.steps[place];
            (step.delivered, step.fresh, step.flight) =
                (1_000 * kilobytes, 1_000 * kilobytes, 1_000 * kilobytes);
        }
        for step in &mut line.steps {
            (step.acks, step.unused) = (20, 19);
        }
        let hints = Hints {
            released: Some(false),
            ..hints()
        };
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        ledger.time_in(Limit::BottleneckBandwidth, State::Link)
    };
    // The first one is slow start's.
    assert!((of(98) - 18.0 * RTT).abs() < 0.5 * RTT, "{}", of(98));
    assert!(of(90) < 0.5 * RTT, "{}", of(90));
}

#[test]
fn a_full_window_whose_acknowledgements_have_no_gap_fills_the_link() {
    let of = |even, rtt: f64| {
        let mut line = flow(&[4; 100], false);
        for step in &mut line.steps {
            (step.full_s, step.rtt_s, step.rtt_max_s) = (RTT, rtt * RTT, rtt * RTT);
            (step.acks, step.followed, step.spaced, step.even) = (5, 5, 5, even);
        }
        // A burst made the flow seem faster once, so that its rate alone does not tell a full link.
        line.steps[50].delivered = 6_000;
        let ledger = book(&line, &hints(), None);
        adds_up(&ledger);
        ledger.time_of(Limit::BottleneckBandwidth) / ledger.duration_s
    };
    assert!(of(5, 1.25) > 0.9);
    // A gap in each round trip, or no queue.
    assert!(of(4, 1.25) < 0.1 && of(5, 1.05) < 0.1);
}

#[test]
fn a_full_window_on_a_full_link_costs_nothing() {
    let mut line = flow(&[100; 100], true);
    for step in &mut line.steps {
        step.full_s = RTT;
    }
    let ledger = book(&line, &hints(), None);
    adds_up(&ledger);
    assert_eq!(ledger.limit(), Some(Limit::BottleneckBandwidth));
    assert!(ledger.entries.iter().any(|entry| entry.state == State::Window));
}

#[test]
fn slow_start_that_ends_early_owes_the_growth_that_follows() {
    let mut kilobytes = vec![0, 10, 20, 40];
    kilobytes.extend((41..100).step_by(2));
    kilobytes.extend([100; 40]);
    let ledger = book(&flow(&kilobytes, true), &hints(), None);
    adds_up(&ledger);
    let early = ledger
        .entries
        .iter()
        .find(|entry| entry.flags.contains(&Flag::EarlyExit))
        .unwrap();
    assert_eq!((early.cause, early.state), (Limit::SlowStart, State::Growth));
    // The step in which it no longer doubles, or the one behind it.
    assert!((40..=42).contains(&early.segments), "{early:?}");
    // Thirty round trips at 70 % in the mean, less what doubling from 40 kB would have cost.
    assert!((0.6..1.0).contains(&early.lost_s.unwrap()), "{ledger:#?}");
}

#[test]
fn each_loss_owes_what_it_took_until_growth_has_paid_it_back() {
    let mut kilobytes = vec![0, 10, 20, 40, 80];
    kilobytes.extend([100; 20]);
    kilobytes.extend((50..100).step_by(5));
    kilobytes.extend([100; 20]);
    let mut line = flow(&kilobytes, true);
    line.events = vec![loss(line.start_of(24), 0.0)];
    let ledger = book(&line, &hints(), None);
    adds_up(&ledger);
    let lost = ledger.lost_to(Limit::RandomLoss).unwrap();
    // Half of a round trip's worth at first, nothing ten round trips later.
    assert!((0.2..0.35).contains(&lost), "{ledger:#?}");
}

#[test]
fn what_a_policer_lets_through_is_no_capacity() {
    let mut line = flow(&[50; 60], false);
    line.events = (1..60).map(|place| loss(line.start_of(place), 0.0)).collect();
    let policed = Hints {
        policed: Some(0.5 * RATE),
        ..hints()
    };
    let ledger = book(&line, &policed, None);
    adds_up(&ledger);
    assert_eq!(
        (ledger.capacity_is, ledger.limit()),
        (CapacityIs::AtLeast, Some(Limit::Policed))
    );
    let ledger = book(&line, &policed, Some(RATE));
    adds_up(&ledger);
    assert_eq!(ledger.limit(), Some(Limit::Policed));
}

#[test]
fn trains_tell_a_capacity_that_was_never_filled() {
    let mut line = flow(&[40; 100], false);
    line.train_rate = Some(RATE);
    for step in &mut line.steps {
        step.full_s = RTT;
    }
    let ledger = book(&line, &hints(), None);
    adds_up(&ledger);
    assert_eq!(
        (ledger.capacity_is, ledger.limit()),
        (CapacityIs::Measured, Some(Limit::ReceiverWindow))
    );
    assert!(
        (ledger.lost_to(Limit::ReceiverWindow).unwrap() - 6.0).abs() < 0.3,
        "{ledger:#?}"
    );
}

/// A queue of a tenth of the path overflows in slow start although the path is not full; a later loss without a queue is
/// random.
#[test]
fn an_overflow_of_a_short_queue_and_a_random_loss_are_told_apart() {
    let mut kilobytes = vec![0, 10, 20, 40];
    kilobytes.extend([30; 30]);
    kilobytes.extend([15; 30]);
    let mut line = flow(&kilobytes, false);
    line.train_rate = Some(RATE);
    let overflow = Event {
        segments: 9,
        ..loss(line.start_of(3), 0.01)
    };
    let random = Event {
        longer: 0.9,
        ..loss(line.start_of(34), 0.0)
    };
    line.events = vec![overflow, random];
    let ledger = book(&line, &hints(), None);
    adds_up(&ledger);
    let of = |cause: Limit| ledger.entries.iter().filter(move |entry| entry.cause == cause);
    assert!(
        of(Limit::BottleneckBandwidth).any(|entry| entry.flags == [Flag::ShortQueue] && entry.time_s > 2.0),
        "{ledger:#?}"
    );
    assert_eq!(of(Limit::RandomLoss).map(|entry| entry.segments).max(), Some(1));
}

/// What a policer lets through makes no full link, whatever its bursts do to the round trip.
#[test]
fn a_queue_before_a_policer_is_no_full_link() {
    let mut line = flow(&[100; 60], true);
    line.events = (1..60)
        .map(|place| Event {
            longer: 0.5,
            ..loss(line.start_of(place), 0.001)
        })
        .collect();
    let policed = Hints {
        policed: Some(RATE),
        ..hints()
    };
    let ledger = book(&line, &policed, None);
    adds_up(&ledger);
    assert!(
        ledger.time_of(Limit::BottleneckBandwidth) < 0.1 * ledger.duration_s,
        "{ledger:#?}"
    );
}

/// A train of a sender lengthens the delay before the very losses of a policer: where its bucket explains all of them, that is no queue
/// which overflowed; where it explains some, the longest delay tells the others.
#[test]
fn the_longest_delay_is_no_overflow_where_a_bucket_explains_every_loss() {
    let mut kilobytes = vec![0, 10, 20, 40];
    kilobytes.extend([30; 56]);
    let mut line = flow(&kilobytes, false);
    line.train_rate = Some(RATE);
    line.delays_s = vec![0.0, 0.01];
    line.events = vec![Event {
        segments: 9,
        span: 9_000,
        longer: 0.01,
        backlog: 1.0,
        ..loss(line.start_of(3), 0.01)
    }];
    let cause = |policer_took_all| {
        let hints = Hints {
            policed: Some(0.3 * RATE),
            policer_took_all,
            ..hints()
        };
        let ledger = book(&line, &hints, None);
        adds_up(&ledger);
        let mut events = ledger.entries.iter().filter(|entry| entry.segments > 0);
        events.next().map(|entry| entry.cause)
    };
    assert_eq!(cause(true), Some(Limit::Policed));
    assert_eq!(cause(false), Some(Limit::BottleneckBandwidth));
}

/// A bucket that several flows of a capture empty together: what one of them put into it says nothing of a loss.
#[test]
fn a_bucket_that_all_flows_empty_took_all_losses() {
    let mut kilobytes = vec![60; 20];
    kilobytes.extend((0..40).map(|step| 30 + step / 2));
    let mut line = flow(&kilobytes, false);
    line.train_rate = Some(RATE);
    line.events = vec![Event {
        backlog: 0.3,
        longer: 0.5,
        ..loss(line.start_of(20), 0.0)
    }];
    let cause = |others_seen| {
        let hints = Hints {
            policed: Some(0.5 * RATE),
            policer_took_all: true,
            others_seen,
            ..hints()
        };
        let ledger = book(&line, &hints, None);
        let causes = [Limit::Policed, Limit::RandomLoss, Limit::BottleneckBandwidth];
        causes.into_iter().find(|cause| ledger.time_of(*cause) > 0.0)
    };
    assert_eq!(cause(true), Some(Limit::Policed));
    assert_eq!(cause(false), Some(Limit::RandomLoss));
}

#[test]
fn idling_and_answers_are_told_apart() {
    let mut line = flow(&[100; 40], false);
    for (place, step) in line
        .steps
        .iter_mut()
        .enumerate()
        .filter(|(place, _)| place % 2 == 1)
    {
        *step = Step {
            idle_s: RTT,
            asked_s: if place % 4 == 1 { RTT } else { 0.0 },
            ..Step::default()
        };
    }
    let ledger = book(&line, &hints(), Some(RATE));
    adds_up(&ledger);
    assert!(
        (ledger.time_of(Limit::SenderApplication) - 1.0).abs() < 1e-6,
        "{ledger:#?}"
    );
    assert!(
        (ledger.lost_to(Limit::ProtocolWindow).unwrap() - 1.0).abs() < 1e-6,
        "{ledger:#?}"
    );
}

/// A hole that is filled late makes everything behind it arrive at once.
#[test]
fn a_burst_of_deliveries_is_spread_over_the_time_in_which_it_was_carried() {
    let mut kilobytes = vec![100; 40];
    (kilobytes[20], kilobytes[21], kilobytes[22]) = (0, 0, 300);
    let ledger = book(&flow(&kilobytes, false), &hints(), Some(RATE));
    adds_up(&ledger);
    assert!(
        ledger
            .entries
            .iter()
            .filter_map(|entry| entry.lost_s)
            .sum::<f64>()
            < 1e-6,
        "{ledger:#?}"
    );
}

#[test]
fn ideal_doubling_costs_a_round_trip_and_what_small_windows_leave_idle() {
    // 10, 20, 40, 80 kB in round trips that could carry 100 kB: 0.9 + 0.8 + 0.6 + 0.2 of one, and the first.
    assert!((ideal_start(1e7, RATE, RTT, 10_000.0) - 3.5 * RTT).abs() < 1e-9);
    assert!((ideal_start(5_000.0, RATE, RTT, 10_000.0) - RTT).abs() < 1e-9);
}

#[test]
fn the_sentence_names_every_part_of_a_tenth() {
    let mut line = flow(&[40; 100], false);
    for step in &mut line.steps {
        step.full_s = RTT;
    }
    let ledger = book(&line, &hints(), Some(RATE));
    assert_eq!(
        ledger.sentence,
        "Of 10.1 s, 4.10 s are the link itself, 6.00 s the receiver's window was full."
    );
}

#[test]
fn the_sentence_tells_the_start_that_every_transfer_needs_apart_from_the_link() {
    let long = book(&flow(&[100; 100], false), &hints(), Some(RATE));
    assert!(!long.sentence.contains("slow start"), "{}", long.sentence);
    let short = book(&flow(&[10, 20, 40, 80, 100], false), &hints(), Some(RATE));
    assert!(short.start_s.unwrap() >= 0.1 * short.duration_s, "{short:#?}");
    let said = short
        .sentence
        .contains("the handshake and slow start that every transfer needs");
    assert!(said, "{}", short.sentence);
    let start = short.start_s.unwrap();
    let worked = short.floor_s.unwrap() - start;
    assert!((worked - 2.5 * RTT).abs() < 0.01 * RTT, "{short:#?}");
}

#[test]
fn a_flight_that_stays_the_same_below_the_window_is_held_by_a_buffer() {
    let mut line = flow(&[40; 100], false);
    for step in &mut line.steps {
        (step.window, step.acks, step.followed) = (400_000, 20, 18);
    }
    let ledger = book(&line, &hints(), Some(RATE));
    adds_up(&ledger);
    assert_eq!(ledger.limit(), Some(Limit::SendBuffer), "{ledger:#?}");
    // A window that grows by a segment in each round trip is none that stays.
    let mut line = flow(&(20..120).collect::<Vec<u64>>(), false);
    for step in &mut line.steps {
        (step.window, step.acks, step.followed) = (400_000, 20, 18);
    }
    let ledger = book(&line, &hints(), None);
    assert!(ledger.time_of(Limit::SendBuffer) < 1e-9, "{ledger:#?}");
}

#[test]
fn room_that_nothing_is_sent_into_is_the_programs_pace() {
    let of = |let_go: u32| {
        let mut line = flow(&[40; 100], false);
        (line.bursts, line.let_go) = (50, let_go);
        for step in &mut line.steps {
            (step.window, step.acks, step.unused, step.followed) = (400_000, 20, 16, 16);
        }
        let ledger = book(&line, &hints(), Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::SenderApplication)
    };
    assert!(of(10) > 9.0);
    // What an acknowledgement lets go each time was in a buffer.
    assert!(of(45) < 1.0);
}

#[test]
fn a_queue_that_others_passed_longer_was_not_full() {
    let of = |queue_s: f64| {
        let mut kilobytes = vec![0, 10, 20, 40, 80];
        kilobytes.extend([100; 40]);
        kilobytes.extend([30; 60]);
        let mut line = flow(&kilobytes, true);
        line.events = [2.0, 3.0, 4.65].map(|at| loss(at, queue_s)).to_vec();
        let ledger = book(&line, &hints(), Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::RandomLoss)
    };
    assert!(of(0.05) < 1e-9);
    assert!(of(0.01) > 1.0);
}

#[test]
fn what_an_empty_bucket_drops_is_policed_and_what_a_full_queue_drops_is_not() {
    let mut kilobytes = vec![0, 10, 20, 40, 80];
    kilobytes.extend([100; 40]);
    kilobytes.extend([30; 60]);
    let of = |backlog: f64| {
        let mut line = flow(&kilobytes, true);
        line.events = [2.0, 3.0, 4.65]
            .map(|at| Event {
                backlog,
                ..loss(at, 0.05)
            })
            .to_vec();
        let hints = Hints {
            policed: Some(0.8 * RATE),
            ..hints()
        };
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::Policed)
    };
    assert!(of(1.0) > 1.0);
    assert!(of(0.2) < 1e-9);
}

#[test]
fn what_follows_an_empty_bucket_at_once_is_the_buckets_and_what_comes_later_is_not() {
    let of = |at: f64| {
        // The window gets smaller behind the last loss.
        let mut kilobytes = vec![0, 10, 20, 40, 80];
        kilobytes.extend(vec![60; (at / RTT) as usize - 5]);
        kilobytes.extend([30; 40]);
        let mut line = flow(&kilobytes, false);
        let empty = |at: f64| Event {
            backlog: 1.0,
            ..loss(at, 0.0)
        };
        line.events = (1..=5).map(|second| empty(f64::from(second))).collect();
        line.events.push(Event {
            backlog: 0.1,
            ..loss(at, 0.0)
        });
        line.events.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let hints = Hints {
            policed: Some(0.8 * RATE),
            ..hints()
        };
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        ledger
            .entries
            .iter()
            .any(|entry| entry.cause == Limit::RandomLoss)
    };
    // Nothing has arrived since the bucket was empty; half a second later, three hundred segments have.
    assert!(!of(5.001));
    assert!(of(5.5));
}

#[test]
fn many_losses_close_together_overran_a_queue_and_as_many_far_apart_did_not() {
    let mut kilobytes = vec![0, 10, 20, 40, 80];
    kilobytes.extend([100; 60]);
    kilobytes.extend([50; 40]);
    let of = |span: u64| {
        let mut line = flow(&kilobytes, true);
        line.events = vec![Event {
            segments: 20,
            span,
            ..loss(6.6, 0.05)
        }];
        let ledger = book(&line, &hints(), Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::RandomLoss)
    };
    assert!(of(40_000) < 1e-9);
    assert!(of(2_000_000) > 1.0);
}

/// Two segments in a row, once in a whole transfer and at the longest delay: chance takes one at a time.
#[test]
fn a_delay_that_most_packets_have_is_no_full_queue_even_where_the_rate_varies() {
    let of = |longer| {
        let mut kilobytes = vec![0, 10, 20, 40, 80];
        kilobytes.extend([100; 30]);
        kilobytes.extend([30; 30]);
        let mut line = flow(&kilobytes, true);
        line.delays_s = vec![0.0, 0.2];
        line.events = vec![Event {
            longer,
            ..loss(3.55, 0.02)
        }];
        let hints = Hints {
            varies: true,
            ..hints()
        };
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::RandomLoss)
    };
    assert!(of(0.1) < 1e-9 && of(0.9) > 1.0, "{} {}", of(0.1), of(0.9));
}

#[test]
fn a_queue_of_more_than_a_round_trip_keeps_a_link_busy_however_slow_it_gets() {
    // The link carries 1 MB/s and a tenth of it in turns, four segments of 30 kB every 1.2 s.
    let kilobytes: Vec<u64> = (0..240)
        .map(|place| match place {
            _ if place % 48 < 24 => 100,
            _ if place % 12 == 11 => 120,
            _ => 0,
        })
        .collect();
    let of = |rtt_s: f64| {
        let mut line = flow(&kilobytes, true);
        for step in &mut line.steps[1..] {
            (step.rtt_s, step.rtt_max_s, step.flight) = (rtt_s, rtt_s, 60_000);
        }
        let hints = Hints {
            varies: true,
            segment: 30_000,
            ..hints()
        };
        let ledger = book(&line, &hints, None);
        adds_up(&ledger);
        ledger.duration_s - ledger.time_of(Limit::BottleneckBandwidth)
    };
    // All but the handshake, the start and the end.
    assert!(of(4.0 * RTT) < 4.0 * RTT, "{}", of(4.0 * RTT));
    assert!(of(1.5 * RTT) > 8.0 * RTT, "{}", of(1.5 * RTT));
}

#[test]
fn two_segments_in_a_row_overran_a_queue_and_one_alone_is_chance() {
    let mut kilobytes = vec![0, 10, 20, 20, 20];
    kilobytes.extend((20..90).step_by(2));
    kilobytes.extend([90; 300]);
    let of = |segments: u64, span: u64| {
        let mut line = flow(&kilobytes, false);
        line.train_rate = Some(RATE);
        let once = Event {
            segments,
            span,
            longer: 0.001,
            ..loss(line.start_of(4), 0.02)
        };
        line.events = vec![once];
        let ledger = book(&line, &hints(), None);
        adds_up(&ledger);
        ledger.time_of(Limit::RandomLoss)
    };
    assert!(of(2, 2_000) < 1e-9);
    assert!(of(1, 1_000) > 1.0 && of(2, 15_000) > 1.0);
}

#[test]
fn without_a_cause_the_next_ceiling_holds() {
    // A window of half of what the path holds, and a loss that makes less of it.
    let mut kilobytes = vec![0, 10, 20, 40];
    kilobytes.extend([50; 40]);
    kilobytes.extend([20; 60]);
    let mut line = flow(&kilobytes, false);
    for step in &mut line.steps[4..44] {
        step.full_s = RTT;
    }
    line.events = vec![loss(4.45, 0.0)];
    let ledger = book(&line, &hints(), Some(RATE));
    let lost = ledger.lost_to(Limit::RandomLoss).unwrap();
    let left = ledger.without(Limit::RandomLoss).unwrap().duration_s;
    assert!(lost > 3.0, "{ledger:#?}");
    assert!(left > ledger.duration_s - lost + 0.5, "{left} {lost}");
    // All of the 3,270 kB at 500 kB/s.
    assert!((left - 6.54).abs() < 0.2, "{left} {ledger:#?}");
    let same = ledger.without(Limit::Reordering).unwrap().duration_s;
    assert!((same - ledger.duration_s).abs() < 1e-9, "{same}");
}

#[test]
fn a_queue_that_stands_before_a_link_of_which_a_flow_has_part_is_others() {
    let mut line = flow(&[50; 100], false);
    for step in &mut line.steps {
        (step.rtt_s, step.rtt_max_s) = (1.5 * RTT, 1.5 * RTT);
        (step.acks, step.followed) = (20, 20);
    }
    let share = |line: &Timeline| {
        let ledger = book(line, &hints(), Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::SharedBottleneck) / ledger.duration_s
    };
    assert!(share(&line) > 0.9);
    // A program that gives little at a time, which is acknowledged at once, makes queues that are gone before more comes.
    for step in &mut line.steps {
        (step.acks, step.followed) = (4, 1);
    }
    assert!(share(&line) < 1e-9);
}

#[test]
fn a_queue_that_no_flight_makes_is_others() {
    let share = |kilobytes: u64, queue: f64, acks: u32| {
        let mut line = flow(&[kilobytes; 100], false);
        for (place, step) in line.steps.iter_mut().enumerate() {
            (step.acks, step.followed) = (acks, 1);
            // Others come for the second half.
            let rtt = RTT + if place < 50 { 0.0 } else { queue };
            (step.rtt_s, step.rtt_max_s) = (rtt, rtt);
        }
        let ledger = book(&line, &hints(), Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::SharedBottleneck) / ledger.duration_s
    };
    assert!((0.4..0.55).contains(&share(60, 0.03, 30)));
    // What is in flight makes the queue itself if it is as much as the path holds, or comes at once; but none that is longer.
    assert!(share(95, 0.03, 50) < 1e-9);
    assert!(share(60, 0.03, 4) < 1e-9 && share(60, 0.09, 4) > 0.4);
    // A segment's own length is no queue.
    assert!(share(60, 0.003, 30) < 1e-9);
}

/// BBR below a small window: its own clock sends, and only each eighth round trip is the window full.
#[test]
fn a_window_that_a_sender_with_a_clock_of_its_own_fills_again_and_again_holds_it_in_between() {
    let of = |followed: u32, lossy: bool| {
        let mut line = flow(&[40; 100], false);
        for (place, step) in line.steps.iter_mut().enumerate() {
            (step.acks, step.followed, step.window) = (20, followed, 48_000);
            if place % 8 == 0 {
                step.full_s = 0.5 * RTT;
            }
        }
        if lossy {
            line.events = (1..10).map(|second| loss(f64::from(second), 0.0)).collect();
        }
        let ledger = book(&line, &hints(), Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::ReceiverWindow) / ledger.duration_s
    };
    assert!(of(1, false) > 0.9);
    // One that acknowledgements let send has a window of its own, which losses keep small.
    assert!(of(19, false) < 0.1);
    assert!(of(1, true) < 0.1);
}

/// No segment waits at the window's edge for a third round trip in a row unless the window is what it waits for.
#[test]
fn a_flight_that_comes_up_to_the_window_but_for_two_segments_is_held_by_it() {
    let of = |window: u64, hints: Hints| {
        let mut line = flow(&[40; 100], false);
        for step in &mut line.steps {
            (step.window, step.acks, step.followed) = (window, 20, 18);
        }
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::ReceiverWindow) / ledger.duration_s
    };
    assert!(of(41_500, hints()) > 0.9);
    assert!(of(45_000, hints()) < 0.1);
    let receiver = Hints {
        at_sender: false,
        at_receiver: true,
        ..hints()
    };
    assert!(of(41_500, receiver.clone()) > 0.9);
    let unknown = Hints {
        window_known: false,
        ..receiver
    };
    assert!(of(41_500, unknown) < 0.1);
}

#[test]
fn a_window_that_is_full_in_most_round_trips_comes_before_a_fixed_amount() {
    let hints = Hints {
        constant: Some(Limit::SendBuffer),
        constant_bytes: 40_000,
        ..hints()
    };
    let of = |unused: u32| {
        let mut line = flow(&[40; 100], false);
        for step in &mut line.steps {
            (step.window, step.full_s) = (60_000, 0.4 * RTT);
            (step.acks, step.followed, step.unused) = (20, 18, unused);
        }
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::ReceiverWindow) / ledger.duration_s
    };
    assert!(of(0) > 0.9);
    // Room that is not used is not waited for: the window has the time in which it was full, and no more.
    assert!((0.3..0.5).contains(&of(10)));
}

#[test]
fn beside_the_receiver_pauses_tell_a_buffer_from_a_program() {
    for (released, limit) in [
        (Some(true), Limit::SendBuffer),
        (Some(false), Limit::SenderApplication),
        (None, Limit::Unknown),
    ] {
        let mut line = flow(&[40; 100], false);
        for step in &mut line.steps {
            (step.window, step.acks, step.followed) = (400_000, 20, 18);
        }
        let hints = Hints {
            at_sender: false,
            at_receiver: true,
            released,
            ..hints()
        };
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        assert_eq!(ledger.limit(), Some(limit), "{released:?} {ledger:#?}");
    }
}

/// BBR below a send buffer: it has less in flight than that holds, but when it probes for more.
#[test]
fn a_sender_with_a_clock_of_its_own_is_held_by_a_buffer_at_the_flight_at_which_it_usually_is() {
    let of = |released: Option<bool>| {
        let kilobytes: Vec<u64> = (0..160)
            .map(|place| if place % 16 == 0 { 45 } else { 30 })
            .collect();
        let mut line = flow(&kilobytes, false);
        for step in &mut line.steps {
            (step.window, step.acks, step.followed) = (400_000, 20, 6);
        }
        let hints = Hints { released, ..hints() };
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        ledger.time_of(Limit::SendBuffer) / ledger.duration_s
    };
    assert!(of(Some(true)) > 0.9);
    assert!(of(None) < 0.1 && of(Some(false)) < 0.1);
}

/// A buffer whose third is filled at once: what is in flight changes from round trip to round trip, and no fixed amount shows.
#[test]
fn bursts_that_acknowledgements_let_go_tell_a_buffer_whose_flight_changes() {
    let of = |let_go: u32, follows_acks: bool| {
        let kilobytes: Vec<u64> = (0..160).map(|place| 20 + place * 7 % 24).collect();
        let mut line = flow(&kilobytes, false);
        (line.bursts, line.let_go) = (100, let_go);
        for step in &mut line.steps {
            (step.window, step.acks, step.followed, step.unused) = (400_000, 20, 2, 8);
            step.unused_s = 0.4 * RTT;
        }
        let hints = Hints {
            released: Some(true),
            follows_acks,
            ..hints()
        };
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        let of = |wanted: State| {
            let entries = ledger
                .entries
                .iter()
                .filter(|entry| entry.cause == Limit::SendBuffer);
            entries
                .filter(|entry| entry.state == wanted)
                .map(|entry| entry.time_s)
                .sum::<f64>()
        };
        [of(State::Buffer), of(State::Pace)].map(|time| time / ledger.duration_s)
    };
    let [buffer, pace] = of(95, true);
    assert!(buffer > 0.9 && pace < 0.01, "{buffer} {pace}");
    // One with a clock of its own waits for the buffer only when all is sent.
    let [buffer, pace] = of(95, false);
    assert!(
        (0.35..0.45).contains(&buffer) && (0.5..0.65).contains(&pace),
        "{buffer} {pace}"
    );
    assert!(of(20, true) == [0.0, 0.0], "a program's own pace");
}

#[test]
fn what_the_machine_of_the_measurement_took_is_charged_to_nothing_else() {
    let mut kilobytes = vec![0, 10, 20, 40, 80];
    kilobytes.extend([100; 95]);
    kilobytes[40..52].fill(0);
    let mut line = flow(&kilobytes, true);
    for step in &mut line.steps[40..52] {
        (step.held_s, step.silent_s) = (RTT, RTT);
    }
    let ledger = book(&line, &hints(), Some(RATE));
    adds_up(&ledger);
    let ours = ledger
        .entries
        .iter()
        .find(|entry| entry.state == State::Measurement)
        .unwrap();
    assert!((ours.time_s - 1.2).abs() < 1e-6, "{ledger:#?}");
    assert!(
        ours.lost_s.unwrap() > 1.1,
        "nothing was delivered meanwhile: {ledger:#?}"
    );
    assert!(
        ledger.sentence.contains("machine of the measurement"),
        "{}",
        ledger.sentence
    );
    assert_eq!(ledger.limit(), Some(Limit::BottleneckBandwidth));
}

#[test]
fn what_was_lost_leaves_out_the_line_and_gaps_with_nothing_to_send() {
    let entry = |cause, state, time_s, lost_s| Entry::plain(cause, state, time_s, Some(lost_s));
    let mut ledger = Ledger {
        duration_s: 12.0,
        floor_s: Some(4.0),
        entries: vec![
            entry(Limit::BottleneckBandwidth, State::Link, 4.0, 0.5),
            entry(Limit::ReceiverWindow, State::Window, 3.0, 2.0),
            entry(Limit::SlowStart, State::Start, 1.0, 0.25),
            entry(Limit::Unknown, State::Unknown, 1.0, 1.0),
            entry(Limit::SenderApplication, State::Idle, 3.0, 3.0),
        ],
        ..Ledger::default()
    };
    let told = |seconds, at_most| Lost { seconds, at_most };
    assert_eq!(ledger.lost(), told(3.75, false));
    ledger.floor_s = None;
    assert_eq!(ledger.lost(), told(3.0, true), "what is known to have held it");
}

#[test]
fn a_program_that_catches_up_gives_no_more_than_it_had_given_when_it_was_out_of_data() {
    // 40 kB for each round trip; for two seconds something let half through, then it caught up and ran out again.
    let mut kilobytes = vec![40; 20];
    kilobytes.extend([20; 20]);
    kilobytes.extend([80; 10]);
    kilobytes.extend([40; 20]);
    let mut line = flow(&kilobytes, false);
    for (place, step) in line.steps.iter_mut().enumerate() {
        step.idle_s = if (20..50).contains(&place) { 0.0 } else { 0.6 * RTT };
    }
    let ledger = book(&line, &hints(), Some(RATE));
    let pace = |ledger: &Ledger| {
        let mut ceilings = ledger.ceilings.iter();
        let found = ceilings.find(|(limit, _)| *limit == Limit::SenderApplication);
        found.map(|(_, rate)| *rate)
    };
    assert!(
        (pace(&ledger).unwrap() / 0.4e6 - 1.0).abs() < 0.02,
        "{:?}",
        ledger.ceilings
    );
    // One that is out of data in the first second only may have had less to give then than later.
    for step in &mut line.steps[..10] {
        step.fresh = 10_000;
    }
    let early = |limit: Limit| Interval {
        from_s: RTT,
        to_s: 1.0,
        limit,
    };
    assert_eq!(
        given(&line, &Hints::default(), &[early(Limit::SenderApplication)]),
        None
    );
    let late = Interval {
        to_s: line.to_s,
        ..early(Limit::SenderApplication)
    };
    assert!(
        given(&line, &Hints::default(), &[late]).is_some()
            && given(&line, &Hints::default(), &[early(Limit::SendBuffer)]).is_none()
    );
    // Unless it had sent whole blocks whenever it was out of data: it gave no more than these until then, whatever held it later.
    let dry = |sent: &[u64]| {
        let mut line = line.clone();
        let at = |place: usize| line.from_s + 0.3 * (place + 1) as f64;
        line.dry = sent
            .iter()
            .enumerate()
            .map(|(place, sent)| (at(place), *sent))
            .collect();
        given(&line, &Hints::default(), &[])
    };
    let pace = dry(&[131_072, 262_144]).unwrap();
    assert!((pace / (131_072.0 / 0.3) - 1.0).abs() < 1e-9, "{pace}");
    assert_eq!(dry(&[131_000, 262_700]), None);
    assert_eq!(dry(&[131_072, 262_700, 393_000, 524_000, 655_000]), None);
}

#[test]
fn losses_that_come_again_and_again_owe_for_what_an_overflow_began() {
    let mut kilobytes = vec![0, 10, 20, 40, 80, 100, 100, 50];
    // Each loss finds some more than 30 kB in flight and leaves half of it.
    kilobytes.extend((0..100).map(|place| 30 + place % 5 * 5));
    let mut line = flow(&kilobytes, true);
    line.events = vec![loss(0.75, 0.05)];
    line.events
        .extend((1..20).map(|number| loss(0.95 + 0.5 * f64::from(number), 0.0)));
    let ledger = book(&line, &hints(), Some(RATE));
    adds_up(&ledger);
    let [overflow, random] =
        [Limit::BottleneckBandwidth, Limit::RandomLoss].map(|cause| ledger.time_in(cause, State::Growth));
    assert!(overflow > 0.0 && random > 4.0 * overflow, "{ledger:#?}");
}

/// Half of the time with a full window it is smaller than it has been: the reader's, whatever is said of the whole transfer.
#[test]
fn a_slow_reader_owes_for_the_time_in_which_its_window_is_small() {
    let mut line = flow(&[40; 100], false);
    for (place, step) in line.steps.iter_mut().enumerate() {
        step.full_s = RTT;
        step.shrunk_s = if place < 50 { RTT } else { 0.0 };
    }
    let hints = Hints {
        slow_reader: true,
        ..hints()
    };
    let ledger = book(&line, &hints, Some(RATE));
    adds_up(&ledger);
    for cause in [Limit::ReceiverApplication, Limit::ReceiverWindow] {
        assert!((ledger.time_of(cause) - 5.0).abs() < 0.2, "{ledger:#?}");
    }
}

/// Shares of the buffer and of the program where acknowledgements release what is sent and leave room.
fn buffer_and_program(mut line: Timeline) -> [f64; 2] {
    leaves_room(&mut line);
    let hints = Hints {
        released: Some(true),
        follows_acks: true,
        ..hints()
    };
    let ledger = book(&line, &hints, Some(RATE));
    adds_up(&ledger);
    [Limit::SendBuffer, Limit::SenderApplication].map(|cause| ledger.time_of(cause) / ledger.duration_s)
}

#[test]
fn bursts_larger_than_a_third_of_the_buffer_are_a_programs_pieces() {
    let of = |piece: u64| {
        let mut line = flow(&[60; 100], false);
        (line.bursts, line.let_go, line.burst_bytes) = (100, 95, 100 * piece);
        buffer_and_program(line)
    };
    let [buffer, program] = of(20_000);
    assert!(buffer > 0.9 && program < 0.1, "{buffer} {program}");
    let [buffer, program] = of(40_000);
    assert!(buffer < 0.1 && program > 0.9, "{buffer} {program}");
}

#[test]
fn a_buffer_holds_what_no_longer_grows_behind_a_loss() {
    let of = |kilobytes: Vec<u64>, answers: u64| {
        let mut line = flow(&kilobytes, false);
        (line.bursts, line.let_go, line.burst_bytes) = (100, 95, 1_000_000);
        line.dry = (1..=100_u32)
            .map(|burst| (RTT * f64::from(burst) + 0.05, 20_001 * u64::from(burst)))
            .collect();
        leaves_room(&mut line);
        line.events = vec![loss(0.35, 0.0)];
        let hints = Hints {
            released: Some(true),
            follows_acks: true,
            answered: answers > 0,
            answers,
            ..hints()
        };
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        [Limit::SendBuffer, Limit::RandomLoss].map(|cause| ledger.time_of(cause) / ledger.duration_s)
    };
    let stays = [60, 50, 45, 55].repeat(25);
    let [buffer, loss] = of(stays.clone(), 0);
    assert!(buffer > 0.7 && loss < 0.2, "{buffer} {loss}");
    // A window that grows back leaves the same room.
    let [buffer, loss] = of((0..100).map(|step| 30 + step / 2).collect(), 0);
    assert!(buffer < 0.1 && loss > 0.5, "{buffer} {loss}");
    // A program that asks pauses once for each answer.
    let [buffer, _] = of(stays.clone(), 20);
    assert!(buffer > 0.7, "{buffer}");
    let [buffer, _] = of(stays, 90);
    assert!(buffer < 0.1, "{buffer}");
}

/// Shares of the buffer and of the program where a hundred bursts ran dry, each behind so many bytes more than the one before.
fn dry_behind(bytes: impl Fn(u64) -> u64) -> [f64; 2] {
    let mut line = flow(&[60; 100], false);
    (line.bursts, line.let_go, line.burst_bytes) = (100, 95, 2_000_000);
    let mut sent = 0;
    line.dry = (1..=100)
        .map(|burst| {
            sent += bytes(burst);
            (RTT * burst as f64 + 0.05, sent)
        })
        .collect();
    buffer_and_program(line)
}

#[test]
fn a_program_that_runs_dry_behind_whole_blocks_is_no_buffer() {
    let of = |whole: u64| dry_behind(|burst| 131_072 + u64::from(burst == whole + 1));
    // A burst in a hundred ends at a whole block by chance.
    let [buffer, program] = of(1);
    assert!(buffer > 0.9 && program < 0.1, "{buffer} {program}");
    let [buffer, program] = of(30);
    assert!(buffer < 0.1 && program > 0.9, "{buffer} {program}");
}

#[test]
fn a_program_that_writes_the_same_again_and_again_is_no_buffer() {
    // One to three writes of 784 bytes.
    let [buffer, program] = dry_behind(|burst| 784 * (1 + burst % 3));
    assert!(buffer < 0.1 && program > 0.9, "{buffer} {program}");
    // What a buffer lets go has two sizes with little in common, is whole segments, or far more than one.
    for sizes in [[18_824, 17_472], [4_000, 5_000], [20_001, 20_001]] {
        let [buffer, program] = dry_behind(|burst| sizes[(burst % 2) as usize]);
        assert!(buffer > 0.9 && program < 0.1, "{sizes:?}: {buffer} {program}");
    }
}

/// Who has more to send fills a segment: less at a time is a program's that writes little.
#[test]
fn less_than_a_segment_in_flight_is_no_buffer() {
    let of = |flight| {
        let mut line = flow(&[60; 100], false);
        (line.bursts, line.let_go, line.burst_bytes) = (100, 95, 2_000_000);
        // Nothing else tells a program: what was sent since the last time has little in common.
        line.dry = (1..=100_u32)
            .map(|burst| (RTT * f64::from(burst) + 0.05, 20_001 * u64::from(burst)))
            .collect();
        for step in &mut line.steps {
            (step.flight, step.fresh) = (flight, flight);
        }
        buffer_and_program(line)
    };
    let [buffer, program] = of(u64::from(hints().segment) - 300);
    assert!(buffer < 0.1 && program > 0.9, "{buffer} {program}");
    let [buffer, program] = of(60_000);
    assert!(buffer > 0.9 && program < 0.1, "{buffer} {program}");
}

#[test]
fn a_start_that_had_the_link_for_a_round_trip_overran_the_queue_by_itself() {
    let of = |most: u64| {
        let mut kilobytes = vec![0, 10, 20, 40, most, most, 30];
        kilobytes.extend([30; 60]);
        let mut line = flow(&kilobytes, true);
        line.events = vec![Event {
            segments: 20,
            span: 40_000,
            ..loss(0.58, 0.05)
        }];
        line.steps[4].rtt_s = 1.5 * RTT;
        let hints = Hints {
            shared: true,
            ..hints()
        };
        let ledger = book(&line, &hints, Some(RATE));
        adds_up(&ledger);
        ledger.time_in(Limit::BottleneckBandwidth, State::Growth)
    };
    assert!(of(60) < 1e-9);
    assert!(of(90) > 0.2);
}

#[test]
fn delays_of_packets_that_overtake_each_other_are_no_queue_where_a_buffer_holds_the_flight() {
    let of = |overtakes: bool| {
        let mut line = flow(&[100; 100], true);
        for step in &mut line.steps {
            (step.window, step.acks, step.followed, step.unused) = (400_000, 20, 18, 18);
        }
        let hints = Hints {
            overtakes,
            constant: Some(Limit::SendBuffer),
            constant_bytes: 100_000,
            ..hints()
        };
        let ledger = book(&line, &hints, None);
        adds_up(&ledger);
        ledger.time_of(Limit::SendBuffer) / ledger.duration_s
    };
    assert!(of(true) > 0.9 && of(false) < 0.1, "{} {}", of(true), of(false));
}

/// What two events of a path on which packets overtake each other are charged to: a segment lost in truth, and two sent again
/// without need so many seconds later.
fn in_disorder(tells_repeats: bool, later_s: f64) -> Vec<Limit> {
    let mut kilobytes = vec![0, 10, 20, 40];
    kilobytes.extend([20; 60]);
    let mut line = flow(&kilobytes, false);
    let needless = Event {
        kind: Happening::Needless,
        segments: 2,
        ..loss(0.45 + later_s, 0.0)
    };
    line.events = vec![loss(0.45, 0.0), needless];
    let hints = Hints {
        disorder: true,
        overtakes: true,
        tells_repeats,
        ..hints()
    };
    let (causes, _) = events::causes(&line, &hints, &capacity::capacity(&line, &hints, Some(RATE)));
    causes.into_iter().map(|(cause, _)| cause).collect()
}

#[test]
fn in_disorder_the_receiver_tells_what_was_lost() {
    assert_eq!(
        in_disorder(true, 10.0 * RTT),
        [Limit::RandomLoss, Limit::Reordering]
    );
    assert_eq!(in_disorder(false, 10.0 * RTT), [Limit::Reordering; 2]);
}

#[test]
fn what_is_sent_again_in_vain_while_a_loss_is_made_good_is_charged_to_that() {
    assert_eq!(in_disorder(true, 2.0 * RTT), [Limit::RandomLoss; 2]);
}

#[test]
fn what_is_sent_again_in_vain_behind_a_timeout_is_the_links_whose_delay_jumped() {
    let of = |silent_s: f64, disorder: bool, shared: bool| {
        let mut line = flow(&[20; 60], false);
        line.steps[30].silent_s = silent_s;
        line.events = vec![Event {
            kind: Happening::Needless,
            segments: 40,
            ..loss(line.start_of(31), 0.0)
        }];
        let hints = Hints {
            disorder,
            shared,
            ..hints()
        };
        let (causes, _) = events::causes(&line, &hints, &capacity::capacity(&line, &hints, Some(RATE)));
        causes[0].0
    };
    assert_eq!(of(0.5 * RTT, false, false), Limit::BottleneckBandwidth);
    assert_eq!(of(0.5 * RTT, false, true), Limit::SharedBottleneck);
    assert_eq!(of(0.0, false, false), Limit::Reordering);
    assert_eq!(of(0.5 * RTT, true, false), Limit::Reordering);
}

#[test]
fn a_queue_longer_than_the_path_fills_a_link_that_all_but_stops_though_its_rate_was_not_seen() {
    let of = |queue: f64| {
        let mut line = flow(&[20, 40, 40, 40], false);
        for place in 0..60_u64 {
            // A segment arrives in each fifth round trip, after which one is sent; nothing moves in between.
            let moved = if place % 5 == 0 { 1_448 } else { 0 };
            line.steps.push(Step {
                flight: 40_000,
                delivered: moved,
                fresh: moved,
                rtt_s: if moved > 0 { RTT + queue } else { f64::NAN },
                rtt_max_s: if moved > 0 { RTT + queue } else { f64::NAN },
                ..line.steps[3]
            });
        }
        line.to_s = line.start_of(line.steps.len());
        let ledger = book(&line, &hints(), None);
        adds_up(&ledger);
        assert!(ledger.floor_s.is_none(), "{ledger:?}");
        ledger.time_of(Limit::BottleneckBandwidth) / ledger.duration_s
    };
    let [long, none] = [2.0 * RTT, 0.0].map(of);
    assert!(long > 0.9 && none < 0.1, "{long} {none}");
}

#[test]
fn the_shortest_of_a_few_round_trips_with_jitter_is_no_queue() {
    let of = |overtakes: bool| {
        let mut line = flow(&[50; 100], false);
        for step in &mut line.steps {
            // Five round trips between 1.2 and 1.6 of the shortest there is.
            (step.acks, step.rtt_s, step.rtt_max_s) = (5, 1.2 * RTT, 1.6 * RTT);
        }
        let hints = Hints { overtakes, ..hints() };
        let ledger = book(&line, &hints, None);
        adds_up(&ledger);
        ledger.time_in(Limit::BottleneckBandwidth, State::Link)
    };
    assert!(of(true) < 0.1 && of(false) > 5.0, "{} {}", of(true), of(false));
}

#[test]
fn a_queue_of_what_is_asked_for_piece_by_piece_tells_the_links_rate() {
    let of = |answered: bool| {
        let mut line = flow(&[40; 100], false);
        line.train_rate = Some(0.6 * RATE);
        let hints = Hints {
            answered,
            delay_rate: Some(RATE),
            ..hints()
        };
        let ledger = book(&line, &hints, None);
        adds_up(&ledger);
        ledger.capacity_bit_per_s.unwrap() / (8.0 * RATE)
    };
    assert!((of(true) - 1.0).abs() < 0.01 && (of(false) - 0.6).abs() < 0.01);
}

#[test]
fn until_the_sender_hears_of_a_loss_slow_start_goes_on() {
    let mut kilobytes = vec![0, 10, 20, 40, 80];
    kilobytes.extend([50; 40]);
    let mut line = flow(&kilobytes, false);
    // Sent in the fourth step: the sender hears of it in the fifth.
    line.events.push(loss(line.start_of(3) + 0.05, f64::NAN));
    let ledger = book(&line, &hints(), Some(RATE));
    adds_up(&ledger);
    let at = |seconds: f64| {
        let mut spans = ledger.spans.iter();
        spans
            .find(|span| span.from_s <= seconds && seconds < span.to_s)
            .map(|span| span.limit)
    };
    assert_eq!(at(line.start_of(3) + 0.08), Some(Limit::SlowStart), "{ledger:#?}");
    assert_eq!(
        at(line.start_of(4) + 0.08),
        Some(Limit::RandomLoss),
        "{ledger:#?}"
    );
    // One that repairs it already has heard of it.
    line.steps[3].repair_s = 0.03;
    let ledger = book(&line, &hints(), Some(RATE));
    let repairs = |entry: &&Entry| entry.state == State::Repair && entry.cause == Limit::RandomLoss;
    assert!(ledger.entries.iter().any(|entry| repairs(&entry)), "{ledger:#?}");
}

#[test]
fn behind_the_last_new_data_nothing_is_left_to_send() {
    let mut line = flow(&[100; 50], true);
    line.sent_to_s = line.to_s - RTT;
    let ledger = book(&line, &hints(), None);
    adds_up(&ledger);
    let last = ledger.entries.iter().find(|entry| entry.state == State::Idle);
    let last = last.unwrap();
    assert_eq!(last.cause, Limit::SenderApplication);
    assert!((last.time_s - RTT).abs() < 1e-6, "{ledger:#?}");
    // What is repaired then is not done with.
    for step in &mut line.steps[48..] {
        step.repair_s = RTT;
    }
    let ledger = book(&line, &hints(), None);
    adds_up(&ledger);
    assert!(
        !ledger.entries.iter().any(|entry| entry.state == State::Idle),
        "{ledger:#?}"
    );
    // Requests are waited for.
    let hints = Hints {
        answered: true,
        ..hints()
    };
    line.steps.iter_mut().for_each(|step| step.repair_s = 0.0);
    let ledger = book(&line, &hints, None);
    assert!(
        ledger
            .entries
            .iter()
            .any(|entry| entry.cause == Limit::ProtocolWindow),
        "{ledger:#?}"
    );
}

#[test]
fn bursts_of_slow_start_that_stand_in_a_queue_do_not_fill_the_link() {
    let mut kilobytes = vec![0, 10, 20, 40, 80];
    kilobytes.extend([100; 45]);
    let mut line = flow(&kilobytes, true);
    for step in &mut line.steps {
        step.rtt_s = 1.5 * RTT;
    }
    let hints = Hints {
        shared: true,
        ..hints()
    };
    let ledger = book(&line, &hints, Some(RATE));
    adds_up(&ledger);
    let start = ledger
        .entries
        .iter()
        .find(|entry| entry.cause == Limit::SlowStart);
    assert!(
        start.is_some_and(|start| start.time_s >= 2.5 * RTT),
        "{ledger:#?}"
    );
}

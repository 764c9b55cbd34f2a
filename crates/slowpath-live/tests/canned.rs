//! `why` on canned samples: the traps of the kernel's counters, and the verdicts.

use slowpath_live::why::facts::{Facts, facts};
use slowpath_live::why::judge::{Ledger, ProgramView, judge};
use slowpath_live::why::sample::ConnectionSample;
use slowpath_live::why::track::{State, Track};
use slowpath_verdict::Limit;

/// A sender on a path of 40 ms that sends 1000-byte segments, looked at every 10 ms.
fn sender() -> ConnectionSample {
    let mut sample = ConnectionSample::default();
    let info = &mut sample.info;
    info.state = 1;
    info.snd_mss = 1_000;
    info.rtt = 40_000;
    info.min_rtt = 40_000;
    info.snd_cwnd = 100;
    info.snd_ssthresh = 50;
    info.snd_wnd = 1_000_000;
    info.unacked = 40;
    info.notsent_bytes = 100_000;
    sample.send_queue = 140_000;
    sample
}

/// The same before a window of so many bytes.
fn sender_before(window: u32) -> ConnectionSample {
    let mut sample = sender();
    sample.info.snd_wnd = window;
    sample
}

/// Watches `looks` looks of 10 ms at 1 MB/s; `change` alters each.
fn watch(begin: ConnectionSample, looks: u64, mut change: impl FnMut(u64, &mut ConnectionSample)) -> Track {
    let mut sample = begin;
    let mut track = Track::new(sample.clone());
    for look in 1..=looks {
        sample.at += 10_000_000;
        sample.info.busy_time += 10_000;
        sample.info.bytes_acked += 10_000;
        sample.info.bytes_sent += 10_000;
        sample.info.data_segs_out += 10;
        change(look, &mut sample);
        track.observe(sample.clone());
    }
    track
}

fn verdict(track: &Track) -> (Limit, Ledger, Facts) {
    let facts = facts(track);
    let (verdict, ledger, _) = judge(&facts, ProgramView::default());
    let sum: f64 = ledger.entries.iter().map(|entry| entry.time_s).sum();
    assert!(
        (sum - ledger.duration_s).abs() < 0.02 * ledger.duration_s,
        "{ledger:?}"
    );
    (verdict.limit, ledger, facts)
}

#[test]
fn busy_time_contains_the_window_limited_time() {
    let track = watch(sender_before(40_000), 300, |_, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.snd_wnd = 40_000;
    });
    let (limit, ledger, facts) = verdict(&track);
    assert_eq!(limit, Limit::ReceiverWindow);
    assert!(ledger.of(Limit::ReceiverWindow) > 2.9, "{ledger:?}");
    assert!((facts.window_fill.unwrap() - 1.0).abs() < 0.05);
}

#[test]
fn a_reader_that_stops_looks_like_a_full_window_and_is_not() {
    let track = watch(sender_before(65_536), 300, |look, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.snd_wnd = 65_536_u32.saturating_sub(u32::try_from(look).unwrap() * 1_000);
        if look > 66 {
            now.info.bytes_acked -= 10_000;
        }
    });
    assert_eq!(verdict(&track).0, Limit::ReceiverApplication);
}

#[test]
fn a_reader_that_is_slow_makes_the_window_shrink_now_and_then() {
    let track = watch(sender_before(46_000), 300, |look, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.snd_wnd = if look % 5 == 0 { 40_000 } else { 46_000 };
    });
    assert_eq!(verdict(&track).0, Limit::ReceiverApplication);
}

#[test]
fn a_window_that_wavers_may_be_either() {
    let track = watch(sender_before(46_000), 300, |look, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.snd_wnd = if look % 25 == 0 { 45_000 } else { 46_000 };
    });
    assert_eq!(verdict(&track).0, Limit::Unknown);
}

#[test]
fn a_reader_that_takes_much_at_a_time_acknowledges_in_jerks() {
    let track = watch(sender_before(65_000), 600, |look, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.snd_wnd = 65_000;
        now.info.rtt = 65_000;
        now.info.bytes_acked -= 10_000;
        if look % 6 == 0 {
            now.info.bytes_acked += 60_000;
        }
    });
    assert_eq!(verdict(&track).0, Limit::ReceiverApplication);
}

#[test]
fn a_full_link_behind_a_full_window_is_the_link() {
    let track = watch(sender_before(100_000), 300, |_, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.snd_wnd = 100_000;
        now.info.rtt = 100_000;
    });
    assert_eq!(verdict(&track).0, Limit::BottleneckBandwidth);
}

/// Jitter of 8 ms on a path of 40 ms that keeps the order: steadily 12 ms more, with a deviation of 2.4.
#[test]
fn a_full_window_on_a_path_that_jitters_is_no_full_link() {
    let track = watch(sender_before(55_000), 300, |look, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.snd_wnd = 55_000;
        now.info.rtt = 52_000 + u32::try_from(look % 3).unwrap() * 1_000;
        now.info.rttvar = 2_400;
    });
    assert_ne!(verdict(&track).0, Limit::BottleneckBandwidth);
}

/// The same without a full window: the congestion window grows, and the rate as it does, until the link is full.
#[expect(clippy::cast_sign_loss, reason = "what is under way is positive")]
#[test]
fn jitter_is_no_full_path_while_more_gets_through_with_more_under_way() {
    let growing = |looks: u64| {
        let mut begin = sender();
        (begin.info.rttvar, begin.info.unacked) = (2_400, 100);
        watch(begin, looks, |look, now| {
            // 1 % more each look; 8 MB/s is all that gets through.
            let flight = 100_000.0 * 1.01_f64.powi(i32::try_from(look).unwrap());
            let rtt = (flight / 8e6).max(0.052);
            now.info.rtt = (rtt * 1e6) as u32 + u32::try_from(look % 5).unwrap() * 400;
            now.info.snd_cwnd = (flight / 1e3) as u32;
            now.info.unacked = now.info.snd_cwnd;
            now.send_queue = now.info.unacked * 1_000 + 100_000;
            now.info.snd_wnd = 100_000_000;
            now.info.bytes_acked += (flight / rtt / 100.0) as u64 - 10_000;
        })
    };
    let (limit, ledger, _) = verdict(&growing(120));
    assert_eq!(limit, Limit::SlowStart, "{ledger:?}");
    assert!(ledger.of(Limit::BottleneckBandwidth) < 0.1, "{ledger:?}");
    let (limit, ledger, _) = verdict(&growing(350));
    assert_eq!(limit, Limit::BottleneckBandwidth, "{ledger:?}");
    let full = ledger.of(Limit::BottleneckBandwidth);
    assert!((1.6..2.3).contains(&full), "{ledger:?}");
}

#[test]
fn a_full_window_whose_round_trips_only_swing_is_the_window() {
    // A busy machine delays acknowledgements now and then; a full link would deliver at one rate.
    let swinging = watch(sender_before(65_000), 600, |look, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.snd_wnd = 65_000;
        now.info.rtt = 60_000;
        now.info.bytes_acked += if look % 60 < 20 { 8_000 } else { 0 };
    });
    assert!(facts(&swinging).window_fast.unwrap() > 1.25);
    assert_eq!(verdict(&swinging).0, Limit::ReceiverWindow);
}

#[test]
fn acknowledgements_in_jerks_behind_a_round_trip_a_little_longer_may_be_either() {
    let track = watch(sender_before(65_000), 600, |look, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.snd_wnd = 65_000;
        now.info.rtt = 50_000;
        now.info.bytes_acked -= 10_000;
        if look % 5 == 0 {
            now.info.bytes_acked += 65_000;
        }
    });
    assert_eq!(verdict(&track).0, Limit::Unknown);
}

#[test]
fn the_kernel_counts_a_full_buffer_late() {
    let track = watch(sender(), 300, |_, now| {
        now.info.notsent_bytes = 0;
        now.send_queue = 40_000;
        now.memory.send_buffer = 87_040;
        now.memory.write_queued = 70_000;
    });
    assert_eq!(track.last().info.sndbuf_limited, 0);
    assert_eq!(verdict(&track).0, Limit::SendBuffer);
}

#[test]
fn counters_in_jiffies_lose_no_time() {
    let track = watch(sender_before(40_000), 400, |look, now| {
        now.info.rwnd_limited = look / 4 * 40_000;
        now.info.snd_wnd = 40_000;
    });
    let window = track.times().sum(&[State::Window, State::WindowShrunk]);
    // What a step brings beyond its own look and one jiffy more is dropped, never counted twice.
    assert!(
        window <= 4.0 && (track.times().total() - 4.0).abs() < 1e-9,
        "{window}"
    );
    let fine = watch(sender_before(40_000), 400, |look, now| {
        now.info.rwnd_limited = look / 2 * 20_000;
        now.info.snd_wnd = 40_000;
    });
    let window = fine.times().of(State::Window);
    assert!((window - 4.0).abs() < 0.03, "{window}");
}

#[test]
fn the_least_round_trip_is_remembered_when_the_kernel_forgets_it() {
    let track = watch(sender(), 300, |look, now| {
        if look > 50 {
            now.info.min_rtt = 200_000;
        }
        now.info.rtt = 200_000;
    });
    assert!((track.least_rtt() - 0.04).abs() < 1e-9);
    assert_eq!(verdict(&track).0, Limit::BottleneckBandwidth);
    let mut old = sender();
    old.info.busy_time = 400_000_000;
    assert!(facts(&watch(old, 300, |_, _| {})).least_rtt_is_recent);
}

/// Until the handshake is over the kernel tells 0: no measurement, and no part of a mean.
#[test]
fn looks_before_the_first_round_trip_are_no_part_of_its_mean() {
    let mut begin = sender();
    (begin.info.rtt, begin.info.min_rtt) = (0, u32::MAX);
    let track = watch(begin, 100, |look, now| {
        if look > 34 {
            (now.info.rtt, now.info.min_rtt) = (41_000, 40_000);
        }
    });
    let seen = facts(&track);
    assert!((seen.mean_rtt_s - 0.041).abs() < 1e-9, "{}", seen.mean_rtt_s);
    assert!(seen.mean_rtt_s >= seen.least_rtt_s);
}

#[test]
fn a_few_bytes_and_an_absurd_delivery_rate_say_nothing() {
    let track = watch(sender(), 300, |_, now| {
        now.info.delivery_rate = 2_700_000_000;
        now.info.delivery_rate_app_limited = true;
        now.info.bytes_acked -= 9_999;
        now.info.notsent_bytes = 0;
        now.info.unacked = 0;
        now.send_queue = 0;
    });
    assert_eq!(verdict(&track).0, Limit::Unknown);
}

#[test]
fn a_paced_program_and_the_last_piece_of_a_segment() {
    let track = watch(sender(), 300, |_, now| {
        now.info.notsent_bytes = 456;
        now.send_queue = 40_456;
    });
    assert_eq!(verdict(&track).0, Limit::SenderApplication);
}

#[test]
fn pauses_that_end_with_a_word_are_the_protocols() {
    let track = watch(sender(), 300, |look, now| {
        now.info.notsent_bytes = 0;
        now.send_queue = 40_000;
        if look % 4 == 0 {
            now.info.bytes_received += 36;
            now.info.bytes_sent += 30_000;
        } else {
            now.info.bytes_sent -= 10_000;
        }
    });
    assert_eq!(verdict(&track).0, Limit::ProtocolWindow);
}

/// Repairs of losses: `segments` sent again at each, at what `rate` says.
fn losses(segments: u32, rate: impl Fn(u64) -> u64) -> Track {
    watch(sender(), 1_000, |look, now| {
        now.info.bytes_acked += rate(look);
        now.info.bytes_acked -= 10_000;
        now.info.ca_state = if look % 100 < 5 { 3 } else { 0 };
        if look % 100 == 0 {
            now.info.total_retrans += segments;
        }
    })
}

#[test]
fn single_losses_at_any_rate_are_chance_and_bursts_at_one_rate_a_policer() {
    assert_eq!(
        verdict(&losses(1, |look| 5_000 + look / 100 % 5 * 3_000)).0,
        Limit::RandomLoss
    );
    assert_eq!(verdict(&losses(12, |_| 10_000)).0, Limit::Policed);
    // Rates before losses are known badly; bursts at rates that are far apart are neither.
    let apart = |step: u64| losses(12, move |look| 11_000 - 2 * step + look / 100 % 5 * step);
    assert_eq!(verdict(&apart(1_800)).0, Limit::Policed);
    assert_eq!(verdict(&apart(3_000)).0, Limit::Unknown);
    // The first loss, before the watch, found the bucket full.
    let mut begin = sender();
    (begin.info.snd_cwnd, begin.info.snd_ssthresh) = (250, 200);
    let full = watch(begin, 400, |look, now| {
        (now.info.snd_cwnd, now.info.snd_ssthresh) = (100, 50);
        now.info.ca_state = if look % 100 < 5 { 3 } else { 0 };
        now.info.total_retrans += if look % 100 == 0 { 12 } else { 0 };
    });
    assert_eq!(verdict(&full).0, Limit::Policed);
    // So is one at a time, if nine times the window is the same; three times it may be either.
    assert_eq!(verdict(&losses(1, |_| 10_000)).0, Limit::Policed);
    let few = watch(sender(), 400, |look, now| {
        now.info.ca_state = if look % 100 < 5 { 3 } else { 0 };
        now.info.total_retrans += u32::from(look % 100 == 0);
    });
    assert_eq!(verdict(&few).0, Limit::Unknown);
    let once = watch(sender(), 300, |look, now| {
        now.info.total_retrans += u32::from(look == 150);
    });
    assert_eq!(verdict(&once).0, Limit::Unknown);
}

#[test]
fn a_tail_that_the_congestion_window_keeps_back_is_no_pause() {
    let tail = |in_flight: u32| {
        watch(sender(), 300, |_, now| {
            now.info.notsent_bytes = 500;
            now.info.unacked = in_flight;
            now.send_queue = 1_000 * in_flight + 500;
        })
    };
    assert!(tail(100).times().of(State::Program) == 0.0);
    // With room in the window it waits for more of its segment.
    assert!(tail(40).times().of(State::Program) > 2.9);
}

#[test]
fn marks_reordering_and_slow_start() {
    let marked = watch(sender(), 300, |_, now| now.info.delivered_ce += 2);
    assert_eq!(verdict(&marked).0, Limit::EcnCongestion);
    // The window still grows after marks that came before the watch; after losses that nobody saw it may be anything.
    let mut earlier = sender();
    earlier.info.delivered_ce = 500;
    let before = watch(earlier, 300, |_, _| {});
    assert_eq!(verdict(&before).0, Limit::EcnCongestion);
    let overtaken = watch(sender(), 300, |look, now| {
        now.info.ca_state = if look % 10 < 5 { 3 } else { 0 };
        now.info.total_retrans += u32::from(look % 10 == 0);
        now.info.dsack_dups += u32::from(look % 10 == 4);
        now.info.reord_seen += u32::from(look % 10 == 4);
    });
    assert_eq!(verdict(&overtaken).0, Limit::Reordering);
    let starting = watch(sender(), 50, |_, now| now.info.snd_ssthresh = 0x7fff_ffff);
    assert_eq!(verdict(&starting).0, Limit::SlowStart);
}

/// A receiver that gets 1 MB/s over a path of 40 ms.
fn receiving(change: impl Fn(&mut ConnectionSample)) -> Track {
    receiving_each(|_, now| change(now))
}

/// The same, changed by the number of the look.
fn receiving_each(change: impl Fn(u64, &mut ConnectionSample)) -> Track {
    let mut begin = ConnectionSample::default();
    begin.info.rtt = 40_000;
    begin.info.min_rtt = 40_000;
    begin.info.rcv_mss = 1_000;
    begin.info.rcv_wnd = 400_000;
    begin.info.rcv_rtt = 40_000;
    watch(begin, 300, |look, now| {
        now.info.bytes_acked = 0;
        now.info.busy_time = 0;
        now.info.bytes_received += 10_000;
        change(look, now);
    })
}

/// The same, whose program lets bytes wait that take all of the window in so many looks of ten, and reads all of them then.
fn read_in_jerks(looks: u64) -> Track {
    receiving_each(|look, now| {
        let waits = look % 10 < looks;
        now.receive_queue = if waits { 390_000 } else { 0 };
        now.info.rcv_wnd = if waits { 10_000 } else { 400_000 };
    })
}

#[test]
fn what_a_receiver_can_tell() {
    let unread = receiving(|now| {
        now.receive_queue = 300_000;
        now.info.rcv_wnd = 60_000;
    });
    assert_eq!(verdict(&unread).0, Limit::ReceiverApplication);
    assert_eq!(
        verdict(&receiving(|now| now.info.rcv_wnd = 41_000)).0,
        Limit::ReceiverWindow
    );
    assert_eq!(
        verdict(&receiving(|now| now.info.rcv_rtt = 200_000)).0,
        Limit::BottleneckBandwidth
    );
    // A sender's pace, its losses, its windows: not from here.
    assert_eq!(verdict(&receiving(|_| {})).0, Limit::Unknown);
    assert_eq!(
        verdict(&receiving(|now| now.info.rcv_ooopack += 1)).0,
        Limit::Unknown
    );
}

#[test]
fn a_program_that_reads_in_jerks_has_the_time_in_which_bytes_wait_and_no_more() {
    let (limit, ledger, _) = verdict(&read_in_jerks(6));
    assert_eq!(limit, Limit::ReceiverApplication);
    let share = ledger.of(Limit::ReceiverApplication) / ledger.duration_s;
    assert!((share - 0.6).abs() < 0.02, "{share}");
}

#[test]
fn a_processor_that_is_full_is_named() {
    let track = watch(sender(), 300, |_, now| {
        now.info.notsent_bytes = 0;
        now.send_queue = 40_000;
    });
    let busy = ProgramView {
        busiest: 0.95,
        waits_for_other_end: 0.0,
        visible: true,
        ..ProgramView::default()
    };
    assert_eq!(judge(&facts(&track), busy).0.limit, Limit::HostCpu);
}

#[test]
fn a_long_watch_stays_small() {
    let track = watch(sender(), 120_000, |_, _| {});
    assert!(track.stretches().count() <= 4_096);
    let sum: u64 = track.stretches().map(|stretch| stretch.sent).sum();
    assert_eq!(sum, track.sent());
    assert!((track.times().total() - 1_200.0).abs() < 1e-6);
}

#[test]
fn the_slow_start_threshold_remembers_the_window_of_the_loss_before_the_watch() {
    let begin = |threshold: u32| {
        let mut sample = sender();
        sample.info.snd_ssthresh = threshold;
        sample
    };
    let seen = |threshold: u32, again: u32| {
        let mut sample = begin(threshold);
        let mut track = Track::new(sample.clone()).under("cubic");
        for look in 1..=300 {
            sample.at += 10_000_000;
            sample.info.busy_time += 10_000;
            sample.info.bytes_acked += 10_000;
            sample.info.data_segs_out += 10;
            sample.info.total_retrans += if look == 150 { again } else { 0 };
            track.observe(sample.clone());
        }
        verdict(&track).0
    };
    // A window of 100 segments, 70 after its reduction: lost at the same size as now, several at a time.
    assert_eq!(seen(70, 6), Limit::Policed);
    assert_eq!(seen(35, 6), Limit::Unknown, "at half the window of now");
    assert_eq!(seen(70, 1), Limit::Unknown, "one alone");
}

#[test]
fn a_connection_on_which_nothing_moves_is_told_with_what_it_waits_for() {
    let still = |change: fn(&mut ConnectionSample)| {
        let mut begin = sender();
        begin.info.bytes_acked = 3_000;
        change(&mut begin);
        watch(begin, 400, |_, now| {
            now.info.bytes_acked = now.info.bytes_acked.saturating_sub(10_000);
        })
    };
    let unanswered = still(|sample| {
        sample.info.retransmits = 5;
        sample.info.ca_state = 4;
    });
    assert_eq!(verdict(&unanswered).0, Limit::MtuBlackHole);
    let later = still(|sample| {
        sample.info.retransmits = 5;
        sample.info.ca_state = 4;
        sample.info.bytes_acked = 3_000_000;
    });
    assert_eq!(
        verdict(&later).0,
        Limit::Unknown,
        "full segments came through once"
    );
    let (found, ..) = judge(&facts(&later), ProgramView::default());
    assert!(found.sentence.contains("5 retransmissions"), "{}", found.sentence);
    let closed = still(|sample| sample.info.snd_wnd = 0);
    assert_eq!(verdict(&closed).0, Limit::ReceiverApplication);
    let unread = still(|sample| {
        sample.send_queue = 0;
        sample.info.unacked = 0;
        sample.info.notsent_bytes = 0;
        sample.receive_queue = 60_000;
        sample.info.rcv_wnd = 0;
        sample.info.rcv_mss = 1_000;
    });
    assert_eq!(verdict(&unread).0, Limit::ReceiverApplication);
    // Nothing waits: a program that pauses.
    let idle = still(|sample| {
        sample.send_queue = 0;
        sample.info.unacked = 0;
        sample.info.notsent_bytes = 0;
    });
    assert_eq!(verdict(&idle).0, Limit::Unknown);
    assert!(!idle.stands_still());
}

/// Over a short path much has come before the first look: it belongs to the transfer, and its time does.
#[test]
fn what_moved_before_a_connection_was_found_is_counted() {
    let mut found = ConnectionSample {
        at: 20_000_000,
        ..ConnectionSample::default()
    };
    found.info.rtt = 100;
    found.info.bytes_received = 8_000_000;
    found.info.bytes_acked = 120;
    let birth = found.at_birth(5_000_000).unwrap();
    let mut track = Track::new(birth);
    track.observe(found.clone());
    assert_eq!((track.received(), track.sent()), (8_000_000, 119));
    assert!((track.seconds() - 0.015).abs() < 1e-9, "{}", track.seconds());
    // A sender's own count of its busy time tells when it began.
    let mut sending = sender();
    sending.at = 900_000_000;
    (sending.info.busy_time, sending.info.bytes_acked) = (120_000, 50_001);
    let birth = sending.at_birth(500_000_000).unwrap();
    assert_eq!(birth.at, 700_000_000);
    // Made in the very moment of the look: nothing to add.
    assert!(found.at_birth(20_000_000).is_none());
}

/// Twelve looks in a hundred move data, then nothing is under way while the program waits for the other end.
fn mostly_idle() -> Track {
    watch(sender(), 600, |look, now| {
        now.info.notsent_bytes = 0;
        if look % 100 < 12 {
            now.info.unacked = 13;
            now.send_queue = 13_000;
            now.info.bytes_acked += 90_000;
        } else {
            now.info.bytes_acked -= 10_000;
            now.info.busy_time -= 10_000;
            now.info.unacked = 0;
            now.send_queue = 0;
        }
    })
}

#[test]
fn no_window_is_invented_where_nothing_is_under_way_most_of_the_time() {
    let waiting = ProgramView {
        waits_for_other_end: 0.97,
        visible: true,
        supplied: 1.0,
        ssh: true,
        ..ProgramView::default()
    };
    let found = judge(&facts(&mostly_idle()), waiting).0;
    assert_eq!(found.limit, Limit::ProtocolWindow);
    assert!(
        found.sentence.contains("opens only as its program") && !found.sentence.contains("KiB"),
        "{}",
        found.sentence
    );
    let other = judge(
        &facts(&mostly_idle()),
        ProgramView {
            ssh: false,
            ..waiting
        },
    )
    .0;
    assert!(
        !other.sentence.contains("ssh") && !other.sentence.contains("KiB"),
        "{}",
        other.sentence
    );
    // Whose source may have had no more to give is no protocol's.
    let starved = ProgramView {
        supplied: 0.0,
        ..waiting
    };
    assert_eq!(
        judge(&facts(&mostly_idle()), starved).0.limit,
        Limit::SenderApplication
    );
}

#[test]
fn more_than_all_of_a_window_does_not_go_through_it() {
    // A window of two segments whenever it is seen, and seven times as much in each round trip: it opens in between.
    let track = watch(sender_before(2_000), 300, |_, now| {
        now.info.rwnd_limited = now.info.busy_time;
        now.info.rtt = 40_000;
        now.info.bytes_acked -= 6_500;
    });
    let (found, ..) = judge(&facts(&track), ProgramView::default());
    assert!(facts(&track).window_fill.unwrap() > 6.0);
    assert_eq!(found.limit, Limit::ReceiverApplication);
    assert!(
        found.evidence.iter().all(|one| one.fact != "window.fill"),
        "{:?}",
        found.evidence
    );
}

#[test]
fn a_transfer_that_is_over_at_once_was_too_short_not_too_little() {
    let mut track = Track::new(sender());
    let mut now = sender();
    now.at = 140_000_000;
    now.info.bytes_acked = 182_000_000;
    now.info.busy_time = 140_000;
    track.observe(now);
    let of_command = ProgramView {
        command: true,
        ..ProgramView::default()
    };
    let found = judge(&facts(&track), of_command).0;
    assert_eq!(found.limit, Limit::Unknown);
    assert!(found.sentence.contains("too short"), "{}", found.sentence);
    assert!(
        !found.next_step.unwrap().contains("--for"),
        "a command is watched until it ends"
    );
    let watched = judge(&facts(&track), ProgramView::default()).0;
    assert!(watched.next_step.unwrap().contains("--for"));
}

#[test]
fn a_program_that_computes_for_most_of_its_time_is_named_each_time() {
    let track = watch(sender(), 300, |_, now| {
        now.info.notsent_bytes = 0;
        now.send_queue = 40_000;
    });
    for busiest in [0.68, 0.75, 0.96] {
        let programs = ProgramView {
            busiest,
            visible: true,
            ..ProgramView::default()
        };
        assert_eq!(
            judge(&facts(&track), programs).0.limit,
            Limit::HostCpu,
            "{busiest}"
        );
    }
}

#[test]
fn a_program_that_never_empties_its_socket_reads_slowly_whatever_room_is_left() {
    // An eighth of what is offered waits, at every look: a program with a rate of its own.
    let paced = receiving(|now| now.receive_queue = 50_000);
    assert_eq!(verdict(&paced).0, Limit::ReceiverApplication);
    // Bytes that wait for the next time that it reads are taken then.
    let reads = receiving_each(|look, now| now.receive_queue = if look % 3 == 0 { 0 } else { 20_000 });
    assert_eq!(verdict(&reads).0, Limit::Unknown);
}

#[test]
fn what_cannot_be_told_does_not_acquit_a_program_here_that_lets_bytes_wait() {
    let waits_in = |looks: u64| {
        let (found, ..) = judge(&facts(&read_in_jerks(looks)), ProgramView::default());
        (found.limit, found.share)
    };
    let (limit, share) = waits_in(4);
    assert_eq!(limit, Limit::ReceiverApplication);
    assert!((share - 0.4).abs() < 0.03, "{share}");
    assert_eq!(waits_in(1).0, Limit::Unknown);
}

#[test]
fn a_socket_at_its_pacing_bound_with_room_in_the_window_is_its_program() {
    let paced = |bound: u64, unacked: u32| {
        let mut begin = sender();
        begin.info.max_pacing_rate = bound;
        begin.info.pacing_rate = 1_000_000;
        begin.info.unacked = unacked;
        begin.info.snd_ssthresh = u32::MAX;
        watch(begin, 300, |_, now| now.info.unacked = unacked)
    };
    let (limit, ledger, facts) = verdict(&paced(1_000_000, 40));
    assert_eq!(limit, Limit::SenderApplication, "{ledger:?}");
    assert!(facts.times.of(State::Paced) > 2.8, "{ledger:?}");
    // A window that is full is what holds it, and a bound of all ones is none.
    for (bound, unacked) in [(1_000_000, 95), (u64::MAX, 40), (2_000_000, 40)] {
        let (limit, _, facts) = verdict(&paced(bound, unacked));
        assert_eq!((limit, facts.times.of(State::Paced)), (Limit::SlowStart, 0.0));
    }
}

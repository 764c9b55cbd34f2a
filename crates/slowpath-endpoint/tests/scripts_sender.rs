//! The sender's mechanisms, packet by packet.

mod support;

use slowpath_endpoint::tcp::{Config, CongestionControl, EcnMode, RecoveryState};
use slowpath_endpoint::wire::Flags;
use slowpath_packet::Ecn;
use support::script::{Offer, Script, full};

fn reno() -> Config {
    let mut config = Config::linux();
    config.congestion = CongestionControl::Reno;
    config
}

fn established() -> Script {
    Script::established(reno(), &Offer::default(), 100)
}

fn without_sack() -> Script {
    Script::established(
        reno(),
        &Offer {
            sack: false,
            ..Offer::default()
        },
        100,
    )
}

/// Sends 20 segments: ten at 100 ms, acknowledged at 200 ms, which allows twenty.
fn twenty_in_flight(mut script: Script) -> Script {
    script.write(1_000_000).expect(&full(0, 10));
    script.at(200).ack(10_001).expect(&full(10, 20));
    script
}

#[test]
fn the_initial_window_is_ten_segments_and_slow_start_doubles_it() {
    let mut script = established();
    script.write(1_000_000).expect(&full(0, 10));
    // Each acknowledgement of two segments lets four out.
    script.at(200).ack(2_001).expect(&full(10, 4));
    script.ack(4_001).expect(&full(14, 4));
    assert_eq!(script.info().cwnd, 14);
}

#[test]
fn congestion_avoidance_adds_one_segment_per_window() {
    let mut script = twenty_in_flight(established());
    // One loss halves: 20 to 10.
    script.at(300).sack(10_001, &[(11_001, 14_001)]);
    script.expect(&[(10_001, 1000), (30_001, 1000)]);
    script.sack(10_001, &[(11_001, 30_001)]);
    while script.conn.poll_transmit(script.now).is_some() {}
    script.at(400).ack(30_001);
    assert_eq!(script.info().recovery, RecoveryState::Open);
    assert_eq!(script.info().cwnd, 10);
    while script.conn.poll_transmit(script.now).is_some() {}
    let in_flight = script.info().in_flight;
    assert_eq!(in_flight, 10);
}

#[test]
fn three_sacked_segments_are_loss_and_one_is_retransmitted_at_once() {
    let mut script = twenty_in_flight(established());
    script.at(300);
    // Segment 10 is lost. Two SACKs: limited transmit sends new data (RFC 3042).
    script.sack(10_001, &[(11_001, 12_001)]).expect(&full(30, 1));
    // Within a millisecond it would wait for a larger train, as Linux does.
    script
        .at(302)
        .sack(10_001, &[(11_001, 13_001)])
        .expect(&full(31, 1));
    assert_eq!(script.info().recovery, RecoveryState::Disorder);
    // The third: fast retransmit, threshold at half of 20.
    script.sack(10_001, &[(11_001, 14_001)]).expect(&[(10_001, 1000)]);
    assert_eq!(script.info().recovery, RecoveryState::Recovery);
    assert_eq!(script.info().ssthresh, Some(10));
}

#[test]
fn proportional_rate_reduction_sends_one_for_two() {
    let mut script = twenty_in_flight(established());
    script.at(300);
    script
        .sack(10_001, &[(11_001, 14_001)])
        .expect(&[(10_001, 1000), (30_001, 1000)]);
    // From 20 to 10: of every two segments delivered, one is sent (RFC 6937, section 3).
    let mut sent = Vec::new();
    for sacked in 15..31 {
        script.sack(10_001, &[(11_001, sacked * 1000 + 1)]);
        let mut count = 0;
        while script.conn.poll_transmit(script.now).is_some() {
            count += 1;
        }
        sent.push(count);
    }
    assert_eq!(sent.iter().sum::<u32>(), 8, "{sent:?}");
    assert!(sent.iter().all(|count| *count <= 1), "{sent:?}");
    script.at(400).ack(30_001);
    assert_eq!(script.info().cwnd, 10);
}

#[test]
fn new_reno_retransmits_one_hole_per_round_trip_without_sack() {
    let mut script = twenty_in_flight(without_sack());
    script.at(300);
    // Segments 10 and 15 are lost: duplicates come.
    script.ack(10_001).expect(&full(30, 1));
    script.at(302).ack(10_001).expect(&full(31, 1));
    script.ack(10_001).expect(&[(10_001, 1000)]);
    assert_eq!(script.info().recovery, RecoveryState::Recovery);
    // A partial acknowledgement: the next hole at once (RFC 6582, section 3.2, step 5).
    script.at(400).ack(15_001);
    let next = script.packet();
    let slowpath_endpoint::wire::Transport::Tcp(tcp) = next.header.transport else {
        panic!()
    };
    assert_eq!(tcp.seq.0.wrapping_sub(0xffff_fff0), 15_001);
    while script.conn.poll_transmit(script.now).is_some() {}
    // Everything is acknowledged: out of recovery only beyond the recovery point.
    script.at(500).ack(32_001);
    while script.conn.poll_transmit(script.now).is_some() {}
    script.at(600).ack(33_001);
    assert_eq!(script.info().recovery, RecoveryState::Open);
    assert_eq!(script.info().sender.timeouts, 0);
}

#[test]
fn the_retransmission_timer_is_round_trip_plus_200_ms_and_doubles() {
    let mut script = without_sack();
    script.write(1000).expect(&full(0, 1));
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(script.timer());
        script.expect(&[(1, 1000)]);
    }
    // RTO = srtt + max(4 mdev, 200 ms) = 100 + 200 ms, then doubled; counted from the sending at 100 ms.
    assert_eq!(seen, [400, 1000, 2200, 4600]);
    assert_eq!(script.info().cwnd, 1);
}

#[test]
fn a_tail_loss_probe_goes_out_after_two_round_trips() {
    let mut script = established();
    script.write(3000).expect(&full(0, 3));
    // Two round trips and 2 ms (RFC 8985, section 7.2).
    assert_eq!(script.timer(), 302);
    script.expect(&[(2_001, 1000)]);
    // The probe is lost as well: the timer.
    assert_eq!(script.timer(), 602);
    script.expect(&[(1, 1000)]);
    assert_eq!(script.info().recovery, RecoveryState::Loss);
}

#[test]
fn a_tail_loss_probe_that_repairs_a_loss_reduces_the_window() {
    let mut script = established();
    script.write(5000).expect(&full(0, 5));
    script.at(200).ack(4_001);
    // One segment is left: two round trips and the delayed ACK's worst case would be 400 ms, the timer is nearer.
    let probe = script.timer();
    assert_eq!(probe, 500);
    script.expect(&[(4_001, 1000)]);
    script.elapse(slowpath_units::Duration::from_millis(100));
    script.write(1000).expect(&full(5, 1));
    script.elapse(slowpath_units::Duration::from_millis(100));
    script.ack(6_001);
    assert!(script.info().ssthresh.is_some(), "the loss counts");
}

#[test]
fn a_single_loss_at_the_end_is_found_by_the_probe_and_sack() {
    let mut script = established();
    script.write(10_000).expect(&full(0, 10));
    // Segments 8 and 9 are lost.
    script.at(200).ack(8_001);
    let at = script.timer();
    assert_eq!(at, 402);
    script.expect(&[(9_001, 1000)]);
    let later = 502;
    script.at(later).sack(8_001, &[(9_001, 10_001)]);
    // The probe was delivered: what was sent long before it is lost.
    script.expect(&[(8_001, 1000)]);
    assert_eq!(script.info().sender.timeouts, 0);
}

#[test]
fn forward_rto_takes_a_spurious_timeout_back() {
    let mut script = twenty_in_flight(established());
    let at = script.timer();
    // First the tail loss probe: new data beyond the window.
    assert_eq!(at, 402);
    while script.conn.poll_transmit(script.now).is_some() {}
    let timeout = script.timer();
    script.expect(&[(10_001, 1000)]);
    assert_eq!(
        (script.info().cwnd, script.info().recovery),
        (1, RecoveryState::Loss),
        "at {timeout}"
    );
    // The original acknowledgements arrive after all (RFC 5682 with SACK: never-retransmitted data are acked).
    script.elapse(slowpath_units::Duration::from_millis(5));
    script.ack(12_001);
    assert_eq!(script.info().recovery, RecoveryState::Open);
    assert_eq!(script.info().cwnd, 22, "back to 20, and the two segments count");
    assert_eq!(script.info().sender.undone, 1);
}

#[test]
fn d_sack_takes_a_needless_retransmission_back() {
    let mut script = twenty_in_flight(established());
    script.at(300);
    script
        .sack(10_001, &[(11_001, 14_001)])
        .expect(&[(10_001, 1000), (30_001, 1000)]);
    assert_eq!(script.info().ssthresh, Some(10));
    // The original was only late; the receiver reports the copy as a duplicate (RFC 2883).
    script.at(310).ack(14_001);
    while script.conn.poll_transmit(script.now).is_some() {}
    script.at(400).sack(30_001, &[(10_001, 11_001)]);
    assert_eq!(script.info().sender.undone, 1);
    assert!(script.info().cwnd >= 20, "{}", script.info().cwnd);
    assert_eq!(script.info().recovery, RecoveryState::Open);
}

#[test]
fn reordering_waits_a_quarter_round_trip_once_it_was_seen() {
    let mut script = twenty_in_flight(established());
    // Reordering by four segments, without loss: 10 arrives last.
    script.at(300).sack(10_001, &[(12_001, 13_001)]);
    while script.conn.poll_transmit(script.now).is_some() {}
    script.sack(10_001, &[(11_001, 13_001)]);
    while script.conn.poll_transmit(script.now).is_some() {}
    script.ack(13_001);
    while script.conn.poll_transmit(script.now).is_some() {}
    // From now on three SACKed segments are not loss at once: RACK waits min_rtt/4 (RFC 8985, section 6.2).
    script.at(310).sack(13_001, &[(14_001, 18_001)]);
    let lost_before = script.info().sender.retransmissions;
    while script.conn.poll_transmit(script.now).is_some() {}
    assert_eq!(script.info().sender.retransmissions, lost_before, "too early");
    let at = script.timer();
    // Segments sent at 200 ms, rack.rtt 110 ms, window 25 ms, two ticks.
    assert_eq!(at, 337);
    script.expect(&[(13_001, 1000)]);
}

#[test]
fn a_zero_window_is_probed_with_growing_pauses() {
    let mut script = Script::established(
        reno(),
        &Offer {
            scale: None,
            ..Offer::default()
        },
        100,
    );
    script.window = 0;
    script.write(100_000);
    script.expect(&full(0, 10));
    script.at(200).ack(10_001);
    script.nothing();
    let mut times = Vec::new();
    for _ in 0..3 {
        times.push(script.timer());
        // One byte below the window, no data (`tcp_xmit_probe_skb`).
        script.expect(&[(10_000, 0)]);
        script.ack(10_001);
        script.nothing();
    }
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!((times[0], gaps[1]), (500, 2 * gaps[0]), "{times:?}");
    // The window opens: data flow at once.
    script.window = 5_000;
    script.ack(10_001).expect(&full(10, 5));
}

#[test]
fn the_window_field_is_scaled_but_not_on_a_syn() {
    let mut script = Script::established(
        reno(),
        &Offer {
            scale: Some(2),
            ..Offer::default()
        },
        100,
    );
    script.window = 1_250;
    script.write(100_000);
    // The SYN's window of 65,535 counts as it stands: the initial window goes out.
    script.expect(&full(0, 10));
    // 1250 << 2 = 5000 bytes.
    script.at(200).ack(10_001).expect(&full(10, 5));
    assert_eq!(script.info().peer_window, 5_000);
}

#[test]
fn nagle_holds_a_second_small_segment() {
    let mut script = established();
    script.write(100).expect(&[(1, 100)]);
    script.write(100).nothing();
    script.at(200).ack(101).expect(&[(101, 100)]);
    let mut config = reno();
    config.nagle = false;
    let mut script = Script::established(config, &Offer::default(), 100);
    script.write(100).expect(&[(1, 100)]);
    script.write(100).expect(&[(101, 100)]);
}

#[test]
fn an_echoed_mark_halves_once_per_window_and_is_confirmed() {
    let mut config = reno();
    config.ecn = EcnMode::Request;
    let mut script = Script::established(
        config,
        &Offer {
            ece: true,
            ..Offer::default()
        },
        100,
    );
    script.write(1_000_000);
    let first = script.packet();
    assert_eq!(first.header.ecn, Ecn::Ect0);
    script.expect(&full(1, 9));
    let ece = Flags::ACK.with(Flags::ECE);
    script.at(200).ack_with(2_001, &[], ece);
    assert_eq!(script.info().ssthresh, Some(5));
    assert_eq!(script.info().recovery, RecoveryState::Cwr);
    // The next new segment says so (RFC 3168, section 6.1.2).
    let mut confirmed = 0;
    for acked in [4_001, 6_001, 8_001, 10_001] {
        script.ack_with(acked, &[], ece);
        while let Some(packet) = script.conn.poll_transmit(script.now) {
            let slowpath_endpoint::wire::Transport::Tcp(tcp) = packet.header.transport else {
                panic!()
            };
            confirmed += u32::from(tcp.flags.has(Flags::CWR));
        }
    }
    assert_eq!(confirmed, 1);
    assert_eq!(script.info().sender.ecn_reductions, 1);
    script.at(300).ack(12_001);
    assert!(script.info().cwnd <= 6, "{}", script.info().cwnd);
}

#[test]
fn a_smaller_path_mtu_cuts_segments_anew() {
    let mut script = established();
    script.write(10_000).expect(&full(0, 10));
    script.at(200);
    script.conn.path_mtu(640);
    let packet = script.packet();
    assert_eq!((packet.payload.len(), packet.ip_len()), (600, 640));
    let slowpath_endpoint::wire::Transport::Tcp(tcp) = packet.header.transport else {
        panic!()
    };
    assert_eq!(tcp.seq.0.wrapping_sub(0xffff_fff0), 1);
}

#[test]
fn segments_wait_for_a_train_of_a_millisecond() {
    let mut script = twenty_in_flight(established());
    // Out of slow start, with a window of 100 segments over 100 ms: 1 ms of the rate is one segment, two at least.
    script.at(300).sack(10_001, &[(11_001, 14_001)]);
    while script.conn.poll_transmit(script.now).is_some() {}
    script.at(400).ack(30_001);
    while script.conn.poll_transmit(script.now).is_some() {}
    // Acknowledgements of one segment each, not before they are expected: every second one lets two out.
    let mut trains = Vec::new();
    let first = script.info().acknowledged;
    for step in 1..=8_u32 {
        script.now = slowpath_units::Time::from_nanos(520_000_000 + u64::from(step) * 200_000);
        script.conn.advance(script.now);
        script.ack(u32::try_from(first).unwrap() + 1 + step * 1000);
        let mut train = 0;
        while script.conn.poll_transmit(script.now).is_some() {
            train += 1;
        }
        trains.push(train);
    }
    assert!(
        trains.iter().all(|train| [0, 1, 2, 3].contains(train)),
        "{trains:?}"
    );
    assert!(
        trains[1..].iter().filter(|train| **train == 0).count() >= 3,
        "{trains:?}"
    );
}

//! Rules on facts made by hand: one transfer, and what about it decides.

use crate::judge::judge;
use crate::limit::Limit;
use slowpath_facts::Tap;
use slowpath_facts::facts::DelayFit;
use slowpath_facts::{Distribution, FlowFacts, QueueFit, Round, Surroundings};

fn spread(count: u64, low: f64, median: f64, high: f64) -> Distribution {
    Distribution {
        count,
        min: low,
        p05: low,
        p10: low,
        median,
        p90: high,
        p95: high,
        max: high,
        mean: median,
        deviation: (high - low) / 3.0,
    }
}

/// Ten seconds over an empty path of 40 ms at 500 kB/s, with room in the window, and nothing remarkable.
fn quiet() -> FlowFacts {
    let mut facts = FlowFacts {
        bytes: 5_000_000,
        segments: 3_453,
        segment_size: 1_448,
        active_s: 10.0,
        tap: Tap::Sender,
        rtt: spread(1_000, 0.040, 0.0402, 0.0405),
        handshake_rtt_s: 0.040,
        acknowledged: true,
        handshake_seen: true,
        rate: spread(240, 300_000.0, 500_000.0, 700_000.0),
        arrival_peak_bit_per_s: 50e6,
        arrival_busy: 0.09,
        ..FlowFacts::default()
    };
    facts.time.total_s = 10.0;
    facts.time.busy_s = 10.0;
    facts.window.scale_known = 2;
    facts.window.max = 3_000_000;
    facts.window.full_ratio = 1.0;
    facts.flight.rounds = 240;
    facts.flight.median_peak = 40_000;
    facts.flight.max = 60_000;
    facts.rounds = vec![Round::default(); 240];
    facts
}

fn said(facts: &FlowFacts) -> (Limit, String) {
    let (verdict, _) = judge(facts, &Surroundings::default());
    let next = verdict.next_step.unwrap_or_default();
    (verdict.limit, format!("{} [{next}]", verdict.sentence))
}

/// Losses in 40 episodes that come at any backlog of a link of `rate`, whose delays the backlog explains.
fn lossy(rate: f64, mean: f64) -> FlowFacts {
    let mut facts = quiet();
    facts.rtt = spread(1_000, 0.040, 0.042, 0.045);
    facts.loss.lost_segments = 40;
    facts.loss.episodes = 40;
    facts.loss.fraction = 0.0116;
    facts.queue = Some(QueueFit {
        rate_bit_per_s: rate,
        size_bytes: 4_400.0,
        error: 0.75,
        spread: 0.98,
        losses: 40,
        episodes: 40,
        full_episodes: 12,
        deliveries: 3_413,
        delay_samples: 1_000,
        mean_bit_per_s: mean,
        delay_step: 1.3,
        delay_correlation: 0.8,
        delay: DelayFit {
            rate_bit_per_s: rate,
            explained: 0.75,
            correlation: 0.89,
            backlog_bytes: 7_500.0,
            delay_p95_s: 0.005,
            samples: 1_000,
        },
        ..QueueFit::default()
    });
    facts
}

#[test]
fn a_link_that_stands_idle_after_losses_it_did_not_make_is_not_the_limit() {
    for explained in [0.65, 0.7, 0.75, 0.85] {
        let mut facts = lossy(10e6, 5.6e6);
        facts.queue.as_mut().unwrap().delay.explained = explained;
        assert_eq!(
            said(&facts).0,
            Limit::RandomLoss,
            "{explained}: {}",
            said(&facts).1
        );
    }
    let full = lossy(10e6, 9.2e6);
    assert_eq!(said(&full).0, Limit::BottleneckBandwidth, "{}", said(&full).1);
}

#[test]
fn a_short_queue_is_the_limit_however_idle_its_overflows_leave_the_link() {
    let mut facts = lossy(50e6, 24e6);
    let fit = facts.queue.as_mut().unwrap();
    (fit.size_bytes, fit.error, fit.spread, fit.full_episodes) = (13_700.0, 0.01, 0.04, 40);
    assert_eq!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
    // What is let through at a tenth of the rate found fills no link of that rate.
    facts.queue.as_mut().unwrap().mean_bit_per_s = 5e6;
    assert_ne!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
}

#[test]
fn losses_that_slow_nobody_are_not_the_limit() {
    let mut facts = lossy(2e9, 5e6);
    facts.queue.as_mut().unwrap().delay.explained = 0.0;
    assert_eq!(said(&facts).0, Limit::RandomLoss, "{}", said(&facts).1);
    facts.rate = spread(240, 480_000.0, 500_000.0, 510_000.0);
    assert_eq!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
}

#[test]
fn needless_retransmissions_limit_only_what_they_could_hold() {
    let mut facts = quiet();
    facts.rtt = spread(1_000, 0.030, 0.040, 0.050);
    facts.loss.reordered = 900;
    facts.loss.retransmitted_segments = 60;
    facts.loss.spurious = 60;
    for round in facts.rounds.iter_mut().step_by(4) {
        round.resent = 1_448;
    }
    // One in 58 segments: some 10 segments per round trip, 360 kB/s by Reno's rule.
    assert_eq!(said(&facts).0, Limit::Reordering, "{}", said(&facts).1);
    // As many late packets, but the sender was misled only twenty times: that holds no transfer at 8 MB/s.
    facts.bytes = 80_000_000;
    facts.segments = 55_249;
    facts.loss.reordered = 25_000;
    for (index, round) in facts.rounds.iter_mut().enumerate() {
        round.resent = if index < 20 { 1_448 } else { 0 };
    }
    assert_ne!(said(&facts).0, Limit::Reordering, "{}", said(&facts).1);
}

#[test]
fn in_disorder_one_rate_tells_whose_link_it_is() {
    let mut facts = quiet();
    facts.tap = Tap::Receiver;
    facts.bytes = 57_000_000;
    facts.segments = 70_000;
    facts.rtt = spread(5_000, 0.030, 0.056, 0.120);
    facts.loss.reordered = 31_000;
    facts.loss.retransmitted_segments = 20;
    facts.loss.lost_segments = 900;
    facts.loss.episodes = 6;
    facts.loss.delay_rank = 0.94;
    facts.loss.ranked_episodes = 6;
    facts.arrival_peak_bit_per_s = 89e6;
    facts.arrival_busy = 0.64;
    facts.rate = spread(150, 3.1e6, 6.9e6, 7.1e6);
    assert_eq!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
    // With as much delay and in order, the link is shared: the rest of its time others use it.
    facts.loss.reordered = 0;
    facts.rate = spread(150, 3.1e6, 4.5e6, 7.1e6);
    assert_eq!(said(&facts).0, Limit::SharedBottleneck, "{}", said(&facts).1);
}

#[test]
fn a_shaper_behind_its_bucket_is_a_link_of_its_own() {
    let mut facts = lossy(5.73e6, 5.9e6);
    facts.tap = Tap::Middle;
    facts.rtt = spread(2_500, 0.019, 0.120, 0.145);
    facts.loss.delay_rank = 0.98;
    facts.loss.ranked_episodes = 5;
    facts.arrival_busy = 0.63;
    let fit = facts.queue.as_mut().unwrap();
    (fit.size_bytes, fit.error, fit.spread) = (234_700.0, 0.001, 0.008);
    (fit.full_episodes, fit.delay_step, fit.delay_correlation) = (40, 0.31, 0.9);
    fit.delay.explained = 0.3;
    assert_eq!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
}

#[test]
fn heavy_losses_with_a_wavering_delay_at_the_receiver_cannot_be_told() {
    let mut facts = lossy(50e6, 5e6);
    facts.tap = Tap::Receiver;
    facts.rtt = spread(600, 0.159, 0.167, 0.171);
    facts.handshake_rtt_s = 0.165;
    facts.loss.fraction = 0.17;
    facts.loss.delay_rank = 0.4;
    let fit = facts.queue.as_mut().unwrap();
    fit.delay.explained = 0.0;
    let (limit, text) = said(&facts);
    assert_eq!(limit, Limit::Unknown, "{text}");
    assert!(text.contains("a queue that others fill"), "{text}");
    assert!(text.contains("capture at the sender"), "{text}");
    // With an even delay there is no queue that they could overflow.
    facts.rtt = spread(600, 0.1650, 0.1651, 0.1655);
    assert_eq!(said(&facts).0, Limit::RandomLoss, "{}", said(&facts).1);
}

#[test]
fn pauses_tell_a_full_buffer_from_a_programs_own_rhythm() {
    let mut facts = quiet();
    facts.flight.plateau = 60_000;
    facts.flight.max = 70_000;
    facts.flight.plateau_share = 0.95;
    facts.clocking.ack_share = 0.5;
    facts.clocking.chance_share = 0.4;
    facts.clocking.short_share = 0.035;
    facts.clocking.short_burst_share = 0.2;
    facts.clocking.pauses = 120;
    facts.clocking.pause_chance_share = 0.2;
    for tap in [Tap::Sender, Tap::Middle, Tap::Receiver] {
        facts.tap = tap;
        facts.clocking.pause_ack_share = 1.0;
        assert_eq!(said(&facts).0, Limit::SendBuffer, "{tap:?}: {}", said(&facts).1);
        facts.clocking.pause_ack_share = 0.15;
        assert_eq!(
            said(&facts).0,
            Limit::SenderApplication,
            "{tap:?}: {}",
            said(&facts).1
        );
    }
    // A paced sender's flight comes and goes; its pauses end with acknowledgements all the same.
    facts.flight.plateau_share = 0.6;
    facts.clocking.pause_ack_share = 0.95;
    assert_eq!(said(&facts).0, Limit::SendBuffer, "{}", said(&facts).1);
    facts.clocking.pauses = 5;
    assert_eq!(said(&facts).0, Limit::Unknown, "{}", said(&facts).1);
}

#[test]
fn too_little_seen_from_afar_says_where_to_look() {
    let mut facts = quiet();
    (facts.bytes, facts.segments) = (200, 1);
    for (tap, sender) in [(Tap::Sender, false), (Tap::Middle, true), (Tap::Receiver, true)] {
        facts.tap = tap;
        let (limit, text) = said(&facts);
        assert_eq!(limit, Limit::Unknown, "{text}");
        assert_eq!(text.contains("capture at the sender"), sender, "{text}");
    }
}

//! Facts made by hand for the tests of the rules: one transfer, of which a test changes what decides.

use crate::judge::judge;
use crate::ledger::Ledger;
use crate::limit::Limit;
use slowpath_facts::Tap;
use slowpath_facts::facts::DelayFit;
use slowpath_facts::{Distribution, Event, FlowFacts, Happening, QueueFit, Round, Surroundings};

pub(super) fn spread(count: u64, low: f64, median: f64, high: f64) -> Distribution {
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

/// A segment lost so many seconds after the start, behind such a delay above the least.
pub(crate) fn loss(at_s: f64, queue_s: f64) -> Event {
    Event {
        at_s,
        kind: Happening::Loss,
        segments: 1,
        span: 1_000,
        queue_s,
        longer: 0.1,
        backlog: f64::NAN,
        timeout: false,
        local: false,
    }
}

/// Ten seconds over an empty path of 40 ms at 500 kB/s, with room in the window, and nothing remarkable.
pub(crate) fn quiet() -> FlowFacts {
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

/// The limit found, and what is said of it.
pub(super) fn said(facts: &FlowFacts) -> (Limit, String) {
    let (verdict, _) = judge(facts, &Surroundings::default(), &Ledger::default());
    let next = verdict.next_step.unwrap_or_default();
    (verdict.limit, format!("{} [{next}]", verdict.sentence))
}

/// Losses in 40 episodes that come at any backlog of a link of `rate`, whose delays the backlog explains.
pub(super) fn lossy(rate: f64, mean: f64) -> FlowFacts {
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

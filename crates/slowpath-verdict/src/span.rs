//! A part of a transfer: what a limit's rule says of one span of time.
//!
//! The facts of a span are put together from the round trips in it; no packet is looked at again. How time was spent, what
//! was sent, lost, marked and in flight are the span's own. The path's properties stay those of the whole transfer: the
//! empty path's round trip, the fitted queue, the segment, the window's scale and its largest size. Round trips are the
//! least of each round trip, so a queue that comes and goes within one is missed. Rules that need more, such as what
//! releases data or in which order packets came, refuse.

use slowpath_facts::{Distribution, FlowFacts, Round, Surroundings, Timeline};

use crate::case::{Case, trust};
use crate::catalogue::Message;
use crate::finding::No;
use crate::limit::{Limit, Reason};
use crate::limits::ORDER;
use crate::verdict::Rejected;

/// What a limit's rule found in a part of a transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Share of the span to which the limit applies, 0 to 1.
    pub share: f64,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// What is said of it.
    pub message: Message,
}

/// Whether `limit` holds the flow from `from_s` to `to_s`, seconds after the start of the capture.
///
/// Round trips count that begin in the span.
///
/// # Errors
///
/// Why not, as the limit's own rule decided; [`Reason::NotInPackets`] for limits that no capture shows,
/// [`Reason::TooShort`] where no round trip begins in the span.
pub fn within(
    facts: &FlowFacts,
    around: &Surroundings,
    limit: Limit,
    [from_s, to_s]: [f64; 2],
) -> Result<Held, Rejected> {
    let refused = |No { reason, message }: No| Rejected {
        limit,
        reason,
        text: message.to_string(),
    };
    let whole = Case::of(facts, around);
    let part = part(facts, from_s, to_s);
    if part.rounds.is_empty() {
        return Err(refused(No::new(Reason::TooShort, Message::NotInAPart {})));
    }
    let case = Case::of(&part, around).part_of(&whole);
    let mut plainest = None;
    for look in ORDER.iter().filter(|look| look.limit == limit) {
        match (look.at)(&case) {
            Ok(found) => {
                return Ok(Held {
                    share: found.share.clamp(0.0, 1.0),
                    confidence: (found.confidence * trust(&case)).clamp(0.0, 1.0),
                    message: found.sentence,
                });
            }
            Err(no) if look.plainest || plainest.is_none() => plainest = Some(no),
            Err(_) => {}
        }
    }
    let none = || No::new(Reason::NotInPackets, Message::NotInPackets {});
    Err(refused(plainest.unwrap_or_else(none)))
}

/// The facts of the round trips that begin in the span.
fn part(facts: &FlowFacts, from_s: f64, to_s: f64) -> FlowFacts {
    let rounds: Vec<Round> = facts
        .rounds
        .iter()
        .filter(|round| round.from_s >= from_s && round.from_s < to_s)
        .copied()
        .collect();
    let sum = |of: fn(&Round) -> f64| rounds.iter().map(of).sum::<f64>();
    let count = |of: fn(&Round) -> u64| rounds.iter().map(of).sum::<u64>();
    let segment = u64::from(facts.segment_size.max(1));
    let mut out = FlowFacts {
        bytes: count(|round| round.delivered),
        segments: count(|round| round.sent).div_ceil(segment),
        rtt: distribution(
            rounds
                .iter()
                .map(|round| round.rtt_s)
                .filter(|rtt| rtt.is_finite()),
        ),
        rate: distribution(
            rounds
                .iter()
                .filter(|round| round.delivered > 0 && round.to_s > round.from_s)
                .map(|round| round.delivered as f64 / (round.to_s - round.from_s)),
        ),
        timeline: Timeline::default(),
        rounds: Vec::new(),
        ..facts.clone()
    };
    let time = &mut out.time;
    time.total_s = sum(|round| round.to_s - round.from_s);
    time.window_full_s = sum(|round| round.full_s);
    time.window_shrunk_s = sum(|round| round.shrunk_s);
    time.window_closed_s = sum(|round| round.closed_s);
    time.idle_s = sum(|round| round.idle_s);
    time.recovery_s = sum(|round| round.recovery_s);
    let other = time.window_full_s + time.window_closed_s + time.idle_s + time.recovery_s;
    time.busy_s = (time.total_s - other).max(0.0);
    time.idle_pauses = rounds.iter().filter(|round| round.idle_s > 0.0).count() as u64;
    time.longest_idle_s = time.longest_idle_s.min(time.idle_s);
    if time.window_full_s > 0.0 {
        out.window.full_ratio = 1.0 - time.window_shrunk_s / time.window_full_s;
    }
    out.active_s = time.total_s;
    let lost = count(|round| round.lost);
    out.loss.lost_bytes = lost;
    out.loss.lost_segments = lost.div_ceil(segment);
    out.loss.fraction = out.loss.lost_segments as f64 / out.segments.max(1) as f64;
    out.loss.rounds_with_loss = rounds.iter().filter(|round| round.lost > 0).count() as u64;
    // Losses in neighbouring round trips are one episode.
    let begins = |pair: &[Round]| pair[0].lost == 0 && pair[1].lost > 0;
    let first = u64::from(rounds.first().is_some_and(|round| round.lost > 0));
    out.loss.episodes = first + rounds.windows(2).filter(|pair| begins(pair)).count() as u64;
    out.loss.retransmitted_segments = count(|round| round.resent).div_ceil(segment);
    let busy = || rounds.iter().filter(|round| round.sent > 0 || round.flight > 0);
    out.flight.rounds = busy().count() as u64;
    out.flight.max = rounds.iter().map(|round| round.flight).max().unwrap_or(0);
    let peaks = distribution(busy().map(|round| round.flight as f64));
    out.flight.median_peak = peaks.median as u64;
    let grows = |pair: &&[Round]| pair[0].flight > 0 && 2 * pair[1].flight >= 3 * pair[0].flight;
    out.flight.growing_rounds = rounds.windows(2).filter(grows).count() as u64;
    out.ecn.reported = count(|round| round.marks);
    out.ecn.rounds_with_marks = rounds.iter().filter(|round| round.marks > 0).count() as u64;
    out.rounds = rounds;
    out
}

fn distribution(values: impl Iterator<Item = f64>) -> Distribution {
    Distribution::of(&mut values.collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten seconds: the window is full for five, then the program gives nothing for five but one segment a second.
    fn halves() -> FlowFacts {
        let mut facts = FlowFacts {
            bytes: 4_000_000,
            segments: 2_763,
            segment_size: 1_448,
            acknowledged: true,
            handshake_seen: true,
            handshake_rtt_s: 0.1,
            ..FlowFacts::default()
        };
        facts.window.scale_known = 2;
        facts.window.max = 65_535;
        facts.window.full_median = 65_535;
        facts.window.full_ratio = 1.0;
        facts.time.longest_idle_s = 0.9;
        facts.rounds = (0..100)
            .map(|number| {
                let from_s = f64::from(number) * 0.1;
                let full = number < 50;
                Round {
                    from_s,
                    to_s: from_s + 0.1,
                    sent: if full { 65_535 } else { 1_448 },
                    delivered: if full { 65_535 } else { 1_448 },
                    flight: if full { 65_535 } else { 1_448 },
                    rtt_s: 0.1,
                    full_s: if full { 0.09 } else { 0.0 },
                    idle_s: if full { 0.0 } else { 0.09 },
                    ..Round::default()
                }
            })
            .collect();
        facts
    }

    fn said(limit: Limit, span: [f64; 2]) -> Result<f64, (Reason, String)> {
        within(&halves(), &Surroundings::default(), limit, span)
            .map(|held| held.share)
            .map_err(|no| (no.reason, no.text))
    }

    #[test]
    fn each_half_has_its_own_limit() {
        assert!(said(Limit::ReceiverWindow, [0.0, 5.0]).is_ok_and(|share| share > 0.85));
        assert!(said(Limit::SenderApplication, [5.0, 10.0]).is_ok_and(|share| share > 0.85));
        let (reason, text) = said(Limit::ReceiverWindow, [5.0, 10.0]).unwrap_err();
        assert_eq!(reason, Reason::WindowHadRoom, "{text}");
        let (reason, text) = said(Limit::SenderApplication, [0.0, 5.0]).unwrap_err();
        assert_eq!(reason, Reason::SenderNeverIdle, "{text}");
    }

    #[test]
    fn what_a_part_does_not_show_is_refused_and_said() {
        for limit in [
            Limit::Policed,
            Limit::Reordering,
            Limit::SendBuffer,
            Limit::BottleneckBandwidth,
        ] {
            let (reason, text) = said(limit, [0.0, 5.0]).unwrap_err();
            assert_eq!(reason, Reason::CaptureIncomplete, "{limit}");
            assert_eq!(text, "a part of a transfer does not show it", "{limit}");
        }
        assert_eq!(
            said(Limit::HostCpu, [0.0, 5.0]).unwrap_err().0,
            Reason::NotInPackets
        );
        assert_eq!(
            said(Limit::ReceiverWindow, [20.0, 30.0]).unwrap_err().0,
            Reason::TooShort
        );
        assert_eq!(
            said(Limit::ReceiverWindow, [f64::NAN, f64::INFINITY])
                .unwrap_err()
                .0,
            Reason::TooShort
        );
    }
}

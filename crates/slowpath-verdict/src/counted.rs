//! What the counters of the path itself say where a capture cannot: datagrams and generated frames.
//!
//! A program that sends at a rate of its own and repeats nothing is limited by what arrives of it. Where the run's
//! record counts what each element of the path dropped, and why, the cause needs no inference; which packets passed
//! an element of a real network nobody counts, and then there is no verdict.

use crate::catalogue::Message;
use crate::limit::{Flag, Limit, Reason};
use crate::message::{Count, ExactRate, FineShare, List, Name, Part, named};
use crate::verdict::{Evidence, Parameters, Rejected, Verdict};

/// A flow as its two ends counted it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flow<'a> {
    /// Its name.
    pub name: &'a str,
    /// Datagrams or frames given to the network.
    pub sent: u64,
    /// Those that arrived.
    pub received: u64,
    /// Bytes per second at the receiver.
    pub byte_per_s: f64,
    /// Where the others were lost, most first, as far as that is counted by flow.
    pub lost: Vec<Lost<'a>>,
}

impl Flow<'_> {
    fn loss(&self) -> f64 {
        self.sent.saturating_sub(self.received) as f64 / self.sent.max(1) as f64
    }
}

/// What one element of the path dropped for one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost<'a> {
    /// The element's name in the plan.
    pub element: &'a str,
    /// Why, in the path's word.
    pub cause: &'a str,
    /// How many.
    pub packets: u64,
}

/// What limited flows without acknowledgements, by the counters of the path.
///
/// `None` where nothing was sent, or where packets are missing that no element counted.
pub fn verdict(flows: &[Flow<'_>], dropped: &[Lost<'_>]) -> Option<Verdict> {
    let sent: u64 = flows.iter().map(|flow| flow.sent).sum();
    let received: u64 = flows.iter().map(|flow| flow.received).sum();
    if sent == 0 {
        return None;
    }
    let loss = sent.saturating_sub(received) as f64 / sent as f64;
    // What a tunnel takes up goes on inside of another packet.
    let is_lost = |lost: &Lost<'_>| lost.packets > 0 && lost.cause != REPLACED;
    let mut dropped: Vec<Lost<'_>> = dropped.iter().copied().filter(is_lost).collect();
    dropped.sort_by_key(|lost| std::cmp::Reverse(lost.packets));
    if loss < LITTLE {
        return Some(unhindered(flows, loss, &dropped));
    }
    let all: u64 = dropped.iter().map(|lost| lost.packets).sum();
    // What went down with other packets (the rest of a datagram, say) has no cause of its own.
    let (main, limit) = dropped
        .iter()
        .find_map(|lost| Some((lost, limit_of(lost.cause, flows.len())?)))?;
    let share = main.packets as f64 / all.max(1) as f64;
    let (element, cause) = (named(main.element), Part::of(words(main.cause)));
    let lost = FineShare(loss);
    let mut sentence = if share > ALL {
        Message::CountedLostAtOne { lost, element, cause }
    } else {
        let share = FineShare(share);
        Message::CountedLost {
            lost,
            share,
            element,
            cause,
        }
    }
    .to_string();
    for flow in flows.iter().filter(|flow| flows.len() > 1 && flow.loss() > 0.0) {
        sentence.push(' ');
        sentence.push_str(&of_flow(flow).to_string());
    }
    let mut flags = Vec::new();
    if share < MOST {
        flags.push(Flag::Mixed);
    }
    Some(Verdict {
        limit,
        flags,
        share,
        confidence: CERTAIN,
        sentence,
        parameters: Parameters {
            loss_fraction: Some(loss),
            ..Parameters::default()
        },
        evidence: evidence(&dropped),
        rejected: rejected(limit, &dropped, all, flows.len()),
        next_step: None,
    })
}

/// What one of several flows lost, and where.
fn of_flow(flow: &Flow<'_>) -> Message {
    let (name, lost) = (named(flow.name), FineShare(flow.loss()));
    let at = |lost: &Lost<'_>| Message::CountedPlace {
        share: FineShare(lost.packets as f64 / flow.sent.max(1) as f64),
        element: named(lost.element),
    };
    let places: Vec<Message> = flow.lost.iter().map(at).collect();
    if places.is_empty() {
        Message::CountedFlow { flow: name, lost }
    } else {
        Message::CountedFlowAt {
            flow: name,
            lost,
            places: List(places),
        }
    }
}

/// Nearly everything arrived: the rate is the program's own.
fn unhindered(flows: &[Flow<'_>], loss: f64, dropped: &[Lost<'_>]) -> Verdict {
    let rate: f64 = flows.iter().map(|flow| flow.byte_per_s).sum();
    let sentence = if loss > 0.0 {
        Message::MostArrived {
            lost: FineShare(loss),
            rate: ExactRate(rate),
        }
    } else {
        Message::AllArrived {
            rate: ExactRate(rate),
        }
    };
    Verdict {
        limit: Limit::SenderApplication,
        flags: Vec::new(),
        share: 1.0,
        confidence: CERTAIN,
        sentence: sentence.to_string(),
        parameters: Parameters {
            source_byte_per_s: Some(rate),
            loss_fraction: Some(loss),
            ..Parameters::default()
        },
        evidence: evidence(dropped),
        rejected: Vec::new(),
        next_step: None,
    }
}

fn evidence(dropped: &[Lost<'_>]) -> Vec<Evidence> {
    dropped
        .iter()
        .map(|lost| Evidence {
            fact: format!("dropped.{}", lost.cause),
            text: Message::Dropped {
                element: named(lost.element),
                packets: Count(lost.packets),
                cause: Part::of(words(lost.cause)),
            }
            .to_string(),
            value: lost.packets as f64,
            unit: "packets".to_owned(),
            packets: Vec::new(),
        })
        .collect()
}

/// Limits whose drops were fewer.
fn rejected(chosen: Limit, dropped: &[Lost<'_>], all: u64, flows: usize) -> Vec<Rejected> {
    let mut out: Vec<Rejected> = Vec::new();
    for lost in dropped {
        let Some(limit) = limit_of(lost.cause, flows).filter(|limit| *limit != chosen) else {
            continue;
        };
        if out.iter().all(|other| other.limit != limit) {
            let share = lost.packets as f64 / all.max(1) as f64;
            out.push(Rejected {
                limit,
                reason: Reason::SmallerShare,
                text: Message::DroppedElsewhere {
                    share: FineShare(share),
                    element: named(lost.element),
                }
                .to_string(),
            });
        }
    }
    out
}

/// The limit that a cause of drops stands for, with so many flows on the path.
fn limit_of(cause: &str, flows: usize) -> Option<Limit> {
    Some(match cause {
        "queue-full" | "threshold" | "aqm" if flows > 1 => Limit::SharedBottleneck,
        "queue-full" | "threshold" | "aqm" => Limit::BottleneckBandwidth,
        "policed" => Limit::Policed,
        "loss" => Limit::RandomLoss,
        "receive-overload" => Limit::DeviceLimit,
        "treatment" => Limit::DscpTreatment,
        "too-big" | "black-hole" => Limit::MtuBlackHole,
        _ => return None,
    })
}

/// What happened to the packets.
fn words(cause: &str) -> Message {
    match cause {
        "queue-full" => Message::QueueFull {},
        "threshold" => Message::RoomUsedUp {},
        "aqm" => Message::QueueManagement {},
        "policed" => Message::ExceededPolicer {},
        "loss" => Message::RandomDrops {},
        "receive-overload" => Message::NoReceiveRoom {},
        "treatment" => Message::MarkDropped {},
        "too-big" | "black-hole" => Message::TooLarge {},
        "ttl-expired" => Message::TtlRanOut {},
        "incomplete" => Message::FragmentLost {},
        other => Message::OtherCauseOfDrops {
            cause: Name(other.to_owned()),
        },
    }
}

/// The path's word for a packet that goes on inside of another one.
const REPLACED: &str = "replaced";
/// A share of the drops that reads as all of them.
const ALL: f64 = 0.9995;
/// Less loss than this is no limit: what arrives is what was sent, within a hundredth.
const LITTLE: f64 = 0.01;
/// A place where fewer of the drops happened than this is not the only one that matters.
const MOST: f64 = 0.9;
/// The path's own counts leave nothing to infer.
const CERTAIN: f64 = 0.99;

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(name: &str, sent: u64, received: u64) -> Flow<'_> {
        Flow {
            name,
            sent,
            received,
            byte_per_s: received as f64 * 1000.0,
            lost: Vec::new(),
        }
    }

    const fn element<'a>(element: &'a str, cause: &'a str, packets: u64) -> Lost<'a> {
        Lost {
            element,
            cause,
            packets,
        }
    }

    #[test]
    fn what_arrives_is_limited_by_its_sender() {
        let verdict =
            verdict(&[flow("udp", 1000, 999)], &[element("up.loss", "loss", 1)]).expect("a verdict");
        assert_eq!(verdict.limit, Limit::SenderApplication);
        assert!(
            verdict.sentence.contains("all but 0.10 %"),
            "{}",
            verdict.sentence
        );
        assert_eq!(verdict.evidence.len(), 1);
    }

    #[test]
    fn each_cause_of_drops_is_a_limit() {
        for (cause, limit) in [
            ("queue-full", Limit::BottleneckBandwidth),
            ("policed", Limit::Policed),
            ("receive-overload", Limit::DeviceLimit),
            ("loss", Limit::RandomLoss),
            ("treatment", Limit::DscpTreatment),
            ("black-hole", Limit::MtuBlackHole),
        ] {
            let verdict =
                verdict(&[flow("udp", 1000, 400)], &[element("up.x", cause, 600)]).expect("a verdict");
            assert_eq!(verdict.limit, limit, "{cause}");
            assert!(
                verdict
                    .sentence
                    .starts_with("60.0 % of what was sent is lost, all of"),
                "{}",
                verdict.sentence
            );
        }
    }

    #[test]
    fn the_place_of_most_drops_counts_and_the_other_is_named() {
        let mut tcp = flow("tcp", 1000, 300);
        tcp.lost = vec![element("up.budget", "receive-overload", 500)];
        let flows = [tcp, flow("udp", 1000, 500)];
        let elements = [
            element("up.port", "queue-full", 200),
            element("up.budget", "receive-overload", 1000),
        ];
        let verdict = verdict(&flows, &elements).expect("a verdict");
        assert_eq!(
            (verdict.limit, verdict.flags.as_slice()),
            (Limit::DeviceLimit, &[Flag::Mixed][..])
        );
        assert!(
            verdict
                .sentence
                .contains("Of tcp 70.0 % is lost (50.0 % at up.budget)."),
            "{}",
            verdict.sentence
        );
        assert_eq!(verdict.rejected[0].limit, Limit::SharedBottleneck);
    }

    #[test]
    fn what_a_tunnel_takes_up_is_not_lost() {
        let elements = [
            element("up.tunnel", "replaced", 7000),
            element("up.budget", "receive-overload", 700),
            element("up.port", "queue-full", 300),
        ];
        let verdict = verdict(&[flow("udp", 8000, 7000)], &elements).expect("a verdict");
        assert_eq!(verdict.limit, Limit::DeviceLimit);
        assert!((verdict.share - 0.7).abs() < 1e-9, "{}", verdict.sentence);
        assert_eq!(verdict.evidence.len(), 2);
    }

    #[test]
    fn fragments_of_a_lost_datagram_are_no_cause() {
        let dropped = [
            element("up.decrypt", "incomplete", 700),
            element("up.budget", "receive-overload", 300),
        ];
        let verdict = verdict(&[flow("udp", 1000, 400)], &dropped).expect("a verdict");
        assert_eq!(verdict.limit, Limit::DeviceLimit);
        assert!(
            verdict
                .sentence
                .contains("30.0 % of the dropped packets at up.budget"),
            "{}",
            verdict.sentence
        );
    }

    #[test]
    fn a_loss_that_nobody_counted_has_no_verdict() {
        assert_eq!(verdict(&[flow("udp", 1000, 400)], &[]), None);
        assert_eq!(verdict(&[], &[]), None);
    }
}

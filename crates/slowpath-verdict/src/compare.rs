//! Transfers of one kind compared: what a difference between them proves that no single capture shows.
//!
//! [`dscp_treatment`] wants transfers over one path with different marks, [`device_limit`] such with different
//! segment sizes. Both refuse where something else differs too.

use slowpath_facts::Side;

use crate::analysis::{Analysis, Connection};
use crate::catalogue::Message;
use crate::limit::{Limit, Reason};
use crate::message::{About, Part, Rate, Share, Size, Span, named};
use crate::verdict::{Evidence, Parameters, Rejected, Verdict};

/// The slower group must stay below this share of the faster one's goodput.
const SLOWER: f64 = 0.8;

/// Says whether the network treats the marks of these transfers differently: the data of some carries another DSCP
/// than that of others, nothing else differs that the hosts or the path's length would explain, and every transfer
/// with the slower mark is slower than every one with the faster mark.
///
/// `None` if the marks do not differ, something else does, or the difference may be chance.
pub fn dscp_treatment(runs: &[&Analysis]) -> Option<Verdict> {
    let runs: Vec<&Connection> = runs.iter().filter_map(|run| run.main_connection()).collect();
    let (slow, fast) = split(&runs, |run| dscp_of_data(run).map(u64::from))?;
    let (slow_mark, fast_mark) = (dscp_of_data(slow[0])?, dscp_of_data(fast[0])?);
    if !alike(&runs) || !slow.iter().all(|run| in_network(run.verdict.limit)) {
        return None;
    }
    let cause = typical(&slow);
    let speeds = [median_goodput(&slow), median_goodput(&fast)];
    let mut out = Verdict {
        limit: Limit::DscpTreatment,
        flags: cause.verdict.flags.clone(),
        share: cause.verdict.share,
        confidence: confidence(&slow, &fast),
        sentence: Message::MarksDiffer {
            slow: named(slow_mark),
            slow_name: Part::of(mark_name(slow_mark)),
            slow_rate: Rate(speeds[0]),
            fast: named(fast_mark),
            fast_name: Part::of(mark_name(fast_mark)),
            fast_rate: Rate(speeds[1]),
            share: Share(speeds[0] / speeds[1].max(1.0)),
            how: named(&cause.verdict.sentence),
        }
        .to_string(),
        parameters: Parameters {
            ..cause.verdict.parameters
        },
        evidence: Vec::new(),
        rejected: Vec::new(),
        next_step: None,
    };
    for (group, mark) in [(&slow, slow_mark), (&fast, fast_mark)] {
        for run in group {
            out.evidence.push(Evidence {
                fact: "dscp.goodput".to_owned(),
                text: Message::MarkReaches {
                    mark: named(mark),
                    rate: Rate(run.goodput_bit_per_s),
                    limit: named(run.verdict.limit),
                    lost: Share(run.facts.loss.fraction),
                    rtt: Span(run.rtt_s.median),
                }
                .to_string(),
                value: run.goodput_bit_per_s,
                unit: "bit/s".to_owned(),
                packets: Vec::new(),
            });
        }
    }
    reject(&mut out, cause);
    Some(out)
}

/// Says whether packets per second, not bits per second, limit these transfers: some have larger segments than
/// others, all carry as many packets per second, and a queue or a policer stands before the limit in each.
///
/// `None` if segments do not differ, something else does, or the packet rates do.
pub fn device_limit(runs: &[&Analysis]) -> Option<Verdict> {
    let runs: Vec<&Connection> = runs.iter().filter_map(|run| run.main_connection()).collect();
    let (small, large) = split(&runs, |run| Some(u64::from(run.facts.segment_size)))?;
    let sizes = [&small, &large].map(|group| f64::from(group[0].facts.segment_size));
    let limited = |run: &&Connection| {
        matches!(
            run.verdict.limit,
            Limit::BottleneckBandwidth | Limit::SharedBottleneck | Limit::Policed
        )
    };
    if sizes[0] * 1.25 > sizes[1] || !alike_apart_from_size(&runs) || !runs.iter().all(limited) {
        return None;
    }
    let rates: Vec<f64> = runs.iter().copied().map(packet_rate).collect();
    let (low, high) = (
        rates.iter().copied().fold(f64::INFINITY, f64::min),
        rates.iter().copied().fold(0.0, f64::max),
    );
    if low < 0.9 * high {
        return None;
    }
    let cause = typical(&small);
    let mut out = Verdict {
        limit: Limit::DeviceLimit,
        flags: Vec::new(),
        share: cause.verdict.share,
        confidence: confidence(&small, &large),
        sentence: Message::DeviceForwards {
            packets: About(f64::midpoint(low, high)),
            small: Size(sizes[0]),
            small_rate: Rate(median_goodput(&small)),
            large: Size(sizes[1]),
            large_rate: Rate(median_goodput(&large)),
        }
        .to_string(),
        parameters: Parameters {
            rtt_s: cause.verdict.parameters.rtt_s,
            ..Parameters::default()
        },
        evidence: runs
            .iter()
            .zip(&rates)
            .map(|(run, rate)| Evidence {
                fact: "device.packet_rate".to_owned(),
                text: Message::PacketsPerSecond {
                    segment: Size(f64::from(run.facts.segment_size)),
                    packets: About(*rate),
                    rate: Rate(run.goodput_bit_per_s),
                }
                .to_string(),
                value: *rate,
                unit: "packet/s".to_owned(),
                packets: Vec::new(),
            })
            .collect(),
        rejected: Vec::new(),
        next_step: None,
    };
    reject(&mut out, cause);
    Some(out)
}

/// The transfers with the slower and those with the faster value of `kind`; `None` unless there are exactly two
/// values, and every transfer of one is slower than all of the other by more than chance.
fn split<'a>(
    runs: &[&'a Connection],
    kind: impl Fn(&Connection) -> Option<u64>,
) -> Option<(Vec<&'a Connection>, Vec<&'a Connection>)> {
    let mut kinds: Vec<u64> = runs.iter().map(|run| kind(run)).collect::<Option<_>>()?;
    kinds.sort_unstable();
    kinds.dedup();
    let [first, second] = kinds[..] else { return None };
    let of = |wanted: u64| -> Vec<&Connection> {
        runs.iter()
            .copied()
            .filter(|run| kind(run) == Some(wanted))
            .collect()
    };
    let (mut slow, mut fast) = (of(first), of(second));
    if median_goodput(&slow) > median_goodput(&fast) {
        std::mem::swap(&mut slow, &mut fast);
    }
    let best = slow.iter().map(|run| run.goodput_bit_per_s).fold(0.0, f64::max);
    let worst = fast
        .iter()
        .map(|run| run.goodput_bit_per_s)
        .fold(f64::INFINITY, f64::min);
    (best < SLOWER * worst).then_some((slow, fast))
}

/// Hosts, path length and segment size are the same.
fn alike(runs: &[&Connection]) -> bool {
    let sizes = || runs.iter().map(|run| run.facts.segment_size);
    sizes().max() == sizes().min() && alike_apart_from_size(runs)
}

fn alike_apart_from_size(runs: &[&Connection]) -> bool {
    let spread = |value: fn(&Connection) -> f64| {
        let values = || runs.iter().map(|run| value(run));
        (
            values().fold(f64::INFINITY, f64::min),
            values().fold(0.0, f64::max),
        )
    };
    let (near, far) = spread(base_rtt);
    let (small, large) = spread(|run| run.facts.window.max as f64);
    let offers = |run: &Connection| (run.handshake.sack, run.handshake.timestamps, run.handshake.ecn);
    // The largest window follows the rate with receivers that adapt it; only a much smaller one explains a rate.
    let window_in_the_way = |run: &&Connection| matches!(run.verdict.limit, Limit::ReceiverWindow);
    far <= 1.2 * near + 0.002
        && (small * 4.0 >= large || !runs.iter().any(window_in_the_way))
        && runs.iter().all(|run| offers(run) == offers(runs[0]))
}

/// The shortest of handshake and data, seconds.
fn base_rtt(run: &Connection) -> f64 {
    match (run.rtt_s.handshake, run.rtt_s.min) {
        (shake, min) if shake > 0.0 && min > 0.0 => shake.min(min),
        (shake, min) => shake.max(min),
    }
}

const fn in_network(limit: Limit) -> bool {
    matches!(
        limit,
        Limit::Policed
            | Limit::RandomLoss
            | Limit::BottleneckBandwidth
            | Limit::SharedBottleneck
            | Limit::EcnCongestion
            | Limit::Reordering
            | Limit::CaptureLoss
            | Limit::Unknown
    )
}

/// The transfer of median goodput.
fn typical<'a>(group: &[&'a Connection]) -> &'a Connection {
    let mut sorted = group.to_vec();
    sorted.sort_by(|a, b| a.goodput_bit_per_s.total_cmp(&b.goodput_bit_per_s));
    sorted[(sorted.len() - 1) / 2]
}

fn median_goodput(group: &[&Connection]) -> f64 {
    typical(group).goodput_bit_per_s
}

fn packet_rate(run: &Connection) -> f64 {
    let seconds = (run.facts.time.total_s - run.facts.time.idle_s).max(1e-9);
    run.facts.segments as f64 / seconds
}

/// One transfer each may differ by chance; the chance that all of one group come first among several is 1 in the
/// number of ways to choose them.
fn confidence(slow: &[&Connection], fast: &[&Connection]) -> f64 {
    let (a, b) = (slow.len() as u32, fast.len() as u32);
    let ways = (1..=a).fold(1.0, |ways, step| ways * f64::from(b + step) / f64::from(step));
    (1.0 - 0.6 / ways).clamp(0.0, 0.97)
}

/// The single capture's own verdict explains how, not why.
fn reject(out: &mut Verdict, cause: &Connection) {
    out.rejected = cause
        .verdict
        .rejected
        .iter()
        .filter(|no| no.limit != out.limit)
        .cloned()
        .collect();
    if !cause.verdict.limit.is_undecided() {
        out.rejected.push(Rejected {
            limit: cause.verdict.limit,
            reason: Reason::SmallerShare,
            text: Message::HowNotWhy {
                limit: named(cause.verdict.limit),
            }
            .to_string(),
        });
    }
}

fn dscp_of_data(connection: &Connection) -> Option<u8> {
    let seen = match connection.data_from {
        Side::Client => &connection.dscp.client,
        Side::Server => &connection.dscp.server,
    };
    // The last one: programs set the mark after the handshake.
    seen.last().copied()
}

/// Names of RFC 2474, RFC 2597, RFC 3246, RFC 8622.
fn mark_name(dscp: u8) -> Message {
    let name = match dscp {
        0 => return Message::BestEffort {},
        1 => "LE".to_owned(),
        46 => "EF".to_owned(),
        8 | 16 | 24 | 32 | 40 | 48 | 56 => format!("CS{}", dscp / 8),
        10..=38 if dscp.is_multiple_of(2) => format!("AF{}{}", dscp / 8, dscp % 8 / 2),
        _ => return Message::NoName {},
    };
    Message::MarkName { name: named(name) }
}

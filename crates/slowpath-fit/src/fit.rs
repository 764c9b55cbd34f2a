//! The path that explains a transfer, with intervals, and what cannot be told.

use serde::Serialize;
use slowpath_facts::Tap;
use slowpath_verdict::{Connection, Limit};

use crate::booked;
use crate::compare::{Difference, Target};
use crate::controls::{self, Answers};
use crate::measured;
pub use crate::model::CONTROLS;
use crate::model::{Kind, Loss, Model, Parameter, Shape, Window};
use crate::posterior;
pub use crate::posterior::{Interval, Member};
use crate::search::{Candidate, Expected, Search};
use crate::seen;
use crate::start::{self, Refused};
use crate::trial::Simulator;

/// The path that explains a transfer.
#[derive(Debug, Clone, Serialize)]
pub struct Fit {
    /// Addresses and ports of sender and receiver.
    pub sender: String,
    /// The receiver's.
    pub receiver: String,
    /// What the capture's verdict says limits the transfer.
    pub limit: Limit,
    /// The transfer as captured.
    pub captured: Transfer,
    /// The same by the best model, replayed.
    pub fitted: Transfer,
    /// The best model.
    pub model: Model,
    /// How far it is off, part by part: 1 is as far as a good model of a kernel is.
    pub difference: Difference,
    /// Whether it is near enough to answer questions by it.
    pub explains: bool,
    /// Whether other flows share the path, which are not simulated.
    pub shared: bool,
    /// Its numbers, each with those that fit about as well.
    pub parameters: Vec<Interval>,
    /// Which congestion control it was.
    pub congestion: Congestion,
    /// Models of another shape that fit about as well.
    pub others: Vec<Model>,
    /// Models that explain it about as well, the best first, with everything moved that the capture leaves open.
    #[serde(skip)]
    pub members: Vec<Member>,
    /// What the capture does not tell.
    pub untold: Vec<String>,
    /// Share of the transfer that was fitted: less than 1 for a very long one.
    pub share: f64,
    /// Simulations that it took.
    pub simulations: usize,
    /// Whether the capture stands beside the sender.
    #[serde(skip)]
    pub at_sender: bool,
    /// Share of what a change gives back that a limit may take which never showed itself.
    #[serde(skip)]
    pub unseen: f64,
}

/// A transfer in figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Transfer {
    /// Payload.
    pub bytes: u64,
    /// From the first data to the last acknowledgement.
    pub duration_s: f64,
    /// Payload bit/s.
    pub goodput_bit_per_s: f64,
}

impl Transfer {
    fn new(bytes: u64, duration_s: f64) -> Self {
        Self {
            bytes,
            duration_s,
            goodput_bit_per_s: bytes as f64 * 8.0 / duration_s.max(1e-9),
        }
    }
}

/// Which congestion control it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Congestion {
    /// Those that fit, the best first.
    pub fits: Vec<&'static str>,
    /// Each that was tried with how far its best replay is off.
    pub tried: Vec<(&'static str, f64)>,
    /// Loss episodes of the capture: as often a sender showed how it answers losses.
    pub events: u64,
    /// How the sender answered losses.
    #[serde(skip)]
    pub answers: Answers,
    /// Why it cannot be told; `None` where the set says something.
    pub cannot_tell: Option<String>,
}

/// How much a fit may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Simulations of the search at most; the intervals and the models drawn around the best come on top.
    pub simulations: usize,
    /// Payload at most of what is replayed: of a longer transfer the beginning.
    pub bytes: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            simulations: 360,
            bytes: 60_000_000,
        }
    }
}

/// Finds the path that explains `connection`, of which the capture must have kept the graphs.
///
/// Equal facts give an equal answer. The search is done by `simulator`, which may stop it.
///
/// # Errors
/// [`Refused`] where the capture shows too little, or the search was stopped.
pub fn fit(connection: &Connection, simulator: &dyn Simulator, effort: Effort) -> Result<Fit, Refused> {
    let mut seen = seen::of(connection, effort.bytes).ok_or(Refused::OneWay)?;
    if let Some(bytes) = start::before_tail(connection, &seen) {
        // A few bytes behind a last pause are no part like the others.
        seen = seen::of(connection, bytes).ok_or(Refused::OneWay)?;
    }
    let starts = start::models(connection, &seen)?;
    let share = seen.bytes as f64 / connection.facts.bytes.max(1) as f64;
    let at_sender = connection.facts.tap != Tap::Receiver;
    let target = Target::new(seen);
    // A quarter is for intervals and congestion controls.
    let mut search = Search::new(&target, simulator, at_sender, effort.simulations * 3 / 4)
        .with_measured(booked::measured(connection));
    let expected = Expected::of(connection);
    // Beside the receiver nothing tells what was in flight.
    let answers = if at_sender {
        controls::of(connection)
    } else {
        Answers::default()
    };
    let found = shapes(&mut search, &starts, expected, &answers)?;
    search.allow(effort.simulations / 4);
    let Some(mut best) = found.first().cloned() else {
        return Err(Refused::Nothing);
    };
    let (congestion, controls) = congestion(&mut search, &mut best, connection, answers)?;
    let limit = near(best.rank(expected));
    let others: Vec<Candidate> = found
        .into_iter()
        // Losses that are replayed hide what made them: that they fit beside a model that makes them says nothing.
        .filter(|other| other.model.shape != Shape::LinkAndLoss || best.difference.losses > UNMADE)
        .filter(|other| other.model.kind() != best.model.kind() && other.rank(expected) <= limit)
        .collect();
    let (parameters, farthest) = intervals(&mut search, &best, measured::measured_rate(connection))?;
    let mut centres = vec![best.clone()];
    centres.extend(controls);
    centres.extend(others.iter().cloned());
    let mut members = posterior::members(&mut search, &centres, &parameters, plausible(best.total()))?;
    members.extend(farthest.iter().map(Member::at_an_end));
    let others = others.into_iter().map(|other| other.model).collect();
    let (sender, receiver) = start::ends(connection);
    let captured = Transfer::new(target.seen().bytes, target.seen().duration_s);
    Ok(Fit {
        sender: sender.to_owned(),
        receiver: receiver.to_owned(),
        limit: connection.verdict.limit,
        captured,
        fitted: Transfer::new(captured.bytes, best.duration_s),
        explains: best.total() <= POOR && (best.duration_s / captured.duration_s - 1.0).abs() <= FAR,
        shared: shared(connection),
        untold: untold(&best.model, &parameters, connection),
        difference: best.difference,
        model: best.model,
        parameters,
        congestion,
        others,
        members,
        share: share.min(1.0),
        simulations: search.done(),
        at_sender,
        unseen: connection.ledger.unseen(),
    })
}

/// Whether other flows share the path for long enough to matter.
fn shared(connection: &Connection) -> bool {
    connection.verdict.limit == Limit::SharedBottleneck
        || connection.parallel_flows > 1
        || booked::share(connection, Limit::SharedBottleneck) >= SHARED
}

/// The best candidate of each kind, the best of all first.
fn shapes(
    search: &mut Search<'_>,
    starts: &[Model],
    expected: Expected,
    answers: &Answers,
) -> Result<Vec<Candidate>, Refused> {
    let mut all = Vec::new();
    for start in starts {
        for congestion in answers.possible() {
            all.push(Model {
                congestion,
                ..start.clone()
            });
        }
    }
    let mut tried = search.tried(all)?;
    sort(&mut tried, expected);
    // A short look at each shape with its likeliest controls, then a long one at the best.
    let mut looked: Vec<Candidate> = Vec::new();
    let least = tried.first().map_or(0.0, Candidate::total);
    let mut seen: Vec<((Kind, bool, usize), usize)> = Vec::new();
    for candidate in tried {
        let kind = (
            candidate.model.kind(),
            candidate.model.writer.is_some_and(|writer| writer.in_blocks),
            match &candidate.model.loss {
                Loss::Packets(packets) => packets.len(),
                _ => 0,
            },
        );
        let known = seen.iter_mut().find(|one| one.0 == kind);
        match known {
            Some(known) if known.1 >= LOOKS => continue,
            Some(known) => known.1 += 1,
            None => seen.push((kind, 1)),
        }
        let candidate = calibrated(search, candidate)?;
        if candidate.total() > least * FAR_OFF + FAR_OFF {
            looked.push(candidate);
        } else {
            looked.push(search.improved(candidate, &[1.3], 2)?);
        }
    }
    sort(&mut looked, expected);
    let mut out: Vec<Candidate> = Vec::new();
    for (place, candidate) in looked.into_iter().enumerate() {
        let other = out
            .iter()
            .all(|known| known.model.kind() != candidate.model.kind());
        if place < DEEP {
            out.push(search.improved(candidate, &[1.25, 1.1, 1.04, 1.015], 4)?);
        } else if other {
            out.push(candidate);
        }
    }
    sort(&mut out, expected);
    Ok(out)
}

/// The candidate with the number that sets its pace scaled by how far its duration is off, where that helps.
fn calibrated(search: &mut Search<'_>, candidate: Candidate) -> Result<Candidate, Refused> {
    let model = &candidate.model;
    let leads = if model.policer.is_some() {
        Parameter::PolicerRate
    } else if model.reader.is_some() {
        Parameter::ReaderRate
    } else if model.writer.is_some() {
        Parameter::WriterRate
    } else if model.send_buffer.is_some() {
        Parameter::SendBuffer
    } else {
        Parameter::Rate
    };
    let factor = (candidate.duration_s / search.target().seen().duration_s).clamp(0.3, 3.0);
    let scaled = leads.scaled(model, factor).into_iter().collect();
    let better = search
        .tried(scaled)?
        .pop()
        .filter(|one| one.total() < candidate.total());
    Ok(better.unwrap_or(candidate))
}

fn sort(candidates: &mut [Candidate], expected: Expected) {
    candidates.sort_by(|a, b| a.rank(expected).total_cmp(&b.rank(expected)));
}

/// Replays the best model with each congestion control, each improved by itself; with the answer the others that fit.
fn congestion(
    search: &mut Search<'_>,
    best: &mut Candidate,
    connection: &Connection,
    answers: Answers,
) -> Result<(Congestion, Vec<Candidate>), Refused> {
    let others: Vec<Model> = answers
        .possible()
        .filter(|name| *name != best.model.congestion)
        .map(|congestion| Model {
            congestion,
            ..best.model.clone()
        })
        .collect();
    let mut all = vec![best.clone()];
    for candidate in search.tried(others)? {
        let close = candidate.total() <= near(best.total()) * 4.0;
        all.push(if close {
            search.improved(candidate, &[1.1, 1.03], 2)?
        } else {
            candidate
        });
    }
    sort(&mut all, Expected::of(connection));
    let held = match connection.verdict.limit {
        Limit::ReceiverWindow | Limit::ReceiverApplication => Some("the receiver's window held the sender"),
        Limit::SendBuffer => Some("the send buffer held the sender"),
        Limit::SenderApplication => Some("the sending program held the sender"),
        Limit::ProtocolWindow => Some("the programs' protocol held the sender"),
        _ if connection.facts.ecn.ce_packets > 0 || connection.facts.ecn.reported > 0 => {
            Some("the path marked packets, which no model does")
        }
        _ => None,
    };
    // What differs where something else held the sender is how models of the ends are off, not the control.
    let scale = near(best.curves()) - best.curves() + if held.is_some() { HELD } else { 0.0 };
    let least = all.iter().map(Candidate::curves).fold(f64::INFINITY, f64::min);
    // A replay shows losses of its own, and where one comes can decide all that follows: how the sender answered those of the
    // capture says more of its control, where there were some.
    let most = if answers.stretches >= SOME_STRETCHES {
        MOST_BY_CURVES
    } else {
        f64::INFINITY
    };
    let unlikely = |one: &Candidate| {
        let congestion = one.model.congestion;
        let rare = if is_rare(congestion) { 2.0 * RARE.ln() } else { 0.0 };
        ((one.curves() - least) / scale).min(most) + (answers.against(congestion) + rare) / ONE_LESS_LIKELY
    };
    all.sort_by(|a, b| unlikely(a).total_cmp(&unlikely(b)));
    let likeliest = all.first().map_or(0.0, &unlikely);
    let fits: Vec<_> = all
        .iter()
        .filter(|one| unlikely(one) <= likeliest + 1.0)
        .map(|one| one.model.congestion)
        .collect();
    // Where nothing tells them apart, the one that most senders have; else the best by the curves of those that fit.
    let usable = |one: &&Candidate| fits.contains(&one.model.congestion) && one.total() <= POOR;
    let likely = all
        .iter()
        .filter(usable)
        .find(|one| one.model.congestion == "cubic" && one.total() <= near(best.total()) && held.is_some());
    let by_curves = all
        .iter()
        .filter(usable)
        .min_by(|a, b| a.total().total_cmp(&b.total()));
    if let Some(first) = likely.or(by_curves) {
        *best = first.clone();
    }
    let limit = plausible(best.total());
    let stays = |one: &Candidate| fits.contains(&one.model.congestion) || is_rare(one.model.congestion);
    let cannot_tell = if all.iter().all(stays) {
        Some(held.unwrap_or("their replays look alike here").to_owned())
    } else {
        held.map(str::to_owned)
    };
    let tried = all
        .iter()
        .map(|one| (one.model.congestion, one.total()))
        .collect();
    let others = all
        .into_iter()
        .filter(|one| one.model.congestion != best.model.congestion)
        .filter(|one| fits.contains(&one.model.congestion) && one.total() <= limit)
        .collect();
    let answer = Congestion {
        fits,
        tried,
        events: search.target().seen().episodes,
        answers,
        cannot_tell,
    };
    Ok((answer, others))
}

/// Whether hardly any sender of today has it.
fn is_rare(congestion: &str) -> bool {
    congestion == "bic"
}

/// Moves each parameter away from the best until it fits worse, others after it where that helps; with the intervals the models at
/// their ends.
fn intervals(
    search: &mut Search<'_>,
    best: &Candidate,
    measured_rate: Option<f64>,
) -> Result<(Vec<Interval>, Vec<Candidate>), Refused> {
    let limit = near(best.total());
    let mut out = Vec::new();
    let mut farthest: Vec<Candidate> = Vec::new();
    let mut bounds = Vec::new();
    let most = search.done() + TOGETHER;
    if let Some(value) = Parameter::Window.of(&best.model)
        && !search.is_searched(Parameter::Window, &best.model)
    {
        out.push(Interval {
            parameter: Parameter::Window,
            unit: Parameter::Window.unit(),
            value,
            low: Some(value),
            high: Some(value),
            identifiable: true,
        });
    }
    for parameter in Parameter::all(&best.model) {
        let Some(value) = parameter
            .of(&best.model)
            .filter(|_| search.is_searched(parameter, &best.model))
        else {
            continue;
        };
        let mut ends = [None, None];
        for (end, up) in ends.iter_mut().zip([false, true]) {
            let mut last = value;
            let mut at = best.clone();
            let mut helped = HELPED;
            for factor in FACTORS {
                let wanted = if up { value * factor } else { value / factor };
                let Some(model) = parameter.with(&at.model, wanted) else {
                    *end = Some(last);
                    break;
                };
                let moved = parameter.of(&model).unwrap_or(value);
                search.allow(1);
                let mut found = search.tried(vec![model])?.pop();
                // What it takes away others may give back: rate and queue, rate and round trip.
                if let Some(near) = found.clone().filter(|one| one.total() > limit)
                    && near.total() <= limit * WITHIN_REACH + WITHIN_REACH
                    && helped > 0
                    && search.done() < most
                {
                    helped -= 1;
                    found = Some(search.towards(near, limit, parameter)?);
                }
                let Some(found) = found.filter(|one| one.total() <= limit) else {
                    // Somewhere between the last that fits and the first that does not.
                    *end = Some((last.abs() * moved.abs()).sqrt());
                    break;
                };
                last = moved;
                at = found;
            }
            if at != *best {
                farthest.push(at);
            }
        }
        let [mut low, mut high] = ends;
        if parameter == Parameter::Rate
            && let Some(rate) = measured_rate.filter(|rate| (value / rate - 1.0).abs() < TRAINS)
        {
            // The spacing of trains tells more of a link that was never full than the curves do.
            let (least, most) = (value.min(rate) * (1.0 - TRAINS), value.max(rate) * (1.0 + TRAINS));
            low = Some(low.unwrap_or(0.0).max(least));
            high = Some(high.unwrap_or(f64::INFINITY).min(most));
            bounds.push((parameter, least, most));
        }
        if parameter == Parameter::RoundTrip {
            // The least round trip that was seen is the longest that the path can have.
            let most = value * LEAST_SEEN;
            high = Some(high.map_or(most, |high| high.min(most)));
            bounds.push((parameter, 0.0, most));
        }
        out.push(Interval {
            parameter,
            unit: parameter.unit(),
            value,
            low,
            high,
            identifiable: low.zip(high).is_some_and(|(low, high)| high <= low * WIDEST),
        });
    }
    // At the end of one number others have moved along: what the capture tells of those by itself holds there as well.
    farthest.retain(|one| {
        let mut bounds = bounds.iter();
        bounds.all(|(parameter, least, most)| {
            let value = parameter.of(&one.model);
            value.is_none_or(|value| (*least..=*most).contains(&value))
        })
    });
    Ok((out, farthest))
}

/// What the capture does not tell, in sentences.
fn untold(model: &Model, parameters: &[Interval], connection: &Connection) -> Vec<String> {
    let mut out = Vec::new();
    if shared(connection) {
        out.push("the link's own rate: other flows share the path and are not simulated, and each figure is what they left this one".to_owned());
    }
    for interval in parameters.iter().filter(|interval| !interval.identifiable) {
        let words = interval.parameter.words();
        out.push(match (interval.low, interval.high) {
            (Some(_), None) => {
                format!("{words}: at least what is given, because the transfer never met its end")
            }
            (None, Some(_)) => {
                format!("{words}: at most what is given, because a smaller one would look the same")
            }
            (None, None) => format!("{words}: any value would look the same"),
            (Some(_), Some(_)) => format!("{words}: only that it lies between the two values given"),
        });
    }
    if model.window == Window::Grows {
        out.push("how far the receiver's window would grow: the transfer never met its end".to_owned());
    }
    if connection.facts.tap == Tap::Receiver {
        let words = format!(
            "how much of the round trip of {:.1} ms is a queue",
            model.round_trip * 1e3
        );
        out.push(words);
        out.push("delay over time: a capture at the sender shows it".to_owned());
    }
    out.push("how the delay is shared between the two ways: captures at both ends show it".to_owned());
    if matches!(model.loss, Loss::Packets(_)) && model.shape == Shape::LinkAndLoss {
        out.push("what loses the packets: only that it has nothing to do with the queue".to_owned());
    }
    out
}

/// How far another candidate may be off to fit about as well as one that is off by `best`.
fn near(best: f64) -> f64 {
    best + (best * 0.4).max(1.0)
}

/// How far another candidate may be off to be thought of in a prediction.
fn plausible(best: f64) -> f64 {
    best + (best * 0.6).max(2.0)
}

/// Share of the time from which others matter.
const SHARED: f64 = 0.1;
/// How far off the number of losses is of a model that does not make them.
const UNMADE: f64 = 1.0;
/// How far off a candidate is that is not looked at any more: as a factor, and in all.
const FAR_OFF: f64 = 30.0;
/// Stretches between losses from which the answers to losses count.
const SOME_STRETCHES: usize = 2;
/// How far beyond what fits a control can be by its curves, where they do.
const MOST_BY_CURVES: f64 = 1.5;
/// By how much, as a logarithm of likelihoods, a control is less likely that does not fit any more.
const ONE_LESS_LIKELY: f64 = 3.0;
/// How much rarer BIC is taken to be among senders than any other control that is tried: no system has had it as its default
/// since Linux 2.6.19 (2006). An assumption; it decides where answers to losses fit BIC and another about as well.
const RARE: f64 = 40.0;
/// By how much more another control may be off where something else held the sender.
const HELD: f64 = 5.0;
/// Candidates of one shape that are looked at.
const LOOKS: usize = 2;
/// Candidates that are searched deeply.
const DEEP: usize = 2;
/// A total difference from which a model explains nothing.
const POOR: f64 = 30.0;
/// The same of the duration.
const FAR: f64 = 0.15;
/// How far parameters are moved for their intervals.
const FACTORS: [f64; 7] = [1.03, 1.08, 1.2, 1.5, 2.5, 5.0, 10.0];
/// How often others are moved after a parameter, in each direction.
const HELPED: usize = 3;
/// Simulations from which none are moved along any more.
const TOGETHER: usize = 240;
/// How many times the limit a model may be off that others can bring back.
const WITHIN_REACH: f64 = 8.0;
/// How far the least round trip that was seen may be above the path's own where a queue emptied, at most.
const LEAST_SEEN: f64 = 1.03;
/// How far a rate that trains of packets tell may be off.
const TRAINS: f64 = 0.15;
/// Widest interval of a parameter that the capture tells, as a ratio.
const WIDEST: f64 = 2.0;

//! What the machine did to the figures of a lab run.
//!
//! The run's twin in simulated time is computed several times as planned and as often with packets held up between
//! hosts and network in the spans in which the lab's wires stood still ([`slowpath_sim::edges`]). Both of a pair have the
//! same dice of the path: the first pairs those of the lab run, in which only microseconds between packets differ, which
//! no machine repeats either, the others those of runs like it. The mean difference of the pairs is the machine's part;
//! the spread of the simulations is what chance makes of one run.
//!
//! | worst of: change, how uncertain it is, and what it adds to the spread | state |
//! |---|---|
//! | below 2 % | valid |
//! | below 10 % | degraded; [`Effect::low`] and [`Effect::high`] contain what happened |
//! | else | invalid |
//!
//! Where no twin can be computed, and for all that happens beside the edges (lost packets, programs that wait for a
//! processor to encrypt), the table of `slowpath_lab`'s health judges.

use slowpath_diagnose::stats::Summary;
use slowpath_path::{ElementKind, ElementSpec};
use slowpath_record::{Code, Disturbances, Effect, FigureKind, HealthState, HeldSpan, Reason, RunRecord};
use slowpath_scenario::{Plan, Stack, Workload};
use slowpath_sim::EdgeSpec;
use slowpath_units::{Duration, Time};

use crate::simulated::{self, SimulatedError};

/// Judges a lab run by the effect of its disturbances instead of by their size, where `twin` can be computed.
pub fn judge(record: &mut RunRecord, twin: &Plan) {
    let Some(disturbances) = record.disturbances.clone() else {
        return;
    };
    if has_foreign_programs(twin) {
        return;
    }
    let Ok(Some(Replayed { effects, limits })) = replayed(record, twin, &disturbances) else {
        return;
    };
    let hungry = twin.jobs.iter().any(|job| needs_processor(&job.workload));
    let explained = |code: &Code| EXPLAINED.contains(code) || (!hungry && OF_PROGRAMS.contains(code));
    let health = &mut record.health;
    let reasons = std::mem::take(&mut health.reasons);
    health.state = HealthState::Valid;
    let (by_size, others): (Vec<_>, Vec<_>) =
        (reasons.into_iter()).partition(|reason| explained(&reason.code));
    health.by_size = by_size;
    for reason in others {
        health.add(reason);
    }
    if let Some(reason) = reason(&effects, record.transfers.is_empty()) {
        health.add(reason);
    }
    health.effects = effects;
    health.undisturbed_limits = limits;
}

/// What these effects say of the run as a whole.
pub fn state(effects: &[Effect], of_datagrams: bool) -> HealthState {
    decisive(effects, of_datagrams)
        .map(|effect| effect.state)
        .max()
        .unwrap_or_default()
}

/// Goodputs of so many runs of `twin` that no machine disturbs, with other dice of the path than the run's own and than
/// those by which [`judge`] judges; `None` if one cannot be computed or does not come to its end.
pub fn undisturbed(experiment: &str, twin: &Plan, runs: u32) -> Option<Vec<f64>> {
    let goodput = |number: u32| {
        let mut dice = twin.clone();
        dice.seed ^= u64::from(number + 1).wrapping_mul(OTHER_DICE).rotate_left(32);
        let calm = EdgeSpec {
            jitter: JITTER,
            seed: u64::from(number),
            ..EdgeSpec::default()
        };
        let (run, _) = simulated::replay(experiment, &dice, &calm).ok()?;
        let figures = figures(&run, twin)?;
        figures
            .into_iter()
            .find_map(|(kind, value)| (kind == FigureKind::Goodput).then_some(value))
    };
    (0..runs).map(goodput).collect()
}

/// The effects that decide about a run. What a transfer loses on its way is told beside its goodput, which contains what
/// that did to it.
fn decisive(effects: &[Effect], of_datagrams: bool) -> impl Iterator<Item = &Effect> {
    effects
        .iter()
        .filter(move |effect| of_datagrams || effect.figure != FigureKind::Loss)
}

/// What the simulations show.
struct Replayed {
    effects: Vec<Effect>,
    /// Codes of what limits the run without disturbances.
    limits: Vec<String>,
}

/// The difference that the disturbances make to each figure, and what limits the run without them; `None` if that cannot
/// be told.
fn replayed(
    record: &RunRecord,
    twin: &Plan,
    disturbances: &Disturbances,
) -> Result<Option<Replayed>, SimulatedError> {
    let mut limits: Vec<String> = Vec::new();
    let mut planned: Vec<Vec<(FigureKind, f64)>> = Vec::new();
    let mut disturbed: Vec<Vec<(FigureKind, f64)>> = Vec::new();
    let (mut replays, mut shift) = (LEAST_REPLAYS, 0);
    let start = begins(record, twin, Some(disturbances.jobs_from));
    let disturbances = since(disturbances, Time::from_nanos(start));
    for number in 0_u32.. {
        if number >= replays {
            break;
        }
        // The first ones have the run's own dice, the others those of runs like it.
        let mut dice = twin.clone();
        dice.seed ^= u64::from(number.saturating_sub(LEAST_REPLAYS - 1)).wrapping_mul(OTHER_DICE);
        let calm = EdgeSpec {
            jitter: JITTER,
            seed: u64::from(number) * 2 + 1,
            ..EdgeSpec::default()
        };
        let (run, events) = if number < LEAST_REPLAYS && !record.captures.is_empty() {
            let (run, events, limit) = simulated::replay_limit(&record.experiment, &dice, &calm)?;
            limits.extend(limit.filter(|limit| !limits.contains(limit)));
            (run, events)
        } else {
            simulated::replay(&record.experiment, &dice, &calm)?
        };
        if number == 0 {
            if events > MOST_EVENTS {
                return Ok(None);
            }
            let affordable = ALL_EVENTS / (2 * events.max(1));
            replays = u32::try_from(affordable)
                .unwrap_or(u32::MAX)
                .clamp(LEAST_REPLAYS, MOST_REPLAYS);
            shift = begins(&run, twin, None).cast_signed() - start.cast_signed();
        }
        let Some(figures) = figures(&run, twin) else {
            return Ok(None);
        };
        planned.push(figures);
        let held = EdgeSpec {
            disturbances: Some(disturbances.clone()),
            shift,
            entry_per_mille: ENTRY[number as usize % ENTRY.len()],
            jitter: JITTER,
            seed: u64::from(number) * 2 + 2,
        };
        let (run, _) = simulated::replay(&record.experiment, &dice, &held)?;
        let Some(figures) = self::figures(&run, twin) else {
            return Ok(None);
        };
        disturbed.push(figures);
        // Where no chance is involved, the first ones say it all.
        if number + 1 == LEAST_REPLAYS && is_certain(twin, &planned, &disturbed) {
            break;
        }
    }
    let kinds: Vec<FigureKind> = planned[0].iter().map(|(kind, _)| *kind).collect();
    let effects = kinds
        .into_iter()
        .filter_map(|kind| effect(kind, &values(&planned, kind), &values(&disturbed, kind)))
        .collect();
    Ok(Some(Replayed { effects, limits }))
}

/// The disturbances from `start` on. What held up the way to the measured job, a login say, made it begin later, in the
/// lab as in a replay; but a replay that begins later would meet all other spans too early.
fn since(disturbances: &Disturbances, start: Time) -> Disturbances {
    let mut own = disturbances.clone();
    for wire in &mut own.wires {
        wire.spans.retain(|span| span.end() > start);
        for span in wire.spans.iter_mut().filter(|span| span.from < start) {
            *span = HeldSpan {
                from: start,
                length: span.end().since(start),
                first_in_time: false,
                ..*span
            };
        }
    }
    own
}

/// When the measured job began, in nanoseconds.
fn begins(run: &RunRecord, plan: &Plan, jobs_from: Option<Time>) -> u64 {
    let own = plan.measured(run);
    if let Some(first) = own.transfers.iter().map(|transfer| transfer.start).min() {
        return first.nanos();
    }
    let echoes = run.series.iter().filter(|series| series.name.ends_with(ECHOES));
    let first = echoes
        .filter_map(|series| series.points.first())
        .map(|(at, seconds)| {
            at.nanos()
                .saturating_sub(Duration::from(std::time::Duration::from_secs_f64(*seconds)).nanos())
        })
        .min();
    first.unwrap_or_else(|| jobs_from.unwrap_or_default().nanos() + plan.main_job().start.nanos())
}

/// The figures of a run; `None` if a transfer did not come to its end.
fn figures(run: &RunRecord, plan: &Plan) -> Option<Vec<(FigureKind, f64)>> {
    let own = plan.measured(run);
    let mut found = Vec::new();
    if own.transfers.is_empty() {
        let goodput: f64 = own.flows.iter().map(|flow| flow.goodput_byte_per_s).sum();
        if goodput > 0.0 {
            found.push((FigureKind::Goodput, goodput));
        }
        let sent: u64 = own.flows.iter().map(|flow| flow.sent_packets).sum();
        let received: u64 = own.flows.iter().map(|flow| flow.received_packets).sum();
        if sent > 0 {
            found.push((
                FigureKind::Loss,
                sent.saturating_sub(received) as f64 / sent as f64,
            ));
        }
    } else {
        if own.transfers.iter().any(|transfer| !transfer.complete) {
            return None;
        }
        let bytes: u64 = own.transfers.iter().map(|transfer| transfer.bytes).sum();
        let start = own.transfers.iter().map(|transfer| transfer.start).min()?;
        let end = own.transfers.iter().map(|transfer| transfer.end).max()?;
        let seconds = end.since(start).seconds();
        if seconds <= 0.0 {
            return None;
        }
        found.push((FigureKind::Goodput, bytes as f64 / seconds));
        found.push((FigureKind::Duration, seconds));
        let dropped = own.elements.iter().flat_map(|element| &element.dropped);
        let dropped: u64 = dropped.map(|(_, traffic)| traffic.packets).sum();
        let passed = own.elements.iter().map(|element| element.entered.packets).max();
        if let Some(passed) = passed.filter(|passed| *passed > 0) {
            found.push((FigureKind::Loss, dropped as f64 / passed as f64));
        }
    }
    let echoes: Vec<f64> = run
        .series
        .iter()
        .filter(|series| series.name.ends_with(ECHOES))
        .flat_map(|series| series.points.iter().map(|(_, seconds)| *seconds))
        .collect();
    if !echoes.is_empty() {
        let at = |p| slowpath_diagnose::stats::quantile(&echoes, p);
        found.push((FigureKind::DelayMedian, at(0.5)));
        found.push((FigureKind::DelayP95, at(0.95)));
    }
    (!found.is_empty()).then_some(found)
}

fn values(runs: &[Vec<(FigureKind, f64)>], kind: FigureKind) -> Vec<f64> {
    let of = |run: &Vec<(FigureKind, f64)>| run.iter().find(|(own, _)| *own == kind).map(|(_, value)| *value);
    runs.iter().filter_map(of).collect()
}

/// Whether equal simulations differ by less than anyone asks for, and no dice are thrown.
fn is_certain(twin: &Plan, planned: &[Vec<(FigureKind, f64)>], disturbed: &[Vec<(FigureKind, f64)>]) -> bool {
    let spread = |runs: &[Vec<(FigureKind, f64)>]| {
        let figures = values(runs, FigureKind::Goodput);
        let most = figures.iter().copied().fold(f64::MIN, f64::max);
        let least = figures.iter().copied().fold(f64::MAX, f64::min);
        figures.is_empty() || most - least <= least * CERTAIN
    };
    let dice =
        |element: &ElementSpec| matches!(element.does, ElementKind::Loss(_) | ElementKind::Duplicate(_));
    !twin.network.elements.iter().any(dice) && spread(planned) && spread(disturbed)
}

/// Compares one figure's values, in pairs of the same dice; `None` where too few runs have it.
///
/// What the machine did to the mean is the mean of the pairs' differences. One run differs from its twin by more: by what
/// the dice of the path make of every change in time.
fn effect(kind: FigureKind, planned: &[f64], disturbed: &[f64]) -> Option<Effect> {
    let (calm, held) = (Summary::of(planned)?, Summary::of(disturbed)?);
    let is_share = kind == FigureKind::Loss;
    if !is_share && planned.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let changes: Vec<f64> = planned
        .iter()
        .zip(disturbed)
        .map(|(calm, held)| if is_share { held - calm } else { held / calm - 1.0 })
        .collect();
    let change = Summary::of(&changes)?;
    // How well the edges stand for the machine: see docs/validation/noise.md.
    let of_model = if is_share {
        0.0
    } else {
        MODEL_FLOOR + MODEL_SHARE * change.mean.abs()
    };
    let uncertainty = change.half_width()?.hypot(of_model);
    let scale = if is_share { 1.0 } else { calm.mean };
    let (chance, with_pauses) = (calm.deviation? / scale, held.deviation? / scale);
    let either_way = (TWO_SIDED * with_pauses.max(chance)).hypot(uncertainty);
    // A spread of so few runs is known to a third.
    let added = if with_pauses > MORE_SPREAD * chance {
        (with_pauses.powi(2) - chance.powi(2)).sqrt()
    } else {
        0.0
    };
    let worst = (change.mean.abs() + uncertainty).max(added);
    let state = match worst {
        worst if worst < VALID => HealthState::Valid,
        worst if worst < DEGRADED || kind == FigureKind::DelayP95 => HealthState::Degraded,
        _ => HealthState::Invalid,
    };
    let own =
        |values: &[f64]| slowpath_diagnose::stats::mean(&values[..values.len().min(LEAST_REPLAYS as usize)]);
    Some(Effect {
        figure: kind,
        planned: own(planned),
        disturbed: own(disturbed),
        change: change.mean,
        uncertainty,
        low: change.mean - either_way,
        high: change.mean + either_way,
        replays: u32::try_from(change.n).unwrap_or(u32::MAX),
        state,
    })
}

/// The worst effect as a sentence; `None` where the machine did nothing worth a word.
fn reason(effects: &[Effect], of_datagrams: bool) -> Option<Reason> {
    let worst = decisive(effects, of_datagrams).max_by(|a, b| {
        let size = |effect: &Effect| effect.change.abs();
        (a.state, size(a))
            .partial_cmp(&(b.state, size(b)))
            .unwrap_or(std::cmp::Ordering::Equal)
    })?;
    if worst.state == HealthState::Valid && worst.change.abs() < WORTH_A_WORD {
        return None;
    }
    let percent = |share: f64| {
        let value = share.abs() * 100.0;
        if value < 9.95 {
            format!("{value:.1}")
        } else {
            format!("{value:.0}")
        }
    };
    let (by, give) = (percent(worst.change), percent(worst.uncertainty));
    let what = match (worst.figure, worst.change < 0.0) {
        (FigureKind::Goodput, true) | (FigureKind::Duration, false) => format!("it {by} % slower"),
        (FigureKind::Goodput, false) | (FigureKind::Duration, true) => format!("it {by} % faster"),
        (FigureKind::Loss, false) => format!("it lose {by} % of its packets more"),
        (FigureKind::Loss, true) => format!("it lose {by} % of its packets less"),
        (FigureKind::DelayMedian, false) => format!("the median round trip {by} % longer"),
        (FigureKind::DelayMedian, true) => format!("the median round trip {by} % shorter"),
        (FigureKind::DelayP95, false) => format!("the longest round trips {by} % longer"),
        (FigureKind::DelayP95, true) => format!("the longest round trips {by} % shorter"),
    };
    Some(Reason {
        code: Code::MachineEffect,
        state: worst.state,
        text: format!("the machine's pauses made {what}, give or take {give}"),
    })
}

/// Whether programs take part of which there is no model.
fn has_foreign_programs(plan: &Plan) -> bool {
    let foreign = |workload: &Workload| matches!(workload, Workload::Command(_) | Workload::Frames(_));
    plan.jobs.iter().any(|job| foreign(&job.workload))
        || plan
            .hosts
            .iter()
            .any(|host| matches!(host.stack, Stack::Kernel(_)))
}

/// Whether a job's programs need so much processor time that they may be what is slow.
const fn needs_processor(workload: &Workload) -> bool {
    matches!(workload, Workload::Ssh(_) | Workload::S3(_))
}

/// Whether a reason speaks of what the machine had to do beside the run, so that it may be gone the next time.
pub fn is_of_the_machine(code: &Code) -> bool {
    EXPLAINED.contains(code)
        || OF_PROGRAMS.contains(code)
        || [Code::MachineEffect, Code::TunDrops, Code::Suspended].contains(code)
}

/// Reasons of the table that speak of what a replay shows.
const EXPLAINED: [Code; 6] = [
    Code::ReleaseLate,
    Code::WireStalled,
    Code::ArrivalUncertain,
    Code::QueueBunched,
    Code::PathLonger,
    Code::WireStarved,
];
/// Reasons of the table that matter to programs with much to compute.
const OF_PROGRAMS: [Code; 3] = [Code::Crowded, Code::Steal, Code::Busy];
/// Ending of the names of series of round trips.
const ECHOES: &str = "/round-trip";

/// Below this change a figure stands as it is.
const VALID: f64 = 0.02;
/// Below this change a figure stands with its interval.
const DEGRADED: f64 = 0.10;
/// Smaller changes are not told.
const WORTH_A_WORD: f64 = 0.005;
/// What a pair of simulations may differ by for the first ones to do.
const CERTAIN: f64 = 0.002;
/// What the edges leave out of a quiet machine's doing: wake-ups within the hosts.
const MODEL_FLOOR: f64 = 0.002;
/// What they leave out of a disturbance.
const MODEL_SHARE: f64 = 0.1;
/// Of so many deviations either way one run in twenty is outside.
const TWO_SIDED: f64 = 1.96;
/// A spread that is so much larger is not the same one by chance.
const MORE_SPREAD: f64 = 1.6;
/// No machine sends two packets twice at the same distance.
const JITTER: Duration = Duration::from_micros(20);
/// By how much of the bound packets entered late: it is not known, so each share has its turn.
const ENTRY: [u32; 3] = [500, 0, 1000];
/// Makes the seeds of runs like the own one.
const OTHER_DICE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Pairs of simulations at first, with the run's own dice.
const LEAST_REPLAYS: u32 = 3;
/// Pairs of simulations at most.
const MOST_REPLAYS: u32 = 16;
/// Events that all simulations of one run may take: some seconds.
const ALL_EVENTS: u64 = 20_000_000;
/// A run of more events is not replayed.
const MOST_EVENTS: u64 = 20_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn goodput(planned: &[f64], disturbed: &[f64]) -> Effect {
        effect(FigureKind::Goodput, planned, disturbed).unwrap()
    }

    #[test]
    fn the_worst_of_change_doubt_and_spread_makes_the_state() {
        let same = goodput(&[100.0; 3], &[100.0; 3]);
        assert_eq!((same.state, same.change), (HealthState::Valid, 0.0));
        assert!(same.low < 0.0 && same.high > 0.0, "no model is exact: {same:?}");
        assert!(reason(&[same], false).is_none());

        let slower = goodput(&[100.0, 100.0, 100.0], &[98.8, 98.9, 99.0]);
        assert_eq!(slower.state, HealthState::Valid, "{slower:?}");
        let told = reason(&[slower], false).unwrap();
        assert_eq!(told.state, HealthState::Valid);
        assert!(
            told.text
                .starts_with("the machine's pauses made it 1.1 % slower, give or take 0."),
            "{}",
            told.text
        );

        let much = goodput(&[100.0; 3], &[94.0, 94.1, 93.9]);
        assert_eq!(much.state, HealthState::Degraded);
        assert!(much.low < -0.06 && -0.06 < much.high);
        assert_eq!(goodput(&[100.0; 3], &[80.0; 3]).state, HealthState::Invalid);

        // The path's own chance is not the machine's doing, but what it adds to that is.
        let chance: Vec<f64> = (0..16_u32).map(|n| 100.0 + f64::from(n % 4)).collect();
        assert_eq!(goodput(&chance, &chance).state, HealthState::Valid);
        let now_and_then: Vec<f64> = (0..16_u32).map(|n| 100.0 + 12.0 * f64::from(n % 4)).collect();
        assert_eq!(goodput(&chance, &now_and_then).state, HealthState::Invalid);
    }

    #[test]
    fn spans_before_the_job_are_no_part_of_its_replay() {
        let span = |from, length| HeldSpan::from((from, length, 7));
        let wire = slowpath_record::WireDisturbances {
            spans: vec![span(10, 5), span(90, 20), span(200, 30)],
            ..slowpath_record::WireDisturbances::default()
        };
        let disturbances = Disturbances {
            wires: vec![wire],
            ..Disturbances::default()
        };
        let own = since(&disturbances, Time::from_nanos(100));
        let spans: Vec<(u64, u64, u8)> = own.wires[0].spans.iter().map(|span| (*span).into()).collect();
        assert_eq!(spans, [(100, 10, 3), (200, 30, 7)]);
    }

    #[test]
    fn a_loss_decides_where_it_is_the_figure() {
        let loss = effect(FigureKind::Loss, &[0.0; 3], &[0.11; 3]).unwrap();
        assert_eq!(loss.state, HealthState::Invalid);
        let goodput = goodput(&[100.0; 3], &[100.0; 3]);
        let both = [goodput, loss];
        assert!(reason(&both, false).is_none());
        let told = reason(&both, true).unwrap();
        assert_eq!(
            told.text,
            "the machine's pauses made it lose 11 % of its packets more, give or take 0.0"
        );
    }
}

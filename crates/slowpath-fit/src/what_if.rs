//! What a change would make of a transfer, by every model that explains it.

use serde::Serialize;
use slowpath_scenario::network::QueueSize;
use slowpath_scenario::{ApplyError, Intervention, Place, Who};
use slowpath_units::{BitRate, ByteCount, Ratio};
use slowpath_verdict::Limit;

use crate::fit::Fit;
use crate::model::{self, Loss, Model, Parameter, Writer};
use crate::posterior::{Member, plausible_rate, radical_inverse};
use crate::start::Refused;
use crate::trial::{Outcome, Simulator, Trial, TrialError};

/// What a change would make of a transfer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The change, in words.
    pub change: String,
    /// The transfer's duration as captured, seconds.
    pub before_s: f64,
    /// After the change; `None` where it cannot be told.
    pub duration_s: Option<f64>,
    /// Nine of ten outcomes are longer and nine of ten are shorter than these.
    pub low90_s: Option<f64>,
    /// The longest.
    pub high90_s: Option<f64>,
    /// What limits it then.
    pub next_limit: Option<Limit>,
    /// Whether it can be told.
    pub identifiable: bool,
    /// Why not, or what else to know.
    pub reason: Option<String>,
    /// Which kind of reason that is; `None` where it can be told.
    pub untold: Option<Untold>,
}

/// Why an answer has no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Untold {
    /// The path has nothing of what is to be changed, or is so already.
    NothingToChange,
    /// The change is not one that a model can take.
    NotSimulated,
    /// The changed transfer is given up before its end.
    NoEnd,
    /// What the capture leaves open decides.
    NotIdentifiable,
}

impl Untold {
    /// The stable name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NothingToChange => "nothing-to-change",
            Self::NotSimulated => "not-simulated",
            Self::NoEnd => "no-end",
            Self::NotIdentifiable => "not-identifiable",
        }
    }
}

/// The changes that make sense for what limits the transfer, and by how much the fitted model has it now.
pub fn sensible(fit: &Fit) -> Vec<Vec<Intervention>> {
    let model = &fit.model;
    let mut out: Vec<Intervention> = Vec::new();
    let control = |name: &str| Intervention::SetCongestionControl {
        host: Who::Sender,
        name: name.to_owned(),
    };
    out.push(control(if model.congestion == "bbr" { "cubic" } else { "bbr" }));
    let doubled = |bytes: f64| ByteCount::new(rounded(bytes * 2.0) as u64);
    if let Some(window) = Parameter::Window.of(model) {
        out.push(Intervention::SetWindow {
            host: Who::Receiver,
            window: doubled(window),
        });
    }
    if let Some(buffer) = model.send_buffer {
        out.push(Intervention::SetSendBuffer {
            host: Who::Sender,
            buffer: doubled(buffer),
        });
    }
    if model.reader.is_some() {
        out.push(Intervention::SetReader {
            host: Who::Receiver,
            rate: None,
        });
    }
    if model.given.parts.is_none() {
        out.extend([2, 4, 8].map(|count| Intervention::SetStreams { count }));
    }
    let place = Place::Everywhere;
    if model.policer.is_some() {
        out.push(Intervention::RemovePolicer { place: place.clone() });
    }
    if let Loss::Chance(chance) = model.by_chance().loss
        && let Some(chance) = Ratio::from_ppb(rounded(chance * 5e8) as u32)
    {
        out.push(Intervention::SetLoss {
            place: Place::Towards(Who::Receiver),
            chance,
        });
    }
    let rate = model.rate;
    out.push(Intervention::ResizeQueue {
        place: place.clone(),
        queue: QueueSize::Bytes(doubled(model.queue)),
    });
    if rate < 5e9 {
        out.push(Intervention::SetRate {
            place,
            rate: BitRate::new(rounded(rate * 2.0) as u64),
        });
    }
    out.into_iter().map(|change| vec![change]).collect()
}

/// The number with two digits, as people would ask for it.
fn rounded(value: f64) -> f64 {
    let unit = 10_f64.powf(value.max(1.0).log10().floor() - 1.0);
    (value / unit).round() * unit
}

/// What changes, made together, would make of the transfer: simulated on every model that explains it, each with dice of its own.
///
/// # Errors
/// [`Refused::Stopped`].
pub fn what_if(fit: &Fit, changes: &[Intervention], simulator: &dyn Simulator) -> Result<Answer, Refused> {
    let words: Vec<String> = changes.iter().map(ToString::to_string).collect();
    let before_s = fit.captured.duration_s;
    let refused = |untold: Untold, reason: String| Answer {
        change: words.join(", "),
        before_s,
        duration_s: None,
        low90_s: None,
        high90_s: None,
        next_limit: None,
        identifiable: false,
        reason: Some(reason),
        untold: Some(untold),
    };
    if !fit.explains {
        return Ok(refused(
            Untold::NotIdentifiable,
            "no model explains this transfer well enough to change anything in it".to_owned(),
        ));
    }
    if fit.shared {
        return Ok(refused(
            Untold::NotIdentifiable,
            "other flows share the path, and what they would do is not simulated".to_owned(),
        ));
    }
    let drawn = fit
        .members
        .iter()
        .any(|member| matches!(member.model.loss, Loss::Packets(_)));
    let members = asked(fit, changes, if drawn { RUNS_BY_CHANCE } else { RUNS });
    let trials: Vec<Trial> = members
        .iter()
        .zip(1..)
        .map(|(member, seed)| Trial {
            seed,
            with_limit: seed <= JUDGED,
            ..changed(&member.model, changes, fit.at_sender)
        })
        .collect();
    if let Some(Err(error)) = trials.first().map(Trial::plan) {
        let (untold, reason) = unapplied(&error);
        return Ok(refused(untold, reason));
    }
    let trials: Vec<Trial> = trials.into_iter().map(Trial::with_what_applies).collect();
    let outcomes = simulator.simulate(&trials).ok_or(Refused::Stopped)?;
    let mut done: Vec<(f64, &Member)> = Vec::with_capacity(members.len());
    for (member, outcome) in members.iter().zip(&outcomes) {
        if let Some(seen) = outcome
            .as_ref()
            .map(|outcome| &outcome.seen)
            .filter(|seen| seen.complete)
        {
            // What a model is off without the change it is off with it.
            let scale = (before_s / member.duration_s).clamp(0.9, 1.1);
            done.push((seen.duration_s * scale, member));
        }
    }
    if done.len() * 10 < members.len() * 9 {
        return Ok(refused(
            Untold::NoEnd,
            "the changed transfer does not come to an end within ten times its duration".to_owned(),
        ));
    }
    done.sort_by(|a, b| a.0.total_cmp(&b.0));
    let among: Vec<f64> = done
        .iter()
        .filter(|one| !one.1.at_an_end)
        .map(|one| one.0)
        .collect();
    if among.is_empty() {
        return Ok(refused(
            Untold::NotIdentifiable,
            "no model explains this transfer well enough to change anything in it".to_owned(),
        ));
    }
    // What lies at the ends of what fits was not drawn as often as the rest, but is as possible: of a link that was never full
    // nothing says that it is not just fast enough. Where chance decides, single runs at the ends say nothing.
    let ends = done
        .iter()
        .filter(|one| one.1.at_an_end && !drawn)
        .map(|one| one.0);
    let (least, most) = ends.fold(
        (quantile(&among, 0.05), quantile(&among, 0.95)),
        |(least, most), end| (least.min(end), most.max(end)),
    );
    let vague = if drawn { VAGUE_BY_CHANCE } else { VAGUE };
    if most > least * vague {
        return Ok(refused(
            Untold::NotIdentifiable,
            format!(
                "it depends on what the capture does not tell ({}): {least:.1} to {most:.1} s",
                depends_on(&done).as_deref().unwrap_or("its losses"),
            ),
        ));
    }
    // A model that is as far off as several good ones explains less of what comes.
    let doubt = DOUBT * fit.difference.total().sqrt().max(1.0);
    let duration_s = quantile(&among, 0.5);
    let unseen = fit.unseen * (before_s - duration_s).max(0.0);
    Ok(Answer {
        change: words.join(", "),
        before_s,
        duration_s: Some(duration_s),
        low90_s: Some(least * (1.0 - doubt)),
        high90_s: Some(most * (1.0 + doubt) + unseen),
        next_limit: next_limit(&outcomes),
        identifiable: true,
        reason: None,
        untold: None,
    })
}

/// Why a change cannot be made in a model, without the change, which the answer names.
fn unapplied(error: &TrialError) -> (Untold, String) {
    match error {
        TrialError::Change(ApplyError::NothingToChange { what, .. }) => {
            (Untold::NothingToChange, format!("there is no {what}"))
        }
        TrialError::Change(ApplyError::NoEffect { .. }) => {
            (Untold::NothingToChange, "it is so already".to_owned())
        }
        TrialError::Change(ApplyError::Impossible { reason, .. }) => {
            (Untold::NotSimulated, (*reason).to_owned())
        }
        other => (Untold::NotSimulated, other.to_string()),
    }
}

/// The models that are asked about a change, with losses by chance, the best first; as many as `runs` at least, by asking some
/// more than once. Where the change gives a congestion control, those that have it already are left out: nobody
/// changes what is so.
fn asked(fit: &Fit, changes: &[Intervention], runs: usize) -> Vec<Member> {
    let has_it = |member: &Member| {
        changes.iter().any(|change| {
            matches!(change, Intervention::SetCongestionControl { name, .. } if *name == member.model.congestion)
        })
    };
    let mut members: Vec<Member> = fit.members.iter().filter(|one| !has_it(one)).cloned().collect();
    if members.is_empty() {
        members.clone_from(&fit.members);
    }
    // The ends of what fits all count, of those among it a share that is spread over all.
    let (ends, among): (Vec<Member>, Vec<Member>) = members.into_iter().partition(|one| one.at_an_end);
    let (room, count) = (MOST_RUNS.saturating_sub(ends.len()).max(1), among.len());
    let spread = (0..count.min(room)).map(|place| among[place * count / count.min(room)].clone());
    let mut out: Vec<Member> = spread.chain(ends).collect();
    let again: Vec<Member> = out.iter().filter(|one| !one.at_an_end).cloned().collect();
    let missing = runs.saturating_sub(out.len());
    out.extend(again.into_iter().cycle().take(missing));
    for (place, member) in out.iter_mut().enumerate() {
        let counted = match &member.model.loss {
            Loss::Packets(packets) => model::events(packets) as f64,
            _ => 0.0,
        };
        member.model = member.model.by_chance();
        // As many losses as there were may come of a smaller and of a greater chance.
        if let Loss::Chance(chance) = &mut member.model.loss
            && counted > 0.0
            && place > 0
        {
            *chance *= plausible_rate(counted, radical_inverse(place, 2));
        }
    }
    out
}

/// On what, in words, durations depend most; `None` where it is chance alone.
fn depends_on(done: &[(f64, &Member)]) -> Option<String> {
    let durations: Vec<f64> = done.iter().map(|one| one.0.ln()).collect();
    let mut told: Vec<(f64, String)> = Vec::new();
    let first = &done.first()?.1.model;
    for parameter in Parameter::all(first) {
        let value = |one: &(f64, &Member)| Some(parameter.of(&one.1.model)?.max(1e-12).ln());
        let values: Option<Vec<f64>> = done.iter().map(value).collect();
        if let Some(values) = values {
            told.push((
                explained(&values, &durations),
                format!("the {}", parameter.words()),
            ));
        }
    }
    let same = |by: &dyn Fn(&Model) -> bool| -> Vec<f64> {
        done.iter()
            .map(|one| f64::from(u8::from(by(&one.1.model))))
            .collect()
    };
    for (_, Member { model, .. }) in done {
        let control = same(&|other| other.congestion == model.congestion);
        told.push((
            explained(&control, &durations),
            "the congestion control".to_owned(),
        ));
        if model.kind() != first.kind() {
            let words = format!(
                "whether it is {} or {}",
                first.kind().words(),
                model.kind().words()
            );
            told.push((
                explained(&same(&|other| other.kind() == model.kind()), &durations),
                words,
            ));
        }
    }
    let most = told.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    most.filter(|most| most.0 >= MATTERS).map(|most| most.1)
}

/// Share of the variance of `of` that a straight line over `by` explains.
fn explained(by: &[f64], of: &[f64]) -> f64 {
    let count = of.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (mean_by, mean_of) = (mean(by), mean(of));
    let product = |a: &[f64], mean_a: f64, b: &[f64], mean_b: f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum()
    };
    let both = product(by, mean_by, by, mean_by) * product(of, mean_of, of, mean_of);
    if both <= 0.0 {
        return 0.0;
    }
    product(by, mean_by, of, mean_of).powi(2) / both
}

/// A simulation of a model with changes. What a program's pace becomes is a matter of the model: it may be a host's pace, blocks
/// that are written or pauses between parts, and models of one transfer differ in that.
fn changed(model: &Model, changes: &[Intervention], at_sender: bool) -> Trial {
    let mut model = model.clone();
    let mut left = Vec::with_capacity(changes.len());
    for change in changes {
        match change {
            Intervention::SetWriter {
                host: Who::Sender,
                rate,
            } if model.writer.is_some() || model.given.parts.is_some() => {
                let in_blocks = model.writer.is_none_or(|writer| writer.in_blocks);
                model.writer = rate.map(|rate| Writer {
                    rate: rate.bits_per_s() as f64,
                    in_blocks,
                });
                model.given.parts = None;
            }
            other => left.push(other.clone()),
        }
    }
    // What happens later than this is given up, and says so.
    Trial {
        changes: left,
        ..Trial::of(patient(model), at_sender)
    }
}

/// The same model, given ten times the captured duration.
fn patient(mut model: Model) -> Model {
    model.given.deadline = model.given.deadline * 3.5 + 5.0;
    model
}

/// What most of the judged runs say.
fn next_limit(outcomes: &[Option<Outcome>]) -> Option<Limit> {
    let told: Vec<Limit> = outcomes
        .iter()
        .flatten()
        .filter_map(|outcome| outcome.limit)
        .collect();
    let count = |limit: &Limit| told.iter().filter(|other| *other == limit).count();
    told.iter().copied().max_by_key(count)
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * share;
    sorted[place.round() as usize]
}

/// Runs at least of a path that draws its losses.
const RUNS_BY_CHANCE: usize = 40;
/// Runs at least of one that does not.
const RUNS: usize = 12;
/// Runs at most.
const MOST_RUNS: usize = 44;
/// Share of the durations' variance from which something is what they depend on.
const MATTERS: f64 = 0.25;
/// Runs whose limit is asked for.
const JUDGED: u64 = 1;
/// What a model of a kernel is off by, beside everything else, where it explains the capture well.
const DOUBT: f64 = 0.04;
/// The longest duration of a model that fits over the shortest from which nothing is said.
const VAGUE: f64 = 3.0;
/// The same where losses are random: chance alone makes single runs differ.
const VAGUE_BY_CHANCE: f64 = 4.0;

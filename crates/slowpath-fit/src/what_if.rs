//! What a change would make of a transfer, by every model that explains it.

use serde::Serialize;
use slowpath_scenario::network::QueueSize;
use slowpath_scenario::{Intervention, Place, Who};
use slowpath_units::{BitRate, ByteCount, Ratio};
use slowpath_verdict::Limit;

use crate::fit::Fit;
use crate::model::{self, Loss, Model, Parameter};
use crate::start::Refused;
use crate::trial::{Outcome, Simulator, Trial};

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

/// What changes, made together, would make of the transfer: simulated on the best model with several seeds, on its
/// parameters' ends and on every other model that fits.
///
/// # Errors
/// [`Refused::Stopped`].
pub fn what_if(fit: &Fit, changes: &[Intervention], simulator: &dyn Simulator) -> Result<Answer, Refused> {
    let fit = &with_another_control(fit, changes);
    let words: Vec<String> = changes.iter().map(ToString::to_string).collect();
    let before_s = fit.captured.duration_s;
    let refused = |reason: String| Answer {
        change: words.join(", "),
        before_s,
        duration_s: None,
        low90_s: None,
        high90_s: None,
        next_limit: None,
        identifiable: false,
        reason: Some(reason),
    };
    if !fit.explains {
        return Ok(refused(
            "no model explains this transfer well enough to change anything in it".to_owned(),
        ));
    }
    if fit.shared {
        return Ok(refused(
            "other flows share the path, and what they would do is not simulated".to_owned(),
        ));
    }
    let first = Trial {
        changes: changes.to_vec(),
        with_limit: true,
        ..Trial::of(fit.model.by_chance(), fit.at_sender)
    };
    if let Err(error) = first.plan() {
        return Ok(refused(error.to_string()));
    }
    let drawn = matches!(fit.model.loss, Loss::Packets(_));
    let seeds = if drawn { SEEDS } else { STEADY_SEEDS };
    let mut trials: Vec<Trial> = (1..=seeds)
        .map(|seed| Trial {
            seed,
            with_limit: seed <= JUDGED,
            // What happens later than this is given up, and says so.
            model: patient(fit.model.by_chance()),
            ..first.clone()
        })
        .collect();
    let own = trials.len();
    let open = alternatives(fit, changes);
    let each = if drawn { OTHER_SEEDS } else { 1 };
    for model in &open {
        trials.extend((1..=each).map(|seed| Trial {
            model: patient(model.clone()),
            seed,
            with_limit: false,
            ..first.clone()
        }));
    }
    let outcomes = simulator.simulate(&trials).ok_or(Refused::Stopped)?;
    let done = |outcome: &Option<Outcome>| -> Option<f64> {
        let seen = &outcome.as_ref()?.seen;
        seen.complete.then_some(seen.duration_s)
    };
    // What the best model is off without the change it is off with it.
    let scale = (before_s / fit.fitted.duration_s).clamp(0.9, 1.1);
    let mut durations: Vec<f64> = outcomes[..own]
        .iter()
        .filter_map(done)
        .map(|s| s * scale)
        .collect();
    if durations.len() * 10 < own * 9 {
        return Ok(refused(
            "the changed transfer does not come to an end within ten times its duration".to_owned(),
        ));
    }
    durations.sort_unstable_by(f64::total_cmp);
    let duration_s = durations[durations.len() / 2];
    // The path's own chance makes the interval wide; only models that disagree make an answer impossible.
    let (mut least, mut most) = ((duration_s, None), (duration_s, None));
    for (model, outcomes) in open.iter().zip(outcomes[own..].chunks(each as usize)) {
        let mut others: Vec<f64> = outcomes.iter().filter_map(done).map(|s| s * scale).collect();
        others.sort_unstable_by(f64::total_cmp);
        let Some(&middle) = others.get(others.len() / 2) else {
            continue;
        };
        if middle < least.0 {
            least = (middle, Some(model));
        }
        if middle > most.0 {
            most = (middle, Some(model));
        }
    }
    let vague = if drawn { VAGUE_BY_CHANCE } else { VAGUE };
    if most.0 > least.0 * vague {
        let further = if duration_s / least.0 > most.0 / duration_s {
            least
        } else {
            most
        };
        let which = further.1.and_then(|model| differs(&fit.model, model));
        return Ok(refused(format!(
            "it depends on what the capture does not tell ({}): {:.1} to {:.1} s",
            which.as_deref().unwrap_or("its losses"),
            least.0,
            most.0
        )));
    }
    let low = quantile(&durations, 0.05).min(least.0) * (1.0 - DOUBT);
    let high = quantile(&durations, 0.95).max(most.0) * (1.0 + DOUBT);
    Ok(Answer {
        change: words.join(", "),
        before_s,
        duration_s: Some(duration_s),
        low90_s: Some(low),
        high90_s: Some(high),
        next_limit: next_limit(&outcomes[..own]),
        identifiable: true,
        reason: None,
    })
}

/// The fit, with another congestion control that fits as well where the best model has already the one that is asked for.
fn with_another_control(fit: &Fit, changes: &[Intervention]) -> Fit {
    let mut fit = fit.clone();
    let asked = changes.iter().any(
        |change| matches!(change, Intervention::SetCongestionControl { name, .. } if *name == fit.model.congestion),
    );
    let mut others = fit
        .congestion
        .fits
        .iter()
        .filter(|name| **name != fit.model.congestion);
    if let Some(other) = others.next().filter(|_| asked) {
        fit.model.congestion = other;
    }
    fit
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

/// Models that fit about as well: each parameter at both ends of its interval, the other shapes, the other controls.
fn alternatives(fit: &Fit, changes: &[Intervention]) -> Vec<Model> {
    let mut out = Vec::new();
    for interval in &fit.parameters {
        let far = |end: Option<f64>, factor: f64| end.unwrap_or(interval.value * factor);
        for value in [far(interval.low, 0.25), far(interval.high, 4.0)] {
            out.extend(interval.parameter.with(&fit.model, value));
        }
    }
    if let Loss::Packets(packets) = &fit.model.loss {
        // As many losses as there were may come of a smaller and of a greater chance: 1.64 deviations of a count.
        let count = model::events(packets) as f64;
        let deviation = 1.64 / count.max(1.0).sqrt();
        let by_chance = fit.model.by_chance();
        for factor in [(1.0 - deviation).max(0.2), 1.0 + deviation] {
            out.extend(Parameter::Loss.scaled(&by_chance, factor));
        }
    }
    out.extend(fit.others.iter().cloned());
    let sets_control = |change: &Intervention| matches!(change, Intervention::SetCongestionControl { .. });
    if !changes.iter().any(sets_control) {
        let others = fit
            .congestion
            .fits
            .iter()
            .filter(|name| **name != fit.model.congestion);
        out.extend(others.map(|congestion| Model {
            congestion,
            ..fit.model.clone()
        }));
    }
    out.into_iter().map(|model| model.by_chance()).collect()
}

/// In what a model differs from another, in words.
fn differs(from: &Model, model: &Model) -> Option<String> {
    if from.shape != model.shape {
        return Some(format!(
            "whether it is {} or {}",
            from.shape.words(),
            model.shape.words()
        ));
    }
    if from.congestion != model.congestion {
        return Some("the congestion control".to_owned());
    }
    let by_chance = from.by_chance();
    Parameter::all(model)
        .into_iter()
        .find(|parameter| parameter.of(&by_chance) != parameter.of(model))
        .map(|parameter| format!("the {}", parameter.words()))
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * share;
    sorted[place.round() as usize]
}

/// Seeds of a path that draws its losses.
const SEEDS: u64 = 11;
/// Seeds of one that does not.
const STEADY_SEEDS: u64 = 3;
/// Seeds of each other model of one that does.
const OTHER_SEEDS: u64 = 5;
/// Runs whose limit is asked for.
const JUDGED: u64 = 1;
/// What a model of a kernel is off by at most, beside everything else.
const DOUBT: f64 = 0.04;
/// The longest duration of a model that fits over the shortest from which nothing is said.
const VAGUE: f64 = 2.5;
/// The same where each is the middle of a few runs with random losses, which itself is not certain.
const VAGUE_BY_CHANCE: f64 = 3.0;

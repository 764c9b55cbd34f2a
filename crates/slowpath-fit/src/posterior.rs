//! Models that explain a transfer about as well as the best one, drawn over everything that the capture leaves open.
//!
//! An interval of one number says how far that number alone may move. What a change gives often depends on several that the
//! capture leaves open together, so models are drawn with all of them moved at once, and those that do not explain the capture
//! are thrown away again.

use serde::Serialize;

use crate::model::{Model, Parameter};
use crate::search::{Candidate, Search};
use crate::start::Refused;

/// A number with those that fit about as well.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interval {
    /// Which.
    pub parameter: Parameter,
    /// Unit of its values.
    pub unit: &'static str,
    /// That of the best model.
    pub value: f64,
    /// The smallest that fits; `None` where any smaller one does.
    pub low: Option<f64>,
    /// The largest that fits; `None` where any larger one does.
    pub high: Option<f64>,
    /// Whether the capture tells it: both ends are known and near.
    pub identifiable: bool,
}

/// A model that explains the transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The model.
    pub model: Model,
    /// How long its replay of the transfer takes, seconds.
    pub duration_s: f64,
    /// Whether it stands at an end of what fits, not among it.
    pub at_an_end: bool,
}

impl Member {
    /// A model at an end of what fits.
    pub fn at_an_end(candidate: &Candidate) -> Self {
        Self {
            at_an_end: true,
            ..Self::from(candidate)
        }
    }
}

impl From<&Candidate> for Member {
    fn from(candidate: &Candidate) -> Self {
        Self {
            model: candidate.model.clone(),
            duration_s: candidate.duration_s,
            at_an_end: false,
        }
    }
}

/// Models around each of `centres`, the best model first, that are off by at most `limit`. The centres are the first members.
///
/// # Errors
/// [`Refused::Stopped`].
pub fn members(
    search: &mut Search<'_>,
    centres: &[Candidate],
    parameters: &[Interval],
    limit: f64,
) -> Result<Vec<Member>, Refused> {
    let mut out: Vec<Member> = centres.iter().map(Member::from).collect();
    let open: Vec<Moved> = parameters.iter().filter_map(Moved::of).collect();
    if open.is_empty() {
        return Ok(out);
    }
    for (place, centre) in centres.iter().enumerate() {
        let draws = if place == 0 { DRAWS } else { DRAWS_OF_OTHERS };
        let models: Vec<Model> = (0..draws)
            .map(|draw| drawn(&centre.model, &open, place * DRAWS + draw))
            .collect();
        search.allow(models.len());
        let fitting = search.tried(models)?.into_iter();
        out.extend(
            fitting
                .filter(|one| one.total() <= limit.max(centre.total()))
                .map(|one| Member::from(&one)),
        );
    }
    Ok(out)
}

/// A parameter and how far it may move, as factors below and above 1.
struct Moved {
    parameter: Parameter,
    down: f64,
    up: f64,
}

impl Moved {
    fn of(interval: &Interval) -> Option<Self> {
        let value = interval.value;
        if value <= 0.0 {
            return None;
        }
        let low = interval.low.unwrap_or(value / OPEN).max(value / OPEN);
        let high = interval.high.unwrap_or(value * OPEN).min(value * OPEN);
        (low < high).then(|| Self {
            parameter: interval.parameter,
            down: (low / value).min(1.0),
            up: (high / value).max(1.0),
        })
    }

    /// The factor at a share of the way from its least to its most, evenly on a logarithmic scale; `reach` shortens both ways.
    fn at(&self, share: f64, reach: f64) -> f64 {
        let (down, up) = (self.down.ln() * reach, self.up.ln() * reach);
        (down + (up - down) * share).exp()
    }
}

/// The centre with every open parameter moved. Every second draw stays near the centre: of wide boxes around several
/// parameters that hang together little explains the capture.
fn drawn(centre: &Model, open: &[Moved], number: usize) -> Model {
    let reach = if number.is_multiple_of(2) { 1.0 } else { 0.5 };
    let mut model = centre.clone();
    for (moved, base) in open.iter().zip(BASES) {
        let factor = moved.at(radical_inverse(number + 1, base), reach);
        if let Some(next) = moved.parameter.scaled(&model, factor) {
            model = next;
        }
    }
    model
}

/// The digits of a number behind the point, the last one first: evenly spread numbers between 0 and 1 (Halton 1960).
pub fn radical_inverse(mut number: usize, base: usize) -> f64 {
    let (mut value, mut unit) = (0.0, 1.0 / base as f64);
    while number > 0 {
        value += (number % base) as f64 * unit;
        number /= base;
        unit /= base as f64;
    }
    value
}

/// By what an expected count of `counted` random events is multiplied at a share of what is plausible: the gamma distribution
/// that Jeffreys' prior gives, by the approximation of Wilson and Hilferty (1931).
pub fn plausible_rate(counted: f64, share: f64) -> f64 {
    let shape = counted + 0.5;
    let ninth = 1.0 / (9.0 * shape);
    let root = 1.0 - ninth + normal(share) * ninth.sqrt();
    (shape * root.max(0.05).powi(3) / counted.max(0.5)).max(0.02)
}

/// The value below which a normal variable is with that chance: Tukey's lambda of 0.1349, off by less than 0.01 inside 0.5 to
/// 99.5 %.
fn normal(share: f64) -> f64 {
    const LAMBDA: f64 = 0.1349;
    let share = share.clamp(0.002, 0.998);
    (share.powf(LAMBDA) - (1.0 - share).powf(LAMBDA)) / 0.1975
}

/// Draws around the best model.
const DRAWS: usize = 48;
/// Draws around each other.
const DRAWS_OF_OTHERS: usize = 16;
/// How far a value whose end the capture does not show may be from the best, as a factor.
const OPEN: f64 = 10.0;
/// Bases of the sequences of the parameters, one each.
const BASES: [usize; 13] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_evenly() {
        let values: Vec<f64> = (1..=64).map(|number| radical_inverse(number, 3)).collect();
        let below = values.iter().filter(|value| **value < 0.25).count();
        assert!((14..=18).contains(&below), "{below}");
        assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
    }

    #[test]
    fn few_events_leave_much_open() {
        // 5 % and 95 % of a gamma distribution with shape 5.5 and of one with shape 100.5, over 5 and 100.
        let range = |counted| (plausible_rate(counted, 0.05), plausible_rate(counted, 0.95));
        let (low, high) = range(5.0);
        assert!(
            (low - 0.457).abs() < 0.02 && (high - 1.968).abs() < 0.03,
            "{low} {high}"
        );
        let (low, high) = range(100.0);
        assert!(
            (low - 0.846).abs() < 0.01 && (high - 1.174).abs() < 0.01,
            "{low} {high}"
        );
    }

    #[test]
    fn the_normal_distribution_is_met() {
        for (share, value) in [(0.05, -1.645), (0.5, 0.0), (0.84, 0.9945), (0.975, 1.96)] {
            assert!((normal(share) - value).abs() < 0.01, "{share}: {}", normal(share));
        }
    }
}

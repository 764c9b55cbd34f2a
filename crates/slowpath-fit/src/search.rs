//! The search: from starting models to those that agree with the capture.

use slowpath_verdict::Limit;

use crate::compare::{Difference, Target};
use crate::model::{Loss, Model, Parameter, Shape};
use crate::start::Refused;
use crate::trial::{Simulator, Trial};

/// A model and how far it differs from the capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The model.
    pub model: Model,
    /// How far it is off.
    pub difference: Difference,
    /// Its transfer's duration, seconds.
    pub duration_s: f64,
}

impl Candidate {
    /// How far it is off in all.
    pub fn total(&self) -> f64 {
        self.difference.total()
    }

    /// By what it is ranked among models of other shapes, where the verdict says `limit`: what speaks against a shape beside the
    /// curves counts as well. A model that replays the very losses of the capture explains them with as many numbers as
    /// there are losses, and is to be better by that, unless the verdict says that they are random.
    pub fn rank(&self, limit: Limit) -> f64 {
        let listed = match &self.model.loss {
            Loss::Packets(packets) => {
                let expected = limit == Limit::RandomLoss;
                LISTED_EACH * packets.len() as f64 + if expected { 0.0 } else { LISTED }
            }
            _ => 0.0,
        };
        let contradicts = match limit {
            Limit::RandomLoss => self.model.shape != Shape::LinkAndLoss,
            Limit::Policed => self.model.shape != Shape::Policer,
            Limit::BottleneckBandwidth | Limit::SharedBottleneck | Limit::EcnCongestion => {
                self.model.shape == Shape::Policer
            }
            Limit::ReceiverWindow
            | Limit::ReceiverApplication
            | Limit::SendBuffer
            | Limit::SenderApplication => self.model.shape != Shape::End,
            _ => false,
        };
        self.total() + listed + if contradicts { CONTRADICTS } else { 0.0 }
    }
}

/// A search over models of one transfer, with a bound on its simulations.
pub struct Search<'a> {
    target: &'a Target,
    simulator: &'a dyn Simulator,
    at_sender: bool,
    left: usize,
    done: usize,
    held: Option<Parameter>,
}

impl<'a> Search<'a> {
    /// A search that simulates at most `most` times.
    pub const fn new(target: &'a Target, simulator: &'a dyn Simulator, at_sender: bool, most: usize) -> Self {
        Self {
            target,
            simulator,
            at_sender,
            left: most,
            done: 0,
            held: None,
        }
    }

    /// What is to be explained.
    pub const fn target(&self) -> &'a Target {
        self.target
    }

    /// Simulations so far.
    pub const fn done(&self) -> usize {
        self.done
    }

    /// Simulations that are left.
    pub const fn left(&self) -> usize {
        self.left
    }

    /// Allows so many simulations more.
    pub const fn allow(&mut self, more: usize) {
        self.left += more;
    }

    /// Tries models, as many as the bound allows; those that cannot be simulated are left out.
    ///
    /// # Errors
    /// [`Refused::Stopped`].
    pub fn tried(&mut self, mut models: Vec<Model>) -> Result<Vec<Candidate>, Refused> {
        models.truncate(self.left);
        self.left -= models.len();
        self.done += models.len();
        let trials: Vec<Trial> = models
            .into_iter()
            .map(|model| Trial::of(model, self.at_sender))
            .collect();
        let outcomes = self.simulator.simulate(&trials).ok_or(Refused::Stopped)?;
        Ok(trials
            .into_iter()
            .zip(outcomes)
            .filter_map(|(trial, outcome)| {
                let seen = outcome?.seen;
                Some(Candidate {
                    difference: self.target.difference(&seen),
                    duration_s: seen.duration_s,
                    model: trial.model,
                })
            })
            .collect())
    }

    /// Improves a candidate: each parameter up and down by the step, then all that helped together, until nothing does;
    /// then by the next step.
    ///
    /// # Errors
    /// [`Refused::Stopped`].
    pub fn improved(&mut self, start: Candidate, steps: &[f64], moves: usize) -> Result<Candidate, Refused> {
        let mut best = start;
        for &step in steps {
            for _ in 0..moves {
                if self.left == 0 || best.total() < GOOD {
                    return Ok(best);
                }
                let next = self.around(&best, step)?;
                let Some(next) = next.filter(|next| next.total() < best.total() * WORTH) else {
                    break;
                };
                best = next;
            }
        }
        Ok(best)
    }

    /// Moves all parameters but `held` until the candidate is off by no more than `limit`, or a few moves did not help.
    ///
    /// # Errors
    /// [`Refused::Stopped`].
    pub fn towards(&mut self, start: Candidate, limit: f64, held: Parameter) -> Result<Candidate, Refused> {
        let mut best = start;
        let left = std::mem::replace(&mut self.left, TOWARDS);
        self.held = Some(held);
        for step in [1.1, 1.1, 1.04, 1.04] {
            if best.total() <= limit {
                break;
            }
            match self.around(&best, step) {
                Ok(Some(next)) if next.total() < best.total() => best = next,
                Ok(_) => {}
                Err(stopped) => {
                    self.held = None;
                    return Err(stopped);
                }
            }
        }
        self.held = None;
        self.left = left;
        Ok(best)
    }

    /// Whether the curves can tell a parameter; others stay as the capture has them.
    pub fn is_searched(&self, parameter: Parameter, model: &Model) -> bool {
        match parameter {
            held if self.held == Some(held) => false,
            // Counted and read, not fitted.
            Parameter::InitialWindow => false,
            // What a slow reader's buffer takes beyond the largest window that it showed decides when the last byte is in.
            Parameter::Window => model.reader.is_some(),
            // Beside the receiver nothing that is compared shows the round trip.
            Parameter::RoundTrip => self.at_sender,
            _ => true,
        }
    }

    /// The best candidate one step away.
    fn around(&mut self, best: &Candidate, step: f64) -> Result<Option<Candidate>, Refused> {
        let mut moves: Vec<(Parameter, f64)> = Vec::new();
        let mut models = Vec::new();
        for parameter in Parameter::all(&best.model) {
            // The capture measures these well: they are only polished.
            let measured = matches!(
                parameter,
                Parameter::RoundTrip | Parameter::Pause | Parameter::Window
            ) && step > POLISH;
            if measured || !self.is_searched(parameter, &best.model) {
                continue;
            }
            for factor in [step, 1.0 / step] {
                if let Some(model) = parameter.scaled(&best.model, factor) {
                    moves.push((parameter, factor));
                    models.push(model);
                }
            }
        }
        if let Some(model) = one_plan(&best.model, step).filter(|_| self.held.is_none()) {
            models.push(model);
        }
        let found = self.tried(models)?;
        let mut helped: Vec<&Candidate> = found.iter().filter(|one| one.total() < best.total()).collect();
        helped.sort_by(|a, b| a.total().total_cmp(&b.total()));
        let mut together = best.model.clone();
        let mut changed = 0;
        for (parameter, factor) in &moves {
            let alone = parameter.scaled(&best.model, *factor);
            if helped.iter().any(|one| Some(&one.model) == alone.as_ref())
                && let Some(model) = parameter.scaled(&together, *factor)
            {
                together = model;
                changed += 1;
            }
        }
        let first = helped.first().map(|one| (*one).clone());
        if changed < 2 {
            return Ok(first);
        }
        let joint = self.tried(vec![together])?.pop();
        Ok([first, joint]
            .into_iter()
            .flatten()
            .min_by(|a, b| a.total().total_cmp(&b.total())))
    }
}

/// Rate and queue moved together, so that the queue's time stays: the two are nearly one for the curves.
fn one_plan(model: &Model, step: f64) -> Option<Model> {
    let model = Parameter::Rate.scaled(model, step)?;
    Parameter::Queue.scaled(&model, step)
}

/// Simulations that bring back one model at most.
const TOWARDS: usize = 48;
/// The largest step of what the capture measures itself.
const POLISH: f64 = 1.12;
/// By how much a shape must be better that the verdict speaks against.
const CONTRADICTS: f64 = 3.0;
/// By how much a model that replays losses must be better than one that makes them.
const LISTED: f64 = 3.0;
/// The same for each loss.
const LISTED_EACH: f64 = 0.04;
/// A difference that no search betters.
const GOOD: f64 = 0.02;
/// What a move must leave of the difference to be worth it.
const WORTH: f64 = 0.995;

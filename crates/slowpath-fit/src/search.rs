//! The search: from starting models to those that agree with the capture.

use slowpath_verdict::{Connection, Limit};

use crate::booked::{self, Measured};
use crate::compare::{Difference, Target};
use crate::model::{Loss, Model, Parameter, Window};
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

    /// How far its curves alone are off, whatever the ledger measures.
    pub fn curves(&self) -> f64 {
        self.difference.total() - self.difference.measured
    }

    /// By what it is ranked among models of other shapes, where verdict and ledger say what `expected` has: what speaks against a
    /// shape beside the curves counts as well. A model that replays the very losses of the capture explains them with as many
    /// numbers as there are losses, and is to be better by that, unless they are said to be random.
    pub fn rank(&self, expected: Expected) -> f64 {
        let model = &self.model;
        let listed = match &model.loss {
            Loss::Packets(packets) => {
                LISTED_EACH * packets.len() as f64 + if expected.losses { 0.0 } else { LISTED }
            }
            _ => 0.0,
        };
        let in_parts = model.given.parts.is_some();
        let contradicts = match expected.limit {
            Limit::RandomLoss => model.loss == Loss::None,
            Limit::Policed => model.policer.is_none(),
            Limit::BottleneckBandwidth | Limit::SharedBottleneck | Limit::EcnCongestion => {
                model.policer.is_some() && !expected.policer
            }
            Limit::ReceiverWindow => model.reader.is_none() && !matches!(model.window, Window::Fixed(_)),
            Limit::ReceiverApplication => model.reader.is_none() && !in_parts,
            Limit::SendBuffer => model.send_buffer.is_none() && !in_parts,
            Limit::SenderApplication => model.writer.is_none() && !in_parts,
            _ => false,
        };
        let ends = [
            (expected.reader, model.reader.is_some()),
            (expected.buffer, model.send_buffer.is_some()),
            (expected.writer, model.writer.is_some() || in_parts),
        ];
        let missing = ends.iter().filter(|(expected, is)| *expected && !is).count();
        self.total() + listed + CONTRADICTS * (missing as f64 + f64::from(u8::from(contradicts)))
    }
}

/// What verdict and ledger of a capture say that a model is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// What limits the transfer.
    pub limit: Limit,
    /// Whether some of its losses are random.
    pub losses: bool,
    /// Whether a policer dropped some.
    pub policer: bool,
    /// Whether a program that reads, a send buffer and a program that writes would hold it where nothing else does.
    pub reader: bool,
    /// A send buffer.
    pub buffer: bool,
    /// A program that writes.
    pub writer: bool,
}

impl Expected {
    /// Of this connection.
    pub fn of(connection: &Connection) -> Self {
        let says = |cause: Limit| connection.verdict.limit == cause || booked::books(connection, cause);
        Self {
            limit: connection.verdict.limit,
            losses: says(Limit::RandomLoss),
            policer: says(Limit::Policed),
            reader: booked::ceiling(connection, Limit::ReceiverApplication).is_some(),
            buffer: booked::ceiling(connection, Limit::SendBuffer).is_some(),
            writer: booked::ceiling(connection, Limit::SenderApplication).is_some(),
        }
    }
}

/// A search over models of one transfer, with a bound on its simulations.
pub struct Search<'a> {
    target: &'a Target,
    simulator: &'a dyn Simulator,
    at_sender: bool,
    /// What the ledger measures.
    measured: Vec<Measured>,
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
            measured: Vec::new(),
            left: most,
            done: 0,
            held: None,
        }
    }

    /// The same where the ledger measures some of the numbers.
    #[must_use]
    pub fn with_measured(mut self, measured: Vec<Measured>) -> Self {
        self.measured = measured;
        self
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
                    difference: Difference {
                        measured: self.measured.iter().map(|one| one.off(&trial.model)).sum(),
                        ..self.target.difference(&seen)
                    },
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
const CONTRADICTS: f64 = 12.0;
/// By how much a model that replays losses must be better than one that makes them.
const LISTED: f64 = 3.0;
/// The same for each loss.
const LISTED_EACH: f64 = 0.04;
/// A difference that no search betters.
const GOOD: f64 = 0.02;
/// What a move must leave of the difference to be worth it.
const WORTH: f64 = 0.995;

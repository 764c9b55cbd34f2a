//! One simulation of a model, with or without a change.

use slowpath_facts::Analyzer;
use slowpath_record::packets::{CaptureSummary, Conversations};
use slowpath_scenario::device::Fragments;
use slowpath_scenario::intervention::ApplyError;
use slowpath_scenario::plan::PlanError;
use slowpath_scenario::{Clock, Diagnostics, Experiment, Intervention, Plan, PlanOptions};
use slowpath_sim::programs::NotModelled;
use slowpath_sim::{Point, Sighting, SimError, Simulation, Sink, planned, sink};
use slowpath_verdict::{Analysis, Limit};

use crate::model::Model;
use crate::seen::{Seen, Watch};

/// One simulation that is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The model.
    pub model: Model,
    /// Changes to it, in order.
    pub changes: Vec<Intervention>,
    /// Seed of its dice.
    pub seed: u64,
    /// Whether it is watched beside the sender; else beside the receiver.
    pub at_sender: bool,
    /// Whether the limit of the transfer is asked for as well, which costs more than the simulation.
    pub with_limit: bool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What was seen at the tap.
    pub seen: Seen,
    /// What limited it, where that was asked for and could be told.
    pub limit: Option<Limit>,
}

/// Why a simulation is not possible.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The model's experiment file has mistakes: a mistake in this program.
    #[error("the fitted experiment cannot be read: {0}")]
    Document(Box<Diagnostics>),
    /// It cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The change does not fit.
    #[error(transparent)]
    Change(#[from] ApplyError),
    /// The simulator lacks it.
    #[error(transparent)]
    NotModelled(#[from] NotModelled),
    /// The simulation cannot begin.
    #[error(transparent)]
    Sim(#[from] SimError),
}

impl Trial {
    /// The model alone with the first seed.
    pub const fn of(model: Model, at_sender: bool) -> Self {
        Self {
            model,
            changes: Vec::new(),
            seed: 1,
            at_sender,
            with_limit: false,
        }
    }

    /// The same with those of its changes that find something to change in this model: where another model of the same transfer
    /// has no policer, none can be removed, and it stays as it is.
    #[must_use]
    pub fn with_what_applies(mut self) -> Self {
        let all = std::mem::take(&mut self.changes);
        for change in all {
            self.changes.push(change);
            if matches!(self.plan(), Err(TrialError::Change(_))) {
                self.changes.pop();
            }
        }
        self
    }

    /// The plan of the run.
    ///
    /// # Errors
    /// [`TrialError`].
    pub fn plan(&self) -> Result<Plan, TrialError> {
        let loses = |change: &Intervention| matches!(change, Intervention::SetLoss { .. });
        let document = if self.changes.iter().any(loses) {
            self.model.with_place_for_loss().document()
        } else {
            self.model.document()
        };
        let experiment = Experiment::read("fit", &document, &[])
            .map_err(|mistakes| TrialError::Document(Box::new(mistakes)))?;
        let variant = experiment.variants.first().map_or("default", |first| &first.name);
        let options = PlanOptions::first(variant, self.seed, Clock::Simulated);
        let mut plan = experiment.plan(&options, &Fragments::new())?;
        for change in &self.changes {
            plan = change.apply(&plan)?;
        }
        Ok(plan)
    }

    /// Simulates it.
    ///
    /// # Errors
    /// [`TrialError`].
    pub fn run(&self) -> Result<Outcome, TrialError> {
        let plan = self.plan()?;
        let mut spec = planned::spec(&plan)?;
        spec.sample_every = None;
        let simulation = Simulation::new(&spec)?;
        let mut sink = Beside {
            watch: Watch::new(self.at_sender),
            judge: self.with_limit.then(Judge::default),
        };
        let _ = simulation.run(&mut sink);
        Ok(Outcome {
            seen: sink.watch.finish(self.model.given.bytes, self.model.round_trip),
            limit: sink.judge.and_then(Judge::limit),
        })
    }
}

/// What simulates trials: on how many threads, with what progress, and until when is the caller's.
pub trait Simulator {
    /// Simulates all, in any order, and gives the outcomes in theirs; `None` for a run that is not possible. Nothing at all
    /// once the search is to stop.
    fn simulate(&self, trials: &[Trial]) -> Option<Vec<Option<Outcome>>>;
}

/// One after the other, never stopped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Simulator for Alone {
    fn simulate(&self, trials: &[Trial]) -> Option<Vec<Option<Outcome>>> {
        Some(trials.iter().map(|trial| trial.run().ok()).collect())
    }
}

struct Beside {
    watch: Watch,
    judge: Option<Judge>,
}

/// The packets beside the sender as an analysis takes them.
#[derive(Default)]
struct Judge {
    packets: u64,
    conversations: Conversations,
    analyzer: Analyzer,
}

impl Judge {
    fn limit(self) -> Option<Limit> {
        let summary = CaptureSummary {
            format: "simulated".to_owned(),
            packets: self.packets,
            stated_resolution_ns: 1,
            ..CaptureSummary::default()
        };
        let analysis = Analysis::of(self.analyzer.finish(&self.conversations, &summary));
        analysis.verdict().map(|verdict| verdict.limit)
    }
}

impl Sink for Beside {
    const WATCHES_DROPS: bool = false;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        self.watch.seen(sighting);
        if let Some(judge) = &mut self.judge
            && matches!(sighting.point, Point::Sent(0) | Point::Received(0))
        {
            judge.packets += 1;
            let record = sink::record(sighting, judge.packets, &mut judge.conversations);
            judge.analyzer.push(&record, &judge.conversations);
        }
    }
}

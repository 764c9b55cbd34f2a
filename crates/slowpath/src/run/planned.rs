//! Which runs an experiment comes to.

use slowpath_path::{ElementKind, Rate};
use slowpath_record::{Origin, RunKind};
use slowpath_scenario::{Clock, Plan, PlanOptions};
use slowpath_sim::frames;

use super::error::RunError;
use super::options::RunOptions;
use crate::load::Loaded;
use crate::schedule::{self, Job};

/// One planned run.
#[derive(Debug, Clone)]
pub struct Planned {
    /// File name of its record: `VARIANT.REPEAT.CLOCK`.
    pub name: String,
    /// The plan.
    pub plan: Plan,
    /// The same run in simulated time, where a lab run has such a twin.
    pub twin: Option<Plan>,
    /// What it is for.
    pub kind: RunKind,
    pub(super) job: Job,
}

impl Planned {
    /// A run of `plan` whose record is called `name`.
    pub fn new(name: String, plan: Plan) -> Self {
        let job = Job {
            variant: 0,
            repeat: plan.repeat,
            rate: fastest_link(&plan),
            places: 1,
            need: 0,
            alone: false,
        };
        Self {
            name,
            plan,
            twin: None,
            kind: RunKind::Plain,
            job,
        }
    }

    /// The same run, to test a prediction.
    #[must_use]
    pub const fn as_proof(mut self) -> Self {
        self.kind = RunKind::Proof;
        self
    }

    /// The same run, with the plan by which the machine's part in its result is told.
    #[must_use]
    pub fn with_twin(mut self, twin: Option<Plan>) -> Self {
        self.twin = twin;
        self
    }

    /// The same run, beside which nothing runs, and which is not done again when the machine disturbed it.
    #[must_use]
    pub const fn once(mut self) -> Self {
        self.job.alone = true;
        self
    }

    /// The same run, which takes so many of the [places](RunOptions::places) for paths side by side.
    #[must_use]
    pub const fn taking(mut self, places: usize) -> Self {
        self.job.places = places;
        self
    }
}

/// Plans every run of an experiment, in the order in which they are to be done.
///
/// # Errors
/// [`RunError::Plan`].
pub fn plan(loaded: &Loaded, options: &RunOptions) -> Result<Vec<Planned>, RunError> {
    let chosen: Vec<&str> = if options.variants.is_empty() {
        loaded
            .experiment
            .variants
            .iter()
            .map(|variant| variant.name.as_str())
            .collect()
    } else {
        options.variants.iter().map(String::as_str).collect()
    };
    let repeats: Vec<u32> = chosen
        .iter()
        .map(|name| {
            let own = loaded
                .experiment
                .variant(name)
                .map_or(1, |variant| variant.repeats.runs);
            options.repeats.unwrap_or(if options.quick {
                own.min(QUICK_REPEATS)
            } else {
                own
            })
        })
        .collect();
    let mut planned = Vec::new();
    let clocks: Vec<Option<Clock>> = match options.clocks.as_slice() {
        [] => vec![None],
        clocks => clocks.iter().copied().map(Some).collect(),
    };
    for clock in clocks {
        for (variant, repeat) in schedule::interleave(&repeats, options.seed) {
            let clock = clock.unwrap_or_else(|| frames::suitable_clock(&loaded.experiment, chosen[variant]));
            let of = |clock| {
                let wanted = PlanOptions {
                    variant: chosen[variant].to_owned(),
                    repeat,
                    seed: options.seed,
                    clock,
                    quick: options.quick,
                    size: None,
                };
                loaded.experiment.plan(&wanted, &loaded.fragments)
            };
            let plan = of(clock)?;
            // Where there is no model of it, the table of thresholds judges.
            let twin = (clock == Clock::Lab).then(|| of(Clock::Simulated).ok()).flatten();
            planned.push(Planned {
                name: run_name(&plan),
                job: Job {
                    variant,
                    repeat,
                    rate: fastest_link(&plan),
                    places: 1,
                    need: 0,
                    alone: false,
                },
                kind: RunKind::Plain,
                plan,
                twin,
            });
        }
    }
    Ok(planned)
}

/// One more simulated run of a variant.
pub(super) fn again(
    loaded: &Loaded,
    options: &RunOptions,
    variant: &str,
    repeat: u32,
) -> Result<Planned, RunError> {
    let wanted = PlanOptions {
        repeat,
        quick: options.quick,
        ..PlanOptions::first(variant, options.seed, Clock::Simulated)
    };
    let plan = loaded.experiment.plan(&wanted, &loaded.fragments)?;
    Ok(Planned::new(run_name(&plan), plan))
}

/// The file name of a run's record.
pub fn run_name(plan: &Plan) -> String {
    format!("{}.{}.{}", plan.variant, plan.repeat, Origin::from(plan.clock))
}

/// Bits per second of the fastest link in a plan; `None` if there is no link at all.
fn fastest_link(plan: &Plan) -> Option<u64> {
    let mut fastest = None;
    for element in &plan.network.elements {
        if let ElementKind::Link(link) = &element.does {
            let rate = match &link.rate {
                Rate::Fixed(rate) | Rate::Bucket { rate, .. } => Some(rate.bits_per_s()),
                Rate::Steps(steps) => steps.iter().map(|step| step.rate.bits_per_s()).max(),
                // A trace's rate is not stated; it gets the machine for itself.
                Rate::Markov(markov) => (markov.levels.iter()).map(|level| level.rate.bits_per_s()).max(),
                Rate::Trace(_) => None,
            };
            fastest = fastest.max(Some(rate.unwrap_or(u64::MAX)));
        }
    }
    fastest
}

/// Repeats of a quick run, at most.
const QUICK_REPEATS: u32 = 1;

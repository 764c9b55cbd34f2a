//! What a sweep computes, whole: with it any machine can compute any part of it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use slowpath_report::quantity::RateUnit;
use slowpath_scenario::intervention::{ApplyError, Intervention, KEYS};
use slowpath_scenario::sweep::{self, MOST_COMBINATIONS, Span};
use slowpath_scenario::{Clock, Plan, PlanOptions, Sweep};

use super::error::Error;
use super::options::{Narrow, SweepOptions};
use crate::MODEL;
use crate::load::Loaded;
use crate::outcome;

/// The version of the form of `design.json`.
pub(super) const SCHEMA: &str = "slowpath/sweep-design/1";

/// What a sweep computes: the experiment with all its files, the ranges, and how often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`MODEL`] of the program that made it.
    pub model: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// The experiment file.
    pub text: String,
    /// What lies beside it: names and texts.
    pub files: Vec<(String, String)>,
    /// The ranges as the user wrote them.
    pub sweeps: Vec<String>,
    /// Every combination, or a sample of so many points.
    pub sample: Option<usize>,
    /// Only these variants; empty means all.
    pub variants: Vec<String>,
    /// Repeats of every point and variant, instead of the experiment's own number.
    pub repeats: Option<u32>,
    /// Repeats until a point's interval is narrow enough.
    pub narrow: Option<Narrow>,
    /// The experiment's seed.
    #[serde(with = "slowpath_record::text_number")]
    pub seed: u64,
    /// Smaller transfers where the experiment offers them.
    pub quick: bool,
    /// Whether it is found out what limits each run.
    pub explained: bool,
    /// Whether samples over time are kept.
    pub samples: bool,
}

/// A design made ready: its points and their plans.
///
/// A *unit* is one point with one variant. Units are numbered from 0, the variants of a point together, the last key of a
/// grid varying fastest.
#[derive(Debug)]
pub struct Units {
    /// The design.
    pub design: Design,
    /// The swept keys, in the order given.
    pub keys: Vec<String>,
    /// The unit in which the source publishes rates.
    pub rate_unit: RateUnit,
    combinations: Vec<Values>,
    /// Each variant with its own number of repeats.
    variants: Vec<(String, u32)>,
    /// The experiment without any value of the sweep, where values are laid over plans only.
    base: Loaded,
    in_file: bool,
}

/// Keys with the values of one point.
type Values = Vec<(String, String)>;

impl Design {
    /// Loads the experiment of `options` with all that lies beside it.
    ///
    /// # Errors
    /// [`Error`] for an experiment that cannot be loaded.
    pub fn of(options: &SweepOptions) -> Result<Self, Error> {
        let design = Self {
            schema: SCHEMA.to_owned(),
            model: MODEL,
            experiment: options.experiment.clone(),
            text: String::new(),
            files: Vec::new(),
            sweeps: options.sweeps.clone(),
            sample: options.sample,
            variants: options.variants.clone(),
            repeats: options.repeats,
            narrow: options.narrow,
            seed: options.seed,
            quick: options.quick,
            explained: options.explained,
            samples: options.samples,
        };
        let (keys, combinations) = points(&design)?;
        known_keys(&keys)?;
        let first = combinations.first().cloned().unwrap_or_default();
        let open = |values: &[(String, String)]| {
            Loaded::open_for(&options.experiment, &in_file(values), &options.variants)
        };
        let loaded = open(&first)?;
        let mut files = loaded.files;
        // Other values of a setting may name other files.
        for (place, key) in keys.iter().enumerate().filter(|(_, key)| !is_short(key)) {
            let named: BTreeSet<&str> = (combinations.iter())
                .map(|values| values[place].1.as_str())
                .filter(|value| !sweep::is_number(value))
                .collect();
            for value in named {
                let mut values = first.clone();
                values[place] = (key.clone(), value.to_owned());
                files.extend(open(&values)?.files);
            }
        }
        files.retain(|(name, _)| name != "dossier.toml");
        files.sort();
        files.dedup();
        Ok(Self {
            experiment: loaded.name,
            text: loaded.text,
            files,
            ..design
        })
    }
}

impl Units {
    /// Reads the ranges and loads the experiment.
    ///
    /// # Errors
    /// [`Error`]: of the ranges, the keys, the experiment with the first point's values, or the model's version.
    pub fn of(design: Design) -> Result<Self, Error> {
        if design.model != MODEL || design.schema != SCHEMA {
            return Err(Error::OtherModel {
                there: design.model,
                here: MODEL,
            });
        }
        let (keys, combinations) = points(&design)?;
        known_keys(&keys)?;
        let in_file = keys.iter().any(|key| !is_short(key));
        let first = combinations.first().map_or(&[][..], Vec::as_slice);
        let base = load(&design, first)?;
        base.require(&design.variants)?;
        let variants = (base.experiment.variants.iter())
            .filter(|variant| design.variants.is_empty() || design.variants.contains(&variant.name))
            .map(|variant| (variant.name.clone(), variant.repeats.runs))
            .collect();
        Ok(Self {
            keys,
            rate_unit: outcome::rate_unit(&base),
            combinations,
            variants,
            base,
            in_file,
            design,
        })
    }

    /// Number of units.
    pub fn len(&self) -> usize {
        self.combinations.len() * self.variants.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values of a unit's point, in the order of the keys.
    pub fn values(&self, unit: usize) -> Vec<String> {
        let combination = &self.combinations[unit / self.variants.len()];
        combination.iter().map(|(_, value)| value.clone()).collect()
    }

    /// The variant of a unit.
    pub fn variant(&self, unit: usize) -> &str {
        &self.variants[unit % self.variants.len()].0
    }

    /// Repeats of a unit: as many, or at most so many where its interval decides.
    pub fn repeats(&self, unit: usize) -> u32 {
        match (self.design.narrow, self.design.repeats) {
            (Some(narrow), _) => narrow.most,
            (None, Some(repeats)) => repeats,
            (None, None) => self.variants[unit % self.variants.len()].1,
        }
    }

    /// The plan of one repeat of a unit. Repeats of the same number have the same seed at every point.
    ///
    /// # Errors
    /// [`Error`] if the experiment cannot be set so.
    pub fn plan(&self, unit: usize, repeat: u32) -> Result<Plan, Error> {
        let combination = &self.combinations[unit / self.variants.len()];
        let opened;
        let loaded = if self.in_file {
            opened = load(&self.design, combination)?;
            &opened
        } else {
            &self.base
        };
        let options = PlanOptions {
            variant: self.variant(unit).to_owned(),
            repeat,
            seed: self.design.seed,
            clock: Clock::Simulated,
            quick: self.design.quick,
            size: None,
        };
        let mut plan = loaded.experiment.plan(&options, &loaded.fragments)?;
        for (key, value) in combination.iter().filter(|(key, _)| is_short(key)) {
            plan = match Intervention::spelled(key, value)?.apply(&plan) {
                Ok(changed) => changed,
                // A value that the experiment has anyway is a point like any other.
                Err(ApplyError::NoEffect { .. }) => plan,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(plan)
    }
}

/// Keys and values of every point.
fn points(design: &Design) -> Result<(Vec<String>, Vec<Values>), Error> {
    if let Some(points) = design.sample {
        let spans: Vec<Span> = (design.sweeps.iter())
            .map(|text| Span::parse(text))
            .collect::<Result<_, _>>()?;
        if points > MOST_COMBINATIONS {
            return Err(Error::TooMany { count: points });
        }
        let keys = spans.iter().map(|span| span.key.clone()).collect();
        return Ok((keys, sweep::hypercube(&spans, points, design.seed)));
    }
    let sweeps: Vec<Sweep> = (design.sweeps.iter())
        .map(|text| Sweep::parse(text))
        .collect::<Result<_, _>>()?;
    let combinations = Sweep::combinations(&sweeps).map_err(|count| Error::TooMany { count })?;
    Ok((sweeps.into_iter().map(|sweep| sweep.key).collect(), combinations))
}

/// Whether a key changes a plan, and not the experiment file.
fn is_short(key: &str) -> bool {
    KEYS.contains(&key)
}

/// The experiment of a design with the values of its file laid over.
fn load(design: &Design, values: &[(String, String)]) -> Result<Loaded, Error> {
    let texts = (
        design.experiment.as_str(),
        design.text.as_str(),
        design.files.as_slice(),
    );
    Ok(Loaded::kept(texts, &in_file(values), &design.variants)?)
}

/// The values that are laid over the experiment file.
fn in_file(values: &[(String, String)]) -> Vec<(String, String)> {
    values.iter().filter(|(key, _)| !is_short(key)).cloned().collect()
}

/// Refuses keys that are neither short nor dotted, and those that come twice.
fn known_keys(keys: &[String]) -> Result<(), Error> {
    let again = |(place, key): &(usize, &String)| keys[..*place].contains(key);
    if let Some((_, key)) = keys.iter().enumerate().find(again) {
        return Err(Error::Twice { key: key.clone() });
    }
    let stranger = keys.iter().find(|key| !key.contains('.') && !is_short(key));
    if let Some(key) = stranger {
        let meant = slowpath_scenario::diagnostic::suggestion(key, KEYS);
        return Err(Error::Key {
            key: key.clone(),
            hint: meant.map_or(String::new(), |meant| format!(" (did you mean `{meant}`?)")),
        });
    }
    Ok(())
}

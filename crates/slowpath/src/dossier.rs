//! What a reader of an experiment's results needs beside the figures: question, source, corrections, assumptions.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use slowpath_report::answers::Question;
use slowpath_report::results::{Note, Source};
use slowpath_scenario::Intervention;

/// The file `dossier.toml` beside an experiment file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dossier {
    /// The question that the experiment answers.
    #[serde(default)]
    pub question: Option<String>,
    /// The published document with which the figures are compared.
    #[serde(default)]
    pub source: Option<Source>,
    /// Notes for the reader.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Parameters of the model that were fitted, each with the figures that it was fitted to.
    #[serde(default)]
    pub fits: Vec<Fit>,
    /// Pairs of variants to be compared beside the comparisons with the first variant.
    #[serde(default)]
    pub comparisons: Vec<ComparisonWish>,
    /// The questions of the source, without answers: which variants tell, and what of them.
    #[serde(default)]
    pub questions: Vec<Question>,
    /// Changes to single variants whose outcome is predicted and tested.
    #[serde(default)]
    pub proofs: Vec<ProofWish>,
}

/// A parameter of the model that was fitted to figures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The parameter, such as `receive buffer of the routers`.
    pub parameter: String,
    /// Its value, with its unit.
    pub value: String,
    /// The figures that it was fitted to, each as `VARIANT/FIGURE`.
    pub to: Vec<String>,
}

impl Fit {
    /// Whether the parameter was fitted to that figure of that variant.
    pub fn has_seen(&self, variant: &str, figure: &str) -> bool {
        let figures = || self.to.iter().filter_map(|place| place.split_once('/'));
        figures().any(|(of, id)| of == variant && id == figure)
    }
}

/// Two variants to be compared with each other.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonWish {
    /// The variant compared with.
    pub a: String,
    /// The variant that is compared.
    pub b: String,
    /// The ratio of goodputs, b over a, that follows from the source's figures.
    #[serde(default)]
    pub ratio: Option<RatioFigure>,
}

/// The ratio of two variants' goodputs, from the source's figures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatioFigure {
    /// The ratio, as a decimal number.
    pub value: String,
    /// How far the measured ratio may be off, either way; without it the ratio is shown and not checked.
    #[serde(default)]
    pub tolerance: Option<slowpath_units::Ratio>,
    /// Whether both goodputs were predicted, or one of them was fitted.
    pub standing: FigureStanding,
    /// The published figures that it is the quotient of.
    pub formula: String,
    /// Why it is not met, where that is declared.
    #[serde(default)]
    pub missed: Option<String>,
}

/// How a figure relates to the model, as a dossier says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureStanding {
    /// No parameter was fitted to it or to anything that it follows from.
    Predicted,
    /// A parameter was.
    Fitted,
}

/// A change whose outcome is to be predicted and tested by a re-run: the variant, and the change under a key of its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>")]
pub struct ProofWish {
    /// The variant to change.
    pub variant: String,
    /// The change, spelled as in a sweep.
    pub change: Intervention,
}

impl TryFrom<BTreeMap<String, String>> for ProofWish {
    type Error = String;

    fn try_from(mut entries: BTreeMap<String, String>) -> Result<Self, String> {
        let variant = entries
            .remove("variant")
            .ok_or("a proof needs the `variant` that it changes")?;
        let mut changes = entries.iter();
        let (Some((key, value)), None) = (changes.next(), changes.next()) else {
            return Err(format!(
                "a proof of {variant} needs one change, such as window = \"2 MB\""
            ));
        };
        let change = Intervention::spelled(key, value).map_err(|error| error.to_string())?;
        Ok(Self { variant, change })
    }
}

impl Dossier {
    /// The parameters that were fitted to a figure, each with its value.
    pub fn fitted_to(&self, variant: &str, figure: &str) -> Vec<String> {
        let seen = self.fits.iter().filter(|fit| fit.has_seen(variant, figure));
        seen.map(|fit| format!("{} {}", fit.parameter, fit.value))
            .collect()
    }

    /// How many parameters and how many figures hang together with that figure: a parameter hangs together with each
    /// figure that it has seen, and so on. `None` where no parameter has seen it.
    ///
    /// As many parameters as figures can be fitted to any figures: that explains nothing.
    pub fn fitted_together(&self, variant: &str, figure: &str) -> Option<(usize, usize)> {
        let mut figures = BTreeSet::from([format!("{variant}/{figure}")]);
        let mut parameters = 0;
        loop {
            let own: Vec<&Fit> = self
                .fits
                .iter()
                .filter(|fit| fit.to.iter().any(|place| figures.contains(place)))
                .collect();
            if own.len() == parameters {
                break;
            }
            parameters = own.len();
            figures.extend(own.iter().flat_map(|fit| fit.to.iter().cloned()));
        }
        (parameters > 0).then_some((parameters, figures.len()))
    }

    /// Reads a dossier.
    ///
    /// # Errors
    /// What is wrong with the text, with its place.
    pub fn read(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use slowpath_diagnose::change;

    use super::*;

    #[test]
    fn a_dossier_holds_no_answers() {
        for line in ["answer = \"because\"", "[answers]\nlinux = \"because\""] {
            assert!(Dossier::read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn fits_name_the_figures_that_they_have_seen() {
        let text = "[[fits]]\nparameter = \"buffer\"\nvalue = \"16 KiB\"\nto = [\"a/goodput\", \"b/frequent-window\"]\n";
        let dossier = Dossier::read(text).expect("a dossier");
        assert_eq!(dossier.fitted_to("a", "goodput"), ["buffer 16 KiB"]);
        assert_eq!(dossier.fitted_to("b", "goodput"), [] as [&str; 0]);
        assert_eq!(dossier.fitted_together("a", "goodput"), Some((1, 2)));
        assert_eq!(dossier.fitted_together("b", "goodput"), None);
    }

    #[test]
    fn parameters_that_share_figures_are_counted_together() {
        let fit =
            |name: &str, to: &str| format!("[[fits]]\nparameter = \"{name}\"\nvalue = \"1\"\nto = [{to}]\n");
        let text = fit("rate", "\"a/x\", \"b/x\"") + &fit("queue", "\"b/x\"") + &fit("delay", "\"c/x\"");
        let dossier = Dossier::read(&text).expect("a dossier");
        assert_eq!(dossier.fitted_together("a", "x"), Some((2, 2)));
        assert_eq!(dossier.fitted_together("c", "x"), Some((1, 1)));
    }

    #[test]
    fn proofs_name_their_change() {
        for (line, change) in [
            ("window = \"65535 B\"", Some(change::window(65_535))),
            ("marks = \"ipqos-none\"", Some(change::ssh_without_mark())),
            ("marks = \"rewritten\"", Some(change::marks_rewritten())),
            ("bottleneck = \"200 %\"", Some(change::bottleneck(200))),
            ("marks = \"none\"", None),
            ("window = \"65535 B\"\nmarks = \"rewritten\"", None),
            ("", None),
        ] {
            let read = Dossier::read(&format!("[[proofs]]\nvariant = \"v\"\n{line}\n"));
            let found = read.ok().map(|dossier| dossier.proofs[0].change.clone());
            assert_eq!(found, change, "{line}");
        }
    }

    #[test]
    fn questions_and_proofs_name_variants_that_exist() {
        for builtin in crate::catalog::BUILTINS {
            let loaded =
                crate::load::Loaded::open(builtin.name, &[]).unwrap_or_else(|error| panic!("{error}"));
            let dossier = &loaded.dossier;
            assert!(!dossier.questions.is_empty(), "{}", builtin.name);
            let mut names: Vec<&String> = dossier.proofs.iter().map(|wish| &wish.variant).collect();
            for question in &dossier.questions {
                names.extend(
                    question
                        .time
                        .iter()
                        .chain(&question.limit)
                        .chain(&question.layers),
                );
                names.extend(question.gain.iter().chain(&question.flows).flatten());
                names.extend(
                    question
                        .modes
                        .iter()
                        .flat_map(|mode| &mode.rows)
                        .filter(|name| !name.is_empty()),
                );
                names.extend(question.range.iter().flat_map(|wish| &wish.of));
            }
            for name in names {
                assert!(
                    loaded.experiment.variant(name).is_some(),
                    "{}: {name}",
                    builtin.name
                );
            }
        }
    }

    #[test]
    fn the_range_over_all_marks_can_be_computed() {
        let loaded = crate::load::Loaded::open("scp-dscp", &[]).unwrap_or_else(|error| panic!("{error}"));
        let path = std::env::temp_dir().join(format!("slowpath-ranges-{}", std::process::id()));
        let folder = crate::folder::Folder::create(&path).expect("a folder");
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let computed = crate::ranges::compute("scp-dscp", &loaded, &[], 1, &folder, &cancel);
        let kept = crate::ranges::kept(&folder);
        std::fs::remove_dir_all(&path).expect("the folder goes");
        computed.unwrap_or_else(|error| panic!("{error}"));
        let points = &kept[0].points;
        assert_eq!((kept.len(), points.len()), (1, 64));
        let slow: Vec<&str> = points
            .iter()
            .filter(|point| point.byte_per_s[0].is_some_and(|rate| rate < 5e6))
            .map(|point| point.value.as_str())
            .collect();
        assert_eq!(slow, ["cs1"]);
    }
}

//! The labels of the built-in experiments' figures: what they are called is true.
//!
//! * What is called *published* stands in the digest of the source (`reference.toml`, outside of its `derived_*` tables);
//!   anything else names the formula by which it was derived.
//! * A dossier lists each fitted parameter with the figures it was fitted to (`[[fits]]`). A figure that stands in such a
//!   list may not be called *predicted*, one that is called *fitted* must stand in one, and a list may name only figures
//!   that exist.
//!
//! [`page`] writes all of it as `docs/validation/labels.md`.

mod place;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// Everything that is wrong with the labels below `root/experiments`, and with the page about them.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    let experiments = match read_all(root) {
        Ok(experiments) => experiments,
        Err(fault) => return vec![fault],
    };
    let mut faults: Vec<String> = experiments
        .iter()
        .flat_map(|experiment| {
            let own = experiment.faults();
            own.into_iter()
                .map(|fault| format!("experiment {}: {fault}", experiment.name))
        })
        .collect();
    if std::fs::read_to_string(root.join(PAGE)).ok() != Some(write(&experiments)) {
        faults.push(format!(
            "{PAGE} is not what `cargo run -p xtask -- labels` writes"
        ));
    }
    faults
}

/// Writes the page.
///
/// # Errors
/// What could not be read or written.
pub(crate) fn page(root: &Path) -> Result<(), String> {
    let path = root.join(PAGE);
    std::fs::write(&path, write(&read_all(root)?))
        .map_err(|error| format!("writing {} failed: {error}", path.display()))
}

/// A built-in experiment, as far as its labels go.
struct Labels {
    name: String,
    source: String,
    reference: Table,
    figures: Vec<Figure>,
    fits: Vec<Fit>,
}

/// A reference figure.
struct Figure {
    variant: String,
    id: String,
    value: String,
    standing: String,
    formula: Option<String>,
    missed: Option<String>,
}

/// A fitted parameter and the figures it has seen, as `VARIANT/FIGURE`.
struct Fit {
    parameter: String,
    to: Vec<String>,
}

impl Labels {
    fn read(place: &Path) -> Result<Self, String> {
        let read = |file: &str| -> Result<Table, String> {
            let path = place.join(file);
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("reading {} failed: {error}", path.display()))?;
            text.parse()
                .map_err(|error| format!("{} is not TOML: {error}", path.display()))
        };
        let name = place
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(Self::of(
            name,
            &read("experiment.toml")?,
            &read("dossier.toml")?,
            read("reference.toml")?,
        ))
    }

    fn of(name: String, experiment: &Table, dossier: &Table, reference: Table) -> Self {
        let mut figures: Vec<Figure> = list(experiment, "variants")
            .iter()
            .flat_map(|variant| {
                let variant_name = text(variant, "name").unwrap_or_default();
                let own = variant
                    .get("figures")
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                own.into_iter().map(move |figure| Figure {
                    variant: variant_name.clone(),
                    id: text(&figure, "id").unwrap_or_default(),
                    value: text(&figure, "value").unwrap_or_default(),
                    standing: text(&figure, "standing").unwrap_or_default(),
                    formula: text(&figure, "formula"),
                    missed: text(&figure, "missed"),
                })
            })
            .collect();
        // Ratios of two variants stand with the pair that is compared.
        figures.extend(list(dossier, "comparisons").iter().filter_map(|pair| {
            let ratio = pair.get("ratio")?;
            Some(Figure {
                variant: text(pair, "b")?,
                id: format!("goodput over that of {}", text(pair, "a")?),
                value: text(ratio, "value")?,
                standing: text(ratio, "standing")?,
                formula: text(ratio, "formula"),
                missed: text(ratio, "missed"),
            })
        }));
        let fits = list(dossier, "fits")
            .iter()
            .map(|fit| Fit {
                parameter: format!(
                    "{} {}",
                    text(fit, "parameter").unwrap_or_default(),
                    text(fit, "value").unwrap_or_default()
                ),
                to: fit
                    .get("to")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(|place| place.as_str().map(str::to_owned))
                    .collect(),
            })
            .collect();
        let source = dossier
            .get("source")
            .and_then(|source| text(source, "title"))
            .unwrap_or_default();
        Self {
            name,
            source,
            reference,
            figures,
            fits,
        }
    }

    fn fitted_to(&self, figure: &Figure) -> Vec<&str> {
        let place = figure.place();
        let seen = self.fits.iter().filter(|fit| fit.to.contains(&place));
        seen.map(|fit| fit.parameter.as_str()).collect()
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for figure in &self.figures {
            let place = figure.place();
            match (figure.standing.as_str(), self.fitted_to(figure).is_empty()) {
                ("predicted", false) => faults.push(format!(
                    "{place} is called predicted, and its dossier lists it as a basis of a fitted parameter"
                )),
                ("fitted", true) => faults.push(format!(
                    "{place} is called fitted, and no [[fits]] of its dossier names the parameter"
                )),
                _ => {}
            }
            if figure.formula.is_none()
                && place::find(&self.reference, &figure.variant, &figure.value).is_none()
            {
                faults.push(format!(
                    "{place}: {} does not stand in the source's digest; give the formula by which it is derived",
                    figure.value
                ));
            }
        }
        for place in self.fits.iter().flat_map(|fit| &fit.to) {
            if !self.figures.iter().any(|figure| figure.place() == *place) {
                faults.push(format!(
                    "a [[fits]] names {place}, which is no figure of the experiment"
                ));
            }
        }
        faults
    }
}

impl Figure {
    fn place(&self) -> String {
        format!("{}/{}", self.variant, self.id)
    }
}

fn read_all(root: &Path) -> Result<Vec<Labels>, String> {
    let folder = root.join("experiments");
    let entries = std::fs::read_dir(&folder)
        .map_err(|error| format!("listing {} failed: {error}", folder.display()))?;
    let mut places: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    places.sort();
    places.iter().map(|place| Labels::read(place)).collect()
}

fn write(experiments: &[Labels]) -> String {
    let mut out = String::from(HEAD);
    for experiment in experiments {
        let count = |standing: &str| {
            experiment
                .figures
                .iter()
                .filter(|figure| figure.standing == standing)
                .count()
        };
        let derived = experiment
            .figures
            .iter()
            .filter(|figure| figure.formula.is_some())
            .count();
        writeln!(
            out,
            "\n## {}\n\nSource: *{}*. {} figures: {} published, {derived} derived; {} fitted with {} parameters, {} predicted.\n",
            experiment.name,
            experiment.source,
            experiment.figures.len(),
            experiment.figures.len() - derived,
            count("fitted"),
            experiment.fits.len(),
            count("predicted"),
        )
        .expect("a string takes all");
        out.push_str("| variant | figure | value | label | where in the source, or formula | fitted to it, or why missed |\n|---|---|---|---|---|---|\n");
        for figure in &experiment.figures {
            let origin = figure.formula.clone().unwrap_or_else(|| {
                let place = place::find(&experiment.reference, &figure.variant, &figure.value);
                place.map_or("not found".to_owned(), |place| format!("`{place}`"))
            });
            let label = format!(
                "{}, {}{}",
                if figure.formula.is_some() {
                    "derived"
                } else {
                    "published"
                },
                figure.standing,
                if figure.missed.is_some() { ", missed" } else { "" }
            );
            let mut remarks = experiment.fitted_to(figure).join("; ");
            remarks.push_str(figure.missed.as_deref().unwrap_or_default());
            writeln!(
                out,
                "| {} | {} | {} | {label} | {origin} | {remarks} |",
                figure.variant, figure.id, figure.value
            )
            .expect("a string takes all");
        }
    }
    out
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn list<'a>(table: &'a Table, key: &str) -> &'a [Value] {
    table
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

const PAGE: &str = "docs/validation/labels.md";

const HEAD: &str = "# What each reference figure is called, and why\n\n\
    Written by `cargo run -p xtask -- labels`; `cargo run -p xtask -- check` refuses a page that differs.\n\n\
    *Published*: printed in the source, in the source's own unit; its place is the key in `experiments/NAME/reference.toml`, the\n\
    digest of the source. *Derived*: arithmetic on published figures, by the formula. *Fitted*: a parameter of the model was\n\
    fitted to it or to what it follows from, so that it proves nothing. *Predicted*: none was. *Missed*: declared, with the\n\
    reason; `--check` fails when it is met again.\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(figure: &str, to: &str) -> Labels {
        let experiment = format!(
            "[[variants]]\nname = \"linux\"\nfigures = [{{ id = \"goodput\", value = \"1 MiB/s\", {figure} }}]\n"
        );
        let dossier = format!("[[fits]]\nparameter = \"queue\"\nvalue = \"9 packets\"\nto = [{to}]\n");
        let reference = "[[rows]]\nid = \"linux\"\nrate_mib_per_s = 1\n";
        let parse = |text: &str| text.parse::<Table>().expect("TOML");
        Labels::of(
            "x".to_owned(),
            &parse(&experiment),
            &parse(&dossier),
            parse(reference),
        )
    }

    #[test]
    fn a_predicted_figure_that_was_fitted_is_refused() {
        assert_eq!(
            labels("standing = \"fitted\"", "\"linux/goodput\"").faults(),
            [] as [&str; 0]
        );
        assert_eq!(labels("standing = \"predicted\"", "").faults(), [] as [&str; 0]);
        let refused = labels("standing = \"predicted\"", "\"linux/goodput\"").faults();
        assert!(refused[0].contains("called predicted"), "{refused:?}");
    }

    #[test]
    fn a_fitted_figure_names_its_parameters() {
        assert!(labels("standing = \"fitted\"", "").faults()[0].contains("no [[fits]]"));
        assert!(labels("standing = \"predicted\"", "\"linux/window\"").faults()[0].contains("no figure"));
    }

    #[test]
    fn a_published_figure_stands_in_the_source() {
        let mut labels = labels("standing = \"predicted\"", "");
        labels.figures[0].value = "2 MiB/s".to_owned();
        assert!(labels.faults()[0].contains("does not stand in the source"));
        labels.figures[0].formula = Some("twice 1 MiB/s".to_owned());
        assert_eq!(labels.faults(), [] as [&str; 0]);
    }
}

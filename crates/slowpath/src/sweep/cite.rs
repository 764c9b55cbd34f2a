//! How to cite a sweep, in the Citation File Format (citation-file-format.github.io, version 1.2.0).

use super::design::{Design, Units};
use super::found::Swept;

/// The text of `CITATION.cff`: what computed it, and what makes the same numbers again.
pub(super) fn citation(units: &Units, swept: &Swept) -> String {
    let runs: usize = swept.points.iter().map(|point| point.runs.len()).sum();
    let abstracted = format!(
        "{} points, {runs} simulated runs of the experiment {}, model {}. Made by: {}",
        swept.points.len(),
        swept.experiment,
        swept.model,
        command(&units.design),
    );
    format!(
        "cff-version: 1.2.0\nmessage: Cite this dataset with the program that computed it.\ntype: dataset\n\
         title: {}\nauthors:\n  - name: the user of slowpath\nabstract: {}\nversion: {}\n\
         references:\n  - type: software\n    title: slowpath\n    version: {}\n    authors:\n      - name: the slowpath authors\n",
        quoted(&format!("Sweep of {} with slowpath", swept.experiment)),
        quoted(&abstracted),
        quoted(&format!("model {}", swept.model)),
        quoted(env!("CARGO_PKG_VERSION")),
    )
}

/// The command that computes the same.
fn command(design: &Design) -> String {
    let mut words = vec![format!("slowpath sweep {}", design.experiment)];
    words.extend(design.sweeps.iter().map(|sweep| format!("'{sweep}'")));
    words.extend(design.variants.iter().map(|name| format!("--variant {name}")));
    words.extend(design.sample.map(|points| format!("--sample {points}")));
    words.extend(design.repeats.map(|repeats| format!("--repeats {repeats}")));
    words.extend(
        (design.narrow)
            .map(|narrow| format!("--within '{} %' --most {}", narrow.within * 100.0, narrow.most)),
    );
    words.push(format!("--seed {}", design.seed));
    words.extend(design.quick.then(|| "--quick".to_owned()));
    words.join(" ")
}

/// A YAML scalar; JSON's strings are YAML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

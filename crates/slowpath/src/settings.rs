//! How a results folder was run.

use crate::folder::{Folder, FolderError};
use crate::load::Loaded;

/// Settings of a run that a report needs, kept in the results folder.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Name of the experiment.
    pub experiment: String,
    /// The experiment's seed.
    pub seed: u64,
    /// Whether transfers were shortened.
    pub quick: bool,
    /// Dotted keys with values that were laid over the experiment file.
    #[serde(default)]
    pub set: Vec<(String, String)>,
}

impl Settings {
    /// The settings of a run of `loaded`.
    pub fn of(loaded: &Loaded, seed: u64, quick: bool) -> Self {
        Self {
            experiment: loaded.name.clone(),
            seed,
            quick,
            set: loaded.set.clone(),
        }
    }
}

/// The file of [`Settings`].
pub const SETTINGS: &str = "settings.json";

/// What one call of `slowpath run` asked for, kept in the results folder, so that the page can say how to make it again.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Call {
    /// The experiment as it was typed: a name or a path.
    pub experiment: String,
    /// The clock, where one was asked for: `simulated`, `lab`, `both`.
    pub clock: Option<String>,
    /// The variants, where some were asked for.
    pub variants: Vec<String>,
    /// Repeats, where a number was given.
    pub repeats: Option<u32>,
    /// Whether transfers were shortened.
    pub quick: bool,
    /// Dotted keys with values that were laid over the experiment file.
    pub set: Vec<(String, String)>,
    /// The seed.
    pub seed: u64,
    /// Whether predictions were tested.
    pub prove: bool,
    /// Whether nothing was captured.
    pub no_capture: bool,
}

impl Call {
    /// The command that asks for the same.
    pub fn command(&self) -> String {
        let mut words = vec!["slowpath run".to_owned(), word(&self.experiment)];
        words.extend(self.clock.iter().map(|clock| format!("--clock {clock}")));
        let variants = self.variants.iter();
        words.extend(variants.map(|name| format!("--variant {name}")));
        words.extend(self.repeats.map(|repeats| format!("--repeats {repeats}")));
        let flags = [
            (self.quick, "--quick"),
            (self.prove, "--prove"),
            (self.no_capture, "--no-capture"),
        ];
        let given = flags.iter().filter(|(given, _)| *given);
        words.extend(given.map(|(_, flag)| (*flag).to_owned()));
        let set = self.set.iter();
        words.extend(set.map(|(key, value)| format!("--set {}", word(&format!("{key}={value}")))));
        words.push(format!("--seed {}", self.seed));
        words.join(" ")
    }

    /// Adds the call to those that a folder keeps, unless it is there already.
    ///
    /// # Errors
    /// [`FolderError`] if the folder cannot be written.
    pub fn keep(&self, folder: &Folder) -> Result<(), FolderError> {
        let mut calls = calls(folder);
        if calls.contains(self) {
            return Ok(());
        }
        calls.push(self.clone());
        let text = serde_json::to_vec_pretty(&calls).expect("calls can always be written as JSON");
        folder.write(CALLS, &text).map(drop)
    }
}

/// A word as a shell reads it: quoted where it has to be.
fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/=".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The calls that a folder keeps, in the order in which they were made; none if it keeps none.
pub fn calls(folder: &Folder) -> Vec<Call> {
    let text = std::fs::read(folder.root().join(CALLS)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// The file of [`Call`]s.
const CALLS: &str = "calls.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_made_again_with_all_its_options() {
        let plain = Call {
            experiment: "cisco-ftp".to_owned(),
            seed: 1,
            ..Call::default()
        };
        assert_eq!(plain.command(), "slowpath run cisco-ftp --seed 1");
        let all = Call {
            experiment: "my file.toml".to_owned(),
            clock: Some("simulated".to_owned()),
            variants: vec!["a".to_owned(), "b".to_owned()],
            repeats: Some(5),
            quick: true,
            set: vec![("network.up[0].rate".to_owned(), "1 Gbit/s".to_owned())],
            seed: 7,
            prove: true,
            no_capture: true,
        };
        assert_eq!(
            all.command(),
            "slowpath run 'my file.toml' --clock simulated --variant a --variant b --repeats 5 --quick --prove \
             --no-capture --set 'network.up[0].rate=1 Gbit/s' --seed 7"
        );
        let old: Call = serde_json::from_str(r#"{"experiment": "cisco-ftp", "seed": 1}"#).unwrap();
        assert_eq!(old, plain);
    }
}

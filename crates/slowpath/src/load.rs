//! From a name or a path to a checked experiment.

use std::fs;
use std::path::{Path, PathBuf};

use slowpath_path::Trace;
use slowpath_scenario::{Diagnostics, Experiment, Fragments, HostSettings, System};

use crate::catalog::{self, Builtin};
use crate::dossier::Dossier;

/// An experiment with everything that lies beside it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Its name: a built-in's, or the file's without its ending.
    pub name: String,
    /// The experiment file as written.
    pub text: String,
    /// The checked experiment.
    pub experiment: Experiment,
    /// What was read from the device configurations that it names.
    pub fragments: Fragments,
    /// Question, source and notes; empty when there is no dossier.
    pub dossier: Dossier,
    /// What lies beside the experiment file, by relative name: the dossier and device configurations.
    pub files: Vec<(String, String)>,
    /// Dotted keys with values that were laid over the file.
    pub set: Vec<(String, String)>,
}

/// Why an experiment could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No such built-in and no such file.
    #[error(
        "opening the experiment \"{name}\": there is no built-in one of that name and no such file{hint}; `slowpath list` shows the built-in ones"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What was probably meant, in brackets, or nothing.
        hint: String,
    },
    /// A folder that holds no experiment.
    #[error(
        "opening the experiment {0}: that folder holds no experiment.toml; give a file, or a folder that does"
    )]
    Folder(PathBuf),
    /// A file could not be read.
    #[error("{}", crate::input::problem(.path, .source))]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A variant that was asked for is none of the experiment's.
    #[error(
        "choosing variants: the experiment \"{experiment}\" has no variant \"{name}\"; its variants are {known}"
    )]
    Variant {
        /// The experiment.
        experiment: String,
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The experiment file has mistakes.
    #[error("{0}")]
    Mistakes(Box<Diagnostics>),
    /// The dossier has mistakes.
    #[error("reading the dossier of \"{name}\": {source}")]
    Dossier {
        /// The experiment.
        name: String,
        /// What is wrong.
        source: toml::de::Error,
    },
    /// A device on a path does not fit its configuration.
    #[error(transparent)]
    Device(#[from] slowpath_vendor::device::DeviceError),
    /// A recorded rate cannot be read.
    #[error("{file}: {source}")]
    Trace {
        /// Which file.
        file: String,
        /// What is wrong.
        source: slowpath_path::TraceError,
    },
    /// A device configuration that the experiment names is of no known system.
    #[error(
        "the configuration {file} belongs to a host of system \"{system}\", for which there is no reader"
    )]
    NoReader {
        /// Which file.
        file: String,
        /// The host's system.
        system: &'static str,
    },
}

impl Loaded {
    /// Loads a built-in experiment by name, or an experiment file by path.
    ///
    /// `overrides` are dotted keys with values, as [`Experiment::read`] takes them.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn open(what: &str, overrides: &[(String, String)]) -> Result<Self, LoadError> {
        Self::open_for(what, overrides, &[])
    }

    /// As [`Loaded::open`], where only the `chosen` variants are wanted; empty means all. Others that `overrides` do not
    /// fit are left out.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn open_for(
        what: &str,
        overrides: &[(String, String)],
        chosen: &[String],
    ) -> Result<Self, LoadError> {
        let overlaid = (overrides, chosen);
        if let Some(builtin) = catalog::builtin(what) {
            return Self::builtin(builtin, overlaid);
        }
        let path = Path::new(what);
        if !path.exists() {
            let names = catalog::BUILTINS.iter().map(|builtin| builtin.name);
            let hint = slowpath_scenario::diagnostic::suggestion(what, names)
                .map(str::to_owned)
                .or_else(|| crate::input::near(path))
                .map(|name| format!(" (did you mean {name}?)"))
                .unwrap_or_default();
            return Err(LoadError::Unknown {
                name: what.to_owned(),
                hint,
            });
        }
        let path = if path.is_dir() {
            let inside = path.join("experiment.toml");
            if !inside.exists() {
                return Err(LoadError::Folder(path.to_owned()));
            }
            inside
        } else {
            path.to_owned()
        };
        let text = read(&path)?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let name = experiment_name(&path);
        let dossier_path = folder.join("dossier.toml");
        let dossier = if dossier_path.exists() {
            read(&dossier_path)?
        } else {
            String::new()
        };
        Self::assemble(
            &name,
            &path.display().to_string(),
            &text,
            &dossier,
            overlaid,
            |file| read(&folder.join(file)),
        )
    }

    /// Refuses variants that the experiment does not have.
    ///
    /// # Errors
    /// [`LoadError::Variant`].
    pub fn require(&self, chosen: &[String]) -> Result<(), LoadError> {
        let variants = &self.experiment.variants;
        let stranger = chosen.iter().find(|name| self.experiment.variant(name).is_none());
        stranger.map_or(Ok(()), |name| {
            let known: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
            Err(LoadError::Variant {
                experiment: self.name.clone(),
                name: name.clone(),
                known: known.join(", "),
            })
        })
    }

    /// Loads an experiment from texts that were kept, those of a `Loaded`, without a dossier; otherwise as [`Loaded::open_for`].
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn kept(
        (name, text, files): (&str, &str, &[(String, String)]),
        overrides: &[(String, String)],
        chosen: &[String],
    ) -> Result<Self, LoadError> {
        Self::assemble(name, name, text, "", (overrides, chosen), |wanted| {
            let found = files.iter().find(|(name, _)| name == wanted);
            found
                .map(|(_, text)| text.clone())
                .ok_or_else(|| LoadError::Read {
                    path: PathBuf::from(wanted),
                    source: std::io::Error::new(std::io::ErrorKind::NotFound, "not kept with the experiment"),
                })
        })
    }

    /// Loads an experiment from a text that is in no file; messages call it `shown`.
    ///
    /// `base` names the built-in experiment that it was made from: the files that it names are that one's, and no other
    /// file of the machine is read.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn typed(shown: &str, text: &str, base: Option<&str>) -> Result<Self, LoadError> {
        let base = base.and_then(catalog::builtin);
        let name = base.map_or("experiment", |base| base.name);
        let dossier = base.map_or("", |base| base.dossier);
        Self::assemble(name, shown, text, dossier, (&[], &[]), |file| beside(base, file))
    }

    fn builtin(builtin: &Builtin, overlaid: Overlaid<'_>) -> Result<Self, LoadError> {
        let shown = format!("{} (built in)", builtin.name);
        Self::assemble(
            builtin.name,
            &shown,
            builtin.experiment,
            builtin.dossier,
            overlaid,
            |file| beside(Some(builtin), file),
        )
    }

    fn assemble(
        name: &str,
        shown: &str,
        text: &str,
        dossier: &str,
        (overrides, chosen): Overlaid<'_>,
        file: impl Fn(&str) -> Result<String, LoadError>,
    ) -> Result<Self, LoadError> {
        let experiment = Experiment::read_for(shown, text, overrides, chosen)
            .map_err(|mistakes| LoadError::Mistakes(Box::new(mistakes)))?;
        let dossier_text = dossier.to_owned();
        let dossier = Dossier::read(dossier).map_err(|source| LoadError::Dossier {
            name: name.to_owned(),
            source,
        })?;
        let mut fragments = Fragments::new();
        let mut files = vec![("dossier.toml".to_owned(), dossier_text)];
        for wanted in experiment.config_files() {
            let text = file(&wanted.name)?;
            fragments.insert(wanted.name.clone(), settings(&wanted.name, wanted.system, &text)?);
            files.push((wanted.name.clone(), text));
        }
        for wanted in experiment.device_uses() {
            let text = file(&wanted.file)?;
            let (elements, _) = slowpath_vendor::device::elements(wanted, text.as_bytes())?;
            fragments.insert_device(wanted.clone(), elements);
            if !files.iter().any(|(name, _)| *name == wanted.file) {
                files.push((wanted.file.clone(), text));
            }
        }
        for wanted in experiment.trace_files() {
            let text = file(wanted)?;
            fragments.insert_trace(wanted.to_owned(), trace(wanted, &text)?);
            if !files.iter().any(|(name, _)| name == wanted) {
                files.push((wanted.to_owned(), text));
            }
        }
        Ok(Self {
            name: name.to_owned(),
            text: text.to_owned(),
            experiment,
            fragments,
            dossier,
            files,
            set: overrides.to_vec(),
        })
    }
}

/// What is laid over an experiment file, and the variants that it must fit.
type Overlaid<'a> = (&'a [(String, String)], &'a [String]);

/// A file beside a built-in experiment.
fn beside(base: Option<&Builtin>, file: &str) -> Result<String, LoadError> {
    let files = base.map_or(&[][..], |base| base.files);
    let found = files.iter().find(|(name, _)| *name == file);
    found
        .map(|(_, text)| (*text).to_owned())
        .ok_or_else(|| LoadError::Read {
            path: PathBuf::from(file),
            source: std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "not part of the built-in experiment",
            ),
        })
}

/// What a device configuration sets on the host that names it.
fn settings(file: &str, system: System, text: &str) -> Result<HostSettings, LoadError> {
    crate::devices::host_settings(file, text, system).ok_or_else(|| LoadError::NoReader {
        file: file.to_owned(),
        system: system.name(),
    })
}

/// The recorded rate in a file of mahimahi's format.
pub(crate) fn trace(file: &str, text: &str) -> Result<Trace, LoadError> {
    Trace::parse(text).map_err(|source| LoadError::Trace {
        file: file.to_owned(),
        source,
    })
}

pub(crate) fn read(path: &Path) -> Result<String, LoadError> {
    fs::read_to_string(path).map_err(|source| LoadError::Read {
        path: path.to_owned(),
        source,
    })
}

/// The name of an experiment in a file: the file's own, or its folder's when the file is called `experiment.toml`.
fn experiment_name(path: &Path) -> String {
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned());
    match folder {
        Some(folder) if stem == "experiment" => folder,
        _ => stem,
    }
}

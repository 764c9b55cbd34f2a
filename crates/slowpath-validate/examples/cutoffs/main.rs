//! How near transfers come to the numbers that decide: `docs/validation/cut-offs.md`.
//!
//! `cargo run -p slowpath-validate --example cutoffs [-- --write]` judges the simulated transfers of the table of verdicts
//! from three places, and the labelled captures in the folder `SLOWPATH_CORPUS`. For each cut-off it prints the nearest
//! values on both sides. Only transfers count whose limit is known and was found: the others say nothing of where a cut-off
//! belongs. With `--write` the page and the values beside the constants in the sources are written anew.

#[path = "../../../slowpath/tests/transfers/mod.rs"]
mod transfers;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use slowpath::folder::Folder;
use slowpath::{import, simulated};
use slowpath_scenario::{Clock, Experiment, Fragments, PlanOptions};
use slowpath_verdict::cuts::{self, Compared, Cut};
use slowpath_verdict::{Analysis, Limit};

fn main() -> Result<(), Box<dyn Error>> {
    let write = std::env::args().any(|word| word == "--write");
    let mut seen = Seen::default();
    seen.simulated()?;
    match std::env::var_os("SLOWPATH_CORPUS") {
        Some(folder) => seen.labelled(Path::new(&folder))?,
        None => eprintln!("skipped: labelled captures: SLOWPATH_CORPUS names no folder with them"),
    }
    let page = seen.page();
    print!("{page}");
    if write {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        fs::write(root.join("docs/validation/cut-offs.md"), &page)?;
        for cut in cuts::all() {
            seen.note(&root, &cut)?;
        }
    }
    Ok(())
}

/// What was held against one cut-off in transfers that were judged rightly.
#[derive(Default)]
struct Sides {
    /// The nearest value below, and the transfer that it comes from.
    below: Option<(f64, Limit, String)>,
    /// The nearest at or above.
    above: Option<(f64, Limit, String)>,
    /// In the file of a limit: the value nearest to the cut-off in a transfer of that limit, and in one of another.
    own: [Option<(f64, Limit, String)>; 2],
    /// How many transfers came to lie below, and how many above.
    transfers: [usize; 2],
}

#[derive(Default)]
struct Seen {
    cuts: BTreeMap<&'static str, Sides>,
    simulated: usize,
    labelled: usize,
    /// Those that were judged otherwise than they are.
    wrong: usize,
}

impl Seen {
    /// The simulated transfers, from the sender, the middle and the receiver.
    fn simulated(&mut self) -> Result<(), Box<dyn Error>> {
        let scratch = std::env::temp_dir().join(format!("slowpath-cutoffs-{}", std::process::id()));
        for transfer in transfers::transfers() {
            let place = scratch.join(&transfer.name);
            let folder = Folder::create(&place)?;
            let experiment = Experiment::read(&transfer.name, &transfer.document, &[])
                .map_err(|errors| errors.to_string())?;
            let options = PlanOptions::first("default", 7, Clock::Simulated);
            let plan = experiment.plan(&options, &Fragments::new())?;
            let record = simulated::run("cutoffs", &plan, &transfer.name, true, &folder)?;
            for capture in &record.captures {
                let name = format!("{} at {}", transfer.name, capture.point);
                let analysis = import::analyze_file(&place.join(&capture.file))?;
                self.simulated += usize::from(self.add(&name, transfer.cause, &analysis));
            }
            fs::remove_dir_all(&place)?;
        }
        fs::remove_dir_all(&scratch)?;
        Ok(())
    }

    /// The labelled captures of a folder.
    fn labelled(&mut self, folder: &Path) -> Result<(), Box<dyn Error>> {
        let manifest: toml::Table = fs::read_to_string(folder.join("manifest.toml"))?.parse()?;
        let captures = manifest.get("capture").and_then(toml::Value::as_array);
        for entry in captures.into_iter().flatten() {
            let text =
                |of: &toml::Value, key: &str| of.get(key).and_then(toml::Value::as_str).map(str::to_owned);
            let (Some(file), Some(cause)) = (
                text(entry, "file"),
                entry.get("truth").and_then(|truth| text(truth, "cause")),
            ) else {
                continue;
            };
            let cause = if cause == "bufferbloat" {
                "bottleneck-bandwidth"
            } else {
                cause.as_str()
            };
            let truth = Limit::ALL.into_iter().find(|limit| limit.name() == cause);
            let (Some(truth), Ok(analysis)) = (truth, import::analyze_file(&folder.join(&file))) else {
                continue;
            };
            self.labelled += usize::from(self.add(&file, truth, &analysis));
        }
        Ok(())
    }

    /// Takes a capture in, if its largest connection is judged as it is.
    fn add(&mut self, name: &str, truth: Limit, analysis: &Analysis) -> bool {
        let Some(main) = analysis.main_connection() else {
            return false;
        };
        let (limit, compared) = cuts::compared(&main.facts, &main.surroundings);
        if limit != truth || truth.is_undecided() {
            self.wrong += 1;
            return false;
        }
        let mut counted: BTreeSet<(&str, bool)> = BTreeSet::new();
        for Compared { cut, value } in compared.iter().filter(|one| one.value.is_finite()) {
            let known = self.cuts.entry(cut.name).or_default();
            let above = *value >= cut.value;
            let (nearest, nearer) = if above {
                (&mut known.above, (|new, old| new < old) as fn(f64, f64) -> bool)
            } else {
                (&mut known.below, (|new, old| new > old) as fn(f64, f64) -> bool)
            };
            if nearest.as_ref().is_none_or(|(old, ..)| nearer(*value, *old)) {
                *nearest = Some((*value, truth, name.to_owned()));
            }
            let near = &mut known.own[usize::from(owner(cut.name) != Some(truth))];
            let distance = |value: f64| (value - cut.value).abs();
            if near
                .as_ref()
                .is_none_or(|(old, ..)| distance(*value) < distance(*old))
            {
                *near = Some((*value, truth, name.to_owned()));
            }
            if counted.insert((cut.name, above)) {
                known.transfers[usize::from(above)] += 1;
            }
        }
        true
    }

    fn page(&self) -> String {
        let mut text = String::from("# The numbers that decide\n\n");
        let _ = writeln!(
            text,
            "Written by `cargo run -p slowpath-validate --example cutoffs -- --write`, with the labelled captures in the folder\n\
             `SLOWPATH_CORPUS`. Each cut-off of a verdict, and how near the transfers come to it on both sides: {} captures of\n\
             simulated transfers (`crates/slowpath/tests/transfers`) and {} labelled captures whose limit was found; {} more\n\
             that were not judged as they are, or as cannot be told, are left out. A rule looks at a number only if those before\n\
             it hold, so few transfers come to some. In the file of a limit two more columns tell how near transfers of that\n\
             limit come, and how near others do; where both lie on one side, other numbers tell them apart. The last column\n\
             counts the transfers below and above. A side without a value was never seen: nothing shows yet that the cut-off\n\
             must not lie further there.",
            self.simulated, self.labelled, self.wrong
        );
        let mut file = "";
        for cut in cuts::all() {
            let (module, name) = split(cut.name);
            if module != file {
                let (names, lines) = if owner(cut.name).is_some() {
                    (" nearest of this limit | nearest of another |", "---|---|")
                } else {
                    ("", "")
                };
                let _ = writeln!(
                    text,
                    "\n## {module}\n\n| cut-off | value | nearest below | nearest above |{names} transfers |\n|---|---|---|---|{lines}---|"
                );
                file = module;
            }
            let none = Sides::default();
            let sides = self.cuts.get(cut.name).unwrap_or(&none);
            let side = |side: &Option<(f64, Limit, String)>| {
                side.as_ref().map_or_else(
                    || "–".to_owned(),
                    |(value, truth, name)| format!("{} ({truth}: {name})", short(*value, cut.value)),
                )
            };
            let own = if owner(cut.name).is_some() {
                format!(" {} | {} |", side(&sides.own[0]), side(&sides.own[1]))
            } else {
                String::new()
            };
            let _ = writeln!(
                text,
                "| `{name}` | {} | {} | {} |{own} {}, {} |",
                cut.value,
                side(&sides.below),
                side(&sides.above),
                sides.transfers[0],
                sides.transfers[1]
            );
        }
        text
    }

    /// Writes the nearest values beside the constant in its source.
    fn note(&self, root: &Path, cut: &Cut) -> Result<(), Box<dyn Error>> {
        let path = source(root, cut.name);
        let text = fs::read_to_string(&path)?;
        let begin = format!("{}: ", split(cut.name).1);
        let side = |side: Option<&(f64, Limit, String)>| {
            side.map_or_else(|| "NONE".to_owned(), |(value, ..)| literal(*value, cut.value))
        };
        let sides = self.cuts.get(cut.name);
        let noted = format!(
            "{}, {};",
            side(sides.and_then(|sides| sides.below.as_ref())),
            side(sides.and_then(|sides| sides.above.as_ref()))
        );
        let lines: Vec<String> = text
            .lines()
            .map(|line| {
                let declared = line
                    .trim_start()
                    .trim_start_matches("pub(crate) ")
                    .trim_start_matches("pub(super) ");
                match line.split_once(" between ") {
                    Some((head, _)) if declared.starts_with(&begin) => format!("{head} between {noted}"),
                    _ => line.to_owned(),
                }
            })
            .collect();
        fs::write(&path, lines.join("\n") + "\n")?;
        Ok(())
    }
}

/// The module and the constant's name.
fn split(name: &'static str) -> (&'static str, &'static str) {
    let name = name.trim_start_matches("slowpath_verdict::");
    name.rsplit_once("::").unwrap_or(("", name))
}

/// The limit in whose file a cut-off stands; none for those that several share.
fn owner(name: &'static str) -> Option<Limit> {
    let file = split(name).0.rsplit("::").next()?.replace('_', "-");
    Limit::ALL.into_iter().find(|limit| limit.name() == file)
}

fn source(root: &Path, name: &'static str) -> PathBuf {
    let module = split(name).0.replace("::", "/");
    root.join(format!("crates/slowpath-verdict/src/{module}.rs"))
}

/// Three digits, or more where fewer would read as the cut-off itself.
fn short(value: f64, cut: f64) -> String {
    if value == 0.0 {
        return "0.0".to_owned();
    }
    for digits in 3..12 {
        let whole = value.abs().log10().floor() as i32 + 1;
        let decimals = usize::try_from(digits - whole).unwrap_or(0).max(1);
        let text = format!("{value:.decimals$}");
        // On the same side of the cut-off, or as equal to it.
        let same = |read: f64| read.total_cmp(&cut) == value.total_cmp(&cut);
        if text.parse().is_ok_and(same) {
            return text;
        }
    }
    value.to_string()
}

/// The same as Rust writes it.
fn literal(value: f64, cut: f64) -> String {
    let text = short(value, cut);
    let (sign, text) = text
        .strip_prefix('-')
        .map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let groups = |digits: Vec<char>| {
        digits
            .chunks(3)
            .map(|group| group.iter().collect::<String>())
            .collect::<Vec<_>>()
            .join("_")
    };
    let backwards = |text: String| text.chars().rev().collect::<String>();
    let whole = backwards(groups(whole.chars().rev().collect()));
    format!("{sign}{whole}.{}", groups(decimals.chars().collect()))
}

//! Scores the ledger on captures of the lab against what the sending kernel counted: `docs/validation/lab-ledger.md`.
//!
//! `cargo run --release -p slowpath-validate --example lab-ledger -- [chronographs|paced|varying|recorded]... [development|held-out|afresh]...
//! [--keep] [--only NUMBER]... [--places N] [--passes N] [--out DIR] [--page FILE] [--documents]`
//!
//! Without names: all sets, all numbers. `--documents` prints the transfers and runs nothing, so that a list can be fixed by its digest. Runs what is missing in DIR, and what the machine disturbed, N times in all; with
//! `--keep` nothing is run. The page shows all that is in DIR, and is written if nothing is left out by `--only`, whose
//! transfers are told in detail instead. Recorded rates lie in `SLOWPATH_TRACES`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use slowpath::run::{Event, RunError};
use slowpath_validate::lab_ledger::{
    self, MakeError, Numbers, Part, STATES, Set, Settings, chronographs, verdicts,
};

fn main() -> ExitCode {
    match attempt() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab-ledger: {error}");
            ExitCode::FAILURE
        }
    }
}

fn attempt() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [task, job] = words.as_slice()
        && task == "bulk-worker"
    {
        slowpath_validate::worker::run(Path::new(job), &mut |message| {
            let _ = slowpath::worker::say(&mut std::io::stdout().lock(), message);
        })?;
        return Ok(());
    }
    let arguments = Arguments::read(&words)?;
    if arguments.documents {
        for numbers in Numbers::ALL
            .into_iter()
            .filter(|numbers| arguments.numbers.contains(numbers))
        {
            for set in &arguments.sets {
                for drawn in arguments.settings(*set, numbers)?.drawn() {
                    println!("{} {}\n{}", drawn.name(), drawn.describe(), drawn.document());
                }
            }
        }
        return Ok(());
    }
    let cancel = Arc::new(AtomicBool::new(false));
    slowpath::interrupt::on_interrupt(&cancel);
    let mut parts = Vec::new();
    for numbers in Numbers::ALL {
        if !arguments.keep && arguments.numbers.contains(&numbers) {
            for set in &arguments.sets {
                let settings = arguments.settings(*set, numbers)?;
                match lab_ledger::make(&settings, &cancel, &mut |event| show(&event)) {
                    // A run that failed is missing from the page; the others are worth having.
                    Err(MakeError::Run(error @ RunError::Failed { .. })) => eprintln!("lab-ledger: {error}"),
                    other => other?,
                }
            }
        }
        parts.push(scored(&arguments, numbers)?);
    }
    if arguments.only.is_empty() {
        fs::write(&arguments.page, lab_ledger::page(&parts))?;
        println!("{}", arguments.page.display());
    }
    Ok(())
}

/// Scores what is there of these numbers.
fn scored(arguments: &Arguments, numbers: Numbers) -> Result<Part, Box<dyn Error>> {
    let mut part = Part {
        numbers,
        chronographs: Vec::new(),
        paced: Vec::new(),
        varying: Vec::new(),
        recorded: Vec::new(),
    };
    if !arguments.numbers.contains(&numbers) && !arguments.only.is_empty() {
        return Ok(part);
    }
    for set in Set::ALL {
        let settings = arguments.settings(set, numbers)?;
        if !settings.folder().is_dir() || !arguments.only.is_empty() && !arguments.sets.contains(&set) {
            continue;
        }
        let title = format!("{} {}", set.name(), numbers.name());
        if set == Set::Chronographs {
            let list = chronographs::score(&settings)?;
            for health in STATES {
                if let Some(line) = lab_ledger::summary(&list, health) {
                    println!("{title}: {line}");
                }
            }
            for one in list.iter().filter(|_| !arguments.only.is_empty()) {
                detail(one);
            }
            part.chronographs = list;
        } else {
            let list = verdicts::score(&settings)?;
            for health in STATES {
                if let Some(line) = lab_ledger::verdicts_summary(set, &list, health) {
                    println!("{title}: {line}");
                }
            }
            for one in list.iter().filter(|_| !arguments.only.is_empty()) {
                println!("{}: {}", one.drawn.number, one.drawn.describe());
                match &one.found {
                    Ok(said) => println!(
                        "{} {:?} pace {:?}: {}\n{}\n{}",
                        said.limit, said.flags, said.pace, said.headline, said.ledger, said.details
                    ),
                    Err(why) => println!("left out: {why}"),
                }
            }
            match set {
                Set::Paced => part.paced = list,
                Set::Recorded => part.recorded = list,
                _ => part.varying = list,
            }
        }
    }
    Ok(part)
}

fn detail(one: &chronographs::Scored) {
    println!("{}: {}", one.drawn.number, one.drawn.describe());
    match &one.found {
        Ok(found) => println!(
            "kernel {:?} counted {:?} samples {:?} states {:?} causes {:?}\n{}\n{:?}\n{}",
            found.kernel,
            found.counted,
            found.sampled,
            found.states,
            found.causes,
            found.sentence,
            found.parts,
            found.series.join("\n")
        ),
        Err(why) => println!("left out: {why}"),
    }
}

struct Arguments {
    sets: Vec<Set>,
    numbers: Vec<Numbers>,
    out: PathBuf,
    page: PathBuf,
    only: Vec<u64>,
    places: usize,
    passes: u32,
    keep: bool,
    documents: bool,
}

impl Arguments {
    fn read(words: &[String]) -> Result<Self, Box<dyn Error>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut arguments = Self {
            sets: Vec::new(),
            numbers: Vec::new(),
            out: root.join("target/lab-ledger"),
            page: root.join("docs/validation/lab-ledger.md"),
            only: Vec::new(),
            places: 4,
            passes: 3,
            keep: false,
            documents: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            if let Some(set) = Set::ALL.into_iter().find(|set| set.name() == word) {
                arguments.sets.push(set);
                continue;
            }
            if let Some(numbers) = Numbers::ALL.into_iter().find(|numbers| numbers.name() == word) {
                arguments.numbers.push(numbers);
                continue;
            }
            match word.as_str() {
                "--out" => arguments.out = value()?.into(),
                "--page" => arguments.page = value()?.into(),
                "--only" => arguments.only.push(value()?.parse()?),
                "--places" => arguments.places = value()?.parse()?,
                "--passes" => arguments.passes = value()?.parse()?,
                "--keep" => arguments.keep = true,
                "--documents" => arguments.documents = true,
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        if arguments.sets.is_empty() {
            arguments.sets = Set::ALL.to_vec();
        }
        if arguments.numbers.is_empty() {
            arguments.numbers = Numbers::ALL.to_vec();
        }
        Ok(arguments)
    }

    fn settings(&self, set: Set, numbers: Numbers) -> Result<Settings, Box<dyn Error>> {
        Ok(Settings {
            set,
            numbers,
            out: self.out.clone(),
            only: self.only.clone(),
            places: self.places,
            passes: self.passes,
            traces: std::env::var_os("SLOWPATH_TRACES").map(PathBuf::from),
            worker: (std::env::current_exe()?, vec!["bulk-worker".to_owned()]),
        })
    }
}

fn show(event: &Event<'_>) {
    match event {
        Event::Planned { total, resumed } => eprintln!("{total} runs, {resumed} finished before"),
        Event::Finished { name, record } => {
            let reasons: Vec<&str> = (record.health.reasons.iter())
                .map(|reason| reason.code.name())
                .collect();
            eprintln!("{name}: {} {}", record.health.state.name(), reasons.join(", "));
        }
        Event::Again { name, .. } => eprintln!("{name}: invalid, again alone"),
        Event::Failed { name, error } => eprintln!("{name} failed: {error}"),
        Event::Started { .. } | Event::Progress { .. } => {}
    }
}

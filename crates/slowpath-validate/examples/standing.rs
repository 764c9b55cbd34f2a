//! The standing validation: `twin` writes `docs/validation/twin.md`, `captures` writes `docs/validation/captures.md`.
//!
//! `cargo run --release -p slowpath-validate --example standing -- captures [--list tuned|drawn-N] [--out DIR] [--only PART]
//! [--places N] [--page FILE]`
//!
//! Each list of labelled captures has a folder of its own in DIR; the page shows all that are there.
//! Both resume what an earlier call left in DIR. With `--keep`, nothing is run: the page is made again from DIR.
//! With `--simulated`, `twin` runs the simulated clock alone: after a change of the model, in a folder with lab runs.
//! `noise` writes `docs/validation/noise.md`: lab runs of a machine that is disturbed on purpose (`--kind` names one way,
//! `--most` how many cells, `--seed` their dice; after `--minutes` no run begins). Its records keep what the machine did:
//! with `--keep` they are judged, without the lab; with `--record` not yet. `--verdicts N` does N runs of each variant of `cisco-ftp` instead.
//! `what-if` writes `docs/validation/what-if.md`: fits of the corpus in `SLOWPATH_CORPUS` (`--only` names some) and `--most` pairs of a
//! path and a change, drawn by `--seed`, in simulated time, and `--lab` pairs in the lab. `--part` does some of it: `factual`, `pairs`,
//! `lab-runs` (the runs, none of which begins after `--minutes`), `lab` (their fits); `--pair` does one pair. Everything done lies in DIR and is not done again.
//! `twin` runs again what the machine disturbed, `--passes` times in all (3), and cells whose result is not certain more
//! often; only the lab runs that its health accepts count.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use slowpath::Clock;
use slowpath::load::Loaded;
use slowpath::run::{Event, RunError};
use slowpath_validate::causes::List;
use slowpath_validate::cells::PLACES;
use slowpath_validate::what_if::drawn::{KINDS, KINDS_OF_LAB, LASTING, LASTING_IN_LAB, digest};
use slowpath_validate::what_if::{self, Kept};
use slowpath_validate::{captures, disturbed_verdicts, noise, twin};

fn main() -> ExitCode {
    match attempt() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("standing: {error}");
            ExitCode::FAILURE
        }
    }
}

fn attempt() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let task = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    match (task.as_str(), rest.as_slice()) {
        ("bulk-worker", [job]) => {
            slowpath_validate::worker::run(Path::new(job), &mut say)?;
            Ok(())
        }
        ("worker", [job]) => {
            slowpath::worker::run(Path::new(job), &mut say)?;
            Ok(())
        }
        ("stopped-worker", [job]) => {
            let job = Path::new(job);
            let mut stopper = noise::start_stopper(job)?;
            let done = slowpath::worker::run(job, &mut say);
            stopper.kill()?;
            stopper.wait()?;
            Ok(done?)
        }
        ("hog", []) => Ok(noise::hog()?),
        ("stopper", [parent, seed]) => Ok(noise::stopper(parent.parse()?, seed.parse()?)?),
        ("noise", rest) => run_noise(&Arguments::read(rest, "noise")?),
        ("twin", rest) => run_twin(&Arguments::read(rest, "twin")?),
        ("what-if", rest) => run_what_if(&Arguments::read(rest, "what-if")?),
        ("captures", rest) => run_captures(&Arguments::read(rest, "captures")?),
        _ => Err(
            "usage: standing twin|captures|noise|what-if [--most PAIRS] [--lab PAIRS] [--part factual|pairs|lab-runs|lab]... [--pair N] [--kind as-is|one-busy|two-busy|stopped]... [--most N] [--seed N] [--minutes N] [--verdicts N] [--record] [--list tuned|drawn-N] [--out DIR] [--only PART]... [--places N] [--passes N] [--page FILE] [--keep] [--simulated]"
                .into(),
        ),
    }
}

fn run_captures(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let settings = |list: List| -> Result<captures::Settings, Box<dyn Error>> {
        Ok(captures::Settings {
            list,
            out: arguments.out.join(list.name()),
            only: arguments.only.clone(),
            places: arguments.places,
            worker: (std::env::current_exe()?, vec!["bulk-worker".to_owned()]),
        })
    };
    if !arguments.keep {
        let made = captures::make(&settings(arguments.list)?, &interrupt(), &mut |event| {
            show(&event);
        });
        finished(made)?;
    }
    let mut lists = Vec::new();
    for list in std::iter::once(List::Tuned).chain((1..=LISTS).map(List::Drawn)) {
        let settings = settings(list)?;
        if !settings.out.is_dir() {
            continue;
        }
        let scored = captures::score(&settings)?;
        let manifest = captures::manifest(&settings.out, &scored);
        fs::write(settings.out.join("manifest.json"), manifest)?;
        println!("{}: {:?}", list.name(), captures::Tally::of(scored.iter()));
        lists.push(captures::Listed {
            list,
            missing: captures::without_run(&settings, &scored),
            scored,
        });
    }
    fs::write(&arguments.page, captures::page(&lists))?;
    println!("{}", arguments.page.display());
    Ok(())
}

fn run_noise(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let settings = noise::Settings {
        out: arguments.out.clone(),
        only: arguments.only.clone(),
        kinds: if arguments.kinds.is_empty() {
            noise::Kind::ALL.to_vec()
        } else {
            arguments.kinds.clone()
        },
        most: arguments.most,
        seed: arguments.seed,
        until: (arguments.minutes).map(|minutes| Instant::now() + Duration::from_secs_f64(minutes * 60.0)),
        program: std::env::current_exe()?,
    };
    if arguments.verdicts > 0 {
        let experiment = Loaded::open("cisco-ftp", &[])?;
        let made = disturbed_verdicts::make(
            &experiment,
            arguments.verdicts,
            &settings,
            &interrupt(),
            &mut |event| show(&event),
        );
        finished(made)?;
    } else if !arguments.keep {
        finished(noise::make(&settings, &interrupt(), &mut |event| show(&event)))?;
    }
    if arguments.record {
        return Ok(());
    }
    let scored = noise::score(&settings)?;
    let judged = disturbed_verdicts::score(&settings)?;
    let page = noise::page(&scored) + &disturbed_verdicts::page(&judged);
    fs::write(&arguments.page, page)?;
    println!(
        "{}: {} runs, {} verdicts",
        arguments.page.display(),
        scored.len(),
        judged.len()
    );
    Ok(())
}

fn run_what_if(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let cancel = interrupt();
    let wants = |part: &str| !arguments.keep && is_asked(&arguments.parts, part);
    let mut factual = Kept::open(&arguments.out, "factual.jsonl")?;
    if wants("factual") {
        let corpus = what_if::corpus().ok_or("SLOWPATH_CORPUS names no folder of labelled captures")?;
        what_if::factual::run(&corpus, &arguments.only, &mut factual, &cancel, &mut |one| {
            eprintln!("{one:?}");
        })?;
    }
    let show_pair = |pair: &what_if::pairs::Pair| eprintln!("{pair:?}, covered {:?}", pair.is_covered());
    let (seed, most) = (arguments.seed, u32::try_from(arguments.most)?);
    let mut pairs = Kept::open(&arguments.out, &format!("pairs-{seed}.jsonl"))?;
    if wants("pairs") {
        what_if::pairs::simulated(most, seed, arguments.pair, &mut pairs, &cancel, &mut |pair| {
            show_pair(pair);
        })?;
    }
    let settings = what_if::lab::Settings {
        count: arguments.lab,
        seed,
        out: arguments.out.join(format!("lab-{seed}")),
        until: (arguments.minutes).map(|minutes| Instant::now() + Duration::from_secs_f64(minutes * 60.0)),
        worker: (std::env::current_exe()?, vec!["worker".to_owned()]),
    };
    if wants("lab-runs") && arguments.lab > 0 {
        what_if::lab::make(&settings, &cancel, &mut |event| show(&event))?;
    }
    let mut in_lab = Kept::open(&arguments.out, &format!("lab-{seed}.jsonl"))?;
    let left_out = if arguments.lab > 0 && (wants("lab") || arguments.keep) {
        what_if::lab::score(&settings, &mut in_lab, &cancel, &mut |pair| show_pair(pair))?
    } else {
        what_if::lab::LeftOut::default()
    };
    let drawn = |pairs, list, left_out| what_if::page::Drawn {
        pairs,
        seed,
        list,
        left_out,
    };
    let simulated = digest(most, seed, &KINDS, LASTING);
    let lab = digest(arguments.lab, seed, &KINDS_OF_LAB, LASTING_IN_LAB);
    let page = what_if::page::page(
        &factual.rows,
        &drawn(&pairs.rows, simulated, &[]),
        &drawn(&in_lab.rows, lab, &left_out.0),
    );
    fs::write(&arguments.page, page)?;
    println!("{}", arguments.page.display());
    Ok(())
}

/// Whether a part is among those asked for: all are, or those that are named.
fn is_asked(parts: &[String], part: &str) -> bool {
    parts.is_empty() || parts.iter().any(|one| one == part)
}

fn run_twin(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let settings = twin::Settings {
        out: arguments.out.clone(),
        only: arguments.only.clone(),
        clocks: if arguments.simulated {
            vec![Clock::Simulated]
        } else {
            vec![Clock::Simulated, Clock::Lab]
        },
        seed: 1,
        places: arguments.places,
        passes: arguments.passes,
        worker: (std::env::current_exe()?, vec!["worker".to_owned()]),
    };
    if !arguments.keep {
        finished(twin::make(&settings, &interrupt(), &mut |event| show(&event)))?;
    }
    let compared = twin::compare(&settings)?;
    fs::write(&arguments.page, twin::page(&compared))?;
    let close = compared.iter().filter(|one| one.is_close()).count();
    println!(
        "{}: {close} of {} cells agree",
        arguments.page.display(),
        compared.len()
    );
    Ok(())
}

/// A run that failed is missing from the page; the others are worth having.
fn finished(result: Result<(), RunError>) -> Result<(), RunError> {
    match result {
        Err(error @ RunError::Failed { .. }) => {
            eprintln!("standing: {error}");
            Ok(())
        }
        other => other,
    }
}

/// Drawn lists that the page may show.
const LISTS: u32 = 9;

struct Arguments {
    list: List,
    out: PathBuf,
    page: PathBuf,
    only: Vec<String>,
    places: usize,
    passes: u32,
    keep: bool,
    simulated: bool,
    kinds: Vec<noise::Kind>,
    most: usize,
    lab: u32,
    parts: Vec<String>,
    pair: Option<u32>,
    seed: u64,
    minutes: Option<f64>,
    verdicts: u32,
    record: bool,
}

impl Arguments {
    fn read(words: &[String], task: &str) -> Result<Self, Box<dyn Error>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut arguments = Self {
            list: captures::HELD_OUT,
            out: root.join("target/standing").join(task),
            page: root.join("docs/validation").join(format!("{task}.md")),
            only: Vec::new(),
            places: if task == "twin" { PLACES } else { 8 },
            passes: 3,
            keep: false,
            simulated: false,
            kinds: Vec::new(),
            most: 50,
            lab: 0,
            parts: Vec::new(),
            pair: None,
            seed: 1,
            minutes: None,
            verdicts: 0,
            record: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            match word.as_str() {
                "--list" => {
                    let name = value()?;
                    arguments.list = List::named(name).ok_or_else(|| format!("there is no list {name}"))?;
                }
                "--out" => arguments.out = value()?.into(),
                "--page" => arguments.page = value()?.into(),
                "--only" => arguments.only.push(value()?.clone()),
                "--places" => arguments.places = value()?.parse()?,
                "--passes" => arguments.passes = value()?.parse()?,
                "--most" => arguments.most = value()?.parse()?,
                "--verdicts" => arguments.verdicts = value()?.parse()?,
                "--lab" => arguments.lab = value()?.parse()?,
                "--part" => arguments.parts.push(value()?.clone()),
                "--pair" => arguments.pair = Some(value()?.parse()?),
                "--seed" => arguments.seed = value()?.parse()?,
                "--minutes" => arguments.minutes = Some(value()?.parse()?),
                "--kind" => {
                    let name = value()?;
                    let kind = noise::Kind::ALL.into_iter().find(|kind| kind.name() == name);
                    arguments
                        .kinds
                        .push(kind.ok_or_else(|| format!("there is no disturbance {name}"))?);
                }
                "--record" => arguments.record = true,
                "--keep" => arguments.keep = true,
                "--simulated" => arguments.simulated = true,
                other => return Err(format!("unknown argument {other}").into()),
            }
        }
        Ok(arguments)
    }
}

fn interrupt() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    slowpath::interrupt::on_interrupt(&flag);
    flag
}

fn say(message: &slowpath::worker::Message) {
    let _ = slowpath::worker::say(&mut std::io::stdout().lock(), message);
}

fn show(event: &Event<'_>) {
    match event {
        Event::Planned { total, resumed } => eprintln!("{total} runs, {resumed} finished before"),
        Event::Finished { name, record } => {
            let health = record.health.state.name();
            let rates: Vec<String> = record
                .transfers
                .iter()
                .map(|transfer| format!("{:.3} Mbit/s", transfer.goodput_byte_per_s() * 8e-6))
                .collect();
            eprintln!("{name}: {} ({health})", rates.join(", "));
        }
        Event::Again { name, .. } => eprintln!("{name}: invalid, again alone"),
        Event::Failed { name, error } => eprintln!("{name} failed: {error}"),
        Event::Started { .. } | Event::Progress { .. } => {}
    }
}

//! `slowpath run` and its workers.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use slowpath::load::Loaded;
use slowpath::run::{Event, RunError, RunOptions, Settings};
use slowpath::{Clock, HealthState};

use crate::args::{self, RunArgs};
use crate::exit::{self, Failure};
use crate::terminal;

/// Runs an experiment and prints its table.
pub(crate) fn run(args: &RunArgs) -> Result<u8, Failure> {
    let loaded =
        Loaded::open(&args.experiment, &args.set).map_err(|error| Failure::usage(error.to_string()))?;
    terminal::warnings(&loaded);
    for name in &args.variants {
        if loaded.experiment.variant(name).is_none() {
            let known: Vec<&str> = loaded
                .experiment
                .variants
                .iter()
                .map(|variant| variant.name.as_str())
                .collect();
            return Err(Failure::usage(format!(
                "the experiment \"{}\" has no variant \"{name}\"; its variants are {}",
                loaded.name,
                known.join(", ")
            )));
        }
    }
    if !args.sweeps.is_empty() {
        return sweep(args, &loaded.name);
    }
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| default_folder(&loaded.name, args.quick));
    let options = RunOptions {
        clocks: match args.clock {
            args::Clock::Auto => Vec::new(),
            args::Clock::Lab => vec![Clock::Lab],
            args::Clock::Simulated => vec![Clock::Simulated],
            args::Clock::Both => vec![Clock::Lab, Clock::Simulated],
        },
        variants: args.variants.clone(),
        repeats: args.repeats,
        seed: args.seed,
        quick: args.quick,
        capture: !args.no_capture,
        out: out.clone(),
        places: args.side_by_side as usize,
        worker: worker_program()?,
    };
    let cancel = interrupt_flag();
    let mut display = Display::new();
    let result = slowpath::run::run(&loaded, &options, &cancel, &mut |event| display.show(&event));
    let result = result.and_then(|folder| {
        if args.prove {
            slowpath::prove::prove(&loaded, &options, &folder, &cancel, &mut |event| {
                display.show(&event);
            })?;
        }
        Ok(())
    });
    display.finish();
    let failed = match result {
        Ok(()) => None,
        Err(error @ RunError::Failed { .. }) => Some(error.to_string()),
        Err(error @ (RunError::Plan(_) | RunError::Folder(_) | RunError::Mixed { .. })) => {
            return Err(Failure::usage(error.to_string()));
        }
        Err(error) => return Err(Failure::machine(error.to_string())),
    };
    let settings = Settings::of(&loaded, &options);
    let results = slowpath::report::write(&loaded, &settings, &out).map_err(|error| {
        // Without a single finished run there is nothing to report but the failures themselves.
        failed
            .clone()
            .map_or_else(|| Failure::usage(error.to_string()), Failure::machine)
    })?;
    terminal::summary(&results, &out)
        .map_err(|error| Failure::machine(format!("printing failed: {error}")))?;
    if let Some(error) = failed {
        return Err(Failure::machine(error));
    }
    if results.health() == HealthState::Invalid {
        return Ok(exit::INVALID);
    }
    if args.check {
        let missed = results.check();
        for miss in &missed {
            eprintln!("slowpath: {miss}");
        }
        if !missed.is_empty() {
            return Ok(exit::MISSED);
        }
    }
    Ok(exit::DONE)
}

/// Sweeps settings in simulated time: table on the terminal, CSV and JSON in the results folder.
fn sweep(args: &RunArgs, name: &str) -> Result<u8, Failure> {
    use slowpath::sweep::{self, Error, SweepOptions};

    if !args.set.is_empty() {
        return Err(Failure::usage(
            "--sweep does not go with --set; a range of one value sets it: --sweep 'KEY=VALUE'".to_owned(),
        ));
    }
    if args.clock == args::Clock::Both || args.prove || args.check {
        return Err(Failure::usage(
            "--sweep computes in simulated time; it does not go with --clock both, --prove or --check"
                .to_owned(),
        ));
    }
    let options = SweepOptions {
        experiment: args.experiment.clone(),
        sweeps: args.sweeps.clone(),
        variants: args.variants.clone(),
        repeats: args.repeats,
        seed: args.seed,
        quick: args.quick,
    };
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Path::new("results").join(format!("{name}-sweep")));
    let folder = slowpath::folder::Folder::create(&out).map_err(|error| Failure::usage(error.to_string()))?;
    let cancel = interrupt_flag();
    let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(0));
    let swept = sweep::run(&options, &cancel, &|done, all| {
        if let Some(bar) = &bar {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let swept = swept.map_err(|error| match error {
        Error::Run { .. } | Error::Interrupted => Failure::machine(error.to_string()),
        error => Failure::usage(error.to_string()),
    })?;
    let mut table = Vec::new();
    sweep::write_csv(&swept, &mut table).expect("writing to memory does not fail");
    let mut document = Vec::new();
    sweep::write_json(&swept, &mut document).expect("writing to memory does not fail");
    for (file, content) in [("sweep.csv", &table), ("sweep.json", &document)] {
        folder
            .write(file, content)
            .map_err(|error| Failure::usage(error.to_string()))?;
    }
    let printed = terminal::swept(&swept, &out);
    printed.map_err(|error| Failure::machine(format!("printing failed: {error}")))?;
    Ok(exit::DONE)
}

/// One lab run; its progress goes to standard output as JSON lines.
pub(crate) fn worker(job: &Path) -> Result<u8, Failure> {
    let mut out = std::io::stdout().lock();
    slowpath::worker::run(job, &mut |message| {
        let _ = slowpath::worker::say(&mut out, message);
        let _ = out.flush();
    })
    .map(|()| exit::DONE)
    .map_err(|error| Failure::machine(error.to_string()))
}

/// This program, as the worker of its own runs.
pub(crate) fn worker_program() -> Result<(PathBuf, Vec<String>), Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::machine(format!("finding this program's own file failed: {error}")))?;
    Ok((program, vec!["worker".to_owned()]))
}

/// A flag that Ctrl-C raises.
pub(crate) fn interrupt_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    slowpath::interrupt::on_interrupt(&flag);
    flag
}

/// As [`interrupt_flag`], for a command that waits for programs which get the signal themselves.
pub(crate) fn interrupt_flag_later() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    slowpath::interrupt::note_interrupt(&flag);
    flag
}

fn default_folder(name: &str, quick: bool) -> PathBuf {
    Path::new("results").join(if quick {
        format!("{name}-quick")
    } else {
        name.to_owned()
    })
}

/// Progress of all runs: a bar on a terminal, a line per finished run elsewhere.
struct Display {
    bar: Option<ProgressBar>,
    total: usize,
    finished: usize,
    /// Bytes done and wanted of each running transfer.
    running: BTreeMap<String, (u64, u64)>,
    begun: Instant,
}

impl Display {
    fn new() -> Self {
        Self {
            bar: None,
            total: 0,
            finished: 0,
            running: BTreeMap::new(),
            begun: Instant::now(),
        }
    }

    fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Planned { total, resumed } => {
                (self.total, self.finished) = (*total, *resumed);
                if *resumed > 0 {
                    eprintln!("{resumed} of {total} runs were finished before and are kept");
                }
                if std::io::stderr().is_terminal() {
                    let style =
                        ProgressStyle::with_template("{bar:24} {msg}").expect("the template is valid");
                    self.bar = Some(ProgressBar::new(1_000).with_style(style));
                }
            }
            Event::Started { name } => {
                self.running.insert((*name).to_owned(), (0, 0));
            }
            Event::Progress { name, bytes, of } => {
                self.running.insert((*name).to_owned(), (*bytes, *of));
            }
            Event::Finished { name, record } => {
                self.running.remove(*name);
                self.finished += 1;
                let line = terminal::run_line(name, record);
                self.say(&line);
            }
            Event::Again { name, record } => {
                self.running.remove(*name);
                let line = terminal::run_line(name, record);
                self.say(&format!("{line}; done again, alone, at the end"));
            }
            Event::Failed { name, error } => {
                self.running.remove(*name);
                self.finished += 1;
                self.say(&format!("{name}: failed: {error}"));
            }
        }
        self.draw();
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    fn draw(&self) {
        let Some(bar) = &self.bar else { return };
        // Thousandths of all runs, those under way by their bytes.
        let under_way: u64 = self
            .running
            .values()
            .map(|(bytes, of)| bytes * 1_000 / (*of).max(1))
            .sum();
        bar.set_position((self.finished as u64 * 1_000 + under_way) / (self.total.max(1) as u64));
        bar.set_message(format!(
            "{} of {} runs, {}",
            self.finished,
            self.total,
            self.left()
        ));
    }

    /// The time left: that of the slowest running transfer, as far as it can be told.
    fn left(&self) -> String {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let longest = self
            .running
            .values()
            .filter(|(bytes, of)| *bytes > 0 && of > bytes)
            .map(|(bytes, of)| elapsed / *bytes as f64 * (of - bytes) as f64)
            .fold(0.0, f64::max);
        if longest > 0.0 {
            format!(
                "about {} s left for those running",
                Duration::from_secs_f64(longest).as_secs()
            )
        } else {
            "starting".to_owned()
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Makes the report of a results folder again and prints its table.
pub(crate) fn report(folder: &Path) -> Result<u8, Failure> {
    let results = slowpath::report::again(folder).map_err(|error| Failure::usage(error.to_string()))?;
    terminal::summary(&results, folder)
        .map_err(|error| Failure::machine(format!("printing failed: {error}")))?;
    Ok(exit::DONE)
}

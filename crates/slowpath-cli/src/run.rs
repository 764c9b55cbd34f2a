//! `slowpath run`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use slowpath::doctor::Standing;
use slowpath::folder::Folder;
use slowpath::interrupt;
use slowpath::load::Loaded;
use slowpath::run::{Event, Failed, RunError, RunOptions};
use slowpath::settings::{Call, Settings};
use slowpath::{ProofOutcome, Results, Warning};

use crate::args::{Clock, DiagnoseArgs, ExperimentArgs, OneClock, ProgressFormat, RunArgs};
use crate::exit::{self, Failure};
use crate::form::ResultsFormat;
use crate::{progress, terminal};
use slowpath_words::{say, word};

/// Runs an experiment and prints its table.
pub(crate) fn run(args: &RunArgs) -> Result<u8, Failure> {
    if !args.sweeps.is_empty() {
        return sweep(args);
    }
    let loaded = opened(&args.of)?;
    let wish = Wish {
        clock: args.clock,
        prove: args.prove,
        decide: true,
        capture: !args.no_capture,
        side_by_side: args.side_by_side,
        progress: args.progress,
    };
    let mut session = Session::new(&args.of, wish, &loaded)?;
    let ran = session.answer()?;
    let mut grew = false;
    if args.prove {
        session.prove()?;
        grew = true;
    }
    grew |= session.ranges()?;
    let results = match ran {
        Some(results) if !grew => results,
        _ => session.results()?,
    };
    terminal::results(&results, &session.options.out, args.of.format)?;
    match session.outcome(&results)? {
        exit::DONE if args.check => Ok(checked(&results)),
        code => Ok(code),
    }
}

/// Refuses to go on where no lab can be built.
pub(crate) fn lab_or_fail() -> Result<(), Failure> {
    lab_hindrance().map_or(Ok(()), |hindrance| {
        Err(Failure::machine(format!(
            "{hindrance}; --clock simulated needs nothing of this machine"
        )))
    })
}

/// An experiment that was run for another command.
pub(crate) struct CarriedOut {
    loaded: Loaded,
    settings: Settings,
    out: PathBuf,
}

impl CarriedOut {
    /// Makes the report from the records as they are now.
    pub(crate) fn report(&self) -> Result<(), Failure> {
        slowpath::report::write(&self.loaded, &self.settings, &self.out)
            .map(drop)
            .map_err(|error| Failure::machine(error.to_string()))
    }
}

/// Runs these variants of an experiment, or all if none is named, on one clock, and prints nothing but its progress.
pub(crate) fn carried_out(
    mut of: ExperimentArgs,
    clock: OneClock,
    variants: &[String],
) -> Result<CarriedOut, Failure> {
    of.variants = variants.to_vec();
    let loaded = opened(&of)?;
    let wish = Wish {
        clock: match clock {
            OneClock::Simulated => Clock::Simulated,
            OneClock::Lab => Clock::Lab,
        },
        prove: false,
        decide: false,
        capture: true,
        side_by_side: 1,
        progress: ProgressFormat::Auto,
    };
    let mut session = Session::new(&of, wish, &loaded)?;
    session.answer()?;
    if !session.failed.is_empty() {
        let lines: Vec<String> = session.failed.iter().map(Failed::to_string).collect();
        return Err(Failure::machine(lines.join("\n")));
    }
    let (settings, out) = (session.settings.clone(), session.options.out.clone());
    Ok(CarriedOut {
        loaded,
        settings,
        out,
    })
}

/// Runs every variant, tests the changes that its verdict suggests, and prints what came of them.
pub(crate) fn diagnose(args: &DiagnoseArgs) -> Result<u8, Failure> {
    let loaded = opened(&args.of)?;
    let wish = Wish {
        clock: match args.clock {
            OneClock::Simulated => Clock::Simulated,
            OneClock::Lab => Clock::Lab,
        },
        prove: true,
        decide: false,
        capture: true,
        side_by_side: SIDE_BY_SIDE,
        progress: ProgressFormat::Auto,
    };
    let mut session = Session::new(&args.of, wish, &loaded)?;
    session.answer()?;
    session.prove()?;
    let results = session.results()?;
    // What the folder holds of others beside is in its report.
    let asked = results.of_variants(&args.of.variants);
    match args.of.format {
        ResultsFormat::Text => terminal::diagnosis(&asked, &session.options.out)?,
        format => terminal::results(&results, &session.options.out, format)?,
    }
    let refuted = asked
        .proofs
        .iter()
        .any(|proof| proof.outcome == ProofOutcome::Refuted);
    match session.outcome(&results)? {
        exit::DONE if args.check && refuted => Ok(exit::MISSED),
        code => Ok(code),
    }
}

/// Opens the experiment that was asked for, with its variants checked.
fn opened(args: &ExperimentArgs) -> Result<Loaded, Failure> {
    let loaded = Loaded::open_for(&args.experiment, &args.set, &args.variants)
        .map_err(|error| Failure::usage(error.to_string()))?;
    terminal::warnings(&loaded);
    loaded
        .require(&args.variants)
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(loaded)
}

/// How a call runs its experiment.
#[derive(Debug, Clone, Copy)]
struct Wish {
    clock: Clock,
    prove: bool,
    decide: bool,
    capture: bool,
    side_by_side: u32,
    progress: ProgressFormat,
}

/// What was asked for, so that the results can say how to make them again.
fn call(args: &ExperimentArgs, wish: Wish) -> Call {
    let clock = match wish.clock {
        Clock::Auto => None,
        Clock::Simulated => Some("simulated"),
        Clock::Lab => Some("lab"),
        Clock::Both => Some("both"),
    };
    Call {
        experiment: args.experiment.clone(),
        clock: clock.map(str::to_owned),
        variants: args.variants.clone(),
        repeats: args.repeats,
        quick: args.quick,
        set: args.set.clone(),
        seed: args.seed,
        prove: wish.prove,
        no_capture: !wish.capture,
    }
}

/// The exit code of a check: says each figure that misses its reference.
fn checked(results: &Results) -> u8 {
    let missed = results.check();
    for miss in &missed {
        terminal::note(&format!("slowpath: {miss}"));
    }
    if missed.is_empty() {
        exit::DONE
    } else {
        exit::MISSED
    }
}

/// One call of `slowpath run`: what to run, on which clocks, and what has failed so far.
struct Session<'a> {
    loaded: &'a Loaded,
    options: RunOptions,
    settings: Settings,
    cancel: Arc<AtomicBool>,
    failed: Vec<Failed>,
    /// Whether the results are printed for people.
    text: bool,
    clock: Clock,
    /// How progress is told.
    progress: ProgressFormat,
    /// What was asked for, to be kept with the results.
    call: Call,
}

impl<'a> Session<'a> {
    fn new(args: &ExperimentArgs, wish: Wish, loaded: &'a Loaded) -> Result<Self, Failure> {
        let options = RunOptions {
            clocks: Vec::new(),
            variants: args.variants.clone(),
            repeats: args.repeats,
            decide: wish.decide,
            seed: args.seed,
            quick: args.quick,
            capture: wish.capture,
            out: args
                .out
                .clone()
                .unwrap_or_else(|| default_folder(&loaded.name, args.quick)),
            places: wish.side_by_side as usize,
            // Simulated time needs no worker, nor the file of this program, which a bare root without /proc does not tell.
            worker: match wish.clock {
                Clock::Simulated => worker_program().unwrap_or_default(),
                _ => worker_program()?,
            },
        };
        Ok(Self {
            loaded,
            settings: Settings::of(loaded, options.seed, options.quick),
            cancel: interrupt::flag(),
            options,
            failed: Vec::new(),
            text: args.format == ResultsFormat::Text,
            clock: wish.clock,
            progress: wish.progress,
            call: call(args, wish),
        })
    }
}

impl Session<'_> {
    /// Runs on the clocks that were asked for; simulated time goes first, and stands in for a lab that cannot be built
    /// or that came to no figure, unless the lab alone was asked for.
    ///
    /// Gives the results if they were already put together.
    fn answer(&mut self) -> Result<Option<Results>, Failure> {
        let lab = match self.clock {
            Clock::Simulated => None,
            _ => Some(lab_hindrance()),
        };
        match (self.clock, lab) {
            (Clock::Simulated, _) | (_, None) => {
                self.run(vec![slowpath::Clock::Simulated], self.options.variants.clone())?;
                Ok(None)
            }
            (Clock::Lab, Some(Some(hindrance))) => Err(Failure::machine(format!(
                "{hindrance}; --clock simulated needs nothing of this machine"
            ))),
            (Clock::Auto | Clock::Both, Some(Some(hindrance))) => {
                terminal::warn(
                    Warning::NoLab,
                    &format!("{hindrance}; simulated time answers instead"),
                );
                self.run(vec![slowpath::Clock::Simulated], self.options.variants.clone())?;
                Ok(None)
            }
            (Clock::Lab, Some(None)) => {
                self.run(vec![slowpath::Clock::Lab], self.options.variants.clone())?;
                Ok(None)
            }
            (Clock::Auto, Some(None)) => {
                self.run(Vec::new(), self.options.variants.clone())?;
                self.stand_in()
            }
            (Clock::Both, Some(None)) => {
                let computed = self.run(vec![slowpath::Clock::Simulated], self.options.variants.clone())?;
                if computed > 0 && !terminal::is_quiet() && self.text {
                    terminal::first_answer(&self.results()?)?;
                }
                self.run(vec![slowpath::Clock::Lab], self.options.variants.clone())?;
                Ok(None)
            }
        }
    }

    /// Computes in simulated time what the lab could not carry.
    fn stand_in(&mut self) -> Result<Option<Results>, Failure> {
        let results = match self.results() {
            Ok(results) => results,
            // Not a single run came to its end.
            Err(_) if !self.failed.is_empty() => Results::new(&self.loaded.name, self.options.seed),
            Err(failure) => return Err(failure),
        };
        let open: Vec<String> = self
            .wanted()
            .filter(|name| {
                !results
                    .variants
                    .iter()
                    .any(|v| v.name == **name && v.is_answered())
            })
            .map(str::to_owned)
            .collect();
        if open.is_empty() {
            return Ok(Some(results));
        }
        self.run(vec![slowpath::Clock::Simulated], open)?;
        Ok(None)
    }

    /// Whether each variant that was asked for has a figure on some clock.
    fn all_answered(&self, results: &Results) -> bool {
        self.wanted()
            .all(|name| results.variants.iter().any(|v| v.name == name && v.is_answered()))
    }

    /// The variants that were asked for.
    fn wanted(&self) -> impl Iterator<Item = &str> {
        let chosen = &self.options.variants;
        self.loaded
            .experiment
            .variants
            .iter()
            .map(|variant| variant.name.as_str())
            .filter(move |name| chosen.is_empty() || chosen.iter().any(|wanted| wanted == name))
    }

    /// Runs these variants on these clocks and says how many runs that took; runs that fail are kept in mind, everything
    /// else that goes wrong ends it.
    fn run(&mut self, clocks: Vec<slowpath::Clock>, variants: Vec<String>) -> Result<usize, Failure> {
        let options = RunOptions {
            clocks,
            variants,
            ..self.options.clone()
        };
        let mut display = Display::new(self.progress);
        let ran = slowpath::run::run(self.loaded, &options, &self.cancel, &mut |event| {
            display.show(&event);
        });
        display.finish();
        self.keep_failures(ran.map(drop))?;
        let kept = self.call.keep(&Folder::open(&self.options.out));
        kept.map_err(|error| Failure::usage(error.to_string()))?;
        Ok(display.total - display.resumed)
    }

    /// Tests the changes that the experiment wishes for.
    fn prove(&mut self) -> Result<(), Failure> {
        let folder = Folder::open(&self.options.out);
        let mut display = Display::new(self.progress);
        let proven =
            slowpath::prove::prove(self.loaded, &self.options, &folder, &self.cancel, &mut |event| {
                display.show(&event);
            });
        display.finish();
        self.keep_failures(proven.map(drop))
    }

    /// Computes the ranges that the experiment's questions ask for. What goes wrong there costs an answer, no result.
    ///
    /// Says whether it computed any.
    fn ranges(&mut self) -> Result<bool, Failure> {
        use slowpath::ranges::{RangeError, compute};
        use slowpath::sweep::Error;

        let folder = Folder::open(&self.options.out);
        let (variants, seed) = (&self.options.variants, self.options.seed);
        let experiment = &self.call.experiment;
        match compute(experiment, self.loaded, variants, seed, &folder, &self.cancel) {
            Ok(computed) => Ok(computed > 0),
            Err(error @ RangeError::Sweep(Error::Interrupted { .. })) => {
                Err(Failure::interrupted(error.to_string()))
            }
            Err(error) => {
                terminal::note(&format!("slowpath: {error}"));
                Ok(true)
            }
        }
    }

    /// The exit code for what came of it.
    fn outcome(&self, results: &Results) -> Result<u8, Failure> {
        // Where simulated time was to answer as well, a lab that cannot is no failure; a run that broke off always is.
        let answered = self.clock != Clock::Lab && self.all_answered(results);
        let failed: Vec<&Failed> = self
            .failed
            .iter()
            .filter(|failed| failed.crashed || !answered)
            .collect();
        if !failed.is_empty() {
            let lines: Vec<String> = failed.iter().map(ToString::to_string).collect();
            return Err(Failure::machine(lines.join("\n")));
        }
        Ok(if results.is_unanswered() {
            exit::INVALID
        } else {
            exit::DONE
        })
    }

    fn keep_failures(&mut self, ran: Result<(), RunError>) -> Result<(), Failure> {
        match ran {
            Ok(()) => Ok(()),
            Err(RunError::Failed { failed }) => {
                self.failed.extend(failed);
                Ok(())
            }
            Err(error @ RunError::Interrupted { .. }) => Err(Failure::interrupted(error.to_string())),
            Err(error @ RunError::Worker { .. }) => Err(Failure::machine(error.to_string())),
            Err(error) => Err(Failure::usage(error.to_string())),
        }
    }

    fn results(&self) -> Result<Results, Failure> {
        slowpath::report::write(self.loaded, &self.settings, &self.options.out).map_err(|error| {
            if self.failed.is_empty() {
                return Failure::usage(error.to_string());
            }
            // Without a single finished run there is nothing to report but the failures themselves.
            let lines: Vec<String> = self.failed.iter().map(Failed::to_string).collect();
            Failure::machine(lines.join("\n"))
        })
    }
}

/// Why no lab can be built here, with what to change; nothing if one can.
fn lab_hindrance() -> Option<String> {
    let findings = slowpath::doctor::examine_lab();
    let blocking = findings
        .into_iter()
        .find(|finding| finding.standing == Standing::Blocking)?;
    Some(format!(
        "no lab can be built here: {}: {} ({})",
        blocking.subject, blocking.found, blocking.fix
    ))
}

/// Sweeps settings in simulated time: table on the terminal, CSV and JSON in the results folder.
fn sweep(args: &RunArgs) -> Result<u8, Failure> {
    use slowpath::sweep::SweepOptions;

    use crate::sweep::SweepFormat;

    if !args.of.set.is_empty() {
        return Err(Failure::usage(
            "sweeping: --sweep does not go with --set; a range of one value sets it: --sweep 'KEY=VALUE'"
                .to_owned(),
        ));
    }
    if args.clock == Clock::Both || args.prove || args.check {
        return Err(Failure::usage(
            "sweeping: --sweep computes in simulated time alone; leave --clock both, --prove and --check out"
                .to_owned(),
        ));
    }
    let format = match args.of.format {
        ResultsFormat::Text => SweepFormat::Text,
        ResultsFormat::Json => SweepFormat::Json,
        ResultsFormat::Csv => SweepFormat::Csv,
        ResultsFormat::Jsonl | ResultsFormat::Html => {
            return Err(Failure::usage(
                "sweeping: its tables are printed as text, json or csv alone; write --format csv".to_owned(),
            ));
        }
    };
    let options = SweepOptions {
        experiment: args.of.experiment.clone(),
        sweeps: args.sweeps.clone(),
        variants: args.of.variants.clone(),
        repeats: args.of.repeats,
        seed: args.of.seed,
        quick: args.of.quick,
        explained: true,
        ..SweepOptions::default()
    };
    crate::sweep::compute(&options, None, args.of.out.as_deref(), format)
}

/// This program, as the worker of its own runs.
pub(crate) fn worker_program() -> Result<(PathBuf, Vec<String>), Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::machine(format!("finding this program's own file failed: {error}")))?;
    Ok((program, vec!["worker".to_owned()]))
}

/// Least time between two lines of progress for a program.
const TELL: Duration = Duration::from_millis(200);
/// Slow paths side by side, where the user says nothing.
const SIDE_BY_SIDE: u32 = 16;

fn default_folder(name: &str, quick: bool) -> PathBuf {
    Path::new("results").join(if quick {
        format!("{name}-quick")
    } else {
        name.to_owned()
    })
}

/// Progress of all runs: a bar on a terminal, a line per finished run elsewhere, or JSON lines.
struct Display {
    bar: Option<ProgressBar>,
    /// For programs: when it was last told.
    told: Option<Instant>,
    total: usize,
    resumed: usize,
    finished: usize,
    /// Bytes done and wanted of each running transfer.
    running: BTreeMap<String, (u64, u64)>,
    begun: Instant,
    /// The latest run that ended, in a line.
    latest: String,
}

impl Display {
    fn new(progress: ProgressFormat) -> Self {
        Self {
            bar: None,
            told: (progress == ProgressFormat::Jsonl).then(Instant::now),
            latest: String::new(),
            total: 0,
            resumed: 0,
            finished: 0,
            running: BTreeMap::new(),
            begun: Instant::now(),
        }
    }

    fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Planned { total, resumed } => {
                (self.total, self.finished, self.resumed) = (*total, *resumed, *resumed);
                if *resumed > 0 && self.told.is_none() {
                    terminal::remark(&format!(
                        "{resumed} of {total} runs were finished before and are kept"
                    ));
                }
                if progress::is_shown() && self.told.is_none() {
                    self.bar = Some(progress::bar(1_000, "{wide_msg}"));
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
                self.say(&say!("run-again", line = line));
            }
            Event::Failed { name, error } => {
                self.running.remove(*name);
                self.finished += 1;
                self.say(&say!("run-failed", name = name, error = error));
            }
        }
        self.draw();
    }

    fn say(&mut self, line: &str) {
        line.clone_into(&mut self.latest);
        match &self.bar {
            Some(bar) => bar.println(line),
            None if self.told.is_some() => {}
            None => terminal::remark(line),
        }
    }

    /// Thousandths of all runs that are done, those under way by their bytes.
    fn thousandths(&self) -> u64 {
        let under_way: u64 = self
            .running
            .values()
            .map(|(bytes, of)| bytes * 1_000 / (*of).max(1))
            .sum();
        (self.finished as u64 * 1_000 + under_way) / (self.total.max(1) as u64)
    }

    /// How far all runs are, for a program; not more often than one can look.
    fn tell(&mut self, ended: bool) {
        let Some(told) = self.told.filter(|told| ended || told.elapsed() >= TELL) else {
            return;
        };
        self.told = Some(if ended { told } else { Instant::now() });
        progress::tell(&progress::Told {
            finished: self.finished,
            total: self.total,
            done: self.thousandths() as f64 / 1_000.0,
            left_s: self.left_s(),
            running: self.running.keys().map(String::as_str).collect(),
            latest: &self.latest,
        });
    }

    fn draw(&mut self) {
        self.tell(false);
        let Some(bar) = &self.bar else { return };
        bar.set_position(self.thousandths());
        bar.set_message(say!(
            "run-progress",
            finished = self.finished,
            total = self.total,
            left = self.left()
        ));
    }

    /// The time left in seconds: that of the slowest running transfer, as far as it can be told.
    fn left_s(&self) -> Option<f64> {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let longest = self
            .running
            .values()
            .filter(|(bytes, of)| *bytes > 0 && of > bytes)
            .map(|(bytes, of)| elapsed / *bytes as f64 * (of - bytes) as f64)
            .fold(0.0, f64::max);
        (longest > 0.0).then_some(longest)
    }

    fn left(&self) -> String {
        match self.left_s() {
            Some(left) => say!("run-left", seconds = Duration::from_secs_f64(left).as_secs()),
            None => word!("run-starting").to_owned(),
        }
    }

    fn finish(&mut self) {
        self.tell(true);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Makes the report of a results folder again and prints its table.
pub(crate) fn report(folder: &Path, format: ResultsFormat) -> Result<u8, Failure> {
    let results = slowpath::report::again(folder).map_err(|error| Failure::usage(error.to_string()))?;
    terminal::results(&results, folder, format)?;
    Ok(exit::DONE)
}

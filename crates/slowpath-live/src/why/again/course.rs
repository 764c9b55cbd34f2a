//! The driver: runs the command in parts, as it is and changed in turns, and compares.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use slowpath_report::quantity;
use slowpath_units::ByteCount;
use slowpath_words::{english, english_word};

use super::change::{Again, Both};
use super::gauge::Most;
use super::part::{Part, PartOver};
use crate::why::error::WhyError;
use crate::why::target::Target;
use crate::why::trial::Trial;
use crate::why::trial::result::BlockAnswer;
use crate::why::watch::{Tick, WatchSpec, watch};

/// What to try by running a command again, and for how long.
#[derive(Debug, Clone)]
pub struct AgainSpec {
    /// The changes, one after the other.
    pub changes: Vec<Again>,
    /// Pairs of runs, as the command is and with the change.
    pub rounds: u32,
    /// When each run is ended.
    pub most: Most,
}

impl AgainSpec {
    /// What to know before it begins.
    pub fn before(&self) -> Vec<String> {
        let changes: Vec<String> = self.changes.iter().map(ToString::to_string).collect();
        vec![
            english!(
                "why-again-before",
                runs = 2 * self.rounds * u32::try_from(self.changes.len()).unwrap_or(u32::MAX),
                seconds = self.most.seconds,
                bytes = ByteCount::new(self.most.bytes),
                changes = changes.join(", ")
            ),
            english!("why-again-writes"),
        ]
    }
}

/// Runs the command in parts with each of the changes in turns; `tell` hears of every run.
///
/// # Errors
/// [`WhyError`].
pub fn try_again(
    words: &[String],
    spec: &AgainSpec,
    stop: &AtomicBool,
    tick: &mut dyn FnMut(&Tick),
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<Trial>, WhyError> {
    let mut trials = Vec::new();
    for change in &spec.changes {
        let trial = match change.of(words) {
            Ok(both) => try_one(change, &both, spec, stop, tick, tell)?,
            Err(why) => Trial::not_tried(change.to_string(), &why).again(),
        };
        trials.push(trial);
    }
    Ok(trials)
}

fn try_one(
    change: &Again,
    both: &Both,
    spec: &AgainSpec,
    stop: &AtomicBool,
    tick: &mut dyn FnMut(&Tick),
    tell: &mut dyn FnMut(&str),
) -> Result<Trial, WhyError> {
    let (begin, name) = (Instant::now(), change.to_string());
    let mut blocks: Vec<BlockAnswer> = Vec::new();
    let mut notes = Vec::new();
    let runs = 2 * spec.rounds;
    let mut ended = None;
    for run in 0..runs {
        if run > 0 {
            rest(stop);
        }
        if stop.load(Ordering::Relaxed) {
            ended = Some(english_word!("why-trial-interrupted").to_owned());
            break;
        }
        let on = run % 2 == 1;
        let offset = begin.elapsed().as_secs_f64();
        let over = part(both, change, on, spec.most, stop, tick)?;
        if stop.load(Ordering::Relaxed) {
            ended = Some(english_word!("why-trial-interrupted").to_owned());
            break;
        }
        let Some(rate) = over.gauge.rate() else {
            ended = Some(nothing_moved(&over, blocks.is_empty()));
            break;
        };
        if let Some(why) = over.refused {
            return Ok(Trial::not_tried(name, &why).again());
        }
        notes.extend(
            over.notes
                .into_iter()
                .filter(|note| !notes.contains(note))
                .collect::<Vec<_>>(),
        );
        let (from, to) = over.gauge.span();
        blocks.push(BlockAnswer {
            on,
            from_s: offset + from,
            to_s: offset + to,
            byte_per_s: rate,
        });
        let rate = quantity::byte_rate(rate);
        tell(&if on {
            english!(
                "why-again-run-changed",
                run = run + 1,
                runs = runs,
                change = name,
                rate = rate
            )
        } else {
            english!("why-again-run-plain", run = run + 1, runs = runs, rate = rate)
        });
    }
    Ok(match ended {
        Some(why) if blocks.is_empty() => Trial::not_tried(name, &why).again(),
        ended => Trial::of_runs(name, blocks, ended.as_deref(), notes),
    })
}

fn part(
    both: &Both,
    change: &Again,
    on: bool,
    most: Most,
    stop: &AtomicBool,
    tick: &mut dyn FnMut(&Tick),
) -> Result<PartOver, WhyError> {
    let line = if on { &both.changed } else { &both.plain };
    let spec = WatchSpec {
        target: Target::Command(line.words.clone()),
        duration: None,
        output: Stdio::null,
        trial: None,
        part: Some(Part {
            most,
            change: change.socket().filter(|_| on).cloned(),
            environment: line.environment.clone(),
        }),
    };
    let outcome = watch(&spec, stop, tick)?;
    outcome
        .part
        .ok_or(WhyError::Wait(std::io::ErrorKind::Other.into()))
}

/// Why a run says nothing, a clause.
fn nothing_moved(over: &PartOver, is_first: bool) -> String {
    let moved = quantity::bytes(over.gauge.bytes() as f64);
    let last = over.errors.lines().map(str::trim).rfind(|line| !line.is_empty());
    match last {
        Some(said) => english!("why-again-moved-said", moved = moved, said = said),
        None if is_first => english!("why-again-moved", moved = moved),
        None => english!("why-again-moved-less", moved = moved),
    }
}

/// Lets what the last run left on the path pass.
fn rest(stop: &AtomicBool) {
    let begin = Instant::now();
    while begin.elapsed() < REST && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Between two runs.
const REST: Duration = Duration::from_secs(1);

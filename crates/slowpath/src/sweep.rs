//! One experiment over ranges of settings, in simulated time, on all cores.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Serialize;
use slowpath_diagnose::stats::Summary;
use slowpath_record::{HealthState, RunRecord};
pub use slowpath_report::csv::mark;
use slowpath_report::quantity::RateUnit;
use slowpath_report::results::RunResult;
use slowpath_report::text::{Style, columns, left, right};
use slowpath_scenario::intervention::{ApplyError, Intervention, KEYS, SpellingError};
use slowpath_scenario::sweep::{MOST_COMBINATIONS, SweepError};
use slowpath_scenario::{Clock, Plan, PlanOptions, Sweep};
use slowpath_units::{BitRate, ByteCount, Duration, Ratio};

use crate::load::{LoadError, Loaded};
use crate::outcome;
use crate::processors;
use slowpath_words::{told, word};

/// The version of the form of `sweep.json`.
pub const SCHEMA: &str = "slowpath/sweep/1";

/// What to sweep.
#[derive(Debug, Clone)]
pub struct SweepOptions {
    /// The experiment: a built-in's name or a path.
    pub experiment: String,
    /// The sweeps as the user wrote them.
    pub sweeps: Vec<String>,
    /// Only these variants; empty means all.
    pub variants: Vec<String>,
    /// Repeats of every point and variant, instead of the experiment's own number.
    pub repeats: Option<u32>,
    /// The experiment's seed.
    pub seed: u64,
    /// Smaller transfers where the experiment offers them.
    pub quick: bool,
}

/// Why a sweep could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A sweep cannot be read.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// More combinations than anybody waits for.
    #[error(
        "the sweeps have {count} combinations; at most {MOST_COMBINATIONS} are computed, take larger steps"
    )]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// The experiment cannot be loaded with a value of the sweep.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A variant cannot be planned.
    #[error(transparent)]
    Plan(#[from] slowpath_scenario::plan::PlanError),
    /// A key that is neither short nor dotted.
    #[error(
        "--sweep {key}=...: there is no such setting{hint}; known are {}, and dotted keys of the experiment file such as network.both[0].rate",
        KEYS.join(", ")
    )]
    Key {
        /// The key.
        key: String,
        /// What was probably meant, or nothing.
        hint: String,
    },
    /// A short key's value has another form.
    #[error("--sweep {0}")]
    Value(#[from] SpellingError),
    /// A change does not fit the experiment.
    #[error(transparent)]
    Change(#[from] ApplyError),
    /// A run failed.
    #[error("{place} failed: {error}")]
    Run {
        /// Which point, variant and repeat.
        place: String,
        /// Why.
        error: String,
    },
    /// The user stopped it.
    #[error("interrupted; a sweep is not resumed, it starts again")]
    Interrupted,
}

/// Everything that a sweep found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Swept {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the experiment.
    pub experiment: String,
    /// Its seed.
    #[serde(serialize_with = "slowpath_record::text_number::serialize")]
    pub seed: u64,
    /// The swept keys, in the order given.
    pub keys: Vec<String>,
    /// The unit in which the source publishes rates.
    pub rate_unit: RateUnit,
    /// One entry for each combination of values and variant, the last key varying fastest.
    pub points: Vec<Point>,
}

/// One combination of values and one variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The values of the keys.
    pub values: Vec<String>,
    /// The variant.
    pub variant: String,
    /// Goodput over the complete runs, byte/s; absent without one.
    pub goodput_byte_per_s: Option<Summary>,
    /// The repeats.
    pub runs: Vec<Run>,
}

/// One simulated run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Its seed.
    #[serde(serialize_with = "slowpath_record::text_number::serialize")]
    pub seed: u64,
    /// Bytes that reached the receiving application.
    pub bytes: u64,
    /// From asking to the last byte.
    pub duration_s: f64,
    /// Bytes per second at the receiver.
    pub goodput_byte_per_s: f64,
    /// Segments sent again, if known.
    pub retransmitted_segments: Option<u64>,
    /// Share of the packets that did not arrive; absent where they were not counted.
    pub loss_fraction: Option<f64>,
    /// Whether it came to its end.
    pub complete: bool,
}

/// Computes every combination of the sweeps' values with every variant and repeat; `observe` is told how many of how
/// many runs are done.
///
/// # Errors
/// [`Error`]; a plan that cannot be made is found before anything is computed.
pub fn run(
    options: &SweepOptions,
    cancel: &AtomicBool,
    observe: &(dyn Fn(usize, usize) + Sync),
) -> Result<Swept, Error> {
    let sweeps: Vec<Sweep> = options
        .sweeps
        .iter()
        .map(|text| Sweep::parse(text))
        .collect::<Result<_, _>>()?;
    for sweep in &sweeps {
        if !sweep.key.contains('.') && !KEYS.contains(&sweep.key.as_str()) {
            let meant = slowpath_scenario::diagnostic::suggestion(&sweep.key, KEYS);
            return Err(Error::Key {
                key: sweep.key.clone(),
                hint: meant.map_or(String::new(), |meant| format!(" (did you mean `{meant}`?)")),
            });
        }
    }
    let combinations = Sweep::combinations(&sweeps).map_err(|count| Error::TooMany { count })?;
    let mut points = Vec::new();
    let mut jobs: Vec<(usize, Plan)> = Vec::new();
    let mut name = String::new();
    let mut rate_unit = RateUnit::default();
    for values in &combinations {
        let (short, dotted): (Vec<_>, Vec<_>) = values
            .iter()
            .cloned()
            .partition(|(key, _)| KEYS.contains(&key.as_str()));
        let loaded = Loaded::open_for(&options.experiment, &dotted, &options.variants)?;
        name.clone_from(&loaded.name);
        rate_unit = outcome::rate_unit(&loaded);
        for variant in &loaded.experiment.variants {
            if !options.variants.is_empty() && !options.variants.contains(&variant.name) {
                continue;
            }
            for repeat in 0..options.repeats.unwrap_or(variant.repeats.runs) {
                let mut plan = loaded.experiment.plan(
                    &PlanOptions {
                        variant: variant.name.clone(),
                        repeat,
                        seed: options.seed,
                        clock: Clock::Simulated,
                        quick: options.quick,
                        size: None,
                    },
                    &loaded.fragments,
                )?;
                for (key, value) in &short {
                    plan = match Intervention::spelled(key, value)?.apply(&plan) {
                        Ok(changed) => changed,
                        // A value that the experiment has anyway is a point like any other.
                        Err(ApplyError::NoEffect { .. }) => plan,
                        Err(error) => return Err(error.into()),
                    };
                }
                jobs.push((points.len(), plan));
            }
            points.push(Point {
                values: values.iter().map(|(_, value)| value.clone()).collect(),
                variant: variant.name.clone(),
                goodput_byte_per_s: None,
                runs: Vec::new(),
            });
        }
    }
    let runs = compute(&name, &jobs, cancel, observe)?;
    for ((point, _), run) in jobs.iter().zip(runs) {
        points[*point].runs.push(run);
    }
    for point in &mut points {
        let rates: Vec<f64> = point
            .runs
            .iter()
            .filter(|run| run.complete)
            .map(|run| run.goodput_byte_per_s)
            .collect();
        point.goodput_byte_per_s = Summary::of_rates(&rates);
    }
    Ok(Swept {
        schema: SCHEMA.to_owned(),
        experiment: name,
        seed: options.seed,
        keys: sweeps.into_iter().map(|sweep| sweep.key).collect(),
        rate_unit,
        points,
    })
}

/// Computes the jobs on as many threads as there are processors; results come in the order of the jobs.
///
/// Of each run only its line is kept: thousands of whole records are more than memory holds.
fn compute(
    experiment: &str,
    jobs: &[(usize, Plan)],
    cancel: &AtomicBool,
    observe: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Run>, Error> {
    let done = AtomicUsize::new(0);
    let results = processors::each(jobs.len(), &|index| {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (_, plan) = &jobs[index];
        let result = crate::simulated::bare(experiment, plan)
            .map(|record| Run::of(&record, plan))
            .map_err(|error| Error::Run {
                place: crate::run::run_name(plan),
                error: error.to_string(),
            });
        observe(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
        result
    });
    results.into_iter().collect()
}

impl Run {
    fn of(record: &RunRecord, plan: &Plan) -> Self {
        let result = RunResult::of(&outcome::measured(record, Some(plan)), None);
        let sent: u64 = record.flows.iter().map(|flow| flow.sent_packets).sum();
        let received: u64 = record.flows.iter().map(|flow| flow.received_packets).sum();
        Self {
            repeat: record.repeat,
            seed: record.seed,
            bytes: result.bytes,
            duration_s: result.duration_s,
            goodput_byte_per_s: result.goodput_byte_per_s,
            retransmitted_segments: result.retransmitted_segments,
            loss_fraction: (sent > 0).then(|| 1.0 - received as f64 / sent as f64),
            complete: result.complete && record.health.state != HealthState::Invalid,
        }
    }
}

/// Writes one line for each run, RFC 4180.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(swept: &Swept, out: &mut dyn Write) -> io::Result<()> {
    let quote = |text: &str| {
        if text.contains([',', '"', '\n']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let columns: Vec<Column> = (0..swept.keys.len())
        .map(|index| Column::of(swept, index))
        .collect();
    let keys: Vec<String> = columns.iter().map(|column| quote(&column.name)).collect();
    writeln!(
        out,
        "{},variant,repeat,seed,bytes,duration_s,goodput_byte_per_s,retransmitted_segments,loss_fraction,complete",
        keys.join(",")
    )?;
    for point in &swept.points {
        for run in &point.runs {
            let values: Vec<String> = point
                .values
                .iter()
                .zip(&columns)
                .map(|(value, column)| quote(&(column.number)(value).unwrap_or_else(|| value.clone())))
                .collect();
            writeln!(
                out,
                "{},{},{},{},{},{},{},{},{},{}",
                values.join(","),
                quote(&point.variant),
                run.repeat,
                run.seed,
                run.bytes,
                run.duration_s,
                run.goodput_byte_per_s,
                run.retransmitted_segments
                    .map_or(String::new(), |n| n.to_string()),
                run.loss_fraction.map_or(String::new(), |n| n.to_string()),
                run.complete
            )?;
        }
    }
    Ok(())
}

/// How the values of one swept setting stand in a table for programs: as numbers in a base unit that the name of the
/// column says, or as they were written where they are no quantities.
struct Column {
    name: String,
    number: fn(&str) -> Option<String>,
}

impl Column {
    fn of(swept: &Swept, index: usize) -> Self {
        type Quantity = (&'static str, fn(&str) -> Option<String>);
        let quantities: [Quantity; 4] = [
            ("bit/s", |text| {
                Some(text.parse::<BitRate>().ok()?.bits_per_s().to_string())
            }),
            ("s", |text| {
                Some(text.parse::<Duration>().ok()?.seconds().to_string())
            }),
            ("fraction", |text| {
                Some(text.parse::<Ratio>().ok()?.fraction().to_string())
            }),
            ("byte", |text| {
                Some(text.parse::<ByteCount>().ok()?.bytes().to_string())
            }),
        ];
        let key = &swept.keys[index];
        let fits = |number: fn(&str) -> Option<String>| {
            (swept.points.iter()).all(|point| {
                point
                    .values
                    .get(index)
                    .is_some_and(|value| number(value).is_some())
            })
        };
        match quantities.into_iter().find(|(_, number)| fits(*number)) {
            Some((unit, number)) => Self {
                name: format!("{key} [{unit}]"),
                number,
            },
            None => Self {
                name: key.clone(),
                number: |_| None,
            },
        }
    }
}

/// Writes everything as JSON.
///
/// # Errors
/// Those of `out`.
pub fn write_json(swept: &Swept, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, swept)?;
    writeln!(out)
}

/// Writes one line for each point: values, variant, goodput with its 95 % interval, runs.
///
/// # Errors
/// Those of `out`.
pub fn write_text(swept: &Swept, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut head: Vec<String> = swept.keys.clone();
    head.extend(
        [
            word!("head-variant"),
            word!("head-goodput"),
            word!("head-interval"),
            word!("head-runs"),
        ]
        .map(str::to_owned),
    );
    let mut rows = vec![head];
    for point in &swept.points {
        let mut row = point.values.clone();
        row.push(point.variant.clone());
        let goodput = point.goodput_byte_per_s.as_ref();
        row.push(goodput.map_or(told("none complete").into_owned(), |g| {
            swept.rate_unit.show(g.mean)
        }));
        row.push(goodput.map_or("-".to_owned(), |goodput| interval(goodput, swept.rate_unit)));
        let complete = point.runs.iter().filter(|run| run.complete).count();
        row.push(if complete == point.runs.len() {
            complete.to_string()
        } else {
            told(&format!("{complete} of {}", point.runs.len())).into_owned()
        });
        rows.push(row);
    }
    for row in rows.iter_mut().skip(1) {
        for cell in row.iter_mut().skip(swept.keys.len() + 1) {
            *cell = told(cell).into_owned();
        }
    }
    let name = swept.keys.len();
    let widths: Vec<usize> = (0..name + 4)
        .map(|i| rows.iter().map(|row| columns(&row[i])).max().unwrap_or(0))
        .collect();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(i, cell)| {
                if i == name {
                    left(cell, widths[i])
                } else {
                    right(cell, widths[i])
                }
            })
            .collect();
        let line = cells.join("  ");
        if number == 0 {
            writeln!(out, "{}", style.bold(&line))?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The 95 % interval of a rate: `± half` where its ends lie about as far from the mean, else both ends.
fn interval(goodput: &Summary, unit: RateUnit) -> String {
    match (goodput.even_half_width(), goodput.low95.zip(goodput.high95)) {
        (Some(half), _) => format!("± {}", unit.show(half)),
        (None, Some((low, high))) => format!("{} to {}", unit.show(low), unit.show(high)),
        (None, None) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interval_of_a_rate_reaches_below_zero() {
        let goodput = Summary::of_rates(&[1_500_000.0, 3_480_000.0]).unwrap();
        let text = interval(&goodput, RateUnit::Bytes);
        assert!(text.contains(" to ") && !text.contains('-'), "{text}");
        let even = Summary::of_rates(&[1_000_000.0, 1_001_000.0]).unwrap();
        assert!(interval(&even, RateUnit::Bytes).starts_with("± "));
    }

    /// A key that only some variants have sweeps those, and an override need not fit the others.
    #[test]
    fn only_the_chosen_variants_are_swept() {
        let options = SweepOptions {
            experiment: "iperf3-modes".to_owned(),
            variants: vec!["wired-1g-udp-1m".to_owned()],
            repeats: Some(1),
            ..options(&["network.up[3].per_packet=11 us,12 us"])
        };
        let swept =
            run(&options, &AtomicBool::new(false), &|_, _| {}).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(swept.points.len(), 2);
        assert!(
            swept
                .points
                .iter()
                .all(|point| point.variant == "wired-1g-udp-1m")
        );
    }

    fn options(sweeps: &[&str]) -> SweepOptions {
        SweepOptions {
            experiment: "cisco-ftp".to_owned(),
            sweeps: sweeps.iter().map(|&sweep| sweep.to_owned()).collect(),
            variants: vec!["iosxe-default".to_owned()],
            repeats: Some(2),
            seed: 1,
            quick: true,
        }
    }

    fn sweep(sweeps: &[&str]) -> Result<Swept, Error> {
        run(&options(sweeps), &AtomicBool::new(false), &|_, _| {})
    }

    #[test]
    fn a_window_limited_transfer_follows_the_delay() {
        let swept = sweep(&["delay=20 ms..80 ms by 2", "loss=0 %"]).unwrap();
        assert_eq!(swept.keys, ["delay", "loss"]);
        let rates: Vec<f64> = swept
            .points
            .iter()
            .map(|point| point.goodput_byte_per_s.as_ref().unwrap().mean)
            .collect();
        assert_eq!(rates.len(), 3);
        // Window over round-trip time: half the rate at twice the delay.
        for pair in rates.windows(2) {
            assert!((1.8..2.2).contains(&(pair[0] / pair[1])), "{rates:?}");
        }
        assert!(swept.points.iter().all(|point| point.runs.len() == 2));
        let mut csv = Vec::new();
        write_csv(&swept, &mut csv).unwrap();
        assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 7);
        let mut text = Vec::new();
        write_text(&swept, Style::default(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    }

    #[test]
    fn the_same_sweep_gives_the_same_bytes_on_any_number_of_threads() {
        let [a, b] = [(); 2].map(|()| sweep(&["loss=0.01 %,0.1 %"]).unwrap());
        assert_eq!(a, b);
    }

    #[test]
    fn frames_are_swept_too() {
        let file = std::env::temp_dir().join(format!("slowpath-sweep-{}.toml", std::process::id()));
        let text = "title = \"t\"\n[network]\nup = [{ rate = \"1 Gbit/s\" }]\ndown = []\n[workload]\nkind = \"frames\"\n\
                    frame = \"1024 B\"\nline = \"100 Mbit/s\"\nload = \"80 %\"\nduration = \"1 s\"\n";
        std::fs::write(&file, text).unwrap();
        let options = SweepOptions {
            experiment: file.display().to_string(),
            variants: Vec::new(),
            repeats: Some(1),
            ..options(&["rate=40 Mbit/s,1 Gbit/s"])
        };
        let swept = run(&options, &AtomicBool::new(false), &|_, _| {});
        std::fs::remove_file(&file).unwrap();
        let lost: Vec<f64> = swept
            .unwrap()
            .points
            .iter()
            .map(|point| point.runs[0].loss_fraction.unwrap())
            .collect();
        // About half of 80 Mbit/s passes through 40, and all of it through 1 Gbit/s.
        assert!((0.3..0.6).contains(&lost[0]) && lost[1] < 1e-9, "{lost:?}");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("loss=red", "loss=red"),
            ("los=1 %", "los"),
            ("loss=0.1 %..9 %", "needs a step"),
            ("part-size=8 MiB", "part"),
        ] {
            let error = sweep(&[text]).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}

//! `slowpath sweep`, `slowpath merge` and `slowpath run --sweep`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};
use slowpath::interrupt;
use slowpath::sweep::{self, Design, Error, Narrow, Shard, SweepOptions, Swept};
use slowpath_words::say;

use crate::exit::{self, Failure};
use crate::numbers::{any, whole};
use crate::{progress, terminal};

/// `slowpath sweep`.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Name of a built-in experiment (see `slowpath list`) or path of an experiment file
    pub(crate) experiment: String,
    /// Settings with their values, e.g. 'rate=10 Mbit/s..100 Mbit/s step 10 Mbit/s', 'loss=0.001%..1%:log10' or
    /// 'congestion-control=cubic,bbr'; a dotted key of the experiment file is a setting too
    #[arg(required = true, value_name = "KEY=RANGE")]
    pub(crate) sweeps: Vec<String>,
    /// Not every combination but a Latin hypercube's sample of so many points; ranges are 'KEY=A..B' or 'KEY=A..B:log'
    #[arg(long, value_name = "POINTS", value_parser = whole::<usize>(1, 1_000_000))]
    pub(crate) sample: Option<usize>,
    /// Only this variant; may be given several times
    #[arg(long = "variant", value_name = "NAME")]
    pub(crate) variants: Vec<String>,
    /// Repeats of every point and variant, instead of the experiment's own number
    #[arg(long, value_parser = whole::<u32>(1, 10_000))]
    pub(crate) repeats: Option<u32>,
    /// Repeat each point, at least three times, until its 95 % interval is within this share of the mean, such as 5 %
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "repeats")]
    pub(crate) within: Option<f64>,
    /// Repeats at most, with --within
    #[arg(long, default_value_t = 100, value_parser = whole::<u32>(3, 10_000), requires = "within")]
    pub(crate) most: u32,
    /// Seed from which all random streams are derived; repeats of the same number have the same at every point
    #[arg(long, default_value_t = 1, value_parser = any())]
    pub(crate) seed: u64,
    /// Smaller transfers for slow variants; the output says which
    #[arg(long)]
    pub(crate) quick: bool,
    /// Compute one part of several, such as 2/4; `slowpath merge` puts the parts together
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
    /// On the workers of a Dask cluster at this address, by the Python package (`pip install slowpath[dask]`); --out must be
    /// a folder that all of them see
    #[arg(long, value_name = "ADDRESS", conflicts_with = "shard", requires = "out")]
    pub(crate) dask: Option<String>,
    /// Also keep samples over time (window, queue, round trip), as a table
    #[arg(long)]
    pub(crate) samples: bool,
    /// Results folder; runs that lie there are not computed again
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Form of what is printed
    #[arg(long, value_enum, default_value_t = SweepFormat::Text)]
    pub(crate) format: SweepFormat,
}

/// `slowpath merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of `slowpath sweep --shard`; one that all shards wrote to is enough
    #[arg(required = true, value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// Results folder; without it the first of the folders
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Form of what is printed
    #[arg(long, value_enum, default_value_t = SweepFormat::Text)]
    pub(crate) format: SweepFormat,
}

/// Form of a sweep's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SweepFormat {
    /// For the terminal
    Text,
    /// The whole document, as in sweep.json
    Json,
    /// One run a line, comma-separated
    Csv,
}

/// Computes a sweep, or a part of it.
pub(crate) fn sweep(args: &SweepArgs) -> Result<u8, Failure> {
    let options = SweepOptions {
        experiment: args.experiment.clone(),
        sweeps: args.sweeps.clone(),
        sample: args.sample,
        variants: args.variants.clone(),
        repeats: args.repeats,
        narrow: args.within.map(|within| Narrow {
            within,
            most: args.most,
        }),
        seed: args.seed,
        quick: args.quick,
        explained: true,
        samples: args.samples,
    };
    match (&args.dask, &args.out) {
        (Some(address), Some(out)) => on_cluster(&options, address, out, args.format),
        _ => compute(&options, args.shard, args.out.as_deref(), args.format),
    }
}

/// Computes `options` on the workers of a Dask cluster, which write into `out`, and puts together what they wrote.
fn on_cluster(options: &SweepOptions, address: &str, out: &Path, format: SweepFormat) -> Result<u8, Failure> {
    let design = Design::of(options).map_err(failure)?;
    // Makes the folder and leaves the design there, where the workers read it.
    sweep::missing(design, out).map_err(failure)?;
    let python = std::env::var_os(PYTHON).unwrap_or_else(|| "python3".into());
    let shown = python.display().to_string();
    let ended = Command::new(python)
        .args(["-m", "slowpath._dask", address])
        .arg(out)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| {
            Failure::machine(format!(
                "sweeping on a cluster: starting {shown} failed: {error}; {PYTHON} names the interpreter with the package slowpath"
            ))
        })?;
    if !ended.success() {
        return Err(Failure::machine(format!(
            "sweeping on a cluster: {shown} -m slowpath._dask ended with {ended}; it needs `pip install slowpath[dask]` ({PYTHON} names another interpreter). What was computed lies in {}, and the same command goes on",
            out.display()
        )));
    }
    let swept = sweep::merge(&[out.to_owned()], out).map_err(failure)?;
    show(&swept, out, format)?;
    Ok(exit::DONE)
}

/// Computes `options` into a folder and prints the table; of a shard only where it lies.
pub(crate) fn compute(
    options: &SweepOptions,
    shard: Option<Shard>,
    out: Option<&Path>,
    format: SweepFormat,
) -> Result<u8, Failure> {
    let out = out.map_or_else(|| free_folder(options), Path::to_owned);
    let cancel = interrupt::flag();
    let bar = progress::is_shown().then(|| progress::bar(0, progress::computed()));
    let swept = sweep::run_in(options, shard, &out, &cancel, &|done, all| {
        if let Some(bar) = &bar {
            // The place first: a bar without a place has no time left.
            bar.set_position(done as u64);
            bar.set_length(all as u64);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    match swept.map_err(failure)? {
        Some(swept) => show(&swept, &out, format)?,
        None => terminal::remark(&say!("sweep-shard", folder = out.display())),
    }
    Ok(exit::DONE)
}

/// Puts parts of a sweep together.
pub(crate) fn merge(args: &MergeArgs) -> Result<u8, Failure> {
    let out = args.out.as_ref().unwrap_or(&args.folders[0]);
    let swept = sweep::merge(&args.folders, out).map_err(failure)?;
    show(&swept, out, args.format)?;
    Ok(exit::DONE)
}

fn show(swept: &Swept, out: &Path, format: SweepFormat) -> Result<(), Failure> {
    match format {
        SweepFormat::Text => terminal::swept(swept, out),
        SweepFormat::Json => file(out, sweep::DOCUMENT),
        SweepFormat::Csv => file(out, sweep::RUNS),
    }
}

/// Prints a file of the results folder.
fn file(folder: &Path, name: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    let content =
        std::fs::read(&path).map_err(|error| Failure::usage(slowpath::input::problem(&path, &error)))?;
    terminal::print(|out| out.write_all(&content))
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Interrupted { .. } => Failure::interrupted(error.to_string()),
        Error::Run { .. } => Failure::machine(error.to_string()),
        error => Failure::usage(error.to_string()),
    }
}

/// The variable of the environment that names the interpreter of the Python package.
const PYTHON: &str = "SLOWPATH_PYTHON";

/// The default folder, or the first of those numbered from 2 behind it that holds no sweep over other settings.
fn free_folder(options: &SweepOptions) -> PathBuf {
    let first = default_folder(&options.experiment);
    let mut folder = first.clone();
    for number in 2_u32.. {
        if !sweep::holds_another(options, &folder) {
            break;
        }
        folder = PathBuf::from(format!("{}-{number}", first.display()));
    }
    folder
}

/// `results/NAME-sweep`, by the name of a built-in experiment or of the file.
fn default_folder(experiment: &str) -> PathBuf {
    let path = Path::new(experiment);
    let stem = path.file_stem().unwrap_or_default();
    let name = match (stem.to_str(), path.parent().and_then(Path::file_name)) {
        (Some("experiment"), Some(folder)) => folder,
        _ => stem,
    };
    Path::new("results").join(format!("{}-sweep", name.display()))
}

fn shard(text: &str) -> Result<Shard, String> {
    let read = || {
        let (index, of) = text.split_once('/')?;
        let (index, of): (usize, usize) = (index.parse().ok()?, of.parse().ok()?);
        (1..=of).contains(&index).then(|| Shard { index: index - 1, of })
    };
    read().ok_or_else(|| "write which part of how many, such as 2/4".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share: slowpath::Ratio = text
        .parse()
        .map_err(|_| "write a share of the mean, such as 5 %".to_owned())?;
    if share.fraction() > 0.0 {
        Ok(share.fraction())
    } else {
        Err("an interval of no width is never reached; write a share such as 5 %".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_and_shares_are_read() {
        assert_eq!(shard("2/4"), Ok(Shard { index: 1, of: 4 }));
        for wrong in ["0/4", "5/4", "2", "/", "a/b", "-1/4", "1/0"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
        assert!((share("5 %").unwrap() - 0.05).abs() < 1e-12);
        assert!(share("0 %").is_err() && share("x").is_err());
        assert_eq!(default_folder("a/experiment.toml"), Path::new("results/a-sweep"));
        assert_eq!(default_folder("cisco-ftp"), Path::new("results/cisco-ftp-sweep"));
    }
}

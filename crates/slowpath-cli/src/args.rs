//! What the user typed, before anything is looked at.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use slowpath::Warning;

use crate::form::ResultsFormat;
use crate::measure::{DiagnosePathArgs, MeasureArgs, ServeArgs};
use crate::numbers::{any, whole};
use crate::shell::ShellArgs;
use crate::sweep::{MergeArgs, SweepArgs};
use crate::ui::UiArgs;
use crate::why::WhyArgs;

/// Version of the program, what it was built from, and the version of the model.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let (version, build) = (env!("CARGO_PKG_VERSION"), env!("SLOWPATH_BUILD"));
    format!("{version} (build {build}, model {})", slowpath::MODEL)
});

/// Finds out why a bulk transfer over a network path is slow, and proves it.
#[derive(Debug, Parser)]
#[command(
    name = "slowpath",
    version = VERSION.as_str(),
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(
    after_help = "Exit codes: 0 done; 1 with --check, a figure missed its reference; 2 wrong usage or input; \
3 this machine cannot (see `slowpath doctor`); 4 every run was invalid; 130 Ctrl-C."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Also reasons, evidence and rejected alternatives
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Answers and errors alone
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Do not show this kind of warning; its name stands before it. May be given several times
    #[arg(long, global = true, value_name = "WARNING", value_parser = warning())]
    pub(crate) hide: Vec<Warning>,
    /// End with the process of this number, which started this one (not for people)
    #[arg(long, global = true, hide = true, value_name = "PID")]
    pub(crate) end_with_parent: Option<u32>,
    /// Language of what people read; without it that of the locale (LC_ALL, LC_MESSAGES, LANG). JSON stays English
    #[arg(long, global = true, value_name = "LANGUAGE", value_parser = crate::language::parser())]
    pub(crate) lang: Option<slowpath::words::Language>,
}

/// Reads a warning's name; the list is the one from which warnings take their names.
fn warning() -> impl TypedValueParser<Value = Warning> {
    let known = Warning::ALL.map(|warning| PossibleValue::new(warning.name()).help(warning.about()));
    PossibleValuesParser::new(known).map(|name| {
        let of_name = |warning: &Warning| warning.name() == name;
        Warning::ALL
            .into_iter()
            .find(of_name)
            .expect("only names of the list are possible")
    })
}

/// The tasks of slowpath.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment: a built-in one by name, or a file
    Run(RunArgs),
    /// Compute an experiment over ranges of settings in simulated time: tables of runs, flows and ledgers
    Sweep(SweepArgs),
    /// Put the parts of a sweep together, computed on several machines
    Merge(MergeArgs),
    /// Run any program over an emulated path, e.g. 'rate 50 Mbit/s, delay 50 ms, loss 0.01 %' (each way)
    Shell(ShellArgs),
    /// Attach to a transfer that is slow now, without root, and say why; alone it lists the busiest
    Why(WhyArgs),
    /// Find out what limits each variant of an experiment, and prove it: change one thing, predict, run again
    Diagnose(DiagnoseArgs),
    /// Find out what limits a live path, from one end
    #[command(
        name = "diagnose-path",
        hide = true,
        override_usage = "slowpath diagnose SERVICE://HOST [SERVICE://HOST...] [OPTIONS]"
    )]
    DiagnosePath(DiagnosePathArgs),
    /// Read a capture and say what limited the transfer
    Explain(ExplainArgs),
    /// Find the path behind a capture by simulation, and write it as an experiment file
    Fit(FitArgs),
    /// Run a capture's transfer once more, on the path fitted to it with the kernel's TCP, and lay the two beside each other
    Reproduce(ReproduceArgs),
    /// Say what a device's configuration means for throughput, line by line
    Config(ConfigArgs),
    /// Make the report again from the records of a results folder
    Report(ReportArgs),
    /// Compare two results folders, variant by variant
    Compare(CompareArgs),
    /// All of this in a browser, on this machine alone: captures, experiments, a history
    Ui(UiArgs),
    /// List the built-in experiments and their variants
    List,
    /// Say what this machine permits, and how to fix what it does not
    Doctor,
    /// Measure a live path with one tool: iperf3, ftp, ssh, s3, ping, trace, mtu, sweep
    Measure(MeasureArgs),
    /// Be the other end: an iperf3-compatible server and more
    Serve(ServeArgs),
    /// Print the JSON schema of experiment files, for editors that complete and check them
    Schema,
    /// Print what a shell needs to complete slowpath's commands and options
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write a manual page for each command into a folder (for packages)
    #[command(hide = true)]
    Manual {
        /// The folder, made where it is missing
        folder: PathBuf,
    },
    /// Restores what a trial changed when `why` is gone (not for people)
    #[command(hide = true)]
    Guard,
    /// One run in a process of its own (not for people)
    #[command(hide = true)]
    Worker {
        /// The job, as JSON
        job: PathBuf,
    },
}

/// Which experiment, which of its variants and how often, and where the results go: of `slowpath run` and `diagnose`.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// Name of a built-in experiment (see `slowpath list`) or path of an experiment file
    pub(crate) experiment: String,
    /// Only this variant; may be given several times
    #[arg(long = "variant", value_name = "NAME")]
    pub(crate) variants: Vec<String>,
    /// Repeats of every variant, instead of the experiment's own number
    #[arg(long, value_parser = whole::<u32>(1, 10_000))]
    pub(crate) repeats: Option<u32>,
    /// Seed from which all random streams are derived
    #[arg(long, default_value_t = 1, value_parser = any())]
    pub(crate) seed: u64,
    /// A value laid over the experiment file and all its variants, e.g. 'network.down[0].rate=10 Mbit/s'; may be given
    /// several times
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Smaller transfers for slow variants; the output says which
    #[arg(long)]
    pub(crate) quick: bool,
    /// Results folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Form of what is printed
    #[arg(long, value_enum, default_value_t = ResultsFormat::Text)]
    pub(crate) format: ResultsFormat,
}

/// `slowpath run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) of: ExperimentArgs,
    /// Which clock: simulated time, the lab's real time, both, or what suits each variant
    #[arg(long, value_enum, default_value_t = Clock::Auto)]
    pub(crate) clock: Clock,
    /// Compute a range of one setting in simulated time, e.g. 'loss=0.001%..1%:log10', 'delay=5 ms..100 ms by 2',
    /// 'congestion-control=cubic,bbr' or a dotted key of the experiment file; may be given several times
    #[arg(long = "sweep", value_name = "KEY=RANGE")]
    pub(crate) sweeps: Vec<String>,
    /// Exit with 1 if a figure misses its reference
    #[arg(long)]
    pub(crate) check: bool,
    /// Change one thing of each variant, predict what that gives, run again and compare
    #[arg(long)]
    pub(crate) prove: bool,
    /// Without packet captures (then there is no verdict)
    #[arg(long)]
    pub(crate) no_capture: bool,
    /// How many slow paths may run side by side
    #[arg(long, default_value_t = 16, value_parser = whole::<u32>(1, 64))]
    pub(crate) side_by_side: u32,
    /// How progress is told on standard error
    #[arg(long, value_enum, default_value_t = ProgressFormat::Auto)]
    pub(crate) progress: ProgressFormat,
}

/// How progress is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressFormat {
    /// A bar on a terminal, a line a finished run elsewhere
    Auto,
    /// For programs: how far all runs are, as JSON lines
    Jsonl,
}

/// `slowpath diagnose`.
#[derive(Debug, Args)]
#[command(
    after_help = "A live path instead: slowpath diagnose iperf3://HOST (or ssh, ftp, s3) tests it from this end, one change at a time; \
slowpath diagnose iperf3://HOST --help lists its options."
)]
pub(crate) struct DiagnoseArgs {
    #[command(flatten)]
    pub(crate) of: ExperimentArgs,
    /// Which clock: simulated time, or the lab's real time
    #[arg(long, value_enum, default_value_t = OneClock::Simulated)]
    pub(crate) clock: OneClock,
    /// Exit with 1 if a prediction was refuted
    #[arg(long)]
    pub(crate) check: bool,
}

/// A clock on which something is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OneClock {
    /// Simulated time
    Simulated,
    /// Real time
    Lab,
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| "write KEY=VALUE, such as network.down[0].rate=10 Mbit/s".to_owned())
}

/// Which clock a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clock {
    /// Simulated time for frame generators, real time for everything else
    Auto,
    /// Simulated time
    Simulated,
    /// Real time
    Lab,
    /// Each variant in both
    Both,
}

/// `slowpath explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A pcap or pcapng file, compressed or not, - for standard input, a results folder with one run, or what `iperf3 -J` or ndt7 wrote.
    /// Two captures: both ends of the same flow, or a good and a bad transfer. More, or folders: all transfers in one table.
    /// Files that continue each other, as dumpcap -b and tcpdump -C write them, are one capture
    #[arg(required = true, value_name = "CAPTURE")]
    pub(crate) captures: Vec<PathBuf>,
    /// For answers that leave the house: addresses replaced (prefixes kept), ports and names of files as well
    #[arg(long)]
    pub(crate) anonymize: bool,
    /// With --anonymize: keep these as they are; may be given several times
    #[arg(long, value_enum, value_name = "WHAT", requires = "anonymize")]
    pub(crate) keep: Vec<KeepWhat>,
    /// With --anonymize: also write the capture itself to this file, without addresses, names and payload
    #[arg(short = 'o', long, value_name = "FILE", requires = "anonymize")]
    pub(crate) copy: Option<PathBuf>,
    /// Read on as the file grows, until Ctrl-C, and say meanwhile how it goes; with - as well
    #[arg(long)]
    pub(crate) follow: bool,
    /// With --follow: end when nothing was added for so many seconds
    #[arg(long, value_name = "SECONDS", requires = "follow", value_parser = whole::<u32>(1, 1_000_000))]
    pub(crate) idle: Option<u32>,
    /// One table whatever is named, with every file for itself: two are not compared, and none are joined
    #[arg(long)]
    pub(crate) each: bool,
    /// Form of the answer; `--json` is `--format json`
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Only connections with this number, or with this in an address and port, such as 10.0.0.1: or :443
    #[arg(long, value_name = "WHICH")]
    pub(crate) only: Option<String>,
    /// Also say what Wireshark calls late and repeated segments, what they were, and why (JSON and the page always do)
    #[arg(long)]
    pub(crate) wireshark: bool,
    /// The line's rate where you know it, such as '100 Mbit/s': the ledger then says what each cause costs
    #[arg(long, value_name = "RATE")]
    pub(crate) capacity: Option<String>,
    /// Write remedies in the language of this system as well: rtx, ios, ssh, sysctl or tc
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) system: Option<String>,
    /// Also add the capture as a run to this results folder, for `report` and `compare`
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// What a change would give, by the path fitted to the capture, e.g. 'congestion-control=bbr', 'window=2 MB' or
    /// 'streams=4 and policer=none'; `usual` asks for the changes that make sense. May be given several times
    #[arg(long = "what-if", value_name = "CHANGE")]
    pub(crate) what_if: Vec<String>,
}

/// What an anonymised answer keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepWhat {
    /// Ports, by which services are known
    Ports,
    /// Names of files
    Names,
}

/// `slowpath fit`.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// A pcap or pcapng file, compressed or not, or - for standard input
    pub(crate) capture: PathBuf,
    /// Write the path as an experiment file, for `slowpath run FILE --clock simulated`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The connection with this number; without, the one that moved the most data
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0, u64::from(u32::MAX)))]
    pub(crate) flow: Option<u32>,
    /// Simulations of the search at most; telling how far each number may be off takes up to some hundred more
    #[arg(long, default_value_t = 360, value_parser = whole::<u32>(40, 100_000))]
    pub(crate) simulations: u32,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = FitFormat::Text)]
    pub(crate) format: FitFormat,
}

/// `slowpath reproduce`.
#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// A pcap or pcapng file, compressed or not, or - for standard input
    pub(crate) capture: PathBuf,
    /// The connection with this number; without, the one that moved the most data
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0, u64::from(u32::MAX)))]
    pub(crate) flow: Option<u32>,
    /// How often
    #[arg(long, default_value_t = 3, value_parser = whole::<u32>(1, 100))]
    pub(crate) repeats: u32,
    /// Which clock: the lab's real time with the kernel's TCP, or simulated time
    #[arg(long, value_enum, default_value_t = OneClock::Lab)]
    pub(crate) clock: OneClock,
    /// Results folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = FitFormat::Text)]
    pub(crate) format: FitFormat,
}

/// Form of a fitted path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FitFormat {
    /// For the terminal
    Text,
    /// For programs
    Json,
}

/// Form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For the terminal
    Text,
    /// For programs
    Json,
    /// For programs, one connection a line
    Jsonl,
    /// One self-contained page
    Html,
}

/// `slowpath config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The device's configuration as text; - for standard input
    pub(crate) file: PathBuf,
    /// Whose configuration it is: rtx, ios, ssh, sysctl or tc; guessed from the text if not given
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) system: Option<String>,
    /// Model or version, where they differ: rtx2000, or what `ssh -V` prints
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Only what the lines mean: simulate nothing
    #[arg(long)]
    pub(crate) lines_only: bool,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = ConfigFormat::Text)]
    pub(crate) format: ConfigFormat,
}

/// Form of what a configuration means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConfigFormat {
    /// For the terminal
    Text,
    /// For programs
    Json,
}

/// `slowpath report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A results folder of `slowpath run`
    pub(crate) folder: PathBuf,
    /// Form of what is printed
    #[arg(long, value_enum, default_value_t = ResultsFormat::Text)]
    pub(crate) format: ResultsFormat,
}

/// `slowpath compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The results folder to compare with
    pub(crate) before: PathBuf,
    /// The results folder that is compared
    pub(crate) after: PathBuf,
    /// Exit with 1 if a variant became slower
    #[arg(long)]
    pub(crate) check: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_name_only_arguments_that_exist() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}

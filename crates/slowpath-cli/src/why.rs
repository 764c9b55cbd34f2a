//! `slowpath why`.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::{Args, ValueEnum};
use slowpath::ByteCount;
use slowpath::why::again::{Again, AgainSpec, Most};
use slowpath::why::trial::{self, Change, Trial, TrialSpec};
use slowpath::why::{self, Answer, Outcome, Peer, Target, WatchSpec, WhyError};
use slowpath::{beside, json, keep};

use crate::exit::{self, Failure};
use crate::measure::port;
use crate::numbers::whole;
use crate::terminal;

/// `slowpath why`.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// A running process: its connections and its children's
    #[arg(long, value_name = "PID", group = "target", value_parser = whole::<u32>(1, 4_194_304))]
    pid: Option<u32>,
    /// Connections with this port at either end, whoever owns them
    #[arg(long, value_name = "PORT", group = "target", value_parser = port())]
    port: Option<u16>,
    /// Connections to this peer, whoever owns them
    #[arg(long, value_name = "HOST[:PORT]", group = "target")]
    to: Option<String>,
    /// Watch unattended until Ctrl-C: learn what each job usually does, and tell of a job that falls below it
    #[arg(long, conflicts_with = "command")]
    watch: bool,
    /// Seconds to watch, 10 if not given; a command is watched until it ends
    #[arg(long = "for", value_name = "SECONDS", conflicts_with = "command",
        value_parser = whole::<u32>(1, 1_000_000))]
    duration: Option<u32>,
    /// Form of the answer; with a command, text goes to standard error and the others to standard output
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// Also add the watch as a run to this results folder, for `report` and `compare`; with --watch, where runs and what is usual
    /// are kept instead of $XDG_STATE_HOME/slowpath/watch
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also try changes on the command's own connections, in turns with none, and say what each gives: congestion-control=NAME,
    /// pacing-rate=RATE (or off), mark=DSCP, send-buffer=SIZE, receive-buffer=SIZE, window-clamp=SIZE, unsent-lowat=SIZE;
    /// without any, what the limit suggests. What a connection had is given back
    #[arg(long = "try", value_name = "CHANGE", num_args = 0..)]
    trials: Option<Vec<Change>>,
    /// First run the command in shortened runs, as it is and with the change in turns, and say what it gives; then run it to its
    /// end. For what belongs to the program or to the opening of a connection: ipqos=VALUE, cipher=NAME, compression=yes (ssh,
    /// scp, sftp, rsync, git, borg), option='WORDS', command='COMMAND', or what --try takes, set before the connection opens
    #[arg(long, value_name = "CHANGE", num_args = 1.., conflicts_with_all = ["trials", "watch"])]
    again: Vec<Again>,
    /// Runs as it is, and as many with the change, for --again
    #[arg(long, value_name = "N", default_value_t = 3, requires = "again", value_parser = whole::<u32>(3, 50))]
    rounds: u32,
    /// Seconds of data after which a shortened run is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 10, requires = "again", value_parser = whole::<u32>(1, 3_600))]
    each: u32,
    /// Data after which a shortened run is ended
    #[arg(long, value_name = "SIZE", default_value = "256 MiB", requires = "again")]
    cap: ByteCount,
    /// Also capture the headers of the connections' packets, which decide what samples cannot; FILE keeps them (pcapng). It takes
    /// CAP_NET_RAW
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "watch")]
    #[allow(clippy::option_option)] // not wanted, wanted, wanted and kept
    capture: Option<Option<PathBuf>>,
    /// A command to start and watch
    #[arg(last = true, group = "target")]
    command: Vec<String>,
}

/// Form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For the terminal
    Text,
    /// One document for programs
    Json,
    /// One line for each quarter of a second, then the document in one line
    Jsonl,
}

/// Watches transfers that run now and says why they are slow.
pub(crate) fn why(args: &WhyArgs) -> Result<u8, Failure> {
    if args.trials.is_some() && args.command.is_empty() {
        return Err(Failure::usage(
            "trying changes with --try: no command is given, and connections of programs that slowpath did not start are never \
             changed; write the command behind --, such as `slowpath why --try -- scp FILE HOST:`"
                .to_owned(),
        ));
    }
    if !args.again.is_empty() && args.command.is_empty() {
        return Err(Failure::usage(
            "running a command again with --again: no command is given; write it behind --, such as `slowpath why --again ipqos=none \
             -- scp FILE HOST:`"
                .to_owned(),
        ));
    }
    refuse_what_cannot_be_tried(args)?;
    let target = target(args)?;
    if args.watch {
        let duration = args.duration.map(|seconds| Duration::from_secs(seconds.into()));
        return crate::attend::attend(target, duration, args.format != Form::Text, args.out.as_deref());
    }
    let Some(target) = target else {
        return list(args);
    };
    let is_command = matches!(target, Target::Command(_));
    let place = args
        .capture
        .as_ref()
        .map(|file| beside::Place::new(file.as_deref()))
        .transpose()
        .map_err(|error| Failure::machine(error.to_string()))?;
    let spec = WatchSpec {
        duration: (!is_command).then(|| Duration::from_secs(u64::from(args.duration.unwrap_or(10)))),
        output: if args.format == Form::Text {
            Stdio::inherit
        } else {
            || Stdio::from(io::stderr())
        },
        trial: args.trials.as_ref().map(|changes| TrialSpec {
            changes: changes.clone(),
            guardian: vec![SELF.into(), "guard".into()],
        }),
        target,
        part: None,
    };
    for text in args
        .trials
        .iter()
        .flat_map(|changes| trial::text::before(changes))
    {
        terminal::remark(&format!("slowpath: {text}"));
    }
    let stop = Arc::new(AtomicBool::new(false));
    if is_command {
        slowpath::interrupt::note_interrupt(&stop);
    } else {
        slowpath::interrupt::on_interrupt(&stop);
    }
    let line = args.format == Form::Text && io::stderr().is_terminal();
    let again = run_again(args, &stop, line)?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) && !again.is_empty() {
        return interrupted(args, &again);
    }
    // A reader that has seen enough ends the watch; a command that was started goes on to its end.
    let mut gone = None;
    let capture = place.as_ref().map(beside::Place::spec);
    let outcome = why::watch_capturing(&spec, capture.as_ref(), &stop, &mut |tick| match args.format {
        Form::Jsonl if gone.is_none() => {
            if let Err(error) = writeln!(io::stdout(), "{}", why::text::tick_json(tick)) {
                gone = Some(error);
                if !is_command {
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                }
            }
        }
        _ if line => {
            overwrite(&why::text::live_line(tick, terminal::columns()));
        }
        _ => {}
    });
    if line {
        overwrite("");
    }
    if let Some(error) = gone.filter(|_| !is_command) {
        return Err(Failure::printing(&error));
    }
    let outcome = outcome.map_err(|error| failure(&error, is_command))?;
    let mut answer = why::answer(&spec.target, &outcome);
    answer.trials.extend(again);
    let analysis =
        beside::judge(&mut answer, &outcome).map_err(|error| Failure::machine(error.to_string()))?;
    if let Some(place) = &place {
        place.tell(&mut answer);
    }
    let written = if args.format == Form::Text && is_command {
        write(args, &answer, &mut io::stderr().lock())
    } else {
        write(args, &answer, &mut io::stdout().lock())
    };
    let told = written.map_err(|error| Failure::printing(&error));
    if let Some(folder) = &args.out {
        let name = spec.target.name();
        let record = why::record(&name, &outcome, &answer);
        match &analysis {
            Some(analysis) => keep::add(folder, &record, Some(analysis)),
            None => keep::add_judged(folder, &record, answer.judged().as_ref()),
        }
        .map_err(|error| Failure::machine(error.to_string()))?;
        why::record::write(folder, &answer)
            .map_err(|error| Failure::machine(slowpath::input::unwritable(folder, &error, "--out")))?;
    }
    match told {
        // The command's own status stands, whoever reads the answer.
        Err(failure) if failure.code != exit::DONE => Err(failure),
        _ => Ok(status(&outcome)),
    }
}

/// Refuses changes of which it is known before anything runs that they cannot be tried.
fn refuse_what_cannot_be_tried(args: &WhyArgs) -> Result<(), Failure> {
    for change in args.trials.iter().flatten() {
        if let Some(why) = trial::choice::refusal(change) {
            return Err(Failure::usage(format!("trying {change} with --try: {why}")));
        }
    }
    for change in &args.again {
        let of_socket = change.socket().and_then(trial::choice::refusal);
        if let Some(why) = of_socket.or_else(|| change.of(&args.command).err()) {
            return Err(Failure::usage(format!(
                "running the command again with {change}: {why}"
            )));
        }
    }
    Ok(())
}

/// Puts a text where the line that updates stands.
fn overwrite(text: &str) {
    let _ = write!(io::stderr(), "\r\u{1b}[K{text}");
}

/// What shortened runs of the command show of each change.
fn run_again(args: &WhyArgs, stop: &Arc<AtomicBool>, line: bool) -> Result<Vec<Trial>, Failure> {
    if args.again.is_empty() {
        return Ok(Vec::new());
    }
    let spec = AgainSpec {
        changes: args.again.clone(),
        rounds: args.rounds,
        most: Most {
            bytes: args.cap.bytes(),
            seconds: f64::from(args.each),
        },
    };
    for text in spec.before() {
        terminal::remark(&format!("slowpath: {text}"));
    }
    let mut tick = |tick: &why::watch::Tick| {
        if line {
            overwrite(&why::text::live_line(tick, terminal::columns()));
        }
    };
    let mut tell = |text: &str| {
        if line {
            overwrite("");
        }
        terminal::remark(&format!("slowpath: {text}"));
    };
    why::try_again(&args.command, &spec, stop, &mut tick, &mut tell).map_err(|error| failure(&error, true))
}

/// What shortened runs showed before somebody stopped them: the command itself does not run.
fn interrupted(args: &WhyArgs, trials: &[Trial]) -> Result<u8, Failure> {
    let written = match args.format {
        Form::Text => trial::text::write(trials, terminal::style(), &mut io::stderr().lock()),
        Form::Json | Form::Jsonl => Ok(()),
    };
    written.map_err(|error| Failure::printing(&error))?;
    Err(Failure::interrupted(
        "running the command again with --again: interrupted, so that the command itself did not run to its end; what it writes may be \
         cut off"
            .to_owned(),
    ))
}

/// The guardian's life, with the socket to its master as standard input.
pub(crate) fn guard() -> Result<u8, Failure> {
    trial::guardian::guard(io::stdin()).map_err(|error| Failure::machine(error.to_string()))?;
    Ok(exit::DONE)
}

fn target(args: &WhyArgs) -> Result<Option<Target>, Failure> {
    Ok(match (args.pid, args.port, &args.to) {
        (Some(pid), ..) => Some(Target::process(pid)),
        (_, Some(port), _) => Some(Target::Port(port)),
        (_, _, Some(peer)) => Some(Target::Peer(Peer::resolve(peer).map_err(Failure::usage)?)),
        _ if args.command.is_empty() => None,
        _ => Some(Target::Command(args.command.clone())),
    })
}

fn list(args: &WhyArgs) -> Result<u8, Failure> {
    let transfers =
        why::busiest(Duration::from_secs(1)).map_err(|error| Failure::machine(error.to_string()))?;
    terminal::print(|mut out| match args.format {
        Form::Text => why::text::write_busiest(&transfers, terminal::style(), &mut out),
        Form::Json | Form::Jsonl => json::write(&transfers, args.format == Form::Json, &mut out),
    })?;
    Ok(exit::DONE)
}

fn write(args: &WhyArgs, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    match args.format {
        Form::Text => why::text::write_answer(answer, terminal::style(), out)?,
        Form::Json | Form::Jsonl => json::write(answer, args.format == Form::Json, out)?,
    }
    out.flush()
}

/// A command's own status, as `shell` has it.
fn status(outcome: &Outcome) -> u8 {
    outcome.status.map_or(exit::DONE, exit::of_program)
}

fn failure(error: &WhyError, is_command: bool) -> Failure {
    match error {
        WhyError::NoProcess(_) => Failure::usage(error.to_string()),
        _ if is_command => Failure {
            text: error.to_string(),
            code: exit::OWN_FAILURE,
        },
        _ => Failure::machine(error.to_string()),
    }
}

/// This program, also when its file was replaced meanwhile.
const SELF: &str = "/proc/self/exe";

//! The `slowpath` command: arguments, terminal output, exit codes, and nothing else.

#![forbid(unsafe_code)]

mod args;
#[cfg(target_os = "linux")]
mod attend;
mod compare;
mod config;
mod doctor;
#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;
mod exit;
mod explain;
mod fit;
mod form;
mod language;
mod list;
#[cfg(target_os = "linux")]
mod measure;
mod numbers;
mod progress;
mod reproduce;
mod run;
#[cfg(target_os = "linux")]
mod shell;
mod spelled;
mod sweep;
mod terminal;
mod ui;
#[cfg(target_os = "linux")]
mod why;
#[cfg(target_os = "linux")]
mod worker;

use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use args::{Cli, Command};
#[cfg(not(target_os = "linux"))]
use elsewhere::{measure, shell, why, worker};

fn main() -> ExitCode {
    let typed = language::behind_the_command(std::env::args_os().collect());
    language::choose(&typed);
    let arguments = spelled::out(typed.into_iter());
    let parsed = language::localised(Cli::command())
        .try_get_matches_from(arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            match unknown(&error) {
                Some(text) => terminal::note(&text),
                None => match language::refusal(&error) {
                    Some(text) => terminal::note(&text),
                    None => match language::help(&error, terminal::columns()) {
                        Some(text) => drop(terminal::print(|out| write!(out, "{text}"))),
                        None => drop(error.print()),
                    },
                },
            }
            return ExitCode::from(if error.use_stderr() {
                exit::USAGE
            } else {
                exit::DONE
            });
        }
    };
    terminal::set(cli.verbose, cli.quiet, &cli.hide);
    if let Some(parent) = cli.end_with_parent {
        slowpath::interrupt::with_parent(parent);
    }
    let result = match cli.command {
        Command::List => list::list(),
        Command::Run(args) => run::run(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Merge(args) => sweep::merge(&args),
        Command::Diagnose(args) => run::diagnose(&args),
        Command::DiagnosePath(args) => measure::diagnose_path(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Fit(args) => fit::fit(&args),
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::Shell(args) => shell::shell(&args),
        Command::Why(args) => why::why(&args),
        Command::Report(args) => run::report(&args.folder, args.format),
        Command::Config(args) => config::config(&args),
        Command::Measure(args) => measure::measure(&args),
        Command::Serve(args) => measure::serve(&args),
        Command::Schema => schema(),
        Command::Completions { shell } => completions(shell),
        Command::Manual { folder } => manual(&folder),
        Command::Guard => why::guard(),
        Command::Worker { job } => worker::worker(&job),
        Command::Compare(args) => compare::compare(&args),
        Command::Doctor => doctor::doctor(),
        Command::Ui(args) => ui::ui(&args),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            if !failure.text.is_empty() {
                terminal::note(&format!("slowpath: {}", failure.text));
            }
            ExitCode::from(failure.code)
        }
    }
}

/// What is said of a command that is none: which there are.
fn unknown(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let ContextValue::String(typed) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let measuring = std::env::args().nth(1).is_some_and(|first| first == "measure");
    let mut cli = Cli::command();
    let parent = if measuring {
        cli.find_subcommand_mut("measure")?
    } else {
        &mut cli
    };
    let names: Vec<&str> = parent
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(clap::Command::get_name)
        .collect();
    let meant = match slowpath::suggestion(typed, names.iter().copied()) {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    };
    let (doing, kind, help) = if measuring {
        ("measuring", "tool", "slowpath measure --help")
    } else {
        ("reading the command line", "command", "slowpath --help")
    };
    Some(format!(
        "slowpath: {doing}: there is no {kind} \"{typed}\"{meant}; there are {} (see `{help}`)",
        names.join(", ")
    ))
}

/// Writes a manual page for each command that people see.
fn manual(folder: &Path) -> Result<u8, exit::Failure> {
    let mut cli = Cli::command();
    // Options of all commands are told once, in the first page.
    cli.build();
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(cli, folder));
    written.map_err(|error| {
        exit::Failure::machine(slowpath::input::unwritable(folder, &error, "its argument"))
    })?;
    Ok(exit::DONE)
}

/// Prints the schema of experiment files.
fn schema() -> Result<u8, exit::Failure> {
    let text = format!("{:#}\n", slowpath::schema::json());
    terminal::print(|out| out.write_all(text.as_bytes()))?;
    Ok(exit::DONE)
}

/// Prints the completions of a shell.
fn completions(shell: clap_complete::Shell) -> Result<u8, exit::Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "slowpath", &mut text);
    terminal::print(|out| out.write_all(&text))?;
    Ok(exit::DONE)
}

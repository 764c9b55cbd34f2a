//! The `slowpath` command: arguments, terminal output, exit codes, and nothing else.

#![forbid(unsafe_code)]
// This is the one place that prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod compare;
mod config;
mod doctor;
mod exit;
mod explain;
mod list;
mod measure;
mod run;
mod shell;
mod terminal;
mod why;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(measure::spell_out(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() {
                exit::USAGE
            } else {
                exit::DONE
            });
        }
    };
    let result = match cli.command {
        Command::List => list::list(),
        Command::Run(args) => run::run(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Shell(args) => shell::shell(&args),
        Command::Why(args) => why::why(&args),
        Command::Report(args) => run::report(&args.folder),
        Command::Config(args) => config::config(&args),
        Command::Measure(args) => measure::measure(&args),
        Command::Serve(args) => measure::serve(&args),
        Command::Worker { job } => run::worker(&job),
        Command::Compare(args) => compare::compare(&args),
        Command::Doctor => Ok(doctor::doctor()),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("slowpath: {}", failure.text);
            ExitCode::from(failure.code)
        }
    }
}

//! The `slowpath` command: arguments, terminal output, exit codes, and nothing else.

#![forbid(unsafe_code)]

mod args;
mod compare;
mod config;
mod doctor;
mod exit;
mod explain;
mod fit;
mod form;
mod list;
mod measure;
mod progress;
mod run;
mod shell;
mod terminal;
mod why;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

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
    terminal::set(cli.verbose, cli.quiet, &cli.hide);
    let result = match cli.command {
        Command::List => list::list(),
        Command::Run(args) => run::run(&args),
        Command::Diagnose(args) => run::diagnose(&args),
        Command::DiagnosePath(args) => measure::diagnose_path(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Fit(args) => fit::fit(&args),
        Command::Shell(args) => shell::shell(&args),
        Command::Why(args) => why::why(&args),
        Command::Report(args) => run::report(&args.folder, args.format),
        Command::Config(args) => config::config(&args),
        Command::Measure(args) => measure::measure(&args),
        Command::Serve(args) => measure::serve(&args),
        Command::Completions { shell } => completions(shell),
        Command::Worker { job } => run::worker(&job),
        Command::Compare(args) => compare::compare(&args),
        Command::Doctor => doctor::doctor(),
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

/// Prints the completions of a shell.
fn completions(shell: clap_complete::Shell) -> Result<u8, exit::Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "slowpath", &mut text);
    terminal::print(|out| out.write_all(&text))?;
    Ok(exit::DONE)
}

//! Command lines that may be written in a short way, spelled out.

use std::ffi::OsString;

use clap::{Command, CommandFactory};

use crate::args::Cli;

/// The command line with `measure iperf3://HOST` written as `measure iperf3 iperf3://HOST`: a target's scheme names the
/// tool, wherever it stands among the options; with `diagnose iperf3://HOST` as `diagnose-path` has it; with `--json` as
/// `--format json`; and with `sweep FILE --sweep KEY=RANGE` without the option, which is that of `run`.
pub(crate) fn out(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let command = words
        .iter()
        .skip(1)
        .find_map(|word| word.to_str().filter(|word| !word.starts_with('-')));
    let is_sweep = command == Some("sweep");
    let own = words.iter().position(|word| word == "--").unwrap_or(words.len());
    // Which commands have a format takes a while to put together, and is asked only for who wrote the option.
    if words[..own].iter().any(|word| word == "--json") && command.is_some_and(has_a_format) {
        for word in words[..own].iter_mut().filter(|word| *word == "--json") {
            *word = OsString::from("--format=json");
        }
    }
    if is_sweep {
        words.retain(|word| word != "--sweep");
        for word in &mut words {
            if let Some(range) = word.to_str().and_then(|word| word.strip_prefix("--sweep=")) {
                *word = OsString::from(range);
            }
        }
    }
    let is_path = |word: &OsString| word.to_str().is_some_and(|word| word.contains("://"));
    if words.get(1).is_some_and(|word| word == "diagnose") && words.iter().skip(2).any(is_path) {
        words[1] = OsString::from(DIAGNOSE_PATH);
        return words;
    }
    if words.get(1).is_none_or(|word| word != "measure") {
        return words;
    }
    let is_named = words
        .get(2)
        .and_then(|word| word.to_str())
        .is_some_and(|word| TOOLS.contains(&word));
    let scheme = words
        .iter()
        .skip(2)
        .find_map(|word| word.to_str()?.split_once("://"))
        .map(|(scheme, _)| OsString::from(scheme));
    if let (false, Some(scheme)) = (is_named, scheme) {
        words.insert(2, scheme);
    }
    words
}

/// Whether a command takes `--format json`.
fn has_a_format(command: &str) -> bool {
    let has = |command: &Command| {
        command
            .get_arguments()
            .any(|argument| argument.get_id() == "format")
    };
    (Cli::command().find_subcommand(command))
        .is_some_and(|command| has(command) || command.get_subcommands().any(has))
}

/// Names of the tools, which are also the schemes of targets.
const TOOLS: [&str; 8] = ["iperf3", "ftp", "ssh", "s3", "ping", "trace", "mtu", "sweep"];

/// The name that the command line is spelled out with; people write `diagnose`.
const DIAGNOSE_PATH: &str = "diagnose-path";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_names_the_tool() {
        let cases: &[(&[&str], &[&str])] = &[
            (
                &["slowpath", "measure", "iperf3://h", "-R"],
                &["slowpath", "measure", "iperf3", "iperf3://h", "-R"],
            ),
            (
                &["slowpath", "measure", "-R", "iperf3://h"],
                &["slowpath", "measure", "iperf3", "-R", "iperf3://h"],
            ),
            (
                &["slowpath", "measure", "ping", "h"],
                &["slowpath", "measure", "ping", "h"],
            ),
            (
                &["slowpath", "measure", "ping", "ping://h"],
                &["slowpath", "measure", "ping", "ping://h"],
            ),
            (
                &["slowpath", "measure", "--help"],
                &["slowpath", "measure", "--help"],
            ),
            (&["slowpath", "run", "s3://x"], &["slowpath", "run", "s3://x"]),
            (
                &["slowpath", "-q", "explain", "--json", "a.pcap"],
                &["slowpath", "-q", "explain", "--format=json", "a.pcap"],
            ),
            (
                &["slowpath", "measure", "--json", "ping://h"],
                &["slowpath", "measure", "ping", "--format=json", "ping://h"],
            ),
            (
                &["slowpath", "why", "--json", "--", "curl", "--json"],
                &["slowpath", "why", "--format=json", "--", "curl", "--json"],
            ),
            (&["slowpath", "list", "--json"], &["slowpath", "list", "--json"]),
            (
                &[
                    "slowpath",
                    "sweep",
                    "t.toml",
                    "--sweep",
                    "loss=1 %",
                    "--sweep=delay=1 ms",
                ],
                &["slowpath", "sweep", "t.toml", "loss=1 %", "delay=1 ms"],
            ),
        ];
        for (given, expected) in cases {
            let spelled = out(given.iter().map(OsString::from));
            assert_eq!(spelled, expected.iter().map(OsString::from).collect::<Vec<_>>());
        }
    }
}

//! `slowpath explain`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use slowpath::fates::{self, Fates};
use slowpath::fit::{Answer, Fit};
use slowpath::reading::Reading;
use slowpath::{devices, explain, fit, json, keep, told};

use crate::args::{ExplainArgs, Format};
use crate::exit::{self, Failure};
use crate::{progress, terminal};

/// Reads one or two captures and prints what limited the transfers.
pub(crate) fn explain(args: &ExplainArgs) -> Result<u8, Failure> {
    let usage = |error: slowpath::import::ImportError| Failure::usage(error.to_string());
    let (capture, second) = match args.captures.as_slice() {
        [capture] => (capture, None),
        [capture, second] => (capture, Some(second)),
        more => {
            return Err(Failure::usage(format!(
                "explaining captures: these are {}, and it takes one capture, or two (both ends of the same flow, or a good and a bad transfer); call it for each",
                more.len()
            )));
        }
    };
    let single = args.only.is_some()
        || args.wireshark
        || args.capacity.is_some()
        || args.system.is_some()
        || !args.what_if.is_empty()
        || args.out.is_some();
    if second.is_some() && single {
        return Err(Failure::usage(
            "explaining two captures: --only, --wireshark, --capacity, --system, --what-if and --out go with one capture; leave the second out"
                .to_owned(),
        ));
    }
    match second {
        None if is_json(capture) => return result(args, capture, single),
        None => {
            if let Some(fates) = fates::read(capture).map_err(usage)? {
                return dropped(args, &fates, single);
            }
            let reading = Reading::default();
            let run = progress::while_reading(&reading, || explain::open_watched(capture, &reading));
            let run = run.map_err(usage)?;
            if let Some(folder) = &args.out {
                keep::add(folder, &run.record, run.analysis.as_ref())
                    .map_err(|error| Failure::usage(error.to_string()))?;
            }
            let Some(mut explanation) = explain::run(&run) else {
                return Err(Failure::usage(format!(
                    "explaining {}: it holds no packets; capture while the transfer runs",
                    capture.display()
                )));
            };
            if let Some(wanted) = &args.only
                && explain::select(&mut explanation, wanted) == 0
            {
                return Err(Failure::usage(format!(
                    "explaining {} with --only {wanted}: no connection has this number, or this in an address; leave --only out to see all",
                    capture.display()
                )));
            }
            if let Some(rate) = &args.capacity {
                explain::know_capacity(&mut explanation, rate)
                    .map_err(|error| Failure::usage(format!("reading --capacity {rate}: {error}")))?;
            }
            if let Some(system) = &args.system {
                let language = devices::language(Some(system), &[])
                    .map_err(|found| Failure::usage(format!("reading --system: {found}")))?;
                explain::in_language(&mut explanation, language);
            }
            let asked = asked(args, &explanation)?;
            let style = terminal::style();
            terminal::print(|out| match args.format {
                Format::Json if let Some((id, _, answers)) = &asked => {
                    fit::write_explanation_json(&explanation, *id, answers, out)
                }
                Format::Json => explain::write_json(&explanation, out),
                Format::Jsonl => explain::write_json_lines(&explanation, out),
                Format::Html => explain::write_html(&explanation, out),
                Format::Text => {
                    explain::write_text(&explanation, style, args.system.is_some(), out)?;
                    if let Some((_, fitted, answers)) = &asked {
                        writeln!(out)?;
                        fit::write_answers(fitted, answers, style, out)?;
                    }
                    if args.wireshark {
                        explain::write_wireshark(&explanation, style, out)?;
                    }
                    Ok(())
                }
            })?;
        }
        Some(second) => {
            let pair = explain::pair(capture, second).map_err(usage)?;
            if matches!(args.format, Format::Html | Format::Jsonl) {
                return Err(Failure::usage(
                    "explaining two captures: they are explained as text or json alone; write --format json"
                        .to_owned(),
                ));
            }
            terminal::print(|out| match args.format {
                Format::Json => explain::write_pair_json(&pair, out),
                _ => explain::write_pair(&pair, terminal::style(), out),
            })?;
        }
    }
    Ok(exit::DONE)
}

/// Prints what the result of another tool tells.
fn result(args: &ExplainArgs, path: &Path, narrowed: bool) -> Result<u8, Failure> {
    let wrong = |text: String| Failure::usage(format!("explaining {}: {text}", path.display()));
    if narrowed || matches!(args.format, Format::Html | Format::Jsonl) {
        return Err(wrong(
            "a result of iperf3 has no packets; leave all options but --format text or json out".to_owned(),
        ));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(slowpath::input::problem(path, &error)))?;
    let told = told::iperf3::read(&text).map_err(|error| wrong(error.to_string()))?;
    terminal::print(|mut out| match args.format {
        Format::Json => json::write(&told, true, &mut out),
        _ => told::text::write(&told, terminal::style(), &mut out),
    })?;
    Ok(exit::DONE)
}

/// Whether a file begins as JSON does, which no capture does.
fn is_json(path: &Path) -> bool {
    let mut begin = [0; 64];
    let read = File::open(path)
        .and_then(|mut file| file.read(&mut begin))
        .unwrap_or(0);
    let first = begin[..read].iter().find(|byte| !byte.is_ascii_whitespace());
    path.is_file() && first == Some(&b'{')
}

/// What the changes of `--what-if` would give to the connection with the most data, with its number and the fitted path.
fn asked(
    args: &ExplainArgs,
    explanation: &explain::Explanation,
) -> Result<Option<(u32, Fit, Vec<Answer>)>, Failure> {
    let Some(main) = explanation
        .connections
        .first()
        .filter(|_| !args.what_if.is_empty())
    else {
        return Ok(None);
    };
    if matches!(args.format, Format::Html | Format::Jsonl) {
        return Err(Failure::usage(
            "explaining with --what-if: it is answered as text or json alone; write --format json".to_owned(),
        ));
    }
    let (fitted, answers) = crate::fit::what_if(&main.connection, &args.what_if)?;
    Ok(Some((main.connection.id, fitted, answers)))
}

/// Prints what was dropped inside the network of a run of ours.
fn dropped(args: &ExplainArgs, fates: &Fates, narrowed: bool) -> Result<u8, Failure> {
    if narrowed || matches!(args.format, Format::Html | Format::Jsonl) {
        let host = fates.hosts.first().map_or("a host's capture", String::as_str);
        return Err(Failure::usage(format!(
            "explaining {}: it is slowpath's own file of what the network dropped, not a transfer: it goes with --format text or json alone; explain {host} instead",
            fates.file
        )));
    }
    terminal::print(|out| match args.format {
        Format::Json => fates::write_json(fates, out),
        _ => fates::write_text(fates, terminal::style(), out),
    })?;
    Ok(exit::DONE)
}

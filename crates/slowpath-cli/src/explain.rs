//! `slowpath explain`.

use slowpath::fates::{self, Fates};
use slowpath::reading::Reading;
use slowpath::{devices, explain, keep};

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
                "explain reads one capture, or two: both ends of the same flow, or a good and a bad transfer; these are {}, so call it for each",
                more.len()
            )));
        }
    };
    let single = args.only.is_some()
        || args.wireshark
        || args.capacity.is_some()
        || args.system.is_some()
        || args.out.is_some();
    if second.is_some() && single {
        return Err(Failure::usage(
            "--only, --wireshark, --capacity, --system and --out go with one capture; leave the second out"
                .to_owned(),
        ));
    }
    match second {
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
                return Err(Failure::usage(format!("{} holds no packets", capture.display())));
            };
            if let Some(wanted) = &args.only
                && explain::select(&mut explanation, wanted) == 0
            {
                return Err(Failure::usage(format!(
                    "no connection of {} has the number {wanted}, or {wanted} in an address; leave --only out to see all",
                    capture.display()
                )));
            }
            if let Some(rate) = &args.capacity {
                explain::know_capacity(&mut explanation, rate)
                    .map_err(|error| Failure::usage(format!("--capacity {rate}: {error}")))?;
            }
            if let Some(system) = &args.system {
                let language = devices::language(Some(system), &[]).map_err(Failure::usage)?;
                explain::in_language(&mut explanation, language);
            }
            let style = terminal::style();
            terminal::print(|out| match args.format {
                Format::Json => explain::write_json(&explanation, out),
                Format::Jsonl => explain::write_json_lines(&explanation, out),
                Format::Html => explain::write_html(&explanation, out),
                Format::Text => {
                    explain::write_text(&explanation, style, args.system.is_some(), out)?;
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
                    "two captures are explained as text or json; write --format json".to_owned(),
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

/// Prints what was dropped inside the network of a run of ours.
fn dropped(args: &ExplainArgs, fates: &Fates, narrowed: bool) -> Result<u8, Failure> {
    if narrowed || matches!(args.format, Format::Html | Format::Jsonl) {
        let host = fates.hosts.first().map_or("a host's capture", String::as_str);
        return Err(Failure::usage(format!(
            "{} is slowpath's own file of what the network dropped, not a transfer: it goes with --format text or json alone; explain {host} instead",
            fates.file
        )));
    }
    terminal::print(|out| match args.format {
        Format::Json => fates::write_json(fates, out),
        _ => fates::write_text(fates, terminal::style(), out),
    })?;
    Ok(exit::DONE)
}

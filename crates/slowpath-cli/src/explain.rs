//! `slowpath explain`.

use std::io::{self, Write};

use slowpath::{devices, explain};

use crate::args::{ExplainArgs, Format};
use crate::exit::{self, Failure};
use crate::terminal;

/// Reads one or two captures and prints what limited the transfers.
pub(crate) fn explain(args: &ExplainArgs) -> Result<u8, Failure> {
    let usage = |error: slowpath::import::ImportError| Failure::usage(error.to_string());
    let mut out = io::stdout().lock();
    let written = match &args.second {
        None => {
            let mut explanation = explain::file(&args.capture).map_err(usage)?;
            if let Some(wanted) = &args.only
                && explain::select(&mut explanation, wanted) == 0
            {
                return Err(Failure::usage(format!(
                    "no connection of {} has the number {wanted}, or {wanted} in an address; leave --only out to see all",
                    args.capture.display()
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
            match args.format {
                Format::Json => explain::write_json(&explanation, &mut out),
                Format::Text => {
                    explain::write_text(&explanation, terminal::style(), &mut out).and_then(|()| {
                        if args.wireshark {
                            explain::write_wireshark(&explanation, terminal::style(), &mut out)
                        } else {
                            Ok(())
                        }
                    })
                }
                Format::Html => explain::write_html(&explanation, &mut out),
            }
        }
        Some(second) => {
            let pair = explain::pair(&args.capture, second).map_err(usage)?;
            match args.format {
                Format::Json => explain::write_pair_json(&pair, &mut out),
                Format::Text => explain::write_pair(&pair, terminal::style(), &mut out),
                Format::Html => {
                    return Err(Failure::usage(
                        "two captures are explained as text or json; write --format json".to_owned(),
                    ));
                }
            }
        }
    };
    match written.and_then(|()| out.flush()) {
        // Whoever closed the pipe has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit::DONE),
        Err(error) => Err(Failure::machine(format!("printing failed: {error}"))),
        Ok(()) => Ok(exit::DONE),
    }
}

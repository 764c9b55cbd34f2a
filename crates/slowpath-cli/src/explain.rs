//! `slowpath explain`.

use std::io::{self, Write};

use crate::args::{ExplainArgs, Format};
use crate::exit::{self, Failure};
use crate::terminal;

/// Reads one or two captures and prints what limited the transfers.
pub(crate) fn explain(args: &ExplainArgs) -> Result<u8, Failure> {
    let usage = |error: slowpath::import::ImportError| Failure::usage(error.to_string());
    let broken = |error: io::Error| Failure::machine(format!("printing failed: {error}"));
    let explanation = slowpath::explain::file(&args.capture).map_err(usage)?;
    let mut out = io::stdout().lock();
    match (&args.second, args.format) {
        (None, Format::Json) => slowpath::explain::write_json(&explanation, &mut out).map_err(broken)?,
        (None, Format::Text) => {
            slowpath::explain::write_text(&explanation, terminal::style(), &mut out).map_err(broken)?;
        }
        _ => return Err(Failure::usage("this form of explain does not exist in this version".to_owned())),
    }
    out.flush().map_err(broken)?;
    Ok(exit::DONE)
}

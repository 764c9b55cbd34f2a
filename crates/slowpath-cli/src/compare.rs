//! `slowpath compare`.

use std::io::{self, Write};

use crate::args::CompareArgs;
use crate::exit::{self, Failure};
use crate::terminal;

/// Compares two results folders; with `--check` a variant that became slower gives 1.
pub(crate) fn compare(args: &CompareArgs) -> Result<u8, Failure> {
    let comparison = slowpath::report::compare(&args.before, &args.after)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let mut out = io::stdout().lock();
    comparison
        .write(terminal::style(), &mut out)
        .and_then(|()| out.flush())
        .map_err(|error| Failure::machine(format!("printing failed: {error}")))?;
    Ok(if args.check && comparison.worse() {
        exit::MISSED
    } else {
        exit::DONE
    })
}

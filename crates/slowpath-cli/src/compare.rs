//! `slowpath compare`.

use crate::args::CompareArgs;
use crate::exit::{self, Failure};
use crate::terminal;

/// Compares two results folders; with `--check` a variant that became slower gives 1.
pub(crate) fn compare(args: &CompareArgs) -> Result<u8, Failure> {
    let comparison = slowpath::report::compare(&args.before, &args.after)
        .map_err(|error| Failure::usage(error.to_string()))?;
    terminal::print(|out| comparison.write(terminal::style(), out))?;
    Ok(if args.check && comparison.worse() {
        exit::MISSED
    } else {
        exit::DONE
    })
}

//! `slowpath list`.

use slowpath::catalog::BUILTINS;
use slowpath::load::{LoadError, Loaded};

use crate::exit::{self, Failure};
use crate::terminal;

/// Prints the built-in experiments with their variants.
pub(crate) fn list() -> Result<u8, Failure> {
    let loaded = BUILTINS
        .iter()
        .map(|builtin| Loaded::open(builtin.name, &[]))
        .collect::<Result<Vec<_>, LoadError>>()
        .map_err(|error| Failure::usage(error.to_string()))?;
    terminal::print(|out| slowpath::listing::write_text(&loaded, terminal::style(), out))?;
    Ok(exit::DONE)
}

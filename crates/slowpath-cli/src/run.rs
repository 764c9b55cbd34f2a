//! `slowpath run` and its workers.

use std::path::Path;

use crate::args::RunArgs;
use crate::exit::Failure;

pub(crate) fn run(_args: &RunArgs) -> Result<u8, Failure> {
    Err(Failure::machine("not yet".to_owned()))
}

pub(crate) fn worker(_job: &Path) -> Result<u8, Failure> {
    Err(Failure::machine("not yet".to_owned()))
}

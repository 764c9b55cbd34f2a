//! One lab run in a process of its own.

use std::io::Write;
use std::path::Path;

use crate::exit::{self, Failure};

/// One lab run; its progress goes to standard output as JSON lines.
pub(crate) fn worker(job: &Path) -> Result<u8, Failure> {
    let mut out = std::io::stdout().lock();
    slowpath::worker::run(job, &mut |message| {
        let _ = slowpath::worker::say(&mut out, message);
        let _ = out.flush();
    })
    .map(|()| exit::DONE)
    .map_err(|error| Failure::machine(error.to_string()))
}

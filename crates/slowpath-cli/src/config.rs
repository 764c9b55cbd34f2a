//! `slowpath config`.

use std::io::{self, Read, Write};
use std::path::Path;

use slowpath::devices;

use crate::args::ConfigArgs;
use crate::exit::{self, Failure};

/// Prints what each line of a device's configuration means for throughput.
pub(crate) fn config(args: &ConfigArgs) -> Result<u8, Failure> {
    let name = args.file.display().to_string();
    let bytes =
        read(&args.file).map_err(|error| Failure::usage(format!("reading {name} failed: {error}")))?;
    let language = devices::language(args.system.as_deref(), &bytes).map_err(Failure::usage)?;
    let mut out = io::stdout().lock();
    devices::explain(language, &name, &bytes, &mut out)
        .and_then(|()| out.flush())
        .map_err(|error| Failure::machine(format!("printing failed: {error}")))?;
    Ok(exit::DONE)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path)
}

//! `slowpath config`.

use std::io::{self, Read, Write};
use std::path::Path;

use slowpath::devices;

use crate::args::{ConfigArgs, ConfigFormat};
use crate::exit::{self, Failure};
use crate::terminal;

/// Prints what each line of a device's configuration means for throughput.
pub(crate) fn config(args: &ConfigArgs) -> Result<u8, Failure> {
    let name = args.file.display().to_string();
    let bytes =
        read(&args.file).map_err(|error| Failure::usage(format!("reading {name} failed: {error}")))?;
    let language = devices::language(args.system.as_deref(), &bytes).map_err(Failure::usage)?;
    let reading = devices::reading(language, args.model.as_deref(), &name, &bytes);
    let mut out = io::stdout().lock();
    let written = match args.format {
        ConfigFormat::Text => devices::write_text(&reading, terminal::style(), &mut out),
        ConfigFormat::Json => devices::write_json(&reading, &mut out),
    };
    written
        .and_then(|()| out.flush())
        .or_else(|error| match error.kind() {
            // Whoever reads has seen enough.
            io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(error),
        })
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

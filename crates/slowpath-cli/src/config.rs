//! `slowpath config`.

use std::io::{self, Read};
use std::path::Path;

use slowpath::devices::{self, expected, expected::Expected};

use crate::args::{ConfigArgs, ConfigFormat};
use crate::exit::{self, Failure};
use crate::terminal;

/// Prints what each line of a device's configuration means for throughput.
pub(crate) fn config(args: &ConfigArgs) -> Result<u8, Failure> {
    let name = args.file.display().to_string();
    let bytes =
        read(&args.file).map_err(|error| Failure::usage(slowpath::input::problem(&args.file, &error)))?;
    let wrong = |found: &str| Failure::usage(format!("reading the configuration {name}: {found}"));
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(wrong(
            "it is empty; give the text of a device's configuration, such as of `show running-config`",
        ));
    }
    if bytes.contains(&0) {
        return Err(wrong(
            "it is no text; give the text of a device's configuration, such as of `show running-config`",
        ));
    }
    let language = devices::language(args.system.as_deref(), &bytes).map_err(|found| wrong(&found))?;
    let reading = devices::reading(language, args.model.as_deref(), &name, &bytes);
    let expected = if args.lines_only {
        Expected::default()
    } else {
        expected::expected(&reading, args.model.as_deref(), &bytes)
    };
    terminal::print(|out| match args.format {
        ConfigFormat::Text => {
            devices::write_text(&reading, terminal::style(), out)?;
            expected::write_text(&expected, terminal::style(), out)
        }
        ConfigFormat::Json => devices::write_json(&reading, &expected, out),
    })?;
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

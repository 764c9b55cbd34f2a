//! `slowpath list`.

use slowpath::catalog::BUILTINS;
use slowpath::load::Loaded;

use crate::exit::{self, Failure};

/// Prints the built-in experiments with their variants.
pub(crate) fn list() -> Result<u8, Failure> {
    for builtin in BUILTINS {
        let loaded = Loaded::open(builtin.name, &[]).map_err(|error| Failure::usage(error.to_string()))?;
        println!("{}  {}", loaded.name, loaded.experiment.title);
        for variant in &loaded.experiment.variants {
            let note = variant.note.as_deref().unwrap_or("");
            println!("    {:<16} {note}", variant.name);
        }
        println!();
    }
    println!("run one with: slowpath run NAME --quick");
    Ok(exit::DONE)
}

//! The page of a real run in a browser: what it shows is what `result.json` says.

use std::path::Path;
use std::process::Command;

use crate::support::{SMALL, Scratch, run, text};

#[test]
fn the_page_shows_the_numbers_of_the_result() {
    let scratch = Scratch::new("browser");
    let file = scratch.file("small.toml", SMALL);
    let out = scratch.0.join("out");
    let place = out.to_str().unwrap();
    let ran = run(&[
        "run",
        file.to_str().unwrap(),
        "--clock",
        "simulated",
        "--prove",
        "--out",
        place,
    ]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    look("the_page_shows_the_numbers_of_the_result", "numbers", &out);
}

/// Has a check of `tests/browser/check.py` look at what lies in a folder; false where that cannot be done here.
pub(crate) fn look(test: &str, check: &str, folder: &Path) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = root.join("target/browser/bin/python3");
    let python = if own.is_file() { own } else { "python3".into() };
    let output = Command::new(python)
        .arg(root.join("tests/browser/check.py"))
        .arg(check)
        .arg(folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: {test}: python3 is not installed");
        return false;
    };
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    match output.status.code() {
        Some(0) => {
            eprint!("{said}");
            true
        }
        Some(77) => {
            eprintln!("skipped: {test}: {}", said.trim());
            false
        }
        _ => panic!("{said}"),
    }
}

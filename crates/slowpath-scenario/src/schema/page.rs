//! The keys as a page to read.

use std::fmt::Write as _;

use crate::asked::Form;
use crate::schema::everything::{Everything, ID};
use crate::schema::json::below;
use crate::schema::key::{ITEM, Key, NAME};
use crate::schema::meaning::meaning;

pub(super) fn page(all: &Everything) -> String {
    let mut page = format!("{HEAD}\nThe schema is called `{ID}`.\n");
    let elsewhere = ["workload", "hosts", "background", "network.up[]"];
    section(&mut page, "The file", "", &all.top, "", &elsewhere);
    for (key, written, said) in [
        (
            "workload",
            "a table: `kind` and the keys of that [job](#jobs)",
            meaning("workload"),
        ),
        ("background", "a list of such tables", meaning("background")),
        (
            "hosts.NAME",
            "a table with the keys of a [host](#host)",
            meaning("hosts"),
        ),
        ("variants[].name", "a string, needed", meaning("variants[].name")),
        (
            "variants[].KEY",
            "as at the top",
            "Any key but `title`, `reference` and `variants`, laid over the common part.",
        ),
    ] {
        let _ = writeln!(page, "| `{key}` | {written} | {said} |");
    }
    page.push_str("\n## Elements\n\nEach has exactly one of the keys that give the sections their names.\n");
    for (kind, element) in &all.elements {
        let place = format!("element.{kind}");
        let said = format!("{}\n\n", meaning(&place));
        section(
            &mut page,
            &format!("Element `{kind}`"),
            &said,
            element,
            &place,
            &[],
        );
    }
    if let Some(host) = all.host() {
        section(&mut page, "Host", "", host, "host", &[]);
    }
    page.push_str("\n## Jobs\n\n`kind` says which; it is needed.\n");
    for (kinds, job) in &all.jobs {
        let names: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
        let place = format!("job.{}", kinds[0]);
        let said = format!("{}\n\n", meaning(&place));
        section(
            &mut page,
            &format!("Job {}", names.join(", ")),
            &said,
            job,
            &place,
            &["kind"],
        );
    }
    page
}

fn section(page: &mut String, title: &str, said: &str, table: &Key, place: &str, without: &[&str]) {
    let _ = write!(page, "\n## {title}\n\n{said}");
    page.push_str("| key | written as | meaning |\n|---|---|---|\n");
    rows(page, table, place, "", without);
}

/// A row for each key of a table, and for the keys inside.
fn rows(page: &mut String, table: &Key, place: &str, prefix: &str, without: &[&str]) {
    for (name, key) in &table.keys {
        let shown = below(prefix, name);
        if name == NAME || without.contains(&shown.as_str()) {
            continue;
        }
        if name != ITEM {
            let needed = if key.needed { " (needed)" } else { "" };
            let _ = writeln!(
                page,
                "| `{shown}`{needed} | {} | {} |",
                forms(key),
                meaning(&below(place, name))
            );
        }
        rows(page, key, &below(place, name), &shown, without);
    }
}

fn forms(key: &Key) -> String {
    let mut all: Vec<String> = Vec::new();
    for form in key.telling() {
        all.push(match form {
            Form::Text => "a string".to_owned(),
            Form::Flag => "`true`, `false`".to_owned(),
            Form::Integer(low, high) if *high >> 53 == 0 => format!("a whole number, {low} to {high}"),
            Form::Integer(low, _) => format!("a whole number from {low}"),
            Form::Quantity(example) => format!("`{example}`"),
            Form::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
                words.join(", ")
            }
            Form::Table | Form::List | Form::Any | Form::Needed => continue,
        });
    }
    if let Some(item) = key.keys.get(ITEM) {
        let inside = forms(item);
        all.push(if inside == TABLE {
            "a list of tables".to_owned()
        } else {
            format!("a list of {inside}")
        });
    } else if key.forms.contains(&Form::List) {
        all.push("a list".to_owned());
    }
    if key.keys.keys().any(|name| name != ITEM) {
        all.push(TABLE.to_owned());
    }
    all.join(", or ")
}

const TABLE: &str = "a table";

const HEAD: &str = "# Experiment files: every key

Made from the reader itself, so it holds neither less nor more than what is read. [How it is meant](../guide/experiment-files.md) comes
first. Editors that know TOML and JSON schemas (Even Better TOML in VS Code, taplo) complete and check the file with
[`experiment.schema.json`](experiment.schema.json): `slowpath schema > experiment.schema.json` writes it, and the first line of the
file names it: `#:schema ./experiment.schema.json`.
";

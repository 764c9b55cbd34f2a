//! Both languages have the same messages with the same arguments, the code has what they have, and the other way round.
#![allow(clippy::disallowed_methods)] // reads the sources

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use slowpath_words::catalogue::{Piece, entries, forms, id};
use slowpath_words::{Language, english, speak, told};

type Messages = BTreeMap<String, Vec<Piece>>;

fn messages(language: Language) -> Messages {
    let all = entries(language);
    let count = all.len();
    let by_key: Messages = all.into_iter().collect();
    assert_eq!(by_key.len(), count, "a key stands twice in {}", language.code());
    by_key
}

/// The arguments of a message; those of English grammar alone, such as the s of a plural, left out.
fn arguments(pieces: &[Piece]) -> BTreeSet<&str> {
    pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Argument(name) if !name.starts_with("plural") => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn both_languages_have_the_same_messages_with_the_same_arguments() {
    let (english, japanese) = (messages(Language::English), messages(Language::Japanese));
    // The English of these stands beside the arguments of the command line, and in the library that reads them.
    let ours = |key: &&String| !key.starts_with("help") && !key.starts_with("parse-");
    let missing: Vec<&String> = english
        .keys()
        .filter(|key| !japanese.contains_key(*key))
        .collect();
    assert!(missing.is_empty(), "without Japanese: {missing:?}");
    let more: Vec<&String> = japanese
        .keys()
        .filter(ours)
        .filter(|key| !english.contains_key(*key))
        .collect();
    assert!(more.is_empty(), "without English: {more:?}");
    for (key, pieces) in forms(Language::English) {
        assert_eq!(
            arguments(&pieces),
            arguments(&japanese[&key]),
            "arguments of {key}"
        );
    }
}

#[test]
fn the_code_says_what_the_catalogues_have() {
    let english = messages(Language::English);
    let japanese = messages(Language::Japanese);
    let sources = sources();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for (path, text) in &sources {
        for (key, named) in said(text) {
            let key = id(&key);
            let pieces = english.get(&key).or_else(|| japanese.get(&key));
            let pieces = pieces.unwrap_or_else(|| panic!("{}: no catalogue has {key}", path.display()));
            if let Some(named) = named {
                let has: BTreeSet<String> = pieces
                    .iter()
                    .filter_map(|piece| match piece {
                        Piece::Argument(name) => Some(name.clone()),
                        Piece::Text(_) => None,
                    })
                    .collect();
                assert_eq!(named, has, "{}: arguments of {key}", path.display());
            }
            used.insert(key);
        }
    }
    let literals = literals(&sources);
    let pages = pages();
    let on_a_page = |pieces: &[Piece]| {
        pieces.iter().all(|piece| match piece {
            Piece::Text(text) => pages.contains(text.trim()),
            Piece::Argument(_) => true,
        })
    };
    let unused: Vec<&String> = english
        .iter()
        .filter(|(key, pieces)| !used.contains(*key) && !literals.contains(&plain(pieces)))
        .filter(|(key, pieces)| !(key.starts_with("page-") && on_a_page(pieces)))
        .filter(|(key, _)| !LOOKED_UP.iter().any(|begin| key.starts_with(begin)))
        .map(|(key, _)| key)
        .collect();
    assert!(unused.is_empty(), "said by nobody: {unused:?}");
}

/// Every message that documents hold is recognised by its English, whatever its arguments.
#[test]
fn texts_of_documents_are_recognised() {
    speak(Language::Japanese);
    let mut lost = Vec::new();
    for (key, pieces) in &forms(Language::English) {
        let letters: usize = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.bytes().filter(u8::is_ascii_alphabetic).count(),
                Piece::Argument(_) => 0,
            })
            .sum();
        if letters < 12 || SHOWN.iter().any(|begin| key.starts_with(begin)) {
            continue;
        }
        let text: String = pieces
            .iter()
            .enumerate()
            .map(|(place, piece)| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Argument(name) if name == "time" => format!("{}.5 s", 10 + place),
                Piece::Argument(_) => format!("{}.5 MB", 10 + place),
            })
            .collect();
        let said = told(text.trim());
        // What is set as code stays as it is.
        let said: String = said.split('`').step_by(2).collect::<Vec<_>>().join("|");
        let word = |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let prose = said
            .split(|c: char| !c.is_ascii_alphabetic() && c != ' ')
            .any(|run| run.split(' ').filter(|part| word(part)).count() > 3);
        if prose {
            lost.push(format!("{key}: {text} -> {said}"));
        }
    }
    assert!(
        lost.is_empty(),
        "{} are not recognised:\n{}",
        lost.len(),
        lost.join("\n")
    );
}

/// A delay that fell was said to have grown.
#[test]
fn what_fell_has_not_grown() {
    speak(Language::Japanese);
    for (said, told_as) in [
        (
            "packets wait only 42.3 ms in a queue instead of 445.3 ms",
            "キューでの待ちが445.3msから42.3msに減少",
        ),
        (
            "packets wait 445.3 ms in a queue instead of 42.3 ms",
            "キューでの待ちが42.3msから445.3msに増加",
        ),
        (
            "segments carry more, 1,460 B instead of 1,400 B",
            "セグメントのデータが1,400Bから1,460Bに増加",
        ),
        (
            "segments carry 1,400 B instead of 1,460 B",
            "セグメントのデータが1,460Bから1,400Bに減少",
        ),
    ] {
        assert_eq!(told(said), told_as);
    }
}

/// "1 segments were lost in only 1 bursts".
#[test]
fn one_of_a_thing_is_no_plural() {
    let said =
        |lost: u64, episodes: u64| english!("random-loss_not_bursts", lost = lost, episodes = episodes);
    assert_eq!(said(1, 1), "1 segment was lost in only 1 burst");
    assert_eq!(said(11, 2), "11 segments were lost in only 2 bursts");
    assert_eq!(said(21, 1), "21 segments were lost in only 1 burst");
    speak(Language::Japanese);
    assert_eq!(told(&said(1, 1)), "1セグメントのロスは1回のバーストだけ");
    assert_eq!(told(&said(3, 1)), "3セグメントのロスは1回のバーストだけ");
}

/// What the system says of a call that failed stands in the middle of our own words.
#[test]
fn what_the_system_says_is_told() {
    speak(Language::Japanese);
    let english = messages(Language::English);
    let said = |what: &str| {
        format!(
            "connecting to 192.0.2.1:21: {what}; nothing listens there: start the server on that host, or give its port"
        )
    };
    for (key, pieces) in english.iter().filter(|(key, _)| key.starts_with("system-")) {
        let [Piece::Text(text)] = pieces.as_slice() else {
            panic!("{key} has arguments");
        };
        let told = told(&said(text)).into_owned();
        let letters = |text: &str| text.bytes().filter(u8::is_ascii_alphabetic).count();
        // Names such as UTF-8 stay.
        assert!(letters(&told) <= 3, "{key}: {told}");
    }
    assert_eq!(
        told(&said("Connection refused")),
        "192.0.2.1:21への接続: 接続を拒否されました。そこで待ち受けているものがありません。相手のホストでサーバを起動するか、ポートを指定してください"
    );
}

#[test]
fn a_list_is_told_one_by_one_and_not_each_inside_the_one_before() {
    speak(Language::Japanese);
    let said = told(
        "Shortened: iosxe-default 4 MiB instead of 50 MiB, ios-default 4 MiB instead of 50 MiB, ios-tuned 5 MiB instead of 50 MiB.",
    );
    assert_eq!(
        said,
        "短縮: iosxe-default 4MiB(50MiBの代わり)、ios-default 4MiB(50MiBの代わり)、ios-tuned 5MiB(50MiBの代わり)。"
    );
}

/// Texts that are shown in the language that is spoken, and kept in no document.
const SHOWN: [&str; 5] = ["page-", "why-text-", "single-ended-text-", "head-", "figure-"];

/// Keys that are put together where they are looked up, what is done to an address, and what the system says rather than the code.
const LOOKED_UP: [&str; 4] = ["figure-", "line-", "doing-", "system-"];

/// The words of a message, each argument as `{}`.
fn plain(pieces: &[Piece]) -> String {
    let text: String = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Argument(_) => "{}",
        })
        .collect();
    text.trim().to_owned()
}

/// The texts of the page's templates and script, with single spaces.
fn pages() -> String {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../slowpath-report/assets");
    [
        "base.html",
        "parts.html",
        "report.html",
        "explain.html",
        "report.js",
        "sliders.js",
    ]
    .iter()
    .map(|file| fs::read_to_string(assets.join(file)).unwrap())
    .flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    .collect::<Vec<_>>()
    .join(" ")
}

/// The sources of all crates but this one, and the built-in experiments.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "experiments"] {
        read(&root.join(folder), &mut files);
    }
    files
}

fn read(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if !path.ends_with("tests") && !path.ends_with("slowpath-words") {
                read(&path, into);
            }
        } else if path.extension().is_some_and(|end| end == "rs" || end == "toml") {
            let text = fs::read_to_string(&path).unwrap();
            into.push((path, text));
        }
    }
}

/// The messages that a source names: the key, and the arguments where the call shows them.
fn said(text: &str) -> Vec<(String, Option<BTreeSet<String>>)> {
    let mut out = Vec::new();
    for name in ["say!(", "english!(", "word!("] {
        for (at, _) in text.match_indices(name) {
            let call = &text[at + name.len()..];
            let Some((key, rest)) = call
                .trim_start()
                .strip_prefix('"')
                .and_then(|rest| rest.split_once('"'))
            else {
                continue;
            };
            out.push((key.to_owned(), Some(names(rest))));
        }
    }
    if text.contains("messages! {") {
        for line in text.lines() {
            let line = line.trim_start();
            let Some((key, rest)) = line.strip_prefix('"').and_then(|rest| rest.split_once('"')) else {
                continue;
            };
            let Some((_, fields)) = rest.split_once('{') else {
                continue;
            };
            let complete = fields.split_once('}').map(|(fields, _)| {
                let named = fields.split(',').filter_map(|field| field.split_once(':'));
                named.map(|(name, _)| name.trim().to_owned()).collect()
            });
            out.push((key.to_owned(), complete));
        }
    }
    out
}

/// The names of a call's arguments, from behind its key to its end.
fn names(rest: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let (mut depth, mut quoted, mut escaped) = (0_i32, false, false);
    let mut begin = 0;
    for (at, c) in rest.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => quoted = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth < 0 || (c == ',' && depth == 0) {
            if let Some((name, _)) = rest[begin..at].split_once(" = ") {
                names.insert(name.trim().to_owned());
            }
            begin = at + 1;
        }
        if depth < 0 {
            break;
        }
    }
    names
}

/// The texts in quotes of all sources, with `{}` for what is filled in.
fn literals(sources: &[(PathBuf, String)]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (_, text) in sources {
        let mut rest = text.as_str();
        while let Some(at) = rest.find('"') {
            let body = &rest[at + 1..];
            let mut end = None;
            let mut escaped = false;
            for (place, c) in body.char_indices() {
                if c == '"' && !escaped {
                    end = Some(place);
                    break;
                }
                escaped = c == '\\' && !escaped;
            }
            let Some(end) = end else { break };
            out.insert(filled(&body[..end]));
            // Where a quote was taken for another one, the next text is found all the same.
            rest = body;
        }
    }
    out
}

fn filled(source: &str) -> String {
    let mut joined = String::new();
    let mut lines = source.split("\\\n");
    joined.push_str(lines.next().unwrap_or_default());
    for line in lines {
        joined.push_str(line.trim_start());
    }
    let joined = joined
        .replace("\\\"", "\"")
        .replace("\\n", "\n")
        .replace("{{", "\u{1}")
        .replace("}}", "\u{2}");
    let mut out = String::new();
    let mut rest = joined.as_str();
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}') else {
            break;
        };
        out.push_str(&rest[..open]);
        out.push_str("{}");
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    out.replace("\u{1}\u{2}", "{}")
        .replace('\u{1}', "{")
        .replace('\u{2}', "}")
        .trim()
        .to_owned()
}

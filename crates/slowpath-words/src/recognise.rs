//! Texts of a document, told in the language that is spoken.
//!
//! Documents are English. A text from one is compared with the English catalogue: the message whose words it has, and what
//! stands where that has arguments. Messages with more words are asked first, so that a sentence is never
//! taken for a looser one. What no message has (a name, what another program said) stays as it is.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::catalogue::{self, Piece};
use crate::language::{Language, spoken};
use crate::spelling::tight;

/// A text of a page: as [`told`], and the single words of headings and buttons as well.
pub fn told_on_page(text: &str) -> Cow<'_, str> {
    if spoken() == Language::English {
        return Cow::Borrowed(text);
    }
    let page = &RECOGNISER.page;
    match page.binary_search_by(|(words, _)| words.as_str().cmp(text)) {
        Ok(place) => Cow::Owned(catalogue::of(Language::Japanese).format(&page[place].1, &[])),
        Err(_) => told(text),
    }
}

/// A text of a document in the language that is spoken; in English the text itself. What is only known in part stays whole: half a
/// sentence of each language helps nobody.
pub fn told(text: &str) -> Cow<'_, str> {
    match spoken() {
        Language::English => Cow::Borrowed(text),
        Language::Japanese => {
            let said = tell(text);
            if is_prose(&said) {
                Cow::Borrowed(text)
            } else {
                Cow::Owned(said)
            }
        }
    }
}

/// A text that is one of ours or somebody else's, such as a title: told if a message without arguments says all of it, else as it is.
pub fn told_whole(text: &str) -> Cow<'_, str> {
    match spoken() {
        Language::English => Cow::Borrowed(text),
        Language::Japanese => single(text).map_or(Cow::Borrowed(text), Cow::Owned),
    }
}

/// Whether English prose is left in a text: several words in a row, or one that no name has, outside of what is quoted.
fn is_prose(text: &str) -> bool {
    let unquoted = || text.split(['`', '"']).step_by(2);
    let stranded = |word: &str| STRANDED.contains(&word);
    if unquoted()
        .flat_map(|part| part.split(|c: char| !(c.is_ascii_alphanumeric() || "'-_./".contains(c))))
        .any(stranded)
    {
        return true;
    }
    let mut words = 0;
    for (place, part) in unquoted().flat_map(|part| part.split_inclusive(' ')).enumerate() {
        let bare = part.trim_end_matches([' ', ',', ';', '.', ':', '?', '!']);
        // A sentence begins with a capital letter, and so does a name: what follows tells.
        let bare = if place == 0 {
            bare.strip_prefix(|c: char| c.is_ascii_uppercase())
                .unwrap_or(bare)
        } else {
            bare
        };
        let word = !bare.is_empty()
            && bare
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'\'');
        words = if word { words + 1 } else { 0 };
        if words >= PROSE {
            return true;
        }
        // Names in a row have commas between them.
        if part.trim_end().ends_with(',') {
            words = 0;
        }
    }
    false
}

/// Whether quotes and brackets that begin in a text end in it: a piece of a text for which that does not hold was cut out at the
/// wrong place.
fn is_balanced(text: &str) -> bool {
    let even = |mark: char| text.matches(mark).count().is_multiple_of(2);
    let mut depth = 0_i32;
    for c in text.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && even('"') && even('`')
}

/// Tells a text in Japanese, as [`tell_anew`]. A long sentence is taken apart in many ways, and the same piece comes up in most of
/// them, so what a piece gave is kept: without, the ways double with each clause.
fn tell(text: &str) -> String {
    kept(|kept| &mut kept.told, text, tell_anew)
}

/// What a text gives, from what is kept or anew. Each way to take a text apart leads to shorter ones, so this ends.
fn kept<T: Clone>(which: fn(&mut Kept) -> &mut BTreeMap<String, T>, text: &str, make: fn(&str) -> T) -> T {
    if let Some(made) = KEPT.with_borrow_mut(|kept| which(kept).get(text).cloned()) {
        return made;
    }
    let made = make(text);
    KEPT.with_borrow_mut(|kept| {
        let which = which(kept);
        if which.len() >= MOST_KEPT {
            which.clear();
        }
        which.insert(text.to_owned(), made.clone());
    });
    made
}

/// What texts gave.
#[derive(Default)]
struct Kept {
    told: BTreeMap<String, String>,
    /// By one message, or not.
    exactly: BTreeMap<String, Option<String>>,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

/// Texts that are kept; a report has some thousand.
const MOST_KEPT: usize = 100_000;

/// Tells a text in Japanese: as a whole, else sentence by sentence, else clause by clause.
fn tell_anew(text: &str) -> String {
    let inner = text.trim();
    if !inner.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return tight(text);
    }
    // A line of somebody's file, and the marks below it.
    if let Some((number, _)) = text.split_once(" | ")
        && number.trim().bytes().all(|byte| byte.is_ascii_digit())
    {
        return text.to_owned();
    }
    // What is quoted is somebody's own.
    if [b'"', b'`'].iter().any(|mark| {
        let bytes = inner.as_bytes();
        bytes.len() > 1
            && bytes.first() == Some(mark)
            && bytes.last() == Some(mark)
            && !bytes[1..bytes.len() - 1].contains(mark)
    }) {
        return text.to_owned();
    }
    if inner.contains('\n') {
        let lines: Vec<String> = text.split('\n').map(tell).collect();
        return lines.join("\n");
    }
    if inner.len() != text.len() {
        let before = &text[..text.len() - text.trim_start().len()];
        let after = &text[text.trim_end().len()..];
        return format!("{before}{}{after}", tell(inner));
    }
    for mark in ["* ", "- ", "! ", ": "] {
        if let Some(rest) = text.strip_prefix(mark) {
            return format!("{mark}{}", tell(rest));
        }
    }
    if let Some((low, high)) = text.split_once(" to ")
        && is_number(low)
        && is_number(high)
    {
        return format!("{}〜{}", tight(low), tight(high));
    }
    let whole = whole(text);
    if let Some(said) = whole.as_ref().filter(|said| !is_prose(said)) {
        return said.clone();
    }
    // A loose message may say half of a text that clauses say wholly.
    let parts = parts(text).filter(|said| whole.is_none() || !is_prose(said));
    parts.or(whole).unwrap_or_else(|| tight(text))
}

/// Whether a text is a number, with or without a unit.
fn is_number(text: &str) -> bool {
    is_quantity(text)
        || (!text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.')))
}

/// A text that one message says, with or without its full stop, and with or without a capital letter.
fn whole(text: &str) -> Option<String> {
    if let Some(said) = exactly(text) {
        return Some(said);
    }
    if let Some(bare) = text.strip_suffix('.')
        && let Some(said) = exactly(bare)
    {
        return Some(format!("{said}。"));
    }
    if let Some(noun) = text.strip_prefix("the ")
        && let Some(said) = single(noun)
    {
        return Some(said);
    }
    // A clause that begins with what joins it to another one.
    for joint in ["; ", ", "] {
        if let Some(said) = single(&format!("{joint}{text}")) {
            return Some(said.trim_start_matches(['。', '、']).to_owned());
        }
    }
    let first = text.chars().next()?;
    if first.is_ascii_lowercase()
        && let Some(said) = single(&format!("{}{}", first.to_ascii_uppercase(), &text[1..]))
    {
        return Some(said);
    }
    if first.is_ascii_uppercase() {
        let small = format!("{}{}", first.to_ascii_lowercase(), &text[1..]);
        if let Some(said) = exactly(&small) {
            return Some(said);
        }
        let said = exactly(small.strip_suffix('.')?)?;
        return Some(format!("{said}。"));
    }
    None
}

/// A text that a message without arguments says.
fn single(text: &str) -> Option<String> {
    let words = &RECOGNISER.words;
    let place = words
        .binary_search_by(|(words, _)| words.as_str().cmp(text))
        .ok()?;
    Some(catalogue::of(Language::Japanese).format(&words[place].1, &[]))
}

fn exactly(text: &str) -> Option<String> {
    kept(|kept| &mut kept.exactly, text, exactly_anew)
}

/// A text that one message says.
fn exactly_anew(text: &str) -> Option<String> {
    if let Some(said) = single(text) {
        return Some(said);
    }
    for pattern in &RECOGNISER.patterns {
        if let Some(found) = pattern.matches(text) {
            let arguments: Vec<(&str, String)> = found
                .into_iter()
                .map(|(name, value)| {
                    // What is quoted is somebody's own.
                    let said = if pattern.quotes(name) {
                        value.to_owned()
                    } else {
                        tell(value)
                    };
                    (name, said)
                })
                .collect();
            return Some(catalogue::of(Language::Japanese).format(&pattern.key, &arguments));
        }
    }
    None
}

/// A text of several messages: sentences, clauses, or what follows a name and a colon.
fn parts(text: &str) -> Option<String> {
    // A name, and a whole text behind it.
    for (at, mark) in text.match_indices(": ") {
        if text[..at].contains(". ") {
            break;
        }
        if !is_balanced(&text[..at]) {
            continue;
        }
        if let Some(said) = whole(&text[at + mark.len()..]) {
            let both = format!("{}: {said}", tell(&text[..at]));
            if !is_prose(&both) {
                return Some(both);
            }
        }
    }
    if let Some(said) = split(text, ". ", "。") {
        return Some(said);
    }
    // A whole clause, and more behind it.
    for mark in ["; ", ", "] {
        for (at, _) in text.rmatch_indices(mark) {
            if is_balanced(&text[..at])
                && let Some(said) = whole(&text[..at])
            {
                let joint = if mark == "; " { "。" } else { "、" };
                return Some(format!("{said}{joint}{}", tell(&text[at + mark.len()..])));
            }
        }
    }
    [("; ", "。"), (", ", "、"), (": ", ": "), (" (", "(")]
        .into_iter()
        .find_map(|(mark, joint)| split(text, mark, joint))
}

/// A text told piece by piece; `None` where no piece is known.
fn split(text: &str, mark: &str, joint: &str) -> Option<String> {
    cut(text, mark)?;
    let mut changed = false;
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = cut(rest, mark) {
        let piece = &rest[..at];
        // A sentence is told with its full stop, also behind a name.
        let sentence = &rest[..=at];
        let named = || Some(tell(sentence)).filter(|said| said.ends_with('。') && !is_prose(said));
        let whole_sentence = (mark == ". ").then(|| whole(sentence).or_else(named)).flatten();
        let said = whole_sentence.unwrap_or_else(|| tell(piece));
        changed |= said != tight(piece);
        out.push_str(&said);
        if !said.ends_with('。') {
            out.push_str(if mark == ". " && said.is_ascii() {
                mark
            } else {
                joint
            });
        }
        rest = &rest[at + mark.len()..];
    }
    let bracket = rest.strip_suffix(')').filter(|_| mark == " (");
    let last = match bracket {
        Some(inner) => format!("{})", tell(inner)),
        None => tell(rest),
    };
    changed |= last != tight(rest);
    out.push_str(&last);
    (changed && out.len() > last.len()).then_some(out)
}

/// Where a text may be cut at `mark`: not inside of quotes or brackets.
fn cut(text: &str, mark: &str) -> Option<usize> {
    (text.match_indices(mark).map(|(at, _)| at)).find(|at| is_balanced(&text[..*at]))
}

/// A message with arguments, as its English looks.
struct Pattern {
    key: String,
    pieces: Vec<Piece>,
    /// Letters of its own words.
    letters: usize,
    /// The longest of its own words in a row: a text without them needs no closer look.
    longest: String,
}

impl Pattern {
    /// Whether an argument stands in quotes or is set as code.
    fn quotes(&self, name: &str) -> bool {
        self.pieces.windows(3).any(|three| {
            matches!(three, [Piece::Text(before), Piece::Argument(own), Piece::Text(after)]
                if own == name && ['"', '`'].iter().any(|mark| before.ends_with(*mark) && after.starts_with(*mark)))
        })
    }

    /// What stands where the message has arguments, where the text has its words.
    fn matches<'t>(&self, text: &'t str) -> Option<Vec<(&str, &'t str)>> {
        if let Some(Piece::Text(end)) = self.pieces.last()
            && !text.ends_with(end.as_str())
        {
            return None;
        }
        if !text.contains(self.longest.as_str()) {
            return None;
        }
        let mut found = Vec::new();
        fill(&self.pieces, text, &mut found)
            .then_some(found)
            .filter(|found| {
                // A message of one word or two has one thing behind it, and no clause more.
                if self.letters < FEW_LETTERS && found.iter().any(|(_, value)| value.contains("; ")) {
                    return false;
                }
                // Of a list, each is one of its own: the last argument has not the others in it.
                let words = self.longest.as_str();
                let own = words.bytes().any(|byte| byte.is_ascii_alphabetic());
                let list = |value: &str| {
                    let behind = value.split_once(", ").map(|(_, behind)| behind);
                    own && behind.is_some_and(|behind| behind.contains(words))
                };
                if found.last().is_some_and(|(_, value)| list(value)) {
                    return false;
                }
                // A name before a colon belongs to whoever put it there.
                let first = matches!(self.pieces.first(), Some(Piece::Argument(name)) if name != CLAUSE);
                !(first && found.first().is_some_and(|(_, value)| value.contains(": ")))
            })
    }
}

/// Fills arguments with the shortest texts that let the rest fit.
fn fill<'p, 't>(pieces: &'p [Piece], text: &'t str, found: &mut Vec<(&'p str, &'t str)>) -> bool {
    match pieces {
        [] => text.is_empty(),
        [Piece::Text(words), more @ ..] => text
            .strip_prefix(words.as_str())
            .is_some_and(|rest| fill(more, rest, found)),
        [Piece::Argument(name), more @ ..] => {
            let ends: Box<dyn Iterator<Item = usize>> = match more {
                [] => Box::new(std::iter::once(text.len())),
                [Piece::Text(next), ..] => Box::new(text.match_indices(next.as_str()).map(|(at, _)| at)),
                [Piece::Argument(_), ..] => Box::new(
                    text.char_indices()
                        .map(|(at, _)| at)
                        .chain(std::iter::once(text.len())),
                ),
            };
            for end in ends {
                let value = &text[..end];
                if is_two_sentences(value) {
                    return false;
                }
                if !fits(name, value) || !is_balanced(value) {
                    continue;
                }
                found.push((name, value));
                if fill(more, &text[end..], found) {
                    return true;
                }
                found.pop();
            }
            false
        }
    }
}

/// Whether a text goes on behind the end of a sentence: no argument does.
fn is_two_sentences(text: &str) -> bool {
    text.match_indices(". ")
        .any(|(at, mark)| text[at + mark.len()..].starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Whether a value is of the kind that an argument's name stands for.
fn fits(name: &str, value: &str) -> bool {
    // The end of the sentence is not the argument's.
    if value.ends_with('.') && !value.ends_with("..") && name != SENTENCE {
        return false;
    }
    if name.starts_with(GOODPUT) && value.contains("; ") {
        return false;
    }
    if name == TIME {
        is_quantity(value) && TIMES.iter().any(|unit| value.ends_with(unit))
    } else if QUANTITIES.contains(&name) {
        is_quantity(value)
    } else if SINGLE.contains(&name) {
        !value.contains(", ")
    } else if name == ADDRESS {
        !value.contains(": ")
    } else if name == COUNT {
        value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.'))
    } else {
        true
    }
}

/// Whether a text is a number with a unit.
fn is_quantity(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && tight(text) != text && text.split(' ').count() == 2
}

struct Recogniser {
    /// Messages without arguments, in order of their words, with their keys.
    words: Vec<(String, String)>,
    /// Texts of pages.
    page: Vec<(String, String)>,
    /// Messages with arguments, those with more words first.
    patterns: Vec<Pattern>,
}

static RECOGNISER: LazyLock<Recogniser> = LazyLock::new(|| {
    let mut words = Vec::new();
    let mut page = Vec::new();
    let mut patterns = Vec::new();
    for (key, pieces) in catalogue::forms(Language::English) {
        if let [Piece::Text(text)] = pieces.as_slice()
            && key.starts_with("page-")
        {
            page.push((text.trim().to_owned(), key));
            continue;
        }
        if LOOKED_UP.iter().any(|begin| key.starts_with(begin)) {
            continue;
        }
        match pieces.as_slice() {
            [] => {}
            [Piece::Text(text)] => words.push((text.trim().to_owned(), key)),
            _ => {
                let letters = pieces
                    .iter()
                    .map(|piece| match piece {
                        Piece::Text(text) => text.bytes().filter(u8::is_ascii_alphabetic).count(),
                        Piece::Argument(_) => 0,
                    })
                    .sum();
                let kind = |piece: &Piece| matches!(piece, Piece::Argument(name) if name == COUNT || QUANTITIES.contains(&name.as_str()));
                let few = ["answer_", "ledger_sentence"]
                    .iter()
                    .any(|begin| key.starts_with(begin))
                    && letters > 1;
                if letters >= FEWEST_LETTERS || few || pieces.iter().any(kind) {
                    let longest = pieces
                        .iter()
                        .filter_map(|piece| match piece {
                            Piece::Text(text) => Some(text.as_str()),
                            Piece::Argument(_) => None,
                        })
                        .max_by_key(|text| text.len())
                        .unwrap_or_default()
                        .to_owned();
                    patterns.push(Pattern {
                        key,
                        pieces,
                        letters,
                        longest,
                    });
                }
            }
        }
    }
    words.sort();
    page.sort();
    words.dedup_by(|later, earlier| later.0 == earlier.0);
    // Of equal words, the one that takes more apart.
    patterns.sort_by_key(|pattern| std::cmp::Reverse((pattern.letters, pattern.pieces.len())));
    Recogniser {
        words,
        page,
        patterns,
    }
});

/// The names of arguments that are quantities: they tell a message from others even where it has few words of its own.
const QUANTITIES: [&str; 3] = [TIME, "share", "less"];

/// The name of arguments that are times, and the units of times.
const TIME: &str = "time";
const TIMES: [&str; 6] = [" s", " ms", " µs", " us", " min", " h"];

/// Names of arguments that are one thing of a list.
const SINGLE: [&str; 3] = ["element", "full", "used"];

/// The name of arguments behind which a colon is not theirs.
const ADDRESS: &str = "address";

/// The name of arguments that are clauses of their own.
const CLAUSE: &str = "now";

/// The name of arguments that are sentences of their own.
const SENTENCE: &str = "end";

/// How names of arguments begin that are rates, and nothing behind them.
const GOODPUT: &str = "goodput";

/// Words in a row that are a sentence and no name.
const PROSE: usize = 3;

/// Words that stand in sentences alone.
const STRANDED: [&str; 8] = ["that", "which", "were", "was", "gave", "these", "those", "whose"];

/// The name of arguments that are numbers.
const COUNT: &str = "count";

/// Letters of its own from which a message can be told from others.
const FEWEST_LETTERS: usize = 5;

/// Letters of a message of a word or two.
const FEW_LETTERS: usize = 12;

/// Keys of single words that are looked up where they are meant: elsewhere they may be a name.
const LOOKED_UP: [&str; 2] = ["head-", "figure-"];

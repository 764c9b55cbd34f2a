//! The document behind `slowpath explain` of many captures (`slowpath/explain-many/1`), and its table.
//!
//! [`Many`] takes captures one by one, in the order in which they were given, and keeps a bounded number of transfers: those
//! that lost most.

use std::cmp::Ordering;
use std::io::{self, Write};

use serde::Serialize;
use slowpath_facts::{Capture, Side};
use slowpath_verdict::ledger::Lost;
use slowpath_verdict::{Connection, Ledger, Verdict};
use slowpath_words::{say, told, word};

use crate::explain::{Explanation, is_aside};
use crate::facts::data_s;
use crate::quantity::{bit_rate, bytes, seconds};
use crate::text::{Style, Tone, Warning, columns, kept, left, right};

/// Version of the JSON form.
pub const SCHEMA: &str = "slowpath/explain-many/1";

/// What many captures say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Many {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// By which field the transfers are sorted, the largest first.
    pub order: &'static str,
    /// The captures as they were given; a recording in several files is one.
    pub captures: Vec<OneCapture>,
    /// The transfers of all captures, those that lost most first.
    pub transfers: Vec<Transfer>,
    /// Transfers that lost less than the last of the list, and are left out of it.
    pub left_out: u64,
    /// How many transfers each limit held, in the order of the limits' names.
    pub limits: std::collections::BTreeMap<&'static str, u64>,
    /// Payload of all transfers.
    pub bytes_delivered: u64,
}

/// One capture among many.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OneCapture {
    /// The file, or the first of a recording.
    pub file: String,
    /// Transfers.
    pub transfers: u64,
    /// Connections that carried next to nothing beside these, such as commands beside data; they are no transfers.
    pub asides: u64,
    /// Why nothing was read of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it holds no transfer though it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The capture and its quality, as in `slowpath/explain/1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
}

/// One transfer of many; fields of the same name are those of a connection in `slowpath/explain/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transfer {
    /// The capture, counted from 0 in the list of captures.
    pub capture: usize,
    /// Its file.
    pub file: String,
    /// Number of the connection in its capture.
    pub id: u32,
    /// Address and port of the end that opened it.
    pub client: String,
    /// Address and port of the other end.
    pub server: String,
    /// The end that sent the data.
    pub data_from: Side,
    /// Payload that was acknowledged.
    pub bytes_delivered: u64,
    /// Begin, seconds after the start of the capture.
    pub start_s: f64,
    /// From the first to the last packet.
    pub duration_s: f64,
    /// Payload over the time from the first data to its last acknowledgement.
    pub goodput_bit_per_s: f64,
    /// Time lost against what the line would have given.
    pub lost_s: f64,
    /// Whether it may be less, because the line's own rate was not seen.
    pub lost_at_most: bool,
    /// What limited it.
    pub verdict: Verdict,
    /// Where its time went.
    pub ledger: Ledger,
}

/// What came of one capture.
#[derive(Debug, Clone, PartialEq)]
pub enum Came {
    /// What it says.
    Read(Box<Summary>),
    /// It holds no transfers, for a reason.
    Note(String),
    /// It could not be read, for a reason.
    Error(String),
}

/// What is kept of a capture among many.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    capture: Capture,
    transfers: Vec<Transfer>,
    /// Transfers beyond [`MOST`].
    more: u64,
    asides: u64,
}

impl Summary {
    /// What the table takes of an explanation.
    pub fn of(explanation: Explanation) -> Self {
        let file = &explanation.capture.file;
        let connections = explanation.connections.iter().map(|one| &one.connection);
        let with_data: Vec<_> = connections.filter(|c| c.bytes_delivered > 0).collect();
        let largest = with_data.iter().map(|c| c.bytes_delivered).max().unwrap_or(0);
        let count = with_data.len();
        let bulk = with_data.into_iter().filter(|c| !is_aside(c, largest));
        let mut transfers: Vec<Transfer> = bulk.map(|c| Transfer::of(c, file)).collect();
        let asides = (count - transfers.len()) as u64;
        transfers.sort_by(Transfer::order);
        let more = transfers.len().saturating_sub(MOST);
        transfers.truncate(MOST);
        Self {
            capture: explanation.capture,
            transfers,
            more: more as u64,
            asides,
        }
    }
}

impl Transfer {
    fn of(connection: &Connection, file: &str) -> Self {
        let Lost { seconds, at_most } = connection.ledger.lost();
        Self {
            capture: 0,
            file: file.to_owned(),
            id: connection.id,
            client: connection.client.clone(),
            server: connection.server.clone(),
            data_from: connection.data_from,
            bytes_delivered: connection.bytes_delivered,
            start_s: connection.start_s,
            duration_s: connection.duration_s,
            goodput_bit_per_s: connection.goodput_bit_per_s,
            lost_s: seconds,
            lost_at_most: at_most,
            verdict: connection.verdict.clone(),
            ledger: connection.ledger.clone(),
        }
    }

    /// The one that lost more first; of equal ones the one of the earlier capture and connection.
    fn order(&self, other: &Self) -> Ordering {
        let by_lost = other.lost_s.total_cmp(&self.lost_s);
        by_lost.then_with(|| (self.capture, self.id).cmp(&(other.capture, other.id)))
    }

    /// Who sent the data to whom.
    fn flow(&self) -> String {
        match self.data_from {
            Side::Client => format!("{} > {}", self.client, self.server),
            Side::Server => format!("{} > {}", self.server, self.client),
        }
    }
}

impl Default for Many {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            order: "lost_s",
            captures: Vec::new(),
            transfers: Vec::new(),
            left_out: 0,
            limits: std::collections::BTreeMap::new(),
            bytes_delivered: 0,
        }
    }
}

impl Many {
    /// No capture yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what came of the next capture.
    pub fn add(&mut self, file: &str, came: Came) {
        let mut one = OneCapture {
            file: file.to_owned(),
            transfers: 0,
            asides: 0,
            error: None,
            note: None,
            capture: None,
        };
        match came {
            Came::Error(text) => one.error = Some(text),
            Came::Note(text) => one.note = Some(text),
            Came::Read(summary) => {
                one.transfers = summary.transfers.len() as u64 + summary.more;
                one.asides = summary.asides;
                self.left_out += summary.more;
                for mut transfer in summary.transfers {
                    transfer.capture = self.captures.len();
                    self.bytes_delivered += transfer.bytes_delivered;
                    *self.limits.entry(transfer.verdict.limit.name()).or_default() += 1;
                    self.transfers.push(transfer);
                }
                one.capture = Some(summary.capture);
            }
        }
        self.captures.push(one);
        if self.transfers.len() > 2 * MOST {
            self.sort();
        }
    }

    /// Sorts the transfers; call it once all captures were added.
    pub fn sort(&mut self) {
        self.transfers.sort_by(Transfer::order);
        let more = self.transfers.len().saturating_sub(MOST);
        self.transfers.truncate(MOST);
        self.left_out += more as u64;
    }

    /// Captures that could not be read.
    pub fn unread(&self) -> impl Iterator<Item = &OneCapture> {
        self.captures.iter().filter(|one| one.error.is_some())
    }

    /// Captures that were read.
    pub fn read(&self) -> usize {
        self.captures.len() - self.unread().count()
    }
}

/// Writes the table for the terminal.
///
/// # Errors
/// Those of `out`.
pub fn write(many: &Many, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut limits: Vec<_> = many.limits.iter().collect();
    limits.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
    let limits: Vec<String> = limits
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let count = many.transfers.len() as u64 + many.left_out;
    let summary = if count == 0 {
        say!(
            "many-none",
            captures = many.captures.len(),
            plural_captures = plural(many.captures.len() as u64)
        )
    } else {
        say!(
            "many-all",
            captures = many.captures.len(),
            plural_captures = plural(many.captures.len() as u64),
            transfers = count,
            plural_transfers = plural(count),
            delivered = bytes(many.bytes_delivered as f64),
            limits = limits.join(", ")
        )
    };
    style.paragraph(&summary, "", "", Tone::Plain, out)?;
    let folder = common_folder(&many.captures);
    if !folder.is_empty() {
        for line in kept(&say!("many-folder", folder = folder), style.width, "", "") {
            writeln!(out, "{line}")?;
        }
    }
    let listed = if style.verbose { MOST } else { LISTED };
    if !many.transfers.is_empty() {
        writeln!(out)?;
        for line in crate::text::wrap(word!("many-heading"), style.width, "", "") {
            writeln!(out, "{}", style.bold(&line))?;
        }
        let shown = &many.transfers[..many.transfers.len().min(listed)];
        if shown.iter().any(|transfer| transfer.lost_at_most) {
            style.paragraph(word!("many-at-most"), "", "", Tone::Plain, out)?;
        }
        rows(shown, folder, style, out)?;
        let more = count - shown.len() as u64;
        if more > 0 {
            style.paragraph(&say!("many-more", more = more), "  ", "  ", Tone::Plain, out)?;
        }
    }
    asides(many, folder, style, listed, out)
}

/// Writes two lines for each transfer: its figures, and where it is found.
fn rows(transfers: &[Transfer], folder: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let cells: Vec<[String; 5]> = transfers
        .iter()
        .map(|transfer| {
            let lost = told(&seconds(transfer.lost_s)).into_owned();
            let data_s = data_s(
                transfer.bytes_delivered,
                transfer.goodput_bit_per_s,
                transfer.duration_s,
            );
            [
                if transfer.lost_at_most {
                    format!("< {lost}")
                } else {
                    lost
                },
                told(&seconds(data_s)).into_owned(),
                told(&bytes(transfer.bytes_delivered as f64)).into_owned(),
                told(&bit_rate(transfer.goodput_bit_per_s)).into_owned(),
                transfer.verdict.limit.name().to_owned(),
            ]
        })
        .collect();
    let heads = [
        word!("many-lost"),
        word!("many-duration"),
        word!("many-bytes"),
        word!("many-goodput"),
        word!("many-limit"),
    ];
    let widths: Vec<usize> = (0..heads.len())
        .map(|place| {
            let own = cells.iter().map(|row| columns(&row[place])).max().unwrap_or(0);
            own.max(columns(heads[place]))
        })
        .collect();
    let last = heads.len() - 1;
    let line = |row: &[&str]| -> String {
        let figures = (0..last).map(|place| right(row[place], widths[place]));
        let mut parts: Vec<String> = figures.collect();
        parts.push(left(row[last], widths[last]));
        format!("  {}", parts.join("  ")).trim_end().to_owned()
    };
    let fits = widths.iter().sum::<usize>() + 2 * heads.len() <= style.rows;
    if fits {
        writeln!(out, "{}", line(&heads))?;
    }
    for (transfer, row) in transfers.iter().zip(&cells) {
        if fits {
            writeln!(out, "{}", line(&row.each_ref().map(String::as_str)))?;
        } else {
            let said = say!(
                "many-narrow",
                limit = row[4],
                lost = row[0],
                duration = row[1],
                delivered = row[2],
                goodput = row[3]
            );
            style.paragraph(&said, "", "  ", Tone::Plain, out)?;
        }
        let place = format!("{}: {}", within(&transfer.file, folder), transfer.flow());
        for line in kept(&place, style.rows, "    ", "      ") {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Writes what is to be said of captures beside their transfers: which could not be read, hold none, or are damaged.
fn asides(many: &Many, folder: &str, style: Style, listed: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut said: Vec<(Tone, String)> = Vec::new();
    for one in &many.captures {
        let file = within(&one.file, folder);
        if let Some(error) = &one.error {
            said.push((Tone::Bad, say!("many-unread", file = file, error = told(error))));
        } else if let Some(note) = &one.note {
            said.push((Tone::Plain, say!("many-note", file = file, note = told(note))));
        } else if one.transfers == 0 {
            said.push((Tone::Plain, say!("many-empty", file = file)));
        }
        let Some(capture) = &one.capture else { continue };
        if !capture.parts.is_empty() {
            said.push((Tone::Plain, joined(capture, folder)));
        }
        if style.hidden.holds(Warning::Capture) {
            continue;
        }
        // Of very many captures only what makes their figures wrong.
        let grave = |warning: &&String| {
            style.verbose || warning.starts_with("the file is damaged") || warning.contains("dropped")
        };
        for warning in capture.quality.warnings.iter().filter(grave) {
            said.push((Tone::Care, format!("{file}: {}", told(warning))));
        }
    }
    if said.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", style.bold(word!("many-captures")))?;
    let count = said.len();
    for (tone, text) in said.into_iter().take(listed) {
        for line in kept(&text, style.width, "  ", "    ") {
            writeln!(out, "{}", style.tone(tone, &line))?;
        }
    }
    if count > listed {
        let more = say!("many-more-captures", more = count - listed);
        style.paragraph(&more, "  ", "  ", Tone::Plain, out)?;
    }
    Ok(())
}

/// Which files were read as one, in a sentence; `folder` is left out of their names.
pub fn joined(capture: &Capture, folder: &str) -> String {
    let name = |file: Option<&String>| within(file.map_or("", String::as_str), folder).to_owned();
    say!(
        "many-joined",
        count = capture.parts.len(),
        first = name(capture.parts.first()),
        last = name(capture.parts.last())
    )
}

/// The folder in which all captures lie, with the separator at its end; empty where there is none but the present one.
fn common_folder(captures: &[OneCapture]) -> &str {
    let Some((first, rest)) = captures.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return "";
    };
    let folder = |file: &str| file.rfind('/').map_or(0, |at| at + 1);
    let mut common = &first.file[..folder(&first.file)];
    for one in rest {
        while !one.file.starts_with(common) {
            common = &common[..folder(common.trim_end_matches('/'))];
        }
    }
    if common == "/" { "" } else { common }
}

const fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn within<'a>(file: &'a str, folder: &str) -> &'a str {
    file.strip_prefix(folder).unwrap_or(file)
}

/// Transfers that are kept at most: more are sorted out as they come.
const MOST: usize = 10_000;

/// Rows that are shown, unless all are wanted.
const LISTED: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_all_is_told_once() {
        let of = |files: &[&str]| {
            let captures = files.iter().map(|file| OneCapture {
                file: (*file).to_owned(),
                transfers: 0,
                asides: 0,
                error: None,
                note: None,
                capture: None,
            });
            common_folder(&captures.collect::<Vec<_>>()).to_owned()
        };
        assert_eq!(of(&["a/b/c", "a/b/d", "a/b/e/f"]), "a/b/");
        assert_eq!(of(&["a/b/c", "a/bc/d"]), "a/");
        assert_eq!(of(&["/a/c", "/b/d"]), "");
        assert_eq!(of(&["a", "b/c"]), "");
        assert_eq!(of(&["a/b"]), "", "one alone keeps its name");
        assert_eq!(of(&[]), "");
    }
}

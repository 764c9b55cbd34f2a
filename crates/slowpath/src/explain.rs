//! What a capture says, with what would help.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use slowpath_facts::Tap;
use slowpath_facts::taps::{TwoTaps, two_taps};
use slowpath_report::compare::CaptureComparison;
use slowpath_report::explain::ConfigurationText;
pub use slowpath_report::explain::{ExplainedConnection, Explanation, RemedyView};
use slowpath_report::explain_text::{self, Depth};
use slowpath_report::html::WhatIfPart;
use slowpath_report::text::{Tone, left, wrap};
use slowpath_report::{Style, json};
use slowpath_units::{BitRate, ParseError};
use slowpath_vendor::Language;
use slowpath_vendor::remedy::Place;
use slowpath_verdict::compare::{device_limit, dscp_treatment};
use slowpath_verdict::ledger::CapacityIs;
use slowpath_verdict::{Analysis, Verdict};

use crate::analyzed::Analyzed;
use crate::fates::{self, Fates};
use crate::folder::Folder;
use crate::import::{self, How, ImportError, ReadCapture};
use crate::many::rotation::Recording;
use crate::outcome;
use crate::reading::Reading;
use slowpath_words::{say, told, word};

/// Explains what the packets of a run say; nothing where none were seen.
pub fn run(run: &Analyzed) -> Option<Explanation> {
    run.analysis.clone().map(of)
}

/// The run to be explained: that of a results folder which holds one with packets, or else an imported capture.
///
/// # Errors
/// [`ImportError`].
pub fn open(path: &Path) -> Result<Analyzed, ImportError> {
    open_watched(path, &Reading::default())
}

/// As [`open`]; `reading` says meanwhile how far a capture is read.
///
/// # Errors
/// [`ImportError`].
pub fn open_watched(path: &Path, reading: &Reading) -> Result<Analyzed, ImportError> {
    kept(path).map_or_else(|| import::run_watched(path, reading), Ok)
}

/// The run of a results folder which holds one with packets; `None` of any other folder or file.
pub fn kept(path: &Path) -> Option<Analyzed> {
    if !path.is_dir() {
        return None;
    }
    let folder = Folder::open(path);
    let records = folder.records().ok()?.into_iter();
    let runs = records.map(|(name, record)| outcome::analyze_run(&folder, name, record));
    let mut seen = runs.filter(|run| run.analysis.is_some());
    seen.next().filter(|_| seen.next().is_none())
}

/// What is in the files of one recording.
#[derive(Debug)]
pub enum Seen {
    /// Packets that somebody captured.
    Run(Box<Analyzed>),
    /// What became of packets inside the network of a run of ours.
    Network(Box<Fates>),
    /// More than one recording, although the names of the files go on.
    Several,
}

/// Reads a recording once, and says what it is, with the data of graphs where those are drawn; `reading` says meanwhile how
/// far it is.
///
/// # Errors
/// [`ImportError`].
pub fn read(recording: &Recording, graphs: bool, reading: &Reading) -> Result<Seen, ImportError> {
    let how = How {
        graphs,
        ..How::default()
    };
    let (read, rest) = ReadCapture::open_recording(recording, how, reading)?;
    if rest.is_some() {
        return Ok(Seen::Several);
    }
    if read.is_network()
        && let Some(fates) = fates::read(recording.first())?
    {
        return Ok(Seen::Network(Box::new(fates)));
    }
    Ok(Seen::Run(Box::new(read.into_run())))
}

/// What an analysis comes to, with what would help.
pub fn of(analysis: Analysis) -> Explanation {
    let mut explanation = Explanation::diagnosed(analysis);
    for_linux(&mut explanation);
    explanation
}

/// Adds to each remedy that gains something how it is made on a Linux host whose configuration is not known.
fn for_linux(explanation: &mut Explanation) {
    for remedy in explanation.connections.iter_mut().flat_map(|c| &mut c.remedies) {
        let lines = remedy.asked.as_ref().and_then(slowpath_vendor::remedy::linux);
        if let Some(text) = lines.filter(|_| !remedy.in_vain()) {
            remedy.configuration.push(ConfigurationText {
                system: "linux".to_owned(),
                text,
            });
        }
    }
}

/// Writes the explanation as JSON (`slowpath/explain/1`).
///
/// # Errors
/// Those of `out`.
pub fn write_json(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    json::write_explanation(explanation, out)
}

/// Writes one JSON object a connection and line.
///
/// # Errors
/// Those of `out`.
pub fn write_json_lines(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    json::write_connection_lines(explanation, out)
}

/// Writes the explanation for the terminal: answers, and with a verbose style all that stands behind them; the lines of
/// a remedy in a device's language wherever they were asked for.
///
/// # Errors
/// Those of `out`.
pub fn write_text(
    explanation: &Explanation,
    style: Style,
    configuration: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let depth = if style.verbose {
        Depth::default()
    } else {
        Depth::answers(configuration)
    };
    explain_text::write_explanation(explanation, style, depth, out)
}

/// Writes the explanation as one self-contained page, with what was asked of a fitted path.
///
/// # Errors
/// Those of `out`.
pub fn write_html(
    explanation: &Explanation,
    what_if: Option<WhatIfPart<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    slowpath_report::html::write_explanation(explanation, None, what_if, out)
}

/// Adds the remedies of one connection after the other in the language of a system, where it has words for them: `ios`
/// for a receiver's window of a Cisco router, say. Says how many it could write.
pub fn in_language(explanation: &mut Explanation, language: Language) -> usize {
    /// Characters of a comment's line, so that the terminal's 80 hold it with its indentation.
    const NOTE_WIDTH: usize = 56;
    let mut written = 0;
    for remedy in explanation.connections.iter_mut().flat_map(|c| &mut c.remedies) {
        if remedy.in_vain() {
            continue;
        }
        let lines = remedy
            .asked
            .as_ref()
            .and_then(|change| slowpath_vendor::remedy(language, change, Place::default()));
        let Some(lines) = lines else {
            continue;
        };
        let mut text = lines.text();
        if let Some(note) = &lines.note {
            let comment = if language == Language::Ios { "! " } else { "# " };
            text = format!("{}\n{text}", wrap(note, NOTE_WIDTH, comment, comment).join("\n"));
        }
        remedy.configuration.push(ConfigurationText {
            system: language.name().to_owned(),
            text,
        });
        written += 1;
    }
    written
}

/// Books the ledgers again for a line whose rate somebody knows: `rate` as people write it, such as `100 Mbit/s`, counts
/// Ethernet frames. Gives the numbers of the connections that carried more than such a line can; what they show stays.
///
/// # Errors
/// [`ParseError`] if that is no rate.
pub fn know_capacity(explanation: &mut Explanation, rate: &str) -> Result<Vec<u32>, ParseError> {
    let rate: BitRate = rate.parse()?;
    let mut faster = Vec::new();
    for explained in &mut explanation.connections {
        let connection = &mut explained.connection;
        connection.with_capacity(rate.bits_per_s() as f64);
        let ledger = &connection.ledger;
        if !ledger.entries.is_empty() && ledger.capacity_is != CapacityIs::Known {
            faster.push(connection.id);
        }
    }
    Ok(faster)
}

/// Leaves the connections that `wanted` names: a number of a connection, or a part of an address and port at either
/// end, such as `10.0.0.1:` or `:443`. Says how many are left.
pub fn select(explanation: &mut Explanation, wanted: &str) -> usize {
    let number: Option<u32> = wanted.parse().ok();
    explanation.connections.retain(|explained| {
        let connection = &explained.connection;
        number.map_or_else(
            || connection.client.contains(wanted) || connection.server.contains(wanted),
            |number| connection.id == number,
        )
    });
    explanation.connections.len()
}

/// Writes, for the terminal, what Wireshark says of segments below the highest sequence number, what they were, and
/// how that is known.
///
/// # Errors
/// Those of `out`.
pub fn write_wireshark(explanation: &Explanation, style: Style, out: &mut dyn Write) -> io::Result<()> {
    /// Width of Wireshark's longest name, `spurious_retransmission`.
    const NAME: usize = 23;
    let with_rows = explanation
        .connections
        .iter()
        .map(|explained| &explained.connection)
        .filter(|connection| !connection.wireshark.is_empty());
    let mut none = true;
    for connection in with_rows {
        none = false;
        writeln!(out)?;
        let ends = format!("{} - {}", connection.client, connection.server);
        style.paragraph(&ends, "", "  ", Tone::Plain, out)?;
        writeln!(
            out,
            "  {}  {}  {}",
            left(word!("wireshark-segments"), 8),
            left(word!("wireshark-says"), NAME),
            word!("wireshark-slowpath")
        )?;
        for row in &connection.wireshark {
            let start = format!("  {:>8}  {:<NAME$}  ", row.segments, row.wireshark.name());
            let rest = " ".repeat(start.len());
            style.paragraph(row.slowpath.name(), &start, &rest, Tone::Plain, out)?;
            let frames: Vec<String> = row.frames.iter().map(u64::to_string).collect();
            let more = if row.segments > row.frames.len() as u64 {
                " ..."
            } else {
                ""
            };
            let why = say!(
                "wireshark-frames",
                why = row.why,
                frames = frames.join(", "),
                more = more
            );
            let rest = " ".repeat(12);
            style.paragraph(&why, &rest, &rest, Tone::Plain, out)?;
        }
    }
    if none {
        writeln!(out)?;
        let words = "Nothing to compare with Wireshark: no segment was late or repeated.";
        style.paragraph(words, "", "", Tone::Plain, out)?;
    }
    Ok(())
}

/// What two captures say together.
#[derive(Debug)]
pub enum Pair {
    /// Both hold the same connections: two taps of one path.
    Taps(Box<Taps>),
    /// They hold different ones: a good and a bad transfer of a kind.
    Transfers(Box<Transfers>),
    /// One of them holds no TCP connection.
    Nothing,
}

/// Two taps of one path.
#[derive(Debug)]
pub struct Taps {
    /// What each connection shows between them.
    pub taps: Vec<TwoTaps>,
    /// What the capture nearer to the sender says by itself.
    pub explanation: Explanation,
}

/// A good and a bad transfer of a kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transfers {
    /// What differs.
    #[serde(flatten)]
    pub comparison: CaptureComparison,
    /// What the difference proves, if it proves anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// Says what transfers over one path that differ in one thing prove together and no single capture shows: that the
/// network treats marks differently, or that a device forwards so many packets per second and no more.
pub fn treatment(runs: &[&Analysis]) -> Option<Verdict> {
    dscp_treatment(runs).or_else(|| device_limit(runs))
}

/// Reads two captures and says what happens between them, or what differs.
///
/// # Errors
/// [`ImportError`].
pub fn pair(first: &Path, second: &Path) -> Result<Pair, ImportError> {
    let (first, second) = (ReadCapture::open(first)?, ReadCapture::open(second)?);
    let taps = two_taps(
        (&first.analyzer, first.conversations()),
        (&second.analyzer, second.conversations()),
    );
    if taps
        .iter()
        .any(|taps| taps.matched_segments > 0 && taps.is_possible())
    {
        let [first, second] = [first, second].map(ReadCapture::analysis);
        let nearer = if second.capture.quality.tap == Tap::Sender && first.capture.quality.tap != Tap::Sender
        {
            second
        } else {
            first
        };
        return Ok(Pair::Taps(Box::new(Taps {
            taps,
            explanation: Explanation::diagnosed(nearer),
        })));
    }
    let [good, bad] = [first, second].map(ReadCapture::analysis);
    let verdict = treatment(&[&good, &bad]);
    let comparison = CaptureComparison::of(&Explanation::diagnosed(good), &Explanation::diagnosed(bad));
    Ok(comparison.map_or(Pair::Nothing, |comparison| {
        Pair::Transfers(Box::new(Transfers { comparison, verdict }))
    }))
}

/// Writes what two captures say, for the terminal.
///
/// # Errors
/// Those of `out`.
pub fn write_pair(pair: &Pair, style: Style, out: &mut dyn Write) -> io::Result<()> {
    match pair {
        Pair::Transfers(transfers) => {
            if let Some(verdict) = &transfers.verdict {
                writeln!(
                    out,
                    "{}",
                    say!(
                        "pair-confidence",
                        limit = verdict.limit,
                        percent = format_args!("{:.0}", verdict.confidence * 100.0)
                    )
                )?;
                for line in slowpath_report::text::wrap(&verdict.sentence, style.width, "  ", "  ") {
                    writeln!(out, "{line}")?;
                }
                writeln!(out)?;
            }
            transfers.comparison.write(style, out)
        }
        Pair::Nothing => writeln!(out, "{}", told(NOTHING)),
        Pair::Taps(taps) => {
            write_text(&taps.explanation, style, false, out)?;
            writeln!(out, "\n{}", style.bold(word!("pair-between")))?;
            for one in &taps.taps {
                let matched = format!(
                    "{} - {}: {} segments matched",
                    one.client, one.server, one.matched_segments
                );
                style.paragraph(&matched, "", "  ", Tone::Plain, out)?;
                for finding in &one.findings {
                    for line in slowpath_report::text::wrap(finding, style.width, "  ", "    ") {
                        writeln!(out, "{line}")?;
                    }
                }
            }
            Ok(())
        }
    }
}

/// Writes what two captures say, as JSON.
///
/// # Errors
/// Those of `out`.
pub fn write_pair_json(pair: &Pair, out: &mut dyn Write) -> io::Result<()> {
    match pair {
        Pair::Transfers(transfers) => serde_json::to_writer_pretty(&mut *out, transfers)?,
        Pair::Taps(taps) => serde_json::to_writer_pretty(&mut *out, &taps.taps)?,
        Pair::Nothing => serde_json::to_writer_pretty(&mut *out, &serde_json::json!({ "error": NOTHING }))?,
    }
    writeln!(out)
}

const NOTHING: &str = "one of the two captures holds no TCP connection, so there is nothing to compare";

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_facts::Analyzer;
    use slowpath_facts::wireshark::{Row, Tag, Was};
    use slowpath_packet::{FlowKey, Protocol};
    use slowpath_record::packets::{CaptureSummary, Conversations, Record, TcpFlags, TcpPacket};

    fn explanation() -> Explanation {
        let mut conversations = Conversations::new();
        let (client, server) = (
            "[2001:db8:1111:2222:3333:4444:5555:6666]:40001",
            "[2001:db8::1]:443",
        );
        let key = FlowKey::new(Protocol::TCP, client.parse().unwrap(), server.parse().unwrap());
        let (conversation, direction) = conversations.intern(&key);
        let mut analyzer = Analyzer::new();
        for (number, (flags, seq)) in [(TcpFlags::SYN, 0), (TcpFlags::ACK, 1)].into_iter().enumerate() {
            let mut packet = TcpPacket::new(conversation, direction, 0, number as u64 + 1);
            (packet.flags, packet.seq, packet.payload_len) = (flags, seq, seq * 1000);
            analyzer.push(&Record::Tcp(packet), &conversations);
        }
        Explanation::of(Analysis::of(
            analyzer.finish(&conversations, &CaptureSummary::default()),
        ))
    }

    fn table(explanation: &Explanation) -> String {
        let mut out = Vec::new();
        write_wireshark(explanation, Style::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_table_of_wiresharks_words_fits_a_terminal() {
        let mut explanation = explanation();
        assert!(table(&explanation).contains("no segment was late or repeated"));
        let tags = [
            Tag::Retransmission,
            Tag::FastRetransmission,
            Tag::SpuriousRetransmission,
            Tag::OutOfOrder,
        ];
        let kinds = [
            Was::Retransmission,
            Was::NotNeeded,
            Was::LostBeforeTap,
            Was::Overtaken,
        ];
        let rows = tags.into_iter().flat_map(|wireshark| {
            kinds.map(|slowpath| Row {
                wireshark,
                slowpath,
                agree: false,
                segments: 12_345_678,
                frames: vec![1_234_567_890; 5],
                why: slowpath.why().to_owned(),
            })
        });
        explanation.connections[0].connection.seen.wireshark = rows.collect();
        let table = table(&explanation);
        assert!(table.contains("  12345678  spurious_retransmission  retransmission that was not needed\n"));
        assert!(table.contains("1234567890 ...)"));
        let longest = table.lines().map(str::len).max().unwrap();
        assert!(longest <= 80, "{longest} columns:\n{table}");
    }
}

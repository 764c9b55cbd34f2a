//! The file in which a run of ours says what became of packets inside the network: it holds no transfer, but drops.
//!
//! [`read`] recognises it by what its interfaces say of themselves, so that nobody takes it for a capture that missed
//! nearly everything.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use slowpath_capture::{Decoder, OpenError, Reader};
use slowpath_packet::FlowKey;
use slowpath_record::packets::{Direction, Record};
use slowpath_report::quantity::{grouped, seconds};
use slowpath_report::text::{Style, Tone, columns, left, right};
use slowpath_stage::captures::{FATE, NETWORK_TAP};

use crate::import::ImportError;
use slowpath_words::told;

/// Version of the JSON form.
pub const SCHEMA: &str = "slowpath/drops/1";

/// What a run's file of the network says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fates {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Name as given.
    pub file: String,
    /// Each element of the path that recorded or dropped a packet, in the order of the file.
    pub elements: Vec<Element>,
    /// Every dropped packet, in the order of the file.
    pub drops: Vec<Drop>,
    /// Captures of the hosts of the same run that lie beside it: those hold the transfer.
    pub hosts: Vec<String>,
}

/// What one element did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Element {
    /// Its name, such as `down.loss`.
    pub name: String,
    /// Packets that it recorded and let pass.
    pub passed: u64,
    /// Packets that it dropped, by cause.
    pub dropped: BTreeMap<String, u64>,
}

/// One packet that did not arrive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drop {
    /// Seconds after the first packet of the file.
    pub at_s: f64,
    /// Number of the packet, the same in every file of the run.
    pub packet: Option<u64>,
    /// Where it was dropped.
    pub element: String,
    /// Why.
    pub cause: String,
    /// Bytes on the wire.
    pub wire_bytes: u32,
    /// Protocol, source and destination, as far as they could be read.
    pub flow: Option<String>,
}

/// Reads `path` if it is a run's file of the network; `None` for any other file, unreadable ones among them.
///
/// # Errors
/// [`ImportError`] if reading breaks off.
pub fn read(path: &Path) -> Result<Option<Fates>, ImportError> {
    let Ok(Some(mut reader)) = open(path) else {
        return Ok(None);
    };
    let failed = |source| ImportError::Read {
        path: path.to_owned(),
        source,
    };
    let mut decoder = Decoder::new();
    let mut fates = Fates {
        schema: SCHEMA,
        file: path.display().to_string(),
        elements: Vec::new(),
        drops: Vec::new(),
        hosts: hosts_beside(path),
    };
    let mut first = None;
    while let Some(frame) = reader.next_frame().map_err(failed)? {
        let at = frame.at.unwrap_or_default();
        let first = *first.get_or_insert(at);
        let fate = frame.comment().and_then(fate);
        let mut flow = || {
            let record = decoder.decode(&frame).ok()?;
            let (conversation, direction) = match record {
                Record::Tcp(packet) => (packet.conversation, packet.direction),
                Record::Other(packet) => (packet.conversation, packet.direction),
            };
            let key = decoder.conversations().key(conversation)?;
            Some(toward(*key, direction).to_string())
        };
        let drop = fate.map(|(element, cause)| Drop {
            at_s: (at - first) as f64 / 1e9,
            packet: frame.packet_id(),
            element: element.to_owned(),
            cause: cause.to_owned(),
            wire_bytes: frame.wire_len,
            flow: flow(),
        });
        let interface = frame.interface;
        let name = reader
            .interfaces()
            .get(interface as usize)
            .map_or("", |interface| interface.name.as_str());
        let place = fates.elements.iter().position(|element| element.name == name);
        let place = place.unwrap_or_else(|| {
            fates.elements.push(Element {
                name: name.to_owned(),
                passed: 0,
                dropped: BTreeMap::new(),
            });
            fates.elements.len() - 1
        });
        let element = &mut fates.elements[place];
        match drop {
            Some(drop) => {
                *element.dropped.entry(drop.cause.clone()).or_default() += 1;
                fates.drops.push(drop);
            }
            None => element.passed += 1,
        }
    }
    Ok(Some(fates))
}

/// Opens a file of which the first packet says that it is ours.
fn open(path: &Path) -> Result<Option<Reader>, OpenError> {
    let is_ours = |reader: &mut Reader| -> io::Result<bool> {
        let Some(frame) = reader.next_frame()? else {
            return Ok(false);
        };
        let number = frame.interface as usize;
        let interface = reader.interfaces().get(number);
        Ok(interface.is_some_and(|interface| interface.description == NETWORK_TAP))
    };
    if path == Path::new("-") || !path.is_file() {
        return Ok(None);
    }
    let mut reader = Reader::new(File::open(path)?)?;
    if !is_ours(&mut reader)? {
        return Ok(None);
    }
    Reader::new(File::open(path)?).map(Some)
}

/// Element and cause of what a packet's comment says.
fn fate(comment: &str) -> Option<(&str, &str)> {
    comment.strip_prefix(FATE)?.split_once(": ")
}

/// The flow in the direction in which the packet travelled.
fn toward(key: FlowKey, direction: Direction) -> FlowKey {
    match direction {
        Direction::Forward => key,
        Direction::Backward => key.reversed(),
    }
}

/// Captures of the same run at its hosts.
fn hosts_beside(path: &Path) -> Vec<String> {
    const OWN: &str = ".network.pcapng";
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (Some(run), Some(folder)) = (name.strip_suffix(OWN), path.parent()) else {
        return Vec::new();
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|other| {
            let host = other
                .strip_prefix(run)
                .and_then(|rest| rest.strip_prefix('.'))
                .and_then(|rest| rest.strip_suffix(".pcapng"));
            *other != *name && host.is_some_and(|host| !host.contains('.'))
        })
        .map(|other| path.with_file_name(other).display().to_string())
        .collect();
    found.sort();
    found
}

/// Writes it for the terminal: what was dropped where and why, each drop in a line, and which file holds the transfer.
///
/// # Errors
/// Those of `out`.
pub fn write_text(fates: &Fates, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let count = fates.drops.len();
    let packets = if count == 1 { "packet" } else { "packets" };
    let sentence = if count == 0 {
        "This file of slowpath holds the packets that passed inside the network, not a transfer, and no dropped one.".to_owned()
    } else {
        format!(
            "The emulated path dropped {} {packets}. This file of slowpath holds what became of packets inside the network, not a transfer.",
            grouped(count as f64, 0)
        )
    };
    for line in slowpath_report::text::wrap(&sentence, style.width, "", "") {
        writeln!(out, "{}", style.bold(&line))?;
    }
    for element in &fates.elements {
        let causes = element.dropped.iter();
        let mut said: Vec<String> = causes
            .map(|(cause, count)| format!("{} dropped ({cause})", grouped(*count as f64, 0)))
            .collect();
        if element.passed > 0 {
            said.push(format!("{} passed", grouped(element.passed as f64, 0)));
        }
        let text = format!("{}: {}", element.name, said.join(", "));
        style.paragraph(&text, "  ", "    ", Tone::Plain, out)?;
    }
    let shown = if style.verbose { count } else { count.min(LISTED) };
    let name = fates.drops[..shown]
        .iter()
        .map(|drop| columns(&drop.element))
        .max()
        .unwrap_or(0);
    for drop in &fates.drops[..shown] {
        let line = format!(
            "  {}  {}  {} B  {}",
            right(&seconds(drop.at_s), 9),
            left(&drop.element, name),
            right(&drop.wire_bytes.to_string(), 5),
            drop.flow.as_deref().unwrap_or("")
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    if shown < count {
        let more = grouped((count - shown) as f64, 0);
        writeln!(out, "{}", told(&format!("  and {more} more (-v lists all)")))?;
    }
    if !fates.hosts.is_empty() {
        let text = format!("What limited the transfer: slowpath explain {}", fates.hosts[0]);
        style.paragraph(&text, "", "  ", Tone::Plain, out)?;
    }
    Ok(())
}

/// Writes it as JSON.
///
/// # Errors
/// Those of `out`.
pub fn write_json(fates: &Fates, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, fates)?;
    writeln!(out)
}

/// Drops that are listed, unless all are wanted.
const LISTED: usize = 12;

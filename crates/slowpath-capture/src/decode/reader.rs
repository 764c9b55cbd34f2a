//! A reader and a decoder together.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use slowpath_record::packets::{CaptureSummary, Conversations, Record};

use super::{Decoder, NOTHING, Undecoded};
use crate::read::{OpenError, Reader};

/// Gives the next file of a recording that goes on in another, if there is one: called at the end of each file with the
/// time of its last packet, in nanoseconds.
pub type Following = Box<dyn FnMut(i64) -> io::Result<Option<Reader>> + Send>;

/// Reads a capture packet by packet, as an analysis wants it.
///
/// Call [`next_record`](Self::next_record) until it gives nothing, then ask for the [`summary`](Self::summary).
pub struct PacketReader {
    reader: Reader,
    decoder: Decoder,
    following: Option<Following>,
    /// What is known of the files before the present one.
    before: Before,
    undecoded: u64,
    first_undecoded: Option<(u64, Undecoded)>,
    dropped_before: u64,
}

/// What is known of files that were read to their end.
#[derive(Debug, Default)]
struct Before {
    files: u32,
    damage: Option<String>,
    /// Drops that an interface counted: a recorder counts on from file to file.
    dropped: Option<u64>,
}

impl PacketReader {
    /// Opens a file.
    ///
    /// # Errors
    /// [`OpenError`] if it cannot be read or is no capture.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Reader::open(path).map(Self::from)
    }

    /// Starts to read `input`.
    ///
    /// # Errors
    /// [`OpenError`] if it cannot be read or is no capture.
    pub fn new(input: impl Read + Send + 'static) -> Result<Self, OpenError> {
        Reader::new(input).map(Self::from)
    }

    /// Goes on with the files that `following` gives, where each one ends: packets, conversations and interfaces are
    /// numbered on, so that a recording in several files reads as if it were in one.
    #[must_use]
    pub fn followed_by(mut self, following: Following) -> Self {
        self.following = Some(following);
        self
    }

    /// The next packet with an IP header; frames without one are counted and passed over.
    ///
    /// # Errors
    /// Those of the input.
    #[inline]
    pub fn next_record(&mut self) -> io::Result<Option<Record>> {
        let mut record = NOTHING;
        Ok(self.next_into(&mut record)?.then_some(record))
    }

    /// As [`next_record`](Self::next_record), written to where it is wanted; false if there is none.
    #[inline]
    pub(super) fn next_into(&mut self, record: &mut Record) -> io::Result<bool> {
        loop {
            while let Some(frame) = self.reader.next_frame()? {
                self.dropped_before = self.dropped_before.saturating_add(frame.dropped_before());
                match self.decoder.decode_into(&frame, record) {
                    Ok(()) => return Ok(true),
                    Err(reason) => {
                        self.undecoded += 1;
                        self.first_undecoded.get_or_insert((frame.number, reason));
                    }
                }
            }
            if !self.go_on()? {
                return Ok(false);
            }
        }
    }

    /// Turns to the next file of the recording; false if there is none.
    #[cold]
    fn go_on(&mut self) -> io::Result<bool> {
        let Some(following) = &mut self.following else {
            return Ok(false);
        };
        let Some(mut next) = following(self.decoder.last_at())? else {
            return Ok(false);
        };
        self.before = Before {
            files: self.before.files + 1,
            damage: self.damage(),
            dropped: self.before.dropped.max(self.dropped()),
        };
        next.count_on(&self.reader);
        self.reader = next;
        Ok(true)
    }

    /// Where the first file that is damaged breaks off.
    fn damage(&self) -> Option<String> {
        let own = || {
            let damage = self.reader.damage()?;
            Some(match self.before.files {
                0 => damage.to_string(),
                files => format!("file {} of the recording: {damage}", files + 1),
            })
        };
        self.before.damage.clone().or_else(own)
    }

    /// Packets that the present file says were dropped.
    fn dropped(&self) -> Option<u64> {
        let interfaces = self.reader.interfaces().iter();
        interfaces
            .filter_map(|interface| interface.dropped)
            .reduce(u64::saturating_add)
    }

    /// Addresses and ports of the conversations seen so far.
    pub const fn conversations(&self) -> &Conversations {
        self.decoder.conversations()
    }

    /// The reader: interfaces, format, where the capture breaks off.
    pub const fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The decoder: what interface numbers of records stand for.
    pub const fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// The name of the tap that a record's interface number stands for: the interface's own name, or its place
    /// in the file, with the device's number where one capture covers several devices.
    pub fn tap_name(&self, number: u16) -> Option<String> {
        let (index, device) = self.decoder.tap(number)?;
        let interface = self.reader.interfaces().get(index as usize)?;
        let name = match interface.name.as_str() {
            "" => format!("interface {index}"),
            name => name.to_owned(),
        };
        Some(match device {
            Some(device) => format!("{name}, device {device}"),
            None => name,
        })
    }

    /// The first frame that gave no record, and why.
    pub const fn first_undecoded(&self) -> Option<(u64, Undecoded)> {
        self.first_undecoded
    }

    /// What is known of the capture so far; complete once [`next_record`](Self::next_record) has given nothing.
    pub fn summary(&self) -> CaptureSummary {
        let interfaces = self.reader.interfaces();
        let counted = self.before.dropped.max(self.dropped());
        CaptureSummary {
            format: self.reader.format().to_string(),
            link_types: self.reader.link_types().iter().map(ToString::to_string).collect(),
            packets: self.reader.packets(),
            bytes: self.reader.bytes(),
            undecoded_packets: self.undecoded,
            reported_drops: counted.or_else(|| Some(self.dropped_before).filter(|&count| count > 0)),
            stated_resolution_ns: interfaces
                .iter()
                .map(|interface| interface.resolution_ns)
                .max()
                .unwrap_or(0),
            damage: self.damage(),
            snap_len: self.reader.longest_cut(),
        }
    }
}

impl From<Reader> for PacketReader {
    fn from(reader: Reader) -> Self {
        Self {
            reader,
            decoder: Decoder::new(),
            following: None,
            before: Before::default(),
            undecoded: 0,
            first_undecoded: None,
            dropped_before: 0,
        }
    }
}

impl fmt::Debug for PacketReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacketReader")
            .field("reader", &self.reader)
            .field("undecoded", &self.undecoded)
            .finish_non_exhaustive()
    }
}

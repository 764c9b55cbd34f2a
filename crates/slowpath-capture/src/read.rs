//! Reads captures: pcap and pcapng, plain or compressed, from a file, a pipe or a growing file.
//!
//! * [`Reader`]: frame by frame, in one pass over any [`Read`]. Start here.
//! * [`Frame`] and [`Interface`]: what it hands out.
//! * [`Damage`]: where a capture breaks off; [`OpenError`]: why a file is no capture.
//! * [`Compression`]: told by the first bytes.

mod bytes;
mod compression;
mod damage;
mod frame;
mod pcap;
mod pcapng;
mod step;
mod window;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::link::LinkType;

pub use compression::Compression;
pub use damage::{Damage, OpenError};
use frame::Options;
pub use frame::{Frame, Interface};
use pcap::Pcap;
use pcapng::PcapNg;
use step::Reason;
use window::Window;

/// The two families of capture files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// Classic pcap.
    Pcap,
    /// pcapng.
    PcapNg,
}

impl FileFormat {
    /// The family of a file that begins with these bytes and is not compressed; nothing if it is no capture.
    pub fn of(first: [u8; 4]) -> Option<Self> {
        if Pcap::detect(first).is_some() {
            Some(Self::Pcap)
        } else {
            PcapNg::detect(first).map(|_| Self::PcapNg)
        }
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pcap => "pcap",
            Self::PcapNg => "pcapng",
        })
    }
}

/// Reads a capture frame by frame.
///
/// Call [`next_frame`](Self::next_frame) until it gives nothing, then ask [`damage`](Self::damage) whether
/// that is the end of the capture or the place where it breaks off. On a growing file the same call gives
/// frames again once there are more; a record that is still being written counts as a cut until then
/// (not for compressed files, whose end says that nothing follows).
/// Memory stays within a few hundred kilobytes, or the largest packet; a length that a file claims reserves
/// nothing. Every call reads on or ends.
#[derive(Debug)]
pub struct Reader {
    window: Window,
    layout: Layout,
    compression: Option<Compression>,
    interfaces: Vec<Interface>,
    packets: u64,
    bytes: u64,
    longest_cut: Option<u32>,
    damage: Option<Damage>,
    /// The damage is such that nothing behind it can be read.
    stopped: bool,
}

#[derive(Debug)]
enum Layout {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

impl Reader {
    /// Opens a file.
    ///
    /// # Errors
    /// [`OpenError`] if it cannot be read or is no capture.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::new(File::open(path)?)
    }

    /// Starts to read `input`, which may be compressed; it needs no buffer of its own.
    ///
    /// # Errors
    /// [`OpenError`] if it cannot be read or is no capture.
    pub fn new(input: impl Read + Send + 'static) -> Result<Self, OpenError> {
        Self::over(Window::new(Box::new(input)))
    }

    fn over(mut window: Window) -> Result<Self, OpenError> {
        if !window.ensure(6)? && window.bytes().is_empty() {
            return Err(OpenError::Empty);
        }
        let compression = Compression::detect(window.bytes());
        if let Some(compression) = compression {
            window = window.rewire(|input| compression.decoder(input));
        }
        let explain = |error: OpenError| match (error, compression) {
            (OpenError::Io(error), Some(compression)) => OpenError::Compressed {
                compression,
                reason: error.to_string(),
            },
            (error, _) => error,
        };
        Self::recognise(window, compression).map_err(explain)
    }

    fn recognise(mut window: Window, compression: Option<Compression>) -> Result<Self, OpenError> {
        if !window.ensure(4)? {
            return Err(match window.bytes().len() {
                0 => OpenError::Empty,
                found => OpenError::Short { found },
            });
        }
        let first = [0, 1, 2, 3].map(|index| window.bytes()[index]);
        let (layout, interfaces) = if let Some(pcap) = Pcap::detect(first) {
            let (pcap, interface) = pcap.open(&mut window)?;
            (Layout::Pcap(pcap), vec![interface])
        } else if let Some(pcapng) = PcapNg::detect(first) {
            (Layout::PcapNg(pcapng), Vec::new())
        } else {
            return Err(OpenError::Unknown {
                first,
                guess: guess(window.bytes()),
            });
        };
        let mut reader = Self {
            window,
            layout,
            compression,
            interfaces,
            packets: 0,
            bytes: 0,
            longest_cut: None,
            damage: None,
            stopped: false,
        };
        if let Layout::PcapNg(pcapng) = &mut reader.layout
            && let Err(damage) = pcapng.open(&mut reader.window)?
        {
            return Err(OpenError::Section(damage));
        }
        Ok(reader)
    }

    /// The next frame, or nothing at the end of what is there.
    ///
    /// # Errors
    /// Those of the input; a stream that cannot be decompressed further ends instead, with [`Self::damage`].
    #[inline]
    pub fn next_frame(&mut self) -> io::Result<Option<Frame<'_>>> {
        if self.stopped {
            return Ok(None);
        }
        let step = match &mut self.layout {
            Layout::Pcap(pcap) => pcap.step(&mut self.window),
            Layout::PcapNg(pcapng) => pcapng.step(&mut self.window, &mut self.interfaces),
        };
        let raw = match step {
            Ok(raw) => raw,
            Err(stop) => return self.pause(*stop.0).map(|()| None),
        };
        let interface = &self.interfaces[raw.interface as usize];
        let frame = Frame {
            number: self.packets + 1,
            at: raw.at,
            wire_len: raw.wire_len,
            interface: raw.interface,
            link_type: interface.link_type,
            fcs_len: interface.fcs_len,
            bytes: self.window.taken(raw.taken, raw.bytes.0, raw.bytes.1),
            options: Options::new(
                raw.order,
                self.window.taken(raw.taken, raw.options.0, raw.options.1),
            ),
        };
        self.packets += 1;
        self.bytes += u64::from(raw.wire_len);
        if frame.is_cut() {
            self.longest_cut = self.longest_cut.max(Some(frame.bytes.len() as u32));
        }
        Ok(Some(frame))
    }

    /// Notes why there is no frame.
    #[cold]
    fn pause(&mut self, reason: Reason) -> io::Result<()> {
        self.damage = match (reason, self.compression) {
            (Reason::End, _) => None,
            (Reason::Broken(damage), _) => Some(damage),
            (Reason::Io(error), None) => return Err(error),
            (Reason::Io(error), Some(compression)) => Some(Damage::Compressed {
                offset: self.window.offset() + self.window.bytes().len() as u64,
                compression,
                reason: error.to_string(),
            }),
        };
        self.stopped = !matches!(self.damage, None | Some(Damage::Cut { .. }));
        Ok(())
    }

    /// Counts on from another file of the same recording, whose frames came before those of this one.
    pub(crate) fn count_on(&mut self, before: &Self) {
        self.packets += before.packets;
        self.bytes += before.bytes;
        self.longest_cut = self.longest_cut.max(before.longest_cut);
    }

    /// The family of the file.
    pub const fn format(&self) -> FileFormat {
        match self.layout {
            Layout::Pcap(_) => FileFormat::Pcap,
            Layout::PcapNg(_) => FileFormat::PcapNg,
        }
    }

    /// How the file is compressed, if it is.
    pub const fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// The interfaces described so far, of all sections.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Where the capture breaks off; meaningful once [`next_frame`](Self::next_frame) has given nothing.
    pub const fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Frames read so far.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Bytes of these frames on the wire.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Most bytes kept of a frame that was cut; nothing if none was.
    pub const fn longest_cut(&self) -> Option<u32> {
        self.longest_cut
    }

    /// Link types of the interfaces in order of appearance, each once.
    pub fn link_types(&self) -> Vec<LinkType> {
        let mut types = Vec::new();
        for interface in &self.interfaces {
            if !types.contains(&interface.link_type) {
                types.push(interface.link_type);
            }
        }
        types
    }
}

/// What a file that is no capture might be.
fn guess(first: &[u8]) -> Option<&'static str> {
    Some(match first {
        [b'B', b'Z', b'h', ..] => "this is bzip2; unpack it first",
        [b'P', b'K', 3, 4, ..] => "this is a zip archive; unpack it first",
        [b'7', b'z', 0xbc, 0xaf, ..] => "this is a 7-Zip archive; unpack it first",
        [b's', b'n', b'o', b'o', b'p', 0, ..] => {
            "this is a snoop capture; convert it: editcap -F pcapng IN OUT"
        }
        [b'G', b'M', b'B', b'U', ..] => {
            "this is a Network Monitor capture; convert it: editcap -F pcapng IN OUT"
        }
        [b'X', b'C', b'P', 0, ..] => "this is a Sniffer capture; convert it: editcap -F pcapng IN OUT",
        [b'<' | b'{', ..] => "this is text; a capture is expected",
        _ => return None,
    })
}

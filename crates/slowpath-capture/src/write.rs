//! Writes pcapng: one section, one interface per tap, nanosecond stamps, each packet's fate as a comment.
//!
//! The file format is the IETF draft "PCAP Next Generation (pcapng) Capture File Format". Blocks are put
//! together in one reused buffer: a packet costs a copy of its bytes and no allocation.

use std::fmt;
use std::io::{self, Write};
use std::net::IpAddr;

use slowpath_units::Time;

use crate::block::{self, option};
use crate::link::LinkType;

/// What a file says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SectionInfo {
    /// The program that writes it, for example `slowpath 0.1.0`.
    pub application: String,
    /// Free text: the experiment, its variant and seed.
    pub comment: String,
    /// The capturing machine's system; left out if empty.
    pub system: String,
    /// The point in time that [`Time::ZERO`] stands for, in nanoseconds since 1970-01-01 UTC.
    pub origin_ns: u64,
}

/// A tap, as one interface of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TapInfo {
    /// Short name, for example `client` or `wan-down`.
    pub name: String,
    /// One sentence: where the tap is and which direction it sees; left out if empty.
    pub description: String,
    /// What the bytes of its packets start with.
    pub link_type: LinkType,
    /// Bytes kept of a packet; 0 keeps all.
    pub snap_len: u32,
    /// The rate of the link in bit/s, where it has one.
    pub rate_bit_per_s: Option<u64>,
}

impl TapInfo {
    /// A tap that keeps whole IP packets.
    pub fn raw(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            link_type: LinkType::RAW,
            snap_len: 0,
            rate_bit_per_s: None,
        }
    }
}

/// A tap of a file being written, as [`PcapngWriter::add_tap`] handed it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TapId(u32);

/// Which way a packet passed its tap (bits 0 and 1 of `epb_flags`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TapDirection {
    /// Not said.
    #[default]
    Unknown,
    /// Into the tapped host or device.
    Inbound,
    /// Out of it.
    Outbound,
}

/// What a packet's record says besides its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct PacketInfo<'a> {
    /// Bytes of the packet on the wire; the bytes given may be fewer. 0 means all were given.
    pub wire_len: u32,
    /// Which way it passed.
    pub direction: TapDirection,
    /// Its fate or anything else to be read beside it:
    /// `Some(format_args!("dropped by loss element {name} at {at}"))`.
    pub comment: Option<fmt::Arguments<'a>>,
    /// Numbers the packet throughout the file (`epb_packetid`): the same packet at another tap has the same.
    pub id: Option<u64>,
    /// Packets that this tap lost since the packet before.
    pub dropped_before: u64,
}

/// Counters of a tap at the end of a run (interface statistics block).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TapStatistics {
    /// When counting started.
    pub start: Time,
    /// When it ended.
    pub end: Time,
    /// Packets that passed the tap.
    pub received: u64,
    /// Packets the tap could not take (`isb_ifdrop`): capture loss, not loss of the path.
    pub tap_drops: u64,
    /// Packets taken but lost before they were written (`isb_osdrop`): capture loss too.
    pub writer_drops: u64,
}

/// Writes a pcapng file to any [`Write`].
///
/// Add the taps, write packets in any order of taps, then statistics, then [`finish`](Self::finish). What was
/// written so far is a complete file after every [`flush`](Self::flush); dropping the writer flushes too,
/// but cannot report an error.
#[derive(Debug)]
pub struct PcapngWriter<W: Write> {
    out: Option<W>,
    buffer: Vec<u8>,
    origin_ns: u64,
    snap_lens: Vec<u32>,
    /// A write failed.
    broken: bool,
}

impl<W: Write> PcapngWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, section: &SectionInfo) -> io::Result<Self> {
        let mut buffer = Vec::with_capacity(BUFFER + BUFFER / 4);
        let mut block = Block::start(&mut buffer, block::SECTION_HEADER);
        block.u32(block::BYTE_ORDER_MAGIC);
        block.u16(1);
        block.u16(0);
        block.u64(u64::MAX);
        block.text(option::COMMENT, &section.comment);
        block.text(option::SHB_OS, &section.system);
        block.text(option::SHB_USER_APPLICATION, &section.application);
        block.end_of_options();
        block.finish();
        let mut writer = Self {
            out: Some(out),
            buffer,
            origin_ns: section.origin_ns,
            snap_lens: Vec::new(),
            broken: false,
        };
        writer.flush()?;
        Ok(writer)
    }

    /// Adds a tap; taps may be added between packets.
    ///
    /// # Errors
    /// Those of the output.
    pub fn add_tap(&mut self, tap: &TapInfo) -> io::Result<TapId> {
        let id = TapId(self.snap_lens.len() as u32);
        self.snap_lens.push(tap.snap_len);
        let mut block = Block::start(&mut self.buffer, block::INTERFACE);
        block.u16(tap.link_type.0);
        block.u16(0);
        block.u32(tap.snap_len);
        block.text(option::IF_NAME, &tap.name);
        block.text(option::IF_DESCRIPTION, &tap.description);
        if let Some(rate) = tap.rate_bit_per_s {
            block.option(option::IF_SPEED, &rate.to_le_bytes());
        }
        block.option(option::IF_TSRESOL, &[9]);
        block.end_of_options();
        block.finish();
        self.spill()?;
        Ok(id)
    }

    /// Writes the names of addresses (name resolution block), so that a reader shows them.
    ///
    /// # Errors
    /// Those of the output.
    pub fn names(&mut self, names: &[(IpAddr, &str)]) -> io::Result<()> {
        let mut block = Block::start(&mut self.buffer, block::NAME_RESOLUTION);
        for (address, name) in names {
            let mut value = Vec::with_capacity(20 + name.len());
            let kind = match address {
                IpAddr::V4(address) => {
                    value.extend(address.octets());
                    1
                }
                IpAddr::V6(address) => {
                    value.extend(address.octets());
                    2
                }
            };
            value.extend(name.bytes().filter(|&byte| byte != 0).take(255));
            value.push(0);
            block.option(kind, &value);
        }
        block.u32(0);
        block.finish();
        self.spill()
    }

    /// Writes a packet whose bytes are `bytes`.
    ///
    /// # Errors
    /// Those of the output, and [`io::ErrorKind::InvalidInput`] if `tap` is not of this file.
    pub fn packet(&mut self, tap: TapId, at: Time, bytes: &[u8], info: &PacketInfo<'_>) -> io::Result<()> {
        self.packet_parts(tap, at, &[bytes], info)
    }

    /// Writes a packet whose bytes are `parts` one after another, for example header and payload.
    ///
    /// # Errors
    /// Those of the output, and [`io::ErrorKind::InvalidInput`] if `tap` is not of this file.
    pub fn packet_parts(
        &mut self,
        tap: TapId,
        at: Time,
        parts: &[&[u8]],
        info: &PacketInfo<'_>,
    ) -> io::Result<()> {
        let Some(&snap_len) = self.snap_lens.get(tap.0 as usize) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "packet written to a tap that was not added",
            ));
        };
        let given: usize = parts.iter().map(|part| part.len()).sum();
        let kept = if snap_len == 0 {
            given
        } else {
            given.min(snap_len as usize)
        };
        let stamp = self.origin_ns.saturating_add(at.nanos());
        let mut block = Block::start(&mut self.buffer, block::ENHANCED_PACKET);
        block.u32(tap.0);
        block.u32((stamp >> 32) as u32);
        block.u32(stamp as u32);
        block.u32(kept as u32);
        block.u32(if info.wire_len == 0 {
            given as u32
        } else {
            info.wire_len
        });
        let mut rest = kept;
        for part in parts {
            let take = part.len().min(rest);
            block.bytes(&part[..take]);
            rest -= take;
        }
        block.pad();
        let mut any = false;
        if let Some(comment) = info.comment {
            block.comment(comment);
            any = true;
        }
        let direction = info.direction as u32;
        if direction != 0 {
            block.option(option::EPB_FLAGS, &direction.to_le_bytes());
            any = true;
        }
        if info.dropped_before != 0 {
            block.option(option::EPB_DROP_COUNT, &info.dropped_before.to_le_bytes());
            any = true;
        }
        if let Some(id) = info.id {
            block.option(option::EPB_PACKET_ID, &id.to_le_bytes());
            any = true;
        }
        if any {
            block.end_of_options();
        }
        block.finish();
        if self.buffer.len() >= BUFFER {
            self.spill()?;
        }
        Ok(())
    }

    /// Writes the counters of a tap.
    ///
    /// # Errors
    /// Those of the output.
    pub fn statistics(&mut self, tap: TapId, counters: &TapStatistics) -> io::Result<()> {
        let origin = self.origin_ns;
        let stamp = |at: Time| {
            let stamp = origin.saturating_add(at.nanos());
            let (high, low) = ((stamp >> 32) as u32, stamp as u32);
            let mut bytes = [0; 8];
            bytes[..4].copy_from_slice(&high.to_le_bytes());
            bytes[4..].copy_from_slice(&low.to_le_bytes());
            bytes
        };
        let mut block = Block::start(&mut self.buffer, block::INTERFACE_STATISTICS);
        block.u32(tap.0);
        let end = stamp(counters.end);
        block.bytes(&end);
        block.option(option::ISB_START_TIME, &stamp(counters.start));
        block.option(option::ISB_END_TIME, &end);
        block.option(option::ISB_IF_RECV, &counters.received.to_le_bytes());
        block.option(option::ISB_IF_DROP, &counters.tap_drops.to_le_bytes());
        block.option(option::ISB_OS_DROP, &counters.writer_drops.to_le_bytes());
        block.end_of_options();
        block.finish();
        self.spill()
    }

    /// Hands everything written so far to the output and flushes it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.spill()?;
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.out
            .take()
            .ok_or_else(|| io::Error::other("the output of a capture was taken twice"))
    }

    /// Hands the buffer to the output.
    ///
    /// After a failure nothing more is written: the file then ends inside a block, which every reader can tell.
    fn spill(&mut self) -> io::Result<()> {
        let result = match &mut self.out {
            _ if self.broken => Err(io::Error::other("an earlier write of this capture failed")),
            Some(out) => out.write_all(&self.buffer),
            None => Ok(()),
        };
        self.broken |= result.is_err();
        self.buffer.clear();
        result
    }
}

impl<W: Write> Drop for PcapngWriter<W> {
    fn drop(&mut self) {
        // A drop cannot report; whoever needs to know calls `finish`.
        if !self.broken {
            let _ = self.flush();
        }
    }
}

/// A block being put together at the end of a buffer.
struct Block<'a> {
    buffer: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Block<'a> {
    fn start(buffer: &'a mut Vec<u8>, kind: u32) -> Self {
        let start = buffer.len();
        buffer.extend_from_slice(&kind.to_le_bytes());
        buffer.extend_from_slice(&[0; 4]);
        Self { buffer, start }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Pads to a multiple of four bytes.
    fn pad(&mut self) {
        let len = self.buffer.len() - self.start;
        self.bytes(&[0; 3][..(4 - len % 4) % 4]);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(MAX_OPTION)];
        self.u16(code);
        self.u16(value.len() as u16);
        self.bytes(value);
        self.pad();
    }

    /// A text option; empty text is left out.
    fn text(&mut self, code: u16, text: &str) {
        if !text.is_empty() {
            self.option(code, &text.as_bytes()[..floor_char_boundary(text, MAX_OPTION)]);
        }
    }

    /// A comment, formatted straight into the buffer.
    fn comment(&mut self, text: fmt::Arguments<'_>) {
        self.u16(option::COMMENT);
        self.u16(0);
        let at = self.buffer.len();
        // A Display that fails leaves what it wrote; the block stays well-formed either way.
        let _ = fmt::Write::write_fmt(&mut Utf8Tail(self.buffer), text);
        if self.buffer.len() - at > MAX_OPTION {
            let mut end = at + MAX_OPTION;
            while self.buffer[end] & 0xc0 == 0x80 {
                end -= 1;
            }
            self.buffer.truncate(end);
        }
        let len = (self.buffer.len() - at) as u16;
        self.buffer[at - 2..at].copy_from_slice(&len.to_le_bytes());
        self.pad();
    }

    fn end_of_options(&mut self) {
        self.u32(0);
    }

    fn finish(mut self) {
        self.pad();
        let len = (self.buffer.len() - self.start + 4) as u32;
        let start = self.start;
        self.buffer[start + 4..start + 8].copy_from_slice(&len.to_le_bytes());
        self.u32(len);
    }
}

/// Appends formatted text to a byte buffer.
struct Utf8Tail<'a>(&'a mut Vec<u8>);

impl fmt::Write for Utf8Tail<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// The last place at or before `at` where `text` may be cut.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Bytes collected before they are handed to the output.
const BUFFER: usize = 256 * 1024;

/// Longest option value in bytes: its length field has 16 bits, and it is padded.
const MAX_OPTION: usize = 65_532;

//! Where and how a capture breaks off, and why a file is refused.

use std::io;

use super::compression::Compression;

/// Where a capture breaks off; what stood before it was read.
///
/// Offsets count bytes of the uncompressed capture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The file ends inside a record; a growing file may go on later.
    #[error("cut off at byte {offset}: a {part} of {needed} bytes begins here, {found} of them are there")]
    Cut {
        /// Where the record begins.
        offset: u64,
        /// What begins there.
        part: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A record claims more bytes than any packet has.
    #[error("damaged at byte {offset}: a packet of {claimed} bytes, the most is {MAX_PACKET}")]
    PacketLength {
        /// Where the record begins.
        offset: u64,
        /// The length it claims.
        claimed: u32,
    },
    /// A block's length cannot be.
    #[error("damaged at byte {offset}: a block of type {kind:#x} with a total length of {claimed} bytes")]
    BlockLength {
        /// Where the block begins.
        offset: u64,
        /// Its type.
        kind: u32,
        /// The length it claims.
        claimed: u32,
    },
    /// The length behind a block is not the one before it.
    #[error("damaged at byte {offset}: a block of {before} bytes ends in a length of {after}")]
    BlockEnd {
        /// Where the block begins.
        offset: u64,
        /// The length before it.
        before: u32,
        /// The length behind it.
        after: u32,
    },
    /// An option is longer than the block it stands in.
    #[error("damaged at byte {offset}: an option of {claimed} bytes where {found} are left of its block")]
    OptionLength {
        /// Where the block begins.
        offset: u64,
        /// The length it claims.
        claimed: u16,
        /// Bytes left of the block.
        found: usize,
    },
    /// A packet names an interface that was never described.
    #[error("damaged at byte {offset}: a packet of interface {interface}, the section describes {known}")]
    UnknownInterface {
        /// Where the block begins.
        offset: u64,
        /// The interface named.
        interface: u32,
        /// Interfaces described so far in the section.
        known: usize,
    },
    /// More interfaces than a machine has.
    #[error("damaged at byte {offset}: more than {MAX_INTERFACES} interfaces")]
    TooManyInterfaces {
        /// Where the block begins.
        offset: u64,
    },
    /// A section of a version that nobody has defined.
    #[error(
        "at byte {offset} begins a section of pcapng version {major}.{minor}; versions 1.0 and 1.2 are known"
    )]
    SectionVersion {
        /// Where the section begins.
        offset: u64,
        /// The version.
        major: u16,
        /// The version behind the point.
        minor: u16,
    },
    /// A section whose byte order cannot be told.
    #[error("damaged at byte {offset}: a section with the byte-order magic {found:#010x}")]
    ByteOrder {
        /// Where the section begins.
        offset: u64,
        /// What stands in the place of the magic.
        found: u32,
    },
    /// The compressed stream breaks off.
    #[error("the {compression} stream breaks off behind byte {offset} of the capture: {reason}")]
    Compressed {
        /// Uncompressed bytes before the break.
        offset: u64,
        /// How the file is compressed.
        compression: Compression,
        /// What the decompressor says.
        reason: String,
    },
}

/// Why a file cannot be read as a capture at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is nothing.
    #[error("the file is empty: no packet was captured, or it is still being written")]
    Empty,
    /// It ends inside its header.
    #[error("the file ends after {found} bytes, inside its header")]
    Short {
        /// Bytes that are there.
        found: usize,
    },
    /// It is something else.
    #[error("not a pcap or pcapng capture (it begins with the bytes {}){}", hex(*.first), .guess.map(|guess| format!(": {guess}")).unwrap_or_default())]
    Unknown {
        /// The first four bytes.
        first: [u8; 4],
        /// What it looks like and what to do about it.
        guess: Option<&'static str>,
    },
    /// A pcap version that nobody has defined.
    #[error("pcap version {major}.{minor} is not known (2.4 is usual): the header is damaged")]
    Version {
        /// The version.
        major: u16,
        /// The version behind the point.
        minor: u16,
    },
    /// Reserved bits of the link type field are set.
    #[error("the link type field holds {found:#010x}, with reserved bits set: the header is damaged")]
    LinkType {
        /// The field.
        found: u32,
    },
    /// The first block is damaged.
    #[error("the first section cannot be read: {0}")]
    Section(Damage),
    /// The compressed stream cannot be read at all.
    #[error("{compression} data that cannot be decompressed: {reason}")]
    Compressed {
        /// How it is compressed, by its first bytes.
        compression: Compression,
        /// What the decompressor says.
        reason: String,
    },
    /// The file cannot be read.
    #[error("reading failed: {0}")]
    Io(#[from] io::Error),
}

/// Four bytes as people write them: `0a 0d 0d 0a`.
fn hex(bytes: [u8; 4]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(" ")
}

/// Most bytes of a packet: above the largest super-packet of any kernel (BIG TCP, 512 KiB).
pub(super) const MAX_PACKET: u32 = 1 << 20;

/// Most interfaces of a capture.
pub(super) const MAX_INTERFACES: usize = 65_535;

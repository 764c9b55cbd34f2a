//! Captures as bytes on disk: reads pcap and pcapng, writes pcapng.
//!
//! This crate reads from any [`std::io::Read`] and writes to any [`std::io::Write`]; it opens no sockets,
//! reads no clock, prints nothing and has no `unsafe`.
//!
//! * [`read`]: [`Reader`], frame by frame in one pass.
//! * [`decode`]: [`Decoder`], from frames to packets as an analysis wants them; [`PacketReader`] does both.
//! * [`write`](mod@write): [`PcapngWriter`], one interface per tap, nanoseconds, a packet's fate as its comment.
//! * [`anonymize`]: [`Anonymizer`], captures without addresses, names and payload.
//! * [`link`]: [`LinkType`], what the first bytes of a frame are.
//!
//! Start with [`PacketReader`] and [`PcapngWriter`].

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod anonymize;
mod block;
pub mod decode;
pub mod link;
pub mod read;
pub mod write;

pub use anonymize::Anonymizer;
pub use decode::{Decoder, Following, PacketReader, ReadAhead, Undecoded};
pub use link::LinkType;
pub use read::{Damage, FileFormat, Frame, Interface, OpenError, Reader};
pub use write::{PacketInfo, PcapngWriter, SectionInfo, TapDirection, TapId, TapInfo, TapStatistics};

//! What a packet is: flow keys, marks, sequence arithmetic, header views and headers to be written.
//!
//! This crate does no I/O, reads no clock, allocates nothing per packet and has no `unsafe`. A view reads
//! bytes in place and copes with packets that are cut off and with the kernel's super-packets whose IP
//! length is zero; a header is plain data that writes itself with its checksum.
//!
//! * [`flow`]: [`FlowKey`], the five values that name a flow.
//! * [`mark`]: [`Dscp`] and [`Ecn`], the two halves of the traffic class.
//! * [`seq`]: [`Seq32`], arithmetic on TCP sequence numbers.
//! * [`fragment`]: [`Fragment`], a piece of an IP packet.
//! * [`ip`]: [`IpView`], an IP packet of either version; [`ipv4`] and [`ipv6`] in detail.
//! * [`tcp`]: [`TcpView`], [`TcpHeader`] and [`TcpOptions`].
//! * [`udp`], [`icmp`], [`ethernet`]: the same for those.
//! * [`checksum`]: the Internet checksum, whole or updated in place.
//! * [`edit`]: what routers and middleboxes change in a packet, with checksums kept right.
//! * [`overhead`]: [`Encapsulation`](overhead::Encapsulation), how many bytes each tunnel adds to a packet.
//!
//! Start with [`ip`] and [`tcp`].

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod checksum;
pub mod edit;
pub mod ethernet;
pub mod flow;
pub mod fragment;
pub mod icmp;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
mod malformed;
pub mod mark;
pub mod overhead;
pub mod seq;
pub mod tcp;
pub mod udp;

pub use ethernet::{EthernetHeader, EthernetView};
pub use flow::{FlowKey, Protocol};
pub use fragment::Fragment;
pub use icmp::{IcmpHeader, IcmpKind, IcmpVersion, IcmpView};
pub use ip::IpView;
pub use ipv4::{Ipv4Header, Ipv4View};
pub use ipv6::{Ipv6Header, Ipv6View};
pub use malformed::Malformed;
pub use mark::{Dscp, Ecn};
pub use seq::Seq32;
pub use tcp::{TcpFlags, TcpHeader, TcpOption, TcpOptions, TcpView};
pub use udp::{UdpHeader, UdpView};

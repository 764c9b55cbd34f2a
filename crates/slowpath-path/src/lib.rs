//! The network in the middle as a deterministic state machine.
//!
//! This crate opens no sockets and no files, starts no threads, reads no clock, prints nothing, has no floats in
//! anything that decides, and touches no packet bytes: time and packets are handed in, outcomes are handed out.
//! The simulator's event loop and the lab's real-time wire drive the very same code.
//!
//! The most important type is [`Network`]: its documentation says which kinds of methods it has and in which order
//! a driver calls them. It is built from a [`NetworkSpec`], which is plain data.
//!
//! ```
//! use slowpath_path::{Cargo, ElementKind, Delay, Limit, Link, Network, NetworkSpec, Outcome, Packet};
//! use slowpath_packet::{FlowKey, Protocol};
//! use slowpath_units::{Layer, Time};
//!
//! let link = Link::fifo("50 Mbit/s".parse()?, Layer::Frame, Limit::Packets(1000));
//! let up = vec![
//!     ("up.rate".to_owned(), ElementKind::Link(link)),
//!     ("up.delay".to_owned(), ElementKind::Delay(Delay::fixed("50 ms".parse()?))),
//! ];
//! let mut network = Network::build(&NetworkSpec::chain("near", "far", up, vec![]), 1)?;
//! let key = FlowKey::new(Protocol::TCP, "10.0.0.1:4000".parse()?, "10.0.0.2:21".parse()?);
//! let flow = network.register_flow(&key);
//! let near = network.port("near").unwrap();
//! network.ingress(near, Time::ZERO, Packet::new(Cargo::new(7), flow, 1500));
//! while let Some(at) = network.next_event() {
//!     network.advance(at);
//! }
//! let Some(Outcome::Delivered { at, packet, .. }) = network.poll_outcome() else { panic!() };
//! assert_eq!(at.nanos(), 1514 * 160 + 50_000_000); // 1514 bytes at 160 ns each, then 50 ms
//! assert_eq!(packet.cargo, Cargo::new(7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Modules:
//!
//! * [`network`]: [`Network`], the state machine. Start here.
//! * [`spec`]: [`NetworkSpec`], what a network is built from, and what can be wrong with it.
//! * [`packet`]: [`Packet`], lengths, marks and the driver's handle.
//! * [`outcome`]: [`Outcome`], what became of each packet; [`DropCause`].
//! * [`counters`]: what went through each element. [`seen`]: packets with their bytes, for captures of either clock.
//! * [`elements`]: the kinds of elements and their settings, one per file.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod calendar;
mod carried;
mod context;
pub mod counters;
mod dice;
mod element;
pub mod elements;
mod flows;
pub mod network;
pub mod outcome;
pub mod packet;
mod parts;
mod ring;
pub mod seen;
mod setting;
pub mod spec;
mod told;

pub use counters::Counters;
pub use dice::Dice;
pub use elements::link::trace::{Trace, TraceError};
pub use elements::link::{Rate, RateStep};
pub use elements::*;
pub use network::Network;
pub use outcome::{DropCause, Edit, ElementId, Notice, Outcome, PortId};
pub use packet::{Arrival, Cargo, Flags, FlowId, Packet, PacketId, Slot};
pub use seen::{PacketSink, Seen, SeenPacket};
pub use setting::SettingError;
pub use spec::{BuildError, ElementKind, ElementSpec, NetworkSpec, PortSpec, Target};

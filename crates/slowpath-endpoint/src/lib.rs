//! Endpoints as deterministic state machines: TCP, UDP and ICMP, and the programs above them.
//!
//! This crate opens no sockets, reads no clock, starts no threads and has no `unsafe`. Equal inputs at
//! equal times give equal outputs. The simulator drives it in simulated time; the lab drives it in real
//! time as a host on the wire, against a kernel if need be.
//!
//! The most important type is [`Host`]: packets in with [`Host::receive`], time with [`Host::next_event`]
//! and [`Host::advance`], packets out with [`Host::poll_transmit`], results with [`Host::poll_report`].
//!
//! * [`wire`]: packets as endpoints exchange them; control data are real bytes, bulk data may be a bare length.
//! * [`codec`]: packets as bytes and back, for a model host on a real wire.
//! * [`tcp`]: TCP; [`tcp::Config`] says which TCP.
//! * [`app`]: what the programs do, as plain data.
//! * [`host`]: a machine with addresses, connections and programs.
//!
//! Start with [`host`].

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "sequence numbers wrap by definition"
)]

pub mod app;
mod cc;
pub mod codec;
mod filter;
pub mod host;
mod outbox;
mod ring;
mod rng;
mod system;
pub mod tcp;
mod timers;
pub mod wire;

pub use host::{AppId, ConnId, Host, HostConfig, InputLimit, Report};
pub use wire::{Header, OwnedPayload, Payload, Transmit};

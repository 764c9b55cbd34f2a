//! Packets of TCP transfers in, facts out: what was sent, lost, acknowledged and waited for, without judgement.
//!
//! This crate opens no files, reads no clock, draws no random numbers and cannot see the scenario of a run: file
//! names and labels never reach it. It knows no limit and gives no verdict; nothing here depends on a verdict's cut-offs.
//!
//! The most important types are [`Analyzer`], which takes packets, and [`FlowFacts`], what one sender's data did on its
//! way. Work goes in one direction: packets are followed, what was followed is measured, what was measured is drawn.
//!
//! * [`analyzer`]: [`Analyzer`]. Start here.
//! * [`capture`]: [`CaptureFacts`], a capture as a whole and how far it can be trusted.
//! * [`connection`]: [`Connection`], who spoke, what was negotiated, and what the data did.
//! * [`ends`]: the two ends of a connection and the tap between them.
//! * [`facts`]: [`FlowFacts`], what is measured of one flow.
//! * [`surroundings`]: what is known beside one flow.
//! * [`graphs`]: data of the five graphs people know from Wireshark.
//! * [`taps`]: two captures of one connection.
//! * [`wireshark`]: what Wireshark says of the same segments, and why not.
//! * [`words`]: numbers as people read them.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::cast_sign_loss)] // statistics that cannot be negative, or that were clamped before

pub mod analyzer;
pub mod capture;
pub mod connection;
pub mod ends;
pub mod facts;
pub mod graphs;
mod observe;
mod quality;
mod spread;
pub mod surroundings;
pub mod taps;
mod track;
pub mod wireshark;
pub mod words;

pub use analyzer::Analyzer;
pub use capture::{Capture, CaptureFacts, Quality};
pub use connection::{Connection, DscpSeen, Handshake, RttSummary};
pub use ends::{EcnMode, Side, Tap};
pub use facts::{
    Chronographs, Distribution, Event, FlowFacts, Happening, Outage, QueueFit, Round, Step, Timeline,
};
pub use graphs::{Graphs, IoPoint, Point, SackPoint, SegmentPoint};
pub use spread::Spread;
pub use surroundings::Surroundings;
pub use track::Counters;

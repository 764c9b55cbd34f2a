//! Quantities of slowpath as integer newtypes, with parsing and printing.
//!
//! This crate does no I/O, reads no clock, holds no floats in its types and has no `unsafe`. Every
//! quantity is an integer in one fixed unit, so that equal plans give equal bytes:
//!
//! * [`Time`] and [`Duration`] count nanoseconds from the start of a run.
//! * [`BitRate`] counts bits per second; [`Layer`] says which bytes of a packet a rate counts.
//! * [`ByteCount`] counts bytes.
//! * [`Ratio`] counts parts per billion, for loss and the like.
//! * [`calendar`] writes a time of day.
//!
//! Strings with units exist only at the edge: each type implements `FromStr` (units mandatory) and
//! `Display` (what it prints parses back to the same value). Start with [`time`].

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod calendar;
mod parse;
pub mod rate;
pub mod ratio;
pub mod size;
pub mod time;

pub use parse::{ParseError, ParseErrorKind};
pub use rate::{BitRate, Layer};
pub use ratio::Ratio;
pub use size::ByteCount;
pub use time::{Duration, Time};

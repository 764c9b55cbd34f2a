//! Live paths and live transfers: what can be learned of them without a capture.
//!
//! * [`measure`]: one tool against a live path. [`why`]: attaches to a transfer that is slow now, without privileges, and says why.
//! * [`single_ended`]: short tests against a server that is there, one change at a time, each watched: what limits a live path.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::cast_sign_loss)] // seconds, bytes and shares cannot be negative

pub mod measure;
pub mod single_ended;
pub mod why;

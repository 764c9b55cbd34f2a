//! What can be learned of a living path or transfer without a capture.
//!
//! * [`why`]: attaches to a transfer that is slow now, without privileges, and says why.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod why;

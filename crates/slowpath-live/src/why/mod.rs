//! Why is this transfer slow? From samples of its sockets and its program, taken without privileges.
//!
//! * [`sample`]: what one look at a connection shows, as plain data.

pub mod sample;

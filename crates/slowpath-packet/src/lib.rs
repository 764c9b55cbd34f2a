//! What a packet is: flow keys, marks, sequence arithmetic, header views.
//!
//! This crate does no I/O, reads no clock, allocates nothing per packet and has no `unsafe`.
//!
//! * [`flow`]: [`FlowKey`], the five values that name a flow.
//! * [`mark`]: [`Dscp`] and [`Ecn`], the two halves of the traffic class.
//! * [`seq`]: [`Seq32`], arithmetic on TCP sequence numbers.
//!
//! Start with [`flow`].

#![forbid(unsafe_code)]

pub mod flow;
pub mod mark;
pub mod seq;

pub use flow::{FlowKey, Protocol};
pub use mark::{Dscp, Ecn};
pub use seq::Seq32;

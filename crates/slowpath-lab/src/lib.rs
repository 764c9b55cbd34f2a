//! A path in real time between real programs: hosts as network namespaces, and the wire between them.
//!
//! This crate has no model of its own: what happens to packets is decided by `slowpath_path::Network`, unchanged. It
//! has no `unsafe`, prints nothing, and leaves nothing behind on the machine, however it ends. It knows no workloads;
//! it lends threads and processes inside hosts to those that do.
//!
//! The most important type is [`Lab`]: [`Lab::build`] from a [`LabSpec`], then [`Lab::run_in`] and [`Lab::spawn`],
//! then [`Lab::finish`], whose [`LabReport`] says what happened to every packet and whether the run may be believed.
//!
//! * [`enter()`]: call first in `main`; needs nothing as root, makes a user namespace otherwise.
//! * [`spec`]: what a lab is built from. Start here.
//! * [`is_inside`]: whether this process is on a lab's host. [`doctor`]: what this machine permits, and how to change it.
//! * [`health`]: the thresholds of valid, degraded and invalid.
//! * `scales`: what the path itself does to a packet, against which health judges.
//! * `tap`: packets and fates for captures, handed to a [`PacketSink`].
//! * `kernel`, `attach`: a host and its device. `model`: endpoint models as hosts. `wire`, `train`, `slab`: reading trains, the model's turn, joining survivors.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod attach;
pub mod doctor;
mod enter;
mod error;
pub mod health;
mod icmp;
mod inside;
mod kernel;
mod lab;
mod machine;
mod model;
mod scales;
mod slab;
pub mod spec;
mod tap;
mod train;
mod wire;

pub use enter::{Privilege, enter};
pub use error::LabError;
pub use health::{LabReport, Totals};
pub use inside::is_inside;
pub use lab::Lab;
pub use slowpath_path::{PacketSink, Seen, SeenPacket};
pub use spec::{
    Attach, DropUnit, HostSpec, KernelSettings, LabSpec, ModelSettings, Mounts, Stack, WireSettings,
};

//! Hosts: what a document says about each, and what a plan makes of it.
//!
//! [`HostSettings`] is the common form of everything that can be set, [`System`] supplies what is not.

mod document;
mod settings;
mod stack;
mod system;

pub use document::{ConfigFile, HostDocument, has_model};
pub(crate) use document::{may_be_a_kernels, modelled, read_hosts};
pub use settings::{EcnMode, HostSettings, SettingOrigin, Storage};
pub use stack::{KernelStack, Standing};
pub(crate) use system::IPERF3_WRITE;
pub use system::{Amount, Parameter, StackChoice, System};

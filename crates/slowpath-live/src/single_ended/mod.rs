//! Why is this path slow? From one end, with a server that is there already.
//!
//! Short tests take turns: as it is, then with one thing changed at a time (more connections, another congestion control, another
//! window, a mark), round after round, so that what the path does meanwhile meets all of them alike. Each is watched as
//! [`why`](crate::why) watches a transfer, so the verdict rests on the kernel's own account; the changes then support it or speak
//! against it.
//!
//! Where a host offers several services, each is a layer on another (sftp on what a pipe through ssh carries, that on TCP): the
//! layer that loses the rate is named.
//!
//! * [`diagnose`]: does it. [`change`]: what is tried, and what a limit makes of it. [`layer`]: the protocols.
//! * [`answer`]: what comes of it, as JSON; [`waterfall`]: which layer loses. [`text`]: the same for a terminal.
//! * `run`: which tests are made; `compare`: when they have told enough. `bench`: one test; `tap`: what arrived.
//! * `services`: what a host offers; `secure`, `stored`, `load`: how each layer moves data; `held`: a file on the server meanwhile.

pub mod answer;
mod bench;
pub mod change;
mod compare;
mod held;
pub mod layer;
mod load;
mod revised;
mod run;
mod secure;
mod services;
mod spec;
mod stored;
mod tap;
pub mod text;
pub mod waterfall;

pub use answer::Diagnosis;
pub use change::Change;
pub use layer::Layer;
pub use run::diagnose;
pub use spec::{Access, Spec, Stage};

//! Why is this path slow? From one end, with a server that is there already.
//!
//! Short tests take turns: as it is, then with one thing changed at a time (more connections, another congestion control, another
//! window, a mark), round after round, so that what the path does meanwhile meets all of them alike. Each is watched as
//! [`why`](crate::why) watches a transfer, so the verdict rests on the kernel's own account; the changes then support it or speak
//! against it.
//!
//! * [`diagnose`]: does it. [`change`]: what is tried, and what a limit makes of it. [`answer`]: what comes of it, as JSON.
//! * [`text`]: the same for a terminal.

pub mod answer;
pub mod change;
mod run;
pub mod text;

pub use answer::Diagnosis;
pub use change::Change;
pub use run::{Spec, Stage, diagnose};

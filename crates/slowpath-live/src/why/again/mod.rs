//! Proof by running the command again: what no living connection shows, because it belongs to the program or to the handshake.
//!
//! Shortened runs as the command is and with one change take turns; then the command runs to its end, as it is, so that what it
//! leaves behind is whole.
//!
//! * [`change`]: what may be changed, as it is typed. [`gauge`]: what of a run counts, and when it is enough.
//! * `part`: one shortened run, with a gate before its sockets. [`course`]: the driver; start here.

pub mod change;
pub mod course;
pub mod gauge;
pub(super) mod part;

pub use change::Again;
pub use course::{AgainSpec, try_again};
pub use gauge::Most;
pub use part::Part;

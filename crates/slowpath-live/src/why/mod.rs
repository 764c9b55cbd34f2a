//! Why is this transfer slow? From samples of its sockets and its programs, taken without privileges.
//!
//! * [`watch`](mod@watch): finds the connections of a [`target`] and looks at them. Start here.
//! * [`sample`]: what one look shows, as plain data.
//! * [`track`]: from looks to states by time, for one connection; [`job`]: the same for the programs.
//! * [`host`]: what this machine itself dropped.
//! * [`facts`](mod@facts): figures of one connection; [`judge`](mod@judge): from these to ledger and verdict.
//! * [`answer`](mod@answer): the result, as JSON; [`text`]: for a terminal; [`record`](mod@record): as a record of a run.
//! * [`busiest`](mod@busiest): which transfers are under way.
//! * [`attend`](mod@attend): unattended, with [`baseline`]: what a job usually does; [`attend_text`]: what it says.
//! * [`packets`]: packets beside the samples, where that is permitted and asked for.
//! * [`trial`]: changes tried on the living connection, in turns with none; [`again`]: by running the command again.

pub mod again;
pub mod answer;
pub mod attend;
pub mod attend_text;
pub mod baseline;
pub mod busiest;
mod error;
pub mod facts;
mod gaps;
pub mod host;
pub mod job;
pub mod judge;
mod pace;
pub mod packets;
mod programs;
mod queue;
pub mod record;
pub mod sample;
pub mod target;
pub mod text;
pub mod track;
pub mod trial;
mod view;
pub mod watch;
mod words;

pub use again::{Again, AgainSpec, try_again};
pub use answer::{Answer, answer};
pub use busiest::busiest;
pub use error::WhyError;
pub use record::record;
pub use target::{Peer, Target};
pub use trial::TrialSpec;
pub use watch::{Outcome, WatchSpec, watch, watch_capturing};

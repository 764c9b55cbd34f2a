//! Names of what runs on a host, and what it reports.

use slowpath_record::{FlowResult, TransferResult};
use slowpath_units::{Duration, Time};

/// Names one program of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppId(pub u32);

/// What a program achieved.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// A transfer came to its end.
    Transfer {
        /// The program.
        app: AppId,
        /// What it transferred.
        result: TransferResult,
    },
    /// A flow of datagrams came to its end, or its counters were asked for.
    Flow {
        /// The program.
        app: AppId,
        /// What was counted.
        result: FlowResult,
    },
    /// A round trip was measured.
    RoundTrip {
        /// The program.
        app: AppId,
        /// Number of the request.
        sequence: u16,
        /// When the reply came.
        at: Time,
        /// How long it took.
        time: Duration,
    },
    /// A program ended; no more reports of it will come.
    Ended {
        /// The program.
        app: AppId,
        /// When.
        at: Time,
    },
}

/// Names one connection of a host; places are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u32);

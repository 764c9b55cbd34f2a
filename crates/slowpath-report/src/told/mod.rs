//! What the result of another tool tells: `iperf3 -J`, `ndt7-client -format json`, what an ndt7 server archives.
//!
//! Figures of whole intervals decide less than samples or packets do; what they cannot decide is said to be open, with what would.
//!
//! * [`iperf3`](mod@iperf3), [`ndt7`](mod@ndt7): from the tool's JSON to [`Told`]; [`either`](mod@either) finds out which. [`text`]: the same for a terminal.

pub mod either;
pub mod iperf3;
pub mod ndt7;
pub mod text;

use serde::Serialize;
use slowpath_verdict::Limit;

/// Version of the JSON form.
pub const SCHEMA: &str = "slowpath/told/1";

/// What a result tells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The tool and its version, as it names itself.
    pub tool: String,
    /// `tcp` or `udp`.
    pub transport: &'static str,
    /// Whether the side that wrote the result sent the data.
    pub sent_here: bool,
    /// Connections or streams at once.
    pub streams: usize,
    /// How long it lasted, seconds.
    pub seconds: f64,
    /// What arrived, bit/s.
    pub received_bit_per_s: f64,
    /// What the sender's socket took, bit/s.
    pub sent_bit_per_s: f64,
    /// What limited it.
    pub limit: Limit,
    /// The answer in a sentence.
    pub sentence: String,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// What would tell more.
    pub next_step: Option<String>,
    /// Another test of the same result: an upload beside a download.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Self>,
}

/// Why nothing is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToldError {
    /// It is no JSON.
    #[error("it begins as JSON does, but cannot be read: {0}; `iperf3 -J > FILE` writes what is wanted")]
    Json(String),
    /// It is JSON of something else.
    #[error("it is JSON, but no result of iperf3: {0}; `iperf3 -J > FILE` writes what is wanted")]
    Other(&'static str),
    /// It is one of ndt7 that holds nothing to tell of.
    #[error("it is a result of ndt7, but {0}; `ndt7-client -format json > FILE` writes what is wanted")]
    Ndt7(String),
    /// The tool itself failed.
    #[error("iperf3 failed and says: {0}")]
    Failed(String),
}

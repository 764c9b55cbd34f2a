//! Marks that packets really carried, and how busy programs kept a processor: what explains a comparison.

use serde::{Deserialize, Serialize};
use slowpath_packet::{Dscp, Ecn};

use crate::counters::Traffic;

/// Packets of one flow that were seen at one place with the same mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkCount {
    /// Where.
    pub at: MarkPlace,
    /// The flow in the direction of its packets, such as `tcp 10.0.0.1:40000 > 10.0.0.2:22`; of a run with very many
    /// flows, the later ones together are `others`.
    pub flow: String,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// ECN field.
    pub ecn: Ecn,
    /// How much.
    pub traffic: Traffic,
}

/// Where a mark was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkPlace {
    /// As the host of that name sent the packet.
    Sent(String),
    /// As the packet passed the recording element of that name.
    Passed(String),
    /// As the host of that name got the packet.
    Received(String),
    /// As the element of that name dropped the packet.
    Dropped(String),
}

/// How busy a program kept a processor during the transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramLoad {
    /// Host and program, such as `client/ssh`.
    pub program: String,
    /// Share of one processor: 1 is a whole one.
    pub share: f64,
}

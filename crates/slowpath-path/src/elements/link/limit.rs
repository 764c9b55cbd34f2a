//! How much may wait in front of a link.

use serde::{Deserialize, Serialize};
use slowpath_units::Duration;

/// How much may wait. What is being sent does not count as waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes, counted at the link's layer.
    Bytes(u64),
    /// A packet may wait at most this long before its first bit is sent.
    Time(Duration),
    /// As much as comes.
    None,
}

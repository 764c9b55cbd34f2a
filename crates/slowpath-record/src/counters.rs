//! What happened to packets inside the network.

use serde::{Deserialize, Serialize};

/// Packets and bytes of IP packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Packets.
    pub packets: u64,
    /// Bytes of IP packets.
    pub bytes: u64,
}

impl Traffic {
    /// Counts one more packet of `bytes` bytes.
    pub const fn count(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

/// One element's balance: `entered + created = delivered + dropped + inside`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ElementCounters {
    /// The element's name in the plan.
    pub element: String,
    /// What came in.
    pub entered: Traffic,
    /// What the element itself made: duplicates, fragments, ICMP messages.
    #[serde(default)]
    pub created: Traffic,
    /// What went on.
    pub delivered: Traffic,
    /// What was dropped, by cause.
    pub dropped: Vec<(String, Traffic)>,
    /// What was still inside at the end.
    pub inside: Traffic,
}

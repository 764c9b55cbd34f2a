//! What is kept of a run that left no packets but was judged by other means, such as samples of its sockets.

use serde::{Deserialize, Serialize};

use crate::ledger::Ledger;
use crate::verdict::Verdict;

/// A verdict with its ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// What limited the transfer.
    pub verdict: Verdict,
    /// Where its time went.
    pub ledger: Ledger,
}

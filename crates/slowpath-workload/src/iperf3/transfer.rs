//! All streams of one way as one transfer.

use slowpath_record::{SenderCount, TransferResult};

use super::report::{Report, StreamReport};

impl Report {
    /// All TCP streams of one way as one transfer: `true` for client to server.
    pub fn transfer(&self, name: &str, forward: bool) -> TransferResult {
        let span = self.one_way(forward).map(StreamReport::delivery_time).max();
        let retransmits: Option<Vec<u64>> = self.one_way(forward).map(StreamReport::retransmits).collect();
        TransferResult {
            name: name.to_owned(),
            bytes: self.delivered(forward),
            start: self.counted_from,
            end: self.counted_from + span.unwrap_or_default(),
            complete: true,
            error: None,
            retransmitted_segments: retransmits.map(|all| all.into_iter().sum()),
            sender: Some(SenderCount {
                bytes: self.accepted(forward),
                over: self.accepted_time(forward),
            }),
        }
    }
}

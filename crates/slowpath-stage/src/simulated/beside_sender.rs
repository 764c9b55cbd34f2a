//! What the packets beside the data's sender say, analysed while the run is simulated, without a capture file.

use slowpath_facts::Analyzer;
use slowpath_path::{DropCause, ElementId, PacketId};
use slowpath_record::packets::{CaptureSummary, Conversations};
use slowpath_sim::{Point, Sighting, Sink, sink};
use slowpath_units::Time;
use slowpath_verdict::Analysis;

/// Follows what one host sends and receives, and hands everything on to `next`.
pub(super) struct BesideSender<S> {
    host: u16,
    packets: u64,
    bytes: u64,
    conversations: Conversations,
    analyzer: Analyzer,
    next: S,
}

impl<S: Sink> BesideSender<S> {
    /// Follows the host of that number.
    pub(super) fn new(host: u16, next: S) -> Self {
        Self {
            host,
            packets: 0,
            bytes: 0,
            conversations: Conversations::default(),
            analyzer: Analyzer::new(),
            next,
        }
    }

    /// What the packets say.
    pub(super) fn analysis(self) -> Analysis {
        let summary = CaptureSummary {
            format: "simulated".to_owned(),
            link_types: vec!["raw".to_owned()],
            packets: self.packets,
            bytes: self.bytes,
            stated_resolution_ns: 1,
            ..CaptureSummary::default()
        };
        Analysis::of(self.analyzer.finish(&self.conversations, &summary))
    }
}

impl<S: Sink> Sink for BesideSender<S> {
    const WATCHES_DROPS: bool = S::WATCHES_DROPS;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        if sighting.point == Point::Sent(self.host) || sighting.point == Point::Received(self.host) {
            self.packets += 1;
            self.bytes += u64::from(sighting.header.ip_len(sighting.payload.len()));
            let record = sink::record(sighting, self.packets, &mut self.conversations);
            self.analyzer.push(&record, &self.conversations);
        }
        self.next.seen(sighting);
    }

    fn dropped(&mut self, id: PacketId, element: ElementId, cause: DropCause, at: Time) {
        self.next.dropped(id, element, cause, at);
    }
}

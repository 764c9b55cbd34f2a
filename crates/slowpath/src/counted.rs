//! What limited datagrams and generated frames, by the counters of a run's record.

use slowpath_record::RunRecord;
use slowpath_verdict::Verdict;
use slowpath_verdict::counted::{Flow, Lost, verdict};

/// The verdict that the path's own counters allow; `None` for a run of transfers, which captures tell of.
pub(crate) fn of(record: &RunRecord) -> Option<Verdict> {
    if !record.transfers.is_empty() {
        return None;
    }
    let flows: Vec<Flow<'_>> = record
        .flows
        .iter()
        .map(|flow| Flow {
            name: &flow.name,
            sent: flow.sent_packets,
            received: flow.received_packets,
            byte_per_s: flow.goodput_byte_per_s,
            lost: flow
                .lost
                .iter()
                .map(|lost| Lost {
                    element: &lost.element,
                    cause: &lost.cause,
                    packets: lost.packets,
                })
                .collect(),
        })
        .collect();
    let dropped: Vec<Lost<'_>> = record
        .elements
        .iter()
        .flat_map(|element| {
            element.dropped.iter().map(|(cause, traffic)| Lost {
                element: &element.element,
                cause,
                packets: traffic.packets,
            })
        })
        .collect();
    verdict(&flows, &dropped)
}

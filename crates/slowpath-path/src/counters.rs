//! Packets and bytes through one element.

use slowpath_record::{ElementCounters, Traffic};

use crate::outcome::DropCause;

/// One element's balance: `entered + created = delivered + dropped + absorbed + inside`, in packets and in bytes.
///
/// Bytes are those of the outermost IP packet, so a tunnel entry creates bytes and its exit absorbs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// What came in.
    pub entered: Traffic,
    /// What the element itself made: copies, fragments, ICMP messages, tunnel bytes.
    pub created: Traffic,
    /// What went on.
    pub delivered: Traffic,
    /// What ended here without being lost: packets cut into fragments, fragments joined, tunnel bytes taken off.
    pub absorbed: Traffic,
    /// What is in the element now, counted from its queues.
    pub inside: Traffic,
    dropped: [Traffic; DropCause::ALL.len()],
    /// Packets dropped for any cause.
    lost: u64,
    /// Packets made here, for their numbers.
    pub(crate) made: u64,
}

impl Counters {
    /// What was dropped for one cause.
    pub const fn dropped(&self, cause: DropCause) -> Traffic {
        self.dropped[cause as usize]
    }

    /// What was dropped for any cause.
    pub fn dropped_total(&self) -> Traffic {
        self.dropped.iter().fold(Traffic::default(), |sum, part| Traffic {
            packets: sum.packets + part.packets,
            bytes: sum.bytes + part.bytes,
        })
    }

    /// Packets that are in the element now by the balance, whatever [`inside`](Self::inside) says.
    pub fn packets_left(&self) -> u64 {
        let gone = self.delivered.packets + self.lost + self.absorbed.packets;
        (self.entered.packets + self.created.packets).saturating_sub(gone)
    }

    /// Whether the balance holds.
    pub fn balanced(&self) -> bool {
        let dropped = self.dropped_total();
        let sides = |part: fn(&Traffic) -> u64| {
            part(&self.entered) + part(&self.created)
                == part(&self.delivered) + part(&dropped) + part(&self.absorbed) + part(&self.inside)
        };
        sides(|traffic| traffic.packets) && sides(|traffic| traffic.bytes)
    }

    /// The same for a run record; what was absorbed stands among the dropped as `"replaced"`.
    pub fn to_record(&self, element: &str) -> ElementCounters {
        let mut dropped: Vec<_> = DropCause::ALL
            .iter()
            .map(|cause| (cause.name().to_owned(), self.dropped(*cause)))
            .filter(|(_, traffic)| traffic.packets > 0)
            .collect();
        if self.absorbed != Traffic::default() {
            dropped.push(("replaced".to_owned(), self.absorbed));
        }
        ElementCounters {
            element: element.to_owned(),
            entered: self.entered,
            created: self.created,
            delivered: self.delivered,
            dropped,
            inside: self.inside,
        }
    }

    pub(crate) fn count_drop(&mut self, cause: DropCause, bytes: u32) {
        self.dropped[cause as usize].count(bytes);
        self.lost += 1;
    }
}

//! Bytes of one sender that a capture has not shown, though later ones.

use std::collections::VecDeque;

use slowpath_packet::Seq32;
use slowpath_record::packets::TcpPacket;

use super::log::{TxFlags, TxLog};

/// Bytes that a capture has not shown, though later ones: lost before the tap, overtaken on the way there, or missed by
/// the capture.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    list: VecDeque<Gap>,
    ids: IpIds,
    /// Packets that filled a gap and had been overtaken.
    pub(super) overtaken: u64,
}

#[derive(Debug, Clone, Copy)]
struct Gap {
    start: u64,
    end: u64,
    at: i64,
    tx: u64,
    tsval: Option<u32>,
    ip_id: Option<u16>,
}

/// Whether IP identifications of this sender count up, so that they tell the order of sending.
#[derive(Debug, Default)]
struct IpIds {
    last: Option<u16>,
    steps: u32,
    small_steps: u32,
}

impl IpIds {
    fn see(&mut self, id: Option<u16>) {
        let Some(id) = id else { return };
        if let Some(last) = self.last {
            self.steps += 1;
            if (1..=64).contains(&id.wrapping_sub(last)) {
                self.small_steps += 1;
            }
        }
        self.last = Some(id);
    }

    const fn count_up(&self) -> bool {
        self.steps >= 8 && self.small_steps * 10 >= self.steps * 8
    }
}

impl Gaps {
    /// Takes the IP identification of a packet of this sender.
    pub(super) fn see(&mut self, packet: &TcpPacket) {
        self.ids.see(packet.ip_id.filter(|&id| id != 0));
    }

    /// The gap `[start, end)`, which `packet` opened and transmission `tx` stands for.
    pub(super) fn open(&mut self, packet: &TcpPacket, start: u64, end: u64, tx: u64) {
        if self.list.len() >= GAPS {
            self.list.pop_front();
        }
        self.list.push_back(Gap {
            start,
            end,
            at: packet.at,
            tx,
            tsval: packet.timestamps.map(|times| times.value),
            ip_id: packet.ip_id.filter(|&id| id != 0),
        });
    }

    /// Fills gaps with `[start, end)`; returns the bytes filled and says in `flags` how they came.
    pub(super) fn fill(
        &mut self,
        packet: &TcpPacket,
        (start, end): (u64, u64),
        base_rtt_ns: Option<i64>,
        flags: &mut TxFlags,
        log: &mut TxLog,
    ) -> u64 {
        let mut filled = 0;
        let mut index = self.list.partition_point(|gap| gap.end <= start);
        while let Some(&gap) = self.list.get(index) {
            if gap.start >= end {
                break;
            }
            let (from, to) = (gap.start.max(start), gap.end.min(end));
            let late = self.was_overtaken(packet, &gap, base_rtt_ns);
            filled += to - from;
            if late {
                flags.set(TxFlags::LATE);
                if let Some(tx) = log.entry(gap.tx) {
                    tx.lost = tx.lost.saturating_sub((to - from) as u32);
                }
            } else {
                flags.set(TxFlags::FILLS);
            }
            let (left, right) = ((gap.start, from), (to, gap.end));
            match (left.0 < left.1, right.0 < right.1) {
                (false, false) => {
                    self.list.remove(index);
                    continue;
                }
                (true, false) => self.list[index].end = left.1,
                (false, true) => self.list[index].start = right.0,
                (true, true) => {
                    self.list[index].end = left.1;
                    self.list.insert(
                        index + 1,
                        Gap {
                            start: right.0,
                            ..gap
                        },
                    );
                    index += 1;
                }
            }
            index += 1;
        }
        if filled > 0 {
            self.overtaken += u64::from(flags.has(TxFlags::LATE));
        }
        filled
    }

    /// Forgets what lies below `ack`, which arrived and so was missed by the capture alone; says how many bytes.
    pub(super) fn acknowledged(&mut self, ack: u64, log: &mut TxLog) -> u64 {
        let mut missed = 0;
        while let Some(&gap) = self.list.front() {
            if gap.start >= ack {
                break;
            }
            let to = gap.end.min(ack);
            let bytes = to - gap.start;
            missed += bytes;
            if let Some(tx) = log.entry(gap.tx) {
                tx.lost = tx.lost.saturating_sub(bytes as u32);
                tx.flags.set(TxFlags::MISSED);
            }
            if to < gap.end {
                if let Some(front) = self.list.front_mut() {
                    front.start = to;
                }
                break;
            }
            self.list.pop_front();
        }
        missed
    }

    /// Whether one begins there.
    pub(super) fn begins_at(&self, start: u64) -> bool {
        self.list.front().is_some_and(|gap| gap.start == start)
    }

    /// Bytes that were neither filled nor acknowledged.
    pub(super) fn bytes(&self) -> u64 {
        self.list.iter().map(|gap| gap.end - gap.start).sum()
    }

    /// Smallest running number of a transmission that stands for a gap.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.list.iter().map(|gap| gap.tx).min()
    }

    /// Whether a packet that fills a gap was sent before the packet that opened it.
    fn was_overtaken(&self, packet: &TcpPacket, gap: &Gap, base_rtt_ns: Option<i64>) -> bool {
        if self.ids.count_up()
            && let (Some(own), Some(opener)) = (packet.ip_id, gap.ip_id)
        {
            return opener.wrapping_sub(own).cast_signed() > 0;
        }
        if let (Some(own), Some(opener)) = (packet.timestamps, gap.tsval) {
            let distance = Seq32(own.value).distance(Seq32(opener));
            if distance != 0 {
                return distance < 0;
            }
        }
        packet.at - gap.at < base_rtt_ns.map_or(3_000_000, |rtt| rtt / 2)
    }
}

/// Gaps remembered.
const GAPS: usize = 1024;

//! Compact logs of what one sender transmitted and what came back: the raw material of all later facts.
//!
//! Both logs are bounded: a full log merges neighbouring entries of its older half, which costs resolution in time
//! but no bytes, losses or extremes.

/// Most entries in a log before its older part is thinned.
pub(crate) const CAPACITY: usize = 1 << 16;

/// One transmission, or a run of merged ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tx {
    /// Time at the tap, nanoseconds.
    pub(crate) at: i64,
    /// First byte in the 64-bit sequence space.
    pub(crate) seq: u64,
    /// Frame number in the capture.
    pub(crate) number: u64,
    /// Payload bytes.
    pub(crate) len: u32,
    /// Bytes of IP packets; super-segments are counted as the packets they become.
    pub(crate) wire: u32,
    /// Payload bytes that did not arrive.
    pub(crate) lost: u32,
    /// From this transmission to its acknowledgement, seconds; NaN without a clean sample.
    pub(crate) rtt: f32,
    /// From the acknowledgement that released it to this transmission, seconds; NaN without a sample.
    pub(crate) release: f32,
    /// Packets on the wire.
    pub(crate) packets: u16,
    /// See the constants of [`TxFlags`].
    pub(crate) flags: TxFlags,
}

/// What is known about a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TxFlags(pub(crate) u8);

impl TxFlags {
    /// Its bytes had been sent before.
    pub(crate) const RETRANSMISSION: u8 = 0x01;
    /// Not seen: a gap in the sequence numbers stands for it.
    pub(crate) const GAP: u8 = 0x02;
    /// Passed the tap late.
    pub(crate) const LATE: u8 = 0x04;
    /// The capture missed it: acknowledged although never seen.
    pub(crate) const MISSED: u8 = 0x08;
    /// A retransmission that was not needed.
    pub(crate) const SPURIOUS: u8 = 0x10;
    /// Carried PSH.
    pub(crate) const PUSH: u8 = 0x20;
    /// Marked CE.
    pub(crate) const CE: u8 = 0x40;
    /// Fills a gap: the first copy was lost before the tap.
    pub(crate) const FILLS: u8 = 0x80;

    pub(crate) const fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    pub(crate) const fn set(&mut self, bit: u8) {
        self.0 |= bit;
    }
}

impl Tx {
    /// One past the last byte.
    pub(crate) const fn end(&self) -> u64 {
        self.seq + self.len as u64
    }

    /// Whether the packet was seen at the tap.
    pub(crate) const fn seen(&self) -> bool {
        !self.flags.has(TxFlags::GAP)
    }

    fn merges_with(&self, next: &Self) -> bool {
        const DISTINCT: u8 =
            TxFlags::RETRANSMISSION | TxFlags::GAP | TxFlags::LATE | TxFlags::MISSED | TxFlags::FILLS;
        self.end() == next.seq
            && self.lost == 0
            && next.lost == 0
            && self.flags.0 & DISTINCT == 0
            && next.flags.0 & DISTINCT == 0
            && self.len.checked_add(next.len).is_some()
            && self.packets.checked_add(next.packets).is_some()
    }

    fn merge(&mut self, next: &Self) {
        self.len += next.len;
        self.wire = self.wire.saturating_add(next.wire);
        self.packets += next.packets;
        self.flags.0 |= next.flags.0;
        if self.rtt.is_nan() || next.rtt > self.rtt {
            self.rtt = next.rtt;
        }
        if self.release.is_nan() {
            self.release = next.release;
        }
    }
}

/// Transmissions by running number, so that a reference stays valid while older entries are merged.
#[derive(Debug, Default)]
pub(crate) struct TxLog {
    entries: Vec<Tx>,
    shift: u64,
}

impl TxLog {
    /// Adds an entry and returns its running number. `oldest` is the smallest number still referred to.
    pub(crate) fn push(&mut self, tx: Tx, oldest: u64) -> u64 {
        if self.entries.len() >= CAPACITY {
            self.thin(oldest);
        }
        self.entries.push(tx);
        self.shift + self.entries.len() as u64 - 1
    }

    /// Whether the next entry makes the log thin itself.
    pub(crate) fn is_full(&self) -> bool {
        self.entries.len() >= CAPACITY
    }

    /// The entry with a running number, unless it has been merged away.
    pub(crate) fn entry(&mut self, number: u64) -> Option<&mut Tx> {
        let index = usize::try_from(number.checked_sub(self.shift)?).ok()?;
        self.entries.get_mut(index)
    }

    /// The newest entry.
    pub(crate) fn last_mut(&mut self) -> Option<&mut Tx> {
        self.entries.last_mut()
    }

    /// The entries in order of time.
    pub(crate) fn entries(&self) -> &[Tx] {
        &self.entries
    }

    fn thin(&mut self, oldest: u64) {
        let keep_from = usize::try_from(oldest.saturating_sub(self.shift))
            .unwrap_or(usize::MAX)
            .min(self.entries.len());
        let mut merged: Vec<Tx> = Vec::with_capacity(self.entries.len());
        let mut pair_open = false;
        for entry in &self.entries[..keep_from] {
            match merged.last_mut() {
                Some(last) if pair_open && last.merges_with(entry) => {
                    last.merge(entry);
                    pair_open = false;
                }
                _ => {
                    merged.push(*entry);
                    pair_open = true;
                }
            }
        }
        let removed = keep_from - merged.len();
        if removed < keep_from / 8 {
            // Nothing left to merge: forget the oldest quarter rather than grow.
            let drop = keep_from / 4;
            merged.drain(..drop.min(merged.len()));
        }
        let removed = keep_from - merged.len();
        merged.extend_from_slice(&self.entries[keep_from..]);
        self.entries = merged;
        self.shift += removed as u64;
    }
}

/// What one acknowledgement said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ack {
    /// Time at the tap, nanoseconds.
    pub(crate) at: i64,
    /// Cumulative acknowledgement in the 64-bit sequence space.
    pub(crate) to: u64,
    /// Frame number in the capture.
    pub(crate) number: u64,
    /// Bytes selectively acknowledged above `to`.
    pub(crate) sacked: u32,
    /// Window field, not scaled.
    pub(crate) window: u16,
    /// Congestion marks that it reports beyond the last one.
    pub(crate) marks: u16,
    /// Repeats the last acknowledgement.
    pub(crate) duplicate: bool,
    /// Window field of a SYN, never scaled.
    pub(crate) syn: bool,
}

/// Acknowledgements in order of time.
#[derive(Debug, Default)]
pub(crate) struct AckLog {
    entries: Vec<Ack>,
}

impl AckLog {
    /// Adds an entry.
    pub(crate) fn push(&mut self, ack: Ack) {
        if self.entries.len() >= CAPACITY {
            let mut index = 0;
            let mut last = (0_u16, 0_u64);
            self.entries.retain(|entry| {
                index += 1;
                let window_matters = entry.window == 0 || entry.window.abs_diff(last.0) > entry.window / 8;
                let keep = index % 2 == 0 || window_matters || entry.marks > 0;
                last = (entry.window, entry.to);
                keep
            });
            if self.entries.len() >= CAPACITY {
                self.entries.drain(..CAPACITY / 4);
            }
        }
        self.entries.push(ack);
    }

    /// The entries in order of time.
    pub(crate) fn entries(&self) -> &[Ack] {
        &self.entries
    }

    /// The last entry, if any.
    pub(crate) fn last(&self) -> Option<&Ack> {
        self.entries.last()
    }
}

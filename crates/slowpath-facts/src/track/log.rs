//! Compact logs of what one sender transmitted and what came back: the raw material of all later facts.
//!
//! Both logs are bounded: a full log merges neighbouring entries, which costs resolution in time, the same from end
//! to end, but no bytes, losses or extremes.

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
    /// The sender's own clock (RFC 7323); see [`TxFlags::STAMPED`].
    pub(crate) stamp: u32,
    /// Packets on the wire.
    pub(crate) packets: u16,
    /// See the constants of [`TxFlags`].
    pub(crate) flags: TxFlags,
}

/// What is known about a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TxFlags(pub(crate) u16);

impl TxFlags {
    /// Its bytes had been sent before.
    pub(crate) const RETRANSMISSION: u16 = 0x01;
    /// Not seen: a gap in the sequence numbers stands for it.
    pub(crate) const GAP: u16 = 0x02;
    /// Passed the tap late.
    pub(crate) const LATE: u16 = 0x04;
    /// The capture missed it: acknowledged although never seen.
    pub(crate) const MISSED: u16 = 0x08;
    /// A retransmission that was not needed.
    pub(crate) const SPURIOUS: u16 = 0x10;
    /// Carried PSH.
    pub(crate) const PUSH: u16 = 0x20;
    /// Marked CE.
    pub(crate) const CE: u16 = 0x40;
    /// Fills a gap: the first copy was lost before the tap.
    pub(crate) const FILLS: u16 = 0x80;
    /// First to acknowledge new data of the peer.
    pub(crate) const ANSWERS: u16 = 0x100;
    /// Sent while, or right after, the machine of the capture held packets up: the time before it says nothing.
    pub(crate) const HELD: u16 = 0x200;
    /// Sent while the machine of the capture held packets up, or as soon after that what had gathered may still have been
    /// in a queue: that it was lost says nothing of the path.
    pub(crate) const CROWDED: u16 = 0x400;
    /// Carried a timestamp.
    pub(crate) const STAMPED: u16 = 0x800;
    /// A selective acknowledgement told its round trip.
    pub(crate) const SACKED: u16 = 0x1000;

    pub(crate) const fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }

    pub(crate) const fn set(&mut self, bit: u16) {
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

    /// Leaves out what its times would say, where they overlap one of `spans`: beginnings and ends in order, nanoseconds.
    fn leave_out(&mut self, before: i64, spans: &[(i64, i64)]) {
        let overlaps = |from: i64, to: i64| {
            let first = spans.partition_point(|span| span.1 < from);
            spans.get(first).is_some_and(|span| span.0 <= to)
        };
        if self.rtt.is_finite() && overlaps(self.at, self.at.saturating_add(nanoseconds(self.rtt))) {
            self.rtt = f32::NAN;
        }
        if self.release.is_finite() && overlaps(self.at.saturating_sub(nanoseconds(self.release)), self.at) {
            self.release = f32::NAN;
        }
        if overlaps(before, self.at) {
            self.flags.set(TxFlags::HELD);
        }
    }

    fn merges_with(&self, next: &Self, most: u16) -> bool {
        const DISTINCT: u16 =
            TxFlags::RETRANSMISSION | TxFlags::GAP | TxFlags::LATE | TxFlags::MISSED | TxFlags::FILLS;
        self.end() == next.seq
            && self.lost == 0
            && next.lost == 0
            && (self.flags.0 | next.flags.0) & DISTINCT == 0
            && self.len.checked_add(next.len).is_some()
            && self
                .packets
                .checked_add(next.packets)
                .is_some_and(|sum| sum <= most)
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

/// Seconds of a sample.
fn nanoseconds(seconds: f32) -> i64 {
    (f64::from(seconds) * 1e9) as i64
}

/// Transmissions by running number, so that a reference stays valid while older entries are merged.
#[derive(Debug)]
pub(crate) struct TxLog {
    entries: Vec<Tx>,
    /// Running number of the first entry that was never merged, less its index.
    shift: u64,
    /// Entries with smaller running numbers have been merged or forgotten.
    floor: u64,
    /// Most packets of a merged entry: the log has the same grain from end to end.
    grain: u16,
}

impl Default for TxLog {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            shift: 0,
            floor: 0,
            grain: 2,
        }
    }
}

impl TxLog {
    /// Leaves out all times that overlap one of `spans`, and the losses of what they crowded together.
    ///
    /// What gathers in a span leaves a queue whose link is never idle in as much time again at most.
    pub(crate) fn leave_out(&mut self, spans: &[(i64, i64)]) {
        let mut before = None;
        let (mut next, mut crowded_until) = (0, i64::MIN);
        for tx in &mut self.entries {
            tx.leave_out(before.unwrap_or(tx.at), spans);
            before = Some(tx.at);
            while let Some(&(from, to)) = spans.get(next).filter(|span| span.0 <= tx.at) {
                crowded_until = crowded_until.max(to.saturating_add(to.saturating_sub(from)));
                next += 1;
            }
            if tx.at <= crowded_until {
                tx.flags.set(TxFlags::CROWDED);
            }
        }
    }

    /// Adds an entry and returns its running number. `oldest` is the smallest number still referred to; of a full
    /// log the newer half stays as it is, and older references become void.
    pub(crate) fn push(&mut self, tx: Tx, oldest: u64) -> u64 {
        if self.is_full() {
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
        if number < self.floor {
            return None;
        }
        let index = usize::try_from(number.checked_sub(self.shift)?).ok()?;
        self.entries.get_mut(index)
    }

    /// The newest entry.
    pub(crate) fn last_mut(&mut self) -> Option<&mut Tx> {
        self.entries.last_mut()
    }

    /// Whether every transmission is an entry of its own.
    pub(crate) const fn is_whole(&self) -> bool {
        self.floor == 0
    }

    /// The entries in order of time.
    pub(crate) fn entries(&self) -> &[Tx] {
        &self.entries
    }

    /// Frees at least a sixteenth of the log, so that an entry costs the same however long the transfer is.
    fn thin(&mut self, oldest: u64) {
        let len = self.entries.len();
        let referred = usize::try_from(oldest.saturating_sub(self.shift)).unwrap_or(usize::MAX);
        let keep_from = referred.clamp(len / 2, len);
        let mut kept = keep_from;
        loop {
            kept = self.merge_first(kept);
            if keep_from - kept >= len / 4 || self.grain > u16::MAX / 2 {
                break;
            }
            self.grain *= 2;
        }
        // Nothing left to merge: forget the oldest rather than grow.
        let forgotten = if keep_from - kept < len / 16 { len / 8 } else { 0 }.min(kept);
        self.entries.copy_within(keep_from.., kept);
        self.entries.truncate(len - (keep_from - kept));
        self.entries.drain(..forgotten);
        self.shift += (keep_from - kept + forgotten) as u64;
        self.floor = self.shift + (kept - forgotten) as u64;
    }

    /// Merges neighbours among the first `count` entries in place; returns how many are left of these.
    fn merge_first(&mut self, count: usize) -> usize {
        let mut last = 0;
        for index in 1..count {
            let entry = self.entries[index];
            if self.entries[last].merges_with(&entry, self.grain) {
                self.entries[last].merge(&entry);
            } else {
                last += 1;
                self.entries[last] = entry;
            }
        }
        (last + 1).min(count)
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
    /// The receiver's own clock (RFC 7323).
    pub(crate) stamp: Option<u32>,
}

/// Acknowledgements in order of time.
#[derive(Debug)]
pub(crate) struct AckLog {
    entries: Vec<Ack>,
    /// Fewest bytes between entries that say nothing else.
    step: u64,
    /// Nanoseconds after the one before from which an entry is kept whatever it says: without it there seems to be a silence.
    silence: i64,
    /// How often it has been thinned.
    thinned: u32,
}

impl Default for AckLog {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            step: 4096,
            silence: 100_000_000,
            thinned: 0,
        }
    }
}

impl AckLog {
    /// Adds an entry.
    pub(crate) fn push(&mut self, ack: Ack) {
        if self.entries.len() >= CAPACITY {
            self.thin();
        }
        self.entries.push(ack);
    }

    /// Frees at least an eighth of the log.
    fn thin(&mut self) {
        self.thinned = self.thinned.saturating_add(1);
        while self.step < 1 << 40 {
            let mut last: Option<Ack> = None;
            let (step, silence) = (self.step, self.silence);
            let mut late = 0;
            self.entries.retain(|entry| {
                let Some(before) = last else {
                    last = Some(*entry);
                    return true;
                };
                let reach = |ack: &Ack| ack.to + u64::from(ack.sacked);
                let is_late = entry.at.saturating_sub(before.at) >= silence;
                late += usize::from(is_late);
                let keep = is_late
                    || reach(entry).saturating_sub(reach(&before)) >= step
                    || entry.window == 0
                    || entry.window.abs_diff(before.window) > entry.window / 8
                    || entry.marks > 0;
                if keep {
                    last = Some(*entry);
                }
                keep
            });
            if late > CAPACITY / 4 {
                self.silence = self.silence.saturating_mul(2);
            }
            if self.entries.len() <= CAPACITY / 4 * 3 {
                return;
            }
            self.step = self.step.saturating_mul(2);
        }
        if self.entries.len() > CAPACITY / 8 * 7 {
            // Every one says something: forget the oldest rather than grow.
            self.entries.drain(..CAPACITY / 4);
        }
    }

    /// Whether every acknowledgement is an entry.
    pub(crate) const fn is_whole(&self) -> bool {
        self.thinned == 0
    }

    /// For how long no entry may tell of what was acknowledged meanwhile, nanoseconds.
    pub(crate) const fn silence(&self) -> i64 {
        if self.is_whole() { 0 } else { self.silence }
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

/// A SACK block as reported, in the 64-bit sequence space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SackBlock {
    /// Time at the tap, nanoseconds.
    pub(crate) at: i64,
    /// First byte.
    pub(crate) from: u64,
    /// One past the last byte.
    pub(crate) to: u64,
}

/// SACK blocks in order of time, for a graph: of very many, evenly spaced ones are kept.
#[derive(Debug, Default)]
pub(crate) struct SackLog {
    entries: Vec<SackBlock>,
    seen: u64,
    /// One in two to this power is kept.
    thinned: u32,
}

impl SackLog {
    /// Adds a block.
    pub(crate) fn push(&mut self, block: SackBlock) {
        self.seen += 1;
        if self.seen & ((1 << self.thinned) - 1) != 0 {
            return;
        }
        if self.entries.len() >= CAPACITY / 2 {
            let mut index = 0;
            self.entries.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.thinned += 1;
        }
        self.entries.push(block);
    }

    /// The blocks kept.
    pub(crate) fn entries(&self) -> &[SackBlock] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tx(number: u64, flags: u16) -> Tx {
        Tx {
            at: number.cast_signed(),
            seq: number * 1000,
            number,
            len: 1000,
            wire: 1052,
            lost: 0,
            rtt: f32::NAN,
            release: f32::NAN,
            stamp: 0,
            packets: 1,
            flags: TxFlags(flags),
        }
    }

    #[test]
    fn what_a_span_crowds_together_is_known() {
        let mut log = TxLog::default();
        for number in 0..50 {
            log.push(tx(number, 0), 0);
        }
        // The long one still crowds what is sent after the short one.
        log.leave_out(&[(10, 20), (21, 22), (40, 41)]);
        let crowded: Vec<u64> = log
            .entries()
            .iter()
            .filter(|tx| tx.flags.has(TxFlags::CROWDED))
            .map(|tx| tx.number)
            .collect();
        assert_eq!(crowded, (10..=30).chain(40..=42).collect::<Vec<u64>>());
    }

    #[test]
    fn a_full_log_keeps_all_bytes_at_one_grain() {
        let mut log = TxLog::default();
        let count = 10 * CAPACITY as u64;
        for number in 0..count {
            let place = log.push(tx(number, 0), number.saturating_sub(100));
            let entry = log.entry(place).expect("the newest entry is there");
            assert_eq!(entry.number, number);
            if let Some(entry) = log.entry(place.saturating_sub(50)) {
                assert_eq!(entry.number, number.saturating_sub(50), "references stay valid");
            }
            assert!(log.entries().len() <= CAPACITY);
        }
        assert_eq!(
            log.entries().iter().map(|tx| u64::from(tx.len)).sum::<u64>(),
            count * 1000
        );
        let first = &log.entries()[..log.entries().len() / 4];
        assert!(
            first.iter().all(|tx| tx.packets <= 64),
            "the oldest is not coarser"
        );
    }

    /// The cost of each entry must not grow: a reference to the very first entry once made every further one copy
    /// the whole log.
    #[test]
    fn an_old_reference_does_not_keep_the_log_from_thinning() {
        let mut log = TxLog::default();
        let mut thinned = 0;
        for number in 0..4 * CAPACITY as u64 {
            thinned += u64::from(log.is_full());
            log.push(tx(number, 0), 0);
        }
        assert!(thinned < 40, "thinned {thinned} times");
        assert!(log.entry(0).is_none(), "what was merged is not given out");
    }

    #[test]
    fn entries_that_cannot_be_merged_are_forgotten() {
        let mut log = TxLog::default();
        let mut thinned = 0;
        for number in 0..4 * CAPACITY as u64 {
            thinned += u64::from(log.is_full());
            let place = log.push(tx(number, TxFlags::RETRANSMISSION), u64::MAX);
            assert_eq!(log.entry(place).map(|tx| tx.number), Some(number));
            assert!(log.entries().len() <= CAPACITY);
        }
        assert!(thinned < 60, "thinned {thinned} times");
    }

    #[test]
    fn acknowledgements_that_all_matter_do_not_thin_each_time() {
        let mut log = AckLog::default();
        for number in 0..4 * CAPACITY as u64 {
            log.push(Ack {
                at: number.cast_signed(),
                to: number,
                number,
                sacked: 0,
                window: if number % 2 == 0 { 10 } else { 1000 },
                marks: 0,
                duplicate: false,
                syn: false,
                stamp: None,
            });
            assert!(log.entries().len() <= CAPACITY);
        }
        assert!(log.entries().len() > CAPACITY / 2);
    }

    #[test]
    fn a_log_that_is_thinned_shows_no_silence_where_a_few_bytes_were_acknowledged() {
        const SMALL: u64 = 100;
        let ack = |at: i64, to: u64| Ack {
            at,
            to,
            number: 0,
            sacked: 0,
            window: 1000,
            marks: 0,
            duplicate: false,
            syn: false,
            stamp: None,
        };
        let mut log = AckLog::default();
        // A login: a few bytes every 80 ms; then a bulk transfer.
        for number in 0..SMALL {
            log.push(ack(number.cast_signed() * 80_000_000, number * 10));
        }
        let begins = SMALL.cast_signed() * 80_000_000;
        for number in 0..2 * CAPACITY as u64 {
            log.push(ack(begins + number.cast_signed() * 10_000, 1000 + number * 1000));
        }
        assert!(!log.is_whole() && log.silence() > 0);
        let apart = log.entries().windows(2).map(|pair| pair[1].at - pair[0].at).max();
        assert!(apart.is_some_and(|apart| apart <= 2 * log.silence()), "{apart:?}");
    }
}

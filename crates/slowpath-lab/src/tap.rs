//! Packets and their fates for captures, handed to a sink on its own thread.
//!
//! Wires copy what they see into batches; the tap thread puts the batches of all wires into order of time and
//! calls the sink. A wire never waits for the sink: what does not fit is counted as lost by the capture.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use slowpath_path::{PacketId, PacketSink, Seen, SeenPacket};
use slowpath_units::Time;

/// The wire's end: collects one batch at a time.
pub(crate) struct TapSender {
    wire: usize,
    to: SyncSender<Batch>,
    batch: Batch,
    snap_length: usize,
    /// Packets that the sink did not get.
    pub(crate) lost: u64,
}

#[derive(Debug, Default)]
struct Batch {
    wire: usize,
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// The wire will report nothing before this.
    reached: Time,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    event: Seen,
    at: Time,
    id: PacketId,
    start: usize,
    end: usize,
    length: u32,
}

/// Starts the tap thread for `wires` wires.
pub(crate) fn start(
    mut sink: Box<dyn PacketSink>,
    wires: usize,
    snap_length: u32,
) -> std::io::Result<(Vec<TapSender>, JoinHandle<()>)> {
    let (to, from) = sync_channel(4096);
    let snap_length = usize::try_from(snap_length).unwrap_or(usize::MAX);
    let senders = (0..wires).map(|wire| TapSender {
        wire,
        to: to.clone(),
        batch: Batch {
            wire,
            ..Batch::default()
        },
        snap_length,
        lost: 0,
    });
    let senders = senders.collect();
    let thread = std::thread::Builder::new()
        .name("slowpath-tap".into())
        .spawn(move || {
            sort(&from, wires, sink.as_mut());
            sink.finish();
        })?;
    Ok((senders, thread))
}

impl TapSender {
    /// Adds one packet; `bytes` is the whole packet.
    pub(crate) fn add(&mut self, event: Seen, at: Time, id: PacketId, bytes: &[u8]) {
        let start = self.batch.bytes.len();
        self.batch
            .bytes
            .extend_from_slice(&bytes[..bytes.len().min(self.snap_length)]);
        let end = self.batch.bytes.len();
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.batch.entries.push(Entry {
            event,
            at,
            id,
            start,
            end,
            length,
        });
    }

    /// Hands the batch over if it is large, or `force`d; the wire has reported everything up to `reached`.
    pub(crate) fn flush(&mut self, reached: Time, force: bool) {
        let old = reached.since(self.batch.reached) > FLUSH_AFTER;
        if !force && !old && self.batch.bytes.len() < FLUSH_BYTES {
            return;
        }
        let next = Batch {
            wire: self.wire,
            reached,
            ..Batch::default()
        };
        let mut batch = std::mem::replace(&mut self.batch, next);
        batch.reached = reached;
        if let Err(TrySendError::Full(batch)) = self.to.try_send(batch) {
            self.lost += batch.entries.len() as u64;
        }
    }
}

const FLUSH_BYTES: usize = 1 << 18;
const FLUSH_AFTER: slowpath_units::Duration = slowpath_units::Duration::from_millis(10);

/// Merges the wires' batches by time.
fn sort(from: &Receiver<Batch>, wires: usize, sink: &mut dyn PacketSink) {
    let mut reached = vec![Time::ZERO; wires];
    let mut waiting: BinaryHeap<Reverse<(Time, u64, usize, usize)>> = BinaryHeap::new();
    let mut batches: Vec<Option<(Batch, usize)>> = Vec::new();
    let mut free: Vec<usize> = Vec::new();
    let mut order = 0;
    let mut give = |until: Time,
                    waiting: &mut BinaryHeap<Reverse<(Time, u64, usize, usize)>>,
                    batches: &mut Vec<Option<(Batch, usize)>>,
                    free: &mut Vec<usize>| {
        while let Some(Reverse((at, _, slot, index))) = waiting.peek().copied() {
            if at > until {
                break;
            }
            waiting.pop();
            let Some((batch, left)) = batches[slot].as_mut() else {
                continue;
            };
            let entry = batch.entries[index];
            sink.packet(&SeenPacket {
                event: entry.event,
                at: entry.at,
                id: entry.id,
                bytes: &batch.bytes[entry.start..entry.end],
                length: entry.length,
            });
            *left -= 1;
            if *left == 0 {
                batches[slot] = None;
                free.push(slot);
            }
        }
    };
    while let Ok(batch) = from.recv() {
        reached[batch.wire] = reached[batch.wire].max(batch.reached);
        if !batch.entries.is_empty() {
            let slot = free.pop().unwrap_or_else(|| {
                batches.push(None);
                batches.len() - 1
            });
            for (index, entry) in batch.entries.iter().enumerate() {
                waiting.push(Reverse((entry.at, order, slot, index)));
                order += 1;
            }
            let count = batch.entries.len();
            batches[slot] = Some((batch, count));
        }
        let until = reached.iter().min().copied().unwrap_or(Time::MAX);
        give(until, &mut waiting, &mut batches, &mut free);
    }
    give(Time::MAX, &mut waiting, &mut batches, &mut free);
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use slowpath_path::PortId;

    use super::*;

    struct Collect(Arc<Mutex<Vec<(u64, usize)>>>);

    impl PacketSink for Collect {
        fn packet(&mut self, seen: &SeenPacket<'_>) {
            self.0.lock().unwrap().push((seen.at.nanos(), seen.bytes.len()));
        }
    }

    #[test]
    fn two_wires_come_out_in_order_of_time() {
        let all = Arc::new(Mutex::new(Vec::new()));
        let (mut senders, thread) = start(Box::new(Collect(all.clone())), 2, 50).unwrap();
        let at = Time::from_nanos;
        let event = Seen::Sent(PortId(0));
        senders[0].add(event, at(5), PacketId(1), &[0; 100]);
        senders[0].add(event, at(3), PacketId(1), &[0; 20]);
        senders[0].flush(at(6), true);
        senders[1].add(event, at(4), PacketId(1), &[0; 10]);
        senders[1].flush(at(9), true);
        senders[0].add(event, at(7), PacketId(1), &[0; 1]);
        senders[0].flush(at(20), true);
        drop(senders);
        thread.join().unwrap();
        assert_eq!(*all.lock().unwrap(), [(3, 20), (4, 10), (5, 50), (7, 1)]);
    }
}

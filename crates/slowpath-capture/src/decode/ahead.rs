//! Reads and decodes on a thread of its own, ahead of the analysis.

use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use slowpath_packet::FlowKey;
use slowpath_record::packets::{ConversationId, Conversations, Record};

use super::{NOTHING, PacketReader};

/// Decodes a capture on a second thread, so that reading, decompressing and decoding cost an analysis no time.
///
/// Memory is bounded: the thread stops as soon as it is a few batches ahead. Not for a growing file, which
/// has no end: there a [`PacketReader`] gives each packet as soon as it is whole.
#[derive(Debug)]
pub struct ReadAhead {
    filled: Receiver<Filled>,
    /// Records to be written anew.
    spare: Sender<Vec<Record>>,
    worker: JoinHandle<PacketReader>,
    conversations: Conversations,
    current: Filled,
}

/// Packets in capture order, and the conversations known by then.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The packets; at least one.
    pub records: &'a [Record],
    /// Addresses and ports of their conversations.
    pub conversations: &'a Conversations,
}

/// What the thread hands over.
#[derive(Debug, Default)]
struct Filled {
    records: Vec<Record>,
    /// How many of these were read.
    count: usize,
    /// Conversations that are new in this batch.
    keys: Vec<FlowKey>,
    /// Why reading ended here, if it failed.
    error: Option<io::Error>,
}

impl ReadAhead {
    /// Starts to read.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(reader: PacketReader) -> io::Result<Self> {
        let (to_analysis, filled) = sync_channel(BATCHES);
        let (spare, from_analysis) = channel();
        let worker = thread::Builder::new()
            .name("capture-reader".into())
            .spawn(move || read(reader, &to_analysis, &from_analysis))?;
        Ok(Self {
            filled,
            spare,
            worker,
            conversations: Conversations::new(),
            current: Filled::default(),
        })
    }

    /// The next packets, or nothing at the end of the capture.
    ///
    /// # Errors
    /// Those of the input.
    pub fn next_batch(&mut self) -> io::Result<Option<Batch<'_>>> {
        // The thread may have ended: then it needs no buffer any more.
        let _ = self.spare.send(std::mem::take(&mut self.current.records));
        let Ok(filled) = self.filled.recv() else {
            return Ok(None);
        };
        self.current = filled;
        for key in &self.current.keys {
            self.conversations.intern(key);
        }
        match self.current.error.take() {
            Some(error) => Err(error),
            None => Ok(Some(Batch {
                records: &self.current.records[..self.current.count],
                conversations: &self.conversations,
            })),
        }
    }

    /// Stops reading and gives the reader back, with the summary of what was read.
    pub fn finish(self) -> PacketReader {
        drop(self.filled);
        match self.worker.join() {
            Ok(reader) => reader,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// Fills batches until the capture ends, or nobody wants them any more.
fn read(
    mut reader: PacketReader,
    to_analysis: &SyncSender<Filled>,
    from_analysis: &Receiver<Vec<Record>>,
) -> PacketReader {
    let mut known = 0;
    loop {
        let mut records = from_analysis.try_recv().unwrap_or_default();
        records.resize(BATCH, NOTHING);
        let (mut count, mut error) = (0, None);
        for record in &mut records {
            match reader.next_into(record) {
                Ok(true) => count += 1,
                Ok(false) => break,
                Err(found) => {
                    error = Some(found);
                    break;
                }
            }
        }
        let conversations = reader.conversations();
        let keys = (known..conversations.len())
            .filter_map(|index| {
                conversations
                    .key(ConversationId(u32::try_from(index).ok()?))
                    .copied()
            })
            .collect();
        known = conversations.len();
        let ends = count < BATCH;
        let filled = Filled {
            records,
            count,
            keys,
            error,
        };
        if (count == 0 && filled.error.is_none()) || to_analysis.send(filled).is_err() || ends {
            return reader;
        }
    }
}

/// Packets handed over at once: enough that waking the other thread does not count, few enough for a cache.
const BATCH: usize = 2048;

/// Batches that may wait for the analysis.
const BATCHES: usize = 4;

//! Memory for packets on the way: bytes in chunks, one entry per train, no allocation per packet.
//!
//! Trains are read one behind the other into chunks, so that the memory taken follows the bytes in flight and not
//! the largest possible train. A chunk is used again when its last train is done.

use slowpath_sys::memory::LargePages;

use crate::train::Train;

/// A train's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrainId(pub(crate) u32);

/// Where a train's bytes are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    chunk: u32,
    offset: u32,
}

/// All trains on the way in one wire.
pub(crate) struct Slab {
    chunks: Vec<Chunk>,
    free_chunks: Vec<u32>,
    current: u32,
    filled: usize,
    trains: Vec<Option<Entry>>,
    free_trains: Vec<u32>,
    limit: usize,
    /// Most chunks in use at once.
    peak: usize,
}

struct Chunk {
    bytes: LargePages,
    live: u32,
}

struct Entry {
    train: Train,
    place: Place,
    live: u32,
}

/// The memory limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Slab {
    /// A slab of at most `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        let limit = usize::try_from(bytes)
            .unwrap_or(usize::MAX)
            .div_ceil(CHUNK)
            .max(2);
        let mut slab = Self {
            chunks: Vec::new(),
            free_chunks: Vec::new(),
            current: 0,
            filled: START,
            trains: Vec::new(),
            free_trains: Vec::new(),
            limit,
            peak: 0,
        };
        slab.take_chunk().expect("the limit allows one chunk");
        slab
    }

    /// Room for the largest train; fill it and call [`Slab::keep`], or not.
    pub(crate) fn room(&mut self) -> Result<&mut [u8], Exhausted> {
        if self.filled + LARGEST > CHUNK {
            self.take_chunk()?;
        }
        Ok(&mut self.chunks[self.current as usize].bytes[self.filled..self.filled + LARGEST])
    }

    /// Keeps the first `length` bytes of the room as a train that `live` packets refer to.
    pub(crate) fn keep(&mut self, length: usize, train: Train, live: u32) -> TrainId {
        let place = Place {
            chunk: self.current,
            offset: u32::try_from(self.filled).expect("inside a chunk"),
        };
        // Cache lines are not shared between trains.
        self.filled = (self.filled + length).next_multiple_of(64) + START;
        self.chunks[self.current as usize].live += 1;
        let entry = Some(Entry { train, place, live });
        if let Some(id) = self.free_trains.pop() {
            self.trains[id as usize] = entry;
            TrainId(id)
        } else {
            self.trains.push(entry);
            TrainId(u32::try_from(self.trains.len() - 1).expect("fewer than 2^32 trains"))
        }
    }

    /// A train and its bytes, beginning with what stood before the IP header.
    pub(crate) fn get(&self, id: TrainId) -> (&Train, &[u8]) {
        let entry = self.trains[id.0 as usize]
            .as_ref()
            .expect("a packet refers to the train");
        let start = entry.place.offset as usize;
        let bytes = &self.chunks[entry.place.chunk as usize].bytes;
        (&entry.train, &bytes[start..start + entry.train.stored()])
    }

    /// Changes how many packets refer to the train; at zero it is gone.
    pub(crate) fn refer(&mut self, id: TrainId, change: i32) {
        let entry = self.trains[id.0 as usize]
            .as_mut()
            .expect("a packet refers to the train");
        entry.live = entry.live.checked_add_signed(change).expect("references balance");
        if entry.live == 0 {
            let chunk = entry.place.chunk;
            self.trains[id.0 as usize] = None;
            self.free_trains.push(id.0);
            let live = &mut self.chunks[chunk as usize].live;
            *live -= 1;
            if *live == 0 {
                if chunk == self.current {
                    self.filled = START;
                } else {
                    self.free_chunks.push(chunk);
                }
            }
        }
    }

    /// Trains on the way.
    #[cfg(test)]
    pub(crate) fn trains(&self) -> usize {
        self.trains.len() - self.free_trains.len()
    }

    /// Most bytes of memory in use at once so far.
    pub(crate) fn peak_bytes(&self) -> u64 {
        (self.peak * CHUNK) as u64
    }

    fn take_chunk(&mut self) -> Result<(), Exhausted> {
        let left = self.current;
        self.current = match self.free_chunks.pop() {
            Some(chunk) => chunk,
            None if self.chunks.len() < self.limit => {
                let bytes = LargePages::new(CHUNK).map_err(|_| Exhausted)?;
                self.chunks.push(Chunk { bytes, live: 0 });
                u32::try_from(self.chunks.len() - 1).expect("fewer than 2^32 chunks")
            }
            None => return Err(Exhausted),
        };
        // A chunk that ran empty while it was current would never be freed again.
        if left != self.current && self.chunks[left as usize].live == 0 {
            self.free_chunks.push(left);
        }
        self.filled = START;
        self.peak = self.peak.max(self.chunks.len() - self.free_chunks.len());
        Ok(())
    }
}

/// A train of 64 KiB, the Ethernet header and the header of trains.
pub(crate) const LARGEST: usize = 65_536 + 64;
const CHUNK: usize = 2 << 20;
/// So that the payload behind the headers of trains, IPv4 and TCP with timestamps (62 bytes) starts a cache line.
const START: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn put(slab: &mut Slab, length: usize, live: u32) -> Result<TrainId, Exhausted> {
        slab.room()?[..length].fill(7);
        Ok(slab.keep(length, Train::opaque(length), live))
    }

    #[test]
    fn memory_follows_bytes_in_flight() {
        let mut slab = Slab::new(4 * CHUNK as u64);
        let small: Vec<_> = (0..2000).map(|_| put(&mut slab, 100, 1).unwrap()).collect();
        assert!(
            slab.peak_bytes() <= CHUNK as u64,
            "2000 small packets fit one chunk: {}",
            slab.peak_bytes()
        );
        for id in small {
            slab.refer(id, -1);
        }
        assert_eq!(slab.trains(), 0);
        // Far more than the limit passes through when it does not stay.
        for _ in 0..1000 {
            let id = put(&mut slab, 60_000, 2).unwrap();
            slab.refer(id, -1);
            assert_eq!(slab.get(id).1[59_999], 7);
            slab.refer(id, -1);
        }
        assert!(slab.peak_bytes() <= 2 * CHUNK as u64);
    }

    #[test]
    fn exhaustion_is_an_error_and_passes() {
        let mut slab = Slab::new(2 * CHUNK as u64);
        let mut held = Vec::new();
        while let Ok(id) = put(&mut slab, 60_000, 1) {
            held.push(id);
        }
        assert!(held.len() >= 64, "{}", held.len());
        for id in held {
            slab.refer(id, -1);
        }
        assert!(put(&mut slab, 60_000, 1).is_ok());
    }

    #[test]
    fn old_trains_do_not_corrupt_new_ones() {
        // A long-lived train among short-lived ones, as with jitter.
        let mut slab = Slab::new(3 * CHUNK as u64);
        let old = put(&mut slab, 1000, 1).unwrap();
        for _ in 0..100 {
            slab.room().unwrap()[..50_000].fill(9);
            let id = slab.keep(50_000, Train::opaque(50_000), 1);
            slab.refer(id, -1);
        }
        assert!(slab.get(old).1.iter().all(|byte| *byte == 7));
    }
}

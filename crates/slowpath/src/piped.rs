//! Standard input in pieces, so that Ctrl-C ends the reading and not the answer.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Standard input, read on a thread of its own, so that nobody waits in it who is asked to stop.
#[derive(Clone)]
pub(crate) struct Piped(Arc<PipedState>);

struct PipedState {
    pieces: Mutex<Pieces>,
    stop: Arc<AtomicBool>,
    ended: AtomicBool,
    /// Whether a read gives nothing where nothing comes for a moment.
    patient: bool,
}

/// What the thread has read.
struct Pieces {
    coming: Receiver<io::Result<Vec<u8>>>,
    held: Vec<u8>,
    /// Bytes of `held` that were handed on.
    taken: usize,
    asked_to_stop: Option<Instant>,
}

impl Piped {
    /// Begins to read; after `stop` what still comes is read for a moment, as a capturing program that is ended writes out
    /// what it has. With `growing` a read gives nothing where nothing comes for a moment.
    pub(crate) fn standard_input(stop: &Arc<AtomicBool>, growing: bool) -> Self {
        let (to_reader, pieces) = sync_channel(PIECES);
        let reading = thread::Builder::new()
            .name("standard-input".into())
            .spawn(move || {
                let mut input = io::stdin().lock();
                loop {
                    let mut piece = vec![0; PIECE];
                    let read = match input.read(&mut piece) {
                        Ok(0) => return,
                        Ok(count) => {
                            piece.truncate(count);
                            Ok(piece)
                        }
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                        Err(error) => Err(error),
                    };
                    let failed = read.is_err();
                    if to_reader.send(read).is_err() || failed {
                        return;
                    }
                }
            });
        // Without a thread the channel is closed: the input is empty.
        drop(reading);
        Self(Arc::new(PipedState {
            pieces: Mutex::new(Pieces {
                coming: pieces,
                held: Vec::new(),
                taken: 0,
                asked_to_stop: None,
            }),
            stop: Arc::clone(stop),
            ended: AtomicBool::new(false),
            patient: !growing,
        }))
    }

    /// Whether nothing more comes.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.ended.load(Ordering::Relaxed)
    }
}

impl Read for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut pieces = self.0.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let stopping = self.0.stop.load(Ordering::Relaxed);
        if stopping && pieces.asked_to_stop.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            // Whoever writes does not mind.
            self.0.ended.store(true, Ordering::Relaxed);
            return Ok(0);
        }
        while pieces.taken == pieces.held.len() {
            if self.0.ended.load(Ordering::Relaxed) {
                return Ok(0);
            }
            match pieces.coming.recv_timeout(STEP) {
                Ok(piece) => {
                    pieces.held = piece?;
                    pieces.taken = 0;
                }
                Err(RecvTimeoutError::Disconnected) => self.0.ended.store(true, Ordering::Relaxed),
                Err(RecvTimeoutError::Timeout) if self.0.stop.load(Ordering::Relaxed) => {
                    let since = *pieces.asked_to_stop.get_or_insert_with(Instant::now);
                    if since.elapsed() >= FLUSH {
                        self.0.ended.store(true, Ordering::Relaxed);
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.0.patient => {}
                Err(RecvTimeoutError::Timeout) => return Ok(0),
            }
        }
        let count = buffer.len().min(pieces.held.len() - pieces.taken);
        buffer[..count].copy_from_slice(&pieces.held[pieces.taken..pieces.taken + count]);
        pieces.taken += count;
        Ok(count)
    }
}

/// Whether standard input is a file, which needs no thread.
pub(crate) fn input_is_live() -> bool {
    !io::stdin().is_terminal() && fs::metadata("/dev/stdin").is_ok_and(|about| !about.is_file())
}

/// How long a read waits before it looks whether it is to stop.
const STEP: Duration = Duration::from_millis(100);
/// A capturing program that was ended as well has written out what it has by then.
const FLUSH: Duration = Duration::from_millis(500);
/// Longest that is read on after it was asked to stop.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes read at once, and how many such pieces may wait.
const PIECE: usize = 256 * 1024;
const PIECES: usize = 8;

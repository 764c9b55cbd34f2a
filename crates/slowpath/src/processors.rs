//! Work of equal kind on all processors.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many there are for this process.
pub fn count() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` for every number below `count` on as many threads as there are processors; results come in the order of
/// the numbers.
pub fn each<R: Send>(count: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    each_on(self::count(), count, work)
}

/// As [`each`], on `threads` threads.
pub fn each_on<R: Send>(threads: usize, count: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    let threads = threads.min(count);
    let next = AtomicUsize::new(0);
    let take_turns = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break done;
            }
            done.push((index, work(index)));
        }
    };
    let mut done = thread::scope(|scope| {
        // Where the system gives no thread, this one does all.
        let others: Vec<_> = (1..threads)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, take_turns).ok())
            .collect();
        let mut done = take_turns();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

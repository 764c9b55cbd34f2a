//! The threads that move TCP data.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use slowpath_sys::clock;
use slowpath_units::{BitRate, Duration};

use super::tally::{Phase, Tally, add};
use crate::content::Content;
use crate::context::Context;

/// What a TCP sender needs besides its socket.
#[derive(Debug, Clone)]
pub(super) struct SendPlan {
    pub(super) block: usize,
    pub(super) rate: Option<BitRate>,
    pub(super) burst: u32,
    pub(super) zero_copy: bool,
    pub(super) repeating: bool,
    pub(super) seed: u64,
}

/// Sends until the test ends, the budget is spent, or the connection fails.
pub(super) fn send(
    stream: &Arc<TcpStream>,
    plan: &SendPlan,
    phase: &Phase,
    tally: &Tally,
    context: &Context,
) {
    if phase.wait_for_start() {
        send_loop(stream, plan, phase, tally, context);
    }
    tally
        .cpu
        .store(clock::thread_cpu(), std::sync::atomic::Ordering::Relaxed);
}

fn send_loop(stream: &TcpStream, plan: &SendPlan, phase: &Phase, tally: &Tally, context: &Context) {
    let mut buffer = vec![0_u8; plan.block];
    if plan.repeating {
        for (index, byte) in buffer.iter_mut().enumerate() {
            *byte = b'0' + (index % 10) as u8;
        }
    } else {
        Content::new(plan.seed).fill(0, &mut buffer);
    }
    let file = if plan.zero_copy {
        memory_file(&buffer).ok()
    } else {
        None
    };
    let mut pace = plan.rate.map(|rate| Pace::new(rate, plan.burst));
    while phase.is_running() && context.check().is_ok() {
        if let Some(pace) = &mut pace {
            pace.wait(plan.block, phase);
            if !phase.is_running() {
                return;
            }
        }
        let granted = phase.take(plan.block);
        if granted == 0 {
            return;
        }
        let mut at = 0;
        while at < granted {
            let sent = match &file {
                Some(file) => {
                    let mut offset = at as u64;
                    rustix::fs::sendfile(stream, file, Some(&mut offset), granted - at)
                        .map_err(io::Error::from)
                }
                None => (&mut &*stream).write(&buffer[at..granted]),
            };
            match sent {
                Ok(0) => return,
                Ok(len) => {
                    at += len;
                    if phase.is_running() {
                        add(&tally.bytes, len as u64);
                    } else {
                        add(&tally.uncounted, len as u64);
                    }
                    if context.spend(len as u64).is_err() {
                        return;
                    }
                }
                Err(error) if is_transient(&error) => {
                    if !phase.is_running() || context.check().is_err() {
                        return;
                    }
                }
                // The other side closes with data unread at the end of a test.
                Err(_) => {
                    phase.give_back(granted - at);
                    return;
                }
            }
        }
    }
}

/// Reads until the other side closes or the test is closed; counts while it runs.
pub(super) fn receive(
    stream: &Arc<TcpStream>,
    block: usize,
    phase: &Phase,
    tally: &Tally,
    context: &Context,
) {
    if phase.wait_for_start() {
        let mut buffer = vec![0_u8; block];
        while !phase.is_closed() && context.check().is_ok() {
            match (&mut &**stream).read(&mut buffer) {
                Ok(0) => break,
                Ok(len) => {
                    if phase.is_running() {
                        add(&tally.bytes, len as u64);
                    } else {
                        add(&tally.uncounted, len as u64);
                    }
                    if context.spend(len as u64).is_err() {
                        break;
                    }
                }
                Err(error) if is_transient(&error) => {}
                Err(_) => break,
            }
        }
    }
    tally
        .cpu
        .store(clock::thread_cpu(), std::sync::atomic::Ordering::Relaxed);
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// A file in memory with the block, for sendfile(2).
fn memory_file(content: &[u8]) -> io::Result<OwnedFd> {
    let fd = rustix::fs::memfd_create("slowpath-block", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(fd);
    file.write_all(content)?;
    Ok(file.into())
}

/// Block number n of a stream at its own time: n x block / rate after the first.
#[derive(Debug)]
struct Pace {
    rate: BitRate,
    burst: u32,
    in_burst: u32,
    next: u64,
    carry: u64,
}

impl Pace {
    fn new(rate: BitRate, burst: u32) -> Self {
        Self {
            rate,
            burst: burst.max(1),
            in_burst: 0,
            next: clock::monotonic(),
            carry: 0,
        }
    }

    fn wait(&mut self, block: usize, phase: &Phase) {
        if self.in_burst == 0 {
            loop {
                let now = clock::monotonic();
                if now >= self.next || !phase.is_running() {
                    break;
                }
                clock::sleep_until(self.next.min(now + MAX_SLEEP));
            }
            // After a stall at most this much is caught up with.
            self.next = self.next.max(clock::monotonic().saturating_sub(MAX_CATCH_UP));
        }
        let (span, carry) = self.rate.time_for(block as u64, self.carry);
        self.carry = carry;
        self.next += Duration::nanos(span);
        self.in_burst = (self.in_burst + 1) % self.burst;
    }
}

/// How long a paced sender may be deaf to the end of the test.
const MAX_SLEEP: u64 = 50_000_000;
/// 100 ms: a TCP sender is held up by the network itself for that long.
const MAX_CATCH_UP: u64 = 100_000_000;

//! Traffic with one known limit: what the labelled captures' programs do on kernel hosts.
//!
//! A plan holds it as the words of a [`Command`](slowpath_scenario::workload::Command) job, `["bulk", JSON]`, so that
//! the plan is complete and its digest changes with the traffic.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use slowpath_sys::poll::PollSet;
use slowpath_units::{BitRate, ByteCount, Duration, Time};
use slowpath_workload::drain::{Drain, Drainer};
use slowpath_workload::stream::{self, Kind, Receiver, StreamConfig};
use slowpath_workload::{ConnectionLog, Context, Sampler, SocketError, SocketOptions};

/// What two hosts do with each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// One or more bulk transfers.
    Transfer(Transfer),
    /// A stream of datagrams that comes and goes.
    Datagrams {
        /// Rate on the IP layer while it is there.
        rate: BitRate,
        /// How long it is there.
        on: Duration,
        /// How long it is away.
        off: Duration,
    },
}

/// Bulk TCP connections from client to server; the first is the one that is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// How many connections.
    pub flows: u16,
    /// When the sender stops.
    pub duration: Duration,
    /// How much each connection sends, if it ends before.
    pub bytes: Option<u64>,
    /// How the sending program writes.
    pub writes: Writes,
    /// `SO_SNDBUF`.
    pub send_buffer: Option<ByteCount>,
    /// `SO_RCVBUF`.
    pub receive_buffer: Option<ByteCount>,
    /// How slowly the receiving program reads.
    pub drain: Option<Drain>,
    /// Whether the sender writes a short line and pauses before the bulk, as protocols with a greeting do.
    pub greeting: bool,
    /// Whether the sender sets `TCP_NODELAY`, as interactive programs do.
    pub no_delay: bool,
    /// Whether the sender waits for room inside of each write, as programs do that just write, and not before it, as those do
    /// that serve many connections. The kernel counts a full send buffer for the former alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocks: bool,
    /// How long the sender waits for its last acknowledgement once its time is over, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linger: Option<Duration>,
    /// How often the sending socket is looked at, if not as a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_every: Option<Duration>,
}

/// How a sending program writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// As much as the socket takes.
    Greedy,
    /// So many bytes, then a pause until the next are due.
    Bursts {
        /// Bytes at a time.
        bytes: u64,
        /// From one beginning to the next.
        every: Duration,
    },
    /// No more than the receiving program has asked for, as SSH channels do.
    Window {
        /// Bytes that may be on the way.
        bytes: u64,
    },
}

/// What the sender of a transfer knows at its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// When the connection stood.
    pub start: Time,
    /// When the last sample was taken.
    pub end: Time,
    /// Payload bytes given to the socket.
    pub written: u64,
    /// Time that the program spent in writing: waiting for room in the send buffer, nearly all of it.
    pub blocked: Duration,
    /// Time that the program spent waiting for the peer program's message.
    pub waited: Duration,
    /// Samples of the sending socket.
    pub log: ConnectionLog,
}

/// Why traffic could not flow.
#[derive(Debug, thiserror::Error)]
pub enum BulkError {
    /// A socket cannot be opened.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// A stream of datagrams cannot be sent.
    #[error(transparent)]
    Stream(#[from] stream::StreamError),
    /// A socket call failed.
    #[error("{doing} failed: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Traffic {
    /// The traffic as the words of a command.
    pub fn words(&self) -> [String; 2] {
        let text = serde_json::to_string(self).expect("traffic can always be written as JSON");
        [PROGRAM.to_owned(), text]
    }

    /// The traffic that the words of a command name, if they do.
    pub fn of(words: &[String]) -> Option<Self> {
        match words {
            [program, text] if program == PROGRAM => serde_json::from_str(text).ok(),
            _ => None,
        }
    }
}

/// Listens for the connections of `transfer`.
///
/// # Errors
/// [`BulkError::Socket`].
pub fn listen(transfer: &Transfer, at: SocketAddr) -> Result<TcpListener, BulkError> {
    let options = SocketOptions {
        receive_buffer: transfer.receive_buffer,
        ..SocketOptions::default()
    };
    Ok(options.listen(at, 64)?)
}

/// Takes all connections of `transfer` and reads them to their ends, each on a thread of its own.
pub fn receive(transfer: &Transfer, listener: &TcpListener, context: &Context) {
    std::thread::scope(|scope| {
        for _ in 0..transfer.flows {
            let stream = loop {
                match listener.accept() {
                    Ok((stream, _)) => break stream,
                    Err(_) if context.check().is_err() => return,
                    Err(_) => std::thread::sleep(std::time::Duration::from_millis(2)),
                }
            };
            scope.spawn(move || {
                // What goes wrong here shows in the sender's account.
                let _ = read_all(transfer, stream, context);
            });
        }
    });
}

fn read_all(transfer: &Transfer, mut stream: TcpStream, context: &Context) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Context::SLICE))?;
    let mut buffer = vec![0; 1 << 16];
    let mut drainer = transfer.drain.map(Drainer::new);
    let (mut read, mut told) = (0_u64, 0_u64);
    while context.check().is_ok() {
        let room = drainer
            .as_ref()
            .map_or(buffer.len(), |drainer| drainer.room().min(buffer.len()));
        let count = match stream.read(&mut buffer[..room]) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if is_timeout(&error) => continue,
            Err(error) => return Err(error),
        };
        read += count as u64;
        if let Some(until) = drainer
            .as_mut()
            .and_then(|drainer| drainer.take(count, context.now()))
        {
            let pause = until.since(context.now());
            if pause > Duration::ZERO && context.sleep(pause).is_err() {
                return Ok(());
            }
        }
        if let Writes::Window { bytes } = transfer.writes
            && read - told >= bytes / 4
        {
            told = read;
            let mut message = [0_u8; ADJUST];
            message[..8].copy_from_slice(&told.to_be_bytes());
            stream.write_all(&message)?;
        }
    }
    Ok(())
}

/// Opens one connection of `transfer` and sends as its program does.
///
/// # Errors
/// [`BulkError`]; what the peer or the path does is no error.
pub fn send(transfer: &Transfer, to: SocketAddr, context: &Context) -> Result<Sent, BulkError> {
    let options = SocketOptions {
        send_buffer: transfer.send_buffer,
        no_delay: transfer.no_delay,
        ..SocketOptions::default()
    };
    let stream = Arc::new(options.connect(to, context)?);
    let io = |doing| move |source| BulkError::Io { doing, source };
    stream
        .set_write_timeout(Some(Context::SLICE))
        .and_then(|()| stream.set_read_timeout(Some(Context::SLICE)))
        .map_err(io("setting timeouts of a bulk sender"))?;
    let sampler = Sampler::start(context, transfer.look_every.unwrap_or(SAMPLE_EVERY));
    let watched = sampler.watch("data", &stream, &options);
    let start = context.now();
    let mut writer = Writer {
        stream: &stream,
        context,
        end: start + transfer.duration,
        written: 0,
        asked: 0,
        blocks: transfer.blocks,
        blocked: Duration::ZERO,
        waited: Duration::ZERO,
        data: vec![0x5a; 1 << 16],
    };
    if transfer.greeting {
        writer.write(GREETING);
        let _ = context.sleep(GREETING_PAUSE);
    }
    let most = transfer.bytes.unwrap_or(u64::MAX);
    match transfer.writes {
        Writes::Greedy => {
            writer.write(most);
        }
        Writes::Bursts { bytes, every } => {
            let mut due = start;
            while writer.written < most && writer.write(bytes.min(most - writer.written)) {
                due += every;
                if due >= writer.end || context.sleep(due.since(context.now())).is_err() {
                    break;
                }
            }
        }
        Writes::Window { bytes } => while writer.room(bytes) && writer.write(bytes / 8) {},
    }
    let (written, blocked, waited) = (writer.written, writer.blocked, writer.waited);
    if transfer.bytes.is_some() {
        // A transfer that is all about its size ends with its last acknowledgement.
        while is_busy(&stream) && context.now() < start + transfer.duration {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    if let Some(most) = transfer.linger {
        let until = context.now() + most;
        while is_busy(&stream) && context.now() < until && context.check().is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    sampler.sample_now(watched);
    let end = context.now();
    let log = sampler.finish().swap_remove(0);
    let _ = stream.shutdown(Shutdown::Write);
    Ok(Sent {
        start,
        end,
        written,
        blocked,
        waited,
        log,
    })
}

/// Whether something is still to be sent or acknowledged.
fn is_busy(stream: &TcpStream) -> bool {
    slowpath_sys::tcp_info::tcp_info(stream).is_ok_and(|info| info.unacked > 0 || info.notsent_bytes > 0)
}

struct Writer<'a> {
    stream: &'a TcpStream,
    context: &'a Context,
    end: Time,
    written: u64,
    asked: u64,
    blocks: bool,
    blocked: Duration,
    waited: Duration,
    data: Vec<u8>,
}

impl Writer<'_> {
    /// Writes `bytes`; false when the time is over or the connection broken.
    fn write(&mut self, bytes: u64) -> bool {
        let mut left = bytes;
        while left > 0 {
            if self.context.now() >= self.end || self.context.check().is_err() {
                return false;
            }
            let size = usize::try_from(left).map_or(self.data.len(), |left| left.min(self.data.len()));
            let begun = self.context.now();
            let result = self
                .ready(begun)
                .and_then(|()| (&*self.stream).write(&self.data[..size]));
            self.blocked += self.context.now().since(begun);
            match result {
                Ok(count) => {
                    left -= count as u64;
                    self.written += count as u64;
                }
                Err(error) if is_timeout(&error) => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Makes ready for a write at `now`: one that takes as long as there is time, or one that finds room.
    fn ready(&self, now: Time) -> std::io::Result<()> {
        if self.blocks {
            let left = self.end.since(now).nanos().max(1_000_000);
            return self
                .stream
                .set_write_timeout(Some(std::time::Duration::from_nanos(left)));
        }
        self.writable()
    }

    /// Waits until the socket wakes its writers, an error of the kind `WouldBlock` if that takes long.
    ///
    /// A full socket takes a little more from whoever comes back after a timeout, long before it wakes those who wait:
    /// a program that only tried again would send by its own clock, as no program does that just writes.
    fn writable(&self) -> std::io::Result<()> {
        let mut set = PollSet::new();
        set.add_writable(self.stream.as_fd());
        let nanos = u64::try_from(Context::SLICE.as_nanos()).unwrap_or(u64::MAX);
        match set.wait(Some(nanos))? {
            0 => Err(ErrorKind::WouldBlock.into()),
            _ => Ok(()),
        }
    }

    /// Waits until an eighth of `window` may be written; false when the time is over or the connection broken.
    fn room(&mut self, window: u64) -> bool {
        while self.written + window / 8 > self.asked + window {
            if self.context.now() >= self.end || self.context.check().is_err() {
                return false;
            }
            let mut message = [0; ADJUST];
            let mut got = 0;
            let begun = self.context.now();
            while got < ADJUST {
                match (&*self.stream).read(&mut message[got..]) {
                    Ok(0) => return false,
                    Ok(count) => got += count,
                    Err(error) if is_timeout(&error) => {
                        if self.context.now() >= self.end {
                            return false;
                        }
                    }
                    Err(_) => return false,
                }
            }
            self.waited += self.context.now().since(begun);
            let mut number = [0; 8];
            number.copy_from_slice(&message[..8]);
            self.asked = u64::from_be_bytes(number);
        }
        true
    }
}

/// Sends datagrams that come and go until the context ends; `listen` is where they arrive.
///
/// # Errors
/// [`BulkError::Stream`].
pub fn datagrams(
    rate: BitRate,
    on: Duration,
    off: Duration,
    to: SocketAddr,
    context: &Context,
) -> Result<(), BulkError> {
    while context.check().is_ok() {
        stream::send(&StreamConfig::udp("cross", to, DATAGRAM, rate, on), context)?;
        if off > Duration::ZERO && context.sleep(off).is_err() {
            break;
        }
    }
    Ok(())
}

/// Takes the datagrams.
///
/// # Errors
/// [`BulkError::Stream`].
pub fn take_datagrams(at: SocketAddr, context: &Context) -> Result<Receiver, BulkError> {
    Ok(Receiver::start(Kind::Udp, at, context)?)
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// First word of the command.
const PROGRAM: &str = "bulk";

/// Bytes of a message that asks for more: a window adjustment of SSH with its padding and code.
const ADJUST: usize = 36;

/// Bytes of a greeting, and the pause behind it: longer than any round trip here.
const GREETING: u64 = 200;
const GREETING_PAUSE: Duration = Duration::from_millis(300);

/// Length of the cross traffic's IP packets.
const DATAGRAM: u32 = 1_200;

/// How often the sending socket is looked at.
const SAMPLE_EVERY: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(writes: Writes) -> Transfer {
        Transfer {
            flows: 1,
            duration: Duration::from_secs(5),
            bytes: Some(300_000),
            writes,
            send_buffer: None,
            receive_buffer: None,
            drain: None,
            greeting: true,
            no_delay: false,
            blocks: false,
            linger: None,
            look_every: None,
        }
    }

    #[test]
    fn words_come_back() {
        let traffic = Traffic::Transfer(transfer(Writes::Window { bytes: 65_536 }));
        assert_eq!(Traffic::of(&traffic.words()), Some(traffic));
        assert_eq!(Traffic::of(&["curl".to_owned(), "x".to_owned()]), None);
    }

    #[test]
    fn every_way_of_writing_delivers() {
        for writes in [
            Writes::Greedy,
            Writes::Bursts {
                bytes: 100_000,
                every: Duration::from_millis(20),
            },
            Writes::Window { bytes: 65_536 },
        ] {
            let transfer = transfer(writes);
            let context = Context::new().with_timeout(Duration::from_secs(20));
            let listener = listen(&transfer, "127.0.0.1:0".parse().unwrap()).unwrap();
            let to = listener.local_addr().unwrap();
            let sent = std::thread::scope(|scope| {
                scope.spawn(|| receive(&transfer, &listener, &context));
                send(&transfer, to, &context).unwrap()
            });
            assert!(sent.written >= 200_000, "{writes:?}: {}", sent.written);
            assert!(sent.log.samples.len() >= 2, "{writes:?}");
        }
    }
}

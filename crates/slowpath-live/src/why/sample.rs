//! What one look shows, as plain data: a connection, the tasks of a job.

use slowpath_sys::sock_diag::{BbrInfo, SocketMemory, TcpSocket};
use slowpath_sys::tcp_info::TcpInfo;

/// One connection at one instant.
#[derive(Debug, Clone, Default)]
pub struct ConnectionSample {
    /// Nanoseconds since the watch began.
    pub at: u64,
    /// The kernel's state of the connection.
    pub info: TcpInfo,
    /// Bytes received and not read by the program.
    pub receive_queue: u32,
    /// Bytes written by the program and not acknowledged.
    pub send_queue: u32,
    /// Buffer use; zeros where the kernel gave none.
    pub memory: SocketMemory,
    /// BBR's model of the path, where it is in use.
    pub bbr: Option<BbrInfo>,
}

impl ConnectionSample {
    /// Takes what the kernel told; `None` for sockets without a connection.
    pub fn new(at: u64, socket: &TcpSocket) -> Option<Self> {
        Some(Self {
            at,
            info: socket.info?,
            receive_queue: socket.receive_queue,
            send_queue: socket.send_queue,
            memory: socket.memory.unwrap_or_default(),
            bbr: socket.bbr,
        })
    }

    /// The connection as it was when it was made, after `after`; `None` where that was not before this look.
    ///
    /// A sender has been busy from its first data on, so the kernel's own count tells when that was.
    pub fn at_birth(&self, after: u64) -> Option<Self> {
        let micros = self.info.busy_time + 2 * u64::from(self.info.rtt.max(LEAST_RTT));
        let earliest = if self.info.bytes_acked > self.info.bytes_received {
            self.at.saturating_sub(micros * 1_000)
        } else {
            0
        };
        let at = earliest.max(after);
        let info = TcpInfo {
            bytes_acked: self.info.bytes_acked.min(1),
            bytes_received: 0,
            bytes_sent: 0,
            bytes_retrans: 0,
            busy_time: 0,
            rwnd_limited: 0,
            sndbuf_limited: 0,
            segs_out: 0,
            segs_in: 0,
            data_segs_out: 0,
            data_segs_in: 0,
            total_retrans: 0,
            dsack_dups: 0,
            reord_seen: 0,
            rcv_ooopack: 0,
            delivered: 0,
            delivered_ce: 0,
            ..self.info
        };
        (at < self.at).then(|| Self {
            at,
            info,
            ..self.clone()
        })
    }
}

/// Microseconds that a round trip is taken to be where none was measured.
const LEAST_RTT: u32 = 1_000;

/// What a sleeping thread waits in, as far as one may know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Reading a file or a device of blocks.
    ReadFile,
    /// Writing one.
    WriteFile,
    /// Reading from another program.
    ReadPipe,
    /// Writing to another program.
    WritePipe,
    /// Reading from or writing to a socket, or waiting for one of several descriptors.
    Descriptors,
    /// A pause of its own.
    Pause,
    /// The end of a child.
    Child,
    /// Anything else, or not to be known: a foreign process.
    Unknown,
}

/// One thread of the job at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSample {
    /// The process.
    pub process: u32,
    /// The thread.
    pub thread: u32,
    /// Name of the thread, usually the program's.
    pub name: String,
    /// State letter of `proc(5)`.
    pub state: char,
    /// Nanoseconds on a processor since it began.
    pub ran: u64,
    /// What it waits in, when it sleeps.
    pub wait: Wait,
}

/// The programs of a job at one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobSample {
    /// Nanoseconds since the watch began.
    pub at: u64,
    /// Every thread.
    pub tasks: Vec<TaskSample>,
    /// Microseconds that a processor quota held the job back, since the group began.
    pub throttled: u64,
    /// Whether a program has more to give than it is relieved of: it waits to write to another, or sleeps although a file is its input.
    pub supplied: bool,
    /// Whether a program sleeps for any of its descriptors, one of which is a pipe that it reads from: its standard input.
    pub piped: bool,
    /// Whether a program sleeps for any of its descriptors no longer than a timer lets it.
    pub timed: bool,
    /// Whether all of it was visible: own processes, whose system calls one may read.
    pub visible: bool,
}

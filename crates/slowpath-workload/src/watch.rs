//! Samples of `TCP_INFO` while a transfer runs.

use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use slowpath_packet::flow::{FlowKey, Protocol};
use slowpath_record::Series;
use slowpath_sys::tcp_info::{self, TcpInfo};
use slowpath_units::{Duration, Time};

use crate::context::Context;
use crate::socket::{SocketFacts, SocketOptions};

/// The part of `TCP_INFO` that tells what limits a connection, at one moment.
///
/// Times are microseconds, lengths bytes, counts since the connection began unless a field says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TcpSample {
    /// When the sample was taken.
    pub at: Time,
    /// Kernel state number: 1 is established.
    pub state: u8,
    /// Congestion state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub congestion_state: u8,
    /// Whether the newest delivery rate was limited by the application.
    pub application_limited: bool,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow-start threshold in segments; 2147483647 before the first loss.
    pub ssthresh: u32,
    /// Segment size for sending.
    pub mss: u32,
    /// Path MTU.
    pub path_mtu: u32,
    /// Smoothed round-trip time.
    pub rtt: u32,
    /// Its mean deviation.
    pub rtt_deviation: u32,
    /// Smallest round-trip time.
    pub min_rtt: u32,
    /// Round-trip time as the receiving side estimates it.
    pub receiver_rtt: u32,
    /// Segments retransmitted.
    pub retransmitted_segments: u32,
    /// Bytes sent, with retransmissions.
    pub bytes_sent: u64,
    /// Bytes retransmitted.
    pub bytes_retransmitted: u64,
    /// Bytes acknowledged by the peer: delivered to its kernel.
    pub bytes_acked: u64,
    /// Bytes received in order.
    pub bytes_received: u64,
    /// Bytes in the send queue not sent yet.
    pub not_sent: u32,
    /// Segments sent and not yet acknowledged.
    pub unacked: u32,
    /// Newest delivery rate in bytes per second.
    pub delivery_rate: u64,
    /// Pacing rate in bytes per second; all ones is unlimited.
    pub pacing_rate: u64,
    /// Time with unacknowledged or unsent data.
    pub busy: u64,
    /// Of it, time that the peer's window limited sending.
    pub receive_window_limited: u64,
    /// Of it, time that the own send buffer limited sending.
    pub send_buffer_limited: u64,
    /// Peer's advertised window after scaling.
    pub peer_window: u32,
    /// Own advertised window after scaling.
    pub own_window: u32,
    /// Out-of-order segments received.
    pub out_of_order_received: u32,
    /// Reordering events seen by the sender.
    pub reordering_seen: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
}

impl TcpSample {
    /// The sample for `info`, read at `at`.
    pub fn new(at: Time, info: &TcpInfo) -> Self {
        Self {
            at,
            state: info.state,
            congestion_state: info.ca_state,
            application_limited: info.delivery_rate_app_limited,
            cwnd: info.snd_cwnd,
            ssthresh: info.snd_ssthresh,
            mss: info.snd_mss,
            path_mtu: info.pmtu,
            rtt: info.rtt,
            rtt_deviation: info.rttvar,
            min_rtt: info.min_rtt,
            receiver_rtt: info.rcv_rtt,
            retransmitted_segments: info.total_retrans,
            bytes_sent: info.bytes_sent,
            bytes_retransmitted: info.bytes_retrans,
            bytes_acked: info.bytes_acked,
            bytes_received: info.bytes_received,
            not_sent: info.notsent_bytes,
            unacked: info.unacked,
            delivery_rate: info.delivery_rate,
            pacing_rate: info.pacing_rate,
            busy: info.busy_time,
            receive_window_limited: info.rwnd_limited,
            send_buffer_limited: info.sndbuf_limited,
            peer_window: info.snd_wnd,
            own_window: info.rcv_wnd,
            out_of_order_received: info.rcv_ooopack,
            reordering_seen: info.reord_seen,
            timeouts: u32::from(info.total_rto),
        }
    }
}

/// One connection's samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConnectionLog {
    /// What the connection carried, such as `data` or `stream 3`.
    pub name: String,
    /// The connection, from the local end to the peer.
    pub key: FlowKey,
    /// Options asked for and granted.
    pub facts: SocketFacts,
    /// Samples in time order; the last was taken at the end of the transfer.
    pub samples: Vec<TcpSample>,
}

impl ConnectionLog {
    /// The newest sample.
    pub fn last(&self) -> Option<&TcpSample> {
        self.samples.last()
    }

    /// The samples as time series for the run record, each name beginning with `prefix`.
    pub fn series(&self, prefix: &str) -> Vec<Series> {
        QUANTITIES
            .iter()
            .map(|(name, unit, value)| Series {
                name: format!("{prefix}/{name}"),
                unit: (*unit).to_owned(),
                points: self
                    .samples
                    .iter()
                    .map(|sample| (sample.at, value(sample)))
                    .collect(),
            })
            .collect()
    }
}

type Quantity = (&'static str, &'static str, fn(&TcpSample) -> f64);

/// Every series that [`ConnectionLog::series`] makes.
const QUANTITIES: &[Quantity] = &[
    ("cwnd", "byte", |s| f64::from(s.cwnd) * f64::from(s.mss)),
    ("rtt", "s", |s| f64::from(s.rtt) / 1e6),
    ("min-rtt", "s", |s| f64::from(s.min_rtt) / 1e6),
    ("delivery-rate", "byte/s", |s| s.delivery_rate as f64),
    ("bytes-acked", "byte", |s| s.bytes_acked as f64),
    ("bytes-received", "byte", |s| s.bytes_received as f64),
    ("bytes-retransmitted", "byte", |s| s.bytes_retransmitted as f64),
    ("not-sent", "byte", |s| f64::from(s.not_sent)),
    ("peer-window", "byte", |s| f64::from(s.peer_window)),
    ("own-window", "byte", |s| f64::from(s.own_window)),
    ("busy", "s", |s| s.busy as f64 / 1e6),
    ("receive-window-limited", "s", |s| {
        s.receive_window_limited as f64 / 1e6
    }),
    ("send-buffer-limited", "s", |s| s.send_buffer_limited as f64 / 1e6),
    ("application-limited", "flag", |s| {
        f64::from(u8::from(s.application_limited))
    }),
];

/// Samples connections from a thread of its own until it is finished.
///
/// It holds no connection open: a connection ends when the workload drops it.
#[derive(Debug)]
pub struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    context: Context,
    watched: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    finished: bool,
    connections: Vec<(Weak<TcpStream>, ConnectionLog)>,
}

/// Names a connection of a [`Sampler`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched(usize);

impl Sampler {
    /// Starts sampling every `interval`.
    pub fn start(context: &Context, interval: Duration) -> Self {
        let shared = Arc::new(Shared {
            context: context.clone(),
            watched: Mutex::default(),
            wake: Condvar::new(),
        });
        let thread = std::thread::Builder::new().name("tcp-info".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.run(interval.max(Duration::from_millis(1)))
        });
        // Without a thread there are still the samples at begin and end.
        Self {
            shared,
            thread: thread.ok(),
        }
    }

    /// Adds a connection, with a first sample now.
    pub fn watch(&self, name: &str, stream: &Arc<TcpStream>, options: &SocketOptions) -> Watched {
        let unknown = || std::net::SocketAddr::from(([0, 0, 0, 0], 0));
        let local = stream.local_addr().unwrap_or_else(|_| unknown());
        let remote = stream.peer_addr().unwrap_or_else(|_| unknown());
        let mut log = ConnectionLog {
            name: name.to_owned(),
            key: FlowKey::new(Protocol::TCP, local, remote),
            facts: options.facts(stream),
            samples: Vec::new(),
        };
        sample(&self.shared.context, stream, &mut log);
        let mut state = self.shared.lock();
        state.connections.push((Arc::downgrade(stream), log));
        Watched(state.connections.len() - 1)
    }

    /// Takes a sample of one connection now: call it at the end of a transfer, before closing.
    pub fn sample_now(&self, watched: Watched) {
        let mut state = self.shared.lock();
        if let Some((weak, log)) = state.connections.get_mut(watched.0)
            && let Some(stream) = weak.upgrade()
        {
            sample(&self.shared.context, &stream, log);
        }
    }

    /// Ends sampling and returns what was seen, in the order of [`Sampler::watch`].
    pub fn finish(mut self) -> Vec<ConnectionLog> {
        self.stop();
        let mut state = self.shared.lock();
        std::mem::take(&mut state.connections)
            .into_iter()
            .map(|(_, log)| log)
            .collect()
    }

    fn stop(&mut self) {
        self.shared.lock().finished = true;
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread only samples; if it panicked the samples up to then are still good.
            let _ = thread.join();
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, interval: Duration) {
        let mut state = self.lock();
        while !state.finished {
            let (guard, timeout) = self
                .wake
                .wait_timeout(state, interval.to_std())
                .unwrap_or_else(PoisonError::into_inner);
            state = guard;
            if timeout.timed_out() {
                for (weak, log) in &mut state.connections {
                    if let Some(stream) = weak.upgrade() {
                        sample(&self.context, &stream, log);
                    }
                }
            }
        }
    }
}

/// Waits until the peer has acknowledged everything that was sent, at most for `within`.
///
/// Only then are the counters of sent and retransmitted data complete. A raised cancel flag shortens the wait
/// to [`LAST_ACK`].
pub(crate) fn linger(stream: &TcpStream, within: Duration, context: &Context) {
    let begun = context.now();
    while let Ok(info) = tcp_info::tcp_info(stream) {
        let limit = if context.check().is_ok() {
            within
        } else {
            within.min(LAST_ACK)
        };
        if (info.unacked == 0 && info.notsent_bytes == 0) || context.now().since(begun) >= limit {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Long enough for the last acknowledgement on any path on Earth.
const LAST_ACK: Duration = Duration::from_secs(1);

fn sample(context: &Context, stream: &TcpStream, log: &mut ConnectionLog) {
    if let Ok(info) = tcp_info::tcp_info(stream) {
        log.samples.push(TcpSample::new(context.now(), &info));
    }
}

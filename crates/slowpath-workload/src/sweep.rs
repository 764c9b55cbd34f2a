//! Which marks survive a path, and how packets with each of them fare.
//!
//! A [`Reflector`] at the far end answers each probe with the mark that it arrived with, under the same mark. So
//! one table shows per code point: what was sent, what arrived there, what arrived back, loss each way and delay.
//! [`tcp`] adds whether a SYN with the mark arrives, and the rate of a connection under it.

pub mod tcp;

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use slowpath_packet::mark::{Dscp, Ecn};
use slowpath_sys::{clock, message, sockopt};
use slowpath_units::{BitRate, Duration};

use crate::context::Context;
use crate::socket::{self, SocketError, SocketOptions};
use crate::stream::StreamError;

/// Which probes to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepConfig {
    /// The reflector.
    pub to: SocketAddr,
    /// Code points, in the order in which each round sends them.
    pub marks: Vec<Dscp>,
    /// Probes with each mark.
    pub probes: u32,
    /// UDP payload bytes.
    pub size: usize,
    /// Rate of all probes together, counted in IP packets.
    pub rate: BitRate,
    /// How long to wait for the last answers.
    pub wait: Duration,
}

impl SweepConfig {
    /// A hundred small probes with each of the 64 code points.
    pub fn new(to: SocketAddr) -> Self {
        Self {
            to,
            marks: (0..64).filter_map(Dscp::new).collect(),
            probes: 100,
            size: 200,
            rate: BitRate::new(1_000_000),
            wait: Duration::from_secs(2),
        }
    }
}

/// One code point's fate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkResult {
    /// The mark that was sent.
    pub sent: Dscp,
    /// Probes sent.
    pub probes: u32,
    /// Probes that arrived at the reflector, as far as answers told.
    pub arrived: u32,
    /// Answers that arrived back.
    pub answers: u32,
    /// Type-of-service bytes on arrival at the reflector, with counts.
    pub seen_there: Vec<(u8, u32)>,
    /// Type-of-service bytes of the answers on arrival here, with counts.
    pub seen_back: Vec<(u8, u32)>,
    /// Smallest, median and largest round trip, less the time inside the reflector.
    pub rtt: Option<(Duration, Duration, Duration)>,
}

impl MarkResult {
    /// Share of the probes that did not arrive at the reflector.
    pub fn loss_there(&self) -> f64 {
        lost(self.probes, self.arrived)
    }

    /// Share of the answers that did not arrive back.
    pub fn loss_back(&self) -> f64 {
        lost(self.arrived, self.answers)
    }

    /// Whether every probe arrived at the reflector with the mark that was sent.
    pub fn survives(&self) -> bool {
        !self.seen_there.is_empty()
            && self
                .seen_there
                .iter()
                .all(|(tos, _)| Dscp::from_tos(*tos) == self.sent)
    }
}

fn lost(sent: u32, arrived: u32) -> f64 {
    if sent == 0 {
        0.0
    } else {
        f64::from(sent.saturating_sub(arrived)) / f64::from(sent)
    }
}

/// A probe's 32 bytes, and what the reflector adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Probe {
    session: u32,
    mark: u8,
    number: u32,
    sent: u64,
    /// In an answer: the mark on arrival, how many probes of this session and mark came so far, time inside.
    answer: Option<(u8, u32, u32)>,
}

impl Probe {
    fn write(&self, bytes: &mut [u8]) {
        bytes[..4].copy_from_slice(if self.answer.is_some() { ANSWER } else { QUESTION });
        bytes[4..8].copy_from_slice(&self.session.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.number.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.sent.to_be_bytes());
        let (tos, count, inside) = self.answer.unwrap_or_default();
        (bytes[20], bytes[21], bytes[22], bytes[23]) = (self.mark, tos, 0, 0);
        bytes[24..28].copy_from_slice(&count.to_be_bytes());
        bytes[28..32].copy_from_slice(&inside.to_be_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..PROBE)?;
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let is_answer = &bytes[..4] == ANSWER;
        (is_answer || &bytes[..4] == QUESTION).then(|| Self {
            session: word(4),
            mark: bytes[20] & 63,
            number: word(8),
            sent: u64::from(word(12)) << 32 | u64::from(word(16)),
            answer: is_answer.then(|| (bytes[21], word(24), word(28))),
        })
    }
}

/// Sends the probes and makes the table; run load at the same time to see the marks under load.
///
/// # Errors
/// No permission, a rate above the cap, no socket, or the context's end.
pub fn sweep(config: &SweepConfig, context: &Context) -> Result<Vec<MarkResult>, StreamError> {
    context.admit(config.to.ip())?;
    if let Some(cap) = context.permission().rate_cap(config.to.ip())
        && config.rate > cap
    {
        return Err(StreamError::Cap {
            asked: config.rate,
            cap,
        });
    }
    let io = |source| SocketError::io("sending probes to", config.to, source);
    let stopped = |stop| SocketError::stopped("sending probes", stop);
    let any = if config.to.is_ipv6() {
        SocketAddr::from(([0_u16; 8], 0))
    } else {
        SocketAddr::from(([0, 0, 0, 0], 0))
    };
    let socket = UdpSocket::bind(any).map_err(io)?;
    socket.connect(config.to).map_err(io)?;
    prepare(&socket, config.to.is_ipv6()).map_err(io)?;
    let size = config.size.max(PROBE);
    let header = if config.to.is_ipv6() { 48 } else { 28 };
    let (interval, _) = config.rate.time_for(size as u64 + header, 0);
    let mut collector = Collector {
        session: clock::monotonic() as u32 ^ std::process::id(),
        marks: config
            .marks
            .iter()
            .map(|mark| (mark.value(), Seen::default()))
            .collect(),
        buffer: vec![0; 65_536],
    };
    let mut bytes = vec![0_u8; size];
    let mut due = context.now();
    for number in 0..config.probes {
        // Marks take turns, so that all of them meet the same conditions.
        for mark in &config.marks {
            while context.now() < due {
                context.check().map_err(stopped)?;
                collector.take(&socket, due.since(context.now()), context);
            }
            due += interval;
            socket::set_tos(&socket, config.to, mark.tos(Ecn::NotEct)).map_err(io)?;
            let probe = Probe {
                session: collector.session,
                mark: mark.value(),
                number,
                sent: clock::real_time(),
                answer: None,
            };
            probe.write(&mut bytes);
            context.spend(size as u64).map_err(stopped)?;
            // A refusal of an earlier probe: the reflector is not there, which the table shows.
            let _ = socket.send(&bytes);
        }
    }
    let end = context.now() + config.wait;
    let expected = config.probes as usize * config.marks.len();
    while context.now() < end && collector.answers() < expected {
        context.check().map_err(stopped)?;
        collector.take(&socket, end.since(context.now()), context);
    }
    Ok(config
        .marks
        .iter()
        .map(|mark| collector.result(*mark, config.probes))
        .collect())
}

#[derive(Debug, Default)]
struct Seen {
    arrived: u32,
    rtts: Vec<Duration>,
    there: BTreeMap<u8, u32>,
    back: BTreeMap<u8, u32>,
}

struct Collector {
    session: u32,
    marks: BTreeMap<u8, Seen>,
    buffer: Vec<u8>,
}

impl Collector {
    fn answers(&self) -> usize {
        self.marks.values().map(|seen| seen.rtts.len()).sum()
    }

    fn take(&mut self, socket: &UdpSocket, within: Duration, context: &Context) {
        let wait = within
            .to_std()
            .min(context.slice())
            .max(std::time::Duration::from_micros(10));
        if socket.set_read_timeout(Some(wait)).is_err() {
            return;
        }
        let Ok(received) = message::receive(socket, &mut self.buffer) else {
            return;
        };
        let Some(probe) = Probe::read(&self.buffer[..received.len]) else {
            return;
        };
        let (Some((tos, count, inside)), true) = (probe.answer, probe.session == self.session) else {
            return;
        };
        if let Some(seen) = self.marks.get_mut(&probe.mark) {
            let now = received.timestamp.unwrap_or_else(clock::real_time);
            let rtt = now.saturating_sub(probe.sent).saturating_sub(u64::from(inside));
            seen.rtts.push(Duration::from_nanos(rtt));
            seen.arrived = seen.arrived.max(count);
            *seen.there.entry(tos).or_default() += 1;
            if let Some(back) = received.tos {
                *seen.back.entry(back).or_default() += 1;
            }
        }
    }

    fn result(&mut self, sent: Dscp, probes: u32) -> MarkResult {
        let mut seen = self.marks.remove(&sent.value()).unwrap_or_default();
        seen.rtts.sort_unstable();
        let rtt = match (
            seen.rtts.first(),
            seen.rtts.get(seen.rtts.len() / 2),
            seen.rtts.last(),
        ) {
            (Some(first), Some(middle), Some(last)) => Some((*first, *middle, *last)),
            _ => None,
        };
        MarkResult {
            sent,
            probes,
            arrived: seen.arrived.min(probes),
            answers: u32::try_from(seen.rtts.len()).unwrap_or(u32::MAX),
            seen_there: seen.there.into_iter().collect(),
            seen_back: seen.back.into_iter().collect(),
            rtt,
        }
    }
}

fn prepare(socket: &UdpSocket, v6: bool) -> std::io::Result<()> {
    sockopt::set_receive_timestamps(socket, 1)?;
    // What a socket drops while its thread does not run would look like loss on the path.
    sockopt::set_receive_buffer(socket, RECEIVE_BUFFER)?;
    if v6 {
        sockopt::set_receive_traffic_class(socket, 1)
    } else {
        sockopt::set_receive_tos(socket, 1)
    }
}

/// Answers the probes of [`sweep`], with an answer never longer than its probe, and counts the bytes of
/// [`tcp::tcp_sweep`].
#[derive(Debug)]
pub struct Reflector {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Reflector {
    /// Answers UDP and TCP on `at` from threads of its own; port 0 takes a free one.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub fn start(at: SocketAddr, context: &Context) -> Result<Self, SocketError> {
        let io = |source| SocketError::io("answering probes on", at, source);
        let (listener, socket, address) = SocketOptions::default().listen_both(at, 64, UdpSocket::bind)?;
        tcp::keep_syns(&listener).map_err(io)?;
        prepare(&socket, at.is_ipv6()).map_err(io)?;
        socket.set_read_timeout(Some(Context::SLICE)).map_err(io)?;
        let stop = Arc::new(AtomicBool::new(false));
        let probes = std::thread::Builder::new().name("reflector".to_owned()).spawn({
            let (stop, context) = (Arc::clone(&stop), context.clone());
            move || reflect(&socket, &stop, &context)
        });
        let mut reflector = Self {
            address,
            stop: Arc::clone(&stop),
            threads: vec![probes.map_err(io)?],
        };
        let context = context.clone();
        let connections = std::thread::Builder::new()
            .name("reflector-tcp".to_owned())
            .spawn(move || tcp::serve(&listener, address, &stop, &context));
        reflector.threads.push(connections.map_err(io)?);
        Ok(reflector)
    }

    /// The address that it answers on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Reflector {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic in it has already ended its half of the reflector.
            let _ = thread.join();
        }
    }
}

fn reflect(socket: &UdpSocket, stop: &AtomicBool, context: &Context) {
    let mut buffer = vec![0_u8; 65_536];
    let mut counts: BTreeMap<(SocketAddr, u32, u8), u32> = BTreeMap::new();
    let mut mark = None;
    while !stop.load(Ordering::Relaxed) && context.check().is_ok() {
        let Ok(received) = message::receive(socket, &mut buffer) else {
            continue;
        };
        let (Some(mut probe), Some(from)) = (Probe::read(&buffer[..received.len]), received.from) else {
            continue;
        };
        if probe.answer.is_some() || !context.serves(from.ip()) {
            continue;
        }
        // Old sessions make room for new ones; their counts begin again, which shows as loss to them alone.
        if counts.len() >= MOST_COUNTS {
            counts.clear();
        }
        let count = counts.entry((from, probe.session, probe.mark)).or_default();
        *count += 1;
        let arrival = received.timestamp.unwrap_or_else(clock::real_time);
        if mark != Some(probe.mark) {
            let answer = probe.mark << 2;
            if socket::set_tos(socket, from, answer).is_ok() {
                mark = Some(probe.mark);
            }
        }
        let inside = u32::try_from(clock::real_time().saturating_sub(arrival)).unwrap_or(u32::MAX);
        probe.answer = Some((received.tos.unwrap_or(0), *count, inside));
        probe.write(&mut buffer);
        let _ = socket.send_to(&buffer[..received.len], from);
    }
}

const QUESTION: &[u8; 4] = b"SPq1";
const ANSWER: &[u8; 4] = b"SPa1";
const PROBE: usize = 32;
const RECEIVE_BUFFER: i32 = 4 << 20;
const MOST_COUNTS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_marks_survive_on_loopback() {
        let context = Context::new().with_timeout(Duration::from_secs(30));
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(reflector) = Reflector::start(at.parse().unwrap(), &context) else {
                eprintln!("skipped: all_marks_survive_on_loopback/{at}: no such address");
                continue;
            };
            let mut config = SweepConfig::new(reflector.address());
            (config.probes, config.rate) = (3, BitRate::new(20_000_000));
            let table = sweep(&config, &context).unwrap();
            assert_eq!(table.len(), 64);
            for row in table {
                assert_eq!((row.probes, row.arrived, row.answers), (3, 3, 3), "{row:?}");
                assert!(row.survives(), "{row:?}");
                assert_eq!(row.seen_back, [(row.sent.value() << 2, 3)], "{row:?}");
                assert!(row.rtt.is_some());
            }
        }
    }

    #[test]
    fn a_reflector_that_is_not_there_is_loss() {
        let context = Context::new().with_timeout(Duration::from_secs(30));
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut config = SweepConfig::new(port);
        (config.marks, config.probes, config.wait) = (vec![Dscp::CS1], 2, Duration::from_millis(50));
        let table = sweep(&config, &context).unwrap();
        assert!((table[0].loss_there() - 1.0).abs() < 1e-9 && !table[0].survives());
    }

    #[test]
    fn probes_survive_their_own_form_and_nothing_else_panics() {
        let probe = Probe {
            session: 7,
            mark: 46,
            number: 9,
            sent: u64::MAX - 3,
            answer: Some((0xb8, 5, 77)),
        };
        let mut bytes = [0_u8; PROBE];
        probe.write(&mut bytes);
        assert_eq!(Probe::read(&bytes), Some(probe));
        for len in 0..PROBE {
            assert_eq!(Probe::read(&bytes[..len]), None);
        }
        for at in 0..PROBE {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut mutated = bytes;
                mutated[at] = byte;
                let _ = Probe::read(&mutated);
            }
        }
    }
}

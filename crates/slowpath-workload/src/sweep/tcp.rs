//! TCP under each mark: does the SYN arrive, with which mark, and what rate does a short connection reach.
//!
//! The [`Reflector`](super::Reflector)'s TCP side keeps the SYN of each connection (`TCP_SAVE_SYN`), counts what comes
//! up to the end of the stream, and answers with both.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use slowpath_packet::mark::Dscp;
use slowpath_sys::{sockopt, tcp_info};
use slowpath_units::Duration;

use crate::context::{Cancel, Context};
use crate::socket::{self, SocketError, SocketOptions};
use crate::stream::StreamError;
use crate::watch::TcpSample;

/// Which connections to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpConfig {
    /// The reflector.
    pub to: SocketAddr,
    /// Code points, one connection after the other.
    pub marks: Vec<Dscp>,
    /// How long each connection sends.
    pub span: Duration,
    /// How long a handshake may take before it counts as failed.
    pub patience: Duration,
    /// Options of the connections; the mark is set for each.
    pub socket: SocketOptions,
}

impl TcpConfig {
    /// A fifth of a second with each of the 64 code points.
    pub fn new(to: SocketAddr) -> Self {
        Self {
            to,
            marks: (0..64).filter_map(Dscp::new).collect(),
            span: Duration::from_millis(200),
            patience: Duration::from_secs(4),
            socket: SocketOptions::default(),
        }
    }
}

/// One code point's connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TcpMarkResult {
    /// The mark of every packet, the SYN first.
    pub sent: Dscp,
    /// Type-of-service byte of the SYN on arrival at the reflector.
    pub syn_seen: Option<u8>,
    /// Time of the handshake.
    pub connect: Option<Duration>,
    /// Bytes that the reflector read.
    pub bytes: u64,
    /// Bytes per second that the reflector read, from the first to the last of them.
    pub byte_per_s: f64,
    /// State of the connection when the last byte had been given to the socket.
    pub last: Option<TcpSample>,
    /// What went wrong.
    pub error: Option<String>,
}

impl TcpMarkResult {
    /// Whether the SYN arrived with the mark that was sent.
    pub fn syn_survives(&self) -> bool {
        self.syn_seen.is_some_and(|tos| Dscp::from_tos(tos) == self.sent)
    }
}

/// Makes a connection with each mark and sends as fast as it goes.
///
/// # Errors
/// No permission, or the context's end, the used-up cap included. A mark whose connection fails is a result.
pub fn tcp_sweep(config: &TcpConfig, context: &Context) -> Result<Vec<TcpMarkResult>, StreamError> {
    context.admit(config.to.ip())?;
    let mut results = Vec::with_capacity(config.marks.len());
    let stopped = |stop| SocketError::stopped("trying every mark", stop);
    for mark in &config.marks {
        context.may_load().map_err(stopped)?;
        let mut result = TcpMarkResult {
            sent: *mark,
            syn_seen: None,
            connect: None,
            bytes: 0,
            byte_per_s: 0.0,
            last: None,
            error: None,
        };
        if let Err(error) = one(config, *mark, context, &mut result) {
            // One connection's patience may have ended, which is a result, or the sweep.
            context.may_load().map_err(stopped)?;
            result.error = Some(error.to_string());
        }
        results.push(result);
    }
    Ok(results)
}

fn one(
    config: &TcpConfig,
    mark: Dscp,
    context: &Context,
    result: &mut TcpMarkResult,
) -> Result<(), SocketError> {
    let options = SocketOptions {
        dscp: Some(mark),
        ..config.socket.clone()
    };
    let within = |span: Duration| context.clone().within(span);
    let begun = Instant::now();
    let stream = options.connect(config.to, &within(config.patience))?;
    result.connect = Some(begun.elapsed().into());
    let doing = "sending to";
    socket::write_all(&stream, HELLO, doing, context)?;
    let block = vec![0x5a_u8; BLOCK];
    let end = Instant::now() + config.span.to_std();
    while Instant::now() < end {
        let count = socket::write(&stream, &block, doing, &within(config.patience))?;
        context
            .spend(count as u64)
            .map_err(|stop| SocketError::stopped(doing, stop))?;
    }
    let io = |source| SocketError::io("ending the data to", config.to, source);
    stream.shutdown(std::net::Shutdown::Write).map_err(io)?;
    result.last = tcp_info::tcp_info(&stream)
        .ok()
        .map(|info| TcpSample::new(context.now(), &info));
    let mut answer = [0_u8; ANSWER_LEN];
    let mut filled = 0;
    // What fills the send buffer must drain first.
    let patience = within(Duration::from_secs(30));
    while filled < ANSWER_LEN {
        let len = socket::read(
            &stream,
            &mut answer[filled..],
            "waiting for the account of",
            &patience,
        )?;
        if len == 0 {
            return Err(SocketError::io(
                "reading the account of",
                config.to,
                std::io::ErrorKind::UnexpectedEof.into(),
            ));
        }
        filled += len;
    }
    if &answer[..4] != ACCOUNT {
        let what = std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            "this is no sweep reflector; start `slowpath serve` there",
        );
        return Err(SocketError::io("reading the account of", config.to, what));
    }
    let word = |at: usize| {
        answer[at..at + 8]
            .iter()
            .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    result.syn_seen = (answer[4] == 1).then_some(answer[5]);
    result.bytes = word(8);
    let nanos = word(16);
    result.byte_per_s = if nanos > 0 {
        result.bytes as f64 * 1e9 / nanos as f64
    } else {
        0.0
    };
    Ok(())
}

/// Load of one unmarked connection until `stop` is raised; bytes that the reflector read, and their rate.
///
/// # Errors
/// No permission, or no connection.
pub fn load(to: SocketAddr, stop: &Cancel, context: &Context) -> Result<(u64, f64), StreamError> {
    context.admit(to.ip())?;
    let doing = "loading the way to";
    let stream = SocketOptions::default().connect(to, &context.clone().within(Duration::from_secs(10)))?;
    socket::write_all(&stream, HELLO, doing, context)?;
    let block = vec![0x5a_u8; BLOCK];
    let begun = Instant::now();
    let mut bytes = 0;
    while !stop.is_cancelled() {
        let count = socket::write(&stream, &block, doing, context)?;
        context
            .spend(count as u64)
            .map_err(|stop| SocketError::stopped(doing, stop))?;
        bytes += count as u64;
    }
    let acked = tcp_info::tcp_info(&stream).map_or(bytes, |info| info.bytes_acked);
    Ok((acked, acked as f64 / begun.elapsed().as_secs_f64().max(1e-9)))
}

/// Serves connections until `stop` is raised.
pub(super) fn serve(listener: &TcpListener, address: SocketAddr, stop: &Arc<AtomicBool>, context: &Context) {
    let busy = Arc::new(AtomicUsize::new(0));
    while !stop.load(Ordering::Relaxed) && context.check().is_ok() {
        let slice = context.clone().within(Duration::from_millis(200));
        let Ok((stream, _)) = socket::accept(listener, address, &slice) else {
            continue;
        };
        if busy.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            busy.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (own, stop, context) = (Arc::clone(&busy), Arc::clone(stop), context.clone());
        let served = std::thread::Builder::new()
            .name("reflector-tcp".to_owned())
            .spawn(move || {
                // A client that is gone: nobody is left to be told.
                let _ = answer(&stream, &stop, &context);
                own.fetch_sub(1, Ordering::Relaxed);
            });
        if served.is_err() {
            busy.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Asks the kernel to keep the SYN of every connection that is accepted.
pub(super) fn keep_syns(listener: &TcpListener) -> std::io::Result<()> {
    sockopt::set_bytes(listener.as_fd(), IPPROTO_TCP, TCP_SAVE_SYN, &1_i32.to_ne_bytes())
}

fn answer(stream: &TcpStream, stop: &AtomicBool, context: &Context) -> Result<(), SocketError> {
    let doing = "serving a sweep from";
    let patience = context.clone().within(LONGEST);
    let syn = syn_mark(stream);
    let mut buffer = vec![0_u8; BLOCK];
    let (mut bytes, mut first, mut last) = (0_u64, None, Instant::now());
    let mut hello = [0_u8; HELLO.len()];
    let mut greeted = 0;
    while greeted < hello.len() {
        match socket::read(stream, &mut hello[greeted..], doing, &patience)? {
            0 => return Ok(()),
            len => greeted += len,
        }
    }
    if &hello != HELLO {
        return Ok(());
    }
    while !stop.load(Ordering::Relaxed) {
        match socket::read(stream, &mut buffer, doing, &patience)? {
            0 => break,
            len => {
                bytes += len as u64;
                last = Instant::now();
                first.get_or_insert(last);
            }
        }
    }
    let span = first.map_or(0, |first| last.duration_since(first).as_nanos() as u64);
    let mut account = [0_u8; ANSWER_LEN];
    account[..4].copy_from_slice(ACCOUNT);
    (account[4], account[5]) = (u8::from(syn.is_some()), syn.unwrap_or(0));
    account[8..16].copy_from_slice(&bytes.to_be_bytes());
    account[16..24].copy_from_slice(&span.to_be_bytes());
    (&mut &*stream)
        .write_all(&account)
        .map_err(|source| SocketError::io(doing, socket::peer(stream), source))
}

/// The type-of-service byte or traffic class of the SYN that began a connection.
fn syn_mark(stream: &TcpStream) -> Option<u8> {
    let mut header = [0_u8; 256];
    let len = sockopt::get_bytes(stream.as_fd(), IPPROTO_TCP, TCP_SAVED_SYN, &mut header).ok()?;
    match (len, header[0] >> 4) {
        (20.., 4) => Some(header[1]),
        (40.., 6) => Some(header[0] << 4 | header[1] >> 4),
        _ => None,
    }
}

/// `include/uapi/linux/in.h`.
const IPPROTO_TCP: i32 = 6;
/// `include/uapi/linux/tcp.h`.
const TCP_SAVE_SYN: i32 = 27;
const TCP_SAVED_SYN: i32 = 28;
const HELLO: &[u8; 4] = b"SPt1";
const ACCOUNT: &[u8; 4] = b"SPr1";
const ANSWER_LEN: usize = 24;
const BLOCK: usize = 128 * 1024;
const MOST_CONNECTIONS: usize = 64;
/// A connection that lasts longer is given up.
const LONGEST: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use slowpath_units::{BitRate, ByteCount};

    use super::super::{Reflector, SweepConfig, sweep};
    use super::*;
    use crate::guard::{Network, Permission};

    #[test]
    fn every_syn_arrives_with_its_mark_on_loopback() {
        let context = Context::new().with_timeout(Duration::from_secs(60));
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(reflector) = Reflector::start(at.parse().unwrap(), &context) else {
                eprintln!("skipped: every_syn_arrives_with_its_mark_on_loopback/{at}: no such address");
                continue;
            };
            let mut config = TcpConfig::new(reflector.address());
            config.span = Duration::from_millis(2);
            let table = tcp_sweep(&config, &context).unwrap();
            assert_eq!(table.len(), 64);
            for row in table {
                assert_eq!(row.error, None, "{row:?}");
                assert!(
                    row.syn_survives() && row.bytes > 0 && row.connect.is_some(),
                    "{row:?}"
                );
            }
        }
    }

    #[test]
    fn a_closed_port_is_a_result() {
        let context = Context::new().with_timeout(Duration::from_secs(60));
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut config = TcpConfig::new(address);
        config.marks = vec![Dscp::CS1];
        let table = tcp_sweep(&config, &context).unwrap();
        assert!(table[0].error.as_ref().unwrap().contains("refused"), "{table:?}");
        assert!(!table[0].syn_survives());
    }

    #[test]
    fn the_cap_ends_the_sweep_and_not_just_one_mark() {
        let cap = 300_000;
        let context = Context::new()
            .with_timeout(Duration::from_secs(60))
            .with_permission(Permission::Remote {
                bytes: ByteCount::new(cap),
                rate: BitRate::new(1_000_000_000),
            });
        let server = Context::new().with_timeout(Duration::from_secs(60));
        let reflector = Reflector::start("127.0.0.1:0".parse().unwrap(), &server).unwrap();
        let mut config = TcpConfig::new(reflector.address());
        config.span = Duration::from_secs(10);
        let error = tcp_sweep(&config, &context).unwrap_err();
        assert!(error.to_string().contains("cap of 300000 bytes"), "{error}");
        assert!(context.spent() <= cap + BLOCK as u64, "{}", context.spent());
        // Nothing more is sent under this context, not even by a sweep that begins anew.
        let spent = context.spent();
        assert!(tcp_sweep(&config, &context).is_err());
        assert_eq!(context.spent(), spent);
    }

    #[test]
    fn strangers_get_no_answer() {
        let context = Context::new().with_timeout(Duration::from_secs(60));
        let server = context.clone().with_clients(vec![Network {
            address: "192.0.2.0".parse().unwrap(),
            prefix: 24,
        }]);
        let reflector = Reflector::start("127.0.0.1:0".parse().unwrap(), &server).unwrap();
        let mut config = TcpConfig::new(reflector.address());
        (config.marks, config.span) = (vec![Dscp::CS1], Duration::from_millis(2));
        let table = tcp_sweep(&config, &context).unwrap();
        assert!(table[0].error.is_some() && table[0].bytes == 0, "{table:?}");
        let mut config = SweepConfig::new(reflector.address());
        (config.marks, config.probes, config.wait) = (vec![Dscp::CS1], 2, Duration::from_millis(100));
        assert_eq!(sweep(&config, &context).unwrap()[0].answers, 0);
    }

    #[test]
    fn load_counts_what_arrived() {
        let context = Context::new().with_timeout(Duration::from_secs(60));
        let reflector = Reflector::start("127.0.0.1:0".parse().unwrap(), &context).unwrap();
        let stop = Cancel::new();
        let (bytes, rate) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| load(reflector.address(), &stop, &context));
            std::thread::sleep(std::time::Duration::from_millis(100));
            stop.cancel();
            thread.join().unwrap().unwrap()
        });
        assert!(bytes > 0 && rate > 0.0);
    }
}

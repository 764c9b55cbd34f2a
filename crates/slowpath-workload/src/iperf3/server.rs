//! Several clients at a time, with limits.
//!
//! One thread accepts, reads cookies without ever blocking on one client, and hands streams to their tests; each
//! test has a thread of its own, and one for every stream.

use std::collections::HashMap;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use slowpath_sys::poll::PollSet;
use slowpath_sys::{clock, sockopt};
use slowpath_units::{BitRate, Duration};

use super::client::{UDP_REPLY, prepare_udp};
use super::clockwork::{Clockwork, EndBy, Link, Setup};
use super::params::{Pacing, Params, Transport};
use super::report::{Report, Side};
use super::results::{self, Account};
use super::wire::{COOKIE_LEN, Control, Cookie, IperfError, State};
use crate::context::{Cancel, Context};
use crate::service::Service;
use crate::socket::{self, SocketError, SocketOptions};
use crate::watch::Sampler;

/// How a server listens and what it allows.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Address for TCP and UDP; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What clients may ask for.
    pub limits: Limits,
    /// Options of the listening socket, which accepted ones inherit from the SYN-ACK on. What a client asks for
    /// is set on its connections after that.
    pub options: SocketOptions,
    /// How a UDP sender on this side spaces its datagrams.
    pub pacing: Pacing,
    /// Length of the intervals in reports.
    pub interval: Duration,
    /// How often `TCP_INFO` is sampled.
    pub sample_every: Duration,
}

/// What clients may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Tests at a time; more are told that the server is busy.
    pub tests: usize,
    /// Streams of one test, both directions together.
    pub streams: u32,
    /// Longest test, with the omitted time.
    pub duration: Duration,
    /// Highest rate of one test, all streams together.
    pub rate: Option<BitRate>,
    /// Connections that have not said yet what they are; the oldest is dropped for a newer one.
    pub pending: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tests: 8,
            streams: 256,
            duration: Duration::from_secs(3600),
            rate: None,
            pending: 256,
        }
    }
}

/// A test that has ended, well or not.
#[derive(Debug)]
pub struct TestRecord {
    /// The client.
    pub client: SocketAddr,
    /// What came of it.
    pub outcome: Result<Report, IperfError>,
}

/// A server that runs until it is stopped or its context ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    service: Service,
}

#[derive(Debug)]
struct Shared {
    config: ServerConfig,
    context: Context,
    waiting: Mutex<HashMap<Cookie, Waiting>>,
    records: Mutex<Vec<TestRecord>>,
}

/// A test that is there, and what it takes.
#[derive(Debug)]
struct Waiting {
    sender: Sender<Arrival>,
    peer: IpAddr,
    /// UDP streams that it still wants; of the tests of one address only one wants any.
    udp_wanted: u32,
}

#[derive(Debug)]
enum Arrival {
    /// A data connection, with the number under which it was accepted.
    Tcp(u64, TcpStream),
    Udp(UdpSocket),
}

impl ServerConfig {
    /// A server at `listen` with the default limits.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            limits: Limits::default(),
            options: SocketOptions {
                no_delay: true,
                ..SocketOptions::default()
            },
            pacing: Pacing::default(),
            interval: Duration::from_secs(1),
            sample_every: Duration::from_millis(100),
        }
    }
}

impl Server {
    /// Listens and serves from threads of its own, which live in the caller's network namespace.
    ///
    /// # Errors
    /// The address cannot be listened on, or no thread can be started.
    pub fn start(config: ServerConfig, context: &Context) -> Result<Self, SocketError> {
        let (listener, udp, address) = config.options.listen_both(config.listen, 512, open_udp)?;
        let cancel = Cancel::new();
        // Either flag stops the server; sessions look at its own, which follows the run's.
        let own = context.clone().with_cancel(cancel.clone());
        let shared = Arc::new(Shared {
            config,
            context: own,
            waiting: Mutex::default(),
            records: Mutex::default(),
        });
        let run = context.clone();
        let service = Service::spawn("iperf3-server", cancel, {
            let shared = Arc::clone(&shared);
            move || Door::new(&shared, listener, udp).keep(&run)
        })
        .map_err(|source| SocketError::io("starting a thread to listen on", address, source))?;
        Ok(Self {
            address,
            shared,
            service,
        })
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes the records of the tests that have ended so far.
    pub fn take_records(&self) -> Vec<TestRecord> {
        std::mem::take(&mut lock(&self.shared.records))
    }

    /// Ends all tests and returns the records that were not taken yet.
    pub fn stop(mut self) -> Vec<TestRecord> {
        self.service.end();
        self.take_records()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A UDP socket that shares its address with others; a connected one gets its peer's datagrams.
fn open_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let domain = socket2::Domain::for_address(address);
    let socket = socket2::Socket::new(domain, socket2::Type::DGRAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// A connection whose cookie has not arrived in full.
#[derive(Debug)]
struct Pending {
    stream: TcpStream,
    peer: SocketAddr,
    number: u64,
    cookie: [u8; COOKIE_LEN],
    filled: usize,
    since: Instant,
}

/// The accepting thread.
struct Door<'a> {
    shared: &'a Arc<Shared>,
    listener: Arc<TcpListener>,
    udp: UdpSocket,
    pending: Vec<Pending>,
    tests: Vec<JoinHandle<()>>,
    accepted: u64,
}

impl<'a> Door<'a> {
    fn new(shared: &'a Arc<Shared>, listener: TcpListener, udp: UdpSocket) -> Self {
        Self {
            shared,
            listener: Arc::new(listener),
            udp,
            pending: Vec::new(),
            tests: Vec::new(),
            accepted: 0,
        }
    }

    fn keep(mut self, run: &Context) {
        while run.check().is_ok() && self.shared.context.check().is_ok() {
            let mut set = PollSet::new();
            set.add_readable(self.listener.as_fd());
            set.add_readable(self.udp.as_fd());
            for pending in &self.pending {
                set.add_readable(pending.stream.as_fd());
            }
            if set.wait(Some(TICK)).is_err() {
                std::thread::sleep(Context::SLICE);
                continue;
            }
            let ready: Vec<bool> = (0..self.pending.len())
                .map(|index| set.is_ready(index + 2))
                .collect();
            self.read_cookies(&ready);
            if set.is_ready(1) {
                self.take_udp();
            }
            if set.is_ready(0) {
                self.accept();
            }
            self.tests.retain(|test| !test.is_finished());
        }
        self.shared.context.cancel().cancel();
        for test in self.tests {
            let _ = test.join();
        }
    }

    fn accept(&mut self) {
        // A bounded number at a time, so that cookies and UDP are read in between.
        for _ in 0..64 {
            let Ok((stream, peer)) = self.listener.accept() else {
                return;
            };
            self.accepted += 1;
            if !self.shared.context.serves(peer.ip()) || stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.pending.len() >= self.shared.config.limits.pending.max(1) {
                self.pending.remove(0);
            }
            self.pending.push(Pending {
                stream,
                peer,
                number: self.accepted,
                cookie: [0; COOKIE_LEN],
                filled: 0,
                since: Instant::now(),
            });
        }
    }

    fn read_cookies(&mut self, ready: &[bool]) {
        let mut kept = Vec::with_capacity(self.pending.len());
        for (index, mut pending) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            if ready.get(index).copied().unwrap_or(false) {
                match pending.read() {
                    Ok(true) => self.admit(pending),
                    Ok(false) => kept.push(pending),
                    Err(_) => {}
                }
            } else if pending.since.elapsed() < COOKIE_WAIT {
                kept.push(pending);
            }
        }
        self.pending = kept;
    }

    /// Hands a connection to its test, or makes a test of it.
    fn admit(&mut self, pending: Pending) {
        let cookie = Cookie(pending.cookie);
        if pending.stream.set_nonblocking(false).is_err() {
            return;
        }
        if let Some(waiting) = lock(&self.shared.waiting).get(&cookie) {
            // A test that has just ended takes no more streams.
            let _ = waiting.sender.send(Arrival::Tcp(pending.number, pending.stream));
            return;
        }
        let control = Control {
            stream: Arc::new(pending.stream),
        };
        if self.tests.len() >= self.shared.config.limits.tests {
            let brief = self
                .shared
                .context
                .clone()
                .with_timeout(Duration::from_millis(10));
            let _ = control.send_state(State::AccessDenied, &brief);
            return;
        }
        let (sender, receiver) = mpsc::channel();
        let waiting = Waiting {
            sender,
            peer: pending.peer.ip(),
            udp_wanted: 0,
        };
        lock(&self.shared.waiting).insert(cookie, waiting);
        let (shared, listener, peer) = (Arc::clone(self.shared), Arc::clone(&self.listener), pending.peer);
        let test = std::thread::Builder::new()
            .name("iperf3-test".to_owned())
            .spawn(move || {
                let test = Test {
                    shared: &shared,
                    listener: &listener,
                    control,
                    cookie,
                    peer,
                    receiver,
                };
                let outcome = test.run();
                lock(&shared.waiting).remove(&cookie);
                let mut records = lock(&shared.records);
                // Nobody may take the records of a server that runs for months.
                if records.len() >= MOST_RECORDS {
                    records.remove(0);
                }
                records.push(TestRecord {
                    client: peer,
                    outcome,
                });
            });
        match test {
            Ok(test) => self.tests.push(test),
            Err(_) => {
                lock(&self.shared.waiting).remove(&cookie);
            }
        }
    }

    /// Makes a stream of a greeting, if a test of that address waits for one.
    fn take_udp(&self) {
        let mut buffer = [0_u8; 64];
        for _ in 0..64 {
            let Ok((_, peer)) = self.udp.recv_from(&mut buffer) else {
                return;
            };
            let mut waiting = lock(&self.shared.waiting);
            let test = waiting
                .values_mut()
                .find(|test| test.udp_wanted > 0 && test.peer.to_canonical() == peer.ip().to_canonical());
            let (Some(test), Ok(own)) = (test, self.udp.local_addr()) else {
                continue;
            };
            let opened = open_udp(own).and_then(|socket| {
                socket.connect(peer)?;
                socket.send(UDP_REPLY)?;
                Ok(socket)
            });
            if let Ok(socket) = opened {
                test.udp_wanted -= 1;
                let _ = test.sender.send(Arrival::Udp(socket));
            }
        }
    }
}

impl Pending {
    /// Reads what is there; true when the cookie is complete.
    fn read(&mut self) -> io::Result<bool> {
        match (&self.stream).read(&mut self.cookie[self.filled..]) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => {
                self.filled += len;
                Ok(self.filled == COOKIE_LEN)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// One test.
struct Test<'a> {
    shared: &'a Shared,
    listener: &'a TcpListener,
    control: Control,
    cookie: Cookie,
    peer: SocketAddr,
    receiver: Receiver<Arrival>,
}

impl Test<'_> {
    fn run(self) -> Result<Report, IperfError> {
        let context = &self.shared.context;
        let cpu_before = clock::thread_cpu();
        self.prepare()?;
        let step = || context.clone().with_timeout(STEP);
        self.control.send_state(State::ParamExchange, &step())?;
        let told = self.control.json(MAX_PARAMS, "exchanging parameters", &step())?;
        let params = self.accept_params(&told)?;
        let mss = slowpath_sys::tcp_info::tcp_info(&self.control.stream).map_or(0, |info| info.snd_mss);
        let block = params.block_size(mss);
        let setup = Setup {
            block,
            pacing: self.shared.config.pacing,
            seed: u64::from(self.peer.port()),
        };
        let sampler = Sampler::start(context, self.shared.config.sample_every);
        let mut clockwork = Clockwork::new(&params, setup, self.shared.config.interval, context);
        clockwork.limit = self.shared.config.limits.rate;
        let congestion = self.create_streams(&params, &mut clockwork, &sampler)?;
        self.control.send_state(State::TestStart, &step())?;
        self.control.send_state(State::TestRunning, &step())?;
        let longest = if params.limited() {
            self.shared.config.limits.duration
        } else {
            params.duration + params.omit + GRACE
        };
        let span = clockwork
            .run(&self.control, EndBy::Peer(longest))
            .inspect_err(|error| {
                if matches!(error, IperfError::Server { code: TOTAL_RATE, .. }) {
                    self.control.send_error(TOTAL_RATE, &step());
                } else if context.check().is_err() {
                    let _ = self
                        .control
                        .send_state(State::ServerTerminate, &Context::new().with_timeout(STEP));
                }
            })?;
        let connections = sampler.finish();
        let (mut streams, mut threads) = clockwork.close(span);
        threads.push((
            "test".to_owned(),
            Duration::from_nanos(clock::thread_cpu() - cpu_before),
        ));
        self.control.send_state(State::ExchangeResults, &step())?;
        let told = self.control.json(MAX_RESULTS, "exchanging results", &step())?;
        let told = results::read(&told, &mut streams)?;
        let mut report = Report {
            side: Side::Server,
            block,
            cookie: self.cookie.text(),
            start: span.start,
            counted_from: span.counted_from,
            end: span.end,
            cut_short: span.cut_short,
            streams,
            threads,
            remote_cpu: Some(told.cpu),
            congestion: (congestion.clone(), told.congestion),
            server_output: None,
            connections,
            params,
        };
        let cpu: f64 = report.threads.iter().map(|(_, cpu)| cpu.seconds()).sum();
        let time = span.end.since(span.start).seconds().max(1e-9);
        report.server_output = report.params.server_output.then(|| text(&report, self.peer));
        let account = Account {
            cpu: cpu / time * 100.0,
            congestion,
            output: report.server_output.clone(),
        };
        self.control
            .send_json(&results::to_json(&report.streams, &account), &step())?;
        self.control.send_state(State::DisplayResults, &step())?;
        // The client may close instead of saying that it is done.
        let _ = self.control.state("ending the test", &step());
        Ok(report)
    }

    fn prepare(&self) -> Result<(), IperfError> {
        let io = |source| SocketError::io("preparing the connection from", self.peer, source);
        let stream = &self.control.stream;
        stream.set_nodelay(true).map_err(io)?;
        stream.set_read_timeout(Some(Context::SLICE)).map_err(io)?;
        stream.set_write_timeout(Some(Context::SLICE)).map_err(io)?;
        Ok(())
    }

    fn accept_params(&self, told: &serde_json::Value) -> Result<Params, IperfError> {
        let brief = self.shared.context.clone().with_timeout(STEP);
        let refuse = |code: i32| {
            self.control.send_error(code, &brief);
            IperfError::Server { code, errno: 0 }
        };
        let mut params =
            Params::from_json(told).inspect_err(|_| self.control.send_error(BAD_PARAMS, &brief))?;
        let limits = &self.shared.config.limits;
        let (sending, receiving) = params.client_streams();
        if sending + receiving > limits.streams {
            return Err(refuse(TOO_MANY_STREAMS));
        }
        if params.duration + params.omit > limits.duration {
            return Err(refuse(TOO_LONG));
        }
        if let Some(most) = limits.rate {
            let each = BitRate::new((most.bits_per_s() / u64::from(sending + receiving)).max(1));
            if params.rate.is_some_and(|rate| rate > each) {
                return Err(refuse(TOTAL_RATE));
            }
            // What this side sends keeps to the limit by itself.
            params.rate = params.rate.or(Some(each));
        }
        if receiving > 0
            && let Err(refused) = self.shared.context.admit(self.peer.ip())
        {
            self.control.send_error(TOTAL_RATE, &brief);
            return Err(refused.into());
        }
        Ok(params)
    }

    fn create_streams(
        &self,
        params: &Params,
        clockwork: &mut Clockwork,
        sampler: &Sampler,
    ) -> Result<Option<String>, IperfError> {
        let (sending, receiving) = params.client_streams();
        let total = sending + receiving;
        if params.transport == Transport::Udp {
            self.claim_udp(total)?;
        }
        // The answer to the SYN carries the mark too; restored below. A test that begins at the same moment may
        // see its SYN-ACKs marked as well.
        let own_tos = self
            .shared
            .config
            .options
            .dscp
            .map_or(0, |dscp| dscp.value() << 2);
        if params.tos != 0 {
            let _ = socket::set_tos(self.listener, self.peer, params.tos);
        }
        let arrived = self.collect(total);
        if params.tos != 0 {
            let _ = socket::set_tos(self.listener, self.peer, own_tos);
        }
        let options = params.socket_options();
        let mut congestion = None;
        for (number, arrival) in arrived?.into_iter().enumerate() {
            // What the client sends is received here.
            let sends = number >= sending as usize;
            match arrival {
                Arrival::Tcp(_, stream) => {
                    let stream = Arc::new(stream);
                    self.apply(&options, &stream)?;
                    let facts = options.facts(&stream);
                    congestion = Some(facts.congestion_control.clone());
                    sampler.watch(&format!("stream {number}"), &stream, &options);
                    clockwork.add(sends, Link::Tcp(stream), Some(facts))?;
                }
                Arrival::Udp(socket) => {
                    prepare_udp(&socket, params, self.peer)
                        .map_err(|source| SocketError::io("setting the options for", self.peer, source))?;
                    clockwork.add(sends, Link::Udp(Arc::new(socket)), None)?;
                }
            }
        }
        Ok(congestion)
    }

    /// Waits until no other test of the same address is about to get UDP streams: greetings name no test.
    fn claim_udp(&self, total: u32) -> Result<(), IperfError> {
        let step = self.shared.context.clone().with_timeout(STREAM_WAIT);
        let own = self.peer.ip().to_canonical();
        loop {
            {
                let mut waiting = lock(&self.shared.waiting);
                let is_free = waiting
                    .values()
                    .all(|test| test.udp_wanted == 0 || test.peer.to_canonical() != own);
                if is_free && let Some(test) = waiting.get_mut(&self.cookie) {
                    test.udp_wanted = total;
                    return Ok(());
                }
            }
            step.sleep(Duration::from_millis(5))
                .map_err(|stop| SocketError::stopped("waiting for another test of this address", stop))?;
        }
    }

    /// Waits for all streams, and puts them in the order in which the client opened them.
    fn collect(&self, total: u32) -> Result<Vec<Arrival>, IperfError> {
        let step = self.shared.context.clone().with_timeout(STREAM_WAIT);
        self.control.send_state(State::CreateStreams, &step)?;
        let mut arrived = Vec::new();
        while arrived.len() < total as usize {
            step.check()
                .map_err(|stop| SocketError::stopped("waiting for the streams of a test", stop))?;
            match self.receiver.recv_timeout(Context::SLICE) {
                Ok(arrival) => arrived.push(arrival),
                Err(RecvTimeoutError::Timeout) => {
                    // A client that has gone will not open any more streams.
                    let mut byte = [0_u8];
                    let gone = self.control.stream.set_nonblocking(true).is_ok()
                        && matches!(self.control.stream.peek(&mut byte), Ok(0));
                    let _ = self.control.stream.set_nonblocking(false);
                    if gone {
                        return Err(IperfError::Closed("creating streams"));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(IperfError::Closed("creating streams")),
            }
        }
        arrived.sort_by_key(|arrival| match arrival {
            Arrival::Tcp(number, _) => *number,
            Arrival::Udp(_) => 0,
        });
        Ok(arrived)
    }

    fn apply(&self, options: &SocketOptions, stream: &TcpStream) -> Result<(), IperfError> {
        let io = |source| SocketError::io("preparing the connection from", self.peer, source);
        stream.set_read_timeout(Some(Context::SLICE)).map_err(io)?;
        stream.set_write_timeout(Some(Context::SLICE)).map_err(io)?;
        // As iperf3: with an unknown congestion control the test goes on, and the results name the one in use.
        if let Some(name) = &options.congestion_control {
            let _ = sockopt::set_congestion_control(stream, name);
        }
        let rest = SocketOptions {
            congestion_control: None,
            ..options.clone()
        };
        rest.apply(stream, self.peer)?;
        Ok(())
    }
}

/// The output that a client may ask for.
fn text(report: &Report, client: SocketAddr) -> String {
    use std::fmt::Write;
    let mut text = format!("slowpath iperf3 server, client {client}\n");
    for stream in &report.streams {
        let way = if stream.sends { "sent" } else { "received" };
        for interval in &stream.intervals {
            let seconds = interval.to.saturating_sub(interval.from).seconds();
            let rate = interval.bytes as f64 * 8.0 / seconds / 1e6;
            let omitted = if interval.omitted { " (omitted)" } else { "" };
            let (from, to) = (interval.from.seconds(), interval.to.seconds());
            let written = writeln!(
                text,
                "[{:3}] {from:6.2}-{to:6.2} s  {:>14} bytes {way}  {rate:>10.3} Mbit/s{omitted}",
                stream.id, interval.bytes
            );
            debug_assert!(written.is_ok(), "writing to a String cannot fail");
        }
        if let Some(udp) = stream.received() {
            let written = writeln!(
                text,
                "[{:3}] {} of {} datagrams lost ({} by this host's socket), {} reordered, {} duplicates, jitter {}",
                stream.id, udp.lost, udp.packets, udp.socket_drops, udp.reordered, udp.duplicates, udp.jitter
            );
            debug_assert!(written.is_ok(), "writing to a String cannot fail");
        }
    }
    text
}

/// How often the accepting thread looks at its flags, in nanoseconds.
const TICK: u64 = 100_000_000;
/// How long a connection may take to say what it is.
const COOKIE_WAIT: std::time::Duration = std::time::Duration::from_secs(5);
/// How long a client may take for one step of the protocol.
const STEP: Duration = Duration::from_secs(10);
/// How long a client may take to open all streams; UDP greetings of iperf3 wait up to 30 s.
const STREAM_WAIT: Duration = Duration::from_secs(30);
/// What iperf3 adds to the length of a test before it gives the client up.
const GRACE: Duration = Duration::from_secs(40);
/// MAX_PARAMS_JSON_STRING of iperf3 3.18.
const MAX_PARAMS: usize = 8 * 1024;
/// 128 streams in both directions at a generous kilobyte each, and room for what later versions add.
const MAX_RESULTS: usize = 1 << 20;
const MOST_RECORDS: usize = 1000;

/// IEDURATION of src/iperf_api.h.
const TOO_LONG: i32 = 4;
/// IENUMSTREAMS.
const TOO_MANY_STREAMS: i32 = 5;
/// IETOTALRATE.
pub(super) const TOTAL_RATE: i32 = 27;
/// IERECVPARAMS.
const BAD_PARAMS: i32 = 114;

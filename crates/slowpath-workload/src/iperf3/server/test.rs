//! One test from the client's parameters to the exchange of results.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use slowpath_sys::{clock, sockopt};
use slowpath_units::{BitRate, Duration};

use super::shared::{Arrival, Shared, lock};
use crate::context::Context;
use crate::iperf3::clockwork::{Clockwork, EndBy, Link, Setup};
use crate::iperf3::greeting::prepare_udp;
use crate::iperf3::params::{Params, Transport};
use crate::iperf3::report::{Report, Side};
use crate::iperf3::results::{self, Account};
use crate::iperf3::wire::{Control, Cookie, IperfError, State, TOTAL_RATE};
use crate::socket::{self, SocketError, SocketOptions};
use crate::watch::Sampler;

/// One test.
pub(super) struct Test<'a> {
    pub(super) shared: &'a Shared,
    pub(super) listener: &'a TcpListener,
    pub(super) control: Control,
    pub(super) cookie: Cookie,
    pub(super) peer: SocketAddr,
    pub(super) receiver: Receiver<Arrival>,
}

impl Test<'_> {
    pub(super) fn run(self) -> Result<Report, IperfError> {
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

/// IEDURATION of src/iperf_api.h.
const TOO_LONG: i32 = 4;
/// IENUMSTREAMS.
const TOO_MANY_STREAMS: i32 = 5;
/// IERECVPARAMS.
const BAD_PARAMS: i32 = 114;

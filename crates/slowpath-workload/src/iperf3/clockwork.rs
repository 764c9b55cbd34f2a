//! One side's running test: streams and their threads, intervals, omission and the end.

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::thread::JoinHandle;

use slowpath_sys::tcp_info;
use slowpath_units::{BitRate, Duration, Time};

use super::params::{Pacing, Params, Transport};
use super::report::{Interval, StreamReport, TcpState, UdpCounts};
use super::tally::{Bursts, Counts, Phase, Stage, Tally};
use super::wire::{Control, IperfError, State, TOTAL_RATE};
use super::{tcp, udp};
use crate::context::{Context, Stop};
use crate::socket::SocketFacts;

/// A stream's socket.
#[derive(Debug, Clone)]
pub(super) enum Link {
    Tcp(Arc<TcpStream>),
    Udp(Arc<UdpSocket>),
}

impl Link {
    fn addresses(&self) -> (SocketAddr, SocketAddr) {
        let unknown = SocketAddr::from(([0, 0, 0, 0], 0));
        let (local, peer) = match self {
            Self::Tcp(stream) => (stream.local_addr(), stream.peer_addr()),
            Self::Udp(socket) => (socket.local_addr(), socket.peer_addr()),
        };
        (local.unwrap_or(unknown), peer.unwrap_or(unknown))
    }

    fn state(&self) -> Option<TcpState> {
        let Self::Tcp(stream) = self else {
            return None;
        };
        tcp_info::tcp_info(stream).ok().map(|info| TcpState::new(&info))
    }
}

/// One stream of a running test.
#[derive(Debug)]
pub(super) struct Stream {
    id: u32,
    sends: bool,
    link: Link,
    /// Local address and peer; a closed socket has forgotten them.
    addresses: (SocketAddr, SocketAddr),
    facts: Option<SocketFacts>,
    tally: Arc<Tally>,
    thread: JoinHandle<Bursts>,
    /// Counts and TCP state where counting began.
    base: (Counts, TcpState),
    /// Counts and TCP state where the current interval began.
    mark: (Counts, TcpState),
    end: Option<(Counts, TcpState)>,
    intervals: Vec<Interval>,
}

/// What a thread needs to know that is not in the parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup {
    pub(super) block: usize,
    pub(super) pacing: Pacing,
    pub(super) seed: u64,
}

/// All streams of one side of a test.
#[derive(Debug)]
pub(super) struct Clockwork {
    pub(super) phase: Arc<Phase>,
    pub(super) streams: Vec<Stream>,
    params: Params,
    setup: Setup,
    context: Context,
    interval: Duration,
    /// All streams together may not be faster.
    pub(super) limit: Option<BitRate>,
}

impl Drop for Clockwork {
    /// Threads of a test that broke off must not wait for its beginning.
    fn drop(&mut self) {
        self.phase.advance(Stage::Closed);
    }
}

/// When one side's test ran.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// When data began to move.
    pub(super) start: Time,
    /// When counting began: later than the start by what is omitted.
    pub(super) counted_from: Time,
    /// When counting ended.
    pub(super) end: Time,
    /// Why it ended before its own end, if it did.
    pub(super) cut_short: Option<Stop>,
}

/// Who ends a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndBy {
    /// This side, by its clock or the amount: the client.
    Us,
    /// The other side, with `TEST_END`; at the latest after so long: the server.
    Peer(Duration),
}

impl Clockwork {
    pub(super) fn new(params: &Params, setup: Setup, interval: Duration, context: &Context) -> Self {
        let blocks = params
            .blocks
            .map(|blocks| blocks.saturating_mul(setup.block as u64));
        Self {
            phase: Phase::new(params.bytes.or(blocks)),
            streams: Vec::new(),
            params: params.clone(),
            setup,
            context: context.clone(),
            interval: interval.max(Duration::from_millis(10)),
            limit: None,
        }
    }

    /// Adds a stream and starts its thread, which waits for the test to begin.
    pub(super) fn add(
        &mut self,
        sends: bool,
        link: Link,
        facts: Option<SocketFacts>,
    ) -> Result<(), IperfError> {
        let number = u32::try_from(self.streams.len()).unwrap_or(u32::MAX);
        // 1, 3, 4, 5, ...: iperf_add_stream of iperf3 leaves out 2, and peers match streams by this number.
        let id = if number == 0 { 1 } else { number + 2 };
        let tally = Arc::new(Tally::default());
        let thread = std::thread::Builder::new()
            .name(format!("iperf3-{id}"))
            .spawn(self.work(id, sends, &link, &tally))
            .map_err(IperfError::Thread)?;
        self.streams.push(Stream {
            id,
            sends,
            addresses: link.addresses(),
            link,
            facts,
            tally,
            thread,
            base: Default::default(),
            mark: Default::default(),
            end: None,
            intervals: Vec::new(),
        });
        Ok(())
    }

    fn work(
        &self,
        id: u32,
        sends: bool,
        link: &Link,
        tally: &Arc<Tally>,
    ) -> impl FnOnce() -> Bursts + Send + 'static {
        let (params, setup) = (self.params.clone(), self.setup);
        let (phase, tally, context, link) = (
            Arc::clone(&self.phase),
            Arc::clone(tally),
            self.context.clone(),
            link.clone(),
        );
        let seed = setup.seed.wrapping_add(u64::from(id));
        move || match (link, sends) {
            (Link::Tcp(stream), true) => {
                let plan = tcp::SendPlan {
                    block: setup.block,
                    rate: params.rate,
                    burst: params.burst,
                    zero_copy: params.zero_copy,
                    repeating: params.repeating_payload,
                    seed,
                };
                tcp::send(&stream, &plan, &phase, &tally, &context);
                Bursts::default()
            }
            (Link::Tcp(stream), false) => {
                tcp::receive(&stream, setup.block, &phase, &tally, &context);
                Bursts::default()
            }
            (Link::Udp(socket), true) => {
                let plan = udp::SendPlan {
                    size: setup.block,
                    paced: setup.block as u64,
                    shape: udp::Shape::Udp,
                    rate: params.rate,
                    burst: params.burst,
                    pacing: setup.pacing,
                    wide: params.counters_64bit,
                    seed,
                };
                udp::send(&socket, &plan, &phase, &tally, &context)
            }
            (Link::Udp(socket), false) => {
                udp::receive(&socket, params.counters_64bit, &phase, &tally, &context);
                Bursts::default()
            }
        }
    }

    /// Runs the test to its end; the streams then have stopped counting, and senders have stopped.
    pub(super) fn run(&mut self, control: &Control, end_by: EndBy) -> Result<Span, IperfError> {
        let start = self.context.now();
        self.phase.advance(Stage::Running);
        let mut counted_from = start;
        let mut omitting = self.params.omit > Duration::ZERO;
        let omit_end = start + self.params.omit;
        let mut boundary = start + self.interval;
        let over = match end_by {
            EndBy::Us if self.params.limited() => Time::MAX,
            EndBy::Us => omit_end + self.params.duration,
            EndBy::Peer(kill) => start + kill,
        };
        let mut stall = Stall::new(start);
        let mut cut_short = None;
        loop {
            let now = self.context.now();
            // What was moved up to a used-up cap is a measurement too.
            if let (EndBy::Us, Err(stop)) = (end_by, self.context.spend(0)) {
                cut_short = Some(stop);
                break;
            }
            if omitting && now >= omit_end {
                self.close_interval(start, now, true);
                for stream in &mut self.streams {
                    stream.base = stream.now();
                }
                omitting = false;
                counted_from = now;
                boundary = now + self.interval;
            }
            if now >= boundary {
                self.close_interval(start, now, omitting);
                boundary += self.interval;
            }
            if self.is_too_fast(now.since(start)) {
                self.finish(start, now, omitting);
                return Err(IperfError::Server {
                    code: TOTAL_RATE,
                    errno: 0,
                });
            }
            if now >= over {
                if matches!(end_by, EndBy::Peer(_)) {
                    self.finish(start, now, omitting);
                    return Err(IperfError::Closed("waiting for the end of the test"));
                }
                break;
            }
            if end_by == EndBy::Us
                && self.params.limited()
                && (self.amount_moved() || stall.is_long(self, now))
            {
                break;
            }
            let until = boundary
                .min(over)
                .min(if omitting { omit_end } else { Time::MAX });
            let most = if self.params.limited() {
                Duration::from_millis(2)
            } else {
                Duration::from_millis(100)
            };
            if control.readable(until.since(now).min(most), &self.context)? {
                match (control.state("running the test", &self.context)?, end_by) {
                    (State::TestEnd, EndBy::Peer(_)) => break,
                    (state, _) => {
                        let got = format!("{state:?}");
                        return Err(IperfError::Protocol {
                            expected: "the end of the test",
                            got,
                        });
                    }
                }
            }
        }
        let ends_with_amount = self.params.limited() || cut_short.is_some();
        if ends_with_amount {
            match end_by {
                EndBy::Us => self.await_acknowledgements(),
                EndBy::Peer(_) => self.read_the_rest(),
            }
        }
        let end = self.context.now();
        self.finish(start, end, omitting);
        if ends_with_amount && end_by == EndBy::Us && self.streams.iter().any(|stream| stream.sends) {
            // A stock server reads nothing more once it hears of the end: its application gets a moment to take what
            // its kernel has acknowledged. Not part of the test's time.
            let _ = self.context.sleep(SETTLE);
        }
        Ok(Span {
            start,
            counted_from,
            end,
            cut_short,
        })
    }

    /// Whether the streams together are faster than they may; the first second is too short to tell.
    fn is_too_fast(&self, elapsed: Duration) -> bool {
        let Some(limit) = self.limit.filter(|_| elapsed > Duration::from_secs(1)) else {
            return false;
        };
        let bytes: u64 = self.streams.iter().map(|stream| stream.tally.now().bytes).sum();
        // A twentieth for what pacing catches up with.
        bytes > limit.bytes_in(elapsed) / 20 * 21
    }

    /// Whether the byte or block limit is reached.
    fn amount_moved(&self) -> bool {
        let block = self.setup.block as u64;
        let wanted = self
            .params
            .bytes
            .or(self.params.blocks.map(|blocks| blocks.saturating_mul(block)));
        let moved = |sends: bool| -> u64 {
            self.streams
                .iter()
                .filter(|s| s.sends == sends)
                .map(|s| s.tally.now().bytes)
                .sum()
        };
        wanted.is_some_and(|wanted| moved(true) >= wanted || moved(false) >= wanted)
            // The last datagram may be smaller than the rest of the budget.
            || (self.phase.is_spent() && self.params.transport == Transport::Udp)
    }

    /// With an amount to send, the end of the test must not overtake the data.
    fn await_acknowledgements(&self) {
        for stream in self.streams.iter().filter(|stream| stream.sends) {
            if let Link::Tcp(socket) = &stream.link {
                crate::watch::linger(socket, Duration::from_secs(60), &self.context);
            }
        }
    }

    /// The end of the test may overtake data that is here but not read yet: goes on as long as some is.
    fn read_the_rest(&self) {
        let block = self.setup.block as u64;
        let blocks = self.params.blocks.map(|blocks| blocks.saturating_mul(block));
        let wanted = self.params.bytes.or(blocks).unwrap_or(0);
        let received = || -> u64 {
            self.streams
                .iter()
                .filter(|stream| !stream.sends)
                .map(|stream| stream.tally.now().bytes)
                .sum()
        };
        if self.streams.iter().all(|stream| stream.sends) {
            return;
        }
        let (mut last, mut since) = (received(), self.context.now());
        while last < wanted && self.context.now().since(since) < QUIET && self.context.check().is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(1));
            let now = received();
            if now != last {
                (last, since) = (now, self.context.now());
            }
        }
    }

    fn close_interval(&mut self, start: Time, now: Time, omitted: bool) {
        for stream in &mut self.streams {
            stream.close_interval(start, now, omitted);
        }
    }

    fn finish(&mut self, start: Time, end: Time, omitting: bool) {
        self.phase.advance(Stage::Ended);
        for stream in &mut self.streams {
            stream.close_interval(start, end, omitting);
            stream.end = Some(stream.now());
        }
    }

    /// Closes data connections and collects what the streams counted.
    pub(super) fn close(mut self, span: Span) -> (Vec<StreamReport>, Vec<(String, Duration)>) {
        self.phase.advance(Stage::Closed);
        for stream in &self.streams {
            if let Link::Tcp(socket) = &stream.link {
                // Wakes a thread that is blocked in a call.
                let _ = socket.shutdown(std::net::Shutdown::Both);
            }
        }
        let mut threads = Vec::new();
        let mut reports = Vec::new();
        for stream in std::mem::take(&mut self.streams) {
            let bursts = stream.thread.join().unwrap_or_default();
            let cpu = Duration::from_nanos(stream.tally.now().cpu);
            threads.push((format!("stream {}", stream.id), cpu));
            let (counts, tcp) = stream.end.unwrap_or(stream.base);
            let (local, peer) = stream.addresses;
            let counted = counts.since(&stream.base.0);
            let is_tcp = matches!(stream.link, Link::Tcp(_));
            reports.push(StreamReport {
                id: stream.id,
                sends: stream.sends,
                local,
                peer,
                duration: span.end.since(span.counted_from),
                bytes: counted.bytes,
                omitted_bytes: stream.base.0.bytes,
                tcp: is_tcp.then(|| tcp.since(&stream.base.1)),
                udp: (!is_tcp).then(|| UdpCounts::new(stream.sends, &counted, counts.jitter, bursts)),
                udp_omitted: (!is_tcp)
                    .then(|| UdpCounts::new(stream.sends, &stream.base.0, 0, Bursts::default())),
                facts: stream.facts,
                intervals: stream.intervals,
                remote: None,
            });
        }
        (reports, threads)
    }
}

impl Stream {
    fn now(&self) -> (Counts, TcpState) {
        (self.tally.now(), self.link.state().unwrap_or_default())
    }

    fn close_interval(&mut self, start: Time, now: Time, omitted: bool) {
        let from = self
            .intervals
            .last()
            .map_or(Duration::ZERO, |interval| interval.to);
        let to = now.since(start);
        // The rest of a test that ended on a boundary is no interval.
        if to <= from || (to.saturating_sub(from) < Duration::from_millis(1) && !self.intervals.is_empty()) {
            return;
        }
        let (counts, tcp) = self.now();
        let counted = counts.since(&self.mark.0);
        let is_tcp = matches!(self.link, Link::Tcp(_));
        self.intervals.push(Interval {
            from,
            to,
            omitted,
            bytes: counted.bytes,
            tcp: is_tcp.then(|| tcp.since(&self.mark.1)),
            udp: (!is_tcp).then(|| UdpCounts::new(self.sends, &counted, counts.jitter, Bursts::default())),
        });
        self.mark = (counts, tcp);
    }
}

/// How long no data must have been read before there is none left: a thread that does not get the processor.
const QUIET: Duration = Duration::from_millis(200);

/// How long a stock server's application may take to read what its kernel has acknowledged.
const SETTLE: Duration = Duration::from_millis(20);

/// Notices that a test with an amount does not get there, because datagrams were lost.
struct Stall {
    bytes: u64,
    since: Time,
}

impl Stall {
    fn new(now: Time) -> Self {
        Self { bytes: 0, since: now }
    }

    fn is_long(&mut self, clockwork: &Clockwork, now: Time) -> bool {
        let bytes = clockwork
            .streams
            .iter()
            .map(|stream| stream.tally.now().bytes)
            .sum();
        if bytes != self.bytes || clockwork.params.transport == Transport::Tcp {
            *self = Self { bytes, since: now };
        }
        now.since(self.since) > Duration::from_secs(5)
    }
}

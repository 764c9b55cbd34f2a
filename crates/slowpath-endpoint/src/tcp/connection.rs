//! One TCP connection: handshake, the two halves, closing.

use slowpath_packet::{Dscp, Ecn, Seq32};
use slowpath_units::{Duration, Time};
use std::hint::cold_path;

use super::ack::Ack;
use super::config::{Config, EcnMode};
use super::receiver::{Receiver, ReceiverCounters};
use super::sender::{Sender, SenderCounters};
use super::train::Cut;
use crate::cc::State as RecoveryState;
use crate::outbox;
use crate::wire::{Ends, Flags, Options, OwnedPayload, Payload, TcpHeader, Transmit, Transport};

/// Where a connection stands (RFC 9293, section 3.3.2, with the closing states folded together).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Data may flow; either end may have sent its FIN.
    Established,
    /// Both FINs are acknowledged; late packets are still answered.
    TimeWait,
    /// Gone.
    Closed,
}

/// What an application learns of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Events {
    /// The handshake is complete.
    pub connected: bool,
    /// There are new bytes to read, or the end of the stream.
    pub readable: bool,
    /// There is room to write after there was none.
    pub writable: bool,
    /// The connection ended, orderly or not.
    pub closed: bool,
}

/// What a connection shows of itself, like `tcp_info`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Where the connection stands.
    pub state: State,
    /// Loss recovery's state.
    pub recovery: RecoveryState,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow start threshold in segments; `None` before the first reduction.
    pub ssthresh: Option<u32>,
    /// Segments in flight.
    pub in_flight: u32,
    /// Smoothed round trip.
    pub srtt: Option<Duration>,
    /// Smallest round trip of the last five minutes.
    pub min_rtt: Option<Duration>,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Payload bytes per full segment.
    pub mss: u32,
    /// The peer's advertised window in bytes.
    pub peer_window: u64,
    /// The window this end advertised last in bytes.
    pub window: u64,
    /// Bytes acknowledged by the peer.
    pub acknowledged: u64,
    /// Bytes received in order.
    pub received: u64,
    /// Bytes received in order that the application has not read.
    pub unread: u64,
    /// Bytes written that are not acknowledged.
    pub queued: u64,
    /// The program waits for room in the send buffer (Linux, `SOCK_NOSPACE`).
    pub write_blocked: bool,
    /// The sending half's counters.
    pub sender: SenderCounters,
    /// The receiving half's counters.
    pub receiver: ReceiverCounters,
}

/// The part of [`Info`] that tells what a sender waits for, for those who look after every packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Where the connection stands.
    pub state: State,
    /// Loss recovery's state.
    pub recovery: RecoveryState,
    /// The program waits for room in the send buffer (Linux, `SOCK_NOSPACE`).
    pub write_blocked: bool,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow start threshold in segments; `None` before the first reduction.
    pub ssthresh: Option<u32>,
    /// Segments in flight.
    pub in_flight: u32,
    /// Payload bytes per full segment.
    pub mss: u32,
    /// The peer's advertised window in bytes.
    pub peer_window: u64,
    /// Bytes acknowledged by the peer.
    pub acknowledged: u64,
    /// Bytes written that are not acknowledged.
    pub queued: u64,
}

/// One TCP connection.
///
/// Packets in with [`receive`](Self::receive), time with [`next_event`](Self::next_event) and
/// [`advance`](Self::advance), packets out with [`poll_transmit`](Self::poll_transmit) until it returns
/// nothing. Applications write, read and close, and then the driver polls for packets again.
#[derive(Debug, Clone)]
pub struct Connection {
    wanted: Wanted,
    ends: Ends,
    state: State,
    initial: Seq32,
    peer_initial: Seq32,
    sender: Sender,
    receiver: Receiver,
    /// Largest segment that the MTU and the peer allow, without options taken off.
    segment: u32,
    /// The same before the peer's limit, to announce.
    segment_limit: u32,
    timestamps: bool,
    peer_shift: u8,
    peer_scales: bool,
    ecn: bool,
    dscp: Dscp,
    events: Events,
    syn_timer: Option<Time>,
    syn_tries: u32,
    syn_due: bool,
    syn_sent: Time,
    reset_due: bool,
    linger: Option<Time>,
}

/// What of its configuration a connection needs beyond its halves.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    initial_rto: Duration,
    shift: Option<u8>,
    ecn: EcnMode,
    sack: bool,
    timestamps: bool,
}

impl Connection {
    /// Opens a connection at `now`; the SYN waits in [`poll_transmit`](Self::poll_transmit).
    pub fn connect(config: &Config, ends: Ends, now: Time, mtu: u32, seed: u64) -> Self {
        let mut connection = Self::new(config, ends, State::SynSent, mtu, seed);
        connection.syn_sent = now;
        connection
    }

    /// Answers a SYN that arrived at `now`.
    pub fn accept(
        config: &Config,
        ends: Ends,
        now: Time,
        mtu: u32,
        seed: u64,
        syn: &TcpHeader,
        ecn: bool,
    ) -> Self {
        let mut connection = Self::new(config, ends, State::SynReceived, mtu, seed);
        connection.syn_sent = now;
        connection.take_peer_syn(now, syn);
        connection.ecn = ecn && config.ecn != EcnMode::Off;
        connection
    }

    fn new(config: &Config, ends: Ends, state: State, mtu: u32, seed: u64) -> Self {
        let headers = if ends.local.is_ipv4() { 40 } else { 60 };
        let segment = u32::from(config.mss).min(mtu.saturating_sub(headers).max(1));
        Self {
            ends,
            state,
            initial: Seq32(seed as u32),
            peer_initial: Seq32(0),
            sender: Sender::new(config, seed),
            receiver: Receiver::new(config),
            segment,
            segment_limit: segment,
            timestamps: config.timestamps,
            peer_shift: 0,
            peer_scales: false,
            ecn: false,
            dscp: config.dscp,
            events: Events::default(),
            syn_timer: None,
            syn_tries: 0,
            syn_due: true,
            syn_sent: Time::ZERO,
            reset_due: false,
            linger: None,
            wanted: Wanted {
                initial_rto: config.recovery.initial_rto,
                shift: config.scale_shift(),
                ecn: config.ecn,
                sack: config.sack,
                timestamps: config.timestamps,
            },
        }
    }

    /// Marks this connection's packets with another DSCP than the configured one.
    pub const fn mark(&mut self, dscp: Dscp) {
        self.dscp = dscp;
    }

    /// Switches Nagle's algorithm off (`TCP_NODELAY`).
    pub const fn no_delay(&mut self) {
        self.sender.train.nagle = false;
    }

    /// Keeps received bytes for [`peek`](Self::peek); otherwise only their number is known.
    pub const fn keep_bytes(&mut self) {
        self.receiver.keeps = true;
    }

    /// The two ends.
    pub const fn ends(&self) -> &Ends {
        &self.ends
    }

    /// Where the connection stands.
    pub const fn state(&self) -> State {
        self.state
    }

    /// What happened since the last call.
    pub fn take_events(&mut self) -> Events {
        std::mem::take(&mut self.events)
    }

    /// Whether nothing has happened that is not announced, and asking for a packet again would change nothing.
    pub(crate) fn is_settled(&self) -> bool {
        self.events == Events::default() && !self.sender.adapted
    }

    /// Writes real bytes; the send buffer may be exceeded by them.
    pub fn write_bytes(&mut self, now: Time, bytes: &[u8]) {
        self.sender.about_to_write(now);
        self.sender.queue.stream.write_bytes(bytes);
    }

    /// Writes up to `len` bytes that need no content; the result is how many the send buffer took.
    pub fn write_synthetic(&mut self, now: Time, len: u64) -> u64 {
        let taken = self.sender.writable().min(len);
        if taken > 0 {
            self.sender.about_to_write(now);
            self.sender.queue.stream.write_synthetic(taken);
        }
        self.sender.writer_waits = taken < len;
        taken
    }

    /// The program sleeps before it wants to write more: it does not wait for room meanwhile.
    pub(crate) const fn sleeps(&mut self) {
        self.sender.writer_waits = false;
    }

    /// Reads up to `max` bytes; the result is how many there were.
    pub fn read(&mut self, now: Time, max: u64) -> u64 {
        self.receiver.read(now, max)
    }

    /// The bytes that the next read takes, if they are kept.
    pub fn peek(&self) -> &[u8] {
        self.receiver.peek()
    }

    /// Bytes that can be read.
    pub const fn readable(&self) -> u64 {
        self.receiver.unread
    }

    /// Whether the peer will send no more and everything was read.
    pub const fn at_end(&self) -> bool {
        self.receiver.at_end()
    }

    /// No more will be written; what was written is still delivered.
    pub const fn finish(&mut self) {
        self.sender.queue.finish();
    }

    /// Drops the connection; the peer is told.
    pub fn abort(&mut self) {
        self.reset_due = matches!(self.state, State::SynReceived | State::Established);
        self.close();
    }

    /// What its sender waits for.
    pub fn standing(&self) -> Standing {
        let sender = &self.sender;
        Standing {
            state: self.state,
            recovery: sender.state,
            write_blocked: sender.writer_waits,
            cwnd: sender.window.cwnd,
            ssthresh: (sender.window.ssthresh < crate::cc::INFINITE).then_some(sender.window.ssthresh),
            in_flight: sender.in_flight(),
            mss: sender.mss,
            peer_window: sender.peer.bytes,
            acknowledged: sender.una.saturating_sub(1).min(sender.queue.stream.end()),
            queued: sender.queued(),
        }
    }

    /// What the connection shows of itself.
    pub fn info(&self) -> Info {
        let sender = &self.sender;
        let Standing {
            state,
            recovery,
            write_blocked,
            cwnd,
            ssthresh,
            in_flight,
            mss,
            peer_window,
            acknowledged,
            queued,
        } = self.standing();
        Info {
            state,
            recovery,
            cwnd,
            ssthresh,
            in_flight,
            srtt: sender.rtt.smoothed(),
            min_rtt: sender.rtt.minimum(),
            rto: sender.rtt.timeout(),
            mss,
            peer_window,
            window: self.receiver.advertised(),
            acknowledged,
            received: self
                .receiver
                .nxt
                .saturating_sub(1 + u64::from(self.receiver.fin_received())),
            unread: self.receiver.unread,
            queued,
            write_blocked,
            sender: sender.counters,
            receiver: self.receiver.counters,
        }
    }

    /// Takes a segment of this connection that arrived at `now`.
    pub fn receive(&mut self, now: Time, header: &TcpHeader, ecn: Ecn, payload: Payload<'_>) {
        // Among thousands of connections these are in no cache, and there is enough to do until they are needed.
        self.sender.board.prefetch();
        if self.state == State::Closed {
            return;
        }
        if header.flags.has(Flags::RST) {
            if self.state != State::SynSent || header.flags.has(Flags::ACK) {
                self.close();
            }
            return;
        }
        match self.state {
            State::SynSent => self.receive_syn_ack(now, header),
            State::SynReceived if header.flags.has(Flags::SYN) => self.syn_due = true,
            State::SynReceived => {
                if header.flags.has(Flags::ACK) && self.offset_of_ack(header) >= 1 {
                    self.establish(now, header);
                    self.receive_established(now, header, ecn, payload);
                }
            }
            State::Established => self.receive_established(now, header, ecn, payload),
            State::TimeWait => {
                if header.flags.has(Flags::FIN) {
                    self.receiver.ack_now = true;
                }
            }
            State::Closed => {}
        }
    }

    fn receive_syn_ack(&mut self, now: Time, header: &TcpHeader) {
        if !header.flags.has(Flags::SYN.with(Flags::ACK)) || header.ack != self.initial + 1 {
            return;
        }
        self.take_peer_syn(now, header);
        self.ecn = self.wanted.ecn == EcnMode::Request
            && header.flags.has(Flags::ECE)
            && !header.flags.has(Flags::CWR);
        self.establish(now, header);
        // The window of a SYN is not scaled.
        self.sender.peer.bytes = u64::from(header.window);
        self.receiver.ack_now = true;
    }

    /// Reads the options of the peer's SYN.
    fn take_peer_syn(&mut self, now: Time, syn: &TcpHeader) {
        self.peer_initial = syn.seq;
        self.timestamps = self.wanted.timestamps && syn.options.timestamps.is_some();
        if let Some((value, _)) = syn.options.timestamps {
            self.receiver.ts_recent = value;
        }
        let shift = self.wanted.shift.filter(|_| syn.options.window_scale.is_some());
        self.peer_scales = shift.is_some();
        self.peer_shift = if shift.is_some() {
            syn.options.window_scale.unwrap_or(0).min(14)
        } else {
            0
        };
        self.sender.sack = self.wanted.sack && syn.options.sack_permitted;
        self.segment = self.segment_limit.min(u32::from(syn.options.mss.unwrap_or(536)));
        let mss = self.payload_per_segment();
        if self.state == State::SynReceived {
            self.receiver.syn_window(self.segment_limit - self.option_bytes());
        }
        self.receiver.establish(now, shift, mss);
        self.sender.peer.bytes = u64::from(syn.window);
    }

    const fn option_bytes(&self) -> u32 {
        if self.timestamps { 12 } else { 0 }
    }

    const fn payload_per_segment(&self) -> u32 {
        self.segment - self.option_bytes()
    }

    fn establish(&mut self, now: Time, header: &TcpHeader) {
        self.state = State::Established;
        self.syn_timer = None;
        self.events.connected = true;
        let window = u64::from(header.window) << self.peer_shift;
        self.receiver.ecn = self.ecn;
        let sack = self.sender.sack;
        self.sender
            .establish(now, self.payload_per_segment(), sack, window);
        if self.syn_tries <= 1 {
            self.sender.rtt.sample(now, now.since(self.syn_sent), 1, 1);
        }
        self.receiver.idle = self.sender.rtt.timeout();
        self.sender.start_control(now);
    }

    fn receive_established(&mut self, now: Time, header: &TcpHeader, ecn: Ecn, payload: Payload<'_>) {
        if header.flags.has(Flags::SYN) {
            cold_path();
            // Our last acknowledgement of the handshake was lost.
            self.receiver.ack_now = true;
            return;
        }
        let start = self.offset_of_seq(header);
        let fin = header.flags.has(Flags::FIN);
        let carries = !payload.is_empty() || fin;
        if let Some((value, echo)) = header.options.timestamps {
            self.receiver.note_timestamp(start, value);
            if self.timestamps && payload.len() + 12 >= self.segment && echo != 0 {
                self.receiver.note_rtt(Self::since_stamp(now, echo));
            }
        }
        if header.flags.has(Flags::ACK) {
            self.take_ack(now, header, start, carries);
        }
        if header.flags.has(Flags::CWR) {
            cold_path();
            self.receiver.echo_congestion = false;
        }
        if carries {
            self.receiver
                .note_push(header.flags.has(Flags::PSH), payload.len());
            let news = self.receiver.receive(now, start, payload, fin, ecn);
            self.events.readable |= news;
        } else if start < self.receiver.nxt {
            // A zero-window probe or a keep-alive wants an answer.
            self.receiver.ack_now = true;
        }
        self.finish_closing(now);
    }

    fn take_ack(&mut self, now: Time, header: &TcpHeader, start: u64, carries: bool) {
        let window = u64::from(header.window) << self.peer_shift;
        let echoed = header
            .options
            .timestamps
            .filter(|_| self.timestamps)
            .map(|(_, echo)| now - Self::since_stamp(now, echo));
        let ack = Ack {
            offset: self.offset_of_ack(header),
            window,
            seq: start,
            sack: &header.options.sack,
            initial: self.initial,
            ece: self.ecn && header.flags.has(Flags::ECE),
            echoed,
            carries_data: carries,
        };
        self.sender.on_ack(now, &ack);
        if self.sender.writer_waits && self.sender.wakes_writer() {
            self.sender.writer_waits = false;
            self.events.writable = true;
        }
    }

    fn finish_closing(&mut self, now: Time) {
        if self.state == State::Established && self.sender.fin_acknowledged() && self.receiver.fin_received()
        {
            cold_path();
            self.state = State::TimeWait;
            self.linger = Some(now + TIME_WAIT);
            self.sender.timer.stop();
            self.events.closed = true;
        }
    }

    fn close(&mut self) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.events.closed = true;
            self.syn_timer = None;
            self.syn_due = false;
            self.linger = None;
        }
    }

    /// When [`advance`](Self::advance) must be called at the latest.
    pub fn next_event(&self) -> Option<Time> {
        // Called for every packet: plain comparisons, no collections.
        let mut next = Time::MAX;
        let mut consider = |at: Option<Time>| {
            if let Some(at) = at
                && at < next
            {
                next = at;
            }
        };
        match self.state {
            State::Established => {
                consider(self.sender.timer.at());
                consider(self.receiver.ack_due);
                consider(self.sender.pace_event());
            }
            State::SynSent | State::SynReceived => consider(self.syn_timer),
            State::TimeWait => {
                consider(self.linger);
                consider(self.receiver.ack_due);
            }
            State::Closed => {}
        }
        (next != Time::MAX).then_some(next)
    }

    /// Acts on the timers that are due at `now`.
    pub fn advance(&mut self, now: Time) {
        if self.syn_timer.is_some_and(|at| at <= now) {
            cold_path();
            self.syn_timer = None;
            if self.syn_tries > SYN_RETRIES {
                self.close();
            } else {
                self.syn_due = true;
            }
        }
        if self.receiver.ack_due.is_some_and(|at| at <= now) {
            self.receiver.delay_is_over(self.sender.rtt.smoothed());
        }
        if self.linger.is_some_and(|at| at <= now) {
            self.close();
            self.events.closed = false;
        }
        if self.state == State::Established {
            self.sender.fire(now);
            if self.sender.timeouts.given_up() {
                self.close();
            }
        }
    }

    /// The next packet to send at `now`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        let mut packet = outbox::blank();
        self.transmit(now, &mut packet).then_some(packet)
    }

    /// Writes the next packet to send at `now` to `place`; false if there is none.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Time, place: &mut Transmit) -> bool {
        if self.reset_due {
            cold_path();
            self.reset_due = false;
            let flags = Flags::RST.with(Flags::ACK);
            self.write(now, self.sender.nxt, flags, 0, Ecn::NotEct, place);
            place.payload = OwnedPayload::Synthetic(0);
            return true;
        }
        match self.state {
            State::SynSent | State::SynReceived => {
                cold_path();
                let due = self.syn_due;
                if due {
                    self.syn(now, place);
                }
                return due;
            }
            State::Established => {
                if let Some(cut) = self.sender.poll(now) {
                    self.data(now, cut, place);
                    return true;
                }
            }
            State::TimeWait => {}
            State::Closed => return false,
        }
        let due = self.receiver.ack_now;
        if due {
            self.acknowledgement(now, place);
        }
        due
    }

    #[cold]
    #[inline(never)]
    fn syn(&mut self, now: Time, place: &mut Transmit) {
        self.syn_due = false;
        let wait = self.wanted.initial_rto.nanos() << self.syn_tries.min(6);
        self.syn_timer = Some(now + Duration::from_nanos(wait));
        self.syn_tries += 1;
        let answering = self.state == State::SynReceived;
        if self.syn_tries == 1 {
            self.syn_sent = now;
        }
        let window = if answering {
            u16::try_from(self.receiver.advertised()).unwrap_or(u16::MAX)
        } else {
            self.receiver.syn_window(self.segment - self.option_bytes())
        };
        let mut flags = Flags::SYN;
        if answering {
            flags = flags.with(Flags::ACK);
            if self.ecn {
                flags = flags.with(Flags::ECE);
            }
        } else if self.wanted.ecn == EcnMode::Request {
            flags = flags.with(Flags::ECE).with(Flags::CWR);
        }
        let shift = self.wanted.shift;
        let options = Options {
            mss: u16::try_from(self.segment_limit).ok(),
            window_scale: if answering && !self.peer_scales {
                None
            } else {
                shift
            },
            sack_permitted: if answering {
                self.sender.sack
            } else {
                self.wanted.sack
            },
            timestamps: self.timestamps.then(|| (stamp(now), self.receiver.ts_recent)),
            sack: crate::wire::SackBlocks::new(),
        };
        let ack = if answering {
            self.peer_initial + 1
        } else {
            Seq32(0)
        };
        self.write_ip(now, Ecn::NotEct, place);
        place.payload = OwnedPayload::Synthetic(0);
        place.header.transport = Transport::Tcp(TcpHeader {
            src_port: self.ends.local.port(),
            dst_port: self.ends.remote.port(),
            seq: self.initial,
            ack,
            flags,
            window,
            options,
        });
    }

    #[inline]
    fn data(&mut self, now: Time, cut: Cut, place: &mut Transmit) {
        let mut flags = Flags::ACK;
        if cut.push {
            flags = flags.with(Flags::PSH);
        }
        if cut.fin {
            cold_path();
            flags = flags.with(Flags::FIN);
        }
        let mut ecn = Ecn::NotEct;
        if self.ecn && cut.len > 0 && !cut.retransmission {
            ecn = Ecn::Ect0;
            if self.sender.reduction.take_announcement() {
                flags = flags.with(Flags::CWR);
            }
        }
        place.payload = if cut.len == 0 {
            OwnedPayload::Synthetic(0)
        } else {
            self.sender.queue.stream.payload(cut.start - 1, cut.len)
        };
        if cut.len > 0 {
            self.receiver.note_answer(now);
        }
        let window = self.receiver.acknowledge(false);
        self.write(now, cut.start, flags, window, ecn, place);
        self.finish_closing(now);
    }

    #[inline]
    fn acknowledgement(&mut self, now: Time, place: &mut Transmit) {
        let window = self.receiver.acknowledge(true);
        self.write(now, self.sender.nxt, Flags::ACK, window, Ecn::NotEct, place);
        place.payload = OwnedPayload::Synthetic(0);
        if self.sender.sack
            && self.receiver.has_gaps()
            && let Transport::Tcp(header) = &mut place.header.transport
        {
            cold_path();
            let most = if self.timestamps { 3 } else { 4 };
            header.options.sack = self.receiver.sack_blocks(self.peer_initial, most);
        }
    }

    /// Writes all of a packet but its payload.
    #[inline]
    fn write(&self, now: Time, offset: u64, flags: Flags, window: u16, ecn: Ecn, place: &mut Transmit) {
        self.write_ip(now, ecn, place);
        let echo = self.ecn && self.receiver.echo_congestion;
        place.header.transport = Transport::Tcp(TcpHeader {
            src_port: self.ends.local.port(),
            dst_port: self.ends.remote.port(),
            seq: self.initial + (offset as u32),
            ack: self.peer_initial + (self.receiver.nxt as u32),
            flags: if echo { flags.with(Flags::ECE) } else { flags },
            window,
            options: Options {
                timestamps: self.timestamps.then(|| (stamp(now), self.receiver.ts_recent)),
                ..Options::NONE
            },
        });
    }

    #[inline]
    fn write_ip(&self, now: Time, ecn: Ecn, place: &mut Transmit) {
        place.at = now;
        place.header.src = self.ends.local.ip();
        place.header.dst = self.ends.remote.ip();
        place.header.dscp = self.dscp;
        place.header.ecn = ecn;
        place.header.ttl = 64;
        place.header.df = true;
    }

    /// The path carries no larger packet than `mtu` (RFC 1191, RFC 8201); smaller segments from now on.
    pub fn path_mtu(&mut self, mtu: u32) {
        let headers = if self.ends.local.is_ipv4() { 40 } else { 60 };
        let segment = mtu.saturating_sub(headers).max(48);
        if segment < self.segment && self.state == State::Established {
            self.segment = segment;
            self.sender.shrink_segments(self.payload_per_segment());
        }
    }

    fn offset_of_ack(&self, header: &TcpHeader) -> u64 {
        offset(header.ack, self.initial, self.sender.una)
    }

    fn offset_of_seq(&self, header: &TcpHeader) -> u64 {
        offset(header.seq, self.peer_initial, self.receiver.nxt)
    }

    fn since_stamp(now: Time, echo: u32) -> Duration {
        Duration::from_millis(u64::from(stamp(now).wrapping_sub(echo)).min(600_000))
    }
}

/// The 64-bit offset of `seq` from `initial` that lies nearest to `reference`; never negative.
fn offset(seq: Seq32, initial: Seq32, reference: u64) -> u64 {
    let near = initial + (reference as u32);
    let distance = i64::from(seq.distance(near));
    reference.checked_add_signed(distance).unwrap_or(0)
}

/// The timestamp clock: milliseconds (RFC 7323, section 5.4), never 0.
const fn stamp(now: Time) -> u32 {
    ((now.nanos() / 1_000_000) as u32).wrapping_add(1)
}

const SYN_RETRIES: u32 = 6;
const TIME_WAIT: Duration = Duration::from_secs(60);

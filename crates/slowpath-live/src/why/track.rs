//! From samples to states: what one connection did between two looks.
//!
//! The kernel counts, in jiffies, how long a sender was busy, and of that how long the peer's window and its own send
//! buffer held it (`tcp_chrono_set` in `net/ipv4/tcp_output.c`). `busy_time` contains the other two. What is left of the
//! busy time belongs to the program when nothing waits to be sent and the congestion window has room, else to the path.

use slowpath_sys::tcp_info::TcpInfo;
use slowpath_units::Time;

use super::pace::{Rates, Recent};
use super::sample::ConnectionSample;

/// What a connection did at an instant, nearest the data first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Nothing to send and nothing outstanding.
    Idle,
    /// Data are on their way, and the program has no more of them.
    Program,
    /// The socket may send no faster: its pace is at the bound that its program set (`SO_MAX_PACING_RATE`), and the congestion window has room.
    Paced,
    /// The send buffer is full and all of it is sent.
    SendBuffer,
    /// The peer's window is full.
    Window,
    /// The peer's window is full or closed, and much smaller than it was.
    WindowShrunk,
    /// The peer's window is full and the round trip is longer than that of the empty path.
    WindowLate,
    /// The congestion window grows from its start.
    SlowStart,
    /// The congestion window is full and packets queue on the path.
    Queue,
    /// The congestion window is full and the round trip is longer than the least, which a queue does and jitter as well.
    Uneven,
    /// The congestion window is full and the path is empty but for it.
    Growth,
    /// Marks of congestion keep the congestion window small.
    Marked,
    /// Losses are being repaired.
    Recovery,
    /// A timeout is being repaired.
    Timeout,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 14] = [
        Self::Idle,
        Self::Program,
        Self::Paced,
        Self::SendBuffer,
        Self::Window,
        Self::WindowShrunk,
        Self::WindowLate,
        Self::SlowStart,
        Self::Queue,
        Self::Uneven,
        Self::Growth,
        Self::Marked,
        Self::Recovery,
        Self::Timeout,
    ];

    /// The stable name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Program => "program",
            Self::Paced => "paced",
            Self::SendBuffer => "send-buffer",
            Self::Window => "window",
            Self::WindowShrunk => "window-shrunk",
            Self::WindowLate => "window-late",
            Self::SlowStart => "slow-start",
            Self::Queue => "queue",
            Self::Uneven => "uneven",
            Self::Growth => "growth",
            Self::Marked => "marked",
            Self::Recovery => "recovery",
            Self::Timeout => "timeout",
        }
    }
}

/// Seconds by state.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Times([f64; State::ALL.len()]);

impl Times {
    /// Seconds in a state.
    pub fn of(&self, state: State) -> f64 {
        self.0[state as usize]
    }

    /// Seconds in any of the states.
    pub fn sum(&self, states: &[State]) -> f64 {
        states.iter().map(|&state| self.of(state)).sum()
    }

    /// Seconds in all states.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    /// The state with the most time.
    pub fn longest(&self) -> State {
        State::ALL
            .into_iter()
            .max_by(|&a, &b| self.of(a).total_cmp(&self.of(b)))
            .unwrap_or(State::Idle)
    }

    /// Adds seconds to a state.
    pub fn add(&mut self, state: State, seconds: f64) {
        self.0[state as usize] += seconds;
    }

    /// Gives the seconds of one state to another.
    pub(super) fn give(&mut self, from: State, to: State, seconds: f64) {
        self.0[from as usize] = (self.of(from) - seconds).max(0.0);
        self.add(to, seconds);
    }

    /// Adds another account.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

/// A stretch of some tenths of a second or more, summed up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Begin.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Time by state.
    pub times: Times,
    /// Payload bytes acknowledged.
    pub sent: u64,
    /// Payload bytes received in order.
    pub received: u64,
    /// Mean smoothed round-trip time of the looks that had one, seconds; 0 where none had.
    pub rtt: f64,
    /// Mean of its mean deviation, of the same looks, seconds.
    pub rtt_deviation: f64,
    /// Mean bytes in flight.
    pub flight: f64,
    /// Least and greatest window of the peer, bytes.
    pub peer_window: (u64, u64),
    /// Mean window offered to the peer, bytes.
    pub own_window: f64,
    /// Mean bytes that waited for the program to read them.
    pub unread: f64,
    /// Least bytes that waited for the program at a look.
    pub least_unread: u32,
    /// Seconds in which bytes that nobody read took what would else be offered to the peer.
    pub unread_s: f64,
    /// Mean of the receiver's own estimate of the round-trip time, of the looks that had one, seconds; 0 where none had.
    pub receiver_rtt: f64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Segments that arrived out of order.
    pub out_of_order: u64,
    /// Seconds of the looks at which no data had arrived.
    pub silent_s: f64,
    arrivals: f64,
    /// Segments of the peer, bytes.
    segment: u32,
    looks: f64,
    /// Looks that had a round-trip time, and a receiver's: before the first measurement the kernel tells 0.
    measured: (f64, f64),
}

impl Stretch {
    /// Whether the program never emptied the socket, at none of several looks: it reads slower than data come, whatever room is left.
    pub fn is_never_emptied(&self) -> bool {
        self.looks >= SEVERAL && self.segment > 0 && self.least_unread >= SEGMENTS * self.segment
    }

    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.to.since(self.from).seconds()
    }

    /// Whether bytes come in rather than go out.
    pub const fn is_download(&self) -> bool {
        self.received > self.sent
    }

    /// Bytes per second in the direction with more of them.
    pub fn rate(&self) -> f64 {
        let seconds = self.seconds();
        if seconds > 0.0 {
            self.sent.max(self.received) as f64 / seconds
        } else {
            0.0
        }
    }

    /// Whether data came several segments at a time, with silence for half of the time or more.
    pub fn is_in_bursts(&self) -> bool {
        self.silent_s * 2.0 >= self.seconds() && self.received as f64 >= BURST * self.arrivals.max(1.0)
    }

    fn begin(sample: &ConnectionSample) -> Self {
        let at = Time::from_nanos(sample.at);
        Self {
            from: at,
            to: at,
            times: Times::default(),
            sent: 0,
            received: 0,
            rtt: 0.0,
            rtt_deviation: 0.0,
            flight: 0.0,
            peer_window: (u64::MAX, 0),
            own_window: 0.0,
            unread: 0.0,
            least_unread: u32::MAX,
            unread_s: 0.0,
            receiver_rtt: 0.0,
            retransmitted: 0,
            out_of_order: 0,
            silent_s: 0.0,
            arrivals: 0.0,
            segment: 0,
            looks: 0.0,
            measured: (0.0, 0.0),
        }
    }

    fn join(&mut self, later: &Self) {
        let looks = self.looks + later.looks;
        let mean = |a: f64, b: f64| weighted_mean((a, self.looks), (b, later.looks));
        let (own, of_later) = (self.measured, later.measured);
        self.rtt = weighted_mean((self.rtt, own.0), (later.rtt, of_later.0));
        self.rtt_deviation = weighted_mean((self.rtt_deviation, own.0), (later.rtt_deviation, of_later.0));
        self.receiver_rtt = weighted_mean((self.receiver_rtt, own.1), (later.receiver_rtt, of_later.1));
        self.measured = (own.0 + of_later.0, own.1 + of_later.1);
        self.flight = mean(self.flight, later.flight);
        self.own_window = mean(self.own_window, later.own_window);
        self.unread = mean(self.unread, later.unread);
        self.least_unread = self.least_unread.min(later.least_unread);
        self.unread_s += later.unread_s;
        self.looks = looks;
        self.segment = self.segment.max(later.segment);
        self.to = later.to;
        self.times.merge(&later.times);
        self.sent += later.sent;
        self.received += later.received;
        self.peer_window = (
            self.peer_window.0.min(later.peer_window.0),
            self.peer_window.1.max(later.peer_window.1),
        );
        self.retransmitted += later.retransmitted;
        self.out_of_order += later.out_of_order;
        self.silent_s += later.silent_s;
        self.arrivals += later.arrivals;
    }
}

/// One repair of losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Episode {
    /// When it was first seen.
    pub at: Time,
    /// Bytes per second delivered in the round trips before it.
    pub rate_before: f64,
    /// Bytes in flight before it.
    pub flight_before: f64,
    /// Steady round-trip time before it, seconds.
    pub rtt_before: f64,
    /// Congestion window before it, segments.
    pub window_before: u32,
    /// Whether the window grew from its start before it.
    pub starting: bool,
    /// Segments sent again.
    pub segments: u64,
}

/// One gap in what arrived: from the first look that saw segments behind a missing one to the look that saw nothing missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// When it was first seen.
    pub at: Time,
    /// How long it was open, seconds, from that look to the last that saw it open: a look more or less.
    pub seconds: f64,
    /// Whether nothing could be given to the program for a look or longer: it was not filled at once.
    pub stood: bool,
    /// Bytes per second received in the round trips before it; 0 where another gap was that near.
    pub rate_before: f64,
    /// The same behind it, once it is known.
    pub rate_after: Option<f64>,
    /// The receiver's own round-trip time before it, seconds; 0 without one.
    pub rtt_before: f64,
    /// Segments that filled what was missing while the gap was open, those of its first and last look left out.
    pub filled: u64,
}

/// Follows one connection from look to look in bounded memory.
#[derive(Debug, Clone)]
pub struct Track {
    first: ConnectionSample,
    last: ConnectionSample,
    least_rtt: f64,
    total: Times,
    stretches: Vec<Stretch>,
    open: Stretch,
    stretch_length: f64,
    carried: Carried,
    episodes: Vec<Episode>,
    recovering: bool,
    gaps: Vec<Gap>,
    gap_open: bool,
    gap_seconds: f64,
    gap_unsure: (f64, u64),
    arrived: Recent,
    came: Came,
    recent: Recent,
    answered: Answered,
    full_window: FullWindow,
    window_rates: Rates,
    greatest_peer_window: u64,
    looks: u64,
    newest: Times,
    newest_buffer: f64,
    newest_written: bool,
    congestion_control: String,
}

/// Time that a counter of the kernel has added in one step and that belongs to earlier looks.
#[derive(Debug, Clone, Copy, Default)]
struct Carried {
    busy: f64,
    window: f64,
    buffer: f64,
}

/// What arrived, with what waits behind a gap.
#[derive(Debug, Clone, Copy, Default)]
struct Came {
    bytes: f64,
    /// Bytes and segments while nothing was missing.
    plain: (u64, u64),
}

impl Came {
    /// Payload of a segment as they came while nothing was missing, or `usual`.
    fn payload(&self, usual: u32) -> f64 {
        let (bytes, segments) = self.plain;
        if segments == 0 {
            f64::from(usual)
        } else {
            bytes as f64 / segments as f64
        }
    }
}

/// How often the program went on sending after a word from the peer, and without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answered {
    /// Looks after a pause at which both bytes had come in and bytes had gone out.
    pub resumed_after_word: u64,
    /// Looks after a pause at which bytes had gone out and none had come in.
    pub resumed_alone: u64,
    /// Looks in a pause at which bytes had come in and nothing had gone out.
    pub word_only: u64,
    /// Looks in a pause at which nothing happened.
    pub silence: u64,
}

/// Looks at which the peer's window was full, and what showed the reader behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FullWindow {
    /// All of them.
    pub looks: u64,
    /// Those at which the window had become smaller: bytes came that nobody read (RFC 9293, section 3.8.6).
    pub shrank: u64,
    /// Those at which four segments or more should have been acknowledged, at the rate of the last round trips.
    pub expectant: u64,
    /// Of these, those at which nothing was.
    pub silent: u64,
}

impl Track {
    /// Begins with the first look.
    pub fn new(first: ConnectionSample) -> Self {
        let open = Stretch::begin(&first);
        let mut track = Self {
            last: first.clone(),
            least_rtt: f64::INFINITY,
            total: Times::default(),
            stretches: Vec::new(),
            open,
            stretch_length: STRETCH,
            carried: Carried::default(),
            episodes: Vec::new(),
            recovering: first.info.ca_state >= RECOVERY,
            gaps: Vec::new(),
            gap_open: false,
            gap_seconds: 0.0,
            gap_unsure: (0.0, 0),
            arrived: Recent::default(),
            came: Came::default(),
            recent: Recent::default(),
            answered: Answered::default(),
            full_window: FullWindow::default(),
            window_rates: Rates::default(),
            greatest_peer_window: u64::from(first.info.snd_wnd),
            looks: 1,
            newest: Times::default(),
            newest_buffer: 0.0,
            newest_written: false,
            congestion_control: String::new(),
            first,
        };
        track.remember_least(&track.first.clone());
        track
    }

    /// The same of a connection with this congestion control.
    #[must_use]
    pub fn under(mut self, congestion_control: &str) -> Self {
        congestion_control.clone_into(&mut self.congestion_control);
        self
    }

    /// The congestion control at the first look; empty if not known.
    pub fn congestion_control(&self) -> &str {
        &self.congestion_control
    }

    /// Takes the next look; one that is not later than the last is ignored.
    pub fn observe(&mut self, now: ConnectionSample) {
        if now.at <= self.last.at {
            return;
        }
        self.looks += 1;
        self.remember_least(&now);
        self.greatest_peer_window = self.greatest_peer_window.max(u64::from(now.info.snd_wnd));
        let times = self.states(&now);
        self.newest = times;
        // Both counts end at what is acknowledged (`snd_una`), and the second begins there.
        let written = |sample: &ConnectionSample| sample.info.bytes_acked + u64::from(sample.send_queue);
        self.newest_written = written(&now) > written(&self.last);
        self.total.merge(&times);
        self.episode(&now);
        self.gap(&now);
        self.answer(&now);
        self.look_at_window(&now, &times);
        let span = (u64::from(now.info.rtt) * 2_000).max(SHORTEST_SPAN);
        self.recent.add(now.at, now.info.bytes_acked, span);
        self.stretch(&now, &times);
        self.last = now;
    }

    /// The first look.
    pub const fn first(&self) -> &ConnectionSample {
        &self.first
    }

    /// The newest look.
    pub const fn last(&self) -> &ConnectionSample {
        &self.last
    }

    /// Number of looks.
    pub const fn looks(&self) -> u64 {
        self.looks
    }

    /// Time by state since the first look; sums to the time watched.
    pub const fn times(&self) -> &Times {
        &self.total
    }

    /// Time by state between the newest two looks.
    pub const fn newest(&self) -> &Times {
        &self.newest
    }

    /// Whether the program wrote anything between the newest two looks.
    pub const fn has_written(&self) -> bool {
        self.newest_written
    }

    /// Seconds between the newest two looks in which a writer waited for room in the send buffer, as the kernel counted.
    pub const fn newest_buffer(&self) -> f64 {
        self.newest_buffer
    }

    /// The stretches so far, the open one last.
    pub fn stretches(&self) -> impl Iterator<Item = &Stretch> {
        self.stretches
            .iter()
            .chain((self.open.to > self.open.from).then_some(&self.open))
    }

    /// The repairs of losses seen, the newest thousand.
    pub fn episodes(&self) -> &[Episode] {
        &self.episodes
    }

    /// The gaps in what arrived, the newest thousand.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Seconds in which something was missing of what arrived.
    pub const fn gap_seconds(&self) -> f64 {
        self.gap_seconds
    }

    /// How the program's pauses ended.
    pub const fn answered(&self) -> Answered {
        self.answered
    }

    /// How a full window behaved.
    pub const fn full_window(&self) -> FullWindow {
        self.full_window
    }

    /// Rates of the round trips in which the peer's window was full.
    pub const fn window_rates(&self) -> &Rates {
        &self.window_rates
    }

    /// Least round-trip time known, seconds, with what the kernel remembered; infinite without any.
    pub const fn least_rtt(&self) -> f64 {
        self.least_rtt
    }

    /// Seconds from the first to the newest look.
    pub fn seconds(&self) -> f64 {
        (self.last.at - self.first.at) as f64 / 1e9
    }

    /// Payload bytes acknowledged since the first look.
    pub const fn sent(&self) -> u64 {
        self.last
            .info
            .bytes_acked
            .saturating_sub(self.first.info.bytes_acked)
    }

    /// Payload bytes received since the first look.
    pub const fn received(&self) -> u64 {
        self.last
            .info
            .bytes_received
            .saturating_sub(self.first.info.bytes_received)
    }

    /// Payload bytes that arrived since the first look, with those that wait here for a lost one: `bytes_received` stands until that is
    /// there, while the kernel counts segments as they come.
    pub const fn arrived(&self) -> u64 {
        self.came.bytes as u64
    }

    /// Whether something has waited to be acknowledged, or to be read here, from the first look to the newest, and nothing of it moved.
    pub fn stands_still(&self) -> bool {
        let waits = |at: fn(&ConnectionSample) -> u32| at(&self.first) > 0 && at(&self.last) > 0;
        self.sent() + self.received() == 0
            && self.last.info.state != SYN_SENT
            && self.seconds() >= STILL
            && (waits(|sample| sample.send_queue) || waits(|sample| sample.receive_queue))
    }

    /// For how long the other end has not answered the request to connect, seconds; `None` once it has.
    pub fn unanswered_request_s(&self) -> Option<f64> {
        (self.last.info.state == SYN_SENT).then(|| self.seconds())
    }

    /// The peer's greatest window so far, bytes.
    pub const fn greatest_peer_window(&self) -> u64 {
        self.greatest_peer_window
    }

    /// A shorter round trip that another connection to the same peer knows, seconds.
    pub fn learn_least_rtt(&mut self, seconds: f64) {
        if seconds > 0.0 {
            self.least_rtt = self.least_rtt.min(seconds);
        }
    }

    fn remember_least(&mut self, now: &ConnectionSample) {
        // Unset values are zero or all ones.
        for value in [now.info.min_rtt, now.info.rtt, now.info.rcv_rtt] {
            if value > 0 && value < u32::MAX {
                self.least_rtt = self.least_rtt.min(f64::from(value) / 1e6);
            }
        }
    }

    /// Splits the time between two looks among the states.
    fn states(&mut self, now: &ConnectionSample) -> Times {
        let seconds = (now.at - self.last.at) as f64 / 1e9;
        let (before, after) = (&self.last.info, &now.info);
        let micros = |later: u64, earlier: u64| later.saturating_sub(earlier) as f64 / 1e6;
        self.carried.busy += micros(after.busy_time, before.busy_time);
        self.carried.window += micros(after.rwnd_limited, before.rwnd_limited);
        self.carried.buffer += micros(after.sndbuf_limited, before.sndbuf_limited);
        // The counters advance in jiffies: what does not fit into this interval belongs to the next.
        let busy = self.carried.busy.min(seconds);
        let window = self.carried.window.min(busy);
        let buffer = self.carried.buffer.min(busy - window);
        self.carried.busy = (self.carried.busy - busy).min(JIFFY);
        self.carried.window = (self.carried.window - window).min(JIFFY);
        self.carried.buffer = (self.carried.buffer - buffer).min(JIFFY);
        let mut times = Times::default();
        times.add(State::Idle, seconds - busy);
        times.add(State::SendBuffer, buffer);
        self.newest_buffer = buffer;
        times.add(self.window_state(now), window);
        let rest = busy - window - buffer;
        times.add(path_state(&self.last, &self.last, self.least_rtt), rest / 2.0);
        times.add(path_state(&self.last, now, self.least_rtt), rest / 2.0);
        times
    }

    /// What a full window of the peer means: its size, a slow reader, or a link that is full all the same.
    fn window_state(&self, now: &ConnectionSample) -> State {
        let window = u64::from(now.info.snd_wnd).min(u64::from(self.last.info.snd_wnd));
        if window * 2 < self.greatest_peer_window {
            State::WindowShrunk
        } else if has_queue(now, self.least_rtt) && has_queue(&self.last, self.least_rtt) {
            State::WindowLate
        } else {
            State::Window
        }
    }

    fn episode(&mut self, now: &ConnectionSample) {
        let retransmitted = u64::from(
            now.info
                .total_retrans
                .saturating_sub(self.last.info.total_retrans),
        );
        let recovering = now.info.ca_state >= RECOVERY;
        if retransmitted > 0 && !self.recovering {
            if self.episodes.len() == EPISODES {
                self.episodes.remove(0);
            }
            self.episodes.push(Episode {
                at: Time::from_nanos(now.at),
                rate_before: self.recent.rate(),
                flight_before: flight(&self.last),
                rtt_before: steady_rtt(&self.last),
                window_before: self.last.info.snd_cwnd,
                starting: self.last.info.snd_cwnd < self.last.info.snd_ssthresh,
                segments: retransmitted,
            });
        } else if let Some(episode) = self.episodes.last_mut() {
            episode.segments += retransmitted;
        }
        self.recovering = recovering;
    }

    /// Follows what is missing of what arrives. Behind a missing segment the kernel counts each that comes as out of order, and
    /// `bytes_received` stands until it is there (`tcp_data_queue` in `net/ipv4/tcp_input.c`).
    fn gap(&mut self, now: &ConnectionSample) {
        let (before, after) = (&self.last.info, &now.info);
        let seconds = (now.at - self.last.at) as f64 / 1e9;
        let behind = u64::from(after.rcv_ooopack.wrapping_sub(before.rcv_ooopack));
        let arrived = u64::from(after.data_segs_in.wrapping_sub(before.data_segs_in));
        let moved = after.bytes_received > before.bytes_received;
        let was_open = self.gap_open;
        // Memory of what came and waits for no reader is that of the queue behind the gap.
        let queued = (now.memory.receive_buffer > 0 && now.receive_queue == 0)
            .then_some(now.memory.receive_allocated > 0);
        self.gap_open = match queued {
            Some(queued) => queued && (was_open || behind > 0),
            None => behind > 0 || was_open && !moved,
        };
        if was_open || self.gap_open {
            self.came.bytes += arrived as f64 * self.came.payload(after.rcv_mss);
        } else {
            let bytes = after.bytes_received.saturating_sub(before.bytes_received);
            self.came.bytes += bytes as f64;
            self.came.plain.0 += bytes;
            self.came.plain.1 += arrived;
        }
        self.gap_seconds += seconds * f64::from(u8::from(was_open) + u8::from(self.gap_open)) / 2.0;
        let span = 2 * u64::from(receiver_round_trip(now)) * 1_000;
        if behind > 0 && !was_open {
            if self.gaps.len() == EPISODES {
                self.gaps.remove(0);
            }
            self.gaps.push(Gap {
                at: Time::from_nanos(now.at),
                seconds: 0.0,
                stood: !moved,
                rate_before: if self.arrived.seconds() * 2e9 >= span as f64 {
                    self.arrived.rate()
                } else {
                    0.0
                },
                rate_after: None,
                rtt_before: f64::from(before.rcv_rtt) / 1e6,
                filled: 0,
            });
            self.gap_unsure = (0.0, 0);
        } else if self.gap_open
            && let Some(gap) = self.gaps.last_mut()
        {
            gap.stood |= !moved;
            // The newest look with something behind the gap may also be that in which it closed.
            let (before, filled) = self.gap_unsure;
            gap.seconds += before;
            gap.filled += filled;
            self.gap_unsure = (seconds, arrived.saturating_sub(behind));
        } else if was_open && let Some(gap) = self.gaps.last_mut() {
            gap.seconds += self.gap_unsure.0;
        }
        if self.gap_open || was_open {
            // What came behind the gap is given all at once: no rate.
            self.arrived = Recent::default();
        }
        if !self.gap_open {
            self.arrived
                .add(now.at, after.bytes_received, span.max(SHORTEST_SPAN));
            if let Some(gap) = self.gaps.last_mut()
                && gap.rate_after.is_none()
                && self.arrived.seconds() * 1e9 >= span.max(SHORTEST_SPAN) as f64
            {
                gap.rate_after = Some(self.arrived.rate());
            }
        }
    }

    fn answer(&mut self, now: &ConnectionSample) {
        if !is_program_limited(&self.last) {
            return;
        }
        let went = now.info.bytes_sent > self.last.info.bytes_sent;
        let came = now.info.bytes_received > self.last.info.bytes_received;
        let count = match (went, came) {
            (true, true) => &mut self.answered.resumed_after_word,
            (true, false) => &mut self.answered.resumed_alone,
            (false, true) => &mut self.answered.word_only,
            (false, false) => &mut self.answered.silence,
        };
        *count += 1;
    }

    fn look_at_window(&mut self, now: &ConnectionSample, times: &Times) {
        let full = times.sum(&[State::Window, State::WindowShrunk, State::WindowLate]);
        if full < 0.5 * times.total() {
            return;
        }
        let (before, after) = (&self.last.info, &now.info);
        let acknowledged = after.bytes_acked.saturating_sub(before.bytes_acked);
        self.full_window.looks += 1;
        if after.snd_wnd < before.snd_wnd {
            self.full_window.shrank += 1;
        }
        self.window_rates.add(self.recent.rate());
        let expected = self.recent.rate() * (now.at - self.last.at) as f64 / 1e9;
        if expected >= 4.0 * f64::from(after.snd_mss) {
            self.full_window.expectant += 1;
            self.full_window.silent += u64::from(acknowledged == 0);
        }
    }

    fn stretch(&mut self, now: &ConnectionSample, times: &Times) {
        let (before, after) = (&self.last.info, &now.info);
        let arrived =
            after.data_segs_in != before.data_segs_in || after.bytes_received != before.bytes_received;
        let look = Stretch {
            from: Time::from_nanos(self.last.at),
            to: Time::from_nanos(now.at),
            times: *times,
            sent: after.bytes_acked.saturating_sub(before.bytes_acked),
            received: after.bytes_received.saturating_sub(before.bytes_received),
            rtt: f64::from(after.rtt) / 1e6,
            rtt_deviation: f64::from(after.rttvar) / 1e6,
            flight: flight(now),
            peer_window: (u64::from(after.snd_wnd), u64::from(after.snd_wnd)),
            own_window: f64::from(after.rcv_wnd),
            unread: f64::from(now.receive_queue),
            least_unread: now.receive_queue,
            unread_s: unread_seconds(&self.last, now),
            receiver_rtt: f64::from(after.rcv_rtt) / 1e6,
            retransmitted: u64::from(after.total_retrans.saturating_sub(before.total_retrans)),
            out_of_order: u64::from(after.rcv_ooopack.saturating_sub(before.rcv_ooopack)),
            silent_s: if arrived {
                0.0
            } else {
                (now.at - self.last.at) as f64 / 1e9
            },
            arrivals: f64::from(u8::from(arrived)),
            segment: now.info.rcv_mss,
            looks: 1.0,
            measured: (
                f64::from(u8::from(after.rtt > 0)),
                f64::from(u8::from(after.rcv_rtt > 0)),
            ),
        };
        self.open.join(&look);
        if self.open.seconds() < self.stretch_length.max(f64::from(after.rtt) / 1e6) {
            return;
        }
        self.stretches.push(self.open);
        self.open = Stretch::begin(now);
        if self.stretches.len() == STRETCHES {
            let halves: Vec<_> = self.stretches.chunks(2).map(joined).collect();
            self.stretches = halves;
            self.stretch_length *= 2.0;
        }
    }
}

/// Whether what came in waits for the program here now: it takes most of what is offered, or was there at every look lately.
pub fn is_unread(track: &Track) -> bool {
    let last = &track.last;
    let waits = last.receive_queue >= SEGMENTS * last.info.rcv_mss.max(1);
    is_reader_slow(last) || waits && track.stretches.last().is_some_and(Stretch::is_never_emptied)
}

/// Whether bytes come in rather than go out: in the newest stretch, or in all where nothing moves any more.
pub fn is_receiving(track: &Track) -> bool {
    match track.stretches().last() {
        Some(one) if one.sent + one.received > 0 => one.is_download(),
        _ => track.received() > track.sent() || track.last.receive_queue > 0 && track.last.send_queue == 0,
    }
}

/// More than half of what is offered to the peer is taken by bytes that nobody reads.
pub fn is_reader_slow(sample: &ConnectionSample) -> bool {
    sample.receive_queue > 0 && sample.receive_queue >= sample.info.rcv_wnd.max(sample.info.rcv_mss)
}

/// Of the time between two looks, that in which the bytes to read took what would else be offered: half for each look that saw it.
fn unread_seconds(before: &ConnectionSample, now: &ConnectionSample) -> f64 {
    let seen = u8::from(is_reader_slow(before)) + u8::from(is_reader_slow(now));
    f64::from(seen) / 2.0 * (now.at - before.at) as f64 / 1e9
}

/// Whether the program has given everything it has, and there is room for more: while nothing waits to be sent it is the program
/// that is waited for, however full the congestion window is of what it gave.
pub fn is_program_limited(sample: &ConnectionSample) -> bool {
    let info = &sample.info;
    // Less than a segment may wait for more of it (RFC 896), but not where the congestion window has no room for it.
    let waits = info.notsent_bytes > 0 && segments_in_flight(info) >= info.snd_cwnd;
    info.notsent_bytes < info.snd_mss
        && !waits
        && u64::from(sample.send_queue) + u64::from(info.snd_mss) <= u64::from(info.snd_wnd)
        && !is_buffer_full(sample)
}

/// What a sending connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// Data wait in the socket.
    Network,
    /// All is sent, and what is not acknowledged yet fills the send buffer or is being repaired.
    Room,
    /// More data.
    Program,
}

/// What a sending connection waits for at a look.
pub fn waits_for(sample: &ConnectionSample) -> WaitsFor {
    if is_buffer_full(sample) {
        WaitsFor::Room
    } else if !is_program_limited(sample) {
        WaitsFor::Network
    } else if sample.info.ca_state >= RECOVERY {
        WaitsFor::Room
    } else {
        WaitsFor::Program
    }
}

/// Segments that are sent and not yet acknowledged, selectively acknowledged or given up (`tcp_packets_in_flight` in `include/net/tcp.h`).
const fn segments_in_flight(info: &TcpInfo) -> u32 {
    info.unacked.saturating_sub(info.sacked + info.lost) + info.retrans
}

/// Bytes that are sent and not yet acknowledged, selectively acknowledged or given up.
pub fn flight(sample: &ConnectionSample) -> f64 {
    let info = &sample.info;
    // The last segment may be short: the queue is an upper bound while nothing was acknowledged selectively.
    let bytes = f64::from(segments_in_flight(info)) * f64::from(info.snd_mss);
    if info.sacked == 0 && info.lost == 0 && info.retrans == 0 {
        bytes.min(f64::from(sample.send_queue.saturating_sub(info.notsent_bytes)))
    } else {
        bytes
    }
}

/// Whether the round trip is longer than that of the empty path by more than timing noise.
///
/// The mean deviation is taken off: on a path that only jitters it is as large as what jitter adds to the mean.
pub fn has_queue(sample: &ConnectionSample, least_rtt: f64) -> bool {
    has_queue_at(steady_rtt(sample), least_rtt)
}

/// The same for a round trip of [`steady_rtt`].
pub fn has_queue_at(steady_rtt: f64, least_rtt: f64) -> bool {
    least_rtt.is_finite() && steady_rtt > least_rtt * QUEUE_RATIO + QUEUE_NOISE
}

/// Smoothed round-trip time less its mean deviation, seconds.
pub fn steady_rtt(sample: &ConnectionSample) -> f64 {
    f64::from(sample.info.rtt.saturating_sub(sample.info.rttvar)) / 1e6
}

/// The kernel's own time for a full buffer starts late: only once a writer waits with nothing left to send.
///
/// A writer that waits is woken when a third of the buffer is free (`sk_stream_write_space` in `include/net/sock.h`).
fn is_buffer_full(sample: &ConnectionSample) -> bool {
    let memory = &sample.memory;
    memory.send_buffer > 0
        && u64::from(memory.write_queued) * 100 >= u64::from(memory.send_buffer) * FULL_BUFFER
        && sample.info.notsent_bytes == 0
}

/// Whether the pace of a socket is at the bound that its program set, with room in the congestion window for more.
fn is_paced(info: &TcpInfo) -> bool {
    let bound = info.max_pacing_rate;
    // All ones are none, in 32 bits as well.
    let bounded = bound > 0 && bound < u64::from(u32::MAX);
    let room = u64::from(segments_in_flight(info)) * 100 < u64::from(info.snd_cwnd) * FULL_WINDOW;
    bounded && info.pacing_rate as f64 >= AT_BOUND * bound as f64 && room
}

fn path_state(before: &ConnectionSample, now: &ConnectionSample, least_rtt: f64) -> State {
    let info = &now.info;
    if info.ca_state == LOSS {
        return State::Timeout;
    }
    if info.ca_state == RECOVERY {
        return State::Recovery;
    }
    if is_buffer_full(now) {
        return State::SendBuffer;
    }
    if is_program_limited(now) {
        return State::Program;
    }
    if is_paced(info) {
        return State::Paced;
    }
    if info.delivered_ce > before.info.delivered_ce {
        return State::Marked;
    }
    if has_queue(now, least_rtt) {
        return State::Queue;
    }
    let starting = match now.bbr {
        Some(bbr) => bbr.pacing_gain >= BBR_STARTUP,
        None => info.snd_cwnd < info.snd_ssthresh,
    };
    if starting { State::SlowStart } else { State::Growth }
}

/// The round trip that a receiver knows, microseconds; its own estimate, else that of the few segments it sent.
pub(super) const fn receiver_round_trip(sample: &ConnectionSample) -> u32 {
    if sample.info.rcv_rtt > 0 {
        sample.info.rcv_rtt
    } else {
        sample.info.rtt
    }
}

/// The mean of two values, each with its weight; 0 without any.
fn weighted_mean(a: (f64, f64), b: (f64, f64)) -> f64 {
    let weight = a.1 + b.1;
    if weight > 0.0 {
        (a.0 * a.1 + b.0 * b.1) / weight
    } else {
        0.0
    }
}

fn joined(pair: &[Stretch]) -> Stretch {
    let mut one = pair[0];
    for later in &pair[1..] {
        one.join(later);
    }
    one
}

/// Congestion states of the kernel (`enum tcp_ca_state`).
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;
/// Percent of the congestion window from which it is full.
const FULL_WINDOW: u64 = 90;
/// Share of its bound from which a pace is at it.
const AT_BOUND: f64 = 0.95;
/// Percent of a send buffer below which a writer does not wait, with a segment to spare.
const FULL_BUFFER: u64 = 64;
/// A jiffy at 100 Hz, the slowest clock of a kernel's counters, seconds.
const JIFFY: f64 = 0.01;
/// TCP_SYN_SENT of `include/net/tcp_states.h`.
const SYN_SENT: u8 = 2;
/// Bytes that a look saw arrive, on average, where they come in bursts: four segments.
const BURST: f64 = 5_792.0;
/// A connection stands still when nothing moves for this long, seconds.
const STILL: f64 = 1.0;
/// Looks at which a program empties its socket once if it reads what comes.
const SEVERAL: f64 = 5.0;
/// Segments that a program may leave for the next time that it reads.
const SEGMENTS: u32 = 4;
/// Shortest stretch, seconds.
const STRETCH: f64 = 0.1;
/// Most stretches; then every two become one.
const STRETCHES: usize = 4096;
/// Shortest time over which a rate is taken, nanoseconds: four looks.
const SHORTEST_SPAN: u64 = 40_000_000;
/// Most repairs, and gaps, that are kept.
const EPISODES: usize = 1000;
/// A queue makes the round trip this much longer ...
const QUEUE_RATIO: f64 = 1.1;
/// ... and at least this many seconds: a train of 64 KiB takes 2.6 ms at 200 Mbit/s.
const QUEUE_NOISE: f64 = 0.003;
/// Startup paces at 2.77 (or 2.89) times the bandwidth, the probes at 1.25; unit 1/256.
const BBR_STARTUP: u32 = 512;

//! A flow over time: what was delivered, what was in flight, what the sender waited for, in steps of the least round
//! trip, and what befell it when.
//!
//! Facts without judgement. Long transfers have longer steps, so that the size is bounded.

use super::one_way::OneWay;
use super::outages::{Outage, Span};
use crate::ends::Tap;
use crate::track::Half;
use crate::track::log::{Tx, TxFlags};

/// Most steps of one flow.
const STEPS: f64 = 4_000.0;
/// Most events of one flow; later ones are counted by their steps alone.
const EVENTS: usize = 4_000;
/// Trains that must agree on a rate.
const TRAINS: usize = 2;
/// Share of the trains that the path spread which must agree.
const MOST: f64 = 0.5;
/// Share of trains that must agree where it is not known whether the path spread them.
const SOME: f64 = 0.3;
/// Share of a queue from which another is as long.
const SAME: f64 = 0.97;
/// How well.
const AGREE: f64 = 0.1;
/// Share of trains that may have been faster.
const FASTER: f64 = 0.1;
/// Parts into which the samples of a delay are told apart.
const HUNDREDTHS: usize = 100;
/// Weight of the newest distance between acknowledgements.
const SMOOTH: f64 = 0.125;
/// Share of that distance within which data follow an acknowledgement at once.
const AT_ONCE: f64 = 0.3;
/// Share of the least round trip within which room in a full window is filled again, where nothing else than the window held
/// the sender.
const REFILLED: f64 = 0.25;
/// For how long a sender that nothing holds may let room pass, nanoseconds: Linux gathers what its rate makes of a millisecond
/// into one packet for the card (`tcp_tso_autosize` and `tcp_tso_should_defer` in `net/ipv4/tcp_output.c`), and twice that is more.
const GATHERS: i64 = 2_000_000;
/// The least distance at which that can be told, nanoseconds: a program takes that long to wake up.
const TOLD_APART: f64 = 100_000.0;
/// The distance below which a program has not woken up within that share of it, nanoseconds: the lab's kernels take a tenth of
/// a millisecond.
const WAKES_WITHIN: f64 = 100_000.0 / AT_ONCE;
/// Bursts from which it is no chance that most of them come equally late.
const EQUALLY_LATE: usize = 20;
/// Acknowledgements that made room, after which a sender that its window holds has sent.
const ROOM: u32 = 3;
/// Delay of one way with which a segment stood in a queue, seconds.
const STANDS: f64 = 0.002;
/// Share of what the delay of a train that the path spread grows by, to which it has grown in the second half: less than half,
/// for the unit of the clock.
const HALFWAY: f64 = 0.25;
/// Two times of one packet differ by less, seconds.
const SAME_TIME: f64 = 1e-6;
/// Steps that must have reached a delay.
const REACHED: usize = 3;
/// Segments of a train.
const TRAIN: u64 = 8;
/// How close together a train is sent, as a share of the span of its acknowledgements, if the path spread it.
const SPREAD: f64 = 0.8;
/// How well the distances of three that come one behind another agree, if nothing lies between them.
const EVEN: f64 = 0.1;
/// Shortest step, seconds: below it stamps say more of the capture than of the path.
const SHORTEST: f64 = 0.001;

/// One flow over time. Times in seconds after the start of the capture, sizes in payload bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// First packet of the connection.
    pub opened_s: f64,
    /// First data; the first step begins here.
    pub from_s: f64,
    /// Last data or the acknowledgement of the last byte.
    pub to_s: f64,
    /// The last new data.
    pub sent_to_s: f64,
    /// Length of a step.
    pub step_s: f64,
    /// Least round trip; 0 if none was seen.
    pub least_rtt_s: f64,
    /// Least round trip of data, whose segments take longer to send than a handshake's (at the sender of full ones); 0 if
    /// none was seen.
    pub least_data_rtt_s: f64,
    /// Payload sent before the first acknowledgement of data.
    pub initial_window: u64,
    /// Whether the first packets of the connection were seen.
    pub from_the_start: bool,
    /// Whether the first data answered data of the other end.
    pub answers: bool,
    /// Steps, without a gap, the last one cut at `to_s`.
    pub steps: Vec<Step>,
    /// What befell the flow, in order.
    pub events: Vec<Event>,
    /// When nothing got through the path, in order.
    pub outages: Vec<Outage>,
    /// Payload bytes per second at which trains left the path: eight segments and more whose acknowledgements were further
    /// apart than the segments, so that something on the path spread them; at the receiver, as they arrived. Only where
    /// many of them agree and hardly any was faster.
    pub train_rate: Option<f64>,
    /// Times that data were sent after several acknowledgements had made room that nothing was sent into, answers to the
    /// other end apart.
    pub bursts: u32,
    /// Of these, those that came at once behind an acknowledgement: it let go what a buffer had held. Others came when the
    /// program liked. Where acknowledgements are so close that waking up takes a good part of what is between them, those that
    /// came equally late behind one.
    pub let_go: u32,
    /// Payload bytes sent in these bursts before anything more was acknowledged.
    pub burst_bytes: u64,
    /// When new data came that answer nothing of the other end, behind a time in which there were none though nothing held them
    /// back; and the payload that was sent until then.
    pub dry: Vec<(f64, u64)>,
    /// Unit in which the delays are known, seconds: they may seem longer by as much; 0 for that of the capture's clock.
    pub delay_unit_s: f64,
    /// Delays above the least round trip, seconds: the least, the hundredths of all samples, the largest; empty if there
    /// are none.
    pub delays_s: Vec<f64>,
}

impl Timeline {
    /// Share of [`reached_s`](Self::reached_s) from which the queue may be full: the first packet that a short queue drops
    /// comes before its longest delay is seen.
    pub const FULL: f64 = 0.65;

    /// From the first packet to the last acknowledgement, seconds.
    pub fn duration_s(&self) -> f64 {
        (self.to_s - self.opened_s).max(0.0)
    }

    /// Start of a step, seconds after the start of the capture.
    pub fn start_of(&self, step: usize) -> f64 {
        self.from_s + step as f64 * self.step_s
    }

    /// The step that holds a time.
    pub fn step_at(&self, at_s: f64) -> usize {
        let place = ((at_s - self.from_s) / self.step_s.max(1e-9)).max(0.0) as usize;
        place.min(self.steps.len().saturating_sub(1))
    }

    /// The longest time for which the window stayed closed: when it began, seconds after the start of the capture, and how
    /// long it was; `None` if it never closed.
    pub fn longest_stop(&self) -> Option<(f64, f64)> {
        let (mut longest, mut run): (Option<(f64, f64)>, (f64, f64)) = (None, (0.0, 0.0));
        for (place, step) in self.steps.iter().enumerate() {
            let closed = step.closed_s.min(self.length_of(place));
            if closed <= 0.0 {
                run.1 = 0.0;
                continue;
            }
            if run.1 <= 0.0 {
                run.0 = self.start_of(place) + self.length_of(place) - closed;
            }
            run.1 += closed;
            if longest.is_none_or(|(_, length)| run.1 > length) {
                longest = Some(run);
            }
        }
        longest
    }

    /// The delay above the least that several steps reached, seconds: what passed with it shows that a shorter queue was not
    /// full.
    pub fn reached_s(&self) -> f64 {
        let mut longest = [f64::NEG_INFINITY; REACHED];
        for step in &self.steps {
            let mut delay = step.rtt_max_s - self.least_rtt_s;
            if delay.is_finite() {
                for place in &mut longest {
                    if delay > *place {
                        std::mem::swap(place, &mut delay);
                    }
                }
            }
        }
        let shortest = longest[REACHED - 1];
        if shortest.is_finite() { shortest } else { 0.0 }
    }

    /// Notes when the machine of the capture held packets up: beginnings and ends in order, nanoseconds on its clock, whose
    /// first packet is at `origin`.
    pub(crate) fn note_held(&mut self, spans: &[(i64, i64)], origin: i64) {
        let seconds = |at: i64| at.saturating_sub(origin) as f64 / 1e9;
        for &(from, to) in spans {
            let (from, to) = (seconds(from).max(self.from_s), seconds(to).min(self.to_s));
            if from >= to || self.steps.is_empty() {
                continue;
            }
            for place in self.step_at(from)..=self.step_at(to) {
                let (start, length) = (self.start_of(place), self.length_of(place));
                let held = (start + length).min(to) - start.max(from);
                self.steps[place].held_s += held.max(0.0);
            }
        }
    }

    /// Notes the backlogs of a virtual queue at losses: nanoseconds on the clock of the capture, whose first packet is at
    /// `origin`, and shares of its size.
    pub(super) fn note_backlogs(&mut self, backlogs: &[(i64, f64)], origin: i64) {
        let seconds = |at: i64| (at - origin) as f64 / 1e9;
        let mut rest = backlogs.iter().peekable();
        for event in self
            .events
            .iter_mut()
            .filter(|event| event.kind == Happening::Loss)
        {
            while rest
                .next_if(|(at, _)| seconds(*at) < event.at_s - SAME_TIME)
                .is_some()
            {}
            if let Some((_, share)) = rest.next_if(|(at, _)| seconds(*at) <= event.at_s + SAME_TIME) {
                event.backlog = *share;
            }
        }
    }

    /// Share of the round trips with this delay above the least, seconds, or a longer one.
    pub fn delayed(&self, delay_s: f64) -> f64 {
        let shorter = self.delays_s.partition_point(|other| *other < delay_s);
        (self.delays_s.len() - shorter) as f64 / self.delays_s.len().max(1) as f64
    }

    /// Whether a retransmission timer had run out at a time, and nothing new had been sent since.
    pub fn follows_timeout(&self, at_s: f64) -> bool {
        let until = self.steps.get(..=self.step_at(at_s)).unwrap_or_default();
        let back = || until.iter().rev();
        let since = back().skip(1).take_while(|step| step.fresh == 0).count();
        // The step of that time, those since without anything new, and the one before them.
        back().take(since + 2).any(|step| step.silent_s > 0.0)
    }

    /// Length of a step: the last one may be shorter.
    pub fn length_of(&self, step: usize) -> f64 {
        (self.to_s - self.start_of(step)).clamp(0.0, self.step_s)
    }
}

/// One step of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Payload newly acknowledged, selectively or not; beside the receiver payload that arrived.
    pub delivered: u64,
    /// Payload sent for the first time.
    pub fresh: u64,
    /// Payload sent again.
    pub resent: u64,
    /// Payload lost of what was sent.
    pub lost: u64,
    /// Largest amount in flight that was not known to have arrived, when data were sent; without any what stayed in flight.
    pub flight: u64,
    /// Advertised window at the last acknowledgement, 0 before the first.
    pub window: u64,
    /// Smallest round trip; NaN for none.
    pub rtt_s: f64,
    /// Largest round trip, those apart that stand alone as a late acknowledgement makes them; NaN for none.
    pub rtt_max_s: f64,
    /// Seconds with a full window.
    pub full_s: f64,
    /// Of these, with a window much smaller than it had been.
    pub shrunk_s: f64,
    /// Seconds with a closed window.
    pub closed_s: f64,
    /// Seconds with nothing in flight and an open window.
    pub idle_s: f64,
    /// Seconds without new data that ended with data which answer data of the other end, with room in the window and
    /// nothing to repair.
    pub asked_s: f64,
    /// Seconds of repair.
    pub repair_s: f64,
    /// Of these, the silence before a retransmission timeout.
    pub silent_s: f64,
    /// Seconds in which nothing got through the path, whatever else held the sender; none of the others contain them.
    pub outage_s: f64,
    /// Seconds in which the machine of the capture, and not the path, held packets up.
    pub held_s: f64,
    /// Congestion marks reported.
    pub marks: u64,
    /// Acknowledgements that made room in flight.
    pub acks: u32,
    /// Of these, those that new data followed at once.
    pub followed: u32,
    /// Of these, those that came when several before them had made room and nothing had been sent since.
    pub unused: u32,
    /// Seconds without new data in which several acknowledgements made room, for longer than a kernel gathers data, until data
    /// followed that answer nothing of the other end.
    pub unused_s: f64,
    /// Acknowledgements of new data (beside the receiver segments as they arrived) whose distance from the one before can be
    /// compared with the distance before that.
    pub spaced: u32,
    /// Of these, those that are as far apart for their bytes as the two before: nothing else lay between them on the path.
    pub even: u32,
}

impl Step {
    /// Seconds in which something else than the path's rate kept the sender from sending new data.
    pub fn kept_s(&self) -> f64 {
        self.closed_s + self.idle_s.max(self.asked_s) + self.silent_s + self.repair_s + self.outage_s
    }

    /// Notes whether something was as far from the one before as that was from the one before it.
    fn note_spacing(&mut self, even: Option<bool>) {
        self.spaced += u32::from(even.is_some());
        self.even += u32::from(even == Some(true));
    }
}

/// How far things are apart that come one behind another.
#[derive(Debug, Default)]
struct Spacing {
    /// When the last one came, nanoseconds.
    last: Option<i64>,
    /// How long it took for each of its bytes, nanoseconds; 0 where that is not known.
    per_byte: f64,
}

impl Spacing {
    /// `bytes` came now: whether each of them took as long as each of those before; `None` where that cannot be told.
    fn is_even(&mut self, at: i64, bytes: u64) -> Option<bool> {
        if bytes == 0 {
            return None;
        }
        let now = self
            .last
            .replace(at)
            .map_or(0.0, |last| (at - last) as f64 / bytes as f64);
        let before = std::mem::replace(&mut self.per_byte, now);
        (before > 0.0 && now > 0.0).then(|| (now / before - 1.0).abs() <= EVEN)
    }
}

impl Default for Step {
    fn default() -> Self {
        Self {
            delivered: 0,
            fresh: 0,
            resent: 0,
            lost: 0,
            flight: 0,
            window: 0,
            rtt_s: f64::NAN,
            rtt_max_s: f64::NAN,
            full_s: 0.0,
            shrunk_s: 0.0,
            closed_s: 0.0,
            idle_s: 0.0,
            asked_s: 0.0,
            repair_s: 0.0,
            silent_s: 0.0,
            outage_s: 0.0,
            held_s: 0.0,
            marks: 0,
            acks: 0,
            followed: 0,
            unused: 0,
            unused_s: 0.0,
            spaced: 0,
            even: 0,
        }
    }
}

/// Something that befell a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// When: the first loss was sent, the mark was reported.
    pub at_s: f64,
    /// What.
    pub kind: Happening,
    /// Segments lost or sent again without need.
    pub segments: u64,
    /// Bytes of data from the first of these to the last, both with them; 0 for marks.
    pub span: u64,
    /// Delay above the least just before; NaN if no sample is near.
    pub queue_s: f64,
    /// Share of all round trips that showed as long a queue as the one just before or a longer one; 1 if none is near.
    pub longer: f64,
    /// Backlog of the virtual queue that fits the losses best when the first of these was dropped, as a share of its size:
    /// about one where it explains the loss; NaN where it never saw it.
    pub backlog: f64,
    /// Whether it took a retransmission timeout.
    pub timeout: bool,
    /// Lost before the tap of the sender.
    pub local: bool,
}

/// Kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happening {
    /// Segments did not arrive; those less than a round trip apart are one event.
    Loss,
    /// Segments that had arrived were sent again.
    Needless,
    /// Congestion marks were reported.
    Mark,
}

/// A timeline in the making: the walk through a transfer tells it what the sender does.
#[derive(Debug)]
pub(super) struct Line {
    from: i64,
    out: Timeline,
    fresh_ack: Option<i64>,
    /// What is in flight, and the step up to which that is noted.
    pipe: (u64, usize),
    /// Up to when the window was full, unless something else than room in it came since.
    full_until: Option<i64>,
    /// Acknowledgements that made room since data were sent.
    room: u32,
    /// Nothing was acknowledged since a burst began.
    bursts: bool,
    /// When the last of them came, and how far they are apart as a rule, nanoseconds.
    last_ack: Option<(i64, f64)>,
    /// How far acknowledgements of new data are apart.
    spacing: Spacing,
    /// How late bursts came behind acknowledgements that are close together, in shares of the distance between these.
    late: Vec<f64>,
    /// Since when nothing was sent that neither the window nor repair held back.
    quiet: i64,
    /// Up to when nothing was in flight and the window was open.
    idle_until: i64,
    /// Payload that was sent for the first time.
    fresh: u64,
    timeouts: Vec<f64>,
}

impl Line {
    /// A timeline of data from `from` to `until`, nanoseconds, with steps of the least round trip.
    pub(super) fn new(half: &Half, from: i64, until: i64, least: f64, origin: i64) -> Self {
        let span = (until - from) as f64 / 1e9;
        let step_s = least.max(SHORTEST).max(span / STEPS);
        let count = ((span / step_s).ceil() as usize).max(1);
        let seconds = |at: i64| (at - origin) as f64 / 1e9;
        Self {
            from,
            out: Timeline {
                opened_s: seconds(from),
                from_s: seconds(from),
                to_s: seconds(until),
                sent_to_s: seconds(from),
                step_s,
                least_rtt_s: least,
                least_data_rtt_s: 0.0,
                initial_window: half.counters.initial_window_bytes,
                from_the_start: half.syn.is_some(),
                answers: false,
                steps: vec![Step::default(); count],
                events: Vec::new(),
                outages: Vec::new(),
                train_rate: None,
                bursts: 0,
                let_go: 0,
                burst_bytes: 0,
                dry: Vec::new(),
                delay_unit_s: 0.0,
                delays_s: Vec::new(),
            },
            fresh_ack: None,
            pipe: (0, 0),
            full_until: None,
            room: 0,
            bursts: false,
            last_ack: None,
            spacing: Spacing::default(),
            late: Vec::new(),
            quiet: from,
            idle_until: i64::MIN,
            fresh: 0,
            timeouts: Vec::new(),
        }
    }

    /// Notes when nothing got through the path, on the clock of the capture whose first packet is at `origin`.
    pub(super) fn note_outages(&mut self, spans: &[Span], origin: i64) {
        self.out.outages = spans.iter().map(|span| span.outage(origin)).collect();
    }

    fn place(&self, at: i64) -> usize {
        let place = ((at - self.from).max(0) as f64 / 1e9 / self.out.step_s) as usize;
        place.min(self.out.steps.len() - 1)
    }

    /// Notes what stayed in flight to the end of each step before the one of `at` in which nothing was sent: where a queue
    /// makes round trips longer than steps, there are many of them.
    fn carry(&mut self, at: i64) {
        let (place, (pipe, noted)) = (self.place(at), self.pipe);
        for step in self.out.steps.iter_mut().take(place).skip(noted) {
            if step.fresh + step.resent == 0 {
                step.flight = pipe;
            }
        }
        self.pipe.1 = place.max(noted);
    }

    fn step(&mut self, at: i64) -> &mut Step {
        let place = self.place(at);
        &mut self.out.steps[place]
    }

    /// Spreads the time from `from` to `to` over the steps.
    fn spread(&mut self, from: i64, to: i64, mut add: impl FnMut(&mut Step, f64)) {
        let (first, last) = (self.place(from), self.place(to));
        let (a, b) = ((from - self.from) as f64 / 1e9, (to - self.from) as f64 / 1e9);
        for place in first..=last {
            let low = place as f64 * self.out.step_s;
            let high = if place == last { b } else { low + self.out.step_s };
            let span = high.min(b) - low.max(a);
            if span > 0.0 {
                add(&mut self.out.steps[place], span);
            }
        }
    }

    /// The sender waited so from `from` to `to`.
    ///
    /// Room in a full window that is soon filled again belongs to the window, as the kernel counts it (`tcp_chrono_set` in
    /// `net/ipv4/tcp_output.c`): it has data that the window held until now, however late the machine sends them.
    pub(super) fn waited(&mut self, waiting: Waiting, shrunk: bool, from: i64, to: i64) {
        let mut from = from;
        if waiting == Waiting::Full {
            let soon = (self.out.least_rtt_s * REFILLED * 1e9) as i64;
            from = self
                .full_until
                .filter(|until| from - until <= soon)
                .unwrap_or(from);
            self.full_until = Some(to);
        } else if waiting != Waiting::Busy {
            self.full_until = None;
        }
        if matches!(
            waiting,
            Waiting::Full | Waiting::Closed | Waiting::Recovery | Waiting::Outage
        ) {
            self.quiet = to;
        }
        match waiting {
            Waiting::Nothing | Waiting::Busy => {}
            Waiting::Full => self.spread(from, to, |step, span| {
                step.full_s += span;
                if shrunk {
                    step.shrunk_s += span;
                }
            }),
            Waiting::Closed => self.spread(from, to, |step, span| step.closed_s += span),
            Waiting::Recovery => self.spread(from, to, |step, span| step.repair_s += span),
            Waiting::Outage => self.spread(from, to, |step, span| step.outage_s += span),
            Waiting::Idle => {
                self.idle_until = to;
                self.spread(from, to, |step, span| step.idle_s += span);
            }
        }
    }

    /// Data were sent: `pipe` is what is in flight afterwards and not known to have arrived.
    pub(super) fn sent(&mut self, at: i64, bytes: u64, again: bool, lost: u64, pipe: u64, answers: bool) {
        if answers && at > self.quiet {
            self.spread(self.quiet, at, |step, span| step.asked_s += span);
        }
        let lets_pass = !answers && !again && at - self.quiet > GATHERS;
        if self.room > ROOM && lets_pass {
            self.spread(self.quiet, at, |step, span| step.unused_s += span);
        }
        let at_s = self.out.from_s + (at - self.from) as f64 / 1e9;
        if (self.room > ROOM || self.idle_until == at) && lets_pass && self.out.dry.len() < EVENTS {
            self.out.dry.push((at_s, self.fresh));
        }
        self.quiet = at;
        if at == self.from {
            self.out.answers = answers;
        }
        let near = ((self.out.least_rtt_s * 0.02).clamp(0.000_05, 0.002) * 1e9) as i64;
        if self.room > ROOM
            && !answers
            && !again
            && let Some((ack, apart)) = self.last_ack
            && apart >= TOLD_APART
        {
            self.out.bursts += 1;
            self.bursts = true;
            let late = (at - ack) as f64 / apart;
            if apart < WAKES_WITHIN && self.late.len() < EVENTS {
                self.late.push(late);
            } else {
                self.out.let_go += u32::from(late <= AT_ONCE);
            }
        }
        self.room = 0;
        if self.bursts {
            self.out.burst_bytes += bytes;
        }
        if !again {
            self.fresh += bytes;
            self.out.sent_to_s = at_s;
        }
        let followed = !again && self.fresh_ack.take().is_some_and(|ack| at - ack <= near);
        self.carry(at);
        self.pipe.0 = pipe;
        let step = self.step(at);
        if again {
            step.resent += bytes;
        } else {
            step.fresh += bytes;
        }
        step.lost += lost;
        step.flight = step.flight.max(pipe);
        step.followed += u32::from(followed);
    }

    /// `fresh` bytes are known to have arrived, and the window is `window`.
    pub(super) fn delivered(&mut self, at: i64, fresh: u64, marks: u64, window: u64) {
        if fresh > 0 {
            self.bursts = false;
            self.room = self.room.saturating_add(1);
            let apart = self.last_ack.map_or(0.0, |(last, apart)| {
                let gap = (at - last) as f64;
                // A gap between two trains says nothing of how far they are apart within one.
                if apart > 0.0 {
                    apart + SMOOTH * (gap.min(2.0 * apart) - apart)
                } else {
                    gap
                }
            });
            self.last_ack = Some((at, apart));
        }
        let unused = self.room > ROOM;
        let even = self.spacing.is_even(at, fresh);
        self.carry(at);
        self.pipe.0 = self.pipe.0.saturating_sub(fresh);
        let step = self.step(at);
        step.delivered += fresh;
        step.window = window;
        step.marks += marks;
        if fresh > 0 {
            step.acks += 1;
            step.unused += u32::from(unused);
            step.note_spacing(even);
            self.fresh_ack = Some(at);
        }
    }

    /// Nothing was heard from `from` to `to`, and then data were sent again; `silent` unless the path let nothing through.
    pub(super) fn timed_out(&mut self, from: i64, to: i64, silent: bool) {
        if silent {
            self.spread(from, to, |step, span| step.silent_s += span);
        }
        if self.timeouts.len() < EVENTS {
            let origin = self.out.from_s - self.from as f64 / 1e9;
            self.timeouts.push(from as f64 / 1e9 + origin);
        }
    }

    /// The steps, and the times of timeouts.
    pub(super) fn finish(mut self) -> Drawn {
        self.out.let_go += let_go_late(self.late);
        Drawn {
            timeline: self.out,
            timeouts: self.timeouts,
        }
    }
}

/// What the sender waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    Nothing,
    Idle,
    Full,
    Closed,
    Recovery,
    /// The path lets nothing through.
    Outage,
    Busy,
}

/// A timeline without its events.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) timeline: Timeline,
    /// When silences began that ended with a retransmission, seconds after the start of the capture.
    timeouts: Vec<f64>,
}

impl Drawn {
    /// Adds round trips and events. `rtts` are seconds after the capture's start and seconds, `apart` is the time in
    /// seconds up to which losses are one event, `opened` the connection's first packet, nanoseconds.
    pub(crate) fn complete(
        self,
        half: &Half,
        rtts: &[(f64, f64)],
        apart: f64,
        tap: Tap,
        (origin, opened): (i64, i64),
        one_way: Option<&OneWay>,
    ) -> Timeline {
        let at_sender = tap == Tap::Sender;
        let mut out = self.timeline;
        let smooth = &without_spikes(rtts);
        if out.steps.is_empty() {
            return out;
        }
        out.opened_s = ((opened - origin) as f64 / 1e9).min(out.from_s);
        for &(at, rtt) in rtts {
            let place = out.step_at(at);
            let step = &mut out.steps[place];
            step.rtt_s = step.rtt_s.min(rtt);
        }
        for &(at, rtt) in smooth {
            let place = out.step_at(at);
            let step = &mut out.steps[place];
            step.rtt_max_s = step.rtt_max_s.max(rtt);
        }
        let least = if at_sender {
            // Short segments take less time to send.
            let whole = half.tx.entries().iter().filter(|tx| tx.len >= half.segment_limit);
            whole
                .map(|tx| f64::from(tx.rtt))
                .filter(|rtt| rtt.is_finite())
                .fold(f64::INFINITY, f64::min)
        } else {
            rtts.iter().map(|sample| sample.1).fold(f64::INFINITY, f64::min)
        };
        out.least_data_rtt_s = if least.is_finite() { least } else { 0.0 };
        let mut sorted: Vec<f64> = smooth.iter().map(|sample| sample.1).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let least_rtt_s = out.least_rtt_s;
        if !sorted.is_empty() {
            let last = sorted.len() - 1;
            let at = |hundredth: usize| sorted[(last * hundredth).div_ceil(HUNDREDTHS)];
            out.delays_s = (0..=HUNDREDTHS).map(|part| at(part) - least_rtt_s).collect();
        }
        let longer = |queue: f64| {
            let shorter = sorted.partition_point(|other| *other - least_rtt_s < SAME * queue);
            if queue.is_finite() {
                (sorted.len() - shorter) as f64 / sorted.len().max(1) as f64
            } else {
                1.0
            }
        };
        // A receiver may hold a selective acknowledgement back for more segments, and what it then tells is late by that.
        let told_late: Vec<f64> = (half.tx.entries().iter())
            .filter(|tx| tx.flags.has(TxFlags::SACKED))
            .map(|tx| (tx.at - origin) as f64 / 1e9)
            .collect();
        let held_back = SACK_HELD_BACK.min(SACK_HELD_BACK_RTT * least_rtt_s);
        let queue = |(at, rtt): (f64, f64)| {
            let late = told_late.binary_search_by(|other| other.total_cmp(&at)).is_ok();
            (rtt - least_rtt_s - if late { held_back } else { 0.0 }).max(0.0)
        };
        let mut rtts = smooth.iter().copied().peekable();
        let (mut near, mut last): (Option<(f64, f64)>, [Option<f64>; 2]) = (None, [None; 2]);
        let mut begins = [0; 2];
        let segment = half.segment_limit.max(1);
        for tx in half.tx.entries() {
            let at = (tx.at - origin) as f64 / 1e9;
            // A gap shows with the packet behind it, which says nothing of the queue that those before it met.
            let gap = !tx.seen();
            while let Some(sample) = rtts.next_if(|sample| sample.0 < at || !gap && sample.0 <= at) {
                near = Some(sample);
            }
            let kind = if tx.lost > 0 {
                Happening::Loss
            } else if tx.flags.has(TxFlags::SPURIOUS) {
                Happening::Needless
            } else {
                continue;
            };
            let segments = u64::from(tx.lost.div_ceil(segment)).max(1);
            let slot = usize::from(kind == Happening::Needless);
            let known = last[slot].replace(at).is_some_and(|last| at - last <= apart);
            if known && let Some(event) = out.events.iter_mut().rev().find(|event| event.kind == kind) {
                event.segments += segments;
                event.span = event.span.max(tx.end().saturating_sub(begins[slot]));
                continue;
            }
            if out.events.len() >= EVENTS {
                continue;
            }
            begins[slot] = tx.end().saturating_sub(u64::from(tx.len));
            let after = rtts.peek().copied().filter(|sample| sample.0 - at <= apart);
            let long_ago = if gap { f64::INFINITY } else { apart };
            let before = near.filter(|sample| at - sample.0 <= long_ago);
            let queue_s = before
                .into_iter()
                .chain(after)
                .map(queue)
                .fold(f64::NAN, f64::max);
            out.events.push(Event {
                at_s: at,
                kind,
                segments,
                span: u64::from(tx.len),
                queue_s,
                longer: longer(queue_s),
                backlog: f64::NAN,
                timeout: false,
                local: at_sender && tx.flags.has(TxFlags::GAP) && !tx.flags.has(TxFlags::MISSED),
            });
        }
        for at in self.timeouts {
            let hit = out
                .events
                .iter_mut()
                .rev()
                .find(|event| event.kind != Happening::Mark && event.at_s <= at + 1e-6);
            if let Some(event) = hit {
                event.timeout = true;
            }
        }
        out.delay_unit_s = one_way.map_or(0.0, |one_way| one_way.unit_s);
        if tap == Tap::Receiver {
            count_arrivals(&mut out.steps);
            space_arrivals(&mut out, half, origin);
        }
        out.train_rate = match tap {
            Tap::Sender => agreed(trains(half), MOST),
            Tap::Receiver if flights_are_trains(&out, half) => {
                agreed(arrivals(half, one_way, out.least_rtt_s), SOME)
            }
            Tap::Receiver | Tap::Middle | Tap::Unknown => None,
        };
        marks(&mut out, apart);
        out.events.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        out
    }
}

/// Of bursts that came so late behind acknowledgements, in shares of the distance between these, those that an acknowledgement
/// let go: at once, or all about as late, as waking up takes.
fn let_go_late(mut late: Vec<f64>) -> u32 {
    late.sort_unstable_by(f64::total_cmp);
    let within = |from: f64| {
        late.partition_point(|other| *other <= from + AT_ONCE) - late.partition_point(|other| *other < from)
    };
    let at_once = within(0.0);
    let equally = late.iter().map(|from| within(*from)).max().unwrap_or(0);
    (if late.len() < EQUALLY_LATE {
        at_once
    } else {
        at_once.max(equally)
    }) as u32
}

/// For how long Linux holds selective acknowledgements back at most, seconds and as a share of the round trip
/// (`tcp_comp_sack_delay_ns`, Linux Documentation/networking/ip-sysctl.rst).
const SACK_HELD_BACK: f64 = 1e-3;
const SACK_HELD_BACK_RTT: f64 = 0.05;

/// Round trips without those that stand alone, as a late acknowledgement makes them: each becomes the middle one of three
/// in the order in which they were sent.
fn without_spikes(rtts: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let middle = |place: usize| {
        let near = [
            rtts[place.saturating_sub(1)].1,
            rtts[place].1,
            rtts[(place + 1).min(rtts.len() - 1)].1,
        ];
        let (low, high) = (near[0].min(near[1]), near[0].max(near[1]));
        near[2].clamp(low, high)
    };
    (0..rtts.len())
        .map(|place| (rtts[place].0, middle(place)))
        .collect()
}

/// Payload bytes per second of trains that the path spread: acknowledgements further apart than what they acknowledge.
fn trains(half: &Half) -> Vec<f64> {
    let least = TRAIN * u64::from(half.segment_limit.max(1));
    let mut out = Vec::new();
    // Where a train begins: when its first segment was sent and acknowledged, and its end.
    let mut first: Option<(i64, i64, u64)> = None;
    for tx in half.tx.entries() {
        if tx.lost > 0 || tx.flags.has(TxFlags::RETRANSMISSION) || !tx.seen() {
            first = None;
            continue;
        }
        if !tx.rtt.is_finite() {
            continue;
        }
        let acknowledged = tx.at + (f64::from(tx.rtt) * 1e9) as i64;
        let Some((sent_at, from, end)) = first else {
            first = Some((tx.at, acknowledged, tx.end()));
            continue;
        };
        let bytes = tx.end().saturating_sub(end);
        if bytes < least {
            continue;
        }
        let (apart, before) = (acknowledged - from, tx.at - sent_at);
        if apart > 0 && before as f64 <= SPREAD * apart as f64 && out.len() < EVENTS {
            out.push(bytes as f64 * 1e9 / apart as f64);
        }
        first = Some((tx.at, acknowledged, tx.end()));
    }
    out
}

/// Beside the receiver payload is delivered when it arrives: when its acknowledgements reach the sender moves with the queue
/// before the tap. Of what was sent again, as much counts as was acknowledged beside the rest.
fn count_arrivals(steps: &mut [Step]) {
    let sum = |of: fn(&Step) -> u64| steps.iter().map(of).sum::<u64>();
    let (acknowledged, fresh, resent) = (
        sum(|step| step.delivered),
        sum(|step| step.fresh),
        sum(|step| step.resent),
    );
    let needed = acknowledged.saturating_sub(fresh) as f64 / resent.max(1) as f64;
    for step in steps {
        step.delivered = step.fresh + (step.resent as f64 * needed.min(1.0)).round() as u64;
    }
}

/// Beside the receiver segments tell how even their distances are, and not the acknowledgements of them.
fn space_arrivals(out: &mut Timeline, half: &Half, origin: i64) {
    for step in &mut out.steps {
        (step.spaced, step.even) = (0, 0);
    }
    let mut spacing = Spacing::default();
    for tx in half.tx.entries() {
        if tx.lost > 0 || tx.flags.has(TxFlags::RETRANSMISSION) || !tx.seen() {
            spacing = Spacing::default();
            continue;
        }
        let even = spacing.is_even(tx.at, u64::from(tx.len));
        let place = out.step_at((tx.at - origin) as f64 / 1e9);
        out.steps[place].note_spacing(even);
    }
}

/// Whether a flight holds more than a train: what arrives over several flights, a window makes the rate of.
fn flights_are_trains(line: &Timeline, half: &Half) -> bool {
    let most = line.steps.iter().map(|step| step.flight).max().unwrap_or(0);
    most > TRAIN * u64::from(half.segment_limit.max(1))
}

/// Payload bytes per second of trains as they arrived. Where the sender's clock tells their delays, only those count that
/// the path spread or that stood in a queue: others came as they had been sent. Where it does not, a train is no longer than
/// half of the least round trip `rtt_s`: over a round trip acknowledgements, and with them a window, make the rate.
fn arrivals(half: &Half, one_way: Option<&OneWay>, rtt_s: f64) -> Vec<f64> {
    let least = TRAIN * u64::from(half.segment_limit.max(1));
    let mut out = Vec::new();
    let mut delays = one_way.map_or(&[][..], |one_way| &one_way.delays).iter();
    let unit = one_way.map_or(0.0, |one_way| one_way.unit_s);
    let mut train: Option<Train> = None;
    for tx in half.tx.entries() {
        let stamped = tx.seen() && tx.flags.has(TxFlags::STAMPED);
        let delay = stamped.then(|| delays.next()).flatten().map(|(_, delay)| *delay);
        if tx.lost > 0 || tx.flags.has(TxFlags::RETRANSMISSION) || !tx.seen() {
            train = None;
            continue;
        }
        let Some(begun) = &mut train else {
            train = Some(Train::new(tx, delay));
            continue;
        };
        let bytes = tx.end().saturating_sub(begun.end);
        begun.add(delay, 2 * bytes >= least);
        if bytes >= least {
            let apart = (tx.at - begun.at) as f64 / 1e9;
            let spread = match begun.delay.zip(delay) {
                Some((from, to)) => begun.was_spread(from, to, apart, unit),
                None => one_way.is_none() && apart <= 0.5 * rtt_s,
            };
            if apart > 0.0 && out.len() < EVENTS && spread {
                out.push(bytes as f64 / apart);
            }
            train = Some(Train::new(tx, delay));
        }
    }
    out
}

/// Segments as they arrive one behind another.
struct Train {
    /// When the first arrived, nanoseconds, its end, and its delay, seconds.
    at: i64,
    end: u64,
    delay: Option<f64>,
    /// The least delay of all behind it, and of those of the second half.
    least: [f64; 2],
}

impl Train {
    fn new(tx: &Tx, delay: Option<f64>) -> Self {
        Self {
            at: tx.at,
            end: tx.end(),
            delay,
            least: [f64::INFINITY; 2],
        }
    }

    /// Another segment, in the second half or before.
    fn add(&mut self, delay: Option<f64>, second: bool) {
        let delay = delay.unwrap_or(f64::INFINITY);
        self.least[0] = self.least[0].min(delay);
        if second {
            self.least[1] = self.least[1].min(delay);
        }
    }

    /// The path spread it, or it stood in a queue, and that queue did not empty meanwhile: bursts far apart have an empty one
    /// between them.
    fn was_spread(&self, from: f64, to: f64, apart: f64, unit: f64) -> bool {
        let grew = to - from;
        let spread = grew >= (1.0 - SPREAD) * apart + unit && self.least[1] >= from + HALFWAY * grew;
        spread || from.min(self.least[0]) >= STANDS.max(2.0 * unit)
    }
}

/// The rate of at least this share of the trains, if hardly any is faster.
fn agreed(mut trains: Vec<f64>, share: f64) -> Option<f64> {
    trains.sort_unstable_by(f64::total_cmp);
    let (mut most, mut at, mut low) = (0, 0, 0);
    for high in 0..trains.len() {
        while trains[low] < trains[high] / (1.0 + AGREE) {
            low += 1;
        }
        if high - low + 1 > most {
            (most, at) = (high - low + 1, usize::midpoint(low, high));
        }
    }
    let rate = *trains.get(at)?;
    let faster = trains.len() - trains.partition_point(|other| *other <= rate * (1.0 + AGREE));
    let agree = most >= TRAINS
        && most as f64 >= share * trains.len() as f64
        && (faster as f64) < FASTER * trains.len() as f64;
    agree.then_some(rate)
}

/// Adds reports of marks as events, those less than `apart` apart as one.
fn marks(out: &mut Timeline, apart: f64) {
    let mut last: Option<f64> = None;
    for place in 0..out.steps.len() {
        let count = out.steps[place].marks;
        if count == 0 || out.events.len() >= EVENTS {
            continue;
        }
        let at_s = out.start_of(place);
        if last.is_none_or(|last| at_s - last > apart) {
            out.events.push(Event {
                at_s,
                kind: Happening::Mark,
                segments: count,
                span: 0,
                queue_s: f64::NAN,
                longer: 1.0,
                backlog: f64::NAN,
                timeout: false,
                local: false,
            });
            last = Some(at_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_acknowledgement_is_no_delay() {
        let rtts: Vec<(f64, f64)> = (0..9)
            .map(|place| (f64::from(place), if place == 4 { 0.14 } else { 0.1 }))
            .collect();
        assert!(without_spikes(&rtts).iter().all(|(_, rtt)| *rtt <= 0.1));
        // Two in a row are a queue.
        let queue = [0.1, 0.1, 0.14, 0.14, 0.1].map(|rtt| (0.0, rtt));
        assert_eq!(
            without_spikes(&queue)
                .iter()
                .filter(|(_, rtt)| *rtt > 0.1)
                .count(),
            2
        );
        assert!(without_spikes(&[]).is_empty());
    }

    #[test]
    fn what_is_sent_again_follows_a_timeout_until_something_new_is_sent() {
        // Ten steps of a second: silent in the third, nothing new until the sixth.
        let mut line = Timeline {
            step_s: 1.0,
            to_s: 10.0,
            steps: vec![Step::default(); 10],
            ..Timeline::default()
        };
        for (place, step) in line.steps.iter_mut().enumerate() {
            step.fresh = if (3..6).contains(&place) { 0 } else { 1_448 };
        }
        line.steps[2].silent_s = 0.6;
        let told = [1.5, 2.5, 3.5, 5.5, 6.5, 7.5, 12.0].map(|at_s| line.follows_timeout(at_s));
        assert_eq!(told, [false, true, true, true, true, false, false]);
        assert!(!Timeline::default().follows_timeout(1.0));
    }

    #[test]
    fn distances_are_even_where_each_byte_takes_as_long_as_those_before() {
        let mut spacing = Spacing::default();
        let told: Vec<Option<bool>> = [
            (0, 1_000),
            (10, 1_000),
            (20, 1_000),
            (40, 2_000),
            (60, 1_000),
            (60, 0),
            (60, 500),
        ]
        .map(|(at, bytes)| spacing.is_even(at * 1_000, bytes))
        .to_vec();
        // Twice as long for twice as much is even, twice as long for one segment is not; what comes at once tells nothing.
        let expected = [None, None, Some(true), Some(true), Some(false), None, None];
        assert_eq!(told, expected);
    }

    #[test]
    fn time_in_which_the_machine_held_packets_up_falls_on_the_steps_that_it_overlaps() {
        let mut line = Timeline {
            to_s: 0.5,
            step_s: 0.1,
            steps: vec![Step::default(); 5],
            ..Timeline::default()
        };
        let ms = 1_000_000;
        line.note_held(
            &[(-50 * ms, 20 * ms), (150 * ms, 320 * ms), (490 * ms, 900 * ms)],
            0,
        );
        let held: Vec<f64> = line
            .steps
            .iter()
            .map(|step| (step.held_s * 1e3).round())
            .collect();
        assert_eq!(held, [20.0, 50.0, 100.0, 20.0, 10.0]);
    }

    #[test]
    fn beside_the_receiver_payload_counts_when_it_arrives_and_once() {
        let step = |delivered, fresh, resent| Step {
            delivered,
            fresh,
            resent,
            ..Step::default()
        };
        // The second half of what was sent again had arrived before.
        let mut steps = [step(0, 1_000, 0), step(0, 1_000, 2_000), step(3_000, 0, 0)];
        count_arrivals(&mut steps);
        assert_eq!(steps.map(|step| step.delivered), [1_000, 2_000, 0]);
        // What arrived last has not been acknowledged.
        let mut steps = [step(0, 1_000, 500), step(500, 0, 0)];
        count_arrivals(&mut steps);
        assert_eq!(steps.map(|step| step.delivered), [1_000, 0]);
    }

    #[test]
    fn room_in_a_full_window_that_is_soon_filled_again_is_the_windows() {
        let full = |waits: &[(Waiting, i64)]| {
            let mut line = Line::new(&Half::default(), 0, 100_000_000, 0.01, 0);
            let mut from = 0;
            for &(waiting, millis) in waits {
                let to = from + millis * 1_000_000;
                line.waited(waiting, false, from, to);
                from = to;
            }
            let sum: f64 = line.out.steps.iter().map(|step| step.full_s).sum();
            (sum * 1e3).round()
        };
        let (held, room) = (Waiting::Full, Waiting::Busy);
        assert!(
            (full(&[(held, 20), (room, 2), (held, 20), (room, 1), (room, 1), (held, 6)]) - 50.0).abs() < 0.1
        );
        // Slower than that, or after something else, it is not.
        assert!((full(&[(held, 20), (room, 4), (held, 20)]) - 40.0).abs() < 0.1);
        assert!(
            (full(&[(held, 20), (Waiting::Idle, 1), (room, 1), (held, 20), (room, 2)]) - 40.0).abs() < 0.1
        );
    }

    #[test]
    fn new_data_behind_a_time_without_any_tell_what_was_sent_until_then() {
        let mut line = Line::new(&Half::default(), 0, 1_000_000_000, 0.01, 0);
        let millis = |at: i64| at * 1_000_000;
        line.sent(0, 1_000, false, 0, 1_000, false);
        line.sent(0, 1_000, false, 0, 2_000, false);
        // Nothing is in flight, and nothing holds it.
        line.waited(Waiting::Idle, false, millis(10), millis(50));
        line.sent(millis(50), 500, false, 0, 500, false);
        // The same for as long as a kernel gathers; repair, and an answer.
        line.waited(Waiting::Idle, false, millis(60), millis(61));
        line.quiet = millis(60);
        line.sent(millis(61), 500, false, 0, 500, false);
        line.waited(Waiting::Idle, false, millis(70), millis(90));
        line.sent(millis(90), 500, true, 0, 500, false);
        line.waited(Waiting::Idle, false, millis(100), millis(120));
        line.sent(millis(120), 500, false, 0, 500, true);
        assert_eq!(line.out.dry, [(0.05, 2_000)]);
    }

    #[test]
    fn bursts_that_come_equally_late_were_let_go() {
        // Twenty bursts and more, each the time that waking up takes behind an acknowledgement.
        let equally: Vec<f64> = (0..30).map(|place| 0.5 + 0.01 * f64::from(place % 9)).collect();
        assert_eq!(let_go_late(equally.clone()), 30);
        // A few may be so by chance: only those at once count.
        assert_eq!(let_go_late(equally[..10].to_vec()), 0);
        let whenever: Vec<f64> = (0..100).map(|place| f64::from(place) / 100.0).collect();
        assert!(let_go_late(whenever) <= 32);
    }

    #[test]
    fn delays_are_told_apart_by_hundredths() {
        let line = Timeline {
            delays_s: (0..=100).map(|part| f64::from(part) / 1e3).collect(),
            ..Timeline::default()
        };
        assert!((line.delayed(0.09) - 0.11).abs() < 0.011);
        assert!((line.delayed(0.0) - 1.0).abs() < 1e-9);
        assert!(line.delayed(0.2).abs() < 1e-9);
        assert!(Timeline::default().delayed(0.1).abs() < 1e-9);
    }

    #[test]
    fn trains_tell_a_rate_where_most_agree_and_hardly_any_is_faster() {
        let near = |rate: f64| (0..20).map(move |place| rate * (1.0 + 0.002 * f64::from(place)));
        let is_about = |rate: Option<f64>| rate.is_some_and(|rate| (rate / 1e6 - 1.0).abs() < 0.05);
        let mut trains: Vec<f64> = near(1e6).collect();
        assert!(is_about(agreed(trains.clone(), MOST)));
        trains.extend(near(2e5).take(10));
        assert!(is_about(agreed(trains.clone(), MOST)));
        trains.extend(near(3e6).take(8));
        assert_eq!(agreed(trains, MOST), None);
        assert_eq!(agreed(vec![1e6; TRAINS - 1], MOST), None);
    }
}

//! The course of a transfer whose limits are known, round trip by round trip: how long it takes.
//!
//! A congestion window doubles, overruns the queue at its known length and grows back as its law says, held by what else is
//! known to hold it. Numbers are those of Linux and RFC 9438; nothing here is fitted.

use super::capacity::median;
use super::{Capacity, Hints};
use crate::limit::{Flag, Limit};
use slowpath_facts::{Event, Happening, Timeline};

/// How a congestion window gets smaller and grows back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Law {
    /// By half, and a segment in a round trip (RFC 5681).
    Reno,
    /// By three tenths, and with the cube of the time since (RFC 9438).
    #[default]
    Cubic,
    /// By a fifth, and a quarter of the way back in a round trip (Linux, `tcp_bic`).
    Bic,
    /// A clock of its own, losses change nothing (BBR).
    Clocked,
}

/// A path and a sender, as far as a transfer shows them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Course {
    /// Payload bytes per second that the path carries.
    pub rate: f64,
    /// Least round trip of data, seconds.
    pub rtt_s: f64,
    /// From the first packet to the first data, seconds.
    pub opened_s: f64,
    /// Bytes before the link at which its queue overflows or marks.
    pub queue: f64,
    /// Whether the queue marks.
    pub marks: bool,
    /// Whether bursts of slow start may overrun the queue before the path is full.
    pub bursts: bool,
    /// Payload bytes of a segment.
    pub segment: f64,
    /// Payload bytes sent before the first acknowledgement.
    pub initial: f64,
    /// How the window grows.
    pub law: Law,
    /// Chance of a segment to be lost, whatever the load is.
    pub loss: f64,
    /// Payload bytes per second that a policer lets through, and what its bucket holds.
    pub policer: Option<(f64, f64)>,
    /// Payload bytes after each of which the program waits for an answer.
    pub part: Option<f64>,
}

/// What a transfer shows of its path and its sender. `causes` are those of its events, `held` is the share of the time in which
/// something else than the congestion window held it. `None` where the capacity is not known.
pub(super) fn seen(
    line: &Timeline,
    hints: &Hints,
    capacity: &Capacity,
    causes: &[(Limit, Option<Flag>)],
    held: f64,
) -> Option<Course> {
    if !capacity.is_told() || line.least_rtt_s <= 0.0 {
        return None;
    }
    let rate = capacity.byte_per_s;
    let segment = f64::from(hints.segment.max(1));
    let random = losses(line, causes).filter(|(_, cause)| **cause == (Limit::RandomLoss, None));
    let sent: u64 = line.steps.iter().map(|step| step.fresh + step.resent).sum();
    let (delay, marks) = full(line, causes);
    // A first flight that filled the path tells that bursts did not overrun the queue before.
    let first = line.events.iter().find(|event| event.kind == Happening::Loss);
    let until = first.map_or(line.steps.len(), |event| line.step_at(event.at_s) + 1);
    let most = line.steps[..until].iter().map(|step| step.flight).max();
    Some(Course {
        rate,
        rtt_s: line.least_data_rtt_s.max(line.least_rtt_s),
        opened_s: (line.from_s - line.opened_s).max(0.0),
        queue: rate * delay,
        marks,
        bursts: !marks && (most.unwrap_or(0) as f64) < NEARLY * rate * line.least_rtt_s,
        segment,
        initial: line.initial_window as f64,
        law: law(line, segment, held),
        loss: random.count() as f64 * segment / sent.max(1) as f64,
        policer: hints.policer(),
        part: (hints.answered && hints.answers > 0).then(|| sent as f64 / hints.answers as f64),
    })
}

/// Losses and their causes.
fn losses<'a>(
    line: &'a Timeline,
    causes: &'a [(Limit, Option<Flag>)],
) -> impl Iterator<Item = (&'a Event, &'a (Limit, Option<Flag>))> {
    let all = line.events.iter().zip(causes);
    all.filter(|(event, _)| event.kind == Happening::Loss)
}

/// Delay at which the queue overflows or, told by the second value, marks: seconds above the least. One that neither does is
/// as long as it was seen, and at least as the path: it is not known to be short.
fn full(line: &Timeline, causes: &[(Limit, Option<Flag>)]) -> (f64, bool) {
    let overran = losses(line, causes)
        .filter(|(_, (_, flag))| *flag == Some(Flag::ShortQueue))
        .map(|(event, _)| event.queue_s);
    let marked = line.events.iter().filter(|event| event.kind == Happening::Mark);
    let [overran, marked] = [
        median(overran.collect()),
        median(marked.map(|event| event.queue_s).collect()),
    ];
    let reached = line.reached_s();
    match (overran, marked) {
        (overran, Some((marks, delay))) if overran.is_none_or(|(drops, _)| marks > drops) => (delay, true),
        (Some((_, delay)), _) => (delay.max(reached), false),
        (None, _) => (reached.max(line.least_rtt_s), false),
    }
}

/// The law of the window, by what single losses left of the flight; CUBIC where they do not say. One that lets acknowledgements
/// pass although nothing else holds it has a clock of its own.
fn law(line: &Timeline, segment: f64, held: f64) -> Law {
    let (acks, followed) = (line.steps.iter()).fold((0, 0), |(acks, followed), step| {
        (acks + step.acks, followed + step.followed)
    });
    if acks > ACKS && f64::from(followed) < CLOCKED * f64::from(acks) && held < MOSTLY {
        return Law::Clocked;
    }
    let mut counts = [0_u32; 3];
    let places: Vec<usize> = line.events.iter().map(|event| line.step_at(event.at_s)).collect();
    for (number, (event, &place)) in line.events.iter().zip(&places).enumerate() {
        let before = number.checked_sub(1).map(|number| places[number]);
        let alone = before.is_none_or(|other| other + BEFORE < place)
            && places
                .get(number + 1)
                .is_none_or(|other| *other >= place + BEHIND);
        let known = place >= BEFORE && place + BEHIND < line.steps.len();
        if event.kind != Happening::Loss || event.timeout || !alone || !known {
            continue;
        }
        let flight = |place: usize| line.steps[place].flight as f64;
        let at = flight(place - 1).max(flight(place));
        let left = (place + 1..place + REACTED)
            .map(flight)
            .fold(f64::INFINITY, f64::min);
        if at >= TELLING * segment {
            let kept = [Law::Reno, Law::Cubic, Law::Bic].map(|law| (law.keeps() - left / at).abs());
            if let Some(law) = kept.iter().position(|off| *off < NEAR) {
                counts[law] += 1;
            }
        }
    }
    let [reno, cubic, bic] = counts;
    match (reno, cubic, bic) {
        _ if reno > cubic && reno > bic => Law::Reno,
        _ if bic > cubic => Law::Bic,
        _ => Law::Cubic,
    }
}

impl Course {
    /// The same where some limits are gone: what they did to the path is not there.
    pub(super) fn without(self, gone: impl Fn(Limit) -> bool) -> Self {
        Self {
            loss: if gone(Limit::RandomLoss) { 0.0 } else { self.loss },
            policer: self.policer.filter(|_| !gone(Limit::Policed)),
            ..self
        }
    }

    /// Seconds from the first packet to the acknowledgement of the last of so many payload bytes, where another ceiling lets
    /// through `ceiling` payload bytes per second (infinity for none).
    pub fn duration_s(&self, bytes: f64, ceiling: f64) -> f64 {
        let segment = self.segment.max(1.0);
        let mut sender = Sender {
            window: Window::new(self.initial.max(segment), self.law, segment),
            tokens: self.policer.map_or(f64::INFINITY, |(_, bucket)| bucket),
            chance: Chance::new(self.loss),
            rounds: ROUNDS,
        };
        let (mut left, mut time) = (bytes, 0.0);
        let part = self.part.unwrap_or(bytes).max(segment);
        while left > 0.0 && sender.rounds > 0 {
            let now = part.min(left);
            if left < bytes {
                time += self.burst(now, &mut sender);
            }
            time += self.part_s(now, ceiling, &mut sender) + self.rtt_s;
            left -= now;
        }
        self.opened_s + time
    }

    /// What follows an answer leaves at once, as much as the window lets: a short queue overflows, and repair takes a round trip.
    fn burst(&self, bytes: f64, sender: &mut Sender) -> f64 {
        let burst = bytes.min(sender.window.now);
        if self.marks || burst <= self.queue + sender.window.segment {
            return 0.0;
        }
        sender.window.lose(0.0, self.most());
        self.rtt_s
    }

    /// Bytes of a round trip that are sent before one finds the queue full; `None` where all of its window finds room.
    fn room(&self, window: &Window, first: bool) -> Option<f64> {
        // Each acknowledgement lets two segments go, of which one stands before the link; of what is sent before any
        // acknowledgement, all but one segment does.
        let (room, least) = if first {
            (self.queue + window.segment, 0.0)
        } else {
            (2.0 * self.queue, self.initial)
        };
        let bursts = self.bursts && window.is_starting() && window.now > room.max(least);
        bursts
            .then_some(room)
            .or_else(|| (window.now > self.most()).then(|| self.most()))
    }

    /// The most that is under way: what the path holds, and its queue.
    fn most(&self) -> f64 {
        self.rate * self.rtt_s + self.queue
    }

    /// Seconds until so many bytes are sent.
    fn part_s(&self, bytes: f64, ceiling: f64, sender: &mut Sender) -> f64 {
        let Sender {
            window,
            tokens,
            chance,
            rounds,
        } = sender;
        let segment = window.segment;
        let most = self.most();
        let (mut left, mut time) = (bytes, 0.0);
        while *rounds > 0 {
            *rounds -= 1;
            let round = self.rtt_s.max(window.now / self.rate);
            if let Some((rate, bucket)) = self.policer {
                *tokens = tokens.min(bucket) + rate * round;
            }
            let sent = window.now.min(ceiling * round);
            let passed = sent.min(*tokens).min(self.rate * round);
            *tokens -= passed;
            time += round * (left / passed).min(1.0);
            if passed >= left {
                break;
            }
            left -= passed;
            let first = *rounds + 1 == ROUNDS;
            let overruns = self.room(window, first).filter(|_| sent >= window.now);
            let polices = (sent > passed + segment).then_some(passed);
            let strikes = chance.strikes(sent / segment).then_some(sent / 2.0);
            if let Some(before) = overruns.or(polices).or(strikes) {
                window.lose(before, most);
            } else if sent >= window.now {
                window.grow(round, most);
            }
        }
        time
    }
}

/// A sender on its course.
struct Sender {
    window: Window,
    /// What is in the policer's bucket, bytes.
    tokens: f64,
    chance: Chance,
    /// Round trips that are followed at most.
    rounds: usize,
}

/// When losses come that come by chance: gaps are exponential, by numbers that are spread evenly instead of drawn, so that equal
/// courses take equal times.
struct Chance {
    of_each: f64,
    since: f64,
    even: f64,
}

impl Chance {
    const fn new(of_each: f64) -> Self {
        Self {
            of_each,
            since: 0.0,
            even: 0.5,
        }
    }

    /// Whether one of so many more segments is lost.
    fn strikes(&mut self, segments: f64) -> bool {
        self.since += segments * self.of_each;
        let strikes = self.since >= -(1.0 - self.even).ln();
        if strikes {
            self.since = 0.0;
            self.even = (self.even + GOLDEN).fract();
        }
        strikes
    }
}

/// A congestion window, bytes.
struct Window {
    now: f64,
    law: Law,
    segment: f64,
    /// Up to where it doubles, which is what the last loss left of it; what it was before that loss; and how long ago that was.
    left: f64,
    highest: f64,
    since: f64,
    /// What was lost is sent again.
    repairs: bool,
}

impl Window {
    const fn new(now: f64, law: Law, segment: f64) -> Self {
        Self {
            now,
            law,
            segment,
            left: f64::INFINITY,
            highest: 0.0,
            since: 0.0,
            repairs: false,
        }
    }

    fn is_starting(&self) -> bool {
        self.now < self.left
    }

    /// The window when the sender hears of a loss, before which `before` bytes of its round trip were sent: their acknowledgements
    /// come first, and let a window that doubles grow on. CUBIC no longer doubles when the path is full (HyStart).
    fn heard(&self, before: f64, most: f64) -> f64 {
        let doubles = self.is_starting() && !(self.law == Law::Cubic && before >= most);
        let more = if doubles { before.min(self.now) } else { 0.0 };
        self.now.min(most) + more
    }

    /// The sender hears of a loss, before which `before` bytes of its round trip were sent; the path holds `most`.
    fn lose(&mut self, before: f64, most: f64) {
        if self.law == Law::Clocked {
            return self.grow(0.0, most);
        }
        let (at, keeps) = (self.heard(before, most), self.law.keeps());
        // One that got less than before leaves room to others (RFC 9438, section 4.7).
        self.highest = if at < self.highest {
            at * f64::midpoint(1.0, keeps)
        } else {
            at
        };
        self.left = (at * keeps).max(2.0 * self.segment);
        (self.now, self.since, self.repairs) = (self.left, 0.0, true);
    }

    /// A round trip passed.
    fn grow(&mut self, round: f64, most: f64) {
        if std::mem::take(&mut self.repairs) {
            return;
        }
        self.since += round;
        let [now, left, highest] = [self.now, self.left, self.highest].map(|bytes| bytes / self.segment);
        let next = match self.law {
            _ if self.is_starting() && self.law != Law::Clocked => (2.0 * now).min(left),
            Law::Clocked => (2.0 * now).min((most / self.segment).max(1.0)),
            Law::Reno => now + 1.0,
            Law::Cubic => {
                let k = ((highest - left).max(0.0) / CUBIC_C).cbrt();
                let cube = CUBIC_C * (self.since + round - k).powi(3) + highest.max(left);
                let friendly = left + CUBIC_ALPHA * self.since / round.max(1e-9);
                cube.max(friendly).clamp(now, 1.5 * now)
            }
            Law::Bic => now + 2.0 * bic(now, highest),
        };
        self.now = next * self.segment;
    }
}

impl Law {
    /// What a loss leaves of the window.
    const fn keeps(self) -> f64 {
        match self {
            Self::Reno => 0.5,
            Self::Cubic => 0.7,
            Self::Bic => 0.8,
            Self::Clocked => 1.0,
        }
    }
}

/// Segments by which BIC's window of so many grows for each acknowledged one (Linux, `bictcp_update`); acknowledgements stand for two.
fn bic(now: f64, highest: f64) -> f64 {
    let part = (highest - now) / 4.0;
    if now <= 14.0 {
        0.5
    } else if now < highest && part > 1.0 {
        part.min(16.0)
    } else if now < highest + 4.0 {
        0.2
    } else {
        ((now - highest) / 3.0).min(16.0)
    }
}

/// Share of what the path holds from which a flight has filled it.
const NEARLY: f64 = 0.9;
/// Acknowledgements from which a share of them is one.
const ACKS: u32 = 30;
/// Share of the acknowledgements that data follow at once, below which the sender has a clock of its own.
const CLOCKED: f64 = 0.4;
/// Share of the time for which something else holds the sender, from which that says nothing.
const MOSTLY: f64 = 0.5;
/// Steps before a loss, and behind it, without another one.
const BEFORE: usize = 2;
/// See [`BEFORE`].
const BEHIND: usize = 6;
/// Steps within which the flight is smaller.
const REACTED: usize = 5;
/// Segments in flight from which a share of them tells one law from another.
const TELLING: f64 = 8.0;
/// How near the share that a loss left must be to a law's.
const NEAR: f64 = 0.06;
/// RFC 9438, section 5.
const CUBIC_C: f64 = 0.4;
/// RFC 9438, section 4.3, for a reduction to 0.7.
const CUBIC_ALPHA: f64 = 0.53;
/// Part of the golden ratio: its multiples are spread evenly over the numbers from 0 to 1.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// More round trips than any transfer has that is looked at.
const ROUNDS: usize = 200_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::sample::loss;

    /// 1.25 MB/s and 40 ms: the path holds 50 kB, about 35 segments; the queue as much.
    fn course() -> Course {
        Course {
            rate: 1.25e6,
            rtt_s: 0.04,
            opened_s: 0.04,
            queue: 50_000.0,
            bursts: true,
            segment: 1_448.0,
            initial: 14_480.0,
            ..Course::default()
        }
    }

    fn takes(course: Course) -> f64 {
        course.duration_s(10e6, f64::INFINITY)
    }

    #[test]
    fn a_path_without_limits_takes_its_bytes_at_its_rate_and_a_start() {
        for law in [Law::Reno, Law::Cubic, Law::Bic, Law::Clocked] {
            let takes = takes(Course { law, ..course() });
            assert!((8.0..8.4).contains(&takes), "{law:?}: {takes}");
        }
    }

    #[test]
    fn a_ceiling_a_policer_and_losses_hold_it() {
        let paced = course().duration_s(10e6, 0.5e6);
        assert!((20.0..20.3).contains(&paced), "{paced}");
        let policed = Course {
            policer: Some((0.5e6, 10_000.0)),
            ..course()
        };
        assert!((20.0..30.0).contains(&takes(policed)), "{}", takes(policed));
        assert!(takes(policed.without(|limit| limit == Limit::Policed)) < 8.4);
        // Reno sends about 1.2 segments by the root of the chance in a round trip: 12 of 35 segments.
        let lossy = Course {
            loss: 0.01,
            law: Law::Reno,
            ..course()
        };
        assert!((18.0..28.0).contains(&takes(lossy)), "{}", takes(lossy));
        assert!(takes(lossy.without(|limit| limit == Limit::RandomLoss)) < 8.4);
        // CUBIC and BIC give less of the window away, and a sender with a clock of its own nothing.
        let [reno, bic, clocked] =
            [Law::Reno, Law::Bic, Law::Clocked].map(|law| takes(Course { law, ..lossy }));
        assert!(
            reno > bic && bic > clocked && clocked < 8.4,
            "{reno} {bic} {clocked}"
        );
    }

    #[test]
    fn a_short_queue_ends_slow_start_early_unless_a_flight_filled_the_path_before() {
        let short = Course {
            rate: 12.5e6,
            rtt_s: 0.1,
            queue: 50_000.0,
            law: Law::Reno,
            ..course()
        };
        let filled = Course {
            bursts: false,
            ..short
        };
        assert!(
            takes(short) > 1.5 * takes(filled),
            "{} {}",
            takes(short),
            takes(filled)
        );
    }

    #[test]
    fn a_sender_hears_of_an_overflow_a_round_trip_later_and_has_grown_until_then() {
        // A queue of 53 kB: of the round trip that takes the window from 58 to 116 kB, 107 kB are sent before one is lost.
        let course = Course {
            rate: 5e6,
            queue: 53_500.0,
            ..course()
        };
        let at = |kilobytes: f64, law| Window::new(kilobytes * 1e3, law, course.segment);
        let room = |kilobytes| course.room(&at(kilobytes, Law::Cubic), false);
        assert_eq!((room(58.0), room(116.0)), (None, Some(107_000.0)));
        let heard = |law, before| at(116.0, law).heard(before, course.most());
        assert!((heard(Law::Cubic, 107e3) - 223e3).abs() < 1.0);
        // Lost at the first segment, it is no larger than it was; and it only doubles once.
        assert!((heard(Law::Reno, 0.0) - 116e3).abs() < 1.0 && (heard(Law::Reno, 300e3) - 232e3).abs() < 1.0);
        // HyStart ends the doubling where the path is full.
        assert!((heard(Law::Cubic, course.most()) - 116e3).abs() < 1.0);
        let mut later = at(116.0, Law::Reno);
        later.lose(107e3, course.most());
        assert!(!later.is_starting() && (later.heard(50e3, course.most()) - later.now).abs() < 1.0);
    }

    #[test]
    fn what_is_sent_before_any_acknowledgement_overruns_a_queue_that_is_shorter() {
        let course = Course {
            queue: 9_000.0,
            ..course()
        };
        let initial = Window::new(14_480.0, Law::Cubic, course.segment);
        let room = course.room(&initial, true).unwrap();
        assert!((room - 10_448.0).abs() < 1e-9, "{room}");
        // Acknowledgements let two segments go at a time: the same bytes find room then.
        assert_eq!(course.room(&initial, false), None);
        let longer = Course {
            queue: 14_000.0,
            ..course
        };
        assert_eq!(longer.room(&initial, true), None);
    }

    #[test]
    fn a_program_that_asks_waits_for_each_answer_and_its_bursts_overrun_a_short_queue() {
        let asks = |queue| {
            let part = Some(100_000.0);
            takes(Course {
                queue,
                part,
                ..course()
            })
        };
        // A hundred parts: a round trip for each, and at most what the window does not fill of it.
        let waits = asks(200_000.0) - takes(course());
        assert!((99.0 * 0.04 - 0.2..99.0 * 0.08).contains(&waits), "{waits}");
        // The burst behind each answer is more than a short queue holds: repair takes a round trip, and the window stays small.
        assert!(asks(5_000.0) > asks(200_000.0) + 99.0 * 0.04, "{}", asks(5_000.0));
        // One that marks lets it pass.
        let marks = takes(Course {
            queue: 5_000.0,
            marks: true,
            part: Some(100_000.0),
            ..course()
        });
        assert!(marks < asks(5_000.0), "{marks}");
    }

    #[test]
    fn losses_by_chance_come_as_often_as_they_are_said_to() {
        let mut chance = Chance::new(0.01);
        let struck = (0..100_000).filter(|_| chance.strikes(1.0)).count();
        assert!((900..1_100).contains(&struck), "{struck}");
        let mut never = Chance::new(0.0);
        assert!(!(0..1_000).any(|_| never.strikes(100.0)));
    }

    fn line(kept: f64) -> Timeline {
        let mut line = Timeline {
            to_s: 20.0,
            step_s: 0.1,
            least_rtt_s: 0.1,
            ..Timeline::default()
        };
        for place in 0..200 {
            let flight = if place % 20 < 4 && place >= 20 {
                kept * 100_000.0
            } else {
                100_000.0
            };
            line.steps.push(slowpath_facts::Step {
                flight: flight as u64,
                acks: 10,
                followed: 9,
                ..slowpath_facts::Step::default()
            });
        }
        line.events = (1..9)
            .map(|number| Event {
                span: 1_448,
                ..loss(f64::from(number) * 2.0 - 0.05, 0.02)
            })
            .collect();
        line
    }

    #[test]
    fn what_a_loss_leaves_of_the_flight_tells_the_law() {
        for (kept, wanted) in [
            (0.5, Law::Reno),
            (0.7, Law::Cubic),
            (0.8, Law::Bic),
            (0.3, Law::Cubic),
        ] {
            assert_eq!(law(&line(kept), 1_448.0, 0.0), wanted, "{kept}");
        }
        let mut paced = line(0.5);
        paced.steps.iter_mut().for_each(|step| step.followed = 2);
        assert_eq!(law(&paced, 1_448.0, 0.0), Law::Clocked);
        // What a buffer holds follows few acknowledgements, too.
        assert_eq!(law(&paced, 1_448.0, 0.8), Law::Reno);
    }

    #[test]
    fn a_queue_is_as_long_as_where_it_overran_and_no_shorter_than_the_path_where_it_did_not() {
        let mut line = line(0.5);
        let random = vec![(Limit::RandomLoss, None); line.events.len()];
        assert_eq!(full(&line, &random), (0.1, false));
        let overran = vec![(Limit::BottleneckBandwidth, Some(Flag::ShortQueue)); line.events.len()];
        assert_eq!(full(&line, &overran), (0.02, false));
        let half = line.events.len() / 2;
        for event in &mut line.events[..=half] {
            (event.kind, event.queue_s) = (Happening::Mark, 0.005);
        }
        assert_eq!(full(&line, &overran), (0.005, true));
    }
}

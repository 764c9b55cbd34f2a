//! What one connection did while it was watched: the figures that a verdict may use. No judgement.

use serde::Serialize;

use slowpath_units::Time;

use super::queue::{self, Queue};
use super::sample::ConnectionSample;
use super::track::{Gap, State, Stretch, Times, Track, has_queue_at};

/// The figures of one connection.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Facts {
    /// Whether the bytes come in.
    pub receiving: bool,
    /// Seconds watched.
    pub seconds: f64,
    /// Payload bytes that arrived at their receiver meanwhile.
    pub bytes: u64,
    /// Whether something waited all the time and nothing of it moved.
    pub stands_still: bool,
    /// Payload bytes acknowledged since the connection began.
    pub lifetime_bytes: u64,
    /// Unanswered retransmissions of the first segment outstanding, at the newest look.
    pub unanswered: u64,
    /// Least round-trip time known, seconds; 0 if none.
    pub least_rtt_s: f64,
    /// Mean round-trip time, weighted with the time, seconds.
    pub mean_rtt_s: f64,
    /// Whether the least round-trip time may be that of a full queue: the kernel forgets it after 300 s.
    pub least_rtt_is_recent: bool,
    /// Seconds by state; sums to the time watched.
    #[serde(skip)]
    pub times: Times,
    /// Segments with data that were sent, and of them again.
    pub segments: (u64, u64),
    /// Retransmissions that the receiver reported as not needed.
    pub spurious: u64,
    /// Times that the sender noticed overtaking.
    pub overtakings: u64,
    /// Segments delivered with a mark of congestion.
    pub marked: u64,
    /// The same since the connection began.
    pub lifetime_marked: u64,
    /// Retransmissions since the connection began.
    pub lifetime_again: u64,
    /// The same as a share of all segments with data.
    pub lifetime_loss: f64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Longest time without an acknowledgement while data were outstanding, seconds.
    pub longest_stall_s: f64,
    /// Repairs of losses, and those that began while packets queued.
    pub episodes: (usize, usize),
    /// Mean number of segments sent again in a repair.
    pub segments_per_episode: f64,
    /// Spread of the rate before the repairs: standard deviation over mean; none below three repairs.
    pub rate_spread_at_loss: Option<f64>,
    /// Spread of the congestion window before the repairs, with the one that the slow-start threshold remembers from before
    /// the watch: standard deviation over mean; none below two.
    pub window_spread_at_loss: Option<f64>,
    /// How many windows that is.
    pub windows_at_loss: usize,
    /// Probability that chance loses as many segments at a time, if it loses each with the share that was lost; 1 without a repair.
    pub burst_chance: f64,
    /// Mean rate before the repairs, bytes per second.
    pub rate_at_loss: f64,
    /// How the rate goes with the bytes in flight: 1 in proportion, 0 not at all; none where the flight hardly changes.
    pub elasticity: Option<f64>,
    /// Share of a full window that went through each round trip while the window was full; none if it never was.
    pub window_fill: Option<f64>,
    /// The window that was full, bytes.
    pub window_bytes: f64,
    /// Of the looks at a full window, the share at which it had shrunk.
    pub window_shrank: f64,
    /// Of the looks at a full window at which acknowledgements were due, the share without any.
    pub window_silent: f64,
    /// The rate that a tenth of the round trips with a full window exceed, over the mean of them.
    pub window_fast: Option<f64>,
    /// Whether the round trip of a full window is longer than the least by more than jitter makes it.
    pub window_queued: bool,
    /// Mean bytes in flight.
    pub flight_bytes: f64,
    /// Middle nine tenths of the bytes in flight, as a share of their mean, while the program limited.
    pub flight_spread: f64,
    /// Share of pauses of the program that ended together with a word from the other end, against what chance would do.
    pub answered: Option<f64>,
    /// Round trips of the pauses that were watched; below one, one cannot see what ended them.
    pub looks_per_rtt: f64,
    /// BBR's bandwidth, bytes per second.
    pub bbr_bandwidth: Option<u64>,
    /// Segments that came out of order.
    pub out_of_order: u64,
    /// Seconds in which segments were missing of what arrived.
    pub missing_s: f64,
    /// Gaps in what arrived; of them those that stayed open for a round trip, as it takes to send a segment again; and of
    /// these those before which packets queued.
    pub gaps: (usize, usize, usize),
    /// Whether a round trip is long enough, against the looks, to tell an overtaken segment from a lost one.
    pub gaps_are_clear: bool,
    /// Segments lost in the long gaps, by what filled them: a lower bound.
    pub lost_here: u64,
    /// Data segments that arrived.
    pub segments_here: u64,
    /// Spread of the rate before the long gaps: standard deviation over mean; none below four gaps.
    pub rate_spread_at_gap: Option<f64>,
    /// Median of the rate behind a long gap over that before it; none below four gaps.
    pub rate_left_by_gap: Option<f64>,
    /// Share of these rates that are within a tenth of the greatest: a link, or a bucket, has one rate.
    pub rates_at_most: f64,
    /// Mean rate before the long gaps, bytes per second.
    pub rate_at_gap: f64,
    /// Mean bytes that waited here for the program.
    pub unread_bytes: f64,
    /// Mean window offered to the sender.
    pub own_window_bytes: f64,
    /// Mean size of the send buffer in memory.
    pub send_buffer_bytes: f64,
    /// Time of the stretches, states by stretch: begin, end, the state with most of it.
    #[serde(skip)]
    pub course: Vec<(f64, f64, State)>,
    /// Least and greatest window of the peer.
    pub peer_window: (u64, u64),
}

impl Facts {
    /// Share of the segments with data that were sent again; 0 where none was sent.
    pub fn sent_again(&self) -> f64 {
        let (sent, again) = self.segments;
        again as f64 / sent.max(1) as f64
    }

    /// Share of the segments that were lost: those sent again, or, at a receiver, at least those that gaps show.
    pub fn lost_share(&self) -> f64 {
        if self.receiving {
            self.lost_here as f64 / (self.segments_here + self.lost_here).max(1) as f64
        } else {
            self.sent_again()
        }
    }

    /// Whether about the mean flight goes through in most round trips; while nothing is under way for most of the time, no such
    /// figure is true.
    pub fn is_flight_steady(&self) -> bool {
        let round_trips = self.seconds / self.mean_rtt_s.max(1e-9);
        let each = self.bytes as f64 / round_trips.max(1e-9);
        let idle = self.times.of(State::Idle) / self.seconds.max(1e-9);
        idle < 0.5 && each >= 0.5 * self.flight_bytes && each <= 2.0 * self.flight_bytes
    }
}

/// Takes the figures from what was tracked.
pub fn facts(track: &Track) -> Facts {
    let (first, last) = (&track.first().info, &track.last().info);
    let stands_still = track.stands_still();
    let unread_only = stands_still && track.last().send_queue == 0;
    let receiving = track.received() > track.sent() || unread_only;
    let mut stretches: Vec<Stretch> = track.stretches().copied().collect();
    let least = track.least_rtt();
    let queues = if receiving {
        queue::at_receiver(&stretches)
    } else {
        queue::at_sender(&stretches)
    };
    let grown = |later: u32, earlier: u32| u64::from(later.wrapping_sub(earlier));
    let (times, course) = if receiving {
        receiver_times(&stretches, &queues, least)
    } else {
        let mut times = *track.times();
        // A window that no loss has reduced yet grows from its start, whatever ended its doubling; BBR has no such window.
        let reduced = match track.episodes().first() {
            _ if track.last().bbr.is_some() || first.total_retrans > 0 => Time::from_nanos(0),
            Some(repair) => repair.at,
            None if last.total_retrans > 0 => Time::from_nanos(0),
            None => Time::from_nanos(u64::MAX),
        };
        without_jitter(&mut stretches, &queues, least, reduced, &mut times);
        let course = stretches.iter().map(|one| (*one, one.times.longest()));
        (times, course.collect())
    };
    let mean =
        |value: &dyn Fn(&Stretch) -> f64| weighted(stretches.iter().map(|one| (value(one), one.seconds())));
    let mut facts = Facts {
        receiving,
        seconds: track.seconds(),
        bytes: if receiving { track.received() } else { track.sent() },
        stands_still,
        lifetime_bytes: last.bytes_acked,
        unanswered: u64::from(last.retransmits),
        least_rtt_s: if least.is_finite() { least } else { 0.0 },
        mean_rtt_s: mean_round_trip(&stretches, receiving),
        least_rtt_is_recent: last.busy_time > KERNEL_REMEMBERS,
        times,
        segments: (
            grown(last.data_segs_out, first.data_segs_out),
            grown(last.total_retrans, first.total_retrans),
        ),
        spurious: grown(last.dsack_dups, first.dsack_dups),
        overtakings: grown(last.reord_seen, first.reord_seen),
        marked: grown(last.delivered_ce, first.delivered_ce),
        lifetime_marked: u64::from(last.delivered_ce),
        lifetime_again: u64::from(last.total_retrans),
        lifetime_loss: f64::from(last.total_retrans) / f64::from(last.data_segs_out.max(1)),
        timeouts: u64::from(last.total_rto.wrapping_sub(first.total_rto)),
        flight_bytes: mean(&|one| one.flight),
        bbr_bandwidth: track.last().bbr.map(|bbr| bbr.bandwidth),
        out_of_order: grown(last.rcv_ooopack, first.rcv_ooopack),
        unread_bytes: mean(&|one| one.unread),
        own_window_bytes: mean(&|one| one.own_window),
        send_buffer_bytes: f64::from(track.last().memory.send_buffer),
        looks_per_rtt: least.min(10.0) * track.looks() as f64 / track.seconds().max(1e-9),
        elasticity: elasticity(&stretches),
        peer_window: peer_window(&stretches, track.last()),
        longest_stall_s: longest_stall(&stretches),
        course: course
            .into_iter()
            .map(|(one, state)| (one.from.seconds(), one.to.seconds(), state))
            .collect(),
        ..Facts::default()
    };
    episodes(track, least, &stretches, &queues, &mut facts);
    bursts(track, &mut facts);
    if receiving {
        gaps(track, least, &mut facts);
    }
    let full = track.full_window();
    facts.window_shrank = full.shrank as f64 / full.looks.max(1) as f64;
    facts.window_silent = full.silent as f64 / full.expectant.max(1) as f64;
    facts.window_fast = track.window_rates().fast();
    window(&stretches, least, receiving, &mut facts);
    let program: Vec<f64> = stretches
        .iter()
        .filter(|one| one.times.longest() == State::Program)
        .map(|one| one.flight)
        .collect();
    facts.flight_spread = spread(&program).unwrap_or(0.0);
    facts.answered = answered(track);
    facts
}

/// Gives the time of queues that do not stand to the growth of the window, which is that of its start until the first loss has `reduced` it, and
/// of those that may be jitter to what is open; in the stretches and in the sum of all `times`.
fn without_jitter(
    stretches: &mut [Stretch],
    queues: &[Queue],
    least_rtt: f64,
    reduced: Time,
    times: &mut Times,
) {
    for (stretch, queue) in stretches.iter_mut().zip(queues) {
        let instead = match queue {
            Queue::Stands => continue,
            Queue::Absent if stretch.from < reduced => State::SlowStart,
            Queue::Absent => State::Growth,
            Queue::Open if queue::is_beyond_jitter(stretch, least_rtt) => continue,
            Queue::Open => State::Uneven,
        };
        let seconds = stretch.times.of(State::Queue);
        stretch.times.give(State::Queue, instead, seconds);
        times.give(State::Queue, instead, seconds);
    }
}

/// Mean round-trip time, weighted with the time for which there was one.
fn mean_round_trip(stretches: &[Stretch], receiving: bool) -> f64 {
    let of = |one: &Stretch| {
        if receiving && one.receiver_rtt > 0.0 {
            one.receiver_rtt
        } else {
            one.rtt
        }
    };
    let known = stretches.iter().filter(|one| of(one) > 0.0);
    weighted(known.map(|one| (of(one), one.seconds())))
}

/// What a receiver can know, stretch by stretch.
fn receiver_times(stretches: &[Stretch], queues: &[Queue], least_rtt: f64) -> (Times, Vec<(Stretch, State)>) {
    let mut times = Times::default();
    let mut course = Vec::new();
    let states: Vec<State> = (stretches.iter().zip(queues))
        .map(|(stretch, queue)| match receiver_state(stretch, least_rtt) {
            State::Queue if *queue == Queue::Absent => State::Growth,
            state => state,
        })
        .collect();
    let full_link = full_link_rate(stretches, &states);
    for (stretch, &state) in stretches.iter().zip(&states) {
        let mut state = state;
        // As fast as when packets queue: the link is full then, too, its queue is only short.
        if state == State::Growth && full_link.is_some_and(|rate| stretch.rate() >= LINK_RATE * rate) {
            state = State::Queue;
        }
        // A program that reads in jerks: its time is that in which bytes wait, and no more.
        let unread = if stretch.is_never_emptied() {
            stretch.seconds()
        } else {
            stretch.unread_s.min(stretch.seconds())
        };
        times.add(State::WindowShrunk, unread);
        times.add(state, stretch.seconds() - unread);
        let most = if unread * 2.0 > stretch.seconds() {
            State::WindowShrunk
        } else {
            state
        };
        course.push((*stretch, most));
    }
    (times, course)
}

/// Rate of the stretches in which packets queue, where these are a good part of all.
fn full_link_rate(stretches: &[Stretch], states: &[State]) -> Option<f64> {
    let queued = || {
        let with_state = stretches.iter().zip(states);
        with_state.filter(|(_, state)| **state == State::Queue)
    };
    let seconds: f64 = queued().map(|(one, _)| one.seconds()).sum();
    let all: f64 = stretches.iter().map(Stretch::seconds).sum();
    (seconds >= GOOD_PART * all && seconds > 0.0)
        .then(|| weighted(queued().map(|(one, _)| (one.rate(), one.seconds()))))
}

/// What the rest of a stretch was, in which the program read what came.
fn receiver_state(stretch: &Stretch, least_rtt: f64) -> State {
    if stretch.received == 0 {
        return State::Idle;
    }
    let per_round_trip = stretch.rate() * least_rtt;
    if least_rtt.is_finite() && per_round_trip >= FULL * stretch.own_window {
        return State::Window;
    }
    if stretch.out_of_order > 0 {
        return State::Recovery;
    }
    // The receiver's estimate also contains the pauses of a sender that gives much at a time, which no full link does.
    let long = stretch.receiver_rtt > least_rtt * RECEIVER_QUEUE_RATIO + RECEIVER_QUEUE_NOISE;
    if long && !stretch.is_in_bursts() {
        return State::Queue;
    }
    State::Growth
}

fn episodes(track: &Track, least: f64, stretches: &[Stretch], queues: &[Queue], facts: &mut Facts) {
    let all = track.episodes();
    let before = |at: Time| {
        let place = stretches.partition_point(|one| one.from < at);
        place.checked_sub(1).and_then(|place| queues.get(place))
    };
    let queued = all
        .iter()
        .filter(|one| has_queue_at(one.rtt_before, least) && before(one.at) != Some(&Queue::Absent))
        .count();
    facts.episodes = (all.len(), queued);
    if all.is_empty() {
        return;
    }
    let segments: u64 = all.iter().map(|one| one.segments).sum();
    facts.segments_per_episode = segments as f64 / all.len() as f64;
    let rates: Vec<f64> = all
        .iter()
        .map(|one| one.rate_before)
        .filter(|&rate| rate > 0.0)
        .collect();
    facts.rate_at_loss = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    facts.rate_spread_at_loss = (rates.len() >= 3).then(|| deviation(&rates)).flatten();
}

/// What was missing of what arrived, and how the rate went with it.
fn gaps(track: &Track, least: f64, facts: &mut Facts) {
    let all = track.gaps();
    let look = track.seconds() / track.looks().max(1) as f64;
    facts.missing_s = track.gap_seconds();
    facts.segments_here =
        u64::from((track.last().info.data_segs_in).wrapping_sub(track.first().info.data_segs_in));
    facts.gaps_are_clear = least.is_finite() && least >= CLEAR * look;
    let long: Vec<&Gap> = all
        .iter()
        .filter(|gap| gap.stood && gap.seconds + UNSEEN * look >= least)
        .collect();
    let queued = long
        .iter()
        .filter(|gap| gap.rtt_before > least * RECEIVER_QUEUE_RATIO + RECEIVER_QUEUE_NOISE)
        .count();
    facts.gaps = (all.len(), long.len(), queued);
    facts.lost_here = long.iter().map(|gap| gap.filled.max(1)).sum();
    let before: Vec<f64> = (long.iter().map(|gap| gap.rate_before))
        .filter(|&rate| rate > 0.0)
        .collect();
    let mut left: Vec<f64> = (long.iter().filter(|gap| gap.rate_before > 0.0))
        .filter_map(|gap| Some(gap.rate_after? / gap.rate_before))
        .collect();
    left.sort_by(f64::total_cmp);
    facts.rate_at_gap = before.iter().sum::<f64>() / before.len().max(1) as f64;
    let most = before.iter().copied().fold(0.0, f64::max);
    let near = before.iter().filter(|&&rate| rate >= NEAR_MOST * most).count();
    facts.rates_at_most = near as f64 / before.len().max(1) as f64;
    facts.rate_spread_at_gap = (before.len() >= FEW_GAPS).then(|| deviation(&before)).flatten();
    facts.rate_left_by_gap = (left.len() >= FEW_GAPS).then(|| left[left.len() / 2]);
}

/// Whether what is lost together is more than chance makes it, and whether the window was the same each time.
fn bursts(track: &Track, facts: &mut Facts) {
    let share = facts.sent_again();
    let first = &track.first().info;
    // What the window was reduced to at the last loss before the watch (RFC 9438, section 4.6; RFC 5681, section 3.1).
    let left = match track.congestion_control() {
        "cubic" => Some(0.7),
        "reno" => Some(0.5),
        _ => None,
    };
    let remembered = left
        .filter(|_| first.snd_ssthresh < UNSET)
        .map(|left| f64::from(first.snd_ssthresh) / left);
    let mut windows: Vec<f64> = Vec::new();
    let (mut together, mut expected) = (0, 0.0);
    let mut before: Option<Time> = None;
    for one in track.episodes() {
        let round_trips = before.map_or(f64::INFINITY, |before| {
            one.at.since(before).seconds() / facts.mean_rtt_s.max(1e-4)
        });
        before = Some(one.at);
        // What follows upon a repair at once is its own.
        if round_trips < SETTLED {
            continue;
        }
        if !one.starting {
            windows.push(f64::from(one.window_before));
        }
        let more = share
            * f64::from(
                one.window_before
                    .max(u32::try_from(one.segments).unwrap_or(u32::MAX)),
            );
        together += one.segments.saturating_sub(1);
        expected += more;
    }
    facts.burst_chance = at_least(together, expected);
    // A first loss that finds a bucket full comes at a larger window than all that follow.
    let alike = |windows: &[f64]| deviation(windows).is_some_and(|spread| spread <= ONE_WINDOW);
    let settled = facts.burst_chance < BY_DESIGN && windows.len() > 1 && alike(&windows);
    windows.extend(remembered);
    if settled && !alike(&windows) {
        windows.pop();
    }
    facts.windows_at_loss = windows.len();
    facts.window_spread_at_loss = (windows.len() >= 2).then(|| deviation(&windows)).flatten();
}

/// Greatest spread of the window at losses in front of a bucket, which has one rate.
pub(super) const ONE_WINDOW: f64 = 0.2;
/// Chance does not lose so many at a time.
pub(super) const BY_DESIGN: f64 = 1e-3;

/// Probability that something of which `mean` are expected happens `count` times or more (Poisson).
fn at_least(count: u64, mean: f64) -> f64 {
    let (mut term, mut below) = ((-mean).exp(), 0.0);
    for number in 0..count {
        below += term;
        term *= mean / (number + 1) as f64;
    }
    (1.0 - below).max(1e-12)
}

/// Of the stretches in which the window was full: how much of it went through each round trip, and how large it was.
fn window(stretches: &[Stretch], least: f64, receiving: bool, facts: &mut Facts) {
    let full: Vec<&Stretch> = stretches
        .iter()
        .filter(|one| {
            if receiving {
                receiver_state(one, least) == State::Window
            } else {
                one.times
                    .sum(&[State::Window, State::WindowShrunk, State::WindowLate])
                    > 0.5 * one.times.total()
            }
        })
        .collect();
    if full.is_empty() || !least.is_finite() {
        return;
    }
    let size = |one: &Stretch| {
        if receiving {
            one.own_window
        } else {
            one.peer_window.1 as f64
        }
    };
    facts.window_bytes = weighted(full.iter().map(|one| (size(one), one.seconds())));
    let through = weighted(full.iter().map(|one| {
        let rtt = if receiving { least } else { one.rtt };
        (one.rate() * rtt, one.seconds())
    }));
    let late: Vec<&&Stretch> = (full.iter())
        .filter(|one| one.times.of(State::WindowLate) > 0.5 * one.times.total())
        .collect();
    let queued = late
        .iter()
        .filter(|one| queue::is_beyond_jitter(one, least))
        .count();
    facts.window_queued = queued * 2 > late.len();
    facts.window_fill = (facts.window_bytes > 0.0).then(|| through / facts.window_bytes);
}

fn peer_window(stretches: &[Stretch], last: &ConnectionSample) -> (u64, u64) {
    let least = stretches.iter().map(|one| one.peer_window.0).min();
    let most = stretches.iter().map(|one| one.peer_window.1).max();
    let now = u64::from(last.info.snd_wnd);
    (least.unwrap_or(now), most.unwrap_or(now))
}

fn longest_stall(stretches: &[Stretch]) -> f64 {
    let mut longest: f64 = 0.0;
    let mut run = 0.0;
    for one in stretches {
        if one.sent == 0 && one.flight > 0.0 {
            run += one.seconds();
        } else {
            run = 0.0;
        }
        longest = longest.max(run);
    }
    longest
}

/// Slope of the logarithm of the rate over that of the flight, by least squares.
fn elasticity(stretches: &[Stretch]) -> Option<f64> {
    let points: Vec<(f64, f64)> = stretches
        .iter()
        .filter(|one| one.sent > 0 && one.flight > 0.0 && one.seconds() >= 0.05)
        .map(|one| (one.flight.ln(), one.rate().ln()))
        .collect();
    if points.len() < 10 {
        return None;
    }
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| {
        (x + point.0 / count, y + point.1 / count)
    });
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let common: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    // A flight that varies by less than a tenth says nothing.
    ((spread / count).sqrt() > 0.1).then(|| common / spread)
}

/// Chance-corrected share of resumptions that came together with a word: 0 as often as by chance, 1 always.
fn answered(track: &Track) -> Option<f64> {
    let counts = track.answered();
    let resumed = counts.resumed_after_word + counts.resumed_alone;
    let still = counts.word_only + counts.silence;
    if resumed < 10 || still < 10 {
        return None;
    }
    let with = counts.resumed_after_word as f64 / resumed as f64;
    let by_chance = counts.word_only as f64 / still as f64;
    (by_chance < 0.9).then(|| (with - by_chance) / (1.0 - by_chance))
}

fn weighted(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, weight) = values.fold((0.0, 0.0), |(sum, total), (value, weight)| {
        (sum + value * weight, total + weight)
    });
    if weight > 0.0 { sum / weight } else { 0.0 }
}

/// Standard deviation over mean.
fn deviation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean > 0.0).then(|| variance.sqrt() / mean)
}

/// Middle nine tenths over the median.
fn spread(values: &[f64]) -> Option<f64> {
    if values.len() < 5 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    (at(0.5) > 0.0).then(|| (at(0.95) - at(0.05)) / at(0.5))
}

/// Microseconds of `tcp_min_rtt_wlen`: after 300 s the kernel forgets the least round trip.
const KERNEL_REMEMBERS: u64 = 300_000_000;
/// A window is full when this share of it goes through each round trip; automatic growth keeps it at half.
const FULL: f64 = 0.75;
/// A link that is full delivers no less than this share of its rate ...
const LINK_RATE: f64 = 0.9;
/// ... which is known where packets queue for this share of the time.
const GOOD_PART: f64 = 0.25;
/// A slow-start threshold that no loss has set (`TCP_INFINITE_SSTHRESH` of `include/net/tcp.h`).
const UNSET: u32 = 0x7fff_ffff;
/// Round trips after which a repair has nothing to do with the one before.
const SETTLED: f64 = 8.0;
/// Looks in a round trip from which on a gap that closes at once is told from one that takes a round trip.
const CLEAR: f64 = 1.5;
/// Looks by which a gap was open for longer than those that saw it open show, on average and a half.
const UNSEEN: f64 = 1.5;
/// Fewer gaps say nothing of the rate.
const FEW_GAPS: usize = 4;
/// Rates as near to the greatest are the same.
const NEAR_MOST: f64 = 0.9;
/// The receiver's own estimate of the round trip is coarser than the sender's.
const RECEIVER_QUEUE_RATIO: f64 = 1.3;
const RECEIVER_QUEUE_NOISE: f64 = 0.005;

//! From facts to a ledger and a verdict, in the vocabulary of captures.
//!
//! Samples of a socket decide less than packets do; `docs/guide/why.md` says which limits they can. For the others
//! "cannot be told from here" is the right answer, with what to do next.

use serde::Serialize;
use slowpath_verdict::ledger::CapacityIs;
use slowpath_verdict::{Evidence, Flag, Interval, Limit, Parameters, Reason, Rejected, Verdict};

use super::facts::{BY_DESIGN, Facts, ONE_WINDOW};
use super::gaps::are_gaps_by_chance;
use super::track::State;
use super::view::Lacking;
pub use super::view::ProgramView;
use super::words;
use slowpath_words::{english, english_word};

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// What limited.
    pub cause: Limit,
    /// What the connection did meanwhile.
    pub state: &'static str,
    /// How long, seconds.
    pub time_s: f64,
    /// What would be saved without the cause; samples do not tell the capacity, so it stays open.
    pub lost_s: Option<f64>,
}

/// Where the time of a connection went; the entries sum to the time watched.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Ledger {
    /// Seconds watched.
    pub duration_s: f64,
    /// Payload capacity; the greatest rate seen is only a lower bound.
    pub capacity_bit_per_s: Option<f64>,
    /// `at-least`; by packets `measured` as well.
    pub capacity_is: &'static str,
    /// Unavoidable time; needs a known capacity.
    pub floor_s: Option<f64>,
    /// The entries, the longest first.
    pub entries: Vec<Entry>,
}

impl Entry {
    fn kept(&self) -> slowpath_verdict::ledger::Entry {
        use slowpath_verdict::ledger::State as Kept;
        let state = State::ALL.into_iter().find(|state| state.name() == self.state);
        slowpath_verdict::ledger::Entry {
            cause: self.cause,
            flags: Vec::new(),
            state: match state {
                Some(State::Idle) => Kept::Idle,
                Some(State::Program | State::Paced) => Kept::Pace,
                Some(State::SendBuffer) => Kept::Buffer,
                Some(State::Window | State::WindowShrunk | State::WindowLate) => Kept::Window,
                Some(State::SlowStart) => Kept::Start,
                Some(State::Queue) => Kept::Link,
                Some(State::Growth | State::Marked) => Kept::Growth,
                Some(State::Recovery) => Kept::Repair,
                Some(State::Timeout) => Kept::Timeout,
                Some(State::Uneven) | None => Kept::Unknown,
            },
            event_at_s: None,
            events: 0,
            segments: 0,
            time_s: self.time_s,
            lost_s: self.lost_s,
        }
    }
}

impl Ledger {
    /// Seconds of one cause.
    pub fn of(&self, cause: Limit) -> f64 {
        self.entries
            .iter()
            .filter(|entry| entry.cause == cause)
            .map(|entry| entry.time_s)
            .sum()
    }

    /// A capture's ledger in this form.
    pub fn of_packets(ledger: &slowpath_verdict::Ledger) -> Self {
        Self {
            duration_s: ledger.duration_s,
            capacity_bit_per_s: ledger.capacity_bit_per_s,
            capacity_is: match ledger.capacity_is {
                CapacityIs::Known => "known",
                CapacityIs::Measured => "measured",
                CapacityIs::AtLeast => "at-least",
            },
            floor_s: ledger.floor_s,
            entries: ledger
                .entries
                .iter()
                .map(|entry| Entry {
                    cause: entry.cause,
                    state: entry.state.name(),
                    time_s: entry.time_s,
                    lost_s: entry.lost_s,
                })
                .collect(),
        }
    }

    /// The same in the form in which the ledgers of captures are kept.
    pub fn kept(&self) -> slowpath_verdict::Ledger {
        slowpath_verdict::Ledger {
            duration_s: self.duration_s,
            capacity_bit_per_s: self.capacity_bit_per_s,
            capacity_is: CapacityIs::AtLeast,
            floor_s: self.floor_s,
            entries: self.entries.iter().map(Entry::kept).collect(),
            ..slowpath_verdict::Ledger::default()
        }
    }

    /// Causes with their seconds, the longest first.
    pub fn by_cause(&self) -> Vec<(Limit, f64)> {
        let mut causes: Vec<(Limit, f64)> = Vec::new();
        for entry in &self.entries {
            match causes.iter_mut().find(|(cause, _)| *cause == entry.cause) {
                Some((_, seconds)) => *seconds += entry.time_s,
                None => causes.push((entry.cause, entry.time_s)),
            }
        }
        causes.sort_by(|a, b| b.1.total_cmp(&a.1));
        causes
    }
}

/// Judges one connection.
pub fn judge(facts: &Facts, programs: ProgramView) -> (Verdict, Ledger, Vec<Interval>) {
    let losses = if facts.receiving {
        loss_cause_at_receiver(facts)
    } else {
        loss_cause(facts)
    };
    let pauses = pause_cause(facts, programs);
    let cause = |state: State| cause_of(state, facts, losses.0, pauses.0);
    let mut entries: Vec<Entry> = State::ALL
        .into_iter()
        .filter(|&state| facts.times.of(state) > 0.0)
        .map(|state| Entry {
            cause: cause(state),
            state: state.name(),
            time_s: facts.times.of(state),
            lost_s: None,
        })
        .collect();
    entries.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    let ledger = Ledger {
        duration_s: facts.seconds,
        capacity_bit_per_s: None,
        capacity_is: "at-least",
        floor_s: None,
        entries,
    };
    let mut intervals: Vec<Interval> = Vec::new();
    for &(from_s, to_s, state) in &facts.course {
        let limit = cause(state);
        match intervals.last_mut() {
            Some(last) if last.limit == limit => last.to_s = to_s,
            _ => intervals.push(Interval { from_s, to_s, limit }),
        }
    }
    (
        verdict(facts, programs, &ledger, losses, pauses),
        ledger,
        intervals,
    )
}

fn verdict(
    facts: &Facts,
    programs: ProgramView,
    ledger: &Ledger,
    losses: (Limit, Reason),
    pauses: (Limit, Reason),
) -> Verdict {
    let causes = ledger.by_cause();
    let (mut limit, mut time) = causes.first().copied().unwrap_or((Limit::Unknown, 0.0));
    // What cannot be told of the rest acquits nobody: after each time that the program here let bytes wait, they take a round trip to
    // come again.
    let of_reader = ledger.of(Limit::ReceiverApplication);
    if facts.receiving && limit.is_undecided() && of_reader >= A_THIRD * facts.seconds {
        (limit, time) = (Limit::ReceiverApplication, of_reader);
    }
    let share = if facts.seconds > 0.0 {
        (time / facts.seconds).min(1.0)
    } else {
        0.0
    };
    let lacking = lacking(facts, programs);
    if lacking.is_some() {
        limit = Limit::Unknown;
    }
    let mut flags = Vec::new();
    if facts.times.of(State::Queue) > 0.25 * facts.seconds
        && facts.mean_rtt_s > 2.0 * facts.least_rtt_s
        && facts.mean_rtt_s - facts.least_rtt_s > BLOAT
    {
        flags.push(Flag::Bufferbloat);
    }
    if share < 0.6 && causes.len() > 1 {
        flags.push(Flag::Mixed);
    }
    let rejected = rejected(facts, ledger, limit, losses, pauses);
    Verdict {
        limit,
        share,
        confidence: confidence(facts, limit, share),
        sentence: words::sentence(limit, facts, programs, share, lacking),
        parameters: parameters(limit, facts),
        evidence: evidence(limit, facts),
        next_step: limit
            .is_undecided()
            .then(|| words::next_step(facts, programs, lacking)),
        rejected,
        flags,
    }
}

/// Of what there is too little to say what limits.
pub(super) fn lacking(facts: &Facts, programs: ProgramView) -> Option<Lacking> {
    let stalled = facts.stands_still || facts.longest_stall_s >= STALL;
    match () {
        () if facts.bytes < LEAST_BYTES && programs.udp => Some(Lacking::Udp),
        () if facts.bytes < LEAST_BYTES && !stalled => Some(Lacking::Bytes),
        () if facts.seconds < LEAST_SECONDS => Some(Lacking::Time),
        () => None,
    }
}

fn cause_of(state: State, facts: &Facts, losses: Limit, pauses: Limit) -> Limit {
    if facts.stands_still {
        return standstill_cause(facts);
    }
    match state {
        // Behind a loss that is no fault of the load the window grows: that, too, is the loss's time.
        State::Growth if facts.receiving && losses == Limit::RandomLoss => losses,
        State::Idle | State::Growth if facts.receiving => Limit::Unknown,
        State::Idle | State::Program => pauses,
        State::Paced => Limit::SenderApplication,
        State::SendBuffer => Limit::SendBuffer,
        State::Window if is_slow_reader(facts) => Limit::ReceiverApplication,
        // Now and then smaller: a reader a little too slow, or one that is only sometimes late.
        State::Window if !facts.receiving && facts.window_shrank >= WAVERS && !is_window_used_up(facts) => {
            Limit::Unknown
        }
        State::WindowLate => late_window_cause(facts),
        State::Window => Limit::ReceiverWindow,
        State::WindowShrunk => Limit::ReceiverApplication,
        State::SlowStart => Limit::SlowStart,
        State::Queue => Limit::BottleneckBandwidth,
        // BBR sends at what it has seen come through, whatever the round trip.
        State::Uneven if facts.bbr_bandwidth.is_some() => losses,
        State::Uneven => Limit::Unknown,
        State::Marked => Limit::EcnCongestion,
        State::Growth | State::Recovery | State::Timeout => losses,
    }
}

/// Why nothing of what waits moves at all.
fn standstill_cause(facts: &Facts) -> Limit {
    let closed = facts.peer_window.1 == 0;
    if facts.receiving || closed {
        return Limit::ReceiverApplication;
    }
    // Small packets came through once, and the first full ones never did.
    if facts.unanswered > 0 && facts.lifetime_bytes < LEAST_BYTES {
        return Limit::MtuBlackHole;
    }
    Limit::Unknown
}

/// What a full window means while the round trip is longer than that of the empty path.
fn late_window_cause(facts: &Facts) -> Limit {
    if is_slow_reader(facts) {
        return Limit::ReceiverApplication;
    }
    // A full link acknowledges all the time. A reader that takes much at a time does so in jerks, and so does a window that
    // goes through a link far below its rate: the first keeps acknowledgements back, by more than a busy machine does.
    if facts.window_silent >= JERKY {
        return if facts.mean_rtt_s >= KEPT_BACK * facts.least_rtt_s {
            Limit::ReceiverApplication
        } else if is_window_used_up(facts) {
            Limit::ReceiverWindow
        } else {
            Limit::Unknown
        };
    }
    // A link that is full delivers at its rate and never faster.
    if facts.window_fast.is_some_and(|fast| fast >= SWINGS) {
        return if facts.window_shrank >= WAVERS && !is_window_used_up(facts) {
            Limit::Unknown
        } else {
            Limit::ReceiverWindow
        };
    }
    if facts.window_queued {
        Limit::BottleneckBandwidth
    } else {
        Limit::Unknown
    }
}

/// Whether nearly the whole of the greatest window goes through each of the shortest round trips: a reader that kept something
/// back, or acknowledgements, would let less through.
fn is_window_used_up(facts: &Facts) -> bool {
    facts
        .window_fill
        .is_some_and(|fill| fill * facts.least_rtt_s >= USED_UP * facts.mean_rtt_s)
}

/// Whether the peer's window is full because nobody reads rather than because it is small: less than half of it goes through each
/// round trip, or more than all of it, since it opens again meanwhile, or it shrinks.
fn is_slow_reader(facts: &Facts) -> bool {
    !facts.receiving
        && (facts
            .window_fill
            .is_some_and(|fill| !(HALF_EMPTY..OVERFULL).contains(&fill))
            || facts.window_shrank >= SHRINKS)
}

/// Why the program had nothing to send.
fn pause_cause(facts: &Facts, programs: ProgramView) -> (Limit, Reason) {
    if programs.busiest >= BUSY {
        return (Limit::HostCpu, Reason::SmallerShare);
    }
    // Below one look in each round trip everything happens in every look.
    let answered = facts.answered.is_some_and(|share| share >= ANSWERED) && facts.looks_per_rtt >= 1.5;
    if answered {
        return (Limit::ProtocolWindow, Reason::SmallerShare);
    }
    let waits = programs.visible && programs.waits_for_other_end >= 0.8;
    if waits && facts.flight_spread < 0.5 && facts.flight_bytes > 0.0 && facts.is_flight_steady() {
        return (Limit::ProtocolWindow, Reason::FlightConstant);
    }
    // Its source waits to be relieved of more: it is no lack of data that keeps it from sending.
    if waits && programs.supplied >= 0.8 {
        return (Limit::ProtocolWindow, Reason::SmallerShare);
    }
    (Limit::SenderApplication, Reason::FlightNotConstant)
}

/// What made the congestion window small, as far as the sender's counters tell.
fn loss_cause(facts: &Facts) -> (Limit, Reason) {
    let (segments, again) = facts.segments;
    let path = facts.times.sum(&[
        State::Growth,
        State::Recovery,
        State::Timeout,
        State::Queue,
        State::Uneven,
        State::Marked,
    ]);
    let queued = facts.times.of(State::Queue) >= QUEUED * path && path > 0.0;
    if facts.marked > 0 && facts.marked >= again {
        return (Limit::EcnCongestion, Reason::SmallerShare);
    }
    // The window still grows after marks that came before the watch.
    if again == 0 && !queued && facts.lifetime_marked > facts.lifetime_again {
        return (Limit::EcnCongestion, Reason::SmallerShare);
    }
    if facts.longest_stall_s >= STALL && facts.lifetime_bytes < LEAST_BYTES {
        return (Limit::MtuBlackHole, Reason::SmallerShare);
    }
    if facts.bbr_bandwidth.is_some() && again == 0 {
        // It sends at the rate that it has seen come through.
        return (Limit::BottleneckBandwidth, Reason::SmallerShare);
    }
    if again == 0 {
        return match (queued, facts.lifetime_loss > 0.0) {
            (true, _) => (Limit::BottleneckBandwidth, Reason::DelayFollowsLoad),
            // The window still grows after a loss that nobody saw.
            (false, true) => (Limit::Unknown, Reason::TooFewLosses),
            // Slow start ended without a loss, by its own guess.
            (false, false) => (Limit::SlowStart, Reason::NoLoss),
        };
    }
    if facts.spurious * 2 >= again && facts.overtakings > 0 {
        return (Limit::Reordering, Reason::SmallerShare);
    }
    let (all, with_queue) = facts.episodes;
    if facts.bbr_bandwidth.is_some() {
        // BBR does not slow down for a few losses: what it sends at is what comes through.
        return if again as f64 >= POLICED_LOSS * segments as f64 && !queued {
            (Limit::Policed, Reason::DelayIgnoresLoad)
        } else {
            (Limit::BottleneckBandwidth, Reason::LossesFollowLoad)
        };
    }
    if with_queue * 2 > all || (queued && with_queue > 0) {
        return (Limit::BottleneckBandwidth, Reason::LossesFollowLoad);
    }
    // A bucket drops several at a time, at the rate to which the window always comes back.
    let same = facts.window_spread_at_loss.map_or(1.0, |spread| {
        let others = i32::try_from(facts.windows_at_loss).unwrap_or(i32::MAX) - 1;
        (spread.max(WHOLE_SEGMENTS) / CHANCE_SPREAD).powi(others).min(1.0)
    });
    let near = facts
        .window_spread_at_loss
        .is_some_and(|spread| spread <= ONE_WINDOW);
    let many = facts.windows_at_loss >= MANY;
    let by_design = facts.burst_chance < BY_DESIGN;
    let noise = if near && many && by_design {
        NOISY_RATE
    } else {
        ANY_RATE
    };
    let any_rate = facts.rate_spread_at_loss.is_some_and(|spread| spread >= noise);
    if near && !any_rate && facts.burst_chance * same < BY_DESIGN {
        return (Limit::Policed, Reason::DelayIgnoresLoad);
    }
    match facts.rate_spread_at_loss {
        Some(_) if any_rate && !by_design => (Limit::RandomLoss, Reason::LossesIgnoreLoad),
        // A slow bucket drops one at a time, too, and a few windows may be alike by chance.
        Some(_) if facts.burst_chance >= BY_CHANCE && (!near || many && same >= OFTEN) => {
            (Limit::RandomLoss, Reason::LossesIgnoreLoad)
        }
        None | Some(_) => (Limit::Unknown, Reason::TooFewLosses),
    }
}

/// The same at the receiver, who sees that something was lost, and at which rates, not what was in flight.
fn loss_cause_at_receiver(facts: &Facts) -> (Limit, Reason) {
    let queued = facts.times.of(State::Queue) >= QUEUED * facts.seconds;
    if queued {
        (Limit::BottleneckBandwidth, Reason::DelayFollowsLoad)
    } else if are_gaps_by_chance(facts) {
        (Limit::RandomLoss, Reason::LossesIgnoreLoad)
    } else {
        (Limit::Unknown, Reason::WrongTap)
    }
}

fn confidence(facts: &Facts, limit: Limit, share: f64) -> f64 {
    if limit.is_undecided() {
        return 0.0;
    }
    let mut confidence = 0.5 + 0.45 * share;
    if facts.seconds < 3.0 {
        confidence *= 0.8;
    }
    if facts.least_rtt_is_recent && limit != Limit::BottleneckBandwidth {
        confidence *= 0.9;
    }
    if facts.receiving {
        confidence *= 0.9;
    }
    confidence
}

fn parameters(limit: Limit, facts: &Facts) -> Parameters {
    let mut parameters = Parameters::default();
    let rate = facts.bytes as f64 / facts.seconds.max(1e-9);
    match limit {
        Limit::ReceiverWindow => {
            parameters.window_bytes = Some(facts.window_bytes as u64);
            parameters.rtt_s = Some(facts.mean_rtt_s);
        }
        Limit::ReceiverApplication => parameters.drain_byte_per_s = Some(rate),
        Limit::SenderApplication | Limit::HostCpu => parameters.source_byte_per_s = Some(rate),
        Limit::ProtocolWindow | Limit::SendBuffer => {
            parameters.flight_bytes = Some(facts.flight_bytes as u64);
            parameters.rtt_s = Some(facts.mean_rtt_s);
        }
        Limit::BottleneckBandwidth | Limit::SharedBottleneck => {
            parameters.queue_delay_s = Some((facts.mean_rtt_s - facts.least_rtt_s).max(0.0));
        }
        Limit::Policed | Limit::RandomLoss => {
            parameters.loss_fraction = Some(facts.lost_share());
        }
        Limit::EcnCongestion if facts.marked > 0 => {
            parameters.marked_fraction = Some(facts.marked as f64 / facts.segments.0.max(1) as f64);
        }
        _ => {}
    }
    parameters
}

fn evidence(limit: Limit, facts: &Facts) -> Vec<Evidence> {
    let mut list = Vec::new();
    let mut add = |fact: &str, text: String, value: f64, unit: &str| {
        list.push(Evidence {
            fact: fact.to_owned(),
            text,
            value,
            unit: unit.to_owned(),
            packets: Vec::new(),
        });
    };
    let share = |state: State| facts.times.of(state) / facts.seconds.max(1e-9);
    for state in State::ALL {
        if share(state) >= 0.05 {
            let text = words::state_sentence(state, facts.receiving, share(state));
            add(&format!("time.{}", state.name()), text, share(state), "");
        }
    }
    if let Some(fill) = facts.window_fill
        && matches!(limit, Limit::ReceiverWindow | Limit::ReceiverApplication)
        && fill < OVERFULL
    {
        // What is above all of it is the noise of round trips.
        let fill = fill.min(1.0);
        add("window.fill", words::fill(fill, facts.window_bytes), fill, "");
    }
    if facts.gaps.0 > 0 {
        let share = facts.missing_s / facts.seconds.max(1e-9);
        add("loss.gaps", words::gaps(facts, share), share, "");
    }
    if let Some(spread) = facts.rate_spread_at_gap
        && limit == Limit::RandomLoss
    {
        add(
            "loss.rate-spread",
            words::rate_spread(spread, facts.rate_at_gap),
            spread,
            "",
        );
    }
    if facts.segments.1 > 0 && !facts.receiving {
        let fraction = facts.sent_again();
        add("loss.again", words::losses(facts, fraction), fraction, "");
    }
    if let Some(spread) = facts.rate_spread_at_loss
        && matches!(limit, Limit::RandomLoss | Limit::Policed)
    {
        add(
            "loss.rate-spread",
            words::rate_spread(spread, facts.rate_at_loss),
            spread,
            "",
        );
    }
    if facts.least_rtt_s > 0.0 {
        add(
            "rtt.inflation",
            words::round_trip(facts),
            facts.mean_rtt_s / facts.least_rtt_s,
            "",
        );
    }
    list
}

fn rejected(
    facts: &Facts,
    ledger: &Ledger,
    chosen: Limit,
    losses: (Limit, Reason),
    pauses: (Limit, Reason),
) -> Vec<Rejected> {
    let mut list = Vec::new();
    let mut no = |limit: Limit, reason: Reason, text: &str| {
        if limit != chosen {
            list.push(Rejected {
                limit,
                reason,
                text: text.to_owned(),
            });
        }
    };
    let share = |limit: Limit| ledger.of(limit) / facts.seconds.max(1e-9);
    for (limit, time) in ledger.by_cause() {
        if time > 0.0 && limit != chosen {
            let text = english!("why-judge-time-2", time = words::percent(share(limit)));
            no(limit, Reason::SmallerShare, &text);
        }
    }
    if share(Limit::ReceiverWindow) == 0.0 {
        no(
            Limit::ReceiverWindow,
            Reason::WindowHadRoom,
            english_word!("why-judge-receivers-window-always-had-room"),
        );
    }
    if facts.segments.1 == 0 && !facts.receiving {
        no(
            Limit::RandomLoss,
            Reason::NoLoss,
            english_word!("why-judge-nothing-sent-again-while-i"),
        );
        no(
            Limit::Policed,
            Reason::NoLoss,
            english_word!("why-judge-nothing-sent-again-while-i"),
        );
    } else if losses.0 != Limit::RandomLoss && chosen != Limit::RandomLoss {
        no(
            Limit::RandomLoss,
            losses.1,
            english_word!("why-judge-losses-follow-load-too-few"),
        );
    }
    if facts.marked == 0 && chosen != Limit::EcnCongestion {
        no(
            Limit::EcnCongestion,
            Reason::NoMarks,
            english_word!("why-judge-no-marks-congestion"),
        );
    }
    if pauses.0 == Limit::SenderApplication && share(Limit::SenderApplication) > 0.05 {
        no(
            Limit::ProtocolWindow,
            pauses.1,
            english_word!("why-judge-pauses-do-not-end-with"),
        );
    }
    no(
        Limit::DeviceLimit,
        Reason::NotInPackets,
        english_word!("why-judge-samples-socket-do-not-show"),
    );
    no(
        Limit::DscpTreatment,
        Reason::NeedsComparison,
        english_word!("why-judge-needs-second-transfer-with-other"),
    );
    list
}

/// Seconds below which nothing is said.
const LEAST_SECONDS: f64 = 0.3;
/// Bytes below which nothing is said.
pub(super) const LEAST_BYTES: u64 = 20_000;
/// A window of which less than this goes through each round trip is not what limits: its reader opens it late.
const HALF_EMPTY: f64 = 0.5;
/// Nor is one through which more than itself goes: it is larger between the looks, when its reader has read.
const OVERFULL: f64 = 1.5;
/// Where so much of it goes through, the window is what limits: a reader that is slower, too, costs no more than the rest.
const USED_UP: f64 = 0.95;
/// A program here that lets bytes wait for so much of the time is named where the rest cannot be told.
const A_THIRD: f64 = 1.0 / 3.0;
/// A window that shrinks this often is filled by bytes that nobody reads; one that is read at once stays as it is.
const SHRINKS: f64 = 0.1;
/// One that shrinks as rarely as this may be either.
pub(super) const WAVERS: f64 = 0.005;
/// Of the looks at which acknowledgements were due, the share without any behind a reader that takes much at a time.
const JERKY: f64 = 0.4;
/// A reader in jerks makes the round trip this much longer.
const KEPT_BACK: f64 = 1.5;
/// Where a tenth of the round trips deliver this much faster than the mean, the link is not what is full.
const SWINGS: f64 = 1.25;
/// A processor is the limit when a program computes, or wants to, this much of the time that is its own.
const BUSY: f64 = 0.6;
/// Pauses end with a word from the other end, corrected for chance.
const ANSWERED: f64 = 0.6;
/// Part of the path's time with a queue that makes its losses overflows.
const QUEUED: f64 = 0.25;
/// Windows are whole segments: some tens of them differ by no less.
const WHOLE_SEGMENTS: f64 = 0.03;
/// So many windows at losses that chance shows in them.
const MANY: usize = 6;
/// CUBIC's windows at losses by chance are within this spread of each other, or less: `n` of them within `s` with about
/// `(s / 0.15)^(n - 1)`, as 4,000 simulated connections show (losses of 0.03 to 1 %, round trips of 16 to 100 ms).
const CHANCE_SPREAD: f64 = 0.15;
/// Spread of the rate at losses that no bucket has.
const ANY_RATE: f64 = 0.2;
/// The same where six windows and more were alike: over short round trips the rates before losses are known that badly.
const NOISY_RATE: f64 = 0.35;
/// Chance may lose so many at a time.
const BY_CHANCE: f64 = 1e-2;
/// Windows at losses by chance are as near to each other not more seldom than this.
const OFTEN: f64 = 0.2;
/// Share of segments that a policer drops of a sender that does not slow down.
const POLICED_LOSS: f64 = 0.03;
/// Queueing that a person notices, seconds.
const BLOAT: f64 = 0.05;
/// Seconds without an acknowledgement that are no ordinary loss.
const STALL: f64 = 3.0;

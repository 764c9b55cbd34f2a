//! What a change would gain, and which limit would take over then.
//!
//! Every limit that could hold the changed transfer gets a rate with an uncertainty ([`Ceiling`]); the lowest
//! one is the prediction, and its owner the next limit. A change that leaves the present limit in place
//! therefore predicts no gain by itself.

use serde::{Deserialize, Serialize};
use slowpath_scenario::Intervention;
use slowpath_units::Ratio;
use slowpath_verdict::message::{About, Bytes, KilobyteRate, MegabyteRate, Milliseconds, Name, Part, Share};
use slowpath_verdict::{Flag, Limit};

use crate::catalogue::Message;
use crate::change::{self, Control};
use crate::response;
use crate::situation::{Cost, PathEvidence, Saved, Situation};

/// What one limit would allow, byte/s of payload.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// Whose ceiling it is.
    pub limit: Limit,
    /// At least.
    pub low: f64,
    /// Most likely.
    pub expected: f64,
    /// At most; infinite where nothing bounds it.
    pub high: f64,
    /// How it comes about.
    pub because: Message,
}

impl Ceiling {
    /// Lowers the ceiling to what a transfer of this size makes of it, which starts slowly.
    ///
    /// What was measured in such a transfer (the reader's rate, the window's) has its start inside already.
    fn start_slowly(&mut self, s: &Situation) {
        if self.limit == s.limit && self.expected <= s.goodput * 1.1 {
            return;
        }
        let rtt = if s.rtt_min_s > 0.0 { s.rtt_min_s } else { s.rtt_s };
        let (low, expected) = (self.low, self.expected);
        let share;
        // A test that is limited by time moves more when it is faster.
        let bytes = |rate: f64| match s.lasts_s {
            Some(lasts_s) if rate.is_finite() => s.bytes.max(rate * lasts_s),
            _ => s.bytes,
        };
        (self.expected, share) = response::finite(expected, bytes(expected), s.mss, rtt);
        // A sender may leave slow start early, or wait for a second round trip before the first data.
        let early = 1.0 - 0.4 * share;
        self.low = response::finite(low, bytes(low), s.mss, rtt).0 * early;
        // The other way round: it may have a larger first flight, and no wait before it.
        self.high = if share > 0.05 {
            self.high.min(self.expected * (1.0 + share))
        } else {
            self.high
        };
        if share > 0.5 {
            self.limit = Limit::SlowStart;
            self.because = Message::SentBefore {
                because: Part::of(self.because.clone()),
                size: whole(s.bytes),
            };
        }
    }
}

/// A prediction that a re-run can refute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The change.
    pub change: Intervention,
    /// Goodput now, byte/s.
    pub before: f64,
    /// Goodput after it: at least, byte/s.
    pub low: f64,
    /// Most likely; without a next limit the most that the limits seen would allow.
    pub expected: f64,
    /// At most; absent where nothing that was seen bounds it.
    pub high: Option<f64>,
    /// Between what rates, byte/s, nine of ten such transfers end by the ledger's own account; absent where no ledger tells.
    #[serde(default)]
    pub range90: Option<(f64, f64)>,
    /// The limit that holds the transfer then; `None` if nothing that was seen bounds it.
    pub next_limit: Option<Limit>,
    /// Other limits that may hold it as well, given the uncertainty.
    pub possible_limits: Vec<Limit>,
    /// Why, in a sentence.
    pub because: String,
}

impl Prediction {
    /// Expected gain as a factor.
    pub fn factor(&self) -> f64 {
        self.expected / self.before
    }

    /// Whether the range is so wide that a measurement inside it decides nothing: its durations are further apart than a
    /// quarter of the expected one.
    pub fn is_vague(&self) -> bool {
        is_vague(self.low, self.expected, self.high)
    }

    /// Whether another prediction of the same change has the same range, within a hundredth.
    pub fn is_like(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= A_HUNDREDTH * a.max(b);
        let high = match (self.high, other.high) {
            (Some(a), Some(b)) => near(a, b),
            (a, b) => a == b,
        };
        high && near(self.low, other.low) && near(self.expected, other.expected)
    }

    /// Whether one of the limits that were predicted is the one that most runs found; also where no run tells a limit.
    pub fn foresaw(&self, found: &[Limit]) -> bool {
        let predicted =
            |limit: &&Limit| self.next_limit == Some(**limit) || self.possible_limits.contains(limit);
        let told: Vec<&Limit> = found.iter().filter(|limit| !limit.is_undecided()).collect();
        told.iter().copied().filter(predicted).count() * 2 >= told.len()
    }

    /// Whether the change is expected to gain less than `share` (0.1 for 10 %).
    pub fn is_no_gain(&self, share: f64) -> bool {
        self.factor() < 1.0 + share
    }
}

/// Whether a range of rates is so wide that a measurement inside it decides nothing: see [`Prediction::is_vague`].
pub fn is_vague(low: f64, expected: f64, high: Option<f64>) -> bool {
    let shortest = high.map_or(0.0, |high| expected / high);
    let longest = if low > 0.0 { expected / low } else { f64::INFINITY };
    longest - shortest > WIDEST
}

/// The widest range of durations that can be held, as a share of the expected duration.
const WIDEST: f64 = 0.25;
/// A transfer this many times as fast as its losses should allow is not held by them.
const BEYOND: f64 = 1.5;
/// Shares of the duration that a ledger is believed to give back: less is lost in what it cannot tell.
const LEAST_SAVED: f64 = 0.05;
/// With more, what is left is less than the ledger's own doubt.
const MOST_SAVED: f64 = 0.9;
/// Share of the duration from which a cause is a limit (as in the ledger's own verdict).
const AVOIDABLE: f64 = 0.2;
/// Share of the duration that is most of it.
const MOSTLY: f64 = 0.5;
/// How far the duration may be off that a ledger predicts: both sides together a little less than a quarter, the most that
/// a proof may leave open.
const DOUBT: f64 = 0.12;

/// Connections at once that a single one is advised to become.
const STREAMS: u32 = 4;

/// Connections at once, on average, from which on they are a job.
pub(crate) const A_JOB: f64 = 2.0;

/// Beyond this multiple of what a path was seen to carry, a figure would be worth nothing.
const FAR: f64 = 5.0;

/// Predicts what `change` makes of the transfer: by what its ledger says the change gives back, where that is told, else by
/// the lowest of all ceilings.
pub fn predict(situation: &Situation, evidence: &PathEvidence, change: &Intervention) -> Prediction {
    let by_account = by_ledger(situation, change)
        .or_else(|| of_longer_queue(situation, change))
        .or_else(|| of_faster_link(situation, change))
        .or_else(|| of_more_connections(situation, change));
    let prediction = by_account.unwrap_or_else(|| by_ceilings(situation, evidence, change));
    below_the_window(situation, prediction)
}

/// What the lowest of all ceilings lets through with the change.
fn by_ceilings(situation: &Situation, evidence: &PathEvidence, change: &Intervention) -> Prediction {
    let mut ceilings = ceilings(situation, evidence, change);
    for ceiling in &mut ceilings {
        ceiling.start_slowly(situation);
    }
    ceilings.sort_by(|a, b| a.expected.total_cmp(&b.expected));
    let Some(first) = ceilings.first().cloned() else {
        return unbounded(situation, change);
    };
    let low = ceilings.iter().map(|c| c.low).fold(f64::INFINITY, f64::min);
    let high = ceilings.iter().map(|c| c.high).fold(f64::INFINITY, f64::min);
    // What the path carries is unknown as long as no transfer filled it: only the seen rates are sure then.
    let seen = evidence
        .peak
        .unwrap_or(0.0)
        .max(situation.peak.unwrap_or(0.0))
        .max(situation.goodput);
    let path_known = evidence.bottleneck.is_some()
        || situation.carries().is_some()
        || matches!(
            situation.limit,
            Limit::BottleneckBandwidth | Limit::SharedBottleneck
        );
    if !path_known && first.expected > seen * FAR {
        return beyond_what_was_seen(situation, change, &first, low.min(situation.goodput), high);
    }
    let mut possible: Vec<Limit> = ceilings
        .iter()
        .skip(1)
        .filter(|c| c.low < high)
        .map(|c| c.limit)
        .collect();
    // Flows that nothing drops any more may meet a link that nobody has filled yet.
    if situation.offered.is_some() && first.limit != situation.limit {
        possible.extend([Limit::BottleneckBandwidth, Limit::SharedBottleneck]);
    }
    let same = first.limit == situation.limit && first.expected < situation.goodput * 1.1;
    let unseen = !path_known && first.expected > seen * 1.1;
    let because = Part::of(first.because);
    let because = if same {
        Message::NothingChanges { because }.to_string()
    } else if unseen {
        Message::BeyondSeen { because }.to_string()
    } else {
        because.to_string()
    };
    Prediction {
        change: change.clone(),
        before: situation.goodput,
        low: if unseen {
            low.min(situation.goodput)
        } else {
            low.min(first.expected)
        },
        expected: first.expected,
        high: high.is_finite().then_some(high),
        range90: None,
        next_limit: Some(first.limit),
        possible_limits: possible,
        because,
    }
}

/// What the ledger says of a change that takes a cause away: its time is given back, the rest stays.
///
/// `None` where the ledger knows no capacity, or where the cause cost next to nothing.
fn by_ledger(s: &Situation, change: &Intervention) -> Option<Prediction> {
    let removed = |cost: &Cost| match change {
        Intervention::SetLoss { chance, .. } if *chance == Ratio::ZERO => cost.is_random_loss(),
        Intervention::SetCongestionControl { .. } if Control::of(change) == Some(Control::Bbr) => {
            // Nor does it stop at overflows of a short queue.
            cost.is_random_loss() || cost.early_exit || cost.is_link()
        }
        Intervention::RemovePolicer { .. } => cost.limit == Limit::Policed,
        Intervention::ResizeQueue { .. } => cost.is_link(),
        Intervention::SetWindow { window, .. } => {
            cost.limit == Limit::ReceiverWindow && s.window.is_none_or(|now| window.bytes() as f64 > now)
        }
        Intervention::SetSendBuffer { .. } => cost.limit == Limit::SendBuffer,
        Intervention::SetReader { rate: None, .. } => cost.limit == Limit::ReceiverApplication,
        Intervention::SetWriter { rate: None, .. } => cost.limit == Limit::SenderApplication,
        _ => false,
    };
    let charged = s.cost_of(removed);
    let told = takes_away(change).and_then(|cause| s.saved_without(cause));
    let told = told.filter(|_| charged >= LEAST_SAVED);
    let saved = told.map_or(charged, |saved| saved.share);
    if !(LEAST_SAVED..MOST_SAVED).contains(&saved) {
        return None;
    }
    let left = 1.0 - saved;
    let largest = s.costs.iter().find(|cost| !removed(cost));
    let next = largest.filter(|cost| cost.share >= AVOIDABLE * left);
    let shared = s.limit == Limit::SharedBottleneck;
    let link = if shared {
        s.limit
    } else {
        Limit::BottleneckBandwidth
    };
    let next_limit = next.map_or(link, |cost| cost.limit);
    let possible = s
        .costs
        .iter()
        .filter(|cost| !removed(cost) && cost.share >= AVOIDABLE / 2.0 * left);
    let mut possible_limits: Vec<Limit> = possible.map(|cost| cost.limit).chain([link]).collect();
    possible_limits.retain(|limit| *limit != next_limit);
    possible_limits.dedup();
    let expected = match (s.lasts_s, s.link) {
        // A test that is limited by time lasts as long as before: what is saved moves more, at the link's rate.
        (Some(_), Some(link)) if link > 0.0 && link < left => s.goodput / link * (1.0 - (left - link)),
        _ => s.goodput / left,
    };
    let because = Message::GivenBack { share: Share(saved) };
    let account = of_account(s, change, expected, next_limit, possible_limits, &because);
    // Nobody makes a transfer slower by taking a cause away, and no ledger believes in nothing being left.
    let range = |saved: Saved| {
        let [low, high] =
            [saved.least.max(0.0), saved.most.min(MOST_SAVED)].map(|share| s.goodput / (1.0 - share));
        (
            low.min(account.low),
            high.max(account.high.unwrap_or(account.expected)),
        )
    };
    let range90 = told.filter(|_| s.lasts_s.is_none()).map(range);
    Some(Prediction { range90, ..account })
}

/// The one cause that a change takes away, where it is one alone.
fn takes_away(change: &Intervention) -> Option<Limit> {
    match change {
        Intervention::SetLoss { .. } => Some(Limit::RandomLoss),
        Intervention::RemovePolicer { .. } => Some(Limit::Policed),
        Intervention::SetWindow { .. } => Some(Limit::ReceiverWindow),
        Intervention::SetSendBuffer { .. } => Some(Limit::SendBuffer),
        Intervention::SetReader { .. } => Some(Limit::ReceiverApplication),
        Intervention::SetWriter { .. } => Some(Limit::SenderApplication),
        _ => None,
    }
}

/// What a queue gives back that is no longer too short, where the ledger knows no capacity: its overflows are away, and what the
/// link carries holds the transfer then, which was not seen.
///
/// `None` where the ledger knows one, or for another change.
fn of_longer_queue(s: &Situation, change: &Intervention) -> Option<Prediction> {
    let is_longer = matches!(change, Intervention::ResizeQueue { .. });
    if !is_longer || s.link.is_some() || s.short_queue < LEAST_SAVED {
        return None;
    }
    let because = Message::OverflowsTake {
        share: Share(s.short_queue),
    };
    Some(Prediction {
        change: change.clone(),
        before: s.goodput,
        low: s.goodput,
        expected: s.peak.unwrap_or(s.goodput).max(s.goodput),
        high: None,
        range90: None,
        next_limit: None,
        possible_limits: vec![Limit::BottleneckBandwidth],
        because: because.to_string(),
    })
}

/// What the ledger says of a faster link, for a transfer that fills it: what the link takes shrinks, the rest stays.
///
/// `None` where the ledger knows no capacity, or for another change.
fn of_faster_link(s: &Situation, change: &Intervention) -> Option<Prediction> {
    let Intervention::ScaleRate { percent, .. } = change else {
        return None;
    };
    let link = s.link.filter(|_| s.fills_the_link())?;
    let link = (link + s.cost_of(Cost::is_link)).min(1.0);
    let left = 1.0 - link + link * 100.0 / f64::from((*percent).max(1));
    // Where losses make the window small it grows no faster on a faster link: the course of the transfer tells.
    let course = s.twice.filter(|_| *percent == 200).map_or(left, |twice| {
        let share = twice.share.clamp(left, 1.0);
        // A course that does not take as long as the transfer did, or that no link makes shorter though one was full, is half believed.
        let is_its_own = twice.as_seen.ln().abs() <= ITS_OWN && twice.share <= SHORTER;
        if is_its_own { share } else { (left * share).sqrt() }
    });
    let expected = s.goodput / course;
    let others = s.costs.iter().filter(|cost| !cost.is_link());
    let possible = others
        .filter(|cost| cost.share >= AVOIDABLE / 2.0 * left)
        .map(|cost| cost.limit)
        .chain([Limit::BottleneckBandwidth, Limit::SharedBottleneck])
        .filter(|limit| *limit != s.limit)
        .collect();
    let because = Message::LinkShrinks { share: Share(link) };
    let mut out = of_account(s, change, expected, s.limit, possible, &because);
    if course > left {
        out.range90 = Some((expected / (1.0 + DOUBT), s.goodput / left / (1.0 - DOUBT)));
    }
    // What the window's growth behind an overflow takes may not shrink at all.
    if s.cost_of(Cost::is_link) >= GROWS {
        out.low = out.low.min(s.goodput);
    }
    Some(out)
}

/// What the ledger of a job says of more connections: they share the waits for answers and their own starts, and the link's
/// time and what the path's losses cost stay.
///
/// `None` where the ledger knows no capacity, or for another change.
fn of_more_connections(s: &Situation, change: &Intervention) -> Option<Prediction> {
    let Intervention::SetStreams { count } = change else {
        return None;
    };
    let link = s.link.filter(|_| s.parallel >= A_JOB)?;
    let is_shared = |cost: &Cost| matches!(cost.limit, Limit::ProtocolWindow | Limit::SlowStart);
    let shared = s.cost_of(is_shared);
    let times = f64::from((*count).max(1)) / s.at_once;
    let left = (1.0 - shared + shared / times).max(link);
    let expected = s.goodput / left;
    let is_held = shared / times > 0.5 * left;
    let possible = [
        Limit::ProtocolWindow,
        Limit::SlowStart,
        Limit::BottleneckBandwidth,
        Limit::SharedBottleneck,
    ];
    let next = if is_held {
        s.limit
    } else {
        Limit::BottleneckBandwidth
    };
    let possible = possible
        .into_iter()
        .filter(|limit| s.fills_the_link() || is_held || *limit != s.limit)
        .collect();
    let because = Message::WaitsShared { share: Share(shared) };
    Some(of_account(s, change, expected, next, possible, &because))
}

/// The same where a window, the receiver's or that of SSH's channel, lets less through: it is the next limit then.
fn below_the_window(s: &Situation, prediction: Prediction) -> Prediction {
    let lifts = matches!(prediction.change, Intervention::SetWindow { .. });
    let of_receiver = [s.window_rate, s.window_most].into_iter().filter(|_| !lifts);
    let each = of_receiver
        .map(|rate| (rate, Limit::ReceiverWindow))
        .chain([(s.channel_most, Limit::ProtocolWindow)])
        .filter_map(|(rate, limit)| Some((rate?, limit)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let streams = match prediction.change {
        Intervention::SetStreams { count } => f64::from(count.max(1)),
        _ => s.parallel,
    };
    let most = each.map(|(rate, limit)| (rate * streams, limit));
    let Some((most, next)) = most.filter(|(most, _)| *most < prediction.expected) else {
        return prediction;
    };
    let (because, rate) = (Name(prediction.because), MegabyteRate(most));
    let because = if next == Limit::ProtocolWindow {
        Message::UntilTheChannel { because, rate }
    } else {
        Message::UntilTheWindow { because, rate }
    };
    let mut possible_limits: Vec<Limit> = prediction
        .next_limit
        .into_iter()
        .chain(prediction.possible_limits)
        .collect();
    possible_limits.retain(|limit| *limit != next);
    Prediction {
        low: prediction.low.min(most / (1.0 + DOUBT)),
        expected: most,
        high: prediction.high.map(|high| high.min(most / (1.0 - DOUBT))),
        range90: prediction
            .range90
            .map(|(low, high)| (low.min(most / (1.0 + DOUBT)), high.min(most / (1.0 - DOUBT)))),
        next_limit: Some(next),
        possible_limits,
        because: because.to_string(),
        ..prediction
    }
}

/// A prediction that follows from an account of the time, with the doubt that such accounts have.
fn of_account(
    s: &Situation,
    change: &Intervention,
    expected: f64,
    next: Limit,
    possible_limits: Vec<Limit>,
    because: &Message,
) -> Prediction {
    Prediction {
        change: change.clone(),
        before: s.goodput,
        low: expected / (1.0 + DOUBT),
        expected,
        high: Some(expected / (1.0 - DOUBT)),
        range90: None,
        next_limit: Some(next),
        possible_limits,
        because: because.to_string(),
    }
}

/// The change lifts the transfer beyond every rate that the path has been seen to carry.
fn beyond_what_was_seen(
    situation: &Situation,
    change: &Intervention,
    first: &Ceiling,
    low: f64,
    high: f64,
) -> Prediction {
    Prediction {
        change: change.clone(),
        before: situation.goodput,
        low,
        expected: first.expected,
        high: high.is_finite().then_some(high),
        range90: None,
        next_limit: None,
        possible_limits: vec![Limit::BottleneckBandwidth, first.limit],
        because: Message::BeyondSeen {
            because: Part::of(first.because.clone()),
        }
        .to_string(),
    }
}

fn unbounded(situation: &Situation, change: &Intervention) -> Prediction {
    Prediction {
        change: change.clone(),
        before: situation.goodput,
        low: situation.goodput,
        expected: situation.goodput,
        high: None,
        range90: None,
        next_limit: None,
        possible_limits: Vec::new(),
        because: Message::Unbounded {}.to_string(),
    }
}

/// The changes worth trying for what limits the transfer, best first, with those that people try in vain.
pub fn remedies(situation: &Situation, evidence: &PathEvidence, flags: &[Flag]) -> Vec<Prediction> {
    let wanted = useful_window(situation, evidence);
    let window = change::window(wanted);
    let changes: Vec<Intervention> = match situation.limit {
        Limit::ReceiverWindow => vec![window],
        Limit::SendBuffer => vec![change::send_buffer(wanted), window],
        Limit::ReceiverApplication => vec![change::reader_without_limit(), window],
        Limit::SenderApplication => vec![change::writer_without_limit()],
        // An outage is over: no way of sending makes it shorter.
        Limit::RandomLoss if stood_still(situation) => Vec::new(),
        Limit::RandomLoss => {
            let paced = (!situation.without_sack).then(|| change::congestion_control(Control::Bbr));
            // Who has as many already has them.
            let streams = (situation.siblings < f64::from(STREAMS)).then(|| change::streams(STREAMS));
            let all = [Some(change::no_loss()), paced, streams, Some(window)];
            all.into_iter().flatten().collect()
        }
        // A faster link for the data gives nothing where it is theirs that is full.
        Limit::BottleneckBandwidth | Limit::SharedBottleneck if situation.acks_wait => Vec::new(),
        Limit::BottleneckBandwidth | Limit::SharedBottleneck if situation.short_queue >= AVOIDABLE => {
            let wanted = useful_queue(situation, evidence);
            // One that is as long already is not what dropped.
            let longer = situation.queue.is_none_or(|seen| seen < wanted as f64);
            let queue = longer.then(|| change::queue(wanted));
            // How a faster link with the same queue would be used is not known where the link's own rate is not, nor where the window
            // grows for most of what is lost: it grows no faster then.
            let told = situation.link.is_some() && situation.cost_of(Cost::is_link) < GROWS;
            let link = told.then(|| change::bottleneck(200));
            [queue, link, Some(window)].into_iter().flatten().collect()
        }
        Limit::BottleneckBandwidth | Limit::SharedBottleneck => vec![change::bottleneck(200), window],
        Limit::Policed => vec![change::no_policer(), window],
        Limit::ProtocolWindow => vec![change::streams(4), window],
        _ => Vec::new(),
    };
    let mut out: Vec<Prediction> = changes
        .into_iter()
        .map(|change| predict(situation, evidence, &change))
        .collect();
    if flags.contains(&Flag::Bufferbloat) {
        for prediction in &mut out {
            if matches!(
                prediction.change,
                Intervention::SetWindow { .. } | Intervention::SetSendBuffer { .. }
            ) {
                let because = Name(std::mem::take(&mut prediction.because));
                prediction.because = Message::LongerQueue { because }.to_string();
            }
        }
    }
    out.sort_by(|a, b| b.expected.total_cmp(&a.expected));
    out
}

/// Whether the path let nothing through for longer than what was lost by chance took.
fn stood_still(situation: &Situation) -> bool {
    let of =
        |outage: bool| situation.cost_of(|cost| cost.limit == Limit::RandomLoss && cost.outage == outage);
    of(true) > of(false)
}

/// A window that no longer limits: twice what the path holds, at least 2,500,000 bytes.
pub fn useful_window(situation: &Situation, evidence: &PathEvidence) -> u64 {
    let rate = evidence
        .bottleneck
        .or(situation.bottleneck)
        .or(evidence.peak)
        .unwrap_or(situation.goodput);
    let wanted = 2.0 * rate * situation.rtt_s.max(0.001);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded and positive"
    )]
    let bytes = wanted.clamp(2_500_000.0, 1e9) as u64;
    bytes
}

/// A queue that keeps a link busy when a sender halves its window: what the path holds.
fn useful_queue(situation: &Situation, evidence: &PathEvidence) -> u64 {
    // What a transfer made of a link that overflows is less than the link carries.
    let rate = (situation.carries().into_iter().chain(evidence.bottleneck))
        .reduce(f64::max)
        .or(situation.peak)
        .unwrap_or(situation.goodput);
    let holds = rate * situation.rtt_min_s.max(0.001);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded and positive"
    )]
    let kilobytes = (holds / 1e3).clamp(15.0, 1e6).ceil() as u64;
    kilobytes * 1_000
}

fn ceilings(s: &Situation, evidence: &PathEvidence, change: &Intervention) -> Vec<Ceiling> {
    if change::is_of_marks(change) {
        return untreated_ceiling(s, evidence).into_iter().collect();
    }
    let rtt = if s.rtt_min_s > 0.0 { s.rtt_min_s } else { s.rtt_s };
    let streams = match change {
        Intervention::SetStreams { count } => f64::from((*count).max(1)),
        _ => s.parallel,
    };
    let all = [
        offered_ceiling(s, change),
        window_ceiling(s, evidence, change, rtt, streams),
        flight_ceiling(s, change, rtt, streams),
        reader_ceiling(s, change, rtt),
        source_ceiling(s, change),
        bottleneck_ceiling(s, evidence, change),
        policer_ceiling(s, evidence, change),
        loss_ceiling(s, evidence, change, rtt, streams),
    ];
    all.into_iter().flatten().collect()
}

/// What other transfers over the path reached, whose marks the network does not treat.
///
/// Whatever holds this one now, loss or a policer, held none of them.
fn untreated_ceiling(s: &Situation, evidence: &PathEvidence) -> Option<Ceiling> {
    let own = s.peak.unwrap_or(s.goodput).max(s.goodput);
    let rate = evidence
        .bottleneck
        .or(evidence.peak)
        .filter(|rate| *rate > own * 1.5)?;
    let (low, expected, high) = carried(evidence, rate);
    Some(Ceiling {
        limit: Limit::BottleneckBandwidth,
        low: low.min(rate * 0.95),
        expected,
        high: high.min(rate),
        because: Message::UntreatedReach {
            rate: MegabyteRate(rate),
        },
    })
}

fn window_ceiling(
    s: &Situation,
    evidence: &PathEvidence,
    change: &Intervention,
    rtt: f64,
    streams: f64,
) -> Option<Ceiling> {
    let bytes = match change {
        #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
        Intervention::SetWindow { window, .. } => window.bytes() as f64,
        _ => s.window?,
    };
    // Where the window shrinks because of the reader, its size is the reader's doing.
    if rtt <= 0.0
        || (s.limit == Limit::ReceiverApplication && !matches!(change, Intervention::SetWindow { .. }))
    {
        return None;
    }
    let rate = response::window(bytes, s.mss, rtt) * streams;
    // A window that did not hold this transfer grows with a faster one where others over the same path went beyond it.
    let grows = s.limit != Limit::ReceiverWindow && !matches!(change, Intervention::SetWindow { .. });
    if grows && evidence.peak.is_some_and(|peak| peak > rate * BEYOND) {
        return None;
    }
    // Measured while it limited, the window's rate is known better than any formula gives it.
    let measured = s.limit == Limit::ReceiverWindow && !matches!(change, Intervention::SetWindow { .. });
    let expected = if measured { s.goodput * streams } else { rate };
    Some(Ceiling {
        limit: Limit::ReceiverWindow,
        low: expected * 0.9,
        expected,
        high: if measured {
            expected * 1.1
        } else {
            bytes / rtt * streams * 1.1
        },
        because: Message::WindowEach {
            window: whole(bytes),
            rtt: Milliseconds(rtt),
        },
    })
}

fn flight_ceiling(s: &Situation, change: &Intervention, rtt: f64, streams: f64) -> Option<Ceiling> {
    let flight = s.flight?;
    let bytes = match (s.limit, change) {
        #[expect(clippy::cast_precision_loss, reason = "buffers are far below 2^53")]
        (Limit::SendBuffer, Intervention::SetSendBuffer { buffer, .. }) => buffer.bytes() as f64,
        (Limit::SendBuffer | Limit::ProtocolWindow, _) => flight,
        _ => return None,
    };
    if rtt <= 0.0 {
        return None;
    }
    // Who waits for answers between its bursts does so on each of several connections.
    let waits = s.limit == Limit::ProtocolWindow && matches!(change, Intervention::SetStreams { .. });
    let most = if waits {
        s.goodput / s.parallel
    } else {
        f64::INFINITY
    };
    let rate = (bytes / rtt).min(most) * streams;
    Some(Ceiling {
        limit: s.limit,
        low: rate * 0.8,
        expected: rate,
        high: rate * 1.1,
        because: Message::FlightEach {
            flight: whole(bytes),
            rtt: Milliseconds(rtt),
        },
    })
}

fn reader_ceiling(s: &Situation, change: &Intervention, rtt: f64) -> Option<Ceiling> {
    if matches!(change, Intervention::SetReader { rate: None, .. }) || s.limit != Limit::ReceiverApplication {
        return None;
    }
    let rate = s.drain.unwrap_or(s.goodput);
    let larger = matches!(change, Intervention::SetWindow { window, .. } if s.window.is_none_or(|w| window.bytes() as f64 > w));
    if !larger {
        return Some(Ceiling {
            limit: Limit::ReceiverApplication,
            low: rate * 0.97,
            expected: rate,
            high: rate * 1.03,
            because: Message::ReaderTakes {
                rate: KilobyteRate(rate),
            },
        });
    }
    let taken = KilobyteRate(rate);
    let (low, expected, high, because) = match s.drain_unit {
        Some(unit) => {
            let (low, expected, high) = response::reader_without_waits(s.goodput, unit, rtt);
            let because = Message::ReaderWaits {
                rate: taken,
                wait: Milliseconds(rtt),
                step: whole(unit),
            };
            (low, expected, high, because)
        }
        None => (
            s.goodput,
            rate.max(s.goodput),
            rate.max(s.goodput) * 1.1,
            Message::ReaderTakesWhatever { rate: taken },
        ),
    };
    // What the buffer takes before it is full arrives at the path's speed and counts for a short transfer.
    Some(Ceiling {
        limit: Limit::ReceiverApplication,
        low: low * 0.97,
        expected,
        high: high * 1.03,
        because,
    })
}

fn source_ceiling(s: &Situation, change: &Intervention) -> Option<Ceiling> {
    if s.limit != Limit::SenderApplication || matches!(change, Intervention::SetWriter { rate: None, .. }) {
        return None;
    }
    let rate = s.source.unwrap_or(s.goodput);
    Some(Ceiling {
        limit: Limit::SenderApplication,
        low: rate * 0.95,
        expected: rate,
        high: rate * 1.05,
        because: Message::SourceGives {
            rate: KilobyteRate(rate),
        },
    })
}

/// What is given to the network of datagrams or frames, once nothing drops them any more.
fn offered_ceiling(s: &Situation, change: &Intervention) -> Option<Ceiling> {
    let offered = s.offered?;
    let lifted = match s.limit {
        Limit::Policed => matches!(change, Intervention::RemovePolicer { .. }),
        Limit::DeviceLimit => matches!(change, Intervention::LiftDeviceLimit { .. }),
        Limit::BottleneckBandwidth | Limit::SharedBottleneck => {
            matches!(change, Intervention::ScaleRate { .. })
        }
        _ => false,
    };
    if !lifted {
        return Some(Ceiling {
            limit: s.limit,
            low: s.goodput * 0.97,
            expected: s.goodput,
            high: s.goodput * 1.03,
            because: Message::Arrives {
                rate: MegabyteRate(s.goodput),
            },
        });
    }
    let most = offered * (1.0 - s.elsewhere);
    Some(Ceiling {
        limit: Limit::SenderApplication,
        // What is dropped elsewhere may be more when more gets there.
        low: if s.elsewhere > 0.0 {
            s.goodput
        } else {
            offered * 0.97
        },
        expected: most,
        high: most * 1.03,
        because: Message::Offered {
            rate: MegabyteRate(offered),
        },
    })
}

/// Share of the duration that the overflows of a short queue cost, from which growth may hold the transfer on a
/// faster link as well.
const GROWS: f64 = 0.25;

/// How far the duration of a transfer's course may be from its own, as a logarithm.
const ITS_OWN: f64 = 0.25;
/// Share of its duration that a course has at most behind a link of twice the rate, where the link was full.
const SHORTER: f64 = 0.97;

/// Ranges that differ by less are one.
const A_HUNDREDTH: f64 = 0.01;

/// What one more transfer makes of a link that is known to carry `rate`, byte/s: at least, most likely, at most.
///
/// As others show that filled it, where there are enough of them; else nearly its rate.
fn carried(evidence: &PathEvidence, rate: f64) -> (f64, f64, f64) {
    let most = rate * 1.02;
    match evidence.filled.range() {
        Some((low, expected, high)) => (low, expected.min(most), high.min(most)),
        None => (rate * 0.93, rate * 0.98, most),
    }
}

fn bottleneck_ceiling(s: &Situation, evidence: &PathEvidence, change: &Intervention) -> Option<Ceiling> {
    let factor = match change {
        Intervention::ScaleRate { percent, .. } => f64::from(*percent) / 100.0,
        _ => 1.0,
    };
    // Without the device that it may have been, what was full is not known to stay full.
    let lifted = matches!(change, Intervention::LiftDeviceLimit { .. });
    let filled = s.fills_the_link() && !lifted;
    let limit = if filled {
        s.limit
    } else {
        Limit::BottleneckBandwidth
    };
    if filled {
        // What the transfer made of the bottleneck is known better than what could be made of its rate.
        let rate = s.goodput * factor;
        let leaves = MegabyteRate(rate);
        let because = if s.short_queue >= MOSTLY {
            Message::DropsBursts { rate: leaves }
        } else {
            Message::FillsBottleneck { rate: leaves }
        };
        return Some(Ceiling {
            limit,
            low: rate * 0.9,
            expected: rate,
            high: rate * 1.1,
            because,
        });
    }
    let known = evidence
        .bottleneck
        .or_else(|| s.carries())
        .filter(|rate| !lifted || *rate > s.goodput * BEYOND)?;
    let rate = known * factor;
    let (low, expected, high) = carried(evidence, known);
    Some(Ceiling {
        limit,
        low: low.min(known * 0.98) * factor,
        expected: expected * factor,
        high: high * factor,
        because: Message::BottleneckCarries {
            rate: MegabyteRate(rate),
        },
    })
}

fn policer_ceiling(s: &Situation, evidence: &PathEvidence, change: &Intervention) -> Option<Ceiling> {
    if matches!(change, Intervention::RemovePolicer { .. }) {
        return None;
    }
    let rate = if s.limit == Limit::Policed {
        s.goodput
    } else {
        evidence.policer?
    };
    Some(Ceiling {
        limit: Limit::Policed,
        low: rate * 0.85,
        expected: rate,
        high: rate * 1.05,
        because: Message::PolicerPasses {
            rate: MegabyteRate(rate),
        },
    })
}

fn loss_ceiling(
    s: &Situation,
    evidence: &PathEvidence,
    change: &Intervention,
    rtt: f64,
    streams: f64,
) -> Option<Ceiling> {
    let control = Control::of(change);
    let blind = control == Some(Control::Bbr);
    let lossless = matches!(change, Intervention::SetLoss { chance, .. } if *chance == Ratio::ZERO);
    if lossless || blind || rtt <= 0.0 {
        return None;
    }
    let mut path = *evidence;
    if path.segments <= 0.0 {
        path.add(s);
    }
    let (low_share, share, high_share) = path.loss();
    if share <= 0.0 {
        return None;
    }
    let reno = control == Some(Control::Reno);
    // Measured while loss limited it, the rate is known better than any formula gives it.
    let measured = s.limit == Limit::RandomLoss && !reno;
    let rate_at = |p: f64| {
        streams
            * match (measured, reno) {
                (true, _) => s.goodput * (share / p).powf(0.75),
                (_, true) => response::reno(p, s.mss, rtt, 1.0),
                _ => response::cubic(p, s.mss, rtt),
            }
    };
    // A transfer that was faster than these losses should allow is not held by them.
    if !measured && s.goodput > rate_at(share) * BEYOND {
        return None;
    }
    // A Reno-like sender with delayed acknowledgements is the least that any control makes of it; what the transfer
    // reached in spite of its losses it reaches again, and so does what filled the link.
    let reached = if s.limit == Limit::RandomLoss {
        0.0
    } else {
        s.goodput
            .max(evidence.filled.range().map_or(0.0, |(low, ..)| low))
    };
    let least = (response::reno(high_share, s.mss, rtt, 2.0) * streams)
        .min(rate_at(high_share))
        .max(reached);
    // The steady state needs many losses; a transfer with few of them runs above it, up to its other limits.
    let expected_losses = share * s.bytes / s.mss;
    let most = if expected_losses < 20.0 || low_share <= 0.0 {
        f64::INFINITY
    } else {
        rate_at(low_share)
    };
    Some(Ceiling {
        limit: Limit::RandomLoss,
        low: least,
        expected: rate_at(share),
        high: most,
        because: Message::OneLost {
            segments: About(1.0 / share),
            rtt: Milliseconds(rtt),
        },
    })
}

/// Bytes, rounded.
fn whole(value: f64) -> Bytes {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "byte counts, rounded for people"
    )]
    Bytes(value.max(0.0).round() as u64)
}

//! The proof loop: hypothesis, change, prediction, re-run, held or refuted.
//!
//! A driver calls [`Investigation::next_step`], performs the run it asks for, hands the record and the analysis of
//! its capture to [`Investigation::observe`], and repeats until [`Step::Done`]. Nothing is performed here.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use slowpath_record::{HealthState, RunRecord};
use slowpath_scenario::Intervention;
use slowpath_verdict::Limit;

use crate::change::{self, Control};
use crate::gain::{A_JOB, Prediction, predict, useful_window};
use crate::situation::{Cost, PathEvidence, Saved, Situation};
use crate::stats::{Comparison, Outcome as Difference, Summary, mean};
use slowpath_words::{english, english_word};

/// How an investigation goes about its work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Runs for each setting; two are the least that can show anything.
    pub repeats: u32,
    /// How many invalid runs may be repeated for each setting before it is given up.
    pub spare: u32,
    /// Changes to test.
    pub changes: Vec<Intervention>,
    /// What other transfers have shown of the path as a change would leave it, where any went over such a one.
    pub after: Vec<(Intervention, PathEvidence)>,
    /// The transfers that the evidence is from, by the name of their variant; the base's own may be among them.
    pub others: Vec<(String, Situation)>,
    /// Whether the change that the verdict suggests is tested as well; it is where there are no [`changes`](Self::changes).
    pub suggested: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            repeats: 3,
            spare: 2,
            changes: Vec::new(),
            after: Vec::new(),
            others: Vec::new(),
            suggested: true,
        }
    }
}

/// What the driver is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Make this run and report it.
    Run(Experiment),
    /// Nothing more; the conclusion.
    Done(Box<Conclusion>),
}

/// One run that is wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// The variant of the experiment that serves as base.
    pub base: String,
    /// The change to apply; none for the base itself.
    pub change: Option<Intervention>,
    /// Number of the repeat, from 0; use it to derive the seed, so that base and change meet the same dice.
    pub repeat: u32,
}

/// What came of an investigation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conclusion {
    /// The variant.
    pub variant: String,
    /// The base as it was measured; absent when no valid run came.
    pub situation: Option<Situation>,
    /// Goodput of the base, byte/s.
    pub base: Option<Summary>,
    /// One entry for each change tested.
    pub tests: Vec<Test>,
    /// What cannot be said, and why.
    pub notes: Vec<String>,
}

/// One prediction and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// What the change tests, as a sentence.
    pub hypothesis: String,
    /// What was predicted, before the re-run.
    pub prediction: Prediction,
    /// The other variants whose transfers the prediction rests on; none where the base alone gives it.
    pub others: Vec<String>,
    /// Goodput after the change, byte/s; absent when no valid run came.
    pub measured: Option<Summary>,
    /// The limits found after the change, one for each valid run.
    pub limits: Vec<Limit>,
    /// Base against change.
    pub comparison: Option<Comparison>,
    /// What became of it.
    pub outcome: Outcome,
    /// All of it in a sentence or two.
    pub sentence: String,
}

/// What became of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The re-run came out inside the predicted range.
    Held,
    /// It did not.
    Refuted,
    /// It cannot be told.
    Undecided,
}

/// The loop. Call [`next_step`](Self::next_step) and [`observe`](Self::observe) in turn.
#[derive(Debug, Clone)]
pub struct Investigation {
    variant: String,
    settings: Settings,
    evidence: PathEvidence,
    base: Group,
    situation: Option<Situation>,
    pending: VecDeque<Prediction>,
    current: Option<(Prediction, Group)>,
    tests: Vec<Test>,
    notes: Vec<String>,
    planned: bool,
}

/// The valid runs of one setting.
#[derive(Debug, Clone, Default)]
struct Group {
    asked: u32,
    invalid: u32,
    goodputs: Vec<f64>,
    situations: Vec<Situation>,
}

impl Investigation {
    /// An investigation of one variant. `evidence` is what other transfers over the same path have shown; the
    /// base's own runs are added to it.
    pub fn new(variant: &str, evidence: PathEvidence, settings: Settings) -> Self {
        Self {
            variant: variant.to_owned(),
            settings,
            evidence,
            base: Group::default(),
            situation: None,
            pending: VecDeque::new(),
            current: None,
            tests: Vec::new(),
            notes: Vec::new(),
            planned: false,
        }
    }

    /// What to do next. Asking again without observing asks for the same run.
    pub fn next_step(&mut self) -> Step {
        if self.base.wants(&self.settings) {
            return self.run(None, self.base.asked);
        }
        if !self.planned {
            self.plan();
        }
        loop {
            if let Some((prediction, group)) = &self.current {
                if group.wants(&self.settings) {
                    return self.run(Some(prediction.change.clone()), group.asked);
                }
                self.judge();
            }
            match self.pending.pop_front() {
                Some(prediction) => self.current = Some((prediction, Group::default())),
                None => return Step::Done(Box::new(self.conclusion())),
            }
        }
    }

    /// Takes the record of the run that [`next_step`](Self::next_step) asked for, and what its captures or counters say.
    ///
    /// An invalid run, or one whose transfer did not end, counts as asked for but gives no value.
    pub fn observe(&mut self, record: &RunRecord, situation: Option<Situation>) {
        let group = match &mut self.current {
            Some((_, group)) => group,
            None => &mut self.base,
        };
        group.asked += 1;
        let goodput = goodput(record).filter(|_| record.health.state != HealthState::Invalid);
        match goodput {
            Some(goodput) => {
                group.goodputs.push(goodput);
                group.situations.extend(situation);
            }
            None => group.invalid += 1,
        }
    }

    /// Takes a run of the base that was made before, so that it need not be made again.
    pub fn observe_base(&mut self, record: &RunRecord, situation: Option<Situation>) {
        let current = self.current.take();
        self.observe(record, situation);
        self.current = current;
    }

    /// Gives up the change whose run was asked for last: it cannot be made.
    ///
    /// A base that cannot be run leaves nothing to test.
    pub fn cannot_change(&mut self) {
        if let Some((prediction, _)) = self.current.take() {
            let change = change::words(&prediction.change);
            self.notes
                .push(english!("investigation-cannot-tried-here", change = change));
        } else {
            self.planned = true;
            self.base.invalid = self.settings.spare + 1;
            self.base.asked = self.base.invalid.max(self.base.asked);
        }
    }

    fn run(&self, change: Option<Intervention>, repeat: u32) -> Step {
        Step::Run(Experiment {
            base: self.variant.clone(),
            change,
            repeat,
        })
    }

    /// From the base's runs to hypotheses, each with its prediction.
    fn plan(&mut self) {
        self.planned = true;
        let Some(situation) = typical(&self.base.situations) else {
            self.notes
                .push(english_word!("investigation-no-valid-run-base-with").into());
            return;
        };
        for s in &self.base.situations {
            self.evidence.add(s);
        }
        let situation = Situation {
            goodput: mean(&self.base.goodputs),
            ..situation
        };
        let mut changes = self.settings.changes.clone();
        if self.settings.suggested || changes.is_empty() {
            let mut suggested = counterfactuals(&situation, &self.evidence);
            suggested.retain(|change| !self.settings.changes.contains(change));
            changes.extend(suggested);
        }
        if changes.is_empty() {
            let limit = situation.limit;
            self.notes.push(english!(
                "investigation-there-no-change-would-test",
                limit = limit
            ));
        }
        self.pending = changes
            .into_iter()
            .map(|change| predict(&situation, self.evidence_after(&change), &change))
            .collect();
        self.situation = Some(situation);
    }

    /// The other variants without whose transfers a prediction would be another one: each that makes it another by itself,
    /// else all of them.
    fn others(&self, situation: &Situation, prediction: &Prediction) -> Vec<String> {
        let own = PathEvidence::of(&self.base.situations);
        let alone = predict(situation, &own, &prediction.change);
        if alone.is_like(prediction) {
            return Vec::new();
        }
        let mut names: Vec<&String> = Vec::new();
        for (name, _) in &self.settings.others {
            if *name != self.variant && !names.contains(&name) {
                names.push(name);
            }
        }
        let makes_another = |name: &&&String| {
            let theirs = self.settings.others.iter().filter(|(other, _)| other == **name);
            let both = self
                .base
                .situations
                .iter()
                .chain(theirs.map(|(_, situation)| situation));
            let evidence = PathEvidence {
                policer: own.policer,
                ..PathEvidence::of(both)
            };
            !predict(situation, &evidence, &prediction.change).is_like(&alone)
        };
        let by_themselves: Vec<&String> = names.iter().filter(makes_another).copied().collect();
        let told = if by_themselves.is_empty() {
            names
        } else {
            by_themselves
        };
        told.into_iter().cloned().collect()
    }

    /// What is known of the path as a change leaves it: what others have shown that went over such a one, else what has been
    /// seen of the path as it is.
    fn evidence_after(&self, change: &Intervention) -> &PathEvidence {
        let after = self.settings.after.iter().find(|(own, _)| own == change);
        after.map_or(&self.evidence, |(_, evidence)| evidence)
    }

    fn judge(&mut self) {
        let (Some((prediction, group)), Some(situation)) = (self.current.take(), &self.situation) else {
            return;
        };
        let others = self.others(situation, &prediction);
        let test = Test::judge(situation, prediction, others, &self.base.goodputs, &group);
        if test.shows_another_limit() {
            // What looks like a link and is none is a device that takes so many packets and no more.
            let change = change::no_device_limit();
            if !self.pending.iter().any(|waiting| waiting.change == change) {
                let prediction = predict(situation, self.evidence_after(&change), &change);
                self.pending.push_back(prediction);
            }
        }
        self.tests.push(test);
    }

    fn conclusion(&self) -> Conclusion {
        Conclusion {
            variant: self.variant.clone(),
            situation: self.situation.clone(),
            base: Summary::of(&self.base.goodputs),
            tests: self.tests.clone(),
            notes: self.notes.clone(),
        }
    }
}

impl Group {
    fn wants(&self, settings: &Settings) -> bool {
        let valid = self.asked - self.invalid;
        valid < settings.repeats && self.invalid <= settings.spare
    }
}

impl Test {
    /// Whether a faster link changed nothing.
    fn shows_another_limit(&self) -> bool {
        let gain = self
            .measured
            .as_ref()
            .map(|measured| measured.mean / self.prediction.before);
        matches!(self.prediction.change, Intervention::ScaleRate { .. })
            && gain.is_some_and(|gain| gain < NO_GAIN)
    }

    fn judge(
        situation: &Situation,
        prediction: Prediction,
        others: Vec<String>,
        base: &[f64],
        group: &Group,
    ) -> Self {
        let measured = Summary::of(&group.goodputs);
        let limits: Vec<Limit> = group.situations.iter().map(|s| s.limit).collect();
        let comparison = Comparison::welch(base, &group.goodputs);
        let outcome = judge(&prediction, measured.as_ref(), &limits);
        let hypothesis = hypothesis(situation, &prediction.change);
        let mut sentence = sentence(
            &prediction,
            &limits,
            measured.as_ref(),
            comparison.as_ref(),
            outcome,
        );
        if !others.is_empty() {
            let names = others.join(", ");
            sentence = format!("{sentence} {}", english!("investigation-rests-on", names = names));
        }
        Self {
            hypothesis,
            prediction,
            others,
            measured,
            limits,
            comparison,
            outcome,
            sentence,
        }
    }
}

/// Held if the mean lies in the predicted range, the range could have been missed, and the limit found is one that was
/// predicted.
///
/// A range whose durations are further apart than a quarter of the expected one decides nothing by holding what was measured.
fn judge(prediction: &Prediction, measured: Option<&Summary>, limits: &[Limit]) -> Outcome {
    let Some(measured) = measured else {
        return Outcome::Undecided;
    };
    let low = measured.low95.unwrap_or(measured.mean);
    let high = measured.high95.unwrap_or(measured.mean);
    let most = prediction.high.unwrap_or(f64::INFINITY);
    let inside = prediction.low <= measured.mean && measured.mean <= most;
    let meets = low <= most && prediction.low <= high;
    match (inside, meets) {
        (true, _) if prediction.is_vague() || !prediction.foresaw(limits) => Outcome::Undecided,
        (true, _) => Outcome::Held,
        // The interval reaches into the range, the mean does not: more runs would tell.
        (false, true) => Outcome::Undecided,
        (false, false) => Outcome::Refuted,
    }
}

/// The change that tests what is believed to limit the transfer, and the one that would give most back where that is another.
fn counterfactuals(situation: &Situation, evidence: &PathEvidence) -> Vec<Intervention> {
    if situation.limit.is_undecided() {
        return Vec::new();
    }
    // What the link's own short queue costs is the link's, and an outage is over: no change that can be predicted takes it away.
    let avoidable = |cost: &&Cost| !cost.is_link() && !cost.outage;
    let largest = situation
        .costs
        .iter()
        .find(avoidable)
        .filter(|cost| cost.share >= WORTH_TESTING);
    let costliest = largest.and_then(|cost| {
        if cost.early_exit {
            // Nothing but another way to grow takes that away.
            return Some(change::congestion_control(Control::Bbr));
        }
        counterfactual(cost.limit, situation, evidence)
    });
    let own = counterfactual(situation.limit, situation, evidence);
    // A full link is no more than a link, as long as there is something that can be avoided.
    let own = own.filter(|_| costliest.is_none() || !situation.fills_the_link());
    let mut out: Vec<Intervention> = own.into_iter().chain(costliest).collect();
    out.dedup();
    out
}

/// Connections that a test opens at once, at most.
const MOST_CONNECTIONS: f64 = 256.0;

/// The change that tests one limit.
fn counterfactual(limit: Limit, situation: &Situation, evidence: &PathEvidence) -> Option<Intervention> {
    let useful = useful_window(situation, evidence);
    match limit {
        // For a slow reader the larger window is the test as well: it must not help.
        Limit::ReceiverWindow | Limit::ReceiverApplication => Some(change::window(useful)),
        Limit::SendBuffer => Some(change::send_buffer(useful)),
        Limit::SenderApplication => (situation.offered.is_none()).then(change::writer_without_limit),
        Limit::RandomLoss => Some(change::no_loss()),
        Limit::BottleneckBandwidth | Limit::SharedBottleneck => Some(change::bottleneck(A_LITTLE_FASTER)),
        Limit::Policed => Some(change::no_policer()),
        Limit::DeviceLimit => Some(change::no_device_limit()),
        Limit::ProtocolWindow | Limit::SlowStart if situation.parallel >= A_JOB => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a number of connections"
            )]
            let twice = (2.0 * situation.at_once).round().min(MOST_CONNECTIONS) as u32;
            Some(change::streams(twice))
        }
        Limit::ProtocolWindow => Some(change::streams(4)),
        _ => None,
    }
}

fn hypothesis(situation: &Situation, change: &Intervention) -> String {
    let limit = situation.limit;
    let words = change::words(change);
    if change::is_of_marks(change) {
        return english!(
            "investigation-network-treats-packets-mark-how",
            limit = limit,
            words = words
        );
    }
    let removes = matches!(
        (limit, change),
        (Limit::ReceiverWindow, Intervention::SetWindow { .. })
            | (Limit::SendBuffer, Intervention::SetSendBuffer { .. })
            | (Limit::SenderApplication, Intervention::SetWriter { .. })
            | (Limit::ReceiverApplication, Intervention::SetReader { .. })
            | (
                Limit::RandomLoss,
                Intervention::SetLoss { .. } | Intervention::SetCongestionControl { .. }
            )
            | (
                Limit::BottleneckBandwidth | Limit::SharedBottleneck,
                Intervention::ScaleRate { .. } | Intervention::ResizeQueue { .. }
            )
            | (Limit::Policed, Intervention::RemovePolicer { .. })
            | (Limit::DeviceLimit, Intervention::LiftDeviceLimit { .. })
            | (Limit::ProtocolWindow, Intervention::SetStreams { .. })
    );
    if removes {
        english!("investigation-limit-removes", limit = limit, words = words)
    } else {
        english!("investigation-limit-leaves-place", limit = limit, words = words)
    }
}

fn sentence(
    prediction: &Prediction,
    limits: &[Limit],
    measured: Option<&Summary>,
    comparison: Option<&Comparison>,
    outcome: Outcome,
) -> String {
    let range = match prediction.high {
        Some(high) => english!("investigation-to", low = rate(prediction.low), high = rate(high)),
        None => english!("investigation-least", low = rate(prediction.low)),
    };
    let change = change::words(&prediction.change);
    let because = &prediction.because;
    let no_gain = prediction.is_no_gain(0.1);
    let most = format!("{:+.0}", (prediction.expected / prediction.before - 1.0) * 100.0);
    let head = match (no_gain, prediction.next_limit) {
        (true, Some(next)) => english!(
            "investigation-no-gain-then",
            change = change,
            most = most,
            range = range,
            next = next,
            because = because
        ),
        (true, None) => english!(
            "investigation-no-gain",
            change = change,
            most = most,
            range = range,
            because = because
        ),
        (false, Some(next)) => english!(
            "investigation-predicted-then",
            change = change,
            range = range,
            next = next,
            because = because
        ),
        (false, None) => english!(
            "investigation-predicted",
            change = change,
            range = range,
            because = because
        ),
    };
    let Some(measured) = measured else {
        return format!("{head} {}", english_word!("investigation-no-valid-run-came"));
    };
    let mean = rate(measured.mean);
    let got = match comparison {
        Some(c) if c.outcome == Difference::NotShown => {
            english!("investigation-got-no-difference", rate = mean)
        }
        Some(c) if c.ratio >= 2.0 => english!(
            "investigation-got-times",
            rate = mean,
            ratio = format_args!("{:.1}", c.ratio)
        ),
        Some(c) => english!(
            "investigation-got-percent",
            rate = mean,
            percent = format_args!("{:+.1}", c.percent())
        ),
        None => mean,
    };
    let measured = match outcome {
        Outcome::Held => english!("investigation-gave", got = got),
        Outcome::Refuted => english!("investigation-against-gave", got = got),
        Outcome::Undecided if prediction.is_vague() => {
            english!("investigation-range-too-wide-decide-anything", got = got)
        }
        Outcome::Undecided if !prediction.foresaw(limits) => {
            english!("investigation-then-another-limit-held-than", got = got)
        }
        Outcome::Undecided => english!("investigation-more-runs-needed-gave", got = got),
    };
    format!("{head} {measured}")
}

/// A link is tested by one that is a little faster, in per cent: so little that other limits stay away, and more than the
/// doubt of the prediction.
const A_LITTLE_FASTER: u32 = 125;

/// The gain below which a faster link is said to have changed nothing.
const NO_GAIN: f64 = 1.05;

/// Share of the duration from which it is worth testing what a cause costs: every part that a headline names.
const WORTH_TESTING: f64 = 0.1;

fn rate(value: f64) -> String {
    if value >= 1e6 {
        english!("investigation-mb-s", value = format_args!("{:.2}", value / 1e6))
    } else {
        english!("investigation-kb-s", value = format_args!("{:.1}", value / 1e3))
    }
}

/// The situation of the run whose goodput is the median of those with the limit that most runs have, with the mean of what
/// each cause costs over the runs whose ledger tells.
fn typical(situations: &[Situation]) -> Option<Situation> {
    let count = |limit: Limit| situations.iter().filter(|s| s.limit == limit).count();
    let limit = situations
        .iter()
        .map(|s| s.limit)
        .max_by_key(|limit| count(*limit))?;
    let mut sorted: Vec<&Situation> = situations.iter().filter(|s| s.limit == limit).collect();
    sorted.sort_by(|a, b| a.goodput.total_cmp(&b.goodput));
    let middle = sorted.get(sorted.len() / 2)?;
    let links: Vec<f64> = situations.iter().filter_map(|s| s.link).collect();
    Some(Situation {
        costs: mean_costs(situations),
        saved: mean_saved(situations),
        link: (links.len() * 2 >= situations.len() && !links.is_empty()).then(|| mean(&links)),
        ..(*middle).clone()
    })
}

/// The mean of what each cause costs, over the runs whose ledger tells; nothing unless at least half of them do.
fn mean_costs(situations: &[Situation]) -> Vec<Cost> {
    let told: Vec<&Situation> = situations.iter().filter(|s| !s.costs.is_empty()).collect();
    if told.len() * 2 < situations.len() {
        return Vec::new();
    }
    let mut out: Vec<Cost> = Vec::new();
    for cost in told.iter().flat_map(|s| &s.costs) {
        let share = cost.share / told.len() as f64;
        Cost { share, ..*cost }.add_to(&mut out);
    }
    out.sort_by(|a, b| b.share.total_cmp(&a.share));
    out
}

/// The mean of what a transfer without each cause saves, over the runs whose ledger tells; of those causes that half of them name.
fn mean_saved(situations: &[Situation]) -> Vec<Saved> {
    let told: Vec<&Situation> = situations.iter().filter(|s| !s.costs.is_empty()).collect();
    let of = |limit: Limit| {
        let each: Vec<Saved> = told.iter().filter_map(|s| s.saved_without(limit)).collect();
        let over = |value: fn(&Saved) -> f64| mean(&each.iter().map(value).collect::<Vec<f64>>());
        (each.len() * 2 >= told.len() && !each.is_empty()).then(|| Saved {
            limit,
            share: over(|saved| saved.share),
            least: over(|saved| saved.least),
            most: over(|saved| saved.most),
        })
    };
    Limit::ALL.into_iter().filter_map(of).collect()
}

fn goodput(record: &RunRecord) -> Option<f64> {
    if record.transfers.is_empty() && !record.flows.is_empty() {
        return Some(record.flows.iter().map(|flow| flow.goodput_byte_per_s).sum());
    }
    if record.transfers.is_empty() || !record.transfers.iter().all(|t| t.complete) {
        return None;
    }
    let bytes: u64 = record.transfers.iter().map(|t| t.bytes).sum();
    let start = record.transfers.iter().map(|t| t.start).min()?;
    let end = record.transfers.iter().map(|t| t.end).max()?;
    let seconds = end.since(start).seconds();
    (seconds > 0.0).then(|| bytes as f64 / seconds)
}

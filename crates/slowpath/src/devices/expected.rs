//! What a configuration gives: one transfer over three round trips with a voice stream beside it, from the simulator,
//! and which of the known remedies makes it better.

use std::io::{self, Write};

use serde::Serialize;
use slowpath_record::RunRecord;
use slowpath_report::quantity::{bit_rate, percent, significant};
use slowpath_report::results::RunResult;
use slowpath_report::text::{Style, Tone, columns, left, right, wrap};
use slowpath_scenario::plan::PlanError;
use slowpath_scenario::{Clock, Diagnostics, Experiment, Fragments, Plan, PlanOptions};
use slowpath_units::Duration;
use slowpath_vendor::remedy::{QueueAt, Remedy};
use slowpath_vendor::{LineState, Reading};

use super::cases::{self, Case, VOICE};
use super::queues::{self, QueueNote};
use super::shown::{place, printable};
use crate::processors;
use slowpath_words::told;

/// The round trips for which a configuration is tried.
pub const ROUND_TRIPS: [Duration; 3] = [
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(100),
];

/// The one of them of which the voice beside the transfer is told.
const VOICE_AT: usize = 1;

/// What a configuration gives.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Expected {
    /// What was simulated and what was assumed, as sentences.
    pub assumed: Vec<String>,
    /// What one transfer gets, for each use of the configuration.
    pub rows: Vec<Row>,
    /// What else the configuration costs, as sentences.
    pub costs: Vec<String>,
    /// The remedies that give most, most first; each was tried in the model and makes nothing worse there.
    pub advice: Vec<Advice>,
    /// Queues that are too short or too long for their rate, each with a length that was tried and makes nothing worse.
    pub queues: Vec<QueueNote>,
    /// Lines of remedies that were tried and change nothing that is simulated here, or make something worse.
    pub in_vain: Vec<Vec<String>>,
}

/// One use of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The use, such as `lan2, class 2`.
    pub what: String,
    /// Payload bits per second at the receiver, for each of [`ROUND_TRIPS`]; nothing where the transfer did not end.
    pub goodput_bit_per_s: [Option<f64>; 3],
    /// Share of the voice packets that were lost at 50 ms; nothing where none were sent.
    pub voice_loss_fraction: Option<f64>,
}

/// Lines to write, and those in whose place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The lines to write.
    pub lines: Vec<String>,
    /// The numbers of the lines that they replace.
    pub replaces: Vec<usize>,
}

/// A change that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// The changes that it was tried with and that it needs; none where it was tried alone.
    pub with: Vec<Change>,
    /// The use that gains most.
    pub what: String,
    /// At which round trip, in seconds.
    pub round_trip_s: f64,
    /// Bits per second before; nothing where the transfer did not end.
    pub before_bit_per_s: Option<f64>,
    /// Bits per second with it.
    pub after_bit_per_s: f64,
}

impl From<Remedy> for Change {
    fn from(remedy: Remedy) -> Self {
        Self {
            lines: remedy.lines,
            replaces: remedy.replaces,
        }
    }
}

impl Advice {
    /// How many times as fast it makes the transfer.
    fn gain(&self) -> f64 {
        self.before_bit_per_s
            .map_or(f64::INFINITY, |before| self.after_bit_per_s / before.max(1.0))
    }

    /// Whether it makes the transfer faster by more than nothing.
    fn is_one(&self) -> bool {
        self.gain() > 1.0 + NO_CHANGE
    }
}

/// Simulates what `reading` of `bytes` gives; nothing to say where no line of it is modelled.
pub fn expected(reading: &Reading, model: Option<&str>, bytes: &[u8]) -> Expected {
    let (cases, mut assumed) = cases::of(reading, reading, bytes);
    if cases.is_empty() {
        return Expected::default();
    }
    let mut tried = Tried::default();
    let (rows, refused) = rows(&cases, &mut tried);
    assumed.extend(refused);
    assumed.extend(left_out(reading));
    let mut trial = Trial {
        reading,
        model,
        text: slowpath_vendor::text::decode(bytes).0,
        now: &rows,
        tried: &mut tried,
    };
    let (advice, in_vain) = advice(&mut trial);
    let queues = queues(&cases, &mut trial);
    Expected {
        assumed,
        queues,
        costs: cases::costs(reading),
        rows,
        advice,
        in_vain,
    }
}

/// Which lines are of consequence and not in the figures, as a sentence.
fn left_out(reading: &Reading) -> Option<String> {
    let lines: Vec<usize> = reading
        .lines
        .iter()
        .filter(|line| line.state == LineState::NotModelled)
        .map(|line| line.number)
        .collect();
    let shown: Vec<String> = lines.iter().take(MOST_LEFT_OUT).map(usize::to_string).collect();
    let shown = shown.join(", ");
    match lines.len() {
        0 => None,
        1 => Some(format!(
            "Not in these figures: line {shown}, which is not modelled."
        )),
        number if number <= MOST_LEFT_OUT => Some(format!(
            "Not in these figures: lines {shown}, which are not modelled."
        )),
        number => Some(format!(
            "Not in these figures: lines {shown} and {} more, which are not modelled.",
            number - MOST_LEFT_OUT
        )),
    }
}

/// What was simulated so far: equal plans give equal results, and most remedies leave most uses alone.
#[derive(Default)]
struct Tried(Vec<(Plan, Outcome)>);

/// What is kept of one run.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome {
    goodput_bit_per_s: Option<f64>,
    voice_loss_fraction: Option<f64>,
}

impl Outcome {
    fn of(record: &RunRecord, plan: &Plan) -> Self {
        let result = RunResult::of(&plan.measured(record), None);
        let voice = record.flows.iter().find(|flow| flow.name == VOICE);
        Self {
            goodput_bit_per_s: result.complete.then_some(result.goodput_byte_per_s * 8.0),
            voice_loss_fraction: voice.map(slowpath_record::FlowResult::loss_fraction),
        }
    }
}

impl Tried {
    fn known(&self, plan: &Plan) -> Option<Outcome> {
        self.0
            .iter()
            .find(|(known, _)| known == plan)
            .map(|(_, outcome)| *outcome)
    }

    /// Simulates those of `plans` that are new, on all processors.
    fn simulate(&mut self, plans: impl Iterator<Item = Plan>) {
        let mut new: Vec<Plan> = Vec::new();
        for plan in plans {
            if self.known(&plan).is_none() && !new.contains(&plan) {
                new.push(plan);
            }
        }
        let results = processors::each(new.len(), &|index| {
            let plan = &new[index];
            crate::simulated::bare("configuration", plan)
                .map_or_else(|_| Outcome::default(), |record| Outcome::of(&record, plan))
        });
        self.0.extend(new.into_iter().zip(results));
    }
}

/// Simulates every case at every round trip; a sentence in the place of a row for each case of which no plan can be made.
fn rows(cases: &[Case], tried: &mut Tried) -> (Vec<Row>, Vec<String>) {
    let mut refused = Vec::new();
    let mut plans: Vec<(&Case, [Option<Plan>; 3])> = Vec::new();
    for case in cases {
        let own = ROUND_TRIPS.map(|round_trip| plan(case, round_trip));
        if let Some(Err(why)) = own.first() {
            refused.push(format!("{} cannot be simulated: {why}", case.what));
        } else {
            plans.push((case, own.map(Result::ok)));
        }
    }
    tried.simulate(plans.iter().flat_map(|(_, plans)| plans).flatten().cloned());
    let rows = plans
        .iter()
        .map(|(case, plans)| {
            let outcomes = plans.each_ref().map(|plan| tried.known(plan.as_ref()?));
            Row {
                what: case.what.clone(),
                goodput_bit_per_s: outcomes.map(|outcome| outcome?.goodput_bit_per_s),
                voice_loss_fraction: outcomes[VOICE_AT].and_then(|outcome| outcome.voice_loss_fraction),
            }
        })
        .collect();
    (rows, refused)
}

/// The plan of a case.
///
/// # Errors
/// What the configuration makes impossible, such as a rate of 0.
fn plan(case: &Case, round_trip: Duration) -> Result<Plan, String> {
    let text = case.experiment(round_trip);
    let experiment = Experiment::read("configuration", &text, &[]).map_err(|mistakes| messages(&mistakes))?;
    let mut fragments = Fragments::new();
    for wanted in experiment.config_files() {
        fragments.insert(wanted.name.clone(), case.settings.clone());
    }
    for wanted in experiment.device_uses() {
        let device = case.device.clone().ok_or("it names no device")?;
        fragments.insert_device(wanted.clone(), device);
    }
    experiment
        .plan(&PlanOptions::first("default", 1, Clock::Simulated), &fragments)
        .map_err(|error| match error {
            PlanError::Document(mistakes) => messages(&mistakes),
            error => error.to_string(),
        })
}

/// What is wrong, without the places in an experiment that nobody wrote.
fn messages(mistakes: &Diagnostics) -> String {
    let messages: Vec<&str> = mistakes.list.iter().map(|one| one.message.as_str()).collect();
    messages.join("; ")
}

/// A configuration in which changes are tried.
struct Trial<'a> {
    reading: &'a Reading,
    model: Option<&'a str>,
    text: String,
    now: &'a [Row],
    tried: &'a mut Tried,
}

impl Trial<'_> {
    /// What changes made together gain at most, and whether they make anything worse.
    fn change(&mut self, changes: &[Change]) -> (Option<Advice>, bool) {
        self.change_of(changes, |_| true)
    }

    /// The same, with the gain of those uses alone whose name `counts`.
    fn change_of(&mut self, changes: &[Change], counts: impl Fn(&str) -> bool) -> (Option<Advice>, bool) {
        let after = self.rows_with(changes);
        let (gains, worse) = gains(self.now, &after);
        let best = gains
            .into_iter()
            .filter(|gain| counts(&gain.what) && gain.is_one())
            .fold(None, |best: Option<Advice>, new| match best {
                Some(best) if best.gain() >= new.gain() => Some(best),
                _ => Some(new),
            });
        let (Some(mut best), Some((change, with))) = (best, changes.split_first()) else {
            return (None, worse);
        };
        best.change = change.clone();
        best.with = with.to_vec();
        (Some(best), worse)
    }

    /// What the configuration gives with `changes`.
    fn rows_with(&mut self, changes: &[Change]) -> Vec<Row> {
        let changed = with(&self.text, changes);
        let after = slowpath_vendor::read_for(
            self.reading.language,
            self.model,
            &self.reading.name,
            changed.as_bytes(),
        );
        let (cases, _) = cases::of(&after, self.reading, changed.as_bytes());
        rows(&cases, self.tried).0
    }
}

/// What each transfer of `before` becomes in `after`, as advice without a change; and whether anything is worse.
fn gains(before: &[Row], after: &[Row]) -> (Vec<Advice>, bool) {
    let mut found = Vec::new();
    // A use that is gone or cannot be simulated any more is worse.
    let mut worse = pairs(before, after).count() < before.len();
    for (old, new) in pairs(before, after) {
        let transfers = old.goodput_bit_per_s.into_iter().zip(new.goodput_bit_per_s);
        for (round_trip, (before, after)) in ROUND_TRIPS.iter().zip(transfers) {
            worse |= match (before, after) {
                (Some(before), Some(after)) => after < before * (1.0 - NO_CHANGE),
                (before, None) => before.is_some(),
                (None, Some(_)) => false,
            };
            found.extend(after.map(|after_bit_per_s| Advice {
                change: Change {
                    lines: Vec::new(),
                    replaces: Vec::new(),
                },
                with: Vec::new(),
                what: old.what.clone(),
                round_trip_s: round_trip.seconds(),
                before_bit_per_s: before,
                after_bit_per_s,
            }));
        }
        // A transfer that gets nothing through leaves the voice alone, which is no merit.
        let lost = |row: &Row| row.voice_loss_fraction.unwrap_or(0.0);
        worse |= old.goodput_bit_per_s[VOICE_AT].is_some() && lost(new) > lost(old) + NO_CHANGE;
    }
    (found, worse)
}

/// Tries every remedy that is known for this configuration, each alone and all together.
fn advice(trial: &mut Trial<'_>) -> (Vec<Advice>, Vec<Vec<String>>) {
    let mut helps: Vec<Advice> = Vec::new();
    let mut in_vain = Vec::new();
    let changes: Vec<Change> = slowpath_vendor::remedies_of(trial.reading)
        .into_iter()
        .flatten()
        .filter(|remedy| !remedy.lines.is_empty())
        .take(MOST_TRIED)
        .map(Change::from)
        .collect();
    for change in &changes {
        let (best, worse) = trial.change(std::slice::from_ref(change));
        match best.filter(|_| !worse) {
            Some(found) => helps.push(found),
            None => in_vain.push(change.lines.clone()),
        }
    }
    if let Some(found) = together(trial, changes) {
        let alone = helps.iter().map(Advice::gain).fold(1.0, f64::max);
        if found.gain() > alone * (1.0 + NO_CHANGE) {
            helps.push(found);
        }
    }
    helps.sort_by(|a, b| b.gain().total_cmp(&a.gain()));
    helps.truncate(MOST_ADVICE);
    (helps, in_vain)
}

/// What all of `changes` give together, without those that add nothing to the others: two settings may each hold back what
/// the other would give.
fn together(trial: &mut Trial<'_>, changes: Vec<Change>) -> Option<Advice> {
    if changes.len() < 2 {
        return None;
    }
    let all = trial.rows_with(&changes);
    let (found, worse) = gains(trial.now, &all);
    if worse || !found.iter().any(Advice::is_one) {
        return None;
    }
    let mut needed = changes;
    for change in needed.clone().iter().rev() {
        let fewer: Vec<Change> = needed.iter().filter(|kept| *kept != change).cloned().collect();
        let after = trial.rows_with(&fewer);
        if !gains(&all, &after).1 {
            needed = fewer;
        }
    }
    trial.change(&needed).0.filter(|found| !found.with.is_empty())
}

/// Tries another length for each queue that is far from what its rate asks for. Where one line has the lengths of several,
/// each is tried with those found before, and the last says them all: the others have no lines of their own.
fn queues(cases: &[Case], trial: &mut Trial<'_>) -> Vec<QueueNote> {
    let mut notes: Vec<QueueNote> = Vec::new();
    let mut together: Vec<QueueAt> = Vec::new();
    for case in cases {
        let Some((own, to)) = case.queue.as_ref().and_then(|own| Some((own, own.better()?))) else {
            continue;
        };
        let at = own.at.beside(&together);
        let Some(remedy) = slowpath_vendor::remedy::queue_length(trial.reading, &at, to.packets) else {
            continue;
        };
        let change = Change::from(remedy);
        // Where the line has the lengths of others as well, what they gain is theirs.
        let (best, worse) = trial.change_of(std::slice::from_ref(&change), |what| what == case.what);
        // What is too short must gain by more.
        if worse || to.short && best.is_none() {
            continue;
        }
        for (earlier, note) in together.iter().zip(&mut notes) {
            if earlier.shares_line(&at) {
                note.lines.clear();
                note.replaces.clear();
            }
        }
        together.push(at.with_length(to.packets));
        let gain =
            best.and_then(|best| Some((best.before_bit_per_s?, best.after_bit_per_s, best.round_trip_s)));
        notes.push(QueueNote {
            what: case.what.clone(),
            short: to.short,
            packets: own.packets,
            holds_s: own.holds_s(),
            sentence: queues::sentence(own, &case.what, to, gain),
            lines: change.lines,
            replaces: change.replaces,
        });
    }
    notes
}

/// The same use before and after a change.
fn pairs<'r>(before: &'r [Row], after: &'r [Row]) -> impl Iterator<Item = (&'r Row, &'r Row)> {
    before
        .iter()
        .filter_map(|old| Some((old, after.iter().find(|new| new.what == old.what)?)))
}

/// A configuration with some lines in the place of others, or at its end.
fn with(text: &str, changes: &[Change]) -> String {
    let mut out = String::new();
    let mut write = |line: &str| {
        out.push_str(line);
        out.push('\n');
    };
    let mut written = vec![false; changes.len()];
    for (index, line) in text.lines().enumerate() {
        let change = changes
            .iter()
            .position(|change| change.replaces.contains(&(index + 1)));
        let Some(change) = change else {
            write(line);
            continue;
        };
        if !std::mem::replace(&mut written[change], true) {
            changes[change].lines.iter().for_each(|line| write(line));
        }
    }
    let rest = changes.iter().zip(written).filter(|(_, written)| !written);
    rest.flat_map(|(change, _)| &change.lines)
        .for_each(|line| write(line));
    out
}

/// Writes the table, what it costs, and what would help.
///
/// # Errors
/// Those of `out`.
pub fn write_text(expected: &Expected, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if expected.assumed.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    if expected.rows.is_empty() {
        for sentence in &expected.assumed {
            style.paragraph(sentence, "  ", "  ", Tone::Plain, out)?;
        }
        return Ok(());
    }
    let voice = expected.rows.iter().any(|row| row.voice_loss_fraction.is_some());
    let mut head = vec!["one transfer, Mbit/s", "over 10 ms", "50 ms", "100 ms"];
    head.extend(voice.then_some("voice loses"));
    let mut table: Vec<Vec<String>> = vec![head.iter().map(|word| told(word).into_owned()).collect()];
    for row in &expected.rows {
        let mut cells = vec![told(&row.what).into_owned()];
        cells.extend(
            row.goodput_bit_per_s
                .iter()
                .map(|goodput| goodput.map_or("-".to_owned(), |bits| significant(bits / 1e6))),
        );
        if voice {
            cells.push(
                row.voice_loss_fraction
                    .map_or("-".to_owned(), |loss| told(&percent(loss)).into_owned()),
            );
        }
        table.push(cells);
    }
    let widths: Vec<usize> = (0..head.len())
        .map(|column| table.iter().map(|row| columns(&row[column])).max().unwrap_or(0))
        .collect();
    for (number, row) in table.iter().enumerate() {
        let numbers: Vec<String> = (1..row.len())
            .map(|column| right(&row[column], widths[column]))
            .collect();
        let numbers = numbers.join("  ");
        // A long name has lines of its own, so that none is cut.
        let room = style.width.saturating_sub(columns(&numbers) + 2).max(12);
        let mut names = wrap(&row[0], room, "", "  ");
        let last = names.pop().unwrap_or_default();
        for name in names {
            writeln!(out, "{name}")?;
        }
        let line = format!("{}  {numbers}", left(&last, widths[0].min(room)));
        if number == 0 {
            writeln!(out, "{}", style.bold(&line))?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    if expected
        .rows
        .iter()
        .any(|row| row.goodput_bit_per_s.contains(&None))
    {
        let sentence = "-: the transfer does not end.";
        style.paragraph(sentence, "  ", "  ", Tone::Plain, out)?;
    }
    for sentence in expected.assumed.iter().chain(&expected.costs) {
        style.paragraph(sentence, "  ", "  ", Tone::Plain, out)?;
    }
    for advice in &expected.advice {
        write_advice(advice, style, out)?;
    }
    if expected.advice.is_empty() && !expected.in_vain.is_empty() {
        style.paragraph(
            "None of the changes above makes these transfers faster in the model, alone or together.",
            "  ",
            "  ",
            Tone::Plain,
            out,
        )?;
    }
    for note in &expected.queues {
        style.paragraph(&note.sentence, "~ ", "  ", Tone::Care, out)?;
        if note.lines.is_empty() {
            continue;
        }
        writeln!(out, "  {}:", told(&place(&note.lines, &note.replaces)))?;
        for line in &note.lines {
            writeln!(out, "      {}", printable(line))?;
        }
    }
    Ok(())
}

/// Writes what a change gives, and its lines.
fn write_advice(advice: &Advice, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let place_of = |change: &Change| told(&place(&change.lines, &change.replaces)).into_owned();
    let first = &advice.change;
    let start = match advice.with.len() {
        0 => place_of(first),
        others => told(&format!("these {} changes together", others + 1)).into_owned(),
    };
    let (milliseconds, after) = (advice.round_trip_s * 1e3, bit_rate(advice.after_bit_per_s));
    let of = told(&advice.what);
    let sentence = match advice.before_bit_per_s {
        Some(before) => format!(
            "{start}: {} over {milliseconds:.0} ms becomes {after} ({of})",
            bit_rate(before)
        ),
        None => format!(
            "{start}: a transfer over {milliseconds:.0} ms does not end, and gets {after} with it ({of})"
        ),
    };
    style.paragraph(&sentence, "+ ", "  ", Tone::Good, out)?;
    for change in std::iter::once(first).chain(&advice.with) {
        if !advice.with.is_empty() {
            writeln!(out, "  {}:", place_of(change))?;
        }
        for line in &change.lines {
            writeln!(out, "      {}", printable(line))?;
        }
    }
    Ok(())
}

/// A difference that is none: of goodputs, and of shares of voice packets.
const NO_CHANGE: f64 = 0.02;

/// At most so many lines that are left out are named.
const MOST_LEFT_OUT: usize = 12;

/// At most so many remedies are tried.
const MOST_TRIED: usize = 8;

/// At most so many are shown.
const MOST_ADVICE: usize = 3;

//! How well the duration without a cause can be told at all by who sees the sender's packets and nothing else.
//!
//! What was drawn beside the cause is drawn again; where the sender's packets stay the same, one by one, to the nanosecond, no
//! reader of the capture can know which of these transfers it was. The durations of all of them without the cause are what may be left.

use std::collections::BTreeSet;

use slowpath_record::packets::Record;
use slowpath_sim::{Recorder, Sighting, Sink};
use slowpath_verdict::Limit;

use crate::draw::{self, Dice, Drawn};
use crate::{SEED, costliest, follow, prepare, simulate, tap, truth};

/// One cause of one transfer: how long the same bytes take without it, as predicted, in the drawn transfer, and in others with the
/// same packets, seconds (infinity where they do not all arrive).
pub(crate) struct Known {
    name: String,
    cause: Limit,
    said_s: f64,
    own_s: f64,
    others_s: Vec<f64>,
    tried: usize,
}

/// Compares what the sender sees with what it saw before; the run ends where that differs.
struct Same<'a> {
    before: &'a [Record],
    now: Recorder,
    compared: usize,
    differs: bool,
}

impl Sink for Same<'_> {
    const WATCHES_DROPS: bool = false;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        self.now.seen(sighting);
        let new = &self.now.records[self.compared..];
        self.differs |= !self.before[self.compared.min(self.before.len())..].starts_with(new);
        self.compared = self.now.records.len();
    }

    fn goes_on(&self) -> bool {
        !self.differs
    }
}

/// What the sender sees of a transfer.
fn packets(drawn: &Drawn) -> Result<Vec<Record>, String> {
    let (simulation, _, _) = prepare(drawn, SEED)?;
    let mut recorder = Recorder::at_host(truth::SENDER);
    let _ = simulation.run(&mut recorder);
    Ok(recorder.records)
}

/// Whether the sender sees the same packets at the same times.
fn looks_the_same(drawn: &Drawn, before: &[Record]) -> Result<bool, String> {
    let (simulation, _, _) = prepare(drawn, SEED)?;
    let mut same = Same {
        before,
        now: Recorder::at_host(truth::SENDER),
        compared: 0,
        differs: false,
    };
    let _ = simulation.run(&mut same);
    Ok(!same.differs && same.compared == before.len())
}

/// Draws again what the sender's packets do not show, where a cause costs a tenth of the time or more.
pub(crate) fn look(drawn: &Drawn, number: u64) -> Result<Option<Known>, String> {
    let (held, watcher) = simulate(drawn)?;
    let Some(connection) = tap(&watcher.sender) else {
        return Err(format!("{}: nothing at the sender", drawn.name));
    };
    let Some((cause, without)) = costliest(drawn, &connection.ledger) else {
        return Ok(None);
    };
    let (own, _) = simulate(&without)?;
    let bytes = held.progress.last().map(|(_, bytes)| *bytes);
    let (Some(bytes), Some(said)) = (bytes, connection.ledger.without(cause)) else {
        return Ok(None);
    };
    let Some(own_s) = own.time_of(bytes) else {
        return Ok(None);
    };
    let before = packets(drawn)?;
    let mut seen = drawn.clone();
    for other in drawn.removable().filter(|other| *other != cause) {
        if let Some(without) = seen.without(other)
            && looks_the_same(&without, &before)?
        {
            seen = without;
        }
    }
    let mut dice = Dice(0x006b_6e6f_776e_0000 ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    // Where any other queue looks the same its length does not show, and is drawn again each time.
    let mut queue = false;
    for _ in 0..QUEUES {
        if let Some(other) = seen.clone().with("queue", &mut dice) {
            queue = queue || looks_the_same(&other, &before)?;
        }
    }
    let mut others_s = Vec::new();
    let mut tried = 0;
    while tried < TRIES && others_s.len() < ENOUGH {
        tried += 1;
        let Some(other) = again(&seen, queue, &mut dice) else {
            continue;
        };
        if !looks_the_same(&other, &before)? {
            continue;
        }
        let Some(without) = other.without(cause) else {
            continue;
        };
        let (left, _) = follow(&without, prepare(&without, SEED + tried as u64)?);
        others_s.push(left.time_of(bytes).unwrap_or(f64::INFINITY));
    }
    Ok(Some(Known {
        name: drawn.name.clone(),
        cause,
        said_s: said.duration_s,
        own_s,
        others_s,
        tried,
    }))
}

/// The same transfer with what may be hidden drawn again: of all draws one that has everything that shows.
fn again(seen: &Drawn, queue: bool, dice: &mut Dice) -> Option<Drawn> {
    let shows: BTreeSet<&str> = seen
        .things
        .iter()
        .copied()
        .filter(|thing| *thing != "link")
        .collect();
    let hidden = (0..DRAWS).find_map(|_| {
        let things = draw::things(&seen.path, dice);
        let hidden: Vec<&'static str> = things.difference(&shows).copied().collect();
        let may_be = hidden.iter().all(|thing| HIDDEN.contains(thing));
        (may_be && shows.is_subset(&things)).then_some(hidden)
    })?;
    let mut out = seen.clone();
    if queue {
        out = out.with("queue", dice)?;
    }
    for thing in hidden {
        out = out.with(thing, dice)?;
    }
    Some(out)
}

impl Known {
    /// Whether a prediction is within 15 % of a duration.
    fn near(said_s: f64, is_s: f64) -> bool {
        (said_s / is_s.max(1e-9) - 1.0).abs() <= NEAR
    }

    /// The prediction that is within 15 % of most of the durations, and how many these are.
    fn best(durations_s: &[f64]) -> (f64, usize) {
        // The longest that is near the shortest of those that it is near.
        let said = durations_s
            .iter()
            .filter(|time| time.is_finite())
            .map(|time| time * (1.0 + NEAR) * (1.0 - 1e-9));
        said.map(|said| {
            (
                said,
                durations_s.iter().filter(|is| Self::near(said, **is)).count(),
            )
        })
        .max_by_key(|(_, count)| *count)
        .unwrap_or((f64::INFINITY, 0))
    }
}

/// Says how often predictions are right, and how often they can be.
pub(crate) fn report(all: &[Known]) {
    let (mut said, mut said_of_any, mut best, mut best_of_others) = (0, 0.0, 0.0, 0);
    for known in all {
        let mut any = known.others_s.clone();
        any.push(known.own_s);
        let near = any.iter().filter(|is| Known::near(known.said_s, **is)).count();
        let share = |count: usize| count as f64 / any.len() as f64;
        let (centre, most) = Known::best(&any);
        let own = Known::near(known.said_s, known.own_s);
        said += u32::from(own);
        said_of_any += share(near);
        best += share(most);
        let others = known.others_s.is_empty() || Known::near(Known::best(&known.others_s).0, known.own_s);
        best_of_others += u32::from(others);
        any.sort_by(f64::total_cmp);
        let list: Vec<String> = any.iter().map(|time| format!("{time:.2}")).collect();
        println!(
            "{} {} without {}: {:.2} s said, {:.2} s are; {} of {} tries look the same; near {:.2} s {most} of {}: {}",
            if own { "near" } else { "FAR " },
            known.name,
            known.cause,
            known.said_s,
            known.own_s,
            known.others_s.len(),
            known.tried,
            centre,
            any.len(),
            list.join(" ")
        );
    }
    let count = all.len().max(1) as f64;
    println!(
        "{} transfers with a cause taken away: within 15 % of the prediction {:.1} %, of what else may be left {:.1} %; the best prediction for what may be left {:.1} %, \
         by the others alone {:.1} % of the drawn ones; no other that looks the same in {}",
        all.len(),
        100.0 * f64::from(said) / count,
        100.0 * said_of_any / count,
        100.0 * best / count,
        100.0 * f64::from(best_of_others) / count,
        all.iter().filter(|known| known.others_s.is_empty()).count(),
    );
}

/// How far a prediction may be off, as a share of the duration.
const NEAR: f64 = 0.15;
/// What a capture need not show.
const HIDDEN: [&str; 5] = ["loss", "losses", "policer", "buffer", "pace"];
/// Draws among which one has everything that shows.
const DRAWS: usize = 100_000;
/// Other queues tried, to see whether any looks the same.
const QUEUES: usize = 8;
/// Transfers tried, and that look the same.
const TRIES: usize = 120;
/// See [`TRIES`].
const ENOUGH: usize = 12;

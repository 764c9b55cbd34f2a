//! Whether a program that is said to go on at set times takes as long whatever the path does.
//!
//! Each such transfer is simulated again over a link of twice the rate, and without each of its other causes.

use slowpath_verdict::Limit;

use crate::draw::Drawn;
use crate::{Held, simulate, tap};

/// One transfer whose program is said to send on a schedule.
pub(crate) struct Scheduled {
    name: String,
    /// What held it longest, moment by moment.
    longest: Option<Limit>,
    duration_s: f64,
    /// What was changed, and how long the same bytes take then, seconds (infinity where they do not all arrive).
    changed: Vec<(String, f64)>,
}

impl Scheduled {
    /// The most that any change gives back, as a share of the duration.
    fn gained(&self) -> f64 {
        let gains = self.changed.iter().map(|(_, time)| 1.0 - time / self.duration_s);
        gains.fold(0.0, f64::max)
    }
}

/// Simulates a transfer, and again where its program is said to send on a schedule.
pub(crate) fn look(drawn: &Drawn) -> Result<Option<Scheduled>, String> {
    let (truth, watcher) = simulate(drawn)?;
    let Some(connection) = tap(&watcher.sender) else {
        return Err(format!("{}: nothing at the sender", drawn.name));
    };
    if connection.basis.scheduled.is_none() || connection.verdict.limit != Limit::SenderApplication {
        return Ok(None);
    }
    let Some((duration_s, bytes)) = truth
        .progress
        .last()
        .and_then(|(_, bytes)| Some((truth.time_of(*bytes)?, *bytes)))
    else {
        return Ok(None);
    };
    let others = drawn
        .removable()
        .filter(|cause| *cause != Limit::SenderApplication);
    let without = others.filter_map(|cause| Some((format!("without {cause}"), drawn.without(cause)?)));
    let faster = [("twice the link".to_owned(), drawn.faster())];
    let mut changed = Vec::new();
    for (what, other) in faster.into_iter().chain(without) {
        let (again, _) = simulate(&other)?;
        changed.push((what, again.time_of(bytes).unwrap_or(f64::INFINITY)));
    }
    Ok(Some(Scheduled {
        name: drawn.name.clone(),
        longest: longest(&truth.held),
        duration_s,
        changed,
    }))
}

fn longest(held: &Held) -> Option<Limit> {
    held.iter()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .map(|(limit, _)| *limit)
}

/// Says how much the changes give back.
pub(crate) fn report(all: &[Scheduled]) {
    for scheduled in all {
        let list: Vec<String> = scheduled
            .changed
            .iter()
            .map(|(what, time)| format!("{what} {time:.2} s"))
            .collect();
        println!(
            "{:4.1} % {}: {:.2} s, longest {}; {}",
            100.0 * scheduled.gained(),
            scheduled.name,
            scheduled.duration_s,
            scheduled.longest.map_or("nothing", Limit::name),
            list.join(", ")
        );
    }
    let own = |scheduled: &Scheduled| scheduled.longest == Some(Limit::SenderApplication);
    let (program, others): (Vec<&Scheduled>, Vec<&Scheduled>) = all.iter().partition(|one| own(one));
    for (of, list) in [("the program", program), ("something else", others)] {
        let little = list.iter().filter(|one| one.gained() <= LITTLE).count();
        println!(
            "{} on a schedule that {of} holds longest: no change gives back more than {:.0} % of the duration in {little}",
            list.len(),
            100.0 * LITTLE
        );
    }
}

/// What a change may give back though the schedule decides: the last time is over sooner on a faster path.
const LITTLE: f64 = 0.1;

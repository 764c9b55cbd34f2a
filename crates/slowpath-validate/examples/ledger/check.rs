//! The truth checked by itself: what it says that a cause costs, beside what the same bytes take without it.

use std::collections::BTreeMap;

use slowpath_verdict::Limit;

use crate::{draw, simulate};

/// One drawn cause of one transfer.
pub(crate) struct Checked {
    name: String,
    cause: Limit,
    /// For how long it held the transfer and what that cost, by the truth, as shares of the duration.
    held: f64,
    lost: f64,
    /// What is saved where the cause is not there, as a share of the duration.
    saved: f64,
}

impl Checked {
    /// The truth blames a cause without which the transfer takes as long.
    fn blamed(&self) -> bool {
        self.lost >= MUCH && self.saved < LITTLE
    }

    /// The truth forgets a cause without which the transfer is faster.
    fn forgotten(&self) -> bool {
        self.held < LITTLE && self.saved >= MUCH
    }
}

/// Simulates a transfer, and again without each of the causes that were drawn.
pub(crate) fn check(drawn: &draw::Drawn) -> Result<Vec<Checked>, String> {
    let (truth, _) = simulate(drawn)?;
    let Some((_, bytes)) = truth.progress.last() else {
        return Ok(Vec::new());
    };
    let total: f64 = truth.held.values().sum();
    let mut out = Vec::new();
    for cause in drawn.removable() {
        let Some(without) = drawn.without(cause) else {
            continue;
        };
        let (again, _) = simulate(&without)?;
        let (Some(with_s), Some(without_s)) = (truth.time_of(*bytes), again.time_of(*bytes)) else {
            continue;
        };
        let share =
            |times: &BTreeMap<Limit, f64>| times.get(&cause).copied().unwrap_or(0.0) / total.max(1e-9);
        out.push(Checked {
            name: drawn.name.clone(),
            cause,
            held: share(&truth.held),
            lost: share(&truth.lost),
            saved: 1.0 - without_s / with_s.max(1e-9),
        });
    }
    Ok(out)
}

/// Says how often the truth and the runs without the causes contradict each other.
pub(crate) fn report(all: &[Checked], transfers: usize) {
    for one in all {
        let mark = if one.blamed() {
            "BLAMED   "
        } else if one.forgotten() {
            "FORGOTTEN"
        } else {
            "         "
        };
        println!(
            "{mark} {} without {}: held {:3.0} %, cost {:3.0} %, saved {:3.0} %",
            one.name,
            one.cause,
            100.0 * one.held,
            100.0 * one.lost,
            100.0 * one.saved
        );
    }
    let count = |of: &dyn Fn(&Checked) -> bool| all.iter().filter(|one| of(one)).count();
    let left = |one: &Checked| (1.0 - one.lost) / (1.0 - one.saved).max(1e-9);
    println!(
        "{} transfers, {} causes taken away: {} blamed in vain, {} forgotten; duration left within 15 % of the truth's in {}",
        transfers,
        all.len(),
        count(&Checked::blamed),
        count(&Checked::forgotten),
        count(&|one| (left(one) - 1.0).abs() <= 0.15),
    );
}

/// Share of the duration that is much.
const MUCH: f64 = 0.2;
/// Share of the duration that is little.
const LITTLE: f64 = 0.05;

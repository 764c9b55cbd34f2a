//! How well a fitted path says what a transfer takes without a cause, beside what the ledger says of it.
//!
//! The question is the one that `slowpath explain --what-if` takes: `policer=none`, `loss=0 %` and so on.

use std::sync::atomic::AtomicBool;

use slowpath::fit::{self, Effort, OnAll};
use slowpath_verdict::ledger::Without;
use slowpath_verdict::{Connection, Limit};

use crate::draw::Drawn;
use crate::{costliest, simulate, tap};

/// One transfer without its costliest cause.
pub(crate) struct Asked {
    name: String,
    cause: Limit,
    /// With it and without it as simulated, seconds.
    with_s: f64,
    without_s: f64,
    /// What the ledger says of the latter.
    by_ledger_s: f64,
    /// What the fitted path says.
    answer: Result<Without, String>,
    /// The fitted path in words, and how far off it is.
    model: String,
}

/// Simulates a transfer with and without its costliest cause, and asks its fitted path for the latter.
pub(crate) fn look(drawn: &Drawn) -> Result<Option<Asked>, String> {
    let (truth, watcher) = simulate(drawn)?;
    let Some(connection) = tap(&watcher.sender) else {
        return Err(format!("{}: nothing at the sender", drawn.name));
    };
    let Some((cause, without)) = costliest(drawn, &connection.ledger) else {
        return Ok(None);
    };
    let Some(change) = change(cause) else {
        return Ok(None);
    };
    let (again, _) = simulate(&without)?;
    let durations = truth
        .progress
        .last()
        .and_then(|(_, bytes)| Some((truth.time_of(*bytes)?, again.time_of(*bytes)?)));
    let (Some((with_s, without_s)), Some(said)) = (durations, connection.ledger.without(cause)) else {
        return Ok(None);
    };
    let (model, answer) = ask(&connection, cause, change);
    Ok(Some(Asked {
        name: drawn.name.clone(),
        cause,
        with_s,
        without_s,
        by_ledger_s: said.duration_s,
        answer,
        model,
    }))
}

/// The path fitted to a connection in words, and what it says of a change that takes a cause away.
fn ask(connection: &Connection, cause: Limit, change: &str) -> (String, Result<Without, String>) {
    let cancel = AtomicBool::new(false);
    let simulator = OnAll::new(&cancel, &|_| {});
    let fitted = match fit::fit(connection, Effort::default(), &simulator) {
        Ok(fitted) => fitted,
        Err(error) => return (String::new(), Err(error.to_string())),
    };
    let model = format!(
        "{} {:.1}: {}",
        fitted.model.kind().words(),
        fitted.difference.total(),
        fitted.model.document().replace('\n', "; ")
    );
    let answers = fit::changes(change).and_then(|change| fit::answers(&fitted, &[change], &simulator));
    let answer = match answers {
        Ok(mut answers) => answers.pop().ok_or_else(|| "nothing".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    let answer = answer.and_then(|answer| {
        let told = answer.duration_s.zip(answer.low90_s).zip(answer.high90_s);
        let ((duration_s, low90_s), high90_s) = told.ok_or_else(|| answer.reason.unwrap_or_default())?;
        Ok(Without {
            cause,
            duration_s,
            low90_s,
            high90_s,
        })
    });
    (model, answer)
}

/// The change that takes a cause away, as users type it; `None` where nobody can.
fn change(cause: Limit) -> Option<&'static str> {
    Some(match cause {
        Limit::RandomLoss => "loss=0 %",
        Limit::Policed => "policer=none",
        Limit::SendBuffer => "send-buffer=64 MB",
        Limit::ReceiverWindow => "window=64 MB",
        Limit::ReceiverApplication => "reader=unlimited",
        Limit::SenderApplication => "writer=unlimited",
        _ => return None,
    })
}

/// Says how near both are.
pub(crate) fn report(all: &[Asked]) {
    let off = |said: f64, asked: &Asked| said / asked.without_s.max(1e-9) - 1.0;
    let near = |said: f64, asked: &Asked| off(said, asked).abs() <= 0.15;
    for asked in all {
        let told = match &asked.answer {
            Ok(told) => format!(
                "{:.2} s ({:.2} to {:.2} s), {:+.0} %",
                told.duration_s,
                told.low90_s,
                told.high90_s,
                100.0 * off(told.duration_s, asked)
            ),
            Err(reason) => format!("refused: {reason}"),
        };
        println!(
            "without {}: of {:.2} s {:.2} s are left; the fitted path: {told}; the ledger: {:.2} s, {:+.0} % | {} | {}",
            asked.cause,
            asked.with_s,
            asked.without_s,
            asked.by_ledger_s,
            100.0 * off(asked.by_ledger_s, asked),
            asked.name,
            asked.model,
        );
    }
    let told: Vec<(&Asked, &Without)> = all
        .iter()
        .filter_map(|asked| Some((asked, asked.answer.as_ref().ok()?)))
        .collect();
    let count = told.len();
    let by_fit = told
        .iter()
        .filter(|(asked, told)| near(told.duration_s, asked))
        .count();
    let by_ledger = told
        .iter()
        .filter(|(asked, _)| near(asked.by_ledger_s, asked))
        .count();
    let held = told
        .iter()
        .filter(|(asked, told)| (told.low90_s..=told.high90_s).contains(&asked.without_s))
        .count();
    println!(
        "{} asked, {count} answered by a fitted path: {by_fit} of these within 15 %, by the ledger {by_ledger}; {held} of its intervals hold",
        all.len()
    );
}

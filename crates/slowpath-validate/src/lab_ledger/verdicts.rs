//! What a transfer is said to be limited by: programs with a pace of their own, and links whose rate varies.
//!
//! A program kept its pace if it had written what was due when it ended, and all of it was acknowledged soon after: then
//! nothing else held the transfer, however full its bursts make the link meanwhile. A link held a greedy transfer where the
//! kernel counts neither window nor buffer.

use slowpath::folder::{Folder, FolderError};
use slowpath_record::HealthState;
use slowpath_verdict::{Flag, Limit};

use super::{Drawn, Ran, Set, Settings, ran};
use crate::bulk::Writes;

/// One transfer.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What was drawn.
    pub drawn: Drawn,
    /// What is said of it, or why it does not count.
    pub found: Result<Said, String>,
}

/// A verdict.
#[derive(Debug, Clone)]
pub struct Said {
    /// The run's health.
    pub health: HealthState,
    /// What it is limited by.
    pub limit: Limit,
    /// The verdict's flags.
    pub flags: Vec<Flag>,
    /// Whether limit and flag are right.
    pub right: bool,
    /// The pace that the verdict names over the program's own, where it names one.
    pub pace: Option<f64>,
    /// What is said first.
    pub headline: String,
    /// The ledger.
    pub ledger: String,
    /// For people.
    pub details: String,
}

impl Said {
    /// Whether a pace is named, and within a tenth.
    pub fn is_paced(&self) -> bool {
        self.pace.is_some_and(|ratio| (ratio - 1.0).abs() <= 0.1)
    }
}

/// Judges every capture of the folder.
///
/// # Errors
/// [`FolderError`] if a record cannot be read.
pub fn score(settings: &Settings) -> Result<Vec<Judged>, FolderError> {
    let folder = Folder::open(&settings.folder());
    settings
        .drawn()
        .map(|drawn| {
            let found = ran(&folder, &drawn)?.and_then(|ran| said(&drawn, &ran));
            Ok(Judged { drawn, found })
        })
        .collect()
}

fn said(drawn: &Drawn, ran: &Ran) -> Result<Said, String> {
    let sent = &ran.account.sent;
    let last = sent.log.last().ok_or("the socket was never looked at")?;
    let elapsed = sent.end.since(sent.start).seconds().max(1e-9);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let mut pace = None;
    if let Writes::Bursts { bytes, every } = drawn.transfer.writes {
        let bursts = (drawn.transfer.duration.seconds() / every.seconds()).ceil();
        let kept = sent.written as f64 / (bytes as f64 * bursts);
        let late = elapsed - drawn.transfer.duration.seconds();
        if kept < KEPT || late > LATE * drawn.transfer.duration.seconds() {
            return Err(format!(
                "the program could not keep its pace: {} written, {:.0} ms later",
                percent(kept),
                late * 1e3
            ));
        }
        let verdict = &ran.connection.verdict;
        let own = sent.written as f64 / elapsed;
        pace = verdict.parameters.source_byte_per_s.map(|rate| rate / own);
    } else {
        let held = (last.receive_window_limited + last.send_buffer_limited) as f64 / 1e6 / elapsed;
        if held > HELD {
            return Err(format!(
                "the kernel counts window and buffer for {} of the time",
                percent(held)
            ));
        }
    }
    let connection = &ran.connection;
    let verdict = &connection.verdict;
    let right = match drawn.set {
        Set::Paced => verdict.limit == Limit::SenderApplication,
        Set::Varying | Set::Recorded => {
            verdict.limit == Limit::BottleneckBandwidth && verdict.flags.contains(&Flag::VariableRate)
        }
        Set::Chronographs => false,
    };
    Ok(Said {
        health: ran.health,
        limit: verdict.limit,
        flags: verdict.flags.clone(),
        right,
        pace,
        headline: connection.headline().to_owned(),
        ledger: connection.ledger.sentence.clone(),
        details: format!(
            "{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
            connection.basis,
            connection.ledger.entries,
            connection.facts.clocking,
            connection.facts.flight,
            verdict.rejected
        ),
    })
}

/// Share of what was due that a program wrote which kept its pace.
const KEPT: f64 = 0.97;
/// How much later than it ended its last byte may be acknowledged, as a share of its time.
const LATE: f64 = 0.1;
/// Share of the time for which the kernel may count window and buffer though the link is the limit.
const HELD: f64 = 0.2;

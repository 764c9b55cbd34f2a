//! What is kept of each run, and in what files.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use slowpath_record::{FlowResult, HealthState, RunRecord, Series};
use slowpath_report::results::RunResult;
use slowpath_scenario::Plan;
use slowpath_verdict::{Analysis, Ledger};

use super::error::Error;
use super::found::Run;
use crate::folder::{Folder, FolderError};
use crate::{MODEL, outcome};

/// One run, as it lies in a part of the sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Its line.
    pub run: Run,
    /// Its flows as counted at both ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowResult>,
    /// Where its time went, without the spans behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
    /// Samples over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
}

impl Kept {
    /// What is kept of a record, with what its packets say.
    pub(super) fn of(plan: &Plan, record: RunRecord, analysis: Option<&Analysis>) -> Self {
        let result = RunResult::of(&outcome::measured(&record, Some(plan)), None);
        let sent: u64 = record.flows.iter().map(|flow| flow.sent_packets).sum();
        let received: u64 = record.flows.iter().map(|flow| flow.received_packets).sum();
        let verdict = analysis.and_then(Analysis::verdict);
        let ledger = analysis.and_then(Analysis::ledger).map(|ledger| Ledger {
            spans: Vec::new(),
            capacity_series: Vec::new(),
            ..ledger.clone()
        });
        Self {
            run: Run {
                id: identity(plan),
                repeat: record.repeat,
                seed: record.seed,
                bytes: result.bytes,
                duration_s: result.duration_s,
                goodput_byte_per_s: result.goodput_byte_per_s,
                retransmitted_segments: result.retransmitted_segments,
                loss_fraction: (sent > 0).then(|| 1.0 - received as f64 / sent as f64),
                complete: result.complete && record.health.state != HealthState::Invalid,
                limit: verdict.map(|verdict| verdict.limit.name().to_owned()),
                confidence: verdict.map(|verdict| verdict.confidence),
            },
            flows: record.flows,
            ledger,
            series: record.series,
        }
    }
}

/// What names a run: its plan, in which every value, file content and seed stands that can reach it, and the version of
/// the model. Equal names give equal results.
pub fn identity(plan: &Plan) -> String {
    format!("{}.{MODEL}", plan.digest())
}

/// The runs that lie in the parts of a folder, by their names.
///
/// # Errors
/// [`Error::Part`] for a part that cannot be read.
pub(super) fn read(folder: &Path) -> Result<HashMap<String, Kept>, Error> {
    let mut runs = HashMap::new();
    let Ok(entries) = fs::read_dir(folder.join(PARTS)) else {
        return Ok(runs);
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        let broken = |what: String| Error::Part {
            path: path.clone(),
            what,
        };
        let text = fs::read_to_string(&path).map_err(|error| broken(error.to_string()))?;
        for (number, line) in text.lines().enumerate() {
            let kept: Kept = serde_json::from_str(line)
                .map_err(|error| broken(format!("line {}: {error}", number + 1)))?;
            runs.insert(kept.run.id.clone(), kept);
        }
    }
    Ok(runs)
}

/// Writes runs as one part, whole or not at all; its name follows from its content, so that the same part written twice
/// is one.
///
/// # Errors
/// [`Error::Folder`].
pub(super) fn write(folder: &Folder, runs: &[Kept]) -> Result<(), Error> {
    let Some(first) = runs.first() else {
        return Ok(());
    };
    let mut text = Vec::new();
    for kept in runs {
        serde_json::to_writer(&mut text, kept).expect("a run can always be written as JSON");
        writeln!(text).expect("writing to memory does not fail");
    }
    // Two processes may write parts that begin alike; with the number of runs and its own number each has a name.
    let name = format!(
        "{PARTS}/{}-{}-{}.jsonl",
        first.run.id,
        runs.len(),
        std::process::id()
    );
    folder.write(&name, &text)?;
    Ok(())
}

/// Makes the folder of parts.
///
/// # Errors
/// [`Error::Folder`].
pub(super) fn prepare(root: &Path) -> Result<Folder, Error> {
    let path = root.join(PARTS);
    fs::create_dir_all(&path).map_err(|source| FolderError::Write { path, source })?;
    Ok(Folder::open(root))
}

const PARTS: &str = "parts";

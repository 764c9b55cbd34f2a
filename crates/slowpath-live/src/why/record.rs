//! The watch as a record of a run with origin *live*.

use std::io;
use std::path::Path;

use slowpath_record::{Environment, Origin, RunRecord, Series, TransferResult};
use slowpath_units::Time;

use super::answer::Answer;
use super::watch::{Outcome, Watched};

/// Makes the record: each connection is a transfer, its course a few time series.
pub fn record(name: &str, outcome: &Outcome, answer: &Answer) -> RunRecord {
    let moved: Vec<&Watched> = outcome.connections.iter().filter(|one| one.has_moved()).collect();
    RunRecord {
        variant: name.to_owned(),
        environment: Some(Environment {
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")
                .unwrap_or_default()
                .trim()
                .to_owned(),
            processors: std::thread::available_parallelism()
                .map_or(1, |count| u32::try_from(count.get()).unwrap_or(1)),
            slowpath: env!("CARGO_PKG_VERSION").to_owned(),
            ..Environment::default()
        }),
        series: moved.iter().flat_map(|one| series(one)).collect(),
        transfers: moved.iter().map(|one| transfer(one)).collect(),
        notes: answer
            .connections
            .iter()
            .map(|one| format!("{}: {}", one.remote, one.verdict.sentence))
            .chain(answer.trials.iter().map(|trial| trial.sentence.clone()))
            .chain(answer.notes.iter().cloned())
            .collect(),
        ..RunRecord::new(Origin::Live, "why")
    }
}

/// Writes the answer into a folder, as `why.json`.
///
/// # Errors
/// Those of writing files.
pub fn write(folder: &Path, answer: &Answer) -> io::Result<()> {
    let text = serde_json::to_string_pretty(answer).map_err(io::Error::other)?;
    std::fs::write(folder.join("why.json"), text)
}

fn transfer(one: &Watched) -> TransferResult {
    let receiving = one.track.received() > one.track.sent();
    TransferResult {
        name: format!(
            "{} {} {}",
            one.local,
            if receiving { "<-" } else { "->" },
            one.remote
        ),
        bytes: one.track.received().max(one.track.sent()),
        start: Time::from_nanos(one.track.first().at),
        end: Time::from_nanos(one.track.last().at),
        complete: one.ended,
        error: None,
        retransmitted_segments: (!receiving).then(|| {
            u64::from(one.track.last().info.total_retrans) - u64::from(one.track.first().info.total_retrans)
        }),
        sender: None,
    }
}

fn series(one: &Watched) -> Vec<Series> {
    type Value = fn(&super::track::Stretch) -> f64;
    let columns: [(&str, &str, Value); 4] = [
        ("rate", "byte/s", super::track::Stretch::rate),
        ("rtt", "s", |stretch| stretch.rtt),
        ("flight", "byte", |stretch| stretch.flight),
        ("unread", "byte", |stretch| stretch.unread),
    ];
    columns
        .into_iter()
        .map(|(name, unit, value)| Series {
            name: format!("{}/{name}", one.remote),
            unit: unit.to_owned(),
            points: one
                .track
                .stretches()
                .map(|stretch| (stretch.to, value(stretch)))
                .collect(),
        })
        .collect()
}

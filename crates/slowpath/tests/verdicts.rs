//! What captures of simulated transfers say at the sender, in the middle and at the receiver: one table, reviewed as a
//! diff.
//!
//! Each line is one transfer seen from one place: `cause-number place: limit flags share rate bucket window`, with the
//! share in per cent, the rate in kbit/s, the sizes in bytes, and `-` where the verdict gives no figure. A change in the
//! analysis or in TCP changes the table on purpose: run with `UPDATE_SNAPSHOT=1`, look at the difference, and say below
//! what moved and why. A line is what is said today, right or wrong; its first word is the cause by construction.
//!
//! The share is how long the ledger gives the limit, where the two agree: less than the whole for a start (the handshake is none of
//! it), for marks on a link that is full, and for losses that a tap away from the sender sees.
//!
//! Of late a program that waits for room keeps its window as Linux does: shares and rates moved by a point or 0.1 %.
//!
//! Wrong today: a link that others fill from the middle on (`bottleneck-bandwidth-17` and `-18`) is taken for a policer with a
//! bucket of everything before. Cross traffic that never yields is taken for a slower link of one's own.

mod transfers;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use slowpath::folder::Folder;
use slowpath::{import, simulated};
use slowpath_scenario::{Clock, Experiment, Fragments, PlanOptions};
use slowpath_verdict::{Connection, Limit};
use transfers::{Transfer, transfers};

const SNAPSHOT: &str = include_str!("verdicts.snapshot.txt");

#[test]
fn the_table_has_not_changed() {
    let table = table();
    if std::env::var_os("UPDATE_SNAPSHOT").is_some() {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts.snapshot.txt");
        std::fs::write(&place, &table).unwrap();
        println!("written: {}", place.display());
        return;
    }
    let found: Vec<&str> = table.lines().collect();
    let expected: Vec<&str> = SNAPSHOT.lines().collect();
    let mut changes = String::new();
    for number in 0..found.len().max(expected.len()) {
        let (now, before) = (found.get(number), expected.get(number));
        if now != before {
            let _ = writeln!(changes, "- {}\n+ {}", before.unwrap_or(&""), now.unwrap_or(&""));
        }
    }
    assert!(
        changes.is_empty(),
        "verdicts changed; run with UPDATE_SNAPSHOT=1 if they should:\n{changes}"
    );
}

/// What the table is for: no limit that a capture shows may be missing from it, rightly named.
#[test]
fn every_limit_is_named_where_it_is_the_cause() {
    let transfers = transfers();
    let causes: BTreeSet<&str> = transfers.iter().map(|transfer| transfer.cause.name()).collect();
    for limit in Limit::ALL.into_iter().filter(|limit| limit.is_in_captures()) {
        assert!(causes.contains(limit.name()), "no transfer is limited by {limit}");
        let cause = format!("{limit}-");
        let right = SNAPSHOT
            .lines()
            .filter(|line| line.starts_with(&cause))
            .filter(|line| line.split_whitespace().nth(2) == Some(limit.name()));
        assert!(right.count() >= 3, "{limit} is hardly ever found");
    }
    let lines = SNAPSHOT.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(lines, transfers.len() * PLACES.len());
}

/// Where captures are taken, as captures are called.
const PLACES: [(&str, &str); 3] = [
    ("client", "sender"),
    ("network", "middle"),
    ("server", "receiver"),
];

fn table() -> String {
    let transfers = transfers();
    let place = std::env::temp_dir().join(format!("slowpath-verdicts-table-{}", std::process::id()));
    let scratch = Scratch(place.clone());
    let lines = Mutex::new(vec![String::new(); transfers.len()]);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(transfer) = transfers.get(index) else {
                        break;
                    };
                    let said = said(transfer, &place);
                    lines.lock().unwrap()[index] = said;
                }
            });
        }
    });
    drop(scratch);
    let mut table = String::from(
        "# transfer place: limit flags share-% rate-kbit/s bucket-bytes window-bytes (of the receiver, or the flight)\n",
    );
    table.extend(lines.into_inner().unwrap());
    table
}

/// The lines of one transfer.
fn said(transfer: &Transfer, scratch: &Path) -> String {
    let place = scratch.join(&transfer.name);
    let folder = Folder::create(&place).unwrap();
    let experiment = Experiment::read(&transfer.name, &transfer.document, &[])
        .unwrap_or_else(|errors| panic!("{errors}\n{}", transfer.document));
    let options = PlanOptions::first("default", 7, Clock::Simulated);
    let plan = experiment.plan(&options, &Fragments::new()).unwrap();
    let record = simulated::run("verdicts", &plan, &transfer.name, true, &folder)
        .unwrap_or_else(|error| panic!("{}: {error}", transfer.name));
    let mut lines = String::new();
    for (point, name) in PLACES {
        let capture = record
            .captures
            .iter()
            .find(|capture| capture.point == point)
            .unwrap_or_else(|| panic!("{}: no capture at {point}: {:?}", transfer.name, record.captures));
        let analysis = import::analyze_file(&place.join(&capture.file)).unwrap();
        let words = analysis
            .main_connection()
            .map_or_else(|| "nothing".to_owned(), line);
        let _ = writeln!(lines, "{} {name}: {words}", transfer.name);
    }
    lines
}

fn line(connection: &Connection) -> String {
    let verdict = &connection.verdict;
    let flags: Vec<String> = verdict
        .flags
        .iter()
        .map(|flag| serde_json::to_value(flag).unwrap().as_str().unwrap().to_owned())
        .collect();
    let flags = if flags.is_empty() {
        "-".to_owned()
    } else {
        flags.join("+")
    };
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0}"));
    let whole = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let parameters = &verdict.parameters;
    format!(
        "{} {flags} {:.0} {} {} {}",
        verdict.limit,
        verdict.share * 100.0,
        figure(parameters.rate_bit_per_s.map(|rate| rate / 1e3)),
        whole(parameters.bucket_bytes),
        whole(parameters.window_bytes.or(parameters.flight_bytes)),
    )
}

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

//! Scores the ledger on drawn transfers against what the model knows held them: `docs/validation/ledger.md`.
//!
//! `cargo run --release -p slowpath-validate --example ledger -- [development|held-out|held-out-2 to held-out-11|afresh|truth|known|scheduled|asked|asked-held-out|cost|paced|varying|recorded|recorded-afresh|bursty] [COUNT] [--only NUMBER |
//! --no-removals | --documents]`
//!
//! The first thousand transfers are for development (even numbers) and held out (odd ones); `afresh` takes others, which tell
//! whether what was tuned on the former holds for any; `held-out-2` to `held-out-11` are further lists, scored once. `--documents` prints the
//! experiments and scores nothing, so that a list can be fixed by its digest.
//! `truth` checks the truth itself: each drawn cause is taken away and the transfer simulated again.
//! `known` tells how well what is left without a cause can be told at all by who sees the sender's packets.
//! `scheduled` tells whether a program that is said to send on a schedule takes as long whatever the path does.
//! `asked` tells how well a fitted path says what is left without a cause, beside the ledger; `asked-held-out` is a list that was scored once.
//! `cost` tells what recording the truth adds to the time of a simulation.
//! `paced` and `varying` score verdicts alone, on programs with a pace of their own and links whose rate varies; `recorded` does on recorded
//! ones, which lie in the folder that `SLOWPATH_TRACES` names, and `recorded-afresh` on others, scored once.
//! `bursty` scores the ledger where losses come in bursts by chance and nothing else does.

#![allow(clippy::cast_sign_loss)] // counts and shares, none negative

mod asked;
mod check;
mod draw;
mod known;
mod scheduled;
mod truth;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use slowpath::simulated;
use slowpath_facts::Analyzer;
use slowpath_path::{ElementId, Trace};
use slowpath_record::packets::CaptureSummary;
use slowpath_scenario::{Clock, Experiment, Fragments, PlanOptions};
use slowpath_sim::{Recorder, Simulation};
use slowpath_validate::lab_ledger;
use slowpath_verdict::ledger::{Ledger, Without};
use slowpath_verdict::{Analysis, Connection, Flag, Interval, Limit};

use draw::Kind;
use truth::{Both, Held, Truth, Watcher};

fn main() -> ExitCode {
    match attempt() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ledger: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What a ledger says that a transfer would gain without a cause, and what it gains.
struct Removal {
    /// Number and what was drawn.
    name: String,
    cause: Limit,
    /// Time that the same bytes take without the cause by the ledger, and with and without it as simulated, seconds.
    said: Without,
    with_s: f64,
    without_s: f64,
    /// What holds it then.
    then: Held,
}

impl Removal {
    /// How far the predicted duration is from that of the run without the cause, as a share of this.
    fn off(&self) -> f64 {
        self.said.duration_s / self.without_s.max(1e-9) - 1.0
    }

    /// On which side of the predicted interval that run lies: -1 below it, 1 above it.
    fn side(&self) -> i8 {
        i8::from(self.without_s > self.said.high90_s) - i8::from(self.without_s < self.said.low90_s)
    }

    /// The interval's width as a share of the predicted duration.
    fn width(&self) -> f64 {
        (self.said.high90_s - self.said.low90_s) / self.said.duration_s.max(1e-9)
    }
}

/// What one tap's ledger got right of one transfer.
struct Score {
    /// Share of the time that is charged to the right cause.
    right: f64,
    /// The same where others have to be told apart from the link though the capture does not show them.
    right_strictly: f64,
    /// The same where unknown is right, away from the sender, for what only the sender knows: its buffer and its program.
    right_unsaid: f64,
    /// Share of the time called unknown.
    unknown: f64,
    /// The largest cause is right: yes, no, or cannot be told.
    dominant: Option<bool>,
    /// Capacity as measured over the true one.
    capacity: Option<f64>,
    /// How far the columns are from the duration, as a share of it.
    adrift: f64,
    /// Highest rate over the true capacity, whatever it is called.
    seen: String,
    verdict: Limit,
    /// What the looks alone and the ledger alone come to.
    alone: [Limit; 2],
    /// The verdict's flags and sentence.
    flags: Vec<Flag>,
    sentence: String,
    truth: Truth,
    /// What held it as far as this ledger can know of others.
    held: Held,
    said: Held,
    /// What the ledger says over time.
    series: Vec<Interval>,
    /// What befell it, for people.
    events: String,
    removal: Option<Removal>,
}

impl Score {
    /// Whether this limit holds the transfer for half of the time or more.
    fn is_mostly(&self, limit: Limit) -> bool {
        let total: f64 = self.truth.held.values().sum();
        self.truth
            .held
            .get(&limit)
            .is_some_and(|time| *time >= 0.5 * total)
    }

    /// Whether this limit holds the transfer longest, or within a tenth of the duration of that.
    fn may_be(&self, limit: Limit) -> bool {
        let held = &self.held;
        let total: f64 = held.values().sum();
        let most = held.values().copied().fold(0.0, f64::max);
        held.get(&limit).is_some_and(|time| *time >= most - 0.1 * total)
    }
}

fn attempt() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let half = words.next().unwrap_or_else(|| "development".to_owned());
    let count: u64 = words.next().map_or(Ok(100), |word| word.parse())?;
    let rest: Vec<String> = words.collect();
    let (only, removes): (Option<u64>, bool) = match rest.as_slice() {
        [flag, number] if flag == "--only" => (Some(number.parse()?), true),
        [flag] if flag == "--no-removals" => (None, false),
        _ => (None, true),
    };
    let (kind, step, odd) = match half.as_str() {
        "development" | "truth" | "cost" | "known" | "scheduled" | "asked" => (Kind::Mixed, 2, 0),
        "held-out" => (Kind::Mixed, 2, 1),
        "afresh" => (Kind::Mixed, 2, 1_000),
        "asked-held-out" => (Kind::Mixed, 2, 1_200_001),
        "paced" => (Kind::Paced, 1, 0),
        "varying" => (Kind::Varying, 1, 0),
        "recorded" => (Kind::Recorded, 1, 0),
        "recorded-afresh" => (Kind::Recorded, 1, 100_000),
        "bursty" => (Kind::Bursty, 1, 0),
        other => {
            let list = other.strip_prefix("held-out-").and_then(|word| word.parse().ok());
            let Some(list) = list.filter(|list| HELD_OUT.contains(list)) else {
                return Err(format!(
                    "{other}: write development, held-out, held-out-{} to held-out-{}, afresh, truth, known, scheduled, asked, asked-held-out, cost, paced, varying, recorded, recorded-afresh or bursty",
                    HELD_OUT.start(),
                    HELD_OUT.end()
                )
                .into());
            };
            (Kind::Mixed, 2, list * 100_000 + 1)
        }
    };
    let numbers: Vec<u64> = match only {
        Some(number) => vec![number],
        None => (0..count).map(|index| step * index + odd).collect(),
    };
    if rest.iter().any(|word| word == "--documents") {
        for number in numbers {
            let drawn = draw::draw_of(kind, number);
            if drawn.recorded.is_some() {
                println!("{}", drawn.name);
            }
            println!("{}", drawn.document);
        }
        return Ok(());
    }
    if half == "cost" {
        return cost(kind, &numbers);
    }
    if half == "known" {
        let results = of_all(&numbers, |number| {
            known::look(&draw::draw_of(kind, number), number)
        });
        known::report(&finished(results?));
        return Ok(());
    }
    if half == "scheduled" {
        let results = of_all(&numbers, |number| scheduled::look(&draw::draw_of(kind, number)));
        scheduled::report(&finished(results?));
        return Ok(());
    }
    if half.starts_with("asked") {
        let results = of_all(&numbers, |number| asked::look(&draw::draw_of(kind, number)));
        asked::report(&finished(results?));
        return Ok(());
    }
    if half == "truth" {
        let results = of_all(&numbers, |number| check::check(&draw::draw_of(kind, number)));
        check::report(&finished(results?), numbers.len());
        return Ok(());
    }
    let results = of_all(&numbers, |number| {
        let drawn = draw::draw_of(kind, number);
        let scored = score(&drawn, removes);
        (drawn, scored)
    })?;
    match kind {
        Kind::Mixed | Kind::Bursty => report(&results, only.is_some()),
        Kind::Paced => verdicts(&results, only.is_some(), (Limit::SenderApplication, None)),
        Kind::Varying | Kind::Recorded => verdicts(
            &results,
            only.is_some(),
            (Limit::BottleneckBandwidth, Some(Flag::VariableRate)),
        ),
    }
    Ok(())
}

/// All of the results that there are, in the order of their numbers; says what failed.
fn finished<T: IntoIterator>(results: BTreeMap<u64, Result<T, String>>) -> Vec<T::Item> {
    let mut all = Vec::new();
    for result in results.into_values() {
        match result {
            Ok(found) => all.extend(found),
            Err(error) => println!("failed {error}"),
        }
    }
    all
}

/// What `of` makes of each number, on two processors.
fn of_all<T: Send>(
    numbers: &[u64],
    of: impl Fn(u64) -> T + Sync,
) -> Result<BTreeMap<u64, T>, Box<dyn Error>> {
    let results = Mutex::new(BTreeMap::new());
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed) as usize;
                    let Some(number) = numbers.get(index) else { break };
                    let result = of(*number);
                    if let Ok(mut results) = results.lock() {
                        results.insert(*number, result);
                    }
                }
            });
        }
    });
    Ok(results.into_inner().map_err(|_| "a thread failed")?)
}

/// How many verdicts are the one that was drawn, and carry its flag.
fn verdicts(
    results: &BTreeMap<u64, (draw::Drawn, Scored)>,
    whole: bool,
    (limit, flag): (Limit, Option<Flag>),
) {
    let (mut right, mut count) = ([0; 2], 0);
    for (drawn, scored) in results.values() {
        match scored {
            Err(error) => println!("failed {error}"),
            // What was drawn holds most of the time, as the model knows it: a program catches up what it was held back.
            Ok(scores) if !scores[0].is_mostly(limit) => println!(
                "other {} | true: {} | {}",
                drawn.name,
                words(&scores[0].truth.held),
                scores[0].verdict
            ),
            Ok(scores) => {
                count += 1;
                for ((score, place), right) in scores.iter().zip(["sender", "receiver"]).zip(&mut right) {
                    let good = score.verdict == limit && flag.is_none_or(|flag| score.flags.contains(&flag));
                    *right += u32::from(good);
                    println!(
                        "{} {place:8} {} | true: {} | said: {} | capacity {} | {} {:?}: {}",
                        if good { "ok   " } else { "WRONG" },
                        drawn.name,
                        words(&score.truth.held),
                        words(&score.said),
                        score.seen,
                        score.verdict,
                        score.flags,
                        score.sentence,
                    );
                }
                if whole {
                    println!("{}\n{}", drawn.document, scores[0].events);
                    beside(scores);
                }
            }
        }
    }
    println!(
        "{} transfers, of which {count} are mostly {limit}: {} right at the sender, {} at the receiver",
        results.len(),
        right[0],
        right[1]
    );
}

type Scored = Result<[Score; 2], String>;

/// Simulates each transfer with both ends' packets recorded, without and with the truth, in turns and the least of three, on one
/// processor: what the truth adds.
fn cost(kind: Kind, numbers: &[u64]) -> Result<(), Box<dyn Error>> {
    const TURNS: usize = 3;
    let (mut ratios, mut sums) = (Vec::new(), [0.0_f64; 2]);
    for number in numbers {
        let drawn = draw::draw_of(kind, *number);
        let mut least = [f64::INFINITY; 2];
        for _ in 0..TURNS {
            let (simulation, _, receiver) = prepare(&drawn, SEED)?;
            let begun = Instant::now();
            let report = simulation.run(&mut Both::of(truth::SENDER, receiver));
            least[0] = least[0].min(begun.elapsed().as_secs_f64());
            drop(report);
            let prepared = prepare(&drawn, SEED)?;
            let begun = Instant::now();
            let followed = follow(&drawn, prepared);
            least[1] = least[1].min(begun.elapsed().as_secs_f64());
            drop(followed);
        }
        ratios.push(least[1] / least[0]);
        sums = [sums[0] + least[0], sums[1] + least[1]];
    }
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share) as usize];
    println!(
        "{} transfers: {:.3} s without the truth, {:.3} s with it, {:.2} times as long; each by itself {:.2} times in the median, {:.2} to {:.2} \
         from the tenth to the ninetieth percentile",
        ratios.len(),
        sums[0],
        sums[1],
        sums[1] / sums[0],
        at(0.5),
        at(0.1),
        at(0.9)
    );
    Ok(())
}

/// A simulation, its link and the elements on the way up, and the receiver's number.
type Prepared = (Simulation, (ElementId, Vec<ElementId>), u16);

/// Makes the simulation of a transfer.
fn prepare(drawn: &draw::Drawn, seed: u64) -> Result<Prepared, String> {
    let text = |error: &dyn std::fmt::Display| format!("{}: {error}", drawn.name);
    let experiment = Experiment::read(&drawn.name, &drawn.document, &[]).map_err(|error| text(&error))?;
    let options = PlanOptions::first("default", seed, Clock::Simulated);
    let mut fragments = Fragments::new();
    if let Some((name, from)) = drawn.recorded {
        fragments.insert_trace(name.to_owned(), recording(name, from)?);
    }
    let plan = experiment
        .plan(&options, &fragments)
        .map_err(|error| text(&error))?;
    let spec = simulated::spec(&plan).map_err(|error| text(&error))?;
    let order: Vec<&str> = spec.hosts.iter().map(|host| host.name.as_str()).collect();
    let receiver = order.iter().position(|name| *name == "server");
    let (Some(&"client"), Some(receiver)) = (order.first(), receiver) else {
        return Err(format!("{}: hosts stand in another order: {order:?}", drawn.name));
    };
    let receiver = u16::try_from(receiver).map_err(|error| text(&error))?;
    let simulation = Simulation::new(&spec).map_err(|error| text(&error))?;
    let link = simulation
        .network()
        .element_names()
        .filter(|(_, name)| name.contains("up"))
        .max_by_key(|(_, name)| usize::from(name.contains("rate")))
        .map(|(id, _)| id);
    let Some(link) = link else {
        let names: Vec<&str> = simulation
            .network()
            .element_names()
            .map(|(_, name)| name)
            .collect();
        return Err(format!("{}: no link among {names:?}", drawn.name));
    };
    let up: Vec<_> = simulation
        .network()
        .element_names()
        .filter(|(_, name)| name.contains("up"))
        .map(|(id, _)| id)
        .collect();
    Ok((simulation, (link, up), receiver))
}

/// A recording of `SLOWPATH_TRACES`, from so many milliseconds on and then from its beginning.
fn recording(name: &str, from: u32) -> Result<Trace, String> {
    let folder =
        std::env::var_os("SLOWPATH_TRACES").ok_or("SLOWPATH_TRACES names no folder of recorded rates")?;
    lab_ledger::draw::recording(folder.as_ref(), name, from).map_err(|error| error.to_string())
}

/// Simulates a transfer: what held it, and what the two ends saw.
fn simulate(drawn: &draw::Drawn) -> Result<(Truth, Watcher), String> {
    Ok(follow(drawn, prepare(drawn, SEED)?))
}

/// Runs it to the end with both ends and the truth recorded.
fn follow(drawn: &draw::Drawn, (simulation, (link, up), receiver): Prepared) -> (Truth, Watcher) {
    let mut watcher = Watcher::new(truth::SENDER, receiver);
    let held = truth::run(simulation, &drawn.path, &mut watcher, (link, &up, receiver));
    (held, watcher)
}

fn score(drawn: &draw::Drawn, removes: bool) -> Scored {
    let (held, watcher) = simulate(drawn)?;
    let sender = tap(&watcher.sender).ok_or_else(|| format!("{}: nothing at the sender", drawn.name))?;
    let receiver =
        tap(&watcher.receiver).ok_or_else(|| format!("{}: nothing at the receiver", drawn.name))?;
    let removal = removes.then(|| removed(drawn, &held, &sender)).flatten();
    let mut scores = [sender, receiver].map(|connection| compare(&connection, &held, &drawn.path));
    scores[0].removal = removal;
    Ok(scores)
}

/// The drawn cause that costs most by the ledger, if that is a tenth of the duration or more, and the transfer without it.
fn costliest(drawn: &draw::Drawn, ledger: &Ledger) -> Option<(Limit, draw::Drawn)> {
    let causes: std::collections::BTreeSet<Limit> = ledger.entries.iter().map(|entry| entry.cause).collect();
    let costs = |cause: Limit| ledger.lost_to(cause).unwrap_or(0.0);
    causes
        .into_iter()
        .filter(|cause| costs(*cause) >= 0.1 * ledger.duration_s)
        .filter_map(|cause| Some((cause, drawn.without(cause)?)))
        .max_by(|a, b| costs(a.0).total_cmp(&costs(b.0)))
}

/// Simulates again without that cause.
fn removed(drawn: &draw::Drawn, truth: &Truth, connection: &Connection) -> Option<Removal> {
    let ledger = &connection.ledger;
    let (cause, without) = costliest(drawn, ledger)?;
    let (_, bytes) = truth.progress.last()?;
    let (again, _) = simulate(&without).ok()?;
    Some(Removal {
        name: drawn.name.clone(),
        cause,
        said: ledger.without(cause)?,
        with_s: truth.time_of(*bytes)?,
        without_s: again.time_of(*bytes)?,
        then: again.held,
    })
}

fn tap(recorder: &Recorder) -> Option<Connection> {
    let mut analyzer = Analyzer::new();
    for record in &recorder.records {
        analyzer.push(record, &recorder.conversations);
    }
    let facts = analyzer.finish(&recorder.conversations, &CaptureSummary::default());
    let analysis = Analysis::of(facts);
    analysis.connections.into_iter().next()
}

/// The truth as far as one connection's capture can know it: where only this flow is seen, what it gets of a full link is
/// the link's rate, so that time which others hold may be called the link's; time without others may not be called theirs.
fn as_far_as_seen(held: &Held, said: &Held) -> Held {
    let of = |held: &Held| held.get(&Limit::SharedBottleneck).copied().unwrap_or(0.0);
    let unseen = (of(held) - of(said)).max(0.0);
    let mut out = held.clone();
    if unseen > 0.0 {
        *out.entry(Limit::SharedBottleneck).or_default() -= unseen;
        *out.entry(Limit::BottleneckBandwidth).or_default() += unseen;
    }
    out
}

fn compare(connection: &Connection, truth: &Truth, path: &draw::Path) -> Score {
    let held = &truth.held;
    let ledger = &connection.ledger;
    let mut said = Held::new();
    for entry in &ledger.entries {
        *said.entry(entry.cause).or_default() += entry.time_s;
    }
    let total: f64 = held.values().sum();
    let overlap = |held: &Held| -> f64 {
        held.iter()
            .map(|(limit, time)| time.min(said.get(limit).copied().unwrap_or(0.0)))
            .sum()
    };
    let right_strictly = overlap(held);
    let held = &as_far_as_seen(held, &said);
    let right = overlap(held);
    let of = |held: &Held, limit: Limit| held.get(&limit).copied().unwrap_or(0.0);
    let missed = |limit: Limit| (of(held, limit) - of(&said, limit)).max(0.0);
    let unsaid = if connection.basis.at_sender {
        0.0
    } else {
        let of_the_sender = missed(Limit::SendBuffer) + missed(Limit::SenderApplication);
        of_the_sender.min((of(&said, Limit::Unknown) - of(held, Limit::Unknown)).max(0.0))
    };
    let order = |held: &Held| {
        let mut list: Vec<(f64, Limit)> = held.iter().map(|(limit, time)| (*time, *limit)).collect();
        list.sort_by(|a, b| b.0.total_cmp(&a.0));
        list
    };
    let (first, mine) = (order(held), order(&said));
    let dominant = match (first.as_slice(), mine.first()) {
        (_, Some((_, Limit::Unknown)) | None) | ([], _) => None,
        ([(a, one), (b, other), ..], Some((_, said))) if a - b < 0.1 * total => {
            Some(said == one || said == other)
        }
        ([(_, one), ..], Some((_, said))) => Some(said == one),
    };
    let mss = f64::from(connection.facts.segment_size.max(1));
    let true_rate = path.kbit as f64 * 1e3 * mss / (mss + 70.0);
    let time: f64 = ledger.entries.iter().map(|entry| entry.time_s).sum();
    Score {
        right: right / total.max(1e-9),
        right_strictly: right_strictly / total.max(1e-9),
        right_unsaid: (right + unsaid) / total.max(1e-9),
        unknown: said.get(&Limit::Unknown).copied().unwrap_or(0.0) / total.max(1e-9),
        dominant,
        capacity: ledger
            .floor_s
            .and(ledger.capacity_bit_per_s)
            .map(|rate| rate / true_rate),
        adrift: (time / ledger.duration_s.max(1e-9) - 1.0).abs(),
        seen: format!("{:.2}", ledger.capacity_bit_per_s.unwrap_or(0.0) / true_rate),
        verdict: connection.verdict.limit,
        alone: [
            slowpath_verdict::cuts::compared(&connection.facts, &connection.surroundings).0,
            ledger.limit().unwrap_or(Limit::Unknown),
        ],
        flags: connection.verdict.flags.clone(),
        sentence: connection.headline().to_owned(),
        truth: truth.clone(),
        held: held.clone(),
        said,
        series: ledger.spans.clone(),
        events: events(connection),
        removal: None,
    }
}

/// What befell a connection, and what it was judged by.
fn events(connection: &Connection) -> String {
    let line = &connection.facts.timeline;
    let mut out = format!("{:?}\n{:?}\n", connection.basis, connection.ledger.entries);
    let _ = writeln!(
        out,
        "bursts {}, let go {}, own load explains {:.2}\ntrains {:?}\nqueue {:?}\nbehind {:?}",
        line.bursts,
        line.let_go,
        connection.facts.own_load_explains,
        line.train_rate,
        connection.facts.queue,
        connection.facts.queue_behind
    );
    let _ = writeln!(
        out,
        "step {:.4} least {:.4} of data {:.4}, delays in {:.6}",
        line.step_s, line.least_rtt_s, line.least_data_rtt_s, line.delay_unit_s
    );
    for event in &line.events {
        let _ = writeln!(out, "{event:?}");
    }
    out
}

fn words(held: &Held) -> String {
    let mut list: Vec<(f64, Limit)> = held.iter().map(|(limit, time)| (*time, *limit)).collect();
    list.sort_by(|a, b| b.0.total_cmp(&a.0));
    let list: Vec<String> = list
        .iter()
        .filter(|(time, _)| *time >= 0.05)
        .map(|(time, limit)| format!("{limit} {time:.1}"))
        .collect();
    list.join(", ")
}

fn report(results: &BTreeMap<u64, (draw::Drawn, Scored)>, whole: bool) {
    for (drawn, scored) in results.values() {
        match scored {
            Err(error) => println!("failed {error}"),
            Ok(scores) => {
                for (score, place) in scores.iter().zip(["sender", "receiver"]) {
                    let mark = match score.dominant {
                        Some(true) => "ok   ",
                        Some(false) => "WRONG",
                        None => "?    ",
                    };
                    println!(
                        "{mark} {:3.0} % {place:8} {} | true: {} | said: {} | capacity {} {} | verdict {} {:?}",
                        score.right * 100.0,
                        drawn.name,
                        words(&score.truth.held),
                        words(&score.said),
                        score
                            .capacity
                            .map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
                        score.seen,
                        score.verdict,
                        score.alone,
                    );
                }
            }
        }
        if whole {
            println!("{}", drawn.document);
            if let Ok(scores) = scored {
                println!("{}\n{}", scores[0].events, scores[1].events);
                beside(scores);
            }
        }
    }
    for (index, place) in ["sender", "receiver"].iter().enumerate() {
        let scores: Vec<&Score> = results
            .values()
            .filter_map(|(_, scored)| scored.as_ref().ok().map(|scores| &scores[index]))
            .collect();
        let count = scores.len().max(1) as f64;
        let mut right: Vec<f64> = scores.iter().map(|score| score.right).collect();
        right.sort_by(f64::total_cmp);
        let told: Vec<f64> = scores.iter().filter_map(|score| score.capacity).collect();
        let near = told.iter().filter(|ratio| (*ratio - 1.0).abs() <= 0.05).count();
        confusion(&scores);
        removals(&scores);
        let named = |of: &dyn Fn(&Score) -> Limit| {
            let right = scores.iter().filter(|score| score.may_be(of(score))).count();
            let unknown = scores.iter().filter(|score| of(score).is_undecided()).count();
            format!("{right} right, {unknown} unknown")
        };
        println!(
            "{place}: verdicts that name what holds most: {}; looks alone: {}; ledger alone: {}",
            named(&|score| score.verdict),
            named(&|score| score.alone[0]),
            named(&|score| score.alone[1]),
        );
        println!(
            "{place}: {} transfers; time charged to the right cause: mean {:.1} %, median {:.1} % (with others told apart though no capture shows them: {:.1} %; with unknown right for what only the sender knows: {:.1} %); unknown {:.1} %; dominant cause right {:.1} %, wrong {:.1} %; capacity told in {}, within 5 % in {:.1} % of these; worst sum {:.4}",
            scores.len(),
            100.0 * right.iter().sum::<f64>() / count,
            100.0 * right.get(right.len() / 2).copied().unwrap_or(0.0),
            100.0 * scores.iter().map(|score| score.right_strictly).sum::<f64>() / count,
            100.0 * scores.iter().map(|score| score.right_unsaid).sum::<f64>() / count,
            100.0 * scores.iter().map(|score| score.unknown).sum::<f64>() / count,
            100.0 * scores.iter().filter(|score| score.dominant == Some(true)).count() as f64 / count,
            100.0
                * scores
                    .iter()
                    .filter(|score| score.dominant == Some(false))
                    .count() as f64
                / count,
            told.len(),
            100.0 * near as f64 / told.len().max(1) as f64,
            scores.iter().map(|score| score.adrift).fold(0.0, f64::max),
        );
    }
}

/// What was held by what over time, each quarter of a second, and what the two ledgers say.
fn beside(scores: &[Score; 2]) {
    let seconds = |at: slowpath_units::Time| at.since(slowpath_units::Time::ZERO).seconds();
    let to = scores[0]
        .truth
        .series
        .last()
        .map_or(0.0, |(at, _, _)| seconds(*at));
    let most = |list: &mut dyn Iterator<Item = (f64, Limit)>| {
        let mut held = Held::new();
        list.for_each(|(time, limit)| *held.entry(limit).or_default() += time);
        words(&held)
    };
    for quarter in 0..(to / STEP).ceil() as u64 {
        let (from, to) = (quarter as f64 * STEP, (quarter + 1) as f64 * STEP);
        let truth = &scores[0].truth.series;
        let mut inside = truth
            .iter()
            .filter(|(at, _, _)| (from..to).contains(&seconds(*at)))
            .map(|(_, time, limit)| (*time, *limit));
        let mut line = format!("{from:6.2} {:60}", most(&mut inside));
        for score in scores {
            let mut inside = score
                .series
                .iter()
                .map(|span| ((span.to_s.min(to) - span.from_s.max(from)).max(0.0), span.limit));
            let _ = write!(line, " | {:45}", most(&mut inside));
        }
        println!("{line}");
    }
}

/// How well the time that a cause is said to cost agrees with a run without it.
fn removals(scores: &[&Score]) {
    let list: Vec<&Removal> = scores.iter().filter_map(|score| score.removal.as_ref()).collect();
    if list.is_empty() {
        return;
    }
    for removal in &list {
        println!(
            "without {}: of {:.2} s {:.2} s ({:.2} to {:.2} s) said to be left, {:.2} s are: {:+.0} % | {} | then: {}",
            removal.cause,
            removal.with_s,
            removal.said.duration_s,
            removal.said.low90_s,
            removal.said.high90_s,
            removal.without_s,
            100.0 * removal.off(),
            removal.name,
            words(&removal.then)
        );
    }
    let near = list.iter().filter(|removal| removal.off().abs() <= 0.15).count();
    println!(
        "without the costliest drawn cause: {} runs, duration within 15 % of the prediction in {:.1} %",
        list.len(),
        100.0 * near as f64 / list.len() as f64
    );
    let share = |side: i8| {
        100.0 * list.iter().filter(|removal| removal.side() == side).count() as f64 / list.len() as f64
    };
    let mut widths: Vec<f64> = list.iter().map(|removal| removal.width()).collect();
    widths.sort_by(f64::total_cmp);
    println!(
        "intervals that claim 90 % hold {:.1} %; {:.1} % took less, {:.1} % took longer; median width {:.0} % of the duration",
        share(0),
        share(-1),
        share(1),
        100.0 * widths[widths.len() / 2]
    );
}

/// The time that was charged wrongly, by cause as it is and as it was charged: mean share of a transfer.
fn confusion(scores: &[&Score]) {
    let mut cells: BTreeMap<(Limit, Limit), f64> = BTreeMap::new();
    for score in scores {
        let total: f64 = score.truth.held.values().sum();
        let over = |one: &Held, other: &Held| -> Held {
            let more = |(limit, time): (&Limit, &f64)| {
                let more = time - other.get(limit).copied().unwrap_or(0.0);
                (more > 0.0).then_some((*limit, more))
            };
            one.iter().filter_map(more).collect()
        };
        let missed = over(&score.held, &score.said);
        let added = over(&score.said, &score.held);
        let sum: f64 = added.values().sum();
        for (is, time) in &missed {
            for (said, part) in &added {
                *cells.entry((*is, *said)).or_default() += time * part / sum.max(1e-9) / total.max(1e-9);
            }
        }
    }
    let mut cells: Vec<_> = cells.into_iter().collect();
    cells.sort_by(|a, b| b.1.total_cmp(&a.1));
    for ((is, said), share) in cells.iter().take(CELLS) {
        println!(
            "{:6.2} %  {is} charged to {said}",
            100.0 * share / scores.len().max(1) as f64
        );
    }
}

/// The lists that were held out one after another, after the first.
const HELD_OUT: RangeInclusive<u64> = 2..=11;
/// Seed of all simulations that are scored.
const SEED: u64 = 7;
/// Length of a line of what held a transfer over time, seconds.
const STEP: f64 = 0.25;
/// Lines of what was charged wrongly.
const CELLS: usize = 25;

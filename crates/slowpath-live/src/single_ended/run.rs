//! Which tests are made, in which order, and when they have told enough.

use std::time::Instant;

use slowpath_diagnose::stats::Summary;
use slowpath_units::{ByteCount, Duration};
use slowpath_words::{english, english_word};
use slowpath_workload::Context;
use slowpath_workload::probe::{self, MtuConfig};

use super::answer::{self, Cost, Diagnosis, LayerAnswer, PathMtu, SCHEMA, Saved, Trial, Way};
use super::bench::{Bench, Test};
use super::change::{self, Change};
use super::compare::{CLEAR_GAIN, WORTH_LOSS, compare, is_decided};
use super::layer::Layer;
use super::revised;
use super::services::{self, Services};
use super::spec::{Spec, Stage};
use super::waterfall;
use crate::measure::{Guard, MeasureError};
use crate::why::answer::ConnectionAnswer;

/// Tests a path from one end, one layer or change at a time; `tell` hears each test before it begins.
///
/// # Errors
/// [`MeasureError`], where not even the first test could be made; load on an address that is not local is refused without
/// [`Guard::remote`].
pub fn diagnose(spec: &Spec, guard: &Guard, tell: &mut dyn FnMut(&Stage)) -> Result<Diagnosis, MeasureError> {
    let begun = Instant::now();
    let context = guard.context();
    let ssh = services::ssh_spec(spec);
    let services = Services::open(spec, ssh.as_ref(), guard, &context)?;
    let layers = services.layers();
    let Some(&lowest) = layers.first() else {
        return Err(MeasureError::Settings("nothing to test: no target".to_owned()));
    };
    let reverse = spec.reverse || services.names_a_file();
    if let Some(other) = layers.iter().find(|layer| !services.can(**layer, reverse)) {
        return Err(MeasureError::Settings(format!(
            "{} cannot {} here: name a file to read, ftp://HOST/FILE, or a folder to write to, ftp://HOST/FOLDER/",
            other.words(),
            if reverse { "send to us" } else { "take data" }
        )));
    }
    let announced = path_mtu(&services, &context);
    let mut bench = Bench {
        services: &services,
        context: &context,
        begun,
        most: spec.most,
        cap: spec.cap.or(guard.cap()),
        span: FIRST,
        beside: Duration::ZERO,
        made: 0,
        moved: 0,
        notes: Vec::new(),
        tell,
    };
    let first = bench.run(lowest, None, reverse)?;
    let Some(connection) = first.connection else {
        let problem = format!(
            "the test against {} ran, but its connection could not be watched ({}): is it carried by a proxy or another namespace?",
            spec.targets.join(" "),
            first.unwatched
        );
        return Err(MeasureError::Settings(problem));
    };
    bench.span = span_for(connection.facts.least_rtt_s);
    let other = services
        .can(lowest, !reverse)
        .then(|| bench.try_run(lowest, None, !reverse))
        .flatten()
        .and_then(|test| {
            Some(Way {
                goodput: Summary::of_rates(&[test.goodput])?,
                connection: test.connection?,
            })
        });
    let limit = connection.verdict.limit;
    let worth = change::worth_trying(
        &change::Seen {
            limit,
            goodput: first.goodput,
            rtt_s: connection.facts.mean_rtt_s,
            flight: connection.facts.flight_bytes,
            own: if reverse {
                ""
            } else {
                &connection.congestion_control
            },
            both_ends: lowest == Layer::Tcp,
        },
        &controls(),
    );
    let mut candidates: Vec<Candidate> = layers[1..].iter().map(|&layer| Candidate::layer(layer)).collect();
    candidates.extend(
        spec.marks
            .iter()
            .copied()
            .map(Change::Mark)
            .map(Candidate::change),
    );
    let asked = candidates.len();
    candidates.extend(worth.into_iter().map(Candidate::change));
    prune(&mut bench, &mut candidates, asked);
    let Base {
        rates: base,
        connections,
    } = rounds(&mut bench, lowest, &layers, &mut candidates, reverse);
    // Each test of the rounds tells what limits as well as the first one does.
    let mut connection = revised::most(connection, connections);
    if base.is_empty() && !candidates.is_empty() {
        bench.notes.push(english_word!("path-nothing-left").to_owned());
    }
    // The first test was of another length where the round trip asked for longer ones: it counts where it is all there is.
    let goodputs = if base.is_empty() {
        vec![first.goodput]
    } else {
        base.clone()
    };
    let saved = saved(&candidates, &base, &layers);
    let mut trials = Vec::new();
    let mut carried = vec![(lowest, base)];
    let mut tested: Vec<(Layer, Test)> = Vec::new();
    for candidate in candidates {
        match candidate.what {
            What::Layer(layer) => {
                carried.push((layer, candidate.rates));
                tested.extend(candidate.first.map(|first| (layer, first)));
            }
            What::Change(change) => {
                trials.extend(compare(&carried[0].1, &candidate.rates).map(|comparison| Trial {
                    change,
                    comparison,
                    limit: candidate.first.as_ref().and_then(Test::limit),
                    sent_again: candidate.first.as_ref().and_then(Test::sent_again),
                }));
            }
        }
    }
    revised::by(&trials, connection.facts.sent_again(), &mut connection.verdict);
    let limit = connection.verdict.limit;
    let answers: Vec<LayerAnswer> = waterfall::answers(&carried, &connection, tested);
    let waterfall = waterfall::waterfall(&answers);
    let mut notes = std::mem::take(&mut bench.notes);
    notes.extend(services.left());
    if services.address.is_loopback() {
        notes.push(english!("path-no-network", address = services.address));
    }
    Ok(Diagnosis {
        schema: SCHEMA,
        server: spec.targets.join(" "),
        layer: lowest,
        direction: if reverse { "in" } else { "out" },
        test_s: bench.span.seconds(),
        support: answer::support(limit, &trials),
        path_mtu: PathMtu {
            tcp: (first.mtu > 0).then_some(first.mtu),
            ..announced
        },
        base: Way {
            goodput: Summary::of_rates(&goodputs).unwrap_or_default(),
            connection,
        },
        other,
        layers: answers,
        waterfall,
        trials,
        saved,
        cost: Cost {
            seconds: begun.elapsed().as_secs_f64(),
            bytes: bench.moved,
            tests: bench.made,
            cap: bench.cap.map(ByteCount::bytes),
        },
        notes,
    })
}

/// The largest packet that gets through, by probes; TCP's own view comes with the first test.
fn path_mtu(services: &Services<'_>, context: &Context) -> PathMtu {
    let config = MtuConfig {
        wait: Duration::from_millis(400),
        tries: 2,
        ..MtuConfig::new(services.address)
    };
    let context = context.clone().within(MTU_TIME);
    match probe::path_mtu(&config, &context) {
        Ok(report) => PathMtu {
            tcp: None,
            probed: report.path_mtu,
            black_hole: report.black_hole,
        },
        Err(_) => PathMtu::default(),
    }
}

/// Leaves out what there is no time for twice; what was asked for stays.
fn prune(bench: &mut Bench<'_>, candidates: &mut Vec<Candidate>, asked: usize) {
    let each = (bench.span + bench.beside).seconds();
    let fit = ((bench.left().seconds() + each) / (each * f64::from(ROUNDS))) as usize;
    // As it is takes part in every round.
    let fit = fit.saturating_sub(1).max(asked);
    if candidates.len() > fit {
        let out: Vec<String> = candidates.drain(fit..).map(|one| one.words()).collect();
        bench
            .notes
            .push(english!("path-no-time-for", what = out.join(", ")));
    }
}

/// What is tested beside as it is.
enum What {
    Layer(Layer),
    Change(Change),
}

struct Candidate {
    what: What,
    rates: Vec<f64>,
    bytes: u64,
    first: Option<Test>,
    given_up: bool,
}

impl Candidate {
    const fn new(what: What) -> Self {
        Self {
            what,
            rates: Vec::new(),
            bytes: 0,
            first: None,
            given_up: false,
        }
    }

    const fn layer(layer: Layer) -> Self {
        Self::new(What::Layer(layer))
    }

    const fn change(change: Change) -> Self {
        Self::new(What::Change(change))
    }

    /// Whether it says how the rate goes on, and not whether the verdict holds.
    const fn is_further(&self) -> bool {
        matches!(&self.what, What::Change(change) if change.is_further())
    }

    fn words(&self) -> String {
        match &self.what {
            What::Layer(layer) => layer.words().to_owned(),
            What::Change(change) => change.words(),
        }
    }
}

/// As it is, once in each round.
#[derive(Default)]
struct Base {
    rates: Vec<f64>,
    connections: Vec<ConnectionAnswer>,
}

/// Lets all candidates take turns with as it is, until all that can tell has told, or the time is over. What tells whether the
/// verdict holds comes first; how the rate goes with more connections takes the time that is left.
fn rounds(
    bench: &mut Bench<'_>,
    lowest: Layer,
    layers: &[Layer],
    candidates: &mut [Candidate],
    reverse: bool,
) -> Base {
    let mut base = Base::default();
    for further in [false, true] {
        let turns: Vec<usize> = (0..candidates.len())
            .filter(|&index| candidates[index].is_further() == further)
            .collect();
        if !turns.is_empty() || base.rates.is_empty() {
            take_turns(bench, lowest, layers, candidates, &turns, reverse, &mut base);
        }
    }
    let left_out: Vec<String> = (candidates.iter())
        .filter(|one| one.rates.is_empty() && !one.given_up)
        .map(Candidate::words)
        .collect();
    if !left_out.is_empty() {
        bench
            .notes
            .push(english!("path-no-time-for", what = left_out.join(", ")));
    }
    base
}

/// The rounds of the candidates `turns`.
fn take_turns(
    bench: &mut Bench<'_>,
    lowest: Layer,
    layers: &[Layer],
    candidates: &mut [Candidate],
    turns: &[usize],
    reverse: bool,
    base: &mut Base,
) {
    for round in 0..MOST_ROUNDS {
        let open: Vec<usize> = (open(&base.rates, layers, candidates).into_iter())
            .filter(|index| turns.contains(index))
            .collect();
        if round >= ROUNDS && open.is_empty() {
            return;
        }
        match bench.try_run(lowest, None, reverse) {
            Some(test) => {
                base.rates.push(test.goodput);
                base.connections.extend(test.connection);
            }
            None => return,
        }
        for &index in turns {
            let candidate = &mut candidates[index];
            if candidate.given_up || (round >= ROUNDS && !open.contains(&index)) {
                continue;
            }
            if bench.is_over() {
                return;
            }
            let test = match &candidate.what {
                What::Layer(layer) => bench.try_run(*layer, None, reverse),
                What::Change(change) => bench.try_run(lowest, Some(change), reverse),
            };
            match test {
                Some(test) => {
                    candidate.rates.push(test.goodput);
                    candidate.bytes += test.bytes;
                    candidate.first.get_or_insert(test);
                }
                None => candidate.given_up = true,
            }
        }
    }
}

/// The candidates that more rounds may tell more of, and the layers that those are held against.
fn open(base: &[f64], layers: &[Layer], candidates: &[Candidate]) -> Vec<usize> {
    let place = |layer: Layer| {
        candidates
            .iter()
            .position(|one| matches!(one.what, What::Layer(own) if own == layer))
    };
    let mut open = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let below = match candidate.what {
            What::Layer(layer) => layer.below(layers).and_then(place),
            What::Change(_) => None,
        };
        let against = below.map_or(base, |below| &candidates[below].rates);
        let least = match candidate.what {
            What::Layer(_) => WORTH_LOSS,
            What::Change(_) => CLEAR_GAIN,
        };
        if !candidate.given_up && !is_decided(against, &candidate.rates, least) {
            open.push(index);
            open.extend(below);
        }
    }
    open.sort_unstable();
    open.dedup();
    open
}

/// The tests of the rounds that were not made because what they would tell was decided.
fn saved(candidates: &[Candidate], base: &[f64], layers: &[Layer]) -> Saved {
    let open = open(base, layers, candidates);
    let mut saved = Saved::default();
    for (index, candidate) in candidates.iter().enumerate() {
        let count = candidate.rates.len();
        let left = (MOST_ROUNDS as usize).saturating_sub(count);
        if count >= ROUNDS as usize && !candidate.given_up && !open.contains(&index) {
            saved.tests += u32::try_from(left).unwrap_or(0);
            saved.bytes += candidate.bytes / count as u64 * left as u64;
        }
    }
    saved
}

/// How long a test must be over such a round trip, so that its start is a small part.
fn span_for(rtt_s: f64) -> Duration {
    let seconds = (rtt_s * ROUND_TRIPS).clamp(LEAST_S, MOST_S).ceil();
    Duration::from_secs(seconds as u64)
}

/// Congestion controls that this user may choose.
fn controls() -> Vec<String> {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// The first test, before anything is known of the path.
const FIRST: Duration = Duration::from_secs(3);
/// A test lasts so many round trips at least,
const ROUND_TRIPS: f64 = 40.0;
/// and so many seconds,
const LEAST_S: f64 = 2.0;
/// but no more than these.
const MOST_S: f64 = 6.0;
/// For searching the path MTU.
const MTU_TIME: Duration = Duration::from_secs(4);
/// Rounds that every candidate gets.
const ROUNDS: u32 = 2;
/// Rounds at most, where chance may still have made what was seen.
const MOST_ROUNDS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_below_an_open_one_goes_on_with_it() {
        let layer = |layer, rates: &[f64]| Candidate {
            rates: rates.to_vec(),
            ..Candidate::layer(layer)
        };
        let there = [Layer::Tcp, Layer::Pipe, Layer::Sftp];
        let base = [9e6, 9.1e6];
        // The pipe is clearly slower than TCP; sftp against the pipe is not clear.
        let candidates = [layer(Layer::Pipe, &[5e6, 5.1e6]), layer(Layer::Sftp, &[2e6, 5e6])];
        assert_eq!(open(&base, &there, &candidates), [0, 1]);
        let candidates = [
            layer(Layer::Pipe, &[5e6, 5.1e6]),
            layer(Layer::Sftp, &[5e6, 5.05e6]),
        ];
        assert_eq!(open(&base, &there, &candidates), [0; 0]);
        assert_eq!(saved(&candidates, &base, &there).tests, 4);
        // What the time ended is not saved.
        let candidates = [layer(Layer::Pipe, &[5e6, 5.1e6]), layer(Layer::Sftp, &[2e6, 5e6])];
        assert_eq!(saved(&candidates, &base, &there).tests, 0);
    }
}

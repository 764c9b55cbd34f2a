//! The tests themselves.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use slowpath_diagnose::stats::{Comparison, Outcome, Summary};
use slowpath_packet::mark::Dscp;
use slowpath_units::Duration;
use slowpath_verdict::Limit;
use slowpath_workload::Context;
use slowpath_workload::iperf3::{self, ClientConfig, Direction, Params, Report, StreamReport};

use super::answer::{self, Cost, Diagnosis, SCHEMA, Trial, Way};
use super::change::{self, Change};
use crate::measure::address::Address;
use crate::measure::iperf3::{FORM, PORT};
use crate::measure::{Guard, MeasureError};
use crate::why::answer::ConnectionAnswer;
use crate::why::{self, Peer, Target, WatchSpec};

/// What to find out.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `iperf3://HOST[:PORT]`, port 5201 if absent.
    pub target: String,
    /// Whether the changes are tried with data from the server.
    pub reverse: bool,
    /// Marks to try beside.
    pub marks: Vec<Dscp>,
    /// No test begins that would not be over after so long.
    pub most: Duration,
}

/// What is being done, for a line that updates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Number of the test, from 1.
    pub test: u32,
    /// What is different in it; `None` as it is.
    pub change: Option<Change>,
    /// Whether the server sends.
    pub reverse: bool,
}

/// Tests a path from one end, one change at a time; `tell` hears each test before it begins.
///
/// # Errors
/// [`MeasureError`], where not even the first test could be made; load on an address that is not local is refused without
/// [`Guard::remote`].
pub fn diagnose(spec: &Spec, guard: &Guard, tell: &mut dyn FnMut(&Stage)) -> Result<Diagnosis, MeasureError> {
    let address = Address::parse(&spec.target, FORM)?;
    let server = address.resolve(PORT)?;
    let mut tests = Tests {
        server,
        context: guard.context(),
        begun: Instant::now(),
        most: spec.most,
        span: FIRST,
        made: 0,
        notes: Vec::new(),
        tell,
    };
    let first = tests.run(None, spec.reverse)?;
    let Some(connection) = first.connection else {
        let problem = format!(
            "the test against {server} ran, but its connection could not be watched: is it carried by a proxy or another namespace?"
        );
        return Err(MeasureError::Settings(problem));
    };
    let rtt_s = connection.facts.mean_rtt_s;
    tests.span = span_for(connection.facts.least_rtt_s);
    let other = tests.try_run(None, !spec.reverse).and_then(|test| {
        Some(Way {
            goodput: Summary::of_rates(&[test.goodput])?,
            connection: test.connection?,
        })
    });
    let limit = connection.verdict.limit;
    let own = if spec.reverse {
        ""
    } else {
        &connection.congestion_control
    };
    let mut changes = change::worth_trying(limit, first.goodput, rtt_s, own, &controls());
    changes.extend(spec.marks.iter().copied().map(Change::Mark));
    let (base, trials) = rounds(&mut tests, &changes, spec.reverse);
    if base.is_empty() {
        tests
            .notes
            .push("There was no time or no permission left to try any change.".to_owned());
    }
    // The first test was of another length where the round trip asked for longer ones: it counts where it is all there is.
    let goodputs = if base.is_empty() {
        vec![first.goodput]
    } else {
        base
    };
    let way = Way {
        goodput: Summary::of_rates(&goodputs).unwrap_or_default(),
        connection,
    };
    Ok(Diagnosis {
        schema: SCHEMA,
        server: server.to_string(),
        direction: if spec.reverse { "in" } else { "out" },
        test_s: tests.span.seconds(),
        support: answer::support(limit, &trials),
        base: way,
        other,
        trials,
        cost: Cost {
            seconds: tests.begun.elapsed().as_secs_f64(),
            bytes: tests.context.spent(),
        },
        notes: tests.notes,
    })
}

/// Lets all changes take turns with as it is, until all that can tell has told, or the time is over.
fn rounds(tests: &mut Tests<'_>, changes: &[Change], reverse: bool) -> (Vec<f64>, Vec<Trial>) {
    let mut base: Vec<f64> = Vec::new();
    let mut tried: Vec<(Vec<f64>, Option<Test>)> = changes.iter().map(|_| (Vec::new(), None)).collect();
    let mut given_up: Vec<bool> = vec![false; changes.len()];
    'rounds: for round in 0..MOST_ROUNDS {
        if round >= ROUNDS && tried.iter().all(|(rates, _)| is_decided(&base, rates)) {
            break;
        }
        match tests.try_run(None, reverse) {
            Some(test) => base.push(test.goodput),
            None => break,
        }
        for (index, change) in changes.iter().enumerate() {
            if given_up[index] {
                continue;
            }
            if tests.is_over() {
                break 'rounds;
            }
            match tests.try_run(Some(change), reverse) {
                Some(test) => {
                    tried[index].0.push(test.goodput);
                    tried[index].1.get_or_insert(test);
                }
                None => given_up[index] = true,
            }
        }
    }
    let trials = changes.iter().zip(tried).filter_map(|(change, (rates, first))| {
        Some(Trial {
            change: change.clone(),
            comparison: Comparison::of_rates(&base, &rates)?,
            limit: first.as_ref().and_then(Test::limit),
            sent_again: first.and_then(|test| test.sent_again),
        })
    });
    let trials = trials.collect();
    (base, trials)
}

/// Whether more rounds would tell no more: a difference is shown, or there is none worth speaking of.
fn is_decided(base: &[f64], with: &[f64]) -> bool {
    Comparison::of_rates(base, with)
        .is_none_or(|c| c.outcome != Outcome::NotShown || answer::gives_little(&c))
}

/// What one test showed.
struct Test {
    goodput: f64,
    connection: Option<ConnectionAnswer>,
    sent_again: Option<f64>,
}

impl Test {
    fn limit(&self) -> Option<Limit> {
        self.connection
            .as_ref()
            .map(|connection| connection.verdict.limit)
    }
}

struct Tests<'a> {
    server: SocketAddr,
    context: Context,
    begun: Instant,
    most: Duration,
    span: Duration,
    made: u32,
    notes: Vec<String>,
    tell: &'a mut dyn FnMut(&Stage),
}

impl Tests<'_> {
    fn is_over(&self) -> bool {
        let spent = Duration::from(self.begun.elapsed());
        spent + self.span > self.most || self.context.check().is_err()
    }

    /// One more test, if there is time; one that fails leaves a note.
    fn try_run(&mut self, change: Option<&Change>, reverse: bool) -> Option<Test> {
        if self.is_over() {
            return None;
        }
        match self.run(change, reverse) {
            Ok(test) => Some(test),
            Err(error) => {
                let what = change.map_or_else(|| way(reverse).to_owned(), Change::words);
                self.notes.push(format!("Not tried, {what}: {error}"));
                None
            }
        }
    }

    fn run(&mut self, change: Option<&Change>, reverse: bool) -> Result<Test, MeasureError> {
        self.made += 1;
        (self.tell)(&Stage {
            test: self.made,
            change: change.cloned(),
            reverse,
        });
        let mut params = Params {
            direction: if reverse {
                Direction::Reverse
            } else {
                Direction::Forward
            },
            duration: self.span,
            ..Params::default()
        };
        match change {
            None => {}
            Some(Change::Streams(count)) => params.parallel = *count,
            Some(Change::CongestionControl(name)) => params.congestion_control = Some(name.clone()),
            Some(Change::Window(bytes)) => params.window = Some(*bytes),
            Some(Change::Pacing(rate)) => params.fq_rate = Some(*rate),
            Some(Change::Mark(mark)) => params.tos = mark.value() << 2,
        }
        let config = ClientConfig {
            params,
            ..ClientConfig::tcp(self.server, self.span)
        };
        let (report, connection) = self.watched(&config, reverse);
        let report = report.map_err(|error| MeasureError::tool("iperf3", &self.server, error))?;
        if let (Some(Change::CongestionControl(name)), Some(own), false) = (change, &connection, reverse)
            && own.congestion_control != *name
        {
            let kept = &own.congestion_control;
            return Err(MeasureError::Settings(format!(
                "the kernel kept {kept}: the route to the server locks it (ip route show)"
            )));
        }
        Ok(Test {
            goodput: report.delivered_bit_per_s(!reverse) / 8.0,
            sent_again: sent_again(&report, connection.as_ref()),
            connection,
        })
    }

    /// Runs a test and watches its largest connection.
    fn watched(
        &self,
        config: &ClientConfig,
        reverse: bool,
    ) -> (Result<Report, iperf3::IperfError>, Option<ConnectionAnswer>) {
        let spec = WatchSpec {
            target: Target::Peer(Peer {
                text: self.server.to_string(),
                addresses: vec![self.server.ip()],
                port: Some(self.server.port()),
            }),
            duration: None,
            output: std::process::Stdio::null,
            trial: None,
        };
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watch = scope.spawn(|| why::watch(&spec, &stop, &mut |_| {}));
            let report = iperf3::run(config, &self.context);
            stop.store(true, Ordering::Relaxed);
            let outcome = watch.join().ok().and_then(Result::ok);
            let direction = if reverse { "in" } else { "out" };
            let connection = outcome.and_then(|outcome| {
                let answer = why::answer(&spec.target, &outcome);
                let mut moved = answer.connections.into_iter();
                moved.find(|connection| connection.direction == direction)
            });
            (report, connection)
        })
    }
}

/// Share of the segments that this end sent again.
fn sent_again(report: &Report, connection: Option<&ConnectionAnswer>) -> Option<f64> {
    let again: u64 = report
        .streams
        .iter()
        .filter(|stream| stream.sends)
        .map(StreamReport::retransmits)
        .sum::<Option<u64>>()?;
    let connection = connection.filter(|connection| connection.direction == "out")?;
    // Of a test with several connections one was looked at: its share stands for all.
    let (sent, own) = connection.facts.segments;
    (sent > 0).then(|| if report.params.parallel > 1 { own as f64 } else { again as f64 } / sent as f64)
}

const fn way(reverse: bool) -> &'static str {
    if reverse {
        "data from the server"
    } else {
        "data to the server"
    }
}

/// How long a test must be over such a round trip, so that its start is a small part.
fn span_for(rtt_s: f64) -> Duration {
    let seconds = (rtt_s * ROUND_TRIPS).clamp(LEAST_S, MOST_S).ceil();
    Duration::from_secs(seconds as u64)
}

/// Congestion controls that this user may choose.
fn controls() -> Vec<String> {
    let list = |name: &str| {
        std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}"))
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    list("tcp_allowed_congestion_control")
}

/// The first test, before anything is known of the path.
const FIRST: Duration = Duration::from_secs(3);
/// A test lasts so many round trips at least,
const ROUND_TRIPS: f64 = 40.0;
/// and so many seconds,
const LEAST_S: f64 = 2.0;
/// but no more than these.
const MOST_S: f64 = 6.0;
/// Rounds that every change gets.
const ROUNDS: u32 = 2;
/// Rounds at most, where chance may still have made what was seen.
const MOST_ROUNDS: u32 = 4;

//! Watches unattended: follows transfers as they come and go, and tells of those that are slower than they usually are.
//!
//! Connections of one program with one service belong to one job. A run of a job begins with its first data and ends when
//! nothing has moved for ten seconds. What is kept of a connection is bounded, however long it lives.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use slowpath_record::RunRecord;
use slowpath_sys::clock;
use slowpath_sys::sock_diag::{Destroyed, SockDiag, TcpSocket};
use slowpath_verdict::Judged;

use super::answer::{Answer, answer};
use super::baseline::{Baseline, Baselines, Expected};
use super::busiest::owners;
use super::error::WhyError;
use super::record::record;
use super::target::Target;
use super::watch::{Outcome, Watched};

/// What to attend to.
#[derive(Debug, Clone)]
pub struct AttendSpec {
    /// Which transfers; `None` for all of this machine that move more than a little.
    pub target: Option<Target>,
    /// How long; `None` until somebody stops it.
    pub duration: Option<Duration>,
    /// Nanoseconds without data after which a run is over; [`QUIET`] unless a test is in a hurry.
    pub quiet: u64,
}

/// What there is to tell.
#[derive(Debug)]
pub enum Event {
    /// A job is slower than it usually is, and still under way.
    Slow(Told),
    /// A run is over.
    Over(Box<Over>),
}

/// One run of a job in figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// The job: `scp to 192.0.2.7:22`.
    pub job: String,
    /// Payload bytes per second of this run so far.
    pub byte_per_s: f64,
    /// Bytes so far.
    pub bytes: u64,
    /// Seconds so far.
    pub seconds: f64,
    /// What was to be expected, where enough earlier runs are known.
    pub expected: Option<Expected>,
    /// What limits it, in a sentence.
    pub limit: String,
}

/// A run that is over.
#[derive(Debug)]
pub struct Over {
    /// In figures.
    pub told: Told,
    /// Whether it was slower than it usually is.
    pub slow: bool,
    /// The whole of what was found.
    pub answer: Answer,
    /// As a record of a run.
    pub record: RunRecord,
    /// Its verdict and ledger.
    pub judged: Option<Judged>,
}

/// Attends until `stop` is set; `tell` gets what there is to tell, and the baselines to keep after each run.
///
/// # Errors
/// [`WhyError::Diagnostics`].
pub fn attend(
    spec: &AttendSpec,
    baselines: &mut Baselines,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Event, &Baselines),
) -> Result<(), WhyError> {
    let mut attendant = Attendant {
        spec,
        diag: SockDiag::open().map_err(WhyError::Diagnostics)?,
        destroyed: Destroyed::open().ok(),
        begin: clock::monotonic(),
        seen: HashMap::new(),
        owners: HashMap::new(),
        listening: Vec::new(),
        listed: 0,
        runs: HashMap::new(),
        is_first: true,
    };
    let mut next_discovery = 0;
    loop {
        let at = attendant.now();
        if at >= next_discovery {
            attendant.discover(at)?;
            // Listing thousands of sockets may take long: at most a twentieth of the time.
            next_discovery = at + (attendant.now() - at).saturating_mul(20).max(DISCOVERY);
        }
        attendant.look(at);
        attendant.judge(at, baselines, tell, false);
        let over = spec
            .duration
            .is_some_and(|most| u128::from(at) >= most.as_nanos());
        if over || stop.load(Ordering::Relaxed) {
            attendant.judge(at, baselines, tell, true);
            return Ok(());
        }
        clock::sleep_until(attendant.begin + at + LOOK);
    }
}

struct Attendant<'a> {
    spec: &'a AttendSpec,
    diag: SockDiag,
    destroyed: Option<Destroyed>,
    begin: u64,
    seen: HashMap<u64, u64>,
    owners: HashMap<u32, (u32, String)>,
    listening: Vec<u16>,
    /// When the sockets were listed last.
    listed: u64,
    runs: HashMap<String, Run>,
    is_first: bool,
}

/// One run of a job, from its first data on.
struct Run {
    connections: Vec<Watched>,
    begin: u64,
    moved: u64,
    last_moved: u64,
    next_judged: u64,
    told: bool,
}

impl Attendant<'_> {
    fn now(&self) -> u64 {
        clock::monotonic() - self.begin
    }

    /// Finds connections that have begun to move data.
    fn discover(&mut self, at: u64) -> Result<(), WhyError> {
        let sockets = self.diag.tcp_sockets().map_err(WhyError::Diagnostics)?;
        self.listening = sockets
            .iter()
            .filter(|socket| socket.state == LISTEN)
            .map(|socket| socket.local.port())
            .collect();
        let first = std::mem::replace(&mut self.is_first, false);
        let listed = std::mem::replace(&mut self.listed, at);
        let mut seen = HashMap::new();
        let mut new = Vec::new();
        for socket in sockets {
            let Some(info) = socket.info else { continue };
            if socket.state == LISTEN || !self.is_meant(&socket) {
                continue;
            }
            let bytes = info.bytes_acked + info.bytes_received;
            // Also of those that are followed: once their run is over they are no new ones.
            if self.is_followed(socket.cookie) {
                seen.insert(socket.cookie, bytes);
                continue;
            }
            let before = self.seen.get(&socket.cookie).copied();
            seen.insert(socket.cookie, bytes);
            // One that was there before the first look has a past that is none of this run's.
            let known = before.unwrap_or(if first { bytes } else { 0 });
            if bytes.saturating_sub(known) >= LEAST_GROWTH {
                // One that nobody saw at the last listing was made since.
                let after = (before.is_none() && !first).then_some(listed);
                new.push((socket, after));
            }
        }
        self.seen = seen;
        for (socket, after) in new {
            if self.runs.values().map(|run| run.connections.len()).sum::<usize>() >= FOLLOWED {
                break;
            }
            self.follow(at, after, socket);
        }
        Ok(())
    }

    fn is_followed(&self, cookie: u64) -> bool {
        self.runs
            .values()
            .any(|run| run.connections.iter().any(|one| one.cookie == cookie))
    }

    fn is_meant(&mut self, socket: &TcpSocket) -> bool {
        match &self.spec.target {
            None | Some(Target::Command(_)) => true,
            Some(Target::Port(port)) => socket.local.port() == *port || socket.remote.port() == *port,
            Some(Target::Peer(peer)) => peer.matches(socket.remote),
            Some(Target::Process(pid)) => {
                let pid = *pid;
                self.owner(socket.inode).is_some_and(|(owner, _)| owner == pid)
            }
        }
    }

    /// The process that holds a socket, where this user may know it.
    fn owner(&mut self, inode: u32) -> Option<(u32, String)> {
        if inode != 0 && !self.owners.contains_key(&inode) {
            self.owners = owners();
            // Remembered also where nobody is known, so that it is not asked for at each look.
            self.owners.entry(inode).or_insert((0, String::new()));
        }
        self.owners.get(&inode).filter(|(pid, _)| *pid != 0).cloned()
    }

    fn follow(&mut self, at: u64, after: Option<u64>, socket: TcpSocket) {
        let program = self.owner(socket.inode).map(|(_, name)| name);
        let job = name(program.as_deref(), &socket, &self.listening);
        let Some(watched) = Watched::found(at, after, socket, program) else {
            return;
        };
        let run = self.runs.entry(job).or_insert_with(|| Run {
            connections: Vec::new(),
            begin: watched.track.first().at,
            moved: 0,
            last_moved: at,
            next_judged: at + FIRST_JUDGED,
            told: false,
        });
        run.connections.push(watched);
    }

    fn look(&mut self, at: u64) {
        let ended = self
            .destroyed
            .as_mut()
            .and_then(|destroyed| destroyed.drain().ok())
            .unwrap_or_default();
        for run in self.runs.values_mut() {
            for one in run.connections.iter_mut().filter(|one| !one.ended) {
                match ended.iter().find(|socket| socket.cookie == one.cookie) {
                    Some(socket) => one.end(at, socket),
                    None => one.look(&mut self.diag, self.begin),
                }
            }
            let moved: u64 = run
                .connections
                .iter()
                .map(|one| one.track.sent() + one.track.received())
                .sum();
            if moved != run.moved {
                (run.moved, run.last_moved) = (moved, at);
            }
        }
    }

    /// Tells of runs that are over or slow; with `all`, everything is over.
    fn judge(
        &mut self,
        at: u64,
        baselines: &mut Baselines,
        tell: &mut dyn FnMut(Event, &Baselines),
        all: bool,
    ) {
        let quiet = self.spec.quiet;
        let over: Vec<String> = self
            .runs
            .iter()
            .filter(|(_, run)| all || at.saturating_sub(run.last_moved) >= quiet)
            .map(|(job, _)| job.clone())
            .collect();
        for job in over {
            let Some(run) = self.runs.remove(&job) else {
                continue;
            };
            let expected = baselines.jobs.get(&job).and_then(Baseline::expected);
            let Some(over) = run.over(&job, expected) else {
                continue;
            };
            // A run that was cut off by the end of the watch, or hardly there, says nothing of the job.
            if !all && over.told.bytes >= LEAST_BYTES && over.told.seconds >= LEAST_S {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                baselines.add(&job, over.told.byte_per_s, now.as_secs());
            }
            tell(Event::Over(Box::new(over)), baselines);
        }
        for (job, run) in &mut self.runs {
            if at < run.next_judged || run.told {
                continue;
            }
            run.next_judged = at + JUDGED;
            let Some(expected) = baselines.jobs.get(job).and_then(Baseline::expected) else {
                continue;
            };
            let seconds = (at - run.begin) as f64 / 1e9;
            if (run.moved as f64 / seconds) < expected.slow_below {
                run.told = true;
                let (answer, _) = run.answer(job);
                tell(
                    Event::Slow(run.figures(job, seconds, Some(expected), &answer)),
                    baselines,
                );
            }
        }
    }
}

impl Run {
    fn answer(&self, job: &str) -> (Answer, RunRecord) {
        let mut connections = self.connections.clone();
        connections.sort_by_key(|one| std::cmp::Reverse(one.track.sent() + one.track.received()));
        let outcome = Outcome::of_connections(connections, (self.last_moved - self.begin) as f64 / 1e9);
        // The target only words remarks, of which a run with data has none.
        let answer = answer(&Target::Port(0), &outcome);
        let record = record(job, &outcome, &answer);
        (answer, record)
    }

    fn figures(&self, job: &str, seconds: f64, expected: Option<Expected>, answer: &Answer) -> Told {
        Told {
            job: job.to_owned(),
            byte_per_s: self.moved as f64 / seconds.max(1e-3),
            bytes: self.moved,
            seconds,
            expected,
            limit: answer
                .main_connection()
                .map_or_else(String::new, |main| main.verdict.sentence.clone()),
        }
    }

    /// What the run came to; `None` for one that moved nothing.
    fn over(&self, job: &str, expected: Option<Expected>) -> Option<Over> {
        if self.moved == 0 || self.last_moved <= self.begin {
            return None;
        }
        let (answer, record) = self.answer(job);
        let seconds = (self.last_moved - self.begin) as f64 / 1e9;
        let told = self.figures(job, seconds, expected, &answer);
        let large = told.bytes >= LEAST_BYTES && told.seconds >= LEAST_S;
        Some(Over {
            slow: large && expected.is_some_and(|expected| told.byte_per_s < expected.slow_below),
            judged: answer.judged(),
            told,
            answer,
            record,
        })
    }
}

/// The job's name: the program, the way of the data, and the service's address.
fn name(program: Option<&str>, socket: &TcpSocket, listening: &[u16]) -> String {
    let incoming = socket
        .info
        .is_some_and(|info| info.bytes_received > info.bytes_acked);
    let way = if incoming { "from" } else { "to" };
    // At a server here the other end's port is another one each time.
    let peer: SocketAddr = socket.remote;
    let service = if listening.contains(&socket.local.port()) {
        format!("{} at port {}", peer.ip(), socket.local.port())
    } else {
        peer.to_string()
    };
    match program {
        Some(program) => format!("{program} {way} {service}"),
        None => format!("{way} {service}"),
    }
}

/// A run is over when nothing has moved for this long, nanoseconds.
pub const QUIET: u64 = 10_000_000_000;
/// Between two looks at what is followed, nanoseconds.
const LOOK: u64 = 50_000_000;
/// Between two looks for new connections.
const DISCOVERY: u64 = 250_000_000;
/// Bytes between two discoveries that make a connection worth following.
const LEAST_GROWTH: u64 = 12_500;
/// Most connections followed at once.
const FOLLOWED: usize = 64;
/// A run is first judged after so many nanoseconds, and then again after so many.
const FIRST_JUDGED: u64 = 20_000_000_000;
const JUDGED: u64 = 10_000_000_000;
/// A run of fewer bytes or seconds says nothing of its job.
const LEAST_BYTES: u64 = 1_000_000;
const LEAST_S: f64 = 2.0;
/// TCP_LISTEN of `include/net/tcp_states.h`.
const LISTEN: u8 = 10;

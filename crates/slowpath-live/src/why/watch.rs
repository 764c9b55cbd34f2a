//! The watch itself: finds the connections of a target and looks at them until told to stop.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use slowpath_sys::clock;
use slowpath_sys::process_table;
use slowpath_sys::protocol_counters::{Datagrams, ProtocolCounters};
use slowpath_sys::sock_diag::{Destroyed, SockDiag, TcpSocket};
use slowpath_words::english_word;

use super::again::Part;
use super::again::part::{PartOver, Shortened};
use super::error::WhyError;
use super::host::{HostCounters, HostDrops};
use super::job::{JobTrack, NetworkShares};
use super::judge::LEAST_BYTES;
use super::packets::{CaptureSpec, Captured, Packets};
use super::programs::{Programs, job_sample, programs};
use super::sample::ConnectionSample;
use super::target::Target;
use super::track::{State, Track, WaitsFor, is_receiving, is_unread, waits_for};
use super::trial::course::{Course, Seen};
use super::trial::turns::LOOK;
use super::trial::{Trial, TrialSpec};

/// What to watch, and how long.
#[derive(Debug, Clone)]
pub struct WatchSpec {
    /// Which transfers.
    pub target: Target,
    /// How long at most; `None` until the program ends or somebody stops it.
    pub duration: Option<Duration>,
    /// Where the standard output of a program that is started goes.
    pub output: fn() -> Stdio,
    /// What to try on the connections of a program that is started; other targets are never changed.
    pub trial: Option<TrialSpec>,
    /// How much of a program that is started is run; `None`: all of it, as it is.
    pub part: Option<Part>,
}

/// One connection that was watched.
#[derive(Debug, Clone)]
pub struct Watched {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// The program here, where it may be known.
    pub program: Option<String>,
    /// Congestion control of this end.
    pub congestion_control: String,
    /// Kernel-wide number of the socket.
    pub cookie: u64,
    /// What it did.
    pub track: Track,
    /// Whether it was there from its first byte.
    pub from_birth: bool,
    /// Whether it has ended.
    pub ended: bool,
    /// Whether the kernel told of its end, with its last counts.
    pub end_told: bool,
    /// Whether it was no longer there when it was looked at.
    gone: bool,
    socket: TcpSocket,
}

impl Watched {
    /// Follows a connection from its first look, at `at` nanoseconds; `None` for a socket without a connection.
    pub fn new(at: u64, socket: TcpSocket, program: Option<String>) -> Option<Self> {
        let sample = ConnectionSample::new(at, &socket)?;
        let from_birth = sample.info.bytes_acked <= 1 && sample.info.bytes_received == 0;
        Some(Self {
            local: socket.local,
            remote: socket.remote,
            program,
            congestion_control: socket.congestion_control.clone(),
            cookie: socket.cookie,
            track: Track::new(sample).under(&socket.congestion_control),
            from_birth,
            ended: false,
            end_told: false,
            gone: false,
            socket,
        })
    }

    /// The same, of one that was made after `after` where that is known: what it moved before it was found is counted, too.
    pub(super) fn found(
        at: u64,
        after: Option<u64>,
        socket: TcpSocket,
        program: Option<String>,
    ) -> Option<Self> {
        let mut watched = Self::new(at, socket, program)?;
        let found = watched.track.first().clone();
        let birth = after
            .filter(|_| !watched.from_birth)
            .and_then(|after| found.at_birth(after));
        if let Some(birth) = birth {
            watched.track = Track::new(birth).under(&watched.congestion_control);
            watched.track.observe(found);
            watched.from_birth = true;
        }
        Some(watched)
    }

    /// Whether more may have moved than what is known: its end was not seen.
    pub const fn may_have_moved_more(&self) -> bool {
        !self.end_told && (self.gone || self.ended && self.track.last().send_queue > 0)
    }

    /// Whether any payload moved while it was watched.
    pub const fn has_moved(&self) -> bool {
        moved(self) > 0
    }

    /// Looks at it again; `begin` is when the watch began, on the monotonic clock.
    pub fn look(&mut self, diag: &mut SockDiag, begin: u64) {
        match diag.again(&self.socket) {
            Ok(socket) if socket.cookie == self.cookie => {
                let at = clock::monotonic() - begin;
                if let Some(sample) = ConnectionSample::new(at, &socket) {
                    self.track.observe(sample);
                }
                self.socket.state = socket.state;
                // A program, or the route, may change it while or after the connection is made.
                if socket.congestion_control != self.congestion_control
                    && !socket.congestion_control.is_empty()
                {
                    self.congestion_control.clone_from(&socket.congestion_control);
                }
            }
            _ => (self.ended, self.gone) = (true, true),
        }
    }

    /// Takes the last state that the kernel told of it.
    pub fn end(&mut self, at: u64, socket: &TcpSocket) {
        if let Some(mut sample) = ConnectionSample::new(at, socket)
            && sample.info.bytes_acked >= self.track.last().info.bytes_acked
        {
            // What was written and what memory it took is gone by now.
            sample.memory = self.track.last().memory;
            self.track.observe(sample);
        }
        (self.ended, self.end_told) = (true, true);
    }
}

/// What a watch leaves behind.
#[derive(Debug)]
pub struct Outcome {
    /// The connections that moved data, the largest first.
    pub connections: Vec<Watched>,
    /// The job, where its programs could be seen.
    pub job: Option<JobTrack>,
    /// Seconds from the first to the last look.
    pub seconds: f64,
    /// How the started program ended.
    pub status: Option<ExitStatus>,
    /// Connections of the target that were looked at but not followed, because there were too many.
    pub not_followed: usize,
    /// Connections that began and ended between two looks, and their bytes.
    pub missed: (usize, u64),
    /// Connections that ended and are left out because there were many larger ones, and their bytes.
    pub small: (usize, u64),
    /// Peers of UDP sockets of the target that moved data or could have: QUIC, perhaps.
    pub udp_peers: Vec<SocketAddr>,
    /// Whether the target's programs have UDP sockets that are bound to no peer.
    pub udp_without_peer: bool,
    /// Datagrams of all programs of the network namespace meanwhile; none where they are not known.
    pub datagrams: Option<Datagrams>,
    /// Times at which the kernel was asked.
    pub looks: u64,
    /// Seconds of processor time that the watch took.
    pub own_processor_s: f64,
    /// What was tried.
    pub trials: Vec<Trial>,
    /// What this machine itself dropped meanwhile, by device.
    pub host: Vec<HostDrops>,
    /// The packets, where they were wanted.
    pub captured: Option<Captured>,
    /// What came of a shortened run.
    pub part: Option<PartOver>,
}

impl Outcome {
    /// Connections that were watched without a program, over so many seconds.
    pub fn of_connections(mut connections: Vec<Watched>, seconds: f64) -> Self {
        share_least_rtt(&mut connections);
        Self {
            connections,
            job: None,
            seconds,
            status: None,
            not_followed: 0,
            missed: (0, 0),
            small: (0, 0),
            udp_peers: Vec::new(),
            udp_without_peer: false,
            datagrams: None,
            looks: 0,
            own_processor_s: 0.0,
            trials: Vec::new(),
            host: Vec::new(),
            captured: None,
            part: None,
        }
    }
}

/// The state of the watch at a moment, for a line that updates.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Seconds since the watch began.
    pub at_s: f64,
    /// Payload bytes per second since the last tick, both directions.
    pub rate: f64,
    /// Smoothed round-trip time of the largest connection, seconds.
    pub rtt: f64,
    /// What the largest connection did most since the last tick; `None` while there is none.
    pub state: Option<State>,
    /// Whether it receives.
    pub receiving: bool,
    /// Connections with data.
    pub connections: usize,
}

/// Watches until the program ends, the time is over, or `stop` is set; calls `tick` about four times a second.
///
/// # Errors
/// [`WhyError`].
pub fn watch(spec: &WatchSpec, stop: &AtomicBool, tick: &mut dyn FnMut(&Tick)) -> Result<Outcome, WhyError> {
    watch_capturing(spec, None, stop, tick)
}

/// The same with packets beside the samples, where `capture` says where to.
///
/// # Errors
/// [`WhyError`].
pub fn watch_capturing(
    spec: &WatchSpec,
    capture: Option<&CaptureSpec>,
    stop: &AtomicBool,
    tick: &mut dyn FnMut(&Tick),
) -> Result<Outcome, WhyError> {
    let mut watcher = Watcher::begin(spec, capture)?;
    let status = watcher.run(stop, tick)?;
    watcher.finish(status)
}

struct Watcher<'a> {
    spec: &'a WatchSpec,
    diag: SockDiag,
    destroyed: Option<Destroyed>,
    child: Option<Child>,
    shortened: Option<Shortened>,
    root: Option<u32>,
    begin: u64,
    cpu_begin: u64,
    watched: HashMap<u64, Watched>,
    seen: HashMap<u64, u64>,
    /// Sockets that were there before the watch.
    older: HashSet<u64>,
    /// When programs and their sockets began to be listed last.
    listed: u64,
    programs: Programs,
    not_followed: usize,
    missed: (usize, u64),
    small: (usize, u64),
    /// Ends of connections that were never looked at, and their bytes.
    unseen: Vec<(Ends, u64)>,
    udp_peers: HashSet<SocketAddr>,
    udp_without_peer: bool,
    datagrams: Option<(ProtocolCounters, Datagrams)>,
    packets: Option<Packets>,
    job: JobTrack,
    throttling: Option<PathBuf>,
    looks: u64,
    last_look: u64,
    course: Option<Course>,
    host: Option<HostCounters>,
}

impl<'a> Watcher<'a> {
    fn begin(spec: &'a WatchSpec, capture: Option<&CaptureSpec>) -> Result<Self, WhyError> {
        let root = match spec.target {
            Target::Process(pid) => Some(pid),
            _ => None,
        };
        if let Some(pid) = root {
            process_table::status(pid).map_err(|_| WhyError::NoProcess(process_table::number_here(pid)))?;
        }
        let Opened {
            diag,
            destroyed,
            host,
            packets,
            older,
            datagrams,
        } = open_diagnostics(&spec.target, capture, root)?;
        let (child, shortened) = match &spec.target {
            Target::Command(words) => start(words, spec)?,
            _ => (None, None),
        };
        // In a PID namespace without a /proc of its own, the child's number is not the one that /proc knows it by.
        let root = match &child {
            Some(_) => process_table::own_number().ok(),
            None => root,
        };
        Ok(Self {
            spec,
            diag,
            destroyed,
            throttling: root.and_then(|pid| process_table::throttling_file(pid).ok()),
            root,
            child,
            shortened,
            begin: clock::monotonic(),
            cpu_begin: clock::process_cpu(),
            watched: HashMap::new(),
            seen: HashMap::new(),
            older,
            listed: 0,
            programs: Programs::default(),
            not_followed: 0,
            missed: (0, 0),
            small: (0, 0),
            unseen: Vec::new(),
            udp_peers: HashSet::new(),
            udp_without_peer: false,
            datagrams,
            packets,
            job: JobTrack::default(),
            looks: 0,
            last_look: 0,
            course: spec
                .trial
                .clone()
                .filter(|_| matches!(spec.target, Target::Command(_)))
                .map(Course::new),
            host,
        })
    }

    fn now(&self) -> u64 {
        clock::monotonic() - self.begin
    }

    fn run(
        &mut self,
        stop: &AtomicBool,
        tick: &mut dyn FnMut(&Tick),
    ) -> Result<Option<ExitStatus>, WhyError> {
        let mut next_discovery = 0;
        let mut next_tick = TICK;
        let mut quiet_since = 0;
        let mut bytes = 0;
        let mut ticker = Ticker::default();
        loop {
            let at = self.now();
            if at >= next_discovery {
                let cost = self.discover()?;
                let wanted = if at < 2_000_000_000 {
                    20_000_000
                } else {
                    250_000_000
                };
                // Listing thousands of sockets may take long: at most a twentieth of the time.
                next_discovery = self.now() + cost.saturating_mul(20).max(wanted);
            }
            self.look();
            if let Some(packets) = &mut self.packets {
                packets.take()?;
            }
            self.try_changes(stop);
            let moved: u64 = self.watched.values().map(moved).sum();
            if moved != bytes {
                (bytes, quiet_since) = (moved, at);
            }
            self.shorten(bytes, stop);
            if at >= next_tick {
                tick(&ticker.tick(at, &self.watched));
                next_tick = at + TICK;
            }
            if let Some(child) = &mut self.child {
                if let Some(status) = child.try_wait().map_err(WhyError::Wait)? {
                    self.discover()?;
                    return Ok(Some(status));
                }
            } else if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if self
                .spec
                .duration
                .is_some_and(|most| u128::from(at) >= most.as_nanos())
                && self.child.is_none()
            {
                return Ok(None);
            }
            if self.child.is_none() && self.root.is_some_and(|pid| process_table::status(pid).is_err()) {
                return Ok(None);
            }
            let quiet = at - quiet_since > 1_000_000_000;
            let pause = if quiet { 5 * LOOK } else { LOOK };
            clock::sleep_until(self.begin + self.now() + pause.saturating_sub(self.now() - at));
        }
    }

    /// Finds connections of the target that are not followed yet; gives what that took, nanoseconds.
    fn discover(&mut self) -> Result<u64, WhyError> {
        let start = self.now();
        if let Some(root) = self.root {
            let guardian = self.course.as_ref().and_then(Course::guardian);
            self.programs = programs(root, &self.spec.target, guardian)?;
            // A program may be put into another group than the one in which it began.
            let mut groups = self.programs.list.iter();
            self.throttling = groups.find_map(|program| process_table::throttling_file(program.id).ok());
        }
        let before = std::mem::replace(&mut self.listed, start);
        let sockets = self.diag.tcp_sockets().map_err(WhyError::Diagnostics)?;
        let mut candidates: Vec<(u64, TcpSocket)> = Vec::new();
        let mut seen = HashMap::new();
        for socket in sockets {
            let Some(info) = socket.info else { continue };
            if !self.is_meant(&socket) {
                continue;
            }
            let bytes = info.bytes_acked + info.bytes_received;
            let grown = bytes - self.seen.get(&socket.cookie).copied().unwrap_or(0).min(bytes);
            seen.insert(socket.cookie, bytes);
            if !self.watched.contains_key(&socket.cookie) {
                candidates.push((grown, socket));
            }
        }
        let known = std::mem::replace(&mut self.seen, seen);
        candidates.sort_by_key(|(grown, _)| std::cmp::Reverse(*grown));
        let rested = self.let_go(candidates.iter().filter(|(grown, _)| *grown > 0).count());
        let active = self.watched.values().filter(|watched| !watched.ended).count();
        let room = FOLLOWED.saturating_sub(active);
        self.not_followed = (candidates.len() + rested).saturating_sub(room);
        let at = self.now();
        for (_, socket) in candidates.into_iter().take(room) {
            let is_new = !self.older.contains(&socket.cookie) && !known.contains_key(&socket.cookie);
            self.follow(at, is_new.then_some(before), socket);
        }
        // What agrees on a transfer over UDP may speak TCP: iperf3 does.
        if self.watched.values().map(moved).sum::<u64>() < LEAST_BYTES {
            self.find_udp();
        }
        Ok(self.now() - start)
    }

    /// Makes room for so many connections that move data: those that never did need not be looked at, and of those that have
    /// ended the largest are enough. Gives how many are there and not looked at any more.
    fn let_go(&mut self, wanted: usize) -> usize {
        let active = self.watched.values().filter(|watched| !watched.ended).count();
        let mut surplus = (active + wanted).saturating_sub(FOLLOWED);
        let mut rested = 0;
        self.watched.retain(|_, watched| {
            let resting =
                !watched.ended && surplus > 0 && watched.track.looks() > RESTING && moved(watched) == 0;
            surplus -= usize::from(resting);
            rested += usize::from(resting);
            !resting
        });
        let mut ended: Vec<(u64, u64)> = self
            .watched
            .values()
            .filter(|watched| watched.ended)
            .map(|watched| (moved(watched), watched.cookie))
            .collect();
        if ended.len() <= ENDED {
            return rested;
        }
        ended.sort_unstable();
        for &(bytes, cookie) in &ended[..ended.len() - ENDED / 2] {
            self.watched.remove(&cookie);
            if bytes > 0 {
                self.small = (self.small.0 + 1, self.small.1 + bytes);
            }
        }
        rested
    }

    /// Follows a connection that was found at `at`, and was made after `after` where that is known.
    fn follow(&mut self, at: u64, after: Option<u64>, socket: TcpSocket) {
        if let Some(packets) = &mut self.packets {
            packets.follow(socket.local, socket.remote);
        }
        let program = self.programs.by_inode.get(&socket.inode).cloned();
        // Nor is a connection older than its program, unless the clock of starts went on while the machine slept.
        let started = self.programs.started.get(&socket.inode);
        let started = started.map_or(0, |&started| started.saturating_sub(self.begin));
        let after = after.map(|after| if started < at { after.max(started) } else { after });
        let cookie = socket.cookie;
        self.watched
            .extend(Watched::found(at, after, socket, program).map(|watched| (cookie, watched)));
    }

    fn is_meant(&self, socket: &TcpSocket) -> bool {
        if socket.state == LISTEN {
            return false;
        }
        match &self.spec.target {
            Target::Port(port) => socket.local.port() == *port || socket.remote.port() == *port,
            Target::Peer(peer) => peer.matches(socket.remote),
            Target::Command(_) | Target::Process(_) => {
                socket.inode != 0 && self.programs.by_inode.contains_key(&socket.inode)
            }
        }
    }

    /// QUIC and its like: UDP sockets of the target.
    fn find_udp(&mut self) {
        for socket in self.diag.udp_sockets().unwrap_or_default() {
            if socket.remote.port() == DNS || !self.is_meant(&socket) {
                continue;
            }
            if socket.remote.port() != 0 {
                self.udp_peers.insert(socket.remote);
            } else if matches!(self.spec.target, Target::Command(_) | Target::Process(_)) {
                self.udp_without_peer = true;
            }
        }
    }

    /// Turns what is tried on or off, or restores it when somebody stops the watch.
    fn try_changes(&mut self, stop: &AtomicBool) {
        let Some(course) = &mut self.course else { return };
        if stop.load(Ordering::Relaxed) {
            course.stop(english_word!("why-trial-interrupted"));
            return;
        }
        let seen: Vec<Seen<'_>> = self
            .watched
            .values()
            .map(|one| Seen {
                local: one.local,
                inode: one.socket.inode,
                cookie: one.cookie,
                congestion_control: &one.congestion_control,
                track: &one.track,
                ended: one.ended || one.socket.inode == 0,
            })
            .collect();
        let at = clock::monotonic() - self.begin;
        course.step(at, &seen, self.programs.list.iter().map(|process| process.id));
    }

    /// Ends a run of which only a part is wanted.
    fn shorten(&mut self, bytes: u64, stop: &AtomicBool) {
        let at = self.now();
        let (Some(shortened), Some(child)) = (&mut self.shortened, &mut self.child) else {
            return;
        };
        let living = self
            .watched
            .values()
            .filter(|one| !one.ended && one.socket.inode != 0);
        let main = living
            .max_by_key(|one| moved(one))
            .map(|one| (one.socket.inode, one.cookie));
        let interrupted = stop.load(Ordering::Relaxed);
        shortened.look(at, bytes, child, &self.programs.list, main, interrupted);
    }

    /// Looks at everything that is followed.
    fn look(&mut self) {
        self.looks += 1;
        let at = self.now();
        self.told_of_ends(at);
        for watched in self.watched.values_mut().filter(|watched| !watched.ended) {
            watched.look(&mut self.diag, self.begin);
        }
        if !self.programs.list.is_empty() {
            let sample = job_sample(at, &self.programs, self.throttling.as_ref());
            self.job
                .observe(sample, network_shares(self.watched.values(), self.last_look));
        }
        self.last_look = at;
    }

    /// The last state of connections that have ended, also of such that were never seen alive.
    fn told_of_ends(&mut self, at: u64) {
        let Some(destroyed) = &mut self.destroyed else {
            return;
        };
        for socket in destroyed.drain().unwrap_or_default() {
            if let Some(watched) = self.watched.get_mut(&socket.cookie) {
                watched.end(at, &socket);
            } else if let Some(info) = socket.info
                && !self.older.contains(&socket.cookie)
                && info.bytes_acked + info.bytes_received > 1
            {
                self.unseen(&socket, info.bytes_acked + info.bytes_received);
            }
        }
    }

    /// A connection that began and ended between two looks. Whose it was is not told any more: of a program's, what had the same other
    /// end as one that was seen counts, or the same port here.
    fn unseen(&mut self, socket: &TcpSocket, bytes: u64) {
        let meant = match &self.spec.target {
            Target::Port(port) => socket.local.port() == *port || socket.remote.port() == *port,
            Target::Peer(peer) => peer.matches(socket.remote),
            Target::Command(_) | Target::Process(_) => {
                if self.unseen.len() < UNSEEN {
                    self.unseen.push(((socket.local, socket.remote), bytes));
                }
                false
            }
        };
        if meant {
            self.missed = (self.missed.0 + 1, self.missed.1 + bytes);
        }
    }

    /// Counts those of a program that were not seen, once all that were seen are known.
    fn count_unseen(&mut self) {
        let seen: Vec<Ends> = (self.watched.values())
            .map(|one| (one.local, one.remote))
            .collect();
        let (count, bytes) = beside_seen(&seen, &self.unseen);
        self.missed = (self.missed.0 + count, self.missed.1 + bytes);
    }

    /// The kernel tells of ends a little later than they happen: the last counts of what is gone are worth a moment.
    fn await_ends(&mut self) {
        let end = self.now() + LATE;
        while self.watched.values().any(|one| one.gone && !one.end_told) && self.now() < end {
            clock::sleep_until(clock::monotonic() + LATE / 20);
            self.told_of_ends(self.now());
        }
    }

    fn finish(mut self, status: Option<ExitStatus>) -> Result<Outcome, WhyError> {
        let at = self.now();
        self.told_of_ends(at);
        if status.is_some() {
            // What a program that has ended leaves behind only says goodbye.
            for watched in self.watched.values_mut().filter(|watched| !watched.ended) {
                watched.look(&mut self.diag, self.begin);
                watched.ended |= watched.socket.state != ESTABLISHED;
            }
            self.await_ends();
        }
        self.count_unseen();
        let captured = self.packets.take().map(Packets::finish).transpose()?;
        let trials = self.course.take().map_or_else(Vec::new, |mut course| {
            course.stop(english_word!("why-trial-transfer-ended"));
            course.into_trials()
        });
        let mut connections: Vec<Watched> = self.watched.into_values().collect();
        connections.sort_by_key(|watched| std::cmp::Reverse(moved(watched)));
        share_least_rtt(&mut connections);
        Ok(Outcome {
            connections,
            job: (self.job.total() > 0.0).then_some(self.job),
            seconds: at as f64 / 1e9,
            status,
            not_followed: self.not_followed,
            missed: self.missed,
            small: self.small,
            udp_peers: self.udp_peers.into_iter().collect(),
            udp_without_peer: self.udp_without_peer,
            datagrams: self.datagrams.and_then(|(counters, before)| {
                let after = counters.datagrams().ok()?;
                Some(Datagrams {
                    received: after.received.saturating_sub(before.received),
                    sent: after.sent.saturating_sub(before.sent),
                })
            }),
            looks: self.looks,
            own_processor_s: (clock::process_cpu() - self.cpu_begin) as f64 / 1e9,
            trials,
            host: self.host.map_or_else(Vec::new, HostCounters::end),
            captured,
            part: self.shortened.map(Shortened::over),
        })
    }
}

/// The near and the far end of a connection.
type Ends = (SocketAddr, SocketAddr);

/// Of connections that were never looked at, those that share an end with one that was, each once, and their bytes.
fn beside_seen(seen: &[Ends], unseen: &[(Ends, u64)]) -> (usize, u64) {
    let both = |(local, remote): Ends| (local.min(remote), local.max(remote));
    let ends: HashSet<SocketAddr> = seen.iter().flat_map(|&(local, remote)| [local, remote]).collect();
    // Where both ends are here, the kernel tells of both.
    let mut known: HashSet<Ends> = seen.iter().copied().map(both).collect();
    let mut sum = (0, 0);
    for &((local, remote), bytes) in unseen {
        let meant = ends.contains(&local) || ends.contains(&remote);
        if meant && known.insert(both((local, remote))) {
            sum = (sum.0 + 1, sum.1 + bytes);
        }
    }
    sum
}

/// Connections to the same peer share the shortest round trip that any of them knows.
fn share_least_rtt(connections: &mut [Watched]) {
    let mut least: HashMap<std::net::IpAddr, f64> = HashMap::new();
    for watched in connections.iter() {
        let known = least.entry(watched.remote.ip()).or_insert(f64::INFINITY);
        *known = known.min(watched.track.least_rtt());
    }
    for watched in connections {
        let known = least.get(&watched.remote.ip()).copied();
        watched.track.learn_least_rtt(known.unwrap_or(0.0));
    }
}

const fn moved(watched: &Watched) -> u64 {
    watched.track.sent() + watched.track.received()
}

/// What is asked while watching, of one network namespace.
struct Opened {
    diag: SockDiag,
    destroyed: Option<Destroyed>,
    host: Option<HostCounters>,
    packets: Option<Packets>,
    older: HashSet<u64>,
    datagrams: Option<(ProtocolCounters, Datagrams)>,
}

fn open_diagnostics(
    target: &Target,
    capture: Option<&CaptureSpec>,
    root: Option<u32>,
) -> Result<Opened, WhyError> {
    let open = || -> Result<Opened, WhyError> {
        let mut diag = SockDiag::open().map_err(WhyError::Diagnostics)?;
        let sockets = diag.tcp_sockets().map_err(WhyError::Diagnostics)?;
        Ok(Opened {
            older: sockets.iter().map(|socket| socket.cookie).collect(),
            diag,
            destroyed: Destroyed::open().ok(),
            host: HostCounters::begin(),
            datagrams: ProtocolCounters::open().ok().and_then(|counters| {
                let before = counters.datagrams().ok()?;
                Some((counters, before))
            }),
            packets: capture
                .map(|capture| Packets::begin(capture, target))
                .transpose()?,
        })
    };
    let Some(pid) = root else {
        return open();
    };
    let name = || process_table::status(pid).map_or_else(|_| "?".to_owned(), |status| status.name);
    let ours = process_table::own_number()
        .and_then(process_table::network_namespace)
        .map_err(WhyError::Diagnostics)?;
    let theirs = process_table::network_namespace(pid).map_err(|_| WhyError::NotPermitted(pid, name()))?;
    if ours == theirs {
        return open();
    }
    // Sockets stay in the namespace where they were opened; the thread that went there ends.
    let opened = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                process_table::enter_network_namespace(pid)
                    .map_err(|_| WhyError::OtherNamespace(pid, name()))?;
                open()
            })
            .join()
    });
    opened.unwrap_or_else(|_| Err(WhyError::Diagnostics(io::ErrorKind::Other.into())))
}

fn start(words: &[String], spec: &WatchSpec) -> Result<(Option<Child>, Option<Shortened>), WhyError> {
    let failed = |source| WhyError::Start {
        program: words.first().cloned().unwrap_or_default(),
        source,
    };
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(match &spec.part {
        Some(part) => {
            let (child, shortened) = Shortened::start(part, command).map_err(failed)?;
            (Some(child), Some(shortened))
        }
        None => (
            Some(command.stdout((spec.output)()).spawn().map_err(failed)?),
            None,
        ),
    })
}

/// What the network did since the last look, over the connections that have moved data lately.
fn network_shares<'a>(watched: impl Iterator<Item = &'a Watched>, since: u64) -> NetworkShares {
    let mut shares = NetworkShares::default();
    let mut weights = 0.0;
    let mut downloads = 0.0;
    for one in watched {
        let last = one.track.last();
        let Some(stretch) = one.track.stretches().last() else {
            continue;
        };
        if one.ended || last.at < since {
            continue;
        }
        let weight = (stretch.sent + stretch.received) as f64;
        if weight == 0.0 && last.send_queue == 0 && last.receive_queue == 0 {
            continue;
        }
        let weight = weight.max(1.0);
        let times = one.track.newest();
        let total = times.total();
        if total <= 0.0 {
            continue;
        }
        weights += weight;
        let newest = &mut shares.newest;
        if is_receiving(&one.track) {
            downloads += weight;
            if is_unread(&one.track) {
                shares.unread = true;
                newest.program += weight;
            } else {
                newest.network += weight;
            }
        } else {
            shares.written |= one.track.has_written();
            match waits_for(last) {
                WaitsFor::Network => newest.network += weight,
                WaitsFor::Room => newest.room += weight,
                WaitsFor::Program => newest.program += weight,
            }
            let share = |states: &[State]| weight * times.sum(states) / total;
            shares.idle += share(&[State::Idle]);
            shares.buffer += weight * one.track.newest_buffer() / total;
            shares.receiver += share(&[State::Window, State::WindowShrunk, State::WindowLate]);
        }
    }
    let newest = &mut shares.newest;
    if weights > 0.0 {
        for share in [
            &mut shares.idle,
            &mut shares.buffer,
            &mut shares.receiver,
            &mut newest.network,
            &mut newest.room,
            &mut newest.program,
        ] {
            *share /= weights;
        }
    } else {
        // Nothing under way anywhere: the programs.
        shares.idle = 1.0;
        newest.program = 1.0;
    }
    shares.receiving = downloads * 2.0 > weights;
    shares
}

#[derive(Default)]
struct Ticker {
    at: u64,
    bytes: u64,
}

impl Ticker {
    fn tick(&mut self, at: u64, watched: &HashMap<u64, Watched>) -> Tick {
        let bytes: u64 = watched.values().map(moved).sum();
        let seconds = (at - self.at) as f64 / 1e9;
        let rate = bytes.saturating_sub(self.bytes) as f64 / seconds.max(1e-9);
        (self.at, self.bytes) = (at, bytes);
        let largest = watched
            .values()
            .filter(|one| !one.ended)
            .max_by_key(|one| moved(one));
        let stretch = largest.and_then(|one| one.track.stretches().last().copied());
        let receiving = largest.is_some_and(|one| is_receiving(&one.track));
        Tick {
            at_s: at as f64 / 1e9,
            rate,
            rtt: largest.map_or(0.0, |one| f64::from(one.track.last().info.rtt) / 1e6),
            state: match (stretch, largest) {
                (Some(_), Some(one)) if receiving && is_unread(&one.track) => Some(State::WindowShrunk),
                _ => stretch.map(|stretch| stretch.times.longest()),
            },
            receiving,
            connections: watched
                .values()
                .filter(|one| !one.ended && moved(one) > 0)
                .count(),
        }
    }
}

/// Longest wait for word of an end, nanoseconds.
const LATE: u64 = 50_000_000;
/// Between two ticks.
const TICK: u64 = 250_000_000;
/// Most connections followed at once.
const FOLLOWED: usize = 64;
/// Most connections that were never looked at whose ends are kept.
const UNSEEN: usize = 65_536;
/// A connection that moved nothing in so many looks may make room for another.
const RESTING: u64 = 10;
/// Most ended connections that are kept; then the larger half is.
const ENDED: usize = 512;
/// TCP_ESTABLISHED of `include/net/tcp_states.h`.
const ESTABLISHED: u8 = 1;
/// TCP_LISTEN of `include/net/tcp_states.h`.
const LISTEN: u8 = 10;
/// Name lookups are no transfer.
const DNS: u16 = 53;

#[cfg(test)]
mod tests {
    use super::*;

    /// A program's connections that came and went between two looks have the peer of one that was seen.
    #[test]
    fn connections_that_nobody_saw_are_known_by_their_peer() {
        let end = |host: u8, port: u16| SocketAddr::from(([198, 18, host, 2], port));
        let seen = [(end(1, 4000), end(2, 9000))];
        let unseen = [
            ((end(1, 4001), end(2, 9000)), 20_002),
            ((end(1, 4002), end(2, 9000)), 20_002),
            // Somebody else's.
            ((end(1, 4003), end(2, 53)), 100),
            // The far ends of one that was seen and of one that was not.
            ((end(2, 9000), end(1, 4000)), 20_002),
            ((end(2, 9000), end(1, 4001)), 20_002),
        ];
        assert_eq!(beside_seen(&seen, &unseen), (2, 40_004));
        assert_eq!(beside_seen(&[], &unseen), (0, 0));
    }
}

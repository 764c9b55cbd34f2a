//! The driver of trials: waits until a transfer is under way, then turns one change after the other on and off.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;

use slowpath_packet::mark::Dscp;
use slowpath_words::{english, english_word};

use super::change::Change;
use super::choice::{self, Present, worth_trying};
use super::guardian::Guardian;
use super::reach::{Place, ReachError};
use super::result::Trial;
use super::setting::Setting;
use super::text::not_given_back;
use super::turns::{Plan, Step, Turns};
use crate::why::facts::facts;
use crate::why::judge::{ProgramView, judge};
use crate::why::track::Track;

/// What to try on the connections of a program that the watch starts.
#[derive(Debug, Clone)]
pub struct TrialSpec {
    /// Which changes, in this order but buffers last; none: what the limit suggests.
    pub changes: Vec<Change>,
    /// The command that becomes the guardian: it calls [`guard`](super::guardian::guard) with its standard input.
    pub guardian: Vec<OsString>,
}

/// One connection of the program, as the watch sees it.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// This end.
    pub local: SocketAddr,
    /// The socket's number in `/proc/PID/fd`.
    pub inode: u32,
    /// Its kernel-wide number.
    pub cookie: u64,
    /// Its congestion control.
    pub congestion_control: &'a str,
    /// What it did.
    pub track: &'a Track,
    /// Whether it is over.
    pub ended: bool,
}

/// The trials of one watch. Dropping it restores what is changed.
#[derive(Debug)]
pub struct Course {
    spec: TrialSpec,
    state: State,
    guardian: Option<Guardian>,
    done: Vec<Trial>,
    waiting: VecDeque<Change>,
    receiving: bool,
    processes: Vec<u32>,
}

#[derive(Debug)]
enum State {
    /// Nothing is changed yet: too little is known.
    Waiting,
    /// One change is tried.
    Running(Box<Running>),
    /// Everything is said.
    Over,
}

/// One change that is tried now.
#[derive(Debug)]
struct Running {
    change: Change,
    plan: Plan,
    turns: Turns,
    is_on: bool,
    applied: Vec<Applied>,
    notes: Vec<String>,
}

/// One socket that is changed now.
#[derive(Debug)]
struct Applied {
    cookie: u64,
    place: Place,
    setting: Setting,
}

impl Course {
    /// Waits for a transfer.
    pub fn new(mut spec: TrialSpec) -> Self {
        spec.changes.sort_by_key(Change::is_buffer);
        Self {
            spec,
            state: State::Waiting,
            guardian: None,
            done: Vec::new(),
            waiting: VecDeque::new(),
            receiving: false,
            processes: Vec::new(),
        }
    }

    /// Takes a look at the program's connections, at `at` nanoseconds since the watch began.
    pub fn step(&mut self, at: u64, seen: &[Seen<'_>], processes: impl Iterator<Item = u32>) {
        if matches!(self.state, State::Over) {
            return;
        }
        self.processes.clear();
        self.processes.extend(processes);
        match std::mem::replace(&mut self.state, State::Over) {
            State::Waiting if self.is_under_way(at, seen) => self.begin(at, seen),
            State::Waiting => self.state = State::Waiting,
            State::Running(running) => self.turn(running, at, seen),
            State::Over => {}
        }
    }

    /// Ends what is tried and restores it; `why` is a clause such as `the transfer ended`.
    pub fn stop(&mut self, why: &str) {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Waiting => {
                let untried: Vec<Change> = self.spec.changes.clone();
                let why = english!(
                    "why-trial-too-early",
                    why = why,
                    seconds = format!("{:.1}", self.longest_lead_s())
                );
                if untried.is_empty() {
                    self.done.push(Trial::not_tried(String::new(), &why));
                }
                for change in untried {
                    self.done.push(Trial::not_tried(change.to_string(), &why));
                }
            }
            State::Running(mut running) => {
                self.restore(&mut running);
                self.say(&running, Some(why));
                self.leave(why);
            }
            State::Over => {}
        }
        drop(self.guardian.take());
    }

    /// The number of the guardian in `/proc`, while there is one: it is no program of the job.
    pub fn guardian(&self) -> Option<u32> {
        self.guardian.as_ref().map(Guardian::number)
    }

    /// What came of it.
    pub fn into_trials(mut self) -> Vec<Trial> {
        std::mem::take(&mut self.done)
    }

    fn lead_s(&self) -> f64 {
        if self.spec.changes.is_empty() {
            LEAD_TO_CHOOSE_S
        } else {
            LEAD_S
        }
    }

    /// Whether blocks are to be as long as losses make them: how long that is, a few of them tell.
    fn waits_for_losses(&self) -> bool {
        let changes = &self.spec.changes;
        changes
            .iter()
            .any(|change| matches!(change, Change::CongestionControl(_)))
    }

    /// After which time it begins, whatever is known.
    fn longest_lead_s(&self) -> f64 {
        if self.waits_for_losses() {
            LEAD_FOR_LOSSES_S
        } else {
            self.lead_s()
        }
    }

    /// Whether enough has moved for long enough that the start of the transfer is over.
    fn is_under_way(&self, at: u64, seen: &[Seen<'_>]) -> bool {
        let lead = (self.lead_s() * 1e9) as u64;
        let patience = (self.longest_lead_s() * 1e9) as u64;
        seen.iter().any(|one| {
            let age = at.saturating_sub(one.track.first().at);
            let knows = || one.track.episodes().len() >= REPAIRS || age >= patience;
            !one.ended && one.track.sent().max(one.track.received()) >= LEAST_BYTES && age >= lead && knows()
        })
    }

    fn begin(&mut self, at: u64, seen: &[Seen<'_>]) {
        self.receiving = moved(seen, true) > moved(seen, false);
        let Some(main) = seen
            .iter()
            .filter(|one| !one.ended)
            .max_by_key(|one| one.track.sent() + one.track.received())
        else {
            self.state = State::Waiting;
            return;
        };
        let mut changes = self.spec.changes.clone();
        if changes.is_empty() {
            match self.chosen(main) {
                Ok(chosen) => changes = chosen,
                Err(why) => {
                    self.done.push(Trial::not_tried(String::new(), &why));
                    return;
                }
            }
        }
        // What cannot be tried at all is said, whether or not the transfer lasts.
        for change in changes {
            match self.is_possible(&change, seen) {
                Ok(()) => self.waiting.push_back(change),
                Err(why) => self.done.push(Trial::not_tried(change.to_string(), &why)),
            }
        }
        if self.waiting.is_empty() {
            return;
        }
        match Guardian::start(&self.spec.guardian) {
            Ok(guardian) => {
                self.guardian = Some(guardian);
                self.next(at, seen);
            }
            Err(error) => self.leave(&english!("why-trial-guardian-fails", error = error)),
        }
    }

    /// What is worth trying on the main connection, or why nothing is.
    fn chosen(&self, main: &Seen<'_>) -> Result<Vec<Change>, String> {
        let facts = facts(main.track);
        let (verdict, ..) = judge(&facts, ProgramView::default());
        let place =
            Place::find(self.processes.iter().copied(), main.inode).map_err(|error| error.to_string())?;
        let socket = place.open(main.cookie).map_err(|error| error.to_string())?;
        let tos = if main.local.is_ipv4() {
            slowpath_sys::sockopt::tos(&socket)
        } else {
            slowpath_sys::sockopt::traffic_class(&socket)
        };
        let now = Present {
            congestion_control: main.congestion_control.to_owned(),
            mark: Dscp::from_tos(u8::try_from(tos.unwrap_or(0)).unwrap_or(0)),
            paced: slowpath_sys::shared_socket::max_pacing_rate(&socket).is_ok_and(|rate| rate != u64::MAX),
        };
        drop(socket);
        let permitted = |name: &str| {
            choice::may_choose(name).is_ok() && choice::may_choose(&now.congestion_control).is_ok()
        };
        let chosen = worth_trying(
            verdict.limit,
            &facts,
            &now,
            &permitted,
            choice::buffers_grow_again(),
        );
        if chosen.is_empty() {
            return Err(english!("why-trial-nothing-lifts", limit = verdict.limit));
        }
        Ok(chosen)
    }

    /// Begins with the next change.
    fn next(&mut self, at: u64, seen: &[Seen<'_>]) {
        let Some(change) = self.waiting.pop_front() else {
            drop(self.guardian.take());
            return;
        };
        let mut plan = plan(&change, seen);
        if !self.waiting.is_empty() {
            plan = plan.short();
        }
        self.state = State::Running(Box::new(Running {
            turns: Turns::new(plan, at),
            plan,
            is_on: false,
            applied: Vec::new(),
            notes: not_given_back(&change).map(str::to_owned).into_iter().collect(),
            change,
        }));
    }

    /// Why a change cannot be tried on these connections, a clause.
    fn is_possible(&self, change: &Change, seen: &[Seen<'_>]) -> Result<(), String> {
        if change.is_of_receiver() != self.receiving {
            return Err(if self.receiving {
                english_word!("why-trial-of-sender").to_owned()
            } else {
                english_word!("why-trial-of-receiver").to_owned()
            });
        }
        if let Change::CongestionControl(name) = change {
            let own = seen
                .iter()
                .filter(|one| !one.ended)
                .map(|one| one.congestion_control);
            for name in own.chain([name.as_str()]) {
                choice::may_choose(name).map_err(|error| choice::not_permitted(name, &error))?;
            }
        }
        Ok(())
    }

    fn turn(&mut self, mut running: Box<Running>, at: u64, seen: &[Seen<'_>]) {
        let step = running.turns.step(at, moved(seen, self.receiving), queued(seen));
        let changed = match step {
            Step::On => {
                running.is_on = true;
                self.apply(&mut running, seen)
            }
            Step::Stay if running.is_on => self.apply(&mut running, seen),
            Step::Stay => Ok(()),
            Step::Off | Step::Done => {
                running.is_on = false;
                self.restore(&mut running);
                Ok(())
            }
        };
        if let Err(why) = changed {
            self.restore(&mut running);
            if running.turns.blocks().len() < 2 {
                self.done.push(Trial::not_tried(running.change.to_string(), &why));
            } else {
                self.say(&running, Some(&why));
            }
            self.next(at, seen);
        } else if step == Step::Done {
            self.say(&running, None);
            self.next(at, seen);
        } else {
            self.state = State::Running(running);
        }
    }

    /// Makes the change on every connection that does not have it yet.
    fn apply(&mut self, running: &mut Running, seen: &[Seen<'_>]) -> Result<(), String> {
        for one in seen.iter().filter(|one| !one.ended) {
            if running.applied.iter().any(|applied| applied.cookie == one.cookie) {
                continue;
            }
            match self.apply_to(running, one) {
                // One that closed between two looks: the others have theirs.
                Ok(()) | Err(Refused::Reach(ReachError::Closed)) => {}
                Err(error) => return Err(error.words(&running.change)),
            }
        }
        Ok(())
    }

    fn apply_to(&mut self, running: &mut Running, one: &Seen<'_>) -> Result<(), Refused> {
        let guardian = self.guardian.as_mut().ok_or(Refused::Guardian)?;
        let place = Place::find(self.processes.iter().copied(), one.inode)?;
        let socket = place.open(one.cookie)?;
        let setting = Setting::of(&running.change, &socket).map_err(Refused::Option)?;
        // The guardian has it before anything is changed.
        guardian
            .hold(one.cookie, place, &setting, std::os::fd::AsFd::as_fd(&socket))
            .map_err(|_| Refused::Guardian)?;
        running.applied.push(Applied {
            cookie: one.cookie,
            place,
            setting,
        });
        running.change.apply(&socket).map_err(Refused::Option)?;
        if let Some(note) = made_of_it(&running.change, &socket, one)
            && !running.notes.contains(&note)
        {
            running.notes.push(note);
        }
        Ok(())
    }

    fn restore(&mut self, running: &mut Running) {
        for applied in running.applied.drain(..) {
            let socket = applied.place.open(applied.cookie).or_else(|_| {
                Place::find(self.processes.iter().copied(), applied.place.inode)?.open(applied.cookie)
            });
            match socket.map(|socket| applied.setting.restore(&socket)) {
                Ok(Ok(())) | Err(ReachError::Closed) => {
                    let released = self
                        .guardian
                        .as_mut()
                        .map(|guardian| guardian.release(applied.cookie));
                    if !matches!(released, Some(Ok(()))) {
                        drop(self.guardian.take());
                    }
                }
                // The guardian holds a descriptor of its own: it tries again when it is let go.
                _ => running
                    .notes
                    .push(english!("why-trial-given-back-later", change = running.change)),
            }
        }
    }

    fn say(&mut self, running: &Running, ended: Option<&str>) {
        let change = running.change.to_string();
        let trial = Trial::of_blocks(change, running.plan, &running.turns, ended, running.notes.clone());
        self.done.push(trial);
    }

    /// Says of what still waits that it was not tried.
    fn leave(&mut self, why: &str) {
        for change in std::mem::take(&mut self.waiting) {
            self.done.push(Trial::not_tried(change.to_string(), why));
        }
    }
}

impl Drop for Course {
    fn drop(&mut self) {
        self.stop(english_word!("why-trial-watch-ended"));
    }
}

/// Why a change could not be made.
#[derive(Debug)]
enum Refused {
    Reach(ReachError),
    Option(io::Error),
    Guardian,
}

impl From<ReachError> for Refused {
    fn from(error: ReachError) -> Self {
        Self::Reach(error)
    }
}

impl Refused {
    fn words(&self, change: &Change) -> String {
        match (self, change) {
            (Self::Reach(error), _) => error.to_string(),
            (Self::Guardian, _) => english_word!("why-trial-no-guardian").to_owned(),
            (Self::Option(error), change) => not_set(change, error),
        }
    }
}

/// Why the kernel does not take a change, a clause.
pub(in crate::why) fn not_set(change: &Change, error: &io::Error) -> String {
    match change {
        Change::CongestionControl(name) => choice::not_permitted(name, error),
        _ => english!("why-trial-refused", error = error),
    }
}

/// What the kernel gave of a buffer, where that is less than was asked for.
pub(in crate::why) fn given_less(change: &Change, socket: &std::os::fd::OwnedFd) -> Option<String> {
    use slowpath_sys::sockopt;
    let asked = match change {
        Change::SendBuffer(bytes) | Change::ReceiveBuffer(bytes) => bytes.bytes(),
        _ => return None,
    };
    let (given, bound) = if matches!(change, Change::SendBuffer(_)) {
        (sockopt::send_buffer(socket).ok()?, "net.core.wmem_max")
    } else {
        (sockopt::receive_buffer(socket).ok()?, "net.core.rmem_max")
    };
    let given = u64::try_from(given).ok()? / 2;
    (given < asked).then(|| english!("why-trial-given-less", given = given, bound = bound))
}

/// What the kernel made of a change, where that is not what was asked for.
fn made_of_it(change: &Change, socket: &std::os::fd::OwnedFd, one: &Seen<'_>) -> Option<String> {
    let largest = 65_535_u64 << one.track.last().info.rcv_wscale;
    given_less(change, socket).or_else(|| match change {
        Change::ReceiveBuffer(asked) if asked.bytes() > largest => Some(english!(
            "why-trial-window-scale",
            largest = largest,
            change = change
        )),
        _ => None,
    })
}

/// Payload bytes that reached their receiver so far, of all connections; with those that wait there for a lost one, as far as
/// its reports and its count of segments tell: while a repair lasts nothing else moves.
fn moved(seen: &[Seen<'_>], receiving: bool) -> u64 {
    let bytes = |one: &Seen<'_>| {
        if receiving {
            one.track.arrived()
        } else {
            let info = &one.track.last().info;
            one.track.sent() + u64::from(info.sacked) * u64::from(info.snd_mss)
        }
    };
    seen.iter().map(bytes).sum()
}

/// How long packets wait on the path now, nanoseconds, as the busiest connection's round trip has it.
fn queued(seen: &[Seen<'_>]) -> u64 {
    let longer = |one: &Seen<'_>| {
        let (now, least) = (&one.track.last().info, one.track.least_rtt());
        // The receiver's own estimate is the newer one where data come in.
        let rtt = if one.track.received() > one.track.sent() {
            now.rcv_rtt
        } else {
            now.rtt
        };
        (f64::from(rtt) / 1e6 - least).max(0.0)
    };
    let longest = seen
        .iter()
        .filter(|one| !one.ended)
        .map(longer)
        .fold(0.0, f64::max);
    if longest.is_finite() {
        (longest * 1e9) as u64
    } else {
        0
    }
}

fn plan(change: &Change, seen: &[Seen<'_>]) -> Plan {
    let mut rtt: f64 = 0.0;
    let mut between: Option<f64> = None;
    for one in seen.iter().filter(|one| !one.ended) {
        let facts = facts(one.track);
        rtt = rtt.max(facts.least_rtt_s);
        let repairs = one.track.episodes().len();
        if matches!(change, Change::CongestionControl(_)) && repairs >= LEAST_REPAIRS {
            let each = facts.seconds / repairs as f64;
            between = Some(between.map_or(each, |known| known.max(each)));
        }
    }
    let plan = Plan::new(rtt, between);
    if change.is_buffer() { plan.once() } else { plan }
}

/// A transfer that moved less has hardly begun, bytes.
const LEAST_BYTES: u64 = 100_000;
/// Seconds after which its start is over,
const LEAD_S: f64 = 1.5;
/// and after which its limit can be told.
const LEAD_TO_CHOOSE_S: f64 = 3.0;
/// Repairs after which the time between losses is known well enough for blocks of a congestion control, and seconds that are given to see
/// them.
const REPAIRS: usize = 6;
const LEAD_FOR_LOSSES_S: f64 = 3.0;
/// Repairs below which the time between losses is not known.
const LEAST_REPAIRS: usize = 3;

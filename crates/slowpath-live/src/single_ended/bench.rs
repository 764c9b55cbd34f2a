//! One test: a layer moves data while its connections are counted and watched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use slowpath_sys::process_table;
use slowpath_sys::sock_diag::TcpSocket;
use slowpath_sys::sockopt;
use slowpath_units::{ByteCount, Duration};
use slowpath_verdict::Limit;
use slowpath_words::{english, english_word};
use slowpath_workload::{Cancel, Context};

use super::change::Change;
use super::layer::Layer;
use super::services::Services;
use super::spec::Stage;
use super::tap::Tap;
use crate::measure::MeasureError;
use crate::why::answer::ConnectionAnswer;
use crate::why::trial::reach::Place;
use crate::why::{self, Peer, Target, WatchSpec};

/// What one test showed.
pub(super) struct Test {
    /// Payload bytes a second that arrived, all connections together.
    pub(super) goodput: f64,
    /// Bytes that it moved.
    pub(super) bytes: u64,
    /// The largest connection.
    pub(super) connection: Option<ConnectionAnswer>,
    /// Why that is absent, if it is.
    pub(super) unwatched: String,
    /// The path MTU that TCP went by; 0 where unknown.
    pub(super) mtu: u32,
}

impl Test {
    pub(super) fn limit(&self) -> Option<Limit> {
        self.connection.as_ref().map(|one| one.verdict.limit)
    }

    /// Share of the segments that this end sent again.
    pub(super) fn sent_again(&self) -> Option<f64> {
        let connection = self.connection.as_ref().filter(|one| one.direction == "out")?;
        let facts = &connection.facts;
        (facts.segments.0 > 0).then(|| facts.sent_again())
    }
}

/// Makes tests one after the other, within what is permitted.
pub(super) struct Bench<'a> {
    pub(super) services: &'a Services<'a>,
    pub(super) context: &'a Context,
    pub(super) begun: Instant,
    /// No test begins that would not be over after so long.
    pub(super) most: Duration,
    /// Bytes of all tests together.
    pub(super) cap: Option<ByteCount>,
    /// How long a test moves data.
    pub(super) span: Duration,
    /// How long a test takes beside.
    pub(super) beside: Duration,
    pub(super) made: u32,
    /// Bytes moved so far, with those of tests that failed.
    pub(super) moved: u64,
    pub(super) notes: Vec<String>,
    pub(super) tell: &'a mut dyn FnMut(&Stage),
}

impl Bench<'_> {
    /// Time left, without that of a test that would begin now.
    pub(super) fn left(&self) -> Duration {
        let spent = Duration::from(self.begun.elapsed()) + self.span + self.beside;
        Duration::from_nanos(self.most.nanos().saturating_sub(spent.nanos()))
    }

    pub(super) fn is_over(&self) -> bool {
        self.left() == Duration::ZERO || self.context.may_load().is_err() || self.is_spent(0)
    }

    /// Whether another so many bytes would be more than is permitted.
    fn is_spent(&self, more: u64) -> bool {
        self.cap
            .is_some_and(|cap| (self.moved + more) as f64 >= cap.bytes() as f64 * PAYLOAD)
    }

    /// One more test, if there is time; one that fails leaves a note.
    pub(super) fn try_run(&mut self, layer: Layer, change: Option<&Change>, reverse: bool) -> Option<Test> {
        if self.is_over() {
            return None;
        }
        match self.run(layer, change, reverse) {
            Ok(test) => Some(test),
            Err(error) => {
                let what = match change {
                    Some(change) => change.words(),
                    None => format!("{}, {}", layer.words(), way(reverse)),
                };
                if self.context.check().is_ok() {
                    self.notes
                        .push(english!("path-not-tried", what = what, error = error));
                }
                None
            }
        }
    }

    pub(super) fn run(
        &mut self,
        layer: Layer,
        change: Option<&Change>,
        reverse: bool,
    ) -> Result<Test, MeasureError> {
        self.made += 1;
        (self.tell)(&Stage {
            test: self.made,
            layer,
            change: change.cloned(),
            reverse,
        });
        let begun = Instant::now();
        let mut tap = Tap::begin(self.services.meant(layer), reverse)
            .map_err(|error| MeasureError::tool("diagnose", &"this machine's table of sockets", error))?;
        let outcome = self.moving(layer, change, reverse, &mut tap);
        self.moved += tap.bytes();
        let (end, watched) = outcome?;
        let (connection, unwatched) = match watched {
            Ok(mut connection) => {
                layer.correct(&mut connection, self.services.is_openssh());
                (Some(connection), String::new())
            }
            Err(why) => (None, why),
        };
        let moving = tap.moving().unwrap_or_default();
        let beside = Duration::from(begun.elapsed().saturating_sub(moving));
        self.beside = self.beside.max(beside);
        let goodput = tap.rate().filter(|_| moving >= LEAST_MOVING).ok_or_else(|| {
            let why = match end {
                End::Over => "it moved too little to be measured",
                End::Silent => "no data moved",
                End::Capped => "the cap is used up",
            };
            MeasureError::tool("diagnose", &layer.words(), why)
        })?;
        if let (Some(Change::CongestionControl(name)), Some(own), false) = (change, &connection, reverse)
            && own.congestion_control != *name
        {
            let kept = &own.congestion_control;
            return Err(MeasureError::Settings(format!(
                "the kernel kept {kept}: the route to the server locks it (ip route show)"
            )));
        }
        Ok(Test {
            goodput,
            bytes: tap.bytes(),
            connection,
            unwatched,
            mtu: tap.mtu(),
        })
    }

    /// Lets the layer move data until its span is over.
    fn moving(
        &self,
        layer: Layer,
        change: Option<&Change>,
        reverse: bool,
        tap: &mut Tap,
    ) -> Result<(End, Result<ConnectionAnswer, String>), MeasureError> {
        let cancel = Cancel::new();
        let own = self.context.clone().with_cancel(cancel.clone());
        let spec = self.watch(layer);
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        let (services, span) = (self.services, self.span);
        let (spec, stop) = (&spec, &stop);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| services.perform(layer, change, reverse, span, &own));
            let mut watch = None;
            let end = loop {
                let refused = tap
                    .look()
                    .iter()
                    .filter(|_| layer.is_ssh())
                    .find_map(|socket| set(socket, change, reverse).err());
                if let Some(why) = refused {
                    stop.store(true, Ordering::Relaxed);
                    cancel.cancel();
                    return Err(MeasureError::Settings(why));
                }
                let moving = tap.moving();
                if self.is_spent(tap.bytes() + tap.rate().map_or(0, ahead)) {
                    break End::Capped;
                }
                if moving.is_some() && watch.is_none() {
                    watch = Some(scope.spawn(|| why::watch(spec, stop, &mut |_| {})));
                }
                if worker.is_finished() || self.context.check().is_err() {
                    break End::Over;
                }
                if moving.is_some_and(|moving| moving >= self.span.to_std()) {
                    break End::Over;
                }
                if moving.is_none() && Duration::from(begun.elapsed()) > SILENCE {
                    break End::Silent;
                }
                std::thread::sleep(LOOK);
            };
            stop.store(true, Ordering::Relaxed);
            // A test of iperf3 ends by itself, in words with its server.
            let polite = matches!(layer, Layer::Tcp | Layer::Tunnel) && matches!(end, End::Over);
            let farewell = Instant::now();
            while polite
                && !worker.is_finished()
                && self.context.check().is_ok()
                && Duration::from(farewell.elapsed()) < FAREWELL
            {
                std::thread::sleep(LOOK);
            }
            if !worker.is_finished() {
                tap.sockets().for_each(abort);
            }
            cancel.cancel();
            let outcome = watch.and_then(|watch| watch.join().ok());
            let done = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let whole = tap.moving().is_some_and(|moving| moving >= LEAST_MOVING);
            if let (Err(error), false) = (done, whole) {
                return Err(error);
            }
            self.context
                .check()
                .map_err(|stop| MeasureError::tool("diagnose", &layer.words(), stop))?;
            let main = tap.main_connection();
            let direction = if reverse { "in" } else { "out" };
            let connection = match outcome {
                None => Err("no data moved".to_owned()),
                Some(Err(error)) => Err(error.to_string()),
                Some(Ok(outcome)) => {
                    let answer = why::answer(&spec.target, &outcome);
                    let is_it = |one: &ConnectionAnswer| {
                        one.direction == direction && main.as_ref().is_none_or(|main| one.local == *main)
                    };
                    let seen = answer.connections.len();
                    let found = answer.connections.into_iter().find(is_it);
                    found.ok_or_else(|| format!("it was none of the {seen} that were seen"))
                }
            };
            Ok((end, connection))
        })
    }

    /// Programs of OpenSSH are watched with their processors and waits; what this process does itself by its peer.
    fn watch(&self, layer: Layer) -> WatchSpec {
        let meant = self.services.meant(layer);
        let target = match process_table::own_number() {
            Ok(own) if layer.is_ssh() => Target::Process(own),
            _ => Target::Peer(Peer {
                text: meant.address.to_string(),
                addresses: vec![meant.address],
                port: meant.port,
            }),
        };
        WatchSpec {
            target,
            duration: None,
            output: std::process::Stdio::null,
            trial: None,
            part: None,
        }
    }
}

/// How the moving of data ended.
enum End {
    Over,
    Silent,
    Capped,
}

/// What will still move before a test that is ended now has ended.
fn ahead(rate: f64) -> u64 {
    (rate * AHEAD_S) as u64
}

/// Lets a connection end without what waits in its send buffer, which the next test would meet on the path. Where this user may
/// not reach it, it ends as its program ends it.
fn abort(socket: &TcpSocket) {
    let own = process_table::own_number();
    let opened = Place::find(own.into_iter().chain(descendants()), socket.inode)
        .and_then(|place| place.open(socket.cookie));
    if let Ok(opened) = opened {
        let _ = sockopt::set_linger(&opened, Some(0));
    }
}

/// Sets what a change asks for on a connection of a program that we started.
fn set(socket: &TcpSocket, change: Option<&Change>, reverse: bool) -> Result<(), String> {
    let change = match change {
        // ssh itself is told the mark, and is started several times.
        None | Some(Change::Streams(_) | Change::Mark(_)) => return Ok(()),
        Some(change) => change,
    };
    let opened = Place::find(descendants(), socket.inode).and_then(|place| place.open(socket.cookie));
    let opened = opened.map_err(|error| error.to_string())?;
    let size = |bytes: &ByteCount| i32::try_from(bytes.bytes()).unwrap_or(i32::MAX);
    let done = match change {
        Change::CongestionControl(name) => sockopt::set_congestion_control(&opened, name),
        Change::Pacing(rate) => sockopt::set_max_pacing_rate(&opened, rate.bits_per_s() / 8),
        Change::Window(bytes) | Change::HalfWindow(bytes) if reverse => {
            sockopt::set_receive_buffer(&opened, size(bytes))
        }
        Change::Window(bytes) | Change::HalfWindow(bytes) => sockopt::set_send_buffer(&opened, size(bytes)),
        Change::Streams(_) | Change::Mark(_) => Ok(()),
    };
    done.map_err(|error| format!("setting {} on ssh's connection: {error}", change.words()))
}

/// The programs that this process started, and those that they started.
fn descendants() -> Vec<u32> {
    let all = process_table::processes().unwrap_or_default();
    let mut family: Vec<u32> = process_table::own_number().into_iter().collect();
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        let children = all.iter().filter(|one| one.parent == parent).map(|one| one.id);
        let new: Vec<u32> = children.filter(|id| !family.contains(id)).collect();
        family.extend(new);
        at += 1;
    }
    family.drain(..1.min(family.len()));
    family
}

fn way(reverse: bool) -> &'static str {
    if reverse {
        english_word!("path-from-server")
    } else {
        english_word!("path-to-server")
    }
}

/// Between two looks.
const LOOK: std::time::Duration = std::time::Duration::from_millis(10);
/// Data that move for less time are no measurement.
const LEAST_MOVING: std::time::Duration = std::time::Duration::from_millis(500);
/// Without any data for so long, a test is given up.
const SILENCE: Duration = Duration::from_secs(20);
/// For iperf3's words after a test.
const FAREWELL: Duration = Duration::from_secs(10);
/// Part of a cap that payload may take; headers, acknowledgements and what is sent again take the rest.
const PAYLOAD: f64 = 0.9;
/// Seconds of data that are on their way while a test is being ended.
const AHEAD_S: f64 = 0.15;

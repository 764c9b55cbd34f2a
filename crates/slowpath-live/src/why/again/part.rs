//! One shortened run of a command: how it is started, what its sockets have before they connect, and how it ends.

use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slowpath_sys::process_table::Status;
use slowpath_sys::socket_gate::{self, Gate, Next};
use slowpath_sys::{process, shared_socket};
use slowpath_words::{english, english_word};

use super::gauge::{Gauge, Most};
use crate::measure::program::Reader;
use crate::why::trial::Change;
use crate::why::trial::course::{given_less, not_set};
use crate::why::trial::reach::Place;
use crate::why::trial::setting::Setting;

/// How much of a command is run, and with what.
#[derive(Debug, Clone)]
pub struct Part {
    /// When it is ended.
    pub most: Most,
    /// What its TCP sockets have before they connect.
    pub change: Option<Change>,
    /// What it takes from the environment.
    pub environment: Option<(&'static str, String)>,
}

/// What came of a shortened run.
#[derive(Debug, Clone)]
pub struct PartOver {
    /// Its bytes.
    pub gauge: Gauge,
    /// Sockets on which the change was made.
    pub changed: usize,
    /// Why the change does not hold on them, a clause.
    pub refused: Option<String>,
    /// What the kernel made of the change.
    pub notes: Vec<String>,
    /// What the program wrote to its standard error last.
    pub errors: String,
}

/// A shortened run that is under way.
#[derive(Debug)]
pub(in crate::why) struct Shortened {
    part: Part,
    gauge: Gauge,
    gate: Arc<Mutex<Report>>,
    errors: Option<Reader>,
    /// When it was told to end, nanoseconds since it began.
    told: Option<u64>,
}

/// What happened at the gate.
#[derive(Debug, Default)]
struct Report {
    changed: usize,
    refused: Option<String>,
    notes: Vec<String>,
    setting: Option<Setting>,
}

impl Shortened {
    /// Starts the command with nothing to read and nobody to read what it writes.
    pub(in crate::why) fn start(part: &Part, mut command: Command) -> io::Result<(Child, Self)> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if let Some((name, value)) = &part.environment {
            command.env(name, value);
        }
        let gate = Arc::new(Mutex::new(Report::default()));
        let pending = part
            .change
            .as_ref()
            .map(|_| socket_gate::put_before(&mut command))
            .transpose();
        let pending = pending.map_err(|error| refused(&error))?;
        let mut child = command.spawn().map_err(|error| match error.raw_os_error() {
            Some(EINVAL | ENOSYS | EBUSY) if pending.is_some() => refused(&error),
            _ => error,
        })?;
        if let (Some(pending), Some(change)) = (pending, &part.change) {
            let (opened, change, report) = (pending.begun()?, change.clone(), Arc::clone(&gate));
            // It stays until the last program behind the gate has ended, which may be after this run.
            std::thread::spawn(move || keep(&opened, &change, &report));
        }
        let started = Self {
            gauge: Gauge::new(part.most),
            part: part.clone(),
            gate,
            errors: child.stderr.take().map(Reader::start),
            told: None,
        };
        Ok((child, started))
    }

    /// Takes a look; ends the program when it is enough.
    ///
    /// `main` finds the connection that moved most, while it lives: its inode and cookie.
    pub(in crate::why) fn look(
        &mut self,
        at: u64,
        bytes: u64,
        child: &mut Child,
        family: &[Status],
        main: Option<(u32, u64)>,
        interrupted: bool,
    ) {
        if !self.gauge.look(at, bytes) && !interrupted {
            return;
        }
        match self.told {
            None => {
                self.told = Some(at);
                self.check(family, main);
                let _ = process::signal(child.id(), SIGTERM);
                end(family, SIGTERM);
            }
            Some(told) if at >= told + GRACE => {
                let _ = child.kill();
                end(family, SIGKILL);
            }
            Some(_) => {}
        }
    }

    /// What came of it.
    pub(in crate::why) fn over(self) -> PartOver {
        let errors = self.errors.map(Reader::finish).unwrap_or_default();
        let report = lock(&self.gate);
        let none = self.part.change.is_some() && report.changed == 0 && report.refused.is_none();
        PartOver {
            changed: report.changed,
            refused: if none {
                Some(english_word!("why-again-no-connection").to_owned())
            } else {
                report.refused.clone()
            },
            notes: report.notes.clone(),
            errors,
            gauge: self.gauge,
        }
    }

    /// Whether the connection still has the option that it was given: a program may choose its own once it is connected.
    fn check(&self, family: &[Status], main: Option<(u32, u64)>) {
        let (Some(change), Some((inode, cookie))) = (&self.part.change, main) else {
            return;
        };
        let mut report = lock(&self.gate);
        let Some(given) = report.setting.clone() else {
            return;
        };
        let now = Place::find(family.iter().map(|one| one.id), inode)
            .and_then(|place| place.open(cookie))
            .ok()
            .and_then(|socket| Setting::of(change, &socket).ok());
        if now.is_some_and(|now| !now.agrees(&given)) {
            report.refused = Some(english_word!("why-again-set-otherwise").to_owned());
        }
    }
}

/// Makes the change on each TCP socket that comes to the gate.
fn keep(gate: &Gate, change: &Change, report: &Mutex<Report>) {
    loop {
        match gate.next(1_000_000_000) {
            Ok(Next::Call(call)) => {
                match gate.socket(&call) {
                    Ok(Some(socket)) => {
                        let made = change.apply(&socket);
                        let mut report = lock(report);
                        match made {
                            Ok(()) => {
                                report.changed += 1;
                                report.setting = Setting::of(change, &socket).ok();
                                let note =
                                    given_less(change, &socket).filter(|note| !report.notes.contains(note));
                                report.notes.extend(note);
                            }
                            Err(error) => report.refused = Some(not_set(change, &error)),
                        }
                    }
                    Ok(None) => {}
                    Err(error) if error.raw_os_error() == Some(ESRCH) => {}
                    Err(error) => {
                        lock(report).refused = Some(english!("why-again-no-reach", error = error));
                    }
                }
                let _ = gate.let_go_on(&call);
            }
            Ok(Next::Nothing) => {}
            Ok(Next::Ended) | Err(_) => return,
        }
    }
}

/// Sends a signal to processes by handles: their numbers may be those of another namespace.
fn end(family: &[Status], signal: i32) {
    for one in family {
        if let Ok(handle) = shared_socket::open_process(one.id) {
            let _ = process::signal_handle(&handle, signal);
        }
    }
}

/// Why there is no gate before a program.
fn refused(error: &io::Error) -> io::Error {
    let why = match error.raw_os_error() {
        Some(EBUSY) => english_word!("why-again-watched-already").to_owned(),
        _ => english!("why-again-no-gate", error = error),
    };
    io::Error::other(why)
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a program may take to end, nanoseconds.
const GRACE: u64 = 2_000_000_000;
const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;
/// Error numbers of `errno(3)`.
const ESRCH: i32 = 3;
const EBUSY: i32 = 16;
const EINVAL: i32 = 22;
const ENOSYS: i32 = 38;

//! Measuring a live path with one tool.
//!
//! A [`Job`] says what to measure, a [`Guard`] what is permitted; [`measure`] does it, tells how far it is, and returns
//! an [`Answer`] that writes itself for people (80 columns, the answer first) and for programs.
//!
//! * [`address`]: `TOOL://USER@HOST:PORT/PATH`, and the address behind a name.
//! * [`iperf3`]: rate over TCP and UDP; [`rfc6349`]: the sheet of that RFC with it; [`ftp`], [`ssh`], [`s3`]: one file or many objects.
//! * [`ping`], [`trace`], [`mtu`]: probes; [`sweep`]: how each DSCP fares.
//! * [`serve`]: the other end for all of these.
//! * `program`: a program with everything that it starts.
//! * `answer`: what comes of a job, in the tool's words and as a record of origin live, or why nothing does. `text`: what the answers have in common.

pub mod address;
mod answer;
pub mod ftp;
pub mod iperf3;
pub mod mtu;
pub mod ping;
pub(crate) mod program;
pub mod rfc6349;
pub mod s3;
pub mod serve;
pub mod ssh;
pub mod sweep;
mod text;
pub mod trace;

use std::sync::mpsc;
use std::time::Instant;

use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::{Cancel, Context, Permission};

pub use answer::{Answer, MeasureError};

/// What to measure, and with which tool.
#[derive(Debug, Clone)]
pub enum Job {
    /// An iperf3 test.
    Iperf3(iperf3::Spec),
    /// Several of them, for the sheet of RFC 6349.
    Rfc6349(rfc6349::Spec),
    /// One FTP transfer.
    Ftp(ftp::Spec),
    /// Copies with the real OpenSSH programs.
    Ssh(ssh::Spec),
    /// Objects of a store.
    S3(s3::Spec),
    /// Round trips.
    Ping(ping::Spec),
    /// The way.
    Trace(trace::Spec),
    /// The largest packet.
    Mtu(mtu::Spec),
    /// Every DSCP.
    Sweep(sweep::Spec),
}

/// What is permitted, and for how long.
#[derive(Debug, Clone)]
pub struct Guard {
    /// Stops the job.
    pub cancel: Cancel,
    /// The job ends at the latest after this.
    pub deadline: Duration,
    /// Load on addresses that are not local: explicitly allowed, with a cap. Such an address is refused without.
    pub remote: Option<Remote>,
    /// Whether this process is in a network namespace that slowpath made: nothing leaves the machine, so every address may
    /// be loaded.
    pub own_namespace: bool,
}

/// Bounds for load on addresses that are not local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remote {
    /// Most bytes, both directions and all connections together.
    pub cap: ByteCount,
    /// Highest rate of each socket that sends from here; [`Remote::USUAL_RATE`] if absent. The sockets of OpenSSH take no
    /// such bound: with one, load by its programs is refused.
    pub rate: Option<BitRate>,
}

impl Remote {
    /// Highest rate of each socket that sends from here if none is given.
    pub const USUAL_RATE: BitRate = BitRate::new(1_000_000_000);
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Time since its begin.
    pub elapsed: Duration,
    /// Application bytes moved so far.
    pub bytes: u64,
    /// Bit/s since the last report.
    pub bit_per_s: f64,
}

/// Does a job; `progress` hears five times a second how far it is.
///
/// # Errors
/// [`MeasureError`]; load on an address that is not local is refused without [`Guard::remote`].
pub fn measure(
    job: &Job,
    guard: &Guard,
    progress: &mut dyn FnMut(Progress),
) -> Result<Box<dyn Answer>, MeasureError> {
    let context = guard.context();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let (done, finished) = mpsc::channel::<()>();
        let worker = scope.spawn({
            let context = context.clone();
            move || {
                let answer = job.perform(guard, &context);
                drop(done);
                answer
            }
        });
        let (mut last_bytes, mut last_at) = (0, begun);
        while let Err(mpsc::RecvTimeoutError::Timeout) = finished.recv_timeout(TICK) {
            let (bytes, now) = (context.spent(), Instant::now());
            let span = now.duration_since(last_at).as_secs_f64();
            progress(Progress {
                elapsed: begun.elapsed().into(),
                bytes,
                bit_per_s: bytes.saturating_sub(last_bytes) as f64 * 8.0 / span.max(1e-9),
            });
            (last_bytes, last_at) = (bytes, now);
        }
        match worker.join() {
            Ok(answer) => answer,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

impl Job {
    fn perform(&self, guard: &Guard, context: &Context) -> Result<Box<dyn Answer>, MeasureError> {
        Ok(match self {
            Self::Iperf3(spec) => Box::new(iperf3::run(spec, context)?),
            Self::Rfc6349(spec) => Box::new(rfc6349::run(spec, context)?),
            Self::Ftp(spec) => Box::new(ftp::run(spec, context)?),
            Self::Ssh(spec) => Box::new(ssh::run(spec, guard.rate(), context)?),
            Self::S3(spec) => Box::new(s3::run(spec, context)?),
            Self::Ping(spec) => Box::new(ping::run(spec, context)?),
            Self::Trace(spec) => Box::new(trace::run(spec, context)?),
            Self::Mtu(spec) => Box::new(mtu::run(spec, context)?),
            Self::Sweep(spec) => Box::new(sweep::run(spec, context)?),
        })
    }

    /// How long the job needs by its own settings, where that is known.
    pub fn expected(&self) -> Option<Duration> {
        match self {
            Self::Iperf3(spec) => spec.expected(),
            Self::Rfc6349(spec) => Some(spec.expected()),
            Self::Ping(spec) => Some(spec.expected()),
            Self::Sweep(spec) => Some(spec.expected()),
            _ => None,
        }
    }
}

impl Guard {
    /// The rate that was asked for, where it bounds anything.
    pub(crate) fn rate(&self) -> Option<BitRate> {
        self.remote
            .filter(|_| !self.own_namespace)
            .and_then(|remote| remote.rate)
    }

    /// The cap that was asked for, where it bounds anything.
    pub(crate) fn cap(&self) -> Option<ByteCount> {
        self.remote
            .filter(|_| !self.own_namespace)
            .map(|remote| remote.cap)
    }

    /// What the tools of a job are given.
    pub(crate) fn context(&self) -> Context {
        let context = Context::new()
            .with_cancel(self.cancel.clone())
            .with_timeout(self.deadline);
        match self.remote {
            _ if self.own_namespace => context.with_permission(Permission::OwnNamespace),
            None => context,
            Some(Remote { cap, rate }) => context.with_permission(Permission::Remote {
                bytes: cap,
                rate: rate.unwrap_or(Remote::USUAL_RATE),
            }),
        }
    }
}

const TICK: std::time::Duration = std::time::Duration::from_millis(200);

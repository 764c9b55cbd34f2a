//! What the services have in common: several at once, options of sockets, names of what lies on a server.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use slowpath_units::Duration;
use slowpath_words::english;
use slowpath_workload::iperf3::{self, ClientConfig, Direction, Params};
use slowpath_workload::{Context, SocketOptions};

use super::change::Change;
use crate::measure::MeasureError;

/// Notes what could not be removed from a server.
pub(super) fn is_left(left: &Mutex<Vec<String>>, what: &str, error: &dyn std::fmt::Display) {
    let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
    let note = english!("path-left", what = what, error = error);
    if !left.contains(&note) {
        left.push(note);
    }
}

/// Several of the same at once; the first error.
pub(super) fn side_by_side(
    count: u32,
    one: &(dyn Fn(u32) -> Result<(), MeasureError> + Sync),
) -> Result<(), MeasureError> {
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..count)
            .map(|number| scope.spawn(move || one(number)))
            .collect();
        let ends = all.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        ends.fold(Ok(()), Result::and)
    })
}

/// Connections at once.
pub(super) const fn streams(change: Option<&Change>) -> u32 {
    match change {
        Some(Change::Streams(count)) => *count,
        _ => 1,
    }
}

/// A test of iperf3.
pub(super) fn tcp(
    server: SocketAddr,
    change: Option<&Change>,
    reverse: bool,
    span: Duration,
    context: &Context,
) -> Result<(), MeasureError> {
    let mut params = Params {
        direction: if reverse {
            Direction::Reverse
        } else {
            Direction::Forward
        },
        duration: span,
        ..Params::default()
    };
    match change {
        None => {}
        Some(Change::Streams(count)) => params.parallel = *count,
        Some(Change::CongestionControl(name)) => params.congestion_control = Some(name.clone()),
        Some(Change::Window(bytes) | Change::HalfWindow(bytes)) => params.window = Some(*bytes),
        Some(Change::Pacing(rate)) => params.fq_rate = Some(*rate),
        Some(Change::Mark(mark)) => params.tos = mark.value() << 2,
    }
    let config = ClientConfig {
        params,
        ..ClientConfig::tcp(server, span)
    };
    iperf3::run(&config, context)
        .map(drop)
        .map_err(|error| MeasureError::tool("iperf3", &server, error))
}

/// What a change sets on a socket of ours.
pub(super) fn options(change: Option<&Change>, reverse: bool) -> SocketOptions {
    let mut options = SocketOptions::default();
    match change {
        None | Some(Change::Streams(_)) => {}
        Some(Change::CongestionControl(name)) => options.congestion_control = Some(name.clone()),
        Some(Change::Window(bytes) | Change::HalfWindow(bytes)) if reverse => {
            options.receive_buffer = Some(*bytes);
        }
        Some(Change::Window(bytes) | Change::HalfWindow(bytes)) => options.send_buffer = Some(*bytes),
        Some(Change::Pacing(rate)) => options.pacing = Some(*rate),
        Some(Change::Mark(mark)) => options.dscp = Some(*mark),
    }
    options
}

/// The name of a file or object of ours on a server.
pub(super) fn name(what: &str, number: u32) -> String {
    format!("slowpath-{what}-{}-{number}", std::process::id())
}

/// Bytes of what is sent: no test comes to its end.
pub(super) const ENDLESS: u64 = 1 << 40;
/// For removing what a test has left on a server.
pub(super) const CLEAN_UP: Duration = Duration::from_secs(10);

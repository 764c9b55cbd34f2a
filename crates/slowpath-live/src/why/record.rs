//! The watch as a record of a run with origin *live*.

use std::io;
use std::path::Path;

use slowpath_record::{Environment, Origin, RunRecord, Series, TransferResult, WATCHED};
use slowpath_units::Time;

use super::answer::{Answer, NEGLIGIBLE};
use super::watch::{Outcome, Watched};

/// Makes the record: each connection is a transfer, its course a few time series.
pub fn record(name: &str, outcome: &Outcome, answer: &Answer) -> RunRecord {
    let moved = transfers_of(outcome);
    RunRecord {
        variant: name.to_owned(),
        environment: Some(Environment {
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")
                .unwrap_or_default()
                .trim()
                .to_owned(),
            processors: std::thread::available_parallelism()
                .map_or(1, |count| u32::try_from(count.get()).unwrap_or(1)),
            slowpath: env!("CARGO_PKG_VERSION").to_owned(),
            ..Environment::default()
        }),
        series: moved.iter().flat_map(|one| series(one)).collect(),
        transfers: moved.iter().map(|one| transfer(one)).collect(),
        notes: answer
            .connections
            .iter()
            .map(|one| format!("{}: {}", one.remote, one.verdict.sentence))
            .chain(answer.trials.iter().map(|trial| trial.sentence.clone()))
            .chain(answer.notes.iter().cloned())
            .collect(),
        ..RunRecord::new(Origin::Live, WATCHED)
    }
}

/// The connections that are transfers: not those that only control one, and whose bytes are as few beside it as the text leaves out, whose
/// time is none of the transfer's; and where both ends of one are watched, its sending end.
fn transfers_of(outcome: &Outcome) -> Vec<&Watched> {
    let bytes = |one: &Watched| one.track.received().max(one.track.sent());
    let least = outcome.connections.iter().map(bytes).max().unwrap_or(0) / NEGLIGIBLE;
    outcome
        .connections
        .iter()
        .filter(|one| one.has_moved() && bytes(one) >= least)
        .filter(|one| !is_receiving_end(one, outcome))
        .collect()
}

/// Whether this is the receiving end of a connection whose other end is watched as well.
fn is_receiving_end(one: &Watched, outcome: &Outcome) -> bool {
    let is_other =
        |other: &Watched| other.local == one.remote && other.remote == one.local && other.has_moved();
    one.track.received() > one.track.sent() && outcome.connections.iter().any(is_other)
}

/// Writes the answer into a folder, as `why.json`.
///
/// # Errors
/// Those of writing files.
pub fn write(folder: &Path, answer: &Answer) -> io::Result<()> {
    let text = serde_json::to_string_pretty(answer).map_err(io::Error::other)?;
    std::fs::write(folder.join("why.json"), text)
}

fn transfer(one: &Watched) -> TransferResult {
    let receiving = one.track.received() > one.track.sent();
    TransferResult {
        name: format!(
            "{} {} {}",
            one.local,
            if receiving { "<-" } else { "->" },
            one.remote
        ),
        bytes: one.track.received().max(one.track.sent()),
        start: Time::from_nanos(one.track.first().at),
        end: Time::from_nanos(one.track.last().at),
        complete: one.ended,
        error: None,
        retransmitted_segments: (!receiving).then(|| {
            u64::from(one.track.last().info.total_retrans) - u64::from(one.track.first().info.total_retrans)
        }),
        sender: None,
    }
}

fn series(one: &Watched) -> Vec<Series> {
    type Value = fn(&super::track::Stretch) -> f64;
    let columns: [(&str, &str, Value); 4] = [
        ("rate", "byte/s", super::track::Stretch::rate),
        ("rtt", "s", |stretch| stretch.rtt),
        ("flight", "byte", |stretch| stretch.flight),
        ("unread", "byte", |stretch| stretch.unread),
    ];
    columns
        .into_iter()
        .map(|(name, unit, value)| Series {
            name: format!("{}/{name}", one.remote),
            unit: unit.to_owned(),
            points: one
                .track
                .stretches()
                .map(|stretch| (stretch.to, value(stretch)))
                .collect(),
        })
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use std::net::SocketAddr;

    use slowpath_sys::sock_diag::TcpSocket;
    use slowpath_sys::tcp_info::TcpInfo;

    use super::*;
    use crate::why::sample::ConnectionSample;
    use crate::why::{Target, answer};

    /// A connection that moved `bytes` from one time to another, nanoseconds.
    pub(in crate::why) fn moved(port: u16, bytes: u64, from: u64, to: u64) -> Watched {
        let end = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let socket = TcpSocket {
            interface: 0,
            local: end(port),
            remote: end(5201),
            state: 1,
            inode: 1,
            uid: 0,
            cookie: u64::from(port),
            receive_queue: 0,
            send_queue: 0,
            info: Some(TcpInfo::default()),
            congestion_control: "cubic".to_owned(),
            memory: None,
            bbr: None,
        };
        let mut watched = Watched::new(from, socket, None).unwrap();
        let mut last = ConnectionSample {
            at: to,
            ..ConnectionSample::default()
        };
        last.info.bytes_acked = bytes;
        watched.track.observe(last);
        watched
    }

    #[test]
    fn a_connection_of_which_both_ends_are_watched_is_one_transfer() {
        let second = 1_000_000_000;
        let sending = moved(1, 4_000_000, second, 5 * second);
        let mut receiving = moved(1, 0, second, 5 * second);
        std::mem::swap(&mut receiving.local, &mut receiving.remote);
        let mut last = receiving.track.last().clone();
        last.at += 1;
        last.info.bytes_received = 4_000_000;
        receiving.track.observe(last);
        let outcome = Outcome::of_connections(vec![receiving, sending], 6.0);
        let answer = answer(&Target::Port(5201), &outcome);
        let record = record("iperf3", &outcome, &answer);
        let names: Vec<&str> = record.transfers.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["127.0.0.1:1 -> 127.0.0.1:5201"]);
    }

    #[test]
    fn a_connection_that_only_controls_lends_a_transfer_no_time() {
        let second = 1_000_000_000;
        let data = moved(1, 4_000_000, second, 5 * second);
        let control = moved(2, 900, 0, 6 * second);
        let outcome = Outcome::of_connections(vec![data, control], 6.0);
        let answer = answer(&Target::Port(5201), &outcome);
        let record = record("iperf3", &outcome, &answer);
        assert_eq!(record.transfers.len(), 1);
        let of_page = record.transfers[0].goodput_byte_per_s();
        let of_text = answer.connections[0].goodput_bit_per_s / 8.0;
        assert!((of_page - of_text).abs() < 1.0, "{of_page} {of_text}");
    }
}

//! The ledger's shares beside those of the kernel's chronographs.
//!
//! # What the kernel counts (`net/ipv4/tcp_output.c`, `tcp_input.c`)
//!
//! * *busy*: anything unacknowledged or unsent. The next two are part of it, and exclude each other; each is added up in
//!   ticks of the kernel (4 ms where it has 250 a second).
//! * *rwnd-limited*: there was a segment to send, pacing and the congestion window let it go, and the peer's window did not.
//!   BBR asks its pacing first: what a full window would have held back a little later counts as pacing, not as the window.
//! * *sndbuf-limited*: everything was sent, the congestion window had room, and the program waits for memory; until a third
//!   of the buffer is free. Looked at only when something was just sent: a program whose data leave inside of its write is not
//!   yet waiting then, and not counted, so that only pacing, which sends later, makes it count; nor is one whose last piece,
//!   smaller than a segment, Nagle's algorithm keeps back, since that is something to send.
//!
//! None of them knows whether the link is full. The ledger does: what a window or a buffer holds back from a full link costs
//! nothing, and is the link's; its *state* alone still says what held the sender. So the ledger's states are compared with
//! the kernel's counts, which mean the same ([`Shares::by_state`]), and its causes beside them.

use slowpath::folder::{Folder, FolderError};
use slowpath_facts::Chronographs;
use slowpath_record::HealthState;
use slowpath_verdict::Limit;
use slowpath_verdict::ledger::Ledger;

use super::{Drawn, Ran, Settings, ran};
use crate::bulk::{Sent, Writes};

/// How far the ledger's share may be from the kernel's.
pub const WITHIN: f64 = 0.05;

/// Shares of a transfer's duration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shares {
    /// Held by the receiver's window.
    pub window: f64,
    /// Held by the send buffer.
    pub buffer: f64,
}

impl Shares {
    /// What the kernel counted, over the ledger's duration.
    fn counted(sent: &Sent, ledger: &Ledger) -> Option<Self> {
        let last = sent.log.last()?;
        let share = |micros: u64| micros as f64 / 1e6 / ledger.duration_s.max(1e-9);
        Some(Self {
            window: share(last.receive_window_limited),
            buffer: share(last.send_buffer_limited),
        })
    }

    /// What the sender did by the ledger, whatever the cause.
    fn by_state(ledger: &Ledger) -> Self {
        Self::of(ledger, None)
    }

    /// The ledger in the terms of the kernel's counts.
    fn of(ledger: &Ledger, with_bbr: Option<Chronographs>) -> Self {
        let counted = ledger.chronographs(with_bbr);
        Self {
            window: counted.window_s / ledger.duration_s.max(1e-9),
            buffer: counted.buffer_s / ledger.duration_s.max(1e-9),
        }
    }

    /// What held it by the ledger.
    fn by_cause(ledger: &Ledger) -> Self {
        let window = ledger.time_of(Limit::ReceiverWindow) + ledger.time_of(Limit::ReceiverApplication);
        let buffer = ledger.time_of(Limit::SendBuffer);
        let [window, buffer] = [window, buffer].map(|time_s| time_s / ledger.duration_s.max(1e-9));
        Self { window, buffer }
    }

    /// Whether both shares are near those of `other`.
    pub fn is_near(&self, other: &Self) -> bool {
        (self.window - other.window).abs() <= WITHIN && (self.buffer - other.buffer).abs() <= WITHIN
    }
}

/// One transfer.
#[derive(Debug, Clone)]
pub struct Scored {
    /// What was drawn.
    pub drawn: Drawn,
    /// The figures, or why there are none.
    pub found: Result<Found, String>,
}

/// What kernel and ledger say of one transfer.
#[derive(Debug, Clone)]
pub struct Found {
    /// The run's health.
    pub health: HealthState,
    /// The kernel's counts.
    pub kernel: Shares,
    /// The ledger's states.
    pub states: Shares,
    /// The ledger in the terms of the kernel's counts, for the control that the socket names.
    pub counted: Shares,
    /// The ledger's causes.
    pub causes: Shares,
    /// The same by samples of the socket's state, to which pacing and Nagle's algorithm are no exceptions; without the buffers
    /// of programs that do not always have more.
    pub sampled: Shares,
    /// The ledger in its own words.
    pub sentence: String,
    /// Where its time went: shares by cause and state, the largest first.
    pub parts: Vec<(String, f64)>,
    /// For people: what each said over time.
    pub series: Vec<String>,
}

impl Found {
    /// Whether what the ledger says in the kernel's terms is near the kernel's counts.
    pub fn is_near(&self) -> bool {
        self.counted.is_near(&self.kernel)
    }

    /// Whether the ledger's states are, which is another thing where the sender paces.
    pub fn is_near_by_state(&self) -> bool {
        self.states.is_near(&self.kernel)
    }

    /// The ledger is not near the kernel's counts, but near what the kernel's own socket showed meanwhile: they differ by
    /// what the counts leave out.
    pub fn is_by_definition(&self) -> bool {
        // Samples do not see the buffers of programs that do not always have more.
        let seen = self.sampled.buffer + WITHIN >= self.kernel.buffer;
        !self.is_near() && seen && self.is_near_samples()
    }

    /// Whether the ledger's states are near what the kernel's own socket showed meanwhile.
    pub fn is_near_samples(&self) -> bool {
        self.states.is_near(&self.sampled)
    }

    /// The same for its causes.
    pub fn is_near_by_cause(&self) -> bool {
        self.causes.is_near(&self.kernel)
    }
}

/// Compares every capture of the folder.
///
/// # Errors
/// [`FolderError`] if a record cannot be read.
pub fn score(settings: &Settings) -> Result<Vec<Scored>, FolderError> {
    let folder = Folder::open(&settings.folder());
    settings
        .drawn()
        .map(|drawn| {
            let found = ran(&folder, &drawn)?.and_then(|ran| compare(&drawn, &ran));
            Ok(Scored { drawn, found })
        })
        .collect()
}

fn compare(drawn: &Drawn, ran: &Ran) -> Result<Found, String> {
    let (sent, ledger) = (&ran.account.sent, &ran.connection.ledger);
    let last = sent.log.last().ok_or("the socket was never looked at")?;
    if last.unacked > 0 || last.not_sent > 0 {
        return Err(format!(
            "{} kB were not acknowledged in time",
            (u64::from(last.not_sent) + u64::from(last.unacked) * u64::from(last.mss)) / 1_000
        ));
    }
    let kernel = Shares::counted(sent, ledger).ok_or("the socket was never looked at")?;
    let paces = sent.log.facts.congestion_control == "bbr";
    let with_bbr = ran.connection.facts.with_bbr.filter(|_| paces);
    let mut parts: Vec<(String, f64)> = ledger
        .entries
        .iter()
        .map(|entry| {
            let name = format!("{}/{}", entry.cause.name(), entry.state.name());
            (name, entry.time_s / ledger.duration_s.max(1e-9))
        })
        .collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(Found {
        health: ran.health,
        kernel,
        states: Shares::by_state(ledger),
        counted: Shares::of(ledger, with_bbr),
        causes: Shares::by_cause(ledger),
        sampled: sampled(drawn, sent),
        sentence: ledger.sentence.clone(),
        parts,
        series: series(ran),
    })
}

/// Shares by samples of the socket, each taken for the time to the next: what the peer's window, or the buffer of a program
/// that always has more, would not let go while the congestion window had room.
fn sampled(drawn: &Drawn, sent: &Sent) -> Shares {
    let greedy = drawn.transfer.writes == Writes::Greedy;
    let end = sent.start + drawn.transfer.duration;
    let mut out = Shares::default();
    for pair in sent.log.samples.windows(2) {
        let (now, span) = (&pair[0], pair[1].at.since(pair[0].at).seconds());
        let flight = (now.bytes_sent - now.bytes_retransmitted).saturating_sub(now.bytes_acked);
        let next = u64::from(now.not_sent.min(now.mss));
        if now.unacked >= now.cwnd {
            continue;
        }
        if next > 0 && flight + next > u64::from(now.peer_window) {
            out.window += span;
        } else if greedy && now.at < end && now.not_sent < now.mss && now.unacked > 0 {
            out.buffer += span;
        }
    }
    let elapsed = sent.end.since(sent.start).seconds().max(1e-9);
    Shares {
        window: out.window / elapsed,
        buffer: out.buffer / elapsed,
    }
}

/// What kernel and ledger say over time, each twentieth of the transfer.
fn series(ran: &Ran) -> Vec<String> {
    let (sent, connection) = (&ran.account.sent, &ran.connection);
    let (line, ledger) = (&connection.facts.timeline, &connection.ledger);
    // The connection stood a round trip after its first packet.
    let stood = line.opened_s + line.least_rtt_s;
    let at = |place: usize| stood + sent.log.samples[place].at.since(sent.start).seconds();
    let mut out = vec![
        format!("{:?} with BBR {:?}", connection.basis, connection.facts.with_bbr),
        format!(
            "capacity {:?} {:?}",
            ledger.capacity_bit_per_s, ledger.capacity_is
        ),
        format!(
            "least {:.4} of data {:.4}, step {:.4}",
            line.least_rtt_s, line.least_data_rtt_s, line.step_s
        ),
    ];
    let count = sent.log.samples.len();
    let step = count.div_ceil(LINES).max(1);
    for place in (step..count).step_by(step) {
        let (before, now) = (&sent.log.samples[place - step], &sent.log.samples[place]);
        let (from, to) = (at(place - step), at(place));
        let part =
            |after: u64, before: u64| (after.saturating_sub(before)) as f64 / 1e6 / (to - from).max(1e-9);
        let spans: Vec<String> = ledger
            .spans
            .iter()
            .filter(|span| span.to_s > from && span.from_s < to)
            .map(|span| {
                let share = (span.to_s.min(to) - span.from_s.max(from)) / (to - from).max(1e-9);
                format!("{} {:.0}", span.limit, share * 100.0)
            })
            .collect();
        let steps = line.step_at(from)..=line.step_at(to);
        let flight = line.steps[steps.clone()].iter().map(|step| step.flight).max();
        let full: f64 = line.steps[steps]
            .iter()
            .map(|step| step.full_s + step.closed_s)
            .sum();
        out.push(format!(
            "{from:6.2} busy {:3.0} window {:3.0} buffer {:3.0} | unsent {:7} unacked {:4} cwnd {:4} peer {:7} | flight {:7} full {:3.0} | {}",
            100.0 * part(now.busy, before.busy),
            100.0 * part(now.receive_window_limited, before.receive_window_limited),
            100.0 * part(now.send_buffer_limited, before.send_buffer_limited),
            now.not_sent,
            now.unacked,
            now.cwnd,
            now.peer_window,
            flight.unwrap_or(0),
            100.0 * full / (to - from).max(1e-9),
            spans.join(", ")
        ));
    }
    out
}

/// Lines of what was said over time.
const LINES: usize = 40;

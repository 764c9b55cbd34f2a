//! What limited a job of several connections, such as one for each object that is stored.

use serde::{Deserialize, Serialize};
use slowpath_facts::Connection;

use crate::catalogue::Message;
use crate::ledger::{Entry, Hints, Ledger, job};
use crate::limit::{Flag, Limit, Reason};
use crate::message::{Count, Share, Span, named};
use crate::verdict::{Evidence, Parameters, Rejected, Verdict};

/// The connections between two hosts to one port, the data of which were one job, and what limited it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Address and port to which all of them were opened.
    pub server: String,
    /// How many.
    pub connections: u32,
    /// Payload bytes that arrived, of all of them.
    pub bytes_delivered: u64,
    /// Where the job's time went.
    pub ledger: Ledger,
    /// What limited it.
    pub verdict: Verdict,
}

/// A connection as it was judged alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member<'a> {
    /// The connection.
    pub(crate) seen: &'a Connection,
    /// What its ledger was made from beside its timeline.
    pub(crate) hints: &'a Hints,
    /// What limited it.
    pub(crate) verdict: &'a Verdict,
}

/// The job of the first connection, which has the most data; `None` where it is alone.
pub(crate) fn of<'a>(connections: impl Iterator<Item = Member<'a>>) -> Option<Job> {
    let mut connections = connections.peekable();
    let main = connections.peek()?.seen;
    let host = |end: &str| {
        end.rsplit_once(':')
            .map_or_else(|| end.to_owned(), |(host, _)| host.to_owned())
    };
    let near = host(&main.client);
    let members: Vec<Member<'_>> = connections
        .filter(|one| one.seen.server == main.server && host(&one.seen.client) == near)
        .filter(|one| one.seen.data_from == main.data_from)
        .filter(|one| one.seen.bytes_delivered.saturating_mul(SMALL) >= main.bytes_delivered)
        .collect();
    if members.len() < 2 {
        return None;
    }
    let flows = members.len();
    let parts: Vec<job::Part<'_>> = members
        .iter()
        .map(|one| job::Part {
            opened_s: one.seen.start_s,
            closed_s: one.seen.start_s + one.seen.duration_s,
            line: &one.seen.facts.timeline,
            hints: one.hints,
            others: one.seen.surroundings.flows as usize > flows,
        })
        .collect();
    let ledger = job::of(&parts)?;
    let verdict = judge(&ledger, &members)?;
    Some(Job {
        server: main.server.clone(),
        connections: u32::try_from(flows).unwrap_or(u32::MAX),
        bytes_delivered: members.iter().map(|one| one.seen.bytes_delivered).sum(),
        ledger,
        verdict,
    })
}

/// What limited the job: the cause that its ledger names.
fn judge(ledger: &Ledger, members: &[Member<'_>]) -> Option<Verdict> {
    let limit = ledger.limit()?;
    let share = |limit: Limit| ledger.time_of(limit) / ledger.duration_s;
    let untold = share(Limit::Unknown) + share(Limit::CaptureLoss);
    let own: Vec<&Entry> = ledger
        .entries
        .iter()
        .filter(|entry| entry.cause == limit)
        .collect();
    // What is remarkable about most of it; overflows are not where the link was full all the same.
    let full = ledger
        .floor_s
        .is_some_and(|floor| floor >= FULL * ledger.duration_s);
    let mut flags: Vec<Flag> = Vec::new();
    for flag in own.iter().flat_map(|entry| &entry.flags) {
        let of_flag = own.iter().filter(|entry| entry.flags.contains(flag));
        let time: f64 = of_flag.map(|entry| entry.time_s).sum();
        if full && *flag == Flag::ShortQueue {
            continue;
        }
        if !flags.contains(flag) && time >= MOST * ledger.time_of(limit) {
            flags.push(*flag);
        }
    }
    let (connections, held, what) = (
        Count(members.len() as u64),
        Share(share(limit)),
        named(&ledger.sentence),
    );
    let link = matches!(limit, Limit::BottleneckBandwidth | Limit::SharedBottleneck);
    let sentence = match limit {
        _ if link && flags.contains(&Flag::ShortQueue) => Message::JobOverflows {
            held,
            connections,
            what,
        },
        _ if link && ledger.floor_s.is_some() => Message::JobFills {
            floor: Share(ledger.floor_s.unwrap_or_default() / ledger.duration_s),
            connections,
            what,
        },
        Limit::ProtocolWindow => Message::JobWaits {
            held,
            connections,
            what,
        },
        Limit::Unknown => Message::JobUntold {
            held,
            connections,
            what,
        },
        _ => Message::JobLimited {
            limit: named(limit.noun()),
            held,
            connections,
            what,
        },
    };
    // What would tell of the connections that are most in the dark.
    let dark = members.iter().find(|one| one.verdict.limit.is_undecided());
    let next_step = dark.and_then(|one| one.verdict.next_step.clone());
    Some(Verdict {
        limit,
        flags,
        share: share(limit).clamp(0.0, 1.0),
        confidence: (SURE * (1.0 - untold)).clamp(0.0, 1.0),
        sentence: sentence.to_string(),
        parameters: Parameters {
            rate_bit_per_s: ledger.capacity_bit_per_s,
            rate_is_lower_bound: Some(ledger.floor_s.is_none()),
            ..Parameters::default()
        },
        evidence: ledger.entries.iter().map(seen).collect(),
        rejected: rejected(ledger, limit),
        next_step: next_step.filter(|_| limit.is_undecided()),
    })
}

/// What an entry of the ledger shows.
fn seen(entry: &Entry) -> Evidence {
    let (cause, state) = (named(entry.cause), named(entry.state.name()));
    Evidence {
        fact: format!("ledger.{cause}.{state}"),
        text: Message::JobSpent {
            time: Span(entry.time_s),
            cause,
            state,
        }
        .to_string(),
        value: entry.time_s,
        unit: "s".to_owned(),
        packets: Vec::new(),
    }
}

/// Causes that held for less of the time.
fn rejected(ledger: &Ledger, chosen: Limit) -> Vec<Rejected> {
    let mut out: Vec<Rejected> = Vec::new();
    for cause in ledger.entries.iter().map(|entry| entry.cause) {
        if cause != chosen && !cause.is_undecided() && out.iter().all(|other| other.limit != cause) {
            let held = Share(ledger.time_of(cause) / ledger.duration_s);
            out.push(Rejected {
                limit: cause,
                reason: Reason::SmallerShare,
                text: Message::JobHeld { held }.to_string(),
            });
        }
    }
    out
}

/// A connection with less than one of so many parts of the largest one's data is no part of the job's work.
const SMALL: u64 = 20;
/// Share of the job's time that the link itself needs from which the link is full.
const FULL: f64 = 0.8;
/// Share of a cause's time from which what is remarkable about a part of it holds for all.
const MOST: f64 = 0.5;
/// How sure a sum of ledgers is that tells all of the time.
const SURE: f64 = 0.85;

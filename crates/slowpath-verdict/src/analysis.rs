//! The result of an analysis, in the form in which it is written as JSON (`slowpath/explain/1`).
//!
//! Field names are stable. Remedies and predicted gains are not here: an analysis names no change to make.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};
use slowpath_facts::{Capture, CaptureFacts};

use crate::booked;
use crate::case::{Case, FRAME_OVERHEAD};
use crate::hints::hints;
use crate::job::{self, Job};
use crate::judge::judge;
use crate::ledger::{self, Hints, Ledger};
use crate::limit::Limit;
use crate::limits::full_link;
use crate::verdict::{Interval, Verdict};

/// Version of the JSON form.
pub const SCHEMA: &str = "slowpath/explain/1";

/// What one capture says: its quality, its connections, and what limited each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: String,
    /// The capture as a whole.
    pub capture: Capture,
    /// Connections, those with the most data first.
    pub connections: Vec<Connection>,
    /// The job of which the connection with the most data is one part; absent where it is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
}

impl Analysis {
    /// Judges every connection of a capture.
    pub fn of(observed: CaptureFacts) -> Self {
        let connections: Vec<Connection> = observed.connections.into_iter().map(Connection::of).collect();
        Self {
            schema: SCHEMA.to_owned(),
            capture: observed.capture,
            job: job::of(connections.iter().map(Connection::member)),
            connections,
        }
    }

    /// What limited the transfer: the job that the main connection is part of, or that connection.
    pub fn verdict(&self) -> Option<&Verdict> {
        let of_main = || self.main_connection().map(|main| &main.verdict);
        self.job.as_ref().map(|job| &job.verdict).or_else(of_main)
    }

    /// Where the transfer's time went: that of the job, or of the main connection.
    pub fn ledger(&self) -> Option<&Ledger> {
        let of_main = || self.main_connection().map(|main| &main.ledger);
        self.job.as_ref().map(|job| &job.ledger).or_else(of_main)
    }

    /// The connection that moved the most data.
    pub fn main_connection(&self) -> Option<&Connection> {
        self.connections.first()
    }
}

/// One connection and what limited it; it reads like the connection that it judges, whose fields stand beside the
/// verdict in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// The connection.
    #[serde(flatten)]
    pub seen: slowpath_facts::Connection,
    /// What limited it.
    pub verdict: Verdict,
    /// What limited it when.
    pub intervals: Vec<Interval>,
    /// Where its time went.
    #[serde(default)]
    pub ledger: Ledger,
    /// What the ledger was made from beside the timeline of the facts.
    #[serde(skip)]
    pub basis: Hints,
}

impl Connection {
    /// Judges a connection.
    pub fn of(seen: slowpath_facts::Connection) -> Self {
        let basis = hints(&seen.facts, &seen.surroundings);
        let ledger = ledger::book(&seen.facts.timeline, &basis, None);
        let (verdict, intervals) = judge(&seen.facts, &seen.surroundings, &ledger);
        Self {
            seen,
            verdict,
            intervals,
            ledger,
            basis,
        }
    }

    const fn member(&self) -> job::Member<'_> {
        job::Member {
            seen: &self.seen,
            hints: &self.basis,
            verdict: &self.verdict,
        }
    }

    /// What is said of it first: every part of a tenth or more of its time, where there are several and the verdict is among
    /// them; else the verdict's sentence.
    pub fn headline(&self) -> &str {
        let mixed = self.ledger.parts() > 1 && booked::agrees(self.verdict.limit, &self.ledger);
        // A doubt stands in the verdict's own words.
        let doubted = self.verdict.next_step.is_some() && !self.verdict.limit.is_undecided();
        // A program that goes on at set times decides, whatever the ledger says of the time between.
        let scheduled = self.basis.scheduled.is_some() && self.verdict.limit == Limit::SenderApplication;
        if mixed && !doubted && !scheduled {
            &self.ledger.sentence
        } else {
            &self.verdict.sentence
        }
    }

    /// Whether the queue that stands is on the way of the acknowledgements.
    pub fn acks_wait(&self) -> bool {
        let case = Case::of(&self.seen.facts, &self.seen.surroundings);
        full_link::is_of_acknowledgements(&case, self.verdict.limit)
    }

    /// Whether one stands there as well, perhaps beside one of data.
    pub fn acks_wait_too(&self) -> bool {
        let case = Case::of(&self.seen.facts, &self.seen.surroundings);
        full_link::is_of_acknowledgements_too(&case, self.verdict.limit)
    }

    /// How many flows of some size there are between the same hosts in the same direction, this one included.
    pub fn flows_beside(&self) -> u32 {
        self.seen.surroundings.flows.max(1)
    }

    /// Books the ledger again, and judges by it, for a path whose capacity is known: `rate_bit_per_s` counts Ethernet frames with FCS.
    pub fn with_capacity(&mut self, rate_bit_per_s: f64) {
        let segment = f64::from(self.facts.segment_size.max(1));
        let payload = rate_bit_per_s / 8.0 * segment / (segment + FRAME_OVERHEAD);
        self.ledger = ledger::book(&self.seen.facts.timeline, &self.basis, Some(payload));
        let judged = judge(&self.seen.facts, &self.seen.surroundings, &self.ledger);
        (self.verdict, self.intervals) = judged;
    }
}

impl Deref for Connection {
    type Target = slowpath_facts::Connection;

    fn deref(&self) -> &Self::Target {
        &self.seen
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.seen
    }
}

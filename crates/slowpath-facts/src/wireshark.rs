//! What Wireshark says of segments below the highest sequence number, beside what they were, and why.
//!
//! Wireshark (4.0, `packet-tcp.c`) asks in this order: at or below the last acknowledgement: *spurious*; the segment
//! that at least two duplicate acknowledgements ask for, within 20 ms of the last: *fast*; within the initial round
//! trip (3 ms without a handshake) of the highest sequence number: *out of order*; else *retransmission*. It looks at
//! times and not at what was sent before, so at a sender it calls many retransmissions out of order.

use serde::{Deserialize, Serialize};

use crate::track::Half;
use crate::track::log::{Ack, Tx, TxFlags};

/// Wireshark's names, as its filters write them: `tcp.analysis.NAME`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tag {
    /// `tcp.analysis.retransmission`, and none of the others.
    Retransmission,
    /// `tcp.analysis.fast_retransmission`.
    FastRetransmission,
    /// `tcp.analysis.spurious_retransmission`.
    SpuriousRetransmission,
    /// `tcp.analysis.out_of_order`.
    OutOfOrder,
}

impl Tag {
    /// The name in a filter, behind `tcp.analysis.`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retransmission => "retransmission",
            Self::FastRetransmission => "fast_retransmission",
            Self::SpuriousRetransmission => "spurious_retransmission",
            Self::OutOfOrder => "out_of_order",
        }
    }
}

/// What a segment below the highest sequence number was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Was {
    /// Sent again, and needed.
    Retransmission,
    /// Sent again although it had arrived.
    NotNeeded,
    /// Sent again after the first copy had been lost before the tap.
    LostBeforeTap,
    /// Sent once and overtaken on the way.
    Overtaken,
}

impl Was {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retransmission => "retransmission",
            Self::NotNeeded => "retransmission that was not needed",
            Self::LostBeforeTap => "retransmission, first lost before the tap",
            Self::Overtaken => "overtaken on the way",
        }
    }

    /// How that is known.
    pub const fn why(self) -> &'static str {
        match self {
            Self::Retransmission => {
                "the capture shows the same bytes before, and none says that they had arrived"
            }
            Self::NotNeeded => {
                "its bytes had arrived: acknowledged or reported before it was sent, reported twice (D-SACK), or answered sooner than a round trip"
            }
            Self::LostBeforeTap => {
                "its bytes were never seen before, and IP identification, timestamps or time say that it was sent after those above it"
            }
            Self::Overtaken => {
                "its bytes were never seen before, and IP identification, timestamps or time say that it was sent before those above it"
            }
        }
    }
}

/// Segments of which Wireshark says one thing and which were one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What Wireshark says.
    pub wireshark: Tag,
    /// What they were.
    pub slowpath: Was,
    /// Whether the two say the same.
    pub agree: bool,
    /// How many.
    pub segments: u64,
    /// The first of their frames.
    pub frames: Vec<u64>,
    /// How slowpath knows.
    pub why: String,
}

/// Frames listed in a row.
const FRAMES: usize = 5;

/// The rows of one direction; `first_rtt` is the handshake's round trip in nanoseconds, if seen.
pub(crate) fn rows(half: &Half, first_rtt: Option<i64>) -> Vec<Row> {
    let mut out: Vec<Row> = Vec::new();
    let mut acks = half.acks.entries().iter().peekable();
    let mut state = State::default();
    for tx in half.tx.entries().iter().filter(|tx| tx.seen()) {
        while let Some(ack) = acks.next_if(|ack| ack.number < tx.number) {
            state.acknowledged(ack);
        }
        if let Some(tag) = state.judge(tx, first_rtt.unwrap_or(3_000_000)) {
            note(&mut out, tag, was(tx), tx.number);
        }
        if tx.end() > state.next {
            state.next = tx.end();
            state.next_at = tx.at;
        }
    }
    out.sort_by_key(|row| (row.wireshark, row.slowpath));
    out
}

fn was(tx: &Tx) -> Was {
    if tx.flags.has(TxFlags::RETRANSMISSION) {
        if tx.flags.has(TxFlags::SPURIOUS) {
            Was::NotNeeded
        } else {
            Was::Retransmission
        }
    } else if tx.flags.has(TxFlags::FILLS) {
        Was::LostBeforeTap
    } else {
        Was::Overtaken
    }
}

fn note(rows: &mut Vec<Row>, wireshark: Tag, slowpath: Was, frame: u64) {
    let found = rows
        .iter_mut()
        .find(|row| row.wireshark == wireshark && row.slowpath == slowpath);
    if let Some(row) = found {
        row.segments += 1;
        if row.frames.len() < FRAMES {
            row.frames.push(frame);
        }
        return;
    }
    let agree = match wireshark {
        Tag::OutOfOrder => slowpath == Was::Overtaken,
        Tag::SpuriousRetransmission => slowpath == Was::NotNeeded,
        Tag::Retransmission | Tag::FastRetransmission => {
            matches!(slowpath, Was::Retransmission | Was::LostBeforeTap)
        }
    };
    rows.push(Row {
        wireshark,
        slowpath,
        agree,
        segments: 1,
        frames: vec![frame],
        why: slowpath.why().to_owned(),
    });
}

/// What Wireshark remembers of a direction.
#[derive(Debug, Default)]
struct State {
    next: u64,
    next_at: i64,
    ack: u64,
    ack_at: i64,
    duplicates: u32,
}

impl State {
    fn acknowledged(&mut self, ack: &Ack) {
        self.duplicates = if ack.duplicate { self.duplicates + 1 } else { 0 };
        self.ack = ack.to;
        self.ack_at = ack.at;
    }

    fn judge(&self, tx: &Tx, first_rtt: i64) -> Option<Tag> {
        if tx.seq >= self.next {
            return None;
        }
        Some(if tx.end() <= self.ack {
            Tag::SpuriousRetransmission
        } else if self.duplicates >= 2 && self.ack == tx.seq && tx.at - self.ack_at < 20_000_000 {
            Tag::FastRetransmission
        } else if tx.at - self.next_at < first_rtt && tx.end() != self.next {
            Tag::OutOfOrder
        } else {
            Tag::Retransmission
        })
    }
}

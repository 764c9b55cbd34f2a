//! What the capture itself says: too little or nothing to judge by.

use super::{Case, Finding, cutoff, finding};
use crate::limit::Limit;
use slowpath_facts::Tap;
use slowpath_facts::words::{bytes, span};

pub(super) fn unusable(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let (why, next) = if case.around.untimed {
        ("the packets have no time stamps", "a capture with time stamps")
    } else if !facts.acknowledged {
        (
            "only one direction of the connection was recorded",
            "both directions at one point",
        )
    } else if facts.segments == 0 && facts.bytes > 0 {
        (
            "only acknowledgements were recorded",
            "both directions at one point",
        )
    } else if facts.capture_loss_fraction > 0.9 {
        (
            "the capture missed nearly all data",
            "both directions at one point",
        )
    } else {
        return None;
    };
    let mut out = finding(
        Limit::Unknown,
        1.0,
        0.9,
        format!("Cannot be told from here: {why}."),
    );
    out.next_step = Some(format!("take {next}"));
    Some(out)
}

pub(super) fn too_short(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let segment = u64::from(facts.segment_size.max(500));
    if facts.bytes >= cutoff::SEGMENTS * segment {
        return None;
    }
    let mut out = finding(
        Limit::Unknown,
        1.0,
        0.9,
        format!(
            "Too little was transferred ({}) to tell a limit{}.",
            bytes(facts.bytes as f64),
            if facts.tap == Tap::Sender {
                ""
            } else {
                ", as far as this place shows: what was lost before it does not come by"
            }
        ),
    );
    let next = match facts.tap {
        Tap::Sender => "capture a longer transfer",
        Tap::Receiver | Tap::Middle | Tap::Unknown => {
            "capture at the sender, or a longer transfer if this one came to its end"
        }
    };
    out.next_step = Some(next.to_owned());
    Some(out)
}

pub(super) fn undecided(case: &Case) -> Finding {
    let facts = case.facts;
    let next = match facts.tap {
        Tap::Sender => {
            "sample the sender's socket during the transfer (ss -ti: rwnd_limited, sndbuf_limited, cwnd), or capture at both ends"
        }
        Tap::Receiver | Tap::Middle | Tap::Unknown => "capture at the sender, best at both ends",
    };
    let mut out = finding(
        Limit::Unknown,
        1.0,
        0.5,
        format!(
            "Cannot be told from here: the window has room, {} segments were lost in {} episodes, the round trip is {} (empty path {}), and the flight is not constant.",
            facts.loss.lost_segments,
            facts.loss.episodes,
            span(case.rtt),
            span(case.base_rtt)
        ),
    );
    out.next_step = Some(next.to_owned());
    out
}

//! The receiver's window is full each round trip and stays as large as it is.

use super::{seen, window};
use crate::case::{Case, WINDOW_SHARE};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, observed, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Rate, Share, Size, Span};
use crate::verdict::Evidence;

cuts! {
    /// Round trip over that of the empty path from which a queue, not the path, makes the window full.
    QUEUED: 1.5 between 1.37, 2.11;
}

/// A window that holds the sender.
pub(crate) const LOOK: Look = Look {
    limit: Limit::ReceiverWindow,
    plainest: true,
    certainty: Certainty::Stated,
    at: look,
    evidence,
    cuts: CUTS,
};

/// Looks for a window that holds the sender.
fn look(case: &Case) -> Result<Finding, No> {
    window::scale_known(case)?;
    let (facts, window) = (case.facts, &case.facts.window);
    let held = case.held();
    require(case.reaches(WINDOW_SHARE, held), Reason::WindowHadRoom, || {
        Message::WindowHadRoom { held: Share(held) }
    })?;
    require(!window::is_slow(case), Reason::WindowShrinks, || {
        Message::WindowShrank {
            from: Size(window.max as f64),
            to: Size(window.min as f64),
        }
    })?;
    let queue = facts.queue.unwrap_or_default();
    let queued = case.inflated()
        && case.exceeds_times(QUEUED, case.rtt, case.base_rtt)
        && (case.fills(&queue) || case.steady_behind_queue());
    require(
        !queued,
        Reason::DelayFollowsLoad,
        || Message::WindowFullOfQueue {},
    )?;
    let mut out = Finding::new(
        Limit::ReceiverWindow,
        held,
        DOUBTFUL + RISES * held,
        Message::WindowFull {
            window: Size(window.full_median as f64),
            held: Share(held),
            rtt: Span(case.rtt),
            allows: Rate(window.full_median as f64 * 8.0 / case.rtt.max(1e-9)),
        },
    );
    out.parameters.window_bytes = Some(window.full_median);
    out.parameters.rtt_s = Some(case.rtt);
    if window.scale_known == 1 {
        out.confidence *= INFERRED;
        out.also.push(Message::ScaleInferred {});
    }
    Ok(out)
}

/// What shows it.
fn evidence(case: &Case) -> Vec<Evidence> {
    let window = &case.facts.window;
    let held = case.held();
    let full = Message::WindowFullFor { held: Share(held) };
    let size = Message::WindowWhileFull {
        window: Size(window.full_median as f64),
    };
    let eaten = Message::EdgeLags {
        share: Share(window.eaten_fraction),
    };
    let mut out = vec![
        observed("window.full", &full, held, "", &window.full_frames),
        observed("window.size", &size, window.full_median as f64, "byte", &[]),
        observed("window.eaten", &eaten, window.eaten_fraction, "", &[]),
    ];
    if let Some(counted) = case.facts.with_bbr.filter(|counted| counted.sooner < PACES) {
        let share = counted.window_s / case.facts.time.total_s.max(1e-9);
        let message = Message::CountedWithBbr { share: Share(share) };
        out.push(observed("window.counted-with-bbr", &message, share, "", &[]));
    }
    out.extend(seen::usual(case));
    out
}

/// Confidence where the window hardly ever holds; chosen.
const DOUBTFUL: f64 = 0.6;
/// How much it rises to where it always does.
const RISES: f64 = 0.38;
/// Share of what was sent that left sooner than BBR would let it, below which the sender may have BBR: at most 0.37 in 29 lab
/// transfers with BBR that their window held for three tenths of the time, and so little in 27 of 89 with another control.
const PACES: f64 = 0.4;
/// What an inferred scale leaves of the confidence; chosen.
const INFERRED: f64 = 0.8;

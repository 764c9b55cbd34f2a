//! The receiving program is slow: the window shrinks or closes because what arrived is not read.

use super::{seen, window};
use crate::case::{Case, WINDOW_SHARE};
use crate::catalogue::Message;
use crate::finding::{Finding, No, observed, require};
use crate::limit::{Flag, Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Count, PayloadRate, Share, Size, Span};
use crate::verdict::Evidence;

/// A slow reader. Its cut-offs stand with those of the window, which the receiver's window asks too.
pub(crate) const LOOK: Look = Look {
    limit: Limit::ReceiverApplication,
    plainest: true,
    certainty: Certainty::Stated,
    at: look,
    evidence,
    cuts: window::CUTS,
};

/// Looks for a slow reader.
fn look(case: &Case) -> Result<Finding, No> {
    window::scale_known(case)?;
    let (facts, time, window) = (case.facts, &case.facts.time, &case.facts.window);
    let held = case.held();
    let closed = case.share(time.window_closed_s);
    let held_long = case.reaches(WINDOW_SHARE, held);
    require(
        held_long || case.reaches(window::CLOSED_SHARE, closed) || window::is_shrinking(case),
        Reason::WindowNeverClosed,
        || Message::NeverClosed {
            closed: Span(time.window_closed_s),
            held: Share(held),
        },
    )?;
    require(window::is_slow(case), Reason::WindowConstant, || {
        Message::WindowStayed {
            ratio: Share(window.full_ratio),
        }
    })?;
    let rate = if window.edge_rate > 0.0 {
        window.edge_rate
    } else {
        facts.bytes as f64 / case.total
    };
    let rhythmic = window.period_s > 0.0 && held_long;
    let step = rhythmic.then(|| (rate * window.period_s).round() as u64);
    let (from, to) = (Size(window.max as f64), Size(window.min as f64));
    let stop = window::one_stop(case);
    let sentence = match (stop, step) {
        (Some((at, length)), _) => Message::ReaderStopped {
            length: Span(length),
            at: Span(at),
        },
        (None, Some(step)) => Message::ReaderTakesInSteps {
            rate: PayloadRate(rate),
            step: Size(step as f64),
            period: Span(window.period_s),
            from,
            to,
            closed: Share(closed),
        },
        (None, None) => Message::ReaderTakes {
            rate: PayloadRate(rate),
            from,
            to,
            closed: Share(closed),
        },
    };
    let mut out = Finding::new(Limit::ReceiverApplication, held.max(closed), CONFIDENCE, sentence);
    // A stop is no pace.
    if let Some((_, length)) = stop {
        out.parameters.stopped_s = Some(length);
    } else {
        out.parameters.drain_byte_per_s = Some(rate);
        out.parameters.drain_step_bytes = step;
    }
    out.parameters.window_bytes = Some(window.full_median);
    out.parameters.rtt_s = Some(case.rtt);
    if !held_long {
        out.flags.push(Flag::Mixed);
    }
    Ok(out)
}

/// What shows it.
fn evidence(case: &Case) -> Vec<Evidence> {
    let (time, window) = (&case.facts.time, &case.facts.window);
    let closed = Message::ClosedFor {
        closed: Span(time.window_closed_s),
        closures: Count(time.closures),
    };
    let ratio = Message::WindowOfLargest {
        ratio: Share(window.full_ratio),
    };
    let edge = Message::EdgeMoves {
        rate: PayloadRate(window.edge_rate),
    };
    let mut out = vec![
        observed(
            "window.closed",
            &closed,
            time.window_closed_s,
            "s",
            &window.closed_frames,
        ),
        observed("window.ratio", &ratio, window.full_ratio, "", &window.full_frames),
        observed("window.edge_rate", &edge, window.edge_rate, "byte/s", &[]),
    ];
    out.extend(seen::usual(case));
    out
}

/// Chosen: what the window field says leaves little doubt.
const CONFIDENCE: f64 = 0.9;

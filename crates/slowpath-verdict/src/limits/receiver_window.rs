//! The receiver's window is full each round trip and stays as large as it is.

use slowpath_facts::words::{bits, bytes, percent, span};

use super::receiver_application;
use crate::case::{Case, WINDOW_SHARE};
use crate::evidence::observed;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::verdict::Evidence;

/// Round trip over that of the empty path from which a queue, not the path, makes the window full.
const QUEUED: f64 = 1.5;

/// Looks for a window that holds the sender.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    scale_known(case)?;
    let (facts, window) = (case.facts, &case.facts.window);
    let held = case.held();
    require(held >= WINDOW_SHARE, Reason::WindowHadRoom, || {
        format!("the window was full only {} of the time", percent(held))
    })?;
    require(
        !receiver_application::is_slow(case),
        Reason::WindowShrinks,
        || {
            format!(
                "the window shrank from {} to {}",
                bytes(window.max as f64),
                bytes(window.min as f64)
            )
        },
    )?;
    let queue = facts.queue.unwrap_or_default();
    let queued = case.inflated()
        && case.rtt > QUEUED * case.base_rtt
        && (case.fills(&queue) || case.steady_behind_queue());
    require(!queued, Reason::DelayFollowsLoad, || {
        "the window is full because a queue is: more window means more queue".to_owned()
    })?;
    let mut out = Finding::new(
        Limit::ReceiverWindow,
        held,
        0.6 + 0.38 * held,
        format!(
            "The receiver's window of {} is full {} of the time: with a round trip of {} it allows {}, whatever the path could carry.",
            bytes(window.full_median as f64),
            percent(held),
            span(case.rtt),
            bits(window.full_median as f64 * 8.0 / case.rtt.max(1e-9))
        ),
    );
    out.parameters.window_bytes = Some(window.full_median);
    out.parameters.rtt_s = Some(case.rtt);
    if window.scale_known == 1 {
        out.confidence *= 0.8;
        out.sentence.push_str(" The window scale is inferred.");
    }
    Ok(out)
}

/// Without the scale no window is known.
pub(super) fn scale_known(case: &Case) -> Result<(), No> {
    require(
        case.facts.window.scale_known > 0,
        Reason::CaptureIncomplete,
        || "the window's scale is not known: the handshake was not recorded".to_owned(),
    )
}

/// What shows it.
pub(super) fn evidence(case: &Case) -> Vec<Evidence> {
    let window = &case.facts.window;
    vec![
        observed(
            "window.full",
            format!("window full {} of the time", percent(case.held())),
            case.held(),
            "",
            &window.full_frames,
        ),
        observed(
            "window.size",
            format!("window while full {}", bytes(window.full_median as f64)),
            window.full_median as f64,
            "byte",
            &[],
        ),
        observed(
            "window.eaten",
            format!(
                "right edge lags acknowledgements by {}",
                percent(window.eaten_fraction)
            ),
            window.eaten_fraction,
            "",
            &[],
        ),
    ]
}

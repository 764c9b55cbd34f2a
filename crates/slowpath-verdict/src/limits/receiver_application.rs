//! The receiving program is slow: the window shrinks or closes because what arrived is not read.

use slowpath_facts::words::{bytes, percent, span};

use super::receiver_window::scale_known;
use crate::case::{Case, WINDOW_SHARE};
use crate::evidence::observed;
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};
use crate::verdict::Evidence;

/// Share of the time with a closed window that is a limit whatever held the rest.
const CLOSED_SHARE: f64 = 0.25;
/// Share of the time with a full window far below its largest that is a limit whatever held the rest.
const SHRUNK_SHARE: f64 = 0.3;
/// Mean window while it holds, relative to its largest, below which the reader is slow.
const WINDOW_RATIO: f64 = 0.8;
/// Share of the time that the window holds the sender in which it is much smaller than it had been, from which the reader
/// is slow.
const MOSTLY_SHRUNK: f64 = 0.5;

/// Looks for a slow reader.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    scale_known(case)?;
    let (facts, time, window) = (case.facts, &case.facts.time, &case.facts.window);
    let held = case.held();
    let closed = case.share(time.window_closed_s);
    require(
        held >= WINDOW_SHARE || closed >= CLOSED_SHARE || is_shrinking(case),
        Reason::WindowNeverClosed,
        || {
            format!(
                "the window was closed {} and full {} of the time",
                span(time.window_closed_s),
                percent(held)
            )
        },
    )?;
    require(is_slow(case), Reason::WindowConstant, || {
        format!(
            "while full, the window stayed at {} of its largest",
            percent(window.full_ratio)
        )
    })?;
    let rate = if window.edge_rate > 0.0 {
        window.edge_rate
    } else {
        facts.bytes as f64 / case.total
    };
    let rhythmic = window.period_s > 0.0 && held >= WINDOW_SHARE;
    let step = rhythmic.then(|| (rate * window.period_s).round() as u64);
    let steps = step.map_or_else(String::new, |step| {
        format!(
            ", in steps of {} every {}",
            bytes(step as f64),
            span(window.period_s)
        )
    });
    let mut out = Finding::new(
        Limit::ReceiverApplication,
        held.max(closed),
        0.9,
        format!(
            "The receiving program takes only {}/s{steps}: the window shrinks from {} to {} and is closed {} of the time. A larger window or another path would not help.",
            bytes(rate),
            bytes(window.max as f64),
            bytes(window.min as f64),
            percent(closed)
        ),
    );
    out.parameters.drain_byte_per_s = Some(rate);
    out.parameters.drain_step_bytes = step;
    out.parameters.window_bytes = Some(window.full_median);
    out.parameters.rtt_s = Some(case.rtt);
    if held < WINDOW_SHARE {
        out.flags.push(Flag::Mixed);
    }
    Ok(out)
}

/// Whether the window that holds the sender is that of a slow reader.
pub(super) fn is_slow(case: &Case) -> bool {
    let (time, window) = (&case.facts.time, &case.facts.window);
    let shrunk = time.window_closed_s + time.window_shrunk_s;
    is_shrinking(case)
        || case.share(time.window_closed_s) >= CLOSED_SHARE
        || window.full_ratio < WINDOW_RATIO
        || shrunk > MOSTLY_SHRUNK * (time.window_closed_s + time.window_full_s)
}

/// Far below its largest for long, though other things held the sender for most of the time.
fn is_shrinking(case: &Case) -> bool {
    let time = &case.facts.time;
    case.held() < WINDOW_SHARE && case.share(time.window_closed_s + time.window_shrunk_s) >= SHRUNK_SHARE
}

/// What shows it.
pub(super) fn evidence(case: &Case) -> Vec<Evidence> {
    let (time, window) = (&case.facts.time, &case.facts.window);
    vec![
        observed(
            "window.closed",
            format!(
                "window closed {} in {} closures",
                span(time.window_closed_s),
                time.closures
            ),
            time.window_closed_s,
            "s",
            &window.closed_frames,
        ),
        observed(
            "window.ratio",
            format!(
                "while it held the sender, the window was {} of its largest",
                percent(window.full_ratio)
            ),
            window.full_ratio,
            "",
            &window.full_frames,
        ),
        observed(
            "window.edge_rate",
            format!("its right edge moved on at {}/s", bytes(window.edge_rate)),
            window.edge_rate,
            "byte/s",
            &[],
        ),
    ]
}

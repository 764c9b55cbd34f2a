//! The advertised window: what both limits that it shows begin with.

use crate::case::{Case, WINDOW_SHARE};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{No, require};
use crate::limit::Reason;

cuts! {
    /// Share of the time with a closed window that is a limit whatever held the rest.
    pub(super) CLOSED_SHARE: 0.25 between 0.042_5, 0.336;
    /// Share of the time with a full window far below its largest that is a limit whatever held the rest.
    SHRUNK_SHARE: 0.3 between 0.000_000_008_75, 0.351;
    /// Mean window while it holds, relative to its largest, below which the reader is slow.
    WINDOW_RATIO: 0.8 between 0.269, 0.920;
    /// Share of the time with a closed or shrunken window that one stop of the reader makes, from which there is nothing
    /// else.
    ONE_STOP: 0.8 between 0.057_1, 0.957;
    /// Round trips from which a closed window is a stop.
    STOP: 5.0 between 1.83, 6.55;
    /// Share of the time that the window holds the sender in which it is much smaller than it had been, from which the
    /// reader is slow.
    MOSTLY_SHRUNK: 0.5 between 0.000_000_109, NONE;
}

/// Without the scale no window is known.
pub(super) fn scale_known(case: &Case) -> Result<(), No> {
    require(
        case.facts.window.scale_known > 0,
        Reason::CaptureIncomplete,
        || Message::ScaleUnknown {},
    )
}

/// The one stop of a reader that is not slow else: when it began, seconds after the start of the capture, and for how long.
pub(crate) fn one_stop(case: &Case) -> Option<(f64, f64)> {
    let (time, line) = (&case.facts.time, &case.facts.timeline);
    let (at, length) = line.longest_stop()?;
    let small = time.window_closed_s + time.window_shrunk_s;
    let one = case.reaches_times(STOP, length, line.least_rtt_s.max(LEAST_RTT))
        && case.reaches_times(ONE_STOP, length, small);
    one.then_some((at, length))
}

/// Whether the window that holds the sender is that of a slow reader.
pub(super) fn is_slow(case: &Case) -> bool {
    let (time, window) = (&case.facts.time, &case.facts.window);
    let shrunk = time.window_closed_s + time.window_shrunk_s;
    is_shrinking(case)
        || case.reaches(CLOSED_SHARE, case.share(time.window_closed_s))
        || case.below(WINDOW_RATIO, window.full_ratio)
        || case.exceeds_times(MOSTLY_SHRUNK, shrunk, time.window_closed_s + time.window_full_s)
}

/// Far below its largest for long, though other things held the sender for most of the time.
pub(super) fn is_shrinking(case: &Case) -> bool {
    let time = &case.facts.time;
    let shrunk = case.share(time.window_closed_s + time.window_shrunk_s);
    case.below(WINDOW_SHARE, case.held()) && case.reaches(SHRUNK_SHARE, shrunk)
}

/// No round trip is shorter, seconds.
const LEAST_RTT: f64 = 1e-6;

//! From [`WhatIf`] to what the templates show.

use serde::Serialize;

use crate::graphs::base64;
use crate::quantity::{bytes, percent, seconds};
use crate::what_if::{Choice, Sliders, WhatIf};

/// What a page says and offers about changes.
#[derive(Debug, Clone, Copy)]
pub struct WhatIfPart<'a> {
    /// Answers, and what sliders start from.
    pub what_if: &'a WhatIf,
    /// The simulator as a program for WebAssembly, deflated; without it there are no sliders.
    pub program: Option<&'a [u8]>,
}

#[derive(Debug, Serialize)]
pub(super) struct WhatIfView {
    connection: u32,
    answers: Vec<Row>,
    sliders: Option<SlidersView>,
}

#[derive(Debug, Serialize)]
struct Row {
    change: String,
    duration: String,
    interval: String,
    next_limit: Option<String>,
    reason: Option<String>,
    untold: Option<String>,
}

#[derive(Debug, Serialize)]
struct SlidersView {
    json: String,
    program: String,
    levers: Vec<LeverView>,
    choices: Vec<Choice>,
    share: Option<String>,
    duration: String,
    bytes: String,
    goodput: String,
    resent: u64,
}

#[derive(Debug, Serialize)]
struct LeverView {
    key: String,
    name: String,
    shown: String,
    fits: String,
    told: bool,
    last: usize,
    fitted: usize,
    /// Where the fitted value stands, as a share of the way.
    at: f64,
}

/// The view, where there is something to see.
pub(super) fn view(part: WhatIfPart<'_>) -> Option<WhatIfView> {
    let WhatIfPart { what_if, program } = part;
    let sliders = what_if.sliders.as_ref().zip(program);
    let view = WhatIfView {
        connection: what_if.connection,
        answers: what_if
            .answers
            .iter()
            .map(|answer| Row {
                change: answer.change.clone(),
                duration: answer
                    .duration_s
                    .map(|(middle, ..)| seconds(middle))
                    .unwrap_or_default(),
                interval: answer
                    .duration_s
                    .map(|(_, low, high)| format!("{} to {}", seconds(low), seconds(high)))
                    .unwrap_or_default(),
                next_limit: answer.next_limit.clone(),
                reason: answer.reason.clone(),
                untold: answer.untold.clone(),
            })
            .collect(),
        sliders: sliders.map(|(sliders, program)| SlidersView::of(sliders, program)),
    };
    (!view.answers.is_empty() || view.sliders.is_some()).then_some(view)
}

impl SlidersView {
    fn of(sliders: &Sliders, program: &[u8]) -> Self {
        let captured = &sliders.captured;
        Self {
            // Inside a script element only "<" could end it; JSON may spell it otherwise.
            json: serde_json::to_string(sliders)
                .unwrap_or_default()
                .replace('<', "\\u003c"),
            program: base64(program),
            levers: sliders
                .levers
                .iter()
                .map(|lever| {
                    let last = lever.stops.len().saturating_sub(1);
                    LeverView {
                        key: lever.key.clone(),
                        name: lever.name.clone(),
                        shown: lever.shown.clone(),
                        fits: lever.fits.clone(),
                        told: lever.told,
                        last,
                        fitted: lever.fitted,
                        at: (lever.fitted as f64 / last.max(1) as f64 * 1e4).round() / 1e4,
                    }
                })
                .collect(),
            choices: sliders.choices.clone(),
            share: (sliders.share < WHOLE).then(|| percent(sliders.share)),
            duration: seconds(captured.duration_s),
            bytes: bytes(captured.bytes as f64),
            goodput: crate::quantity::bit_rate(if captured.duration_s > 0.0 {
                captured.bytes as f64 * 8.0 / captured.duration_s
            } else {
                0.0
            }),
            resent: captured.resent,
        }
    }
}

/// The share from which a transfer counts as fitted as a whole.
const WHOLE: f64 = 0.999;

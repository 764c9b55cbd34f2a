//! What a page offers beside a fitted transfer: answers with their intervals, and sliders with which it simulates the transfer again.

use std::path::Path;

use slowpath_facts::Connection as Facts;
use slowpath_fit::fit::CONTROLS;
use slowpath_fit::model::{Loss, Parameter, Window};
use slowpath_fit::what_if::Answer;
use slowpath_fit::{Fit, seen};
use slowpath_report::html::WhatIfPart;
use slowpath_report::quantity::grouped;
use slowpath_report::what_if::{AnswerRow, CapturedTransfer, Choice, Lever, Sliders, WhatIf};

use crate::fit;
use crate::folder::{Folder, FolderError};

/// Name of the document in a results folder.
const FILE: &str = "what-if.json";

/// Keeps in a results folder what its report is to offer.
///
/// # Errors
/// [`FolderError`] if it cannot be written.
pub fn keep(folder: &Folder, what_if: &WhatIf) -> Result<(), FolderError> {
    let text = serde_json::to_vec(what_if).expect("numbers and texts are JSON");
    folder.write(FILE, &text)?;
    Ok(())
}

/// What a folder's report offers; `None` where nothing was fitted.
pub(crate) fn kept(folder: &Folder) -> Option<WhatIf> {
    let text = folder.read(FILE).ok()?;
    serde_json::from_slice(&text).ok()
}

/// What is to be written on a page; with sliders where this program has the simulator for it.
pub const fn part(what_if: &WhatIf) -> WhatIfPart<'_> {
    WhatIfPart {
        what_if,
        program: slowpath_page::PROGRAM,
    }
}

/// What a page says and offers of a fitted connection. There are sliders where `--what-if` answers at all: where the model explains
/// the transfer, and no other flows share the path.
pub fn what_if(fit: &Fit, connection: &Facts, capture: &Path, answers: &[Answer]) -> WhatIf {
    WhatIf {
        connection: connection.id,
        answers: answers.iter().map(row).collect(),
        sliders: (fit.explains && !fit.shared)
            .then(|| sliders(fit, connection, capture))
            .flatten(),
    }
}

fn row(answer: &Answer) -> AnswerRow {
    let all = answer.duration_s.zip(answer.low90_s).zip(answer.high90_s);
    AnswerRow {
        change: answer.change.clone(),
        duration_s: all.map(|((middle, low), high)| (middle, low, high)),
        next_limit: answer.next_limit.map(|limit| limit.name().to_owned()),
        reason: answer.reason.clone(),
        untold: answer.untold.map(|untold| untold.name().to_owned()),
    }
}

fn sliders(fit: &Fit, connection: &Facts, capture: &Path) -> Option<Sliders> {
    let seen = seen::of(connection, fit.captured.bytes)?;
    let model = &fit.model;
    let (curve_s, curve_bytes) = seen.thinned(POINTS);
    Some(Sliders {
        capture: capture.display().to_string(),
        experiment: fit::experiment(fit, capture),
        variant: fit::as_captured(fit).pop().unwrap_or_default(),
        seed: 1,
        at_sender: fit.at_sender,
        bytes: model.given.bytes,
        captured: CapturedTransfer {
            duration_s: seen.duration_s,
            bytes: seen.bytes,
            resent: seen.resent,
            curve_s,
            curve_bytes,
        },
        share: fit.share,
        levers: vec![rate(fit), delay(fit), loss(fit), queue(fit), window(fit)],
        choices: choices(fit),
    })
}

/// What the fit says of a parameter: which values fit, and whether the capture tells it.
fn known(fit: &Fit, parameter: Parameter) -> (String, bool) {
    let found = fit.parameters.iter().find(|one| one.parameter == parameter);
    found.map_or((String::new(), true), |one| (fit::fits(one), one.identifiable))
}

fn rate(fit: &Fit) -> Lever {
    let (fits, told) = known(fit, Parameter::Rate);
    let value = fit.model.rate;
    let (stops, fitted) = around(value, value / SPAN, value * SPAN, PER_DECADE, spelled_rate);
    lever("rate", "Rate of the slowest link", stops, fitted, fits, told)
}

fn delay(fit: &Fit) -> Lever {
    let (fits, told) = known(fit, Parameter::RoundTrip);
    let value = (fit.model.delay_ns() as f64 / 1e9).max(LEAST_DELAY);
    let most = (value * SPAN).max(LONG_DELAY);
    let (stops, fitted) = around(value, value / SPAN, most, PER_DECADE, spelled_time);
    // What fits is said of the round trip.
    let fits = if fits.is_empty() {
        fits
    } else {
        format!("round trip without queues: {fits}")
    };
    lever("delay", "Delay each way", stops, fitted, fits, told)
}

fn loss(fit: &Fit) -> Lever {
    let (fits, told) = known(fit, Parameter::Loss);
    let chance = match fit.model.by_chance().loss {
        Loss::Chance(chance) => chance,
        Loss::None | Loss::Packets(_) => 0.0,
    };
    let from = if chance > 0.0 { chance } else { LEAST_LOSS };
    let (mut stops, mut fitted) = around(from, LEAST_LOSS, MOST_LOSS, PER_DECADE_OF_LOSS, spelled_share);
    stops.insert(0, spelled_share(0.0));
    fitted = if chance > 0.0 { fitted + 1 } else { 0 };
    let mut lever = lever("loss", "Random loss", stops, fitted, fits, told);
    if let Loss::Packets(packets) = &fit.model.loss {
        lever.shown = format!("the {} packets of the capture", grouped(packets.len() as f64, 0));
    }
    lever
}

fn queue(fit: &Fit) -> Lever {
    let (fits, told) = known(fit, Parameter::Queue);
    let (model, value) = (&fit.model, fit.model.queue);
    let least = (value / SPAN).max(LEAST_QUEUE);
    let most = (value * SPAN)
        .max(4.0 * model.rate * model.round_trip / 8.0)
        .min(MOST_BYTES);
    let (stops, fitted) = around(value, least, most, PER_DECADE, spelled_bytes);
    lever("queue", "Queue of that link", stops, fitted, fits, told)
}

fn window(fit: &Fit) -> Lever {
    let (fits, mut told) = known(fit, Parameter::Window);
    let model = &fit.model;
    let in_flight = (model.rate * model.round_trip / 8.0 + model.queue).max(WIDE_WINDOW);
    let (value, grows) = match model.window {
        Window::Fixed(bytes) => (bytes, false),
        Window::GrowsTo(bytes) => (bytes, true),
        Window::Grows => (in_flight * 4.0, true),
    };
    let least = (2.0 * f64::from(model.given.mss)).max((value / SPAN / 4.0).min(LEAST_WINDOW));
    let most = (value * SPAN).min(MOST_BYTES);
    let endless = model.window == Window::Grows;
    let (stops, fitted) = around(
        value,
        least,
        if endless { value } else { most },
        PER_DECADE,
        spelled_bytes,
    );
    // Nothing was seen of where it would have ended.
    told &= !endless;
    let mut lever = lever("window", "Receive window", stops, fitted, fits, told);
    if endless {
        lever.shown = String::from("grows by itself");
    } else if grows {
        lever.shown = format!("grows to {}", lever.shown);
    }
    lever
}

fn choices(fit: &Fit) -> Vec<Choice> {
    let own = fit.model.congestion;
    let others = CONTROLS.into_iter().filter(|name| *name != own);
    let fits = &fit.congestion.fits;
    let mut out = vec![Choice {
        key: "congestion-control".to_owned(),
        name: "Congestion control".to_owned(),
        options: std::iter::once(own).chain(others).map(str::to_owned).collect(),
        fits: if fits.len() > 1 {
            format!("{} fit", fits.join(", "))
        } else {
            String::new()
        },
        told: fit.congestion.cannot_tell.is_none(),
    }];
    if fit.model.policer.is_some() {
        out.push(Choice {
            key: "policer".to_owned(),
            name: "Policer".to_owned(),
            options: vec!["as fitted".to_owned(), "none".to_owned()],
            fits: String::new(),
            told: true,
        });
    }
    out
}

fn lever(key: &str, name: &str, stops: Vec<String>, fitted: usize, fits: String, told: bool) -> Lever {
    Lever {
        key: key.to_owned(),
        name: name.to_owned(),
        shown: stops[fitted].clone(),
        stops,
        fitted,
        fits,
        told,
    }
}

/// Values between two, each so many times the one before, of which the fitted one is one; and its place.
fn around(
    fitted: f64,
    least: f64,
    most: f64,
    per_decade: f64,
    spelled: fn(f64) -> String,
) -> (Vec<String>, usize) {
    let step = |count: i32| fitted * 10_f64.powf(f64::from(count) / per_decade);
    let own = spelled(fitted);
    let mut below: Vec<String> = (1..=MOST_STEPS)
        .map(|count| step(-count))
        .take_while(|value| *value >= least)
        .map(|value| spelled(rounded(value)))
        .collect();
    below.dedup();
    below.retain(|text| *text != own);
    below.reverse();
    let place = below.len();
    let mut above: Vec<String> = (1..=MOST_STEPS)
        .map(step)
        .take_while(|value| *value <= most)
        .map(|value| spelled(rounded(value)))
        .collect();
    above.dedup();
    above.retain(|text| *text != own);
    below.push(own);
    below.extend(above);
    (below, place)
}

/// With two digits, or three where the first is a 1.
fn rounded(value: f64) -> f64 {
    let power = value.log10().floor();
    let first = value / 10_f64.powf(power);
    let unit = 10_f64.powf(power - if first < 2.0 { 2.0 } else { 1.0 });
    (value / unit).round() * unit
}

/// A number of at most four digits, without zeros at its end.
fn short(value: f64) -> String {
    let places = match value {
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        v if v >= 1.0 => 3,
        v if v >= 0.1 => 4,
        v if v >= 0.01 => 5,
        _ => 6,
    };
    let text = format!("{value:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn spelled_rate(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{} Gbit/s", short(v / 1e9)),
        v if v >= 1e6 => format!("{} Mbit/s", short(v / 1e6)),
        v => format!("{} kbit/s", short((v / 1e3).max(0.001))),
    }
}

fn spelled_time(value: f64) -> String {
    if value >= 1.0 {
        format!("{} s", short(value))
    } else {
        format!("{} ms", short((value * 1e3).max(0.000_001)))
    }
}

fn spelled_bytes(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{} MB", short(v / 1e6)),
        v if v >= 1e4 => format!("{} kB", short(v / 1e3)),
        v => format!("{v:.0} B"),
    }
}

fn spelled_share(value: f64) -> String {
    format!(
        "{} %",
        if value > 0.0 {
            short(value * 100.0)
        } else {
            "0".to_owned()
        }
    )
}

/// The fitted value times and over this is where a slider ends.
const SPAN: f64 = 16.0;
/// Values of a slider for each power of ten.
const PER_DECADE: f64 = 24.0;
/// The same of losses, which span more of them.
const PER_DECADE_OF_LOSS: f64 = 10.0;
/// Values on one side of the fitted one at most: ten powers of ten.
const MOST_STEPS: i32 = 240;
/// Losses between which a slider goes, beside none at all.
const LEAST_LOSS: f64 = 1e-6;
const MOST_LOSS: f64 = 0.2;
/// The shortest delay that is a place to start from, and the least that a slider reaches, seconds.
const LEAST_DELAY: f64 = 1e-6;
const LONG_DELAY: f64 = 0.3;
/// A queue of two frames, bytes.
const LEAST_QUEUE: f64 = 3_028.0;
/// A window that any slider begins below, and one that any reaches where it grows by itself.
const LEAST_WINDOW: f64 = 16_384.0;
const WIDE_WINDOW: f64 = 1e6;
/// Bytes that no queue and no window exceeds.
const MOST_BYTES: f64 = 1e9;
/// Points of the captured curve.
const POINTS: f64 = 600.0;

#[cfg(test)]
mod tests {
    use slowpath_scenario::Intervention;

    use super::*;

    fn spelled(stops: &[String], key: &str) {
        assert!(stops.len() > 20, "{key}: {stops:?}");
        let mut all = stops.to_vec();
        all.dedup();
        assert_eq!(all.len(), stops.len(), "{key}");
        for stop in stops {
            let change = Intervention::spelled(key, stop);
            assert!(change.is_ok(), "{key}={stop}: {change:?}");
        }
    }

    #[test]
    fn every_stop_is_a_change_that_can_be_typed() {
        type Spelled = fn(f64) -> String;
        let cases: [(&str, f64, f64, f64, Spelled); 5] = [
            (
                "rate",
                9_876_543.0,
                9_876_543.0 / SPAN,
                9_876_543.0 * SPAN,
                spelled_rate,
            ),
            ("delay", 0.014_987, 0.014_987 / SPAN, LONG_DELAY, spelled_time),
            ("loss", 0.000_123_4, LEAST_LOSS, MOST_LOSS, spelled_share),
            ("queue", 61_234.0, LEAST_QUEUE, 1e6, spelled_bytes),
            ("window", 65_535.0, 4_000.0, 1e6, spelled_bytes),
        ];
        for (key, value, least, most, spell) in cases {
            let per_decade = if key == "loss" {
                PER_DECADE_OF_LOSS
            } else {
                PER_DECADE
            };
            let (stops, fitted) = around(value, least, most, per_decade, spell);
            spelled(&stops, key);
            assert_eq!(stops[fitted], spell(value), "{key}");
            assert!(
                fitted > 5 && fitted + 5 < stops.len(),
                "{key}: {fitted} of {}",
                stops.len()
            );
        }
    }

    #[test]
    fn numbers_are_as_people_write_them() {
        assert_eq!(spelled_rate(38_000_000.0), "38 Mbit/s");
        assert_eq!(spelled_rate(1.25e9), "1.25 Gbit/s");
        assert_eq!(spelled_rate(rounded(123_456.0)), "123 kbit/s");
        assert_eq!(spelled_time(0.000_05), "0.05 ms");
        assert_eq!(spelled_bytes(3_028.0), "3028 B");
        assert_eq!(spelled_bytes(1.5e6), "1.5 MB");
        assert_eq!(spelled_share(0.000_001), "0.0001 %");
        assert_eq!(spelled_share(0.0), "0 %");
    }
}

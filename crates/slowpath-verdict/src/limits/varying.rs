//! A link whose rate varies, told from one that others share by the delay at losses.
//!
//! A full queue of one's own delays by its size over the link's rate: the lower the rate, the longer. A queue that others
//! share drops when all of them fill it, and delays by the same then, whatever part of the rate a flow has.

use slowpath_facts::{Event, Happening, Timeline};

use crate::case::Case;
use crate::cut::cuts;

cuts! {
    /// Share of the time that the window may hold the sender, and that nothing may be in flight.
    HELD: 0.3 between 0.285, 0.312;
    /// Losses behind a queue from which delay and rate can be compared.
    LOSSES: 3.0 between 2.00, 3.00;
    /// Their share of all losses.
    MOSTLY: 0.7 between 0.375, 0.929;
    /// How far the rates at these are apart, standard deviation of their logarithm.
    APART: 0.2 between 0.199, 0.281;
    /// By which power of the rate the delay falls, from which it follows the rate: one behind a link of one's own, none
    /// behind one that others share.
    POWER: 0.5 between -0.001_20, 0.847;
    /// Correlation of the two logarithms from which that is no accident.
    AGREE: 0.7 between NONE, 0.911;
}

/// Lowest and highest rate of payload at losses, bytes per second, where the link's rate varies and nobody shares it.
pub(crate) fn rates(case: &Case) -> Option<[f64; 2]> {
    let line = &case.facts.timeline;
    let free = case.below(HELD, case.held()) && case.below(HELD, case.share(case.facts.time.idle_s));
    if !free {
        return None;
    }
    let losses = || line.events.iter().filter(|event| event.kind == Happening::Loss);
    let points: Vec<(f64, f64)> = losses()
        .filter(|event| event.queue_s > LEAST * line.least_rtt_s)
        .filter_map(|event| Some((rate_behind(line, event)?.ln(), event.queue_s.ln())))
        .collect();
    if !case.reaches(LOSSES, points.len() as u64)
        || !case.reaches_times(MOSTLY, points.len() as u64, losses().count() as u64)
    {
        return None;
    }
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (rate, delay) = (mean(&|point| point.0), mean(&|point| point.1));
    let rates = mean(&|point| (point.0 - rate).powi(2));
    let delays = mean(&|point| (point.1 - delay).powi(2));
    let both = mean(&|point| (point.0 - rate) * (point.1 - delay));
    let follows = case.reaches(APART, rates.sqrt())
        && case.reaches(POWER, -both / rates)
        && case.reaches(AGREE, -both / (rates * delays).sqrt());
    let least = points.iter().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let most = points
        .iter()
        .map(|point| point.0)
        .fold(f64::NEG_INFINITY, f64::max);
    follows.then(|| [least.exp(), most.exp()])
}

/// The rate at which the queue drained that a lost segment met: over the round trip that began with it.
fn rate_behind(line: &Timeline, event: &Event) -> Option<f64> {
    let (from, to) = (
        line.step_at(event.at_s),
        line.step_at(event.at_s + line.least_rtt_s + event.queue_s) + 1,
    );
    let steps = from..to.min(line.steps.len());
    let span: f64 = steps.clone().map(|place| line.length_of(place)).sum();
    let bytes: u64 = line.steps[steps].iter().map(|step| step.delivered).sum();
    (bytes > 0 && span > 0.0).then(|| bytes as f64 / span)
}

/// Delay above the least, in least round trips, from which a queue stands.
const LEAST: f64 = 0.1;

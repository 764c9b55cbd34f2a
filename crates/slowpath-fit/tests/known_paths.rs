//! Transfers over paths that are known here are fitted from their packets alone.

mod support;

use slowpath_fit::fit::{self, Fit};
use slowpath_fit::model::Parameter;
use slowpath_fit::trial::Alone;
use slowpath_fit::{Effort, Refused};

use support::known;

fn fitted(name: &str) -> Fit {
    let connection = known(name).captured(&[], 7);
    let found =
        fit::fit(&connection, &Alone, Effort::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    println!(
        "{name}: verdict {}, shape {:?}, {} simulations, off by {:?}\n  captured {:?}\n  fitted {:?}\n  {:?}",
        found.limit,
        found.model.shape,
        found.simulations,
        found.difference,
        found.captured,
        found.fitted,
        found.congestion
    );
    for parameter in &found.parameters {
        println!("  {parameter:?}");
    }
    let ratio = found.fitted.goodput_bit_per_s / found.captured.goodput_bit_per_s;
    assert!(
        (ratio - 1.0).abs() <= 0.1,
        "{name}: goodput is off by a factor of {ratio:.3}"
    );
    assert!(found.explains, "{name}");
    found
}

fn assert_near(fit: &Fit, parameter: Parameter, truth: f64) {
    let value = parameter
        .of(&fit.model)
        .unwrap_or_else(|| panic!("the model has no {parameter:?}"));
    assert!(
        (value / truth - 1.0).abs() <= 0.15,
        "{parameter:?} is {value}, in truth {truth}"
    );
}

#[test]
fn a_plain_link_is_found_again() {
    let fit = fitted("plain link");
    assert_near(&fit, Parameter::Rate, 20e6);
    assert_near(&fit, Parameter::RoundTrip, 0.04);
    assert_near(&fit, Parameter::Queue, 100e3);
    assert!(fit.congestion.fits.contains(&"cubic"), "{:?}", fit.congestion);
}

#[test]
fn reno_on_a_plain_link_is_reno() {
    let fit = fitted("plain link with reno");
    assert_near(&fit, Parameter::Rate, 8e6);
    assert_near(&fit, Parameter::Queue, 60e3);
    assert_eq!(fit.congestion.fits, ["reno"], "{:?}", fit.congestion);
    assert!(fit.congestion.events >= 3 && fit.congestion.cannot_tell.is_none());
}

#[test]
fn random_loss_is_found_again() {
    let fit = fitted("random loss");
    assert_near(&fit, Parameter::RoundTrip, 0.05);
    let chance = Parameter::Loss.of(&fit.model.by_chance()).unwrap();
    // The chance of a draw: what was drawn is 12 losses or so of 4,100 packets.
    assert!((0.001..=0.006).contains(&chance), "{chance}");
}

#[test]
fn a_window_is_found_again_and_the_control_cannot_be_told() {
    let fit = fitted("receiver's window");
    assert_near(&fit, Parameter::Window, 65_535.0);
    assert_near(&fit, Parameter::RoundTrip, 0.06);
    assert!(fit.congestion.cannot_tell.is_some(), "{:?}", fit.congestion);
}

#[test]
fn a_policer_is_found_again() {
    let fit = fitted("policer");
    assert_near(&fit, Parameter::PolicerRate, 6e6);
    assert_near(&fit, Parameter::Bucket, 60e3);
    assert_near(&fit, Parameter::RoundTrip, 0.03);
}

#[test]
fn a_slow_reader_is_found_again() {
    let fit = fitted("slow reader");
    assert_near(&fit, Parameter::ReaderRate, 8e6);
    assert_near(&fit, Parameter::RoundTrip, 0.02);
}

#[test]
fn models_that_fit_are_drawn_around_the_best() {
    let fit = fitted("small window");
    assert!(fit.members.len() >= 12, "{}", fit.members.len());
    assert_eq!(fit.members[0].model, fit.model);
    // The window leaves the link alone: its rate is told from below only, where rate and delay give way to each other.
    let rates: Vec<f64> = fit.members.iter().map(|member| member.model.rate).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    assert!(least <= 6.9e6 && most >= 6.3e6, "{least} to {most}");
    let captured = fit.captured.duration_s;
    for member in &fit.members {
        assert!((member.duration_s / captured - 1.0).abs() < 0.15, "{member:?}");
    }
}

#[test]
fn equal_captures_give_equal_answers() {
    let connection = known("plain link with reno").captured(&[], 7);
    let effort = Effort {
        simulations: 60,
        ..Effort::default()
    };
    let [first, second] = [(); 2].map(|()| fit::fit(&connection, &Alone, effort).unwrap());
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}

#[test]
fn a_search_can_be_stopped_and_too_little_is_refused() {
    struct Stopped;
    impl slowpath_fit::Simulator for Stopped {
        fn simulate(&self, _: &[slowpath_fit::Trial]) -> Option<Vec<Option<slowpath_fit::Outcome>>> {
            None
        }
    }
    let connection = known("plain link").captured(&[], 7);
    assert_eq!(
        fit::fit(&connection, &Stopped, Effort::default()).unwrap_err(),
        Refused::Stopped
    );
    let mut empty = connection;
    empty.seen.graphs = slowpath_facts::Graphs::default();
    assert_eq!(
        fit::fit(&empty, &Alone, Effort::default()).unwrap_err(),
        Refused::OneWay
    );
}

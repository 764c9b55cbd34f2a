//! Fitted under one condition, predicted for another, and compared with what that one gives.

mod support;

use slowpath_fit::trial::Alone;
use slowpath_fit::{Effort, fit, what_if};
use slowpath_scenario::Intervention;

use support::known;

fn holds(path: &str, key: &str, value: &str) {
    let known = known(path);
    let fitted = fit::fit(&known.captured(&[], 7), &Alone, Effort::default()).unwrap();
    let change = [Intervention::spelled(key, value).unwrap()];
    let answer = what_if::what_if(&fitted, &change, &Alone).unwrap();
    let truth = known.duration(&change, 11);
    println!("{path}, {key}={value}: {answer:?}, in truth {truth:.3} s");
    assert!(answer.identifiable, "{path}: {:?}", answer.reason);
    let (low, high) = (answer.low90_s.unwrap(), answer.high90_s.unwrap());
    let off = answer.duration_s.unwrap() / truth - 1.0;
    assert!(
        (low..=high).contains(&truth) || off.abs() <= 0.1,
        "{path}, {key}={value}: {low:.2} to {high:.2} s, in truth {truth:.2} s"
    );
}

#[test]
fn bbr_on_a_plain_link() {
    holds("plain link", "congestion-control", "bbr");
}

#[test]
fn half_the_loss() {
    holds("many random losses", "loss", "0.5 %");
}

#[test]
fn a_larger_window() {
    holds("receiver's window", "window", "131072 B");
}

#[test]
fn twice_the_rate_of_a_link() {
    holds("plain link with reno", "rate", "16 Mbit/s");
}

#[test]
fn several_connections_through_a_policer() {
    holds("policer", "streams", "4");
}

#[test]
fn a_window_that_leaves_the_link_alone_whose_rate_trains_tell() {
    holds("receiver's window", "window", "8 MB");
}

#[test]
fn what_the_capture_cannot_tell_is_refused() {
    let known = known("small window");
    let fitted = fit::fit(&known.captured(&[], 7), &Alone, Effort::default()).unwrap();
    // A window of eight times the size overflows a queue that the capture never showed.
    let change = [Intervention::spelled("window", "169328 B").unwrap()];
    let answer = what_if::what_if(&fitted, &change, &Alone).unwrap();
    println!("{answer:?}, in truth {:.3} s", known.duration(&change, 11));
    assert!(!answer.identifiable && answer.duration_s.is_none(), "{answer:?}");
    assert!(answer.reason.is_some());
}

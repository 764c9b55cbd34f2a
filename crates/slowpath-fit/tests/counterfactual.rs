//! Fitted under one condition, predicted for another, and compared with what that one gives.

mod support;

use slowpath_fit::trial::Alone;
use slowpath_fit::{Answer, Effort, fit, what_if};
use slowpath_scenario::Intervention;

use support::{Known, known};

/// What the path that is fitted to a known one says of a change, and how long the transfer takes with it in truth.
fn asked(known: &Known, key: &str, value: &str) -> (Answer, f64) {
    let fitted = fit::fit(&known.captured(&[], 7), &Alone, Effort::default()).unwrap();
    let change = [Intervention::spelled(key, value).unwrap()];
    let answer = what_if::what_if(&fitted, &change, &Alone).unwrap();
    let truth = known.duration(&change, 11);
    println!("{}, {key}={value}: {answer:?}, in truth {truth:.3} s", known.name);
    (answer, truth)
}

fn holds(path: &str, key: &str, value: &str) {
    let (answer, truth) = asked(known(path), key, value);
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

/// Asks for a change that is refused, and gives the reason.
fn refused(path: &str, key: &str, value: &str) -> String {
    let (answer, _) = asked(known(path), key, value);
    assert!(!answer.identifiable && answer.duration_s.is_none(), "{answer:?}");
    answer.reason.unwrap()
}

/// Runs with half of the loss are several times as long as each other by chance alone.
#[test]
fn half_the_loss_is_left_to_chance() {
    let reason = refused("many random losses", "loss", "0.5 %");
    assert!(reason.contains("its losses"), "{reason}");
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

/// Trains of packets tell the link's rate, also where another number stands at the end of what fits.
#[test]
fn a_window_that_leaves_the_link_alone() {
    holds("receiver's window", "window", "8 MB");
}

/// A window of six segments nearly fills the link, and a link ten times as fast would look the same: whatever is said of a larger
/// window has to allow for both.
#[test]
fn a_link_that_looks_like_any_other_behind_a_window_is_allowed_for() {
    let known = Known {
        name: "tiny window",
        up: "{ rate = \"5 Mbit/s\", queue = \"12000 B\", layer = \"L2+FCS\" }",
        delay: "6.5 ms",
        job: "size = \"4 MB\"",
        sender: "congestion_control = \"cubic\"",
        receiver: "window = \"8000 B\"",
    };
    let (answer, truth) = asked(&known, "window", "64000 B");
    let allowed = answer.low90_s.zip(answer.high90_s);
    assert!(
        allowed.is_none_or(|(low, high)| (low..=high).contains(&truth)),
        "{answer:?}, in truth {truth:.2} s"
    );
}

/// A window of eight times the size overflows a queue that the capture never showed: what is said allows for a short one and a
/// long one.
#[test]
fn a_queue_that_never_showed_is_allowed_for() {
    let (answer, truth) = asked(known("small window"), "window", "169328 B");
    let (low, high) = (answer.low90_s.unwrap(), answer.high90_s.unwrap());
    assert!(
        (low..=high).contains(&truth),
        "{low:.2} to {high:.2} s, in truth {truth:.2} s"
    );
    assert!(high > low * 1.5, "{low:.2} to {high:.2} s");
}

/// The ledger knows the link behind a policer from the trains that it spread.
#[test]
fn a_policer_in_front_of_a_link_not_much_faster() {
    holds("policer before a link", "policer", "none");
}

/// Without its losses a program with a pace is as fast as its pace.
#[test]
fn losses_in_front_of_a_pace() {
    holds("pace and random loss", "loss", "0 %");
}

/// Without its losses a transfer is as fast as its send buffer lets it be.
#[test]
fn losses_in_front_of_a_send_buffer() {
    holds("send buffer and random loss", "loss", "0 %");
}

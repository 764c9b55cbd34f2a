//! What answers to losses say of the congestion control, on captures of senders whose control is known.

mod support;

use slowpath_fit::controls;
use slowpath_fit::model::CONTROLS;
use slowpath_fit::trial::Alone;
use slowpath_fit::{Effort, fit};

use support::Known;

/// A few random losses on a wide link, far apart: nothing else shapes the window.
const PATHS: [(&str, Known); 3] = [
    ("cubic", path("congestion_control = \"cubic\"")),
    ("reno", path("congestion_control = \"reno\"")),
    ("bbr", path("congestion_control = \"bbr\"")),
];

const fn path(sender: &'static str) -> Known {
    Known {
        name: "a few losses",
        up: "{ loss = { packets = [500, 4500, 8500, 12500, 16500] } }, { rate = \"60 Mbit/s\", queue = \"1 MB\", layer = \"L2+FCS\" }",
        delay: "25 ms",
        job: "size = \"30 MB\"",
        sender,
        receiver: "",
    }
}

#[test]
fn each_control_answers_losses_in_its_own_way() {
    for (control, known) in PATHS {
        let answers = controls::of(&known.captured(&[], 3));
        let others: Vec<(&str, f64)> = CONTROLS.map(|name| (name, answers.against(name))).into();
        println!("{control}: {answers:?}, {others:?}");
        assert!(answers.stretches >= 3, "{control}: {answers:?}");
        for (name, less_likely) in others {
            if name == control {
                assert!(less_likely < 0.01, "{control} is not the likeliest: {answers:?}");
            } else {
                // Five times less likely and more. BBR's flight rises by a quarter as it probes, which is nearest to BIC's growth; the
                // two are told apart by the whole fit.
                let near = (control, name) == ("bbr", "bic");
                assert!(
                    less_likely > if near { 1.0 } else { 1.6 },
                    "{name} is as likely for {control}: {answers:?}"
                );
            }
        }
    }
}

#[test]
fn a_few_losses_tell_the_control() {
    for (control, known) in PATHS {
        let fitted = fit::fit(&known.captured(&[], 3), &Alone, Effort::default()).unwrap();
        assert_eq!(fitted.congestion.fits, [control], "{:?}", fitted.congestion);
    }
}

#[test]
fn a_sender_that_loses_nothing_tells_nothing() {
    let answers = controls::of(&support::known("receiver's window").captured(&[], 3));
    assert_eq!(answers.stretches, 0);
    assert!(CONTROLS.iter().all(|name| answers.against(name).abs() < 1e-9));
}

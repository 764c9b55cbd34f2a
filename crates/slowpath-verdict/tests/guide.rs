//! The guide tells what the rules do.

use slowpath_verdict::{Limit, cuts};

const GUIDE: &str = include_str!("../../../docs/guide/verdicts.md");

/// What the guide says of a limit.
fn section(limit: Limit) -> &'static str {
    let heading = format!("\n### `{limit}`\n");
    let start = GUIDE
        .find(&heading)
        .unwrap_or_else(|| panic!("{limit} is not in the guide"));
    let text = &GUIDE[start + heading.len()..];
    text.find("\n##").map_or(text, |end| &text[..end])
}

#[test]
fn every_limit_stands_in_the_guide_with_evidence_cut_offs_and_what_helps() {
    for limit in Limit::ALL {
        for part in ["\n* Evidence: ", "\n* Cut-offs: ", "\n* Helps: "] {
            assert!(section(limit).contains(part), "{limit} lacks{part}");
        }
    }
}

/// The guide rounds nothing: a cut-off that it names has the value of the constant.
#[test]
fn the_guide_has_the_values_of_the_constants() {
    let value = |name: &str| {
        cuts::all()
            .into_iter()
            .find(|cut| cut.name.ends_with(&format!("::{name}")))
            .unwrap_or_else(|| panic!("no cut-off is called {name}"))
            .value
    };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    for (limit, name, said) in [
        (
            Limit::ReceiverWindow,
            "case::WINDOW_SHARE",
            percent as fn(f64) -> String,
        ),
        (Limit::ReceiverApplication, "window::CLOSED_SHARE", percent),
        (Limit::ReceiverApplication, "window::SHRUNK_SHARE", percent),
        (Limit::ReceiverApplication, "window::WINDOW_RATIO", percent),
        (
            Limit::SenderApplication,
            "sender_application::IDLE_SHARE",
            percent,
        ),
        (Limit::SenderApplication, "case::IDLE_SHARE_ALONE", percent),
        (Limit::SendBuffer, "case::PLATEAU", percent),
        (Limit::SendBuffer, "constant::ROOM", percent),
        (Limit::SendBuffer, "send_buffer::CLOCKED", percent),
        (Limit::ProtocolWindow, "protocol_window::ANSWER_BYTES", percent),
        (Limit::BottleneckBandwidth, "case::EXPLAINED", percent),
        (Limit::BottleneckBandwidth, "full_link::QUEUE", percent),
        (Limit::BottleneckBandwidth, "case::UTILISATION", percent),
        (Limit::BottleneckBandwidth, "full_link::LOSSY_LINK", percent),
        (Limit::BottleneckBandwidth, "full_link::SHORT_QUEUE", percent),
        (Limit::SharedBottleneck, "full_link::OVERLAP", percent),
        (Limit::SharedBottleneck, "case::OWN_QUEUE", percent),
        (Limit::SharedBottleneck, "shared_bottleneck::WHOLE_LINK", percent),
        (Limit::Policed, "case::FIT_ERROR", percent),
        (Limit::Policed, "case::FIT_SPREAD", percent),
        (Limit::Policed, "case::NO_QUEUE", percent),
    ] {
        let said = said(value(name));
        assert!(section(limit).contains(&said), "{limit}: {name} is {said}");
    }
}

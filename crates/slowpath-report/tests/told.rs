//! What results of the real iperf3 3.12 tell, each over a path that is known (`shell`: rate, delay, loss as noted).

use slowpath_report::told::{ToldError, iperf3, text};
use slowpath_verdict::Limit;

/// 20 Mbit/s, 10 ms each way.
const FULL: &str = include_str!("iperf3/full.json");
/// The same with `-P 4`.
const STREAMS: &str = include_str!("iperf3/streams.json");
/// 100 Mbit/s, 25 ms each way, `-w 64K`.
const WINDOW: &str = include_str!("iperf3/window.json");
/// 100 Mbit/s, 25 ms each way, 0.5 % of the packets lost.
const LOSS: &str = include_str!("iperf3/loss.json");
/// The same with `-R`.
const REVERSE: &str = include_str!("iperf3/reverse.json");
/// 100 Mbit/s, 10 ms each way, `-b 5M`.
const PACED: &str = include_str!("iperf3/paced.json");
/// 20 Mbit/s, 10 ms each way, `-u -b 30M`.
const UDP: &str = include_str!("iperf3/udp.json");

#[test]
fn each_limit_that_its_figures_show_is_named() {
    for (name, result, limit, said) in [
        ("full", FULL, Limit::BottleneckBandwidth, "The path is full"),
        ("streams", STREAMS, Limit::BottleneckBandwidth, "The path is full"),
        (
            "window",
            WINDOW,
            Limit::ReceiverWindow,
            "80,480 B each round trip of 51",
        ),
        ("paced", PACED, Limit::SenderApplication, "asked for (-b)"),
        // What they do not show is open.
        ("loss", LOSS, Limit::Unknown, "Losses hold it back"),
        ("reverse", REVERSE, Limit::Unknown, "the other end sent"),
        ("udp", UDP, Limit::Unknown, "25.59 % of the datagrams were lost"),
    ] {
        let told = iperf3::read(result).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(told.limit, limit, "{name}: {told:?}");
        assert!(told.sentence.contains(said), "{name}: {}", told.sentence);
        assert!(told.next_step.is_some(), "{name}");
        let mut out = Vec::new();
        text::write(&told, slowpath_report::Style::default(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(
            out.lines().all(|line| line.chars().count() <= 80),
            "{name}: {out}"
        );
    }
}

#[test]
fn the_receivers_figure_counts() {
    let told = iperf3::read(FULL).unwrap();
    assert!(told.received_bit_per_s < told.sent_bit_per_s, "{told:?}");
    assert!((18.8e6..19.0e6).contains(&told.received_bit_per_s), "{told:?}");
    assert!(
        told.evidence[0].contains("higher, because it counts what its socket took"),
        "{told:?}"
    );
}

#[test]
fn what_is_no_result_is_told() {
    assert!(matches!(iperf3::read("no json"), Err(ToldError::Json(_))));
    assert!(matches!(iperf3::read("{}"), Err(ToldError::Other(_))));
    assert!(matches!(iperf3::read("[1]"), Err(ToldError::Other(_))));
    let failed =
        r#"{"start":{},"intervals":[],"end":{},"error":"unable to connect to server: Connection refused"}"#;
    let error = iperf3::read(failed).unwrap_err();
    assert!(error.to_string().contains("Connection refused"), "{error}");
}

/// Every cut and many a change of a byte: an error or an answer, and no panic.
#[test]
fn damaged_results_are_refused_or_read() {
    let mut seed = 1_u64;
    let mut read = 0;
    for result in [FULL, WINDOW, UDP, REVERSE] {
        for cut in (0..result.len()).step_by(97) {
            assert!(iperf3::read(&result[..cut]).is_err(), "{cut}");
        }
        for _ in 0..2_000 {
            let mut bytes = result.as_bytes().to_vec();
            for _ in 0..3 {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let place = usize::try_from(seed >> 33).unwrap() % bytes.len();
                bytes[place] = b"0123456789-{}[]\":,.enulltrf"[usize::try_from(seed >> 20).unwrap() % 27];
            }
            if let Ok(text) = std::str::from_utf8(&bytes) {
                read += u32::from(iperf3::read(text).is_ok());
            }
        }
    }
    assert!(
        read > 100,
        "only {read} were still results: the changes are too wild to test anything"
    );
}

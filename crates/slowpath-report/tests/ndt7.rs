//! What results of ndt7 tell. The server's figures are those of a Linux kernel (TCP_INFO, CUBIC unless noted) that sent for ten
//! seconds over a path that is known; identities are made up.

use slowpath_report::told::either::read;
use slowpath_report::told::{Told, ToldError, ndt7, text};
use slowpath_verdict::Limit;

/// 20 Mbit/s, 10 ms each way.
const FULL: &str = include_str!("ndt7/full.json");
/// The same with BBR.
const BBR: &str = include_str!("ndt7/bbr.json");
/// 100 Mbit/s, 25 ms each way, a receive buffer of 64 KiB.
const WINDOW: &str = include_str!("ndt7/window.json");
/// The same with a reader that takes 600 kB/s.
const READER: &str = include_str!("ndt7/reader.json");
/// The same with a send buffer of 32 KiB.
const BUFFER: &str = include_str!("ndt7/buffer.json");
/// The same with 0.5 % of the packets lost.
const LOSS: &str = include_str!("ndt7/loss.json");
/// 100 Mbit/s, 10 ms each way, and a server that has 300 kB/s to send.
const PACED: &str = include_str!("ndt7/paced.json");
/// A policer of 15 Mbit/s with a bucket of 64 KiB, BBR.
const POLICED: &str = include_str!("ndt7/policed.json");
/// What the client prints of the first, and of an upload.
const CLIENT: &str = include_str!("ndt7/client.jsonl");

fn shown(told: &Told) -> String {
    let mut out = Vec::new();
    text::write(told, slowpath_report::Style::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn each_limit_that_the_kernel_leaves_no_doubt_of_is_named() {
    for (name, result, limit, said) in [
        ("full", FULL, Limit::BottleneckBandwidth, "round trips grew"),
        ("bbr", BBR, Limit::BottleneckBandwidth, "BBR saw"),
        ("window", WINDOW, Limit::ReceiverWindow, "each round trip of"),
        // What another cause may have made as well is open.
        ("reader", READER, Limit::Unknown, "window was full"),
        ("buffer", BUFFER, Limit::Unknown, "nothing held it for most"),
        ("loss", LOSS, Limit::Unknown, "sent again without a queue"),
        ("paced", PACED, Limit::Unknown, "nothing held it for most"),
        ("policed", POLICED, Limit::Unknown, "under BBR"),
    ] {
        let told = read(result).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(told.limit, limit, "{name}: {told:?}");
        assert!(told.sentence.contains(said), "{name}: {}", told.sentence);
        assert!(told.next_step.is_some() && told.sent_here, "{name}");
        assert!(told.evidence.len() >= 3, "{name}: {:?}", told.evidence);
        let out = shown(&told);
        assert!(
            out.lines().all(|line| line.chars().count() <= 80),
            "{name}: {out}"
        );
    }
}

#[test]
fn the_clients_lines_are_two_tests() {
    let told = read(CLIENT).unwrap();
    assert_eq!((told.limit, told.sent_here), (Limit::BottleneckBandwidth, false));
    assert!((17e6..20e6).contains(&told.received_bit_per_s), "{told:?}");
    let [upload] = told.also.as_slice() else {
        panic!("{told:?}");
    };
    // The receiver does not know what held the sender.
    assert_eq!((upload.limit, upload.sent_here), (Limit::Unknown, true));
    assert!(upload.sentence.contains("the client sent"), "{}", upload.sentence);
    assert!(upload.received_bit_per_s < upload.sent_bit_per_s, "{upload:?}");
    // A client that was stopped while it wrote.
    let cut = &CLIENT[..CLIENT.len() * 2 / 3];
    assert_eq!(read(cut).unwrap().limit, Limit::BottleneckBandwidth);
}

/// A server that waits most of the time, and one whose buffer holds it: from the same figures, with the account changed.
#[test]
fn the_account_decides_and_contradictions_do_not() {
    let changed = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut document: serde_json::Value = serde_json::from_str(LOSS).unwrap();
        let looks = document["Download"]["ServerMeasurements"].as_array_mut().unwrap();
        for look in looks {
            change(&mut look["TCPInfo"]);
        }
        read(&document.to_string()).unwrap()
    };
    let share = |info: &mut serde_json::Value, name: &str, share: f64| {
        let elapsed = info["ElapsedTime"].as_f64().unwrap();
        info[name] = serde_json::json!((elapsed * share).round());
    };
    assert_eq!(
        changed(&|info| share(info, "BusyTime", 0.2)).limit,
        Limit::SenderApplication
    );
    assert_eq!(
        changed(&|info| share(info, "SndBufLimited", 0.9)).limit,
        Limit::SendBuffer
    );
    // More than all of the time, and parts larger than their whole.
    let wrong = changed(&|info| share(info, "BusyTime", 2.0));
    assert_eq!(wrong.limit, Limit::Unknown);
    assert!(
        wrong.sentence.contains("contradicts itself"),
        "{}",
        wrong.sentence
    );
    let wrong = changed(&|info| {
        share(info, "BusyTime", 0.5);
        share(info, "RWndLimited", 0.9);
    });
    assert!(
        wrong.sentence.contains("contradicts itself"),
        "{}",
        wrong.sentence
    );
    // Without the kernel's account nothing is named.
    let bare = changed(&|info| {
        info.as_object_mut().unwrap().remove("BusyTime");
    });
    assert_eq!(bare.limit, Limit::Unknown);
    assert!(bare.received_bit_per_s > 0.0);
}

#[test]
fn what_is_no_result_is_told() {
    assert!(!ndt7::is_ndt7("{}") && !ndt7::is_ndt7("no json") && !ndt7::is_ndt7("[1]"));
    assert!(matches!(read("{}"), Err(ToldError::Other(_))));
    let failed = concat!(
        "{\"Key\":\"starting\",\"Value\":{\"Test\":\"download\"}}\n",
        "{\"Key\":\"error\",\"Value\":{\"Test\":\"download\",\"Failure\":\"no capacity\"}}\n",
    );
    let error = read(failed).unwrap_err().to_string();
    assert!(error.contains("no capacity"), "{error}");
    let empty = r#"{"GitShortCommit":"1","ClientIP":"::1","Download":{"ServerMeasurements":[]}}"#;
    let error = read(empty).unwrap_err().to_string();
    assert!(error.contains("no measurements"), "{error}");
}

/// Every cut and many a change of a byte: an error or an answer, and no panic; a limit that is named was named without the damage
/// too, or the damage hit figures that the limit rests on.
#[test]
fn damaged_results_are_refused_or_read() {
    let mut seed = 1_u64;
    let (mut answers, mut named) = (0_u32, 0_u32);
    for result in [FULL, WINDOW, POLICED, CLIENT] {
        for cut in (0..result.len()).step_by(97) {
            let _ = read(&result[..cut]);
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
            let Ok(text) = std::str::from_utf8(&bytes) else {
                continue;
            };
            if let Ok(told) = read(text) {
                answers += 1;
                assert!(told.received_bit_per_s.is_finite() && told.seconds.is_finite());
                // A download that others' drops hold back never becomes one that a window holds.
                named += u32::from(result == POLICED && told.limit == Limit::ReceiverWindow);
            }
        }
    }
    assert!(
        answers > 100,
        "only {answers} were still results: the changes are too wild to test anything"
    );
    assert_eq!(named, 0);
}

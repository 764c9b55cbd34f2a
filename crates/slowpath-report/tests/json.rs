//! The machine-readable results: stable names, and a way back.

mod sample;

use slowpath_report::json::{ReadError, read_results, write_explanation, write_results};

fn written() -> String {
    let mut out = Vec::new();
    write_results(&sample::results(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn results_have_the_documented_names() {
    let value: serde_json::Value = serde_json::from_str(&written()).unwrap();
    assert_eq!(value["schema"], "slowpath/run/1");
    let variant = &value["variants"][1];
    for pointer in [
        "/name",
        "/clock",
        "/runs/0/bytes",
        "/runs/0/duration_s",
        "/runs/0/goodput_byte_per_s",
        "/runs/0/retransmitted_segments",
        "/runs/0/flows/0/sent_packets",
        "/runs/0/flows/0/received_packets",
        "/runs/0/flows/0/loss_fraction",
        "/runs/0/flows/0/jitter_s",
        "/runs/0/flows/0/goodput_byte_per_s",
        "/runs/0/flows/0/reference",
        "/runs/0/health/state",
        "/runs/0/health/reasons",
        "/runs/0/verdict/limit",
        "/runs/0/verdict/parameters",
        "/runs/0/captures",
        "/goodput_byte_per_s/mean",
        "/goodput_byte_per_s/low95",
        "/goodput_byte_per_s/high95",
        "/reference/goodput_byte_per_s",
        "/reference/ratio",
        "/verdict/limit",
        "/verdict/confidence",
        "/verdict/sentence",
    ] {
        assert!(variant.pointer(pointer).is_some(), "{pointer} is missing");
    }
    assert!(value["comparisons"].is_array());
    assert_eq!(variant["runs"][0]["health"]["state"], "valid");
}

#[test]
fn what_was_written_is_read_back() {
    assert!(read_results(&written()).unwrap() == sample::results());
}

#[test]
fn other_documents_are_refused_with_a_reason() {
    let newer = written().replace("slowpath/run/1", "slowpath/run/9");
    assert!(matches!(read_results(&newer), Err(ReadError::Schema { found }) if found == "slowpath/run/9"));
    assert!(read_results("{").unwrap_err().to_string().contains("result.json"));
}

#[test]
fn an_explanation_has_the_documented_names() {
    let explanation = sample::explanation();
    let mut out = Vec::new();
    write_explanation(&explanation, &mut out).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
    for pointer in [
        "/schema",
        "/capture/file",
        "/capture/format",
        "/capture/link_types",
        "/capture/packets",
        "/capture/bytes",
        "/capture/duration_s",
        "/capture/quality/tap",
        "/capture/quality/capture_loss_fraction",
        "/capture/quality/duplicate_packets",
        "/capture/quality/clock_resolution_s",
        "/capture/quality/warnings",
        "/connections/0/id",
        "/connections/0/client",
        "/connections/0/server",
        "/connections/0/data_from",
        "/connections/0/handshake/mss",
        "/connections/0/handshake/window_scale",
        "/connections/0/handshake/sack",
        "/connections/0/handshake/timestamps",
        "/connections/0/handshake/ecn",
        "/connections/0/dscp/client",
        "/connections/0/dscp/server",
        "/connections/0/bytes_delivered",
        "/connections/0/duration_s",
        "/connections/0/goodput_bit_per_s",
        "/connections/0/rtt_s/min",
        "/connections/0/rtt_s/median",
        "/connections/0/rtt_s/p95",
        "/connections/0/retransmitted_segments",
        "/connections/0/lost_segments",
        "/connections/0/reordered_segments",
        "/connections/0/zero_window_s",
        "/connections/0/verdict/limit",
        "/connections/0/verdict/flags",
        "/connections/0/verdict/share",
        "/connections/0/verdict/confidence",
        "/connections/0/verdict/sentence",
        "/connections/0/verdict/parameters",
        "/connections/0/verdict/evidence",
        "/connections/0/verdict/rejected",
        "/connections/0/intervals",
        "/connections/0/remedies",
    ] {
        assert!(value.pointer(pointer).is_some(), "{pointer} is missing");
    }
}

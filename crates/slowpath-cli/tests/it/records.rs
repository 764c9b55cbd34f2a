//! Runs that no experiment planned end in records too: imported and measured ones are kept, reported and compared.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{SMALL, Scratch, run, text};

/// The captures of one small simulated run of each variant, by name.
fn captures(place: &Path, file: &Path) -> [String; 2] {
    let output = run(&[
        "run",
        file.to_str().unwrap(),
        "--clock",
        "simulated",
        "--quick",
        "--out",
        place.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    ["auto", "narrow"].map(|variant| {
        let path = place.join(format!("captures/{variant}.0.simulated.server.pcapng"));
        assert!(path.is_file(), "{}", path.display());
        path.display().to_string()
    })
}

fn succeeds(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn records(folder: &Path) -> Vec<Value> {
    let files = fs::read_dir(folder.join("runs")).unwrap();
    files
        .map(|file| serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap())
        .collect()
}

#[test]
fn an_import_ends_in_a_record_that_is_explained_reported_and_compared() {
    let scratch = Scratch::new("imports");
    let file = scratch.file("small.toml", SMALL);
    let [auto, narrow] = captures(&scratch.0.join("run"), &file);
    let (good, bad) = (scratch.0.join("good"), scratch.0.join("bad"));
    let (a, b) = (good.to_str().unwrap(), bad.to_str().unwrap());
    let read = succeeds(&["explain", &auto, "--out", a, "--format", "json"]);
    // The same name in both folders, so that they are compared.
    let same = scratch.0.join("auto.0.simulated.server.pcapng");
    fs::copy(&narrow, &same).unwrap();
    succeeds(&["explain", same.to_str().unwrap(), "--out", b]);
    fs::remove_file(&same).unwrap();

    let [record] = records(&good).try_into().unwrap();
    assert_eq!(record["origin"], "imported");
    assert_eq!(record["transfers"][0]["bytes"], 1 << 20, "{record}");
    // What is kept says the same as the capture, which may be gone by then.
    let from_record = succeeds(&["explain", a, "--format", "json"]);
    let [read, from_record] = [read, from_record].map(|text| serde_json::from_str::<Value>(&text).unwrap());
    let said = |document: &Value| document["connections"][0]["verdict"]["sentence"].clone();
    assert_eq!(said(&read), said(&from_record));
    let explained: Value = serde_json::from_str(&succeeds(&["explain", b, "--format", "json"])).unwrap();
    let verdict = |connection: &Value| connection["verdict"]["limit"].clone();
    assert_eq!(verdict(&explained["connections"][0]), "receiver-window");

    let reported: Value = serde_json::from_str(&succeeds(&["report", b, "--format", "json"])).unwrap();
    assert_eq!(reported["variants"][0]["clock"], "imported");
    assert_eq!(reported["variants"][0]["verdict"]["limit"], "receiver-window");
    assert!(bad.join("report.html").is_file());
    let compared = succeeds(&["compare", a, b]);
    assert!(compared.contains("The limit changed from"), "{compared}");

    // A second import joins the first as another run; an experiment's folder takes none.
    succeeds(&["explain", &auto, "--out", a]);
    assert_eq!(records(&good).len(), 2);
    let output = run(&["explain", &auto, "--out", scratch.0.join("run").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("runs of an experiment"));
}

#[test]
fn a_measurement_ends_in_a_record_that_is_reported() {
    let scratch = Scratch::new("measured");
    let place = scratch.0.join("pings");
    let folder = place.to_str().unwrap();
    let ping = [
        "measure",
        "ping",
        "127.0.0.1",
        "--count",
        "3",
        "--interval",
        "100 ms",
        "--out",
        folder,
    ];
    let output = run(&ping);
    let said = text(&output.stderr);
    if said.contains("ermission denied") || said.contains("not permitted") {
        eprintln!("skipped: a_measurement_ends_in_a_record_that_is_reported: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    let [record] = records(&place).try_into().unwrap();
    assert_eq!(record["origin"], "live");
    assert_eq!(record["variant"], "ping 127.0.0.1");
    let reported: Value = serde_json::from_str(&succeeds(&["report", folder, "--format", "json"])).unwrap();
    assert_eq!(reported["variants"][0]["clock"], "live");
    assert_eq!(
        reported["variants"][0]["runs"][0]["flows"][0]["received_packets"],
        3
    );
}

#[test]
fn a_watch_kept_by_an_older_version_is_still_reported() {
    let scratch = Scratch::new("old-watch");
    // As `why --out` wrote it when it kept one record beside its answer.
    scratch.file(
        "record.json",
        r#"{"schema":"slowpath/record/1","origin":"live","experiment":"why","variant":"port 5001","repeat":0,"seed":0,
        "plan_digest":"","environment":null,"health":{"state":"valid","reasons":[]},"captures":[],"series":[],
        "transfers":[{"name":"10.0.0.1:5001 -> 10.0.0.2:40000","bytes":1000000,"start":0,"end":2000000000,
        "complete":true,"error":null,"retransmitted_segments":3}],"flows":[],"notes":[]}"#,
    );
    let place = scratch.0.to_str().unwrap();
    let reported: Value = serde_json::from_str(&succeeds(&["report", place, "--format", "json"])).unwrap();
    assert_eq!(reported["variants"][0]["clock"], "live");
    assert_eq!(
        reported["variants"][0]["runs"][0]["goodput_byte_per_s"],
        500_000.0
    );
}

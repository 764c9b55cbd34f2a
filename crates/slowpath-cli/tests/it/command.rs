//! The command as its users meet it: output, exit codes, bad input, and nothing left behind.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{SMALL, Scratch, lab_or_skip, run, slowpath, text};

#[test]
fn list_names_every_built_in_experiment() {
    let output = run(&["list"]);
    assert_eq!(output.status.code(), Some(0));
    let out = text(&output.stdout);
    for name in ["cisco-ftp", "iosxe-default", "ios-tuned"] {
        assert!(out.contains(name), "{out}");
    }
}

#[test]
fn a_value_of_the_file_can_be_set() {
    let scratch = Scratch::new("set");
    let file = scratch.file("small.toml", SMALL);
    let file = file.to_str().unwrap();
    let out = scratch.0.join("out");
    let out = out.to_str().unwrap();
    let set = |value: &str| {
        let fixed = [
            "run",
            file,
            "--clock",
            "simulated",
            "--variant",
            "auto",
            "--repeats",
            "1",
        ];
        run(&[&fixed[..], &["--out", out, "--set", value]].concat())
    };
    let output = set("network.both[0].rate = 2 Mbit/s");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // The report can be made again from the folder alone.
    assert_eq!(run(&["report", out]).status.code(), Some(0));
    let result = fs::read_to_string(scratch.0.join("out/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let command = result["reproduce"][0].as_str().unwrap();
    assert!(
        command.contains(" --set 'network.both[0].rate=2 Mbit/s' "),
        "{command}"
    );
    let record = fs::read_to_string(scratch.0.join("out/runs/auto.0.simulated.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let transfer = &record["transfers"][0];
    let nanos = |key: &str| transfer[key].as_u64().unwrap();
    let bits = transfer["bytes"].as_f64().unwrap() * 8.0;
    let rate = bits / (nanos("end") - nanos("start")) as f64 * 1e9;
    assert!((1.7e6..2e6).contains(&rate), "{rate}: {transfer}");
    for (value, expected) in [
        ("rate", "KEY=VALUE"),
        ("network.both[7].rate=1 Mbit/s", "leads nowhere"),
    ] {
        let output = set(value);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(expected),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn explain_answers_for_the_transfer_and_writes_remedies_in_a_routers_language() {
    let scratch = Scratch::new("explain");
    let file = scratch.file("small.toml", SMALL);
    let place = scratch.0.join("out");
    let output = run(&[
        "run",
        file.to_str().unwrap(),
        "--clock",
        "simulated",
        "--variant",
        "narrow",
        "--out",
        place.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let explain = |system: &str| {
        let capture = "captures/narrow.0.simulated.client.pcapng";
        let mut command = slowpath();
        command.args(["explain", capture, "--system", system]);
        command.current_dir(&place).output().unwrap()
    };
    let out = text(&explain("ios").stdout);
    assert!(out.contains("limit      receiver-window"), "{out}");
    let brief = text(
        &slowpath()
            .args(["explain", "captures/narrow.0.simulated.client.pcapng"])
            .current_dir(&place)
            .output()
            .unwrap()
            .stdout,
    );
    let answer = brief.split("\n\n").next().unwrap();
    assert!(answer.lines().count() <= 8, "{brief}");
    assert!(
        answer.contains("receiver-window") && answer.contains("would help"),
        "{brief}"
    );
    assert!(!brief.contains("because") && brief.contains("-v"), "{brief}");
    assert!(out.contains("ios: ip tcp window-size"), "{out}");
    assert!(out.contains("linux: sysctl"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    // FTP's commands are a connection of 200 bytes: one line, behind the answer.
    let (_, others) = out
        .split_once("Other connections")
        .expect("the control connection");
    assert!(others.contains(":21"), "{out}");
    assert_eq!(out.matches("  limit ").count(), 1, "{out}");
    let line = |rate: &str| {
        let mut command = slowpath();
        command.args(["explain", "captures/narrow.0.simulated.client.pcapng"]);
        let output = command.args(["--capacity", rate]).current_dir(&place).output();
        text(&output.unwrap().stderr)
    };
    let slow = line("100 kbit/s");
    assert!(
        slow.contains("--capacity 100 kbit/s was left out for 1 of 2"),
        "{slow}"
    );
    assert_eq!(line("10 Gbit/s"), "");
    let wrong = explain("vax");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text(&wrong.stderr).contains("rtx, ios, ssh"),
        "{}",
        text(&wrong.stderr)
    );
}

#[test]
fn wrong_input_is_explained_and_gives_2() {
    let scratch = Scratch::new("wrong");
    let unknown_key = scratch.file("key.toml", &SMALL.replace("repeats = 2", "repeets = 2"));
    let no_unit = scratch.file("unit.toml", &SMALL.replace("\"5 ms\"", "\"5\""));
    let cases: &[(&[&str], &[&str])] = &[
        (&["run", "cisco-fpt"], &["cisco-fpt", "did you mean cisco-ftp?"]),
        (
            &["run", "cisco-ftp", "--variant", "ios"],
            &["no variant \"ios\"", "ios-default"],
        ),
        (
            &["run", "cisco-ftp", "--sweep", "loss=0 %", "--variant", "ios"],
            &["no variant \"ios\"", "ios-default"],
        ),
        (
            &["run", unknown_key.to_str().unwrap()],
            &["key.toml:8:1", "repeets", "repeats"],
        ),
        (
            &["run", unknown_key.to_str().unwrap(), "--clock", "both"],
            &["repeets"],
        ),
        (&["run", no_unit.to_str().unwrap()], &["unit.toml:4:", "no unit"]),
        (&["explain", "/nonexistent.pcap"], &["/nonexistent.pcap"]),
        (&["explain", unknown_key.to_str().unwrap()], &["key.toml"]),
        (&["report", scratch.0.to_str().unwrap()], &["settings.json"]),
        (
            &["measure", "ftp://127.0.0.1"],
            &["names no file", "ftp://HOST/FILE"],
        ),
        (&["frobnicate"], &["frobnicate"]),
    ];
    for (arguments, expected) in cases {
        let output = run(arguments);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        for part in *expected {
            assert!(err.contains(part), "{arguments:?} does not say {part}: {err}");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_at_once() {
    let scratch = Scratch::new("folder");
    let file = scratch.file("plain", "");
    let out = file.join("below");
    let output = run(&[
        "run",
        "cisco-ftp",
        "--clock",
        "simulated",
        "--quick",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--out"), "{}", text(&output.stderr));
}

#[test]
fn equal_seeds_give_equal_simulated_records() {
    let scratch = Scratch::new("equal");
    let mut records = Vec::new();
    for name in ["a", "b"] {
        let out = scratch.0.join(name);
        let arguments = [
            "run",
            "cisco-ftp",
            "--clock",
            "simulated",
            "--quick",
            "--seed",
            "7",
            "--out",
            out.to_str().unwrap(),
        ];
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let mut files: Vec<PathBuf> = fs::read_dir(out.join("runs"))
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        files.sort();
        assert!(files.len() >= 6, "{files:?}");
        let content: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
        records.push(content);
    }
    assert!(records[0] == records[1], "two runs with one seed differ");
}

#[test]
fn a_lab_run_leaves_results_and_resumes() {
    if !lab_or_skip("a_lab_run_leaves_results_and_resumes") {
        return;
    }
    let scratch = Scratch::new("run");
    let file = scratch.file("small.toml", SMALL);
    let out = scratch.0.join("out");
    let arguments = ["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let output = run(&arguments);
    let shown = text(&output.stdout);
    // A busy machine may make runs invalid; that is an answer too, and must be the documented one.
    assert!(
        matches!(output.status.code(), Some(0 | 4)),
        "{}",
        text(&output.stderr)
    );
    assert!(
        shown.contains("narrow") && shown.contains("report.html"),
        "{shown}"
    );
    for line in shown.lines() {
        assert!(
            line.chars().count() <= 80 || line.contains('/'),
            "wider than 80 columns: {line}"
        );
    }
    for file in [
        "result.json",
        "report.html",
        "runs.csv",
        "runs/auto.0.lab.json",
        "captures/narrow.1.lab.server.pcapng",
    ] {
        assert!(
            out.join(file).metadata().is_ok_and(|meta| meta.len() > 100),
            "{file}"
        );
    }
    let record = fs::read_to_string(out.join("runs/auto.0.lab.json")).unwrap();
    assert!(record.contains("\"bytes\":1048576"), "{record}");
    let again = run(&arguments);
    let said = text(&again.stderr);
    // What the machine made invalid is done again.
    if output.status.code() == Some(0) && !text(&output.stderr).contains("invalid") {
        assert!(said.contains("4 of 4 runs were finished before"), "{said}");
    }
    let report = run(&["report", out.to_str().unwrap()]);
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
    captures_open(&out);
}

/// tshark reads every capture to its end.
fn captures_open(out: &Path) {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("skipped: captures_open: tshark is not installed");
        return;
    }
    for entry in fs::read_dir(out.join("captures")).unwrap() {
        let path = entry.unwrap().path();
        let output = Command::new("tshark")
            .arg("-r")
            .arg(&path)
            .args(["-c", "200"])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}: {}",
            path.display(),
            text(&output.stderr)
        );
        assert!(!output.stdout.is_empty(), "{}", path.display());
    }
}

/// The shell's programs have numbers of their own, by which another process stands in `/proc`, or none.
#[test]
fn a_process_is_watched_where_its_own_number_is_another_in_proc() {
    if !lab_or_skip("a_process_is_watched_where_its_own_number_is_another_in_proc") {
        return;
    }
    let binary = env!("CARGO_BIN_EXE_slowpath");
    let watch = format!("read -r own rest </proc/self/stat; {binary} why --pid $own --for 1");
    let output = run(&["shell", "delay 1 ms", "--", "sh", "-c", &watch]);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(!err.contains("asking the kernel"), "{err}");
}

#[test]
fn a_far_program_that_fails_is_told_of_while_the_near_one_runs() {
    if !lab_or_skip("a_far_program_that_fails_is_told_of_while_the_near_one_runs") {
        return;
    }
    for (far, status) in [("exit 3", "3"), ("no-such-program", "127")] {
        let output = run(&["shell", "delay 5 ms", "--far", far, "--", "sleep", "2"]);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{err}");
        let told = format!("the far program has ended with status {status} while the near one runs: {far}");
        assert!(err.contains(&told), "{err}");
    }
    // A server that is ended at the end, or ends well, has not failed.
    for far in ["sleep 100", "true"] {
        let output = run(&["shell", "delay 5 ms", "--far", far, "--", "sleep", "0.3"]);
        let err = text(&output.stderr);
        assert!(!err.contains("far program"), "{err}");
    }
}

#[test]
fn doctor_ends_with_whether_the_lab_can_run() {
    let output = run(&["doctor"]);
    let out = text(&output.stdout);
    let able = output.status.code() == Some(0);
    let last = if able {
        "\nThis machine can run the lab.\n"
    } else {
        "\nThis machine cannot run the lab until"
    };
    assert!(out.contains(last), "{out}");
}

#[test]
fn shell_gives_the_programs_status() {
    if !lab_or_skip("shell_gives_the_programs_status") {
        return;
    }
    let path = "delay 5 ms";
    let output = run(&["shell", path, "--", "sh", "-c", "exit 7"]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
    let output = run(&["shell", path, "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(output.status.code(), Some(128 + 15), "{}", text(&output.stderr));
    let output = run(&["shell", path, "--", "/nonexistent/program"]);
    assert_eq!(output.status.code(), Some(125), "{}", text(&output.stderr));
    let output = run(&["shell", "rate 50 MB/s", "--", "true"]);
    assert_eq!(output.status.code(), Some(125), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("Mbit/s"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn nothing_is_left_behind_by_a_killed_run() {
    if !lab_or_skip("nothing_is_left_behind_by_a_killed_run") {
        return;
    }
    for signal in ["-INT", "-KILL"] {
        let scratch = Scratch::new("killed");
        let slow = SMALL.replace("20 Mbit/s", "1 Mbit/s").replace("1 MiB", "50 MiB");
        let file = scratch.file("slow.toml", &slow);
        let marker = scratch.0.to_str().unwrap().to_owned();
        let out = scratch.0.join("out");
        let mut child: Child = slowpath()
            .args([
                "run",
                file.to_str().unwrap(),
                "--variant",
                "auto",
                "--out",
                out.to_str().unwrap(),
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while processes_with(&marker).len() < 2 && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_secs(1));
        let status = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(status.success());
        let ended = child.wait().unwrap();
        if signal == "-INT" {
            assert_eq!(ended.code(), Some(130), "{ended:?} {:?}", ended.signal());
        }
        let begun = Instant::now();
        while !processes_with(&marker).is_empty() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(
            processes_with(&marker),
            Vec::<String>::new(),
            "after kill {signal}"
        );
    }
}

/// Command lines of other processes that mention `marker`.
fn processes_with(marker: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == own || !name.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = text(&line).replace('\0', " ");
        if line.contains(marker) {
            found.push(line);
        }
    }
    found
}

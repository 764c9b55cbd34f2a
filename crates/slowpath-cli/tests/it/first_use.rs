//! What a new user stumbled over, each as typed.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use crate::support::{SMALL, Scratch, lab_or_skip, run, slowpath, text};

/// A reader that has seen enough is no error; neither is a reader that was never there.
#[test]
fn a_closed_pipe_ends_every_command_quietly() {
    let scratch = Scratch::new("pipe");
    let file = scratch.file("small.toml", SMALL);
    let out = scratch.0.join("out");
    let (file, place) = (file.to_str().unwrap(), out.to_str().unwrap());
    let simulated = ["run", file, "--clock", "simulated", "--out", place];
    assert_eq!(run(&simulated).status.code(), Some(0));
    let capture = out.join("captures/auto.0.simulated.client.pcapng");
    let config = scratch.file("sysctl.conf", "net.ipv4.tcp_sack = 1\n");
    let commands: &[&[&str]] = &[
        &["list"],
        &["doctor"],
        &["--help"],
        &["report", place],
        &["compare", place, place],
        &["explain", capture.to_str().unwrap()],
        &["explain", capture.to_str().unwrap(), "--format", "json"],
        &["config", config.to_str().unwrap()],
        &["completions", "bash"],
        &[
            "run",
            file,
            "--sweep",
            "delay=5 ms,10 ms",
            "--variant",
            "auto",
            "--out",
            place,
        ],
        &simulated,
    ];
    for arguments in commands {
        let mut child = slowpath()
            .args(*arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 3)), "{arguments:?}: {code:?} {said}");
        assert!(
            !said.contains("panicked") && !said.contains("Broken pipe"),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn a_full_disk_is_an_error_of_one_line() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: a_full_disk_is_an_error_of_one_line: there is no /dev/full");
        return;
    }
    for arguments in [&["list"][..], &["doctor"], &["completions", "fish"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = slowpath().args(arguments).stdout(full).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
        assert!(said.contains("No space left"), "{said}");
    }
}

/// A path without the names of its elements is what people try first.
#[test]
fn a_path_of_bare_values_is_understood_well_enough_to_correct() {
    let output = run(&["shell", "50 Mbit/s, 100 ms, 0.01 %", "--", "true"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(
        said.contains("did you mean \"rate 50 Mbit/s, delay 100 ms, loss 0.01 %\"?"),
        "{said}"
    );
    assert!(said.contains("each way"), "{said}");
    assert_eq!(said.matches("error:").count(), 1, "{said}");
}

#[test]
fn wrong_places_get_a_cure() {
    let scratch = Scratch::new("places");
    let file = scratch.file("small.toml", SMALL);
    let sweep = scratch.0.join("sweep");
    let (file, sweep) = (file.to_str().unwrap(), sweep.to_str().unwrap());
    let swept = run(&[
        "run",
        file,
        "--sweep",
        "delay=5 ms,10 ms",
        "--variant",
        "auto",
        "--out",
        sweep,
    ]);
    assert_eq!(swept.status.code(), Some(0), "{}", text(&swept.stderr));
    let table = fs::read_to_string(scratch.0.join("sweep/sweep.csv")).unwrap();
    assert!(table.starts_with("delay [s],variant,"), "{table}");
    assert!(
        table.lines().nth(1).unwrap().starts_with("0.005,auto,"),
        "{table}"
    );
    fs::create_dir(scratch.0.join("captures")).unwrap();
    fs::write(scratch.0.join("captures/one.pcapng"), "").unwrap();
    let folder = scratch.0.to_str().unwrap();
    let missing = scratch.0.join("smal.toml");
    let missing = missing.to_str().unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&["report", sweep], &["not a results folder", "sweep.csv"]),
        (&["compare", sweep, folder], &["not a results folder"]),
        (&["report", folder], &["not a results folder", "settings.json"]),
        (&["explain", missing], &["no file", "small.toml?"]),
        (&["config", missing], &["no file", "small.toml?"]),
        (
            &["explain", folder],
            &["the file is empty", "captures/one.pcapng"],
        ),
        (
            &["explain", "a", "b", "c"],
            &["none of 3 could be read", "there is no file of that name"],
        ),
        (
            &["run", file, "--sweep", "los=1 %"],
            &["--sweep los", "did you mean `loss`?"],
        ),
    ];
    for (arguments, expected) in cases {
        let output = run(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(!said.contains("os error"), "{arguments:?}: {said}");
        for part in *expected {
            assert!(said.contains(part), "{arguments:?} does not say {part}: {said}");
        }
    }
}

/// One mistake, one message.
#[test]
fn a_misspelt_key_brings_no_follow_up() {
    let scratch = Scratch::new("misspelt");
    let title = scratch.file("title.toml", &SMALL.replace("title =", "titel ="));
    let kind = scratch.file("kind.toml", &SMALL.replace("\"ftp-get\"", "\"ftp-gett\""));
    for (file, meant) in [
        (title, "did you mean `title`?"),
        (kind, "did you mean \"ftp-get\"?"),
    ] {
        let output = run(&["run", file.to_str().unwrap(), "--clock", "simulated"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(meant), "{said}");
        assert_eq!(said.matches("error:").count(), 1, "{said}");
    }
}

/// The forms for programs go to standard output alone, whole.
#[test]
fn results_in_every_form() {
    let scratch = Scratch::new("forms");
    let file = scratch.file("small.toml", SMALL);
    let out = scratch.0.join("out");
    let form = |form: &str| {
        let arguments = [
            "--clock",
            "simulated",
            "--out",
            out.to_str().unwrap(),
            "--format",
            form,
        ];
        let output = run(&[&["run", file.to_str().unwrap()], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let document: serde_json::Value = serde_json::from_str(&form("json")).unwrap();
    assert_eq!(document["schema"], "slowpath/run/1");
    let lines: Vec<serde_json::Value> = form("jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[3]["variant"], "narrow");
    assert_eq!(form("csv").lines().count(), 5);
    assert!(form("html").starts_with("<!"));
    // Names stand whole where nothing limits the line.
    assert!(form("text").contains("narrow"));
}

/// A warning bears its name, which switches it off; a name that is none is answered with those there are.
#[test]
fn warnings_have_names_that_hide_them() {
    let scratch = Scratch::new("hide");
    let file = scratch.file("small.toml", SMALL);
    let out = scratch.0.join("out");
    let arguments = ["--clock", "simulated", "--out", out.to_str().unwrap()];
    let ran = run(&[&["run", file.to_str().unwrap()], &arguments[..]].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let capture = out.join("captures/auto.0.simulated.client.pcapng");
    let capture = capture.to_str().unwrap();
    let loud = text(&run(&["explain", capture]).stdout);
    let hidden = text(&run(&["explain", capture, "--hide", "capture"]).stdout);
    let warnings = |shown: &str| shown.lines().filter(|line| line.starts_with("  ! ")).count();
    assert!(loud.contains("  ! capture: "), "{loud}");
    assert_eq!(warnings(&hidden), 0, "{hidden}");
    assert_eq!(text(&run(&["explain", capture, "--hide", "health"]).stdout), loud);
    // Programs get all of it, whatever a person does not want to read.
    let json = |more: &[&str]| {
        let output = run(&[&["explain", capture, "--format", "json"], more].concat());
        text(&output.stdout)
    };
    assert_eq!(json(&["--hide", "capture"]), json(&[]));
    let wrong = run(&["explain", capture, "--hide", "captrue"]);
    let said = text(&wrong.stderr);
    assert_eq!(wrong.status.code(), Some(2), "{said}");
    assert!(said.contains("capture") && said.contains("health"), "{said}");
}

/// The file in which a run says what its network dropped is no capture that missed nearly everything.
#[test]
fn our_own_file_of_drops_is_recognised() {
    if !lab_or_skip("our_own_file_of_drops_is_recognised") {
        return;
    }
    let scratch = Scratch::new("drops");
    let captures = scratch.0.join("cap");
    let ran = run(&[
        "shell",
        "delay 1 ms, loss 20 %",
        "--capture",
        captures.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        "ping -c 60 -i 0.01 -W 1 $SLOWPATH_FAR >/dev/null",
    ]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let drops = captures.join("captures/shell.network.pcapng");
    let drops = drops.to_str().unwrap();
    let explained = run(&["explain", drops]);
    let shown = text(&explained.stdout);
    assert_eq!(explained.status.code(), Some(0), "{}", text(&explained.stderr));
    assert!(shown.starts_with("The emulated path dropped "), "{shown}");
    assert!(shown.contains("not a transfer"), "{shown}");
    // The capture that holds what the hosts saw is named, however it is wrapped.
    let joined: String = shown.split_whitespace().collect();
    let (_, host) = joined.split_once("slowpathexplain").unwrap();
    assert!(Path::new(host).is_file(), "{host}");
    let json = run(&["explain", drops, "--format", "json"]);
    let document: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(document["schema"], "slowpath/drops/1");
    let all = document["drops"].as_array().unwrap();
    let counted: u64 = document["elements"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|element| element["dropped"].as_object().unwrap().values())
        .map(|count| count.as_u64().unwrap())
        .sum();
    assert!(!all.is_empty() && all.len() as u64 == counted, "{document}");
    let every = |key: &str| all.iter().all(|drop| !drop[key].is_null());
    assert!(every("cause") && every("flow") && every("packet"), "{document}");
    // What asks for a transfer is told where it is.
    let wrong = run(&["explain", drops, "--wireshark"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains(host), "{}", text(&wrong.stderr));
}

/// Row 7 of what new users stumbled over: a program asks for 64 KiB, and the kernel advertises a quarter more.
#[test]
fn a_window_of_a_linux_host_is_the_kernels_in_simulated_time() {
    let scratch = Scratch::new("window");
    let window = |host: &str| {
        let text = SMALL
            .replace("\"20 Mbit/s\"", "\"50 Mbit/s\"")
            .replace("\"5 ms\"", "\"50 ms\"")
            .replace("window = \"16384 B\"", host);
        let file = scratch.file("window.toml", &text);
        let out = scratch.0.join(format!("out-{}", host.len()));
        let place = out.to_str().unwrap();
        let ran = run(&[
            "run",
            file.to_str().unwrap(),
            "--clock",
            "simulated",
            "--variant",
            "narrow",
            "--out",
            place,
        ]);
        assert_eq!(
            ran.status.code(),
            Some(0),
            "{}",
            crate::support::text(&ran.stderr)
        );
        let result = fs::read_to_string(out.join("result.json")).unwrap();
        let result: serde_json::Value = serde_json::from_str(&result).unwrap();
        let verdict = &result["variants"][0]["verdict"];
        assert_eq!(verdict["limit"], "receiver-window", "{verdict}");
        verdict["parameters"]["window_bytes"].as_u64().unwrap()
    };
    let kernel = window("window = \"64 KiB\"");
    assert!((80_000..=82_000).contains(&kernel), "{kernel}");
    let model = window("window = \"64 KiB\", stack = \"model\"");
    assert!((63_000..=65_600).contains(&model), "{model}");
}

#[test]
fn the_version_names_build_and_model() {
    let output = run(&["--version"]);
    let said = text(&output.stdout);
    assert!(
        said.starts_with("slowpath ") && said.contains("build ") && said.contains("model "),
        "{said}"
    );
}

/// `iperf3 -J | jq` works, whatever the far program says.
#[test]
fn the_far_programs_output_stays_out_of_the_near_ones() {
    if !lab_or_skip("the_far_programs_output_stays_out_of_the_near_ones") {
        return;
    }
    let scratch = Scratch::new("shell");
    let captures = scratch.0.join("cap");
    let output = run(&[
        "shell",
        "delay 5 ms",
        "--capture",
        captures.to_str().unwrap(),
        "--far",
        "echo from afar; exec sleep 5",
        "--",
        "sh",
        "-c",
        "sleep 0.3; ping -c 1 -W 2 $SLOWPATH_FAR >/dev/null; echo from near",
    ]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_eq!(out, "from near\n");
    assert!(err.contains("from afar"), "{err}");
    // The paths that are printed can be used from here.
    let named: Vec<&str> = err
        .lines()
        .filter_map(|line| line.strip_prefix("slowpath: capture at ")?.split_once(": "))
        .map(|(_, path)| path)
        .collect();
    assert!(
        !named.is_empty() && named.iter().all(|path| Path::new(path).is_file()),
        "{err}"
    );
}

/// Ctrl-C on a terminal reaches the whole group at once.
#[test]
fn an_interrupted_lab_run_is_not_a_failed_one() {
    if !lab_or_skip("an_interrupted_lab_run_is_not_a_failed_one") {
        return;
    }
    let scratch = Scratch::new("interrupt");
    let slow = SMALL.replace("20 Mbit/s", "1 Mbit/s").replace("1 MiB", "50 MiB");
    let file = scratch.file("slow.toml", &slow);
    let out = scratch.0.join("out");
    let mut child = slowpath()
        .args([
            "run",
            file.to_str().unwrap(),
            "--clock",
            "lab",
            "--out",
            out.to_str().unwrap(),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let group = format!("-{}", child.id());
    let killed = std::process::Command::new("kill")
        .args(["-INT", "--", &group])
        .status()
        .unwrap();
    assert!(killed.success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("interrupted") && !said.contains("failed"), "{said}");
}

/// Without the lab, simulated time answers, and nothing is broken.
#[test]
fn a_machine_without_a_lab_answers_in_simulated_time() {
    let scratch = Scratch::new("nolab");
    let file = scratch.file("small.toml", SMALL);
    let out = scratch.0.join("out");
    // An ordinary user in a user namespace that permits no further one.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces 2>/dev/null; exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";
    let forbidding = |arguments: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "sh", "-c", script, "sh"])
            .arg(env!("CARGO_BIN_EXE_slowpath"))
            .args(arguments)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null());
        command.output()
    };
    match forbidding(&["doctor"]) {
        Ok(output) if output.status.code() == Some(3) => {}
        _ => {
            eprintln!(
                "skipped: a_machine_without_a_lab_answers_in_simulated_time: user namespaces cannot be forbidden here"
            );
            return;
        }
    }
    for clock in ["both", "auto"] {
        let _ = fs::remove_dir_all(&out);
        let place = out.to_str().unwrap();
        let output = forbidding(&["run", file.to_str().unwrap(), "--clock", clock, "--out", place]).unwrap();
        let (shown, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(
            shown.contains("simulated time") && shown.contains("narrow"),
            "{shown}"
        );
        assert!(said.contains("no lab can be built here"), "{said}");
    }
    let output = forbidding(&["run", file.to_str().unwrap(), "--clock", "lab"]).unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("--clock simulated"), "{said}");
}

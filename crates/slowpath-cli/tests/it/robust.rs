//! What must not harm: readers that go away, disks that are full or read-only, narrow terminals and none, signals at any moment.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{SMALL, Scratch, lab_or_skip, slowpath, text};

/// A folder with results, a capture and a configuration, and every command that prints an answer about them.
struct Made {
    scratch: Scratch,
}

impl Made {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let made = Self { scratch };
        made.scratch
            .file("small.toml", &SMALL.replace("repeats = 2", "repeats = 1"));
        made.scratch.file("sysctl.conf", "net.ipv4.tcp_sack = 1\n");
        let ran = made.run("-q run small.toml --clock simulated --out made");
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
        let capture = made
            .scratch
            .0
            .join("made/captures/auto.0.simulated.client.pcapng");
        fs::copy(capture, made.scratch.0.join("c.pcapng")).unwrap();
        made
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = slowpath();
        command.current_dir(&self.scratch.0).args(arguments.split(' '));
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }
}

/// Every command with an answer, in its forms. Those that only a lab can do print what their program prints.
const ANSWERS: [&str; 29] = [
    "list",
    "doctor",
    "--help",
    "run --help",
    "completions zsh",
    "run small.toml --clock simulated --out made",
    "run small.toml --clock simulated --out made --format json",
    "run small.toml --clock simulated --out made --format jsonl",
    "run small.toml --clock simulated --out made --format csv",
    "run small.toml --clock simulated --out made --format html",
    "run small.toml --sweep delay=5ms,10ms --variant auto --out swept",
    "diagnose small.toml --variant narrow --out diagnosed",
    "report made",
    "report made --format html",
    "compare made made",
    "explain c.pcapng",
    "explain c.pcapng -v",
    "explain c.pcapng --format json",
    "explain c.pcapng --format jsonl",
    "explain c.pcapng --format html",
    "explain c.pcapng c.pcapng",
    "explain --each c.pcapng",
    "explain --each c.pcapng --format jsonl",
    "fit c.pcapng --simulations 40",
    "config sysctl.conf",
    "config sysctl.conf --format json",
    "measure ping://127.0.0.1 --count 2 --interval 10ms",
    "why --port 9 --for 1",
    "why --port 9 --for 1 --format jsonl",
];

#[test]
fn no_command_minds_a_reader_that_has_seen_enough() {
    let made = Made::new("reader");
    for arguments in ANSWERS {
        let mut child = made
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // As `head -n 1` does it.
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap().code();
        // `doctor` says with 3 that no lab can be built, a measurement with 4 that it is incomplete.
        let able = matches!(
            (arguments.split(' ').next(), code),
            (_, Some(0)) | (Some("doctor"), Some(3)) | (Some("measure"), Some(4))
        );
        assert!(able, "{arguments}: {code:?} {said}");
        assert!(!line.is_empty(), "{arguments}: no answer: {said}");
        assert!(
            !said.contains("panicked") && !said.contains("Broken pipe"),
            "{arguments}: {said}"
        );
    }
}

#[test]
fn every_command_says_that_its_answer_could_not_be_written() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: every_command_says_that_its_answer_could_not_be_written: there is no /dev/full");
        return;
    }
    let made = Made::new("full-answer");
    // What clap prints itself, it prints as well as it can.
    for arguments in ANSWERS.iter().filter(|arguments| !arguments.ends_with("--help")) {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = made.command(arguments).stdout(full).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments}: {said}");
        assert!(said.contains("No space left on device"), "{arguments}: {said}");
        assert!(!said.contains("panicked"), "{arguments}: {said}");
    }
}

/// Runs a script in mount namespace of its own, where `$1` is a folder of a few hundred kB and `slowpath` the program.
fn on_a_small_disk(test: &str, scratch: &Scratch, script: &str) -> Option<Output> {
    let disk = scratch.0.join("disk");
    fs::create_dir(&disk).unwrap();
    let prelude =
        "mount -t tmpfs -o size=700k none \"$1\" || exit 77; slowpath() { \"$SLOWPATH\" \"$@\"; }; ";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
        .args([&format!("{prelude}{script}"), "sh"])
        .arg(&disk)
        .env("SLOWPATH", env!("CARGO_BIN_EXE_slowpath"))
        .env("RUST_BACKTRACE", "0")
        .current_dir(&scratch.0)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.code() != Some(77) => Some(output),
        _ => {
            eprintln!("skipped: {test}: no file system can be mounted here");
            None
        }
    }
}

/// What was finished before the disk was full stays, whole; once there is room the same command goes on.
#[test]
fn a_full_disk_loses_nothing_that_was_finished() {
    let scratch = Scratch::new("full-disk");
    scratch.file("small.toml", SMALL);
    let one = "slowpath -q run small.toml --clock simulated --no-capture --variant auto --repeats 1 --out \"$1/out\"";
    let all = "slowpath -q run small.toml --clock simulated --variant auto --repeats 2 --out \"$1/out\"";
    let script = format!(
        "{one} >/dev/null || exit 1
        cp \"$1/out/runs/auto.0.simulated.json\" before || exit 2
        dd if=/dev/zero of=\"$1/filler\" bs=1k 2>/dev/null
        {all} >shown; echo $? >code
        cmp before \"$1/out/runs/auto.0.simulated.json\" || exit 3
        find \"$1\" -name '*.partial' >left
        rm \"$1/filler\"
        slowpath report \"$1/out\" >reported || exit 4
        {one} >again || exit 5"
    );
    let Some(output) = on_a_small_disk("a_full_disk_loses_nothing_that_was_finished", &scratch, &script)
    else {
        return;
    };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let read = |name: &str| fs::read_to_string(scratch.0.join(name)).unwrap();
    assert_eq!(read("code").trim(), "2", "{said}");
    assert!(
        said.contains("the disk is full") && said.contains("--out"),
        "{said}"
    );
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(read("left"), "");
    for shown in ["reported", "again"] {
        assert!(read(shown).contains("auto"), "{}", read(shown));
    }
}

/// A folder that nobody may write: answers come as ever, results are refused with the reason.
#[test]
fn a_read_only_folder_takes_no_results_and_gives_every_answer() {
    let made = Made::new("read-only");
    let script = "cp small.toml c.pcapng \"$1\"; mount -o remount,ro \"$1\" || exit 77; cd \"$1\"
        slowpath explain c.pcapng >../explained || exit 1
        slowpath run small.toml --clock simulated >../ran; echo $? >../code
        slowpath fit c.pcapng --simulations 40 --out path.toml >../fitted; echo $? >>../code
        slowpath explain c.pcapng --out kept >../kept; echo $? >>../code";
    let test = "a_read_only_folder_takes_no_results_and_gives_every_answer";
    let Some(output) = on_a_small_disk(test, &made.scratch, script) else {
        return;
    };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let read = |name: &str| fs::read_to_string(made.scratch.0.join(name)).unwrap();
    assert!(read("explained").contains("  limit "), "{}", read("explained"));
    assert_eq!(read("code"), "2\n3\n2\n", "{said}");
    assert_eq!(said.matches("its file system is read-only").count(), 3, "{said}");
    for shown in ["ran", "fitted", "kept"] {
        assert_eq!(read(shown), "", "{shown}");
    }
}

/// Runs a command on a terminal of so many columns, and gives what it shows there.
fn on_a_terminal(made: &Made, columns: usize, arguments: &str) -> Option<String> {
    let command = format!("stty cols {columns} rows 24; exec \"$SLOWPATH\" {arguments}");
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(&made.scratch.0)
        .env("SLOWPATH", env!("CARGO_BIN_EXE_slowpath"))
        .env("NO_COLOR", "1")
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(text(&output.stdout).replace('\r', ""))
}

/// Nothing is wider than a narrow terminal but what cannot be broken: a name, a path, a command to copy.
#[test]
fn forty_columns_are_enough() {
    let made = Made::new("forty");
    let mut wide = Vec::new();
    for arguments in [
        "list",
        "doctor",
        "run small.toml --clock simulated --out made",
        "report made",
        "compare made made",
        "explain c.pcapng",
        "explain c.pcapng -v",
        "explain c.pcapng c.pcapng",
        "explain --each c.pcapng missing.pcap",
        "explain missing.pcap",
        "run cisco-fpt",
        "run small.toml --sweep los=1%",
        "config sysctl.conf",
        "fit c.pcapng --simulations 40",
        "diagnose small.toml --variant narrow --out diagnosed",
        "measure ping://127.0.0.1 --count 2 --interval 10ms",
        "why --port 9 --for 1",
    ] {
        let Some(shown) = on_a_terminal(&made, 40, arguments) else {
            eprintln!("skipped: forty_columns_are_enough: there is no script(1)");
            return;
        };
        assert!(!shown.trim().is_empty(), "{arguments}");
        for line in shown.lines() {
            // What progress drew and took away again is not to be read.
            let line = ["\u{1b}[2K", "\u{1b}[K", "\u{1b}[1A"]
                .into_iter()
                .fold(line, |line, taken| line.rsplit(taken).next().unwrap_or(line));
            // A command to copy stays whole.
            if line.contains("sysctl> ") {
                continue;
            }
            let longest = line
                .split_whitespace()
                .map(|word| word.chars().count())
                .max()
                .unwrap_or(0);
            let indent = line.chars().take_while(|c| *c == ' ').count();
            if line.chars().count() > 40.max(indent + longest + 2) {
                wide.push(format!("{arguments}: {line:?}"));
            }
        }
    }
    assert!(wide.is_empty(), "wider than 40 columns:\n{}", wide.join("\n"));
}

/// Without a terminal nothing is drawn: no colours, no progress, no returns to the line's begin.
#[test]
fn without_a_terminal_nothing_is_drawn() {
    let made = Made::new("plain");
    // Those that would draw: tables in colour, and how far they have come.
    let drawing = ["run", "diagnose", "report", "explain", "fit", "measure", "why"];
    let draws = |arguments: &&&str| drawing.contains(&arguments.split(' ').next().unwrap());
    for arguments in ANSWERS.iter().filter(draws) {
        if arguments.contains("--format") {
            continue;
        }
        let output = made
            .command(arguments)
            .env("TERM", "xterm-256color")
            .output()
            .unwrap();
        for (stream, shown) in [("output", &output.stdout), ("error", &output.stderr)] {
            let drawn = shown.iter().any(|byte| matches!(byte, 0x1b | b'\r'));
            // The page has its script, in which such a byte may stand.
            assert!(
                !drawn || arguments.ends_with("html"),
                "{arguments}: drawn on standard {stream}"
            );
        }
    }
    // Not even the streams are there.
    let closed = format!("exec '{}' list <&- >&- 2>&-", env!("CARGO_BIN_EXE_slowpath"));
    let status = Command::new("sh").args(["-c", &closed]).status().unwrap();
    assert!(matches!(status.code(), Some(0 | 3)), "{status:?}");
}

// ---------------------------------------------------------------- signals

/// The program with signals as a terminal's shell leaves them: what runs in the background of a script ignores Ctrl-C.
fn signalable() -> Command {
    let mut command = Command::new("env");
    command
        .args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_slowpath")])
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null());
    command
}

/// What came of a command that got a signal.
struct Ended {
    /// As a shell sees it: 128 and the signal's number where it was killed by that.
    code: i32,
    said: String,
    shown: String,
}

/// Starts a command, sends it a signal after a while, and sees that it ends within seconds, with nothing left of it.
fn signalled(scratch: &Scratch, mut command: Command, signal: &str, after: Duration) -> Ended {
    use std::os::unix::process::ExitStatusExt;

    let temporary = scratch.0.join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let out = fs::File::create(scratch.0.join("stdout")).unwrap();
    let err = fs::File::create(scratch.0.join("stderr")).unwrap();
    let mut child = command
        .current_dir(&scratch.0)
        .env("TMPDIR", &temporary)
        .env("SLOWPATH_TEST_MARK", scratch.0.file_name().unwrap())
        .stdout(out)
        .stderr(err)
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    let _ = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > Duration::from_secs(20) {
            let _ = child.kill();
            panic!("{command:?} did not end within 20 s of {signal}, sent after {after:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    let read = |name: &str| text(&fs::read(scratch.0.join(name)).unwrap());
    let ended = Ended {
        code,
        said: read("stderr"),
        shown: read("stdout"),
    };
    let what = format!("{signal} after {after:?}: {code}: {}", ended.said);
    assert!(!ended.said.contains("panicked"), "{what}");
    // Children may take a moment to be gone.
    let begun = Instant::now();
    while !descendants(scratch).is_empty() && begun.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(descendants(scratch), Vec::<String>::new(), "{what}");
    let left: Vec<_> = fs::read_dir(&temporary)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new(), "{what}");
    ended
}

/// Processes that come from a command of this folder: they inherit its mark. Namespaces of a run last as long as they do.
fn descendants(scratch: &Scratch) -> Vec<String> {
    let mark = format!("SLOWPATH_TEST_MARK={}", scratch.0.file_name().unwrap().display());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == mark.as_bytes())
        {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            if !line.is_empty() {
                found.push(text(&line).replace('\0', " "));
            }
        }
    }
    found
}

/// Every record of a folder by name, parsed: what is there is whole.
fn records(folder: &Path) -> BTreeMap<String, serde_json::Value> {
    let mut found = BTreeMap::new();
    let Ok(entries) = fs::read_dir(folder.join("runs")) else {
        return found;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().extension().is_some_and(|end| end == "json") {
            let content = fs::read(entry.path()).unwrap();
            let record = serde_json::from_slice(&content)
                .unwrap_or_else(|error| panic!("{name} is not whole: {error}"));
            found.insert(name, record);
        }
    }
    found
}

const SIGNALS: [&str; 2] = ["-INT", "-TERM"];

/// However often a run is broken off, its end is what it would have been at once.
#[test]
fn a_simulated_run_may_be_interrupted_at_any_moment() {
    let scratch = Scratch::new("interrupt-simulated");
    let several = SMALL.replace("1 MiB", "20 MiB");
    scratch.file("several.toml", &several);
    let arguments = ["run", "several.toml", "--clock", "simulated", "--prove", "--out"];
    let command = |out: &str| {
        let mut command = signalable();
        command.args(arguments).arg(out);
        command
    };
    let begun = Instant::now();
    let whole = command("whole").current_dir(&scratch.0).output().unwrap();
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    let took = begun.elapsed();
    let mut interrupted = 0;
    for step in 1..10_u32 {
        let signal = SIGNALS[step as usize % 2];
        let ended = signalled(&scratch, command("out"), signal, took * step / 20);
        // Nothing was set up yet at the first, all was done at the last.
        let by_signal = if signal == "-INT" { 130 } else { 143 };
        assert!(
            ended.code == 0 || ended.code == 130 || (ended.code == by_signal && ended.said.is_empty()),
            "{signal}, step {step}: {} {}",
            ended.code,
            ended.said
        );
        if ended.code == 130 && !ended.said.is_empty() {
            interrupted += 1;
            assert!(ended.said.contains("the same command goes on"), "{}", ended.said);
            assert!(!ended.said.contains("failed"), "{}", ended.said);
        }
        records(&scratch.0.join("out"));
        let partial = Command::new("find")
            .arg(&scratch.0)
            .args(["-name", "*.partial"])
            .output()
            .unwrap();
        assert_eq!(text(&partial.stdout), "", "step {step}");
    }
    assert!(
        interrupted >= 2,
        "hardly any call was interrupted: it took {took:?}"
    );
    let last = command("out").current_dir(&scratch.0).output().unwrap();
    assert_eq!(last.status.code(), Some(0), "{}", text(&last.stderr));
    assert!(records(&scratch.0.join("out")) == records(&scratch.0.join("whole")));
}

/// A run that computes for long does not keep whoever breaks it off waiting, and leaves no half capture.
#[test]
fn a_simulated_run_is_broken_off_before_its_end() {
    let scratch = Scratch::new("interrupt-long");
    // Hours on any machine.
    scratch.file(
        "long.toml",
        &SMALL
            .replace("1 MiB", "4 TiB")
            .replace("20 Mbit/s", "20 Gbit/s")
            .replace("60 s", "3600 s"),
    );
    for after in [1, 2, 4, 8, 16] {
        let mut command = signalable();
        command.args(["run", "long.toml", "--clock", "simulated", "--out", "out"]);
        let ended = signalled(&scratch, command, "-INT", Duration::from_secs(after));
        assert_eq!(ended.code, 130, "{}", ended.said);
        // On a busy machine it may have been too early.
        if fs::read_dir(scratch.0.join("out")).is_err() || ended.said.is_empty() {
            continue;
        }
        assert!(ended.said.contains("the same command goes on"), "{}", ended.said);
        let captures = fs::read_dir(scratch.0.join("out/captures"));
        let left: Vec<PathBuf> = captures
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        assert_eq!(left, Vec::<PathBuf>::new());
        return;
    }
    panic!("it never came so far as to be interrupted");
}

#[test]
fn a_lab_run_may_be_interrupted_at_any_moment() {
    if !lab_or_skip("a_lab_run_may_be_interrupted_at_any_moment") {
        return;
    }
    let scratch = Scratch::new("interrupt-lab");
    scratch.file("slow.toml", &SMALL.replace("20 Mbit/s", "4 Mbit/s"));
    for (step, after) in [30, 80, 150, 300, 600, 1000, 1600, 2200].into_iter().enumerate() {
        let signal = SIGNALS[step % 2];
        let mut command = signalable();
        command.args(["run", "slow.toml", "--clock", "lab", "--out", "out"]);
        let ended = signalled(&scratch, command, signal, Duration::from_millis(after));
        assert!(
            matches!(ended.code, 130 | 143),
            "{signal} after {after} ms: {} {}",
            ended.code,
            ended.said
        );
        assert!(
            !ended.said.contains("failed"),
            "{signal} after {after} ms: {}",
            ended.said
        );
        records(&scratch.0.join("out"));
    }
    let mounted = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounted.contains("slowpath"), "{mounted}");
}

#[test]
fn reading_a_large_capture_may_be_interrupted_at_any_moment() {
    let scratch = Scratch::new("interrupt-explain");
    scratch.file(
        "large.toml",
        &SMALL
            .replace("1 MiB", "80 MiB")
            .replace("20 Mbit/s", "900 Mbit/s"),
    );
    let ran = slowpath()
        .args([
            "-q",
            "run",
            "large.toml",
            "--clock",
            "simulated",
            "--variant",
            "auto",
            "--repeats",
            "1",
            "--out",
            "made",
        ])
        .current_dir(&scratch.0)
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let explain = || {
        let mut command = signalable();
        command.args([
            "explain",
            "made/captures/auto.0.simulated.server.pcapng",
            "--out",
            "kept",
        ]);
        command
    };
    let begun = Instant::now();
    let whole = explain()
        .args(["--format", "json"])
        .current_dir(&scratch.0)
        .output()
        .unwrap();
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    let took = begun.elapsed();
    fs::remove_dir_all(scratch.0.join("kept")).unwrap();
    for step in 1..9_u32 {
        let signal = SIGNALS[step as usize % 2];
        let ended = signalled(&scratch, explain(), signal, took * step / 8);
        assert!(
            ended.code == 0 && ended.shown.contains("  limit ")
                || matches!(ended.code, 130 | 143) && ended.shown.is_empty() && ended.said.is_empty(),
            "{signal}, step {step}: {}: {}{}",
            ended.code,
            ended.shown,
            ended.said
        );
        records(&scratch.0.join("kept"));
    }
    let last = explain().current_dir(&scratch.0).output().unwrap();
    assert_eq!(last.status.code(), Some(0), "{}", text(&last.stderr));
}

/// A measurement that is broken off says what it has, and that it is not all.
#[test]
fn a_measurement_may_be_interrupted_at_any_moment() {
    let scratch = Scratch::new("interrupt-measure");
    for (step, after) in [20, 60, 200, 500, 900].into_iter().enumerate() {
        let signal = SIGNALS[step % 2];
        for arguments in [
            [
                "measure",
                "ping://127.0.0.1",
                "--count",
                "1000",
                "--interval",
                "20ms",
            ],
            ["why", "--port", "9", "--for", "100", "-q"],
        ] {
            let mut command = signalable();
            command.args(arguments);
            let ended = signalled(&scratch, command, signal, Duration::from_millis(after));
            let what = format!(
                "{arguments:?}, {signal} after {after} ms: {}: {}{}",
                ended.code, ended.shown, ended.said
            );
            assert!(matches!(ended.code, 0 | 3 | 4 | 130 | 143), "{what}");
            if matches!(ended.code, 0 | 4) {
                assert!(!ended.shown.is_empty(), "{what}");
            } else {
                assert!(ended.shown.is_empty(), "{what}");
            }
        }
    }
}

/// A program over an emulated path, and one that is watched: both get the signal that a terminal sends to all.
#[test]
fn programs_end_with_the_command_that_started_them() {
    use std::os::unix::process::CommandExt;

    let lab = lab_or_skip("programs_end_with_the_command_that_started_them");
    let scratch = Scratch::new("interrupt-programs");
    for arguments in [
        &[
            "shell",
            "delay 1 ms",
            "--far",
            "exec sleep 100",
            "--",
            "sleep",
            "100",
        ][..],
        &["why", "--", "sleep", "100"],
    ] {
        if arguments[0] == "shell" && !lab {
            continue;
        }
        for after in [300, 1000] {
            let mut command = signalable();
            command.args(arguments).process_group(0);
            let mut child = command
                .env("SLOWPATH_TEST_MARK", scratch.0.file_name().unwrap())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(after));
            let group = format!("-{}", child.id());
            let killed = Command::new("kill")
                .args(["-INT", "--", &group])
                .status()
                .unwrap();
            assert!(killed.success());
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            let status = child.wait().unwrap();
            assert!(!said.contains("panicked"), "{said}");
            assert!(
                !status.success() || arguments[0] == "why",
                "{arguments:?}: {status:?} {said}"
            );
            let begun = Instant::now();
            while !descendants(&scratch).is_empty() && begun.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(20));
            }
            assert_eq!(descendants(&scratch), Vec::<String>::new(), "{arguments:?}");
        }
    }
}

//! Japanese output: no English sentence in what the commands say, and JSON that stays what it is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{SMALL, Scratch, slowpath, text};

/// Runs the command in Japanese; what it said on both streams.
fn said(scratch: &Scratch, arguments: &[&str]) -> String {
    let output = slowpath()
        .args(arguments)
        .args(["--lang", "ja"])
        .current_dir(&scratch.0)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout) + &text(&output.stderr)
}

/// Runs of three or more English words: no names, units, options, addresses, commands or file names.
fn english(said: &str) -> Vec<String> {
    let mut found = Vec::new();
    // What is set as code is a command, an option or a name.
    let prose: String = said.split('`').step_by(2).collect::<Vec<_>>().join("|");
    for line in prose.lines() {
        let ends = |c: char| !c.is_ascii() || matches!(c, '|' | '"' | '(' | ')' | '[' | ']' | '/' | '>');
        for run in line.split(ends) {
            let mut words: Vec<&str> = Vec::new();
            for part in run.split(' ').chain(["."]) {
                let bare = part.trim_matches(|c: char| matches!(c, ',' | ';' | ':' | '.' | '\''));
                let is_word = bare.len() > 1
                    && bare
                        .bytes()
                        .all(|byte| byte.is_ascii_alphabetic() || byte == b'\'')
                    && bare.bytes().skip(1).any(|byte| byte.is_ascii_lowercase())
                    && !NAMES.contains(&bare);
                if is_word {
                    words.push(part);
                    continue;
                }
                if words.len() >= 3 {
                    found.push(format!("{} | {line}", words.join(" ")));
                }
                words.clear();
            }
        }
    }
    found
}

fn refuse(place: &str, said: &str) {
    let found = english(said);
    assert!(
        found.is_empty(),
        "{place}: {} in English:\n{}",
        found.len(),
        found.join("\n")
    );
    // Tables are as wide as they are where nothing wraps them; sentences are not.
    for line in said.lines().filter(|line| line.contains('。')) {
        assert!(columns(line) <= 80, "{place}: {} columns: {line}", columns(line));
    }
}

fn columns(line: &str) -> usize {
    line.chars()
        .map(|c| 1 + usize::from(matches!(u32::from(c), 0x2E80..=0xD7A3 | 0xF900..=0xFAFF | 0xFF00..=0xFF60)))
        .sum()
}

/// Names that stand beside each other.
const NAMES: &[&str] = &[
    "slowpath",
    "explain",
    "run",
    "sweep",
    "merge",
    "why",
    "diagnose",
    "config",
    "report",
    "measure",
    "iperf3",
    "scp",
    "sftp",
    "ssh",
    "Linux",
    "Cisco",
    "Yamaha",
    "OpenSSH",
    "Wireshark",
    "CUBIC",
    "Reno",
    "queue",
    "lan",
    "type",
    "shaping",
    "priority",
    "class",
    "property",
    "tunnel",
    "ip",
    "ipsec",
    "filter",
    "pass",
    "none",
    "server",
    "client",
    "variant",
    "out",
    "clock",
    "simulated",
    "ethernet",
    "cubic",
    "bbr",
    "compare",
    "list",
    "doctor",
    "fit",
    "serve",
    "completions",
];

#[test]
fn no_english_in_the_experiments() {
    for experiment in [
        "cisco-ftp",
        "iperf3-modes",
        "scp-dscp",
        "rtx2000-tunnel-qos",
        "bbr-object-storage",
    ] {
        let scratch = Scratch::new(&format!("ja-{experiment}"));
        let run = [
            "run",
            experiment,
            "--quick",
            "--clock",
            "simulated",
            "--out",
            "out",
        ];
        refuse(experiment, &said(&scratch, &run));
        let document = fs::read_to_string(scratch.0.join("out/result.json")).unwrap();
        let kana = |c: char| ('\u{3040}'..='\u{30ff}').contains(&c);
        assert!(
            !document.contains(kana),
            "{experiment}: result.json is not English alone"
        );
        assert!(
            fs::read(scratch.0.join("out/runs.csv"))
                .unwrap()
                .starts_with(b"\xef\xbb\xbf")
        );
        // A folder can be read in a language in which it was not made.
        refuse(experiment, &said(&scratch, &["report", "out"]));
        let mut captures = captures(&scratch.0.join("out"));
        captures.truncate(2);
        for capture in captures {
            let shown = capture.display().to_string();
            refuse(&shown, &said(&scratch, &["explain", &shown]));
            refuse(&shown, &said(&scratch, &["explain", &shown, "-v"]));
        }
    }
}

#[test]
fn no_english_in_a_diagnosis() {
    let scratch = Scratch::new("ja-diagnose");
    for (experiment, variant) in [("cisco-ftp", "iosxe-default"), ("scp-dscp", "scp-default")] {
        let diagnose = [
            "diagnose",
            experiment,
            "--quick",
            "--variant",
            variant,
            "--out",
            experiment,
        ];
        refuse(experiment, &said(&scratch, &diagnose));
    }
}

#[test]
fn no_english_about_a_configuration() {
    let scratch = Scratch::new("ja-config");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("docs/guide/examples/router.cfg")];
    for entry in fs::read_dir(root.join("experiments")).unwrap().flatten() {
        let inner = fs::read_dir(entry.path()).unwrap().flatten();
        files.extend(
            inner
                .map(|file| file.path())
                .filter(|path| path.extension().is_some_and(|end| end == "cfg")),
        );
    }
    assert!(files.len() > 2);
    for file in files {
        let shown = file.display().to_string();
        // The configuration's own lines are what they are.
        let system = if shown.contains("cisco") { "ios" } else { "rtx" };
        // What a configuration gives is simulated, and said in the same words for all.
        let mut config = vec!["config", &shown, "--system", system];
        if !SIMULATED.iter().any(|name| shown.ends_with(name)) {
            config.push("--lines-only");
        }
        let said = said(&scratch, &config);
        let own =
            |line: &&str| !STATES.iter().any(|state| line.contains(state)) && !line.starts_with("      ");
        refuse(&shown, &said.lines().filter(own).collect::<Vec<_>>().join("\n"));
        let meanings = said
            .lines()
            .filter(|line| line.starts_with("                      "));
        refuse(&shown, &meanings.collect::<Vec<_>>().join("\n"));
    }
}

/// Configurations of which all is read.
const SIMULATED: [&str; 3] = ["router.cfg", "priority-on.cfg", "tuned.cfg"];

/// What stands before a line of a configuration.
const STATES: [&str; 5] = ["  対応  ", "  無視  ", "  要注意  ", "  未対応  ", "  認識不能  "];

#[test]
fn no_english_in_a_watch() {
    let scratch = Scratch::new("ja-why");
    refuse("why", &said(&scratch, &["why", "--port", "9", "--for", "1"]));
    let (listener, address) = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    };
    // A transfer on loopback: as much as goes in a few seconds.
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let ended = done.clone();
    let reader = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let writer = std::thread::spawn(move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        while !ended.load(std::sync::atomic::Ordering::Relaxed) {
            if std::io::Write::write_all(&mut stream, &vec![0; 65_536]).is_err() {
                break;
            }
        }
    });
    let port = address.port().to_string();
    let watched = said(&scratch, &["why", "--port", &port, "--for", "2"]);
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    writer.join().unwrap();
    reader.join().unwrap();
    refuse("why", &watched);
}

#[test]
fn no_english_about_labelled_captures() {
    let Some(corpus) = std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from) else {
        eprintln!(
            "skipped: no_english_about_labelled_captures: SLOWPATH_CORPUS does not name the corpus of captures"
        );
        return;
    };
    let scratch = Scratch::new("ja-corpus");
    let mut all = captures(&corpus);
    all.sort();
    let step = (all.len() / 20).max(1);
    for capture in all.iter().step_by(step).take(20) {
        let shown = capture.display().to_string();
        refuse(&shown, &said(&scratch, &["explain", &shown, "-v"]));
    }
    let lab = |name: &str| corpus.join("lab").join(name).display().to_string();
    let (first, second) = (
        lab("random-loss-0.5pct.pcap.gz"),
        lab("receiver-window-173k.pcap.gz"),
    );
    let compared = said(&scratch, &["explain", &first, &second]);
    refuse("two captures", &compared);
    for word in ["timestamps", "yes", "goodput", "because", "although", "-0秒"] {
        assert!(!compared.contains(word), "{word}: {compared}");
    }
}

/// A state's name, a second's unit and a full stop in place of a bar's mark were left as they were.
#[test]
fn a_ledgers_lines_are_japanese_to_the_last_word() {
    let Some(corpus) = std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from) else {
        eprintln!(
            "skipped: a_ledgers_lines_are_japanese_to_the_last_word: SLOWPATH_CORPUS does not name the corpus of captures"
        );
        return;
    };
    let scratch = Scratch::new("ja-ledger");
    for name in [
        "shared-bottleneck-3flows",
        "receiver-window-42k-sender",
        "policed-2.5mbit-bucket-40k-2flows",
    ] {
        let capture = corpus.join(format!("lab/{name}.pcap.gz")).display().to_string();
        let short = said(&scratch, &["explain", &capture]);
        assert!(!short.contains(" s "), "{short}");
        let long = said(&scratch, &["explain", &capture, "-v"]);
        for word in [
            "growth",
            "repair",
            "handshake",
            "shared-with-other-flows",
            "short-queue",
            "              。",
        ] {
            assert!(!long.contains(word), "{word}: {long}");
        }
        assert!(
            name.starts_with("policed") || long.contains("             . "),
            "{long}"
        );
    }
}

#[test]
fn no_english_in_help_and_errors() {
    let scratch = Scratch::new("ja-help");
    for command in [
        "run", "explain", "why", "diagnose", "config", "fit", "report", "compare",
    ] {
        let help = said(&scratch, &[command, "--help"]);
        for line in help.lines() {
            assert!(
                columns(line) <= 80,
                "{command} --help: {} columns: {line}",
                columns(line)
            );
        }
        let help: String = help
            .split('[')
            .map(|part| part.split_once(']').map_or(part, |(_, rest)| rest))
            .collect();
        let own = |line: &&str| !line.starts_with("使い方");
        let found = english(&help.lines().filter(own).collect::<Vec<_>>().join("\n"));
        assert!(found.is_empty(), "{command} --help:\n{}", found.join("\n"));
    }
    // Values are typed as they are.
    let help = said(&scratch, &["explain", "--help"]).replace("\n          ", " ");
    assert!(help.contains("health, capture, clocks"), "{help}");
    scratch.file("bare.toml", "title = \"x\"\n");
    for wrong in [
        &["run", "bare.toml"][..],
        &["run", "nope"],
        &["run", "cisco-ftp", "--variant", "nope"],
        &["explain", "missing.pcap"],
        &["explain"],
        &["run", "cisco-ftp", "--frob"],
        &["run", "cisco-ftp", "--clock", "never"],
        &["config", "missing.cfg"],
        &["frobnicate"],
    ] {
        let found = english(&text(
            &slowpath()
                .args(wrong)
                .args(["--lang", "ja"])
                .current_dir(&scratch.0)
                .output()
                .unwrap()
                .stderr,
        ));
        assert!(found.is_empty(), "{wrong:?}:\n{}", found.join("\n"));
    }
}

#[test]
fn an_authors_words_are_told_whole_or_not_at_all() {
    let scratch = Scratch::new("ja-list");
    let list = said(&scratch, &["list"]);
    for line in list.lines() {
        let mixed = line.contains('、') && line.contains(" of ");
        assert!(!mixed, "{line}");
    }
    assert!(!list.contains("run one with"), "{list}");
}

#[test]
fn no_english_in_a_comparison() {
    let scratch = Scratch::new("ja-compare");
    let file = scratch.file("small.toml", SMALL);
    for (out, rate) in [("a", "20 Mbit/s"), ("b", "10 Mbit/s")] {
        let set = format!("network.both[0].rate={rate}");
        let file = file.to_str().unwrap();
        let fixed = ["run", file, "--clock", "simulated", "--repeats", "1"];
        said(&scratch, &[&fixed[..], &["--set", &set, "--out", out]].concat());
    }
    let folders = said(&scratch, &["compare", "a", "b"]);
    refuse("folders", &folders);
    for word in ["variant", "limited by", " in folder ", "against"] {
        assert!(!folders.contains(word), "{word}: {folders}");
    }
}

#[test]
fn json_and_the_locale() {
    let scratch = Scratch::new("ja-json");
    let of = |language: &str| {
        let output = slowpath()
            .args([
                "config",
                "--format",
                "json",
                "--lines-only",
                "--lang",
                language,
                "-",
            ])
            .env("LC_ALL", "C")
            .stdin(fs::File::open(scratch.file("x.cfg", "ip tcp window-size 16384\n")).unwrap())
            .output()
            .unwrap();
        text(&output.stdout)
    };
    assert_eq!(of("en"), of("ja"), "JSON does not depend on the language");
    let list = |variable: &str, value: &str, more: &[&str]| {
        let mut command = slowpath();
        command
            .env_remove("LC_ALL")
            .env_remove("LC_MESSAGES")
            .env_remove("LANG");
        text(
            &command
                .env(variable, value)
                .args(["run", "--help"])
                .args(more)
                .output()
                .unwrap()
                .stdout,
        )
    };
    assert!(list("LANG", "ja_JP.UTF-8", &[]).contains("使い方"));
    assert!(list("LC_ALL", "ja_JP.UTF-8", &[]).contains("使い方"));
    assert!(list("LANG", "ja_JP.UTF-8", &["--lang", "en"]).contains("Usage"));
    assert!(list("LANG", "de_DE.UTF-8", &[]).contains("Usage"));
}

/// All captures below a folder.
fn captures(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let ends = |end: &str| path.extension().is_some_and(|found| found == end);
        if path.is_dir() {
            out.extend(captures(&path));
        } else if ends("pcap") || ends("pcapng") {
            out.push(path);
        }
    }
    out.sort();
    out
}

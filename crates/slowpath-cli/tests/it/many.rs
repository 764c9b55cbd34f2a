//! Many captures at once: one table, files that continue each other, and everything in a folder that is no capture.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{SMALL, Scratch, run, slowpath, text};

/// Two captures of transfers that differ, made in simulated time.
struct Made {
    scratch: Scratch,
}

impl Made {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let experiment = scratch.file("small.toml", &SMALL.replace("repeats = 2", "repeats = 1"));
        let out = scratch.0.join("made");
        let ran = slowpath()
            .args(["-q", "run", "--clock", "simulated", "--out"])
            .args([&out, &experiment])
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
        let made = Self { scratch };
        fs::create_dir(made.path("in")).unwrap();
        for variant in ["auto", "narrow"] {
            let from = out.join(format!("captures/{variant}.0.simulated.server.pcapng"));
            fs::copy(from, made.path(&format!("in/{variant}.pcapng"))).unwrap();
        }
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.0.join(name)
    }

    /// What the command says in this folder: its exit code, answer, and what stands beside it.
    fn explain(&self, arguments: &str) -> (i32, String, String) {
        let output = slowpath()
            .arg("explain")
            .args(arguments.split(' '))
            .current_dir(&self.scratch.0)
            .output()
            .unwrap();
        let code = output.status.code().unwrap_or(-1);
        (code, text(&output.stdout), text(&output.stderr))
    }

    fn json(&self, arguments: &str) -> (i32, serde_json::Value) {
        let (code, answer, said) = self.explain(&format!("{arguments} --format json"));
        let value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {said}"));
        (code, value)
    }
}

/// The blocks of a pcapng file of ours: first those that describe it, then its packets.
fn blocks(bytes: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let (mut head, mut packets, mut at) = (Vec::new(), Vec::new(), 0);
    while at + 12 <= bytes.len() {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let block = bytes[at..at + word(at + 4) as usize].to_vec();
        at += block.len();
        match word(at - block.len()) {
            6 => packets.push(block),
            5 => {}
            _ => head.extend(block),
        }
    }
    (head, packets)
}

/// Writes a capture as a recorder does that begins a new file every `each` packets.
fn rotated(capture: &Path, each: usize, name: impl Fn(usize) -> PathBuf) -> Vec<PathBuf> {
    let (head, packets) = blocks(&fs::read(capture).unwrap());
    let parts = packets.chunks(each).enumerate().map(|(number, packets)| {
        let file = name(number);
        fs::write(&file, [head.clone(), packets.concat()].concat()).unwrap();
        file
    });
    parts.collect()
}

#[test]
fn many_captures_are_one_table_and_what_cannot_be_read_spoils_nothing() {
    let made = Made::new("many");
    let (code, answer, said) = made.explain("in");
    assert_eq!(code, 0, "{said}");
    assert!(
        answer.contains("2 captures, 2 transfers, 2,097,152 B in all"),
        "{answer}"
    );
    assert!(answer.contains("worst first"), "{answer}");
    let place = |name: &str| answer.find(name).unwrap_or_else(|| panic!("{name}: {answer}"));
    assert!(
        place("narrow.pcapng: ") < place("auto.pcapng: "),
        "the slower one first: {answer}"
    );
    assert!(answer.contains("receiver-window"), "{answer}");

    let whole = fs::read(made.path("in/auto.pcapng")).unwrap();
    fs::write(made.path("in/cut.pcapng"), &whole[..whole.len() / 2 + 3]).unwrap();
    fs::write(made.path("in/empty.pcap"), "").unwrap();
    fs::write(made.path("in/words.pcap"), "these are words").unwrap();
    fs::write(made.path("in/notes.txt"), "not meant as a capture").unwrap();
    fs::create_dir_all(made.path("in/below/nothing")).unwrap();
    fs::write(made.path("in/below/unnamed"), &whole).unwrap();
    let (code, answer, said) = made.explain("in");
    assert_eq!(code, 2, "{answer}");
    assert!(said.contains("2 of 6 could not be read"), "{said}");
    for expected in [
        "6 captures, 4 transfers",
        "empty.pcap: not read: the file is empty",
        "words.pcap: not read: not a pcap or pcapng capture",
        "cut.pcapng: the file is damaged: cut off",
        "below/unnamed: ",
    ] {
        assert!(answer.contains(expected), "{expected}: {answer}");
    }
    assert!(!answer.contains("notes.txt"), "{answer}");
    for line in answer.lines() {
        let word = line.split_whitespace().map(str::len).max().unwrap_or(0);
        assert!(line.chars().count() <= 80.max(word + 6), "{line}");
    }
    let (code, json) = made.json("in");
    assert_eq!(code, 2);
    assert_eq!(json["schema"], "slowpath/explain-many/1");
    assert_eq!(json["captures"].as_array().unwrap().len(), 6);
    let transfers = json["transfers"].as_array().unwrap();
    assert_eq!(transfers.len(), 4);
    let lost: Vec<f64> = transfers
        .iter()
        .map(|one| one["lost_s"].as_f64().unwrap())
        .collect();
    assert!(lost.is_sorted_by(|a, b| a >= b), "{lost:?}");
    for transfer in transfers {
        let capture = &json["captures"][transfer["capture"].as_u64().unwrap() as usize];
        assert_eq!(capture["file"], transfer["file"]);
    }
}

/// The rule that decides between one answer, two beside each other, and a table.
#[test]
fn what_is_named_decides_between_one_answer_two_beside_each_other_and_a_table() {
    let made = Made::new("many-rule");
    let (_, one, _) = made.explain("in/auto.pcapng");
    assert!(one.contains("  limit "), "{one}");
    let (code, two, _) = made.explain("in/auto.pcapng in/narrow.pcapng");
    assert!(code == 0 && !two.contains("worst first"), "{two}");
    let (_, each, _) = made.explain("--each in/auto.pcapng in/narrow.pcapng");
    assert!(
        each.contains("2 captures") && each.contains("worst first"),
        "{each}"
    );
    let (_, each, _) = made.explain("--each in/auto.pcapng");
    assert!(
        each.contains("1 capture,") && each.contains("worst first"),
        "{each}"
    );
    let (_, runs, _) = made.explain("made");
    assert!(runs.contains("4 captures"), "both ends of both runs: {runs}");
    // The same file is read once, by whatever path it is named.
    let (_, twice, _) = made.explain("in/auto.pcapng in ./in/../in/auto.pcapng in/narrow.pcapng");
    assert!(twice.contains("2 captures, 2 transfers"), "{twice}");
    // One that is not there, among others.
    let (code, some, said) = made.explain("in/auto.pcapng missing.pcap in/narrow.pcapng");
    assert_eq!(code, 2);
    assert!(
        some.contains("missing.pcap: not read: there is no file of that name"),
        "{some}"
    );
    assert!(said.contains("1 of 3 could not be read"), "{said}");
    let (code, none, said) = made.explain("in made/plots");
    assert_eq!(code, 2, "{none} {said}");
    let (code, asked, _) = made.explain("in --only 99999");
    assert!(code == 0 && asked.contains("no transfer in them"), "{asked}");
    let (_, known) = made.json("in --capacity 20Mbit/s");
    assert!(
        known["transfers"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["lost_at_most"] == false)
    );
}

/// Whatever stands beside a capture, and however many are read at a time: what it says stays the same.
#[test]
fn a_capture_says_the_same_alone_and_among_many() {
    let made = Made::new("many-same");
    let mut captures = vec!["in/auto.pcapng".to_owned(), "in/narrow.pcapng".to_owned()];
    fs::write(made.path("broken.pcap"), [0xd4, 0xc3, 0xb2, 0xa1, 2]).unwrap();
    if let Some(corpus) = std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from) {
        for entry in fs::read_dir(corpus.join("derived")).unwrap().flatten() {
            captures.push(entry.path().display().to_string());
        }
        captures.sort();
    } else {
        eprintln!(
            "skipped: a_capture_says_the_same_alone_and_among_many: SLOWPATH_CORPUS is not set: two captures alone"
        );
    }
    let mut alone = String::new();
    for capture in &captures {
        let (code, lines, _) = made.explain(&format!("--format jsonl {capture}"));
        if code == 0 {
            alone.push_str(&lines);
        }
    }
    let (code, among, _) = made.explain(&format!(
        "--each --format jsonl broken.pcap {}",
        captures.join(" ")
    ));
    assert_eq!(code, 2);
    let (errors, told): (Vec<&str>, Vec<&str>) = among.lines().partition(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line.get("error").is_some()
    });
    assert!(errors[0].contains("broken.pcap"), "{errors:?}");
    let alone: Vec<&str> = alone.lines().collect();
    assert!(alone.len() >= 2);
    assert_eq!(alone.len(), told.len());
    for (alone, told) in alone.iter().zip(told) {
        assert!(*alone == told, "{told:.200}");
    }
}

#[test]
fn a_thousand_small_captures_are_read_with_the_worst_first() {
    let made = Made::new("many-thousand");
    let (head, packets) = blocks(&fs::read(made.path("in/auto.pcapng")).unwrap());
    fs::create_dir(made.path("small")).unwrap();
    for number in 0..1000_usize {
        let take = 4 + number % 60;
        let bytes = [head.clone(), packets[..take].concat()].concat();
        fs::write(made.path(&format!("small/{number:04}-x.pcapng")), bytes).unwrap();
    }
    let (code, json) = made.json("small");
    assert_eq!(code, 0);
    assert_eq!(json["captures"].as_array().unwrap().len(), 1000);
    let files: Vec<&str> = json["captures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["file"].as_str().unwrap())
        .collect();
    assert!(files.is_sorted(), "in their order");
    let (code, shown, _) = made.explain("small");
    assert_eq!(code, 0);
    assert!(
        shown.contains("1000 captures") && shown.contains("more that lost less"),
        "{shown}"
    );
    assert!(shown.lines().count() < 200, "{}", shown.lines().count());
}

#[test]
fn files_of_one_recording_are_read_as_one() {
    let made = Made::new("many-rotated");
    let whole = made.path("in/auto.pcapng");
    let (_, expected) = made.json("in/auto.pcapng");
    let rings: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("dumpcap", &|n| {
            format!("x_{:05}_202601020304{n:02}.pcapng", n + 7)
        }),
        ("tcpdump-c", &|n| {
            if n == 0 {
                "x.pcapng".to_owned()
            } else {
                format!("x.pcapng{n}")
            }
        }),
        // A ring that began again at its first file.
        ("tcpdump-w", &|n| format!("x.pcap{}", (n + 3) % 5)),
        ("dated", &|n| format!("x-2026-01-02-03-{n:02}.pcapng")),
    ];
    for (ring, name) in rings {
        fs::create_dir(made.path(ring)).unwrap();
        let packets = blocks(&fs::read(&whole).unwrap()).1.len();
        let parts = rotated(&whole, packets.div_ceil(5), |n| {
            made.path(&format!("{ring}/{}", name(n)))
        });
        assert_eq!(parts.len(), 5);
        let mut sorted: Vec<String> = parts.iter().map(|part| part.display().to_string()).collect();
        sorted.sort();
        let (code, json) = made.json(&sorted.join(" "));
        assert_eq!(code, 0, "{ring}");
        assert_eq!(json["capture"]["parts"].as_array().unwrap().len(), 5, "{ring}");
        assert_eq!(json["connections"], expected["connections"], "{ring}");
        let (_, shown, _) = made.explain(&sorted.join(" "));
        assert!(
            shown.contains("5 files of one recording, read as one"),
            "{ring}: {shown}"
        );
        let (_, table, _) = made.explain(ring);
        assert!(table.contains("1 capture, 1 transfer,"), "{ring}: {table}");
        let (_, each, _) = made.explain(&format!("--each {ring}"));
        assert!(each.contains("5 captures"), "{ring}: {each}");
        // A file that is missing ends a numbered recording; what lies behind it is another. In a ring it may be that the last
        // one was never written.
        fs::remove_file(&parts[1]).unwrap();
        let (_, table, _) = made.explain(ring);
        let count = if ["dated", "tcpdump-w"].contains(&ring) {
            1
        } else {
            2
        };
        let lines = table.matches("files of one recording").count();
        assert!(table.starts_with(&format!("{count} capture")), "{ring}: {table}");
        assert_eq!(lines, 1, "{ring}: {table}");
    }
}

#[test]
fn names_that_go_on_make_no_recording_where_times_or_interfaces_do_not() {
    let made = Made::new("many-series");
    fs::create_dir(made.path("series")).unwrap();
    // The same seconds twice: two machines, or the same file under another name.
    for number in 1..3 {
        let name = format!("series/x_0000{number}_20260102030405.pcapng");
        fs::copy(made.path("in/auto.pcapng"), made.path(&name)).unwrap();
    }
    // The same capture, packed.
    fs::copy(made.path("in/auto.pcapng"), made.path("series/y.pcapng")).unwrap();
    fs::copy(made.path("in/auto.pcapng"), made.path("series/y.pcapng.gz")).unwrap();
    // A series of tests by hand.
    for (number, variant) in [(1, "auto"), (2, "narrow")] {
        let name = format!("series/test{number}.pcapng");
        fs::copy(made.path(&format!("in/{variant}.pcapng")), made.path(&name)).unwrap();
    }
    let (code, table, _) = made.explain("series");
    assert!(code == 0 && table.contains("6 captures, 6 transfers"), "{table}");
    assert!(!table.contains("of one recording"), "{table}");
    let (code, table, said) =
        made.explain("series/x_00001_20260102030405.pcapng series/x_00002_20260102030405.pcapng");
    assert!(code == 0 && table.contains("2 captures"), "{table} {said}");
}

#[test]
fn what_is_no_capture_is_refused_whatever_it_is() {
    let made = Made::new("many-other");
    let output = run(&["explain", "/dev/null"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    // A pipe from another program is read once, from its first byte.
    let script = "\"$S\" explain <(cat in/auto.pcapng) && mkfifo in/pipe && \"$S\" explain in && cat in/auto.pcapng | head -c 40000 | \"$S\" explain -";
    let output = std::process::Command::new("bash")
        .args(["-c", script])
        .env("S", env!("CARGO_BIN_EXE_slowpath"))
        .env("LC_ALL", "C")
        .current_dir(&made.scratch.0)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: what_is_no_capture_is_refused_whatever_it_is: there is no bash");
        return;
    };
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{shown} {said}");
    assert!(
        shown.contains("2 captures"),
        "a pipe in a folder is passed over: {shown}"
    );
    assert!(shown.contains("the file is damaged: cut off"), "{shown}");
}

/// Starts `explain` on a capture that is still being written.
fn following(made: &Made, arguments: &[&str], input: Stdio) -> Child {
    Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_slowpath"), "explain"])
        .args(arguments)
        .args(["--format", "json"])
        .env("LC_ALL", "C")
        .current_dir(&made.scratch.0)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn answer(child: Child) -> serde_json::Value {
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said, "", "nothing is drawn without a terminal");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn damaged(told: &serde_json::Value) -> bool {
    let warnings = told["capture"]["quality"]["warnings"].to_string();
    warnings.contains("the file is damaged")
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// Two thirds of a capture, and then the rest but for half a packet: what a recorder writes.
fn grow(file: &mut dyn Write, bytes: &[u8], last: bool) {
    let third = bytes.len() / 3;
    let pieces = [&bytes[..5], &bytes[5..third + 7], &bytes[third + 7..2 * third]];
    for piece in pieces {
        file.write_all(piece).unwrap();
        file.flush().unwrap();
        std::thread::sleep(Duration::from_millis(150));
    }
    if last {
        file.write_all(&bytes[2 * third..]).unwrap();
        file.flush().unwrap();
    }
}

#[test]
fn a_growing_capture_is_followed_to_its_end() {
    let made = Made::new("many-follow");
    let bytes = fs::read(made.path("in/auto.pcapng")).unwrap();
    let (_, expected) = made.json("in/auto.pcapng");
    // Until nothing is added any more.
    let mut file = fs::File::create(made.path("live.pcapng")).unwrap();
    let child = following(&made, &["live.pcapng", "--follow", "--idle", "2"], Stdio::null());
    grow(&mut file, &bytes, true);
    let told = answer(child);
    assert_eq!(told["connections"], expected["connections"]);
    // Until Ctrl-C, in the middle of a packet.
    let mut file = fs::File::create(made.path("live.pcapng")).unwrap();
    let child = following(&made, &["live.pcapng", "--follow"], Stdio::null());
    grow(&mut file, &bytes, false);
    std::thread::sleep(Duration::from_millis(400));
    interrupt(&child);
    let told = answer(child);
    let packets = told["capture"]["packets"].as_u64().unwrap();
    assert!(packets > 100, "{packets}");
    assert!(!damaged(&told), "{told}");
    // A pipe, with and without; what it says at its end is the same.
    for arguments in [&["-"][..], &["-", "--follow"]] {
        let mut child = following(&made, arguments, Stdio::piped());
        let mut input = child.stdin.take().unwrap();
        grow(&mut input, &bytes, true);
        drop(input);
        assert_eq!(
            answer(child)["connections"],
            expected["connections"],
            "{arguments:?}"
        );
        // Ctrl-C while the writer lives on.
        let mut child = following(&made, arguments, Stdio::piped());
        let mut input = child.stdin.take().unwrap();
        grow(&mut input, &bytes, false);
        interrupt(&child);
        let told = answer(child);
        drop(input);
        assert_eq!(told["capture"]["packets"], packets, "{arguments:?}");
        assert!(!damaged(&told), "{arguments:?}: {told}");
    }
}

#[test]
fn what_cannot_be_followed_is_said() {
    let made = Made::new("many-unfollowed");
    fs::write(made.path("words"), "these are words, and no capture").unwrap();
    fs::write(made.path("empty.pcap"), "").unwrap();
    for (arguments, expected) in [
        ("words --follow", "not a pcap or pcapng capture"),
        ("empty.pcap --follow --idle 1", "the file is empty"),
        ("missing.pcap --follow", "there is no file"),
        ("in --follow", "it is a folder"),
        ("in/auto.pcapng in/narrow.pcapng --follow", "--follow reads one"),
    ] {
        let (code, shown, said) = made.explain(arguments);
        assert_eq!((code, shown.as_str()), (2, ""), "{arguments}: {said}");
        assert!(said.contains(expected), "{arguments}: {said}");
    }
}

/// The addresses in a capture, as they are written and as they stand in packets.
fn addresses(told: &serde_json::Value) -> Vec<(String, Vec<u8>)> {
    let ends = told["connections"].as_array().unwrap().iter();
    let ends = ends.flat_map(|one| [&one["client"], &one["server"]]);
    let addresses: BTreeSet<IpAddr> = ends
        .map(|end| end.as_str().unwrap().parse::<SocketAddr>().unwrap().ip())
        .collect();
    let told = addresses.into_iter().map(|address| match address {
        IpAddr::V4(four) => (four.to_string(), four.octets().to_vec()),
        IpAddr::V6(six) => (six.to_string(), six.octets().to_vec()),
    });
    told.collect()
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Neither answers of any form, nor records, nor the copy hold an address of the capture; what limited the transfers and where
/// their time went stays.
#[test]
fn nothing_that_is_anonymized_holds_an_address() {
    let made = Made::new("many-anonymized");
    let mut captures = vec!["in/auto.pcapng".to_owned(), "in/narrow.pcapng".to_owned()];
    if let Some(corpus) = std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from) {
        for folder in ["derived", "tcptrace", "other", "formats", "lab"] {
            for entry in fs::read_dir(corpus.join(folder)).into_iter().flatten().flatten() {
                captures.push(entry.path().display().to_string());
            }
        }
    } else {
        eprintln!(
            "skipped: nothing_that_is_anonymized_holds_an_address: SLOWPATH_CORPUS is not set: two captures alone"
        );
    }
    let (mut count, mut differing) = (0, Vec::new());
    for capture in &captures {
        let (code, answer, _) = made.explain(&format!("{capture} --format json"));
        let Ok(plain) = serde_json::from_str::<serde_json::Value>(&answer) else {
            continue;
        };
        let whole = plain["connections"]
            .as_array()
            .is_some_and(|list| !list.is_empty() && list.len() < 200);
        if code != 0 || !whole {
            continue;
        }
        count += 1;
        let addresses = addresses(&plain);
        let stem = Path::new(capture)
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let mut told = Vec::new();
        for form in ["text -v", "json", "jsonl", "html"] {
            let (code, shown, said) = made.explain(&format!("{capture} --anonymize --format {form}"));
            assert_eq!(code, 0, "{capture}: {said}");
            told.push((form, shown + &said));
        }
        let _ = fs::remove_dir_all(made.path("kept"));
        let (code, _, said) = made.explain(&format!(
            "{capture} --anonymize --keep ports -o copy.pcapng --out kept --format json"
        ));
        assert_eq!(code, 0, "{capture}: {said}");
        for folder in ["kept/runs", "kept/analyses"] {
            for entry in fs::read_dir(made.path(folder)).unwrap().flatten() {
                told.push((folder, entry.file_name().to_string_lossy().into_owned()));
                told.push((folder, fs::read_to_string(entry.path()).unwrap()));
            }
        }
        let copy = fs::read(made.path("copy.pcapng")).unwrap();
        for (address, octets) in &addresses {
            for (form, text) in &told {
                let found = text.match_indices(address.as_str()).any(|(at, _)| {
                    // A part of a longer number is none.
                    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_hexdigit() || c == '.');
                    !inside(text[..at].chars().next_back())
                        && !inside(text[at + address.len()..].chars().next().filter(|c| *c != '.'))
                });
                assert!(!found, "{capture}: {address} in {form}");
            }
            // Four equal bytes stand in any field of a file that was made to confuse.
            let telling = octets.windows(2).any(|pair| pair[0] != pair[1]);
            assert!(
                !telling || !holds(&copy, octets),
                "{capture}: {address} in the copy"
            );
        }
        for (form, text) in &told {
            assert!(
                !text.contains(&stem) || *form == "html",
                "{capture}: its name in {form}"
            );
        }
        let (code, copied) = made.json("copy.pcapng");
        assert_eq!(code, 0, "{capture}");
        assert_eq!(
            copied["capture"]["packets"], plain["capture"]["packets"],
            "{capture}"
        );
        let said = |value: &serde_json::Value| {
            let list = value["connections"].as_array().unwrap().iter();
            let told = list.map(|one| {
                (
                    one["verdict"]["limit"].clone(),
                    one["ledger"].clone(),
                    one["counters"].clone(),
                )
            });
            told.collect::<Vec<_>>()
        };
        if said(&plain) != said(&copied) {
            differing.push(stem);
        }
    }
    assert!(count >= 2, "{count}");
    assert!(
        differing.len() * 20 <= count,
        "{} of {count}: {differing:?}",
        differing.len()
    );
}

#[test]
fn an_end_is_called_the_same_in_all_captures_of_a_call_and_otherwise_in_the_next() {
    let made = Made::new("many-consistent");
    let (_, one) = made.json("in --anonymize");
    let client = |value: &serde_json::Value, place: usize| {
        let end = value["transfers"][place]["client"].as_str().unwrap();
        end.parse::<SocketAddr>().unwrap()
    };
    assert_eq!(
        client(&one, 0),
        client(&one, 1),
        "both captures have the same ends"
    );
    let (_, other) = made.json("in --anonymize");
    assert_ne!(client(&one, 0).ip(), client(&other, 0).ip());
    let (_, kept) = made.json("in --anonymize --keep ports --keep names");
    let (_, plain) = made.json("in");
    assert_eq!(client(&kept, 0).port(), client(&plain, 0).port());
    assert_eq!(kept["captures"][0]["file"], plain["captures"][0]["file"]);
    assert_eq!(one["captures"][0]["file"], "capture 1");
    for (arguments, expected) in [
        ("in --anonymize -o copy.pcapng", "only the file of one capture"),
        (
            "in/auto.pcapng --anonymize -o in/auto.pcapng",
            "it is the capture itself",
        ),
        (
            "in/auto.pcapng --anonymize -o missing/copy.pcapng",
            "its folder is missing",
        ),
        (
            "in/auto.pcapng in/narrow.pcapng --anonymize",
            "leave the second out",
        ),
        ("in/auto.pcapng -o copy.pcapng", "--anonymize"),
    ] {
        let (code, shown, said) = made.explain(arguments);
        assert_eq!((code, shown.as_str()), (2, ""), "{arguments}: {said}");
        assert!(said.contains(expected), "{arguments}: {said}");
    }
    assert!(!made.path("copy.pcapng").exists());
}

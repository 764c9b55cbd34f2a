//! Every kind of error message, provoked by a command line: what was being done, on what, what was found, what to do.
//!
//! `docs/reference/errors.md` shows them all; `SLOWPATH_BLESS=1` writes it anew, to be read as a user would.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::{SMALL, Scratch, lab_or_skip, text};

/// A command line that cannot be done, its exit status, and the four parts of what is said: doing, on what, found, cure.
type Case = (&'static str, i32, [&'static str; 4]);

/// What no user can know: the words of a language and its libraries, and the system's numbers.
const FOREIGN: [&str; 22] = [
    "os error",
    "panicked",
    "unwrap",
    "Some(",
    "None",
    "Err(",
    "Utf8Error",
    "UTF-8 sequence",
    "stream did not contain",
    "invalid digit",
    "invalid IP address syntax",
    "number too large",
    "..=",
    "std::",
    "core::",
    "slowpath_",
    "exit status:",
    "EOF while",
    "trailing characters",
    "failed to lookup",
    "RUST_BACKTRACE",
    "[0x",
];

#[rustfmt::skip]
const GENERAL: &[Case] = &[
    ("slowpath frobnicate", 2, ["reading the command line", "\"frobnicate\"", "no command", "slowpath --help"]),
    ("slowpath explian x", 2, ["reading the command line", "\"explian\"", "no command", "did you mean explain?"]),
    ("slowpath list extra", 2, ["error:", "'extra'", "unexpected argument", "Usage: slowpath list"]),
    ("slowpath --frob list", 2, ["error:", "'--frob'", "unexpected argument", "Usage: slowpath"]),
    ("slowpath list --hide nope", 2, ["error:", "'--hide <WARNING>'", "invalid value 'nope'", "possible values: health"]),
    ("slowpath completions klingon", 2, ["error:", "'<SHELL>'", "invalid value 'klingon'", "possible values: bash"]),
    ("slowpath list >/dev/full", 3, ["writing the answer", "standard output", "No space left", "a place that takes it"]),
];

#[rustfmt::skip]
const RUN: &[Case] = &[
    ("slowpath run", 2, ["error:", "<EXPERIMENT>", "were not provided", "Usage: slowpath run <EXPERIMENT>"]),
    ("slowpath run cisco-fpt", 2, ["opening the experiment", "\"cisco-fpt\"", "no built-in one", "did you mean cisco-ftp?"]),
    ("slowpath run smal.toml", 2, ["opening the experiment", "\"smal.toml\"", "no such file", "did you mean small.toml?"]),
    ("slowpath run folder", 2, ["opening the experiment", "folder", "holds no experiment.toml", "give a file"]),
    ("slowpath run empty", 2, ["error:", "empty:1:1", "`network` is missing", "add a table [network]"]),
    ("slowpath run bytes", 2, ["reading", "bytes", "no text file", "give one"]),
    ("slowpath run words", 2, ["error:", "words:1:7", "not TOML", "keys are `name = value`"]),
    ("slowpath run misspelt.toml", 2, ["error:", "misspelt.toml:", "repeets", "did you mean `repeats`?"]),
    ("slowpath run unitless.toml", 2, ["error:", "unitless.toml:", "has no unit", "help:"]),
    ("slowpath run deviceless.toml", 2, ["reading", "router.cfg", "there is no file", "give"]),
    ("slowpath run small.toml --variant nope", 2, ["choosing variants", "\"small\"", "no variant \"nope\"", "auto, narrow"]),
    ("slowpath run small.toml --set foo", 2, ["error:", "'--set <KEY=VALUE>'", "invalid value 'foo'", "write KEY=VALUE"]),
    ("slowpath run small.toml --set network.both[7].rate=1", 2, ["--set", "network.both[7].rate", "leads nowhere", "write the key as"]),
    ("slowpath run small.toml --set 'network.both[0].rate=fast'", 2, ["--set", "network.both[0].rate", "does not start with a number", "write a rate"]),
    ("slowpath run small.toml --repeats 0", 2, ["error:", "'--repeats <REPEATS>'", "invalid value '0'", "write a whole number from 1 to 10000"]),
    ("slowpath run small.toml --seed x", 2, ["error:", "'--seed <SEED>'", "invalid value 'x'", "write one such as 1"]),
    ("slowpath run small.toml --clock sundial", 2, ["error:", "'--clock <CLOCK>'", "invalid value 'sundial'", "possible values: auto"]),
    ("slowpath run small.toml --format yaml", 2, ["error:", "'--format <FORMAT>'", "invalid value 'yaml'", "possible values: text"]),
    ("slowpath run small.toml --side-by-side 0", 2, ["error:", "'--side-by-side", "invalid value '0'", "write a whole number from 1 to 64"]),
    ("slowpath run small.toml --sweep 'loss=1 %' --set 'network.both[1].delay=1 ms'", 2, ["sweeping", "--sweep", "does not go with --set", "KEY=VALUE"]),
    ("slowpath run small.toml --sweep 'loss=1 %' --clock both", 2, ["sweeping", "--sweep", "simulated time alone", "leave --clock both"]),
    ("slowpath run small.toml --sweep 'los=1 %'", 2, ["--sweep", "los", "no such setting", "did you mean `loss`?"]),
    ("slowpath run small.toml --sweep loss", 2, ["--sweep", "'loss'", "no \"=\"", "write KEY=A,B,C"]),
    ("slowpath run small.toml --sweep loss=x", 2, ["--sweep", "loss=x", "does not start with a number", "expected a share"]),
    ("slowpath run small.toml --sweep 'loss=1 %'", 2, ["cannot set the loss", "in both directions", "there is no loss to change", "add one to its path"]),
    ("slowpath run small.toml --sweep 'delay=1 ms' --format html", 2, ["sweeping", "tables", "text, json or csv alone", "write --format csv"]),
    ("slowpath run small.toml --clock simulated --out words", 2, ["writing", "words", "is a file, not a folder", "--out"]),
    ("slowpath run small.toml --clock simulated --out words/below", 2, ["writing", "words", "is a file, not a folder", "--out"]),
    ("slowpath run small.toml --clock simulated --out made --seed 2", 2, ["writing the results to made", "--seed 1 there, 2 here", "would be joined", "give another results folder"]),
    ("slowpath run small.toml --clock simulated --out broken", 2, ["broken/runs", "auto.0.simulated.json", "is not a run record", "move it away"]),
];

#[rustfmt::skip]
const DIAGNOSE: &[Case] = &[
    ("slowpath diagnose", 2, ["error:", "<EXPERIMENT>", "were not provided", "Usage: slowpath diagnose"]),
    ("slowpath diagnose nope", 2, ["opening the experiment", "\"nope\"", "no built-in one", "slowpath list"]),
    ("slowpath diagnose small.toml --clock both", 2, ["error:", "'--clock <CLOCK>'", "invalid value 'both'", "possible values: simulated"]),
    ("slowpath diagnose iperf3://127.0.0.1:1", 3, ["measuring", "127.0.0.1:1", "Connection refused", "start the server"]),
    ("slowpath diagnose http://127.0.0.1/x", 2, ["reading the target", "\"http://127.0.0.1/x\"", "belongs to another tool", "write iperf3://HOST"]),
];

#[rustfmt::skip]
const SHELL: &[Case] = &[
    ("slowpath shell", 2, ["error:", "<PATH>", "were not provided", "Usage: slowpath shell <PATH> -- <COMMAND>"]),
    ("slowpath shell 'rate 50 Mbit/s'", 2, ["error:", "<COMMAND>", "were not provided", "Usage: slowpath shell"]),
    ("slowpath shell 'rat 50 Mbit/s' -- true", 125, ["error:", "PATH:1:1", "unknown key", "did you mean `rate`?"]),
    ("slowpath shell 'rate 50 MB/s' -- true", 125, ["error:", "PATH:1:6", "\"MB/s\" is not a unit", "multiply by 8 and write \"Mbit/s\""]),
    ("slowpath shell 'loss 150 %' -- true", 125, ["error:", "PATH:1:6", "out of range", "between 0 % and 100 %"]),
    ("slowpath shell '50 Mbit/s, 100 ms' -- true", 125, ["error:", "50 Mbit/s", "PATH:1:1", "did you mean \"rate 50 Mbit/s, delay 100 ms\"?"]),
    ("slowpath shell 'rate 50 Mbit/s' --seed abc -- true", 2, ["error:", "'--seed <SEED>'", "invalid value 'abc'", "write one such as 1"]),
];

/// As [`SHELL`], where a lab can be built.
#[rustfmt::skip]
const SHELL_IN_A_LAB: &[Case] = &[
    ("slowpath shell 'delay 1 ms' -- nosuchprogram", 125, ["starting", "\"nosuchprogram\"", "No such file", "install it"]),
    ("slowpath shell 'delay 1 ms' --congestion-control nope -- true", 125, ["setting the route", "\"nope\"", "Invalid argument", "modprobe"]),
    ("slowpath shell 'delay 1 ms' --capture words -- true", 125, ["writing", "words", "is a file, not a folder", "--capture"]),
];

#[rustfmt::skip]
const WHY: &[Case] = &[
    ("slowpath why --pid 4194303", 2, ["watching process", "4194303", "none of that number", "`slowpath why` alone lists"]),
    ("slowpath why --pid x", 2, ["error:", "'--pid <PID>'", "invalid value 'x'", "write a whole number"]),
    ("slowpath why --port 99999", 2, ["error:", "'--port <PORT>'", "invalid value '99999'", "from 1 to 65535"]),
    ("slowpath why --to ''", 2, ["reading --to", "\"\"", "names no peer", "write HOST"]),
    ("slowpath why --to '[::1'", 2, ["reading --to", "\"[::1\"", "names no peer", "write HOST"]),
    ("slowpath why -- nosuchprogram", 125, ["starting", "nosuchprogram", "no such program", "check the spelling"]),
    ("slowpath why --for 3 -- true", 2, ["error:", "'--for <SECONDS>'", "cannot be used with", "Usage: slowpath why"]),
    ("slowpath why --try speed=9 -- true", 2, ["error:", "reading the change \"speed=9\"", "there is no change \"speed\"", "write congestion-control=NAME"]),
    ("slowpath why --try pacing-rate=20 -- true", 2, ["error:", "reading the change \"pacing-rate=20\"", "20", "write congestion-control=NAME"]),
    ("slowpath why --try mark=cs1 --port 22", 2, ["trying changes with --try", "no command is given", "never changed", "write the command behind --"]),
    ("slowpath why --try congestion-control=nosuchcontrol -- true", 2, ["trying congestion-control=nosuchcontrol", "--try", "no congestion control nosuchcontrol", "net.ipv4.tcp_available_congestion_control"]),
    ("slowpath why --again ipqos=none -- curl -O http://host/big", 2, ["running the command again", "ipqos=none", "does not know how curl runs ssh", "command='...'"]),
    ("slowpath why --watch --for 1 --out /dev/null/x", 3, ["keeping runs in", "/dev/null/x", "Not a directory", "--out"]),
    ("slowpath why --watch -- true", 2, ["error:", "'--watch'", "cannot be used with", "Usage: slowpath why"]),
    ("slowpath why --watch --capture", 2, ["error:", "'--watch'", "cannot be used with", "Usage: slowpath why"]),
    ("slowpath why --pid 1 --port 2", 2, ["error:", "'--pid <PID>'", "cannot be used with", "Usage: slowpath why"]),
];

#[rustfmt::skip]
const EXPLAIN: &[Case] = &[
    ("slowpath explain", 2, ["error:", "<CAPTURE>", "were not provided", "Usage: slowpath explain"]),
    ("slowpath explain goood.pcapng", 2, ["reading", "goood.pcapng", "there is no file", "did you mean good.pcapng?"]),
    ("slowpath explain missing", 2, ["reading", "missing", "there is no file", "give"]),
    ("slowpath explain folder", 2, ["opening the captures in", "folder", "none lies there", "give a folder"]),
    ("slowpath explain made --what-if usual", 2, ["explaining many captures", "--what-if", "go with one capture", "name one alone"]),
    ("slowpath explain made --format html", 2, ["explaining many captures", "text, json or jsonl", "for a page", "name one alone"]),
    ("slowpath explain empty", 2, ["opening the capture", "empty", "the file is empty", "give a pcap or pcapng file"]),
    ("slowpath explain words", 2, ["opening the capture", "words", "not a pcap or pcapng capture", "give a pcap or pcapng file"]),
    ("slowpath explain bytes", 2, ["opening the capture", "bytes", "ff fe 00 81", "give a pcap or pcapng file"]),
    ("slowpath explain cut.pcapng", 2, ["opening the capture", "cut.pcapng", "cut off at byte 0", "give a pcap or pcapng file"]),
    ("slowpath explain unzipped.gz", 2, ["opening the capture", "unzipped.gz", "gzip", "give a pcap or pcapng file"]),
    ("slowpath explain a b c", 2, ["explaining captures", "none of 3 could be read", "there is no file", "give pcap or pcapng"]),
    ("slowpath explain good.pcapng --only 77", 2, ["explaining", "good.pcapng", "no connection has this number", "leave --only out"]),
    ("slowpath explain good.pcapng --capacity fast", 2, ["reading --capacity", "fast", "does not start with a number", "expected a rate"]),
    ("slowpath explain good.pcapng --system vax", 2, ["reading --system", "\"vax\"", "no system known", "rtx, ios, ssh"]),
    ("slowpath explain good.pcapng --what-if foo", 2, ["reading --what-if", "foo", "it has no value", "write KEY=VALUE"]),
    ("slowpath explain good.pcapng --what-if foo=1", 2, ["reading --what-if", "`foo`", "there is no change", "there are rate"]),
    ("slowpath explain good.pcapng --what-if window=wide", 2, ["reading --what-if", "window=wide", "does not start with a number", "expected an amount"]),
    ("slowpath explain good.pcapng --what-if 'delay=-3 ms'", 2, ["reading --what-if", "delay=-3 ms", "must not be negative", "expected a time"]),
    ("slowpath explain good.pcapng --what-if 'loss=200 %'", 2, ["reading --what-if", "loss=200 %", "is above 100 %", "expected a share"]),
    ("slowpath explain good.pcapng --what-if 'window=1 MB' --format jsonl", 2, ["explaining", "--what-if", "text, json or html alone", "write --format json"]),
    ("slowpath explain good.pcapng good.pcapng --only 1", 2, ["explaining two captures", "--only", "go with one capture", "leave the second out"]),
    ("slowpath explain good.pcapng good.pcapng --format html", 2, ["explaining", "two captures", "text or json alone", "write --format json"]),
    ("slowpath explain good.pcapng missing", 2, ["reading", "missing", "there is no file", "give"]),
    ("slowpath explain other.json", 2, ["explaining", "other.json", "no result of iperf3", "iperf3 -J > FILE"]),
    ("slowpath explain broken.json", 2, ["explaining", "broken.json", "breaks off", "iperf3 -J > FILE"]),
    ("slowpath explain other.json --only 1", 2, ["explaining", "other.json", "has no packets", "leave all options but"]),
    ("slowpath explain good.pcapng --out words", 2, ["writing", "words", "is a file, not a folder", "--out"]),
    ("slowpath explain good.pcapng --out made", 2, ["adding a run to made", "holds the runs of an experiment", "nothing in this one was changed", "give another folder"]),
    ("slowpath explain good.pcapng --format yaml", 2, ["error:", "'--format <FORMAT>'", "invalid value 'yaml'", "possible values: text"]),
];

#[rustfmt::skip]
const FIT: &[Case] = &[
    ("slowpath fit missing", 2, ["reading", "missing", "there is no file", "give"]),
    ("slowpath fit words", 2, ["opening the capture", "words", "not a pcap", "give a pcap or pcapng file"]),
    ("slowpath fit folder", 2, ["opening the capture", "folder", "is a folder", "give a capture"]),
    ("slowpath fit made", 2, ["opening the capture", "made", "is a folder", "give one of its captures"]),
    ("slowpath fit good.pcapng --flow 99", 2, ["fitting a path", "the capture", "no connection 99", "`slowpath explain` lists them"]),
    ("slowpath fit good.pcapng --simulations 1", 2, ["error:", "'--simulations <SIMULATIONS>'", "invalid value '1'", "from 40 to 100000"]),
    ("slowpath fit good.pcapng --simulations 40 --out nowhere/at/all.toml", 3, ["writing", "nowhere/at/all.toml", "its folder is missing", "--out"]),
    ("slowpath fit good.pcapng --simulations 40 --out folder", 3, ["writing", "folder", "it is a folder", "--out"]),
];

#[rustfmt::skip]
const CONFIG: &[Case] = &[
    ("slowpath config missing", 2, ["reading", "missing", "there is no file", "give"]),
    ("slowpath config folder", 2, ["reading", "folder", "is a folder", "give a file"]),
    ("slowpath config empty", 2, ["reading the configuration", "empty", "it is empty", "give the text"]),
    ("slowpath config bytes", 2, ["reading the configuration", "bytes", "it is no text", "give the text"]),
    ("slowpath config words", 2, ["reading the configuration", "words", "cannot be told", "add --system"]),
    ("slowpath config words --system vax", 2, ["reading the configuration", "words", "no system known", "write --system with one of"]),
];

#[rustfmt::skip]
const REPORT: &[Case] = &[
    ("slowpath report maed", 2, ["reading the results", "maed", "no such folder", "did you mean made?"]),
    ("slowpath report folder", 2, ["reading the results", "folder", "it has no settings.json", "slowpath run NAME"]),
    ("slowpath report words", 2, ["reading the results", "words", "that is a file", "give the folder"]),
    ("slowpath report made --format yaml", 2, ["error:", "'--format <FORMAT>'", "invalid value 'yaml'", "possible values: text"]),
    ("slowpath compare made", 2, ["error:", "<AFTER>", "were not provided", "Usage: slowpath compare"]),
    ("slowpath compare made missing", 2, ["reading the results", "missing", "no such folder", "slowpath run NAME"]),
    ("slowpath compare made folder", 2, ["reading the results", "folder", "it has no result.json", "slowpath run NAME"]),
    ("slowpath compare made broken", 2, ["reading", "broken/result.json", "not a results document", "slowpath report"]),
];

#[rustfmt::skip]
const MEASURE: &[Case] = &[
    ("slowpath measure nope://127.0.0.1", 2, ["measuring", "\"nope\"", "no tool", "iperf3, ftp, ssh, s3, ping, trace, mtu, sweep"]),
    ("slowpath measure iperf3", 2, ["error:", "<TARGET>", "were not provided", "Usage: slowpath measure iperf3"]),
    ("slowpath measure iperf3://127.0.0.1:1", 3, ["measuring", "127.0.0.1:1", "Connection refused", "start the server"]),
    ("slowpath measure iperf3://127.0.0.1:99999", 2, ["reading the target", "127.0.0.1:99999", "no host with port", "write iperf3://HOST"]),
    ("slowpath measure iperf3://192.0.2.1", 2, ["sending load", "192.0.2.1", "not a local address", "--allow-remote-load"]),
    ("slowpath measure iperf3://192.0.2.1 --allow-remote-load", 2, ["error:", "--cap <SIZE>", "were not provided", "Usage: slowpath measure iperf3"]),
    ("slowpath measure iperf3://127.0.0.1 -b fast", 2, ["error:", "'--rate <RATE[/BURST]>'", "invalid value 'fast'", "expected a rate"]),
    ("slowpath measure iperf3://127.0.0.1 -P 0", 2, ["error:", "'--parallel <PARALLEL>'", "invalid value '0'", "from 1 to 128"]),
    ("slowpath measure iperf3://127.0.0.1 -l 5M", 2, ["measuring with iperf3", "5242880", "len is", "expected 1 to 1048576 bytes"]),
    ("slowpath measure ftp://127.0.0.1", 2, ["reading the target", "\"ftp://127.0.0.1\"", "names no file", "write ftp://HOST/FILE"]),
    ("slowpath measure ftp://127.0.0.1:1/file", 3, ["measuring", "127.0.0.1:1", "Connection refused", "start the server"]),
    ("slowpath measure ftp://127.0.0.1:1/file --upload 1M --output x", 2, ["error:", "'--upload <SIZE>'", "cannot be used with", "Usage: slowpath measure ftp"]),
    ("slowpath measure ssh://127.0.0.1", 2, ["reading the target", "\"ssh://127.0.0.1\"", "names no file", "write ssh://HOST/PATH"]),
    ("slowpath measure s3://127.0.0.1:1/bucket", 2, ["finding the keys", "AWS_ACCESS_KEY_ID", "is not set", "set AWS_ACCESS_KEY_ID"]),
    ("AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b slowpath measure s3://127.0.0.1:1/bucket --ca missing", 2, ["reading the certificate authorities", "missing", "there is no file", "give"]),
    ("AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b slowpath measure s3://127.0.0.1:1/bucket", 3, ["measuring", "127.0.0.1:1", "Connection refused", "start the server"]),
    ("slowpath measure ping://127.0.0.1 -s 70000", 2, ["error:", "'--size <BYTES>'", "invalid value '70000'", "from 0 to 65467"]),
    ("slowpath measure ping://127.0.0.1 --dscp xx", 2, ["error:", "'--dscp <DSCP>'", "\"xx\" is no DSCP", "expected a name"]),
    ("slowpath measure ping://127.0.0.1 --deadline soon", 2, ["error:", "'--deadline <SPAN>'", "does not start with a number", "expected a time"]),
    ("slowpath measure mtu://127.0.0.1 --from 1000 --to 500", 2, ["searching the largest packet", "from 1000 to 500", "make no search", "the smaller size first"]),
    ("slowpath measure sweep://127.0.0.1:1", 3, ["measuring", "127.0.0.1:1", "nothing answers there", "start `slowpath serve`"]),
    ("slowpath measure sweep://127.0.0.1 --marks foo", 2, ["error:", "'--marks <DSCP,...>'", "\"foo\" is no DSCP", "expected a name"]),
];

#[rustfmt::skip]
const SERVE: &[Case] = &[
    ("slowpath serve --port 1x", 2, ["error:", "'--port <PORT>'", "invalid value '1x'", "from 0 to 65535"]),
    ("slowpath serve --address nowhere", 2, ["error:", "'--address <ADDRESS>'", "invalid value 'nowhere'", "such as 127.0.0.1"]),
    ("slowpath serve --address 192.0.2.1", 3, ["serving: listening on", "192.0.2.1:5201", "Cannot assign requested address", "give one of `ip address`"]),
    ("slowpath serve --allow foo", 2, ["error:", "'--allow", "\"foo\" is no address", "write 192.0.2.1"]),
    ("slowpath serve --s3 9000", 2, ["finding the keys", "AWS_ACCESS_KEY_ID", "is not set", "set AWS_ACCESS_KEY_ID"]),
];

/// What an ordinary user may not; the rest of the table is the same for every user.
#[rustfmt::skip]
const FORBIDDEN: &[Case] = &[
    ("slowpath run secret", 2, ["reading", "secret", "you may not read", "chmod +r secret"]),
    ("slowpath explain secret", 2, ["reading", "secret", "you may not read", "chmod +r secret"]),
    ("slowpath config secret", 2, ["reading", "secret", "you may not read", "chmod +r secret"]),
    ("slowpath run small.toml --clock simulated --out locked/out", 2, ["writing", "locked/out", "you may not write there", "--out"]),
    ("slowpath run small.toml --clock simulated --out closed/out", 2, ["reading", "closed/out", "you may not enter closed;", "chmod +x closed"]),
    ("slowpath explain good.pcapng --out locked/out", 2, ["writing", "locked/out", "you may not write there", "--out"]),
    ("slowpath fit good.pcapng --simulations 40 --out locked/path.toml", 3, ["writing", "locked/path.toml", "you may not write there", "--out"]),
    ("slowpath why --port 9 --for 1 --capture", 3, ["capturing packets", "--capture", "CAP_NET_RAW", "sudo"]),
];

#[test]
fn every_error_says_what_was_done_on_what_what_was_found_and_what_to_do() {
    let place = Place::new();
    let mut page = String::from(INTRODUCTION);
    let mut wrong = Vec::new();
    let lab = lab_or_skip("every_error_says_what_was_done_on_what_what_was_found_and_what_to_do");
    let other = place.as_other();
    let mut count = 0;
    for (heading, cases, user, able) in [
        ("The command line as a whole", GENERAL, User::Own, true),
        ("run", RUN, User::Own, true),
        ("diagnose", DIAGNOSE, User::Own, true),
        ("shell", SHELL, User::Own, true),
        ("shell, once the path is built", SHELL_IN_A_LAB, User::Own, lab),
        ("why", WHY, User::Own, true),
        ("explain", EXPLAIN, User::Own, true),
        ("fit", FIT, User::Own, true),
        ("config", CONFIG, User::Own, true),
        ("report and compare", REPORT, User::Own, true),
        ("measure", MEASURE, User::Own, true),
        ("serve", SERVE, User::Own, true),
        ("What a user may not", FORBIDDEN, User::Other, other.is_some()),
    ] {
        if !able {
            eprintln!(
                "skipped: every_error_says_what_was_done_on_what_what_was_found_and_what_to_do: {heading}"
            );
            continue;
        }
        writeln!(page, "\n## {heading}").unwrap();
        for (command, code, parts) in cases {
            let output = place.run(command, if user == User::Own { None } else { other });
            let said = text(&output.stderr);
            count += 1;
            writeln!(page, "\n```text\n$ {command}\n{}\n```", said.trim_end()).unwrap();
            if output.status.code() != Some(*code) {
                wrong.push(format!(
                    "{command}: ends with {:?}, not {code}: {said}",
                    output.status.code()
                ));
            }
            if !output.stdout.is_empty() {
                wrong.push(format!(
                    "{command}: an answer beside the error: {}",
                    text(&output.stdout)
                ));
            }
            if !said.starts_with("slowpath: ") && !said.starts_with("error: ") {
                wrong.push(format!("{command}: it does not say who speaks: {said}"));
            }
            for part in parts.iter().filter(|part| !said.contains(**part)) {
                wrong.push(format!("{command}: does not say {part:?}: {said}"));
            }
            for word in FOREIGN.iter().filter(|word| said.contains(**word)) {
                wrong.push(format!("{command}: says {word:?}: {said}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count > 100, "{count}");
    compared(&page, lab && other.is_some());
}

/// The first process of a machine is root's: an ordinary user is told so, and what to do instead, in both languages.
#[test]
fn connections_of_another_users_process_are_not_shown() {
    let place = Place::named("errors-other-user");
    let Some(prefix) = place.as_other() else {
        eprintln!(
            "skipped: connections_of_another_users_process_are_not_shown: no command as another user (setpriv)"
        );
        return;
    };
    for (language, parts) in [
        ("en", ["belongs to another user", "--port N", "--to HOST[:PORT]"]),
        ("ja", ["別のユーザー", "--port N", "--to HOST[:PORT]"]),
    ] {
        let command = format!("slowpath --lang {language} why --pid 1 --for 1");
        let output = place.run(&command, Some(prefix));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        for part in parts {
            assert!(said.contains(part), "{command}: does not say {part:?}: {said}");
        }
    }
}

/// Compares the page of all messages with the one that is kept, or writes it.
fn compared(page: &str, whole: bool) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/errors.md");
    if std::env::var_os("SLOWPATH_BLESS").is_some() {
        assert!(whole, "the page needs a lab and another user");
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(kept, page).unwrap();
        return;
    }
    if whole {
        let old = fs::read_to_string(&kept).unwrap_or_default();
        let differs = page.lines().zip(old.lines()).find(|(new, old)| new != old);
        assert!(
            page == old,
            "docs/reference/errors.md says otherwise; SLOWPATH_BLESS=1 writes it: {differs:?}"
        );
    }
}

const INTRODUCTION: &str = "# Error messages\n\n\
    Every kind of message with which the command line refuses something, with the command that brings it. Each says what was being done,\n\
    on what, what was found and what to do. A message goes to standard error; on a terminal its lines are as wide as that.\n\
    The exit code says who can mend it: 2 whoever typed it, 3 whoever looks after the machine, 125 as 2 or 3 where any other code\n\
    belongs to a program that was started.\n\n\
    On macOS and Windows a command that needs Linux says so, with 3 (`shell` with 125): `slowpath: measuring a live path: that needs Linux, and\n\
    this is macOS; do it there, in a virtual machine or over ssh; on macOS there are explain, fit, config, run --clock simulated, diagnose,\n\
    report, compare, ui and list`.\n\n\
    Made by a test, which provokes each of them: `SLOWPATH_BLESS=1 cargo test --workspace --test it -- every_error`.\n";

/// Who types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    /// Whoever runs the tests.
    Own,
    /// Somebody who owns none of the files.
    Other,
}

/// A folder with whatever a user may give by mistake.
struct Place {
    scratch: Scratch,
}

impl Place {
    fn new() -> Self {
        Self::named("errors")
    }

    fn named(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let folder = scratch.0.clone();
        fs::create_dir(folder.join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_slowpath"), folder.join("bin/slowpath")).unwrap();
        scratch.file("small.toml", &SMALL.replace("repeats = 2", "repeats = 1"));
        scratch.file("misspelt.toml", &SMALL.replace("repeats = 2", "repeets = 2"));
        scratch.file("unitless.toml", &SMALL.replace("\"5 ms\"", "\"5\""));
        scratch.file(
            "deviceless.toml",
            &SMALL.replace(
                "window = \"16384 B\"",
                "system = \"cisco-iosxe\", config = \"router.cfg\"",
            ),
        );
        scratch.file("empty", "");
        scratch.file("words", "hello world\n");
        fs::write(
            folder.join("bytes"),
            [0xff, 0xfe, 0, 0x81, 0, 1, 2, 3, 0xc0, 0xc1, 0, 9],
        )
        .unwrap();
        fs::write(
            folder.join("unzipped.gz"),
            [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff],
        )
        .unwrap();
        scratch.file("other.json", "{\"a\": 1}\n");
        scratch.file("broken.json", "{\"a\":\n");
        fs::create_dir(folder.join("folder")).unwrap();
        fs::create_dir_all(folder.join("broken/runs")).unwrap();
        scratch.file("broken/runs/auto.0.simulated.json", "{\"of\": \"old\"}");
        scratch.file("broken/result.json", "{\"of\": \"old\"}");
        let place = Self { scratch };
        let made = place.run(
            "slowpath -q run small.toml --clock simulated --out made >/dev/null",
            None,
        );
        assert!(made.status.success(), "{}", text(&made.stderr));
        let capture = fs::read(folder.join("made/captures/auto.0.simulated.server.pcapng")).unwrap();
        fs::write(folder.join("good.pcapng"), &capture).unwrap();
        fs::write(folder.join("cut.pcapng"), &capture[..20]).unwrap();
        // Another user may not enter it; who owns it may.
        fs::create_dir(folder.join("closed")).unwrap();
        fs::set_permissions(folder.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::create_dir(folder.join("locked")).unwrap();
        fs::set_permissions(folder.join("locked"), fs::Permissions::from_mode(0o555)).unwrap();
        place.scratch.file("secret", "nobody's business");
        fs::set_permissions(folder.join("secret"), fs::Permissions::from_mode(0o200)).unwrap();
        place
    }

    /// What makes a command that of another user: nothing for an ordinary user, who may do too little already; absent where
    /// it cannot be done.
    fn as_other(&self) -> Option<&'static str> {
        let tried = |prefix| {
            let output = self.run(&format!("{prefix} slowpath --version"), None);
            output.status.success().then_some(prefix)
        };
        if self.run("cat secret", None).status.success() {
            tried("setpriv --reuid=65534 --regid=65534 --clear-groups")
        } else {
            Some("")
        }
    }

    fn run(&self, command: &str, prefix: Option<&str>) -> Output {
        let folder = &self.scratch.0;
        let paths = std::env::var("PATH").unwrap_or_default();
        let whole = match prefix {
            Some(prefix) if !prefix.is_empty() => format!("{prefix} {command}"),
            _ => command.to_owned(),
        };
        Command::new("timeout")
            .args(["120", "sh", "-c", &whole])
            .current_dir(folder)
            .env("PATH", format!("{}:{paths}", folder.join("bin").display()))
            .env("RUST_BACKTRACE", "0")
            .env_remove("AWS_ACCESS_KEY_ID")
            .env_remove("AWS_SECRET_ACCESS_KEY")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let locked: PathBuf = self.scratch.0.join("locked");
        let _ = fs::set_permissions(locked, fs::Permissions::from_mode(0o755));
    }
}

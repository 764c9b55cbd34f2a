//! However a lab ends, nothing of it stays.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use slowpath_sys::process::signal;

use crate::{again, lines, permitted};

const KILL: i32 = 9;
const INTERRUPT: i32 = 2;
const TERMINATE: i32 = 15;

pub(crate) fn nothing_is_left_behind() {
    if !permitted("nothing_is_left_behind") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("slowpath-leftovers-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    // A shell that starts a command in the background lets it ignore Ctrl-C, and children inherit that.
    let polite = if ignores(INTERRUPT.cast_unsigned()) {
        TERMINATE
    } else {
        INTERRUPT
    };
    for run in 0..50 {
        let how = ["return", "exit", "panic", "kill", "interrupt"][run % 5];
        let mut command = again("hold");
        command.current_dir(&folder).env("TMPDIR", &folder);
        if how == "panic" {
            command.stderr(std::process::Stdio::null());
        }
        let mut child = command.spawn().unwrap();
        let mut output = lines(&mut child);
        let entered = output.next().unwrap();
        assert!(entered.starts_with("entered"), "{entered}");
        let ready = output.next().unwrap();
        let mut words = ready.split(' ').skip(1);
        let marker = words.next().unwrap().to_owned();
        let spaces: Vec<PathBuf> = words.map(PathBuf::from).collect();
        assert_eq!(spaces.len(), 2, "{ready}");
        let start = Instant::now();
        while programs(&marker).len() < 6 {
            assert!(
                start.elapsed() < Duration::from_secs(5),
                "three sleepers run in each host"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(in_use(&spaces) > 0);
        match how {
            "kill" => signal(child.id(), KILL).unwrap(),
            "interrupt" => signal(child.id(), polite).unwrap(),
            _ => writeln!(child.stdin.take().unwrap(), "{how}").unwrap(),
        }
        child.wait().unwrap();
        let start = Instant::now();
        while !programs(&marker).is_empty() || in_use(&spaces) > 0 {
            assert!(
                start.elapsed() < Duration::from_secs(5),
                "run {run}, ended by {how}: {:?} still run, {} still hold a namespace",
                programs(&marker),
                in_use(&spaces)
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            0,
            "run {run}, ended by {how}, left a file"
        );
    }
    fs::remove_dir(&folder).unwrap();
}

/// Whether this process was started with a signal ignored (proc_pid_status(5)).
fn ignores(signal: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Processes whose command line holds the marker.
fn programs(marker: &str) -> Vec<u32> {
    processes()
        .filter(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(marker)
        })
        .collect()
}

/// How many threads are in, and descriptors refer to, one of the namespaces.
fn in_use(spaces: &[PathBuf]) -> usize {
    let links = |folder: String| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| fs::read_link(entry.path()).ok())
    };
    processes()
        .map(|pid| {
            let threads = fs::read_dir(format!("/proc/{pid}/task"))
                .into_iter()
                .flatten()
                .flatten();
            let inside = threads.filter_map(|thread| fs::read_link(thread.path().join("ns/net")).ok());
            inside
                .chain(links(format!("/proc/{pid}/fd")))
                .filter(|link| spaces.contains(link))
                .count()
        })
        .sum()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

//! A run that could have lied says so.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use slowpath_sys::process::signal;

use crate::{again, lines, permitted};

const STOP: i32 = 19;
const CONTINUE: i32 = 18;

/// Runs a role to its end, doing something to it once it runs; its judgement.
fn judgement(role: &str, meanwhile: impl FnOnce(u32)) -> String {
    let mut child = again(role).spawn().unwrap();
    let mut output = lines(&mut child);
    assert!(output.next().unwrap().starts_with("entered"));
    assert_eq!(output.next().unwrap(), "running");
    meanwhile(child.id());
    let found = output.next().unwrap();
    child.wait().unwrap();
    found
}

pub(crate) fn a_stopped_wire_shows() {
    if !permitted("a_stopped_wire_shows") {
        return;
    }
    for _ in 0..5 {
        let found = judgement("traffic", |pid| {
            std::thread::sleep(Duration::from_millis(300));
            signal(pid, STOP).unwrap();
            std::thread::sleep(Duration::from_millis(200));
            signal(pid, CONTINUE).unwrap();
        });
        assert!(
            found.starts_with("Invalid") && found.contains("wire-stalled"),
            "{found}"
        );
    }
}

pub(crate) fn a_hog_shows() {
    if !permitted("a_hog_shows") {
        return;
    }
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    for _ in 0..5 {
        let hog = || {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .spawn()
                .unwrap()
        };
        let mut hogs: Vec<_> = (0..count).map(|_| hog()).collect();
        // The lab of a cousin process: what this test starts does not count as the lab's own.
        let found = judgement("traffic", |_| {});
        for hog in &mut hogs {
            hog.kill().unwrap();
            hog.wait().unwrap();
        }
        assert!(
            found.starts_with("Degraded") || found.starts_with("Invalid"),
            "{found}"
        );
    }
}

pub(crate) fn a_tiny_queue_shows() {
    if !permitted("a_tiny_queue_shows") {
        return;
    }
    for _ in 0..5 {
        let found = judgement("tiny", |_| {});
        assert!(
            found.starts_with("Invalid") && found.contains("tun-drops"),
            "{found}"
        );
    }
}

pub(crate) fn exhausted_memory_shows() {
    if !permitted("exhausted_memory_shows") {
        return;
    }
    let found = judgement("memory", |_| {});
    assert!(
        found.starts_with("Invalid") && found.contains("memory"),
        "{found}"
    );
}

/// The reverse of the others: nothing is wrong, and nothing is said to be.
///
/// Counted against the lab are only the runs in which timers of the bare machine kept time meanwhile.
pub(crate) fn a_quiet_run_is_valid() {
    const TEST: &str = "a_quiet_run_is_valid";
    if !permitted(TEST) {
        return;
    }
    let mut against = Vec::new();
    let mut excused = String::new();
    for _ in 0..8 {
        let timers = Timers::start();
        let found = judgement("traffic", |_| {});
        let bare = timers.stop();
        if found.starts_with("Valid") {
            return;
        }
        if bare.punctual() {
            against.push(found);
        } else {
            excused = format!("{found}; {bare:?}");
        }
    }
    assert!(
        against.len() < 5,
        "the machine's bare timers kept time, and yet {against:?}"
    );
    eprintln!("skipped: {TEST}: the machine's bare timers were late too: {excused}");
}

/// Bare timers of a millisecond, one per processor, beside a run.
struct Timers {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<Vec<Duration>>>,
}

/// How late the bare timers of the machine were.
#[derive(Debug)]
struct Late {
    mean: Duration,
    p99: Duration,
    longest: Duration,
    /// Share of processor time that was in use right after, by anybody.
    taken: f64,
}

impl Late {
    /// No later than lets four wake-ups of a round trip, and the rarest of its packets, be in time: a fourth of what
    /// makes a run degraded.
    fn punctual(&self) -> bool {
        self.mean < Duration::from_micros(60)
            && self.p99 < Duration::from_micros(250)
            && self.longest < Duration::from_millis(5)
            && self.taken < 0.5
    }
}

impl Timers {
    fn start() -> Timers {
        let stop = Arc::new(AtomicBool::new(false));
        let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let timer = |stop: Arc<AtomicBool>| {
            std::thread::spawn(move || {
                slowpath_sys::clock::set_timer_slack(1).unwrap();
                let mut late = Vec::with_capacity(4096);
                while !stop.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    std::thread::sleep(Duration::from_millis(1));
                    late.push(start.elapsed().saturating_sub(Duration::from_millis(1)));
                }
                late
            })
        };
        let threads = (0..count).map(|_| timer(Arc::clone(&stop))).collect();
        Timers { stop, threads }
    }

    fn stop(self) -> Late {
        self.stop.store(true, Ordering::Relaxed);
        let mut late: Vec<Duration> = self
            .threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        late.sort();
        let count = u32::try_from(late.len()).unwrap();
        Late {
            mean: late.iter().sum::<Duration>() / count,
            p99: late[late.len() * 99 / 100],
            longest: *late.last().unwrap(),
            taken: 1.0 - idle_share(),
        }
    }
}

/// Share of processor time that nobody used in the next 0.3 s (`/proc/stat`).
fn idle_share() -> f64 {
    let read = || {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let numbers: Vec<f64> = line
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        (
            numbers.iter().skip(3).take(2).sum::<f64>(),
            numbers.iter().sum::<f64>(),
        )
    };
    let before = read();
    std::thread::sleep(Duration::from_millis(300));
    let after = read();
    (after.0 - before.0) / (after.1 - before.1).max(1.0)
}

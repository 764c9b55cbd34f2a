//! How far something has come, and how long it will still take: a line on a terminal, nothing elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use slowpath::reading::Reading;

use crate::terminal;
use slowpath_words::word;

/// Whether progress is shown at all.
pub(crate) fn is_shown() -> bool {
    std::io::stderr().is_terminal() && !terminal::is_quiet()
}

/// A bar in the style of all bars; `words` is what stands behind it.
pub(crate) fn bar(length: u64, words: &str) -> ProgressBar {
    let template = format!("{{bar:12}} {words}");
    let style = ProgressStyle::with_template(&template).expect("the template is valid");
    ProgressBar::new(length).with_style(style)
}

/// How far all runs of a call are, for a program that reads it.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    /// Runs that have ended.
    pub(crate) finished: usize,
    /// Runs in all.
    pub(crate) total: usize,
    /// Share of the work that is done.
    pub(crate) done: f64,
    /// Seconds that it will still take, where that can be told.
    pub(crate) left_s: Option<f64>,
    /// The runs under way.
    pub(crate) running: Vec<&'a str>,
    /// The latest run that ended, in a line.
    pub(crate) latest: &'a str,
}

/// Says it on standard error, as a line of JSON.
pub(crate) fn tell(told: &Told<'_>) {
    let line = serde_json::json!({
        "schema": "slowpath/progress/1",
        "finished": told.finished,
        "total": told.total,
        "done": told.done,
        "left_s": told.left_s,
        "running": told.running,
        "latest": told.latest,
    });
    // Whoever does not want to read it is no reason to stop.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Does `work`, and says from two seconds on how far `reading` has come.
pub(crate) fn while_reading<R>(reading: &Reading, work: impl FnOnce() -> R) -> R {
    if !is_shown() {
        return work();
    }
    let (working, ended) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut shown: Option<ProgressBar> = None;
            // The other end goes away when the work has ended, however it ended.
            while ended.recv_timeout(if shown.is_none() { PATIENCE } else { STEP })
                == Err(RecvTimeoutError::Timeout)
            {
                let (done, all) = reading.so_far();
                let begun = || {
                    bar(all, word!("progress-reading"))
                        .with_position(done)
                        .with_elapsed(PATIENCE)
                };
                let bar = shown.get_or_insert_with(begun);
                bar.set_position(done);
                bar.set_length(all);
            }
            if let Some(bar) = shown {
                bar.finish_and_clear();
            }
        });
        let _working = working;
        work()
    })
}

/// Nobody wants to see a bar for less.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time from one look to the next.
const STEP: Duration = Duration::from_millis(200);
/// What stands behind the bar of runs in simulated time.
pub(crate) fn computed() -> &'static str {
    word!("progress-runs")
}

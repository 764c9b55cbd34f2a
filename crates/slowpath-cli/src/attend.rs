//! `slowpath why --watch`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use slowpath::attended::{Kept, KeptError, Place};
use slowpath::why::attend::{self, AttendSpec, Event, Over};
use slowpath::why::baseline::Baselines;
use slowpath::why::{Target, attend_text};

use crate::exit::{self, Failure};
use crate::terminal;

/// Attends to transfers until Ctrl-C, and tells of those that are slower than they usually are; with `lines`, of all as JSON.
pub(crate) fn attend(
    target: Option<Target>,
    duration: Option<Duration>,
    lines: bool,
    out: Option<&Path>,
) -> Result<u8, Failure> {
    let folder = match out {
        Some(folder) => folder.to_owned(),
        None => usual_folder()?,
    };
    let unusable = |error: &KeptError| Failure::machine(error.to_string());
    let kept = Kept::open(&folder).map_err(|error| unusable(&error))?;
    let mut baselines = kept.baselines().map_err(|error| unusable(&error))?;
    terminal::remark(&format!(
        "slowpath: watching; of {} jobs it is known what is usual; runs are kept in {}; Ctrl-C ends it",
        baselines
            .jobs
            .values()
            .filter(|known| known.expected().is_some())
            .count(),
        folder.display()
    ));
    let spec = AttendSpec {
        target,
        duration,
        quiet: attend::QUIET,
    };
    let stop = Arc::new(AtomicBool::new(false));
    slowpath::interrupt::on_interrupt(&stop);
    let mut failed = None;
    let mut tell = |event: Event, baselines: &Baselines| {
        let said = heard(&kept, event, baselines, lines);
        if let Err(failure) = said {
            failed.get_or_insert(failure);
            stop.store(true, Ordering::Relaxed);
        }
    };
    attend::attend(&spec, &mut baselines, &stop, &mut tell)
        .map_err(|error| Failure::machine(error.to_string()))?;
    match failed {
        Some(failure) => Err(failure),
        None => Ok(exit::DONE),
    }
}

/// Keeps what is to be kept of an event, and prints what is to be told.
fn heard(kept: &Kept, event: Event, baselines: &Baselines, lines: bool) -> Result<(), Failure> {
    let unusable = |error: &KeptError| Failure::machine(error.to_string());
    let now = SystemTime::now();
    match event {
        Event::Slow(told) if lines => print(&json("slow", &told, None)),
        Event::Slow(told) => print(&at(now, &attend_text::slow(&told, false))),
        Event::Over(over) => {
            kept.write_baselines(baselines)
                .map_err(|error| unusable(&error))?;
            let place = kept.add(&over, now).map_err(|error| unusable(&error))?;
            if lines {
                return print(&json(
                    if over.slow { "was-slow" } else { "over" },
                    &over.told,
                    Some(&place),
                ));
            }
            told(&over, &place, now)
        }
    }
}

fn told(over: &Over, place: &Place, now: SystemTime) -> Result<(), Failure> {
    if !over.slow {
        if terminal::is_verbose() {
            return print(&at(now, &attend_text::usual(&over.told)));
        }
        return Ok(());
    }
    print(&at(now, &attend_text::slow(&over.told, true)))?;
    match &place.usual {
        Some(usual) => print(&format!(
            "  What differs: slowpath compare {} {}",
            usual.display(),
            place.folder.display()
        )),
        None => print(&format!("  Kept in {}", place.folder.display())),
    }
}

fn at(now: SystemTime, text: &str) -> String {
    format!("{}  {text}", slowpath::report::stamp(now))
}

fn json(event: &str, told: &attend::Told, place: Option<&Place>) -> String {
    let folder = place.map(|place| place.folder.as_path());
    let usual = place.and_then(|place| place.usual.as_deref());
    attend_text::json(
        event,
        &slowpath::report::stamp(SystemTime::now()),
        told,
        folder,
        usual,
    )
}

fn print(line: &str) -> Result<(), Failure> {
    writeln!(io::stdout(), "{line}").map_err(|error| Failure::printing(&error))
}

/// Where a user's programs keep what they learn (XDG Base Directory Specification).
fn usual_folder() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("slowpath/watch")).ok_or_else(|| {
        Failure::usage(
            "finding a folder for what is usual: neither XDG_STATE_HOME nor HOME is set; name one with --out DIR".to_owned(),
        )
    })
}

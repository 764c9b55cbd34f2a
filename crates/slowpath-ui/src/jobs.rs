//! The calls of the program, one at a time, each in its entry's folder.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::entry::{Entry, Id, Kind, State};
use crate::history::History;
use crate::system;

/// What waits and what runs, beside the history.
#[derive(Debug)]
pub struct Jobs {
    shared: Mutex<Shared>,
    changed: Condvar,
    program: PathBuf,
    before: Vec<String>,
}

#[derive(Debug)]
struct Shared {
    history: History,
    queue: VecDeque<Id>,
    running: Option<Running>,
    ended: bool,
}

#[derive(Debug)]
struct Running {
    id: Id,
    /// The process, until it is being waited for.
    pid: Option<u32>,
    stopped: bool,
    progress: Progress,
}

/// How far a call is: what `--progress jsonl` says of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Its form: `slowpath/progress/1`.
    pub schema: String,
    /// Runs that have ended.
    pub finished: usize,
    /// Runs in all; 0 while that is not known.
    pub total: usize,
    /// Share of all work that is done, from 0 to 1.
    pub done: f64,
    /// Seconds that it will still take, as far as that can be told.
    pub left_s: Option<f64>,
    /// The runs under way.
    pub running: Vec<String>,
    /// The latest run that ended, in a line.
    pub latest: String,
}

impl Jobs {
    /// Takes over a history, and waits for work in a thread of its own.
    pub fn start(history: History, program: PathBuf, before: Vec<String>) -> Arc<Self> {
        let jobs = Arc::new(Self {
            shared: Mutex::new(Shared {
                history,
                queue: VecDeque::new(),
                running: None,
                ended: false,
            }),
            changed: Condvar::new(),
            program,
            before,
        });
        let worker = Arc::clone(&jobs);
        thread::spawn(move || {
            while let Some(entry) = worker.next() {
                worker.carry_out(&entry);
            }
        });
        jobs
    }

    /// The program that does the work.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Arguments before all others of each call.
    pub fn before(&self) -> &[String] {
        &self.before
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // What a panic left behind is still a list of entries.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the history, or changes it.
    pub fn with<R>(&self, look: impl FnOnce(&mut History) -> R) -> R {
        look(&mut self.lock().history)
    }

    /// How far the call of an entry is, if it runs.
    pub fn progress(&self, id: &Id) -> Option<Progress> {
        let shared = self.lock();
        let running = shared.running.as_ref().filter(|running| running.id == *id)?;
        Some(running.progress.clone())
    }

    /// Lets an entry wait for its turn.
    ///
    /// # Errors
    /// What the system said when it was written.
    pub fn enqueue(&self, mut entry: Entry) -> io::Result<()> {
        let mut shared = self.lock();
        entry.state = State::Waiting;
        entry.said.clear();
        let id = entry.id.clone();
        shared.history.keep(entry)?;
        if !shared.queue.contains(&id) {
            shared.queue.push_back(id);
        }
        self.changed.notify_all();
        Ok(())
    }

    /// Stops an entry's call, or takes it out of those that wait; asked again, it does not wait for its end.
    ///
    /// # Errors
    /// What the system said when it was written.
    pub fn stop(&self, id: &Id) -> io::Result<()> {
        let mut shared = self.lock();
        if let Some(running) = shared.running.as_mut().filter(|running| running.id == *id) {
            let end = if running.stopped {
                system::kill
            } else {
                system::interrupt
            };
            running.stopped = true;
            if let Some(pid) = running.pid {
                let _ = end(pid);
            }
            return Ok(());
        }
        if shared.queue.contains(id) {
            shared.queue.retain(|waiting| waiting != id);
            shared.history.change(id, |entry| entry.state = State::Stopped)?;
        }
        Ok(())
    }

    /// Takes an entry away, unless it runs or waits; says whether it did.
    ///
    /// # Errors
    /// What the system said.
    pub fn remove(&self, id: &Id) -> io::Result<bool> {
        let mut shared = self.lock();
        let busy =
            shared.queue.contains(id) || shared.running.as_ref().is_some_and(|running| running.id == *id);
        if !busy {
            shared.history.remove(id)?;
        }
        Ok(!busy)
    }

    /// Ends: stops what runs and waits for it. What waits stays, as stopped.
    pub fn end(&self) {
        let mut shared = self.lock();
        shared.ended = true;
        self.changed.notify_all();
        let ways: [fn(u32) -> io::Result<()>; 2] = [system::interrupt, system::kill];
        for end in ways {
            let Some(running) = shared.running.as_mut() else {
                break;
            };
            running.stopped = true;
            if let Some(pid) = running.pid {
                let _ = end(pid);
            }
            let until = Instant::now() + PATIENCE;
            while shared.running.is_some() && Instant::now() < until {
                let waited = self
                    .changed
                    .wait_timeout(shared, until.duration_since(Instant::now()));
                shared = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        let waiting: Vec<Id> = shared.queue.drain(..).collect();
        for id in waiting {
            let _ = shared.history.change(&id, |entry| entry.state = State::Stopped);
        }
    }

    /// The next entry to be carried out; nothing once it has ended.
    fn next(&self) -> Option<Entry> {
        let mut shared = self.lock();
        loop {
            if shared.ended {
                return None;
            }
            if let Some(id) = shared.queue.pop_front() {
                let Some(entry) = shared.history.get(&id).cloned() else {
                    continue;
                };
                let _ = shared.history.change(&id, |entry| entry.state = State::Running);
                shared.running = Some(Running {
                    id,
                    pid: None,
                    stopped: false,
                    progress: Progress::default(),
                });
                return Some(entry);
            }
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Calls the program for an entry, and keeps what came of it.
    fn carry_out(&self, entry: &Entry) {
        let folder = self.lock().history.folder(&entry.id);
        let (state, said) = match self.call(entry, &folder) {
            Ok(ended) => ended,
            Err(error) => (
                State::Failed,
                format!("calling {} failed: {error}", self.program.display()),
            ),
        };
        let mut shared = self.lock();
        shared.running = None;
        let _ = shared.history.change(&entry.id, |entry| {
            entry.state = state;
            entry.said = said;
        });
        self.changed.notify_all();
    }

    fn call(&self, entry: &Entry, folder: &Path) -> io::Result<(State, String)> {
        // A capture is added to its results, so those of an earlier call go first; an experiment's are continued.
        if entry.kind == Kind::Capture && folder.join(RESULTS).exists() {
            fs::remove_dir_all(folder.join(RESULTS))?;
        }
        let answer = folder.join(answer_file(entry.kind));
        let unfinished = folder.join("answer.part");
        let mut child = system::apart(
            Command::new(&self.program)
                .args(&self.before)
                .args(&entry.call)
                .current_dir(folder)
                .stdin(Stdio::null())
                .stdout(File::create(&unfinished)?)
                .stderr(Stdio::piped()),
        )
        .spawn()?;
        let noted = self.listen(&mut child);
        let status = child.wait()?;
        let stopped = self
            .lock()
            .running
            .as_ref()
            .is_some_and(|running| running.stopped);
        if status.code() == Some(0) {
            fs::rename(&unfinished, &answer)?;
            return Ok((State::Done, headline(entry.kind, folder)));
        }
        if stopped || status.code() == Some(INTERRUPTED) {
            return Ok((State::Stopped, String::new()));
        }
        // Runs that are all invalid have a page, too.
        if fs::metadata(&unfinished).is_ok_and(|file| file.len() > 0) {
            fs::rename(&unfinished, &answer)?;
        }
        let said = if noted.is_empty() {
            format!("The call ended with {status} and said nothing.")
        } else {
            noted.into_iter().collect::<Vec<_>>().join("\n")
        };
        Ok((State::Failed, said))
    }

    /// Reads what a call says beside its answer until it says nothing more: its progress, and the latest of the rest.
    fn listen(&self, child: &mut Child) -> VecDeque<String> {
        let mut noted = VecDeque::new();
        {
            let mut shared = self.lock();
            let Some(running) = shared.running.as_mut() else {
                return noted;
            };
            running.pid = Some(child.id());
            // Somebody stopped it before it had a number.
            if running.stopped {
                let _ = system::interrupt(child.id());
            }
        }
        if let Some(errors) = child.stderr.take() {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                match serde_json::from_str::<Progress>(&line) {
                    Ok(progress) if progress.schema == PROGRESS => {
                        if let Some(running) = self.lock().running.as_mut() {
                            running.progress = progress;
                        }
                    }
                    _ if line.is_empty() => {}
                    _ => {
                        noted.push_back(line);
                        if noted.len() > LATEST {
                            noted.pop_front();
                        }
                    }
                }
            }
        }
        if let Some(running) = self.lock().running.as_mut() {
            running.pid = None;
        }
        noted
    }
}

/// Where a call's answer lies.
pub const fn answer_file(kind: Kind) -> &'static str {
    match kind {
        Kind::Capture => "explanation.html",
        Kind::Iperf3 | Kind::Experiment => "answer.txt",
    }
}

/// The answer in a sentence or two, from what a call has written.
fn headline(kind: Kind, folder: &Path) -> String {
    if kind == Kind::Iperf3 {
        let answer = fs::read_to_string(folder.join(answer_file(kind))).unwrap_or_default();
        let first = answer.lines().take_while(|line| !line.is_empty());
        return first.map(str::trim).collect::<Vec<_>>().join(" ");
    }
    let text = fs::read(folder.join(RESULTS).join("result.json")).unwrap_or_default();
    let result: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    if let Some(answer) = result["answer"].as_str().filter(|answer| !answer.is_empty()) {
        return answer.to_owned();
    }
    let variants = result["variants"].as_array().map_or(&[][..], Vec::as_slice);
    let said = variants.iter().filter_map(|variant| {
        let sentence = variant["verdict"]["sentence"].as_str()?;
        let name = variant["name"].as_str().filter(|_| variants.len() > 1);
        Some(name.map_or_else(|| sentence.to_owned(), |name| format!("{name}: {sentence}")))
    });
    said.take(SENTENCES).collect::<Vec<_>>().join("\n")
}

/// The form of a line of progress.
const PROGRESS: &str = "slowpath/progress/1";
/// Where a call's results lie in an entry's folder.
pub const RESULTS: &str = "results";
/// What a program that Ctrl-C ended says, as shells do.
const INTERRUPTED: i32 = 130;
/// How long a call may take to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(5);
/// Lines of a failed call that are kept.
const LATEST: usize = 40;
/// Variants whose verdict stands in the list.
const SENTENCES: usize = 3;

//! The entries on disk: a folder each, with what it began with, its results, and `entry.json`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::entry::{Entry, Id, Kind, SCHEMA, State};
use crate::error::UiError;
use crate::system;

/// What there is, in memory as on disk.
#[derive(Debug)]
pub struct History {
    root: PathBuf,
    entries: BTreeMap<Id, Entry>,
    /// Held as long as this history is open.
    _lock: File,
}

impl History {
    /// Opens the history in `root`, which is made where it is missing. What ran or waited when it was last open has been stopped.
    ///
    /// # Errors
    /// [`UiError::Folder`], [`UiError::Used`].
    pub fn open(root: &Path) -> Result<Self, UiError> {
        let wrong = |source| UiError::Folder {
            folder: root.to_owned(),
            source,
        };
        fs::create_dir_all(root).map_err(wrong)?;
        let root = system::from_root(root).map_err(wrong)?;
        let lock = File::create(root.join("lock")).map_err(wrong)?;
        lock.try_lock().map_err(|_| UiError::Used(root.clone()))?;
        let mut history = Self {
            entries: read(&root).map_err(wrong)?,
            root,
            _lock: lock,
        };
        let broken: Vec<Id> = history
            .entries
            .values()
            .filter(|entry| matches!(entry.state, State::Waiting | State::Running))
            .map(|entry| entry.id.clone())
            .collect();
        for id in broken {
            history
                .change(&id, |entry| entry.state = State::Stopped)
                .map_err(wrong)?;
        }
        Ok(history)
    }

    /// The folder of an entry, which need not exist.
    pub fn folder(&self, id: &Id) -> PathBuf {
        self.root.join(id.as_str())
    }

    /// Where all entries lie.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The newest first.
    pub fn newest_first(&self) -> Vec<&Entry> {
        let mut all: Vec<&Entry> = self.entries.values().collect();
        all.sort_by_key(|entry| Reverse((entry.created_s, number(&entry.id))));
        all
    }

    /// An entry.
    pub fn get(&self, id: &Id) -> Option<&Entry> {
        self.entries.get(id)
    }

    /// Makes the folder of a new entry. It is part of the history once it is [`History::keep`]pt.
    ///
    /// # Errors
    /// What the system said.
    pub fn begin(&self, kind: Kind, title: &str, file: &str) -> io::Result<Entry> {
        let now_s = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        // Newer than what is there, within a second too, and where the clock was set back.
        let newest = self
            .newest_first()
            .first()
            .map(|entry| (entry.created_s, number(&entry.id)));
        let (created_s, mut number) = newest.filter(|newest| newest.0 >= now_s).unwrap_or((now_s, 0));
        loop {
            number += 1;
            let id = Id::new(title, created_s, number);
            match fs::create_dir(self.folder(&id)) {
                Ok(()) => {
                    return Ok(Entry {
                        schema: SCHEMA.to_owned(),
                        id,
                        kind,
                        title: title.to_owned(),
                        created_s,
                        state: State::Waiting,
                        said: String::new(),
                        call: Vec::new(),
                        file: file.to_owned(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes an entry and holds it from now on.
    ///
    /// # Errors
    /// What the system said; then the entry is as it was.
    pub fn keep(&mut self, entry: Entry) -> io::Result<()> {
        let folder = self.folder(&entry.id);
        let text = serde_json::to_vec_pretty(&entry)?;
        // Whole or not at all.
        let new = folder.join("entry.json.new");
        fs::write(&new, text)?;
        fs::rename(&new, folder.join(ENTRY))?;
        self.entries.insert(entry.id.clone(), entry);
        Ok(())
    }

    /// Changes an entry that is there, and writes it.
    ///
    /// # Errors
    /// What the system said; then the change holds until the page ends.
    pub fn change(&mut self, id: &Id, change: impl FnOnce(&mut Entry)) -> io::Result<()> {
        let Some(entry) = self.entries.get_mut(id) else {
            return Ok(());
        };
        change(entry);
        let entry = entry.clone();
        self.keep(entry)
    }

    /// Takes an entry and all that belongs to it away.
    ///
    /// # Errors
    /// What the system said.
    pub fn remove(&mut self, id: &Id) -> io::Result<()> {
        // First what makes it an entry: half of a folder is none.
        match fs::remove_file(self.folder(id).join(ENTRY)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.entries.remove(id);
        match fs::remove_dir_all(self.folder(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The number at the end of a name, which orders those of one second.
fn number(id: &Id) -> u32 {
    let last = id.as_str().rsplit('-').next();
    last.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The entries in a folder. What is no entry of this form is left alone and not shown; folders of uploads that never
/// ended are taken away.
fn read(root: &Path) -> io::Result<BTreeMap<Id, Entry>> {
    let mut entries = BTreeMap::new();
    for found in fs::read_dir(root)? {
        let path = found?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(Ok(id)) = name.map(str::parse::<Id>) else {
            continue;
        };
        match fs::read(path.join(ENTRY)) {
            Ok(text) => {
                if let Ok(entry) = serde_json::from_slice::<Entry>(&text)
                    && entry.schema == SCHEMA
                    && entry.id == id
                {
                    entries.insert(id, entry);
                }
            }
            Err(_) => {
                if path.join(crate::upload::UNFINISHED).exists() {
                    fs::remove_dir_all(&path)?;
                }
            }
        }
    }
    Ok(entries)
}

/// The file that makes a folder an entry.
const ENTRY: &str = "entry.json";

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("slowpath-ui-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            Self(folder)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_newest_of_one_second_comes_first_whatever_it_is_called() {
        let scratch = Scratch::new("order");
        let mut history = History::open(&scratch.0).unwrap();
        for title in ["m", "z", "a", "a", "k"] {
            let entry = history.begin(Kind::Capture, title, title).unwrap();
            history.keep(entry).unwrap();
        }
        let titles: Vec<&str> = history
            .newest_first()
            .iter()
            .map(|entry| entry.title.as_str())
            .collect();
        assert_eq!(titles, ["k", "a", "a", "z", "m"]);
    }

    #[test]
    fn entries_are_there_after_it_was_opened_again() {
        let scratch = Scratch::new("again");
        let mut history = History::open(&scratch.0).unwrap();
        let mut done = history.begin(Kind::Capture, "a.pcap", "a.pcap").unwrap();
        done.state = State::Done;
        let (first, second) = (
            done.id.clone(),
            history.begin(Kind::Experiment, "b", "b.toml").unwrap(),
        );
        let running = second.id.clone();
        history.keep(done).unwrap();
        history.keep(second).unwrap();
        history
            .change(&running, |entry| entry.state = State::Running)
            .unwrap();
        assert!(matches!(History::open(&scratch.0), Err(UiError::Used(_))));
        drop(history);

        // An upload that never ended, something else's folder, and an entry of another form.
        let unfinished = scratch.0.join("half-1-1");
        fs::create_dir(&unfinished).unwrap();
        fs::write(unfinished.join(crate::upload::UNFINISHED), "x").unwrap();
        fs::create_dir(scratch.0.join("other-1-1")).unwrap();
        fs::create_dir(scratch.0.join("newer-1-1")).unwrap();
        fs::write(scratch.0.join("newer-1-1/entry.json"), "{}").unwrap();

        let mut history = History::open(&scratch.0).unwrap();
        let states: Vec<(Id, State)> = history
            .newest_first()
            .iter()
            .map(|entry| (entry.id.clone(), entry.state))
            .collect();
        assert_eq!(states.len(), 2);
        assert!(states.contains(&(first.clone(), State::Done)));
        assert!(states.contains(&(running, State::Stopped)));
        assert!(!unfinished.exists());
        assert!(scratch.0.join("other-1-1").exists() && scratch.0.join("newer-1-1").exists());

        history.remove(&first).unwrap();
        assert!(history.get(&first).is_none() && !history.folder(&first).exists());
    }

    #[test]
    fn two_of_one_second_have_two_names() {
        let scratch = Scratch::new("names");
        let history = History::open(&scratch.0).unwrap();
        let names: Vec<Id> = (0..3)
            .map(|_| history.begin(Kind::Capture, "same", "same").unwrap().id)
            .collect();
        assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
    }
}

//! A small crate on disk for the tests of the rules.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Source files in a folder of their own, which goes with the value.
pub(crate) struct Fixture(PathBuf);

impl Fixture {
    /// Writes each file, given by its path below the folder.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("slowpath-xtask-{}-{number}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// The file of the root module.
    pub(crate) fn root(&self) -> PathBuf {
        self.0.join("lib.rs")
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

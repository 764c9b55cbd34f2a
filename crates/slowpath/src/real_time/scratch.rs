//! Folders for the programs of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::LabRunError;

/// A folder that goes away with its value.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn create(purpose: &str) -> Result<Self, LabRunError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("slowpath-{}-{number}-{purpose}", std::process::id());
        let path = crate::worker::scratch().join(name);
        fs::create_dir_all(&path).map_err(LabRunError::Scratch)?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A server's root may have been made unwritable.
        let _ = set_mode(&self.0.join("files"), 0o755);
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

//! Folders for the programs of a run.

use std::fs;
use std::path::{Path, PathBuf};

use slowpath_sys::private_folder;

use super::LabRunError;

/// A folder that goes away with its value.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// A folder that nobody but this user may enter.
    pub(super) fn create(purpose: &str) -> Result<Self, LabRunError> {
        private_folder::create(&crate::worker::scratch(), purpose)
            .map(Self)
            .map_err(LabRunError::Scratch)
    }

    /// A folder for a server that gives up its rights: others may enter but not list it, and must know its random name.
    pub(super) fn passable(purpose: &str) -> Result<Self, LabRunError> {
        let folder = Self::create(purpose)?;
        set_mode(folder.path(), 0o711).map_err(LabRunError::Scratch)?;
        Ok(folder)
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

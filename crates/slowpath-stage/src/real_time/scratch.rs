//! Folders for the programs of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use slowpath_sys::private_folder;

use super::error::LabRunError;

/// A folder that goes away with its value.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// A folder that nobody but this user may enter.
    pub(super) fn create(purpose: &str) -> Result<Self, LabRunError> {
        private_folder::create(&base(), purpose)
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

/// Where programs of the run may leave files.
///
/// In a worker this is a file system of its own, which the kernel takes away with the process, however it ends.
fn base() -> PathBuf {
    BASE.get().cloned().unwrap_or_else(std::env::temp_dir)
}

/// Says that programs of the run may leave files in `folder` from now on.
pub(crate) fn use_folder(folder: PathBuf) {
    let _ = BASE.set(folder);
}

static BASE: OnceLock<PathBuf> = OnceLock::new();

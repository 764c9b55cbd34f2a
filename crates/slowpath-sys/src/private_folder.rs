//! Folders for temporary files that no other user of this machine can read, or prepare beforehand.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Makes a folder below `parent` that nobody but this user may enter; its name begins with `slowpath-` and `purpose`.
///
/// What exists already is never taken over: whoever made it could put files or links into it.
///
/// # Errors
/// Those of the file system.
pub fn create(parent: &Path, purpose: &str) -> io::Result<PathBuf> {
    let mut tries = 10;
    loop {
        // The standard library's only source of randomness; it must not be guessed, no more.
        let number = RandomState::new().hash_one(tries);
        let path = parent.join(format!("slowpath-{purpose}-{}-{number:016x}", std::process::id()));
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries > 0 => tries -= 1,
            done => return done.map(|()| path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn folders_are_new_and_closed_to_others() {
        let parent = std::env::temp_dir();
        let (one, two) = (create(&parent, "test").unwrap(), create(&parent, "test").unwrap());
        assert_ne!(one, two);
        for folder in [&one, &two] {
            let mode = std::fs::metadata(folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{mode:o}");
            std::fs::remove_dir(folder).unwrap();
        }
        assert!(create(Path::new("/nonexistent/folder"), "test").is_err());
    }
}

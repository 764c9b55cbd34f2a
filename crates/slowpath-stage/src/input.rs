//! What is wrong with a file that the user named, and what to do about it.

use std::io;
use std::path::Path;

/// Says why `path` could not be read, with a cure instead of the system's number.
pub fn problem(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let hint = near(path).map_or_else(
                || "give the path of one".to_owned(),
                |name| format!("did you mean {name}?"),
            );
            format!("reading {shown}: there is no file of that name; {hint}")
        }
        io::ErrorKind::NotADirectory => {
            format!(
                "reading {shown}: there is no file of that name: a part of its path is a file; give the path of one"
            )
        }
        io::ErrorKind::IsADirectory => format!("reading {shown}: it is a folder; give a file"),
        io::ErrorKind::InvalidData => format!("reading {shown}: it is no text file (not UTF-8); give one"),
        io::ErrorKind::PermissionDenied => {
            if let Some(folder) = closed(path) {
                let folder = folder.display();
                return format!(
                    "reading {shown}: you may not enter {folder}; give another place, or its owner can permit it with chmod +x {folder}"
                );
            }
            format!("reading {shown}: you may not read it; its owner can permit it with chmod +r {shown}")
        }
        _ => format!("reading {shown} failed: {error}; copy it to another disk and try again"),
    }
}

/// Says why `path` could not be written, with a cure: `elsewhere` is how to choose another place, such as `--out`.
pub fn unwritable(path: &Path, error: &io::Error, elsewhere: &str) -> String {
    let shown = path.display();
    let other = format!("choose another place with {elsewhere}");
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("writing {shown}: its folder is missing; make it with mkdir -p, or {other}")
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            let file = path.ancestors().find(|part| part.is_file()).unwrap_or(path);
            format!(
                "writing {shown}: {} is a file, not a folder; {other}",
                file.display()
            )
        }
        io::ErrorKind::IsADirectory => {
            format!("writing {shown}: it is a folder; give the name of a file, or {other}")
        }
        io::ErrorKind::PermissionDenied => {
            if let Some(folder) = closed(path) {
                return format!("writing {shown}: you may not enter {}; {other}", folder.display());
            }
            format!("writing {shown}: you may not write there; {other}")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            format!("writing {shown}: its file system is read-only; {other}")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("writing {shown}: the disk is full; free some space, or {other}")
        }
        io::ErrorKind::FileTooLarge => {
            format!("writing {shown}: the file would be larger than this user may make it; {other}")
        }
        _ => format!("writing {shown} failed: {error}; {other}, or free some space"),
    }
}

/// The first folder on the way to `path` that this user may not enter; `None` where the way is free or cannot be told.
fn closed(path: &Path) -> Option<&Path> {
    let mut folders: Vec<&Path> = path
        .ancestors()
        .skip(1)
        .filter(|folder| !folder.as_os_str().is_empty())
        .collect();
    folders.reverse();
    folders.into_iter().find(|folder| {
        let inside = std::fs::metadata(folder.join("."));
        inside.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    })
}

/// A file or folder beside it with nearly the same name.
pub fn near(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let meant = slowpath_scenario::diagnostic::suggestion(name, names.iter().map(String::as_str))?;
    Some(path.with_file_name(meant).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        let folder = std::env::temp_dir().join(format!("slowpath-input-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("capture.pcap"), "").unwrap();
        let error = io::Error::from(io::ErrorKind::NotFound);
        let said = problem(&folder.join("captuer.pcap"), &error);
        assert!(said.ends_with("capture.pcap?"), "{said}");
        let said = problem(&folder.join("other.txt"), &error);
        assert!(said.ends_with("give the path of one"), "{said}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn every_reason_not_to_write_has_a_cure() {
        use io::ErrorKind as Kind;
        for (kind, found) in [
            (Kind::NotFound, "its folder is missing"),
            (Kind::NotADirectory, "is a file, not a folder"),
            (Kind::IsADirectory, "it is a folder"),
            (Kind::PermissionDenied, "you may not write there"),
            (Kind::ReadOnlyFilesystem, "read-only"),
            (Kind::StorageFull, "the disk is full"),
            (Kind::Other, "failed"),
        ] {
            let said = unwritable(Path::new("out/runs"), &io::Error::from(kind), "--out");
            assert!(
                said.starts_with("writing out/runs") && said.contains(found) && said.contains("--out"),
                "{said}"
            );
        }
    }
}

//! What is wrong with a file that the user named, and what to do about it.

use std::io;
use std::path::Path;

/// Says why `path` could not be read, with a cure instead of the system's number.
pub fn problem(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let hint = near(path).map_or(String::new(), |name| format!("; did you mean {name}?"));
            format!("there is no file {shown}{hint}")
        }
        io::ErrorKind::NotADirectory => {
            format!("there is no file {shown}: a part of it is a file, not a folder")
        }
        io::ErrorKind::IsADirectory => format!("{shown} is a folder; give a file"),
        io::ErrorKind::PermissionDenied => {
            format!("you may not read {shown}; its owner can permit it: chmod +r {shown}")
        }
        _ => format!("reading {shown} failed: {error}"),
    }
}

/// A file or folder beside it with nearly the same name.
fn near(path: &Path) -> Option<String> {
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
        assert!(said.ends_with("other.txt"), "{said}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}

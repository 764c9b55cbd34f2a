//! Kernel settings under `/proc/sys`.
//!
//! `net.*` keys act on the network namespace of the calling thread.

use std::fs;
use std::io;

/// Reads a setting, for example `"net.ipv4.tcp_sack"`; surrounding white space removed.
///
/// # Errors
/// `ENOENT` when the kernel has no such setting.
pub fn read(key: &str) -> io::Result<String> {
    fs::read_to_string(path(key)).map(|text| text.trim().to_owned())
}

/// Writes a setting.
///
/// # Errors
/// `ENOENT` when the kernel (or this kind of namespace) has no such setting; `EACCES` or `EPERM` without permission;
/// `EINVAL` for a value out of range.
pub fn write(key: &str, value: &str) -> io::Result<()> {
    fs::write(path(key), value)
}

fn path(key: &str) -> String {
    format!("/proc/sys/{}", key.replace('.', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_by_dotted_name() {
        assert!(!read("net.ipv4.tcp_sack").unwrap().is_empty());
        assert_eq!(
            read("net.ipv4.no_such").unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}

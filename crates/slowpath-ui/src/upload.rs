//! A capture from the browser to disk, in pieces: its size costs no memory, and what is too large is refused.

use std::io;
use std::path::Path;

use axum::body::Body;
use http_body_util::BodyExt;
use tokio::io::AsyncWriteExt;

use crate::system;

/// The name of a capture that is still on its way.
pub const UNFINISHED: &str = "upload.part";

/// Why a capture was not taken.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// It is larger than what is allowed.
    #[error(
        "it is larger than {limit} bytes; start `slowpath ui` with --upload-limit, or call `slowpath explain FILE`"
    )]
    TooLarge {
        /// The most that is taken.
        limit: u64,
    },
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// The disk has no room for it.
    #[error(
        "it needs {wanted} bytes, and the disk of the history has {room} left; remove something, or choose another place with --dir"
    )]
    NoRoom {
        /// What it needs.
        wanted: u64,
        /// What is left.
        room: u64,
    },
    /// The browser broke off.
    #[error("the upload broke off after {received} bytes: {why}")]
    BrokeOff {
        /// What had come.
        received: u64,
        /// What was said of it.
        why: String,
    },
    /// It cannot be written.
    #[error("writing it failed: {0}")]
    Write(#[from] io::Error),
}

/// Refuses what is announced to be too large, before any of it is read.
///
/// # Errors
/// [`UploadError::TooLarge`], [`UploadError::NoRoom`].
pub fn announced(length: Option<u64>, limit: u64, folder: &Path) -> Result<(), UploadError> {
    let Some(wanted) = length else { return Ok(()) };
    if wanted > limit {
        return Err(UploadError::TooLarge { limit });
    }
    let Some(room) = system::room(folder)? else {
        return Ok(());
    };
    if wanted.saturating_add(SPARE) > room {
        return Err(UploadError::NoRoom { wanted, room });
    }
    Ok(())
}

/// Writes what comes into `folder` under `name`, and says how much that was. Until it has all come it is called
/// [`UNFINISHED`].
///
/// # Errors
/// [`UploadError`]; what has come by then stays, for whoever takes the folder away.
pub async fn receive(body: Body, limit: u64, folder: &Path, name: &str) -> Result<u64, UploadError> {
    let unfinished = folder.join(UNFINISHED);
    let mut file = tokio::fs::File::create_new(&unfinished).await?;
    let mut body = body;
    let mut received = 0_u64;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| UploadError::BrokeOff {
            received,
            why: error.to_string(),
        })?;
        let Ok(data) = frame.into_data() else { continue };
        received += data.len() as u64;
        if received > limit {
            return Err(UploadError::TooLarge { limit });
        }
        file.write_all(&data).await?;
    }
    file.flush().await?;
    drop(file);
    if received == 0 {
        return Err(UploadError::Empty);
    }
    tokio::fs::rename(&unfinished, folder.join(name)).await?;
    Ok(received)
}

/// A capture's name as a file of ours: its own, without what leads elsewhere or looks like an option.
pub fn file_name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |letter: char| {
        if letter.is_control() || "<>:\"|?*".contains(letter) {
            '_'
        } else {
            letter
        }
    };
    let name: String = last.chars().map(plain).take(LONGEST).collect();
    let name = name.trim_start_matches(['.', '-', ' ']).trim_end();
    // Names that entries have themselves.
    let own = name.is_empty() || ["entry.json", "entry.json.new", "results", UNFINISHED].contains(&name);
    if own {
        "capture".to_owned()
    } else {
        name.to_owned()
    }
}

/// What stays free on the disk for the answer.
const SPARE: u64 = 64 << 20;
/// Letters of a file's name; file systems take 255 bytes, and a letter may have four.
const LONGEST: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_folder() {
        for (given, name) in [
            ("backup.pcapng", "backup.pcapng"),
            ("夜間 1.pcap", "夜間 1.pcap"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\x\\a.pcap", "a.pcap"),
            ("..", "capture"),
            ("", "capture"),
            ("/", "capture"),
            ("--help", "help"),
            ("entry.json", "capture"),
            ("results", "capture"),
            ("upload.part", "capture"),
            ("a\nb\0c", "a_b_c"),
        ] {
            assert_eq!(file_name(given), name, "{given:?}");
        }
        assert!(file_name(&"語".repeat(400)).len() < 255);
    }

    #[test]
    fn what_is_announced_too_large_is_refused_at_once() {
        let here = Path::new(".");
        assert!(announced(None, 10, here).is_ok());
        assert!(announced(Some(10), 10, here).is_ok());
        assert!(matches!(
            announced(Some(11), 10, here),
            Err(UploadError::TooLarge { limit: 10 })
        ));
        assert!(matches!(
            announced(Some(1 << 60), u64::MAX, here),
            Err(UploadError::NoRoom { .. })
        ));
    }
}

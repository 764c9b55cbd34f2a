//! Packets that were captured beside the samples of a watch: analysed like any capture, they decide.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use slowpath_live::why::packets::CaptureSpec;
use slowpath_live::why::{Answer, Outcome};
use slowpath_record::packets::ConversationId;
use slowpath_sys::private_folder;
use slowpath_verdict::Analysis;

use crate::import::{ImportError, ReadCapture};

/// Where packets lie while they are judged, and afterwards if somebody wants them.
#[derive(Debug)]
pub struct Place {
    file: PathBuf,
    /// A folder that goes with this value.
    passing: Option<PathBuf>,
}

/// Why there is no place for packets.
#[derive(Debug, thiserror::Error)]
#[error(
    "making a folder for packets in {parent}: {source}; make room there, or keep them with --capture FILE"
)]
pub struct NoPlace {
    parent: String,
    source: io::Error,
}

impl Place {
    /// The file that is named, or one that nobody else can read and that goes with this value.
    ///
    /// # Errors
    /// [`NoPlace`].
    pub fn new(named: Option<&Path>) -> Result<Self, NoPlace> {
        if let Some(file) = named {
            return Ok(Self {
                file: file.to_owned(),
                passing: None,
            });
        }
        let parent = std::env::temp_dir();
        let folder = private_folder::create(&parent, "why").map_err(|source| NoPlace {
            parent: parent.display().to_string(),
            source,
        })?;
        Ok(Self {
            file: folder.join("packets.pcapng"),
            passing: Some(folder),
        })
    }

    /// For a watch.
    pub fn spec(&self) -> CaptureSpec {
        CaptureSpec {
            file: self.file.clone(),
        }
    }

    /// Names the file in the answer only where it stays.
    pub fn tell(&self, answer: &mut Answer) {
        if let Some(capture) = answer.capture.as_mut().filter(|_| self.passing.is_some()) {
            capture.file = None;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(folder) = &self.passing {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Judges the watched connections by the packets, where a watch captured some, and says so in `answer`.
///
/// Most connections began before the capture, so their window scales are not in it; the kernel told them.
///
/// # Errors
/// [`ImportError`] where the capture cannot be read back.
pub fn judge(answer: &mut Answer, outcome: &Outcome) -> Result<Option<Analysis>, ImportError> {
    let Some(captured) = outcome.captured.as_ref().filter(|captured| captured.kept > 0) else {
        return Ok(None);
    };
    let mut read = ReadCapture::open(&captured.file)?;
    tell_window_scales(&mut read, outcome);
    let analysis = read.analysis();
    for connection in &mut answer.connections {
        let ends = [plain(&connection.local), plain(&connection.remote)];
        let found = analysis.connections.iter().find(|found| {
            let of_packets = [plain(&found.client), plain(&found.server)];
            of_packets == ends || of_packets == [ends[1], ends[0]]
        });
        if let Some(found) = found {
            connection.hear_packets(&found.verdict, &found.ledger, &found.intervals);
        }
    }
    Ok(Some(analysis))
}

fn tell_window_scales(read: &mut ReadCapture, outcome: &Outcome) {
    let count = u32::try_from(read.conversations().len()).unwrap_or(u32::MAX);
    for id in (0..count).map(ConversationId) {
        let Some(key) = read.conversations().key(id).copied() else {
            continue;
        };
        let forward = (
            SocketAddr::new(key.src, key.src_port),
            SocketAddr::new(key.dst, key.dst_port),
        );
        for watched in &outcome.connections {
            let ends = (canonical(watched.local), canonical(watched.remote));
            let info = &watched.track.last().info;
            // Windows that this end sends are scaled by what it announced, those of the peer by what the peer did.
            let scales = match (forward == ends, forward == (ends.1, ends.0)) {
                (true, _) => [info.rcv_wscale, info.snd_wscale],
                (_, true) => [info.snd_wscale, info.rcv_wscale],
                _ => continue,
            };
            read.analyzer.tell_window_scales(id, scales);
            break;
        }
    }
}

fn plain(end: &str) -> Option<SocketAddr> {
    end.parse().ok().map(canonical)
}

/// A socket of both families tells IPv4 addresses inside IPv6 ones.
fn canonical(end: SocketAddr) -> SocketAddr {
    SocketAddr::new(end.ip().to_canonical(), end.port())
}

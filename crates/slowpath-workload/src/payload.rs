//! Where sent bytes come from, where received bytes go, and the two loops that move them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use slowpath_units::{ByteCount, Time};

use crate::content::Content;
use crate::context::Context;
use crate::drain::{self, Drain, Drainer};
use crate::progress::Progress;
use crate::socket::{self, SocketError};

/// Where the bytes of an upload come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Made from a seed, without any storage.
    Synthetic {
        /// How much.
        size: ByteCount,
        /// Seed of the [`Content`].
        seed: u64,
    },
    /// Read from a file.
    File(PathBuf),
}

/// Where the bytes of a download go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Sink {
    /// Counted and forgotten.
    #[default]
    Discard,
    /// Compared with the [`Content`] of this seed, then forgotten.
    Verify(u64),
    /// Written to a file.
    File(PathBuf),
}

/// A transfer of bytes that failed on this side.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// The connection failed or the workload had to stop.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The file system failed.
    #[error("{doing} {}: {source}", path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The file system's answer.
        source: io::Error,
    },
    /// The received bytes are not the expected ones.
    #[error("byte {offset} of the received data differs from the data that was sent")]
    Corrupt {
        /// The first wrong byte.
        offset: u64,
    },
}

impl PayloadError {
    fn file(doing: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { doing, path, source }
    }
}

impl Source {
    /// Bytes there are to send.
    ///
    /// # Errors
    /// The file cannot be examined.
    pub fn size(&self) -> Result<u64, PayloadError> {
        match self {
            Self::Synthetic { size, .. } => Ok(size.bytes()),
            Self::File(path) => Ok(path
                .metadata()
                .map_err(PayloadError::file("examining the file", path))?
                .len()),
        }
    }

    pub(crate) fn open(&self, offset: u64) -> Result<OpenSource, PayloadError> {
        match self {
            Self::Synthetic { size, seed } => Ok(OpenSource::Synthetic {
                content: Content::new(*seed),
                at: offset,
                end: size.bytes(),
            }),
            Self::File(path) => {
                let mut file = File::open(path).map_err(PayloadError::file("opening the file", path))?;
                file.seek(SeekFrom::Start(offset))
                    .map_err(PayloadError::file("seeking in the file", path))?;
                Ok(OpenSource::File {
                    file,
                    path: path.clone(),
                })
            }
        }
    }
}

/// A [`Source`] being read.
#[derive(Debug)]
pub(crate) enum OpenSource {
    Synthetic { content: Content, at: u64, end: u64 },
    File { file: File, path: PathBuf },
}

impl OpenSource {
    /// The next bytes; 0 at the end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, PayloadError> {
        match self {
            Self::Synthetic { content, at, end } => {
                let len = end.saturating_sub(*at).min(buffer.len() as u64) as usize;
                content.fill(*at, &mut buffer[..len]);
                *at += len as u64;
                Ok(len)
            }
            Self::File { file, path } => file
                .read(buffer)
                .map_err(PayloadError::file("reading the file", path)),
        }
    }
}

/// A [`Sink`] being written.
#[derive(Debug)]
pub(crate) enum OpenSink {
    Discard,
    Verify { content: Content, at: u64 },
    File { file: File, path: PathBuf },
}

impl Sink {
    pub(crate) fn open(&self, offset: u64) -> Result<OpenSink, PayloadError> {
        Ok(match self {
            Self::Discard => OpenSink::Discard,
            Self::Verify(seed) => OpenSink::Verify {
                content: Content::new(*seed),
                at: offset,
            },
            Self::File(path) => {
                let mut options = File::options();
                options.write(true).create(true).truncate(offset == 0);
                let mut file = options
                    .open(path)
                    .map_err(PayloadError::file("creating the file", path))?;
                file.seek(SeekFrom::Start(offset))
                    .map_err(PayloadError::file("seeking in the file", path))?;
                OpenSink::File {
                    file,
                    path: path.clone(),
                }
            }
        })
    }
}

impl OpenSink {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), PayloadError> {
        match self {
            Self::Discard => Ok(()),
            Self::Verify { content, at } => {
                if let Some(offset) = content.first_difference(*at, bytes) {
                    return Err(PayloadError::Corrupt { offset });
                }
                *at += bytes.len() as u64;
                Ok(())
            }
            Self::File { file, path } => file
                .write_all(bytes)
                .map_err(PayloadError::file("writing the file", path)),
        }
    }
}

/// Sends everything from `source`; does not close.
pub(crate) fn send(
    stream: &TcpStream,
    source: &mut OpenSource,
    progress: &mut Progress,
    context: &Context,
) -> Result<(), PayloadError> {
    let doing = "sending data to";
    let mut buffer = vec![0_u8; BLOCK];
    loop {
        let len = source.read(&mut buffer)?;
        if len == 0 {
            return Ok(());
        }
        let mut rest = &buffer[..len];
        while !rest.is_empty() {
            let count = socket::write(stream, rest, doing, context)?;
            context
                .spend(count as u64)
                .map_err(|stop| SocketError::stopped(doing, stop))?;
            progress.add(count as u64, context.now());
            rest = &rest[count..];
        }
    }
}

/// Receives until the peer closes; returns when the last byte was read, or written by a slow reader.
pub(crate) fn receive(
    stream: &TcpStream,
    sink: &mut OpenSink,
    drain: Option<Drain>,
    progress: &mut Progress,
    context: &Context,
) -> Result<Time, PayloadError> {
    let doing = "receiving data from";
    let stopped = |stop| SocketError::stopped(doing, stop);
    let mut drainer = drain.map(Drainer::new);
    let mut buffer = vec![0_u8; BLOCK];
    let mut last = context.now();
    loop {
        let room = drainer
            .as_ref()
            .map_or(BLOCK, |drainer| drainer.room().min(BLOCK));
        let len = socket::read(stream, &mut buffer[..room], doing, context)?;
        if len == 0 {
            break;
        }
        last = context.now();
        context.spend(len as u64).map_err(stopped)?;
        progress.add(len as u64, last);
        sink.write(&buffer[..len])?;
        if let Some(until) = drainer.as_mut().and_then(|drainer| drainer.take(len, last)) {
            drain::pause(context, until).map_err(stopped)?;
        }
    }
    if let Some(mut drainer) = drainer {
        last = drainer.finish(last);
        drain::pause(context, last).map_err(stopped)?;
    }
    Ok(last)
}

/// Bytes moved by one call: iperf3's default block, and enough for full-size segments on any path.
const BLOCK: usize = 128 * 1024;

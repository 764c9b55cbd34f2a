//! Why the page cannot be served.

use std::io;
use std::path::PathBuf;

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum UiError {
    /// The folder of the history cannot be used.
    #[error("opening the history {folder}: {source}; choose another place with --dir")]
    Folder {
        /// Which folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another page uses this history.
    #[error(
        "opening the history {0}: another `slowpath ui` uses it; end that one, or choose another place with --dir"
    )]
    Used(PathBuf),
    /// The port cannot be had.
    #[error("listening at 127.0.0.1:{port}: {source}; choose another port with --port, or 0 for any")]
    Port {
        /// Which port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// Serving ended by itself.
    #[error("serving the page: {0}; start it again")]
    Serve(io::Error),
}

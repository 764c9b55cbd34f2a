//! What is asked for.

use std::path::PathBuf;

use slowpath_packet::mark::Dscp;
use slowpath_units::{ByteCount, Duration};

use super::change::Change;
use super::layer::Layer;
use crate::measure::s3::{Authorities, Credentials};

/// What to find out.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Services of one host: `iperf3://HOST[:PORT]`, `ssh://HOST[/FILE]`, `ftp://HOST/FILE` or `ftp://HOST/FOLDER/`,
    /// `s3://HOST/BUCKET`; one of each kind at most.
    pub targets: Vec<String>,
    /// How to log in.
    pub access: Access,
    /// Whether the changes are tried with data from the server.
    pub reverse: bool,
    /// Marks to try beside.
    pub marks: Vec<Dscp>,
    /// No test begins that would not be over after so long.
    pub most: Duration,
    /// Most bytes of all tests together, on any address.
    pub cap: Option<ByteCount>,
}

/// What is being done, for a line that updates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Number of the test, from 1.
    pub test: u32,
    /// The layer that is tested.
    pub layer: Layer,
    /// What is different in it; `None` as it is.
    pub change: Option<Change>,
    /// Whether the server sends.
    pub reverse: bool,
}

/// How to log in where a service wants it.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// More options of ssh_config.
    pub ssh_options: Vec<String>,
    /// ssh_config to use instead of the user's own.
    pub ssh_config: Option<PathBuf>,
    /// Keys of the object store.
    pub credentials: Option<Credentials>,
    /// TLS with the object store, with these authorities; plain HTTP if absent.
    pub tls: Option<Authorities>,
}

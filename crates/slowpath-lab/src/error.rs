//! What can keep a lab from being built or finished.

use std::io;

use slowpath_path::BuildError;

/// A lab could not be built or used.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The network cannot be built.
    #[error("the lab's network: {0}")]
    Network(#[from] BuildError),
    /// A host has no port.
    #[error(
        "host \"{host}\" has no port of its name in the network (ports: {ports}); add one or rename the host"
    )]
    NoPort {
        /// The host.
        host: String,
        /// What there is.
        ports: String,
    },
    /// Two hosts share a name or an address.
    #[error("two hosts are called \"{0}\" or share that address; give each its own")]
    Twice(String),
    /// There is no such host, or it is a model where a kernel host is needed.
    #[error("there is no kernel host \"{0}\" in this lab")]
    NoHost(String),
    /// This process may not make namespaces.
    #[error(
        "making a {what} namespace: {source}; run as root, or call slowpath_lab::enter() before starting threads and let `slowpath doctor` say what this machine permits"
    )]
    Namespace {
        /// Which kind.
        what: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A device could not be made.
    #[error(
        "attaching host \"{host}\" to the wire by {how}: {source}; `slowpath doctor` says what this machine permits"
    )]
    Attach {
        /// The host.
        host: String,
        /// TUN or virtual Ethernet.
        how: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A setting was refused.
    #[error("host \"{host}\": setting {what}: {source}{hint}")]
    Setting {
        /// The host.
        host: String,
        /// What was to be set.
        what: String,
        /// The kernel's answer.
        source: io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// A program could not be started.
    #[error("starting \"{program}\" in host \"{host}\": {source}{hint}")]
    Spawn {
        /// The host.
        host: String,
        /// The program.
        program: String,
        /// The kernel's answer.
        source: io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// A thread could not be started.
    #[error("starting the thread {what}: {source}")]
    Thread {
        /// Which.
        what: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

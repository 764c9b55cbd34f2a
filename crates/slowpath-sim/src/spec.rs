//! What a run consists of, as plain data.

use slowpath_endpoint::HostConfig;
use slowpath_endpoint::app::Behaviour;
use slowpath_path::{BuildError, NetworkSpec};
use slowpath_units::{Duration, Time};

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimSpec {
    /// The hosts.
    pub hosts: Vec<SimHost>,
    /// The network between them.
    pub network: NetworkSpec,
    /// Seed of every random stream.
    pub seed: u64,
    /// When the run is given up, from its start.
    pub deadline: Duration,
    /// How often connections are sampled; `None` takes no samples.
    pub sample_every: Option<Duration>,
}

/// One host of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimHost {
    /// Its name, and the name of its port in the network.
    pub name: String,
    /// What it is.
    pub config: HostConfig,
    /// Its programs and when each starts.
    pub programs: Vec<(Time, Behaviour)>,
}

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The network contradicts itself.
    #[error("the network cannot be built: {0}")]
    Network(#[from] BuildError),
    /// A host has no port in the network.
    #[error(
        "host \"{host}\" has no port in the network; its ports are {ports}: name one of them after the host"
    )]
    NoPort {
        /// The host.
        host: String,
        /// The ports there are.
        ports: String,
    },
}

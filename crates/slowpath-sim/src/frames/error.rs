//! Why a generator cannot run.

use slowpath_path::BuildError;

/// Why a generator's run is not possible.
#[derive(Debug, thiserror::Error)]
pub enum FramesError {
    /// The network cannot be built.
    #[error("building the network between generator and receiver: {0}")]
    Network(#[from] BuildError),
    /// Another kind of job beside the generator.
    #[error(
        "the job \"{job}\" stands beside a frame generator, which has no hosts that could do it; make all jobs of the variant `frames`, or run it as a variant of its own"
    )]
    OtherJob {
        /// Its name.
        job: String,
    },
    /// A job names a host without a port.
    #[error("the job \"{job}\" uses \"{host}\", which has no port of the network")]
    NoPort {
        /// Its name.
        job: String,
        /// The host.
        host: String,
    },
}

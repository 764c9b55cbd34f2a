//! Why a device cannot be put on a path.

use slowpath_scenario::device::DeviceUse;

/// Why a device cannot be put on a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The configuration does not have the port.
    #[error("putting \"{file}\" on a path: it has no port \"{port}\"; its ports are {known}")]
    UnknownPort {
        /// The configuration.
        file: String,
        /// The port asked for.
        port: String,
        /// The ports there are.
        known: String,
    },
    /// The device is of no system that can be put on a path.
    #[error("putting \"{file}\" on a path: a device of system \"{system}\" is not modelled")]
    UnknownSystem {
        /// The configuration.
        file: String,
        /// The system.
        system: String,
    },
}

/// The device does not have the port that it is asked for.
pub(super) fn unknown_port<'p>(device: &DeviceUse, known: impl Iterator<Item = &'p String>) -> DeviceError {
    DeviceError::UnknownPort {
        file: device.file.clone(),
        port: device.port.clone(),
        known: known.map(String::as_str).collect::<Vec<_>>().join(", "),
    }
}

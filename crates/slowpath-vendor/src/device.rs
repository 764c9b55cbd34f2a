//! What a configured device does to the packets that it forwards, as elements of the network model.

mod ios;
mod rtx;

use slowpath_scenario::device::{DeviceElements, DeviceUse};

use crate::cisco;
use crate::reading::{Config, Language, Reading, read_for};

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

/// Reads a device's configuration and says what the device does in this use, with the reading for its findings.
///
/// # Errors
/// The configuration does not have the port, or is of a system that is no router.
pub fn elements(device: &DeviceUse, bytes: &[u8]) -> Result<(DeviceElements, Reading), DeviceError> {
    let language = if device.system.starts_with("cisco") {
        Language::Ios
    } else {
        Language::Rtx
    };
    let reading = read_for(language, Some(&device.system), &device.file, bytes);
    let elements = match &reading.config {
        Config::Rtx(config) => rtx::elements(config, device)?,
        Config::Ios(config) => ios::elements(config, device)?,
        _ => {
            return Err(DeviceError::UnknownSystem {
                file: device.file.clone(),
                system: device.system.clone(),
            });
        }
    };
    Ok((elements, reading))
}

/// The names of a policy's classes, with the numbers that they have among a device's elements.
pub fn class_names(config: &cisco::Config, policy: &cisco::PolicyMap) -> Vec<(u8, String)> {
    ios::names(config, policy)
}

fn unknown_port<'p>(device: &DeviceUse, known: impl Iterator<Item = &'p String>) -> DeviceError {
    DeviceError::UnknownPort {
        file: device.file.clone(),
        port: device.port.clone(),
        known: known.map(String::as_str).collect::<Vec<_>>().join(", "),
    }
}

//! What a configured device does to the packets that it forwards, as elements of the network model.

mod error;
mod ios;
mod rtx;

use slowpath_scenario::device::{DeviceElements, DeviceUse};

pub use error::DeviceError;

use crate::cisco;
use crate::reading::{Config, Language, Reading, read_for};

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

/// What a Cisco router does with packets that come in by the port of `device`; `None` where that has no input policy.
pub fn arriving(config: &cisco::Config, device: &DeviceUse) -> Option<DeviceElements> {
    ios::arriving(config, device)
}

/// The names of a policy's classes, with the numbers that they have among a device's elements.
pub fn class_names(config: &cisco::Config, policy: &cisco::PolicyMap) -> Vec<(u8, String)> {
    ios::names(config, policy)
}

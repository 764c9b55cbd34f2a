//! Devices on the path whose own configuration says what they do.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slowpath_path::{Classify, ElementKind, Trace};
use slowpath_units::BitRate;

use crate::assumption::Assumption;
use crate::host::HostSettings;

/// One use of a device on a path: which configuration, and which of its ports the packets leave by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeviceUse {
    /// The configuration's file name as written, relative to the experiment file.
    pub file: String,
    /// The device's system or model, such as `rtx2000` or `cisco-ios`.
    pub system: String,
    /// The port that packets leave by.
    pub port: String,
    /// Rate of that port's line, counted with preamble and gap.
    pub line: BitRate,
    /// Whether a device at the other end takes the tunnel away again.
    pub far: bool,
}

/// What a device does with the packets of one [`DeviceUse`], as elements in the order in which a packet meets them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceElements {
    /// The elements.
    pub elements: Vec<DevicePart>,
    /// What the configuration leaves open.
    pub assumptions: Vec<Assumption>,
}

/// One element of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevicePart {
    /// Its name within the device.
    pub name: String,
    /// What it does.
    pub does: ElementKind,
    /// Which packets it is for: those that this sends to output 0; output 1 passes it by. `None` is for all.
    pub only: Option<Classify>,
}

impl DevicePart {
    /// An element for every packet.
    pub fn new(name: &str, does: ElementKind) -> Self {
        Self {
            name: name.to_owned(),
            does,
            only: None,
        }
    }
}

/// Everything that the caller has read from other files for an experiment: device configurations, recorded rates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fragments {
    hosts: BTreeMap<String, HostSettings>,
    devices: BTreeMap<DeviceUse, DeviceElements>,
    traces: BTreeMap<String, Trace>,
}

impl Fragments {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the file called `name` sets on the hosts that name it.
    pub fn insert(&mut self, name: String, settings: HostSettings) {
        self.hosts.insert(name, settings);
    }

    /// What a device does in one of its uses.
    pub fn insert_device(&mut self, device: DeviceUse, elements: DeviceElements) {
        self.devices.insert(device, elements);
    }

    /// What the file called `name` recorded of a link's rate.
    pub fn insert_trace(&mut self, name: String, trace: Trace) {
        self.traces.insert(name, trace);
    }

    pub(crate) fn trace(&self, name: &str) -> Option<&Trace> {
        self.traces.get(name)
    }

    pub(crate) fn host(&self, name: &str) -> Option<&HostSettings> {
        self.hosts.get(name)
    }

    pub(crate) fn device(&self, device: &DeviceUse) -> Option<&DeviceElements> {
        self.devices.get(device)
    }
}

impl<const N: usize> From<[(String, HostSettings); N]> for Fragments {
    fn from(hosts: [(String, HostSettings); N]) -> Self {
        Self {
            hosts: hosts.into(),
            ..Self::default()
        }
    }
}

/// Whether `system` names a device whose configuration can be read.
pub(crate) fn known_system(system: &str) -> bool {
    let lower = system.to_ascii_lowercase();
    ["rtx", "nvr", "vrx", "fwx", "rtv"]
        .iter()
        .any(|family| lower.starts_with(family))
        || matches!(lower.as_str(), "cisco-ios" | "cisco-iosxe")
}

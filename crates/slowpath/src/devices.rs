//! Device configurations read for the hosts of an experiment.

use slowpath_scenario::{HostSettings, System};
use slowpath_vendor::Language;

/// What the configuration `text` in `file` sets on a host of `system`; `None` if there is no reader for it.
pub fn host_settings(file: &str, text: &str, system: System) -> Option<HostSettings> {
    let language = match system {
        System::CiscoIosXe | System::CiscoIos => Language::Ios,
        System::Linux => Language::Sysctl,
        System::WindowsIperf3 => return None,
    };
    Some(slowpath_vendor::read(language, file, text.as_bytes()).settings)
}

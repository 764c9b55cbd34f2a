//! Device configurations read for the hosts of an experiment.

use slowpath_scenario::HostSettings;

/// What the TCP lines of a Cisco router's configuration set.
pub fn cisco_host(_file: &str, _text: &str) -> HostSettings {
    HostSettings::default()
}

/// What the sysctl lines of a Linux host set.
pub fn linux_host(_file: &str, _text: &str) -> HostSettings {
    HostSettings::default()
}

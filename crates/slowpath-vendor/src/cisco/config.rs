//! What an IOS configuration says, as one value.

use std::collections::BTreeMap;

use slowpath_packet::Dscp;

use super::interface::Interface;
use super::policy::{ClassMap, PolicyMap};

/// What an IOS configuration says about throughput.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// The first number of `version`: 16 and later are IOS-XE alone, 15 was of both.
    pub version: Option<u32>,
    /// `ip tcp window-size` in bytes.
    pub window: Option<u64>,
    /// `ip tcp selective-ack`.
    pub selective_ack: bool,
    /// `ip tcp timestamp`.
    pub timestamp: bool,
    /// `ip tcp ecn`.
    pub ecn: bool,
    /// `ip tcp mss` in bytes.
    pub mss: Option<u16>,
    /// `ip tcp path-mtu-discovery`.
    pub path_mtu_discovery: bool,
    /// `ip ftp passive`; on by default.
    pub ftp_active: bool,
    /// `ip tftp blocksize` in bytes.
    pub tftp_block: Option<u64>,
    /// `ip ssh window-size` in bytes.
    pub ssh_window: Option<u64>,
    /// `ip ssh bulk-mode` with its window in bytes.
    pub ssh_bulk_mode: Option<u64>,
    /// Mark of the device's own SSH packets.
    pub ssh_dscp: Option<Dscp>,
    /// The interfaces by name.
    pub interfaces: BTreeMap<String, Interface>,
    /// `class-map` by name.
    pub class_maps: BTreeMap<String, ClassMap>,
    /// `policy-map` by name.
    pub policy_maps: BTreeMap<String, PolicyMap>,
}

impl Config {
    /// Whether a policy's class is there: a `class-map` of that name, or `class-default`, which every device has.
    pub fn has_class(&self, name: &str) -> bool {
        name == "class-default" || self.class_maps.contains_key(name)
    }
}

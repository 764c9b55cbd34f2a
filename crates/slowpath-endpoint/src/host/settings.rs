//! What a host is, as plain data.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use slowpath_units::Duration;

use crate::tcp;

/// What a host is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HostConfig {
    /// Its addresses; the first of each family is the source of what it opens.
    pub addresses: Vec<IpAddr>,
    /// Its TCP.
    pub tcp: tcp::Config,
    /// Largest IP packet in bytes.
    pub mtu: u32,
    /// How long receiving a packet keeps the host busy, and how many may wait meanwhile; without it not at all.
    #[serde(default)]
    pub input: Option<InputLimit>,
}

/// The cost of receiving packets on a slow machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct InputLimit {
    /// How long a packet keeps the host from taking the next one.
    pub per_packet: Duration,
    /// Packets that may wait; one more is dropped.
    pub queue: u32,
}

impl InputLimit {
    /// A virtual IOS-XE router's own TCP: 15 Mbit/s of 1514-byte frames are 1239 packets a second.
    ///
    /// *Fitted* to the plateau that a tuned router's FTP download was seen to reach; the published data do not decide
    /// what sets it. The queue is the default hold queue.
    pub const CISCO_IOS_XE: Self = Self {
        per_packet: Duration::from_micros(807),
        queue: 375,
    };

    /// A virtual IOS router's own TCP: 4.5 Mbit/s of 1514-byte frames are 370 packets a second.
    ///
    /// *Fitted* to a tuned router's FTP download before its window closes: about 4 Mbit/s, for 5 to 6 s. The queue is the default
    /// hold queue.
    pub const CISCO_IOS: Self = Self {
        per_packet: Duration::from_micros(2_700),
        queue: 75,
    };
}

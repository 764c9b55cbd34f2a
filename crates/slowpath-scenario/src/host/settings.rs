//! What can be set on a host, from an experiment file or from a device's own configuration.

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::{BitRate, ByteCount, Duration};

/// Settings of one host, each present only where somebody wrote it.
///
/// The readers of `slowpath-vendor` make these from configuration lines, and an experiment file's host
/// table is read into one as well. [`HostSettings::over`] lays one on another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostSettings {
    /// Congestion control of the host as a sender: `cubic`, `bbr`, `reno`.
    pub congestion_control: Option<String>,
    /// Largest receive window in bytes, as a device or an application sets it.
    pub window: Option<ByteCount>,
    /// Send buffer in bytes; fixed, so no growth.
    pub send_buffer: Option<ByteCount>,
    /// Whether window scaling is offered (RFC 7323).
    pub window_scaling: Option<bool>,
    /// Whether selective acknowledgement is offered (RFC 2018).
    pub sack: Option<bool>,
    /// Whether timestamps are offered (RFC 7323).
    pub timestamps: Option<bool>,
    /// Use of explicit congestion notification (RFC 3168).
    pub ecn: Option<EcnMode>,
    /// Largest segment payload in bytes that the host announces.
    pub mss: Option<u16>,
    /// Initial congestion window in segments.
    pub initial_window: Option<u32>,
    /// Congestion window in segments at which slow start ends.
    pub slow_start_threshold: Option<u32>,
    /// Automatic receive buffer: minimum, default and maximum in bytes (`net.ipv4.tcp_rmem`).
    pub rmem: Option<[u64; 3]>,
    /// Automatic send buffer: minimum, default and maximum in bytes (`net.ipv4.tcp_wmem`).
    pub wmem: Option<[u64; 3]>,
    /// Largest receive buffer that a program may ask for, in bytes (`net.core.rmem_max`).
    pub rmem_max: Option<u64>,
    /// Largest send buffer that a program may ask for, in bytes (`net.core.wmem_max`).
    pub wmem_max: Option<u64>,
    /// Upper limit of the sending rate of each connection.
    pub pacing: Option<BitRate>,
    /// Mark of the packets that the host sends.
    pub dscp: Option<Dscp>,
    /// The receiving application's storage, when it is slower than the network.
    pub storage: Option<Storage>,
    /// Queueing discipline of the host's interface, such as `fq` (`net.core.default_qdisc`).
    pub qdisc: Option<String>,
    /// Where each setting came from, in the order of reading.
    pub origins: Vec<SettingOrigin>,
}

impl HostSettings {
    /// These settings, and below them those of `below` that are not set here.
    #[must_use]
    pub fn over(mut self, below: Self) -> Self {
        macro_rules! fill {
            ($($field:ident),*) => { $(self.$field = self.$field.take().or(below.$field);)* };
        }
        fill!(
            congestion_control,
            window,
            send_buffer,
            window_scaling,
            sack,
            timestamps,
            ecn,
            mss,
            initial_window,
            slow_start_threshold,
            rmem,
            wmem,
            rmem_max,
            wmem_max,
            pacing,
            dscp,
            storage,
            qdisc
        );
        let mut origins = below.origins;
        origins.append(&mut self.origins);
        self.origins = origins;
        self
    }
}

/// Where one setting came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingOrigin {
    /// Name of the field of [`HostSettings`].
    pub setting: String,
    /// The line as written.
    pub line: String,
    /// `file:line`.
    pub place: String,
}

/// Use of explicit congestion notification, as Linux numbers it in `net.ipv4.tcp_ecn`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// Neither asked for nor accepted (0).
    Off,
    /// Asked for and accepted (1).
    On,
    /// Accepted when the peer asks (2, the kernel's default).
    #[default]
    Passive,
}

/// Storage behind the receiving application: how fast it empties the receive buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// Long-run rate of writing, of payload.
    pub rate: BitRate,
    /// Bytes written at once.
    pub unit: ByteCount,
    /// Part of the time of each unit in which the socket is not read at all.
    pub pause: Duration,
    /// Bytes read from the socket at once, outside the pause.
    pub chunk: ByteCount,
}

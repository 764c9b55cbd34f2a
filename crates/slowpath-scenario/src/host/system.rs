//! The endpoint systems: what each does when nothing is configured.

use std::fmt;

use serde::{Deserialize, Serialize};
use slowpath_endpoint::InputLimit;
use slowpath_units::{BitRate, ByteCount, Duration};

use crate::host::settings::{HostSettings, SettingOrigin, Storage};
use crate::host::stack::Standing;

/// A kind of host, with the habits of its TCP and of its applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// Linux as distributed.
    Linux,
    /// The Windows build of iperf3 3.1.3: its Cygwin library fixes both socket buffers at 212,992 bytes.
    WindowsIperf3,
    /// A Cisco router with IOS-XE 16, as FTP client.
    CiscoIosXe,
    /// A Cisco router with IOS 15, as FTP client.
    CiscoIos,
}

/// Which stack runs a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StackChoice {
    /// The kernel's stack in a namespace.
    Kernel,
    /// A model endpoint on the same wire.
    Model,
}

impl System {
    /// All systems with their names in experiment files.
    pub const ALL: &[(&'static str, Self)] = &[
        ("linux", Self::Linux),
        ("windows-iperf3", Self::WindowsIperf3),
        ("cisco-iosxe", Self::CiscoIosXe),
        ("cisco-ios", Self::CiscoIos),
    ];

    /// The name in experiment files.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, system)| *system == self)
            .map_or("", |(name, _)| *name)
    }

    /// The stack that imitates it best in real time: routers' windows cannot be pinned on the kernel.
    pub const fn stack(self) -> StackChoice {
        match self {
            Self::Linux | Self::WindowsIperf3 => StackChoice::Kernel,
            Self::CiscoIosXe | Self::CiscoIos => StackChoice::Model,
        }
    }

    /// Whether window scaling is offered only when the window needs it, and with the smallest shift.
    pub const fn scales_only_when_needed(self) -> bool {
        matches!(self, Self::CiscoIosXe | Self::CiscoIos)
    }

    /// What the system does when nothing is configured.
    pub fn defaults(self) -> HostSettings {
        match self {
            Self::Linux => HostSettings::default(),
            Self::WindowsIperf3 => HostSettings {
                window: Some(ByteCount::new(CYGWIN_BUFFER)),
                send_buffer: Some(ByteCount::new(CYGWIN_BUFFER)),
                window_scaling: Some(true),
                sack: Some(true),
                timestamps: Some(false),
                origins: vec![origin(
                    "window",
                    "Cygwin 2.5.1 fixes both buffers of every socket at 212992 bytes",
                )],
                ..HostSettings::default()
            },
            Self::CiscoIosXe => cisco(None),
            Self::CiscoIos => cisco(Some(IOS_STORAGE)),
        }
    }

    /// What receiving costs the system's own TCP, where it is slow.
    pub const fn input(self) -> Option<InputLimit> {
        match self {
            Self::Linux | Self::WindowsIperf3 => None,
            Self::CiscoIosXe => Some(InputLimit::CISCO_IOS_XE),
            Self::CiscoIos => Some(InputLimit::CISCO_IOS),
        }
    }

    /// Parameters of the system's model that no configuration line sets, with how they were come by.
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::Linux => &[],
            Self::WindowsIperf3 => &WINDOWS_PARAMETERS,
            Self::CiscoIosXe => &IOS_XE_PARAMETERS,
            Self::CiscoIos => &IOS_PARAMETERS,
        }
    }
}

/// One parameter of a system's model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// What it is.
    pub name: &'static str,
    /// Its value, the one that the model runs with.
    pub value: Amount,
    /// How it was come by.
    pub standing: Standing,
    /// From what.
    pub source: &'static str,
}

/// A value with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes, to be read to the byte.
    Bytes(u64),
    /// An amount of data in the unit that suits it.
    Size(ByteCount),
    /// Bytes per second.
    Rate(BitRate),
    /// A span of time.
    Span(Duration),
    /// Packets per second, as the time that each of them takes.
    Packets(Duration),
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes} B"),
            Self::Size(size) => write!(f, "{size}"),
            Self::Rate(rate) => write!(f, "{} B/s", rate.bits_per_s() / 8),
            Self::Span(span) => write!(f, "{span}"),
            Self::Packets(each) => write!(f, "{} packets/s", 1_000_000_000 / each.nanos().max(1)),
        }
    }
}

fn cisco(storage: Option<Storage>) -> HostSettings {
    HostSettings {
        window: Some(ByteCount::new(CISCO_FTP_BUFFER)),
        window_scaling: Some(false),
        sack: Some(false),
        timestamps: Some(false),
        congestion_control: Some("reno".to_owned()),
        mss: Some(1460),
        storage,
        origins: vec![origin(
            "window",
            "the FTP client's 16384-byte buffer (fitted, not documented)",
        )],
        ..HostSettings::default()
    }
}

fn origin(setting: &str, line: &str) -> SettingOrigin {
    SettingOrigin {
        setting: setting.to_owned(),
        line: line.to_owned(),
        place: "system default".to_owned(),
    }
}

/// Buffer of every socket in Cygwin 2.5.1 on 64-bit Windows, in bytes.
const CYGWIN_BUFFER: u64 = 212_992;

/// iperf3's write to a TCP socket in bytes; Winsock takes a whole one beyond the send buffer.
pub(crate) const IPERF3_WRITE: u64 = 131_072;

/// Every window seen from the two routers by default is this less whole segments of 1460 bytes.
const CISCO_FTP_BUFFER: u64 = 16_384;

/// 86,948 bytes per second in units of 64 KiB: the long-run rate of the tuned IOS router.
const IOS_STORAGE: Storage = Storage {
    rate: BitRate::new(86_948 * 8),
    unit: ByteCount::new(65_536),
    pause: Duration::from_millis(130),
    chunk: ByteCount::new(1_460),
};

const CISCO_BUFFER: Parameter = Parameter {
    name: "FTP client's receive buffer",
    value: Amount::Bytes(CISCO_FTP_BUFFER),
    standing: Standing::Fitted,
    source: "windows of 14924, 12004 and 10544 bytes are 16384 less 1, 3 and 4 segments (iosxe-default)",
};

const IOS_XE_PARAMETERS: [Parameter; 2] = [
    CISCO_BUFFER,
    Parameter {
        name: "packets its TCP takes",
        value: Amount::Packets(InputLimit::CISCO_IOS_XE.per_packet),
        standing: Standing::Fitted,
        source: "the plateau of 15 Mbit/s (iosxe-tuned); what sets it is not decided by the published data",
    },
];

const IOS_PARAMETERS: [Parameter; 5] = [
    CISCO_BUFFER,
    Parameter {
        name: "storage rate",
        value: Amount::Rate(IOS_STORAGE.rate),
        standing: Standing::Fitted,
        source: "52428800 bytes in 602.993 s (ios-tuned)",
    },
    Parameter {
        name: "storage unit",
        value: Amount::Size(IOS_STORAGE.unit),
        standing: Standing::Assumed,
        source: "a stall of about 100 ms every 800 ms, in which 65536 bytes arrive",
    },
    Parameter {
        name: "time of each unit without reading",
        value: Amount::Span(IOS_STORAGE.pause),
        standing: Standing::Assumed,
        source: "long enough that a full window of 16 KiB is used up and the sender stalls once per unit",
    },
    Parameter {
        name: "packets its TCP takes",
        value: Amount::Packets(InputLimit::CISCO_IOS.per_packet),
        standing: Standing::Fitted,
        source: "4 Mbit/s before the window closes (ios-tuned)",
    },
];

const WINDOWS_PARAMETERS: [Parameter; 2] = [
    Parameter {
        name: "socket buffers",
        value: Amount::Bytes(CYGWIN_BUFFER),
        standing: Standing::Documented,
        source: "Cygwin 2.5.1, removed in 2.7.0",
    },
    Parameter {
        name: "write beyond the send buffer",
        value: Amount::Bytes(IPERF3_WRITE),
        standing: Standing::Assumed,
        source: "Winsock takes a whole write while less than the buffer's size waits; with half-empty buffers 61440 \
                 bytes per 250 ms could not be reached, and 97 % of it was published",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_system_is_what_it_runs_with() {
        let value = |system: System, name: &str| {
            let found = system.parameters().iter().find(|one| one.name == name);
            found.map(|one| one.value.to_string())
        };
        for (system, name, text) in [
            (System::CiscoIos, "packets its TCP takes", "370 packets/s"),
            (System::CiscoIosXe, "packets its TCP takes", "1239 packets/s"),
            (System::CiscoIos, "storage rate", "86948 B/s"),
            (System::CiscoIos, "storage unit", "64 KiB"),
            (System::CiscoIos, "time of each unit without reading", "130 ms"),
            (System::CiscoIosXe, "FTP client's receive buffer", "16384 B"),
            (System::WindowsIperf3, "socket buffers", "212992 B"),
            (System::WindowsIperf3, "write beyond the send buffer", "131072 B"),
        ] {
            assert_eq!(value(system, name).as_deref(), Some(text), "{name}");
        }
        for (_, system) in System::ALL {
            let told = system.parameters().iter().find_map(|one| match one.value {
                Amount::Packets(each) => Some(each),
                _ => None,
            });
            assert_eq!(told, system.input().map(|input| input.per_packet), "{system:?}");
        }
    }
}

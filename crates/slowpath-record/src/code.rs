//! Codes of what is found of a run's health.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What was found, as a stable code. Its name in JSON is in kebab case, such as `release-late`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// Packets left the wire later than the model says.
    ReleaseLate,
    /// When packets reached the wire is not known well enough.
    ArrivalUncertain,
    /// The rarest were so late that what gathered meanwhile may have overflowed a queue.
    QueueBunched,
    /// Waiting for the wire made round trips longer.
    PathLonger,
    /// The wire stood still.
    WireStalled,
    /// The wire waited for a processor.
    WireStarved,
    /// What the machine did to the run's figures, by replaying its disturbances.
    MachineEffect,
    /// More threads wanted the processors than there are.
    Crowded,
    /// A host's device dropped packets outside the model.
    TunDrops,
    /// A host's kernel refused packets of the wire.
    Refused,
    /// Programs' sockets dropped packets outside the model.
    SocketDrops,
    /// Packets that passed are not in the capture.
    CaptureLost,
    /// Other guests of the machine took its processors.
    Steal,
    /// The processors were in use all the time.
    Busy,
    /// A program of the run kept a processor busy all the time.
    ProcessorBound,
    /// The time of day moved.
    ClockJump,
    /// The machine was suspended.
    Suspended,
    /// More was on the way than the wire has memory for.
    Memory,
    /// A device of the lab failed.
    Device,
    /// A job did not come to its end: a program failed.
    Incomplete,
    /// A transfer did not come to its end in time: the network let it starve.
    Unfinished,
    /// Packets carried another mark than the settings ask for.
    Marks,
    /// A code of another version's record.
    #[serde(untagged)]
    Other(String),
}

impl Code {
    /// The name in JSON and in tables.
    pub fn name(&self) -> &str {
        match self {
            Self::ReleaseLate => "release-late",
            Self::ArrivalUncertain => "arrival-uncertain",
            Self::QueueBunched => "queue-bunched",
            Self::PathLonger => "path-longer",
            Self::WireStalled => "wire-stalled",
            Self::WireStarved => "wire-starved",
            Self::MachineEffect => "machine-effect",
            Self::Crowded => "crowded",
            Self::TunDrops => "tun-drops",
            Self::Refused => "refused",
            Self::SocketDrops => "socket-drops",
            Self::CaptureLost => "capture-lost",
            Self::Steal => "steal",
            Self::Busy => "busy",
            Self::ProcessorBound => "processor-bound",
            Self::ClockJump => "clock-jump",
            Self::Suspended => "suspended",
            Self::Memory => "memory",
            Self::Device => "device",
            Self::Incomplete => "incomplete",
            Self::Unfinished => "unfinished",
            Self::Marks => "marks",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_json_are_the_names_in_tables() {
        for code in [
            Code::ReleaseLate,
            Code::ArrivalUncertain,
            Code::QueueBunched,
            Code::PathLonger,
            Code::WireStalled,
            Code::WireStarved,
            Code::MachineEffect,
            Code::Crowded,
            Code::TunDrops,
            Code::Refused,
            Code::SocketDrops,
            Code::CaptureLost,
            Code::Steal,
            Code::Busy,
            Code::ProcessorBound,
            Code::ClockJump,
            Code::Suspended,
            Code::Memory,
            Code::Device,
            Code::Incomplete,
            Code::Unfinished,
            Code::Marks,
        ] {
            let text = serde_json::to_string(&code).unwrap();
            assert_eq!(text, format!("\"{code}\""));
            assert_eq!(serde_json::from_str::<Code>(&text).unwrap(), code);
        }
    }

    #[test]
    fn codes_of_other_versions_stay_readable() {
        let old: Code = serde_json::from_str("\"moon-phase\"").unwrap();
        assert_eq!(old, Code::Other("moon-phase".to_owned()));
        assert_eq!(serde_json::to_string(&old).unwrap(), "\"moon-phase\"");
    }
}

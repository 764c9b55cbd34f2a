//! The changes that a capture can suggest, as interventions in terms of roles, and their words.
//!
//! A capture does not know host names or elements: what it asks for is of the sender, the receiver, the whole path or
//! its slowest link, and whoever plans the run fills the roles.

use std::fmt;

use slowpath_packet::Dscp;
use slowpath_scenario::network::QueueSize;
use slowpath_scenario::{Intervention, Place, Who};
use slowpath_units::{ByteCount, Ratio};
use slowpath_verdict::message::{Bytes, Count, named};

use crate::catalogue::Message;

/// A receiver's window of so many bytes.
pub const fn window(bytes: u64) -> Intervention {
    Intervention::SetWindow {
        host: Who::Receiver,
        window: ByteCount::new(bytes),
    }
}

/// A socket buffer of so many bytes at the sender.
pub const fn send_buffer(bytes: u64) -> Intervention {
    Intervention::SetSendBuffer {
        host: Who::Sender,
        buffer: ByteCount::new(bytes),
    }
}

/// A receiving program that never waits.
pub const fn reader_without_limit() -> Intervention {
    Intervention::SetReader {
        host: Who::Receiver,
        rate: None,
    }
}

/// A sending program that never waits.
pub const fn writer_without_limit() -> Intervention {
    Intervention::SetWriter {
        host: Who::Sender,
        rate: None,
    }
}

/// A path without loss of its own.
pub const fn no_loss() -> Intervention {
    Intervention::SetLoss {
        place: Place::Everywhere,
        chance: Ratio::ZERO,
    }
}

/// A path without its policers.
pub const fn no_policer() -> Intervention {
    Intervention::RemovePolicer {
        place: Place::Everywhere,
    }
}

/// A path whose devices handle every packet at once.
pub const fn no_device_limit() -> Intervention {
    Intervention::LiftDeviceLimit {
        place: Place::Everywhere,
    }
}

/// The transfer split over so many connections.
pub const fn streams(count: u32) -> Intervention {
    Intervention::SetStreams { count }
}

/// Another congestion control at the sender.
pub fn congestion_control(control: Control) -> Intervention {
    Intervention::SetCongestionControl {
        host: Who::Sender,
        name: control.name().to_owned(),
    }
}

/// A bottleneck of so many per cent of its rate.
pub const fn bottleneck(percent: u32) -> Intervention {
    Intervention::ScaleRate {
        place: Place::Bottleneck(Who::Receiver),
        percent,
    }
}

/// A queue of so many bytes before the bottleneck.
pub const fn queue(bytes: u64) -> Intervention {
    Intervention::ResizeQueue {
        place: Place::Bottleneck(Who::Receiver),
        queue: QueueSize::Bytes(ByteCount::new(bytes)),
    }
}

/// A sender whose OpenSSH does not mark its packets.
pub const fn ssh_without_mark() -> Intervention {
    Intervention::SetIpQos {
        host: Who::Sender,
        interactive: None,
        bulk: None,
    }
}

/// A first router on the way that takes every mark off.
pub const fn marks_rewritten() -> Intervention {
    Intervention::Remark {
        place: Place::Towards(Who::Receiver),
        dscp: Dscp::DEFAULT,
    }
}

/// A congestion control as far as a prediction knows one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Control {
    /// NewReno (RFC 6582).
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BBR: loss below a few per cent does not hold it back.
    Bbr,
}

impl Control {
    /// The control that a change asks for; `None` for other changes and for controls that no prediction knows.
    pub fn of(change: &Intervention) -> Option<Self> {
        let Intervention::SetCongestionControl { name, .. } = change else {
            return None;
        };
        [Self::Reno, Self::Cubic, Self::Bbr]
            .into_iter()
            .find(|control| control.name() == name)
    }

    /// Its name in an experiment file and in the kernel.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reno => "Reno",
            Self::Cubic => "CUBIC",
            Self::Bbr => "BBR",
        })
    }
}

/// Whether a change is one of marks and of nothing else.
pub const fn is_of_marks(change: &Intervention) -> bool {
    matches!(
        change,
        Intervention::SetIpQos { .. } | Intervention::Remark { .. } | Intervention::SetDscp { .. }
    )
}

/// What a change makes of the transfer, as a noun: `a receiver's window of 2,500,000 bytes`.
///
/// A change that no capture suggests is given in its own words.
pub fn words(change: &Intervention) -> String {
    match change {
        Intervention::SetWindow { window, .. } => Message::Window {
            window: Bytes(window.bytes()),
        },
        Intervention::SetSendBuffer { buffer, .. } => Message::SendBuffer {
            buffer: Bytes(buffer.bytes()),
        },
        Intervention::SetReader { rate: None, .. } => Message::Reader {},
        Intervention::SetWriter { rate: None, .. } => Message::Writer {},
        Intervention::SetLoss { chance, .. } if *chance == Ratio::ZERO => Message::NoLoss {},
        Intervention::RemovePolicer { .. } => Message::NoPolicer {},
        Intervention::LiftDeviceLimit { .. } => Message::NoDeviceLimit {},
        Intervention::SetStreams { count } => Message::Streams {
            count: Count((*count).into()),
        },
        Intervention::SetCongestionControl { name, .. } => Message::Control {
            control: Control::of(change).map_or_else(|| named(name), named),
        },
        Intervention::ScaleRate { percent, .. } => Message::BottleneckRate {
            percent: Count((*percent).into()),
        },
        Intervention::ResizeQueue {
            queue: QueueSize::Bytes(queue),
            ..
        } => Message::Queue {
            queue: Bytes(queue.bytes()),
        },
        Intervention::SetIpQos {
            interactive: None,
            bulk: None,
            ..
        } => Message::NoMark {},
        Intervention::Remark { dscp, .. } if *dscp == Dscp::DEFAULT => Message::Remark {},
        other => Message::OtherChange { words: named(other) },
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_words() {
        for (change, text) in [
            (window(2_500_000), "a receiver's window of 2,500,000 bytes"),
            (send_buffer(1 << 20), "a send buffer of 1,048,576 bytes"),
            (reader_without_limit(), "a receiving program that never waits"),
            (writer_without_limit(), "a sending program that never waits"),
            (no_loss(), "a path without loss of its own"),
            (no_policer(), "a path without the policer"),
            (no_device_limit(), "devices on the path without their limit"),
            (streams(4), "4 connections at once"),
            (
                congestion_control(Control::Cubic),
                "CUBIC as the sender's congestion control",
            ),
            (bottleneck(200), "a bottleneck of 200 % of its rate"),
            (
                queue(400_000),
                "a queue of 400,000 bytes or more before the bottleneck",
            ),
            (ssh_without_mark(), "no mark from OpenSSH (IPQoS none)"),
            (marks_rewritten(), "every mark taken off by the first router"),
        ] {
            assert_eq!(words(&change), text);
        }
        assert_eq!(
            words(&Intervention::SetEcn {
                host: Who::Sender,
                on: true
            }),
            "turn explicit congestion notification on on the sender"
        );
    }

    #[test]
    fn marks_are_told_apart() {
        assert!(is_of_marks(&ssh_without_mark()) && is_of_marks(&marks_rewritten()));
        assert!(!is_of_marks(&no_policer()));
    }
}

//! The length of one queue, in the device's own language.

use super::change::Remedy;
use crate::reading::{Config, Language, Reading};

/// Which queue of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueAt {
    /// A class of an RTX's port; the lengths of all classes as they are, from class 1 on, in packets.
    Class {
        /// The port.
        port: String,
        /// The class.
        class: u16,
        /// The lengths now.
        lengths: Vec<u32>,
    },
    /// A class of a Cisco's policy.
    PolicyClass {
        /// The policy.
        policy: String,
        /// The class.
        class: String,
    },
    /// A queueing discipline of Linux that holds packets: below a class, or the interface's own.
    Discipline {
        /// The interface.
        device: String,
        /// The class above it.
        parent: Option<String>,
    },
}

impl QueueAt {
    /// Whether the lengths of both stand in one line.
    pub fn shares_line(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Class { port: own, .. }, Self::Class { port, .. }) => own == port,
            _ => false,
        }
    }

    /// The same queue beside others whose lengths are decided: the last of those that share its line says them.
    #[must_use]
    pub fn beside(&self, decided: &[Self]) -> Self {
        let mut at = self.clone();
        let last = decided.iter().rev().find(|other| other.shares_line(self));
        if let (Self::Class { lengths, .. }, Some(Self::Class { lengths: known, .. })) = (&mut at, last) {
            lengths.clone_from(known);
        }
        at
    }

    /// The same queue with its length decided, in packets.
    #[must_use]
    pub fn with_length(mut self, packets: u32) -> Self {
        if let Self::Class { class, lengths, .. } = &mut self
            && let Some(own) = usize::from(*class)
                .checked_sub(1)
                .and_then(|place| lengths.get_mut(place))
        {
            *own = packets;
        }
        self
    }
}

/// The change that makes a queue hold so many packets; `None` where the language has no words for it there.
pub fn queue_length(reading: &Reading, at: &QueueAt, packets: u32) -> Option<Remedy> {
    let packets = packets.max(1);
    match (at, &reading.config) {
        (QueueAt::Class { port, class, lengths }, Config::Rtx(_)) => {
            let place = usize::from(class.checked_sub(1)?);
            let mut lengths = lengths.clone();
            *lengths.get_mut(place)? = packets.min(RTX_LONGEST);
            let words: Vec<String> = lengths.iter().map(u32::to_string).collect();
            let start = format!("queue {port} length");
            let own = reading.lines.iter().filter(|line| line.text.starts_with(&start));
            let replaces = own.map(|line| line.number).collect();
            let line = format!("{start} {}", words.join(" "));
            Some(Remedy::new(Language::Rtx, [line]).replacing(replaces))
        }
        (QueueAt::PolicyClass { policy, class }, Config::Ios(_)) => Some(Remedy::new(
            Language::Ios,
            [
                format!("policy-map {policy}"),
                format!(" class {class}"),
                format!("  queue-limit {packets} packets"),
            ],
        )),
        (QueueAt::Discipline { device, parent }, Config::Tc(_)) => {
            let place = parent
                .as_ref()
                .map_or("root".to_owned(), |parent| format!("parent {parent}"));
            Some(Remedy::new(
                Language::Tc,
                [format!(
                    "tc qdisc replace dev {device} {place} pfifo limit {packets}"
                )],
            ))
        }
        _ => None,
    }
}

/// Packets that `queue ... length` takes, at most.
const RTX_LONGEST: u32 = 10_000;

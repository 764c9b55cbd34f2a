//! Class maps and policy maps of the modular QoS command line.

use slowpath_packet::Dscp;
use slowpath_units::{BitRate, ByteCount, Ratio};

/// Which packets belong to a class.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClassMap {
    /// Whether one condition is enough; otherwise all must hold.
    pub any: bool,
    /// The conditions.
    pub matches: Vec<Match>,
}

/// One condition of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// One of these marks.
    Dscp(Vec<Dscp>),
    /// One of these precedences.
    Precedence(Vec<u8>),
    /// Every packet.
    Any,
    /// A condition that is not followed, as written.
    Other(String),
}

/// What happens to each class of packets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyMap {
    /// The classes in the order of the policy: the first that fits takes a packet.
    pub classes: Vec<PolicyClass>,
}

/// What happens to the packets of one class.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyClass {
    /// The class's name; `class-default` takes what no other takes.
    pub class: String,
    /// Served before all others, up to a rate.
    pub priority: Option<Bandwidth>,
    /// A guaranteed share under congestion; what others leave can be used as well.
    pub bandwidth: Option<Bandwidth>,
    /// What exceeds a rate is dropped or marked.
    pub police: Option<Police>,
    /// What exceeds a rate waits.
    pub shape: Option<Bandwidth>,
    /// How many packets wait at most.
    pub queue_limit: Option<u32>,
    /// The mark written into every packet.
    pub set_dscp: Option<Dscp>,
    /// A policy within this class.
    pub child: Option<String>,
}

/// A rate, absolute or relative to the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bandwidth {
    /// Bits per second.
    Rate(BitRate),
    /// A share of the interface's bandwidth.
    Percent(Ratio),
    /// A share of what is left after priority and guarantees.
    Remaining(Ratio),
    /// No rate at all: a priority class that can starve the others.
    Unlimited,
}

/// A policer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Police {
    /// Committed rate.
    pub rate: Bandwidth,
    /// Committed burst in bytes; `None` is the device's choice.
    pub burst: Option<u64>,
    /// Excess burst in bytes.
    pub excess_burst: Option<u64>,
    /// What happens to packets above both.
    pub exceed: Action,
}

/// The bucket of a policer whose line gives none: 250 ms of the rate, as IOS 15 computes it on software platforms.
pub fn own_bucket(rate: BitRate) -> ByteCount {
    ByteCount::new((rate.bits_per_s() / 32).max(1_600))
}

/// What a policer does with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Lets it pass.
    Transmit,
    /// Drops it.
    Drop,
    /// Writes a mark and lets it pass.
    Mark(Dscp),
}

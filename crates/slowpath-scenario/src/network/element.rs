//! The elements of a path as documents write them.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use slowpath_packet::Dscp;
use slowpath_path as path;
use slowpath_units::{BitRate, ByteCount, Duration, Layer, ParseError, Ratio};

use crate::device::DeviceUse;
use crate::span::Span;

/// One element of one direction of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Its name, if the document gives one.
    pub name: Option<String>,
    /// What it does.
    pub kind: ElementKind,
    /// Which packets it applies to; the others pass untouched.
    pub only: Option<Match>,
    /// Where it was written.
    pub span: Span,
}

/// What an element does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementKind {
    /// A link: packets leave at a rate and wait in a tail-drop queue.
    Link {
        /// The rate.
        rate: LinkRate,
        /// Which bytes the rate counts.
        layer: Layer,
        /// How much may wait.
        queue: QueueSize,
        /// Whether the document gives the queue; otherwise it is an assumption.
        queue_given: bool,
        /// How the queue manages itself.
        discipline: Discipline,
        /// Whether packets that allow it are marked instead of dropped.
        ecn: bool,
    },
    /// Propagation delay.
    Delay {
        /// The fixed part, which may change with time.
        delay: path::Span,
        /// Random variation.
        jitter: Option<path::JitterShape>,
        /// Whether variation may change the order of packets.
        reorder: bool,
    },
    /// Random or regular loss.
    Loss(LossModel),
    /// Random duplication.
    Duplicate(Ratio),
    /// Holds back a share of the packets, so that later ones overtake them.
    Reorder {
        /// The share.
        share: Ratio,
        /// For how long.
        by: Duration,
    },
    /// A policer: drops, marks or passes what exceeds one rate and bucket or two, without a queue.
    Police(path::Police),
    /// Treats code points apart.
    Treat(Vec<path::Treatment>),
    /// A token-bucket shaper: delays what exceeds rate and bucket.
    Shape {
        /// The rate.
        rate: BitRate,
        /// Size of the bucket.
        burst: ByteCount,
        /// Which bytes the rate counts.
        layer: Layer,
        /// How much may wait.
        queue: QueueSize,
    },
    /// Writes a mark into every packet.
    Mark(Dscp),
    /// Refuses packets larger than an MTU.
    Mtu {
        /// Largest IP packet.
        mtu: u32,
        /// Whether it does so in silence, without telling the sender.
        black_hole: bool,
        /// The address that tells.
        address: Option<IpAddr>,
        /// The MTU that it tells, where that is not its own.
        announced: Option<u32>,
    },
    /// A router's hop, seen by traceroute.
    Router {
        /// Its address.
        address: IpAddr,
        /// The least time between two of its messages.
        answer_gap: Option<Duration>,
    },
    /// A device that does what its own configuration says.
    Device(DeviceUse),
    /// A device that takes time for each packet.
    Processor {
        /// Time for each packet.
        per_packet: Duration,
        /// Time for each byte of a frame, in picoseconds.
        per_byte_ps: u64,
        /// Packets that wait to be processed.
        ring: u32,
    },
    /// Lowers the segment size announced in passing handshakes.
    ClampMss(u16),
    /// Removes the window scale option from passing handshakes.
    RemoveWindowScale,
    /// Takes packets out of the tunnel into which a device has put them.
    TunnelEnd,
    /// A point at which packets are recorded.
    Tap,
}

impl ElementKind {
    /// The key by which documents write it.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Link { .. } => "rate",
            Self::Delay { .. } => "delay",
            Self::Loss(_) => "loss",
            Self::Duplicate(_) => "duplicate",
            Self::Reorder { .. } => "reorder",
            Self::Police(_) => "police",
            Self::Treat(_) => "treat",
            Self::Shape { .. } => "shape",
            Self::Mark(_) => "mark",
            Self::Mtu { .. } => "mtu",
            Self::Router { .. } => "router",
            Self::Device(_) => "device",
            Self::Processor { .. } => "per_packet",
            Self::ClampMss(_) => "clamp_mss",
            Self::RemoveWindowScale => "remove_window_scale",
            Self::TunnelEnd => "tunnel_end",
            Self::Tap => "tap",
        }
    }
}

/// How fast a link sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkRate {
    /// Always at the same rate.
    Fixed(BitRate),
    /// At each step's rate from its time on.
    Steps(Vec<path::RateStep>),
    /// At the moments listed in a file, named as the document names it.
    Trace(String),
    /// Between levels, by chance.
    Markov(path::Markov),
}

/// How a queue manages itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Discipline {
    /// First in, first out; what does not fit is dropped.
    #[default]
    Fifo,
    /// RED (Floyd and Jacobson 1993).
    Red,
    /// CoDel (RFC 8289).
    CoDel,
    /// FQ-CoDel (RFC 8290).
    FqCoDel,
    /// PIE (RFC 8033).
    Pie,
}

/// Which packets an element loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LossModel {
    /// Each packet with the same probability, independent of the others.
    Random(Ratio),
    /// Every n-th packet.
    Every(u64),
    /// The packets with these numbers, from 1.
    Listed(Vec<u64>),
    /// Two states with different loss (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Chance per packet of going from good to bad.
        to_bad: Ratio,
        /// Chance per packet of going from bad to good.
        to_good: Ratio,
        /// Loss in the good state.
        in_good: Ratio,
        /// Loss in the bad state.
        in_bad: Ratio,
    },
}

/// Which packets an element applies to; every given part must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Match {
    /// Mark of the outermost header.
    pub dscp: Option<Dscp>,
    /// IP protocol number.
    pub protocol: Option<u8>,
    /// Destination port.
    pub port: Option<u16>,
}

/// How much may wait in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSize {
    /// Whole packets.
    Packets(u32),
    /// Bytes of IP packets.
    Bytes(ByteCount),
    /// The time that the queue would take to empty.
    Time(Duration),
}

impl fmt::Display for QueueSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

impl FromStr for QueueSize {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let trimmed = text.trim();
        if let Some(number) = trimmed
            .strip_suffix("packets")
            .or_else(|| trimmed.strip_suffix("packet"))
        {
            return number.trim().parse().map(Self::Packets).map_err(|_| ParseError {
                text: text.to_owned(),
                kind: slowpath_units::ParseErrorKind::NotANumber,
                expected: QUEUE_EXPECTED,
            });
        }
        let with_own_message = |error: ParseError| ParseError {
            expected: QUEUE_EXPECTED,
            ..error
        };
        text.parse()
            .map(Self::Bytes)
            .or_else(|_| text.parse().map(Self::Time))
            .map_err(with_own_message)
    }
}

impl crate::fields::Quantity for QueueSize {
    const EXAMPLE: &'static str = "\"1000 packets\"";

    fn is_zero(self) -> bool {
        matches!(
            self,
            Self::Packets(0) | Self::Bytes(ByteCount::ZERO) | Self::Time(Duration::ZERO)
        )
    }
}

const QUEUE_EXPECTED: &str = "a queue size such as \"1000 packets\", \"64 KiB\" or \"20 ms\"";

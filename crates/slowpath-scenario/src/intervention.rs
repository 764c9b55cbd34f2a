//! One change to a run: hypothesis test, counterfactual and remedy are all of this kind.

mod apply;
mod place;
mod spelling;
mod who;

use std::fmt;

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::{BitRate, ByteCount, Duration, Ratio};

pub use apply::ApplyError;
pub use place::{Place, slowest_rate};
pub use spelling::{KEYS, SpellingError};
pub use who::Who;

use crate::network::QueueSize;

/// One change to a run, applied to its [`Plan`](crate::Plan) with [`Intervention::apply`].
///
/// The list is closed: what the diagnosis can try, the backends can do and the device languages can
/// express. Hosts are addressed by role or name ([`Who`]), network elements by [`Place`], so that an investigation can
/// apply a change without having read the network, and a capture can ask for one without knowing any name. What users
/// type is read by [`Intervention::spelled`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Intervention {
    /// The largest receive window of a host, in bytes; window scaling comes with it where it is needed.
    SetWindow {
        /// The receiving host.
        host: Who,
        /// The new window.
        window: ByteCount,
    },
    /// The send buffer of a host, in bytes.
    SetSendBuffer {
        /// The sending host.
        host: Who,
        /// The new buffer.
        buffer: ByteCount,
    },
    /// The congestion control of a host.
    SetCongestionControl {
        /// The sending host.
        host: Who,
        /// Its name, such as `bbr`.
        name: String,
    },
    /// Selective acknowledgement of a host.
    SetSack {
        /// The host.
        host: Who,
        /// Whether it is offered.
        on: bool,
    },
    /// Explicit congestion notification of a host.
    SetEcn {
        /// The host.
        host: Who,
        /// Whether it is asked for.
        on: bool,
    },
    /// The initial congestion window of a host, in segments.
    SetInitialWindow {
        /// The sending host.
        host: Who,
        /// Segments.
        segments: u32,
    },
    /// An upper limit for the sending rate of each connection.
    SetPacing {
        /// The sending host.
        host: Who,
        /// The limit.
        rate: BitRate,
    },
    /// The mark of the packets that a host sends.
    SetDscp {
        /// The sending host.
        host: Who,
        /// The new mark.
        dscp: Dscp,
    },
    /// The largest segment payload that a host announces and sends, in bytes.
    SetMss {
        /// The host.
        host: Who,
        /// Bytes.
        mss: u16,
    },
    /// OpenSSH's marks on a host; `None` leaves the packets unmarked.
    SetIpQos {
        /// The host.
        host: Who,
        /// Mark of sessions with a terminal.
        interactive: Option<Dscp>,
        /// Mark of transfers.
        bulk: Option<Dscp>,
    },
    /// The number of parallel connections of the measured job.
    SetStreams {
        /// Connections.
        count: u32,
    },
    /// The size of the parts in which an object store is written or read.
    SetPartSize {
        /// Bytes of each part.
        size: ByteCount,
    },
    /// How fast the receiving application takes its data; `None` is as fast as it comes.
    SetReader {
        /// The receiving host.
        host: Who,
        /// The new rate.
        rate: Option<BitRate>,
    },
    /// How fast the sending application gives its data; `None` is as fast as it is taken.
    SetWriter {
        /// The sending host.
        host: Who,
        /// The new rate.
        rate: Option<BitRate>,
    },
    /// Takes policers out of the path.
    RemovePolicer {
        /// Which.
        place: Place,
    },
    /// Another length for queues of the path.
    ResizeQueue {
        /// Which.
        place: Place,
        /// The new length.
        queue: QueueSize,
    },
    /// Takes the processing limit from devices of the path, and from the host that the place names.
    LiftDeviceLimit {
        /// Which.
        place: Place,
    },
    /// Another rate for links of the path.
    SetRate {
        /// Which.
        place: Place,
        /// The new rate.
        rate: BitRate,
    },
    /// Another rate for links of the path, in per cent of the rate now.
    ScaleRate {
        /// Which.
        place: Place,
        /// 200 for twice the rate.
        percent: u32,
    },
    /// Another propagation delay.
    SetDelay {
        /// Which.
        place: Place,
        /// The new delay.
        delay: Duration,
    },
    /// Another chance of random loss.
    SetLoss {
        /// Which.
        place: Place,
        /// The new chance.
        chance: Ratio,
    },
    /// Writes a mark over those of passing packets, as a router does.
    Remark {
        /// The direction in which it is done, at its beginning.
        place: Place,
        /// The mark written.
        dscp: Dscp,
    },
}

/// What carries a run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// A real network with our own sockets at one end.
    Live,
    /// The lab in real time.
    Lab,
    /// Simulated time.
    Simulator,
}

impl Intervention {
    /// Whether `backend` can make this change at all; whether it has an effect is seen on applying it.
    ///
    /// On a real network only what our own sockets and programs decide can be changed.
    pub const fn possible_on(&self, backend: Backend) -> bool {
        match backend {
            Backend::Lab | Backend::Simulator => true,
            Backend::Live => matches!(
                self,
                Self::SetWindow { .. }
                    | Self::SetSendBuffer { .. }
                    | Self::SetCongestionControl { .. }
                    | Self::SetPacing { .. }
                    | Self::SetDscp { .. }
                    | Self::SetMss { .. }
                    | Self::SetIpQos { .. }
                    | Self::SetStreams { .. }
                    | Self::SetPartSize { .. }
                    | Self::SetWriter { .. }
            ),
        }
    }

    /// The host that is changed, or to which the place leads, if there is one.
    pub(crate) fn who_mut(&mut self) -> Option<&mut Who> {
        match self {
            Self::SetWindow { host, .. }
            | Self::SetSendBuffer { host, .. }
            | Self::SetCongestionControl { host, .. }
            | Self::SetSack { host, .. }
            | Self::SetEcn { host, .. }
            | Self::SetInitialWindow { host, .. }
            | Self::SetPacing { host, .. }
            | Self::SetDscp { host, .. }
            | Self::SetMss { host, .. }
            | Self::SetIpQos { host, .. }
            | Self::SetReader { host, .. }
            | Self::SetWriter { host, .. } => Some(host),
            Self::RemovePolicer { place }
            | Self::ResizeQueue { place, .. }
            | Self::LiftDeviceLimit { place }
            | Self::SetRate { place, .. }
            | Self::ScaleRate { place, .. }
            | Self::SetDelay { place, .. }
            | Self::SetLoss { place, .. }
            | Self::Remark { place, .. } => place.host_mut(),
            Self::SetStreams { .. } | Self::SetPartSize { .. } => None,
        }
    }
}

impl fmt::Display for Intervention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on_off = |on: &bool| if *on { "on" } else { "off" };
        let mark = |dscp: &Option<Dscp>| dscp.map_or("none".to_owned(), |dscp| dscp.to_string());
        match self {
            Self::SetWindow { host, window } => {
                write!(f, "set the receive window of {host} to {} bytes", window.bytes())
            }
            Self::SetSendBuffer { host, buffer } => {
                write!(f, "set the send buffer of {host} to {} bytes", buffer.bytes())
            }
            Self::SetCongestionControl { host, name } => write!(f, "use {name} on {host}"),
            Self::SetSack { host, on } => {
                write!(f, "turn selective acknowledgement {} on {host}", on_off(on))
            }
            Self::SetEcn { host, on } => {
                write!(
                    f,
                    "turn explicit congestion notification {} on {host}",
                    on_off(on)
                )
            }
            Self::SetInitialWindow { host, segments } => {
                write!(f, "start with {segments} segments on {host}")
            }
            Self::SetPacing { host, rate } => write!(f, "pace the connections of {host} at {rate}"),
            Self::SetDscp { host, dscp } => write!(f, "mark the packets of {host} {dscp}"),
            Self::SetMss { host, mss } => write!(f, "set the segment size of {host} to {mss} bytes"),
            Self::SetIpQos {
                host,
                interactive,
                bulk,
            } => {
                write!(f, "set IPQoS on {host} to {} {}", mark(interactive), mark(bulk))
            }
            Self::SetStreams { count } => write!(f, "use {count} parallel connections"),
            Self::SetPartSize { size } => write!(f, "transfer in parts of {size}"),
            Self::SetReader { host, rate: None } => {
                write!(f, "let {host} read as fast as the data comes")
            }
            Self::SetReader {
                host,
                rate: Some(rate),
            } => write!(f, "let {host} read at {rate}"),
            Self::SetWriter { host, rate: None } => {
                write!(f, "let {host} write as fast as the data is taken")
            }
            Self::SetWriter {
                host,
                rate: Some(rate),
            } => write!(f, "let {host} write at {rate}"),
            Self::RemovePolicer { place } => write!(f, "remove the policer {place}"),
            Self::ResizeQueue { place, queue } => write!(f, "set the queue {place} to {queue}"),
            Self::LiftDeviceLimit { place } => write!(f, "lift the device's limit {place}"),
            Self::SetRate { place, rate } => write!(f, "set the rate {place} to {rate}"),
            Self::ScaleRate { place, percent } => write!(f, "set the rate {place} to {percent} % of now"),
            Self::SetDelay { place, delay } => write!(f, "set the delay {place} to {delay}"),
            Self::SetLoss { place, chance } => write!(f, "set the loss {place} to {chance}"),
            Self::Remark { place, dscp } => write!(f, "mark every packet {place} {dscp}"),
        }
    }
}

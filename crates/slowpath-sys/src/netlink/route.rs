//! Routes with their per-route TCP metrics.

use std::io;
use std::net::IpAddr;

use super::{Address, Message, Netlink, family, ip_bytes};

/// One route out of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where it leads; prefix length 0 is the default route.
    pub destination: Address,
    /// The device that packets leave by.
    pub link: u32,
    /// Next router; `None` when the destination is directly at the device.
    pub gateway: Option<IpAddr>,
    /// Source address for connections that bind none.
    pub source: Option<IpAddr>,
    /// Settings of connections over this route.
    pub metrics: RouteMetrics,
}

/// TCP settings of a route (`ip route ... congctl initcwnd rto_min mtu ...`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RouteMetrics {
    /// Congestion control of new connections, for example `"cubic"`; overrides the namespace's default.
    pub congestion_control: Option<String>,
    /// Initial congestion window in segments.
    pub initial_window: Option<u32>,
    /// Initial advertised window in segments.
    pub initial_receive_window: Option<u32>,
    /// Smallest retransmission timeout in milliseconds.
    pub minimum_rto_ms: Option<u32>,
    /// Largest IP packet in bytes.
    pub mtu: Option<u32>,
    /// Whether `mtu` is locked: never lowered by path MTU discovery, and DF not set.
    pub lock_mtu: bool,
    /// Segment size announced to the peer.
    pub advertised_mss: Option<u32>,
    /// Upper bound of the receive window in bytes (kernel metric "window").
    pub window: Option<u32>,
    /// Upper bound of the congestion window in segments, locked.
    pub congestion_window_clamp: Option<u32>,
    /// Slow start threshold of new connections in segments, locked. The kernel applies it only while
    /// `net.ipv4.tcp_no_ssthresh_metrics_save` is 0 and once it remembers the peer, which it does from the end of
    /// the first connection on (`tcp_init_metrics`, net/ipv4/tcp_metrics.c).
    pub slow_start_threshold: Option<u32>,
    /// Quick acknowledgements on.
    pub quick_ack: bool,
}

impl Netlink {
    /// Adds a route, replacing one to the same destination.
    ///
    /// # Errors
    /// `ENOENT` when the kernel has no such congestion control; `ENETUNREACH` when the gateway cannot be reached.
    pub fn set_route(&mut self, route: &Route) -> io::Result<()> {
        let scope = if route.gateway.is_some() {
            RT_SCOPE_UNIVERSE
        } else {
            RT_SCOPE_LINK
        };
        // struct rtmsg: family, dst_len, src_len, tos, table, protocol, scope, type, flags.
        let fixed = [
            family(route.destination.ip),
            route.destination.prefix,
            0,
            0,
            RT_TABLE_MAIN,
            RTPROT_STATIC,
            scope,
            RTN_UNICAST,
            0,
            0,
            0,
            0,
        ];
        let mut message = Message::new(RTM_NEWROUTE, &fixed);
        if route.destination.prefix > 0 {
            message.attribute(RTA_DST, &ip_bytes(route.destination.ip));
        }
        message.attribute_u32(RTA_OIF, route.link);
        if let Some(gateway) = route.gateway {
            message.attribute(RTA_GATEWAY, &ip_bytes(gateway));
        }
        if let Some(source) = route.source {
            message.attribute(RTA_PREFSRC, &ip_bytes(source));
        }
        if route.metrics != RouteMetrics::default() {
            message.nest(RTA_METRICS, |inner| metrics(inner, &route.metrics));
        }
        // NLM_F_ACK | NLM_F_REPLACE | NLM_F_CREATE
        self.socket.request(message, 0x4 | 0x100 | 0x400, &mut |_, _| {})
    }
}

fn metrics(message: &mut Message, metrics: &RouteMetrics) {
    let mut lock = 0_u32;
    if metrics.lock_mtu {
        lock |= 1 << RTAX_MTU;
    }
    if metrics.congestion_window_clamp.is_some() {
        lock |= 1 << RTAX_CWND;
    }
    if metrics.slow_start_threshold.is_some() {
        lock |= 1 << RTAX_SSTHRESH;
    }
    if metrics.minimum_rto_ms.is_some() {
        lock |= 1 << RTAX_RTO_MIN;
    }
    let values = [
        (RTAX_LOCK, (lock != 0).then_some(lock)),
        (RTAX_MTU, metrics.mtu),
        (RTAX_WINDOW, metrics.window),
        (RTAX_SSTHRESH, metrics.slow_start_threshold),
        (RTAX_CWND, metrics.congestion_window_clamp),
        (RTAX_ADVMSS, metrics.advertised_mss),
        (RTAX_INITCWND, metrics.initial_window),
        (RTAX_RTO_MIN, metrics.minimum_rto_ms),
        (RTAX_INITRWND, metrics.initial_receive_window),
        (RTAX_QUICKACK, metrics.quick_ack.then_some(1)),
    ];
    for (kind, value) in values {
        if let Some(value) = value {
            message.attribute_u32(kind, value);
        }
    }
    if let Some(name) = &metrics.congestion_control {
        message.attribute_text(RTAX_CC_ALGO, name);
    }
}

const RTM_NEWROUTE: u16 = 24;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_UNIVERSE: u8 = 0;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RTAX_LOCK: u16 = 1;
const RTAX_MTU: u16 = 2;
const RTAX_WINDOW: u16 = 3;
const RTAX_SSTHRESH: u16 = 6;
const RTAX_CWND: u16 = 7;
const RTAX_ADVMSS: u16 = 8;
const RTAX_INITCWND: u16 = 11;
const RTAX_RTO_MIN: u16 = 13;
const RTAX_INITRWND: u16 = 14;
const RTAX_QUICKACK: u16 = 15;
const RTAX_CC_ALGO: u16 = 16;

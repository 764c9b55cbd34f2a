//! Flow numbers by packet headers, with a shortcut for the flow that was last seen.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use slowpath_packet::FlowKey;
use slowpath_path::{FlowId, Network};

use crate::train::Train;

/// Remembers the number of each flow.
#[derive(Default)]
pub(crate) struct FlowCache {
    recent: [Option<(FlowKey, FlowId)>; 2],
    all: HashMap<FlowKey, FlowId>,
}

impl FlowCache {
    pub(crate) fn number(&mut self, train: &Train, ip: &[u8], network: &mut Network) -> FlowId {
        let key = key(train, ip);
        for known in self.recent.iter().flatten() {
            if known.0 == key {
                return known.1;
            }
        }
        let flow = *self.all.entry(key).or_insert_with(|| network.register_flow(&key));
        self.recent = [Some((key, flow)), self.recent[0]];
        flow
    }
}

fn key(train: &Train, ip: &[u8]) -> FlowKey {
    let (source, destination): (IpAddr, IpAddr) = if train.v6 {
        let at = |at: usize| Ipv6Addr::from(<[u8; 16]>::try_from(&ip[at..at + 16]).unwrap_or_default());
        (at(8).into(), at(24).into())
    } else {
        let at = |at: usize| Ipv4Addr::from(<[u8; 4]>::try_from(&ip[at..at + 4]).unwrap_or_default());
        (at(12).into(), at(16).into())
    };
    let start = usize::from(train.transport);
    let port = |at: usize| {
        if train.headers > train.transport {
            u16::from_be_bytes([ip[start + at], ip[start + at + 1]])
        } else {
            0
        }
    };
    FlowKey::new(
        train.protocol,
        SocketAddr::new(source, port(0)),
        SocketAddr::new(destination, port(2)),
    )
}

//! The flows that a host has used, found by their ports.

use slowpath_endpoint::wire::{Header, Transport};
use slowpath_packet::{FlowKey, Protocol};
use slowpath_path::FlowId;

/// A table of flows that is twice as large as the number of flows, so that a look-up mostly costs one access.
#[derive(Debug)]
pub(crate) struct KnownFlows {
    places: Vec<Option<(FlowKey, FlowId)>>,
    registered: usize,
}

impl Default for KnownFlows {
    fn default() -> Self {
        Self {
            places: vec![None; 4],
            registered: 0,
        }
    }
}

impl KnownFlows {
    /// The number of the flow of a packet with `header`; `register` gives it if the table does not know.
    #[inline]
    pub(crate) fn number(&mut self, header: &Header, register: impl FnOnce(&FlowKey) -> FlowId) -> FlowId {
        // Nothing is put together to find the flow of a segment.
        if let Transport::Tcp(tcp) = &header.transport
            && let Some((known, flow)) = &self.places[self.at(tcp.src_port, tcp.dst_port)]
            && known.src_port == tcp.src_port
            && known.dst_port == tcp.dst_port
            && known.protocol == Protocol::TCP
            && known.src == header.src
            && known.dst == header.dst
        {
            return *flow;
        }
        self.look_up(&header.flow(), register)
    }

    #[inline(never)]
    fn look_up(&mut self, key: &FlowKey, register: impl FnOnce(&FlowKey) -> FlowId) -> FlowId {
        let place = self.place(key);
        if let Some((known, flow)) = &self.places[place]
            && known == key
        {
            return *flow;
        }
        let flow = register(key);
        self.registered += 1;
        if self.registered > self.places.len() / 2 && self.places.len() < LARGEST {
            self.grow();
        }
        let place = self.place(key);
        self.places[place] = Some((*key, flow));
        flow
    }

    fn place(&self, key: &FlowKey) -> usize {
        self.at(key.src_port, key.dst_port)
    }

    #[inline]
    fn at(&self, src_port: u16, dst_port: u16) -> usize {
        // An odd multiple: ports in a row at either end have places of their own.
        let ports = usize::from(src_port) + 5 * usize::from(dst_port);
        ports & (self.places.len() - 1)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.places);
        self.places = vec![None; old.len() * 2];
        for (key, flow) in old.into_iter().flatten() {
            let place = self.place(&key);
            self.places[place] = Some((key, flow));
        }
    }
}

/// Places at most: ports have sixteen bits.
const LARGEST: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use slowpath_packet::Protocol;

    use super::*;

    #[test]
    fn every_flow_keeps_its_number() {
        let key = |number: u16| FlowKey {
            src: [10, 0, 0, 1].into(),
            dst: [10, 0, (number % 3) as u8, 2].into(),
            src_port: 30_000 + number % 700,
            dst_port: 5001,
            protocol: Protocol::TCP,
        };
        let mut known = KnownFlows::default();
        let mut all: Vec<FlowKey> = Vec::new();
        for number in (0..2_000).chain(0..2_000) {
            let flow = known.look_up(&key(number), |key| {
                let place = all.iter().position(|other| other == key).unwrap_or_else(|| {
                    all.push(*key);
                    all.len() - 1
                });
                FlowId(u32::try_from(place).unwrap())
            });
            assert_eq!(all[flow.0 as usize], key(number));
        }
    }

    #[test]
    fn ports_in_a_row_have_places_of_their_own() {
        let known = KnownFlows {
            places: vec![None; 1 << 14],
            registered: 0,
        };
        let rows: [fn(u16) -> (u16, u16); 2] =
            [|number| (32_768 + number, 5001), |number| (5001, 32_768 + number)];
        for ports in rows {
            let places = (0..10_000).map(ports).map(|(src, dst)| known.at(src, dst));
            assert_eq!(places.collect::<std::collections::BTreeSet<_>>().len(), 10_000);
        }
    }
}

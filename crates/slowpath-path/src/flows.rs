//! The flows that a network knows.

use std::collections::BTreeMap;

use slowpath_packet::FlowKey;

use crate::packet::FlowId;

/// Flow keys by number; a number is given at the first registration and never changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flows {
    keys: Vec<FlowKey>,
    numbers: BTreeMap<FlowKey, FlowId>,
}

impl Flows {
    pub(crate) fn register(&mut self, key: &FlowKey) -> FlowId {
        *self.numbers.entry(*key).or_insert_with(|| {
            self.keys.push(*key);
            FlowId(u32::try_from(self.keys.len() - 1).expect("fewer than 2^32 flows"))
        })
    }

    pub(crate) fn key(&self, flow: FlowId) -> Option<&FlowKey> {
        self.keys.get(flow.0 as usize)
    }

    pub(crate) fn keys(&self) -> &[FlowKey] {
        &self.keys
    }
}

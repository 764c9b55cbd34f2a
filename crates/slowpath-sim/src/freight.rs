//! The packets that are on their way: headers and payload behind the network's cargo handles.

use slowpath_endpoint::wire::{Header, OwnedPayload};
use slowpath_path::Cargo;

/// One packet on its way, and how many of the network's packets share it.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) header: Header,
    pub(crate) payload: OwnedPayload,
    references: i32,
    /// Bytes of fragments that arrived.
    pub(crate) arrived: u32,
}

/// A store of packets with places that are used again; grows only when more are on their way than ever before.
#[derive(Debug, Default)]
pub(crate) struct Freight {
    items: Vec<Item>,
    free: Vec<u32>,
}

impl Freight {
    pub(crate) fn load(&mut self, header: Header, payload: OwnedPayload, references: i32) -> Cargo {
        let item = Item {
            header,
            payload,
            references,
            arrived: 0,
        };
        let place = if let Some(place) = self.free.pop() {
            self.items[place as usize] = item;
            place
        } else {
            self.items.push(item);
            u32::try_from(self.items.len() - 1).expect("four billion packets cannot be on their way")
        };
        Cargo(u64::from(place))
    }

    pub(crate) fn get(&self, cargo: Cargo) -> &Item {
        &self.items[index(cargo)]
    }

    pub(crate) fn get_mut(&mut self, cargo: Cargo) -> &mut Item {
        &mut self.items[index(cargo)]
    }

    /// Changes the number of packets that share `cargo` and forgets it when there are none.
    pub(crate) fn account(&mut self, cargo: Cargo, change: i32) {
        let item = self.get_mut(cargo);
        item.references += change;
        debug_assert!(item.references >= 0, "a packet was delivered twice");
        if item.references == 0 {
            self.free.push(u32::try_from(cargo.0).unwrap_or(u32::MAX));
        }
    }
}

fn index(cargo: Cargo) -> usize {
    usize::try_from(cargo.0).unwrap_or(usize::MAX)
}

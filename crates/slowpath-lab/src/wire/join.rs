//! Putting neighbouring survivors of a train together again.

use slowpath_path::Packet;
use slowpath_units::{Duration, Time};

use crate::slab::TrainId;

/// A run of neighbouring wire packets of one train, to be written with one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    pub(crate) train: TrainId,
    pub(crate) first: u16,
    /// Number of wire packets; 0 means nothing is pending.
    pub(crate) count: u16,
    /// The deadline of the first of them.
    pub(crate) at: Time,
    /// The first of them, for its marks.
    pub(crate) packet: Packet,
}

impl Pending {
    pub(crate) const NONE: Self = Self {
        train: TrainId(0),
        first: 0,
        count: 0,
        at: Time::ZERO,
        packet: Packet::new(slowpath_path::Cargo::new(0), slowpath_path::FlowId(0), 0),
    };

    /// Whether wire packet `number` of `train`, due `at`, may travel with those pending.
    ///
    /// Only the direct neighbour with the same marks may: nothing is joined across a dropped packet, nor across one
    /// that the network marked or delayed differently.
    pub(crate) fn takes(
        &self,
        train: TrainId,
        number: u16,
        at: Time,
        packet: &Packet,
        window: Duration,
    ) -> bool {
        let mark = |packet: &Packet| {
            (
                packet.dscp,
                packet.ecn,
                packet.ttl,
                packet.mss_limit,
                packet.flags,
            )
        };
        self.count > 0
            && self.train == train
            && self.first + self.count == number
            && at.since(self.at) <= window
            && mark(&self.packet) == mark(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_packet::Ecn;
    use slowpath_path::{Cargo, Flags, FlowId};

    #[test]
    fn joins_only_like_neighbours_within_the_window() {
        let packet = Packet::new(Cargo::new(1), FlowId(0), 1500);
        let at = Time::from_nanos;
        let window = Duration::from_nanos(100);
        let pending = Pending {
            train: TrainId(3),
            first: 4,
            count: 2,
            at: at(1000),
            packet,
        };
        assert!(pending.takes(TrainId(3), 6, at(1100), &packet, window));
        assert!(
            !pending.takes(TrainId(3), 6, at(1101), &packet, window),
            "too late"
        );
        assert!(
            !pending.takes(TrainId(3), 7, at(1000), &packet, window),
            "one was dropped between"
        );
        assert!(
            !pending.takes(TrainId(3), 5, at(1000), &packet, window),
            "a duplicate"
        );
        assert!(
            !pending.takes(TrainId(4), 6, at(1000), &packet, window),
            "another train"
        );
        let marked = Packet {
            ecn: Ecn::Ce,
            ..packet
        };
        assert!(!pending.takes(TrainId(3), 6, at(1000), &marked, window));
        let cut = Packet {
            flags: Flags::FRAGMENT,
            ..packet
        };
        assert!(!pending.takes(TrainId(3), 6, at(1000), &cut, window));
        assert!(!Pending::NONE.takes(TrainId(0), 0, at(0), &packet, window));
    }
}

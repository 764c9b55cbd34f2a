//! What a path itself does to a packet: the measure for what the wire adds.

use slowpath_path::{ElementKind, Limit, Link, NetworkSpec, PortId, Queue, Rate};
use slowpath_units::Duration;

/// Time scales of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Scales {
    /// The shortest round trip between any two hosts that exchanged packets, in model time.
    pub(crate) round_trip: Duration,
    /// How long the slowest link's queue takes to empty; `None` where no first-in-first-out queue of known length
    /// stands before a link of known rate.
    pub(crate) queue: Option<Duration>,
}

impl Scales {
    /// How late or uncertain 1 % of the packets may be before a result may notice: see [`crate::health`].
    pub(crate) fn harmless(&self) -> Duration {
        let queue = self
            .queue
            .map_or(Duration::from_nanos(u64::MAX), |queue| queue / 4);
        (self.round_trip / 50).min(queue)
    }
}

/// The shortest time on the way from each port to each other, in model time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transits {
    ports: usize,
    /// By sender, then receiver; `u64::MAX` where nothing came through.
    shortest: Vec<u64>,
}

impl Transits {
    /// For ports below `ports`.
    pub(crate) fn new(ports: usize) -> Self {
        Self {
            ports,
            shortest: vec![u64::MAX; ports * ports],
        }
    }

    /// A packet from one port reached another after `span`.
    #[inline]
    pub(crate) fn note(&mut self, from: PortId, to: PortId, span: Duration) {
        let index = usize::from(from.0) * self.ports + usize::from(to.0);
        if let Some(shortest) = self.shortest.get_mut(index) {
            *shortest = (*shortest).min(span.nanos());
        }
    }

    /// The shortest round trip that these tables of all wires tell of; where only one direction was used, twice that.
    pub(crate) fn round_trip(all: &[&Self]) -> Duration {
        let ports = all.iter().map(|one| one.ports).max().unwrap_or(0);
        let one_way = |from: usize, to: usize| {
            all.iter()
                .filter(|one| from < one.ports && to < one.ports)
                .map(|one| one.shortest[from * one.ports + to])
                .min()
                .unwrap_or(u64::MAX)
        };
        let (mut both, mut single) = (u64::MAX, u64::MAX);
        for (from, to) in (0..ports).flat_map(|from| (0..ports).map(move |to| (from, to))) {
            let (there, back) = (one_way(from, to), one_way(to, from));
            both = both.min(there.saturating_add(back));
            single = single.min(there.saturating_mul(2));
        }
        let found = if both == u64::MAX { single } else { both };
        Duration::from_nanos(if found == u64::MAX { 0 } else { found })
    }
}

/// How long the queue of the slowest link takes to empty.
pub(crate) fn bottleneck_queue(network: &NetworkSpec) -> Option<Duration> {
    let links = network.elements.iter().filter_map(|element| match &element.does {
        ElementKind::Link(link) => Some((link, rate(link)?)),
        _ => None,
    });
    let (link, bits) = links.min_by_key(|(_, bits)| *bits)?;
    let Queue::Fifo(fifo) = &link.queue else {
        return None;
    };
    let bytes = match fifo.limit {
        Limit::Packets(packets) => u64::from(packets) * FULL_PACKET,
        Limit::Bytes(bytes) => bytes,
        Limit::Time(span) => return Some(span),
        Limit::None => return None,
    };
    Some(Duration::from_nanos(
        bytes.saturating_mul(8_000_000_000) / bits.max(1),
    ))
}

/// Bits per second, where that is one number.
fn rate(link: &Link) -> Option<u64> {
    match &link.rate {
        Rate::Fixed(rate) | Rate::Bucket { rate, .. } => Some(rate.bits_per_s()),
        Rate::Steps(_) | Rate::Trace(_) | Rate::Markov(_) => None,
    }
}

/// Bytes of a full Ethernet packet.
const FULL_PACKET: u64 = 1500;

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_units::{BitRate, Layer};

    #[test]
    fn the_shortest_round_trip_has_both_directions() {
        let (near, far, other) = (PortId(0), PortId(1), PortId(2));
        let mut up = Transits::new(3);
        let mut down = Transits::new(2);
        let millis = Duration::from_millis;
        assert_eq!(Transits::round_trip(&[&up, &down]), Duration::ZERO);
        up.note(near, far, millis(9));
        up.note(near, far, millis(3));
        assert_eq!(Transits::round_trip(&[&up, &down]), millis(6));
        down.note(far, near, millis(40));
        assert_eq!(Transits::round_trip(&[&up, &down]), millis(43));
        // One direction of another pair says less than both of one.
        up.note(near, other, millis(1));
        assert_eq!(Transits::round_trip(&[&up, &down]), millis(43));
    }

    #[test]
    fn the_slowest_link_has_the_queue_that_counts() {
        let link = |bits, limit| ElementKind::Link(Link::fifo(BitRate::new(bits), Layer::Ip, limit));
        let queue = |kinds: Vec<ElementKind>| {
            let up = kinds.into_iter().enumerate();
            let up = up.map(|(number, kind)| (format!("up{number}"), kind)).collect();
            bottleneck_queue(&NetworkSpec::chain("near", "far", up, Vec::new()))
        };
        let card = || link(10_000_000_000, Limit::Packets(1000));
        assert_eq!(
            queue(vec![card(), link(10_000_000, Limit::Packets(10))]),
            Some(Duration::from_millis(12))
        );
        assert_eq!(
            queue(vec![card(), link(8_000_000, Limit::Bytes(50_000))]),
            Some(Duration::from_millis(50))
        );
        assert_eq!(queue(vec![card(), link(8_000_000, Limit::None)]), None);
        assert_eq!(queue(Vec::new()), None);
    }

    #[test]
    fn what_is_harmless_follows_the_path() {
        let scales = |round_trip, queue: Option<u64>| Scales {
            round_trip: Duration::from_millis(round_trip),
            queue: queue.map(Duration::from_millis),
        };
        assert_eq!(scales(100, Some(100)).harmless(), Duration::from_millis(2));
        assert_eq!(scales(100, Some(4)).harmless(), Duration::from_millis(1));
        assert_eq!(scales(250, None).harmless(), Duration::from_millis(5));
        assert_eq!(Scales::default().harmless(), Duration::ZERO);
    }
}

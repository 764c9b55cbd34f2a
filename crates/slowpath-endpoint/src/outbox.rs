//! Packets that a host wants to send and its driver has not yet taken.

use std::net::{IpAddr, Ipv4Addr};

use slowpath_packet::{Dscp, Ecn, Seq32};
use slowpath_units::Time;

use crate::wire::{Flags, Header, Options, OwnedPayload, TcpHeader, Transmit, Transport};

/// Packets in the order in which they are sent, each written where it stays until it is taken.
///
/// A packet put together elsewhere and moved here is written and read in pieces of different size, which stalls the processor
/// for longer than writing it takes. Drivers take all there are; then the room is used again.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// Those up to `taken` and from `end` on mean nothing.
    items: Vec<Transmit>,
    taken: usize,
    end: usize,
}

impl Outbox {
    /// The place of the next packet, which is sent once [`keep`](Self::keep) is called; it has whatever an earlier one left there.
    #[inline]
    pub(crate) fn place(&mut self) -> &mut Transmit {
        if self.end == self.items.len() {
            self.grow();
        }
        &mut self.items[self.end]
    }

    /// The packet written to [`place`](Self::place) is complete.
    #[inline]
    pub(crate) const fn keep(&mut self) {
        self.end += 1;
    }

    pub(crate) fn push(&mut self, transmit: Transmit) {
        *self.place() = transmit;
        self.keep();
    }

    /// Takes the first packet.
    pub(crate) fn pop(&mut self) -> Option<Transmit> {
        if self.taken == self.end {
            return None;
        }
        let first = std::mem::replace(&mut self.items[self.taken], blank());
        self.taken += 1;
        self.empty();
        Some(first)
    }

    /// Takes all of them, where they are.
    #[inline]
    pub(crate) fn take_all(&mut self, take: impl FnMut(&mut Transmit)) {
        self.items[self.taken..self.end].iter_mut().for_each(take);
        self.taken = self.end;
        self.empty();
    }

    #[inline]
    const fn empty(&mut self) {
        if self.taken == self.end {
            self.taken = 0;
            self.end = 0;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.items.push(blank());
    }
}

/// What a place has before anything is written to it.
pub(crate) const fn blank() -> Transmit {
    Transmit {
        at: Time::ZERO,
        header: Header {
            src: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            dst: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
            ttl: 64,
            df: true,
            transport: Transport::Tcp(TcpHeader {
                src_port: 0,
                dst_port: 0,
                seq: Seq32(0),
                ack: Seq32(0),
                flags: Flags(0),
                window: 0,
                options: Options::NONE,
            }),
        },
        payload: OwnedPayload::Synthetic(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_packets_once_and_in_order() {
        let (mut outbox, mut next, mut taken) = (Outbox::default(), 0_u64, 0_u64);
        for round in 0..60_u64 {
            for _ in 0..round % 5 {
                let place = outbox.place();
                *place = blank();
                place.at = Time::from_nanos(next);
                // A place that is asked for and not kept is no packet.
                if round % 4 == 0 {
                    outbox.place().at = Time::MAX;
                    outbox.place().at = Time::from_nanos(next);
                }
                outbox.keep();
                next += 1;
            }
            outbox.place().at = Time::MAX;
            if round % 3 == 0 {
                outbox.take_all(|transmit| {
                    assert_eq!(transmit.at, Time::from_nanos(taken));
                    taken += 1;
                });
                assert_eq!(taken, next);
            } else if let Some(first) = outbox.pop() {
                assert_eq!(first.at, Time::from_nanos(taken));
                taken += 1;
            }
        }
        assert!(taken > 50, "{taken}");
    }
}

//! What a run shows of its transfer at one end, as a capture there would show it.

use std::collections::VecDeque;

use slowpath_endpoint::wire::{Header, TcpHeader, Transport};

use crate::sink::{Point, Sighting, Sink};

/// What can be compared of a transfer. Times are seconds after the first data at the tap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Seen {
    /// Payload acknowledged.
    pub bytes: u64,
    /// From the first data to the last new acknowledgement.
    pub duration_s: f64,
    /// Payload acknowledged until then, rising.
    pub delivered: Vec<(f64, f64)>,
    /// When data was sent, and its round trip; empty where the tap does not tell.
    pub round_trips: Vec<(f64, f64)>,
    /// Segments sent again.
    pub resent: u64,
    /// Loss episodes: segments sent again that are more than two round trips apart.
    pub episodes: u64,
    /// Whether the transfer came to its end.
    pub complete: bool,
}

impl Seen {
    /// The curve of what was delivered, in about so many points evenly in time, as many as a picture can show: times and bytes,
    /// from nothing to the last one.
    pub fn thinned(&self, points: f64) -> (Vec<f64>, Vec<f64>) {
        let step = self.duration_s / points;
        let (mut times, mut values) = (vec![0.0], vec![0.0]);
        let mut next = 0.0;
        for (place, &(at, bytes)) in self.delivered.iter().enumerate() {
            if at < next && place + 1 < self.delivered.len() {
                continue;
            }
            // Microseconds are finer than any picture, and short.
            times.push((at * 1e6).round() / 1e6);
            values.push(bytes);
            next = at + step;
        }
        (times, values)
    }
}

/// Takes the packets of a simulation at one end and keeps what can be compared.
#[derive(Debug)]
pub struct Watch {
    /// Whether it stands beside the sender, host 0; else beside the receiver, host 1.
    at_sender: bool,
    flows: Vec<Flow>,
    start: Option<f64>,
    acknowledged: u64,
    next_step: f64,
    again: Vec<f64>,
    seen: Seen,
}

/// One connection of the measured job.
#[derive(Debug)]
struct Flow {
    port: u16,
    first: u32,
    /// One past the highest byte sent, and the highest acknowledged, relative to the first.
    highest: u64,
    acknowledged: u64,
    /// Segments that wait for an acknowledgement: end, time sent, whether their round trip still counts.
    waiting: VecDeque<(u64, f64, bool)>,
}

impl Watch {
    /// Watches at the sender, or at the receiver.
    pub fn new(at_sender: bool) -> Self {
        Self {
            at_sender,
            flows: Vec::new(),
            start: None,
            acknowledged: 0,
            next_step: 0.0,
            again: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// What was seen of a transfer of `bytes`; `round_trip` in seconds separates episodes of losses.
    pub fn finish(mut self, bytes: u64, round_trip: f64) -> Seen {
        let mut seen = std::mem::take(&mut self.seen);
        if seen
            .delivered
            .last()
            .is_some_and(|last| last.1 < self.acknowledged as f64)
        {
            seen.delivered.push((seen.duration_s, self.acknowledged as f64));
        }
        seen.bytes = self.acknowledged;
        // A job of parts rounds its bytes.
        seen.complete = self.acknowledged + COMPLETE >= bytes;
        seen.episodes = episodes(&self.again, 2.0 * round_trip.max(1e-3));
        seen
    }

    fn data(&mut self, at: f64, header: &Header, tcp: &TcpHeader, length: u32) {
        let port = header.flow().src_port;
        let start = *self.start.get_or_insert(at);
        let known = self.flows.iter().position(|flow| flow.port == port);
        let place = known.unwrap_or_else(|| {
            self.flows.push(Flow {
                port,
                first: tcp.seq.0,
                highest: 0,
                acknowledged: 0,
                waiting: VecDeque::new(),
            });
            self.flows.len() - 1
        });
        let flow = &mut self.flows[place];
        let from = unwrapped(flow.first, tcp.seq.0, flow.highest);
        let to = from + u64::from(length);
        if from >= flow.highest {
            flow.highest = to;
            if self.at_sender {
                flow.waiting.push_back((to, at, true));
            }
        } else {
            self.seen.resent += 1;
            self.again.push(at - start);
            // A segment sent again tells no round trip (RFC 6298, section 3).
            let again = flow
                .waiting
                .iter_mut()
                .filter(|waiting| waiting.0 > from && waiting.0 <= to);
            again.for_each(|waiting| waiting.2 = false);
        }
    }

    fn acknowledgement(&mut self, at: f64, header: &Header, tcp: &TcpHeader) {
        let (Some(start), port) = (self.start, header.flow().dst_port) else {
            return;
        };
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.port == port) else {
            return;
        };
        let to = unwrapped(flow.first, tcp.ack.0, flow.highest).min(flow.highest);
        for (left, right) in tcp.options.sack.as_slice().iter().take(1) {
            let left = unwrapped(flow.first, left.0, flow.highest);
            let right = unwrapped(flow.first, right.0, flow.highest);
            for waiting in flow.waiting.iter_mut().rev() {
                if waiting.0 <= left {
                    break;
                }
                if waiting.0 <= right && std::mem::take(&mut waiting.2) {
                    self.seen.round_trips.push((waiting.1 - start, at - waiting.1));
                }
            }
        }
        while let Some(&(_, sent, counts)) = flow.waiting.front().filter(|waiting| waiting.0 <= to) {
            if counts {
                self.seen.round_trips.push((sent - start, at - sent));
            }
            flow.waiting.pop_front();
        }
        if to > flow.acknowledged {
            self.acknowledged += to - flow.acknowledged;
            flow.acknowledged = to;
            let now = at - start;
            self.seen.duration_s = now;
            if now >= self.next_step {
                self.seen.delivered.push((now, self.acknowledged as f64));
                self.next_step = now + LEAST_STEP;
            }
        }
    }
}

/// The place of `seq` relative to `first`, near `near`.
fn unwrapped(first: u32, seq: u32, near: u64) -> u64 {
    let low = seq.wrapping_sub(first);
    let ahead = low.wrapping_sub(near as u32).cast_signed();
    near.saturating_add_signed(i64::from(ahead))
}

impl Sink for Watch {
    const WATCHES_DROPS: bool = false;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        let Transport::Tcp(tcp) = &sighting.header.transport else {
            return;
        };
        let (data, acks) = if self.at_sender {
            (Point::Sent(0), Point::Received(0))
        } else {
            (Point::Received(1), Point::Sent(1))
        };
        let at = sighting.at.nanos() as f64 / 1e9;
        let length = sighting.payload.len();
        let flow = sighting.header.flow();
        if sighting.point == data && length > 0 && flow.dst_port == MAIN_PORT {
            self.data(at, sighting.header, tcp, length);
        } else if sighting.point == acks && flow.src_port == MAIN_PORT {
            self.acknowledgement(at, sighting.header, tcp);
        }
    }
}

/// Loss episodes among segments sent again at these times, seconds: those that are more than `apart` from the one before.
pub fn episodes(again: &[f64], apart: f64) -> u64 {
    let mut last = f64::NEG_INFINITY;
    let mut count = 0;
    for &at in again {
        count += u64::from(at - last > apart);
        last = at;
    }
    count
}

/// The port of the first job of a plan ([`programs`](crate::programs)).
const MAIN_PORT: u16 = 5201;
/// Shortest time between points of a curve, seconds.
pub const LEAST_STEP: f64 = 0.000_5;
/// Payload that may be missing at the end: jobs of parts and streams round theirs.
const COMPLETE: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_go_round() {
        assert_eq!(unwrapped(u32::MAX - 9, 10, 15), 20);
        assert_eq!(unwrapped(5, 5, 0), 0);
        let near = (1_u64 << 32) + 100;
        assert_eq!(unwrapped(7, 7_u32.wrapping_add(50), near), near - 50);
    }

    #[test]
    fn losses_close_together_are_one_episode() {
        assert_eq!(episodes(&[1.0, 1.05, 1.1, 2.0], 0.2), 2);
        assert_eq!(episodes(&[], 0.2), 0);
    }
}

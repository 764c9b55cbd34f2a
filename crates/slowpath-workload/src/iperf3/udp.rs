//! The threads that move UDP data.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use slowpath_sys::{clock, message, sockopt};
use slowpath_units::{BitRate, Duration};

use super::params::Pacing;
use super::tally::{Bursts, Phase, Tally, add};
use crate::content::Content;
use crate::context::Context;

/// What a UDP sender needs besides its socket.
#[derive(Debug, Clone)]
pub(crate) struct SendPlan {
    /// Bytes given to the socket, with the header of `shape`.
    pub(crate) size: usize,
    /// Bytes that count for the rate.
    pub(crate) paced: u64,
    pub(crate) shape: Shape,
    pub(crate) rate: Option<BitRate>,
    pub(crate) burst: u32,
    pub(crate) pacing: Pacing,
    pub(crate) wide: bool,
    pub(crate) seed: u64,
}

/// What a socket wants in front of the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing: a UDP socket.
    Udp,
    /// A TCP header without a connection: a raw socket.
    Tcp {
        source: std::net::SocketAddrV4,
        destination: std::net::SocketAddrV4,
    },
    /// The header of an echo reply, to which nobody answers: a raw socket.
    Icmp { id: u16 },
}

impl Shape {
    pub(crate) const fn header(self) -> usize {
        match self {
            Self::Udp => 0,
            Self::Tcp { .. } => 20,
            Self::Icmp { .. } => 8,
        }
    }

    /// Fills in the header of a packet whose payload is complete.
    fn finish(self, packet: &mut [u8], sequence: u64) {
        match self {
            Self::Udp => {}
            Self::Tcp { source, destination } => {
                packet[..2].copy_from_slice(&source.port().to_be_bytes());
                packet[2..4].copy_from_slice(&destination.port().to_be_bytes());
                packet[4..8].copy_from_slice(&(sequence as u32).to_be_bytes());
                packet[8..12].fill(0);
                // RST: the one flag to which no host answers (RFC 9293, section 3.5.2).
                packet[12..20].copy_from_slice(&[0x50, 0x04, 0, 0, 0, 0, 0, 0]);
                let mut pseudo = [0_u8; 12];
                pseudo[..4].copy_from_slice(&source.ip().octets());
                pseudo[4..8].copy_from_slice(&destination.ip().octets());
                pseudo[9] = 6;
                pseudo[10..].copy_from_slice(&(packet.len() as u16).to_be_bytes());
                let sum = crate::probe::checksum(&[&pseudo, packet]);
                packet[16..18].copy_from_slice(&sum.to_be_bytes());
            }
            Self::Icmp { id } => {
                packet[..4].fill(0);
                packet[4..6].copy_from_slice(&id.to_be_bytes());
                packet[6..8].copy_from_slice(&(sequence as u16).to_be_bytes());
                let sum = crate::probe::checksum(&[packet]);
                packet[2..4].copy_from_slice(&sum.to_be_bytes());
            }
        }
    }
}

/// Sends until the test ends or the budget is spent; returns the bursts of a paced stream.
pub(crate) fn send(
    socket: &Arc<UdpSocket>,
    plan: &SendPlan,
    phase: &Phase,
    tally: &Tally,
    context: &Context,
) -> Bursts {
    let mut bursts = Bursts::default();
    if phase.wait_for_start() {
        let mut sender = Sender::new(socket, plan, phase, tally, context);
        match plan.rate {
            None => sender.flood(),
            Some(rate) => sender.paced(rate, &mut bursts),
        }
    }
    bursts.finish();
    tally.cpu.store(clock::thread_cpu(), Ordering::Relaxed);
    bursts
}

struct Sender<'a> {
    socket: &'a UdpSocket,
    plan: &'a SendPlan,
    phase: &'a Phase,
    tally: &'a Tally,
    context: &'a Context,
    /// Datagrams side by side.
    buffer: Vec<u8>,
    sequence: u64,
}

impl<'a> Sender<'a> {
    fn new(
        socket: &'a UdpSocket,
        plan: &'a SendPlan,
        phase: &'a Phase,
        tally: &'a Tally,
        context: &'a Context,
    ) -> Self {
        let count = (MAX_GSO_BYTES / plan.size).clamp(1, MAX_GSO_SEGMENTS);
        let mut buffer = vec![0_u8; plan.size * count];
        Content::new(plan.seed).fill(0, &mut buffer);
        Self {
            socket,
            plan,
            phase,
            tally,
            context,
            buffer,
            sequence: 0,
        }
    }

    /// Whether another datagram may be sent.
    fn goes_on(&self) -> bool {
        self.phase.is_running() && self.context.check().is_ok()
    }

    /// Writes the header of datagram `index` of the buffer.
    fn stamp(&mut self, index: usize, now: u64) {
        self.sequence += 1;
        let at = index * self.plan.size;
        let packet = &mut self.buffer[at..at + self.plan.size];
        let shape = self.plan.shape;
        write_header(&mut packet[shape.header()..], now, self.sequence, self.plan.wide);
        shape.finish(packet, self.sequence);
    }

    fn count(&self, datagrams: usize) -> bool {
        let bytes = (datagrams * self.plan.size) as u64;
        add(&self.tally.bytes, bytes);
        add(&self.tally.packets, datagrams as u64);
        self.context.spend(bytes).is_ok()
    }

    /// As fast as the kernel takes it: several datagrams in one call, cut by the kernel where it can.
    fn flood(&mut self) {
        let size = self.plan.size;
        let segment = i32::try_from(size).unwrap_or(i32::MAX);
        let most = self.buffer.len() / size;
        let mut offload = most > 1
            && self.plan.shape == Shape::Udp
            && sockopt::set_udp_segment(self.socket, segment).is_ok();
        while self.goes_on() {
            let wanted = self.phase.take(size * most) / size;
            if wanted == 0 {
                break;
            }
            let now = clock::monotonic();
            let first = self.sequence;
            for index in 0..wanted {
                self.stamp(index, now);
            }
            let data = &self.buffer[..wanted * size];
            let sent = if offload {
                self.socket.send(data).map(|len| len / size)
            } else {
                message::send_many(self.socket, data, size)
            };
            match sent {
                Ok(count) => {
                    // What did not go out gets its number again.
                    self.sequence = first + count as u64;
                    self.phase.give_back((wanted - count) * size);
                    if !self.count(count) {
                        return;
                    }
                }
                Err(error) => {
                    self.sequence = first;
                    self.phase.give_back(wanted * size);
                    if offload && !is_transient(&error) && error.kind() != io::ErrorKind::ConnectionRefused {
                        // EINVAL, EMSGSIZE: datagrams above the MTU; EIO: a device without checksums.
                        offload = false;
                        let _ = sockopt::set_udp_segment(self.socket, 0);
                    } else {
                        add(&self.tally.send_errors, 1);
                        std::thread::sleep(BACK_OFF);
                    }
                }
            }
        }
    }

    fn paced(&mut self, rate: BitRate, bursts: &mut Bursts) {
        // Without this every sleep is up to 50 us longer.
        let _ = clock::set_timer_slack(1);
        let (interval, _) = rate.time_for(self.plan.paced, 0);
        let begun = clock::monotonic();
        let (mut due, mut carry, mut last) = (begun, 0, 0);
        let group = self.plan.burst.max(1);
        let mut in_group = 0;
        while self.goes_on() {
            if in_group == 0 {
                match self.plan.pacing {
                    Pacing::Exact | Pacing::CatchUp(_) => {
                        self.wait_until(due);
                        let most = match self.plan.pacing {
                            Pacing::CatchUp(most) => most.nanos(),
                            _ => MAX_CATCH_UP,
                        };
                        let earliest = clock::monotonic().saturating_sub(most.max(2 * interval.nanos()));
                        add(&self.tally.behind, earliest.saturating_sub(due));
                        due = due.max(earliest);
                    }
                    Pacing::Ticks(tick) if clock::monotonic() < due => {
                        let tick = tick.nanos().max(1);
                        let next = begun + (clock::monotonic() - begun).div_ceil(tick).max(1) * tick;
                        self.wait_until(next.max(due));
                    }
                    Pacing::Ticks(_) => {}
                }
                if !self.goes_on() {
                    return;
                }
            }
            in_group = (in_group + 1) % group;
            let size = self.plan.size;
            if self.phase.take(size) < size {
                return;
            }
            let now = clock::monotonic();
            self.stamp(0, now);
            if self.socket.send(&self.buffer[..size]).is_ok() {
                bursts.note(now.saturating_sub(last) < interval.nanos() / 2);
                last = now;
                if !self.count(1) {
                    return;
                }
            } else {
                self.sequence -= 1;
                self.phase.give_back(size);
                add(&self.tally.send_errors, 1);
            }
            let (span, rest) = rate.time_for(self.plan.paced, carry);
            carry = rest;
            due += Duration::nanos(span);
        }
    }

    /// Sleeps most of the time until `due` and spins the rest.
    fn wait_until(&self, due: u64) {
        loop {
            let now = clock::monotonic();
            if now >= due || !self.phase.is_running() {
                return;
            }
            let left = due - now;
            if left > SPIN {
                clock::sleep_until((due - SPIN).min(now + MAX_SLEEP));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// Receives until the test is closed; counts while it runs.
pub(super) fn receive(socket: &Arc<UdpSocket>, wide: bool, phase: &Phase, tally: &Tally, context: &Context) {
    if phase.wait_for_start() {
        // Each of these only adds to what is known.
        let _ = sockopt::set_udp_gro(socket, 1);
        let _ = sockopt::set_receive_timestamps(socket, 1);
        let _ = sockopt::set_report_overflow(socket, 1);
        let mut buffer = vec![0_u8; 65_536];
        let mut order = Order::default();
        let mut drops = Drops::default();
        while !phase.is_closed() && context.check().is_ok() {
            let Ok(received) = message::receive(socket, &mut buffer) else {
                // The timeout of the socket, or an ICMP error of a stream in the other direction.
                continue;
            };
            let arrival = received.timestamp.unwrap_or_else(clock::real_time);
            let size = received.gro_size.map_or(received.len, usize::from).max(1);
            if let Some(dropped) = received.dropped {
                drops.note(dropped, received.len.div_ceil(size));
            }
            if !phase.is_running() {
                add(&tally.uncounted, received.len as u64);
                continue;
            }
            for datagram in buffer[..received.len].chunks(size) {
                if let Some(header) = Header::parse(datagram, wide) {
                    order.note(header, arrival);
                    add(&tally.bytes, datagram.len() as u64);
                }
            }
            order.publish(tally);
            let lost = order.highest.saturating_sub(order.arrived);
            tally
                .socket_drops
                .store(drops.datagrams.min(lost), Ordering::Relaxed);
            if context.spend(received.len as u64).is_err() {
                break;
            }
        }
    }
    tally.cpu.store(clock::thread_cpu(), Ordering::Relaxed);
}

/// Datagrams that the own socket dropped.
///
/// The kernel counts what it would have queued, and with UDP_GRO that is a train of datagrams: each dropped train is
/// taken to be as long as the one that arrived next.
#[derive(Debug, Default)]
struct Drops {
    seen: u32,
    datagrams: u64,
}

impl Drops {
    /// Notes the kernel's counter as it came with a train of so many datagrams.
    fn note(&mut self, counter: u32, train: usize) {
        let trains = counter.wrapping_sub(self.seen);
        self.seen = counter;
        self.datagrams += u64::from(trains) * train.max(1) as u64;
    }
}

/// The header of a datagram: sender's monotonic clock and sequence number from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) sent_nanos: u64,
    pub(crate) sequence: u64,
}

impl Header {
    pub(crate) fn parse(datagram: &[u8], wide: bool) -> Option<Self> {
        let word = |at: usize| Some(u32::from_be_bytes(datagram.get(at..at + 4)?.try_into().ok()?));
        let sequence = if wide {
            u64::from_be_bytes(datagram.get(8..16)?.try_into().ok()?)
        } else {
            u64::from(word(8)?)
        };
        let sent_nanos = u64::from(word(0)?) * 1_000_000_000 + u64::from(word(4)?).min(999_999) * 1000;
        Some(Self { sent_nanos, sequence })
    }
}

fn write_header(datagram: &mut [u8], now: u64, sequence: u64, wide: bool) {
    let seconds = (now / 1_000_000_000) as u32;
    let micros = (now % 1_000_000_000 / 1000) as u32;
    datagram[..4].copy_from_slice(&seconds.to_be_bytes());
    datagram[4..8].copy_from_slice(&micros.to_be_bytes());
    if wide {
        datagram[8..16].copy_from_slice(&sequence.to_be_bytes());
    } else {
        datagram[8..12].copy_from_slice(&(sequence as u32).to_be_bytes());
    }
}

/// Loss, duplicates, reordering and jitter of one stream.
///
/// A sequence number is remembered for [`Order::MEMORY`] numbers; what comes later than that counts as
/// reordered, never as duplicate.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) highest: u64,
    pub(crate) arrived: u64,
    pub(crate) duplicates: u64,
    pub(crate) reordered: u64,
    seen: Vec<u64>,
    transit: Option<i64>,
    jitter: f64,
}

impl Default for Order {
    fn default() -> Self {
        let seen = vec![0; (Self::MEMORY / 64) as usize];
        Self {
            highest: 0,
            arrived: 0,
            duplicates: 0,
            reordered: 0,
            seen,
            transit: None,
            jitter: 0.0,
        }
    }
}

impl Order {
    const MEMORY: u64 = 65_536;

    pub(crate) fn note(&mut self, header: Header, arrival: u64) {
        let sequence = header.sequence;
        if sequence > self.highest {
            self.forget(sequence);
            self.highest = sequence;
        } else if self.highest - sequence < Self::MEMORY && self.was_seen(sequence) {
            self.duplicates += 1;
            return;
        } else {
            self.reordered += 1;
        }
        self.mark(sequence);
        self.arrived += 1;
        // RFC 3550, section 6.4.1, with clocks of two machines: only differences count.
        let transit = arrival.wrapping_sub(header.sent_nanos).cast_signed();
        if let Some(before) = self.transit {
            let difference = transit.wrapping_sub(before).unsigned_abs() as f64;
            self.jitter += (difference - self.jitter) / 16.0;
        }
        self.transit = Some(transit);
    }

    /// Makes room for the numbers up to `sequence`.
    fn forget(&mut self, sequence: u64) {
        if sequence - self.highest >= Self::MEMORY {
            self.seen.fill(0);
            return;
        }
        for number in self.highest + 1..=sequence {
            let (word, bit) = Self::place(number);
            self.seen[word] &= !bit;
        }
    }

    fn was_seen(&self, sequence: u64) -> bool {
        let (word, bit) = Self::place(sequence);
        self.seen[word] & bit != 0
    }

    fn mark(&mut self, sequence: u64) {
        if self.highest - sequence < Self::MEMORY {
            let (word, bit) = Self::place(sequence);
            self.seen[word] |= bit;
        }
    }

    fn place(sequence: u64) -> (usize, u64) {
        let index = sequence % Self::MEMORY;
        ((index / 64) as usize, 1 << (index % 64))
    }

    fn publish(&self, tally: &Tally) {
        tally.packets.store(self.highest, Ordering::Relaxed);
        tally.arrived.store(self.arrived, Ordering::Relaxed);
        tally
            .lost
            .store(self.highest.saturating_sub(self.arrived), Ordering::Relaxed);
        tally.duplicates.store(self.duplicates, Ordering::Relaxed);
        tally.reordered.store(self.reordered, Ordering::Relaxed);
        tally.jitter.store(self.jitter_nanos(), Ordering::Relaxed);
    }

    pub(crate) fn jitter_nanos(&self) -> u64 {
        // A mean of absolute values is not negative.
        #[allow(clippy::cast_sign_loss)]
        let nanos = self.jitter as u64;
        nanos
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    ) || error.raw_os_error() == Some(ENOBUFS)
}

/// `ENOBUFS` (include/uapi/asm-generic/errno.h): the device queue is full.
const ENOBUFS: i32 = 105;
/// UDP_MAX_SEGMENTS of kernels before 6.9 (include/linux/udp.h).
const MAX_GSO_SEGMENTS: usize = 64;
/// Largest UDP payload of one IPv4 packet.
const MAX_GSO_BYTES: usize = 65_507;
/// How long to wait when the kernel takes nothing.
const BACK_OFF: std::time::Duration = std::time::Duration::from_micros(50);
/// The last part of a wait, which is spun away because a wake-up takes about as long.
const SPIN: u64 = 20_000;
/// How long a paced sender may be deaf to the end of the test.
const MAX_SLEEP: u64 = 50_000_000;
/// The most that is caught up with after a stall, or two intervals if they are longer.
const MAX_CATCH_UP: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(sequence: u64) -> Header {
        Header {
            sent_nanos: sequence * 1000,
            sequence,
        }
    }

    #[test]
    fn headers_in_both_widths() {
        let mut bytes = [0_u8; 20];
        for wide in [false, true] {
            write_header(&mut bytes, 5_000_007_999, 70_000, wide);
            let expected = Header {
                sent_nanos: 5_000_007_000,
                sequence: 70_000,
            };
            assert_eq!(Header::parse(&bytes, wide), Some(expected));
        }
        assert_eq!(&bytes[..8], &[0, 0, 0, 5, 0, 0, 0, 7]);
        assert_eq!(Header::parse(&bytes[..15], true), None);
        assert_eq!(Header::parse(&bytes[..11], false), None);
    }

    #[test]
    fn duplicates_do_not_hide_losses() {
        let mut order = Order::default();
        for sequence in [1, 2, 4, 4, 3, 7, 7, 7] {
            order.note(header(sequence), sequence * 1000);
        }
        assert_eq!(
            (order.highest, order.arrived, order.duplicates, order.reordered),
            (7, 5, 3, 1)
        );
    }

    #[test]
    fn dropped_trains_count_their_datagrams() {
        let mut drops = Drops::default();
        for (counter, train) in [(0, 46), (2, 46), (2, 10), (5, 1), (3, 1)] {
            drops.note(counter, train);
        }
        // The last one is a counter that wrapped.
        assert_eq!(drops.datagrams, 2 * 46 + 3 + u64::from(u32::MAX) - 1);
    }

    #[test]
    fn constant_delay_has_no_jitter() {
        let mut order = Order::default();
        for sequence in 1..100 {
            order.note(header(sequence), sequence * 1000 + 5_000_000);
        }
        assert_eq!(order.jitter_nanos(), 0);
        order.note(header(100), 100_000 + 5_016_000);
        assert_eq!(order.jitter_nanos(), 1000);
    }

    proptest! {
        #[test]
        fn any_order_counts_each_datagram_once(mut numbers in proptest::collection::vec(1_u64..500, 1..300)) {
            let mut order = Order::default();
            for number in &numbers {
                order.note(header(*number), 0);
            }
            numbers.sort_unstable();
            let total = numbers.len() as u64;
            numbers.dedup();
            prop_assert_eq!(order.arrived, numbers.len() as u64);
            prop_assert_eq!(order.duplicates, total - numbers.len() as u64);
            prop_assert_eq!(order.highest, *numbers.last().unwrap());
        }

        #[test]
        fn hostile_numbers_do_no_harm(numbers in proptest::collection::vec(any::<u64>(), 0..50)) {
            let mut order = Order::default();
            for number in numbers {
                order.note(Header { sent_nanos: number, sequence: number }, number.wrapping_mul(3));
            }
        }
    }
}

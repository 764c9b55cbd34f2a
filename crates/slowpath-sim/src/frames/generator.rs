//! The generator's ports and the receiver, around a network in simulated time.
//!
//! Every port has a clock of its own: within its interval each frame leaves at a random moment, by a stream of random
//! numbers named after the port's job. Ports in lock-step would hit a full queue in the same order for ever, and one of
//! them would bear all the loss. A line carries one frame at a time, so frames never come closer than it allows.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use slowpath_packet::{FlowKey, Protocol};
use slowpath_path::{
    BuildError, Cargo, Dice, DropCause, ElementId, Flags, FlowId, Network, NetworkSpec, Outcome, Packet,
    PortId,
};
use slowpath_record::ElementCounters;
use slowpath_scenario::workload::StreamProtocol;
use slowpath_units::{BitRate, Duration, Ratio, Time};

/// One port's stream of frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Name in the results.
    pub name: String,
    /// The network's port that the frames enter.
    pub from: String,
    /// The port where the receiver is.
    pub to: String,
    /// Address in the packets.
    pub source: IpAddr,
    /// Address in the packets.
    pub destination: IpAddr,
    /// Protocol of the packets.
    pub protocol: StreamProtocol,
    /// Bytes of each frame with FCS.
    pub frame: u32,
    /// Rate of the line, which preamble and gap also take from.
    pub line: BitRate,
    /// Share of the line that is offered.
    pub load: Ratio,
    /// When it starts.
    pub start: Duration,
    /// How long it runs.
    pub duration: Duration,
}

impl Stream {
    /// Bytes of the IP packet in each frame.
    pub const fn ip_len(&self) -> u32 {
        self.frame.saturating_sub(ETHERNET_WITH_FCS)
    }

    /// Nanoseconds from the start to the beginning of interval `number`, without drift.
    fn nominal(&self, number: u64) -> u64 {
        let bits = u128::from(self.frame + PREAMBLE_AND_GAP) * 8;
        let divisor = u128::from(self.line.bits_per_s()) * u128::from(self.load.ppb());
        let nanos = u128::from(number) * bits * BILLION * BILLION / divisor.max(1);
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }

    /// Frames whose whole interval lies within the duration.
    pub fn frames(&self) -> u64 {
        let bits = u128::from(self.frame + PREAMBLE_AND_GAP) * 8;
        let rate = u128::from(self.line.bits_per_s()) * u128::from(self.load.ppb());
        let frames = u128::from(self.duration.nanos()) * rate / (bits * BILLION * BILLION);
        u64::try_from(frames).unwrap_or(u64::MAX)
    }

    /// Time that one frame takes on the line.
    fn on_line(&self) -> u64 {
        let bytes = u64::from(self.frame + PREAMBLE_AND_GAP);
        self.line.time_for(bytes, 0).0.nanos()
    }

    fn key(&self) -> FlowKey {
        let (protocol, ports) = match self.protocol {
            StreamProtocol::Tcp => (Protocol::TCP, (SOURCE_PORT, DESTINATION_PORT)),
            StreamProtocol::Udp => (Protocol::UDP, (SOURCE_PORT, DESTINATION_PORT)),
            StreamProtocol::Icmp => (Protocol::ICMP, (0, 0)),
        };
        FlowKey::new(
            protocol,
            SocketAddr::new(self.source, ports.0),
            SocketAddr::new(self.destination, ports.1),
        )
    }
}

/// What came of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// Frames sent.
    pub sent: u64,
    /// Frames that arrived whole at the receiver.
    pub received: u64,
    /// The shortest way of a frame, from leaving the generator to its last bit's arrival.
    pub least_latency: Duration,
    /// The longest.
    pub most_latency: Duration,
    /// Mean deviation of transit time (RFC 3550, section 6.4.1).
    pub jitter: Duration,
    latency_sum: u128,
    last_transit: Option<u64>,
}

impl Counted {
    /// The mean way of a frame; `None` if none arrived.
    pub fn mean_latency(&self) -> Option<Duration> {
        let mean = self.latency_sum.checked_div(u128::from(self.received))?;
        u64::try_from(mean).ok().map(Duration::from_nanos)
    }

    /// Share of the frames that did not arrive; 0 when none was sent.
    pub fn loss(&self) -> f64 {
        if self.sent == 0 {
            return 0.0;
        }
        1.0 - self.received as f64 / self.sent as f64
    }

    fn arrived(&mut self, transit: u64) {
        self.least_latency = match self.received {
            0 => Duration::from_nanos(transit),
            _ => self.least_latency.min(Duration::from_nanos(transit)),
        };
        self.most_latency = self.most_latency.max(Duration::from_nanos(transit));
        self.received += 1;
        self.latency_sum += u128::from(transit);
        if let Some(last) = self.last_transit.replace(transit) {
            let (difference, jitter) = (last.abs_diff(transit), self.jitter.nanos());
            // J += (|D| - J) / 16, without a sign.
            let next = if difference >= jitter {
                jitter + (difference - jitter) / 16
            } else {
                jitter - (jitter - difference) / 16
            };
            self.jitter = Duration::from_nanos(next);
        }
    }
}

/// What came of all streams.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// By stream, in the order given.
    pub counted: Vec<Counted>,
    /// What went through each element.
    pub elements: Vec<ElementCounters>,
    /// Packets without a final outcome when the network was left.
    pub inside: u64,
    /// Where and why frames were lost, most first.
    pub losses: Vec<Loss>,
}

/// Frames of one stream that one element lost for one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The stream, by its place among those given.
    pub stream: usize,
    /// The element's name.
    pub element: String,
    /// Why.
    pub cause: DropCause,
    /// How many.
    pub frames: u64,
}

impl Tally {
    /// Share of all frames that did not arrive.
    pub fn loss(&self) -> f64 {
        let sum = |of: fn(&Counted) -> u64| self.counted.iter().map(of).sum::<u64>();
        let (sent, received) = (sum(|c| c.sent), sum(|c| c.received));
        Counted {
            sent,
            received,
            ..Counted::default()
        }
        .loss()
    }
}

/// Sends all streams through a network built from `spec` and counts what arrives; equal arguments give equal tallies.
///
/// A stream whose port the network lacks sends nothing.
///
/// # Errors
/// What is wrong with the network's specification.
pub fn send(spec: &NetworkSpec, seed: u64, streams: &[Stream]) -> Result<Tally, BuildError> {
    let mut network = Network::build(spec, seed)?;
    let mut ports: Vec<Port<'_>> = Vec::with_capacity(streams.len());
    for (index, stream) in streams.iter().enumerate() {
        if let (Some(from), Some(to)) = (network.port(&stream.from), network.port(&stream.to)) {
            let flow = network.register_flow(&stream.key());
            let dice = Dice::new(seed, &format!("frames {}", stream.name));
            ports.push(Port::new(index, stream, from, to, flow, dice));
        }
    }
    let mut receiver = Receiver {
        to: vec![None; streams.len()],
        counted: vec![Counted::default(); streams.len()],
        pieces: BTreeMap::new(),
        lost: BTreeMap::new(),
    };
    for port in &ports {
        receiver.to[port.index] = Some(port.to);
    }
    let mut due: Vec<(u64, usize)> = Vec::new();
    let mut window = 0_u64;
    while let Some(first) = ports.iter().filter_map(|port| port.next).min() {
        // Handing in and moving many at once is several times cheaper than one by one.
        window = window.max(first).saturating_add(WINDOW);
        due.clear();
        for (number, port) in ports.iter_mut().enumerate() {
            while let Some(at) = port.next.filter(|at| *at < window) {
                due.push((at, number));
                port.step();
            }
        }
        due.sort_unstable();
        for &(at, number) in &due {
            let port = &ports[number];
            let packet = Packet::new(cargo(port.index, at), port.flow, port.stream.ip_len());
            network.ingress(port.from, Time::from_nanos(at), packet);
            receiver.counted[port.index].sent += 1;
        }
        network.advance(Time::from_nanos(window - 1));
        receiver.take(&mut network);
    }
    let end = Time::from_nanos(window) + DRAIN;
    while let Some(at) = network.next_event().filter(|at| *at <= end) {
        network.advance(at);
        receiver.take(&mut network);
    }
    let elements: Vec<_> = network
        .element_names()
        .map(|(id, name)| (id, name.to_owned()))
        .collect();
    let mut losses: Vec<Loss> = receiver
        .lost
        .iter()
        .map(|(&(stream, element, cause), &frames)| Loss {
            stream,
            element: network.name(element).to_owned(),
            cause,
            frames,
        })
        .collect();
    losses.sort_by_key(|loss| std::cmp::Reverse(loss.frames));
    Ok(Tally {
        losses,
        counted: receiver.counted,
        inside: network.inside(),
        elements: elements
            .into_iter()
            .filter_map(|(id, name)| Some(network.counters(id)?.to_record(&name)))
            .collect(),
    })
}

/// One port while it sends.
struct Port<'a> {
    index: usize,
    stream: &'a Stream,
    from: PortId,
    to: PortId,
    flow: FlowId,
    dice: Dice,
    frames: u64,
    number: u64,
    /// When the next frame leaves; `None` at the end.
    next: Option<u64>,
}

impl<'a> Port<'a> {
    fn new(index: usize, stream: &'a Stream, from: PortId, to: PortId, flow: FlowId, dice: Dice) -> Self {
        let mut port = Self {
            index,
            stream,
            from,
            to,
            flow,
            dice,
            frames: stream.frames(),
            number: 0,
            next: None,
        };
        port.step();
        port
    }

    /// Decides when the next frame leaves.
    fn step(&mut self) {
        if self.number == self.frames {
            self.next = None;
            return;
        }
        let (from, to) = (
            self.stream.nominal(self.number),
            self.stream.nominal(self.number + 1),
        );
        let at = self.stream.start.nanos() + from + self.dice.below((to - from).max(1));
        let free = self.next.map_or(0, |last| last + self.stream.on_line());
        self.next = Some(at.max(free));
        self.number += 1;
    }
}

/// The receiver's counts.
struct Receiver {
    /// By stream, the port where it is expected.
    to: Vec<Option<PortId>>,
    counted: Vec<Counted>,
    /// Frames that were cut: pieces still under way, and whether one was lost.
    pieces: BTreeMap<u64, (i64, bool)>,
    /// Frames lost by stream, element and cause.
    lost: BTreeMap<(usize, ElementId, DropCause), u64>,
}

impl Receiver {
    fn take(&mut self, network: &mut Network) {
        while let Some(outcome) = network.poll_outcome() {
            let packet = *outcome.packet();
            if packet.flags.has(Flags::EMITTED) {
                continue;
            }
            let handle = packet.cargo.handle;
            let (stream, sent) = frame(packet.cargo);
            let whole = self.pieces.is_empty() || !self.pieces.contains_key(&handle);
            match outcome {
                Outcome::Delivered { port, at, .. } => {
                    let here = self.to[stream] == Some(port);
                    if whole {
                        if here {
                            self.counted[stream].arrived(at.nanos() - sent);
                        }
                    } else if self.piece_ended(handle, !here) {
                        self.counted[stream].arrived(at.nanos() - sent);
                    }
                }
                Outcome::Dropped { element, cause, .. } => {
                    // A frame is lost with the first of its pieces.
                    if whole || self.pieces.get(&handle).is_some_and(|(_, lost)| !lost) {
                        *self.lost.entry((stream, element, cause)).or_default() += 1;
                    }
                    if !whole {
                        self.piece_ended(handle, true);
                    }
                }
                Outcome::Split { parts, .. } => {
                    self.pieces.entry(handle).or_insert((1, false)).0 += i64::from(parts) - 1;
                }
                Outcome::Joined { parts, .. } if !whole => {
                    let left = self.pieces.get_mut(&handle).map(|(left, _)| {
                        *left += 1 - i64::from(parts);
                        *left
                    });
                    if left == Some(1) {
                        self.pieces.remove(&handle);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether this was the last piece of a frame none of whose pieces was lost.
    fn piece_ended(&mut self, handle: u64, lost: bool) -> bool {
        let Some((left, any_lost)) = self.pieces.get_mut(&handle) else {
            return false;
        };
        *left -= 1;
        *any_lost |= lost;
        if *left > 0 {
            return false;
        }
        let complete = !*any_lost;
        self.pieces.remove(&handle);
        complete
    }
}

/// Stream and time of sending in one handle, which is unique since a port never sends twice at one instant.
const fn cargo(stream: usize, at: u64) -> Cargo {
    Cargo::new((stream as u64) << TIME_BITS | at)
}

const fn frame(cargo: Cargo) -> (usize, u64) {
    (
        (cargo.handle >> TIME_BITS) as usize,
        cargo.handle & ((1 << TIME_BITS) - 1),
    )
}

/// How long a network is given to let go of what it holds, once the generator has stopped.
pub const DRAIN: Duration = Duration::from_secs(60);

/// Ethernet header and FCS, in bytes.
const ETHERNET_WITH_FCS: u32 = 18;

/// Preamble, start delimiter and the gap between frames, in bytes.
const PREAMBLE_AND_GAP: u32 = 20;

/// Ports in UDP and TCP headers; the discard service at the receiver (RFC 863).
const SOURCE_PORT: u16 = 49_152;
const DESTINATION_PORT: u16 = 9;

/// Bits for the time of sending, in nanoseconds: three days.
const TIME_BITS: u32 = 48;

/// Nanoseconds of traffic that are handed in at once.
const WINDOW: u64 = 1_000_000;

const BILLION: u128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use slowpath_path::{ElementKind, Limit, Link, Mtu};
    use slowpath_units::Layer;

    use super::*;

    fn stream(name: &str, frame: u32, load: &str) -> Stream {
        Stream {
            name: name.to_owned(),
            from: "near".to_owned(),
            to: "far".to_owned(),
            source: "10.0.0.1".parse().unwrap(),
            destination: "10.0.0.2".parse().unwrap(),
            protocol: StreamProtocol::Udp,
            frame,
            line: "100 Mbit/s".parse().unwrap(),
            load: load.parse().unwrap(),
            start: Duration::ZERO,
            duration: Duration::from_secs(1),
        }
    }

    fn through(elements: Vec<(String, ElementKind)>, streams: &[Stream]) -> Tally {
        send(&NetworkSpec::chain("near", "far", elements, vec![]), 7, streams).unwrap()
    }

    fn line(rate: &str, packets: u32) -> (String, ElementKind) {
        let link = Link::fifo(rate.parse().unwrap(), Layer::Wire, Limit::Packets(packets));
        ("line".to_owned(), ElementKind::Link(link))
    }

    #[test]
    fn full_load_is_the_line_rate_and_goes_through() {
        // 148,809 frames of 64 bytes a second at 100 Mbit/s (RFC 2544, appendix B, has 14,880 at 10).
        for (size, rate) in [(64, 148_809), (1024, 11_973), (1518, 8_127)] {
            let tally = through(vec![line("100 Mbit/s", 4)], &[stream("a", size, "100 %")]);
            assert_eq!(
                (tally.counted[0].sent, tally.counted[0].received),
                (rate, rate),
                "{size}"
            );
            assert_eq!(tally.inside, 0);
        }
    }

    #[test]
    fn two_ports_share_the_loss_of_one_line() {
        let tally = through(
            vec![line("50 Mbit/s", 32)],
            &[stream("a", 1024, "50 %"), stream("b", 1024, "50 %")],
        );
        for counted in &tally.counted {
            assert!((0.48..0.52).contains(&counted.loss()), "{counted:?}");
            // A full queue of 32 frames at 50 Mbit/s takes 5.3 ms.
            assert!(counted.most_latency > Duration::from_millis(5), "{counted:?}");
            assert!(counted.mean_latency().unwrap() < counted.most_latency);
        }
    }

    #[test]
    fn a_frame_counts_when_all_its_fragments_arrive() {
        let mtu = ElementKind::Mtu(Mtu {
            mtu: 600,
            answers_as: None,
            ignore_df: false,
            announced: None,
        });
        let open = through(
            vec![("mtu".to_owned(), mtu.clone()), line("100 Mbit/s", 64)],
            &[stream("a", 1024, "40 %")],
        );
        assert_eq!(open.counted[0].received, open.counted[0].sent);
        let tight = through(
            vec![("mtu".to_owned(), mtu), line("20 Mbit/s", 3)],
            &[stream("a", 1024, "40 %")],
        );
        let delivered = tight.elements[1].delivered.packets;
        assert!(tight.counted[0].received < delivered / 2, "{tight:?}");
        assert!(tight.counted[0].received > 0);
    }

    #[test]
    fn equal_seeds_give_equal_tallies() {
        let streams = [stream("a", 512, "70 %"), stream("b", 256, "70 %")];
        let run = |seed| {
            send(
                &NetworkSpec::chain("near", "far", vec![line("100 Mbit/s", 8)], vec![]),
                seed,
                &streams,
            )
            .unwrap()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}

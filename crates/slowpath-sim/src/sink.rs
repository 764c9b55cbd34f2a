//! Where packets go that are to be captured.

use slowpath_endpoint::wire::{Header, OwnedPayload, Transport};
use slowpath_packet::FlowKey;
use slowpath_path::{DropCause, ElementId, PacketId};
use slowpath_record::packets::{
    Conversations, OtherPacket, Record, SackBlocks, SynOptions, TcpFlags, TcpPacket, Timestamps,
};
use slowpath_units::{Layer, Time};

/// Where a packet was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// At the interface of the host with this number, when it sent the packet.
    Sent(u16),
    /// At the interface of the host with this number, when the packet arrived.
    Received(u16),
    /// At this tap in the network.
    Tap(ElementId),
}

/// A packet at a point.
#[derive(Debug, Clone, Copy)]
pub struct Sighting<'a> {
    /// Where.
    pub point: Point,
    /// When.
    pub at: Time,
    /// Its number in the network.
    pub id: PacketId,
    /// Its headers, with what the network changed up to here.
    pub header: &'a Header,
    /// Its payload.
    pub payload: &'a OwnedPayload,
}

/// Takes packets as they pass; every method may do nothing.
pub trait Sink {
    /// Whether [`dropped`](Self::dropped) must be called before anything that happens later is seen. A run is faster
    /// without; drops are then told in order of time among themselves, but may come after later sightings.
    const WATCHES_DROPS: bool = true;

    /// A packet was seen.
    fn seen(&mut self, _sighting: &Sighting<'_>) {}

    /// A packet was dropped; it was seen before, when it was sent.
    fn dropped(&mut self, _id: PacketId, _element: ElementId, _cause: DropCause, _at: Time) {}

    /// Whether the run is still wanted, asked at each point in time; it ends there where not.
    fn goes_on(&self) -> bool {
        true
    }
}

/// Takes no packets.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSink;

impl Sink for NoSink {
    const WATCHES_DROPS: bool = false;
}

/// Keeps the packets of one host's interface as records for an analysis, as a capture there would.
#[derive(Debug, Default)]
pub struct Recorder {
    host: u16,
    /// The packets in the order in which they passed.
    pub records: Vec<Record>,
    /// Their conversations.
    pub conversations: Conversations,
}

impl Recorder {
    /// Records what the host with number `host` sends and receives.
    pub fn at_host(host: u16) -> Self {
        Self {
            host,
            ..Self::default()
        }
    }
}

impl Sink for Recorder {
    const WATCHES_DROPS: bool = false;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        if sighting.point != Point::Sent(self.host) && sighting.point != Point::Received(self.host) {
            return;
        }
        let number = self.records.len() as u64 + 1;
        let record = record(sighting, number, &mut self.conversations);
        self.records.push(record);
    }
}

/// The record of a packet, as the capture reader would make it of the packet's bytes on Ethernet.
pub fn record(sighting: &Sighting<'_>, number: u64, conversations: &mut Conversations) -> Record {
    let header = sighting.header;
    let key: FlowKey = header.flow();
    let (conversation, direction) = conversations.intern(&key);
    let at = i64::try_from(sighting.at.nanos()).unwrap_or(i64::MAX);
    let payload_len = sighting.payload.len();
    let ip_len = header.ip_len(payload_len);
    let Transport::Tcp(tcp) = &header.transport else {
        return Record::Other(OtherPacket {
            at,
            number,
            conversation,
            protocol: key.protocol,
            ip_len,
            interface: 0,
            dscp: header.dscp,
            ecn: header.ecn,
            ttl: header.ttl,
            direction,
            icmp: None,
        });
    };
    let mut sack = SackBlocks::NONE;
    for (left, right) in tcp.options.sack.as_slice() {
        sack.push(left.0, right.0);
    }
    Record::Tcp(TcpPacket {
        seq: tcp.seq.0,
        ack: tcp.ack.0,
        payload_len,
        ip_len,
        wire_len: ip_len + Layer::Frame.overhead(ip_len),
        timestamps: tcp
            .options
            .timestamps
            .map(|(value, echo)| Timestamps { value, echo }),
        sack,
        window: tcp.window,
        flags: TcpFlags(u16::from(tcp.flags.0)),
        ip_id: header.src.is_ipv4().then_some(0),
        syn: SynOptions {
            mss: tcp.options.mss,
            window_scale: tcp.options.window_scale,
            sack_permitted: tcp.options.sack_permitted,
        },
        ttl: header.ttl,
        dscp: header.dscp,
        ecn: header.ecn,
        ..TcpPacket::new(conversation, direction, at, number)
    })
}

//! Packets beside the samples: the headers of what the followed connections send and receive, into a capture file.
//!
//! A connection is followed some milliseconds after its first packet, so packets wait until it is known whether somebody wants
//! them. Where several devices show the same packet (a bridge and its member, a VLAN and its carrier), only the device counts at
//! which the connection's own packets leave first: that is the one next to the socket.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use slowpath_capture::{PacketInfo, PcapngWriter, SectionInfo, TapDirection, TapId, TapInfo, TapStatistics};
use slowpath_packet::{IpView, TcpView};
use slowpath_sys::packet_ring::{PacketRing, RingPacket};
use slowpath_units::Time;

use super::error::WhyError;
use super::target::Target;

/// Where the packets go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureSpec {
    /// A file that is made, or written over.
    pub file: PathBuf,
}

/// What was captured beside a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The file.
    pub file: PathBuf,
    /// Packets of followed connections that it holds.
    pub kept: u64,
    /// Packets that passed and are not in it, because there was no room for them.
    pub lost: u64,
}

/// A capture under way.
pub(super) struct Packets {
    ring: PacketRing,
    file: PathBuf,
    writer: Writer,
    waiting: VecDeque<Waiting>,
    flows: HashMap<Flow, Known>,
    kept: u64,
    lost: u64,
}

/// Both ends, the smaller first: a loopback connection has both ends here.
type Flow = (SocketAddr, SocketAddr);

/// What is known of a flow.
#[derive(Default)]
struct Known {
    wanted: bool,
    device: Option<u32>,
}

/// A packet that waits until somebody wants its flow.
struct Waiting {
    at: u64,
    flow: Flow,
    device: u32,
    direction: TapDirection,
    length: u32,
    bytes: Box<[u8]>,
}

impl Packets {
    /// Begins to capture in the calling thread's network namespace.
    pub(super) fn begin(spec: &CaptureSpec, target: &Target) -> Result<Self, WhyError> {
        let port = match target {
            Target::Port(port) => Some(*port),
            Target::Peer(peer) => peer.port,
            Target::Command(_) | Target::Process(_) => None,
        };
        let ring = PacketRing::open(port).map_err(WhyError::Capture)?;
        let writer = Writer::create(&spec.file)
            .map_err(|source| WhyError::CaptureFile(spec.file.display().to_string(), source))?;
        Ok(Self {
            ring,
            file: spec.file.clone(),
            writer,
            waiting: VecDeque::new(),
            flows: HashMap::new(),
            kept: 0,
            lost: 0,
        })
    }

    /// From now on, and since shortly before, packets of this connection are wanted.
    pub(super) fn follow(&mut self, local: SocketAddr, remote: SocketAddr) {
        self.flows.entry(flow(local, remote)).or_default().wanted = true;
    }

    /// Takes what came meanwhile.
    pub(super) fn take(&mut self) -> Result<(), WhyError> {
        let Self {
            ring, waiting, flows, ..
        } = self;
        let mut lost = 0;
        ring.drain(&mut |packet| {
            // The loopback shows every packet on its way out and on its way in.
            if packet.loopback && !packet.outgoing {
                return;
            }
            let Some(flow) = ends(packet.bytes) else { return };
            if packet.outgoing && flows.len() < FLOWS {
                flows.entry(flow).or_default().device.get_or_insert(packet.device);
            }
            if waiting.len() == WAITING {
                lost += 1;
                return;
            }
            waiting.push_back(held(&packet, flow));
        });
        self.lost += lost;
        self.release(false)
    }

    /// Writes what is wanted, lets go of what nobody asked for in time; `all` at the end.
    fn release(&mut self, all: bool) -> Result<(), WhyError> {
        let newest = self.waiting.back().map_or(0, |packet| packet.at);
        while let Some(first) = self.waiting.front() {
            let known = self.flows.get(&first.flow);
            let wanted = known.is_some_and(|known| known.wanted);
            let device = known.and_then(|known| known.device);
            // A connection that only receives may not have sent for a while: then any device will do.
            let decided = wanted && device.is_some();
            if !decided && !all && newest.saturating_sub(first.at) < PATIENCE {
                return Ok(());
            }
            let Some(packet) = self.waiting.pop_front() else {
                return Ok(());
            };
            if wanted && device.is_none_or(|device| device == packet.device) {
                self.writer
                    .write(&packet)
                    .map_err(|source| WhyError::CaptureFile(self.file.display().to_string(), source))?;
                self.kept += 1;
            }
        }
        Ok(())
    }

    /// Ends the capture, with its counters in the file.
    pub(super) fn finish(mut self) -> Result<Captured, WhyError> {
        // The kernel hands over a block that is not full after 10 ms.
        slowpath_sys::clock::sleep_until(slowpath_sys::clock::monotonic() + 25_000_000);
        self.take()?;
        self.release(true)?;
        let (_, dropped) = self.ring.take_counts().unwrap_or_default();
        let lost = self.lost + dropped;
        self.writer
            .finish(self.kept, lost)
            .map_err(|source| WhyError::CaptureFile(self.file.display().to_string(), source))?;
        Ok(Captured {
            file: self.file,
            kept: self.kept,
            lost,
        })
    }
}

fn held(packet: &RingPacket<'_>, flow: Flow) -> Waiting {
    Waiting {
        at: packet.at,
        flow,
        device: packet.device,
        direction: match (packet.loopback, packet.outgoing) {
            (true, _) => TapDirection::Unknown,
            (_, true) => TapDirection::Outbound,
            (_, false) => TapDirection::Inbound,
        },
        length: packet.length,
        bytes: packet.bytes.into(),
    }
}

fn flow(one: SocketAddr, other: SocketAddr) -> Flow {
    // A socket of both families tells IPv4 addresses as such; scopes of IPv6 do not travel.
    let plain = |end: SocketAddr| SocketAddr::new(end.ip().to_canonical(), end.port());
    let (one, other) = (plain(one), plain(other));
    (one.min(other), one.max(other))
}

/// The ends of a TCP packet.
fn ends(bytes: &[u8]) -> Option<Flow> {
    let ip = IpView::parse(bytes).ok()?;
    let tcp = TcpView::parse(ip.payload()).ok()?;
    Some(flow(
        SocketAddr::new(ip.source(), tcp.source_port()),
        SocketAddr::new(ip.destination(), tcp.destination_port()),
    ))
}

/// The capture file.
struct Writer {
    out: PcapngWriter<BufWriter<File>>,
    taps: HashMap<u32, TapId>,
    span: Option<(u64, u64)>,
}

impl Writer {
    fn create(file: &Path) -> io::Result<Self> {
        let section = SectionInfo {
            application: concat!("slowpath ", env!("CARGO_PKG_VERSION")).to_owned(),
            comment: "slowpath why: headers of the connections that were watched".to_owned(),
            system: String::new(),
            origin_ns: 0,
        };
        Ok(Self {
            out: PcapngWriter::new(BufWriter::new(File::create(file)?), &section)?,
            taps: HashMap::new(),
            span: None,
        })
    }

    fn write(&mut self, packet: &Waiting) -> io::Result<()> {
        let tap = if let Some(tap) = self.taps.get(&packet.device) {
            *tap
        } else {
            let name = format!("device {}", packet.device);
            let tap = self.out.add_tap(&TapInfo::raw(name, ""))?;
            self.taps.insert(packet.device, tap);
            tap
        };
        let first = self.span.map_or(packet.at, |(first, _)| first);
        self.span = Some((first, packet.at));
        let info = PacketInfo {
            wire_len: packet.length,
            direction: packet.direction,
            ..PacketInfo::default()
        };
        self.out
            .packet(tap, Time::from_nanos(packet.at), &packet.bytes, &info)
    }

    fn finish(mut self, kept: u64, lost: u64) -> io::Result<()> {
        if let (Some(&tap), Some((start, end))) = (self.taps.values().next(), self.span) {
            self.out.statistics(
                tap,
                &TapStatistics {
                    start: Time::from_nanos(start),
                    end: Time::from_nanos(end),
                    received: kept + lost,
                    tap_drops: lost,
                    writer_drops: 0,
                },
            )?;
        }
        self.out.finish()?;
        Ok(())
    }
}

/// How long a packet waits for its connection to be followed, nanoseconds.
const PATIENCE: u64 = 1_000_000_000;
/// Most packets that wait.
const WAITING: usize = 150_000;
/// Most flows that are told apart before they are wanted.
const FLOWS: usize = 20_000;

//! Captures of a run: one pcapng file per host, and one for what happened inside the network.
//!
//! A host's file holds what that host sent and received, as a capture on its own interface would. The network's
//! file has one interface per element that recorded or dropped anything; each dropped packet carries its fate
//! as a comment, and a packet has the same number in every file.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use slowpath_capture::{PacketInfo, PcapngWriter, SectionInfo, TapDirection, TapId, TapInfo, TapStatistics};
use slowpath_path::{NetworkSpec, PacketSink, Seen, SeenPacket};
use slowpath_record::CaptureRef;
use slowpath_scenario::Plan;
use slowpath_units::Time;

/// What the interfaces of a network's file say of themselves: by it the file is known again.
pub const NETWORK_TAP: &str = "packets that passed or were dropped here";

/// Begins the comment of a dropped packet; the element's name and the cause follow, a colon between them.
pub const FATE: &str = "dropped by ";

/// What a capture set is called and where it lies.
#[derive(Debug, Clone)]
pub struct CaptureSpec {
    /// The results folder.
    pub folder: PathBuf,
    /// Name of the run: files are `captures/RUN.POINT.pcapng`.
    pub run: String,
    /// Free text for the files: experiment, variant, repeat, seed.
    pub comment: String,
    /// Ports in the order of the network, by their hosts' names; the data's sender first in the results.
    pub ports: Vec<String>,
    /// The host that sends the data.
    pub sender: String,
    /// Elements in the order of the network.
    pub elements: Vec<String>,
    /// Bytes kept of each packet.
    pub snap_length: u32,
    /// Point in time of the run's start, nanoseconds since 1970.
    pub origin_ns: u64,
}

impl CaptureSpec {
    /// The captures of `plan`'s run called `run`, in `network`, of which `kept` bytes of each packet stay.
    ///
    /// Stamps count from zero; set [`origin_ns`](Self::origin_ns) for those of a real clock.
    pub(crate) fn of(plan: &Plan, folder: &Path, run: &str, network: &NetworkSpec, kept: u32) -> Self {
        Self {
            folder: folder.to_owned(),
            run: run.to_owned(),
            comment: format!(
                "{}, {}, repeat {}, seed {}",
                plan.experiment, plan.variant, plan.repeat, plan.seed
            ),
            sender: plan.sender().to_owned(),
            ..Self::over(network, kept)
        }
    }

    /// Captures of whatever goes over `network`, without a name or a place yet.
    pub fn over(network: &NetworkSpec, kept: u32) -> Self {
        Self {
            folder: PathBuf::new(),
            run: String::new(),
            comment: String::new(),
            ports: network.ports.iter().map(|port| port.name.clone()).collect(),
            sender: String::new(),
            elements: (network.elements.iter())
                .map(|element| element.name.clone())
                .collect(),
            snap_length: kept,
            origin_ns: 0,
        }
    }

    /// The time of day as the origin of stamps.
    pub fn now() -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(0))
    }
}

/// Receives the packets of a run; clones write into the same files.
#[derive(Debug, Clone)]
pub struct Captures(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    spec: CaptureSpec,
    /// One file per port.
    hosts: Vec<Point>,
    /// The network's file, made when the first packet needs it.
    network: Option<NetworkFile>,
    first: Option<Time>,
    last: Time,
    failure: Option<(PathBuf, io::Error)>,
}

#[derive(Debug)]
struct Point {
    name: String,
    file: String,
    writer: PcapngWriter<BufWriter<File>>,
    tap: TapId,
    packets: u64,
}

#[derive(Debug)]
struct NetworkFile {
    file: String,
    writer: PcapngWriter<BufWriter<File>>,
    /// Interface of each element, as far as it has one.
    taps: Vec<Option<TapId>>,
    packets: u64,
}

impl Captures {
    /// Opens the hosts' files.
    ///
    /// # Errors
    /// The path that could not be made, with the system's answer.
    pub fn create(spec: CaptureSpec) -> Result<Self, (PathBuf, io::Error)> {
        let mut hosts = Vec::with_capacity(spec.ports.len());
        for name in &spec.ports {
            let (file, mut writer) = open(&spec, name)?;
            let info = tap(name, "what this host sent and received", spec.snap_length);
            let tap = writer
                .add_tap(&info)
                .map_err(|error| (spec.folder.join(&file), error))?;
            hosts.push(Point {
                name: name.clone(),
                file,
                writer,
                tap,
                packets: 0,
            });
        }
        let state = State {
            spec,
            hosts,
            network: None,
            first: None,
            last: Time::ZERO,
            failure: None,
        };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// Closes the files and says what they hold, the data sender's first; `missed` packets were seen and not written.
    ///
    /// # Errors
    /// The first write that failed; the files up to then are readable.
    pub fn close(self, missed: u64) -> Result<Vec<CaptureRef>, (PathBuf, io::Error)> {
        let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        let span = (state.first.unwrap_or_default(), state.last);
        let folder = state.spec.folder.clone();
        let mut references = Vec::new();
        for point in std::mem::take(&mut state.hosts) {
            let path = folder.join(&point.file);
            let counters = TapStatistics {
                start: span.0,
                end: span.1,
                received: point.packets + missed,
                tap_drops: missed,
                writer_drops: 0,
            };
            let mut writer = point.writer;
            writer
                .statistics(point.tap, &counters)
                .and_then(|()| writer.finish().map(drop))
                .map_err(|error| (path, error))?;
            references.push(CaptureRef {
                file: point.file,
                point: point.name,
                packets: point.packets,
                missed,
            });
        }
        references.sort_by_key(|reference| reference.point != state.spec.sender);
        if let Some(network) = state.network.take() {
            let path = folder.join(&network.file);
            network.writer.finish().map_err(|error| (path, error))?;
            references.push(CaptureRef {
                file: network.file,
                point: "network".to_owned(),
                packets: network.packets,
                missed,
            });
        }
        Ok(references)
    }
}

impl PacketSink for Captures {
    fn packet(&mut self, seen: &SeenPacket<'_>) {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .packet(seen);
    }
}

impl State {
    fn packet(&mut self, seen: &SeenPacket<'_>) {
        if self.failure.is_some() {
            return;
        }
        self.first.get_or_insert(seen.at);
        self.last = self.last.max(seen.at);
        let info = PacketInfo {
            wire_len: seen.length,
            id: Some(seen.id.0),
            ..PacketInfo::default()
        };
        let written = match seen.event {
            Seen::Sent(port) => self.at_host(
                port.0,
                seen,
                PacketInfo {
                    direction: TapDirection::Outbound,
                    ..info
                },
            ),
            Seen::Delivered(port) => self.at_host(
                port.0,
                seen,
                PacketInfo {
                    direction: TapDirection::Inbound,
                    ..info
                },
            ),
            Seen::Passed(element) => self.in_network(element.0, seen, info),
            Seen::Dropped(element, cause) => {
                let name = self
                    .spec
                    .elements
                    .get(usize::from(element.0))
                    .cloned()
                    .unwrap_or_default();
                let info = PacketInfo {
                    comment: Some(format_args!("{FATE}{name}: {cause}")),
                    ..info
                };
                self.in_network(element.0, seen, info)
            }
        };
        if let Err(failure) = written {
            self.failure = Some(failure);
        }
    }

    fn at_host(
        &mut self,
        port: u16,
        seen: &SeenPacket<'_>,
        info: PacketInfo<'_>,
    ) -> Result<(), (PathBuf, io::Error)> {
        let Some(point) = self.hosts.get_mut(usize::from(port)) else {
            return Ok(());
        };
        point.packets += 1;
        point
            .writer
            .packet(point.tap, seen.at, seen.bytes, &info)
            .map_err(|error| (self.spec.folder.join(&point.file), error))
    }

    fn in_network(
        &mut self,
        element: u16,
        seen: &SeenPacket<'_>,
        info: PacketInfo<'_>,
    ) -> Result<(), (PathBuf, io::Error)> {
        if self.network.is_none() {
            let (file, writer) = open(&self.spec, "network")?;
            self.network = Some(NetworkFile {
                file,
                writer,
                taps: vec![None; self.spec.elements.len()],
                packets: 0,
            });
        }
        let Some(network) = &mut self.network else {
            return Ok(());
        };
        let Some(slot) = network.taps.get_mut(usize::from(element)) else {
            return Ok(());
        };
        let path = || self.spec.folder.join(&network.file);
        let tap = if let Some(tap) = *slot {
            tap
        } else {
            let name = &self.spec.elements[usize::from(element)];
            let made = network
                .writer
                .add_tap(&tap(name, NETWORK_TAP, self.spec.snap_length))
                .map_err(|error| (path(), error))?;
            *slot = Some(made);
            made
        };
        network.packets += 1;
        network
            .writer
            .packet(tap, seen.at, seen.bytes, &info)
            .map_err(|error| (path(), error))
    }
}

fn tap(name: &str, description: &str, snap_length: u32) -> TapInfo {
    TapInfo {
        snap_len: snap_length,
        ..TapInfo::raw(name, description)
    }
}

type Opened = (String, PcapngWriter<BufWriter<File>>);

fn open(spec: &CaptureSpec, point: &str) -> Result<Opened, (PathBuf, io::Error)> {
    let file = format!("captures/{}.{point}.pcapng", spec.run);
    let path = spec.folder.join(&file);
    let section = SectionInfo {
        application: concat!("slowpath ", env!("CARGO_PKG_VERSION")).to_owned(),
        comment: spec.comment.clone(),
        origin_ns: spec.origin_ns,
        ..SectionInfo::default()
    };
    let opened = File::create(&path).and_then(|file| PcapngWriter::new(BufWriter::new(file), &section));
    opened.map(|writer| (file, writer)).map_err(|error| (path, error))
}

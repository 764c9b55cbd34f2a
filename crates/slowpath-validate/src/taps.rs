//! The three captures of one labelled transfer: beside the sender, in the middle of the path, beside the receiver.
//!
//! The files say nothing that a capture by `tcpdump` on that spot would not say: no fates, no directions, no cause.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use slowpath_capture::{PacketInfo, PcapngWriter, SectionInfo, TapId, TapInfo};
use slowpath_lab::{PacketSink, Seen, SeenPacket};
use slowpath_path::NetworkSpec;
use slowpath_record::CaptureRef;

/// The places of a capture, sender first.
pub const PLACES: [&str; 3] = ["sender", "middle", "receiver"];

/// Receives the packets of a run; clones write into the same files.
#[derive(Debug, Clone)]
pub struct Taps(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    files: Vec<TapFile>,
    ports: [u16; 2],
    middle: Vec<u16>,
    failure: Option<io::Error>,
}

#[derive(Debug)]
struct TapFile {
    name: String,
    writer: PcapngWriter<BufWriter<File>>,
    tap: TapId,
    packets: u64,
}

impl Taps {
    /// Opens the three files of the run `name` in `folder`.
    ///
    /// # Errors
    /// What the system said.
    pub fn create(
        folder: &Path,
        name: &str,
        network: &NetworkSpec,
        ends: [&str; 2],
        origin_ns: u64,
    ) -> io::Result<Self> {
        let port = |host: &str| network.ports.iter().position(|port| port.name == host);
        let [Some(sender), Some(receiver)] = ends.map(port) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the hosts of the transfer have no ports",
            ));
        };
        let numbers = network
            .elements
            .iter()
            .zip(0_u16..)
            .filter(|(element, _)| element.name.ends_with(MIDDLE));
        let files = PLACES
            .iter()
            .map(|place| open(folder, name, place, origin_ns))
            .collect::<io::Result<Vec<TapFile>>>()?;
        Ok(Self(Arc::new(Mutex::new(State {
            files,
            ports: [sender, receiver].map(|number| u16::try_from(number).unwrap_or(u16::MAX)),
            middle: numbers.map(|(_, number)| number).collect(),
            failure: None,
        }))))
    }

    /// Closes the files.
    ///
    /// # Errors
    /// The first write that failed.
    pub fn close(self, missed: u64) -> io::Result<Vec<CaptureRef>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        let mut references = Vec::new();
        for (file, place) in std::mem::take(&mut state.files).into_iter().zip(PLACES) {
            file.writer.finish()?;
            references.push(CaptureRef {
                file: file.name,
                point: place.to_owned(),
                packets: file.packets,
                missed,
            });
        }
        Ok(references)
    }
}

impl PacketSink for Taps {
    fn packet(&mut self, seen: &SeenPacket<'_>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match seen.event {
            Seen::Sent(port) | Seen::Delivered(port) if port.0 == state.ports[0] => 0,
            Seen::Sent(port) | Seen::Delivered(port) if port.0 == state.ports[1] => 2,
            Seen::Passed(element) if state.middle.contains(&element.0) => 1,
            _ => return,
        };
        let Some(file) = state.files.get_mut(place) else {
            return;
        };
        file.packets += 1;
        let info = PacketInfo {
            wire_len: seen.length,
            ..PacketInfo::default()
        };
        if let Err(error) = file.writer.packet(file.tap, seen.at, seen.bytes, &info) {
            state.failure.get_or_insert(error);
        }
    }
}

fn open(folder: &Path, run: &str, place: &str, origin_ns: u64) -> io::Result<TapFile> {
    let name = format!("captures/{run}.{place}.pcapng");
    let path: PathBuf = folder.join(&name);
    let section = SectionInfo {
        application: concat!("slowpath ", env!("CARGO_PKG_VERSION")).to_owned(),
        origin_ns,
        ..SectionInfo::default()
    };
    let mut writer = PcapngWriter::new(BufWriter::new(File::create(path)?), &section)?;
    let info = TapInfo {
        snap_len: SNAP_LENGTH,
        ..TapInfo::raw("tap", "")
    };
    let tap = writer.add_tap(&info)?;
    Ok(TapFile {
        name,
        writer,
        tap,
        packets: 0,
    })
}

/// How the name of a tap in the middle ends.
pub const MIDDLE: &str = ".middle";

/// Bytes kept of each packet: all headers.
pub const SNAP_LENGTH: u32 = 128;

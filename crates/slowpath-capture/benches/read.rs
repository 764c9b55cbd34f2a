//! Reads a large capture of full-size segments and compares the time with what other programs take.
//!
//! Prints ratios only: seconds depend on the machine and on who else uses it. The capture is made in a
//! temporary folder and removed again. `SLOWPATH_BENCH_MB` sets its size (default 900).

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use slowpath_capture::{
    LinkType, PacketInfo, PacketReader, PcapngWriter, ReadAhead, Reader, SectionInfo, TapInfo,
};
use slowpath_packet::ethernet::ether_type;
use slowpath_packet::{EthernetHeader, Ipv4Header, Seq32, TcpFlags, TcpHeader, TcpOptions};
use slowpath_units::Time;

fn main() -> io::Result<()> {
    // `cargo test --benches` runs every bench: a small file shows that it works.
    let as_test = !std::env::args().any(|argument| argument == "--bench");
    let default = if as_test { 2 } else { 900 };
    let megabytes = std::env::var("SLOWPATH_BENCH_MB")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default);
    let folder = Scratch::new()?;
    let pcap = folder.0.join("large.pcap");
    let pcapng = folder.0.join("large.pcapng");
    let packets = make_pcap(&pcap, megabytes * 1_000_000)?;

    let mut out = io::stdout();
    writeln!(
        out,
        "{packets} packets, {megabytes} MB, from the page cache; best of three, as ratios to cat"
    )?;
    let cat = best(|| command("cat", &[], &pcap, true)).expect("cat is everywhere");
    let row = |out: &mut io::Stdout, name: &str, time: Option<Duration>| match time {
        Some(time) => {
            let ratio = time.as_secs_f64() / cat.as_secs_f64();
            let each = time.as_nanos() / u128::from(packets);
            writeln!(out, "{name:32} {ratio:8.2} x   {each:6} ns per packet")
        }
        None => writeln!(out, "{name:32}  skipped: not installed"),
    };
    row(&mut out, "cat FILE >/dev/null", Some(cat))?;
    row(
        &mut out,
        "read in blocks of 256 KiB",
        best(|| read_plainly(&pcap)),
    )?;
    row(&mut out, "slowpath, frames", best(|| frames(&pcap)))?;
    row(&mut out, "slowpath, decoded packets", best(|| records(&pcap)))?;
    row(&mut out, "slowpath, decoded ahead", best(|| ahead(&pcap)))?;
    row(
        &mut out,
        "capinfos",
        once(|| command("capinfos", &["-c"], &pcap, false)),
    )?;
    row(
        &mut out,
        "tcptrace -l -r",
        once(|| command("tcptrace", &["-l", "-r", "-n"], &pcap, false)),
    )?;
    if std::env::var_os("SLOWPATH_BENCH_TSHARK").is_some() {
        let arguments = ["-q", "-z", "conv,tcp", "-r"];
        row(
            &mut out,
            "tshark -q -z conv,tcp",
            once(|| command("tshark", &arguments, &pcap, false)),
        )?;
    }
    std::fs::remove_file(&pcap)?;

    let written = Instant::now();
    make_pcapng(&pcapng, packets)?;
    row(&mut out, "slowpath, writing pcapng", Some(written.elapsed()))?;
    row(
        &mut out,
        "slowpath, decoded from pcapng",
        best(|| records(&pcapng)),
    )
}

/// The shortest of three runs.
fn best(mut run: impl FnMut() -> Option<Duration>) -> Option<Duration> {
    (0..3).filter_map(|_| run()).min()
}

fn once(mut run: impl FnMut() -> Option<Duration>) -> Option<Duration> {
    run()
}

/// Runs a program on the file, through a pipe if it would otherwise see that its output goes nowhere.
fn command(program: &str, arguments: &[&str], file: &Path, to_null: bool) -> Option<Duration> {
    let start = Instant::now();
    let output = if to_null {
        Stdio::from(File::create("/dev/null").ok()?)
    } else {
        Stdio::null()
    };
    let status = Command::new(program)
        .args(arguments)
        .arg(file)
        .stdout(output)
        .stderr(Stdio::null())
        .status()
        .ok()?;
    status.success().then(|| start.elapsed())
}

fn read_plainly(file: &Path) -> Option<Duration> {
    let start = Instant::now();
    let mut input = File::open(file).ok()?;
    let mut buffer = vec![0; 256 * 1024];
    while input.read(&mut buffer).ok()? > 0 {}
    Some(start.elapsed())
}

fn frames(file: &Path) -> Option<Duration> {
    let start = Instant::now();
    let mut reader = Reader::open(file).ok()?;
    let mut bytes = 0_u64;
    while let Some(frame) = reader.next_frame().ok()? {
        bytes += frame.bytes.len() as u64;
    }
    std::hint::black_box(bytes);
    Some(start.elapsed())
}

fn records(file: &Path) -> Option<Duration> {
    let start = Instant::now();
    let mut reader = PacketReader::open(file).ok()?;
    let mut count = 0_u64;
    while let Some(record) = reader.next_record().ok()? {
        std::hint::black_box(&record);
        count += 1;
    }
    std::hint::black_box(count);
    Some(start.elapsed())
}

/// What an analysis waits for if another thread reads: here it does nothing but wait.
fn ahead(file: &Path) -> Option<Duration> {
    let start = Instant::now();
    let mut reader = ReadAhead::start(PacketReader::open(file).ok()?).ok()?;
    let mut count = 0_u64;
    while let Some(batch) = reader.next_batch().ok()? {
        for record in batch.records {
            std::hint::black_box(record);
            count += 1;
        }
    }
    std::hint::black_box(count);
    Some(start.elapsed())
}

/// One data segment of 1448 bytes in either of four flows, every third followed by an acknowledgement.
fn each_packet(mut sink: impl FnMut(Time, &[u8]) -> io::Result<bool>) -> io::Result<u64> {
    let (server, client) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(198, 51, 100, 1));
    let ethernet = EthernetHeader {
        destination: [2; 6],
        source: [4; 6],
        ether_type: ether_type::IPV4,
    };
    let mut frame = [0x5a; 1514];
    let (mut count, mut sequence) = (0_u64, [1_u32; 4]);
    loop {
        let flow = (count / 64 % 4) as usize;
        let ack = count % 3 == 2;
        let (source, destination) = if ack { (client, server) } else { (server, client) };
        let payload = if ack { 0 } else { 1448 };
        let tcp = TcpHeader {
            source_port: if ack { 40_000 + flow as u16 } else { 80 },
            destination_port: if ack { 80 } else { 40_000 + flow as u16 },
            sequence: Seq32(if ack { 1 } else { sequence[flow] }),
            acknowledgement: Seq32(if ack { sequence[flow] } else { 1 }),
            flags: TcpFlags::ACK,
            window: 4096,
            urgent: 0,
            options: TcpOptions {
                timestamps: Some((count as u32, count as u32)),
                ..TcpOptions::default()
            },
        };
        sequence[flow] = sequence[flow].wrapping_add(payload);
        let header = ethernet.write(&mut frame);
        Ipv4Header::new(source, destination, 6, 32 + payload).write(&mut frame[header..]);
        tcp.write_without_checksum(&mut frame[header + 20..]);
        count += 1;
        if !sink(Time::from_nanos(count * 12_000), &frame[..66 + payload as usize])? {
            return Ok(count);
        }
    }
}

fn make_pcap(file: &Path, size: u64) -> io::Result<u64> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    let mut written = 24;
    for field in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        out.write_all(&field.to_le_bytes())?;
    }
    let count = each_packet(|at, bytes| {
        let (seconds, nanos) = (at.nanos() / 1_000_000_000, at.nanos() % 1_000_000_000);
        for field in [
            seconds as u32,
            nanos as u32,
            bytes.len() as u32,
            bytes.len() as u32,
        ] {
            out.write_all(&field.to_le_bytes())?;
        }
        out.write_all(bytes)?;
        written += 16 + bytes.len() as u64;
        Ok(written < size)
    })?;
    out.flush()?;
    Ok(count)
}

fn make_pcapng(file: &Path, packets: u64) -> io::Result<()> {
    let mut writer = PcapngWriter::new(File::create(file)?, &SectionInfo::default())?;
    let tap = writer.add_tap(&TapInfo {
        link_type: LinkType::ETHERNET,
        ..TapInfo::raw("bench", "")
    })?;
    let mut left = packets;
    each_packet(|at, bytes| {
        writer.packet(tap, at, bytes, &PacketInfo::default())?;
        left -= 1;
        Ok(left > 0)
    })?;
    writer.finish()?;
    Ok(())
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("slowpath-bench-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

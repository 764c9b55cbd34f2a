//! Reads a large capture of full-size segments and compares the time with what other programs take.
//!
//! Prints ratios to `cat`, of elapsed time and of processor time: seconds depend on the machine, and elapsed
//! time on who else uses it. The capture (two data segments for each acknowledgement) is made in a temporary
//! folder and removed again. `SLOWPATH_BENCH_MB` sets its size (default 900), `SLOWPATH_BENCH_TSHARK` adds tshark.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

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
    let copy = folder.0.join("copy.pcap");
    let pcapng = folder.0.join("large.pcapng");
    let packets = make_pcap(&pcap, megabytes * 1_000_000)?;
    let tshark = std::env::var_os("SLOWPATH_BENCH_TSHARK").is_some();

    let mut rows: Vec<Row> = vec![
        Row::new("cat FILE >/dev/null", 3, || command("cat", &[], &pcap)),
        Row::new("read in blocks of 256 KiB", 3, || read_plainly(&pcap)),
        Row::new("slowpath, frames", 3, || frames(&pcap)),
        Row::new("slowpath, decoded packets", 3, || records(&pcap)),
        Row::new("slowpath, decoded ahead", 3, || ahead(&pcap)),
        Row::new("the same packets, buffered write", 1, || {
            make_pcap(&copy, megabytes * 1_000_000).ok().map(drop)
        }),
        Row::new("slowpath, writing pcapng", 1, || {
            make_pcapng(&pcapng, packets).ok()
        }),
        Row::new("slowpath, decoded from pcapng", 3, || records(&pcapng)),
        Row::new("capinfos", 1, || command("capinfos", &["-c"], &pcap)),
        Row::new("tcptrace -l -r", 1, || {
            command("tcptrace", &["-l", "-r", "-n"], &pcap)
        }),
        Row::new("tshark -q -z conv,tcp", u32::from(tshark), || {
            command("tshark", &["-q", "-z", "conv,tcp", "-r"], &pcap)
        }),
    ];
    // One of each in turn, so that a busy moment of the machine does not hit one program alone.
    for round in 0..3 {
        rows.iter_mut()
            .filter(|row| round < row.rounds)
            .for_each(Row::run);
    }

    let mut out = io::stdout();
    writeln!(
        out,
        "{packets} packets, {megabytes} MB, from the page cache; least of up to three runs"
    )?;
    writeln!(
        out,
        "{:32} {:>12} {:>12}",
        "as ratios to cat", "elapsed", "processor"
    )?;
    let cat = rows[0].least.expect("cat is everywhere");
    for row in &rows {
        match row.least {
            Some(cost) => writeln!(
                out,
                "{:32} {:10.2} x {:10.2} x",
                row.name,
                cost.elapsed / cat.elapsed,
                cost.processor / cat.processor
            )?,
            None => writeln!(out, "{:32} skipped: not installed or not asked for", row.name)?,
        }
    }
    Ok(())
}

/// A program or way of reading, and what it cost at least.
struct Row<'a> {
    name: &'static str,
    rounds: u32,
    work: Box<dyn FnMut() -> Option<()> + 'a>,
    least: Option<Cost>,
}

/// Seconds.
#[derive(Clone, Copy)]
struct Cost {
    elapsed: f64,
    processor: f64,
}

impl<'a> Row<'a> {
    fn new(name: &'static str, rounds: u32, work: impl FnMut() -> Option<()> + 'a) -> Self {
        Self {
            name,
            rounds,
            work: Box::new(work),
            least: None,
        }
    }

    fn run(&mut self) {
        let (start, processor) = (Instant::now(), processor_time());
        if (self.work)().is_none() {
            return;
        }
        let elapsed = start.elapsed().as_secs_f64();
        let processor = processor_time() - processor;
        self.least = Some(match self.least {
            None => Cost { elapsed, processor },
            Some(least) => Cost {
                elapsed: least.elapsed.min(elapsed),
                processor: least.processor.min(processor),
            },
        });
    }
}

/// Processor seconds of this process and the programs it ran, in steps of 10 ms (proc(5), stat).
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = behind_name
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|text| text.parse::<f64>().ok())
        .sum();
    // Never nothing: a ratio to it is printed.
    ticks.max(1.0) / 100.0
}

/// Runs a program on the file; its output is read by nobody.
fn command(program: &str, arguments: &[&str], file: &Path) -> Option<()> {
    let mut command = Command::new(program);
    let status = command
        .args(arguments)
        .arg(file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    status.success().then_some(())
}

fn read_plainly(file: &Path) -> Option<()> {
    let mut input = File::open(file).ok()?;
    let mut buffer = vec![0; 256 * 1024];
    while input.read(&mut buffer).ok()? > 0 {}
    Some(())
}

fn frames(file: &Path) -> Option<()> {
    let mut reader = Reader::open(file).ok()?;
    let mut bytes = 0_u64;
    while let Some(frame) = reader.next_frame().ok()? {
        bytes += frame.bytes.len() as u64;
    }
    std::hint::black_box(bytes);
    Some(())
}

fn records(file: &Path) -> Option<()> {
    let mut reader = PacketReader::open(file).ok()?;
    let mut count = 0_u64;
    while let Some(record) = reader.next_record().ok()? {
        std::hint::black_box(&record);
        count += 1;
    }
    std::hint::black_box(count);
    Some(())
}

/// What an analysis waits for if another thread reads: here it does nothing but wait.
fn ahead(file: &Path) -> Option<()> {
    let mut reader = ReadAhead::start(PacketReader::open(file).ok()?).ok()?;
    let mut count = 0_u64;
    while let Some(batch) = reader.next_batch().ok()? {
        for record in batch.records {
            std::hint::black_box(record);
            count += 1;
        }
    }
    std::hint::black_box(count);
    Some(())
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

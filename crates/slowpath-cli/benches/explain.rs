//! `slowpath explain FILE` from start to end, against what other programs take for the same file, and its memory.
//!
//! Makes two captures in a temporary folder: full-size segments of four connections (`SLOWPATH_BENCH_MB`, default
//! 1000), and many short connections (`SLOWPATH_BENCH_CONNECTIONS`, default one million). Every program reads the first
//! from the page cache, all in turn in the same run, so that a busy moment does not hit one alone. A hundred captures in a
//! folder are read on one processor and on two. Prints ratios
//! and which goals were missed; seconds depend on the machine. tshark runs once.

#![allow(clippy::disallowed_methods)] // a bench reads files and measures time
#![allow(clippy::cast_sign_loss)]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use slowpath_packet::ethernet::ether_type;
use slowpath_packet::{EthernetHeader, Ipv4Header, Seq32, TcpFlags, TcpHeader, TcpOptions};

/// The command, as users run it.
const SLOWPATH: &str = env!("CARGO_BIN_EXE_slowpath");

/// Memory for the large transfer, and for many connections, bytes.
const MEMORY: [f64; 2] = [200e6, 2e9];

fn main() -> io::Result<()> {
    // `cargo test --benches` runs every bench: a small file shows that it works.
    let as_test = !std::env::args().any(|argument| argument == "--bench");
    let size = setting("SLOWPATH_BENCH_MB", if as_test { 2 } else { 1000 }) * 1_000_000;
    let connections = setting(
        "SLOWPATH_BENCH_CONNECTIONS",
        if as_test { 2_000 } else { 1_000_000 },
    );
    let folder = Scratch::new()?;
    let large = folder.0.join("large.pcap");
    let half = folder.0.join("half.pcap");
    let many = folder.0.join("many.pcap");
    let packets = make_large(&large, size)?;
    make_large(&half, size / 2)?;

    let mut rows = [
        Row::new("slowpath explain", 5, SLOWPATH, &["explain"], None),
        Row::new("cat FILE >/dev/null", 5, "cat", &[], Some(("at most 2 x", 2.0))),
        Row::new("capinfos -c", 1, "capinfos", &["-c"], None),
        Row::new(
            "tcptrace -l -r",
            2,
            "tcptrace",
            &["-n", "-l", "-r"],
            Some(("4 x faster", 0.25)),
        ),
        Row::new(
            "tcptrace -G",
            1,
            "tcptrace",
            &["-n", "-G"],
            Some(("5 x faster", 0.2)),
        ),
        Row::new(
            "tshark -q -z conv,tcp",
            1,
            "tshark",
            &["-q", "-z", "conv,tcp", "-r"],
            Some(("40 x faster", 1.0 / 40.0)),
        ),
    ];
    for round in 0..5 {
        for row in rows.iter_mut().filter(|row| round < row.rounds) {
            row.run(&large, &folder.0);
        }
    }
    println!(
        "{packets} packets, {} MB, from the page cache; least time of each",
        size / 1_000_000
    );
    let mut missed = Vec::new();
    let reference = rows[0].seconds.unwrap_or(f64::NAN);
    println!("{:32} {:>14}  goal", "", "slowpath takes");
    for row in &rows[1..] {
        let Some(seconds) = row.seconds else {
            println!("{:32} skipped: not installed", row.name);
            continue;
        };
        let ratio = reference / seconds;
        let (words, met) = match row.goal {
            Some((words, most)) => (words, ratio <= most),
            None => ("", true),
        };
        println!("{:32} {ratio:12.3} x  {words}", row.name);
        if !met {
            missed.push(format!("{}: {ratio:.3} x, wanted {words}", row.name));
        }
    }
    let mut shorter = Row::new("", 3, SLOWPATH, &["explain"], None);
    (0..3).for_each(|_| shorter.run(&half, &folder.0));
    let growth = reference / shorter.seconds.unwrap_or(f64::NAN);
    println!("twice the packets take {growth:.2} times as long");
    if growth > 2.3 {
        missed.push(format!("twice the packets take {growth:.2} times as long"));
    }

    folder_of(&folder.0.join("hundred"), size, &mut missed)?;

    make_many(&many, connections)?;
    let mut crowd = Row::new("", 2, SLOWPATH, &["explain"], None);
    (0..2).for_each(|_| crowd.run(&many, &folder.0));
    make_many(&many, connections / 2)?;
    let mut fewer = Row::new("", 2, SLOWPATH, &["explain"], None);
    (0..2).for_each(|_| fewer.run(&many, &folder.0));
    let growth = crowd.seconds.unwrap_or(f64::NAN) / fewer.seconds.unwrap_or(f64::NAN);
    println!("twice the connections take {growth:.2} times as long");
    if growth > 2.3 {
        missed.push(format!("twice the connections take {growth:.2} times as long"));
    }
    make_many(&many, connections)?;
    for (name, file, most) in [
        ("the large transfer", &large, MEMORY[0]),
        ("many connections", &many, MEMORY[1]),
    ] {
        let memory = memory(file)?;
        println!(
            "memory for {name}: {:.0} MB, at most {:.0}",
            memory / 1e6,
            most / 1e6
        );
        if memory > most {
            missed.push(format!("memory for {name}: {:.0} MB", memory / 1e6));
        }
    }
    if missed.is_empty() {
        println!("all goals met");
    }
    for goal in missed {
        println!("MISSED {goal}");
    }
    Ok(())
}

/// A hundred captures with as many packets together as the large one, on one processor and on two, in turns.
fn folder_of(folder: &Path, size: u64, missed: &mut Vec<String>) -> io::Result<()> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if processors < 2 || Command::new("taskset").arg("--version").output().is_err() {
        println!(
            "a hundred captures on one and two processors: skipped: taskset and two processors are needed"
        );
        return Ok(());
    }
    std::fs::create_dir(folder)?;
    for number in 0..100 {
        make_large(&folder.join(format!("{number:02}.pcap")), size / 100)?;
    }
    let explain = |processors: &'static str| -> Row<'_> {
        let arguments: &[&str] = match processors {
            "0" => &["-c", "0", SLOWPATH, "explain"],
            _ => &["-c", "0,1", SLOWPATH, "explain"],
        };
        Row::new("", 5, "taskset", arguments, None)
    };
    let (mut one, mut two) = (explain("0"), explain("0,1"));
    for _ in 0..5 {
        one.run(folder, folder);
        two.run(folder, folder);
    }
    let gain = one.seconds.unwrap_or(f64::NAN) / two.seconds.unwrap_or(f64::NAN);
    println!("a hundred captures on two processors are read {gain:.2} times as fast as on one");
    if gain < 1.6 {
        missed.push(format!(
            "two processors read a hundred captures {gain:.2} times as fast as one, wanted 1.6"
        ));
    }
    std::fs::remove_dir_all(folder)
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// The most memory that `slowpath explain` holds for a file, bytes.
fn memory(file: &Path) -> io::Result<f64> {
    let mut child = Command::new(SLOWPATH)
        .arg("explain")
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0.0_f64;
    while child.try_wait()?.is_none() {
        // proc(5): the largest resident set so far; gone once the process has ended.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let kilobytes = text
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
        most = most.max(kilobytes.unwrap_or(0.0) * 1024.0);
        std::thread::sleep(std::time::Duration::from_micros(500));
    }
    Ok(most)
}

/// A program and what it cost at least.
struct Row<'a> {
    name: &'static str,
    rounds: u32,
    program: &'a str,
    arguments: &'a [&'a str],
    /// What is wanted, and the largest ratio of slowpath's time to this program's.
    goal: Option<(&'static str, f64)>,
    seconds: Option<f64>,
}

impl<'a> Row<'a> {
    fn new(
        name: &'static str,
        rounds: u32,
        program: &'a str,
        arguments: &'a [&'a str],
        goal: Option<(&'static str, f64)>,
    ) -> Self {
        Self {
            name,
            rounds,
            program,
            arguments,
            goal,
            seconds: None,
        }
    }

    /// Runs the program on the file, in a folder where it may leave files.
    fn run(&mut self, file: &Path, folder: &Path) {
        let start = Instant::now();
        let result = Command::new(self.program)
            .args(self.arguments)
            .arg(file)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let seconds = start.elapsed().as_secs_f64();
        if result.is_ok_and(|status| status.success()) {
            self.seconds = Some(self.seconds.map_or(seconds, |least| least.min(seconds)));
        }
    }
}

/// One packet to write.
struct Segment {
    at_ns: u64,
    /// Address and port of the client; the server is the same always.
    client: (Ipv4Addr, u16),
    to_client: bool,
    flags: TcpFlags,
    seq: u32,
    ack: u32,
    payload: u32,
}

struct Pcap {
    out: BufWriter<File>,
    frame: [u8; 1600],
    written: u64,
    packets: u64,
}

impl Pcap {
    fn create(file: &Path) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
        for field in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 262_144, 1] {
            out.write_all(&field.to_le_bytes())?;
        }
        Ok(Self {
            out,
            frame: [0x5a; 1600],
            written: 24,
            packets: 0,
        })
    }

    fn add(&mut self, segment: &Segment) -> io::Result<()> {
        // The port for "discard": tshark has no dissector for it. On port 80 it joins the file to one endless HTTP body.
        let server = (Ipv4Addr::new(192, 0, 2, 1), 9);
        let (from, to) = if segment.to_client {
            (server, segment.client)
        } else {
            (segment.client, server)
        };
        let ethernet = EthernetHeader {
            destination: [2; 6],
            source: [4; 6],
            ether_type: ether_type::IPV4,
        };
        let syn = segment.flags.contains(TcpFlags::SYN);
        let millis = (segment.at_ns / 1_000_000) as u32;
        let tcp = TcpHeader {
            source_port: from.1,
            destination_port: to.1,
            sequence: Seq32(segment.seq),
            acknowledgement: Seq32(segment.ack),
            flags: segment.flags,
            window: if syn { 65_535 } else { 16_384 },
            urgent: 0,
            options: TcpOptions {
                mss: syn.then_some(1460),
                window_scale: syn.then_some(9),
                timestamps: Some((millis, millis.saturating_sub(20))),
                ..TcpOptions::default()
            },
        };
        let header = ethernet.write(&mut self.frame);
        let behind_ip = tcp.write_without_checksum(&mut self.frame[header + 20..]) as u32 + segment.payload;
        Ipv4Header::new(from.0, to.0, 6, behind_ip).write(&mut self.frame[header..]);
        let len = 34 + behind_ip;
        for field in [
            (segment.at_ns / 1_000_000_000) as u32,
            (segment.at_ns % 1_000_000_000) as u32,
            len,
            len,
        ] {
            self.out.write_all(&field.to_le_bytes())?;
        }
        self.out.write_all(&self.frame[..len as usize])?;
        self.written += 16 + u64::from(len);
        self.packets += 1;
        Ok(())
    }
}

/// Four downloads at 1 Gbit/s together: full-size segments, an acknowledgement for every second one 20 ms later,
/// and one segment in 20 000 lost and sent again.
fn make_large(file: &Path, size: u64) -> io::Result<u64> {
    const FLOWS: usize = 4;
    const BEHIND: u32 = 400;
    let mut pcap = Pcap::create(file)?;
    let client = |flow: usize| (Ipv4Addr::new(198, 51, 100, 1), 40_000 + flow as u16);
    let mut now = 0_u64;
    let mut sent = [0_u32; FLOWS];
    let mut lost: [Option<(u32, u32)>; FLOWS] = [None; FLOWS];
    for flow in 0..FLOWS {
        for (step, flags) in [TcpFlags::SYN, TcpFlags::SYN | TcpFlags::ACK, TcpFlags::ACK]
            .into_iter()
            .enumerate()
        {
            now += 1_000 + u64::from(step == 1) * 20_000_000;
            let to_client = step == 1;
            let (seq, ack) = [(0, 0), (0, 1), (1, 1)][step];
            pcap.add(&Segment {
                at_ns: now,
                client: client(flow),
                to_client,
                flags,
                seq,
                ack,
                payload: 0,
            })?;
        }
    }
    while pcap.written < size {
        for flow in 0..FLOWS {
            let data = |number: u32, now: u64, pcap: &mut Pcap| {
                pcap.add(&Segment {
                    at_ns: now,
                    client: client(flow),
                    to_client: true,
                    flags: TcpFlags::ACK,
                    seq: 1_u32.wrapping_add(number.wrapping_mul(1448)),
                    ack: 1,
                    payload: 1448,
                })
            };
            for _ in 0..2 {
                now += 12_000;
                data(sent[flow], now, &mut pcap)?;
                if sent[flow] % 20_000 == 10_000 {
                    lost[flow] = Some((sent[flow], sent[flow] + BEHIND));
                }
                sent[flow] += 1;
            }
            if let Some((number, until)) = lost[flow]
                && sent[flow] > until + BEHIND
            {
                data(number, now, &mut pcap)?;
                lost[flow] = Some((number, u32::MAX));
            }
            if sent[flow] > BEHIND {
                let mut acked = sent[flow] - BEHIND;
                if let Some((number, until)) = lost[flow] {
                    if until != u32::MAX || sent[flow] < number + 3 * BEHIND {
                        acked = acked.min(number);
                    } else {
                        lost[flow] = None;
                    }
                }
                pcap.add(&Segment {
                    at_ns: now + 2_000,
                    client: client(flow),
                    to_client: false,
                    flags: TcpFlags::ACK,
                    seq: 1,
                    ack: 1_u32.wrapping_add(acked.wrapping_mul(1448)),
                    payload: 0,
                })?;
            }
        }
    }
    pcap.out.flush()?;
    Ok(pcap.packets)
}

/// Short connections, some hundred open at a time: handshake, a request, an answer, the end.
fn make_many(file: &Path, connections: u64) -> io::Result<()> {
    let mut pcap = Pcap::create(file)?;
    for number in 0..connections {
        let client = (
            Ipv4Addr::from(0x0a00_0000 + (number / 50_000) as u32),
            10_000 + (number % 50_000) as u16,
        );
        let ack = TcpFlags::ACK;
        let script = [
            (false, TcpFlags::SYN, 0, 0, 0),
            (true, TcpFlags::SYN | ack, 0, 1, 0),
            (false, ack, 1, 1, 0),
            (true, ack, 1, 1, 200),
            (false, ack | TcpFlags::FIN, 1, 201, 0),
            (true, ack | TcpFlags::FIN, 201, 2, 0),
        ];
        for (step, (to_client, flags, seq, ack, payload)) in script.into_iter().enumerate() {
            pcap.add(&Segment {
                at_ns: number * 100_000 + step as u64 * 5_000,
                client,
                to_client,
                flags,
                seq,
                ack,
                payload,
            })?;
        }
    }
    pcap.out.flush()
}

/// A folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("slowpath-explain-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

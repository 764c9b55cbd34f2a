//! Arguments of `slowpath measure` and `slowpath serve`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::amounts::{amount, burst_rate, network, port, rate, span};
use crate::numbers::{any, whole};
use slowpath::measure::iperf3::BurstRate;
use slowpath::measure::serve::Network;
use slowpath::{BitRate, ByteCount, Dscp, Duration};

/// `slowpath measure`.
#[derive(Debug, Args)]
#[command(
    override_usage = "slowpath measure TOOL://TARGET [OPTIONS]\n       slowpath measure TOOL TARGET [OPTIONS]",
    subcommand_help_heading = "Tools",
    subcommand_value_name = "TOOL",
    after_help = "Examples:
  slowpath measure iperf3://192.0.2.1 -R              what does the server send to us?
  slowpath measure iperf3://192.0.2.1 -u -b 100M      is 100 Mbit/s of UDP lost?
  slowpath measure ssh://me@host/big --ipqos none --ipqos 'af21 cs1'
  slowpath measure ping://host --df -s 1472           do full-size packets pass?
  slowpath measure sweep://host --load                which DSCP is treated how?

`slowpath serve` is the other end for iperf3 and sweep, and on request for ftp and s3.
Load on addresses that are not local needs --allow-remote-load and --cap.
`slowpath measure TOOL --help` lists the options of a tool.

Exit codes: 0 done; 2 wrong usage; 3 the tool failed; 4 the measurement is incomplete."
)]
pub(crate) struct MeasureArgs {
    #[command(subcommand)]
    pub(super) tool: Tool,
}

/// The tools, and the schemes of their targets.
#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(super) enum Tool {
    /// Rate over TCP or UDP, with an iperf3 server (the real one or `slowpath serve`)
    Iperf3(Iperf3Args),
    /// One file over FTP
    Ftp(FtpArgs),
    /// One file with the real scp, sftp or ssh, and the IPQoS of your choice
    Ssh(SshArgs),
    /// Objects of an S3 store: PUT and GET, whole or in parts
    S3(S3Args),
    /// Round trips and loss
    Ping(PingArgs),
    /// The routers on the way, and what they did to the mark
    Trace(TraceArgs),
    /// The largest packet that gets through
    Mtu(MtuArgs),
    /// How each of the 64 DSCP fares, with `slowpath serve` at the other end
    Sweep(SweepArgs),
}

impl Tool {
    pub(super) const fn common(&self) -> &CommonArgs {
        match self {
            Self::Iperf3(args) => &args.common,
            Self::Ftp(args) => &args.common,
            Self::Ssh(args) => &args.common,
            Self::S3(args) => &args.common,
            Self::Ping(args) => &args.common,
            Self::Trace(args) => &args.common,
            Self::Mtu(args) => &args.common,
            Self::Sweep(args) => &args.common,
        }
    }
}

impl Tool {
    /// What is measured, as the user gave it.
    pub(super) fn target(&self) -> &str {
        match self {
            Self::Iperf3(args) => &args.target,
            Self::Ftp(args) => &args.target,
            Self::Ssh(args) => &args.target,
            Self::S3(args) => &args.target,
            Self::Ping(args) => &args.target,
            Self::Trace(args) => &args.target,
            Self::Mtu(args) => &args.target,
            Self::Sweep(args) => &args.target,
        }
    }
}

/// What all tools have in common.
#[derive(Debug, Args)]
pub(super) struct CommonArgs {
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = Form::Text, help_heading = "Answer")]
    pub(super) format: Form,
    /// Also add the measurement as a run to this results folder, for `report` and `compare`
    #[arg(long, value_name = "DIR", help_heading = "Answer")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) safety: SafetyArgs,
}

/// What load is permitted.
#[derive(Debug, Args)]
pub(super) struct SafetyArgs {
    /// Allow load on an address that is not local; needs --cap
    #[arg(long, requires = "cap", help_heading = "Safety")]
    pub(super) allow_remote_load: bool,
    /// Most bytes of that load, both directions together, e.g. '500 MB'
    #[arg(long, value_name = "SIZE", value_parser = amount, help_heading = "Safety")]
    pub(super) cap: Option<ByteCount>,
    /// Highest rate of each socket that sends that load; not for ssh [default: 1 Gbit/s]
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Safety")]
    pub(super) max_rate: Option<BitRate>,
    /// Give up after this, whatever happens [default: what the tool needs and 30 s, or 10 min]
    #[arg(long, value_name = "SPAN", value_parser = span, help_heading = "Safety")]
    pub(super) deadline: Option<Duration>,
}

/// `slowpath diagnose SERVICE://HOST`.
#[derive(Debug, Args)]
pub(crate) struct DiagnosePathArgs {
    /// Services of one host: iperf3://HOST, ssh://HOST[/FILE], ftp://HOST/FILE (read) or ftp://HOST/FOLDER/ (write),
    /// s3://HOST/BUCKET. Several of them are layers: the one that loses the rate is named
    #[arg(required = true, value_name = "TARGET")]
    pub(super) targets: Vec<String>,
    /// Try everything with data from the server
    #[arg(long, short = 'R')]
    pub(super) reverse: bool,
    /// Also try this mark: 0 to 63, cs1, af21, ef, ..., or all of them; may be given several times
    #[arg(long = "mark", value_name = "DSCP|all", value_parser = marks)]
    pub(super) marks: Vec<Marks>,
    /// Begin no test that would not be over after this
    #[arg(long, value_name = "SPAN", value_parser = span, default_value = "60 s")]
    pub(super) most: Duration,
    /// More options of ssh_config, e.g. 'Ciphers aes128-gcm@openssh.com'; may be given several times
    #[arg(long = "ssh-option", value_name = "OPTION", help_heading = "Login")]
    pub(super) ssh_options: Vec<String>,
    /// ssh_config instead of your own
    #[arg(long, value_name = "FILE", help_heading = "Login")]
    pub(super) ssh_config: Option<PathBuf>,
    /// TLS with the object store, and the system's certificate authorities
    #[arg(long, help_heading = "Login")]
    pub(super) tls: bool,
    /// TLS with the object store, and the certificate authorities of this file
    #[arg(long, value_name = "FILE", help_heading = "Login")]
    pub(super) ca: Option<PathBuf>,
    /// Region of the object store
    #[arg(long, default_value = "us-east-1", help_heading = "Login")]
    pub(super) region: String,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t = Form::Text, help_heading = "Answer")]
    pub(super) format: Form,
    #[command(flatten)]
    pub(super) safety: SafetyArgs,
}

/// One mark, or all of them.
#[derive(Debug, Clone)]
pub(crate) struct Marks(pub(super) Vec<Dscp>);

fn marks(text: &str) -> Result<Marks, String> {
    if text == "all" {
        return Ok(Marks((1..64).filter_map(Dscp::new).collect()));
    }
    text.parse()
        .map(|mark| Marks(vec![mark]))
        .map_err(|error: slowpath::InvalidDscp| error.to_string())
}

/// Form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people: the answer first, 80 columns
    Text,
    /// For programs; iperf3's own names for iperf3
    Json,
}

/// Options of TCP connections.
#[derive(Debug, Args)]
pub(super) struct SocketArgs {
    /// DSCP of the packets sent, from the SYN on: 0 to 63, cs1, af21, ef, ...
    #[arg(long, help_heading = "Connection")]
    pub(super) dscp: Option<Dscp>,
    /// Socket buffers, which bound the window, e.g. 64K or '1 MB'
    #[arg(long, short = 'w', value_name = "SIZE", value_parser = amount, help_heading = "Connection")]
    pub(super) window: Option<ByteCount>,
    /// Largest segment payload in bytes
    #[arg(long, short = 'M', value_name = "BYTES", value_parser = whole::<u32>(1, 65_535), help_heading = "Connection")]
    pub(super) mss: Option<u32>,
    /// Congestion control of this side, and of an iperf3 server
    #[arg(long, short = 'C', value_name = "NAME", help_heading = "Connection")]
    pub(super) congestion_control: Option<String>,
}

/// `slowpath measure iperf3`; letters as iperf3 has them.
#[derive(Debug, Args)]
pub(super) struct Iperf3Args {
    /// iperf3://HOST[:PORT]; the port is 5201 if not given
    pub(super) target: String,
    /// Length of the test in seconds, without --omit
    #[arg(long, short = 't', visible_alias = "time", default_value_t = 10, value_parser = whole::<u32>(1, 86_400))]
    pub(super) seconds: u32,
    /// End after this amount instead, e.g. 100M or '100 MB'
    #[arg(long, short = 'n', value_name = "SIZE", value_parser = amount, conflicts_with = "blocks")]
    pub(super) bytes: Option<ByteCount>,
    /// End after so many writes or datagrams instead
    #[arg(long, short = 'k', value_name = "COUNT", value_parser = any())]
    pub(super) blocks: Option<u64>,
    /// The server sends
    #[arg(long, short = 'R', conflicts_with = "bidir")]
    pub(super) reverse: bool,
    /// Both send at the same time
    #[arg(long)]
    pub(super) bidir: bool,
    /// Parallel streams in each direction
    #[arg(long, short = 'P', default_value_t = 1, value_parser = whole::<u32>(1, 128))]
    pub(super) parallel: u32,
    /// UDP instead of TCP; at 1 Mbit/s unless --rate says otherwise
    #[arg(long, short = 'u')]
    pub(super) udp: bool,
    /// Rate of each stream, e.g. 100M or '100 Mbit/s', or 100M/10 for bursts of 10; 0 is as fast as possible
    #[arg(long, short = 'b', visible_alias = "bitrate", value_name = "RATE[/BURST]", value_parser = burst_rate)]
    pub(super) rate: Option<BurstRate>,
    /// Bytes of one write or datagram
    #[arg(long, short = 'l', value_name = "SIZE", value_parser = amount)]
    pub(super) length: Option<ByteCount>,
    /// Seconds at the start that do not count
    #[arg(long, short = 'O', value_name = "SECONDS", default_value_t = 0, value_parser = whole::<u32>(0, 600))]
    pub(super) omit: u32,
    /// Seconds between two lines of the report
    #[arg(long, short = 'i', value_name = "SECONDS", default_value_t = 1, value_parser = whole::<u32>(1, 600))]
    pub(super) interval: u32,
    /// How paced UDP datagrams leave this side; bursts of one's own cause loss
    #[arg(long, value_enum, default_value_t = Spacing::Exact)]
    pub(super) pacing: Spacing,
    /// 32-bit numbers in datagrams, as iperf3 has them by default
    #[arg(long)]
    pub(super) counters_32bit: bool,
    #[command(flatten)]
    pub(super) socket: SocketArgs,
    /// The whole type-of-service byte, 0 to 255 or 0x..; DSCP times four
    #[arg(long, short = 'S', value_name = "BYTE", value_parser = byte, conflicts_with = "dscp", help_heading = "Connection")]
    pub(super) tos: Option<u8>,
    /// Send every write at once (Nagle's algorithm off)
    #[arg(long, short = 'N', help_heading = "Connection")]
    pub(super) no_delay: bool,
    /// Send with sendfile, without copying
    #[arg(long, short = 'Z', visible_alias = "zerocopy", help_heading = "Connection")]
    pub(super) zero_copy: bool,
    /// Let the kernel pace each stream
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Connection")]
    pub(super) fq_rate: Option<BitRate>,
    /// Set the don't-fragment bit on IPv4 datagrams
    #[arg(long, help_heading = "Connection")]
    pub(super) dont_fragment: bool,
    /// A repeating pattern instead of random bytes
    #[arg(long, help_heading = "Connection")]
    pub(super) repeating_payload: bool,
    /// Fetch the server's own output
    #[arg(long, visible_alias = "get-server-output", help_heading = "Answer")]
    pub(super) server_output: bool,
    /// The sheet of RFC 6349 instead: one test for each of several windows; --seconds is the length of each
    #[arg(long, help_heading = "RFC 6349", conflicts_with_all = ["udp", "bidir", "bytes", "blocks", "rate", "window"])]
    pub(super) rfc6349: bool,
    /// Windows of that sheet, e.g. 64K,256K [default: 1/4, 1/2, 1 and 2 times the bandwidth-delay product]
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = amount, requires = "rfc6349", help_heading = "RFC 6349")]
    pub(super) windows: Vec<ByteCount>,
    /// The bottleneck's rate for IP packets, where it is known [default: what the tests reach, a lower bound]
    #[arg(long, value_name = "RATE", value_parser = rate, requires = "rfc6349", help_heading = "RFC 6349")]
    pub(super) bottleneck: Option<BitRate>,
    /// A title for the report
    #[arg(long, short = 'T', help_heading = "Answer")]
    pub(super) title: Option<String>,
    /// Any text for the report
    #[arg(long, value_name = "TEXT", help_heading = "Answer")]
    pub(super) extra_data: Option<String>,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// How paced datagrams leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Spacing {
    /// Each at its own time
    Exact,
    /// As iperf3 from 3.2 on: what is due, every millisecond
    Iperf3,
    /// As iperf3 before 3.2: what is due, every 100 ms
    OldIperf3,
}

/// `slowpath measure ftp`.
#[derive(Debug, Args)]
pub(super) struct FtpArgs {
    /// ftp://[USER[:PASSWORD]@]HOST[:PORT]/FILE
    pub(super) target: String,
    /// Store so much made-up data under the name, instead of reading it
    #[arg(long, value_name = "SIZE", value_parser = amount, conflicts_with = "output")]
    pub(super) upload: Option<ByteCount>,
    /// Keep what is read in this file
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Who opens the data connection
    #[arg(long, value_enum, default_value_t = FtpMode::Passive)]
    pub(super) mode: FtpMode,
    #[command(flatten)]
    pub(super) socket: SocketArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Who opens the data connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FtpMode {
    /// We, with PASV (EPSV over IPv6)
    Passive,
    /// We, with EPSV
    Epsv,
    /// The server, with PORT (EPRT over IPv6)
    Active,
    /// The server, with EPRT
    Eprt,
}

/// `slowpath measure ssh`.
#[derive(Debug, Args)]
pub(super) struct SshArgs {
    /// ssh://[USER@]HOST[:PORT]/PATH; /~/PATH is below the home folder. HOST may be a name of your ssh_config
    pub(super) target: String,
    /// Copy so much made-up data to the path, instead of reading it
    #[arg(long, value_name = "SIZE", value_parser = amount)]
    pub(super) upload: Option<ByteCount>,
    /// The program; several are compared
    #[arg(long = "with", value_name = "PROGRAM", value_enum, default_value = "scp")]
    pub(super) methods: Vec<SshMethod>,
    /// IPQoS of ssh_config: 'none', 'af21 cs1', ...; several are compared [default: your configuration's]
    #[arg(long = "ipqos", value_name = "VALUE")]
    pub(super) ip_qos: Vec<String>,
    /// Any other line of ssh_config, e.g. 'Ciphers aes128-gcm@openssh.com'
    #[arg(long = "option", short = 'o', value_name = "LINE")]
    pub(super) options: Vec<String>,
    /// ssh_config to use instead of your own
    #[arg(long, short = 'F', value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// A program of OpenSSH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SshMethod {
    /// scp
    Scp,
    /// scp -O, the old protocol
    ScpLegacy,
    /// sftp
    Sftp,
    /// ssh HOST 'cat ...'
    Pipe,
}

/// `slowpath measure s3`.
#[derive(Debug, Args)]
pub(super) struct S3Args {
    /// s3://HOST[:PORT]/BUCKET; keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
    pub(super) target: String,
    /// What to do with the objects
    #[arg(long, value_enum, default_value_t = S3Operation::Both)]
    pub(super) operation: S3Operation,
    /// Size of each object
    #[arg(long, value_name = "SIZE", value_parser = amount, default_value = "8 MiB")]
    pub(super) size: ByteCount,
    /// Multipart uploads and ranged reads, in parts of this size
    #[arg(long, value_name = "SIZE", value_parser = amount)]
    pub(super) part_size: Option<ByteCount>,
    /// Objects
    #[arg(long, short = 'n', default_value_t = 16, value_parser = whole::<u32>(1, 1_000_000))]
    pub(super) requests: u32,
    /// Connections
    #[arg(long, short = 'P', default_value_t = 4, value_parser = whole::<u32>(1, 1024))]
    pub(super) concurrency: u32,
    /// Beginning of the objects' names
    #[arg(long, default_value = "slowpath-")]
    pub(super) prefix: String,
    /// Region of the signature
    #[arg(long, default_value = "us-east-1")]
    pub(super) region: String,
    /// Make the content part of the signature; costs processor time
    #[arg(long)]
    pub(super) hash_payload: bool,
    /// TLS, with the certificate authorities of this system
    #[arg(long)]
    pub(super) tls: bool,
    /// TLS, with the certificate authorities in this PEM file alone
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Option<PathBuf>,
    /// Leave the objects in the store
    #[arg(long)]
    pub(super) keep: bool,
    /// Compare what is read with what was stored
    #[arg(long)]
    pub(super) verify: bool,
    #[command(flatten)]
    pub(super) socket: SocketArgs,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// What to do with objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum S3Operation {
    /// Store them
    Put,
    /// Read those of an earlier run with --operation put --keep
    Get,
    /// Store them, then read them
    Both,
}

/// `slowpath measure ping`.
#[derive(Debug, Args)]
pub(super) struct PingArgs {
    /// ping://HOST or HOST
    pub(super) target: String,
    /// Requests
    #[arg(long, short = 'c', default_value_t = 10, value_parser = whole::<u32>(1, 65_536))]
    pub(super) count: u32,
    /// From one request to the next
    #[arg(long, short = 'i', value_name = "SPAN", value_parser = span, default_value = "100 ms")]
    pub(super) interval: Duration,
    /// Payload bytes; the IP packet is 28 bytes longer, 48 with IPv6
    #[arg(long, short = 's', value_name = "BYTES", default_value_t = 56, value_parser = whole::<u16>(0, 65_467))]
    pub(super) size: u16,
    /// Do not let routers fragment
    #[arg(long)]
    pub(super) df: bool,
    /// DSCP of the requests
    #[arg(long, default_value = "0")]
    pub(super) dscp: Dscp,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// `slowpath measure trace`.
#[derive(Debug, Args)]
pub(super) struct TraceArgs {
    /// trace://HOST or HOST
    pub(super) target: String,
    /// What the probes are; all of them belong to one flow
    #[arg(long = "with", value_name = "PROBE", value_enum, default_value_t = Probe::Icmp)]
    pub(super) method: Probe,
    /// Destination port of UDP and TCP probes [default: 33434, 80]
    #[arg(long, short = 'p', value_parser = port())]
    pub(super) port: Option<u16>,
    /// The longest way
    #[arg(long, short = 'm', default_value_t = 30, value_parser = clap::value_parser!(u8).range(1..))]
    pub(super) max_hops: u8,
    /// Probes to each hop
    #[arg(long, default_value_t = 3, value_parser = whole::<u32>(1, 100))]
    pub(super) probes: u32,
    /// How long to wait for each answer
    #[arg(long, value_name = "SPAN", value_parser = span, default_value = "1 s")]
    pub(super) wait: Duration,
    /// DSCP of the probes; each hop tells what is left of it
    #[arg(long, default_value = "0")]
    pub(super) dscp: Dscp,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// What a trace sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Probe {
    /// ICMP echo requests
    Icmp,
    /// UDP datagrams
    Udp,
    /// TCP SYNs
    Tcp,
}

/// `slowpath measure mtu`.
#[derive(Debug, Args)]
pub(super) struct MtuArgs {
    /// mtu://HOST or HOST; it must answer echo requests
    pub(super) target: String,
    /// Smallest IP packet to try, in bytes
    #[arg(long, default_value_t = 576, value_parser = whole::<u32>(68, 65_535))]
    pub(super) from: u32,
    /// Largest IP packet to try, in bytes
    #[arg(long, default_value_t = 1500, value_parser = whole::<u32>(68, 65_535))]
    pub(super) to: u32,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// `slowpath measure sweep`.
#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    /// sweep://HOST[:PORT]; the port is 5202 if not given
    pub(super) target: String,
    /// Only these DSCP, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "DSCP,...")]
    pub(super) marks: Vec<Dscp>,
    /// UDP probes with each
    #[arg(long, default_value_t = 20, value_parser = whole::<u32>(1, 100_000))]
    pub(super) probes: u32,
    /// UDP payload bytes of a probe
    #[arg(long, default_value_t = 200, value_parser = whole::<u16>(32, 65_467))]
    pub(super) size: u16,
    /// Rate of all probes together
    #[arg(long, value_name = "RATE", value_parser = rate, default_value = "1 Mbit/s")]
    pub(super) rate: BitRate,
    /// How long a TCP connection with each mark sends; '0 s' makes none
    #[arg(long, value_name = "SPAN", value_parser = span, default_value = "200 ms")]
    pub(super) tcp: Duration,
    /// Do everything a second time, while an unmarked TCP connection loads the way
    #[arg(long)]
    pub(super) load: bool,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// `slowpath serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on; 0.0.0.0 or :: serves other machines too
    #[arg(long, default_value = "127.0.0.1", value_parser = address)]
    pub(super) address: std::net::IpAddr,
    /// Port of the iperf3 server
    #[arg(long, short = 'p', default_value_t = 5201, value_parser = whole::<u16>(0, 65_535))]
    pub(super) port: u16,
    /// Port for `measure sweep`; 0 serves none
    #[arg(long, value_name = "PORT", default_value_t = slowpath::measure::serve::REFLECTOR_PORT, value_parser = whole::<u16>(0, 65_535))]
    pub(super) sweep_port: u16,
    /// Serve FTP too, with a made-up file called data
    #[arg(long, value_name = "PORT", value_parser = port())]
    pub(super) ftp: Option<u16>,
    /// Size of that file
    #[arg(long, value_name = "SIZE", value_parser = amount, default_value = "100 MiB", requires = "ftp")]
    pub(super) ftp_size: ByteCount,
    /// Serve S3 too, from memory; keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
    #[arg(long, value_name = "PORT", value_parser = port())]
    pub(super) s3: Option<u16>,
    /// Most bytes that the S3 server keeps
    #[arg(long, value_name = "SIZE", value_parser = amount, default_value = "1 GiB", requires = "s3")]
    pub(super) s3_capacity: ByteCount,
    /// End after this many iperf3 tests
    #[arg(long, short = 'n', value_parser = whole::<u32>(1, u64::from(u32::MAX)))]
    pub(super) tests: Option<u32>,
    /// Only clients from here, of every service, e.g. 192.0.2.0/24; may be given several times
    #[arg(long = "allow", value_name = "ADDRESS[/PREFIX]", value_parser = network)]
    pub(super) allowed: Vec<Network>,
    /// iperf3 tests at a time; more are told that the server is busy
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = whole::<u16>(1, 1000), help_heading = "Limits of iperf3 tests")]
    pub(super) max_tests: u16,
    /// Streams of one test, both directions together
    #[arg(long, value_name = "COUNT", default_value_t = 256, value_parser = whole::<u32>(1, 256), help_heading = "Limits of iperf3 tests")]
    pub(super) max_streams: u32,
    /// Longest test
    #[arg(long, value_name = "SPAN", value_parser = span, default_value = "1 h", help_heading = "Limits of iperf3 tests")]
    pub(super) max_duration: Duration,
    /// Highest rate of a test, all streams together
    #[arg(long, value_name = "RATE", value_parser = rate, help_heading = "Limits of iperf3 tests")]
    pub(super) max_rate: Option<BitRate>,
}

/// An address of this machine.
fn address(text: &str) -> Result<std::net::IpAddr, String> {
    let read = text.parse();
    read.map_err(|_| "write an address such as 127.0.0.1, 0.0.0.0 or ::1; names are not looked up".to_owned())
}

/// A byte in decimal or hexadecimal form.
fn byte(text: &str) -> Result<u8, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "expected 0 to 255 or 0x00 to 0xff".to_owned())
}

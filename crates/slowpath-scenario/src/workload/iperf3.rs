//! iperf3 tests.

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::{BitRate, ByteCount, Duration};

use crate::diagnostic::Diagnostic;
use crate::fields::Fields;

use super::program::{Program, program};

/// What each stream of an iperf3 UDP test sends if no rate is given: 1024 × 1024 bit/s (`UDP_RATE` in iperf3's
/// `src/iperf.h`).
pub const IPERF3_UDP_RATE: BitRate = BitRate::new(1024 * 1024);

/// One iperf3 test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iperf3Test {
    /// TCP or UDP.
    pub protocol: Iperf3Protocol,
    /// Which way the data goes.
    pub direction: Iperf3Direction,
    /// Length of the test (`-t`); `None` when `size` ends it.
    pub duration: Option<Duration>,
    /// Bytes to send (`-n`).
    pub size: Option<ByteCount>,
    /// Time at the beginning that is not counted (`-O`).
    pub omit: Duration,
    /// Parallel streams (`-P`).
    pub streams: u32,
    /// Socket buffer and window (`-w`).
    pub window: Option<ByteCount>,
    /// Target rate of each stream (`-b`); `None` is unlimited for TCP and [`IPERF3_UDP_RATE`] for UDP.
    pub rate: Option<BitRate>,
    /// Bytes per write or datagram (`-l`).
    pub length: Option<ByteCount>,
    /// Largest segment payload (`-M`).
    pub mss: Option<u16>,
    /// Congestion control (`-C`).
    pub congestion_control: Option<String>,
    /// Mark of the packets (`--dscp`).
    pub dscp: Option<Dscp>,
    /// How UDP datagrams are paced.
    pub burst_interval: Option<Duration>,
    /// Who plays the client.
    pub client: Program,
    /// Who plays the server.
    pub server: Program,
}

impl Iperf3Test {
    /// A test of one stream between slowpath's own programs without any option; `duration` or `size` is still to be set.
    pub fn new(protocol: Iperf3Protocol, direction: Iperf3Direction) -> Self {
        Self {
            protocol,
            direction,
            duration: None,
            size: None,
            omit: Duration::ZERO,
            streams: 1,
            window: None,
            rate: None,
            length: None,
            mss: None,
            congestion_control: None,
            dscp: None,
            burst_interval: None,
            client: Program::Builtin,
            server: Program::Builtin,
        }
    }
}

/// Transport of an iperf3 test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Iperf3Protocol {
    /// TCP.
    Tcp,
    /// UDP (`-u`).
    Udp,
}

/// Direction of an iperf3 test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Iperf3Direction {
    /// Client sends.
    Forward,
    /// Server sends (`-R`).
    Reverse,
    /// Both send (`--bidir`).
    Bidirectional,
}

pub(super) fn read(fields: &Fields<'_>) -> Iperf3Test {
    let protocol = fields
        .choice(
            "protocol",
            &[("tcp", Iperf3Protocol::Tcp), ("udp", Iperf3Protocol::Udp)],
        )
        .map_or(Iperf3Protocol::Tcp, |p| p.value);
    let direction = fields
        .choice(
            "direction",
            &[
                ("forward", Iperf3Direction::Forward),
                ("reverse", Iperf3Direction::Reverse),
                ("bidirectional", Iperf3Direction::Bidirectional),
            ],
        )
        .map_or(Iperf3Direction::Forward, |d| d.value);
    let size = fields.positive::<ByteCount>("size").map(|s| s.value);
    let duration = fields.positive::<Duration>("duration");
    if let (Some(_), Some(duration)) = (size, duration) {
        fields.issues().push(
            Diagnostic::error(duration.span, "`duration` has no effect: `size` ends the test")
                .help("keep one of the two"),
        );
    }
    let omit = fields.quantity::<Duration>("omit");
    let test = Iperf3Test {
        protocol,
        direction,
        duration: duration.map(|d| d.value).or(if size.is_some() {
            None
        } else {
            Some(DEFAULT_DURATION)
        }),
        size,
        omit: omit.map_or(Duration::ZERO, |o| o.value),
        streams: fields
            .integer("streams", 1, 128)
            .map_or(1, |n| u32::try_from(n.value).unwrap_or(1)),
        window: fields.positive("window").map(|w| w.value),
        rate: fields.positive("rate").map(|r| r.value),
        length: fields.positive("length").map(|l| l.value),
        mss: fields
            .integer("mss", 88, 9216)
            .and_then(|m| u16::try_from(m.value).ok()),
        congestion_control: fields.text("congestion_control").map(|c| c.value.to_owned()),
        dscp: fields.parsed("dscp").map(|d| d.value),
        burst_interval: fields.positive("burst_interval").map(|d| d.value),
        client: program(fields, "client_program", &["builtin", "iperf3"]),
        server: program(fields, "server_program", &["builtin", "iperf3"]),
    };
    ineffective(fields, &test);
    test
}

fn ineffective(fields: &Fields<'_>, test: &Iperf3Test) {
    let at = |key| fields.entry(key).map_or(fields.span(), |entry| entry.key_span);
    let push = |key, text: &str, help: &str| {
        fields
            .issues()
            .push(Diagnostic::error(at(key), text.to_owned()).help(help));
    };
    if test.protocol == Iperf3Protocol::Udp {
        if test.mss.is_some() {
            push(
                "mss",
                "`mss` has no effect on a UDP test",
                "write `length` for the datagram's size",
            );
        }
        if test.congestion_control.is_some() {
            push(
                "congestion_control",
                "`congestion_control` has no effect on a UDP test",
                "remove it",
            );
        }
    } else if test.burst_interval.is_some() {
        push(
            "burst_interval",
            "`burst_interval` has no effect on a TCP test",
            "remove it, or write protocol = \"udp\"",
        );
    }
    if let Some(duration) = test.duration
        && test.omit >= duration
        && test.omit > Duration::ZERO
    {
        push(
            "omit",
            "`omit` leaves nothing of the test",
            "make `duration` longer than `omit`",
        );
    }
}

/// iperf3's own default.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

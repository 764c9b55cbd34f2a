//! Datagram streams, echo requests, generated frames, and any program.

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::{BitRate, ByteCount, Duration, Ratio};

use crate::asked::Form;
use crate::diagnostic::Diagnostic;
use crate::fields::Fields;
use crate::tree::Value;

/// A stream of UDP datagrams from client to server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpStream {
    /// Rate of payload.
    pub rate: BitRate,
    /// Payload of each datagram.
    pub length: ByteCount,
    /// How long it runs.
    pub duration: Duration,
    /// Time between bursts; `None` paces each datagram.
    pub burst_interval: Option<Duration>,
    /// Mark of the packets.
    pub dscp: Option<Dscp>,
}

/// ICMP echo requests from client to server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ping {
    /// Number of requests.
    pub count: u32,
    /// Time between requests.
    pub interval: Duration,
    /// Payload of each request.
    pub length: ByteCount,
    /// Mark of the packets.
    pub dscp: Option<Dscp>,
    /// Whether routers may not fragment.
    pub dont_fragment: bool,
}

/// Frames of one size at a share of the line rate, as a traffic generator sends them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameStream {
    /// Name in the results.
    pub name: String,
    /// Protocol of the packets.
    pub protocol: StreamProtocol,
    /// Size of each frame with FCS, in bytes.
    pub frame: ByteCount,
    /// Rate of the line on which the load is counted (with preamble and gap).
    pub line: BitRate,
    /// Share of the line that is offered.
    pub load: Ratio,
    /// How long it runs.
    pub duration: Duration,
    /// Loads at which the whole run is repeated, with every stream at the same load: loss against offered load.
    #[serde(default)]
    pub loads: Vec<Ratio>,
    /// The search for the highest load that still goes through, by frame size.
    #[serde(default)]
    pub search: Option<ThroughputSearch>,
}

/// The highest load at which no more than an allowed share of the frames is lost (RFC 2544, section 26.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThroughputSearch {
    /// Sizes of the frames with FCS, in bytes.
    pub sizes: Vec<ByteCount>,
    /// Shares that may be lost; RFC 2544 allows none.
    pub allowed_loss: Vec<Ratio>,
}

/// Protocols a generator can send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamProtocol {
    /// TCP headers without a connection.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP echo.
    Icmp,
}

/// Any program, run in the hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Program and arguments on the client.
    pub near: Vec<String>,
    /// Program and arguments on the server, started first.
    pub far: Option<Vec<String>>,
}

pub(super) fn read_udp(fields: &Fields<'_>) -> Option<UdpStream> {
    let rate = required(fields, "rate", fields.positive::<BitRate>("rate"));
    let stream = UdpStream {
        length: fields
            .positive("length")
            .map_or(ByteCount::new(1_400), |l| l.value),
        duration: fields
            .positive("duration")
            .map_or(Duration::from_secs(10), |d| d.value),
        burst_interval: fields.positive("burst_interval").map(|d| d.value),
        dscp: fields.parsed("dscp").map(|d| d.value),
        rate: rate?,
    };
    if stream.length.bytes() > 65_507 {
        let span = fields.entry("length").map_or(fields.span(), |e| e.node.span);
        fields.issues().push(
            Diagnostic::error(
                span,
                format!("a UDP datagram cannot hold {} bytes", stream.length.bytes()),
            )
            .help("write at most \"65507 B\""),
        );
    }
    Some(stream)
}

pub(super) fn read_ping(fields: &Fields<'_>) -> Ping {
    Ping {
        count: fields
            .integer("count", 1, 1_000_000)
            .map_or(10, |n| u32::try_from(n.value).unwrap_or(10)),
        interval: fields
            .positive("interval")
            .map_or(Duration::from_secs(1), |d| d.value),
        length: fields.quantity("length").map_or(ByteCount::new(56), |l| l.value),
        dscp: fields.parsed("dscp").map(|d| d.value),
        dont_fragment: fields.flag("dont_fragment").is_some_and(|f| f.value),
    }
}

pub(super) fn read_frames(fields: &Fields<'_>, name: &str) -> Option<FrameStream> {
    let protocol = fields.choice(
        "protocol",
        &[
            ("tcp", StreamProtocol::Tcp),
            ("udp", StreamProtocol::Udp),
            ("icmp", StreamProtocol::Icmp),
        ],
    );
    let frame = required(fields, "frame", fields.positive::<ByteCount>("frame"));
    let line = required(fields, "line", fields.positive::<BitRate>("line"));
    let load = required(fields, "load", fields.positive::<Ratio>("load"));
    let sizes = quantities::<ByteCount>(fields, "frame_sizes");
    let allowed_loss = quantities::<Ratio>(fields, "allowed_loss");
    let checked = frame.map(|frame| ("frame", frame));
    for (key, size) in checked
        .into_iter()
        .chain(sizes.iter().map(|size| ("frame_sizes", *size)))
    {
        if !(64..=1_518).contains(&size.bytes()) {
            let span = fields.entry(key).map_or(fields.span(), |e| e.node.span);
            fields.issues().push(
                Diagnostic::error(span, format!("no Ethernet frame has {} bytes", size.bytes()))
                    .help("write \"64 B\" to \"1518 B\", with FCS"),
            );
        }
    }
    if sizes.is_empty() && !allowed_loss.is_empty() {
        fields.missing(
            "frame_sizes",
            "write the sizes to search, such as [\"64 B\", \"1518 B\"]",
        );
    }
    let loads = quantities::<Ratio>(fields, "loads");
    if loads.iter().any(|load| load.ppb() == 0) {
        let span = fields.entry("loads").map_or(fields.span(), |e| e.node.span);
        fields.issues().push(
            Diagnostic::error(span, "a load of nothing loses nothing").help("write \"10 %\" and above"),
        );
    }
    Some(FrameStream {
        name: name.to_owned(),
        protocol: protocol.map_or(StreamProtocol::Udp, |p| p.value),
        duration: fields
            .positive("duration")
            .map_or(Duration::from_secs(10), |d| d.value),
        loads,
        search: (!sizes.is_empty()).then(|| ThroughputSearch {
            sizes,
            allowed_loss: if allowed_loss.is_empty() {
                vec![Ratio::ZERO]
            } else {
                allowed_loss
            },
        }),
        frame: frame?,
        line: line?,
        load: load?,
    })
}

/// A list of quantities; empty where the key is missing.
fn quantities<T: crate::fields::Quantity>(fields: &Fields<'_>, key: &'static str) -> Vec<T> {
    let Some(list) = fields.list(key) else {
        return Vec::new();
    };
    list.value
        .iter()
        .filter_map(|(path, node)| crate::fields::parse_quantity(path, node, fields.issues()))
        .map(|quantity| quantity.value)
        .collect()
}

pub(super) fn read_command(fields: &Fields<'_>) -> Option<Command> {
    let near = arguments(fields, "near");
    if near.is_none() && !fields.has("near") {
        fields.missing(
            "near",
            "write the program and its arguments, such as near = [\"curl\", \"http://server/\"]",
        );
    }
    Some(Command {
        far: arguments(fields, "far"),
        near: near?,
    })
}

fn arguments(fields: &Fields<'_>, key: &'static str) -> Option<Vec<String>> {
    let list = fields.list(key)?;
    let words: Option<Vec<String>> = list
        .value
        .iter()
        .inspect(|(path, _)| fields.issues().ask(|| (path.clone(), Form::Text)))
        .map(|(_, node)| match &node.value {
            Value::Text(word) => Some(word.clone()),
            _ => None,
        })
        .collect();
    match words {
        Some(words) if !words.is_empty() => Some(words),
        _ => {
            fields.issues().push(
                Diagnostic::error(
                    list.span,
                    format!("`{}` is not a list of words", fields.path_of(key)),
                )
                .help("write [\"program\", \"argument\"]"),
            );
            None
        }
    }
}

fn required<T: crate::fields::Quantity>(
    fields: &Fields<'_>,
    key: &'static str,
    found: Option<crate::span::Located<T>>,
) -> Option<T> {
    if found.is_none() && !fields.has(key) {
        fields.missing(key, format!("write for example {key} = {}", T::EXAMPLE));
    }
    found.map(|f| f.value)
}

//! The `[network]` table of an experiment file.

use slowpath_packet::Dscp;
use slowpath_path as path;
use slowpath_units::{ByteCount, Duration, Layer, Ratio};

use crate::asked::Form;
use crate::device::{DeviceUse, known_system};
use crate::diagnostic::{Diagnostic, Issues};
use crate::fields::{Fields, words};
use crate::network::element::{Discipline, Element, ElementKind, LinkRate, LossModel, Match, QueueSize};
use crate::network::varying;
use crate::tree::{Node, Value};

/// What a document says about the network: a chain of elements for each direction.
///
/// Elements stand in the order in which a packet meets them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NetworkDocument {
    /// From client to server.
    pub up: Vec<Element>,
    /// From server to client.
    pub down: Vec<Element>,
}

impl NetworkDocument {
    /// The recorded rates that it names, as often as it does.
    pub fn trace_files(&self) -> Vec<&str> {
        let elements = self.up.iter().chain(&self.down);
        elements
            .filter_map(|element| match &element.kind {
                ElementKind::Link {
                    rate: LinkRate::Trace(file),
                    ..
                } => Some(file.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// One of the two directions of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From client to server.
    Up,
    /// From server to client.
    Down,
}

/// Reads the `network` table.
pub(crate) fn read_network(fields: &Fields<'_>) -> NetworkDocument {
    let mut network = NetworkDocument::default();
    let Some(inner) = fields.table("network") else {
        if !fields.has("network") {
            fields.missing(
                "network",
                format!("add a table [network] with `{EXAMPLE}`; `both = []` is a direct line"),
            );
        }
        return network;
    };
    let (up, down, both) = (
        read_elements(&inner, "up"),
        read_elements(&inner, "down"),
        read_elements(&inner, "both"),
    );
    let both_given = inner.has("both");
    if both_given && (inner.has("up") || inner.has("down")) {
        let span = inner.entry("both").map_or(inner.span(), |entry| entry.key_span);
        fields.issues().push(
            Diagnostic::error(span, "`network.both` contradicts `network.up` and `network.down`")
                .help("write `both` alone, or `up` and `down`"),
        );
    } else if !(both_given || inner.has("up") && inner.has("down")) {
        let absent = if inner.has("up") { "down" } else { "up" };
        inner.missing(absent, format!("write {absent} = [] for a direction without elements, or `both` for the same elements each way"));
    }
    if both_given {
        network.up.clone_from(&both);
        network.down = both;
    } else {
        network.up = up;
        network.down = down;
    }
    inner.finish();
    for elements in [&network.up, &network.down] {
        duplicate_names(elements, fields.issues());
    }
    network
}

fn read_elements(fields: &Fields<'_>, key: &'static str) -> Vec<Element> {
    let Some(list) = fields.list(key) else {
        return Vec::new();
    };
    list.value
        .into_iter()
        .filter_map(|(path, node)| read_element(Fields::of(node, path, fields.issues())?))
        .collect()
}

/// Reads one element; the key that says what it does must be there exactly once.
fn read_element(fields: Fields<'_>) -> Option<Element> {
    let mut kinds: Vec<&str> = KINDS.iter().copied().filter(|kind| fields.has(kind)).collect();
    if kinds.contains(&"delay") {
        kinds.retain(|kind| *kind != "reorder");
    }
    let span = fields.span();
    let kind = match kinds[..] {
        [kind] => read_kind(kind, &fields),
        [] => {
            for kind in KINDS {
                fields.entry(kind);
            }
            fields.issues().push(
                Diagnostic::error(span, "this element does nothing")
                    .help(format!("write one of {}", words(KINDS.iter().copied()))),
            );
            None
        }
        _ => {
            fields.issues().push(
                Diagnostic::error(
                    span,
                    format!("one element cannot be {} at once", words(kinds.iter().copied())),
                )
                .help("write one { } for each, in the order in which a packet meets them"),
            );
            return None;
        }
    };
    let name_key = if kinds == ["tap"] { "tap" } else { "name" };
    let name = fields.text(name_key).map(|name| name.value.to_owned());
    let only = fields.table("only").map(read_match);
    fields.finish();
    Some(Element {
        name,
        kind: kind?,
        only,
        span,
    })
}

fn read_kind(kind: &str, fields: &Fields<'_>) -> Option<ElementKind> {
    match kind {
        "rate" => {
            let written = fields.positive::<QueueSize>("queue").map(|queue| queue.value);
            let (queue, queue_given) = (written.unwrap_or(DEFAULT_QUEUE), written.is_some());
            let discipline = fields
                .choice("discipline", DISCIPLINES)
                .map_or(Discipline::Fifo, |d| d.value);
            let layer = layer(fields);
            let ecn = fields.flag("ecn");
            if let Some(ecn) = ecn
                && discipline == Discipline::Fifo
            {
                fields.issues().push(
                    Diagnostic::error(ecn.span, "`ecn` has no effect on a fifo queue: it marks nothing")
                        .help("add discipline = \"codel\", \"fq-codel\", \"pie\" or \"red\""),
                );
            }
            Some(ElementKind::Link {
                rate: varying::rate(fields)?,
                layer,
                queue,
                queue_given,
                discipline,
                ecn: ecn.is_some_and(|ecn| ecn.value),
            })
        }
        "delay" => {
            let jitter = varying::jitter(fields);
            let jitter_at = fields.entry("jitter").map(|entry| entry.node.span);
            let reorder = fields.flag("reorder");
            let delay = varying::delay(fields)?;
            if let (path::Span::Fixed(delay), Some(entry)) = (&delay, fields.entry("delay"))
                && *delay > LONGEST_DELAY
            {
                fields.issues().push(
                    Diagnostic::error(
                        entry.node.span,
                        format!("a delay of {delay} is more than {LONGEST_DELAY}, the longest there is"),
                    )
                    .help("write the delay one way, such as \"50 ms\""),
                );
            }
            if let (Some(path::JitterShape::Uniform { spread }), path::Span::Fixed(delay), Some(at)) =
                (&jitter, &delay, jitter_at)
                && spread > delay
            {
                fields.issues().push(
                    Diagnostic::error(
                        at,
                        format!("a jitter of {spread} is more than the delay of {delay}"),
                    )
                    .help("jitter varies the delay to either side: make it smaller than `delay`"),
                );
            }
            if let (Some(reorder), None) = (reorder, jitter_at)
                && reorder.value
            {
                fields.issues().push(
                    Diagnostic::error(reorder.span, "`reorder` has no effect without `jitter`")
                        .help("add `jitter`, or write an element { reorder = \"1 %\", by = \"5 ms\" }"),
                );
            }
            Some(ElementKind::Delay {
                delay,
                jitter,
                reorder: reorder.is_some_and(|r| r.value),
            })
        }
        "loss" => read_loss(fields).map(ElementKind::Loss),
        "duplicate" => Some(ElementKind::Duplicate(fields.quantity("duplicate")?.value)),
        "reorder" => {
            let by = fields.positive::<Duration>("by");
            if by.is_none() && !fields.has("by") {
                fields.missing(
                    "by",
                    "write for how long a packet is held back, such as by = \"5 ms\"",
                );
            }
            Some(ElementKind::Reorder {
                share: fields.quantity::<Ratio>("reorder")?.value,
                by: by?.value,
            })
        }
        "police" => {
            let burst = burst(fields);
            let layer = layer(fields);
            varying::police(fields, burst, layer).map(ElementKind::Police)
        }
        "treat" => varying::treat(fields).map(ElementKind::Treat),
        "shape" => {
            let burst = burst(fields);
            let layer = layer(fields);
            let queue = fields
                .positive::<QueueSize>("queue")
                .map_or(DEFAULT_QUEUE, |queue| queue.value);
            Some(ElementKind::Shape {
                rate: fields.positive("shape")?.value,
                burst: burst?,
                layer,
                queue,
            })
        }
        "mark" => Some(ElementKind::Mark(fields.parsed::<Dscp>("mark")?.value)),
        "mtu" => {
            let black_hole = fields.flag("black_hole").is_some_and(|flag| flag.value);
            let address = fields.parsed("address").map(|address| address.value);
            let mtu = fields.quantity::<ByteCount>("mtu")?;
            let bytes = mtu.value.bytes();
            if !(68..=65_535).contains(&bytes) {
                fields.issues().push(
                    Diagnostic::error(mtu.span, format!("no IPv4 link has an MTU of {bytes} bytes"))
                        .help("write \"68 B\" to \"65535 B\" (RFC 791)"),
                );
                return None;
            }
            let announced = fields.positive::<ByteCount>("announced");
            if let (true, Some(announced)) = (black_hole, &announced) {
                fields.issues().push(
                    Diagnostic::error(
                        announced.span,
                        "`announced` is told by nobody: `black_hole` is set",
                    )
                    .help("keep one of the two"),
                );
            }
            Some(ElementKind::Mtu {
                mtu: u32::try_from(bytes).ok()?,
                black_hole,
                address,
                announced: announced.and_then(|size| u32::try_from(size.value.bytes()).ok()),
            })
        }
        "router" => Some(ElementKind::Router {
            answer_gap: fields.positive("answer_gap").map(|gap| gap.value),
            address: fields.parsed("router")?.value,
        }),
        "device" => read_device(fields).map(ElementKind::Device),
        "per_packet" => {
            let per_byte = fields
                .quantity::<Duration>("per_kilobyte")
                .map_or(Duration::ZERO, |d| d.value);
            let ring = fields.integer("ring", 1, 65_535).map_or(256, |ring| ring.value);
            Some(ElementKind::Processor {
                per_packet: fields.quantity::<Duration>("per_packet")?.value,
                // A nanosecond per 1000 bytes is a picosecond per byte.
                per_byte_ps: per_byte.nanos(),
                ring: u32::try_from(ring).unwrap_or(256),
            })
        }
        "clamp_mss" => {
            let mss = fields.integer("clamp_mss", 88, 65_495)?;
            Some(ElementKind::ClampMss(u16::try_from(mss.value).ok()?))
        }
        "remove_window_scale" => {
            set_flag(fields, "remove_window_scale").then_some(ElementKind::RemoveWindowScale)
        }
        "tunnel_end" => set_flag(fields, "tunnel_end").then_some(ElementKind::TunnelEnd),
        _ => {
            fields.text("tap")?;
            Some(ElementKind::Tap)
        }
    }
}

/// Whether a flag is set; one that is not is a mistake, because the element then does nothing.
fn set_flag(fields: &Fields<'_>, key: &'static str) -> bool {
    let Some(flag) = fields.flag(key) else {
        return false;
    };
    if !flag.value {
        fields
            .issues()
            .push(Diagnostic::error(flag.span, "this element does nothing").help("remove the element"));
    }
    flag.value
}

fn read_device(fields: &Fields<'_>) -> Option<DeviceUse> {
    let file = fields.text("device")?.value.to_owned();
    let far = fields.flag("far").is_none_or(|far| far.value);
    let (system, port) = (fields.text("system"), fields.text("port"));
    let line = fields.positive("line");
    for (key, help) in [
        (
            "system",
            "write whose configuration it is, such as system = \"rtx2000\" or \"cisco-ios\"",
        ),
        (
            "port",
            "write the port that packets leave by, such as port = \"lan1.4\"",
        ),
        (
            "line",
            "write the rate of that port, such as line = \"100 Mbit/s\"",
        ),
    ] {
        if !fields.has(key) {
            fields.missing(key, help);
        }
    }
    let system = system?;
    if !known_system(system.value) {
        fields.issues().push(
            Diagnostic::error(
                system.span,
                format!("there is no reader for a device of system \"{}\"", system.value),
            )
            .help("write a model of the RTX family, such as \"rtx830\", or \"cisco-ios\" or \"cisco-iosxe\""),
        );
        return None;
    }
    Some(DeviceUse {
        file,
        system: system.value.to_owned(),
        port: port?.value.to_owned(),
        line: line?.value,
        far,
    })
}

fn read_loss(fields: &Fields<'_>) -> Option<LossModel> {
    let node = &fields.entry("loss")?.node;
    let Value::Table(_) = &node.value else {
        return Some(LossModel::Random(fields.quantity::<Ratio>("loss")?.value));
    };
    let inner = Fields::of(node, fields.path_of("loss"), fields.issues())?;
    let forms = ["every", "packets", "to_bad"]
        .into_iter()
        .filter(|form| inner.has(form))
        .count();
    if forms != 1 {
        fields.issues().push(
            Diagnostic::error(node.span, "loss must take one of its forms")
                .help("write \"0.01 %\", { every = 1000 }, { packets = [3, 10] } or { to_bad = \"1 %\", to_good = \"20 %\", in_bad = \"50 %\" }"),
        );
        return None;
    }
    let model = if inner.has("every") {
        inner
            .integer("every", 1, u64::MAX >> 1)
            .map(|every| LossModel::Every(every.value))
    } else if inner.has("packets") {
        listed(&inner)
    } else {
        let in_good = inner
            .quantity::<Ratio>("in_good")
            .map_or(Ratio::ZERO, |ratio| ratio.value);
        let in_bad = inner
            .quantity::<Ratio>("in_bad")
            .map_or(Ratio::ONE, |ratio| ratio.value);
        let to_good = inner.positive::<Ratio>("to_good");
        if to_good.is_none() && !inner.has("to_good") {
            inner.missing(
                "to_good",
                "write how likely each packet ends a bad spell, such as to_good = \"20 %\"",
            );
        }
        let to_bad = inner.positive::<Ratio>("to_bad");
        to_bad
            .zip(to_good)
            .map(|(to_bad, to_good)| LossModel::GilbertElliott {
                to_bad: to_bad.value,
                to_good: to_good.value,
                in_good,
                in_bad,
            })
    };
    inner.finish();
    model
}

fn listed(fields: &Fields<'_>) -> Option<LossModel> {
    let list = fields.list("packets")?;
    let mut packets = Vec::with_capacity(list.value.len());
    for (path, node) in list.value {
        let any = || (path.clone(), Form::Integer(1, u64::MAX >> 1));
        fields.issues().ask(any);
        match node.value {
            Value::Integer(number) if number > 0 => packets.push(number.unsigned_abs()),
            _ => {
                fields.issues().push(
                    Diagnostic::error(node.span, format!("`{path}` is not the number of a packet"))
                        .help("packets are numbered from 1"),
                );
                return None;
            }
        }
    }
    packets.sort_unstable();
    packets.dedup();
    Some(LossModel::Listed(packets))
}

fn read_match(fields: Fields<'_>) -> Match {
    let only = Match {
        dscp: fields.parsed::<Dscp>("dscp").map(|dscp| dscp.value),
        protocol: fields
            .choice("protocol", &[("icmp", 1), ("tcp", 6), ("udp", 17)])
            .map(|p| p.value),
        port: fields
            .integer("port", 1, 65_535)
            .and_then(|port| u16::try_from(port.value).ok()),
    };
    if only == Match::default() {
        fields.issues().push(
            Diagnostic::error(fields.span(), "`only` matches everything")
                .help("remove it, or write for example only = { dscp = \"cs1\" }"),
        );
    }
    fields.finish();
    only
}

fn layer(fields: &Fields<'_>) -> Layer {
    fields
        .parsed::<Layer>("layer")
        .map_or_else(Layer::default, |layer| layer.value)
}

fn burst(fields: &Fields<'_>) -> Option<ByteCount> {
    let burst = fields.positive::<ByteCount>("burst");
    if burst.is_none() && !fields.has("burst") {
        fields.missing(
            "burst",
            "write the size of the bucket, such as burst = \"64 KiB\"",
        );
    }
    let burst = burst?;
    if burst.value.bytes() < SMALLEST_BUCKET {
        fields.issues().push(
            Diagnostic::error(
                burst.span,
                format!("a bucket of {} lets no full packet through", burst.value),
            )
            .help("write at least \"1600 B\""),
        );
        return None;
    }
    Some(burst.value)
}

fn duplicate_names(elements: &[Element], issues: &Issues) {
    for (index, element) in elements.iter().enumerate() {
        let Some(name) = &element.name else { continue };
        if elements[..index]
            .iter()
            .any(|earlier| earlier.name.as_ref() == Some(name))
        {
            issues.push(
                Diagnostic::error(
                    element.span,
                    format!("two elements of one direction are named \"{name}\""),
                )
                .help("give each its own `name`"),
            );
        }
    }
}

/// Reads one element from a table written outside an experiment file.
pub(super) fn element_of(node: &Node, path: &str, issues: &Issues) -> Option<Element> {
    read_element(Fields::of(node, path, issues)?)
}

/// The keys of which each element has exactly one: they say what it does.
pub(crate) const KINDS: &[&str] = &[
    "rate",
    "delay",
    "loss",
    "duplicate",
    "police",
    "treat",
    "shape",
    "mark",
    "mtu",
    "router",
    "device",
    "per_packet",
    "clamp_mss",
    "remove_window_scale",
    "tunnel_end",
    "tap",
    "reorder",
];

const DISCIPLINES: &[(&str, Discipline)] = &[
    ("fifo", Discipline::Fifo),
    ("red", Discipline::Red),
    ("codel", Discipline::CoDel),
    ("fq-codel", Discipline::FqCoDel),
    ("pie", Discipline::Pie),
];

/// Linux's own length of an interface queue.
const DEFAULT_QUEUE: QueueSize = QueueSize::Packets(1_000);

/// A bucket must hold one full frame, or nothing ever passes.
const SMALLEST_BUCKET: u64 = 1_600;
/// Longer than light needs to Mars and back; more is a slip of the pen.
const LONGEST_DELAY: Duration = Duration::from_secs(3_600);

/// A network, as it may be written.
const EXAMPLE: &str = "both = [{ rate = \"50 Mbit/s\" }, { delay = \"50 ms\" }]";

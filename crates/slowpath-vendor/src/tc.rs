//! The output of Linux `tc qdisc show` and `tc class show`, with or without `-s` and `-d`.
//!
//! Rates have decimal multiples and bits (`10Mbit`), sizes binary ones and bytes (`15Kb` is 15 KiB in this output).
//!
//! Source: iproute2's `tc/q_*.c` and `tc/tc_util.c`.

use slowpath_units::{BitRate, ByteCount, Duration};

use crate::finding::Trap;
use crate::reading::{Notes, Outcome};
use crate::text::number;

/// What `tc` printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// The queueing disciplines in order.
    pub qdiscs: Vec<Qdisc>,
    /// The classes in order.
    pub classes: Vec<Class>,
}

/// One queueing discipline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Qdisc {
    /// Its kind, such as `fq_codel`.
    pub kind: String,
    /// Its handle, such as `8001:`.
    pub handle: String,
    /// The interface.
    pub device: String,
    /// The class above it; `None` at the root.
    pub parent: Option<String>,
    /// Rate of the shaper, for those that have one.
    pub rate: Option<BitRate>,
    /// Size of the bucket.
    pub burst: Option<ByteCount>,
    /// Packets that may wait.
    pub limit_packets: Option<u32>,
    /// Bytes that may wait.
    pub limit_bytes: Option<ByteCount>,
    /// Time that packets may wait.
    pub latency: Option<Duration>,
    /// Delay aimed at (CoDel, PIE).
    pub target: Option<Duration>,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Class {
    /// Its kind, such as `htb`.
    pub kind: String,
    /// Its number, such as `1:10`.
    pub id: String,
    /// The class above it; `None` at the root.
    pub parent: Option<String>,
    /// Guaranteed rate.
    pub rate: Option<BitRate>,
    /// Rate that it never exceeds.
    pub ceil: Option<BitRate>,
    /// Order among classes that have more to send: lower first.
    pub priority: Option<u32>,
    /// Bucket of the guaranteed rate.
    pub burst: Option<ByteCount>,
}

impl Config {
    /// The rate that holds an interface back, if one does: of its root or of the class that everything goes through.
    pub fn rate(&self, device: &str) -> Option<BitRate> {
        let root = self
            .qdiscs
            .iter()
            .find(|qdisc| qdisc.device == device && qdisc.parent.is_none())?;
        root.rate.or_else(|| {
            let mut roots = self
                .classes
                .iter()
                .filter(|class| class.parent.is_none() && class.id.starts_with(&root.handle));
            roots.next().and_then(|class| class.ceil.or(class.rate))
        })
    }
}

/// Reads the output.
pub(crate) fn read(text: &str, notes: &mut Notes) -> Config {
    let mut config = Config::default();
    let mut context = String::new();
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let outcome = match words.as_slice() {
            ["qdisc", kind, handle, rest @ ..] => {
                let (qdisc, outcome) = qdisc(kind, handle, rest);
                context = format!("qdisc {kind} {handle} on {}", qdisc.device);
                config.qdiscs.push(qdisc);
                notes.line(index + 1, line, "", outcome);
                continue;
            }
            ["class", kind, id, rest @ ..] => {
                let (class, outcome) = class(kind, id, rest);
                context = format!("class {kind} {id}");
                config.classes.push(class);
                notes.line(index + 1, line, "", outcome);
                continue;
            }
            ["Sent", _, "bytes", _, "pkt", "(dropped", dropped, ..] => {
                let dropped = dropped.trim_end_matches(',');
                if dropped == "0" {
                    Outcome::ignored()
                } else {
                    Outcome::not_modelled(format!(
                        "{dropped} packets were dropped here since the queue was made"
                    ))
                }
            }
            [first, ..] if STATISTICS.contains(first) || raw.starts_with([' ', '\t']) => Outcome::ignored(),
            _ => Outcome::unrecognised(),
        };
        notes.line(index + 1, line, &context, outcome);
    }
    config
}

fn qdisc(kind: &str, handle: &str, words: &[&str]) -> (Qdisc, Outcome) {
    let mut qdisc = Qdisc {
        kind: kind.to_owned(),
        handle: handle.to_owned(),
        ..Qdisc::default()
    };
    let mut rest = words;
    let mut overhead = None;
    while let [key, tail @ ..] = rest {
        let value = tail.first().copied().unwrap_or("");
        let used = match *key {
            "dev" => take(&mut qdisc.device, value),
            "parent" => {
                qdisc.parent = Some(value.to_owned());
                true
            }
            "rate" | "bandwidth" => set(&mut qdisc.rate, rate(value)),
            "burst" => set(&mut qdisc.burst, size(value.split('/').next().unwrap_or(""))),
            "lat" => set(&mut qdisc.latency, time(value)),
            "target" => set(&mut qdisc.target, time(value)),
            "limit" => match value
                .strip_suffix('p')
                .and_then(number::<u32>)
                .or_else(|| number::<u32>(value))
            {
                Some(packets) => set(&mut qdisc.limit_packets, Some(packets)),
                None => set(&mut qdisc.limit_bytes, size(value)),
            },
            "overhead" => set(&mut overhead, number::<i32>(value)),
            "ecn" => {
                qdisc.ecn = true;
                false
            }
            _ => false,
        };
        rest = if used { &tail[1.min(tail.len())..] } else { tail };
    }
    let outcome = describe(&qdisc, overhead, words);
    (qdisc, outcome)
}

fn describe(qdisc: &Qdisc, overhead: Option<i32>, words: &[&str]) -> Outcome {
    let waits = match (qdisc.limit_packets, qdisc.limit_bytes, qdisc.latency) {
        (Some(packets), _, _) => format!("at most {packets} packets wait"),
        (_, Some(bytes), _) => format!("at most {bytes} wait"),
        (_, _, Some(latency)) => format!("packets wait at most {latency}"),
        _ => "the length is the interface's".to_owned(),
    };
    match qdisc.kind.as_str() {
        "noqueue" => Outcome::ignored(),
        "pfifo" | "bfifo" => Outcome::modelled(format!("packets leave in the order of arrival; {waits}")),
        "pfifo_fast" => Outcome::doubtful(
            "three bands by the type-of-service bits: marked packets can starve unmarked ones or the other way round",
        ),
        "tbf" => match (qdisc.rate, qdisc.burst) {
            (Some(rate), Some(burst)) => Outcome::modelled(format!(
                "packets above {rate} and a bucket of {burst} wait; {waits}"
            )),
            _ => Outcome::doubtful("a shaper whose rate or bucket is not to be read"),
        },
        "htb" => Outcome::modelled(
            "classes with guarantees and ceilings follow; a class may borrow what others leave",
        ),
        "fq_codel" | "codel" => Outcome::modelled(format!(
            "{waits}; a standing queue is kept below {}",
            qdisc.target.unwrap_or(Duration::from_millis(5))
        )),
        "pie" | "fq_pie" => Outcome::modelled(format!(
            "{waits}; the delay is kept near {}",
            qdisc.target.unwrap_or(Duration::from_millis(15))
        )),
        "fq" => {
            Outcome::not_modelled("each flow has its queue and is paced at the rate that its sender asks for")
        }
        "cake" => {
            let by_mark = words
                .iter()
                .any(|word| word.starts_with("diffserv") && *word != "diffserv0");
            let rate = qdisc.rate.map_or("no rate of its own".to_owned(), |rate| {
                format!("a rate of {rate}")
            });
            let overhead = overhead.map_or(String::new(), |bytes| {
                format!(", counted with {bytes} bytes more per packet")
            });
            let meaning = format!("{rate}{overhead}, shared evenly among flows and hosts");
            if by_mark {
                Outcome::doubtful(format!("{meaning}; packets are treated by their mark")).trap(
                    Trap::MarkedTransfer {
                        mark: "(any)".to_owned(),
                    },
                )
            } else {
                Outcome::not_modelled(meaning)
            }
        }
        "netem" => Outcome::not_modelled("an emulator: delay, loss or rate are added here"),
        "prio" | "drr" | "hfsc" | "sfq" | "sfb" | "red" | "gred" | "choke" | "mqprio" | "taprio" | "etf"
        | "cbs" => Outcome::not_modelled(format!("a discipline that is not followed; {waits}")),
        "mq" | "ingress" | "clsact" | "multiq" => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

fn class(kind: &str, id: &str, words: &[&str]) -> (Class, Outcome) {
    let mut class = Class {
        kind: kind.to_owned(),
        id: id.to_owned(),
        ..Class::default()
    };
    let mut rest = words;
    while let [key, tail @ ..] = rest {
        let value = tail.first().copied().unwrap_or("");
        let used = match *key {
            "parent" => {
                class.parent = Some(value.to_owned());
                true
            }
            "rate" => set(&mut class.rate, rate(value)),
            "ceil" => set(&mut class.ceil, rate(value)),
            "prio" => set(&mut class.priority, number(value)),
            "burst" => set(&mut class.burst, size(value.split('/').next().unwrap_or(""))),
            _ => false,
        };
        rest = if used { &tail[1.min(tail.len())..] } else { tail };
    }
    let outcome = match (kind, class.rate, class.ceil) {
        ("htb", Some(rate), Some(ceil)) if rate == ceil => {
            Outcome::modelled(format!("{rate} at most, and guaranteed"))
        }
        ("htb", Some(rate), Some(ceil)) => Outcome::modelled(format!(
            "{rate} are guaranteed, up to {ceil} when others leave them"
        )),
        ("htb", ..) => Outcome::doubtful("a class whose rates are not to be read"),
        ("fq_codel" | "mq" | "cake" | "fq_pie" | "tbf" | "prio", ..) => Outcome::ignored(),
        _ => Outcome::not_modelled("a class of a discipline that is not followed"),
    };
    (class, outcome)
}

fn take(place: &mut String, value: &str) -> bool {
    value.clone_into(place);
    true
}

fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let found = value.is_some();
    if found {
        *place = value;
    }
    found
}

/// A rate as `tc` prints it: `10Mbit`, `64Kbit`, `1250Kbps` (bytes).
fn rate(word: &str) -> Option<BitRate> {
    let (number, unit) = split(word)?;
    let scale: u128 = match unit {
        "bit" => 1,
        "Kbit" => 1_000,
        "Mbit" => 1_000_000,
        "Gbit" => 1_000_000_000,
        "Tbit" => 1_000_000_000_000,
        "bps" => 8,
        "Kbps" => 8_000,
        "Mbps" => 8_000_000,
        "Gbps" => 8_000_000_000,
        _ => return None,
    };
    scaled(number, scale).map(BitRate::new)
}

/// A size as `tc` prints it: `15Kb`, `1600b`, `32Mb`: bytes with binary multiples.
fn size(word: &str) -> Option<ByteCount> {
    let (number, unit) = split(word)?;
    let scale: u128 = match unit {
        "b" | "" => 1,
        "Kb" | "K" => 1 << 10,
        "Mb" | "M" => 1 << 20,
        "Gb" | "G" => 1 << 30,
        _ => return None,
    };
    scaled(number, scale).map(ByteCount::new)
}

/// A time as `tc` prints it: `50ms`, `5us`, `1.2s`.
fn time(word: &str) -> Option<Duration> {
    let (number, unit) = split(word)?;
    let scale: u128 = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    scaled(number, scale).map(Duration::from_nanos)
}

fn split(word: &str) -> Option<(&str, &str)> {
    let end = word
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(word.len());
    (end > 0).then(|| word.split_at(end))
}

/// A decimal number times a whole scale, rounded down.
fn scaled(text: &str, scale: u128) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 9 || whole.is_empty() {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let divisor = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    u64::try_from(digits.checked_mul(scale)? / divisor).ok()
}

/// First words of lines with statistics.
#[rustfmt::skip]
const STATISTICS: &[&str] = &[
    "Sent", "backlog", "rate", "lended:", "tokens:", "maxpacket", "new_flows_len", "new_flow_count", "memory", "capacity",
    "min/max", "average", "Tin", "thresh", "target", "interval", "pk_delay", "av_delay", "sp_delay", "backlog", "pkts", "bytes",
    "way_inds", "way_miss", "way_cols", "drops", "marks", "ack_drop", "sp_flows", "bk_flows", "un_flows", "max_len", "quantum",
    "flows", "throttled", "count", "lastcount", "ecn_mark", "drop_overlimit", "prob", "level", "period", "Bulk", "gc",
];

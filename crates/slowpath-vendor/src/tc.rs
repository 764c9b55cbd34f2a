//! The output of Linux `tc qdisc show` and `tc class show`, with or without `-s` and `-d`, and the commands that make
//! queues: `tc qdisc add ...`, as they stand in scripts.
//!
//! Rates have decimal multiples and bits (`10Mbit`; `bps` is bytes), sizes binary ones and bytes (`15Kb` is 15 KiB). In a
//! command, case does not matter, a bare rate is in bit/s, a bare size in bytes and a bare time in microseconds.
//!
//! Source: iproute2's `tc/q_*.c` and `tc/tc_util.c`.

use slowpath_units::{BitRate, ByteCount, Duration};

use crate::finding::{FULL_PACKET, Trap};
use crate::notes::{LineState, Notes, Outcome};
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
    /// The number of its line.
    pub line: usize,
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
    /// The minor number of the class that gets what no filter matches (htb); 0 and `None` are no class.
    pub default_class: Option<u32>,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Class {
    /// The number of its line.
    pub line: usize,
    /// Its kind, such as `htb`.
    pub kind: String,
    /// Its number, such as `1:10`.
    pub id: String,
    /// The interface, where the text says it: commands do, the output of `tc class show` does not.
    pub device: String,
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
            let mut roots = self.classes.iter().filter(|class| {
                class.parent.is_none()
                    && !root.handle.is_empty()
                    && class.id.starts_with(&root.handle)
                    && (class.device.is_empty() || class.device == device)
            });
            roots.next().and_then(|class| class.ceil.or(class.rate))
        })
    }
}

impl Config {
    /// The classes of a root in which packets wait: those without classes of their own.
    pub fn leaves<'c>(&'c self, root: &'c Qdisc) -> impl Iterator<Item = &'c Class> {
        let of_root = move |class: &&Class| {
            !root.handle.is_empty()
                && class.id.starts_with(&root.handle)
                && (class.device.is_empty() || class.device == root.device)
        };
        self.classes.iter().filter(of_root).filter(move |class| {
            !self
                .classes
                .iter()
                .filter(of_root)
                .any(|other| other.parent.as_deref() == Some(&class.id))
        })
    }

    /// The rate that a class never exceeds: its ceiling, and where it borrows, those of the classes above it.
    pub fn most(&self, class: &Class) -> Option<BitRate> {
        self.most_within(class, DEEPEST)
    }

    fn most_within(&self, class: &Class, depth: usize) -> Option<BitRate> {
        let own = class.ceil.or(class.rate)?;
        let above = self.classes.iter().find(|above| {
            Some(&above.id) == class.parent.as_ref() && above.device == class.device && depth > 0
        });
        let lent = above.and_then(|above| self.most_within(above, depth - 1));
        // Its own rate needs no loan.
        Some(lent.map_or(own, |lent| own.min(lent.max(class.rate.unwrap_or(lent)))))
    }

    /// The queue of a class on a root's interface; `None` where it is the one that every class has.
    pub fn below<'c>(&'c self, root: &Qdisc, class: &str) -> Option<&'c Qdisc> {
        self.qdiscs
            .iter()
            .find(|qdisc| qdisc.device == root.device && qdisc.parent.as_deref() == Some(class))
    }

    /// The queue in which the packets of a shaper at the root wait; `None` where it is the shaper's own.
    pub fn inner<'c>(&'c self, root: &Qdisc) -> Option<&'c Qdisc> {
        let within = |parent: &String| !root.handle.is_empty() && parent.starts_with(&root.handle);
        self.qdiscs
            .iter()
            .find(|qdisc| qdisc.device == root.device && qdisc.parent.as_ref().is_some_and(within))
    }

    /// Whether the rate of a shaper is followed: one at the root, and a token bucket below a class of htb that is there.
    pub fn follows(&self, qdisc: &Qdisc) -> bool {
        let Some(parent) = &qdisc.parent else {
            return true;
        };
        let below_htb = || {
            let roots = self
                .qdiscs
                .iter()
                .filter(|root| root.parent.is_none() && root.kind == "htb" && root.device == qdisc.device);
            roots
                .flat_map(|root| self.leaves(root))
                .any(|class| class.id == *parent)
        };
        match qdisc.kind.as_str() {
            "htb" => false,
            "tbf" => below_htb(),
            "cake" => qdisc.rate.is_none() || below_htb(),
            _ => true,
        }
    }

    /// Takes away what a new queue in this place replaces: at the root, everything on the interface.
    fn clear(&mut self, device: &str, parent: Option<&str>) {
        match parent {
            Some(_) => self
                .qdiscs
                .retain(|qdisc| qdisc.device != device || qdisc.parent.as_deref() != parent),
            None => {
                self.qdiscs.retain(|qdisc| qdisc.device != device);
                self.classes.retain(|class| class.device != device);
            }
        }
    }
}

/// Reads the output.
pub(crate) fn read(text: &str, notes: &mut Notes) -> Config {
    let mut config = Config::default();
    let mut context = String::new();
    for Joined { number, text, more } in joined(text) {
        let raw = text.as_str();
        let line = raw.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(outcome) = command(number, &words, &mut config) {
            context.clear();
            notes.line(number, line, "", outcome);
            for (further, text) in more {
                let outcome = Outcome::new(LineState::Ignored, format!("goes on from line {number}"));
                notes.line(further, &text, "", outcome);
            }
            continue;
        }
        for (further, text) in more {
            notes.line(further, &text, "", Outcome::unrecognised());
        }
        let outcome = match words.as_slice() {
            ["qdisc", kind, handle, rest @ ..] => {
                let (mut qdisc, outcome) = qdisc(kind, handle, rest);
                qdisc.line = number;
                context = format!("qdisc {kind} {handle} on {}", qdisc.device);
                config.qdiscs.push(qdisc);
                notes.line(number, line, "", outcome);
                continue;
            }
            ["class", kind, id, rest @ ..] => {
                let (mut class, outcome) = class(kind, id, rest);
                class.line = number;
                context = format!("class {kind} {id}");
                config.classes.push(class);
                notes.line(number, line, "", outcome);
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
        notes.line(number, line, &context, outcome);
    }
    settle(&config, notes);
    config
}

/// What follows from all lines together.
fn settle(config: &Config, notes: &mut Notes) {
    for qdisc in config.qdiscs.iter().filter(|qdisc| !config.follows(qdisc)) {
        let classes = config.leaves(qdisc).map(|class| class.line);
        for line in classes.chain([qdisc.line]) {
            notes.left_out(line, "a shaper within another queue is not followed");
        }
    }
    for root in config.qdiscs.iter().filter(|qdisc| qdisc.parent.is_none()) {
        let mut classes = config.leaves(root).peekable();
        // Without any class of it, the text is not all of what there is.
        if let (Some(number @ 1..), Some(_)) = (root.default_class, classes.peek())
            && classes.all(|class| minor(&class.id) != Some(number))
        {
            notes.finding(
                Some(root.line),
                Trap::NoDefaultClass {
                    interface: root.device.clone(),
                    class: format!("{}{number:x}", root.handle),
                },
            );
        }
    }
}

/// The number of a class within its queue, which is hexadecimal.
fn minor(id: &str) -> Option<u32> {
    let (_, number) = id.split_once(':')?;
    u32::from_str_radix(number, 16).ok()
}

/// A line of a script, which a backslash at its end lets go on in the next.
struct Joined {
    /// Its number, from 1.
    number: usize,
    text: String,
    /// The lines that it goes on in.
    more: Vec<(usize, String)>,
}

fn joined(text: &str) -> Vec<Joined> {
    let mut lines: Vec<Joined> = Vec::new();
    let mut open = false;
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with('#') {
            open = false;
            continue;
        }
        let part = line.strip_suffix('\\').map_or(line, str::trim_end);
        match lines.last_mut().filter(|_| open) {
            Some(first) => {
                first.text.push(' ');
                first.text.push_str(part);
                first.more.push((index + 1, line.to_owned()));
            }
            // What is indented in the output belongs to the line above.
            None => lines.push(Joined {
                number: index + 1,
                text: raw.strip_suffix('\\').unwrap_or(raw).to_owned(),
                more: Vec::new(),
            }),
        }
        open = line.ends_with('\\');
    }
    lines
}

/// Carries a `tc` command out on what was read so far; `None` for a line that is none.
fn command(line: usize, words: &[&str], config: &mut Config) -> Option<Outcome> {
    let words = match words {
        ["sudo" | "doas", rest @ ..] => rest,
        words => words,
    };
    let ["tc" | "/sbin/tc" | "/usr/sbin/tc", rest @ ..] = words else {
        return None;
    };
    let options = rest.iter().take_while(|word| word.starts_with('-')).count();
    let (object, verb, rest) = match &rest[options..] {
        [object, verb, rest @ ..] => (*object, *verb, rest),
        _ => return Some(Outcome::unrecognised()),
    };
    let sets = matches!(verb, "add" | "replace" | "change" | "chg" | "link" | "a" | "r");
    let removes = matches!(verb, "del" | "delete" | "d");
    Some(match object {
        "qdisc" | "q" if sets => made_qdisc(line, rest, config),
        "qdisc" | "q" if removes => {
            let place = Place::read(rest).0;
            config.clear(place.device, place.parent.as_deref());
            Outcome::ignored()
        }
        "class" | "c" if sets => made_class(line, rest, config),
        "class" | "c" if removes => {
            let place = Place::read(rest).0;
            let id = place.id;
            config
                .classes
                .retain(|class| class.id != id || class.device != place.device);
            Outcome::ignored()
        }
        "filter" | "f" if sets => {
            Outcome::not_modelled("which packets a class gets; what a filter matches is not followed")
        }
        "filter" | "f" | "actions" | "chain" => Outcome::ignored(),
        "qdisc" | "q" | "class" | "c" if matches!(verb, "show" | "list" | "ls" | "s") => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    })
}

/// Where a command puts a queue or class.
#[derive(Debug, Default)]
struct Place<'w> {
    device: &'w str,
    /// `None` at the root.
    parent: Option<String>,
    /// The handle of a queue or the number of a class.
    id: String,
}

impl<'w> Place<'w> {
    /// Reads a command's place; what follows is the kind and its own words.
    fn read<'r>(words: &'r [&'w str]) -> (Self, &'r [&'w str]) {
        let mut place = Self::default();
        let mut rest = words;
        loop {
            rest = match rest {
                ["dev", device, tail @ ..] => {
                    place.device = device;
                    tail
                }
                ["parent", parent, tail @ ..] => {
                    place.parent = Some((*parent).to_owned());
                    tail
                }
                ["handle" | "classid", id, tail @ ..] => {
                    (*id).clone_into(&mut place.id);
                    tail
                }
                ["root", tail @ ..] => tail,
                ["estimator" | "est", _, _, tail @ ..] => tail,
                _ => return (place, rest),
            };
        }
    }
}

fn made_qdisc(line: usize, words: &[&str], config: &mut Config) -> Outcome {
    let (place, rest) = Place::read(words);
    let Some((kind, own)) = rest.split_first() else {
        return Outcome::refused("the kind of the queue is missing, such as `fq` or `tbf`");
    };
    if place.device.is_empty() {
        return Outcome::refused("the interface is missing: `dev NAME`");
    }
    let (mut made, outcome) = qdisc(kind, &place.id, own);
    made.line = line;
    place.device.clone_into(&mut made.device);
    made.parent.clone_from(&place.parent);
    config.clear(&made.device, made.parent.as_deref());
    config.qdiscs.push(made);
    outcome
}

fn made_class(line: usize, words: &[&str], config: &mut Config) -> Outcome {
    let (place, rest) = Place::read(words);
    let Some((kind, own)) = rest.split_first() else {
        return Outcome::refused("the kind of the class is missing, such as `htb`");
    };
    let (mut made, outcome) = class(kind, &place.id, own);
    let below_root = config
        .qdiscs
        .iter()
        .any(|qdisc| qdisc.parent.is_none() && Some(&qdisc.handle) == place.parent.as_ref());
    made.line = line;
    made.parent = place.parent.filter(|_| !below_root);
    place.device.clone_into(&mut made.device);
    if made.kind == "htb" && made.ceil.is_none() {
        // What is not said is the guaranteed rate.
        made.ceil = made.rate;
    }
    config
        .classes
        .retain(|class| class.id != made.id || class.device != made.device);
    let outcome = match (made.kind.as_str(), made.rate, made.ceil) {
        ("htb", Some(_), Some(_)) => described_class(&made),
        _ => outcome,
    };
    config.classes.push(made);
    outcome
}

fn qdisc(kind: &str, handle: &str, words: &[&str]) -> (Qdisc, Outcome) {
    // A bare limit is in bytes for these, and in packets for all others.
    let limit_in_bytes = matches!(kind, "tbf" | "bfifo" | "red");
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
            "burst" | "buffer" | "maxburst" => {
                set(&mut qdisc.burst, size(value.split('/').next().unwrap_or("")))
            }
            "lat" | "latency" => set(&mut qdisc.latency, time(value)),
            "target" => set(&mut qdisc.target, time(value)),
            "limit" => match value
                .strip_suffix('p')
                .and_then(number::<u32>)
                .or_else(|| number::<u32>(value).filter(|_| !limit_in_bytes))
            {
                Some(packets) => set(&mut qdisc.limit_packets, Some(packets)),
                None => set(&mut qdisc.limit_bytes, size(value)),
            },
            "overhead" => set(&mut overhead, number::<i32>(value)),
            "default" if kind == "htb" => {
                let digits = value.trim_start_matches("0x");
                set(&mut qdisc.default_class, u32::from_str_radix(digits, 16).ok())
            }
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
            (Some(_), Some(burst)) if burst.bytes() < FULL_PACKET => {
                let burst = burst.bytes();
                Outcome::doubtful(format!("packets of more than {burst} bytes are dropped"))
                    .trap(Trap::ShaperBucketBelowPacket { burst })
            }
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
            } else if qdisc.rate.is_some() {
                Outcome::modelled(meaning)
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
            "burst" | "buffer" | "maxburst" => {
                set(&mut class.burst, size(value.split('/').next().unwrap_or("")))
            }
            _ => false,
        };
        rest = if used { &tail[1.min(tail.len())..] } else { tail };
    }
    let outcome = described_class(&class);
    (class, outcome)
}

fn described_class(class: &Class) -> Outcome {
    match (class.kind.as_str(), class.rate, class.ceil) {
        ("htb", Some(rate), Some(ceil)) if rate == ceil => {
            Outcome::modelled(format!("{rate} at most, and guaranteed"))
        }
        ("htb", Some(rate), Some(ceil)) if ceil < rate => Outcome::doubtful(format!(
            "{ceil} at most, below its own rate of {rate}"
        ))
        .trap(Trap::CeilingBelowRate {
            class: class.id.clone(),
            rate: rate.bits_per_s(),
            ceil: ceil.bits_per_s(),
        }),
        ("htb", Some(rate), Some(ceil)) => Outcome::modelled(format!(
            "{rate} are guaranteed, up to {ceil} when others leave them"
        )),
        ("htb", ..) => Outcome::doubtful("a class whose rates are not to be read"),
        ("fq_codel" | "mq" | "cake" | "fq_pie" | "tbf" | "prio", ..) => Outcome::ignored(),
        _ => Outcome::not_modelled("a class of a discipline that is not followed"),
    }
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

/// A rate above 0: `10Mbit`, `64Kbit`, `1250Kbps` (bytes), `1000000` (bits).
fn rate(word: &str) -> Option<BitRate> {
    let (number, unit) = split(word)?;
    let scale: u128 = match unit.to_ascii_lowercase().as_str() {
        "bit" | "" => 1,
        "kbit" => 1_000,
        "mbit" => 1_000_000,
        "gbit" => 1_000_000_000,
        "tbit" => 1_000_000_000_000,
        "kibit" => 1 << 10,
        "mibit" => 1 << 20,
        "gibit" => 1 << 30,
        "bps" => 8,
        "kbps" => 8_000,
        "mbps" => 8_000_000,
        "gbps" => 8_000_000_000,
        _ => return None,
    };
    scaled(number, scale).filter(|bits| *bits > 0).map(BitRate::new)
}

/// A size: `15Kb`, `1600b`, `32Mb`, `32kbit`: bytes (bits with `bit`) with binary multiples.
fn size(word: &str) -> Option<ByteCount> {
    let (number, unit) = split(word)?;
    let scale: u128 = match unit.to_ascii_lowercase().as_str() {
        "b" | "" => 1,
        "kb" | "k" => 1 << 10,
        "mb" | "m" => 1 << 20,
        "gb" | "g" => 1 << 30,
        "kbit" => (1 << 10) / 8,
        "mbit" => (1 << 20) / 8,
        "gbit" => (1 << 30) / 8,
        _ => return None,
    };
    scaled(number, scale).map(ByteCount::new)
}

/// A time: `50ms`, `5us`, `1.2s`, `400` (microseconds).
fn time(word: &str) -> Option<Duration> {
    let (number, unit) = split(word)?;
    let scale: u128 = match unit.to_ascii_lowercase().as_str() {
        "ns" | "nsec" | "nsecs" => 1,
        "us" | "usec" | "usecs" | "" => 1_000,
        "ms" | "msec" | "msecs" => 1_000_000,
        "s" | "sec" | "secs" => 1_000_000_000,
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

/// Classes of htb stand in each other no deeper than this (`TC_HTB_MAXDEPTH`).
const DEEPEST: usize = 8;

/// First words of lines with statistics.
#[rustfmt::skip]
const STATISTICS: &[&str] = &[
    "Sent", "backlog", "rate", "lended:", "tokens:", "maxpacket", "new_flows_len", "new_flow_count", "memory", "capacity",
    "min/max", "average", "Tin", "thresh", "target", "interval", "pk_delay", "av_delay", "sp_delay", "backlog", "pkts", "bytes",
    "way_inds", "way_miss", "way_cols", "drops", "marks", "ack_drop", "sp_flows", "bk_flows", "un_flows", "max_len", "quantum",
    "flows", "throttled", "count", "lastcount", "ecn_mark", "drop_overlimit", "prob", "level", "period", "Bulk", "gc",
];

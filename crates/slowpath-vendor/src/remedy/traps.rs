//! The minimal change that takes a configuration out of a trap.

use slowpath_units::BitRate;

use super::change::Remedy;
use super::hosts::{LEAST_BUCKET, bucket_of};
use crate::finding::{Finding, Trap};
use crate::reading::{Config, Language, Line, Reading};
use crate::{cisco, rtx};

/// The change in the configuration's own language that does away with a finding; `None` where only its owner can
/// decide (which of several guarantees to lower, say), or where the line is simply wrong.
pub fn remedy_of(reading: &Reading, finding: &Finding) -> Option<Remedy> {
    let line = finding.line.and_then(|number| reading.line(number));
    let text = line.map(|line| line.text.as_str());
    let replaces: Vec<usize> = finding.line.into_iter().collect();
    let remedy = |lines: Vec<String>| Remedy::new(reading.language, lines);
    let instead = |line: String| remedy(vec![line]).replacing(replaces.clone());
    Some(match &finding.trap {
        Trap::WindowScalingOff { .. } => instead(format!("ip tcp window-size {LONG_PATH_WINDOW}"))
            .note("one MiB carries 80 Mbit/s over 100 ms; take rate times round trip for yours"),
        Trap::SackOff => remedy(vec!["ip tcp selective-ack".to_owned()]),
        Trap::OneBlockPerRoundTrip { .. } => instead(format!("ip tftp blocksize {LARGEST_TFTP_BLOCK}")),
        Trap::DefaultClassUnlimited { interface, class } => {
            let left = left_over(reading, interface, *class)?;
            remedy(vec![format!(
                "queue {interface} class property {class} bandwidth={left}"
            )])
            .note("what the other classes leave of the interface; take less to favour them")
        }
        Trap::CeilingAboveSpeed { interface, class } => {
            let speed = port(reading, interface)?.speed?;
            instead(format!(
                "queue {interface} class property {class} bandwidth={}",
                rate(speed.bits_per_s())
            ))
        }
        Trap::SmallBucket { burst, rate, .. } => instead(with_bucket(
            text?,
            *burst,
            cisco::own_bucket(BitRate::new(*rate)).bytes(),
        )?)
        .note("250 ms of the rate, which is what the device takes itself where the line gives no bucket"),
        Trap::SpeedWithoutQueue { interface } => remedy(vec![format!("queue {interface} type priority")])
            .note(
                "`shaping` instead, with a bandwidth for each class, where classes are to be held to a rate",
            ),
        Trap::ClassesWithoutScheduler { interface } => {
            remedy(vec![format!("queue {interface} type shaping")])
        }
        Trap::UnknownFilter { number } => {
            // Of a list of this filter alone nothing would be left.
            match without_filter(text?, *number) {
                Some(kept) => remedy(in_context(line?, kept)).replacing(replaces),
                None if text?.contains("supersede") => {
                    let ip = text?.split_whitespace().next().unwrap_or("ip");
                    remedy(vec![format!("{ip} filter {number} pass * * * * *")])
                        .note("it matches every packet; name the addresses or ports that are meant")
                }
                None => return None,
            }
        }
        Trap::UnusedFilter { number } => instead(format!("no queue class filter {number}"))
            .note("or put its number into a `class filter list`"),
        Trap::AntiReplayBehindQueue { .. } => {
            let kept = text?
                .split_whitespace()
                .filter(|word| !word.starts_with("anti-replay-check="))
                .collect::<Vec<_>>()
                .join(" ");
            instead(format!("{kept} anti-replay-check=off"))
                .note("it is the receiving end that checks: set it there")
        }
        Trap::TunnelMtuDefault { tunnel } => tunnel_mtu(reading, *tunnel)?,
        Trap::TunnelMtuTooLarge { tunnel, fits, .. } => remedy(vec![
            format!("tunnel select {tunnel}"),
            format!(" ip tunnel mtu {fits}"),
        ]),
        Trap::TosKeepsPrecedence => {
            let mut words: Vec<&str> = text?.split_whitespace().collect();
            // ip tos supersede ID TOS [precedence=P] FILTER...
            words.insert(5.min(words.len()), "precedence=0");
            instead(words.join(" "))
        }
        Trap::WindowScaleRemoved => {
            let no = format!("no {}", text?);
            remedy(in_context(line?, no)).replacing(replaces)
        }
        Trap::IpQosHex { .. } => instead(in_decimal(text?)),
        Trap::IpQosLegacyWord { .. } => instead("IPQoS none".to_owned())
            .note("or a DSCP name for each kind of connection, such as `IPQoS af21 cs1`"),
        Trap::MarkedTransfer { .. } if reading.language == Language::Ssh => instead("IPQoS none".to_owned())
            .note("each end marks what it sends: an upload follows the client, a download the server"),
        Trap::ExplicitLimitOnly { key } => buffers(reading, key)?,
        Trap::SlowsLongPaths { key, .. } => match explicit_limit(reading, key) {
            Some((explicit, _)) => {
                buffers(reading, explicit)?.note("as far as the limit on buffers that programs set")
            }
            None => instead(format!("{key} = {}", kernel_default(key)?)),
        },
        Trap::NoEffect { .. } => Remedy::new(reading.language, Vec::<String>::new()).replacing(replaces),
        Trap::Misspelt { word, meant } => instead(text?.replacen(word.as_str(), meant, 1)),
        Trap::UnknownCongestionControl {
            name,
            meant: Some(meant),
        } => {
            let (key, value) = text?.split_once('=')?;
            instead(format!("{key}={}", value.replacen(name.as_str(), meant, 1)))
        }
        Trap::IpMtuAboveMtu { mtu, .. } => instead(format!("ip mtu {mtu}")),
        Trap::ShaperBucketBelowPacket { .. } => shaper_bucket(reading, line?)?,
        Trap::Refused { .. }
        | Trap::QueueOnInput { .. }
        | Trap::GuaranteesExceedSpeed { .. }
        | Trap::UnknownClass { .. }
        | Trap::CeilingBelowRate { .. }
        | Trap::NoDefaultClass { .. }
        | Trap::UnknownCongestionControl { .. }
        | Trap::MarkedTransfer { .. } => return None,
    })
}

/// The change for each finding. Where several concern one line, the last has all of them and the others none, so
/// that no two contradict each other.
pub fn remedies_of(reading: &Reading) -> Vec<Option<Remedy>> {
    let mut now = reading.clone();
    let mut found: Vec<Option<Remedy>> = Vec::with_capacity(reading.findings.len());
    for finding in &reading.findings {
        let remedy = remedy_of(&now, finding);
        if let Some(remedy) = remedy.as_ref().filter(|remedy| !remedy.replaces.is_empty()) {
            for earlier in &mut found {
                if earlier
                    .as_ref()
                    .is_some_and(|earlier| earlier.replaces == remedy.replaces)
                {
                    *earlier = None;
                }
            }
            let line = remedy.replaces.first().and_then(|number| {
                let mut lines = now.lines.iter_mut();
                lines.find(|line| line.number == *number)
            });
            if let (Some(line), Some(text)) = (line, remedy.lines.last()) {
                text.trim().clone_into(&mut line.text);
            }
        }
        found.push(remedy);
    }
    found
}

fn rtx_config(reading: &Reading) -> Option<&rtx::Config> {
    match &reading.config {
        Config::Rtx(config) => Some(config),
        _ => None,
    }
}

fn port<'r>(reading: &'r Reading, name: &str) -> Option<&'r rtx::Port> {
    rtx_config(reading)?.ports.get(name)
}

/// What the other classes leave of an interface, as its language writes rates.
fn left_over(reading: &Reading, interface: &str, class: u16) -> Option<String> {
    let port = port(reading, interface)?;
    // Without a speed, that of the port itself, which the text does not say.
    let speed = port.speed.map_or(PORT_SPEED, BitRate::bits_per_s);
    let others = port.classes.iter().filter(|(number, _)| **number != class);
    let taken: u64 = others
        .filter_map(|(_, class)| class.guarantee.or(class.ceiling))
        .map(|share| share.of(speed))
        // The device refuses more than there is.
        .filter(|bits| *bits <= speed)
        .sum();
    let left = speed.saturating_sub(taken);
    (left > 0).then(|| rate(left))
}

fn rate(bits: u64) -> String {
    match bits {
        _ if bits.is_multiple_of(1_000_000) => format!("{}m", bits / 1_000_000),
        _ if bits.is_multiple_of(1_000) => format!("{}k", bits / 1_000),
        _ => bits.to_string(),
    }
}

fn tunnel_mtu(reading: &Reading, number: u32) -> Option<Remedy> {
    let fits = rtx_config(reading)?.tunnel_fits(number)?;
    let lines = [
        format!("tunnel select {number}"),
        format!(" ip tunnel mtu {fits}"),
        " ip tunnel tcp mss limit auto".to_owned(),
    ];
    Some(Remedy::new(Language::Rtx, lines).note("if the line carries full-size packets all the way"))
}

/// A command in the place of `line`: behind the select that it needs if it is about the selected tunnel or peer.
fn in_context(line: &Line, command: String) -> Vec<String> {
    let about = line.text.split_whitespace().nth(1).map(str::to_lowercase);
    let selected = line
        .context
        .split(", ")
        .next()
        .and_then(|part| part.split_once(' '));
    match (about.as_deref(), selected) {
        (Some("tunnel" | "pp"), Some((kind, number))) => {
            vec![format!("{kind} select {number}"), format!(" {command}")]
        }
        _ => vec![command],
    }
}

/// A policer's line with another bucket; `None` where the line has no such number behind its rate.
fn with_bucket(line: &str, now: u64, wanted: u64) -> Option<String> {
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let rate = words
        .iter()
        .position(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let bucket = words[rate + 1..]
        .iter()
        .position(|word| word.parse() == Ok(now))?;
    words[rate + 1 + bucket] = wanted.to_string();
    Some(words.join(" "))
}

/// A line without a filter in its list, which comes after `list` or, in a rewriting rule, after its number and mark;
/// `None` if no filter is left.
fn without_filter(line: &str, number: u32) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let list = match words.iter().position(|word| *word == "supersede") {
        Some(place) => place + 3,
        None => words.iter().position(|word| *word == "list")? + 1,
    };
    let filter = number.to_string();
    let (head, list) = words.split_at_checked(list)?;
    let kept: Vec<&str> = list.iter().copied().filter(|word| *word != filter).collect();
    let numbers = kept.iter().any(|word| word.parse::<u32>().is_ok());
    numbers.then(|| [head, &kept].concat().join(" "))
}

/// A line with its hexadecimal numbers in decimal.
fn in_decimal(line: &str) -> String {
    let number = |word: &str| {
        let digits = word.to_lowercase();
        u8::from_str_radix(digits.strip_prefix("0x")?, 16).ok()
    };
    line.split_whitespace()
        .map(|word| number(word).map_or_else(|| word.to_owned(), |number| number.to_string()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The line for automatic buffers that a limit on explicit ones does not reach, in the place of the one that there is.
fn buffers(reading: &Reading, key: &str) -> Option<Remedy> {
    let (automatic, first, now) = match key {
        "net.core.rmem_max" => ("net.ipv4.tcp_rmem", "4096 131072", reading.settings.rmem),
        "net.core.wmem_max" => ("net.ipv4.tcp_wmem", "4096 16384", reading.settings.wmem),
        _ => return None,
    };
    let (_, limit) = explicit_limit(reading, automatic)?;
    // Nothing to add where the automatic ones already reach as far.
    if now.is_some_and(|[.., most]| most >= limit) {
        return None;
    }
    let own = match &reading.config {
        Config::Sysctl(config) => config.lines.get(automatic).copied(),
        _ => None,
    };
    let line = format!("{automatic} = {first} {limit}");
    Some(Remedy::new(Language::Sysctl, [line]).replacing(own.into_iter().collect()))
}

/// The setting that bounds explicit buffers beside the one of automatic ones, with its bytes, where it lets them be larger than
/// the kernel's own do.
fn explicit_limit(reading: &Reading, automatic: &str) -> Option<(&'static str, u64)> {
    let (key, limit) = match automatic {
        "net.ipv4.tcp_rmem" => ("net.core.rmem_max", reading.settings.rmem_max?),
        "net.ipv4.tcp_wmem" => ("net.core.wmem_max", reading.settings.wmem_max?),
        _ => return None,
    };
    let default = kernel_default(automatic)?.split(' ').next_back()?;
    (limit > default.parse().ok()?).then_some((key, limit))
}

/// The command that makes a shaper, with a bucket that holds packets; `None` where the line is what `tc` printed.
fn shaper_bucket(reading: &Reading, line: &Line) -> Option<Remedy> {
    let Config::Tc(config) = &reading.config else {
        return None;
    };
    let shaper = config.qdiscs.iter().find(|qdisc| qdisc.line == line.number)?;
    let mut words: Vec<String> = line.text.split_whitespace().map(str::to_owned).collect();
    if !words.iter().any(|word| word == "tc" || word.ends_with("/tc")) {
        return None;
    }
    let bucket = words
        .iter()
        .position(|word| matches!(word.as_str(), "burst" | "buffer" | "maxburst"))?;
    *words.get_mut(bucket + 1)? = shaper.rate.map_or(LEAST_BUCKET, bucket_of).to_string();
    let goes_on = format!("goes on from line {}", line.number);
    let own = |other: &&Line| other.number == line.number || other.meaning == goes_on;
    let replaces = reading.lines.iter().filter(own).map(|line| line.number);
    Some(Remedy::new(Language::Tc, [words.join(" ")]).replacing(replaces.collect()))
}

/// The kernel's own value (Linux 6.6).
fn kernel_default(key: &str) -> Option<&'static str> {
    Some(match key {
        "net.ipv4.tcp_rmem" => "4096 131072 6291456",
        "net.ipv4.tcp_wmem" => "4096 16384 4194304",
        "net.ipv4.tcp_window_scaling" | "net.ipv4.tcp_sack" | "net.ipv4.tcp_moderate_rcvbuf" => "1",
        _ => return None,
    })
}

/// One MiB: a window for long paths.
const LONG_PATH_WINDOW: u32 = 1 << 20;

/// `ip tftp blocksize` takes 512 to 8192.
const LARGEST_TFTP_BLOCK: u32 = 8_192;

/// A port's rate where nothing says otherwise, in bits per second.
const PORT_SPEED: u64 = 100_000_000;

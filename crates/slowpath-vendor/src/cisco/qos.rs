//! The modular QoS command line: class maps, policy maps, and what follows from them together.

use slowpath_packet::Dscp;
use slowpath_units::{BitRate, Ratio};

use super::config::Config;
use super::policy::{Action, Bandwidth, ClassMap, Match, Police, PolicyClass, PolicyMap};
use crate::finding::Trap;
use crate::notes::{LineState, Notes, Outcome};
use crate::text::{number, rate};

/// Lines of a class map.
pub(super) fn read_match(words: &[&str], map: &mut ClassMap) -> Option<Outcome> {
    let (found, outcome) = match words {
        ["match", "dscp", values @ ..] | ["match", "ip", "dscp", values @ ..] => match marks(values) {
            Some(marks) => {
                let list = marks
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(", ");
                (
                    Match::Dscp(marks),
                    Outcome::modelled(format!("packets marked {list}")),
                )
            }
            None => return Some(Outcome::refused("a mark is a DSCP name or 0 to 63")),
        },
        ["match", "precedence", values @ ..] | ["match", "ip", "precedence", values @ ..] => match values
            .iter()
            .map(|value| precedence(value))
            .collect::<Option<Vec<u8>>>()
        {
            Some(list) if !list.is_empty() => (
                Match::Precedence(list),
                Outcome::modelled(format!("packets with precedence {}", values.join(", "))),
            ),
            _ => return Some(Outcome::refused("a precedence is a name or 0 to 7")),
        },
        ["match", "any"] => (Match::Any, Outcome::modelled("every packet")),
        ["match", rest @ ..] if !rest.is_empty() => (
            Match::Other(rest.join(" ")),
            Outcome::not_modelled("a condition that is not followed: the class matches nothing by it"),
        ),
        ["description", ..] => return Some(Outcome::ignored()),
        _ => return None,
    };
    map.matches.push(found);
    Some(outcome)
}

/// Lines of a class within a policy map.
pub(super) fn read_action(words: &[&str], class: &mut PolicyClass) -> Option<Outcome> {
    Some(match words {
        ["priority"] => {
            class.priority = Some(Bandwidth::Unlimited);
            Outcome::modelled("served before all other classes, which can starve")
        }
        ["priority", "level", _] => {
            class.priority = Some(Bandwidth::Unlimited);
            Outcome::doubtful("served before other classes; levels among priority classes are taken as one")
        }
        ["priority", rest @ ..] => match kbit_or_percent(rest) {
            Some(bandwidth) => {
                class.priority = Some(bandwidth);
                Outcome::modelled(format!(
                    "served before all other classes, up to {} when the interface is congested",
                    describe(bandwidth)
                ))
            }
            None => Outcome::refused("a rate in kbit/s, or percent"),
        },
        ["bandwidth", "remaining", "ratio", _] => Outcome::not_modelled("a weight for what is left over"),
        ["bandwidth", rest @ ..] => match kbit_or_percent(rest) {
            Some(bandwidth) => {
                class.bandwidth = Some(bandwidth);
                Outcome::modelled(format!(
                    "{} are guaranteed under congestion; more is possible when others leave it",
                    describe(bandwidth)
                ))
            }
            None => Outcome::refused("a rate in kbit/s, or percent"),
        },
        ["police", rest @ ..] => match police(rest) {
            Some(police) => {
                class.police = Some(police);
                let exceed = match police.exceed {
                    Action::Drop => "dropped".to_owned(),
                    Action::Transmit => "let through".to_owned(),
                    Action::Mark(dscp) => format!("marked {dscp}"),
                };
                let bucket = police
                    .burst
                    .map_or("the device's own bucket".to_owned(), |burst| {
                        format!("a bucket of {burst} bytes")
                    });
                Outcome::modelled(format!(
                    "packets above {} and {bucket} are {exceed}; nothing waits",
                    describe(police.rate)
                ))
            }
            None => Outcome::refused("a rate in bit/s with suffix k, m or g, or percent"),
        },
        ["conform-action" | "exceed-action" | "violate-action", action @ ..] => {
            match (words[0], action_of(action)) {
                ("exceed-action", Some(action)) => {
                    if let Some(police) = &mut class.police {
                        police.exceed = action;
                    }
                    Outcome::modelled("what happens to packets above the rate")
                }
                (_, Some(_)) => Outcome::modelled("what happens to packets within or far above the rate"),
                (_, None) => Outcome::not_modelled("an action that is not followed"),
            }
        }
        ["shape", "average", rest @ ..] => match shape(rest) {
            Some(bandwidth) => {
                class.shape = Some(bandwidth);
                Outcome::modelled(format!("packets above {} wait", describe(bandwidth)))
            }
            None => Outcome::refused("a rate in bit/s with suffix k, m or g, or percent"),
        },
        ["shape", "peak", ..] => Outcome::not_modelled("packets above a peak rate wait"),
        ["queue-limit", packets] | ["queue-limit", packets, "packets"] => match number::<u32>(packets) {
            Some(packets) => {
                class.queue_limit = Some(packets);
                Outcome::modelled(format!("at most {packets} packets wait; more are dropped"))
            }
            None => Outcome::refused("a number of packets"),
        },
        ["queue-limit", _, _] => Outcome::not_modelled("how much waits at most"),
        ["set", "dscp" | "ip-dscp", value] | ["set", "ip", "dscp", value] => match mark(value) {
            Some(dscp) => {
                class.set_dscp = Some(dscp);
                Outcome::modelled(format!("every packet is marked {dscp}"))
            }
            None => Outcome::not_modelled("the mark is taken from elsewhere"),
        },
        ["set", "precedence", value] | ["set", "ip", "precedence", value] => match precedence(value) {
            Some(value) => {
                class.set_dscp = Dscp::new(value << 3);
                Outcome::modelled(format!("every packet is marked with precedence {value}"))
            }
            None => Outcome::refused("a precedence is a name or 0 to 7"),
        },
        ["set", ..] => Outcome::not_modelled("writes a field that is not followed"),
        ["random-detect", ..] => {
            Outcome::not_modelled("packets are dropped at random before the queue is full")
        }
        ["fair-queue", ..] => Outcome::not_modelled("flows within the class share it evenly"),
        ["service-policy", name] => {
            class.child = Some((*name).to_owned());
            Outcome::modelled(format!("policy {name} divides what this class gets"))
        }
        ["drop"] => Outcome::not_modelled("every packet of the class is dropped"),
        [
            "compression" | "estimate" | "netflow-sampler" | "account" | "log" | "exit" | "description",
            ..,
        ] => Outcome::ignored(),
        _ => return None,
    })
}

/// Classes and policies that lead nowhere.
pub(super) fn settle(config: &Config, notes: &mut Notes) {
    for class in config.policy_maps.values().flat_map(|policy| &policy.classes) {
        if !config.has_class(&class.class) {
            let line = notes.find(&format!("class {}", class.class));
            notes.finding(
                line,
                Trap::UnknownClass {
                    class: class.class.clone(),
                },
            );
        }
    }
    for (name, policy) in &config.policy_maps {
        for class in &policy.classes {
            if !config.has_class(&class.class) {
                let context = format!("policy-map {name} class {}", class.class);
                for line in notes.lines.iter_mut().filter(|line| line.context == context) {
                    line.state = LineState::Doubtful;
                    "no effect: no packet is of this class".clone_into(&mut line.meaning);
                }
                continue;
            }
            settle_class(config, name, policy, class, notes);
        }
    }
    for (name, interface) in &config.interfaces {
        let Some(input) = &interface.input_policy else {
            continue;
        };
        if config.policy_maps.get(input).is_some_and(waits) {
            let context = format!("interface {name}");
            let line = notes.find_in(&context, "service-policy input");
            notes.finding(
                line,
                Trap::QueueOnInput {
                    policy: input.clone(),
                },
            );
        }
    }
    for (name, interface) in &config.interfaces {
        if let (Some(mtu), Some(ip_mtu)) = (interface.mtu, interface.ip_mtu)
            && ip_mtu > mtu
        {
            let line = notes.find_in(&format!("interface {name}"), "ip mtu");
            if let Some(line) = line {
                notes.hidden(
                    line,
                    &format!("no effect: the interface's `mtu` of {mtu} is smaller"),
                );
            }
            notes.finding(line, Trap::IpMtuAboveMtu { ip_mtu, mtu });
        }
    }
    for interface in config.interfaces.values() {
        for policy in [&interface.input_policy, &interface.output_policy]
            .into_iter()
            .flatten()
        {
            if !config.policy_maps.contains_key(policy) {
                let line = ["input", "output"]
                    .iter()
                    .find_map(|way| notes.find(&format!("service-policy {way} {policy}")));
                notes.finding(
                    line,
                    Trap::Refused {
                        why: format!("there is no policy-map {policy}"),
                    },
                );
            }
        }
    }
    for (name, interface) in &config.interfaces {
        let Some(policy) = interface
            .output_policy
            .as_ref()
            .and_then(|policy| config.policy_maps.get(policy))
        else {
            continue;
        };
        let Some((speed, policy)) = divided(config, interface.reference(), policy) else {
            continue;
        };
        let sum: u64 = policy
            .classes
            .iter()
            .filter(|class| config.has_class(&class.class))
            .flat_map(|class| [class.priority, class.bandwidth])
            .flatten()
            .map(|share| match share {
                Bandwidth::Rate(rate) => rate.bits_per_s(),
                Bandwidth::Percent(share) => part(speed, share).bits_per_s(),
                Bandwidth::Remaining(_) | Bandwidth::Unlimited => 0,
            })
            .fold(0, u64::saturating_add);
        if sum > speed.bits_per_s() {
            let line = notes.find("service-policy output");
            notes.finding(
                line,
                Trap::GuaranteesExceedSpeed {
                    interface: name.clone(),
                    sum,
                    speed: speed.bits_per_s(),
                },
            );
        }
    }
}

/// What the classes of a port divide, and the policy that they stand in: the one within a shaper that is all of `policy`.
fn divided<'c>(
    config: &'c Config,
    bandwidth: Option<BitRate>,
    policy: &'c PolicyMap,
) -> Option<(BitRate, &'c PolicyMap)> {
    let inner = match policy.classes.as_slice() {
        [class] => class
            .child
            .as_ref()
            .and_then(|child| config.policy_maps.get(child))
            .map(|inner| (class.shape, inner)),
        _ => None,
    };
    match inner {
        Some((Some(Bandwidth::Rate(rate)), inner)) => Some((rate, inner)),
        Some((Some(Bandwidth::Percent(share)), inner)) => Some((part(bandwidth?, share), inner)),
        Some((_, inner)) => Some((bandwidth?, inner)),
        None => Some((bandwidth?, policy)),
    }
}

/// A share of a rate.
fn part(rate: BitRate, share: Ratio) -> BitRate {
    let bits = u128::from(rate.bits_per_s()) * u128::from(share.ppb()) / 1_000_000_000;
    BitRate::new(u64::try_from(bits).unwrap_or(u64::MAX))
}

/// Whether a policy makes packets wait.
fn waits(policy: &PolicyMap) -> bool {
    policy
        .classes
        .iter()
        .any(|class| class.shape.is_some() || class.bandwidth.is_some() || class.priority.is_some())
}

/// A class whose bucket is too small for a transfer, or whose inner policy is not followed.
fn settle_class(config: &Config, name: &str, policy: &PolicyMap, class: &PolicyClass, notes: &mut Notes) {
    let context = format!("policy-map {name} class {}", class.class);
    // A priority class is for packets that come one by one.
    if let Some(Police {
        rate: Bandwidth::Rate(rate),
        burst: Some(burst),
        exceed: Action::Drop,
        ..
    }) = class.police
        && class.priority.is_none()
    {
        let holds_ms = u128::from(burst) * 8_000 / u128::from(rate.bits_per_s().max(1));
        if holds_ms < SMALL_BUCKET_MS {
            let line = notes.find_in(&context, "police ");
            notes.finding(
                line,
                Trap::SmallBucket {
                    burst,
                    rate: rate.bits_per_s(),
                    holds_ms: u64::try_from(holds_ms).unwrap_or(u64::MAX),
                },
            );
        }
    }
    // One class that is all of the policy hands on whole; of one among several, a child for all its packets is followed.
    let followed = |child: &PolicyMap| {
        policy.classes.len() == 1
            || matches!(child.classes.as_slice(), [all] if all.class == "class-default" && !waits(child))
    };
    let within = config
        .policy_maps
        .values()
        .flat_map(|policy| &policy.classes)
        .any(|around| {
            around.child.as_deref() == Some(name) && (around.shape.is_some() || around.police.is_some())
        });
    if within {
        for line in notes.lines.iter_mut().filter(|line| line.context == context) {
            if let Some((share, rest)) = line.meaning.split_once(" of the interface") {
                let of = format!("{share} of what the class around it is held to");
                line.meaning = of + rest;
            }
        }
    }
    let child = class
        .child
        .as_ref()
        .and_then(|child| config.policy_maps.get(child));
    if child.is_some_and(|child| !followed(child))
        && let Some(line) = notes.find_in(&context, "service-policy ")
    {
        notes.left_out(
            line,
            "a policy within one class of several is not followed: the class is taken as a whole",
        );
    }
}

fn kbit_or_percent(words: &[&str]) -> Option<Bandwidth> {
    match words {
        ["percent", share] | ["percent", share, _] => percent(share).map(Bandwidth::Percent),
        ["remaining", "percent", share] => percent(share).map(Bandwidth::Remaining),
        [kbit] | [kbit, _] => number::<u64>(kbit)?
            .checked_mul(1_000)
            .and_then(above_zero)
            .map(Bandwidth::Rate),
        _ => None,
    }
}

/// A rate that something can have: at none, nothing leaves.
fn above_zero(bits: u64) -> Option<BitRate> {
    (bits > 0).then(|| BitRate::new(bits))
}

fn percent(word: &str) -> Option<Ratio> {
    number::<u32>(word)
        .filter(|share| (1..=100).contains(share))
        .and_then(|share| Ratio::from_ppb(share * 10_000_000))
}

fn shape(words: &[&str]) -> Option<Bandwidth> {
    match words {
        ["percent", share, ..] => percent(share).map(Bandwidth::Percent),
        [bits, ..] => rate(bits).and_then(above_zero).map(Bandwidth::Rate),
        [] => None,
    }
}

/// `[cir] RATE [[bc] BYTES] [[be] BYTES] [conform-action ACTION] [exceed-action ACTION] [violate-action ACTION]`.
fn police(words: &[&str]) -> Option<Police> {
    let mut words = words;
    let (committed, rest) = match words {
        ["cir" | "rate", "percent", share, rest @ ..] => (Bandwidth::Percent(percent(share)?), rest),
        ["cir" | "rate", bits, rest @ ..] | [bits, rest @ ..] => {
            (Bandwidth::Rate(rate(bits).and_then(above_zero)?), rest)
        }
        [] => return None,
    };
    words = rest;
    let mut police = Police {
        rate: committed,
        burst: None,
        excess_burst: None,
        exceed: Action::Drop,
    };
    loop {
        words = match words {
            [] => return Some(police),
            ["bps", rest @ ..] => rest,
            ["bc" | "burst", bytes, rest @ ..] => {
                police.burst = Some(number(bytes)?);
                rest
            }
            ["be", bytes, rest @ ..] => {
                police.excess_burst = Some(number(bytes)?);
                rest
            }
            ["pir", _, rest @ ..] => rest,
            ["conform-action" | "violate-action", rest @ ..] => skip_action(rest),
            ["exceed-action", rest @ ..] => {
                police.exceed = action_of(rest).unwrap_or(Action::Drop);
                skip_action(rest)
            }
            [bytes, rest @ ..] => {
                let bytes = number(bytes)?;
                if police.burst.is_none() {
                    police.burst = Some(bytes);
                } else {
                    police.excess_burst = Some(bytes);
                }
                rest
            }
        };
    }
}

/// The words behind an action: up to the next keyword of a policer.
fn skip_action<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    let end = words
        .iter()
        .position(|word| word.ends_with("-action"))
        .unwrap_or(words.len());
    &words[end..]
}

fn action_of(words: &[&str]) -> Option<Action> {
    match words {
        ["transmit", ..] => Some(Action::Transmit),
        ["drop", ..] => Some(Action::Drop),
        ["set-dscp-transmit", value, ..] => mark(value).map(Action::Mark),
        ["set-prec-transmit", value, ..] => precedence(value)
            .and_then(|value| Dscp::new(value << 3))
            .map(Action::Mark),
        _ => None,
    }
}

fn marks(words: &[&str]) -> Option<Vec<Dscp>> {
    let marks = words
        .iter()
        .map(|word| mark(word))
        .collect::<Option<Vec<Dscp>>>()?;
    (!marks.is_empty()).then_some(marks)
}

fn mark(word: &str) -> Option<Dscp> {
    if word == "default" {
        Some(Dscp::DEFAULT)
    } else {
        word.parse().ok()
    }
}

fn precedence(word: &str) -> Option<u8> {
    const NAMES: [&str; 8] = [
        "routine",
        "priority",
        "immediate",
        "flash",
        "flash-override",
        "critical",
        "internet",
        "network",
    ];
    NAMES
        .iter()
        .position(|name| *name == word)
        .and_then(|index| u8::try_from(index).ok())
        .or_else(|| number(word).filter(|value| *value < 8))
}

fn describe(bandwidth: Bandwidth) -> String {
    match bandwidth {
        Bandwidth::Rate(rate) => rate.to_string(),
        Bandwidth::Percent(share) => format!("{share} of the interface"),
        Bandwidth::Remaining(share) => format!("{share} of what is left"),
        Bandwidth::Unlimited => "any rate".to_owned(),
    }
}

/// A bucket that lasts for less, in milliseconds of its rate, holds a transfer over as long a round trip far below that rate: in simulated
/// time, 50 ms of 30 Mbit/s let CUBIC have 14.7 Mbit/s over 100 ms, 100 ms 23.7, and 250 ms 25.8.
const SMALL_BUCKET_MS: u128 = 100;

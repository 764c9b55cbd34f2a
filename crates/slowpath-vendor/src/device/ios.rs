//! A Cisco router on a path: the policy of the port that packets leave by, or of the one that they come in by.
//!
//! | | device | here | why |
//! |---|---|---|---|
//! | which bytes are counted | layer 2, platforms differ about FCS | frames without FCS | documented for most platforms |
//! | rate of the port | `speed`, else negotiated | `speed`, at most the line's | |
//! | a class without `class-map` | has no packets | left out | |
//! | bucket of a policer without one | the platform's choice | 250 ms of the rate, at least 1600 bytes | IOS 15 on software platforms computes it so |
//! | classes by access list | as the list says | match nothing | lists are not followed |
//! | nested policies | shape outside, classes inside | the inner classes within the outer rate | |
//! | a policy within a class | before that class's own policer and mark; percentages are of what the class is shaped or policed to | the same | Cisco 10000 Series Quality of Service Configuration Guide, chapter 13 |
//! | a policy within one class of several | divides what that class gets | its policer and mark, if it is one `class-default`; else nothing | a queue within a queue |

use slowpath_path::{
    Action, Adjust, Class, Classes, Classify, ElementKind, Limit, Link, Match, Meter, Police, Queue, Rate,
    Remark, RemarkRule, Rule, SetMark, Surplus,
};
use slowpath_scenario::Assumption;
use slowpath_scenario::Standing;
use slowpath_scenario::device::{DeviceElements, DevicePart, DeviceUse};
use slowpath_units::{BitRate, ByteCount, Layer};

use super::error::{DeviceError, unknown_port};
use crate::cisco::{self, Bandwidth, ClassMap, Config, PolicyClass, PolicyMap};

pub(super) fn elements(config: &Config, device: &DeviceUse) -> Result<DeviceElements, DeviceError> {
    let port = config
        .interfaces
        .get(&device.port)
        .ok_or_else(|| unknown_port(device, config.interfaces.keys()))?;
    let line = port.speed.map_or(device.line, |speed| speed.min(device.line));
    let mut found = DeviceElements::default();
    if let Some(mss) = port.adjust_mss {
        let adjust = Adjust {
            mss: Some(mss),
            strip_window_scale: false,
        };
        found
            .elements
            .push(DevicePart::new("adjust", ElementKind::Adjust(adjust)));
    }
    let policy = port
        .output_policy
        .as_ref()
        .and_then(|name| config.policy_maps.get(name));
    let Some(policy) = policy else {
        let limit = Limit::Packets(port.hold_queue.unwrap_or(HOLD_QUEUE));
        let link = Link::fifo(line, Layer::Wire, limit);
        found
            .elements
            .push(DevicePart::new("port", ElementKind::Link(link)));
        return Ok(found);
    };
    let speed = port.bandwidth.unwrap_or(line);
    let (inner, reference) = treated(config, policy, speed, device, &mut found);
    let outer = outside(config, policy)
        .and_then(|(class, _)| class.shape)
        .map(|shape| rate_of(shape, speed));
    found.elements.push(DevicePart::new(
        "port",
        ElementKind::Link(link(config, inner, line, (outer, reference))),
    ));
    Ok(found)
}

/// What a port's policy does with packets that come in by it; `None` where it has no such policy. Nothing waits there.
pub(super) fn arriving(config: &Config, device: &DeviceUse) -> Option<DeviceElements> {
    let port = config.interfaces.get(&device.port)?;
    let policy = config.policy_maps.get(port.input_policy.as_ref()?)?;
    let speed = port.reference().unwrap_or(device.line);
    let mut found = DeviceElements::default();
    treated(config, policy, speed, device, &mut found);
    Some(found)
}

/// Adds what a policy does to packets before any wait: those of each class, then all of them where one class is all of it. Gives the
/// policy whose classes these are, and the rate that their percentages are of.
fn treated<'c>(
    config: &'c Config,
    policy: &'c PolicyMap,
    speed: BitRate,
    device: &DeviceUse,
    found: &mut DeviceElements,
) -> (&'c PolicyMap, BitRate) {
    let outside = outside(config, policy);
    let inner = outside.map_or(policy, |(_, inner)| inner);
    let reference = outside.map_or(speed, |(class, _)| whole(class, speed));
    found.elements.push(classifier(config, inner));
    treat_each(config, inner, reference, device, found);
    if let Some((class, _)) = outside {
        police(class, "all", speed, None, device, found);
        mark(class, "all", None, found);
    }
    (inner, reference)
}

/// The class of a policy that is all of it and hands on to another policy, with that one.
fn outside<'c>(config: &'c Config, policy: &'c PolicyMap) -> Option<(&'c PolicyClass, &'c PolicyMap)> {
    let [class] = policy.classes.as_slice() else {
        return None;
    };
    let inner = config.policy_maps.get(class.child.as_ref()?)?;
    config.has_class(&class.class).then_some((class, inner))
}

/// Gives each packet the number of its class.
fn classifier(config: &Config, policy: &PolicyMap) -> DevicePart {
    let rules = rules(config, policy).into_iter().map(|(matches, number)| Rule {
        matches,
        class: Some(number),
        output: 0,
    });
    let classify = Classify {
        rules: rules.collect(),
        default_class: Some(DEFAULT),
        default_output: 0,
    };
    DevicePart::new("classify", ElementKind::Classify(classify))
}

/// The policers, then the marks of every class, with those of a policy within it that is one class for all its packets.
fn treat_each(
    config: &Config,
    policy: &PolicyMap,
    reference: BitRate,
    device: &DeviceUse,
    found: &mut DeviceElements,
) {
    let rules = rules(config, policy);
    let mut all: Vec<(&PolicyClass, &str, BitRate, Classify)> = Vec::new();
    for (number, class) in numbered(config, policy) {
        let only = only(&rules, number);
        if let Some(inner) = within(config, class) {
            all.push((inner, &class.class, whole(class, reference), only.clone()));
        }
        all.push((class, &class.class, reference, only));
    }
    for (class, name, reference, only) in &all {
        police(class, name, *reference, Some(only), device, found);
    }
    for (class, name, _, only) in &all {
        mark(class, name, Some(only), found);
    }
}

/// What percentages within a class refer to: what it is shaped or policed to, or what its own refer to.
fn whole(class: &PolicyClass, reference: BitRate) -> BitRate {
    class
        .shape
        .or(class.police.map(|police| police.rate))
        .map_or(reference, |bandwidth| rate_of(bandwidth, reference))
}

/// The one class of a policy within a class, where that is for all packets.
fn within<'c>(config: &'c Config, class: &PolicyClass) -> Option<&'c PolicyClass> {
    let inner = config.policy_maps.get(class.child.as_ref()?)?;
    match inner.classes.as_slice() {
        [all] if all.class == "class-default" => Some(all),
        _ => None,
    }
}

/// The policer of a class, for the packets that `only` chooses.
fn police(
    class: &PolicyClass,
    name: &str,
    reference: BitRate,
    only: Option<&Classify>,
    device: &DeviceUse,
    found: &mut DeviceElements,
) {
    let Some(police) = class.police else { return };
    let rate = rate_of(police.rate, reference);
    if police.burst.is_none() {
        found.assumptions.push(bucket_assumption(device, class, rate));
    }
    found.elements.push(DevicePart {
        name: format!("police-{name}"),
        does: ElementKind::Police(meter(police, rate)),
        only: only.cloned(),
    });
}

/// The mark that a class writes, into the packets that `only` chooses.
fn mark(class: &PolicyClass, name: &str, only: Option<&Classify>, found: &mut DeviceElements) {
    let Some(dscp) = class.set_dscp else { return };
    let rule = RemarkRule {
        matches: Match::default(),
        set: SetMark::Dscp(dscp),
    };
    found.elements.push(DevicePart {
        name: format!("mark-{name}"),
        does: ElementKind::Remark(Remark { rules: vec![rule] }),
        only: only.cloned(),
    });
}

/// The classes of a policy with their numbers; `class-default` is the default class. One that is defined nowhere is left out:
/// no packet is of it.
fn numbered<'p>(config: &Config, policy: &'p PolicyMap) -> impl Iterator<Item = (u8, &'p PolicyClass)> {
    policy
        .classes
        .iter()
        .take(usize::from(DEFAULT) - 1)
        .zip(1..)
        .filter(|(class, _)| config.has_class(&class.class))
        .map(|(class, number)| {
            if class.class == "class-default" {
                (DEFAULT, class)
            } else {
                (number, class)
            }
        })
}

/// The names of a policy's classes with the numbers that they have on a path.
pub(super) fn names(config: &Config, policy: &PolicyMap) -> Vec<(u8, String)> {
    let policy = outside(config, policy).map_or(policy, |(_, inner)| inner);
    let mut names: Vec<(u8, String)> = numbered(config, policy)
        .map(|(number, class)| (number, class.class.clone()))
        .collect();
    if !names.iter().any(|(number, _)| *number == DEFAULT) {
        names.push((DEFAULT, "class-default".to_owned()));
    }
    names
}

/// What each class takes, in the order in which the device asks.
fn rules(config: &Config, policy: &PolicyMap) -> Vec<(Match, u8)> {
    numbered(config, policy)
        .filter_map(|(number, class)| Some((number, config.class_maps.get(&class.class)?)))
        .flat_map(|(number, map)| conditions(map).into_iter().map(move |matches| (matches, number)))
        .collect()
}

/// The conditions of a class as matches, one of which must hold.
fn conditions(map: &ClassMap) -> Vec<Match> {
    let single = |condition: &cisco::Match| match condition {
        cisco::Match::Dscp(marks) => Some(Match {
            dscp: marks.clone(),
            ..Match::default()
        }),
        cisco::Match::Precedence(list) => Some(Match {
            precedence: list.clone(),
            ..Match::default()
        }),
        cisco::Match::Any => Some(Match::default()),
        // Not followed: it matches nothing.
        cisco::Match::Other(_) => None,
    };
    if map.any {
        return map.matches.iter().filter_map(single).collect();
    }
    // All must hold; one that is not followed makes the class match nothing.
    let mut all = Match::default();
    for condition in &map.matches {
        let Some(one) = single(condition) else {
            return Vec::new();
        };
        if !one.dscp.is_empty() {
            all.dscp = one.dscp;
        }
        if !one.precedence.is_empty() {
            all.precedence = one.precedence;
        }
    }
    if map.matches.is_empty() {
        Vec::new()
    } else {
        vec![all]
    }
}

/// Sends the packets of one class to output 0 and all others to output 1.
fn only(rules: &[(Match, u8)], number: u8) -> Classify {
    Classify {
        rules: rules
            .iter()
            .map(|(matches, own)| Rule {
                matches: matches.clone(),
                class: None,
                output: u8::from(*own != number),
            })
            .collect(),
        default_class: None,
        default_output: u8::from(number != DEFAULT),
    }
}

fn meter(police: cisco::Police, rate: BitRate) -> Police {
    let exceed = match police.exceed {
        cisco::Action::Drop => Action::Drop,
        cisco::Action::Transmit => Action::Pass,
        cisco::Action::Mark(dscp) => Action::Mark(dscp),
    };
    Police {
        meter: Meter::SingleRate {
            cir: rate,
            cbs: police
                .burst
                .map_or_else(|| cisco::own_bucket(rate), ByteCount::new),
            ebs: police.excess_burst.map_or(ByteCount::ZERO, ByteCount::new),
        },
        layer: Layer::Frame,
        exceed,
        violate: exceed,
    }
}

fn bucket_assumption(device: &DeviceUse, class: &PolicyClass, rate: BitRate) -> Assumption {
    Assumption {
        place: format!("{} {}", device.file, device.port),
        name: format!("bucket of class {}", class.class),
        value: cisco::own_bucket(rate).to_string(),
        standing: Standing::Assumed,
        source: "the line gives none; 250 ms of the rate".to_owned(),
    }
}

/// The classes of a policy on a port of rate `line`, all of them held to `outer`, with percentages of `reference`.
fn link(
    config: &Config,
    policy: &PolicyMap,
    line: BitRate,
    (outer, reference): (Option<BitRate>, BitRate),
) -> Link {
    let mut classes: Vec<Class> = numbered(config, policy)
        .map(|(number, class)| {
            let rate = |bandwidth: Option<Bandwidth>| match bandwidth {
                Some(Bandwidth::Rate(_) | Bandwidth::Percent(_)) => bandwidth.map(|b| rate_of(b, reference)),
                _ => None,
            };
            Class {
                rank: u8::from(class.priority.is_some()),
                guarantee: rate(class.bandwidth),
                // A priority class is held to its rate only under congestion, when the others need the rest.
                ceiling: rate(class.shape).or(rate(class.priority)),
                ..Class::plain(number, class.queue_limit.unwrap_or(QUEUE_LIMIT))
            }
        })
        .collect();
    if !classes.iter().any(|class| class.number == DEFAULT) {
        classes.push(Class::plain(DEFAULT, QUEUE_LIMIT));
    }
    Link {
        rate: Rate::Fixed(line),
        layer: Layer::Wire,
        queue: Queue::Classes(Classes {
            classes,
            default: DEFAULT,
            speed: outer,
            layer: Layer::Frame,
            counts_inner: false,
            surplus: Surplus::ByGuarantee,
        }),
    }
}

fn rate_of(bandwidth: Bandwidth, reference: BitRate) -> BitRate {
    match bandwidth {
        Bandwidth::Rate(rate) => rate,
        Bandwidth::Percent(share) | Bandwidth::Remaining(share) => {
            let bits = u128::from(reference.bits_per_s()) * u128::from(share.ppb()) / 1_000_000_000;
            BitRate::new(u64::try_from(bits).unwrap_or(u64::MAX).max(1))
        }
        Bandwidth::Unlimited => reference,
    }
}

/// The class of what no other class takes.
const DEFAULT: u8 = 250;

/// Packets that wait in a class when nothing is written.
const QUEUE_LIMIT: u32 = 64;

/// Packets that wait at a port without a policy when nothing is written.
const HOLD_QUEUE: u32 = 40;

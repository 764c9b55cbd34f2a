//! `speed` and `queue` (chapter 26).

use slowpath_units::{BitRate, Layer};

use super::config::{Class, ClassTarget, Config, Scheduler, Share};
use super::filter::class_filter;
use super::line::{Context, is_port};
use super::model::Model;
use crate::finding::Trap;
use crate::notes::Outcome;
use crate::text::{number, rate};

pub(super) fn read(words: &[&str], config: &mut Config, context: &Context) -> Outcome {
    match words {
        ["speed", port, value] if is_port(port) => speed(port, value, config),
        ["speed", "pp", ..] => Outcome::not_modelled("the rate that a PPP queue works to"),
        ["queue", "class", "filter", number, rest @ ..] => read_class_filter(number, rest, config),
        ["queue", "tunnel", "class", "filter", "list", numbers @ ..] => match context.tunnel() {
            Some(tunnel) => match list(numbers) {
                Some(list) => {
                    config.tunnels.entry(tunnel).or_default().filter_list = list;
                    Outcome::modelled(format!(
                        "packets into tunnel {tunnel} get their class from filters {}, before encryption",
                        numbers.join(", ")
                    ))
                }
                None => Outcome::refused("a list of filter numbers"),
            },
            None => Outcome::doubtful("without `tunnel select` this line belongs to no tunnel"),
        },
        ["queue", "tunnel", "default", "class", class] => Outcome::not_modelled(format!(
            "packets into the tunnel that no filter matches get class {class}"
        )),
        ["queue", "tunnel", ..] => Outcome::not_modelled("queueing of a tunnel's packets"),
        ["queue", "pp", "class", "filter", "list", numbers @ ..] => match (context.pp(), list(numbers)) {
            (Some(peer), Some(list)) => {
                config.peers.entry(peer).or_default().filter_list = list;
                Outcome::modelled(format!(
                    "packets to peer {peer} get their class from filters {}",
                    numbers.join(", ")
                ))
            }
            (None, _) => Outcome::doubtful("without `pp select` this line belongs to no peer"),
            (_, None) => Outcome::refused("a list of filter numbers"),
        },
        ["queue", "pp", "type", kind, ..] => match *kind {
            "cbq" | "wfq" if !config.model.has_cbq() => {
                Outcome::refused(format!("{} has no {kind}", config.model.name))
            }
            "fifo" => Outcome::modelled("packets leave in the order of arrival"),
            "cbq" | "wfq" | "priority" | "shaping" => Outcome::not_modelled(format!("{kind} on a PPP peer")),
            _ => Outcome::unrecognised(),
        },
        ["queue", "pp", ..] => Outcome::not_modelled("queueing of a PPP peer's packets"),
        ["queue", port, rest @ ..] if is_port(port) => read_port(port, rest, config),
        _ => Outcome::unrecognised(),
    }
}

fn speed(port: &str, value: &str, config: &mut Config) -> Outcome {
    if let Some(problem) = rate_problem(value, &config.model) {
        return Outcome::refused(problem);
    }
    match rate(value) {
        Some(bits) => {
            config.ports.entry(port.to_owned()).or_default().speed = (bits > 0).then(|| BitRate::new(bits));
            Outcome::modelled(format!(
                "the scheduler of {port} sends {} at most",
                BitRate::new(bits)
            ))
        }
        None => Outcome::refused("a rate such as 50m"),
    }
}

fn read_port(name: &str, words: &[&str], config: &mut Config) -> Outcome {
    let model = config.model.clone();
    let port = config.ports.entry(name.to_owned()).or_default();
    match words {
        ["type", kind, options @ ..] => {
            let (scheduler, meaning) = match *kind {
                "fifo" => (
                    Scheduler::Fifo,
                    "packets leave in the order of arrival; when the queue is full, new ones are dropped",
                ),
                "priority" => (
                    Scheduler::Priority,
                    "always the highest class that has packets; lower classes can starve",
                ),
                "shaping" => (
                    Scheduler::Shaping,
                    "each class is held to its bandwidth; what one leaves is not lent to others",
                ),
                "cbq" | "wfq" => return Outcome::refused(format!("{kind} exists on PPP only")),
                _ => return Outcome::unrecognised(),
            };
            port.scheduler = scheduler;
            for option in options {
                match option.strip_prefix("shaping-level=").and_then(number::<u8>) {
                    Some(level @ 1..=2) if scheduler != Scheduler::Fifo => port.shaping_level = Some(level),
                    Some(_) => return Outcome::refused("shaping-level is 1 or 2, with priority or shaping"),
                    None => return Outcome::doubtful(format!("{meaning}; `{option}` is not understood")),
                }
            }
            let counted = match (scheduler, model.counts(port.shaping_level)) {
                (Scheduler::Fifo, _) => "",
                (_, Layer::Wire) => "; counted with preamble and gap",
                _ => "; counted as frames",
            };
            Outcome::modelled(format!("{meaning}{counted}"))
        }
        ["class", "property", class, options @ ..] => match class_number(class, &model) {
            Err(why) => Outcome::refused(why),
            Ok(class) => property(class, options, &model, port.classes.entry(class).or_default()),
        },
        ["class", "filter", "list", numbers @ ..] => match list(numbers) {
            Some(list) => {
                port.filter_list = list;
                Outcome::modelled(format!(
                    "packets out of {name} get their class from filters {}",
                    numbers.join(", ")
                ))
            }
            None => Outcome::refused("a list of filter numbers"),
        },
        ["class", "control", ..] => Outcome::not_modelled(
            "dynamic class control moves or blocks hosts that use much for long (70 % for 30 s by default)",
        ),
        ["default", "class", class] => match class_number(class, &model) {
            Err(why) => Outcome::refused(why),
            Ok(class) => {
                port.default_class = Some(class);
                Outcome::modelled(format!("packets that no filter matches get class {class}"))
            }
        },
        ["default", "class", "secondary", ..] | ["class", "secondary", ..] => {
            Outcome::not_modelled("a second level of classes")
        }
        ["length", lengths @ ..] => {
            let lengths = lengths
                .iter()
                .filter(|word| !word.starts_with("drop-threshold"))
                .map(|word| number::<u32>(word));
            match lengths.collect::<Option<Vec<u32>>>() {
                Some(lengths)
                    if !lengths.is_empty()
                        && lengths.iter().all(|packets| (1..=10_000).contains(packets)) =>
                {
                    let list: Vec<String> = lengths.iter().map(ToString::to_string).collect();
                    port.lengths = lengths;
                    Outcome::modelled(format!(
                        "queues of {} packets, by class in order; the last holds for all further classes",
                        list.join(", ")
                    ))
                }
                _ => Outcome::refused("lengths of 1 to 10000 packets"),
            }
        }
        _ => Outcome::unrecognised(),
    }
}

fn property(class: u16, options: &[&str], model: &Model, settings: &mut Class) -> Outcome {
    let mut meanings = Vec::new();
    let mut ignored = Vec::new();
    for option in options {
        match option.split_once('=') {
            Some(("bandwidth", "ngn")) => {
                return Outcome::not_modelled("the rate agreed for a data-connect call");
            }
            Some(("bandwidth", value)) => match bandwidth(value, model) {
                Err(why) => return Outcome::refused(why),
                Ok((ceiling, None)) => {
                    settings.ceiling = Some(ceiling);
                    meanings.push(format!("at most {}", describe(ceiling)));
                }
                Ok((ceiling, Some(guarantee))) => {
                    (settings.ceiling, settings.guarantee) = (Some(ceiling), Some(guarantee));
                    meanings.push(format!(
                        "{} are guaranteed, up to {} when others leave them",
                        describe(guarantee),
                        describe(ceiling)
                    ));
                }
            },
            Some(("type", "priority")) if model.has_priority_in_shaping() => {
                settings.priority = true;
                meanings.push("served before all shaped classes".to_owned());
            }
            Some(("type", "priority")) => {
                return Outcome::refused(format!("{} has no type=priority under shaping", model.name));
            }
            Some(("type", "shaping")) => {}
            Some(("parent" | "borrow" | "maxburst" | "minburst" | "packetsize", _)) => ignored.push(*option),
            _ => return Outcome::refused(format!("`{option}` is not a property of a class")),
        }
    }
    if settings.guarantee.is_some() {
        return Outcome::doubtful(format!(
            "class {class}: {}; how classes share what is left over is not documented",
            meanings.join(", ")
        ));
    }
    if !ignored.is_empty() {
        return Outcome::not_modelled(format!(
            "class {class}: {} has effect with cbq only",
            ignored.join(" ")
        ));
    }
    if meanings.is_empty() {
        return Outcome::doubtful(format!(
            "class {class} without a bandwidth has the whole interface"
        ));
    }
    Outcome::modelled(format!("class {class}: {}", meanings.join(", ")))
}

/// `A` is the ceiling; `A,B` are guarantee and ceiling in either order.
fn bandwidth(value: &str, model: &Model) -> Result<(Share, Option<Share>), String> {
    let part = |word: &str| -> Result<Share, String> {
        if let Some(problem) = rate_problem(word, model) {
            return Err(problem);
        }
        word.strip_suffix('%')
            .map_or_else(
                || rate(word).filter(|bits| *bits > 0).map(Share::Rate),
                |percent| {
                    number::<u8>(percent)
                        .filter(|p| (1..=100).contains(p))
                        .map(Share::Percent)
                },
            )
            .ok_or_else(|| format!("`{word}` is no bandwidth; write 15m or 30%"))
    };
    let Some((first, second)) = value.split_once(',') else {
        return Ok((part(value)?, None));
    };
    if !model.has_dtc() {
        return Err(format!(
            "{} has no dynamic traffic control; write a single bandwidth",
            model.name
        ));
    }
    match (part(first)?, part(second)?) {
        (a @ Share::Rate(_), b @ Share::Rate(_)) | (a @ Share::Percent(_), b @ Share::Percent(_)) => {
            Ok((a.max(b), Some(a.min(b))))
        }
        // Which of the two is smaller depends on the speed; the first is taken as the guarantee.
        (a, b) => Ok((b, Some(a))),
    }
}

fn rate_problem(word: &str, model: &Model) -> Option<String> {
    (word.ends_with('g') && !model.has_giga())
        .then(|| format!("{} refuses the suffix g; write m", model.name))
}

fn class_number(word: &str, model: &Model) -> Result<u16, String> {
    let most = model.classes();
    number::<u16>(word)
        .filter(|class| (1..=most).contains(class))
        .ok_or_else(|| format!("classes are 1 to {most}"))
}

fn read_class_filter(id: &str, words: &[&str], config: &mut Config) -> Outcome {
    let Some(id) = number::<u32>(id) else {
        return Outcome::refused("a filter's number");
    };
    match class_filter(words) {
        Err(why) => Outcome::refused(why),
        Ok(None) => Outcome::not_modelled("a class filter of a kind that is not followed"),
        Ok(Some(filter)) => {
            let most = config.model.classes();
            let target = filter.target.clone();
            let meaning = format!("packets of {} get {}", filter.describe(), target.describe());
            config.class_filters.insert(id, filter);
            match target {
                ClassTarget::Class(class) if class == 0 || class > most => {
                    Outcome::doubtful(meaning).trap(Trap::UnknownClass {
                        class: class.to_string(),
                    })
                }
                ClassTarget::Dscp => Outcome::not_modelled(format!("{meaning}; the table is not published")),
                _ => Outcome::modelled(meaning),
            }
        }
    }
}

fn list(words: &[&str]) -> Option<Vec<u32>> {
    let list = words
        .iter()
        .map(|word| number(word))
        .collect::<Option<Vec<u32>>>()?;
    (!list.is_empty()).then_some(list)
}

fn describe(share: Share) -> String {
    match share {
        Share::Rate(bits) => BitRate::new(bits).to_string(),
        Share::Percent(percent) => format!("{percent} % of the interface"),
    }
}

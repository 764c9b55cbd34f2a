//! The one-line form of a path, as the command line takes it.

use slowpath_units::{BitRate, Duration, Ratio};

use crate::diagnostic::{Diagnostic, Diagnostics, Issues};
use crate::network::document::{NetworkDocument, element_of};
use crate::network::element::Element;
use crate::span::{SourceId, Sources, Span};
use crate::tree::{Node, Table, Value};

/// Reads a path such as `rate 50 Mbit/s, delay 50 ms, loss 0.01 %`.
///
/// Elements are separated by commas and stand in the order in which a packet meets them, the same in
/// each direction. `up: ...; down: ...` gives each direction its own; `up` is from the near host to the
/// far one. What belongs to an element follows it: `rate 10 Mbit/s, queue 50 packets`. An empty text is
/// a direct line.
///
/// # Errors
/// Every mistake with line, column and correction, as for an experiment file.
pub fn parse_path(text: &str) -> Result<NetworkDocument, Diagnostics> {
    let mut sources = Sources::default();
    let source = sources.add("PATH", text);
    let issues = Issues::default();
    let network = read(text, source, &issues);
    if issues.any_error() {
        return Err(issues.into_diagnostics(sources));
    }
    Ok(network)
}

fn read(text: &str, source: SourceId, issues: &Issues) -> NetworkDocument {
    if let Some(meant) = with_names(text) {
        issues.push(
            Diagnostic::error(
                Span::new(source, &(0..text.len())),
                "a value stands without the name of what it sets",
            )
            .help(format!(
                "did you mean \"{meant}\"? A delay is each way: half of the round trip"
            )),
        );
        return NetworkDocument::default();
    }
    let (mut up, mut down, mut both) = (None, None, None);
    let mut at = 0;
    for part in text.split(';') {
        let start = at;
        at += part.len() + 1;
        let (way, body, body_start) = match part.split_once(':') {
            Some((way, body)) => (way.trim(), body, start + way.len() + 1),
            None => ("both", part, start),
        };
        let span = Span::new(source, &(start..start + part.len()));
        let slot = match way {
            "up" => &mut up,
            "down" => &mut down,
            "both" => &mut both,
            other => {
                issues.push(
                    Diagnostic::error(span, format!("\"{other}\" is not a direction"))
                        .help("write \"up: ...; down: ...\", or the elements alone for both directions"),
                );
                continue;
            }
        };
        if slot.is_some() {
            issues.push(
                Diagnostic::error(span, format!("the direction `{way}` is given twice")).help("keep one"),
            );
        }
        *slot = Some(read_elements(body, body_start, source, issues));
    }
    match (up, down, both) {
        (None, None, Some(both)) => NetworkDocument {
            up: both.clone(),
            down: both,
        },
        (up, down, None) => NetworkDocument {
            up: up.unwrap_or_default(),
            down: down.unwrap_or_default(),
        },
        (_, _, Some(_)) => {
            issues.push(
                Diagnostic::error(
                    Span::new(source, &(0..text.len())),
                    "elements for both directions beside `up` or `down`",
                )
                .help("write \"up: ...; down: ...\" and put every element under one of them"),
            );
            NetworkDocument::default()
        }
    }
}

/// The text with names before values that stand alone, as far as their units tell; `None` if none stands alone.
fn with_names(text: &str) -> Option<String> {
    let mut any = false;
    let parts: Vec<String> = text
        .split(',')
        .map(|clause| {
            let (way, value) = clause
                .rsplit_once(':')
                .map_or(("", clause), |(way, value)| (&clause[..=way.len()], value));
            let value = value.trim();
            let name = if value.parse::<BitRate>().is_ok() {
                "rate"
            } else if value.parse::<Duration>().is_ok() {
                "delay"
            } else if value.parse::<Ratio>().is_ok() {
                "loss"
            } else {
                return clause.trim().to_owned();
            };
            any = true;
            let printed = value
                .parse::<BitRate>()
                .map_or_else(|_| value.to_owned(), |rate| rate.to_string());
            format!("{way} {name} {printed}").trim().to_owned()
        })
        .collect();
    any.then(|| parts.join(", "))
}

fn read_elements(body: &str, start: usize, source: SourceId, issues: &Issues) -> Vec<Element> {
    let mut tables: Vec<(Table, Span)> = Vec::new();
    let mut at = start;
    for clause in body.split(',') {
        let clause_start = at + (clause.len() - clause.trim_start().len());
        at += clause.len() + 1;
        let clause = clause.trim();
        if clause.is_empty() {
            if !body.trim().is_empty() {
                issues.push(
                    Diagnostic::error(
                        Span::new(source, &(clause_start..clause_start + 1)),
                        "nothing stands beside this comma",
                    )
                    .help("write for example \"rate 50 Mbit/s, delay 50 ms\""),
                );
            }
            continue;
        }
        let span = Span::new(source, &(clause_start..clause_start + clause.len()));
        let (key, value) = clause.split_once(char::is_whitespace).unwrap_or((clause, ""));
        let value = value.trim();
        let value_start = clause_start + clause.len() - value.len();
        let key_span = Span::new(source, &(clause_start..clause_start + key.len()));
        let node = Node {
            span: if value.is_empty() {
                span
            } else {
                Span::new(source, &(value_start..value_start + value.len()))
            },
            value: plain_value(value),
        };
        let (key, node) = match key {
            "trace" => ("rate", within("trace", key_span, node)),
            "markov" => {
                let levels = levels(value, node.span, issues);
                ("rate", within("markov", key_span, levels))
            }
            _ => (key, node),
        };
        match tables.last_mut() {
            Some((table, whole)) if PARTS.contains(&key) && table.entry(key).is_none() => {
                table.push(key, key_span, node);
                whole.end = span.end;
            }
            _ => {
                let mut table = Table::default();
                table.push(key, key_span, node);
                tables.push((table, span));
            }
        }
    }
    tables
        .into_iter()
        .filter_map(|(table, span)| {
            element_of(
                &Node {
                    span,
                    value: Value::Table(table),
                },
                "path",
                issues,
            )
        })
        .collect()
}

/// The levels of `50 Mbit/s for 2 s or 5 Mbit/s for 500 ms`.
fn levels(text: &str, span: Span, issues: &Issues) -> Node {
    let level = |part: &str| {
        let Some((rate, stay)) = part.split_once(" for ") else {
            issues.push(
                Diagnostic::error(
                    span,
                    format!("\"{}\" does not say how long the rate stays", part.trim()),
                )
                .help("write \"markov 50 Mbit/s for 2 s or 5 Mbit/s for 500 ms\""),
            );
            return None;
        };
        let mut table = Table::default();
        for (key, value) in [("rate", rate), ("stay", stay)] {
            let value = plain_value(value.trim());
            table.push(key, span, Node { span, value });
        }
        let value = Value::Table(table);
        Some(Node { span, value })
    };
    let value = Value::List(text.split(" or ").filter_map(level).collect());
    Node { span, value }
}

/// A table with the one entry `key`.
fn within(key: &str, key_span: Span, node: Node) -> Node {
    let span = node.span;
    let mut table = Table::default();
    table.push(key, key_span, node);
    Node {
        span,
        value: Value::Table(table),
    }
}

/// A word without units that stands for a number or a truth value; everything else stays text.
fn plain_value(value: &str) -> Value {
    match value {
        "true" | "on" | "yes" | "" => Value::Flag(true),
        "false" | "off" | "no" => Value::Flag(false),
        _ => value
            .parse()
            .map_or_else(|_| Value::Text(value.to_owned()), Value::Integer),
    }
}

/// Keys that belong to the element before them.
const PARTS: &[&str] = &[
    "queue",
    "layer",
    "discipline",
    "ecn",
    "jitter",
    "burst",
    "excess_burst",
    "peak",
    "peak_burst",
    "exceed",
    "violate",
    "by",
    "black_hole",
    "address",
    "announced",
    "answer_gap",
    "name",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{ElementKind, LinkRate, LossModel, QueueSize};
    use slowpath_path as path;
    use slowpath_units::{BitRate, Duration, Ratio};

    #[test]
    fn reads_the_usual_path_for_each_way() {
        let network = parse_path("rate 50 Mbit/s, queue 100 packets, delay 50 ms, loss 0.01 %").unwrap();
        assert_eq!(network.up, network.down);
        let kinds: Vec<_> = network.up.iter().map(|element| element.kind.clone()).collect();
        assert!(matches!(
            &kinds[0],
            ElementKind::Link { rate: LinkRate::Fixed(rate), queue: QueueSize::Packets(100), .. } if *rate == BitRate::new(50_000_000)
        ));
        assert!(
            matches!(&kinds[1], ElementKind::Delay { delay: path::Span::Fixed(delay), .. } if *delay == Duration::from_millis(50))
        );
        assert_eq!(
            kinds[2],
            ElementKind::Loss(LossModel::Random(Ratio::from_ppb(100_000).unwrap()))
        );
        assert_eq!(kinds.len(), 3);
    }

    #[test]
    fn reads_rates_that_jump_by_chance() {
        let network = parse_path("markov 50 Mbit/s for 2 s or 5 Mbit/s for 500 ms, delay 5 ms").unwrap();
        let ElementKind::Link {
            rate: LinkRate::Markov(markov),
            ..
        } = &network.up[0].kind
        else {
            panic!("{network:?}")
        };
        assert_eq!(markov.levels.len(), 2);
        assert_eq!(markov.levels[1].rate, BitRate::new(5_000_000));
        assert_eq!(markov.levels[1].stay, Duration::from_millis(500));
        let said = parse_path("markov 50 Mbit/s, delay 5 ms")
            .unwrap_err()
            .to_string();
        assert!(said.contains("does not say how long"), "{said}");
    }

    #[test]
    fn reads_what_routers_tell() {
        let network = parse_path("router 10.0.0.9, answer_gap 1 s, mtu 1400 B, announced 1300 B").unwrap();
        assert!(matches!(
            &network.up[0].kind,
            ElementKind::Router { answer_gap: Some(gap), .. } if *gap == Duration::from_secs(1)
        ));
        assert!(matches!(
            &network.up[1].kind,
            ElementKind::Mtu {
                mtu: 1400,
                announced: Some(1300),
                ..
            }
        ));
    }

    #[test]
    fn reads_directions_apart() {
        let network =
            parse_path("up: rate 10 Mbit/s; down: rate 50 Mbit/s, delay 20 ms, jitter 2 ms").unwrap();
        assert_eq!((network.up.len(), network.down.len()), (1, 2));
        assert_eq!(parse_path("").unwrap(), NetworkDocument::default());
    }

    #[test]
    fn a_recorded_rate_is_a_link_with_a_queue() {
        let network = parse_path("trace lte.down, queue 200 packets, delay 20 ms").unwrap();
        assert_eq!(network.up.len(), 2);
        assert!(matches!(
            &network.up[0].kind,
            ElementKind::Link { rate: LinkRate::Trace(file), queue: QueueSize::Packets(200), .. } if file == "lte.down"
        ));
    }

    #[test]
    fn mistakes_have_columns_and_corrections() {
        let cases = [
            (
                "50 Mbps, 100 ms, 0.01 %",
                "PATH:1:1: error: a value stands without the name",
                "did you mean \"rate 50 Mbit/s, delay 100 ms, loss 0.01 %\"? A delay is each way",
            ),
            (
                "rate 1 Mbit/s, loss 150 %",
                "PATH:1:21: error: `path.loss`: \"150 %\" is out of range",
                "between 0 % and 100 %",
            ),
            (
                "delay 99999999 s",
                "PATH:1:7: error: a delay of 99999999 s is more than",
                "one way",
            ),
            (
                "rate 50 MB/s",
                "PATH:1:6: error: `path.rate`: \"MB/s\" is not a unit of this quantity",
                "multiply by 8 and write \"Mbit/s\"",
            ),
            (
                "rate 50",
                "PATH:1:6: error: `path.rate`: \"50\" has no unit",
                "units are mandatory",
            ),
            (
                "dealy 50 ms",
                "PATH:1:1: error: unknown key `path.dealy`",
                "did you mean `delay`?",
            ),
            ("delay 50 ms, loss", "PATH:1:14: error: `path.loss`", "\"0.01 %\""),
            (
                "sideways: rate 1 Mbit/s",
                "PATH:1:1: error: \"sideways\" is not a direction",
                "up:",
            ),
            (
                "rate 1 Mbit/s,, loss 1 %",
                "PATH:1:15: error: nothing stands",
                "rate 50",
            ),
            (
                "up: delay 1 ms; loss 1 %",
                "PATH:1:1: error: elements for both",
                "up:",
            ),
            (
                "police 10 Mbit/s",
                "PATH:1:1: error: `path.burst` is missing",
                "burst",
            ),
            (
                "delay 5 ms, jitter 9 ms",
                "PATH:1:20: error: a jitter of 9 ms",
                "smaller",
            ),
        ];
        for (text, start, help) in cases {
            let shown = parse_path(text).unwrap_err().to_string();
            assert!(shown.contains(start), "{text}: {shown}");
            assert!(shown.contains(help), "{text}: {shown}");
        }
    }
}

//! What may vary in time or by chance: rates, delays, jitter; and what treats some packets otherwise.

use slowpath_packet::Dscp;
use slowpath_path as path;
use slowpath_units::{BitRate, ByteCount, Duration, Layer, Ratio};

use crate::asked::Form;
use crate::diagnostic::Diagnostic;
use crate::fields::{Fields, Quantity, parse_quantity};
use crate::network::element::LinkRate;
use crate::tree::{Node, Value};

/// Reads `rate = "50 Mbit/s"` and its longer forms.
pub(super) fn rate(fields: &Fields<'_>) -> Option<LinkRate> {
    let node = &fields.entry("rate")?.node;
    let Some(inner) = table_of(fields, "rate", node) else {
        return Some(LinkRate::Fixed(fields.positive("rate")?.value));
    };
    let rate = match one_form(&inner, node, &["trace", "steps", "markov"], RATE_FORMS)? {
        "trace" => inner
            .text("trace")
            .map(|file| LinkRate::Trace(file.value.to_owned())),
        "steps" => each(&inner, "steps", |step| {
            Some(path::RateStep {
                from: needed(step, "from", FROM)?,
                rate: needed(
                    step,
                    "rate",
                    "write the rate from then on, such as rate = \"20 Mbit/s\"",
                )?,
            })
        })
        .map(LinkRate::Steps),
        _ => {
            let slot = inner.positive::<Duration>("slot");
            each(&inner, "markov", |level| {
                Some(path::Level {
                    rate: needed::<BitRate>(
                        level,
                        "rate",
                        "write the rate of this level, such as rate = \"50 Mbit/s\"",
                    )?,
                    stay: needed(
                        level,
                        "stay",
                        "write how long the link stays at it on average, such as stay = \"2 s\"",
                    )?,
                })
            })
            .map(|levels| {
                let mut markov = path::Markov::new(levels);
                if let Some(slot) = slot {
                    markov.slot = slot.value;
                }
                LinkRate::Markov(markov)
            })
        }
    };
    inner.finish();
    rate
}

/// Reads `delay = "50 ms"` and `delay = { steps = [...] }`.
pub(super) fn delay(fields: &Fields<'_>) -> Option<path::Span> {
    let node = &fields.entry("delay")?.node;
    let Some(inner) = table_of(fields, "delay", node) else {
        return Some(path::Span::Fixed(fields.quantity("delay")?.value));
    };
    one_form(
        &inner,
        node,
        &["steps"],
        "write \"50 ms\" or { steps = [{ from = \"0 s\", delay = \"50 ms\" }, ...] }",
    )?;
    let steps = each(&inner, "steps", |step| {
        Some(path::SpanStep {
            from: needed(step, "from", FROM)?,
            delay: needed(
                step,
                "delay",
                "write the delay from then on, such as delay = \"90 ms\"",
            )?,
        })
    });
    inner.finish();
    steps.map(path::Span::Steps)
}

/// Reads `jitter = "2 ms"`, `{ normal = "1 ms" }` or `{ quantiles = ["0 ms", "1 ms", "9 ms"] }`.
pub(super) fn jitter(fields: &Fields<'_>) -> Option<path::JitterShape> {
    let node = &fields.entry("jitter")?.node;
    let Some(inner) = table_of(fields, "jitter", node) else {
        let spread = fields.quantity::<Duration>("jitter")?.value;
        return (spread > Duration::ZERO).then_some(path::JitterShape::Uniform { spread });
    };
    let forms = "write \"2 ms\", { normal = \"1 ms\" } or { quantiles = [\"0 ms\", \"1 ms\", \"9 ms\"] }";
    let shape = if one_form(&inner, node, &["normal", "quantiles"], forms)? == "normal" {
        (inner.positive("normal")).map(|deviation| path::JitterShape::Normal {
            deviation: deviation.value,
        })
    } else {
        inner.list("quantiles").and_then(|list| {
            let extra = list.value.into_iter().map(|(path, node)| {
                parse_quantity::<Duration>(&path, node, inner.issues()).map(|entry| entry.value)
            });
            Some(path::JitterShape::Quantiles {
                extra: extra.collect::<Option<_>>()?,
            })
        })
    };
    inner.finish();
    shape
}

/// Reads a policer: `burst`, and where there is a second rate `peak` and `peak_burst`.
pub(super) fn police(fields: &Fields<'_>, burst: Option<ByteCount>, layer: Layer) -> Option<path::Police> {
    let peak = fields.positive::<BitRate>("peak");
    let peak_burst = fields.positive::<ByteCount>("peak_burst");
    let excess_burst = fields.positive::<ByteCount>("excess_burst");
    let exceed = action(fields, "exceed");
    let violate = action(fields, "violate");
    let rate = fields.positive("police")?.value;
    let burst = burst?;
    let mut police = path::Police::new(rate, burst, layer);
    if let Some(peak) = peak {
        let Some(peak_burst) = peak_burst else {
            if !fields.has("peak_burst") {
                fields.missing(
                    "peak_burst",
                    "write the size of the second bucket, such as peak_burst = \"128 KiB\"",
                );
            }
            return None;
        };
        police.meter = path::Meter::TwoRate {
            cir: rate,
            cbs: burst,
            pir: peak.value,
            pbs: peak_burst.value,
        };
    } else if let Some(peak_burst) = peak_burst {
        fields.issues().push(
            Diagnostic::error(peak_burst.span, "`peak_burst` has no effect without `peak`")
                .help("add peak = \"20 Mbit/s\", or write `excess_burst` for a single rate (RFC 2697)"),
        );
    }
    if let Some(excess) = excess_burst {
        if let path::Meter::SingleRate { ebs, .. } = &mut police.meter {
            *ebs = excess.value;
        } else {
            fields.issues().push(
                Diagnostic::error(
                    excess.span,
                    "`excess_burst` belongs to a single rate, `peak` to two",
                )
                .help("keep one of them (RFC 2697 or RFC 2698)"),
            );
        }
    }
    police.exceed = exceed.unwrap_or_default();
    police.violate = violate.unwrap_or_default();
    Some(police)
}

/// Reads `treat = [{ codes = ["cs1"], drop = "10 %" }, { codes = ["ef"], police = "1 Mbit/s", burst = "16 KiB" }]`.
pub(super) fn treat(fields: &Fields<'_>) -> Option<Vec<path::Treatment>> {
    each(fields, "treat", |one| {
        if !one.has("codes") {
            one.missing(
                "codes",
                "write which code points are meant, such as codes = [\"cs1\"]",
            );
        }
        let codes = one.list("codes")?.value.into_iter().map(|(path, node)| {
            one.issues().ask(|| (path.clone(), Form::Text));
            let Value::Text(text) = &node.value else {
                one.issues().push(
                    Diagnostic::error(node.span, format!("`{path}` is not a code point"))
                        .help("write \"cs1\", \"ef\", \"af21\" or a number in quotes"),
                );
                return None;
            };
            text.parse::<Dscp>()
                .map_err(|error| {
                    one.issues()
                        .push(Diagnostic::error(node.span, format!("`{path}`: {error}")));
                })
                .ok()
        });
        let codes = codes.collect::<Option<Vec<Dscp>>>()?;
        let action = if one.has("drop") {
            path::CodeAction::Drop(one.positive::<Ratio>("drop")?.value)
        } else if one.has("police") {
            let burst = one.positive::<ByteCount>("burst").map(|burst| burst.value);
            if burst.is_none() && !one.has("burst") {
                one.missing(
                    "burst",
                    "write the size of the bucket, such as burst = \"64 KiB\"",
                );
            }
            let layer = one
                .parsed::<Layer>("layer")
                .map_or_else(Layer::default, |layer| layer.value);
            path::CodeAction::Police(police(one, burst, layer)?)
        } else {
            one.missing(
                "drop",
                "write what becomes of these codes: drop = \"10 %\", or police = \"1 Mbit/s\" with burst",
            );
            return None;
        };
        Some(path::Treatment { codes, action })
    })
}

/// What becomes of packets out of profile: `"drop"`, `"pass"` or a code point.
fn action(fields: &Fields<'_>, key: &'static str) -> Option<path::Action> {
    match fields.text(key)?.value {
        "drop" => Some(path::Action::Drop),
        "pass" => Some(path::Action::Pass),
        _ => Some(path::Action::Mark(fields.parsed::<Dscp>(key)?.value)),
    }
}

/// The fields of `node` if it is a table.
fn table_of<'a>(fields: &Fields<'a>, key: &'static str, node: &'a Node) -> Option<Fields<'a>> {
    match &node.value {
        Value::Table(_) => Fields::of(node, fields.path_of(key), fields.issues()),
        _ => None,
    }
}

/// The one of `forms` that is there; anything else is a mistake, cured by `help`.
fn one_form(fields: &Fields<'_>, node: &Node, forms: &[&'static str], help: &str) -> Option<&'static str> {
    let given: Vec<&'static str> = forms.iter().copied().filter(|form| fields.has(form)).collect();
    if let [form] = given[..] {
        return Some(form);
    }
    fields
        .issues()
        .push(Diagnostic::error(node.span, "this must take one of its forms").help(help));
    None
}

/// A quantity that must be there.
fn needed<T: Quantity>(fields: &Fields<'_>, key: &'static str, help: &str) -> Option<T> {
    let found = fields.quantity::<T>(key);
    if !fields.has(key) {
        fields.missing(key, help);
    }
    found.map(|found| found.value)
}

/// Reads a list of tables.
fn each<T>(
    fields: &Fields<'_>,
    key: &'static str,
    read: impl Fn(&Fields<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let list = fields.list(key)?;
    // All of them are read, whatever is wrong with one.
    let items: Vec<Option<T>> = (list.value.into_iter())
        .map(|(path, node)| {
            let inner = Fields::of(node, path, fields.issues())?;
            let one = read(&inner);
            inner.finish();
            one
        })
        .collect();
    items.into_iter().collect()
}

const FROM: &str = "write from when on, since the start of the run, such as from = \"10 s\"";

const RATE_FORMS: &str = "write \"50 Mbit/s\", { trace = \"FILE\" }, { steps = [{ from = \"0 s\", rate = \"50 Mbit/s\" }, ...] } or { markov = [{ rate = \"50 Mbit/s\", stay = \"2 s\" }, { rate = \"5 Mbit/s\", stay = \"500 ms\" }] }";

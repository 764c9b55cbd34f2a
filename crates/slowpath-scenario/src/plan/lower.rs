//! From a document's path to the network specification.

use slowpath_path as path;
use slowpath_path::{ElementKind as Spec, NetworkSpec};

use crate::network::{Discipline, Element, ElementKind, LossModel, NetworkDocument, QueueSize};
use crate::span::Span;

/// An element that this version of the network model does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotModelled {
    /// What it is, as documents call it.
    pub what: &'static str,
    /// Where it was written.
    pub span: Span,
}

/// The network of a document between the ports `client` and `server`.
///
/// Elements without a name are called after their direction and kind: `up.rate`, `down.loss`, `down.loss2`.
///
/// # Errors
/// The first element that the network model does not have.
pub fn network_spec(
    document: &NetworkDocument,
    client: &str,
    server: &str,
) -> Result<NetworkSpec, NotModelled> {
    Ok(NetworkSpec::chain(
        client,
        server,
        chain("up", &document.up)?,
        chain("down", &document.down)?,
    ))
}

fn chain(way: &str, elements: &[Element]) -> Result<Vec<(String, Spec)>, NotModelled> {
    let mut chain: Vec<(String, Spec)> = Vec::with_capacity(elements.len());
    for element in elements {
        let wanted = format!("{way}.{}", element.name.as_deref().unwrap_or(element.kind.key()));
        let same = |name: &String| chain.iter().any(|(known, _)| known == name);
        let mut name = wanted.clone();
        let mut number = 1;
        while same(&name) {
            number += 1;
            name = format!("{wanted}{number}");
        }
        chain.push((name, spec(element)?));
    }
    Ok(chain)
}

fn spec(element: &Element) -> Result<Spec, NotModelled> {
    let missing = |what| NotModelled {
        what,
        span: element.span,
    };
    if element.only.is_some() {
        return Err(missing("only"));
    }
    Ok(match &element.kind {
        ElementKind::Link {
            rate,
            layer,
            queue,
            discipline,
            ..
        } => {
            if *discipline != Discipline::Fifo {
                return Err(missing("discipline"));
            }
            Spec::Link(path::Link::fifo(*rate, *layer, limit(*queue)))
        }
        ElementKind::Delay {
            delay,
            jitter,
            reorder,
        } => {
            let mut spec = path::Delay::fixed(*delay);
            if *jitter > slowpath_units::Duration::ZERO {
                spec.jitter = Some(path::Jitter {
                    shape: path::JitterShape::Uniform { spread: *jitter },
                    reorder: *reorder,
                });
            }
            Spec::Delay(spec)
        }
        ElementKind::Loss(model) => Spec::Loss(path::Loss {
            model: loss(model),
            unit: path::DropUnit::Packet,
        }),
        ElementKind::Duplicate(chance) => Spec::Duplicate(path::Duplicate { chance: *chance }),
        ElementKind::Tap => Spec::Tap(path::Tap { record: true }),
        other => return Err(missing(other.key())),
    })
}

pub(crate) const fn limit(queue: QueueSize) -> path::Limit {
    match queue {
        QueueSize::Packets(packets) => path::Limit::Packets(packets),
        QueueSize::Bytes(bytes) => path::Limit::Bytes(bytes.bytes()),
        QueueSize::Time(time) => path::Limit::Time(time),
    }
}

fn loss(model: &LossModel) -> path::LossModel {
    match model {
        LossModel::Random(chance) => path::LossModel::Random { chance: *chance },
        LossModel::Every(n) => path::LossModel::Every { n: *n },
        LossModel::Listed(packets) => path::LossModel::List {
            packets: packets.clone(),
        },
        LossModel::GilbertElliott {
            to_bad,
            to_good,
            in_good,
            in_bad,
        } => path::LossModel::GilbertElliott {
            to_bad: *to_bad,
            to_good: *to_good,
            loss_good: *in_good,
            loss_bad: *in_bad,
        },
    }
}

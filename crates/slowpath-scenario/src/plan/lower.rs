//! From a document's path to the network specification.

use std::net::{IpAddr, Ipv4Addr};

use slowpath_packet::Protocol;
use slowpath_path::{self as path, ElementKind as Spec, ElementSpec, NetworkSpec, PortSpec, Target};
use slowpath_units::{BitRate, ByteCount, Duration, Layer, Ratio};

use crate::network::{Discipline, Element, ElementKind, LossModel, Match, NetworkDocument, QueueSize};
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
/// An element for some packets only gets a classifier in front, called `NAME.only`. Messages of routers and
/// MTU limits go back through that part of the other direction that mirrors the part already travelled.
///
/// # Errors
/// The first element that the network model does not have.
pub fn network_spec(
    document: &NetworkDocument,
    client: &str,
    server: &str,
) -> Result<NetworkSpec, NotModelled> {
    let (up, down) = (Chain::new("up", &document.up), Chain::new("down", &document.down));
    let mut spec = NetworkSpec::default();
    up.add(&mut spec, server, &down, client)?;
    down.add(&mut spec, client, &up, server)?;
    spec.ports.push(PortSpec {
        name: client.to_owned(),
        entry: Some(up.target(0, server)),
    });
    spec.ports.push(PortSpec {
        name: server.to_owned(),
        entry: Some(down.target(0, client)),
    });
    Ok(spec)
}

/// The elements of one direction, each with its name.
struct Chain<'d> {
    elements: Vec<(String, &'d Element)>,
}

impl<'d> Chain<'d> {
    fn new(way: &str, elements: &'d [Element]) -> Self {
        let mut chain: Vec<(String, &'d Element)> = Vec::with_capacity(elements.len());
        for element in elements {
            let wanted = format!("{way}.{}", element.name.as_deref().unwrap_or(element.kind.key()));
            let mut name = wanted.clone();
            let mut number = 1;
            while chain.iter().any(|(known, _)| *known == name) {
                number += 1;
                name = format!("{wanted}{number}");
            }
            chain.push((name, element));
        }
        Self { elements: chain }
    }

    /// Where a packet goes that is to meet the elements from number `index` on.
    fn target(&self, index: usize, end: &str) -> Target {
        match self.elements.get(index) {
            None => Target::to(end),
            Some((name, element)) if element.only.is_some() => Target::to(format!("{name}.only")),
            Some((name, _)) => Target::to(name.clone()),
        }
    }

    /// Adds the elements, the last leading to `end`; messages go back by `reverse` to `start`.
    fn add(&self, spec: &mut NetworkSpec, end: &str, reverse: &Self, start: &str) -> Result<(), NotModelled> {
        for (index, (name, element)) in self.elements.iter().enumerate() {
            let next = self.target(index + 1, end);
            if let Some(only) = element.only {
                let rule = path::Rule {
                    matches: matches(only),
                    class: None,
                    output: 0,
                };
                spec.elements.push(ElementSpec {
                    name: format!("{name}.only"),
                    does: Spec::Classify(path::Classify {
                        rules: vec![rule],
                        default_class: None,
                        default_output: 1,
                    }),
                    outputs: vec![Target::to(name.clone()), next.clone()],
                });
            }
            let mut outputs = vec![next];
            if element.kind.answers() {
                let mirrored = reverse.elements.len().saturating_sub(index);
                outputs.push(reverse.target(mirrored, start));
            }
            spec.elements.push(ElementSpec {
                name: name.clone(),
                does: does(element)?,
                outputs,
            });
        }
        Ok(())
    }
}

fn does(element: &Element) -> Result<Spec, NotModelled> {
    Ok(match &element.kind {
        ElementKind::Link {
            rate,
            layer,
            queue,
            discipline,
            ecn,
            ..
        } => Spec::Link(path::Link {
            rate: path::Rate::Fixed(*rate),
            layer: *layer,
            queue: disciplined(*discipline, *queue, *rate, *ecn),
        }),
        ElementKind::Delay {
            delay,
            jitter,
            reorder,
        } => {
            let mut spec = path::Delay::fixed(*delay);
            if *jitter > Duration::ZERO {
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
        ElementKind::Reorder { .. } => {
            return Err(NotModelled {
                what: "reorder",
                span: element.span,
            });
        }
        ElementKind::Police { rate, burst, layer } => Spec::Police(path::Police::new(*rate, *burst, *layer)),
        ElementKind::Shape {
            rate,
            burst,
            layer,
            queue,
        } => Spec::Link(path::Link {
            rate: path::Rate::Bucket {
                rate: *rate,
                burst: *burst,
            },
            layer: *layer,
            queue: path::Queue::Fifo(path::Fifo::new(limit(*queue))),
        }),
        ElementKind::Mark(dscp) => Spec::Remark(path::Remark {
            rules: vec![path::RemarkRule {
                matches: path::Match::default(),
                set: path::SetMark::Dscp(*dscp),
            }],
        }),
        ElementKind::Mtu {
            mtu,
            black_hole,
            address,
        } => Spec::Mtu(path::Mtu {
            mtu: *mtu,
            answers_as: (!black_hole).then_some(IpAddr::V4(address.unwrap_or(ROUTER))),
            ignore_df: false,
            announced: None,
        }),
        ElementKind::Router(address) => Spec::Router(path::Router {
            address: IpAddr::V4(*address),
            answer_gap: None,
        }),
        ElementKind::ClampMss(mss) => Spec::Adjust(path::Adjust {
            mss: Some(*mss),
            strip_window_scale: false,
        }),
        ElementKind::RemoveWindowScale => Spec::Adjust(path::Adjust {
            mss: None,
            strip_window_scale: true,
        }),
        ElementKind::Processor {
            per_packet,
            per_byte_ps,
            ring,
        } => Spec::Device(path::Device {
            cost: path::Cost {
                per_packet: *per_packet,
                per_byte_ps: *per_byte_ps,
                layer: Layer::FrameFcs,
                per_filter: Duration::ZERO,
                qos_per_packet: Duration::ZERO,
                qos_per_byte_ps: 0,
                qos: false,
            },
            rings: vec![*ring],
            classify: None,
        }),
        ElementKind::Tap => Spec::Tap(path::Tap { record: true }),
    })
}

fn matches(only: Match) -> path::Match {
    path::Match {
        dscp: only.dscp.into_iter().collect(),
        protocols: only.protocol.into_iter().map(Protocol).collect(),
        dst_ports: only.port.into_iter().map(|port| port..=port).collect(),
        ..path::Match::default()
    }
}

/// A queue with the recommended settings of its discipline for the link's rate.
fn disciplined(discipline: Discipline, queue: QueueSize, rate: BitRate, ecn: bool) -> path::Queue {
    let packets = packets(queue, rate);
    let codel = path::Codel {
        // RFC 8289, section 4.2 and 4.3.
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        limit: packets,
        quantum: ByteCount::new(1_514),
        ecn,
    };
    match discipline {
        Discipline::Fifo => path::Queue::Fifo(path::Fifo::new(limit(queue))),
        Discipline::CoDel => path::Queue::Codel(codel),
        // RFC 8290, section 5.2.
        Discipline::FqCoDel => path::Queue::FqCodel(path::FqCodel {
            codel,
            flows: 1_024,
            quantum: 1_514,
        }),
        Discipline::Pie => path::Queue::Pie(path::Pie {
            // RFC 8033, section 5.1 and appendix A.
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            burst: Duration::from_millis(150),
            limit: packets,
            packet: ByteCount::new(1_514),
            ecn,
        }),
        Discipline::Red => {
            let limit = u64::from(packets).saturating_mul(1_514);
            path::Queue::Red(path::Red {
                // Floyd's advice: max three times min, a chance of 10 % with `gentle`.
                min: ByteCount::new(limit / 12),
                max: ByteCount::new(limit / 4),
                limit: ByteCount::new(limit),
                chance: Ratio::from_ppb(100_000_000).unwrap_or(Ratio::ZERO),
                weight: 9,
                idle_rate: rate,
                idle_packet: ByteCount::new(1_000),
                gentle: true,
                ecn,
            })
        }
    }
}

/// A queue's size in full packets, for disciplines that count those.
fn packets(queue: QueueSize, rate: BitRate) -> u32 {
    let bytes = match queue {
        QueueSize::Packets(packets) => return packets,
        QueueSize::Bytes(bytes) => bytes.bytes(),
        QueueSize::Time(time) => rate.bytes_in(time),
    };
    u32::try_from(bytes / 1_514).unwrap_or(u32::MAX).max(1)
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

/// Where messages come from when nothing is written (RFC 5737).
const ROUTER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

//! From a document's path to the network specification.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use slowpath_packet::Protocol;
use slowpath_path::{self as path, ElementKind as Spec, ElementSpec, NetworkSpec, PortSpec, Target};
use slowpath_units::{BitRate, ByteCount, Duration, Layer, Ratio};

use crate::device::{DeviceElements, Fragments};
use crate::network::{
    Discipline, Element, ElementKind, LinkRate, LossModel, Match, NetworkDocument, QueueSize,
};
use crate::span::Span;

/// An element that this version of the network model does not have, or whose configuration was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotModelled {
    /// What it is, as documents call it.
    pub what: &'static str,
    /// Where it was written.
    pub span: Span,
}

/// The network of a document between the ports `client` and `server`; `fragments` holds what other files say.
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
    fragments: &Fragments,
) -> Result<NetworkSpec, NotModelled> {
    let ends = [(client, ROUTER), (server, ROUTER)];
    network(document, &ends[..1], &ends[1..], fragments)
}

/// The network of a document between the hosts `near` and `far`, each with its address.
///
/// Several hosts of one end share the path: a device at its beginning has an input for each of them, and at its
/// end packets go to the host whose address they carry.
pub(super) fn network(
    document: &NetworkDocument,
    near: &[(&str, IpAddr)],
    far: &[(&str, IpAddr)],
    fragments: &Fragments,
) -> Result<NetworkSpec, NotModelled> {
    let up = Chain::new("up", &document.up, far, fragments)?;
    let down = Chain::new("down", &document.down, near, fragments)?;
    let mut spec = NetworkSpec::default();
    up.add(&mut spec, near.len(), &down);
    down.add(&mut spec, far.len(), &up);
    for (chain, hosts) in [(&up, near), (&down, far)] {
        for (number, (host, _)) in hosts.iter().enumerate() {
            spec.ports.push(PortSpec {
                name: (*host).to_owned(),
                entry: Some(chain.entry(number)),
            });
        }
    }
    Ok(spec)
}

/// The elements of one direction, and where it ends.
struct Chain<'d> {
    way: &'static str,
    links: Vec<Link>,
    ends: &'d [(&'d str, IpAddr)],
}

/// One element of a direction.
struct Link {
    name: String,
    does: Spec,
    only: Option<path::Classify>,
}

impl<'d> Chain<'d> {
    fn new(
        way: &'static str,
        elements: &[Element],
        ends: &'d [(&'d str, IpAddr)],
        fragments: &Fragments,
    ) -> Result<Self, NotModelled> {
        let mut chain = Self {
            way,
            links: Vec::with_capacity(elements.len()),
            ends,
        };
        let router = match ends {
            [(_, IpAddr::V6(_)), ..] => ROUTER_V6,
            _ => ROUTER,
        };
        for element in elements {
            if let ElementKind::Device(device) = &element.kind {
                let missing = NotModelled {
                    what: "device",
                    span: element.span,
                };
                let DeviceElements { elements: parts, .. } = fragments.device(device).ok_or(missing)?;
                for part in parts {
                    let name = element.name.as_deref().unwrap_or("device");
                    let mut does = part.does.clone();
                    // A configuration is read without regard to who sends.
                    if let Spec::Mtu(path::Mtu {
                        answers_as: Some(address),
                        ..
                    }) = &mut does
                        && address.is_ipv4() != router.is_ipv4()
                    {
                        *address = router;
                    }
                    chain.push(&format!("{way}.{name}.{}", part.name), does, part.only.clone());
                }
            } else {
                let name = element.name.as_deref().unwrap_or(element.kind.key());
                chain.push(
                    &format!("{way}.{name}"),
                    does(element, router, fragments)?,
                    element.only.map(only),
                );
            }
        }
        Ok(chain)
    }

    fn push(&mut self, wanted: &str, does: Spec, only: Option<path::Classify>) {
        let mut name = wanted.to_owned();
        let mut number = 1;
        while self.links.iter().any(|link| link.name == name) {
            number += 1;
            name = format!("{wanted}{number}");
        }
        self.links.push(Link { name, does, only });
    }

    /// Where a packet goes that is to meet the elements from number `index` on.
    fn target(&self, index: usize) -> Target {
        match (self.links.get(index), self.ends) {
            (
                Some(Link {
                    name, only: Some(_), ..
                }),
                _,
            ) => Target::to(format!("{name}.only")),
            (Some(link), _) => Target::to(link.name.clone()),
            (None, [(end, _)]) => Target::to(*end),
            (None, _) => Target::to(format!("{}.hosts", self.way)),
        }
    }

    /// Where the packets of host number `number` enter.
    fn entry(&self, number: usize) -> Target {
        match self.links.first() {
            Some(Link {
                name,
                does: Spec::Device(_),
                only: None,
            }) => Target::input(name.clone(), u8::try_from(number).unwrap_or(u8::MAX)),
            _ => self.target(0),
        }
    }

    /// Adds the elements for packets of `sources` hosts; messages go back by `reverse`.
    fn add(&self, spec: &mut NetworkSpec, sources: usize, reverse: &Self) {
        for (index, link) in self.links.iter().enumerate() {
            let next = self.target(index + 1);
            let mut does = link.does.clone();
            let mut outputs = vec![next.clone()];
            match &mut does {
                Spec::Router(_)
                | Spec::Mtu(path::Mtu {
                    answers_as: Some(_), ..
                }) => {
                    outputs.push(reverse.target(reverse.links.len().saturating_sub(index)));
                }
                Spec::Device(device) if index == 0 && link.only.is_none() => {
                    device.rings.resize(sources, device.rings[0]);
                    outputs.resize(sources, next.clone());
                }
                _ => {}
            }
            if let Some(only) = &link.only {
                // One that passes nothing by has no second output.
                let mut ways = vec![Target::to(link.name.clone()), next];
                ways.truncate(usize::from(only.outputs()));
                spec.elements.push(ElementSpec {
                    name: format!("{}.only", link.name),
                    does: Spec::Classify(only.clone()),
                    outputs: ways,
                });
            }
            spec.elements.push(ElementSpec {
                name: link.name.clone(),
                does,
                outputs,
            });
        }
        if self.ends.len() > 1 {
            let rules = self
                .ends
                .iter()
                .zip(0..)
                .map(|((_, address), output)| path::Rule {
                    matches: path::Match {
                        dst: vec![path::Addresses::one(*address)],
                        ..path::Match::default()
                    },
                    class: None,
                    output,
                });
            spec.elements.push(ElementSpec {
                name: format!("{}.hosts", self.way),
                does: Spec::Classify(path::Classify {
                    rules: rules.collect(),
                    default_class: None,
                    default_output: 0,
                }),
                outputs: self.ends.iter().map(|(end, _)| Target::to(*end)).collect(),
            });
        }
    }
}

/// `router` is the address of whoever has something to say and is given none.
fn does(element: &Element, router: IpAddr, fragments: &Fragments) -> Result<Spec, NotModelled> {
    Ok(match &element.kind {
        ElementKind::Link {
            rate,
            layer,
            queue,
            discipline,
            ecn,
            ..
        } => {
            let missing = NotModelled {
                what: "trace",
                span: element.span,
            };
            let rate = match rate {
                LinkRate::Fixed(rate) => path::Rate::Fixed(*rate),
                LinkRate::Steps(steps) => path::Rate::Steps(steps.clone()),
                LinkRate::Trace(file) => path::Rate::Trace(fragments.trace(file).ok_or(missing)?.clone()),
                LinkRate::Markov(markov) => path::Rate::Markov(markov.clone()),
            };
            Spec::Link(path::Link {
                layer: *layer,
                queue: disciplined(*discipline, *queue, rate.nominal(), *ecn),
                rate,
            })
        }
        ElementKind::Delay {
            delay,
            jitter,
            reorder,
        } => Spec::Delay(path::Delay {
            delay: delay.clone(),
            jitter: jitter.clone().map(|shape| path::Jitter {
                shape,
                reorder: *reorder,
            }),
        }),
        ElementKind::Loss(model) => Spec::Loss(path::Loss {
            model: loss(model),
            unit: path::DropUnit::Packet,
        }),
        ElementKind::Duplicate(chance) => Spec::Duplicate(path::Duplicate { chance: *chance }),
        ElementKind::Device(_) => {
            return Err(NotModelled {
                what: "device",
                span: element.span,
            });
        }
        ElementKind::Reorder { share, by } => Spec::Delay(path::Delay {
            delay: path::Span::Fixed(Duration::ZERO),
            jitter: Some(path::Jitter {
                shape: path::JitterShape::Share {
                    share: *share,
                    extra: *by,
                },
                reorder: true,
            }),
        }),
        ElementKind::Police(police) => Spec::Police(police.clone()),
        ElementKind::Treat(treatments) => Spec::Treat(path::Treat {
            treatments: treatments.clone(),
        }),
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
            announced,
        } => Spec::Mtu(path::Mtu {
            mtu: *mtu,
            answers_as: (!black_hole).then_some(address.unwrap_or(router)),
            ignore_df: false,
            announced: *announced,
        }),
        ElementKind::Router { address, answer_gap } => Spec::Router(path::Router {
            address: *address,
            answer_gap: *answer_gap,
        }),
        ElementKind::ClampMss(mss) => Spec::Adjust(path::Adjust {
            mss: Some(*mss),
            strip_window_scale: false,
        }),
        ElementKind::RemoveWindowScale => Spec::Adjust(path::Adjust {
            mss: None,
            strip_window_scale: true,
        }),
        ElementKind::TunnelEnd => Spec::Decapsulate(path::Decapsulate::default()),
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

/// A classifier that sends what matches to output 0 and everything else to output 1.
fn only(only: Match) -> path::Classify {
    let matches = path::Match {
        dscp: only.dscp.into_iter().collect(),
        protocols: only.protocol.into_iter().map(Protocol).collect(),
        dst_ports: only.port.into_iter().map(|port| port..=port).collect(),
        ..path::Match::default()
    };
    path::Classify {
        rules: vec![path::Rule {
            matches,
            class: None,
            output: 0,
        }],
        default_class: None,
        default_output: 1,
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
const ROUTER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const ROUTER_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

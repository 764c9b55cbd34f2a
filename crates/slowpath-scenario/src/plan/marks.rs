//! How two plans differ in the marks of their packets.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use slowpath_path::{Classify, ElementKind, Match, NetworkSpec, Remark, SetMark, Target};
use slowpath_units::{ByteCount, Duration};

use super::{Plan, Stack};
use crate::workload::Workload;

/// What two plans differ in that differ in nothing but marks (OpenSSH's `IPQoS`, a socket's DSCP, a router's rewriting)
/// and in the amount of data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarksApart {
    /// Marks that only the first plan has, in words.
    pub here: Vec<String>,
    /// Marks that only the other has.
    pub there: Vec<String>,
    /// How much the two carry, in words, where that differs as well.
    pub amounts: Option<[String; 2]>,
}

impl Plan {
    /// The difference of the two plans if it is one of marks, and of the amount of data at most.
    pub fn marks_apart(&self, other: &Self) -> Option<MarksApart> {
        let (own, others) = (marks(self), marks(other));
        if own == others || unmarked(self) != unmarked(other) {
            return None;
        }
        let only = |words: &[String], without: &[String]| -> Vec<String> {
            words
                .iter()
                .filter(|word| !without.contains(word))
                .cloned()
                .collect()
        };
        let amounts = [amount(self), amount(other)];
        Some(MarksApart {
            here: only(&own, &others),
            there: only(&others, &own),
            amounts: (amounts[0] != amounts[1]).then_some(amounts),
        })
    }
}

/// Everything in a plan that marks packets, in words.
fn marks(plan: &Plan) -> Vec<String> {
    let mut words = Vec::new();
    for job in &plan.jobs {
        match &job.workload {
            Workload::Ssh(ssh) => {
                for (host, options) in [
                    (&job.client, &ssh.client_options),
                    (&job.server, &ssh.server_options),
                ] {
                    let lines = options.iter().filter(|line| is_ip_qos(line));
                    words.extend(lines.map(|line| format!("{line} on {host}")));
                }
            }
            Workload::Iperf3(test) => words.extend(test.dscp.map(|dscp| format!("{dscp} in {}", job.name))),
            Workload::Udp(stream) => words.extend(stream.dscp.map(|dscp| format!("{dscp} in {}", job.name))),
            Workload::Ping(ping) => words.extend(ping.dscp.map(|dscp| format!("{dscp} in {}", job.name))),
            _ => {}
        }
    }
    for host in &plan.hosts {
        if let Stack::Kernel(stack) = &host.stack {
            words.extend(stack.dscp.map(|dscp| format!("{dscp} on {}", host.name)));
        }
    }
    for element in &plan.network.elements {
        if let ElementKind::Remark(remark) = &element.does {
            let chosen = plan.network.element(&chooser(&element.name));
            let only = chosen.and_then(|element| match &element.does {
                ElementKind::Classify(only) => Some(only),
                _ => None,
            });
            words.push(rewriting(&element.name, remark, only));
        }
    }
    words
}

/// The classifier that lets only some packets to the element `name`.
fn chooser(name: &str) -> String {
    format!("{name}.only")
}

fn rewriting(name: &str, remark: &Remark, only: Option<&Classify>) -> String {
    let rules: Vec<String> = remark
        .rules
        .iter()
        .map(|rule| format!("{} to {}", packets(&rule.matches), written(rule.set)))
        .collect();
    let among: Vec<String> = only
        .iter()
        .flat_map(|only| &only.rules)
        .map(|rule| packets(&rule.matches))
        .collect();
    let among = if among.is_empty() {
        String::new()
    } else {
        format!(", of {} alone", among.join(" or "))
    };
    format!("marks rewritten by {name} ({}{among})", rules.join(", "))
}

/// Which packets a rule takes.
fn packets(matches: &Match) -> String {
    if *matches == Match::default() {
        return "every packet".to_owned();
    }
    let marked = Match {
        dscp: matches.dscp.clone(),
        ..Match::default()
    };
    if *matches == marked {
        let marks: Vec<String> = marked.dscp.iter().map(ToString::to_string).collect();
        return format!("packets marked {}", marks.join(" or "));
    }
    let text = serde_json::to_string(matches).expect("a rule can always be written as JSON");
    format!("packets of {text}")
}

fn written(set: SetMark) -> String {
    match set {
        SetMark::Keep => "what they were".to_owned(),
        SetMark::Dscp(dscp) => dscp.to_string(),
        SetMark::Ecn(ecn) => format!("ECN {}", ecn as u8),
        SetMark::Tos {
            tos,
            precedence,
            spares_ecn,
        } => {
            let precedence = precedence.map_or(String::new(), |value| format!(" and precedence {value}"));
            let spared = if spares_ecn { " beside ECN" } else { "" };
            format!("type of service {tos}{precedence}{spared}")
        }
    }
}

/// How much the jobs carry, in words.
fn amount(plan: &Plan) -> String {
    let sizes: Vec<String> = plan
        .jobs
        .iter()
        .filter_map(|job| job.workload.size())
        .map(|size| size.to_string())
        .collect();
    sizes.join(" and ")
}

fn is_ip_qos(line: &str) -> bool {
    let word = line.trim_start().get(..5);
    word.is_some_and(|word| word.eq_ignore_ascii_case("ipqos"))
}

/// What is left of a plan without its marks, its amount of data, and what differs from run to run.
fn unmarked(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.variant.clear();
    plan.seed = 0;
    plan.repeat = 0;
    plan.deadline = Duration::ZERO;
    plan.figures.clear();
    plan.assumptions.clear();
    plan.changes.clear();
    plan.full_size = None;
    for job in &mut plan.jobs {
        job.workload = job.workload.clone().with_size(ByteCount::ZERO);
        match &mut job.workload {
            Workload::Ssh(ssh) => {
                ssh.client_options.retain(|line| !is_ip_qos(line));
                ssh.server_options.retain(|line| !is_ip_qos(line));
                ssh.content_seed = 0;
            }
            Workload::Iperf3(test) => test.dscp = None,
            Workload::Udp(stream) => stream.dscp = None,
            Workload::Ping(ping) => ping.dscp = None,
            _ => {}
        }
    }
    for host in &mut plan.hosts {
        host.origins.clear();
        if let Stack::Kernel(stack) = &mut host.stack {
            stack.dscp = None;
        }
    }
    remove_remarkers(&mut plan.network);
    for element in &mut plan.network.elements {
        // Where a router's own messages join the way back follows from how many elements stand before it.
        if matches!(element.does, ElementKind::Mtu(_) | ElementKind::Router(_)) {
            element.outputs.truncate(1);
        }
    }
    plan.network
        .elements
        .sort_by_key(|element| Reverse(element.name.clone()));
    plan
}

/// Takes out what only rewrites marks, with the classifiers that choose its packets: what led there leads to what
/// stands behind.
fn remove_remarkers(network: &mut NetworkSpec) {
    let mut behind: BTreeMap<String, Target> = BTreeMap::new();
    for element in &network.elements {
        if !matches!(element.does, ElementKind::Remark(_)) {
            continue;
        }
        let chosen = network
            .element(&chooser(&element.name))
            .filter(|chosen| matches!(chosen.does, ElementKind::Classify(_)));
        for element in std::iter::once(element).chain(chosen) {
            // A classifier's last output passes by.
            let next = element.outputs.last().cloned();
            behind.extend(next.map(|next| (element.name.clone(), next)));
        }
    }
    network
        .elements
        .retain(|element| !behind.contains_key(&element.name));
    let outputs = network
        .elements
        .iter_mut()
        .flat_map(|element| &mut element.outputs);
    let entries = network.ports.iter_mut().filter_map(|port| port.entry.as_mut());
    for target in outputs.chain(entries) {
        // Elements stand in no loop, so that this ends; the bound holds for any plan.
        for _ in 0..behind.len() {
            let Some(next) = behind.get(&target.to) else { break };
            *target = next.clone();
        }
    }
}

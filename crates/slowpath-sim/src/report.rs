//! What a run leaves behind.

use slowpath_endpoint::tcp::Info;
use slowpath_endpoint::wire::Ends;
use slowpath_endpoint::{ConnId, Report};
use slowpath_record::{ElementCounters, FlowResult, Series, TransferResult};
use slowpath_units::Time;

/// What a run leaves behind.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SimReport {
    /// Whether every program that ends did so before the deadline.
    pub complete: bool,
    /// When the run ended.
    pub end: Time,
    /// Packets that hosts gave to the network, and those that it delivered.
    pub packets_sent: u64,
    /// Packets that the network delivered to hosts.
    pub packets_delivered: u64,
    /// Of those sent, TCP segments with data.
    pub data_packets: u64,
    /// Points in time that the loop looked at, for measuring it: fewer where nobody watches what goes on inside.
    pub events: u64,
    /// What the hosts' programs reported, with the number of the host.
    pub reports: Vec<(u16, Report)>,
    /// What went through each element of the network.
    pub elements: Vec<ElementCounters>,
    /// Samples of connections.
    pub series: Vec<Series>,
    /// Every connection that still exists at the end, with the number of its host.
    pub connections: Vec<(u16, ConnId, Ends, Info)>,
}

impl SimReport {
    /// The transfers that programs on host number `host` reported, in order.
    pub fn transfers(&self, host: u16) -> impl Iterator<Item = &TransferResult> {
        self.reports
            .iter()
            .filter_map(move |(number, report)| match report {
                Report::Transfer { result, .. } if *number == host => Some(result),
                _ => None,
            })
    }

    /// The flows of datagrams that programs on any host reported, in order.
    pub fn flows(&self) -> impl Iterator<Item = &FlowResult> {
        self.reports.iter().filter_map(|(_, report)| match report {
            Report::Flow { result, .. } => Some(result),
            _ => None,
        })
    }
}

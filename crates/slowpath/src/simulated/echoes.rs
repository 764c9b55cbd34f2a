//! What came back of each ping.

use slowpath_endpoint::Report;
use slowpath_endpoint::app::Behaviour;
use slowpath_record::{FlowResult, Series};
use slowpath_scenario::workload::Ping;
use slowpath_scenario::{Plan, Workload};
use slowpath_sim::{SimReport, SimSpec};
use slowpath_units::{Duration, Time};

/// Each ping's requests and replies, and its round trips.
pub(super) fn echoes(plan: &Plan, spec: &SimSpec, report: &SimReport) -> Vec<(FlowResult, Series)> {
    let mut found = Vec::new();
    for (number, host) in (0_u16..).zip(&spec.hosts) {
        // A host's programs are its jobs' in the order of the plan.
        let programs = (0_u32..)
            .zip(&host.programs)
            .filter(|(_, (_, program))| matches!(program, Behaviour::Ping(_)));
        let jobs = plan.jobs.iter().filter_map(|job| match &job.workload {
            Workload::Ping(ping) if job.client == host.name => Some((job, ping)),
            _ => None,
        });
        for ((app, _), (job, ping)) in programs.zip(jobs) {
            let replies = report.reports.iter().filter_map(|(from, report)| match report {
                Report::RoundTrip {
                    app: by, at, time, ..
                } if *from == number && by.0 == app => Some((*at, time.seconds())),
                _ => None,
            });
            found.push(echo(&job.name, ping, replies.collect()));
        }
    }
    found
}

fn echo(name: &str, ping: &Ping, points: Vec<(Time, f64)>) -> (FlowResult, Series) {
    let (sent, received) = (u64::from(ping.count), points.len() as u64);
    let bytes = ping.length.bytes() + HEADERS;
    let differences = points.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs());
    let mean = differences.sum::<f64>() / points.len().saturating_sub(1).max(1) as f64;
    let flow = FlowResult {
        name: name.to_owned(),
        sent_packets: sent,
        received_packets: received,
        sent_bytes: sent * bytes,
        received_bytes: received * bytes,
        jitter: std::time::Duration::try_from_secs_f64(mean)
            .ok()
            .map(Duration::from),
        goodput_byte_per_s: 0.0,
    };
    let series = Series {
        name: format!("{name}/round-trip"),
        unit: "s".to_owned(),
        points,
    };
    (flow, series)
}

/// Headers of IPv4 and ICMP in bytes.
const HEADERS: u64 = 28;

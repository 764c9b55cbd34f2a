//! What came back of each ping.

use slowpath_endpoint::Report;
use slowpath_endpoint::app::Behaviour;
use slowpath_record::echo::{self, ICMP_HEADER};
use slowpath_record::{FlowResult, Series};
use slowpath_scenario::{HostPlan, Plan, Workload};
use slowpath_sim::{SimReport, SimSpec};

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
            let ip_header = plan.host(&host.name).map_or(20, HostPlan::ip_header);
            let bytes = ping.length.bytes() + ICMP_HEADER + u64::from(ip_header);
            found.push(echo::result(
                &job.name,
                ping.count.into(),
                bytes,
                replies.collect(),
            ));
        }
    }
    found
}

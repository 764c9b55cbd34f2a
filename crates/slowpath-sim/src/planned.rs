//! From a plan to what the simulator runs.

use slowpath_endpoint::HostConfig;
use slowpath_endpoint::app::Behaviour;
use slowpath_scenario::plan::HostPlan;
use slowpath_scenario::{Plan, Stack, Workload};
use slowpath_units::{Duration, Time};

use crate::cards;
use crate::programs::{self, NotModelled};
use crate::spec::{SimHost, SimSpec};

/// What the simulator is to run for a plan.
///
/// # Errors
/// [`NotModelled`] for what only the kernel does.
pub fn spec(plan: &Plan) -> Result<SimSpec, NotModelled> {
    let mut hosts = Vec::with_capacity(plan.hosts.len());
    for host in &plan.hosts {
        let Stack::Model(model) = &host.stack else {
            return Err(NotModelled("a host that is planned for the kernel"));
        };
        hosts.push(SimHost {
            name: host.name.clone(),
            config: HostConfig {
                addresses: vec![host.address],
                tcp: model.tcp.clone(),
                mtu: host.mtu,
                input: model.input,
            },
            programs: of_host(plan, host)?,
        });
    }
    Ok(SimSpec {
        hosts,
        network: cards::complete(plan),
        seed: plan.seed,
        deadline: plan.deadline,
        sample_every: Some(SAMPLE_EVERY),
    })
}

fn of_host(plan: &Plan, host: &HostPlan) -> Result<Vec<(Time, Behaviour)>, NotModelled> {
    let mut all = Vec::new();
    for (number, job) in plan.jobs.iter().enumerate() {
        if number > 0 && matches!(job.workload, Workload::Command(_)) {
            continue;
        }
        all.extend(programs::programs(plan, job, host)?);
    }
    Ok(all)
}

/// How often connections are sampled.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

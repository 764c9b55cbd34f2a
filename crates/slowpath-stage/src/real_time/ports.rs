//! Ports of the jobs' servers.

use super::stage::Work;

/// The port of the job's server, its own among all jobs of the plan; the same as the models use.
pub(super) fn port(work: &Work<'_>) -> u16 {
    let jobs = &work.stage.plan.jobs;
    let number = jobs.iter().position(|job| job.name == work.job.name).unwrap_or(0);
    FIRST_PORT.saturating_add(10 * u16::try_from(number).unwrap_or(0))
}

/// iperf3's own port.
pub(super) const FIRST_PORT: u16 = 5201;

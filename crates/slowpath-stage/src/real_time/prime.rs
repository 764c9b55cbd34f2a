//! Makes kernels remember each other, so that a slow start threshold set on a route is applied.
//!
//! Linux reads the threshold from what it remembers of a peer, and begins to remember at the end of a connection
//! (`tcp_update_metrics`). One empty connection before the job is therefore enough, and without it the setting
//! would be without effect.

use std::net::{SocketAddr, TcpListener, TcpStream};

use slowpath_lab::Lab;
use slowpath_scenario::{HostPlan, Plan, Stack};
use slowpath_workload::Context;

use super::error::LabRunError;

/// Opens and closes one connection between the hosts if one of them has a slow start threshold.
pub(super) fn prime(lab: &Lab, plan: &Plan, context: &Context) -> Result<(), LabRunError> {
    let [one, other] = plan.hosts.as_slice() else {
        return Ok(());
    };
    if !wants(one) && !wants(other) {
        return Ok(());
    }
    let (opener, answerer) = if wants(one) { (one, other) } else { (other, one) };
    if !matches!(answerer.stack, Stack::Kernel(_)) {
        return Err(LabRunError::Unsupported(
            "a kernel's slow start threshold towards a model host",
        ));
    }
    let failed =
        |source: std::io::Error| LabRunError::Workload(format!("the connection before the job: {source}"));
    let address = SocketAddr::new(answerer.address, PORT);
    let listener = lab
        .run_in(&answerer.name, || TcpListener::bind(address))?
        .map_err(failed)?;
    // The opener closes first and ends in TIME-WAIT, where it remembers.
    lab.run_in(&opener.name, || {
        TcpStream::connect_timeout(&address, TIMEOUT).map(drop)
    })?
    .map_err(failed)?;
    let (answered, _) = listener.accept().map_err(failed)?;
    drop(answered);
    context
        .sleep(SETTLE)
        .map_err(|stop| LabRunError::Workload(stop.to_string()))
}

fn wants(host: &HostPlan) -> bool {
    matches!(&host.stack, Stack::Kernel(kernel) if kernel.slow_start_threshold.is_some())
}

/// The discard port (RFC 863).
const PORT: u16 = 9;

/// Longest time for the handshake.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

/// Time for both ends' FINs to be acknowledged over a long path.
const SETTLE: slowpath_units::Duration = slowpath_units::Duration::from_secs(1);

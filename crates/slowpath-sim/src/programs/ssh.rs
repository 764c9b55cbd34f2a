//! Copies of the SSH family: login, channel window, SFTP's requests, and the marks of each end.
//!
//! | OpenSSH | here | why |
//! |---|---|---|
//! | marks by `IPQoS` and kind of session | those of the options; none where no option says | packages differ in their defaults |
//! | a tunnel with a connection inside | one stream through the tunnel's channel | the inner connection ends on loopback interfaces |
//! | scp through a tunnel | SFTP's requests through the tunnel's channel | the inner channel has the same window |
//! | encryption takes processor time | none | the path is what is asked about |

use std::net::SocketAddr;

use slowpath_endpoint::app::{Behaviour, SshClient, SshDirection, SshServer, SshTransfer};
use slowpath_packet::Dscp;
use slowpath_scenario::plan::{HostPlan, Job, Plan};
use slowpath_scenario::workload::{Direction, SshMethod, SshTransfer as Wanted, ip_qos};
use slowpath_units::Time;

/// What `host` does in an SSH job, number `number` of the plan, and when it starts.
pub(super) fn programs(
    plan: &Plan,
    job: &Job,
    number: u16,
    wanted: &Wanted,
    host: &HostPlan,
) -> Vec<(Time, Behaviour)> {
    let port = PORT.saturating_add(number);
    let marked = |options: &[String]| {
        let dscp = ip_qos::mark(wanted.method, options).and_then(Dscp::new);
        SshTransfer {
            dscp,
            ..transfer(job, wanted)
        }
    };
    if host.name == job.server {
        let server = SshServer {
            port,
            transfer: marked(&wanted.server_options),
        };
        return vec![(Time::ZERO, Behaviour::SshServer(server))];
    }
    let server = plan.host(&job.server).filter(|_| host.name == job.client);
    let client = server.map(|server| SshClient {
        to: SocketAddr::new(server.address, port),
        transfer: marked(&wanted.client_options),
    });
    client
        .map(|client| (Time::ZERO + job.start, Behaviour::SshClient(client)))
        .into_iter()
        .collect()
}

fn transfer(job: &Job, wanted: &Wanted) -> SshTransfer {
    let direction = match wanted.direction {
        Direction::Download => SshDirection::Get,
        Direction::Upload | Direction::Both => SshDirection::Put,
    };
    let (name, bytes) = (job.name.clone(), wanted.size.bytes());
    match wanted.method {
        SshMethod::Scp | SshMethod::Sftp | SshMethod::TunnelScp => {
            SshTransfer::sftp(name, direction, bytes, SFTP_REQUEST)
        }
        SshMethod::ScpLegacy | SshMethod::Pipe | SshMethod::TunnelCopy | SshMethod::TunnelIperf3 => {
            SshTransfer::stream(name, direction, bytes)
        }
    }
}

/// SSH's own port; later jobs have the ones above it.
const PORT: u16 = 22;

/// Bytes of a request that both ends agree on since OpenSSH 8.7 (`limits@openssh.com`: 255 KiB).
const SFTP_REQUEST: u32 = 255 << 10;

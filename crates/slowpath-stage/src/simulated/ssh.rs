//! Copies of the SSH family in simulated time: login, channel window, SFTP's requests, and the marks of each end.
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
use slowpath_scenario::workload::{Direction, SshMethod, SshTransfer as Wanted};
use slowpath_units::Time;

use crate::real_time::ssh_marks;

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
        let dscp = ssh_marks::wanted(wanted.method, options).and_then(Dscp::new);
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

#[cfg(test)]
mod tests {
    use slowpath_scenario::{Clock, Experiment, Fragments, PlanOptions};

    /// One copy over 100 ms: goodput in bytes per second.
    fn copy(kind: &str, direction: &str) -> f64 {
        let text = format!(
            "title = \"t\"\n[network]\nboth = [{{ rate = \"10 Gbit/s\", queue = \"9000 packets\" }}, {{ delay = \
             \"50 ms\" }}]\n[hosts.client]\nsystem = \"linux\"\nrmem = [\"4 KiB\", \"128 KiB\", \"64 MiB\"]\n\
             [hosts.server]\nsystem = \"linux\"\nrmem = [\"4 KiB\", \"128 KiB\", \"64 MiB\"]\n[workload]\nkind = \
             \"{kind}\"\nsize = \"200 MiB\"\ndirection = \"{direction}\"\n[[variants]]\nname = \"v\"\n"
        );
        let experiment = Experiment::read("x.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let options = PlanOptions {
            variant: "v".to_owned(),
            repeat: 0,
            seed: 1,
            clock: Clock::Simulated,
            quick: false,
            size: None,
        };
        let plan = experiment.plan(&options, &Fragments::new()).unwrap();
        let record = super::super::bare("t", &plan).unwrap();
        let [transfer] = record.transfers.as_slice() else {
            panic!("{:?}", record.transfers);
        };
        assert!(transfer.complete, "{transfer:?}");
        assert_eq!(transfer.bytes, 200 << 20);
        // Ten exchanges of the login come before the data and are not counted.
        assert!(transfer.start.nanos() > 800_000_000, "{transfer:?}");
        transfer.goodput_byte_per_s()
    }

    #[test]
    fn the_channels_window_limits_a_copy_over_a_long_path() {
        for (kind, direction) in [
            ("scp", "upload"),
            ("sftp", "download"),
            ("scp-legacy", "upload"),
            ("ssh-pipe", "upload"),
            ("ssh-tunnel-copy", "upload"),
            ("ssh-tunnel-iperf3", "upload"),
            ("ssh-tunnel-scp", "download"),
        ] {
            let rate = copy(kind, direction);
            let window = f64::from(2 << 20) / 0.1;
            assert!(
                (0.85..1.0).contains(&(rate / window)),
                "{kind} {direction}: {rate}"
            );
        }
    }
}

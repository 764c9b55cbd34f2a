//! One file over FTP.

use std::net::SocketAddr;

use slowpath_endpoint::app::{Behaviour, File, FtpClient, FtpData, FtpDirection, FtpServer};
use slowpath_scenario::Stack;
use slowpath_scenario::plan::{HostPlan, Job, Plan};
use slowpath_scenario::workload::{DataMode, Direction, FtpTransfer};
use slowpath_units::{Duration, Time};

/// What `host` does in an FTP job, and when it starts.
pub(super) fn programs(
    plan: &Plan,
    job: &Job,
    transfer: &FtpTransfer,
    host: &HostPlan,
) -> Vec<(Time, Behaviour)> {
    // What is moved beside the measured file has a name of its own, but for a real server, which has the one file.
    let is_beside = job.name != plan.main_job().name;
    let modelled = plan
        .host(&job.server)
        .is_some_and(|server| matches!(server.stack, Stack::Model(_)));
    let path = if is_beside && modelled {
        job.file()
    } else {
        FILE.to_owned()
    };
    if host.name == job.server {
        let file = |path: String| File {
            path,
            bytes: transfer.size.bytes(),
        };
        let server = FtpServer {
            port: CONTROL_PORT,
            files: vec![file(FILE.to_owned()), file(path)],
            passive_port: PASSIVE_PORT,
        };
        return vec![(Time::ZERO, Behaviour::FtpServer(server))];
    }
    let (Stack::Model(model), Some(server)) = (&host.stack, plan.host(&job.server)) else {
        return Vec::new();
    };
    if host.name != job.client {
        return Vec::new();
    }
    let client = FtpClient {
        server: SocketAddr::new(server.address, CONTROL_PORT),
        user: "anonymous".to_owned(),
        password: "slowpath@".to_owned(),
        path,
        direction: match transfer.direction {
            Direction::Upload => FtpDirection::Put(transfer.size.bytes()),
            _ => FtpDirection::Get,
        },
        data: match transfer.data {
            DataMode::Passive => FtpData::Passive,
            DataMode::ExtendedPassive => FtpData::ExtendedPassive,
            DataMode::Active | DataMode::ExtendedActive => FtpData::Active,
        },
        pace: model.pace,
    };
    vec![(Time::ZERO + job.start + START, Behaviour::FtpClient(client))]
}

/// Name of the file, as in the field report.
pub const FILE: &str = "test.bin";

/// FTP's control port (RFC 959).
pub const CONTROL_PORT: u16 = 21;

/// First port of passive data connections.
const PASSIVE_PORT: u16 = 40_000;

/// In the lab a server of the kernel's needs a moment to start; a model client waits for it in either clock.
const START: Duration = Duration::from_secs(1);

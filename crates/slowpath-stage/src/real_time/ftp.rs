//! FTP jobs: a kernel or model client, slowpath's own server or vsftpd.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use slowpath_endpoint::Report;
use slowpath_scenario::plan::HostPlan;
use slowpath_scenario::workload::{DataMode, Direction, FtpTransfer, Program as Player};
use slowpath_scenario::{KernelStack, Stack};
use slowpath_sim::programs::ftp::{CONTROL_PORT, FILE};
use slowpath_workload::content::write_test_file;
use slowpath_workload::drain::Drain;
use slowpath_workload::external::curl::CurlFtp;
use slowpath_workload::external::vsftpd::Vsftpd;
use slowpath_workload::ftp::{self, ClientConfig, Mode, Server, ServerConfig};
use slowpath_workload::payload::{Sink, Source};

use super::error::LabRunError;
use super::programs::{Running, version};
use super::scratch::{Scratch, set_mode};
use super::stage::{Done, Work, failed, kernel, socket_options};

/// Runs the job and waits for its end.
pub(super) fn run(work: &Work<'_>, transfer: &FtpTransfer) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    let server_stack = kernel(server, "FTP from a model server")?;
    let listen = SocketAddr::new(server.address, CONTROL_PORT);
    let mut done = Done::default();
    let mut serving = start_server(work, server, server_stack, transfer, listen, &mut done)?;
    work.wait_for_start()?;
    match &client.stack {
        Stack::Kernel(_) if transfer.client != Player::Builtin => {
            program_client(work, client, transfer, listen, &mut done)?;
        }
        Stack::Kernel(stack) => kernel_client(work, client, stack, transfer, listen, &mut done)?,
        Stack::Model(_) => model_client(work, client, &mut done)?,
    }
    serving.stop(&mut done);
    Ok(done)
}

/// A server at work, and what must be cleared away behind it.
enum Serving {
    Builtin(Option<Server>),
    Program { running: Running, _folder: Scratch },
}

impl Serving {
    fn stop(&mut self, done: &mut Done) {
        match self {
            Self::Builtin(server) => {
                for served in server.take().map(Server::stop).into_iter().flatten() {
                    if let Some(connection) = served.connection {
                        let retransmitted = connection
                            .last()
                            .map(|sample| u64::from(sample.retransmitted_segments));
                        if let (Some(count), Some(transfer)) = (retransmitted, done.transfers.first_mut()) {
                            transfer.retransmitted_segments.get_or_insert(count);
                        }
                        done.series.extend(connection.series("server/data"));
                    }
                }
            }
            Self::Program { running, .. } => {
                running.kill();
            }
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop(&mut Done::default());
    }
}

fn start_server(
    work: &Work<'_>,
    host: &HostPlan,
    stack: &KernelStack,
    transfer: &FtpTransfer,
    listen: SocketAddr,
    done: &mut Done,
) -> Result<Serving, LabRunError> {
    match &transfer.server {
        Player::Builtin => {
            let mut config = ServerConfig::synthetic(listen, FILE, transfer.size, transfer.content_seed);
            config.data = socket_options(stack);
            let started = work.inside(host, || Server::start(config, &work.context))?;
            let server = started.map_err(|error| failed("starting the FTP server", &error))?;
            done.programs.push("FTP server: slowpath's own".to_owned());
            Ok(Serving::Builtin(Some(server)))
        }
        Player::Named(program) => {
            let folder = Scratch::passable("server")?;
            let root = folder.join("files");
            write_content(&root, transfer).map_err(LabRunError::Scratch)?;
            let server = Vsftpd {
                listen,
                root,
                work: folder.path().to_owned(),
                writable: transfer.direction == Direction::Upload,
            };
            let found = server.program().ok_or_else(|| LabRunError::Program {
                program: program.clone(),
                install: "apt-get install vsftpd",
            })?;
            let running = Running::start(work, host, &found)?;
            done.programs.push("FTP server: vsftpd".to_owned());
            Ok(Serving::Program {
                running,
                _folder: folder,
            })
        }
    }
}

fn kernel_client(
    work: &Work<'_>,
    client: &HostPlan,
    stack: &KernelStack,
    transfer: &FtpTransfer,
    server: SocketAddr,
    done: &mut Done,
) -> Result<(), LabRunError> {
    let direction = match transfer.direction {
        Direction::Upload => ftp::Direction::Put {
            source: Source::Synthetic {
                size: transfer.size,
                seed: transfer.content_seed,
            },
        },
        _ => ftp::Direction::Get {
            sink: Sink::Discard,
            drain: stack.storage.map(drain),
        },
    };
    let mut config = ClientConfig::new(server, path(transfer), direction);
    config.data = socket_options(stack);
    config.mode = match transfer.data {
        DataMode::Passive => Mode::Passive,
        DataMode::ExtendedPassive => Mode::ExtendedPassive,
        DataMode::Active => Mode::Active,
        DataMode::ExtendedActive => Mode::ExtendedActive,
    };
    let report = work
        .inside(client, || ftp::transfer(&config, &work.context))?
        .map_err(|error| LabRunError::Workload(error.to_string()))?;
    done.programs.push("FTP client: slowpath's own".to_owned());
    done.transfers.push(report.transfer);
    done.series.push(report.progress);
    for connection in report
        .connections
        .iter()
        .filter(|connection| connection.name != "control")
    {
        done.series
            .extend(connection.series(&format!("client/{}", connection.name)));
    }
    Ok(())
}

/// Waits until the model's client has ended.
fn model_client(work: &Work<'_>, client: &HostPlan, done: &mut Done) -> Result<(), LabRunError> {
    let result = work.await_report("the model FTP client", &|host, report| match report {
        Report::Transfer { result, .. } if host == client.name => Some(Some(result.clone())),
        Report::Ended { .. } if host == client.name => Some(None),
        _ => None,
    })?;
    done.programs.push("FTP client: model endpoint".to_owned());
    done.transfers.push(
        result.ok_or_else(|| {
            LabRunError::Workload("the model FTP client ended without a transfer".to_owned())
        })?,
    );
    Ok(())
}

/// Path of the file on the server.
fn path(transfer: &FtpTransfer) -> &'static str {
    match (&transfer.server, transfer.direction) {
        (Player::Named(_), Direction::Upload) => "incoming/test.bin",
        _ => FILE,
    }
}

/// A transfer by a real client program.
fn program_client(
    work: &Work<'_>,
    client: &HostPlan,
    transfer: &FtpTransfer,
    server: SocketAddr,
    done: &mut Done,
) -> Result<(), LabRunError> {
    let folder = Scratch::create("client")?;
    let upload = (transfer.direction == Direction::Upload).then(|| folder.join(FILE));
    if let Some(file) = &upload {
        write_test_file(file, transfer.size, transfer.content_seed).map_err(LabRunError::Scratch)?;
    }
    let curl = CurlFtp {
        server,
        path: path(transfer).to_owned(),
        upload,
        active: matches!(transfer.data, DataMode::Active | DataMode::ExtendedActive),
        extended: matches!(
            transfer.data,
            DataMode::ExtendedPassive | DataMode::ExtendedActive
        ),
        within: work.stage.plan.deadline,
    };
    let program = curl.program().ok_or_else(|| LabRunError::Program {
        program: "curl".to_owned(),
        install: "apt-get install curl",
    })?;
    let start = work.context.now();
    let ended = Running::start(work, client, &program)?.wait(work)?;
    done.programs.push(version(&program, &["--version"]));
    done.transfers
        .push(curl.result(start, &ended.output, &ended.errors, ended.status.success()));
    Ok(())
}

const fn drain(storage: slowpath_scenario::host::Storage) -> Drain {
    Drain {
        unit: storage.unit,
        rate: storage.rate,
        read_ahead: 0,
    }
}

/// Writes the file to be fetched into the folder that the server shows.
fn write_content(root: &Path, transfer: &FtpTransfer) -> io::Result<()> {
    fs::create_dir(root)?;
    if transfer.direction == Direction::Upload {
        let incoming = root.join(INCOMING);
        fs::create_dir(&incoming)?;
        set_mode(&incoming, 0o777)?;
        return set_mode(root, 0o555);
    }
    write_test_file(&root.join(FILE), transfer.size, transfer.content_seed)?;
    // vsftpd refuses a root that its own user could write to.
    set_mode(root, 0o555)
}

/// Folder for uploads to a real server, whose root must not be writable.
const INCOMING: &str = "incoming";

//! FTP jobs: a kernel or model client, slowpath's own server or vsftpd.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use slowpath_endpoint::Report;
use slowpath_endpoint::app::{Behaviour, FtpClient, FtpData, FtpDirection};
use slowpath_lab::Lab;
use slowpath_scenario::plan::{HostPlan, Job, Plan};
use slowpath_scenario::workload::{DataMode, Direction, FtpTransfer, Program as Player};
use slowpath_scenario::{KernelStack, Stack};
use slowpath_units::{ByteCount, Duration, Time};
use slowpath_workload::content::Content;
use slowpath_workload::drain::Drain;
use slowpath_workload::external::curl::CurlFtp;
use slowpath_workload::external::vsftpd::Vsftpd;
use slowpath_workload::ftp::{self, ClientConfig, Mode, Server, ServerConfig};
use slowpath_workload::payload::{Sink, Source};
use slowpath_workload::{Context, SocketOptions};

use super::{Done, LabRunError, size};
use crate::worker::Message;

/// The programs that a job needs on a model host.
pub(crate) fn model_programs(
    plan: &Plan,
    job: &Job,
    transfer: &FtpTransfer,
    host: &HostPlan,
) -> Vec<(Time, Behaviour)> {
    let Stack::Model(model) = &host.stack else {
        return Vec::new();
    };
    if host.name != job.client {
        return Vec::new();
    }
    let Some(server) = plan.host(&job.server) else {
        return Vec::new();
    };
    let client = FtpClient {
        server: SocketAddr::new(server.address.into(), CONTROL_PORT),
        user: "anonymous".to_owned(),
        password: "slowpath@".to_owned(),
        path: FILE.to_owned(),
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
    // The server needs a moment to start before the first packet may arrive.
    vec![(Time::ZERO + job.start + MODEL_START, Behaviour::FtpClient(client))]
}

/// Runs the job and waits for its end.
pub(super) fn run(
    lab: &Lab,
    plan: &Plan,
    job: &Job,
    transfer: &FtpTransfer,
    context: &Context,
    tell: &mut dyn FnMut(&Message),
) -> Result<Done, LabRunError> {
    let server = host(plan, &job.server)?;
    let client = host(plan, &job.client)?;
    let Stack::Kernel(server_stack) = &server.stack else {
        return Err(LabRunError::Unsupported("FTP from a model server"));
    };
    let listen = SocketAddr::new(server.address.into(), CONTROL_PORT);
    let mut done = Done::default();
    let mut serving = start_server(
        lab,
        &server.name,
        server_stack,
        transfer,
        listen,
        context,
        &mut done,
    )?;
    match &client.stack {
        Stack::Kernel(_) if transfer.client != Player::Builtin => {
            program_client(lab, plan, client, transfer, listen, context, tell, &mut done)?;
        }
        Stack::Kernel(stack) => kernel_client(
            lab, plan, client, stack, transfer, listen, context, tell, &mut done,
        )?,
        Stack::Model(_) => model_client(lab, plan, client, context, tell, &mut done)?,
    }
    serving.stop(&mut done);
    Ok(done)
}

fn host<'a>(plan: &'a Plan, name: &str) -> Result<&'a HostPlan, LabRunError> {
    plan.host(name)
        .ok_or(LabRunError::Unsupported("a job whose host is not planned"))
}

/// A server at work, and what must be cleared away behind it.
enum Serving {
    Builtin(Option<Server>),
    Program { child: Child, _folder: Scratch },
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
            Self::Program { child, .. } => {
                let _ = child.kill();
                let _ = child.wait();
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
    lab: &Lab,
    name: &str,
    stack: &KernelStack,
    transfer: &FtpTransfer,
    listen: SocketAddr,
    context: &Context,
    done: &mut Done,
) -> Result<Serving, LabRunError> {
    match &transfer.server {
        Player::Builtin => {
            let mut config = ServerConfig::synthetic(listen, FILE, transfer.size, transfer.content_seed);
            config.data = socket_options(stack);
            let context = context.clone();
            let started = lab.run_in(name, || Server::start(config, &context))?;
            let server = started
                .map_err(|error| LabRunError::Workload(format!("starting the FTP server: {error}")))?;
            done.programs.push("FTP server: slowpath's own".to_owned());
            Ok(Serving::Builtin(Some(server)))
        }
        Player::Named(program) => {
            let folder = Scratch::create("server")?;
            let root = folder.0.join("files");
            write_content(&root, transfer).map_err(LabRunError::Scratch)?;
            let server = Vsftpd {
                listen,
                root,
                work: folder.0.clone(),
                writable: transfer.direction == Direction::Upload,
            };
            let found = server.program().ok_or_else(|| LabRunError::Program {
                program: program.clone(),
                package: "vsftpd",
            })?;
            found.write_files().map_err(LabRunError::Scratch)?;
            let mut command = found.command();
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let child = lab.spawn(name, command)?;
            let serving = Serving::Program {
                child,
                _folder: folder,
            };
            lab.run_in(name, || found.wait(SERVER_START, context))?
                .map_err(|error| LabRunError::Workload(error.to_string()))?;
            done.programs.push("FTP server: vsftpd".to_owned());
            Ok(serving)
        }
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "one call site; a struct would only rename the arguments"
)]
fn kernel_client(
    lab: &Lab,
    plan: &Plan,
    client: &HostPlan,
    stack: &KernelStack,
    transfer: &FtpTransfer,
    server: SocketAddr,
    context: &Context,
    tell: &mut dyn FnMut(&Message),
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
    let of = size(plan);
    let thread = lab.start_in(&client.name, {
        let context = context.clone();
        move || ftp::transfer(&config, &context)
    })?;
    while !thread.is_finished() {
        tell(&Message::Progress {
            bytes: context.spent().min(of),
            of,
        });
        std::thread::sleep(POLL);
    }
    let report = thread
        .join()
        .map_err(|_| LabRunError::Workload("the FTP client panicked".to_owned()))?
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
fn model_client(
    lab: &Lab,
    plan: &Plan,
    client: &HostPlan,
    context: &Context,
    tell: &mut dyn FnMut(&Message),
    done: &mut Done,
) -> Result<(), LabRunError> {
    let of = size(plan);
    loop {
        match lab.next_report(POLL) {
            Some((host, Report::Transfer { result, .. })) if host == client.name => {
                done.programs.push("FTP client: model endpoint".to_owned());
                done.transfers.push(result);
                return Ok(());
            }
            Some((host, Report::Ended { .. })) if host == client.name => {
                return Err(LabRunError::Workload(
                    "the model FTP client ended without a transfer".to_owned(),
                ));
            }
            _ => {}
        }
        if lab.failed() {
            return Err(LabRunError::Workload(
                "the wire ended before the transfer did".to_owned(),
            ));
        }
        if let Err(stop) = context.check() {
            return Err(LabRunError::Workload(format!(
                "the model FTP client did not end: {stop}"
            )));
        }
        tell(&Message::Progress { bytes: 0, of });
    }
}

/// Path of the file on the server.
fn path(transfer: &FtpTransfer) -> &'static str {
    match (&transfer.server, transfer.direction) {
        (Player::Named(_), Direction::Upload) => "incoming/test.bin",
        _ => FILE,
    }
}

/// A transfer by a real client program.
#[expect(
    clippy::too_many_arguments,
    reason = "one call site; a struct would only rename the arguments"
)]
fn program_client(
    lab: &Lab,
    plan: &Plan,
    client: &HostPlan,
    transfer: &FtpTransfer,
    server: SocketAddr,
    context: &Context,
    tell: &mut dyn FnMut(&Message),
    done: &mut Done,
) -> Result<(), LabRunError> {
    let folder = Scratch::create("client")?;
    let upload = (transfer.direction == Direction::Upload).then(|| folder.0.join(FILE));
    if let Some(file) = &upload {
        write_file(file, transfer).map_err(LabRunError::Scratch)?;
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
        within: plan.deadline,
    };
    let program = curl.program().ok_or_else(|| LabRunError::Program {
        program: "curl".to_owned(),
        package: "curl",
    })?;
    let mut command = program.command();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let start = lab.now();
    let mut child = lab.spawn(&client.name, command)?;
    let failed =
        |what: &str, source: &dyn std::fmt::Display| LabRunError::Workload(format!("{what}: {source}"));
    while child
        .try_wait()
        .map_err(|error| failed("waiting for curl", &error))?
        .is_none()
    {
        if let Err(stop) = context.check() {
            let _ = child.kill();
            return Err(failed("waiting for curl", &stop));
        }
        tell(&Message::Progress {
            bytes: 0,
            of: size(plan),
        });
        std::thread::sleep(POLL);
    }
    let output = child
        .wait_with_output()
        .map_err(|error| failed("reading curl's output", &error))?;
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    done.programs.push("FTP client: curl".to_owned());
    done.transfers
        .push(curl.result(start, &out, &err, output.status.success()));
    Ok(())
}

fn socket_options(stack: &KernelStack) -> SocketOptions {
    SocketOptions {
        receive_buffer: stack.receive_buffer.map(ByteCount::new),
        send_buffer: stack.send_buffer.map(ByteCount::new),
        window_clamp: stack.window_clamp.map(ByteCount::new),
        mss: stack.mss.map(u32::from),
        dscp: stack.dscp,
        pacing: stack.pacing,
        ..SocketOptions::default()
    }
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
    write_file(&root.join(FILE), transfer)?;
    // vsftpd refuses a root that its own user could write to.
    set_mode(root, 0o555)
}

/// Writes the random file that the plan's seed decides.
fn write_file(path: &Path, transfer: &FtpTransfer) -> io::Result<()> {
    let mut file = io::BufWriter::new(fs::File::create(path)?);
    let content = Content::new(transfer.content_seed);
    let mut chunk = vec![0; 1 << 16];
    let mut offset = 0;
    while offset < transfer.size.bytes() {
        let length = chunk
            .len()
            .min(usize::try_from(transfer.size.bytes() - offset).unwrap_or(usize::MAX));
        content.fill(offset, &mut chunk[..length]);
        file.write_all(&chunk[..length])?;
        offset += length as u64;
    }
    file.flush()
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// A folder that goes away with its value.
struct Scratch(PathBuf);

impl Scratch {
    fn create(purpose: &str) -> Result<Self, LabRunError> {
        let path = crate::worker::scratch().join(format!("slowpath-{}-{purpose}", std::process::id()));
        fs::create_dir_all(&path).map_err(LabRunError::Scratch)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = set_mode(&self.0.join("files"), 0o755);
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Name of the file, as in the field report.
pub(crate) const FILE: &str = "test.bin";

/// Folder for uploads to a real server, whose root must not be writable.
const INCOMING: &str = "incoming";

/// FTP's control port (RFC 959).
pub(crate) const CONTROL_PORT: u16 = 21;

/// How long a server program may take to listen.
const SERVER_START: Duration = Duration::from_secs(5);

/// When a model client starts: a server started at the same time is ready by then.
const MODEL_START: Duration = Duration::from_secs(1);

/// How often progress is looked at.
const POLL: std::time::Duration = std::time::Duration::from_millis(50);

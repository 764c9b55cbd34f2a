//! The SSH family with the real OpenSSH programs: scp, sftp, pipes, and tunnels with something in them.
//!
//! sshd runs on the port's host without root; files lie in memory. A copy is timed at the receiving file, from its
//! first appearance to its last byte, as the programs' own meters do: login does not count, and is told apart.

pub(crate) mod expect;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use slowpath_record::TransferResult;
use slowpath_scenario::plan::HostPlan;
use slowpath_scenario::workload::{
    Direction, Iperf3Direction, Iperf3Protocol, Iperf3Test, SshMethod as Method, SshTransfer,
};
use slowpath_units::{Duration, Time};
use slowpath_workload::content::write_test_file;
use slowpath_workload::copy::{CopyConfig, CopySink, copy};
use slowpath_workload::external::ssh::{SshCopy, SshMethod, SshSetup};
use slowpath_workload::external::{Program, Ready, find_program};
use slowpath_workload::onlooker::{Filter, Onlooker};
use slowpath_workload::payload::Source;

use super::error::LabRunError;
use super::iperf3::{self, Ends};
use super::ports::FIRST_PORT;
use super::processor;
use super::programs::{Running, version_of};
use super::scratch::Scratch;
use super::stage::{Done, Work, failed, kernel};

/// Starts sshd, carries the file, and says what the programs did to the wire and to the processors.
pub(super) fn run(work: &Work<'_>, transfer: &SshTransfer) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    kernel(client, "OpenSSH on a model host")?;
    kernel(server, "OpenSSH on a model host")?;
    let mut done = Done::default();
    let folder = Scratch::create("ssh")?;
    let setup = setup(server, transfer, &folder);
    setup.prepare().map_err(|error| failed("preparing SSH", &error))?;
    let sshd = setup
        .server()
        .ok_or_else(|| missing("sshd", "apt-get install openssh-server"))?;
    let sshd = Running::start(work, server, &sshd)?;
    let mut session = Session {
        work,
        transfer,
        client,
        server,
        setup: &setup,
        folder: &folder,
        watched: vec![(server.name.clone(), sshd.id())],
        held: Vec::new(),
    };
    let found = version_of("ssh", &["-V"]);
    done.programs
        .push(format!("ssh and sshd: {}", found.as_deref().unwrap_or("OpenSSH")));
    expect::marks(work, transfer, found.as_deref(), &mut done);
    let onlooker = session.look_on(&mut done);
    work.wait_for_start()?;
    session.carry(&mut done)?;
    if let Some(onlooker) = onlooker {
        for (number, log) in onlooker.finish().iter().enumerate() {
            done.series
                .extend(log.series(&format!("{}/{number}", work.job.name)));
            let retransmitted = log.last().map(|last| u64::from(last.retransmitted_segments));
            if let (Some(count), [transfer]) = (retransmitted, done.transfers.as_mut_slice()) {
                let known = transfer.retransmitted_segments.unwrap_or(0);
                transfer.retransmitted_segments = Some(known.max(count));
            }
        }
    }
    drop(session);
    Ok(done)
}

fn setup(server: &HostPlan, transfer: &SshTransfer, folder: &Scratch) -> SshSetup {
    let mut client_options = transfer.client_options.clone();
    if multiplexed(transfer) && value(&client_options, "controlpath").is_none() {
        client_options.push(format!("ControlPath {}", folder.join("control").display()));
    }
    SshSetup {
        server: SocketAddr::new(server.address, SSH_PORT),
        work: folder.path().to_owned(),
        user: slowpath_sys::process::user_and_group(),
        client_options,
        server_options: transfer.server_options.clone(),
    }
}

/// Whether the client's options ask for connections that share one (ssh_config(5), `ControlMaster`, `ControlPath`).
fn multiplexed(transfer: &SshTransfer) -> bool {
    let options = &transfer.client_options;
    let is = |found: Option<&str>, word: &str| found.is_some_and(|found| found.eq_ignore_ascii_case(word));
    let master = value(options, "controlmaster");
    let refused = ["no", "false"].iter().any(|word| is(master, word));
    master.is_some() && !refused && !is(value(options, "controlpath"), "none")
}

/// The value of an option: that of its first line, which is the one that counts.
fn value<'o>(options: &'o [String], keyword: &str) -> Option<&'o str> {
    let separator = |c: char| c.is_whitespace() || c == '=';
    options.iter().find_map(|line| {
        let (word, rest) = line.trim().split_once(separator)?;
        let rest = rest.trim_start_matches(separator).trim_matches('"');
        word.eq_ignore_ascii_case(keyword).then_some(rest)
    })
}

fn missing(program: &str, install: &'static str) -> LabRunError {
    LabRunError::Program {
        program: program.to_owned(),
        install,
    }
}

/// One run of the family between two hosts.
struct Session<'a> {
    work: &'a Work<'a>,
    transfer: &'a SshTransfer,
    client: &'a HostPlan,
    server: &'a HostPlan,
    setup: &'a SshSetup,
    folder: &'a Scratch,
    /// Processes whose processor time is of interest.
    watched: Vec<(String, u32)>,
    /// Programs that live as long as the session: masters and tunnels.
    held: Vec<Running>,
}

impl Session<'_> {
    fn carry(&mut self, done: &mut Done) -> Result<(), LabRunError> {
        if multiplexed(self.transfer) {
            self.open_master()?;
        }
        match self.transfer.method {
            Method::Scp => self.copy_file(SshMethod::Scp, None, done),
            Method::ScpLegacy => self.copy_file(SshMethod::ScpLegacy, None, done),
            Method::Sftp => self.copy_file(SshMethod::Sftp, None, done),
            Method::Pipe => self.copy_file(SshMethod::Pipe, None, done),
            Method::TunnelScp => {
                let near = self.open_tunnel(self.setup.server)?;
                self.copy_file(SshMethod::Scp, Some(near), done)
            }
            Method::TunnelCopy => self.copy_plain(done),
            Method::TunnelIperf3 => self.measure(done),
        }
    }

    fn upload(&self) -> bool {
        self.transfer.direction != Direction::Download
    }

    /// Opens the connection that later ones share.
    fn open_master(&mut self) -> Result<(), LabRunError> {
        let ssh = find_program("ssh", &[]).ok_or_else(|| missing("ssh", "apt-get install openssh-client"))?;
        let config = self.folder.join("ssh_config").display().to_string();
        let program = |more: &[&str]| Program {
            name: "ssh".to_owned(),
            program: ssh.clone(),
            arguments: ["-F", config.as_str()]
                .iter()
                .chain(more)
                .chain(&["far"])
                .map(|&argument| argument.to_owned())
                .collect(),
            environment: Vec::new(),
            files: Vec::new(),
            ready: Ready::Immediately,
        };
        // Unlike -M this takes away the socket of an earlier master that was killed.
        let master = program(&["-o", "ControlMaster=auto", "-N"]);
        let mut running = Running::start(self.work, self.client, &master)?;
        // Where its socket lies may depend on host, port and user; ssh itself knows. A client that is a master by its
        // configuration would not ask but connect.
        let check = program(&["-o", "ControlMaster=no", "-O", "check"]);
        loop {
            let asked = Running::start(self.work, self.client, &check)?.wait(self.work);
            if asked.is_ok_and(|asked| asked.status.success()) {
                break;
            }
            if running.has_ended()? || self.work.context.check().is_err() {
                let said = running.kill().map(|ended| ended.errors).unwrap_or_default();
                return Err(failed("opening the shared SSH connection", &said.trim()));
            }
        }
        self.watched.push((self.client.name.clone(), running.id()));
        self.held.push(running);
        Ok(())
    }

    /// A login shell with a forwarding in it, as people usually make tunnels.
    fn open_tunnel(&mut self, far: SocketAddr) -> Result<SocketAddr, LabRunError> {
        let near = SocketAddr::from((Ipv4Addr::LOCALHOST, TUNNEL_PORT));
        let program = self
            .setup
            .tunnel(near, far, true)
            .ok_or_else(|| missing("ssh", "apt-get install openssh-client"))?;
        let running = Running::start(self.work, self.client, &program)?;
        self.watched.push((self.client.name.clone(), running.id()));
        self.held.push(running);
        Ok(near)
    }

    fn copy_file(
        &self,
        method: SshMethod,
        through: Option<SocketAddr>,
        done: &mut Done,
    ) -> Result<(), LabRunError> {
        let (source, destination) = (self.folder.join("source.bin"), self.folder.join("copy.bin"));
        let size = self.transfer.size;
        write_test_file(&source, size, self.transfer.content_seed).map_err(LabRunError::Scratch)?;
        let job = SshCopy {
            method,
            upload: self.upload(),
            source,
            destination: destination.clone(),
            through,
        };
        let program = self
            .setup
            .transfer(&job)
            .ok_or_else(|| missing("scp, sftp or ssh", "apt-get install openssh-client"))?;
        let asked = self.work.context.now();
        let mut running = Running::start(self.work, self.client, &program)?;
        let mut watched = self.watched.clone();
        watched.push((self.client.name.clone(), running.id()));
        let watch = processor::Watch::start(watched, &self.work.context);
        let span = self.follow(&destination, size.bytes(), &mut running)?;
        let ended = match (span, self.work.context.check()) {
            // A copy that the network lets starve is a result, not a failure of the lab.
            (None, Err(stop)) => {
                running.kill();
                Err(format!("it had not ended when the run did: {stop}"))
            }
            _ => Ok(running.wait(self.work)?),
        };
        let (errors, success) = match &ended {
            Ok(ended) => (ended.errors.as_str(), ended.status.success()),
            Err(text) => (text.as_str(), false),
        };
        let mut whole = job.result(size.bytes(), asked, self.work.context.now(), errors, success);
        if !success {
            whole.bytes = std::fs::metadata(&destination).map_or(0, |found| found.len());
        }
        let (start, end) = span.unwrap_or((whole.start, whole.end));
        processor::judge(&watch.finish(), start, end, done);
        done.notes.push(format!(
            "{}: {:.2} s until data began, {:.2} s of data, {:.2} s to the program's end",
            whole.name,
            start.since(asked).seconds(),
            end.since(start).seconds(),
            whole.end.since(end).seconds()
        ));
        done.transfers.push(TransferResult { start, end, ..whole });
        Ok(())
    }

    /// Watches a file grow: when it appeared and when it was whole.
    fn follow(
        &self,
        file: &Path,
        size: u64,
        running: &mut Running,
    ) -> Result<Option<(Time, Time)>, LabRunError> {
        let (mut begun, mut seen) = (None, 0);
        loop {
            let now = self.work.context.now();
            let over = running.has_ended()?;
            if let Ok(found) = std::fs::metadata(file) {
                let start = *begun.get_or_insert(now);
                let length = found.len();
                // Beyond the deadline the program is told to stop by its own waiter.
                let _ = self.work.context.spend(length.saturating_sub(seen));
                seen = seen.max(length);
                if length >= size {
                    return Ok(Some((start, now)));
                }
            }
            if over || self.work.context.check().is_err() {
                return Ok(None);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// A plain copy through a tunnel, as netcat makes it.
    fn copy_plain(&mut self, done: &mut Done) -> Result<(), LabRunError> {
        let far = SocketAddr::from((Ipv4Addr::LOCALHOST, FIRST_PORT));
        // Forwarding goes one way only; a download is an upload from the other end of a forwarded connection.
        if !self.upload() {
            return Err(LabRunError::Unsupported("a plain download through a tunnel"));
        }
        let sink = self
            .work
            .inside(self.server, || {
                CopySink::start(
                    far,
                    slowpath_workload::SocketOptions::default(),
                    None,
                    &self.work.context,
                )
            })?
            .map_err(|error| failed("starting the receiver behind the tunnel", &error))?;
        let near = self.open_tunnel(far)?;
        let config = CopyConfig {
            to: near,
            source: Source::Synthetic {
                size: self.transfer.size,
                seed: self.transfer.content_seed,
            },
            socket: slowpath_workload::SocketOptions::default(),
            sample_every: SAMPLE_EVERY,
        };
        let watch = processor::Watch::start(self.watched.clone(), &self.work.context);
        let report = self
            .work
            .inside(self.client, || copy(&config, &self.work.context))?
            .map_err(|error| LabRunError::Workload(error.to_string()))?;
        processor::judge(&watch.finish(), report.transfer.start, report.transfer.end, done);
        done.programs.push("plain copy: slowpath's own".to_owned());
        for received in sink.stop() {
            done.series.push(received.progress);
        }
        // The connection on the loopback interface says nothing about the path.
        done.transfers.push(TransferResult {
            retransmitted_segments: None,
            ..report.transfer
        });
        Ok(())
    }

    /// iperf3 through a tunnel.
    fn measure(&mut self, done: &mut Done) -> Result<(), LabRunError> {
        let far = SocketAddr::from((Ipv4Addr::LOCALHOST, FIRST_PORT));
        let near = self.open_tunnel(far)?;
        let direction = if self.upload() {
            Iperf3Direction::Forward
        } else {
            Iperf3Direction::Reverse
        };
        let test = Iperf3Test {
            size: Some(self.transfer.size),
            ..Iperf3Test::new(Iperf3Protocol::Tcp, direction)
        };
        let ends = Ends {
            client: self.client,
            server: self.server,
            listen: far,
            connect: near,
        };
        let watch = processor::Watch::start(self.watched.clone(), &self.work.context);
        iperf3::between(self.work, &test, &ends, done)?;
        let seen = watch.finish();
        if let Some((start, end)) = done.transfers.first().map(|one| (one.start, one.end)) {
            processor::judge(&seen, start, end, done);
        }
        for transfer in &mut done.transfers {
            transfer.retransmitted_segments = None;
        }
        Ok(())
    }

    /// Samples the SSH connections on the side of the data's sender.
    fn look_on(&self, done: &mut Done) -> Option<Onlooker> {
        let side = if self.upload() { self.client } else { self.server };
        let filter = Filter {
            ports: vec![SSH_PORT],
        };
        let started = self
            .work
            .inside(side, || Onlooker::start(filter, SAMPLE_EVERY, &self.work.context));
        match started.ok()? {
            Ok(onlooker) => Some(onlooker),
            Err(error) => {
                done.notes
                    .push(format!("the connections of OpenSSH cannot be sampled: {error}"));
                None
            }
        }
    }
}

const SSH_PORT: u16 = 22;

/// Near end of tunnels; the host is the lab's own, so nobody else has it.
const TUNNEL_PORT: u16 = 8000;

/// How often a growing file is looked at.
const LOOK: std::time::Duration = std::time::Duration::from_millis(5);

/// How often connections are sampled.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_shared_where_the_options_say_so() {
        for (options, shared) in [
            (&[][..], false),
            (&["ControlMaster auto"], true),
            (&["  controlmaster=yes"], true),
            (&["ControlMaster = \"no\""], false),
            (&["ControlMaster no", "ControlMaster yes"], false),
            (&["ControlMaster auto", "ControlPath none"], false),
            (&["ControlMaster auto", "ControlPath /tmp/%C"], true),
            (&["ControlPath /tmp/%C", "ControlPersist yes"], false),
        ] {
            let transfer = SshTransfer {
                method: Method::Scp,
                direction: Direction::Upload,
                size: slowpath_units::ByteCount::new(1),
                client_options: options.iter().map(|&line| line.to_owned()).collect(),
                server_options: Vec::new(),
                content_seed: 0,
            };
            assert_eq!(multiplexed(&transfer), shared, "{options:?}");
        }
    }
}

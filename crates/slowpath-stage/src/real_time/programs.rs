//! Real programs in the hosts: start, output, end, version, and the processor time that they take.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use slowpath_scenario::plan::HostPlan;
use slowpath_units::Duration;
use slowpath_workload::external::Program;

use super::error::LabRunError;
use super::stage::{POLL, Work, failed};

/// A program at work in a host; it ends with its value.
#[derive(Debug)]
pub(super) struct Running {
    name: String,
    child: Child,
    output: Option<JoinHandle<String>>,
    errors: Option<JoinHandle<String>>,
}

/// What a program that has ended left.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) output: String,
    pub(super) errors: String,
}

impl Running {
    /// Writes the program's files, starts it and waits until it is ready.
    ///
    /// # Errors
    /// It cannot be started, or is not ready in time; its own messages are part of the error.
    pub(super) fn start(work: &Work<'_>, host: &HostPlan, program: &Program) -> Result<Self, LabRunError> {
        program.write_files().map_err(LabRunError::Scratch)?;
        let mut running = Self::spawn(work, host, &program.name, program.command())?;
        let ready = work.inside(host, || program.wait(START, &work.context))?;
        if let Err(error) = ready {
            let ended = running.kill();
            let said = ended.map(|ended| ended.errors).unwrap_or_default();
            return Err(LabRunError::Workload(format!("{error} {}", said.trim())));
        }
        Ok(running)
    }

    /// Starts any command.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn spawn(
        work: &Work<'_>,
        host: &HostPlan,
        name: &str,
        mut command: Command,
    ) -> Result<Self, LabRunError> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = work.stage.lab.spawn(&host.name, command)?;
        let output = child.stdout.take().map(reader);
        let errors = child.stderr.take().map(reader);
        Ok(Self {
            name: name.to_owned(),
            child,
            output,
            errors,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended.
    ///
    /// # Errors
    /// The system cannot tell.
    pub(super) fn has_ended(&mut self) -> Result<bool, LabRunError> {
        let ended = self.child.try_wait();
        Ok(ended
            .map_err(|error| failed(&format!("waiting for {}", self.name), &error))?
            .is_some())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// The run ends before.
    pub(super) fn wait(mut self, work: &Work<'_>) -> Result<Ended, LabRunError> {
        while !self.has_ended()? {
            if let Err(stop) = work.context.check() {
                return Err(failed(&format!("waiting for {}", self.name), &stop));
            }
            std::thread::sleep(POLL);
        }
        self.finish()
            .ok_or_else(|| LabRunError::Workload(format!("{} was lost", self.name)))
    }

    /// Ends it now.
    pub(super) fn kill(&mut self) -> Option<Ended> {
        let _ = self.child.kill();
        self.finish()
    }

    fn finish(&mut self) -> Option<Ended> {
        let status = self.child.wait().ok()?;
        let text = |reader: Option<JoinHandle<String>>| {
            reader
                .and_then(|reader| {
                    // A child of the program may keep the pipe open beyond its end.
                    for _ in 0..PATIENCE {
                        if reader.is_finished() {
                            return reader.join().ok();
                        }
                        std::thread::sleep(POLL);
                    }
                    None
                })
                .unwrap_or_default()
        };
        Some(Ended {
            status,
            output: text(self.output.take()),
            errors: text(self.errors.take()),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reader(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut buffer = [0_u8; 8192];
        // Everything is read so that the program never blocks, and a bounded part kept.
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if bytes.len() < MOST_OUTPUT {
                bytes.extend_from_slice(&buffer[..count]);
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// What a program says about its version: the first line of its output.
pub(super) fn version(program: &Program, arguments: &[&str]) -> String {
    version_of(&program.program, arguments).unwrap_or_else(|| program.name.clone())
}

/// The first line that `program` prints with `arguments`.
pub(super) fn version_of(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = [output.stdout, output.stderr].concat();
    let line = String::from_utf8_lossy(&text).lines().next()?.trim().to_owned();
    (!line.is_empty()).then_some(line)
}

/// How long a server program may take to listen.
const START: Duration = Duration::from_secs(5);

/// Looks after a reader that does not end.
const PATIENCE: u32 = 20;

/// Most bytes kept of a program's output: an hour of iperf3's intervals.
const MOST_OUTPUT: usize = 8 << 20;

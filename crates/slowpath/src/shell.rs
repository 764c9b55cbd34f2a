//! Any program over an emulated path.

use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use slowpath_lab::{
    HostSpec, KernelSettings, Lab, LabError, LabReport, LabSpec, PacketSink, Stack, WireSettings,
};
use slowpath_path::NetworkSpec;
use slowpath_record::CaptureRef;
use slowpath_scenario::plan::network_spec;
use slowpath_scenario::{Diagnostics, Fragments};

use crate::captures::{CaptureSpec, Captures};
use crate::load::{self, LoadError};
use crate::network::with_cards;

/// What to run over which path.
#[derive(Debug, Clone)]
pub struct ShellSpec {
    /// The path in one line, such as `rate 50 Mbit/s, delay 50 ms, loss 0.01 %`, each way.
    pub path: String,
    /// A shell command for the far host, started first.
    pub far: Option<String>,
    /// The program for the near host and its arguments.
    pub near: Vec<String>,
    /// Congestion control of both kernels.
    pub congestion_control: String,
    /// Seed of the path's random streams.
    pub seed: u64,
    /// Folder for captures at both hosts.
    pub capture: Option<PathBuf>,
}

/// What is left behind.
#[derive(Debug)]
pub struct ShellOutcome {
    /// How the near program ended.
    pub status: ExitStatus,
    /// The lab's account.
    pub report: LabReport,
    /// Capture files, if any were wanted.
    pub captures: Vec<CaptureRef>,
}

/// Why nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// The path has mistakes.
    #[error("{0}")]
    Path(Box<Diagnostics>),
    /// A file that the path names cannot be read.
    #[error(transparent)]
    File(#[from] LoadError),
    /// The path has an element that is not modelled.
    #[error("`{0}` is not modelled by this version; see LIMITATIONS.md")]
    NotModelled(&'static str),
    /// The lab cannot be built, or a program not be started.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A capture file cannot be written.
    #[error("{}", crate::input::unwritable(.path, .source, "--capture"))]
    Capture {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Waiting for the near program failed.
    #[error("waiting for the program failed: {0}")]
    Wait(#[source] std::io::Error),
}

/// Reads and checks a path.
///
/// # Errors
/// [`ShellError::Path`], [`ShellError::File`] or [`ShellError::NotModelled`].
pub fn network(path: &str) -> Result<NetworkSpec, ShellError> {
    let document =
        slowpath_scenario::parse_path(path).map_err(|mistakes| ShellError::Path(Box::new(mistakes)))?;
    let mut fragments = Fragments::new();
    for file in document.trace_files() {
        fragments.insert_trace(file.to_owned(), load::trace(file, &load::read(file.as_ref())?)?);
    }
    let spec = network_spec(&document, NEAR, FAR, &fragments)
        .map_err(|missing| ShellError::NotModelled(missing.what))?;
    spec.check().map_err(LabError::from)?;
    Ok(with_cards(spec, false))
}

/// Builds the path, runs the programs and waits for the near one; call it before the process has a second thread.
/// `far_failed` is told at once if the far program ends with a failure before the near one ends.
///
/// # Errors
/// [`ShellError`].
pub fn run(spec: &ShellSpec, far_failed: &mut dyn FnMut(ExitStatus)) -> Result<ShellOutcome, ShellError> {
    let network = network(&spec.path)?;
    slowpath_lab::enter()?;
    let kernel = KernelSettings {
        congestion_control: spec.congestion_control.clone(),
        settings: vec![("net.ipv4.tcp_no_metrics_save".to_owned(), "1".to_owned())],
        ..KernelSettings::default()
    };
    let host = |name: &str, address: IpAddr| HostSpec {
        name: name.to_owned(),
        addresses: vec![address],
        mtu: 1_500,
        stack: Stack::Kernel(kernel.clone()),
    };
    let lab_spec = LabSpec {
        hosts: vec![host(NEAR, NEAR_ADDRESS), host(FAR, FAR_ADDRESS)],
        network,
        seed: spec.seed,
        wire: WireSettings::default(),
    };
    let captures = capture_files(spec, &lab_spec)?;
    let sink = captures
        .clone()
        .map(|captures| Box::new(captures) as Box<dyn PacketSink>);
    let lab = Lab::build(&lab_spec, sink)?;
    let mut far = match &spec.far {
        None => None,
        Some(text) => {
            let mut command = Command::new("/bin/sh");
            // The near program's output may be read by another program; the far one's is for people.
            command.arg("-c").arg(format!("exec 1>&2\n{text}"));
            Some(start(&lab, FAR, command)?)
        }
    };
    let mut command = Command::new(&spec.near[0]);
    command.args(&spec.near[1..]);
    let mut near = start(&lab, NEAR, command)?;
    if let Some(far) = &mut far {
        watch(&mut near, far, far_failed).map_err(ShellError::Wait)?;
    }
    let status = near.wait().map_err(ShellError::Wait)?;
    if let Some(mut far) = far {
        let _ = far.kill();
        let _ = far.wait();
    }
    let report = lab.finish();
    let captures = match captures {
        None => Vec::new(),
        Some(captures) => captures
            .close(report.totals.capture_lost)
            .map_err(|(path, source)| ShellError::Capture { path, source })?,
    };
    Ok(ShellOutcome {
        status,
        report,
        captures,
    })
}

/// Whether this process was started by a shell, on one of its hosts, where nothing leaves the machine: `told` are the
/// addresses that the shell tells its programs. On any other network this is false even if somebody left the variables
/// of a shell behind.
pub fn is_inside(told: &[IpAddr]) -> bool {
    let ours = told
        .iter()
        .filter(|address| [NEAR_ADDRESS, FAR_ADDRESS].contains(address));
    ours.copied().any(slowpath_lab::is_inside)
}

/// Waits until one of two programs has ended, and tells of a failure of the far one. One that ended because somebody pressed
/// Ctrl-C has not failed.
fn watch(near: &mut Child, far: &mut Child, far_failed: &mut dyn FnMut(ExitStatus)) -> std::io::Result<()> {
    while near.try_wait()?.is_none() {
        if let Some(status) = far.try_wait()? {
            if !status.success() && status.signal() != Some(INTERRUPT) {
                far_failed(status);
            }
            break;
        }
        std::thread::sleep(STEP);
    }
    Ok(())
}

fn start(lab: &Lab, host: &str, mut command: Command) -> Result<Child, LabError> {
    command
        .env("SLOWPATH_NEAR", NEAR_ADDRESS.to_string())
        .env("SLOWPATH_FAR", FAR_ADDRESS.to_string());
    lab.spawn(host, command)
}

fn capture_files(spec: &ShellSpec, lab: &LabSpec) -> Result<Option<Captures>, ShellError> {
    let Some(folder) = &spec.capture else {
        return Ok(None);
    };
    let failed = |path: PathBuf, source| ShellError::Capture { path, source };
    let below = folder.join("captures");
    std::fs::create_dir_all(&below).map_err(|source| failed(below.clone(), source))?;
    let wanted = CaptureSpec {
        folder: folder.clone(),
        run: "shell".to_owned(),
        comment: spec.path.clone(),
        sender: NEAR.to_owned(),
        origin_ns: CaptureSpec::now(),
        ..CaptureSpec::over(&lab.network, 0)
    };
    Captures::create(wanted)
        .map(Some)
        .map_err(|(path, source)| failed(path, source))
}

/// The number of SIGINT.
const INTERRUPT: i32 = 2;
/// Time from one look at the programs to the next.
const STEP: std::time::Duration = std::time::Duration::from_millis(20);
/// Name of the host on which the user's program runs.
const NEAR: &str = "near";
/// Name of the host at the other end.
const FAR: &str = "far";
/// Addresses from the range for tests of network devices (RFC 2544, section C.2.2).
const NEAR_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 1, 2));
const FAR_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 2, 2));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_network_is_no_shell() {
        // Neither with every address that this machine could have, nor with those that a shell left behind.
        let own = ["127.0.0.1", "0.0.0.0", "::1", "192.0.2.1", "198.18.1.2"];
        let own: [IpAddr; 5] = own.map(|address| address.parse().unwrap());
        assert!(!is_inside(&own));
        assert!(!is_inside(&[]));
    }
}

//! The lab itself.

use std::os::unix::net::UnixStream;
use std::panic::resume_unwind;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use slowpath_endpoint::Report;
use slowpath_path::{Network, PacketSink, PortId};
use slowpath_record::Disturbances;
use slowpath_sys::process::Keeper;
use slowpath_sys::{clock, namespace};
use slowpath_units::{Duration, Time};

use crate::attach::Attachment;
use crate::error::LabError;
use crate::health::{self, Inputs, LabReport, Totals, judge};
use crate::kernel::KernelHost;
use crate::machine::Snapshot;
use crate::model::Model;
use crate::scales::{self, Scales, Transits};
use crate::spec::{LabSpec, Mounts, Stack};
use crate::tap;
use crate::wire::Wire;

/// A running lab: hosts, and the wire between them.
///
/// [`Lab::build`] starts it, [`Lab::run_in`], [`Lab::start_in`] and [`Lab::spawn`] put work into its hosts, and
/// [`Lab::finish`] ends it and gives its account. However this process ends, everything that the lab made ends with
/// it: namespaces and devices live by descriptors of this process, and programs in a PID namespace whose first
/// process waits for this one.
pub struct Lab {
    hosts: Vec<KernelHost>,
    ports: Vec<(String, PortId)>,
    elements: Vec<String>,
    keeper: Keeper,
    wires: Vec<JoinHandle<Wire>>,
    attachments: Vec<(PortId, Arc<Attachment>)>,
    reports: Mutex<Receiver<(String, Report)>>,
    tap: Option<JoinHandle<()>>,
    /// Closing these ends the wires.
    stops: Vec<UnixStream>,
    origin: u64,
    started_at: u64,
    before: Snapshot,
    /// How long the slowest link's queue takes to empty.
    queue: Option<Duration>,
}

impl Lab {
    /// Builds the hosts and starts the wire; `sink` receives every packet and its fate.
    ///
    /// # Errors
    /// When the network cannot be built, or this machine or process lacks a permission; see [`LabError`].
    pub fn build(spec: &LabSpec, sink: Option<Box<dyn PacketSink>>) -> Result<Self, LabError> {
        let ports = check(spec)?;
        // A model host both sends and receives: all that it touches runs on one thread, in model time.
        let modelled = spec
            .hosts
            .iter()
            .any(|host| matches!(host.stack, Stack::Model(_)));
        let parts = if modelled {
            vec![Network::build(&spec.network, spec.seed)?]
        } else {
            Network::build_parts(&spec.network, spec.seed)?
        };
        let failed = |what| move |source| LabError::Namespace { what, source };
        let keeper = Keeper::start().map_err(failed("process"))?;
        let (reporter, reports) = channel();
        let (mut hosts, mut attachments, mut models) = (Vec::new(), Vec::new(), Vec::new());
        for (host, (_, port)) in spec.hosts.iter().zip(&ports) {
            match &host.stack {
                Stack::Kernel(settings) => {
                    let (kernel, attachment) = KernelHost::build(host, settings, spec.wire.attachment)?;
                    hosts.push(kernel);
                    attachments.push((*port, Arc::new(attachment)));
                }
                Stack::Model(settings) => {
                    models.push(Model::new(
                        &host.name,
                        *port,
                        settings,
                        spec.seed,
                        reporter.clone(),
                    ));
                }
            }
        }
        let thread = |what| move |source| LabError::Thread { what, source };
        let (mut taps, tap) = match sink {
            Some(sink) => {
                let (taps, thread) = tap::start(sink, parts.len(), spec.wire.snap_length)
                    .map_err(thread("that writes captures"))?;
                (taps.into_iter().map(Some).collect(), Some(thread))
            }
            None => (Vec::new(), None),
        };
        taps.resize_with(parts.len(), || None);
        let origin = clock::monotonic();
        let mut lab = Self {
            hosts,
            ports,
            elements: spec
                .network
                .elements
                .iter()
                .map(|element| element.name.clone())
                .collect(),
            keeper,
            wires: Vec::new(),
            attachments,
            reports: Mutex::new(reports),
            tap,
            stops: Vec::new(),
            origin,
            started_at: clock::real_time(),
            before: Snapshot::take(),
            queue: scales::bottleneck_queue(&spec.network),
        };
        for (network, tap) in parts.into_iter().zip(taps) {
            let models = std::mem::take(&mut models);
            let wire = Wire::new(network, &lab.attachments, models, spec.wire.clone(), origin, tap);
            let (stop, stopped) = UnixStream::pair().map_err(thread("of the wire"))?;
            let running = std::thread::Builder::new().name("slowpath-wire".into());
            let running = running
                .spawn(move || wire.run(&stopped))
                .map_err(thread("of the wire"))?;
            lab.wires.push(running);
            lab.stops.push(stop);
        }
        Ok(lab)
    }

    /// Runs `work` on a thread inside a kernel host and waits for its result.
    ///
    /// Sockets opened there stay there. A panic of `work` goes on in the caller.
    ///
    /// # Errors
    /// [`LabError::NoHost`], or when the thread cannot enter the host.
    pub fn run_in<T: Send>(&self, host: &str, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
        let host = self.host(host)?;
        host.inside(work).map_err(|source| LabError::Namespace {
            what: "network",
            source,
        })
    }

    /// Starts `work` on a thread inside a kernel host.
    ///
    /// # Errors
    /// [`LabError::NoHost`], or when the thread cannot be started or enter the host.
    pub fn start_in<T: Send + 'static>(
        &self,
        host: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, LabError> {
        let host = self.host(host)?;
        let failed = |source| LabError::Namespace {
            what: "network",
            source,
        };
        let builder = std::thread::Builder::new().name(format!("in-{}", host.name));
        // The thread is started by one that is already inside: threads inherit their namespace.
        host.inside(|| builder.spawn(work))
            .and_then(|started| started)
            .map_err(failed)
    }

    /// Starts a program inside a kernel host; it ends with the lab, and so does whatever it starts.
    ///
    /// # Errors
    /// [`LabError::NoHost`], or [`LabError::Spawn`] when the program cannot be started.
    pub fn spawn(&self, host: &str, command: Command) -> Result<Child, LabError> {
        self.spawn_with(host, command, &Mounts::default())
    }

    /// Like [`Lab::spawn`], with mounts that only this program and its children see.
    ///
    /// An ordinary user's `sshd`, for example, wants an empty `/run` and its own `/etc/passwd`.
    ///
    /// # Errors
    /// [`LabError::NoHost`], or [`LabError::Spawn`] when a mount fails or the program cannot be started.
    pub fn spawn_with(&self, host: &str, mut command: Command, mounts: &Mounts) -> Result<Child, LabError> {
        let host = self.host(host)?;
        let program = command.get_program().to_string_lossy().into_owned();
        let started = host.inside(|| {
            if *mounts != Mounts::default() {
                namespace::unshare_mounts()?;
                mounts
                    .empty
                    .iter()
                    .try_for_each(|at| namespace::mount_tmpfs(at))?;
                mounts
                    .replaced
                    .iter()
                    .try_for_each(|(from, at)| namespace::mount_bind(from, at))?;
            }
            self.keeper.adopt_children()?;
            command.spawn()
        });
        started.and_then(|started| started).map_err(|source| {
            let hint = if source.kind() == std::io::ErrorKind::NotFound {
                "; install it, or give its full path"
            } else {
                ""
            };
            LabError::Spawn {
                host: host.name.clone(),
                program,
                source,
                hint,
            }
        })
    }

    /// Waits for the next report of a program on a model host: the host's name and the report.
    ///
    /// `None` when the time is over, or when no model host is left that could report.
    pub fn next_report(&self, patience: std::time::Duration) -> Option<(String, Report)> {
        let reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.recv_timeout(patience).ok()
    }

    /// The network's number for the port of `host`, as captures name it.
    pub fn port(&self, host: &str) -> Option<PortId> {
        self.ports
            .iter()
            .find(|(name, _)| name == host)
            .map(|(_, port)| *port)
    }

    /// Names of the network's elements by number, as captures name them.
    pub fn element_names(&self) -> &[String] {
        &self.elements
    }

    /// Time since the lab started.
    pub fn now(&self) -> Time {
        Time::from_nanos(clock::monotonic() - self.origin)
    }

    /// When the lab started, in nanoseconds since 1970.
    pub fn started_at(&self) -> u64 {
        self.started_at
    }

    /// How hosts are attached: `"TUN"` or `"veth"`.
    pub fn attachment(&self) -> &'static str {
        match self
            .attachments
            .first()
            .map(|(_, attachment)| attachment.as_ref())
        {
            Some(Attachment::Veth { .. }) => "veth",
            _ => "TUN",
        }
    }

    /// Whether a wire has ended before its time; [`Lab::finish`] then says why.
    pub fn failed(&self) -> bool {
        self.wires.iter().any(JoinHandle::is_finished)
    }

    /// Ends the lab: stops the wire, kills programs that still run, and gives the account.
    pub fn finish(mut self) -> LabReport {
        let elapsed = Duration::from_nanos(clock::monotonic() - self.origin);
        let machine = Snapshot::take().since(&self.before);
        self.stops.clear();
        let (mut stats, mut edges) = (Vec::new(), Vec::new());
        let mut elements = vec![None; self.elements.len()];
        for wire in self.wires.drain(..) {
            let wire = wire.join().unwrap_or_else(|panic| resume_unwind(panic));
            edges.push(wire.edges());
            let (network, of_wire) = wire.into_parts();
            for (id, name) in network.element_names() {
                elements[usize::from(id.0)] = network.counters(id).map(|counters| counters.to_record(name));
            }
            stats.push(of_wire);
        }
        if let Some(tap) = self.tap.take() {
            tap.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        let device_drops: u64 = self
            .hosts
            .iter()
            .filter_map(|host| host.link_stats().ok())
            .map(|stats| stats.tx_dropped + stats.rx_dropped)
            .chain(
                self.attachments
                    .iter()
                    .map(|(_, attachment)| attachment.take_drops()),
            )
            .sum();
        let socket_drops = self.hosts.iter().map(KernelHost::socket_drops).sum();
        let transits: Vec<_> = stats.iter().map(|wire| &wire.transits).collect();
        let inputs = Inputs {
            wires: &stats,
            machine,
            elapsed,
            device_drops,
            socket_drops,
            scales: Scales {
                round_trip: Transits::round_trip(&transits),
                queue: self.queue,
            },
        };
        let health = judge(&inputs);
        let sum = |pick: fn(&crate::wire::WireStats) -> u64| stats.iter().map(pick).sum::<u64>();
        let totals = Totals {
            sent: sum(|wire| wire.packets_sent),
            delivered: sum(|wire| wire.packets_delivered),
            dropped: sum(|wire| wire.packets_dropped),
            inside: sum(|wire| wire.inside),
            trains: sum(|wire| wire.trains_read),
            writes: sum(|wire| wire.writes),
            ignored: sum(|wire| wire.ignored),
            lost_outside: health.unexplained_drops,
            socket_drops,
            capture_lost: sum(|wire| wire.capture_lost),
        };
        let peak_bytes = stats.iter().map(|wire| wire.peak_bytes).collect();
        let wire_cpu = stats.iter().map(|wire| Duration::from_nanos(wire.cpu)).collect();
        let names = |wanted: Vec<PortId>| {
            let named = self.ports.iter().filter(|(_, port)| wanted.contains(port));
            named.map(|(name, _)| name.clone()).collect()
        };
        let wires = stats.into_iter().zip(edges);
        LabReport {
            health,
            disturbances: Disturbances {
                wires: wires
                    .map(|(wire, (from, to))| health::disturbances(wire, names(from), names(to)))
                    .collect(),
                ..Disturbances::default()
            },
            elements: elements.into_iter().flatten().collect(),
            totals,
            duration: elapsed,
            peak_bytes,
            wire_cpu,
            reports: self
                .reports
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .try_iter()
                .collect(),
        }
    }

    fn host(&self, name: &str) -> Result<&KernelHost, LabError> {
        self.hosts
            .iter()
            .find(|host| host.name == name)
            .ok_or_else(|| LabError::NoHost(name.to_owned()))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.stops.clear();
        for wire in self.wires.drain(..) {
            // A panicking wire has told its story already; a drop must not panic again.
            let _ = wire.join();
        }
        if let Some(tap) = self.tap.take() {
            let _ = tap.join();
        }
    }
}

/// Finds each host's port, and contradictions.
fn check(spec: &LabSpec) -> Result<Vec<(String, PortId)>, LabError> {
    let mut ports: Vec<(String, PortId)> = Vec::new();
    let mut addresses = Vec::new();
    for host in &spec.hosts {
        let position = spec.network.ports.iter().position(|port| port.name == host.name);
        let Some(position) = position else {
            let all: Vec<_> = spec.network.ports.iter().map(|port| port.name.as_str()).collect();
            return Err(LabError::NoPort {
                host: host.name.clone(),
                ports: all.join(", "),
            });
        };
        if ports.iter().any(|(name, _)| *name == host.name) {
            return Err(LabError::Twice(host.name.clone()));
        }
        for address in &host.addresses {
            if addresses.contains(address) {
                return Err(LabError::Twice(address.to_string()));
            }
            addresses.push(*address);
        }
        ports.push((
            host.name.clone(),
            PortId(u16::try_from(position).unwrap_or(u16::MAX)),
        ));
    }
    Ok(ports)
}

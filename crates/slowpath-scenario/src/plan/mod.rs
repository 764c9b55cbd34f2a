//! One run, ready for a backend: pure data, integers only.

mod alike;
mod digest;
mod endpoint;
mod lower;
mod marks;
mod record;
mod resolve;

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use slowpath_endpoint::InputLimit;
use slowpath_endpoint::app::Pace;
use slowpath_endpoint::tcp;
use slowpath_path::NetworkSpec;
use slowpath_record::Origin;
use slowpath_units::{ByteCount, Duration};

pub(crate) use lower::limit;
pub use lower::{NotModelled, network_spec};
pub use marks::MarksApart;
pub use resolve::PlanError;

use crate::assumption::Assumption;
use crate::experiment::Captures;
use crate::figure::Figure;
use crate::host::{KernelStack, SettingOrigin, System};
use crate::intervention::{Intervention, Who};
use crate::workload::{Direction, Workload};

/// One run of one variant.
///
/// Equal plans with equal seeds give equal simulated records. Both backends build from this and never
/// from text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's title.
    pub experiment: String,
    /// The variant's name.
    pub variant: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Seed of every random stream of this run; follows from the experiment's seed, variant and repeat.
    pub seed: u64,
    /// Which clock the run was planned for.
    pub clock: Clock,
    /// The hosts, each on the port of its own name.
    pub hosts: Vec<HostPlan>,
    /// The network between them.
    pub network: NetworkSpec,
    /// The jobs; the first one is measured.
    pub jobs: Vec<Job>,
    /// Which packets are recorded.
    pub captures: Captures,
    /// When the run is given up.
    pub deadline: Duration,
    /// Published figures to compare with.
    pub figures: Vec<Figure>,
    /// Parameters that no document of the user's sets, and how they were come by.
    pub assumptions: Vec<Assumption>,
    /// Changes made to this plan since it was planned, in order.
    #[serde(default)]
    pub changes: Vec<Intervention>,
    /// The size that the experiment asks for, when this run uses a smaller one.
    pub full_size: Option<ByteCount>,
}

/// Which clock drives a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// Simulated time: every host is a model endpoint.
    Simulated,
    /// Real time in the lab: hosts are the kernel, or model endpoints where the kernel cannot be pinned.
    Lab,
}

impl From<Clock> for Origin {
    fn from(clock: Clock) -> Self {
        match clock {
            Clock::Simulated => Self::Simulated,
            Clock::Lab => Self::Lab,
        }
    }
}

/// One host of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPlan {
    /// Its name, and that of its port.
    pub name: String,
    /// What kind of host it is.
    pub system: System,
    /// Its address.
    pub address: IpAddr,
    /// Largest IP packet of its interface, in bytes.
    pub mtu: u32,
    /// What runs it.
    pub stack: Stack,
    /// Where its settings came from.
    pub origins: Vec<SettingOrigin>,
}

impl HostPlan {
    /// Bytes of the IP header of what it sends: 20, or 40 where it speaks IPv6.
    pub const fn ip_header(&self) -> u32 {
        if self.address.is_ipv4() { 20 } else { 40 }
    }
}

/// What runs a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stack {
    /// The kernel's stack in a namespace, with these settings.
    Kernel(KernelStack),
    /// A model endpoint.
    Model(ModelStack),
}

/// A model endpoint's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelStack {
    /// Its TCP.
    pub tcp: tcp::Config,
    /// How fast its application takes what it receives.
    pub pace: Pace,
    /// How fast its own input handles packets, where that is slower than the network.
    #[serde(default)]
    pub input: Option<InputLimit>,
}

/// One job of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its name, for results.
    pub name: String,
    /// The host that asks.
    pub client: String,
    /// The host that answers.
    pub server: String,
    /// When it starts, from the start of the run.
    pub start: Duration,
    /// What it does.
    pub workload: Workload,
}

impl Job {
    /// Whether a transfer of that name is one of this job's: it bears the job's name, alone, before a stream's number, or as the name of
    /// the file.
    pub fn moved(&self, transfer: &str) -> bool {
        transfer
            .strip_prefix(&self.name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            || transfer
                .strip_suffix(&self.file())
                .is_some_and(|before| before.ends_with(' '))
    }

    /// The name of the file that a job beside the measured one moves between model hosts.
    pub fn file(&self) -> String {
        format!("{}.bin", self.name)
    }
}

/// Which run of an experiment to plan, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOptions {
    /// The variant's name.
    pub variant: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// The experiment's seed.
    pub seed: u64,
    /// Which clock will drive it.
    pub clock: Clock,
    /// Whether to use the smaller size that the experiment keeps for quick runs.
    pub quick: bool,
    /// A size that replaces the experiment's.
    pub size: Option<ByteCount>,
}

impl PlanOptions {
    /// The first run of a variant, at the experiment's own size.
    pub fn first(variant: &str, seed: u64, clock: Clock) -> Self {
        Self {
            variant: variant.to_owned(),
            repeat: 0,
            seed,
            clock,
            quick: false,
            size: None,
        }
    }
}

impl Plan {
    /// The host called `name`.
    pub fn host(&self, name: &str) -> Option<&HostPlan> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// The host called `name`, to be changed.
    pub fn host_mut(&mut self, name: &str) -> Option<&mut HostPlan> {
        self.hosts.iter_mut().find(|host| host.name == name)
    }

    /// The measured job.
    pub fn main_job(&self) -> &Job {
        &self.jobs[0]
    }

    /// The host that sends the bulk of the measured job's data; the client if both send.
    pub fn sender(&self) -> &str {
        let job = self.main_job();
        match job.workload.direction() {
            Direction::Download => &job.server,
            _ => &job.client,
        }
    }

    /// The host that receives the bulk of the measured job's data; the server if both receive.
    pub fn receiver(&self) -> &str {
        let job = self.main_job();
        match job.workload.direction() {
            Direction::Download => &job.client,
            _ => &job.server,
        }
    }

    /// The name of the host that a change is meant for.
    pub fn name_of<'a>(&'a self, who: &'a Who) -> &'a str {
        match who {
            Who::Sender => self.sender(),
            Who::Receiver => self.receiver(),
            Who::Named(name) => name,
        }
    }

    /// A digest of everything in the plan, as 32 hexadecimal digits; equal plans have equal digests.
    pub fn digest(&self) -> String {
        digest::of(self)
    }
}

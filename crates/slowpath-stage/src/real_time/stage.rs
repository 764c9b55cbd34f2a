//! What the jobs of a run have in common: hosts, time line, deadline, and reports of model hosts.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use slowpath_endpoint::Report;
use slowpath_lab::Lab;
use slowpath_record::{FlowResult, ProgramLoad, Reason, Series, TransferResult};
use slowpath_scenario::plan::{HostPlan, Job, Plan};
use slowpath_scenario::{KernelStack, Stack};
use slowpath_units::{Duration, Time};
use slowpath_workload::{Context, Permission, SocketOptions};

use super::error::LabRunError;

/// What a job left behind.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) transfers: Vec<TransferResult>,
    pub(super) flows: Vec<FlowResult>,
    pub(super) series: Vec<Series>,
    pub(super) programs: Vec<String>,
    /// How busy programs kept a processor.
    pub(super) loads: Vec<ProgramLoad>,
    pub(super) notes: Vec<String>,
    /// What speaks against taking the job's figures for the path's.
    pub(super) reasons: Vec<Reason>,
    /// Marks that the job's settings ask for: host and DSCP of most of what it sends.
    pub(super) marks: Vec<(String, u8)>,
}

/// The running lab and its plan.
pub(super) struct Stage<'a> {
    pub(super) lab: &'a Lab,
    pub(super) plan: &'a Plan,
    /// Reports of model hosts that nobody has asked for yet.
    unclaimed: Mutex<Vec<(String, Report)>>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(lab: &'a Lab, plan: &'a Plan) -> Self {
        Self {
            lab,
            plan,
            unclaimed: Mutex::default(),
        }
    }

    /// A context on the lab's time line that ends with the plan's deadline.
    pub(super) fn context(&self) -> Context {
        let age = self.lab.now().since(Time::ZERO).to_std();
        let now = Instant::now();
        Context::starting(now.checked_sub(age).unwrap_or(now))
            .with_permission(Permission::OwnNamespace)
            .with_timeout(self.plan.deadline)
    }

    /// Reports that no job has asked for.
    pub(super) fn into_unclaimed(self) -> Vec<(String, Report)> {
        self.unclaimed
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The next report that `wanted` takes; others wait for the jobs that want them.
    fn claim<T>(
        &self,
        patience: std::time::Duration,
        wanted: &dyn Fn(&str, &Report) -> Option<T>,
    ) -> Option<T> {
        let mut unclaimed = self.unclaimed.lock().unwrap_or_else(PoisonError::into_inner);
        let found = unclaimed
            .iter()
            .enumerate()
            .find_map(|(place, (host, report))| Some((place, wanted(host, report)?)));
        if let Some((place, taken)) = found {
            unclaimed.remove(place);
            return Some(taken);
        }
        let (host, report) = self.lab.next_report(patience)?;
        let taken = wanted(&host, &report);
        if taken.is_none() {
            unclaimed.push((host, report));
        }
        taken
    }
}

/// One job at work.
pub(super) struct Work<'a> {
    pub(super) stage: &'a Stage<'a>,
    pub(super) job: &'a Job,
    /// The job's own share of the run: bytes spent under it are the job's.
    pub(super) context: Context,
}

impl<'a> Work<'a> {
    pub(super) fn host(&self, name: &str) -> Result<&'a HostPlan, LabRunError> {
        self.stage
            .plan
            .host(name)
            .ok_or(LabRunError::Unsupported("a job whose host is not planned"))
    }

    pub(super) fn client(&self) -> Result<&'a HostPlan, LabRunError> {
        self.host(&self.job.client)
    }

    pub(super) fn server(&self) -> Result<&'a HostPlan, LabRunError> {
        self.host(&self.job.server)
    }

    /// Sleeps until the job's client may begin.
    ///
    /// # Errors
    /// The run ends before.
    pub(super) fn wait_for_start(&self) -> Result<(), LabRunError> {
        let start = start_of(self.stage.plan, self.job);
        let missing = start.since(self.context.now());
        if missing == Duration::ZERO {
            return Ok(());
        }
        self.context
            .sleep(missing)
            .map_err(|stop| LabRunError::Workload(stop.to_string()))
    }

    /// Waits for a report of a model host.
    ///
    /// # Errors
    /// The wire or the run ends before it comes.
    pub(super) fn await_report<T>(
        &self,
        what: &str,
        wanted: &dyn Fn(&str, &Report) -> Option<T>,
    ) -> Result<T, LabRunError> {
        loop {
            if let Some(taken) = self.stage.claim(POLL, wanted) {
                return Ok(taken);
            }
            if self.stage.lab.failed() {
                return Err(LabRunError::Workload(format!("the wire ended before {what} did")));
            }
            if let Err(stop) = self.context.check() {
                return Err(LabRunError::Workload(format!("{what} did not end: {stop}")));
            }
        }
    }

    /// A report of a model host, if one comes before `end`.
    ///
    /// # Errors
    /// The wire or the run ends.
    pub(super) fn claim_until<T>(
        &self,
        end: Time,
        wanted: &dyn Fn(&str, &Report) -> Option<T>,
    ) -> Result<Option<T>, LabRunError> {
        let patience = end.since(self.context.now()).to_std().min(POLL);
        let taken = self.stage.claim(patience, wanted);
        if self.stage.lab.failed() {
            return Err(LabRunError::Workload(
                "the wire ended before the job did".to_owned(),
            ));
        }
        self.context
            .check()
            .map_err(|stop| LabRunError::Workload(stop.to_string()))?;
        Ok(taken)
    }

    /// Runs `work` inside a kernel host.
    pub(super) fn inside<T: Send>(
        &self,
        host: &HostPlan,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, LabRunError> {
        Ok(self.stage.lab.run_in(&host.name, work)?)
    }
}

/// The kernel's settings of a host that must not be a model; `what` the lab cannot do otherwise.
pub(super) fn kernel<'h>(host: &'h HostPlan, what: &'static str) -> Result<&'h KernelStack, LabRunError> {
    match &host.stack {
        Stack::Kernel(stack) => Ok(stack),
        Stack::Model(_) => Err(LabRunError::Unsupported(what)),
    }
}

/// When a job's client begins, on the lab's time line.
pub(super) fn start_of(plan: &Plan, job: &Job) -> Time {
    let modelled = plan
        .hosts
        .iter()
        .any(|host| matches!(host.stack, Stack::Model(_)));
    // A model starts by the lab's clock, whether or not a server has been started by then.
    let base = if modelled { MODEL_START } else { Duration::ZERO };
    Time::ZERO + base + job.start
}

/// What a job's programs set on their sockets for a host's settings.
pub(super) fn socket_options(stack: &KernelStack) -> SocketOptions {
    SocketOptions {
        receive_buffer: stack.receive_buffer.map(slowpath_units::ByteCount::new),
        send_buffer: stack.send_buffer.map(slowpath_units::ByteCount::new),
        window_clamp: stack.window_clamp.map(slowpath_units::ByteCount::new),
        mss: stack.mss.map(u32::from),
        dscp: stack.dscp,
        pacing: stack.pacing,
        ..SocketOptions::default()
    }
}

/// The error of a workload with what was being done.
pub(super) fn failed(doing: &str, source: &dyn std::fmt::Display) -> LabRunError {
    LabRunError::Workload(format!("{doing}: {source}"))
}

/// Time that servers have to start before a model client may send.
pub(super) const MODEL_START: Duration = Duration::from_secs(1);

/// How often the end of something is looked for.
pub(super) const POLL: std::time::Duration = std::time::Duration::from_millis(50);

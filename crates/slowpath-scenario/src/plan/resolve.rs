//! From a checked experiment to one run.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use slowpath_units::Duration;

use crate::assumption::Assumption;
use crate::device::Fragments;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::experiment::{Experiment, Variant};
use crate::host::{HostDocument, HostSettings, StackChoice, System, may_be_a_kernels, modelled};
use crate::network::ElementKind;
use crate::plan::{Clock, HostPlan, Job, Plan, PlanOptions, Stack, digest, endpoint, lower};
use crate::span::Span;
use crate::workload::{Repeats, Workload, WorkloadDocument};

/// Why a run cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The experiment has no such variant.
    #[error("the experiment has no variant \"{name}\"; its variants are {known}")]
    UnknownVariant {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A device configuration that the experiment names has not been read.
    #[error("planning \"{variant}\": the configuration \"{file}\" of host \"{host}\" was not read")]
    MissingConfiguration {
        /// The variant.
        variant: String,
        /// The host.
        host: String,
        /// The file.
        file: String,
    },
    /// The document asks for something that no backend can do.
    #[error("{0}")]
    Document(Box<Diagnostics>),
    /// The network contradicts itself.
    #[error("planning \"{variant}\": {source}")]
    Network {
        /// The variant.
        variant: String,
        /// What is wrong.
        source: slowpath_path::BuildError,
    },
}

impl Experiment {
    /// Plans one run of one variant.
    ///
    /// `fragments` holds what the caller read from the files of [`Experiment::config_files`].
    ///
    /// # Errors
    /// An unknown variant, a configuration that was not read, or a setting that no backend has.
    pub fn plan(&self, options: &PlanOptions, fragments: &Fragments) -> Result<Plan, PlanError> {
        let variant = self
            .variant(&options.variant)
            .ok_or_else(|| PlanError::UnknownVariant {
                name: options.variant.clone(),
                known: self
                    .variants
                    .iter()
                    .map(|v| v.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })?;
        let (near, far) = (ends(variant, true), ends(variant, false));
        let network = lower::network(&variant.network, &near, &far, fragments).map_err(|missing| {
            let (message, help) = match missing.what {
                "device" => (
                    "the configuration of this device was not read".to_owned(),
                    "read the files of `device_uses` first",
                ),
                "trace" => (
                    "the recorded rate of this link was not read".to_owned(),
                    "read the files of `trace_files` first",
                ),
                other => (
                    format!("`{other}` is not modelled by this version"),
                    "see LIMITATIONS.md for what is planned",
                ),
            };
            self.document_error(missing.span, message, help)
        })?;
        network.check().map_err(|source| PlanError::Network {
            variant: variant.name.clone(),
            source,
        })?;
        let mut assumptions = assumptions_of_network(variant, fragments);
        let mut hosts = Vec::with_capacity(near.len() + far.len());
        for (name, address) in near.iter().chain(&far) {
            hosts.push(self.plan_host(
                variant,
                name,
                *address,
                options.clock,
                fragments,
                &mut assumptions,
            )?);
        }
        let content_seed = digest::seed(options.seed, &["content"]);
        let (jobs, full_size) = plan_jobs(variant, options, content_seed);
        Ok(Plan {
            experiment: self.title.clone(),
            variant: variant.name.clone(),
            repeat: options.repeat,
            seed: digest::seed(options.seed, &[&variant.name, &options.repeat.to_string()]),
            clock: options.clock,
            hosts,
            network,
            jobs,
            captures: variant.captures,
            deadline: variant.repeats.deadline.unwrap_or(DEFAULT_DEADLINE),
            figures: variant.figures.clone(),
            assumptions,
            changes: Vec::new(),
            full_size,
        })
    }

    fn plan_host(
        &self,
        variant: &Variant,
        name: &str,
        address: IpAddr,
        clock: Clock,
        fragments: &Fragments,
        assumptions: &mut Vec<Assumption>,
    ) -> Result<HostPlan, PlanError> {
        let document = variant.hosts.iter().find(|host| host.name == name);
        let system = document.map_or(System::Linux, |host| host.system);
        let settings = settings_of(variant, name, document, system, fragments)?;
        let in_lab = document
            .and_then(|host| host.stack)
            .unwrap_or_else(|| system.stack());
        let choice = match clock {
            Clock::Simulated => StackChoice::Model,
            Clock::Lab => in_lab,
        };
        let span = document.map_or(variant.jobs[0].span, |host| host.span);
        let stack = match choice {
            StackChoice::Kernel => {
                if let Some(name) = &settings.congestion_control
                    && !may_be_a_kernels(name)
                {
                    return Err(self.document_error(
                        span,
                        format!("no kernel has the congestion control \"{name}\""),
                        "write stack = \"model\", or run it with --clock simulated",
                    ));
                }
                Stack::Kernel(endpoint::kernel(system, &settings))
            }
            StackChoice::Model => {
                let settings = job_settings(variant, name, settings.clone());
                let for_kernel = in_lab == StackChoice::Kernel;
                let model = endpoint::model(system, &settings, for_kernel);
                let model = model.map_err(|congestion_control| {
                    self.document_error(
                        span,
                        format!("the model endpoint has no congestion control \"{congestion_control}\""),
                        &format!(
                            "choose one of {}, or run it with --clock lab",
                            crate::fields::words(modelled())
                        ),
                    )
                })?;
                Stack::Model(model)
            }
        };
        assumptions.extend(system.parameters().iter().map(|parameter| Assumption {
            place: name.to_owned(),
            name: parameter.name.to_owned(),
            value: parameter.value.to_string(),
            standing: parameter.standing,
            source: parameter.source.to_owned(),
        }));
        Ok(HostPlan {
            name: name.to_owned(),
            system,
            address,
            mtu: 1_500,
            stack,
            origins: settings.origins,
        })
    }

    fn document_error(&self, span: Span, message: String, help: &str) -> PlanError {
        let diagnostic = Diagnostic::error(span, message).help(help);
        debug_assert_eq!(diagnostic.severity, Severity::Error);
        PlanError::Document(Box::new(Diagnostics {
            list: vec![diagnostic],
            sources: self.warnings.sources.clone(),
        }))
    }
}

/// The document's own settings, over those of its configuration file, over the system's defaults.
fn settings_of(
    variant: &Variant,
    name: &str,
    document: Option<&HostDocument>,
    system: System,
    fragments: &Fragments,
) -> Result<HostSettings, PlanError> {
    let Some(document) = document else {
        return Ok(system.defaults());
    };
    let configured = match &document.config {
        None => HostSettings::default(),
        Some(file) => fragments
            .host(&file.name)
            .cloned()
            .ok_or_else(|| PlanError::MissingConfiguration {
                variant: variant.name.clone(),
                host: name.to_owned(),
                file: file.name.clone(),
            })?,
    };
    Ok(document.settings.clone().over(configured).over(system.defaults()))
}

/// What a job sets on the sockets of a model endpoint; on a kernel the program does so itself.
fn job_settings(variant: &Variant, host: &str, mut settings: HostSettings) -> HostSettings {
    let mine = variant
        .jobs
        .iter()
        .filter(|job| job.client == host || job.server == host);
    for test in mine.filter_map(|job| match &job.workload {
        Workload::Iperf3(test) => Some(test),
        _ => None,
    }) {
        // `-w` and `-M` reach both ends.
        settings.window = test.window.or(settings.window);
        settings.send_buffer = test.window.or(settings.send_buffer);
        settings.mss = test.mss.or(settings.mss);
    }
    settings
}

fn plan_jobs(
    variant: &Variant,
    options: &PlanOptions,
    content_seed: u64,
) -> (Vec<Job>, Option<slowpath_units::ByteCount>) {
    let Repeats { quick_size, .. } = variant.repeats;
    let full = variant.jobs[0].workload.size();
    let wanted = options.size.or(if options.quick { quick_size } else { None });
    let jobs = variant
        .jobs
        .iter()
        .enumerate()
        .map(|(index, job)| {
            let mut planned = plan_job(job, content_seed, variant.speaks_ipv6());
            if let (0, Some(size)) = (index, wanted) {
                planned.workload = planned.workload.with_size(size);
            }
            planned
        })
        .collect::<Vec<_>>();
    let used = jobs[0].workload.size();
    (jobs, full.filter(|full| used != Some(*full)))
}

fn plan_job(job: &WorkloadDocument, content_seed: u64, ipv6: bool) -> Job {
    let mut workload = job.workload.clone();
    match &mut workload {
        Workload::Ftp(ftp) => {
            ftp.content_seed = content_seed;
            if ipv6 {
                ftp.data = ftp.data.extended();
            }
        }
        Workload::Ssh(ssh) => ssh.content_seed = content_seed,
        _ => {}
    }
    Job {
        name: job.name.clone(),
        client: job.client.clone(),
        server: job.server.clone(),
        start: job.start,
        workload,
    }
}

/// The hosts of one end of the path with their addresses, in the order in which the jobs name them.
///
/// Hosts without an address of their own speak IPv6 where another one is given such an address.
fn ends(variant: &Variant, near: bool) -> Vec<(&str, IpAddr)> {
    let mut ends: Vec<(&str, IpAddr)> = Vec::new();
    for job in &variant.jobs {
        let name = if near { &job.client } else { &job.server };
        if ends.iter().any(|(known, _)| known == name) {
            continue;
        }
        let written = variant
            .hosts
            .iter()
            .find(|host| host.name == *name)
            .and_then(|host| host.address);
        let number = u8::try_from(ends.len()).unwrap_or(u8::MAX).saturating_add(FIRST);
        let net = if near { NEAR } else { FAR };
        let own = if variant.speaks_ipv6() {
            IpAddr::V6(Ipv6Addr::new(0x2001, 2, 0, net.into(), 0, 0, 0, number.into()))
        } else {
            IpAddr::V4(Ipv4Addr::new(198, 18, net, number))
        };
        ends.push((name, written.unwrap_or(own)));
    }
    ends
}

/// Queue lengths that the document left to the default are named: they decide what loss does.
fn assumptions_of_network(variant: &Variant, fragments: &Fragments) -> Vec<Assumption> {
    let mut found = Vec::new();
    for (way, elements) in [("up", &variant.network.up), ("down", &variant.network.down)] {
        for element in elements {
            if let ElementKind::Device(device) = &element.kind {
                found.extend(
                    fragments
                        .device(device)
                        .into_iter()
                        .flat_map(|read| read.assumptions.clone()),
                );
            }
            if let ElementKind::Link {
                queue,
                queue_given: false,
                ..
            } = &element.kind
            {
                found.push(Assumption {
                    place: format!("{way}.{}", element.name.as_deref().unwrap_or("rate")),
                    name: "queue".to_owned(),
                    value: queue.to_string(),
                    standing: crate::host::Standing::Assumed,
                    source: "nothing was written; Linux's own interface queue is that long".to_owned(),
                });
            }
        }
    }
    found
}

/// The networks of each end where the document gives no addresses, and the number of the first host there. The ranges
/// for measurements are 198.18.0.0/15 (RFC 2544) and 2001:2::/48 (RFC 5180).
const NEAR: u8 = 1;
const FAR: u8 = 2;
const FIRST: u8 = 2;

const DEFAULT_DEADLINE: Duration = Duration::from_secs(3_600);

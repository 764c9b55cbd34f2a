//! Applying a change to a plan.

use slowpath_endpoint::app::Pace;
use slowpath_endpoint::tcp::{
    CongestionControl, EcnMode as ModelEcn, LINUX_SHARE, Pacing, ReceiveWindow, SendBuffer,
};
use slowpath_packet::Dscp;
use slowpath_path::{self as path, ElementKind, ElementSpec, NetworkSpec, Target};
use slowpath_units::{BitRate, ByteCount, Duration, Ratio};

use crate::host::{EcnMode, KernelStack, Storage, System};
use crate::intervention::{Intervention, Place, Who};
use crate::network::QueueSize;
use crate::plan::{HostPlan, ModelStack, Plan, Stack, limit};
use crate::workload::{Iperf3Protocol, SshTransfer, Workload};

/// Why a change cannot be applied to a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The plan has no such host.
    #[error("cannot {change}: the plan has no host \"{host}\"")]
    UnknownHost {
        /// The change, in words.
        change: String,
        /// The host.
        host: String,
    },
    /// Nothing in the plan is of the kind that the change is about.
    #[error("cannot {change}: there is no {what} to change")]
    NothingToChange {
        /// The change, in words.
        change: String,
        /// What was looked for.
        what: &'static str,
    },
    /// The plan is as the change would make it.
    #[error("it has no effect to {change}: it is so already")]
    NoEffect {
        /// The change, in words.
        change: String,
    },
    /// The stack or the job cannot be set so.
    #[error("cannot {change}: {reason}")]
    Impossible {
        /// The change, in words.
        change: String,
        /// Why not.
        reason: &'static str,
    },
}

/// What went wrong, before it is put into words.
enum Fault {
    UnknownHost(String),
    Nothing(&'static str),
    Impossible(&'static str),
}

type Outcome = Result<(), Fault>;

impl Intervention {
    /// The plan with this change made and noted in it; the seed stays, so that both runs meet the same chances.
    ///
    /// # Errors
    /// The change finds nothing to change, is impossible here, or has no effect.
    pub fn apply(&self, plan: &Plan) -> Result<Plan, ApplyError> {
        let named = self.named(plan);
        let mut changed = plan.clone();
        named.edit(&mut changed).map_err(|fault| {
            let change = named.to_string();
            match fault {
                Fault::UnknownHost(host) => ApplyError::UnknownHost { change, host },
                Fault::Nothing(what) => ApplyError::NothingToChange { change, what },
                Fault::Impossible(reason) => ApplyError::Impossible { change, reason },
            }
        })?;
        if changed == *plan {
            return Err(ApplyError::NoEffect {
                change: named.to_string(),
            });
        }
        changed.changes.push(named);
        Ok(changed)
    }

    /// The same change with names in the place of roles.
    fn named(&self, plan: &Plan) -> Self {
        let mut named = self.clone();
        if let Some(who) = named.who_mut() {
            *who = Who::Named(plan.name_of(who).to_owned());
        }
        named
    }

    fn edit(&self, plan: &mut Plan) -> Outcome {
        match self {
            Self::SetWindow { host, window } => set_buffers_or_window(plan, host, *window),
            Self::SetSendBuffer { host, buffer } => set_send_buffer(host_of(plan, host)?, *buffer),
            Self::SetCongestionControl { host, name } => set_congestion_control(plan, host, name),
            Self::SetSack { host, on } => {
                match &mut host_of(plan, host)?.stack {
                    Stack::Kernel(kernel) => kernel.sack = Some(*on),
                    Stack::Model(model) => model.tcp.sack = *on,
                }
                Ok(())
            }
            Self::SetEcn { host, on } => {
                match &mut host_of(plan, host)?.stack {
                    Stack::Kernel(kernel) => kernel.ecn = Some(if *on { EcnMode::On } else { EcnMode::Off }),
                    Stack::Model(model) => {
                        model.tcp.ecn = if *on { ModelEcn::Request } else { ModelEcn::Off }
                    }
                }
                Ok(())
            }
            Self::SetInitialWindow { host, segments } => {
                match &mut host_of(plan, host)?.stack {
                    Stack::Kernel(kernel) => kernel.initial_window = Some(*segments),
                    Stack::Model(model) => model.tcp.initial_window = *segments,
                }
                Ok(())
            }
            Self::SetPacing { host, rate } => {
                match &mut host_of(plan, host)?.stack {
                    Stack::Kernel(kernel) => kernel.pacing = Some(*rate),
                    Stack::Model(model) => model.tcp.pacing = Pacing::Capped(*rate),
                }
                Ok(())
            }
            Self::SetDscp { host, dscp } => set_dscp(plan, host, *dscp),
            Self::SetMss { host, mss } => {
                match &mut host_of(plan, host)?.stack {
                    Stack::Kernel(kernel) => kernel.mss = Some(*mss),
                    Stack::Model(model) => model.tcp.mss = *mss,
                }
                Ok(())
            }
            Self::SetIpQos {
                host,
                interactive,
                bulk,
            } => set_ip_qos(plan, host, *interactive, *bulk),
            Self::SetStreams { count } => set_streams(plan, *count),
            Self::SetPartSize { size } => match &mut plan.jobs[0].workload {
                Workload::S3(load) => {
                    load.part_size = Some(*size);
                    Ok(())
                }
                _ => Err(Fault::Nothing("transfer in parts")),
            },
            Self::SetReader { host, rate } => {
                set_reader(host_of(plan, host)?, *rate);
                Ok(())
            }
            Self::SetWriter { host, rate } => set_writer(plan, host, *rate),
            Self::ScaleRate { place, percent } => scale_rate(&mut plan.network, place, *percent),
            Self::SetRate { place, rate } => set_rate(&mut plan.network, place, *rate),
            Self::SetDelay { place, delay } => set_delay(&mut plan.network, place, *delay),
            Self::SetLoss { place, chance } => set_loss(&mut plan.network, place, *chance),
            Self::ResizeQueue { place, queue } => resize_queue(&mut plan.network, place, *queue),
            Self::RemovePolicer { place } => remove_policers(&mut plan.network, place),
            Self::LiftDeviceLimit { place } => lift_device_limits(plan, place),
            Self::Remark { place, dscp } => remark(&mut plan.network, place, *dscp),
        }
    }
}

fn host_of<'p>(plan: &'p mut Plan, who: &Who) -> Result<&'p mut HostPlan, Fault> {
    let name = plan.name_of(who).to_owned();
    plan.host_mut(&name).ok_or(Fault::UnknownHost(name))
}

/// Sets a receiver's window. An iperf3 that sets the buffers of both ends itself, by `-w` or as those builds do that know no
/// automatic ones, is told to set both.
fn set_buffers_or_window(plan: &mut Plan, who: &Who, window: ByteCount) -> Outcome {
    let own = host_of(plan, who)?;
    let by_itself = own.system == System::WindowsIperf3;
    set_window(own, window)?;
    let receiver = plan.receiver() == plan.name_of(who);
    match &mut plan.jobs[0].workload {
        Workload::Iperf3(test) if receiver && (test.window.is_some() || by_itself) => {
            test.window = Some(window);
            set_send_buffer(host_of(plan, &Who::Sender)?, window)
        }
        _ => Ok(()),
    }
}

fn set_window(host: &mut HostPlan, window: ByteCount) -> Outcome {
    let bytes = window.bytes();
    let scaling = bytes > LARGEST_UNSCALED;
    let exact = host.system.scales_only_when_needed();
    let asked = if host.system == System::Linux {
        asked_of_linux(bytes)
    } else {
        bytes
    };
    match &mut host.stack {
        Stack::Kernel(kernel) => set_kernel_window(kernel, bytes, asked, exact),
        Stack::Model(model) => {
            let size =
                |bytes: u64| u32::try_from(bytes).map_err(|_| Fault::Impossible("no window is that large"));
            match &mut model.tcp.receive {
                ReceiveWindow::Exact { buffer, .. } => *buffer = size(bytes)?,
                // As the kernel does when a program asks for a buffer: it doubles what is asked for.
                ReceiveWindow::Autotuned { share_256, .. } | ReceiveWindow::Fixed { share_256, .. }
                    if *share_256 == LINUX_SHARE =>
                {
                    model.tcp.receive = ReceiveWindow::Fixed {
                        bytes: size(asked)?.saturating_mul(2),
                        share_256: LINUX_SHARE,
                    };
                }
                receive => {
                    *receive = ReceiveWindow::Fixed {
                        bytes: size(bytes)?.saturating_mul(2),
                        share_256: 128,
                    };
                }
            }
            model.tcp.window_scaling = if exact {
                scaling
            } else {
                model.tcp.window_scaling || scaling
            };
        }
    }
    Ok(())
}

/// What a program asks Linux for, by `SO_RCVBUF` or an experiment file's `window`, to have a window of so many bytes: the kernel takes
/// twice as much memory, of which full segments fill the share [`LINUX_SHARE`].
fn asked_of_linux(window: u64) -> u64 {
    (window * 128).div_ceil(u64::from(LINUX_SHARE))
}

fn set_kernel_window(kernel: &mut KernelStack, bytes: u64, asked: u64, exact: bool) {
    kernel.receive_buffer = Some(asked);
    kernel.rmem = None;
    if kernel.window_clamp.is_some() || exact {
        kernel.window_clamp = Some(bytes);
    }
    if exact {
        kernel.window_scaling = Some(bytes > LARGEST_UNSCALED);
    } else if bytes > LARGEST_UNSCALED && kernel.window_scaling == Some(false) {
        kernel.window_scaling = Some(true);
    }
    kernel.rmem_max = Some(kernel.rmem_max.unwrap_or(0).max(asked)).filter(|most| *most > DEFAULT_MAX);
}

fn set_send_buffer(host: &mut HostPlan, buffer: ByteCount) -> Outcome {
    let bytes = buffer.bytes();
    match &mut host.stack {
        Stack::Kernel(kernel) => {
            kernel.send_buffer = Some(bytes);
            kernel.wmem = None;
            kernel.wmem_max =
                Some(kernel.wmem_max.unwrap_or(0).max(bytes)).filter(|most| *most > DEFAULT_MAX);
        }
        Stack::Model(model) => {
            let bytes =
                u32::try_from(bytes).map_err(|_| Fault::Impossible("no send buffer is that large"))?;
            model.tcp.send_buffer = SendBuffer::Fixed { bytes };
        }
    }
    Ok(())
}

fn set_congestion_control(plan: &mut Plan, host: &Who, name: &str) -> Outcome {
    match &mut host_of(plan, host)?.stack {
        Stack::Kernel(kernel) => kernel.congestion_control = Some(name.to_owned()),
        Stack::Model(model) => {
            model.tcp.congestion = CongestionControl::by_name(name)
                .ok_or(Fault::Impossible("the model endpoint does not have it"))?;
        }
    }
    // A job that names its own would go on using it.
    for job in &mut plan.jobs {
        if let Workload::Iperf3(test) = &mut job.workload
            && test.congestion_control.is_some()
        {
            test.congestion_control = Some(name.to_owned());
        }
    }
    Ok(())
}

fn set_dscp(plan: &mut Plan, host: &Who, dscp: Dscp) -> Outcome {
    let host = host_of(plan, host)?;
    let name = host.name.clone();
    match &mut host.stack {
        Stack::Kernel(kernel) => kernel.dscp = Some(dscp),
        Stack::Model(model) => model.tcp.dscp = dscp,
    }
    for job in plan.jobs.iter_mut().filter(|job| job.client == name) {
        match &mut job.workload {
            Workload::Iperf3(test) => test.dscp = Some(dscp),
            Workload::Udp(stream) => stream.dscp = Some(dscp),
            Workload::Ping(ping) => ping.dscp = Some(dscp),
            _ => {}
        }
    }
    Ok(())
}

fn set_ip_qos(plan: &mut Plan, host: &Who, interactive: Option<Dscp>, bulk: Option<Dscp>) -> Outcome {
    let host = host_of(plan, host)?.name.clone();
    let word = |mark: Option<Dscp>| mark.map_or("none".to_owned(), ssh_word);
    let line = match (interactive, bulk) {
        (None, None) => "IPQoS none".to_owned(),
        (interactive, bulk) => format!("IPQoS {} {}", word(interactive), word(bulk)),
    };
    let mut found = false;
    for job in &mut plan.jobs {
        let Workload::Ssh(SshTransfer {
            client_options,
            server_options,
            ..
        }) = &mut job.workload
        else {
            continue;
        };
        let options = if job.client == host {
            client_options
        } else if job.server == host {
            server_options
        } else {
            continue;
        };
        options.retain(|option| !option.trim_start().to_ascii_lowercase().starts_with("ipqos"));
        options.push(line.clone());
        found = true;
    }
    if found {
        Ok(())
    } else {
        Err(Fault::Nothing("SSH transfer on that host"))
    }
}

/// The mark as `ssh_config` takes it: a name, or the whole byte as a decimal number.
fn ssh_word(mark: Dscp) -> String {
    let name = mark.to_string();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        (mark.value() << 2).to_string()
    }
}

fn set_streams(plan: &mut Plan, count: u32) -> Outcome {
    match &mut plan.jobs[0].workload {
        Workload::Iperf3(test) => test.streams = count.max(1),
        Workload::S3(load) => load.concurrency = count.max(1),
        _ => return Err(Fault::Nothing("parallel connection in this job")),
    }
    Ok(())
}

fn set_reader(host: &mut HostPlan, rate: Option<BitRate>) {
    match &mut host.stack {
        Stack::Kernel(kernel) => {
            kernel.storage = match (rate, kernel.storage) {
                (None, _) => None,
                (Some(rate), Some(storage)) => Some(Storage { rate, ..storage }),
                (Some(rate), None) => Some(Storage {
                    rate,
                    unit: ByteCount::new(65_536),
                    pause: Duration::ZERO,
                    chunk: ByteCount::new(4_096),
                }),
            };
        }
        Stack::Model(ModelStack { pace, .. }) => match (rate, pace) {
            (None, pace) => *pace = Pace::Unlimited,
            (
                Some(rate),
                Pace::Units {
                    unit,
                    bytes_per_s,
                    pause,
                    ..
                },
            ) => {
                let before = (*bytes_per_s).max(1);
                *bytes_per_s = (rate.bits_per_s() / 8).max(1);
                // A faster store pauses less: the pause keeps its share of each unit's time.
                let share = u128::from(pause.nanos()) * u128::from(before) / u128::from(*bytes_per_s);
                *pause = Duration::from_nanos(u64::try_from(share).unwrap_or(0));
                debug_assert!(*unit > 0);
            }
            (Some(rate), pace) => {
                *pace = Pace::Units {
                    unit: 65_536,
                    bytes_per_s: (rate.bits_per_s() / 8).max(1),
                    pause: Duration::ZERO,
                    chunk: 4_096,
                };
            }
        },
    }
}

/// What slows a sending program down is its job's setting; a program without one is as fast as it can be.
fn set_writer(plan: &mut Plan, host: &Who, rate: Option<BitRate>) -> Outcome {
    host_of(plan, host)?;
    match &mut plan.jobs[0].workload {
        Workload::Iperf3(test) if test.protocol == Iperf3Protocol::Tcp => {
            test.rate = rate;
            Ok(())
        }
        _ => Err(Fault::Nothing("rate of a sending program in this job")),
    }
}

/// Edits every element of `place` that `edit` finds to be of its kind.
fn each(
    network: &mut NetworkSpec,
    place: &Place,
    what: &'static str,
    mut edit: impl FnMut(&mut ElementKind) -> bool,
) -> Outcome {
    let mut found = false;
    for index in place.elements(network) {
        found |= edit(&mut network.elements[index].does);
    }
    if found { Ok(()) } else { Err(Fault::Nothing(what)) }
}

fn set_rate(network: &mut NetworkSpec, place: &Place, rate: BitRate) -> Outcome {
    if rate.bits_per_s() == 0 {
        return Err(Fault::Impossible("nothing passes at rate zero"));
    }
    each(network, place, "link", |kind| match kind {
        ElementKind::Link(link) => {
            match &mut link.rate {
                path::Rate::Bucket { rate: tokens, .. } => *tokens = rate,
                other => *other = path::Rate::Fixed(rate),
            }
            true
        }
        _ => false,
    })
}

/// Links with a rate by a trace keep it: their moments are recorded ones.
fn scale_rate(network: &mut NetworkSpec, place: &Place, percent: u32) -> Outcome {
    if percent == 0 {
        return Err(Fault::Impossible("nothing passes at rate zero"));
    }
    let scaled = |rate: BitRate| {
        let bits = u128::from(rate.bits_per_s()) * u128::from(percent) / 100;
        BitRate::new(u64::try_from(bits).unwrap_or(u64::MAX))
    };
    each(network, place, "link with a rate of its own", |kind| match kind {
        ElementKind::Link(link) => {
            match &mut link.rate {
                path::Rate::Fixed(rate) | path::Rate::Bucket { rate, .. } => *rate = scaled(*rate),
                path::Rate::Steps(steps) => {
                    for step in steps {
                        step.rate = scaled(step.rate);
                    }
                }
                path::Rate::Markov(markov) => {
                    for level in &mut markov.levels {
                        level.rate = scaled(level.rate);
                    }
                }
                path::Rate::Trace(_) => return false,
            }
            // A shaper on the link is as much faster as the link itself.
            if let path::Queue::Classes(classes) = &mut link.queue {
                let own = classes.classes.iter_mut();
                let rates = own.flat_map(|class| [&mut class.guarantee, &mut class.ceiling]);
                for rate in rates.chain([&mut classes.speed]).flatten() {
                    *rate = scaled(*rate);
                }
            }
            true
        }
        _ => false,
    })
}

fn set_delay(network: &mut NetworkSpec, place: &Place, delay: Duration) -> Outcome {
    each(network, place, "delay", |kind| match kind {
        ElementKind::Delay(element) => {
            element.delay = path::Span::Fixed(delay);
            true
        }
        _ => false,
    })
}

fn set_loss(network: &mut NetworkSpec, place: &Place, chance: Ratio) -> Outcome {
    each(network, place, "loss", |kind| match kind {
        ElementKind::Loss(loss) => {
            loss.model = path::LossModel::Random { chance };
            true
        }
        _ => false,
    })
}

fn resize_queue(network: &mut NetworkSpec, place: &Place, queue: QueueSize) -> Outcome {
    let mut countable = true;
    each(network, place, "queue", |kind| {
        let ElementKind::Link(link) = kind else {
            return false;
        };
        if let path::Queue::Fifo(fifo) = &mut link.queue {
            fifo.limit = limit(queue);
            return true;
        }
        let QueueSize::Packets(packets) = queue else {
            countable = false;
            return true;
        };
        match &mut link.queue {
            path::Queue::Fifo(_) => {}
            path::Queue::Classes(classes) => {
                for class in &mut classes.classes {
                    class.limit = packets;
                }
            }
            path::Queue::Red(red) => {
                let bytes = u64::from(packets) * FULL_FRAME;
                (red.min, red.max, red.limit) = (
                    ByteCount::new(bytes / 12),
                    ByteCount::new(bytes / 4),
                    ByteCount::new(bytes),
                );
            }
            path::Queue::Codel(codel) => codel.limit = packets,
            path::Queue::FqCodel(fair) => fair.codel.limit = packets,
            path::Queue::Pie(pie) => pie.limit = packets,
        }
        true
    })?;
    if countable {
        Ok(())
    } else {
        Err(Fault::Impossible("this kind of queue is counted in packets"))
    }
}

fn remove_policers(network: &mut NetworkSpec, place: &Place) -> Outcome {
    let mut found = false;
    let mut gone: Vec<(String, Target)> = Vec::new();
    for index in place.elements(network) {
        let element = &mut network.elements[index];
        match &mut element.does {
            ElementKind::Police(_) => {
                gone.push((element.name.clone(), element.outputs[0].clone()));
                found = true;
            }
            ElementKind::Treat(treat) => {
                let before = treat.treatments.len();
                treat
                    .treatments
                    .retain(|treatment| !matches!(treatment.action, path::CodeAction::Police(_)));
                found |= treat.treatments.len() < before;
            }
            _ => {}
        }
    }
    for (name, next) in gone {
        bridge(network, &name, &next);
    }
    if found {
        Ok(())
    } else {
        Err(Fault::Nothing("policer"))
    }
}

/// Takes an element out and leads everything that led to it to `next`.
fn bridge(network: &mut NetworkSpec, name: &str, next: &Target) {
    network.elements.retain(|element| element.name != name);
    let entries = network.ports.iter_mut().filter_map(|port| port.entry.as_mut());
    let outputs = network
        .elements
        .iter_mut()
        .flat_map(|element| &mut element.outputs);
    for target in entries.chain(outputs).filter(|target| target.to == name) {
        *target = next.clone();
    }
}

/// Devices on the way, and the input of the host that the place names.
fn lift_device_limits(plan: &mut Plan, place: &Place) -> Outcome {
    let mut found = false;
    for host in &mut plan.hosts {
        let meant = match place {
            Place::Element(name) => *name == host.name,
            Place::Towards(who) => who.named() == Some(&host.name),
            Place::Bottleneck(_) => false,
            Place::Everywhere => true,
        };
        if let Stack::Model(model) = &mut host.stack
            && meant
        {
            found |= model.input.take().is_some();
        }
    }
    let on_the_way = each(&mut plan.network, place, "device limit", |kind| match kind {
        ElementKind::Device(device) => {
            device.cost = path::Cost {
                per_packet: Duration::ZERO,
                per_byte_ps: 0,
                per_filter: Duration::ZERO,
                qos_per_packet: Duration::ZERO,
                qos_per_byte_ps: 0,
                ..device.cost
            };
            true
        }
        _ => false,
    });
    if found { Ok(()) } else { on_the_way }
}

/// Puts a remarker at the beginning of each way that leads to the place, or in front of the named element.
fn remark(network: &mut NetworkSpec, place: &Place, dscp: Dscp) -> Outcome {
    let does = ElementKind::Remark(path::Remark {
        rules: vec![path::RemarkRule {
            matches: path::Match::default(),
            set: path::SetMark::Dscp(dscp),
        }],
    });
    let reaching: Vec<String> = place
        .elements(network)
        .into_iter()
        .map(|index| network.elements[index].name.clone())
        .collect();
    let wanted = |target: &Target| match place {
        Place::Element(name) => target.to == *name,
        Place::Towards(who) => who.named() == Some(&target.to) || reaching.contains(&target.to),
        Place::Bottleneck(_) => reaching.contains(&target.to),
        Place::Everywhere => true,
    };
    let mut added = Vec::new();
    let mut insert = |source: &str, target: &mut Target| {
        let name = format!("remark.{source}");
        added.push(ElementSpec {
            name: name.clone(),
            does: does.clone(),
            outputs: vec![target.clone()],
        });
        *target = Target::to(name);
    };
    for port in &mut network.ports {
        if let Some(entry) = port.entry.as_mut().filter(|entry| wanted(entry)) {
            insert(&port.name, entry);
        }
    }
    if matches!(place, Place::Element(_)) {
        for element in &mut network.elements {
            let name = element.name.clone();
            for (number, target) in element.outputs.iter_mut().enumerate() {
                if wanted(target) {
                    insert(&format!("{name}.{number}"), target);
                }
            }
        }
    }
    let found = !added.is_empty();
    network.elements.extend(added);
    if found {
        Ok(())
    } else {
        Err(Fault::Nothing("such place"))
    }
}

/// The largest window that goes into a header without scaling.
const LARGEST_UNSCALED: u64 = 65_535;

/// Bytes of a full Ethernet frame without FCS.
const FULL_FRAME: u64 = 1_514;

/// Linux's own `rmem_max` and `wmem_max` in bytes.
const DEFAULT_MAX: u64 = 212_992;

//! From a plan's hosts to the lab's.

use slowpath_endpoint::HostConfig;
use slowpath_endpoint::app::Behaviour;
use slowpath_lab::{HostSpec, KernelSettings, ModelSettings, Stack as LabStack};
use slowpath_scenario::host::EcnMode;
use slowpath_scenario::{HostPlan, KernelStack, Plan, Stack, System};
use slowpath_units::Time;

use super::stage::MODEL_START;

/// The lab's hosts, model hosts with their programs.
pub(crate) fn specs(plan: &Plan) -> Vec<HostSpec> {
    plan.hosts.iter().map(|host| spec(plan, host)).collect()
}

fn spec(plan: &Plan, host: &HostPlan) -> HostSpec {
    let stack = match &host.stack {
        Stack::Kernel(kernel) => {
            let mut settings = kernel_settings(kernel);
            if host.system == System::WindowsIperf3 {
                let reassembly = REASSEMBLY.map(|(key, value)| (key.to_owned(), value.to_owned()));
                settings.settings.extend(reassembly);
            }
            LabStack::Kernel(settings)
        }
        Stack::Model(model) => LabStack::Model(Box::new(ModelSettings {
            config: HostConfig {
                addresses: vec![host.address],
                tcp: model.tcp.clone(),
                mtu: host.mtu,
                input: model.input,
            },
            programs: programs(plan, host),
        })),
    };
    HostSpec {
        name: host.name.clone(),
        addresses: vec![host.address],
        mtu: host.mtu,
        stack,
    }
}

/// What runs on a model host, and when it starts.
fn programs(plan: &Plan, host: &HostPlan) -> Vec<(Time, Behaviour)> {
    let mut programs = Vec::new();
    for job in &plan.jobs {
        // A job that no model can do is refused when it is run.
        let modelled = slowpath_sim::programs::programs(plan, job, host).unwrap_or_default();
        programs.extend(modelled.into_iter().map(|(at, behaviour)| match behaviour {
            // Waits for its server in either clock.
            Behaviour::FtpClient(_) => (at, behaviour),
            _ if at == Time::ZERO => (at, behaviour),
            _ => (at + MODEL_START, behaviour),
        }));
    }
    programs
}

fn kernel_settings(kernel: &KernelStack) -> KernelSettings {
    let mut settings = vec![("net.ipv4.tcp_no_metrics_save".to_owned(), "1".to_owned())];
    let mut set = |key: &str, value: String| settings.push((format!("net.ipv4.{key}"), value));
    let flag = |on: bool| u8::from(on).to_string();
    if let Some(on) = kernel.window_scaling {
        set("tcp_window_scaling", flag(on));
    }
    if let Some(on) = kernel.sack {
        set("tcp_sack", flag(on));
    }
    if let Some(on) = kernel.timestamps {
        set("tcp_timestamps", flag(on));
    }
    if let Some(mode) = kernel.ecn {
        let number = match mode {
            EcnMode::Off => 0,
            EcnMode::On => 1,
            EcnMode::Passive => 2,
        };
        set("tcp_ecn", number.to_string());
    }
    for (key, sizes) in [("tcp_rmem", kernel.rmem), ("tcp_wmem", kernel.wmem)] {
        if let Some([least, start, most]) = sizes {
            set(key, format!("{least} {start} {most}"));
        }
    }
    if kernel.slow_start_threshold.is_some() {
        // Both are needed for the route's threshold to be applied (net/ipv4/tcp_metrics.c, tcp_init_metrics).
        "0".clone_into(&mut settings[0].1);
        settings.push(("net.ipv4.tcp_no_ssthresh_metrics_save".to_owned(), "0".to_owned()));
    }
    KernelSettings {
        congestion_control: kernel
            .congestion_control
            .clone()
            .unwrap_or_else(|| "cubic".to_owned()),
        initial_window: kernel.initial_window,
        slow_start_threshold: kernel.slow_start_threshold,
        settings,
        ..KernelSettings::default()
    }
}

/// How much of incomplete datagrams is kept, and for how long in seconds.
///
/// Linux keeps their fragments for 30 s in 4 MB at most, and begins no new datagram while these are full: with
/// iperf3's lost fragments nothing arrives any more after 3 to 14 s. The hosts that this stands for went on.
const REASSEMBLY: [(&str, &str); 4] = [
    ("net.ipv4.ipfrag_high_thresh", "134217728"),
    ("net.ipv4.ipfrag_time", "1"),
    ("net.ipv6.ip6frag_high_thresh", "134217728"),
    ("net.ipv6.ip6frag_time", "1"),
];

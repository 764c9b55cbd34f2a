//! From a host's settings to the stack that runs it.

use slowpath_endpoint::app::Pace;
use slowpath_endpoint::tcp::{
    Config, CongestionControl, EcnMode as ModelEcn, LINUX_SHARE, Pacing, ReceiveWindow, SendBuffer,
};

use crate::host::{EcnMode, HostSettings, IPERF3_WRITE, KernelStack, Storage, System};
use crate::plan::ModelStack;

/// The kernel with these settings, as near to the system as it can be brought.
pub(super) fn kernel(system: System, settings: &HostSettings) -> KernelStack {
    let window = settings.window.map(slowpath_units::ByteCount::bytes);
    KernelStack {
        congestion_control: settings.congestion_control.clone(),
        window_scaling: offered_scaling(system, settings),
        sack: settings.sack,
        timestamps: settings.timestamps,
        ecn: settings.ecn,
        rmem: settings.rmem,
        wmem: settings.wmem,
        window_clamp: window.filter(|_| system != System::Linux),
        receive_buffer: window,
        send_buffer: settings.send_buffer.map(slowpath_units::ByteCount::bytes),
        rmem_max: settings
            .rmem_max
            .or(window.filter(|window| *window > DEFAULT_MAX)),
        wmem_max: settings.wmem_max.or_else(|| {
            settings
                .send_buffer
                .map(slowpath_units::ByteCount::bytes)
                .filter(|buffer| *buffer > DEFAULT_MAX)
        }),
        initial_window: settings.initial_window,
        slow_start_threshold: settings.slow_start_threshold,
        mss: settings.mss,
        pacing: settings.pacing,
        dscp: settings.dscp,
        qdisc: settings.qdisc.clone(),
        storage: settings.storage,
    }
}

/// A model endpoint with these settings; `for_kernel` where it stands for a host that the lab runs in the kernel.
pub(super) fn model(system: System, settings: &HostSettings, for_kernel: bool) -> Result<ModelStack, String> {
    let size = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let mut tcp = match system {
        System::Linux => Config::linux(),
        System::WindowsIperf3 => Config::windows_iperf3(),
        System::CiscoIosXe | System::CiscoIos => Config::cisco(
            settings.window.map(|window| size(window.bytes())),
            settings.sack.unwrap_or(false),
            settings.timestamps.unwrap_or(false),
        ),
    };
    if system == System::WindowsIperf3 {
        // Windows does not wait for more acknowledgements to fill a train, as Linux does.
        tcp.largest_train = 1;
    }
    if let Some(name) = &settings.congestion_control {
        tcp.congestion = CongestionControl::by_name(name).ok_or_else(|| name.clone())?;
    }
    if let Some(window) = settings.window {
        match &mut tcp.receive {
            ReceiveWindow::Exact { buffer, .. } => *buffer = size(window.bytes()),
            // SO_RCVBUF doubles what is asked for. Half of that holds data, until the kernel has weighed a full segment:
            // 64 KiB become a window of 80. A host that is a model in the lab too has the window that was written.
            receive => {
                let weighed = for_kernel && system == System::Linux;
                *receive = ReceiveWindow::Fixed {
                    bytes: size(window.bytes().saturating_mul(2)),
                    share_256: if weighed { LINUX_SHARE } else { 128 },
                };
            }
        }
    }
    if let Some([_, initial, maximum]) = settings.rmem
        && settings.window.is_none()
    {
        tcp.receive = ReceiveWindow::Autotuned {
            initial: size(initial),
            maximum: size(maximum),
            share_256: LINUX_SHARE,
        };
    }
    if let Some(buffer) = settings.send_buffer {
        // Winsock takes a whole write as long as less than the buffer's size is waiting.
        let beyond = if system == System::WindowsIperf3 {
            IPERF3_WRITE
        } else {
            0
        };
        tcp.send_buffer = SendBuffer::Fixed {
            bytes: size(buffer.bytes().saturating_add(beyond)),
        };
    } else if let Some([_, initial, maximum]) = settings.wmem {
        tcp.send_buffer = SendBuffer::Autotuned {
            initial: size(initial),
            maximum: size(maximum),
        };
    }
    if let Some(scaling) = offered_scaling(system, settings) {
        tcp.window_scaling = scaling;
    }
    tcp.sack = settings.sack.unwrap_or(tcp.sack);
    tcp.timestamps = settings.timestamps.unwrap_or(tcp.timestamps);
    tcp.mss = settings.mss.unwrap_or(tcp.mss);
    tcp.initial_window = settings.initial_window.unwrap_or(tcp.initial_window);
    tcp.slow_start_threshold = settings.slow_start_threshold;
    tcp.dscp = settings.dscp.unwrap_or(tcp.dscp);
    if let Some(ecn) = settings.ecn {
        tcp.ecn = match ecn {
            EcnMode::Off => ModelEcn::Off,
            EcnMode::On => ModelEcn::Request,
            EcnMode::Passive => ModelEcn::Accept,
        };
    }
    if let Some(rate) = settings.pacing {
        tcp.pacing = Pacing::Capped(rate);
    } else if settings.qdisc.as_deref() == Some("fq") {
        tcp.pacing = Pacing::On;
    }
    Ok(ModelStack {
        tcp,
        pace: settings.storage.map_or(Pace::Unlimited, pace),
        input: system.input(),
    })
}

/// Whether window scaling is offered: a router offers it only when its window needs it.
fn offered_scaling(system: System, settings: &HostSettings) -> Option<bool> {
    match settings.window {
        Some(window) if system.scales_only_when_needed() => Some(window.bytes() > 65_535),
        _ => settings.window_scaling,
    }
}

fn pace(storage: Storage) -> Pace {
    Pace::Units {
        unit: u32::try_from(storage.unit.bytes()).unwrap_or(u32::MAX),
        bytes_per_s: storage.rate.bits_per_s() / 8,
        pause: storage.pause,
        chunk: u32::try_from(storage.chunk.bytes()).unwrap_or(u32::MAX),
    }
}

/// Linux's own `rmem_max` and `wmem_max` in bytes.
const DEFAULT_MAX: u64 = 212_992;

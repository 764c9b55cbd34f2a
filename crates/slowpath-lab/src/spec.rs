//! What a lab is built from, as plain data.

use std::net::IpAddr;

use slowpath_path::NetworkSpec;
use slowpath_units::Duration;

/// A lab: hosts, the network between them, and how the wire works.
#[derive(Debug, Clone, PartialEq)]
pub struct LabSpec {
    /// The hosts; each attaches to the network's port of its own name.
    pub hosts: Vec<HostSpec>,
    /// The network in the middle. The first element behind each port should be the sender's network card: a link
    /// with its line rate, which spaces the packets of a train.
    pub network: NetworkSpec,
    /// Decides all chance in the network and in model hosts.
    pub seed: u64,
    /// How the wire works.
    pub wire: WireSettings,
}

/// One host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSpec {
    /// Its name, and that of its port.
    pub name: String,
    /// Its addresses; packets to anything else leave by the wire.
    pub addresses: Vec<IpAddr>,
    /// Largest IP packet in bytes.
    pub mtu: u32,
    /// Who it is.
    pub stack: Stack,
}

/// Who speaks TCP in a host.
#[derive(Debug, Clone, PartialEq)]
pub enum Stack {
    /// This machine's kernel, in a network namespace.
    Kernel(KernelSettings),
    /// A model, driven in real time.
    Model(Box<ModelSettings>),
}

/// Settings of a kernel host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSettings {
    /// Congestion control of its connections, pinned on the route.
    pub congestion_control: String,
    /// Initial congestion window in segments; `None` is the kernel's (10).
    pub initial_window: Option<u32>,
    /// Slow start threshold of its connections in segments, pinned on the route; `None` leaves it open. The kernel
    /// applies it from the second connection with a peer on.
    pub slow_start_threshold: Option<u32>,
    /// Smallest retransmission timeout in milliseconds; `None` is the kernel's (200).
    pub minimum_rto_ms: Option<u32>,
    /// Settings under `/proc/sys` of its namespace, such as `("net.ipv4.tcp_sack", "0")`, applied in order.
    pub settings: Vec<(String, String)>,
    /// Packets (a train counts as one) that may wait for the wire.
    pub queue_length: u32,
    /// Most wire packets that the kernel may put into one train; 1 turns trains off.
    pub train_segments: Option<u32>,
}

impl Default for KernelSettings {
    fn default() -> Self {
        Self {
            congestion_control: "cubic".to_owned(),
            initial_window: None,
            slow_start_threshold: None,
            minimum_rto_ms: None,
            settings: Vec::new(),
            queue_length: 50_000,
            train_segments: None,
        }
    }
}

/// Settings of a model host.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// The endpoint.
    pub config: slowpath_endpoint::HostConfig,
    /// Its programs and when each starts, from the start of the lab.
    pub programs: Vec<(slowpath_units::Time, slowpath_endpoint::app::Behaviour)>,
}

/// How the wire works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireSettings {
    /// How hosts are attached.
    pub attachment: Attach,
    /// Survivors of one train are handed over together if their deadlines lie within this span, as a network card
    /// with interrupt coalescing does. Zero: only what is due in one instant.
    pub join_window: Duration,
    /// Least time between two turns of the wire that only deliver, as a network card's interrupt moderation has it:
    /// a packet that follows another more closely may be late by so much, and travels in fewer, larger writes.
    pub turn_gap: Duration,
    /// Bytes that may be on the way in one direction; more is an error of the run, not a loss.
    pub memory: u64,
    /// Whether the model sees the kernel's trains as packets, as netem does.
    pub drop_unit: DropUnit,
    /// Bytes of each packet that captures keep.
    pub snap_length: u32,
    /// How long before a deadline the wire may watch the clock instead of sleeping; zero forbids it. `None` lets it
    /// make up for the machine's late wake-ups, at most 150 us each, in 3 % of the time (25 % from six processors on).
    pub spin: Option<Duration>,
}

impl Default for WireSettings {
    fn default() -> Self {
        Self {
            attachment: Attach::Auto,
            join_window: Duration::from_micros(50),
            turn_gap: Duration::from_micros(20),
            memory: 2 << 30,
            drop_unit: DropUnit::Packet,
            snap_length: 262_144,
            spin: None,
        }
    }
}

/// How kernel hosts are attached to the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Attach {
    /// TUN where it may be opened, else virtual Ethernet.
    #[default]
    Auto,
    /// TUN devices.
    Tun,
    /// A pair of virtual Ethernet devices and a packet socket per host.
    Veth,
}

/// What the model decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DropUnit {
    /// Wire packets.
    #[default]
    Packet,
    /// The kernel's trains of up to 64 KiB: one loss decision for all of it, as netem makes.
    Train,
}

/// What a program sees differently from the rest of the machine; see [`crate::Lab::spawn_with`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mounts {
    /// Directories that are empty at first and vanish with the program.
    pub empty: Vec<std::path::PathBuf>,
    /// Files or directories (second) in whose place another (first) is seen; done after `empty`.
    pub replaced: Vec<(std::path::PathBuf, std::path::PathBuf)>,
}

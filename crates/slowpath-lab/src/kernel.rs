//! A host that is this machine's kernel: a network namespace with one device that leads to the wire.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::panic::resume_unwind;

use slowpath_sys::namespace::NetworkNamespace;
use slowpath_sys::netlink::{Address, LinkChange, LinkStats, Netlink, Route, RouteMetrics};
use slowpath_sys::packet_socket::PacketSocket;
use slowpath_sys::process::user_and_group;
use slowpath_sys::sysctl;
use slowpath_sys::tun::Tun;

use crate::attach::Attachment;
use crate::error::LabError;
use crate::spec::{Attach, HostSpec, KernelSettings};

/// Name of the device inside each host.
pub(crate) const DEVICE: &str = "wire0";

/// A kernel host.
#[derive(Debug)]
pub(crate) struct KernelHost {
    pub(crate) name: String,
    namespace: NetworkNamespace,
}

impl KernelHost {
    /// Makes the namespace, its device, addresses, routes and settings.
    pub(crate) fn build(
        spec: &HostSpec,
        settings: &KernelSettings,
        attach: Attach,
    ) -> Result<(Self, Attachment), LabError> {
        let failed = |source| LabError::Namespace {
            what: "network",
            source,
        };
        let host = Self {
            name: spec.name.clone(),
            namespace: NetworkNamespace::create().map_err(failed)?,
        };
        host.inside(|| prepare(spec, settings)).map_err(failed)??;
        let attachment = host.attach(settings, attach)?;
        host.inside(|| configure(spec, settings)).map_err(failed)??;
        Ok((host, attachment))
    }

    /// Runs `work` on a thread inside the host and waits for it.
    pub(crate) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        within(&self.namespace, work)
    }

    /// Counters of the device.
    pub(crate) fn link_stats(&self) -> io::Result<LinkStats> {
        self.inside(|| Ok(Netlink::open()?.link(DEVICE)?.stats))?
    }

    /// Datagrams that the host's own sockets had no room for (`UdpRcvbufErrors`), IPv4 and IPv6.
    pub(crate) fn socket_drops(&self) -> u64 {
        self.inside(udp_buffer_errors).unwrap_or(0)
    }

    fn attach(&self, settings: &KernelSettings, attach: Attach) -> Result<Attachment, LabError> {
        let failed = |how| {
            let host = self.name.clone();
            move |source| LabError::Attach { host, how, source }
        };
        if attach != Attach::Veth {
            let made = self.inside(|| Tun::create(DEVICE, true)).and_then(|made| made);
            match (made, attach) {
                (Ok(tun), _) => return Ok(Attachment::Tun(tun)),
                (Err(source), Attach::Tun) => return Err(failed("TUN")(source)),
                (Err(_), _) => {}
            }
        }
        let (outside, socket, hardware) = self
            .attach_veth(settings)
            .map_err(failed("virtual Ethernet and packet socket"))?;
        Ok(Attachment::Veth {
            socket,
            host: hardware,
            _outside: outside,
        })
    }

    fn attach_veth(
        &self,
        settings: &KernelSettings,
    ) -> io::Result<(NetworkNamespace, PacketSocket, [u8; 6])> {
        let outside = NetworkNamespace::create()?;
        within(&outside, || {
            // Nobody speaks IPv6 out there, not even to find neighbours.
            let _ = sysctl::write("net.ipv6.conf.default.disable_ipv6", "1");
        })?;
        let hardware = self.inside(|| {
            let mut netlink = Netlink::open()?;
            netlink.add_veth(DEVICE, DEVICE, outside.as_fd())?;
            let link = netlink.link(DEVICE)?;
            netlink.change_link(
                link.index,
                &LinkChange {
                    no_arp: Some(true),
                    ..LinkChange::default()
                },
            )?;
            link.hardware
                .try_into()
                .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
        })??;
        let socket = within(&outside, || {
            let mut netlink = Netlink::open()?;
            let link = netlink.link(DEVICE)?;
            let change = LinkChange {
                up: Some(true),
                no_arp: Some(true),
                queue_length: Some(settings.queue_length),
                ..LinkChange::default()
            };
            netlink.change_link(link.index, &change)?;
            let socket = PacketSocket::open(link.index)?;
            socket.set_buffer(PACKET_BUFFER)?;
            Ok::<_, io::Error>(socket)
        })??;
        Ok((outside, socket, hardware))
    }
}

/// Runs `work` on a thread inside `namespace` and waits for it.
fn within<T: Send>(namespace: &NetworkNamespace, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("slowpath-host".into())
            .spawn_scoped(scope, || {
                namespace.enter()?;
                Ok(work())
            })?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Settings that must be there before the device is.
fn prepare(spec: &HostSpec, settings: &KernelSettings) -> Result<(), LabError> {
    let v6 = spec.addresses.iter().any(IpAddr::is_ipv6);
    let off = if v6 { "0" } else { "1" };
    // Quiet: no addresses or routers other than those given. A kernel without IPv6 has none of these.
    for (key, value) in [
        ("net.ipv6.conf.all.disable_ipv6", off),
        ("net.ipv6.conf.default.disable_ipv6", off),
        ("net.ipv6.conf.default.accept_ra", "0"),
        ("net.ipv6.conf.default.router_solicitations", "0"),
        ("net.ipv6.conf.default.addr_gen_mode", "1"),
        ("net.ipv6.conf.default.accept_dad", "0"),
    ] {
        let _ = sysctl::write(key, value);
    }
    let (_, group) = user_and_group();
    let groups = format!("{group} {group}");
    // Runs must not learn from one another; any program may ping.
    let own = [
        ("net.ipv4.tcp_no_metrics_save", "1"),
        ("net.ipv4.ping_group_range", &groups),
    ];
    let given = settings
        .settings
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()));
    for (key, value) in own.into_iter().chain(given) {
        sysctl::write(key, value).map_err(|source| setting(spec, format!("{key} = {value}"), source))?;
    }
    Ok(())
}

/// Addresses, routes and properties of the device.
fn configure(spec: &HostSpec, settings: &KernelSettings) -> Result<(), LabError> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |source| setting(spec, what, source)
    };
    let mut netlink = Netlink::open().map_err(failed("up a netlink socket"))?;
    let loopback = netlink.link("lo").map_err(failed("up loopback"))?;
    let up = LinkChange {
        up: Some(true),
        ..LinkChange::default()
    };
    netlink
        .change_link(loopback.index, &up)
        .map_err(failed("up loopback"))?;
    let link = netlink.link(DEVICE).map_err(failed("up the device"))?;
    let change = LinkChange {
        up: Some(true),
        no_arp: None,
        mtu: Some(spec.mtu),
        queue_length: Some(settings.queue_length),
        gso_max_size: None,
        gso_max_segments: settings.train_segments,
    };
    netlink
        .change_link(link.index, &change)
        .map_err(failed(&format!("the device to an MTU of {} bytes", spec.mtu)))?;
    for address in &spec.addresses {
        let own = Address {
            ip: *address,
            prefix: if address.is_ipv4() { 32 } else { 128 },
        };
        netlink
            .add_address(link.index, own)
            .map_err(failed(&format!("the address {address}")))?;
    }
    for v6 in [false, true] {
        let Some(source) = spec.addresses.iter().find(|address| address.is_ipv6() == v6) else {
            continue;
        };
        let anywhere: IpAddr = if v6 { [0; 16].into() } else { [0; 4].into() };
        let route = Route {
            destination: Address {
                ip: anywhere,
                prefix: 0,
            },
            link: link.index,
            gateway: None,
            source: Some(*source),
            metrics: RouteMetrics {
                congestion_control: Some(settings.congestion_control.clone()),
                initial_window: settings.initial_window,
                slow_start_threshold: settings.slow_start_threshold,
                minimum_rto_ms: settings.minimum_rto_ms,
                ..RouteMetrics::default()
            },
        };
        let what = format!(
            "the route with congestion control \"{}\"",
            settings.congestion_control
        );
        netlink.set_route(&route).map_err(failed(&what))?;
    }
    Ok(())
}

fn setting(spec: &HostSpec, what: String, source: io::Error) -> LabError {
    let hint = match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::InvalidInput if what.contains("congestion") => {
            "; the kernel has no such algorithm loaded: `modprobe tcp_NAME` as root, or choose another"
        }
        io::ErrorKind::NotFound => "; this kernel, or a namespace in it, has no such setting",
        io::ErrorKind::InvalidInput => "; the kernel refuses the value",
        _ => "",
    };
    LabError::Setting {
        host: spec.name.clone(),
        what,
        source,
        hint,
    }
}

fn udp_buffer_errors() -> u64 {
    let v4 = std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap_or_default();
    let v6 = std::fs::read_to_string("/proc/thread-self/net/snmp6").unwrap_or_default();
    let mut udp = v4.lines().filter(|line| line.starts_with("Udp:"));
    let position = udp
        .next()
        .and_then(|names| names.split_whitespace().position(|name| name == "RcvbufErrors"));
    let v4 = udp
        .next()
        .zip(position)
        .and_then(|(values, position)| values.split_whitespace().nth(position)?.parse::<u64>().ok());
    let v6 = v6
        .lines()
        .find_map(|line| line.strip_prefix("Udp6RcvbufErrors"))
        .and_then(|value| value.trim().parse::<u64>().ok());
    v4.unwrap_or(0) + v6.unwrap_or(0)
}

/// Receive buffer of a packet socket in bytes; beyond `net.core.rmem_max` only where permitted.
const PACKET_BUFFER: i32 = 256 << 20;

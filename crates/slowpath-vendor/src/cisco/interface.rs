//! Lines of an interface.

use slowpath_units::BitRate;

use crate::notes::Outcome;
use crate::text::number;

/// What a configuration says about one interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interface {
    /// `bandwidth`: what percentages and routing metrics refer to; it shapes nothing.
    pub bandwidth: Option<BitRate>,
    /// `speed`: the rate of the port, where it is not negotiated.
    pub speed: Option<BitRate>,
    /// `mtu` in bytes.
    pub mtu: Option<u32>,
    /// `ip mtu` in bytes.
    pub ip_mtu: Option<u32>,
    /// `ip tcp adjust-mss` in bytes.
    pub adjust_mss: Option<u16>,
    /// Policy for packets that come in.
    pub input_policy: Option<String>,
    /// Policy for packets that go out.
    pub output_policy: Option<String>,
    /// `hold-queue ... out` in packets.
    pub hold_queue: Option<u32>,
    /// Number of `tunnel` lines: the interface encapsulates.
    pub tunnel: bool,
}

impl Interface {
    /// What percentages of policies refer to: `bandwidth`, else the speed of the port; `None` where neither is written.
    pub fn reference(&self) -> Option<BitRate> {
        self.bandwidth.or(self.speed)
    }
}

pub(super) fn read(words: &[&str], interface: &mut Interface) -> Option<Outcome> {
    Some(match words {
        ["bandwidth", kbit] => match number::<u64>(kbit).and_then(|kbit| kbit.checked_mul(1_000)) {
            Some(bits) => {
                interface.bandwidth = Some(BitRate::new(bits));
                Outcome::modelled(format!(
                    "percentages of policies refer to {}; the line itself limits nothing",
                    BitRate::new(bits)
                ))
            }
            None => Outcome::refused("the bandwidth is a number of kbit/s"),
        },
        ["bandwidth", "receive", _] | ["bandwidth", "qos-reference", ..] => {
            Outcome::not_modelled("a reference for percentages of policies")
        }
        ["mtu", bytes] => match number::<u32>(bytes) {
            Some(bytes @ 64..=18_000) => {
                interface.mtu = Some(bytes);
                Outcome::modelled(format!(
                    "packets of up to {bytes} bytes leave this interface whole"
                ))
            }
            _ => Outcome::refused("the MTU is 64 to 18000 bytes"),
        },
        ["ip", "mtu", bytes] => match number::<u32>(bytes) {
            Some(bytes @ 68..=18_000) => {
                interface.ip_mtu = Some(bytes);
                Outcome::modelled(format!(
                    "IP packets above {bytes} bytes are fragmented or refused"
                ))
            }
            _ => Outcome::refused("the IP MTU is 68 to 18000 bytes"),
        },
        ["ip" | "ipv6", "tcp", "adjust-mss", bytes] => match number::<u16>(bytes) {
            Some(bytes @ 500..=1_460) => {
                interface.adjust_mss = Some(bytes);
                Outcome::modelled(format!(
                    "segments of passing connections carry at most {bytes} bytes"
                ))
            }
            _ => Outcome::refused("the segment size is 500 to 1460 bytes"),
        },
        ["service-policy", "input", name] => {
            interface.input_policy = Some((*name).to_owned());
            Outcome::modelled(format!("policy {name} acts on packets that come in"))
        }
        ["service-policy", "output", name] => {
            interface.output_policy = Some((*name).to_owned());
            Outcome::modelled(format!("policy {name} acts on packets that go out"))
        }
        ["hold-queue", packets, "out"] => match number::<u32>(packets) {
            Some(packets) => {
                interface.hold_queue = Some(packets);
                Outcome::modelled(format!("{packets} packets wait at most without a policy"))
            }
            None => Outcome::refused("the queue is a number of packets"),
        },
        ["hold-queue", _, "in"] => Outcome::not_modelled("how many received packets wait for the processor"),
        ["tx-ring-limit", ..] => {
            Outcome::not_modelled("how many packets wait in the hardware, in front of any policy")
        }
        ["fair-queue", ..] => Outcome::not_modelled("flows share the interface evenly"),
        ["speed" | "duplex", "half"] => {
            Outcome::not_modelled("half duplex: collisions, and little throughput in two directions")
        }
        [
            "speed",
            megabits @ ("10" | "100" | "1000" | "2500" | "5000" | "10000" | "25000" | "40000" | "100000"),
        ] => {
            let speed = number::<u64>(megabits).map(|megabits| BitRate::new(megabits * 1_000_000))?;
            interface.speed = Some(speed);
            Outcome::modelled(format!(
                "the port runs at {speed}, and what policies divide is that"
            ))
        }
        ["speed", ..] | ["no", "speed", ..] => {
            interface.speed = None;
            Outcome::ignored()
        }
        ["tunnel", ..] => {
            interface.tunnel = true;
            Outcome::not_modelled("packets are encapsulated: 24 bytes for GRE, 20 for IP in IP")
        }
        ["rate-limit", ..] => Outcome::not_modelled("packets above a rate are dropped or marked"),
        ["random-detect", ..] => {
            Outcome::not_modelled("packets are dropped at random before the queue is full")
        }
        ["traffic-shape", ..] => Outcome::not_modelled("packets are held back to a rate"),
        ["ip", "access-group", ..] => Outcome::not_modelled("packets that a list denies are dropped"),
        [
            "description" | "ip" | "ipv6" | "no" | "shutdown" | "negotiation" | "duplex" | "media-type"
            | "cdp" | "lldp" | "load-interval" | "encapsulation" | "switchport" | "spanning-tree"
            | "channel-group" | "standby" | "vrf" | "keepalive" | "carrier-delay" | "arp" | "snmp"
            | "logging" | "storm-control" | "power" | "pppoe" | "pppoe-client" | "dialer" | "ppp" | "crypto"
            | "zone-member" | "delay" | "flow" | "platform" | "xconnect" | "mac-address" | "bfd" | "ntp"
            | "peer" | "clock" | "exit",
            ..,
        ] => Outcome::ignored(),
        _ => return None,
    })
}

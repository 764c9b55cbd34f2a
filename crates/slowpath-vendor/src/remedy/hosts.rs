//! OpenSSH, sysctl and tc.

use slowpath_packet::{Dscp, Ecn};
use slowpath_scenario::Intervention;
use slowpath_scenario::network::QueueSize;
use slowpath_units::BitRate;

use super::change::{Place, Remedy, lines_with};
use crate::reading::Language;

pub(super) fn ssh(intervention: &Intervention, place: Place<'_>) -> Option<Remedy> {
    let line = match intervention {
        Intervention::SetIpQos {
            interactive: None,
            bulk: None,
            ..
        } => "IPQoS none".to_owned(),
        Intervention::SetIpQos {
            interactive, bulk, ..
        } => format!("IPQoS {} {}", word(*interactive), word(*bulk)),
        Intervention::SetDscp { dscp, .. } if *dscp == Dscp::DEFAULT => "IPQoS none".to_owned(),
        Intervention::SetDscp { dscp, .. } => format!("IPQoS {}", word(Some(*dscp))),
        _ => return None,
    };
    let replaces = lines_with(place, Language::Ssh, "ipqos");
    Some(
        Remedy::new(Language::Ssh, [line])
            .replacing(replaces)
            .note("at the end that sends the data; for the client put it above any Host block or under Host *, where the first value wins"),
    )
}

/// A mark as `IPQoS` takes it: a name, or the whole byte in decimal, which every version reads.
fn word(mark: Option<Dscp>) -> String {
    let Some(mark) = mark else {
        return "none".to_owned();
    };
    let name = mark.to_string();
    let known = name.starts_with("cs") || name.starts_with("af") || name == "ef";
    if known {
        name
    } else {
        mark.tos(Ecn::NotEct).to_string()
    }
}

pub(super) fn sysctl(intervention: &Intervention) -> Option<Remedy> {
    let on_off = |on: bool| u8::from(on);
    Some(match intervention {
        Intervention::SetWindow { window, .. } => {
            // Half of a receive buffer is advertised as window.
            let buffer = window.bytes().saturating_mul(2).max(LEAST_BUFFER);
            Remedy::new(
                Language::Sysctl,
                [format!("net.ipv4.tcp_rmem = 4096 131072 {buffer}")],
            )
            .note("for programs that set no buffer themselves; about half of the buffer becomes window")
        }
        Intervention::SetSendBuffer { buffer, .. } => {
            let bytes = buffer.bytes().max(LEAST_BUFFER);
            Remedy::new(
                Language::Sysctl,
                [format!("net.ipv4.tcp_wmem = 4096 16384 {bytes}")],
            )
            .note("for programs that set no buffer themselves")
        }
        Intervention::SetCongestionControl { name, .. } => Remedy::new(
            Language::Sysctl,
            [format!("net.ipv4.tcp_congestion_control = {name}")],
        )
        .note("at the end that sends the data; holds for connections opened afterwards, no reboot is needed"),
        Intervention::SetSack { on, .. } => {
            Remedy::new(Language::Sysctl, [format!("net.ipv4.tcp_sack = {}", on_off(*on))])
        }
        Intervention::SetEcn { on, .. } => {
            Remedy::new(Language::Sysctl, [format!("net.ipv4.tcp_ecn = {}", on_off(*on))])
        }
        _ => return None,
    })
}

pub(super) fn tc(intervention: &Intervention, place: Place<'_>) -> Option<Remedy> {
    let device = place.interface.unwrap_or("eth0");
    Some(match intervention {
        Intervention::SetPacing { rate, .. } => Remedy::new(
            Language::Tc,
            [format!(
                "tc qdisc replace dev {device} root fq maxrate {}bit",
                rate.bits_per_s()
            )],
        )
        .note("each connection is paced at that rate at most"),
        Intervention::SetRate { rate, .. } => {
            let burst = bucket_of(*rate);
            Remedy::new(
                Language::Tc,
                [format!(
                    "tc qdisc replace dev {device} root tbf rate {}bit burst {burst} latency 50ms",
                    rate.bits_per_s()
                )],
            )
        }
        Intervention::ResizeQueue {
            queue: QueueSize::Packets(packets),
            ..
        } => Remedy::new(
            Language::Tc,
            [format!(
                "tc qdisc replace dev {device} root pfifo limit {packets}"
            )],
        ),
        Intervention::ResizeQueue {
            queue: QueueSize::Bytes(bytes),
            ..
        } => Remedy::new(
            Language::Tc,
            [format!(
                "tc qdisc replace dev {device} root bfifo limit {}",
                bytes.bytes()
            )],
        ),
        _ => return None,
    })
}

/// A shaper's bucket in bytes: a millisecond of its rate, and at least two full frames.
pub(super) fn bucket_of(rate: BitRate) -> u64 {
    (rate.bits_per_s() / 8_000).max(LEAST_BUCKET)
}

/// Two full frames, bytes.
pub(super) const LEAST_BUCKET: u64 = 3_028;

/// A buffer below this helps nobody.
const LEAST_BUFFER: u64 = 262_144;

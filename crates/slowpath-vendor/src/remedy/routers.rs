//! Cisco IOS and Yamaha RTX.

use slowpath_scenario::Intervention;
use slowpath_scenario::network::QueueSize;

use super::change::{Place, Remedy, lines_with};
use crate::reading::{Config, Language};

pub(super) fn ios(intervention: &Intervention, place: Place<'_>) -> Option<Remedy> {
    let interface = place.interface.unwrap_or("GigabitEthernet0/0");
    let replaces = |start: &str| lines_with(place, Language::Ios, start);
    Some(match intervention {
        Intervention::SetWindow { window, .. } => {
            let remedy = Remedy::new(Language::Ios, [format!("ip tcp window-size {}", window.bytes())])
                .replacing(replaces("ip tcp window-size"));
            if window.bytes() > 65_535 {
                remedy.note(
                    "above 65535 bytes window scaling is offered; it holds for connections opened afterwards",
                )
            } else {
                remedy.note("up to 65535 bytes no window scaling is offered")
            }
        }
        Intervention::SetSack { on: true, .. } => Remedy::new(Language::Ios, ["ip tcp selective-ack"]),
        Intervention::SetSack { on: false, .. } => Remedy::new(Language::Ios, ["no ip tcp selective-ack"])
            .replacing(replaces("ip tcp selective-ack")),
        Intervention::SetEcn { on: true, .. } => Remedy::new(Language::Ios, ["ip tcp ecn"]),
        Intervention::SetEcn { on: false, .. } => {
            Remedy::new(Language::Ios, ["no ip tcp ecn"]).replacing(replaces("ip tcp ecn"))
        }
        Intervention::SetMss { mss, .. } => Remedy::new(
            Language::Ios,
            [
                format!("interface {interface}"),
                format!(" ip tcp adjust-mss {}", mss.clamp(&500, &1_460)),
            ],
        )
        .note("for connections through the router; `ip tcp mss` is for its own"),
        Intervention::Remark { dscp, .. } => Remedy::new(
            Language::Ios,
            [
                "policy-map REMARK".to_owned(),
                " class class-default".to_owned(),
                format!(
                    "  set dscp {}",
                    if dscp.value() == 0 {
                        "default".to_owned()
                    } else {
                        dscp.to_string()
                    }
                ),
                format!("interface {interface}"),
                " service-policy input REMARK".to_owned(),
            ],
        ),
        Intervention::RemovePolicer { .. } => {
            let Config::Ios(config) = &place.reading?.config else {
                return None;
            };
            let (policy, class) = config.policy_maps.iter().find_map(|(name, policy)| {
                policy
                    .classes
                    .iter()
                    .find(|class| class.police.is_some())
                    .map(|class| (name, &class.class))
            })?;
            Remedy::new(
                Language::Ios,
                [
                    format!("policy-map {policy}"),
                    format!(" class {class}"),
                    "  no police".to_owned(),
                ],
            )
            .replacing(replaces("police"))
        }
        Intervention::ResizeQueue {
            queue: QueueSize::Packets(packets),
            ..
        } => Remedy::new(
            Language::Ios,
            [
                format!("interface {interface}"),
                format!(" hold-queue {packets} out"),
            ],
        )
        .note("without a policy on the interface; with one, write `queue-limit` in its class"),
        Intervention::SetRate { rate, .. } => Remedy::new(
            Language::Ios,
            [
                "policy-map SHAPE".to_owned(),
                " class class-default".to_owned(),
                format!("  shape average {}", rate.bits_per_s()),
                format!("interface {interface}"),
                " service-policy output SHAPE".to_owned(),
            ],
        ),
        _ => return None,
    })
}

pub(super) fn rtx(intervention: &Intervention, place: Place<'_>) -> Option<Remedy> {
    let interface = place.interface.unwrap_or("lan1");
    let config = place.reading.and_then(|reading| match &reading.config {
        Config::Rtx(config) => Some(config),
        _ => None,
    });
    Some(match intervention {
        Intervention::Remark { dscp, .. } => {
            let filter = free(FIRST_FILTER, |id| {
                config.is_some_and(|config| config.filters.contains_key(&id))
            });
            let rule = free(FIRST_RULE, |id| {
                config.is_some_and(|config| config.rewrites.contains_key(&id))
            });
            let (precedence, tos) = (dscp.precedence(), (dscp.value() & 7) * 2);
            let tos = if tos == 0 {
                "normal".to_owned()
            } else {
                tos.to_string()
            };
            // The ToS form exists in every firmware, the DSCP form only in later ones.
            let rewrite = match config.and_then(|config| config.model.has_dscp_supersede()) {
                Some(true) => {
                    let mark = if dscp.value() == 0 {
                        "default".to_owned()
                    } else {
                        dscp.value().to_string()
                    };
                    format!("ip dscp supersede {rule} {mark} {filter}")
                }
                _ => format!("ip tos supersede {rule} {tos} precedence={precedence} {filter}"),
            };
            Remedy::new(Language::Rtx, [format!("ip filter {filter} pass * * * * *"), rewrite])
                .note("forwarded IPv4 packets only, rewritten before they enter a tunnel, whose outer header copies the mark; for IPv6 write `ipv6 filter` and `ipv6 dscp supersede`")
        }
        Intervention::SetMss { mss, .. } => {
            let start = format!("ip {interface} tcp mss limit");
            Remedy::new(Language::Rtx, [format!("{start} {}", mss.clamp(&536, &1_460))])
                .replacing(lines_with(place, Language::Rtx, &start))
        }
        Intervention::SetRate { rate, .. } => {
            let start = format!("speed {interface}");
            let bits = rate.bits_per_s();
            let rate = match bits {
                _ if bits % 1_000_000 == 0 => format!("{}m", bits / 1_000_000),
                _ if bits % 1_000 == 0 => format!("{}k", bits / 1_000),
                _ => bits.to_string(),
            };
            Remedy::new(Language::Rtx, [format!("{start} {rate}")])
                .replacing(lines_with(place, Language::Rtx, &start))
                .note("has effect with `queue type priority` or `shaping` only")
        }
        Intervention::ResizeQueue {
            queue: QueueSize::Packets(packets),
            ..
        } => {
            let start = format!("queue {interface} length");
            Remedy::new(Language::Rtx, [format!("{start} {}", packets.clamp(&1, &10_000))])
                .replacing(lines_with(place, Language::Rtx, &start))
        }
        _ => return None,
    })
}

/// The first free number from `start` on.
fn free(start: u32, taken: impl Fn(u32) -> bool) -> u32 {
    let mut number = start;
    while taken(number) {
        number += 1;
    }
    number
}

/// Numbers far from those that people use.
const FIRST_FILTER: u32 = 999_000;
const FIRST_RULE: u32 = 10_000;

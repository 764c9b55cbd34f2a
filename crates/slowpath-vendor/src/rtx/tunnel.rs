//! `tunnel`, `pp`, `ipsec`, `pppoe` and `ppp` (chapters 11, 14 and 15).

use slowpath_packet::overhead::{Cipher, Encapsulation, EspTransform, Integrity, IpVersion};

use super::config::{Config, Kind, SaPolicy};
use super::line::{Command, Context, Selected, is_port};
use crate::notes::Outcome;
use crate::text::number;

pub(super) fn read(words: &[&str], command: &Command, config: &mut Config, context: &mut Context) -> Outcome {
    match words {
        ["tunnel", "select", target] => match number(target) {
            Some(number) => {
                config.tunnels.entry(number).or_default();
                *context = Context {
                    selected: Selected::Tunnel(number),
                    ipsec_tunnel: None,
                };
                Outcome::modelled(format!("the following tunnel lines are about tunnel {number}"))
            }
            None => {
                *context = Context::default();
                if *target == "none" {
                    Outcome::ignored()
                } else {
                    Outcome::unrecognised()
                }
            }
        },
        ["pp", "select", target] => match number(target) {
            Some(number) => {
                config.peers.entry(number).or_default();
                *context = Context {
                    selected: Selected::Pp(number),
                    ipsec_tunnel: None,
                };
                Outcome::modelled(format!("the following pp lines are about peer {number}"))
            }
            None => {
                *context = Context::default();
                if matches!(*target, "none" | "anonymous") {
                    Outcome::ignored()
                } else {
                    Outcome::unrecognised()
                }
            }
        },
        ["tunnel", "encapsulation", kind] => encapsulation(kind, config, context),
        ["tunnel", "enable" | "disable", _] => Outcome::ignored(),
        ["tunnel", "endpoint", words @ ..] if words.iter().any(|word| word.matches(':').count() > 1) => {
            match context.tunnel() {
                Some(tunnel) => {
                    config.tunnels.entry(tunnel).or_default().over_ipv6 = true;
                    Outcome::modelled(format!(
                        "tunnel {tunnel} goes over IPv6: an outer header of 40 bytes"
                    ))
                }
                None => Outcome::doubtful("without `tunnel select` this line belongs to no tunnel"),
            }
        }
        [
            "tunnel",
            "endpoint" | "name" | "template" | "type" | "backup" | "map-e" | "ngn" | "multipoint",
            ..,
        ] => Outcome::ignored(),
        ["ipsec", "tunnel", "outer", "df-bit", value] => match *value {
            "copy" => Outcome::modelled(
                "encapsulated packets keep the inner packet's word about fragmenting, which is the default",
            ),
            "set" => Outcome::not_modelled("encapsulated packets must not be fragmented on the way"),
            "clear" => Outcome::not_modelled(
                "encapsulated packets may be fragmented on the way: no black holes, but fragments",
            ),
            _ => Outcome::unrecognised(),
        },
        ["ipsec", "tunnel", "fastpath-fragment-function", ..] => {
            Outcome::not_modelled("whether the fast path fragments by the df bit")
        }
        ["ipsec", "tunnel", policy] => match (number(policy), context.tunnel()) {
            (Some(policy), Some(tunnel)) => {
                context.ipsec_tunnel = Some(policy);
                config.tunnels.entry(tunnel).or_default().policy = Some(policy);
                Outcome::modelled(format!("policy {policy} protects tunnel {tunnel}"))
            }
            (Some(_), None) => Outcome::doubtful("without `tunnel select` this line belongs to no tunnel"),
            (None, _) => Outcome::unrecognised(),
        },
        ["ipsec", "sa", "policy", rest @ ..] => sa_policy(rest, config),
        [
            "ipsec",
            "ike" | "auto" | "log" | "sa" | "transport" | "use" | "refresh" | "pre-shared-key",
            ..,
        ] => Outcome::ignored(),
        ["pppoe", "use", port] if is_port(port) => match context.pp() {
            Some(peer) => {
                config.peers.entry(peer).or_default().port = Some((*port).to_owned());
                Outcome::modelled(format!(
                    "peer {peer} is reached over PPPoE on {port}: 8 bytes more per packet"
                ))
            }
            None => Outcome::doubtful("without `pp select` this line belongs to no peer"),
        },
        ["pppoe", "tcp", "mss", "limit", value] => match *value {
            "auto" => Outcome::modelled("segments of passing connections are made to fit PPPoE"),
            "off" => Outcome::not_modelled("segments of passing connections are not made to fit PPPoE"),
            _ => Outcome::not_modelled("segments of passing connections are limited on PPPoE"),
        },
        ["ppp", "lcp", "mru", "on", bytes] => match number::<u32>(bytes) {
            Some(bytes) => Outcome::modelled(format!(
                "the peer is told to send packets of at most {bytes} bytes"
            )),
            None => Outcome::refused("a number of bytes"),
        },
        ["ppp", "ccp", "type", kind] if *kind != "none" => {
            Outcome::not_modelled(format!("compression by {kind} costs the device time"))
        }
        ["pp" | "ppp" | "pppoe" | "l2tp" | "pptp", ..] => {
            debug_assert!(!command.written.is_empty());
            Outcome::ignored()
        }
        _ => Outcome::unrecognised(),
    }
}

fn encapsulation(kind: &str, config: &mut Config, context: &Context) -> Outcome {
    let Some(tunnel) = context.tunnel() else {
        return Outcome::doubtful("without `tunnel select` this line belongs to no tunnel");
    };
    let (kind, meaning) = match kind {
        "ipsec" => (Kind::Ipsec, "ESP in tunnel mode, which is the default"),
        "ipip" => (
            Kind::Ipip,
            "IP in IP: 20 bytes more per packet over IPv4, 40 over IPv6",
        ),
        "ipudp" => (Kind::IpUdp, "IP in UDP: 28 bytes more per packet"),
        "map-e" => (Kind::MapE, "IPv4 in IPv6: 40 bytes more per packet"),
        "pptp" | "l2tp" | "l2tpv3" | "l2tpv3-raw" | "hb46pp" => (Kind::Other, ""),
        _ => return Outcome::unrecognised(),
    };
    config.tunnels.entry(tunnel).or_default().kind = kind;
    if kind == Kind::Other {
        return Outcome::not_modelled("an encapsulation whose bytes are not modelled");
    }
    Outcome::modelled(format!("tunnel {tunnel}: {meaning}"))
}

/// `ID GATEWAY esp|ah CIPHER [HASH] [option=...]`.
fn sa_policy(words: &[&str], config: &mut Config) -> Outcome {
    let (Some(id), Some(gateway)) = (
        words.first().and_then(|word| number(word)),
        words.get(1).and_then(|word| number(word)),
    ) else {
        return Outcome::refused("a policy's number and its gateway's");
    };
    let mut policy = SaPolicy {
        gateway,
        transform: None,
        anti_replay: None,
    };
    for option in words
        .iter()
        .filter_map(|word| word.strip_prefix("anti-replay-check="))
    {
        policy.anti_replay = match option {
            "on" => Some(true),
            "off" => Some(false),
            _ => return Outcome::refused("anti-replay-check is on or off"),
        };
    }
    let outcome = match words.get(2) {
        Some(&"ah") => Outcome::not_modelled("authentication without encryption; its bytes are not modelled"),
        Some(&"esp") => {
            let cipher = match words.get(3).copied() {
                Some("3des-cbc") => Cipher::TripleDesCbc,
                Some("des-cbc") => Cipher::DesCbc,
                Some("aes-cbc" | "aes128-cbc" | "aes256-cbc") => Cipher::AesCbc,
                Some("null") => Cipher::Null,
                _ => {
                    return Outcome::refused("an encryption: des-cbc, 3des-cbc, aes-cbc, aes256-cbc or null");
                }
            };
            let integrity = match words.get(4).copied() {
                Some("md5-hmac") => Integrity::Md5,
                Some("sha-hmac") => Integrity::Sha1,
                Some("sha256-hmac") => Integrity::Sha256,
                Some("sha384-hmac") => Integrity::Sha384,
                Some("sha512-hmac") => Integrity::Sha512,
                None => Integrity::None,
                Some(word) if word.contains('=') => Integrity::None,
                Some(_) => {
                    return Outcome::refused(
                        "an authentication: md5-hmac, sha-hmac, sha256-hmac, sha384-hmac or sha512-hmac",
                    );
                }
            };
            let transform = EspTransform { cipher, integrity };
            policy.transform = Some(transform);
            let encapsulation = Encapsulation::Esp {
                outer: IpVersion::V4,
                transform,
                udp: false,
            };
            let replay = match policy.anti_replay {
                Some(false) => "; late packets are not dropped",
                _ => "; packets that come late are dropped",
            };
            Outcome::modelled(format!(
                "a packet of 1400 bytes becomes {} bytes{replay}",
                encapsulation.outer_len(1_400)
            ))
        }
        _ => return Outcome::refused("esp or ah"),
    };
    config.policies.insert(id, policy);
    outcome
}

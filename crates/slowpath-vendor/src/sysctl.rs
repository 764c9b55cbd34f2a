//! Linux sysctl: files in `/etc/sysctl.d` and the output of `sysctl -a`.
//!
//! A line is `key = value`; dots and slashes separate the parts of a key, a leading `-` means "ignore errors".
//!
//! Source: `Documentation/networking/ip-sysctl.rst` and `Documentation/admin-guide/sysctl/net.rst`.

use std::collections::BTreeMap;

use slowpath_scenario::host::EcnMode;

use crate::finding::Trap;
use crate::reading::{Notes, Outcome};
use crate::text::number;

/// What sysctl settings say about throughput.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// Every `net.` key with its value; the last value of a key holds.
    pub values: BTreeMap<String, String>,
}

/// Reads settings; what they set on the host goes to `notes`.
pub(crate) fn read(text: &str, notes: &mut Notes) -> Config {
    let mut config = Config::default();
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let outcome = match line.split_once('=') {
            None if line.starts_with("sysctl: ") => Outcome::ignored(),
            None => Outcome::unrecognised(),
            Some((key, value)) => {
                let key = normal(key);
                let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
                let outcome = setting(&key, &value, notes);
                if key.starts_with("net.") {
                    config.values.insert(key, value);
                }
                outcome
            }
        };
        notes.line(index + 1, line, "", outcome);
    }
    config
}

/// A key with dots: `net/ipv4/tcp_sack` is `net.ipv4.tcp_sack`; with slashes, a dot belongs to a name.
fn normal(key: &str) -> String {
    let key = key.trim().trim_start_matches('-').trim();
    let slash_first = key
        .find('/')
        .is_some_and(|slash| key.find('.').is_none_or(|dot| slash < dot));
    if slash_first {
        key.replace('.', ":").replace('/', ".").replace(':', "/")
    } else {
        key.to_owned()
    }
}

fn setting(key: &str, value: &str, notes: &mut Notes) -> Outcome {
    let settings = &mut notes.settings;
    match key {
        "net.ipv4.tcp_congestion_control" => {
            settings.congestion_control = Some(value.to_owned());
            Outcome::modelled(format!(
                "connections opened from now on use {value} for what they send; no reboot is needed"
            ))
            .sets("congestion_control")
        }
        "net.core.default_qdisc" => {
            settings.qdisc = Some(value.to_owned());
            Outcome::modelled(format!(
                "queues created from now on use {value}; TCP paces without fq since Linux 4.13"
            ))
            .sets("qdisc")
        }
        "net.ipv4.tcp_rmem" => match triple(value) {
            Some(sizes) => {
                settings.rmem = Some(sizes);
                let low = sizes[2] < LONG_PATH_BUFFER;
                let outcome = Outcome::modelled(format!(
                    "receive buffers grow to {} bytes: about {} bytes per round trip",
                    sizes[2],
                    sizes[2] / 2
                ))
                .sets("rmem");
                if low {
                    outcome.trap(small(key, sizes[2]))
                } else {
                    outcome
                }
            }
            None => Outcome::refused("three rising numbers of bytes"),
        },
        "net.ipv4.tcp_wmem" => match triple(value) {
            Some(sizes) => {
                settings.wmem = Some(sizes);
                let low = sizes[2] < LONG_PATH_BUFFER;
                let outcome = Outcome::modelled(format!(
                    "send buffers grow to {} bytes: at most that many bytes per round trip",
                    sizes[2]
                ))
                .sets("wmem");
                if low {
                    outcome.trap(small(key, sizes[2]))
                } else {
                    outcome
                }
            }
            None => Outcome::refused("three rising numbers of bytes"),
        },
        "net.core.rmem_max" => match number(value) {
            Some(bytes) => {
                settings.rmem_max = Some(bytes);
                Outcome::modelled(format!(
                    "programs that set a receive buffer get at most {bytes} bytes"
                ))
                .sets("rmem_max")
                .trap(Trap::ExplicitLimitOnly { key: key.to_owned() })
            }
            None => Outcome::refused("a number of bytes"),
        },
        "net.core.wmem_max" => match number(value) {
            Some(bytes) => {
                settings.wmem_max = Some(bytes);
                Outcome::modelled(format!(
                    "programs that set a send buffer get at most {bytes} bytes"
                ))
                .sets("wmem_max")
                .trap(Trap::ExplicitLimitOnly { key: key.to_owned() })
            }
            None => Outcome::refused("a number of bytes"),
        },
        "net.ipv4.tcp_window_scaling" => match flag(value) {
            Some(on) => {
                settings.window_scaling = Some(on);
                let outcome = Outcome::modelled(if on {
                    "window scaling is offered, which is the default"
                } else {
                    "no window scaling: at most 65535 bytes per round trip"
                })
                .sets("window_scaling");
                off(
                    on,
                    outcome,
                    key,
                    "every connection gets at most 65535 bytes per round trip",
                )
            }
            None => Outcome::refused("0 or 1"),
        },
        "net.ipv4.tcp_sack" => match flag(value) {
            Some(on) => {
                settings.sack = Some(on);
                let outcome = Outcome::modelled(if on {
                    "selective acknowledgement is offered, which is the default"
                } else {
                    "several losses in one window cost a round trip each"
                })
                .sets("sack");
                off(
                    on,
                    outcome,
                    key,
                    "several losses in one window cost a round trip each",
                )
            }
            None => Outcome::refused("0 or 1"),
        },
        "net.ipv4.tcp_timestamps" => match number::<u8>(value).filter(|value| *value < 3) {
            Some(value) => {
                settings.timestamps = Some(value != 0);
                Outcome::modelled(if value == 0 {
                    "no timestamps: 12 bytes more payload per segment, and coarser round-trip times"
                } else {
                    "timestamps are offered: 12 bytes of every segment"
                })
                .sets("timestamps")
            }
            None => Outcome::refused("0, 1 or 2"),
        },
        "net.ipv4.tcp_ecn" => match number::<u8>(value) {
            Some(value @ 0..=2) => {
                settings.ecn = Some(match value {
                    0 => EcnMode::Off,
                    1 => EcnMode::On,
                    _ => EcnMode::Passive,
                });
                let meaning = [
                    "not used",
                    "asked for and accepted",
                    "accepted when the other end asks, which is the default",
                ];
                Outcome::modelled(format!(
                    "explicit congestion notification is {}",
                    meaning[usize::from(value)]
                ))
                .sets("ecn")
            }
            Some(3..=5) => Outcome::not_modelled("accurate ECN"),
            _ => Outcome::refused("0 to 5"),
        },
        "net.ipv4.tcp_moderate_rcvbuf" => match flag(value) {
            Some(on) => {
                let outcome = Outcome::not_modelled(if on {
                    "receive buffers grow as needed, which is the default"
                } else {
                    "receive buffers stay at the second value of tcp_rmem"
                });
                off(
                    on,
                    outcome,
                    key,
                    "receive buffers do not grow beyond the second value of tcp_rmem",
                )
            }
            None => Outcome::refused("0 or 1"),
        },
        "net.ipv4.tcp_slow_start_after_idle" => match flag(value) {
            Some(true) => {
                Outcome::not_modelled("after a pause, a connection starts slowly again, which is the default")
            }
            Some(false) => Outcome::not_modelled("after a pause, a connection goes on at its old rate"),
            None => Outcome::refused("0 or 1"),
        },
        "net.ipv4.tcp_mtu_probing" => {
            Outcome::not_modelled("whether connections find a smaller MTU by themselves in a black hole")
        }
        "net.ipv4.ip_no_pmtu_disc" => Outcome::not_modelled("whether packets may be fragmented on the way"),
        "net.ipv4.tcp_adv_win_scale" => {
            Outcome::not_modelled("share of a receive buffer that is advertised; unused since Linux 6.6")
        }
        "net.ipv4.tcp_mem" => Outcome::not_modelled("memory of all connections together, in pages"),
        "net.ipv4.tcp_notsent_lowat" => Outcome::not_modelled("how much unsent data a program may pile up"),
        "net.ipv4.tcp_limit_output_bytes" => {
            Outcome::not_modelled("how much of a connection may lie in the queue of the interface")
        }
        "net.ipv4.tcp_no_metrics_save" => {
            Outcome::not_modelled("whether new connections start with what old ones learnt about the path")
        }
        "net.core.netdev_max_backlog"
        | "net.core.netdev_budget"
        | "net.core.netdev_budget_usecs"
        | "net.core.dev_weight" => Outcome::not_modelled("how many received packets wait for the processor"),
        "net.core.rmem_default" | "net.core.wmem_default" => {
            Outcome::not_modelled("buffers of sockets other than TCP")
        }
        key if NOT_MODELLED_TCP
            .iter()
            .any(|name| key == format!("net.ipv4.{name}")) =>
        {
            Outcome::not_modelled("details of TCP that are modelled with their defaults only")
        }
        key if IGNORED.iter().any(|start| key.starts_with(start)) => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

fn off(on: bool, outcome: Outcome, key: &str, what: &str) -> Outcome {
    if on {
        outcome
    } else {
        outcome.trap(Trap::SlowsLongPaths {
            key: key.to_owned(),
            what: what.to_owned(),
        })
    }
}

fn small(key: &str, most: u64) -> Trap {
    Trap::SlowsLongPaths {
        key: key.to_owned(),
        what: format!(
            "its third value of {most} bytes is below the kernel's default and bounds every connection that sets no buffer"
        ),
    }
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn triple(value: &str) -> Option<[u64; 3]> {
    let sizes: Vec<u64> = value.split_whitespace().map(number).collect::<Option<_>>()?;
    <[u64; 3]>::try_from(sizes).ok().filter(|sizes| sizes.is_sorted())
}

/// Below this a buffer limit is smaller than any kernel's default.
const LONG_PATH_BUFFER: u64 = 4_000_000;

/// TCP settings that change details.
#[rustfmt::skip]
const NOT_MODELLED_TCP: &[&str] = &[
    "tcp_dsack", "tcp_recovery", "tcp_frto", "tcp_early_retrans", "tcp_reordering", "tcp_max_reordering", "tcp_retries1",
    "tcp_retries2", "tcp_base_mss", "tcp_min_snd_mss", "tcp_pacing_ca_ratio", "tcp_pacing_ss_ratio", "tcp_min_tso_segs",
    "tcp_tso_win_divisor", "tcp_tso_rtt_log", "tcp_min_rtt_wlen", "tcp_comp_sack_delay_ns", "tcp_comp_sack_nr",
    "tcp_comp_sack_slack_ns", "tcp_thin_linear_timeouts", "tcp_workaround_signed_windows", "tcp_app_win", "tcp_ecn_fallback",
    "tcp_ecn_option", "tcp_ecn_option_beacon", "tcp_backlog_ack_defer", "tcp_shrink_window", "tcp_pingpong_thresh",
    "tcp_autocorking", "tcp_fastopen", "tcp_low_latency", "tcp_rto_min_us", "tcp_rto_max_ms", "tcp_rcvbuf_low_rtt",
];

/// Beginnings of keys without effect on throughput.
#[rustfmt::skip]
const IGNORED: &[&str] = &[
    "kernel.", "vm.", "fs.", "dev.", "abi.", "user.", "debug.", "crypto.", "sunrpc.", "fscache.", "net.ipv4.", "net.ipv6.",
    "net.core.", "net.netfilter.", "net.nf_", "net.unix.", "net.bridge.", "net.mptcp.", "net.sctp.", "net.vrf.", "net.mpls.",
    "net.ieee802154.", "net.smc.", "net.atm", "net.dccp", "net.rds", "net.rxrpc", "net.can", "net.appletalk", "net.token-ring",
];

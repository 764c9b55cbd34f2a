//! Linux sysctl: files in `/etc/sysctl.d` and the output of `sysctl -a`.
//!
//! A line is `key = value`; dots and slashes separate the parts of a key, a leading `-` means "ignore errors".
//!
//! Source: `Documentation/networking/ip-sysctl.rst` and `Documentation/admin-guide/sysctl/net.rst`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use slowpath_scenario::diagnostic::suggestion;
use slowpath_scenario::host::{EcnMode, has_model};

use crate::finding::Trap;
use crate::notes::{Notes, Outcome};
use crate::text::number;

/// What sysctl settings say about throughput.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// Every `net.` key with its value; the last value of a key holds.
    pub values: BTreeMap<String, String>,
    /// The number of the line that holds of each key with an effect on throughput.
    pub lines: BTreeMap<String, usize>,
}

/// Reads settings; what they set on the host goes to `notes`.
pub(crate) fn read(text: &str, notes: &mut Notes) -> Config {
    let mut config = Config::default();
    let mut set: Vec<(usize, String)> = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let number = index + 1;
        let outcome = match line.split_once('=') {
            None if line.starts_with("sysctl: ") => Outcome::ignored(),
            None => Outcome::unrecognised(),
            Some((key, value)) => {
                let key = normal(key);
                let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
                let outcome = setting(&key, &value, notes);
                if outcome.takes_effect() {
                    config.lines.insert(key.clone(), number);
                }
                set.push((number, key.clone()));
                if key.starts_with("net.") {
                    config.values.insert(key, value);
                }
                outcome
            }
        };
        notes.line(number, line, "", outcome);
    }
    for (loser, key) in set {
        if let Some(winner) = config.lines.get(&key).filter(|winner| **winner > loser) {
            notes.without_effect(loser, &key, *winner);
        }
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
            if !CONGESTION_CONTROLS.contains(&value) {
                // Refused, most likely: what a line before says stays.
                settings.congestion_control.get_or_insert(value.to_owned());
                return Outcome::doubtful("a congestion control that is not known")
                    .sets("congestion_control")
                    .trap(Trap::UnknownCongestionControl {
                        name: value.to_owned(),
                        meant: suggestion(value, CONGESTION_CONTROLS.iter().copied()).map(str::to_owned),
                    });
            }
            settings.congestion_control = Some(value.to_owned());
            let meaning =
                format!("connections opened from now on use {value} for what they send; no reboot is needed");
            if has_model(value) {
                Outcome::modelled(meaning)
            } else {
                Outcome::not_modelled(meaning)
            }
            .sets("congestion_control")
        }
        "net.core.default_qdisc" => {
            settings.qdisc = Some(value.to_owned());
            Outcome::modelled(format!(
                "queues created from now on use {value}; TCP paces without fq since Linux 4.13"
            ))
            .sets("qdisc")
        }
        "net.ipv4.tcp_rmem" => match sizes(value, RMEM) {
            Some(sizes) => {
                let [.., most] = sizes.receive();
                settings.rmem = Some(sizes.receive());
                buffers(
                    key,
                    &sizes,
                    most,
                    &format!("receive buffers {{}}: about {} bytes per round trip", most / 2),
                )
                .sets("rmem")
            }
            None => Outcome::refused("one to three numbers of bytes above 0: least, first, most"),
        },
        "net.ipv4.tcp_wmem" => match sizes(value, WMEM) {
            Some(sizes) => {
                let [.., most] = sizes.send();
                settings.wmem = Some(sizes.send());
                buffers(
                    key,
                    &sizes,
                    most,
                    "send buffers {}: at most that many bytes per round trip",
                )
                .sets("wmem")
            }
            None => Outcome::refused("one to three numbers of bytes above 0: least, first, most"),
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
        key if unknown_tcp(key) => misspelt(key),
        key if IGNORED.iter().any(|start| key.starts_with(start)) => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

/// Whether a key is one of TCP's that no kernel has.
fn unknown_tcp(key: &str) -> bool {
    key.strip_prefix("net.ipv4.")
        .is_some_and(|name| name.starts_with("tcp_") && !TCP.contains(&name))
}

fn misspelt(key: &str) -> Outcome {
    let name = key.strip_prefix("net.ipv4.").unwrap_or(key);
    match suggestion(name, TCP.iter().copied()) {
        Some(meant) => Outcome::unrecognised().trap(Trap::Misspelt {
            word: key.to_owned(),
            meant: format!("net.ipv4.{meant}"),
        }),
        None => Outcome::unrecognised(),
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

/// The three values of `tcp_rmem` or `tcp_wmem`: least, first, most.
///
/// The kernel asks of each only that it is above 0, and takes fewer than three: the others stay as they are. A
/// buffer starts at the second value and grows to the third. With a third below the second, a receive buffer stays at
/// the second and a send buffer gets the third (Linux 6.18, measured: with `4096 87380 65536` the receive buffer is 87380
/// bytes throughout, with `4096 200000 65536` the send buffer 65536).
struct Sizes {
    values: [u64; 3],
    /// How many of them are written; the rest are the kernel's own.
    written: usize,
}

impl Sizes {
    /// The values as they come to hold for receive buffers.
    fn receive(&self) -> [u64; 3] {
        let [least, first, most] = self.values;
        [least, first, most.max(first)]
    }

    /// The values as they come to hold for send buffers.
    fn send(&self) -> [u64; 3] {
        let [least, first, most] = self.values;
        [least, first.min(most), most]
    }
}

fn sizes(value: &str, defaults: [u64; 3]) -> Option<Sizes> {
    let written: Vec<u64> = value.split_whitespace().map(number).collect::<Option<_>>()?;
    let fits = (1..=3).contains(&written.len()) && written.iter().all(|size| *size > 0);
    fits.then(|| {
        let mut values = defaults;
        values[..written.len()].copy_from_slice(&written);
        Sizes {
            values,
            written: written.len(),
        }
    })
}

/// What sizes of a connection's buffers mean, with `{}` in `meaning` for how large they get.
fn buffers(key: &str, sizes: &Sizes, most: u64, meaning: &str) -> Outcome {
    let [_, first, third] = sizes.values;
    let grows = if third < first {
        format!("stay at {most} bytes, since the third value is below the second")
    } else {
        format!("grow to {most} bytes")
    };
    let mut meaning = meaning.replace("{}", &grows);
    if sizes.written < 3 {
        let _ = write!(
            meaning,
            "; {} of three values are written, the kernel's own stand for the others",
            sizes.written
        );
    }
    let outcome = Outcome::modelled(meaning);
    if most >= LONG_PATH_BUFFER {
        return outcome;
    }
    outcome.trap(Trap::SlowsLongPaths {
        key: key.to_owned(),
        what: if third < first {
            format!("buffers cannot grow, so every connection that sets none has {most} bytes")
        } else {
            format!(
                "its third value of {most} bytes is below the kernel's default and bounds every connection that sets no buffer"
            )
        },
    })
}

/// Linux's own `tcp_rmem` and `tcp_wmem` on a machine with much memory (6.6).
const RMEM: [u64; 3] = [4_096, 131_072, 6_291_456];
const WMEM: [u64; 3] = [4_096, 16_384, 4_194_304];

fn flag(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The congestion controls of Linux 6.18, by the names of its modules (`net/ipv4/tcp_*.c`), and two that the branches of
/// `google/bbr` have beside `bbr`.
#[rustfmt::skip]
const CONGESTION_CONTROLS: &[&str] = &[
    "bbr", "bbr1", "bbr2", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno",
    "scalable", "vegas", "veno", "westwood", "yeah",
];

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

/// TCP's settings of Linux 2.6.32 to 6.18, by name (`/proc/sys/net/ipv4`).
#[rustfmt::skip]
const TCP: &[&str] = &[
    "tcp_abc", "tcp_abort_on_overflow", "tcp_adv_win_scale", "tcp_allowed_congestion_control", "tcp_app_win",
    "tcp_autocorking", "tcp_available_congestion_control", "tcp_available_ulp", "tcp_backlog_ack_defer", "tcp_base_mss",
    "tcp_challenge_ack_limit", "tcp_child_ehash_entries", "tcp_comp_sack_delay_ns", "tcp_comp_sack_nr",
    "tcp_comp_sack_rtt_percent", "tcp_comp_sack_slack_ns", "tcp_congestion_control", "tcp_cookie_size",
    "tcp_default_init_rwnd", "tcp_dma_copybreak", "tcp_dsack", "tcp_early_demux", "tcp_early_retrans", "tcp_ecn",
    "tcp_ecn_fallback", "tcp_ecn_option", "tcp_ecn_option_beacon", "tcp_ehash_entries", "tcp_fack", "tcp_fastopen",
    "tcp_fastopen_blackhole_timeout_sec", "tcp_fastopen_key", "tcp_fin_timeout", "tcp_frto", "tcp_frto_response",
    "tcp_fwmark_accept", "tcp_invalid_ratelimit", "tcp_keepalive_intvl", "tcp_keepalive_probes", "tcp_keepalive_time",
    "tcp_l3mdev_accept", "tcp_limit_output_bytes", "tcp_low_latency", "tcp_max_orphans", "tcp_max_reordering",
    "tcp_max_ssthresh", "tcp_max_syn_backlog", "tcp_max_tw_buckets", "tcp_mem", "tcp_migrate_req", "tcp_min_rtt_wlen",
    "tcp_min_snd_mss", "tcp_min_tso_segs", "tcp_moderate_rcvbuf", "tcp_mtu_probe_floor", "tcp_mtu_probing",
    "tcp_no_metrics_save", "tcp_no_ssthresh_metrics_save", "tcp_notsent_lowat", "tcp_orphan_retries",
    "tcp_pacing_ca_ratio", "tcp_pacing_ss_ratio", "tcp_pingpong_thresh", "tcp_plb_cong_thresh", "tcp_plb_enabled",
    "tcp_plb_idle_rehash_rounds", "tcp_plb_rehash_rounds", "tcp_plb_suspend_rto_sec", "tcp_probe_interval",
    "tcp_probe_threshold", "tcp_rcvbuf_low_rtt", "tcp_recovery", "tcp_reflect_tos", "tcp_reordering",
    "tcp_retrans_collapse", "tcp_retries1", "tcp_retries2", "tcp_rfc1337", "tcp_rmem", "tcp_rto_max_ms", "tcp_rto_min_us",
    "tcp_sack", "tcp_shrink_window", "tcp_slow_start_after_idle", "tcp_stdurg", "tcp_syn_linear_timeouts",
    "tcp_syn_retries", "tcp_synack_retries", "tcp_syncookies", "tcp_thin_dupack", "tcp_thin_linear_timeouts",
    "tcp_timestamps", "tcp_tso_rtt_log", "tcp_tso_win_divisor", "tcp_tw_recycle", "tcp_tw_reuse", "tcp_tw_reuse_delay",
    "tcp_window_scaling", "tcp_wmem", "tcp_workaround_signed_windows",
];

/// Beginnings of keys without effect on throughput.
#[rustfmt::skip]
const IGNORED: &[&str] = &[
    "kernel.", "vm.", "fs.", "dev.", "abi.", "user.", "debug.", "crypto.", "sunrpc.", "fscache.", "net.ipv4.", "net.ipv6.",
    "net.core.", "net.netfilter.", "net.nf_", "net.unix.", "net.bridge.", "net.mptcp.", "net.sctp.", "net.vrf.", "net.mpls.",
    "net.ieee802154.", "net.smc.", "net.atm", "net.dccp", "net.rds", "net.rxrpc", "net.can", "net.appletalk", "net.token-ring",
];

//! A change that an investigation asks for, in terms of roles: the receiver's window, the path's loss.
//!
//! A capture does not know host names or elements; whoever runs the experiment maps roles to its plan.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One change. Hypothesis test, counterfactual and remedy are the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "change")]
pub enum Change {
    /// Give the receiver a window of this many bytes.
    ReceiverWindow {
        /// The window.
        bytes: u64,
    },
    /// Give the sender a socket buffer of this many bytes.
    SendBuffer {
        /// The buffer.
        bytes: u64,
    },
    /// Make the receiving program read as fast as data comes.
    ReaderWithoutLimit,
    /// Make the sending program give data as fast as it is taken.
    WriterWithoutLimit,
    /// Remove the path's own loss.
    NoLoss,
    /// Remove the policer.
    NoPolicer,
    /// Split the transfer over this many connections.
    Streams {
        /// Their number.
        count: u32,
    },
    /// Use another congestion control at the sender.
    CongestionControl {
        /// Which.
        control: Control,
    },
    /// Raise the bottleneck's rate by this factor.
    Rate {
        /// The factor, in per cent of the rate now.
        percent: u32,
    },
    /// Keep OpenSSH at the sending end from marking its packets.
    SshWithoutMark,
    /// Have the first router on the way take every mark off.
    MarksRewritten,
}

/// A congestion control as far as a prediction knows one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// NewReno (RFC 6582).
    Reno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BBR: loss below a few per cent does not hold it back.
    Bbr,
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reno => "Reno",
            Self::Cubic => "CUBIC",
            Self::Bbr => "BBR",
        })
    }
}

impl Change {
    /// Whether it changes marks and nothing else.
    pub const fn is_of_marks(&self) -> bool {
        matches!(self, Self::SshWithoutMark | Self::MarksRewritten)
    }

    /// How to make the change on a Linux host whose system is not known better: commands for a root shell, with a
    /// comment that says on which host. Nothing for a change that no host can make by itself.
    ///
    /// Linux offers half of the receive buffer as window (`tcp_adv_win_scale` 1, Linux Documentation/networking/
    /// ip-sysctl.rst) and counts overhead in the send buffer, so the memory is twice the bytes wanted.
    pub fn linux(&self) -> Option<String> {
        let buffer = |bytes: u64| bytes.saturating_mul(2).next_multiple_of(4096);
        match self {
            Self::ReceiverWindow { bytes } => Some(format!(
                "# on the receiver\nsysctl -w net.ipv4.tcp_window_scaling=1\nsysctl -w net.ipv4.tcp_rmem='4096 131072 {0}'\n# only for programs that set SO_RCVBUF themselves\nsysctl -w net.core.rmem_max={0}",
                buffer(*bytes)
            )),
            Self::SendBuffer { bytes } => Some(format!(
                "# on the sender\nsysctl -w net.ipv4.tcp_wmem='4096 16384 {0}'\n# only for programs that set SO_SNDBUF themselves\nsysctl -w net.core.wmem_max={0}",
                buffer(*bytes)
            )),
            Self::CongestionControl { control } => {
                let (name, module) = match control {
                    Control::Reno => ("reno", ""),
                    Control::Cubic => ("cubic", ""),
                    Control::Bbr => ("bbr", "modprobe tcp_bbr\n"),
                };
                Some(format!(
                    "# on the sender\n{module}sysctl -w net.ipv4.tcp_congestion_control={name}"
                ))
            }
            Self::SshWithoutMark => Some(
                "# on a client that sends\necho 'IPQoS none' > /etc/ssh/ssh_config.d/mark.conf\n# on a server that sends; then reload it\necho 'IPQoS none' > /etc/ssh/sshd_config.d/mark.conf"
                    .to_owned(),
            ),
            Self::MarksRewritten => Some(
                "# on a router that runs Linux\niptables -t mangle -A POSTROUTING -j DSCP --set-dscp 0\nip6tables -t mangle -A POSTROUTING -j DSCP --set-dscp 0"
                    .to_owned(),
            ),
            Self::ReaderWithoutLimit
            | Self::WriterWithoutLimit
            | Self::NoLoss
            | Self::NoPolicer
            | Self::Streams { .. }
            | Self::Rate { .. } => None,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReceiverWindow { bytes } => write!(f, "a receiver's window of {} bytes", grouped(*bytes)),
            Self::SendBuffer { bytes } => write!(f, "a send buffer of {} bytes", grouped(*bytes)),
            Self::ReaderWithoutLimit => f.write_str("a receiving program that never waits"),
            Self::WriterWithoutLimit => f.write_str("a sending program that never waits"),
            Self::NoLoss => f.write_str("a path without loss of its own"),
            Self::NoPolicer => f.write_str("a path without the policer"),
            Self::Streams { count } => write!(f, "{count} connections instead of one"),
            Self::CongestionControl { control } => write!(f, "{control} as the sender's congestion control"),
            Self::Rate { percent } => write!(f, "a bottleneck of {percent} % of its rate"),
            Self::SshWithoutMark => f.write_str("no mark from OpenSSH (IPQoS none)"),
            Self::MarksRewritten => f.write_str("every mark taken off by the first router"),
        }
    }
}

/// Digits in groups of three.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_can_make_the_changes_of_a_host() {
        let window = Change::ReceiverWindow { bytes: 1_000_000 }
            .linux()
            .expect("a sysctl");
        assert!(
            window.contains("net.ipv4.tcp_rmem='4096 131072 2002944'"),
            "{window}"
        );
        let buffer = Change::SendBuffer { bytes: 1 << 20 }.linux().expect("a sysctl");
        assert!(
            buffer.contains("net.ipv4.tcp_wmem='4096 16384 2097152'"),
            "{buffer}"
        );
        let control = Change::CongestionControl {
            control: Control::Bbr,
        }
        .linux()
        .expect("a sysctl");
        assert!(control.contains("tcp_congestion_control=bbr"), "{control}");
        assert_eq!(Change::NoPolicer.linux(), None);
        for (change, line) in [
            (Change::SshWithoutMark, "IPQoS none"),
            (Change::MarksRewritten, "--set-dscp 0"),
        ] {
            assert!(change.is_of_marks());
            assert!(
                change.linux().is_some_and(|lines| lines.contains(line)),
                "{change}"
            );
        }
    }
}

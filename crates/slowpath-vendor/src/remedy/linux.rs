//! Commands for a Linux host whose configuration is not known.

use slowpath_packet::Dscp;
use slowpath_scenario::Intervention;

/// How to make the change on a Linux host: commands for a root shell, with a comment that says on which host. `None` for
/// a change that no host can make by itself.
///
/// Linux offers half of the receive buffer as window (`tcp_adv_win_scale` 1, Linux Documentation/networking/
/// ip-sysctl.rst) and counts overhead in the send buffer, so the memory is twice the bytes wanted.
pub fn linux(change: &Intervention) -> Option<String> {
    let memory = |bytes: u64| bytes.saturating_mul(2).next_multiple_of(4096);
    match change {
        Intervention::SetWindow { window, .. } => Some(format!(
            "# on the receiver\nsysctl -w net.ipv4.tcp_window_scaling=1\nsysctl -w net.ipv4.tcp_rmem='4096 131072 {0}'\n# only for programs that set SO_RCVBUF themselves\nsysctl -w net.core.rmem_max={0}",
            memory(window.bytes())
        )),
        Intervention::SetSendBuffer { buffer, .. } => Some(format!(
            "# on the sender\nsysctl -w net.ipv4.tcp_wmem='4096 16384 {0}'\n# only for programs that set SO_SNDBUF themselves\nsysctl -w net.core.wmem_max={0}",
            memory(buffer.bytes())
        )),
        Intervention::SetCongestionControl { name, .. } => {
            let module = match name.as_str() {
                "reno" | "cubic" => String::new(),
                other => format!("modprobe tcp_{other}\n"),
            };
            Some(format!(
                "# on the sender\n{module}sysctl -w net.ipv4.tcp_congestion_control={name}"
            ))
        }
        Intervention::SetIpQos {
            interactive: None,
            bulk: None,
            ..
        } => Some(
            "# on a client that sends\necho 'IPQoS none' > /etc/ssh/ssh_config.d/mark.conf\n# on a server that sends; then reload it\necho 'IPQoS none' > /etc/ssh/sshd_config.d/mark.conf"
                .to_owned(),
        ),
        Intervention::Remark { dscp, .. } if *dscp == Dscp::DEFAULT => Some(
            "# on a router that runs Linux\niptables -t mangle -A POSTROUTING -j DSCP --set-dscp 0\nip6tables -t mangle -A POSTROUTING -j DSCP --set-dscp 0"
                .to_owned(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use slowpath_scenario::{Place, Who};
    use slowpath_units::ByteCount;

    use super::*;

    #[test]
    fn a_host_can_make_the_changes_of_a_host() {
        for (change, part) in [
            (
                Intervention::SetWindow {
                    host: Who::Receiver,
                    window: ByteCount::new(1_000_000),
                },
                "net.ipv4.tcp_rmem='4096 131072 2002944'",
            ),
            (
                Intervention::SetSendBuffer {
                    host: Who::Sender,
                    buffer: ByteCount::new(1 << 20),
                },
                "net.ipv4.tcp_wmem='4096 16384 2097152'",
            ),
            (
                Intervention::SetCongestionControl {
                    host: Who::Sender,
                    name: "bbr".to_owned(),
                },
                "modprobe tcp_bbr\nsysctl -w net.ipv4.tcp_congestion_control=bbr",
            ),
            (
                Intervention::SetIpQos {
                    host: Who::Sender,
                    interactive: None,
                    bulk: None,
                },
                "IPQoS none",
            ),
            (
                Intervention::Remark {
                    place: Place::Towards(Who::Receiver),
                    dscp: Dscp::DEFAULT,
                },
                "--set-dscp 0",
            ),
        ] {
            let lines = linux(&change).unwrap_or_else(|| panic!("{change}"));
            assert!(lines.contains(part), "{lines}");
        }
        let policer = Intervention::RemovePolicer {
            place: Place::Everywhere,
        };
        assert_eq!(linux(&policer), None);
    }
}

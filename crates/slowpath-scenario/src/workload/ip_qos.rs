//! The marks that OpenSSH's option `IPQoS` asks for (ssh_config(5)).

use super::ssh::SshMethod;

/// The DSCP of most packets of an end with these options, up to OpenSSH 10.0; `None` where they do not say.
///
/// A tunnel is opened together with a login shell, so it is interactive.
pub fn mark(method: SshMethod, options: &[String]) -> Option<u8> {
    let (interactive, bulk) = ip_qos(options)?;
    match method {
        SshMethod::TunnelIperf3 | SshMethod::TunnelCopy | SshMethod::TunnelScp => interactive,
        SshMethod::Scp | SshMethod::ScpLegacy | SshMethod::Sftp | SshMethod::Pipe => bulk,
    }
}

/// Whether the options say anything of marks.
pub fn is_written(options: &[String]) -> bool {
    ip_qos(options).is_some()
}

/// DSCP of interactive sessions and of transfers in the first `IPQoS` line; `None` within for words not known here.
fn ip_qos(options: &[String]) -> Option<(Option<u8>, Option<u8>)> {
    options.iter().find_map(|line| {
        let mut words = line
            .split(|c: char| c.is_whitespace() || c == '=')
            .filter(|word| !word.is_empty());
        if !words.next()?.eq_ignore_ascii_case("ipqos") {
            return None;
        }
        let first = dscp(words.next()?);
        Some((first, words.next().map_or(first, dscp)))
    })
}

fn dscp(word: &str) -> Option<u8> {
    let lower = word.to_lowercase();
    match lower.as_str() {
        "none" => Some(0),
        "lowdelay" => Some(4),
        "throughput" => Some(2),
        "reliability" => Some(1),
        // A number is the whole type-of-service byte.
        _ if lower.starts_with(|c: char| c.is_ascii_digit()) => lower.parse::<u8>().ok().map(|tos| tos >> 2),
        _ => lower
            .parse::<slowpath_packet::Dscp>()
            .ok()
            .map(slowpath_packet::Dscp::value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_ipqos_asks_for() {
        for (line, expected) in [
            ("IPQoS af21 cs1", Some((Some(18), Some(8)))),
            ("ipqos=none", Some((Some(0), Some(0)))),
            ("IPQoS 0 32", Some((Some(0), Some(8)))),
            ("IPQoS lowdelay throughput", Some((Some(4), Some(2)))),
            ("Ciphers aes128-ctr", None),
        ] {
            assert_eq!(ip_qos(&[line.to_owned()]), expected, "{line}");
        }
    }
}

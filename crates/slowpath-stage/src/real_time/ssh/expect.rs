//! The marks that OpenSSH's settings ask for, to be compared with those seen on the wire.

use slowpath_scenario::workload::{SshMethod, SshTransfer};

use crate::real_time::stage::{Done, Work};

/// Notes which mark most packets of each end should carry, where its options say so.
///
/// An `IPQoS` that is not written is the package's own choice, which differs by distribution: nothing is expected
/// then, and what is seen on the wire is what it chose.
pub(super) fn marks(work: &Work<'_>, transfer: &SshTransfer, version: Option<&str>, done: &mut Done) {
    if !follows_old_rules(version) {
        // From 10.1 a connection changes its mark with its channels.
        return;
    }
    for (host, options) in [
        (&work.job.client, &transfer.client_options),
        (&work.job.server, &transfer.server_options),
    ] {
        if ip_qos(options).is_none() {
            done.notes.push(format!(
                "{host}: no IPQoS in its options; its marks are the choice of the package"
            ));
        }
        let wanted = wanted(transfer.method, options);
        done.marks.extend(wanted.map(|mark| (host.clone(), mark)));
    }
}

/// The DSCP of most packets of an end with these options, up to OpenSSH 10.0; `None` where they do not say.
///
/// A tunnel is opened together with a login shell, so it is interactive.
pub(crate) fn wanted(method: SshMethod, options: &[String]) -> Option<u8> {
    let (interactive, bulk) = ip_qos(options)?;
    match method {
        SshMethod::TunnelIperf3 | SshMethod::TunnelCopy | SshMethod::TunnelScp => interactive,
        SshMethod::Scp | SshMethod::ScpLegacy | SshMethod::Sftp | SshMethod::Pipe => bulk,
    }
}

/// Whether a client decides once and for all whether it is interactive: to OpenSSH 10.0.
fn follows_old_rules(version: Option<&str>) -> bool {
    version
        .and_then(|text| text.split_once("OpenSSH_"))
        .and_then(|(_, rest)| {
            let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
            Some((
                numbers.next()?.parse::<u32>().ok()?,
                numbers.next()?.parse::<u32>().ok()?,
            ))
        })
        .is_some_and(|release| release < (10, 1))
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

    #[test]
    fn the_rules_changed_in_10_1() {
        for (text, old) in [
            ("OpenSSH_9.2p1 Debian-2+deb12u7, OpenSSL 3.0", true),
            ("OpenSSH_10.0p2", true),
            ("OpenSSH_10.1p1", false),
            ("dropbear", false),
        ] {
            assert_eq!(follows_old_rules(Some(text)), old, "{text}");
        }
    }
}

//! The marks that OpenSSH's settings ask for, to be compared with those seen on the wire.

use slowpath_scenario::workload::{SshTransfer, ip_qos};

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
        if !ip_qos::is_written(options) {
            done.notes.push(format!(
                "{host}: no IPQoS in its options; its marks are the choice of the package"
            ));
        }
        let wanted = ip_qos::mark(transfer.method, options);
        done.marks.extend(wanted.map(|mark| (host.clone(), mark)));
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

#[cfg(test)]
mod tests {
    use super::*;

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

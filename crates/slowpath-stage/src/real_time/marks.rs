//! Whether the marks seen on the wire are those that a job's settings ask for.

use std::collections::BTreeMap;

use slowpath_packet::Dscp;
use slowpath_record::{Code, HealthState, MarkCount, MarkPlace, Reason};

use super::stage::Done;

/// Degrades the run where most of what a host sent carries another mark than its settings ask for.
pub(super) fn judge(counts: &[MarkCount], done: &mut Done) {
    let wanted = done.marks.iter().filter_map(|(host, wanted)| {
        let (seen, wanted) = (most_sent(counts, host)?, Dscp::new(*wanted)?);
        (seen != wanted).then(|| Reason {
            code: Code::Marks,
            state: HealthState::Degraded,
            text: format!(
                "most of what {host} sent carried {}, but its settings ask for {}: what the network did to the one \
                 says nothing about the other",
                named(seen),
                named(wanted)
            ),
        })
    });
    done.reasons.extend(wanted.collect::<Vec<_>>());
}

/// The mark of most bytes that a host sent.
fn most_sent(counts: &[MarkCount], host: &str) -> Option<Dscp> {
    let mut sums: BTreeMap<u8, u64> = BTreeMap::new();
    for count in counts {
        if matches!(&count.at, MarkPlace::Sent(name) if name == host) {
            *sums.entry(count.dscp.value()).or_default() += count.traffic.bytes;
        }
    }
    let (mark, _) = sums.into_iter().max_by_key(|(_, bytes)| *bytes)?;
    Dscp::new(mark)
}

/// A mark in words: its name and number.
fn named(dscp: Dscp) -> String {
    match dscp.value() {
        0 => "no mark (DSCP 0)".to_owned(),
        value => format!("{dscp} (DSCP {value})"),
    }
}

#[cfg(test)]
mod tests {
    use slowpath_packet::Ecn;
    use slowpath_record::Traffic;

    use super::*;

    #[test]
    fn another_mark_than_asked_for_degrades_the_run() {
        let sent = |dscp, bytes| MarkCount {
            at: MarkPlace::Sent("client".to_owned()),
            flow: "tcp".to_owned(),
            dscp: Dscp::new(dscp).unwrap(),
            ecn: Ecn::NotEct,
            traffic: Traffic { packets: 1, bytes },
        };
        let counts = [sent(8, 1500), sent(18, 60), sent(8, 100)];
        assert_eq!(most_sent(&counts, "client"), Dscp::new(8));
        assert_eq!(most_sent(&counts, "server"), None);
        for (wanted, reasons) in [(8, 0), (18, 1), (0, 1)] {
            let mut done = Done {
                marks: vec![("client".to_owned(), wanted), ("server".to_owned(), wanted)],
                ..Done::default()
            };
            judge(&counts, &mut done);
            assert_eq!(done.reasons.len(), reasons, "{wanted}: {:?}", done.reasons);
        }
    }
}

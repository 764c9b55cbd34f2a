//! The marks that packets really carried, counted on the wire: by host that sent them, and by element that dropped
//! them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use slowpath_lab::{PacketSink, Seen, SeenPacket};
use slowpath_packet::Dscp;
use slowpath_record::{HealthState, Reason, Traffic};

use super::stage::Done;

/// Counts marks on the way to another sink, or to none; clones share the counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    /// By port and mark.
    sent: BTreeMap<(u16, u8), Traffic>,
    /// By element and mark.
    dropped: BTreeMap<(u16, u8), Traffic>,
}

/// A sink that counts marks before it hands packets on.
pub(super) struct Counting<S> {
    pub(super) marks: Marks,
    pub(super) next: Option<S>,
}

impl<S: PacketSink> PacketSink for Counting<S> {
    fn packet(&mut self, seen: &SeenPacket<'_>) {
        if let Some(mark) = mark(seen.bytes) {
            let mut counts = self.marks.0.lock().unwrap_or_else(PoisonError::into_inner);
            match seen.event {
                Seen::Sent(port) => counts.sent.entry((port.0, mark)).or_default().count(seen.length),
                Seen::Dropped(element, _) => counts
                    .dropped
                    .entry((element.0, mark))
                    .or_default()
                    .count(seen.length),
                Seen::Passed(_) | Seen::Delivered(_) => {}
            }
        }
        if let Some(next) = &mut self.next {
            next.packet(seen);
        }
    }

    fn finish(&mut self) {
        if let Some(next) = &mut self.next {
            next.finish();
        }
    }
}

/// The DSCP of an IP packet.
fn mark(packet: &[u8]) -> Option<u8> {
    match packet {
        [first, tos, ..] if first >> 4 == 4 => Some(tos >> 2),
        [first, second, ..] if first >> 4 == 6 => Some(((first & 15) << 2) | (second >> 6)),
        _ => None,
    }
}

impl Marks {
    /// Tells what was seen, and degrades the run where it is not what a job's settings ask for.
    ///
    /// `ports` and `elements` are names by number.
    pub(super) fn tell(&self, ports: &[String], elements: &[String], done: &mut Done) {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, host) in (0..).zip(ports) {
            let sent = by_mark(&counts.sent, number);
            if sent.is_empty() {
                continue;
            }
            done.notes
                .push(format!("marks sent by {host}: {}", listed(&sent)));
            let most = sent.iter().max_by_key(|(_, traffic)| traffic.bytes);
            let wanted = done.marks.iter().find(|(name, _)| name == host);
            if let (Some((seen, _)), Some((_, wanted))) = (most, wanted)
                && seen != wanted
            {
                done.reasons.push(Reason {
                    code: "marks".to_owned(),
                    state: HealthState::Degraded,
                    text: format!(
                        "most of what {host} sent carried {}, but its settings ask for {}: what the network did \
                         to the one says nothing about the other",
                        named(*seen),
                        named(*wanted)
                    ),
                });
            }
        }
        for (number, element) in (0..).zip(elements) {
            let dropped = by_mark(&counts.dropped, number);
            if !dropped.is_empty() {
                done.notes.push(format!(
                    "marks of packets dropped by {element}: {}",
                    listed(&dropped)
                ));
            }
        }
    }
}

fn by_mark(counts: &BTreeMap<(u16, u8), Traffic>, number: u16) -> Vec<(u8, Traffic)> {
    counts
        .range((number, 0)..=(number, u8::MAX))
        .map(|((_, mark), traffic)| (*mark, *traffic))
        .collect()
}

fn listed(counts: &[(u8, Traffic)]) -> String {
    let words: Vec<String> = counts
        .iter()
        .map(|(mark, traffic)| {
            format!(
                "{} on {} packets ({} bytes)",
                named(*mark),
                traffic.packets,
                traffic.bytes
            )
        })
        .collect();
    words.join(", ")
}

fn named(mark: u8) -> String {
    match Dscp::new(mark) {
        Some(dscp) if mark != 0 => format!("{dscp} (DSCP {mark})"),
        _ => "no mark (DSCP 0)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_lab::PacketSink;
    use slowpath_path::{PacketId, PortId};
    use slowpath_units::Time;

    struct Nobody;

    impl PacketSink for Nobody {
        fn packet(&mut self, _: &SeenPacket<'_>) {}
    }

    fn see(sink: &mut Counting<Nobody>, port: u16, bytes: &[u8], length: u32) {
        sink.packet(&SeenPacket {
            event: Seen::Sent(PortId(port)),
            at: Time::ZERO,
            id: PacketId(1),
            bytes,
            length,
        });
    }

    #[test]
    fn another_mark_than_asked_for_degrades_the_run() {
        let marks = Marks::default();
        let mut sink = Counting {
            marks: marks.clone(),
            next: Some(Nobody),
        };
        for (bytes, length) in [
            (&[0x45, 0x20, 0, 0][..], 1500),
            (&[0x45, 0x48, 0, 0], 60),
            (&[0x60 | 0x02, 0x00, 0, 0], 100),
            (&[0x45], 1),
        ] {
            see(&mut sink, 0, bytes, length);
        }
        let hosts = ["client".to_owned(), "server".to_owned()];
        let mut done = Done {
            marks: vec![("client".to_owned(), 8)],
            ..Done::default()
        };
        marks.tell(&hosts, &[], &mut done);
        assert_eq!(
            done.notes,
            [
                "marks sent by client: cs1 (DSCP 8) on 2 packets (1600 bytes), af21 (DSCP 18) on 1 packets (60 bytes)"
            ]
        );
        assert!(done.reasons.is_empty(), "{:?}", done.reasons);
        done.marks = vec![("client".to_owned(), 0)];
        marks.tell(&hosts, &[], &mut done);
        assert_eq!(done.reasons.len(), 1);
        assert_eq!(done.reasons[0].code, "marks");
    }
}

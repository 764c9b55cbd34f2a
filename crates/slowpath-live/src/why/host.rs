//! What this machine itself dropped meanwhile: its queues towards the devices, and the devices.
//!
//! Such losses look like the path's in a connection's samples.

use std::collections::HashMap;

use serde::Serialize;
use slowpath_report::quantity;
use slowpath_sys::netlink::Netlink;

/// What one device dropped while the watch lasted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostDrops {
    /// Name of the device.
    pub device: String,
    /// Kind of its queue: `fq_codel`.
    pub queue: String,
    /// Packets dropped by the queue before they reached the device.
    pub queue_drops: u64,
    /// Packets that the device dropped instead of sending.
    pub sent_drops: u64,
    /// Packets that were dropped on arrival, by the device or before any program's socket.
    pub received_drops: u64,
    /// Packets sent meanwhile; a train counts once.
    pub sent: u64,
    /// Packets received meanwhile.
    pub received: u64,
}

/// The counters of a machine's devices at the begin of a watch.
pub struct HostCounters {
    netlink: Netlink,
    before: HashMap<u32, Counted>,
}

#[derive(Debug, Clone, Default)]
struct Counted {
    name: String,
    queue: String,
    queue_drops: u32,
    stats: slowpath_sys::netlink::LinkStats,
}

impl HostCounters {
    /// Reads the counters of the calling thread's network namespace; `None` where it does not tell them.
    pub fn begin() -> Option<Self> {
        let mut netlink = Netlink::open().ok()?;
        let before = read(&mut netlink).ok()?;
        Some(Self { netlink, before })
    }

    /// What was dropped since, of the namespace where it began.
    pub fn end(mut self) -> Vec<HostDrops> {
        let Ok(after) = read(&mut self.netlink) else {
            return Vec::new();
        };
        let mut drops: Vec<HostDrops> = after
            .into_iter()
            .filter_map(|(link, now)| {
                let before = self.before.get(&link)?;
                let (a, b) = (&before.stats, &now.stats);
                Some(HostDrops {
                    // Counters of queues are 32 bits wide and go around.
                    queue_drops: now.queue_drops.wrapping_sub(before.queue_drops).into(),
                    sent_drops: b.tx_dropped.saturating_sub(a.tx_dropped),
                    received_drops: b.rx_dropped.saturating_sub(a.rx_dropped),
                    sent: b.tx_packets.saturating_sub(a.tx_packets),
                    received: b.rx_packets.saturating_sub(a.rx_packets),
                    device: now.name,
                    queue: now.queue,
                })
            })
            .filter(|one| one.queue_drops + one.sent_drops + one.received_drops > 0)
            .collect();
        drops.sort_by_key(|one| std::cmp::Reverse(one.queue_drops + one.sent_drops + one.received_drops));
        drops
    }
}

impl HostDrops {
    /// What follows for a reader; `None` where it is too little to matter.
    pub fn sentence(&self) -> Option<String> {
        let part = |drops: u64, of: u64| {
            let share = drops as f64 / (drops + of).max(1) as f64;
            (drops >= LEAST && share >= SHARE).then(|| format!("{drops} ({})", quantity::percent(share)))
        };
        let left = part(self.queue_drops + self.sent_drops, self.sent).map(|count| {
            let queue = match (self.queue_drops > 0, self.queue.as_str()) {
                (true, queue) if !queue.is_empty() => format!(" in its queue ({queue})"),
                _ => String::new(),
            };
            format!("{count} on their way out{queue}")
        });
        let came = part(self.received_drops, self.received).map(|count| format!("{count} on arrival"));
        let what = [left, came]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" and ");
        (!what.is_empty()).then(|| {
            format!(
                "This machine itself dropped packets at {} meanwhile: {what}. Such losses are not the path's (tc -s qdisc; ip -s link).",
                self.device
            )
        })
    }
}

fn read(netlink: &mut Netlink) -> std::io::Result<HashMap<u32, Counted>> {
    let queues = netlink.queues()?;
    let mut counted: HashMap<u32, Counted> = netlink
        .links()?
        .into_iter()
        .map(|link| {
            let counted = Counted {
                name: link.name,
                stats: link.stats,
                ..Counted::default()
            };
            (link.index, counted)
        })
        .collect();
    for queue in queues {
        let Some(device) = counted.get_mut(&queue.link) else {
            continue;
        };
        // A device with several queues has one in each of them below a root that only hands out.
        if queue.is_root {
            device.queue = queue.kind;
            device.queue_drops = device.queue_drops.max(queue.drops);
        } else {
            device.queue_drops = device.queue_drops.max(queue.drops);
        }
    }
    Ok(counted)
}

/// Fewer drops than these matter to no transfer,
const LEAST: u64 = 3;
/// and so does a smaller share of the packets.
const SHARE: f64 = 0.000_1;

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(queue_drops: u64, received_drops: u64) -> HostDrops {
        HostDrops {
            device: "eth0".to_owned(),
            queue: "fq_codel".to_owned(),
            queue_drops,
            sent_drops: 0,
            received_drops,
            sent: 9_900,
            received: 100_000,
        }
    }

    #[test]
    fn drops_of_this_machine_are_told_where_they_matter() {
        let text = dropped(100, 0).sentence().unwrap();
        assert!(
            text.contains("at eth0 meanwhile: 100 (1.0 %) on their way out in its queue (fq_codel)"),
            "{text}"
        );
        let both = dropped(100, 200).sentence().unwrap();
        assert!(both.contains("and 200 (0.20 %) on arrival"), "{both}");
        // Some frames of no protocol are dropped by every machine.
        assert_eq!(dropped(0, 2).sentence(), None);
        assert_eq!(dropped(0, 5).sentence(), None);
    }

    #[test]
    fn the_counters_of_this_machine_can_be_read() {
        let counters = HostCounters::begin().expect("a namespace with devices");
        assert!(counters.end().iter().all(|one| !one.device.is_empty()));
    }
}

//! Queues of packets that leave this machine, with what they dropped.

use std::io;

use super::message::u32_at;
use super::{Attributes, Message, Netlink};

/// One queueing discipline of a device (`tc -s qdisc`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    /// Index of the device.
    pub link: u32,
    /// Its kind, such as `"fq_codel"`.
    pub kind: String,
    /// Whether it is the device's outermost one, which counts what those inside it dropped as well.
    pub is_root: bool,
    /// Packets that it dropped since it was made.
    pub drops: u32,
    /// Packets in it now.
    pub packets: u32,
    /// Bytes in it now.
    pub bytes: u32,
    /// Packets that the device handed back.
    pub requeues: u32,
}

impl Netlink {
    /// Lists the queueing disciplines of the namespace; devices without a queue have none.
    ///
    /// # Errors
    /// Those of the netlink request.
    pub fn queues(&mut self) -> io::Result<Vec<Queue>> {
        // struct tcmsg, for all devices.
        let message = Message::new(RTM_GETQDISC, &[0; 20]);
        let mut all = Vec::new();
        self.socket
            .request(message, super::address::DUMP, &mut |_, payload| {
                all.extend(parse(payload));
            })?;
        Ok(all)
    }
}

/// `struct tcmsg` and its attributes.
fn parse(payload: &[u8]) -> Option<Queue> {
    let mut queue = Queue {
        link: u32_at(payload, 4)?,
        is_root: u32_at(payload, 12)? == TC_H_ROOT,
        ..Queue::default()
    };
    for (kind, value) in Attributes(payload.get(20..)?) {
        match kind {
            TCA_KIND => {
                let text = value.strip_suffix(&[0]).unwrap_or(value);
                queue.kind = String::from_utf8_lossy(text).into_owned();
            }
            TCA_STATS2 => {
                let counted = Attributes(value).find(|(kind, _)| *kind == TCA_STATS_QUEUE);
                if let Some((_, counted)) = counted {
                    let word = |position: usize| u32_at(counted, position * 4).unwrap_or(0);
                    (queue.packets, queue.bytes) = (word(0), word(1));
                    (queue.drops, queue.requeues) = (word(2), word(3));
                }
            }
            _ => {}
        }
    }
    Some(queue)
}

/// `include/uapi/linux/rtnetlink.h` and `gen_stats.h`.
const RTM_GETQDISC: u16 = 38;
const TC_H_ROOT: u32 = u32::MAX;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_a_queue_are_read() {
        let mut message = Message::new(RTM_GETQDISC, &[0; 0]);
        let mut fixed = [0; 20];
        fixed[4..8].copy_from_slice(&3_u32.to_ne_bytes());
        fixed[12..16].copy_from_slice(&TC_H_ROOT.to_ne_bytes());
        message.raw(&fixed);
        message.attribute_text(TCA_KIND, "fq_codel");
        message.nest(TCA_STATS2, |inner| {
            let words: Vec<u8> = [5_u32, 7_500, 12, 1, 0]
                .iter()
                .flat_map(|word| word.to_ne_bytes())
                .collect();
            inner.attribute(TCA_STATS_QUEUE, &words);
        });
        let bytes = message.finish(0, 1);
        let queue = parse(&bytes[16..]).unwrap();
        let expected = Queue {
            link: 3,
            kind: "fq_codel".to_owned(),
            is_root: true,
            drops: 12,
            packets: 5,
            bytes: 7_500,
            requeues: 1,
        };
        assert_eq!(queue, expected);
        assert_eq!(parse(&bytes[16..30]), None);
    }

    #[test]
    fn the_kernel_lists_its_queues() {
        let mut netlink = Netlink::open().unwrap();
        let queues = netlink.queues().unwrap();
        assert!(
            queues
                .iter()
                .all(|queue| queue.link > 0 && !queue.kind.is_empty()),
            "{queues:?}"
        );
    }
}

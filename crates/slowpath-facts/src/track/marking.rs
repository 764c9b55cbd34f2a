//! Marks on the packets of one sender, and what its peer reports of them.

use slowpath_packet::Ecn;
use slowpath_record::packets::{TcpFlags, TcpPacket};

/// Marks on the packets of one sender, and what its peer reports of them (RFC 3168, RFC 9768).
#[derive(Debug, Default)]
pub(crate) struct Marking {
    /// Data packets marked CE.
    pub(crate) ce_packets: u64,
    /// Data packets marked ECT(0), ECT(1) or CE.
    pub(crate) ect_packets: u64,
    /// Acknowledgements with ECE (classic).
    pub(crate) ece_acks: u64,
    /// Data packets with CWR (classic).
    pub(crate) cwr_packets: u64,
    /// CE packets that the peer's ACE counter reported.
    pub(crate) ace_total: u64,
    /// CE bytes that the peer's AccECN option reported.
    pub(crate) ce_bytes: u64,
    /// DSCP values seen, in order.
    pub(crate) dscp: Vec<u8>,
    /// Smallest and largest TTL seen.
    pub(crate) ttl: Option<(u8, u8)>,
    ace_last: Option<u8>,
    ce_bytes_last: Option<u32>,
}

impl Marking {
    /// Takes any packet of this sender.
    pub(super) fn sent(&mut self, packet: &TcpPacket) {
        if self.dscp.last() != Some(&packet.dscp.value())
            && self.dscp.len() < 16
            && !self.dscp.contains(&packet.dscp.value())
        {
            self.dscp.push(packet.dscp.value());
        }
        self.ttl = Some(self.ttl.map_or((packet.ttl, packet.ttl), |(low, high)| {
            (low.min(packet.ttl), high.max(packet.ttl))
        }));
    }

    /// Takes a packet of this sender that carries data.
    pub(super) fn sent_data(&mut self, packet: &TcpPacket) {
        match packet.ecn {
            Ecn::NotEct => {}
            Ecn::Ce => {
                self.ce_packets += 1;
                self.ect_packets += 1;
            }
            Ecn::Ect0 | Ecn::Ect1 => self.ect_packets += 1,
        }
        self.cwr_packets += u64::from(packet.flags.has(TcpFlags::CWR));
    }

    /// How many marks an acknowledgement of the peer reports for the first time; `accurate` tells how it does so.
    pub(super) fn reported(&mut self, packet: &TcpPacket, accurate: bool) -> u16 {
        if packet.flags.has(TcpFlags::SYN) {
            return 0;
        }
        if !accurate {
            let marked = packet.flags.has(TcpFlags::ECE);
            self.ece_acks += u64::from(marked);
            return u16::from(marked);
        }
        let ace = packet.flags.ace();
        let delta = self.ace_last.map_or(0, |last| ace.wrapping_sub(last) & 7);
        self.ace_last = Some(ace);
        self.ace_total += u64::from(delta);
        if let Some(ce) = packet.accecn.and_then(|option| option.ce) {
            let step = self
                .ce_bytes_last
                .map_or(0, |last| ce.wrapping_sub(last) & 0x00ff_ffff);
            if step < 1 << 23 {
                self.ce_bytes += u64::from(step);
                self.ce_bytes_last = Some(ce);
            }
        }
        u16::from(delta)
    }
}

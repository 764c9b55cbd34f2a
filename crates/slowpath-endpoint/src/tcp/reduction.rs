//! How the window falls during recovery (RFC 6937 with the slow start bound; `tcp_cwnd_reduction`).

use crate::cc::Window;

/// Proportional rate reduction, and what the peer must be told of a reduction.
///
/// It promises that, by the end of recovery, as much was sent in proportion to what was delivered as the new threshold
/// is to the old window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reduction {
    /// Segments delivered and sent since the reduction began.
    delivered: u32,
    out: u32,
    /// CWR is owed to the peer (RFC 3168, section 6.1.2).
    announce: bool,
}

impl Reduction {
    /// The window begins to fall.
    pub(crate) const fn begin(&mut self) {
        self.delivered = 0;
        self.out = 0;
        self.announce = true;
    }

    /// The window fell at once, as after a timeout.
    pub(crate) const fn announce(&mut self) {
        self.announce = true;
    }

    /// The reduction was taken back.
    pub(crate) const fn withdraw(&mut self) {
        self.announce = false;
    }

    /// Whether CWR goes with the next new data; asked once.
    pub(crate) const fn take_announcement(&mut self) -> bool {
        std::mem::replace(&mut self.announce, false)
    }

    /// A segment left while the window falls.
    pub(crate) const fn sent(&mut self) {
        self.out += 1;
    }

    /// `acked_sacked` segments were delivered: how many may follow.
    pub(crate) fn quota(
        &mut self,
        window: &Window,
        in_flight: u32,
        acked_sacked: u32,
        newly_lost: u32,
        advanced: bool,
    ) -> u32 {
        let ssthresh = window.ssthresh;
        self.delivered += acked_sacked;
        let send = if in_flight > ssthresh {
            let quota = (u64::from(ssthresh) * u64::from(self.delivered)).div_ceil(u64::from(window.prior));
            u32::try_from(quota).unwrap_or(u32::MAX).saturating_sub(self.out)
        } else {
            let mut send = self.delivered.saturating_sub(self.out).max(acked_sacked);
            if advanced && newly_lost == 0 {
                send += 1;
            }
            send.min(ssthresh - in_flight)
        };
        // Entering recovery always retransmits one segment.
        send.max(u32::from(self.out == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_as_much_is_sent_as_was_delivered() {
        // RFC 6937, section 4: from 20 segments to 10, one segment lost.
        let mut window = Window::new(20, Some(10));
        window.prior = 20;
        let mut reduction = Reduction::default();
        reduction.begin();
        let (mut in_flight, mut sent) = (19, 0);
        for _ in 0..18 {
            in_flight -= 1;
            for _ in 0..reduction.quota(&window, in_flight, 1, 0, true) {
                reduction.sent();
                in_flight += 1;
                sent += 1;
            }
        }
        assert_eq!((sent, in_flight), (9, 10));
        assert!(reduction.take_announcement());
        assert!(!reduction.take_announcement());
    }
}

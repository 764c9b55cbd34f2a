//! What an element is asked, answers and may touch besides itself.

use slowpath_units::Time;

use crate::carried::Carried;
use crate::counters::Counters;
use crate::flows::Flows;
use crate::outcome::{DropCause, Edit, ElementId, Outcome};
use crate::packet::{Packet, PacketId, Slot};
use crate::told::Told;

/// What an element did with a packet that came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It goes on at once, through this output.
    Pass(u8),
    /// The element keeps it; its next event is at this time.
    Hold(Time),
    /// It is lost here.
    Drop(DropCause),
    /// It ended here without being lost; the element has said so.
    Gone,
}

/// What came of an element's event, which the network asks the element about again at its next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Released {
    /// The packet written into the place given leaves through this output.
    To(u8),
    /// Nothing leaves.
    Nothing,
}

/// What an element may touch besides itself.
pub(crate) struct Context<'a> {
    pub(crate) element: ElementId,
    pub(crate) counters: &'a mut Counters,
    pub(crate) shared: &'a mut Shared,
}

/// What all elements of one network share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) outcomes: Told,
    pub(crate) flows: Flows,
    pub(crate) carried: Carried,
    /// The number of the last packet handed in.
    pub(crate) last_ingress: u64,
    /// Where the numbers of this network's packets begin.
    first_id: u64,
    /// Packets that an element made besides the one in hand, with the output they take.
    pub(crate) extra: Vec<(u8, Packet)>,
    /// Whether anything but deliveries was told since this was last cleared.
    pub(crate) mixed: bool,
    /// Emptied lists to use again.
    pub(crate) spare: Vec<Vec<(u8, Packet)>>,
}

impl Shared {
    pub(crate) fn numbered_from(first: u64) -> Self {
        Self {
            last_ingress: first,
            first_id: first,
            ..Self::default()
        }
    }

    /// Tells the driver of anything but a delivery.
    pub(crate) fn tell(&mut self, outcome: Outcome) {
        self.mixed = true;
        self.outcomes.tell(outcome);
    }

    pub(crate) fn ingress_id(&mut self) -> PacketId {
        self.last_ingress += 1;
        PacketId(self.last_ingress)
    }

    #[cold]
    pub(crate) fn take_extra(&mut self) -> Vec<(u8, Packet)> {
        let empty = self.spare.pop().unwrap_or_default();
        std::mem::replace(&mut self.extra, empty)
    }

    /// Takes a packet out of every tunnel, for its final report.
    #[inline]
    pub(crate) fn unwrap(&mut self, packet: &mut Packet) {
        if packet.inner != Slot::NONE {
            self.open_all(packet);
        }
    }

    #[cold]
    fn open_all(&mut self, packet: &mut Packet) {
        while packet.inner != Slot::NONE && !packet.is_fragment() {
            let carrier = *packet;
            *packet = self.carried.open(&carrier);
        }
        self.carried.release(packet.inner);
        packet.inner = Slot::NONE;
    }
}

impl Context<'_> {
    /// A number for a packet made here. Each element counts its own, since in which order elements act within a
    /// span of time depends on how the driver cuts time.
    pub(crate) fn new_id(&mut self) -> PacketId {
        self.counters.made += 1;
        PacketId(self.shared.first_id | 1 << 47 | u64::from(self.element.0) << 31 | self.counters.made)
    }

    /// Reports that `packet` ends here.
    pub(crate) fn drop(&mut self, at: Time, packet: &mut Packet, cause: DropCause) {
        self.counters.count_drop(cause, packet.ip_len);
        self.shared.unwrap(packet);
        let packet = *packet;
        self.shared.tell(Outcome::Dropped {
            element: self.element,
            cause,
            at,
            packet,
        });
    }

    /// Reports a change of header field that `packet` now carries.
    pub(crate) fn edit(&mut self, at: Time, packet: &Packet, edit: Edit) {
        self.shared.tell(Outcome::Edit {
            element: self.element,
            at,
            packet: packet.shown(),
            edit,
        });
    }

    /// Sends one more packet out of `output`, made here.
    pub(crate) fn create(&mut self, output: u8, packet: Packet) {
        self.counters.created.count(packet.ip_len);
        self.shared.extra.push((output, packet));
    }
}

//! What the network asks of each element, and the enum that dispatches.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use slowpath_record::Traffic;
use slowpath_units::{Duration, Time};

use crate::carried::Carried;
use crate::counters::Counters;
use crate::dice::Dice;
use crate::elements::{
    Adjust, Framing, classify, delay, device, duplicate, link, loss, mtu, police, remark, router, tap, treat,
    tunnel,
};
use crate::flows::Flows;
use crate::outcome::{DropCause, Edit, ElementId, Outcome};
use crate::packet::{Packet, PacketId, Slot};
use crate::spec::{ElementKind, SettingError};

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
    pub(crate) outcomes: VecDeque<Outcome>,
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
        self.outcomes.push_back(outcome);
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

/// A built element.
#[derive(Debug)]
pub(crate) enum Element {
    Link(link::State),
    Delay(delay::State),
    Loss(loss::State),
    Duplicate(duplicate::State),
    Tap(tap::State),
    Classify(classify::State),
    Remark(remark::State),
    Police(Box<police::State>),
    Treat(Box<treat::State>),
    Device(Box<device::State>),
    Router(router::State),
    Mtu(mtu::State),
    Encapsulate(tunnel::Entry),
    Decapsulate(tunnel::Exit),
    Adjust(Adjust),
    Framing(Framing),
}

impl Element {
    /// Builds what `kind` says, with `outputs` outputs wired; tunnels register their own flows.
    pub(crate) fn new(kind: &ElementKind, outputs: usize, dice: Dice, flows: &mut Flows) -> Self {
        match kind {
            ElementKind::Link(config) => Self::Link(link::State::new(config, dice)),
            ElementKind::Delay(config) => Self::Delay(delay::State::new(config, dice)),
            ElementKind::Loss(config) => Self::Loss(loss::State::new(config, dice)),
            ElementKind::Duplicate(config) => Self::Duplicate(duplicate::State::new(*config, dice)),
            ElementKind::Tap(config) => Self::Tap(tap::State::new(*config)),
            ElementKind::Classify(config) => Self::Classify(classify::State::new(config)),
            ElementKind::Remark(config) => Self::Remark(remark::State::new(config)),
            ElementKind::Police(config) => Self::Police(Box::new(police::State::new(config))),
            ElementKind::Treat(config) => Self::Treat(Box::new(treat::State::new(config, dice))),
            ElementKind::Device(config) => Self::Device(Box::new(device::State::new(config))),
            ElementKind::Router(config) => Self::Router(router::State::new(config, outputs)),
            ElementKind::Mtu(config) => Self::Mtu(mtu::State::new(config, outputs)),
            ElementKind::Encapsulate(config) => Self::Encapsulate(tunnel::Entry::new(config, flows)),
            ElementKind::Decapsulate(config) => Self::Decapsulate(tunnel::Exit::new(*config)),
            ElementKind::Adjust(config) => Self::Adjust(*config),
            ElementKind::Framing(config) => Self::Framing(*config),
        }
    }

    /// A packet has arrived at `input`; it may be changed in place before it goes on.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        at: Time,
        input: u8,
        packet: &mut Packet,
        context: &mut Context<'_>,
    ) -> Step {
        match self {
            Self::Link(state) => state.accept(at, packet, context),
            Self::Delay(state) => state.accept(at, packet),
            Self::Loss(state) => state.accept(packet),
            Self::Duplicate(state) => state.accept(at, packet, context),
            Self::Tap(state) => state.accept(at, packet, context),
            Self::Classify(state) => state.accept(packet, &context.shared.flows),
            Self::Remark(state) => state.accept(at, packet, context),
            Self::Police(state) => state.accept(at, packet, context),
            Self::Treat(state) => state.accept(at, packet, context),
            Self::Device(state) => state.accept(at, input, packet, context),
            Self::Router(state) => state.accept(at, packet, context),
            Self::Mtu(state) => state.accept(at, packet, context),
            Self::Encapsulate(state) => state.accept(packet, context),
            Self::Decapsulate(state) => state.accept(at, packet, context),
            Self::Adjust(state) => state.accept(at, packet, context),
            Self::Framing(state) => state.accept(packet),
        }
    }

    /// When it next wants [`Element::release`]; `Time::MAX` for never.
    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        match self {
            Self::Link(state) => state.next_event(),
            Self::Delay(state) => state.next_event(),
            Self::Device(state) => state.next_event(),
            Self::Decapsulate(state) => state.next_event(),
            _ => Time::MAX,
        }
    }

    /// Its time has come: at most one packet leaves, written to `packet`.
    #[inline]
    pub(crate) fn release(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Released {
        match self {
            Self::Link(state) => state.release(at, packet, context),
            Self::Delay(state) => state.release(packet),
            Self::Device(state) => state.release(at, packet, context),
            Self::Decapsulate(state) => state.release(at, context),
            _ => Released::Nothing,
        }
    }

    /// Whether an arrival finds a different state before and after a release that is due.
    pub(crate) fn reacts(&self) -> bool {
        match self {
            Self::Link(state) => state.reacts(),
            Self::Device(_) | Self::Decapsulate(_) => true,
            _ => false,
        }
    }

    /// What it holds.
    pub(crate) fn inside(&self) -> Traffic {
        match self {
            Self::Link(state) => state.inside(),
            Self::Delay(state) => state.inside(),
            Self::Device(state) => state.inside(),
            Self::Decapsulate(state) => state.inside(),
            _ => Traffic::default(),
        }
    }
}

impl ElementKind {
    /// How many inputs it tells apart.
    pub fn inputs(&self) -> u8 {
        match self {
            Self::Device(config) => config.rings.len() as u8,
            _ => 1,
        }
    }

    /// How many outputs may be wired.
    pub fn outputs(&self) -> RangeInclusive<usize> {
        match self {
            Self::Classify(config) => {
                let outputs = usize::from(config.outputs());
                outputs..=outputs
            }
            Self::Device(config) => config.rings.len()..=config.rings.len(),
            Self::Router(_) | Self::Mtu(_) => 1..=2,
            _ => 1..=1,
        }
    }

    /// How long it holds every packet at least.
    pub(crate) fn least_delay(&self) -> Duration {
        match self {
            Self::Delay(config) => config.least(),
            _ => Duration::ZERO,
        }
    }

    /// Whether the driver is told of packets that pass.
    pub(crate) fn records(&self) -> bool {
        matches!(self, Self::Tap(config) if config.record)
    }

    /// The output that only ICMP messages take, if it has one. Such messages are never answered, so these outputs
    /// may close a loop.
    pub(crate) fn answer_output(&self) -> Option<usize> {
        matches!(self, Self::Router(_) | Self::Mtu(_)).then_some(1)
    }

    /// Looks for impossible settings.
    pub(crate) fn check(&self) -> Result<(), SettingError> {
        match self {
            Self::Link(config) => config.check(),
            Self::Delay(config) => config.check(),
            Self::Loss(config) => config.check(),
            Self::Classify(config) => config.check(),
            Self::Police(config) => config.check(),
            Self::Treat(config) => config.check(),
            Self::Device(config) => config.check(),
            Self::Mtu(config) => config.check(),
            Self::Decapsulate(config) => config.check(),
            Self::Duplicate(_)
            | Self::Tap(_)
            | Self::Remark(_)
            | Self::Router(_)
            | Self::Encapsulate(_)
            | Self::Adjust(_)
            | Self::Framing(_) => Ok(()),
        }
    }
}

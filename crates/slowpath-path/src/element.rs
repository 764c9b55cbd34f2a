//! One built element: the enum that dispatches.

use std::ops::RangeInclusive;

use slowpath_record::Traffic;
use slowpath_units::{Duration, Time};

use crate::context::{Context, Released, Step};
use crate::dice::Dice;
use crate::elements::{
    Adjust, Framing, classify, delay, device, duplicate, link, loss, mtu, police, remark, router, tap, treat,
    tunnel,
};
use crate::flows::Flows;
use crate::packet::Packet;
use crate::setting::SettingError;
use crate::spec::ElementKind;

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

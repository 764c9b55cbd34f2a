//! What a running program is told.

use std::fmt::Debug;

use slowpath_record::FlowResult;

use crate::host::ConnId;
use crate::system::System;
use crate::tcp::Events;
use crate::wire::{Echo, UdpHeader};

/// A running program: told what happens, it acts on its host through [`System`].
pub(crate) trait Program: Debug + Send {
    /// The program's time has come.
    fn start(&mut self, system: &mut System<'_>);

    /// Something happened on one of its connections.
    fn connection(&mut self, _system: &mut System<'_>, _conn: ConnId, _events: Events) {}

    /// A connection to a port it listens on is established.
    fn accepted(&mut self, _system: &mut System<'_>, _conn: ConnId, _port: u16) {}

    /// The time it asked for has come.
    fn timer(&mut self, _system: &mut System<'_>) {}

    /// A datagram arrived at a port of its own.
    fn datagram(&mut self, _system: &mut System<'_>, _udp: &UdpHeader, _len: u32) {}

    /// An echo reply arrived for it.
    fn echo(&mut self, _system: &mut System<'_>, _echo: Echo) {}

    /// What it counted so far, for programs that never end by themselves.
    fn summary(&self) -> Option<FlowResult> {
        None
    }
}

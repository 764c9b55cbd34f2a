//! A machine with addresses, connections and programs.

mod report;
mod settings;

use std::collections::VecDeque;
use std::hint::cold_path;
use std::net::SocketAddr;

use slowpath_record::FlowResult;
use slowpath_units::Time;

pub use report::{AppId, ConnId, Report};
pub use settings::{HostConfig, InputLimit};

use crate::app::{self, Behaviour, Program};
use crate::system::{Sockets, System};
use crate::tcp;
use crate::timers::{Timer, Timers};
use crate::wire::{Echo, Ends, Flags, Header, OwnedPayload, Payload, TcpHeader, Transmit, Transport};

/// A machine with addresses, connections and programs.
///
/// Call order of a driver: [`receive`](Self::receive) for each packet that arrives, in time order;
/// [`advance`](Self::advance) when [`next_event`](Self::next_event) is due; after either,
/// [`poll_transmit`](Self::poll_transmit) (or [`take_transmits`](Self::take_transmits)) and
/// [`poll_report`](Self::poll_report) until they are empty.
/// Being late with `advance` does not change what happens: every timer acts at its own time, which
/// [`Transmit::at`] shows.
#[derive(Debug)]
pub struct Host {
    sockets: Sockets,
    programs: Vec<Slot>,
    timers: Timers,
    reports: VecDeque<Report>,
    now: Time,
    input: VecDeque<(Time, Header, OwnedPayload)>,
    input_free: Time,
    input_dropped: u64,
    turns: u64,
}

#[derive(Debug)]
struct Slot {
    start: Option<Time>,
    wake: Option<Time>,
    ended: bool,
    /// Taken out while it runs.
    program: Option<Box<dyn Program>>,
}

impl Host {
    /// A host as `config` says; `seed` decides its initial sequence numbers and other random choices.
    pub fn new(config: HostConfig, seed: u64) -> Self {
        Self {
            sockets: Sockets::new(config, seed),
            programs: Vec::new(),
            timers: Timers::default(),
            reports: VecDeque::new(),
            now: Time::ZERO,
            input: VecDeque::new(),
            input_free: Time::ZERO,
            input_dropped: 0,
            turns: 0,
        }
    }

    /// Starts a program at `at`, or at once if that has passed.
    pub fn start(&mut self, at: Time, behaviour: Behaviour) -> AppId {
        let app = AppId(u32::try_from(self.programs.len()).unwrap_or(u32::MAX));
        let program = Some(app::program(behaviour));
        self.programs.push(Slot {
            start: Some(at.max(self.now)),
            wake: None,
            ended: false,
            program,
        });
        self.timers.set(Timer::Program(app), at.max(self.now));
        app
    }

    /// What the host is.
    pub const fn config(&self) -> &HostConfig {
        &self.sockets.config
    }

    /// Takes a packet that arrived at `now`; packets to foreign addresses are ignored.
    ///
    /// Timers due before `now` act first.
    pub fn receive(&mut self, now: Time, header: &Header, payload: Payload<'_>) {
        self.advance_before(now);
        self.now = now;
        self.turns += 1;
        if !self.sockets.config.addresses.contains(&header.dst) {
            cold_path();
            return;
        }
        let Some(limit) = self.sockets.config.input else {
            self.deliver(now, header, payload);
            self.settle(now);
            return;
        };
        if self.input.len() > limit.queue as usize {
            self.input_dropped += 1;
            return;
        }
        let taken = self.input_free.max(now);
        self.input_free = taken + limit.per_packet;
        if taken == now && self.input.is_empty() {
            self.deliver(now, header, payload);
            self.settle(now);
            return;
        }
        let payload = match payload {
            Payload::Synthetic(len) => OwnedPayload::Synthetic(len),
            Payload::Bytes(bytes) => OwnedPayload::Bytes(bytes.into()),
        };
        self.input.push_back((taken, *header, payload));
        self.timers.set(Timer::Input, self.input[0].0);
    }

    /// When [`advance`](Self::advance) must be called at the latest; `None` means only a packet can wake the host.
    ///
    /// Nothing may happen then: the time is a lower bound.
    pub fn next_event(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Lets everything happen that is due up to and including `to`, each at its own time.
    pub fn advance(&mut self, to: Time) {
        while let Some(at) = self.timers.next().filter(|at| *at <= to) {
            self.step(at);
        }
        self.now = self.now.max(to);
    }

    fn advance_before(&mut self, now: Time) {
        while let Some(at) = self.timers.next().filter(|at| *at < now) {
            self.step(at);
        }
    }

    /// The next packet to send, in time order.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.sockets.out.pop()
    }

    /// Hands out all packets to send, in time order, without moving them about.
    pub fn take_transmits(&mut self, take: impl FnMut(&mut Transmit)) {
        self.sockets.out.take_all(take);
    }

    /// The next report of a program.
    pub fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// What programs that never end have counted so far (UDP sinks).
    pub fn summaries(&self) -> impl Iterator<Item = (AppId, FlowResult)> {
        self.programs
            .iter()
            .zip(0..)
            .filter_map(|(slot, number)| Some((AppId(number), slot.program.as_ref()?.summary()?)))
    }

    /// Whether a program has ended; servers and sinks never do.
    pub fn has_ended(&self, app: AppId) -> bool {
        self.programs.get(app.0 as usize).is_some_and(|slot| slot.ended)
    }

    /// How often a packet has arrived or a timer has acted: while it stays the same, so does every connection.
    pub const fn turns(&self) -> u64 {
        self.turns
    }

    /// Packets dropped because too many waited to be received.
    pub const fn input_dropped(&self) -> u64 {
        self.input_dropped
    }

    /// What every connection shows of itself, in the order of their numbers.
    pub fn connections(&self) -> impl Iterator<Item = (ConnId, Ends, tcp::Info)> {
        self.sockets
            .iter()
            .map(|(conn, slot)| (conn, *slot.connection.ends(), slot.connection.info()))
    }

    /// Every connection, in the order of their numbers.
    pub fn each_connection(&self) -> impl Iterator<Item = &tcp::Connection> {
        self.sockets.iter().map(|(_, slot)| &slot.connection)
    }

    /// What one connection shows of itself.
    pub fn connection(&self, ends: &Ends) -> Option<tcp::Info> {
        self.sockets
            .iter()
            .find(|(_, slot)| slot.connection.ends() == ends)
            .map(|(_, slot)| slot.connection.info())
    }

    fn step(&mut self, at: Time) {
        let Some((at, timer)) = self.timers.pop(at) else {
            return;
        };
        self.now = self.now.max(at);
        self.turns += 1;
        match timer {
            Timer::Connection(conn) => {
                if let Some(slot) = self.sockets.get(conn) {
                    slot.connection.advance(at);
                    self.sockets.touch(conn);
                }
            }
            Timer::Program(app) => self.wake(at, app),
            Timer::Input => {
                while self.input.front().is_some_and(|(done, ..)| *done <= at) {
                    if let Some((_, header, payload)) = self.input.pop_front() {
                        self.deliver(at, &header, payload.borrow());
                    }
                }
                if let Some((done, ..)) = self.input.front() {
                    self.timers.set(Timer::Input, *done);
                }
            }
        }
        self.settle(at);
    }

    fn wake(&mut self, at: Time, app: AppId) {
        let Some(slot) = self.programs.get_mut(app.0 as usize) else {
            return;
        };
        if slot.start.is_some_and(|start| start <= at) {
            slot.start = None;
            self.call(at, app, |program, system| program.start(system));
        } else if slot.wake.is_some_and(|wake| wake <= at) {
            slot.wake = None;
            self.call(at, app, |program, system| program.timer(system));
        }
        // A wake-up in the future may have been registered under an earlier, stale time.
        if let Some(wake) = self
            .programs
            .get(app.0 as usize)
            .and_then(|slot| slot.start.or(slot.wake))
        {
            self.timers.set(Timer::Program(app), wake);
        }
    }

    fn deliver(&mut self, now: Time, header: &Header, payload: Payload<'_>) {
        match &header.transport {
            Transport::Tcp(tcp) => self.deliver_tcp(now, header, tcp, payload),
            Transport::Udp(udp) => {
                if let Some(app) = self.sockets.datagram_ports.get(&udp.dst_port).copied() {
                    self.call(now, app, |program, system| {
                        program.datagram(system, udp, payload.len());
                    });
                }
            }
            Transport::Echo(echo) if echo.reply => {
                if let Some(app) = self.sockets.echo_owners.get(&echo.identifier).copied() {
                    self.call(now, app, |program, system| program.echo(system, *echo));
                }
            }
            Transport::Echo(echo) => {
                let transport = Transport::Echo(Echo { reply: true, ..*echo });
                let reply = Header {
                    src: header.dst,
                    dst: header.src,
                    ttl: 64,
                    transport,
                    ..*header
                };
                let payload = match payload {
                    Payload::Synthetic(len) => OwnedPayload::Synthetic(len),
                    Payload::Bytes(bytes) => OwnedPayload::Bytes(bytes.into()),
                };
                self.sockets.out.push(Transmit {
                    at: now,
                    header: reply,
                    payload,
                });
            }
            Transport::TooBig(report) => {
                let flow = report.flow;
                let local = SocketAddr::new(flow.src, flow.src_port);
                let remote = SocketAddr::new(flow.dst, flow.dst_port);
                if let Some(conn) = self.sockets.find(&Ends { local, remote }) {
                    if let Some(slot) = self.sockets.get(conn) {
                        slot.connection.path_mtu(report.mtu);
                    }
                    self.sockets.touch(conn);
                }
            }
        }
    }

    fn deliver_tcp(&mut self, now: Time, header: &Header, tcp: &TcpHeader, payload: Payload<'_>) {
        if let Some(conn) = self.sockets.find_of(header, tcp) {
            if let Some(slot) = self.sockets.get(conn) {
                slot.connection.receive(now, tcp, header.ecn, payload);
            }
            self.sockets.touch(conn);
            return;
        }
        cold_path();
        let ends = Ends::receiving(header, tcp);
        let opens = tcp.flags.has(Flags::SYN) && !tcp.flags.has(Flags::ACK);
        let listener = self.sockets.listeners.get(&tcp.dst_port).copied();
        if let (true, Some((app, keep_bytes))) = (opens, listener) {
            let seed = self.sockets.next_seed();
            let asks_ecn = tcp.flags.has(Flags::ECE.with(Flags::CWR));
            let config = &self.sockets.config;
            let mut connection =
                tcp::Connection::accept(&config.tcp, ends, now, config.mtu, seed, tcp, asks_ecn);
            if keep_bytes {
                connection.keep_bytes();
            }
            self.sockets.insert(connection, app, Some(tcp.dst_port));
        } else {
            self.sockets.refuse(now, header, tcp, payload.len());
        }
    }

    /// Lets connections send and programs react until all is quiet.
    fn settle(&mut self, now: Time) {
        while let Some(conn) = self.sockets.dirty.pop() {
            // What TCP has to say goes out before the program reads, as in a kernel.
            self.pump(now, conn);
            let Some(slot) = self.sockets.get(conn) else {
                continue;
            };
            slot.dirty = false;
            let events = slot.connection.take_events();
            let app = slot.app;
            if events != tcp::Events::default() {
                let accepted = if events.connected {
                    slot.accepted.take()
                } else {
                    None
                };
                if let Some(port) = accepted {
                    cold_path();
                    self.call(now, app, |program, system| program.accepted(system, conn, port));
                }
                self.call(now, app, |program, system| {
                    program.connection(system, conn, events);
                });
                self.pump(now, conn);
            } else if !slot.connection.is_settled() {
                self.pump(now, conn);
            }
            let last = self.sockets.dirty.last() == Some(&conn);
            let Some(slot) = self.sockets.get(conn) else {
                continue;
            };
            // A program mostly acts on its own connection: what it did is pumped out already.
            let done = last && slot.connection.is_settled();
            slot.dirty &= !done;
            let closed = slot.connection.state() == tcp::State::Closed && !slot.dirty;
            let next = slot.connection.next_event();
            if done {
                self.sockets.dirty.pop();
            }
            if closed {
                cold_path();
                self.sockets.remove(conn);
            } else if let Some(at) = next {
                self.timers.set(Timer::Connection(conn), at);
            }
        }
    }

    fn pump(&mut self, now: Time, conn: ConnId) {
        let Some((connection, out)) = self.sockets.split(conn) else {
            return;
        };
        while connection.transmit(now, out.place()) {
            out.keep();
        }
    }

    fn call(&mut self, now: Time, app: AppId, act: impl FnOnce(&mut dyn Program, &mut System<'_>)) {
        let Some(slot) = self.programs.get_mut(app.0 as usize) else {
            return;
        };
        let Some(mut program) = slot.program.take() else {
            return;
        };
        let (mut wake, mut ended) = (slot.wake, slot.ended);
        let mut system = System {
            now,
            app,
            sockets: &mut self.sockets,
            reports: &mut self.reports,
            wake: &mut wake,
            ended: &mut ended,
        };
        act(program.as_mut(), &mut system);
        let slot = &mut self.programs[app.0 as usize];
        slot.program = Some(program);
        slot.ended = ended;
        slot.wake = wake;
        if let Some(at) = wake {
            self.timers.set(Timer::Program(app), at.max(now));
        }
    }
}

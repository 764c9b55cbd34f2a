//! Bulk senders and sinks.

use slowpath_record::{SenderCount, TransferResult};
use slowpath_units::Time;

use super::pace::Pacer;
use super::{Bulk, Pace, Program, Sink};
use crate::host::ConnId;
use crate::system::System;
use crate::tcp::{Config, Events};

/// Runs a [`Bulk`].
#[derive(Debug)]
pub(crate) struct BulkProgram {
    data: Bulk,
    started: Time,
    streams: Vec<Stream>,
    /// By the connection's number, which stream it is.
    index: Vec<Option<u32>>,
    open: usize,
}

#[derive(Debug)]
struct Stream {
    conn: ConnId,
    written: u64,
    pacer: Pacer,
    /// When it had written everything, or its time was up.
    finished: Option<Time>,
}

impl BulkProgram {
    pub(crate) const fn new(data: Bulk) -> Self {
        Self {
            data,
            started: Time::ZERO,
            streams: Vec::new(),
            index: Vec::new(),
            open: 0,
        }
    }

    fn fill(&mut self, system: &mut System<'_>, index: usize) {
        let now = system.now;
        let over = self.data.duration.is_some_and(|span| now >= self.started + span);
        let stream = &mut self.streams[index];
        let Some(connection) = system.connection(stream.conn) else {
            return;
        };
        if stream.finished.is_some() {
            return;
        }
        loop {
            let left = match self.data.bytes {
                _ if over => 0,
                Some(bytes) => bytes - stream.written,
                None if self.data.duration.is_some() => u64::MAX / 4,
                None => 0,
            };
            if left == 0 {
                stream.finished = Some(now);
                connection.finish();
                return;
            }
            let want = left.min(stream.pacer.allowance(now));
            if want == 0 {
                return;
            }
            let taken = stream.pacer.write(now, connection, want);
            stream.written += taken;
            if taken < want {
                return;
            }
        }
    }

    fn set_wake(&self, system: &mut System<'_>) {
        let now = system.now;
        let end = self.data.duration.map(|span| self.started + span);
        let pace = self
            .streams
            .iter()
            .filter(|s| s.finished.is_none())
            .map(|s| s.pacer.ready())
            .filter(|at| *at > now)
            .min();
        let end = end.filter(|at| *at > now);
        *system.wake = [end, pace].into_iter().flatten().min();
    }
}

impl Program for BulkProgram {
    fn start(&mut self, system: &mut System<'_>) {
        self.started = system.now;
        let mut config = system.sockets.config.tcp.clone();
        if let Some(congestion) = self.data.congestion {
            config.congestion = congestion;
        }
        if let Some(dscp) = self.data.dscp {
            config.dscp = dscp;
        }
        for _ in 0..self.data.streams {
            if let Some(conn) = connect(system, &self.data, &config) {
                let pacer = Pacer::new(self.data.writer);
                let place = conn.0 as usize;
                if self.index.len() <= place {
                    self.index.resize(place + 1, None);
                }
                self.index[place] = u32::try_from(self.streams.len()).ok();
                self.open += 1;
                self.streams.push(Stream {
                    conn,
                    written: 0,
                    pacer,
                    finished: None,
                });
            }
        }
        self.set_wake(system);
    }

    fn connection(&mut self, system: &mut System<'_>, conn: ConnId, events: Events) {
        let Some(index) = self.index.get(conn.0 as usize).copied().flatten() else {
            return;
        };
        let index = index as usize;
        if events.connected || events.writable {
            self.fill(system, index);
            if self.data.writer != Pace::Unlimited {
                self.set_wake(system);
            }
        }
        if let Some(connection) = system.connection(conn) {
            if !events.closed {
                return;
            }
            let info = connection.info();
            let stream = &mut self.streams[index];
            let complete = stream.finished.is_some() && info.acknowledged == stream.written;
            let now = system.now;
            let name = if self.data.streams > 1 {
                format!("{} {index}", self.data.name)
            } else {
                self.data.name.clone()
            };
            system.report_transfer(TransferResult {
                name,
                bytes: info.acknowledged,
                start: self.started,
                end: now,
                complete,
                error: (!complete).then(|| "the connection was lost".to_owned()),
                retransmitted_segments: Some(info.sender.retransmissions),
                sender: stream.finished.map(|finished| SenderCount {
                    bytes: stream.written,
                    over: finished.since(self.started),
                }),
            });
            self.index[conn.0 as usize] = None;
            self.open -= 1;
            if self.open == 0 {
                system.end();
            }
        }
    }

    fn timer(&mut self, system: &mut System<'_>) {
        for index in 0..self.streams.len() {
            self.fill(system, index);
        }
        self.set_wake(system);
    }
}

fn connect(system: &mut System<'_>, data: &Bulk, config: &Config) -> Option<ConnId> {
    system.connect(data.to, Some(config))
}

/// Runs a [`Sink`].
#[derive(Debug)]
pub(crate) struct SinkProgram {
    data: Sink,
    /// By the connection's number.
    inlets: Vec<Option<Inlet>>,
}

#[derive(Debug)]
struct Inlet {
    pacer: Pacer,
    since: Time,
    bytes: u64,
    last: Time,
    name: String,
}

impl SinkProgram {
    pub(crate) const fn new(data: Sink) -> Self {
        Self {
            data,
            inlets: Vec::new(),
        }
    }

    fn drain(&mut self, system: &mut System<'_>, conn: ConnId) {
        let now = system.now;
        let Some(slot) = self.inlets.get_mut(conn.0 as usize) else {
            return;
        };
        let Some(inlet) = slot else { return };
        let Some(connection) = system.connection(conn) else {
            return;
        };
        while connection.readable() > 0 {
            let allowed = inlet.pacer.allowance(now);
            if allowed == 0 {
                break;
            }
            let read = connection.read(now, allowed);
            inlet.pacer.taken(now, read);
            inlet.bytes += read;
            inlet.last = inlet.pacer.settled(now);
        }
        if !connection.at_end() {
            return;
        }
        connection.finish();
        if let Some(inlet) = slot.take() {
            system.report_transfer(TransferResult {
                name: inlet.name,
                bytes: inlet.bytes,
                start: inlet.since,
                end: inlet.last,
                complete: true,
                error: None,
                retransmitted_segments: None,
                sender: None,
            });
        }
    }

    fn set_wake(&self, system: &mut System<'_>) {
        let now = system.now;
        let ready = self.inlets.iter().flatten().map(|inlet| inlet.pacer.ready());
        *system.wake = ready.filter(|at| *at > now).min();
    }
}

impl Program for SinkProgram {
    fn start(&mut self, system: &mut System<'_>) {
        system.listen(self.data.port, false);
    }

    fn accepted(&mut self, system: &mut System<'_>, conn: ConnId, port: u16) {
        let now = system.now;
        let peer = system
            .connection(conn)
            .map(|connection| connection.ends().remote.to_string());
        let name = format!("{} to port {port}", peer.unwrap_or_default());
        let pacer = Pacer::new(self.data.reader);
        let place = conn.0 as usize;
        if self.inlets.len() <= place {
            self.inlets.resize_with(place + 1, || None);
        }
        self.inlets[place] = Some(Inlet {
            pacer,
            since: now,
            bytes: 0,
            last: now,
            name,
        });
    }

    fn connection(&mut self, system: &mut System<'_>, conn: ConnId, events: Events) {
        if events.readable {
            self.drain(system, conn);
            if self.data.reader != Pace::Unlimited {
                self.set_wake(system);
            }
        }
        if events.closed
            && let Some(slot) = self.inlets.get_mut(conn.0 as usize)
        {
            *slot = None;
        }
    }

    fn timer(&mut self, system: &mut System<'_>) {
        for place in 0..self.inlets.len() {
            if self.inlets[place]
                .as_ref()
                .is_some_and(|inlet| inlet.pacer.ready() <= system.now)
            {
                self.drain(system, ConnId(u32::try_from(place).unwrap_or(u32::MAX)));
            }
        }
        self.set_wake(system);
    }
}

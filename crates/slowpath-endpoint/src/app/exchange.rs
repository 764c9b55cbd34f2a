//! Requests and responses of fixed sizes.

use std::collections::BTreeMap;

use slowpath_record::TransferResult;
use slowpath_units::Time;

use super::{Program, Requests, Responder};
use crate::host::ConnId;
use crate::system::System;
use crate::tcp::Events;

/// Runs [`Requests`].
#[derive(Debug)]
pub(crate) struct RequestsProgram {
    plan: Requests,
    started: Time,
    /// Exchanges begun and completed.
    begun: u32,
    completed: u32,
    /// Exchanges there will be.
    total: u32,
    lanes: Vec<Lane>,
    retransmitted: u64,
}

#[derive(Debug)]
struct Lane {
    conn: Option<ConnId>,
    /// Bytes of the request not yet written, and of the response not yet read.
    to_write: u64,
    to_read: u64,
    /// When the next exchange may begin.
    resume: Option<Time>,
    /// Exchanges that this connection has still to begin, where each has its share.
    left: u32,
}

impl RequestsProgram {
    pub(crate) const fn new(plan: Requests) -> Self {
        Self {
            plan,
            started: Time::ZERO,
            begun: 0,
            completed: 0,
            total: 0,
            lanes: Vec::new(),
            retransmitted: 0,
        }
    }

    fn begin(&mut self, system: &mut System<'_>, index: usize) {
        let lane = &mut self.lanes[index];
        lane.resume = None;
        if self.begun == self.total || lane.left == 0 {
            self.close(system, index);
            return;
        }
        self.begun += 1;
        lane.left -= 1;
        lane.to_write = self.plan.request_bytes;
        lane.to_read = self.plan.response_bytes;
        if lane.conn.is_none() {
            lane.conn = system.connect(self.plan.to, None);
        } else {
            self.write(system, index);
        }
    }

    fn write(&mut self, system: &mut System<'_>, index: usize) {
        let now = system.now;
        let lane = &mut self.lanes[index];
        let Some(connection) = lane.conn.and_then(|conn| system.connection(conn)) else {
            return;
        };
        lane.to_write -= connection.write_synthetic(now, lane.to_write);
    }

    fn read(&mut self, system: &mut System<'_>, index: usize) {
        let now = system.now;
        let lane = &mut self.lanes[index];
        let Some(connection) = lane.conn.and_then(|conn| system.connection(conn)) else {
            return;
        };
        if lane.to_read == 0 {
            return;
        }
        lane.to_read -= connection.read(now, lane.to_read);
        if lane.to_read > 0 {
            return;
        }
        self.completed += 1;
        if self.completed == self.total {
            self.finish(system);
            return;
        }
        if !self.plan.keep_alive {
            self.close(system, index);
        }
        let resume = now + self.plan.think;
        if resume > now {
            self.lanes[index].resume = Some(resume);
            self.set_wake(system);
        } else {
            self.begin(system, index);
        }
    }

    fn close(&mut self, system: &mut System<'_>, index: usize) {
        if let Some(connection) = self.lanes[index]
            .conn
            .take()
            .and_then(|conn| system.connection(conn))
        {
            self.retransmitted += connection.info().sender.retransmissions;
            connection.finish();
        }
    }

    fn finish(&mut self, system: &mut System<'_>) {
        for index in 0..self.lanes.len() {
            self.close(system, index);
        }
        let each = self.plan.request_bytes.max(self.plan.response_bytes);
        let (start, end) = (self.started, system.now);
        system.report_transfer(TransferResult {
            name: self.plan.name.clone(),
            bytes: each * u64::from(self.completed),
            start,
            end,
            complete: true,
            error: None,
            retransmitted_segments: Some(self.retransmitted),
            sender: None,
        });
        system.end();
    }

    fn set_wake(&self, system: &mut System<'_>) {
        *system.wake = self.lanes.iter().filter_map(|lane| lane.resume).min();
    }
}

impl Program for RequestsProgram {
    fn start(&mut self, system: &mut System<'_>) {
        self.started = system.now;
        let lanes = self.plan.concurrency.min(self.plan.count).max(1);
        let share = self.plan.count / lanes;
        let fixed = self.plan.fixed_shares;
        self.total = if fixed { share * lanes } else { self.plan.count };
        for index in 0..lanes as usize {
            self.lanes.push(Lane {
                conn: None,
                to_write: 0,
                to_read: 0,
                resume: None,
                left: if fixed { share } else { self.total },
            });
            self.begin(system, index);
        }
    }

    fn connection(&mut self, system: &mut System<'_>, conn: ConnId, events: Events) {
        let Some(index) = self.lanes.iter().position(|lane| lane.conn == Some(conn)) else {
            return;
        };
        if events.connected || events.writable {
            self.write(system, index);
        }
        if events.readable {
            self.read(system, index);
        }
        if events.closed && self.lanes.get(index).is_some_and(|lane| lane.conn == Some(conn)) {
            // The exchange under way is lost and begins again.
            self.lanes[index].conn = None;
            self.lanes[index].left += 1;
            self.begun -= 1;
            self.begin(system, index);
        }
    }

    fn timer(&mut self, system: &mut System<'_>) {
        for index in 0..self.lanes.len() {
            if self.lanes[index].resume.is_some_and(|at| at <= system.now) {
                self.begin(system, index);
            }
        }
        self.set_wake(system);
    }
}

/// Runs a [`Responder`].
#[derive(Debug)]
pub(crate) struct ResponderProgram {
    plan: Responder,
    sessions: BTreeMap<ConnId, Session>,
}

#[derive(Debug, Default)]
struct Session {
    received: u64,
    to_write: u64,
    due: Option<Time>,
}

impl ResponderProgram {
    pub(crate) const fn new(plan: Responder) -> Self {
        Self {
            plan,
            sessions: BTreeMap::new(),
        }
    }

    fn write(&mut self, system: &mut System<'_>, conn: ConnId) {
        let now = system.now;
        if let (Some(session), Some(connection)) = (self.sessions.get_mut(&conn), system.connection(conn)) {
            session.to_write -= connection.write_synthetic(now, session.to_write);
        }
    }

    fn set_wake(&self, system: &mut System<'_>) {
        *system.wake = self.sessions.values().filter_map(|session| session.due).min();
    }
}

impl Program for ResponderProgram {
    fn start(&mut self, system: &mut System<'_>) {
        system.listen(self.plan.port, false);
    }

    fn accepted(&mut self, _system: &mut System<'_>, conn: ConnId, _port: u16) {
        self.sessions.insert(conn, Session::default());
    }

    fn connection(&mut self, system: &mut System<'_>, conn: ConnId, events: Events) {
        let now = system.now;
        if events.readable
            && let (Some(session), Some(connection)) = (self.sessions.get_mut(&conn), system.connection(conn))
        {
            session.received += connection.read(now, u64::MAX);
            if connection.at_end() {
                connection.finish();
            }
            while session.received >= self.plan.request_bytes.max(1) {
                session.received -= self.plan.request_bytes.max(1);
                session.due = Some(now + self.plan.service);
            }
            if session.due.is_some_and(|at| at <= now) {
                session.due = None;
                session.to_write += self.plan.response_bytes;
                self.write(system, conn);
            }
            self.set_wake(system);
        }
        if events.writable {
            self.write(system, conn);
        }
        if events.closed {
            self.sessions.remove(&conn);
        }
    }

    fn timer(&mut self, system: &mut System<'_>) {
        let now = system.now;
        let due: Vec<ConnId> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.due.is_some_and(|at| at <= now))
            .map(|(conn, _)| *conn)
            .collect();
        for conn in due {
            if let Some(session) = self.sessions.get_mut(&conn) {
                session.due = None;
                session.to_write += self.plan.response_bytes;
            }
            self.write(system, conn);
        }
        self.set_wake(system);
    }
}

//! Sources and sinks of UDP datagrams, and ping.

use std::net::Ipv4Addr;

use slowpath_record::FlowResult;
use slowpath_units::{Duration, Time};

use super::{Ping, Program, UdpSink, UdpSource};
use crate::system::System;
use crate::wire::{Echo, UdpHeader};

/// Runs a [`UdpSource`].
#[derive(Debug)]
pub(crate) struct UdpSourceProgram {
    plan: UdpSource,
    port: u16,
    started: Time,
    sent: u64,
}

impl UdpSourceProgram {
    pub(crate) const fn new(plan: UdpSource) -> Self {
        Self {
            plan,
            port: 0,
            started: Time::ZERO,
            sent: 0,
        }
    }

    /// When datagram `number` is due: evenly spaced, or at the start of the burst that covers it.
    fn due(&self, number: u64) -> Time {
        let bits = u128::from(number) * u128::from(self.plan.datagram) * 8 * 1_000_000_000;
        let even = u64::try_from(bits / u128::from(self.plan.rate.bits_per_s().max(1))).unwrap_or(u64::MAX);
        let interval = self.plan.interval.nanos();
        let offset = even.checked_div(interval).map_or(even, |burst| burst * interval);
        self.started + Duration::from_nanos(offset)
    }

    fn send(&mut self, system: &mut System<'_>) {
        let end = self.started + self.plan.duration;
        while self.due(self.sent) <= system.now && system.now < end {
            system.send_datagram(
                self.port,
                self.plan.to,
                self.sent,
                self.plan.datagram,
                self.plan.dscp,
            );
            self.sent += 1;
        }
        let next = self.due(self.sent);
        if next < end {
            *system.wake = Some(next);
            return;
        }
        let ip = if self.plan.to.is_ipv4() { 28 } else { 48 };
        system.report_flow(FlowResult {
            name: self.plan.name.clone(),
            sent_packets: self.sent,
            sent_bytes: self.sent * u64::from(self.plan.datagram + ip),
            ..FlowResult::default()
        });
        system.end();
    }
}

impl Program for UdpSourceProgram {
    fn start(&mut self, system: &mut System<'_>) {
        self.started = system.now;
        self.port = system.port();
        self.send(system);
    }

    fn timer(&mut self, system: &mut System<'_>) {
        self.send(system);
    }
}

/// Runs a [`UdpSink`].
#[derive(Debug)]
pub(crate) struct UdpSinkProgram {
    plan: UdpSink,
    packets: u64,
    payload: u64,
    /// Bytes of the headers around each payload.
    headers: u64,
    first: Option<Time>,
    last: Time,
    transit: Option<u64>,
    /// Sixteen times the jitter in nanoseconds (RFC 3550, section 6.4.1).
    jitter16: u64,
}

impl UdpSinkProgram {
    pub(crate) const fn new(plan: UdpSink) -> Self {
        Self {
            plan,
            packets: 0,
            payload: 0,
            headers: 28,
            first: None,
            last: Time::ZERO,
            transit: None,
            jitter16: 0,
        }
    }
}

impl Program for UdpSinkProgram {
    fn start(&mut self, system: &mut System<'_>) {
        system.sockets.datagram_ports.insert(self.plan.port, system.app);
        if system.sockets.address_for(Ipv4Addr::UNSPECIFIED.into()).is_none() {
            self.headers = 48;
        }
    }

    fn datagram(&mut self, system: &mut System<'_>, udp: &UdpHeader, len: u32) {
        self.packets += 1;
        self.payload += u64::from(len);
        self.first.get_or_insert(system.now);
        self.last = system.now;
        let transit = system.now.since(udp.sent).nanos();
        if let Some(before) = self.transit {
            self.jitter16 += transit.abs_diff(before);
            self.jitter16 -= self.jitter16 / 16;
        }
        self.transit = Some(transit);
    }

    fn summary(&self) -> Option<FlowResult> {
        let span = self.last.since(self.first?).max(self.plan.lasts).seconds();
        Some(FlowResult {
            name: self.plan.name.clone(),
            received_packets: self.packets,
            received_bytes: self.payload + self.packets * self.headers,
            jitter: Some(Duration::from_nanos(self.jitter16 / 16)),
            goodput_byte_per_s: if span > 0.0 {
                self.payload as f64 / span
            } else {
                0.0
            },
            ..FlowResult::default()
        })
    }
}

/// Runs a [`Ping`].
#[derive(Debug)]
pub(crate) struct PingProgram {
    plan: Ping,
    identifier: u16,
    sent: Vec<Option<Time>>,
}

impl PingProgram {
    pub(crate) const fn new(plan: Ping) -> Self {
        Self {
            plan,
            identifier: 0,
            sent: Vec::new(),
        }
    }

    fn send(&mut self, system: &mut System<'_>) {
        let sequence = u16::try_from(self.sent.len()).unwrap_or(u16::MAX);
        if sequence == self.plan.count {
            // The last reply had its time.
            system.end();
            return;
        }
        system.send_echo(self.plan.to, self.identifier, sequence, self.plan.bytes);
        self.sent.push(Some(system.now));
        let last = sequence + 1 == self.plan.count;
        let wait = if last {
            self.plan.interval + LAST_REPLY
        } else {
            self.plan.interval
        };
        *system.wake = Some(system.now + wait);
    }
}

impl Program for PingProgram {
    fn start(&mut self, system: &mut System<'_>) {
        self.identifier = system.port();
        system.sockets.echo_owners.insert(self.identifier, system.app);
        self.send(system);
    }

    fn timer(&mut self, system: &mut System<'_>) {
        self.send(system);
    }

    fn echo(&mut self, system: &mut System<'_>, echo: Echo) {
        let slot = self.sent.get_mut(usize::from(echo.sequence));
        if let Some(sent) = slot.and_then(Option::take) {
            system.report_round_trip(echo.sequence, system.now.since(sent));
            if self.sent.len() == usize::from(self.plan.count) && self.sent.iter().all(Option::is_none) {
                *system.wake = None;
                system.end();
            }
        }
    }
}

const LAST_REPLY: Duration = Duration::from_secs(2);

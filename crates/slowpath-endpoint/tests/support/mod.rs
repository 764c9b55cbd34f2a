//! Two hosts and a path between them: a rate, a queue, a delay and a list of losses for each direction.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod script;

use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use slowpath_endpoint::app::Behaviour;
use slowpath_endpoint::tcp::Config;
use slowpath_endpoint::wire::{Transmit, Transport};
use slowpath_endpoint::{AppId, Host, HostConfig, Report};
use slowpath_record::TransferResult;
use slowpath_units::{BitRate, Duration, Time};

/// One direction of the path.
pub(crate) struct Pipe {
    pub(crate) rate: Option<BitRate>,
    /// Bytes that may wait behind the one being sent.
    pub(crate) queue: u64,
    pub(crate) delay: Duration,
    /// Numbers of the data packets (from 0) that are lost.
    pub(crate) lose: BTreeSet<u64>,
    /// Every n-th data packet is lost.
    pub(crate) lose_every: Option<u64>,
    /// One in so many packets is lost at random, with its state.
    pub(crate) lose_one_in: Option<(u64, u64)>,
    pub(crate) data_packets: u64,
    pub(crate) dropped: u64,
    free: Time,
    carry: u64,
    waiting: VecDeque<(Time, u64)>,
    travelling: VecDeque<(Time, Transmit)>,
}

impl Pipe {
    pub(crate) fn new(delay: Duration) -> Self {
        Self {
            rate: None,
            queue: u64::MAX,
            delay,
            lose: BTreeSet::new(),
            lose_every: None,
            lose_one_in: None,
            data_packets: 0,
            dropped: 0,
            free: Time::ZERO,
            carry: 0,
            waiting: VecDeque::new(),
            travelling: VecDeque::new(),
        }
    }

    pub(crate) fn rate(mut self, rate: &str, queue: u64) -> Self {
        self.rate = Some(rate.parse().expect("a rate"));
        self.queue = queue;
        self
    }

    fn take(&mut self, transmit: Transmit) {
        let at = transmit.at;
        if !transmit.payload.is_empty() {
            let number = self.data_packets;
            self.data_packets += 1;
            let periodic = self.lose_every.is_some_and(|n| number % n == n - 1);
            let random = self.lose_one_in.as_mut().is_some_and(|(n, state)| {
                // A small linear congruential generator is random enough here.
                *state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (*state >> 33) % *n == 0
            });
            if self.lose.contains(&number) || periodic || random {
                self.dropped += 1;
                return;
            }
        }
        let mut leaves = at;
        if let Some(rate) = self.rate {
            let bytes = u64::from(transmit.ip_len()) + 14;
            while self.waiting.front().is_some_and(|(start, _)| *start <= at) {
                self.waiting.pop_front();
            }
            let queued: u64 = self.waiting.iter().map(|(_, bytes)| bytes).sum();
            if queued + bytes > self.queue {
                self.dropped += 1;
                return;
            }
            let start = self.free.max(at);
            let (span, carry) = rate.time_for(bytes, self.carry);
            self.carry = carry;
            self.waiting.push_back((start, bytes));
            self.free = start + span;
            leaves = self.free;
        }
        self.travelling.push_back((leaves + self.delay, transmit));
    }
}

/// Two hosts: `a` at 10.0.0.1, `b` at 10.0.0.2.
pub(crate) struct Pair {
    pub(crate) a: Host,
    pub(crate) b: Host,
    pub(crate) there: Pipe,
    pub(crate) back: Pipe,
    pub(crate) now: Time,
    pub(crate) reports: Vec<(char, Report)>,
    /// Every packet as it left a host.
    pub(crate) log: Option<Vec<(char, Transmit)>>,
    pub(crate) packets: u64,
}

pub(crate) const A: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub(crate) const B: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

pub(crate) fn host(address: IpAddr, tcp: Config) -> HostConfig {
    HostConfig {
        addresses: vec![address],
        tcp,
        mtu: 1500,
        input: None,
    }
}

pub(crate) fn at_b(port: u16) -> SocketAddr {
    SocketAddr::new(B, port)
}

impl Pair {
    pub(crate) fn new(a: Config, b: Config, there: Pipe, back: Pipe) -> Self {
        Self::with_hosts(host(A, a), host(B, b), there, back)
    }

    pub(crate) fn with_hosts(a: HostConfig, b: HostConfig, there: Pipe, back: Pipe) -> Self {
        Self {
            a: Host::new(a, 1),
            b: Host::new(b, 2),
            there,
            back,
            now: Time::ZERO,
            reports: Vec::new(),
            log: None,
            packets: 0,
        }
    }

    pub(crate) fn start_a(&mut self, behaviour: Behaviour) -> AppId {
        self.a.start(self.now, behaviour)
    }

    pub(crate) fn start_b(&mut self, behaviour: Behaviour) -> AppId {
        self.b.start(self.now, behaviour)
    }

    /// When something happens next.
    pub(crate) fn next(&self) -> Option<Time> {
        let pipes = [self.there.travelling.front(), self.back.travelling.front()];
        let arrivals = pipes.into_iter().flatten().map(|(at, _)| *at);
        arrivals
            .chain(self.a.next_event())
            .chain(self.b.next_event())
            .min()
    }

    /// Lets the next thing happen.
    pub(crate) fn step(&mut self) -> bool {
        let Some(at) = self.next() else { return false };
        assert!(at >= self.now, "time runs backwards: {at} after {}", self.now);
        self.now = at;
        if self.there.travelling.front().is_some_and(|(due, _)| *due <= at) {
            let (_, packet) = self.there.travelling.pop_front().unwrap();
            self.b.receive(at, &packet.header, packet.payload.borrow());
        } else if self.back.travelling.front().is_some_and(|(due, _)| *due <= at) {
            let (_, packet) = self.back.travelling.pop_front().unwrap();
            self.a.receive(at, &packet.header, packet.payload.borrow());
        } else {
            self.a.advance(at);
            self.b.advance(at);
        }
        self.collect();
        true
    }

    fn collect(&mut self) {
        while let Some(packet) = self.a.poll_transmit() {
            self.packets += 1;
            if let Some(log) = &mut self.log {
                log.push(('a', packet.clone()));
            }
            self.there.take(packet);
        }
        while let Some(packet) = self.b.poll_transmit() {
            self.packets += 1;
            if let Some(log) = &mut self.log {
                log.push(('b', packet.clone()));
            }
            self.back.take(packet);
        }
        while let Some(report) = self.a.poll_report() {
            self.reports.push(('a', report));
        }
        while let Some(report) = self.b.poll_report() {
            self.reports.push(('b', report));
        }
    }

    /// Runs until `app` of host `a` has ended; too many steps mean a livelock and fail.
    pub(crate) fn run_until_a_ends(&mut self, app: AppId) {
        for _ in 0..200_000_000_u64 {
            if self.a.has_ended(app) {
                return;
            }
            assert!(self.step(), "nothing happens any more at {}", self.now);
        }
        panic!("livelock at {}", self.now);
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.next().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = end;
    }

    /// The transfers that host `which` reported.
    pub(crate) fn transfers(&self, which: char) -> Vec<&TransferResult> {
        self.reports
            .iter()
            .filter_map(|(host, report)| match report {
                Report::Transfer { result, .. } if *host == which => Some(result),
                _ => None,
            })
            .collect()
    }

    /// The windows that host `which` advertised on packets without SYN, as they stood on the wire.
    pub(crate) fn windows(&self, which: char) -> Vec<(Time, u16)> {
        let log = self.log.as_deref().unwrap_or_default();
        log.iter()
            .filter(|(host, _)| *host == which)
            .filter_map(|(_, packet)| match &packet.header.transport {
                Transport::Tcp(tcp) if tcp.options.mss.is_none() => Some((packet.at, tcp.window)),
                _ => None,
            })
            .collect()
    }
}

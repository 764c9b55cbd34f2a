//! A machine with addresses, connections and programs.

use std::collections::VecDeque;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use slowpath_record::{FlowResult, TransferResult};
use slowpath_units::{Duration, Time};

use crate::app::Behaviour;
use crate::tcp;
use crate::wire::{Echo, Header, OwnedPayload, Payload, Transmit, Transport};

/// What a host is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HostConfig {
    /// Its addresses; the first of each family is the source of what it opens.
    pub addresses: Vec<IpAddr>,
    /// Its TCP.
    pub tcp: tcp::Config,
    /// Largest IP packet in bytes.
    pub mtu: u32,
    /// Time that receiving one packet takes, and how many may wait for it; without it no time at all.
    #[serde(default)]
    pub input: Option<InputLimit>,
}

/// The cost of receiving packets on a slow machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct InputLimit {
    /// Time that one packet takes.
    pub per_packet: Duration,
    /// Packets that may wait; one more is dropped.
    pub queue: u32,
}

/// Names one program of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppId(pub u32);

/// What a program achieved.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// A transfer came to its end.
    Transfer {
        /// The program.
        app: AppId,
        /// What it transferred.
        result: TransferResult,
    },
    /// A flow of datagrams came to its end, or its counters were asked for.
    Flow {
        /// The program.
        app: AppId,
        /// What was counted.
        result: FlowResult,
    },
    /// A round trip was measured.
    RoundTrip {
        /// The program.
        app: AppId,
        /// Number of the request.
        sequence: u16,
        /// When the reply came.
        at: Time,
        /// How long it took.
        time: Duration,
    },
    /// A program ended; no more reports of it will come.
    Ended {
        /// The program.
        app: AppId,
        /// When.
        at: Time,
    },
}

/// A machine with addresses, connections and programs.
///
/// Call order of a driver: [`receive`](Self::receive) for each packet that arrives, in time order;
/// [`advance`](Self::advance) when [`next_event`](Self::next_event) is due; after either,
/// [`poll_transmit`](Self::poll_transmit) and [`poll_report`](Self::poll_report) until they are empty.
/// Being late with `advance` does not change what happens: every timer acts at its own time, which
/// [`Transmit::at`] shows.
#[derive(Debug)]
pub struct Host {
    config: HostConfig,
    out: VecDeque<Transmit>,
    reports: VecDeque<Report>,
    apps: Vec<(Time, Behaviour)>,
}

impl Host {
    /// A host as `config` says; `seed` decides its initial sequence numbers and ports.
    pub fn new(config: HostConfig, _seed: u64) -> Self {
        Self {
            config,
            out: VecDeque::new(),
            reports: VecDeque::new(),
            apps: Vec::new(),
        }
    }

    /// Starts a program at `at`, which must not lie before the host's present.
    pub fn start(&mut self, at: Time, behaviour: Behaviour) -> AppId {
        self.apps.push((at, behaviour));
        AppId(u32::try_from(self.apps.len() - 1).unwrap_or(u32::MAX))
    }

    /// Takes a packet that arrived at `now`; packets to foreign addresses are ignored.
    pub fn receive(&mut self, now: Time, header: &Header, payload: Payload<'_>) {
        if !self.config.addresses.contains(&header.dst) {
            return;
        }
        if let Transport::Echo(echo) = header.transport
            && !echo.reply
        {
            let reply = Header {
                src: header.dst,
                dst: header.src,
                transport: Transport::Echo(Echo { reply: true, ..echo }),
                ..*header
            };
            let payload = match payload {
                Payload::Synthetic(len) => OwnedPayload::Synthetic(len),
                Payload::Bytes(bytes) => OwnedPayload::Bytes(bytes.into()),
            };
            self.out.push_back(Transmit {
                at: now,
                header: reply,
                payload,
            });
        }
    }

    /// When [`advance`](Self::advance) must be called at the latest; `None` means only a packet can wake the host.
    pub fn next_event(&self) -> Option<Time> {
        self.apps.iter().map(|(at, _)| *at).min()
    }

    /// Lets everything happen that is due up to and including `to`, each at its own time.
    pub fn advance(&mut self, to: Time) {
        self.apps.retain(|(at, _)| *at > to);
    }

    /// The next packet to send, in time order.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.out.pop_front()
    }

    /// The next report of a program.
    pub fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }
}

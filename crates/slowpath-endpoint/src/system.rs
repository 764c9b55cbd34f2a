//! What programs see of their host: connections, datagrams, timers.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hint::cold_path;
use std::net::{IpAddr, SocketAddr};

use slowpath_packet::{Dscp, Ecn, Seq32};
use slowpath_record::{FlowResult, TransferResult};
use slowpath_units::{Duration, Time};

use crate::host::{AppId, ConnId, HostConfig, Report};
use crate::outbox::Outbox;
use crate::rng;
use crate::tcp::{Config, Connection};
use crate::wire::{
    Echo, Ends, Flags, Header, Options, OwnedPayload, TcpHeader, Transmit, Transport, UdpHeader,
};

/// A connection and the program it belongs to.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) connection: Connection,
    pub(crate) app: AppId,
    pub(crate) dirty: bool,
    /// Accepted and not yet announced to its program.
    pub(crate) accepted: Option<u16>,
}

/// The connections and ports of a host.
#[derive(Debug)]
pub(crate) struct Sockets {
    pub(crate) config: HostConfig,
    seed: u64,
    opened: u64,
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    index: HashMap<Ends, ConnId>,
    /// Where a connection with these ports was last found. A look-up that hits touches nothing but the connection,
    /// which is about to be used anyway.
    near: Vec<ConnId>,
    pub(crate) listeners: BTreeMap<u16, (AppId, bool)>,
    pub(crate) datagram_ports: BTreeMap<u16, AppId>,
    pub(crate) echo_owners: BTreeMap<u16, AppId>,
    next_port: u16,
    pub(crate) out: Outbox,
    pub(crate) dirty: Vec<ConnId>,
}

impl Sockets {
    pub(crate) fn new(config: HostConfig, seed: u64) -> Self {
        Self {
            config,
            seed,
            opened: 0,
            slots: Vec::new(),
            free: Vec::new(),
            index: HashMap::new(),
            near: vec![ConnId(0); 2],
            listeners: BTreeMap::new(),
            datagram_ports: BTreeMap::new(),
            echo_owners: BTreeMap::new(),
            next_port: FIRST_EPHEMERAL,
            out: Outbox::default(),
            dirty: Vec::new(),
        }
    }

    pub(crate) fn get(&mut self, conn: ConnId) -> Option<&mut Slot> {
        self.slots.get_mut(conn.0 as usize)?.as_mut()
    }

    /// The slot of `conn` while the output queue stays usable.
    pub(crate) fn split(&mut self, conn: ConnId) -> Option<(&mut Connection, &mut Outbox)> {
        let slot = self.slots.get_mut(conn.0 as usize)?.as_mut()?;
        Some((&mut slot.connection, &mut self.out))
    }

    pub(crate) fn find(&self, ends: &Ends) -> Option<ConnId> {
        self.index.get(ends).copied()
    }

    /// The connection that a received segment belongs to.
    #[inline]
    pub(crate) fn find_of(&mut self, header: &Header, tcp: &TcpHeader) -> Option<ConnId> {
        // An odd multiple: ports in a row at either end have places of their own.
        let ports = usize::from(tcp.dst_port) + 5 * usize::from(tcp.src_port);
        let place = ports & (self.near.len() - 1);
        let conn = self.near[place];
        let known = self.slots.get(conn.0 as usize).and_then(Option::as_ref);
        if known.is_some_and(|slot| slot.connection.ends().receive(header, tcp)) {
            return Some(conn);
        }
        cold_path();
        let conn = self.find(&Ends::receiving(header, tcp))?;
        self.near[place] = conn;
        Some(conn)
    }

    /// Every connection that exists, in the order of their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ConnId, &Slot)> {
        let number = |i: usize| ConnId(u32::try_from(i).unwrap_or(u32::MAX));
        self.slots
            .iter()
            .enumerate()
            .filter_map(move |(i, slot)| Some((number(i), slot.as_ref()?)))
    }

    pub(crate) fn insert(&mut self, connection: Connection, app: AppId, accepted: Option<u16>) -> ConnId {
        let ends = *connection.ends();
        let slot = Slot {
            connection,
            app,
            dirty: false,
            accepted,
        };
        let conn = if let Some(place) = self.free.pop() {
            self.slots[place as usize] = Some(slot);
            ConnId(place)
        } else {
            self.slots.push(Some(slot));
            ConnId(u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX))
        };
        self.index.insert(ends, conn);
        if self.slots.len() > self.near.len() / 2 {
            self.near.resize(self.near.len() * 2, ConnId(0));
        }
        self.touch(conn);
        conn
    }

    pub(crate) fn remove(&mut self, conn: ConnId) {
        if let Some(slot) = self.slots.get_mut(conn.0 as usize).and_then(Option::take) {
            self.index.remove(slot.connection.ends());
            self.free.push(conn.0);
        }
    }

    /// The connection must be looked at before the host rests.
    pub(crate) fn touch(&mut self, conn: ConnId) {
        if let Some(slot) = self.get(conn)
            && !slot.dirty
        {
            slot.dirty = true;
            self.dirty.push(conn);
        }
    }

    /// A seed for the next connection; its low half is the initial sequence number.
    pub(crate) fn next_seed(&mut self) -> u64 {
        self.opened += 1;
        rng::draw(self.seed, self.opened)
    }

    pub(crate) fn address_for(&self, peer: IpAddr) -> Option<IpAddr> {
        self.config
            .addresses
            .iter()
            .copied()
            .find(|own| own.is_ipv4() == peer.is_ipv4())
    }

    fn ephemeral_port(&mut self) -> u16 {
        let port = self.next_port;
        self.next_port = if port == u16::MAX {
            FIRST_EPHEMERAL
        } else {
            port + 1
        };
        port
    }

    /// Answers a segment that belongs to no connection (RFC 9293, section 3.10.7.1).
    pub(crate) fn refuse(&mut self, now: Time, header: &Header, tcp: &TcpHeader, len: u32) {
        if tcp.flags.has(Flags::RST) {
            return;
        }
        let (seq, ack, flags) = if tcp.flags.has(Flags::ACK) {
            (tcp.ack, Seq32(0), Flags::RST)
        } else {
            let len = len + u32::from(tcp.flags.has(Flags::SYN)) + u32::from(tcp.flags.has(Flags::FIN));
            (Seq32(0), tcp.seq + len, Flags::RST.with(Flags::ACK))
        };
        let reply = TcpHeader {
            src_port: tcp.dst_port,
            dst_port: tcp.src_port,
            seq,
            ack,
            flags,
            window: 0,
            options: Options::default(),
        };
        let header = Header {
            src: header.dst,
            dst: header.src,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
            ttl: 64,
            df: true,
            transport: Transport::Tcp(reply),
        };
        self.out.push(Transmit {
            at: now,
            header,
            payload: OwnedPayload::Synthetic(0),
        });
    }
}

/// What a program can do while it is called.
pub(crate) struct System<'a> {
    pub(crate) now: Time,
    pub(crate) app: AppId,
    pub(crate) sockets: &'a mut Sockets,
    pub(crate) reports: &'a mut VecDeque<Report>,
    /// When the program wants to be woken; the last call counts.
    pub(crate) wake: &'a mut Option<Time>,
    pub(crate) ended: &'a mut bool,
}

impl System<'_> {
    /// Opens a connection, with `config` instead of the host's TCP if given.
    pub(crate) fn connect(&mut self, to: SocketAddr, config: Option<&Config>) -> Option<ConnId> {
        let source = self.sockets.address_for(to.ip())?;
        let local = SocketAddr::new(source, self.sockets.ephemeral_port());
        let seed = self.sockets.next_seed();
        let config = config.unwrap_or(&self.sockets.config.tcp).clone();
        let ends = Ends { local, remote: to };
        let connection = Connection::connect(&config, ends, self.now, self.sockets.config.mtu, seed);
        Some(self.sockets.insert(connection, self.app, None))
    }

    /// Opens a connection from a given local port (FTP's active mode).
    pub(crate) fn connect_from(&mut self, port: u16, to: SocketAddr) -> Option<ConnId> {
        let source = self.sockets.address_for(to.ip())?;
        let seed = self.sockets.next_seed();
        let config = self.sockets.config.tcp.clone();
        let ends = Ends {
            local: SocketAddr::new(source, port),
            remote: to,
        };
        let connection = Connection::connect(&config, ends, self.now, self.sockets.config.mtu, seed);
        Some(self.sockets.insert(connection, self.app, None))
    }

    /// Accepts connections on `port`; with `keep_bytes` their content is kept.
    pub(crate) fn listen(&mut self, port: u16, keep_bytes: bool) {
        self.sockets.listeners.insert(port, (self.app, keep_bytes));
    }

    /// Accepts connections on a port of its own; the result is the port.
    pub(crate) fn listen_anywhere(&mut self) -> u16 {
        let port = self.sockets.ephemeral_port();
        self.listen(port, false);
        port
    }

    /// Accepts no more connections on `port`.
    pub(crate) fn unlisten(&mut self, port: u16) {
        self.sockets.listeners.remove(&port);
    }

    /// A connection to act on; it is looked at again before the host rests.
    pub(crate) fn connection(&mut self, conn: ConnId) -> Option<&mut Connection> {
        self.sockets.touch(conn);
        self.sockets.get(conn).map(|slot| &mut slot.connection)
    }

    /// Writes real bytes.
    pub(crate) fn write(&mut self, conn: ConnId, bytes: &[u8]) {
        let now = self.now;
        if let Some(connection) = self.connection(conn) {
            connection.write_bytes(now, bytes);
        }
    }

    /// Takes one line (without its end) of kept bytes, if a whole one is there.
    pub(crate) fn read_line(&mut self, conn: ConnId) -> Option<String> {
        let now = self.now;
        let connection = self.connection(conn)?;
        let bytes = connection.peek();
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let line = String::from_utf8_lossy(&bytes[..end])
            .trim_end_matches('\r')
            .to_owned();
        connection.read(now, end as u64 + 1);
        Some(line)
    }

    /// Sends a UDP datagram of `len` payload bytes.
    pub(crate) fn send_datagram(
        &mut self,
        src_port: u16,
        to: SocketAddr,
        sequence: u64,
        len: u32,
        dscp: Dscp,
    ) {
        let Some(src) = self.sockets.address_for(to.ip()) else {
            return;
        };
        let udp = UdpHeader {
            src_port,
            dst_port: to.port(),
            sequence,
            sent: self.now,
        };
        self.send(src, to.ip(), dscp, Transport::Udp(udp), len);
    }

    /// Sends an ICMP echo request.
    pub(crate) fn send_echo(&mut self, to: IpAddr, identifier: u16, sequence: u16, len: u32) {
        let Some(src) = self.sockets.address_for(to) else {
            return;
        };
        let echo = Echo {
            reply: false,
            identifier,
            sequence,
        };
        self.send(src, to, Dscp::DEFAULT, Transport::Echo(echo), len);
    }

    fn send(&mut self, src: IpAddr, dst: IpAddr, dscp: Dscp, transport: Transport, len: u32) {
        let header = Header {
            src,
            dst,
            dscp,
            ecn: Ecn::NotEct,
            ttl: 64,
            df: false,
            transport,
        };
        self.sockets.out.push(Transmit {
            at: self.now,
            header,
            payload: OwnedPayload::Synthetic(len),
        });
    }

    /// A port number of its own.
    pub(crate) fn port(&mut self) -> u16 {
        self.sockets.ephemeral_port()
    }

    pub(crate) fn report_transfer(&mut self, result: TransferResult) {
        self.reports.push_back(Report::Transfer {
            app: self.app,
            result,
        });
    }

    pub(crate) fn report_flow(&mut self, result: FlowResult) {
        self.reports.push_back(Report::Flow {
            app: self.app,
            result,
        });
    }

    pub(crate) fn report_round_trip(&mut self, sequence: u16, time: Duration) {
        self.reports.push_back(Report::RoundTrip {
            app: self.app,
            sequence,
            at: self.now,
            time,
        });
    }

    /// The program is done.
    pub(crate) fn end(&mut self) {
        if !*self.ended {
            *self.ended = true;
            self.reports.push_back(Report::Ended {
                app: self.app,
                at: self.now,
            });
        }
    }
}

const FIRST_EPHEMERAL: u16 = 32_768;

//! A small model of one lossless transfer, enough to make packets whose limit is known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;

use slowpath_packet::{FlowKey, Protocol};
use slowpath_record::packets::{
    CaptureSummary, Conversations, Direction, Record, SynOptions, TcpFlags, TcpPacket, Timestamps,
};

use slowpath_verdict::{Analysis, Connection};

/// Nanoseconds of a millisecond.
pub(crate) const MS: i64 = 1_000_000;

/// What the transfer is like. Bytes, nanoseconds, bits per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) bytes: u64,
    pub(crate) one_way: i64,
    pub(crate) rate: f64,
    pub(crate) mss: u32,
    /// Receive buffer, and whether it is advertised with a scale.
    pub(crate) buffer: u64,
    pub(crate) scale: Option<u8>,
    pub(crate) timestamps: bool,
    /// The reader takes `chunk` bytes at an even rate and stops for `pause` after each `unit`; none reads at once.
    pub(crate) reader: Option<Reader>,
    /// Bytes the sender keeps until they are acknowledged.
    pub(crate) send_buffer: u64,
    /// Payload per second that the sending program provides, in pieces of `piece`.
    pub(crate) source: Option<(f64, u64)>,
    /// Most segments of the congestion window.
    pub(crate) window_limit: u64,
}

/// A slow reader.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader {
    pub(crate) unit: u64,
    pub(crate) bytes_per_s: f64,
    pub(crate) pause: i64,
    pub(crate) chunk: u64,
}

impl Default for Transfer {
    fn default() -> Self {
        Self {
            bytes: 4 << 20,
            one_way: 50 * MS,
            rate: 50e6,
            mss: 1460,
            buffer: 4 << 20,
            scale: Some(7),
            timestamps: true,
            reader: None,
            send_buffer: u64::MAX,
            source: None,
            window_limit: u64::MAX,
        }
    }
}

/// The packets of a transfer as three taps see them.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) sender: Vec<Record>,
    pub(crate) receiver: Vec<Record>,
    pub(crate) conversations: Conversations,
}

impl Seen {
    pub(crate) fn judge(&self, records: &[Record]) -> Connection {
        self.analysis(records).connections.swap_remove(0)
    }

    pub(crate) fn analysis(&self, records: &[Record]) -> Analysis {
        super::analyze_records(records, &self.conversations, &CaptureSummary::default())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Data {
        seq: u64,
        len: u64,
        value: u32,
        echo: u32,
    },
    Ack {
        ack: u64,
        window: u64,
        value: u32,
        echo: u32,
    },
    Read,
    Delayed {
        armed: u64,
    },
    Supply,
}

struct Model {
    setup: Transfer,
    events: BinaryHeap<Reverse<(i64, u64, Event)>>,
    order: u64,
    now: i64,
    // Sender.
    sent: u64,
    acked: u64,
    edge: u64,
    congestion_window: u64,
    link_free: i64,
    recent_echo: u32,
    // Receiver.
    received: u64,
    read: u64,
    advertised: u64,
    unacked_segments: u32,
    delayed: u64,
    in_unit: u64,
    reading: bool,
    last_value: u32,
    out: Seen,
    id: slowpath_record::packets::ConversationId,
}

/// Runs a transfer to its end.
pub(crate) fn run(setup: Transfer) -> Seen {
    let mut out = Seen::default();
    let address = |last| SocketAddr::from(([192, 0, 2, last], 1000 + u16::from(last)));
    let (id, _) = out
        .conversations
        .intern(&FlowKey::new(Protocol::TCP, address(1), address(2)));
    let mut model = Model {
        setup,
        events: BinaryHeap::new(),
        order: 0,
        now: 0,
        sent: 0,
        acked: 0,
        edge: setup.buffer.min(65_535),
        congestion_window: 10 * u64::from(setup.mss),
        link_free: 0,
        recent_echo: 0,
        received: 0,
        read: 0,
        advertised: setup.buffer.min(65_535),
        unacked_segments: 0,
        delayed: 0,
        in_unit: 0,
        reading: false,
        last_value: 0,
        out,
        id,
    };
    model.handshake();
    model.send();
    let mut steps = 0_u64;
    while let Some(Reverse((at, _, event))) = model.events.pop() {
        steps += 1;
        assert!(steps < 20_000_000, "the transfer does not end");
        model.now = at;
        model.step(event);
        if model.acked >= setup.bytes {
            break;
        }
    }
    for list in [&mut model.out.sender, &mut model.out.receiver] {
        list.sort_by_key(|record| {
            if let Record::Tcp(packet) = record {
                packet.at
            } else {
                0
            }
        });
        for (index, record) in list.iter_mut().enumerate() {
            if let Record::Tcp(packet) = record {
                packet.number = index as u64 + 1;
            }
        }
    }
    model.out
}

impl Model {
    fn at(&mut self, at: i64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event)));
    }

    fn clock(&self) -> u32 {
        1000 + u32::try_from(self.now / MS).unwrap_or(0)
    }

    fn packet(&self, at: i64, from_sender: bool) -> TcpPacket {
        // The receiver opened the connection.
        let direction = if from_sender {
            Direction::Backward
        } else {
            Direction::Forward
        };
        let mut packet = TcpPacket::new(self.id, direction, at, 0);
        packet.flags = TcpFlags::ACK;
        packet
    }

    fn both(&mut self, mut packet: TcpPacket, at_sender: i64, at_receiver: i64) {
        packet.at = at_sender;
        self.out.sender.push(Record::Tcp(packet));
        packet.at = at_receiver;
        self.out.receiver.push(Record::Tcp(packet));
    }

    fn handshake(&mut self) {
        let one_way = self.setup.one_way;
        let options = SynOptions {
            mss: Some(self.setup.mss as u16),
            window_scale: self.setup.scale,
            sack_permitted: true,
        };
        let stamps = |value| Timestamps { value, echo: 0 };
        let mut syn = self.packet(0, false);
        syn.flags = TcpFlags::SYN;
        syn.syn = options;
        syn.window = self.setup.buffer.min(65_535) as u16;
        syn.timestamps = self.setup.timestamps.then(|| stamps(900));
        let mut answer = self.packet(0, true);
        answer.flags = TcpFlags::SYN.with(TcpFlags::ACK);
        answer.syn = options;
        answer.ack = 1;
        answer.window = 65_535;
        answer.timestamps = self.setup.timestamps.then(|| stamps(901));
        let mut last = self.packet(0, false);
        last.seq = 1;
        last.ack = 1;
        last.window = self.field(self.setup.buffer);
        last.timestamps = self.setup.timestamps.then(|| stamps(902));
        self.both(syn, one_way, 0);
        self.both(answer, one_way, 2 * one_way);
        self.both(last, 3 * one_way, 2 * one_way);
        self.now = 3 * one_way;
        self.edge = self
            .setup
            .buffer
            .min(u64::from(u16::MAX) << self.setup.scale.unwrap_or(0));
        self.advertised = self.edge;
        if self.setup.source.is_some() {
            self.at(self.now, Event::Supply);
        }
    }

    fn field(&self, window: u64) -> u16 {
        (window >> self.setup.scale.unwrap_or(0)).min(65_535) as u16
    }

    fn step(&mut self, event: Event) {
        match event {
            Event::Data {
                seq,
                len,
                value,
                echo: _,
            } => self.receive(seq, len, value),
            Event::Ack {
                ack,
                window,
                value,
                echo: _,
            } => {
                let fresh = ack.saturating_sub(self.acked);
                self.acked = self.acked.max(ack);
                self.congestion_window = (self.congestion_window + fresh)
                    .min(self.setup.window_limit.saturating_mul(u64::from(self.setup.mss)));
                self.edge = self.edge.max(ack + window);
                self.recent_echo = value;
                self.send();
            }
            Event::Read => self.read_some(),
            Event::Delayed { armed } => {
                if armed == self.delayed && self.unacked_segments > 0 {
                    self.acknowledge();
                }
            }
            Event::Supply => {
                self.send();
                if self.sent < self.setup.bytes {
                    let (rate, piece) = self.setup.source.expect("only a paced source supplies");
                    self.at(self.now + (piece as f64 / rate * 1e9) as i64, Event::Supply);
                }
            }
        }
    }

    fn supplied(&self) -> u64 {
        let Some((rate, piece)) = self.setup.source else {
            return self.setup.bytes;
        };
        let elapsed = (self.now - 3 * self.setup.one_way) as f64 / 1e9;
        let pieces = (elapsed * rate / piece as f64).floor() as u64 + 1;
        (pieces * piece).min(self.setup.bytes)
    }

    fn send(&mut self) {
        let mss = u64::from(self.setup.mss) - if self.setup.timestamps { 12 } else { 0 };
        loop {
            let room = self
                .edge
                .min(self.acked + self.congestion_window)
                .min(self.acked.saturating_add(self.setup.send_buffer))
                .min(self.supplied());
            let len = room.saturating_sub(self.sent).min(mss);
            let last = self.sent + len >= self.supplied();
            if len == 0 || (len < mss && !(last && room >= self.supplied())) {
                return;
            }
            let mut packet = self.packet(self.now, true);
            packet.seq = 1 + self.sent as u32;
            packet.ack = 1;
            packet.payload_len = len as u32;
            packet.ip_len = packet.payload_len + if self.setup.timestamps { 52 } else { 40 };
            packet.wire_len = packet.ip_len + 14;
            packet.window = 1000;
            packet.ip_id = Some((self.sent / mss) as u16);
            let value = self.clock();
            packet.timestamps = self.setup.timestamps.then_some(Timestamps {
                value,
                echo: self.recent_echo,
            });
            if last {
                packet.flags = packet.flags.with(TcpFlags::PSH);
            }
            let start = self.link_free.max(self.now);
            self.link_free = start + (f64::from(packet.wire_len + 4) * 8e9 / self.setup.rate) as i64;
            let arrival = self.link_free + self.setup.one_way;
            self.both(packet, self.now, arrival);
            self.at(
                arrival,
                Event::Data {
                    seq: self.sent,
                    len,
                    value,
                    echo: 0,
                },
            );
            self.sent += len;
        }
    }

    fn receive(&mut self, seq: u64, len: u64, value: u32) {
        assert_eq!(seq, self.received, "nothing is lost or overtaken");
        self.received += len;
        self.unacked_segments += 1;
        if self.unacked_segments == 1 {
            self.last_value = value;
        }
        if self.setup.reader.is_none() {
            self.read = self.received;
        } else if !self.reading {
            self.reading = true;
            self.at(self.now, Event::Read);
        }
        if self.unacked_segments >= 2 || self.received >= self.setup.bytes {
            self.acknowledge();
        } else {
            self.delayed += 1;
            self.at(self.now + 40 * MS, Event::Delayed { armed: self.delayed });
        }
    }

    fn window(&self) -> u64 {
        let free = self.setup.buffer - (self.received - self.read);
        let edge = self.received + free;
        let step = u64::from(self.setup.mss).min(self.setup.buffer / 2);
        // The edge moves on only by a segment or more (RFC 9293, section 3.8.6.2.2).
        if edge >= self.advertised + step {
            free
        } else {
            self.advertised - self.received
        }
    }

    fn acknowledge(&mut self) {
        let window = self.window();
        self.unacked_segments = 0;
        self.delayed += 1;
        let field = self.field(window);
        let scaled = u64::from(field) << self.setup.scale.unwrap_or(0);
        self.advertised = self.advertised.max(self.received + scaled);
        let mut packet = self.packet(self.now, false);
        packet.seq = 1;
        packet.ack = 1 + self.received as u32;
        packet.window = field;
        packet.ip_id = Some(self.order as u16);
        packet.ip_len = 52;
        packet.wire_len = 66;
        let value = self.clock();
        packet.timestamps = self.setup.timestamps.then_some(Timestamps {
            value,
            echo: self.last_value,
        });
        let arrival = self.now + self.setup.one_way;
        self.both(packet, arrival, self.now);
        self.at(
            arrival,
            Event::Ack {
                ack: self.received,
                window: scaled,
                value,
                echo: 0,
            },
        );
    }

    fn read_some(&mut self) {
        let Some(reader) = self.setup.reader else { return };
        let have = self.received - self.read;
        if have == 0 {
            self.reading = false;
            return;
        }
        let take = have.min(reader.chunk).min(reader.unit - self.in_unit);
        self.read += take;
        self.in_unit += take;
        let whole = reader.unit as f64 / reader.bytes_per_s * 1e9 - reader.pause as f64;
        let mut wait = (whole * take as f64 / reader.unit as f64) as i64;
        if self.in_unit >= reader.unit {
            self.in_unit = 0;
            wait += reader.pause;
        }
        self.at(self.now + wait, Event::Read);
        let free = self.setup.buffer - (self.received - self.read);
        let opened = (self.received + free).saturating_sub(self.advertised);
        if opened >= (2 * u64::from(self.setup.mss)).min(self.setup.buffer / 2) {
            self.acknowledge();
        }
    }
}

//! A scripted peer: "send at this time, expect at that time", against one connection.
//!
//! Sequence numbers are offsets: 0 is the SYN, data begin at 1, on both sides.

use slowpath_endpoint::tcp::{Config, Connection, Events, Info};
use slowpath_endpoint::wire::{
    Ends, Flags, Options, OwnedPayload, Payload, SackBlocks, TcpHeader, Transmit, Transport,
};
use slowpath_packet::{Ecn, Seq32};
use slowpath_units::{Duration, Time};

pub(crate) struct Script {
    pub(crate) conn: Connection,
    pub(crate) now: Time,
    iss: Seq32,
    peer_iss: Seq32,
    pub(crate) timestamps: bool,
    pub(crate) window: u16,
}

/// What the peer's SYN-ACK offers.
pub(crate) struct Offer {
    pub(crate) mss: u16,
    pub(crate) scale: Option<u8>,
    pub(crate) sack: bool,
    pub(crate) ece: bool,
    pub(crate) window: u16,
}

impl Default for Offer {
    fn default() -> Self {
        Self {
            mss: 1000,
            scale: Some(10),
            sack: true,
            ece: false,
            window: 65_535,
        }
    }
}

pub(crate) fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

impl Script {
    /// An established connection without timestamps; the handshake took `rtt_ms`.
    pub(crate) fn established(mut config: Config, offer: &Offer, rtt_ms: u64) -> Self {
        config.timestamps = false;
        let ends = Ends {
            local: "10.0.0.1:1000".parse().unwrap(),
            remote: "10.0.0.2:2000".parse().unwrap(),
        };
        let conn = Connection::connect(&config, ends, Time::ZERO, 1500, 0x1_ffff_fff0);
        let mut script = Self {
            conn,
            now: Time::ZERO,
            iss: Seq32(0xffff_fff0),
            peer_iss: Seq32(5_000_000),
            timestamps: false,
            window: offer.window,
        };
        let syn = script.one("the SYN");
        assert!(syn.flags.has(Flags::SYN) && !syn.flags.has(Flags::ACK));
        assert_eq!(syn.seq, script.iss);
        script.now = ms(rtt_ms);
        let mut flags = Flags::SYN.with(Flags::ACK);
        if offer.ece {
            flags = flags.with(Flags::ECE);
        }
        let options = Options {
            mss: Some(offer.mss),
            window_scale: offer.scale,
            sack_permitted: offer.sack,
            ..Options::default()
        };
        let header = TcpHeader {
            src_port: 2000,
            dst_port: 1000,
            seq: script.peer_iss,
            ack: script.iss + 1,
            flags,
            window: 65_535,
            options,
        };
        script
            .conn
            .receive(script.now, &header, Ecn::NotEct, Payload::EMPTY);
        let ack = script.one("the ACK of the handshake");
        assert_eq!(
            (ack.flags, ack.seq, ack.ack),
            (Flags::ACK, script.iss + 1, script.peer_iss + 1)
        );
        script
    }

    /// Moves to `at_ms`; nothing may have to be sent before.
    #[track_caller]
    pub(crate) fn at(&mut self, at_ms: u64) -> &mut Self {
        let to = ms(at_ms);
        while let Some(due) = self.conn.next_event().filter(|due| *due < to) {
            self.now = due.max(self.now);
            self.conn.advance(self.now);
            let packet = self.conn.poll_transmit(self.now);
            assert!(
                packet.is_none(),
                "before {at_ms} ms, at {}, came {packet:?}",
                self.now
            );
        }
        self.now = to;
        self.conn.advance(to);
        self
    }

    /// Lets the next timer fire and says when, in rounded milliseconds.
    #[track_caller]
    pub(crate) fn timer(&mut self) -> u64 {
        loop {
            let due = self.conn.next_event().expect("a timer");
            self.now = due.max(self.now);
            self.conn.advance(self.now);
            // A timer may only have made another one necessary.
            let probe = self.conn.clone().poll_transmit(self.now);
            if probe.is_some() {
                return (self.now.nanos() + 500_000) / 1_000_000;
            }
        }
    }

    /// The application writes `len` bytes.
    pub(crate) fn write(&mut self, len: u64) -> &mut Self {
        self.conn.write_synthetic(self.now, len);
        self
    }

    /// The peer acknowledges up to `offset`.
    pub(crate) fn ack(&mut self, offset: u32) -> &mut Self {
        self.ack_with(offset, &[], Flags::ACK)
    }

    /// The same with SACK blocks.
    pub(crate) fn sack(&mut self, offset: u32, blocks: &[(u32, u32)]) -> &mut Self {
        self.ack_with(offset, blocks, Flags::ACK)
    }

    pub(crate) fn ack_with(&mut self, offset: u32, blocks: &[(u32, u32)], flags: Flags) -> &mut Self {
        let mut sack = SackBlocks::new();
        for (left, right) in blocks {
            sack.push(self.iss + *left, self.iss + *right);
        }
        let header = TcpHeader {
            src_port: 2000,
            dst_port: 1000,
            seq: self.peer_iss + 1,
            ack: self.iss + offset,
            flags,
            window: self.window,
            options: Options {
                sack,
                ..Options::default()
            },
        };
        self.conn.receive(self.now, &header, Ecn::NotEct, Payload::EMPTY);
        self
    }

    /// The peer sends `len` bytes from `offset` on.
    pub(crate) fn data(&mut self, offset: u32, len: u32, ecn: Ecn, flags: Flags) -> Events {
        let header = TcpHeader {
            src_port: 2000,
            dst_port: 1000,
            seq: self.peer_iss + offset,
            ack: self.iss + 1,
            flags,
            window: self.window,
            options: Options::default(),
        };
        self.conn.receive(self.now, &header, ecn, Payload::Synthetic(len));
        self.conn.take_events()
    }

    /// The next packet; there must be one.
    #[track_caller]
    pub(crate) fn one(&mut self, what: &str) -> TcpHeader {
        let packet = self
            .conn
            .poll_transmit(self.now)
            .unwrap_or_else(|| panic!("{what} is missing at {}", self.now));
        let Transport::Tcp(tcp) = packet.header.transport else {
            panic!("{packet:?}")
        };
        tcp
    }

    /// The next packet whole.
    #[track_caller]
    pub(crate) fn packet(&mut self) -> Transmit {
        self.conn.poll_transmit(self.now).expect("a packet")
    }

    /// Expects exactly these data segments now: first offset and length.
    #[track_caller]
    pub(crate) fn expect(&mut self, segments: &[(u32, u32)]) -> &mut Self {
        let mut sent = Vec::new();
        while let Some(packet) = self.conn.poll_transmit(self.now) {
            let Transport::Tcp(tcp) = &packet.header.transport else {
                continue;
            };
            let OwnedPayload::Synthetic(len) = packet.payload else {
                panic!("real bytes")
            };
            sent.push((tcp.seq.0.wrapping_sub(self.iss.0), len));
        }
        assert_eq!(sent, segments, "at {}", self.now);
        self
    }

    /// Expects that nothing is sent now.
    #[track_caller]
    pub(crate) fn nothing(&mut self) -> &mut Self {
        self.expect(&[])
    }

    /// Expects one acknowledgement of `offset` and gives it back.
    #[track_caller]
    pub(crate) fn expect_ack(&mut self, offset: u32) -> TcpHeader {
        let tcp = self.one("an acknowledgement");
        assert_eq!(tcp.ack.0.wrapping_sub(self.peer_iss.0), offset, "at {}", self.now);
        assert!(self.conn.poll_transmit(self.now).is_none());
        tcp
    }

    /// SACK blocks of an acknowledgement as offsets.
    pub(crate) fn blocks(&self, tcp: &TcpHeader) -> Vec<(u32, u32)> {
        let offset = |seq: Seq32| seq.0.wrapping_sub(self.peer_iss.0);
        tcp.options
            .sack
            .as_slice()
            .iter()
            .map(|(left, right)| (offset(*left), offset(*right)))
            .collect()
    }

    pub(crate) fn info(&self) -> Info {
        self.conn.info()
    }

    pub(crate) fn elapse(&mut self, span: Duration) -> &mut Self {
        self.now += span;
        self.conn.advance(self.now);
        self
    }
}

/// `count` full segments of 1000 bytes from `first` (in segments, from 0).
pub(crate) fn full(first: u32, count: u32) -> Vec<(u32, u32)> {
    (first..first + count).map(|i| (1 + i * 1000, 1000)).collect()
}

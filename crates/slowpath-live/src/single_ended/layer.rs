//! The protocols on a path, as layers that one stands on another.

use serde::Serialize;
use slowpath_diagnose::OPENSSH_WINDOW;
use slowpath_report::quantity;
use slowpath_verdict::Limit;
use slowpath_words::{english, english_word};

use crate::why::answer::ConnectionAnswer;

/// A way of moving data to or from a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// TCP and nothing else, against an iperf3 server.
    Tcp,
    /// `ssh HOST cat`.
    Pipe,
    /// sftp.
    Sftp,
    /// scp.
    Scp,
    /// TCP against the iperf3 server, through a tunnel of ssh.
    Tunnel,
    /// FTP.
    Ftp,
    /// Objects of a store, one request after the other.
    S3,
}

impl Layer {
    /// All of them, those that others stand on first.
    pub const ALL: [Self; 7] = [
        Self::Tcp,
        Self::Pipe,
        Self::Sftp,
        Self::Scp,
        Self::Tunnel,
        Self::Ftp,
        Self::S3,
    ];

    /// What people call it, in English.
    pub fn words(self) -> &'static str {
        match self {
            Self::Tcp => english_word!("layer-tcp"),
            Self::Pipe => english_word!("layer-pipe"),
            Self::Sftp => english_word!("layer-sftp"),
            Self::Scp => english_word!("layer-scp"),
            Self::Tunnel => english_word!("layer-tunnel"),
            Self::Ftp => english_word!("layer-ftp"),
            Self::S3 => english_word!("layer-s3"),
        }
    }

    /// Whether programs of OpenSSH carry it.
    pub const fn is_ssh(self) -> bool {
        matches!(self, Self::Pipe | Self::Sftp | Self::Scp | Self::Tunnel)
    }

    /// The layer that it stands on, the nearest of those there.
    pub fn below(self, there: &[Self]) -> Option<Self> {
        let nearest: &[Self] = match self {
            Self::Tcp => &[],
            Self::Sftp | Self::Scp | Self::Tunnel => &[Self::Pipe, Self::Tcp],
            Self::Pipe | Self::Ftp | Self::S3 => &[Self::Tcp],
        };
        let found = nearest.iter().copied().find(|layer| there.contains(layer));
        // Without raw TCP the layers stand beside each other, and the first of them is as good a measure as any.
        found.or_else(|| there.first().copied().filter(|first| *first != self))
    }

    /// Corrects what a watch says of this layer's connection by what is known of its programs; `server` says that the server is
    /// OpenSSH.
    ///
    /// From the sockets, a program at the server that reads slowly looks like a small window of the protocol: both let a few bytes
    /// out and wait. OpenSSH's own window is known, and so is what its sftp has in flight: where less than half of that was on its
    /// way, it is not that which held it. At this end of raw TCP is our own program, which does nothing but write or read as fast as
    /// it can: what keeps it from that is a processor.
    pub(super) fn correct(self, connection: &mut ConnectionAnswer, server: bool) {
        let out = connection.direction == "out";
        let flight = connection.facts.flight_bytes;
        let rate = quantity::byte_rate(connection.goodput_bit_per_s / 8.0);
        let (limit, sentence) = match connection.verdict.limit {
            Limit::ProtocolWindow
                if self.is_ssh() && server && out && flight > 0.0 && flight < OPENSSH_WINDOW / 2.0 =>
            {
                let flight = quantity::bytes(flight.round());
                let sentence = english!("path-server-reads", rate = rate, flight = flight);
                (Limit::ReceiverApplication, sentence)
            }
            Limit::SenderApplication if self == Self::Tcp && out => {
                (Limit::HostCpu, english!("path-processor-sends", rate = rate))
            }
            Limit::ReceiverApplication if self == Self::Tcp && !out => {
                (Limit::HostCpu, english!("path-processor-reads", rate = rate))
            }
            _ => return,
        };
        let before = std::mem::replace(&mut connection.verdict.limit, limit);
        connection.verdict.sentence = sentence;
        for entry in &mut connection.ledger.entries {
            if entry.cause == before {
                entry.cause = limit;
            }
        }
        for interval in &mut connection.intervals {
            if interval.limit == before {
                interval.limit = limit;
            }
        }
    }

    /// What in this layer holds it back where a watch of its connection found `limit`.
    pub fn culprit(self, limit: Limit) -> String {
        match (self, limit) {
            (Self::Sftp | Self::Scp, Limit::ProtocolWindow) => {
                english_word!("layer-requests-in-flight").to_owned()
            }
            (Self::Pipe | Self::Tunnel, Limit::ProtocolWindow) => {
                english_word!("layer-channel-window").to_owned()
            }
            (Self::Ftp | Self::S3, Limit::ProtocolWindow | Limit::SenderApplication) => {
                english_word!("layer-waits-for-answers").to_owned()
            }
            (_, Limit::ReceiverApplication) => english_word!("layer-server-reads-slowly").to_owned(),
            (_, Limit::HostCpu) => english_word!("layer-processor-here").to_owned(),
            (_, limit) if limit.is_undecided() => english_word!("layer-reason-not-seen").to_owned(),
            (_, other) => english!("layer-its-limit", limit = other.noun()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_is_held_against_the_nearest_below_it() {
        use Layer::{Ftp, Pipe, S3, Scp, Sftp, Tcp, Tunnel};
        let all = Layer::ALL;
        assert_eq!(Sftp.below(&all), Some(Pipe));
        assert_eq!(Scp.below(&all), Some(Pipe));
        assert_eq!(Tunnel.below(&all), Some(Pipe));
        assert_eq!(Pipe.below(&all), Some(Tcp));
        assert_eq!(S3.below(&all), Some(Tcp));
        assert_eq!(Tcp.below(&all), None);
        // Without an iperf3 server.
        assert_eq!(Sftp.below(&[Pipe, Sftp, Scp]), Some(Pipe));
        assert_eq!(Pipe.below(&[Pipe, Sftp, Scp]), None);
        assert_eq!(S3.below(&[Ftp, S3]), Some(Ftp));
    }

    fn seen(direction: &'static str, limit: Limit, flight_bytes: f64) -> ConnectionAnswer {
        let facts = crate::why::facts::Facts {
            flight_bytes,
            ..crate::why::facts::Facts::default()
        };
        ConnectionAnswer {
            local: String::new(),
            remote: String::new(),
            program: None,
            direction,
            congestion_control: "reno".to_owned(),
            bytes: 1,
            bytes_at_least: false,
            goodput_bit_per_s: 8e9,
            ended: true,
            verdict: slowpath_verdict::Verdict {
                limit,
                flags: Vec::new(),
                share: 1.0,
                confidence: 1.0,
                sentence: "before".to_owned(),
                parameters: slowpath_verdict::Parameters::default(),
                evidence: Vec::new(),
                rejected: Vec::new(),
                next_step: None,
            },
            ledger: crate::why::judge::Ledger::default(),
            intervals: Vec::new(),
            facts,
            samples: None,
        }
    }

    /// The test's own program is held by nothing but a processor; another's may be slow, and so may the server's.
    #[test]
    fn what_is_known_of_a_layers_programs_corrects_its_verdict() {
        let corrected = |layer: Layer, direction, limit, flight| {
            let mut connection = seen(direction, limit, flight);
            layer.correct(&mut connection, true);
            (connection.verdict.limit, connection.verdict.sentence)
        };
        let (limit, sentence) = corrected(Layer::Tcp, "out", Limit::SenderApplication, 0.0);
        assert_eq!(limit, Limit::HostCpu);
        assert!(sentence.contains("1 GB/s"), "{sentence}");
        let limit = |layer, direction, limit, flight| corrected(layer, direction, limit, flight).0;
        let (sender, reader) = (Limit::SenderApplication, Limit::ReceiverApplication);
        assert_eq!(limit(Layer::Tcp, "in", reader, 0.0), Limit::HostCpu);
        assert_eq!(limit(Layer::Tcp, "in", sender, 0.0), sender);
        assert_eq!(limit(Layer::Tcp, "out", reader, 0.0), reader);
        assert_eq!(limit(Layer::Pipe, "out", sender, 0.0), sender);
        let window = Limit::ProtocolWindow;
        assert_eq!(limit(Layer::Sftp, "out", window, 3e5), reader);
        assert_eq!(limit(Layer::Sftp, "out", window, 2e6), window);
        assert_eq!(limit(Layer::Sftp, "in", window, 3e5), window);
    }

    #[test]
    fn the_same_limit_is_something_else_in_each_layer() {
        assert_eq!(
            Layer::Sftp.culprit(Limit::ProtocolWindow),
            "its requests in flight"
        );
        assert_ne!(
            Layer::Pipe.culprit(Limit::ProtocolWindow),
            Layer::Sftp.culprit(Limit::ProtocolWindow)
        );
    }
}

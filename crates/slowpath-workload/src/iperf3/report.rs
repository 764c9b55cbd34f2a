//! What came out of a test: the numbers of both sides, and iperf3's own JSON of them.

use std::net::SocketAddr;

use serde_json::{Value, json};
use slowpath_packet::flow::{FlowKey, Protocol};
use slowpath_record::{FlowResult, SenderCount, Series, TransferResult};
use slowpath_sys::tcp_info::TcpInfo;
use slowpath_units::{Duration, Time};

use super::params::{Direction, Params, Transport};
use super::tally::{Bursts, Counts};
use crate::context::Stop;
use crate::socket::SocketFacts;
use crate::watch::ConnectionLog;

/// Which side wrote a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The side that asked for the test.
    Client,
    /// The side that was asked.
    Server,
}

/// One test as one side saw it, with what the other side told at the end.
#[derive(Debug, Clone)]
pub struct Report {
    /// Which side this is.
    pub side: Side,
    /// What was asked for.
    pub params: Params,
    /// Block or datagram size in use.
    pub block: usize,
    /// The cookie, which both sides' reports share.
    pub cookie: String,
    /// When data began to move.
    pub start: Time,
    /// When counting began.
    pub counted_from: Time,
    /// When counting ended.
    pub end: Time,
    /// Why the client ended the test before its time: its cap was used up. The figures are those up to then.
    pub cut_short: Option<Stop>,
    /// Streams in the order of their numbers.
    pub streams: Vec<StreamReport>,
    /// Processor time of this side's stream threads and of the one that ran the test, by thread.
    pub threads: Vec<(String, Duration)>,
    /// Share of one processor that the other side used, if it told.
    pub remote_cpu: Option<f64>,
    /// Congestion control of this side's connections, and of the other side's if it told.
    pub congestion: (Option<String>, Option<String>),
    /// The server's own output, as text or as JSON text.
    pub server_output: Option<String>,
    /// `TCP_INFO` samples of this side's data connections.
    pub connections: Vec<ConnectionLog>,
}

/// One stream.
#[derive(Debug, Clone)]
pub struct StreamReport {
    /// iperf3's number: 1, 3, 4, 5, ...
    pub id: u32,
    /// Whether this side sends.
    pub sends: bool,
    /// This side's address.
    pub local: SocketAddr,
    /// The other side's address.
    pub peer: SocketAddr,
    /// Time that counted.
    pub duration: Duration,
    /// Bytes that this side's socket accepted, or that this side read.
    pub bytes: u64,
    /// The same during the omitted time.
    pub omitted_bytes: u64,
    /// State of the connection at the end; counters since counting began.
    pub tcp: Option<TcpState>,
    /// Datagram counts of this side.
    pub udp: Option<UdpCounts>,
    /// Datagram counts of this side during the omitted time.
    pub udp_omitted: Option<UdpCounts>,
    /// Socket options as granted.
    pub facts: Option<SocketFacts>,
    /// Intervals of this side.
    pub intervals: Vec<Interval>,
    /// What the other side told about the stream.
    pub remote: Option<RemoteStream>,
}

/// The other side's account of a stream.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RemoteStream {
    /// Bytes it sent or received.
    pub bytes: u64,
    /// Segments it retransmitted, if it sends and knows.
    pub retransmits: Option<u64>,
    /// Datagrams it sent, or the highest number that it received.
    pub packets: u64,
    /// Datagrams it misses.
    pub lost: u64,
    /// Jitter it measured.
    pub jitter: Duration,
    /// Time that it counted.
    pub duration: Option<Duration>,
    /// Its whole account, when it is a slowpath too.
    pub udp: Option<UdpCounts>,
}

/// A part of the test.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Its start, from the start of the test.
    pub from: Duration,
    /// Its end.
    pub to: Duration,
    /// Whether it lies in the omitted time.
    pub omitted: bool,
    /// Bytes that the socket accepted, or that were read. For a sender this is *not* what was delivered:
    /// compare with [`TcpState::bytes_acked`].
    pub bytes: u64,
    /// State of the connection at its end; counters of this interval alone.
    pub tcp: Option<TcpState>,
    /// Datagram counts of this interval alone.
    pub udp: Option<UdpCounts>,
}

/// The part of `TCP_INFO` that reports show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpState {
    /// Segments retransmitted: a counter.
    pub retransmits: u64,
    /// Bytes acknowledged by the peer: a counter.
    pub bytes_acked: u64,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// The peer's window in bytes.
    pub peer_window: u64,
    /// Smoothed round-trip time.
    pub rtt: Duration,
    /// Its mean deviation.
    pub rtt_deviation: Duration,
    /// Smallest round-trip time.
    pub min_rtt: Duration,
    /// Path MTU in bytes.
    pub path_mtu: u32,
    /// Segment payload in bytes.
    pub mss: u32,
    /// Reordering events seen.
    pub reordering: u32,
}

impl TcpState {
    pub(super) fn new(info: &TcpInfo) -> Self {
        Self {
            retransmits: u64::from(info.total_retrans),
            bytes_acked: info.bytes_acked,
            cwnd: u64::from(info.snd_cwnd) * u64::from(info.snd_mss),
            peer_window: u64::from(info.snd_wnd),
            rtt: Duration::from_micros(u64::from(info.rtt)),
            rtt_deviation: Duration::from_micros(u64::from(info.rttvar)),
            min_rtt: Duration::from_micros(u64::from(info.min_rtt)),
            path_mtu: info.pmtu,
            mss: info.snd_mss,
            reordering: info.reord_seen,
        }
    }

    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            retransmits: self.retransmits.saturating_sub(earlier.retransmits),
            bytes_acked: self.bytes_acked.saturating_sub(earlier.bytes_acked),
            ..*self
        }
    }
}

/// Datagrams of one side of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UdpCounts {
    /// Datagrams sent; for a receiver the growth of the highest number.
    pub packets: u64,
    /// Datagrams that arrived, each counted once.
    pub arrived: u64,
    /// Datagrams that did not arrive, of those with a number up to the highest that did.
    pub lost: u64,
    /// Datagrams that arrived after a later one.
    pub reordered: u64,
    /// Datagrams that arrived again.
    pub duplicates: u64,
    /// Part of `lost` that the receiver's own socket dropped for want of buffer.
    pub socket_drops: u64,
    /// Datagrams that the sender's own kernel refused; they have no number and are not part of `lost`.
    pub send_errors: u64,
    /// Time by which a paced sender fell behind its schedule and that it did not make up for: its rate is lower
    /// than asked for because this host was busy.
    pub behind: Duration,
    /// Jitter at the end (RFC 3550, section 6.4.1).
    pub jitter: Duration,
    /// Bursts that really left a paced sender.
    pub bursts: Bursts,
}

impl UdpCounts {
    pub(super) fn new(sends: bool, counts: &Counts, jitter: u64, bursts: Bursts) -> Self {
        Self {
            packets: counts.packets,
            arrived: if sends { 0 } else { counts.arrived },
            lost: counts.lost,
            reordered: counts.reordered,
            duplicates: counts.duplicates,
            socket_drops: counts.socket_drops,
            send_errors: counts.send_errors,
            behind: Duration::from_nanos(counts.behind),
            jitter: Duration::from_nanos(jitter),
            bursts,
        }
    }

    /// Datagrams that were lost between the two hosts.
    pub const fn path_loss(&self) -> u64 {
        self.lost.saturating_sub(self.socket_drops)
    }
}

impl StreamReport {
    /// A stream that carried nothing.
    #[cfg(any(test, feature = "conversation"))]
    pub(super) fn empty(id: u32, sends: bool) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        Self {
            id,
            sends,
            local: address,
            peer: address,
            duration: Duration::ZERO,
            bytes: 0,
            omitted_bytes: 0,
            tcp: None,
            udp: None,
            udp_omitted: None,
            facts: None,
            intervals: Vec::new(),
            remote: None,
        }
    }

    /// Bytes that the receiving application got: the receiver's count where there is one, else what the peer's
    /// kernel has acknowledged, else what this side sent.
    pub fn delivered(&self) -> u64 {
        match (self.sends, &self.remote, &self.tcp) {
            (true, Some(remote), _) => remote.bytes,
            (true, None, Some(tcp)) => tcp.bytes_acked,
            (false, _, _) | (true, None, None) => self.bytes,
        }
    }

    /// Bytes that the sender's socket accepted.
    pub fn accepted(&self) -> u64 {
        match (self.sends, &self.remote) {
            (false, Some(remote)) => remote.bytes,
            _ => self.bytes,
        }
    }

    /// Time over which the sender counted.
    pub fn accepted_time(&self) -> Duration {
        match (self.sends, &self.remote) {
            (false, Some(remote)) => remote.duration.unwrap_or(self.duration),
            _ => self.duration,
        }
    }

    /// Time over which the receiver counted.
    pub fn delivery_time(&self) -> Duration {
        match (self.sends, &self.remote) {
            (true, Some(remote)) => remote.duration.unwrap_or(self.duration),
            _ => self.duration,
        }
    }

    /// Segments that the sender retransmitted, where that is known.
    pub fn retransmits(&self) -> Option<u64> {
        if self.sends {
            self.tcp.map(|tcp| tcp.retransmits)
        } else {
            self.remote.as_ref().and_then(|remote| remote.retransmits)
        }
    }

    /// The receiver's account of the datagrams.
    pub fn received(&self) -> Option<UdpCounts> {
        let own = self.udp.as_ref()?;
        if !self.sends {
            return Some(own.clone());
        }
        let remote = self.remote.as_ref()?;
        Some(remote.udp.clone().unwrap_or_else(|| UdpCounts {
            packets: remote.packets,
            arrived: remote.packets.saturating_sub(remote.lost),
            lost: remote.lost,
            jitter: remote.jitter,
            ..UdpCounts::default()
        }))
    }

    /// Datagrams that the sender sent.
    pub fn sent_packets(&self) -> u64 {
        match (&self.udp, &self.remote) {
            (Some(own), _) if self.sends => own.packets,
            (Some(_), Some(remote)) => remote.packets,
            (Some(own), None) => own.packets,
            (None, _) => 0,
        }
    }
}

impl Report {
    /// Bytes delivered to the receivers of one way: `true` for client to server.
    pub fn delivered(&self, forward: bool) -> u64 {
        self.one_way(forward).map(StreamReport::delivered).sum()
    }

    /// Bytes that the senders' sockets of one way accepted.
    pub fn accepted(&self, forward: bool) -> u64 {
        self.one_way(forward).map(StreamReport::accepted).sum()
    }

    /// Bit/s that the senders' sockets of one way accepted, over the time that the senders counted.
    pub fn accepted_bit_per_s(&self, forward: bool) -> f64 {
        rate(self.accepted(forward), self.accepted_time(forward))
    }

    /// Time over which the senders of one way counted.
    pub fn accepted_time(&self, forward: bool) -> Duration {
        self.one_way(forward)
            .map(StreamReport::accepted_time)
            .max()
            .unwrap_or_default()
    }

    /// Bit/s delivered to the receivers of one way.
    ///
    /// A test of an amount is timed by its sender, from the first byte to the last acknowledgement: the receiver
    /// counts on until it hears of the end.
    pub fn delivered_bit_per_s(&self, forward: bool) -> f64 {
        let time = |stream: &StreamReport| {
            if stream.sends && (self.params.limited() || self.cut_short.is_some()) {
                stream.duration
            } else {
                stream.delivery_time()
            }
        };
        let time = self.one_way(forward).map(time).max().unwrap_or_default();
        rate(self.delivered(forward), time)
    }

    /// Streams of one way.
    pub fn one_way(&self, forward: bool) -> impl Iterator<Item = &StreamReport> {
        self.streams
            .iter()
            .filter(move |stream| (stream.sends == (self.side == Side::Client)) == forward)
    }

    /// Share of the test's time for which the busiest thread of this side had the processor.
    ///
    /// Above 0.9 the host, and not the path, may be what limits the test.
    pub fn busiest_thread(&self) -> f64 {
        let time = self.end.since(self.start).seconds();
        let most = self
            .threads
            .iter()
            .map(|(_, cpu)| cpu.seconds())
            .fold(0.0, f64::max);
        if time > 0.0 { most / time } else { 0.0 }
    }

    /// What a reader of the sender's figures must know, if it matters here.
    ///
    /// A sender's socket accepts data before any of it has left: in a short test, or in the first second, the
    /// accepted bytes exceed the delivered ones by up to the send buffer.
    pub fn sender_effect(&self) -> Option<String> {
        let forward = self.side == Side::Client;
        let (accepted, delivered) = (self.accepted(forward), self.delivered(forward));
        let excess = accepted.saturating_sub(delivered);
        if self.params.transport == Transport::Udp || excess == 0 || excess * 50 < delivered {
            return None;
        }
        Some(format!(
            "the sender's socket accepted {excess} bytes more than were delivered: they were in its send buffer \
             when the test ended; the sender's own rate is too high by {:.1} %",
            excess as f64 * 100.0 / delivered.max(1) as f64
        ))
    }

    /// One result for each stream, for the run record.
    pub fn transfers(&self) -> Vec<TransferResult> {
        let result = |stream: &StreamReport| TransferResult {
            name: format!("iperf3 stream {}", stream.id),
            bytes: stream.delivered(),
            start: self.counted_from,
            end: self.counted_from + stream.delivery_time(),
            complete: true,
            error: None,
            retransmitted_segments: stream.retransmits(),
            sender: Some(SenderCount {
                bytes: stream.accepted(),
                over: stream.accepted_time(),
            }),
        };
        self.streams.iter().map(result).collect()
    }

    /// Datagram traffic of each stream, for the run record; empty for TCP.
    pub fn flows(&self) -> Vec<FlowResult> {
        let flow = |stream: &StreamReport| {
            let received = stream.received()?;
            let header = if stream.peer.ip().to_canonical().is_ipv4() {
                28
            } else {
                48
            };
            // A remote sender goes on until it hears of the end: what it sent after that is not lost.
            let sent = if stream.sends {
                // What arrived was sent, also when it left just before or after this side's counting.
                stream.sent_packets().max(received.arrived)
            } else {
                received.packets
            };
            let bytes = |packets: u64| packets * (self.block as u64 + header);
            Some(FlowResult {
                name: format!("iperf3 stream {}", stream.id),
                sent_packets: sent,
                received_packets: received.arrived,
                sent_bytes: bytes(sent),
                received_bytes: bytes(received.arrived),
                jitter: Some(received.jitter),
                goodput_byte_per_s: rate(stream.delivered(), stream.delivery_time()) / 8.0,
                lost: Vec::new(),
            })
        };
        self.streams.iter().filter_map(flow).collect()
    }

    /// Rates per interval of each stream and the samples of its connection, for the run record.
    ///
    /// A receiver's rate is what arrived; a sender's is what its socket accepted, and beside it what was
    /// acknowledged.
    pub fn series(&self, prefix: &str) -> Vec<Series> {
        let mut all = Vec::new();
        for stream in &self.streams {
            let rate = |name: &str, bytes: &dyn Fn(&Interval) -> u64| Series {
                name: format!("{prefix}/stream-{}/{name}", stream.id),
                unit: "byte/s".to_owned(),
                points: stream
                    .intervals
                    .iter()
                    .map(|part| {
                        let span = part.to.saturating_sub(part.from);
                        (self.start + part.to, bytes(part) as f64 / span.seconds())
                    })
                    .collect(),
            };
            if stream.sends {
                all.push(rate("accepted", &|part| part.bytes));
                if stream.tcp.is_some() {
                    all.push(rate("acknowledged", &|part| {
                        part.tcp.map_or(0, |tcp| tcp.bytes_acked)
                    }));
                }
            } else {
                all.push(rate("received", &|part| part.bytes));
            }
        }
        for connection in &self.connections {
            all.extend(connection.series(&format!("{prefix}/{}", connection.name.replace(' ', "-"))));
        }
        all
    }

    /// The key of a stream, from the sender's side.
    pub fn key(&self, stream: &StreamReport) -> FlowKey {
        let protocol = match self.params.transport {
            Transport::Tcp => Protocol::TCP,
            Transport::Udp => Protocol::UDP,
        };
        let key = FlowKey::new(protocol, stream.local, stream.peer);
        if stream.sends { key } else { key.reversed() }
    }

    /// The report as iperf3's `-J` writes it, with the stable names of 3.12.
    pub fn to_json(&self) -> Value {
        let test_start = json!({
            "protocol": if self.params.transport == Transport::Tcp { "TCP" } else { "UDP" },
            "num_streams": self.params.parallel,
            "blksize": self.block,
            "omit": self.params.omit.seconds().ceil(),
            "duration": self.params.duration.seconds().ceil(),
            "bytes": self.params.bytes.unwrap_or(0),
            "blocks": self.params.blocks.unwrap_or(0),
            "reverse": u8::from(self.params.direction == Direction::Reverse),
            "bidir": u8::from(self.params.direction == Direction::Bidirectional),
            "tos": self.params.tos,
            "target_bitrate": self.params.rate.map_or(0, slowpath_units::BitRate::bits_per_s),
        });
        let connected: Vec<Value> = self
            .streams
            .iter()
            .map(|stream| {
                json!({"socket": stream.id, "local_host": stream.local.ip().to_canonical().to_string(),
                    "local_port": stream.local.port(), "remote_host": stream.peer.ip().to_canonical().to_string(),
                    "remote_port": stream.peer.port()})
            })
            .collect();
        let mut end = json!({
            "streams": self.streams.iter().map(stream_json).collect::<Vec<_>>(),
            "cpu_utilization_percent": {
                "host_total": self.busiest_thread() * 100.0,
                "remote_total": self.remote_cpu.unwrap_or(0.0),
            },
        });
        let forward = self.params.direction != Direction::Reverse;
        self.sums_json(forward, "", &mut end);
        if self.params.direction == Direction::Bidirectional {
            self.sums_json(false, "_bidir_reverse", &mut end);
        }
        let (local, remote) = &self.congestion;
        let we_send = (self.side == Side::Client) == forward;
        for (name, value) in [
            ("sender_tcp_congestion", if we_send { local } else { remote }),
            ("receiver_tcp_congestion", if we_send { remote } else { local }),
        ] {
            if let Some(value) = value {
                end[name] = json!(value);
            }
        }
        let mut report = json!({
            "start": {
                "connected": connected,
                "version": concat!("slowpath ", env!("CARGO_PKG_VERSION")),
                "cookie": self.cookie,
                "test_start": test_start,
            },
            "intervals": self.intervals_json(),
            "end": end,
        });
        for (name, text) in [
            ("title", &self.params.title),
            ("extra_data", &self.params.extra_data),
        ] {
            if let Some(text) = text {
                report[name] = json!(text);
            }
        }
        if let Some(output) = &self.server_output {
            match serde_json::from_str::<Value>(output) {
                Ok(value) => report["server_output_json"] = value,
                Err(_) => report["server_output_text"] = json!(output),
            }
        }
        report
    }

    fn sums_json(&self, forward: bool, suffix: &str, end: &mut Value) {
        let time = self.end.since(self.counted_from);
        let sum = |bytes: u64, time: Duration| {
            json!({"start": 0, "end": time.seconds(), "seconds": time.seconds(), "bytes": bytes,
                "bits_per_second": rate(bytes, time), "sender": (self.side == Side::Client) == forward})
        };
        let delivery = self
            .one_way(forward)
            .map(StreamReport::delivery_time)
            .max()
            .unwrap_or_default();
        let mut sent = sum(self.accepted(forward), time);
        let mut received = sum(self.delivered(forward), delivery);
        if self.params.transport == Transport::Udp {
            let counts: Vec<UdpCounts> = self.one_way(forward).filter_map(StreamReport::received).collect();
            let packets: u64 = self.one_way(forward).map(StreamReport::sent_packets).sum();
            let lost: u64 = counts.iter().map(|counts| counts.lost).sum();
            let jitter: f64 = counts.iter().map(|counts| counts.jitter.seconds() * 1e3).sum();
            for value in [&mut sent, &mut received] {
                value["jitter_ms"] = json!(jitter / counts.len().max(1) as f64);
                value["lost_packets"] = json!(lost);
                value["packets"] = json!(packets);
                value["lost_percent"] = json!(percent(lost, packets));
            }
            end[format!("sum{suffix}")] = received.clone();
        } else if let Some(retransmits) = self
            .one_way(forward)
            .map(StreamReport::retransmits)
            .sum::<Option<u64>>()
        {
            sent["retransmits"] = json!(retransmits);
        }
        end[format!("sum_sent{suffix}")] = sent;
        end[format!("sum_received{suffix}")] = received;
    }

    fn intervals_json(&self) -> Vec<Value> {
        let most = self
            .streams
            .iter()
            .map(|stream| stream.intervals.len())
            .max()
            .unwrap_or(0);
        let row = |index: usize| {
            let parts: Vec<(&StreamReport, &Interval)> = self
                .streams
                .iter()
                .filter_map(|stream| stream.intervals.get(index).map(|interval| (stream, interval)))
                .collect();
            let streams: Vec<Value> = parts
                .iter()
                .map(|(stream, part)| interval_json(stream, part))
                .collect();
            let mut value = json!({"streams": streams});
            for (name, sends) in [("sum", true), ("sum", false)] {
                let own: Vec<_> = parts.iter().filter(|(stream, _)| stream.sends == sends).collect();
                let Some((_, first)) = own.first() else { continue };
                let bytes: u64 = own.iter().map(|(_, part)| part.bytes).sum();
                let time = first.to.saturating_sub(first.from);
                let name = if value.get(name).is_some() {
                    "sum_bidir_reverse"
                } else {
                    name
                };
                value[name] = json!({"start": first.from.seconds(), "end": first.to.seconds(),
                    "seconds": time.seconds(), "bytes": bytes, "bits_per_second": rate(bytes, time),
                    "omitted": first.omitted, "sender": sends});
            }
            value
        };
        (0..most).map(row).collect()
    }
}

fn stream_json(stream: &StreamReport) -> Value {
    let side = |bytes: u64, time: Duration| {
        json!({"socket": stream.id, "start": 0, "end": time.seconds(), "seconds": time.seconds(), "bytes": bytes,
            "bits_per_second": rate(bytes, time), "sender": stream.sends})
    };
    if let (Some(received), Some(_)) = (stream.received(), &stream.udp) {
        let packets = stream.sent_packets();
        let mut value = side(stream.accepted(), stream.duration);
        value["jitter_ms"] = json!(received.jitter.seconds() * 1e3);
        value["lost_packets"] = json!(received.lost);
        value["packets"] = json!(packets);
        value["lost_percent"] = json!(percent(received.lost, packets));
        value["out_of_order"] = json!(received.reordered);
        return json!({"udp": value});
    }
    let mut sender = side(stream.accepted(), stream.duration);
    if let Some(retransmits) = stream.retransmits() {
        sender["retransmits"] = json!(retransmits);
    }
    if let (Some(tcp), true) = (&stream.tcp, stream.sends) {
        sender["min_rtt"] = json!(tcp.min_rtt.micros());
        let windows = stream
            .intervals
            .iter()
            .filter_map(|interval| interval.tcp.map(|tcp| tcp.cwnd));
        sender["max_snd_cwnd"] = json!(windows.max().unwrap_or(tcp.cwnd));
    }
    json!({"sender": sender, "receiver": side(stream.delivered(), stream.delivery_time())})
}

fn interval_json(stream: &StreamReport, part: &Interval) -> Value {
    let time = part.to.saturating_sub(part.from);
    let mut value = json!({"socket": stream.id, "start": part.from.seconds(), "end": part.to.seconds(),
        "seconds": time.seconds(), "bytes": part.bytes, "bits_per_second": rate(part.bytes, time),
        "omitted": part.omitted, "sender": stream.sends});
    if let (Some(tcp), true) = (&part.tcp, stream.sends) {
        value["retransmits"] = json!(tcp.retransmits);
        value["snd_cwnd"] = json!(tcp.cwnd);
        value["snd_wnd"] = json!(tcp.peer_window);
        value["rtt"] = json!(tcp.rtt.micros());
        value["rttvar"] = json!(tcp.rtt_deviation.micros());
        value["pmtu"] = json!(tcp.path_mtu);
        value["bytes_acked"] = json!(tcp.bytes_acked);
    }
    if let Some(udp) = &part.udp {
        value["packets"] = json!(udp.packets);
        if !stream.sends {
            value["jitter_ms"] = json!(udp.jitter.seconds() * 1e3);
            value["lost_packets"] = json!(udp.lost);
            value["lost_percent"] = json!(percent(udp.lost, udp.packets));
        }
    }
    value
}

fn rate(bytes: u64, time: Duration) -> f64 {
    if time > Duration::ZERO {
        bytes as f64 * 8.0 / time.seconds()
    } else {
        0.0
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole > 0 {
        part as f64 * 100.0 / whole as f64
    } else {
        0.0
    }
}

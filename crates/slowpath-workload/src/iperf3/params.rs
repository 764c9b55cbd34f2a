//! What a client asks for: as configuration, and as the JSON that the server reads.

use std::net::SocketAddr;

use serde_json::{Map, Value, json};
use slowpath_packet::mark::Dscp;
use slowpath_units::{BitRate, ByteCount, Duration};

use super::number::integer;
use crate::socket::SocketOptions;

/// TCP or UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// TCP.
    #[default]
    Tcp,
    /// UDP.
    Udp,
}

/// Which way the data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Client to server.
    #[default]
    Forward,
    /// Server to client (`-R`).
    Reverse,
    /// Both ways at the same time (`--bidir`).
    Bidirectional,
}

/// How a UDP sender with a rate spaces its datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pacing {
    /// Each datagram at its own time; after a stall at most 1 ms is made up for.
    #[default]
    Exact,
    /// Each datagram at its own time; after a stall at most this much is made up for, in one burst. For offering a
    /// rate on a host that is busy with other work.
    CatchUp(Duration),
    /// As iperf3: at every tick, everything that the average since the start still lacks. The tick is 1 ms from
    /// iperf3 3.2 on and 100 ms before.
    Ticks(Duration),
}

/// One test to run.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// The server's address; 5201 is the usual port.
    pub server: SocketAddr,
    /// What to ask for.
    pub params: Params,
    /// How a UDP sender on this side spaces its datagrams.
    pub pacing: Pacing,
    /// Length of the intervals in the report.
    pub interval: Duration,
    /// How often `TCP_INFO` is sampled.
    pub sample_every: Duration,
    /// How long to try again while the server is busy with another test.
    pub patience: Duration,
}

impl ClientConfig {
    /// A forward TCP test of `duration` with one stream.
    pub fn tcp(server: SocketAddr, duration: Duration) -> Self {
        Self {
            server,
            params: Params {
                duration,
                ..Params::default()
            },
            pacing: Pacing::default(),
            interval: Duration::from_secs(1),
            sample_every: Duration::from_millis(100),
            patience: Duration::from_secs(2),
        }
    }

    /// A forward UDP test at `rate`; `None` is as fast as possible.
    pub fn udp(server: SocketAddr, duration: Duration, rate: Option<BitRate>) -> Self {
        let mut config = Self::tcp(server, duration);
        config.params.transport = Transport::Udp;
        config.params.rate = rate;
        config.params.counters_64bit = true;
        config
    }
}

/// The parameters of a test, as both sides know them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// TCP or UDP.
    pub transport: Transport,
    /// Which way.
    pub direction: Direction,
    /// Length without [`Params::omit`] (`-t`); on the wire in whole seconds, rounded up. Zero with a byte or
    /// block limit.
    pub duration: Duration,
    /// Time at the start that does not count (`-O`), in whole seconds on the wire.
    pub omit: Duration,
    /// Ends after so many bytes of all streams together (`-n`).
    pub bytes: Option<u64>,
    /// Ends after so many blocks (`-k`).
    pub blocks: Option<u64>,
    /// Streams in each direction (`-P`), 1 to 128.
    pub parallel: u32,
    /// Bytes of one write or datagram (`-l`).
    pub block: Option<u32>,
    /// Rate of each stream (`-b`); absent is unlimited, also for UDP.
    pub rate: Option<BitRate>,
    /// Blocks sent together when there is a rate (`-b RATE/BURST`).
    pub burst: u32,
    /// `SO_MAX_PACING_RATE` of each stream (`--fq-rate`).
    pub fq_rate: Option<BitRate>,
    /// `SO_SNDBUF` and `SO_RCVBUF` on both ends (`-w`).
    pub window: Option<ByteCount>,
    /// `TCP_MAXSEG` (`-M`).
    pub mss: Option<u32>,
    /// Congestion control of data connections (`-C`).
    pub congestion_control: Option<String>,
    /// Type-of-service byte (`-S`, `--dscp` times four); here from the SYN on.
    pub tos: u8,
    /// `TCP_NODELAY` (`-N`).
    pub no_delay: bool,
    /// Send with sendfile(2) (`-Z`).
    pub zero_copy: bool,
    /// 64-bit sequence numbers in datagrams (`--udp-counters-64bit`).
    pub counters_64bit: bool,
    /// Ask for the server's own output (`--get-server-output`).
    pub server_output: bool,
    /// A repeating pattern instead of random bytes (`--repeating-payload`).
    pub repeating_payload: bool,
    /// Set the don't-fragment bit on IPv4 datagrams (`--dont-fragment`).
    pub dont_fragment: bool,
    /// A title for the report (`-T`).
    pub title: Option<String>,
    /// Any text for the report (`--extra-data`).
    pub extra_data: Option<String>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            transport: Transport::Tcp,
            direction: Direction::Forward,
            duration: Duration::from_secs(10),
            omit: Duration::ZERO,
            bytes: None,
            blocks: None,
            parallel: 1,
            block: None,
            rate: None,
            burst: 0,
            fq_rate: None,
            window: None,
            mss: None,
            congestion_control: None,
            tos: 0,
            no_delay: false,
            zero_copy: false,
            counters_64bit: false,
            server_output: false,
            repeating_payload: false,
            dont_fragment: false,
            title: None,
            extra_data: None,
        }
    }
}

/// Parameters of which no test can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("iperf3 parameter {name} is {got}; expected {expected}")]
pub struct InvalidParams {
    /// The parameter's name on the wire.
    pub name: &'static str,
    /// What it is.
    pub got: String,
    /// What it may be.
    pub expected: &'static str,
}

impl Params {
    /// Checks the ranges that iperf3 knows.
    ///
    /// # Errors
    /// The first parameter out of its range.
    pub fn check(&self) -> Result<(), InvalidParams> {
        let wrong = |name, got: String, expected| Err(InvalidParams { name, got, expected });
        let block = self.block.unwrap_or(MIN_UDP);
        match self.transport {
            _ if !(1..=128).contains(&self.parallel) => {
                wrong("parallel", self.parallel.to_string(), "1 to 128 streams")
            }
            _ if self.omit > Duration::from_secs(600) => {
                wrong("omit", self.omit.to_string(), "at most 600 s")
            }
            _ if self.duration > Duration::from_secs(86_400) => {
                wrong("time", self.duration.to_string(), "at most 86400 s")
            }
            Transport::Udp if !(MIN_UDP..=MAX_UDP).contains(&block) => {
                wrong("len", block.to_string(), "16 to 65507 bytes for UDP")
            }
            Transport::Tcp if !(1..=MAX_TCP).contains(&block) => {
                wrong("len", block.to_string(), "1 to 1048576 bytes for TCP")
            }
            _ if self.burst > 1000 => wrong("burst", self.burst.to_string(), "at most 1000 packets"),
            _ if self.rate.is_some_and(|rate| rate.bits_per_s() == 0) => wrong(
                "bandwidth",
                "0".to_owned(),
                "a positive rate, or none for unlimited",
            ),
            _ => Ok(()),
        }
    }

    /// The block size when none was asked for; `mss` is that of the control connection.
    pub(super) fn block_size(&self, mss: u32) -> usize {
        let default = match self.transport {
            Transport::Tcp => DEFAULT_TCP,
            Transport::Udp if mss > 0 => mss.clamp(MIN_UDP, MAX_UDP),
            Transport::Udp => 1460,
        };
        self.block.unwrap_or(default) as usize
    }

    /// The options of data sockets.
    pub(super) fn socket_options(&self) -> SocketOptions {
        SocketOptions {
            receive_buffer: self.window,
            send_buffer: self.window,
            congestion_control: self.congestion_control.clone(),
            mss: self.mss,
            dscp: (self.tos != 0).then(|| Dscp::from_tos(self.tos)),
            no_delay: self.no_delay,
            pacing: self.fq_rate,
            ..SocketOptions::default()
        }
    }

    /// Streams that send and streams that receive, as the client sees it.
    pub(super) fn client_streams(&self) -> (u32, u32) {
        match self.direction {
            Direction::Forward => (self.parallel, 0),
            Direction::Reverse => (0, self.parallel),
            Direction::Bidirectional => (self.parallel, self.parallel),
        }
    }

    /// Whether the test ends with an amount instead of a time.
    pub(super) fn limited(&self) -> bool {
        self.bytes.is_some() || self.blocks.is_some()
    }

    /// The JSON that a client sends; `block` is the size in use.
    pub(super) fn to_json(&self, block: usize) -> Value {
        let seconds = |span: Duration| span.nanos().div_ceil(1_000_000_000);
        let mut map = Map::new();
        let transport = match self.transport {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
        };
        map.insert(transport.to_owned(), json!(true));
        map.insert("omit".to_owned(), json!(seconds(self.omit)));
        map.insert(
            "time".to_owned(),
            json!(if self.limited() { 0 } else { seconds(self.duration) }),
        );
        map.insert("num".to_owned(), json!(self.bytes.unwrap_or(0)));
        map.insert("blockcount".to_owned(), json!(self.blocks.unwrap_or(0)));
        map.insert("parallel".to_owned(), json!(self.parallel));
        map.insert("len".to_owned(), json!(block));
        map.insert("pacing_timer".to_owned(), json!(1000));
        let numbers = [
            ("bandwidth", self.rate.map_or(0, BitRate::bits_per_s)),
            ("burst", u64::from(self.burst)),
            ("fqrate", self.fq_rate.map_or(0, BitRate::bits_per_s)),
            ("window", self.window.map_or(0, ByteCount::bytes)),
            ("MSS", u64::from(self.mss.unwrap_or(0))),
            ("TOS", u64::from(self.tos)),
            ("get_server_output", u64::from(self.server_output)),
            ("udp_counters_64bit", u64::from(self.counters_64bit)),
            ("repeating_payload", u64::from(self.repeating_payload)),
            ("zerocopy", u64::from(self.zero_copy)),
            ("dont_fragment", u64::from(self.dont_fragment)),
        ];
        for (name, value) in numbers {
            if value != 0 {
                map.insert(name.to_owned(), json!(value));
            }
        }
        let flags = [
            ("nodelay", self.no_delay),
            ("reverse", self.direction == Direction::Reverse),
            ("bidirectional", self.direction == Direction::Bidirectional),
        ];
        for (name, set) in flags {
            if set {
                map.insert(name.to_owned(), json!(true));
            }
        }
        let texts = [
            ("congestion", &self.congestion_control),
            ("title", &self.title),
            ("extra_data", &self.extra_data),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                map.insert(name.to_owned(), json!(text));
            }
        }
        map.insert(
            "client_version".to_owned(),
            json!(concat!("slowpath ", env!("CARGO_PKG_VERSION"))),
        );
        Value::Object(map)
    }

    /// Reads what a client of any version sent.
    ///
    /// # Errors
    /// The first parameter that is out of range or not supported.
    pub(super) fn from_json(value: &Value) -> Result<Self, InvalidParams> {
        let present = |name: &str| {
            value
                .get(name)
                .is_some_and(|value| *value != json!(false) && *value != json!(0))
        };
        let count = |name: &'static str| match value.get(name) {
            None => Ok(0),
            Some(value) => integer(value)
                .and_then(|number| u64::try_from(number).ok())
                .ok_or_else(|| InvalidParams {
                    name,
                    got: value.to_string(),
                    expected: "a number that is not negative",
                }),
        };
        let small = |name: &'static str| count(name).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let text = |name: &str| {
            value
                .get(name)
                .and_then(Value::as_str)
                .map(|text| text.chars().take(1000).collect::<String>())
        };
        let transport = match (present("tcp"), present("udp"), present("sctp")) {
            (_, true, _) => Transport::Udp,
            (true, _, _) => Transport::Tcp,
            (_, _, true) => {
                return Err(InvalidParams {
                    name: "sctp",
                    got: "true".to_owned(),
                    expected: "tcp or udp",
                });
            }
            _ => {
                return Err(InvalidParams {
                    name: "tcp",
                    got: "absent".to_owned(),
                    expected: "tcp or udp",
                });
            }
        };
        let direction = if present("bidirectional") {
            Direction::Bidirectional
        } else if present("reverse") {
            Direction::Reverse
        } else {
            Direction::Forward
        };
        let some = |number: u64| (number != 0).then_some(number);
        let some_small = |number: u32| (number != 0).then_some(number);
        let params = Self {
            transport,
            direction,
            duration: Duration::from_secs(count("time")?),
            omit: Duration::from_secs(count("omit")?),
            bytes: some(count("num")?),
            blocks: some(count("blockcount")?),
            parallel: small("parallel")?.max(1),
            block: some_small(small("len")?),
            rate: some(count("bandwidth")?).map(BitRate::new),
            burst: small("burst")?,
            fq_rate: some(count("fqrate")?).map(BitRate::new),
            window: some(count("window")?).map(ByteCount::new),
            mss: some_small(small("MSS")?),
            congestion_control: text("congestion"),
            tos: u8::try_from(count("TOS")?).unwrap_or(0),
            no_delay: present("nodelay"),
            zero_copy: present("zerocopy"),
            counters_64bit: present("udp_counters_64bit"),
            server_output: present("get_server_output"),
            repeating_payload: present("repeating_payload"),
            dont_fragment: present("dont_fragment"),
            title: text("title"),
            extra_data: text("extra_data"),
        };
        params.check()?;
        Ok(params)
    }
}

/// iperf3's default write size for TCP.
const DEFAULT_TCP: u32 = 131_072;
const MAX_TCP: u32 = 1_048_576;
/// MIN_UDP_BLOCKSIZE of iperf3: header with 64-bit counter.
const MIN_UDP: u32 = 16;
/// Largest payload of an IPv4 datagram.
const MAX_UDP: u32 = 65_507;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn json_round_trip() {
        let params = Params {
            transport: Transport::Udp,
            direction: Direction::Bidirectional,
            duration: Duration::from_secs(3),
            omit: Duration::from_secs(1),
            parallel: 4,
            block: Some(1400),
            rate: Some(BitRate::new(100_000_000)),
            window: Some(ByteCount::new(60_000)),
            congestion_control: Some("cubic".to_owned()),
            tos: 0x20,
            counters_64bit: true,
            server_output: true,
            ..Params::default()
        };
        assert_eq!(Params::from_json(&params.to_json(1400)).unwrap(), params);
    }

    #[test]
    fn reads_a_real_client() {
        // As iperf3 3.12 sends it for `-c HOST -t 1 -R -P 2 -w 64K`.
        let text = r#"{"tcp":true,"omit":0,"time":1,"num":0,"blockcount":0,"parallel":2,"reverse":true,
            "window":65536,"len":131072,"pacing_timer":1000,"client_version":"3.12"}"#;
        let params = Params::from_json(&serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!(params.direction, Direction::Reverse);
        assert_eq!((params.parallel, params.bytes, params.rate), (2, None, None));
        assert_eq!(params.window, Some(ByteCount::new(65_536)));
        for (wrong, name) in [
            (r#"{"sctp":true}"#, "sctp"),
            ("{}", "tcp"),
            (r#"{"tcp":true,"parallel":129}"#, "parallel"),
            (r#"{"udp":true,"len":15}"#, "len"),
            (r#"{"tcp":true,"time":-1}"#, "time"),
            (r#"{"tcp":true,"time":1e30}"#, "time"),
        ] {
            assert_eq!(
                Params::from_json(&serde_json::from_str(wrong).unwrap())
                    .unwrap_err()
                    .name,
                name,
                "{wrong}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_json_panics(text in r#"\{("(tcp|udp|time|num|len|parallel|TOS|window)":(-?[0-9]{1,25}|true|null|"x"|\[\]|1e[0-9]{1,3}),?){0,6}\}"#) {
            if let Ok(value) = serde_json::from_str(&text) {
                let _ = Params::from_json(&value);
            }
        }
    }
}

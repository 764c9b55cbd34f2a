//! From a plan's jobs to the programs that do them on model hosts.
//!
//! | job | programs |
//! |---|---|
//! | iperf3, TCP | a bulk sender and a sink for each direction; the sink's transfers are the receiver's figures |
//! | iperf3, UDP and UDP streams | a source and a sink for each stream and way; datagrams above the MTU go out in fragments |
//! | S3 | requests and responses of the object's (or part's) size; TLS costs no time here |
//! | FTP | a client and a server with one file ([`ftp`]) |
//! | SSH family | login, channel window, requests (`ssh`) |
//! | ping | echo requests |
//!
//! Frames and arbitrary commands have no model; nor has an iperf3 test that leaves its beginning out, because models count from the first byte.

pub mod ftp;
mod ssh;

use std::net::SocketAddr;

use slowpath_endpoint::app::{Behaviour, Bulk, Pace, Ping, Requests, Responder, Sink, UdpSink, UdpSource};
use slowpath_endpoint::tcp::CongestionControl;
use slowpath_packet::Dscp;
use slowpath_scenario::plan::{HostPlan, Job, Plan};
use slowpath_scenario::workload::{self, Iperf3Direction, Iperf3Protocol, Iperf3Test, S3Load, S3Operation};
use slowpath_scenario::{Stack, Workload};
use slowpath_units::{BitRate, Duration, Time};

/// What no model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no model of {0}")]
pub struct NotModelled(pub &'static str);

/// The programs that `job` needs on `host`, and when each starts.
///
/// Port numbers are iperf3's own, and above it ten for each job; a host that takes no part gets no programs.
///
/// # Errors
/// No model can do the job as it is wanted.
pub fn programs(plan: &Plan, job: &Job, host: &HostPlan) -> Result<Vec<(Time, Behaviour)>, NotModelled> {
    let number = plan.jobs.iter().position(|other| other == job).unwrap_or(0);
    let port = u16::try_from(number)
        .ok()
        .and_then(|number| number.checked_mul(PORTS)?.checked_add(FIRST_PORT))
        .ok_or(NotModelled("so many jobs"))?;
    let unplanned = NotModelled("a job whose host is not planned");
    let side = Side {
        job,
        host,
        server: plan.host(&job.server).ok_or(unplanned)?,
        client: plan.host(&job.client).ok_or(unplanned)?,
        port,
        start: Time::ZERO + job.start + START,
    };
    Ok(match &job.workload {
        Workload::Iperf3(test) if test.omit > Duration::ZERO => {
            return Err(NotModelled("an iperf3 test with `omit`"));
        }
        Workload::Iperf3(test) if test.protocol == Iperf3Protocol::Tcp => side.iperf3_tcp(test)?,
        Workload::Iperf3(test) => side.iperf3_udp(test)?,
        Workload::S3(load) => side.s3(load),
        Workload::Udp(stream) => {
            let datagrams = Datagrams {
                rate: stream.rate,
                length: u32::try_from(stream.length.bytes())
                    .map_err(|_| NotModelled("datagrams of this length"))?,
                burst: stream.burst_interval,
                duration: stream.duration,
                dscp: stream.dscp,
            };
            side.datagrams(&job.name, side.port, (side.client, side.server), &datagrams)
        }
        Workload::Ping(ping) => side.ping(ping),
        Workload::Ftp(transfer) => ftp::programs(plan, job, transfer, host),
        Workload::Ssh(transfer) => {
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            ssh::programs(plan, job, number, transfer, host)
        }
        Workload::Frames(_) | Workload::Command(_) => {
            return Err(NotModelled("this kind of workload"));
        }
    })
}

/// Bytes of a datagram of iperf3 where none are given, on hosts with an IP header of `ip_header` bytes: the segment size
/// of its control connection over Ethernet.
pub const fn iperf3_datagram(ip_header: u32) -> u32 {
    1_480 - ip_header
}

/// What a source of datagrams sends.
struct Datagrams {
    rate: BitRate,
    length: u32,
    burst: Option<Duration>,
    duration: Duration,
    dscp: Option<Dscp>,
}

struct Side<'a> {
    job: &'a Job,
    host: &'a HostPlan,
    server: &'a HostPlan,
    client: &'a HostPlan,
    port: u16,
    start: Time,
}

impl Side<'_> {
    fn is(&self, other: &HostPlan) -> bool {
        self.host.name == other.name
    }

    fn pace(&self) -> Pace {
        match &self.host.stack {
            Stack::Model(model) => model.pace,
            Stack::Kernel(_) => Pace::Unlimited,
        }
    }

    /// Sender and receiver of each way of a test.
    fn ways(&self, test: &Iperf3Test) -> Vec<(&HostPlan, &HostPlan)> {
        let (forward, reverse) = ((self.client, self.server), (self.server, self.client));
        match test.direction {
            Iperf3Direction::Forward => vec![forward],
            Iperf3Direction::Reverse => vec![reverse],
            Iperf3Direction::Bidirectional => vec![forward, reverse],
        }
    }

    fn iperf3_tcp(&self, test: &Iperf3Test) -> Result<Vec<(Time, Behaviour)>, NotModelled> {
        let congestion = match test.congestion_control.as_deref() {
            Some(name) => Some(
                CongestionControl::by_name(name)
                    .ok_or(NotModelled("the congestion control of this iperf3 test"))?,
            ),
            None => None,
        };
        let mut programs = Vec::new();
        for (port, (from, to)) in (self.port..).zip(self.ways(test)) {
            if self.is(to) {
                programs.push((
                    Time::ZERO,
                    Behaviour::Sink(Sink {
                        port,
                        reader: self.pace(),
                    }),
                ));
            }
            if self.is(from) {
                let bulk = Bulk {
                    name: self.job.name.clone(),
                    to: SocketAddr::new(to.address, port),
                    bytes: test
                        .size
                        .map(|size| size.bytes() / u64::from(test.streams.max(1))),
                    duration: test.duration,
                    streams: test.streams,
                    congestion,
                    dscp: test.dscp,
                    writer: test.rate.map_or(Pace::Unlimited, |rate| Pace::Units {
                        unit: WRITE,
                        bytes_per_s: (rate.bits_per_s() / 8).max(1),
                        pause: Duration::ZERO,
                        chunk: WRITE,
                    }),
                };
                programs.push((self.start, Behaviour::Bulk(bulk)));
            }
        }
        Ok(programs)
    }

    /// Every stream has its own rate and its own port; a test of several names its flows by their numbers.
    fn iperf3_udp(&self, test: &Iperf3Test) -> Result<Vec<(Time, Behaviour)>, NotModelled> {
        let streams = test.streams.max(1);
        let rate = test.rate.unwrap_or(workload::IPERF3_UDP_RATE);
        let datagrams = Datagrams {
            rate,
            length: test
                .length
                .map_or(iperf3_datagram(self.server.ip_header()), |length| {
                    u32::try_from(length.bytes()).unwrap_or(u32::MAX)
                }),
            burst: test.burst_interval,
            duration: test.duration.unwrap_or_else(|| {
                let bytes = test.size.map_or(0, slowpath_units::ByteCount::bytes);
                rate.time_for(bytes / u64::from(streams), 0).0
            }),
            dscp: test.dscp,
        };
        let flows: Vec<_> = self
            .ways(test)
            .into_iter()
            .flat_map(|way| (0..streams).map(move |_| way))
            .collect();
        if flows.len() > usize::from(PORTS) {
            return Err(NotModelled("an iperf3 test of more than ten UDP streams"));
        }
        let single = flows.len() == 1;
        let programs = flows.into_iter().zip(0_u16..).flat_map(|(way, number)| {
            let name = if single {
                self.job.name.clone()
            } else {
                format!("{} {number}", self.job.name)
            };
            self.datagrams(&name, self.port + number, way, &datagrams)
        });
        Ok(programs.collect())
    }

    /// One flow of datagrams between the hosts `from` and `to`.
    fn datagrams(
        &self,
        name: &str,
        port: u16,
        (from, to): (&HostPlan, &HostPlan),
        wanted: &Datagrams,
    ) -> Vec<(Time, Behaviour)> {
        let mut programs = Vec::new();
        if self.is(to) {
            let sink = UdpSink {
                name: name.to_owned(),
                port,
                lasts: wanted.duration,
            };
            programs.push((Time::ZERO, Behaviour::UdpSink(sink)));
        }
        if self.is(from) {
            let source = UdpSource {
                name: name.to_owned(),
                to: SocketAddr::new(to.address, port),
                datagram: wanted.length,
                rate: wanted.rate,
                interval: wanted.burst.unwrap_or(Duration::ZERO),
                duration: wanted.duration,
                dscp: wanted.dscp.unwrap_or_default(),
            };
            programs.push((self.start, Behaviour::UdpSource(source)));
        }
        programs
    }

    fn s3(&self, load: &S3Load) -> Vec<(Time, Behaviour)> {
        let object = load.object_size.bytes();
        let part = load
            .part_size
            .map_or(object, slowpath_units::ByteCount::bytes)
            .clamp(1, object.max(1));
        let count = object.div_ceil(part).max(1) * u64::from(load.requests);
        let (request_bytes, response_bytes) = match load.operation {
            S3Operation::Put => (HTTP_HEAD + part, HTTP_HEAD),
            S3Operation::Get => (HTTP_HEAD, HTTP_HEAD + part),
        };
        if self.is(self.server) {
            let service = load.service_time;
            let responder = Responder {
                port: self.port,
                request_bytes,
                response_bytes,
                service,
            };
            return vec![(Time::ZERO, Behaviour::Responder(responder))];
        }
        if !self.is(self.client) {
            return Vec::new();
        }
        let requests = Requests {
            name: self.job.name.clone(),
            to: SocketAddr::new(self.server.address, self.port),
            count: u32::try_from(count).unwrap_or(u32::MAX),
            concurrency: load.concurrency,
            request_bytes,
            response_bytes,
            keep_alive: load.reuse,
            fixed_shares: load.fixed_shares,
            think: Duration::ZERO,
        };
        vec![(self.start, Behaviour::Requests(requests))]
    }

    fn ping(&self, ping: &workload::Ping) -> Vec<(Time, Behaviour)> {
        if !self.is(self.client) {
            return Vec::new();
        }
        let ping = Ping {
            to: self.server.address,
            count: u16::try_from(ping.count).unwrap_or(u16::MAX),
            interval: ping.interval,
            bytes: u32::try_from(ping.length.bytes()).unwrap_or(u32::MAX),
        };
        vec![(self.start, Behaviour::Ping(ping))]
    }
}

/// iperf3's own port.
const FIRST_PORT: u16 = 5201;
/// Ports of each job.
const PORTS: u16 = 10;
/// Servers listen before clients start.
const START: Duration = Duration::from_millis(1);
/// iperf3's write in bytes when it sends at a rate.
const WRITE: u32 = 131_072;
/// Bytes of a request or response without its object, about what signed requests take.
const HTTP_HEAD: u64 = 600;

//! From the jobs of a plan to the programs of its model endpoints.

use std::net::SocketAddr;

use slowpath_endpoint::app::{
    Behaviour, Bulk, File, FtpClient, FtpData, FtpDirection, FtpServer, Pace, Ping, Requests, Responder,
    Sink, UdpSink, UdpSource,
};
use slowpath_units::{BitRate, Duration, Time};

use crate::plan::{HostPlan, Job, Plan, Stack, congestion_control};
use crate::workload::{
    DataMode, Direction, FtpTransfer, Iperf3Direction, Iperf3Protocol, Iperf3Test, S3Load, S3Operation,
    UdpStream, Workload,
};

/// A job that model endpoints cannot do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("model endpoints cannot do the job \"{job}\": {what}; run it with --clock lab")]
pub struct NoProgram {
    /// The job.
    pub job: String,
    /// What is missing.
    pub what: &'static str,
}

/// What runs on a model endpoint, and when each program starts: servers first.
///
/// # Errors
/// A job that model endpoints cannot do.
pub fn programs(plan: &Plan, host: &HostPlan) -> Result<Vec<(Time, Behaviour)>, NoProgram> {
    let mut programs = Vec::new();
    for job in plan
        .jobs
        .iter()
        .filter(|job| job.client == host.name || job.server == host.name)
    {
        let Some((client, server)) = plan.host(&job.client).zip(plan.host(&job.server)) else {
            continue;
        };
        let pair = Pair {
            job,
            client,
            server,
            start: Time::ZERO + job.start,
        };
        let of_both = pair.behaviours()?;
        programs.extend(
            of_both
                .into_iter()
                .filter(|(name, ..)| *name == host.name)
                .map(|(_, at, program)| (at, program)),
        );
    }
    // A server must listen before its client asks.
    programs.sort_by_key(|(at, _)| *at);
    Ok(programs)
}

/// The two hosts of a job.
struct Pair<'p> {
    job: &'p Job,
    client: &'p HostPlan,
    server: &'p HostPlan,
    start: Time,
}

type Programs<'p> = Vec<(&'p str, Time, Behaviour)>;

impl<'p> Pair<'p> {
    fn behaviours(&self) -> Result<Programs<'p>, NoProgram> {
        let cannot = |what| {
            Err(NoProgram {
                job: self.job.name.clone(),
                what,
            })
        };
        match &self.job.workload {
            Workload::Ftp(transfer) => Ok(self.ftp(transfer)),
            Workload::Iperf3(test) if test.protocol == Iperf3Protocol::Tcp => Ok(self.iperf3_tcp(test)),
            Workload::Iperf3(test) => Ok(self.iperf3_udp(test)),
            Workload::S3(load) => Ok(self.s3(load)),
            Workload::Udp(stream) => Ok(self.udp(stream)),
            Workload::Ping(ping) => Ok(vec![(
                &self.client.name,
                self.start,
                Behaviour::Ping(Ping {
                    to: self.server.address.into(),
                    count: u16::try_from(ping.count).unwrap_or(u16::MAX),
                    interval: ping.interval,
                    bytes: u32::try_from(ping.length.bytes()).unwrap_or(u32::MAX),
                }),
            )]),
            Workload::Ssh(_) => cannot("SSH's own windows are not modelled"),
            Workload::Frames(_) => cannot("frames without connections go straight into the network"),
            Workload::Command(_) => cannot("a program needs a kernel"),
        }
    }

    fn at_server(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.server.address.into(), port)
    }

    fn ftp(&self, transfer: &FtpTransfer) -> Programs<'p> {
        let bytes = transfer.size.bytes();
        let server = FtpServer {
            port: FTP_PORT,
            files: vec![File {
                path: FILE.to_owned(),
                bytes,
            }],
            passive_port: FTP_PASSIVE_PORT,
        };
        let client = FtpClient {
            server: self.at_server(FTP_PORT),
            user: "anonymous".to_owned(),
            password: "slowpath@".to_owned(),
            path: FILE.to_owned(),
            direction: match transfer.direction {
                Direction::Upload => FtpDirection::Put(bytes),
                Direction::Download | Direction::Both => FtpDirection::Get,
            },
            data: match transfer.data {
                DataMode::Passive => FtpData::Passive,
                DataMode::ExtendedPassive => FtpData::ExtendedPassive,
                DataMode::Active | DataMode::ExtendedActive => FtpData::Active,
            },
            pace: pace(self.client),
        };
        vec![
            (&self.server.name, Time::ZERO, Behaviour::FtpServer(server)),
            (&self.client.name, self.start, Behaviour::FtpClient(client)),
        ]
    }

    fn iperf3_tcp(&self, test: &Iperf3Test) -> Programs<'p> {
        let mut programs = Vec::new();
        let mut one_way = |from: &'p HostPlan, to: &'p HostPlan, port: u16| {
            programs.push((
                to.name.as_str(),
                Time::ZERO,
                Behaviour::Sink(Sink {
                    port,
                    reader: pace(to),
                }),
            ));
            let bulk = Bulk {
                name: self.job.name.clone(),
                to: SocketAddr::new(to.address.into(), port),
                bytes: test.size.map(|size| size.bytes() / u64::from(test.streams)),
                duration: test.duration,
                streams: test.streams,
                congestion: test.congestion_control.as_deref().and_then(congestion_control),
                dscp: test.dscp,
                writer: test.rate.map_or(Pace::Unlimited, writer),
            };
            programs.push((from.name.as_str(), self.start, Behaviour::Bulk(bulk)));
        };
        let (client, server) = (self.client, self.server);
        if test.direction != Iperf3Direction::Reverse {
            one_way(client, server, IPERF3_PORT);
        }
        if test.direction != Iperf3Direction::Forward {
            one_way(server, client, IPERF3_PORT + 1);
        }
        programs
    }

    fn iperf3_udp(&self, test: &Iperf3Test) -> Programs<'p> {
        let mut programs = Vec::new();
        let mut one_way = |from: &'p HostPlan, to: &'p HostPlan, first_port: u16| {
            for stream in 0..u16::try_from(test.streams).unwrap_or(1) {
                let port = first_port.saturating_add(stream);
                let name = if test.streams == 1 {
                    self.job.name.clone()
                } else {
                    format!("{}-{}", self.job.name, stream + 1)
                };
                let source = UdpSource {
                    name: name.clone(),
                    to: SocketAddr::new(to.address.into(), port),
                    datagram: test
                        .length
                        .map_or(IPERF3_DATAGRAM, |l| u32::try_from(l.bytes()).unwrap_or(u32::MAX)),
                    rate: test.rate.unwrap_or(IPERF3_UDP_RATE),
                    interval: test.burst_interval.unwrap_or(IPERF3_PACING),
                    duration: test.duration.unwrap_or(Duration::from_secs(10)),
                    dscp: test.dscp.unwrap_or_default(),
                };
                programs.push((
                    to.name.as_str(),
                    Time::ZERO,
                    Behaviour::UdpSink(UdpSink { name, port }),
                ));
                programs.push((from.name.as_str(), self.start, Behaviour::UdpSource(source)));
            }
        };
        let (client, server) = (self.client, self.server);
        if test.direction != Iperf3Direction::Reverse {
            one_way(client, server, IPERF3_PORT);
        }
        if test.direction != Iperf3Direction::Forward {
            one_way(server, client, IPERF3_PORT + 200);
        }
        programs
    }

    fn s3(&self, load: &S3Load) -> Programs<'p> {
        let part = load.part_size.map_or(load.object_size.bytes(), |part| {
            part.bytes().min(load.object_size.bytes())
        });
        let parts = load.object_size.bytes().div_ceil(part.max(1));
        let count = u32::try_from(u64::from(load.requests).saturating_mul(parts)).unwrap_or(u32::MAX);
        let (request_bytes, response_bytes) = match load.operation {
            S3Operation::Put => (part + S3_HEADER, S3_HEADER),
            S3Operation::Get => (S3_HEADER, part + S3_HEADER),
        };
        let requests = Requests {
            name: self.job.name.clone(),
            to: self.at_server(S3_PORT),
            count,
            concurrency: load.concurrency,
            request_bytes,
            response_bytes,
            keep_alive: true,
            think: Duration::ZERO,
        };
        let responder = Responder {
            port: S3_PORT,
            request_bytes,
            response_bytes,
            service: Duration::ZERO,
        };
        vec![
            (&self.server.name, Time::ZERO, Behaviour::Responder(responder)),
            (&self.client.name, self.start, Behaviour::Requests(requests)),
        ]
    }

    fn udp(&self, stream: &UdpStream) -> Programs<'p> {
        // Every stream of a run has its own port, so that several can share a host.
        let port = UDP_PORT
            + u16::try_from(self.job.name.bytes().map(usize::from).sum::<usize>() % 1_000).unwrap_or(0);
        let source = UdpSource {
            name: self.job.name.clone(),
            to: self.at_server(port),
            datagram: u32::try_from(stream.length.bytes()).unwrap_or(u32::MAX),
            rate: stream.rate,
            interval: stream.burst_interval.unwrap_or(Duration::ZERO),
            duration: stream.duration,
            dscp: stream.dscp.unwrap_or_default(),
        };
        vec![
            (
                &self.server.name,
                Time::ZERO,
                Behaviour::UdpSink(UdpSink {
                    name: self.job.name.clone(),
                    port,
                }),
            ),
            (&self.client.name, self.start, Behaviour::UdpSource(source)),
        ]
    }
}

/// How fast a host's applications take their data.
fn pace(host: &HostPlan) -> Pace {
    match &host.stack {
        Stack::Model(model) => model.pace,
        Stack::Kernel(_) => Pace::Unlimited,
    }
}

/// A writer that keeps to a rate.
fn writer(rate: BitRate) -> Pace {
    Pace::Units {
        unit: 131_072,
        bytes_per_s: (rate.bits_per_s() / 8).max(1),
        pause: Duration::ZERO,
        chunk: 1_460,
    }
}

const FILE: &str = "test.bin";
const FTP_PORT: u16 = 21;
const FTP_PASSIVE_PORT: u16 = 40_000;
const S3_PORT: u16 = 9_000;
const UDP_PORT: u16 = 6_000;

/// iperf3's port, and its defaults for UDP from 3.2 on.
const IPERF3_PORT: u16 = 5_201;
const IPERF3_DATAGRAM: u32 = 1_460;
const IPERF3_UDP_RATE: BitRate = BitRate::new(1_000_000);
const IPERF3_PACING: Duration = Duration::from_millis(1);

/// Bytes of HTTP header of one request or response, about.
const S3_HEADER: u64 = 500;

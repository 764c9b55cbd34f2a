//! Datagrams, generated frames, and pings.

use std::net::SocketAddr;

use slowpath_endpoint::Report;
use slowpath_packet::Dscp;
use slowpath_record::FlowResult;
use slowpath_record::echo::{self, ICMP_HEADER};
use slowpath_scenario::Stack;
use slowpath_scenario::workload::{
    FrameStream, IPERF3_UDP_RATE, Iperf3Test, Ping, StreamProtocol, UdpStream,
};
use slowpath_sim::programs::iperf3_datagram;
use slowpath_units::{BitRate, ByteCount, Duration, Layer, Time};
use slowpath_workload::iperf3::Pacing;
use slowpath_workload::probe::{PingConfig, ping};
use slowpath_workload::stream::{self, Kind, Receiver, StreamConfig};

use super::error::LabRunError;
use super::ports::port;
use super::processor;
use super::stage::{Done, Work, failed, kernel};

/// A paced stream of datagrams.
pub(super) fn udp(work: &Work<'_>, wanted: &UdpStream) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    let to = SocketAddr::new(server.address, port(work));
    let payload = u32::try_from(wanted.length.bytes()).unwrap_or(u32::MAX);
    let headers = UDP_HEADER + server.ip_header();
    let ip_len = payload.saturating_add(headers);
    // The rate of the document counts payload.
    let bits = u128::from(wanted.rate.bits_per_s()) * u128::from(ip_len) / u128::from(payload.max(1));
    let config = StreamConfig {
        pacing: wanted.burst_interval.map_or(Pacing::Exact, Pacing::Ticks),
        dscp: wanted.dscp.unwrap_or_default(),
        ..StreamConfig::udp(
            &work.job.name,
            to,
            ip_len,
            BitRate::new(u64::try_from(bits).unwrap_or(u64::MAX)),
            wanted.duration,
        )
    };
    match (&client.stack, &server.stack) {
        (Stack::Kernel(_), Stack::Kernel(_)) => {
            let mut done = one_way(work, &config)?;
            if let Some(dscp) = wanted.dscp {
                done.marks.push((client.name.clone(), dscp.value()));
            }
            Ok(done)
        }
        _ if ip_len > client.mtu.min(server.mtu) => Err(LabRunError::Unsupported(
            "datagrams above the MTU with a model host, which neither fragments nor reassembles there",
        )),
        _ => with_model(work, &config),
    }
}

/// An iperf3 test with UDP, one stream and forward, as the datagrams that it sends.
pub(super) fn as_stream(test: &Iperf3Test, ip_header: u32) -> UdpStream {
    let rate = test.rate.unwrap_or(IPERF3_UDP_RATE);
    let size = test.size.map_or(0, ByteCount::bytes);
    UdpStream {
        rate,
        length: test
            .length
            .unwrap_or_else(|| ByteCount::new(u64::from(iperf3_datagram(ip_header)))),
        duration: test.duration.unwrap_or_else(|| rate.time_for(size, 0).0),
        burst_interval: test.burst_interval,
        dscp: test.dscp,
    }
}

/// Frames of one size at a share of a line's rate.
pub(super) fn frames(work: &Work<'_>, wanted: &FrameStream) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    kernel(client, "generated frames from a model host")?;
    kernel(server, "generated frames towards a model host")?;
    let bits = u128::from(wanted.line.bits_per_s()) * u128::from(wanted.load.ppb()) / 1_000_000_000;
    let config = StreamConfig {
        name: work.job.name.clone(),
        to: SocketAddr::new(server.address, port(work)),
        kind: match wanted.protocol {
            StreamProtocol::Tcp => Kind::Tcp,
            StreamProtocol::Udp => Kind::Udp,
            StreamProtocol::Icmp => Kind::Icmp,
        },
        // A frame has 14 bytes of header and 4 of FCS around its packet.
        ip_len: u32::try_from(wanted.frame.bytes())
            .unwrap_or(u32::MAX)
            .saturating_sub(18),
        rate: Some(BitRate::new(u64::try_from(bits).unwrap_or(u64::MAX))),
        layer: Layer::Wire,
        duration: wanted.duration,
        pacing: Pacing::Exact,
        dscp: Dscp::DEFAULT,
        send_buffer: None,
    };
    let mut done = one_way(work, &config)?;
    for flow in &mut done.flows {
        // A generator's bandwidth counts whole frames, in both clocks.
        let bytes = flow.received_packets * wanted.frame.bytes();
        flow.goodput_byte_per_s = bytes as f64 / wanted.duration.seconds().max(1e-9);
    }
    Ok(done)
}

fn one_way(work: &Work<'_>, config: &StreamConfig) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    let mut done = Done::default();
    let receiver = work
        .inside(server, || Receiver::start(config.kind, config.to, &work.context))?
        .map_err(|error| failed("starting the receiver of the stream", &error))?;
    work.wait_for_start()?;
    let (sent, stop) = work
        .inside(client, || stream::send(config, &work.context))?
        .map_err(|error| LabRunError::Workload(error.to_string()))?;
    if let Some(stop) = stop {
        return Err(failed("sending the stream", &stop));
    }
    // What is still on its way arrives within this.
    work.context
        .sleep(ON_THE_WAY)
        .map_err(|stop| failed("waiting for the last packets", &stop))?;
    let received = receiver.finish();
    done.programs.push("packet stream: slowpath's own".to_owned());
    done.flows.push(stream::flow_result(config, &sent, &received));
    if received.socket_drops > 0 {
        done.notes.push(format!(
            "{}: the receiver's own socket dropped {} packets",
            config.name, received.socket_drops
        ));
    }
    if sent.errors > 0 {
        done.notes.push(format!(
            "{}: the sender's own kernel refused {} packets",
            config.name, sent.errors
        ));
    }
    let span = sent.end.since(sent.start);
    if sent.behind.nanos().saturating_mul(100) > span.nanos() {
        done.notes.push(format!(
            "{}: the sender lost {} of its schedule, so that less was offered than asked for",
            config.name, sent.behind
        ));
    }
    let busy = sent.cpu.seconds() / span.seconds().max(1e-9);
    // A paced sender may watch the clock; it is only then a limit when it falls behind.
    if sent.behind > Duration::ZERO || config.rate.is_none() {
        processor::busy("the sending thread", busy, &mut done);
    }
    Ok(done)
}

/// One end is a model: the kernel's half is counted here, the model's at the end of the run.
fn with_model(work: &Work<'_>, config: &StreamConfig) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    let mut done = Done::default();
    let receiver = match server.stack {
        Stack::Kernel(_) => Some(
            work.inside(server, || Receiver::start(config.kind, config.to, &work.context))?
                .map_err(|error| failed("starting the receiver of the stream", &error))?,
        ),
        Stack::Model(_) => None,
    };
    let (sent, start) = match client.stack {
        Stack::Kernel(_) => {
            work.wait_for_start()?;
            let (sent, _) = work
                .inside(client, || stream::send(config, &work.context))?
                .map_err(|error| LabRunError::Workload(error.to_string()))?;
            (
                FlowResult {
                    sent_packets: sent.packets,
                    sent_bytes: sent.bytes,
                    ..FlowResult::default()
                },
                sent.start,
            )
        }
        Stack::Model(_) => {
            let sent = work.await_report("the model's datagrams", &|host, report| match report {
                Report::Flow { result, .. } if host == client.name && result.name == config.name => {
                    Some(result.clone())
                }
                _ => None,
            })?;
            (sent, super::stage::start_of(work.stage.plan, work.job))
        }
    };
    work.context
        .sleep(ON_THE_WAY)
        .map_err(|stop| failed("waiting for the last packets", &stop))?;
    let mut flow = FlowResult {
        name: config.name.clone(),
        ..sent
    };
    if let Some(receiver) = receiver {
        let received = receiver.finish();
        let headers = u64::from(UDP_HEADER + server.ip_header());
        let end = received.span.map_or(start, |(_, last)| last);
        flow.received_packets = received.packets;
        flow.received_bytes = received.bytes;
        flow.jitter = Some(received.jitter);
        flow.goodput_byte_per_s = received.bytes.saturating_sub(received.packets * headers) as f64
            / end.since(start).seconds().max(1e-9);
    }
    done.flows.push(flow);
    Ok(done)
}

/// Echo requests; from a kernel host or a model.
pub(super) fn pings(work: &Work<'_>, wanted: &Ping) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    let mut done = Done::default();
    let mut points: Vec<(Time, f64)> = Vec::new();
    let sent = if let Stack::Kernel(_) = client.stack {
        let config = PingConfig {
            count: wanted.count,
            interval: wanted.interval,
            size: usize::try_from(wanted.length.bytes()).unwrap_or(usize::MAX),
            dont_fragment: wanted.dont_fragment,
            dscp: wanted.dscp.unwrap_or_default(),
            ..PingConfig::new(server.address)
        };
        work.wait_for_start()?;
        let report = work
            .inside(client, || ping(&config, &work.context))?
            .map_err(|error| LabRunError::Workload(error.to_string()))?;
        points.extend(
            report
                .replies
                .iter()
                .map(|reply| (reply.sent_at + reply.rtt, reply.rtt.seconds())),
        );
        for (number, error) in report.errors.iter().take(MOST_ERRORS) {
            done.notes.push(format!("echo request {number}: {error:?}"));
        }
        done.programs.push("ping: slowpath's own".to_owned());
        if let Some(dscp) = wanted.dscp {
            done.marks.push((client.name.clone(), dscp.value()));
        }
        report.sent
    } else {
        let ended = super::stage::start_of(work.stage.plan, work.job)
            + Duration::from_nanos(wanted.interval.nanos().saturating_mul(u64::from(wanted.count)))
            + REPLY_WAIT;
        while work.context.now() < ended {
            let reply = work.claim_until(ended, &|host, report| match report {
                Report::RoundTrip { at, time, .. } if host == client.name => Some((*at, time.seconds())),
                _ => None,
            })?;
            points.extend(reply);
        }
        done.programs.push("ping: model endpoint".to_owned());
        wanted.count
    };
    let payload = wanted.length.bytes();
    let headers = ICMP_HEADER + u64::from(client.ip_header());
    let (flow, round_trips) = echo::result(&work.job.name, u64::from(sent), payload + headers, points);
    done.flows.push(flow);
    done.series.push(round_trips);
    Ok(done)
}

/// Bytes of UDP's header.
const UDP_HEADER: u32 = 8;

/// Longer than packets wait in any queue of an experiment.
const ON_THE_WAY: Duration = Duration::from_millis(500);

/// How long the last echo reply may take.
const REPLY_WAIT: Duration = Duration::from_secs(2);

/// Errors of a ping that are told.
const MOST_ERRORS: usize = 3;

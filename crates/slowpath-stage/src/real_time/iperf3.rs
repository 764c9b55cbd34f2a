//! iperf3 tests: slowpath's own ends or the real ones, and bulk data where an end is a model.

mod output;

use std::net::SocketAddr;

use slowpath_endpoint::Report as ModelReport;
use slowpath_packet::Ecn;
use slowpath_record::{ProgramLoad, SenderCount, TransferResult};
use slowpath_scenario::Stack;
use slowpath_scenario::plan::HostPlan;
use slowpath_scenario::workload::{
    IPERF3_UDP_RATE, Iperf3Direction, Iperf3Protocol, Iperf3Test, Program as Player,
};
use slowpath_units::{ByteCount, Duration};
use slowpath_workload::copy::{CopyConfig, CopySink, copy};
use slowpath_workload::external::{Program, iperf3 as real};
use slowpath_workload::iperf3::{
    self, ClientConfig, Direction, Pacing, Params, Report, Server, ServerConfig, Transport,
};
use slowpath_workload::onlooker::{Filter, Onlooker};
use slowpath_workload::payload::Source;

use super::error::LabRunError;
use super::ports::port;
use super::programs::{Running, version};
use super::stage::{Done, Work, failed, kernel, socket_options};
use super::{processor, streams};

/// Runs the test between the hosts of the job.
pub(super) fn run(work: &Work<'_>, test: &Iperf3Test) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    let modelled = |host: &HostPlan| matches!(host.stack, Stack::Model(_));
    if modelled(client) || modelled(server) {
        if let Some(what) = beyond_models(test) {
            return Err(LabRunError::Unsupported(what));
        }
        return match test.protocol {
            Iperf3Protocol::Tcp => bulk(work, test),
            Iperf3Protocol::Udp => streams::udp(work, &streams::as_stream(test, server.ip_header())),
        };
    }
    let listen = SocketAddr::new(server.address, port(work));
    let mut done = Done::default();
    let ends = Ends {
        client,
        server,
        listen,
        connect: listen,
    };
    between(work, test, &ends, &mut done)?;
    if let Some(dscp) = test.dscp {
        let sender = match test.direction {
            Iperf3Direction::Reverse => &server.name,
            _ => &client.name,
        };
        done.marks.push((sender.clone(), dscp.value()));
    }
    Ok(done)
}

/// What a test asks for that bulk data and datagrams from and to a model do not give.
fn beyond_models(test: &Iperf3Test) -> Option<&'static str> {
    let udp = test.protocol == Iperf3Protocol::Udp;
    if test.omit > Duration::ZERO {
        Some("an iperf3 test with `omit` and a model host")
    } else if test.direction == Iperf3Direction::Bidirectional {
        Some("a bidirectional iperf3 test with a model host")
    } else if udp && test.direction == Iperf3Direction::Reverse {
        Some("a UDP test in reverse with a model host")
    } else if udp && test.streams > 1 {
        Some("a UDP test of several streams with a model host")
    } else {
        None
    }
}

/// Where a test's programs run, and how the client reaches the server: directly or through a tunnel.
pub(super) struct Ends<'a> {
    pub(super) client: &'a HostPlan,
    pub(super) server: &'a HostPlan,
    pub(super) listen: SocketAddr,
    pub(super) connect: SocketAddr,
}

/// Runs a test between two kernel hosts.
pub(super) fn between(
    work: &Work<'_>,
    test: &Iperf3Test,
    ends: &Ends<'_>,
    done: &mut Done,
) -> Result<(), LabRunError> {
    let params = params(test);
    let missing = || LabRunError::Program {
        program: "iperf3".to_owned(),
        install: "apt-get install iperf3",
    };
    let mut watched = Vec::new();
    let mut own = None;
    let mut real_server = None;
    if test.server == Player::Builtin {
        let stack = kernel(ends.server, "iperf3 on a model host")?;
        let mut config = ServerConfig::new(ends.listen);
        config.options = slowpath_workload::SocketOptions {
            no_delay: true,
            ..socket_options(stack)
        };
        config.pacing = pacing(test);
        let started = work.inside(ends.server, || Server::start(config, &work.context))?;
        own = Some(started.map_err(|error| failed("starting the iperf3 server", &error))?);
        done.programs.push("iperf3 server: slowpath's own".to_owned());
    } else {
        let program = real::server(ends.listen).ok_or_else(missing)?;
        let running = Running::start(work, ends.server, &program)?;
        watched.push((ends.server.name.clone(), running.id()));
        done.programs.push(versioned("server", &program));
        real_server = Some(running);
    }
    let onlooker = (test.client != Player::Builtin || test.server != Player::Builtin)
        .then(|| look_on(work, test, ends, done))
        .flatten();
    work.wait_for_start()?;
    if test.client == Player::Builtin {
        let watch = processor::Watch::start(watched, &work.context);
        let mut config = ClientConfig::tcp(ends.connect, params.duration);
        config.params = params;
        config.pacing = pacing(test);
        let report = work
            .inside(ends.client, || iperf3::run(&config, &work.context))?
            .map_err(|error| LabRunError::Workload(error.to_string()))?;
        done.programs.push("iperf3 client: slowpath's own".to_owned());
        processor::judge(&watch.finish(), report.counted_from, report.end, done);
        own_report(work, &report, done);
    } else {
        let program = real::client(ends.connect, &params).ok_or_else(missing)?;
        let start = work.context.now();
        let running = Running::start(work, ends.client, &program)?;
        watched.push((ends.client.name.clone(), running.id()));
        let watch = processor::Watch::start(watched, &work.context);
        let ended = running.wait(work)?;
        done.programs.push(versioned("client", &program));
        let end = output::take(&work.job.name, start, test, &ended.output, done);
        processor::judge(&watch.finish(), start, end, done);
    }
    if let Some(onlooker) = onlooker {
        for (number, log) in onlooker.finish().iter().enumerate() {
            done.series
                .extend(log.series(&format!("{}/{number}", work.job.name)));
        }
    }
    if let Some(server) = own {
        for record in server.stop() {
            // The client's report has the headline; of the server's only its connections are new.
            if let Ok(report) = record.outcome {
                let prefix = format!("{}/server", work.job.name);
                done.series.extend(report.series(&prefix));
                processor::busy("a thread of the iperf3 server", report.busiest_thread(), done);
            }
        }
    }
    drop(real_server);
    Ok(())
}

/// Looks at the connections of a program that cannot tell about them, on the side of the data's sender.
fn look_on(work: &Work<'_>, test: &Iperf3Test, ends: &Ends<'_>, done: &mut Done) -> Option<Onlooker> {
    let side = match test.direction {
        Iperf3Direction::Reverse => ends.server,
        _ => ends.client,
    };
    let filter = Filter {
        ports: vec![ends.connect.port()],
    };
    let started = work.inside(side, || Onlooker::start(filter, SAMPLE_EVERY, &work.context));
    match started {
        Ok(Ok(onlooker)) => Some(onlooker),
        Ok(Err(error)) => {
            done.notes
                .push(format!("the connections of iperf3 cannot be sampled: {error}"));
            None
        }
        Err(_) => None,
    }
}

fn own_report(work: &Work<'_>, report: &Report, done: &mut Done) {
    let name = &work.job.name;
    match report.params.transport {
        Transport::Tcp => {
            for forward in [true, false] {
                if report.one_way(forward).next().is_none() {
                    continue;
                }
                let both = report.params.direction == Direction::Bidirectional;
                let wanted = if both && !forward {
                    format!("{name} reverse")
                } else {
                    name.clone()
                };
                done.transfers.push(report.transfer(&wanted, forward));
            }
            done.series.extend(report.series(name));
        }
        Transport::Udp => {
            let mut flows = report.flows();
            if let [flow] = flows.as_mut_slice() {
                flow.name.clone_from(name);
            } else {
                for (number, flow) in flows.iter_mut().enumerate() {
                    flow.name = format!("{name} {number}");
                }
            }
            done.flows.extend(flows);
            done.series.extend(report.series(name));
            for stream in &report.streams {
                if let Some(counts) = stream.received().filter(|counts| counts.socket_drops > 0) {
                    done.notes.push(format!(
                        "{name}: {} of {} lost datagrams were dropped by the receiver's own socket",
                        counts.socket_drops, counts.lost
                    ));
                }
            }
        }
    }
    done.notes.extend(report.sender_effect());
    for stream in &report.streams {
        if let Some(facts) = &stream.facts {
            for shortfall in &facts.shortfalls {
                if !done.notes.contains(shortfall) {
                    done.notes.push(shortfall.clone());
                }
            }
        }
    }
    let busiest = report.busiest_thread();
    done.loads.push(ProgramLoad {
        program: format!("{name}/iperf3 client, its busiest thread"),
        share: busiest,
    });
    done.loads.extend(report.remote_cpu.map(|percent| ProgramLoad {
        program: format!("{name}/iperf3 server"),
        share: percent / 100.0,
    }));
    processor::busy("a thread of the iperf3 client", busiest, done);
}

fn params(test: &Iperf3Test) -> Params {
    let small = |bytes: ByteCount| u32::try_from(bytes.bytes()).unwrap_or(u32::MAX);
    Params {
        transport: match test.protocol {
            Iperf3Protocol::Tcp => Transport::Tcp,
            Iperf3Protocol::Udp => Transport::Udp,
        },
        direction: match test.direction {
            Iperf3Direction::Forward => Direction::Forward,
            Iperf3Direction::Reverse => Direction::Reverse,
            Iperf3Direction::Bidirectional => Direction::Bidirectional,
        },
        duration: test.duration.unwrap_or(Duration::ZERO),
        omit: test.omit,
        bytes: test.size.map(ByteCount::bytes),
        parallel: test.streams,
        block: test.length.map(small),
        rate: match (test.protocol, test.rate) {
            (Iperf3Protocol::Udp, None) => Some(IPERF3_UDP_RATE),
            (_, rate) => rate,
        },
        window: test.window,
        mss: test.mss.map(u32::from),
        congestion_control: test.congestion_control.clone(),
        tos: test.dscp.unwrap_or_default().tos(Ecn::NotEct),
        counters_64bit: test.protocol == Iperf3Protocol::Udp,
        ..Params::default()
    }
}

fn pacing(test: &Iperf3Test) -> Pacing {
    test.burst_interval.map_or(Pacing::default(), Pacing::Ticks)
}

fn versioned(side: &str, program: &Program) -> String {
    format!("iperf3 {side}: {}", version(program, &["--version"]))
}

/// TCP data between two hosts of which at least one is a model: no iperf3 protocol, the same bytes.
fn bulk(work: &Work<'_>, test: &Iperf3Test) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    let (from, to) = match test.direction {
        Iperf3Direction::Reverse => (server, client),
        _ => (client, server),
    };
    let at = SocketAddr::new(to.address, port(work));
    let mut done = Done::default();
    let sink = match &to.stack {
        Stack::Kernel(stack) => {
            let mut options = socket_options(stack);
            options.receive_buffer = test.window.or(options.receive_buffer);
            let started = work.inside(to, || CopySink::start(at, options, None, &work.context))?;
            Some(started.map_err(|error| failed("starting the receiver", &error))?)
        }
        Stack::Model(_) => None,
    };
    match &from.stack {
        Stack::Model(_) => modelled_sender(work, test, from, &mut done)?,
        Stack::Kernel(_) => kernel_sender(work, test, from, at, &mut done)?,
    }
    for report in sink.map(CopySink::stop).into_iter().flatten() {
        done.series.push(report.progress);
        if let Some(connection) = report.connection {
            done.series
                .extend(connection.series(&format!("{}/{}", work.job.name, to.name)));
        }
    }
    for host in [from, to] {
        let kind = match host.stack {
            Stack::Model(_) => "model endpoint",
            Stack::Kernel(_) => "slowpath's own",
        };
        done.programs.push(format!("bulk data on {}: {kind}", host.name));
    }
    Ok(done)
}

/// Waits for the end of every stream of a model's bulk sender.
fn modelled_sender(
    work: &Work<'_>,
    test: &Iperf3Test,
    from: &HostPlan,
    done: &mut Done,
) -> Result<(), LabRunError> {
    let name = &work.job.name;
    let mut whole: Option<TransferResult> = None;
    for number in 0..test.streams.max(1) {
        let wanted = if test.streams > 1 {
            format!("{name} {number}")
        } else {
            name.clone()
        };
        let stream = work.await_report("the model's bulk data", &|host, report| match report {
            ModelReport::Transfer { result, .. } if host == from.name && result.name == wanted => {
                Some(result.clone())
            }
            _ => None,
        })?;
        whole = Some(match whole {
            None => stream,
            Some(sum) => TransferResult {
                bytes: sum.bytes + stream.bytes,
                end: sum.end.max(stream.end),
                complete: sum.complete && stream.complete,
                error: sum.error.or(stream.error),
                retransmitted_segments: sum
                    .retransmitted_segments
                    .zip(stream.retransmitted_segments)
                    .map(|(one, other)| one + other),
                sender: sum.sender.zip(stream.sender).map(|(one, other)| SenderCount {
                    bytes: one.bytes + other.bytes,
                    over: one.over.max(other.over),
                }),
                ..sum
            },
        });
    }
    if let Some(mut whole) = whole {
        whole.name.clone_from(name);
        done.transfers.push(whole);
    }
    Ok(())
}

/// Sends from a kernel host into a model's sink.
fn kernel_sender(
    work: &Work<'_>,
    test: &Iperf3Test,
    from: &HostPlan,
    to: SocketAddr,
    done: &mut Done,
) -> Result<(), LabRunError> {
    if test.streams > 1 || test.rate.is_some() {
        return Err(LabRunError::Unsupported(
            "parallel or paced bulk data from a kernel host to a model host",
        ));
    }
    let stack = kernel(from, "bulk data")?;
    let mut socket = socket_options(stack);
    socket.send_buffer = test.window.or(socket.send_buffer);
    socket.congestion_control.clone_from(&test.congestion_control);
    socket.dscp = test.dscp.or(socket.dscp);
    socket.mss = test.mss.map(u32::from).or(socket.mss);
    let config = CopyConfig {
        to,
        source: Source::Synthetic {
            size: test.size.unwrap_or(ENDLESS),
            seed: 0,
        },
        socket,
        sample_every: SAMPLE_EVERY,
    };
    work.wait_for_start()?;
    let context = match (test.size, test.duration) {
        (None, Some(duration)) => work.context.clone().with_timeout(duration),
        _ => work.context.clone(),
    };
    let report = work
        .inside(from, || copy(&config, &context))?
        .map_err(|error| LabRunError::Workload(error.to_string()))?;
    let mut transfer = report.transfer;
    transfer.name.clone_from(&work.job.name);
    if let Some(connection) = &report.connection {
        if test.size.is_none() {
            // The test's time is up: what the receiver has is what it acknowledged.
            if let Some(last) = connection.last() {
                transfer.bytes = last.bytes_acked;
            }
            (transfer.complete, transfer.error) = (work.context.check().is_ok(), None);
        }
        done.series
            .extend(connection.series(&format!("{}/{}", work.job.name, from.name)));
    }
    done.transfers.push(transfer);
    Ok(())
}

/// How often connections are sampled.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// More than any time-limited test sends.
const ENDLESS: ByteCount = ByteCount::new(1 << 50);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_cannot_do_is_refused() {
        use Iperf3Direction::{Bidirectional, Forward, Reverse};
        use Iperf3Protocol::{Tcp, Udp};
        let test = |direction, protocol, streams, omit| Iperf3Test {
            duration: Some(Duration::from_secs(10)),
            omit: Duration::from_secs(omit),
            streams,
            ..Iperf3Test::new(protocol, direction)
        };
        for (direction, protocol, streams, omit, refused) in [
            (Forward, Tcp, 4, 0, false),
            (Reverse, Tcp, 1, 0, false),
            (Bidirectional, Tcp, 1, 0, true),
            (Forward, Tcp, 1, 2, true),
            (Forward, Udp, 1, 0, false),
            (Forward, Udp, 2, 0, true),
            (Reverse, Udp, 1, 0, true),
            (Forward, Udp, 1, 2, true),
        ] {
            let found = beyond_models(&test(direction, protocol, streams, omit));
            assert_eq!(
                found.is_some(),
                refused,
                "{direction:?} {protocol:?} {streams} {omit}"
            );
        }
    }
}

//! One test against a server.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use slowpath_packet::mark::Dscp;
use slowpath_sys::{clock, message};
use slowpath_units::Duration;

use super::clockwork::{Clockwork, EndBy, Link, Setup};
use super::greeting::{UDP_HELLO, UDP_REPLIES, prepare_udp};
use super::params::{ClientConfig, Direction, Params, Transport};
use super::report::{Report, Side};
use super::results::{self, Account};
use super::wire::{Control, Cookie, IperfError, State};
use crate::context::Context;
use crate::socket::{self, SocketError, SocketOptions};
use crate::watch::Sampler;

/// Runs one test and reports both sides' numbers.
///
/// # Errors
/// No permission, no connection, a busy server, a broken protocol, or the context's end. A test that breaks off
/// in the middle is an error too: its numbers would not be comparable.
pub fn run(config: &ClientConfig, context: &Context) -> Result<Report, IperfError> {
    let mut params = config.params.clone();
    params.check()?;
    context.admit(config.server.ip())?;
    cap_rate(&mut params, config.server, context);

    let cpu_before = clock::thread_cpu();
    let options = SocketOptions {
        no_delay: true,
        // The control connection is marked like the data, so that it meets the same path.
        dscp: (params.tos != 0).then(|| Dscp::from_tos(params.tos)),
        ..SocketOptions::default()
    };
    let (control, cookie) = take_turn(config, &options, context)?;
    let mss = slowpath_sys::tcp_info::tcp_info(&control.stream).map_or(0, |info| info.snd_mss);
    let block = params.block_size(mss);
    control.send_json(&params.to_json(block), context)?;
    control.expect(State::CreateStreams, "exchanging parameters", context)?;

    let setup = Setup {
        block,
        pacing: config.pacing,
        seed: u64::from(std::process::id()),
    };
    let sampler = Sampler::start(context, config.sample_every);
    let mut clockwork = Clockwork::new(&params, setup, config.interval, context);
    let congestion = create_streams(config.server, &params, &cookie, &mut clockwork, &sampler, context)?;
    let outcome = run_test(&control, &mut clockwork, context);
    let span = match outcome {
        Ok(span) => span,
        Err(error) => {
            // Tell the server, which otherwise waits for its own timer.
            let _ = control.send_state(State::ClientTerminate, context);
            clockwork.phase.advance(super::tally::Stage::Closed);
            return Err(error);
        }
    };
    // Receivers go on reading: a server blocked in a write cannot read this.
    control.send_state(State::TestEnd, context)?;
    control.expect(State::ExchangeResults, "ending the test", context)?;
    let connections = sampler.finish();
    let (mut streams, mut threads) = clockwork.close(span);
    let own_cpu = Duration::from_nanos(clock::thread_cpu() - cpu_before);
    threads.push(("test".to_owned(), own_cpu));
    let total: f64 = threads.iter().map(|(_, cpu)| cpu.seconds()).sum();
    let time = span.end.since(span.start).seconds().max(1e-9);
    let account = Account {
        cpu: total / time * 100.0,
        congestion: congestion.clone(),
        output: None,
    };
    control.send_json(&results::to_json(&streams, &account), context)?;
    let told = control.json(MAX_RESULTS, "exchanging results", context)?;
    let told = results::read(&told, &mut streams)?;
    control.expect(State::DisplayResults, "exchanging results", context)?;
    control.send_state(State::IperfDone, context)?;
    // A server of one client at a time is ready for the next one when it has closed.
    let farewell = context.clone().with_timeout(Duration::from_secs(1));
    let _ = control.state("ending the test", &farewell);
    Ok(Report {
        side: Side::Client,
        params,
        block,
        cookie: cookie.text(),
        start: span.start,
        counted_from: span.counted_from,
        end: span.end,
        cut_short: span.cut_short,
        streams,
        threads,
        remote_cpu: Some(told.cpu),
        congestion: (congestion, told.congestion),
        server_output: told.output,
        connections,
    })
}

/// Connects until the server has time for a test.
fn take_turn(
    config: &ClientConfig,
    options: &SocketOptions,
    context: &Context,
) -> Result<(Control, Cookie), IperfError> {
    let begun = context.now();
    loop {
        match ask_for_turn(config, options, context) {
            Err(error) if is_busy(&error) && context.now().since(begun) < config.patience => {
                context
                    .sleep(Duration::from_millis(100))
                    .map_err(|stop| SocketError::stopped("waiting for its turn", stop))?;
            }
            outcome => return outcome,
        }
    }
}

fn ask_for_turn(
    config: &ClientConfig,
    options: &SocketOptions,
    context: &Context,
) -> Result<(Control, Cookie), IperfError> {
    let control = Control {
        stream: Arc::new(options.connect(config.server, context)?),
    };
    let cookie = Cookie::new(&control.stream);
    control.write(&cookie.0, context)?;
    control.expect(State::ParamExchange, "waiting for its turn", context)?;
    Ok((control, cookie))
}

/// iperf3 closes its listening socket between tests, which resets or refuses connections that come too early.
fn is_busy(error: &IperfError) -> bool {
    match error {
        IperfError::Busy => true,
        IperfError::Socket(SocketError::Io { source, .. }) => {
            matches!(
                source.kind(),
                std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::ConnectionRefused
            )
        }
        _ => false,
    }
}

fn run_test(
    control: &Control,
    clockwork: &mut Clockwork,
    context: &Context,
) -> Result<super::clockwork::Span, IperfError> {
    control.expect(State::TestStart, "creating streams", context)?;
    control.expect(State::TestRunning, "starting the test", context)?;
    clockwork.run(control, EndBy::Us)
}

/// A cap on load elsewhere bounds every rate, and replaces "unlimited".
fn cap_rate(params: &mut Params, server: SocketAddr, context: &Context) {
    let Some(cap) = context.permission().rate_cap(server.ip()) else {
        return;
    };
    let each = slowpath_units::BitRate::new((cap.bits_per_s() / u64::from(params.parallel)).max(1));
    params.rate = Some(params.rate.map_or(each, |rate| rate.min(each)));
    if params.transport == Transport::Tcp && params.direction != Direction::Reverse {
        params.fq_rate = Some(params.fq_rate.map_or(each, |rate| rate.min(each)));
    }
}

/// Opens all streams, sending ones first; returns the congestion control in use.
fn create_streams(
    server: SocketAddr,
    params: &Params,
    cookie: &Cookie,
    clockwork: &mut Clockwork,
    sampler: &Sampler,
    context: &Context,
) -> Result<Option<String>, IperfError> {
    let (sending, receiving) = params.client_streams();
    let mut congestion = None;
    for number in 0..sending + receiving {
        let sends = number < sending;
        match params.transport {
            Transport::Tcp => {
                let options = params.socket_options();
                let stream = Arc::new(options.connect(server, context)?);
                socket::write_all(&stream, &cookie.0, "writing the cookie to", context)?;
                let facts = options.facts(&stream);
                congestion = Some(facts.congestion_control.clone());
                sampler.watch(&format!("stream {number}"), &stream, &options);
                clockwork.add(sends, Link::Tcp(stream), Some(facts))?;
            }
            Transport::Udp => {
                let socket = connect_udp(server, params, context)?;
                clockwork.add(sends, Link::Udp(Arc::new(socket)), None)?;
            }
        }
    }
    Ok(congestion)
}

/// Opens a UDP stream: four bytes there, four bytes back.
fn connect_udp(server: SocketAddr, params: &Params, context: &Context) -> Result<UdpSocket, IperfError> {
    let io = |source| SocketError::io("opening a UDP stream to", server, source);
    let any = if server.is_ipv4() {
        SocketAddr::from(([0, 0, 0, 0], 0))
    } else {
        SocketAddr::from(([0_u16; 8], 0))
    };
    let socket = UdpSocket::bind(any).map_err(io)?;
    prepare_udp(&socket, params, server).map_err(io)?;
    socket.connect(server).map_err(io)?;
    let wait = Duration::from_secs(30);
    let patience = context.clone().with_timeout(wait);
    let mut next_try = context.now();
    let mut buffer = vec![0_u8; 65_536];
    loop {
        context
            .check()
            .map_err(|stop| SocketError::stopped("opening a UDP stream", stop))?;
        if patience.check().is_err() {
            return Err(IperfError::UdpSilent(wait));
        }
        if context.now() >= next_try {
            // A refusal is the moment between the server's old and its new socket.
            let _ = socket.send(UDP_HELLO);
            next_try = context.now() + Duration::from_secs(1);
        }
        match message::receive(&socket, &mut buffer) {
            Ok(received) if received.len == 4 && UDP_REPLIES.contains(&&buffer[..4]) => return Ok(socket),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                std::thread::sleep(std::time::Duration::from_millis(20));
                next_try = context.now();
            }
            // Data of a reverse test that overtook the reply, or a timeout.
            Ok(_) | Err(_) => {}
        }
    }
}

/// iperf3 sets no limit on results; server output of a day in seconds fits in this.
const MAX_RESULTS: usize = 64 << 20;

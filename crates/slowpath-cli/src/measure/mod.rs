//! `slowpath measure` and `slowpath serve`: from arguments to jobs, progress, and answers.

mod amounts;
mod args;
mod path;

use std::io::{self, Write};
use std::path::Path;

use slowpath::keep;
use slowpath::measure::serve::{Event, Limits};
use slowpath::measure::{self, Guard, Job, MeasureError, Progress, Remote};
use slowpath::measure::{ftp, iperf3, mtu, ping, rfc6349, s3, serve, ssh, sweep, trace};
use slowpath::{Cancel, Duration, SocketOptions, Style};

use crate::exit::{self, Failure};
use crate::{progress, terminal};
use args::{Form, SafetyArgs, SocketArgs, Tool};

pub(crate) use amounts::port;
pub(crate) use args::{DiagnosePathArgs, MeasureArgs, ServeArgs};
pub(crate) use path::diagnose_path;

/// Measures a live path and prints what came out.
pub(crate) fn measure(args: &MeasureArgs) -> Result<u8, Failure> {
    let common = args.tool.common();
    let job = job(&args.tool)?;
    let cancel = cancel_on_interrupt();
    let usual = job.expected().map_or(USUAL_DEADLINE, |span| span + GRACE);
    let guard = guard(&common.safety, cancel.clone(), usual);
    let shows = progress::is_shown();
    let expected = job.expected();
    let answer = measure::measure(&job, &guard, &mut |progress| {
        if shows {
            show(progress, expected);
        }
    });
    if shows {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    let answer = answer.map_err(|error| failure(&error))?;
    terminal::print(|out| match common.format {
        Form::Text => {
            let mut text = Vec::new();
            answer.write_text(&mut text)?;
            narrowed(&String::from_utf8_lossy(&text), out)
        }
        Form::Json => writeln!(out, "{:#}", answer.document()),
    })?;
    if let Some(folder) = &common.out {
        keep::add_measurement(folder, args.tool.target(), answer.record(), answer.incomplete())
            .map_err(|error| Failure::machine(error.to_string()))?;
    }
    Ok(match answer.incomplete() {
        None => exit::DONE,
        Some(_) => exit::INVALID,
    })
}

/// What the options permit; `usual` is the deadline if none is given.
fn guard(safety: &SafetyArgs, cancel: Cancel, usual: Duration) -> Guard {
    Guard {
        cancel,
        deadline: safety.deadline.unwrap_or(usual),
        remote: safety.cap.filter(|_| safety.allow_remote_load).map(|cap| Remote {
            cap,
            rate: safety.max_rate,
        }),
        own_namespace: slowpath::shell::is_inside(&shell_addresses()),
    }
}

/// A failed measurement as the command line tells it.
fn failure(error: &MeasureError) -> Failure {
    match error {
        MeasureError::Address(_) | MeasureError::Settings(_) | MeasureError::Refused(_) => {
            Failure::usage(error.to_string())
        }
        MeasureError::Tool { .. } => Failure::machine(error.to_string()),
    }
}

/// The addresses that `slowpath shell` tells the programs that it starts.
fn shell_addresses() -> Vec<std::net::IpAddr> {
    ["SLOWPATH_NEAR", "SLOWPATH_FAR"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok()?.parse().ok())
        .collect()
}

/// Writes text that was made for 80 columns; where there are fewer, lines are broken at spaces.
fn narrowed(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let width = terminal::style().width;
    for line in text.lines() {
        if width >= Style::default().width || line.chars().count() <= width {
            writeln!(out, "{line}")?;
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let indent = if indent.len() > width / 3 { "" } else { indent };
        for part in slowpath::wrap(line, width, indent, &format!("{indent}  ")) {
            writeln!(out, "{part}")?;
        }
    }
    Ok(())
}

/// One line that overwrites itself.
fn show(progress: Progress, expected: Option<Duration>) {
    let elapsed = progress.elapsed.seconds();
    let of = expected.map_or(String::new(), |span| format!(" of {:.0}", span.seconds()));
    let moved = if progress.bytes > 0 {
        format!(
            "  {:.1} MB  {:.1} Mbit/s",
            progress.bytes as f64 / 1e6,
            progress.bit_per_s / 1e6
        )
    } else {
        String::new()
    };
    // A terminal that is gone needs no progress.
    let _ = write!(io::stderr(), "\r\x1b[K{elapsed:6.1}{of} s{moved}");
    let _ = io::stderr().flush();
}

fn job(tool: &Tool) -> Result<Job, Failure> {
    Ok(match tool {
        Tool::Iperf3(args) if args.rfc6349 => Job::Rfc6349(rfc6349::Spec {
            target: args.target.clone(),
            reverse: args.reverse,
            each: Duration::from_secs(u64::from(args.seconds)),
            windows: args.windows.clone(),
            bottleneck: args.bottleneck,
        }),
        Tool::Iperf3(args) => Job::Iperf3(iperf3_spec(args)?),
        Tool::Ftp(args) => Job::Ftp(ftp::Spec {
            target: args.target.clone(),
            upload: args.upload,
            output: args.output.clone(),
            mode: match args.mode {
                args::FtpMode::Passive => ftp::Mode::Passive,
                args::FtpMode::Epsv => ftp::Mode::ExtendedPassive,
                args::FtpMode::Active => ftp::Mode::Active,
                args::FtpMode::Eprt => ftp::Mode::ExtendedActive,
            },
            socket: socket(&args.socket),
        }),
        Tool::Ssh(args) => Job::Ssh(ssh::Spec {
            target: args.target.clone(),
            upload: args.upload,
            methods: args
                .methods
                .iter()
                .map(|method| match method {
                    args::SshMethod::Scp => ssh::Method::Scp,
                    args::SshMethod::ScpLegacy => ssh::Method::ScpLegacy,
                    args::SshMethod::Sftp => ssh::Method::Sftp,
                    args::SshMethod::Pipe => ssh::Method::Pipe,
                })
                .collect(),
            ip_qos: args.ip_qos.clone(),
            options: args.options.clone(),
            config: args.config.clone(),
        }),
        Tool::S3(args) => Job::S3(s3_spec(args)?),
        Tool::Ping(args) => Job::Ping(ping::Spec {
            target: args.target.clone(),
            count: args.count,
            interval: args.interval,
            size: usize::from(args.size),
            dont_fragment: args.df,
            dscp: args.dscp,
        }),
        Tool::Trace(args) => Job::Trace(trace::Spec {
            target: args.target.clone(),
            method: match args.method {
                args::Probe::Icmp => trace::Method::Icmp,
                args::Probe::Udp => trace::Method::Udp,
                args::Probe::Tcp => trace::Method::Tcp,
            },
            port: args.port,
            max_hops: args.max_hops,
            probes: args.probes,
            wait: args.wait,
            dscp: args.dscp,
        }),
        Tool::Mtu(args) => Job::Mtu(mtu::Spec {
            target: args.target.clone(),
            from: args.from,
            to: args.to,
        }),
        Tool::Sweep(args) => Job::Sweep(sweep::Spec {
            target: args.target.clone(),
            marks: args.marks.clone(),
            probes: args.probes,
            size: usize::from(args.size),
            rate: args.rate,
            tcp: args.tcp,
            load: args.load,
        }),
    })
}

fn iperf3_spec(args: &args::Iperf3Args) -> Result<iperf3::Spec, Failure> {
    let burst = args.rate.unwrap_or_default();
    let rate = match (args.rate, args.udp) {
        (Some(given), _) => given.rate,
        (None, true) => Some(iperf3::IPERF3_UDP_RATE),
        (None, false) => None,
    };
    let length = args
        .length
        .map(|length| u32::try_from(length.bytes()))
        .transpose()
        .map_err(|_| {
            Failure::usage(
                "measuring with iperf3: --length is too large; a write or datagram has at most 1 MiB"
                    .to_owned(),
            )
        })?;
    let params = iperf3::Params {
        transport: if args.udp {
            iperf3::Transport::Udp
        } else {
            iperf3::Transport::Tcp
        },
        direction: match (args.reverse, args.bidir) {
            (true, _) => iperf3::Direction::Reverse,
            (_, true) => iperf3::Direction::Bidirectional,
            _ => iperf3::Direction::Forward,
        },
        duration: Duration::from_secs(u64::from(args.seconds)),
        omit: Duration::from_secs(u64::from(args.omit)),
        bytes: args.bytes.map(slowpath::ByteCount::bytes),
        blocks: args.blocks,
        parallel: args.parallel,
        block: length,
        rate,
        burst: burst.burst,
        fq_rate: args.fq_rate,
        window: args.socket.window,
        mss: args.socket.mss,
        congestion_control: args.socket.congestion_control.clone(),
        tos: args
            .tos
            .or(args.socket.dscp.map(|dscp| dscp.value() << 2))
            .unwrap_or(0),
        no_delay: args.no_delay,
        zero_copy: args.zero_copy,
        counters_64bit: args.udp && !args.counters_32bit,
        server_output: args.server_output,
        repeating_payload: args.repeating_payload,
        dont_fragment: args.dont_fragment,
        title: args.title.clone(),
        extra_data: args.extra_data.clone(),
    };
    params
        .check()
        .map_err(|error| Failure::usage(format!("measuring with iperf3: {error}")))?;
    Ok(iperf3::Spec {
        target: args.target.clone(),
        params,
        pacing: match args.pacing {
            args::Spacing::Exact => iperf3::Pacing::Exact,
            args::Spacing::Iperf3 => iperf3::Pacing::Ticks(Duration::from_millis(1)),
            args::Spacing::OldIperf3 => iperf3::Pacing::Ticks(Duration::from_millis(100)),
        },
        interval: Duration::from_secs(u64::from(args.interval)),
    })
}

fn s3_spec(args: &args::S3Args) -> Result<s3::Spec, Failure> {
    let tls = authorities(args.ca.as_deref(), args.tls)?;
    Ok(s3::Spec {
        target: args.target.clone(),
        credentials: credentials(&args.region)?,
        put: args.operation != args::S3Operation::Get,
        get: args.operation != args::S3Operation::Put,
        size: args.size,
        part_size: args.part_size,
        requests: args.requests,
        concurrency: args.concurrency,
        prefix: args.prefix.clone(),
        payload_hash: if args.hash_payload {
            s3::PayloadHash::Sha256
        } else {
            s3::PayloadHash::Unsigned
        },
        tls,
        keep: args.keep,
        verify: args.verify,
        socket: socket(&args.socket),
    })
}

/// Whom to believe about an object store's certificate; nobody where TLS is not asked for.
fn authorities(ca: Option<&Path>, tls: bool) -> Result<Option<s3::Authorities>, Failure> {
    Ok(match (ca, tls) {
        (Some(path), _) => Some(s3::Authorities::Pem(read(path, "the certificate authorities")?)),
        (None, true) => Some(s3::Authorities::System),
        (None, false) => None,
    })
}

fn read(path: &Path, what: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        Failure::usage(format!(
            "reading {what}: {}",
            slowpath::input::problem(path, &error)
        ))
    })
}

/// The keys that S3's own tools use.
fn credentials(region: &str) -> Result<s3::Credentials, Failure> {
    let key = |name: &str| {
        std::env::var(name).map_err(|_| {
            Failure::usage(format!(
                "finding the keys of the S3 store: the environment variable {name} is not set; set AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY"
            ))
        })
    };
    Ok(s3::Credentials {
        access_key: key("AWS_ACCESS_KEY_ID")?,
        secret_key: key("AWS_SECRET_ACCESS_KEY")?,
        region: region.to_owned(),
    })
}

fn socket(args: &SocketArgs) -> SocketOptions {
    SocketOptions {
        receive_buffer: args.window,
        send_buffer: args.window,
        congestion_control: args.congestion_control.clone(),
        mss: args.mss,
        dscp: args.dscp,
        ..SocketOptions::default()
    }
}

/// Serves clients until it is told to end.
pub(crate) fn serve(args: &ServeArgs) -> Result<u8, Failure> {
    let cancel = cancel_on_interrupt();
    let spec = serve::Spec {
        address: args.address,
        port: args.port,
        reflector: Some(args.sweep_port).filter(|port| *port != 0),
        ftp: args.ftp.map(|port| (port, args.ftp_size)),
        s3: args
            .s3
            .map(|port| Ok((port, args.s3_capacity, credentials("us-east-1")?)))
            .transpose()?,
        allowed: args.allowed.clone(),
        limits: Limits {
            tests: usize::from(args.max_tests),
            streams: args.max_streams,
            duration: args.max_duration,
            rate: args.max_rate,
            ..Limits::default()
        },
        tests: args.tests,
    };
    let mut out = io::stdout().lock();
    serve::serve(&spec, &cancel, &mut |event| {
        // A reader that is gone does not end the service.
        let _ = tell(&event, &mut out);
    })
    .map_err(|error| Failure::machine(format!("serving: {error}; {}", serving_hint(&error))))?;
    Ok(exit::DONE)
}

/// What to do where a server cannot listen.
fn serving_hint(error: &(dyn std::error::Error + 'static)) -> &'static str {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let kind = chain
        .filter_map(|error| error.downcast_ref::<io::Error>())
        .map(io::Error::kind)
        .next();
    match kind {
        Some(io::ErrorKind::AddrNotAvailable) => {
            "this machine has no such address: give one of `ip address`, or 0.0.0.0 for all"
        }
        Some(io::ErrorKind::PermissionDenied) => "ports below 1024 are for root: choose another with --port",
        _ => "another program may have the port: choose one with --port or --sweep-port",
    }
}

fn tell(event: &Event, out: &mut dyn Write) -> io::Result<()> {
    match event {
        Event::Listening(what, address) => {
            terminal::note(&format!("slowpath: serving {what} on {address}; Ctrl-C ends it"));
        }
        Event::Test(record) => match &record.outcome {
            Ok(report) => {
                writeln!(out, "iperf3 client {}", record.client)?;
                measure::Answer::write_text(report, out)?;
            }
            Err(error) => writeln!(out, "iperf3 client {}: {error}", record.client)?,
        },
        Event::Ftp(done) => writeln!(
            out,
            "ftp {}: {} bytes in {:.3} s",
            done.transfer.name,
            done.transfer.bytes,
            done.transfer.duration().seconds()
        )?,
    }
    out.flush()
}

fn cancel_on_interrupt() -> Cancel {
    let cancel = Cancel::new();
    let flag = slowpath::interrupt::flag();
    let raised = cancel.clone();
    std::thread::spawn(move || {
        while !flag.load(std::sync::atomic::Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        raised.cancel();
    });
    cancel
}

/// Time for set-up and results beyond a job's own.
const GRACE: Duration = Duration::from_secs(30);
/// For jobs that do not know how long they take.
const USUAL_DEADLINE: Duration = Duration::from_secs(600);

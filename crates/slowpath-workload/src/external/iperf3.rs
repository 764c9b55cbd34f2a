//! The real iperf3, as client and as server.

mod output;

use std::net::SocketAddr;

use slowpath_units::Duration;

pub use self::output::{Output, Way};

use super::{Program, Ready, find_program};
use crate::iperf3::{Direction, Params, Transport};

/// `iperf3 -s`, which serves one client at a time until it is ended.
pub fn server(listen: SocketAddr) -> Option<Program> {
    Some(Program {
        name: "iperf3".to_owned(),
        program: find_program("iperf3", &[])?,
        arguments: [
            "-s",
            "-B",
            &listen.ip().to_string(),
            "-p",
            &listen.port().to_string(),
        ]
        .map(str::to_owned)
        .to_vec(),
        environment: Vec::new(),
        files: Vec::new(),
        ready: Ready::Listening(listen),
    })
}

/// `iperf3 -c` with JSON output for a test with `params`.
pub fn client(server: SocketAddr, params: &Params) -> Option<Program> {
    let mut arguments: Vec<String> = [
        "-c",
        &server.ip().to_string(),
        "-p",
        &server.port().to_string(),
        "-J",
    ]
    .map(str::to_owned)
    .to_vec();
    let seconds = |span: Duration| span.nanos().div_ceil(1_000_000_000).to_string();
    let valued = [
        ("-n", params.bytes.map(|bytes| bytes.to_string())),
        ("-k", params.blocks.map(|blocks| blocks.to_string())),
        (
            "-t",
            (params.bytes.is_none() && params.blocks.is_none()).then(|| seconds(params.duration)),
        ),
        ("-O", (params.omit > Duration::ZERO).then(|| seconds(params.omit))),
        ("-P", (params.parallel > 1).then(|| params.parallel.to_string())),
        ("-l", params.block.map(|block| block.to_string())),
        ("-b", rate(params)),
        (
            "--fq-rate",
            params.fq_rate.map(|rate| rate.bits_per_s().to_string()),
        ),
        ("-w", params.window.map(|window| window.bytes().to_string())),
        ("-M", params.mss.map(|mss| mss.to_string())),
        ("-C", params.congestion_control.clone()),
        ("-S", (params.tos != 0).then(|| params.tos.to_string())),
        ("-T", params.title.clone()),
    ];
    for (name, value) in valued {
        if let Some(value) = value {
            arguments.extend([name.to_owned(), value]);
        }
    }
    let flags = [
        ("-u", params.transport == Transport::Udp),
        ("-R", params.direction == Direction::Reverse),
        ("--bidir", params.direction == Direction::Bidirectional),
        ("-N", params.no_delay),
        ("-Z", params.zero_copy),
        ("--udp-counters-64bit", params.counters_64bit),
        ("--get-server-output", params.server_output),
        ("--repeating-payload", params.repeating_payload),
        ("--dont-fragment", params.dont_fragment),
    ];
    arguments.extend(
        flags
            .iter()
            .filter(|(_, set)| *set)
            .map(|(name, _)| (*name).to_owned()),
    );
    Some(Program {
        name: "iperf3".to_owned(),
        program: find_program("iperf3", &[])?,
        arguments,
        environment: Vec::new(),
        files: Vec::new(),
        ready: Ready::Immediately,
    })
}

/// `-b`: zero is unlimited, which for UDP is not the default.
fn rate(params: &Params) -> Option<String> {
    let burst = if params.burst > 0 {
        format!("/{}", params.burst)
    } else {
        String::new()
    };
    match params.rate {
        Some(rate) => Some(format!("{}{burst}", rate.bits_per_s())),
        None => (params.transport == Transport::Udp).then(|| "0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_units::BitRate;

    #[test]
    fn arguments_follow_the_parameters() {
        let params = Params {
            transport: Transport::Udp,
            direction: Direction::Reverse,
            parallel: 2,
            rate: Some(BitRate::new(10_000_000)),
            burst: 5,
            tos: 32,
            ..Params::default()
        };
        let Some(program) = client("192.0.2.1:5201".parse().unwrap(), &params) else {
            eprintln!("skipped: arguments_follow_the_parameters: iperf3 is not installed");
            return;
        };
        assert_eq!(
            program.arguments.join(" "),
            "-c 192.0.2.1 -p 5201 -J -t 10 -P 2 -b 10000000/5 -S 32 -u -R"
        );
    }
}

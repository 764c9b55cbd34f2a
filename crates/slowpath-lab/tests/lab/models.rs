//! A model endpoint and a kernel host on the same wire.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration as StdDuration;

use slowpath_endpoint::app::{Behaviour, Bulk, File, FtpServer, Pace, Ping, Sink};
use slowpath_endpoint::{HostConfig, Report, tcp};
use slowpath_lab::{Lab, LabSpec, ModelSettings, Stack};
use slowpath_units::{Duration, Time};

use crate::support::{EARLY, FAR, NEAR, delay, permitted, ping, rate, two_hosts};

/// The two hosts with a model in the place of `far`.
fn with_model(programs: Vec<(Time, Behaviour)>) -> LabSpec {
    let mut spec = two_hosts(&[rate("50 Mbit/s", 500), delay("5 ms")]);
    let far = &mut spec.hosts[1];
    far.addresses = vec![FAR.into()];
    far.stack = Stack::Model(Box::new(ModelSettings {
        config: HostConfig {
            addresses: vec![FAR.into()],
            tcp: tcp::Config::linux(),
            mtu: 1500,
            input: None,
        },
        programs,
    }));
    spec
}

fn at(address: [u8; 4], port: u16) -> SocketAddr {
    SocketAddr::new(address.into(), port)
}

#[test]
fn the_kernel_pings_a_model_and_a_model_the_kernel() {
    if !permitted("the_kernel_pings_a_model_and_a_model_the_kernel") {
        return;
    }
    let programs = vec![(
        Time::from_nanos(200_000_000),
        Behaviour::Ping(Ping {
            to: NEAR.into(),
            count: 5,
            interval: Duration::from_millis(20),
            bytes: 56,
        }),
    )];
    let lab = Lab::build(&with_model(programs), None).unwrap();
    let times = lab
        .run_in("near", || ping(FAR.into(), 5, StdDuration::from_millis(1)))
        .unwrap();
    assert_eq!(times.len(), 5);
    assert!(
        times
            .iter()
            .all(|time| *time + EARLY >= Duration::from_millis(10)),
        "{times:?}"
    );
    let mut trips = Vec::new();
    while let Some((host, report)) = lab.next_report(StdDuration::from_secs(2)) {
        assert_eq!(host, "far");
        match report {
            Report::RoundTrip { time, .. } => trips.push(time),
            Report::Ended { .. } => break,
            _ => {}
        }
    }
    assert_eq!(trips.len(), 5);
    assert!(
        trips
            .iter()
            .all(|time| *time + EARLY >= Duration::from_millis(10)),
        "{trips:?}"
    );
    let totals = lab.finish().totals;
    assert_eq!((totals.sent, totals.delivered), (20, 20));
}

#[test]
fn the_kernel_sends_to_a_model_and_receives_from_one() {
    if !permitted("the_kernel_sends_to_a_model_and_receives_from_one") {
        return;
    }
    let bulk = Bulk {
        name: "from the model".into(),
        to: at(NEAR, 7000),
        bytes: Some(2_000_000),
        duration: None,
        streams: 1,
        congestion: None,
        dscp: None,
        writer: Pace::Unlimited,
    };
    let programs = vec![
        (
            Time::ZERO,
            Behaviour::Sink(Sink {
                port: 9000,
                reader: Pace::Unlimited,
            }),
        ),
        (Time::from_nanos(100_000_000), Behaviour::Bulk(bulk)),
    ];
    let lab = Lab::build(&with_model(programs), None).unwrap();
    let received = lab
        .run_in("near", || {
            let listener = TcpListener::bind(at(NEAR, 7000)).unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = vec![0; 1 << 16];
            let mut total = 0;
            loop {
                match stream.read(&mut buffer).unwrap() {
                    0 => break total,
                    length => {
                        assert!(buffer[..length].iter().all(|byte| *byte == b'.'));
                        total += length;
                    }
                }
            }
        })
        .unwrap();
    assert_eq!(received, 2_000_000);
    lab.run_in("near", || {
        let mut stream = TcpStream::connect(at(FAR, 9000)).unwrap();
        stream.write_all(&vec![1; 2_000_000]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        // The model closes when it has read everything.
        assert_eq!(stream.read(&mut [0; 10]).unwrap(), 0);
    })
    .unwrap();
    let report = lab.finish();
    let transfer = report.reports.iter().find_map(|(_, report)| match report {
        Report::Transfer { result, .. } => Some(result),
        _ => None,
    });
    assert_eq!(
        transfer.map(|result| result.bytes),
        Some(2_000_000),
        "{:?}",
        report.reports
    );
    let link = report
        .elements
        .iter()
        .find(|element| element.element == "up.0")
        .unwrap();
    assert!(link.delivered.bytes > 2_000_000);
}

#[test]
fn a_kernel_client_fetches_from_a_model_ftp_server() {
    if !permitted("a_kernel_client_fetches_from_a_model_ftp_server") {
        return;
    }
    let server = FtpServer {
        port: 21,
        files: vec![File {
            path: "file.bin".into(),
            bytes: 300_000,
        }],
        passive_port: 30_000,
    };
    let lab = Lab::build(
        &with_model(vec![(Time::ZERO, Behaviour::FtpServer(server))]),
        None,
    )
    .unwrap();
    let bytes = lab.run_in("near", fetch).unwrap();
    assert_eq!(bytes, 300_000);
}

/// A minimal FTP client: real commands over a real kernel's TCP.
fn fetch() -> usize {
    let mut control = TcpStream::connect(at(FAR, 21)).unwrap();
    control.set_read_timeout(Some(StdDuration::from_secs(5))).unwrap();
    let mut reader = control.try_clone().unwrap();
    let mut reply = move || {
        let mut line = Vec::new();
        let mut byte = [0];
        while reader.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    };
    assert!(reply().starts_with("220"));
    for (command, code) in [("USER a", '3'), ("PASS b", '2'), ("TYPE I", '2')] {
        control.write_all(format!("{command}\r\n").as_bytes()).unwrap();
        let line = reply();
        assert!(
            line.starts_with(code) || line.starts_with("230"),
            "{command}: {line}"
        );
    }
    control.write_all(b"EPSV\r\n").unwrap();
    let line = reply();
    let port: u16 = line
        .split('|')
        .nth(3)
        .unwrap_or_else(|| panic!("{line}"))
        .parse()
        .unwrap();
    let mut data = TcpStream::connect(at(FAR, port)).unwrap();
    control.write_all(b"RETR file.bin\r\n").unwrap();
    let mut all = Vec::new();
    data.read_to_end(&mut all).unwrap();
    drop(data);
    assert!(reply().starts_with("150"));
    assert!(reply().starts_with("226"));
    all.len()
}

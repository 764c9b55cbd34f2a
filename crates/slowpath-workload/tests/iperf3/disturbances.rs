//! Limits, caps, and peers that mean no good.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use slowpath_units::{BitRate, ByteCount, Duration};

use slowpath_workload::iperf3::{Direction, IperfError, Limits, Report, Server, ServerConfig, run};
use slowpath_workload::{Context, Network, Permission, Refused};

use crate::support::*;

#[test]
fn several_clients_at_once_and_no_more() {
    let (_turn, context) = (turn(), context());
    let mut config = ServerConfig::new(loopback());
    config.limits = Limits {
        tests: 3,
        ..Limits::default()
    };
    let server = Server::start(config, &context).unwrap();
    let outcomes: Vec<Result<Report, IperfError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..5)
            .map(|number| {
                let (context, address) = (&context, server.address());
                scope.spawn(move || {
                    let mut config = if number % 2 == 0 {
                        udp(address, Direction::Bidirectional)
                    } else {
                        tcp(address, Direction::Forward)
                    };
                    config.params.rate = Some(BitRate::new(10_000_000));
                    config.params.parallel = 2;
                    // Small blocks: one that is under way at the end is no matter.
                    config.params.block = Some(1400);
                    config.patience = Duration::ZERO;
                    run(&config, context)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let busy = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Err(IperfError::Busy)))
        .count();
    assert_eq!(busy, 2);
    for report in outcomes.iter().flatten() {
        assert_sound(report, "one of several");
    }
}

#[test]
fn limits_are_kept() {
    let (_turn, context) = (turn(), context());
    let mut config = ServerConfig::new(loopback());
    config.limits.duration = Duration::from_secs(2);
    config.limits.rate = Some(BitRate::new(20_000_000));
    config.limits.streams = 4;
    let server = Server::start(config, &context).unwrap();
    let refused: [(i32, Change); 3] = [
        (4, |config| config.params.duration = Duration::from_secs(3)),
        (5, |config| config.params.parallel = 5),
        (27, |config| config.params.rate = Some(BitRate::new(30_000_000))),
    ];
    for (expected, change) in refused {
        let mut config = tcp(server.address(), Direction::Forward);
        config.params.rate = None;
        change(&mut config);
        match run(&config, &context) {
            Err(IperfError::Server { code, .. }) => assert_eq!(code, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    // What the server sends keeps to the limit; a client that does not is stopped.
    let mut config = tcp(server.address(), Direction::Reverse);
    config.params.rate = None;
    let report = run(&config, &context).unwrap();
    assert!(
        report.delivered_bit_per_s(false) < 22e6,
        "{}",
        report.delivered_bit_per_s(false)
    );
    let mut config = tcp(server.address(), Direction::Forward);
    (config.params.rate, config.params.duration) = (None, Duration::from_secs(2));
    assert!(matches!(
        run(&config, &context),
        Err(IperfError::Server { code: 27, .. })
    ));

    let elsewhere = context.clone().with_clients(vec![Network {
        address: "192.0.2.0".parse().unwrap(),
        prefix: 24,
    }]);
    let server = Server::start(ServerConfig::new(loopback()), &elsewhere).unwrap();
    let error = run(&tcp(server.address(), Direction::Forward), &context).unwrap_err();
    assert!(
        matches!(error, IperfError::Closed(_) | IperfError::Socket(_)),
        "{error}"
    );
}

#[test]
fn load_on_other_machines_is_refused() {
    let elsewhere: SocketAddr = "192.0.2.1:5201".parse().unwrap();
    let error = run(&tcp(elsewhere, Direction::Forward), &Context::new()).unwrap_err();
    assert!(matches!(error, IperfError::Refused(Refused::Flag(_))), "{error}");
    let capped = Permission::Remote {
        bytes: ByteCount::new(1),
        rate: BitRate::new(1),
    };
    let error = run(
        &tcp(elsewhere, Direction::Forward),
        &Context::new().with_permission(capped),
    )
    .unwrap_err();
    assert!(
        matches!(error, IperfError::Refused(Refused::Deadline(_))),
        "{error}"
    );
}

#[test]
fn a_hostile_client_disturbs_nobody() {
    let (_turn, context) = (turn(), context());
    let server = our_server(&context);
    let address = server.address();
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(std::time::Duration::from_secs(15)))
            .unwrap();
        stream
    };
    let cookie = |letter: u8| {
        let mut cookie = [letter; 37];
        cookie[36] = 0;
        cookie
    };
    // A thousand connections that say nothing, one byte each, or half a cookie.
    let many: Vec<TcpStream> = (0..1000)
        .map(|number| {
            let mut stream = connect();
            let _ = stream.write_all(&cookie(b'a')[..number % 20]);
            stream
        })
        .collect();
    // A giant JSON, announced and never sent; JSON that is none; parameters of the wrong type.
    for (letter, text) in [
        (b'b', &[0x7f, 0xff, 0xff, 0xff, b'{'][..]),
        (b'c', &[0, 0, 0, 4, b'n', b'o', b'n', b'e']),
        (b'd', b"\0\0\0\x16{\"tcp\":true,\"time\":[]}"),
        (b'e', &[0, 0, 0x20, 0, b'[', b'[', b'[']),
    ] {
        let mut stream = connect();
        stream.write_all(&cookie(letter)).unwrap();
        let mut state = [0_u8];
        stream.read_exact(&mut state).unwrap();
        assert_eq!(state[0], 9);
        stream.write_all(text).unwrap();
        if letter != b'e' {
            let mut rest = Vec::new();
            // The server closes, with or without an error number in front.
            let _ = stream.read_to_end(&mut rest);
        }
    }
    // Deep nesting within the size that is allowed.
    let mut stream = connect();
    stream.write_all(&cookie(b'f')).unwrap();
    let deep = "[".repeat(8000);
    stream
        .write_all(&u32::try_from(deep.len()).unwrap().to_be_bytes())
        .unwrap();
    stream.write_all(deep.as_bytes()).unwrap();
    // A test whose streams never come.
    let mut half = connect();
    half.write_all(&cookie(b'g')).unwrap();
    let params = br#"{"tcp":true,"time":1,"parallel":128}"#;
    half.write_all(&u32::try_from(params.len()).unwrap().to_be_bytes())
        .unwrap();
    half.write_all(params).unwrap();
    // A data connection with a cookie that nobody knows is taken for a new client.
    let mut wrong = connect();
    wrong.write_all(&cookie(b'h')).unwrap();
    wrong.write_all(&vec![0_u8; 100_000]).unwrap();

    let report = run(&tcp(address, Direction::Bidirectional), &context).unwrap();
    assert_sound(&report, "after hostile clients");
    drop((many, half, wrong, stream));
    // And the server still ends at once.
    let begun = std::time::Instant::now();
    server.stop();
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
}

/// Opens a test by hand, as far as its running; returns the control connection and one data connection.
fn by_hand(address: SocketAddr, letter: u8, params: &str) -> (TcpStream, TcpStream) {
    let mut cookie = [letter; 37];
    cookie[36] = 0;
    let connect = || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(std::time::Duration::from_secs(15)))
            .unwrap();
        stream.write_all(&cookie).unwrap();
        stream
    };
    let mut control = connect();
    let mut expect = |expected: &[u8]| {
        for state in expected {
            let mut got = [0_u8];
            control.read_exact(&mut got).unwrap();
            assert_eq!(got[0], *state);
        }
        control.try_clone().unwrap()
    };
    let mut writer = expect(&[9]);
    writer
        .write_all(&u32::try_from(params.len()).unwrap().to_be_bytes())
        .unwrap();
    writer.write_all(params.as_bytes()).unwrap();
    expect(&[10]);
    let data = connect();
    expect(&[1, 2]);
    (control, data)
}

#[test]
fn clients_that_do_not_read_hold_up_nobody() {
    let (_turn, context) = (turn(), context());
    let mut config = ServerConfig::new(loopback());
    config.limits.tests = 3;
    let server = Server::start(config, &context).unwrap();
    let address = server.address();
    // One never reads its data, so the server's socket is full at once; the other says the end, and never gives its
    // results nor reads the server's.
    let params =
        r#"{"tcp":true,"omit":0,"time":1,"num":0,"blockcount":0,"parallel":1,"len":131072,"reverse":true}"#;
    let deaf = by_hand(address, b'i', params);
    let mut mute = by_hand(address, b'j', params);
    mute.0.write_all(&[4]).unwrap();

    let report = run(&tcp(address, Direction::Bidirectional), &context).unwrap();
    assert_sound(&report, "beside clients that do not read");
    // Their own tests end without them, and the server ends at once.
    drop((deaf, mute));
    let begun = std::time::Instant::now();
    server.stop();
    assert!(begun.elapsed() < std::time::Duration::from_secs(15));
}

#[test]
fn a_wrong_cookie_joins_no_test() {
    let (_turn, context) = (turn(), context());
    let mut config = ServerConfig::new(loopback());
    config.limits.tests = 1;
    let server = Server::start(config, &context).unwrap();
    let address = server.address();
    let params = r#"{"tcp":true,"omit":0,"time":1,"num":0,"blockcount":0,"parallel":1,"len":131072}"#;
    let (mut control, mut data) = by_hand(address, b'k', params);
    // Too late for a second stream, and too many for a second test: told so, and closed.
    let mut stranger = TcpStream::connect(address).unwrap();
    stranger
        .set_read_timeout(Some(std::time::Duration::from_secs(15)))
        .unwrap();
    let mut cookie = [b'l'; 37];
    cookie[36] = 0;
    stranger.write_all(&cookie).unwrap();
    let mut answer = Vec::new();
    let _ = stranger.read_to_end(&mut answer);
    assert_eq!(answer, [0xff]);
    // The test itself goes on to its end.
    data.write_all(&vec![0; 100_000]).unwrap();
    control.write_all(&[4]).unwrap();
    let mut state = [0_u8];
    control.read_exact(&mut state).unwrap();
    assert_eq!(state[0], 13);
}

#[test]
fn a_cap_ends_a_test_with_the_figures_so_far() {
    let (_turn, context) = (turn(), context());
    let server = our_server(&context);
    // Clones of a context share the count of bytes; the server's own reading must not use up the client's cap.
    let capped = Context::new()
        .with_timeout(Duration::from_secs(120))
        .with_permission(Permission::Remote {
            bytes: ByteCount::new(5_000_000),
            rate: BitRate::new(1_000_000_000),
        });
    let mut config = tcp(server.address(), Direction::Forward);
    config.params.duration = Duration::from_secs(30);
    let report = run(&config, &capped).unwrap();
    assert!(report.cut_short.is_some());
    let delivered = report.delivered(true);
    assert!((4_000_000..=6_000_000).contains(&delivered), "{delivered}");
    assert!(report.end.since(report.start) < Duration::from_secs(20));
}

#[test]
fn a_hostile_server_ends_in_an_error() {
    let context = context();
    for answer in [
        &[][..],
        &[3],
        &[0xff],
        &[0xfe, 0, 0, 0, 27],
        &[1, 2],
        &[9, 10, 1, 2, 13],
        &[9, 10, 1, 2, 13, 0xff, 0xff, 0xff, 0xff],
    ] {
        let listener = std::net::TcpListener::bind(loopback()).unwrap();
        let address = listener.local_addr().unwrap();
        let answers = std::thread::spawn(move || {
            let (mut control, _) = listener.accept().unwrap();
            control
                .set_read_timeout(Some(std::time::Duration::from_millis(300)))
                .unwrap();
            let mut got = [0_u8; 37];
            let _ = control.read_exact(&mut got);
            let _ = control.write_all(answer);
            std::thread::sleep(std::time::Duration::from_millis(300));
        });
        let short = context.clone().with_timeout(Duration::from_secs(3));
        assert!(
            run(&tcp(address, Direction::Forward), &short).is_err(),
            "{answer:?}"
        );
        answers.join().unwrap();
    }
}

#[test]
fn servers_that_do_not_read_or_dribble_end_with_the_clients_deadline() {
    let (_turn, context) = (turn(), context());
    // What follows the end of the test: nothing at all; results announced and given a byte at a time.
    for after in [&[][..], &[13, 0, 0, 0x20, 0, b'{', b' ', b' ', b' ', b' ']] {
        let listener = std::net::TcpListener::bind(loopback()).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let server = std::thread::spawn(move || {
            let read = |stream: &mut TcpStream, bytes: usize| {
                let mut got = vec![0; bytes];
                stream.read_exact(&mut got).unwrap();
                got
            };
            let (mut control, _) = listener.accept().unwrap();
            read(&mut control, 37);
            control.write_all(&[9]).unwrap();
            let length = read(&mut control, 4).try_into().unwrap();
            read(&mut control, u32::from_be_bytes(length) as usize);
            control.write_all(&[10]).unwrap();
            let (mut data, _) = listener.accept().unwrap();
            read(&mut data, 37);
            control.write_all(&[1, 2]).unwrap();
            // The data are never read, so that the client's socket is full at once.
            assert_eq!(read(&mut control, 1), [4]);
            for byte in after {
                let _ = control.write_all(&[*byte]);
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
            let _ = stopped.recv();
            drop(data);
        });
        let begun = std::time::Instant::now();
        let short = context.clone().with_timeout(Duration::from_secs(4));
        let mut config = tcp(address, Direction::Forward);
        config.params.duration = Duration::from_secs(1);
        let ended = run(&config, &short);
        assert!(begun.elapsed() < std::time::Duration::from_secs(8), "{after:?}");
        assert!(
            ended.as_ref().map_or(true, |report| report.delivered(true) == 0),
            "{after:?}: nothing was received, but {ended:?}"
        );
        drop(stop);
        server.join().unwrap();
    }
}

//! `why` on living connections over loopback.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use slowpath_live::why::packets::CaptureSpec;
use slowpath_live::why::{self, Target, WatchSpec, WhyError};
use slowpath_verdict::Limit;

fn spec(target: Target, seconds: u64) -> WatchSpec {
    WatchSpec {
        target,
        duration: Some(Duration::from_secs(seconds)),
        output: Stdio::null,
        trial: None,
        part: None,
    }
}

#[test]
fn a_reader_that_takes_little_is_named_from_outside() {
    slow_reader_is_named("127.0.0.1:0");
}

#[test]
fn the_same_over_ipv6() {
    if TcpListener::bind("[::1]:0").is_err() {
        eprintln!("skipped: the_same_over_ipv6: no IPv6 here");
        return;
    }
    slow_reader_is_named("[::1]:0");
}

fn slow_reader_is_named(address: &str) {
    let listener = TcpListener::bind(address).unwrap();
    let local = listener.local_addr().unwrap();
    let port = local.port();
    let writer = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(local).unwrap();
        slowpath_sys::sockopt::set_congestion_control(stream.as_fd(), "cubic").ok();
        // The reader ends first.
        while stream.write_all(&[7; 8_192]).is_ok() {}
    });
    let (mut reader, _) = listener.accept().unwrap();
    let reads = std::thread::spawn(move || {
        let end = Instant::now() + Duration::from_secs(4);
        let mut buffer = [0; 16_384];
        while Instant::now() < end && reader.read(&mut buffer).is_ok_and(|count| count > 0) {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let spec = spec(Target::Port(port), 2);
    let mut ticks = 0;
    let outcome = why::watch(&spec, &AtomicBool::new(false), &mut |_| ticks += 1).unwrap();
    let answer = why::answer(&spec.target, &outcome);
    assert!(ticks >= 3);
    // Both ends are here: the sender's view and the receiver's agree.
    assert_eq!(answer.connections.len(), 2, "{:?}", answer.notes);
    for connection in &answer.connections {
        assert!(
            connection.remote.contains(&local.ip().to_string()),
            "{connection:?}"
        );
        assert_eq!(
            connection.verdict.limit,
            Limit::ReceiverApplication,
            "{connection:?}"
        );
    }
    let mut text = Vec::new();
    why::text::write_answer(&answer, slowpath_report::Style::default(), &mut text).unwrap();
    assert!(!text.is_empty());
    let record = why::record(&spec.target.name(), &outcome, &answer);
    assert_eq!(record.origin, slowpath_record::Origin::Live);
    // Its record has one transfer, as its sending end saw it.
    let [transfer] = &record.transfers[..] else {
        panic!("{:?}", record.transfers)
    };
    assert!(transfer.name.contains(" -> "), "{transfer:?}");
    reads.join().unwrap();
    writer.join().unwrap();
}

/// A program at the far end that has stopped reading, long before anybody looks: nothing moves, and that is what is asked.
#[test]
fn a_transfer_that_stands_still_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let local = listener.local_addr().unwrap();
    let mut writer = TcpStream::connect(local).unwrap();
    let (reader, _) = listener.accept().unwrap();
    writer.set_nonblocking(true).unwrap();
    let begin = Instant::now();
    let mut newest = begin;
    while newest.elapsed() < Duration::from_millis(500) && begin.elapsed() < Duration::from_secs(20) {
        if writer.write(&[7; 16_384]).is_ok() {
            newest = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let spec = spec(Target::Port(local.port()), 2);
    let outcome = why::watch(&spec, &AtomicBool::new(false), &mut |_| ()).unwrap();
    let answer = why::answer(&spec.target, &outcome);
    assert_eq!(answer.connections.len(), 2, "both ends: {answer:?}");
    for connection in &answer.connections {
        assert_eq!(
            connection.verdict.limit,
            Limit::ReceiverApplication,
            "{connection:?}"
        );
        assert!(
            connection.verdict.sentence.starts_with("Nothing moves"),
            "{connection:?}"
        );
    }
    assert!(answer.notes.is_empty(), "{:?}", answer.notes);
    let listed = why::busiest(Duration::from_millis(200)).unwrap();
    let stands = |transfer: &&why::busiest::Transfer| {
        (transfer.local.port() == local.port() || transfer.remote.port() == local.port())
            && transfer.waiting_bytes > 0
    };
    assert_eq!(listed.iter().filter(stands).count(), 2, "{listed:?}");
    drop(reader);
}

#[test]
fn strange_cases_are_told() {
    let stop = AtomicBool::new(false);
    let run = |words: &[&str]| {
        let spec = spec(
            Target::Command(words.iter().map(|&word| word.to_owned()).collect()),
            5,
        );
        why::watch(&spec, &stop, &mut |_| {}).map(|outcome| {
            let code = outcome.status.and_then(|status| status.code());
            (why::answer(&spec.target, &outcome), code)
        })
    };
    let (answer, code) = run(&["false"]).unwrap();
    assert_eq!(code, Some(1));
    assert!(answer.connections.is_empty());
    assert!(answer.notes[0].contains("ended"), "{:?}", answer.notes);
    assert!(matches!(run(&["/no/such/program"]), Err(WhyError::Start { .. })));
    let gone = spec(Target::Process(0x7fff_fff0), 1);
    let error = why::watch(&gone, &stop, &mut |_| {}).map(|_| ()).unwrap_err();
    assert!(matches!(error, WhyError::NoProcess(_)), "{error}");
}

/// Not a test: a program in a network of its own that sends to itself for six seconds.
#[test]
#[ignore = "a role that another test starts as a process"]
fn role_of_a_container() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut reader, _) = listener.accept().unwrap();
    std::thread::spawn(move || while reader.read(&mut [0; 8_192]).is_ok_and(|count| count > 0) {});
    let end = Instant::now() + Duration::from_secs(6);
    while Instant::now() < end {
        stream.write_all(&vec![7; 32_768]).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A role in a network namespace of its own that this test makes; `None`, and said, where there cannot be one.
fn in_own_network(test: &str, role: &str) -> Option<Child> {
    let own = std::env::current_exe().unwrap();
    let inner = format!(
        "ip link set lo up && exec {} {role} --exact --ignored",
        own.display()
    );
    let child = Command::new("unshare")
        .args(["-rn", "sh", "-c", &inner])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: {test}: no unshare here");
        return None;
    };
    std::thread::sleep(Duration::from_millis(1_500));
    if child.try_wait().unwrap().is_some() {
        eprintln!("skipped: {test}: no network of its own can be made here");
        return None;
    }
    Some(child)
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn packets_are_captured_in_the_network_of_the_process() {
    let test = "packets_are_captured_in_the_network_of_the_process";
    let Some(child) = in_own_network(test, "role_of_a_container") else {
        return;
    };
    let spec = spec(Target::Process(child.id()), 2);
    let folder = slowpath_sys::private_folder::create(&std::env::temp_dir(), "attach").unwrap();
    let capture = CaptureSpec {
        file: folder.join("packets.pcapng"),
    };
    let outcome = why::watch_capturing(&spec, Some(&capture), &AtomicBool::new(false), &mut |_| {});
    end(child);
    let outcome = match outcome {
        Err(error @ (WhyError::OtherNamespace(..) | WhyError::NotPermitted(..) | WhyError::Capture(_))) => {
            eprintln!("skipped: {test}: {error}");
            std::fs::remove_dir_all(&folder).unwrap();
            return;
        }
        outcome => outcome.unwrap(),
    };
    let captured = outcome.captured.clone().unwrap();
    let mut reader = slowpath_capture::PacketReader::open(&captured.file).unwrap();
    let (mut packets, mut payload) = (0, 0);
    while let Some(record) = reader.next_record().unwrap() {
        if let slowpath_record::packets::Record::Tcp(packet) = record {
            packets += 1;
            payload += u64::from(packet.payload_len);
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    // The loopback shows packets twice; each is kept once.
    assert_eq!((packets, captured.lost), (captured.kept, 0));
    assert_eq!(reader.conversations().len(), 1);
    let sent = outcome
        .connections
        .iter()
        .map(|one| one.track.sent())
        .max()
        .unwrap();
    assert!(
        payload.abs_diff(sent) < sent / 10,
        "{payload} bytes in packets, {sent} by the kernel"
    );
}

/// Not a test: a program that speaks UDP, with or without a peer.
#[test]
#[ignore = "a role that another test starts as a process"]
fn role_of_datagrams_to_a_peer() {
    datagrams(true);
}

/// Not a test: the same.
#[test]
#[ignore = "a role that another test starts as a process"]
fn role_of_datagrams_to_anybody() {
    datagrams(false);
}

fn datagrams(connected: bool) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    if connected {
        socket.connect("127.0.0.1:443").unwrap();
    }
    let end = Instant::now() + Duration::from_secs(8);
    while Instant::now() < end {
        let _ = if connected {
            socket.send(&[7; 1_200])
        } else {
            socket.send_to(&[7; 1_200], "127.0.0.1:443")
        };
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_program_that_speaks_udp_is_said_to() {
    for (role, words) in [
        ("role_of_datagrams_to_a_peer", "probably QUIC"),
        ("role_of_datagrams_to_anybody", "may speak QUIC"),
    ] {
        let Some(child) = in_own_network("a_program_that_speaks_udp_is_said_to", role) else {
            return;
        };
        let spec = spec(Target::Process(child.id()), 1);
        let outcome = why::watch(&spec, &AtomicBool::new(false), &mut |_| {});
        end(child);
        match outcome {
            Err(error @ (WhyError::OtherNamespace(..) | WhyError::NotPermitted(..))) => {
                eprintln!("skipped: a_program_that_speaks_udp_is_said_to: {error}");
            }
            outcome => {
                let answer = why::answer(&spec.target, &outcome.unwrap());
                let notes = answer.notes.join("\n");
                assert!(answer.connections.is_empty() && notes.contains(words), "{notes}");
                assert!(notes.contains("moved no data over TCP"), "{notes}");
            }
        }
    }
}

#[test]
fn connections_that_end_between_two_looks_are_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let local = listener.local_addr().unwrap();
    let client = std::thread::spawn(move || {
        // By then new connections are looked for four times a second.
        std::thread::sleep(Duration::from_millis(2_300));
        for _ in 0..SHORT {
            let mut stream = TcpStream::connect(local).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            stream.write_all(&vec![7; 20_000]).unwrap();
            drop(stream);
            assert_eq!(server.read_to_end(&mut Vec::new()).unwrap(), 20_000);
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let spec = spec(Target::Port(local.port()), 5);
    let outcome = why::watch(&spec, &AtomicBool::new(false), &mut |_| {}).unwrap();
    client.join().unwrap();
    let (missed, bytes) = outcome.missed;
    // Each has two ends here, and few were there when somebody looked.
    assert!(missed + outcome.connections.len() <= 2 * SHORT, "{missed}");
    assert!(missed > SHORT / 2, "{missed}");
    // The kernel counts SYN and FIN of either end as a byte each.
    let most = 20_003 * missed as u64;
    assert!(bytes >= 20_000 * missed as u64 && bytes <= most, "{bytes}");
    let answer = why::answer(&spec.target, &outcome);
    assert!(
        answer.notes.iter().any(|note| note.contains("began and ended")),
        "{:?}",
        answer.notes
    );
}

#[test]
fn of_thousands_of_connections_the_busiest_are_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let local = listener.local_addr().unwrap();
    let mut idle = Vec::new();
    for _ in 0..THOUSANDS {
        let Ok(one) = TcpStream::connect(local) else { break };
        match listener.accept() {
            Ok((other, _)) => idle.push((one, other)),
            Err(_) => break,
        }
    }
    if idle.len() < THOUSANDS {
        eprintln!(
            "skipped: of_thousands_of_connections_the_busiest_are_followed: only {} connections may be open here",
            idle.len()
        );
        return;
    }
    let busy = std::thread::spawn(move || {
        // Long after the watch has chosen some that rest.
        std::thread::sleep(Duration::from_secs(1));
        let mut stream = TcpStream::connect(local).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let reader =
            std::thread::spawn(move || while server.read(&mut [0; 16_384]).is_ok_and(|count| count > 0) {});
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end {
            stream.write_all(&vec![7; 50_000]).unwrap();
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(stream);
        reader.join().unwrap();
    });
    let spec = spec(Target::Port(local.port()), 5);
    let outcome = why::watch(&spec, &AtomicBool::new(false), &mut |_| {}).unwrap();
    busy.join().unwrap();
    assert!(outcome.connections.len() <= 64, "{}", outcome.connections.len());
    assert!(
        outcome.not_followed > 2 * THOUSANDS - 64,
        "{}",
        outcome.not_followed
    );
    let answer = why::answer(&spec.target, &outcome);
    assert!(answer.connections[0].bytes > 1_000_000, "{:?}", answer.notes);
    assert!(
        answer.notes.iter().any(|note| note.contains("not followed")),
        "{:?}",
        answer.notes
    );
    println!(
        "{:.0} % of a processor",
        100.0 * outcome.own_processor_s / outcome.seconds
    );
    drop(idle);
}

/// Short connections of a test.
const SHORT: usize = 40;
/// Idle ones.
const THOUSANDS: usize = 5_000;

#[test]
fn a_process_in_a_network_of_its_own_is_watched_there() {
    let test = "a_process_in_a_network_of_its_own_is_watched_there";
    let Some(child) = in_own_network(test, "role_of_a_container") else {
        return;
    };
    // `unshare` and the shell become the program, so the number stays.
    let spec = spec(Target::Process(child.id()), 2);
    let outcome = why::watch(&spec, &AtomicBool::new(false), &mut |_| {});
    end(child);
    match outcome {
        Err(error @ (WhyError::OtherNamespace(..) | WhyError::NotPermitted(..))) => {
            eprintln!("skipped: {test}: {error}");
        }
        outcome => {
            let answer = why::answer(&spec.target, &outcome.unwrap());
            assert_eq!(answer.connections.len(), 2, "{:?}", answer.notes);
            let bytes = answer.connections[0].bytes;
            assert!(bytes > 500_000, "{answer:?}");
        }
    }
}

/// Not a test: a program that gets all of what the port in its environment sends, and reads it slowly at first.
#[test]
#[ignore = "a role that another test starts as a process"]
fn role_of_a_downloader() {
    let port: u16 = std::env::var("SLOWPATH_TEST_PORT").unwrap().parse().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut buffer = vec![0; 1_000_000];
    stream.write_all(b"?").unwrap();
    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What arrives before the first look, and what waits unread at the last one, is part of the transfer.
#[test]
fn every_byte_of_a_download_is_counted() {
    const BYTES: u64 = 20_000_000;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let sends = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0]).unwrap();
        stream.write_all(&vec![7; BYTES as usize]).unwrap();
    });
    let own = std::env::current_exe().unwrap().display().to_string();
    let words = [
        "env".to_owned(),
        format!("SLOWPATH_TEST_PORT={port}"),
        own,
        "role_of_a_downloader".to_owned(),
        "--exact".to_owned(),
        "--ignored".to_owned(),
    ];
    let spec = spec(Target::Command(words.to_vec()), 30);
    let outcome = why::watch(&spec, &AtomicBool::new(false), &mut |_| ()).unwrap();
    sends.join().unwrap();
    let answer = why::answer(&spec.target, &outcome);
    let main = answer.main_connection().expect("a connection");
    // The end of the stream counts as one byte for the kernel.
    assert!(main.bytes.abs_diff(BYTES) <= 1, "{} of {BYTES}", main.bytes);
    assert!(!main.bytes_at_least, "the end was seen");
}

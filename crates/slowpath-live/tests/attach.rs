//! `why` on living connections over loopback.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use slowpath_live::why::{self, Target, WatchSpec, WhyError};
use slowpath_verdict::Limit;

fn spec(target: Target, seconds: u64) -> WatchSpec {
    WatchSpec {
        target,
        duration: Some(Duration::from_secs(seconds)),
        output: Stdio::null,
        trial: None,
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
    assert_eq!(record.transfers.len(), 2);
    reads.join().unwrap();
    writer.join().unwrap();
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

#[test]
fn a_process_in_a_network_of_its_own_is_watched_there() {
    let test = "a_process_in_a_network_of_its_own_is_watched_there";
    let own = std::env::current_exe().unwrap();
    let inner = format!(
        "ip link set lo up && exec {} role_of_a_container --exact --ignored",
        own.display()
    );
    let child = Command::new("unshare")
        .args(["-rn", "sh", "-c", &inner])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: {test}: no unshare here");
        return;
    };
    std::thread::sleep(Duration::from_millis(1_500));
    if child.try_wait().unwrap().is_some() {
        eprintln!("skipped: {test}: no network of its own can be made here");
        return;
    }
    // `unshare` and the shell become the program, so the number stays.
    let spec = spec(Target::Process(child.id()), 2);
    let outcome = why::watch(&spec, &AtomicBool::new(false), &mut |_| {});
    child.kill().unwrap();
    child.wait().unwrap();
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

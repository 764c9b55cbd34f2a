//! `why` on living connections over loopback.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::process::Stdio;
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
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let writer = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
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

//! `why --try` on living connections over loopback: what was changed is given back, whatever ends the watch.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use slowpath_live::why::trial::result::TrialOutcome;
use slowpath_live::why::trial::{Trial, guardian};
use slowpath_live::why::{self, Target, TrialSpec, WatchSpec};
use slowpath_sys::{process_table, shared_socket, sock_diag::SockDiag, sockopt};

/// A watch takes every child of this process for its program's: one at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This test program as a child that does the work of one ignored test.
fn own(role: &str) -> Vec<OsString> {
    let mut words = vec![std::env::current_exe().unwrap().into_os_string()];
    words.extend([role, "--exact", "--ignored", "--nocapture"].map(OsString::from));
    words
}

fn spec(words: Vec<OsString>, changes: &[&str]) -> WatchSpec {
    WatchSpec {
        target: Target::Command(
            words
                .into_iter()
                .map(|word| word.into_string().unwrap())
                .collect(),
        ),
        duration: None,
        output: Stdio::null,
        part: None,
        trial: Some(TrialSpec {
            changes: changes.iter().map(|change| change.parse().unwrap()).collect(),
            guardian: own("role_of_a_guardian"),
        }),
    }
}

/// Not a test: the guardian.
#[test]
#[ignore = "a role that other tests start as a process"]
fn role_of_a_guardian() {
    guardian::guard(std::io::stdin()).unwrap();
}

/// Not a test: a program that sends 64 KiB every 10 ms for as long as `TRIAL_SECONDS` says.
#[test]
#[ignore = "a role that other tests start as a process"]
fn role_of_a_writer() {
    let Ok(port) = std::env::var("TRIAL_PORT") else {
        return;
    };
    let seconds: f64 = std::env::var("TRIAL_SECONDS").unwrap().parse().unwrap();
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    sockopt::set_congestion_control(&stream, "reno").unwrap();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end && stream.write_all(&vec![7; 65_536]).is_ok() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Not a test: `why` itself, to be killed.
#[test]
#[ignore = "a role that other tests start as a process"]
fn role_of_why() {
    if std::env::var("TRIAL_PORT").is_err() {
        return;
    }
    let spec = spec(own("role_of_a_writer"), &["congestion-control=cubic"]);
    why::watch(&spec, &AtomicBool::new(false), &mut |_| {}).unwrap();
}

/// A reader that takes everything; gives its port.
fn sink() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let mut buffer = vec![0; 1 << 16];
                while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
            });
        }
    });
    port
}

/// A descriptor of our own of the writer's socket, by the port that it is connected to.
fn reach(port: u16) -> OwnedFd {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let sockets = SockDiag::open().unwrap().tcp_sockets().unwrap();
        let found = sockets
            .iter()
            .find(|one| one.remote.port() == port && one.state == 1 && one.inode != 0);
        let holder = found.and_then(|socket| {
            let all = process_table::processes().unwrap();
            all.iter().find_map(|process| {
                let held = process_table::sockets(process.id).ok()?;
                let (number, _) = held.into_iter().find(|(_, inode)| *inode == socket.inode)?;
                let process = shared_socket::open_process(process.id).ok()?;
                shared_socket::duplicate_from(process, number).ok()
            })
        });
        if let Some(socket) = holder {
            return socket;
        }
        assert!(Instant::now() < end, "no connection to port {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the socket has that congestion control; gives whether it came to it.
fn comes_to(socket: &OwnedFd, name: &str, within: Duration) -> bool {
    let end = Instant::now() + within;
    while Instant::now() < end {
        if sockopt::congestion_control(socket).unwrap() == name {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

/// Whether the changes of these tests are permitted to this user.
fn able(test: &str) -> bool {
    let able = ["reno", "cubic"]
        .iter()
        .all(|name| why::trial::choice::may_choose(name).is_ok());
    if !able {
        eprintln!("skipped: {test}: reno and cubic may not both be chosen here");
    }
    able
}

/// A writer for so many seconds, with its arguments in its environment, since a watch starts plain commands.
fn writer(port: u16, seconds: f64) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![
        "env".into(),
        format!("TRIAL_PORT={port}").into(),
        format!("TRIAL_SECONDS={seconds}").into(),
    ];
    words.extend(own("role_of_a_writer"));
    words
}

fn trials(spec: &WatchSpec) -> Vec<Trial> {
    why::watch(spec, &AtomicBool::new(false), &mut |_| {})
        .unwrap()
        .trials
}

#[test]
fn an_interrupt_gives_back_what_was_changed() {
    let _alone = alone();
    if !able("an_interrupt_gives_back_what_was_changed") {
        return;
    }
    let port = sink();
    let spec = spec(writer(port, 8.0), &["congestion-control=cubic"]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| why::watch(&spec, &stop, &mut |_| {}).unwrap());
        let socket = reach(port);
        assert!(
            comes_to(&socket, "cubic", Duration::from_secs(8)),
            "the change is made"
        );
        stop.store(true, Ordering::Relaxed);
        assert!(
            comes_to(&socket, "reno", Duration::from_secs(2)),
            "and given back"
        );
        drop(socket);
        let outcome = watch.join().unwrap();
        assert!(
            outcome.status.unwrap().success(),
            "the program goes on to its end"
        );
        let [trial] = &outcome.trials[..] else {
            panic!("{:?}", outcome.trials)
        };
        assert_eq!(trial.outcome, TrialOutcome::CannotTell);
        assert!(
            trial.sentence.contains("it was interrupted after 1 block"),
            "{trial:?}"
        );
    });
}

#[test]
fn the_guardian_gives_back_after_a_kill() {
    let _alone = alone();
    if !able("the_guardian_gives_back_after_a_kill") {
        return;
    }
    let port = sink();
    let why = own("role_of_why");
    let mut why = Command::new(&why[0])
        .args(&why[1..])
        .env("TRIAL_PORT", port.to_string())
        .env("TRIAL_SECONDS", "12")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let socket = reach(port);
    assert!(
        comes_to(&socket, "cubic", Duration::from_secs(8)),
        "the change is made"
    );
    why.kill().unwrap();
    why.wait().unwrap();
    let given_back = Instant::now();
    assert!(
        comes_to(&socket, "reno", Duration::from_secs(2)),
        "and given back"
    );
    eprintln!("given back {:?} after the kill", given_back.elapsed());
}

#[test]
fn a_change_to_what_is_there_shows_no_difference() {
    let _alone = alone();
    if !able("a_change_to_what_is_there_shows_no_difference") {
        return;
    }
    // One claim in twenty is to be expected: two of three would be a fault.
    let port = sink();
    let mut claims = Vec::new();
    for _ in 0..3 {
        let found = trials(&spec(writer(port, 17.0), &["congestion-control=reno"]));
        let effect = found[0].effect.unwrap_or_else(|| panic!("{found:?}"));
        assert!((effect.ratio - 1.0).abs() < 0.3, "{found:?}");
        if found[0].outcome == TrialOutcome::NotShown {
            if claims.is_empty() {
                return;
            }
        } else {
            claims.push(found);
        }
    }
    assert!(claims.len() < 2, "trials of nothing claim an effect: {claims:#?}");
}

#[test]
fn what_cannot_be_tried_is_said() {
    let _alone = alone();
    let sentence = |words: Vec<OsString>, changes: &[&str]| {
        let found = trials(&spec(words, changes));
        assert!(found.iter().all(|one| one.effect.is_none()), "{found:?}");
        found
            .iter()
            .map(|one| one.sentence.clone())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let none = sentence(["sleep", "0.3"].map(OsString::from).to_vec(), &["mark=cs1"]);
    assert!(
        none.contains("not tried: the transfer ended before it had moved data for 1.5 s"),
        "{none}"
    );
    let unnamed = sentence(["true"].map(OsString::from).to_vec(), &[]);
    assert!(unnamed.contains("Nothing was tried"), "{unnamed}");
    let several = sentence(
        writer(sink(), 3.6),
        &["receive-buffer=1 MiB", "congestion-control=nosuch", "mark=cs1"],
    );
    assert!(several.contains("the receiver's to choose"), "{several}");
    assert!(several.contains("no congestion control nosuch"), "{several}");
    assert!(
        several.contains("cannot tell: the transfer ended after"),
        "{several}"
    );
    let paced = sentence(writer(sink(), 4.0), &[]);
    assert!(
        paced.contains("Nothing was tried") || paced.contains("cannot tell"),
        "{paced}"
    );
}

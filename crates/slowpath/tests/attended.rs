//! An unattended watch on transfers over loopback: what is usual is learned, what is below it is told and kept.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use slowpath::attended::{Kept, Place};
use slowpath::why::Target;
use slowpath::why::attend::{AttendSpec, Event, attend};
use slowpath::why::baseline::Baselines;

/// Sends at so many bytes per second for so long, over a new connection; returns once the reader has it.
fn transfer(port: u16, rate: f64, seconds: f64) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    slowpath_sys::sockopt::set_congestion_control(stream.as_fd(), "reno").ok();
    let (begin, mut sent) = (Instant::now(), 0.0);
    let chunk = vec![7; 32_768];
    while begin.elapsed().as_secs_f64() < seconds {
        while sent < begin.elapsed().as_secs_f64() * rate {
            stream.write_all(&chunk).unwrap();
            sent += chunk.len() as f64;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn sink() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut buffer = vec![0; 1 << 16];
            while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
        }
    });
    port
}

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_job_that_is_slower_than_usual_is_told_kept_and_compared() {
    let scratch =
        Scratch(std::env::temp_dir().join(format!("slowpath-test-attended-{}", std::process::id())));
    let kept = Kept::open(&scratch.0).unwrap();
    let port = sink();
    let spec = AttendSpec {
        target: Some(Target::Port(port)),
        duration: None,
        quiet: 1_500_000_000,
    };
    let stop = AtomicBool::new(false);
    let heard: Mutex<Vec<(String, bool, Place)>> = Mutex::new(Vec::new());
    let to = format!("to 127.0.0.1:{port}");
    // Runs of this job that are over so far, slow or not.
    let over = || -> Vec<(bool, Place)> {
        let heard = heard.lock().unwrap();
        heard
            .iter()
            .filter(|(job, ..)| job.ends_with(&to))
            .map(|(_, slow, place)| (*slow, place.clone()))
            .collect()
    };
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut baselines = kept.baselines().unwrap();
            attend(
                &spec,
                &mut baselines,
                &stop,
                &mut |event, baselines: &Baselines| {
                    if let Event::Over(over) = event {
                        kept.write_baselines(baselines).unwrap();
                        let place = kept.add(&over, SystemTime::now()).unwrap();
                        heard
                            .lock()
                            .unwrap()
                            .push((over.told.job.clone(), over.slow, place));
                    }
                },
            )
        });
        std::thread::sleep(Duration::from_millis(1_500));
        for (run, rate) in [20e6, 20e6, 20e6, 4e6].into_iter().enumerate() {
            transfer(port, rate, 3.0);
            let end = Instant::now() + Duration::from_secs(20);
            while over().len() <= run {
                assert!(
                    Instant::now() < end,
                    "run {run} is over: {:?}",
                    heard.lock().unwrap()
                );
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        stop.store(true, Ordering::Relaxed);
        watch.join().unwrap().unwrap();
    });
    let over = over();
    let slow: Vec<bool> = over.iter().map(|(slow, _)| *slow).collect();
    assert_eq!(slow, [false, false, false, true]);
    let place = &over[3].1;
    let usual = place.usual.as_ref().expect("a run to compare with");
    // What a run as usual leaves is bounded.
    assert!(!over[0].1.folder.exists() && usual.exists() && place.folder.exists());
    let comparison = slowpath::report::compare(usual, &place.folder).unwrap();
    let [variant] = &comparison.variants[..] else {
        panic!("{comparison:?}")
    };
    assert!(variant.name.ends_with(&to));
    assert!(
        variant.sentence.contains("Ledger: sender-application holds for"),
        "{variant:?}"
    );
    let again = kept.baselines().unwrap();
    let known = again.jobs.iter().find(|(job, _)| job.ends_with(&to)).unwrap().1;
    assert_eq!(known.byte_per_s.len(), 4);
    assert!(known.expected().unwrap().usual > 10e6);
}

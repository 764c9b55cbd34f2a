//! FTP: the built-in client and server with each other and with the real programs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::content::write_test_file;
use slowpath_workload::drain::Drain;
use slowpath_workload::external::curl::CurlFtp;
use slowpath_workload::external::vsftpd::Vsftpd;
use slowpath_workload::external::{Program, find_program};
use slowpath_workload::ftp::{
    ClientConfig, Direction, Files, FtpError, Mode, Server, ServerConfig, SyntheticFile, transfer,
};
use slowpath_workload::payload::{Sink, Source};
use slowpath_workload::{Cancel, Context, Permission, Refused, SocketOptions, Stop};

/// cubic, or reno for a user who may not choose cubic.
fn pinned() -> &'static str {
    let socket = slowpath_sys::message::tcp_socket(false).unwrap();
    if slowpath_sys::sockopt::set_congestion_control(&socket, "cubic").is_ok() {
        "cubic"
    } else {
        "reno"
    }
}

const SEED: u64 = 7;

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn loopback_v6() -> Option<SocketAddr> {
    let address: SocketAddr = "[::1]:0".parse().unwrap();
    std::net::TcpListener::bind(address).ok().map(|_| address)
}

fn cubic() -> SocketOptions {
    SocketOptions {
        congestion_control: Some(pinned().to_owned()),
        ..SocketOptions::default()
    }
}

fn context() -> Context {
    Context::new().with_timeout(Duration::from_secs(60))
}

fn server(at: SocketAddr, size: u64, context: &Context) -> Server {
    let mut config = ServerConfig::synthetic(at, "test.bin", ByteCount::new(size), SEED);
    config.data = cubic();
    Server::start(config, context).unwrap()
}

fn get(server: &Server, mode: Mode) -> ClientConfig {
    let sink = Sink::Verify(SEED);
    let mut config = ClientConfig::new(server.address(), "test.bin", Direction::Get { sink, drain: None });
    config.mode = mode;
    config.data = cubic();
    config
}

fn put(server: &Server, mode: Mode, size: u64) -> ClientConfig {
    let source = Source::Synthetic {
        size: ByteCount::new(size),
        seed: SEED,
    };
    let mut config = ClientConfig::new(server.address(), "up.bin", Direction::Put { source });
    config.mode = mode;
    config
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("slowpath-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A program that ends with the test.
struct Running(Child);

impl Running {
    fn start(program: &Program, context: &Context) -> Self {
        program.write_files().unwrap();
        let child = program
            .command()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let running = Self(child);
        program.wait(Duration::from_secs(10), context).unwrap();
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn skip(test: &str, why: &str) {
    eprintln!("skipped: {test}: {why}");
}

fn free_port() -> u16 {
    std::net::TcpListener::bind(loopback())
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

#[test]
fn every_mode_and_direction_moves_every_byte() {
    let context = context();
    let size = 3_000_001;
    let mut cases = vec![
        (loopback(), Mode::Passive),
        (loopback(), Mode::ExtendedPassive),
        (loopback(), Mode::Active),
        (loopback(), Mode::ExtendedActive),
    ];
    if let Some(v6) = loopback_v6() {
        cases.extend([(v6, Mode::ExtendedPassive), (v6, Mode::ExtendedActive)]);
    } else {
        skip(
            "every_mode_and_direction_moves_every_byte/ipv6",
            "no IPv6 loopback",
        );
    }
    for (at, mode) in cases {
        let server = server(at, size, &context);
        let got = transfer(&get(&server, mode), &context).unwrap();
        assert!(got.transfer.complete, "{mode:?} {at}: {:?}", got.transfer.error);
        assert_eq!(got.transfer.bytes, size, "{mode:?} {at}");
        assert!(got.transfer.end > got.transfer.start);
        let put = transfer(&put(&server, mode, size), &context).unwrap();
        assert!(put.transfer.complete, "{mode:?} {at}: {:?}", put.transfer.error);
        assert_eq!(put.transfer.bytes, size);

        let data = &got.connections[1];
        assert_eq!(
            (data.name.as_str(), data.facts.congestion_control.as_str()),
            ("data", pinned())
        );
        assert!(data.samples.len() >= 2);
        // The FIN counts as one byte.
        assert!(
            (size..=size + 1).contains(&data.last().unwrap().bytes_received),
            "{data:?}"
        );
        assert!(
            data.series("client/data")
                .iter()
                .all(|series| series.points.len() == data.samples.len())
        );

        let seen = server.stop();
        let names: Vec<_> = seen.iter().map(|seen| seen.transfer.name.as_str()).collect();
        assert_eq!(names, ["RETR test.bin", "STOR up.bin"]);
        assert!(
            seen.iter()
                .all(|seen| seen.transfer.complete && seen.transfer.bytes == size)
        );
        assert!(seen[0].connection.as_ref().unwrap().last().unwrap().bytes_sent >= size);
    }
}

#[test]
fn a_slow_reader_sets_the_rate_and_the_end() {
    let context = context();
    let server = server(loopback(), 100_000, &context);
    let mut config = get(&server, Mode::Passive);
    let rate = BitRate::new(1_600_000);
    let drain = Drain {
        unit: ByteCount::new(16_384),
        rate,
        read_ahead: 0,
    };
    config.direction = Direction::Get {
        sink: Sink::Verify(SEED),
        drain: Some(drain),
    };
    config.data.receive_buffer = Some(ByteCount::new(16_384));
    let report = transfer(&config, &context).unwrap();
    assert!(report.transfer.complete, "{:?}", report.transfer.error);
    // 100,000 bytes at 200 kB/s take half a second, with the last, shorter unit.
    assert!(
        report.transfer.duration() >= Duration::from_millis(500),
        "{}",
        report.transfer.duration()
    );
    assert_eq!(report.connections[1].facts.receive_buffer, 32_768);
}

#[test]
fn deadline_and_cancel_end_a_transfer_with_a_reason() {
    let context = context();
    let server = server(loopback(), 1 << 30, &context);
    let rate = BitRate::new(80_000);
    let slow = |context: &Context| {
        let mut config = get(&server, Mode::Passive);
        let drain = Drain {
            unit: ByteCount::new(65_536),
            rate,
            read_ahead: 0,
        };
        config.direction = Direction::Get {
            sink: Sink::Discard,
            drain: Some(drain),
        };
        transfer(&config, context).unwrap()
    };
    let report = slow(&Context::new().with_timeout(Duration::from_millis(300)));
    assert!(!report.transfer.complete);
    assert!(
        report.transfer.error.as_deref().unwrap().contains("deadline"),
        "{:?}",
        report.transfer.error
    );

    let cancel = Cancel::new();
    let cancelled = Context::new().with_cancel(cancel.clone());
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            cancel.cancel();
        });
        slow(&cancelled)
    });
    assert!(
        report.transfer.error.as_deref().unwrap().contains("cancelled"),
        "{:?}",
        report.transfer.error
    );
    assert!(report.transfer.bytes > 0);
}

#[test]
fn load_on_other_machines_is_refused() {
    let direction = Direction::Get {
        sink: Sink::Discard,
        drain: None,
    };
    let config = ClientConfig::new("192.0.2.1:21".parse().unwrap(), "x", direction);
    let error = transfer(&config, &Context::new()).unwrap_err();
    assert!(matches!(error, FtpError::Refused(Refused::Flag(_))), "{error}");
    let capped = Permission::Remote {
        bytes: ByteCount::new(1),
        rate: BitRate::new(1),
    };
    let error = transfer(&config, &Context::new().with_permission(capped)).unwrap_err();
    assert!(
        matches!(error, FtpError::Refused(Refused::Deadline(_))),
        "{error}"
    );
}

#[test]
fn refusals_name_command_and_answer() {
    let context = context();
    let server = server(loopback(), 1, &context);
    let mut config = get(&server, Mode::Passive);
    config.path = "missing.bin".to_owned();
    let error = transfer(&config, &context).unwrap_err().to_string();
    assert_eq!(
        error,
        "the FTP server answered 550 no such file to RETR missing.bin"
    );
    drop(server);
    let silent = std::net::TcpListener::bind(loopback()).unwrap();
    config.server = silent.local_addr().unwrap();
    let short = Context::new().with_timeout(Duration::from_millis(200));
    let error = transfer(&config, &short).unwrap_err();
    assert_eq!(error.stop(), Some(Stop::Deadline), "{error}");
}

#[test]
fn a_folder_is_served_and_written() {
    let context = context();
    let folder = Folder::new("ftp-folder");
    let file = folder.0.join("disk.bin");
    write_test_file(&file, ByteCount::new(100_003), SEED).unwrap();
    let mut config = ServerConfig::synthetic(loopback(), "", ByteCount::ZERO, 0);
    config.files = Files::Folder {
        path: folder.0.clone(),
        writable: true,
    };
    let server = Server::start(config, &context).unwrap();
    let mut down = get(&server, Mode::Passive);
    down.path = "disk.bin".to_owned();
    let report = transfer(&down, &context).unwrap();
    assert_eq!((report.transfer.bytes, report.transfer.error), (100_003, None));
    let mut up = ClientConfig::new(
        server.address(),
        "copy.bin",
        Direction::Put {
            source: Source::File(file.clone()),
        },
    );
    up.mode = Mode::ExtendedPassive;
    assert!(transfer(&up, &context).unwrap().transfer.complete);
    drop(server);
    assert_eq!(
        std::fs::read(&file).unwrap(),
        std::fs::read(folder.0.join("copy.bin")).unwrap()
    );
}

#[test]
fn a_hostile_client_disturbs_nobody() {
    use std::io::{Read, Write};
    let context = context();
    let mut config = ServerConfig::synthetic(loopback(), "test.bin", ByteCount::new(1000), SEED);
    config.max_sessions = 4;
    config.idle = Duration::from_millis(500);
    config.files = Files::Synthetic(vec![SyntheticFile {
        name: "test.bin".to_owned(),
        size: ByteCount::new(1000),
        seed: SEED,
    }]);
    let server = Server::start(config, &context).unwrap();
    // A line without end.
    let mut endless = std::net::TcpStream::connect(server.address()).unwrap();
    let _ = endless.write_all(&vec![b'A'; 100_000]);
    let mut answer = String::new();
    endless
        .set_read_timeout(Some(std::time::Duration::from_secs(5)))
        .unwrap();
    let _ = endless.read_to_string(&mut answer);
    assert!(answer.contains("500 line too long"), "{answer}");
    // A bounce to a third party and other nonsense.
    let mut bounce = std::net::TcpStream::connect(server.address()).unwrap();
    bounce
        .write_all(
            b"USER x\r\nPASS y\r\nPORT 192,0,2,1,0,80\r\nEPRT ||||\r\n\xff\xfe\r\nRETR test.bin\r\nQUIT\r\n",
        )
        .unwrap();
    let mut answer = String::new();
    bounce.read_to_string(&mut answer).unwrap();
    let codes: Vec<_> = answer.lines().map(|line| &line[..3]).collect();
    assert_eq!(codes, ["220", "331", "230", "504", "501", "502", "425", "221"]);
    // Many half-open sessions are turned away or time out, and then a real client is served.
    let many: Vec<_> = (0..50)
        .map(|_| std::net::TcpStream::connect(server.address()).unwrap())
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let report = transfer(&get(&server, Mode::Passive), &context).unwrap();
    assert!(report.transfer.complete, "{:?}", report.transfer.error);
    drop(many);
}

#[test]
fn vsftpd_serves_the_built_in_client() {
    let context = context();
    let folder = Folder::new("vsftpd");
    let (root, work) = (folder.0.join("root"), folder.0.join("work"));
    std::fs::create_dir_all(root.join("up")).unwrap();
    std::fs::create_dir_all(&work).unwrap();
    write_test_file(&root.join("test.bin"), ByteCount::new(1 << 20), SEED).unwrap();
    let listen = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let Some(program) = (Vsftpd {
        listen,
        root,
        work,
        writable: true,
    })
    .program() else {
        return skip("vsftpd_serves_the_built_in_client", "vsftpd is not installed");
    };
    let _running = Running::start(&program, &context);
    for mode in [
        Mode::Passive,
        Mode::ExtendedPassive,
        Mode::Active,
        Mode::ExtendedActive,
    ] {
        let direction = Direction::Get {
            sink: Sink::Verify(SEED),
            drain: None,
        };
        let mut config = ClientConfig::new(listen, "test.bin", direction);
        config.mode = mode;
        let report = transfer(&config, &context).unwrap();
        assert_eq!(
            (report.transfer.bytes, &report.transfer.error),
            (1 << 20, &None),
            "{mode:?}"
        );
        let source = Source::Synthetic {
            size: ByteCount::new(1 << 20),
            seed: SEED,
        };
        let path = format!("up/{mode:?}.bin");
        let mut config = ClientConfig::new(listen, &path, Direction::Put { source });
        config.mode = mode;
        let report = transfer(&config, &context).unwrap();
        assert_eq!(
            (report.transfer.bytes, &report.transfer.error),
            (1 << 20, &None),
            "{mode:?}"
        );
    }
}

#[test]
fn curl_reads_from_and_writes_to_the_built_in_server() {
    if find_program("curl", &[]).is_none() {
        return skip(
            "curl_reads_from_and_writes_to_the_built_in_server",
            "curl is not installed",
        );
    }
    let context = context();
    let folder = Folder::new("curl");
    let file = folder.0.join("up.bin");
    write_test_file(&file, ByteCount::new(500_000), SEED).unwrap();
    let server = server(loopback(), 2_000_000, &context);
    for (active, extended) in [(false, true), (false, false), (true, true), (true, false)] {
        for upload in [None, Some(file.clone())] {
            let expected = if upload.is_some() { 500_000 } else { 2_000_000 };
            let curl = CurlFtp {
                server: server.address(),
                path: if upload.is_some() { "up.bin" } else { "test.bin" }.to_owned(),
                upload,
                active,
                extended,
                within: Duration::from_secs(20),
            };
            let start = context.now();
            let output = curl.program().unwrap().command().output().unwrap();
            let (out, err) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            let result = curl.result(start, &out, &err, output.status.success());
            assert_eq!(
                (result.bytes, &result.error),
                (expected, &None),
                "{curl:?} {out} {err}"
            );
            assert!(result.complete);
        }
    }
}

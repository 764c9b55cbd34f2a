//! S3: the client against the endpoint in memory, and against a real one where there is one.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};

/// cubic, or reno for a user who may not choose cubic.
fn pinned() -> &'static str {
    let socket = slowpath_sys::message::tcp_socket(false).unwrap();
    if slowpath_sys::sockopt::set_congestion_control(&socket, "cubic").is_ok() {
        "cubic"
    } else {
        "reno"
    }
}

use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::content::Content;
use slowpath_workload::external::object_store::{ObjectStore, StoreProgram};
use slowpath_workload::s3::{
    Authorities, Client, ClientTls, Credentials, Endpoint, LoadConfig, MemoryServer, Operation, PayloadHash,
    S3Error, ServerConfig, ServerTls, run,
};
use slowpath_workload::{Context, Permission, SocketOptions};

fn credentials() -> Credentials {
    Credentials {
        access_key: "test".to_owned(),
        secret_key: "secret/with+signs".to_owned(),
        region: "us-east-1".to_owned(),
    }
}

fn context() -> Context {
    Context::new().with_timeout(Duration::from_secs(60))
}

fn server(change: impl FnOnce(&mut ServerConfig), context: &Context) -> MemoryServer {
    let mut config = ServerConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)), Some(credentials()));
    change(&mut config);
    MemoryServer::start(config, context).unwrap()
}

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint {
        address,
        host: None,
        bucket: "bucket".to_owned(),
        credentials: credentials(),
        payload_hash: PayloadHash::Unsigned,
        tls: None,
        socket: SocketOptions {
            congestion_control: Some(pinned().to_owned()),
            no_delay: true,
            ..SocketOptions::default()
        },
    }
}

fn load(address: SocketAddr, operation: Operation) -> LoadConfig {
    LoadConfig {
        endpoint: endpoint(address),
        operation,
        prefix: "object ü/".to_owned(),
        object_size: ByteCount::new(300_000),
        part_size: None,
        requests: 12,
        concurrency: 4,
        fixed_shares: false,
        verify: true,
        seed: 3,
        sample_every: Duration::from_millis(10),
    }
}

#[test]
fn fixed_shares_leave_a_remainder_out() {
    let context = context();
    let server = server(|_| {}, &context);
    let mut put = load(server.address(), Operation::Put);
    (put.requests, put.fixed_shares) = (14, true);
    let report = run(&put, &context).unwrap();
    assert_eq!((report.requests.len(), report.failures()), (12, 0));
    for worker in 0..4 {
        let mut own: Vec<u32> = (report.requests.iter())
            .filter(|request| request.worker == worker)
            .map(|request| request.object)
            .collect();
        own.sort_unstable();
        assert_eq!(own, [worker * 3, worker * 3 + 1, worker * 3 + 2]);
    }
}

#[test]
fn objects_come_back_as_they_were_stored() {
    let context = context();
    for hash in [PayloadHash::Unsigned, PayloadHash::Sha256] {
        for part_size in [None, Some(ByteCount::new(70_000))] {
            let server = server(|_| {}, &context);
            let mut put = load(server.address(), Operation::Put);
            (put.endpoint.payload_hash, put.part_size) = (hash, part_size);
            let report = run(&put, &context).unwrap();
            assert_eq!(report.failures(), 0, "{:?}", report.requests);
            assert_eq!(report.bytes(), 12 * 300_000);
            assert_eq!(server.objects().len(), 12);
            assert!(server.objects().iter().all(|(_, size)| *size == 300_000));

            let mut get = put.clone();
            get.operation = Operation::Get;
            let report = run(&get, &context).unwrap();
            assert_eq!(report.failures(), 0, "{:?}", report.requests);
            assert_eq!(report.bytes(), 12 * 300_000);
            let requests = if part_size.is_some() { 12 * 5 } else { 12 };
            assert_eq!(report.requests.len(), requests);
            // One connection for each worker, all of them known.
            assert!(
                (1..=4).contains(&report.connections.len()),
                "{}",
                report.connections.len()
            );
            let received: u64 = report
                .connections
                .iter()
                .map(|log| log.last().unwrap().bytes_received)
                .sum();
            assert!(received >= report.bytes());
            assert!(report.byte_per_s() > 0.0 && report.requests_per_s() > 0.0);
            assert!(report.first_byte_quantile(0.5) <= report.latency_quantile(0.99));
            assert_eq!(
                report.workers().iter().map(|(bytes, _)| bytes).sum::<u64>(),
                report.bytes()
            );
        }
    }
}

#[test]
fn uploads_without_all_parts_leave_none_behind() {
    let context = context();
    // Three parts fit, one object of two and half of another, and the list that completes it.
    let server = server(|config| config.capacity = 350_000, &context);
    let mut put = load(server.address(), Operation::Put);
    put.object_size = ByteCount::new(200_000);
    (put.part_size, put.requests, put.concurrency) = (Some(ByteCount::new(100_000)), 2, 1);
    let report = run(&put, &context).unwrap();
    assert_eq!(report.failures(), 1, "{:?}", report.requests);
    assert_eq!(server.objects().len(), 1);
    let mut third = load(server.address(), Operation::Put);
    (third.object_size, third.requests) = (ByteCount::new(100_000), 1);
    third.prefix = "room again/".to_owned();
    let report = run(&third, &context).unwrap();
    assert_eq!(report.failures(), 0, "{:?}", report.requests);
}

#[test]
fn a_used_up_cap_ends_the_load_and_not_just_a_request() {
    let context = context();
    let server = server(|_| {}, &context);
    let capped = Context::new()
        .with_timeout(Duration::from_secs(60))
        .with_permission(Permission::Remote {
            bytes: ByteCount::new(500_000),
            rate: BitRate::new(1_000_000_000),
        });
    let mut put = load(server.address(), Operation::Put);
    (put.requests, put.concurrency) = (40, 1);
    let report = run(&put, &capped).unwrap();
    assert_eq!(report.failures(), 39, "{:?}", report.requests);
    // One object, and what one more had sent when the cap was reached.
    assert!(capped.spent() < 600_000, "{}", capped.spent());
}

#[test]
fn wrong_keys_and_missing_objects_are_failures() {
    let context = context();
    let server = server(|_| {}, &context);
    let mut wrong = endpoint(server.address());
    wrong.credentials.secret_key.push('x');
    let error = Client::new(&wrong, &context)
        .put("x", Content::new(1), 10)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the object store answered 403 to PUT x: SignatureDoesNotMatch"
    );
    let report = run(&load(server.address(), Operation::Get), &context).unwrap();
    assert_eq!((report.failures(), report.bytes()), (12, 0));
    assert!(report.transfer("get").error.unwrap().contains("404"));
    let mut store = endpoint(server.address());
    let mut client = Client::new(&store, &context);
    client.create_bucket().unwrap();
    client.put("x", Content::new(1), 1000).unwrap();
    assert!(matches!(
        client.get("x", None, Some(Content::new(2))),
        Err(S3Error::Corrupt(0))
    ));
    client.delete("x").unwrap();
    store.bucket = "other".to_owned();
    assert!(server.objects().is_empty());
}

#[test]
fn a_slow_and_closing_server_shows_in_the_figures() {
    let context = context();
    let server = server(
        |config| {
            config.think = Duration::from_millis(30);
            config.close = true;
        },
        &context,
    );
    let mut put = load(server.address(), Operation::Put);
    (put.requests, put.concurrency) = (6, 2);
    let report = run(&put, &context).unwrap();
    assert_eq!(report.failures(), 0, "{:?}", report.requests);
    assert_eq!(report.connections.len(), 6);
    assert!(report.first_byte_quantile(0.0).unwrap() >= Duration::from_millis(30));
    // Three rounds of two requests take at least 90 ms.
    assert!(report.end.since(report.start) >= Duration::from_millis(90));
}

#[test]
fn a_full_store_and_nonsense_do_not_stop_the_server() {
    use std::io::{Read, Write};
    let context = context();
    let server = server(|config| config.capacity = 500_000, &context);
    let mut put = load(server.address(), Operation::Put);
    (put.requests, put.concurrency) = (3, 1);
    let report = run(&put, &context).unwrap();
    assert_eq!(report.failures(), 2, "{:?}", report.requests);
    for text in [
        &b"GET\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01",
        b"PUT /a/b HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\nx",
    ] {
        let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
        stream.write_all(text).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
    }
    let store = endpoint(server.address());
    let mut client = Client::new(&store, &context);
    assert_eq!(
        client
            .get("object ü/000000", Some((100, 50)), Some(Content::new(3)))
            .unwrap()
            .0,
        50
    );
}

/// A real store on loopback, ended with the value; its objects go with it.
struct Real {
    running: Child,
    address: SocketAddr,
    root: PathBuf,
}

impl Real {
    /// `None` where the program is not installed.
    fn start(program: StoreProgram) -> Option<Self> {
        let listen = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap()
            .local_addr()
            .unwrap();
        let name = format!("slowpath-{}-{}", program.name(), std::process::id());
        let root = std::env::temp_dir().join(name);
        let store = ObjectStore {
            program,
            listen,
            root: root.clone(),
            credentials: credentials(),
        };
        let described = store.program()?;
        std::fs::create_dir_all(&root).unwrap();
        let mut started = Self {
            running: described.command().stdout(Stdio::null()).spawn().unwrap(),
            address: listen,
            root,
        };
        for _ in 0..200 {
            if TcpStream::connect(listen).is_ok() {
                return Some(started);
            }
            let ended = started.running.try_wait().unwrap();
            assert_eq!(ended, None, "{} ended", program.name());
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{} did not listen on {listen} within 10 s", program.name());
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.running.kill();
        let _ = self.running.wait();
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// Whole objects and parts, up and down, and a wrong key, with a real store where it is installed.
fn takes_and_gives(test: &str, program: StoreProgram) {
    let Some(store) = Real::start(program) else {
        let (name, install) = (program.name(), program.install());
        eprintln!("skipped: {test}: {name} is not installed ({install})");
        return;
    };
    let context = context();
    for part_size in [None, Some(ByteCount::new(5 << 20))] {
        let mut config = load(store.address, Operation::Put);
        (config.object_size, config.part_size, config.requests) = (ByteCount::new(12 << 20), part_size, 4);
        Client::new(&config.endpoint, &context).create_bucket().unwrap();
        let report = run(&config, &context).unwrap();
        assert_eq!(report.failures(), 0, "{:?}", report.requests);
        config.operation = Operation::Get;
        let report = run(&config, &context).unwrap();
        assert_eq!(report.failures(), 0, "{:?}", report.requests);
        assert_eq!(report.bytes(), 4 * (12 << 20));
        let parts = if part_size.is_some() { 3 } else { 1 };
        assert_eq!(report.requests.len(), 4 * parts);
    }
    let mut wrong = endpoint(store.address);
    wrong.credentials.secret_key.push('x');
    let refused = Client::new(&wrong, &context).put("x", Content::new(1), 10);
    assert!(
        matches!(refused, Err(S3Error::Status { status: 403, .. })),
        "{refused:?}"
    );
}

#[test]
fn versitygw_takes_and_gives() {
    takes_and_gives("versitygw_takes_and_gives", StoreProgram::Versitygw);
}

#[test]
fn s3s_fs_takes_and_gives() {
    takes_and_gives("s3s_fs_takes_and_gives", StoreProgram::S3sFs);
}

/// A certificate for `name` with its key, and the settings of an endpoint that has them.
fn certificate(name: &str) -> (String, ServerTls) {
    let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let pem = made.cert.pem();
    let tls = ServerTls::from_pem(pem.as_bytes(), made.signing_key.serialize_pem().as_bytes()).unwrap();
    (pem, tls)
}

#[test]
fn objects_come_back_over_tls() {
    let context = context();
    let (pem, tls) = certificate("127.0.0.1");
    let server = server(|config| config.tls = Some(tls), &context);
    let authorities = Authorities::Pem(pem.into_bytes());
    for part_size in [None, Some(ByteCount::new(70_000))] {
        for operation in [Operation::Put, Operation::Get] {
            let mut config = load(server.address(), operation);
            config.part_size = part_size;
            config.endpoint.tls = Some(ClientTls::new("127.0.0.1", &authorities).unwrap());
            let report = run(&config, &context).unwrap();
            assert_eq!(
                (report.failures(), report.bytes()),
                (0, 12 * 300_000),
                "{:?}",
                report.requests
            );
            // The connection carries more than the content: it is encrypted.
            let carried: u64 = report
                .connections
                .iter()
                .filter_map(|log| log.last())
                .map(|last| last.bytes_acked.max(last.bytes_received))
                .sum();
            assert!(carried > report.bytes(), "{carried}");
        }
    }
}

#[test]
fn certificates_that_do_not_fit_are_refused() {
    let context = context();
    let (pem, tls) = certificate("127.0.0.1");
    let (other, _) = certificate("127.0.0.1");
    let (elsewhere, tls_elsewhere) = certificate("store.example");
    let own = server(|config| config.tls = Some(tls), &context);
    let wrong_name = server(|config| config.tls = Some(tls_elsewhere), &context);
    let plain = server(|_| {}, &context);
    for (address, believed, expected) in [
        (own.address(), &other, "authority"),
        (wrong_name.address(), &elsewhere, "for the name"),
        (plain.address(), &pem, "TLS"),
    ] {
        let mut endpoint = endpoint(address);
        let authorities = Authorities::Pem(believed.clone().into_bytes());
        endpoint.tls = Some(ClientTls::new("127.0.0.1", &authorities).unwrap());
        let short = context.clone().with_timeout(Duration::from_secs(3));
        let error = Client::new(&endpoint, &short)
            .create_bucket()
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // A client without TLS at an endpoint with it gets an error too, not a hang.
    assert!(
        Client::new(&endpoint(own.address()), &context)
            .create_bucket()
            .is_err()
    );
    for (name, text) in [("127.0.0.1", "no certificate"), ("not a name", &pem)] {
        assert!(
            ClientTls::new(name, &Authorities::Pem(text.as_bytes().to_vec())).is_err(),
            "{name}"
        );
    }
}

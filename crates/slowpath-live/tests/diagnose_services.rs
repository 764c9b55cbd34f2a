//! `single_ended::diagnose` against services on loopback: what it answers, that it keeps to its cap, and what it leaves behind.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Instant;

use slowpath_live::measure::s3::Credentials;
use slowpath_live::measure::{Guard, MeasureError};
use slowpath_live::single_ended::{Access, Layer, Spec, diagnose};
use slowpath_units::{ByteCount, Duration};
use slowpath_workload::external::ssh::SshSetup;
use slowpath_workload::iperf3::{self, Server};
use slowpath_workload::s3::{Client, Endpoint, MemoryServer, PayloadHash};
use slowpath_workload::{Cancel, Context, SocketOptions, ftp, s3};

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn credentials() -> Credentials {
    Credentials {
        access_key: "test".to_owned(),
        secret_key: "secret".to_owned(),
        region: "us-east-1".to_owned(),
    }
}

fn guard(cancel: &Cancel) -> Guard {
    Guard {
        cancel: cancel.clone(),
        deadline: Duration::from_secs(120),
        remote: None,
        own_namespace: false,
    }
}

fn spec(targets: Vec<String>, cap: u64) -> Spec {
    Spec {
        targets,
        access: Access {
            credentials: Some(credentials()),
            ..Access::default()
        },
        reverse: false,
        marks: Vec::new(),
        most: Duration::from_secs(20),
        cap: Some(ByteCount::new(cap)),
    }
}

/// An object store with one bucket.
fn store(context: &Context) -> MemoryServer {
    let server =
        MemoryServer::start(s3::ServerConfig::new(loopback(), Some(credentials())), context).unwrap();
    let endpoint = Endpoint {
        address: server.address(),
        host: None,
        bucket: "bucket".to_owned(),
        credentials: credentials(),
        payload_hash: PayloadHash::Unsigned,
        socket: SocketOptions::default(),
        tls: None,
    };
    Client::new(&endpoint, context).create_bucket().unwrap();
    server
}

/// How fast loopback is says nothing: what is asked here is what is told, that a cap holds, and what stays behind.
#[test]
fn layers_share_a_cap_and_leave_nothing() {
    let context = Context::new().with_timeout(Duration::from_secs(300));
    let tcp = Server::start(iperf3::ServerConfig::new(loopback()), &context).unwrap();
    let files = ftp::ServerConfig::synthetic(loopback(), "data", ByteCount::new(1_000), 1);
    let files = ftp::Server::start(files, &context).unwrap();
    let objects = store(&context);
    let targets = vec![
        format!("s3://{}/bucket", objects.address()),
        format!("ftp://{}/", files.address()),
        format!("iperf3://{}", tcp.address()),
    ];
    let cap = 1_000_000_000_000;
    let mut layers = Vec::new();
    let told = diagnose(
        &spec(targets.clone(), cap),
        &guard(&Cancel::new()),
        &mut |stage| {
            layers.push(stage.layer);
        },
    );
    let told = match told {
        Ok(told) => told,
        Err(error) => return eprintln!("skipped: layers_share_a_cap_and_leave_nothing: {error}"),
    };
    assert_eq!(told.layer, Layer::Tcp);
    assert!(
        layers.contains(&Layer::Ftp) && layers.contains(&Layer::S3),
        "{layers:?}"
    );
    assert!(told.cost.bytes <= cap, "{:?}", told.cost);
    assert_eq!(told.cost.cap, Some(cap));
    for layer in &told.layers {
        assert!(layer.goodput.mean > 1e6, "{layer:?}");
    }
    assert_eq!(objects.objects(), []);
    // A cap of a few packets: no answer, and no more bytes than that.
    let error = diagnose(&spec(targets, 1_000_000), &guard(&Cancel::new()), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("cap"), "{error}");
}

/// Ctrl-C in the middle of objects and files: both are removed from the server.
#[test]
fn an_interrupted_diagnosis_removes_what_it_stored() {
    let context = Context::new().with_timeout(Duration::from_secs(300));
    let objects = store(&context);
    let cancel = Cancel::new();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while objects.objects().is_empty() && begun.elapsed().as_secs() < 30 {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            cancel.cancel();
        });
        let targets = vec![format!("s3://{}/bucket", objects.address())];
        let told = diagnose(&spec(targets, u64::MAX), &guard(&cancel), &mut |_| {});
        // Too early for any figure, or one of the first test.
        if let Err(error) = told {
            assert!(!error.to_string().is_empty());
        }
    });
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!(objects.objects(), []);
}

#[test]
fn what_cannot_be_diagnosed_is_refused_with_what_to_write() {
    let refused = |targets: &[&str], says: &str| {
        let targets = targets.iter().map(|target| (*target).to_owned()).collect();
        let error = diagnose(&spec(targets, 1_000_000), &guard(&Cancel::new()), &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        error
    };
    for remote in [
        "iperf3://192.0.2.1",
        "ftp://192.0.2.1/",
        "s3://192.0.2.1/bucket",
        "ssh://192.0.2.1",
    ] {
        let error = refused(&[remote], "192.0.2.1");
        assert!(matches!(error, MeasureError::Refused(_)), "{remote}: {error:?}");
    }
    refused(&["ftp://127.0.0.1/", "ftp://127.0.0.1:99/"], "one of each kind");
    refused(&["iperf3://127.0.0.1", "ftp://127.0.0.2/"], "two paths");
    refused(&["s3://127.0.0.1"], "s3://HOST/BUCKET");
    refused(
        &["ftp://127.0.0.1/file", "http://127.0.0.1"],
        "belongs to another tool",
    );
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// sshd on loopback with its folder, or why there is none.
fn sshd() -> Result<(Folder, Running, SshSetup), String> {
    let may_mount = slowpath_sys::namespace::has_capability(slowpath_sys::namespace::Capability::SysAdmin);
    if !may_mount.unwrap_or(false) {
        return Err("mounting sshd's account file needs CAP_SYS_ADMIN".to_owned());
    }
    let server = TcpListener::bind(loopback()).unwrap().local_addr().unwrap();
    let folder = Folder(std::env::temp_dir().join(format!("slowpath-diagnose-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    let setup = SshSetup {
        server,
        work: folder.0.clone(),
        user: slowpath_sys::process::user_and_group(),
        client_options: Vec::new(),
        server_options: Vec::new(),
    };
    let program = setup.server().ok_or("sshd is not installed")?;
    setup.prepare().map_err(|error| error.to_string())?;
    program.write_files().map_err(|error| error.to_string())?;
    let child = program
        .command()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let running = Running(child);
    let context = Context::new().with_timeout(Duration::from_secs(20));
    program
        .wait(Duration::from_secs(10), &context)
        .map_err(|error| error.to_string())?;
    Ok((folder, running, setup))
}

/// Programs whose command line has the folder's name in it, sshd's own aside.
fn programs_of(folder: &Folder) -> Vec<String> {
    let name = folder.0.display().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok())
        .filter(|line| line.contains(&name) && !line.contains("sshd"))
        .collect()
}

#[test]
fn ssh_is_three_layers_and_its_programs_end_with_it() {
    let (folder, _running, setup) = match sshd() {
        Ok(all) => all,
        Err(why) => return eprintln!("skipped: ssh_is_three_layers_and_its_programs_end_with_it: {why}"),
    };
    // The configuration of the tests' sshd says where any host is.
    let mut wanted = spec(vec!["ssh://far".to_owned()], u64::MAX);
    wanted.access.ssh_config = Some(setup.work.join("ssh_config"));
    for reverse in [false, true] {
        let mut wanted = wanted.clone();
        wanted.reverse = reverse;
        let told = diagnose(&wanted, &guard(&Cancel::new()), &mut |_| {}).unwrap();
        assert_eq!(told.direction, if reverse { "in" } else { "out" });
        let layers: Vec<Layer> = told.layers.iter().map(|one| one.layer).collect();
        assert_eq!(layers, [Layer::Pipe, Layer::Sftp, Layer::Scp], "{:?}", told.notes);
        assert!(
            told.waterfall.is_some() && told.cost.seconds < 40.0,
            "{:?}",
            told.cost
        );
        assert!(
            told.layers.iter().all(|one| one.goodput.mean > 1e6),
            "{:?}",
            told.layers
        );
    }
    // Ctrl-C in the middle of a test.
    let cancel = Cancel::new();
    let begun = Instant::now();
    wanted.reverse = true;
    let mut tests = 0;
    let told = diagnose(&wanted, &guard(&cancel), &mut |_| {
        tests += 1;
        // sftp of the first round: the file on the server is there.
        if tests == 4 {
            let cancel = cancel.clone();
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(700));
                cancel.cancel();
            });
        }
    });
    assert!(tests >= 4 && begun.elapsed().as_secs() < 60, "{tests} {told:?}");
    assert_eq!(programs_of(&folder), Vec::<String>::new());
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let left: Vec<_> = left
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with("slowpath.") && entry.metadata().is_ok_and(|about| about.len() >= 64 << 30)
        })
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

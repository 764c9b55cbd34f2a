//! The real OpenSSH programs on loopback.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use slowpath_units::{ByteCount, Duration};
use slowpath_workload::content::write_test_file;
use slowpath_workload::copy::{CopyConfig, CopySink, copy};
use slowpath_workload::external::ssh::{SshCopy, SshMethod, SshSetup};
use slowpath_workload::external::{Program, processor_time};
use slowpath_workload::onlooker::{Filter, Onlooker};
use slowpath_workload::payload::Source;
use slowpath_workload::{Context, SocketOptions};

struct Running(Child);

impl Running {
    fn start(program: &Program, context: &Context) -> Result<Self, String> {
        program.write_files().unwrap();
        let mut command = program.command();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut running = Self(command.spawn().unwrap());
        match program.wait(Duration::from_secs(10), context) {
            Ok(()) => Ok(running),
            Err(error) => {
                let _ = running.0.kill();
                let mut text = String::new();
                if let Some(mut stderr) = running.0.stderr.take() {
                    let _ = std::io::Read::read_to_string(&mut stderr, &mut text);
                }
                Err(format!("{error}: {text}"))
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn free_port() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

#[test]
fn every_method_and_a_tunnel_carry_a_file() {
    let test = "every_method_and_a_tunnel_carry_a_file";
    let user = slowpath_sys::process::user_and_group();
    let may_mount = slowpath_sys::namespace::has_capability(slowpath_sys::namespace::Capability::SysAdmin);
    if !may_mount.unwrap_or(false) {
        return eprintln!("skipped: {test}: mounting sshd's account file needs CAP_SYS_ADMIN");
    }
    let context = Context::new().with_timeout(Duration::from_secs(120));
    let folder = Folder(std::env::temp_dir().join(format!("slowpath-ssh-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    let setup = SshSetup {
        server: free_port(),
        work: folder.0.clone(),
        user,
        client_options: vec!["IPQoS af21 cs1".to_owned()],
        server_options: vec!["IPQoS none".to_owned()],
    };
    let Some(sshd) = setup.server() else {
        return eprintln!("skipped: {test}: sshd is not installed");
    };
    if let Err(error) = setup.prepare() {
        return eprintln!("skipped: {test}: {error}");
    }
    let server = match Running::start(&sshd, &context) {
        Ok(server) => server,
        Err(error) if error.contains("ermission") => {
            return eprintln!("skipped: {test}: {error}");
        }
        Err(error) => panic!("{error}"),
    };
    let source = folder.0.join("source file");
    let size = 3_000_003;
    write_test_file(&source, ByteCount::new(size), 5).unwrap();
    let expected = std::fs::read(&source).unwrap();
    let onlooker = Onlooker::start(
        Filter {
            ports: vec![setup.server.port()],
        },
        Duration::from_millis(5),
        &context,
    );
    for method in [
        SshMethod::Scp,
        SshMethod::ScpLegacy,
        SshMethod::Sftp,
        SshMethod::Pipe,
    ] {
        for upload in [true, false] {
            let destination = folder.0.join(format!("{method:?}-{upload}"));
            let file = SshCopy {
                method,
                upload,
                source: source.clone(),
                destination,
                through: None,
            };
            let program = setup.transfer(&file).unwrap();
            program.write_files().unwrap();
            let start = context.now();
            let output = program.command().stdin(Stdio::null()).output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            let result = file.result(size, start, context.now(), &text, output.status.success());
            // The old protocol hands the path to a shell on the far side.
            if method == SshMethod::ScpLegacy && !upload {
                assert!(
                    result.complete || text.contains("No such file"),
                    "{method:?} {result:?}"
                );
                continue;
            }
            assert!(result.complete, "{method:?} upload={upload} {result:?}");
            assert_eq!(
                std::fs::read(&file.destination).unwrap(),
                expected,
                "{method:?} upload={upload}"
            );
        }
    }
    if let Ok(onlooker) = onlooker {
        let logs = onlooker.finish();
        let most = logs
            .iter()
            .filter_map(|log| log.last())
            .map(|sample| sample.bytes_acked)
            .max();
        assert!(most.unwrap_or(0) > 1_000_000, "{most:?}");
    }
    assert!(processor_time(server.0.id()).is_some());

    // The far end of the tunnel is this test's own sink.
    let sink = CopySink::start(
        "127.0.0.1:0".parse().unwrap(),
        SocketOptions::default(),
        None,
        &context,
    )
    .unwrap();
    for terminal in [false, true] {
        let near = free_port();
        let tunnel = setup.tunnel(near, sink.address(), terminal).unwrap();
        let _tunnel = Running::start(&tunnel, &context).unwrap();
        let config = CopyConfig {
            to: near,
            source: Source::Synthetic {
                size: ByteCount::new(size),
                seed: 1,
            },
            socket: SocketOptions::default(),
            sample_every: Duration::from_millis(100),
        };
        let report = copy(&config, &context).unwrap();
        assert_eq!(
            (report.transfer.bytes, report.transfer.error),
            (size, None),
            "terminal={terminal}"
        );
    }
    // And scp through a tunnel to sshd itself: encrypted twice.
    let near = free_port();
    let _tunnel = Running::start(&setup.tunnel(near, setup.server, false).unwrap(), &context).unwrap();
    let destination = folder.0.join("twice");
    let file = SshCopy {
        method: SshMethod::Scp,
        upload: true,
        source,
        destination,
        through: Some(near),
    };
    let program = setup.transfer(&file).unwrap();
    program.write_files().unwrap();
    let output = program.command().stdin(Stdio::null()).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(std::fs::read(&file.destination).unwrap(), expected);
    assert_eq!(
        sink.stop()
            .iter()
            .map(|report| report.transfer.bytes)
            .sum::<u64>(),
        2 * size
    );
}

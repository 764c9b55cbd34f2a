//! `measure::ssh` with the real OpenSSH programs on loopback.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use slowpath_live::measure::ssh::{Method, Spec};
use slowpath_live::measure::{Guard, Job, MeasureError, Remote, measure};
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::content::write_test_file;
use slowpath_workload::external::find_program;
use slowpath_workload::external::ssh::SshSetup;
use slowpath_workload::{Cancel, Context};

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
fn sshd() -> Result<(Folder, Running), String> {
    let may_mount = slowpath_sys::namespace::has_capability(slowpath_sys::namespace::Capability::SysAdmin);
    if !may_mount.unwrap_or(false) {
        return Err("mounting sshd's account file needs CAP_SYS_ADMIN".to_owned());
    }
    let server: SocketAddr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = Folder(std::env::temp_dir().join(format!("slowpath-measure-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).unwrap();
    let setup = SshSetup {
        server,
        work: folder.0.clone(),
        user: slowpath_sys::process::user_and_group(),
        client_options: Vec::new(),
        server_options: vec!["IPQoS none".to_owned()],
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
    Ok((folder, running))
}

#[test]
fn programs_and_marks_are_compared() {
    let (folder, _running) = match sshd() {
        Ok(pair) => pair,
        Err(why) => return eprintln!("skipped: programs_and_marks_are_compared: {why}"),
    };
    let source = folder.0.join("a file");
    write_test_file(&source, ByteCount::new(3_000_000), 1).unwrap();
    let guard = Guard {
        cancel: Cancel::new(),
        deadline: Duration::from_secs(120),
        remote: None,
        own_namespace: false,
    };
    let spec = |path: &std::path::Path, upload: Option<ByteCount>| Spec {
        target: format!("ssh://far{}", path.display()),
        upload,
        methods: vec![Method::Scp, Method::ScpLegacy, Method::Sftp, Method::Pipe],
        ip_qos: vec!["none".to_owned(), "af21 cs1".to_owned()],
        options: Vec::new(),
        config: Some(folder.0.join("ssh_config")),
    };
    let stored = folder.0.join("stored here");
    for spec in [
        spec(&source, None),
        spec(&stored, Some(ByteCount::new(2_000_000))),
    ] {
        let size = spec.upload.map_or(3_000_000, ByteCount::bytes);
        let answer = measure(&Job::Ssh(spec), &guard, &mut |_| {}).unwrap();
        assert_eq!(answer.incomplete(), None);
        let json = answer.json();
        let copies = json["copies"].as_array().unwrap();
        assert_eq!(copies.len(), 8);
        for copy in copies {
            assert_eq!(copy["bytes"], size, "{copy}");
            assert!(
                copy["byte_per_s"].as_f64().unwrap() > 0.0 && copy["error"].is_null(),
                "{copy}"
            );
        }
        let mut text = Vec::new();
        answer.write_text(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("scp -O") && text.contains("af21 cs1"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    assert_eq!(std::fs::metadata(&stored).unwrap().len(), 2_000_000);

    // What is not there, and a server that lets nobody in, are told with the programs' own words.
    let missing = Job::Ssh(spec(&folder.0.join("missing"), None));
    let error = measure(&missing, &guard, &mut |_| {}).err().unwrap().to_string();
    assert!(
        error.contains("missing") && error.contains("No such file"),
        "{error}"
    );
    let mut stranger = spec(&source, None);
    stranger.options = vec![
        "IdentityFile=/nonexistent".to_owned(),
        "User=nobody-here".to_owned(),
    ];
    let error = measure(&Job::Ssh(stranger), &guard, &mut |_| {})
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("logging in"), "{error}");
}

#[test]
fn a_proxy_and_a_rate_are_refused() {
    if find_program("ssh", &[]).is_none() {
        return eprintln!("skipped: a_proxy_and_a_rate_are_refused: ssh is not installed");
    }
    let spec = |host: &str, options: &[&str]| {
        Job::Ssh(Spec {
            target: format!("ssh://{host}/file"),
            upload: None,
            methods: vec![Method::Scp],
            ip_qos: Vec::new(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            config: Some(PathBuf::from("/dev/null")),
        })
    };
    let mut guard = Guard {
        cancel: Cancel::new(),
        deadline: Duration::from_secs(60),
        remote: None,
        own_namespace: false,
    };
    let refused = |job: &Job, guard: &Guard| match measure(job, guard, &mut |_| {}) {
        Err(MeasureError::Settings(why)) => why,
        Err(other) => format!("another error: {other}"),
        Ok(_) => "no error".to_owned(),
    };
    // The address is local, the way to it is not; nothing was started.
    let mark = std::env::temp_dir().join(format!("slowpath-proxy-{}", std::process::id()));
    let command = format!("ProxyCommand touch {}", mark.display());
    for option in [command.as_str(), "ProxyJump 192.0.2.1"] {
        let why = refused(&spec("127.0.0.1", &[option]), &guard);
        assert!(
            why.contains("--allow-remote-load") && why.contains("proxy"),
            "{option}: {why}"
        );
    }
    assert!(!mark.exists());
    // Without one, the same address is merely not answering.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let why = refused(&spec(&free.to_string(), &["ProxyCommand none"]), &guard);
    assert!(why.contains("logging in"), "{why}");

    guard.remote = Some(Remote {
        cap: ByteCount::new(1_000_000),
        rate: Some(BitRate::new(10_000_000)),
    });
    for (host, options) in [
        ("192.0.2.1", &[][..]),
        ("127.0.0.1", &["ProxyJump 192.0.2.1"][..]),
    ] {
        let why = refused(&spec(host, options), &guard);
        assert!(why.contains("--max-rate"), "{host}: {why}");
    }
}

//! Every kind of job in the lab, with real programs where they are installed.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use slowpath_record::{Code, FlowResult, MarkPlace, RunRecord, TransferResult};
use slowpath_scenario::{Clock, Experiment, Fragments, PlanOptions};
use slowpath_stage::folder::Folder;
use slowpath_stage::real_time::{self, LabRunError};
use slowpath_stage::worker::Assignment;

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One lab at a time: they would disturb each other's time.
static TURN: Mutex<()> = Mutex::new(());

/// The mark of most bytes that a host sent.
fn most_sent(record: &RunRecord, host: &str) -> Option<u8> {
    let sent =
        (record.marks.iter()).filter(|count| matches!(&count.at, MarkPlace::Sent(name) if name == host));
    let mut bytes = [0; 64];
    for count in sent {
        bytes[usize::from(count.dscp.value())] += count.traffic.bytes;
    }
    let (mark, most) = (0..).zip(bytes).max_by_key(|(_, bytes)| *bytes)?;
    (most > 0).then_some(mark)
}

/// Runs one plan over 20 Mbit/s and 10 ms each way; `None`, said aloud, where that is impossible here.
fn run(test: &str, jobs: &str) -> Option<RunRecord> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let privilege = match slowpath_lab::enter() {
        Ok(privilege) => privilege,
        Err(error) => {
            eprintln!("skipped: {test}: {error}");
            return None;
        }
    };
    let text = format!(
        "title = \"t\"\n[network]\nboth = [{{ rate = \"20 Mbit/s\", queue = \"100 packets\" }}, {{ delay = \"10 ms\" }}]\n\
         {jobs}\n"
    );
    let experiment = Experiment::read("x.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = PlanOptions::first("default", 1, Clock::Lab);
    let plan = experiment.plan(&options, &Fragments::new()).unwrap();
    let place = std::env::temp_dir().join(format!("slowpath-real-{test}-{}", std::process::id()));
    let scratch = Scratch(place.clone());
    Folder::create(&place).unwrap();
    let assignment = Assignment {
        experiment: "t".to_owned(),
        name: test.to_owned(),
        plan,
        twin: None,
        kind: slowpath_record::RunKind::Plain,
        folder: place,
        capture: false,
    };
    let outcome = real_time::run(&assignment, privilege, &mut |_| {});
    drop(scratch);
    match outcome {
        Ok(record) => Some(record),
        Err(LabRunError::Program { program, install }) => {
            eprintln!("skipped: {test}: {program} is not installed ({install})");
            None
        }
        Err(LabRunError::Lab(error)) => {
            eprintln!("skipped: {test}: {error}");
            None
        }
        Err(error) => panic!("{test}: {error}"),
    }
}

fn transfer<'a>(record: &'a RunRecord, name: &str) -> &'a TransferResult {
    record
        .transfers
        .iter()
        .find(|transfer| transfer.name == name)
        .unwrap_or_else(|| panic!("no transfer {name} in {record:#?}"))
}

fn flow<'a>(record: &'a RunRecord, name: &str) -> &'a FlowResult {
    record
        .flows
        .iter()
        .find(|flow| flow.name == name)
        .unwrap_or_else(|| panic!("no flow {name} in {record:#?}"))
}

/// Fails unless a transfer ran at the link's rate, less headers; a busy machine may make it slower.
fn at_link_rate(record: &RunRecord, name: &str) {
    let rate = transfer(record, name).goodput_byte_per_s() * 8.0;
    assert!(
        (8e6..20e6).contains(&rate),
        "{name}: {rate} bit/s, {:?}",
        record.notes
    );
}

#[test]
fn iperf3_with_either_program_on_either_side() {
    for (client, server) in [
        ("builtin", "builtin"),
        ("builtin", "iperf3"),
        ("iperf3", "builtin"),
    ] {
        let test = "iperf3_with_either_program_on_either_side";
        let jobs = format!(
            "[workload]\nkind = \"iperf3\"\nname = \"bulk\"\nduration = \"2 s\"\nstreams = 2\ndscp = \"cs1\"\n\
             client_program = \"{client}\"\nserver_program = \"{server}\"\ndirection = \"reverse\""
        );
        let Some(record) = run(test, &jobs) else { return };
        assert_eq!(record.transfers.len(), 1, "{:?}", record.transfers);
        at_link_rate(&record, "bulk");
        assert!(!record.series.is_empty());
        assert_eq!(most_sent(&record, "server"), Some(8), "{client} {server}");
        assert!(
            !record
                .health
                .reasons
                .iter()
                .any(|reason| reason.code == Code::Marks)
        );
    }
}

#[test]
fn the_real_iperf3_counts_datagrams_both_ways() {
    let jobs = "[workload]\nkind = \"iperf3\"\nname = \"both\"\nprotocol = \"udp\"\ndirection = \"bidirectional\"\nduration = \"2 s\"\n\
         rate = \"5 Mbit/s\"\nlength = \"1000 B\"\nclient_program = \"iperf3\"";
    let Some(record) = run("the_real_iperf3_counts_datagrams_both_ways", jobs) else {
        return;
    };
    assert!(record.transfers.is_empty(), "{:?}", record.transfers);
    for name in ["both", "both reverse"] {
        let flow = flow(&record, name);
        // 1250 datagrams are 2 s at 5 Mbit/s.
        assert!((1_100..=1_300).contains(&flow.received_packets), "{flow:?}");
        assert_eq!(flow.received_bytes, flow.received_packets * 1_028, "{flow:?}");
        assert!(flow.jitter.is_some(), "{flow:?}");
    }
}

#[test]
fn datagrams_frames_and_pings_side_by_side() {
    let jobs = r#"
        [workload]
        kind = "udp"
        name = "paced"
        rate = "4 Mbit/s"
        length = "1000 B"
        duration = "2 s"
        [[background]]
        kind = "ping"
        name = "echo"
        count = 20
        interval = "50 ms"
        dscp = "ef"
        [[background]]
        kind = "iperf3"
        name = "bursts"
        protocol = "udp"
        rate = "2 Mbit/s"
        duration = "1 s"
        burst_interval = "100 ms"
        [[background]]
        kind = "frames"
        name = "generated"
        protocol = "tcp"
        frame = "512 B"
        line = "100 Mbit/s"
        load = "1 %"
        duration = "1 s"
    "#;
    let Some(record) = run("datagrams_frames_and_pings_side_by_side", jobs) else {
        return;
    };
    let paced = flow(&record, "paced");
    // A sender that gets no processor falls behind and says so.
    let behind = record.notes.iter().any(|note| note.contains("of its schedule"));
    let least = if behind { 1 } else { 900 };
    assert!(
        (least..=1_001).contains(&paced.sent_packets),
        "{paced:?} {:?}",
        record.notes
    );
    for name in ["paced", "bursts", "generated", "echo"] {
        let flow = flow(&record, name);
        assert!(flow.received_packets > 0, "{flow:?}");
        assert!(flow.loss_fraction() < 0.05, "{flow:?}");
    }
    let echo = record
        .series
        .iter()
        .find(|series| series.name == "echo/round-trip")
        .unwrap();
    assert!(echo.points.iter().all(|(_, rtt)| *rtt > 0.02), "{echo:?}");
}

#[test]
fn every_tool_over_ipv6() {
    const TEST: &str = "every_tool_over_ipv6";
    let over = |job: &str| {
        run(
            TEST,
            &format!("{job}\n[hosts.server]\naddress = \"2001:db8::2\"\n"),
        )
    };
    for (kind, more) in [
        ("iperf3", "duration = \"2 s\"\ndscp = \"cs1\""),
        (
            "iperf3",
            "duration = \"2 s\"\ndscp = \"cs1\"\nclient_program = \"iperf3\"\nserver_program = \"iperf3\"",
        ),
        (
            "iperf3",
            "duration = \"2 s\"\ndscp = \"cs1\"\n[hosts.client]\nstack = \"model\"",
        ),
        ("ftp-put", "size = \"2 MiB\""),
        (
            "ftp-put",
            "size = \"2 MiB\"\nserver_program = \"vsftpd\"\nclient_program = \"curl\"",
        ),
        ("ftp-put", "size = \"2 MiB\"\ndata = \"active\""),
        ("s3-put", "size = \"2 MiB\"\ntls = true"),
        ("scp", "size = \"2 MiB\"\nclient_options = [\"IPQoS af21 cs1\"]"),
        (
            "ssh-tunnel-scp",
            "size = \"2 MiB\"\nclient_options = [\"IPQoS af21 cs1\"]",
        ),
    ] {
        let job = format!("[workload]\nkind = \"{kind}\"\nname = \"job\"\ndeadline = \"40 s\"\n{more}");
        let Some(record) = over(&job) else { continue };
        let done = transfer(&record, "job");
        assert!(done.complete && done.bytes >= 2 << 20, "{kind} {more}: {done:?}");
        if more.contains("cs1") {
            let mark = if kind.contains("tunnel") { 18 } else { 8 };
            assert_eq!(
                most_sent(&record, "client"),
                Some(mark),
                "{kind} {more}: {:?}",
                record.marks
            );
        }
    }
    let datagrams = r#"
        [workload]
        kind = "udp"
        name = "paced"
        rate = "4 Mbit/s"
        length = "1000 B"
        duration = "1 s"
        [[background]]
        kind = "ping"
        name = "echo"
        count = 10
        interval = "50 ms"
        [[background]]
        kind = "iperf3"
        name = "real"
        protocol = "udp"
        rate = "2 Mbit/s"
        length = "8192 B"
        duration = "1 s"
        client_program = "iperf3"
    "#;
    let Some(record) = over(datagrams) else { return };
    for (name, headers, payload) in [("paced", 48, 1_000), ("echo", 48, 56), ("real", 48, 8_192)] {
        let flow = flow(&record, name);
        assert!(flow.received_packets > 0, "{flow:?}");
        assert_eq!(
            flow.received_bytes,
            flow.received_packets * (payload + headers),
            "{flow:?}"
        );
    }
}

#[test]
fn bulk_data_from_and_to_a_model() {
    for host in ["client", "server"] {
        let jobs = format!(
            "[workload]\nkind = \"iperf3\"\nname = \"bulk\"\nduration = \"3 s\"\n[hosts.{host}]\nstack = \"model\"\n"
        );
        let Some(record) = run("bulk_data_from_and_to_a_model", &jobs) else {
            return;
        };
        at_link_rate(&record, "bulk");
    }
}

#[test]
fn any_program() {
    let jobs = "[workload]\nkind = \"command\"\nname = \"echo\"\nnear = [\"echo\", \"hello\"]\n";
    let Some(record) = run("any_program", jobs) else {
        return;
    };
    assert!(transfer(&record, "echo").complete);
    assert!(
        record.notes.iter().any(|note| note.contains("hello")),
        "{:?}",
        record.notes
    );
    // A busy machine spoils the time line, not the job.
    assert!(
        !record
            .health
            .reasons
            .iter()
            .any(|reason| reason.code == Code::Incomplete),
        "{:?}",
        record.health
    );
}

#[test]
fn ssh_by_every_program() {
    for (kind, mark) in [
        ("scp", 8),
        ("scp-legacy", 8),
        ("sftp", 8),
        ("ssh-pipe", 8),
        ("ssh-tunnel-scp", 18),
        ("ssh-tunnel-copy", 18),
        ("ssh-tunnel-iperf3", 18),
    ] {
        let jobs = format!(
            "[workload]\nkind = \"{kind}\"\nname = \"file\"\nsize = \"2 MiB\"\ndeadline = \"40 s\"\n\
             client_options = [\"IPQoS af21 cs1\"]\nserver_options = [\"IPQoS none\"]"
        );
        let Some(record) = run("ssh_by_every_program", &jobs) else {
            return;
        };
        let file = transfer(&record, "file");
        assert!(file.complete && file.bytes == 2 << 20, "{kind}: {file:?}");
        assert_eq!(
            most_sent(&record, "client"),
            Some(mark),
            "{kind}: {:?}",
            record.marks
        );
        assert!(
            record
                .loads
                .iter()
                .any(|load| load.program.starts_with("server/sshd")),
            "{kind}: {:?}",
            record.loads
        );
        assert!(
            !record
                .health
                .reasons
                .iter()
                .any(|reason| reason.code == Code::Marks),
            "{kind}: {:?}",
            record.health
        );
    }
}

#[test]
fn ssh_with_other_choices() {
    let jobs = "[workload]\nkind = \"scp\"\nname = \"file\"\nsize = \"1 MiB\"\ndirection = \"download\"\ndeadline = \"40 s\"\n\
         client_options = [\"IPQoS none\", \"Ciphers aes128-ctr\", \"ControlMaster auto\"]\n\
         server_options = [\"IPQoS ef\"]";
    let Some(record) = run("ssh_with_other_choices", jobs) else {
        return;
    };
    assert!(transfer(&record, "file").complete);
    assert_eq!(most_sent(&record, "server"), Some(46), "{:?}", record.marks);
}

#[test]
fn ssh_shares_a_connection_at_the_users_own_place() {
    let place = std::env::temp_dir().join(format!("slowpath-control-{}-", std::process::id()));
    let jobs = format!(
        "[workload]\nkind = \"scp\"\nname = \"file\"\nsize = \"1 MiB\"\ndeadline = \"20 s\"\n\
         client_options = [\"ControlMaster auto\", \"ControlPath {}%p\"]\n",
        place.display()
    );
    // The second time the first one's socket is still there.
    for _ in 0..2 {
        let Some(record) = run("ssh_shares_a_connection_at_the_users_own_place", &jobs) else {
            return;
        };
        let file = transfer(&record, "file");
        assert!(file.complete && file.bytes == 1 << 20, "{file:?}");
    }
    let _ = std::fs::remove_file(format!("{}22", place.display()));
}

/// Requests to an object store: a kind of workload and more of its lines for each job.
fn object_store(test: &str, jobs: &[(&str, &str)]) {
    for (kind, more) in jobs {
        let size = if more.contains("part") {
            "10 MiB"
        } else {
            "500 KiB"
        };
        let jobs = format!(
            "[workload]\nkind = \"{kind}\"\nname = \"objects\"\nsize = \"{size}\"\nrequests = 2\nconcurrency = 2\n{more}"
        );
        let Some(record) = run(test, &jobs) else {
            return;
        };
        let objects = transfer(&record, "objects");
        assert!(objects.complete, "{kind} {more}: {objects:?}");
        assert!(objects.bytes >= 1_000_000, "{kind} {more}: {objects:?}");
        assert!(
            objects.goodput_byte_per_s() * 8.0 < 20e6,
            "{kind} {more}: {objects:?}"
        );
    }
}

#[test]
fn object_stores() {
    let parts = "part_size = \"5 MiB\"";
    object_store(
        "object_stores",
        &[("s3-put", ""), ("s3-get", "tls = true"), ("s3-put", parts)],
    );
}

/// Whole objects and parts, up and down.
fn real_object_store(test: &str, program: &str) {
    let whole = format!("server_program = \"{program}\"");
    let parts = format!("part_size = \"5 MiB\"\n{whole}");
    let jobs = ["s3-put", "s3-get"].map(|kind| [(kind, whole.as_str()), (kind, parts.as_str())]);
    object_store(test, jobs.as_flattened());
}

#[test]
fn versitygw_in_the_lab() {
    real_object_store("versitygw_in_the_lab", "versitygw");
}

#[test]
fn s3s_fs_in_the_lab() {
    real_object_store("s3s_fs_in_the_lab", "s3s-fs");
}

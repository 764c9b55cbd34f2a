//! Jobs other than FTP in simulated time.

use std::path::PathBuf;

use slowpath::folder::Folder;
use slowpath::simulated;
use slowpath_record::{HealthState, RunRecord};
use slowpath_scenario::{Clock, Experiment, Fragments, PlanOptions};

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(name: &str, workload: &str) -> RunRecord {
    let text = format!(
        "title = \"t\"\n[network]\nboth = [{{ rate = \"50 Mbit/s\" }}, {{ delay = \"50 ms\" }}]\n[workload]\n{workload}\n"
    );
    let experiment = Experiment::read("x.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = PlanOptions::first("default", 1, Clock::Simulated);
    let plan = experiment.plan(&options, &Fragments::new()).unwrap();
    let place = std::env::temp_dir().join(format!("slowpath-jobs-{name}-{}", std::process::id()));
    let scratch = Scratch(place.clone());
    let folder = Folder::create(&place).unwrap();
    let record = simulated::run("t", &plan, name, false, &folder).unwrap();
    drop(scratch);
    record
}

/// The rate of the link less what headers take: 1500 bytes of IP in 1514 of Ethernet, 20 or 40 of them IP's own header,
/// 32 TCP's with timestamps.
#[test]
fn headers_of_ipv6_take_their_share() {
    let [v4, v6] = ["192.0.2.2", "2001:db8::2"].map(|address| {
        let job = "kind = \"iperf3\"\nduration = \"20 s\"\n[hosts.server]\n";
        let record = run("headers", &format!("{job}address = \"{address}\""));
        assert_eq!(record.health.state, HealthState::Valid, "{:?}", record.health);
        let [transfer] = record.transfers.as_slice() else {
            panic!("{:?}", record.transfers)
        };
        transfer.goodput_byte_per_s()
    });
    assert!(((v6 / v4) / (1_428.0 / 1_448.0) - 1.0).abs() < 0.001, "{v6} {v4}");
}

/// A datagram of 8,192 bytes leaves in six fragments; each of IPv6 has a header of 8 bytes besides.
#[test]
fn datagrams_over_ipv6_are_fragmented_and_counted() {
    let job = "kind = \"iperf3\"\nprotocol = \"udp\"\nlength = \"8192 B\"\nrate = \"8 Mbit/s\"\nduration = \"2 s\"\n\
               [hosts.server]\naddress = \"2001:db8::2\"";
    let record = run("fragments", job);
    let [flow] = record.flows.as_slice() else {
        panic!("{:?}", record.flows)
    };
    assert!(flow.received_packets > 200, "{flow:?}");
    assert_eq!(flow.received_packets, flow.sent_packets);
    assert_eq!(flow.received_bytes, flow.received_packets * 8_240);
    let link = record
        .elements
        .iter()
        .find(|element| element.element == "up.rate")
        .unwrap();
    let fragments = flow.sent_packets * (8_240 + 5 * 40 + 6 * 8);
    assert_eq!(
        (link.delivered.packets, link.delivered.bytes),
        (flow.sent_packets * 6, fragments)
    );
}

#[test]
fn an_iperf3_window_bounds_the_rate() {
    let record = run(
        "window",
        "kind = \"iperf3\"\nduration = \"20 s\"\nwindow = \"60 KiB\"",
    );
    assert_eq!(record.health.state, HealthState::Valid, "{:?}", record.health);
    let rate: f64 = record
        .transfers
        .iter()
        .map(slowpath_record::TransferResult::goodput_byte_per_s)
        .sum();
    let bound = 61_440.0 / 0.1;
    assert!(
        // The window is a bound; how much of it Linux uses is the endpoint model's affair.
        (0.6..=1.01).contains(&(rate / bound)),
        "{rate} B/s against {bound}"
    );
}

#[test]
fn the_server_sends_in_reverse() {
    let record = run(
        "reverse",
        "kind = \"iperf3\"\ndirection = \"reverse\"\nsize = \"10 MiB\"",
    );
    assert_eq!(
        record
            .transfers
            .iter()
            .map(|transfer| transfer.bytes)
            .sum::<u64>(),
        10 << 20
    );
}

#[test]
fn datagrams_are_counted_per_flow() {
    let record = run(
        "udp",
        "kind = \"udp\"\nrate = \"20 Mbit/s\"\nlength = \"1000 B\"\nduration = \"2 s\"",
    );
    assert_eq!(record.health.state, HealthState::Valid, "{:?}", record.health);
    let flow = record
        .flows
        .iter()
        .find(|flow| flow.received_packets > 0)
        .expect("the sink's count");
    // 5000 datagrams of 1000 bytes are 2 s at 20 Mbit/s; the path carries them all.
    assert!((4_998..=5_001).contains(&flow.received_packets), "{flow:?}");
}

#[test]
fn objects_go_over_several_connections() {
    let record = run(
        "s3",
        "kind = \"s3-put\"\nsize = \"1 MiB\"\nrequests = 20\nconcurrency = 4",
    );
    assert_eq!(record.health.state, HealthState::Valid, "{:?}", record.health);
    assert!(record.transfers[0].bytes >= 20 << 20, "{:?}", record.transfers);
}

/// What limited a job of 24 objects, 8 connections at a time, over a path of 100 Mbit/s, or more of a long one.
fn stored(
    name: &str,
    size: &str,
    round_trip_ms: u32,
    service: &str,
    queue: &str,
) -> slowpath_verdict::job::Job {
    let half = f64::from(round_trip_ms) / 2.0;
    let rate = if round_trip_ms > 110 { 900 } else { 100 };
    let text = format!(
        r#"title = "t"
captures = "none"
[network]
up = [{{ rate = "{rate} Mbit/s", queue = "{queue}" }}, {{ delay = "{half} ms" }}]
down = [{{ rate = "100 Mbit/s" }}, {{ delay = "{half} ms" }}]
[workload]
kind = "s3-put"
size = "{size}"
requests = 24
concurrency = 8
reuse = false
service_time = "{service}"
deadline = "300 s"
[hosts.client]
system = "linux"
[hosts.server]
system = "linux"
"#
    );
    let experiment =
        slowpath_scenario::Experiment::read("x.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = slowpath_scenario::PlanOptions::first("default", 7, slowpath::Clock::Simulated);
    let plan = experiment
        .plan(&options, &slowpath_scenario::Fragments::new())
        .unwrap();
    let place = std::env::temp_dir().join(format!("slowpath-job-{name}-{}", std::process::id()));
    let folder = slowpath::folder::Folder::create(&place).unwrap();
    slowpath::simulated::run("t", &plan, name, true, &folder).unwrap();
    let analysis = folder.analysis(name).unwrap().expect("it was analysed");
    std::fs::remove_dir_all(&place).unwrap();
    let job = analysis.job.expect("several connections are a job");
    println!("{name}: {}", job.verdict.sentence);
    assert_eq!(job.connections, 24, "{name}");
    let sum: f64 = job.ledger.entries.iter().map(|entry| entry.time_s).sum();
    assert!((sum / job.ledger.duration_s - 1.0).abs() < 0.02, "{name}: {sum}");
    job
}

/// A job is judged by what its connections did with their time, not by the largest of them.
#[test]
fn jobs_of_many_connections_are_judged_as_jobs() {
    use slowpath_verdict::{Flag, Limit};
    let limit = |name, size, round_trip, service, queue| {
        let job = stored(name, size, round_trip, service, queue);
        let short = job.verdict.flags.contains(&Flag::ShortQueue);
        (job.verdict.limit, short)
    };
    let long = "4000 packets";
    assert_eq!(
        limit("small", "256 KiB", 100, "1 ms", long),
        (Limit::SlowStart, false)
    );
    assert_eq!(
        limit("slow-store", "256 KiB", 20, "2 s", long),
        (Limit::ProtocolWindow, false)
    );
    assert_eq!(
        limit("full", "8 MiB", 10, "1 ms", long),
        (Limit::BottleneckBandwidth, false)
    );
    assert_eq!(
        limit("short", "16 MiB", 115, "1 ms", "160 packets"),
        (Limit::BottleneckBandwidth, true)
    );
}

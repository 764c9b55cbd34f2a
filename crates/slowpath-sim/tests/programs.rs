//! Experiment files as the user writes them, run on model hosts.

use slowpath_endpoint::{HostConfig, Report};
use slowpath_scenario::{Clock, Experiment, Fragments, Plan, PlanOptions, Stack};
use slowpath_sim::programs::{NotModelled, programs};
use slowpath_sim::{NoSink, SimHost, SimReport, SimSpec, Simulation};
use slowpath_units::Duration;

fn plan(workload: &str) -> Plan {
    let text = format!(
        "title = \"t\"\n[network]\nboth = [{{ rate = \"100 Mbit/s\", queue = \"500 packets\" }}, {{ delay = \"10 ms\" }}]\n\
         [workload]\n{workload}\n[hosts.server]\nsystem = \"linux\"\ncongestion_control = \"cubic\"\n\
         [hosts.client]\nsystem = \"linux\"\ncongestion_control = \"cubic\"\n[[variants]]\nname = \"v\"\n"
    );
    let experiment = Experiment::read("t.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let options = PlanOptions::first("v", 1, Clock::Simulated);
    experiment
        .plan(&options, &Fragments::new())
        .unwrap_or_else(|problem| panic!("{problem}"))
}

fn run(plan: &Plan) -> SimReport {
    let hosts = plan.hosts.iter().map(|host| {
        let Stack::Model(model) = &host.stack else {
            panic!("{} is no model", host.name)
        };
        let all = plan
            .jobs
            .iter()
            .flat_map(|job| programs(plan, job, host).expect("a model can do this job"));
        SimHost {
            name: host.name.clone(),
            config: HostConfig {
                addresses: vec![host.address],
                tcp: model.tcp.clone(),
                mtu: host.mtu,
                input: model.input,
            },
            programs: all.collect(),
        }
    });
    let spec = SimSpec {
        hosts: hosts.collect(),
        network: plan.network.clone(),
        seed: plan.seed,
        deadline: Duration::from_secs(600),
        sample_every: None,
    };
    Simulation::new(&spec).expect("a valid run").run(&mut NoSink)
}

/// Bytes per second at the receiver: the sink's transfers, on whichever host it is.
fn received(report: &SimReport) -> f64 {
    (0..2)
        .flat_map(|host| report.transfers(host))
        .filter(|transfer| transfer.name.contains("to port"))
        .map(slowpath_record::TransferResult::goodput_byte_per_s)
        .sum()
}

#[test]
fn an_iperf3_test_fills_the_link_in_either_direction() {
    for (direction, factor) in [("forward", 1.0), ("reverse", 1.0), ("bidirectional", 2.0)] {
        let plan = plan(&format!(
            "kind = \"iperf3\"\nduration = \"10 s\"\ndirection = \"{direction}\""
        ));
        let report = run(&plan);
        assert!(report.complete);
        let link = 100e6 / 8.0 * 1448.0 / 1514.0 * factor;
        let share = received(&report) / link;
        assert!((0.85..1.0).contains(&share), "{direction}: {share}");
    }
}

#[test]
fn a_udp_test_counts_what_arrives() {
    let plan = plan("kind = \"iperf3\"\nprotocol = \"udp\"\nrate = \"10 Mbit/s\"\nduration = \"5 s\"");
    let report = run(&plan);
    let sent: u64 = report.flows().map(|flow| flow.sent_packets).sum();
    let got: u64 = report.flows().map(|flow| flow.received_packets).sum();
    assert_eq!(sent, got);
    assert_eq!(sent, 4_281, "5 s of 1460 bytes at 10 Mbit/s");
}

#[test]
fn a_udp_test_has_as_many_streams_each_way_as_it_asks_for() {
    for (more, names, from) in [
        ("direction = \"reverse\"", &["iperf3"][..], &[0][..]),
        ("streams = 3", &["iperf3 0", "iperf3 1", "iperf3 2"], &[1, 1, 1]),
        (
            "streams = 2\ndirection = \"bidirectional\"",
            &["iperf3 0", "iperf3 1", "iperf3 2", "iperf3 3"],
            &[1, 1, 0, 0],
        ),
    ] {
        let mut plan = plan(&format!(
            "kind = \"iperf3\"\nname = \"iperf3\"\nprotocol = \"udp\"\nrate = \"10 Mbit/s\"\nduration = \"5 s\"\n{more}"
        ));
        plan.hosts.sort_by_key(|host| host.name != plan.jobs[0].server);
        let report = run(&plan);
        for (name, from) in names.iter().zip(from) {
            let halves: Vec<_> = report
                .reports
                .iter()
                .filter_map(|(host, report)| match report {
                    Report::Flow { result, .. } if result.name == *name => Some((*host, result)),
                    _ => None,
                })
                .collect();
            let sent: Vec<_> = halves.iter().filter(|(_, half)| half.sent_packets > 0).collect();
            let got: u64 = halves.iter().map(|(_, half)| half.received_packets).sum();
            assert_eq!(sent.len(), 1, "{more} {name}: {halves:?}");
            assert_eq!(
                (sent[0].0, sent[0].1.sent_packets),
                (*from, 4_281),
                "{more} {name}"
            );
            assert_eq!(got, 4_281, "{more} {name}");
        }
        let flows = report.flows().filter(|flow| flow.sent_packets > 0).count();
        assert_eq!(flows, names.len(), "{more}");
    }
}

#[test]
fn what_has_no_model_is_named() {
    for (workload, what) in [
        (
            "kind = \"iperf3\"\nduration = \"10 s\"\nomit = \"2 s\"",
            "an iperf3 test with `omit`",
        ),
        (
            "kind = \"iperf3\"\nprotocol = \"udp\"\nstreams = 6\ndirection = \"bidirectional\"",
            "an iperf3 test of more than ten UDP streams",
        ),
        (
            "kind = \"iperf3\"\nsize = \"1 MiB\"\ncongestion_control = \"vegas\"",
            "the congestion control of this iperf3 test",
        ),
        ("kind = \"command\"\nnear = [\"true\"]", "this kind of workload"),
    ] {
        let plan = plan(workload);
        assert_eq!(
            programs(&plan, &plan.jobs[0], &plan.hosts[0]),
            Err(NotModelled(what)),
            "{workload}"
        );
    }
}

#[test]
fn objects_take_the_time_that_their_bytes_and_round_trips_take() {
    let plan = plan("kind = \"s3-get\"\nsize = \"1 MiB\"\nrequests = 20\nconcurrency = 4");
    let report = run(&plan);
    let transfer = (0..2)
        .flat_map(|host| report.transfers(host))
        .next()
        .expect("a transfer");
    assert!(transfer.complete);
    // 21 MB over 100 Mbit/s are 1.76 s at least.
    let seconds = transfer.duration().seconds();
    assert!((1.75..4.0).contains(&seconds), "{seconds}");
}

//! Jobs as programs of model endpoints.

use slowpath_endpoint::app::{Behaviour, FtpDirection, Pace};
use slowpath_endpoint::tcp::{CongestionControl, ReceiveWindow, SendBuffer};
use slowpath_scenario::plan::programs;
use slowpath_scenario::{Clock, Experiment, Fragments, Plan, PlanOptions, Stack};
use slowpath_units::{BitRate, Duration, Time};

fn plan(client: &str, workload: &str) -> Plan {
    let text = format!(
        "title = \"t\"\n[network]\nboth = [{{ delay = \"5 ms\" }}]\n[workload]\n{workload}\n[hosts]\nclient = {{ {client} }}\n"
    );
    let experiment = Experiment::read("x.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = PlanOptions {
        variant: "default".to_owned(),
        repeat: 0,
        seed: 1,
        clock: Clock::Simulated,
        quick: false,
        size: None,
    };
    experiment.plan(&options, &Fragments::new()).unwrap()
}

fn of(plan: &Plan, host: &str) -> Vec<(Time, Behaviour)> {
    programs(plan, plan.host(host).unwrap()).unwrap()
}

#[test]
fn a_router_stores_what_it_gets_at_its_own_pace() {
    let plan = plan(
        "system = \"cisco-ios\"",
        "kind = \"ftp-get\"\nsize = \"1 MiB\"\nstart = \"2 s\"",
    );
    let [(start, Behaviour::FtpClient(client))] = &of(&plan, "client")[..] else {
        panic!()
    };
    assert_eq!(*start, Time::ZERO + Duration::from_secs(2));
    assert_eq!(client.direction, FtpDirection::Get);
    assert!(matches!(
        client.pace,
        Pace::Units {
            bytes_per_s: 86_948,
            ..
        }
    ));
    let [(Time::ZERO, Behaviour::FtpServer(server))] = &of(&plan, "server")[..] else {
        panic!()
    };
    assert_eq!(
        (server.files[0].bytes, server.port),
        (1 << 20, client.server.port())
    );
}

#[test]
fn iperf3_options_reach_sockets_and_programs() {
    let plan = plan(
        "system = \"windows-iperf3\"",
        "kind = \"iperf3\"\nduration = \"30 s\"\nstreams = 4\nwindow = \"60 KiB\"\ncongestion_control = \"bbr\"",
    );
    let [(_, Behaviour::Bulk(bulk))] = &of(&plan, "client")[..] else {
        panic!()
    };
    assert_eq!(
        (bulk.streams, bulk.duration, bulk.bytes),
        (4, Some(Duration::from_secs(30)), None)
    );
    assert_eq!(bulk.congestion, Some(CongestionControl::Bbr));
    let Stack::Model(client) = &plan.host("client").unwrap().stack else {
        panic!()
    };
    assert!(matches!(
        client.tcp.receive,
        ReceiveWindow::Exact { buffer: 61_440, .. }
    ));
    assert!(matches!(
        client.tcp.send_buffer,
        SendBuffer::Fixed { bytes: 61_440 }
    ));
    let Stack::Model(server) = &plan.host("server").unwrap().stack else {
        panic!()
    };
    // SO_RCVBUF doubles what is asked for, and half of it holds data.
    assert!(matches!(
        server.tcp.receive,
        ReceiveWindow::Fixed { bytes: 122_880, .. }
    ));
}

#[test]
fn directions_choose_the_sender() {
    let reverse = plan("", "kind = \"iperf3\"\ndirection = \"reverse\"");
    assert!(matches!(of(&reverse, "server")[..], [(_, Behaviour::Bulk(_))]));
    assert!(matches!(of(&reverse, "client")[..], [(_, Behaviour::Sink(_))]));
    let both = plan("", "kind = \"iperf3\"\ndirection = \"bidirectional\"");
    assert_eq!((of(&both, "server").len(), of(&both, "client").len()), (2, 2));
}

#[test]
fn datagrams_keep_rate_length_and_bursts() {
    let plan = plan(
        "",
        "kind = \"iperf3\"\nprotocol = \"udp\"\nrate = \"10 Mbit/s\"\nlength = \"8 KiB\"\nburst_interval = \"100 ms\"",
    );
    let [(_, Behaviour::UdpSource(source))] = &of(&plan, "client")[..] else {
        panic!()
    };
    assert_eq!(
        (source.datagram, source.rate, source.interval),
        (8_192, BitRate::new(10_000_000), Duration::from_millis(100))
    );
    let [(_, Behaviour::UdpSink(sink))] = &of(&plan, "server")[..] else {
        panic!()
    };
    assert_eq!(sink.port, source.to.port());
}

#[test]
fn parts_become_requests() {
    let plan = plan(
        "",
        "kind = \"s3-put\"\nsize = \"64 MiB\"\npart_size = \"16 MiB\"\nrequests = 10\nconcurrency = 8",
    );
    let [(_, Behaviour::Requests(requests))] = &of(&plan, "client")[..] else {
        panic!()
    };
    assert_eq!((requests.count, requests.concurrency), (40, 8));
    assert!(requests.request_bytes > 16 << 20 && requests.response_bytes < 1_000);
    let [(_, Behaviour::Responder(responder))] = &of(&plan, "server")[..] else {
        panic!()
    };
    assert_eq!(responder.request_bytes, requests.request_bytes);
}

#[test]
fn what_needs_a_kernel_says_so() {
    for workload in [
        "kind = \"scp\"\nsize = \"1 MiB\"",
        "kind = \"command\"\nnear = [\"true\"]",
    ] {
        let plan = plan("", workload);
        let error = programs(&plan, plan.host("client").unwrap()).unwrap_err();
        assert!(error.to_string().contains("--clock lab"), "{error}");
    }
}

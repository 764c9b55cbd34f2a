//! Changes to a planned run.

use slowpath_endpoint::app::Pace;
use slowpath_endpoint::tcp::{CongestionControl, ReceiveWindow};
use slowpath_path::{Delay, ElementKind, Fifo, Limit, LossModel, Queue, Rate};
use slowpath_scenario::network::QueueSize;
use slowpath_scenario::{
    ApplyError, Backend, Clock, Experiment, Fragments, Intervention, Place, Plan, PlanOptions, Stack, Who,
    Workload,
};
use slowpath_units::{BitRate, ByteCount, Duration, Ratio};

fn plan(client: &str, workload: &str, clock: Clock) -> Plan {
    let text = format!(
        "title = \"t\"\n[network]\nboth = [{{ rate = \"50 Mbit/s\" }}, {{ delay = \"50 ms\" }}, {{ loss = \"0.01 %\" }}]\n\
         [workload]\n{workload}\n[hosts]\nclient = {{ {client} }}\nserver = {{ congestion_control = \"cubic\" }}\n"
    );
    let experiment = Experiment::read("x.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = PlanOptions::first("default", 1, clock);
    experiment.plan(&options, &Fragments::new()).unwrap()
}

fn ftp(client: &str) -> Plan {
    plan(client, "kind = \"ftp-get\"\nsize = \"1 MiB\"", Clock::Lab)
}

#[test]
fn a_larger_window_brings_its_scaling() {
    let base = ftp("system = \"cisco-iosxe\"");
    let change = Intervention::SetWindow {
        host: "client".into(),
        window: ByteCount::new(2_500_000),
    };
    let changed = change.apply(&base).unwrap();
    let Stack::Model(model) = &changed.host("client").unwrap().stack else {
        panic!()
    };
    assert!(matches!(
        model.tcp.receive,
        ReceiveWindow::Exact {
            buffer: 2_500_000,
            ..
        }
    ));
    assert_eq!(model.tcp.scale_shift(), Some(6));
    assert_eq!(
        (changed.seed, &changed.changes[..]),
        (base.seed, &[change.clone()][..])
    );
    assert_eq!(
        change.to_string(),
        "set the receive window of client to 2500000 bytes"
    );
    let small = Intervention::SetWindow {
        host: "client".into(),
        window: ByteCount::new(65_535),
    };
    let back = small.apply(&changed).unwrap();
    let Stack::Model(model) = &back.host("client").unwrap().stack else {
        panic!()
    };
    assert!(
        !model.tcp.window_scaling,
        "a router offers scaling only above 65535"
    );
}

#[test]
fn a_window_on_the_kernel_raises_its_limits() {
    let base = ftp("window_scaling = false");
    let change = Intervention::SetWindow {
        host: "client".into(),
        window: ByteCount::new(4 << 20),
    };
    let changed = change.apply(&base).unwrap();
    let Stack::Kernel(kernel) = &changed.host("client").unwrap().stack else {
        panic!()
    };
    // The kernel makes a window of five quarters of what a program asks for.
    let asked = ((4 << 20) * 4_u64).div_ceil(5);
    assert_eq!(
        (kernel.receive_buffer, kernel.rmem_max),
        (Some(asked), Some(asked))
    );
    assert_eq!((kernel.window_scaling, kernel.window_clamp), (Some(true), None));
}

#[test]
fn a_window_is_the_same_in_both_clocks_and_in_the_file() {
    let load = "kind = \"ftp-get\"\nsize = \"1 MiB\"";
    let change = Intervention::SetWindow {
        host: "client".into(),
        window: ByteCount::new(80_000),
    };
    for clock in [Clock::Lab, Clock::Simulated] {
        let changed = change.apply(&plan("", load, clock)).unwrap();
        let written = plan("window = \"64000 B\"", load, clock);
        assert_eq!(
            changed.host("client").unwrap().stack,
            written.host("client").unwrap().stack,
            "{clock:?}"
        );
    }
}

#[test]
fn a_faster_store_pauses_less() {
    let base = ftp("system = \"cisco-ios\"");
    let faster = Intervention::SetReader {
        host: "client".into(),
        rate: Some(BitRate::new(86_948 * 16)),
    };
    let changed = faster.apply(&base).unwrap();
    let Stack::Model(model) = &changed.host("client").unwrap().stack else {
        panic!()
    };
    let Pace::Units {
        bytes_per_s, pause, ..
    } = model.pace
    else {
        panic!()
    };
    assert_eq!((bytes_per_s, pause), (2 * 86_948, Duration::from_millis(65)));
    let free = Intervention::SetReader {
        host: "client".into(),
        rate: None,
    }
    .apply(&base)
    .unwrap();
    let Stack::Model(model) = &free.host("client").unwrap().stack else {
        panic!()
    };
    assert_eq!(model.pace, Pace::Unlimited);
}

#[test]
fn the_slowest_link_on_the_way_is_the_bottleneck() {
    let text = "title = \"t\"\n[network]\ndown = [{ name = \"fast\", rate = \"100 Mbit/s\" }, { name = \"slow\", rate = \"10 Mbit/s\" }]\n\
                up = [{ name = \"back\", rate = \"1 Mbit/s\" }]\n[workload]\nkind = \"ftp-get\"\nsize = \"1 MiB\"\n";
    let experiment = Experiment::read("x.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = PlanOptions::first("default", 1, Clock::Simulated);
    let base = experiment.plan(&options, &Fragments::new()).unwrap();
    let change = Intervention::ScaleRate {
        place: Place::Bottleneck(Who::Receiver),
        percent: 200,
    };
    let changed = change.apply(&base).unwrap();
    let rates = |plan: &Plan| {
        ["down.fast", "down.slow", "up.back"].map(|name| match &plan.network.element(name).unwrap().does {
            ElementKind::Link(link) => link.rate.clone(),
            other => panic!("{other:?}"),
        })
    };
    let mbit = |rate: u64| Rate::Fixed(BitRate::new(rate * 1_000_000));
    assert_eq!(rates(&base), [mbit(100), mbit(10), mbit(1)]);
    assert_eq!(rates(&changed), [mbit(100), mbit(20), mbit(1)]);
    // A plan's notes name hosts, whatever the change called them.
    assert_eq!(
        changed.changes,
        [Intervention::ScaleRate {
            place: Place::Bottleneck("client".into()),
            percent: 200,
        }]
    );
}

#[test]
fn a_sending_program_loses_its_own_pace() {
    let workload = "kind = \"iperf3\"\nsize = \"1 MB\"\nrate = \"2 Mbit/s\"";
    let base = plan("", workload, Clock::Simulated);
    let free = Intervention::SetWriter {
        host: Who::Sender,
        rate: None,
    };
    let rate = |plan: &Plan| match &plan.jobs[0].workload {
        Workload::Iperf3(test) => test.rate,
        other => panic!("{other:?}"),
    };
    assert_eq!(rate(&base), Some(BitRate::new(2_000_000)));
    assert_eq!(rate(&free.apply(&base).unwrap()), None);
    assert!(matches!(
        free.apply(&ftp("")),
        Err(ApplyError::NothingToChange { .. })
    ));
}

#[test]
fn the_path_changes_one_way_or_both() {
    let base = ftp("");
    let down = Place::Towards("client".into());
    let changed = Intervention::SetRate {
        place: down.clone(),
        rate: BitRate::new(1_000_000),
    }
    .apply(&base)
    .unwrap();
    let rate = |plan: &Plan, name: &str| match &plan.network.element(name).unwrap().does {
        ElementKind::Link(link) => link.rate.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(rate(&changed, "down.rate"), Rate::Fixed(BitRate::new(1_000_000)));
    assert_eq!(rate(&changed, "up.rate"), Rate::Fixed(BitRate::new(50_000_000)));
    let delay = Intervention::SetDelay {
        place: Place::Everywhere,
        delay: Duration::from_millis(5),
    }
    .apply(&base)
    .unwrap();
    for name in ["up.delay", "down.delay"] {
        let ElementKind::Delay(element) = &delay.network.element(name).unwrap().does else {
            panic!()
        };
        assert_eq!(*element, Delay::fixed(Duration::from_millis(5)));
    }
    let loss = Intervention::SetLoss {
        place: Place::Element("down.loss".into()),
        chance: Ratio::ZERO,
    }
    .apply(&base)
    .unwrap();
    let ElementKind::Loss(element) = &loss.network.element("down.loss").unwrap().does else {
        panic!()
    };
    assert_eq!(element.model, LossModel::Random { chance: Ratio::ZERO });
    let queue = Intervention::ResizeQueue {
        place: down,
        queue: QueueSize::Packets(50),
    }
    .apply(&base)
    .unwrap();
    let ElementKind::Link(link) = &queue.network.element("down.rate").unwrap().does else {
        panic!()
    };
    assert_eq!(link.queue, Queue::Fifo(Fifo::new(Limit::Packets(50))));
}

#[test]
fn congestion_control_changes_on_kernel_and_model() {
    let change = Intervention::SetCongestionControl {
        host: "server".into(),
        name: "bbr".into(),
    };
    let kernel = change.apply(&ftp("")).unwrap();
    let Stack::Kernel(server) = &kernel.host("server").unwrap().stack else {
        panic!()
    };
    assert_eq!(server.congestion_control.as_deref(), Some("bbr"));
    let model = change
        .apply(&plan(
            "",
            "kind = \"ftp-get\"\nsize = \"1 MiB\"",
            Clock::Simulated,
        ))
        .unwrap();
    let Stack::Model(server) = &model.host("server").unwrap().stack else {
        panic!()
    };
    assert_eq!(server.tcp.congestion, CongestionControl::Bbr);
}

#[test]
fn the_algorithms_of_rfcs_are_the_models_alone() {
    let text = "title = \"t\"\n[network]\nboth = [{ delay = \"50 ms\" }]\n[workload]\nkind = \"ftp-get\"\n\
                size = \"1 MiB\"\n[hosts]\nserver = { congestion_control = \"cubic-rfc9438\" }\n";
    let experiment = Experiment::read("x.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = |clock| PlanOptions::first("default", 1, clock);
    let simulated = experiment
        .plan(&options(Clock::Simulated), &Fragments::new())
        .unwrap();
    let Stack::Model(server) = &simulated.host("server").unwrap().stack else {
        panic!()
    };
    assert_eq!(server.tcp.congestion, CongestionControl::CubicRfc9438);
    let lab = experiment.plan(&options(Clock::Lab), &Fragments::new());
    let error = lab.unwrap_err().to_string();
    assert!(
        error.contains("no kernel has the congestion control \"cubic-rfc9438\""),
        "{error}"
    );
    assert!(error.contains("stack = \"model\""), "{error}");
}

#[test]
fn ip_qos_becomes_a_line_of_the_right_end() {
    let base = plan(
        "",
        "kind = \"scp\"\nsize = \"1 MiB\"\nclient_options = [\"ipqos af21 cs1\", \"Compression no\"]",
        Clock::Lab,
    );
    let change = Intervention::SetIpQos {
        host: "client".into(),
        interactive: None,
        bulk: None,
    };
    let changed = change.apply(&base).unwrap();
    let Workload::Ssh(ssh) = &changed.main_job().workload else {
        panic!()
    };
    assert_eq!(ssh.client_options, ["Compression no", "IPQoS none"]);
    assert!(ssh.server_options.is_empty());
    let streams = plan(
        "",
        "kind = \"s3-put\"\nsize = \"1 MiB\"\nrequests = 64\nconcurrency = 16",
        Clock::Lab,
    );
    let more = Intervention::SetStreams { count: 32 }.apply(&streams).unwrap();
    let Workload::S3(load) = &more.main_job().workload else {
        panic!()
    };
    assert_eq!(load.concurrency, 32);
}

#[test]
fn a_change_that_changes_nothing_says_so() {
    let base = ftp("");
    let cases = [
        (
            Intervention::SetCongestionControl {
                host: "server".into(),
                name: "cubic".into(),
            },
            "it has no effect to use cubic on server",
        ),
        (
            Intervention::SetWindow {
                host: "router".into(),
                window: ByteCount::new(1),
            },
            "the plan has no host \"router\"",
        ),
        (
            Intervention::RemovePolicer {
                place: Place::Everywhere,
            },
            "there is no policer to change",
        ),
        (
            Intervention::SetStreams { count: 4 },
            "no parallel connection in this job",
        ),
        (
            Intervention::SetRate {
                place: Place::Everywhere,
                rate: BitRate::new(0),
            },
            "nothing passes at rate zero",
        ),
    ];
    for (change, message) in cases {
        let error: ApplyError = change.apply(&base).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn a_real_network_allows_what_our_sockets_decide() {
    let window = Intervention::SetWindow {
        host: "client".into(),
        window: ByteCount::new(1),
    };
    let policer = Intervention::RemovePolicer {
        place: Place::Everywhere,
    };
    assert!(window.possible_on(Backend::Live) && !policer.possible_on(Backend::Live));
    assert!(policer.possible_on(Backend::Lab) && policer.possible_on(Backend::Simulator));
    let text = serde_json::to_string(&policer).unwrap();
    assert_eq!(text, "{\"change\":\"remove-policer\",\"place\":\"everywhere\"}");
    assert_eq!(serde_json::from_str::<Intervention>(&text).unwrap(), policer);
}

#[test]
fn policers_device_limits_and_marks_on_the_way() {
    let text = r#"
title = "t"
[network]
up = [{ police = "10 Mbit/s", burst = "64 KiB", only = { dscp = "cs1" } }, { per_packet = "100 us" }, { delay = "5 ms" }]
down = [{ router = "192.0.2.7" }, { delay = "5 ms" }]
[workload]
kind = "scp"
size = "1 MiB"
"#;
    let experiment = Experiment::read("x.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = PlanOptions::first("default", 1, Clock::Lab);
    let base = experiment.plan(&options, &Fragments::new()).unwrap();
    let names = |plan: &Plan| {
        plan.network
            .elements
            .iter()
            .map(|e| e.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&base),
        [
            "up.police.only",
            "up.police",
            "up.per_packet",
            "up.delay",
            "down.router",
            "down.delay"
        ]
    );
    let router = base.network.element("down.router").unwrap();
    assert_eq!(router.outputs[1].to, "server", "nothing lies behind it");
    let free = Intervention::RemovePolicer {
        place: Place::Towards("server".into()),
    }
    .apply(&base)
    .unwrap();
    free.network.check().unwrap();
    assert!(free.network.element("up.police").is_none());
    assert_eq!(
        free.network.element("up.police.only").unwrap().outputs[0].to,
        "up.per_packet"
    );
    let wrong_way = Intervention::RemovePolicer {
        place: Place::Towards("client".into()),
    }
    .apply(&base);
    assert!(matches!(wrong_way, Err(ApplyError::NothingToChange { .. })));
    let lifted = Intervention::LiftDeviceLimit {
        place: Place::Everywhere,
    }
    .apply(&base)
    .unwrap();
    let ElementKind::Device(device) = &lifted.network.element("up.per_packet").unwrap().does else {
        panic!()
    };
    assert_eq!(device.cost.per_packet, Duration::ZERO);
    let clear = Intervention::Remark {
        place: Place::Towards("server".into()),
        dscp: slowpath_packet::Dscp::DEFAULT,
    };
    let clear = clear.apply(&base).unwrap();
    clear.network.check().unwrap();
    let client = clear
        .network
        .ports
        .iter()
        .find(|port| port.name == "client")
        .unwrap();
    assert_eq!(client.entry.as_ref().unwrap().to, "remark.client");
    assert_eq!(
        clear.network.element("remark.client").unwrap().outputs[0].to,
        "up.police.only"
    );
    let server = clear
        .network
        .ports
        .iter()
        .find(|port| port.name == "server")
        .unwrap();
    assert_eq!(server.entry.as_ref().unwrap().to, "down.router");
}

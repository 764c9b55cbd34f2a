//! The experiment file from text to plan.

use slowpath_endpoint::app::Pace;
use slowpath_endpoint::tcp::{ReceiveWindow, SendBuffer};
use slowpath_path::{Classify, ElementKind, Tap};
use slowpath_scenario::device::{DeviceElements, DevicePart};
use slowpath_scenario::workload::{DataMode, Direction, FtpTransfer};
use slowpath_scenario::{
    Clock, Experiment, Fragments, HostSettings, Plan, PlanOptions, Stack, Standing, System, Workload,
};
use slowpath_units::{BitRate, ByteCount, Duration};

#[test]
fn hosts_of_a_variant_speak_one_ip_version() {
    let network = |element: &str| format!("title = \"t\"\n[network]\nboth = [{element}]\n");
    let job = "[workload]\nkind = \"ftp-get\"\nsize = \"1 MiB\"\n";
    let v6 = "[hosts.server]\naddress = \"2001:db8::2\"\n";
    let mtu = network("{ mtu = \"1400 B\" }");
    let planned = read(&format!("{mtu}{job}{v6}"))
        .plan(&options("default", Clock::Simulated), &Fragments::new())
        .unwrap();
    let [client, server] = planned.hosts.as_slice() else {
        panic!("{:?}", planned.hosts)
    };
    assert_eq!(client.address.to_string(), "2001:2:0:1::2");
    assert_eq!(
        (server.address.to_string().as_str(), server.ip_header()),
        ("2001:db8::2", 40)
    );
    let ElementKind::Mtu(mtu) = &planned.network.element("up.mtu").unwrap().does else {
        panic!()
    };
    assert!(mtu.answers_as.unwrap().is_ipv6());
    let Workload::Ftp(FtpTransfer { data, .. }) = &planned.jobs[0].workload else {
        panic!()
    };
    assert_eq!(*data, DataMode::ExtendedPassive);

    let frames = "[workload]\nkind = \"frames\"\nframe = \"1024 B\"\nline = \"1 Gbit/s\"\nload = \"1 %\"\n";
    for (element, job, hosts, expected) in [
        (
            "{ delay = \"1 ms\" }",
            job,
            "[hosts.client]\naddress = \"192.0.2.1\"\n",
            "192.0.2.1 is no such address",
        ),
        (
            "{ router = \"192.0.2.7\" }",
            job,
            "",
            "192.0.2.7 is no such address",
        ),
        (
            "{ mtu = \"1200 B\" }",
            job,
            "",
            "no IPv6 link has an MTU of 1200 bytes",
        ),
        (
            "{ delay = \"1 ms\" }",
            frames,
            "",
            "generated frames carry IPv4 only",
        ),
    ] {
        let text = format!("{}{job}{hosts}{v6}", network(element));
        let problem = Experiment::read("x.toml", &text, &[]).unwrap_err().to_string();
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
    let text = network("{ router = \"2001:db8::7\" }") + job;
    let problem = Experiment::read("x.toml", &text, &[]).unwrap_err().to_string();
    assert!(problem.contains("speak IPv4, and 2001:db8::7"), "{problem}");
}

const FTP: &str = r#"
title = "FTP download by router operating systems over a long path"
reference = "cisco-ftp"

[network]
both = [{ rate = "50 Mbit/s", queue = "1000 packets" }, { delay = "50 ms" }, { loss = "0.01 %" }]

[workload]
kind = "ftp-get"
size = "50 MiB"
quick_size = "4 MiB"
repeats = 3

[hosts.server]
system = "linux"
congestion_control = "cubic"

[[variants]]
name = "linux"
workload.repeats = 20

[[variants]]
name = "linux-clean"
network.both = [{ rate = "50 Mbit/s" }]

[[variants]]
name = "iosxe-default"
hosts.client = { system = "cisco-iosxe" }
figures = [{ id = "goodput", value = "151542 B/s", tolerance = "3 %", standing = "fitted" }]

[[variants]]
name = "ios-tuned"
hosts.client = { system = "cisco-ios", config = "tuned.cfg" }
"#;

fn read(text: &str) -> Experiment {
    Experiment::read("x.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn options(variant: &str, clock: Clock) -> PlanOptions {
    PlanOptions::first(variant, 1, clock)
}

fn tuned() -> Fragments {
    let settings = HostSettings {
        window: Some(ByteCount::new(2_500_000)),
        sack: Some(true),
        ..HostSettings::default()
    };
    Fragments::from([("tuned.cfg".to_owned(), settings)])
}

fn plan(variant: &str, clock: Clock) -> Plan {
    read(FTP)
        .plan(&options(variant, clock), &tuned())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_first_experiment_becomes_a_plan() {
    let plan = plan("iosxe-default", Clock::Lab);
    assert_eq!(
        plan.hosts.iter().map(|h| h.name.as_str()).collect::<Vec<_>>(),
        ["client", "server"]
    );
    let names: Vec<&str> = plan.network.elements.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "up.rate",
            "up.delay",
            "up.loss",
            "down.rate",
            "down.delay",
            "down.loss"
        ]
    );
    let ElementKind::Link(link) = &plan.network.elements[0].does else {
        panic!("{:?}", plan.network)
    };
    assert_eq!(link.rate, slowpath_path::Rate::Fixed(BitRate::new(50_000_000)));
    let Workload::Ftp(FtpTransfer { size, direction, .. }) = &plan.main_job().workload else {
        panic!()
    };
    assert_eq!((size.bytes(), *direction), (52_428_800, Direction::Download));
    assert_eq!((plan.sender(), plan.receiver()), ("server", "client"));
    assert_eq!(plan.figures[0].standing, Standing::Fitted);
    assert_eq!(plan.full_size, None);
    let Stack::Kernel(server) = &plan.host("server").unwrap().stack else {
        panic!()
    };
    assert_eq!(server.congestion_control.as_deref(), Some("cubic"));
    let client = plan.host("client").unwrap();
    assert_eq!(client.system, System::CiscoIosXe);
    let Stack::Model(model) = &client.stack else {
        panic!("a router is a model endpoint")
    };
    assert!(matches!(
        model.tcp.receive,
        ReceiveWindow::Exact { buffer: 16_384, .. }
    ));
    assert!(!model.tcp.window_scaling && !model.tcp.sack && !model.tcp.timestamps);
    assert_eq!(model.pace, Pace::Unlimited);
    assert!(
        plan.assumptions
            .iter()
            .any(|a| a.value == "16384 B" && a.standing == Standing::Fitted)
    );
}

#[test]
fn a_configured_router_scales_its_window_and_still_writes_slowly() {
    let plan = plan("ios-tuned", Clock::Lab);
    let Stack::Model(model) = &plan.host("client").unwrap().stack else {
        panic!()
    };
    assert!(matches!(
        model.tcp.receive,
        ReceiveWindow::Exact {
            buffer: 2_500_000,
            ..
        }
    ));
    assert!(model.tcp.window_scaling && model.tcp.sack && !model.tcp.timestamps);
    assert_eq!(model.tcp.scale_shift(), Some(6));
    let Pace::Units {
        bytes_per_s, unit, ..
    } = model.pace
    else {
        panic!()
    };
    assert_eq!((bytes_per_s, unit), (86_948, 65_536));
    let missing = read(FTP)
        .plan(&options("ios-tuned", Clock::Lab), &Fragments::new())
        .unwrap_err();
    assert!(
        missing
            .to_string()
            .contains("\"tuned.cfg\" of host \"client\" was not read"),
        "{missing}"
    );
}

#[test]
fn variants_change_single_keys_and_whole_lists() {
    let experiment = read(FTP);
    assert_eq!(experiment.variant("linux").unwrap().repeats.runs, 20);
    assert_eq!(experiment.variant("iosxe-default").unwrap().repeats.runs, 3);
    assert_eq!(experiment.variant("linux-clean").unwrap().network.down.len(), 1);
    assert_eq!(experiment.config_files().len(), 1);
    let clean = plan("linux-clean", Clock::Lab);
    assert!(
        clean
            .assumptions
            .iter()
            .any(|a| a.place == "down.rate" && a.value == "1000 packets")
    );
    let one_way = read(&FTP.replace("network.both = [{ rate", "network.down = [{ rate"));
    let variant = one_way.variant("linux-clean").unwrap();
    assert_eq!(
        (variant.network.up.len(), variant.network.down.len()),
        (3, 1),
        "`both` splits into its two ways"
    );
}

#[test]
fn simulated_time_makes_every_host_a_model() {
    let plan = plan("linux", Clock::Simulated);
    assert!(
        plan.hosts
            .iter()
            .all(|host| matches!(host.stack, Stack::Model(_)))
    );
}

#[test]
fn seeds_and_digests_depend_on_everything_and_nothing_else() {
    let base = plan("linux", Clock::Lab);
    assert_eq!(base.digest(), plan("linux", Clock::Lab).digest());
    assert_ne!(base.digest(), plan("linux-clean", Clock::Lab).digest());
    let experiment = read(FTP);
    let again = experiment
        .plan(
            &PlanOptions {
                repeat: 1,
                ..options("linux", Clock::Lab)
            },
            &tuned(),
        )
        .unwrap();
    assert_ne!(again.seed, base.seed);
    let text = serde_json::to_string(&base).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), base);
}

#[test]
fn quick_runs_say_what_they_leave_out() {
    let quick = PlanOptions {
        quick: true,
        ..options("linux", Clock::Lab)
    };
    let plan = read(FTP).plan(&quick, &tuned()).unwrap();
    assert_eq!(plan.main_job().workload.size(), Some(ByteCount::new(4 << 20)));
    assert_eq!(plan.full_size, Some(ByteCount::new(50 << 20)));
}

#[test]
fn overrides_reach_every_variant() {
    let set = [
        ("network.both[1].delay".to_owned(), "20 ms".to_owned()),
        ("hosts.server.congestion_control".to_owned(), "bbr".to_owned()),
    ];
    let one = r#"
title = "t"
[network]
both = [{ rate = "1 Mbit/s" }, { delay = "5 ms" }]
[workload]
kind = "ping"
"#;
    let experiment = Experiment::read("x.toml", one, &set).unwrap();
    let plan = experiment
        .plan(&options("default", Clock::Lab), &Fragments::new())
        .unwrap();
    let ElementKind::Delay(delay) = &plan.network.element("up.delay").unwrap().does else {
        panic!()
    };
    assert_eq!(*delay, slowpath_path::Delay::fixed(Duration::from_millis(20)));
    // One direction of a path that is the same both ways.
    let down = [("network.down[1].delay".to_owned(), "20 ms".to_owned())];
    let experiment = Experiment::read("x.toml", one, &down).unwrap();
    let plan = experiment
        .plan(&options("default", Clock::Lab), &Fragments::new())
        .unwrap();
    for (element, millis) in [("up.delay", 5), ("down.delay", 20)] {
        let ElementKind::Delay(delay) = &plan.network.element(element).unwrap().does else {
            panic!()
        };
        assert_eq!(*delay, slowpath_path::Delay::fixed(Duration::from_millis(millis)));
    }
    let wrong = [("network.up[7].delay".to_owned(), "20 ms".to_owned())];
    let shown = Experiment::read("x.toml", one, &wrong).unwrap_err().to_string();
    assert!(
        shown.contains("--set network.up[7].delay:1:1: error: `network.up[7].delay` leads nowhere"),
        "{shown}"
    );
    assert_eq!(shown.matches("error: ").count(), 1, "{shown}");
}

/// What is wrong (a replacement in the good file), and what the message must contain.
#[test]
fn mistakes_are_named_with_place_and_correction() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "title = \"FTP",
            "titel = \"FTP",
            &["unknown key `titel`", "did you mean `title`?"],
        ),
        (
            "\"50 Mbit/s\", queue",
            "\"50 MB/s\", queue",
            &["x.toml:6:18: error: `network.both[0].rate`", "write \"Mbit/s\""],
        ),
        (
            "\"50 ms\"",
            "50",
            &[
                "x.toml:6:67: error: `network.both[1].delay`: \"50\" has no unit",
                "units are mandatory",
            ],
        ),
        (
            "loss = \"0.01 %\"",
            "los = \"0.01 %\"",
            &["this element does nothing", "did you mean `loss`?"],
        ),
        (
            "{ delay = \"50 ms\" }, { loss",
            "{ delay = \"50 ms\", loss",
            &["cannot be `delay`, `loss` at once"],
        ),
        (
            "kind = \"ftp-get\"",
            "kind = \"ftp-gte\"",
            &["`workload.kind` is \"ftp-gte\"", "did you mean \"ftp-get\"?"],
        ),
        (
            "size = \"50 MiB\"\nq",
            "size = \"50 MB/s\"\nq",
            &["`workload.size`: \"MB/s\" is not a unit"],
        ),
        (
            "quick_size = \"4 MiB\"",
            "quick_size = \"80 MiB\"",
            &["`quick_size` of 80 MiB is larger than the full 50 MiB"],
        ),
        (
            "repeats = 3",
            "repeats = 0",
            &["`workload.repeats` is 0, but must be 1 to 10000"],
        ),
        (
            "congestion_control = \"cubic\"",
            "congestion_control = \"cubik\"",
            &["did you mean \"cubic\"?"],
        ),
        (
            "congestion_control = \"cubic\"",
            "window = \"1 MiB\"\nwindow_scaling = false",
            &["cannot be advertised with window_scaling = false"],
        ),
        (
            "congestion_control = \"cubic\"",
            "window = \"1 MiB\"\nrmem = [\"4 KiB\", \"1 MiB\", \"2 MiB\"]",
            &["`rmem` has no effect"],
        ),
        (
            "congestion_control = \"cubic\"",
            "congestion_controll = \"cubic\"",
            &[
                "unknown key `hosts.server.congestion_controll`",
                "did you mean `congestion_control`?",
            ],
        ),
        (
            "[hosts.server]",
            "[hosts.sever]",
            &["the host \"sever\" takes part in no job"],
        ),
        (
            "system = \"cisco-iosxe\"",
            "system = \"cisco-ios-xe\"",
            &["did you mean \"cisco-iosxe\"?"],
        ),
        (
            "name = \"linux-clean\"",
            "name = \"linux\"",
            &["two variants are named \"linux\""],
        ),
        (
            "name = \"linux-clean\"",
            "name = \"linux clean\"",
            &["\"linux clean\" cannot name a variant"],
        ),
        (
            "standing = \"fitted\"",
            "standing = \"guessed\"",
            &["choices: `predicted`, `fitted`"],
        ),
        (
            "\"151542 B/s\"",
            "\"151542\"",
            &["\"151542\" is not a figure with a unit"],
        ),
        ("[workload]", "[workload", &["not TOML"]),
        (
            "kind = \"ftp-get\"",
            "kind = \"ftp-get\"\nrate = \"1 Mbit/s\"",
            &["unknown key `workload.rate`"],
        ),
        (
            "network.both = [{ rate = \"50 Mbit/s\" }]",
            "network = { both = [], up = [] }",
            &["contradicts"],
        ),
        (
            "network.both = [{ rate = \"50 Mbit/s\" }]",
            "network.both = [{ rate = \"0 bit/s\" }]",
            &["`network.both[0].rate` is zero"],
        ),
    ];
    for (from, to, wanted) in cases {
        assert!(FTP.contains(from), "{from}");
        let shown = match Experiment::read("x.toml", &FTP.replacen(from, to, 1), &[]) {
            Ok(_) => panic!("{to} was accepted"),
            Err(errors) => errors.to_string(),
        };
        for part in *wanted {
            assert!(shown.contains(part), "{to}: wanted {part:?} in\n{shown}");
        }
    }
}

#[test]
fn every_mistake_is_reported_once() {
    let twice = FTP
        .replace("repeats = 3", "repeats = 3\nsped = 1")
        .replace("\"50 ms\"", "\"50\"");
    let errors = Experiment::read("x.toml", &twice, &[]).unwrap_err();
    assert_eq!(errors.list.len(), 2, "{errors}");
}

#[test]
fn several_hosts_of_one_end_share_the_path() {
    let text = r#"
title = "t"
captures = "none"
[network]
up = [{ per_packet = "47500 ns", per_kilobyte = "57600 ns", ring = 64 }, { rate = "100 Mbit/s", layer = "L1" }]
down = []
[workload]
kind = "frames"
name = "tcp"
client = "gen1"
server = "sink"
protocol = "tcp"
frame = "1024 B"
line = "100 Mbit/s"
load = "50 %"
[[background]]
kind = "frames"
name = "udp"
client = "gen2"
server = "sink"
frame = "1024 B"
line = "100 Mbit/s"
load = "50 %"
"#;
    let plan = read(text)
        .plan(&options("default", Clock::Simulated), &Fragments::new())
        .unwrap();
    assert_eq!(
        plan.hosts.iter().map(|h| h.name.as_str()).collect::<Vec<_>>(),
        ["gen1", "gen2", "sink"]
    );
    assert_ne!(plan.hosts[0].address, plan.hosts[1].address);
    let ElementKind::Device(device) = &plan.network.element("up.per_packet").unwrap().does else {
        panic!()
    };
    assert_eq!(
        (device.rings.as_slice(), device.cost.per_byte_ps),
        (&[64, 64][..], 57_600)
    );
    let entries: Vec<_> = plan
        .network
        .ports
        .iter()
        .map(|port| port.entry.clone().unwrap())
        .collect();
    assert_eq!((entries[0].input, entries[1].input), (0, 1));
    assert_eq!(
        entries[2].to, "down.hosts",
        "packets back are told apart by their address"
    );
    let back = plan.network.element("down.hosts").unwrap();
    assert_eq!(
        back.outputs.iter().map(|o| o.to.as_str()).collect::<Vec<_>>(),
        ["gen1", "gen2"]
    );
    let both_ends = text.replace("server = \"sink\"\nframe", "server = \"gen1\"\nframe");
    let shown = Experiment::read("x.toml", &both_ends, &[])
        .unwrap_err()
        .to_string();
    assert!(
        shown.contains("\"gen1\" would be on both ends of the path"),
        "{shown}"
    );
}

#[test]
fn devices_on_the_path_name_their_configuration() {
    let text = r#"
title = "t"
[network]
up = [{ device = "on.cfg", system = "rtx2000", port = "lan1.4", line = "100 Mbit/s" }]
down = []
[workload]
kind = "ping"
"#;
    let experiment = read(text);
    let uses = experiment.device_uses();
    assert_eq!(
        (uses.len(), uses[0].port.as_str(), uses[0].far),
        (1, "lan1.4", true)
    );
    let unread = experiment
        .plan(&options("default", Clock::Lab), &Fragments::new())
        .unwrap_err()
        .to_string();
    assert!(
        unread.contains("x.toml:4:7: error: the configuration of this device was not read"),
        "{unread}"
    );
    let wrong = Experiment::read("x.toml", &text.replace("rtx2000", "toaster"), &[])
        .unwrap_err()
        .to_string();
    assert!(
        wrong.contains("no reader for a device of system \"toaster\""),
        "{wrong}"
    );
    let short = Experiment::read("x.toml", &text.replace(", port = \"lan1.4\"", ""), &[])
        .unwrap_err()
        .to_string();
    assert!(short.contains("`network.up[0].port` is missing"), "{short}");
}

/// An element of a device that is for some packets, and is given all: its classifier has one way out.
#[test]
fn an_element_of_a_device_for_every_packet_is_wired() {
    let text = r#"
title = "t"
[network]
up = [{ device = "a.cfg", system = "cisco-ios", port = "Gi1", line = "100 Mbit/s" }]
down = []
[workload]
kind = "ping"
"#;
    let experiment = read(text);
    for (default_output, ways) in [(0, 1), (1, 2)] {
        let part = DevicePart {
            name: "police-class-default".to_owned(),
            does: ElementKind::Tap(Tap { record: false }),
            only: Some(Classify {
                rules: Vec::new(),
                default_class: None,
                default_output,
            }),
        };
        let mut fragments = Fragments::new();
        let device = DeviceElements {
            elements: vec![part],
            assumptions: Vec::new(),
        };
        fragments.insert_device(experiment.device_uses()[0].clone(), device);
        let plan = experiment.plan(&options("default", Clock::Simulated), &fragments);
        let plan = plan.unwrap_or_else(|error| panic!("{error}"));
        let only = plan
            .network
            .element("up.device.police-class-default.only")
            .unwrap();
        assert_eq!(only.outputs.len(), ways);
        plan.network.check().unwrap_or_else(|error| panic!("{error}"));
    }
}

/// The first built-in experiment, as it is in the repository.
#[test]
fn the_built_in_experiment_is_planned_for_both_clocks() {
    let text = include_str!("../../../experiments/cisco-ftp/experiment.toml");
    let experiment = Experiment::read("cisco-ftp", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(experiment.warnings.list.is_empty(), "{}", experiment.warnings);
    for variant in &experiment.variants {
        for clock in [Clock::Lab, Clock::Simulated] {
            let plan = experiment.plan(&options(&variant.name, clock), &tuned());
            let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", variant.name));
            assert!(
                !plan.figures.is_empty() && plan.hosts.len() == 2,
                "{}",
                variant.name
            );
        }
    }
}

/// The guide's example is read as it stands, and every key that the guide names exists.
#[test]
fn the_guide_tells_the_truth() {
    let guide = include_str!("../../../docs/guide/experiment-files.md");
    let example = guide
        .split("```toml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    assert_eq!(read(example).variants.len(), 3);
    let elements = [
        "{ rate = \"1 Mbit/s\", queue = \"20 ms\", layer = \"L2+FCS\", discipline = \"codel\", ecn = true }",
        "{ delay = \"5 ms\", jitter = \"1 ms\", reorder = true }",
        "{ loss = { to_bad = \"1 %\", to_good = \"20 %\", in_bad = \"50 %\" } }",
        "{ loss = { packets = [3, 10] } }",
        "{ duplicate = \"1 %\" }",
        "{ police = \"1 Mbit/s\", burst = \"64 KiB\", layer = \"L3\", only = { dscp = \"cs1\", protocol = \"tcp\", port = 22 } }",
        "{ shape = \"1 Mbit/s\", burst = \"64 KiB\", queue = \"50 packets\" }",
        "{ mark = \"0\" }",
        "{ mtu = \"1280 B\", address = \"192.0.2.9\" }",
        "{ mtu = \"1280 B\", black_hole = true }",
        "{ router = \"192.0.2.1\" }",
        "{ per_packet = \"10 us\", per_kilobyte = \"1 us\", ring = 64 }",
        "{ clamp_mss = 1400 }",
        "{ remove_window_scale = true }",
        "{ tunnel_end = true }",
        "{ tap = \"middle\" }",
    ];
    let text = format!(
        "title = \"t\"\nnetwork.up = [{}]\nnetwork.down = []\nworkload = {{ kind = \"ping\" }}\n\
         hosts.client = {{ window = \"64 KiB\", send_buffer = \"64 KiB\", rmem_max = \"1 MiB\", wmem_max = \"1 MiB\", sack = true, \
         timestamps = false, ecn = \"passive\", mss = 1400, initial_window = 10, pacing = \"1 Mbit/s\", dscp = \"af21\", qdisc = \"fq\", \
         storage = {{ rate = \"695584 bit/s\", unit = \"64 KiB\", pause = \"100 ms\" }}, address = \"198.18.9.9\" }}\n",
        elements.join(", ")
    );
    let plan = read(&text).plan(&options("default", Clock::Lab), &Fragments::new());
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    assert!(plan.network.elements.len() >= elements.len());
    for element in elements {
        let key = element.trim_start_matches("{ ").split(' ').next().unwrap();
        assert!(guide.contains(&format!("| `{key}` |")), "{key}");
    }
}

#[test]
fn storage_of_a_host_that_only_sends_is_said_to_have_no_effect() {
    let warned = |host: &str| {
        let text = format!(
            "title = \"t\"\n[network]\nboth = [{{ delay = \"1 ms\" }}]\n[workload]\nkind = \"ftp-get\"\nsize = \"1 MiB\"\n\
             [hosts.{host}]\nstorage = {{ rate = \"8 Mbit/s\" }}\n"
        );
        read(&text).warnings.to_string()
    };
    assert!(
        warned("server").contains("has no effect: no job sends data to it"),
        "{}",
        warned("server")
    );
    assert_eq!(warned("client"), "");
}

#[test]
fn a_store_takes_its_time_and_connections_may_be_used_once() {
    let base = "title = \"t\"\n[network]\nboth = [{ delay = \"1 ms\" }]\n[workload]\nkind = \"s3-put\"\nsize = \"1 MiB\"\n";
    let load = |more: &str| {
        let experiment = read(&format!("{base}{more}"));
        let plan = experiment
            .plan(&options("default", Clock::Simulated), &Fragments::new())
            .unwrap();
        match &plan.main_job().workload {
            Workload::S3(load) => load.clone(),
            other => panic!("{other:?}"),
        }
    };
    let plain = load("");
    assert!(plain.reuse);
    assert_eq!(plain.service_time, Duration::ZERO);
    let set = load("reuse = false\nservice_time = \"600 ms\"\n");
    assert!(!set.reuse);
    assert_eq!(set.service_time, Duration::from_millis(600));
    assert!(!plain.fixed_shares);
    assert!(load("requests = 8\nfixed_shares = true\n").fixed_shares);
    let parts = format!("{base}requests = 8\nfixed_shares = true\npart_size = \"64 KiB\"\n");
    let wrong = Experiment::read("x.toml", &parts, &[]).unwrap_err();
    assert!(wrong.to_string().contains("whole objects"), "{wrong}");
    let wrong = Experiment::read("x.toml", &format!("{base}service_time = 600\n"), &[]).unwrap_err();
    assert!(wrong.to_string().contains("service_time"), "{wrong}");
}

#[test]
fn windows_sends_a_whole_window_per_round_trip() {
    let experiment = read(
        "title = \"t\"\n[network]\nboth = [{ delay = \"1 ms\" }]\n[workload]\nkind = \"iperf3\"\n\
         window = \"60 KiB\"\n[hosts]\nclient = { system = \"windows-iperf3\" }\n",
    );
    let plan = experiment
        .plan(&options("default", Clock::Simulated), &Fragments::new())
        .unwrap();
    let client = plan.host("client").unwrap();
    let Stack::Model(model) = &client.stack else {
        panic!("{client:?}");
    };
    assert!(matches!(
        model.tcp.receive,
        ReceiveWindow::Exact { buffer: 61_440, .. }
    ));
    let SendBuffer::Fixed { bytes } = model.tcp.send_buffer else {
        panic!("{model:?}");
    };
    assert!(bytes > 2 * 61_440, "the next window waits while one is under way");
}

/// What was set need not fit the variants that nobody asked for.
#[test]
fn what_is_set_must_fit_the_chosen_variants_only() {
    let text = r#"
        title = "t"
        [network]
        up = [{ rate = "1 Gbit/s" }]
        down = [{ rate = "1 Gbit/s" }]
        [workload]
        kind = "iperf3"
        size = "1 MB"
        [[variants]]
        name = "plain"
        [[variants]]
        name = "far"
        network.up = [{ rate = "1 Gbit/s" }, { delay = "10 ms" }]
    "#;
    let set = [("network.up[1].delay".to_owned(), "20 ms".to_owned())];
    let names = |chosen: &[&str]| {
        let chosen: Vec<String> = chosen.iter().map(|name| (*name).to_owned()).collect();
        Experiment::read_for("x.toml", text, &set, &chosen).map(|experiment| {
            let names = experiment.variants.iter().map(|variant| variant.name.clone());
            names.collect::<Vec<_>>()
        })
    };
    assert_eq!(names(&["far"]).unwrap(), ["far"]);
    for chosen in [&[][..], &["plain"], &["plain", "far"]] {
        let said = names(chosen).unwrap_err().to_string();
        assert!(said.contains("leads nowhere"), "{chosen:?}: {said}");
    }
    // A mistake of the file itself is one, whoever is chosen.
    let broken = text.replace("{ delay = \"10 ms\" }", "{ delay = \"10\" }");
    let read = Experiment::read_for("x.toml", &broken, &set, &["plain".to_owned()]);
    assert!(read.is_err());
}

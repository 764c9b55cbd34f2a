//! Sixteen modelled routers between two kernels: a real traceroute and our own name each of them.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::process::{Command, Stdio};

use slowpath_lab::{HostSpec, KernelSettings, Lab, LabSpec, Stack, WireSettings};
use slowpath_sys::namespace::{Capability, has_capability};
use slowpath_units::Duration;
use slowpath_workload::probe::{Method, TraceConfig, trace};
use slowpath_workload::{Context, Permission};

const ROUTERS: u8 = 16;
const FAR: [u8; 4] = [198, 18, 2, 2];

fn router(number: u8) -> IpAddr {
    [203, 0, 113, number].into()
}

/// Sixteen routers with 1 ms behind each, and the same delay back.
fn lab() -> Lab {
    let mut path = String::from("up: ");
    for number in 1..=ROUTERS {
        write!(path, "router {}, delay 1 ms, ", router(number)).unwrap();
    }
    let up = path.trim_end_matches(", ");
    let down = vec!["delay 1 ms"; usize::from(ROUTERS)].join(", ");
    let network = slowpath::shell::network(&format!("{up}; down: {down}")).unwrap_or_else(|e| panic!("{e}"));
    let host = |name: &str, address: [u8; 4]| HostSpec {
        name: name.to_owned(),
        addresses: vec![address.into()],
        mtu: 1_500,
        stack: Stack::Kernel(KernelSettings::default()),
    };
    let spec = LabSpec {
        hosts: vec![host("near", [198, 18, 1, 2]), host("far", FAR)],
        network,
        seed: 1,
        wire: WireSettings::default(),
    };
    Lab::build(&spec, None).unwrap_or_else(|error| panic!("{error}"))
}

fn permitted(test: &str) -> bool {
    let permitted = has_capability(Capability::SysAdmin).unwrap_or(false);
    if !permitted {
        eprintln!("skipped: {test}: needs root, or a user namespace entered before the test threads start");
    }
    permitted
}

#[test]
fn our_trace_names_sixteen_routers() {
    if !permitted("our_trace_names_sixteen_routers") {
        return;
    }
    let lab = lab();
    let context = Context::new()
        .with_timeout(Duration::from_secs(60))
        .with_permission(Permission::OwnNamespace);
    for method in [Method::Udp, Method::Icmp] {
        let config = TraceConfig {
            method,
            probes: 1,
            ..TraceConfig::new(FAR.into())
        };
        let report = lab.run_in("near", || trace(&config, &context)).unwrap().unwrap();
        assert!(report.reached, "{method:?}: {report:?}");
        assert_eq!(
            report.hops.len(),
            usize::from(ROUTERS) + 1,
            "{method:?}: {report:?}"
        );
        for (hop, number) in report.hops.iter().zip(1..=ROUTERS) {
            let reply = hop
                .replies
                .first()
                .unwrap_or_else(|| panic!("{method:?}: {hop:?}"));
            assert_eq!(reply.from, router(number), "{method:?}: {hop:?}");
            // The router quotes the probe as it saw it: with a TTL that has run down to 1.
            let quoted = reply
                .error
                .and_then(|error| error.quoted)
                .expect("a quoted header");
            assert_eq!(
                (quoted.ttl, quoted.destination),
                (1, IpAddr::from(FAR)),
                "{method:?}: {hop:?}"
            );
            // Two milliseconds for each router passed on the way.
            let least = Duration::from_millis(2) * u64::from(number - 1);
            assert!(reply.rtt >= least, "{method:?}: {hop:?}");
        }
        assert_eq!(
            report.hops[usize::from(ROUTERS)].replies[0].from,
            IpAddr::from(FAR)
        );
    }
    lab.finish();
}

#[test]
fn a_real_traceroute_names_sixteen_routers() {
    const NAME: &str = "a_real_traceroute_names_sixteen_routers";
    if !permitted(NAME) {
        return;
    }
    let known = Command::new("traceroute")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !known.is_ok_and(|status| status.success()) {
        eprintln!("skipped: {NAME}: the program traceroute is not installed");
        return;
    }
    let lab = lab();
    let mut command = Command::new("traceroute");
    command
        .args(["-n", "-q", "1", "-w", "2", "-N", "1", "198.18.2.2"])
        .stdout(Stdio::piped());
    let output = lab.spawn("near", command).unwrap().wait_with_output().unwrap();
    lab.finish();
    let text = String::from_utf8_lossy(&output.stdout);
    let hops: Vec<&str> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let mut wanted: Vec<String> = (1..=ROUTERS).map(|number| router(number).to_string()).collect();
    wanted.push("198.18.2.2".to_owned());
    assert_eq!(hops, wanted, "{text}");
}

//! Several hosts and paths in one lab, and programs in them.

use std::process::{Command, Stdio};
use std::thread::scope;

use slowpath_lab::{HostSpec, KernelSettings, Lab, LabError, LabSpec, Mounts, Stack, WireSettings};
use slowpath_path::{NetworkSpec, Target};
use slowpath_units::Duration;

use crate::support::{EARLY, delay, loss, nic, permitted, ping, two_hosts};

/// Two pairs of hosts with a path of their own each, unlike in the two directions.
fn two_pairs() -> LabSpec {
    let mut network = NetworkSpec::default();
    let mut hosts = Vec::new();
    for (pair, (there, back)) in [("2 ms", "8 ms"), ("30 ms", "0 ms")].into_iter().enumerate() {
        let name = |side: usize| format!("{}{pair}", ["left", "right"][side]);
        for (side, one_way) in [there, back].into_iter().enumerate() {
            let chain = vec![
                (format!("{}.nic", name(side)), nic()),
                (format!("{}.delay", name(side)), delay(one_way)),
            ];
            let entry = network.add_chain(chain, &Target::to(name(1 - side)));
            network.ports.push(slowpath_path::PortSpec {
                name: name(side),
                entry: Some(entry),
            });
            hosts.push(HostSpec {
                name: name(side),
                addresses: vec![address(pair, side)],
                mtu: 1500,
                stack: Stack::Kernel(KernelSettings::default()),
            });
        }
    }
    LabSpec {
        hosts,
        network,
        seed: 1,
        wire: WireSettings::default(),
    }
}

fn address(pair: usize, side: usize) -> std::net::IpAddr {
    [10, 80, u8::try_from(pair).unwrap(), u8::try_from(side).unwrap()].into()
}

#[test]
fn several_paths_run_at_once() {
    if !permitted("several_paths_run_at_once") {
        return;
    }
    let lab = Lab::build(&two_pairs(), None).unwrap();
    let times: Vec<Vec<Duration>> = scope(|scope| {
        let pings = (0..2).map(|pair| {
            let lab = &lab;
            scope.spawn(move || {
                let to = address(pair, 1);
                lab.run_in(&format!("left{pair}"), || ping(to, 20, std::time::Duration::ZERO))
                    .unwrap()
            })
        });
        let pings: Vec<_> = pings.collect();
        pings.into_iter().map(|ping| ping.join().unwrap()).collect()
    });
    // Never early; how late the latest of them is, is the machine's doing.
    for (times, millis) in times.iter().zip([10, 30]) {
        let (least, path) = (times.iter().min().unwrap(), Duration::from_millis(millis));
        assert!(
            *least + EARLY >= path && *least < path + Duration::from_millis(6),
            "{path}: {times:?}"
        );
    }
    let report = lab.finish();
    assert_eq!(report.totals.delivered, 80);
    assert_eq!(
        report.wire_cpu.len(),
        4,
        "each direction of each path has its own wire"
    );
}

#[test]
fn programs_run_inside_with_their_own_mounts() {
    if !permitted("programs_run_inside_with_their_own_mounts") {
        return;
    }
    let lab = Lab::build(&two_hosts(&[]), None).unwrap();
    let folder = std::env::temp_dir().join(format!("slowpath-mounts-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "echo secret > \"$0/file\"; cat \"$0/file\"; cat /proc/net/dev",
        ])
        .arg(&folder);
    command.stdout(Stdio::piped()).stdin(Stdio::null());
    let mounts = Mounts {
        empty: vec![folder.clone()],
        replaced: Vec::new(),
    };
    let output = lab
        .spawn_with("near", command, &mounts)
        .unwrap()
        .wait_with_output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("secret") && text.contains("wire0"), "{text}");
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        0,
        "what it wrote went with it"
    );
    std::fs::remove_dir(&folder).unwrap();
    let error = lab.spawn("near", Command::new("no-such-program")).unwrap_err();
    assert!(
        error.to_string().contains("no-such-program") && error.to_string().contains("install"),
        "{error}"
    );
    assert!(matches!(lab.run_in("nowhere", || ()), Err(LabError::NoHost(_))));
}

#[test]
fn contradictions_and_refused_settings_are_named() {
    if !permitted("contradictions_and_refused_settings_are_named") {
        return;
    }
    let refused = |change: fn(&mut LabSpec)| {
        let mut spec = two_hosts(&[loss(0)]);
        change(&mut spec);
        Lab::build(&spec, None).map(drop).unwrap_err().to_string()
    };
    assert!(refused(|spec| spec.hosts[1].name = "afar".into()).contains("has no port"));
    assert!(
        refused(|spec| spec.hosts[1].addresses = spec.hosts[0].addresses.clone())
            .contains("share that address")
    );
    let kernel = |spec: &mut LabSpec, change: fn(&mut KernelSettings)| {
        if let Stack::Kernel(settings) = &mut spec.hosts[0].stack {
            change(settings);
        }
    };
    let text = refused(|spec| spec.hosts[0].mtu = 10_000_000);
    assert!(text.contains("10000000"), "{text}");
    let mut spec = two_hosts(&[]);
    kernel(&mut spec, |settings| {
        "no-such".clone_into(&mut settings.congestion_control);
    });
    let text = Lab::build(&spec, None).map(drop).unwrap_err().to_string();
    assert!(text.contains("no-such") && text.contains("modprobe"), "{text}");
    let mut spec = two_hosts(&[]);
    kernel(&mut spec, |settings| {
        settings.settings.push(("net.ipv4.no_such".into(), "1".into()));
    });
    let text = Lab::build(&spec, None).map(drop).unwrap_err().to_string();
    assert!(
        text.contains("net.ipv4.no_such = 1") && text.contains("no such setting"),
        "{text}"
    );
}

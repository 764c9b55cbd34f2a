//! Ten configurations that no experiment uses: what `slowpath config` says of each is what a simulated run of the same device
//! shows, and what it advises makes nothing worse.

use std::path::PathBuf;

use slowpath::devices::{self, expected};
use slowpath::load::Loaded;
use slowpath::{Clock, simulated};
use slowpath_scenario::PlanOptions;

/// A use in the table beside an experiment with the same device.
struct Device {
    file: &'static str,
    model: Option<&'static str>,
    /// The row of the table.
    row: &'static str,
    /// What the sender's packets meet before the delay.
    up: &'static str,
    /// The workload and what else the experiment has.
    rest: &'static str,
}

const STREAM: &str = "[workload]\nkind = \"iperf3\"\nduration = \"10 s\"\n";
const BUFFERS: &str =
    "rmem = [\"4096 B\", \"131072 B\", \"33554432 B\"]\nwmem = [\"4096 B\", \"16384 B\", \"33554432 B\"]\n";

const DEVICES: [Device; 10] = [
    Device {
        file: "branch-tunnel.rtx",
        model: None,
        row: "lan2, class 2 (the default)",
        up: "{ device = \"branch-tunnel.rtx\", system = \"rtx830\", port = \"lan2\", line = \"1 Gbit/s\" }, ",
        rest: "",
    },
    Device {
        file: "office-priority.rtx",
        model: None,
        row: "lan2, class 1",
        up: "{ device = \"office-priority.rtx\", system = \"rtx1210\", port = \"lan2\", line = \"1 Gbit/s\" }, ",
        rest: "",
    },
    Device {
        file: "shop-pppoe.rtx",
        model: None,
        row: "lan2, class 2 (the default)",
        up: "{ device = \"shop-pppoe.rtx\", system = \"rtx1300\", port = \"lan2\", line = \"1 Gbit/s\" }, ",
        rest: "",
    },
    Device {
        file: "wan-shape.ios",
        model: None,
        row: "GigabitEthernet0/0, class-default",
        up: "{ device = \"wan-shape.ios\", system = \"cisco-ios\", port = \"GigabitEthernet0/0\", line = \"1 Gbit/s\" }, ",
        rest: "",
    },
    Device {
        file: "campus-police.ios",
        model: None,
        row: "GigabitEthernet0/1, class-default",
        up: "{ device = \"campus-police.ios\", system = \"cisco-ios\", port = \"GigabitEthernet0/1\", line = \"1 Gbit/s\" }, ",
        rest: "",
    },
    Device {
        file: "home.tc",
        model: None,
        row: "wan0, class 1:30",
        up: "{ rate = \"48 Mbit/s\", queue = \"10240 packets\", discipline = \"fq-codel\" }, { rate = \"1 Gbit/s\" }, ",
        rest: "",
    },
    Device {
        file: "modem.tc",
        model: None,
        row: "ppp0",
        up: "{ shape = \"12 Mbit/s\", burst = \"16384 B\", queue = \"400 ms\" }, { rate = \"1 Gbit/s\" }, ",
        rest: "",
    },
    Device {
        file: "small-buffers.sysctl",
        model: None,
        row: "this host receives",
        up: "{ rate = \"1 Gbit/s\" }, ",
        rest: "[hosts.server]\nsystem = \"linux\"\nconfig = \"small-buffers.sysctl\"\n",
    },
    Device {
        file: "store.sysctl",
        model: None,
        row: "this host sends",
        up: "{ rate = \"1 Gbit/s\" }, ",
        rest: "[hosts.client]\nsystem = \"linux\"\nconfig = \"store.sysctl\"\n",
    },
    Device {
        file: "backup.ssh",
        model: Some("OpenSSH_9.2p1"),
        row: "scp, where cs1 is policed to 10 Mbit/s (Host backup)",
        up: "{ police = \"10 Mbit/s\", burst = \"64 KiB\", only = { dscp = \"cs1\" } }, { rate = \"1 Gbit/s\" }, ",
        rest: "[workload]\nkind = \"scp\"\nsize = \"32 MiB\"\nclient_options = [\"IPQoS af11 cs1\"]\n",
    },
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/configurations")
}

fn text(file: &str) -> Vec<u8> {
    std::fs::read(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn given(device: &Device) -> (slowpath_vendor::Reading, expected::Expected) {
    let bytes = text(device.file);
    let language = devices::language(None, &bytes).unwrap_or_else(|error| panic!("{}: {error}", device.file));
    let reading = devices::reading(language, device.model, device.file, &bytes);
    let found = expected::expected(&reading, device.model, &bytes);
    (reading, found)
}

/// Payload bits per second of one transfer by the same device over a round trip of 50 ms.
fn simulated(device: &Device) -> f64 {
    let own_hosts = device.rest.contains("[hosts.") || device.rest.contains("scp");
    let (stream, hosts) = match (device.rest.contains("[workload]"), own_hosts) {
        (true, _) => ("", String::new()),
        (false, true) => (STREAM, String::new()),
        (false, false) => (
            STREAM,
            format!("[hosts.client]\n{BUFFERS}[hosts.server]\n{BUFFERS}"),
        ),
    };
    let experiment = format!(
        "title = \"t\"\n[network]\nup = [{}{{ delay = \"25 ms\" }}]\ndown = [{{ delay = \"25 ms\" }}]\n{stream}{}{hosts}",
        device.up, device.rest
    );
    let place = std::env::temp_dir().join(format!("slowpath-{}-{}", device.file, std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    std::fs::copy(folder().join(device.file), place.join(device.file)).unwrap();
    let file = place.join("device.toml");
    std::fs::write(&file, experiment).unwrap();
    let loaded = Loaded::open(&file.display().to_string(), &[]);
    std::fs::remove_dir_all(&place).unwrap();
    let loaded = loaded.unwrap_or_else(|error| panic!("{}: {error}", device.file));
    let options = PlanOptions::first("default", 1, Clock::Simulated);
    let plan = loaded.experiment.plan(&options, &loaded.fragments).unwrap();
    let record = simulated::bare("t", &plan).unwrap_or_else(|error| panic!("{}: {error}", device.file));
    record.transfers[0].goodput_byte_per_s() * 8.0
}

#[test]
fn the_table_agrees_with_a_run_of_the_same_device() {
    for device in &DEVICES {
        let (_, found) = given(device);
        let names: Vec<&str> = found.rows.iter().map(|row| row.what.as_str()).collect();
        let row = found.rows.iter().find(|row| row.what == device.row);
        let row = row.unwrap_or_else(|| panic!("{}: {names:?}", device.file));
        let told = row.goodput_bit_per_s[1].unwrap_or_else(|| panic!("{}: {row:?}", device.file));
        let run = simulated(device);
        println!(
            "{}: {:.3} Mbit/s told, {:.3} run",
            device.file,
            told / 1e6,
            run / 1e6
        );
        // Beside the transfer of the table there is a voice stream of 0.1 Mbit/s.
        let voice = if row.voice_loss_fraction.is_some() {
            1e5
        } else {
            0.0
        };
        assert!(
            (told - run).abs() <= AGREE * run + voice,
            "{}: {told} told, {run} run",
            device.file
        );
    }
}

#[test]
fn no_advice_makes_anything_worse() {
    for device in &DEVICES {
        let (reading, found) = given(device);
        let changes = found
            .advice
            .iter()
            .map(|advice| (&advice.change.lines, &advice.change.replaces))
            .chain(found.queues.iter().map(|note| (&note.lines, &note.replaces)));
        for (lines, replaces) in changes {
            let text = String::from_utf8(text(device.file)).unwrap();
            let kept = text.lines().enumerate();
            let mut changed: Vec<String> = kept
                .filter(|(number, _)| !replaces.contains(&(number + 1)))
                .map(|(_, line)| line.to_owned())
                .collect();
            changed.extend(lines.iter().cloned());
            let changed = changed.join("\n") + "\n";
            let after = devices::reading(reading.language, device.model, device.file, changed.as_bytes());
            let after = expected::expected(&after, device.model, changed.as_bytes());
            for old in &found.rows {
                let new = after.rows.iter().find(|row| row.what == old.what);
                let new = new.unwrap_or_else(|| panic!("{}: {lines:?} takes {} away", device.file, old.what));
                for (old, new) in old.goodput_bit_per_s.iter().zip(new.goodput_bit_per_s) {
                    let (Some(old), Some(new)) = (old, new) else {
                        continue;
                    };
                    assert!(new >= 0.97 * old, "{}: {lines:?}: {new} after {old}", device.file);
                }
            }
        }
    }
}

/// The queue of 20 packets before 16 Mbit/s is too short, and that of 20 before 10 Mbit/s.
#[test]
fn queues_that_do_not_fit_their_rate_are_named() {
    let note = |file: &str, what: &str| {
        let device = DEVICES.iter().find(|device| device.file == file).unwrap();
        let (_, found) = given(device);
        let note = found.queues.iter().find(|note| note.what == what).cloned();
        note.unwrap_or_else(|| panic!("{file}: {:?}", found.queues))
    };
    let branch = note("branch-tunnel.rtx", "lan2, class 2 (the default)");
    assert!(
        branch.short && branch.lines[0].starts_with("queue lan2 length 100 "),
        "{branch:?}"
    );
    assert_eq!(branch.replaces, [9]);
    let home = note("home.tc", "wan0, class 1:10");
    assert!(home.short && home.sentence.contains("too short"), "{home:?}");
}

/// How far a transfer of the table may be from one without a voice stream beside it.
const AGREE: f64 = 0.05;

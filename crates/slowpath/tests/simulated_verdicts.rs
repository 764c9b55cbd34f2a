//! What captures of simulated transfers say: the same cause keeps its verdict whatever the path's figures are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use slowpath::folder::Folder;
use slowpath::{import, simulated};
use slowpath_scenario::{Clock, Experiment, Fragments, PlanOptions};
use slowpath_verdict::ledger::{CapacityIs, Entry};
use slowpath_verdict::{Connection, Limit, Verdict};

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A folder for results that is gone with the test.
fn scratch(name: &str) -> (Scratch, Folder) {
    let place = std::env::temp_dir().join(format!("slowpath-{name}-{}", std::process::id()));
    let folder = Folder::create(&place).unwrap();
    (Scratch(place), folder)
}

/// The captures of a run of what this file says.
fn captures(text: &str, name: &str, (scratch, folder): &(Scratch, Folder)) -> Vec<PathBuf> {
    let experiment = Experiment::read("x.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let options = PlanOptions::first("default", 7, Clock::Simulated);
    let plan = experiment.plan(&options, &Fragments::new()).unwrap();
    let record = simulated::run("t", &plan, name, true, folder).unwrap();
    let files = record.captures.iter();
    files.map(|capture| scratch.0.join(&capture.file)).collect()
}

/// The one beside the client.
fn beside_client(files: &[PathBuf]) -> &PathBuf {
    let of_client = |file: &&PathBuf| file.to_string_lossy().contains(".client.");
    files.iter().find(of_client).expect("the client has a capture")
}

/// Verdicts on the captures beside sender and receiver of one transfer over `path` up and half of `rtt_ms` down.
fn verdicts(name: &str, control: &str, megabytes: u32, rtt_ms: f64, path: &str) -> BTreeMap<String, Verdict> {
    let connections = connections(name, control, megabytes, rtt_ms, path);
    let verdict = |(tap, main): (String, Connection)| (tap, main.verdict);
    connections.into_iter().map(verdict).collect()
}

/// The same with all that the captures say.
fn connections(
    name: &str,
    control: &str,
    megabytes: u32,
    rtt_ms: f64,
    path: &str,
) -> BTreeMap<String, Connection> {
    connections_of(name, control, &format!("size = \"{megabytes} MB\""), rtt_ms, path)
}

/// The same for a transfer that this says all of.
fn connections_of(
    name: &str,
    control: &str,
    transfer: &str,
    rtt_ms: f64,
    path: &str,
) -> BTreeMap<String, Connection> {
    let all = all_connections("", name, control, transfer, rtt_ms, path);
    all.into_iter().map(|(tap, (main, _))| (tap, main)).collect()
}

/// The same to a host with these settings, and all connections of each capture.
fn all_connections(
    server: &str,
    name: &str,
    control: &str,
    transfer: &str,
    rtt_ms: f64,
    path: &str,
) -> BTreeMap<String, (Connection, Vec<Connection>)> {
    let half = rtt_ms / 2.0;
    let text = format!(
        r#"title = "t"
captures = "hosts"
[network]
up = [{path}, {{ delay = "{half} ms" }}]
down = [{{ delay = "{half} ms" }}]
[workload]
kind = "iperf3"
{transfer}
[hosts.client]
system = "linux"
congestion_control = "{control}"
[hosts.server]
system = "linux"
congestion_control = "{control}"
{server}
"#
    );
    let place = scratch(&format!("verdicts-{name}"));
    let files = captures(&text, name, &place);
    let mut out = BTreeMap::new();
    for file in files {
        let analysis = import::analyze_file(&file).unwrap();
        let main = analysis.main_connection().expect("there is a transfer");
        println!("{}: {}", file.display(), main.verdict.sentence);
        out.insert(format!("{:?}", main.tap), (main.clone(), analysis.connections));
    }
    drop(place);
    assert!(!out.is_empty(), "{name}: no capture");
    out
}

/// Without SACK a receiver cannot say what arrived behind a loss, but its capture shows it: what the window grows back from is no
/// pace of the sending program.
#[test]
fn losses_without_sack_hold_the_window_at_both_ends() {
    let path = "{ loss = \"0.5 %\" }, { rate = \"50 Mbit/s\" }";
    let all = all_connections("sack = false", "no-sack", "cubic", "size = \"10 MB\"", 40.0, path);
    assert_eq!(all.len(), 2);
    for (tap, (main, _)) in all {
        assert_eq!(
            main.verdict.limit,
            Limit::RandomLoss,
            "{tap}: {}",
            main.verdict.sentence
        );
        let entries = main.ledger.entries.iter();
        let program = entries.filter(|entry| entry.cause == Limit::SenderApplication);
        let waits: f64 = program.map(|entry| entry.time_s).sum();
        assert!(waits <= 0.05 * main.ledger.duration_s, "{tap}: {waits} s");
    }
}

/// A login of many small messages before a large copy is no outage, though the log of its acknowledgements is thinned.
#[test]
fn a_login_before_a_large_copy_is_no_outage() {
    let text = r#"title = "t"
captures = "hosts"
[network]
up = [{ rate = "200 Mbit/s" }, { delay = "40 ms" }]
down = [{ rate = "200 Mbit/s" }, { delay = "40 ms" }]
[workload]
kind = "scp"
direction = "upload"
size = "200 MiB"
"#;
    let place = scratch("verdicts-login");
    for file in captures(text, "login", &place) {
        let analysis = import::analyze_file(&file).unwrap();
        let main = analysis.main_connection().expect("there is a copy");
        let outages = &main.facts.timeline.outages;
        assert!(outages.is_empty(), "{}: {outages:?}", file.display());
    }
}

/// A few random losses on a fast, long path hold the window down for the whole transfer: Linux holds selective acknowledgements back
/// after each of them, which is no queue that overflowed.
#[test]
fn few_random_losses_on_a_fast_path_are_random() {
    let path = "{ loss = \"300 ppm\" }, { rate = \"100 Mbit/s\", queue = \"200 kB\" }";
    for megabytes in [60, 100, 160] {
        let connections = connections("few-losses", "cubic", megabytes, 30.0, path);
        let connection = &connections["Sender"];
        assert_eq!(
            connection.verdict.limit,
            Limit::RandomLoss,
            "{megabytes} MB: {}",
            connection.verdict.sentence
        );
        let ledger = &connection.ledger;
        let share = |limit: Limit| ledger.time_of(limit) / ledger.duration_s;
        assert!(share(Limit::RandomLoss) > 0.9, "{megabytes} MB: {ledger:?}");
        assert!(share(Limit::Policed) < 0.01, "{megabytes} MB: {ledger:?}");
    }
}

/// A program that sends so much every so often is what counts, though its link is full for most of the time between: over one of
/// four times the rate it takes as long.
#[test]
fn a_program_on_a_schedule_decides_though_its_bursts_fill_the_link() {
    let of = |rate: u32| {
        let path = format!("{{ rate = \"{rate} Mbit/s\", queue = \"200 kB\" }}");
        let program = "duration = \"10 s\"\nrate = \"8 Mbit/s\"\nlength = \"128 KiB\"";
        connections_of(&format!("schedule-{rate}"), "cubic", program, 15.0, &path)["Sender"].clone()
    };
    let [slow, fast] = [12, 48].map(of);
    let ledger = &slow.ledger;
    assert!(
        ledger.time_of(Limit::BottleneckBandwidth) > 0.5 * ledger.duration_s,
        "{ledger:?}"
    );
    assert!(
        (fast.ledger.duration_s / ledger.duration_s - 1.0).abs() < 0.02,
        "{:?}",
        fast.ledger
    );
    for connection in [&slow, &fast] {
        let verdict = &connection.verdict;
        assert_eq!(verdict.limit, Limit::SenderApplication, "{}", verdict.sentence);
        let pace = verdict.parameters.source_byte_per_s.unwrap();
        assert!((pace / 1e6 - 1.0).abs() < 0.02, "{}", verdict.sentence);
    }
    assert_eq!(slow.headline(), slow.verdict.sentence);
    assert!(
        slow.verdict.sentence.contains("(1.00 MB/s) and no more"),
        "{}",
        slow.verdict.sentence
    );
}

/// A queue much shorter than the path drops at every probe of BBR, which keeps the link busy all the same: the link is
/// the limit, whatever the figures.
#[test]
fn bbr_before_a_short_queue_fills_the_link() {
    for (rate, rtt_ms, packets, megabytes) in [
        (925, 5.0, 120, 300),
        (100, 5.0, 13, 40),
        (50, 20.0, 25, 30),
        (300, 8.0, 60, 80),
        (20, 40.0, 20, 15),
    ] {
        let path = format!("{{ rate = \"{rate} Mbit/s\", queue = \"{packets} packets\" }}");
        let name = format!("short-{rate}");
        for (tap, verdict) in verdicts(&name, "bbr", megabytes, rtt_ms, &path) {
            assert_eq!(
                verdict.limit,
                Limit::BottleneckBandwidth,
                "{name} {tap}: {}",
                verdict.sentence
            );
            let found = verdict.parameters.rate_bit_per_s.unwrap_or(0.0) / (f64::from(rate) * 1e6);
            assert!(
                (0.85..1.15).contains(&found),
                "{name} {tap}: {}",
                verdict.sentence
            );
        }
    }
}

/// Many losses at once leave no room to report what arrived, and are no reordering; nor are they a queue's.
#[test]
fn many_random_losses_are_random_losses() {
    for control in ["bbr", "cubic", "reno"] {
        for (loss, rate, rtt_ms) in [(3.0, 900, 5.0), (1.0, 300, 20.0), (5.0, 200, 10.0)] {
            let path = format!(
                "{{ loss = \"{loss} %\" }}, {{ rate = \"{rate} Mbit/s\", queue = \"{} packets\" }}",
                (f64::from(rate) * rtt_ms / 12.0).ceil()
            );
            let name = format!("loss-{loss}-{control}");
            let megabytes = if control == "bbr" { 60 } else { 6 };
            for (tap, verdict) in verdicts(&name, control, megabytes, rtt_ms, &path) {
                let right = match verdict.limit {
                    Limit::RandomLoss => true,
                    // With an algorithm that does not mind the losses the link may be the limit.
                    Limit::BottleneckBandwidth => control == "bbr",
                    _ => false,
                };
                assert!(right, "{name} {tap}: {} {}", verdict.limit, verdict.sentence);
            }
        }
    }
}

/// Losses that chance takes in bursts come as close together as those of an empty bucket, and begin as suddenly.
#[test]
fn bursts_of_random_losses_are_no_policers() {
    let mut by_chance = 0;
    for (control, rate, rtt_ms, [to_bad, to_good, in_bad]) in [
        ("cubic", 20, 150.0, [0.034, 30.4, 50.0]),
        ("reno", 50, 80.0, [0.03, 8.9, 50.0]),
        ("reno", 50, 40.0, [0.029, 8.9, 80.0]),
        ("reno", 50, 20.0, [1.197, 31.5, 50.0]),
        ("cubic", 10, 150.0, [0.222, 3.3, 80.0]),
    ] {
        let path = format!(
            "{{ loss = {{ to_bad = \"{to_bad} %\", to_good = \"{to_good} %\", in_bad = \"{in_bad} %\" }} }}, \
             {{ rate = \"{rate} Mbit/s\", queue = \"{} packets\" }}",
            (f64::from(rate) * rtt_ms / 12.0).ceil()
        );
        let name = format!("bursty-{rate}-{rtt_ms}-{control}");
        let found = connections(&name, control, rate, rtt_ms, &path);
        let at_sender = &found["Sender"];
        let (limit, sentence) = (at_sender.verdict.limit, &at_sender.verdict.sentence);
        assert!(
            matches!(limit, Limit::RandomLoss | Limit::BottleneckBandwidth),
            "{name}: {sentence}"
        );
        let of = |limit| at_sender.ledger.time_of(limit);
        assert!(
            of(Limit::Policed) < 0.2 * of(Limit::RandomLoss).max(of(limit)),
            "{name}"
        );
        by_chance += usize::from(limit == Limit::RandomLoss);
    }
    assert!(by_chance >= 3, "{by_chance} of 5");
}

/// Where a round trip holds one or two segments, three of them tell no rate: one segment more is a fifth of it. Losses beside a
/// queue that stays full cost nothing there, and the program has no pace of its own.
#[test]
fn a_path_of_two_segments_tells_its_rate() {
    for (rate, rtt_ms) in [(10, 2.0), (5, 4.0)] {
        for control in ["cubic", "reno", "bbr"] {
            let path =
                format!("{{ loss = \"1 %\" }}, {{ rate = \"{rate} Mbit/s\", queue = \"100 packets\" }}");
            let path = format!("{path}, {{ delay = \"{} ms\" }}", rtt_ms / 2.0);
            let found = connections(&format!("near-{rate}-{control}"), control, 4, rtt_ms, &path);
            let ledger = &found["Sender"].ledger;
            let payload = f64::from(rate) * 1e6 * 1448.0 / 1514.0;
            let told = ledger.capacity_bit_per_s.unwrap() / payload;
            assert_eq!(ledger.capacity_is, CapacityIs::Measured, "{rate} {control}");
            assert!((told - 1.0).abs() < 0.03, "{rate} {control}: {told} {ledger:#?}");
            let own = ledger.time_of(Limit::SenderApplication);
            assert!(own < 0.01 * ledger.duration_s, "{rate} {control}: {ledger:#?}");
        }
    }
}

/// A transfer of a few round trips that overruns a queue as it ends was a start all the same: doubling took most of its time.
#[test]
fn a_short_transfer_that_ends_in_an_overrun_is_a_start() {
    for (name, rate, queue) in [("start-1g", "1 Gbit/s", 500), ("start-300m", "300 Mbit/s", 150)] {
        let path = format!("{{ rate = \"{rate}\", queue = \"{queue} packets\" }}, {{ delay = \"10 ms\" }}");
        let found = verdicts(name, "cubic", 4, 20.0, &path);
        let at_sender = &found["Sender"];
        assert_eq!(
            at_sender.limit,
            Limit::SlowStart,
            "{name}: {}",
            at_sender.sentence
        );
    }
}

#[test]
fn the_kernel_counts_half_of_a_full_window_where_bbr_paces_and_all_of_it_else() {
    let sender = |name, control| {
        let path = "{ rate = \"50 Mbit/s\", queue = \"400 kB\" }";
        let (main, _) = all_connections(
            "window = \"64 KiB\"",
            name,
            control,
            "size = \"20 MB\"",
            40.0,
            path,
        )
        .remove("Sender")
        .expect("a capture beside the sender");
        main
    };
    for (name, control, shares) in [
        ("counts-bbr", "bbr", 0.4..0.65),
        ("counts-cubic", "cubic", 0.9..1.0),
    ] {
        let connection = sender(name, control);
        let ledger = &connection.ledger;
        assert!(
            ledger.time_of(Limit::ReceiverWindow) > 0.9 * ledger.duration_s,
            "{control}"
        );
        // Most of what CUBIC sends leaves sooner than BBR would let it.
        let with_bbr = connection.facts.with_bbr;
        assert_eq!(with_bbr.is_some(), control == "bbr");
        let counted = ledger.chronographs(with_bbr);
        let share = counted.window_s / ledger.duration_s;
        assert!(shares.contains(&share), "{control}: {share}");
        assert!(counted.buffer_s < 0.01 * ledger.duration_s, "{control}");
    }
}

/// What connections put into one queue together tells the link's rate, however little one of them has of it.
#[test]
fn connections_that_share_a_link_are_told_the_same_capacity() {
    let transfer = "size = \"8 MB\"\nstreams = 4";
    let path = "{ rate = \"9 Mbit/s\", queue = \"80 kB\" }";
    let all = all_connections("", "siblings", "cubic", transfer, 40.0, path);
    let (_, connections) = &all["Sender"];
    let bulk: Vec<&Connection> = connections
        .iter()
        .filter(|one| one.facts.bytes > 100_000)
        .collect();
    assert_eq!(bulk.len(), 4);
    let carries = 9e6 * 1_448.0 / 1_538.0;
    for one in bulk {
        let ledger = &one.ledger;
        assert_eq!(ledger.capacity_is, CapacityIs::Measured, "{}", ledger.sentence);
        let ratio = ledger.capacity_bit_per_s.expect("a capacity") / carries;
        assert!((0.95..1.05).contains(&ratio), "{ratio}: {}", ledger.sentence);
    }
}

/// A path that takes as long as it happens to is no queue: what a full window holds is the window's, at both taps.
#[test]
fn jitter_below_a_full_window_is_no_link() {
    for (name, jitter) in [("jitter-4", 4), ("jitter-8", 8)] {
        let path = format!(
            "{{ rate = \"50 Mbit/s\", queue = \"1000 packets\" }}, {{ delay = \"20 ms\", jitter = \"{jitter} ms\" }}"
        );
        let all = all_connections(
            "window = \"64 KiB\"",
            name,
            "cubic",
            "size = \"10 MB\"",
            20.0,
            &path,
        );
        for (tap, (main, _)) in all {
            let ledger = &main.ledger;
            assert_eq!(main.verdict.limit, Limit::ReceiverWindow, "{jitter} ms, {tap}");
            assert_eq!(ledger.capacity_is, CapacityIs::AtLeast, "{jitter} ms, {tap}");
            assert!(
                ledger.time_of(Limit::ReceiverWindow) > 0.7 * ledger.duration_s,
                "{jitter} ms, {tap}: {ledger:?}"
            );
        }
    }
}

/// A path that lets nothing through for two seconds, held back or lost: both taps say so, and not that the sending program paused, and
/// the rest is charged as ever.
#[test]
fn a_path_that_lets_nothing_through_for_a_while_is_told_as_an_outage() {
    let steps = "{ steps = [{ from = \"0 s\", rate = \"20 Mbit/s\" }, { from = \"3 s\", rate = \"0 bit/s\" }, \
                 { from = \"5 s\", rate = \"20 Mbit/s\" }] }";
    let held = format!("{{ rate = {steps}, queue = \"1000 packets\" }}, {{ delay = \"20 ms\" }}");
    // All of a window of 30 segments, and what is sent again of it four times.
    let packets: Vec<String> = (1_500..1_534).map(|number| number.to_string()).collect();
    let lost = format!(
        "{{ rate = \"20 Mbit/s\", queue = \"1000 packets\" }}, {{ delay = \"20 ms\" }}, {{ loss = {{ packets = [{}] }} }}",
        packets.join(", ")
    );
    let window = "window = \"32 KiB\"";
    for (name, server, path, least, cause) in [
        ("outage-held", "", held, 1.9, Limit::BottleneckBandwidth),
        ("outage-window", window, lost, 1.0, Limit::RandomLoss),
    ] {
        for (tap, (main, _)) in all_connections(server, name, "cubic", "size = \"8 MB\"", 20.0, &path) {
            let ledger = &main.ledger;
            let stood = |entry: &&Entry| entry.is_outage() && entry.cause == cause;
            let of: f64 = ledger
                .entries
                .iter()
                .filter(stood)
                .map(|entry| entry.time_s)
                .sum();
            assert!(of >= least, "{name}, {tap}: {ledger:?}");
            let idle = ledger.time_of(Limit::SenderApplication);
            assert!(idle < 0.2, "{name}, {tap}: {idle} s: {ledger:?}");
            let when = ledger
                .entries
                .iter()
                .find(stood)
                .and_then(|entry| entry.event_at_s);
            assert!(when.is_some_and(|at| at > 1.0), "{name}, {tap}: {when:?}");
            assert!(
                main.verdict.evidence.iter().any(|one| one.fact == "outage"),
                "{name}, {tap}: {:?}",
                main.verdict.evidence
            );
        }
    }
}

/// What acknowledgements tell the sender's tap of packets that came late, the receiver's tap sees: it is counted once.
#[test]
fn what_is_overtaken_between_two_taps_is_counted_there() {
    let text = r#"title = "t"
captures = "hosts"
[network]
up = [{ rate = "50 Mbit/s", queue = "500 packets" }, { delay = "20 ms" }, { reorder = "1 %", by = "8 ms" }]
down = [{ delay = "20 ms" }]
[workload]
kind = "iperf3"
size = "5 MB"
"#;
    let place = scratch("two-taps");
    let files = captures(text, "two-taps", &place);
    let slowpath::explain::Pair::Taps(pair) = slowpath::explain::pair(&files[0], &files[1]).unwrap() else {
        panic!("both hold the same connections");
    };
    let between = pair.taps.iter().map(|taps| taps.reordered_between).max();
    drop(place);
    // One in a hundred of 3,450 segments.
    assert!(
        between.is_some_and(|late| (20..60).contains(&late)),
        "{between:?}"
    );
}

/// A slow way back is full of acknowledgements: the sender's capture shows whose queue it is, and no faster link for the data is offered.
#[test]
fn a_queue_of_acknowledgements_is_told_from_one_of_data() {
    let text = |up: &str, down: &str| {
        format!(
            "title = \"t\"\ncaptures = \"hosts\"\n[network]\nup = [{{ rate = \"{up}\", queue = \"100 packets\" }}, {{ delay = \"20 ms\" }}]\n\
             down = [{{ rate = \"{down}\", queue = \"100 packets\" }}, {{ delay = \"20 ms\" }}]\n[workload]\nkind = \"iperf3\"\n\
             size = \"8 MB\"\n[hosts.client]\ncongestion_control = \"cubic\"\n"
        )
    };
    for (name, up, down, acks) in [
        ("acks-wait", "50 Mbit/s", "128 kbit/s", true),
        ("data-waits", "10 Mbit/s", "10 Mbit/s", false),
    ] {
        let place = scratch(name);
        let files = captures(&text(up, down), name, &place);
        let analysis = import::analyze_file(beside_client(&files)).unwrap();
        drop(place);
        let main = analysis.main_connection().expect("there is a transfer");
        assert_eq!(
            main.verdict.limit,
            Limit::BottleneckBandwidth,
            "{name}: {}",
            main.verdict.sentence
        );
        assert_eq!(main.acks_wait(), acks, "{name}: {:?}", main.facts.acks_wait_s);
        assert_eq!(
            main.verdict.sentence.contains("acknowledgements"),
            acks,
            "{name}: {}",
            main.verdict.sentence
        );
    }
}

/// Two transfers that happen to have the same ports and numbers are no two taps of one: packets would have come before they were sent.
#[test]
fn two_transfers_that_are_numbered_alike_are_compared() {
    let place = scratch("two-transfers");
    let files = ["20 Mbit/s", "5 Mbit/s"].map(|rate| {
        let text = format!(
            "title = \"t\"\ncaptures = \"hosts\"\n[network]\nup = [{{ rate = \"{rate}\", queue = \"100 packets\" }}, {{ delay = \"20 ms\" }}]\n\
             down = [{{ delay = \"20 ms\" }}]\n[workload]\nkind = \"iperf3\"\nsize = \"4 MB\"\n"
        );
        let files = captures(&text, &rate.replace([' ', '/'], "-"), &place);
        beside_client(&files).clone()
    });
    let pair = slowpath::explain::pair(&files[0], &files[1]).unwrap();
    drop(place);
    assert!(matches!(pair, slowpath::explain::Pair::Transfers(_)));
}

/// A link that stands still for a second holds packets back whose timestamps are from before it: no clock jumped, as the
/// other end's own shows.
#[test]
fn a_link_that_stands_still_is_no_jump_of_the_clock() {
    let path = "{ rate = { steps = [{ from = \"0 s\", rate = \"20 Mbit/s\" }, { from = \"3 s\", rate = \"0 bit/s\" }, \
                { from = \"4 s\", rate = \"20 Mbit/s\" }] }, queue = \"100 packets\" }";
    let whole = connections("stands-still", "cubic", 10, 40.0, path);
    for (tap, main) in whole {
        // 10 MB at 20 Mbit/s take 4.2 s.
        assert!(
            (5.1..6.0).contains(&main.duration_s),
            "{tap}: {} s",
            main.duration_s
        );
    }
}

//! The five FTP variants of the routers' field report, with the published figures as data.

mod support;

use slowpath_endpoint::app::{Behaviour, File, FtpClient, FtpData, FtpDirection, FtpServer, Pace};
use slowpath_endpoint::tcp::Config;
use slowpath_endpoint::{HostConfig, InputLimit};
use slowpath_units::Duration;
use support::{A, B, Pair, Pipe, at_b, host};

fn get(size: u64, client: HostConfig, pace: Pace, data: FtpData, loss: Option<u64>) -> Pair {
    let delay = Duration::from_millis(50);
    let mut back = Pipe::new(delay).rate("50 Mbit/s", 1_500_000);
    back.lose_one_in = loss.map(|n| (n, 7));
    let there = Pipe::new(delay).rate("50 Mbit/s", 1_500_000);
    let mut pair = Pair::with_hosts(client, host(B, Config::linux()), there, back);
    pair.log = Some(Vec::new());
    let files = vec![File {
        path: "test_50mb.txt".into(),
        bytes: size,
    }];
    pair.start_b(Behaviour::FtpServer(FtpServer {
        port: 21,
        files,
        passive_port: 45_000,
    }));
    let app = pair.start_a(Behaviour::FtpClient(FtpClient {
        server: at_b(21),
        user: "ubuntu".into(),
        password: "xxx".into(),
        path: "test_50mb.txt".into(),
        direction: FtpDirection::Get,
        data,
        pace,
    }));
    pair.run_until_a_ends(app);
    pair
}

fn report(name: &str, pair: &Pair) -> f64 {
    let result = pair.transfers('a')[0];
    assert!(result.complete, "{name}: {result:?}");
    println!(
        "{name}: {:.0} B/s in {}",
        result.goodput_byte_per_s(),
        result.duration()
    );
    let mut counts = std::collections::BTreeMap::new();
    for (_, window) in pair.windows('a') {
        *counts.entry(window).or_insert(0_u64) += 1;
    }
    let times: Vec<_> = pair
        .windows("a".chars().next().unwrap())
        .into_iter()
        .filter(|(_, w)| *w == 16384)
        .map(|(t, _)| t.to_string())
        .collect();
    if times.len() < 30 {
        println!("  {times:?} dropped {}", pair.back.dropped);
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    println!("  windows {:?}", &counts[..counts.len().min(8)]);
    result.goodput_byte_per_s()
}

#[test]
fn all_five_variants_in_short() {
    for data in [FtpData::Passive, FtpData::ExtendedPassive, FtpData::Active] {
        let pair = get(1 << 20, host(A, Config::linux()), Pace::Unlimited, data, None);
        report("linux", &pair);
    }
    let (tcp, pace) = (Config::cisco(None, false, false), Pace::Unlimited);
    report(
        "iosxe-default",
        &get(
            4 << 20,
            host(A, tcp.clone()),
            pace,
            FtpData::Passive,
            Some(10_000),
        ),
    );
    let pace = Pace::Units {
        unit: 65_536,
        bytes_per_s: 86_948,
        pause: Duration::from_millis(130),
        chunk: 1460,
    };
    report(
        "ios-default",
        &get(4 << 20, host(A, tcp), pace, FtpData::Passive, Some(10_000)),
    );
    let tcp = Config::cisco(Some(2_500_000), true, false);
    report(
        "ios-tuned",
        &get(
            4 << 20,
            host(A, tcp.clone()),
            pace,
            FtpData::Passive,
            Some(10_000),
        ),
    );
    let mut slow = host(A, tcp);
    slow.input = Some(InputLimit {
        per_packet: Duration::from_micros(3_000),
        queue: 75,
    });
    report(
        "ios-tuned, slow",
        &get(4 << 20, slow, pace, FtpData::Passive, Some(10_000)),
    );
}

//! Copies through SSH against the arithmetic of their windows.

mod support;

use slowpath_endpoint::app::{Behaviour, SftpRequests, SshClient, SshDirection, SshServer, SshTransfer};
use slowpath_endpoint::tcp::Config;
use slowpath_packet::Dscp;
use slowpath_path::{Limit, NetworkSpec};
use slowpath_sim::{Point, Sighting, SimSpec, Simulation, Sink};
use slowpath_units::Duration;
use support::{close, delay, host, rate};

/// Counts the data packets of each direction by their DSCP.
struct Marks([[u64; 64]; 2]);

impl Sink for Marks {
    fn seen(&mut self, sighting: &Sighting<'_>) {
        if let Point::Sent(host) = sighting.point {
            self.0[usize::from(host)][usize::from(sighting.header.dscp.value())] += 1;
        }
    }
}

fn seconds(transfer: &SshTransfer, speed: &str, rtt: Duration) -> (f64, Marks) {
    let chain = |side: &str| {
        vec![
            rate(&format!("{side}.rate"), speed, Limit::Packets(10_000)),
            delay(&format!("{side}.delay"), rtt / 2),
        ]
    };
    let client = SshClient {
        to: "10.0.0.2:22".parse().unwrap(),
        transfer: transfer.clone(),
    };
    let server = SshServer {
        port: 22,
        transfer: transfer.clone(),
    };
    let spec = SimSpec {
        hosts: vec![
            host("near", "10.0.0.1", Config::linux(), Behaviour::SshClient(client)),
            host("far", "10.0.0.2", Config::linux(), Behaviour::SshServer(server)),
        ],
        network: NetworkSpec::chain("near", "far", chain("up"), chain("down")),
        seed: 1,
        deadline: Duration::from_secs(10_000),
        sample_every: None,
    };
    let mut marks = Marks([[0; 64]; 2]);
    let report = Simulation::new(&spec).unwrap().run(&mut marks);
    let result = report.transfers(0).next().expect("a result").clone();
    assert!(result.complete && result.bytes == transfer.bytes, "{result:?}");
    (result.duration().seconds(), marks)
}

/// Bytes per second in the steady state: what a larger file takes longer.
fn steady(transfer: &SshTransfer, speed: &str, rtt: Duration) -> f64 {
    let mut larger = transfer.clone();
    larger.bytes *= 2;
    let (short, long) = (seconds(transfer, speed, rtt).0, seconds(&larger, speed, rtt).0);
    transfer.bytes as f64 / (long - short)
}

#[test]
fn the_channel_window_limits_to_itself_per_round_trip() {
    for direction in [SshDirection::Get, SshDirection::Put] {
        for rtt_ms in [100_u64, 250] {
            let transfer = SshTransfer::stream("copy".into(), direction, 100 << 20);
            let got = steady(&transfer, "10 Gbit/s", Duration::from_millis(rtt_ms));
            let expected = f64::from(2 << 20) * 1000.0 / rtt_ms as f64;
            close(&format!("{direction:?}, {rtt_ms} ms"), got, expected, 0.03);
        }
    }
}

#[test]
fn sftp_is_limited_by_requests_under_way_or_the_window() {
    let rtt = Duration::from_millis(100);
    for direction in [SshDirection::Get, SshDirection::Put] {
        for (outstanding, size, limit) in [
            (16, 32 << 10, 16 * (32 << 10)),
            (64, 16 << 10, 64 * (16 << 10)),
            // 64 requests of 255 KiB are more than the channel's window.
            (64, 261_120, 2 << 20),
        ] {
            let mut transfer = SshTransfer::sftp("copy".into(), direction, 50 << 20, size);
            transfer.requests = Some(SftpRequests { outstanding, size });
            let got = steady(&transfer, "10 Gbit/s", rtt);
            let what = format!("{direction:?}, {outstanding} requests of {size}");
            close(&what, got, f64::from(limit) * 10.0, 0.05);
        }
    }
}

#[test]
fn a_narrow_line_limits_before_the_window() {
    let transfer = SshTransfer::stream("copy".into(), SshDirection::Put, 20 << 20);
    let got = steady(&transfer, "20 Mbit/s", Duration::from_millis(20));
    // 36 bytes of each 32 KiB are SSH's own.
    let expected = 2_500_000.0 * 1448.0 / 1514.0 * 32_768.0 / 32_804.0;
    close("20 Mbit/s", got, expected, 0.01);
}

#[test]
fn the_mark_comes_after_the_login_and_from_its_own_end() {
    let mut transfer = SshTransfer::stream("copy".into(), SshDirection::Put, 1 << 20);
    transfer.dscp = Some(Dscp::new(8).unwrap());
    let (_, marks) = seconds(&transfer, "20 Mbit/s", Duration::from_millis(20));
    assert!(marks.0[0][8] > 700, "the copy is marked: {:?}", &marks.0[0][..10]);
    assert!(
        (8..30).contains(&marks.0[0][0]),
        "the login is not: {:?}",
        &marks.0[0][..10]
    );
}

//! The variants of the FTP field report: routers that get a file of 50 MiB over 50 Mbit/s, 100 ms and 0.01 % loss.

use slowpath_endpoint::app::{Behaviour, File, FtpClient, FtpData, FtpDirection, FtpServer, Pace};
use slowpath_endpoint::tcp::Config;
use slowpath_endpoint::{HostConfig, InputLimit};
use slowpath_path::{Delay, DropUnit, ElementKind, Limit, Link, Loss, LossModel, NetworkSpec};
use slowpath_sim::{SimHost, SimSpec};
use slowpath_units::{Duration, Layer, Time};

/// One variant: the client's TCP, what receiving costs it, and how fast it stores.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    tcp: Config,
    input: Option<InputLimit>,
    pace: Pace,
}

const IOS: Pace = Pace::Units {
    unit: 65_536,
    bytes_per_s: 86_948,
    pause: Duration::from_millis(130),
    chunk: 1_460,
};

/// The variants as `tests/cisco_ftp.rs` checks them.
pub(crate) const VARIANTS: [Variant; 5] = [
    Variant {
        name: "linux",
        tcp: Config::linux(),
        input: None,
        pace: Pace::Unlimited,
    },
    Variant {
        name: "iosxe-default",
        tcp: Config::cisco(None, false, false),
        input: Some(InputLimit::CISCO_IOS_XE),
        pace: Pace::Unlimited,
    },
    Variant {
        name: "iosxe-tuned",
        tcp: Config::cisco(Some(2_500_000), true, false),
        input: Some(InputLimit::CISCO_IOS_XE),
        pace: Pace::Unlimited,
    },
    Variant {
        name: "ios-default",
        tcp: Config::cisco(None, false, false),
        input: Some(InputLimit::CISCO_IOS),
        pace: IOS,
    },
    Variant {
        name: "ios-tuned",
        tcp: Config::cisco(Some(2_500_000), true, false),
        input: Some(InputLimit::CISCO_IOS),
        pace: IOS,
    },
];

impl Variant {
    pub(crate) fn spec(&self, seed: u64) -> SimSpec {
        let chain = |name: &str| {
            let rate = "50 Mbit/s".parse().expect("a rate");
            let link = Link::fifo(rate, Layer::Frame, Limit::Packets(1000));
            let model = LossModel::Random {
                chance: "0.01 %".parse().expect("a share"),
            };
            let unit = DropUnit::default();
            let delay = Delay::fixed(Duration::from_millis(50));
            vec![
                (format!("{name}.rate"), ElementKind::Link(link)),
                (format!("{name}.loss"), ElementKind::Loss(Loss { model, unit })),
                (format!("{name}.delay"), ElementKind::Delay(delay)),
            ]
        };
        let fetch = FtpClient {
            server: "10.0.0.2:21".parse().expect("an address"),
            user: "ubuntu".into(),
            password: "xxx".into(),
            path: "test_50mb.txt".into(),
            direction: FtpDirection::Get,
            data: FtpData::Passive,
            pace: self.pace,
        };
        let serve = FtpServer {
            port: 21,
            files: vec![File {
                path: "test_50mb.txt".into(),
                bytes: 50 << 20,
            }],
            passive_port: 45_059,
        };
        let host = |name: &str, address: &str, tcp: &Config, input, behaviour| SimHost {
            name: name.into(),
            config: HostConfig {
                addresses: vec![address.parse().expect("an address")],
                tcp: tcp.clone(),
                mtu: 1500,
                input,
            },
            programs: vec![(Time::ZERO, behaviour)],
        };
        let client = host(
            "client",
            "10.0.0.1",
            &self.tcp,
            self.input,
            Behaviour::FtpClient(fetch),
        );
        let server = host(
            "server",
            "10.0.0.2",
            &Config::linux(),
            None,
            Behaviour::FtpServer(serve),
        );
        SimSpec {
            hosts: vec![client, server],
            network: NetworkSpec::chain("client", "server", chain("up"), chain("down")),
            seed,
            deadline: Duration::from_secs(2_000),
            sample_every: None,
        }
    }
}

//! Runs of two hosts over a chain.
#![allow(dead_code, reason = "each test file uses a part of it")]

use slowpath_endpoint::HostConfig;
use slowpath_endpoint::app::{Behaviour, Bulk, Pace, Sink};
use slowpath_endpoint::tcp::{Config, CongestionControl};
use slowpath_path::{Delay, DropUnit, ElementKind, Limit, Link, Loss, LossModel, NetworkSpec};
use slowpath_sim::{NoSink, SimHost, SimReport, SimSpec, Simulation};
use slowpath_units::{Duration, Layer, Time};

pub(crate) type Chain = Vec<(String, ElementKind)>;

pub(crate) fn rate(name: &str, rate: &str, limit: Limit) -> (String, ElementKind) {
    let link = Link::fifo(rate.parse().expect("a rate"), Layer::Frame, limit);
    (name.to_owned(), ElementKind::Link(link))
}

pub(crate) fn delay(name: &str, span: Duration) -> (String, ElementKind) {
    (name.to_owned(), ElementKind::Delay(Delay::fixed(span)))
}

pub(crate) fn loss(name: &str, model: LossModel) -> (String, ElementKind) {
    (
        name.to_owned(),
        ElementKind::Loss(Loss {
            model,
            unit: DropUnit::default(),
        }),
    )
}

pub(crate) fn host(name: &str, address: &str, tcp: Config, behaviour: Behaviour) -> SimHost {
    let config = HostConfig {
        addresses: vec![address.parse().expect("an address")],
        tcp,
        mtu: 1500,
        input: None,
    };
    SimHost {
        name: name.to_owned(),
        config,
        programs: vec![(Time::ZERO, behaviour)],
    }
}

pub(crate) fn with(congestion: CongestionControl) -> Config {
    let mut config = Config::linux();
    config.congestion = congestion;
    config
}

/// A bulk transfer from near to far.
pub(crate) struct Transfer {
    pub(crate) sender: Config,
    pub(crate) receiver: Config,
    pub(crate) up: Chain,
    pub(crate) down: Chain,
    pub(crate) span: Duration,
    pub(crate) seed: u64,
    pub(crate) streams: u32,
    pub(crate) sample_every: Option<Duration>,
}

impl Transfer {
    pub(crate) fn new(sender: Config, up: Chain, down: Chain, seconds: u64) -> Self {
        Self {
            sender,
            receiver: Config::linux(),
            up,
            down,
            span: Duration::from_secs(seconds),
            seed: 1,
            streams: 1,
            sample_every: None,
        }
    }

    pub(crate) fn spec(&self) -> SimSpec {
        let bulk = Bulk {
            name: "bulk".to_owned(),
            to: "10.0.0.2:5001".parse().expect("an address"),
            bytes: None,
            duration: Some(self.span),
            streams: self.streams,
            congestion: None,
            dscp: None,
            writer: Pace::Unlimited,
        };
        let sink = Sink {
            port: 5001,
            reader: Pace::Unlimited,
        };
        SimSpec {
            hosts: vec![
                host("near", "10.0.0.1", self.sender.clone(), Behaviour::Bulk(bulk)),
                host("far", "10.0.0.2", self.receiver.clone(), Behaviour::Sink(sink)),
            ],
            network: NetworkSpec::chain("near", "far", self.up.clone(), self.down.clone()),
            seed: self.seed,
            deadline: self.span,
            sample_every: self.sample_every,
        }
    }

    /// Runs for the span and stops there: what was received counts.
    pub(crate) fn run(&self) -> Outcome {
        let report = Simulation::new(&self.spec())
            .expect("a valid run")
            .run(&mut NoSink);
        let received = report
            .connections
            .iter()
            .filter(|(host, ..)| *host == 1)
            .map(|(_, _, _, info)| info.received)
            .sum();
        Outcome {
            received,
            seconds: self.span.seconds(),
            report,
        }
    }
}

pub(crate) struct Outcome {
    pub(crate) received: u64,
    pub(crate) seconds: f64,
    pub(crate) report: SimReport,
}

impl Outcome {
    pub(crate) fn byte_per_s(&self) -> f64 {
        self.received as f64 / self.seconds
    }

    pub(crate) fn sender(&self) -> &slowpath_endpoint::tcp::Info {
        &self
            .report
            .connections
            .iter()
            .find(|(host, ..)| *host == 0)
            .expect("the sender's connection")
            .3
    }
}

/// Fails unless `value` lies within `tolerance` (a share) of `expected`.
#[track_caller]
pub(crate) fn close(what: &str, value: f64, expected: f64, tolerance: f64) {
    let off = value / expected - 1.0;
    println!("{what}: {value:.4e} for {expected:.4e}, {:+.2} %", off * 100.0);
    assert!(
        off.abs() <= tolerance,
        "{what}: {value} is {:+.1} % off {expected}",
        off * 100.0
    );
}

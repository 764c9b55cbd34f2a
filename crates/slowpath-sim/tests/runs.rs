//! Properties of runs: equal plans give equal bytes, conservation, captures, many flows, other workloads.

mod support;

use slowpath_endpoint::app::{Behaviour, Pace, Ping, Requests, Responder, Sink, UdpSink, UdpSource};
use slowpath_endpoint::tcp::{Config, CongestionControl, EcnMode};
use slowpath_path::{DropCause, ElementId, ElementKind, Limit, LossModel, NetworkSpec, PacketId, Target};
use slowpath_record::packets::Record;
use slowpath_sim::{NoSink, Point, Recorder, Sighting, SimReport, SimSpec, Simulation};
use slowpath_units::{Duration, Time};
use support::{Chain, Transfer, delay, host, loss, rate, with};

fn chain(side: &str, speed: &str, half_ms: u64) -> Chain {
    vec![
        rate(&format!("{side}.rate"), speed, Limit::Packets(100)),
        delay(&format!("{side}.delay"), Duration::from_millis(half_ms)),
    ]
}

fn lossy_chain(side: &str) -> Chain {
    let mut chain = chain(side, "20 Mbit/s", 20);
    let chance = "0.5 %".parse().unwrap();
    chain.insert(1, loss(&format!("{side}.loss"), LossModel::Random { chance }));
    chain
}

fn run(spec: &SimSpec) -> (SimReport, Vec<Record>) {
    let mut recorder = Recorder::at_host(0);
    let report = Simulation::new(spec).unwrap().run(&mut recorder);
    (report, recorder.records)
}

#[test]
fn equal_plans_give_equal_records_and_another_seed_another() {
    for congestion in [
        CongestionControl::Reno,
        CongestionControl::Bic,
        CongestionControl::Cubic,
        CongestionControl::Bbr,
    ] {
        let mut transfer = Transfer::new(with(congestion), lossy_chain("up"), lossy_chain("down"), 20);
        transfer.sample_every = Some(Duration::from_millis(100));
        let (first, first_packets) = run(&transfer.spec());
        let (second, second_packets) = run(&transfer.spec());
        assert_eq!(first.reports, second.reports);
        assert_eq!(first_packets, second_packets);
        assert_eq!(format!("{:?}", first.series), format!("{:?}", second.series));
        transfer.seed = 2;
        let (_, other) = run(&transfer.spec());
        assert_ne!(first_packets, other, "{congestion:?}");
    }
}

#[test]
fn every_packet_is_delivered_dropped_or_inside() {
    for congestion in [
        CongestionControl::Reno,
        CongestionControl::Bic,
        CongestionControl::Cubic,
        CongestionControl::Bbr,
    ] {
        let transfer = Transfer::new(with(congestion), lossy_chain("up"), lossy_chain("down"), 20);
        let mut simulation = Simulation::new(&transfer.spec()).unwrap();
        while simulation.step(&mut NoSink) {}
        let inside = simulation.network().inside();
        let report = simulation.finish();
        let dropped: u64 = report
            .elements
            .iter()
            .flat_map(|element| &element.dropped)
            .map(|(_, traffic)| traffic.packets)
            .sum();
        assert_eq!(
            report.packets_sent,
            report.packets_delivered + dropped + inside,
            "{congestion:?}"
        );
        let sender = &report
            .connections
            .iter()
            .find(|(number, ..)| *number == 0)
            .unwrap()
            .3;
        assert!(sender.sender.retransmissions > 0);
        assert!(
            sender.acknowledged > 1_000_000,
            "{congestion:?}: {}",
            sender.acknowledged
        );
    }
}

#[test]
fn a_marking_queue_slows_down_without_loss() {
    let codel = |side: &str| {
        let mut chain = chain(side, "20 Mbit/s", 10);
        let mut link = slowpath_path::Link::fifo(
            "20 Mbit/s".parse().unwrap(),
            slowpath_units::Layer::Frame,
            Limit::None,
        );
        link.queue = slowpath_path::Queue::Codel(slowpath_path::Codel {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: true,
            ..slowpath_path::Codel::default()
        });
        chain[0].1 = slowpath_path::ElementKind::Link(link);
        chain
    };
    let mut config = with(CongestionControl::Cubic);
    config.ecn = EcnMode::Request;
    let transfer = Transfer::new(config, codel("up"), chain("down", "20 Mbit/s", 10), 20);
    let outcome = transfer.run();
    let sender = outcome.sender().sender;
    assert_eq!(sender.retransmissions, 0, "{sender:?}");
    assert!(sender.ecn_reductions > 3, "{sender:?}");
    assert!(
        outcome.byte_per_s() > 0.85 * 2_500_000.0,
        "{}",
        outcome.byte_per_s()
    );
}

#[test]
fn flows_share_a_link() {
    let mut transfer = Transfer::new(
        with(CongestionControl::Reno),
        chain("up", "50 Mbit/s", 10),
        chain("down", "50 Mbit/s", 10),
        60,
    );
    transfer.streams = 8;
    let outcome = transfer.run();
    let each: Vec<f64> = outcome
        .report
        .connections
        .iter()
        .filter(|(number, ..)| *number == 1)
        .map(|(_, _, _, info)| info.received as f64)
        .collect();
    assert_eq!(each.len(), 8);
    let (sum, squares) = each
        .iter()
        .fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let fairness = sum * sum / (8.0 * squares);
    assert!(fairness > 0.9, "Jain's index is {fairness}: {each:?}");
    assert!(sum / 60.0 > 0.95 * 50e6 / 8.0 * 1448.0 / 1514.0, "{}", sum / 60.0);
}

#[test]
fn a_path_with_a_small_mtu_is_found_out() {
    for (answers, works) in [(true, true), (false, false)] {
        let mut transfer = Transfer::new(
            Config::linux(),
            chain("up", "50 Mbit/s", 10),
            chain("down", "50 Mbit/s", 10),
            10,
        );
        transfer.up.push((
            "up.mtu".to_owned(),
            slowpath_path::ElementKind::Mtu(slowpath_path::Mtu {
                mtu: 1_400,
                answers_as: answers.then(|| "192.0.2.1".parse().unwrap()),
                ignore_df: false,
                announced: None,
            }),
        ));
        let mut spec = transfer.spec();
        if answers {
            // Its messages go back to the sender.
            let element = spec.network.element_mut("up.mtu").unwrap();
            element.outputs.push(slowpath_path::Target::to("near"));
        }
        let (report, packets) = run(&spec);
        let received: u64 = report
            .connections
            .iter()
            .filter(|(number, ..)| *number == 1)
            .map(|(_, _, _, info)| info.received)
            .sum();
        assert_eq!(received > 40_000_000, works, "{received}");
        let largest = packets.iter().skip(40).filter_map(|record| match record {
            Record::Tcp(packet) => Some(packet.ip_len),
            Record::Other(_) => None,
        });
        assert_eq!(largest.max() == Some(1_400), works);
    }
}

fn two(near: Behaviour, far: Behaviour, up: Chain, down: Chain) -> SimSpec {
    SimSpec {
        hosts: vec![
            host("near", "10.0.0.1", Config::linux(), near),
            host("far", "10.0.0.2", Config::linux(), far),
        ],
        network: NetworkSpec::chain("near", "far", up, down),
        seed: 1,
        deadline: Duration::from_secs(1_000),
        sample_every: None,
    }
}

#[test]
fn requests_take_round_trips() {
    let requests = |keep_alive, concurrency| {
        Behaviour::Requests(Requests {
            name: "get".into(),
            to: "10.0.0.2:80".parse().unwrap(),
            count: 20,
            concurrency,
            request_bytes: 200,
            response_bytes: 1_000,
            keep_alive,
            fixed_shares: false,
            think: Duration::ZERO,
        })
    };
    let responder = Behaviour::Responder(Responder {
        port: 80,
        request_bytes: 200,
        response_bytes: 1_000,
        service: Duration::ZERO,
    });
    for (keep_alive, concurrency, round_trips) in [
        (true, 1, 21.0),
        (false, 1, 40.0),
        (true, 4, 6.0),
        (false, 4, 10.0),
    ] {
        let spec = two(
            requests(keep_alive, concurrency),
            responder.clone(),
            chain("up", "1 Gbit/s", 50),
            chain("down", "1 Gbit/s", 50),
        );
        let (report, _) = run(&spec);
        let seconds = report.transfers(0).next().unwrap().duration().seconds();
        assert!(
            (seconds / 0.1 - round_trips).abs() < 0.2,
            "{keep_alive} {concurrency}: {seconds}"
        );
    }
}

/// A connection that has had its share must not be woken again and again while others are busy.
#[test]
fn connections_that_pause_end_one_by_one() {
    let near = Behaviour::Requests(Requests {
        name: "requests".into(),
        to: "10.0.0.2:80".parse().unwrap(),
        count: 20,
        concurrency: 4,
        request_bytes: 100,
        response_bytes: 50_000,
        keep_alive: true,
        fixed_shares: false,
        think: Duration::from_millis(3),
    });
    let far = Behaviour::Responder(Responder {
        port: 80,
        request_bytes: 100,
        response_bytes: 50_000,
        service: Duration::ZERO,
    });
    let spec = two(
        near,
        far,
        chain("up", "10 Mbit/s", 5),
        chain("down", "10 Mbit/s", 5),
    );
    let report = Simulation::new(&spec).unwrap().run(&mut NoSink);
    assert!(report.complete);
    let bytes: Vec<u64> = report.transfers(0).map(|transfer| transfer.bytes).collect();
    assert_eq!(bytes, [20 * 50_000]);
}

#[test]
fn fixed_shares_of_requests_leave_a_remainder_out() {
    let bytes = |fixed_shares| {
        let requests = Behaviour::Requests(Requests {
            name: "put".into(),
            to: "10.0.0.2:80".parse().unwrap(),
            count: 22,
            concurrency: 4,
            request_bytes: 1_000,
            response_bytes: 100,
            keep_alive: true,
            fixed_shares,
            think: Duration::ZERO,
        });
        let responder = Behaviour::Responder(Responder {
            port: 80,
            request_bytes: 1_000,
            response_bytes: 100,
            service: Duration::ZERO,
        });
        let spec = two(
            requests,
            responder,
            chain("up", "1 Gbit/s", 5),
            chain("down", "1 Gbit/s", 5),
        );
        let (report, _) = run(&spec);
        let transfer = report.transfers(0).next().unwrap().clone();
        assert!(transfer.complete);
        transfer.bytes
    };
    assert_eq!((bytes(false), bytes(true)), (22_000, 20_000));
}

#[test]
fn bursts_of_datagrams_overflow_a_queue_that_even_spacing_does_not() {
    let source = |interval_ms| {
        Behaviour::UdpSource(UdpSource {
            name: "udp".into(),
            to: "10.0.0.2:5201".parse().unwrap(),
            datagram: 1_400,
            rate: "10 Mbit/s".parse().unwrap(),
            interval: Duration::from_millis(interval_ms),
            duration: Duration::from_secs(10),
            dscp: slowpath_packet::Dscp::DEFAULT,
        })
    };
    let sink = Behaviour::UdpSink(UdpSink {
        name: "udp".into(),
        port: 5201,
        lasts: Duration::ZERO,
    });
    let mut lost = Vec::new();
    for interval_ms in [0, 1, 100] {
        let up = vec![
            rate("up.rate", "20 Mbit/s", Limit::Packets(20)),
            delay("up.delay", Duration::from_millis(10)),
        ];
        let spec = two(
            source(interval_ms),
            sink.clone(),
            up,
            chain("down", "20 Mbit/s", 10),
        );
        let (report, _) = run(&spec);
        let sent: u64 = report.flows().map(|flow| flow.sent_packets).sum();
        let received: u64 = report.flows().map(|flow| flow.received_packets).sum();
        assert_eq!(sent, 8_929, "10 Mbit/s for 10 s");
        lost.push(sent - received);
    }
    // 89 datagrams at once, 20 wait and one is sent.
    assert_eq!(lost[..2], [0, 0]);
    assert!(lost[2] > sent_share(8_929, 70), "{lost:?}");
}

const fn sent_share(sent: u64, percent: u64) -> u64 {
    sent * percent / 100
}

#[test]
fn large_datagrams_are_lost_with_any_fragment() {
    let source = Behaviour::UdpSource(UdpSource {
        name: "udp".into(),
        to: "10.0.0.2:5201".parse().unwrap(),
        datagram: 8_192,
        rate: "5 Mbit/s".parse().unwrap(),
        interval: Duration::ZERO,
        duration: Duration::from_secs(100),
        dscp: slowpath_packet::Dscp::DEFAULT,
    });
    let sink = Behaviour::UdpSink(UdpSink {
        name: "udp".into(),
        port: 5201,
        lasts: Duration::ZERO,
    });
    let chance = "5 %".parse().unwrap();
    let up = vec![
        rate("up.rate", "20 Mbit/s", Limit::Packets(100)),
        loss("up.loss", LossModel::Random { chance }),
    ];
    let (report, _) = run(&two(source, sink, up, Vec::new()));
    let sent: u64 = report.flows().map(|flow| flow.sent_packets).sum();
    let received: u64 = report.flows().map(|flow| flow.received_packets).sum();
    // Six fragments: 1 - 0.95^6 = 26.5 %.
    let share = 1.0 - received as f64 / sent as f64;
    assert!((share - 0.265).abs() < 0.02, "{share}");
}

#[test]
fn ping_measures_the_path() {
    let ping = Behaviour::Ping(Ping {
        to: "10.0.0.2".parse().unwrap(),
        count: 10,
        interval: Duration::from_millis(100),
        bytes: 56,
    });
    let sink = Behaviour::Sink(Sink {
        port: 1,
        reader: Pace::Unlimited,
    });
    let (report, packets) = run(&two(
        ping,
        sink,
        chain("up", "1 Gbit/s", 10),
        chain("down", "1 Gbit/s", 10),
    ));
    let times: Vec<Duration> = report
        .reports
        .iter()
        .filter_map(|(_, report)| match report {
            slowpath_endpoint::Report::RoundTrip { time, .. } => Some(*time),
            _ => None,
        })
        .collect();
    // 98 bytes take 784 ns each way.
    assert_eq!(times, [Duration::from_nanos(20_000_000 + 2 * 784); 10]);
    assert_eq!(packets.len(), 20);
}

#[test]
fn stepping_in_between_changes_nothing() {
    let transfer = Transfer::new(
        with(CongestionControl::Cubic),
        lossy_chain("up"),
        lossy_chain("down"),
        5,
    );
    let (whole, whole_packets) = run(&transfer.spec());
    let mut recorder = Recorder::at_host(0);
    let mut simulation = Simulation::new(&transfer.spec()).unwrap();
    let mut last = Time::ZERO;
    while simulation.step(&mut recorder) {
        assert!(simulation.now() >= last);
        last = simulation.now();
        assert!(
            simulation
                .host(0)
                .is_some_and(|host| host.next_event().is_none_or(|at| at >= last))
        );
    }
    assert_eq!(recorder.records, whole_packets);
    assert_eq!(simulation.finish().packets_sent, whole.packets_sent);
}

/// Asks for every drop, so that the run looks at each point in time.
#[derive(Default)]
struct EachDrop {
    seen: Vec<(Point, Time, u64)>,
    dropped: u64,
}

/// Asks for none.
#[derive(Default)]
struct NoDrop {
    seen: Vec<(Point, Time, u64)>,
}

impl slowpath_sim::Sink for EachDrop {
    fn seen(&mut self, sighting: &Sighting<'_>) {
        self.seen.push((sighting.point, sighting.at, sighting.id.0));
    }

    fn dropped(&mut self, _: PacketId, _: ElementId, _: DropCause, at: Time) {
        assert!(
            self.seen.last().is_none_or(|(_, last, _)| *last <= at),
            "a late drop"
        );
        self.dropped += 1;
    }
}

impl slowpath_sim::Sink for NoDrop {
    const WATCHES_DROPS: bool = false;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        self.seen.push((sighting.point, sighting.at, sighting.id.0));
    }
}

#[test]
fn passing_by_what_nobody_watches_changes_nothing() {
    let tap = |side: &str| {
        let tap = slowpath_path::Tap { record: true };
        (format!("{side}.tap"), ElementKind::Tap(tap))
    };
    let far = |side: &str| delay(&format!("{side}.far"), Duration::from_millis(7));
    let mut tapped = lossy_chain("up");
    tapped.push(tap("up"));
    tapped.push(far("up"));
    let mut routed = lossy_chain("up");
    let router = slowpath_path::Mtu {
        mtu: 1_300,
        answers_as: "10.9.9.9".parse().ok(),
        ignore_df: false,
        announced: None,
    };
    routed.insert(1, ("up.mtu".to_owned(), ElementKind::Mtu(router)));
    routed.push(far("up"));
    for (name, up) in [
        ("lossy", lossy_chain("up")),
        ("tapped", tapped),
        ("routed", routed),
        ("bare", Vec::new()),
    ] {
        for sample_every in [None, Some(Duration::from_millis(30))] {
            let mut transfer =
                Transfer::new(with(CongestionControl::Cubic), up.clone(), lossy_chain("down"), 4);
            transfer.streams = 3;
            transfer.sample_every = sample_every;
            let mut spec = transfer.spec();
            if let Some(element) = spec
                .network
                .elements
                .iter_mut()
                .find(|element| element.name == "up.mtu")
            {
                // Its messages go back to the sender, so the network is no pair of chains.
                element.outputs.push(Target::to("down.rate"));
            }
            let simulate = |span| {
                let spec = SimSpec {
                    deadline: span,
                    ..spec.clone()
                };
                let (mut each, mut none) = (EachDrop::default(), NoDrop::default());
                let mut careful = Simulation::new(&spec).unwrap().run(&mut each);
                let mut hasty = Simulation::new(&spec).unwrap().run(&mut none);
                assert!(
                    hasty.events < careful.events,
                    "{name}: {} of {}",
                    hasty.events,
                    careful.events
                );
                hasty.events = 0;
                careful.events = 0;
                assert_eq!(format!("{hasty:?}"), format!("{careful:?}"), "{name}");
                assert!(none.seen == each.seen, "{name}: other sightings");
                (each.seen.len(), each.dropped)
            };
            let (seen, dropped) = simulate(Duration::from_secs(60));
            assert!(
                seen > 4_000 && dropped > 10,
                "{name}: {seen} seen, {dropped} dropped"
            );
            // Given up in the middle, too.
            simulate(Duration::from_micros(2_345_678));
        }
    }
}

/// Looks at a link at the first event of each millisecond, going by `go` to the next event or further: when, for how long it had packets
/// in it, bytes it had carried, and what was seen up to then.
fn looks<S: slowpath_sim::Sink + Default>(
    spec: &SimSpec,
    go: impl Fn(&mut Simulation, Time, &mut S) -> bool,
    seen: impl Fn(&S) -> usize,
) -> Vec<(Time, Duration, u64, usize)> {
    let mut simulation = Simulation::new(spec).unwrap();
    let link = simulation
        .network()
        .element_names()
        .find(|(_, name)| *name == "up.rate")
        .map(|(id, _)| id)
        .unwrap();
    simulation.time_occupied(link);
    let mut sink = S::default();
    let (mut due, mut out) = (Time::ZERO, Vec::new());
    while go(&mut simulation, due, &mut sink) {
        let now = simulation.now();
        if now >= due {
            due = now + Duration::from_millis(1);
            let network = simulation.network();
            let carried = network.passed(link).unwrap().delivered.bytes;
            out.push((now, network.occupied(link).unwrap(), carried, seen(&sink)));
        }
    }
    out
}

#[test]
fn strides_come_to_the_same_looks_as_steps() {
    for streams in [1, 3] {
        let mut transfer = Transfer::new(
            with(CongestionControl::Cubic),
            lossy_chain("up"),
            lossy_chain("down"),
            4,
        );
        transfer.streams = streams;
        let spec = transfer.spec();
        let step = |simulation: &mut Simulation, _, sink: &mut EachDrop| simulation.step(sink);
        let stride = |simulation: &mut Simulation, due, sink: &mut NoDrop| simulation.stride(due, sink);
        let stepped = looks(&spec, step, |sink| sink.seen.len());
        let strode = looks(&spec, stride, |sink| sink.seen.len());
        assert!(stepped.len() > 1_000, "{} looks", stepped.len());
        assert_eq!(stepped, strode);
        // A full queue works nearly all the time, and never longer than that.
        let (last, occupied, carried, _) = *stepped.last().unwrap();
        assert!(occupied <= last.since(Time::ZERO));
        // 20 Mbit/s are 400 ns a byte; frames are 18 bytes longer than packets.
        let least = Duration::from_nanos(carried * 400);
        assert!(occupied >= least, "{occupied} for {carried} bytes");
    }
}

/// Loss, reordering and duplicates both ways, with every algorithm, with and without SACK: all bytes arrive.
#[test]
fn everything_arrives_whatever_the_path_does() {
    let rough = |side: &str| -> Chain {
        let chance = "2 %".parse().unwrap();
        vec![
            rate(&format!("{side}.rate"), "20 Mbit/s", Limit::Packets(30)),
            loss(&format!("{side}.loss"), LossModel::Random { chance }),
            (
                format!("{side}.twice"),
                slowpath_path::ElementKind::Duplicate(slowpath_path::Duplicate { chance }),
            ),
            (
                format!("{side}.delay"),
                slowpath_path::ElementKind::Delay(slowpath_path::Delay {
                    jitter: Some(slowpath_path::Jitter {
                        shape: slowpath_path::JitterShape::Uniform {
                            spread: Duration::from_millis(3),
                        },
                        reorder: true,
                    }),
                    ..slowpath_path::Delay::fixed(Duration::from_millis(10))
                }),
            ),
        ]
    };
    for congestion in [
        CongestionControl::Reno,
        CongestionControl::Bic,
        CongestionControl::Cubic,
        CongestionControl::Bbr,
    ] {
        for sack in [true, false] {
            for timestamps in [true, false] {
                let mut config = with(congestion);
                config.sack = sack;
                config.timestamps = timestamps;
                let bytes = 3_000_000;
                let bulk = slowpath_endpoint::app::Bulk {
                    name: "bulk".into(),
                    to: "10.0.0.2:5001".parse().unwrap(),
                    bytes: Some(bytes),
                    duration: None,
                    streams: 2,
                    congestion: None,
                    dscp: None,
                    writer: Pace::Unlimited,
                };
                let sink = Sink {
                    port: 5001,
                    reader: Pace::Unlimited,
                };
                let spec = SimSpec {
                    hosts: vec![
                        host("near", "10.0.0.1", config.clone(), Behaviour::Bulk(bulk)),
                        host("far", "10.0.0.2", config, Behaviour::Sink(sink)),
                    ],
                    network: NetworkSpec::chain("near", "far", rough("up"), rough("down")),
                    seed: 3,
                    deadline: Duration::from_secs(3_000),
                    sample_every: None,
                };
                let report = Simulation::new(&spec).unwrap().run(&mut NoSink);
                let got: Vec<u64> = report.transfers(1).map(|transfer| transfer.bytes).collect();
                assert_eq!(
                    got,
                    [bytes, bytes],
                    "{congestion:?}, SACK {sack}, timestamps {timestamps}"
                );
                assert!(
                    report.complete,
                    "{congestion:?}, SACK {sack}, timestamps {timestamps}"
                );
            }
        }
    }
}

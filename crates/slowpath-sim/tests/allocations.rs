//! A running transfer allocates nothing per packet.

mod support;

use slowpath_endpoint::tcp::CongestionControl;
use slowpath_path::{Limit, LossModel};
use slowpath_sim::{NoSink, Simulation};
use slowpath_units::{Duration, Time};
use support::{Transfer, delay, loss, rate, with};

#[test]
fn packets_allocate_nothing() {
    for congestion in [
        CongestionControl::Reno,
        CongestionControl::Cubic,
        CongestionControl::Bbr,
    ] {
        let chance = "0.01 %".parse().unwrap();
        let up = vec![
            rate("up.rate", "50 Mbit/s", Limit::Packets(1000)),
            loss("up.loss", LossModel::Random { chance }),
            delay("up.delay", Duration::from_millis(10)),
        ];
        let down = vec![delay("down.delay", Duration::from_millis(10))];
        let transfer = Transfer::new(with(congestion), up, down, 60);
        let mut simulation = Simulation::new(&transfer.spec()).unwrap();
        let until = |simulation: &mut Simulation, seconds| {
            let end = Time::ZERO + Duration::from_secs(seconds);
            while simulation.now() < end && simulation.step(&mut NoSink) {}
        };
        // Buffers reach their size in the first losses.
        until(&mut simulation, 30);
        let counted = allocation_counter::measure(|| until(&mut simulation, 50));
        let packets = simulation.finish().data_packets;
        println!(
            "{congestion:?}: {} allocations, {packets} data packets",
            counted.count_total
        );
        assert!(packets > 100_000, "{packets}");
        assert!(
            counted.count_total <= 20,
            "{congestion:?}: {}",
            counted.count_total
        );
    }
}

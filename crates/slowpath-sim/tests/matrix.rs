//! Rate x round trip x loss x queue x algorithm: one table of integers, reviewed as a diff.
//!
//! Each figure is the goodput in per mille of what the link can carry. A change in TCP changes the table on
//! purpose: run with `UPDATE_SNAPSHOT=1` and look at the difference.
//!
//! Last reviewed change: of 384 values seven moved by more than 15 %, all with a queue of 0.1 BDP and BIC or CUBIC, by
//! weighing received segments 160 in 256 of their memory, as Linux 6.18 does. Presumably the window that is offered holds a
//! round of slow start back at another packet, and a short queue overflows in another round.

mod support;

use std::fmt::Write as _;

use slowpath_endpoint::tcp::CongestionControl;
use slowpath_path::{Limit, LossModel};
use slowpath_units::{Duration, Ratio};
use support::{Transfer, delay, loss, rate, with};

const SNAPSHOT: &str = include_str!("matrix.snapshot.txt");

fn cell(congestion: CongestionControl, mbit: u64, rtt_ms: u64, loss_ppm: u32, queue_percent: u64) -> u64 {
    let half = Duration::from_micros(rtt_ms * 500);
    let packets = (mbit * 125 * rtt_ms * queue_percent / 100 / 1514).max(4);
    let limit = Limit::Packets(u32::try_from(packets).unwrap());
    let mut up = vec![
        rate("up.nic", "10 Gbit/s", Limit::None),
        rate("up.rate", &format!("{mbit} Mbit/s"), limit),
        delay("up.delay", half),
    ];
    if loss_ppm > 0 {
        let chance = Ratio::from_ppb(loss_ppm * 1000).unwrap();
        up.insert(1, loss("up.loss", LossModel::Random { chance }));
    }
    let seconds = 10;
    let outcome = Transfer::new(with(congestion), up, vec![delay("down.delay", half)], seconds).run();
    let full = mbit as f64 * 125_000.0 * 1448.0 / 1514.0;
    format!("{:.0}", outcome.byte_per_s() / full * 1000.0)
        .parse()
        .unwrap()
}

#[test]
fn the_table_has_not_changed() {
    let mut table = String::from(
        "# mbit/s rtt-ms loss-ppm queue-%bdp: reno bic cubic bbr, goodput in 1/1000 of the link\n",
    );
    for mbit in [10, 50] {
        for rtt_ms in [1, 20, 100, 250] {
            for loss_ppm in [0, 100, 1_000, 10_000] {
                for queue_percent in [10, 100, 400] {
                    write!(table, "{mbit} {rtt_ms} {loss_ppm} {queue_percent}:").unwrap();
                    for congestion in [
                        CongestionControl::Reno,
                        CongestionControl::Bic,
                        CongestionControl::Cubic,
                        CongestionControl::Bbr,
                    ] {
                        write!(
                            table,
                            " {}",
                            cell(congestion, mbit, rtt_ms, loss_ppm, queue_percent)
                        )
                        .unwrap();
                    }
                    table.push('\n');
                }
            }
        }
    }
    if option_env!("UPDATE_SNAPSHOT").is_some() {
        println!("{table}");
        return;
    }
    for (number, (found, expected)) in table.lines().zip(SNAPSHOT.lines()).enumerate() {
        assert_eq!(
            found,
            expected,
            "line {}: run with UPDATE_SNAPSHOT=1 and compare",
            number + 1
        );
    }
    assert_eq!(table.lines().count(), SNAPSHOT.lines().count());
}

//! What class queues and active queue management do to competing flows.

mod harness;
mod samples;

use harness::{Harness, one_way, us};
use samples::{by_flow, rate};
use slowpath_packet::{Dscp, Ecn};
use slowpath_path::{
    Cargo, Class, Classes, Codel, Edit, ElementKind, FqCodel, Limit, Link, Outcome, Packet, Pie, Queue, Rate,
    Red, Surplus,
};
use slowpath_units::{BitRate, ByteCount, Duration, Layer, Ratio, Time};

/// Offers each flow `mbit` Mbit/s of 1000-byte IP packets for `secs` through `queue` on a link of 100 Mbit/s (L3),
/// flow n being class n + 1; returns what each got while it lasted, in kbit/s.
fn compete(queue: Queue, offered: &[u64], secs: u64) -> Vec<u64> {
    let link = Link {
        rate: Rate::Fixed(rate(100)),
        layer: Layer::Ip,
        queue,
    };
    let chain = vec![
        ("sort", by_flow(&[1, 2, 3, 4])),
        ("link", ElementKind::Link(link)),
    ];
    let mut harness = Harness::new(&one_way(chain), 1);
    let mut sends: Vec<(u64, u64)> = Vec::new();
    for (flow, mbit) in offered.iter().enumerate().filter(|(_, mbit)| **mbit > 0) {
        let gap = 8_000_000 / mbit;
        sends.extend((0..secs * 1_000_000_000 / gap).map(|number| (number * gap, flow as u64)));
    }
    sends.sort_unstable();
    for (at, flow) in sends {
        let packet = Packet::new(Cargo::new(flow), harness.flows[flow as usize], 1000);
        harness.send_packet("near", Time::from_nanos(at), packet);
    }
    harness.advance(Time::ZERO + Duration::from_secs(secs));
    harness.assert_balanced();
    let mut got = vec![0; offered.len()];
    harness
        .delivered("far")
        .iter()
        .for_each(|(_, flow)| got[*flow as usize] += 8 / secs);
    got
}

fn classes(classes: Vec<Class>) -> Classes {
    let default = classes[0].number;
    Classes {
        classes,
        default,
        layer: Layer::Ip,
        surplus: Surplus::ByGuarantee,
        ..Classes::priority([1], 1, 1)
    }
}

fn assert_close(got: &[u64], expected_mbit: &[u64], what: &str) {
    for (got, expected) in got.iter().zip(expected_mbit) {
        // One per cent, or a tenth of a Mbit/s for what is nearly nothing.
        let tolerance = (expected * 10).max(100);
        assert!(
            got.abs_diff(expected * 1000) <= tolerance,
            "{what}: {got:?} kbit/s of {expected_mbit:?} Mbit/s"
        );
    }
}

#[test]
fn strict_priority_starves_the_lower_class() {
    let priority = || Queue::Classes(Classes::priority([1, 2, 3, 4], 2, 50));
    assert_close(
        &compete(priority(), &[80, 0, 0, 60], 2),
        &[40, 0, 0, 60],
        "class 4 first",
    );
    assert_close(
        &compete(priority(), &[80, 80, 80, 60], 2),
        &[0, 0, 40, 60],
        "then 3",
    );
    // One class only: everybody loses alike.
    let fifo = Queue::Classes(Classes::priority([1], 1, 50));
    let got = compete(fifo, &[100, 0, 0, 100], 2);
    assert!(got[0] + got[3] > 99_000, "{got:?}");
}

#[test]
fn a_ceiling_is_kept_and_not_lent() {
    let shaped = || {
        let list = vec![
            Class::shaped(1, 50, rate(15)),
            Class::shaped(2, 50, rate(5)),
            Class::shaped(3, 50, rate(30)),
        ];
        Queue::Classes(classes(list))
    };
    assert_close(
        &compete(shaped(), &[50, 50, 50], 4),
        &[15, 5, 30],
        "all offer more",
    );
    assert_close(
        &compete(shaped(), &[50, 0, 0], 4),
        &[15, 0, 0],
        "unused bandwidth is not lent",
    );
    assert_close(
        &compete(shaped(), &[10, 5, 20], 4),
        &[10, 5, 20],
        "less than the ceiling is not touched",
    );
}

#[test]
fn a_guarantee_holds_and_a_ceiling_above_it_takes_surplus() {
    let dynamic = |number, guarantee, ceiling| Class {
        guarantee: Some(rate(guarantee)),
        ceiling: Some(rate(ceiling)),
        ..Class::plain(number, 50)
    };
    let list = || Queue::Classes(classes(vec![dynamic(1, 10, 60), dynamic(2, 40, 90)]));
    assert_close(
        &compete(list(), &[100, 0], 4),
        &[60, 0],
        "alone up to its ceiling",
    );
    assert_close(&compete(list(), &[100, 30], 4), &[60, 30], "the other wants less");
    // Surplus of 50 is divided 1 to 4: 10 + 10 and 40 + 40.
    assert_close(&compete(list(), &[100, 100], 4), &[20, 80], "both want all");
}

#[test]
fn borrowing_is_a_guarantee_without_a_ceiling() {
    let borrow = |number, guarantee| Class {
        guarantee: Some(rate(guarantee)),
        ..Class::plain(number, 50)
    };
    let list = |surplus| {
        let list = vec![borrow(1, 10), borrow(2, 30)];
        Queue::Classes(Classes {
            surplus,
            ..classes(list)
        })
    };
    assert_close(
        &compete(list(Surplus::ByGuarantee), &[120, 0], 4),
        &[100, 0],
        "alone all of the link",
    );
    assert_close(
        &compete(list(Surplus::ByGuarantee), &[120, 120], 4),
        &[25, 75],
        "in proportion",
    );
    assert_close(
        &compete(list(Surplus::Equal), &[120, 120], 4),
        &[40, 60],
        "in equal shares",
    );
    assert_close(
        &compete(list(Surplus::ByNumber), &[120, 120], 4),
        &[10, 90],
        "all to the higher number",
    );
}

#[test]
fn a_ranked_class_with_a_ceiling_cannot_starve_the_rest() {
    let first = Class {
        rank: 1,
        ceiling: Some(rate(20)),
        ..Class::plain(2, 50)
    };
    let list = vec![Class::plain(1, 50), first];
    assert_close(
        &compete(Queue::Classes(classes(list)), &[120, 120], 4),
        &[80, 20],
        "policed priority",
    );
}

#[test]
fn the_scheduler_s_speed_counts_at_its_own_layer() {
    // 50 Mbit/s in packets of 1056 bytes: 5713 a second on the wire, 5819 as frames; PPPoE makes it 5671.
    let sent = |layer, link: u8| {
        let queue = Classes {
            speed: Some(rate(50)),
            layer,
            ..Classes::priority([1, 2, 3, 4], 2, 100)
        };
        let link_100 = Link {
            rate: Rate::Fixed(rate(100)),
            layer: Layer::Wire,
            queue: Queue::Classes(queue),
        };
        let framing = ElementKind::Framing(slowpath_path::Framing { bytes: link });
        let chain = vec![("framing", framing), ("link", ElementKind::Link(link_100))];
        let mut harness = Harness::new(&one_way(chain), 1);
        for number in 0..100_000 {
            harness.send("near", us(number * 100), number, 1056);
        }
        harness.advance(Time::ZERO + Duration::from_secs(10));
        harness.delivered("far").len() as u64 / 10
    };
    assert_eq!(sent(Layer::Wire, 0), 5713);
    assert_eq!(sent(Layer::FrameFcs, 0), 5819);
    assert_eq!(sent(Layer::Wire, 8), 5671);
}

#[test]
fn drop_precedence_has_thresholds() {
    let thresholds = Some(["100 %", "75 %", "50 %"].map(|share| share.parse::<Ratio>().unwrap()));
    let queue = classes(vec![Class {
        thresholds,
        ..Class::plain(1, 20)
    }]);
    let link = Link {
        rate: Rate::Fixed(rate(1)),
        layer: Layer::Ip,
        queue: Queue::Classes(queue),
    };
    for (name, taken) in [("af11", 21), ("af12", 16), ("af13", 11), ("default", 21)] {
        let mut harness = Harness::new(&one_way(vec![("link", ElementKind::Link(link.clone()))]), 1);
        for number in 0..40 {
            let dscp: Dscp = name.parse().unwrap();
            let packet = Packet {
                dscp,
                ..Packet::new(Cargo::new(number), harness.flows[0], 1000)
            };
            harness.send_packet("near", Time::ZERO, packet);
        }
        harness.drive();
        // The first is being sent at once and does not wait.
        assert_eq!(harness.delivered("far").len(), taken, "{name}");
        let cause = if taken == 21 { "queue-full" } else { "threshold" };
        assert!(
            harness.dropped().iter().all(|(_, found)| *found == cause),
            "{name}"
        );
    }
}

/// Sends 1000-byte packets of each flow at its distance in us for `secs` into a 10 Mbit/s link (800 us each).
fn load(harness: &mut Harness, flows: &[(usize, u64)], ecn: Ecn, secs: u64) {
    let mut sends: Vec<(u64, u64, usize)> = Vec::new();
    for (flow, gap_us) in flows {
        sends.extend((0..secs * 1_000_000 / gap_us).map(|number| (number * gap_us, number, *flow)));
    }
    sends.sort_unstable();
    for (at, number, flow) in sends {
        let cargo = Cargo::new(number << 8 | flow as u64);
        let packet = Packet {
            ecn,
            ..Packet::new(cargo, harness.flows[flow], 1000)
        };
        harness.send_packet("near", us(at), packet);
    }
}

fn managed(queue: Queue) -> Harness {
    let link = Link {
        rate: Rate::Fixed(rate(10)),
        layer: Layer::Ip,
        queue,
    };
    Harness::new(&one_way(vec![("link", ElementKind::Link(link))]), 1)
}

fn times_of_drops(harness: &Harness) -> Vec<u64> {
    let drop = |outcome: &Outcome| match outcome {
        Outcome::Dropped { at, .. } => Some(at.nanos() / 1000),
        _ => None,
    };
    harness.outcomes.iter().filter_map(drop).collect()
}

#[test]
fn codel_waits_an_interval_and_then_drops_by_the_inverse_root() {
    let mut harness = managed(Queue::Codel(Codel::default()));
    load(&mut harness, &[(0, 780)], Ecn::NotEct, 3);
    harness.drive();
    let drops = times_of_drops(&harness);
    // 2.5 % too much: the delay grows by 20 us a packet and reaches 5 ms after 250 packets, 0.2 s; the first drop is
    // an interval later, then intervals shrink as 1/sqrt(n).
    assert!((300_000..304_000).contains(&drops[0]), "{drops:?}");
    let gaps: Vec<u64> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (gap, expected) in gaps.iter().zip([100_000_u64, 70_710, 57_735, 50_000, 44_721]) {
        assert!(gap.abs_diff(expected) <= 1_600, "{gaps:?}");
    }
    let mut marked = managed(Queue::Codel(Codel {
        ecn: true,
        ..Codel::default()
    }));
    load(&mut marked, &[(0, 780)], Ecn::Ect0, 3);
    marked.drive();
    assert!(marked.dropped().is_empty());
    let marks = marked.outcomes.iter().filter(|outcome| {
        matches!(
            outcome,
            Outcome::Edit {
                edit: Edit::Ecn(Ecn::Ce),
                ..
            }
        )
    });
    assert!(
        marks.count() >= drops.len(),
        "marks do not shorten the queue, so there are no fewer"
    );
}

#[test]
fn fq_codel_shares_equally_and_spares_the_thin_flow() {
    let mut harness = managed(Queue::FqCodel(FqCodel::default()));
    // Two flows that each want 9 Mbit/s and one of 0.4 Mbit/s.
    load(&mut harness, &[(0, 888), (1, 888), (2, 20_000)], Ecn::NotEct, 5);
    harness.advance(Time::ZERO + Duration::from_secs(5));
    harness.assert_balanced();
    let mut got = [0_u64; 3];
    let mut worst = 0;
    for (at, cargo) in harness.delivered("far") {
        got[(cargo & 0xff) as usize] += 1;
        // At the very start all three flows are new, so that the thin one waits its turn once.
        if cargo & 0xff == 2 && cargo >> 8 > 0 {
            worst = worst.max(at.since(us((cargo >> 8) * 20_000)).micros());
        }
    }
    assert_eq!(got[2], 250, "the thin flow loses nothing");
    // One packet being sent, one quantum of others in front, its own 800 us.
    assert!(worst <= 2_400, "{worst} us");
    assert!(got[0].abs_diff(got[1]) * 100 < got[0], "{got:?}");
    assert!(got.iter().sum::<u64>() >= 6_240, "the link stays busy: {got:?}");
}

#[test]
fn pie_holds_its_target_under_an_unresponsive_load() {
    let mut harness = managed(Queue::Pie(Pie::default()));
    load(&mut harness, &[(0, 640)], Ecn::NotEct, 40);
    harness.drive();
    let late = |at: &u64| *at > 20_000_000;
    let drops = times_of_drops(&harness).iter().filter(|at| late(at)).count() as f64 / (20e6 / 640.0);
    // 12.5 Mbit/s into 10: a fifth must go.
    assert!((0.19..0.21).contains(&drops), "{drops}");
    let delays: Vec<u64> = harness
        .delivered("far")
        .iter()
        .filter(|(at, _)| late(&(at.nanos() / 1000)))
        .map(|(at, cargo)| at.since(us((cargo >> 8) * 640)).micros())
        .collect();
    let mean = delays.iter().sum::<u64>() / delays.len() as u64;
    assert!((12_000..20_000).contains(&mean), "{mean} us");
}

#[test]
fn red_drops_early_in_proportion_and_marks_instead_when_it_may() {
    let red = |ecn| Red {
        min: ByteCount::new(5_000),
        max: ByteCount::new(50_000),
        limit: ByteCount::new(200_000),
        chance: "10 %".parse().unwrap(),
        weight: 7,
        idle_rate: BitRate::new(10_000_000),
        idle_packet: ByteCount::new(1000),
        gentle: false,
        ecn,
    };
    let mut harness = managed(Queue::Red(red(false)));
    load(&mut harness, &[(0, 762)], Ecn::NotEct, 20);
    harness.drive();
    // 5 % too much: the average settles where the chance of a drop is 5 %, uniform over 1/p: p_b = 2.6 %.
    let share = times_of_drops(&harness)
        .iter()
        .filter(|at| **at > 5_000_000)
        .count() as f64
        / (15e6 / 762.0);
    assert!((0.045..0.05).contains(&share), "{share}");
    assert!(harness.dropped().iter().all(|(_, cause)| *cause == "aqm"));
    let mut marked = managed(Queue::Red(red(true)));
    load(&mut marked, &[(0, 780)], Ecn::Ect1, 1);
    marked.drive();
    assert!(marked.dropped().is_empty());
    assert!(marked.outcomes.iter().any(|outcome| matches!(
        outcome,
        Outcome::Edit {
            edit: Edit::Ecn(Ecn::Ce),
            ..
        }
    )));
    let mut idle = managed(Queue::Red(red(false)));
    load(&mut idle, &[(0, 900)], Ecn::NotEct, 5);
    idle.drive();
    assert!(idle.dropped().is_empty(), "a link that keeps up drops nothing");
}

#[test]
fn a_fifo_link_and_a_single_class_agree() {
    let drops = |queue| {
        let mut harness = managed(queue);
        load(&mut harness, &[(0, 700)], Ecn::NotEct, 2);
        harness.drive();
        (harness.dropped(), harness.delivered("far"))
    };
    let fifo = drops(samples::fifo(Limit::Packets(10)));
    let mut one = classes(vec![Class::plain(1, 10)]);
    one.speed = None;
    assert_eq!(fifo, drops(Queue::Classes(one)));
}

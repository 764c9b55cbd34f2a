//! The RTX2000's tunnel-QoS report from its own configuration lines: frames in, published counts out.

use slowpath::load::Loaded;
use slowpath_record::{Curve, FlowResult, HealthState, RunRecord};
use slowpath_scenario::{Clock, Plan, PlanOptions, Standing, Workload};
use slowpath_sim::frames;
use slowpath_units::{ByteCount, Ratio};

/// A variant of the built-in experiment, without the curves that it would be repeated for.
fn plan(variant: &str) -> Plan {
    let mut plan = whole_plan(variant);
    for job in &mut plan.jobs {
        if let Workload::Frames(frames) = &mut job.workload {
            (frames.loads, frames.search) = (Vec::new(), None);
        }
    }
    plan
}

fn whole_plan(variant: &str) -> Plan {
    let loaded = Loaded::open("rtx2000-tunnel-qos", &[]).unwrap_or_else(|error| panic!("{error}"));
    let options = PlanOptions::first(variant, 1, Clock::Simulated);
    loaded
        .experiment
        .plan(&options, &loaded.fragments)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn run(plan: &Plan) -> RunRecord {
    let record = frames::run("rtx2000-tunnel-qos", plan).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(record.health.state, HealthState::Valid, "{:?}", record.health);
    for element in &record.elements {
        let dropped: u64 = element.dropped.iter().map(|(_, traffic)| traffic.packets).sum();
        assert_eq!(
            element.entered.packets + element.created.packets,
            element.delivered.packets + dropped + element.inside.packets,
            "{element:?}"
        );
    }
    record
}

fn flow<'r>(record: &'r RunRecord, name: &str) -> &'r FlowResult {
    record.flows.iter().find(|flow| flow.name == name).unwrap()
}

fn total(record: &RunRecord) -> u64 {
    record.flows.iter().map(|flow| flow.received_packets).sum()
}

/// Packets that an element whose name ends in `element` dropped for `cause`.
fn dropped(record: &RunRecord, element: &str, cause: &str) -> u64 {
    record
        .elements
        .iter()
        .filter(|counters| counters.element.ends_with(element))
        .flat_map(|counters| &counters.dropped)
        .filter(|(found, _)| found == cause)
        .map(|(_, traffic)| traffic.packets)
        .sum()
}

/// Every published figure of the plan within its tolerance.
fn check(plan: &Plan, record: &RunRecord) {
    assert!(!plan.figures.is_empty());
    for figure in &plan.figures {
        let found = match figure.id.split_once('.') {
            None if figure.id == "throughput" => {
                record.flows.iter().map(|f| f.goodput_byte_per_s * 8.0).sum()
            }
            Some(("total", "received_packets")) => total(record) as f64,
            Some((name, "received_packets")) => flow(record, name).received_packets as f64,
            Some((name, "loss")) => flow(record, name).loss_fraction(),
            _ => panic!("{}", figure.id),
        };
        let off = found / figure.value.as_f64() - 1.0;
        let most = figure.tolerance.unwrap().fraction();
        eprintln!(
            "{} {} ({:?}): {found:.4} against {}, {:+.2} %",
            plan.variant,
            figure.id,
            figure.standing,
            figure.value,
            off * 100.0
        );
        assert!(off.abs() <= most, "{} {}", plan.variant, figure.id);
    }
}

#[test]
fn the_bandwidth_table_comes_out_of_the_configuration() {
    let plan = plan("bandwidth-on");
    let record = run(&plan);
    for flow in &record.flows {
        assert_eq!(
            flow.sent_packets, 59_865,
            "{} sends as the generator did",
            flow.name
        );
    }
    check(&plan, &record);
    // The published bandwidth column: 14.08, 4.73 and 26.08 Mbit/s of frames with FCS.
    for (name, published) in [("tcp", 14.08), ("udp", 4.73), ("icmp", 26.08)] {
        let found = flow(&record, name).goodput_byte_per_s * 8e-6;
        assert!((found / published - 1.0).abs() < 0.03, "{name}: {found} Mbit/s");
    }
    assert!(
        dropped(&record, "budget", "receive-overload") > 80_000,
        "ICMP's shortfall is loss on the receive side: {:?}",
        record.elements
    );
    assert!(record.notes.iter().any(|note| note.starts_with("icmp:")
        && note.contains("counting frames with FCS")
        && note.contains("% at up.budget (receive-overload)")));
    let fitted: Vec<_> = plan
        .assumptions
        .iter()
        .filter(|a| a.standing == Standing::Fitted)
        .collect();
    assert!(
        fitted
            .iter()
            .any(|a| a.name == "queue length" && a.value == "64 packets"),
        "{fitted:?}"
    );
}

#[test]
fn without_control_the_line_limits() {
    let plan = plan("bandwidth-off");
    let record = run(&plan);
    assert_eq!(dropped(&record, "", "receive-overload"), 0);
    check(&plan, &record);
}

#[test]
fn priority_protects_udp() {
    let mut totals = Vec::new();
    for (on, off) in [
        ("priority-on", "priority-off"),
        ("pppoe-priority-on", "pppoe-priority-off"),
    ] {
        let plan_on = plan(on);
        let record = run(&plan_on);
        let udp = flow(&record, "udp");
        assert_eq!(udp.sent_packets, udp.received_packets, "{on}: UDP is in class 4");
        assert!(
            flow(&record, "tcp").loss_fraction() > 0.35,
            "{on}: TCP gets what is left"
        );
        check(&plan_on, &record);
        totals.push(total(&record));
        let plan_off = plan(off);
        let record = run(&plan_off);
        check(&plan_off, &record);
        for name in ["tcp", "udp"] {
            let loss = flow(&record, name).loss_fraction();
            assert!(
                (0.17..0.24).contains(&loss),
                "{off}: {name} shares the loss: {loss}"
            );
        }
    }
    // Eight bytes in 1094.
    let ratio = totals[1] as f64 / totals[0] as f64;
    assert!((ratio - 1094.0 / 1102.0).abs() < 0.001, "{totals:?}");
}

#[test]
fn the_budget_is_fitted_at_two_sizes_and_predicts_the_third() {
    for (variant, standing) in [
        ("limit-64", Standing::Fitted),
        ("limit-1518", Standing::Fitted),
        ("limit-1024", Standing::Predicted),
    ] {
        let plan = plan(variant);
        assert!(
            plan.figures.iter().all(|figure| figure.standing == standing),
            "{variant}"
        );
        let record = run(&plan);
        check(&plan, &record);
        let lost = flow(&record, "frames").sent_packets - total(&record);
        // Of 1518-byte frames the line carries one per cent fewer, in two fragments each.
        if variant != "limit-1518" {
            assert_eq!(
                dropped(&record, "budget", "receive-overload"),
                lost,
                "{variant}: nothing but the processor limits"
            );
        }
    }
}

fn curve<'r>(record: &'r RunRecord, name: &str) -> &'r Curve {
    record.curves.iter().find(|curve| curve.name == name).unwrap()
}

fn at(curve: &Curve, x: f64) -> f64 {
    let point = curve.points.iter().find(|point| (point.0 - x).abs() < 1e-9);
    point.unwrap_or_else(|| panic!("{curve:?} has no {x}")).1
}

/// Ten loads of each variant take long in a debug build: a shorter run shows the shape.
fn with_curves(variant: &str) -> RunRecord {
    let mut plan = whole_plan(variant);
    for job in &mut plan.jobs {
        if let Workload::Frames(frames) = &mut job.workload {
            frames.duration = "1 s".parse().unwrap();
        }
    }
    run(&plan)
}

#[test]
fn loss_rises_with_load_as_the_note_describes() {
    let record = with_curves("bandwidth-on");
    let loss = |name: &str, load| at(curve(&record, &format!("loss/{name}")), load);
    for name in ["tcp", "udp", "icmp", "total"] {
        let points = &curve(&record, &format!("loss/{name}")).points;
        assert_eq!(points.len(), 10);
        assert!(
            points.windows(2).all(|pair| pair[0].1 <= pair[1].1 + 0.5),
            "{points:?}"
        );
    }
    // At 10 % each port offers 10.9 Mbit/s of encrypted packets: more than UDP's 5, less than the others'.
    assert!(loss("udp", 10.0) > 45.0 && loss("tcp", 10.0) < 0.1 && loss("icmp", 10.0) < 0.1);
    // UDP with the smallest allocation loses most, ICMP with the largest least.
    assert!(loss("udp", 50.0) > loss("tcp", 50.0) && loss("tcp", 50.0) > loss("icmp", 50.0));

    let record = with_curves("priority-on");
    let udp = &curve(&record, "loss/udp").points;
    assert!(udp.iter().take(3).all(|point| point.1 == 0.0), "{udp:?}");
    // Beyond what the receive side takes in, even the highest class loses.
    assert!(udp.last().unwrap().1 > 50.0, "{udp:?}");
}

#[test]
fn throughput_rises_with_frame_size() {
    let mut plan = whole_plan("throughput-curve");
    for job in &mut plan.jobs {
        if let Workload::Frames(frames) = &mut job.workload {
            let search = frames.search.as_mut().unwrap();
            assert_eq!(search.allowed_loss, [Ratio::ZERO, "0.5 %".parse().unwrap()]);
            search.sizes = [64, 1024, 1518].map(ByteCount::new).to_vec();
        }
    }
    let record = run(&plan);
    let none = curve(&record, "throughput/0 % loss");
    let some = curve(&record, "throughput/0.5 % loss");
    // The two published limits, and between them no step back.
    for (size, mbit) in [(64.0, 10.0), (1518.0, 90.0)] {
        let found = at(none, size) / 1e6;
        assert!((found / mbit - 1.0).abs() < 0.05, "{size} bytes: {found} Mbit/s");
    }
    for (strict, lenient) in none.points.iter().zip(&some.points) {
        assert!(strict.1 <= lenient.1, "{strict:?} {lenient:?}");
    }
    assert!(
        none.points.windows(2).all(|pair| pair[0].1 < pair[1].1),
        "{none:?}"
    );
}

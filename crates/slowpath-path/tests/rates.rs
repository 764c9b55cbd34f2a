//! A link carries exactly its rate, at each layer, and the specification is plain data.

mod harness;
mod samples;

use harness::{Harness, one_way};
use slowpath_path::{BuildError, ElementKind, Limit, Link, NetworkSpec, Target};
use slowpath_units::{BitRate, Layer, Time};

#[test]
fn fifty_megabits_are_fifty_megabits_at_each_layer() {
    for layer in [Layer::Wire, Layer::FrameFcs, Layer::Frame, Layer::Ip] {
        for ip_len in [1500, 1006, 40] {
            let link = Link::fifo(BitRate::new(50_000_000), layer, Limit::None);
            let mut harness = Harness::new(&one_way(vec![("link", ElementKind::Link(link))]), 1);
            let bytes = u64::from(ip_len + layer.overhead(ip_len));
            let packets = 50_000_000 / 8 / bytes + 10;
            for number in 0..packets {
                harness.send("near", Time::ZERO, number, ip_len);
            }
            // Everything waits from the start, so one second carries 50 Mbit less at most one packet.
            harness.advance(Time::from_nanos(1_000_000_000));
            let carried = harness.delivered("far").len() as u64 * bytes * 8;
            assert!(
                (50_000_000 - bytes * 8..=50_000_000).contains(&carried),
                "{layer} {ip_len}: {carried}"
            );
        }
    }
}

#[test]
fn a_long_run_does_not_drift() {
    // 1514 bytes at 7,777,777 bit/s do not come out even; a million packets must.
    let link = Link::fifo(BitRate::new(7_777_777), Layer::Frame, Limit::None);
    let mut harness = Harness::new(&one_way(vec![("link", ElementKind::Link(link))]), 1);
    for number in 0..100_000 {
        harness.send("near", Time::ZERO, number, 1500);
    }
    harness.drive();
    let (last, _) = *harness.delivered("far").last().unwrap();
    let exact = 100_000_u128 * 1514 * 8 * 1_000_000_000 / 7_777_777;
    assert_eq!(u128::from(last.nanos()), exact);
}

#[test]
fn a_specification_survives_serialisation() {
    for (name, spec) in samples::samples() {
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(
            serde_json::from_str::<NetworkSpec>(&text).unwrap(),
            spec,
            "{name}: {text}"
        );
    }
}

#[test]
fn contradictions_are_named() {
    let good = || one_way(vec![samples::delay("a", 1), samples::delay("b", 1)]);
    let refused = |change: fn(&mut NetworkSpec)| {
        let mut spec = good();
        change(&mut spec);
        spec.check().expect_err("it must be refused")
    };
    good().check().unwrap();
    let error = refused(|spec| spec.elements[1].name = "a".to_owned());
    assert!(matches!(error, BuildError::DuplicateName { .. }), "{error}");
    let error = refused(|spec| spec.elements[1].outputs = vec![Target::to("nowhere")]);
    assert!(matches!(error, BuildError::UnknownTarget { .. }), "{error}");
    let error = refused(|spec| spec.elements[1].outputs = vec![Target::input("a", 1)]);
    assert!(matches!(error, BuildError::UnknownInput { .. }), "{error}");
    let error = refused(|spec| spec.elements[1].outputs = vec![Target::to("a")]);
    assert!(matches!(error, BuildError::Loop { .. }), "{error}");
    let error = refused(|spec| spec.elements[1].outputs.clear());
    assert!(matches!(error, BuildError::Outputs { found: 0, .. }), "{error}");
    let error = refused(|spec| {
        let link = Link::fifo(BitRate::new(0), Layer::Frame, Limit::None);
        spec.elements[1].does = ElementKind::Link(link);
    });
    assert!(
        error.to_string().contains("\"b\"") && error.to_string().contains("rate is zero"),
        "{error}"
    );
}

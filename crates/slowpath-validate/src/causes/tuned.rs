//! The list of transfers on whose recordings the rules of the analysis were improved.

use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_verdict::Limit;
use slowpath_workload::drain::Drain;

use super::case::{Case, SPAN_MS, add, link, product};
use crate::bulk::{Traffic, Transfer, Writes};
use crate::cells::Congestion;

/// Every case, kind by kind.
pub(super) fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    endpoints(&mut cases);
    bottlenecks(&mut cases);
    losses(&mut cases);
    shared(&mut cases);
    cases
}

/// Limits of the two hosts and their programs.
fn endpoints(cases: &mut Vec<Case>) {
    let all = &Congestion::ALL;
    let windows = [(40, 30_000), (100, 60_000), (60, 100_000)];
    add(
        cases,
        all,
        each(windows, |(rtt, bytes)| {
            let mut case = Case::wide(Limit::ReceiverWindow, "receiver-window", rtt, 50_000);
            case.transfer.receive_buffer = Some(ByteCount::new(bytes));
            case
        }),
    );
    let readers = [(40, 2_000, 65_536), (100, 4_000, 16_384), (20, 1_000, 4_096)];
    add(
        cases,
        all,
        each(readers, |(rtt, kbit, unit)| {
            let mut case = Case::wide(Limit::ReceiverApplication, "receiver-application", rtt, 20_000);
            case.transfer.drain = Some(Drain {
                unit: ByteCount::new(unit),
                rate: BitRate::new(kbit * 1_000),
                read_ahead: 0,
            });
            case
        }),
    );
    let writers = [(40, 65_536, 400), (100, 8_192, 20), (60, 200_000, 1_000)];
    add(
        cases,
        all,
        each(writers, |(rtt, bytes, every)| {
            let mut case = Case::wide(Limit::SenderApplication, "sender-application", rtt, 20_000);
            case.transfer.writes = Writes::Bursts {
                bytes,
                every: Duration::from_millis(every),
            };
            case
        }),
    );
    let buffers = [(40, 16_000), (100, 40_000), (60, 80_000)];
    add(
        cases,
        all,
        each(buffers, |(rtt, bytes)| {
            let mut case = Case::wide(Limit::SendBuffer, "send-buffer", rtt, 50_000);
            case.transfer.send_buffer = Some(ByteCount::new(bytes));
            case
        }),
    );
    let protocols = [(40, 32_768), (100, 65_536), (60, 131_072)];
    add(
        cases,
        all,
        each(protocols, |(rtt, bytes)| {
            let mut case = Case::wide(Limit::ProtocolWindow, "protocol-window", rtt, 50_000);
            case.transfer.writes = Writes::Window { bytes };
            case.transfer.no_delay = true;
            case
        }),
    );
    let sizes = [60_000, 200_000, 500_000];
    add(
        cases,
        all,
        each(sizes, |bytes| {
            let mut case = Case::wide(Limit::SlowStart, "slow-start", 100, 90_000);
            case.transfer.bytes = Some(bytes);
            case
        }),
    );
}

/// Links, shapers and policers.
fn bottlenecks(cases: &mut Vec<Case>) {
    let all = &Congestion::ALL;
    let links = [
        (5_000, 20, 30_000),
        (10_000, 60, 75_000),
        (20_000, 100, 125_000),
        (8_000, 200, 200_000),
    ];
    add(
        cases,
        all,
        each(links, |(kbit, rtt, queue)| {
            Case::new(
                Limit::BottleneckBandwidth,
                "bottleneck",
                rtt,
                kbit,
                link(kbit, queue),
            )
        }),
    );
    let bloated = [(4_000, 30, 300_000), (10_000, 40, 500_000), (6_000, 80, 400_000)];
    add(
        cases,
        all,
        each(bloated, |(kbit, rtt, queue)| {
            Case::new(
                Limit::BottleneckBandwidth,
                "bufferbloat",
                rtt,
                kbit,
                link(kbit, queue),
            )
        }),
    );
    let shapers = [
        (5_000, 40, 50_000, 100_000),
        (10_000, 60, 100_000, 200_000),
        (15_000, 30, 200_000, 150_000),
    ];
    add(
        cases,
        all,
        each(shapers, |(kbit, rtt, burst, queue)| {
            let shaper = format!(
                "{{ rate = \"95 Mbit/s\" }}, {{ shape = \"{kbit} kbit/s\", burst = \"{burst} B\", queue = \"{queue} B\" }}, "
            );
            Case::new(Limit::BottleneckBandwidth, "shaped", rtt, kbit, shaper)
        }),
    );
    let policers = [(4_000, 30, 30_000), (8_000, 60, 120_000), (15_000, 100, 300_000)];
    add(
        cases,
        all,
        each(policers, |(kbit, rtt, burst)| {
            let policer = format!(
                "{{ rate = \"95 Mbit/s\" }}, {{ police = \"{kbit} kbit/s\", burst = \"{burst} B\" }}, "
            );
            Case::new(Limit::Policed, "policed", rtt, kbit, policer)
        }),
    );
    let marked = [(10_000, 40), (20_000, 60), (5_000, 30), (15_000, 100)];
    add(
        cases,
        // Version 1 of BBR does not heed marks.
        &[Congestion::Reno, Congestion::Cubic],
        each(marked, |(kbit, rtt)| {
            let codel = format!(
                "{{ rate = \"{kbit} kbit/s\", queue = \"1000 packets\", discipline = \"codel\", ecn = true }}, "
            );
            let mut case = Case::new(Limit::EcnCongestion, "ecn-congestion", rtt, kbit, codel);
            case.ecn = true;
            case
        }),
    );
}

/// What the path does to packets whatever the load.
fn losses(cases: &mut Vec<Case>) {
    let sensitive = &[Congestion::Reno, Congestion::Cubic];
    let rates = ["0.5 %", "1 %", "2 %", "0.2 %"];
    let rtts = [40, 100, 20, 150];
    let mut lossy = each([0, 1, 2, 3], |index: usize| {
        let mut case = Case::wide(Limit::RandomLoss, "random-loss", rtts[index], 90_000);
        case.elements = format!("{{ loss = \"{}\" }}, {}", rates[index], case.elements);
        case
    });
    let mut bursts = Case::wide(Limit::RandomLoss, "random-loss", 60, 90_000);
    bursts.elements = format!(
        "{{ loss = {{ to_bad = \"0.3 %\", to_good = \"40 %\", in_bad = \"100 %\" }} }}, {}",
        bursts.elements
    );
    lossy.push(bursts);
    add(cases, sensitive, lossy);
    let jitters = [(40, 8), (80, 18), (60, 4)];
    add(
        cases,
        &Congestion::ALL,
        each(jitters, |(rtt, jitter)| {
            let mut case = Case::wide(Limit::Reordering, "reordering", rtt, 90_000);
            case.jitter_ms = jitter;
            // Bursts of acknowledgements must not overflow it, or losses would be the limit.
            case.elements = link(90_000, 4 * product(90_000, rtt));
            case
        }),
    );
    let holes = [(40, 1_400), (80, 1_300)];
    add(
        cases,
        &Congestion::ALL,
        each(holes, |(rtt, mtu)| {
            let mut case = Case::wide(Limit::MtuBlackHole, "mtu-black-hole", rtt, 50_000);
            case.elements = format!("{{ mtu = \"{mtu} B\", black_hole = true }}, {}", case.elements);
            case.transfer.duration = Duration::from_millis(6_000);
            case.transfer.greeting = true;
            case
        }),
    );
}

/// Paths with more than one flow.
fn shared(cases: &mut Vec<Case>) {
    let all = &Congestion::ALL;
    let parallel = [(10_000, 40, 3), (20_000, 60, 2)];
    add(
        cases,
        all,
        each(parallel, |(kbit, rtt, flows)| {
            let queue = product(kbit, rtt).max(60_000);
            let mut case = Case::new(
                Limit::SharedBottleneck,
                "parallel-flows",
                rtt,
                kbit,
                link(kbit, queue),
            );
            case.transfer.flows = flows;
            case
        }),
    );
    let others = [(10_000, 40), (16_000, 80)];
    add(
        cases,
        all,
        each(others, |(kbit, rtt)| {
            let queue = product(kbit, rtt).max(60_000);
            let mut case = Case::new(Limit::SharedBottleneck, "cross-tcp", rtt, kbit, link(kbit, queue));
            case.cross = Some(Traffic::Transfer(Transfer {
                flows: 2,
                duration: Duration::from_millis(SPAN_MS + 3_000),
                ..case.transfer.clone()
            }));
            case
        }),
    );
    let datagrams = [(10_000, 60)];
    add(
        cases,
        all,
        each(datagrams, |(kbit, rtt)| {
            let queue = product(kbit, rtt).max(60_000);
            let mut case = Case::new(Limit::SharedBottleneck, "cross-udp", rtt, kbit, link(kbit, queue));
            case.cross = Some(Traffic::Datagrams {
                rate: BitRate::new(u64::from(kbit) * 600),
                on: Duration::from_millis(700),
                off: Duration::from_millis(500),
            });
            case
        }),
    );
}

fn each<T, const N: usize>(values: [T; N], case: impl FnMut(T) -> Case) -> Vec<Case> {
    values.into_iter().map(case).collect()
}
